use std::process::ExitCode;

use chrysalis::report::AuditOutcome;
use chrysalis::words::{count, counted, number, share_of};
use chrysalis::{Counted, Evidence, Knob, KnownLedger, Manifest, Recipe, Release, Table, ToAudit, Watch, files};
use chrysalis_audit::{AuditReport, Finding, PrincipleResult, WorstGroup};

use super::{audit_certificate, audit_sql, microdata, read_microdata, read_whole};
use crate::args::{AuditArgs, Cli};
use crate::failure::{AUDIT_FAILED, DONE, Failure};
use crate::progress::Phases;
use crate::render::{self, Report};

pub(crate) fn run(args: &AuditArgs, cli: &Cli) -> Result<ExitCode, Failure> {
    if let Some(dialect) = args.sql {
        return audit_sql::run(args, dialect, cli);
    }
    let phases = Phases::new(cli);
    audit_certificate::check(args)?;
    phases.phase("read", None, Counted::Rows);
    let release = ToAudit::open(&args.release, args.memory.unwrap_or_default())?;
    release.check_evidence(&[
        (Knob::Microdata, args.microdata.is_some()),
        (Knob::With, !args.others.is_empty()),
        (Knob::PopulationTable, args.population_table.is_some()),
        (Knob::WithMicrodata, !args.with_microdata.is_empty()),
        (Knob::Series, args.series.is_some()),
    ])?;
    let others: Vec<Release> =
        args.others.iter().map(|folder| read_whole(folder, args.memory, &phases)).collect::<Result<_, Failure>>()?;
    // Releases of a series have a table each.
    let manifest = release.manifest();
    let is_of_series = manifest.series.is_some();
    let same = others.iter().filter(|_| !is_of_series);
    let manifests: Vec<&Manifest> = std::iter::once(manifest).chain(same.map(|other| &other.manifest)).collect();
    let (microdata, asked, person) = match &args.microdata {
        Some(file) if file.ends_with(".toml") => {
            let (table, recipe, person) = read_asked(file, args, &manifests, &phases)?;
            (Some(table), Some(recipe), person)
        }
        Some(file) => {
            let draft = microdata(file, &args.source);
            let input = draft.open()?;
            draft.check_names(input.header(), args.sensitive.iter())?;
            (Some(files::read_microdata(input, &manifests, &draft, &phases)?), None, draft.person)
        }
        None => (None, None, None),
    };
    let population = match &args.population_table {
        Some(file) => {
            Some(files::read_population(&file.display().to_string(), &args.source.draft(), manifest, &phases)?)
        }
        None => None,
    };
    let tables = args.with_microdata.iter().zip(&others);
    let tables = tables.map(|(file, other)| read_microdata(file, &args.source, &[&other.manifest], &phases));
    let other_microdata: Vec<Table> = tables.collect::<Result<_, Failure>>()?;
    if args.with_microdata.len() > other_microdata.len() {
        return Err(files::too_many_tables(args.with_microdata.len(), others.len()).into());
    }
    let hashes: Vec<Option<String>> =
        std::iter::once(&args.release).chain(&args.others).map(|folder| files::manifest_sha256(folder)).collect();
    let ledger = args.series.as_deref().map(KnownLedger::read).transpose()?;
    let names: Vec<String> = args.others.iter().map(|folder| folder.display().to_string()).collect();
    let named: Vec<(&str, &Release)> = names.iter().map(String::as_str).zip(&others).collect();
    let with = Evidence {
        microdata: microdata.as_ref(),
        person: person.as_deref(),
        population: population.as_ref(),
        others: &named,
        other_microdata: &other_microdata,
        hashes: &hashes,
        ledger: ledger.as_ref(),
        folder: Some(&args.release),
        sensitive: &args.sensitive,
        asked: asked.as_ref(),
        replay: args.replay.map(usize::from),
    };
    let outcome = release.audit(with, &phases)?;
    phases.finish();
    if outcome.reproducible {
        phases.note("this release was made with a fixed seed: anybody who knows it can undo the randomness");
    }
    audit_certificate::write(args, manifest, &outcome, &with)?;
    report(&outcome, args.microdata.is_some(), person.is_some())?.print(cli.output)?;
    Ok(ExitCode::from(if outcome.ok() { DONE } else { AUDIT_FAILED }))
}

