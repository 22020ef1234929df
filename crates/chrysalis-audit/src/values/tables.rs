//! Finds the tables of a release and checks their kinds.

use std::iter::once;

use chrysalis_release::{
    Attribute, COUNT, Detail, HELP_COLUMNS, Manifest, Needs, Published, Release, RoleName, Shape, Values,
};
use chrysalis_table::{Column, Kind, Table};

use crate::AuditError;
use crate::columns::{find, only_sensitive};
use crate::profile::check_size;
use crate::shape::ExpectedTable;

/// A release whose columns are all there. Their contents are not yet trusted.
pub(super) struct ValueTables<'a> {
    pub(super) shape: Shape,
    pub(super) manifest: &'a Manifest,
    /// The table with one row per person.
    pub(super) name: &'static str,
    pub(super) table: &'a Table,
    pub(super) group: Option<&'a Column>,
    pub(super) quasi: Vec<(&'a Attribute, &'a Column)>,
    pub(super) others: Vec<(&'a Attribute, &'a Column)>,
    /// The sensitive attribute and the column of its values, in whichever table.
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
    name: &'static str,
    pub(super) table: &'a Table,
    pub(super) group: &'a Column,
    pub(super) hits: &'a Column,
    /// `sum_lb` to `max_variance`, as the form lists them.
    pub(super) numbers: Vec<&'a Column>,
}

impl<'a> ValueTables<'a> {
    pub(super) fn open(release: &'a Release) -> Result<ValueTables<'a>, AuditError> {
        let manifest = &release.manifest;
        let shape = manifest.method.shape();
        let name = shape.people;
        let table = release.table(name)?;
        check_size("the release", table.rows())?;
        let shown =
            |attribute: &'a Attribute| Ok((attribute, find(table, name, &attribute.name, attribute.kind.into())?));
        let with = |role| manifest.with_role(role).map(shown).collect::<Result<Vec<_>, AuditError>>();
        let attribute = sensitive_attribute(manifest, shape.needs)?;
        let counts = match (shape.values, shape.group_id, attribute) {
            (Values::Counted(name), Some(id), Some(_)) => Some(Counts::open(release, name, id)?),
            (Values::Counted(_) | Values::Beside | Values::Swapped, _, _) => None,
        };
        let sensitive = attribute.map(|attribute| match &counts {
            Some(counts) => Ok((attribute, find(counts.table, counts.name, &attribute.name, attribute.kind.into())?)),
            None => shown(attribute),
        });
        let help = shape.help.zip(attribute);
        Ok(ValueTables {
            shape,
            manifest,
            name,
            table,
            group: shape.group_id.map(|id| find(table, name, id, Kind::Integer)).transpose()?,
            quasi: with(RoleName::Quasi)?,
            others: if shape.keeps_others { with(RoleName::Other)? } else { no_others(manifest)? },
            sensitive: sensitive.transpose()?,
            counts,
            help: help.map(|(name, attribute)| Help::open(release, name, attribute.kind.into())).transpose()?,
        })
    }

    /// Whether every quasi column was permuted on its own, so that no two values of a row belong together.
    pub(super) fn is_permuted(&self) -> bool {
        match self.shape.detail {
            Detail::Permuted => true,
            Detail::Exact | Detail::GroupBoxes | Detail::RowBoxes => false,
        }
    }

    /// Whether the manifest may say that an attribute of this role is shown in this way.
    ///
    /// LEAK: two words are true of values that are counted by group (they are exact, and nobody knows whose they are),
    /// and the choice between them could carry a message.
    pub(super) fn fits(&self, role: RoleName, shown: Published) -> bool {
        match role {
            RoleName::Sensitive => shown == self.shape.sensitive(),
            RoleName::Quasi => shown == self.shape.detail.published(),
            RoleName::Other | RoleName::Identifier => shown == Published::Exact,
        }
    }

    /// The sensitive column, where it is shown beside the quasi values.
    pub(super) fn sensitive_column(&self) -> Option<&'a Column> {
        self.sensitive.filter(|_| self.counts.is_none()).map(|(_, column)| column)
    }

