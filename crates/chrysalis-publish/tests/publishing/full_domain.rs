//! full-domain against a search of the whole lattice that shares no code with it.

use chrysalis_testkit::required;
use std::collections::{BTreeMap, BTreeSet};

use crate::common::{as_sets, in_threads, microdata, quasi, rng, specs};
use chrysalis_criteria::loss::range_ncp;
use chrysalis_criteria::{PopulationGoal, Principle, PrincipleSpec, Rational};
use chrysalis_publish::method::Generalize;
use chrysalis_publish::partitioner::{FullDomain, Metric, Stop};
use chrysalis_publish::{Job, Microdata, Partition, Partitioner, PublishError, TaxonomySource};
use chrysalis_table::{Column, Kind, SaCounts, Table, TaxonomyFile, Unwatched, Value, no_progress};
use chrysalis_testkit::strategies::{RandomTable, fixed, principles_for, tables};
use proptest::prelude::*;

/// One attribute, level by level, straight from the lines of its taxonomy.
struct Attribute {
    /// The label of every code, per level.
    labels: Vec<Vec<String>>,
    /// The penalty of every code, per level.
    ncp: Vec<Vec<f64>>,
    codes: Vec<u32>,
    /// The lowest level with one label.
    top: usize,
}

impl Attribute {
    fn new(column: &Column, file: Option<&TaxonomyFile>) -> Self {
        let domain = column.domain();
        let codes = 0..domain.len() as u32;
        let line = |code: u32| {
            let text = domain.text(code).into_owned();
            let known = |line: &Vec<&str>| domain.value(code) == Value::parse(domain.kind(), line[0]).as_ref();
            match (file, domain.value(code)) {
                (Some(file), Some(_)) => file.lines().find(known).unwrap().into_iter().map(str::to_owned).collect(),
                // A missing value stays itself up to the root.
                (Some(file), None) => {
                    let inner = file.n_levels() - 1;
                    std::iter::repeat_n(text, inner).chain(["*".to_owned()]).collect()
                }
                (None, _) => vec![text, "(all)".to_owned()],
            }
        };
        let lines: Vec<Vec<String>> = codes.clone().map(line).collect();
        let n_levels = lines[0].len();
        let labels: Vec<Vec<String>> =
            (0..n_levels).map(|level| lines.iter().map(|line| line[level].clone()).collect()).collect();
        let ncp = (0..n_levels)
            .map(|level| codes.clone().map(|code| ncp(column, file, &labels, level, code)).collect())
            .collect();
        let is_one = |labels: &Vec<String>| labels.iter().collect::<BTreeSet<_>>().len() <= 1;
        let top = labels.iter().position(is_one).unwrap();
        Attribute { labels, ncp, codes: column.codes().iter().collect(), top }
    }

    /// The first code with the same label.
    fn key(&self, level: usize, row: u32) -> usize {
        let label = &self.labels[level][self.codes[row as usize] as usize];
        self.labels[level].iter().position(|other| other == label).unwrap()
    }
}

/// The penalty of a code at a level (DESIGN, section 9).
fn ncp(column: &Column, file: Option<&TaxonomyFile>, labels: &[Vec<String>], level: usize, code: u32) -> f64 {
    let domain = column.domain();
    let label = &labels[level][code as usize];
    if level == 0 || *label == labels[0][code as usize] {
        return 0.0;
    }
    let members: Vec<u32> = (0..domain.len() as u32).filter(|&other| labels[level][other as usize] == *label).collect();
    if domain.kind() == Kind::Category {
        return if members.len() == 1 { 0.0 } else { members.len() as f64 / domain.len() as f64 };
    }
    let (low, high) = (members[0], members[members.len() - 1]);
    if domain.kind() == Kind::Ordinal || file.is_none() {
        return range_ncp(domain, low, high);
    }
    let number = |value: &Value| value.number().unwrap();
    let Some((first, last)) = domain.bounds().map(|(first, last)| (number(first), number(last))) else { return 1.0 };
    if level + 1 == labels.len() || first == last || domain.value(low).is_none() {
        return 1.0;
    }
    let leaves = file.unwrap().lines().filter(|line| line[level] == *label);
    let leaves: Vec<f64> = leaves.map(|line| number(&Value::parse(domain.kind(), line[0]).unwrap())).collect();
    let (low, high) =
        (leaves.iter().copied().fold(f64::MAX, f64::min), leaves.iter().copied().fold(f64::MIN, f64::max));
    ((high - low) / (last - first)).min(1.0)
}

