//! Taxonomies: what is refused, with which words, and what the tree looks like.

#![allow(clippy::unwrap_used, reason = "tests")]

use chrysalis_table::{Column, Domain, Kind, Taxonomy, TaxonomyError, TaxonomyFile, Value};

fn words(texts: &[&str]) -> Domain {
    (**Column::texts("x", texts.iter().copied()).domain()).clone()
}

fn integers(numbers: &[i64]) -> Domain {
    Domain::new(Kind::Integer, numbers.iter().copied().map(Value::Integer).collect(), false)
}

fn check_error(text: &str, message: &str) {
    let error = TaxonomyFile::parse(text).unwrap_err();
    assert_eq!(error.to_string(), message);
    assert!(!error.hint().is_empty());
}

#[test]
fn broken_taxonomies_name_the_line_and_the_value() {
    check_error("", "the taxonomy is empty");
    check_error("a;g;*\nb;*\n", "line 2 (`b`) has 2 levels, line 1 has 3");
    check_error("a;g;*\na;h;*\n", "line 2 repeats `a` of line 1");
    check_error("a;b;c;*\nd;c;b;*\n", "line 2: `b` lies above `c`, which lies above `b` elsewhere");
    check_error("a;b;a;*\n", "line 1: `a` lies above `b`, which lies above `a` elsewhere");
    check_error("a;g;x;*\nb;g;y;*\n", "line 2 puts `g` under `y`, line 1 under `x`");
    check_error("a;b;*\nb;g;*\n", "line 1: `b` is a value and also a group of other values");
    check_error("a;g;*\nb;g;all\n", "line 2 ends in `all`, line 1 in `*`");
    check_error("a;;*\n", "line 1 has an empty label at level 2");
    check_error(&format!("{}*\n", "x;".repeat(64)), "the taxonomy has 65 levels, but at most 64 are allowed");
}

#[test]
fn a_value_without_a_line_is_an_error_unless_it_is_missing() {
    let file = TaxonomyFile::parse("Truck;Vehicle;*\nSedan;Vehicle;*\n").unwrap();
    let error = file.bind(&words(&["Bus", "Sedan"])).unwrap_err();
    assert_eq!(error, TaxonomyError::MissingLeaf { value: "Bus".into() });
    let tree = file.bind(&words(&["", "Sedan"])).unwrap();
    assert_eq!(tree.node(tree.common_ancestor(0..=1)).label, "*");
}

#[test]
fn the_tree_keeps_only_what_occurs_and_nodes_cover_contiguous_ranks() {
    let file = TaxonomyFile::parse("a;g;*\nb;h;*\nc;g;*\nd;h;*\nz;i;*\n").unwrap();
    let domain = words(&["a", "b", "c", "d"]);
    let tree = file.bind(&domain).unwrap();
    assert_eq!(tree.n_leaves(), 4);
    let g = tree.common_ancestor(0..=1);
    let below: Vec<_> = tree.codes_below(g).map(|code| domain.text(code).into_owned()).collect();
    assert_eq!((tree.node(g).label.as_str(), below), ("g", vec!["a".to_owned(), "c".to_owned()]));
    assert_eq!(tree.common_ancestor(1..=2), 0);
    assert_eq!(tree.node(tree.common_ancestor(3..=3)).label, "d");
    assert_eq!(TaxonomyFile::from_lines(&tree.lines()).unwrap().bind(&domain).unwrap(), tree);
}

#[test]
fn intervals_nest_and_carry_their_bounds() {
    let tree = Taxonomy::intervals(&integers(&[-3, 4, 17, 19, 20, 38]), &[5.0, 10.0, 20.0]).unwrap();
    let bounds = |ranks| {
        let (low, high) = tree.node(tree.common_ancestor(ranks)).bounds.clone().unwrap();
        format!("{low}..{high}")
    };
    assert_eq!(bounds(2..=3), "15..19");
    assert_eq!(bounds(1..=3), "0..19");
    assert_eq!(bounds(4..=5), "20..39");
    assert_eq!(bounds(0..=5), "-3..38");
    assert_eq!(bounds(4..=4), "20..20");
    let error = Taxonomy::intervals(&integers(&[1]), &[5.0, 12.0]).unwrap_err();
    assert_eq!(error.to_string(), "interval widths must grow, each a multiple of the one before: 12 does not follow 5");
    assert!(Taxonomy::intervals(&words(&["a"]), &[5.0]).is_err());
    assert!(Taxonomy::intervals(&integers(&[1]), &[0.0]).is_err());
}

