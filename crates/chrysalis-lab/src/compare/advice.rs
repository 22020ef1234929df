//! Which release to choose for what, in sentences computed from the numbers.

use chrysalis::words::counted;
use chrysalis::{Form, Numbers};
use chrysalis_release::Detail;

use super::charts;
use super::measures::{ERROR, KL, LEARNED, LINKING, Measure, NCP, ROW_LINKING, SECONDS, SIMILARITY, WIDTH, percent};
use super::trial::Trial;

/// One piece of advice.
pub struct Advice {
    /// What the owner wants.
    pub goal: &'static str,
    /// The runs that serve it best.
    pub runs: Vec<String>,
    /// The advice in words.
    pub sentence: String,
}

/// The measure that decides each goal, and what the sentence says about the best run.
const GOALS: [(&str, &Measure, &str); 9] = [
    ("Nobody's value may be guessed:", &LINKING, "an attacker is right with at most {} confidence"),
    ("It must stay hidden which row is whose:", &ROW_LINKING, "a given row is a person's with a chance of at most {}"),
    ("Not even how bad a value is may be known:", &SIMILARITY, "{} of the rows are in groups of one category"),
    ("Attackers may learn from the whole release:", &LEARNED, "a learned attack guesses {} of the people right"),
    ("Analysts ask how many or how much:", &ERROR, "half of the answers are off by no more than {}"),
    ("Answers must be certain:", &WIDTH, "the bounds of the median question are {} of the truth apart"),
    ("The joint distribution matters:", &KL, "the KL-divergence from the microdata is {}"),
    ("Readers look at single rows:", &NCP, "quasi values lose {} of their range on average"),
    ("It must be quick:", &SECONDS, "made in {} s"),
];

/// One sentence per goal, then one about the balance of risk and accuracy.
pub(super) fn advice(trials: &[Trial]) -> Vec<Advice> {
    let goals = GOALS.iter().filter_map(|(goal, measure, words)| best(trials, goal, measure, words));
    disclosing(trials).into_iter().chain(goals).chain(balance(trials)).chain(presence(trials)).collect()
}

/// Advice on a goal that no release here can meet, so that none is chosen for it.
fn presence(trials: &[Trial]) -> Option<Advice> {
    let is_choice = trials.iter().filter(|trial| trial.safe().is_some()).count() > 1;
    let sentence = "none of these will do: no form hides who is in the data. An attacker can assume that everybody \
                    whom the groups of a release cover is there, and how often that is right cannot be determined \
                    without knowing who is not. If it must stay hidden, publish a random sample of those who could be \
                    in the data.";
    is_choice.then(|| Advice {
        goal: "It must stay hidden who is in the data:",
        runs: Vec::new(),
        sentence: sentence.to_owned(),
    })
}

/// A warning about runs that nobody should use.
fn disclosing(trials: &[Trial]) -> Option<Advice> {
    let disclosed = |trial: &Trial| trial.numbers()?.disclosed_rows.filter(|&rows| rows > 0);
    let open: Vec<String> = trials
        .iter()
        .filter_map(|trial| Some(format!("{} ({})", trial.run.name, counted(disclosed(trial)?, "row"))))
        .collect();
    if open.is_empty() {
        return None;
    }
    let rest = match trials.iter().any(|trial| trial.safe().is_some()) {
        true => "it is left out of the advice below.",
        false => "there is nothing left to recommend. Require something of sensitive values, such as l=2 or ke=2,1000.",
    };
    let open = joined(&open);
    let sentence =
        format!("do not publish {open}: sensitive values can be inferred there, whatever is promised; {rest}");
    Some(Advice { goal: "Nobody's value may be disclosed:", runs: Vec::new(), sentence })
}

/// A run with its value of a measure.
type ValuedTrial<'a> = (&'a Trial, &'a Numbers, f64);

/// The safe runs that have a value of the measure.
fn valued<'a>(trials: &'a [Trial], measure: &Measure) -> Vec<ValuedTrial<'a>> {
    let value = |trial: &'a Trial| {
        let numbers = trial.safe()?;
        Some((trial, numbers, measure.of(numbers).filter(|value| value.is_finite())?))
    };
    trials.iter().filter_map(value).collect()
}

/// Whether two values are so close that they count as the same.
fn same(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
}

