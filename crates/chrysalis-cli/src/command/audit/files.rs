//! What else is in a release's folder.

use std::path::Path;

use chrysalis_audit::Check;
use chrysalis_release::Manifest;
use chrysalis_store::{StoreError, stray_files};

use crate::render::counted;

/// How many names are spelled out.
const LISTED: usize = 5;

/// The folder holds nothing that the manifest does not name: what lies beside the tables is published with them.
pub(super) fn check(folder: &Path, manifest: &Manifest) -> Result<Check, StoreError> {
    let strays = stray_files(folder, manifest)?;
    let fine = format!("{}, named by the manifest, and nothing else", counted(manifest.tables.len() as u64, "table"));
    let findings: Vec<String> = (!strays.is_empty()).then(|| sentence(&strays)).into_iter().collect();
    let detail = findings.first().cloned().unwrap_or(fine);
    Ok(Check { name: "files", ok: findings.is_empty(), detail, findings })
}

fn sentence(strays: &[String]) -> String {
    let names: Vec<String> = strays.iter().take(LISTED).map(|name| name.escape_debug().to_string()).collect();
    let more = if strays.len() > LISTED { ", …" } else { "" };
    let n = counted(strays.len() as u64, "file");
    format!("the folder holds {n} that the manifest does not name: {}{more}", names.join(", "))
}
