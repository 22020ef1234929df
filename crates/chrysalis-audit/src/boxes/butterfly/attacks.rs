//! What each of several users can do. The worst is reported; what they can do together is *pooling*.

use std::cmp::Reverse;

use chrysalis_table::{Table, Watch};

use super::super::cells::BoxTable;
use super::super::ends::{self, Ranges};
use super::super::locate::{Places, weighed};
use super::super::presence;
use super::{UserView, pooling};
use crate::attack::{self, AttackTarget, AttackerView, Beyond, KnownPeople, ReplayOfCuts, extremes, nothing_sensitive};
use crate::form::judge;
use crate::sensitive::similarity;
use crate::source::relevant;
use crate::{Attacks, AuditError, Extremes, Finding, Pooling};

pub(super) fn attacks(
    published: &BoxTable<'_>,
    users: &[UserView],
    microdata: Option<&Table>,
    watch: &dyn Watch,
) -> Result<Attacks, AuditError> {
    let people = microdata.map(|table| relevant(published.manifest, table)).transpose()?.map(|(table, _)| table);
    let mut worst = Attacks::default();
    for (at, user) in users.iter().enumerate() {
        let found = of_user(published, user, people.as_ref(), watch)?;
        worst = if at == 0 { found } else { worse(worst, found) };
    }
    worst.pooling = pooling(published, watch);
    worst.findings.extend(worst.pooling.iter().map(Pooling::finding));
    Ok(worst)
}

/// Each attack as run by the user who gets furthest with it.
fn worse(one: Attacks, other: Attacks) -> Attacks {
    let linking = |attacks: &Attacks| attacks.linking.as_ref().map_or(0.0, |found| found.confidence);
    let row_linking = |attacks: &Attacks| attacks.row_linking.as_ref().map_or(0.0, |found| found.delta);
    // Worse means more certain rows or, with as many, a smaller covered share.
    let presence = |attacks: &Attacks| attacks.presence.as_ref().map_or((0, 0.0), |it| (it.certain_rows, -it.covered));
    let similar = |attacks: &Attacks| attacks.similarity.as_ref().map_or(0, |found| found.rows);
    let background = |attacks: &Attacks| {
        attacks.background.as_ref().and_then(|found| found.steps.last()).map_or(0.0, |step| step.confidence)
    };
    let learned = |attacks: &Attacks| attacks.learned.as_ref().map_or(0.0, |found| found.mean_confidence);
    let republished = |attacks: &Attacks| attacks.republishing.as_ref().map_or(0.0, |found| found.expected_determined);
    // Worse means more people placed in their class or, with as many, a smaller class that has the largest number.
    let extreme = |attacks: &Attacks| {
        let group = |found: &Extremes| found.group_of_largest.unwrap_or(u64::MAX);
        attacks.extremes.as_ref().map(|found| (found.placed_people, found.has_ranges, Reverse(group(found))))
    };
    let surer = [
        ("linking", linking(&other) > linking(&one)),
        ("row_linking", row_linking(&other) > row_linking(&one)),
        ("presence", presence(&other) > presence(&one)),
        ("similarity", similar(&other) > similar(&one)),
        ("background", background(&other) > background(&one)),
        ("learned", learned(&other) > learned(&one)),
        ("republishing", republished(&other) > republished(&one)),
        ("extremes", extreme(&other) > extreme(&one)),
    ];
    let is_surer = |attack: &str| surer.iter().any(|&(name, is_surer)| name == attack && is_surer);
    let pick = |(a, b): (Finding, Finding)| if is_surer(a.attack) { b } else { a };
    Attacks {
        findings: one.findings.into_iter().zip(other.findings).map(pick).collect(),
        linking: if is_surer("linking") { other.linking } else { one.linking },
        row_linking: if is_surer("row_linking") { other.row_linking } else { one.row_linking },
        presence: if is_surer("presence") { other.presence } else { one.presence },
        similarity: if is_surer("similarity") { other.similarity } else { one.similarity },
        background: if is_surer("background") { other.background } else { one.background },
        learned: if is_surer("learned") { other.learned } else { one.learned },
        republishing: if is_surer("republishing") { other.republishing } else { one.republishing },
        subtraction: one.subtraction,
        extremes: if is_surer("extremes") { other.extremes } else { one.extremes },
        ..Attacks::default()
    }
}

fn of_user(
    published: &BoxTable<'_>,
    user: &UserView,
    people: Option<&Table>,
    watch: &dyn Watch,
) -> Result<Attacks, AuditError> {
    watch.pause();
    let is_known = |name: &str| user.attributes.iter().any(|attribute| attribute == name);
    let sets = published.label_sets();
    let cells = || published.quasi.iter().filter(|cells| is_known(&cells.attribute.name));
    // Classes have no id.
    let no_ids = vec![None; user.classes.n_groups];
    let quasi: Vec<_> = cells().collect();
    let presence::Found { row_linking, presence, findings: [row, there] } =
        presence::attack(&quasi, &sets, &user.classes, &no_ids, published.manifest.suppressed);
    let mut attacks = Attacks { row_linking, presence, ..Attacks::default() };
    let ranges = Ranges::new((cells().collect(), &sets), (&user.classes, &no_ids), published.manifest.suppressed);
    let placed = ends::placed(&ranges.of_classes(), people, watch);
    let (Some((attribute, column)), Some(sample)) = (published.sensitive, &user.sample) else {
        attacks.findings = nothing_sensitive();
        attacks.findings.splice(1..1, [row, there]);
        let (extremes, finding) = extremes(None, placed);
        attacks.extremes = extremes;
        attacks.findings.push(finding);
        return Ok(attacks);
    };
    let group_word = format!("class by {}", user.attributes.join(", "));
    let target = AttackTarget {
        sample,
        ids: &no_ids,
        sensitive: &attribute.name,
        domain: column.domain(),
        promises: &published.manifest.promises,
        group_word: &group_word,
        watch,
    };
    watch.pause();
    let (similarity, similar) = similarity(Some((attribute, column.domain(), sample)))?;
    attacks.linking = user.linking();
    attacks.findings = vec![
        attack::linking(&target, attacks.linking.as_ref(), None),
        row,
        there,
        attack::similarity(target.subject(), similarity.as_ref(), attack::similar_groups(sample, &no_ids, &similar)),
    ];
    attacks.similarity = similarity;
    let locate = |rows: &[usize]| match people {
        Some(people) => weighed(&Places::new(cells(), &sets, &user.classes, people), rows, sample, watch),
        None => Vec::new(),
    };
    let known = people.map(|microdata| KnownPeople { microdata, locate: &locate, is_exact: false });
    let quasi = published.shown(is_known, &sets, watch);
    let view = AttackerView { target, of_row: &user.classes.of_row, quasi, is_joint: true };
    let draws = judge(published.manifest.method).draws(&published.manifest.partitioner);
    let beyond = Beyond { draws, found_again: None, placed, is_part: false };
    attack::run(&view, known.as_ref(), &ReplayOfCuts::none(published.manifest), beyond, &mut attacks);
    Ok(attacks)
}
