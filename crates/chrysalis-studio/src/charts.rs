//! Pictures: numbers as charts, in the page's colours.

use chrysalis::Exposure;
use chrysalis::report::AnswerReport;
use chrysalis::words::count;
use chrysalis_report::chart::{Axis, Chart, Mark, Point, Series};

/// The most bars of an answer.
const MOST_ROWS: usize = 40;
/// Width of a picture, and height of its frame.
const SIZE: (u32, u32) = (440, 170);

/// How many rows stand in sets of which size. Rows need not be people: some people may have several.
pub(crate) fn exposure(found: &Exposure) -> String {
    let name = |from: u64, to: Option<u64>| match to {
        Some(1) => "alone".to_owned(),
        Some(to) => format!("{from} to {to}"),
        None => format!("{from} or more"),
    };
    let names = found.sizes.iter().map(|band| name(band.from, band.to));
    let share = |rows: u64| rows as f64 / found.rows.max(1) as f64;
    let bars = (0u32..).zip(&found.sizes).map(|(at, band)| (f64::from(at), share(band.rows)));
    Chart::new(
        "How many look alike",
        Axis::categories("rows that look alike", names),
        Axis::linear("share of rows").percent().ticks_at([0.0, 0.25, 0.5, 0.75, 1.0]),
    )
    .id("exposure-chart")
    .described(format!("{} of {} rows stand alone.", count(found.unique_rows), count(found.rows)))
    .sized(SIZE.0, SIZE.1)
    .with(Series::bars("rows", bars))
    .to_bare_svg()
}

/// What is lost of each column.
pub(crate) fn loss(by_column: &[(String, f64)]) -> Option<String> {
    if by_column.is_empty() {
        return None;
    }
    let names = by_column.iter().map(|(name, _)| name.clone());
    let bars = (0u32..).zip(by_column).map(|(at, (_, loss))| (f64::from(at), *loss));
    let chart = Chart::new(
        "What is lost of each column",
        Axis::categories("", names),
        Axis::linear("width of ranges").percent().ticks_at([0.0, 0.25, 0.5, 0.75, 1.0]),
    );
    Some(chart.id("loss-chart").sized(SIZE.0, SIZE.1).with(Series::bars("loss", bars)).to_bare_svg())
}

/// The first aggregate of an answer: estimates within bounds that are certain to hold.
pub(crate) fn answer(report: &AnswerReport) -> Option<String> {
    let rows = &report.answer.rows;
    let first = rows.first()?.aggregates.first()?;
    if rows.len() > MOST_ROWS {
        return None;
    }
    let label = |row: usize| {
        let keys = rows[row].group.iter().map(|key| key.as_ref().map_or("missing".to_owned(), ToString::to_string));
        let keys: Vec<String> = keys.collect();
        if keys.is_empty() { "all".to_owned() } else { keys.join(", ") }
    };
    let points: Vec<Point> = (0u32..)
        .zip(rows)
        .filter_map(|(at, row)| {
            let found = row.aggregates.first()?;
            let (low, high) = (found.lower?, found.upper?);
            Some(Point::new(f64::from(at), found.estimate?).between(low, high))
        })
        .collect();
    if points.is_empty() {
        return None;
    }
    let title = format!("{} with its bounds", first.name);
    let chart = Chart::new(
        title,
        Axis::categories(report.answer.keys.join(", "), (0..rows.len()).map(label)),
        Axis::linear(first.name.clone()),
    );
    let series = Series::new("estimate and bounds", Mark::Intervals, points);
    Some(chart.id("answer-chart").sized(SIZE.0, SIZE.1 + 40).with(series).to_bare_svg())
}
