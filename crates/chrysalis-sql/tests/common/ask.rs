//! Random questions.

use chrysalis_table::Kind;
use rand::RngExt;
use rand::rngs::ChaCha20Rng;

use super::{Col, Val, World, value};

/// A condition, as a tree that can be written as SQL and evaluated directly.
#[derive(Clone, Debug)]
pub(crate) enum Cond {
    Compare(usize, &'static str, Option<Val>),
    Between(usize, Option<Val>, Option<Val>),
    In(usize, Vec<Option<Val>>),
    Like(usize, &'static str),
    IsNull(usize),
    Not(Box<Cond>),
    And(Box<Cond>, Box<Cond>),
    Or(Box<Cond>, Box<Cond>),
}

const PATTERNS: [&str; 6] = ["%b%", "b_", "%", "_", "a%", "%'%"];

impl Cond {
    pub(crate) fn sql(&self, cols: &[Col]) -> String {
        let name = |col: &usize| cols[*col].name;
        let constant = |val: &Option<Val>| val.as_ref().map_or_else(|| "NULL".to_owned(), Val::sql);
        match self {
            Cond::Compare(col, op, val) => format!("{} {op} {}", name(col), constant(val)),
            Cond::Between(col, low, high) => format!("{} BETWEEN {} AND {}", name(col), constant(low), constant(high)),
            Cond::In(col, list) => {
                format!("{} IN ({})", name(col), list.iter().map(constant).collect::<Vec<_>>().join(", "))
            }
            Cond::Like(col, pattern) => format!("{} LIKE '{}'", name(col), pattern.replace('\'', "''")),
            Cond::IsNull(col) => format!("{} IS NULL", name(col)),
            Cond::Not(inner) => format!("NOT ({})", inner.sql(cols)),
            Cond::And(a, b) => format!("({} AND {})", a.sql(cols), b.sql(cols)),
            Cond::Or(a, b) => format!("({} OR {})", a.sql(cols), b.sql(cols)),
        }
    }
}

/// A constant: often a value that occurs, sometimes NULL; for numbers, sometimes between two values.
fn constant(world: &World, col: usize, rng: &mut ChaCha20Rng) -> Option<Val> {
    if rng.random_bool(0.05) {
        return None;
    }
    let kind = world.cols[col].kind;
    if kind == Kind::Integer && rng.random_bool(0.2) {
        return Some(Val::Number(f64::from(rng.random_range(-9..19_i32)) / 2.0));
    }
    let known: Vec<&Val> = world.rows.iter().filter_map(|row| row[col].as_ref()).collect();
    if known.is_empty() || (kind != Kind::Ordinal && rng.random_bool(0.3)) {
        return Some(value(kind, rng));
    }
    Some(known[rng.random_range(0..known.len())].clone())
}

/// A test of one column. Ordinals are compared only with values that occur, because others are refused as unknown.
fn test(world: &World, col: usize, rng: &mut ChaCha20Rng) -> Cond {
    let kind = world.cols[col].kind;
    let is_words = matches!(kind, Kind::Ordinal | Kind::Category);
    let has_values = world.rows.iter().any(|row| row[col].is_some());
    let only_equal = kind == Kind::Ordinal && !has_values;
    match rng.random_range(0..8) {
        0..=2 => {
            let ops = ["=", "<>", "<", "<=", ">", ">="];
            let op = ops[rng.random_range(0..if only_equal { 2 } else { 6 })];
            Cond::Compare(col, op, constant(world, col, rng))
        }
        3 | 4 if !only_equal => Cond::Between(col, constant(world, col, rng), constant(world, col, rng)),
        5 if is_words => Cond::Like(col, PATTERNS[rng.random_range(0..PATTERNS.len())]),
        6 => Cond::IsNull(col),
        _ => Cond::In(col, (0..rng.random_range(1..4)).map(|_| constant(world, col, rng)).collect()),
    }
}

/// A tree over some columns.
pub(crate) fn condition(world: &World, cols: &[usize], depth: u32, rng: &mut ChaCha20Rng) -> Cond {
    let deeper = |rng: &mut ChaCha20Rng| Box::new(condition(world, cols, depth - 1, rng));
    match rng.random_range(0..6) {
        0 if depth > 0 => Cond::Not(deeper(rng)),
        1 | 2 if depth > 0 => Cond::And(deeper(rng), deeper(rng)),
        3 if depth > 0 => Cond::Or(deeper(rng), deeper(rng)),
        _ => test(world, cols[rng.random_range(0..cols.len())], rng),
    }
}

/// A question.
#[derive(Clone, Debug)]
pub(crate) struct Ask {
    pub(crate) condition: Option<Cond>,
    /// Function and column; `None` is the star.
    pub(crate) aggregates: Vec<(&'static str, Option<usize>)>,
    pub(crate) keys: Vec<usize>,
}

impl Ask {
    /// A condition on the quasi side and one on the sensitive side, joined by AND; every aggregate.
    pub(crate) fn random(world: &World, max_keys: usize, rng: &mut ChaCha20Rng) -> Ask {
        let sensitive = world.sensitive();
        let quasi: Vec<usize> = (0..sensitive).collect();
        let quasi = rng.random_bool(0.85).then(|| condition(world, &quasi, 3, rng));
        let own = rng.random_bool(0.5).then(|| condition(world, &[sensitive], 2, rng));
        let condition = match (quasi, own) {
            (Some(a), Some(b)) => Some(Cond::And(Box::new(a), Box::new(b))),
            (a, b) => a.or(b),
        };
        let mut aggregates = vec![("count", None), ("count", Some(sensitive)), ("count", Some(0))];
        if matches!(world.cols[sensitive].kind, Kind::Integer | Kind::Real) {
            aggregates.extend(["sum", "avg", "min", "max"].map(|function| (function, Some(sensitive))));
        }
        let mut keys: Vec<usize> =
            (0..rng.random_range(0..=max_keys)).map(|_| rng.random_range(0..=sensitive)).collect();
        keys.dedup();
        keys.sort_unstable();
        keys.dedup();
        Ask { condition, aggregates, keys }
    }

    /// The same question with further functions, of which rewriting and learning know less.
    pub(crate) fn with_more(mut self, world: &World) -> Ask {
        let sensitive = world.sensitive();
        self.aggregates.extend([("count distinct", Some(sensitive)), ("count distinct", Some(0))]);
        if matches!(world.cols[sensitive].kind, Kind::Integer | Kind::Real) {
            self.aggregates.extend(["median", "stddev_pop", "stddev_samp"].map(|function| (function, Some(sensitive))));
        }
        self
    }

    pub(crate) fn sql(&self, world: &World) -> String {
        let name = |col: &usize| world.cols[*col].name.to_owned();
        let aggregates = self.aggregates.iter().enumerate().map(|(at, (function, col))| {
            let (function, distinct) = match *function {
                "count distinct" => ("count", "distinct "),
                function => (function, ""),
            };
            format!("{function}({distinct}{}) AS x{at}", col.as_ref().map_or_else(|| "*".to_owned(), name))
        });
        let selected: Vec<String> = self.keys.iter().map(name).chain(aggregates).collect();
        let mut sql = format!("SELECT {} FROM microdata", selected.join(", "));
        if let Some(condition) = &self.condition {
            sql += &format!(" WHERE {}", condition.sql(&world.cols));
        }
        if !self.keys.is_empty() {
            sql += &format!(" GROUP BY {}", self.keys.iter().map(name).collect::<Vec<_>>().join(", "));
        }
        sql
    }
}
