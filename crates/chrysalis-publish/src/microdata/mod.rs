//! The source table with a role for every column.

mod combined;
mod persons;
mod sensitive;

use chrysalis_criteria::{All, OneOfPersons, OneOfSeveral, PrincipleSpec, Rational, Requirement, Sensitive, Weights};
use chrysalis_table::{CalendarUnit, Column, Knob, Remedy, Role, SaCounts, Table, Taxonomy, TaxonomyFile};

use crate::PublishError;
use crate::cells::{Whole, counted};
pub(crate) use combined::Combined;
pub use persons::PersonsSpec;
pub(crate) use persons::{Persons, UnitClass};
pub use sensitive::SensitiveColumn;
use sensitive::SensitiveFacts;

/// Where the taxonomy of an attribute comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum TaxonomySource {
    /// Lines of a file.
    File(TaxonomyFile),
    /// Interval widths.
    Intervals(Vec<f64>),
    /// Calendar units.
    Calendar(Vec<CalendarUnit>),
    /// Masking from the right.
    Prefix,
}

impl TaxonomySource {
    /// Checks the taxonomy against the values of a column.
    pub fn bind(&self, column: &Column) -> Result<Taxonomy, PublishError> {
        let bound = match self {
            TaxonomySource::File(file) => file.bind(column.domain()),
            TaxonomySource::Intervals(widths) => Taxonomy::intervals(column.domain(), widths),
            TaxonomySource::Calendar(units) => Taxonomy::calendar(column.domain(), units),
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
    /// For a sensitive column: its categories, most sensitive first, and their weights.
    pub categories: Option<(Vec<Vec<String>>, Weights)>,
    /// For a sensitive column: the values that the owner calls ordinary; `None` if the owner does not say.
    pub ordinary: Option<Vec<String>>,
    /// For a sensitive column of numbers or dates: values closer together than this count as one (dates by
    /// days, datetimes by seconds).
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
    sensitive: Vec<SensitiveFacts>,
    /// The columns in which groups are close that are close by sensitive values.
    tight: Vec<usize>,
    taxonomies: Vec<Option<Taxonomy>>,
    /// The combinations of sensitive values, if several columns are sensitive.
    combined: Option<Combined>,
    /// How often each value occurs that partitioners count.
    sensitive_counts: SaCounts,
    /// The people who could be in the table, as far as their quasi values go.
    population: Option<Table>,
    /// Whose the rows are, if persons may have several.
    persons: Option<Persons>,
    /// Sensitive columns that are shown together, by their places among the sensitive columns.
    together: Vec<Vec<usize>>,
    /// The rows of the whole table, if these are only some of its persons.
    whole_rows: Option<usize>,
    /// How these rows lie in the table whose sensitive values are counted.
    part: Part,
}

/// How the rows lie in the table whose sensitive values are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Part {
    /// They are that table.
    #[default]
    Everything,
    /// They are some of it.
    Cell,
    /// They are not here: only what was counted is known.
    Outline,
}

impl Microdata {
    /// Checks that names, roles, taxonomies and categories fit the table.
    ///
    /// Identifiers are dropped here; columns that no spec names stay invisible (a group column, say).
    pub fn new(table: Table, attributes: &[AttributeSpec]) -> Result<Self, PublishError> {
        Microdata::bound_to(table, attributes, &counts_of)
    }

    /// The same for some rows of a larger table, which has these domains: principles compare groups with that one.
    pub fn of_cell(table: Table, attributes: &[AttributeSpec], whole: &Whole) -> Result<Self, PublishError> {
        let mut data = Microdata::bound_to(table, attributes, &|column| counts_in(whole, column))?;
        data.part = Part::Cell;
        if let ([only], None) = (&data.sensitive[..], &data.combined) {
            data.sensitive_counts = counts_of(&data.table.columns()[only.index]);
        }
        Ok(data)
    }

