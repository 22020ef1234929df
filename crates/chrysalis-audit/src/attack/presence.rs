//! Two questions that are easily taken for one: which row is a person's, and whether the person is there at all.

use chrysalis_release::Detail;

use super::finding::{Finding, WorstGroup, counted, percent};
use crate::form::names_of;
use crate::{Presence, RowLinking, RowLinkingOver};

/// Telling which row belongs to a person who is known to be in the data.
pub(crate) fn row_linking(found: Option<&RowLinking>, rows: u64, worst: Vec<WorstGroup>) -> Finding {
    let Some(found) = found else {
        return Finding::not_run("row_linking", "Not run: the release shows no group to find a person in.");
    };
    let how_likely = format!("{}{}", percent(found.delta), fraction(&found.delta_text));
    let at_random = |whose: &str| {
        let sentence = format!(
            "Where the values of a group are combined at random, any given row of it has all quasi values of {whose} \
             with a probability of at most {how_likely}. That some row of the group has them can be likelier, even \
             certain."
        );
        (sentence, "larger groups, or groups whose members differ more.".to_owned())
    };
    let (sentence, prevention) = match found.over {
        RowLinkingOver::ExactValues => (
            format!(
                "Quasi values are published as they are: an attacker who knows a person's knows which of {} is theirs \
                 if nobody else has the same.",
                counted(rows, "row", "rows")
            ),
            instead_of_exact_values(),
        ),
        RowLinkingOver::Conceivable => at_random("a person"),
        RowLinkingOver::People => at_random("a person of the microdata"),
        RowLinkingOver::Covered => (
            format!(
                "An attacker who knows all quasi values of a person finds rows that could be the person's: as far as \
                 the ranges and labels tell, no row is theirs with a probability above {how_likely}."
            ),
            "a larger k.".to_owned(),
        ),
    };
    Finding::new("row_linking", sentence, prevention).with_groups(worst)
}

/// Finding out whether somebody is in the data at all. No form hides that.
pub(crate) fn presence(found: Option<&Presence>, linked: Option<&RowLinking>, rows: u64) -> Finding {
    let Some((found, linked)) = found.zip(linked) else {
        return Finding::not_run("presence", "Not run: the release shows no group to find a person in.");
    };
    let certain = |many: &str, one: &str| match found.certain_rows {
        0 => String::new(),
        n => format!(" {}: anybody with these values is certain to be in the data.", counted(n, one, many)),
    };
    let more = match linked.over {
        RowLinkingOver::ExactValues => {
            let sentence = format!(
                "Not protected: quasi values are published as they are, so an attacker who knows a person's sees \
                 whether the person is among the {}.",
                counted(rows, "row", "rows")
            );
            return Finding::new("presence", sentence, PREVENTION);
        }
        RowLinkingOver::Covered => {
            certain("rows show one value per quasi attribute", "row shows one value per quasi attribute")
        }
        RowLinkingOver::Conceivable | RowLinkingOver::People => {
            let many = "rows are in groups in which at most one quasi column has different values";
            certain(many, &many.replacen("rows are", "row is", 1))
        }
    };
    let sentence = format!(
        "Not protected: an attacker can assume that everybody whom a group covers is in the data, and how often that \
         is right cannot be bounded without knowing who is not. The groups cover {} of the combinations of quasi \
         values that the manifest allows; the fewer, the surer.{more}",
        covered(found.covered)
    );
    Finding::new("presence", sentence, PREVENTION)
}

const PREVENTION: &str = "no way of showing people helps; only publishing a random sample of those who could be in \
                          the data does, and the smaller the better.";

fn covered(share: f64) -> String {
    match share {
        share if share >= 1.0 => "up to all".to_owned(),
        share if share < 1e-5 => "less than 0.001 %".to_owned(),
        share => format!("at most {}", percent(share)),
    }
}

/// The forms that show less, in words.
fn instead_of_exact_values() -> String {
    let with = |is_meant: fn(Detail) -> bool| {
        // Forms for several users are left out: they answer a different need.
        names_of(|form| !form.shape().has_users && is_meant(form.shape().detail)).join(", ")
    };
    format!(
        "a form that shows ranges or labels ({}, {} with k=10) or permutes every column ({}).",
        with(|detail| detail == Detail::GroupBoxes),
        with(|detail| detail == Detail::RowBoxes),
        with(|detail| detail == Detail::Permuted),
    )
}

fn fraction(text: &str) -> String {
    if text.contains('/') && text.len() < 24 { format!(" ({text})") } else { String::new() }
}
