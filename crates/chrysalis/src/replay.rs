//! The attack `replay`: two members of a group exchange a sensitive value, and the table is published again. It
//! lives in the hall because the audit cannot publish, and its measurements decide nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use chrysalis_audit::{Finding, Replay};
use chrysalis_criteria::{Requirement, Weights};
use chrysalis_publish::{AttributeSpec, Microdata, Partitioner, TaxonomySource};
use chrysalis_release::{Attribute, Manifest, Promise, RoleName};
use chrysalis_table::{Codes, Column, Kind, MissingPolicy, Role, Table, TaxonomyFile, Watch};
use rand::rngs::ChaCha20Rng;
use rand::{RngExt, SeedableRng};
use rayon::prelude::*;

use crate::partitioner::Choice;
use crate::words::count;
use crate::{ReleaseDraft, catalogue};

/// Tables of at most this many rows are replayed whole and by default; of others, this many neighbours.
const MOST_ROWS: usize = 400;
/// The default number of exchanges.
const EXCHANGES: usize = 10;
/// The most exchanges in one neighbourhood of a large table.
const EXCHANGES_PER_PLACE: usize = 5;
/// How often the table is published with each assignment of values.
const RUNS: u64 = 20;
/// How many neighbourhoods are tried, in search of some where the promises can be kept.
const MOST_PLACES: usize = 64;
/// The random draws are no secret, and the same audit must give the same result twice.
const SEED: u64 = 0x007e_91a5;

/// Runs the attack, or says why not. `asked` is the number of exchanges that was asked for; if absent, small tables are
/// tried all the same.
pub(crate) fn attack(
    manifest: &Manifest,
    microdata: Option<&Table>,
    asked: Option<usize>,
    watch: &dyn Watch,
) -> (Option<Replay>, Finding) {
    match replayed(manifest, microdata, asked, watch) {
        Ok(found) => {
            let mut finding = found.finding(&manifest.partitioner, manifest.transparent);
            if !manifest.promises.iter().all(|promise| promise.principle().may_be_transparent()) {
                finding.prevention.clear();
            }
            (Some(found), finding)
        }
        Err(reason) => (None, Replay::not_run(&reason, manifest.transparent)),
    }
}

fn replayed(
    manifest: &Manifest,
    microdata: Option<&Table>,
    asked: Option<usize>,
    watch: &dyn Watch,
) -> Result<Replay, String> {
    let sensitive: Vec<String> = manifest.with_role(RoleName::Sensitive).map(|it| it.name.clone()).collect();
    if sensitive.is_empty() {
        return Err("Not run: nothing sensitive is published.".to_owned());
    }
    let partitioner = partitioner(manifest)?;
    let microdata = microdata
        .ok_or("Not run: this attacker knows everybody's quasi values; the microdata are needed to publish again.")?;
    if asked == Some(0) {
        return Err("Not run: nobody asked for it.".to_owned());
    }
    let replay = ReplayedTable {
        table: table(manifest, microdata)?,
        attributes: attributes(manifest)?,
        require: manifest.promises.iter().map(Promise::requirement).collect(),
        sensitive,
        partitioner: &*partitioner,
        watch,
    };
    let n_rows = replay.table.rows();
    if n_rows > MOST_ROWS && asked.is_none() {
        return Err(format!(
            "Not run: tables of more than {} rows are published again only on request.",
            count(MOST_ROWS as u64)
        ));
    }
    let found = replay.run(asked.unwrap_or(EXCHANGES))?;
    let counts: Vec<(u64, u64)> = found.iter().map(|exchange| (exchange.with_true, exchange.with_exchanged)).collect();
    let trials = |(at, name): (usize, &String)| {
        (name.clone(), found.iter().filter(|exchange| exchange.column == at).count() as u64)
    };
    let columns = replay.sensitive.iter().enumerate().map(trials).collect();
    let rows = n_rows.min(MOST_ROWS) as u64;
    Ok(Replay::of(&counts, columns, RUNS, (rows, n_rows <= MOST_ROWS)))
}

