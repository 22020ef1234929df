//! Sound releases of every form, with every promise, of a small table that has every kind of column.

use std::sync::Arc;

use chrysalis::{Draft, Seed, Unwatched, publish};
use chrysalis_publish::method::{Anatomy, Generalize, Method, Permute};
use chrysalis_publish::partitioner::Nobody;
use chrysalis_publish::{AttributeSpec, Job, Microdata, Past};
use chrysalis_release::{Release, SeriesEntry};
use chrysalis_table::{Code, Codes, Column, Date, DateTime, Domain, Kind, Role, Table, Value};
use rand::SeedableRng;
use serde_json::{Value as Json, json};

/// A column of values; of words with an order, `order` has all of them.
pub(crate) fn column(name: &str, kind: Kind, cells: &[Option<Value>], order: &[Value]) -> Column {
    let mut values: Vec<Value> = cells.iter().flatten().cloned().collect();
    let compare = |a: &Value, b: &Value| match (a, b) {
        (Value::Real(a), Value::Real(b)) => a.total_cmp(b),
        _ => a.partial_cmp(b).unwrap(),
    };
    values.sort_by(compare);
    values.dedup();
    if kind == Kind::Ordinal {
        let place = |value: &Value| order.iter().position(|it| it == value).unwrap_or(order.len());
        values.sort_by_key(place);
    }
    let has_missing = cells.iter().any(Option::is_none);
    let shift = usize::from(has_missing);
    let code = |cell: &Option<Value>| match cell {
        None => 0,
        Some(value) => (values.iter().position(|it| it == value).unwrap() + shift) as Code,
    };
    let codes = Codes::collect(values.len() + shift, cells.iter().map(code));
    Column::new(name, Arc::new(Domain::new(kind, values.clone(), has_missing)), codes)
}

/// Numbers that look random and are always the same.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n.max(1) as u64) as usize
    }
}

pub(crate) const GRADES: [&str; 4] = ["none", "low", "middle", "high"];
pub(crate) const STAGES: [&str; 6] = ["I", "i", "II", "III", "IV", "V"];
const DISEASES: [&str; 8] = ["HIV", "hiv", "asthma", "flu", "gastritis", "measles", "ulcer", "x, y"];

fn text(word: &str) -> Option<Value> {
    Some(Value::Text(word.into()))
}

fn words(all: &[&str]) -> Vec<Value> {
    all.iter().map(|word| Value::Text((*word).into())).collect()
}

/// 120 rows of 60 persons.
pub(crate) fn people() -> Table {
    let n = 120;
    let mut dice = Dice(0x2545_f491_4f6c_dd1d);
    let mut make =
        |name: &str, kind: Kind, order: &[Value], cell: &mut dyn FnMut(usize, &mut Dice) -> Option<Value>| {
            let cells: Vec<Option<Value>> = (0..n).map(|row| cell(row, &mut dice)).collect();
            column(name, kind, &cells, order)
        };
    Table::new(vec![
        make("person", Kind::Integer, &[], &mut |row, _| Some(Value::Integer(row as i64 / 2))),
        make("age", Kind::Integer, &[], &mut |_, dice| Some(Value::Integer(20 + dice.below(60) as i64))),
        make("sex", Kind::Category, &[], &mut |_, dice| text(["F", "M"][dice.below(2)])),
        make("zip", Kind::Category, &[], &mut |_, dice| text(["1,0", "20", "21", "30", "{x}"][dice.below(5)])),
        make("grade", Kind::Ordinal, &words(&GRADES), &mut |_, dice| text(GRADES[dice.below(4)])),
        make("joined", Kind::Date, &[], &mut |_, dice| Some(Value::Date(Date(18_000 + dice.below(900) as i32)))),
        make("height", Kind::Real, &[], &mut |_, dice| Some(Value::Real(150.0 + dice.below(400) as f64 / 8.0))),
        make("ward", Kind::Category, &[], &mut |row, _| text(["a", "b", "c"][row % 3])),
        make("disease", Kind::Category, &[], &mut |_, dice| text(DISEASES[dice.below(8)])),
        make("illness", Kind::Category, &[], &mut |_, dice| match dice.below(10) {
            0 => None,
            other => text(DISEASES[other % 8]),
        }),
        make("cost", Kind::Integer, &[], &mut |_, dice| Some(Value::Integer(100 * dice.below(90) as i64 + 7))),
        make("wage", Kind::Real, &[], &mut |_, dice| Some(Value::Real(dice.below(4_000) as f64 / 4.0 + 0.1))),
        make("stage", Kind::Ordinal, &words(&STAGES), &mut |_, dice| text(STAGES[dice.below(6)])),
        make("seen", Kind::DateTime, &[], &mut |_, dice| {
            Some(Value::DateTime(DateTime(1_600_000_000_000_000 + dice.below(500) as i64 * 3_600_500_000)))
        }),
    ])
}

