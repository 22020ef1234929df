//! An attacker who has another release of the same people.

use super::*;

/// How often each sensitive value occurs, according to the manifest.
fn counts(release: &Release) -> BTreeMap<String, i64> {
    let domain = &release.manifest.attributes.iter().find(|it| it.name == "s").unwrap().domain;
    let values = domain.values.iter().flatten().map(ToString::to_string);
    values.zip(domain.counts.iter().flatten().map(|&count| count as i64)).collect()
}

#[test]
fn who_leaves_between_two_releases_is_told_by_subtraction() {
    let quasi: Vec<[i64; 2]> = (0..12).map(|row| [row, row % 3]).collect();
    let values: Vec<i64> = (0..12).map(|row| row * 5 % 6).collect();
    for &form in WITH_GROUPS.iter().chain([&Form::RankSwap]) {
        for leaving in 0..12 {
            let (mut rest, mut left) = (quasi.clone(), values.clone());
            rest.remove(leaving);
            left.remove(leaving);
            let before = counts(&People::new(&quasi, &values).release(form, &[], &usual(form), 1));
            let after = counts(&People::new(&rest, &left).release(form, &[], &usual(form), 2));
            let fewer: Vec<&String> = before
                .iter()
                .filter(|(value, n)| after.get(*value).copied().unwrap_or(0) < **n)
                .map(|it| it.0)
                .collect();
            assert_eq!(fewer, [&(values[leaving] * 1_000).to_string()], "{form}");
        }
    }
}

/// The values that all releases together leave possible for each person, for a user who knows the columns `known`.
fn left(releases: &[Release], people: &People, known: &[usize]) -> Vec<BTreeSet<String>> {
    let shown: Vec<Shown> = releases.iter().map(Shown::of).collect();
    let of_person = |quasi: &[i64; 2]| {
        let all = shown.iter().map(|shown| shown.allowed(*quasi, known));
        all.reduce(|one, other| &one & &other).unwrap()
    };
    people.quasi.iter().map(of_person).collect()
}

/// Two releases with crossing groups leave two values each, but together leave somebody only one.
#[track_caller]
fn two_releases_leave_one_value(form: Form, n_alone: usize) {
    let quasi = [[10, 0], [20, 0], [30, 0], [40, 0]];
    let people = People { g: vec![1, 1, 2, 2], h: vec![1, 2, 1, 2], ..People::new(&quasi, &[1, 2, 3, 4]) };
    let releases = ["g", "h"].map(|column| people.release(form, &[], &by(form, column, "distinct-l=2"), 1));
    for release in &releases {
        assert!(left(std::slice::from_ref(release), &people, &[0, 1]).iter().all(|values| values.len() >= 2), "{form}");
    }
    let alone: Vec<BTreeSet<String>> = left(&releases, &people, &[0, 1]);
    assert_eq!(alone.iter().filter(|values| values.len() == 1).count(), n_alone, "{form}: {alone:?}");
    assert!(alone.iter().zip(people.texts()).all(|(values, own)| values.contains(&own)));
    // The audit reports this before the second release is handed out.
    let table = people.table();
    let with = Evidence { microdata: Some(&table), others: &[("other", &releases[1])], ..Evidence::default() };
    let audited = audit(&releases[0], with, &Unwatched).unwrap();
    assert!(!audited.ok());
    assert_eq!(audited.attacks.intersection[0].narrowed, n_alone as u64, "{form}");
}

#[test]
fn generalize_two_releases_can_leave_one_value() {
    two_releases_leave_one_value(Form::Generalize, 2);
}

#[test]
fn shuffle_two_releases_can_leave_one_value() {
    two_releases_leave_one_value(Form::Shuffle, 4);
}

#[test]
fn angel_two_releases_can_leave_one_value() {
    two_releases_leave_one_value(Form::Angel, 2);
}

#[test]
fn butterfly_two_releases_can_leave_a_user_one_value() {
    let mut n_alone = 0;
    for seed in 0..120 {
        let people = People::drawn(seed);
        let made = [json!(["l=2"]), json!(["l=2", "k=3"])]
            .map(|require| people.publish(Form::Butterfly, &[], &json!({ "require": require }), seed));
        let [Ok(one), Ok(other)] = made else { continue };
        let releases = [one.release, other.release];
        for known in users(Form::Butterfly) {
            let each = releases.iter().map(|release| left(std::slice::from_ref(release), &people, &known));
            assert!(each.flatten().all(|values| values.len() >= 2), "seed {seed}");
            n_alone += left(&releases, &people, &known).iter().filter(|values| values.len() == 1).count();
        }
    }
    assert!(n_alone > 0);
}

