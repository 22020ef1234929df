//! Taxonomies compared with a column: whether they fit, and what is under every label.

use std::collections::{BTreeMap, BTreeSet};

use chrysalis_table::{Column, Coverage, TaxonomyFile};
use serde::{Serialize, Serializer};
use serde_json::json;

use crate::Error;
use crate::words::counted;

/// What was found about one taxonomy.
pub struct TaxonomyReport {
    /// Where it comes from.
    pub file: String,
    /// Why it cannot be used for the column; `None` if it fits, or if there is no column.
    pub problem: Option<String>,
    /// How many values it has.
    pub values: u64,
    /// Labels per level, from values to the root.
    pub labels_per_level: Vec<usize>,
    /// The labels.
    pub tree: Tree,
    /// How it relates to the column.
    pub coverage: Option<CoverageReport>,
}

/// A taxonomy compared with a column.
pub struct CoverageReport {
    /// The column.
    pub column: String,
    /// Its rows.
    pub rows: u64,
    /// Values without a line, and how many rows have each.
    pub without_line: Vec<(String, u64)>,
    /// Lines whose value never occurs.
    pub never_occur: Vec<String>,
    /// Rows without a value.
    pub missing_rows: u64,
}

impl TaxonomyReport {
    /// Examines a taxonomy, together with a column if there is one.
    pub fn new(file: &str, taxonomy: &TaxonomyFile, column: Option<&Column>) -> Result<Self, Error> {
        let coverage = column.map(|column| Coverage::new(taxonomy, column)).transpose();
        let coverage = coverage.map_err(|error| Error::from(error).about(file))?;
        let both = column.zip(coverage.as_ref());
        Ok(TaxonomyReport {
            file: file.to_owned(),
            problem: both.and_then(|(column, coverage)| problem(taxonomy, column, coverage)),
            values: taxonomy.n_lines() as u64,
            labels_per_level: labels_per_level(taxonomy),
            tree: Tree::new(taxonomy, coverage.as_ref()),
            coverage: both.map(|(column, coverage)| CoverageReport {
                column: column.name().to_owned(),
                rows: column.codes().len() as u64,
                without_line: coverage.without_line.clone(),
                never_occur: coverage.unused().map(|line| taxonomy.label(line, 0).to_owned()).collect(),
                missing_rows: coverage.missing,
            }),
        })
    }
}

impl Serialize for TaxonomyReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut report = json!({
            "file": self.file,
            "ok": self.problem.is_none(),
            "problem": self.problem,
            "values": self.values,
            "labels_per_level": self.labels_per_level,
            "tree": self.tree.json(0),
        });
        if let (Some(coverage), Some(members)) = (&self.coverage, report.as_object_mut()) {
            let without = coverage.without_line.iter().map(|(value, rows)| json!({"value": value, "rows": rows}));
            members.insert("without_line".into(), without.collect());
            members.insert("never_occur".into(), json!(coverage.never_occur));
            members.insert("missing_rows".into(), json!(coverage.missing_rows));
        }
        report.serialize(serializer)
    }
}

/// Why a taxonomy cannot be used for a column.
fn problem(file: &TaxonomyFile, column: &Column, coverage: &Coverage) -> Option<String> {
    let n = coverage.without_line.len() as u64;
    if n > 0 {
        return Some(format!("{} {} no line", counted(n, "value"), if n == 1 { "has" } else { "have" }));
    }
    file.bind(column.domain()).err().map(|error| error.to_string())
}

fn labels_per_level(file: &TaxonomyFile) -> Vec<usize> {
    let labels = |level| (0..file.n_lines()).map(|line| file.label(line, level)).collect::<BTreeSet<_>>();
    (0..file.n_levels()).map(|level| labels(level).len()).collect()
}

/// The labels of a file as a tree, with the values and rows under each.
pub struct Tree {
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

/// How many sibling leaves are spelled out.
const LISTED: usize = 10;

impl Tree {
    fn new(file: &TaxonomyFile, coverage: Option<&Coverage>) -> Tree {
        let mut tree = Tree { nodes: Vec::new() };
        let mut known: BTreeMap<&str, usize> = BTreeMap::new();
        for line in 0..file.n_lines() {
            let rows = coverage.map(|coverage| coverage.rows[line]);
            let mut above: Option<usize> = None;
            for label in file.line(line).rev() {
                // A label that is repeated to fill levels becomes a single node.
                if above.is_some_and(|above| tree.nodes[above].label == label) {
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

    /// The tree, indented, for people.
    pub fn drawn(&self) -> String {
        let mut lines = Vec::new();
        self.draw(0, &mut lines);
        lines.join("\n")
    }

    /// A node and everything below it; of many sibling leaves only the first few.
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

    /// A line per label, for spreadsheets: file, depth, label, parent, values and rows.
    pub fn rows(&self, file: &str) -> impl Iterator<Item = Vec<String>> {
        self.nodes.iter().map(move |node| {
            let parent = node.parent.map_or_else(String::new, |parent| self.nodes[parent].label.clone());
            let rows = node.rows.map_or_else(String::new, |rows| rows.to_string());
            vec![file.to_owned(), node.depth.to_string(), node.label.clone(), parent, node.values.to_string(), rows]
        })
    }
}