    /// What is known of a table whose rows are elsewhere: it tells whether requirements can be met, and how values are
    /// judged.
    pub fn outline(attributes: &[AttributeSpec], whole: &Whole) -> Result<Self, PublishError> {
        let mut data = Microdata::bound_to(whole.without_rows(), attributes, &|column| counts_in(whole, column))?;
        let rows = usize::try_from(whole.rows).unwrap_or(usize::MAX);
        (data.part, data.whole_rows) = (Part::Outline, Some(rows));
        if data.sensitive.is_empty() {
            data.sensitive_counts = counts_without_values(rows);
        }
        Ok(data)
    }

    fn bound_to(
        table: Table,
        attributes: &[AttributeSpec],
        whole: &dyn Fn(&Column) -> SaCounts,
    ) -> Result<Self, PublishError> {
        let index_of = |name: &str| table.columns().iter().position(|column| column.name() == name);
        let mut taxonomies: Vec<Option<Taxonomy>> = vec![None; table.columns().len()];
        let (mut quasi, mut other, mut sensitive) = (Vec::new(), Vec::new(), Vec::new());
        for attribute in attributes.iter().filter(|attribute| attribute.role != Role::Identifier) {
            let index = index_of(&attribute.name)
                .ok_or_else(|| PublishError::Internal(format!("column `{}` was not read", attribute.name)))?;
            let column = &table.columns()[index];
            taxonomies[index] = attribute.taxonomy.as_ref().map(|source| source.bind(column)).transpose()?;
            match attribute.role {
                Role::QuasiIdentifier => quasi.push(index),
                Role::Other => other.push(index),
                Role::Sensitive => sensitive.push(SensitiveFacts::new(index, column, attribute, whole(column))?),
                Role::Identifier => {}
            }
        }
        if quasi.is_empty() {
            return Err(PublishError::NoQuasi);
        }
        let columns: Vec<&Column> = sensitive.iter().map(|facts| &table.columns()[facts.index]).collect();
        let combined = (columns.len() > 1).then(|| Combined::new(&columns));
        let sensitive_counts = match (&combined, &sensitive[..]) {
            (Some(combined), _) => counts_of(&combined.column),
            (None, [only, ..]) => only.counts.clone(),
            (None, []) => counts_without_values(table.rows()),
        };
        let tight = sensitive.iter().map(|facts| facts.index).collect();
        Ok(Microdata {
            table,
            quasi,
            other,
            sensitive,
            tight,
            taxonomies,
            combined,
            sensitive_counts,
            population: None,
            persons: None,
            together: Vec::new(),
            whole_rows: None,
            part: Part::Everything,
        })
    }

    /// The same table with one of the people who could be in it: `population` has the quasi columns, of the same kinds.
    #[must_use]
    pub fn within(mut self, population: Table) -> Self {
        self.population = Some(population);
        self
    }

    /// The people who could be in the table.
    pub(crate) fn population(&self) -> Option<&Table> {
        self.population.as_ref()
    }

    /// The same rows of persons, who may have several each: promises then count persons.
    pub fn of_persons(mut self, spec: &PersonsSpec) -> Result<Self, PublishError> {
        let column = self.table.column(&spec.column);
        let column = column.ok_or_else(|| PublishError::Internal(format!("column `{}` was not read", spec.column)))?;
        if column.domain().has_missing() {
            let n = column.histogram()[0];
            let problem = format!("{n} rows have no person in `{}`", spec.column);
            let remedy = Remedy::from("fill them in, or drop these rows with ").knob(Knob::Missing, "drop");
            return Err(PublishError::remedied(problem, remedy));
        }
        self.persons = Some(Persons::new(&self, spec, column));
        Ok(self)
    }

    /// Whose the rows are, if persons may have several.
    pub(crate) fn persons(&self) -> Option<&Persons> {
        self.persons.as_ref()
    }

    /// How many persons there are, if promises count persons.
    pub fn n_persons(&self) -> Option<u64> {
        self.persons.as_ref().map(|persons| persons.len() as u64)
    }