/// The partitioner that formed the groups, as far as the manifest tells.
fn partitioner(manifest: &Manifest) -> Result<Box<dyn Partitioner>, String> {
    let shape = manifest.method.shape();
    if manifest.persons.is_some() {
        return Err("Not replayed: groups are made of persons, and this attack exchanges values of rows.".to_owned());
    }
    if shape.group_id.is_none() {
        return Err("Not run: there are no groups that could come out again.".to_owned());
    }
    if shape.has_users || shape.marginals.is_some() {
        let (form, word) = (manifest.method, shape.group_word);
        return Err(format!("Not replayed: each {word} of {form} is not formed by the partitioner alone."));
    }
    if manifest.series.is_some() {
        return Err(
            "Not replayed: groups follow from what was published before, which only the ledger knows.".to_owned()
        );
    }
    if manifest.partitioner == Choice::Like.build().name() {
        return Err("Not replayed: groups follow from an earlier release, which the manifest does not hold.".to_owned());
    }
    let name: String = manifest.partitioner.chars().take(40).collect();
    let entry = catalogue::partitioner(&name)
        .ok_or_else(|| format!("Not replayed: `{name}` is not a partitioner of this version."))?;
    let choice = (entry.make)(&ReleaseDraft::default())
        .map_err(|_| "Not replayed: the groups were given in a column of the table.".to_owned())?;
    match choice {
        Choice::FullDomain { .. } => {
            Err("Not replayed: how far `full-domain` searched and what it suppressed is not in the manifest."
                .to_owned())
        }
        Choice::Sequential => {
            Err("Not replayed: groups by `sequential` follow the order of the input, whatever the values.".to_owned())
        }
        Choice::Column(_) | Choice::Like | Choice::Butterflies(_) | Choice::Nobody => {
            Err(format!("Not replayed: `{name}` forms no groups of its own."))
        }
        Choice::Compact
        | Choice::TopDown
        | Choice::Mondrian { .. }
        | Choice::Anatomize
        | Choice::Similar
        | Choice::Nearby
        | Choice::Transparent
        | Choice::Sorted(_) => Ok(choice.build()),
    }
}

/// The rows that were published.
fn table(manifest: &Manifest, microdata: &Table) -> Result<Table, String> {
    let column = |attribute: &Attribute| {
        let column =
            microdata.column(&attribute.name).filter(|column| column.domain().kind() == Kind::from(attribute.kind));
        let name = &attribute.name;
        column.cloned().ok_or_else(|| format!("Not run: the microdata have no column `{name}` of the same kind."))
    };
    let published = |role: &&Attribute| role.role == RoleName::Quasi || role.role == RoleName::Sensitive;
    let columns: Vec<Column> = manifest.attributes.iter().filter(published).map(column).collect::<Result<_, _>>()?;
    // If no published row lacks a value, rows that lack one were dropped.
    let drops = manifest.attributes.iter().all(|attribute| !attribute.domain.missing);
    let policy = if drops { MissingPolicy::Drop } else { MissingPolicy::AsValue };
    let (table, _) = Table::new(columns).with_missing(policy).map_err(|error| format!("Not run: {error}."))?;
    if table.rows() as u64 != manifest.rows {
        let (ours, theirs) = (count(table.rows() as u64), count(manifest.rows));
        return Err(format!("Not run: the microdata have {ours} rows and the release {theirs}."));
    }
    Ok(table)
}

