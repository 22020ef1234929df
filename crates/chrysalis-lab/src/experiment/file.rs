//! The file that describes an experiment.
//!
//! A file is one table with everything that all runs share. `[[panel]]` and `[[series]]` say what is different in one
//! panel or one line of it, and `{l}` anywhere in a text stands for the swept value. Laying all of these over each
//! other gives a run.

use std::path::Path;

use chrysalis::Error;
use chrysalis::files::{parse_toml, read_text};
use serde::Deserialize;
use toml::{Table, Value};

use super::measure::Measure;
use super::run::ExperimentRun;

const HINT: &str = "the files under `experiments/` show how it is done";

/// A figure or table of a paper.
pub struct Experiment {
    /// The file's name without `.toml`.
    pub name: String,
    pub(super) head: Head,
    pub(super) panels: Vec<Panel>,
}

/// The descriptive texts.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Head {
    pub(super) title: String,
    /// The paper's short name.
    pub(super) paper: String,
    /// `figure 1`.
    pub(super) figure: String,
    /// The paper's claim.
    pub(super) claim: String,
    /// Our result, and an explanation if it differs.
    #[serde(default)]
    pub(super) notes: String,
}

/// One chart and one table per measure.
pub(super) struct Panel {
    pub(super) name: String,
    pub(super) sweep: Sweep,
    pub(super) measures: Vec<Measure>,
    /// The measures to plot.
    pub(super) plots: Vec<Measure>,
    /// Whether the vertical axis is logarithmic.
    pub(super) is_logarithmic: bool,
    pub(super) series: Vec<Series>,
    /// Whether made-up data stand in for a file.
    pub(super) stands_in: bool,
}

/// The swept parameter.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Sweep {
    /// The parameter's name; in braces, it is replaced by each value.
    pub(super) parameter: String,
    pub(super) values: Vec<Value>,
    /// The label of the axis; by default the parameter.
    #[serde(default)]
    pub(super) label: String,
}

/// One line of a chart.
pub(super) struct Series {
    pub(super) name: String,
    /// The paper's numbers for the first measure, one per value; empty if it prints none.
    pub(super) paper: Vec<f64>,
    /// One run per value of the sweep.
    pub(super) runs: Vec<ExperimentRun>,
}

impl Experiment {
    /// Reads a file; `folder` contains the data, as far as available.
    pub fn load(path: &Path, folder: Option<&Path>) -> Result<Experiment, Error> {
        let mut rest: Table = parse_toml(path, &read_text(path)?, HINT)?;
        let place = path.display().to_string();
        let mut head = Table::new();
        for key in ["title", "paper", "figure", "claim", "notes"] {
            head.extend(rest.remove(key).map(|value| (key.to_owned(), value)));
        }
        let head = read(Value::Table(head), &place)?;
        let panels = match rest.remove("panel") {
            Some(panels) => tables(panels, "panel", &place)?,
            None => vec![Table::new()],
        };
        let panels = panels.iter().map(|panel| Panel::new(&rest, panel, folder, &place)).collect::<Result<_, _>>()?;
        let name = path.file_stem().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        Ok(Experiment { name, head, panels })
    }

    /// Whether made-up data stand in for a file anywhere.
    pub fn stands_in(&self) -> bool {
        self.panels.iter().any(|panel| panel.stands_in)
    }

    /// How many releases are examined.
    pub fn n_runs(&self) -> u64 {
        self.panels.iter().flat_map(|panel| &panel.series).map(|series| series.runs.len() as u64).sum()
    }
}

/// A panel's own settings; everything else is about its runs.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PanelHead {
    #[serde(default)]
    name: String,
    sweep: Sweep,
    measures: Vec<Measure>,
    #[serde(default)]
    plots: Vec<Measure>,
    #[serde(default)]
    logarithmic: bool,
}

impl Panel {
    fn new(shared: &Table, own: &Table, folder: Option<&Path>, place: &str) -> Result<Panel, Error> {
        let mut all = shared.clone();
        overlay(&mut all, own);
        let mut series = match all.remove("series") {
            Some(series) => tables(series, "series", place)?,
            None => return Err(wrong(place, "there is no [[series]]")),
        };
        let stand_in = all.remove("stand_in");
        let stands_in = std::iter::once(&all).chain(&series).filter_map(file).any(|file| !is_there(folder, file));
        if stands_in {
            let Some(Value::Table(mut stand_in)) = stand_in else {
                let problem = "the data are not there, and there is no [stand_in] to take their place";
                return Err(wrong(place, problem));
            };
            all.extend(stand_in.remove("data").map(|data| ("data".to_owned(), data)));
            overlay(&mut all, &stand_in);
            series.iter_mut().for_each(|series| drop(series.remove("data")));
        }
        let mut head = Table::new();
        for key in ["name", "sweep", "measures", "plots", "logarithmic"] {
            head.extend(all.remove(key).map(|value| (key.to_owned(), value)));
        }
        let head: PanelHead = read(Value::Table(head), place)?;
        let place = if head.name.is_empty() { place.to_owned() } else { format!("{place}, panel `{}`", head.name) };
        let Some(&first) = head.measures.first() else { return Err(wrong(&place, "`measures` is empty")) };
        if head.sweep.values.is_empty() {
            return Err(wrong(&place, "`sweep.values` is empty"));
        }
        let series = series
            .into_iter()
            .map(|series| Series::new(&all, series, &head.sweep, &place))
            .collect::<Result<_, _>>()?;
        Ok(Panel {
            plots: if head.plots.is_empty() { vec![first] } else { head.plots },
            name: head.name,
            sweep: head.sweep,
            measures: head.measures,
            is_logarithmic: head.logarithmic,
            series,
            stands_in,
        })
    }
}

