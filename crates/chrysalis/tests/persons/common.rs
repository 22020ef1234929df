//! Tables of persons, publishing them, and what a release shows of their groups.

use std::collections::BTreeMap;
use std::sync::Mutex;

use chrysalis::table::{Column, Table};
use chrysalis::{Counted, Draft, Error, Published, Release, Seed, Watch, publish};
use serde_json::Value;

/// One row: whose it is, and its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) person: usize,
    pub(crate) quasi: Vec<i64>,
    pub(crate) words: Vec<String>,
    pub(crate) number: Option<i64>,
}

pub(crate) const QUASI: [&str; 3] = ["age", "zone", "place"];
pub(crate) const WORDS: [&str; 2] = ["disease", "drug"];

/// The rows as a table with columns `id`, some of `QUASI`, some of `WORDS`, and `stamp` for numbers.
pub(crate) fn table(rows: &[Row]) -> Table {
    let texts = |name: &str, texts: Vec<String>| Column::texts(name, texts.iter().map(String::as_str));
    let mut columns = vec![texts("id", rows.iter().map(|row| format!("p{:03}", row.person)).collect())];
    for (at, name) in QUASI.iter().enumerate().take(rows[0].quasi.len()) {
        columns.push(Column::integers(*name, &rows.iter().map(|row| row.quasi[at]).collect::<Vec<_>>()));
    }
    for (at, name) in WORDS.iter().enumerate().take(rows[0].words.len()) {
        columns.push(texts(name, rows.iter().map(|row| row.words[at].clone()).collect()));
    }
    if rows.iter().all(|row| row.number.is_some()) {
        columns.push(Column::integers("stamp", &rows.iter().filter_map(|row| row.number).collect::<Vec<_>>()));
    }
    Table::new(columns)
}

/// Records the notes it receives.
#[derive(Default)]
pub(crate) struct Notes(pub(crate) Mutex<Vec<String>>);

impl Watch for Notes {
    fn phase(&self, _: &'static str, _: Option<u64>, _: Counted) {}

    fn advance(&self, _: u64) {}

    fn note(&self, sentence: &str) {
        self.0.lock().unwrap().push(sentence.to_owned());
    }
}

/// Publishes a table, reading only the columns that are asked for.
pub(crate) fn published(table: &Table, draft: &Value, seed: u64) -> Result<Published, Error> {
    told(table, draft, seed).0
}

/// The same, with the notes.
pub(crate) fn told(table: &Table, draft: &Value, seed: u64) -> (Result<Published, Error>, Vec<String>) {
    let notes = Notes::default();
    let header: Vec<String> = table.columns().iter().map(|column| column.name().to_owned()).collect();
    let draft: Draft = serde_json::from_value(draft.clone()).unwrap();
    let made = draft.check(&header).and_then(|recipe| {
        let columns = recipe.requests().iter().map(|request| table.column(&request.name).unwrap().clone()).collect();
        publish(Table::new(columns), &recipe, Seed::Fixed(seed), &notes)
    });
    (made, notes.0.into_inner().unwrap())
}

pub(crate) fn text(column: &Column, row: usize) -> String {
    column.domain().text(column.code(row)).into_owned()
}

pub(crate) fn number(column: &Column, row: usize) -> i64 {
    text(column, row).parse().unwrap()
}

/// How often a value stands in a group, and how many persons have it, if that is shown.
pub(crate) type Shown = BTreeMap<String, (u64, Option<u64>)>;

/// What a release shows of one group.
#[derive(Clone, Debug, Default)]
pub(crate) struct Group {
    /// `groups.persons`, if there is such a table.
    pub(crate) persons: Option<u64>,
    /// By sensitive column.
    pub(crate) values: BTreeMap<String, Shown>,
    /// The rows of the table of people: for every quasi column what is shown, exact values as ranges of one value.
    pub(crate) rows: Vec<Vec<(i64, i64)>>,
}

/// The groups of a release, by id.
pub(crate) fn groups(release: &Release, quasi: &[&str], sensitive: &[&str]) -> BTreeMap<String, Group> {
    let layout = release.manifest.layout();
    let id = layout.shape.group_id.unwrap();
    let mut groups: BTreeMap<String, Group> = BTreeMap::new();
    let people = release.table(&layout.people().next().unwrap().name).unwrap();
    for row in 0..people.rows() {
        let group = groups.entry(text(people.column(id).unwrap(), row)).or_default();
        let range = |name: &&str| match people.column(name) {
            Some(column) => (number(column, row), number(column, row)),
            None => {
                let end = |end: &str| number(people.column(&format!("{name}_{end}")).unwrap(), row);
                (end("min"), end("max"))
            }
        };
        group.rows.push(quasi.iter().map(range).collect());
    }
    for name in sensitive {
        let at = release.manifest.attributes.iter().position(|attribute| attribute.name == *name).unwrap();
        let table = release.table(&layout.values_of(at).unwrap().name).unwrap();
        let (values, counts) = (table.column(name).unwrap(), table.column("count"));
        for row in 0..table.rows() {
            let group = groups.get_mut(&text(table.column(id).unwrap(), row)).unwrap();
            let shown = group.values.entry((*name).to_owned()).or_default();
            let entry = shown.entry(text(values, row)).or_default();
            match counts {
                None => entry.0 += 1,
                Some(counts) => {
                    let persons = table.column("persons").map(|persons| number(persons, row) as u64);
                    *entry = (number(counts, row) as u64, persons);
                }
            }
        }
    }
    if let Ok(table) = release.table("groups") {
        for row in 0..table.rows() {
            let group = groups.get_mut(&text(table.column(id).unwrap(), row)).unwrap();
            assert!(group.persons.is_none(), "a group is counted twice");
            group.persons = Some(number(table.column("persons").unwrap(), row) as u64);
        }
        assert!(groups.values().all(|group| group.persons.is_some()), "a group is not counted");
    }
    groups
}

/// Numbers that only look random (splitmix64): tables are the same on every machine.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) % n as u64) as usize
    }
}
