//! The worked tables of pa and ke.

use chrysalis_testkit::papers;

use super::*;
use crate::RowLinkingOver;

fn named(path: &str, names: &[&str]) -> Table {
    let table = papers::table(path);
    Table::new(names.iter().map(|name| table.column(name).unwrap().clone()).collect())
}

fn pa_microdata() -> Table {
    named("pa/table-1.csv", &["age", "sex", "disease"])
}

/// pa, Table 3 or 4, with its rows in canonical order.
fn pa(form: Form, quasi: (&str, &str), sensitive: (&str, &str), guarantees: &[&str]) -> Release {
    let tables = vec![
        (quasi.0, sorted(papers::table(quasi.1), &["group_id", "age", "sex"])),
        (sensitive.0, sorted(papers::table(sensitive.1), &["group_id", "disease"])),
    ];
    release_of(form, &pa_microdata(), tables, guarantees)
}

fn table_3(guarantees: &[&str]) -> Release {
    pa(Form::Anatomy, ("qit", "pa/table-3-qit.csv"), ("st", "pa/table-3-st.csv"), guarantees)
}

fn table_4(guarantees: &[&str]) -> Release {
    pa(Form::Permute, ("pqt", "pa/table-4-pqt.csv"), ("pst", "pa/table-4-pst.csv"), guarantees)
}

#[test]
fn pa_table_3_is_faithful_and_4_diverse() {
    let report = audit(&table_3(&["l=4"]), Some(&pa_microdata())).unwrap();
    assert!(report.ok(), "{report:?}");
    assert!(check(&report, "faithful").detail.ends_with("an assignment was found"));
    let linked = report.attacks.row_linking.unwrap();
    assert_eq!((linked.delta, linked.over), (1.0, RowLinkingOver::ExactValues));
    assert_eq!(report.attacks.linking.unwrap().confidence_text, "0.25");
    // Every group has n − 1 where no value repeats; the bound is 9·(1 − 1/4).
    let utility = report.utility.unwrap();
    assert!((utility.rce - 7.0).abs() < 1e-12);
    assert_eq!(utility.rce_bound, Some(6.75));
    assert!(!audit(&table_3(&["l=5"]), None).unwrap().ok());
}

#[test]
fn pa_table_4_is_faithful_and_4_diverse() {
    let report = audit(&table_4(&["l=4"]), Some(&pa_microdata())).unwrap();
    assert!(report.ok(), "{report:?}");
    assert!(check(&report, "faithful").detail.ends_with("an assignment was found"));
    assert_eq!((report.rows, report.groups), (9, 2));
}

#[test]
fn pa_example_3_bob_is_present_with_2_in_25() {
    let bob = pa_microdata().gather(&[0]);
    let linked = audit(&table_4(&["l=4"]), Some(&bob)).unwrap().attacks.row_linking.unwrap();
    assert_eq!((linked.delta_text.as_str(), linked.group), ("0.08", Some(1)));
    assert_eq!((linked.delta, linked.over), (2.0 / 25.0, RowLinkingOver::People));
    // Over everyone, the four of group 2 are worse off: 1/4 · 2/4.
    let linked = audit(&table_4(&["l=4"]), Some(&pa_microdata())).unwrap().attacks.row_linking.unwrap();
    assert_eq!((linked.delta_text.as_str(), linked.group), ("0.125", Some(2)));
    let linked = audit(&table_4(&["l=4"]), None).unwrap().attacks.row_linking.unwrap();
    assert_eq!((linked.delta_text.as_str(), linked.over), ("0.125", RowLinkingOver::Conceivable));
}

#[test]
fn pa_table_4_rce_and_its_bound() {
    let utility = audit(&table_4(&["l=4"]), None).unwrap().utility.unwrap();
    assert!((utility.rce - 7.49).abs() < 1e-12, "{utility:?}");
    assert!((utility.rce_bound.unwrap() - 7.434).abs() < 1e-12, "{utility:?}");
    // No promise, or one that is broken: nothing to bound.
    assert_eq!(audit(&table_4(&["k=4"]), None).unwrap().utility.unwrap().rce_bound, None);
    assert_eq!(audit(&table_4(&["l=5"]), None).unwrap().utility.unwrap().rce_bound, None);
}

