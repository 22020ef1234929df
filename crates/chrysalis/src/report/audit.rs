use std::ops::Deref;

use chrysalis_audit::{
    Attacks, AuditReport, Background, Bystander, ColumnReport, Extremes, Finding, Insider, InsiderPair, Intersection,
    IntersectionLeft, IntersectionOver, Joining, Learned, LearnedOver, Linking, Minimality, Pooling,
    PopulationPresence, Presence, Reading, Replay, Republishing, RowLinking, RowLinkingOver, SeriesLeft, Similarity,
    SimilarityOf, Subtraction, Together,
};
use chrysalis_release::{Form, Persons};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

/// What an audit found, and about which release.
#[derive(Clone, Debug)]
pub struct AuditOutcome {
    /// Everything that was measured, checked and attacked.
    pub report: AuditReport,
    /// How groups are shown.
    pub method: Form,
    /// The partitioner that formed them.
    pub partitioner: String,
    /// Whether a fixed seed was used; if so, anyone who knows it can undo the randomness.
    pub reproducible: bool,
    /// The risks that the owner accepted, by name.
    pub accepted: Vec<String>,
    /// The columns that are kept as they are: nothing is promised about them.
    pub kept: Vec<String>,
    /// The columns that were prepared before they were published, with the steps.
    pub prepared: Vec<(String, Vec<String>)>,
    /// If promises count persons, who may have several rows each: how many there are.
    pub persons: Option<Persons>,
}

impl AuditOutcome {
    /// What is not promised, in a sentence; `None` if every column is quasi or sensitive.
    pub fn not_promised(&self) -> Option<String> {
        let names: Vec<String> = self.kept.iter().map(|name| format!("`{name}`")).collect();
        let (kept, them) = if names.len() == 1 { ("is kept as it is", "it") } else { ("are kept as they are", "them") };
        (!names.is_empty()).then(|| format!("{} {kept}: nothing is promised about {them}.", names.join(", ")))
    }
}

impl AuditOutcome {
    /// What was done to columns before they were published, in a sentence.
    pub fn told_prepared(&self) -> Option<String> {
        let each = self.prepared.iter().map(|(name, steps)| format!("`{name}` ({})", steps.join(", ")));
        let each: Vec<String> = each.collect();
        (!each.is_empty()).then(|| format!("Prepared before they were published: {}.", each.join("; ")))
    }
}

impl AuditOutcome {
    /// What was found about the promises, in words for a headline: never that all hold if nobody can tell.
    pub fn verdict(&self) -> &'static str {
        match (self.promises_hold(), self.untold().count(), self.principles.len()) {
            (false, ..) => "The audit FAILED",
            (true, _, 0) => "Nothing is promised",
            (true, 0, _) => "Every promise holds",
            (true, untold, all) if untold < all => "Every promise that can be told holds",
            (true, ..) => "Nobody can tell whether the promises hold",
        }
    }

    /// The promises of which nobody can tell, in a sentence each, with the reason.
    pub fn told_untold(&self) -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        for result in self.untold() {
            let why = result.untold.as_deref().unwrap_or_default();
            let sentence = format!("Nobody can tell whether {} holds: {why}.", result.principle);
            if !all.contains(&sentence) {
                all.push(sentence);
            }
        }
        all
    }
}

impl Deref for AuditOutcome {
    type Target = AuditReport;

    fn deref(&self) -> &AuditReport {
        &self.report
    }
}

impl Serialize for AuditOutcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        json(self).serialize(serializer)
    }
}

