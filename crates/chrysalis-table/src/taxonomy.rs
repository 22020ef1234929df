//! Trees over a domain: from the lines of a file, from interval widths, or from prefixes.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use crate::{CalendarUnit, Code, Date, DateTime, Domain, Kind, TaxonomyError, Value};

/// More levels than anyone draws; keeps hostile files from exhausting the stack.
pub(crate) const MAX_LEVELS: usize = 64;

/// Position of a node in its [`Taxonomy`]; the root is 0.
pub type NodeId = usize;

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
    /// The first column of the taxonomy file, counted from 0, in which all values below have reached this node.
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
/// Leaves are numbered by *rank*, so that every node covers a contiguous stretch of ranks.
#[derive(Clone, Debug, PartialEq)]
pub struct Taxonomy {
    nodes: Vec<Node>,
    leaf_of_rank: Vec<NodeId>,
    code_of_rank: Vec<Code>,
    rank_of_code: Vec<u32>,
}

/// One level of a path from the root towards a leaf.
pub(crate) struct Step<'a> {
    label: Cow<'a, str>,
    bounds: Option<(Value, Value)>,
}

impl<'a> Step<'a> {
    pub(crate) fn plain(label: impl Into<Cow<'a, str>>) -> Self {
        Step { label: label.into(), bounds: None }
    }
}

impl Taxonomy {
    /// Fixed-width intervals over an ordered column, each width a multiple of the one before; the root covers all.
    ///
    /// Intervals of integers, dates (in days) and datetimes (in seconds) start at multiples of the width: with 5, the
    /// value 23 lies in 20–24.
    pub fn intervals(domain: &Domain, widths: &[f64]) -> Result<Taxonomy, TaxonomyError> {
        let kind = domain.kind();
        if !kind.has_distances() {
            return Err(TaxonomyError::NoIntervals { kind });
        }
        // How many of the smallest steps a width of 1 has: a datetime's are microseconds.
        let steps = if kind == Kind::DateTime { DateTime::SECOND as f64 } else { 1.0 };
        let mut before = if kind == Kind::Real { f64::MIN_POSITIVE } else { 1.0 / steps };
        for &width in widths {
            let ratio = (width * steps) / (before * steps);
            // Tenths are not exact in binary, but 0.5 still counts as five times 0.1.
            let nests = before == f64::MIN_POSITIVE || (ratio - ratio.round()).abs() < 1e-9;
            if !(width.is_finite() && width > before && nests) {
                let before = if before == f64::MIN_POSITIVE { 0.0 } else { before };
                return Err(TaxonomyError::Widths { width: width.to_string(), before: before.to_string() });
            }
            before = width;
        }
        let path = |code: Code| {
            let value = domain.value(code);
            let inner = widths.iter().rev().filter_map(move |&width| value.and_then(|value| interval(value, width)));
            std::iter::once(Step::plain("*")).chain(inner).collect()
        };
        let mut taxonomy = Taxonomy::build(domain, path)?;
        taxonomy.bound_root(domain);
        Ok(taxonomy)
    }

    /// Intervals of calendar units over dates or datetimes, each unit within the one after it; the root covers all.
    pub fn calendar(domain: &Domain, units: &[CalendarUnit]) -> Result<Taxonomy, TaxonomyError> {
        let kind = domain.kind();
        if !matches!(kind, Kind::Date | Kind::DateTime) {
            return Err(TaxonomyError::NoCalendar { kind });
        }
        if let Some(&unit) = units.iter().find(|unit| unit.is_one_value(kind)) {
            return Err(TaxonomyError::OneDay { unit });
        }
        if let Some(pair) = units.windows(2).find(|pair| !pair[0].nests_in(pair[1])) {
            return Err(TaxonomyError::Units { unit: pair[1], before: pair[0] });
        }
        let path = |code: Code| {
            let value = domain.value(code);
            let step = move |unit: &CalendarUnit| {
                let (label, low, high) = unit.around(value?)?;
                Some(Step { label: label.into(), bounds: Some((low, high)) })
            };
            std::iter::once(Step::plain("*")).chain(units.iter().rev().filter_map(step)).collect()
        };
        let mut taxonomy = Taxonomy::build(domain, path)?;
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
        let path = |code: Code| {
            let text = &texts[code as usize];
            let inner = if text.is_empty() { 1..1 } else { 1..length };
            std::iter::once(Step::plain("*")).chain(inner.map(|kept| Step::plain(masked(text, kept)))).collect()
        };
        Taxonomy::build(domain, path)
    }