/// One combination of levels, worked out row by row.
struct Solution {
    groups: BTreeSet<BTreeSet<u32>>,
    suppressed: BTreeSet<u32>,
    cost: f64,
    loss: f64,
}

struct Oracle<'a> {
    attributes: Vec<Attribute>,
    data: &'a Microdata,
    goal: &'a dyn Principle,
    limit: usize,
}

impl Oracle<'_> {
    fn passes(&self, rows: &BTreeSet<u32>) -> bool {
        let code = |&row: &u32| self.data.sensitive().map_or(0, |column| column.code(row as usize));
        self.goal.holds(&SaCounts::of(self.data.sensitive_counts().domain_len(), rows.iter().map(code)))
    }

    fn solution(&self, levels: &[usize], metric: Metric) -> Option<Solution> {
        let passes = |rows: &BTreeSet<u32>| self.passes(rows);
        self.solution_where(levels, metric, &passes, &passes)
    }

    fn solution_where(
        &self,
        levels: &[usize],
        metric: Metric,
        passes: &dyn Fn(&BTreeSet<u32>) -> bool,
        is_fine: &dyn Fn(&BTreeSet<u32>) -> bool,
    ) -> Option<Solution> {
        let rows = 0..self.data.rows() as u32;
        let mut groups: BTreeMap<Vec<usize>, BTreeSet<u32>> = BTreeMap::new();
        for row in rows.clone() {
            let key = self.attributes.iter().zip(levels).map(|(attribute, &level)| attribute.key(level, row)).collect();
            groups.entry(key).or_default().insert(row);
        }
        let (mut kept, failing): (Vec<_>, Vec<_>) = groups.into_iter().partition(|(_, rows)| passes(rows));
        let mut suppressed: BTreeSet<u32> = failing.into_iter().flat_map(|(_, rows)| rows).collect();
        kept.sort_by_key(|(key, rows)| (rows.len(), key.clone()));
        while !suppressed.is_empty() && suppressed.len() <= self.limit && !is_fine(&suppressed) {
            if kept.is_empty() {
                return None;
            }
            suppressed.extend(kept.remove(0).1);
        }
        if suppressed.len() > self.limit {
            return None;
        }
        let shown = |at: usize, row: u32| if suppressed.contains(&row) { self.attributes[at].top } else { levels[at] };
        let cells = |cost: &dyn Fn(usize, usize, u32) -> f64| -> f64 {
            let row = |row: u32| (0..levels.len()).map(|at| cost(at, shown(at, row), row)).sum::<f64>();
            rows.clone().map(row).sum()
        };
        let loss =
            cells(&|at, level, row| self.attributes[at].ncp[level][self.attributes[at].codes[row as usize] as usize]);
        let mut groups: BTreeSet<BTreeSet<u32>> = kept.into_iter().map(|(_, rows)| rows).collect();
        if !suppressed.is_empty() {
            groups.insert(suppressed.clone());
        }
        let height = |at: usize| (self.attributes[at].labels.len() - 1) as f64;
        let cost = match metric {
            Metric::Loss => loss,
            Metric::Discernibility => groups.iter().map(|group| (group.len() * group.len()) as f64).sum(),
            Metric::Average => self.data.rows() as f64 / groups.len() as f64,
            Metric::Precision => cells(&|at, level, _| level as f64 / height(at)),
            Metric::Height => levels.iter().sum::<usize>() as f64,
            Metric::MonotonicEntropy => self.entropy(levels),
            Metric::Entropy => self.entropy(levels) + self.entropy_of_suppression(levels, &suppressed),
        };
        Some(Solution { groups, suppressed, cost, loss })
    }

    /// The same where people of a population, who are rows of the table, must be under the labels of groups.
    fn solution_with(
        &self,
        levels: &[usize],
        metric: Metric,
        people: &[u32],
        asked: PopulationGoal,
    ) -> Option<Solution> {
        let key = |row: u32| -> Vec<usize> {
            self.attributes.iter().zip(levels).map(|(attribute, &level)| attribute.key(level, row)).collect()
        };
        let under = |key_of_group: &Vec<usize>| people.iter().filter(|&&row| key(row) == *key_of_group).count() as u64;
        let passes = |rows: &BTreeSet<u32>| {
            self.passes(rows) && asked.holds(rows.len() as u64, under(&key(*rows.first().unwrap())))
        };
        let everybody = people.len() as u64;
        let suppressed = |rows: &BTreeSet<u32>| self.passes(rows) && asked.holds(rows.len() as u64, everybody);
        let found = self.solution_where(levels, metric, &passes, &suppressed)?;
        let keys: BTreeSet<Vec<usize>> = (0..self.data.rows() as u32).map(key).collect();
        let is_outside = |&&row: &&u32| !keys.contains(&key(row));
        let has_outside = found.suppressed.is_empty() && people.iter().any(|row| is_outside(&row));
        (asked.least_presence() == Rational::from_integer(0) || !has_outside).then_some(found)
    }

    /// Σ −log₂(rows with the value / rows with its label), cell by cell.
    fn entropy(&self, levels: &[usize]) -> f64 {
        let cell = |(attribute, &level): (&Attribute, &usize), row: u32| {
            let alike = |level: usize| {
                let label = attribute.key(level, row);
                (0..self.data.rows() as u32).filter(|&other| attribute.key(level, other) == label).count() as f64
            };
            -(alike(0) / alike(level)).log2()
        };
        let row = |row: u32| self.attributes.iter().zip(levels).map(|pair| cell(pair, row)).sum::<f64>();
        (0..self.data.rows() as u32).map(row).sum()
    }

    /// The same for labels that are put under one label.
    fn entropy_of_suppression(&self, levels: &[usize], rows: &BTreeSet<u32>) -> f64 {
        let cell = |(attribute, &level): (&Attribute, &usize), row: u32| {
            let label = attribute.key(level, row);
            let alike = rows.iter().filter(|&&other| attribute.key(level, other) == label).count();
            -(alike as f64 / rows.len() as f64).log2()
        };
        rows.iter().map(|&row| self.attributes.iter().zip(levels).map(|pair| cell(pair, row)).sum::<f64>()).sum()
    }

    /// Every combination of levels up to the tops.
    fn all_levels(&self) -> Vec<Vec<usize>> {
        self.attributes.iter().fold(vec![Vec::new()], |all, attribute| {
            let longer = |levels: &Vec<usize>| {
                let levels = levels.clone();
                (0..=attribute.top).map(move |level| levels.iter().copied().chain([level]).collect::<Vec<_>>())
            };
            all.iter().flat_map(longer).collect()
        })
    }
}