fn json(outcome: &AuditOutcome) -> Value {
    let report = &outcome.report;
    // JSON has no infinity: a level that no parameter would satisfy is null.
    let level = |worst: f64| if worst.is_finite() { json!(worst) } else { Value::Null };
    let principles: Vec<_> = report
        .principles
        .iter()
        .map(|result| {
            let mut told = json!({
                "principle": result.principle,
                "holds": if result.untold.is_some() { Value::Null } else { json!(result.holds) },
                "worst": level(result.worst),
                "worst_exact": result.worst_text,
                "group": result.worst_group,
                "measured": result.measured,
            });
            if let Some(why) = &result.untold {
                told["untold"] = json!(why);
            }
            told
        })
        .collect();
    let checks: Vec<_> = report
        .checks
        .iter()
        .map(|check| json!({"name": check.name, "ok": check.ok, "detail": check.detail, "findings": check.findings}))
        .collect();
    let utility = report.utility.as_ref().map(|utility| json!({"rce": utility.rce, "rce_bound": utility.rce_bound}));
    let mut told = json!({
        "ok": report.ok(),
        "reading": match report.reading {
            Reading::Plain => "plain",
            Reading::Strict => "strict",
        },
        "rows": report.rows,
        "groups": report.groups,
        "certain_rows": report.disclosure.as_ref().map(|found| found.certain_rows),
        "disclosed_rows": report.disclosure.as_ref().map(|found| found.disclosed_rows),
        "accepted": outcome.accepted,
        "kept": outcome.kept,
        "disclosure_rule": report.disclosure.as_ref().map(|found| &found.rule),
        "principles": principles,
        "checks": checks,
        "attacks": attacks(&report.attacks),
        "utility": utility,
    });
    if let Some(members) = told.as_object_mut().filter(|_| !report.columns.is_empty()) {
        members.insert("columns".into(), report.columns.iter().map(column).collect());
    }
    if let Some(persons) = outcome.persons {
        told["persons"] = json!(persons);
    }
    if !outcome.prepared.is_empty() {
        told["prepared"] = outcome.prepared.iter().map(|(name, steps)| (name.clone(), json!(steps))).collect();
    }
    told
}

/// What was found about one of several sensitive columns.
fn column(found: &ColumnReport) -> Value {
    let disclosure = found.disclosure.as_ref();
    json!({
        "column": found.column,
        "certain_rows": disclosure.map(|found| found.certain_rows),
        "disclosed_rows": disclosure.map(|found| found.disclosed_rows),
        "disclosure_rule": disclosure.map(|found| &found.rule),
        "attacks": attacks(&found.attacks),
        "utility": found.utility.as_ref().map(|utility| json!({"rce": utility.rce, "rce_bound": utility.rce_bound})),
    })
}

/// Every attack with its finding; an attack that was not run is null, and `not_run` says why.
fn attacks(attacks: &Attacks) -> Value {
    let worded = |name: &'static str, value: Option<Value>| {
        let finding = attacks.findings.iter().find(|finding| finding.attack == name);
        value.map(|value| with_words(value, finding))
    };
    let mut members = json!({
        "linking": worded("linking", attacks.linking.as_ref().map(linking)),
        "row_linking": worded("row_linking", attacks.row_linking.as_ref().map(row_linking)),
        "presence": worded("presence", attacks.presence.as_ref().zip(attacks.row_linking.as_ref()).map(presence)),
        "similarity": worded("similarity", attacks.similarity.as_ref().map(similarity)),
        "background": worded("background", attacks.background.as_ref().map(background)),
        "learned": worded("learned", attacks.learned.as_ref().map(learned)),
        "minimality": worded("minimality", attacks.minimality.as_ref().map(minimality)),
        "replay": worded("replay", attacks.replay.as_ref().map(replay)),
        "republishing": worded("republishing", attacks.republishing.as_ref().map(republishing)),
        "subtraction": worded("subtraction", attacks.subtraction.map(|found| subtraction(found, &attacks.intersection))),
        "extremes": worded("extremes", attacks.extremes.as_ref().map(extremes)),
        "bystander": worded("bystander", attacks.bystander.as_ref().map(bystander)),
        "insider": worded("insider", attacks.insider.as_ref().map(insider)),
    });
    if let Some(members) = members.as_object_mut() {
        if let Some(found) = worded("joining", attacks.joining.as_ref().map(joining)) {
            members.insert("joining".into(), found);
        }
        if !attacks.together.is_empty() {
            let found = json!({"pairs": attacks.together.iter().map(together).collect::<Vec<_>>()});
            members.insert("together".into(), worded("together", Some(found)).unwrap_or_default());
        }
        if !attacks.intersection.is_empty() {
            let each = |found: &Intersection| with_words(intersection(found), Some(&found.finding()));
            members.insert("intersection".into(), attacks.intersection.iter().map(each).collect());
        }
        if let Some(found) = worded("series", attacks.series.as_ref().map(series)) {
            members.insert("series".into(), found);
        }
        if !attacks.pooling.is_empty() {
            let each = |found: &Pooling| with_words(pooling(found), Some(&found.finding()));
            members.insert("pooling".into(), attacks.pooling.iter().map(each).collect());
        }
        let not_run = attacks.findings.iter().filter(|finding| !finding.was_run);
        let reasons = not_run.map(|finding| (finding.attack.to_owned(), json!(finding.sentence)));
        members.insert("not_run".into(), Value::Object(reasons.collect()));
    }
    members
}

