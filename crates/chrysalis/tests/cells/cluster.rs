//! The steps as a cluster takes them: partitions know nothing of each other, and whatever travels is text or bytes.

use chrysalis::cells::{
    CellCounts, CellFacts, CellPlan, CellRelease, GroupNumbers, PreparedRows, Secret, Survey, Tally,
};
use chrysalis::store::{PartEntry, write_part};

use super::again::divided;
use super::*;

fn travelled<T: serde::Serialize + serde::de::DeserializeOwned>(value: &T) -> T {
    serde_json::from_str(&serde_json::to_string(value).unwrap()).unwrap()
}

/// A table in parts that know nothing of each other, and the steps until its cells are known: whatever travels is text.
struct Cluster {
    recipe: Recipe,
    secret: Secret,
    parts: Vec<PreparedRows>,
}

impl Cluster {
    fn of(people: &People, draft: &Draft, partitions: usize) -> Cluster {
        let recipe = draft.check(&HEADER.map(str::to_owned)).unwrap();
        let part = |rows: &[[String; 7]]| {
            let table = People { rows: rows.to_vec() }.table(draft);
            cells::prepared(table, &recipe).unwrap()
        };
        let parts = people.rows.chunks(people.rows.len().div_ceil(partitions)).map(part).collect();
        Cluster { recipe, secret: cells::secret(Seed::Fixed(7)).unwrap(), parts }
    }

    fn drawn(&self, most_rows: u64) -> CellPlan {
        let mut survey: Option<Survey> = None;
        for part in self.parts.iter().rev() {
            let mut own = cells::survey(&self.recipe, &self.secret);
            own.add(&part.table).unwrap();
            merge(&mut survey, travelled(&own));
        }
        travelled(&cells::draw(&survey.unwrap(), &self.recipe, most_rows, &Unwatched).unwrap())
    }

    fn counted(&self, plan: &CellPlan) -> CellCounts {
        let mut counts = CellCounts::default();
        for part in &self.parts {
            counts.merge(&travelled(&plan.count(&part.table, &self.secret).unwrap()));
        }
        counts
    }

    fn settled(&self, drawn: &CellPlan) -> (CellPlan, CellCounts) {
        let counts = self.counted(drawn);
        let (plan, became) = cells::settled(drawn, &counts, &self.recipe).unwrap();
        let became: Vec<Option<u32>> = became.into_iter().map(Some).collect();
        let counts = counts.moved(&became, plan.n_cells());
        (travelled(&plan), counts)
    }

    fn plan(&self, most_rows: u64) -> CellPlan {
        let (mut plan, mut counts) = self.settled(&self.drawn(most_rows));
        for _ in 0..cells::ROUNDS {
            let large = cells::large(&plan, most_rows);
            let mut surveys: Vec<(u32, Option<Survey>)> = large.iter().map(|&cell| (cell, None)).collect();
            for part in &self.parts {
                let of_rows = plan.route(&part.table).unwrap();
                for (cell, all) in &mut surveys {
                    let own = (0..).zip(&of_rows).filter(|(_, of_row)| *of_row == cell).map(|(row, _)| row);
                    let mut survey = plan.survey(large.len(), &self.secret);
                    survey.add(&part.table.gather(&own.collect::<Vec<u32>>())).unwrap();
                    merge(all, travelled(&survey));
                }
            }
            let surveys: Vec<(u32, Survey)> = surveys.into_iter().map(|(cell, all)| (cell, all.unwrap())).collect();
            if surveys.is_empty() {
                break;
            }
            let (drawn, _) = cells::redrawn(&plan, &counts, &surveys, &self.recipe, most_rows).unwrap();
            (plan, counts) = self.settled(&travelled(&drawn));
        }
        plan
    }

    fn made(&self, plan: &CellPlan, cell: u32) -> Result<CellRelease, Error> {
        let blocks = self.parts.iter().rev().flat_map(|part| plan.blocks(&part.table).unwrap());
        let bytes: Vec<u8> = blocks.filter(|block| block.cell == cell).flat_map(|block| block.bytes).collect();
        let table = cells::decode(plan.whole(), &bytes).unwrap();
        cells::publish_cell(plan, &self.recipe, &self.secret, cell, &table, &Unwatched)
    }
}

fn merge(all: &mut Option<Survey>, own: Survey) {
    match all {
        None => *all = Some(own),
        Some(all) => all.merge(&own).unwrap(),
    }
}