fn best(trials: &[Trial], goal: &'static str, measure: &Measure, words: &str) -> Option<Advice> {
    let all = valued(trials, measure);
    let least = all.iter().map(|(_, _, value)| *value).fold(f64::INFINITY, f64::min);
    // Values that are displayed the same are the same to a reader.
    let is_least = |value: f64| same(value, least) || (measure.shown)(value) == (measure.shown)(least);
    let (winners, others): (Vec<&ValuedTrial>, Vec<&ValuedTrial>) =
        all.iter().partition(|(_, _, value)| is_least(*value));
    if winners.is_empty() || all.len() < 2 {
        return None;
    }
    if let Some(words) = hopeless(measure, least) {
        return Some(Advice { goal, runs: Vec::new(), sentence: words });
    }
    let runs: Vec<String> = winners.iter().map(|(trial, ..)| trial.run.name.clone()).collect();
    let about = words.replace("{}", &(measure.shown)(least));
    let mut sentence = if others.is_empty() {
        format!("all are the same here; {about}.")
    } else {
        let next = others.iter().map(|(_, _, value)| *value).fold(f64::INFINITY, f64::min);
        format!("take {}: {about} (the next: {}).", joined(&runs), (measure.shown)(next))
    };
    if measure.key == LINKING.key && winners.len() > 1 {
        sentence += &tie(&winners);
    }
    if measure.key == ERROR.key {
        sentence += &caution(&winners, trials);
    }
    Some(Advice { goal, runs, sentence })
}

/// If even the best release gives everything away, there is nothing to choose.
fn hopeless(measure: &Measure, least: f64) -> Option<String> {
    match measure.key {
        _ if least < 1.0 => None,
        key if key == LINKING.key => Some(
            "none of these will do: in each of them an attacker can be certain of somebody's value. Require something of \
             sensitive values, such as l=4."
                .to_owned(),
        ),
        key if key == ROW_LINKING.key => {
            let permuted = Form::ALL.iter().filter(|form| form.shape().detail == Detail::Permuted);
            let names: Vec<&str> = permuted.map(|form| form.name()).collect();
            Some(format!(
                "none of these will do: in each of them somebody's row can be recognized by its values. A larger k, \
                 or {}, may help.",
                names.join(" or ")
            ))
        }
        _ => None,
    }
}

/// Among several equally safe runs, names the most accurate.
fn tie(winners: &[&ValuedTrial]) -> String {
    let errors = winners.iter().filter_map(|(trial, numbers, _)| Some((trial, ERROR.of(numbers)?)));
    match errors.min_by(|(_, a), (_, b)| a.total_cmp(b)) {
        Some((trial, error)) => {
            format!(" Of these, {} has the lowest median query error, {}.", trial.run.name, percent(error))
        }
        None => String::new(),
    }
}

/// A caution if accuracy comes at the price of identifiable rows.
fn caution(winners: &[&ValuedTrial], trials: &[Trial]) -> String {
    let Some((winner, numbers, _)) = winners.first() else { return String::new() };
    if ROW_LINKING.of(numbers).is_none_or(|chance| chance < 1.0) {
        return String::new();
    }
    let hidden = valued(trials, &ERROR).into_iter();
    let hidden = hidden.filter(|(_, numbers, _)| ROW_LINKING.of(numbers).is_some_and(|chance| chance < 1.0));
    match hidden.min_by(|(_, _, a), (_, _, b)| a.total_cmp(b)) {
        Some((other, _, error)) => format!(
            " But in {} somebody's row can be recognized by its values; where it must stay hidden which row is whose, \
             take {}, whose answers are off by {}.",
            winner.run.name,
            other.run.name,
            percent(error)
        ),
        None => {
            let name = &winner.run.name;
            format!(" But in {name} somebody's row can be recognized by its values, as in every other run here.")
        }
    }
}

/// The runs that no other run beats in both risk and accuracy.
fn balance(trials: &[Trial]) -> Option<Advice> {
    let utility = [&ERROR, &KL].into_iter().find(|measure| valued(trials, measure).len() >= 2)?;
    let risk = charts::risk(trials);
    let points: Vec<(&Trial, f64, f64)> = valued(trials, utility)
        .into_iter()
        .filter_map(|(trial, numbers, worth)| Some((trial, risk.of(numbers)?, worth)))
        .collect();
    let beats = |a: &(&Trial, f64, f64), b: &(&Trial, f64, f64)| {
        let no_worse = a.1 <= b.1 && a.2 <= b.2;
        no_worse && (!same(a.1, b.1) || !same(a.2, b.2))
    };
    let front: Vec<_> = points.iter().filter(|point| !points.iter().any(|other| beats(other, point))).collect();
    if points.len() < 2 || front.is_empty() {
        return None;
    }
    let runs: Vec<String> = front.iter().map(|(trial, ..)| trial.run.name.clone()).collect();
    let parts: Vec<String> = front
        .iter()
        .map(|(trial, at, worth)| format!("{} ({}, {})", trial.run.name, percent(*at), (utility.shown)(*worth)))
        .collect();
    let sentence = format!(
        "no other run here is at once as safe ({}) and as accurate ({}) as {}.",
        risk.title,
        utility.title,
        joined(&parts)
    );
    Some(Advice { goal: "Risk and accuracy in balance:", runs, sentence })
}

