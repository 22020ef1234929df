//! Guesses and their reasons, columns that would identify people, and specs that can be published unchanged.

#![allow(clippy::unwrap_used, reason = "tests")]

use chrysalis::guess::{Guess, GuessedRole, identifying, suggest, suggest_all};
use chrysalis::table::{Column, Table};
use chrysalis::{AtDoor, Draft, Evidence, Fault, Seed, Unwatched, audit, commented_spec, publish};

fn texts(name: &str, rows: usize, text: impl Fn(usize) -> String) -> Column {
    let texts: Vec<String> = (0..rows).map(text).collect();
    Column::texts(name, texts.iter().map(String::as_str))
}

fn integers(name: &str, rows: usize, number: impl Fn(usize) -> usize) -> Column {
    Column::integers(name, &(0..rows).map(|row| number(row) as i64).collect::<Vec<_>>())
}

fn reals(name: &str, rows: usize, number: impl Fn(usize) -> f64) -> Column {
    Column::reals(name, &(0..rows).map(number).collect::<Vec<_>>())
}

#[track_caller]
fn guessed(column: &Column, role: GuessedRole, reason: &str) {
    let expected = Guess { role, reason: reason.to_owned() };
    assert_eq!(suggest(column, column.codes().len()), expected, "{column:?}");
}

fn keeps(column: &Column) -> Option<String> {
    identifying(column, column.codes().len())
}

#[test]
fn unique_values_identify() {
    let one_in_ten = |rows: usize| integers("x", rows, move |row| if row < rows / 10 { 1_000 + row } else { row % 5 });
    assert_eq!(keeps(&one_in_ten(100)).unwrap(), "10 of 100 rows have a value that no other row has");
    assert_eq!(keeps(&integers("x", 100, |row| if row < 9 { 1_000 + row } else { row % 5 })), None);
    assert_eq!(
        keeps(&texts("x", 20, |row| format!("v{row}"))).unwrap(),
        "20 of 20 rows have a value that no other row has"
    );
    assert_eq!(keeps(&texts("x", 19, |row| format!("v{row}"))), None, "too few rows to tell");
    assert_eq!(
        keeps(&reals("x", 50, |row| row as f64 / 7.0)).unwrap(),
        "50 of 50 rows have a value that no other row has"
    );
    // A missing value identifies nobody.
    let one_missing = |row: usize| if row == 0 { String::new() } else { format!("v{}", row % 2) };
    assert_eq!(keeps(&texts("x", 20, one_missing)), None);
}

#[test]
fn free_text_identifies() {
    let note = |n: usize| move |row: usize| format!("seen again after {} weeks", row % n);
    assert_eq!(keeps(&texts("note", 200, note(10))).unwrap(), "it is free text");
    assert_eq!(keeps(&texts("note", 200, note(9))), None, "fewer than ten texts");
    assert_eq!(keeps(&texts("note", 201, note(10))), None, "fewer than one text per twenty rows");
    assert_eq!(keeps(&texts("note", 200, |row| format!("three short words{}", row % 10))), None);
}

#[test]
fn numbers_of_people_identify() {
    let twice = |name: &str| integers(name, 200, |row| row / 2);
    for name in
        ["id", "patient_id", "patient_nbr", "mrn", "PersonID", "customerid", "Case No", "account number", "person"]
    {
        assert_eq!(keeps(&twice(name)).unwrap(), "its name and its 100 values say that it numbers people", "{name}");
    }
    for name in ["age", "fluid", "num_persons", "covid", "zip_code", "personality"] {
        assert_eq!(keeps(&twice(name)), None, "{name}");
    }
    assert_eq!(keeps(&integers("type_id", 500, |row| row % 24)), None, "fewer than one value per twenty rows");
    assert_eq!(keeps(&integers("type_id", 100, |row| row % 19)), None, "fewer than twenty values");
}

#[test]
fn names_and_unique_values_are_identifiers() {
    let is_name = "its name says that it names people";
    guessed(&texts("first_name", 1_000, |row| format!("n{}", row % 30)), GuessedRole::Identifier, is_name);
    guessed(&texts("Name", 8, |row| format!("n{row}")), GuessedRole::Identifier, is_name);
    guessed(&texts("e-mail", 100, |row| format!("n{row}")), GuessedRole::Identifier, is_name);
    guessed(&texts("product_name", 100, |row| format!("n{}", row % 30)), GuessedRole::Identifier, is_name);
    let unique = "100 of 100 rows have a value that no other row has";
    guessed(&integers("encounter_id", 100, |row| row), GuessedRole::Identifier, unique);
    guessed(&integers("x", 100, |row| row), GuessedRole::Identifier, unique);
    guessed(&texts("x", 100, |row| format!("v{row}")), GuessedRole::Identifier, unique);
    guessed(&texts("diagnosis", 100, |row| format!("v{row}")), GuessedRole::Identifier, unique);
    guessed(
        &texts("remark", 200, |row| format!("seen again after {} weeks", row % 50)),
        GuessedRole::Identifier,
        "it is free text",
    );
}

