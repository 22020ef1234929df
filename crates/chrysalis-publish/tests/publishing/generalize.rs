//! What `generalize` shows: every row is covered, nothing else is revealed, and the penalty is that of what is shown.

use chrysalis_testkit::required;
use std::collections::{BTreeMap, BTreeSet};

use crate::common::{attributes, partition, plain, quasi, rng, specs};
use chrysalis_publish::method::{Generalize, Method, Outcome};
use chrysalis_publish::partitioner::{ByColumn, Mondrian};
use chrysalis_publish::{AttributeSpec, Job, Microdata, Partition, TaxonomySource};
use chrysalis_release::{Form, set_label};
use chrysalis_table::{
    Code, Column, ColumnRequest, CsvOptions, CsvReader, Domain, Kind, Role, Table, TaxonomyFile, Unwatched, Value,
};
use chrysalis_testkit::papers;
use chrysalis_testkit::strategies::{RandomTable, fixed, principles_for, tables_of};
use proptest::prelude::*;

/// A published row by column name.
type Row = BTreeMap<String, String>;

fn rows_of(table: &Table) -> Vec<Row> {
    let cell = |column: &Column, row| (column.name().to_owned(), column.domain().text(column.code(row)).into_owned());
    (0..table.rows()).map(|row| table.columns().iter().map(|column| cell(column, row)).collect()).collect()
}

fn publish(data: &Microdata, partition: &Partition, seed: u64) -> Outcome {
    Job::new(data, &[], partition, &mut rng(seed), &Unwatched).run(&Generalize).unwrap()
}

/// The values behind every label of every attribute.
fn members(outcome: &Outcome) -> BTreeMap<(String, String), BTreeSet<String>> {
    let mut members: BTreeMap<_, BTreeSet<String>> = BTreeMap::new();
    for row in rows_of(outcome.release.table("members").unwrap()) {
        let key = (row["attribute"].clone(), row["label"].clone());
        assert!(members.entry(key).or_default().insert(row["value"].clone()), "{row:?} comes twice");
    }
    members
}

/// The same table with a column `id` that is published as it is, so that every published row can be traced.
fn traced(table: &Table, attributes: &[AttributeSpec]) -> Microdata {
    let ids: Vec<i64> = (0..table.rows() as i64).collect();
    let columns = table.columns().iter().cloned().chain([Column::integers("id", &ids)]).collect();
    let mut attributes = attributes.to_vec();
    attributes.push(AttributeSpec::new("id", Role::Other));
    Microdata::new(Table::new(columns), &attributes).unwrap()
}

/// The position of a value, or of the end of a range; `None` for the missing value, which comes before all others.
fn position(domain: &Domain, text: &str) -> Option<f64> {
    let rank = |text: &str| (0..domain.len() as Code).find(|&code| domain.text(code) == text).map(f64::from);
    let value = || Value::parse(domain.kind(), text).and_then(|value| value.number());
    if text.is_empty() { None } else { value().or_else(|| rank(text)) }
}

