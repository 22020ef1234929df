//! What an attacker can do with values that are shown as they are.

use chrysalis_table::{Table, Watch};

use super::locate;
use super::presence::{certain, likeliest};
use super::tables::ValueTables;
use super::tally::Tally;
use crate::attack::{self, AttackTarget, AttackerView, Known, Replay, Shown, nothing_sensitive};
use crate::measure::GroupCounts;
use crate::sensitive::{linking, similarity};
use crate::{Attacks, AuditError, Finding, Presence};

/// `columns` holds every quasi column by group where they were permuted.
pub(super) fn grouped(
    tables: &ValueTables<'_>,
    tally: &Tally,
    columns: &[GroupCounts],
    presence: Option<Presence>,
    microdata: Option<&Table>,
    watch: &dyn Watch,
) -> Result<Attacks, AuditError> {
    let presence_finding = attack::presence(presence.as_ref(), tables.table.rows() as u64, likeliest(columns, tally));
    let mut attacks = Attacks { presence, ..Attacks::default() };
    let (Some((attribute, column)), Some(sample)) = (tables.sensitive, &tally.sample) else {
        attacks.findings = nothing_sensitive();
        attacks.findings.insert(1, presence_finding);
        return Ok(attacks);
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
        presence_finding,
        attack::similarity(&target, similarity.as_ref(), attack::similar_groups(sample, ids, &similar)),
    ];
    attacks.similarity = similarity;
    let is_exact = !tables.is_permuted();
    let locate = |rows: &[usize]| match microdata {
        Some(microdata) if is_exact => locate::among_rows(tables, tally, microdata, rows, watch),
        Some(microdata) => locate::among_columns(tables, tally, columns, (microdata, rows), watch),
        None => Vec::new(),
    };
    let known = microdata.map(|microdata| Known { microdata, locate: &locate, is_exact });
    let shown = |column| {
        watch.pause();
        Shown::exact(column)
    };
    let quasi = tables.quasi.iter().map(|(_, column)| shown(column)).collect();
    let view = AttackerView { target, of_row: &tally.groups.of_row, quasi, is_joint: is_exact };
    attack::run(&view, known.as_ref(), &Replay::none(tables.manifest), &mut attacks);
    Ok(attacks)
}

/// Swapped values have no groups to attack.
pub(super) fn ungrouped(tables: &ValueTables<'_>) -> Attacks {
    let presence = certain();
    let reason = "Does not apply: swapped values stand in no groups, and nothing is promised of them.";
    let not_run = |attack| Finding::not_run(attack, reason);
    let mut findings =
        vec![not_run("linking"), attack::presence(Some(&presence), tables.table.rows() as u64, Vec::new())];
    findings.extend(["similarity", "background", "learned", "minimality"].map(not_run));
    Attacks { presence: Some(presence), findings, ..Attacks::default() }
}