    /// Builds the tree from one path per code, root first; a path may end with a step for the leaf itself. Every path
    /// is asked for twice and never kept: together they take several times as much memory as the tree.
    pub(crate) fn build<'a>(domain: &Domain, path: impl Fn(Code) -> Vec<Step<'a>>) -> Result<Taxonomy, TaxonomyError> {
        let codes = || 0..domain.len() as Code;
        let (mut root, mut top) = ("*".to_owned(), 0);
        for code in codes() {
            let path = path(code);
            if let Some(first) = path.first().filter(|_| code == 0) {
                root = first.label.clone().into_owned();
            }
            let names_leaf = path.len() > 1 && path.last().is_some_and(|step| step.label == domain.text(code));
            top = top.max(path.len() + usize::from(!names_leaf) - 1);
        }
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
        let mut code_of_leaf: Vec<(NodeId, Code)> = Vec::with_capacity(domain.len());
        for code in codes() {
            let text = domain.text(code).into_owned();
            let mut node = 0;
            let mut level = top;
            for (step, at) in path(code).into_iter().zip((0..=top).rev()).skip(1) {
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
            // Words have no order, so they cannot be bounds.
            let bounds = domain.value(code).filter(|_| domain.kind().is_ordered());
            let bounds = bounds.map(|value| (value.clone(), value.clone()));
            let leaf = tree.push(node, Step { label: text.into(), bounds });
            code_of_leaf.push((leaf, code));
        }
        tree.number(0, &code_of_leaf);
        if domain.kind().is_ordered() && !tree.code_of_rank.is_sorted() {
            return Err(tree.first_gap());
        }
        Ok(tree)
    }

    fn child(&mut self, child_of: &mut BTreeMap<(NodeId, String), NodeId>, parent: NodeId, step: Step<'_>) -> NodeId {
        let key = (parent, step.label.clone().into_owned());
        if let Some(&node) = child_of.get(&key) {
            return node;
        }
        let node = self.push(parent, step);
        child_of.insert(key, node);
        node
    }

    /// A node is shown from the level at which the last of its values has reached it, so that levels nest.
    fn reach(&mut self, node: NodeId, level: usize) {
        self.nodes[node].level = self.nodes[node].level.max(level);
    }

    fn push(&mut self, parent: NodeId, step: Step<'_>) -> NodeId {
        let id = self.nodes.len();
        self.nodes.push(Node {
            label: step.label.into_owned(),
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

    /// Numbers the leaves depth first and sets every node's ranks and height. `code_of_leaf` is sorted by node.
    fn number(&mut self, node: NodeId, code_of_leaf: &[(NodeId, Code)]) {
        let start = self.leaf_of_rank.len() as u32;
        if let Ok(at) = code_of_leaf.binary_search_by_key(&node, |(leaf, _)| *leaf) {
            let code = code_of_leaf[at].1;
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

    /// The error for an ordered column that names the lowest node whose codes are not contiguous.
    fn first_gap(&self) -> TaxonomyError {
        let gap = self.nodes.iter().filter(|node| {
            let codes = &self.code_of_rank[*node.ranks.start() as usize..=*node.ranks.end() as usize];
            let (low, high) = (codes.iter().min(), codes.iter().max());
            high.zip(low).is_some_and(|(high, low)| (high - low) as usize + 1 != codes.len())
        });
        let node = gap.max_by_key(|node| node.depth).unwrap_or(&self.nodes[0]);
        TaxonomyError::NotARange { label: node.label.clone() }
    }

    /// Sets the bounds of inner nodes to what their labels stand for, including values that do not occur.
    pub(crate) fn set_bounds(&mut self, domain: &Domain, bounds_of: impl Fn(&str) -> Option<(Value, Value)>) {
        for node in self.nodes.iter_mut().filter(|node| !node.children.is_empty()) {
            node.bounds = bounds_of(&node.label);
        }
        self.bound_root(domain);
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

    /// The node a code is shown as when the whole column is shown at `level`; level 0 is the value itself.
    ///
    /// Levels nest: codes that share a node at one level share one at every level above.
    pub fn at_level(&self, code: Code, level: usize) -> NodeId {
        let mut id = self.leaf_of_rank[self.rank(code) as usize];
        while let Some(parent) = self.nodes[id].parent.filter(|&parent| self.nodes[parent].level <= level) {
            id = parent;
        }
        id
    }

    /// Leaf-to-root label paths by code, as a manifest keeps them. A missing value has no line.
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

/// The interval of the given width that holds a value, as a label with its bounds.
fn interval(value: &Value, width: f64) -> Option<Step<'static>> {
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
        Value::DateTime(moment) => {
            // Widths are in seconds. Moments without a text are left out of an interval.
            let width = (width * DateTime::SECOND as f64).round() as i64;
            let low = moment.0.checked_sub(moment.0.rem_euclid(width))?;
            let high = DateTime(low.saturating_add(width - 1)).min(DateTime::LAST);
            (Value::DateTime(DateTime(low).max(DateTime::FIRST)), Value::DateTime(high))
        }
        Value::Real(number) => {
            let mut index = (number / width).floor();
            // The quotient is rounded, but the interval must hold its value.
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
    Some(Step { label: format!("{low}..{high}").into(), bounds: Some((low, high)) })
}
