//! The plots of the report.

use chrysalis::Numbers;
use chrysalis_report::chart::{Axis, Chart, Mark, Point, Series};

use super::measures::{ERROR, KL, LEARNED, LINKING, Measure, NCP, is_share};
use super::runs::Run;
use super::trial::Trial;

/// A chart with its caption.
pub(super) struct Plot {
    pub(super) chart: Chart,
    pub(super) caption: String,
}

/// If values differ by orders of magnitude, a linear axis shows only the largest.
fn scaled(title: &str, values: impl Iterator<Item = f64>) -> Axis {
    let (least, most) = values.fold((f64::INFINITY, 0f64), |(a, b), value| (a.min(value), b.max(value)));
    match least > 0.0 && most > 30.0 * least {
        true => Axis::log(title),
        false => Axis::linear(title).from_zero(),
    }
}

/// Shares are shown as percentages; nats and the like are not.
fn axis(measure: &Measure, values: &[f64]) -> Axis {
    let axis = scaled(measure.title, values.iter().copied());
    if is_share(measure) { axis.percent() } else { axis }
}

fn finite(measure: &Measure, numbers: &Numbers) -> Option<f64> {
    measure.of(numbers).filter(|value| value.is_finite())
}

/// The names of series in order of appearance.
fn series(trials: &[Trial]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for trial in trials {
        if !names.contains(&trial.run.series.as_str()) {
            names.push(&trial.run.series);
        }
    }
    names
}

/// The measure of utility to plot: errors of answers if questions were asked, else the divergence, else the loss.
pub(super) fn utility(trials: &[Trial]) -> &'static Measure {
    let has =
        |measure: &&&Measure| trials.iter().filter_map(|trial| trial.numbers()).any(|it| finite(measure, it).is_some());
    [&ERROR, &KL].iter().find(has).copied().unwrap_or(&NCP)
}

/// The measure of risk to plot: linking, unless it is the same for every release and learning differs.
pub(super) fn risk(trials: &[Trial]) -> &'static Measure {
    let differs = |measure: &Measure| {
        let values = || trials.iter().filter_map(|trial| measure.of(trial.numbers()?));
        values().fold(f64::INFINITY, f64::min) < values().fold(f64::NEG_INFINITY, f64::max)
    };
    if !differs(&LINKING) && differs(&LEARNED) { &LEARNED } else { &LINKING }
}

/// Risk to the right, error upwards: good releases are at the lower left.
pub(super) fn risk_against_utility(trials: &[Trial]) -> Plot {
    let (risk, utility) = (risk(trials), utility(trials));
    let point = |trial: &Trial| {
        let numbers = trial.numbers()?;
        let (at, worth) = (risk.of(numbers)?, finite(utility, numbers)?);
        Some(Point::new(at, worth).labelled(label(trial, trials)))
    };
    let values: Vec<f64> = trials.iter().filter_map(|trial| Some(point(trial)?.y)).collect();
    let most = trials.iter().filter_map(|trial| Some(point(trial)?.x)).fold(0f64, f64::max);
    // Room to the right of the last point for its label.
    let x = Axis::linear(risk.title).percent().from_zero().including(1.2 * most);
    let mut chart =
        Chart::new("Risk against utility", x, axis(utility, &values)).id("chart-risk-utility").sized(800, 380);
    chart = chart.described("Every point is a release; the lower left is both safe and accurate.");
    for name in series(trials) {
        let points = trials.iter().filter(|trial| trial.run.series == name).filter_map(point);
        chart.push(Series::new(name, Mark::Points, points));
    }
    let caption = format!(
        "Every point is a release. To the left the sensitive value is harder to guess ({}), further down the release \
         is more useful ({}): the best lie at the lower left.",
        risk.title, utility.title
    );
    Plot { chart, caption }
}

