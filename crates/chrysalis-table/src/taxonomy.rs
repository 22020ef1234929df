//! Trees over a domain: from files in the ARX format, from interval widths, or from prefixes.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use crate::{Code, Date, Domain, Kind, TaxonomyError, Value};

/// More levels than anyone draws; keeps hostile files from exhausting the stack.
const MAX_LEVELS: usize = 64;

/// Position of a node in its [`Taxonomy`]; the root is 0.
pub type NodeId = usize;

/// The lines of a taxonomy file, checked on their own but not yet against a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaxonomyFile {
    lines: Vec<Vec<String>>,
}

impl TaxonomyFile {
    /// Reads `leaf;parent;…;root` lines. Blank lines are passed over.
    pub fn parse(text: &str) -> Result<Self, TaxonomyError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let numbered = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let lines: Vec<(usize, Vec<String>)> = numbered
            .map(|(index, line)| (index + 1, line.split(';').map(|label| label.trim().to_owned()).collect()))
            .collect();
        TaxonomyFile::check(lines)
    }

    /// A taxonomy from lines that were kept elsewhere, such as in a manifest.
    pub fn from_lines(lines: &[Vec<String>]) -> Result<Self, TaxonomyError> {
        TaxonomyFile::check((1..).zip(lines.iter().cloned()).collect())
    }

    fn check(lines: Vec<(usize, Vec<String>)>) -> Result<Self, TaxonomyError> {
        let (_, first) = lines.first().ok_or(TaxonomyError::Empty)?;
        if first.len() > MAX_LEVELS {
            return Err(TaxonomyError::TooDeep { found: first.len(), limit: MAX_LEVELS });
        }
        for (line, labels) in &lines {
            check_shape(*line, labels, first)?;
        }
        check_tree(&lines)?;
        Ok(TaxonomyFile { lines: lines.into_iter().map(|(_, labels)| labels).collect() })
    }

    /// Leaf first, root last, for every line.
    pub fn lines(&self) -> &[Vec<String>] {
        &self.lines
    }

    /// Checks that the values of a column all have a line, and keeps the part of the tree they need.
    ///
    /// A missing value needs no line: it lies directly under the root.
    pub fn bind(&self, domain: &Domain) -> Result<Taxonomy, TaxonomyError> {
        let mut line_of: BTreeMap<Value, usize> = BTreeMap::new();
        for (index, labels) in self.lines.iter().enumerate() {
            let leaf = &labels[0];
            let value = Value::parse(domain.kind(), leaf).ok_or_else(|| TaxonomyError::WrongKind {
                line: index + 1,
                leaf: leaf.clone(),
                kind: domain.kind(),
            })?;
            line_of.insert(value, index);
        }
        let root = self.lines[0].last().map_or("*", String::as_str);
        let mut paths = Vec::with_capacity(domain.len());
        for code in 0..domain.len() as Code {
            let Some(value) = domain.value(code) else {
                paths.push(vec![Step::plain(root)]);
                continue;
            };
            let index = line_of
                .get(value)
                .ok_or_else(|| TaxonomyError::MissingLeaf { value: domain.text(code).into_owned() })?;
            paths.push(self.lines[*index].iter().rev().map(|label| Step::plain(label)).collect());
        }
        let mut taxonomy = Taxonomy::build(domain, paths)?;
        if matches!(domain.kind(), Kind::Integer | Kind::Real | Kind::Date) {
            self.set_bounds(domain, &mut taxonomy);
        }
        Ok(taxonomy)
    }

    /// A label stands for all its leaves, also those that do not occur in the table.
    fn set_bounds(&self, domain: &Domain, taxonomy: &mut Taxonomy) {
        let mut bounds: BTreeMap<&str, (Value, Value)> = BTreeMap::new();
        for labels in &self.lines {
            let Some(value) = Value::parse(domain.kind(), &labels[0]) else { continue };
            for label in labels {
                let (low, high) = bounds.entry(label).or_insert_with(|| (value.clone(), value.clone()));
                *low = value.clone().min(low.clone());
                *high = value.clone().max(high.clone());
            }
        }
        for node in &mut taxonomy.nodes {
            node.bounds = bounds.get(node.label.as_str()).cloned();
        }
        taxonomy.bound_root(domain);
    }
}