/// Settings of a release that a series may give without the prefix `release.`.
const OF_RELEASE: [&str; 8] =
    ["method", "partitioner", "require", "marginals", "relaxed", "suppress", "metric", "time_limit"];

impl Series {
    fn new(shared: &Table, mut own: Table, sweep: &Sweep, place: &str) -> Result<Series, Error> {
        let name = match own.remove("name") {
            Some(Value::String(name)) => name,
            _ => return Err(wrong(place, "a [[series]] has no name")),
        };
        let place = format!("{place}, series `{name}`");
        let paper: Vec<f64> = own.remove("paper").map_or(Ok(Vec::new()), |paper| read(paper, &place))?;
        if !paper.is_empty() && paper.len() != sweep.values.len() {
            return Err(wrong(&place, "`paper` has another number of values than the sweep"));
        }
        let mut release = Table::new();
        for key in OF_RELEASE {
            release.extend(own.remove(key).map(|value| (key.to_owned(), value)));
        }
        let mut all = shared.clone();
        overlay(&mut all, &Table::from_iter([("release".to_owned(), Value::Table(release))]));
        overlay(&mut all, &own);
        let run = |value: &Value| {
            let mut all = Value::Table(all.clone());
            substitute(&mut all, &format!("{{{}}}", sweep.parameter), value);
            read(all, &place)
        };
        let runs = sweep.values.iter().map(run).collect::<Result<_, _>>()?;
        Ok(Series { name, paper, runs })
    }
}

fn wrong(place: &str, problem: &str) -> Error {
    Error::request(format!("{place}: {problem}"), HINT)
}

fn read<T: for<'de> Deserialize<'de>>(value: Value, place: &str) -> Result<T, Error> {
    value.try_into().map_err(|error: toml::de::Error| wrong(place, &error.message().replace('\n', ", ")))
}

fn tables(value: Value, name: &str, place: &str) -> Result<Vec<Table>, Error> {
    let found: Option<Vec<Table>> = match value {
        Value::Array(values) => {
            values.into_iter().map(|value| if let Value::Table(table) = value { Some(table) } else { None }).collect()
        }
        _ => None,
    };
    found.filter(|found| !found.is_empty()).ok_or_else(|| wrong(place, &format!("`{name}` is written [[{name}]]")))
}

fn file(table: &Table) -> Option<&str> {
    table.get("data")?.as_table()?.get("file")?.as_str()
}

fn is_there(folder: Option<&Path>, file: &str) -> bool {
    folder.is_some_and(|folder| folder.join(file).is_file())
}

/// Lays a table over another: tables are merged, everything else is replaced.
fn overlay(under: &mut Table, over: &Table) {
    for (key, value) in over {
        match (under.get_mut(key), value) {
            (Some(Value::Table(under)), Value::Table(over)) => overlay(under, over),
            _ => drop(under.insert(key.clone(), value.clone())),
        }
    }
}

/// Replaces `{name}` with a value; a text that is nothing else becomes the value itself.
fn substitute(all: &mut Value, name: &str, value: &Value) {
    match all {
        Value::String(text) if text == name => *all = value.clone(),
        Value::String(text) => *text = text.replace(name, &shown(value)),
        Value::Array(values) => values.iter_mut().for_each(|part| substitute(part, name, value)),
        Value::Table(table) => table.iter_mut().for_each(|(_, part)| substitute(part, name, value)),
        _ => {}
    }
}

/// A value as people write it.
pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(text: &str) -> Table {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn tables_are_merged_and_everything_else_is_replaced() {
        let mut under = table("a = 1\nb = [1, 2]\n[c]\nd = 1\ne = 2");
        overlay(&mut under, &table("b = [3]\n[c]\ne = 3\nf = 4"));
        assert_eq!(under, table("a = 1\nb = [3]\n[c]\nd = 1\ne = 3\nf = 4"));
    }

    #[test]
    fn a_swept_value_keeps_its_kind_where_it_stands_alone() {
        let mut all = Value::Table(table("rows = \"{n}\"\nrequire = [\"l={n}\", \"k=2\"]"));
        substitute(&mut all, "{n}", &Value::Integer(7));
        assert_eq!(all, Value::Table(table("rows = 7\nrequire = [\"l=7\", \"k=2\"]")));
    }

    /// Experiments under `experiments/` must be valid with the data and without them.
    #[test]
    fn every_experiment_that_we_ship_can_be_read() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments");
        let data = tempfile::tempdir().unwrap();
        for file in ["census_sal_500k", "census_occ_100k", "adult_complete", "adult_capital_loss"] {
            std::fs::write(data.path().join(format!("{file}.csv.gz")), "").unwrap();
        }
        let mut names = Vec::new();
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let with = Experiment::load(&path, Some(data.path())).unwrap();
            assert!(with.panels.iter().all(|panel| !panel.stands_in), "{}", with.name);
            let without = Experiment::load(&path, None).unwrap();
            assert_eq!(with.panels.len(), without.panels.len());
            for run in without.panels.iter().flat_map(|panel| &panel.series).flat_map(|series| &series.runs) {
                super::super::data::recipe(run, None).unwrap_or_else(|error| panic!("{}: {error}", without.name));
            }
            assert!(!with.head.notes.is_empty() && with.n_runs() > 0, "{}", with.name);
            names.push(with.name);
        }
        assert_eq!(names.len(), 23, "{names:?}");
    }
}