/// `a`, `a or b`, `a, b or c`; beyond six, the rest is only counted.
fn joined(names: &[String]) -> String {
    const MANY: usize = 6;
    match names {
        [] => String::new(),
        [one] => one.clone(),
        names if names.len() > MANY => {
            format!("{} or {} others", names[..MANY - 1].join("; "), names.len() + 1 - MANY)
        }
        [rest @ .., last] => {
            let separator = if names.iter().any(|name| name.contains(',')) { "; " } else { ", " };
            format!("{} or {last}", rest.join(separator))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named<'a>(all: &'a [Advice], goal: &str) -> &'a Advice {
        all.iter().find(|advice| advice.goal.starts_with(goal)).unwrap()
    }

    #[test]
    fn the_best_is_named_with_its_value_and_the_next() {
        let trials = [
            Trial::made_up("a", &[], 0.25, 0.1, 0.02),
            Trial::made_up("b", &[], 0.1, 0.1, 0.05),
            Trial::made_up("c", &[], 0.1, 0.1, 0.04),
        ];
        let all = advice(&trials);
        let guessed = named(&all, "Nobody's value");
        assert_eq!(guessed.runs, ["b", "c"]);
        let words = "take b or c: an attacker is right with at most 10.0 % confidence (the next: 25.0 %). Of these, c has \
                     the lowest median query error, 4.0 %.";
        assert_eq!(guessed.sentence, words);
        assert!(named(&all, "It must stay hidden which row").sentence.starts_with("all are the same here;"));
        assert_eq!(named(&all, "Analysts ask").runs, ["a"]);
        // b is as safe as c but less accurate.
        assert_eq!(named(&all, "Risk and accuracy").runs, ["a", "c"]);
    }

    #[test]
    fn accuracy_that_gives_rows_away_is_said() {
        let trials = [Trial::made_up("exact", &[], 0.25, 1.0, 0.01), Trial::made_up("wide", &[], 0.25, 0.2, 0.03)];
        let words = named(&advice(&trials), "Analysts ask").sentence.clone();
        assert!(words.contains("row can be recognized") && words.contains("take wide, whose answers are off by 3.0 %"));
    }

    /// A low probability for each row is no reason to believe that presence is hidden.
    #[test]
    fn no_release_is_advised_for_hiding_who_is_there() {
        let trials = [Trial::made_up("a", &[], 0.25, 0.001, 0.02), Trial::made_up("b", &[], 0.25, 0.1, 0.03)];
        let all = advice(&trials);
        let found = named(&all, "It must stay hidden who is in the data");
        assert!(found.runs.is_empty(), "{:?}", found.runs);
        assert_eq!(
            found.sentence,
            "none of these will do: no form hides who is in the data. An attacker can assume that everybody whom the \
             groups of a release cover is there, and how often that is right cannot be determined without knowing who \
             is not. If it must stay hidden, publish a random sample of those who could be in the data."
        );
        assert!(all.iter().all(|advice| !advice.sentence.contains("presence")));
    }

    #[test]
    fn where_all_give_everything_away_none_is_advised() {
        let trials = [Trial::made_up("a", &[], 1.0, 1.0, 0.01), Trial::made_up("b", &[], 1.0, 1.0, 0.03)];
        let all = advice(&trials);
        for goal in ["Nobody's value", "It must stay hidden which row", "It must stay hidden who"] {
            let found = named(&all, goal);
            assert!(found.runs.is_empty() && found.sentence.starts_with("none of these will do"), "{}", found.sentence);
        }
    }

    #[test]
    fn a_release_that_failed_its_audit_is_never_advised() {
        let trials = [
            Trial::made_up("broken", &[], 0.01, 0.01, 0.001).broken(),
            Trial::made_up("a", &[], 0.25, 0.1, 0.02),
            Trial::made_up("b", &[], 0.2, 0.2, 0.03),
        ];
        assert!(advice(&trials).iter().all(|advice| !advice.runs.iter().any(|name| name == "broken")));
        assert!(advice(&trials[..2]).is_empty(), "one alone is no choice");
    }

    #[test]
    fn a_release_that_discloses_rows_is_never_advised() {
        let open = || Trial::made_up("open", &[], 0.01, 0.01, 0.001).disclosing(1_234);
        let trials = [open(), Trial::made_up("a", &[], 0.25, 0.1, 0.02), Trial::made_up("b", &[], 0.2, 0.2, 0.03)];
        let all = advice(&trials);
        assert!(all.iter().all(|advice| !advice.runs.iter().any(|name| name == "open")));
        assert_eq!(
            named(&all, "Nobody's value may be disclosed").sentence,
            "do not publish open (1,234 rows): sensitive values can be inferred there, whatever is promised; it is \
             left out of the advice below."
        );
        let alone = advice(&[open(), open()]);
        assert!(alone.len() == 1 && alone[0].sentence.contains("there is nothing left to recommend"));
    }

    #[test]
    fn names_are_joined_as_people_do() {
        let names = |n: usize| (0..n).map(|n| format!("r{n}")).collect::<Vec<_>>();
        assert_eq!(joined(&names(1)), "r0");
        assert_eq!(joined(&names(3)), "r0, r1 or r2");
        assert_eq!(joined(&names(9)), "r0; r1; r2; r3; r4 or 4 others");
        assert_eq!(joined(&["a, l=2".into(), "a, l=4".into(), "b".into()]), "a, l=2; a, l=4 or b");
    }
}