/// 24 people who all look different, six values, and new random groups each time.
#[test]
fn groups_drawn_anew_ten_times_leave_most_people_one_value() {
    let quasi: Vec<[i64; 2]> = (0..24).map(|row| [row, row % 3]).collect();
    let people = People::new(&quasi, &(0..24).map(|row| row % 6).collect::<Vec<_>>());
    let request = json!({ "require": ["l=2"], "partitioner": "anatomize" });
    // In permuted rows, `a` identifies the group.
    for (form, known) in [(Form::Anatomy, &[0, 1][..]), (Form::Permute, &[0])] {
        let releases: Vec<Release> = (0..10).map(|seed| people.release(form, &[], &request, seed)).collect();
        assert!(left(&releases[..1], &people, known).iter().all(|values| values.len() == 2));
        let left = left(&releases, &people, known);
        let alone = left.iter().filter(|values| values.len() == 1).count();
        assert!(alone > 20, "{form}: {alone} of 24");
        assert!(left.iter().zip(people.texts()).all(|(values, own)| values.contains(&own)));
    }
}

/// Everything that a release shows except the ids of its groups and the random order within them: for each group its
/// rows, or its columns if those were permuted, and its values.
pub(crate) fn drawn_view(release: &Release) -> Vec<(Vec<Vec<String>>, Vec<String>)> {
    let (form, shape) = (release.manifest.method, release.manifest.method.shape());
    let (table, id) = (release.table(shape.people).unwrap(), shape.group_id.unwrap());
    let is_drawn = |name: &str| name == id || (form == Form::Shuffle && name == "s");
    let mut groups: BTreeMap<String, (Vec<Vec<String>>, Vec<String>)> = BTreeMap::new();
    for (row, group) in cells(release, shape.people, id).into_iter().enumerate() {
        let columns = table.columns().iter().filter(|column| !is_drawn(column.name()));
        let row = columns.map(|column| column.domain().text(column.code(row)).into_owned()).collect();
        groups.entry(group).or_default().0.push(row);
    }
    if shape.values_table() != shape.people || form == Form::Shuffle {
        for (group, (_, values)) in &mut groups {
            values.extend(values_of(release, group).iter().map(|(value, share)| format!("{value} {share}")));
        }
    }
    for (rows, _) in groups.values_mut() {
        if form == Form::Permute {
            *rows = (0..rows[0].len()).map(|at| rows.iter().map(|row| row[at].clone()).collect()).collect();
            rows.iter_mut().for_each(|column: &mut Vec<String>| column.sort());
        } else {
            rows.sort();
        }
    }
    let mut groups: Vec<_> = groups.into_values().collect();
    groups.sort();
    groups
}

#[track_caller]
fn gives_the_same_again(people: &People, form: Form, request: &Value) -> bool {
    let Ok(first) = people.publish(form, &[], request, 0) else { return false };
    for seed in 1..6 {
        let again = people.release(form, &[], request, seed);
        assert_eq!(drawn_view(&first.release), drawn_view(&again), "{form}, seed {seed}");
    }
    true
}

#[test]
fn mondrian_forms_the_same_groups_again() {
    let request = json!({ "require": ["l=2"], "partitioner": "mondrian" });
    let n_tried =
        (0..60).filter(|&seed| gives_the_same_again(&People::drawn(seed), Form::Generalize, &request)).count();
    assert!(n_tried > 20, "{n_tried}");
}

#[test]
fn sorted_numbers_that_all_differ_form_the_same_groups_again() {
    for seed in 0..10 {
        let people = People { values: vec![3, 1, 6, 2, 5, 4], ..People::drawn(seed) };
        assert!(gives_the_same_again(&people, Form::Shuffle, &usual(Form::Shuffle)));
    }
}

#[test]
fn two_swapped_releases_narrow_values_down() {
    // Nine neighbours satisfy the minimum: four on each side, or eight on one side for the first and the last. So a
    // value comes from at most eight places away.
    let quasi: Vec<[i64; 2]> = (0..60).map(|row| [row, 0]).collect();
    let people = People::new(&quasi, &(0..60).collect::<Vec<_>>());
    let shown = |seed: u64| -> BTreeMap<i64, i64> {
        let release = people.release(Form::RankSwap, &[], &json!({ "require": ["ke=9,8000"] }), seed);
        let rows = people_rows(&release, &["a", "s"]);
        rows.iter().map(|row| (row[0].parse().unwrap(), row[1].parse::<i64>().unwrap() / 1_000)).collect()
    };
    let (one, other) = (shown(1), shown(2));
    let mut n_narrowed = 0;
    for own in 0..60 {
        let both = (one[&own].max(other[&own]) - 8)..=(one[&own].min(other[&own]) + 8);
        assert!(both.contains(&own), "{own} {both:?}");
        n_narrowed += usize::from(both.count() < 17);
    }
    assert!(n_narrowed > 20, "{n_narrowed} of 60");
}
