//! How easily rows of a table can be found again: the measures of `chrysalis-risk`, from a draft to a report.

use std::path::Path;

use chrysalis_risk::{Asked, Measured, Model, Population, PopulationUniques, RiskError};
use chrysalis_store::{Input, make_secret};
use chrysalis_table::{Column, ColumnRequest, Knob, MissingPolicy, Remedy, Stopped, Table, Watch};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use crate::publish::nothing_left;
use crate::words::{count, csv_line};
use crate::{Draft, Error, files, weight};

pub use chrysalis_risk::{Basis, ColumnRisk, RowRisk, Spread};

/// The name of the policy by which a missing value matches anything.
pub const WILDCARD: &str = "wildcard";
/// A risk above one in five counts, unless somebody says otherwise.
const THRESHOLD: f64 = 0.2;

/// What is asked about a table's risk beside what a [`Draft`] says; all of it is optional.
///
/// At most one of `population`, `fraction`, a table of the population and the draft's weight may be there.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RiskDraft {
    /// How many people the rows were drawn from.
    pub population: Option<u64>,
    /// The share of the population that is in the table.
    pub fraction: Option<f64>,
    /// Rows with a risk above this are at risk.
    pub threshold: Option<f64>,
    /// The most columns that a minimal unique set may have.
    pub max_size: Option<usize>,
}

/// How easily the rows of a table can be found again.
#[derive(Debug)]
pub struct RiskReport {
    /// What was measured.
    pub found: Measured,
    /// Rows that lacked a value and were left out.
    pub dropped_rows: u64,
    /// Whether missing values matched anything.
    pub is_wild: bool,
    /// Rows with a risk above this are at risk.
    pub threshold: f64,
    /// What the owner should know, in sentences.
    pub notes: Vec<String>,
}

/// Reads the columns that [`risk`] needs: the quasi columns and the weight.
pub fn read_for_risk(draft: &Draft, input: Input, watch: &dyn Watch) -> Result<Table, Error> {
    let names = named(draft, input.header())?;
    let wanted = names.iter().map(|name| draft.request(name)).collect::<Result<Vec<_>, _>>()?;
    // Wildcards are kept when rows are read, as missing values.
    let plain = Draft { missing: draft.missing.clone().filter(|policy| policy != WILDCARD), ..draft.clone() };
    Ok(files::read_prepared(&plain, input, &wanted, "read", watch)?.0)
}

/// Reads a table of the population: the quasi columns of `table`, of the same kinds and prepared in the same way.
pub fn read_population(file: &Path, draft: &Draft, table: &Table, watch: &dyn Watch) -> Result<Table, Error> {
    let named = Draft { input: Some(file.to_owned()), ..draft.clone() };
    let named = Draft { delimiter: None, encoding: None, ..named };
    read_population_of(named.open()?, &named, table, watch)
}

/// The same for a table of the population that is open.
pub fn read_population_of(input: Input, draft: &Draft, table: &Table, watch: &dyn Watch) -> Result<Table, Error> {
    let quasi = draft.quasi_columns(&header(table));
    let mut own = Draft { input: draft.input.clone(), ..Draft::default() };
    own.attributes = draft.attributes.clone();
    own.attributes.retain(|name, _| quasi.contains(name));
    own.key = own.says_keyed().then(|| draft.key_file());
    own.person = draft.person.clone().filter(|_| own.says_shift());
    own.missing = draft.missing.clone().filter(|policy| policy != WILDCARD);
    own.na = draft.na.clone();
    own.date_format = draft.date_format.clone();
    let wanted: Vec<ColumnRequest> = quasi.iter().filter_map(|name| like(table.column(name)?)).collect();
    Ok(files::read_prepared(&own, input, &wanted, "population", watch)?.0)
}

/// A request for a column of the same kind.
fn like(column: &Column) -> Option<ColumnRequest> {
    let domain = column.domain();
    let is_ordinal = domain.kind() == chrysalis_table::Kind::Ordinal;
    let order = if is_ordinal { domain.values().iter().map(ToString::to_string).collect() } else { Vec::new() };
    Some(ColumnRequest { name: column.name().to_owned(), kind: Some(domain.kind()), order })
}

fn header(table: &Table) -> Vec<String> {
    table.columns().iter().map(|column| column.name().to_owned()).collect()
}

/// The quasi columns and the weight; each must be named once and be in the table.
fn named(draft: &Draft, header: &[String]) -> Result<Vec<String>, Error> {
    let quasi = draft.quasi_columns(header);
    if quasi.is_empty() {
        return Err(RiskError::NoColumns.into());
    }
    draft.check_names(header, quasi.iter().chain(&draft.weight))?;
    let names: Vec<String> = quasi.into_iter().chain(draft.weight.clone()).collect();
    match names.iter().enumerate().find(|(at, name)| names[..*at].contains(name)) {
        None => Ok(names),
        Some((_, twice)) if draft.weight.as_ref() == Some(twice) => {
            let message = format!("column `{twice}` is named as quasi and as weight");
            Err(Error::request(message, "give every column one role"))
        }
        Some((_, twice)) => {
            Err(Error::request(format!("column `{twice}` is named as quasi twice"), "name every column once"))
        }
    }
}

