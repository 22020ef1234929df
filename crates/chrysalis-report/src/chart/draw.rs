//! The picture itself: title, axes, marks, legend.

use super::geometry::{ChartGeometry, FONT, LINE, NAME_ROOM, SMALL, in_slots};
use super::style::{AXIS, GRID, INK, Look, PAPER, SOFT, STYLE};
use super::svg::{Svg, px, shortened, width};
use super::{Chart, Mark, Point, Series};

/// Up to this many bars have their values written beside them.
const MAX_WRITTEN: usize = 40;

pub(super) fn svg(chart: &Chart, has_style: bool) -> String {
    let geometry = ChartGeometry::new(chart);
    let mut svg = Svg::default();
    let (title, description) = (format!("{}-title", chart.id), format!("{}-desc", chart.id));
    svg.open(
        "svg",
        &[
            ("xmlns", "http://www.w3.org/2000/svg".into()),
            ("id", chart.id.clone()),
            ("class", "chr-chart".into()),
            ("viewBox", format!("0 0 {} {}", px(geometry.width), px(geometry.height))),
            ("width", px(geometry.width)),
            ("height", px(geometry.height)),
            ("role", "img".into()),
            ("aria-labelledby", format!("{title} {description}")),
            // For viewers that do not know the style sheet below.
            ("font-family", "sans-serif".into()),
        ],
    );
    svg.words("title", &[("id", title)], &chart.title);
    svg.words("desc", &[("id", description)], &described(chart));
    if has_style {
        svg.style(STYLE);
    }
    let (wide, high) = (px(geometry.width), px(geometry.height));
    svg.leaf("rect", &[("class", "paper".into()), ("width", wide), ("height", high), ("fill", PAPER.into())]);
    let mut picture = Picture { chart, geometry: &geometry, svg, taken: Vec::new() };
    picture.title();
    picture.axes();
    picture.marks();
    picture.legend();
    picture.svg.close("svg");
    picture.svg.finish()
}

/// What a screen reader says.
fn described(chart: &Chart) -> String {
    let kind = match chart.series.first().map(|series| series.mark) {
        Some(Mark::Line) => "Line chart",
        Some(Mark::Points) => "Scatter chart",
        Some(Mark::Bars) => "Bar chart",
        Some(Mark::Intervals) => "Chart of intervals",
        None => "Chart",
    };
    let names: Vec<&str> = chart.series.iter().map(|series| series.name.as_str()).collect();
    let axes = [&chart.y, &chart.x].map(|axis| if axis.label.is_empty() { "names" } else { &axis.label });
    let axes = axes.join(" against ");
    let series = if names.is_empty() { String::new() } else { format!("; series: {}", names.join(", ")) };
    let words = if chart.description.is_empty() { "" } else { " " };
    format!("{}{words}{kind} of {axes}{series}.", chart.description)
}

/// A rectangle that something is written in.
type Box = (f64, f64, f64, f64);

struct Picture<'a> {
    chart: &'a Chart,
    geometry: &'a ChartGeometry,
    svg: Svg,
    /// Where there are markers and labels already.
    taken: Vec<Box>,
}

