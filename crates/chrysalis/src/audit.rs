use std::path::Path;

use chrysalis_audit::Check;
use chrysalis_release::{Manifest, Release};
use chrysalis_store::stray_files;
use chrysalis_table::{ColumnRequest, Counted, Stopped, Table, Watch};

use crate::report::AuditOutcome;
use crate::words::counted;
use crate::{Error, replay};

/// What a release is held against, beyond its own tables.
#[derive(Clone, Copy, Debug, Default)]
pub struct Evidence<'a> {
    /// The table it was made from.
    pub microdata: Option<&'a Table>,
    /// Other releases of the same people, with the names by which findings call them.
    pub others: &'a [(&'a str, &'a Release)],
    /// The folder that it came in: what lies beside the tables is published with them.
    pub folder: Option<&'a Path>,
    /// With the microdata: in how many trials members of a group exchange their values before the table is published again, to
    /// see whether the group still comes out (the attack `replay`). Where nobody says, small tables are tried and others are not.
    pub replay: Option<usize>,
}

/// Recomputes from the published tables alone everything that a release promises, checks what it is held against, and attacks it.
///
/// It shares no deciding code with [`publish`](crate::publish).
pub fn audit(release: &Release, with: Evidence<'_>, watch: &dyn Watch) -> Result<AuditOutcome, Error> {
    Stopped::catch(|| {
        watch.phase("audit", None, Counted::Rows);
        let mut report = chrysalis_audit::audit(release, with.microdata, watch)?;
        let (replay, finding) = replay::attack(&release.manifest, with.microdata, with.replay, watch);
        report.attacks.replay = replay;
        report.attacks.findings.push(finding);
        if let Some(folder) = with.folder {
            report.checks.push(files(folder, &release.manifest)?);
        }
        // Each of the others alone, and where there are several also all together.
        let together = (with.others.len() > 1).then_some(with.others);
        for others in with.others.chunks(1).chain(together) {
            let (check, intersection) = chrysalis_audit::intersect_all(release, others, with.microdata, watch)?;
            report.checks.push(check);
            report.attacks.findings.push(intersection.finding());
            report.attacks.intersection.push(intersection);
        }
        let manifest = &release.manifest;
        let (method, partitioner, reproducible) =
            (manifest.method, manifest.partitioner.clone(), manifest.reproducible);
        let accepted = manifest.accepted.iter().map(ToString::to_string).collect();
        Ok(AuditOutcome { report, method, partitioner, reproducible, accepted })
    })?
}

/// How the microdata are to be read so that some releases can be held against them: the attributes these have, of their kinds.
pub fn microdata_requests(manifests: &[&Manifest]) -> Vec<ColumnRequest> {
    let mut wanted: Vec<ColumnRequest> = Vec::new();
    for attribute in manifests.iter().flat_map(|manifest| &manifest.attributes) {
        if wanted.iter().all(|known| known.name != attribute.name) {
            let (kind, order) = (Some(attribute.kind.into()), attribute.domain.order());
            wanted.push(ColumnRequest { name: attribute.name.clone(), kind, order });
        }
    }
    wanted
}

/// How many names are spelled out.
const LISTED: usize = 5;

/// LEAK: what lies beside the tables is published with them, so the folder must hold nothing that the manifest does not name.
fn files(folder: &Path, manifest: &Manifest) -> Result<Check, Error> {
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
