use std::process::ExitCode;

use chrysalis_audit::{Levels, profile};
use chrysalis_publish::TaxonomySource;
use chrysalis_store::Input;
use chrysalis_table::{Column, ColumnRequest, Kind, Role, Table, Taxonomy};
use serde_json::json;

use crate::args::{Cli, ProfileArgs};
use crate::failure::{DONE, Failure};
use crate::plan::Draft;
use crate::progress::{Phases, Unit};
use crate::render::{self, Report, count, number};
use crate::spec::load_taxonomy;

pub(crate) fn run(args: &ProfileArgs, cli: &Cli) -> Result<ExitCode, Failure> {
    let mut phases = Phases::new(cli.quiet);
    let draft = Draft::new(&args.file, &args.read)?;
    let input = Input::open(&draft.source, &draft.options)?;
    let header = input.header().to_vec();
    let quasi = draft.quasi(&args.quasi, &header);
    let sensitive = args.sensitive.clone().or_else(|| draft.with_role(Role::Sensitive).into_iter().next());
    draft.check_names(&header, quasi.iter().chain(&sensitive).chain(args.read.kinds.iter().map(|(name, _)| name)))?;
    if let Some(both) = sensitive.as_ref().filter(|name| quasi.contains(name)) {
        let message = format!("column `{both}` is named as quasi and as sensitive");
        return Err(Failure::bad_input(message, "give every column one role"));
    }
    let requests: Vec<ColumnRequest> =
        header.iter().map(|name| draft.request(name, &args.read)).collect::<Result<_, _>>()?;
    let size = input.size();
    let table = phases.run("read", size, Unit::Bytes, |progress| input.read_with(&requests, progress))?;
    let table_error = |error| chrysalis_store::StoreError::Table { path: draft.source.name(), error };
    let (table, dropped_rows) = table.with_missing(draft.missing).map_err(table_error)?;
    if table.rows() == 0 {
        return Err(Failure::bad_input("every row lacks a value, so nothing is left", "use --missing as-value"));
    }
    let taxonomy = sensitive_taxonomy(args, &draft, &table, sensitive.as_deref())?;
    let levels =
        if quasi.is_empty() {
            None
        } else {
            Some(phases.run("measure", None, Unit::Rows, |_| {
                profile(&table, &quasi, sensitive.as_deref(), taxonomy.as_ref())
            })?)
        };
    report(&table, dropped_rows, &quasi, sensitive.as_deref(), levels.as_ref()).print(cli.output)?;
    Ok(ExitCode::from(DONE))
}

fn sensitive_taxonomy(
    args: &ProfileArgs,
    draft: &Draft,
    table: &Table,
    sensitive: Option<&str>,
) -> Result<Option<Taxonomy>, Failure> {
    let Some(column) = sensitive.and_then(|name| table.column(name)) else { return Ok(None) };
    let source = match args.taxonomies.iter().find(|(name, _)| name == column.name()) {
        Some((_, path)) => Some(TaxonomySource::File(load_taxonomy(path)?)),
        None => match draft.spec.attributes.get(column.name()) {
            Some(attribute) => attribute.taxonomy(column.name(), &draft.spec)?,
            None => None,
        },
    };
    let bound = source.map(|source| source.bind(column)).transpose()?;
    Ok(bound)
}

/// Parts of names that tell of something private, the most private first.
const SENSITIVE: [&str; 16] = [
    "disease",
    "diagnos",
    "hiv",
    "illness",
    "symptom",
    "condition",
    "treatment",
    "salary",
    "income",
    "wage",
    "debt",
    "cost",
    "capital",
    "religion",
    "crime",
    "occupation",
];
/// Parts of names that tell of something that names a person.
const IDENTIFIER: [&str; 8] = ["name", "ssn", "email", "e_mail", "phone", "passport", "address", "iban"];

/// How private a column sounds: 0 the most, `None` not at all.
pub(crate) fn privacy_rank(column: &Column) -> Option<usize> {
    let name = column.name().to_lowercase();
    SENSITIVE.iter().position(|word| name.contains(word))
}

/// A guess from names and numbers; the owner decides.
pub(crate) fn suggest(column: &Column, rows: usize) -> Role {
    let name = column.name().to_lowercase();
    let (n_values, kind) = (column.domain().len(), column.domain().kind());
    let is_id = name == "id" || name.ends_with("_id") || name.starts_with("id_");
    let names_a_person = is_id || IDENTIFIER.iter().any(|word| name.contains(word));
    let mostly_unique = rows >= 20 && n_values * 10 >= rows * 9 && kind != Kind::Real;
    if mostly_unique || (names_a_person && n_values * 2 > rows) {
        Role::Identifier
    } else if privacy_rank(column).is_some() {
        Role::Sensitive
    } else if kind == Kind::Real || n_values > 1_000 || n_values <= 1 {
        Role::Other
    } else {
        Role::QuasiIdentifier
    }
}

