//! Tampered releases: a lie in the tables or in the manifest, and everything that would give it away by arithmetic
//! (numbers of rows and groups, counts of values) made right again, in half of them.

use chrysalis_audit::AuditReport;
use chrysalis_release::{Accepted, Cell, Holds, Manifest, Release, RoleName, TableLayout};
use chrysalis_table::{Kind, Table, Value};
use serde_json::{Value as Json, json};

use crate::honest::{Dice, column};
use crate::verdict::audit;

/// A tampered release that the audit can judge.
pub(crate) struct Forged {
    pub(crate) kind: &'static str,
    pub(crate) of: String,
    pub(crate) release: Release,
    pub(crate) report: AuditReport,
}

type Cells = Vec<Vec<Option<Value>>>;

/// The cells of a table, row by row.
fn cells(table: &Table) -> Cells {
    let cell = |row: usize| table.columns().iter().map(move |it| it.domain().value(it.code(row)).cloned()).collect();
    (0..table.rows()).map(cell).collect()
}

fn rebuilt(table: &Table, cells: &Cells, manifest: &Manifest, layout: Option<&TableLayout>) -> Table {
    let columns = table.columns().iter().enumerate().map(|(at, old)| {
        let of_column: Vec<Option<Value>> = cells.iter().map(|row| row[at].clone()).collect();
        let cell = layout.and_then(|of| of.columns.get(at)).map(|it| it.cell);
        let order: Vec<Value> = match cell {
            Some(Cell::Value(at) | Cell::Low(at) | Cell::High(at)) => {
                manifest.attributes[at].domain.order().iter().map(|it| Value::Text(it.as_str().into())).collect()
            }
            _ => Vec::new(),
        };
        column(old.name(), old.domain().kind(), &of_column, &order)
    });
    Table::new(columns.collect())
}

fn integer(cell: &Option<Value>) -> i64 {
    match cell {
        Some(Value::Integer(number)) => *number,
        _ => 0,
    }
}

/// A value beyond all others of its kind.
fn beyond(kind: Kind, dice: &mut Dice) -> Value {
    let far = 5_000_000 + dice.below(1_000) as i64;
    match kind {
        Kind::Integer => Value::Integer(far),
        Kind::Real => Value::Real(far as f64 + 0.5),
        Kind::Date => Value::Date(chrysalis_table::Date(60_000 + dice.below(100) as i32)),
        Kind::DateTime => Value::DateTime(chrysalis_table::DateTime(4_000_000_000_000_000 + far)),
        Kind::Ordinal | Kind::Category => Value::Text(format!("odd {far}").into()),
    }
}

/// What a lie is about.
#[derive(Clone, Copy, PartialEq)]
enum Target {
    Holds(Holds),
    Manifest,
}

use Target::Holds as In;

/// Every kind of lie: its name, and the tables it is told in.
const KINDS: [(&str, Target); 58] = [
    ("a row in another group", In(Holds::People)),
    ("two rows exchange groups", In(Holds::People)),
    ("a row without group", In(Holds::People)),
    ("a group of its own", In(Holds::People)),
    ("a group id with a gap", In(Holds::People)),
    ("a row less", In(Holds::People)),
    ("a row twice", In(Holds::People)),
    ("a group less", In(Holds::People)),
    ("two groups become one", In(Holds::People)),
    ("a cell of another row", In(Holds::People)),
    ("a cell beyond the domain", In(Holds::People)),
    ("a missing cell", In(Holds::People)),
    ("a cell of a whole group", In(Holds::People)),
    ("a group with one value", In(Holds::People)),
    ("a group with two values", In(Holds::People)),
    ("a value of another row", In(Holds::People)),
    ("a value for everybody", In(Holds::People)),
    ("an unknown value", In(Holds::People)),
    ("range ends exchanged", In(Holds::People)),
    ("a count too high", In(Holds::Values)),
    ("a count of zero", In(Holds::Values)),
    ("a negative count", In(Holds::Values)),
    ("a missing count", In(Holds::Values)),
    ("a huge count", In(Holds::Values)),
    ("a count moved to another value", In(Holds::Values)),
    ("a line less", In(Holds::Values)),
    ("a line twice", In(Holds::Values)),
    ("a line of another group", In(Holds::Values)),
    ("one value left in a group", In(Holds::Values)),
    ("another value in a line", In(Holds::Values)),
    ("an unknown value in a line", In(Holds::Values)),
    ("a missing value in a line", In(Holds::Values)),
    ("persons of a value", In(Holds::Values)),
    ("a member less", In(Holds::Members)),
    ("a stray member", In(Holds::Members)),
    ("a member of another label", In(Holds::Members)),
    ("a member twice", In(Holds::Members)),
    ("a label renamed", In(Holds::Members)),
    ("a bound changed", In(Holds::Help)),
    ("a help row less", In(Holds::Help)),
    ("a help row twice", In(Holds::Help)),
    ("other hits", In(Holds::Help)),
    ("more persons", In(Holds::Groups)),
    ("no persons", In(Holds::Groups)),
    ("a group not listed", In(Holds::Groups)),
    ("a combination changed", In(Holds::Combinations)),
    ("a combination less", In(Holds::Combinations)),
    ("a counterfeit more", In(Holds::Counterfeits)),
    ("no counterfeits", In(Holds::Counterfeits)),
    ("counterfeits of another group", In(Holds::Counterfeits)),
    ("counterfeits not listed", In(Holds::Counterfeits)),
    ("counterfeits listed twice", In(Holds::Counterfeits)),
    ("a stronger promise", Target::Manifest),
    ("other numbers of rows", Target::Manifest),
    ("other numbers of groups", Target::Manifest),
    ("a wider domain", Target::Manifest),
    ("a narrower domain", Target::Manifest),
    ("other facts about values", Target::Manifest),
];

