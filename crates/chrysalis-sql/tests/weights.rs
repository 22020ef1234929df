//! Aggregates of survey weights, against all worlds that a release allows: every way to give sensitive values to the
//! rows of their group, and every place in its box that a row can have.

#![allow(clippy::unwrap_used, reason = "tests")]

use chrysalis_load::Database;
use chrysalis_publish::method::{Anatomy, Angel, Fallback, Generalize, Method, Shuffle};
use chrysalis_publish::{AttributeSpec, Job, Microdata, Partition};
use chrysalis_query::{AggregateAnswer, OpenRelease, Plan};
use chrysalis_release::Release;
use chrysalis_sql::{Dialect, parse, rewrite};
use chrysalis_table::{Column, Role, Table, Unwatched, Value};
use proptest::prelude::*;
use rand::SeedableRng;
use rand::rngs::ChaCha20Rng;

/// A quasi number, a weight in quarters, and two sensitive numbers.
#[derive(Clone, Copy, Debug)]
struct Person {
    q: i64,
    w: i64,
    a: i64,
    b: i64,
}

type Group = Vec<Person>;

fn weight(person: &Person) -> f64 {
    person.w as f64 / 4.0
}

fn published(groups: &[Group], method: &dyn Method, sensitive: &[&str]) -> Release {
    let rows: Vec<&Person> = groups.iter().flatten().collect();
    let column = |name: &str, at: fn(&Person) -> i64| {
        Column::integers(name, &rows.iter().map(|row| at(row)).collect::<Vec<i64>>())
    };
    let weights = Column::reals("w", &rows.iter().map(|row| weight(row)).collect::<Vec<f64>>());
    let bucket = Column::integers("bucket", &(0..rows.len() as i64).map(|row| row % 2).collect::<Vec<i64>>());
    let table =
        Table::new(vec![column("q", |row| row.q), weights, column("a", |row| row.a), column("b", |row| row.b), bucket]);
    let mut roles = vec![AttributeSpec::new("q", Role::QuasiIdentifier), AttributeSpec::new("w", Role::Other)];
    roles.extend(sensitive.iter().map(|name| AttributeSpec::new(*name, Role::Sensitive)));
    let data = Microdata::new(table, &roles).unwrap();
    let sizes: Vec<u32> = groups.iter().map(|group| group.len() as u32).collect();
    let partition = Partition::new((0..rows.len() as u32).collect(), &sizes);
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let mut release = Job::new(&data, &[], &partition, &mut rng, &Unwatched).run(method).unwrap().release;
    release.manifest.attributes.iter_mut().filter(|it| it.name == "w").for_each(|it| it.weight = true);
    release
}

fn angel() -> Angel {
    let bucket_columns = vec!["bucket".to_owned()];
    Angel { k: 1, bucket_columns, marginals: Vec::new(), for_reconstruction: false, fallback: Fallback::Never }
}

fn permutations(n: usize) -> Vec<Vec<usize>> {
    if n == 0 {
        return vec![Vec::new()];
    }
    let insert = |order: &Vec<usize>, at: usize| {
        let mut order = order.clone();
        order.insert(at, n - 1);
        order
    };
    permutations(n - 1).iter().flat_map(|order| (0..n).map(move |at| insert(order, at))).collect()
}

/// Every way to permute both sensitive columns, each on its own; `a` alone if `b` is not sensitive.
fn dealt(group: &Group, deals_b: bool) -> Vec<Group> {
    let orders = permutations(group.len());
    let same = [(0..group.len()).collect::<Vec<usize>>()];
    let of_b = if deals_b { &orders[..] } else { &same[..] };
    let world = |a: &Vec<usize>, b: &Vec<usize>| -> Group {
        (0..group.len()).map(|row| Person { a: group[a[row]].a, b: group[b[row]].b, ..group[row] }).collect()
    };
    orders.iter().flat_map(|a| of_b.iter().map(move |b| world(a, b))).collect()
}

/// Every way to place rows in ranges of `q`, all equally likely.
fn placed(group: &Group, range: impl Fn(usize) -> (i64, i64)) -> Vec<Group> {
    let mut worlds = vec![Group::new()];
    for (at, person) in group.iter().enumerate() {
        let (low, high) = range(at);
        let place = |known: &Group, q: i64| known.iter().copied().chain([Person { q, ..*person }]).collect();
        worlds = worlds.iter().flat_map(|known| (low..=high).map(|q| place(known, q)).collect::<Vec<_>>()).collect();
    }
    worlds
}

