//! Results as CSV, Markdown and charts.

use std::fmt::Write;

use chrysalis::words::{count, csv_line};
use chrysalis_report::chart::{Axis, Chart, Mark, Point, Series as Line};
use serde_json::{Value, json};

use super::file::{Experiment, Panel, shown};
use super::measure::Measure;
use super::{Results, RunResult, origin};

/// The result of an experiment.
pub struct ExperimentResult {
    /// The files that describe it: names and texts.
    pub files: Vec<(String, String)>,
    /// Its title.
    pub heading: String,
    /// The first measure of every panel.
    pub tables: Vec<PanelTable>,
    /// As JSON.
    pub json: Value,
    /// For spreadsheets: a header and one line per run.
    pub rows: Vec<Vec<String>>,
    /// All of it, as a chapter of a text about several experiments.
    chapter: String,
}

/// A table for a terminal.
pub struct PanelTable {
    /// What it shows, and for which data.
    pub title: String,
    /// The names of the columns.
    pub header: Vec<String>,
    /// The lines.
    pub rows: Vec<Vec<String>>,
}

impl ExperimentResult {
    pub(super) fn new(experiment: &Experiment, results: Results) -> Self {
        let rows = rows(experiment, &results);
        let panels = experiment.panels.iter().zip(&results);
        ExperimentResult {
            files: files(experiment, &results),
            heading: heading(experiment),
            tables: panels.map(|(panel, results)| panel_table(panel, results)).collect(),
            json: to_json(experiment, &results, &rows),
            chapter: markdown(experiment, &results, 2),
            rows,
        }
    }
}

fn panel_table(panel: &Panel, results: &[Vec<RunResult>]) -> PanelTable {
    let measure = panel.measures[0];
    let line = |(place, value): (usize, &toml::Value)| {
        let cells = results.iter().map(|results| cell(&results[place], 0, measure));
        std::iter::once(shown(value)).chain(cells).collect()
    };
    let name = if panel.name.is_empty() { String::new() } else { format!("{}: ", panel.name) };
    let data = data(panel, results).replace(['*', '`'], "");
    let names = panel.series.iter().map(|it| it.name.clone());
    PanelTable {
        title: format!("{name}{} ({data})", measure.label()),
        header: std::iter::once(axis_label(panel).to_owned()).chain(names).collect(),
        rows: panel.sweep.values.iter().enumerate().map(line).collect(),
    }
}

/// The files of one experiment: names and contents.
fn files(experiment: &Experiment, results: &Results) -> Vec<(String, String)> {
    let name = &experiment.name;
    let mut files = vec![(format!("{name}.md"), markdown(experiment, results, 1))];
    files.push((format!("{name}.csv"), rows(experiment, results).iter().map(|row| csv_line(row)).collect()));
    for (panel, results) in experiment.panels.iter().zip(results) {
        for &measure in &panel.plots {
            files.push((picture(experiment, panel, measure), chart(experiment, panel, results, measure).to_svg()));
        }
    }
    files
}

/// Several experiments as one text.
pub fn together(outcomes: &[ExperimentResult]) -> String {
    let chapters: Vec<&str> = outcomes.iter().map(|outcome| outcome.chapter.as_str()).collect();
    format!("# Results\n\n{}", chapters.join("\n"))
}

/// The file name of a chart: the experiment's name, with panel and measure if there are several.
fn picture(experiment: &Experiment, panel: &Panel, measure: Measure) -> String {
    let plain = |text: &str| -> String {
        let lower = text.to_lowercase();
        let words = lower.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
        words.collect::<Vec<_>>().join("-")
    };
    let mut name = experiment.name.clone();
    if experiment.panels.len() > 1 {
        let place = experiment.panels.iter().position(|other| std::ptr::eq(other, panel)).unwrap_or(0);
        let _ = write!(name, "-{}", if panel.name.is_empty() { place.to_string() } else { plain(&panel.name) });
    }
    if panel.plots.len() > 1 {
        let _ = write!(name, "-{}", measure.name());
    }
    format!("{name}.svg")
}

fn heading(experiment: &Experiment) -> String {
    let head = &experiment.head;
    format!("{}, {}: {}", head.paper, head.figure, head.title)
}