    /// What groups are made of: a table with one row per person, or else the table itself.
    pub(crate) fn units(&self) -> &Microdata {
        self.persons.as_ref().map_or(self, |persons| &persons.units)
    }

    /// Whether partitioners count something else than the values of one column.
    pub(crate) fn is_combined(&self) -> bool {
        self.combined.is_some()
    }

    /// The same table, of which some sensitive columns are to be shown together: no set has fewer than two columns, and no
    /// column is in two sets. Groups and promises are not affected.
    pub fn showing_together(mut self, sets: &[Vec<String>]) -> Result<Self, PublishError> {
        let names: Vec<String> = self.sensitive_columns().map(|column| column.name().to_owned()).collect();
        let mut together: Vec<Vec<usize>> = Vec::new();
        for set in sets {
            let wrong = |problem: &str| {
                PublishError::request(format!("`{}` cannot be shown together: {problem}", set.join(", ")))
            };
            let place = |name: &String| names.iter().position(|known| known == name);
            let mut places = set.iter().map(place).collect::<Option<Vec<usize>>>();
            let places = places.as_mut().ok_or_else(|| wrong("not all of them are sensitive columns"))?;
            places.sort_unstable();
            if places.len() < 2 {
                return Err(wrong("that takes two columns"));
            }
            let is_taken = |at: &usize| together.iter().flatten().any(|other| other == at);
            if places.windows(2).any(|pair| pair[0] == pair[1]) || places.iter().any(is_taken) {
                return Err(wrong("a column is named twice"));
            }
            together.push(places.clone());
        }
        together.sort_unstable();
        self.together = together;
        Ok(self)
    }

    /// The sets of sensitive columns that are shown together, by their places among the sensitive columns.
    pub(crate) fn together_sets(&self) -> &[Vec<usize>] {
        &self.together
    }

    /// The same by name.
    pub fn together(&self) -> Vec<Vec<String>> {
        let names: Vec<&str> = self.sensitive_columns().map(|column| column.name()).collect();
        self.together.iter().map(|set| set.iter().map(|&at| names[at].to_owned()).collect()).collect()
    }

    /// All columns that were read.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.table.rows()
    }

    /// How many rows all partitioning is about: a table of some persons is part of a larger one, and what may be spent on
    /// improving groups is shared with the rest of it.
    pub fn whole_rows(&self) -> usize {
        self.whole_rows.unwrap_or(self.rows())
    }

    /// The quasi-identifier, in the order named, with taxonomies.
    pub fn quasi(&self) -> impl ExactSizeIterator<Item = (&Column, Option<&Taxonomy>)> + Clone {
        self.quasi.iter().map(|&index| (&self.table.columns()[index], self.taxonomies[index].as_ref()))
    }

    /// Columns published as they are.
    pub fn other(&self) -> impl ExactSizeIterator<Item = &Column> + Clone {
        self.other.iter().map(|&index| &self.table.columns()[index])
    }