fn made(name: &str, draft: Json) -> (String, Release) {
    let people = people();
    let header: Vec<String> = people.columns().iter().map(|column| column.name().to_owned()).collect();
    let draft: Draft = serde_json::from_value(draft).unwrap_or_else(|error| panic!("{name}: {error}"));
    let recipe = draft.check(&header).unwrap_or_else(|error| panic!("{name}: {error}"));
    let published = publish(people, &recipe, Seed::Fixed(7), &Unwatched);
    (name.to_owned(), published.unwrap_or_else(|error| panic!("{name}: {error}")).release)
}

const ILLNESSES: [&str; 6] = ["asthma", "flu", "gout", "measles", "ulcer", "zoster"];

/// Some rows of a table of people and illnesses, whose column knows all illnesses.
fn month(rows: &[u32]) -> Microdata {
    let (people, mut dice) = (people(), Dice(77));
    let ill: Vec<&str> = (0..people.rows()).map(|_| ILLNESSES[dice.below(6)]).collect();
    let own = Column::texts("illness", rows.iter().map(|&row| ill[row as usize]));
    let lacks = |word: &&&str| own.domain().code_of(Some(&Value::Text((**word).into()))).is_none();
    let more = ILLNESSES.iter().filter(lacks).map(|word| Value::Text((*word).into())).collect();
    let names = ["age", "sex", "zip"];
    let quasi = names.iter().map(|name| people.column(name).unwrap().gather(rows));
    let table = Table::new(quasi.chain([own.with_values(more, |_| 0)]).collect());
    let mut roles: Vec<AttributeSpec> =
        names.iter().map(|name| AttributeSpec::new(*name, Role::QuasiIdentifier)).collect();
    roles.push(AttributeSpec::new("illness", Role::Sensitive));
    Microdata::new(table, &roles).unwrap()
}

/// The second release of a series, after one in so many people has left, so that it takes counterfeits.
pub(crate) fn of_series(method: &dyn Method, require: &[&str], one_in: u32) -> (String, Release) {
    // Where too few of a group stay, k stops the second month.
    let made = (3..60).find_map(|seed| second_month(method, require, one_in, seed));
    (format!("series {} {}", method.form(), require.join(" ")), made.unwrap())
}

fn second_month(method: &dyn Method, require: &[&str], one_in: u32, seed: u64) -> Option<Release> {
    let mut rng = rand::rngs::ChaCha20Rng::seed_from_u64(seed);
    let require: Vec<_> = require.iter().map(|text| text.parse().unwrap()).collect();
    let mut publish = |rows: &[u32], past: &Past| {
        let data = month(rows);
        Job::new(&data, &require, &Nobody, &mut rng, &Unwatched).after(past).run(method).ok()
    };
    let first: Vec<u32> = (0..90).collect();
    let groups = publish(&first, &Past::none(90))?.series?;
    let mut signature_of = vec![None; 120];
    for (rows, &signature) in groups.partition.groups().zip(&groups.of_group) {
        rows.iter().for_each(|&row| signature_of[row as usize] = Some(signature));
    }
    let second: Vec<u32> = (0..90).filter(|row| row % one_in != 0).chain(90..93).collect();
    let past = Past {
        lives: (0..groups.signatures.len() as u32).map(|at| vec![at]).collect(),
        signatures: groups.signatures,
        of_row: second.iter().map(|&row| signature_of[row as usize]).collect(),
        takes_changes: false,
        entry: SeriesEntry { number: 2, previous: Some("0".repeat(64)) },
    };
    let outcome = publish(&second, &past)?;
    (outcome.series?.facts.counterfeits > 1).then_some(outcome.release)
}