fn check_shape(line: usize, labels: &[String], first: &[String]) -> Result<(), TaxonomyError> {
    if labels.len() != first.len() {
        let leaf = labels[0].clone();
        return Err(TaxonomyError::Ragged { line, leaf, found: labels.len(), expected: first.len() });
    }
    if let Some(level) = labels.iter().position(String::is_empty) {
        return Err(TaxonomyError::EmptyLabel { line, level: level + 1 });
    }
    if let Some(level) = labels.iter().position(|label| label.chars().any(char::is_control)) {
        return Err(TaxonomyError::NotText { line, level: level + 1 });
    }
    let (root, expected) = (&labels[labels.len() - 1], &first[first.len() - 1]);
    if root != expected {
        return Err(TaxonomyError::TwoRoots { line, root: root.clone(), expected: expected.clone() });
    }
    Ok(())
}

/// One parent per label, no label above itself, no value that is also a group.
fn check_tree(lines: &[(usize, Vec<String>)]) -> Result<(), TaxonomyError> {
    let mut leaf_line: BTreeMap<&str, usize> = BTreeMap::new();
    for (line, labels) in lines {
        if let Some(first) = leaf_line.insert(&labels[0], *line) {
            return Err(TaxonomyError::Duplicate { line: *line, first, leaf: labels[0].clone() });
        }
    }
    let mut parent_of: BTreeMap<&str, (&str, usize)> = BTreeMap::new();
    for (line, labels) in lines {
        for (level, label) in labels.iter().enumerate() {
            if level > 0 && *label != labels[0] && leaf_line.contains_key(label.as_str()) {
                return Err(TaxonomyError::LeafIsGroup { line: *line, label: label.clone() });
            }
            let Some(parent) = labels[level + 1..].iter().find(|above| *above != label) else { continue };
            let (other, first) = *parent_of.entry(label).or_insert((parent, *line));
            if other != parent {
                let below = ancestors(&parent_of, parent).any(|above| above == label);
                return Err(if below {
                    TaxonomyError::Cycle { line: *line, label: parent.clone(), below: label.clone() }
                } else {
                    TaxonomyError::TwoParents {
                        line: *line,
                        first,
                        label: label.clone(),
                        parent: parent.clone(),
                        other: other.to_owned(),
                    }
                });
            }
            if ancestors(&parent_of, label).any(|above| above == label) {
                return Err(TaxonomyError::Cycle { line: *line, label: parent.clone(), below: label.clone() });
            }
        }
    }
    Ok(())
}

/// Labels above a label, as far as known; stops after as many steps as there are labels, so that a cycle ends.
fn ancestors<'a>(
    parent_of: &'a BTreeMap<&'a str, (&'a str, usize)>,
    label: &str,
) -> impl Iterator<Item = &'a str> + use<'a> {
    let mut next = parent_of.get(label).map(|(parent, _)| *parent);
    std::iter::from_fn(move || {
        let current = next?;
        next = parent_of.get(current).map(|(parent, _)| *parent);
        Some(current)
    })
    .take(parent_of.len() + 1)
}

/// A group of values, from one leaf to the whole domain.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The label it is published under.
    pub label: String,
    /// The node above; `None` for the root.
    pub parent: Option<NodeId>,
    /// The nodes directly below, by rank.
    pub children: Vec<NodeId>,
    /// The ranks of the leaves below.
    pub ranks: RangeInclusive<u32>,
    /// Steps from the root.
    pub depth: usize,
    /// Steps to the deepest leaf below.
    pub height: usize,
    /// The column of the taxonomy file, counted from 0, from which on all values below are shown as this node.
    pub level: usize,
    /// For ordered kinds: the smallest and largest value the label stands for.
    pub bounds: Option<(Value, Value)>,
}

impl Node {
    /// Number of leaves below.
    pub fn n_leaves(&self) -> usize {
        (self.ranks.end() - self.ranks.start() + 1) as usize
    }
}

