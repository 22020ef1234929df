//! The persons of the microdata, compared with what a release says about persons.

use std::collections::{BTreeMap, BTreeSet};

use chrysalis_release::{Manifest, RoleName};
use chrysalis_table::{Code, Table, Watch};

use super::fit::{self, Fits};
use super::seen::GroupMasses;
use super::tables::PersonTables;
use crate::attack::counted;
use crate::findings::Findings;
use crate::source::relevant_by;
use crate::{AuditError, Check};

/// The microdata, by person.
pub(crate) struct SourcePersons {
    /// The published attributes of the rows that may have been published.
    pub(super) table: Table,
    /// The rows of every person.
    pub(super) persons: Vec<Vec<u32>>,
    /// Rows were left out, so that nobody has more than this many.
    most_rows: Option<u64>,
}

impl SourcePersons {
    /// The rows of every person, by the column that says whose they are. Rows of nobody were not published.
    pub(crate) fn new(
        tables: &PersonTables<'_>,
        microdata: &Table,
        person: &str,
        watch: &dyn Watch,
    ) -> Result<SourcePersons, AuditError> {
        let column = microdata.column(person).ok_or_else(|| AuditError::UnknownColumn {
            what: "microdata",
            column: person.to_owned(),
            columns: microdata.columns().iter().map(|column| column.name().to_owned()).collect(),
        })?;
        let (table, of_row) = relevant_by(tables.manifest, microdata, column)?;
        watch.pause();
        let mut persons: Vec<Vec<u32>> = vec![Vec::new(); column.domain().len()];
        (0..).zip(&of_row).for_each(|(row, &code)| persons[code as usize].push(row));
        persons.retain(|rows| !rows.is_empty());
        let is_cut =
            tables.rows_known && table.rows() as u64 > tables.rows.iter().sum() && persons.len() as u64 == tables.count;
        let most = (0..tables.ids.len()).map(|group| tables.least_rows(group)).max();
        Ok(SourcePersons { table, persons, most_rows: most.filter(|_| is_cut) })
    }

    /// Whether the owner left out rows of persons who had too many.
    pub(crate) fn is_cut(&self) -> bool {
        self.most_rows.is_some()
    }

    /// How many of a person's rows were published.
    pub(super) fn published_rows(&self, rows: u64) -> u64 {
        self.most_rows.map_or(rows, |most| rows.min(most))
    }
}

/// What became of the persons of the microdata.
pub(super) struct Placement {
    fits: Vec<Fits>,
    /// Of every group, the persons who fit no other.
    only: Vec<Vec<u32>>,
    /// Persons who fit several groups.
    several: u64,
}

/// Looks for the groups of all persons.
pub(super) fn place(
    tables: &PersonTables<'_>,
    source: &SourcePersons,
    watch: &dyn Watch,
) -> Result<Placement, AuditError> {
    let fits = fit::places(tables, source, watch)?;
    let mut only = vec![Vec::new(); tables.ids.len()];
    for (person, fits) in (0..).zip(&fits) {
        if let Fits::Only(group) = fits {
            only[*group as usize].push(person);
        }
    }
    let several = fits.iter().filter(|fits| **fits == Fits::Several).count() as u64;
    Ok(Placement { fits, only, several })
}

/// Adds to the check `persons` what the microdata tell: there are as many persons, with as many rows each, all rows of
/// each of them fit into one group, and no group has more persons than it says.
pub(super) fn check(tables: &PersonTables<'_>, source: &SourcePersons, placed: &Placement, known: Check) -> Check {
    let mut findings = Findings::new("persons");
    let persons = source.persons.len() as u64;
    if persons != tables.count {
        let said = tables.count;
        findings.add("persons", || format!("the microdata have {persons} persons, the release {said}"));
    }
    if tables.rows_known {
        numbers_of_rows(tables, source, &mut findings);
    }
    let lost = placed.fits.iter().filter(|fits| **fits == Fits::Nowhere).count() as u64;
    if lost > 0 {
        findings.add("persons without a group", || {
            let persons = counted(lost, "person of the microdata fits", "persons of the microdata fit");
            format!("{persons} no group with all their rows at once: these are in several groups, or were changed")
        });
    }
    for (group, only) in placed.only.iter().enumerate() {
        of_group(tables, source, (group, only), &mut findings);
    }
    let word = tables.word();
    let mut fine = format!("{}; all rows of each fit one {word}", known.detail);
    if let Some(most) = source.most_rows {
        let left_out = source.table.rows() as u64 - tables.rows.iter().sum::<u64>();
        let rows = counted(left_out, "row of the microdata is", "rows of the microdata are");
        fine.push_str(&format!(", of whom {rows} left out, because nobody has more than {most} here"));
    }
    let found = findings.check(fine);
    match known.ok {
        true => found,
        false => {
            let all: Vec<String> = known.findings.into_iter().chain(found.findings).collect();
            Check { name: known.name, ok: false, detail: all.join("; "), findings: all }
        }
    }
}