fn with_words(mut value: Value, finding: Option<&Finding>) -> Value {
    if let (Some(members), Some(finding)) = (value.as_object_mut(), finding) {
        members.insert("finding".into(), json!(finding.sentence));
        members.insert("prevention".into(), json!(finding.prevention));
        let groups = finding.worst_groups.iter().map(|group| {
            json!({"group": group.id, "rows": group.rows, "level": group.level, "level_exact": group.level_text})
        });
        members.insert("worst_groups".into(), groups.collect());
    }
    value
}

fn bystander(found: &Bystander) -> Value {
    json!({
        "columns": found.columns,
        "beside_sensitive_values": found.is_beside,
        "alone_rows": found.alone_rows,
        "certain_rows": found.certain_rows,
        "disclosed_rows": found.disclosed_rows,
    })
}

/// The pair of columns that tells most, and all pairs. `scored` is null without the microdata.
fn insider(found: &Insider) -> Value {
    let pair = |pair: &InsiderPair| {
        let scored = pair.scored.as_ref().map(|scored| {
            json!({
                "people": scored.people,
                "right": scored.right,
                "right_from_groups": scored.right_from_groups,
                "right_from_truth": scored.right_from_truth,
                "lift": scored.lift,
            })
        });
        json!({
            "known": pair.known,
            "guessed": pair.guessed,
            "tried": pair.tried,
            "mean_confidence": pair.mean_confidence,
            "baseline": pair.baseline,
            "lift": pair.lift,
            "confidence": pair.confidence,
            "group": pair.group,
            "scored": scored,
        })
    };
    let mut told = found.worst_pair().map_or_else(|| json!({}), pair);
    told["pairs"] = found.pairs.iter().map(pair).collect();
    told["left_out"] = json!(found.left_out);
    told
}

fn linking(found: &Linking) -> Value {
    json!({
        "confidence": found.confidence,
        "confidence_exact": found.confidence_text,
        "group": found.group,
        "rows": found.rows,
    })
}

fn row_linking(found: &RowLinking) -> Value {
    let over = match found.over {
        RowLinkingOver::ExactValues => "exact values",
        RowLinkingOver::Conceivable => "conceivable rows",
        RowLinkingOver::People => "people of the microdata",
        RowLinkingOver::Covered => "rows that cover a person",
    };
    json!({"delta": found.delta, "delta_exact": found.delta_text, "group": found.group, "over": over})
}

/// `delta` is what it was in version 1: 1 if somebody is certain to be present, otherwise the probability of a row,
/// which says nothing about presence.
fn presence((found, linked): (&Presence, &RowLinking)) -> Value {
    let mut value = row_linking(linked);
    if let Some(members) = value.as_object_mut() {
        if found.certain_rows > 0 && linked.over == RowLinkingOver::Covered {
            members.extend([
                ("delta".to_owned(), json!(1.0)),
                ("delta_exact".to_owned(), json!("1")),
                ("group".to_owned(), json!(found.certain_group)),
            ]);
        }
        members.insert("protected".into(), json!(false));
        members.insert("certain_rows".into(), json!(found.certain_rows));
        members.insert("covered_at_most".into(), json!(found.covered));
        if let Some(population) = &found.population {
            members.insert("population".into(), population_presence(population));
        }
    }
    value
}

/// Presence, measured against a table of the people who could be in the data.
fn population_presence(found: &PopulationPresence) -> Value {
    json!({
        "people": found.people,
        "outside": found.outside,
        "chance": found.share,
        "chance_exact": found.share_text,
        "group": found.group,
        "rows": found.rows,
        "people_under_labels": found.under,
        "groups_with_too_few_people": found.too_small,
    })
}

fn similarity(found: &Similarity) -> Value {
    let of = |of: &SimilarityOf| json!({"values": of.values, "rows": of.rows, "groups": of.groups});
    let by_category: Vec<_> = found.by_category.iter().map(of).collect();
    json!({"rows": found.rows, "groups": found.groups, "by_category": by_category})
}

fn background(found: &Background) -> Value {
    let steps = found.steps.iter().map(|step| {
        json!({
            "ruled_out": step.values,
            "confidence": step.confidence,
            "confidence_exact": step.confidence_text,
            "group": step.group,
            "rows": step.rows,
        })
    });
    json!({"l": found.l, "steps": steps.collect::<Vec<_>>()})
}

