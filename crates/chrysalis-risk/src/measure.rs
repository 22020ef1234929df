//! All measures of a table (spec.md).

use chrysalis_table::{Column, Counted, Watch};

use crate::individual::{approximate_risk, exact_risk};
use crate::keys::Keys;
use crate::population::{Histogram, PopulationUniques};
use crate::report::{Asked, Basis, ColumnRisk, Individual, Measured, Population, RowRisk, Spread, Suda, UniqueSet};
use crate::suda::Found;
use crate::{RiskError, wildcard};

/// A combination of quasi values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Class {
    /// Rows with exactly these values.
    own: u32,
    /// Rows that match.
    f: u64,
    /// People of the population who match, counted or estimated.
    people: f64,
}

/// The most sets of columns in a report.
const SETS: usize = 20;

/// Measures a table.
pub fn measure(asked: &Asked<'_>, watch: &dyn Watch) -> Result<Measured, RiskError> {
    let rows = check(asked)?;
    watch.phase("classes", None, Counted::Rows);
    let population = match asked.population {
        Population::Table(columns) => Some(columns),
        _ => None,
    };
    // Steps 1 and 2.
    let keys = Keys::of(asked.quasi, population, watch);
    let is_wild = asked.wildcard && keys.missing_in != 0;
    let matching = |mass: Vec<f64>| if is_wild { wildcard::matching(&keys, &mass, watch) } else { mass };
    let f = matching(keys.rows.iter().map(|&rows| f64::from(rows)).collect());
    let people: Option<Vec<f64>> = match asked.population {
        Population::Unknown => None,
        Population::Size(size) => Some(f.iter().map(|f| f * size / rows as f64).collect()),
        Population::Weights(weights) => {
            let mut sums = vec![0.0; keys.len()];
            keys.of_row.iter().zip(weights).for_each(|(&key, weight)| sums[key as usize] += weight);
            Some(matching(sums))
        }
        Population::Table(_) => {
            let counts = keys.population.iter().flatten().map(|&rows| f64::from(rows));
            Some(matching(counts.collect()))
        }
    };
    let class = |key: usize| {
        let people = people.as_ref().map_or(f[key], |people| people[key]);
        Class { own: keys.rows[key], f: f[key].round() as u64, people }
    };
    let classed: Vec<Class> = (0..keys.len()).map(class).collect();
    drop((f, people));
    // Step 3.
    let n = rows as f64;
    let basis = match asked.population {
        Population::Unknown => Basis::Sample,
        Population::Size(_) => Basis::Size,
        Population::Weights(_) => Basis::Weights,
        Population::Table(_) => Basis::PopulationTable,
    };
    let prosecutor = Spread::of(&classed, n, asked.threshold, |class| 1.0 / class.f as f64);
    let journalist = Spread::of(&classed, n, asked.threshold, |class| class.journalist(basis));
    let sampled = || classed.iter().filter(|class| class.own > 0);
    let classes = sampled().count() as u64;
    let behind: f64 = sampled().map(|class| 1.0 / class.journalist(basis)).sum();
    let individual = matches!(basis, Basis::Size | Basis::Weights).then(|| Individual {
        approximate: Spread::of(&classed, n, asked.threshold, |class| approximate_risk(class.f, class.people)),
        exact: Spread::of(&classed, n, asked.threshold, |class| exact_risk(class.f, class.people)),
    });
    // Step 4.
    let histogram = histogram(&classed);
    let size = population_size(asked, &keys);
    let population_uniques = size.map(|size| {
        watch.phase("population", None, Counted::Rows);
        PopulationUniques::estimate(&histogram, size)
    });
    let measured_uniques = keys.population.as_ref().map(|counts| {
        let is_unique = |&(key, &count): &(usize, &u32)| count == 1 && classed[key].people.round() as u64 == 1;
        counts.iter().enumerate().filter(is_unique).count() as f64 / size.unwrap_or(1.0)
    });
    let lacking = |class: &&Class| basis == Basis::PopulationTable && class.people < class.f as f64;
    let not_in_population = sampled().filter(lacking).map(|class| u64::from(class.own)).sum();
    // Step 5.
    let is_alone: Vec<bool> = classed.iter().map(|class| class.own == 1 && class.f == 1).collect();
    let limit = asked.max_size.unwrap_or(keys.n_columns);
    let found = Found::search(&keys, &is_alone, limit, asked.wildcard, watch);
    watch.phase("sum up", None, Counted::Rows);
    let scores: Vec<f64> = (0..keys.len() as u32).map(|key| found.score(key)).filter(|score| *score > 0.0).collect();
    let dis = size.map(|size| Dis::new(&scores, &histogram, keys.n_columns, n / size));
    let suda = suda(&found, &scores, dis.as_ref(), n);
    let columns = asked.quasi.iter().enumerate().map(|(at, column)| column_risk(column, asked.wildcard, at, &found));
    let pairs = n * (n - 1.0);
    let together: f64 = sampled().map(|class| f64::from(class.own) * f64::from(class.own - 1)).sum();
    Ok(Measured {
        rows: rows as u64,
        classes,
        distinction: (!is_wild).then(|| classes as f64 / n),
        separation: (!is_wild && rows > 1).then(|| 1.0 - together / pairs),
        prosecutor,
        journalist,
        journalist_success: (classes as f64 / behind).max(journalist.mean),
        basis,
        marketer: journalist.mean,
        sample_uniques: histogram.classes_of(1) / n,
        population: size,
        population_uniques,
        measured_uniques,
        not_in_population,
        individual,
        suda,
        columns: columns.collect(),
        keys,
        classed,
        found,
        dis,
    })
}