fn partition_by(search: &FullDomain, data: &Microdata, goal: &dyn Principle) -> Result<Partition, PublishError> {
    search.partition(data, goal, &mut rng(1), &no_progress)
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1.0)
}

fn check(
    table: &RandomTable,
    specs: &[PrincipleSpec],
    metric: Metric,
    suppress: Rational,
) -> Result<(), TestCaseError> {
    let data = microdata(table);
    let Ok(goal) = data.goal(&required(specs)) else { return Ok(()) };
    let search = FullDomain { metric, suppress, ..FullDomain::default() };
    let partition = partition_by(&search, &data, &goal).unwrap();
    let limit = data.rows() as u64 * *suppress.numer() / *suppress.denom();
    let attributes = table.attributes().into_iter().map(|(column, file)| Attribute::new(column, file)).collect();
    let oracle = Oracle { attributes, data: &data, goal: &goal, limit: limit as usize };

    // The result is what its report says.
    let recoding = partition.recoding().unwrap();
    let levels: Vec<usize> = recoding.levels.iter().map(|shown| shown.level).collect();
    let chosen = oracle.solution(&levels, metric).expect("the chosen node is feasible");
    prop_assert_eq!(as_sets(&partition), chosen.groups.clone());
    prop_assert_eq!(partition.n_suppressed(), chosen.suppressed.len() as u64);
    prop_assert!(chosen.groups.iter().all(|group| oracle.passes(group)));
    prop_assert!(recoding.search.proven);
    prop_assert!(close(recoding.search.cost, chosen.cost), "{} {}", recoding.search.cost, chosen.cost);

    // Nothing is better.
    let solutions =
        oracle.all_levels().into_iter().filter_map(|levels| Some((oracle.solution(&levels, metric)?, levels)));
    let (best, better) = solutions.min_by(|a, b| a.0.cost.total_cmp(&b.0.cost)).unwrap();
    prop_assert!(close(best.cost, chosen.cost), "{:?} costs {}, {:?} {}", levels, chosen.cost, better, best.cost);

    // The release shows these levels, loses what they lose, and keeps its promise.
    let outcome = Job::new(&data, &required(specs), &partition, &mut rng(2), &Unwatched).run(&Generalize).unwrap();
    prop_assert!(close(outcome.ncp.sum, chosen.loss), "{} {}", outcome.ncp.sum, chosen.loss);
    prop_assert_eq!(outcome.release.manifest.suppressed, partition.n_suppressed());
    if !specs.is_empty() {
        let report = chrysalis_audit::audit(&outcome.release, Some(&table.table), &Unwatched).unwrap();
        prop_assert!(report.promises_hold(), "{:?}", report);
    }
    Ok(())
}

