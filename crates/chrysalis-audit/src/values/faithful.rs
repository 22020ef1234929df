//! Whether a release is a truthful picture of the microdata.

use chrysalis_table::{Codes, Column, Table, Watch};
use rayon::prelude::*;

use super::tables::ValueTables;
use super::tally::Tally;
use super::worlds::{Problem, ShownAttribute, Verdict, decide};
use crate::findings::Findings;
use crate::grouping::Key;
use crate::profile::check_size;
use crate::source::{different_totals, join};
use crate::{AuditError, Check, Groups};

/// One column of the problem: what people have, and what groups show.
struct Side {
    name: String,
    of_people: Vec<u32>,
    shown: ShownAttribute,
}

/// For releases without groups: combinations of quasi values occur as often as in the microdata, and so do sensitive
/// values.
pub(super) fn ungrouped(
    tables: &ValueTables<'_>,
    (microdata, n_dropped): (&Table, usize),
    watch: &dyn Watch,
) -> Result<Check, AuditError> {
    let mut findings = Findings::new("faithful");
    totals(tables, microdata, None, &mut findings, watch)?;
    tuples(tables, microdata, &mut findings, watch);
    let rows = microdata.rows();
    Ok(findings.check(format!(
        "the quasi values of {rows} rows and all sensitive values are those of the microdata; which belong together was \
         swapped and cannot be checked{}",
        dropped(n_dropped)
    )))
}

/// The same for releases with groups, and people can be assigned to these so that every group has the values it shows.
pub(super) fn grouped(
    tables: &ValueTables<'_>,
    tally: &Tally,
    (microdata, n_dropped): (&Table, usize),
    watch: &dyn Watch,
) -> Result<Check, AuditError> {
    let mut findings = Findings::new("faithful");
    totals(tables, microdata, Some(tally), &mut findings, watch)?;
    let mut sides = if tables.is_permuted() {
        columns(tables, tally, microdata, watch)
    } else {
        vec![of_tuples(tables, tally, tuples(tables, microdata, &mut findings, watch), microdata.rows())]
    };
    watch.pause();
    sides.extend(sensitive(tables, tally, microdata));
    watch.pause();
    let is_even = tally.sample.as_ref().is_none_or(|sample| sample.sizes() == tally.sizes);
    let rows = microdata.rows();
    let mut fine = format!("each of {rows} people can be given a group such that");
    if findings.is_empty() && is_even && !sides.is_empty() {
        let names: Vec<String> = sides.iter().map(|side| side.name.clone()).collect();
        match decide(&problem(sides, rows, tally.ids.len(), watch), watch) {
            Verdict::Possible => fine.push_str(" every group has the values it shows: an assignment was found"),
            Verdict::Contradiction(found) => findings.add("impossible groups", || {
                let group = tally.name(found.group as usize);
                format!(
                    "group {group} shows {} that no assignment of people to groups can give it",
                    names[found.column]
                )
            }),
            Verdict::Impossible => findings.add("no assignment", || {
                "no assignment of people to groups gives every group the values it shows: all were tried".into()
            }),
            Verdict::Open { people, is_swept } => fine = open(rows, people, is_swept),
        }
    } else if !is_even {
        findings.add("sizes", || "groups have other sizes in the two tables, so nobody can be assigned to them".into());
    }
    Ok(findings.check(fine + &dropped(n_dropped)))
}

/// What was checked where an assignment was neither found nor ruled out.
fn open(rows: usize, people: u64, is_swept: bool) -> String {
    let looked = if is_swept {
        "everyone has a group that shows all their values, and every group enough people for each value it shows"
    } else {
        "no value forces people into a group that does not show their other values"
    };
    let certain = rows as u64 - people;
    format!(
        "nothing contradicts the microdata: all values are there as often, and {looked}; groups were found for {certain} of \
         {rows} people, the others have more choices than were tried"
    )
}

fn dropped(n_dropped: usize) -> String {
    if n_dropped > 0 { format!(", {n_dropped} rows with missing values left out") } else { String::new() }
}

/// There are as many rows as in the microdata and, in every column, every value occurs as often.
fn totals(
    tables: &ValueTables<'_>,
    microdata: &Table,
    tally: Option<&Tally>,
    findings: &mut Findings,
    watch: &dyn Watch,
) -> Result<(), AuditError> {
    let (found, shown) = (microdata.rows(), tables.table.rows());
    let n_counts = tables.counts.as_ref().map_or(0, |counts| counts.table.rows());
    check_size("the microdata", found + shown.max(n_counts))?;
    if found != shown {
        findings.add("rows", || format!("the microdata have {found} rows, the release {shown}"));
    }
    for (attribute, column) in tables.quasi.iter().chain(&tables.others).chain(&tables.sensitive) {
        watch.pause();
        let sample = tally.and_then(|tally| tally.sample.as_ref()).filter(|_| tables.is_counted(column));
        let totals = sample.map_or_else(|| column.histogram(), |sample| sample.whole().to_vec());
        let source = microdata.column(&attribute.name);
        let n_different = source.map_or(0, |source| different_totals(source, column.domain(), &totals));
        if n_different > 0 {
            findings.add("values", || {
                let name = &attribute.name;
                format!("{n_different} values of `{name}` occur a different number of times in the microdata")
            });
        }
    }
    Ok(())
}