fn ends<'a>(rows: impl Iterator<Item = &'a Person>) -> (i64, i64) {
    rows.fold((i64::MAX, i64::MIN), |(low, high), row| (low.min(row.q), high.max(row.q)))
}

/// Every world of several groups.
fn product(groups: &[Vec<Group>]) -> Vec<Group> {
    groups.iter().fold(vec![Group::new()], |known, worlds| {
        known.iter().flat_map(|one| worlds.iter().map(|more| [&one[..], &more[..]].concat())).collect()
    })
}

const SELECT: &str = "SELECT SUM(w), AVG(w), MIN(w), MAX(w), COUNT(*) FROM microdata";

/// Compares an answer with those of all worlds, in which every row that `matches` counts. The truth is one of them.
fn compare(
    context: &str,
    said: &[AggregateAnswer],
    worlds: &[Group],
    matches: &dyn Fn(&Person) -> bool,
    exact_ends: bool,
) {
    let found: Vec<Vec<f64>> =
        worlds.iter().map(|world| world.iter().filter(|row| matches(row)).map(weight).collect()).collect();
    let sums: Vec<f64> = found.iter().map(|found| found.iter().sum()).collect();
    let n = sums.len() as f64;
    let mean = sums.iter().sum::<f64>() / n;
    let variance = sums.iter().map(|sum| (sum - mean).powi(2)).sum::<f64>() / n;
    let some: Vec<&Vec<f64>> = found.iter().filter(|found| !found.is_empty()).collect();
    let [sum, average, min, max, _] = said else { panic!("five aggregates are asked for") };
    if some.is_empty() {
        assert!(sum.estimate.is_none() && sum.upper.is_none() && average.upper.is_none(), "{context} {said:?}");
        return;
    }
    let context = format!("{context}\n{said:?}\nmean {mean}, variance {variance}");
    let (least, most) = (sums.iter().copied().fold(f64::INFINITY, f64::min), sums.iter().copied().fold(0.0, f64::max));
    assert!((sum.estimate.unwrap() - mean).abs() < 1e-9 * (1.0 + mean), "{context}");
    assert!((sum.std_error.unwrap().powi(2) - variance).abs() < 1e-7 * (1.0 + variance), "{context}");
    let bounds = |it: &AggregateAnswer| (it.lower.unwrap(), it.upper.unwrap());
    let (lower, upper) = bounds(sum);
    assert!(lower <= least && most <= upper, "{context}");
    if exact_ends {
        // No bounds are closer.
        assert!((lower - least).abs() < 1e-9 && (upper - most).abs() < 1e-9, "{context}");
    }
    let close = |it: &AggregateAnswer, of: &dyn Fn(&Vec<f64>) -> f64| {
        let numbers: Vec<f64> = some.iter().map(|found| of(found)).collect();
        let (lower, upper) = bounds(it);
        let (least, most) =
            (numbers.iter().copied().fold(f64::INFINITY, f64::min), numbers.iter().copied().fold(0.0, f64::max));
        assert!(lower <= least + 1e-9 && most <= upper + 1e-9, "{context}");
        if exact_ends {
            assert!((lower - least).abs() < 1e-9 && (upper - most).abs() < 1e-9, "{context}");
            let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
            let variance = numbers.iter().map(|number| (number - mean).powi(2)).sum::<f64>() / numbers.len() as f64;
            return Some((mean, variance));
        }
        None
    };
    close(average, &|found| found.iter().sum::<f64>() / found.len() as f64);
    type Choice = fn(f64, f64) -> f64;
    let extremes: [(&AggregateAnswer, Choice); 2] = [(min, f64::min), (max, f64::max)];
    for (it, fold) in extremes {
        if let Some((mean, variance)) = close(it, &|found| found.iter().copied().reduce(fold).unwrap()) {
            assert!((it.estimate.unwrap() - mean).abs() < 1e-9 * (1.0 + mean), "{context}");
            assert!((it.std_error.unwrap().powi(2) - variance).abs() < 1e-7 * (1.0 + variance), "{context}");
        }
    }
}