proptest! {
    #![proptest_config(fixed(1500))]

    #[test]
    fn no_combination_of_levels_is_better(
        (table, specs) in tables(1..=24).prop_flat_map(|table| {
            let specs = principles_for(&table.sensitive);
            (Just(table), specs)
        }),
        metric in prop::sample::select(Metric::ALL.map(|(_, metric)| metric).to_vec()),
        suppress in prop::sample::select(vec![(0, 1), (1, 10), (1, 4), (2, 3), (1, 1)]),
    ) {
        check(&table, &specs, metric, Rational::new(suppress.0, suppress.1))?;
    }

    #[test]
    fn neither_threads_nor_the_order_of_rows_matter(
        (table, specs, shuffled) in tables(2..=24).prop_flat_map(|table| {
            let specs = principles_for(&table.sensitive);
            let rows: Vec<u32> = (0..table.table.rows() as u32).collect();
            (Just(table), specs, Just(rows).prop_shuffle())
        }),
        metric in prop::sample::select(Metric::ALL.map(|(_, metric)| metric).to_vec()),
    ) {
        let search = FullDomain { metric, suppress: Rational::new(1, 5), ..FullDomain::default() };
        let data = microdata(&table);
        let Ok(goal) = data.goal(&required(&specs)) else { return Ok(()) };
        let one = in_threads(1, || partition_by(&search, &data, &goal).unwrap());
        let three = in_threads(3, || partition_by(&search, &data, &goal).unwrap());
        prop_assert_eq!(&one, &three);
        let other = microdata(&table.reordered(&shuffled));
        let other = partition_by(&search, &other, &goal).unwrap();
        prop_assert_eq!(one.recoding(), other.recoding());
        let back = |group: &[u32]| group.iter().map(|&row| shuffled[row as usize]).collect::<BTreeSet<u32>>();
        let groups: Vec<BTreeSet<u32>> = one.groups().map(|group| group.iter().copied().collect()).collect();
        prop_assert_eq!(groups, other.groups().map(back).collect::<Vec<_>>());
    }
}