/// What distinguishes a point in its series.
fn label(trial: &Trial, trials: &[Trial]) -> String {
    let is_alone = trials.iter().filter(|other| other.run.series == trial.run.series).count() == 1;
    match trial.run.varied.is_empty() {
        true if is_alone => trial.run.series.clone(),
        true => trial.promise(),
        false => {
            let parts: Vec<String> = trial.run.varied.iter().map(|(key, value)| format!("{key}={value}")).collect();
            parts.join(", ")
        }
    }
}

/// The numeric parameters that vary: each gets a plot of a measure against it.
pub(super) fn parameters(trials: &[Trial]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let made = || trials.iter().filter(|trial| trial.numbers().is_some());
    for (name, _) in made().flat_map(|trial| &trial.run.varied) {
        let values = made().filter_map(|trial| trial.run.varied.get(name));
        let mut values: Vec<Option<f64>> = values.map(|value| value.parse().ok()).collect();
        let is_number = values.iter().all(Option::is_some);
        values.dedup();
        if is_number && values.len() > 1 && !names.contains(name) {
            names.push(name.clone());
        }
    }
    names
}

/// A measure against a parameter, one line per series.
pub(super) fn against(trials: &[Trial], measure: &Measure, parameter: &str) -> Plot {
    let place = |run: &Run| run.varied.get(parameter)?.parse::<f64>().ok().filter(|at| at.is_finite());
    let made = || trials.iter().filter(|trial| trial.numbers().is_some());
    let mut at: Vec<f64> = made().filter_map(|trial| place(&trial.run)).collect();
    at.sort_by(f64::total_cmp);
    at.dedup();
    let x = if at.len() <= 12 { Axis::linear(parameter).ticks_at(at) } else { Axis::linear(parameter) };
    let worth = |trial: &Trial| Some((place(&trial.run)?, finite(measure, trial.numbers()?)?));
    let values: Vec<f64> = trials.iter().filter_map(|trial| Some(worth(trial)?.1)).collect();
    let title = format!("{} against {parameter}", capitalized(measure.title));
    let id = format!("chart-{}-{parameter}", measure.key);
    let mut chart = Chart::new(title, x, axis(measure, &values)).id(&id).sized(800, 320);
    // Runs that also differ in another parameter form separate lines.
    let rest = |run: &Run| {
        let others = run.varied.iter().filter(|(key, _)| *key != parameter);
        let others: String = others.map(|(key, value)| format!(", {key}={value}")).collect();
        format!("{}{others}", run.series)
    };
    let mut lines: Vec<(String, Vec<(f64, f64)>)> = Vec::new();
    for trial in made().filter(|trial| place(&trial.run).is_some()) {
        let name = rest(&trial.run);
        let index = lines.iter().position(|(known, _)| *known == name).unwrap_or_else(|| {
            lines.push((name, Vec::new()));
            lines.len() - 1
        });
        lines[index].1.extend(worth(trial));
    }
    for (name, mut points) in lines {
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        chart.push(Series::line(name, points));
    }
    Plot { chart, caption: format!("How the {} changes with {parameter}. Lower is better.", measure.title) }
}

/// The runs that have a value, as bars.
pub(super) fn bars(trials: &[Trial], measures: &[&Measure], id: &str, title: &str, caption: &str) -> Plot {
    let has = |trial: &&Trial| {
        trial.numbers().is_some_and(|numbers| measures.iter().any(|measure| finite(measure, numbers).is_some()))
    };
    let shown: Vec<&Trial> = trials.iter().filter(has).collect();
    let names = shown.iter().map(|trial| trial.run.name.clone());
    let axis = Axis::linear(if measures.len() == 1 { measures[0].title } else { "" }).from_zero();
    let axis = if measures.iter().all(|measure| is_share(measure)) { axis.percent() } else { axis };
    let height = 16 + 12 * (measures.len() as u32 + 1) * shown.len() as u32;
    let mut chart = Chart::new(title, axis, Axis::categories("", names)).id(id).sized(800, height);
    for measure in measures {
        let points = shown.iter().enumerate();
        let points = points.filter_map(|(at, trial)| Some((finite(measure, trial.numbers()?)?, at as f64)));
        let points: Vec<(f64, f64)> = points.collect();
        if !points.is_empty() {
            chart.push(Series::bars(measure.title, points));
        }
    }
    Plot { chart, caption: caption.to_owned() }
}

