use std::process::ExitCode;

use chrysalis_audit::{AuditReport, Intersection, IntersectionOver, Pooling, PresenceOver, SimilarityOf};
use chrysalis_release::{Manifest, Release};
use chrysalis_store::{Input, Source, read_release};
use chrysalis_table::{ColumnRequest, CsvOptions, Table};
use serde_json::json;

use crate::args::{AuditArgs, Cli};
use crate::failure::{AUDIT_FAILED, DONE, Failure};
use crate::progress::{Phases, Unit};
use crate::render::{self, Report, counted, number};

pub(crate) fn run(args: &AuditArgs, cli: &Cli) -> Result<ExitCode, Failure> {
    let mut phases = Phases::new(cli.quiet);
    let release = phases.run("read", None, Unit::Rows, |_| read_release(&args.release))?;
    let others: Vec<Release> =
        args.others.iter().map(|folder| read_release(folder)).collect::<Result<_, chrysalis_store::StoreError>>()?;
    let manifests: Vec<&Manifest> = std::iter::once(&release).chain(&others).map(|release| &release.manifest).collect();
    let microdata = match &args.microdata {
        Some(file) => Some(read_microdata(file, args.delimiter, &manifests, &mut phases)?),
        None => None,
    };
    let mut report = phases.run("audit", None, Unit::Rows, |_| chrysalis_audit::audit(&release, microdata.as_ref()))?;
    for (folder, other) in args.others.iter().zip(&others) {
        let name = folder.display().to_string();
        let (check, intersection) = chrysalis_audit::intersect(&release, other, &name, microdata.as_ref())?;
        report.checks.push(check);
        report.attacks.intersection.push(intersection);
    }
    if release.manifest.reproducible {
        phases.note("this release was made with a fixed seed: whoever knows it can undo the randomness");
    }
    render_report(&report, &release.manifest, args).print(cli.output)?;
    Ok(ExitCode::from(if report.ok() { DONE } else { AUDIT_FAILED }))
}

/// The published attributes of some releases, with the kinds they were made with.
pub(crate) fn read_microdata(
    file: &str,
    delimiter: Option<u8>,
    manifests: &[&Manifest],
    phases: &mut Phases,
) -> Result<Table, Failure> {
    let options = CsvOptions { delimiter, ..CsvOptions::default() };
    let input = Input::open(&Source::from_arg(file), &options)?;
    let mut wanted: Vec<ColumnRequest> = Vec::new();
    for attribute in manifests.iter().flat_map(|manifest| &manifest.attributes) {
        if wanted.iter().all(|known| known.name != attribute.name) {
            let (kind, order) = (Some(attribute.kind.into()), attribute.domain.order());
            wanted.push(ColumnRequest { name: attribute.name.clone(), kind, order });
        }
    }
    let size = input.size();
    Ok(phases.run("microdata", size, Unit::Bytes, |progress| input.read_with(&wanted, progress))?)
}

fn render_report(report: &AuditReport, manifest: &Manifest, args: &AuditArgs) -> Report {
    let verdict = match report.ok() {
        true if report.principles.is_empty() => "Nothing is promised",
        true => "Every promise holds",
        false => "The audit FAILED",
    };
    let title = format!(
        "{verdict}: {} in {}, {} by {}",
        counted(report.rows, "row"),
        counted(report.groups, "group"),
        manifest.method,
        manifest.partitioner
    );
    let mut blocks = vec![title, principles(report), checks(report)];
    blocks.extend(attacks(report));
    if args.microdata.is_none() {
        blocks.push("Name the source with --microdata to check that the release is faithful to it as well.".into());
    }
    Report { blocks, json: to_json(report), rows: csv_rows(report) }
}

fn attacks(report: &AuditReport) -> Option<String> {
    let mut lines = Vec::new();
    if let Some(linking) = &report.attacks.linking {
        lines.push((
            "linking",
            format!(
                "an attacker who finds a person's group guesses the sensitive value right in at most {} of cases",
                percent(linking.confidence)
            ),
        ));
        let rows = counted(linking.rows, "row");
        lines.push(("", format!("({} in the worst group; {rows} open to a guess this good)", linking.confidence_text)));
    }
    if let Some(presence) = &report.attacks.presence {
        let text = match presence.over {
            PresenceOver::ExactValues => "quasi values are exact: whoever is in the data can be found in it".to_owned(),
            PresenceOver::Conceivable => {
                format!(
                    "that a person is in the data is at most {} likely ({})",
                    number(presence.delta),
                    presence.delta_text
                )
            }
            PresenceOver::People => format!(
                "that a person of the microdata is in the data is at most {} likely ({})",
                number(presence.delta),
                presence.delta_text
            ),
        };
        lines.push(("presence", text));
    }
    if let Some(similarity) = &report.attacks.similarity {
        let rows = counted(similarity.rows, "row");
        let groups = counted(similarity.groups, "group");
        lines.push(("similar", format!("{rows} in {groups} with values of one category only")));
        for of in similarity.by_category.iter().filter(|of| of.groups > 0) {
            lines.push(("", format!("({} in {{{}}})", counted(of.rows, "row"), of.values.join(", "))));
        }
    }
    for pooled in &report.attacks.pooling {
        let (classes, who) = (counted(pooled.classes, "class"), pooled.attributes.join(", "));
        let below = match (pooled.promised, pooled.rows_below) {
            (_, 0) => String::new(),
            (promised, rows) => format!("; {} in classes of fewer than {promised}", counted(rows, "row")),
        };
        let smallest = counted(pooled.smallest, "row");
        lines.push(("pooling", format!("who knows {who} sees {classes}, the smallest of {smallest}{below}")));
    }
    if let Some(utility) = &report.utility {
        let bound =
            utility.rce_bound.map_or_else(String::new, |bound| format!(", at least {} by pa's bound", number(bound)));
        lines.push(("RCE", format!("{}{bound} (reconstruction error)", number(utility.rce))));
    }
    let line = |(name, text): &(&str, String)| format!("  {name:8}  {text}");
    (!lines.is_empty())
        .then(|| format!("Attacks and utility\n{}", lines.iter().map(line).collect::<Vec<_>>().join("\n")))
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
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
            vec![result.principle.clone(), yes(result.holds), level, group]
        })
        .collect();
    render::table(&["principle", "holds", "worst group has", "group"], &rows)
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

