use std::path::Path;
use std::process::ExitCode;

use chrysalis::store::write_file;
use chrysalis::{AtDoor, Spelling, commented_spec, files};
use serde_json::json;

use crate::args::{Cli, InitArgs};
use crate::failure::{DONE, Failure, Flags};
use crate::progress::Phases;
use crate::render::Report;

pub(crate) fn run(args: &InitArgs, cli: &Cli) -> Result<ExitCode, Failure> {
    let phases = Phases::new(cli);
    let draft = args.read.over(&args.file)?;
    let input = draft.open()?;
    let requests = files::requests(&input, &draft, &phases)?;
    let (table, _) = files::read_prepared(&draft, input, &requests, "read", &phases)?;
    phases.finish();
    let out = args.out.display().to_string();
    let publish = format!("chrysalis publish {out} --out release");
    let sentence = "Everything here can also be said with flags, and flags win.";
    let door = AtDoor { publish: &publish, sentence, manual: &Flags.manual() };
    let text = commented_spec(&relative(&args.file, &args.out), &table, &draft, &door)?;
    write_file(&args.out, text.as_bytes(), args.force)?;
    let report = Report {
        blocks: vec![format!("Wrote {out}. Roles in it are guesses: read them, then run\n  {publish}")],
        json: json!({"out": out, "columns": requests.len()}),
        rows: vec![vec!["out".into(), "columns".into()], vec![out.clone(), requests.len().to_string()]],
    };
    report.print(cli.output)?;
    Ok(ExitCode::from(DONE))
}

/// The input's path relative to the spec's folder; both are given relative to the current folder.
fn relative(file: &str, out: &Path) -> String {
    let folder = out.parent().map(Path::to_owned).unwrap_or_default();
    let path = Path::new(file);
    if folder.as_os_str().is_empty() || path.is_absolute() || file == "-" {
        return file.to_owned();
    }
    match path.strip_prefix(&folder) {
        Ok(inside) => inside.display().to_string(),
        Err(_) => std::path::absolute(path).map_or_else(|_| file.to_owned(), |path| path.display().to_string()),
    }
}