/// Releases of series, in every form that has them.
pub(crate) fn series() -> Vec<(String, Release)> {
    // With k, values are shown several times; counterfeits are nobody, so k is not that of rows.
    let of_form = |method| [of_series(method, &["m=3"], 4), of_series(method, &["m=3", "k=4"], 7)];
    [&Anatomy as &dyn Method, &Permute, &Generalize].into_iter().flat_map(of_form).collect()
}

/// One release per form and principle, at least.
pub(crate) fn releases() -> Vec<(String, Release)> {
    let quasi = json!(["age", "sex", "zip", "grade", "joined", "height"]);
    let of = |name: &str, sensitive: Json, release: Json| {
        made(name, json!({"quasi": quasi, "sensitive": sensitive, "release": release}))
    };
    let tree = json!([
        ["HIV", "viral", "*"],
        ["hiv", "viral", "*"],
        ["flu", "viral", "*"],
        ["measles", "viral", "*"],
        ["asthma", "lung", "*"],
        ["gastritis", "belly", "*"],
        ["ulcer", "belly", "*"],
        ["x, y", "belly", "*"]
    ]);
    let with = |name: &str, sensitive: Json, attributes: Json, release: Json| {
        made(name, json!({"quasi": quasi, "sensitive": sensitive, "attributes": attributes, "release": release}))
    };
    let categories = json!({"disease": {
        "categories": [["HIV"], ["hiv", "ulcer", "x, y"], ["asthma", "flu", "gastritis", "measles"]],
        "weights": ["1", "1/2", "1/7"]
    }});
    vec![
        of("generalize", json!("disease"), json!({"require": ["k=5", "l=2"]})),
        of(
            "generalize values",
            json!("disease"),
            json!({"require": ["distinct-l=3", "entropy-l=2.5", "recursive-l=3,2"]}),
        ),
        of("generalize t", json!("disease"), json!({"require": ["k=3", "t=0.6"]})),
        with(
            "generalize tree",
            json!("disease"),
            json!({"disease": {"taxonomy": tree}}),
            json!({"require": ["t=0.5", "l=2"]}),
        ),
        of(
            "generalize costs",
            json!("cost"),
            json!({"require": ["k=4", "t=0.4", "distinct-l=3", "l=2", "entropy-l=2"]}),
        ),
        with(
            "generalize near",
            json!("cost"),
            json!({"cost": {"near": 900}}),
            json!({"require": ["l=2", "distinct-l=3", "entropy-l=2", "recursive-l=4,2"]}),
        ),
        with(
            "generalize wages",
            json!("wage"),
            json!({"wage": {"near": 12}}),
            json!({"require": ["k=4", "l=2", "distinct-l=2", "t=0.5"]}),
        ),
        of("generalize wages by default", json!("wage"), json!({"require": ["k=4", "l=2", "entropy-l=2"]})),
        with(
            "generalize weights",
            json!("disease"),
            categories.clone(),
            json!({"require": ["distinct-l-alpha=3,0.5", "entropy-l-alpha=2,1", "recursive-l-alpha=3,2,1"]}),
        ),
        of("generalize beta", json!("disease"), json!({"require": ["beta=3", "alpha-k=0.5,4"]})),
        made(
            "generalize others",
            json!({"quasi": ["age", "sex", "zip"], "sensitive": "disease", "other": ["ward"], "release": {"require": ["k=6", "l=3"], "accept": ["disclosure"]}}),
        ),
        of(
            "generalize missing",
            json!("illness"),
            json!({"require": ["k=4", "l=2", "distinct-l=2", "entropy-l=1.5", "recursive-l=5,2"]}),
        ),
        of("generalize stages", json!("stage"), json!({"require": ["k=4", "t=0.5", "l=2"]})),
        of("generalize dates", json!("seen"), json!({"require": ["k=4", "l=2", "distinct-l=3", "t=0.5"]})),
        with(
            "generalize ordinary",
            json!("disease"),
            json!({"disease": {"ordinary": ["flu", "asthma"]}}),
            json!({"require": ["k=4", "l=2"]}),
        ),
        made(
            "suppressed",
            json!({"quasi": ["age", "sex", "zip"], "sensitive": "disease", "attributes": {"age": {"intervals": [10, 20]}}, "release": {"partitioner": "full-domain", "suppress": 0.3, "require": ["k=5"], "accept": ["disclosure"]}}),
        ),
        of(
            "generalize two",
            json!(["disease", "cost"]),
            json!({"require": ["k=4", "disease:l=2", "cost:distinct-l=3"]}),
        ),
        of("anatomy", json!("disease"), json!({"method": "anatomy", "require": ["l=3", "alpha-k=0.4,3", "beta=3"]})),
        of("anatomy costs", json!("cost"), json!({"method": "anatomy", "require": ["ke=3,500"]})),
        made(
            "anatomy others",
            json!({"quasi": ["age", "sex", "zip"], "sensitive": "illness", "other": ["ward", "grade"], "release": {"method": "anatomy", "require": ["l=2"]}}),
        ),
        of(
            "anatomy two",
            json!(["disease", "stage", "cost"]),
            json!({"method": "anatomy", "require": ["disease:l=2", "stage:l=2", "cost:l=2"], "together": [["disease", "stage"]]}),
        ),
        of("permute", json!("disease"), json!({"method": "permute", "require": ["l=2", "distinct-l=2"]})),
        of("shuffle", json!("cost"), json!({"method": "shuffle", "require": ["ke=3,500"]})),
        of("shuffle wages", json!("wage"), json!({"method": "shuffle", "require": ["ke=3,100"]})),
        of(
            "angel",
            json!("disease"),
            json!({"method": "angel", "marginals": [["age", "sex"], ["zip"]], "require": ["k=4", "l=2"]}),
        ),
        of(
            "angel two",
            json!(["disease", "cost"]),
            json!({"method": "angel", "marginals": [["age", "zip"]], "require": ["k=4", "disease:l=2", "cost:l=2"]}),
        ),
        made(
            "butterfly",
            json!({"quasi": [["age", "sex"], ["sex", "zip"]], "sensitive": "disease", "release": {"method": "butterfly", "require": ["k=4", "l=2"], "accept": ["disclosure"]}}),
        ),
        made(
            "rank-swap",
            json!({"quasi": ["age", "sex"], "sensitive": "cost", "release": {"method": "rank-swap", "require": ["ke=3,500"]}}),
        ),
        made(
            "persons",
            json!({"quasi": ["age", "sex", "zip"], "sensitive": "disease", "person": "person", "release": {"require": ["k=4", "distinct-l=3", "l=1.5"], "accept": ["disclosure"]}}),
        ),
        made(
            "persons anatomy",
            json!({"quasi": ["age", "sex", "zip"], "sensitive": "disease", "person": "person", "rows_known": true, "release": {"method": "anatomy", "require": ["l=1.5", "k=3", "alpha-k=0.7,3", "beta=6"], "accept": ["disclosure"]}}),
        ),
        made(
            "persons angel",
            json!({"quasi": ["age", "sex", "zip"], "sensitive": "disease", "person": "person", "rows_known": true, "release": {"method": "angel", "marginals": [["age"]], "require": ["k=3", "l=1.5"], "accept": ["disclosure"]}}),
        ),
    ]
}
