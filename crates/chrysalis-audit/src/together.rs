//! Sensitive attributes that are shown together: whether their combinations agree with the tables of each attribute
//! and, with the microdata, whether they are the true ones; and what an insider learns from them.

use chrysalis_release::{Attribute, COUNT, Detail, DomainEntry, KindName, Release, RoleName, Values};
use chrysalis_table::{Code, Codes, Column, Domain, Kind, Table, Watch};

use crate::attack::Together;
use crate::columns::group_ids;
use crate::findings::Findings;
use crate::grouping::Key;
use crate::source::{join, relevant};
use crate::{AuditError, Check, Groups, boxes, shape, values};

/// What is said about attributes that are shown together.
#[derive(Default)]
pub(crate) struct TogetherReport {
    pub(crate) checks: Vec<Check>,
    pub(crate) learned: Vec<Together>,
}

/// Judges every set of attributes that are shown together.
pub(crate) fn judge(
    release: &Release,
    microdata: Option<&Table>,
    watch: &dyn Watch,
) -> Result<TogetherReport, AuditError> {
    let mut report = TogetherReport::default();
    let mut findings = Findings::new("together");
    for names in &release.manifest.together {
        watch.pause();
        let shown = ShownTogether::open(release, names)?;
        if shown.count.is_some() {
            shown.check(release, &mut findings)?;
        }
        let lines = shown.lines(&mut findings);
        for (a, known) in names.iter().enumerate() {
            for (b, learned) in names.iter().enumerate().filter(|(b, _)| *b != a) {
                let pair = |&(row, count): &(usize, u64)| {
                    (shown.id.code(row), shown.values[a].code(row), shown.values[b].code(row), count)
                };
                report.learned.push(Together::new(known, learned, lines.iter().map(pair).collect()));
            }
        }
        if let Some(microdata) = microdata {
            report.checks.push(shown.faithful(release, microdata, watch)?);
        }
    }
    if release.manifest.method.shape().values != Values::Beside && !release.manifest.together.is_empty() {
        let n = release.manifest.together.len();
        let told = format!("the counts of combinations agree with those of each column, in {n} of {n} tables");
        report.checks.insert(0, findings.check(told));
    }
    Ok(report)
}

/// The columns of one set, in the table of combinations or in that of people.
struct ShownTogether<'a> {
    names: &'a [String],
    /// The table.
    table: String,
    id: &'a Column,
    values: Vec<&'a Column>,
    /// How often every combination occurs; absent where every row is one person's.
    count: Option<&'a Column>,
}

