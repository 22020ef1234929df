use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

use chrysalis_store::Input;
use chrysalis_table::{Column, Coverage, Kind, TaxonomyFile, propose};
use serde_json::json;

use crate::args::{Cli, TaxonomyArgs};
use crate::failure::{AUDIT_FAILED, DONE, Failure};
use crate::plan::Draft;
use crate::progress::{Phases, Unit};
use crate::render::{self, Report, count, counted};
use crate::spec::load_taxonomy;

pub(crate) fn run(args: &TaxonomyArgs, cli: &Cli) -> Result<ExitCode, Failure> {
    let mut phases = Phases::new(cli.quiet);
    let files: Vec<(&Path, TaxonomyFile)> =
        args.files.iter().map(|path| Ok((path.as_path(), load_taxonomy(path)?))).collect::<Result<_, Failure>>()?;
    let column = match (&args.data, &args.column) {
        (Some(data), Some(column)) => Some(read_column(args, data, column, &mut phases)?),
        _ => None,
    };
    match &column {
        Some((column, kind)) if args.propose => {
            print_proposal(column, *kind, cli, &phases)?;
            Ok(ExitCode::from(DONE))
        }
        _ => {
            let is_fine = print_checks(&files, column.as_ref().map(|(column, _)| column), cli)?;
            Ok(ExitCode::from(if is_fine { DONE } else { AUDIT_FAILED }))
        }
    }
}

/// The column as `publish` would read it beside a taxonomy, and the kind that was asked for.
fn read_column(
    args: &TaxonomyArgs,
    data: &str,
    name: &str,
    phases: &mut Phases,
) -> Result<(Column, Option<Kind>), Failure> {
    let draft = Draft::new(data, &args.read)?;
    let input = Input::open(&draft.source, &draft.options)?;
    let settings = args.read.kinds.iter().map(|(name, _)| name).chain(args.read.orders.iter().map(|(name, _)| name));
    draft.check_names(input.header(), std::iter::once(&name.to_owned()).chain(settings))?;
    let mut request = draft.request(name, &args.read)?;
    let kind = request.kind;
    request.kind = if args.propose { Some(Kind::Category) } else { kind.or(Some(Kind::Category)) };
    if args.propose {
        request.order.clear();
    }
    let size = input.size();
    let table = phases.run("read", size, Unit::Bytes, |progress| input.read_with(&[request], progress))?;
    let table_error = |error| chrysalis_store::StoreError::Table { path: draft.source.name(), error };
    let (table, _) = table.with_missing(draft.missing).map_err(table_error)?;
    let column = table.column(name).cloned();
    let column = column.ok_or_else(|| Failure::internal(format!("column `{name}` was not read")))?;
    if column.domain().values().is_empty() {
        let message = format!("column `{name}` of {} has no value", draft.source.name());
        return Err(Failure::bad_input(message, "name another column"));
    }
    Ok((column, kind))
}

/// The lines of a taxonomy file, and nothing else: they are meant to become one.
fn print_proposal(column: &Column, kind: Option<Kind>, cli: &Cli, phases: &Phases) -> Result<(), Failure> {
    let failed = |error: chrysalis_table::TaxonomyError| {
        Failure::bad_input(format!("no taxonomy for column `{}`: {error}", column.name()), error.hint())
    };
    let (file, grouping) = propose(column, kind).map_err(failed)?;
    // What is proposed must be accepted.
    file.bind(column.domain()).map_err(failed)?;
    let n_levels = file.lines().first().map_or(0, Vec::len);
    let values = counted(file.lines().len() as u64, "value");
    phases.note(&format!("{values} of `{}` in {n_levels} levels, by {}", column.name(), grouping.name()));
    let levels = (0..n_levels).map(|level| format!("level_{level}")).collect();
    let report = Report {
        blocks: vec![file.lines().iter().map(|line| line.join(";")).collect::<Vec<_>>().join("\n")],
        json: json!({"column": column.name(), "grouping": grouping.name(), "lines": file.lines()}),
        rows: std::iter::once(levels).chain(file.lines().iter().cloned()).collect(),
    };
    report.print(cli.output)
}

