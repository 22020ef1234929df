//! The questions that all releases were asked, in words and as JSON.

use chrysalis::words::counted;
use serde_json::{Value, json};

use super::QuestionsAsked;

impl QuestionsAsked {
    /// For the page; empty if nothing was asked.
    pub(super) fn sentence(&self) -> String {
        let Some(asked) = &self.asked else { return String::new() };
        let first = asked.aggregates.first().map(|aggregate| aggregate.name.as_str()).unwrap_or_default();
        format!(
            "Every release was asked the same {}, of the kind “{}”: conditions on {}, about {} % of the space each. Errors and \
             widths of bounds are those of {first}.",
            counted(asked.workload.queries as u64, "random question"),
            asked.workload.family,
            counted(asked.dimensions as u64, "attribute"),
            100.0 * asked.workload.selectivity,
        )
    }

    /// As JSON.
    pub(super) fn json(&self) -> Value {
        self.asked.as_ref().map_or(Value::Null, |asked| {
            json!({
                "workload": asked.workload.family.name(),
                "queries": asked.workload.queries,
                "selectivity": asked.workload.selectivity,
                "dimensions": asked.dimensions,
                "seed": self.seed,
            })
        })
    }
}