#[test]
fn pa_theorem_2_is_not_claimed_where_a_value_repeats() {
    // errata pa-thm2: four tuples, two attributes with four values each, a, a, b, b: RCE 3.125, printed bound 3.531.
    let people = Table::new(vec![
        Column::integers("x", &[1, 2, 3, 4]),
        Column::integers("y", &[1, 2, 3, 4]),
        Column::texts("s", ["a", "a", "b", "b"].into_iter()),
    ]);
    let pqt = Table::new(vec![
        Column::integers("x", &[1, 2, 3, 4]),
        Column::integers("y", &[2, 1, 4, 3]),
        Column::integers("group_id", &[1; 4]),
    ]);
    let pst = Table::new(vec![
        Column::integers("group_id", &[1, 1]),
        Column::texts("s", ["a", "b"].into_iter()),
        Column::integers("count", &[2, 2]),
    ]);
    let release = release_of(Form::Permute, &people, vec![("pqt", pqt), ("pst", pst)], &["l=2"]);
    let report = audit(&release, Some(&people)).unwrap();
    assert!(report.ok(), "{report:?}");
    let utility = report.utility.unwrap();
    assert!((utility.rce - 3.125).abs() < 1e-12, "{utility:?}");
    assert_eq!(utility.rce_bound, None);
    assert_eq!(report.attacks.row_linking.unwrap().delta_text, "0.0625");
}

fn ke_people() -> Table {
    named("ke/figure-1.csv", &["age", "zipcode", "gender", "salary"])
}

/// ke, Figures 3 and 4; the columns of `help` that Figure 4 leaves out are worked out by hand.
fn ke_release() -> Release {
    let permuted = named("ke/figure-3.csv", &["age", "zipcode", "gender", "group_id", "salary"]);
    let mut help = papers::table("ke/figure-4-help.csv").columns().to_vec();
    help.push(Column::integers("max_lb", &[54, 55, 56, 65, 70, 75, 75, 80, 85].map(|thousands| thousands * 1000)));
    help.push(Column::integers("max_ub", &[56, 56, 56, 75, 75, 75, 85, 85, 85].map(|thousands| thousands * 1000)));
    let means = [55.0, 110.0, 165.0, 70.0, 140.0, 210.0, 80.0, 160.0, 240.0];
    help.push(reals("mean", &means.map(|thousands| thousands * 1000.0)));
    // Population variances 2/3 and 50/3 (thousands squared); h(3 − h)/2 is 1, 1, 0.
    let (low, high) = (2e6 / 3.0, 50e6 / 3.0);
    help.push(reals("variance", &[low, low, 0.0, high, high, 0.0, high, high, 0.0]));
    // Of three values, one hit is any of them; two hits leave out the least once in three, and likewise the greatest.
    let (third, two) = (1e3 / 3.0, 2e6 / 9.0);
    let means =
        |one: [f64; 3], two: [f64; 3], three: [f64; 3]| [0, 1, 2].map(|at| [one[at], two[at], three[at]]).concat();
    let minima = means([55e3, 70e3, 80e3], [54e3 + third, 65e3 + 5.0 * third, 75e3 + 5.0 * third], [54e3, 65e3, 75e3]);
    let maxima = means([55e3, 70e3, 80e3], [56e3 - third, 75e3 - 5.0 * third, 85e3 - 5.0 * third], [56e3, 75e3, 85e3]);
    let spread = [low, two, 0.0, high, 25.0 * two, 0.0, high, 25.0 * two, 0.0];
    help.push(reals("min_mean", &minima));
    help.push(reals("min_variance", &spread));
    help.push(reals("max_mean", &maxima));
    help.push(reals("max_variance", &spread));
    let tables = vec![
        ("permuted", sorted(permuted, &["group_id", "age", "zipcode", "gender", "salary"])),
        ("help", Table::new(help)),
    ];
    release_of(Form::Shuffle, &ke_people(), tables, &["ke=3,2000"])
}