/// Whether every file fits.
fn print_checks(files: &[(&Path, TaxonomyFile)], column: Option<&Column>, cli: &Cli) -> Result<bool, Failure> {
    let mut blocks = Vec::new();
    let mut json = Vec::new();
    let mut rows = vec![["file", "depth", "label", "parent", "values", "rows"].map(str::to_owned).to_vec()];
    let mut is_fine = true;
    for (path, file) in files {
        let name = path.display().to_string();
        let failed =
            |error: chrysalis_table::TaxonomyError| Failure::bad_input(format!("{name}: {error}"), error.hint());
        let coverage = column.map(|column| Coverage::new(file, column)).transpose().map_err(failed)?;
        let problem = column.zip(coverage.as_ref()).and_then(|(column, coverage)| problem(file, column, coverage));
        let verdict = match (&problem, column) {
            (Some(problem), Some(column)) => format!("does NOT fit column `{}`: {problem}", column.name()),
            (None, Some(column)) => format!("fits column `{}`", column.name()),
            (_, None) => "is sound".to_owned(),
        };
        let tree = Tree::new(file, coverage.as_ref());
        let facts = render::facts(&facts(file, column, coverage.as_ref()));
        blocks.extend([format!("{name} {verdict}\n{facts}"), tree.drawn()]);
        json.push(to_json(&name, file, (coverage.as_ref(), problem.as_ref()), &tree));
        rows.extend(tree.rows(&name));
        is_fine &= problem.is_none();
    }
    Report { blocks, json: json!({"ok": is_fine, "taxonomies": json}), rows }.print(cli.output)?;
    Ok(is_fine)
}

/// Why a taxonomy could not be used for a column.
fn problem(file: &TaxonomyFile, column: &Column, coverage: &Coverage) -> Option<String> {
    let n = coverage.without_line.len() as u64;
    if n > 0 {
        return Some(format!("{} {} no line", counted(n, "value"), if n == 1 { "has" } else { "have" }));
    }
    file.bind(column.domain()).err().map(|error| error.to_string())
}

/// How many names are spelled out.
const LISTED: usize = 10;

fn listed<'a>(names: impl Iterator<Item = &'a str> + Clone) -> String {
    let n = names.clone().count();
    let mut text = names.take(LISTED).collect::<Vec<_>>().join(", ");
    if n > LISTED {
        text.push_str(&format!(" and {} more", n - LISTED));
    }
    if n == 0 { "none".into() } else { format!("{} ({text})", count(n as u64)) }
}

fn facts(file: &TaxonomyFile, column: Option<&Column>, coverage: Option<&Coverage>) -> Vec<(&'static str, String)> {
    let labels = labels_per_level(file).iter().map(ToString::to_string).collect::<Vec<_>>().join(" / ");
    let mut facts = vec![
        ("values", count(file.lines().len() as u64)),
        ("labels per level", format!("{labels}, from values to the root")),
    ];
    if let (Some(column), Some(coverage)) = (column, coverage) {
        let missing = match coverage.missing {
            0 => String::new(),
            rows => format!(", {} without a value (no line needed)", counted(rows, "row")),
        };
        let rows = column.codes().len() as u64;
        facts.push(("column", format!("{}: {}{missing}", column.name(), counted(rows, "row"))));
        facts.push(("without a line", listed(coverage.without_line.iter().map(|(value, _)| value.as_str()))));
        facts.push(("never occur", listed(coverage.unused().map(|line| file.lines()[line][0].as_str()))));
    }
    facts
}

fn labels_per_level(file: &TaxonomyFile) -> Vec<usize> {
    let n_levels = file.lines().first().map_or(0, Vec::len);
    let labels = |level: usize| file.lines().iter().map(|line| &line[level]).collect::<std::collections::BTreeSet<_>>();
    (0..n_levels).map(|level| labels(level).len()).collect()
}

fn to_json(
    name: &str,
    file: &TaxonomyFile,
    (coverage, problem): (Option<&Coverage>, Option<&String>),
    tree: &Tree,
) -> serde_json::Value {
    let mut json = json!({
        "file": name,
        "ok": problem.is_none(),
        "problem": problem,
        "values": file.lines().len(),
        "labels_per_level": labels_per_level(file),
        "tree": tree.json(0),
    });
    if let (Some(coverage), Some(members)) = (coverage, json.as_object_mut()) {
        let without: Vec<_> =
            coverage.without_line.iter().map(|(value, rows)| json!({"value": value, "rows": rows})).collect();
        let unused: Vec<&String> = coverage.unused().map(|line| &file.lines()[line][0]).collect();
        members.insert("without_line".into(), json!(without));
        members.insert("never_occur".into(), json!(unused));
        members.insert("missing_rows".into(), json!(coverage.missing));
    }
    json
}