/// The table that a spec names, and what the spec asks for.
fn read_asked(
    file: &str,
    args: &AuditArgs,
    manifests: &[&Manifest],
    phases: &Phases,
) -> Result<(Table, Recipe, Option<String>), Failure> {
    let draft = args.source.draft().or(files::draft(file)?).read_taxonomies()?;
    let input = draft.open()?;
    draft.check_names(input.header(), args.sensitive.iter())?;
    let recipe = draft.check(input.header())?;
    let draft = draft.suited_to(manifests);
    Ok((files::read_microdata(input, manifests, &draft, phases)?, recipe, draft.person))
}

/// The width at which lines are broken.
const WIDTH: usize = 100;

fn report(outcome: &AuditOutcome, has_microdata: bool, has_person: bool) -> Result<Report, Failure> {
    let verdict = format!("{}{}{}", outcome.verdict(), disclosed(outcome), joined(outcome));
    let persons = outcome.persons.map_or_else(String::new, |it| format!(" of {}", counted(it.count, "person")));
    let title = format!(
        "{verdict}: {}{persons} in {}, {} by {}",
        counted(outcome.rows, "row"),
        counted(outcome.groups, "group"),
        outcome.method,
        outcome.partitioner
    );
    let mut blocks = vec![title];
    blocks.extend(outcome.told_untold().iter().map(|sentence| wrapped(sentence, WIDTH).join("\n")));
    blocks.extend(outcome.not_promised().map(|sentence| wrapped(&sentence, WIDTH).join("\n")));
    blocks.extend(outcome.told_prepared().map(|sentence| wrapped(&sentence, WIDTH).join("\n")));
    blocks.extend(disclosure(outcome));
    blocks.push(principles(outcome));
    blocks.extend(measured(outcome));
    blocks.push(checks(outcome));
    blocks.extend(all_attacks(outcome));
    blocks.extend(utility(outcome));
    if !has_microdata {
        let hint = "Name the source with --microdata to check also that the release is faithful to it, and how often \
                    attacks are right.";
        blocks.push(wrapped(hint, WIDTH).join("\n"));
    }
    if outcome.persons.is_some() && !has_person {
        let hint = "The promises of this release count persons. Name the column that tells them apart with --person, beside \
                    --microdata, to check that all rows of each person are in one group, and what only the microdata can \
                    show.";
        blocks.push(wrapped(hint, WIDTH).join("\n"));
    }
    Report::new(blocks, outcome, csv_rows(outcome))
}

/// The other half of the verdict: how many rows reveal their sensitive value, whatever is promised.
fn disclosed(outcome: &AuditOutcome) -> String {
    let Some(found) = &outcome.disclosure else {
        // Without a sensitive column there is nothing to disclose; without groups it cannot be determined.
        let has_groups = outcome.groups > 0;
        return if has_groups { String::new() } else { "; what it discloses cannot be determined".to_owned() };
    };
    let joint = if outcome.promises_hold() { "but" } else { "and" };
    let rows = counted(found.disclosed_rows, "row");
    let (are, share) =
        (if found.disclosed_rows == 1 { "is" } else { "are" }, share_of(found.disclosed_rows, outcome.rows));
    match found.disclosed_rows {
        0 if outcome.promises_hold() => ", and no row is disclosed".to_owned(),
        0 => String::new(),
        _ if found.is_accepted => format!(", {joint} {rows} {are} DISCLOSED ({share}), which the owner accepted"),
        _ if found.is_older => format!(", {joint} {rows} {are} DISCLOSED ({share})"),
        _ => format!(", {joint} {rows} {are} DISCLOSED ({share}), and the owner did not accept that"),
    }
}

/// What remains of a promise, which each table of the release keeps alone, when the tables are joined.
fn joined(outcome: &AuditOutcome) -> String {
    let narrowed = outcome.attacks.joining.as_ref().filter(|found| found.narrowed > 0);
    narrowed.map_or_else(String::new, |found| {
        let people =
            if found.narrowed == 1 { "1 person".to_owned() } else { format!("{} people", count(found.narrowed)) };
        format!(", but its tables, when joined, leave {people} fewer than k={} rows", found.promised)
    })
}

