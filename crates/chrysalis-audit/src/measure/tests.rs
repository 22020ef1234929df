use std::collections::BTreeMap;

use chrysalis_criteria::Rational;
use chrysalis_table::exact::{self, BigRational};
use chrysalis_table::{Codes, Domain, Kind, TaxonomyFile, Value};
use num_bigint::BigInt;
use proptest::prelude::*;

use super::*;

/// A sample from (group, code) pairs.
fn sample(rows: &[(u32, u32)], n_codes: usize) -> GroupCounts {
    let n_groups = rows.iter().map(|row| row.0 as usize + 1).max().unwrap_or(0);
    let groups = Groups { of_row: rows.iter().map(|row| row.0).collect(), n_groups };
    GroupCounts::new(&groups, &Codes::collect(n_codes, rows.iter().map(|row| row.1)), n_codes)
}

/// A sample of one group with the given counts.
fn one_group(counts: &[u64]) -> GroupCounts {
    let rows: Vec<(u32, u32)> =
        (0u32..).zip(counts).flat_map(|(code, &count)| std::iter::repeat_n((0, code), count as usize)).collect();
    sample(&rows, counts.len())
}

fn exact(numerator: i64, denominator: i64) -> BigRational {
    BigRational::new(BigInt::from(numerator), BigInt::from(denominator))
}

fn words(n: usize) -> Domain {
    Domain::new(Kind::Category, (0..n).map(|i| Value::Text(format!("v{i:03}").into())).collect(), false)
}

/// Shares of every code by group, and of the whole table, straight from the definition.
fn shares(rows: &[(u32, u32)], n_codes: usize) -> (Vec<Vec<f64>>, Vec<f64>) {
    let mut groups: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    let mut whole = vec![0.0; n_codes];
    for &(group, code) in rows {
        groups.entry(group).or_insert_with(|| vec![0.0; n_codes])[code as usize] += 1.0;
        whole[code as usize] += 1.0;
    }
    let normal = |counts: Vec<f64>| {
        let n: f64 = counts.iter().sum();
        counts.into_iter().map(|count| count / n).collect::<Vec<f64>>()
    };
    (groups.into_values().map(normal).collect(), normal(whole))
}

fn rows() -> impl Strategy<Value = (Vec<(u32, u32)>, usize)> {
    (1usize..12, 1u32..5).prop_flat_map(|(n_codes, n_groups)| {
        (prop::collection::vec((0..n_groups, 0..n_codes as u32), 1..60), Just(n_codes))
    })
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-11 * a.abs().max(b.abs()).max(1.0)
}