proptest! {
    #![proptest_config(fixed(400))]

    #[test]
    fn fixed_levels_are_kept_and_no_other_levels_are_better(
        (table, specs) in tables(1..=16).prop_flat_map(|table| {
            let specs = principles_for(&table.sensitive);
            (Just(table), specs)
        }),
        metric in prop::sample::select(Metric::ALL.map(|(_, metric)| metric).to_vec()),
        suppress in prop::sample::select(vec![(0, 1), (1, 4), (1, 1)]),
        wanted in prop::collection::vec(prop::option::of(0_usize..4), 8),
    ) {
        let data = microdata(&table);
        let Ok(goal) = data.goal(&required(&specs)) else { return Ok(()) };
        let suppress = Rational::new(suppress.0, suppress.1);
        let attributes: Vec<Attribute> =
            table.attributes().into_iter().map(|(column, file)| Attribute::new(column, file)).collect();
        let names: Vec<String> = table.attributes().into_iter().map(|(column, _)| column.name().to_owned()).collect();
        let levels: Vec<Option<usize>> =
            attributes.iter().zip(&wanted).map(|(attribute, level)| level.map(|level| level.min(attribute.top))).collect();
        let fixed = names.iter().zip(&levels).filter_map(|(name, level)| Some((name.clone(), (*level)?)));
        let search = FullDomain { metric, suppress, levels: fixed.collect(), ..FullDomain::default() };
        let limit = data.rows() as u64 * *suppress.numer() / *suppress.denom();
        let oracle = Oracle { attributes, data: &data, goal: &goal, limit: limit as usize };
        let is_meant = |all: &Vec<usize>| all.iter().zip(&levels).all(|(level, fixed)| fixed.is_none_or(|fixed| fixed == *level));
        let solutions = oracle.all_levels().into_iter().filter(is_meant);
        let best = solutions.filter_map(|levels| oracle.solution(&levels, metric)).map(|it| it.cost).min_by(f64::total_cmp);
        match (partition_by(&search, &data, &goal), best) {
            (Err(error), None) => prop_assert!(error.is_infeasible(), "{}", error),
            (Ok(partition), Some(best)) => {
                let recoding = partition.recoding().unwrap();
                let shown: Vec<usize> = recoding.levels.iter().map(|shown| shown.level).collect();
                prop_assert!(is_meant(&shown), "{:?} {:?}", shown, levels);
                let chosen = oracle.solution(&shown, metric).expect("the chosen node is feasible");
                prop_assert_eq!(as_sets(&partition), chosen.groups);
                prop_assert!(close(recoding.search.cost, best), "{} {}", recoding.search.cost, best);
            }
            (found, best) => prop_assert!(false, "{:?} {:?}", found.map(|_| ()), best),
        }
    }

    #[test]
    fn people_under_labels_are_counted_as_the_labels_say(
        (table, people) in tables(2..=16).prop_flat_map(|table| {
            let rows = table.table.rows() as u32;
            (Just(table), prop::collection::vec(0..rows, 1..40))
        }),
        asked in prop::sample::select(vec![
            vec!["k-map=2"], vec!["k-map=4", "k=2"], vec!["delta-presence=0,0.5"], vec!["delta-presence=0.2,0.9"],
            vec!["k-map=3", "delta-presence=0.1,0.75"],
        ]),
        metric in prop::sample::select(vec![Metric::Loss, Metric::Discernibility, Metric::Entropy]),
        suppress in prop::sample::select(vec![(0, 1), (1, 4), (1, 1)]),
    ) {
        let data = microdata(&table).within(table.table.gather(&people));
        let specs = specs(&asked);
        let goal = data.goal(&required(&specs)).unwrap_or_else(|_| data.goal(&[]).unwrap());
        if goal.specs().is_empty() {
            return Ok(());
        }
        let suppress = Rational::new(suppress.0, suppress.1);
        let search = FullDomain { metric, suppress, ..FullDomain::default() };
        let limit = data.rows() as u64 * *suppress.numer() / *suppress.denom();
        let attributes = table.attributes().into_iter().map(|(column, file)| Attribute::new(column, file)).collect();
        let oracle = Oracle { attributes, data: &data, goal: &goal, limit: limit as usize };
        let asked = PopulationGoal::of(specs.iter());
        let solution = |levels: &Vec<usize>| oracle.solution_with(levels, metric, &people, asked);
        let best = oracle.all_levels().iter().filter_map(solution).map(|it| it.cost).min_by(f64::total_cmp);
        match (partition_by(&search, &data, &goal), best) {
            (Err(error), None) => prop_assert!(error.is_infeasible(), "{}", error),
            (Ok(partition), Some(best)) => {
                let recoding = partition.recoding().unwrap();
                let shown: Vec<usize> = recoding.levels.iter().map(|shown| shown.level).collect();
                let chosen = solution(&shown).expect("the chosen node is feasible");
                prop_assert_eq!(as_sets(&partition), chosen.groups);
                prop_assert!(close(recoding.search.cost, best), "{} {}", recoding.search.cost, best);
                let outcome =
                    Job::new(&data, &required(&specs), &partition, &mut rng(2), &Unwatched).run(&Generalize).unwrap();
                let mut report = chrysalis_audit::audit(&outcome.release, None, &Unwatched).unwrap();
                prop_assert!(report.untold().count() > 0, "nobody can tell without the population");
                let population = table.table.gather(&people);
                chrysalis_audit::measure_population(&mut report, &outcome.release, &population, &Unwatched).unwrap();
                prop_assert!(report.promises_hold() && report.untold().count() == 0, "{:?}", report.principles);
            }
            (found, best) => prop_assert!(false, "{:?} {:?}", found.map(|_| ()), best),
        }
    }
}

