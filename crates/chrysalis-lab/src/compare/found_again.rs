//! How easily rows are found again, in the microdata and in every release: the picture and its numbers.

use chrysalis::{FoundAgain, RowsFoundAgain};
use chrysalis_report::chart::{Axis, Chart, Series};
use chrysalis_report::html::Block;
use serde_json::{Value, json};

use super::charts::Plot;
use super::trial::Trial;

/// A name, and the number that it stands for.
type Said = (&'static str, fn(&FoundAgain) -> f64);

/// What the bars say, in the order of the series.
const SERIES: [Said; 2] =
    [("risk of a row, on average", |found| found.mean), ("rows that no other looks like", |found| found.unique)];

/// The picture, unless nothing was measured.
pub(super) fn figure(trials: &[Trial]) -> Option<Block> {
    let plot = plot(trials)?;
    Some(Block::figure(&plot.chart, plot.caption))
}

fn plot(trials: &[Trial]) -> Option<Plot> {
    let of = |trial: &Trial| trial.numbers().and_then(|numbers| numbers.found_again);
    let before = trials.iter().find_map(of)?.before;
    let mut shown: Vec<(String, FoundAgain)> = vec![("the microdata".to_owned(), before)];
    shown.extend(trials.iter().filter_map(|trial| Some((trial.run.name.clone(), of(trial)?.after))));
    let names = shown.iter().map(|(name, _)| name.clone());
    let height = 16 + 36 * shown.len() as u32;
    let mut chart = Chart::new(
        "How easily rows are found again",
        Axis::linear("").percent().from_zero(),
        Axis::categories("", names),
    )
    .id("chart-found-again")
    .sized(800, height)
    .described("Before and after publication: the mean risk of being found, and the share of rows that are unique.");
    for (name, value) in SERIES {
        let points = shown.iter().enumerate().map(|(at, (_, found))| (value(found), at as f64));
        chart.push(Series::bars(name, points.collect::<Vec<_>>()));
    }
    let caption = "An attacker who knows that a person is in the data, and all of the person's quasi values, looks for the \
                   row: the risk is one in the rows that look the same. The microdata come first, then what each release \
                   shows. Where quasi values are published as they are, rows are found as before; such a release protects \
                   what a row says about the sensitive value, not which row it is.";
    Some(Plot { chart, caption: caption.to_owned() })
}

/// The numbers.
pub(super) fn json(found: Option<&RowsFoundAgain>) -> Value {
    let one = |found: &FoundAgain| json!({"mean": found.mean, "max": found.max, "unique_rows": found.unique});
    found.map_or(Value::Null, |found| json!({"before": one(&found.before), "after": one(&found.after)}))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(series: &str, after: FoundAgain) -> Trial {
        let mut trial = Trial::made_up(series, &[], 0.5, 0.5, 0.1);
        if let Ok(numbers) = &mut trial.trial.found {
            let before = FoundAgain { mean: 0.8, max: 1.0, unique: 0.75 };
            numbers.found_again = Some(RowsFoundAgain { before, after });
        }
        trial
    }

    #[test]
    fn the_microdata_stand_beside_every_release() {
        let trials = [
            with("wide", FoundAgain { mean: 0.1, max: 0.25, unique: 0.0 }),
            Trial::made_up("without", &[], 0.5, 0.5, 0.1),
            with("exact", FoundAgain { mean: 0.8, max: 1.0, unique: 0.75 }),
        ];
        let svg = plot(&trials).unwrap().chart.to_svg();
        for words in ["the microdata", "wide", "exact", "80 %", "10 %", "75 %", "rows that no other looks like"] {
            assert!(svg.contains(words), "{words}: {svg}");
        }
        assert!(!svg.contains("without"), "what was not measured has no bar: {svg}");
        assert!(figure(&trials[1..2]).is_none());
        let told = json(trials[0].numbers().unwrap().found_again.as_ref());
        assert_eq!((&told["before"]["mean"], &told["after"]["max"]), (&json!(0.8), &json!(0.25)));
    }
}