/// The rule by which rows were counted, and the range to which numbers are known.
fn disclosure(outcome: &AuditOutcome) -> Option<String> {
    let found = outcome.disclosure.as_ref()?;
    let (certain, disclosed) = (counted(found.certain_rows, "row"), counted(found.disclosed_rows, "row"));
    let mut text = format!("Certain from their groups: {certain}. Disclosed: {disclosed} ({}).", found.rule);
    let other: Vec<&str> = outcome.accepted.iter().map(String::as_str).collect();
    if !other.is_empty() {
        text.push_str(&format!(" Accepted by the owner: {}.", other.join(", ")));
    }
    if !found.ranges.is_empty() {
        text.push_str(&format!(" {}", found.ranges));
    }
    Some(wrapped(&text, WIDTH).join("\n"))
}

/// What attackers can do; if several columns are sensitive, with each of them, and then with all.
fn all_attacks(outcome: &AuditOutcome) -> Vec<String> {
    const TITLE: &str = "Attacks: what somebody could do with this release";
    if outcome.columns.is_empty() {
        return attacks(TITLE, &outcome.attacks.findings).into_iter().collect();
    }
    let mut blocks = Vec::new();
    for found in &outcome.columns {
        let title = format!("Attacks on `{}`: what somebody could do with this release", found.column);
        blocks.extend(attacks(&title, &found.attacks.findings));
    }
    let is_of_column = |finding: &Finding| outcome.columns.iter().any(|it| it.attacks.findings.contains(finding));
    let rest: Vec<Finding> = outcome.attacks.findings.iter().filter(|it| !is_of_column(it)).cloned().collect();
    blocks.extend(attacks(TITLE, &rest));
    blocks
}

/// What attackers can do: one paragraph for every attack that was run, then why the others were not run.
fn attacks(title: &str, findings: &[Finding]) -> Option<String> {
    let (run, not_run): (Vec<&Finding>, Vec<&Finding>) = findings.iter().partition(|finding| finding.was_run);
    let width = findings.iter().map(|finding| finding.attack.len()).max()?;
    let mut lines = vec![title.to_owned()];
    for finding in run.into_iter().chain(not_run) {
        let mut texts = wrapped(&finding.sentence, WIDTH - width - 4);
        if !finding.prevention.is_empty() {
            texts.extend(wrapped(&format!("To prevent it: {}", finding.prevention), WIDTH - width - 4));
        }
        if finding.worst_groups.iter().any(|group| group.id.is_some()) {
            texts.extend(wrapped(&worst_groups(&finding.worst_groups), WIDTH - width - 4));
        }
        let names = std::iter::once(finding.attack).chain(std::iter::repeat(""));
        lines.extend(names.zip(&texts).map(|(name, text)| format!("  {name:width$}  {text}")));
    }
    Some(lines.join("\n"))
}

/// The ids of groups, each with the attacker's confidence there, or with a single one if it is the same for all.
fn worst_groups(groups: &[WorstGroup]) -> String {
    let id = |group: &WorstGroup| group.id.map_or_else(|| "(none)".to_owned(), |id| id.to_string());
    let level = |group: &WorstGroup| format!("{:.1}{NO_BREAK}%", 100.0 * group.level);
    let is_same = groups.iter().all(|group| level(group) == level(&groups[0]));
    let one = |group: &WorstGroup| match is_same {
        true => id(group),
        false => format!("{}{NO_BREAK}({})", id(group), level(group)),
    };
    let all = groups.iter().map(one).collect::<Vec<_>>().join(", ");
    let level = if is_same { format!(", {} each", level(&groups[0])) } else { String::new() };
    format!("Worst groups: {all}{level}.")
}

fn utility(report: &AuditReport) -> Option<String> {
    let utility = report.utility.as_ref()?;
    let bound =
        utility.rce_bound.map_or_else(String::new, |bound| format!(", at least {} by pa's bound", number(bound)));
    Some(format!("Utility\n  RCE  {}{bound} (reconstruction error)", number(utility.rce)))
}