/// As many persons have each number of rows as groups say.
fn numbers_of_rows(tables: &PersonTables<'_>, source: &SourcePersons, findings: &mut Findings) {
    let mut persons: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
    for rows in &source.persons {
        persons.entry(source.published_rows(rows.len() as u64)).or_default().0 += 1;
    }
    for group in (0..tables.ids.len()).filter(|&group| tables.persons[group] > 0) {
        persons.entry(tables.least_rows(group)).or_default().1 += tables.persons[group];
    }
    for (rows, (found, said)) in persons.into_iter().filter(|(_, (found, said))| found != said) {
        findings.add("numbers of rows", || {
            let rows = counted(rows, "row", "rows");
            let persons = counted(found, "person of the microdata has", "persons of the microdata have");
            format!("{persons} {rows}, in the release {said}")
        });
    }
}

/// The persons who fit this group alone are no more than it has, and if they are all of them, they have what it shows.
fn of_group(
    tables: &PersonTables<'_>,
    source: &SourcePersons,
    (group, only): (usize, &Vec<u32>),
    findings: &mut Findings,
) {
    let (word, said, n) = (tables.word(), tables.persons[group], only.len() as u64);
    if n > said {
        findings.add("crowded groups", || {
            let id = tables.name(group);
            let others = counted(n, "person", "persons");
            format!(
                "{word} {id} has {}, but {others} of the microdata fit no other",
                counted(said, "person", "persons")
            )
        });
        return;
    }
    if n < said || n == 0 || source.is_cut() {
        return;
    }
    let rows: u64 = only.iter().map(|&person| source.persons[person as usize].len() as u64).sum();
    if rows != tables.rows[group] {
        findings.add("rows of persons", || {
            let (id, shown) = (tables.name(group), tables.rows[group]);
            format!(
                "{word} {id}: the persons who fit no other have {rows} rows in the microdata, the release shows {shown}"
            )
        });
        return;
    }
    let shown = tables.values.as_ref().and_then(|values| Some((values, values.having.as_ref()?)));
    let (Some((values, having)), Some(of_rows)) = (shown, codes(tables, source)) else { return };
    let mut found: BTreeMap<Code, u64> = BTreeMap::new();
    for &person in only {
        values_of(&source.persons[person as usize], &of_rows)
            .into_iter()
            .for_each(|code| *found.entry(code).or_default() += 1);
    }
    let said: BTreeMap<Code, u64> =
        having.group(group).values.iter().map(|&(code, persons)| (code, u64::from(persons))).collect();
    if found != said {
        findings.add("persons with a value", || {
            let (id, name) = (tables.name(group), &values.attribute.name);
            format!("{word} {id}: other numbers of its persons have the values of `{name}` than the release says")
        });
    }
}

/// The published code of every row's sensitive value; values that are published nowhere come after all others.
fn codes(tables: &PersonTables<'_>, source: &SourcePersons) -> Option<Vec<Code>> {
    let values = tables.values.as_ref()?;
    let column = source.table.column(&values.attribute.name)?;
    let (known, shown) = (column.domain(), values.column.domain());
    let code = |code: Code| shown.code_of(known.value(code)).unwrap_or(shown.len() as Code + code);
    let of_code: Vec<Code> = (0..known.len() as Code).map(code).collect();
    Some(column.codes().iter().map(|code| of_code[code as usize]).collect())
}

