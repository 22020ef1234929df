//! An attacker who runs the algorithm again on candidate worlds; see `spec.md`, replay. It is run by crates that can
//! publish; this one cannot.

use super::finding::{Finding, counted, percent};

/// Nobody promises anything against this attacker, whatever was measured, unless the release is transparent.
const NOT_PROMISED: &str = "No promise covers an attacker who replays the algorithm.";
/// What is promised of a transparent release. Tables cannot prove it, only the algorithm can.
const PROMISED: &str = "The release promises that its groups are equally likely in all worlds that it allows; what differs \
                        here is chance.";

fn promised(is_transparent: bool) -> &'static str {
    if is_transparent { PROMISED } else { NOT_PROMISED }
}

/// Two members of a group exchange their sensitive values, and the table is published again and again, as it is and with the
/// values exchanged: how often does the group come out?
#[derive(Clone, Debug, PartialEq)]
pub struct Replay {
    /// Exchanges that were tried.
    pub exchanges: u64,
    /// How often the table was published with each set of values.
    pub runs: u64,
    /// Rows that were published each time.
    pub rows: u64,
    /// Whether they are the whole table; otherwise they are people who lie close together.
    pub is_whole: bool,
    /// How often groups came out with the true values, over all exchanges and runs.
    pub with_true: u64,
    /// How often they came out with exchanged values.
    pub with_exchanged: u64,
    /// Exchanges after which the group never came out, although it did with the true values.
    pub vanished: u64,
    /// The median of (runs in which the group came out with true values + 1) / (runs in which it did with exchanged
    /// values + 1), over all exchanges whose group came out often enough to tell; absent where none did.
    pub median_ratio: Option<f64>,
    /// Exchanges whose group came out often enough to tell.
    pub told: u64,
    /// The sensitive attributes, each with the exchanges of its values.
    pub columns: Vec<(String, u64)>,
}

/// A group that came out in fewer runs, true and exchanged together, says nothing about the ratio.
const LEAST_TOLD: u64 = 3;

impl Replay {
    /// Summarizes exchanges, given how often each group came out with true and with exchanged values.
    /// `columns` are the sensitive attributes, each with the exchanges of its values.
    pub fn of(counts: &[(u64, u64)], columns: Vec<(String, u64)>, runs: u64, (rows, is_whole): (u64, bool)) -> Replay {
        let told = counts.iter().filter(|(own, other)| own + other >= LEAST_TOLD);
        let mut ratios: Vec<f64> = told.map(|&(own, other)| (own + 1) as f64 / (other + 1) as f64).collect();
        ratios.sort_by(f64::total_cmp);
        let middle = |at: usize| ratios.get(at).copied();
        let n = ratios.len();
        Replay {
            exchanges: counts.len() as u64,
            runs,
            rows,
            is_whole,
            with_true: counts.iter().map(|(own, _)| own).sum(),
            with_exchanged: counts.iter().map(|(_, other)| other).sum(),
            vanished: counts.iter().filter(|(own, other)| *own > 0 && *other == 0).count() as u64,
            median_ratio: middle(n / 2).zip(middle(n.saturating_sub(1) / 2)).map(|(a, b)| (a + b) / 2.0),
            told: n as u64,
            columns,
        }
    }

    /// The attack in words.
    pub fn finding(&self, partitioner: &str, is_transparent: bool) -> Finding {
        let all = (self.exchanges * self.runs).max(1) as f64;
        let share = |n: u64| percent(n as f64 / all);
        let what = match self.is_whole {
            true => "the table was published".to_owned(),
            false => {
                format!("{} were published", counted(self.rows, "neighbouring person", "neighbouring people"))
            }
        };
        let mut sentence = format!(
            "An attacker who knows everybody's quasi values runs `{partitioner}` again on worlds that the release \
             allows. In {}, two members of a group exchanged their {}, and {what} {} with the true values and as often \
             with the exchanged ones: the group came out in {} of the runs with true values and in {} of the runs with \
             exchanged ones",
            counted(self.exchanges, "trial", "trials"),
            self.exchanged(),
            counted(self.runs, "time", "times"),
            share(self.with_true),
            share(self.with_exchanged),
        );
        sentence.push_str(&match self.median_ratio {
            None => "; that is too rare to tell which world is likelier.".to_owned(),
            Some(ratio) => format!(
                ", so in the median trial (of {} whose group came out often enough) the true values are {ratio:.1} \
                 times as likely; this many runs can show {} times at most.",
                self.told,
                self.runs + 1,
            ),
        });
        sentence.push_str(&format!(" {}", promised(is_transparent)));
        let prevention = match self.median_ratio {
            Some(ratio) if ratio > 1.5 && !is_transparent => {
                "a transparent release, whose groups are equally likely in all worlds that it allows."
            }
            _ => "",
        };
        Finding::new("replay", sentence, prevention)
    }