impl ValueTables<'_> {
    /// Whether a column lists values with their counts.
    fn is_counted(&self, column: &Column) -> bool {
        self.counts.is_some() && self.sensitive.is_some_and(|(_, sensitive)| std::ptr::eq(sensitive, column))
    }
}

/// The quasi and other values of every row as one number, people first, then published rows.
fn tuples(tables: &ValueTables<'_>, microdata: &Table, findings: &mut Findings, watch: &dyn Watch) -> Groups {
    let shown = tables.quasi.iter().chain(&tables.others);
    let joined = shown.filter_map(|(attribute, column)| {
        watch.pause();
        Some(join(microdata.column(&attribute.name)?, column))
    });
    let joined: Vec<(Codes, usize)> = joined.collect();
    let keys: Vec<Key<'_>> = joined.iter().map(|(codes, n_codes)| Key { codes, n_codes: *n_codes }).collect();
    let groups = Groups::of_keys(&keys, microdata.rows() + tables.table.rows(), watch);
    let mut surplus = vec![0i64; groups.n_groups];
    for (row, &tuple) in groups.of_row.iter().enumerate() {
        surplus[tuple as usize] += if row < microdata.rows() { 1 } else { -1 };
    }
    let n_lost: i64 = surplus.iter().filter(|&&surplus| surplus > 0).sum();
    if n_lost > 0 {
        findings.add("rows without a published row", || {
            format!("{n_lost} rows of the microdata have no published row with their quasi values")
        });
    }
    groups
}

fn of_tuples(tables: &ValueTables<'_>, tally: &Tally, tuples: Groups, n_people: usize) -> Side {
    let mut of_people = tuples.of_row;
    let published = of_people.split_off(n_people);
    let name = if tables.others.is_empty() { "quasi values" } else { "quasi and other values" };
    let pairs = published.into_iter().zip(&tally.groups.of_row).map(|(value, &group)| (value, group, 1));
    Side { name: name.into(), of_people, shown: merged(pairs.collect()) }
}

fn columns(tables: &ValueTables<'_>, tally: &Tally, microdata: &Table, watch: &dyn Watch) -> Vec<Side> {
    let side = |name: &str, shown: &Column| {
        watch.pause();
        let (codes, _) = join(microdata.column(name)?, shown);
        let mut of_people: Vec<u32> = codes.iter().collect();
        let published = of_people.split_off(microdata.rows());
        watch.pause();
        let pairs = published.into_iter().zip(&tally.groups.of_row).map(|(value, &group)| (value, group, 1));
        Some(Side { name: format!("values of `{name}`"), of_people, shown: merged(pairs.collect()) })
    };
    tables.quasi.iter().filter_map(|(attribute, column)| side(&attribute.name, column)).collect()
}

fn sensitive(tables: &ValueTables<'_>, tally: &Tally, microdata: &Table) -> Option<Side> {
    let ((attribute, column), sample) = (tables.sensitive?, tally.sample.as_ref()?);
    let source = microdata.column(&attribute.name)?;
    let n_source = source.domain().len() as u32;
    let translate = |code: u32| {
        let known = source.domain().code_of(column.domain().value(code));
        known.unwrap_or(n_source + code)
    };
    let of_group = |group: usize| {
        let values = sample.group(group).values.iter();
        values.map(move |&(code, count)| (translate(code), group as u32, count))
    };
    Some(Side {
        name: format!("values of `{}`", attribute.name),
        of_people: source.codes().iter().collect(),
        shown: merged((0..tally.ids.len()).flat_map(of_group).collect()),
    })
}

fn merged(mut pairs: ShownAttribute) -> ShownAttribute {
    pairs.par_sort_unstable();
    pairs.dedup_by(|next, kept| {
        let is_same = (next.0, next.1) == (kept.0, kept.1);
        if is_same {
            kept.2 += next.2;
        }
        is_same
    });
    pairs
}

fn problem(mut sides: Vec<Side>, n_people: usize, n_groups: usize, watch: &dyn Watch) -> Problem {
    let codes: Vec<Codes> = sides.iter_mut().map(|side| Codes::U32(std::mem::take(&mut side.of_people))).collect();
    let n_codes = |codes: &Codes| codes.iter().max().map_or(0, |code| code as usize + 1);
    let keys: Vec<Key<'_>> = codes.iter().map(|codes| Key { codes, n_codes: n_codes(codes) }).collect();
    let kinds = Groups::of_keys(&keys, n_people, watch);
    let mut people = vec![(0, 0u32); kinds.n_groups];
    for (row, &kind) in kinds.of_row.iter().enumerate() {
        people[kind as usize] = (row, people[kind as usize].1 + 1);
    }
    let values = people.iter().flat_map(|&(row, _)| codes.iter().map(move |codes| codes.get(row))).collect();
    let shown = sides.into_iter().map(|side| side.shown).collect();
    Problem::new(shown, values, people.into_iter().map(|(_, people)| people).collect(), n_groups)
}
