use super::*;

fn errors() -> Chart {
    Chart::new("Query error", Axis::linear("l"), Axis::linear("median error").percent())
        .with(Series::line("anatomy", [(2.0, 0.01), (4.0, 0.02), (6.0, 0.04)]))
        .with(Series::line("generalize", [(2.0, 0.08), (4.0, 0.19), (6.0, 0.31)]))
}

/// The numbers in all attributes of this name, in order.
fn numbers(svg: &str, attribute: &str) -> Vec<f64> {
    let start = format!(" {attribute}=\"");
    svg.split(&start).skip(1).map(|rest| rest.split('"').next().unwrap().parse().unwrap()).collect()
}

/// Tags must close in the order they open: a reader of XML would refuse the rest.
fn check_nesting(svg: &str) {
    let mut open = Vec::new();
    for tag in svg.split('<').skip(1) {
        let tag = &tag[..tag.find('>').expect("a tag ends")];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "in {svg}");
        } else if !tag.ends_with('/') {
            open.push(tag.split([' ', '\n']).next().unwrap());
        }
    }
    assert!(open.is_empty(), "never closed: {open:?}");
}

#[test]
fn a_chart_has_a_title_a_description_and_its_series() {
    let svg = errors().described("Lower is better.").to_svg();
    check_nesting(&svg);
    assert!(svg.contains("role=\"img\" aria-labelledby=\"query-error-title query-error-desc\""), "{svg}");
    assert!(svg.contains("<title id=\"query-error-title\">Query error</title>"));
    let words = "Lower is better. Line chart of median error against l; series: anatomy, generalize.";
    assert!(svg.contains(words), "{svg}");
    assert!(svg.contains("<title>generalize, l 6, median error 31 %</title>"), "{svg}");
}

#[test]
fn the_same_chart_is_the_same_text() {
    assert_eq!(errors().to_svg(), errors().to_svg());
}

#[test]
fn lines_go_where_the_numbers_are() {
    let chart = Chart::new("", Axis::linear("").including(0.0).including(10.0), Axis::linear("").from_zero())
        .with(Series::line("one", [(0.0, 0.0), (5.0, 5.0), (10.0, 10.0)]));
    let svg = chart.to_svg();
    let path = svg.split("stroke=\"#0072b2\" d=\"M").nth(1).unwrap().split('"').next().unwrap();
    let at: Vec<f64> = path.split(['L', ' ']).map(|text| text.parse().unwrap()).collect();
    // Left to right, bottom to top, and the middle in the middle.
    assert!(at[0] < at[2] && at[2] < at[4] && at[1] > at[3] && at[3] > at[5], "{at:?}");
    assert!((at[2] - (at[0] + at[4]) / 2.0).abs() < 0.2 && (at[3] - (at[1] + at[5]) / 2.0).abs() < 0.2, "{at:?}");
}

#[test]
fn a_gap_interrupts_a_line() {
    let chart = Chart::new("Gap", Axis::linear("x"), Axis::linear("y"))
        .with(Series::line("one", [(1.0, 1.0), (2.0, f64::NAN), (3.0, 3.0), (4.0, 1.0)]));
    let svg = chart.to_svg();
    let path = svg.split("stroke=\"#0072b2\" d=\"").nth(1).unwrap().split('"').next().unwrap();
    assert_eq!((path.matches('M').count(), path.matches('L').count()), (2, 1), "{path}");
    assert!(!svg.contains("outside of what"), "a gap is no mistake");
}

#[test]
fn lying_bars_are_as_long_as_their_numbers() {
    let chart = Chart::new("Bars", Axis::linear("share"), Axis::categories("", ["a", "b", "c"]))
        .with(Series::bars("one", [(1.0, 0.0), (2.0, 1.0), (4.0, 2.0)]));
    let svg = chart.to_svg();
    check_nesting(&svg);
    // The first width is the picture's, the second the paper's.
    let widths = &numbers(&svg, "width")[2..];
    assert!((widths[1] / widths[0] - 2.0).abs() < 0.01 && (widths[2] / widths[0] - 4.0).abs() < 0.01, "{widths:?}");
    // Bars are thick enough to be seen.
    let y: Vec<f64> = numbers(&svg, "height")[2..].to_vec();
    assert!(y.iter().all(|height| *height > 10.0), "{y:?}");
}