/// Tampered releases until there are enough that the audit judges; those that it refuses to judge are left out.
pub(crate) fn forge(sound: &[(String, Release)], wanted: usize) -> Vec<Forged> {
    let mut dice = Dice(88_172_645_463_325_252);
    let mut all = Vec::new();
    let mut round = 0;
    while all.len() < wanted && round < wanted * 20 {
        let (kind, target) = KINDS[round % KINDS.len()];
        round += 1;
        let (of, release) = &sound[dice.below(sound.len())];
        let Some(mut forged) = told(release, kind, target, &mut dice) else { continue };
        if dice.below(2) == 0 && target != Target::Manifest {
            repair(&mut forged);
        }
        let Some(report) = audit(&forged) else { continue };
        all.push(Forged { kind, of: of.clone(), release: forged, report });
    }
    all
}

/// A release with one lie; `None` if it cannot be told of this one.
fn told(release: &Release, kind: &str, target: Target, dice: &mut Dice) -> Option<Release> {
    let mut forged = release.clone();
    let Target::Holds(holds) = target else {
        return in_manifest(&mut forged.manifest, kind, dice).then_some(forged);
    };
    let layout = release.manifest.layout();
    let tables: Vec<usize> = (0..release.manifest.tables.len())
        .filter(|&at| layout.table(&release.manifest.tables[at].name).is_some_and(|it| it.holds == holds))
        .collect();
    let at = *tables.get(dice.below(tables.len()))?;
    let of = layout.table(&release.manifest.tables[at].name)?;
    let mut rows = cells(&release.tables[at]);
    let before = rows.clone();
    in_rows(&mut rows, kind, of, &release.manifest, dice)?;
    if rows == before || rows.is_empty() {
        return None;
    }
    forged.tables[at] = rebuilt(&release.tables[at], &rows, &release.manifest, Some(of));
    forged.manifest.tables[at].rows = rows.len() as u64;
    Some(forged)
}

fn place(of: &TableLayout, is: impl Fn(Cell) -> bool) -> Option<usize> {
    of.columns.iter().position(|column| is(column.cell))
}

