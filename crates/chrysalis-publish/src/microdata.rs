use chrysalis_criteria::{Alike, All, Categories, Near, PrincipleSpec, Rational, Sensitive, Weights};
use chrysalis_table::{Code, Column, Knob, Remedy, Role, SaCounts, Table, Taxonomy, TaxonomyFile};

use crate::PublishError;

/// Where the taxonomy of an attribute comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum TaxonomySource {
    /// Lines of a file.
    File(TaxonomyFile),
    /// Interval widths.
    Intervals(Vec<f64>),
    /// Masking from the right.
    Prefix,
}

impl TaxonomySource {
    /// Checks the taxonomy against the values of a column.
    pub fn bind(&self, column: &Column) -> Result<Taxonomy, PublishError> {
        let bound = match self {
            TaxonomySource::File(file) => file.bind(column.domain()),
            TaxonomySource::Intervals(widths) => Taxonomy::intervals(column.domain(), widths),
            TaxonomySource::Prefix => Taxonomy::prefixes(column.domain()),
        };
        bound.map_err(|error| PublishError::Taxonomy { column: column.name().to_owned(), error })
    }
}

/// What the owner says about one column.
#[derive(Clone, Debug)]
pub struct AttributeSpec {
    /// The column's name.
    pub name: String,
    /// Its role.
    pub role: Role,
    /// Its taxonomy, if it has one.
    pub taxonomy: Option<TaxonomySource>,
    /// For the sensitive column: its categories, most sensitive first, and their weights.
    pub categories: Option<(Vec<Vec<String>>, Weights)>,
    /// For the sensitive column: the values that the owner calls ordinary; `None` if the owner does not say.
    pub ordinary: Option<Vec<String>>,
    /// For a sensitive column of numbers or dates: values closer together than this count as one (dates by days).
    pub near: Option<Rational>,
}

impl AttributeSpec {
    /// A column with a role and nothing else.
    pub fn new(name: impl Into<String>, role: Role) -> Self {
        AttributeSpec { name: name.into(), role, taxonomy: None, categories: None, ordinary: None, near: None }
    }
}

/// The source table with a role for every column that is used: all that partitioners see of the data.
#[derive(Debug)]
pub struct Microdata {
    table: Table,
    quasi: Vec<usize>,
    other: Vec<usize>,
    sensitive: Option<usize>,
    taxonomies: Vec<Option<Taxonomy>>,
    categories: Option<Categories>,
    sensitive_counts: SaCounts,
    /// The codes that the owner calls ordinary.
    named_ordinary: Option<Vec<Code>>,
    ordinary: Vec<bool>,
    near: Option<Rational>,
    /// Which sensitive values look alike, and which are missing.
    looks: Alike,
}

