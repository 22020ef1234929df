//! What an attacker can do with batches and buckets: an attacker who finds a person's bucket knows the batches of its
//! rows.

use std::collections::BTreeMap;

use chrysalis_release::Release;
use chrysalis_table::{Table, Watch};

use super::super::cells::Cells;
use super::super::ends::{self, Ranges};
use super::super::locate::Places;
use super::super::presence;
use super::linking;
use super::tables::{BatchTables, Batches};
use crate::attack::{self, AttackTarget, AttackerView, Beyond, KnownPeople, ReplayOfCuts};
use crate::form::judge;
use crate::sensitive::similarity;
use crate::source::relevant;
use crate::{Attacks, AuditError, Groups};

/// The background and learned attacks treat the batch of every row as known; buckets blur that, so this is the worst
/// case.
pub(super) fn attacks(
    angel: &BatchTables<'_>,
    batches: &Batches,
    buckets: &[Groups],
    microdata: Option<&Table>,
    watch: &dyn Watch,
) -> Result<Attacks, AuditError> {
    watch.pause();
    let (attribute, values) = angel.sensitive;
    let (sample, ids, main) = (&batches.sample, &batches.ids, &angel.tables[0]);
    let in_buckets = &buckets[0];
    let sets = main.label_sets();
    let target = AttackTarget {
        sample,
        ids,
        sensitive: &attribute.name,
        domain: values.domain(),
        promises: &angel.manifest.promises,
        group_word: angel.manifest.method.shape().group_word,
        watch,
    };
    let no_ids = vec![None; in_buckets.n_groups];
    let quasi: Vec<&Cells<'_>> = main.quasi.iter().collect();
    let presence::Found { row_linking, presence, findings: [mut row, there] } =
        presence::attack(&quasi, &sets, in_buckets, &no_ids, angel.manifest.suppressed);
    if angel.tables.len() > 1 {
        row.sentence.push_str(&format!(" That is in `{}` alone: joining all tables can leave fewer rows.", main.name));
    }
    watch.pause();
    let (similarity, similar) = similarity(Some((attribute, values.domain(), sample)))?;
    let (linking, worst) = linking::attack(angel, batches, buckets, watch).unzip();
    let of_buckets = AttackTarget { group_word: "bucket", ..target };
    let findings = vec![
        attack::linking(&of_buckets, linking.as_ref(), worst),
        row,
        there,
        attack::similarity(target.subject(), similarity.as_ref(), attack::similar_groups(sample, ids, &similar)),
    ];
    let mut attacks = Attacks { linking, row_linking, presence, similarity, findings, ..Attacks::default() };
    let people = microdata.map(|table| relevant(angel.manifest, table)).transpose()?.map(|(table, _)| table);
    let of_row = batches.of_rows(main.group);
    let batches_of = batches_of_buckets(in_buckets, &of_row);
    let locate = |rows: &[usize]| match &people {
        Some(people) => {
            let places = Places::new(main.quasi.iter(), &sets, in_buckets, people).of(rows, watch);
            places.into_iter().map(|buckets| mixed(&buckets, &batches_of)).collect()
        }
        None => Vec::new(),
    };
    let known = people.as_ref().map(|microdata| KnownPeople { microdata, locate: &locate, is_exact: false });
    let view = AttackerView { target, of_row: &of_row, quasi: main.shown(|_| true, &sets, watch), is_joint: true };
    let ranges = Ranges::new((main.quasi.iter().collect(), &sets), (in_buckets, &no_ids), angel.manifest.suppressed);
    let placed = ends::placed(&ranges, people.as_ref(), watch);
    let draws = judge(angel.manifest.method).draws(&angel.manifest.partitioner);
    let beyond = Beyond { draws, found_again: None, placed, is_part: false };
    attack::run(&view, known.as_ref(), &ReplayOfCuts::none(angel.manifest), beyond, &mut attacks);
    Ok(attacks)
}

/// The batches that people may be in: the ids of batches, and for every row of the microdata asked for, numbers of
/// batches with their rows in the buckets that cover the person.
pub(crate) fn places(
    release: &Release,
    (microdata, people): (&Table, &[usize]),
    watch: &dyn Watch,
) -> Result<(Vec<Option<i64>>, attack::Places), AuditError> {
    let angel = BatchTables::open(release)?;
    let batches = angel.batches()?;
    let Some(main) = angel.tables.first() else { return Ok((Vec::new(), Vec::new())) };
    let (in_buckets, sets) = (super::tables::buckets(main, watch), main.label_sets());
    let batches_of = batches_of_buckets(&in_buckets, &batches.of_rows(main.group));
    let found = Places::new(main.quasi.iter(), &sets, &in_buckets, microdata).of(people, watch);
    Ok((batches.ids.clone(), found.iter().map(|buckets| mixed(buckets, &batches_of)).collect()))
}

/// The batches of every bucket's rows, and how many rows each has there.
fn batches_of_buckets(buckets: &Groups, batch_of_row: &[u32]) -> Vec<Vec<(u32, f32)>> {
    let mut of_bucket: Vec<BTreeMap<u32, f32>> = vec![BTreeMap::new(); buckets.n_groups];
    for (&bucket, &batch) in buckets.of_row.iter().zip(batch_of_row) {
        *of_bucket[bucket as usize].entry(batch).or_default() += 1.0;
    }
    of_bucket.into_iter().map(|batches| batches.into_iter().collect()).collect()
}

fn mixed(buckets: &[u32], batches_of: &[Vec<(u32, f32)>]) -> Vec<(u32, f32)> {
    let mut all: BTreeMap<u32, f32> = BTreeMap::new();
    for &(batch, rows) in buckets.iter().flat_map(|&bucket| &batches_of[bucket as usize]) {
        *all.entry(batch).or_default() += rows;
    }
    all.into_iter().collect()
}
