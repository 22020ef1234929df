//! Releases with ranges and labels in place of values: by group, for several users, or by bucket.

pub(crate) mod angel;
mod butterfly;
pub(crate) mod cells;
mod contents;
mod ends;
mod faithful;
pub(crate) mod index;
mod label;
mod locate;
mod matching;
mod presence;
mod range_ends;
mod replay;
pub(crate) mod space;
mod structure;
mod suppressed;
#[cfg(test)]
pub(crate) mod tests;

use chrysalis_release::{Attribute, Release, Scope};
use chrysalis_table::{Column, Domain, Table, Watch};

use crate::attack::{self, AttackTarget, AttackerView, Beyond, KnownPeople, extremes, nothing_sensitive};
use crate::columns::group_ids;
use crate::disclosure::{self, SeenRows};
use crate::findings::in_turn;
use crate::measure::GroupCounts;
use crate::parts::{Extent, GroupsSeen, Looked};
use crate::promise::{JudgedGroups, Measured, measure_all};
use crate::sensitive::{linking, sensitive_values, similarity};
use crate::source::relevant;
use crate::{Attacks, AuditError, AuditReport, Bystander, Check, Disclosure, Groups, Reading, form};
pub(crate) use angel::{
    audit as audit_batches, faithful_check as faithful_check_of_batches, mixture, places as places_of_batches,
};
pub(crate) use butterfly::audit as audit_for_users;
use cells::BoxTable;
use ends::Ranges;
use locate::Places;

/// Judges a release that shows boxes by group. Groups are the rows with one group id; the check `groups` makes sure
/// that all rows of a group show the same cells, so that an attacker cannot tell them apart.
pub(crate) fn audit(
    release: &Release,
    microdata: Option<&Table>,
    watch: &dyn Watch,
) -> Result<AuditReport, AuditError> {
    Ok(look(release, microdata, Extent::All, watch)?.report)
}

/// The same, also for one part of a release. What labels stand for is then left out: the whole release shows it.
pub(crate) fn look(
    release: &Release,
    microdata: Option<&Table>,
    extent: Extent<'_>,
    watch: &dyn Watch,
) -> Result<Looked, AuditError> {
    let published = BoxTable::open(release)?;
    let groups = Groups { of_row: published.group.codes().iter().collect(), n_groups: published.group.domain().len() };
    let ids = group_ids(published.group);
    let sizes = groups.sizes();
    let count = |column: &Column| extent.of(GroupCounts::new(&groups, column.codes(), column.domain().len()));
    let sample = published.sensitive.map(|(_, column)| count(column));
    let sensitive = published.sensitive.zip(sample.as_ref());
    let sensitive = sensitive.map(|((attribute, column), sample)| (attribute, column.domain().as_ref(), sample));
    let whole = sensitive.map(|(attribute, domain, sample)| (attribute, domain, sample.whole()));
    let looks: [&dyn Fn() -> Check; 3] = [
        &|| structure::tables(release, &published),
        &|| structure::groups(&published, &groups, &sizes, watch),
        &|| contents::ranges(std::slice::from_ref(&published), watch),
    ];
    let mut checks = in_turn(&looks, watch);
    if !extent.is_part() {
        checks.extend(in_turn(&[&|| contents::labels(std::slice::from_ref(&published))], watch));
    }
    checks.extend(in_turn(&[&|| sensitive_values(whole), &|| structure::row_order(&published, watch)], watch));
    checks.extend(suppressed::check(&published, &groups, &sizes));
    if let Some(microdata) = microdata {
        checks.push(faithful::check(&published, microdata, watch)?);
    }
    let evidence = [JudgedGroups::new(&release.manifest, &sizes, &ids, sensitive)?];
    let of_groups = |scope: Scope| match scope {
        Scope::Group => Some(&evidence[..]),
        Scope::Batch | Scope::Bucket | Scope::User => None,
    };
    let (mut attacks, groups_seen) = attacks(&published, (&groups, &ids), sensitive, (microdata, extent), watch)?;
    let seen = sample.as_ref().map(|values| SeenRows { groups: &groups, values, sure: &[] });
    let disclosure = disclosed(&published, seen.as_slice(), &mut attacks, watch)?;
    let principles = measure_all(&release.manifest, of_groups, watch)?;
    let report = AuditReport {
        columns: Vec::new(),
        reading: Reading::of(&release.manifest),
        principles: principles.iter().cloned().map(Measured::result).collect(),
        checks,
        attacks,
        disclosure,
        utility: None,
        rows: published.table.rows() as u64,
        groups: sizes.iter().filter(|&&size| size > 0).count() as u64,
    };
    Ok(Looked { report, principles, seen: groups_seen })
}

/// Whether the labels of a release stand for values of their domains, and nothing else.
pub(crate) fn labels(release: &Release) -> Result<Check, AuditError> {
    Ok(contents::labels(&[BoxTable::open(release)?]))
}

/// The groups that people may be in: the ids of groups, and for every row of the microdata asked for, numbers of groups
/// with their rows.
pub(crate) fn places(
    release: &Release,
    (microdata, people): (&Table, &[usize]),
    watch: &dyn Watch,
) -> Result<(Vec<Option<i64>>, attack::Places), AuditError> {
    let published = BoxTable::open(release)?;
    let groups = Groups { of_row: published.group.codes().iter().collect(), n_groups: published.group.domain().len() };
    let (sets, sizes) = (published.label_sets(), groups.sizes());
    let found = Places::new(published.quasi.iter(), &sets, &groups, microdata).of(people, watch);
    let weighed = |of: Vec<u32>| of.into_iter().map(|group| (group, sizes[group as usize] as f32)).collect();
    Ok((group_ids(published.group), found.into_iter().map(weighed).collect()))
}