/// A space at which no line may be broken.
const NO_BREAK: char = '\u{a0}';

/// Breaks text into lines between words; a number keeps its unit.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let text = text.replace(" %", &format!("{NO_BREAK}%"));
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.iter().map(|line| line.replace(NO_BREAK, " ")).collect()
}

fn principles(report: &AuditReport) -> String {
    let rows: Vec<Vec<String>> = report
        .principles
        .iter()
        .map(|result| {
            let group = result.worst_group.map_or_else(String::new, |group| group.to_string());
            let level = if result.worst.is_finite() && result.worst_text.contains('/') {
                format!("{} ({})", number(result.worst), result.worst_text)
            } else {
                result.worst_text.clone()
            };
            vec![result.principle.clone(), told(result).to_owned(), level, group]
        })
        .collect();
    render::table(&["principle", "holds", "worst group has", "group"], &rows)
}

/// Which values counted as one, by which distance and with which weights, unless principles say so themselves.
fn measured(report: &AuditReport) -> Option<String> {
    let told = report.principles.iter().filter(|result| !result.measured.is_empty());
    let mut told: Vec<(&str, &str)> =
        told.map(|result| (result.principle.as_str(), result.measured.as_str())).collect();
    told.dedup();
    let width = told.iter().map(|(principle, _)| principle.len()).max()?;
    let mut lines = vec!["How promises were measured".to_owned()];
    for (principle, words) in told {
        let names = std::iter::once(principle).chain(std::iter::repeat(""));
        let texts = wrapped(words, WIDTH.saturating_sub(width + 4).max(40));
        lines.extend(names.zip(&texts).map(|(name, text)| format!("  {name:width$}  {text}").trim_end().to_owned()));
    }
    Some(lines.join("\n"))
}

fn checks(report: &AuditReport) -> String {
    let mut lines = vec!["Checks".to_owned()];
    let width = report.checks.iter().map(|check| check.name.len()).max().unwrap_or(0);
    for check in &report.checks {
        let summary = if check.ok || check.findings.is_empty() { check.detail.as_str() } else { "" };
        let line = format!("  {:width$}  {:6}  {summary}", check.name, if check.ok { "ok" } else { "FAILED" });
        lines.push(line.trim_end().to_owned());
        lines.extend(check.findings.iter().map(|finding| format!("  {:width$}          - {finding}", "")));
    }
    lines.join("\n")
}

fn told(result: &PrincipleResult) -> &'static str {
    match (result.holds, result.is_broken()) {
        (true, _) => "yes",
        (false, true) => "NO",
        (false, false) => "?",
    }
}

fn csv_rows(report: &AuditReport) -> Vec<Vec<String>> {
    let header = ["what", "name", "ok", "detail"].map(str::to_owned).to_vec();
    let disclosed = report.disclosure.iter().flat_map(|found| {
        let row =
            |name: &str, rows: u64| vec!["disclosure".into(), name.into(), found.ok().to_string(), rows.to_string()];
        [row("certain_rows", found.certain_rows), row("disclosed_rows", found.disclosed_rows)]
    });
    let principles = report.principles.iter().map(|result| {
        let holds = if result.untold.is_some() { String::new() } else { result.holds.to_string() };
        vec!["principle".into(), result.principle.clone(), holds, result.worst_text.clone()]
    });
    let checks = report
        .checks
        .iter()
        .map(|check| vec!["check".into(), check.name.into(), check.ok.to_string(), check.detail.clone()]);
    let attacks = report
        .attacks
        .findings
        .iter()
        .map(|finding| vec!["attack".into(), finding.attack.into(), String::new(), finding.sentence.clone()]);
    std::iter::once(header).chain(disclosed).chain(principles).chain(checks).chain(attacks).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words() {
        assert_eq!(wrapped("one two three", 8), ["one two", "three"]);
        assert_eq!(wrapped("immeasurable", 4), ["immeasurable"]);
        assert_eq!(wrapped("up to 25 % more", 8), ["up to", "25 %", "more"]);
        assert!(wrapped("", 4).is_empty());
    }
}
