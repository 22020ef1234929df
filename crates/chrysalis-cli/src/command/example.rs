use std::fs::{self, File};
use std::path::Path;
use std::process::ExitCode;

use chrysalis_example::{DISEASE_TAXONOMY, OCCUPATION_TAXONOMY, SPEC, write_csv};
use serde_json::json;

use crate::args::{Cli, ExampleArgs};
use crate::failure::{DONE, Failure};
use crate::render::{Report, count};

pub(crate) fn run(args: &ExampleArgs, cli: &Cli) -> Result<ExitCode, Failure> {
    let failed = |path: &Path| {
        let path = path.display().to_string();
        move |error: std::io::Error| {
            let hint = if error.kind() == std::io::ErrorKind::AlreadyExists {
                "choose another name"
            } else {
                "check the path and the disk"
            };
            Failure::bad_input(format!("cannot write {path}: {error}"), hint)
        }
    };
    fs::create_dir(&args.out).map_err(failed(&args.out))?;
    let patients = args.out.join("patients.csv");
    let mut file = File::create_new(&patients).map_err(failed(&patients))?;
    write_csv(&mut file, args.rows, args.seed).map_err(failed(&patients))?;
    for (name, text) in
        [("occupation.csv", OCCUPATION_TAXONOMY), ("disease.csv", DISEASE_TAXONOMY), ("chrysalis.toml", SPEC)]
    {
        let path = args.out.join(name);
        fs::write(&path, text).map_err(failed(&path))?;
    }
    let out = args.out.display().to_string();
    let title = format!("Wrote {} made-up patients to {}", count(args.rows), patients.display());
    let next = format!("Next:\n  chrysalis publish {out}/chrysalis.toml --out release");
    let report = Report {
        blocks: vec![title, next],
        json: json!({"out": out, "rows": args.rows, "seed": args.seed}),
        rows: vec![
            vec!["out".into(), "rows".into(), "seed".into()],
            vec![out.clone(), args.rows.to_string(), args.seed.to_string()],
        ],
    };
    report.print(cli.output)?;
    Ok(ExitCode::from(DONE))
}
