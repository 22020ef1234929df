//! What an attacker can learn about a person who may have several rows.

use chrysalis_release::Detail;
use chrysalis_table::Watch;
use chrysalis_table::exact::BigRational;

use super::seen::{Buckets, Seen, SeenValues};
use super::tables::PersonTables;
use crate::attack::{chance, counted, foremost, percent};
use crate::boxes::mixture;
use crate::measure::{Fraction, to_float};
use crate::promise::show;
use crate::{AuditReport, Finding, Linking, RowLinking, RowLinkingOver, WorstGroup};

/// Replaces what counts rows by what counts persons, and says where rows are still counted.
pub(super) fn measure(
    report: &mut AuditReport,
    tables: &PersonTables<'_>,
    seen: &[Seen],
    buckets: &[Buckets],
    watch: &dyn Watch,
) {
    watch.pause();
    if let Some((linked, finding)) = linking(tables, seen, buckets, watch) {
        report.attacks.linking = Some(linked);
        replace(report, finding);
    }
    if let Some((linked, finding)) = row_linking(tables, seen, buckets) {
        report.attacks.row_linking = Some(linked);
        replace(report, finding);
    }
    if tables.is_one_each() {
        return;
    }
    let counts_rows = |finding: &&mut Finding| finding.was_run && COUNT_ROWS.contains(&finding.attack);
    report.attacks.findings.iter_mut().filter(counts_rows).for_each(|finding| finding.sentence.push_str(EVERY_ROW));
}

/// Attacks that take every row for a person.
const COUNT_ROWS: [&str; 8] =
    ["similarity", "background", "learned", "republishing", "extremes", "bystander", "joining", "pooling"];
const EVERY_ROW: &str =
    " This takes every row for another person: about persons with several rows an attacker can be surer.";

fn replace(report: &mut AuditReport, finding: Finding) {
    if let Some(known) = report.attacks.findings.iter_mut().find(|known| known.attack == finding.attack) {
        *known = finding;
    }
}

/// A bet that somebody has a value, as good as it can be.
struct Bet {
    level: BigRational,
    group: Option<i64>,
    /// Rows of the group, for messages.
    of_group: u64,
    /// Rows with the value.
    rows: u64,
}

/// The best bets of all groups, or of the worst user.
fn linking(
    tables: &PersonTables<'_>,
    seen: &[Seen],
    buckets: &[Buckets],
    watch: &dyn Watch,
) -> Option<(Linking, Finding)> {
    let name = &tables.values.as_ref()?.attribute.name;
    let is_shown = seen.iter().all(|seen| seen.values.as_ref().is_none_or(|values| values.is_shown));
    let (bets, word) = match (seen, buckets) {
        ([batches], [_, ..]) => (in_buckets(batches, buckets, watch)?, "bucket".to_owned()),
        (seen, _) => {
            let all = seen.iter().filter_map(|seen| Some((in_groups(seen, seen.values.as_ref()?), seen)));
            let (bets, worst) = all.reduce(|a, b| if worst(&b.0) > worst(&a.0) { b } else { a })?;
            let user = worst.user.as_ref().map(|user| format!("class by {}", user.join(", ")));
            (bets, user.unwrap_or_else(|| tables.word().to_owned()))
        }
    };
    let level = worst(&bets)?;
    let is_worst = |bet: &&Bet| bet.level == level;
    let rows = bets.iter().filter(is_worst).map(|bet| bet.rows).sum();
    let confidence = to_float(Some(&level));
    let linked = Linking {
        confidence,
        confidence_text: show(&level),
        group: bets.iter().find(is_worst).and_then(|bet| bet.group),
        rows,
    };
    let bound = if is_shown {
        ""
    } else {
        " The tables do not show how many persons have a value: this is the most that it can be, if every row is \
         another person's."
    };
    let sentence = format!(
        "An attacker who finds a person's {word} and bets that the person has its most frequent `{name}` is right in at \
         most {} of cases; {} open to a bet this good.{bound}",
        chance(&level),
        counted(rows, "row is", "rows are"),
    );
    let l = ((1.0 / confidence + 1e-9).floor().max(2.0) as u64).saturating_mul(2);
    let prevention = format!("a larger l; l={l} keeps every such bet at {} or less.", percent(1.0 / l as f64));
    let order = |a: &Bet, b: &Bet| b.level.cmp(&a.level).then(a.group.cmp(&b.group));
    let worst = foremost(bets, order).into_iter();
    let worst = worst.map(|bet| WorstGroup::exact(bet.group, bet.of_group, &bet.level)).collect();
    Some((linked, Finding::new("linking", sentence, prevention).with_groups(worst)))
}