fn file(text: &str) -> Option<TaxonomySource> {
    Some(TaxonomySource::File(TaxonomyFile::parse(text).unwrap()))
}

/// Four people; the taxonomy of `city` has two countries, `sex` has none.
fn people() -> Microdata {
    let table = Table::new(vec![
        Column::texts("city", ["Bonn", "Kiel", "Lyon", "Lyon"].into_iter()),
        Column::texts("sex", ["F", "F", "M", "M"].into_iter()),
    ]);
    let city = file("Bonn;Germany;*\nKiel;Germany;*\nLyon;France;*\nNice;France;*");
    Microdata::new(table, &[quasi("city", city), quasi("sex", None)]).unwrap()
}

#[test]
fn labels_are_those_of_the_level_even_where_a_group_is_narrower() {
    let data = people();
    let specs = specs(&["k=2"]);
    let goal = data.goal(&required(&specs)).unwrap();
    let search = FullDomain { metric: Metric::Height, ..FullDomain::default() };
    let partition = partition_by(&search, &data, &goal).unwrap();
    let outcome = Job::new(&data, &required(&specs), &partition, &mut rng(1), &Unwatched).run(&Generalize).unwrap();
    let table = outcome.release.table("generalized").unwrap();
    let texts = |name: &str| -> BTreeSet<String> {
        let column = table.column(name).unwrap();
        (0..table.rows()).map(|row| column.domain().text(column.code(row)).into_owned()).collect()
    };
    // The French are all from Lyon, and yet are shown as French: the level is chosen for the whole table.
    assert_eq!(texts("city"), BTreeSet::from(["France".to_owned(), "Germany".to_owned()]));
    assert_eq!(texts("sex"), BTreeSet::from(["F".to_owned(), "M".to_owned()]));
    assert_eq!(outcome.release.manifest.suppressed, 0);
}

