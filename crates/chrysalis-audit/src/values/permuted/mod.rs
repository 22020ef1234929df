//! Whether columns were permuted inside their groups at random, which only the microdata can tell. `spec.md` says how.

mod apart;
mod beside;
mod odds;
#[cfg(test)]
mod tests;

use chrysalis_release::{Detail, Values};
use chrysalis_table::{Column, Table, Watch};

use super::tables::ValueTables;
use super::tally::Tally;
use crate::attack::{count, counted};
use crate::findings::Findings;
use crate::measure::GroupCounts;
use crate::source::join;
use crate::{Check, Groups};
use odds::Evidence;

/// An honest release fails with a chance below one in ten to this power.
const DIGITS: i32 = 9;

/// One question: are these values shown beside each other more or less often than by chance?
struct Test {
    /// Which columns it is about, for messages.
    what: String,
    evidence: Evidence,
}

/// Counts the rows that show their person's own values, and says how likely that is by chance. `columns` holds the quasi columns
/// by group where they were permuted.
pub(super) fn check(
    tables: &ValueTables<'_>,
    tally: &Tally,
    columns: &[GroupCounts],
    microdata: &Table,
    watch: &dyn Watch,
) -> Option<Check> {
    let rows = Rows::by_group(&tally.groups);
    let tests = match (tables.shape.detail, tables.shape.values) {
        (Detail::Permuted, _) => apart::tests(tables, (tally, &rows), columns, microdata, watch),
        (Detail::Exact, Values::Beside) => beside::tests(tables, &rows, microdata, watch),
        (Detail::Exact, Values::Counted(_) | Values::Swapped) | (Detail::GroupBoxes | Detail::RowBoxes, _) => {
            Vec::new()
        }
    };
    (!tests.is_empty()).then(|| judged(&tests))
}

/// The same for sensitive columns that stand beside each other, each of which was permuted on its own. Of every column,
/// the people's values and the published ones. Columns that are shown together are not compared.
pub(crate) fn columns_apart(
    columns: &[(&str, &Column, &Column)],
    are_together: &dyn Fn(&str, &str) -> bool,
    groups: &Groups,
    n_people: usize,
    watch: &dyn Watch,
) -> Option<Check> {
    let rows = Rows::by_group(groups);
    let mut tests = Vec::new();
    for (at, (name, people, shown)) in columns.iter().enumerate() {
        let (moved, _) = join(people, shown);
        for (other, of_people, of_shown) in columns[..at].iter().filter(|(other, ..)| !are_together(name, other)) {
            let fixed = [join(of_people, of_shown)];
            let evidence = beside::evidence(&fixed, &moved, n_people, &rows, watch);
            tests.push(Test { what: format!("`{other}` beside `{name}`"), evidence });
        }
    }
    (!tests.is_empty()).then(|| Check { name: "apart", ..judged(&tests) })
}

/// The same for sensitive columns, each of which was permuted beside columns that are kept as they are.
pub(crate) fn apart_from_kept(
    kept: &[(&str, &Column, &Column)],
    sensitive: &[(&str, &Column, &Column)],
    groups: &Groups,
    n_people: usize,
    watch: &dyn Watch,
) -> Option<Check> {
    let rows = Rows::by_group(groups);
    let fixed: Vec<_> = kept.iter().map(|(_, people, shown)| join(people, shown)).collect();
    let names: Vec<String> = kept.iter().map(|(name, ..)| format!("`{name}`")).collect();
    let test = |(name, people, shown): &(&str, &Column, &Column)| {
        let evidence = beside::evidence(&fixed, &join(people, shown).0, n_people, &rows, watch);
        Test { what: format!("{} beside `{name}`", names.join(", ")), evidence }
    };
    let tests: Vec<Test> = sensitive.iter().map(test).collect();
    (!tests.is_empty() && !fixed.is_empty()).then(|| Check { name: "apart", ..judged(&tests) })
}

fn judged(tests: &[Test]) -> Check {
    // PROOF: each test fails an honest release with at most its own chance, so any of them does with at most the sum.
    let ln_tests = (tests.len() as f64).ln();
    let level = -f64::from(DIGITS) * std::f64::consts::LN_10;
    let mut findings = Findings::new("permuted");
    for Test { what, evidence } in tests {
        let ln_chance = evidence.ln_chance() + ln_tests;
        if ln_chance >= level {
            continue;
        }
        let chance = format!("with a chance below 1 in 10^{}", (-ln_chance / std::f64::consts::LN_10).floor());
        let Evidence { found, wanting, expected, .. } = evidence;
        let of = format!("{} of {}", count(*found), counted(*wanting, "row", "rows"));
        if *found as f64 > *expected {
            findings.add("not permuted", || {
                format!(
                    "{of} show {what} as their own person has it, where a random permutation shows {expected:.1} on average, and \
                     so many {chance}: the columns were not permuted at random"
                )
            });
        } else {
            findings.add("kept apart", || {
                format!(
                    "only {of} show {what} as their own person has it, where a random permutation shows {expected:.1} on \
                     average, and so few {chance}: people were kept from their own values"
                )
            });
        }
    }
    findings.check(passed(tests, level - ln_tests))
}

/// What is said about a release that passes: "cannot tell", where its true order would have passed as well.
fn passed(tests: &[Test], level: f64) -> String {
    let sharpest =
        tests.iter().min_by(|a, b| a.evidence.ln_chance_if_true().total_cmp(&b.evidence.ln_chance_if_true()));
    let Some(Test { what, evidence }) = sharpest else { return String::new() };
    let Evidence { found, wanting, expected, .. } = evidence;
    if evidence.ln_chance_if_true() >= level {
        return format!(
            "cannot tell: a random permutation shows the true order of so few rows, or of rows so much alike, with a chance above 1 \
             in 10^{DIGITS}"
        );
    }
    let more = match tests.len() {
        1 => String::new(),
        n => format!(", and {} like it", counted(n as u64 - 1, "test", "tests")),
    };
    format!(
        "{} of {} show {what} as their own person has it; a random permutation shows {expected:.1} on average, and one in \
         10^{DIGITS} differs as much as it takes to fail this{more}",
        count(*found),
        counted(*wanting, "row", "rows"),
    )
}

/// Row numbers, group after group.
struct Rows {
    rows: Vec<u32>,
    ends: Vec<usize>,
}

impl Rows {
    fn by_group(groups: &Groups) -> Self {
        let mut ends: Vec<usize> = vec![0; groups.n_groups + 1];
        groups.of_row.iter().for_each(|&group| ends[group as usize + 1] += 1);
        (1..ends.len()).for_each(|at| ends[at] += ends[at - 1]);
        let mut rows = vec![0; groups.of_row.len()];
        for (row, &group) in (0u32..).zip(&groups.of_row) {
            rows[ends[group as usize]] = row;
            ends[group as usize] += 1;
        }
        ends.pop();
        Rows { rows, ends }
    }

    fn n_groups(&self) -> usize {
        self.ends.len()
    }

    fn of(&self, group: usize) -> &[u32] {
        let start = if group == 0 { 0 } else { self.ends[group - 1] };
        &self.rows[start..self.ends[group]]
    }

    /// The size of the largest group.
    fn most(&self) -> usize {
        (0..self.n_groups()).map(|group| self.of(group).len()).max().unwrap_or(0)
    }
}

/// How surprising it is that this many people are shown beside a value of which a group of n rows has this many copies.
fn surprise(people: u32, copies: u32, n: usize) -> f64 {
    f64::from(people) * (n as f64 / f64::from(copies)).ln()
}