/// Measures how easily rows of a table can be found again by their quasi columns. `population` is a table of all people
/// whom the rows were drawn from, if there is one.
pub fn risk(
    table: Table,
    population: Option<Table>,
    draft: &Draft,
    asked: &RiskDraft,
    watch: &dyn Watch,
) -> Result<RiskReport, Error> {
    one_population(draft, asked, population.is_some())?;
    Stopped::catch(|| {
        let names = named(draft, &header(&table))?;
        let quasi = &names[..names.len() - usize::from(draft.weight.is_some())];
        let is_wild = draft.missing.as_deref() == Some(WILDCARD);
        let policy = if is_wild { MissingPolicy::AsValue } else { draft.missing_policy()? };
        let (table, dropped) = table.with_missing(policy)?;
        if table.rows() == 0 {
            return Err(if dropped > 0 { nothing_left() } else { RiskError::NoRows { what: "the table" }.into() });
        }
        let population = population.map(|population| population.with_missing(policy)).transpose()?;
        let weights = draft.weight.as_ref().map(|name| weights(&table, name)).transpose()?;
        let columns =
            |table: &'_ Table| -> Vec<Column> { quasi.iter().filter_map(|name| table.column(name).cloned()).collect() };
        let (own, people) = (columns(&table), population.as_ref().map(|(population, _)| columns(population)));
        drop((table, population));
        let (own, people): (Vec<&Column>, Option<Vec<&Column>>) =
            (own.iter().collect(), people.as_ref().map(|people| people.iter().collect()));
        let rows = own.first().map_or(0, |column| column.codes().len());
        let known = match (&people, &weights, asked.population, asked.fraction) {
            (Some(people), ..) => Population::Table(people),
            (_, Some(weights), ..) => Population::Weights(weights),
            (_, _, Some(size), _) => Population::Size(size as f64),
            (.., Some(fraction)) => Population::Size((rows as f64 / fraction).round()),
            _ => Population::Unknown,
        };
        let threshold = asked.threshold.unwrap_or(THRESHOLD);
        let wanted = Asked { quasi: &own, population: known, wildcard: is_wild, threshold, max_size: asked.max_size };
        let found = chrysalis_risk::measure(&wanted, watch)?;
        let notes = notes(&found, draft);
        Ok(RiskReport { found, dropped_rows: dropped as u64, is_wild, threshold, notes })
    })?
}

/// The population is described once, and sensibly.
fn one_population(draft: &Draft, asked: &RiskDraft, has_table: bool) -> Result<(), Error> {
    let said = [
        (Knob::Population, asked.population.is_some()),
        (Knob::PopulationTable, has_table),
        (Knob::Fraction, asked.fraction.is_some()),
        (Knob::Weight, draft.weight.is_some()),
    ];
    let mut said = said.into_iter().filter(|(_, is_said)| *is_said).map(|(knob, _)| knob);
    if let (Some(one), Some(other)) = (said.next(), said.next()) {
        let message = format!("`{one}` and `{other}` both describe the population");
        return Err(Error::request(message, Remedy::from("keep ").knob(one, "").words(" or ").knob(other, "")));
    }
    match asked.fraction.filter(|fraction| !(*fraction > 0.0 && *fraction <= 1.0)) {
        None => Ok(()),
        Some(fraction) => {
            let message = format!("the fraction {fraction} is not above 0 and at most 1");
            Err(Error::request(
                message,
                Remedy::from("say which share of the population is in the table: ").knob(Knob::Fraction, "0.1"),
            ))
        }
    }
}

/// The weight of every row.
fn weights(table: &Table, name: &str) -> Result<Vec<f64>, Error> {
    weight::check_values(table, name)?;
    let column = table.column(name).ok_or_else(|| Error::internal(format!("the weight `{name}` was not read")))?;
    let domain = column.domain();
    let of_code: Vec<f64> = (0..domain.len())
        .map(|code| domain.value(code as u32).and_then(|value| value.number()).unwrap_or(0.0))
        .collect();
    Ok(column.codes().iter().map(|code| of_code[code as usize]).collect())
}

fn notes(found: &Measured, draft: &Draft) -> Vec<String> {
    let mut notes = Vec::new();
    if found.not_in_population > 0 {
        notes.push(format!(
            "{} of {} rows have values that are rarer in the table of the population than in the table itself, so it is not \
             the whole population; their risk is that of the table",
            count(found.not_in_population),
            count(found.rows)
        ));
    }
    if let Some(person) = &draft.person {
        notes.push(format!(
            "risk is that of rows, not of persons: a person with several rows (`{person}`) is found by any of them"
        ));
    }
    notes
}