#[test]
fn numbers_that_repeat_may_be_those_of_people() {
    let by_name = "its name and its 500 values say that it numbers people";
    guessed(&integers("patient_nbr", 1_000, |row| row / 2), GuessedRole::Person, by_name);
    let by_values = "most of its 500 values occur a few times each, as people's numbers do";
    guessed(&texts("x", 1_000, |row| format!("v{}", row / 2)), GuessedRole::Person, by_values);
    guessed(&integers("x", 1_000, |row| row / 2 * 7_919), GuessedRole::Person, by_values);
    guessed(
        &integers("admission_type_id", 1_000, |row| row % 8),
        GuessedRole::Quasi,
        "it has 8 values, and its name says little",
    );
}

#[test]
fn what_sounds_private_is_sensitive() {
    for (name, about) in
        [("disease", "health"), ("HeartDisease", "health"), ("diag_1", "health"), ("Religion", "belief")]
    {
        guessed(
            &texts(name, 100, |row| format!("v{}", row % 5)),
            GuessedRole::Sensitive,
            &format!("its name is about {about}"),
        );
    }
    // Amounts of money are often unique but do not say whose they are.
    guessed(&integers("income", 100, |row| 1_000 + row), GuessedRole::Sensitive, "its name is about money");
    // The number of diagnoses is not the diagnoses.
    let counts = integers("number_diagnoses", 100, |row| row % 9);
    guessed(&counts, GuessedRole::Quasi, "it has 9 values, and its name says little");
    assert_eq!(
        suggest(&texts("archive", 100, |row| format!("v{}", row % 5)), 100).role,
        GuessedRole::Quasi,
        "no HIV in there"
    );
}

#[test]
fn what_others_know_is_quasi_however_many_values_it_has() {
    guessed(&integers("age", 100, |row| row), GuessedRole::Quasi, "others know about how old somebody is");
    guessed(&texts("zip_code", 100, |row| format!("{row:05}")), GuessedRole::Quasi, "others know where somebody lives");
    guessed(
        &texts("country_of_birth", 90, |row| format!("{}", row % 9)),
        GuessedRole::Quasi,
        "others know which country somebody is from",
    );
    guessed(&integers("BirthYear", 100, |row| 1900 + row), GuessedRole::Quasi, "birthdays are known to many");
}

#[test]
fn what_is_neither_is_not_published() {
    guessed(&texts("x", 30, |_| "v".to_owned()), GuessedRole::Unpublished, "every row has the same value");
    guessed(
        &integers("fnlwgt", 300, |row| row),
        GuessedRole::Unpublished,
        "a survey weight, which can identify people",
    );
    let weight = reals("instance_weight", 2_000, |row| row as f64 / 3.0);
    guessed(&weight, GuessedRole::Unpublished, "a survey weight, which can identify people");
    let many = "it has 150 different numbers, and its name does not sound private";
    guessed(&reals("bmi", 3_000, |row| (row % 150) as f64 / 7.0), GuessedRole::Unpublished, many);
    let many = "it has 1,001 different numbers, and its name does not sound private";
    guessed(&integers("x", 30_000, |row| row % 1_001), GuessedRole::Unpublished, many);
}

#[test]
fn work_is_sensitive_only_where_nothing_else_is() {
    let work = || texts("occupation", 100, |row| format!("v{}", row % 5));
    let age = || integers("age", 100, |row| row % 50);
    let role = |table: Table| suggest_all(&table)[0].role;
    assert_eq!(role(Table::new(vec![work(), age()])), GuessedRole::Sensitive);
    assert_eq!(
        role(Table::new(vec![work(), age(), texts("disease", 100, |row| format!("v{}", row % 5))])),
        GuessedRole::Quasi
    );
}

fn spec(table: &Table, draft: &Draft) -> Result<String, chrysalis::Error> {
    commented_spec("t.csv", table, draft, &AtDoor { publish: "publish", sentence: "Hello.", manual: "the manual" })
}

