//! The measures by which releases are compared: each is defined once, for all tables, charts and advice.

use chrysalis::Numbers;
use chrysalis::words::number;

/// One measure; for all of them, less is better.
pub(super) struct Measure {
    /// Its name in JSON and CSV.
    pub(super) key: &'static str,
    /// Its name in tables.
    pub(super) title: &'static str,
    /// Its name in a terminal.
    pub(super) short: &'static str,
    /// What it means, in two lines.
    pub(super) meaning: &'static str,
    value: fn(&Numbers) -> Option<f64>,
    pub(super) shown: fn(f64) -> String,
}

impl Measure {
    /// The value, if the release has one.
    pub(super) fn of(&self, numbers: &Numbers) -> Option<f64> {
        (self.value)(numbers)
    }
}

pub(super) const DISCLOSED: Measure = Measure {
    key: "disclosed_rows",
    title: "rows disclosed",
    short: "disclosed",
    meaning: "Rows whose group leaves a single sensitive value that is not ordinary, or only numbers that lie close \
              together: an attacker who finds the group knows it, whatever is promised. A release that discloses rows \
              is never recommended.",
    value: |numbers| numbers.disclosed_rows.map(|rows| rows as f64),
    shown: |value| chrysalis::words::count(value as u64),
};

pub(super) const LINKING: Measure = Measure {
    key: "linking",
    title: "worst linking confidence",
    short: "linking",
    meaning: "An attacker knows everybody's quasi values, finds a person's group and bets on its most frequent sensitive \
              value: the chance of being right, in the worst group. Less is safer; l-diversity with l=4 keeps it at 25 % or \
              below.",
    value: |numbers| numbers.linking,
    shown: percent,
};

pub(super) const ROW_LINKING: Measure = Measure {
    key: "row_linking",
    title: "row linking",
    short: "row",
    meaning: "The chance that one given row is the person's, for an attacker who knows a person's quasi values and \
              that the person is there: one in the rows of the smallest group behind ranges and labels, 100 % where \
              quasi values are published as they are. It says nothing about whether the person is in the data at all, \
              which no form hides.",
    value: |numbers| numbers.row_linking,
    shown: percent,
};

pub(super) const SIMILARITY: Measure = Measure {
    key: "similarity",
    title: "open to similarity",
    short: "similarity",
    meaning: "The share of rows whose group lies in one category of sensitive values: the exact value stays hidden, \
              but how bad it is does not. Measured where the sensitive attribute has categories.",
    value: |numbers| numbers.similar,
    shown: percent,
};

pub(super) const LEARNED: Measure = Measure {
    key: "learned",
    title: "guessed by learning",
    short: "learned",
    meaning: "The share of people whose sensitive value is guessed right by an attacker who learns from the whole release what \
              people with a value are like, and then bets inside each group; scored against the microdata. No promise covers it.",
    value: |numbers| numbers.learned,
    shown: percent,
};

pub(super) const LIFT: Measure = Measure {
    key: "learned_lift",
    title: "lift of learning",
    short: "lift",
    meaning: "How many times as often the learned attack is right as a bet on the most frequent value of the group. 1: learning \
              across groups gains nothing.",
    value: |numbers| numbers.lift,
    shown: |value| format!("{value:.2}"),
};

pub(super) const NCP: Measure = Measure {
    key: "ncp",
    title: "loss (NCP)",
    short: "NCP",
    meaning: "How wide published ranges and labels are, as a share of the attribute's whole range, on average over cells; \
              permuted values count as the range or set of their group. 0: quasi values as they are; 1: nothing is left of them.",
    value: |numbers| Some(numbers.ncp),
    shown: number,
};

pub(super) const KL: Measure = Measure {
    key: "kl",
    title: "KL-divergence",
    short: "KL",
    meaning: "How far the joint distribution of quasi and sensitive values that an analyst would rebuild from the release is \
              from that of the microdata, in nats. 0: the same; it weighs what happens to rare combinations.",
    value: |numbers| numbers.kl,
    shown: |value| if value.is_finite() { number(value) } else { "infinite".to_owned() },
};

pub(super) const ERROR: Measure = Measure {
    key: "median_error",
    title: "median query error",
    short: "error",
    meaning: "Random questions are asked of the release; the relative error |truth − estimate| / truth that half of the \
              answers stay below, with learned estimates. Every release gets the same questions.",
    value: |numbers| numbers.questions.first()?.error.as_ref().map(|error| error.median()),
    shown: percent,
};