/// Every published row covers the row it came from, groups are kept, labels and members agree, and the penalty is
/// that of the cells shown.
fn check(data: &Microdata, partition: &Partition) -> Result<Outcome, TestCaseError> {
    let outcome = publish(data, partition, 5);
    let members = members(&outcome);
    let shown = rows_of(outcome.release.table("generalized").unwrap());
    prop_assert_eq!(shown.len(), data.rows());
    let mut used = BTreeSet::new();
    let mut ncp = 0.0;
    let mut groups: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
    for row in &shown {
        let id: usize = row["id"].parse().unwrap();
        groups.entry(row["group_id"].parse().unwrap()).or_default().insert(id as u32);
        let text = |column: &Column| column.domain().text(column.code(id)).into_owned();
        let sensitive = data.sensitive().unwrap();
        prop_assert_eq!(&row[sensitive.name()], &text(sensitive));
        for (column, _) in data.quasi() {
            let (name, domain) = (column.name(), column.domain());
            if domain.kind().is_ordered() {
                let (low, high) = (&row[&format!("{name}_min")], &row[&format!("{name}_max")]);
                let (from, at, to) = (position(domain, low), position(domain, &text(column)), position(domain, high));
                prop_assert!(from <= at && at <= to, "{name}: {:?} is not in {low:?} to {high:?}", text(column));
                ncp += range_ncp(domain, from, to);
            } else {
                let key = (name.to_owned(), row[name].clone());
                let values = members.get(&key);
                prop_assert!(values.is_some_and(|values| values.contains(&text(column))), "{key:?} lacks a value");
                ncp += match values.unwrap().len() {
                    1 => 0.0,
                    n => n as f64 / domain.len() as f64,
                };
                used.insert(key);
            }
        }
    }
    prop_assert_eq!(members.into_keys().collect::<BTreeSet<_>>(), used, "labels of `members` and of the table");
    prop_assert_eq!(groups.keys().copied().collect::<Vec<_>>(), (1..=partition.n_groups() as u32).collect::<Vec<_>>());
    prop_assert_eq!(groups.into_values().collect::<BTreeSet<_>>(), crate::common::as_sets(partition));
    let is_shown = (outcome.ncp.sum - ncp).abs() < 1e-6;
    prop_assert!(is_shown, "{} reported, {ncp} shown", outcome.ncp.sum);
    prop_assert!((0.0..=1.0 + 1e-12).contains(&outcome.ncp.mean()));
    let by_attribute: f64 = outcome.ncp_by_attribute.iter().map(|(_, ncp)| ncp).sum();
    prop_assert!((outcome.ncp.sum - by_attribute).abs() < 1e-9);
    Ok(outcome)
}

/// The width of a range as a share of the domain's; from missing to a value costs 1.
fn range_ncp(domain: &Domain, from: Option<f64>, to: Option<f64>) -> f64 {
    let all = || (0..domain.len() as Code).filter_map(|code| position(domain, &domain.text(code)));
    match (from, to) {
        _ if from == to => 0.0,
        (Some(from), Some(to)) => {
            let width = all().fold(f64::MIN, f64::max) - all().fold(f64::MAX, f64::min);
            ((to - from) / width).min(1.0)
        }
        _ => 1.0,
    }
}

/// Rows dealt into groups at random; no principle matters here.
fn random_partitions(rows: usize) -> impl Strategy<Value = Partition> {
    prop::collection::vec(0..5usize, rows).prop_map(|group_of| {
        let mut groups = vec![Vec::new(); 5];
        (0u32..).zip(group_of).for_each(|(row, group)| groups[group].push(row));
        groups.retain(|group| !group.is_empty());
        let sizes: Vec<u32> = groups.iter().map(|group| group.len() as u32).collect();
        Partition::new(groups.concat(), &sizes)
    })
}

fn dealt() -> impl Strategy<Value = (RandomTable, Partition)> {
    (1..=25usize).prop_flat_map(|n| (tables_of(n), random_partitions(n)))
}

