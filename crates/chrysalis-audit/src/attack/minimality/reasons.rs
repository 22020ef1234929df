//! Why groups are not replayed, by the partitioner that formed them.

use chrysalis_release::{Manifest, Promise};

use super::rule::Rules;

/// The partitioner whose cuts are replayed.
const MONDRIAN: &str = "mondrian";

/// Why the boxes of groups are not replayed; `None` where they can be.
pub(crate) fn against_replay_of_cuts(manifest: &Manifest) -> Option<String> {
    match manifest.partitioner.as_str() {
        MONDRIAN => against_rules(&manifest.promises).map(str::to_owned),
        partitioner => Some(against_replay_by(partitioner)),
    }
}

fn against_rules(promises: &[Promise]) -> Option<&'static str> {
    match Rules::of(promises) {
        None => Some("Not run: a promise is decided by more than the counts of a group, and only counts are replayed."),
        Some(rules) if !rules.look_at_values() => {
            Some("Nothing to learn: the promises do not look at sensitive values, so neither did the cuts.")
        }
        Some(_) => None,
    }
}

/// What a partitioner looks at when it forms groups.
enum Forms {
    /// Sensitive values and random draws alone.
    BySensitive,
    /// Both, but nothing of it depends on who has which value.
    Transparently,
    /// Quasi and sensitive values together.
    ByBoth,
    /// Not known here.
    Somehow,
}

impl Forms {
    fn of(partitioner: &str) -> Forms {
        match partitioner {
            "anatomize" | "min-sum" | "min-max" | "min-max-exact" | "max-groups" => Forms::BySensitive,
            "transparent" => Forms::Transparently,
            "nearby" | "similar" | "compact" | "full-domain" | "top-down" | "mondrian" | "like" => Forms::ByBoth,
            _ => Forms::Somehow,
        }
    }
}

/// Why groups formed by this partitioner are not replayed.
pub(crate) fn against_replay_by(partitioner: &str) -> String {
    let name: String = partitioner.chars().take(40).collect();
    match Forms::of(partitioner) {
        // If two members of a group swapped identities, nothing that such a partitioner looks at would change, so the
        // group would come out just as often.
        Forms::BySensitive => format!(
            "Does not apply: `{name}` forms groups without looking at quasi values, so which groups came out says \
             nothing about who in a group has which value."
        ),
        Forms::Transparently => format!(
            "Does not apply: `{name}` cuts only where every way to hand the values out passes on both sides, so what was \
             not cut says nothing about who in a group has which value."
        ),
        Forms::ByBoth if partitioner == MONDRIAN => {
            "Not replayed: groups were cut by mondrian, whose cuts are replayed in generalized releases only; what \
             was not cut may reveal values here as well."
                .to_owned()
        }
        Forms::ByBoth => format!(
            "Not replayed: only mondrian's cuts are replayed group by group. `{name}` forms groups by looking at \
             quasi and sensitive values together, so which groups came out may reveal values."
        ),
        Forms::Somehow => format!(
            "Not replayed: only mondrian's cuts are replayed group by group, and this release is by `{name}`; whether \
             its groups reveal values is unknown."
        ),
    }
}

/// The same for batches. The manifest does not say whether batches are the groups that the partitioner formed.
pub(crate) fn against_replay_of_batches(partitioner: &str) -> String {
    if partitioner == MONDRIAN {
        return against_replay_by(partitioner);
    }
    let name: String = partitioner.chars().take(40).collect();
    format!(
        "Not replayed: depending on quasi and sensitive values together, batches by `{name}` may have exchanged rows, \
         or given way to the groups of a simple generalization; which came out may reveal values."
    )
}
