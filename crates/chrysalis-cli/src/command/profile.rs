use std::process::ExitCode;

use chrysalis::words::{count, counted, flatten, number};
use chrysalis::{ColumnReport, ProfileReport, Watch, advice, anonymity, files, profile};
use chrysalis_audit::{Levels, PersonLevels, SensitiveLevels};

use crate::args::{Cli, ProfileArgs};
use crate::failure::{DONE, Failure, Flags};
use crate::progress::Phases;
use crate::render::{self, Report};

pub(crate) fn run(args: &ProfileArgs, cli: &Cli) -> Result<ExitCode, Failure> {
    let phases = Phases::new(cli);
    let draft = args.draft()?;
    let input = draft.open()?;
    let requests = files::requests(&input, &draft, &phases)?;
    let (table, prepared) = files::read_prepared(&draft, input, &requests, "read", &phases)?;
    let found = profile(table, &draft, &phases)?;
    phases.finish();
    for step in &prepared {
        let rows = counted(step.changed_rows, "row");
        phases.note(&format!("`{}` was prepared by {}, which changed {rows}", step.column, step.preparation));
    }
    found.notes.iter().for_each(|note| phases.note(note));
    report(&found)?.print(cli.output)?;
    Ok(ExitCode::from(DONE))
}

fn report(found: &ProfileReport) -> Result<Report, Failure> {
    let row = |column: &ColumnReport| {
        let role = if column.is_named { column.role.to_owned() } else { format!("{}?", column.role) };
        let reason = column.reason.clone().unwrap_or_default();
        vec![column.name.clone(), column.kind.to_owned(), count(column.distinct), count(column.missing), role, reason]
    };
    let rows: Vec<Vec<String>> = found.columns.iter().map(row).collect();
    let dropped = match found.dropped_rows {
        0 => String::new(),
        n => format!(" ({} rows dropped)", count(n)),
    };
    let title = format!("{} rows, {} columns{dropped}", count(found.rows), found.columns.len());
    let header = ["column", "kind", "values", "missing", "role", "reason"];
    let mut blocks = vec![title, render::table(&header, &rows)];
    let mut csv = vec![header.map(str::to_owned).to_vec()];
    csv.extend(rows);
    match &found.levels {
        None => blocks.push(advice().spelled(&Flags)),
        Some(levels) => {
            blocks.extend(level_blocks(levels, found.sensitive.first().map(String::as_str)));
            blocks.extend(found.persons.as_ref().map(persons));
            let header = vec!["name".to_owned(), "value".to_owned()];
            csv = std::iter::once(header).chain(flatten("", &anonymity(levels))).collect();
        }
    }
    Report::new(blocks, found, csv)
}

/// What the table satisfies if persons are counted.
fn persons(found: &PersonLevels) -> String {
    let facts = [
        (
            "persons",
            format!("{} (by `{}`), at most {} rows each", count(found.persons), found.column, count(found.most_rows)),
        ),
        ("with several rows", count(found.persons_with_several_rows)),
        ("k", format!("{} (persons of the smallest group)", count(found.k))),
        ("groups of one person", count(found.groups_of_one)),
        (
            "in several groups",
            format!("{} persons have rows in several groups", count(found.persons_in_several_groups)),
        ),
    ];
    format!("Persons\n{}", render::facts(&facts))
}

fn level_blocks(levels: &Levels, sensitive: Option<&str>) -> Vec<String> {
    let mut facts =
        vec![("groups", count(levels.groups)), ("k", format!("{} (size of the smallest group)", count(levels.k)))];
    facts.extend(levels.sensitive.iter().flat_map(|found| sensitive_facts(found, sensitive.unwrap_or(""))));
    let mut blocks = vec![format!("Anonymity\n{}", render::facts(&facts))];
    for (name, found) in &levels.columns {
        blocks.push(format!("Anonymity of `{name}`\n{}", render::facts(&sensitive_facts(found, name))));
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
    blocks.push(format!("Who stands out\n{table}"));
    blocks
}

/// What groups satisfy about one sensitive column.
fn sensitive_facts(s: &SensitiveLevels, name: &str) -> Vec<(&'static str, String)> {
    let c = s
        .recursive_c
        .map_or_else(|| "none (a group has a single value)".into(), |c| format!("{c} (at l = {})", s.distinct_l));
    vec![
        ("distinct l", format!("{} (fewest distinct values of {name} in a group)", s.distinct_l)),
        ("entropy l", format!("{} (e^H = {:.3} in the worst group)", s.entropy_l, s.entropy)),
        ("recursive c", c),
        ("alpha", format!("{} (largest share of one value in a group)", number(s.alpha))),
        ("t", format!("{} (farthest group from the whole table)", number(s.t))),
        ("beta", format!("{} (largest relative gain of a value)", number(s.beta))),
        ("delta", format!("{} (largest |ln p/q|)", number(s.delta))),
    ]
}
