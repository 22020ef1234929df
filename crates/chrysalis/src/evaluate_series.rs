use chrysalis_release::{COUNT, COUNTERFEITS, Release};
use chrysalis_table::{Code, Table, Value, Watch};
use serde::{Serialize, Serializer};
use serde_json::json;

use crate::{Error, EvaluateReport, Measures, evaluate};

/// What the releases of a series are worth, one after the other.
#[derive(Clone, Debug, Default)]
pub struct SeriesWorth {
    /// By number.
    pub releases: Vec<ReleaseWorth>,
}

/// What one release of a series is worth.
#[derive(Clone, Debug)]
pub struct ReleaseWorth {
    /// Its number.
    pub number: u64,
    /// How many of the values that it shows nobody has.
    pub counterfeits: u64,
    /// All measures.
    pub report: EvaluateReport,
}

impl SeriesWorth {
    /// Compares the next release of the series with the microdata that it was made from.
    pub fn add(
        &mut self,
        release: &Release,
        microdata: &Table,
        measures: &Measures,
        watch: &dyn Watch,
    ) -> Result<(), Error> {
        let report = evaluate(release, microdata, measures, watch)?;
        let number = release.manifest.series.as_ref().map_or(0, |entry| entry.number);
        self.releases.push(ReleaseWorth { number, counterfeits: counterfeits(release), report });
        Ok(())
    }
}

/// How many values nobody has.
fn counterfeits(release: &Release) -> u64 {
    let column = release.table(COUNTERFEITS).ok().and_then(|table| table.column(COUNT));
    let of_code = |(code, times): (usize, u64)| match column.and_then(|it| it.domain().value(code as Code)) {
        Some(Value::Integer(n)) => u64::try_from(*n).unwrap_or(0).saturating_mul(times),
        _ => 0,
    };
    let counts = column.map(chrysalis_table::Column::histogram).unwrap_or_default();
    counts.into_iter().enumerate().map(of_code).sum()
}

impl Serialize for SeriesWorth {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let one = |it: &ReleaseWorth| json!({"release": it.number, "counterfeits": it.counterfeits, "evaluation": serde_json::to_value(&it.report).unwrap_or_default()});
        json!({"releases": self.releases.iter().map(one).collect::<Vec<_>>()}).serialize(serializer)
    }
}