#[test]
fn prefixes_mask_from_the_right() {
    let tree = Taxonomy::prefixes(&words(&["14248", "14249", "14311", "90210"])).unwrap();
    let label = |ranks| tree.node(tree.common_ancestor(ranks)).label.clone();
    assert_eq!([label(0..=0), label(0..=1), label(0..=2), label(0..=3)], ["14248", "1424*", "14***", "*"]);
    let error = Taxonomy::prefixes(&words(&["123", "14249"])).unwrap_err();
    assert_eq!(error.to_string(), "prefix masking needs values of one length: `123` has 3 characters, `14249` has 5");
}

#[test]
fn an_ordered_column_needs_ranges_and_takes_the_bounds_of_the_whole_label() {
    let file = TaxonomyFile::parse("1;low;*\n2;low;*\n3;high;*\n4;high;*\n").unwrap();
    let tree = file.bind(&integers(&[2, 3, 4])).unwrap();
    assert_eq!(tree.node(1).bounds, Some((Value::Integer(1), Value::Integer(2))));
    let file = TaxonomyFile::parse("1;odd;*\n2;even;*\n3;odd;*\n").unwrap();
    assert_eq!(file.bind(&integers(&[1, 2, 3])).unwrap_err(), TaxonomyError::NotARange { label: "odd".into() });
    let file = TaxonomyFile::parse("1;x;*\nb;x;*\n").unwrap();
    assert_eq!(file.bind(&integers(&[1])).unwrap_err().to_string(), "line 2: `b` is not an integer");
}

/// The labels of all values at every level.
fn labels(text: &str, values: &[&str]) -> Vec<Vec<String>> {
    let tree = TaxonomyFile::parse(text).unwrap().bind(&words(values)).unwrap();
    let label = |level: usize, code: u32| tree.node(tree.at_level(code, level)).label.clone();
    (0..tree.n_levels()).map(|level| (0..values.len() as u32).map(|code| label(level, code)).collect()).collect()
}

#[test]
fn levels_are_the_columns_of_the_file() {
    let all = labels("a;g;x;*\nb;g;x;*\nc;h;x;*\nd;i;y;*\n", &["a", "b", "c", "d"]);
    assert_eq!(all, [["a", "b", "c", "d"], ["g", "g", "h", "i"], ["x", "x", "x", "y"], ["*"; 4]]);
    // A label repeated below or above its place does not affect the others.
    let all = labels("a;a;x;*\nb;g;x;*\nc;g;x;*\nd;*;*;*\n", &["a", "b", "c", "d"]);
    assert_eq!(all, [["a", "b", "c", "d"], ["a", "g", "g", "d"], ["x", "x", "x", "d"], ["*"; 4]]);
}

#[test]
fn levels_nest_even_where_the_columns_of_a_file_do_not() {
    // Line by line `a` would be shown as `p` and `b` as `q`, although both were `p` before.
    let all = labels("a;p;p;q;*\nb;p;q;q;*\n", &["a", "b"]);
    assert_eq!(all, [["a", "b"], ["p", "p"], ["p", "p"], ["q", "q"], ["*", "*"]]);
}

#[test]
fn intervals_prefixes_and_missing_values_have_levels_too() {
    let numbers = Domain::new(Kind::Integer, [3, 7, 12].map(Value::Integer).to_vec(), true);
    let tree = Taxonomy::intervals(&numbers, &[5.0, 10.0]).unwrap();
    let label = |level: usize, code: u32| tree.node(tree.at_level(code, level)).label.clone();
    assert_eq!(tree.n_levels(), 4);
    assert_eq!([0, 1, 2, 3].map(|level| label(level, 2)), ["7", "5..9", "0..9", "*"]);
    assert_eq!([0, 1, 2, 3].map(|level| label(level, 0)), ["", "", "", "*"], "a missing value stays itself");
    let tree = Taxonomy::prefixes(&words(&["123", "124", "200"])).unwrap();
    let label = |level: usize| tree.node(tree.at_level(1, level)).label.clone();
    assert_eq!([0, 1, 2, 3].map(label), ["124", "12*", "1**", "*"]);
}

