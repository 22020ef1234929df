//! The table of a run: a file of the data folder, the made-up hospital, or columns that the experiment itself makes up.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use chrysalis::{
    AttributeDraft, Draft, Error, QuasiDraft, Recipe, Seed, SensitiveDraft, TaxonomyDraft, WeightsDraft, values,
};
use chrysalis_store::{Input, Source};
use chrysalis_table::{Column, ColumnRequest, CsvOptions, CsvReader, Kind, MissingPolicy, Table};
use rand::RngExt;
use rand::rngs::ChaCha20Rng;
use rand::seq::SliceRandom;

use super::run::{Data, ExperimentRun, MadeUp};

/// The default number of rows of the hospital.
const HOSPITAL_ROWS: u64 = 5_000;
/// The most rows that an experiment may make up.
const MOST_ROWS: u64 = 10_000_000;

/// The table and release of a run, as an ordinary recipe.
pub(super) fn recipe(run: &ExperimentRun, folder: Option<&Path>) -> Result<Recipe, Error> {
    let data = &run.data;
    let quasi = quasi(run)?;
    let used = match &quasi {
        QuasiDraft::One(names) => names.clone(),
        QuasiDraft::Several(sets) => sets.concat(),
    };
    let mut attributes: BTreeMap<String, AttributeDraft> = BTreeMap::new();
    // An attribute that this run leaves out may keep its taxonomy in the file.
    let is_left_out = |name: &String| data.quasi.contains(name) && !used.contains(name);
    let mut say = |name: &String, what: &dyn Fn(&mut AttributeDraft)| {
        if !is_left_out(name) {
            what(attributes.entry(name.clone()).or_default());
        }
    };
    for (name, kind) in &data.kinds {
        say(name, &|attribute| attribute.kind = Some(*kind));
    }
    for (name, file) in &data.taxonomies {
        say(name, &|attribute| attribute.taxonomy = Some(TaxonomyDraft::File(inside(folder, file))));
    }
    for (name, widths) in &data.intervals {
        say(name, &|attribute| attribute.intervals = Some(widths.clone()));
    }
    for name in &data.prefixes {
        say(name, &|attribute| attribute.prefix = true);
    }
    if let Some(name) = data.sensitive.as_ref().filter(|_| data.categories.is_some() || data.weights.is_some()) {
        say(name, &|attribute| {
            attribute.categories = data.categories.clone();
            attribute.weights = data.weights.clone().map(WeightsDraft::Name);
        });
    }
    let table = Draft {
        input: data.file.clone(),
        missing: data.missing.clone(),
        quasi: Some(quasi),
        sensitive: data.sensitive.clone().map(SensitiveDraft::One),
        attributes,
        ..Draft::default()
    };
    // Some releases of a table use its taxonomies, and some do not.
    let draft = Draft { release: run.release.clone(), ..Draft::default() }.or(table);
    draft.read_taxonomies()?.check(&header(data, folder)?)
}