/// The owner's settings for columns, as far as the manifest has them; it lacks the taxonomies of quasi columns.
fn attributes(manifest: &Manifest) -> Result<Vec<AttributeSpec>, String> {
    let wrong =
        |attribute: &Attribute, error: &dyn std::fmt::Display| format!("Not run: `{}`: {error}.", attribute.name);
    let mut attributes = Vec::new();
    for attribute in manifest.with_role(RoleName::Quasi) {
        attributes.push(AttributeSpec::new(&attribute.name, Role::QuasiIdentifier));
    }
    for attribute in manifest.with_role(RoleName::Sensitive) {
        let mut spec = AttributeSpec::new(&attribute.name, Role::Sensitive);
        let bound = attribute.taxonomy.as_deref().map(TaxonomyFile::from_lines).transpose();
        spec.taxonomy = bound.map_err(|error| wrong(attribute, &error))?.map(TaxonomySource::File);
        if let Some(names) = &attribute.categories {
            let weights = Weights::parse_custom(attribute.weights.iter().flatten().map(String::as_str));
            spec.categories = Some((names.clone(), weights.map_err(|error| wrong(attribute, &error))?));
        }
        attributes.push(spec);
    }
    Ok(attributes)
}

/// A table that is published again and again.
struct ReplayedTable<'a> {
    table: Table,
    attributes: Vec<AttributeSpec>,
    require: Vec<Requirement>,
    sensitive: Vec<String>,
    partitioner: &'a dyn Partitioner,
    watch: &'a dyn Watch,
}

/// Two members of a group who exchanged their values of one sensitive column, and how often the group came out.
struct Exchange {
    column: usize,
    with_true: u64,
    with_exchanged: u64,
}

/// The codes of every sensitive column.
type SensitiveCodes = Vec<Vec<u32>>;

/// Groups as sets of people.
type Grouped = BTreeSet<Vec<u32>>;