proptest! {
    #![proptest_config(fixed(300))]

    #[test]
    fn published_cells_cover_their_rows_and_groups_keep_theirs((data, partition) in dealt()) {
        let microdata = traced(&data.table, &attributes(&data));
        let outcome = check(&microdata, &partition)?;
        let expected: f64 = partition.groups().map(|group| data.ncp(group)).sum();
        let is_expected = (outcome.ncp.sum - expected).abs() < 1e-6;
        prop_assert!(is_expected, "{} reported, {expected} by the oracle", outcome.ncp.sum);
    }

    #[test]
    fn intervals_and_prefixes_cover_their_rows(
        (partition, numbers, zips) in (1..=25usize).prop_flat_map(|n| {
            let numbers = prop::collection::vec((-40..120i32, prop::bool::weighted(0.1)), n);
            (random_partitions(n), numbers, prop::collection::vec("(0[12][0-3][05])?", n))
        }),
        scale in prop::sample::select(vec![1.0, 10.0, 20.0, 3.0, 7.0]),
        steps in prop::sample::select(vec![vec![0.25, 0.5, 2.0, 20.0], vec![0.1], vec![0.7], vec![0.3, 0.6, 1.2]]),
    ) {
        let mut csv = String::from("i,r,d,z,s\n");
        for ((number, missing), zip) in numbers.iter().zip(&zips) {
            let real = if *missing { String::new() } else { (f64::from(*number) / scale).to_string() };
            csv.push_str(&format!("{number},{real},19{}-01-01,{zip},x\n", 20 + number.rem_euclid(70)));
        }
        let table = read(&csv, &[("r", Kind::Real)]);
        let widths = |widths: &[f64]| Some(TaxonomySource::Intervals(widths.to_vec()));
        let attributes = [
            quasi("i", widths(&[5.0, 10.0, 40.0])),
            quasi("r", widths(&steps)),
            quasi("d", widths(&[30.0, 360.0])),
            quasi("z", Some(TaxonomySource::Prefix)),
            AttributeSpec::new("s", Role::Sensitive),
        ];
        check(&traced(&table, &attributes), &partition)?;
    }

    /// Row order could carry information: nothing of it survives.
    #[test]
    fn a_shuffled_input_gives_the_same_groups(
        (data, partition, order) in (1..=25usize).prop_flat_map(|n| {
            (tables_of(n), random_partitions(n), Just((0..n as u32).collect::<Vec<_>>()).prop_shuffle())
        })
    ) {
        let mut place = vec![0; order.len()];
        (0u32..).zip(&order).for_each(|(at, &row)| place[row as usize] = at);
        let rows = partition.groups().flatten().map(|&row| place[row as usize]).collect();
        let sizes: Vec<u32> = partition.sizes().map(|size| size as u32).collect();
        let again = Partition::new(rows, &sizes);
        let original = publish(&crate::common::microdata(&data), &partition, 11);
        let shuffled = publish(&crate::common::microdata(&data.reordered(&order)), &again, 11);
        prop_assert_eq!(groups(&original), groups(&shuffled));
        prop_assert_eq!(members(&original), members(&shuffled));
        // With the same groups in the same order even the tables are the same, row by row.
        prop_assert_eq!(original.release.tables, shuffled.release.tables);
    }

    #[test]
    fn mondrian_and_generalize_together_cover_their_rows(
        (data, specs) in (1..=25usize).prop_flat_map(tables_of).prop_flat_map(|data| {
            let specs = principles_for(&data.sensitive);
            (Just(data), specs)
        })
    ) {
        let microdata = traced(&data.table, &attributes(&data));
        let Ok(partition) = partition(&Mondrian::default(), &microdata, &specs, 1) else { return Ok(()) };
        check(&microdata, &partition)?;
    }
}

/// A table from text; kinds are inferred unless given.
fn read(csv: &str, kinds: &[(&str, Kind)]) -> Table {
    let reader = CsvReader::open(csv.as_bytes(), &CsvOptions::default()).unwrap();
    let kind = |name: &str| kinds.iter().find(|(other, _)| *other == name).map(|(_, kind)| *kind);
    let request = |name: &String| ColumnRequest { kind: kind(name), ..ColumnRequest::named(name) };
    let wanted: Vec<ColumnRequest> = reader.header().iter().map(request).collect();
    reader.read(&wanted).unwrap()
}

/// The published groups without their ids, as a sorted list of sorted rows.
fn groups(outcome: &Outcome) -> Vec<Vec<Row>> {
    let mut groups: BTreeMap<String, Vec<Row>> = BTreeMap::new();
    for mut row in rows_of(outcome.release.table("generalized").unwrap()) {
        groups.entry(row.remove("group_id").unwrap()).or_default().push(row);
    }
    let mut groups: Vec<Vec<Row>> = groups.into_values().collect();
    groups.iter_mut().for_each(|group| group.sort());
    groups.sort();
    groups
}