#[test]
fn a_search_that_is_stopped_says_so_and_still_keeps_its_promise() {
    let data = people();
    let specs = specs(&["k=2"]);
    let goal = data.goal(&required(&specs)).unwrap();
    let search = FullDomain { stop: Stop::when(|| true), ..FullDomain::default() };
    let partition = partition_by(&search, &data, &goal).unwrap();
    let report = &partition.recoding().unwrap().search;
    assert_eq!((report.proven, report.checked, report.nodes), (false, 1, 6));
    assert_eq!(partition.n_groups(), 1);
}

#[test]
fn a_search_of_so_many_nodes_gives_the_same_on_any_number_of_threads() {
    let number = |row: i64, at: i64| (row * 7_919 + at * 104_729) % (10_007 + at);
    let names: Vec<String> = (0..9).map(|at| format!("q{at}")).collect();
    let columns = (0i64..).zip(&names).map(|(at, name)| {
        Column::integers(name, &(0..2_000).map(|row| number(row, at) % (8 + at)).collect::<Vec<_>>())
    });
    let intervals = || Some(TaxonomySource::Intervals(vec![2.0, 4.0, 8.0]));
    let attributes: Vec<_> = names.iter().map(|name| quasi(name, intervals())).collect();
    let data = Microdata::new(Table::new(columns.collect()), &attributes).unwrap();
    let goal = data.goal(&required(&specs(&["k=3"]))).unwrap();
    let run = |n_nodes: u64, n_threads: usize| {
        let search = FullDomain { stop: Stop::after(n_nodes), ..FullDomain::default() };
        in_threads(n_threads, || partition_by(&search, &data, &goal).unwrap())
    };
    for n_nodes in [0, 10, 100] {
        let (one, three) = (run(n_nodes, 1), run(n_nodes, 3));
        assert_eq!(one, three);
        let report = &one.recoding().unwrap().search;
        assert!(!report.proven && report.checked >= n_nodes && report.checked < n_nodes + 200, "{report:?}");
    }
}

#[test]
fn many_attributes_with_many_values_need_wide_keys() {
    for n_columns in [5, 9, 30] {
        let names: Vec<String> = (0..n_columns).map(|at| format!("q{at}")).collect();
        // 3,000 rows with 1,500 values per attribute: 11 bits each.
        let columns = names.iter().enumerate().map(|(at, name)| {
            Column::integers(name, &(0..3_000).map(|row| (row / 2) * (at as i64 + 1)).collect::<Vec<_>>())
        });
        let attributes: Vec<_> = names.iter().map(|name| quasi(name, None)).collect();
        let data = Microdata::new(Table::new(columns.collect()), &attributes).unwrap();
        let goal = data.goal(&required(&specs(&["k=2"]))).unwrap();
        let partition = partition_by(&FullDomain::default(), &data, &goal).unwrap();
        assert_eq!(partition.n_groups(), 1_500, "pairs of equal rows need no generalization");
    }
}

#[test]
fn more_levels_than_anyone_can_search_are_refused() {
    let names: Vec<String> = (0..70).map(|at| format!("q{at}")).collect();
    let columns = names.iter().map(|name| Column::integers(name, &[1, 2, 3]));
    let attributes: Vec<_> = names.iter().map(|name| quasi(name, None)).collect();
    let data = Microdata::new(Table::new(columns.collect()), &attributes).unwrap();
    let goal = data.goal(&required(&specs(&["k=2"]))).unwrap();
    let error = partition_by(&FullDomain::default(), &data, &goal).unwrap_err();
    assert!(error.to_string().contains("cannot search the levels of 70 attributes"), "{error}");
    assert!(FullDomain::n_nodes(&data).is_err());
}