/// The width of bounds: from the 5 % of questions with the tightest to the 5 % with the widest.
pub(super) fn bounds(trials: &[Trial]) -> Plot {
    let width = |trial: &Trial| trial.numbers()?.questions.first()?.width;
    let shown: Vec<(&Trial, _)> = trials.iter().filter_map(|trial| Some((trial, width(trial)?))).collect();
    let names = shown.iter().map(|(trial, _)| trial.run.name.clone());
    let ends = shown.iter().flat_map(|(_, width)| [width.quantiles[0], width.quantiles[4]]);
    let axis = scaled("width of the bounds / true answer", ends);
    let height = 16 + 26 * shown.len() as u32;
    let points = shown
        .iter()
        .enumerate()
        .map(|(at, (_, width))| (width.median(), at as f64, width.quantiles[0], width.quantiles[4]));
    let chart = Chart::new("How certain answers are", axis.percent(), Axis::categories("", names))
        .id("chart-bounds")
        .sized(800, height)
        .described("For every release the widths of bounds from the 5 % to the 95 % quantile, with the median marked.")
        .with(Series::intervals("5 % to 95 % of the questions, median marked", points));
    let caption = "The truth always lies within the bounds of an answer. Each line reaches from the width that 5 % of the \
                   questions stay below to the one that 95 % do; the mark is the median. Further left is better.";
    Plot { chart, caption: caption.to_owned() }
}

pub(super) fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrysalis::Error;

    fn grid() -> Vec<Trial> {
        let run = |series: &str, l: &str, k: &str, error: f64| {
            Trial::made_up(series, &[("k", k), ("l", l), ("how", "x")], 0.5, 0.5, error)
        };
        let mut trials = vec![
            run("a", "10", "5", 0.3),
            run("a", "2", "5", 0.1),
            run("b", "2", "5", 0.2),
            run("a", "2", "9", 0.15),
            run("b", "50", "5", 0.9),
        ];
        trials[4].trial.found = Err(Error::request("cannot", "be"));
        trials
    }

    #[test]
    fn numbers_that_vary_among_what_was_made_are_parameters() {
        assert_eq!(parameters(&grid()), ["k", "l"]);
    }

    #[test]
    fn lines_are_sorted_and_split_by_what_else_varies() {
        let svg = against(&grid(), &ERROR, "l").chart.to_svg();
        for line in ["a, how=x, k=5", "b, how=x, k=5", "a, how=x, k=9"] {
            assert!(svg.contains(&format!("aria-label=\"{line}\"")), "{line}: {svg}");
        }
        assert!(svg.contains("<title>a, how=x, k=5, l 10, median query error 30 %</title>"), "{svg}");
        assert!(!svg.contains("l 50"), "a run that was not made has no place: {svg}");
        let first = svg.find("l 2, median query error 10 %").unwrap();
        assert!(first < svg.find("l 10, median query error 30 %").unwrap(), "from left to right");
    }

    #[test]
    fn bounds_reach_from_quantile_to_quantile() {
        let svg = bounds(&grid()[..1]).chart.to_svg();
        assert!(svg.contains("from 0 % to 90 %") && svg.contains("30 %"), "{svg}");
    }

    #[test]
    fn what_tells_runs_apart_is_their_risk() {
        let mut trials = vec![Trial::made_up("a", &[], 0.5, 0.5, 0.1), Trial::made_up("b", &[], 0.5, 0.5, 0.2)];
        assert_eq!(risk(&trials).key, LINKING.key);
        for (trial, learned) in trials.iter_mut().zip([0.3, 0.2]) {
            if let Ok(numbers) = &mut trial.trial.found {
                numbers.learned = Some(learned);
            }
        }
        assert_eq!(risk(&trials).key, LEARNED.key);
    }
}
