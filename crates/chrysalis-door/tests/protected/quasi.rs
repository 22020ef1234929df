//! An attacker who knows everybody's quasi values.

use super::*;

/// With `l=2`, nobody's value is believed with a probability above one half, and somebody's with exactly one half.
#[track_caller]
pub(crate) fn guesses_keep_the_promise(form: Form, release: &Value, others: &[&str]) {
    let (mut n_tried, mut n_reached) = (0, 0);
    for seed in 0..120 {
        let people = People::drawn(seed);
        let made = match people.publish(form, others, release, seed) {
            Ok(made) => made.release,
            Err(error) => {
                assert_eq!(error.fault, Fault::Infeasible, "{form}: {error}");
                continue;
            }
        };
        n_tried += 1;
        for known in users(form) {
            for belief in Shown::of(&made).beliefs(&people, &known) {
                let (most, all) = (belief.values().max().unwrap(), belief.values().sum::<u64>());
                assert!(2 * most <= all, "{form}, seed {seed}: {belief:?}");
                n_reached += usize::from(2 * most == all);
            }
        }
    }
    assert!(n_tried > 40 && n_reached > 40, "{form}: {n_tried} tables, {n_reached} beliefs at the limit");
}

#[test]
fn generalize_no_guess_beats_the_promise_over_all_worlds() {
    guesses_keep_the_promise(Form::Generalize, &usual(Form::Generalize), &[]);
    guesses_keep_the_promise(Form::Generalize, &json!({ "require": ["l=2"], "partitioner": "mondrian" }), &[]);
}

#[test]
fn anatomy_no_guess_beats_the_promise_over_all_worlds() {
    guesses_keep_the_promise(Form::Anatomy, &usual(Form::Anatomy), &[]);
}

#[test]
fn permute_no_guess_beats_the_promise_over_all_worlds() {
    guesses_keep_the_promise(Form::Permute, &usual(Form::Permute), &[]);
}

#[test]
fn shuffle_no_guess_beats_the_promise_over_all_worlds() {
    guesses_keep_the_promise(Form::Shuffle, &json!({ "require": ["l=2"], "partitioner": "anatomize" }), &[]);
}

#[test]
fn angel_no_guess_beats_the_promise_over_all_worlds() {
    guesses_keep_the_promise(Form::Angel, &usual(Form::Angel), &[]);
}

#[test]
fn butterfly_no_guess_of_a_user_beats_the_promise_over_all_worlds() {
    guesses_keep_the_promise(Form::Butterfly, &usual(Form::Butterfly), &[]);
}

#[test]
fn rows_of_a_generalized_group_look_alike() {
    for seed in 0..40 {
        let Ok(made) = People::drawn(seed).publish(Form::Generalize, &[], &usual(Form::Generalize), seed) else {
            continue;
        };
        let rows = people_rows(&made.release, &["group_id", "a_min", "a_max", "b_min", "b_max"]);
        let looks: BTreeSet<&Vec<String>> = rows.iter().collect();
        assert_eq!(looks.len() as u64, made.release.manifest.groups);
        assert!(looks.iter().all(|look| rows.iter().filter(|row| row == look).count() > 1));
    }
}

/// Two of six people share a group and a value.
fn with_a_pair() -> People {
    let quasi = [[1, 1], [1, 1], [5, 5], [5, 5], [9, 9], [9, 9]];
    let g = vec![1, 1, 2, 2, 3, 3];
    People { g, ..People::new(&quasi, &[1, 1, 2, 3, 4, 5]) }
}

#[test]
fn disclosed_rows_stop_a_publication_unless_they_are_accepted_and_then_it_says_so() {
    for form in WITH_GROUPS {
        let people = with_a_pair();
        let mut release = by(form, "g", "k=2");
        let error = people.publish(form, &[], &release, 1).unwrap_err();
        // The command line exits with code 3 for this fault.
        assert_eq!(error.fault, Fault::Infeasible, "{form}: {error}");
        assert!(error.message.starts_with("2 of 6 rows (33.3 %) would be disclosed"), "{form}: {error}");
        release["accept"] = json!(["disclosure"]);
        let Published { release: mut made, report, .. } = people.publish(form, &[], &release, 1).unwrap();
        assert_eq!((report.certain_rows, report.disclosed_rows), (Some(2), Some(2)), "{form}");
        assert!(made.manifest.accepts_disclosure(), "{form}");
        let audited = audit(&made, Evidence::default(), &Unwatched).unwrap();
        let found = audited.disclosure.clone().unwrap();
        assert_eq!((found.disclosed_rows, found.is_accepted, audited.ok()), (2, true, true), "{form}");
        made.manifest.accepted.clear();
        assert!(!audit(&made, Evidence::default(), &Unwatched).unwrap().ok(), "{form}");
        // What counts is what the groups contain, not what was asked for: with other values nobody is disclosed.
        let apart = People { values: vec![1, 2, 1, 3, 4, 5], ..with_a_pair() };
        let made = apart.publish(form, &[], &by(form, "g", "k=2"), 1).unwrap();
        assert_eq!(made.report.disclosed_rows, Some(0), "{form}");
        assert!(!made.release.manifest.accepts_disclosure(), "{form}");
    }
}