/// The steps as a cluster takes them: rows of a cell come together in any order.
fn by_cluster(people: &People, draft: &Draft, partitions: usize, most_rows: u64, folder: &Path) -> Manifest {
    let cluster = Cluster::of(people, draft, partitions);
    let Cluster { recipe, secret, parts } = &cluster;
    let plan = cluster.plan(most_rows);
    let made = |cell: u32| CellRelease::from_bytes(&cluster.made(&plan, cell).unwrap().to_bytes().unwrap()).unwrap();
    let made: Vec<CellRelease> = (0..plan.n_cells() as u32).map(made).collect();
    let facts: Vec<CellFacts> = made.iter().map(|made| travelled(&made.facts)).collect();
    let numbers = GroupNumbers::new(secret, facts.iter().map(CellFacts::groups).sum());
    let tally = Tally { dropped: parts.iter().map(|part| part.dropped).sum(), steps: Vec::new() };
    let concluded = cells::concluded(&plan, &facts, recipe, tally, Seed::Fixed(7), &Unwatched).unwrap();
    let mut manifest = concluded.manifest;
    let mut put = |name: &str, entry: PartEntry| {
        manifest.tables.iter_mut().find(|table| table.name == name).unwrap().parts.push(entry);
    };
    let write = |name: &str, number: Option<usize>, table: &Table| {
        write_part(folder, name, number, table, recipe.format(), &|_| ()).unwrap()
    };
    let mut first = 0;
    for (at, made) in made.into_iter().enumerate() {
        let groups = made.facts.groups();
        for (name, table) in cells::numbered(made.tables, groups, &numbers, first, &Unwatched).unwrap() {
            put(&name, write(&name, Some(at + 1), &table));
        }
        first += groups;
    }
    concluded.shared.iter().for_each(|(name, table)| put(name, write(name, None, table)));
    manifest
}

#[test]
fn one_machine_and_a_cluster_make_the_same_files() {
    let people = People::draw(11, 3_000);
    for (method, require) in [("anatomy", "l=3"), ("generalize", "t=0.3"), ("generalize", "beta=0.9")] {
        let people = if require == "beta=0.9" { &divided() } else { &people };
        let draft = draft(method, json!("disease"), &[require], json!({"missing": "drop"}));
        let ground = tempfile::tempdir().unwrap();
        let (one, _) = by_cells(people, 1 << 16, &draft, 600, &ground.path().join("one")).unwrap();
        for partitions in [1, 2, 7] {
            let folder = ground.path().join(partitions.to_string());
            std::fs::create_dir(&folder).unwrap();
            let many = by_cluster(&people.shuffled(partitions as u64), &draft, partitions, 600, &folder);
            assert_eq!(many.tables, one.tables, "{method}, {partitions} partitions");
            assert_eq!(Manifest { version: one.version, encoding: one.encoding, ..many }, one);
        }
    }
}

/// Rows that are not those of the phase before, although every column alone has the same values.
#[test]
fn rows_that_changed_between_the_phases_are_noticed() {
    let people = People::draw(15, 2_000);
    let draft = draft("anatomy", json!("disease"), &["l=3"], json!({"missing": "drop"}));
    let was = Cluster::of(&people, &draft, 3);
    let drawn = was.drawn(200);
    let (plan, _) = was.settled(&drawn);
    let noticed = "the table gave other rows when it was read again";
    // By column: two rows trade places in it. Of `sex` and `disease` there are few values, which need not differ.
    for column in [1, 3, 4] {
        let mut changed = People { rows: people.rows.clone() };
        let other = changed.rows.iter().position(|row| !row[0].is_empty() && row[column] != changed.rows[5][column]);
        let (one, other) = (changed.rows[5][column].clone(), other.unwrap());
        changed.rows[5][column] = std::mem::replace(&mut changed.rows[other][column], one);
        let now = Cluster::of(&changed, &draft, 5);
        let error = cells::settled(&drawn, &now.counted(&drawn), &now.recipe).unwrap_err();
        assert!(error.message.contains(noticed), "{column}: {error:?}");
        let cells: Vec<bool> = (0..plan.n_cells() as u32)
            .map(|cell| now.made(&plan, cell).is_err_and(|error| error.message.contains(noticed)))
            .collect();
        assert!(cells.contains(&true) && cells.contains(&false), "{column}: {cells:?}");
    }
}

/// What is told of a cell has neither the values of the whole table nor what a reader would limit.
#[test]
fn facts_of_cells_do_not_grow_with_the_values_of_the_table() {
    let mut people = People::draw(16, 4_000);
    for (at, row) in people.rows.iter_mut().enumerate() {
        row[5] = (1_000_000 + 37 * at).to_string();
    }
    let more = json!({"missing": "drop", "release": {"accept": ["disclosure"]}});
    let cluster = Cluster::of(&people, &draft("shuffle", json!("cost"), &["k=10"], more), 2);
    let plan = cluster.plan(900);
    assert!(plan.n_cells() > 2);
    for cell in 0..plan.n_cells() as u32 {
        let made = cluster.made(&plan, cell).unwrap();
        let told = serde_json::to_string(&made.facts).unwrap();
        assert!(told.len() < 8_000, "{} bytes", told.len());
        let back = serde_json::from_str::<CellFacts>(&told).unwrap().manifest;
        assert_eq!((back.rows, back.groups), (made.facts.manifest.rows, made.facts.manifest.groups));
        assert_eq!((back.tables, back.promises), (made.facts.manifest.tables, made.facts.manifest.promises));
    }
}