fn by_column(data: &Microdata, column: &str, principles: &[&str]) -> Partition {
    partition(&ByColumn { column: column.into() }, data, &specs(principles), 1).unwrap()
}

/// Some columns of a published table, in its order.
fn cells(outcome: &Outcome, columns: &[&str]) -> Vec<Vec<String>> {
    papers::cells(outcome.release.table("generalized").unwrap(), columns)
}

fn sorted(mut cells: Vec<Vec<String>>) -> Vec<Vec<String>> {
    cells.sort();
    cells
}

#[test]
fn pa_table_2_from_table_1_with_ncp_13_5() {
    let data = plain(papers::table("pa/table-1.csv"), &["age", "sex"], Some("disease"));
    let outcome = publish(&data, &by_column(&data, "group_id", &["l=4"]), 1);
    assert!((outcome.ncp.sum - 13.5).abs() < 1e-9, "{}", outcome.ncp.sum);
    assert!((outcome.ncp.mean() - 0.75).abs() < 1e-9);
    assert_eq!((outcome.discernibility, outcome.group_sizes), (41, (4, 5)));
    let mut printed = papers::cells(&papers::table("pa/table-2.csv"), &["age_min", "age_max", "sex", "disease"]);
    printed.iter_mut().for_each(|row| row[2] = row[2].replace("F/M", "{F,M}"));
    assert_eq!(sorted(cells(&outcome, &["age_min", "age_max", "sex", "disease"])), sorted(printed));
}

#[test]
fn angel_table_1b_from_table_1() {
    let data = plain(papers::table("angel/table-1.csv"), &["age", "sex"], Some("disease"));
    let outcome = publish(&data, &by_column(&data, "group_id", &["l=2"]), 1);
    let columns = ["age_min", "age_max", "disease"];
    let printed = papers::cells(&papers::table("angel/table-1b.csv"), &columns);
    assert_eq!(sorted(cells(&outcome, &columns)), sorted(printed));
}

#[test]
fn butterfly_table_ii_from_table_i() {
    let taxonomy = TaxonomySource::File(papers::taxonomy("butterfly/vehicle.taxonomy.csv"));
    let attributes = [
        quasi("age", None),
        quasi("vehicle", Some(taxonomy)),
        quasi("postcode", None),
        AttributeSpec::new("occupation", Role::Other),
        AttributeSpec::new("faulty", Role::Sensitive),
    ];
    let data = Microdata::new(papers::table("butterfly/table-1.csv"), &attributes).unwrap();
    let outcome = publish(&data, &partition(&Mondrian::default(), &data, &specs(&["k=2"]), 1).unwrap(), 1);
    let columns = ["occupation", "vehicle", "faulty"];
    let printed = papers::cells(&papers::table("butterfly/table-2.csv"), &columns);
    assert_eq!(sorted(cells(&outcome, &columns)), sorted(printed));
    let behind = |label: &str| members(&outcome)[&("vehicle".to_owned(), label.to_owned())].clone();
    assert_eq!(behind("Truck").into_iter().collect::<Vec<_>>(), ["Black Truck", "Red Truck"]);
    assert_eq!(behind("Sedan").into_iter().collect::<Vec<_>>(), ["Green Sedan", "White Sedan"]);
}

#[test]
fn butterfly_table_iii_from_table_i() {
    let taxonomy = TaxonomySource::File(papers::taxonomy("butterfly/occupation.taxonomy.csv"));
    let attributes = [
        quasi("occupation", Some(taxonomy)),
        quasi("age", None),
        quasi("postcode", None),
        AttributeSpec::new("vehicle", Role::Other),
        AttributeSpec::new("faulty", Role::Sensitive),
    ];
    let data = Microdata::new(papers::table("butterfly/table-1.csv"), &attributes).unwrap();
    let outcome = publish(&data, &partition(&Mondrian::default(), &data, &specs(&["k=2"]), 1).unwrap(), 1);
    let columns = ["occupation", "vehicle", "faulty"];
    let printed = papers::cells(&papers::table("butterfly/table-3.csv"), &columns);
    assert_eq!(sorted(cells(&outcome, &columns)), sorted(printed));
}