#[test]
fn exact_forms_show_who_is_in_the_table() {
    for form in EXACT {
        for seed in 0..20 {
            let people = People::drawn(seed);
            let Ok(made) = people.publish(form, &[], &usual(form), seed) else { continue };
            let truth = [0, 1].map(|at: usize| texts(people.quasi.iter().map(|row| row[at])));
            assert_eq!(people_rows(&made.release, &["a", "b"]), sorted_rows(&truth), "{form}");
        }
    }
}

#[test]
fn tight_ranges_end_at_values_of_people() {
    for form in WITH_RANGES {
        let mut n_ends = 0;
        for seed in 0..40 {
            let people = People::drawn(seed);
            let Ok(made) = people.publish(form, &[], &usual(form), seed) else { continue };
            for ranges in Shown::of(&made.release).ranges {
                for (at, (low, high)) in ranges.into_iter().enumerate() {
                    let is_somebodys = |end: i64| people.quasi.iter().any(|row| row[at] == end);
                    assert!(is_somebodys(low) && is_somebodys(high), "{form}: {low} to {high}");
                    n_ends += usize::from(low < high);
                }
            }
        }
        assert!(n_ends > 40, "{form}: {n_ends} ranges");
    }
}

#[test]
fn permuted_columns_hold_values_of_people_and_rows_where_the_others_are_equal() {
    let quasi = [[30, 1], [31, 1], [32, 1], [50, 2], [60, 3], [70, 4]];
    let people = People { g: vec![1, 1, 1, 2, 2, 2], ..People::new(&quasi, &[1, 2, 3, 1, 2, 3]) };
    let truth = |rows: &[[i64; 2]]| sorted_rows(&[0, 1].map(|at: usize| texts(rows.iter().map(|row| row[at]))));
    let mut n_mixed = 0;
    for seed in 0..20 {
        let release = people.release(Form::Permute, &[], &by(Form::Permute, "g", "l=3"), seed);
        for (at, name) in ["a", "b"].into_iter().enumerate() {
            let mut column = cells(&release, "pqt", name);
            let mut known = texts(quasi.iter().map(|row| row[at]));
            column.sort();
            known.sort();
            assert_eq!(column, known, "{name}");
        }
        // In the first group everyone's `b` is 1, so its rows are real people's rows.
        let rows = people_rows(&release, &["a", "b"]);
        assert!(truth(&quasi[..3]).iter().all(|row| rows.contains(row)), "{rows:?}");
        n_mixed += usize::from(rows != truth(&quasi));
    }
    assert!(n_mixed > 10, "rows of the second group are mixed in {n_mixed} of 20 releases");
}

/// 600 people with six values; `a` matches the value in eight of ten cases, and `b` is different for everyone.
#[test]
fn shuffled_groups_together_show_what_people_with_a_value_are_like() {
    let values: Vec<i64> = (0..600).map(|row| row % 6).collect();
    let clue = |row: i64| if mixed(row as u64, 10) < 8 { row % 6 } else { mixed(row as u64 + 5_000, 6) };
    let quasi: Vec<[i64; 2]> = (0..600).map(|row| [clue(row), mixed(row as u64 + 9_000, 1_000_000)]).collect();
    let people = People::new(&quasi, &values);
    let release = people.release(Form::Shuffle, &[], &json!({ "require": ["l=3"], "partitioner": "anatomize" }), 1);
    let table = people.table();
    let with = Evidence { microdata: Some(&table), ..Evidence::default() };
    let scored = audit(&release, with, &Unwatched).unwrap().attacks.learned.clone().unwrap().scored.unwrap();
    assert!(scored.right > scored.right_from_groups * 1.15, "{scored:?}");
}

#[test]
fn shuffled_groups_hold_numbers_next_to_each_other() {
    let values: Vec<i64> = (0..30).map(|row| row * 7 % 30).collect();
    let quasi: Vec<[i64; 2]> = (0..30).map(|row| [row, row % 4]).collect();
    let release = People::new(&quasi, &values).release(Form::Shuffle, &[], &json!({ "require": ["ke=3,2000"] }), 1);
    let mut groups: BTreeMap<String, Vec<i64>> = BTreeMap::new();
    for (id, value) in cells(&release, "permuted", "group_id").into_iter().zip(cells(&release, "permuted", "s")) {
        groups.entry(id).or_default().push(value.parse::<i64>().unwrap() / 1_000);
    }
    for group in groups.values_mut() {
        group.sort_unstable();
        let (first, last) = (group[0], group[group.len() - 1]);
        assert!(group.len() >= 3 && last - first >= 2, "what was required: {group:?}");
        assert_eq!(*group, (first..=last).collect::<Vec<_>>(), "no value of another group lies between");
    }
}