/// Tells a lie in the rows of a table.
fn in_rows(rows: &mut Cells, kind: &str, of: &TableLayout, manifest: &Manifest, dice: &mut Dice) -> Option<()> {
    let (row, other) = (dice.below(rows.len()), dice.below(rows.len()));
    let id = place(of, |cell| cell == Cell::GroupId);
    let is_sensitive = |at: usize| manifest.attributes[at].role == RoleName::Sensitive;
    let values: Vec<usize> = (0..of.columns.len())
        .filter(|&at| matches!(of.columns[at].cell, Cell::Value(it) if is_sensitive(it)))
        .collect();
    let value = values.get(dice.below(values.len())).copied();
    let shown: Vec<usize> = (0..of.columns.len())
        .filter(|&at| match of.columns[at].cell {
            Cell::Value(it) => !is_sensitive(it),
            Cell::Low(_) | Cell::High(_) | Cell::Label(_) => true,
            _ => false,
        })
        .collect();
    let cell = shown.get(dice.below(shown.len())).copied();
    let kind_of = |at: usize| match of.columns[at].cell {
        Cell::Value(it) | Cell::Low(it) | Cell::High(it) => Kind::from(manifest.attributes[it].kind),
        _ => Kind::Category,
    };
    let count = place(of, |cell| cell == Cell::Count);
    let persons = place(of, |cell| cell == Cell::Persons);
    let same = |rows: &Cells, at: usize, row: usize| -> Vec<usize> {
        (0..rows.len()).filter(|&it| rows[it][at] == rows[row][at]).collect()
    };
    match kind {
        "a row in another group" | "a line of another group" | "counterfeits of another group" => {
            rows[row][id?] = rows[other][id?].clone()
        }
        "two rows exchange groups" => {
            let (a, b) = (rows[row][id?].clone(), rows[other][id?].clone());
            (rows[row][id?], rows[other][id?]) = (b, a);
        }
        "a row without group" => rows[row][id?] = None,
        "a group of its own" => {
            let id = id?;
            let most = rows.iter().map(|row| integer(&row[id])).max()?;
            rows[row][id] = Some(Value::Integer(most + 1));
        }
        "a group id with a gap" => {
            let id = id?;
            let most = rows.iter().map(|row| integer(&row[id])).max()?;
            same(rows, id, row).into_iter().for_each(|it| rows[it][id] = Some(Value::Integer(most + 5)));
        }
        "counterfeits not listed"
        | "a row less"
        | "a line less"
        | "a member less"
        | "a help row less"
        | "a group not listed"
        | "a combination less" => {
            rows.remove(row);
        }
        "counterfeits listed twice" | "a row twice" | "a line twice" | "a member twice" | "a help row twice" => {
            rows.insert(row, rows[row].clone())
        }
        "a group less" => {
            let gone = rows[row][id?].clone();
            rows.retain(|row| row[id.unwrap()] != gone);
        }
        "two groups become one" => {
            let to = rows[other][id?].clone();
            same(rows, id?, row).into_iter().for_each(|it| rows[it][id.unwrap()] = to.clone());
        }
        "a cell of another row" => rows[row][cell?] = rows[other][cell?].clone(),
        "a cell beyond the domain" => rows[row][cell?] = Some(beyond(kind_of(cell?), dice)),
        "a missing cell" => rows[row][cell?] = None,
        "a cell of a whole group" => {
            let to = rows[other][cell?].clone();
            same(rows, id?, row).into_iter().for_each(|it| rows[it][cell.unwrap()] = to.clone());
        }
        "a group with one value" => {
            let to = rows[other][value?].clone();
            same(rows, id?, row).into_iter().for_each(|it| rows[it][value.unwrap()] = to.clone());
        }
        "a group with two values" => {
            let pair = [rows[row][value?].clone(), rows[other][value?].clone()];
            let members = same(rows, id?, row);
            members.into_iter().enumerate().for_each(|(n, it)| rows[it][value.unwrap()] = pair[n % 2].clone());
        }
        "a value of another row" | "another value in a line" => rows[row][value?] = rows[other][value?].clone(),
        "a value for everybody" => {
            let to = rows[row][value?].clone();
            rows.iter_mut().step_by(2).for_each(|row| row[value.unwrap()] = to.clone());
        }
        "an unknown value" | "an unknown value in a line" => rows[row][value?] = Some(beyond(kind_of(value?), dice)),
        "a missing value in a line" => rows[row][value?] = None,
        "range ends exchanged" => {
            let low = place(of, |cell| matches!(cell, Cell::Low(_)))?;
            rows[row].swap(low, low + 1);
        }
        "a count too high" => {
            rows[row][count?] = Some(Value::Integer(integer(&rows[row][count?]) + 1 + dice.below(3) as i64))
        }
        "a counterfeit more" => rows[row][count?] = Some(Value::Integer(integer(&rows[row][count?]) + 1)),
        "no counterfeits" => {
            rows[row][count?] = [None, Some(Value::Integer(0)), Some(Value::Integer(-1))][dice.below(3)].clone()
        }
        "a count of zero" => rows[row][count?] = Some(Value::Integer(0)),
        "a negative count" => rows[row][count?] = Some(Value::Integer(-3)),
        "a missing count" => rows[row][count?] = None,
        "a huge count" => rows[row][count?] = Some(Value::Integer(1 << 40)),
        "a count moved to another value" => {
            let mates = same(rows, id?, row);
            let mate = *mates.iter().find(|&&it| it != row)?;
            rows[mate][count?] = Some(Value::Integer(integer(&rows[mate][count?]) + integer(&rows[row][count?])));
            rows.remove(row);
        }
        "one value left in a group" => {
            let mates = same(rows, id?, row);
            let all: i64 = mates.iter().map(|&it| integer(&rows[it][count.unwrap()])).sum();
            rows[row][count?] = Some(Value::Integer(all));
            let (own, kept) = (rows[row][id?].clone(), rows[row].clone());
            rows.retain(|it| it[id.unwrap()] != own);
            rows.push(kept);
        }
        "persons of a value" | "more persons" => {
            let more = [-1, 1, 2, 60][dice.below(4)];
            rows[row][persons?] = Some(Value::Integer(integer(&rows[row][persons?]) + more));
        }
        "no persons" => {
            rows[row][persons?] = [None, Some(Value::Integer(0)), Some(Value::Integer(-2))][dice.below(3)].clone()
        }
        "a stray member" => {
            let mut row = rows[row].clone();
            row[[0, 1, 2][dice.below(3)]] = Some(Value::Text("stray".into()));
            rows.push(row);
        }
        "a member of another label" => rows[row][2] = rows[other][2].clone(),
        "a label renamed" => rows[row][1] = rows[other][1].clone(),
        "a bound changed" => {
            let at = 2 + dice.below(of.columns.len() - 2);
            rows[row][at] = match &rows[row][at] {
                Some(Value::Integer(number)) => Some(Value::Integer(number + 1)),
                Some(Value::Real(number)) => Some(Value::Real(number * 1.001 + 0.5)),
                _ => None,
            };
        }
        "other hits" => rows[row][1] = Some(Value::Integer(integer(&rows[row][1]) + 1)),
        "a combination changed" => {
            let at = [1, 2, count?][dice.below(3)];
            rows[row][at] = match at == count? {
                true => Some(Value::Integer(integer(&rows[row][at]) + 1)),
                false => rows[other][at].clone(),
            };
        }
        _ => return None,
    }
    Some(())
}