impl<'a> ShownTogether<'a> {
    fn open(release: &'a Release, names: &'a [String]) -> Result<ShownTogether<'a>, AuditError> {
        let shape = release.manifest.method.shape();
        let counted = shape.together_table(names.iter().map(String::as_str));
        let name = counted.clone().unwrap_or_else(|| shape.people.to_owned());
        let table = release.table(&name)?;
        let find = |column: &str, kind: Kind| crate::columns::find(table, &name, column, kind);
        let kind_of = |column: &String| release.manifest.attribute(column).map(|attribute| Kind::from(attribute.kind));
        let values = names
            .iter()
            .map(|column| find(column, kind_of(column).unwrap_or(Kind::Category)))
            .collect::<Result<_, _>>()?;
        let id = find(shape.group_id.unwrap_or_default(), Kind::Integer)?;
        let count = counted.is_some().then(|| find(COUNT, Kind::Integer)).transpose()?;
        Ok(ShownTogether { names, id, values, count, table: name })
    }

    fn rows(&self) -> usize {
        self.id.codes().len()
    }

    /// Every row with the number of people that it stands for; impossible counts are left out, and found.
    fn lines(&self, findings: &mut Findings) -> Vec<(usize, u64)> {
        let Some(count) = self.count else { return (0..self.rows()).map(|row| (row, 1)).collect() };
        let counts = possible(count);
        let lines: Vec<(usize, u64)> =
            (0..self.rows()).filter_map(|row| Some((row, counts[count.code(row) as usize]?))).collect();
        if lines.len() < self.rows() {
            let n = self.rows() - lines.len();
            findings.add("counts", || format!("{n} rows of `{}` have an impossible count", self.table));
        }
        lines
    }

    /// The table of combinations has one row per group and combination, in canonical order, and summed up over the
    /// other attributes it says what the table of each attribute says.
    fn check(&self, release: &Release, findings: &mut Findings) -> Result<(), AuditError> {
        let key = |row: usize| {
            std::iter::once(self.id.code(row)).chain(self.values.iter().map(move |column| column.code(row)))
        };
        let starts = shape::later_parts(&release.manifest, &self.table);
        let is_first = |row: usize| starts.binary_search(&row).is_ok();
        let n_wrong = (1..self.rows()).filter(|&row| !is_first(row) && !key(row - 1).lt(key(row))).count();
        if n_wrong > 0 {
            findings.add("order", || {
                format!("{n_wrong} rows of `{}` repeat the one before them, or should precede it", self.table)
            });
        }
        let shape = release.manifest.method.shape();
        for (name, values) in self.names.iter().zip(&self.values) {
            let own = shape.values_table_of(name, true);
            let table = release.table(&own)?;
            let find = |column: &str, kind: Kind| crate::columns::find(table, &own, column, kind);
            let (id, count) = (find(self.id.name(), Kind::Integer)?, find(COUNT, Kind::Integer)?);
            let expected = find(name, values.domain().kind())?;
            let of_values = totals(id, expected, count, expected.domain());
            let of_pairs = self.count.map_or_else(Vec::new, |count| totals(self.id, values, count, expected.domain()));
            let n_different = differences(&of_values, &of_pairs);
            if n_different > 0 {
                findings.add("counts that differ", || {
                    format!(
                        "`{}` and `{own}` differ in how often {n_different} values of `{name}` occur in a group",
                        self.table
                    )
                });
            }
        }
        Ok(())
    }

    /// Whether people can be assigned to what is shown, if the combination of their values is taken for one value. Every
    /// form decides that by the same means as for one attribute.
    fn faithful(&self, release: &Release, microdata: &Table, watch: &dyn Watch) -> Result<Check, AuditError> {
        let name = self.names.join(", ");
        let (people, _) = relevant(&release.manifest, microdata)?;
        let joined: Vec<(Codes, usize)> = self
            .names
            .iter()
            .zip(&self.values)
            .filter_map(|(name, shown)| Some(join(people.column(name)?, shown)))
            .collect();
        let keys: Vec<Key<'_>> = joined.iter().map(|(codes, n_codes)| Key { codes, n_codes: *n_codes }).collect();
        let mut of_people = Groups::of_keys(&keys, people.rows() + self.rows(), watch).of_row;
        let of_rows = of_people.split_off(people.rows());
        let is_real = self.values[0].domain().kind() == Kind::Real;
        let numbered = |numbers: &[u32]| match is_real {
            // Tables of bounds belong to one of the attributes and are not looked at, but must be of its kind.
            true => Column::reals(name.as_str(), &numbers.iter().map(|&number| f64::from(number)).collect::<Vec<_>>()),
            false => {
                Column::integers(name.as_str(), &numbers.iter().map(|&number| i64::from(number)).collect::<Vec<_>>())
            }
        };
        let alone = self.as_one(release, (&name, is_real), numbered(&of_rows))?;
        let people = Table::new(people.columns().iter().cloned().chain([numbered(&of_people)]).collect());
        let check = match alone.manifest.method.shape().detail {
            Detail::Exact | Detail::Permuted => values::faithful_check(&alone, &people, watch),
            Detail::GroupBoxes => boxes::faithful_check(&alone, &people, watch),
            Detail::RowBoxes => boxes::faithful_check_of_batches(&alone, &people, watch),
        }?;
        let named = check.findings.iter().map(|finding| format!("`{name}` together: {finding}")).collect();
        Ok(Check { findings: named, ..check })
    }

    /// The release with the combinations in place of the first attribute of the set, and without other sensitive ones.
    fn as_one(&self, release: &Release, (name, is_real): (&str, bool), values: Column) -> Result<Release, AuditError> {
        let first = &self.names[0];
        let mut alone = release.about(first)?;
        for attribute in alone.manifest.attributes.iter_mut().filter(|it| it.role == RoleName::Sensitive) {
            *attribute = Attribute {
                name: name.to_owned(),
                kind: if is_real { KindName::Real } else { KindName::Integer },
                domain: DomainEntry::default(),
                taxonomy: None,
                categories: None,
                weights: None,
                ordinary: None,
                near: None,
                prepared: None,
                ..attribute.clone()
            };
        }
        let shape = alone.manifest.method.shape();
        let place = alone.manifest.tables.iter().position(|entry| entry.name == shape.values_table());
        let source = release.table(&self.table)?;
        if let Some(place) = place {
            let columns = alone.tables[place].columns().iter().map(|column| column.name());
            let column = |column: &str| if column == first { Some(&values) } else { source.column(column) };
            alone.tables[place] = Table::new(columns.filter_map(column).cloned().collect());
        }
        Ok(alone)
    }
}

/// The count behind every code; `None` where it is none.
fn possible(count: &Column) -> Vec<Option<u64>> {
    group_ids(count)
        .into_iter()
        .map(|number| number.and_then(|it| u64::try_from(it).ok()).filter(|&it| it > 0))
        .collect()
}

/// How often every value occurs in every group, ascending; values are numbered as in `domain`, and beyond it if they are
/// not in it.
fn totals(id: &Column, values: &Column, count: &Column, domain: &Domain) -> Vec<(Option<i64>, Code, u64)> {
    let (ids, counts) = (group_ids(id), possible(count));
    let number = |code: Code| {
        let known = domain.code_of(values.domain().value(code));
        known.unwrap_or(domain.len() as Code + code)
    };
    let numbers: Vec<Code> = (0..values.domain().len() as Code).map(number).collect();
    let line = |row: usize| {
        let times = counts[count.code(row) as usize].unwrap_or(0);
        (ids[id.code(row) as usize], numbers[values.code(row) as usize], times)
    };
    let mut lines: Vec<_> = (0..id.codes().len()).map(line).collect();
    lines.sort_unstable();
    let mut merged: Vec<(Option<i64>, Code, u64)> = Vec::new();
    for run in lines.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
        merged.push((run[0].0, run[0].1, run.iter().fold(0, |sum, line| sum.saturating_add(line.2))));
    }
    merged
}

/// How many values of groups do not occur as often in both lists.
fn differences(a: &[(Option<i64>, Code, u64)], b: &[(Option<i64>, Code, u64)]) -> usize {
    let key = |line: &(Option<i64>, Code, u64)| (line.0, line.1);
    let lacks = |line: &&(Option<i64>, Code, u64), other: &[(Option<i64>, Code, u64)]| {
        other.binary_search_by_key(&key(line), key).is_err()
    };
    let is_other = |line: &&(Option<i64>, Code, u64)| {
        b.binary_search_by_key(&key(line), key).map_or(true, |place| b[place].2 != line.2)
    };
    a.iter().filter(is_other).count() + b.iter().filter(|line| lacks(line, a)).count()
}