#[test]
fn bars_of_two_series_stand_side_by_side() {
    let chart = Chart::new("Bars", Axis::categories("", ["a", "b"]), Axis::linear("n"))
        .with(Series::bars("one", [(0.0, 1.0), (1.0, 2.0)]))
        .with(Series::bars("two", [(0.0, 3.0), (1.0, 1.0)]));
    let svg = chart.to_svg();
    check_nesting(&svg);
    let left: Vec<f64> = svg
        .split("<rect ")
        .skip(2)
        .map(|rest| rest.split(" x=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap())
        .collect();
    assert!(left[0] < left[2] && left[2] < left[1] && left[1] < left[3], "{left:?}");
}

#[test]
fn intervals_reach_from_end_to_end() {
    let chart = Chart::new("Bounds", Axis::log("width"), Axis::categories("", ["a"]))
        .with(Series::intervals("one", [(10.0, 0.0, 1.0, 100.0)]));
    let svg = chart.to_svg();
    check_nesting(&svg);
    assert!(svg.contains("<title>one, width 10, a, from 1 to 100</title>"), "{svg}");
}

#[test]
fn hostile_words_stay_words() {
    let nasty = "</title><script>alert(1)</script>\" onload=\"alert(2)";
    let chart = Chart::new(nasty, Axis::categories(nasty, [nasty, nasty]), Axis::linear(nasty))
        .id(nasty)
        .described(nasty)
        .with(Series::new(nasty, Mark::Points, [Point::new(0.0, 1.0).labelled(nasty)]))
        .with(Series::bars(nasty, [(1.0, 1.0)]));
    let svg = chart.to_svg();
    check_nesting(&svg);
    assert!(!svg.contains("<script") && !svg.contains("\" onload"), "{svg}");
    assert!(svg.contains("id=\"title-script-alert-1-script-onload-alert-2\""), "{svg}");
}

#[test]
fn what_a_logarithm_cannot_show_is_left_out_and_said() {
    let chart = Chart::new("Log", Axis::linear("x"), Axis::log("y"))
        .with(Series::line("one", [(1.0, 0.0), (2.0, 0.1), (3.0, f64::INFINITY)]));
    let svg = chart.to_svg();
    assert!(svg.contains("2 points lie outside of what the axes can show"), "{svg}");
    assert!(svg.contains("<title>one, x 2, y 0.1</title>") && !svg.contains("NaN") && !svg.contains("inf"), "{svg}");
}

#[test]
fn nothing_at_all_is_still_a_picture() {
    for chart in [
        Chart::new("", Axis::linear(""), Axis::log("")),
        Chart::new("Empty", Axis::categories("", Vec::<String>::new()), Axis::linear("y"))
            .with(Series::bars("none", [])),
        Chart::new("NaN", Axis::linear("x"), Axis::linear("y"))
            .with(Series::line("none", [(f64::NAN, 1.0)]))
            .with(Series::intervals("too far", [(1.0, 2.0, f64::NEG_INFINITY, 1e300)])),
    ] {
        let svg = chart.to_svg();
        check_nesting(&svg);
        assert!(chart.is_empty() && svg.contains("nothing to show"), "{svg}");
        assert!(!svg.contains("NaN\"") && !svg.contains("inf"), "{svg}");
    }
}

#[test]
fn labels_of_points_do_not_overlap() {
    let points = (0..30).map(|n| Point::new(f64::from(n % 3), f64::from(n % 2)).labelled(format!("run {n}")));
    let chart =
        Chart::new("Crowd", Axis::linear("x"), Axis::linear("y")).with(Series::new("all", Mark::Points, points));
    let svg = chart.to_svg();
    let at = |text: &str| -> Vec<f64> {
        let number = |name: &str| -> f64 {
            text.split(&format!(" {name}=\"")).nth(1).unwrap().split('"').next().unwrap().parse().unwrap()
        };
        vec![number("x"), number("y")]
    };
    let labels: Vec<Vec<f64>> =
        svg.split("<text ").filter(|text| text.contains(">run ")).map(|text| at(&format!(" {text}"))).collect();
    assert!(labels.len() >= 6, "only {} labels", labels.len());
    for (n, a) in labels.iter().enumerate() {
        for b in &labels[n + 1..] {
            assert!((a[0] - b[0]).abs() > 20.0 || (a[1] - b[1]).abs() >= 12.0, "{a:?} and {b:?}");
        }
    }
}

#[test]
fn the_last_tick_is_inside_the_picture() {
    let chart = Chart::new("Wide", Axis::log("x").percent(), Axis::categories("", ["a"]))
        .with(Series::intervals("one", [(2.0, 0.0, 0.05, 10.0)]));
    let svg = chart.to_svg();
    let text = svg.split("<text ").find(|text| text.contains(">1,000 %<")).unwrap();
    let at: f64 = text.split(" x=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap();
    // Seven letters of 12 pixels, about half of them to the right.
    assert!(at + 27.0 <= numbers(&svg, "width")[0], "{text}");
}

#[test]
fn ids_are_made_of_letters_digits_and_dashes() {
    for (text, id) in [("Risk / utility", "risk-utility"), ("", "chart-"), ("4 runs", "chart-4-runs"), ("É", "chart-")]
    {
        assert_eq!(slug(text), id);
    }
}
