//! Colours and markers. A series is recognized by both, and a line by its dashes, too, so that neither colour-blind
//! readers nor printers without colours are left out.

use super::svg::{Svg, px};

/// Colours on white, at least 3:1 against it; after Okabe & Ito and after Tol, darkened where they were too light.
const LIGHT: [&str; 10] =
    ["#0072b2", "#d55e00", "#00805e", "#aa4499", "#9a6a00", "#3390c4", "#882255", "#332288", "#6b7a00", "#555555"];

/// How many series can be told apart by colour; the next ones repeat colours with other markers.
pub(super) const N_COLORS: usize = LIGHT.len();

const DASHES: [&str; 5] = ["", "7 3", "2 3", "9 3 2 3", "4 2"];

/// The style sheet of a chart: colours for paper are in attributes, so that every viewer gets them; this adds those for
/// dark screens.
pub const STYLE: &str = "\
.chr-chart text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans','DejaVu Sans',sans-serif}\
@media screen and (prefers-color-scheme:dark){\
.chr-chart .paper{fill:#1b1f24}.chr-chart .ink{fill:#e4e7eb}.chr-chart .soft{fill:#b3bac4}\
.chr-chart .grid{stroke:#343a42}.chr-chart .axis{stroke:#8a929c}.chr-chart .halo{stroke:#1b1f24}\
.chr-chart .f0{fill:#4fa8e0}.chr-chart .k0{stroke:#4fa8e0}.chr-chart .f1{fill:#ff8a3d}.chr-chart .k1{stroke:#ff8a3d}\
.chr-chart .f2{fill:#2fbf95}.chr-chart .k2{stroke:#2fbf95}.chr-chart .f3{fill:#d98bcb}.chr-chart .k3{stroke:#d98bcb}\
.chr-chart .f4{fill:#e6b422}.chr-chart .k4{stroke:#e6b422}.chr-chart .f5{fill:#8ccbef}.chr-chart .k5{stroke:#8ccbef}\
.chr-chart .f6{fill:#e07a9b}.chr-chart .k6{stroke:#e07a9b}.chr-chart .f7{fill:#a99bf0}.chr-chart .k7{stroke:#a99bf0}\
.chr-chart .f8{fill:#c3cc4a}.chr-chart .k8{stroke:#c3cc4a}.chr-chart .f9{fill:#b8b8b8}.chr-chart .k9{stroke:#b8b8b8}}";

/// Main text.
pub(super) const INK: &str = "#1f2328";
/// Secondary text.
pub(super) const SOFT: &str = "#57606a";
pub(super) const GRID: &str = "#e3e6ea";
pub(super) const AXIS: &str = "#6e7781";
pub(super) const PAPER: &str = "#ffffff";

/// The look of the n-th series.
#[derive(Clone, Copy)]
pub(super) struct Look(pub(super) usize);

impl Look {
    fn color(self) -> usize {
        self.0 % N_COLORS
    }