#[test]
fn lalpha_table_5_from_table_1() {
    let taxonomy = |name: &str| Some(TaxonomySource::File(papers::taxonomy(&format!("lalpha/{name}.taxonomy.csv"))));
    // Ages and zip codes are read as words, because their labels are not ranges in print.
    let words = |table: Table| {
        let texts = |name: &str| papers::cells(&table, &[name]).concat();
        let column = |name: &str| Column::texts(name, texts(name).iter().map(String::as_str));
        Table::new(["age", "country", "zip_code", "disease", "group_id"].map(column).to_vec())
    };
    let attributes = [
        quasi("age", taxonomy("age")),
        quasi("country", taxonomy("country")),
        quasi("zip_code", taxonomy("zip_code")),
        AttributeSpec::new("disease", Role::Sensitive),
    ];
    let data = Microdata::new(words(papers::table("lalpha/table-1.csv")), &attributes).unwrap();
    let outcome = publish(&data, &by_column(&data, "group_id", &["distinct-l=2"]), 1);
    let columns = ["age", "country", "zip_code", "disease"];
    let mut printed = papers::cells(&papers::table("lalpha/table-5.csv"), &columns);
    // The paper prints `>40`. Our file has the node `4*` below it, which is the lowest one above these values.
    printed.iter_mut().for_each(|row| row[0] = row[0].replace(">40", "4*"));
    assert_eq!(sorted(cells(&outcome, &columns)), sorted(printed));
}

#[test]
fn a_missing_value_beside_numbers_has_no_lower_end() {
    let csv = "age,sex,g\n30,F,1\n,M,1\n,F,2\n,,2\n41,F,3\n47,,3\n";
    let data = plain(read(csv, &[]), &["age", "sex"], None);
    let outcome = publish(&data, &by_column(&data, "g", &[]), 1);
    let mut shown = sorted(cells(&outcome, &["age_min", "age_max", "sex"]));
    shown.dedup();
    let expected = [["", "", "{\"\",F}"], ["", "30", "{F,M}"], ["41", "47", "{\"\",F}"]];
    assert_eq!(shown, expected.map(|row| row.map(str::to_owned).to_vec()));
    let behind = members(&outcome)[&("sex".to_owned(), "{\"\",F}".to_owned())].clone();
    assert_eq!(behind.into_iter().collect::<Vec<_>>(), ["", "F"]);
    // Group 1: age 1 (from missing to 30), sex 2/3; group 2: age 0, sex 2/3; group 3: age 6/17, sex 2/3.
    let expected = 2.0 * (1.0 + 2.0 / 3.0) + 2.0 * (2.0 / 3.0) + 2.0 * (6.0 / 17.0 + 2.0 / 3.0);
    assert!((outcome.ncp.sum - expected).abs() < 1e-9, "{} for {expected}", outcome.ncp.sum);
}

/// DESIGN.md section 9: ordered kinds cost (max − min)/(domain max − domain min), whatever chose the range.
#[test]
fn an_ordinal_with_a_taxonomy_is_shown_as_a_range_and_costs_its_width() {
    let order = ["none", "low", "high", "extreme"].map(str::to_owned).to_vec();
    let csv = "a,g\nnone,1\nlow,1\nhigh,2\nextreme,2\n";
    let reader = CsvReader::open(csv.as_bytes(), &CsvOptions::default()).unwrap();
    let ordinal = ColumnRequest { name: "a".into(), kind: Some(Kind::Ordinal), order };
    let table = reader.read(&[ordinal, ColumnRequest::named("g")]).unwrap();
    let file = TaxonomyFile::parse("none;weak;*\nlow;weak;*\nhigh;strong;*\nextreme;strong;*\n").unwrap();
    let data = Microdata::new(table, &[quasi("a", Some(TaxonomySource::File(file)))]).unwrap();
    let outcome = publish(&data, &by_column(&data, "g", &[]), 1);
    let shown: BTreeSet<Vec<String>> = cells(&outcome, &["a_min", "a_max"]).into_iter().collect();
    assert_eq!(shown, [["high", "extreme"], ["none", "low"]].map(|row| row.map(str::to_owned).to_vec()).into());
    // Four rows, each in a range of one step out of three.
    assert!((outcome.ncp.sum - 4.0 / 3.0).abs() < 1e-9, "{}", outcome.ncp.sum);
}