#[test]
fn what_two_users_see_together_is_not_counted_as_disclosed() {
    // Each user finds two rows with two values; a user who knows both `a` and `b` finds one row.
    let people = People::new(&[[1, 1], [1, 2], [2, 1], [2, 2]], &[1, 2, 3, 4]);
    let made = people.publish(Form::Butterfly, &[], &json!({ "require": ["l=2"] }), 1).unwrap();
    assert_eq!((made.report.certain_rows, made.report.disclosed_rows), (Some(0), Some(0)));
    let audited = audit(&made.release, Evidence::default(), &Unwatched).unwrap();
    assert!(audited.ok());
    let [pooling] = &audited.attacks.pooling[..] else { panic!("{:?}", audited.attacks.pooling) };
    assert_eq!((pooling.smallest, pooling.confidence), (1, Some(1.0)));
}

#[test]
fn swapped_values_are_not_counted_and_some_people_keep_their_own() {
    // Values are swapped in pairs, so at least one of seven people keeps their own.
    let quasi: Vec<[i64; 2]> = (0..7).map(|row| [row, 0]).collect();
    let people = People::new(&quasi, &[1, 2, 3, 4, 5, 6, 7]);
    for seed in 0..10 {
        let made = people.publish(Form::RankSwap, &[], &usual(Form::RankSwap), seed).unwrap();
        assert_eq!((made.report.certain_rows, made.report.disclosed_rows), (None, None));
        assert_eq!(audit(&made.release, Evidence::default(), &Unwatched).unwrap().disclosure, None);
        let shown = people_rows(&made.release, &["a", "s"]);
        let own = sorted_rows(&[texts(0..7), people.texts()]);
        assert!(shown.iter().zip(&own).any(|(shown, own)| shown == own), "{shown:?}");
    }
}

#[test]
fn the_manifest_tells_the_ends_of_numbers_every_word_and_every_count() {
    let jobs = ["baker", "nurse", "baker", "pilot", "nurse", "baker", "nurse", "baker"];
    let table = Table::new(vec![
        Column::integers("age", &[23, 27, 35, 59, 61, 65, 66, 97]),
        Column::texts("job", jobs.into_iter()),
        Column::integers("s", &[1_000, 2_000, 1_000, 3_000, 4_000, 2_000, 3_000, 1_000]),
    ]);
    for &form in WITH_GROUPS.iter().chain([&Form::RankSwap]) {
        let mut release = usual(form);
        release["method"] = json!(form.name());
        let quasi = if form.shape().has_users { json!([["age"], ["job"]]) } else { json!(["age", "job"]) };
        let draft: Draft =
            serde_json::from_value(json!({ "quasi": quasi, "sensitive": "s", "release": release })).unwrap();
        let recipe = draft.check(&["age".to_owned(), "job".to_owned(), "s".to_owned()]).unwrap();
        let manifest = publish(table.clone(), &recipe, Seed::Secret, &Unwatched).unwrap().release.manifest;
        let domain = |name: &str| manifest.attributes.iter().find(|it| it.name == name).unwrap().domain.clone();
        assert_eq!((domain("age").min, domain("age").max), (Some(json!(23)), Some(json!(97))), "{form}");
        assert_eq!(domain("job").values, Some(vec![json!("baker"), json!("nurse"), json!("pilot")]), "{form}");
        assert_eq!(domain("s").counts, Some(vec![3, 2, 2, 1]), "{form}");
    }
}

/// Groups are given where possible; elsewhere no two people look alike.
#[test]
fn no_form_shows_the_order_of_the_input() {
    let quasi: Vec<[i64; 2]> = (0..12).map(|row| [row * 5 % 12, row % 3]).collect();
    let values: Vec<i64> = (0..12).map(|row| row * 7 % 12).collect();
    let people = People { g: (0..12).map(|row| row % 4).collect(), ..People::new(&quasi, &values) };
    let reversed = |column: &[i64]| column.iter().rev().copied().collect::<Vec<_>>();
    let turned = People {
        g: reversed(&people.g),
        ..People::new(&quasi.iter().rev().copied().collect::<Vec<_>>(), &reversed(&values))
    };
    for &form in WITH_GROUPS.iter().chain([&Form::RankSwap]) {
        let request = if form == Form::RankSwap { usual(form) } else { by(form, "g", "distinct-l=2") };
        let shown = |people: &People| -> Vec<Vec<Vec<String>>> {
            let release = people.release(form, &[], &request, 5);
            let of_table = |table: &Table| table.columns().iter().map(texts_of).collect();
            release.tables.iter().map(of_table).collect()
        };
        assert_eq!(shown(&people), shown(&turned), "{form}");
    }
}
