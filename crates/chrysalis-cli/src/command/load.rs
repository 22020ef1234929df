use std::process::ExitCode;

use chrysalis::words::count;
use chrysalis::{Counted, Watch};
use chrysalis_load::{LoadSummary, Target, load};
use serde_json::json;

use super::{read_whole, stoppable};
use crate::args::{Cli, LoadArgs};
use crate::failure::{DONE, Failure};
use crate::progress::Phases;
use crate::render::{self, Report};

pub(crate) fn run(args: &LoadArgs, cli: &Cli) -> Result<ExitCode, Failure> {
    let password = std::env::var("PGPASSWORD").ok();
    let target = Target::parse(&args.address, args.schema.as_deref(), password.as_deref())?;
    let phases = Phases::new(cli);
    let release = read_whole(&args.release, args.memory, &phases)?;
    let watch: &dyn Watch = &phases;
    watch.phase("load", Some(release.tables.iter().map(|table| table.rows() as u64).sum()), Counted::Rows);
    let loaded = stoppable(|| Ok(load(&release, &target, &|n| watch.tell(n))?))?;
    phases.finish();
    report(&loaded, &target, &phases).print(cli.output)?;
    Ok(ExitCode::from(DONE))
}

fn report(loaded: &LoadSummary, target: &Target, phases: &Phases) -> Report {
    let shown: Vec<Vec<String>> = loaded.tables.iter().map(|(name, rows)| vec![name.clone(), count(*rows)]).collect();
    let tables: Vec<serde_json::Value> =
        loaded.tables.iter().map(|(name, rows)| json!({"name": name, "rows": rows})).collect();
    let plain = loaded.tables.iter().map(|(name, rows)| vec![name.clone(), rows.to_string()]);
    Report {
        blocks: vec![format!("Loaded into {target}"), render::table(&["table", "rows"], &shown)],
        json: json!({"target": target.to_string(), "tables": tables, "seconds": phases.seconds()}),
        rows: std::iter::once(vec!["table".into(), "rows".into()]).chain(plain).collect(),
    }
}
