//! Why groups are not replayed, by who formed them.

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
    /// Sensitive values, and partly chance.
    AtRandom,
    /// Sensitive values in their order, and nothing else.
    Sorted,
    /// Something else, or nobody knows.
    Otherwise,
}

impl Forms {
    fn of(partitioner: &str) -> Forms {
        match partitioner {
            "anatomize" | "nearby" | "similar" => Forms::AtRandom,
            "min-sum" | "min-max" | "min-max-exact" | "max-groups" => Forms::Sorted,
            _ => Forms::Otherwise,
        }
    }
}

/// Why groups by some partitioner are not replayed.
pub(crate) fn against_replay_by(partitioner: &str) -> String {
    let reason = match Forms::of(partitioner) {
        Forms::AtRandom => {
            "Does not apply: groups are formed from the sensitive values on purpose and partly at random, so no cut that was not \
             made tells anything."
        }
        Forms::Sorted => {
            "Does not apply: groups are formed from the sorted sensitive values without a look at quasi values, so where they end \
             tells nothing of who in a group has which value."
        }
        Forms::Otherwise if partitioner == MONDRIAN => {
            "Not replayed: groups were cut by mondrian, whose cuts are replayed in generalized releases only; what was not cut \
             may betray values here as well."
        }
        Forms::Otherwise => {
            let name: String = partitioner.chars().take(40).collect();
            return format!(
                "Not replayed: only mondrian's cuts follow from the quasi values and the promise alone, this release is by \
                 `{name}`."
            );
        }
    };
    reason.to_owned()
}

/// The same for batches. The manifest does not tell whether these are what the partitioner formed.
pub(crate) fn against_replay_of_batches(partitioner: &str) -> String {
    match Forms::of(partitioner) {
        Forms::AtRandom | Forms::Sorted => format!(
            "Not replayed: batches by `{partitioner}` leave nothing to conclude from, but where a simple generalization serves \
             better its groups take their place, and those are replayed in generalized releases only."
        ),
        Forms::Otherwise => against_replay_by(partitioner),
    }
}
