use std::fs::{self, File};
use std::process::ExitCode;

use chrysalis::store::write_folder;
use chrysalis::words::count;
use chrysalis_example::{DISEASE_TAXONOMY, OCCUPATION_TAXONOMY, SPEC, write_csv, write_month, write_visits};
use serde_json::json;

use crate::args::{Cli, ExampleArgs};
use crate::failure::{DONE, Failure};
use crate::render::Report;

pub(crate) fn run(args: &ExampleArgs, cli: &Cli) -> Result<ExitCode, Failure> {
    if args.out.exists() {
        return Err(Failure::bad_input(format!("{} exists already", args.out.display()), "choose another name"));
    }
    let mut visits = 0;
    write_folder(&args.out, |folder| {
        let mut patients = File::create_new(folder.join("patients.csv"))?;
        write_csv(&mut patients, args.rows, args.seed)?;
        visits = write_visits(&mut File::create_new(folder.join("visits.csv"))?, args.rows, args.seed)?;
        for month in 0..args.months.unwrap_or(0) {
            let mut file = File::create_new(folder.join(format!("month-{}.csv", month + 1)))?;
            write_month(&mut file, args.rows, args.seed, month)?;
        }
        fs::write(folder.join("occupation.csv"), OCCUPATION_TAXONOMY)?;
        fs::write(folder.join("disease.csv"), DISEASE_TAXONOMY)?;
        fs::write(folder.join("chrysalis.toml"), SPEC)
    })?;
    let out = args.out.display().to_string();
    let path = |name| args.out.join(name).display().to_string();
    let months = match args.months {
        None => String::new(),
        Some(1) => format!(", and those of one month to {}", path("month-1.csv")),
        Some(n) => format!(", and those of {n} months to {} and so on", path("month-1.csv")),
    };
    let title = format!(
        "Wrote {} made-up patients to {}, and their {} visits to {}{months}",
        count(args.rows),
        path("patients.csv"),
        count(visits),
        path("visits.csv")
    );
    let next = format!("Next:\n  chrysalis publish {out}/chrysalis.toml --out release");
    let report = Report {
        blocks: vec![title, next],
        json: json!({"out": out, "rows": args.rows, "visits": visits, "seed": args.seed}),
        rows: vec![
            vec!["out".into(), "rows".into(), "visits".into(), "seed".into()],
            vec![out.clone(), args.rows.to_string(), visits.to_string(), args.seed.to_string()],
        ],
    };
    report.print(cli.output)?;
    Ok(ExitCode::from(DONE))
}