pub(super) const EVEN_ERROR: Measure = Measure {
    key: "median_error_even",
    title: "median query error, even",
    short: "even error",
    meaning: "The same for the papers' estimates, which rewritten SQL computes: every group is spread \
              evenly over its ranges and labels.",
    value: |numbers| numbers.questions.first()?.even?.error.as_ref().map(|error| error.median()),
    shown: percent,
};

pub(super) const WIDTH: Measure = Measure {
    key: "median_width",
    title: "median width of bounds",
    short: "width",
    meaning: "Every answer comes with bounds between which the truth lies for certain; their distance relative to the truth, \
              for the median question. 0: the answer is exact, 200 %: the bounds are twice as far apart as the truth is large.",
    value: |numbers| numbers.questions.first()?.width.as_ref().map(|width| width.median()),
    shown: percent,
};

pub(super) const BEYOND: Measure = Measure {
    key: "beyond_errors",
    title: "answers beyond two standard errors",
    short: "beyond",
    meaning: "Of the random questions whose bounds leave something open: the share whose true answer is farther from the \
              estimate than two standard errors. 5 % is what one expects of honest standard errors.",
    value: |numbers| numbers.questions.first()?.covered_share().map(|covered| 1.0 - covered),
    shown: percent,
};

pub(super) const DRAWN: Measure = Measure {
    key: "drawn_distance",
    title: "distance of drawn rows",
    short: "rows",
    meaning: "One table of rows is drawn from what the release allows. The share of rows that would have to change for three \
              columns to be distributed as in the microdata, on average over all sets of three columns.",
    value: |numbers| numbers.drawn.as_ref()?.marginals.last().map(|it| it.mean),
    shown: percent,
};

pub(super) const UNLEARNED: Measure = Measure {
    key: "accuracy_lost",
    title: "accuracy lost by learners",
    short: "unlearned",
    meaning: "Three learners predict the sensitive value of microdata they were not shown, once after training on other microdata and \
              once after training on drawn rows: by how much the best accuracy falls.",
    value: |numbers| {
        let scores = &numbers.drawn.as_ref()?.learning.as_ref()?.scores;
        let best = |of: fn(&chrysalis_evaluate::rows::LearnerScore) -> f64| scores.iter().map(of).fold(0.0, f64::max);
        Some((best(|score| score.microdata) - best(|score| score.drawn)).max(0.0))
    },
    shown: percent,
};

pub(super) const SECONDS: Measure = Measure {
    key: "seconds",
    title: "seconds",
    short: "seconds",
    meaning: "Time to form the groups and to fill the tables on the machine that made this report, reading and writing not \
              counted.",
    value: |numbers| Some(numbers.seconds),
    shown: |value| format!("{value:.2}"),
};

/// All measures, risks first.
pub(super) const ALL: [&Measure; 15] = [
    &DISCLOSED,
    &LINKING,
    &ROW_LINKING,
    &SIMILARITY,
    &LEARNED,
    &LIFT,
    &NCP,
    &KL,
    &ERROR,
    &EVEN_ERROR,
    &WIDTH,
    &BEYOND,
    &DRAWN,
    &UNLEARNED,
    &SECONDS,
];

/// Whether a measure is a share, and so written as a percentage.
pub(super) fn is_share(measure: &Measure) -> bool {
    let shares =
        [&LINKING, &ROW_LINKING, &SIMILARITY, &LEARNED, &ERROR, &EVEN_ERROR, &WIDTH, &BEYOND, &DRAWN, &UNLEARNED];
    shares.iter().any(|share| share.key == measure.key)
}

/// A share as people read it.
pub(super) fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    match percent.abs() {
        0.0 => "0 %".to_owned(),
        size if size < 0.01 => format!("{percent:.0e} %"),
        size if size < 1.0 => format!("{percent:.2} %"),
        size if size < 1000.0 => format!("{percent:.1} %"),
        _ => format!("{percent:.0} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_percentages_with_few_digits() {
        let cases = [(0.0, "0 %"), (1.0, "100.0 %"), (0.25, "25.0 %"), (0.001_23, "0.12 %"), (2e-6, "2e-4 %")];
        for (share, text) in cases {
            assert_eq!(percent(share), text);
        }
        assert_eq!(percent(45.6), "4560 %");
    }
}
