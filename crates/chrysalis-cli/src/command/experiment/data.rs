//! The table of a run: a file of the data folder, the made-up hospital, or columns that the experiment makes up itself.

use std::path::{Path, PathBuf};

use chrysalis_store::{Input, Source};
use chrysalis_table::{Column, ColumnRequest, CsvOptions, CsvReader, Kind, MissingPolicy, Table};
use rand::RngExt;
use rand::rngs::ChaCha20Rng;
use rand::seq::SliceRandom;

use super::run::{Data, MadeUp, Run};
use crate::args::{self, Choices, ReadArgs};
use crate::failure::Failure;
use crate::plan::{Draft, Plan};
use crate::randomness::generator;
use crate::spec::Spec;

/// Rows of the hospital where nobody says.
const HOSPITAL_ROWS: u64 = 5_000;
/// No experiment makes up more.
const MOST_ROWS: u64 = 10_000_000;

/// What a run publishes and how, as `publish` would be told.
pub(super) fn plan(run: &Run, folder: Option<&Path>) -> Result<Plan, Failure> {
    let (data, release) = (&run.data, &run.release);
    let number = |number: &Option<crate::spec::Number>| number.as_ref().map(crate::spec::Number::text);
    let wrong = |what: &str, problem: String| Failure::bad_input(format!("{what}: {problem}"), "correct the file");
    let quasi = quasi(data, release.method.as_deref())?;
    // An attribute that is left out this time may keep its taxonomy in the file.
    let is_left_out = |name: &String| {
        data.quasi.contains(name) && !quasi.iter().any(|names| names.split(',').any(|used| used == name))
    };
    let taxonomies = data.taxonomies.iter().filter(|(name, _)| !is_left_out(name));
    let choices = Choices {
        taxonomies: taxonomies.map(|(name, file)| (name.clone(), inside(folder, file))).collect(),
        intervals: data.intervals.clone().into_iter().filter(|(name, _)| !is_left_out(name)).collect(),
        prefixes: data.prefixes.iter().filter(|name| !is_left_out(name)).cloned().collect(),
        quasi,
        sensitive: data.sensitive.clone(),
        method: release.method.clone(),
        partitioner: release.partitioner.clone(),
        require: release.require.clone(),
        relaxed: release.relaxed,
        marginals: release.marginals.iter().map(|names| names.join(",")).collect(),
        suppress: number(&release.suppress)
            .map(|text| args::share(&text).map_err(|error| wrong("suppress", error)))
            .transpose()?,
        metric: release
            .metric
            .as_ref()
            .map(|name| args::metric(name).map_err(|error| wrong("metric", error)))
            .transpose()?,
        time_limit: number(&release.time_limit)
            .map(|text| args::seconds(&text).map_err(|error| wrong("time_limit", error)))
            .transpose()?,
        categories: data.sensitive.clone().zip(data.categories.clone()).into_iter().collect(),
        weights: data.weights.clone(),
        read: ReadArgs {
            kinds: data.kinds.iter().map(|(name, kind)| (name.clone(), kind.0)).collect(),
            ..ReadArgs::default()
        },
        ..Choices::default()
    };
    let draft = Draft {
        spec: Spec::default(),
        source: Source::Path(data.file.clone().unwrap_or_default()),
        options: CsvOptions::default(),
        missing: missing(data)?,
    };
    Plan::new(&draft, &choices, &header(data, folder)?)
}