fn missing(column: &Column) -> u64 {
    if column.domain().has_missing() { column.histogram()[0] } else { 0 }
}

fn report(table: &Table, dropped: usize, quasi: &[String], sensitive: Option<&str>, levels: Option<&Levels>) -> Report {
    let role = |column: &Column| {
        if quasi.iter().any(|name| name == column.name()) {
            ("quasi", true)
        } else if sensitive == Some(column.name()) {
            ("sensitive", true)
        } else {
            (suggest(column, table.rows()).name(), false)
        }
    };
    let columns: Vec<_> = table
        .columns()
        .iter()
        .map(|column| {
            let n_values = column.domain().values().len();
            let (role, named) = role(column);
            json!({
                "name": column.name(),
                "kind": column.domain().kind().name(),
                "distinct": n_values,
                "missing": missing(column),
                if named { "role" } else { "suggested_role" }: role,
            })
        })
        .collect();
    let rows: Vec<Vec<String>> = table
        .columns()
        .iter()
        .map(|column| {
            let (role, named) = role(column);
            let role = if named { role.to_owned() } else { format!("{role}?") };
            let kind = column.domain().kind().to_string();
            let n_values = column.domain().values().len() as u64;
            vec![column.name().to_owned(), kind, count(n_values), count(missing(column)), role]
        })
        .collect();
    let title = match dropped {
        0 => format!("{} rows, {} columns", count(table.rows() as u64), table.columns().len()),
        n => format!(
            "{} rows, {} columns ({} rows dropped)",
            count(table.rows() as u64),
            table.columns().len(),
            count(n as u64)
        ),
    };
    let header = ["column", "kind", "values", "missing", "role"];
    let mut blocks = vec![title, render::table(&header, &rows)];
    let mut csv = vec![header.map(str::to_owned).to_vec()];
    csv.extend(rows);
    match levels {
        None => blocks.push(
            "Roles with a question mark are guesses. Name columns with --quasi and --sensitive to measure anonymity."
                .into(),
        ),
        Some(levels) => {
            blocks.extend(level_blocks(levels, sensitive));
            csv = level_rows(levels);
        }
    }
    let json = json!({
        "rows": table.rows(),
        "dropped_rows": dropped,
        "columns": columns,
        "anonymity": levels.map(anonymity),
        "uniqueness": levels.map(uniqueness),
    });
    Report { blocks, json, rows: csv }
}

fn anonymity(levels: &Levels) -> serde_json::Value {
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

fn level_rows(levels: &Levels) -> Vec<Vec<String>> {
    let header = vec!["name".to_owned(), "value".to_owned()];
    std::iter::once(header).chain(super::publish::flatten("", &anonymity(levels))).collect()
}

fn level_blocks(levels: &Levels, sensitive: Option<&str>) -> Vec<String> {
    let mut facts =
        vec![("groups", count(levels.groups)), ("k", format!("{} (size of the smallest group)", count(levels.k)))];
    if let Some(s) = &levels.sensitive {
        facts.push((
            "distinct l",
            format!("{} (fewest distinct values of {} in a group)", s.distinct_l, sensitive.unwrap_or("")),
        ));
        facts.push(("entropy l", format!("{} (e^H = {:.3} in the worst group)", s.entropy_l, s.entropy)));
        let c = s
            .recursive_c
            .map_or_else(|| "none (a group has a single value)".into(), |c| format!("{c} (at l = {})", s.distinct_l));
        facts.push(("recursive c", c));
        facts.push(("alpha", format!("{} (largest share of one value in a group)", number(s.alpha))));
        facts.push(("t", format!("{} (farthest group from the whole table)", number(s.t))));
        facts.push(("beta", format!("{} (largest relative gain of a value)", number(s.beta))));
        facts.push(("delta", format!("{} (largest |ln p/q|)", number(s.delta))));
    }
    let mut sets: Vec<_> = levels.uniqueness.iter().collect();
    sets.sort_by_key(|set| (std::cmp::Reverse(set.unique_rows), set.smallest, set.attributes.len()));
    let share = |n: u64| format!("{:.2} %", 100.0 * n as f64 / levels.rows as f64);
    let rows: Vec<Vec<String>> = sets
        .iter()
        .take(12)
        .map(|set| {
            vec![
                set.attributes.join(", "),
                count(set.combinations),
                count(set.unique_rows),
                share(set.unique_rows),
                count(set.smallest),
            ]
        })
        .collect();
    let table = render::table(&["columns together", "combinations", "unique rows", "share", "smallest group"], &rows);
    vec![format!("Anonymity\n{}", render::facts(&facts)), format!("Who stands out\n{table}")]
}
