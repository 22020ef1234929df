//! One person leaves or joins between two releases, and the counts of the whole table reveal that person's value; see
//! `spec.md`, subtraction.

use super::finding::Finding;

/// An attacker who knows who left or joined subtracts the published counts of two releases.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Subtraction {
    /// How sure the attacker becomes of the person's sensitive value, from 0 to 1.
    pub confidence: f64,
}

/// Every form publishes how often each sensitive value occurs, so the attack works on all of them.
pub(crate) fn subtraction(sensitive: &str) -> (Option<Subtraction>, Finding) {
    let sentence = format!(
        "The release shows how often every `{sensitive}` occurs in the whole table. If one person leaves or joins \
         before its next release, an attacker who knows who that was subtracts the counts and knows the person's \
         `{sensitive}` for certain, whatever is promised."
    );
    let prevention = "handing out the same release again instead of a new one after every change; an audit of two \
                      releases together says by how many values they differ.";
    (Some(Subtraction { confidence: 1.0 }), Finding::new("subtraction", sentence, prevention))
}