/// Attributes as `--quasi` takes them: one list, or one per user where the method has users.
fn quasi(data: &Data, method: Option<&str>) -> Result<Vec<String>, Failure> {
    if method == Some("butterfly") && !data.quasi_identifiers.is_empty() {
        return Ok(data.quasi_identifiers.iter().map(|names| names.join(",")).collect());
    }
    let mut names = data.quasi.clone();
    for name in data.quasi_identifiers.iter().flatten() {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    match data.attributes {
        Some(n) if n == 0 || n > names.len() => {
            let message = format!("{n} attributes are wanted, and there are {}", names.len());
            Err(Failure::bad_input(message, "correct `data.attributes`"))
        }
        Some(n) => Ok(vec![names[..n].join(",")]),
        None => Ok(vec![names.join(",")]),
    }
}

fn missing(data: &Data) -> Result<MissingPolicy, Failure> {
    let policy = data.missing.as_deref().map_or(Ok(MissingPolicy::AsValue), args::missing);
    policy.map_err(|problem| Failure::bad_input(format!("missing: {problem}"), "correct the file"))
}

fn inside(folder: Option<&Path>, file: &Path) -> PathBuf {
    folder.map_or_else(|| file.to_owned(), |folder| folder.join(file))
}

fn open(file: &Path, folder: Option<&Path>) -> Result<Input, Failure> {
    Ok(Input::open(&Source::Path(inside(folder, file)), &CsvOptions::default())?)
}

fn header(data: &Data, folder: Option<&Path>) -> Result<Vec<String>, Failure> {
    let mut header = match (&data.file, data.hospital) {
        (Some(_), true) => return Err(Failure::bad_input("`file` and `hospital` are both named", "choose one")),
        (Some(file), false) => open(file, folder)?.header().to_vec(),
        (None, true) => chrysalis_example::COLUMNS.map(str::to_owned).to_vec(),
        (None, false) => Vec::new(),
    };
    header.extend(data.columns.iter().map(|column| column.name.clone()));
    Ok(header)
}

/// Reads or makes up the columns that a plan asks for.
pub(super) fn table(run: &Run, requests: &[ColumnRequest], folder: Option<&Path>) -> Result<Table, Failure> {
    let data = &run.data;
    let mut rng = generator(Some(run.seed))?;
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
    // Drawn anew, so that a made-up column of the first rows is that of all rows, cut short.
    let mut rng = generator(Some(run.seed))?;
    for made_up in &data.columns {
        columns.push(draw(made_up, n_rows, &columns, &mut rng)?);
    }
    let (table, _) = Table::new(columns)
        .with_missing(missing(data)?)
        .map_err(|error| Failure::bad_input(error.to_string(), error.hint()))?;
    if table.rows() == 0 { Err(Failure::bad_input("no row is left", "correct `data`")) } else { Ok(table) }
}

fn rows_of(data: &Data) -> Result<u64, Failure> {
    let rows = data.rows.unwrap_or(HOSPITAL_ROWS);
    if (1..=MOST_ROWS).contains(&rows) {
        return Ok(rows);
    }
    Err(Failure::bad_input(
        format!("{rows} rows cannot be made up"),
        format!("`data.rows` lies between 1 and {MOST_ROWS}"),
    ))
}

fn hospital(data: &Data, wanted: &[ColumnRequest]) -> Result<Table, Failure> {
    let mut csv = Vec::new();
    let failed = |error: std::io::Error| Failure::internal(format!("cannot make up patients: {error}"));
    chrysalis_example::write_csv(&mut csv, rows_of(data)?, 1).map_err(failed)?;
    let read = CsvReader::open(&csv[..], &CsvOptions::default()).and_then(|reader| reader.read(wanted));
    read.map_err(|error| Failure::bad_input(error.to_string(), error.hint()))
}

/// The rows that are used, in their order.
fn chosen(data: &Data, table: &Table, rng: &mut ChaCha20Rng) -> Result<Vec<u32>, Failure> {
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

fn draw(made_up: &MadeUp, n_rows: usize, known: &[Column], rng: &mut ChaCha20Rng) -> Result<Column, Failure> {
    let MadeUp { name, words, between, numbered, follows, variance } = made_up;
    let wrong = |problem: &str| {
        Err(Failure::bad_input(format!("made-up column `{name}`: {problem}"), "correct `data.columns`"))
    };
    if !words.is_empty() {
        let drawn: Vec<&str> = (0..n_rows).map(|_| words[rng.random_range(0..words.len())].as_str()).collect();
        return Ok(Column::texts(name, drawn.iter().copied()));
    }
    if *numbered {
        return Ok(Column::integers(name, &(0..n_rows as i64).collect::<Vec<_>>()));
    }
    let Some((low, high)) = *between else { return wrong("it has neither `words`, `between` nor `numbered`") };
    if low > high || high.checked_sub(low).is_none_or(|width| width > i64::from(u32::MAX)) {
        return wrong("`between` are not two numbers in order, or they are too far apart");
    }
    let Some(follows) = follows else {
        return Ok(Column::integers(name, &(0..n_rows).map(|_| rng.random_range(low..=high)).collect::<Vec<_>>()));
    };
    let Some(other) = known.iter().find(|column| column.name() == follows.as_str()) else {
        return wrong("`follows` names no column before it");
    };
    if !(0.0..=1e12).contains(variance) {
        return wrong("`variance` is no number from 0 on");
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

/// Nearly normal, mean 0 and variance 1: twelve uniform numbers in a sum.
fn normal(rng: &mut ChaCha20Rng) -> f64 {
    (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0
}
