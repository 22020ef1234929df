//! What an attacker can do with values that are shown as they are.

use chrysalis_table::{Column, Table, Watch};

use super::locate;
use super::presence::{certain, likeliest, own_row};
use super::tables::ValueTables;
use super::tally::Tally;
use crate::attack::{
    self, AttackTarget, AttackerView, Beyond, EndPlacement, KnownPeople, NumberEnds, ReplayOfCuts, ShownAttribute,
    extremes, nothing_sensitive, subtraction,
};
use crate::form::judge;
use crate::measure::GroupCounts;
use crate::parts::{Extent, GroupsSeen};
use crate::sensitive::{linking, similarity};
use crate::{Attacks, AuditError, Finding, Groups, Presence, RowLinking};

/// `columns` holds every quasi column by group where they were permuted.
pub(super) fn grouped(
    tables: &ValueTables<'_>,
    (tally, columns): (&Tally, &[GroupCounts]),
    (row_linking, presence): (Option<RowLinking>, Option<Presence>),
    (microdata, extent): (Option<&Table>, Extent<'_>),
    watch: &dyn Watch,
) -> Result<(Attacks, GroupsSeen), AuditError> {
    let rows = tables.table.rows() as u64;
    let there = attack::presence(presence.as_ref(), row_linking.as_ref(), rows);
    let row = attack::row_linking(row_linking.as_ref(), rows, likeliest(columns, tally));
    let mut attacks = Attacks { row_linking, presence, ..Attacks::default() };
    let (Some((attribute, column)), Some(sample)) = (tables.sensitive, &tally.sample) else {
        attacks.findings = nothing_sensitive();
        attacks.findings.splice(1..1, [row, there]);
        attacks.findings.push(extremes(None, EndPlacement::NoRanges).1);
        return Ok((attacks, GroupsSeen::default()));
    };
    let ids = &tally.ids;
    let target = AttackTarget {
        sample,
        ids,
        sensitive: &attribute.name,
        domain: column.domain(),
        promises: &tables.manifest.promises,
        group_word: tables.shape.group_word,
        watch,
    };
    watch.pause();
    let (similarity, similar) = similarity(Some((attribute, column.domain(), sample)))?;
    attacks.linking = linking(sample, ids);
    attacks.findings = vec![
        attack::linking(&target, attacks.linking.as_ref(), None),
        row,
        there,
        attack::similarity(target.subject(), similarity.as_ref(), attack::similar_groups(sample, ids, &similar)),
    ];
    attacks.similarity = similarity;
    let is_exact = !tables.is_permuted();
    let locate = |rows: &[usize]| match microdata {
        Some(microdata) if is_exact => locate::among_rows(tables, tally, microdata, rows, watch),
        Some(microdata) => locate::among_columns(tables, tally, columns, (microdata, rows), watch),
        None => Vec::new(),
    };
    let known = microdata.map(|microdata| KnownPeople { microdata, locate: &locate, is_exact });
    let shown = |column| {
        watch.pause();
        ShownAttribute::exact(column)
    };
    let is_part = extent.is_part();
    // What is shown of quasi attributes matters only to attacks that are not run on parts.
    let quasi = tables.quasi.iter().filter(|_| !is_part).map(|(_, column)| shown(column)).collect();
    let view = AttackerView { target, of_row: &tally.groups.of_row, quasi, is_joint: is_exact };
    let draws = judge(tables.manifest.method).draws(&tables.manifest.partitioner);
    let found_again = (is_exact && !is_part).then(|| unique_rows(tables, tally, watch));
    let beyond = Beyond { draws, found_again, placed: EndPlacement::NoRanges, is_part };
    attack::run(&view, known.as_ref(), &ReplayOfCuts::none(tables.manifest), beyond, &mut attacks);
    let seen = if is_part { GroupsSeen::of(&target, &attacks) } else { GroupsSeen::default() };
    Ok((attacks, seen))
}

/// How many rows of every group have quasi values that no other row of the table has: these people are found in every
/// release.
fn unique_rows(tables: &ValueTables<'_>, tally: &Tally, watch: &dyn Watch) -> Vec<u64> {
    let columns: Vec<&Column> = tables.quasi.iter().map(|(_, column)| *column).collect();
    let alike = Groups::of_columns(&columns, tables.table.rows(), watch);
    let sizes = alike.sizes();
    let mut unique = vec![0; tally.sizes.len()];
    for (&alike, &group) in alike.of_row.iter().zip(&tally.groups.of_row) {
        unique[group as usize] += u64::from(sizes[alike as usize] == 1);
    }
    unique
}

/// Swapped values have no groups to attack.
pub(super) fn ungrouped(tables: &ValueTables<'_>) -> Attacks {
    let (row_linking, presence) = (own_row(), certain(tables));
    let reason = "Does not apply: swapped values have no groups, and nothing is promised about them.";
    let not_run = |attack| Finding::not_run(attack, reason);
    let rows = tables.table.rows() as u64;
    let row = attack::row_linking(Some(&row_linking), rows, Vec::new());
    let mut findings = vec![not_run("linking"), row, attack::presence(Some(&presence), Some(&row_linking), rows)];
    findings.extend(["similarity", "background", "learned", "minimality"].map(not_run));
    let again = "Not measured: swapped values have no groups. But every new swap shows another value near a person's \
                 own, and many of them together come close to it; publish such a table only once.";
    findings.push(Finding::not_run("republishing", again));
    let (subtraction, finding) = tables.sensitive.map(|(attribute, _)| subtraction(&attribute.name)).unzip();
    findings.extend(finding);
    let numbers = tables
        .sensitive
        .and_then(|(attribute, column)| NumberEnds::of_counts(&attribute.name, column.domain(), &column.histogram()));
    let (extremes, finding) = extremes(numbers, EndPlacement::NoRanges);
    findings.extend([finding, not_run("bystander")]);
    let subtraction = subtraction.flatten();
    let (row_linking, presence) = (Some(row_linking), Some(presence));
    Attacks { row_linking, presence, subtraction, extremes, findings, ..Attacks::default() }
}