fn markdown(experiment: &Experiment, results: &Results, level: usize) -> String {
    let head = &experiment.head;
    let mut text = format!("{} {}\n\n", "#".repeat(level), heading(experiment));
    let _ = writeln!(text, "{}\n", wrapped(&format!("The paper: {}", head.claim), "> "));
    for (panel, results) in experiment.panels.iter().zip(results) {
        if !panel.name.is_empty() {
            let _ = writeln!(text, "**{}**\n", panel.name);
        }
        let _ = writeln!(text, "Data: {}.\n", data(panel, results));
        if let Some(sentence) = disclosed(panel, results) {
            let _ = writeln!(text, "{}\n", wrapped(&sentence, ""));
        }
        for &measure in &panel.plots {
            let _ = writeln!(text, "![{}]({})\n", measure.label(), picture(experiment, panel, measure));
        }
        for at in 0..panel.measures.len() {
            let _ = writeln!(text, "{}", table(panel, results, at));
        }
    }
    if !head.notes.trim().is_empty() {
        let paragraphs: Vec<String> = head.notes.trim().split("\n\n").map(|text| wrapped(text, "")).collect();
        let _ = writeln!(text, "{}", paragraphs.join("\n\n"));
    }
    text
}

/// The longest line in a page's text.
const LINE: usize = 118;

/// A paragraph wrapped to lines that fit on a screen.
fn wrapped(text: &str, indent: &str) -> String {
    let mut lines = vec![indent.to_owned()];
    for word in text.split_whitespace() {
        let line = lines.last().map_or(0, |line| line.chars().count());
        if line > indent.len() && line + 1 + word.chars().count() > LINE {
            lines.push(indent.to_owned());
        }
        if let Some(line) = lines.last_mut() {
            line.push_str(if line.len() > indent.len() { " " } else { "" });
            line.push_str(word);
        }
    }
    lines.join("\n")
}

/// Which data a panel's runs used, without repetition.
fn data(panel: &Panel, results: &[Vec<RunResult>]) -> String {
    let mut said: Vec<String> = Vec::new();
    for (series, results) in panel.series.iter().zip(results) {
        let rows: Vec<usize> = results.iter().filter_map(rows_of).collect();
        let Some((least, most)) = rows.iter().min().zip(rows.iter().max()) else { continue };
        let origin = series.runs.first().map(origin).unwrap_or_default();
        let rows = if least == most {
            count(*most as u64)
        } else {
            format!("{} to {}", count(*least as u64), count(*most as u64))
        };
        let sentence = format!("{origin}, {rows} rows");
        if !said.contains(&sentence) {
            said.push(sentence);
        }
    }
    said.join("; ")
}

/// Which series disclose rows, and at most how many.
fn disclosed(panel: &Panel, results: &[Vec<RunResult>]) -> Option<String> {
    let most = |results: &[RunResult]| {
        let found = results.iter().filter_map(|found| match found {
            RunResult::Values { disclosed: Some(disclosed), rows, .. } if *disclosed > 0 => {
                Some((*disclosed, *rows as u64))
            }
            RunResult::Values { .. } | RunResult::OutOfReach => None,
        });
        found.max()
    };
    let series = panel.series.iter().zip(results);
    let said: Vec<String> = series
        .filter_map(|(series, results)| {
            let (disclosed, rows) = most(results)?;
            Some(format!("{} up to {} of {}", series.name, count(disclosed), count(rows)))
        })
        .collect();
    (!said.is_empty()).then(|| {
        format!(
            "Rows disclosed (their groups leave a single sensitive value that is not ordinary): {}.",
            said.join("; ")
        )
    })
}

fn rows_of(found: &RunResult) -> Option<usize> {
    if let RunResult::Values { rows, .. } = found { Some(*rows) } else { None }
}

fn value_of(found: &RunResult, measure: usize) -> Option<f64> {
    if let RunResult::Values { values, .. } = found { values[measure] } else { None }
}

fn cell(found: &RunResult, at: usize, measure: Measure) -> String {
    match found {
        RunResult::OutOfReach => "out of reach".to_owned(),
        RunResult::Values { values, .. } => values[at].map_or_else(|| "–".to_owned(), |value| measure.shown(value)),
    }
}