/// A tree over the codes of one domain. Every code reaches the root, so no algorithm ever meets a hole.
///
/// Leaves are numbered by *rank*, such that every node covers a contiguous stretch of ranks.
#[derive(Clone, Debug, PartialEq)]
pub struct Taxonomy {
    nodes: Vec<Node>,
    leaf_of_rank: Vec<NodeId>,
    code_of_rank: Vec<Code>,
    rank_of_code: Vec<u32>,
}

/// One level of a path from the root towards a leaf.
struct Step {
    label: String,
    bounds: Option<(Value, Value)>,
}

impl Step {
    fn plain(label: &str) -> Self {
        Step { label: label.to_owned(), bounds: None }
    }
}

impl Taxonomy {
    /// Fixed-width intervals over an ordered column, each width a multiple of the one before; the root covers all.
    ///
    /// Integers and dates start at multiples of the width: with 5, the value 23 lies in 20–24.
    pub fn intervals(domain: &Domain, widths: &[f64]) -> Result<Taxonomy, TaxonomyError> {
        let kind = domain.kind();
        if !matches!(kind, Kind::Integer | Kind::Real | Kind::Date) {
            return Err(TaxonomyError::NoIntervals { kind });
        }
        let mut before = if kind == Kind::Real { f64::MIN_POSITIVE } else { 1.0 };
        for &width in widths {
            let ratio = width / before;
            // Tenths are not exact in binary: 0.5 is five times 0.1 all the same.
            let nests = before == f64::MIN_POSITIVE || (ratio - ratio.round()).abs() < 1e-9;
            if !(width.is_finite() && width > before && nests) {
                let before = if before == f64::MIN_POSITIVE { 0.0 } else { before };
                return Err(TaxonomyError::Widths { width: width.to_string(), before: before.to_string() });
            }
            before = width;
        }
        let path = |value: Option<&Value>| -> Vec<Step> {
            let inner = widths.iter().rev().filter_map(|&width| value.and_then(|value| interval(value, width)));
            std::iter::once(Step::plain("*")).chain(inner).collect()
        };
        let paths = (0..domain.len() as Code).map(|code| path(domain.value(code))).collect();
        let mut taxonomy = Taxonomy::build(domain, paths)?;
        taxonomy.bound_root(domain);
        Ok(taxonomy)
    }

    /// Masks codes from the right: `14248`, `1424*`, `142**`, … `*`.
    pub fn prefixes(domain: &Domain) -> Result<Taxonomy, TaxonomyError> {
        let texts: Vec<Vec<char>> = (0..domain.len() as Code).map(|code| domain.text(code).chars().collect()).collect();
        if let Some(masked) = texts.iter().find(|text| text.contains(&'*')) {
            return Err(TaxonomyError::Masked { value: masked.iter().collect() });
        }
        let length = texts.iter().map(Vec::len).max().unwrap_or(0);
        let incomplete = texts.iter().find(|text| !text.is_empty() && text.len() != length);
        if let (Some(short), Some(full)) = (incomplete, texts.iter().find(|text| text.len() == length)) {
            return Err(TaxonomyError::PrefixLength {
                value: short.iter().collect(),
                found: short.len(),
                other: full.iter().collect(),
                expected: length,
            });
        }
        if length > MAX_LEVELS {
            return Err(TaxonomyError::TooDeep { found: length, limit: MAX_LEVELS });
        }
        let masked = |text: &[char], kept: usize| -> String {
            text[..kept].iter().copied().chain(std::iter::repeat_n('*', length - kept)).collect()
        };
        let paths = texts
            .iter()
            .map(|text| {
                let inner = (1..length).map(|kept| Step::plain(&masked(text, kept)));
                let inner: Vec<Step> = if text.is_empty() { Vec::new() } else { inner.collect() };
                std::iter::once(Step::plain("*")).chain(inner).collect()
            })
            .collect();
        Taxonomy::build(domain, paths)
    }