#[test]
fn a_label_never_stands_for_two_sets() {
    let csv = "a,g\n\"x,y\",1\nx,2\ny,2\n\"{x,y}\",3\n";
    let data = plain(read(csv, &[]), &["a"], None);
    let outcome = publish(&data, &by_column(&data, "g", &[]), 1);
    let labels: BTreeSet<Vec<String>> = cells(&outcome, &["a"]).into_iter().collect();
    let expected = ["x,y".to_owned(), set_label(["x", "y"].into_iter()), set_label(["{x,y}"].into_iter())];
    assert_eq!(labels, expected.map(|label| vec![label]).into());
    assert_eq!(members(&outcome).len(), 3);
}

/// 1.7 / 0.1 rounds up to 17, and 17 · 0.1 is a little more than 1.7: the interval must not leave its own value out.
#[test]
fn an_interval_of_tenths_covers_its_lower_end() {
    let data = Microdata::new(
        read("r,s,g\n1.7,x,1\n1.75,y,1\n9.5,x,2\n", &[]),
        &[quasi("r", Some(TaxonomySource::Intervals(vec![0.1]))), AttributeSpec::new("s", Role::Sensitive)],
    );
    let data = data.unwrap();
    let outcome = publish(&data, &by_column(&data, "g", &[]), 1);
    for row in rows_of(outcome.release.table("generalized").unwrap()) {
        let end = |name: &str| row[name].parse::<f64>().unwrap();
        let covers = |number: f64| end("r_min") <= number && number <= end("r_max");
        assert!(covers(9.5) || (covers(1.7) && covers(1.75)), "{row:?}");
    }
}

/// 0.5 is five times 0.1, whatever the remainder of the floats says.
#[test]
fn interval_widths_in_tenths_nest() {
    for widths in [vec![0.1, 0.5], vec![0.1, 0.2, 0.6], vec![0.05, 0.15]] {
        let attributes = [quasi("r", Some(TaxonomySource::Intervals(widths.clone())))];
        let data = Microdata::new(read("r,s\n1.72,x\n1.75,y\n9.5,x\n", &[]), &attributes);
        assert!(data.is_ok(), "{widths:?}: {}", data.unwrap_err());
    }
}

/// A zip code that is already masked in the input looks like the label of codes that are not.
#[test]
fn a_masked_prefix_never_stands_for_two_sets() {
    let table = read("z,g\nA12,1\nA13,1\nA1*,2\nB77,3\n", &[]);
    // Refusing such a column is as good as labels that differ.
    let Ok(data) = Microdata::new(table, &[quasi("z", Some(TaxonomySource::Prefix))]) else { return };
    let outcome = publish(&data, &by_column(&data, "g", &[]), 1);
    let shown: BTreeSet<Vec<String>> = cells(&outcome, &["group_id", "z"]).into_iter().collect();
    let labels: BTreeSet<&String> = shown.iter().map(|row| &row[1]).collect();
    assert_eq!(labels.len(), 3, "three groups with different values: {shown:?}");
}

