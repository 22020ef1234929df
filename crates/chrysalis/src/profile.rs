use chrysalis_audit::Levels;
use chrysalis_publish::TaxonomySource;
use chrysalis_table::{Counted, Knob, Remedy, Stopped, Table, Watch};
use serde::{Serialize, Serializer};
use serde_json::json;

use crate::assumptions::look_alikes_of;
use crate::guess::suggest_all;
use crate::publish::nothing_left;
use crate::{Draft, Error};

/// What a table satisfies today.
#[derive(Clone, Debug)]
pub struct ProfileReport {
    /// Its rows.
    pub rows: u64,
    /// Rows that lacked a value and were left out.
    pub dropped_rows: u64,
    /// Its columns.
    pub columns: Vec<ColumnReport>,
    /// The sensitive column, if one was named.
    pub sensitive: Option<String>,
    /// The measured levels, if quasi columns were named.
    pub levels: Option<Levels>,
    /// What the owner should know about the named sensitive column, in sentences.
    pub notes: Vec<String>,
}

/// One column.
#[derive(Clone, Debug)]
pub struct ColumnReport {
    /// Its name.
    pub name: String,
    /// The kind of its values.
    pub kind: &'static str,
    /// How many distinct values it has.
    pub distinct: u64,
    /// How many rows lack a value.
    pub missing: u64,
    /// Its role.
    pub role: &'static str,
    /// Whether the role was named; otherwise it is a guess.
    pub is_named: bool,
    /// The reason for the guess; `None` if the role was named.
    pub reason: Option<String>,
}

/// Measures a table with the draft's quasi columns and sensitive column, and guesses the roles of all others. Columns
/// that the draft prepares must be prepared: [`files::read_prepared`](crate::files::read_prepared).
pub fn profile(table: Table, draft: &Draft, watch: &dyn Watch) -> Result<ProfileReport, Error> {
    Stopped::catch(|| {
        let header: Vec<String> = table.columns().iter().map(|column| column.name().to_owned()).collect();
        let (quasi, sensitive) = named(draft, &header)?;
        let in_source = |error: Error| match draft.source_name() {
            Some(source) => error.about(&source),
            None => error,
        };
        let policy = draft.missing_policy()?;
        let (table, dropped) = table.with_missing(policy).map_err(|error| in_source(error.into()))?;
        if table.rows() == 0 {
            return Err(nothing_left());
        }
        let column = sensitive.as_ref().and_then(|name| table.column(name));
        let source = column.and_then(|column| draft.attributes.get(column.name()).map(|said| (column, said)));
        let source = source.map(|(column, said)| said.taxonomy(column.name()).map(|source| (column, source)));
        let taxonomy = match source.transpose()? {
            Some((column, Some(source))) => Some(TaxonomySource::bind(&source, column)?),
            _ => None,
        };
        let levels = if quasi.is_empty() {
            None
        } else {
            watch.phase("measure", None, Counted::Rows);
            Some(chrysalis_audit::profile(&table, &quasi, sensitive.as_deref(), taxonomy.as_ref())?)
        };
        let named = |name: &str| match name {
            name if quasi.iter().any(|known| known == name) => Some("quasi"),
            name if sensitive.as_deref() == Some(name) => Some("sensitive"),
            _ => None,
        };
        let columns = table.columns().iter().zip(suggest_all(&table)).map(|(column, guess)| {
            let named = named(column.name());
            ColumnReport {
                name: column.name().to_owned(),
                kind: column.domain().kind().name(),
                distinct: column.domain().values().len() as u64,
                missing: if column.domain().has_missing() { column.histogram()[0] } else { 0 },
                role: named.unwrap_or(guess.role.name()),
                is_named: named.is_some(),
                reason: named.is_none().then_some(guess.reason),
            }
        });
        let (rows, dropped_rows) = (table.rows() as u64, dropped as u64);
        let notes = column.map_or_else(Vec::new, look_alikes_of);
        Ok(ProfileReport { rows, dropped_rows, columns: columns.collect(), sensitive, levels, notes })
    })?
}

/// The quasi columns and the sensitive one; each must be named only once and be in the table.
fn named(draft: &Draft, header: &[String]) -> Result<(Vec<String>, Option<String>), Error> {
    let quasi = draft.quasi_columns(header);
    let sensitive = match &draft.sensitive_columns()[..] {
        [] => None,
        [only] => Some(only.clone()),
        [first, second, ..] => {
            let message = format!("`{first}` and `{second}` are both sensitive, and a profile measures one of them");
            return Err(Error::request(message, Remedy::from("choose one with ").knob(Knob::Sensitive, first)));
        }
    };
    let settings = draft.attributes.keys();
    draft.check_names(header, quasi.iter().chain(&sensitive).chain(settings))?;
    match sensitive.as_ref().filter(|name| quasi.contains(name)) {
        Some(both) => {
            let message = format!("column `{both}` is named as quasi and as sensitive");
            Err(Error::request(message, "give every column one role"))
        }
        None => Ok((quasi, sensitive)),
    }
}

/// What to say if nothing can be measured yet.
pub fn advice() -> Remedy {
    Remedy::from("Roles with a question mark are guesses. Name columns with ")
        .knob(Knob::Quasi, "")
        .words(" and ")
        .knob(Knob::Sensitive, "")
        .words(" to measure anonymity.")
}

impl Serialize for ProfileReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let column = |column: &ColumnReport| {
            let mut told = json!({
                "name": column.name,
                "kind": column.kind,
                "distinct": column.distinct,
                "missing": column.missing,
                if column.is_named { "role" } else { "suggested_role" }: column.role,
            });
            if let Some(reason) = &column.reason {
                told["reason"] = reason.as_str().into();
            }
            told
        };
        let report = json!({
            "rows": self.rows,
            "dropped_rows": self.dropped_rows,
            "columns": self.columns.iter().map(column).collect::<Vec<_>>(),
            "notes": self.notes,
            "anonymity": self.levels.as_ref().map(anonymity),
            "uniqueness": self.levels.as_ref().map(uniqueness),
        });
        report.serialize(serializer)
    }
}

/// The levels as JSON.
pub fn anonymity(levels: &Levels) -> serde_json::Value {
    let sensitive = levels.sensitive.as_ref();
    json!({
        "k": levels.k,
        "groups": levels.groups,
        "distinct_l": sensitive.map(|s| s.distinct_l),
        "entropy_l": sensitive.map(|s| s.entropy_l),
        "recursive_c": sensitive.and_then(|s| s.recursive_c),
        "alpha": sensitive.map(|s| s.alpha),
        "t": sensitive.map(|s| s.t),
        "beta": sensitive.map(|s| s.beta),
        "delta": sensitive.map(|s| s.delta),
    })
}

fn uniqueness(levels: &Levels) -> serde_json::Value {
    let sets = levels.uniqueness.iter().map(|set| {
        json!({
            "attributes": set.attributes,
            "combinations": set.combinations,
            "unique_rows": set.unique_rows,
            "smallest": set.smallest,
        })
    });
    sets.collect()
}