impl ReplayedTable<'_> {
    /// How often groups came out with the true values and with exchanged ones.
    fn run(&self, exchanges: usize) -> Result<Vec<Exchange>, String> {
        let mut lots = ChaCha20Rng::seed_from_u64(SEED);
        if self.table.rows() <= MOST_ROWS {
            return self.exchanged(&self.table, exchanges, &mut lots);
        }
        let mut counts = Vec::new();
        let mut problem = String::new();
        for _ in 0..MOST_PLACES {
            let wanted = (exchanges - counts.len()).min(EXCHANGES_PER_PLACE);
            let place = self.table.gather(&self.neighbourhood(lots.random_range(0..self.table.rows())));
            match self.exchanged(&place, wanted, &mut lots) {
                Ok(found) => counts.extend(found),
                Err(why) => problem = why,
            }
            if counts.len() >= exchanges {
                break;
            }
        }
        if counts.is_empty() { Err(problem) } else { Ok(counts) }
    }

    /// The rows closest to a row; every quasi column has the same weight.
    fn neighbourhood(&self, row: usize) -> Vec<u32> {
        let quasi: Vec<&Column> =
            self.table.columns().iter().filter(|column| !self.is_sensitive(column.name())).collect();
        let distance = |other: u32| {
            let part = |column: &&Column| {
                let (own, its) = (column.code(row), column.code(other as usize));
                match column.domain().kind().is_ordered() {
                    true => f64::from(own.abs_diff(its)) / column.domain().len() as f64,
                    false => f64::from(u8::from(own != its)),
                }
            };
            quasi.iter().map(part).sum::<f64>()
        };
        let mut near: Vec<(f64, u32)> =
            (0..self.table.rows() as u32).into_par_iter().map(|other| (distance(other), other)).collect();
        near.select_nth_unstable_by(MOST_ROWS - 1, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        near.truncate(MOST_ROWS);
        near.into_iter().map(|(_, row)| row).collect()
    }

    fn is_sensitive(&self, name: &str) -> bool {
        self.sensitive.iter().any(|sensitive| sensitive == name)
    }

    /// Tries exchanges in groups of a release of these rows. Which column is exchanged is drawn each time, among those
    /// that differ inside some group.
    fn exchanged(&self, table: &Table, exchanges: usize, lots: &mut ChaCha20Rng) -> Result<Vec<Exchange>, String> {
        let codes = |name: &String| table.column(name).map(|column| column.codes().iter().collect::<Vec<u32>>());
        let values: SensitiveCodes = self.sensitive.iter().map(|name| codes(name).unwrap_or_default()).collect();
        let released: Vec<Vec<u32>> = self.grouped(table, &values, 0)?.into_iter().collect();
        let mixed_in = |at: usize| {
            let of: &[u32] = &values[at];
            let is_mixed = |group: &&Vec<u32>| group.iter().any(|&row| of[row as usize] != of[group[0] as usize]);
            (at, released.iter().filter(is_mixed).collect::<Vec<_>>())
        };
        let mixed = (0..values.len()).map(mixed_in).filter(|(_, groups)| !groups.is_empty());
        let mixed: Vec<(usize, Vec<&Vec<u32>>)> = mixed.collect();
        if mixed.is_empty() {
            return Err("Not run: no group has two people with different values.".to_owned());
        }
        let tried: Vec<(usize, &Vec<u32>, u32, u32)> = (0..exchanges)
            .map(|_| {
                // One column needs no lot.
                let (column, groups) = &mixed[if mixed.len() > 1 { lots.random_range(0..mixed.len()) } else { 0 }];
                let of = &values[*column];
                let group = groups[lots.random_range(0..groups.len())];
                let own = group[lots.random_range(0..group.len())];
                let others: Vec<u32> =
                    group.iter().copied().filter(|&row| of[row as usize] != of[own as usize]).collect();
                (*column, group, own, others[lots.random_range(0..others.len())])
            })
            .collect();
        let with_true = self.runs(table, &values)?;
        let mut found = Vec::with_capacity(exchanges);
        for (column, group, own, other) in tried {
            let mut exchanged = values.clone();
            exchanged[column].swap(own as usize, other as usize);
            let with_exchanged = self.runs(table, &exchanged)?;
            let n = |runs: &BTreeMap<Vec<u32>, u64>| runs.get(group).copied().unwrap_or(0);
            found.push(Exchange { column, with_true: n(&with_true), with_exchanged: n(&with_exchanged) });
        }
        Ok(found)
    }

    /// How often each group came out.
    fn runs(&self, table: &Table, values: &[Vec<u32>]) -> Result<BTreeMap<Vec<u32>, u64>, String> {
        let mut seen: BTreeMap<Vec<u32>, u64> = BTreeMap::new();
        for run in 1..=RUNS {
            for group in self.grouped(table, values, run)? {
                *seen.entry(group).or_default() += 1;
            }
        }
        Ok(seen)
    }

    /// Forms groups once, with random draws of its own for each `run`.
    fn grouped(&self, table: &Table, values: &[Vec<u32>], run: u64) -> Result<Grouped, String> {
        self.watch.pause();
        let said = |error: &dyn std::fmt::Display| format!("Not run: {error}.");
        let with_values = |column: &Column| {
            let at = self.sensitive.iter().position(|name| name == column.name());
            match at.and_then(|at| values.get(at)) {
                Some(values) => {
                    let codes = Codes::collect(column.domain().len(), values.iter().copied());
                    Column::new(column.name(), Arc::clone(column.domain()), codes)
                }
                None => column.clone(),
            }
        };
        let table = Table::new(table.columns().iter().map(with_values).collect());
        let data = Microdata::new(table, &self.attributes).map_err(|error| said(&error))?;
        let goal = data.goal(&self.require).map_err(|error| said(&error))?;
        let mut rng = ChaCha20Rng::seed_from_u64(SEED ^ run << 32);
        let watch = self.watch;
        let made =
            self.partitioner.partition(&data, &goal, &mut rng, &|_| watch.pause()).map_err(|error| said(&error))?;
        let sorted = |group: &[u32]| {
            let mut group = group.to_vec();
            group.sort_unstable();
            group
        };
        Ok(made.groups().map(sorted).collect())
    }
}
