//! An attacker who knows the algorithm.

use super::*;
use crate::republished::drawn_view;

/// The beliefs about each person of an attacker who knows everyone's quasi values and runs the algorithm on every
/// world: a world counts as often as it produces what the release shows, with new random draws each time.
fn replayed(people: &People, form: Form, request: &Value, n_runs: u64) -> Vec<BTreeMap<i64, f64>> {
    let seen = drawn_view(&people.release(form, &[], request, 0));
    let mut beliefs: Vec<BTreeMap<i64, f64>> = vec![BTreeMap::new(); people.values.len()];
    let mut all = 0.0;
    for values in arrangements(&people.values) {
        let world = People { values, ..people.clone() };
        let runs = (0..n_runs).filter_map(|seed| world.publish(form, &[], request, seed).ok());
        let hits = runs.filter(|made| drawn_view(&made.release) == seen).count() as f64;
        all += hits;
        for (belief, &value) in beliefs.iter_mut().zip(&world.values) {
            *belief.entry(value).or_default() += hits;
        }
    }
    beliefs.iter_mut().for_each(|belief| belief.values_mut().for_each(|it| *it /= all));
    beliefs
}

/// Somebody's value is believed with a probability above nine tenths, although one half was promised.
#[track_caller]
fn replaying_betrays(form: Form, people: &People) {
    let beliefs = replayed(people, form, &usual(form), 12);
    let most = beliefs.iter().flat_map(|belief| belief.values()).fold(0.0_f64, |most, &it| most.max(it));
    assert!(most > 0.9, "{form}: {beliefs:?}");
}

/// Two people close together with the same value, and four others far away. In every world where the two have different
/// values they are grouped together, and in hardly any other: anyone who sees them apart knows the value that occurs
/// twice.
fn two_alike() -> People {
    People::new(&[[0, 0], [1, 0], [50, 0], [51, 0], [52, 0], [53, 0]], &[1, 1, 2, 3, 4, 5])
}

#[test]
fn generalize_replaying_compact_can_betray_a_value() {
    replaying_betrays(Form::Generalize, &two_alike());
}

#[test]
fn anatomy_replaying_nearby_can_betray_a_value() {
    replaying_betrays(Form::Anatomy, &two_alike());
}

/// Before the choice among groups with about the same loss was randomized, two of the 180 worlds produced the published
/// groups, and the audit said that nothing follows from them.
#[test]
fn the_audit_does_not_say_that_groups_by_nearby_tell_nothing() {
    let quasi = [1, 6, 11, 14, 16, 17].map(|age| [age, 0]);
    let people = People::new(&quasi, &[1, 1, 2, 3, 2, 4]);
    let request = usual(Form::Anatomy);
    assert_eq!(arrangements(&people.values).len(), 180);
    let beliefs = replayed(&people, Form::Anatomy, &request, 40);
    let most = beliefs.iter().flat_map(|belief| belief.values()).fold(0.0_f64, |most, &it| most.max(it));
    assert!(most > 0.5, "half was promised: {beliefs:?}");
    let release = people.release(Form::Anatomy, &[], &request, 0);
    let table = people.table();
    let with = Evidence { microdata: Some(&table), ..Evidence::default() };
    let audited = serde_json::to_value(audit(&release, with, &Unwatched).unwrap()).unwrap();
    let minimality = audited["attacks"]["not_run"]["minimality"].as_str().unwrap();
    assert!(minimality.starts_with("Not replayed") && minimality.contains("may reveal values"), "{minimality}");
    let replay = audited["attacks"]["replay"]["finding"].as_str().unwrap();
    assert!(replay.ends_with("No promise covers an attacker who replays the algorithm."), "{replay}");
}

#[test]
fn permute_replaying_nearby_can_betray_a_value() {
    replaying_betrays(Form::Permute, &two_alike());
}

#[test]
fn angel_replaying_can_betray_a_value() {
    replaying_betrays(Form::Angel, &two_alike());
}

/// Everyone's `b` is 0, and the release shows that: the first user knows everything there is to know.
#[test]
fn butterfly_replaying_can_betray_a_value_to_a_user() {
    let people = People::new(&[[5, 0], [5, 0], [0, 0], [2, 0], [5, 0]], &[3, 2, 1, 1, 2]);
    let request = json!({ "require": ["l=1.5"] });
    let shown = Shown::of(&people.release(Form::Butterfly, &[], &request, 0));
    assert!(shown.ranges.iter().all(|ranges| ranges[1] == (0, 0)));
    let beliefs = replayed(&people, Form::Butterfly, &request, 12);
    // Two thirds were promised. The people with 0 and 2 would form a group if they did not both have the value 1.
    assert!(beliefs[2][&1] > 0.9 && beliefs[3][&1] > 0.9, "{beliefs:?}");
}

#[test]
fn anatomize_tells_nothing_to_who_replays_it() {
    let people = People::new(&[[0, 0], [1, 0], [50, 3], [51, 3]], &[1, 2, 1, 2]);
    let request = json!({ "require": ["l=2"], "partitioner": "anatomize" });
    for form in [Form::Anatomy, Form::Permute] {
        for belief in replayed(&people, form, &request, 400) {
            assert!(belief.values().all(|it| (it - 0.5).abs() < 0.1), "{form}: {belief:?}");
        }
    }
}

#[test]
fn groups_by_sorted_numbers_tell_nothing_to_who_replays_them() {
    let people = People::new(&[[0, 0], [1, 0], [2, 1], [50, 3], [51, 3], [52, 2]], &[3, 1, 6, 2, 5, 4]);
    let request = usual(Form::Shuffle);
    let shown = Shown::of(&people.release(Form::Shuffle, &[], &request, 0));
    for (belief, quasi) in replayed(&people, Form::Shuffle, &request, 1).iter().zip(&people.quasi) {
        let row = (0..6).find(|&row| shown.covers(row, *quasi, &[0, 1])).unwrap();
        for (value, it) in belief {
            let share = shown.values[row].get(&(value * 1_000).to_string()).copied().unwrap_or(0);
            assert!((it * 60.0 - share as f64).abs() < 1e-9, "{belief:?} {:?}", shown.values[row]);
        }
    }
}