proptest! {
    #[test]
    fn frequencies_agree_with_their_definitions((rows, n_codes) in rows()) {
        let sample = sample(&rows, n_codes);
        let (groups, whole) = shares(&rows, n_codes);
        let most = |level: &dyn Fn(&Vec<f64>) -> f64| groups.iter().map(level).fold(f64::NEG_INFINITY, f64::max);
        let float = |worst: Option<Worst<Fraction>>| to_float(worst.unwrap().level.exact().as_ref());
        prop_assert!(close(float(share(&sample)), most(&|p| p.iter().copied().fold(0.0, f64::max))));
        let gains = |p: &Vec<f64>| p.iter().zip(&whole).filter(|(_, q)| **q > 0.0).map(|(p, q)| (p - q) / q).fold(0.0, f64::max);
        prop_assert!(close(float(gain(&sample)), most(&gains)));
        let logs = |p: &Vec<f64>| p.iter().zip(&whole).filter(|(p, _)| **p > 0.0).map(|(p, q)| (p / q).ln().abs()).fold(0.0, f64::max);
        prop_assert!(close(float(ratio(&sample)).ln(), most(&logs)));
        let fewest = groups.iter().map(|p| p.iter().filter(|p| **p > 0.0).count() as u64).min();
        prop_assert_eq!(distinct(&sample).map(|worst| worst.level), fewest);
        for l in 1..5usize {
            let tail = |p: &Vec<f64>| {
                let mut p = p.clone();
                p.sort_by(|a, b| b.total_cmp(a));
                p[0] / p.iter().skip(l - 1).sum::<f64>()
            };
            let (found, expected) = (float(recursive(&sample, l as u64)), most(&tail));
            prop_assert!(found == expected || close(found, expected));
        }
    }

    #[test]
    fn distances_agree_with_their_definitions((rows, n_codes) in rows()) {
        let sample = sample(&rows, n_codes);
        let (groups, whole) = shares(&rows, n_codes);
        let most = |level: &dyn Fn(&Vec<f64>) -> f64| groups.iter().map(level).fold(0.0, f64::max);
        let float = |ground: Ground<'_>| to_float(closeness(&sample, ground).map(|worst| worst.level).as_ref());
        let equal = |p: &Vec<f64>| p.iter().zip(&whole).map(|(p, q)| (p - q).abs()).sum::<f64>() / 2.0;
        prop_assert!(close(float(Ground::Equal), most(&equal)));
        let m = whole.iter().filter(|q| **q > 0.0).count();
        let ordered = |p: &Vec<f64>| {
            let mut sum = 0.0;
            let occur = p.iter().zip(&whole).filter(|(_, q)| **q > 0.0);
            occur.map(|(p, q)| { sum += p - q; f64::abs(sum) }).sum::<f64>() / (m.max(2) - 1) as f64
        };
        prop_assert!(close(float(Ground::Ordered), most(&ordered)));
    }

    /// Under a tree of one level all values are equally far apart, and under a deeper one none are farther.
    #[test]
    fn hierarchies_only_shorten_distances((rows, n_codes) in rows()) {
        let sample = sample(&rows, n_codes);
        let domain = words(n_codes);
        let lines = |inner: bool| -> Vec<Vec<String>> {
            let line = |i: usize| if inner { vec![format!("v{i:03}"), format!("g{}", i / 3), "*".into()] } else { vec![format!("v{i:03}"), "*".into()] };
            (0..n_codes).map(line).collect()
        };
        let distance = |inner| {
            let taxonomy = TaxonomyFile::from_lines(&lines(inner)).unwrap().bind(&domain).unwrap();
            closeness(&sample, Ground::Hierarchical(&taxonomy, &domain)).unwrap().level
        };
        let equal = closeness(&sample, Ground::Equal).unwrap().level;
        prop_assert_eq!(&distance(false), &equal);
        prop_assert!(distance(true) <= equal);
    }

    /// Compares with the recursion of the paper, in floats.
    #[test]
    fn hierarchical_distance_agrees_with_its_definition((rows, n_codes) in rows()) {
        let lines: Vec<Vec<String>> =
            (0..n_codes).map(|i| vec![format!("v{i:03}"), format!("g{}", i / 2), format!("h{}", i / 6), "*".into()]).collect();
        let taxonomy = TaxonomyFile::from_lines(&lines).unwrap().bind(&words(n_codes)).unwrap();
        let (groups, whole) = shares(&rows, n_codes);
        let extra = |p: &[f64], node: usize| taxonomy.codes_below(node).map(|code| p[code as usize] - whole[code as usize]).sum::<f64>();
        let height = taxonomy.nodes()[0].height as f64;
        let cost = |p: &Vec<f64>| taxonomy.nodes().iter().map(|node| {
            let extras = node.children.iter().map(|&child| extra(p, child));
            let (above, below) = extras.fold((0.0, 0.0), |(above, below), e| (above + e.max(0.0), below - e.min(0.0)));
            node.height as f64 / height * f64::min(above, below)
        }).sum::<f64>();
        let expected = groups.iter().map(cost).fold(0.0, f64::max);
        let found = closeness(&sample(&rows, n_codes), Ground::Written(&taxonomy)).unwrap().level;
        prop_assert!(close(to_float(Some(&found)), expected));
    }

    /// Levels that separate nothing and values that nobody has change no distance, wherever they are inserted.
    #[test]
    fn padding_a_taxonomy_changes_no_distance(
        (rows, n_codes) in rows(),
        padding in prop::collection::vec(0..4usize, 40),
        n_more in 0..3usize,
    ) {
        let domain = words(n_codes);
        let plain = |i: usize| vec![format!("v{i:03}"), format!("g{}", i / 2), format!("h{}", i / 6), "*".to_owned()];
        // Above every label, inserts some labels that have no other label below them.
        let padded = |i: usize| {
            let mut line: Vec<String> = Vec::new();
            for label in plain(i).into_iter().filter(|label| label != "*") {
                let place = label.bytes().fold(7usize, |sum, byte| (sum * 31 + byte as usize) % 39);
                line.push(label.clone());
                line.extend((0..padding[place]).map(|n| format!("{label} padded {n}")));
            }
            line.extend((0..padding[39]).map(|n| format!("all padded {n}")));
            line.push("*".to_owned());
            line
        };
        let filled = |lines: Vec<Vec<String>>| {
            let most = lines.iter().map(Vec::len).max().unwrap();
            let fill = |line: Vec<String>| {
                let mut full = vec![line[0].clone(); most - line.len()];
                full.extend(line);
                full
            };
            let lines: Vec<Vec<String>> = lines.into_iter().map(fill).collect();
            TaxonomyFile::from_lines(&lines).unwrap().bind(&domain).unwrap()
        };
        let (plain, padded) =
            (filled((0..n_codes).map(plain).collect()), filled((0..n_codes + n_more).map(padded).collect()));
        let sample = sample(&rows, n_codes);
        let (before, after) = (Ground::Hierarchical(&plain, &domain), Ground::Hierarchical(&padded, &domain));
        prop_assert_eq!(closeness(&sample, before).unwrap(), closeness(&sample, after).unwrap());
        prop_assert_eq!(before.levels(sample.whole()), after.levels(sample.whole()));
    }

    #[test]
    fn entropy_decisions_agree_with_floats_away_from_the_line(counts in prop::collection::vec(0u64..50, 1..10), p in 1u64..40, q in 1u64..5) {
        prop_assume!(p >= q && counts.iter().any(|&count| count > 0));
        let l = Rational::new(p, q);
        let above = effective_values(counts.iter().copied().filter(|&c| c > 0)).ln() - (p as f64 / q as f64).ln();
        let decision = entropy_at_least(counts.iter().copied(), l);
        if above.abs() > 1e-9 {
            prop_assert_eq!(decision.holds(), above > 0.0);
        }
        prop_assert!(decision != Decision::Doubt);
    }

    #[test]
    fn the_floor_of_the_entropy_is_the_last_l_that_holds((rows, n_codes) in rows()) {
        let sample = sample(&rows, n_codes);
        let floor = entropy_floor(&sample).unwrap();
        let holds = |l: u64| (0..sample.sizes().len()).filter(|&g| sample.sizes()[g] > 0)
            .all(|group| entropy_at_least(sample.group(group).counts(), Rational::from_integer(l)).holds());
        prop_assert!(holds(floor) && !holds(floor + 1));
    }
}