fn learned(found: &Learned) -> Value {
    let over = match found.over {
        LearnedOver::Rows => "published rows",
        LearnedOver::People => "people of the microdata",
    };
    let scored = found.scored.as_ref().map(|scored| {
        json!({
            "people": scored.people,
            "right": scored.right,
            "right_from_groups": scored.right_from_groups,
            "right_from_truth": scored.right_from_truth,
            "lift": scored.lift,
            "unique_people": scored.unique_people,
            "unique_right": scored.unique_right,
            "unique_right_from_groups": scored.unique_right_from_groups,
        })
    });
    json!({
        "over": over,
        "tried": found.tried,
        "mean_confidence": found.mean_confidence,
        "baseline": found.baseline,
        "lift": found.lift,
        "expected_right": found.expected_right,
        "confidence": found.confidence,
        "group": found.group,
        "promised": found.promised,
        "above_promise": found.above_promise,
        "above_group": found.above_group,
        "left_out": found.left_out,
        "scored": scored,
    })
}

fn minimality(found: &Minimality) -> Value {
    json!({
        "groups": found.groups,
        "skipped": found.skipped,
        "people": found.people,
        "confidence": found.confidence,
        "confidence_exact": found.confidence_text,
        "group": found.group,
        "narrowed": found.narrowed,
        "above_promise": found.above_promise,
        "right": found.right,
    })
}

/// `median_ratio` is null if groups come out too rarely to tell. `exchanged` says in how many trials values of which
/// column were exchanged.
fn replay(found: &Replay) -> Value {
    let exchanged: serde_json::Map<String, Value> =
        found.columns.iter().map(|(column, trials)| (column.clone(), json!(trials))).collect();
    json!({
        "exchanges": found.exchanges,
        "exchanged": exchanged,
        "runs": found.runs,
        "rows": found.rows,
        "whole_table": found.is_whole,
        "with_true_values": found.with_true,
        "with_exchanged_values": found.with_exchanged,
        "vanished": found.vanished,
        "told": found.told,
        "median_ratio": found.median_ratio,
    })
}

fn republishing(found: &Republishing) -> Value {
    json!({
        "releases": found.releases,
        "people": found.people,
        "expected_determined": found.expected_determined,
    })
}

/// With the releases that were subtracted, and by how many values they differ.
fn subtraction(found: Subtraction, others: &[Intersection]) -> Value {
    let differ = others.iter().filter_map(|other| Some((&other.with, other.counts_differ_by?)));
    let with: Vec<_> = differ.map(|(with, by)| json!({"with": with, "counts_differ_by": by})).collect();
    json!({"confidence": found.confidence, "with": with})
}

/// `placed_people` is null without ranges, and if it cannot be determined; `has_ranges` distinguishes the two.
fn extremes(found: &Extremes) -> Value {
    json!({
        "has_ranges": found.has_ranges,
        "placed_people": found.placed_people,
        "largest_once": found.largest_once,
        "smallest_once": found.smallest_once,
        "group_of_largest": found.group_of_largest,
    })
}

/// Shares are null if they were not counted, and `shares_not_counted` says why. `share_promised` is null if no release
/// promises one, and `bets_right` without the microdata.
fn intersection(found: &Intersection) -> Value {
    let shares = found.shares.as_ref().ok();
    let promised = shares.and_then(|shares| shares.promised);
    let over = match found.over {
        IntersectionOver::People => "people of the microdata",
        IntersectionOver::Conceivable => "conceivable people",
    };
    let left = match found.left {
        IntersectionLeft::Values => "sensitive values",
        IntersectionLeft::People => "people",
    };
    json!({
        "with": found.with,
        "left": left,
        "promised": found.promised,
        "fewest": found.fewest,
        "narrowed": found.narrowed,
        "people": found.people,
        "contradicted": found.contradicted,
        "counts_differ_by": found.counts_differ_by,
        "over": over,
        "share_promised": promised.map(|share| *share.numer() as f64 / *share.denom() as f64),
        "largest_share": shares.and_then(|shares| shares.largest),
        "people_above": shares.map(|shares| shares.above),
        "bets_right": shares.and_then(|shares| shares.right),
        "exact": shares.map(|shares| shares.estimated == 0),
        "people_counted": shares.map(|shares| shares.people),
        "people_estimated": shares.map(|shares| shares.estimated),
        "people_impossible": shares.map(|shares| shares.impossible),
        "shares_not_counted": found.shares.as_ref().err().map(|reason| reason.sentence()),
    })
}