fn asked(release: &Release, sql: &str) -> Vec<AggregateAnswer> {
    let open = OpenRelease::new(release).unwrap();
    let answer = chrysalis_sql::ask(&open, sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    answer.rows[0].aggregates.clone()
}

/// The same number, or NULL for NULL.
fn agree(ours: Option<f64>, theirs: Option<f64>) -> bool {
    match (ours, theirs) {
        (Some(ours), Some(theirs)) => (ours - theirs).abs() <= 1e-6 * (1.0 + ours.abs()),
        (ours, theirs) => ours == theirs,
    }
}

/// A question rewritten for SQLite has the same rows and numbers as our own answer.
fn referee(release: &Release, sql: &str) {
    let plan = Plan::new(&parse::parse_one(sql).unwrap(), &release.manifest).unwrap();
    let statement = rewrite(&plan, release, Dialect::Sqlite).unwrap_or_else(|error| panic!("{sql}: {error}"));
    let mut database = Database::new().unwrap();
    database.load(release).unwrap();
    let theirs = database.run(&statement).unwrap_or_else(|error| panic!("{sql}: {error}\n{statement}"));
    let ours = OpenRelease::new(release).unwrap().answer(&plan).unwrap();
    assert_eq!(ours.rows.len(), theirs.len(), "{sql}\n{statement}");
    for (row, theirs) in ours.rows.iter().zip(&theirs) {
        let keys = row.group.iter().map(|value| value.as_ref().and_then(Value::number));
        let it = &row.aggregates[0];
        let numbers = [it.estimate, it.lower, it.upper, it.std_error];
        let all: Vec<Option<f64>> = keys.chain(numbers).collect();
        assert!(all.len() == theirs.len(), "{sql}\n{statement}");
        let is_same = all.iter().zip(theirs).all(|(ours, theirs)| agree(*ours, *theirs));
        assert!(is_same, "{sql}: {all:?} {theirs:?}\n{statement}");
    }
}

fn rewritten(groups: &[Group], (q, a, _): (i64, i64, i64)) {
    for method in [&Anatomy as &dyn Method, &Shuffle, &Generalize] {
        let release = published(groups, method, &["a"]);
        for condition in [
            String::new(),
            format!(" WHERE q <= {q}"),
            format!(" WHERE a <= {a}"),
            format!(" WHERE q <= {q} AND a <= {a}"),
        ] {
            for keys in ["", " GROUP BY q", " GROUP BY a", " GROUP BY q, a"] {
                referee(&release, &format!("SELECT SUM(w) FROM microdata{condition}{keys}"));
            }
        }
    }
    let release = published(groups, &Anatomy, &["a", "b"]);
    referee(&release, &format!("SELECT SUM(w) FROM microdata WHERE q <= {q} AND b <= 0 GROUP BY q"));
}

fn check(groups: &[Group], (q, a, b): (i64, i64, i64)) {
    let matches = |person: &Person| person.q <= q && person.a <= a;
    let matches_both = |person: &Person| matches(person) && person.b <= b;
    let one = format!("{SELECT} WHERE q <= {q} AND a <= {a}");
    let both = format!("{one} AND b <= {b}");
    // Forms with exact quasi values.
    let worlds = product(&groups.iter().map(|group| dealt(group, false)).collect::<Vec<_>>());
    for method in [&Anatomy as &dyn Method, &Shuffle] {
        let context = format!("{} {groups:?} {one}", method.form());
        compare(&context, &asked(&published(groups, method, &["a"]), &one), &worlds, &matches, true);
    }
    // Rows of boxes, each with its own weight and value.
    let in_box = |group: &Group| placed(group, |_| ends(group.iter()));
    let worlds = product(&groups.iter().map(in_box).collect::<Vec<_>>());
    let said = asked(&published(groups, &Generalize, &["a"]), &one);
    compare(&format!("generalize {groups:?} {one}"), &said, &worlds, &matches, true);
    // Two sensitive columns, of the first group alone: there are many worlds.
    let first = &groups[..1];
    let worlds = dealt(&first[0], true);
    let said = asked(&published(first, &Anatomy, &["a", "b"]), &both);
    compare(&format!("two columns {first:?} {both}"), &said, &worlds, &matches_both, false);
    let in_box: Vec<Group> = in_box(&first[0]).iter().flat_map(|group| dealt(group, true)).collect();
    if in_box.len() < 100_000 {
        let said = asked(&published(first, &Generalize, &["a", "b"]), &both);
        compare(&format!("two columns, generalized {first:?} {both}"), &said, &in_box, &matches_both, false);
    }
    // Batches whose rows lie in boxes of their own: buckets go across groups, and rows alternate between two of them.
    let all: Vec<Person> = first[0].clone();
    let range = |at: usize| ends(all.iter().skip(at % 2).step_by(2));
    let worlds: Vec<Group> = placed(&all, range).iter().flat_map(|group| dealt(group, false)).collect();
    let said = asked(&published(first, &angel(), &["a"]), &one);
    compare(&format!("angel {first:?} {one}"), &said, &worlds, &matches, false);
}

/// `cargo xtask ci --all` asks more.
fn config() -> ProptestConfig {
    let cases = chrysalis_testkit::sampled(300, 5_000);
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

fn person() -> impl Strategy<Value = Person> {
    (0..3_i64, 0..9_i64, -2..2_i64, 0..2_i64).prop_map(|(q, w, a, b)| Person { q, w, a, b })
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn weights_are_those_of_all_worlds(
        groups in prop::collection::vec(prop::collection::vec(person(), 1..5), 1..3),
        asks in (-1..3_i64, -3..3_i64, -1..2_i64),
    ) {
        check(&groups, asks);
        rewritten(&groups, asks);
    }
}

/// One group of four rows, of which three match, with the weights 1, 2 and 5; two of the four values count.
fn by_hand() -> Vec<Group> {
    let person = |q: i64, w: i64, a: i64| Person { q, w: 4 * w, a, b: 0 };
    vec![vec![person(1, 1, 7), person(1, 2, 7), person(1, 5, 8), person(2, 9, 9)]]
}

/// Typed in by hand.
#[test]
fn the_formulas_of_the_contract_by_hand() {
    let said = asked(&published(&by_hand(), &Anatomy, &["a"]), "SELECT SUM(w) FROM microdata WHERE q = 1 AND a = 7");
    // h = 3, c = 2, n = 4: between one and two rows; 1, 2 + 5, and half of 8.
    assert_eq!((said[0].lower, said[0].upper, said[0].estimate), (Some(1.0), Some(7.0), Some(4.0)));
    // 2·2/(4·3) · (1² + 2² + 5² + 0² − 8²/4) = 14/3: sums of pairs out of {1, 2, 5, 0} are 3, 6, 1, 7, 2, 5.
    assert!((said[0].std_error.unwrap().powi(2) - 14.0 / 3.0).abs() < 1e-12);
    // Side by side, the weights of those with a = 7 are 1 and 2; each of four rows lies at q = 1 with probability 1/2.
    let said = asked(&published(&by_hand(), &Generalize, &["a"]), "SELECT SUM(w) FROM microdata WHERE q = 1 AND a = 7");
    assert_eq!((said[0].lower, said[0].upper, said[0].estimate), (Some(0.0), Some(3.0), Some(1.5)));
    assert!((said[0].std_error.unwrap().powi(2) - 5.0 / 4.0).abs() < 1e-12);
}

#[test]
fn what_cannot_be_asked_of_a_weight() {
    let generalized = published(&by_hand(), &Generalize, &["a"]);
    let problem = |sql: &str| {
        let open = OpenRelease::new(&generalized).unwrap();
        chrysalis_sql::ask(&open, sql).unwrap_err().to_string()
    };
    assert!(problem("SELECT COUNT(*) FROM microdata WHERE w > 1").contains("beside generalized rows"));
    assert!(problem("SELECT COUNT(*) FROM microdata GROUP BY w").contains("beside generalized rows"));
    let refused = |release: &Release, sql: &str| {
        let plan = Plan::new(&parse::parse_one(sql).unwrap(), &release.manifest).unwrap();
        rewrite(&plan, release, Dialect::Postgres).unwrap_err().to_string()
    };
    assert!(refused(&generalized, "SELECT AVG(w) FROM microdata").contains("only SUM"));
    assert!(refused(&generalized, "SELECT SUM(w), COUNT(*) FROM microdata").contains("beside other aggregates"));
    let angel = published(&by_hand(), &angel(), &["a"]);
    assert!(refused(&angel, "SELECT SUM(w) FROM microdata WHERE a = 7").contains("in other rows"));
    // Where quasi values are exact, conditions on the weight itself are conditions like any other.
    let said = asked(&published(&by_hand(), &Anatomy, &["a"]), "SELECT COUNT(*), SUM(w) FROM microdata WHERE w > 1");
    assert_eq!((said[0].estimate, said[1].estimate), (Some(3.0), Some(16.0)));
}