fn worst(bets: &[Bet]) -> Option<BigRational> {
    bets.iter().map(|bet| &bet.level).max().cloned()
}

/// The best bet of every group: the value that most of its persons have.
fn in_groups(seen: &Seen, values: &SeenValues) -> Vec<Bet> {
    let of_group = |(group, &persons): (usize, &u64)| {
        let having = values.having.group(group);
        let level = Fraction::new(having.max().into(), persons.into()).exact()?;
        let most = having.values.iter().filter(|&&(_, n)| u64::from(n) == having.max());
        let counts = values.counts.group(group).values;
        let rows = |&(code, _): &(u32, u32)| {
            counts.binary_search_by_key(&code, |&(code, _)| code).map_or(0, |at| u64::from(counts[at].1))
        };
        let group_id = seen.ids.get(group).copied().flatten();
        Some(Bet { level, group: group_id, of_group: seen.rows[group], rows: most.map(rows).sum() })
    };
    seen.sizes.iter().enumerate().filter(|(_, persons)| **persons > 0).filter_map(of_group).collect()
}

/// The distribution of a bucket is a mixture of those of its persons' batches.
fn in_buckets(batches: &Seen, buckets: &[Buckets], watch: &dyn Watch) -> Option<Vec<Bet>> {
    let having = &batches.values.as_ref()?.having;
    let all: Vec<&Vec<(u32, u64)>> = buckets.iter().flat_map(|of| &of.placed.members).collect();
    let rows_of = |&(batch, persons): &(u32, u64)| {
        let (rows, all) = (batches.rows[batch as usize], batches.sizes[batch as usize].max(1));
        rows / all * persons
    };
    let bets = mixture(&all, having, watch).into_iter().map(|(level, at)| {
        let rows = all[at].iter().map(rows_of).sum();
        Bet { level, group: None, of_group: rows, rows }
    });
    Some(bets.collect())
}

/// Against whom this does not hold.
const ROWS_UNKNOWN: &str = " That holds against whoever does not know how many rows the person has.";

/// Which rows are whose: any person of the group could have any of its rows.
fn row_linking(tables: &PersonTables<'_>, seen: &[Seen], buckets: &[Buckets]) -> Option<(RowLinking, Finding)> {
    if !tables.manifest.method.shape().detail.is_labelled() {
        return None;
    }
    let groups: Vec<(u64, Option<i64>, u64)> = match tables.manifest.method.shape().detail {
        Detail::RowBoxes => buckets.first()?.placed.persons.iter().map(|&persons| (persons, None, persons)).collect(),
        _ => {
            let of_user = |seen: &'_ Seen| -> Vec<(u64, Option<i64>, u64)> {
                let each = seen.sizes.iter().zip(&seen.ids).zip(&seen.rows);
                each.map(|((&persons, &id), &rows)| (persons, id, rows)).collect()
            };
            seen.iter().flat_map(of_user).collect()
        }
    };
    let groups = groups.into_iter().filter(|&(persons, ..)| persons > 0).collect();
    let worst = foremost(groups, |a: &(u64, Option<i64>, u64), b| (a.0, a.1).cmp(&(b.0, b.1)));
    let shown = |&(persons, id, rows): &(u64, Option<i64>, u64)| {
        let level = Fraction::new(1, persons.into()).exact().unwrap_or_default();
        WorstGroup::exact(id, rows, &level)
    };
    let worst: Vec<WorstGroup> = worst.iter().map(shown).collect();
    let first = worst.first()?;
    let linked = RowLinking {
        delta: first.level,
        delta_text: first.level_text.clone(),
        group: first.id,
        over: RowLinkingOver::Covered,
    };
    let fraction = if first.level_text.contains('/') { format!(" ({})", first.level_text) } else { String::new() };
    let sentence = format!(
        "An attacker who knows all quasi values of a person finds rows that could be the person's: as far as the ranges \
         and labels tell, no row is theirs with a probability above {}{fraction}, because as many persons could have \
         it.{}",
        percent(first.level),
        if tables.rows_known { "" } else { ROWS_UNKNOWN },
    );
    Some((linked, Finding::new("row_linking", sentence, "a larger k.").with_groups(worst)))
}
