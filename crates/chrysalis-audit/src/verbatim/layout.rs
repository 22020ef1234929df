//! The tables of each form, found and of the right kind.

use std::iter::once;

use chrysalis_release::{
    Attribute, GROUP_ID, Manifest, Published, Release, RoleName, anatomy, permuted, shuffled, swapped,
};
use chrysalis_table::{Column, Kind, Table};

use crate::AuditError;
use crate::columns::{find, only_sensitive};
use crate::profile::check_size;
use crate::shape::Part;

/// The forms that show values, not ranges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Exact quasi values; sensitive values counted by group.
    Anatomy,
    /// Every quasi column permuted inside its group; sensitive values counted by group.
    Permute,
    /// Exact quasi values, the sensitive column permuted inside its group, and a help table.
    Shuffle,
    /// Exact quasi values, the sensitive column swapped; no groups.
    RankSwap,
}

/// A release whose columns are all there. What they hold is not yet believed.
pub(super) struct Layout<'a> {
    pub(super) form: Form,
    pub(super) manifest: &'a Manifest,
    /// The table with one row per person.
    pub(super) name: &'static str,
    pub(super) table: &'a Table,
    pub(super) group: Option<&'a Column>,
    pub(super) quasi: Vec<(&'a Attribute, &'a Column)>,
    pub(super) others: Vec<(&'a Attribute, &'a Column)>,
    /// The sensitive attribute and where its values stand, in whichever table.
    pub(super) sensitive: Option<(&'a Attribute, &'a Column)>,
    pub(super) counts: Option<Counts<'a>>,
    pub(super) help: Option<Help<'a>>,
}

/// How often each sensitive value occurs in each group.
pub(super) struct Counts<'a> {
    pub(super) name: &'static str,
    pub(super) table: &'a Table,
    pub(super) group: &'a Column,
    pub(super) count: &'a Column,
}

/// What any number of hits in a group can add up to.
pub(super) struct Help<'a> {
    pub(super) table: &'a Table,
    pub(super) group: &'a Column,
    pub(super) hits: &'a Column,
    /// `sum_lb` to `max_variance`, as the form lists them.
    pub(super) numbers: Vec<&'a Column>,
}

impl Form {
    fn table(self) -> &'static str {
        match self {
            Form::Anatomy => anatomy::QUASI_TABLE,
            Form::Permute => permuted::QUASI_TABLE,
            Form::Shuffle => shuffled::TABLE,
            Form::RankSwap => swapped::TABLE,
        }
    }

    /// Whether an attribute of a role may be said to be shown so.
    ///
    /// Values that are counted by group are exact, and nobody knows whose they are: either word is true of them.
    pub(super) fn fits(self, role: RoleName, shown: Published) -> bool {
        match (self, role) {
            (Form::Anatomy | Form::Permute, RoleName::Sensitive) => shown != Published::Generalized,
            (Form::Permute, _) | (_, RoleName::Sensitive) => shown == Published::Permuted,
            _ => shown == Published::Exact,
        }
    }
}

impl<'a> Layout<'a> {
    pub(super) fn open(release: &'a Release, form: Form) -> Result<Layout<'a>, AuditError> {
        let manifest = &release.manifest;
        let name = form.table();
        let table = release.table(name)?;
        check_size("the release", table.rows())?;
        let shown =
            |attribute: &'a Attribute| Ok((attribute, find(table, name, &attribute.name, attribute.kind.into())?));
        let with = |role| manifest.with_role(role).map(shown).collect::<Result<Vec<_>, AuditError>>();
        let attribute = sensitive_attribute(manifest, form)?;
        let counts = attribute.and(match form {
            Form::Anatomy => Some((anatomy::SENSITIVE_TABLE, anatomy::COUNT)),
            Form::Permute => Some((permuted::SENSITIVE_TABLE, permuted::COUNT)),
            Form::Shuffle | Form::RankSwap => None,
        });
        let counts = counts.map(|(name, count)| Counts::open(release, name, count)).transpose()?;
        let sensitive = attribute.map(|attribute| match &counts {
            Some(counts) => Ok((attribute, find(counts.table, counts.name, &attribute.name, attribute.kind.into())?)),
            None => shown(attribute),
        });
        let help = attribute.filter(|_| form == Form::Shuffle);
        Ok(Layout {
            form,
            manifest,
            name,
            table,
            group: (form != Form::RankSwap).then(|| find(table, name, GROUP_ID, Kind::Integer)).transpose()?,
            quasi: with(RoleName::Quasi)?,
            others: if form == Form::Permute { no_others(manifest)? } else { with(RoleName::Other)? },
            sensitive: sensitive.transpose()?,
            counts,
            help: help.map(|attribute| Help::open(release, attribute.kind.into())).transpose()?,
        })
    }

    /// The sensitive column, where it stands beside the quasi values.
    pub(super) fn sensitive_column(&self) -> Option<&'a Column> {
        self.sensitive.filter(|_| self.counts.is_none()).map(|(_, column)| column)
    }