    /// All tables of the form with their columns, the table of people first.
    pub(super) fn expected_tables(&self) -> Vec<ExpectedTable<'a>> {
        let columns = self.quasi.iter().chain(&self.others).map(|(_, column)| *column);
        let columns = columns.chain(self.group).chain(self.sensitive_column()).map(Column::name).collect();
        let main = ExpectedTable { name: self.name, table: self.table, columns };
        let counts = self.counts.as_ref().map(|counts| {
            let sensitive = self.sensitive.map(|(_, column)| column);
            let columns = [counts.group, counts.count].into_iter().chain(sensitive).map(Column::name).collect();
            ExpectedTable { name: counts.name, table: counts.table, columns }
        });
        let help = self.help.as_ref().map(|help| ExpectedTable {
            name: help.name,
            table: help.table,
            columns: HELP_COLUMNS.to_vec(),
        });
        once(main).chain(counts).chain(help).collect()
    }

    /// The columns by which the rows of every table ascend: group id, then the other columns in their order.
    pub(super) fn orders(&self) -> Vec<(&'static str, Vec<&'a Column>)> {
        let by = |table: &'a Table, group: Option<&'a Column>| {
            let others =
                table.columns().iter().filter(move |column| group.is_none_or(|group| group.name() != column.name()));
            group.into_iter().chain(others).collect()
        };
        let main = (self.name, by(self.table, self.group));
        let counts = self.counts.as_ref().map(|counts| (counts.name, by(counts.table, Some(counts.group))));
        // Rows may ascend by hits and group, or the other way round: either order follows from the numbers alone.
        let help = self.help.as_ref().map(|help| {
            let by_hits = (1..help.table.rows()).all(|row| help.hits.code(row - 1) <= help.hits.code(row));
            (help.name, if by_hits { vec![help.hits, help.group] } else { vec![help.group, help.hits] })
        });
        once(main).chain(counts).chain(help).collect()
    }
}

impl<'a> Counts<'a> {
    fn open(release: &'a Release, name: &'static str, id: &str) -> Result<Counts<'a>, AuditError> {
        let table = release.table(name)?;
        check_size("the table of sensitive values", table.rows())?;
        let find = |column: &str| find(table, name, column, Kind::Integer);
        Ok(Counts { name, table, group: find(id)?, count: find(COUNT)? })
    }
}

impl<'a> Help<'a> {
    /// Sums, minima and maxima are of the sensitive attribute's kind; means and variances are fractions.
    fn open(release: &'a Release, name: &'static str, kind: Kind) -> Result<Help<'a>, AuditError> {
        let table = release.table(name)?;
        check_size("the help table", table.rows())?;
        let [group, hits, numbers @ ..] = HELP_COLUMNS;
        let kind_of = |column: &str| match column {
            column if column.ends_with("mean") || column.ends_with("variance") => Kind::Real,
            _ => kind,
        };
        let numbers = numbers.iter().map(|column| find(table, name, column, kind_of(column)));
        Ok(Help {
            name,
            table,
            group: find(table, name, group, Kind::Integer)?,
            hits: find(table, name, hits, Kind::Integer)?,
            numbers: numbers.collect::<Result<_, AuditError>>()?,
        })
    }
}

fn sensitive_attribute(manifest: &Manifest, needs: Needs) -> Result<Option<&Attribute>, AuditError> {
    let attribute = only_sensitive(manifest)?;
    match (needs, attribute) {
        (Needs::Sensitive | Needs::Numbers, None) => Err(AuditError::NoSensitive { method: manifest.method }),
        (Needs::Numbers, Some(attribute)) if !Kind::from(attribute.kind).is_numeric() => {
            let problem = "a help table needs numbers".to_owned();
            Err(AuditError::Attribute { attribute: attribute.name.clone(), problem })
        }
        (Needs::Nothing, _) | (Needs::Sensitive | Needs::Numbers, Some(_)) => Ok(attribute),
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
