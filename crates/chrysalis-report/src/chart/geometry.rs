//! Where things are: the frame, its margins, and pixels for values.

use super::axis::Stretch;
use super::svg::width;
use super::{Chart, Mark, Series};

pub(super) const FONT: f64 = 13.0;
pub(super) const SMALL: f64 = 12.0;
/// The height of a line of the legend.
pub(super) const LINE: f64 = 20.0;
/// The most room for the names of categories beside the y axis.
pub(super) const NAME_ROOM: f64 = 230.0;
/// The same for slanted names below the x axis.
const SLANTED_ROOM: f64 = 130.0;

/// A chart with the places of everything in it.
pub(super) struct ChartGeometry {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) top: f64,
    pub(super) bottom: f64,
    pub(super) x: Stretch,
    pub(super) y: Stretch,
    /// Categories on the y axis go down, numbers go up.
    y_goes_down: bool,
    /// Room for the name of a category below the x axis, if names are slanted.
    pub(super) slanted: Option<f64>,
    /// Series (by index) per line of the legend, with the x of each.
    pub(super) legend: Vec<Vec<(usize, f64)>>,
    /// How many pixels the bars and intervals at one place share.
    pub(super) slot: f64,
}

impl ChartGeometry {
    pub(super) fn new(chart: &Chart) -> ChartGeometry {
        let (x, y) = (chart.x.stretch(chart.values(true)), chart.y.stretch(chart.values(false)));
        let total = f64::from(chart.size.0);
        let names = y.ticks.iter().map(|tick| width(&tick.text, SMALL)).fold(0.0, f64::max);
        let label = if chart.y.label.is_empty() { 0.0 } else { 22.0 };
        let left = 16.0 + label + names.min(NAME_ROOM) + 8.0;
        // The last tick's text is centred on the frame's edge.
        let half = x.ticks.last().map_or(0.0, |tick| width(&tick.text, SMALL) / 2.0);
        let right = total - if chart.x.is_categories() { 16.0 } else { half.clamp(14.0, 60.0) + 10.0 };
        let top = if chart.title.is_empty() { 14.0 } else { 42.0 };
        let bottom = top + f64::from(chart.size.1);
        let slanted = slanted(chart, &x, right - left);
        let below = 22.0 + slanted.unwrap_or(0.0) * 0.65 + if chart.x.label.is_empty() { 6.0 } else { 24.0 };
        let legend = legend(&chart.series, total);
        let note = if chart.n_left_out() > 0 { LINE } else { 0.0 };
        let height = bottom + below + LINE * legend.len() as f64 + note + 10.0;
        let y_goes_down = chart.y.is_categories();
        let mut geometry = ChartGeometry {
            width: total,
            height,
            left,
            right,
            top,
            bottom,
            x,
            y,
            y_goes_down,
            slanted,
            legend,
            slot: 0.0,
        };
        geometry.slot = geometry.find_slot(chart);
        geometry
    }

    pub(super) fn x(&self, value: f64) -> f64 {
        self.left + self.x.share(value) * (self.right - self.left)
    }

    pub(super) fn y(&self, value: f64) -> f64 {
        let share = self.y.share(value);
        if self.y_goes_down {
            self.top + share * (self.bottom - self.top)
        } else {
            self.bottom - share * (self.bottom - self.top)
        }
    }

    pub(super) fn legend_top(&self) -> f64 {
        self.height - 10.0 - LINE * self.legend.len() as f64
    }

    /// Most of the room of a category, or of the gap between the two closest numbers.
    fn find_slot(&self, chart: &Chart) -> f64 {
        let along_y = chart.y.is_categories();
        let in_slots = chart.series.iter().filter(|series| in_slots(series)).flat_map(|series| &series.points);
        let mut places: Vec<f64> = in_slots
            .map(|point| if along_y { self.y(point.y) } else { self.x(point.x) })
            .filter(|place| place.is_finite())
            .collect();
        places.sort_by(f64::total_cmp);
        places.dedup_by(|a, b| (*a - *b).abs() < 0.5);
        let length = if along_y { self.bottom - self.top } else { self.right - self.left };
        let categories = if along_y { self.y.ticks.len() } else { self.x.ticks.len() };
        let gap = if along_y || chart.x.is_categories() {
            length / categories.max(1) as f64
        } else {
            places.windows(2).map(|pair| pair[1] - pair[0]).fold(length / 4.0, f64::min)
        };
        0.74 * gap
    }
}

/// Whether a series is drawn side by side with others that share its places.
pub(super) fn in_slots(series: &Series) -> bool {
    matches!(series.mark, Mark::Bars | Mark::Intervals)
}

fn slanted(chart: &Chart, x: &Stretch, room: f64) -> Option<f64> {
    let widest = x.ticks.iter().map(|tick| width(&tick.text, SMALL)).fold(0.0, f64::max);
    let place = room / x.ticks.len().max(1) as f64;
    (chart.x.is_categories() && widest > place - 8.0).then(|| widest.min(SLANTED_ROOM))
}

/// Fills lines from left to right; a single series needs no legend.
fn legend(series: &[Series], total: f64) -> Vec<Vec<(usize, f64)>> {
    if series.len() < 2 {
        return Vec::new();
    }
    let mut lines: Vec<Vec<(usize, f64)>> = vec![Vec::new()];
    let mut at = 24.0;
    for (index, series) in series.iter().enumerate() {
        let wide = 40.0 + width(&series.name, SMALL).min(NAME_ROOM) + 14.0;
        let is_full = at + wide > total && lines.last().is_some_and(|line| !line.is_empty());
        if is_full {
            lines.push(Vec::new());
            at = 24.0;
        }
        if let Some(line) = lines.last_mut() {
            line.push((index, at));
        }
        at += wide;
    }
    lines
}