impl Measured {
    /// Whatever is known of a row.
    pub fn row(&self, row: usize) -> RowRisk {
        let key = self.keys.of_row[row];
        let class = self.classed[key as usize];
        let mut sets: Vec<u64> = self.found.of_key(key).collect();
        sets.sort_unstable_by_key(|set| (set.count_ones(), *set));
        let suda = self.found.score(key);
        RowRisk {
            class: class.f,
            prosecutor: 1.0 / class.f as f64,
            journalist: class.journalist(self.basis),
            suda,
            dis_suda: self.dis.as_ref().map(|dis| dis.of(suda)),
            minimal_uniques: sets.into_iter().map(members).collect(),
        }
    }
}

/// The number of rows, if everything can be measured.
fn check(asked: &Asked<'_>) -> Result<usize, RiskError> {
    let n_columns = asked.quasi.len();
    let Some(rows) = asked.quasi.first().map(|column| column.codes().len()) else { return Err(RiskError::NoColumns) };
    if n_columns > u64::BITS as usize {
        return Err(RiskError::TooManyColumns { columns: n_columns });
    }
    if rows == 0 {
        return Err(RiskError::NoRows { what: "the table" });
    }
    let people = match asked.population {
        Population::Table(columns) => columns.first().map_or(0, |column| column.codes().len()),
        _ => 0,
    };
    if matches!(asked.population, Population::Table(_)) && people == 0 {
        return Err(RiskError::NoRows { what: "the population" });
    }
    if u32::try_from(rows + people).is_err() {
        return Err(RiskError::TooManyRows { rows: rows + people });
    }
    if !(0.0..=1.0).contains(&asked.threshold) {
        return Err(RiskError::Threshold { threshold: asked.threshold.to_string() });
    }
    if let Some(limit) = asked.max_size.filter(|limit| !(1..=n_columns).contains(limit)) {
        return Err(RiskError::Limit { limit, columns: n_columns });
    }
    let size = match asked.population {
        Population::Unknown => return Ok(rows),
        Population::Size(size) => size,
        Population::Weights(weights) => weights.iter().sum(),
        Population::Table(_) => people as f64,
    };
    // Weights are summed in floating point: a census whose weights are all one is no mistake.
    if size.is_nan() || size < rows as f64 * (1.0 - 1e-9) {
        return Err(RiskError::SmallPopulation { population: size.to_string(), rows });
    }
    Ok(rows)
}

fn population_size(asked: &Asked<'_>, keys: &Keys) -> Option<f64> {
    let rows = keys.of_row.len() as f64;
    match asked.population {
        Population::Unknown => None,
        Population::Size(size) => Some(size),
        Population::Weights(weights) => Some(weights.iter().sum::<f64>().max(rows)),
        Population::Table(_) => keys.population.as_ref().map(|counts| counts.iter().map(|&n| f64::from(n)).sum()),
    }
}

impl Class {
    /// Step 3.2: one over the people who match, or what is expected of that.
    fn journalist(&self, basis: Basis) -> f64 {
        match basis {
            Basis::Sample => 1.0 / self.f as f64,
            Basis::PopulationTable => 1.0 / self.people.max(self.f as f64),
            Basis::Size | Basis::Weights => approximate_risk(self.f, self.people),
        }
    }
}