impl Picture<'_> {
    fn text(&mut self, x: f64, y: f64, anchor: &str, is_soft: bool, size: f64, words: &str) {
        let (class, fill) = if is_soft { ("soft", SOFT) } else { ("ink", INK) };
        let attributes = [
            ("class", class.to_owned()),
            ("x", px(x)),
            ("y", px(y)),
            ("text-anchor", anchor.to_owned()),
            ("font-size", px(size)),
            ("fill", fill.to_owned()),
        ];
        self.svg.words("text", &attributes, words);
    }

    fn turned(&mut self, x: f64, y: f64, degrees: i32, anchor: &str, words: &str) {
        let attributes = [
            ("class", "ink".to_owned()),
            ("transform", format!("translate({} {}) rotate({degrees})", px(x), px(y))),
            ("text-anchor", anchor.to_owned()),
            ("font-size", px(if anchor == "end" { SMALL } else { FONT })),
            ("fill", INK.to_owned()),
        ];
        self.svg.words("text", &attributes, words);
    }

    fn line(&mut self, class: &str, color: &str, from: (f64, f64), to: (f64, f64)) {
        let attributes = [
            ("class", class.to_owned()),
            ("d", format!("M{} {}L{} {}", px(from.0), px(from.1), px(to.0), px(to.1))),
            ("stroke", color.to_owned()),
            ("stroke-width", "1".to_owned()),
        ];
        self.svg.leaf("path", &attributes);
    }

    fn title(&mut self) {
        let words = shortened(&self.chart.title, 15.0, 1.05 * (self.geometry.width - 32.0));
        let attributes = [
            ("class", "ink".to_owned()),
            ("x", "16".to_owned()),
            ("y", "24".to_owned()),
            ("font-size", "15".to_owned()),
            ("font-weight", "600".to_owned()),
            ("fill", INK.to_owned()),
        ];
        self.svg.words("text", &attributes, &words);
    }

    fn axes(&mut self) {
        let (geometry, chart) = (self.geometry, self.chart);
        let (left, right, top, bottom) = (geometry.left, geometry.right, geometry.top, geometry.bottom);
        for tick in &geometry.y.ticks {
            let y = geometry.y(tick.at);
            if !chart.y.is_categories() {
                self.line("grid", GRID, (left, y), (right, y));
            }
            let words = shortened(&tick.text, SMALL, NAME_ROOM);
            self.text(left - 8.0, y + 4.0, "end", !chart.y.is_categories(), SMALL, &words);
        }
        for tick in &geometry.x.ticks {
            let x = geometry.x(tick.at);
            if !chart.x.is_categories() {
                self.line("grid", GRID, (x, top), (x, bottom));
            }
            match geometry.slanted {
                Some(room) => self.turned(x + 4.0, bottom + 14.0, -35, "end", &shortened(&tick.text, SMALL, room)),
                None => self.text(x, bottom + 17.0, "middle", !chart.x.is_categories(), SMALL, &tick.text),
            }
        }
        self.line("axis", AXIS, (left, bottom), (right, bottom));
        self.line("axis", AXIS, (left, top), (left, bottom));
        if !chart.x.label.is_empty() {
            let y = bottom + 38.0 + geometry.slanted.unwrap_or(0.0) * 0.65;
            self.text((left + right) / 2.0, y, "middle", false, FONT, &chart.x.label);
        }
        if !chart.y.label.is_empty() {
            self.turned(19.0, (top + bottom) / 2.0, -90, "middle", &chart.y.label);
        }
        if chart.is_empty() {
            self.text((left + right) / 2.0, (top + bottom) / 2.0, "middle", true, FONT, "nothing to show");
        }
        let left_out = chart.n_left_out();
        if left_out > 0 {
            let points = if left_out == 1 { "point lies" } else { "points lie" };
            let words = format!("{left_out} {points} outside of what the axes can show");
            self.text(left, geometry.legend_top() - 4.0, "start", true, SMALL, &words);
        }
    }

    fn marks(&mut self) {
        let n_slots = self.chart.series.iter().filter(|series| in_slots(series)).count();
        let mut slot = 0;
        for (index, series) in self.chart.series.iter().enumerate() {
            let attributes = [("role", "group".to_owned()), ("aria-label", series.name.clone())];
            self.svg.open("g", &attributes);
            match series.mark {
                Mark::Line => self.curve(Look(index), series),
                Mark::Points => self.markers(Look(index), series),
                Mark::Bars | Mark::Intervals => {
                    // Side by side, and together in the middle of their place.
                    let wide = self.geometry.slot / n_slots as f64;
                    let shift = wide * (slot as f64 + 0.5) - self.geometry.slot / 2.0;
                    slot += 1;
                    if series.mark == Mark::Bars {
                        self.bars(Look(index), series, shift, wide.min(34.0), n_slots > 1);
                    } else {
                        self.intervals(Look(index), series, shift, wide);
                    }
                }
            }
            self.svg.close("g");
        }
        for (index, series) in self.chart.series.iter().enumerate() {
            if series.mark == Mark::Points {
                self.labels(Look(index), series);
            }
        }
    }

    /// The tooltip of a point.
    fn said(&self, series: &Series, point: &Point) -> String {
        let chart = self.chart;
        let coordinate = |axis: &super::Axis, value: f64| match axis.label.as_str() {
            "" => axis.said(value),
            label => format!("{label} {}", axis.said(value)),
        };
        let mut words = vec![series.name.clone()];
        words.extend(point.label.clone());
        words.extend([coordinate(&chart.x, point.x), coordinate(&chart.y, point.y)]);
        if let Some((low, high)) = point.ends {
            let axis = if chart.reach_along_x() { &chart.x } else { &chart.y };
            words.push(format!("from {} to {}", axis.said(low), axis.said(high)));
        }
        words.join(", ")
    }

    fn marker(&mut self, look: Look, series: &Series, point: &Point, at: (f64, f64)) {
        let said = self.said(series, point);
        look.marker(&mut self.svg, at.0, at.1, Some(&said));
        self.taken.push((at.0 - 5.0, at.1 - 5.0, at.0 + 5.0, at.1 + 5.0));
    }

    fn curve(&mut self, look: Look, series: &Series) {
        let mut path = String::new();
        let mut is_drawing = false;
        for point in &series.points {
            if !self.chart.shows(point) {
                is_drawing = false;
                continue;
            }
            let command = if is_drawing { 'L' } else { 'M' };
            path += &format!("{command}{} {}", px(self.geometry.x(point.x)), px(self.geometry.y(point.y)));
            is_drawing = true;
        }
        let mut attributes = look.stroke().to_vec();
        attributes.extend([("d", path), ("fill", "none".into()), ("stroke-width", "2".into())]);
        if !look.dashes().is_empty() {
            attributes.push(("stroke-dasharray", look.dashes().into()));
        }
        attributes.push(("stroke-linejoin", "round".into()));
        self.svg.leaf("path", &attributes);
        self.markers(look, series);
    }

    fn markers(&mut self, look: Look, series: &Series) {
        for point in series.points.iter().filter(|point| self.chart.shows(point)) {
            let at = (self.geometry.x(point.x), self.geometry.y(point.y));
            self.marker(look, series, point, at);
        }
    }

    /// Names beside points, where there is room; the others appear only in tooltips.
    fn labels(&mut self, look: Look, series: &Series) {
        for point in series.points.iter().filter(|point| self.chart.shows(point)) {
            let Some(label) = &point.label else { continue };
            let words = shortened(label, SMALL, NAME_ROOM);
            let (x, y, wide) = (self.geometry.x(point.x), self.geometry.y(point.y), width(&words, SMALL));
            let places = [
                (x + 9.0, y + 4.0),
                (x - 9.0 - wide, y + 4.0),
                (x - wide / 2.0, y - 9.0),
                (x - wide / 2.0, y + 18.0),
                (x + 7.0, y - 7.0),
                (x + 7.0, y + 15.0),
                (x - 7.0 - wide, y - 7.0),
                (x - 7.0 - wide, y + 15.0),
            ];
            let boxed = |(left, base): (f64, f64)| (left, base - 10.0, left + wide, base + 3.0);
            let Some(place) = places.into_iter().find(|place| self.is_free(boxed(*place))) else { continue };
            self.taken.push(boxed(place));
            let mut attributes = look.fill().to_vec();
            attributes.extend([("x", px(place.0)), ("y", px(place.1)), ("font-size", px(SMALL))]);
            self.svg.words("text", &attributes, &words);
        }
    }

    fn is_free(&self, (left, top, right, bottom): Box) -> bool {
        let geometry = self.geometry;
        let is_inside =
            left > geometry.left && right < geometry.right && top > geometry.top && bottom < geometry.bottom;
        let overlaps = |other: &Box| left < other.2 && right > other.0 && top < other.3 && bottom > other.1;
        is_inside && !self.taken.iter().any(overlaps)
    }

    fn bars(&mut self, look: Look, series: &Series, shift: f64, wide: f64, is_marked: bool) {
        let along_x = self.chart.reach_along_x();
        let axis = if along_x { &self.chart.x } else { &self.chart.y };
        let is_written = self.chart.series.iter().map(|series| series.points.len()).sum::<usize>() <= MAX_WRITTEN;
        for point in series.points.iter().filter(|point| self.chart.shows(point)) {
            let thick = (wide - 2.0).max(1.5);
            let (value, end, middle) = if along_x {
                (point.x, self.geometry.x(point.x), self.geometry.y(point.y) + shift)
            } else {
                (point.y, self.geometry.y(point.y), self.geometry.x(point.x) + shift)
            };
            let stretch = if along_x { &self.geometry.x } else { &self.geometry.y };
            let zero = if stretch.is_log { stretch.low } else { 0f64.clamp(stretch.low, stretch.high) };
            let start = if along_x { self.geometry.x(zero) } else { self.geometry.y(zero) };
            let (low, long) = (start.min(end), (start - end).abs());
            let half = thick / 2.0;
            let (x, y, w, h) =
                if along_x { (low, middle - half, long, thick) } else { (middle - half, low, thick, long) };
            let mut attributes = look.fill().to_vec();
            attributes.extend([("x", px(x)), ("y", px(y)), ("width", px(w)), ("height", px(h))]);
            self.svg.open("rect", &attributes);
            let said = self.said(series, point);
            self.svg.words("title", &[], &said);
            self.svg.close("rect");
            let mut away = 6.0;
            if is_marked {
                // Bars of several series are told apart by the marker at their end, too.
                let at = if along_x { (end + 9.0, middle) } else { (middle, end - 9.0) };
                look.marker(&mut self.svg, at.0, at.1, None);
                away = 18.0;
            }
            if is_written {
                let words = axis.said(value);
                if along_x {
                    self.beside(end, away, middle, &words);
                } else {
                    self.text(middle, end - away, "middle", true, SMALL, &words);
                }
            }
        }
    }

    /// A number beside the end of a horizontal bar, or inside the bar if there is no room outside.
    fn beside(&mut self, end: f64, away: f64, middle: f64, words: &str) {
        if end + away + width(words, SMALL) < self.geometry.width - 4.0 {
            return self.text(end + away, middle + 4.0, "start", true, SMALL, words);
        }
        let attributes = [
            ("x", px(end - 6.0)),
            ("y", px(middle + 4.0)),
            ("text-anchor", "end".to_owned()),
            ("font-size", px(SMALL)),
            ("class", "paper".to_owned()),
            ("fill", PAPER.to_owned()),
        ];
        self.svg.words("text", &attributes, words);
    }

    fn intervals(&mut self, look: Look, series: &Series, shift: f64, wide: f64) {
        let along_x = self.chart.reach_along_x();
        let cap = (wide / 4.0).clamp(2.0, 6.0);
        for point in series.points.iter().filter(|point| self.chart.shows(point)) {
            let (x, y) = (self.geometry.x(point.x), self.geometry.y(point.y));
            let at = if along_x { (x, y + shift) } else { (x + shift, y) };
            if let Some((low, high)) = point.ends {
                let path = if along_x {
                    let (low, high) = (px(self.geometry.x(low)), px(self.geometry.x(high)));
                    let (top, middle, bottom) = (px(at.1 - cap), px(at.1), px(at.1 + cap));
                    format!("M{low} {top}V{bottom}M{low} {middle}H{high}M{high} {top}V{bottom}")
                } else {
                    let (low, high) = (px(self.geometry.y(low)), px(self.geometry.y(high)));
                    let (left, middle, right) = (px(at.0 - cap), px(at.0), px(at.0 + cap));
                    format!("M{left} {low}H{right}M{middle} {low}V{high}M{left} {high}H{right}")
                };
                let mut attributes = look.stroke().to_vec();
                attributes.extend([("d", path), ("fill", "none".into()), ("stroke-width", "2".into())]);
                self.svg.leaf("path", &attributes);
            }
            self.marker(look, series, point, at);
        }
    }

    fn legend(&mut self) {
        let top = self.geometry.legend_top();
        for (row, line) in self.geometry.legend.iter().enumerate() {
            let y = top + LINE * (row as f64 + 0.5);
            for &(index, x) in line {
                let series = &self.chart.series[index];
                let look = Look(index);
                if matches!(series.mark, Mark::Line | Mark::Intervals) {
                    let mut attributes = look.stroke().to_vec();
                    attributes.extend([("d", format!("M{} {}h26", px(x), px(y))), ("stroke-width", "2".into())]);
                    if series.mark == Mark::Line && !look.dashes().is_empty() {
                        attributes.push(("stroke-dasharray", look.dashes().into()));
                    }
                    self.svg.leaf("path", &attributes);
                }
                look.marker(&mut self.svg, x + 13.0, y, None);
                let words = shortened(&series.name, SMALL, NAME_ROOM);
                self.text(x + 33.0, y + 4.0, "start", false, SMALL, &words);
            }
        }
    }
}
