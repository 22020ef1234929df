use std::process::ExitCode;

use chrysalis::words::{count, counted, number};
use chrysalis::{Basis, ColumnRisk, RiskDraft, RiskReport, Watch, read_for_risk, read_population, risk};

use crate::args::{Cli, RiskArgs};
use crate::failure::{DONE, Failure};
use crate::progress::Phases;
use crate::render::{self, Report};

/// Sets of columns and the like that a table for people shows.
const SHOWN: usize = 12;

pub(crate) fn run(args: &RiskArgs, cli: &Cli) -> Result<ExitCode, Failure> {
    let phases = Phases::new(cli);
    let draft = args.draft()?;
    let table = read_for_risk(&draft, draft.open()?, &phases)?;
    let population = args.population_table.as_ref().map(|file| read_population(file, &draft, &table, &phases));
    let asked = RiskDraft {
        population: args.population,
        fraction: args.fraction,
        threshold: args.threshold,
        max_size: args.max_size,
    };
    let found = risk(table, population.transpose()?, &draft, &asked, &phases)?;
    if let Some(file) = &args.rows {
        found.write_rows(file, &phases)?;
    }
    phases.finish();
    found.notes.iter().for_each(|note| phases.note(note));
    Report::flattened(blocks(&found), &found)?.print(cli.output)?;
    Ok(ExitCode::from(DONE))
}

fn percent(share: f64) -> String {
    match 100.0 * share {
        share if share > 0.0 && share < 0.01 => format!("{share:.1e} %"),
        share => format!("{share:.2} %"),
    }
}

fn blocks(report: &RiskReport) -> Vec<String> {
    let found = &report.found;
    let dropped = match report.dropped_rows {
        0 => String::new(),
        n => format!(" ({} dropped)", counted(n, "row")),
    };
    let columns = counted(found.columns.len() as u64, "quasi column");
    let title = format!(
        "{}{dropped}, {columns}, {} of their values",
        counted(found.rows, "row"),
        counted(found.classes, "combination")
    );
    let mut blocks = vec![title, attackers(report), uniques(report)];
    blocks.push(columns_of(&found.columns));
    blocks.extend(sets(report));
    blocks
}

/// What three attackers find.
fn attackers(report: &RiskReport) -> String {
    let found = &report.found;
    let at_risk = format!("rows above {}", report.threshold);
    let row = |name: &str, knows: &str, mean: f64, rest: Option<(f64, f64)>| {
        let (max, above) = rest.map_or((String::new(), String::new()), |(max, above)| (number(max), percent(above)));
        vec![name.to_owned(), knows.to_owned(), number(mean), max, above]
    };
    let spread = |spread: &chrysalis::Spread| Some((spread.max, spread.records_at_risk));
    let rows = [
        row(
            "prosecutor",
            "one person, and that they are in the table",
            found.prosecutor.mean,
            spread(&found.prosecutor),
        ),
        row("journalist", "one person of the population", found.journalist.mean, spread(&found.journalist)),
        row("marketer", "everybody, and links as many as possible", found.marketer, None),
    ];
    let table = render::table(&["attacker", "knows", "mean risk", "highest", &at_risk], &rows);
    let basis = match found.basis {
        Basis::Sample => "Nothing is said of the population, so the table is taken for all of it.".to_owned(),
        Basis::PopulationTable => {
            "People who share a row's values are counted in the table of the population.".to_owned()
        }
        Basis::Size | Basis::Weights => format!(
            "How many of {} people share a row's values is estimated (negative binomial, Benedetti and Franconi).",
            count(found.population.unwrap_or_default().round() as u64)
        ),
    };
    let expected = format!(
        "A risk is the chance to pick the right one of all who share a row's values. A marketer who links every row is right \
         about {} of {} times.",
        count((found.marketer * found.rows as f64).round() as u64),
        count(found.rows)
    );
    format!("Risk of being found\n{table}\n{expected}\n{basis}")
}

/// Who is unique, in the table and in the population.
fn uniques(report: &RiskReport) -> String {
    let found = &report.found;
    let alone = (found.sample_uniques * found.rows as f64).round() as u64;
    let mut facts =
        vec![("in the table", format!("{} ({} like no other)", percent(found.sample_uniques), counted(alone, "row")))];
    if let Some(share) = found.measured_uniques {
        facts.push(("in its population", format!("{} (counted)", percent(share))));
    }
    match &found.population_uniques {
        None => {
            facts.push(("in the population", "unknown: say how large it is, or which share of it is here".to_owned()))
        }
        Some(estimates) => {
            let told = |share: Option<f64>| share.map_or_else(|| "does not fit these data".to_owned(), percent);
            let why =
                estimates.chosen.map_or("no model fits".to_owned(), |model| format!("estimated by {}", model.name()));
            let share = estimates.chosen_share().map_or("unknown".to_owned(), percent);
            facts.push(("in the population", format!("{share} of its people ({why})")));
            facts.push(("  by Zayatz", told(estimates.zayatz)));
            facts.push(("  by Pitman", told(estimates.pitman)));
            facts.push(("  by SNB", told(estimates.snb)));
        }
    }
    format!("Who is unique\n{}", render::facts(&facts))
}

fn columns_of(columns: &[ColumnRisk]) -> String {
    let row = |column: &ColumnRisk| {
        vec![
            column.name.clone(),
            count(column.distinct),
            count(column.missing),
            percent(column.separation),
            count(column.unique_rows),
            count(column.minimal_uniques),
            column.suda_contribution.map(percent).unwrap_or_default(),
        ]
    };
    let mut sorted: Vec<&ColumnRisk> = columns.iter().collect();
    let part = |column: &ColumnRisk| column.suda_contribution.unwrap_or(0.0);
    sorted.sort_by(|a, b| part(b).total_cmp(&part(a)));
    let header =
        ["column", "values", "missing", "pairs told apart", "unique rows", "in minimal uniques", "part of scores"];
    let rows: Vec<Vec<String>> = sorted.into_iter().map(row).collect();
    format!("What each column gives away\n{}", render::table(&header, &rows))
}

/// The sets of columns that single rows out.
fn sets(report: &RiskReport) -> Option<String> {
    let suda = &report.found.suda;
    let total: u64 = suda.by_size.iter().sum();
    if total == 0 {
        return None;
    }
    let shown = &suda.sets[..suda.sets.len().min(SHOWN)];
    let rows: Vec<Vec<String>> =
        shown.iter().map(|set| vec![report.names(&set.columns).join(", "), count(set.rows)]).collect();
    let table = render::table(&["columns together", "rows they single out"], &rows);
    let sizes: Vec<String> = (1u64..)
        .zip(&suda.by_size)
        .filter(|(_, sets)| **sets > 0)
        .map(|(size, sets)| format!("{} of {}", count(*sets), counted(size, "column")))
        .collect();
    let dis = suda.dis.map_or(String::new(), |(mean, max)| {
        format!(" As probabilities (DIS-SUDA): mean {}, highest {}.", number(mean), number(max))
    });
    let told = format!(
        "{} have {}: sets of columns that single a row out and lose that if a column is left out ({}). SUDA scores (M = {}): \
         mean {}, highest {}.{dis}",
        counted(suda.rows, "row"),
        counted(total, "minimal unique set"),
        sizes.join(", "),
        suda.m,
        number(suda.mean),
        number(suda.max)
    );
    Some(format!("What singles rows out\n{table}\n{told}"))
}