/// One line per value of the sweep and one column per series, with the paper's numbers beside ours.
fn table(panel: &Panel, results: &[Vec<RunResult>], at: usize) -> String {
    let measure = panel.measures[at];
    let mut header = vec![format!("{} by {}", measure.label(), axis_label(panel))];
    for series in &panel.series {
        header.push(series.name.clone());
        if at == 0 && !series.paper.is_empty() {
            header.push("as printed".to_owned());
        }
    }
    let mut text = format!("| {} |\n|---|{}\n", header.join(" | "), "---:|".repeat(header.len() - 1));
    for (place, value) in panel.sweep.values.iter().enumerate() {
        let mut cells = vec![shown(value)];
        for (series, results) in panel.series.iter().zip(results) {
            cells.push(cell(&results[place], at, measure));
            if at == 0 && !series.paper.is_empty() {
                cells.push(measure.shown(series.paper[place]));
            }
        }
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    text
}

fn axis_label(panel: &Panel) -> &str {
    if panel.sweep.label.is_empty() { &panel.sweep.parameter } else { &panel.sweep.label }
}

fn chart(experiment: &Experiment, panel: &Panel, results: &[Vec<RunResult>], measure: Measure) -> Chart {
    let numbers: Option<Vec<f64>> =
        panel.sweep.values.iter().map(|value| value.as_float().or(value.as_integer().map(|it| it as f64))).collect();
    let x = match &numbers {
        Some(numbers) => Axis::linear(axis_label(panel)).ticks_at(numbers.iter().copied()),
        None => Axis::categories(axis_label(panel), panel.sweep.values.iter().map(shown)),
    };
    let places: Vec<f64> = numbers.unwrap_or_else(|| (0..panel.sweep.values.len()).map(|at| at as f64).collect());
    let y = if panel.is_logarithmic { Axis::log(measure.label()) } else { Axis::linear(measure.label()).from_zero() };
    let y = if measure.is_share() { y.percent() } else { y };
    let title =
        if panel.name.is_empty() { heading(experiment) } else { format!("{} ({})", heading(experiment), panel.name) };
    let id = picture(experiment, panel, measure);
    let mut chart = Chart::new(title, x, y).id(id.trim_end_matches(".svg")).described(experiment.head.claim.trim());
    let at = panel.measures.iter().position(|known| *known == measure).unwrap_or(0);
    for (series, results) in panel.series.iter().zip(results) {
        let of_value = |value: Option<f64>| value.unwrap_or(f64::NAN);
        let ours = places.iter().zip(results).map(|(x, found)| (*x, of_value(value_of(found, at))));
        chart.push(Line::line(series.name.as_str(), ours));
        if at == 0 && !series.paper.is_empty() {
            let theirs = places.iter().zip(&series.paper).map(|(x, y)| Point::new(*x, *y));
            chart.push(Line::new(format!("{}, as printed", series.name), Mark::Points, theirs));
        }
    }
    chart
}

/// A header and one row per run.
fn rows(experiment: &Experiment, results: &Results) -> Vec<Vec<String>> {
    let mut measures: Vec<Measure> = Vec::new();
    for measure in experiment.panels.iter().flat_map(|panel| &panel.measures) {
        if !measures.contains(measure) {
            measures.push(*measure);
        }
    }
    let fixed = ["experiment", "panel", "series", "parameter", "value", "rows", "stand_in"];
    let header = fixed.iter().copied().chain(measures.iter().map(|measure| measure.name())).map(str::to_owned);
    let mut rows = vec![header.collect()];
    for (panel, results) in experiment.panels.iter().zip(results) {
        for (series, results) in panel.series.iter().zip(results) {
            for (value, found) in panel.sweep.values.iter().zip(results) {
                let rows_read = rows_of(found).map_or_else(String::new, |rows| rows.to_string());
                let mut row = vec![experiment.name.clone(), panel.name.clone(), series.name.clone()];
                row.extend([panel.sweep.parameter.clone(), shown(value), rows_read, panel.stands_in.to_string()]);
                for measure in &measures {
                    let at = panel.measures.iter().position(|known| known == measure);
                    let number = at.and_then(|at| value_of(found, at));
                    row.push(number.map_or_else(String::new, |number| number.to_string()));
                }
                rows.push(row);
            }
        }
    }
    rows
}

fn to_json(experiment: &Experiment, results: &Results, rows: &[Vec<String>]) -> Value {
    let head = &experiment.head;
    let run = |(panel, series, place): (&Panel, usize, usize), found: &RunResult| {
        let measures: serde_json::Map<String, Value> = (panel.measures.iter().enumerate())
            .map(|(at, measure)| (measure.name().to_owned(), json!(value_of(found, at).filter(|it| it.is_finite()))))
            .collect();
        let value = &panel.sweep.values[place];
        json!({
            "panel": panel.name,
            "series": panel.series[series].name,
            "value": shown(value),
            "rows": rows_of(found),
            "stand_in": panel.stands_in,
            "out_of_reach": matches!(found, RunResult::OutOfReach),
            "paper": panel.series[series].paper.get(place),
            "measures": measures,
        })
    };
    let mut runs = Vec::with_capacity(rows.len());
    for (panel, results) in experiment.panels.iter().zip(results) {
        for (series, results) in results.iter().enumerate() {
            runs.extend(results.iter().enumerate().map(|(place, found)| run((panel, series, place), found)));
        }
    }
    json!({"name": experiment.name, "paper": head.paper, "figure": head.figure, "title": head.title, "runs": runs})
}