#[test]
fn even_groups_reach_their_number_of_values() {
    for l in 1..=40 {
        for count in [1, 3, 1000, 1_000_003] {
            let counts = vec![count; l as usize];
            assert_eq!(entropy_at_least(counts.iter().copied(), Rational::from_integer(l)), Decision::Holds, "{l}");
            let above = Rational::new(l * 1_000_000 + 1, 1_000_000);
            assert_eq!(entropy_at_least(counts.iter().copied(), above), Decision::Fails);
        }
        assert_eq!(entropy_floor(&one_group(&vec![7; l as usize])), Some(l));
    }
    // Summed naively, l = 3, 6, 7 and 10 fall short.
    let naive = |l: usize| -> f64 { -(0..l).map(|_| 1.0 / l as f64 * (1.0 / l as f64).ln()).sum::<f64>() };
    assert!([3, 6, 7, 10].into_iter().any(|l| naive(l) < (l as f64).ln()));
}

#[test]
fn one_row_too_many_is_not_forgiven() {
    // Slightly uneven large groups lie below the line by far less than floats can tell from the rounding of one sum.
    let mut counts = [1_000u64; 4];
    counts[0] += 1;
    assert_eq!(entropy_at_least(counts.iter().copied(), Rational::from_integer(4)), Decision::Fails);
    let counts = [40_000_000u64, 39_999_999, 40_000_001];
    assert_ne!(entropy_at_least(counts.iter().copied(), Rational::from_integer(3)), Decision::Holds);
}