    /// The sensitive columns, in the order named.
    pub fn sensitive_columns(&self) -> impl ExactSizeIterator<Item = SensitiveColumn<'_>> + Clone {
        self.sensitive.iter().map(|facts| SensitiveColumn {
            column: &self.table.columns()[facts.index],
            taxonomy: self.taxonomies[facts.index].as_ref(),
            facts,
        })
    }

    /// What partitioners count: the sensitive column, or the combinations of values of several.
    pub fn sensitive(&self) -> Option<&Column> {
        let only = || self.sensitive.first().map(|facts| &self.table.columns()[facts.index]);
        self.combined.as_ref().map(|combined| &combined.column).or_else(only)
    }

    /// How often each of [`Microdata::sensitive`] occurs; without a sensitive column, one value that all rows share.
    pub fn sensitive_counts(&self) -> &SaCounts {
        &self.sensitive_counts
    }

    /// Some of the quasi attributes and no other column: enough to form groups by them.
    pub(crate) fn projected(&self, attributes: &[usize]) -> Microdata {
        let kept: Vec<usize> = attributes.iter().map(|&at| self.quasi[at]).collect();
        Microdata {
            table: Table::new(kept.iter().map(|&index| self.table.columns()[index].clone()).collect()),
            quasi: (0..kept.len()).collect(),
            other: Vec::new(),
            sensitive: Vec::new(),
            tight: Vec::new(),
            taxonomies: kept.iter().map(|&index| self.taxonomies[index].clone()).collect(),
            combined: None,
            sensitive_counts: counts_without_values(self.rows()),
            population: None,
            persons: None,
            together: Vec::new(),
            whole_rows: None,
            part: Part::Everything,
        }
    }

    /// The same rows, with the sensitive columns in place of the quasi-identifier: groups that are close in it are
    /// close in every sensitive column.
    pub(crate) fn by_sensitive(&self) -> Microdata {
        Microdata {
            table: Table::new(self.tight.iter().map(|&index| self.table.columns()[index].clone()).collect()),
            quasi: (0..self.tight.len()).collect(),
            other: Vec::new(),
            sensitive: (0..).zip(&self.sensitive).map(|(index, facts)| facts.moved_to(index)).collect(),
            tight: (0..self.tight.len()).collect(),
            taxonomies: self.tight.iter().map(|_| None).collect(),
            combined: self.combined.clone(),
            sensitive_counts: self.sensitive_counts.clone(),
            population: None,
            persons: None,
            together: Vec::new(),
            whole_rows: None,
            part: Part::Everything,
        }
    }

    /// Binds requirements to the sensitive columns. It is an error if the whole table fails one of them.
    pub fn goal(&self, require: &[Requirement]) -> Result<All, PublishError> {
        let goal = self.bound(require)?;
        if let Some(persons) = &self.persons {
            self.check_feasible(require, &persons.units.sensitive_counts)?;
            return Ok(goal);
        }
        for column in self.sensitive_columns() {
            // Column by column, because the reason is about one of them.
            let alike = column.alike(require);
            let own = (self.part == Part::Cell).then(|| counts_of(column.column()));
            let counts = own.as_ref().unwrap_or(column.counts());
            let found = infeasible(&self.goal_of(column, require)?, counts, Some(&column.bound(&alike)));
            found.map_err(|error| if self.combined.is_some() { error.about(column.name()) } else { error })?;
        }
        // How often combinations occur is not known of rows that are elsewhere; each column was judged above.
        if self.part != Part::Outline || self.combined.is_none() {
            infeasible(&goal, &self.sensitive_counts, None)?;
        }
        Ok(goal)
    }

    /// What is required of one sensitive column and of the number of rows, bound to that column alone.
    pub(crate) fn goal_of(&self, column: SensitiveColumn<'_>, require: &[Requirement]) -> Result<All, PublishError> {
        let goal = self.bound(require)?;
        let concerns = goal.specs().iter().filter(|held| held.may_concern(column.name()));
        let principles: Vec<PrincipleSpec> = concerns.map(|held| held.principle.clone()).collect();
        Ok(All::bind(&principles, Some(&column.bound(&column.alike(require))))?)
    }

    /// Whether some persons, counted by what they have, can satisfy the requirements together.
    pub(crate) fn check_feasible(&self, require: &[Requirement], counts: &SaCounts) -> Result<(), PublishError> {
        let Some(persons) = &self.persons else { return Ok(()) };
        let alike: Vec<_> = self.sensitive_columns().map(|column| column.alike(require)).collect();
        let columns = self.one_of_persons(persons, &alike);
        match All::why_persons_fail(require, &columns, counts, persons.sees)? {
            None => Ok(()),
            Some((principle, limit, about)) => {
                let error = PublishError::Infeasible {
                    principle,
                    reason: limit.reason,
                    possible: limit.possible,
                    instead: limit.instead,
                };
                Err(match about {
                    Some(name) if self.sensitive.len() > 1 => error.about(&name),
                    _ => error,
                })
            }
        }
    }

    fn one_of_persons<'a>(
        &'a self,
        persons: &Persons,
        alike: &'a [chrysalis_criteria::Alike],
    ) -> Vec<OneOfPersons<'a>> {
        self.sensitive_columns()
            .zip(alike)
            .zip(&persons.has)
            .map(|((column, alike), has)| OneOfPersons { sensitive: column.bound(alike), has: has.clone() })
            .collect()
    }

    fn bound(&self, require: &[Requirement]) -> Result<All, PublishError> {
        if let Some(name) =
            require.iter().filter_map(|required| required.about.as_ref()).find(|name| !self.is_sensitive(name))
        {
            return Err(PublishError::request(format!(
                "`{name}` is not a sensitive column, but something is required of it"
            )));
        }
        let alike: Vec<_> = self.sensitive_columns().map(|column| column.alike(require)).collect();
        if let Some(persons) = &self.persons {
            let columns = self.one_of_persons(persons, &alike);
            return Ok(All::bind_persons(require, &columns, &persons.units.sensitive_counts, persons.sees)?);
        }
        let columns: Vec<SensitiveColumn<'_>> = self.sensitive_columns().collect();
        let Some(combined) = &self.combined else {
            let principles: Vec<_> = require.iter().map(|required| required.principle.clone()).collect();
            let sensitive = columns.first().zip(alike.first()).map(|(column, alike)| column.bound(alike));
            return Ok(All::bind(&principles, sensitive.as_ref())?);
        };
        let several: Vec<OneOfSeveral<'_>> = columns
            .iter()
            .zip(&alike)
            .zip(&combined.value_of)
            .map(|((column, alike), value_of)| OneOfSeveral {
                sensitive: column.bound(alike),
                value_of: value_of.clone(),
            })
            .collect();
        Ok(All::bind_several(require, &several)?)
    }

    fn is_sensitive(&self, name: &str) -> bool {
        self.sensitive_columns().any(|column| column.name() == name)
    }

    /// Each requirement that does not itself say how it is measured, with its measure in words.
    pub fn measured(&self, require: &[Requirement]) -> Vec<(String, String)> {
        let Ok(goal) = self.bound(require) else { return Vec::new() };
        let has_several = self.sensitive.len() > 1;
        let mut all = Vec::new();
        for held in goal.specs() {
            let Some(column) = self.sensitive_columns().find(|column| held.about.as_deref() == Some(column.name()))
            else {
                continue;
            };
            let alike = column.alike(require);
            let Ok(bound) = held.principle.bind(Some(&column.bound(&alike))) else { continue };
            let name = if has_several { held.to_string() } else { held.principle.to_string() };
            all.push((name, bound.measured()));
        }
        all.retain(|(_, words)| !words.is_empty());
        all
    }
}

/// Why the whole table fails a goal.
fn infeasible(goal: &All, whole: &SaCounts, sensitive: Option<&Sensitive<'_>>) -> Result<(), PublishError> {
    let Some(failure) = goal.first_failure(whole) else { return Ok(()) };
    let limit = failure.limit(whole, sensitive);
    let principle = failure.to_string();
    Err(PublishError::Infeasible { principle, reason: limit.reason, possible: limit.possible, instead: limit.instead })
}

/// Without a sensitive column every row has the same, unknown value.
fn counts_without_values(rows: usize) -> SaCounts {
    let mut counts = SaCounts::new(1);
    counts.add_many(0, u32::try_from(rows).unwrap_or(u32::MAX));
    counts
}

fn counts_in(whole: &Whole, column: &Column) -> SaCounts {
    whole.column(column.name()).map_or_else(|| counts_of(column), |known| counted(known.counts()))
}

fn counts_of(column: &Column) -> SaCounts {
    let mut counts = SaCounts::new(column.domain().len());
    for (code, count) in (0..).zip(column.histogram()) {
        counts.add_many(code, u32::try_from(count).unwrap_or(u32::MAX));
    }
    counts
}