    /// Builds the tree from one path per code, root first, without the leaf's own step (or with it: it is merged).
    fn build(domain: &Domain, paths: Vec<Vec<Step>>) -> Result<Taxonomy, TaxonomyError> {
        let root =
            paths.first().and_then(|path| path.first()).map_or_else(|| "*".to_owned(), |step| step.label.clone());
        let mut tree = Taxonomy {
            nodes: vec![Node {
                label: root,
                parent: None,
                children: Vec::new(),
                ranks: 0..=0,
                depth: 0,
                height: 0,
                level: 0,
                bounds: None,
            }],
            leaf_of_rank: Vec::new(),
            code_of_rank: Vec::new(),
            rank_of_code: vec![0; domain.len()],
        };
        let mut child_of: BTreeMap<(NodeId, String), NodeId> = BTreeMap::new();
        let mut code_of_leaf: BTreeMap<NodeId, Code> = BTreeMap::new();
        let n_steps = |(code, path): (Code, &Vec<Step>)| {
            let names_leaf = path.len() > 1 && path.last().is_some_and(|step| step.label == domain.text(code));
            path.len() + usize::from(!names_leaf)
        };
        let top = (0..).zip(&paths).map(n_steps).max().unwrap_or(1) - 1;
        for (code, path) in (0..).zip(paths) {
            let text = domain.text(code).into_owned();
            let mut node = 0;
            let mut level = top;
            for (step, at) in path.into_iter().zip((0..=top).rev()).skip(1) {
                // A label repeated to fill levels, or the leaf itself, adds no node of its own.
                if step.label == text {
                    continue;
                }
                if step.label != tree.nodes[node].label {
                    tree.reach(node, level);
                    node = tree.child(&mut child_of, node, step);
                }
                level = at;
            }
            tree.reach(node, level);
            let bounds = domain.value(code).map(|value| (value.clone(), value.clone()));
            let leaf = tree.push(node, Step { label: text, bounds });
            code_of_leaf.insert(leaf, code);
        }
        tree.number(0, &code_of_leaf);
        if domain.kind().is_ordered() && !tree.code_of_rank.is_sorted() {
            return Err(tree.first_gap());
        }
        Ok(tree)
    }

    fn child(&mut self, child_of: &mut BTreeMap<(NodeId, String), NodeId>, parent: NodeId, step: Step) -> NodeId {
        let key = (parent, step.label.clone());
        if let Some(&node) = child_of.get(&key) {
            return node;
        }
        let node = self.push(parent, step);
        child_of.insert(key, node);
        node
    }

    /// A node is shown from the level on at which the last of its values has reached it, so that levels nest.
    fn reach(&mut self, node: NodeId, level: usize) {
        self.nodes[node].level = self.nodes[node].level.max(level);
    }

    fn push(&mut self, parent: NodeId, step: Step) -> NodeId {
        let id = self.nodes.len();
        self.nodes.push(Node {
            label: step.label,
            parent: Some(parent),
            children: Vec::new(),
            ranks: 0..=0,
            depth: self.nodes[parent].depth + 1,
            height: 0,
            level: 0,
            bounds: step.bounds,
        });
        self.nodes[parent].children.push(id);
        id
    }

    /// Numbers the leaves depth first and tells every node its stretch and height.
    fn number(&mut self, node: NodeId, code_of_leaf: &BTreeMap<NodeId, Code>) {
        let start = self.leaf_of_rank.len() as u32;
        if let Some(&code) = code_of_leaf.get(&node) {
            self.rank_of_code[code as usize] = start;
            self.leaf_of_rank.push(node);
            self.code_of_rank.push(code);
        }
        for child in self.nodes[node].children.clone() {
            self.number(child, code_of_leaf);
            self.nodes[node].height = self.nodes[node].height.max(self.nodes[child].height + 1);
        }
        self.nodes[node].ranks = start..=(self.leaf_of_rank.len() as u32).saturating_sub(1).max(start);
    }

    /// The lowest node of an ordered column whose codes are not contiguous.
    fn first_gap(&self) -> TaxonomyError {
        let gap = self.nodes.iter().filter(|node| {
            let codes = &self.code_of_rank[*node.ranks.start() as usize..=*node.ranks.end() as usize];
            let (low, high) = (codes.iter().min(), codes.iter().max());
            high.zip(low).is_some_and(|(high, low)| (high - low) as usize + 1 != codes.len())
        });
        let node = gap.max_by_key(|node| node.depth).unwrap_or(&self.nodes[0]);
        TaxonomyError::NotARange { label: node.label.clone() }
    }

