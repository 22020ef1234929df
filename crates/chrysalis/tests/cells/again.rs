//! Cells that come out too large, what is noticed early, and what is said of it.

use super::*;

/// The rows of every part of the first table.
fn part_rows(manifest: &Manifest) -> Vec<u64> {
    manifest.tables[0].parts.iter().map(|part| part.rows).collect()
}

/// Women have one half of the diseases and men the other, so that no cut by `sex` stands beside `beta=0.9`.
pub(super) fn divided() -> People {
    let mut people = People::draw(12, 6_000);
    for (at, row) in people.rows.iter_mut().enumerate() {
        let diseases = ["flu", "cold", "ulcer", "asthma", "gout", "angina", "migraine", "otitis"];
        row[4] = diseases[at % 4 + if row[1] == "F" { 0 } else { 4 }].to_owned();
    }
    people
}

#[test]
fn where_a_cut_does_not_stand_others_are_tried() {
    let people = divided();
    let draft = draft("generalize", json!("disease"), &["beta=0.9"], json!({"missing": "drop"}));
    let ground = tempfile::tempdir().unwrap();
    let (manifest, _) = by_cells(&people, 1 << 16, &draft, 900, &ground.path().join("r")).unwrap();
    let rows = part_rows(&manifest);
    assert!(rows.len() >= 6 && rows.iter().all(|&rows| rows <= 1_125), "{rows:?}");
    assert!(check(&people, &draft, 900) >= 6);
}

/// The first column has a value for every other row, so that no sample holds all combinations.
fn crowded(seed: u64) -> Bytes {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let crowds: Vec<(u32, u32)> = (0..6).map(|_| (rng.random_range(0..1_000), rng.random_range(0..1_000))).collect();
    let mut lines = vec!["x,y,disease".to_owned()];
    for at in 0..150_000_u32 {
        let (x, y) = if at % 5 < 2 {
            crowds[(at / 5) as usize % 6]
        } else {
            (rng.random_range(0..1_000), rng.random_range(0..1_000))
        };
        lines.push(format!("{x},{y},{}", ["flu", "cold", "gout"][at as usize % 3]));
    }
    (lines.join("\n") + "\n").into()
}

fn crowded_draft(require: &str) -> Draft {
    let release = json!({"method": "anatomy", "require": [require], "format": "csv"});
    serde_json::from_value(json!({"quasi": ["x", "y"], "sensitive": "disease", "release": release})).unwrap()
}

fn open_csv(csv: &Bytes, piece_len: usize) -> Input {
    let options = CsvOptions { piece_len, ..CsvOptions::default() };
    Input::of_bytes("rows.csv".to_owned(), csv.clone(), &options).unwrap()
}

/// Six combinations have two fifths of the rows. Whether one of them is in a sample is luck; whether cells are small is not.
#[test]
fn cells_are_small_whatever_the_sample_holds() {
    let (csv, draft) = (crowded(1), crowded_draft("l=2"));
    let recipe = draft.check(&["x", "y", "disease"].map(str::to_owned)).unwrap();
    for seed in 0..6 {
        let ground = tempfile::tempdir().unwrap();
        let place = Place { out: &ground.path().join("r"), force: false };
        let input = open_csv(&csv, 1 << 20);
        let (manifest, _) = publish_by_cells_of(input, &recipe, 14_000, place, Seed::Fixed(seed), &Unwatched).unwrap();
        let rows = part_rows(&manifest);
        assert!(rows.iter().all(|&rows| rows <= 17_500), "{seed}: {rows:?}");
    }
}

#[test]
fn rows_that_no_column_tells_apart_are_named_as_such() {
    let lines: Vec<String> = (0..252_000).map(|at| format!("1,{},{}", at % 3 / 2, ["flu", "cold"][at % 2])).collect();
    let csv: Bytes = format!("x,y,disease\n{}\n", lines.join("\n")).into();
    let refused = |csv: &Bytes, draft: &Draft, message: &str| {
        let ground = tempfile::tempdir().unwrap();
        let recipe = draft.check(&["x", "y", "disease"].map(str::to_owned)).unwrap();
        let place = Place { out: &ground.path().join("r"), force: false };
        let memory = Memory::of(154_000_000);
        let error =
            publish_by_cells(open_csv(csv, 1 << 20), &recipe, memory, place, Seed::Fixed(1), &Unwatched).unwrap_err();
        assert!(error.message.contains(message), "{error:?}");
        assert_eq!(std::fs::read_dir(ground.path()).unwrap().count(), 0);
    };
    refused(&csv, &crowded_draft("l=2"), "168,000 of 252,000 rows stay together in one cell, because no quasi column");
    // Cuts are found, and none of them stands: every value of `x` has one disease.
    let lines: Vec<String> = (0..250_000).map(|at| format!("{},1,{}", at % 2, ["flu", "cold"][at % 2])).collect();
    let csv: Bytes = format!("x,y,disease\n{}\n", lines.join("\n")).into();
    refused(&csv, &crowded_draft("l=2"), "because no cut of them was found whose sides would both keep every promise");
}

/// Notes and phases, and how far reading got.
#[derive(Default)]
struct Listening {
    said: std::sync::Mutex<Vec<String>>,
    phases: std::sync::Mutex<Vec<&'static str>>,
    read: std::sync::atomic::AtomicU64,
}