/// Tells a lie in the manifest; false if it cannot be told.
fn in_manifest(manifest: &mut Manifest, kind: &str, dice: &mut Dice) -> bool {
    let mut json: Json = serde_json::from_str(&manifest.to_json().unwrap()).unwrap();
    let n_attributes = manifest.attributes.len();
    let at = dice.below(n_attributes);
    let domain = &mut json["attributes"][at]["domain"];
    match kind {
        "a stronger promise" => {
            let Some(n) = json["promises"].as_array().map(Vec::len).filter(|&n| n > 0) else { return false };
            let promise = &mut json["promises"][dice.below(n)];
            let Some(principle) = promise["principle"].as_str() else { return false };
            let stronger = match principle.split_once('=') {
                Some(("k", _)) => "k=40",
                Some(("l", _)) => ["l=9", "l=4.5"][dice.below(2)],
                Some(("distinct-l", _)) => "distinct-l=9",
                Some(("entropy-l", _)) => "entropy-l=7.5",
                Some(("recursive-l", _)) => "recursive-l=1,4",
                Some(("t", _)) => ["t=0.01", "t=0.2"][dice.below(2)],
                Some(("ke", _)) => ["ke=9,500", "ke=3,8000"][dice.below(2)],
                Some(("alpha-k", _)) => ["alpha-k=0.1,3", "alpha-k=0.9,50"][dice.below(2)],
                Some(("beta", _)) => "beta=0.2",
                Some(("m", _)) => "m=5",
                Some(("others-l", _)) => "others-l=8",
                Some(("distinct-l-alpha", _)) => ["distinct-l-alpha=9,0.5", "distinct-l-alpha=2,40"][dice.below(2)],
                Some(("entropy-l-alpha", _)) => "entropy-l-alpha=3,1",
                Some(("recursive-l-alpha", _)) => "recursive-l-alpha=1,3,1",
                _ => return false,
            };
            promise["principle"] = json!(stronger);
        }
        "other numbers of rows" => {
            let n = json["tables"].as_array().map_or(0, Vec::len);
            // Of a series, the audit counts the rows of everybody itself; files say how many they have.
            if manifest.series.is_some() {
                return false;
            }
            let table = &mut json["tables"][dice.below(n)];
            table["rows"] = json!(table["rows"].as_u64().unwrap() + 1);
        }
        "other numbers of groups" => json["groups"] = json!(manifest.groups + 1),
        "a wider domain" if domain["max"].is_i64() => domain["max"] = json!(domain["max"].as_i64().unwrap() + 1),
        "a narrower domain" if domain["max"].is_i64() => domain["max"] = json!(domain["max"].as_i64().unwrap() - 1),
        "a wider domain" if domain["values"].is_array() => {
            let values = domain["values"].as_array_mut().unwrap();
            if values.last().is_none_or(|it| !it.is_string()) {
                return false;
            }
            values.push(json!("zzz"));
            if let Some(counts) = domain["counts"].as_array_mut() {
                counts.push(json!(0));
            }
        }
        "a narrower domain" if domain["values"].is_array() => {
            domain["values"].as_array_mut().unwrap().pop();
            if let Some(counts) = domain["counts"].as_array_mut() {
                counts.pop();
            }
        }
        "other facts about values" => {
            let sensitive = (0..n_attributes).find(|&at| manifest.attributes[at].role == RoleName::Sensitive);
            let Some(at) = sensitive else { return false };
            let accepts = manifest.accepted.contains(&Accepted::Disclosure);
            let n = json["attributes"][at]["domain"]["counts"].as_array().map_or(0, Vec::len);
            match dice.below(4) {
                0 if n > 0 => {
                    let count = &mut json["attributes"][at]["domain"]["counts"][dice.below(n)];
                    *count = json!(count.as_u64().unwrap_or(0) + 1);
                }
                1 if accepts => json["accepted"] = json!([]),
                2 if !accepts && manifest.version > 1 => json["accepted"] = json!(["disclosure"]),
                _ => json["suppressed"] = json!(manifest.suppressed + 3),
            }
        }
        _ => return false,
    }
    // A manifest is read only with files for its tables.
    for table in json["tables"].as_array_mut().unwrap() {
        let file = format!("{}.csv", table["name"].as_str().unwrap());
        table["parts"] = json!([{"file": file, "rows": table["rows"], "sha256": "0".repeat(64)}]);
    }
    let text = serde_json::to_string(&json).unwrap();
    match Manifest::parse(text.as_bytes()) {
        // Written in the last version, it keeps the version it was read in.
        Ok(parsed) => {
            let version = manifest.version;
            *manifest = Manifest { version, ..parsed };
            true
        }
        Err(_) => false,
    }
}