    /// Whose values were exchanged: `` `disease` ``, or `` `disease` (6 trials) or `cost` (4 trials) ``.
    fn exchanged(&self) -> String {
        match &self.columns[..] {
            [(only, _)] => format!("`{only}`"),
            columns => {
                let each = columns.iter().map(|(name, n)| format!("`{name}` ({})", counted(*n, "trial", "trials")));
                each.collect::<Vec<_>>().join(" or ")
            }
        }
    }

    /// The finding that says why the attack was not run.
    pub fn not_run(reason: &str, is_transparent: bool) -> Finding {
        let promised = match is_transparent {
            true => "The release promises that its groups are equally likely in all worlds that it allows.",
            false => NOT_PROMISED,
        };
        Finding::not_run("replay", format!("{reason} {promised}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_the_ratios_leaves_out_groups_that_hardly_come_out() {
        // Ratios 21/1, 11/6 and 6/6; the last two exchanges say nothing.
        let of = |counts: &[(u64, u64)]| Replay::of(counts, Vec::new(), 20, (300, true));
        let found = of(&[(20, 0), (10, 5), (5, 5), (1, 0), (0, 0)]);
        assert_eq!((found.exchanges, found.told, found.vanished), (5, 3, 2));
        assert_eq!((found.with_true, found.with_exchanged), (36, 10));
        assert_eq!(found.median_ratio, Some(11.0 / 6.0));
        assert_eq!(of(&[(20, 0), (5, 5)]).median_ratio, Some(11.0));
        assert_eq!(of(&[(1, 0)]).median_ratio, None);
    }

    #[test]
    fn it_is_said_how_often_how_likely_and_that_nothing_is_promised() {
        let disease = |trials: u64| vec![("disease".to_owned(), trials)];
        let found = Replay::of(&[(20, 0), (10, 5), (5, 5)], disease(3), 20, (300, true)).finding("nearby", false);
        assert_eq!(
            found.sentence,
            "An attacker who knows everybody's quasi values runs `nearby` again on worlds that the release allows. In \
             3 trials, two members of a group exchanged their `disease`, and the table was published 20 times with \
             the true values and as often with the exchanged ones: the group came out in 58.3 % of the runs with true \
             values and in 16.7 % of the runs with exchanged ones, so in the median trial (of 3 whose group came out \
             often enough) the true values are 1.8 times as likely; this many runs can show 21 times at most. No \
             promise covers an attacker who replays the algorithm."
        );
        assert_eq!(
            found.prevention,
            "a transparent release, whose groups are equally likely in all worlds that it allows."
        );
        let both = vec![("disease".to_owned(), 2), ("cost".to_owned(), 1)];
        let found = Replay::of(&[(20, 0), (10, 5), (5, 5)], both, 20, (300, true)).finding("nearby", false);
        assert!(
            found
                .sentence
                .contains("two members of a group exchanged their `disease` (2 trials) or `cost` (1 trial), and"),
            "{found:?}"
        );
        let found = Replay::of(&[(1, 0)], disease(1), 20, (500, false)).finding("nearby", false);
        assert!(found.sentence.contains("500 neighbouring people were published 20 times"), "{found:?}");
        assert!(found.sentence.contains("too rare to tell") && found.prevention.is_empty(), "{found:?}");
        let not_run = Replay::not_run("Not run: the microdata are needed.", false);
        assert!(!not_run.was_run && not_run.sentence.ends_with(NOT_PROMISED));
    }
}