fn values_of(rows: &[u32], of_rows: &[Code]) -> BTreeSet<Code> {
    rows.iter().map(|&row| of_rows[row as usize]).collect()
}

/// What persons give to their values, where the microdata tell who is in a group; and why not elsewhere.
pub(super) fn masses(
    tables: &PersonTables<'_>,
    source: &SourcePersons,
    placed: &Placement,
) -> Option<(Vec<Option<GroupMasses>>, String)> {
    let of_rows = codes(tables, source)?;
    let values: Vec<BTreeSet<Code>> = source.persons.iter().map(|rows| values_of(rows, &of_rows)).collect();
    // Every person has one whole, and gives an equal part of it to each value.
    let different: BTreeSet<u64> = values.iter().map(|values| values.len() as u64).collect();
    let scale = different.iter().try_fold(1_u64, |scale, &n| {
        let common = common_multiple(scale, n.max(1))?;
        (common.checked_mul(tables.count.max(1))? <= u64::from(u32::MAX)).then_some(common)
    });
    let scale = scale?;
    let shown = super::seen::shown_masses(tables, scale);
    let n_codes = tables.values.as_ref().map_or(0, |values| values.column.domain().len()) as Code;
    let of_group = |(group, shown): (usize, Option<GroupMasses>)| {
        let only = &placed.only[group];
        let is_known = only.len() as u64 == tables.persons[group]
            && only.iter().all(|&person| {
                let (rows, values) = (source.persons[person as usize].len() as u64, &values[person as usize]);
                source.published_rows(rows) == rows && values.iter().all(|&code| code < n_codes)
            });
        if !is_known {
            return shown;
        }
        let mut masses: BTreeMap<Code, u64> = BTreeMap::new();
        for &person in only {
            let values = &values[person as usize];
            values.iter().for_each(|&code| *masses.entry(code).or_default() += scale / values.len() as u64);
        }
        Some(masses.into_iter().collect())
    };
    let masses: Vec<Option<GroupMasses>> = shown.into_iter().enumerate().map(of_group).collect();
    let persons = counted(placed.several, "person fits", "persons fit");
    let why = match source.is_cut() {
        true => "it counts what each person has, and which of their rows were left out is not known".to_owned(),
        false => format!("it counts what each person has, and {persons} several groups"),
    };
    Some((masses, why))
}

/// The least common multiple, if it is small enough.
fn common_multiple(a: u64, b: u64) -> Option<u64> {
    let gcd = |mut a: u64, mut b: u64| {
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    (a / gcd(a, b)).checked_mul(b)
}

/// The check `faithful` where rows were left out: nothing may occur more often than in the microdata.
pub(crate) fn faithful_in_part(manifest: &Manifest, tables: &PersonTables<'_>, source: &SourcePersons) -> Check {
    let mut findings = Findings::new("faithful");
    let shown = |role| manifest.with_role(role);
    let in_rows = shown(RoleName::Quasi).chain(shown(RoleName::Other)).chain(shown(RoleName::Sensitive));
    for attribute in in_rows {
        let Some(known) = source.table.column(&attribute.name) else { continue };
        let of_values = tables.values.as_ref().filter(|values| values.attribute.name == attribute.name);
        let (domain, totals) = match (of_values, tables.people.column(&attribute.name)) {
            (Some(values), _) => (values.column.domain(), values.counts.whole().to_vec()),
            (None, Some(column))
                if !manifest.method.shape().detail.is_labelled() || attribute.role != RoleName::Quasi =>
            {
                (column.domain(), column.histogram())
            }
            _ => continue,
        };
        let found = known.histogram();
        let occurs = |code: Code| known.domain().code_of(domain.value(code)).map_or(0, |code| found[code as usize]);
        let more = (0..).zip(&totals).filter(|&(code, &total)| total > occurs(code)).count();
        if more > 0 {
            let name = &attribute.name;
            findings.add("values", || format!("{more} values of `{name}` occur more often than in the microdata"));
        }
    }
    let left_out = counted((source.table.rows() - tables.people.rows()) as u64, "row", "rows");
    findings.check(format!(
        "{left_out} of the microdata were left out, because nobody may have so many, and which ones the release does not say: \
         no value occurs more often than in the microdata, and more cannot be compared"
    ))
}