/// The labels of a file as a tree, with what lies under each.
struct Tree {
    nodes: Vec<Node>,
}

struct Node {
    label: String,
    parent: Option<usize>,
    children: Vec<usize>,
    /// Steps from the root.
    depth: usize,
    values: u64,
    /// Rows of the column; `None` without one.
    rows: Option<u64>,
}

impl Tree {
    fn new(file: &TaxonomyFile, coverage: Option<&Coverage>) -> Tree {
        let mut tree = Tree { nodes: Vec::new() };
        let mut known: BTreeMap<&str, usize> = BTreeMap::new();
        for (line, labels) in file.lines().iter().enumerate() {
            let rows = coverage.map(|coverage| coverage.rows[line]);
            let mut above: Option<usize> = None;
            for label in labels.iter().rev() {
                // A label that is repeated to fill levels is one node.
                if above.is_some_and(|above| tree.nodes[above].label == *label) {
                    continue;
                }
                let id = *known.entry(label).or_insert_with(|| tree.push(label, above, coverage.is_some()));
                tree.nodes[id].values += 1;
                tree.nodes[id].rows = tree.nodes[id].rows.zip(rows).map(|(sum, rows)| sum + rows);
                above = Some(id);
            }
        }
        tree
    }

    fn push(&mut self, label: &str, parent: Option<usize>, with_rows: bool) -> usize {
        let id = self.nodes.len();
        let depth = parent.map_or(0, |parent| self.nodes[parent].depth + 1);
        if let Some(parent) = parent {
            self.nodes[parent].children.push(id);
        }
        let rows = with_rows.then_some(0);
        self.nodes.push(Node { label: label.to_owned(), parent, children: Vec::new(), depth, values: 0, rows });
        id
    }

    fn drawn(&self) -> String {
        let mut lines = Vec::new();
        self.draw(0, &mut lines);
        lines.join("\n")
    }

    /// A node and all below; of many leaves beside each other only the first few.
    fn draw(&self, id: usize, lines: &mut Vec<String>) {
        let node = &self.nodes[id];
        let rows = node.rows.map(|rows| counted(rows, "row"));
        let values = (!node.children.is_empty()).then(|| counted(node.values, "value"));
        let counts: Vec<String> = values.into_iter().chain(rows).collect();
        let counts = if counts.is_empty() { String::new() } else { format!("  ({})", counts.join(", ")) };
        let indent = 2 * (node.depth + 1);
        lines.push(format!("{:indent$}{}{counts}", "", node.label));
        let is_leaf = |child: &&usize| self.nodes[**child].children.is_empty();
        let n_leaves = node.children.iter().filter(is_leaf).count();
        let mut shown = 0;
        for child in &node.children {
            shown += usize::from(is_leaf(&child));
            if !is_leaf(&child) || shown <= LISTED {
                self.draw(*child, lines);
            }
        }
        if n_leaves > LISTED {
            lines.push(format!("{:indent$}  … and {} more", "", n_leaves - LISTED));
        }
    }

    fn json(&self, id: usize) -> serde_json::Value {
        let node = &self.nodes[id];
        let children: Vec<_> = node.children.iter().map(|&child| self.json(child)).collect();
        let mut json = json!({"label": node.label, "values": node.values});
        if let Some(members) = json.as_object_mut() {
            members.extend(node.rows.map(|rows| ("rows".to_owned(), json!(rows))));
            members.extend((!children.is_empty()).then(|| ("children".to_owned(), json!(children))));
        }
        json
    }

    fn rows(&self, file: &str) -> impl Iterator<Item = Vec<String>> {
        self.nodes.iter().map(move |node| {
            let parent = node.parent.map_or_else(String::new, |parent| self.nodes[parent].label.clone());
            let rows = node.rows.map_or_else(String::new, |rows| rows.to_string());
            vec![file.to_owned(), node.depth.to_string(), node.label.clone(), parent, node.values.to_string(), rows]
        })
    }
}