fn moments(texts: &[&str]) -> Domain {
    let value = |text: &&str| Value::parse(Kind::DateTime, text).unwrap();
    Domain::new(Kind::DateTime, texts.iter().map(value).collect(), false)
}

#[test]
fn calendar_units_nest_and_carry_their_bounds() {
    use chrysalis_table::CalendarUnit::{Day, Hour, Month, Quarter, Week, Year};
    let texts = ["1969-12-31T23:59:59.5", "2024-02-29T08:00:00", "2024-03-01T14:05:00", "2024-03-01T14:59:00"];
    let domain = moments(&texts);
    let tree = Taxonomy::calendar(&domain, &[Hour, Day, Month, Year]).unwrap();
    let lines: Vec<String> = tree.lines().iter().map(|line| line.join(";")).collect();
    assert_eq!(
        lines,
        [
            "1969-12-31T23:59:59.5;1969-12-31T23;1969-12-31;1969-12;1969;*",
            "2024-02-29T08:00:00;2024-02-29T08;2024-02-29;2024-02;2024;*",
            "2024-03-01T14:05:00;2024-03-01T14;2024-03-01;2024-03;2024;*",
            "2024-03-01T14:59:00;2024-03-01T14;2024-03-01;2024-03;2024;*",
        ]
    );
    let year = tree.node(tree.common_ancestor(1..=3));
    let (low, high) = year.bounds.as_ref().unwrap();
    assert_eq!(format!("{} {low} {high}", year.label), "2024 2024-01-01T00:00:00 2024-12-31T23:59:59.999999");
    assert_eq!(tree.n_levels(), 6);
    let error = |units: &[_]| Taxonomy::calendar(&domain, units).unwrap_err().to_string();
    let nest = "calendar units must nest, each in the one after it: ";
    assert_eq!(error(&[Week, Month]), format!("{nest}a week may lie in two months"));
    assert_eq!(error(&[Week, Year]), format!("{nest}a week may lie in two years"));
    assert_eq!(error(&[Month, Day]), format!("{nest}a month does not lie within one day"));
    assert_eq!(error(&[Day, Day]), format!("{nest}`day` is there twice"));
    assert!(Taxonomy::calendar(&domain, &[Day, Week]).is_ok() && Taxonomy::calendar(&domain, &[Quarter, Year]).is_ok());
    let day = Value::parse(Kind::Date, "2024-02-29").unwrap();
    let dates = Domain::new(Kind::Date, vec![day], false);
    assert!(Taxonomy::calendar(&dates, &[Month, Quarter, Year]).is_ok());
    assert_eq!(
        Taxonomy::calendar(&dates, &[Day, Month]).unwrap_err().to_string(),
        "dates have no intervals shorter than two days, so `day` would change nothing"
    );
    assert_eq!(
        Taxonomy::calendar(&integers(&[1]), &[Year]).unwrap_err().to_string(),
        "calendar units need a column of dates or datetimes, but this one is an integer"
    );
}

#[test]
fn datetimes_have_intervals_of_seconds() {
    let domain = moments(&["1969-12-31T23:59:59.5", "2024-03-01T14:05:00", "2024-03-01T14:20:00"]);
    let tree = Taxonomy::intervals(&domain, &[900.0, 3_600.0]).unwrap();
    let lines: Vec<String> = tree.lines().iter().map(|line| line.join(";")).collect();
    assert_eq!(
        lines[0],
        "1969-12-31T23:59:59.5;1969-12-31T23:45:00..1969-12-31T23:59:59.999999;\
         1969-12-31T23:00:00..1969-12-31T23:59:59.999999;*"
    );
    let hour = tree.node(tree.common_ancestor(1..=2));
    assert_eq!(hour.label, "2024-03-01T14:00:00..2024-03-01T14:59:59.999999");
    assert!(Taxonomy::intervals(&domain, &[0.1, 0.5]).is_ok());
    assert!(Taxonomy::intervals(&domain, &[900.0, 1_000.0]).is_err());
    let ends = moments(&["0000-01-01T00:00:00", "9999-12-31T23:59:59.999999"]);
    let tree = Taxonomy::intervals(&ends, &[700_000.0, 1.4e300]).unwrap();
    assert_eq!(tree.n_leaves(), 2);
}