impl RiskReport {
    /// Writes one line per row to a file that only its owner may read. It never replaces a file.
    pub fn write_rows(&self, file: &Path, watch: &dyn Watch) -> Result<(), Error> {
        let head = ["row", "class", "prosecutor", "journalist", "suda", "dis_suda", "minimal_uniques"];
        let mut text = csv_line(&head.map(str::to_owned));
        for row in 0..self.found.rows as usize {
            watch.pause_at(row);
            text.push_str(&csv_line(&self.line(row)));
        }
        // LEAK: which rows stand out is microdata.
        match make_secret(file, text.as_bytes())? {
            true => Ok(()),
            false => {
                let message = format!("{} is already there", file.display());
                Err(Error::request(message, Remedy::from("name another file with ").knob(Knob::Rows, "")))
            }
        }
    }

    fn line(&self, row: usize) -> Vec<String> {
        let told = self.found.row(row);
        let sets: Vec<String> = told.minimal_uniques.iter().map(|set| self.names(set).join("+")).collect();
        vec![
            (row + 1).to_string(),
            told.class.to_string(),
            told.prosecutor.to_string(),
            told.journalist.to_string(),
            told.suda.to_string(),
            told.dis_suda.map(|score| score.to_string()).unwrap_or_default(),
            sets.join(" "),
        ]
    }

    /// The names of quasi columns.
    pub fn names(&self, columns: &[usize]) -> Vec<&str> {
        columns.iter().map(|&at| self.found.columns[at].name.as_str()).collect()
    }
}

impl Serialize for RiskReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let found = &self.found;
        let mut journalist = spread(&found.journalist);
        journalist["success_rate"] = json!(found.journalist_success);
        journalist["basis"] = json!(found.basis.name());
        let population = found.population.map(|size| json!({"size": size, "fraction": found.rows as f64 / size}));
        let individual = found.individual.map(|individual| {
            let mut told = spread(&individual.approximate);
            told["expected_rows"] = json!(individual.approximate.mean * found.rows as f64);
            told["exact_mean"] = json!(individual.exact.mean);
            told["exact_max"] = json!(individual.exact.max);
            told
        });
        let report = json!({
            "rows": found.rows,
            "dropped_rows": self.dropped_rows,
            "missing_is_wildcard": self.is_wild,
            "classes": found.classes,
            "distinction": found.distinction,
            "separation": found.separation,
            "threshold": self.threshold,
            "prosecutor": spread(&found.prosecutor),
            "journalist": journalist,
            "marketer": {"mean": found.marketer, "expected_rows": found.marketer * found.rows as f64},
            "sample_uniques": found.sample_uniques,
            "population": population,
            "population_uniques": uniques(found.population_uniques.as_ref(), found.measured_uniques),
            "individual": individual,
            "suda": self.suda(),
            "columns": found.columns.iter().map(column).collect::<Vec<_>>(),
            "notes": self.notes,
        });
        report.serialize(serializer)
    }
}

impl RiskReport {
    fn suda(&self) -> Value {
        let suda = &self.found.suda;
        let set = |set: &chrysalis_risk::UniqueSet| json!({"columns": self.names(&set.columns), "rows": set.rows});
        json!({
            "max_size": suda.max_size,
            "m": suda.m,
            "rows": suda.rows,
            "minimal_uniques": suda.by_size.iter().sum::<u64>(),
            "by_size": suda.by_size,
            "mean": suda.mean,
            "max": suda.max,
            "dis_mean": suda.dis.map(|(mean, _)| mean),
            "dis_max": suda.dis.map(|(_, max)| max),
            "sets": suda.sets.iter().map(set).collect::<Vec<_>>(),
        })
    }
}

fn spread(spread: &Spread) -> Value {
    json!({
        "mean": spread.mean,
        "max": spread.max,
        "min": spread.min,
        "share_at_max": spread.share_at_max,
        "share_at_min": spread.share_at_min,
        "records_at_risk": spread.records_at_risk,
    })
}

fn uniques(estimates: Option<&PopulationUniques>, measured: Option<f64>) -> Value {
    json!({
        "zayatz": estimates.and_then(|found| found.zayatz),
        "pitman": estimates.and_then(|found| found.pitman),
        "snb": estimates.and_then(|found| found.snb),
        "chosen": estimates.and_then(|found| found.chosen).map(Model::name),
        "share": estimates.and_then(PopulationUniques::chosen_share),
        "measured": measured,
    })
}

fn column(column: &ColumnRisk) -> Value {
    json!({
        "name": column.name,
        "distinct": column.distinct,
        "missing": column.missing,
        "unique_rows": column.unique_rows,
        "distinction": column.distinction,
        "separation": column.separation,
        "minimal_uniques": column.minimal_uniques,
        "mean_size": column.mean_size,
        "suda_contribution": column.suda_contribution,
    })
}
