//! What is refused, and what is said then.

use chrysalis::Fault;
use chrysalis::table::{Column, Table};
use serde_json::{Value, json};

use crate::common::{published, told};

/// Twenty-four persons of many ages; the first `n_two` of them have two rows, and the very first has `n_first`.
fn people(n_first: usize, n_two: usize) -> Table {
    let rows = |person: usize| match person {
        0 => n_first,
        _ if person < n_two => 2,
        _ => 1,
    };
    let of_rows: Vec<(usize, usize)> =
        (0..24).flat_map(|person| (0..rows(person)).map(move |at| (person, at))).collect();
    let texts = |name: &str, word: &dyn Fn(usize, usize) -> String| {
        let words: Vec<String> = of_rows.iter().map(|&(person, at)| word(person, at)).collect();
        Column::texts(name, words.iter().map(String::as_str))
    };
    let numbers = |name: &str, number: &dyn Fn(usize, usize) -> i64| {
        Column::integers(name, &of_rows.iter().map(|&(person, at)| number(person, at)).collect::<Vec<_>>())
    };
    Table::new(vec![
        texts("patient_id", &|person, _| format!("p{person}")),
        numbers("age", &|person, _| 20 + 2 * person as i64),
        numbers("visit", &|person, at| 100 * (person as i64 % 3) + at as i64),
        texts("disease", &|person, at| format!("d{}", (person + 3 * at) % 6)),
        numbers("cost", &|person, at| (person as i64 * 37 + at as i64 * 11) % 200),
    ])
}

/// A recipe with the given knobs over the usual ones.
fn with(knobs: Value) -> Value {
    let mut draft = json!({
        "person": "patient_id", "quasi": ["age"], "sensitive": ["disease"],
        "release": {"method": "generalize", "require": ["k=2", "l=2"]},
    });
    for (name, value) in knobs.as_object().unwrap() {
        match value {
            Value::Null => drop(draft.as_object_mut().unwrap().remove(name)),
            Value::Object(inner) if name == "release" => {
                inner.iter().for_each(|(name, value)| draft["release"][name] = value.clone());
            }
            _ => draft[name] = value.clone(),
        }
    }
    draft
}

#[track_caller]
fn refused(table: &Table, knobs: Value, fault: Fault, message: &str, remedy: &str) {
    let error = published(table, &with(knobs.clone()), 1).expect_err(&knobs.to_string());
    assert_eq!((error.message.as_str(), error.remedy.to_string().as_str()), (message, remedy));
    assert_eq!(error.fault, fault);
}

#[test]
fn the_usual_recipe_is_fine() {
    let made = published(&people(2, 6), &with(json!({})), 1).unwrap();
    let persons = made.report.persons.unwrap();
    assert_eq!((persons.persons, persons.most_rows_per_person, persons.rows_known), (24, 2, false));
    assert!(persons.fewest_persons >= 2 && made.report.surplus_rows.is_none());
    assert!(made.release.manifest.attributes.iter().all(|attribute| attribute.name != "patient_id"));
}

#[test]
fn knobs_about_persons_need_a_person() {
    let table = people(2, 6);
    let remedy = "name it with `person = patient_id`";
    let message = "`rows_known` has no effect: no column says whose a row is";
    refused(&table, json!({"person": null, "rows_known": true}), Fault::Request, message, remedy);
    let message = "`rows_per_person` has no effect: no column says whose a row is";
    refused(&table, json!({"person": null, "rows_per_person": 2}), Fault::Request, message, remedy);
}

