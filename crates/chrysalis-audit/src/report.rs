/// What an audit found. Everything is collected; nothing stops at the first finding.
#[derive(Clone, Debug, PartialEq)]
pub struct AuditReport {
    /// Every promised principle, in the manifest's order.
    pub principles: Vec<PrincipleResult>,
    /// Every other thing that was looked at.
    pub checks: Vec<Check>,
    /// What an attacker can do with the release.
    pub attacks: Attacks,
    /// Rows that were published.
    pub rows: u64,
    /// Groups they stand in: distinct group ids.
    pub groups: u64,
}

impl AuditReport {
    /// Whether every promise holds and nothing was found.
    pub fn ok(&self) -> bool {
        self.principles.iter().all(|principle| principle.holds) && self.checks.iter().all(|check| check.ok)
    }
}

/// One promise and how far it is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct PrincipleResult {
    /// The principle as the manifest writes it.
    pub principle: String,
    /// Whether it holds in every group.
    pub holds: bool,
    /// The worst level of any group, in the unit of the principle's first parameter; of a part that fails, if one does.
    ///
    /// Infinite where no parameter would do, such as for a recursive c with an empty tail.
    pub worst: f64,
    /// The same exactly, with all parts of the principle: `3/7`, `4 values, span 120`.
    pub worst_text: String,
    /// The id of the group where the worst level is reached; the lowest such id. Absent only where it has none.
    pub worst_group: Option<i64>,
}

/// Something that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// What: `tables`, `groups`, `ranges`, `labels`, `sensitive values`, `row order`, `faithful`.
    pub name: &'static str,
    /// Whether all is well.
    pub ok: bool,
    /// In one line: what was seen, or the findings.
    pub detail: String,
    /// One sentence each; at most five of a kind, then how many more there are.
    pub findings: Vec<String>,
}

/// What an attacker can do with a release.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Attacks {
    /// Linking a known person to a sensitive value; absent where nothing sensitive is published.
    pub linking: Option<Linking>,
}

/// An attacker knows all quasi values of everyone, finds a person's group and bets on its most frequent value.
#[derive(Clone, Debug, PartialEq)]
pub struct Linking {
    /// The chance of being right in the worst group.
    pub confidence: f64,
    /// The same as an exact fraction.
    pub confidence_text: String,
    /// The worst group; the lowest id where there are several. Absent only where the group has no id.
    pub group: Option<i64>,
    /// Rows whose sensitive value is guessed with that chance, over all groups.
    pub rows: u64,
}
