//! An attacker who also knows the columns that are kept as they are.

use super::*;
use crate::quasi::guesses_keep_the_promise;

#[test]
fn exact_forms_show_kept_columns_beside_exact_quasi_values() {
    for form in EXACT {
        for seed in 0..20 {
            let people = People::drawn(seed);
            let Ok(made) = people.publish(form, &["ward"], &usual(form), seed) else { continue };
            let truth = [0, 1].map(|at: usize| texts(people.quasi.iter().map(|row| row[at])));
            let truth = [truth[0].clone(), truth[1].clone(), texts(people.ward.iter().copied())];
            assert_eq!(people_rows(&made.release, &["a", "b", "ward"]), sorted_rows(&truth), "{form}");
        }
    }
}

#[test]
fn anatomy_kept_columns_tell_no_more_of_values() {
    guesses_keep_the_promise(Form::Anatomy, &usual(Form::Anatomy), &["ward"]);
}

#[test]
fn shuffle_kept_columns_tell_no_more_of_values() {
    guesses_keep_the_promise(Form::Shuffle, &json!({ "require": ["l=2"], "partitioner": "anatomize" }), &["ward"]);
}

#[test]
fn angel_kept_columns_tell_no_more_of_values() {
    guesses_keep_the_promise(Form::Angel, &usual(Form::Angel), &["ward"]);
}

/// Everyone looks alike; of the three people in ward 0, two have the same value.
#[track_caller]
fn kept_columns_beat_the_promise(form: Form) {
    let people = People { ward: vec![0, 0, 0, 1, 1, 1], ..People::new(&[[7, 7]; 6], &[1, 1, 2, 2, 3, 4]) };
    let made = people.publish(form, &["ward"], &by(form, "g", "l=2"), 1).unwrap();
    assert_eq!((made.report.groups, made.report.disclosed_rows), (1, Some(0)), "{form}");
    let audited = audit(&made.release, Evidence::default(), &Unwatched).unwrap();
    assert!(audited.ok() && audited.attacks.linking.as_ref().unwrap().confidence <= 0.5);
    for known in users(form) {
        let belief = &Shown::of(&made.release).beliefs(&people, &known)[0];
        let (most, all) = (belief["1000"], belief.values().sum::<u64>());
        assert_eq!(3 * most, 2 * all, "{form}: {belief:?}");
    }
}

#[test]
fn generalize_kept_columns_can_make_a_guess_better_than_promised() {
    kept_columns_beat_the_promise(Form::Generalize);
}

#[test]
fn butterfly_kept_columns_can_make_a_guess_better_than_promised() {
    kept_columns_beat_the_promise(Form::Butterfly);
}

/// Everyone is in a ward of their own.
fn alone_in_wards() -> People {
    let quasi = [[1, 1], [1, 1], [5, 5], [5, 5], [9, 9], [9, 9]];
    People { ward: (0..6).collect(), g: vec![1, 1, 2, 2, 3, 3], ..People::new(&quasi, &[1, 2, 3, 1, 2, 3]) }
}

#[track_caller]
fn kept_columns_disclose(form: Form) {
    let people = alone_in_wards();
    let mut release = by(form, "g", "k=2");
    assert_eq!(people.publish(form, &[], &release, 1).unwrap().report.disclosed_rows, Some(0), "{form}");
    let error = people.publish(form, &["ward"], &release, 1).unwrap_err();
    assert_eq!(error.fault, Fault::Infeasible, "{form}: {error}");
    assert!(error.message.contains("6 of 6 rows") && error.message.contains("together with `ward`"), "{form}: {error}");
    release["accept"] = json!(["disclosure"]);
    let made = people.release(form, &["ward"], &release, 1);
    let audited = audit(&made, Evidence::default(), &Unwatched).unwrap();
    let found = audited.attacks.bystander.clone().unwrap();
    assert_eq!((found.is_beside, found.certain_rows, found.disclosed_rows), (true, 6, 6), "{form}");
    assert_eq!(audited.disclosure.as_ref().unwrap().disclosed_rows, 6, "{form}");
}

#[test]
fn generalize_kept_columns_that_give_values_away_stop_the_publication() {
    kept_columns_disclose(Form::Generalize);
}

#[test]
fn butterfly_kept_columns_that_give_values_away_stop_the_publication() {
    kept_columns_disclose(Form::Butterfly);
}

#[test]
fn kept_columns_do_not_stand_beside_values_where_these_are_shown_for_groups() {
    for form in [Form::Anatomy, Form::Shuffle, Form::Angel] {
        let made = alone_in_wards().publish(form, &["ward"], &by(form, "g", "k=2"), 1).unwrap();
        assert_eq!(made.report.disclosed_rows, Some(0), "{form}");
        let audited = audit(&made.release, Evidence::default(), &Unwatched).unwrap();
        let found = audited.attacks.bystander.clone().unwrap();
        assert_eq!((found.is_beside, found.alone_rows, found.disclosed_rows), (false, 6, 0), "{form}");
    }
}

#[test]
fn columns_that_look_like_identifiers_are_not_kept_unless_they_are_accepted() {
    let quasi: Vec<[i64; 2]> = (0..40).map(|row| [row / 4, row % 4]).collect();
    let people =
        People { ward: (0..40).collect(), ..People::new(&quasi, &(0..40).map(|row| row % 8).collect::<Vec<_>>()) };
    for &form in WITH_GROUPS.iter().chain([&Form::RankSwap]).filter(|form| form.shape().keeps_others) {
        let mut release = usual(form);
        let error = people.publish(form, &["ward"], &release, 1).unwrap_err();
        assert_eq!(error.fault, Fault::Infeasible, "{form}: {error}");
        assert!(error.message.contains("looks as if it identifies people"), "{form}: {error}");
        let mut accept = vec!["identifying=ward"];
        // If everyone's row is known, so is the value beside it.
        accept.extend(matches!(form, Form::Generalize | Form::Butterfly).then_some("disclosure"));
        release["accept"] = json!(accept);
        let made = people.release(form, &["ward"], &release, 1);
        assert!(made.manifest.accepted.iter().any(|risk| risk.to_string() == "identifying=ward"), "{form}");
    }
}