    fn bound_root(&mut self, domain: &Domain) {
        self.nodes[0].bounds = domain.bounds().map(|(low, high)| (low.clone(), high.clone()));
    }

    /// All nodes; the root is first.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// One node.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id]
    }

    /// Number of leaves, which is the number of codes of the domain.
    pub fn n_leaves(&self) -> usize {
        self.leaf_of_rank.len()
    }

    /// The rank of a code.
    pub fn rank(&self, code: Code) -> u32 {
        self.rank_of_code[code as usize]
    }

    /// The code of a rank.
    pub fn code_at(&self, rank: u32) -> Code {
        self.code_of_rank[rank as usize]
    }

    /// The codes below a node.
    pub fn codes_below(&self, id: NodeId) -> impl Iterator<Item = Code> + '_ {
        self.nodes[id].ranks.clone().map(|rank| self.code_at(rank))
    }

    /// The lowest node that covers all ranks of a stretch.
    pub fn common_ancestor(&self, ranks: RangeInclusive<u32>) -> NodeId {
        let mut id = self.leaf_of_rank[*ranks.start() as usize];
        while *self.nodes[id].ranks.end() < *ranks.end() {
            // PROOF: the root covers every rank, so the walk ends there at the latest.
            id = self.nodes[id].parent.unwrap_or(0);
        }
        id
    }

    /// Number of levels, from exact values to the root: the columns of the taxonomy file.
    pub fn n_levels(&self) -> usize {
        self.nodes[0].level + 1
    }

    /// The node a code is shown as when the whole column is shown at one level: 0 for the value itself.
    ///
    /// Levels nest: codes that share a node at one level share one at every level above.
    pub fn at_level(&self, code: Code, level: usize) -> NodeId {
        let mut id = self.leaf_of_rank[self.rank(code) as usize];
        while let Some(parent) = self.nodes[id].parent.filter(|&parent| self.nodes[parent].level <= level) {
            id = parent;
        }
        id
    }

    /// Leaf-to-root label paths by code, the form a manifest keeps. A missing value has no line.
    pub fn lines(&self) -> Vec<Vec<String>> {
        let height = self.nodes[0].height;
        let path = |leaf: NodeId| {
            let mut labels = vec![self.nodes[leaf].label.clone()];
            let mut id = leaf;
            while let Some(parent) = self.nodes[id].parent {
                labels.push(self.nodes[parent].label.clone());
                id = parent;
            }
            while labels.len() < height + 1 {
                labels.insert(0, labels[0].clone());
            }
            labels
        };
        let leaves = self.rank_of_code.iter().map(|&rank| self.leaf_of_rank[rank as usize]);
        leaves.filter(|&leaf| !self.nodes[leaf].label.is_empty()).map(path).collect()
    }
}

/// `index · width`, as people write it: 17 · 0.1 is 1.7, not 1.7000000000000002.
fn multiple(index: f64, width: f64) -> f64 {
    let inverse = (1.0 / width).round();
    if inverse >= 1.0 && (inverse * width - 1.0).abs() < 1e-9 { index / inverse } else { index * width }
}

/// The interval of a width that holds a value, as a label with its bounds.
fn interval(value: &Value, width: f64) -> Option<Step> {
    let (low, high) = match value {
        Value::Integer(number) => {
            let width = width as i64;
            let low = number.checked_sub(number.rem_euclid(width))?;
            (Value::Integer(low), Value::Integer(low.saturating_add(width - 1)))
        }
        Value::Date(date) => {
            let width = width as i32;
            let low = date.0.checked_sub(date.0.rem_euclid(width))?;
            (Value::Date(Date(low)), Value::Date(Date(low.saturating_add(width - 1))))
        }
        Value::Real(number) => {
            let mut index = (number / width).floor();
            // The quotient is rounded: the interval must hold its value whatever the last bit says.
            while multiple(index, width) > *number {
                index -= 1.0;
            }
            while multiple(index + 1.0, width) < *number {
                index += 1.0;
            }
            (Value::Real(multiple(index, width)), Value::Real(multiple(index + 1.0, width)))
        }
        Value::Text(_) => return None,
    };
    Some(Step { label: format!("{low}..{high}"), bounds: Some((low, high)) })
}