    /// All tables of the form with their columns, that of the people first.
    pub(super) fn parts(&self) -> Vec<Part<'a>> {
        let columns = self.quasi.iter().chain(&self.others).map(|(_, column)| *column);
        let columns = columns.chain(self.group).chain(self.sensitive_column()).map(Column::name).collect();
        let main = Part { name: self.name, table: self.table, columns };
        let counts = self.counts.as_ref().map(|counts| {
            let sensitive = self.sensitive.map(|(_, column)| column);
            let columns = [counts.group, counts.count].into_iter().chain(sensitive).map(Column::name).collect();
            Part { name: counts.name, table: counts.table, columns }
        });
        let help = self.help.as_ref().map(|help| Part {
            name: shuffled::HELP,
            table: help.table,
            columns: shuffled::HELP_COLUMNS.to_vec(),
        });
        once(main).chain(counts).chain(help).collect()
    }

    /// By what the rows of every table ascend: group id, then the other columns as they stand.
    pub(super) fn orders(&self) -> Vec<(&'static str, Vec<&'a Column>)> {
        let by = |table: &'a Table, group: Option<&'a Column>| {
            let others =
                table.columns().iter().filter(move |column| group.is_none_or(|group| group.name() != column.name()));
            group.into_iter().chain(others).collect()
        };
        let main = (self.name, by(self.table, self.group));
        let counts = self.counts.as_ref().map(|counts| (counts.name, by(counts.table, Some(counts.group))));
        // By hits and group or the other way round: either is told by the numbers alone.
        let help = self.help.as_ref().map(|help| {
            let by_hits = (1..help.table.rows()).all(|row| help.hits.code(row - 1) <= help.hits.code(row));
            (shuffled::HELP, if by_hits { vec![help.hits, help.group] } else { vec![help.group, help.hits] })
        });
        once(main).chain(counts).chain(help).collect()
    }
}

impl<'a> Counts<'a> {
    fn open(release: &'a Release, name: &'static str, count: &str) -> Result<Counts<'a>, AuditError> {
        let table = release.table(name)?;
        check_size("the table of sensitive values", table.rows())?;
        let find = |column: &str| find(table, name, column, Kind::Integer);
        Ok(Counts { name, table, group: find(GROUP_ID)?, count: find(count)? })
    }
}

impl<'a> Help<'a> {
    /// Sums, minima and maxima are of the sensitive attribute's kind; means and variances are fractions.
    fn open(release: &'a Release, kind: Kind) -> Result<Help<'a>, AuditError> {
        let name = shuffled::HELP;
        let table = release.table(name)?;
        check_size("the help table", table.rows())?;
        let [group, hits, numbers @ ..] = shuffled::HELP_COLUMNS;
        let kind_of = |column: &str| match column {
            column if column.ends_with("mean") || column.ends_with("variance") => Kind::Real,
            _ => kind,
        };
        let numbers = numbers.iter().map(|column| find(table, name, column, kind_of(column)));
        Ok(Help {
            table,
            group: find(table, name, group, Kind::Integer)?,
            hits: find(table, name, hits, Kind::Integer)?,
            numbers: numbers.collect::<Result<_, AuditError>>()?,
        })
    }
}

fn sensitive_attribute(manifest: &Manifest, form: Form) -> Result<Option<&Attribute>, AuditError> {
    let attribute = only_sensitive(manifest)?;
    match attribute {
        None if form != Form::Permute => Err(AuditError::NoSensitive { method: manifest.method.clone() }),
        Some(attribute) if form == Form::Shuffle && !Kind::from(attribute.kind).is_numeric() => {
            let problem = "a help table needs numbers".to_owned();
            Err(AuditError::Attribute { attribute: attribute.name.clone(), problem })
        }
        _ => Ok(attribute),
    }
}

fn no_others<'a>(manifest: &Manifest) -> Result<Vec<(&'a Attribute, &'a Column)>, AuditError> {
    match manifest.with_role(RoleName::Other).next() {
        None => Ok(Vec::new()),
        Some(attribute) => {
            let problem = "a permuted release shows quasi and sensitive attributes only".to_owned();
            Err(AuditError::Attribute { attribute: attribute.name.clone(), problem })
        }
    }
}
