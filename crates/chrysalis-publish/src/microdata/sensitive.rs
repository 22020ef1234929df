//! What the owner says, and what the table says, about one sensitive column.

use chrysalis_criteria::{Alike, Categories, Near, PrincipleSpec, Rational, Requirement, Sensitive, Weights};
use chrysalis_table::{Code, Column, Knob, Remedy, SaCounts, Taxonomy};

use super::AttributeSpec;
use crate::PublishError;

/// A sensitive column by its place in the table.
#[derive(Clone, Debug)]
pub(super) struct SensitiveFacts {
    pub(super) index: usize,
    pub(super) counts: SaCounts,
    categories: Option<Categories>,
    /// The codes that the owner calls ordinary.
    named_ordinary: Option<Vec<Code>>,
    ordinary: Vec<bool>,
    near: Option<Rational>,
    /// Which values look alike, and which are missing.
    looks: Alike,
}

impl SensitiveFacts {
    /// `counts` are those of the whole table.
    pub(super) fn new(
        index: usize,
        column: &Column,
        said: &AttributeSpec,
        counts: SaCounts,
    ) -> Result<Self, PublishError> {
        let bind = |(names, weights): &(Vec<Vec<String>>, Weights)| {
            Categories::new(column.name(), column.domain(), names.clone(), weights)
        };
        let categories = said.categories.as_ref().map(bind).transpose()?;
        let looks = Alike::new(column.domain(), &Near::Nothing);
        let codes = |values: &Vec<String>| codes_of(column, values, &looks);
        let named_ordinary = said.ordinary.as_ref().map(codes).transpose()?;
        if said.near.is_some() && !column.domain().kind().has_distances() {
            let (name, kind) = (column.name(), column.domain().kind());
            let problem = format!("`{}` has no effect on `{name}`, which is {kind}", Knob::Near);
            let remedy =
                Remedy::from("leave ").knob(Knob::Near, "").words(" out: only numbers and dates are near each other");
            return Err(PublishError::remedied(problem, remedy));
        }
        let codes = 0..counts.domain_len() as Code;
        let ordinary = match &named_ordinary {
            Some(named) => codes.map(|code| named.contains(&code)).collect(),
            None => {
                // Values that look alike are one value.
                let mut rows = vec![0; counts.domain_len()];
                counts.iter().for_each(|(code, count)| rows[looks.first(code) as usize] += count);
                codes.map(|code| 2 * rows[looks.first(code) as usize] >= counts.total()).collect()
            }
        };
        Ok(SensitiveFacts { index, counts, categories, named_ordinary, ordinary, near: said.near, looks })
    }

    /// The same column at another place.
    pub(super) fn moved_to(&self, index: usize) -> Self {
        SensitiveFacts { index, ..self.clone() }
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

/// A sensitive column with all that is known about it.
#[derive(Clone, Copy, Debug)]
pub struct SensitiveColumn<'a> {
    pub(super) column: &'a Column,
    pub(super) taxonomy: Option<&'a Taxonomy>,
    pub(super) facts: &'a SensitiveFacts,
}

impl<'a> SensitiveColumn<'a> {
    /// The column.
    pub fn column(&self) -> &'a Column {
        self.column
    }

    /// Its name.
    pub fn name(&self) -> &'a str {
        self.column.name()
    }

    /// How often each value occurs in the whole table.
    pub fn counts(&self) -> &'a SaCounts {
        &self.facts.counts
    }

    /// Its taxonomy.
    pub fn taxonomy(&self) -> Option<&'a Taxonomy> {
        self.taxonomy
    }

    /// Its categories.
    pub fn categories(&self) -> Option<&'a Categories> {
        self.facts.categories.as_ref()
    }

    /// The values that the owner calls ordinary, if the owner named any.
    pub fn named_ordinary(&self) -> Option<&'a [Code]> {
        self.facts.named_ordinary.as_deref()
    }

    /// Which codes are ordinary: those that the owner names, or otherwise those that at least half of all rows have. To
    /// be certain of such a value at most doubles the probability that anybody would have given it before.
    pub fn ordinary(&self) -> &'a [bool] {
        &self.facts.ordinary
    }

    /// The width within which numbers count as one, if the owner named it.
    pub fn owner_near(&self) -> Option<Rational> {
        self.facts.near
    }

    /// When two numbers count as one: within `e` if (k,e) is required of this column; otherwise within the width that
    /// the owner names; otherwise within a hundredth of the column's usual width.
    pub fn near(&self, require: &[Requirement]) -> Near {
        let e =
            require.iter().filter(|required| required.may_concern(self.name())).filter_map(|required| match &required
                .principle
            {
                PrincipleSpec::Ke { e, .. } => Some(*e),
                _ => None,
            });
        match e.max().or(self.owner_near()) {
            Some(width) => Near::Width(width),
            None => {
                let codes = 0..self.facts.counts.domain_len() as Code;
                let histogram: Vec<u64> = codes.map(|code| self.facts.counts.count(code)).collect();
                Near::usual(self.column.domain(), &histogram)
            }
        }
    }

    /// Which values look alike and therefore count as one value in every promise. Numbers that are near each other are
    /// not included.
    pub fn looks(&self) -> &'a Alike {
        &self.facts.looks
    }

    /// Which values count as one under the given requirements: words that look alike, and numbers that are near each
    /// other.
    pub fn alike(&self, require: &[Requirement]) -> Alike {
        match self.column.domain().kind().has_distances() {
            true => Alike::new(self.column.domain(), &self.near(require)),
            false => self.looks().clone(),
        }
    }

    /// As far as principles look at it.
    pub(super) fn bound<'b>(&self, alike: &'b Alike) -> Sensitive<'b>
    where
        'a: 'b,
    {
        Sensitive {
            name: self.column.name(),
            domain: self.column.domain(),
            counts: &self.facts.counts,
            taxonomy: self.taxonomy,
            categories: self.categories(),
            ordinary: self.ordinary(),
            alike,
        }
    }
}