    /// Attributes of something that is filled.
    pub(super) fn fill(self) -> [(&'static str, String); 2] {
        [("class", format!("f{}", self.color())), ("fill", LIGHT[self.color()].to_owned())]
    }

    /// Attributes of something that is drawn as a line.
    pub(super) fn stroke(self) -> [(&'static str, String); 2] {
        [("class", format!("k{}", self.color())), ("stroke", LIGHT[self.color()].to_owned())]
    }

    pub(super) fn dashes(self) -> &'static str {
        DASHES[self.0 % DASHES.len()]
    }

    /// Draws the series' marker; `said` is its tooltip, which screen readers find, too.
    pub(super) fn marker(self, svg: &mut Svg, x: f64, y: f64, said: Option<&str>) {
        // Ten shapes with ten colours, then the shapes move on by one.
        let shape = (self.0 + self.0 / N_COLORS) % 10;
        let path = path(shape, x, y);
        // Rings, crosses and the like are lines; the others are filled.
        let mut attributes = if matches!(shape, 5 | 6 | 8 | 9) { self.stroke() } else { self.fill() }.to_vec();
        if matches!(shape, 5 | 6 | 8 | 9) {
            attributes.extend([("fill", "none".to_owned()), ("stroke-width", "2.2".to_owned())]);
        }
        attributes.push(("d", path));
        match said {
            None => svg.leaf("path", &attributes),
            Some(said) => {
                svg.open("path", &attributes);
                svg.words("title", &[], said);
                svg.close("path");
            }
        }
    }
}

/// The outline of a marker about nine pixels wide.
fn path(shape: usize, x: f64, y: f64) -> String {
    let polygon = |corners: &[(f64, f64)]| {
        let corner = |(dx, dy): &(f64, f64)| format!("{} {}", px(x + dx), px(y + dy));
        format!("M{}Z", corners.iter().map(corner).collect::<Vec<_>>().join("L"))
    };
    let circle = |r: f64| {
        let r2 = px(r);
        format!("M{} {}a{r2} {r2} 0 1 0 {} 0a{r2} {r2} 0 1 0 -{} 0Z", px(x - r), px(y), px(2.0 * r), px(2.0 * r))
    };
    match shape {
        0 => circle(4.5),
        1 => polygon(&[(-4.0, -4.0), (4.0, -4.0), (4.0, 4.0), (-4.0, 4.0)]),
        2 => polygon(&[(0.0, -5.2), (5.0, 3.8), (-5.0, 3.8)]),
        3 => polygon(&[(0.0, -5.6), (5.0, 0.0), (0.0, 5.6), (-5.0, 0.0)]),
        4 => polygon(&[(0.0, 5.2), (5.0, -3.8), (-5.0, -3.8)]),
        5 => format!("M{} {}h10M{} {}v10", px(x - 5.0), px(y), px(x), px(y - 5.0)),
        6 => format!("M{} {}l8 8m0 -8l-8 8", px(x - 4.0), px(y - 4.0)),
        7 => {
            let corner = |n: u32| {
                let r = if n.is_multiple_of(2) { 5.8 } else { 2.4 };
                let angle = std::f64::consts::PI * (f64::from(n) / 5.0 - 0.5);
                (r * angle.cos(), r * angle.sin())
            };
            polygon(&(0..10).map(corner).collect::<Vec<_>>())
        }
        8 => circle(4.0),
        _ => polygon(&[(-3.8, -3.8), (3.8, -3.8), (3.8, 3.8), (-3.8, 3.8)]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twenty_series_differ_in_colour_or_marker() {
        let mut seen = std::collections::BTreeSet::new();
        for n in 0..20 {
            let mut svg = Svg::default();
            Look(n).marker(&mut svg, 0.0, 0.0, None);
            assert!(seen.insert(svg.finish()), "series {n} looks like another");
        }
    }

    /// Relative luminance as WCAG 2 defines it.
    fn luminance(color: &str) -> f64 {
        let part = |at: usize| {
            let share = f64::from(u8::from_str_radix(&color[at..at + 2], 16).unwrap()) / 255.0;
            if share <= 0.04045 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5)
    }

    fn contrast(a: &str, b: &str) -> f64 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn every_colour_stands_out_from_its_paper() {
        for color in LIGHT {
            assert!(contrast(color, PAPER) >= 3.0, "{color} on white: {}", contrast(color, PAPER));
        }
        assert!(contrast(INK, PAPER) >= 7.0 && contrast(SOFT, PAPER) >= 4.5);
        let dark: Vec<&str> = STYLE.split("{fill:").skip(1).map(|rest| &rest[..7]).collect();
        assert_eq!(dark.len(), 13, "paper, ink, soft and ten series");
        for color in &dark[1..] {
            assert!(contrast(color, dark[0]) >= 3.0, "{color} on {}: {}", dark[0], contrast(color, dark[0]));
        }
    }
}