#[test]
fn ke_figures_3_and_4_are_faithful_and_right() {
    let report = audit(&ke_release(), Some(&ke_people())).unwrap();
    assert!(report.ok(), "{report:?}");
    assert_eq!(check(&report, "help").detail, "9 rows, every number recomputed");
    assert_eq!(report.principles[0].worst_text, "3 values, span 2000");
}

#[test]
fn ke_figure_4_with_one_number_changed_is_noticed() {
    let tamper = |column: Column, sentence: &str| {
        let mut release = ke_release();
        release.tables[1] = with_column(&release.tables[1], column);
        expect(&audit(&release, Some(&ke_people())).unwrap(), &[("help", sentence)]);
    };
    let sums = [54000, 109000, 165000, 65000, 135001, 210000, 75000, 155000, 240000];
    tamper(Column::integers("sum_lb", &sums), "group 2: `sum_lb` for 2 hits is wrong");
    let minima = [56000, 55000, 54000, 75000, 75000, 65000, 85000, 80000, 75000];
    // Query 3 as the paper answers it: one woman in group 2 where there are two (errata ke-q3).
    tamper(Column::integers("min_ub", &minima), "group 2: `min_ub` for 2 hits is wrong");
    let means = [55e3, 110e3, 165e3, 70e3, 140e3, 210e3, 80e3, 160e3, 240e3 + 0.001];
    tamper(reals("mean", &means), "group 3: `mean` for 3 hits is wrong");
    let variances = [2e6 / 3.0, 2e6 / 3.0, 0.0, 50e6 / 3.0, 50e6 / 3.0, 0.0, 50e6 / 3.0, 50e6 / 3.0, 1.0];
    tamper(reals("variance", &variances), "group 3: `variance` for 3 hits is wrong");
    for column in ["min_mean", "min_variance", "max_mean", "max_variance"] {
        let numbers = papers::cells(&ke_release().tables[1], &[column]).concat();
        let mut numbers: Vec<f64> = numbers.iter().map(|number| number.parse().unwrap()).collect();
        numbers[7] += 0.01;
        tamper(reals(column, &numbers), &format!("group 3: `{column}` for 2 hits is wrong"));
    }
}

#[test]
fn a_help_row_that_is_lost_repeated_or_strange_is_noticed() {
    let tamper = |rows: &[u32], hits: Option<[i64; 9]>, findings: &[(&str, &str)]| {
        let mut release = ke_release();
        if let Some(hits) = hits {
            release.tables[1] = with_column(&release.tables[1], Column::integers("hits", &hits));
        }
        release.tables[1] = release.tables[1].gather(rows);
        release.manifest.tables[1].rows = rows.len() as u64;
        expect(&audit(&release, None).unwrap(), findings);
    };
    tamper(&[0, 1, 2, 3, 4, 6, 7, 8], None, &[("help", "group 2: no row for 3 hits")]);
    tamper(&[0, 1, 2, 6, 7, 8], None, &[("help", "group 2: no row for 1 hits")]);
    tamper(&[0, 0, 1, 2, 3, 4, 5, 6, 7, 8], None, &[("help", "group 1: two rows for 1 hits")]);
    let all: Vec<u32> = (0..9).collect();
    let sentence = "group 1: a row for an impossible number of hits";
    tamper(&all, Some([1, 2, 4, 1, 2, 3, 1, 2, 3]), &[("help", sentence)]);
    tamper(&all, Some([0, 2, 3, 1, 2, 3, 1, 2, 3]), &[("help", sentence)]);
    let sentence = "1 rows of `help` come before one that should precede them, which could reveal the input's order";
    tamper(&[1, 0, 2, 3, 4, 5, 6, 7, 8], None, &[("row order", sentence)]);
}