/// The ids of groups, their rows, and for every person the numbers of groups.
type GroupsOfPeople = (Vec<Option<i64>>, Vec<u64>, Vec<Vec<u32>>);

/// The groups under whose labels people are.
pub(crate) fn groups_of(
    release: &Release,
    (people, rows): (&Table, &[usize]),
    watch: &dyn Watch,
) -> Result<GroupsOfPeople, AuditError> {
    let published = BoxTable::open(release)?;
    let groups = Groups { of_row: published.group.codes().iter().collect(), n_groups: published.group.domain().len() };
    let found = Places::new(published.quasi.iter(), &published.label_sets(), &groups, people).of(rows, watch);
    Ok((group_ids(published.group), groups.sizes(), found))
}

/// Columns kept as they are where several sensitive attributes are permuted beside them: each row of the microdata must
/// have a published row with its values of these columns, and the groups say what they tell. `kept` is the release
/// without its sensitive attributes.
pub(crate) fn kept(
    kept: &Release,
    microdata: Option<&Table>,
    watch: &dyn Watch,
) -> Result<(Groups, Vec<Check>), AuditError> {
    let published = BoxTable::open(kept)?;
    let groups = Groups { of_row: published.group.codes().iter().collect(), n_groups: published.group.domain().len() };
    let check = microdata.map(|microdata| faithful::check(&published, microdata, watch)).transpose()?;
    Ok((groups, check.into_iter().collect()))
}

/// Whether a release that shows boxes by group is a truthful picture of the microdata, and nothing else.
pub(crate) fn faithful_check(release: &Release, microdata: &Table, watch: &dyn Watch) -> Result<Check, AuditError> {
    faithful::check(&BoxTable::open(release)?, microdata, watch)
}

/// What a table with sensitive values in its rows discloses, and what an attacker who knows its `other` columns can do.
fn disclosed(
    published: &BoxTable<'_>,
    seen: &[SeenRows<'_>],
    attacks: &mut Attacks,
    watch: &dyn Watch,
) -> Result<Option<Disclosure>, AuditError> {
    let judged = published.sensitive.map(|(attribute, column)| {
        let shown = (attribute, column.domain().as_ref());
        disclosure::judge(published.manifest, shown, seen, &published.others, Some(column), watch)
    });
    let (found, bystander) = judged.transpose()?.unzip();
    attacks.bystander = bystander.flatten();
    attacks.findings.push(Bystander::finding(attacks.bystander.as_ref(), published.table.rows() as u64));
    Ok(found)
}

/// What an attacker can do with a generalized release.
fn attacks(
    published: &BoxTable<'_>,
    (groups, ids): (&Groups, &[Option<i64>]),
    sensitive: Option<(&Attribute, &Domain, &GroupCounts)>,
    (microdata, extent): (Option<&Table>, Extent<'_>),
    watch: &dyn Watch,
) -> Result<(Attacks, GroupsSeen), AuditError> {
    watch.pause();
    let sets = published.label_sets();
    let quasi: Vec<&cells::Cells<'_>> = published.quasi.iter().collect();
    let presence::Found { row_linking, presence, findings: [row, there] } =
        presence::attack(&quasi, &sets, groups, ids, published.manifest.suppressed);
    let mut attacks = Attacks { row_linking, presence, ..Attacks::default() };
    let people = microdata.map(|table| relevant(published.manifest, table)).transpose()?.map(|(table, _)| table);
    let ranges = Ranges::new((published.quasi.iter().collect(), &sets), (groups, ids), published.manifest.suppressed);
    let placed = ends::placed(&ranges, people.as_ref(), watch);
    let Some((attribute, domain, sample)) = sensitive else {
        attacks.findings = nothing_sensitive();
        attacks.findings.splice(1..1, [row, there]);
        let (extremes, finding) = extremes(None, placed);
        attacks.extremes = extremes;
        attacks.findings.push(finding);
        return Ok((attacks, GroupsSeen::default()));
    };
    let target = AttackTarget {
        sample,
        ids,
        sensitive: &attribute.name,
        domain,
        promises: &published.manifest.promises,
        group_word: published.manifest.method.shape().group_word,
        watch,
    };
    watch.pause();
    let (similarity, similar) = similarity(sensitive)?;
    watch.pause();
    attacks.linking = linking(sample, ids);
    attacks.findings = vec![
        attack::linking(&target, attacks.linking.as_ref(), None),
        row,
        there,
        attack::similarity(target.subject(), similarity.as_ref(), attack::similar_groups(sample, ids, &similar)),
    ];
    attacks.similarity = similarity;
    let replay = replay::setting(published, (groups, sample.whole()), people.as_ref(), watch);
    let locate = |rows: &[usize]| match &people {
        Some(people) => {
            locate::weighed(&Places::new(published.quasi.iter(), &sets, groups, people), rows, sample, watch)
        }
        None => Vec::new(),
    };
    let known = people.as_ref().map(|microdata| KnownPeople { microdata, locate: &locate, is_exact: false });
    let is_part = extent.is_part();
    // What is shown of quasi attributes matters only to attacks that are not run on parts.
    let quasi = published.shown(|_| !is_part, &sets, watch);
    let view = AttackerView { target, of_row: &groups.of_row, quasi, is_joint: true };
    let draws = form::judge(published.manifest.method).draws(&published.manifest.partitioner);
    attack::run(&view, known.as_ref(), &replay, Beyond { draws, found_again: None, placed, is_part }, &mut attacks);
    let seen = if is_part { GroupsSeen::of(&target, &attacks) } else { GroupsSeen::default() };
    Ok((attacks, seen))
}
