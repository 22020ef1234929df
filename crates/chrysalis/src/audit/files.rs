//! Checks of everything in a release's folder, down to the last byte.

use std::path::Path;

use chrysalis_audit::Check;
use chrysalis_release::{Manifest, Release};
use chrysalis_store::{FilesReport, look_at_files, stray_files};
use chrysalis_table::Progress;

use crate::Error;
use crate::words::counted;

/// How many names are spelled out.
const LISTED: usize = 5;

/// LEAK: files beside the tables are published with them, so the folder must contain nothing that the manifest does not
/// name. Whatever a file contains beside its table is published as well, so its bytes must follow from the table.
pub(super) fn check(folder: &Path, release: &Release, progress: Progress<'_>) -> Result<Check, Error> {
    seen(folder, &release.manifest, look_at_files(folder, release, progress)?)
}

/// The same, once all files were looked at.
pub(super) fn seen(folder: &Path, manifest: &Manifest, seen: FilesReport) -> Result<Check, Error> {
    let strays = stray_files(folder, manifest)?;
    let tables = counted(manifest.tables.len() as u64, "table");
    let fine = format!("{tables}, named by the manifest, and nothing else; {}", told(&seen, manifest));
    let stray = (!strays.is_empty()).then(|| sentence(&strays));
    let findings: Vec<String> = stray.into_iter().chain(seen.findings).collect();
    let detail = if findings.is_empty() { fine } else { findings.join("; ") };
    Ok(Check { name: "files", ok: findings.is_empty(), detail, findings })
}

/// The check's text if the files are in order.
fn told(seen: &FilesReport, manifest: &Manifest) -> String {
    if seen.looked_at == 0 {
        return "canonical: every table has the bytes that the writer would write".to_owned();
    }
    let why = match (manifest.version, manifest.encoding) {
        (1, _) => "version 1 names no encoding".to_owned(),
        (_, 0) => "the manifest names no encoding".to_owned(),
        (_, number) => format!("this program does not write the encoding {number}"),
    };
    let csv = match seen.written_again {
        0 => "",
        _ => "; CSV files have the bytes that the writer would write",
    };
    format!(
        "the bytes of Parquet files were NOT compared, because {why}: looked for metadata, statistics, indexes, \
         filters, idle dictionary entries and bytes that belong to nothing, and found none; how rows are cut into \
         pages, and the order of dictionaries, could still reveal something{csv}"
    )
}

fn sentence(strays: &[String]) -> String {
    let names: Vec<String> = strays.iter().take(LISTED).map(|name| name.escape_debug().to_string()).collect();
    let more = if strays.len() > LISTED { ", …" } else { "" };
    let n = counted(strays.len() as u64, "file");
    format!("the folder holds {n} that the manifest does not name: {}{more}", names.join(", "))
}