impl Microdata {
    /// Checks that names, roles, taxonomies and categories fit the table.
    ///
    /// Identifiers are dropped here; columns that no spec names stay invisible (a group column, say).
    pub fn new(table: Table, attributes: &[AttributeSpec]) -> Result<Self, PublishError> {
        let index_of = |name: &str| table.columns().iter().position(|column| column.name() == name);
        let mut taxonomies: Vec<Option<Taxonomy>> = vec![None; table.columns().len()];
        let (mut quasi, mut other, mut sensitive, mut categories) = (Vec::new(), Vec::new(), None, None);
        let (mut named_ordinary, mut near, mut looks) = (None, None, Alike::default());
        for attribute in attributes.iter().filter(|attribute| attribute.role != Role::Identifier) {
            let index = index_of(&attribute.name)
                .ok_or_else(|| PublishError::Internal(format!("column `{}` was not read", attribute.name)))?;
            let column = &table.columns()[index];
            taxonomies[index] = attribute.taxonomy.as_ref().map(|source| source.bind(column)).transpose()?;
            match attribute.role {
                Role::QuasiIdentifier => quasi.push(index),
                Role::Other => other.push(index),
                Role::Sensitive if sensitive.is_some() => {
                    return Err(PublishError::request("only one column can be sensitive"));
                }
                Role::Sensitive => {
                    sensitive = Some(index);
                    let bind = |(names, weights): &(Vec<Vec<String>>, Weights)| {
                        Categories::new(column.name(), column.domain(), names.clone(), weights)
                    };
                    categories = attribute.categories.as_ref().map(bind).transpose()?;
                    looks = Alike::new(column.domain(), &Near::Nothing);
                    let codes = |values: &Vec<String>| codes_of(column, values, &looks);
                    named_ordinary = attribute.ordinary.as_ref().map(codes).transpose()?;
                    near = attribute.near;
                    if near.is_some() && !column.domain().kind().has_distances() {
                        let (name, kind) = (column.name(), column.domain().kind());
                        let problem = format!("`{}` has no effect on `{name}`, which is {kind}", Knob::Near);
                        let remedy = Remedy::from("leave ")
                            .knob(Knob::Near, "")
                            .words(" out: only numbers and dates are near each other");
                        return Err(PublishError::remedied(problem, remedy));
                    }
                }
                Role::Identifier => {}
            }
        }
        if quasi.is_empty() {
            return Err(PublishError::NoQuasi);
        }
        let sensitive_counts = match sensitive {
            Some(index) => counts_of(&table.columns()[index]),
            // Without a sensitive column every row has the same, unknown value.
            None => {
                let mut counts = SaCounts::new(1);
                counts.add_many(0, u32::try_from(table.rows()).unwrap_or(u32::MAX));
                counts
            }
        };
        let codes = 0..sensitive_counts.domain_len() as Code;
        let ordinary = match &named_ordinary {
            Some(named) => codes.map(|code| named.contains(&code)).collect(),
            None => {
                // Values that look alike are one value.
                let mut rows = vec![0; sensitive_counts.domain_len()];
                sensitive_counts.iter().for_each(|(code, count)| rows[looks.first(code) as usize] += count);
                codes.map(|code| 2 * rows[looks.first(code) as usize] >= sensitive_counts.total()).collect()
            }
        };
        Ok(Microdata {
            table,
            quasi,
            other,
            sensitive,
            taxonomies,
            categories,
            sensitive_counts,
            named_ordinary,
            ordinary,
            near,
            looks,
        })
    }

