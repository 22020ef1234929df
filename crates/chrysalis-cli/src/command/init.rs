use std::path::Path;
use std::process::ExitCode;

use chrysalis_store::{Input, write_file};
use chrysalis_table::{Column, ColumnRequest, Kind, Role, Table};
use serde_json::json;

use crate::args::{Cli, InitArgs};
use crate::command::profile::{privacy_rank, suggest};
use crate::failure::{DONE, Failure};
use crate::plan::Draft;
use crate::progress::{Phases, Unit};
use crate::render::Report;

pub(crate) fn run(args: &InitArgs, cli: &Cli) -> Result<ExitCode, Failure> {
    let mut phases = Phases::new(cli.quiet);
    let draft = Draft::new(&args.file, &args.read)?;
    let input = Input::open(&draft.source, &draft.options)?;
    let names = input.header().to_vec();
    let requests: Vec<ColumnRequest> =
        names.iter().map(|name| draft.request(name, &args.read)).collect::<Result<_, _>>()?;
    let size = input.size();
    let table = phases.run("read", size, Unit::Bytes, |progress| input.read_with(&requests, progress))?;
    let text = spec_text(&args.file, &args.out, &table);
    write_file(&args.out, text.as_bytes(), args.force)?;
    let out = args.out.display().to_string();
    let report = Report {
        blocks: vec![format!(
            "Wrote {out}. Roles in it are guesses: read them, then run\n  chrysalis publish {out} --out release"
        )],
        json: json!({"out": out, "columns": names.len()}),
        rows: vec![vec!["out".into(), "columns".into()], vec![out.clone(), names.len().to_string()]],
    };
    report.print(cli.output)?;
    Ok(ExitCode::from(DONE))
}

const HEAD: &str = "\
# How to publish this table:  chrysalis publish chrysalis.toml --out release
# Everything here can also be said with flags, and flags win.
#
# Roles:  identifier  names a person, dropped
#         quasi       may be known to an attacker (age, address ...), made less exact
#         sensitive   what nobody may learn about a person; one column
#         other       kept as it is
# A column that is not named is dropped, and the summary says so.
";

const TAIL: &str = "\
[release]
method = \"generalize\"
# Several principles may be required; all hold in every group.
# k=10            at least 10 rows
# l=4             no sensitive value in more than a quarter of the rows
# distinct-l-alpha=3,1 and the like need `categories = [[\"HIV\", \"Cancer\"], [\"Flu\"]]`, most sensitive first, and
# `weights = \"uniform\"`, \"sensitivity(2)\" or one number per category in the sensitive attribute.
# distinct-l=4, entropy-l=4, recursive-l=3,4, t=0.2, beta=1, alpha-k=0.5,10, ke=4,100: see `chrysalis publish --help`
";

fn spec_text(file: &str, out: &Path, table: &Table) -> String {
    let mut text = HEAD.to_owned();
    text.push('\n');
    text.push_str(&commented(&format!("input = {}", quoted(&relative(file, out))), "relative to this file"));
    text.push_str(&commented("missing = \"as-value\"", "or \"drop\", or \"error\""));
    text.push('\n');
    // One column can be sensitive: the one that sounds most private. Other candidates are commented out.
    let roles: Vec<Role> = table.columns().iter().map(|column| suggest(column, table.rows())).collect();
    let candidates = table.columns().iter().zip(&roles).enumerate().filter(|(_, (_, role))| **role == Role::Sensitive);
    let sensitive = candidates.min_by_key(|(at, (column, _))| (privacy_rank(column), *at)).map(|(at, _)| at);
    for (at, (column, &role)) in table.columns().iter().zip(&roles).enumerate() {
        let is_second = role == Role::Sensitive && sensitive != Some(at);
        text.push_str(&attribute_text(column, role, is_second || role == Role::Other));
    }
    text.push_str(TAIL);
    text.push_str(if sensitive.is_some() { "require = [\"k=10\", \"l=2\"]\n" } else { "require = [\"k=10\"]\n" });
    text
}

/// A line with its comment, comments below each other.
fn commented(line: &str, comment: &str) -> String {
    format!("{line:34} # {comment}\n")
}

fn attribute_text(column: &Column, role: Role, is_commented_out: bool) -> String {
    let kind = column.domain().kind();
    let mut text = format!("[attributes.{}]\n", quoted_key(column.name()));
    text.push_str(&format!("role = \"{role}\"\n"));
    if role != Role::Identifier {
        text.push_str(&commented(&format!("kind = \"{kind}\""), &range_text(column)));
    }
    if role == Role::QuasiIdentifier {
        text.push_str(&match kind {
            Kind::Integer | Kind::Real | Kind::Date => {
                commented("# intervals = [5, 10, 20]", "publish in steps of these widths")
            }
            _ => commented("# taxonomy = \"values.csv\"", "lines `value;group;…;*`; or prefix = true for codes"),
        });
    }
    let mark = if is_commented_out { "# " } else { "" };
    text.lines().map(|line| format!("{mark}{line}\n")).chain(std::iter::once("\n".to_owned())).collect()
}

/// How many values, and for numbers and dates from where to where. No value of a word: a spec may travel.
fn range_text(column: &Column) -> String {
    let domain = column.domain();
    let mut text = format!("{} values", domain.values().len());
    if let (Some((low, high)), true) = (domain.bounds(), domain.kind() != Kind::Category) {
        text.push_str(&format!(", {low} to {high}"));
    }
    if domain.has_missing() {
        text.push_str(", some missing");
    }
    text
}

/// The input as seen from the spec's folder: both are given relative to where we stand.
fn relative(file: &str, out: &Path) -> String {
    let folder = out.parent().map(Path::to_owned).unwrap_or_default();
    let path = Path::new(file);
    if folder.as_os_str().is_empty() || path.is_absolute() {
        return file.to_owned();
    }
    match path.strip_prefix(&folder) {
        Ok(inside) => inside.display().to_string(),
        Err(_) => std::path::absolute(path).map_or_else(|_| file.to_owned(), |path| path.display().to_string()),
    }
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

fn quoted_key(name: &str) -> String {
    let bare = name.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-'));
    if bare { name.to_owned() } else { quoted(name) }
}
