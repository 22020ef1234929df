//! Several sensitive attributes by group, under one numbering of groups.

use chrysalis_release::{Attribute, COUNT, Release, RoleName, Values};
use chrysalis_table::{Code, Column, Domain, Kind, Value};

use crate::AuditError;
use crate::columns::{find, group_ids};
use crate::measure::GroupCounts;
use crate::profile::check_size;

/// What a release shows of its sensitive attributes: values by group, and nothing that ties one attribute to another.
pub(crate) struct Margins<'a> {
    /// The ids of all groups, ascending.
    pub(crate) ids: Vec<Option<i64>>,
    /// The attributes, in the manifest's order.
    pub(crate) columns: Vec<Margin<'a>>,
    pub(crate) group_word: &'static str,
}

/// The values of one sensitive attribute.
pub(crate) struct Margin<'a> {
    pub(crate) attribute: &'a Attribute,
    pub(crate) domain: &'a Domain,
    pub(crate) values: GroupCounts,
}

/// The columns that show one attribute.
struct Lines<'a> {
    attribute: &'a Attribute,
    values: &'a Column,
    ids: &'a Column,
    counts: Option<&'a Column>,
}

impl<'a> Margins<'a> {
    /// Finds the values of every sensitive attribute; `None` where there are no groups.
    pub(crate) fn open(release: &'a Release) -> Result<Option<Margins<'a>>, AuditError> {
        let (manifest, layout) = (&release.manifest, release.manifest.layout());
        let Some(id) = layout.shape.group_id else { return Ok(None) };
        let mut all = Vec::new();
        for (at, attribute) in manifest.attributes.iter().enumerate() {
            if attribute.role != RoleName::Sensitive {
                continue;
            }
            let name = layout.shape.values_table_of(&attribute.name, manifest.has_several_sensitive());
            let name = layout.values_of(at).map_or(name, |table| table.name.clone());
            let table = release.table(&name)?;
            let counts = match layout.shape.values {
                Values::Counted(_) => Some(find(table, &name, COUNT, Kind::Integer)?),
                Values::Beside | Values::Swapped => None,
            };
            let values = find(table, &name, &attribute.name, attribute.kind.into())?;
            all.push(Lines { attribute, values, ids: find(table, &name, id, Kind::Integer)?, counts });
        }
        let mut ids: Vec<Option<i64>> = all.iter().flat_map(|lines| group_ids(lines.ids)).collect();
        ids.sort_unstable();
        ids.dedup();
        let margin = |lines: &Lines<'a>| {
            let values = lines.counted(&ids, manifest.rows)?;
            Ok(Margin { attribute: lines.attribute, domain: lines.values.domain(), values })
        };
        let columns = all.iter().map(margin).collect::<Result<_, AuditError>>()?;
        Ok(Some(Margins { ids, columns, group_word: layout.shape.group_word }))
    }
}

impl Lines<'_> {
    /// How often every group has every value; impossible counts are left out.
    fn counted(&self, ids: &[Option<i64>], rows: u64) -> Result<GroupCounts, AuditError> {
        let number = |id: &Option<i64>| ids.binary_search(id).ok().and_then(|at| u32::try_from(at).ok());
        let groups: Vec<Option<u32>> = group_ids(self.ids).iter().map(number).collect();
        let lines = (0..self.values.codes().len()).filter_map(|row| {
            let count = self.counts.map_or(Some(1), |counts| match counts.domain().value(counts.code(row)) {
                Some(Value::Integer(count)) => u32::try_from(*count).ok(),
                _ => None,
            });
            let count = count.filter(|&count| count > 0 && u64::from(count) <= rows)?;
            Some((groups[self.ids.code(row) as usize]?, self.values.code(row), count))
        });
        let lines: Vec<(u32, Code, u32)> = lines.collect();
        let total: u64 = lines.iter().map(|&(_, _, count)| u64::from(count)).sum();
        check_size("the table of sensitive values", usize::try_from(total).unwrap_or(usize::MAX).max(1))?;
        Ok(GroupCounts::from_counts(ids.len(), self.values.domain().len(), lines))
    }
}