#[test]
fn whose_a_row_is_is_never_published() {
    let table = people(2, 6);
    let says = |role: &str| {
        format!(
            "column `patient_id` says whose a row is, so it cannot be published as {role}: rows of a person would be \
             tied together"
        )
    };
    let remedy = "leave it out of the other lists";
    refused(&table, json!({"quasi": ["age", "patient_id"]}), Fault::Request, &says("quasi"), remedy);
    refused(&table, json!({"sensitive": ["disease", "patient_id"]}), Fault::Request, &says("sensitive"), remedy);
    refused(&table, json!({"other": ["patient_id"]}), Fault::Request, &says("other"), remedy);
    let named = json!({"attributes": {"patient_id": {"role": "other"}}});
    refused(&table, named, Fault::Request, &says("other"), remedy);
    // To say that it identifies people is to say the same twice.
    let named = json!({"attributes": {"patient_id": {"role": "identifier"}}});
    assert!(published(&table, &with(named), 1).is_ok());
}

#[test]
fn a_person_keeps_at_least_one_row() {
    refused(
        &people(2, 6),
        json!({"rows_per_person": 0}),
        Fault::Request,
        "`rows_per_person` is 0, so nothing would be left",
        "use `rows_per_person = 1` or more",
    );
}

#[test]
fn a_form_without_promises_has_none_for_persons() {
    refused(
        &people(2, 6),
        json!({"sensitive": ["cost"], "release": {"method": "rank-swap"}}),
        Fault::Request,
        "`person` has no effect: rank-swap promises nothing, neither to rows nor to persons",
        "leave `person` out",
    );
}

#[test]
fn rows_that_can_be_counted_are_not_hidden() {
    refused(
        &people(2, 6),
        json!({"rows_known": false, "release": {"method": "anatomy"}}),
        Fault::Request,
        "`rows_known = false` cannot be: anatomy lets everybody count the rows of a person",
        "leave it out, or use `method = generalize`",
    );
}

#[test]
fn every_row_is_somebodys() {
    let table = people(1, 0);
    let texts: Vec<String> = (0..24).map(|at| if at % 8 == 3 { String::new() } else { format!("p{at}") }).collect();
    let id = Column::texts("patient_id", texts.iter().map(String::as_str));
    let mut columns = table.columns().to_vec();
    columns[0] = id;
    let table = Table::new(columns);
    refused(
        &table,
        json!({}),
        Fault::Request,
        "3 rows have no person in `patient_id`",
        "fill them in, or drop these rows with `missing = drop`",
    );
    let made = published(&table, &with(json!({"missing": "drop"})), 1).unwrap();
    assert_eq!((made.release.manifest.rows, made.release.manifest.persons.unwrap().count), (21, 21));
}

#[test]
fn whole_columns_at_one_level_need_persons_who_do_not_vary() {
    let full_domain = |column: &str| {
        json!({
            "quasi": [column], "attributes": {column: {"intervals": [10, 100, 1000]}},
            "release": {"partitioner": "full-domain", "require": ["k=2"]},
        })
    };
    refused(
        &people(2, 6),
        full_domain("visit"),
        Fault::Request,
        "`full-domain` shows all of `visit` at one level, but rows of one person differ in it",
        "use `partitioner = mondrian`",
    );
    assert!(published(&people(2, 6), &with(full_domain("age")), 1).is_ok());
    let mut known = full_domain("age");
    known["rows_known"] = json!(true);
    refused(
        &people(2, 6),
        known.clone(),
        Fault::Request,
        "`full-domain` shows columns at one level for all rows, but persons with different numbers of rows are grouped \
         apart",
        "use `rows_per_person = 1` or `partitioner = mondrian`",
    );
    known["rows_per_person"] = json!(1);
    assert!(published(&people(2, 6), &with(known), 1).is_ok());
}

#[test]
fn butterflies_cannot_keep_different_numbers_of_rows_apart() {
    let users = |knobs: Value| {
        let mut draft = json!({
            "quasi": [["age"], ["cost"]], "release": {"method": "butterfly", "require": ["k=2"]},
        });
        knobs.as_object().unwrap().iter().for_each(|(name, value)| draft[name] = value.clone());
        draft
    };
    refused(
        &people(2, 6),
        users(json!({"rows_known": true})),
        Fault::Request,
        "butterfly cannot keep persons with different numbers of rows apart, as `rows_known` asks",
        "use `rows_per_person = 1`, or `method = generalize`",
    );
    for knobs in [json!({}), json!({"rows_per_person": 1}), json!({"rows_known": true, "rows_per_person": 1})] {
        assert!(published(&people(2, 6), &with(users(knobs)), 1).is_ok());
    }
}