/// One list of attributes, or one per user if the method has users.
fn quasi(run: &ExperimentRun) -> Result<QuasiDraft, Error> {
    let data = &run.data;
    let has_users = run.release.method()?.form.shape().has_users;
    if has_users && !data.quasi_identifiers.is_empty() {
        return Ok(QuasiDraft::Several(data.quasi_identifiers.clone()));
    }
    let mut names = data.quasi.clone();
    for name in data.quasi_identifiers.iter().flatten() {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    match data.attributes {
        Some(n) if n == 0 || n > names.len() => {
            let message = format!("{n} attributes are wanted, but there are {}", names.len());
            Err(Error::request(message, "correct `data.attributes`"))
        }
        Some(n) => Ok(QuasiDraft::One(names[..n].to_vec())),
        None => Ok(QuasiDraft::One(names)),
    }
}

fn missing(data: &Data) -> Result<MissingPolicy, Error> {
    let policy = data.missing.as_deref().map_or(Ok(MissingPolicy::AsValue), values::missing);
    policy.map_err(|problem| Error::request(format!("missing: {problem}"), "correct the file"))
}

fn inside(folder: Option<&Path>, file: &Path) -> PathBuf {
    folder.map_or_else(|| file.to_owned(), |folder| folder.join(file))
}

fn open(file: &Path, folder: Option<&Path>) -> Result<Input, Error> {
    Ok(Input::open(&Source::Path(inside(folder, file)), &CsvOptions::default())?)
}

fn header(data: &Data, folder: Option<&Path>) -> Result<Vec<String>, Error> {
    let mut header = match (&data.file, data.hospital) {
        (Some(_), true) => return Err(Error::request("`file` and `hospital` are both named", "choose one")),
        (Some(file), false) => open(file, folder)?.header().to_vec(),
        (None, true) => chrysalis_example::COLUMNS.map(str::to_owned).to_vec(),
        (None, false) => Vec::new(),
    };
    header.extend(data.columns.iter().map(|column| column.name.clone()));
    Ok(header)
}

/// Reads or makes up the columns that a recipe asks for.
pub(super) fn table(run: &ExperimentRun, requests: &[ColumnRequest], folder: Option<&Path>) -> Result<Table, Error> {
    let data = &run.data;
    let mut rng = Seed::Fixed(run.seed).generator()?;
    let is_made_up = |name: &String| data.columns.iter().any(|column| column.name == *name);
    let mut wanted: Vec<ColumnRequest> =
        requests.iter().filter(|request| !is_made_up(&request.name)).cloned().collect();
    for name in data.at_most.keys() {
        if !is_made_up(name) && wanted.iter().all(|request| request.name != *name) {
            wanted.push(ColumnRequest::of_kind(name, Kind::Integer));
        }
    }
    let mut table = match &data.file {
        Some(file) => Some(open(file, folder)?.read(&wanted)?),
        None if data.hospital => Some(hospital(data, &wanted)?),
        None => None,
    };
    if let Some(whole) = &mut table {
        let rows = chosen(data, whole, &mut rng)?;
        if rows.len() < whole.rows() {
            *whole = whole.gather(&rows);
        }
    }
    let n_rows = match &table {
        Some(table) => table.rows(),
        None => rows_of(data)? as usize,
    };
    let mut columns = table.map_or_else(Vec::new, |table| table.columns().to_vec());
    // The generator starts over, so that a made-up column of the first rows is the beginning of the column of all rows.
    let mut rng = Seed::Fixed(run.seed).generator()?;
    for made_up in &data.columns {
        columns.push(draw(made_up, n_rows, &columns, &mut rng)?);
    }
    let (table, _) = Table::new(columns).with_missing(missing(data)?).map_err(Error::from)?;
    if table.rows() == 0 { Err(Error::request("no row is left", "correct `data`")) } else { Ok(table) }
}

fn rows_of(data: &Data) -> Result<u64, Error> {
    let rows = data.rows.unwrap_or(HOSPITAL_ROWS);
    if (1..=MOST_ROWS).contains(&rows) {
        return Ok(rows);
    }
    Err(Error::request(format!("{rows} rows cannot be made up"), format!("`data.rows` lies between 1 and {MOST_ROWS}")))
}

fn hospital(data: &Data, wanted: &[ColumnRequest]) -> Result<Table, Error> {
    let mut csv = Vec::new();
    let failed = |error: std::io::Error| Error::internal(format!("cannot make up patients: {error}"));
    chrysalis_example::write_csv(&mut csv, rows_of(data)?, 1).map_err(failed)?;
    let read = CsvReader::open(&csv[..], &CsvOptions::default()).and_then(|reader| reader.read(wanted));
    Ok(read?)
}

/// The rows that are used, in order.
fn chosen(data: &Data, table: &Table, rng: &mut ChaCha20Rng) -> Result<Vec<u32>, Error> {
    let mut rows: Vec<u32> = (0..table.rows() as u32).collect();
    for (name, most) in &data.at_most {
        let Some(column) = table.column(name) else { continue };
        let number = |row: &u32| column.domain().value(column.code(*row as usize)).and_then(|value| value.number());
        rows.retain(|row| number(row).is_some_and(|number| number <= *most));
    }
    if let Some(n) = data.rows {
        if data.sample {
            rows.shuffle(rng);
        }
        rows.truncate(usize::try_from(n).unwrap_or(usize::MAX));
        rows.sort_unstable();
    }
    Ok(rows)
}

fn draw(made_up: &MadeUp, n_rows: usize, known: &[Column], rng: &mut ChaCha20Rng) -> Result<Column, Error> {
    let MadeUp { name, words, between, numbered, follows, variance } = made_up;
    let wrong =
        |problem: &str| Err(Error::request(format!("made-up column `{name}`: {problem}"), "correct `data.columns`"));
    if !words.is_empty() {
        let drawn: Vec<&str> = (0..n_rows).map(|_| words[rng.random_range(0..words.len())].as_str()).collect();
        return Ok(Column::texts(name, drawn.iter().copied()));
    }
    if *numbered {
        return Ok(Column::integers(name, &(0..n_rows as i64).collect::<Vec<_>>()));
    }
    let Some((low, high)) = *between else { return wrong("it has neither `words`, `between` nor `numbered`") };
    if low > high || high.checked_sub(low).is_none_or(|width| width > i64::from(u32::MAX)) {
        return wrong("`between` is not two numbers in order, or they are too far apart");
    }
    let Some(follows) = follows else {
        return Ok(Column::integers(name, &(0..n_rows).map(|_| rng.random_range(low..=high)).collect::<Vec<_>>()));
    };
    let Some(other) = known.iter().find(|column| column.name() == follows.as_str()) else {
        return wrong("`follows` names no column before it");
    };
    if !(0.0..=1e12).contains(variance) {
        return wrong("`variance` is not a number of at least 0");
    }
    let numbers: Vec<f64> = (0..n_rows)
        .map(|row| other.domain().value(other.code(row)).and_then(|value| value.number()).unwrap_or(0.0))
        .collect();
    let (least, most) = numbers.iter().fold((f64::MAX, f64::MIN), |(least, most), &it| (least.min(it), most.max(it)));
    let slope = if most > least { (high - low) as f64 / (most - least) } else { 0.0 };
    let deviation = variance.sqrt();
    let number = |it: &f64| (low as f64 + (it - least) * slope + deviation * normal(rng)).round() as i64;
    Ok(Column::integers(name, &numbers.iter().map(number).collect::<Vec<_>>()))
}

/// Nearly normal with mean 0 and variance 1: the sum of twelve uniform numbers.
fn normal(rng: &mut ChaCha20Rng) -> f64 {
    (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0
}
