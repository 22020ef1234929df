use chrysalis_audit::{Levels, PersonLevels, SensitiveLevels};
use chrysalis_publish::TaxonomySource;
use chrysalis_table::{Column, Counted, Knob, Remedy, Stopped, Table, Taxonomy, Watch};
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
    /// The sensitive columns, if any were named.
    pub sensitive: Vec<String>,
    /// The measured levels, if quasi columns were named.
    pub levels: Option<Levels>,
    /// The same of persons, if the column that tells them apart was named.
    pub persons: Option<PersonLevels>,
    /// What the owner should know about the named sensitive columns, in sentences.
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

/// Measures a table with the draft's quasi and sensitive columns, and guesses the roles of all others. Columns
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
        let protected: Vec<&Column> = sensitive.iter().filter_map(|name| table.column(name)).collect();
        let taxonomy = |column: &&Column| -> Result<Option<Taxonomy>, Error> {
            let said = draft.attributes.get(column.name());
            match said.map(|said| said.taxonomy(column.name())).transpose()?.flatten() {
                Some(source) => Ok(Some(TaxonomySource::bind(&source, column)?)),
                None => Ok(None),
            }
        };
        let taxonomies: Vec<Option<Taxonomy>> = protected.iter().map(taxonomy).collect::<Result<_, Error>>()?;
        let levels = if quasi.is_empty() {
            None
        } else {
            watch.phase("measure", None, Counted::Rows);
            let measured: Vec<(&str, Option<&Taxonomy>)> =
                sensitive.iter().map(String::as_str).zip(taxonomies.iter().map(Option::as_ref)).collect();
            Some(chrysalis_audit::profile_all(&table, &quasi, &measured)?)
        };
        let persons = match &draft.person {
            Some(person) if !quasi.is_empty() => Some(chrysalis_audit::profile_persons(&table, &quasi, person)?),
            _ => None,
        };
        let named = |name: &str| match name {
            name if quasi.iter().any(|known| known == name) => Some("quasi"),
            name if sensitive.iter().any(|known| known == name) => Some("sensitive"),
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
        let notes = protected.into_iter().flat_map(look_alikes_of).collect();
        let columns = columns.collect();
        Ok(ProfileReport { rows, dropped_rows, columns, sensitive, levels, persons, notes })
    })?
}

/// The quasi columns and the sensitive ones; each must be named only once and be in the table.
fn named(draft: &Draft, header: &[String]) -> Result<(Vec<String>, Vec<String>), Error> {
    let quasi = draft.quasi_columns(header);
    let sensitive = draft.sensitive_columns();
    if let Some(twice) = sensitive.iter().enumerate().find(|(at, name)| sensitive[..*at].contains(name)) {
        let message = format!("column `{}` is named as sensitive twice", twice.1);
        return Err(Error::request(message, "name every column once"));
    }
    let settings = draft.attributes.keys();
    draft.check_names(header, quasi.iter().chain(&sensitive).chain(settings).chain(&draft.person))?;
    match sensitive.iter().find(|name| quasi.contains(name)) {
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
        let mut report = json!({
            "rows": self.rows,
            "dropped_rows": self.dropped_rows,
            "columns": self.columns.iter().map(column).collect::<Vec<_>>(),
            "notes": self.notes,
            "anonymity": self.levels.as_ref().map(anonymity),
            "uniqueness": self.levels.as_ref().map(uniqueness),
        });
        if let Some(found) = &self.persons {
            report["persons"] = persons(found);
        }
        report.serialize(serializer)
    }
}

/// The levels as JSON. With several sensitive columns, `columns` has the levels of each.
pub fn anonymity(levels: &Levels) -> serde_json::Value {
    let mut told = json!({"k": levels.k, "groups": levels.groups});
    if levels.columns.is_empty() {
        add(&mut told, levels.sensitive.as_ref());
        return told;
    }
    let column = |(name, found): &(String, SensitiveLevels)| {
        let mut told = json!({"column": name});
        add(&mut told, Some(found));
        told
    };
    told["columns"] = levels.columns.iter().map(column).collect();
    told
}

fn add(told: &mut serde_json::Value, sensitive: Option<&SensitiveLevels>) {
    told["distinct_l"] = json!(sensitive.map(|s| s.distinct_l));
    told["entropy_l"] = json!(sensitive.map(|s| s.entropy_l));
    told["recursive_c"] = json!(sensitive.and_then(|s| s.recursive_c));
    told["alpha"] = json!(sensitive.map(|s| s.alpha));
    told["t"] = json!(sensitive.map(|s| s.t));
    told["beta"] = json!(sensitive.map(|s| s.beta));
    told["delta"] = json!(sensitive.map(|s| s.delta));
}

/// What persons satisfy, as JSON.
fn persons(found: &PersonLevels) -> serde_json::Value {
    json!({
        "column": found.column,
        "count": found.persons,
        "rows_of_nobody": found.rows_of_nobody,
        "k": found.k,
        "groups_of_one": found.groups_of_one,
        "groups_with_repetitions": found.groups_with_repetitions,
        "with_several_rows": found.persons_with_several_rows,
        "most_rows": found.most_rows,
        "in_several_groups": found.persons_in_several_groups,
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