impl Spread {
    fn of(classes: &[Class], rows: f64, threshold: f64, risk: impl Fn(&Class) -> f64) -> Spread {
        let (mut sum, mut at_risk) = (0.0, 0.0);
        let (mut highest, mut lowest) = ((0.0, 0.0), (f64::INFINITY, 0.0));
        for class in classes.iter().filter(|class| class.own > 0) {
            let (risk, own) = (risk(class), f64::from(class.own));
            sum += risk * own;
            at_risk += if risk > threshold { own } else { 0.0 };
            tally(&mut highest, risk, own, |known| risk > known);
            tally(&mut lowest, risk, own, |known| risk < known);
        }
        Spread {
            mean: sum / rows,
            max: highest.0,
            min: lowest.0,
            share_at_max: highest.1 / rows,
            share_at_min: lowest.1 / rows,
            records_at_risk: at_risk / rows,
        }
    }
}

/// Counts the rows that have an extreme value.
fn tally(extreme: &mut (f64, f64), risk: f64, own: f64, is_beyond: impl Fn(f64) -> bool) {
    if is_beyond(extreme.0) {
        *extreme = (risk, own);
    } else if risk == extreme.0 {
        extreme.1 += own;
    }
}

/// Step 1.3: how many classes have each size.
fn histogram(classed: &[Class]) -> Histogram {
    let mut sizes: Vec<(u64, u32)> = classed.iter().filter(|c| c.own > 0).map(|class| (class.f, class.own)).collect();
    sizes.sort_unstable();
    let group = |group: &[(u64, u32)]| {
        let rows: u64 = group.iter().map(|(_, own)| u64::from(*own)).sum();
        (group[0].0, rows as f64 / group[0].0 as f64)
    };
    Histogram::new(sizes.chunk_by(|a, b| a.0 == b.0).map(group).collect())
}

/// Step 5.6: SUDA scores as probabilities.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dis {
    /// Rows in classes of two, times (1−π)/π.
    pairs: f64,
    exponent: f64,
    adjustment: f64,
}

impl Dis {
    fn new(scores: &[f64], histogram: &Histogram, n_columns: usize, fraction: f64) -> Dis {
        let exponent = 1.0 + (8.0 - n_columns as f64) / 20.0;
        let adjustment = scores.iter().map(|score| score.powf(-exponent)).sum();
        Dis { pairs: 2.0 * histogram.classes_of(2) * (1.0 - fraction) / fraction, exponent, adjustment }
    }

    fn of(&self, score: f64) -> f64 {
        if score > 0.0 { 1.0 / (1.0 + self.pairs / (score.powf(self.exponent) * self.adjustment)) } else { 0.0 }
    }
}

fn suda(found: &Found, scores: &[f64], dis: Option<&Dis>, rows: f64) -> Suda {
    let max = scores.iter().copied().fold(0.0, f64::max);
    let dis_sum: f64 = dis.map_or(0.0, |dis| scores.iter().map(|&score| dis.of(score)).sum());
    let mut sets = found.sets.clone();
    sets.sort_by_key(|&(set, rows)| (std::cmp::Reverse(rows), set.count_ones(), set));
    sets.truncate(SETS);
    Suda {
        max_size: found.limit,
        m: found.m,
        rows: scores.len() as u64,
        by_size: found.by_size.clone(),
        mean: found.total / rows,
        max,
        dis: dis.map(|dis| (dis_sum / rows, dis.of(max))),
        sets: sets.into_iter().map(|(set, rows)| UniqueSet { columns: members(set), rows }).collect(),
    }
}

fn members(set: u64) -> Vec<usize> {
    (0..64).filter(|at| set >> at & 1 == 1).collect()
}

fn column_risk(column: &Column, is_wild: bool, at: usize, found: &Found) -> ColumnRisk {
    let domain = column.domain();
    let mut counts = column.histogram();
    let rows: u64 = counts.iter().sum();
    let missing = if domain.has_missing() { counts[0] } else { 0 };
    if is_wild && domain.has_missing() {
        // Who lacks a value matches everybody, so nobody is unique and no such pair is told apart.
        counts.remove(0);
    }
    counts.retain(|&count| count > 0);
    let has: u64 = counts.iter().sum();
    let same: f64 = counts.iter().map(|&count| count as f64 * (count - 1) as f64).sum();
    let told_apart = has as f64 * has.saturating_sub(1) as f64 - same;
    let unique = if is_wild && missing > 0 { 0 } else { counts.iter().filter(|&&count| count == 1).count() as u64 };
    let contribution = found.columns[at];
    ColumnRisk {
        name: column.name().to_owned(),
        distinct: counts.len() as u64,
        missing,
        unique_rows: unique,
        distinction: counts.len() as f64 / rows as f64,
        separation: if rows > 1 { told_apart / (rows as f64 * (rows - 1) as f64) } else { 0.0 },
        minimal_uniques: contribution.sets,
        mean_size: (contribution.sets > 0).then(|| contribution.columns as f64 / contribution.sets as f64),
        suda_contribution: (found.total > 0.0).then(|| contribution.score / found.total),
    }
}