#[test]
fn name_clashes_are_refused() {
    let refuse = |csv: &str, quasi: &[&str], sensitive: &str, column: &str| {
        let data = plain(read(csv, &[]), quasi, Some(sensitive));
        let partition = partition(&Mondrian::default(), &data, &[], 1).unwrap();
        let error = Job::new(&data, &[], &partition, &mut rng(1), &Unwatched).run(&Generalize).unwrap_err();
        assert_eq!(error.to_string(), format!("the published table would have two columns `{column}`"));
        assert_eq!(error.hint(), format!("rename the column `{column}` in the input").as_str());
    };
    refuse("age,age_min\n1,x\n2,y\n", &["age"], "age_min", "age_min");
    refuse("age,age_max\n1,x\n2,y\n", &["age_max", "age"], "age", "age_max");
    refuse("age,group_id\n1,x\n2,y\n", &["age"], "group_id", "group_id");
    refuse("group_id,s\nx,x\ny,y\n", &["group_id"], "s", "group_id");
}

#[test]
fn ordered_attributes_may_share_a_name_with_nothing_else() {
    let data = plain(read("age,a\n1,x\n2,y\n", &[]), &["a"], Some("age"));
    assert!(Generalize.check(&data).is_ok());
}

/// Ids are drawn anew: over a few seeds every group gets every id, and none depends on the input.
#[test]
fn group_ids_are_a_random_permutation() {
    let data = plain(read("a,s,g\n1,x,7\n2,y,8\n3,z,9\n", &[]), &["a"], Some("s"));
    let groups = by_column(&data, "g", &[]);
    let mut met = BTreeSet::new();
    for seed in 0..60 {
        let mut ids: Vec<(String, String)> = cells(&publish(&data, &groups, seed), &["s", "group_id"])
            .into_iter()
            .map(|row| (row[0].clone(), row[1].clone()))
            .collect();
        ids.sort();
        met.insert(ids.into_iter().map(|(_, id)| id).collect::<Vec<_>>());
    }
    assert_eq!(met.len(), 6, "all orders of three groups: {met:?}");
}

#[test]
fn rows_come_in_the_order_of_ids_other_columns_and_sensitive_values() {
    let table = read("a,s,o,g\n1,y,2,1\n2,x,2,1\n3,z,1,1\n4,x,1,2\n", &[]);
    let mut attributes = vec![quasi("a", None), AttributeSpec::new("s", Role::Sensitive)];
    attributes.push(AttributeSpec::new("o", Role::Other));
    let data = Microdata::new(table, &attributes).unwrap();
    for seed in 0..5 {
        let outcome = publish(&data, &by_column(&data, "g", &[]), seed);
        let shown = cells(&outcome, &["group_id", "o", "s"]);
        assert_eq!(shown, sorted(shown.clone()));
    }
}

#[test]
fn the_manifest_describes_the_tables_as_they_are() {
    let data = plain(papers::table("pa/table-1.csv"), &["age", "sex"], Some("disease"));
    let column = ByColumn { column: "group_id".into() };
    let outcome =
        Job::new(&data, &required(&specs(&["l=4"])), &column, &mut rng(1), &Unwatched).run(&Generalize).unwrap();
    let manifest = &outcome.release.manifest;
    assert_eq!((manifest.method, manifest.partitioner.as_str()), (Form::Generalize, "column"));
    assert_eq!((manifest.rows, manifest.groups, manifest.reproducible), (9, 2, false));
    assert_eq!(manifest.guarantees(), ["l=4"]);
    assert_eq!(manifest.quasi_identifiers, [["age", "sex"]]);
    let columns = |at: usize| manifest.tables[at].columns.iter().map(|column| column.name.as_str()).collect::<Vec<_>>();
    assert_eq!(columns(0), ["group_id", "age_min", "age_max", "sex", "disease"]);
    assert_eq!(columns(1), ["attribute", "label", "value"]);
    for (entry, table) in manifest.tables.iter().zip(&outcome.release.tables) {
        assert_eq!(entry.rows, table.rows() as u64);
        assert_eq!(entry.columns.len(), table.columns().len());
    }
}
