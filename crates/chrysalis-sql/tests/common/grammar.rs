//! Random statements of the whole grammar, as text that DuckDB understands in the same way.

use chrysalis_table::Kind;
use rand::RngExt;
use rand::rngs::ChaCha20Rng;

use super::ask::condition;
use super::{Col, World};

/// A statement in parts, so that a test can add columns to it.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    pub(crate) keys: Vec<String>,
    pub(crate) items: Vec<String>,
    pub(crate) condition: Option<String>,
}

impl Wanted {
    /// The statement, with further keys in front.
    pub(crate) fn sql(&self, more: &[&str]) -> String {
        let keys: Vec<String> = more.iter().map(|&key| key.to_owned()).chain(self.keys.iter().cloned()).collect();
        let named = keys.iter().enumerate().map(|(at, key)| format!("{key} AS k{at}"));
        let items = self.items.iter().enumerate().map(|(at, item)| format!("{item} AS x{at}"));
        let mut sql = format!("SELECT {} FROM microdata", named.chain(items).collect::<Vec<_>>().join(", "));
        if let Some(condition) = &self.condition {
            sql += &format!(" WHERE {condition}");
        }
        if !keys.is_empty() {
            sql += &format!(" GROUP BY {}", keys.join(", "));
        }
        sql
    }
}

fn one_of<'a>(choices: &[&'a str], rng: &mut ChaCha20Rng) -> &'a str {
    choices[rng.random_range(0..choices.len())]
}

fn numbers(world: &World, with_sensitive: bool) -> Vec<usize> {
    let is_number = |col: &usize| matches!(world.cols[*col].kind, Kind::Integer | Kind::Real);
    let end = if with_sensitive { world.cols.len() } else { world.sensitive() };
    (0..end).filter(is_number).collect()
}

/// A term of a column.
fn term(col: &Col, is_plain: bool, rng: &mut ChaCha20Rng) -> String {
    let x = col.name;
    match (col.kind, if is_plain { 0 } else { rng.random_range(0..12) }) {
        (Kind::Integer, 4) => format!("{x} + {}", rng.random_range(-2..5)),
        (Kind::Integer, 5) => format!("{x} * {}", rng.random_range(-2..4)),
        (Kind::Integer, 6) => format!("{x} // {}", rng.random_range(2..4)),
        (Kind::Integer, 7) => format!("ABS({x})"),
        (Kind::Integer, 8) => format!("CASE WHEN {x} > {} THEN {x} ELSE 1 END", rng.random_range(-2..5)),
        (Kind::Integer, 9) => format!("{x} / {}", rng.random_range(2..5)),
        (Kind::Integer, 10) => format!("COALESCE({x}, 3)"),
        (Kind::Integer, 11) => format!("CASE WHEN {x} < {} THEN 2 END", rng.random_range(-2..6)),
        (Kind::Real, 4 | 5) => format!("{x} * 2"),
        (Kind::Real, 6 | 7) => format!("FLOOR({x} / 2)"),
        (Kind::Real, 8) => format!("{x} - 1.5"),
        (Kind::Date, 4..) => format!("EXTRACT({} FROM {x})", one_of(&["DAY", "DOW", "MONTH", "ISODOW"], rng)),
        _ => x.to_owned(),
    }
}

fn test(world: &World, cols: &[usize], rng: &mut ChaCha20Rng) -> String {
    let ints: Vec<usize> = cols.iter().copied().filter(|&col| world.cols[col].kind == Kind::Integer).collect();
    if !ints.is_empty() && rng.random_bool(0.4) {
        let col = &world.cols[ints[rng.random_range(0..ints.len())]];
        let op = one_of(&["=", "<>", "<", "<=", ">", ">="], rng);
        return format!("{} {op} {}", term(col, false, rng), rng.random_range(-3..7));
    }
    let plain: Vec<usize> = cols.iter().copied().filter(|&col| world.cols[col].kind != Kind::Ordinal).collect();
    if plain.is_empty() {
        return "1 = 1 AND s IS NOT NULL".to_owned();
    }
    condition(world, &plain, 1, rng).sql(&world.cols)
}

/// A condition, perhaps one that mixes quasi and sensitive columns.
fn mixed(world: &World, rng: &mut ChaCha20Rng) -> String {
    let quasi: Vec<usize> = (0..world.sensitive()).collect();
    let own = [world.sensitive()];
    match rng.random_range(0..5) {
        0 => test(world, &quasi, rng),
        1 => test(world, &own, rng),
        2 => format!("({}) AND ({})", test(world, &quasi, rng), test(world, &own, rng)),
        3 => format!("({}) OR ({})", test(world, &quasi, rng), test(world, &own, rng)),
        _ => format!("NOT (({}) AND ({}))", test(world, &own, rng), test(world, &quasi, rng)),
    }
}