    /// All columns that were read.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.table.rows()
    }

    /// The quasi-identifier, in the order named, with taxonomies.
    pub fn quasi(&self) -> impl ExactSizeIterator<Item = (&Column, Option<&Taxonomy>)> + Clone {
        self.quasi.iter().map(|&index| (&self.table.columns()[index], self.taxonomies[index].as_ref()))
    }

    /// Columns published as they are.
    pub fn other(&self) -> impl ExactSizeIterator<Item = &Column> + Clone {
        self.other.iter().map(|&index| &self.table.columns()[index])
    }

    /// The sensitive column.
    pub fn sensitive(&self) -> Option<&Column> {
        self.sensitive.map(|index| &self.table.columns()[index])
    }

    /// Its taxonomy.
    pub fn sensitive_taxonomy(&self) -> Option<&Taxonomy> {
        self.sensitive.and_then(|index| self.taxonomies[index].as_ref())
    }

    /// Its categories.
    pub fn categories(&self) -> Option<&Categories> {
        self.categories.as_ref()
    }

    /// The values that the owner calls ordinary, if the owner named any.
    pub fn named_ordinary(&self) -> Option<&[Code]> {
        self.named_ordinary.as_deref()
    }

    /// The width within which numbers count as one, if the owner named it.
    pub fn owner_near(&self) -> Option<Rational> {
        self.near
    }

    /// Which sensitive codes are ordinary: those that the owner names, or otherwise those that at least half of all
    /// rows have. To be certain of such a value at most doubles the probability that anybody would have given it
    /// before.
    pub fn ordinary(&self) -> &[bool] {
        &self.ordinary
    }

    /// Which sensitive values look alike and therefore count as one value in every promise. Numbers that are near each
    /// other are not included.
    pub fn looks(&self) -> &Alike {
        &self.looks
    }

    /// Which sensitive values count as one under the given requirements: words that look alike, and numbers that are
    /// near each other.
    pub fn alike(&self, require: &[PrincipleSpec]) -> Alike {
        match self.sensitive() {
            Some(column) if column.domain().kind().has_distances() => Alike::new(column.domain(), &self.near(require)),
            _ => self.looks.clone(),
        }
    }

    /// How often each sensitive value occurs; without a sensitive column, one value that all rows share.
    pub fn sensitive_counts(&self) -> &SaCounts {
        &self.sensitive_counts
    }

    /// Some of the quasi attributes and no other column: enough to form groups by them.
    pub(crate) fn projected(&self, attributes: &[usize]) -> Microdata {
        let kept: Vec<usize> = attributes.iter().map(|&at| self.quasi[at]).collect();
        let mut sensitive_counts = SaCounts::new(1);
        sensitive_counts.add_many(0, u32::try_from(self.rows()).unwrap_or(u32::MAX));
        Microdata {
            table: Table::new(kept.iter().map(|&index| self.table.columns()[index].clone()).collect()),
            quasi: (0..kept.len()).collect(),
            other: Vec::new(),
            sensitive: None,
            taxonomies: kept.iter().map(|&index| self.taxonomies[index].clone()).collect(),
            categories: None,
            sensitive_counts,
            named_ordinary: None,
            ordinary: vec![false],
            near: None,
            looks: Alike::default(),
        }
    }

    /// Binds principles to the sensitive column. It is an error if the whole table fails one of them.
    pub fn goal(&self, specs: &[PrincipleSpec]) -> Result<All, PublishError> {
        let alike = self.alike(specs);
        let sensitive = self.bound_sensitive(&alike);
        let goal = All::bind(specs, sensitive.as_ref())?;
        if let Some(failure) = goal.first_failure(&self.sensitive_counts) {
            let limit = failure.limit(&self.sensitive_counts, sensitive.as_ref());
            let principle = failure.to_string();
            let (reason, possible, instead) = (limit.reason, limit.possible, limit.instead);
            return Err(PublishError::Infeasible { principle, reason, possible, instead });
        }
        Ok(goal)
    }

    /// Each requirement that does not itself say how it is measured, with its measure in words.
    pub fn measured(&self, specs: &[PrincipleSpec]) -> Vec<(String, String)> {
        let alike = self.alike(specs);
        let Ok(goal) = All::bind(specs, self.bound_sensitive(&alike).as_ref()) else { return Vec::new() };
        let each = goal.parts().iter().map(|part| (part.to_string(), part.measured()));
        each.filter(|(_, words)| !words.is_empty()).collect()
    }

    fn bound_sensitive<'a>(&'a self, alike: &'a Alike) -> Option<Sensitive<'a>> {
        let column = self.sensitive()?;
        Some(Sensitive {
            name: column.name(),
            domain: column.domain(),
            counts: &self.sensitive_counts,
            taxonomy: self.sensitive_taxonomy(),
            categories: self.categories(),
            ordinary: &self.ordinary,
            alike,
        })
    }
}

/// The codes of the given values, and of all values that look like them.
fn codes_of(column: &Column, values: &[String], looks: &Alike) -> Result<Vec<Code>, PublishError> {
    let domain = column.domain();
    let code = |value: &String| {
        (0..domain.len() as Code).find(|&code| domain.display(code) == value.as_str()).ok_or_else(|| {
            let problem = format!("`{value}` is called ordinary, but no row has it in `{}`", column.name());
            PublishError::remedied(
                problem,
                Remedy::from("check its spelling, or leave it out of ").knob(Knob::Ordinary, ""),
            )
        })
    };
    let named: Vec<Code> = values.iter().map(code).collect::<Result<_, _>>()?;
    let is_meant = |code: &Code| named.iter().any(|&name| looks.first(name) == looks.first(*code));
    Ok((0..domain.len() as Code).filter(is_meant).collect())
}

fn counts_of(column: &Column) -> SaCounts {
    let mut counts = SaCounts::new(column.domain().len());
    for (code, count) in (0..).zip(column.histogram()) {
        counts.add_many(code, u32::try_from(count).unwrap_or(u32::MAX));
    }
    counts
}