#[test]
fn too_near_and_too_large_is_doubt() {
    let counts = [4_000_000_000u64, 3_999_999_999];
    assert_eq!(entropy_at_least(counts.iter().copied(), Rational::from_integer(2)), Decision::Doubt);
}

#[test]
fn recursive_levels_are_strict_and_may_be_infinite() {
    let level = |counts: &[u64], l| recursive(&one_group(counts), l).unwrap().level.exact();
    assert_eq!(level(&[3, 1], 2), Some(exact(3, 1)));
    assert_eq!(level(&[3, 1, 2], 2), Some(exact(1, 1)));
    assert_eq!(level(&[3, 1], 3), None);
    assert_eq!(to_float(None), f64::INFINITY);
}

#[test]
fn ordered_distance_of_li_et_al() {
    // Li et al. 2007, section 4.2: salaries 3k…11k; {3k,4k,5k} is 0.375 away, {6k,8k,11k} 1/6.
    let groups = [(0, 0), (0, 1), (0, 2), (1, 3), (1, 5), (1, 8), (2, 4), (2, 6), (2, 7)];
    let worst = closeness(&sample(&groups, 9), Ground::Ordered).unwrap();
    assert_eq!((worst.level, worst.group), (exact(3, 8), 0));
    assert_eq!(closeness(&sample(&[(0, 0), (1, 0)], 1), Ground::Ordered).unwrap().level, exact(0, 1));
}

#[test]
fn weights_and_spans_are_exact() {
    let domain = words(4);
    let names: Vec<Vec<String>> = (0..4).map(|i| vec![format!("v{i:03}")]).collect();
    let weights = ["0", "36/49", "45/49", "1"].map(str::to_owned);
    let categories = Categories::new(&domain, &names, &weights).unwrap();
    let worst = least_weight(&sample(&[(0, 0), (0, 1), (0, 1), (1, 2), (1, 2)], 4), &categories, |group| {
        categories.counts(group)
    })
    .unwrap();
    assert_eq!((worst.level, worst.group), (exact(72, 49), 0));
    let error = |names: &[Vec<String>], weights: &[&str]| {
        let weights: Vec<String> = weights.iter().map(|&text| text.to_owned()).collect();
        Categories::new(&domain, names, &weights).unwrap_err()
    };
    assert_eq!(error(&names, &["0"]), "4 categories, 1 weights");
    assert_eq!(error(&names, &["0", "1/0", "1", "1"]), "`1/0` is not a weight from 0 to 1");
    assert_eq!(error(&names, &["0", "1.5", "1", "1"]), "`1.5` is not a weight from 0 to 1");
    assert_eq!(error(&names[..2], &["0", "1"]), "a published value is in no category");
    assert_eq!(error(&[names[0].clone(), names[0].clone()], &["0", "1"]), "`v000` is in two categories");

    let integers = Domain::new(Kind::Integer, [i64::MIN, 0, i64::MAX].map(Value::Integer).to_vec(), true);
    let rows = sample(&[(0, 0), (0, 1), (0, 3), (1, 0), (1, 2), (2, 2), (2, 3)], 4);
    assert_eq!(span(&rows, &integers).unwrap(), Worst { level: exact(0, 1), group: 1 });
    assert_eq!(distinct_numbers(&rows, &integers).unwrap(), Worst { level: 1, group: 1 });
    let wide = span(&sample(&[(0, 1), (0, 3)], 4), &integers).unwrap().level;
    assert_eq!(wide.to_string(), "18446744073709551615");
    let reals = Domain::new(Kind::Real, [0.1, 0.3].map(Value::Real).to_vec(), false);
    let gap = span(&one_group(&[1, 1]), &reals).unwrap().level;
    assert_eq!(gap, exact::from_float(0.3).unwrap() - exact::from_float(0.1).unwrap());
    assert_eq!(span(&one_group(&[1, 1]), &words(2)), None);
}