fn aggregate(world: &World, rng: &mut ChaCha20Rng) -> String {
    let filter = if rng.random_bool(0.25) { format!(" FILTER (WHERE {})", mixed(world, rng)) } else { String::new() };
    let columns = numbers(world, true);
    if columns.is_empty() || rng.random_bool(0.25) {
        let col = world.cols[rng.random_range(0..world.cols.len())];
        let count = match rng.random_range(0..3) {
            0 => "COUNT(*)".to_owned(),
            1 => format!("COUNT({})", col.name),
            _ => format!("COUNT(DISTINCT {})", col.name),
        };
        return count + &filter;
    }
    let col = world.cols[columns[rng.random_range(0..columns.len())]];
    let sensitive = world.cols[world.sensitive()];
    let over = match rng.random_range(0..9) {
        0 if col.name != "s" && matches!(sensitive.kind, Kind::Integer | Kind::Real) => {
            let function = one_of(&["SUM", "AVG"], rng);
            return format!("{function}({} * s){filter}", col.name);
        }
        1 => format!("CASE WHEN {} THEN {} ELSE 1 END", mixed(world, rng), col.name),
        _ => term(&col, false, rng),
    };
    match rng.random_range(0..10) {
        0 => format!("PERCENTILE_CONT(0.{}) WITHIN GROUP (ORDER BY {over}){filter}", rng.random_range(0..10)),
        at => {
            let functions =
                ["SUM", "AVG", "MIN", "MAX", "MEDIAN", "VAR_POP", "VAR_SAMP", "STDDEV_SAMP", "COUNT", "STDDEV_POP"];
            format!("{}({over}){filter}", functions[at])
        }
    }
}

/// A random statement.
pub(crate) fn random(world: &World, rng: &mut ChaCha20Rng) -> Wanted {
    let item = |rng: &mut ChaCha20Rng| match rng.random_range(0..8) {
        0 => format!("{} - {}", aggregate(world, rng), aggregate(world, rng)),
        1 => format!("{} / NULLIF({}, 0)", aggregate(world, rng), aggregate(world, rng)),
        2 => format!("2 * {} + 1", aggregate(world, rng)),
        3 => format!("100.0 * COUNT(*) FILTER (WHERE {}) / NULLIF(COUNT(*), 0)", mixed(world, rng)),
        4 if matches!(world.cols[world.sensitive()].kind, Kind::Integer) && world.cols[0].kind == Kind::Integer => {
            format!("SUM(s * ABS({0})) / NULLIF(SUM(ABS({0})), 0)", world.cols[0].name)
        }
        _ => aggregate(world, rng),
    };
    let items = (0..3).map(|_| item(rng)).collect();
    let condition = rng.random_bool(0.7).then(|| mixed(world, rng));
    let key = |rng: &mut ChaCha20Rng| {
        let col = world.cols[rng.random_range(0..world.cols.len())];
        match (col.kind, rng.random_range(0..3)) {
            (Kind::Integer, 0) => format!("{} > {}", col.name, rng.random_range(-2..5)),
            (Kind::Integer | Kind::Date, 1) => term(&col, false, rng),
            (Kind::Real, _) => format!("FLOOR({})", col.name),
            (_, 2) => format!("CASE WHEN {} THEN 'x' ELSE 'y' END", mixed(world, rng)),
            _ => col.name.to_owned(),
        }
    };
    let mut keys: Vec<String> = (0..rng.random_range(0..3)).map(|_| key(rng)).collect();
    keys.dedup();
    Wanted { keys, items, condition }
}

/// `CREATE TABLE microdata` with all rows of some worlds, which are numbered in the column `wid`.
pub(crate) fn create(cols: &[Col], worlds: &[Vec<Vec<Option<super::Val>>>]) -> String {
    let kind = |kind: Kind| match kind {
        Kind::Integer => "INTEGER",
        Kind::Real => "DOUBLE",
        Kind::Date => "DATE",
        Kind::DateTime => "TIMESTAMP",
        Kind::Ordinal | Kind::Category => "VARCHAR",
    };
    let cell = |(cell, col): (&Option<super::Val>, &Col)| {
        let text = cell.as_ref().map_or_else(|| "NULL".to_owned(), super::Val::sql);
        format!("CAST({text} AS {})", kind(col.kind))
    };
    let rows = worlds.iter().enumerate().flat_map(|(at, rows)| {
        rows.iter().map(move |row| {
            let cells: Vec<String> = row.iter().zip(cols).map(cell).collect();
            format!("({at}, {})", cells.join(", "))
        })
    });
    let names: Vec<&str> = std::iter::once("wid").chain(cols.iter().map(|col| col.name)).collect();
    let rows = rows.collect::<Vec<_>>().join(", ");
    format!("CREATE OR REPLACE TABLE microdata AS SELECT * FROM (VALUES {rows}) AS t({})", names.join(", "))
}