impl Watch for Listening {
    fn phase(&self, name: &'static str, _: Option<u64>, _: Counted) {
        self.phases.lock().unwrap().push(name);
    }
    fn advance(&self, n: u64) {
        if self.phases.lock().unwrap().last() == Some(&"read") {
            self.read.fetch_add(n, Ordering::Relaxed);
        }
    }
    fn note(&self, sentence: &str) {
        self.said.lock().unwrap().push(sentence.to_owned());
    }
    fn stopped(&self) -> bool {
        false
    }
}

#[test]
fn too_many_values_are_noticed_before_all_are_read() {
    let lines: Vec<String> = (0..1_600_000).map(|at| format!("{at},1,flu")).collect();
    let csv: Bytes = format!("x,y,disease\n{}\n", lines.join("\n")).into();
    let ground = tempfile::tempdir().unwrap();
    let recipe = crowded_draft("k=2").check(&["x", "y", "disease"].map(str::to_owned)).unwrap();
    let place = Place { out: &ground.path().join("r"), force: false };
    let listening = Listening::default();
    let input = open_csv(&csv, 1 << 16);
    let error =
        publish_by_cells(input, &recipe, Memory::of(150_000_000), place, Seed::Fixed(1), &listening).unwrap_err();
    assert!(error.message.contains("different values or more"), "{error:?}");
    let read = listening.read.load(Ordering::Relaxed);
    assert!(read > 0 && read < csv.len() as u64 * 3 / 4, "{read} of {} bytes were read", csv.len());
    assert_eq!(std::fs::read_dir(ground.path()).unwrap().count(), 0);
}

/// LEAK: groups that give values away are refused before any of them is on disk as it would be published.
#[test]
fn nothing_is_written_that_would_be_refused() {
    let people = People::draw(13, 3_000);
    let draft = draft("generalize", json!("cost"), &["k=2"], json!({}));
    let recipe = draft.check(&HEADER.map(str::to_owned)).unwrap();
    let ground = tempfile::tempdir().unwrap();
    let place = Place { out: &ground.path().join("r"), force: false };
    let listening = Listening::default();
    let error =
        publish_by_cells_of(people.input(1 << 12), &recipe, 600, place, Seed::Fixed(1), &listening).unwrap_err();
    assert!(error.message.contains("would be disclosed"), "{error:?}");
    let phases = listening.phases.lock().unwrap();
    assert!(phases.contains(&"partition") && !phases.contains(&"write"), "{phases:?}");
}

#[test]
fn notes_are_those_of_one_piece() {
    let mut people = People::draw(14, 2_000);
    for (at, row) in people.rows.iter_mut().enumerate() {
        row[3] = format!("p{}", 7 * at);
    }
    let header = ["age", "sex", "ward", "patient_id", "disease", "cost", "kept"];
    let csv: Bytes = String::from_utf8(people.csv().to_vec()).unwrap().replacen("since", "patient_id", 1).into();
    let draft = draft("anatomy", json!("disease"), &["l=3"], json!({"quasi": ["age", "sex", "ward", "patient_id"]}));
    let recipe = draft.check(&header.map(str::to_owned)).unwrap();
    let ground = tempfile::tempdir().unwrap();
    let (by_cells, in_one) = (Listening::default(), Listening::default());
    let place = Place { out: &ground.path().join("r"), force: false };
    publish_by_cells_of(open_csv(&csv, 1 << 12), &recipe, 500, place, Seed::Fixed(1), &by_cells).unwrap();
    publish(open_csv(&csv, 1 << 20).read(recipe.requests()).unwrap(), &recipe, Seed::Fixed(1), &in_one).unwrap();
    let said = |listening: Listening| {
        let said = listening.said.into_inner().unwrap().into_iter();
        said.filter(|note| note.contains("looks like an identifier")).collect::<Vec<_>>()
    };
    let said_by_cells = said(by_cells);
    assert_eq!(said_by_cells.len(), 1);
    assert_eq!(said_by_cells, said(in_one));
}

/// The reader has seen all bands; rows that are dropped take some of them out of some pieces.
#[test]
fn bands_keep_the_order_that_the_reader_recognized() {
    let band = |at: usize| if at < 400_000 { ["0-9", "10-19", "90+"][at % 3] } else { ["20-29", "0-9"][at % 2] };
    let y = |at: usize| if at.is_multiple_of(9) { "" } else { ["a", "b"][at % 2] };
    let lines: Vec<String> =
        (0..600_000).map(|at| format!("{},{},{}", band(at), y(at), ["flu", "cold", "gout"][at / 3 % 3])).collect();
    let csv: Bytes = format!("x,y,disease\n{}\n", lines.join("\n")).into();
    let mut draft = crowded_draft("l=2");
    draft.missing = Some("drop".to_owned());
    draft.input = Some("rows.csv".into());
    let recipe = draft.check(&["x", "y", "disease"].map(str::to_owned)).unwrap();
    let ground = tempfile::tempdir().unwrap();
    let place = Place { out: &ground.path().join("r"), force: false };
    let input = draft.open_bytes(csv).unwrap();
    let (manifest, report) = publish_by_cells_of(input, &recipe, 100_000, place, Seed::Fixed(1), &Unwatched).unwrap();
    assert_eq!(report.dropped_rows, 66_667);
    let words = manifest.attributes[0].domain.values.clone().unwrap();
    assert_eq!(words, ["0-9", "10-19", "20-29", "90+"].map(Json::from));
}
