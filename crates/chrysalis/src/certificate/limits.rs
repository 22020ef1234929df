//! What a release does not protect, what its promises assume, and what was not looked at.

use chrysalis_criteria::{PopulationSpec, PrincipleSpec};
use chrysalis_release::{Manifest, Promise, RoleName};

use crate::Evidence;
use crate::report::AuditOutcome;
use crate::words::counted;

/// What nobody promises, as far as the manifest and the audit tell.
pub(super) fn not_protected(manifest: &Manifest, outcome: &AuditOutcome, with: &Evidence<'_>) -> Vec<String> {
    let mut told: Vec<String> = Vec::new();
    let presence = outcome.attacks.findings.iter().find(|finding| finding.attack == "presence" && finding.was_run);
    // k-map counts people under labels and lets all of them be in the data: it does not hide who is.
    let hides_presence = |promise: &Promise| {
        matches!(promise.principle(), PrincipleSpec::OfPopulation(PopulationSpec::DeltaPresence { .. }))
    };
    let is_promised = manifest.promises.iter().any(hides_presence);
    told.extend(presence.filter(|_| !is_promised).map(|finding| {
        let sentence = finding.sentence.strip_prefix("Not protected: ").unwrap_or(&finding.sentence);
        format!("Whether a person is in the data: {sentence}")
    }));
    for attribute in manifest.with_role(RoleName::Sensitive) {
        let is_about = |about: Option<&str>| about.is_none_or(|about| about == attribute.name);
        let concerns = manifest.promises.iter().filter(|promise| promise.principle().needs_sensitive());
        if !concerns.into_iter().any(|promise| is_about(promise.about())) {
            told.push(format!("`{}`: no promise is about its values.", attribute.name));
        }
    }
    told.extend(outcome.not_promised());
    for set in &manifest.together {
        let names: Vec<String> = set.iter().map(|name| format!("`{name}`")).collect();
        told.push(format!("Combinations of {}, which are shown together: no promise is about them.", names.join(", ")));
    }
    if with.others.is_empty() {
        let sentence =
            "What other releases about the same people give away together with this one: it was not looked at.";
        told.push(sentence.to_owned());
    }
    told
}

/// What must be true for the promises to mean what they say.
pub(super) fn assumptions(manifest: &Manifest, outcome: &AuditOutcome) -> Vec<String> {
    let mut told = Vec::new();
    let sets = manifest.quasi_identifiers.len();
    told.push(match sets {
        0 | 1 => "Attackers know no more of a person than the columns named above.".to_owned(),
        _ => format!("Attackers know no more of a person than one of {} of columns.", counted(sets as u64, "set")),
    });
    told.push(match manifest.persons {
        None => "Every row is another person.".to_owned(),
        Some(persons) if persons.rows_known => "Attackers may know how many rows each person has.".to_owned(),
        Some(_) => "Attackers do not know how many rows each person has.".to_owned(),
    });
    told.push("Every column has the role it should have: the tables cannot show that.".to_owned());
    if manifest.promises.iter().any(|promise| promise.principle().needs_population()) {
        told.push("The table of the population holds everybody who could be in the data.".to_owned());
    }
    let mut measured: Vec<String> = Vec::new();
    for result in outcome.principles.iter().filter(|result| !result.measured.is_empty()) {
        let sentence = format!("{} is measured so: {}.", result.principle, result.measured.trim_end_matches('.'));
        if !measured.contains(&sentence) {
            measured.push(sentence);
        }
    }
    told.extend(measured);
    if let Some(found) = &outcome.disclosure {
        told.push(format!("What counts as disclosed: {}.", found.rule.trim_end_matches('.')));
        told.extend((!found.ranges.is_empty()).then(|| found.ranges.clone()));
    }
    told
}

/// With what the release was compared, and what could not be looked at without it.
pub(super) fn evidence(with: &Evidence<'_>) -> Vec<String> {
    let mut told = vec![
        "The published tables and their manifest, by a program that shares no deciding code with the one that publishes."
            .to_owned(),
    ];
    told.push(match with.microdata {
        Some(_) => "The source table: that the release is faithful to it, and how often attackers are right. Whoever lacks it \
                    cannot repeat these figures."
            .to_owned(),
        None => "Not the source table: whether the release is faithful to it, and how often attackers are right, nobody can \
                 tell from this page."
            .to_owned(),
    });
    if with.population.is_some() {
        told.push("The table of the people who could be in the data.".to_owned());
    }
    if !with.others.is_empty() {
        told.push(format!("{} about the same people.", counted(with.others.len() as u64, "other release")));
    }
    if let Some(columns) = (!with.sensitive.is_empty()).then(|| with.sensitive.join(", ")) {
        told.push(format!("The columns that the auditor wants protected: {columns}."));
    }
    if with.asked.is_some() {
        told.push("The roles that the owner's specification gives to columns.".to_owned());
    }
    told
}
