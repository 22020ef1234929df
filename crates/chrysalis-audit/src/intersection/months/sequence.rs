use super::{KnownLives, Month, least_values};
use crate::Check;
use crate::columns::only_sensitive;
use crate::findings::Findings;

/// Whether releases, ordered by their numbers, are of one series: each names the one before it, and all promise the same of
/// the same column.
pub(super) fn check(months: &[Month<'_>], lives: Option<&KnownLives<'_>>) -> Check {
    let mut findings = Findings::new("sequence");
    let entry = |month: &Month<'_>| {
        let entry = month.release.manifest.series.as_ref();
        (entry.map_or(0, |entry| entry.number), entry.and_then(|entry| entry.previous.clone()))
    };
    let column = |month: &Month<'_>| {
        only_sensitive(&month.release.manifest).ok().flatten().map(|attribute| (attribute.name.clone(), attribute.kind))
    };
    for pair in months.windows(2) {
        let [one, other] = pair else { continue };
        let ((number, _), (next, previous)) = (entry(one), entry(other));
        let (name, other_name) = (one.name, other.name);
        if number == next {
            findings.add("same number", || format!("{name} and {other_name} both are release {number}"));
        }
        if next == number + 1 && one.sha256.is_some_and(|hash| previous.as_deref() != Some(hash)) {
            findings.add("another release before", || {
                format!("{other_name} is release {next}, but the one before it is not {name}")
            });
        }
        if column(one) != column(other) || least_values(one.release) != least_values(other.release) {
            findings.add("another promise", || {
                format!("{name} and {other_name} do not promise the same m of the same column")
            });
        }
    }
    if let Some(lives) = lives {
        for month in months {
            let (number, name) = (entry(month).0, month.name);
            let known = usize::try_from(number).ok().and_then(|number| lives.releases.get(number.checked_sub(1)?));
            if month.sha256.is_some_and(|hash| known != Some(&hash)) {
                findings.add("unknown to the ledger", || {
                    format!("{name} is release {number} of a series, but not the one that the ledger remembers")
                });
            }
        }
    }
    let numbers: Vec<String> = months.iter().map(|month| entry(month).0.to_string()).collect();
    let ledger = if lives.is_some() { ", as the ledger remembers them" } else { "" };
    let are = if numbers.len() == 1 { "release" } else { "releases" };
    findings.check(format!("{are} {} of one series{ledger}", numbers.join(", ")))
}
