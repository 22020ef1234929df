use chrysalis_criteria::{PrincipleSpec, Requirement};
use chrysalis_table::{Knob, Remedy};

use crate::PublishError;

/// Refuses what cannot be promised beside m-invariance. That groups have k people can: groups of one signature are kept
/// together until they have, and how many people a group has does not change if values are renamed (`spec.md`).
pub(crate) fn check(require: &[Requirement], m: u64) -> Result<(), PublishError> {
    let other = require.iter().find_map(|required| Some((required, why_not(&required.principle)?)));
    let Some((other, why)) = other else { return Ok(()) };
    let remedy = Remedy::from("leave ").knob(Knob::Require, other.to_string()).words(" out");
    Err(PublishError::remedied(format!("`{other}` cannot be promised beside m={m}: {why}"), remedy))
}

fn why_not(spec: &PrincipleSpec) -> Option<&'static str> {
    match spec {
        PrincipleSpec::MInvariance { .. } | PrincipleSpec::KAnonymity { .. } => None,
        PrincipleSpec::DistinctL { .. }
        | PrincipleSpec::FrequencyL { .. }
        | PrincipleSpec::EntropyL { .. }
        | PrincipleSpec::RecursiveCl { .. } => Some(
            "it is about how many values a group has and how often, and in a series every group shows each of its values \
             equally often, whoever has them; a larger m is what makes them more",
        ),
        PrincipleSpec::AlphaK { .. } => Some(
            "in a series no value has a larger share of a group than one in m; ask for that m, and for k by itself",
        ),
        PrincipleSpec::TCloseness { .. } | PrincipleSpec::Beta { .. } => Some(
            "it compares groups with how often values occur in the whole table, and a series cannot show that: the difference \
             to what is shown would tell counterfeits",
        ),
        PrincipleSpec::Ke { .. } => Some("signatures do not look at how far values lie apart"),
        PrincipleSpec::OthersL { .. } => Some("signatures do not know ordinary values"),
        PrincipleSpec::DistinctLAlpha { .. }
        | PrincipleSpec::EntropyLAlpha { .. }
        | PrincipleSpec::RecursiveLAlpha { .. } => Some("signatures do not look at the weights of values"),
        PrincipleSpec::OfPopulation(_) => Some("groups follow from signatures, not from the people under their labels"),
        #[allow(unreachable_patterns, reason = "principles that exist for tests")]
        _ => Some("nobody has proved that it can be"),
    }
}
