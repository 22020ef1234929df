//! Line, scatter, bar and interval charts as SVG text.
//!
//! A chart works on its own (write it to a `.svg` file) and inside a page: it carries its own colours for paper and for
//! light and dark screens, a title and a description for screen readers, and a tooltip at every marker.

mod axis;
mod draw;
mod geometry;
mod series;
mod style;
mod svg;
mod ticks;

pub use axis::Axis;
pub use series::{Mark, Point, Series};
pub use style::STYLE;

/// Points over two axes.
///
/// # Cost
/// Linear in the points; labels of points are placed against one another, which is quadratic in the labels.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    id: String,
    title: String,
    description: String,
    x: Axis,
    y: Axis,
    series: Vec<Series>,
    size: (u32, u32),
}

impl Chart {
    /// A chart without points. Its id is made from the title.
    pub fn new(title: impl Into<String>, x: Axis, y: Axis) -> Self {
        let title = title.into();
        Chart { id: slug(&title), title, description: String::new(), x, y, series: Vec::new(), size: (760, 320) }
    }

    /// The id of the `svg` element; a page must not have the same one twice. Letters, digits and `-` are kept.
    pub fn id(mut self, id: &str) -> Self {
        self.id = slug(id);
        self
    }

    /// What the picture shows, for those who cannot see it; axes and series are described in any case.
    pub fn described(mut self, description: impl Into<String>) -> Self {
        self.description = description.into();
        self
    }

    /// The width of the picture and the height of its frame, in pixels; titles, labels and legend come on top.
    pub fn sized(mut self, width: u32, frame_height: u32) -> Self {
        self.size = (width.clamp(240, 4000), frame_height.clamp(40, 4000));
        self
    }

    /// With one more series.
    pub fn with(mut self, series: Series) -> Self {
        self.series.push(series);
        self
    }

    /// Adds a series.
    pub fn push(&mut self, series: Series) {
        self.series.push(series);
    }

    /// Whether there is any point to draw.
    pub fn is_empty(&self) -> bool {
        self.series.iter().flat_map(|series| &series.points).all(|point| !self.shows(point))
    }

    /// The picture.
    pub fn to_svg(&self) -> String {
        draw::svg(self, true)
    }

    /// The picture for a page that has [`STYLE`] in a style sheet of its own, and allows no style inside pictures.
    pub fn to_bare_svg(&self) -> String {
        draw::svg(self, false)
    }

    /// Whether bars and intervals reach along x: they reach along the axis without categories, or the vertical one if
    /// neither has categories.
    fn reach_along_x(&self) -> bool {
        self.y.is_categories()
    }

    fn shows(&self, point: &Point) -> bool {
        let reach = if self.reach_along_x() { &self.x } else { &self.y };
        let ends = point.ends.is_none_or(|(low, high)| reach.shows(low) && reach.shows(high));
        self.x.shows(point.x) && self.y.shows(point.y) && ends
    }

    /// Points that cannot be drawn although they are numbers: not positive on a logarithmic axis, or too far away.
    fn n_left_out(&self) -> usize {
        let points = self.series.iter().flat_map(|series| &series.points);
        points.filter(|point| !point.x.is_nan() && !point.y.is_nan() && !self.shows(point)).count()
    }

    /// Everything that must be visible along one axis.
    fn values(&self, along_x: bool) -> impl Iterator<Item = f64> + '_ {
        let reaches = self.reach_along_x() == along_x;
        let is_log = if along_x { self.x.scale == axis::Scale::Log } else { self.y.scale == axis::Scale::Log };
        let of_series = move |series: &Series| {
            // A bar begins at zero.
            (series.mark == Mark::Bars && reaches && !is_log).then_some(0.0)
        };
        // A vertical bar has its value written above it.
        let hats = self.series.iter().filter(move |series| series.mark == Mark::Bars && reaches && !along_x);
        let hats = hats.flat_map(|series| &series.points).filter(|point| self.shows(point)).map(|point| 1.08 * point.y);
        let points = self.series.iter().flat_map(|series| &series.points).filter(|point| self.shows(point));
        let values = points.flat_map(move |point| {
            let own = if along_x { point.x } else { point.y };
            let ends = point.ends.filter(|_| reaches).map(|(low, high)| [low, high]);
            std::iter::once(own).chain(ends.into_iter().flatten())
        });
        self.series.iter().filter_map(of_series).chain(hats).chain(values)
    }
}

/// Lower case letters, digits and `-`, beginning with a letter: fit for an id.
fn slug(text: &str) -> String {
    let mut slug = String::new();
    for letter in text.chars().flat_map(char::to_lowercase) {
        if letter.is_ascii_alphanumeric() {
            slug.push(letter);
        } else if !slug.ends_with('-') && !slug.is_empty() {
            slug.push('-');
        }
    }
    let slug = slug.trim_end_matches('-');
    if slug.starts_with(|first: char| first.is_ascii_alphabetic()) { slug.to_owned() } else { format!("chart-{slug}") }
}

#[cfg(test)]
mod tests;
