mod files;
mod json;
mod show;

use std::process::ExitCode;

use chrysalis_release::{Manifest, Release};
use chrysalis_store::{Input, Source, read_release};
use chrysalis_table::{ColumnRequest, CsvOptions, Table};

use crate::args::{AuditArgs, Cli};
use crate::failure::{AUDIT_FAILED, DONE, Failure};
use crate::progress::{Phases, Unit};

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
    report.checks.push(files::check(&args.release, &release.manifest)?);
    let names: Vec<String> = args.others.iter().map(|folder| folder.display().to_string()).collect();
    let named: Vec<(&str, &Release)> = names.iter().map(String::as_str).zip(&others).collect();
    // Each of the others alone, and where there are several also all together.
    let together = (named.len() > 1).then_some(named.as_slice());
    for others in named.chunks(1).chain(together) {
        let (check, intersection) = chrysalis_audit::intersect_all(&release, others, microdata.as_ref())?;
        report.checks.push(check);
        report.attacks.findings.push(intersection.finding());
        report.attacks.intersection.push(intersection);
    }
    if release.manifest.reproducible {
        phases.note("this release was made with a fixed seed: whoever knows it can undo the randomness");
    }
    show::report(&report, &release.manifest, args.microdata.is_some()).print(cli.output)?;
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
