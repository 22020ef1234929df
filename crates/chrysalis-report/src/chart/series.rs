/// How the points of a series are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// A line through the points in their order, with a marker at each.
    Line,
    /// A marker at each point; its label is written beside it where there is room.
    Points,
    /// A bar from zero to each point; bars are horizontal if the y axis has categories.
    Bars,
    /// A line from the low to the high end of each point, with a marker at the point itself.
    Intervals,
}

/// One point, in the units of the axes; on an axis of categories a coordinate is an index, from 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Along the horizontal axis.
    pub x: f64,
    /// Along the vertical axis.
    pub y: f64,
    /// For intervals: both ends, along the axis that has no categories (the vertical one if neither has).
    pub ends: Option<(f64, f64)>,
    /// The name of the point, beyond its coordinates.
    pub label: Option<String>,
}

impl Point {
    /// A point without a name.
    pub fn new(x: f64, y: f64) -> Self {
        Point { x, y, ends: None, label: None }
    }

    /// With a name.
    pub fn labelled(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }

    /// With both ends of an interval.
    pub fn between(mut self, low: f64, high: f64) -> Self {
        self.ends = Some((low, high));
        self
    }
}

/// Points that belong together: one colour, one marker, one line of the legend.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// What the legend says.
    pub name: String,
    /// How the points are drawn.
    pub mark: Mark,
    /// The points; one with a coordinate that is not finite leaves a gap.
    pub points: Vec<Point>,
}

impl Series {
    /// Points drawn with a mark.
    pub fn new(name: impl Into<String>, mark: Mark, points: impl IntoIterator<Item = Point>) -> Self {
        Series { name: name.into(), mark, points: points.into_iter().collect() }
    }

    /// A line through (x, y).
    pub fn line(name: impl Into<String>, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Series::new(name, Mark::Line, points.into_iter().map(|(x, y)| Point::new(x, y)))
    }

    /// Bars that end at (x, y).
    pub fn bars(name: impl Into<String>, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Series::new(name, Mark::Bars, points.into_iter().map(|(x, y)| Point::new(x, y)))
    }

    /// Intervals (x, y, low, high).
    pub fn intervals(name: impl Into<String>, points: impl IntoIterator<Item = (f64, f64, f64, f64)>) -> Self {
        let point = |(x, y, low, high)| Point::new(x, y).between(low, high);
        Series::new(name, Mark::Intervals, points.into_iter().map(point))
    }
}
