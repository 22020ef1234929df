//! `audit --certificate`: the page about a release that travels with it.

use std::fs;
use std::path::Path;

use chrysalis::certificate::Certificate;
use chrysalis::report::AuditOutcome;
use chrysalis::store::write_file;
use chrysalis::{Evidence, Manifest};
use chrysalis_lab::certificate;

use super::place;
use crate::args::AuditArgs;
use crate::failure::Failure;

/// Reports a place where the certificate cannot be written, before the audit begins.
pub(super) fn check(args: &AuditArgs) -> Result<(), Failure> {
    let Some(path) = &args.certificate else { return Ok(()) };
    place::check_page(path, "certificate", "for example --certificate certificate.html")?;
    place::check_free(path, "certificate", args.force)?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if let (Ok(folder), Ok(release)) = (fs::canonicalize(folder), fs::canonicalize(&args.release))
        && folder.starts_with(&release)
    {
        let message = "a certificate inside the release would be published with it, and the next audit would fail";
        return Err(Failure::bad_input(message, "write it beside the release"));
    }
    Ok(())
}

/// Writes the certificate, if one was asked for: whole or not at all.
pub(super) fn write(
    args: &AuditArgs,
    manifest: &Manifest,
    outcome: &AuditOutcome,
    with: &Evidence<'_>,
) -> Result<(), Failure> {
    let Some(path) = &args.certificate else { return Ok(()) };
    let folder = fs::canonicalize(&args.release).unwrap_or_else(|_| args.release.clone());
    let name =
        folder.file_name().map_or_else(|| folder.display().to_string(), |name| name.to_string_lossy().into_owned());
    let page = certificate::page(&Certificate::of_manifest(name, manifest, outcome, with)?);
    Ok(write_file(path, page.as_bytes(), args.force)?)
}