/// The spec for a table of 600 people in which only this column sounds private.
fn spec_about(column: Column) -> String {
    let rows = column.codes().len();
    let known = [integers("age", rows, |row| row * 7 % 83), texts("sex", rows, |row| format!("s{}", row % 2))];
    spec(&Table::new(known.into_iter().chain([column]).collect()), &Draft::default()).unwrap()
}

#[track_caller]
fn requires(column: Column, require: &str) {
    let text = spec_about(column);
    assert_eq!(text.lines().find(|line| line.starts_with("require")), Some(&*format!("require = {require}")), "{text}");
}

#[test]
fn promises_follow_the_counts_of_the_sensitive_column() {
    let shares = |name: &'static str, of: [usize; 3]| {
        texts(name, 600, move |row| {
            if row < of[0] {
                "a"
            } else if row < of[1] {
                "b"
            } else if row < of[2] {
                "c"
            } else {
                "d"
            }
            .to_owned()
        })
    };
    requires(shares("disease", [150, 300, 450]), r#"["k=10", "l=4"]"#);
    requires(shares("disease", [151, 300, 450]), r#"["k=10", "l=3"]"#);
    requires(shares("disease", [201, 400, 500]), r#"["k=10", "l=2"]"#);
    requires(shares("disease", [300, 400, 500]), r#"["k=10", "l=2"]"#);
    requires(shares("disease", [301, 400, 500]), r#"["k=10", "beta=1"]"#);
    // A value with a single row would need a group of 300 rows.
    requires(shares("disease", [301, 400, 599]), r#"["k=10", "t=0.3"]"#);
    // Numbers: two of them must be a hundredth of the usual width apart.
    requires(integers("income", 600, |row| row * 11), r#"["k=10", "l=4", "ke=2,60"]"#);
    requires(integers("income", 600, |row| row % 30), r#"["k=10", "l=4", "ke=2,1"]"#);
    requires(integers("income", 600, |row| row % 4), r#"["k=10", "l=4"]"#);
    requires(integers("income", 600, |row| (row % 4) * 1_000 + row / 4 % 2), r#"["k=10", "l=4", "ke=2,31"]"#);
    requires(integers("income", 600, |row| if row < 400 { 0 } else { row * 10 }), r#"["k=10", "t=0.3", "ke=2,57"]"#);
    requires(integers("income", 600, |row| if row < 590 { 0 } else { row }), r#"["k=10", "t=0.3", "distinct-l=2"]"#);
    requires(integers("income", 600, |row| (row / 400) * (row % 3)), r#"["k=10", "t=0.3", "distinct-l=2"]"#);
    // No principle handles numbers as large as this, so the column is left out.
    requires(integers("income", 600, |row| row * 100_000_000_000), r#"["k=10"]"#);
    requires(reals("wage", 600, |row| row as f64 / 1_100.0), r#"["k=10", "l=4", "ke=2,0.005"]"#);
}

#[test]
fn small_tables_have_small_groups() {
    let disease = |rows: usize| texts("disease", rows, |row| format!("v{}", row % 4));
    requires(disease(200), r#"["k=10", "l=4"]"#);
    requires(disease(199), r#"["k=9", "l=3"]"#);
    requires(disease(12), r#"["k=2", "l=4"]"#);
    requires(disease(2), r#"["k=2", "l=2"]"#);
}

#[test]
fn nothing_sensitive_leaves_k_alone() {
    requires(texts("disease", 600, |_| "v".to_owned()), r#"["k=10"]"#);
    requires(texts("shirt", 600, |row| format!("v{}", row % 3)), r#"["k=10"]"#);
}

#[test]
fn a_spec_names_few_columns_and_gives_its_reasons() {
    let names = ["age", "sex", "race", "hispanic", "city", "marital_status", "education", "country", "shirt"];
    let known = names.map(|name| texts(name, 600, |row| format!("secretword{}", row % 3)));
    let more = [
        integers("patient_id", 600, |row| row / 2),
        texts("disease", 600, |row| format!("secretword{}", row % 5)),
        integers("income", 600, |row| row),
        reals("bmi", 600, |row| row as f64 / 7.0),
    ];
    let text = spec(&Table::new(known.into_iter().chain(more).collect()), &Draft::default()).unwrap();
    let has = |lines: &str| assert!(text.contains(lines), "{lines}\n{text}");
    for name in ["age", "sex", "race", "city", "marital_status", "education"] {
        has(&format!("\n[attributes.{name}]\nrole = \"quasi\""));
    }
    for name in ["hispanic", "country", "shirt"] {
        has(&format!("\n# [attributes.{name}]\n# role = \"quasi\""));
    }
    has("# others know somebody's origin; add it if an attacker may know it\n");
    has("# person? its name and its 300 values say that it numbers people; see `person` above\n");
    has("\n[attributes.disease]\nrole = \"sensitive\"               ");
    has("\n# [attributes.income]\n# role = \"sensitive\"               ");
    has("# not published: it has 600 different numbers, and its name does not sound private\n");
    assert!(!text.contains("secretword"), "{text}");
    assert!(!text.contains("role = \"other\""), "{text}");
}

#[test]
fn a_table_that_tells_nothing_of_people_is_refused() {
    let disease = texts("icd9", 100, |row| format!("v{}", row % 9));
    let error =
        spec(&Table::new(vec![integers("person_id", 100, |row| row / 2), disease]), &Draft::default()).unwrap_err();
    assert_eq!(error.fault, Fault::Request);
    assert_eq!(error.message, "no column looks like something that an attacker may know");
    let remedy = "publish with `quasi = a,b` and the columns that an attacker may know, or join the table with one that has \
                  age, sex or place";
    assert_eq!(error.remedy, remedy);
}

#[test]
fn too_few_rows_are_refused() {
    let one = Table::new(vec![texts("sex", 1, |_| "F".into()), texts("age", 1, |_| String::new())]);
    assert!(spec(&one, &Draft::default()).is_err());
    let message = |draft: &Draft| {
        let half = |at: usize| move |row: usize| if row % 2 == at { String::new() } else { format!("v{}", row % 3) };
        spec(&Table::new(vec![texts("sex", 12, half(0)), texts("city", 12, half(1))]), draft).unwrap_err().message
    };
    let policy = |text: &str| Draft { missing: Some(text.to_owned()), ..Draft::default() };
    assert_eq!(message(&policy("drop")), "every row lacks a value, so nothing is left");
    assert!(message(&policy("error")).contains("sex"), "{}", message(&policy("error")));
}

/// Whatever the columns look like, the generated spec is valid and publishes, and its promises hold.
#[test]
fn every_spec_publishes_as_it_is() {
    // Our own generator (splitmix64), so that the tables stay the same.
    let mut state = 18_u64;
    let mut next = move |below: u64| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % below
    };
    for trial in 0..300 {
        let rows = 2 + next(if trial % 3 == 0 { 600 } else { 60 }) as usize;
        let (values, skew, scale) = (1 + next(40), next(100), 1 + next(1_000));
        let mut numbers =
            || -> Vec<u64> { (0..rows).map(|_| if next(100) < skew { 0 } else { next(values) * scale }).collect() };
        let (age, sex, secret) = (numbers(), numbers(), numbers());
        let private = match trial % 4 {
            0 => integers("in\"come\n", rows, |row| secret[row] as usize),
            1 => reals("wage", rows, |row| secret[row] as f64 / 64.0),
            2 => texts("disease", rows, |row| format!("v{}", secret[row])),
            _ => {
                texts("disease", rows, |row| if secret[row] == 0 { String::new() } else { format!("{}", secret[row]) })
            }
        };
        let age = integers("age", rows, |row| age[row] as usize);
        let table = Table::new(vec![age, texts("sex", rows, |row| format!("{}", sex[row] % 3)), private]);
        let policy = if trial % 7 == 3 { "drop" } else { "as-value" };
        let draft = Draft { missing: Some(policy.to_owned()), ..Draft::default() };
        let text = match spec(&table, &draft) {
            Ok(text) => text,
            Err(error) if rows < 10 || policy == "drop" || skew > 90 || values == 1 => {
                assert_eq!(error.fault, Fault::Request, "{error}");
                continue;
            }
            Err(error) => panic!("trial {trial}: {error}"),
        };
        let draft: Draft = toml::from_str(&text).unwrap_or_else(|error| panic!("trial {trial}: {error}\n{text}"));
        let header: Vec<String> = table.columns().iter().map(|column| column.name().to_owned()).collect();
        let recipe = draft.check(&header).unwrap();
        let read = recipe.requests().iter().map(|request| table.column(&request.name).unwrap().clone()).collect();
        let made = publish(Table::new(read), &recipe, Seed::Secret, &Unwatched);
        let made = made.unwrap_or_else(|error| panic!("trial {trial}: {error}\n{text}"));
        let found = audit(&made.release, Evidence::default(), &Unwatched).unwrap();
        assert!(found.ok(), "trial {trial}\n{text}");
    }
}
