//! A chart of the reconstruction errors.

use std::fmt::Write;

const COLOURS: [&str; 5] = ["#999999", "#555555", "#d95f02", "#7570b3", "#1b9e77"];
const WIDTH: f64 = 300.0;
const HEIGHT: f64 = 220.0;
const LEFT: f64 = 50.0;
const TOP: f64 = 30.0;

/// One panel per group of principles; `lines` has one row per principle of all panels, one error per way.
pub(crate) fn svg(ways: &[&str], panels: &[&Vec<String>], lines: &[Vec<f64>]) -> String {
    let mut text = String::from(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"820\" height=\"330\" font-family=\"sans-serif\" font-size=\"12\">\n",
    );
    let mut first = 0;
    for (at, panel) in panels.iter().enumerate() {
        let rows = &lines[first..first + panel.len()];
        first += panel.len();
        let left = LEFT + at as f64 * 390.0;
        let most = rows.iter().flatten().copied().fold(0.0, f64::max);
        let top = (most * 2.0).ceil() / 2.0;
        let x = |place: usize| left + WIDTH * place as f64 / (panel.len() - 1) as f64;
        let y = |error: f64| TOP + HEIGHT * (1.0 - error / top);
        for step in 0..=4 {
            let level = top * f64::from(step) / 4.0;
            let _ = writeln!(text, "<path d=\"M{left} {0:.1}H{1}\" stroke=\"#ddd\"/>", y(level), left + WIDTH);
            let _ = writeln!(
                text,
                "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{level:.2}</text>",
                left - 6.0,
                y(level) + 4.0
            );
        }
        for (place, principle) in panel.iter().enumerate() {
            let _ = writeln!(
                text,
                "<text x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\">{principle}</text>",
                x(place),
                TOP + HEIGHT + 18.0
            );
        }
        for (way, colour) in COLOURS.iter().enumerate().take(ways.len()) {
            let points: Vec<String> = rows
                .iter()
                .enumerate()
                .map(|(place, errors)| format!("{:.1},{:.1}", x(place), y(errors[way])))
                .collect();
            let _ = writeln!(
                text,
                "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>",
                points.join(" ")
            );
        }
    }
    for (at, (way, colour)) in ways.iter().zip(COLOURS).enumerate() {
        let x = LEFT + 155.0 * at as f64;
        let _ = writeln!(text, "<path d=\"M{x} 300h24\" stroke=\"{colour}\" stroke-width=\"2\"/>");
        let _ = writeln!(text, "<text x=\"{}\" y=\"304\">{way}</text>", x + 30.0);
    }
    let _ = writeln!(text, "<text x=\"{LEFT}\" y=\"16\">KL-divergence from the microdata (nats)</text>\n</svg>");
    text
}
