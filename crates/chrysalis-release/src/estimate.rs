//! The two ways of filling what a release leaves open; questions and drawn rows share them.

use std::fmt;
use std::str::FromStr;

/// How what a release leaves open is estimated. Bounds do not depend on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EstimateMode {
    /// From what all groups together say about how values are distributed; standard errors reckon with the model.
    #[default]
    Learned,
    /// The papers' estimate: every world that the release allows is equally likely, and values are spread evenly over
    /// ranges and labels. Rewritten SQL computes this one.
    Even,
}

impl EstimateMode {
    /// All of them.
    pub const ALL: [EstimateMode; 2] = [EstimateMode::Learned, EstimateMode::Even];

    /// The name that users write.
    pub fn name(self) -> &'static str {
        match self {
            EstimateMode::Learned => "learned",
            EstimateMode::Even => "even",
        }
    }
}

impl fmt::Display for EstimateMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for EstimateMode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = EstimateMode::ALL.into_iter().find(|mode| mode.name() == text);
        known.ok_or_else(|| "estimates are `learned` or `even`".to_owned())
    }
}