/// One person has five rows, and nobody else has as many. What the remedy names works.
#[test]
fn rare_numbers_of_rows_come_with_a_number_that_works() {
    let table = people(5, 8);
    for (method, require) in [("anatomy", "l=2"), ("permute", "l=2"), ("anatomy", "k=3"), ("angel", "l=2")] {
        let release = json!({"method": method, "require": [require]});
        let error = published(&table, &with(json!({"release": release})), 1).unwrap_err();
        assert_eq!(error.fault, Fault::Infeasible, "{error}");
        let start = format!(
            "cannot reach {require}: 1 person has 5 rows, and only persons with equally many rows may share a group; \
             among them, "
        );
        assert!(error.message.starts_with(&start), "{error}");
        let remedy = error.remedy.to_string();
        let most: u64 = remedy
            .strip_prefix("drop surplus rows at random with `rows_per_person = ")
            .and_then(|rest| rest.strip_suffix('`'))
            .unwrap_or_else(|| panic!("{remedy}"))
            .parse()
            .unwrap();
        for seed in 0..5 {
            let with = with(json!({"release": release, "rows_per_person": most}));
            let made = published(&table, &with, seed).unwrap_or_else(|error| panic!("{method} {most}: {error}"));
            assert_eq!(made.report.persons.unwrap().most_rows_per_person, most);
        }
    }
    // Generalized rows cannot be counted, so nothing is rare.
    assert!(published(&table, &with(json!({})), 1).is_ok());
}

#[test]
fn names_that_the_release_needs_are_taken() {
    let table = people(2, 6);
    let renamed = |from: &str, to: &str| {
        let columns = table.columns().iter().map(|column| match column.name() == from {
            true => Column::new(to, column.domain().clone(), column.codes().clone()),
            false => column.clone(),
        });
        Table::new(columns.collect())
    };
    let anatomy = json!({"sensitive": ["persons"], "rows_per_person": 1, "release": {"method": "anatomy"}});
    refused(
        &renamed("disease", "persons"),
        anatomy.clone(),
        Fault::Request,
        "the published table would have two columns `persons`",
        "rename the column `persons` in the input",
    );
    // Without persons in the table, the name is free; so it is where values stand beside rows.
    let mut of_rows = anatomy;
    of_rows["person"] = Value::Null;
    of_rows["rows_per_person"] = Value::Null;
    assert!(published(&renamed("disease", "persons"), &with(of_rows), 1).is_ok());
    assert!(published(&renamed("disease", "persons"), &with(json!({"sensitive": ["persons"]})), 1).is_ok());
    assert!(published(&renamed("age", "persons"), &with(json!({"quasi": ["persons"]})), 1).is_ok());
}

#[test]
fn repeated_ids_without_a_person_are_told() {
    let notes = |table: &Table, knobs: Value| {
        let (made, notes) = told(table, &with(knobs), 1);
        made.unwrap();
        notes.into_iter().filter(|note| note.contains("share their")).collect::<Vec<_>>()
    };
    let expected = "24 of 36 rows share their `patient_id` with other rows (24 different ones): if these are the rows of \
                    one person, promises about rows protect that person less. `person = patient_id` makes them about \
                    persons";
    assert_eq!(notes(&people(2, 12), json!({"person": null})), [expected]);
    assert!(notes(&people(2, 12), json!({})).is_empty());
    assert!(notes(&people(1, 0), json!({"person": null})).is_empty(), "ids are unique");
}