fn yes(holds: bool) -> String {
    if holds { "yes" } else { "NO" }.to_owned()
}

fn to_json(report: &AuditReport) -> serde_json::Value {
    // JSON has no infinity: a level that no parameter would meet is null.
    let level = |worst: f64| if worst.is_finite() { json!(worst) } else { serde_json::Value::Null };
    let principles: Vec<_> = report
        .principles
        .iter()
        .map(|result| {
            json!({
                "principle": result.principle,
                "holds": result.holds,
                "worst": level(result.worst),
                "worst_exact": result.worst_text,
                "group": result.worst_group,
            })
        })
        .collect();
    let checks: Vec<_> = report
        .checks
        .iter()
        .map(|check| json!({"name": check.name, "ok": check.ok, "detail": check.detail, "findings": check.findings}))
        .collect();
    let linking = report.attacks.linking.as_ref().map(|linking| {
        json!({
            "confidence": linking.confidence,
            "confidence_exact": linking.confidence_text,
            "group": linking.group,
            "rows": linking.rows,
        })
    });
    let presence = report.attacks.presence.as_ref().map(|presence| {
        let over = match presence.over {
            PresenceOver::ExactValues => "exact values",
            PresenceOver::Conceivable => "conceivable rows",
            PresenceOver::People => "people of the microdata",
        };
        json!({"delta": presence.delta, "delta_exact": presence.delta_text, "group": presence.group, "over": over})
    });
    let similarity = report.attacks.similarity.as_ref().map(|similarity| {
        let of = |of: &SimilarityOf| json!({"values": of.values, "rows": of.rows, "groups": of.groups});
        let by_category: Vec<_> = similarity.by_category.iter().map(of).collect();
        json!({"rows": similarity.rows, "groups": similarity.groups, "by_category": by_category})
    });
    let joined = |found: &Intersection| {
        let over = match found.over {
            IntersectionOver::People => "people of the microdata",
            IntersectionOver::Conceivable => "conceivable people",
        };
        json!({
            "with": found.with,
            "promised": found.promised,
            "fewest": found.fewest,
            "narrowed": found.narrowed,
            "people": found.people,
            "over": over,
        })
    };
    let mut attacks = json!({"linking": linking, "presence": presence, "similarity": similarity});
    if let (false, Some(members)) = (report.attacks.intersection.is_empty(), attacks.as_object_mut()) {
        let intersection: Vec<_> = report.attacks.intersection.iter().map(joined).collect();
        members.insert("intersection".into(), json!(intersection));
    }
    if let (false, Some(members)) = (report.attacks.pooling.is_empty(), attacks.as_object_mut()) {
        members.insert("pooling".into(), json!(report.attacks.pooling.iter().map(pooled).collect::<Vec<_>>()));
    }
    let utility = report.utility.as_ref().map(|utility| json!({"rce": utility.rce, "rce_bound": utility.rce_bound}));
    json!({
        "ok": report.ok(),
        "rows": report.rows,
        "groups": report.groups,
        "principles": principles,
        "checks": checks,
        "attacks": attacks,
        "utility": utility,
    })
}

fn pooled(found: &Pooling) -> serde_json::Value {
    json!({
        "attributes": found.attributes,
        "classes": found.classes,
        "smallest": found.smallest,
        "promised": found.promised,
        "rows_below": found.rows_below,
        "confidence": found.confidence,
    })
}

fn csv_rows(report: &AuditReport) -> Vec<Vec<String>> {
    let header = ["what", "name", "ok", "detail"].map(str::to_owned).to_vec();
    let principles = report.principles.iter().map(|result| {
        vec!["principle".into(), result.principle.clone(), result.holds.to_string(), result.worst_text.clone()]
    });
    let checks = report
        .checks
        .iter()
        .map(|check| vec!["check".into(), check.name.into(), check.ok.to_string(), check.detail.clone()]);
    std::iter::once(header).chain(principles).chain(checks).collect()
}