/// Makes numbers of groups and rows, and counts of values, right again.
fn repair(release: &mut Release) {
    let layout = release.manifest.layout();
    let people =
        release.manifest.tables.iter().position(|it| layout.people().next().is_some_and(|of| of.name == it.name));
    let Some(people) = people else { return };
    release.manifest.rows = release.tables[people].rows() as u64;
    let table = |name: &str| {
        let at = release.manifest.tables.iter().position(|it| it.name == name)?;
        Some((layout.table(name)?, cells(&release.tables[at])))
    };
    let main = layout.people().next().and_then(|of| table(&of.name));
    if let Some((of, rows)) = &main
        && let Some(id) = place(of, |cell| cell == Cell::GroupId)
    {
        let mut ids: Vec<i64> = rows.iter().filter(|row| row[id].is_some()).map(|row| integer(&row[id])).collect();
        ids.sort_unstable();
        ids.dedup();
        release.manifest.groups = ids.len() as u64;
    }
    for at in 0..release.manifest.attributes.len() {
        if release.manifest.attributes[at].role != RoleName::Sensitive {
            continue;
        }
        let Some((of, rows)) = layout.values_of(at).and_then(|of| table(&of.name)) else { continue };
        let Some(value) = place(of, |cell| cell == Cell::Value(at)) else { continue };
        let count = place(of, |cell| cell == Cell::Count);
        let limit = release.manifest.rows as i64;
        let possible = |n: i64| if (1..=limit).contains(&n) { n as u64 } else { 0 };
        let n = |row: &Vec<Option<Value>>| count.map_or(1, |count| possible(integer(&row[count])));
        let domain = &mut release.manifest.attributes[at].domain;
        let Some(values) = &domain.values else { continue };
        let text = |json: &Json| match json {
            Json::Null => None,
            Json::String(text) => Some(text.clone()),
            other => Some(other.to_string()),
        };
        let is_it = |cell: &Option<Value>, json: &Json| match (cell, json) {
            (Some(Value::Real(real)), json) => json.as_f64() == Some(*real),
            (cell, json) => cell.as_ref().map(ToString::to_string) == text(json),
        };
        let counts = values.iter().map(|it| rows.iter().filter(|row| is_it(&row[value], it)).map(n).sum());
        domain.counts = Some(counts.collect());
    }
}