/// Shares are null if they were not counted, and what a replay tells is null if it cannot be said.
fn series(found: &SeriesLeft) -> Value {
    let shares = found.shares.as_ref().ok();
    json!({
        "people": found.people,
        "promised": found.promised,
        "fewest": found.fewest,
        "narrowed": found.narrowed,
        "largest_share": shares.and_then(|shares| shares.largest),
        "people_above": shares.map(|shares| shares.above),
        "people_estimated": shares.map(|shares| shares.estimated),
        "people_impossible": shares.map(|shares| shares.impossible),
        "shares_not_counted": found.shares.as_ref().err().map(|reason| reason.sentence()),
        "replay_people": found.replay.map(|replay| replay.people),
        "replay_share_at_least": found.replay.and_then(|replay| replay.fewest).map(|fewest| 1.0 / fewest as f64),
    })
}

fn joining(found: &Joining) -> Value {
    json!({
        "tables": found.tables,
        "people": found.people,
        "promised": found.promised,
        "fewest": found.fewest,
        "narrowed": found.narrowed,
        "alone": found.alone,
    })
}

/// Shares are of all published rows.
fn together(found: &Together) -> Value {
    json!({
        "known": found.known,
        "learned": found.learned,
        "certain_rows": found.certain_rows,
        "certain_share": found.share(found.certain_rows),
        "certain_share_from_group": found.share(found.certain_from_group),
        "expected_right": found.share(found.right),
        "expected_right_from_group": found.share(found.right_from_group),
    })
}

fn pooling(found: &Pooling) -> Value {
    json!({
        "attributes": found.attributes,
        "classes": found.classes,
        "smallest": found.smallest,
        "promised": found.promised,
        "rows_below": found.rows_below,
        "confidence": found.confidence,
    })
}

#[cfg(test)]
mod tests {
    use chrysalis_audit::PrincipleResult;

    use super::*;

    fn outcome(told: &[(&str, Option<bool>)]) -> AuditOutcome {
        let principle = |(principle, holds): &(&str, Option<bool>)| PrincipleResult {
            principle: (*principle).to_owned(),
            holds: *holds == Some(true),
            untold: holds.is_none().then(|| "it counts what each person has, which the tables do not show".to_owned()),
            worst: f64::INFINITY,
            worst_text: "cannot tell".to_owned(),
            worst_group: None,
            measured: String::new(),
        };
        let report = AuditReport {
            reading: Reading::Strict,
            principles: told.iter().map(principle).collect(),
            checks: Vec::new(),
            attacks: Attacks::default(),
            disclosure: None,
            utility: None,
            rows: 10,
            groups: 2,
            columns: Vec::new(),
        };
        AuditOutcome {
            report,
            method: Form::Generalize,
            partitioner: "compact".to_owned(),
            reproducible: false,
            accepted: Vec::new(),
            kept: Vec::new(),
            prepared: Vec::new(),
            persons: Some(Persons { count: 7, rows_known: false }),
        }
    }

    #[test]
    fn no_headline_claims_what_nobody_can_tell() {
        let verdict = |told: &[(&str, Option<bool>)]| outcome(told).verdict();
        assert_eq!(verdict(&[]), "Nothing is promised");
        assert_eq!(verdict(&[("k=3", Some(true))]), "Every promise holds");
        assert_eq!(verdict(&[("k=3", Some(true)), ("t=0.3", None)]), "Every promise that can be told holds");
        assert_eq!(verdict(&[("t=0.3", None)]), "Nobody can tell whether the promises hold");
        assert_eq!(verdict(&[("k=3", Some(false)), ("t=0.3", None)]), "The audit FAILED");
        let found = outcome(&[("k=3", Some(true)), ("t=0.3", None)]);
        assert!(found.ok());
        let sentence =
            "Nobody can tell whether t=0.3 holds: it counts what each person has, which the tables do not show.";
        assert_eq!(found.told_untold(), [sentence]);
        let json = serde_json::to_value(&found).unwrap();
        assert_eq!((&json["principles"][0]["holds"], &json["principles"][1]["holds"]), (&json!(true), &Value::Null));
        assert_eq!(json["principles"][1]["untold"], "it counts what each person has, which the tables do not show");
        assert_eq!(json["persons"], json!({"count": 7, "rows_known": false}));
    }
}
