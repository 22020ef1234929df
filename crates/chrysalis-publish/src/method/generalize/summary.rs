//! What the rows of a group have in common, attribute by attribute.

use std::sync::Arc;

use chrysalis_criteria::loss::{range_ncp, set_ncp};
use chrysalis_release::{max_column, min_column, set_label};
use chrysalis_table::{Code, Codes, Column, DictionaryChunk, Domain, Kind, Node, Taxonomy, Value, Watch};
use foldhash::fast::FixedState;
use hashbrown::HashMap;

use rayon::prelude::*;

use crate::partitioner::KeptColumn;
use crate::{Microdata, Partition, ShownLevel};

/// One attribute, summarized for every group of a partition.
pub(in crate::method) struct Summary {
    name: String,
    /// One row per group: the range's ends, or the label.
    columns: Vec<Column>,
    /// Every label with the values behind it; none for ordered kinds.
    members: Vec<(String, Vec<String>)>,
    /// The penalty of one row, per group.
    ncp: Vec<f64>,
    /// How many values a row of the group may have, given what is shown.
    points: Vec<f64>,
}

/// The names of the columns in which an attribute is published.
pub(in crate::method) fn column_names(column: &Column) -> Vec<String> {
    let name = column.name();
    if column.domain().kind().is_ordered() { vec![min_column(name), max_column(name)] } else { vec![name.to_owned()] }
}

impl Summary {
    /// Summarizes every quasi attribute.
    pub(in crate::method) fn all(data: &Microdata, partition: &Partition, watch: &dyn Watch) -> Vec<Summary> {
        Summary::some(data, &(0..data.quasi().len()).collect::<Vec<_>>(), partition, watch)
    }

    /// Summarizes some of the quasi attributes, by index.
    pub(in crate::method) fn some(
        data: &Microdata,
        places: &[usize],
        partition: &Partition,
        watch: &dyn Watch,
    ) -> Vec<Summary> {
        let quasi: Vec<_> = data.quasi().collect();
        let summary = |&at: &usize| {
            watch.pause();
            let kept = partition.kept().and_then(|kept| kept.column(quasi[at].0.name()));
            let shown = Shown { levels: LevelOfGroup::new(partition, at), kept };
            Summary::of(quasi[at].0, quasi[at].1, partition, shown, watch)
        };
        places.par_iter().map(summary).collect()
    }

    fn of(
        column: &Column,
        taxonomy: Option<&Taxonomy>,
        partition: &Partition,
        shown: Shown<'_>,
        watch: &dyn Watch,
    ) -> Self {
        let kind = column.domain().kind();
        match (taxonomy, shown.kept) {
            (Some(tree), _) => of_nodes(column, tree, partition, shown, watch),
            (None, Some(kept)) if kind.has_distances() => of_kept_ranges(column, partition, kept, watch),
            (None, _) if kind.is_ordered() => of_ranges(column, partition, shown, watch),
            (None, _) => of_sets(column, partition, shown, watch),
        }
    }

    pub(in crate::method) fn name(&self) -> &str {
        &self.name
    }

    pub(in crate::method) fn columns(&self) -> &[Column] {
        &self.columns
    }

    pub(in crate::method) fn members(&self) -> &[(String, Vec<String>)] {
        &self.members
    }

    /// For every group, how many values a row may have: whole numbers or days in a range, otherwise values of the
    /// domain.
    pub(in crate::method) fn points(&self) -> &[f64] {
        &self.points
    }

    /// The penalty summed over all rows of the partition.
    pub(in crate::method) fn ncp(&self, partition: &Partition) -> f64 {
        self.ncp.iter().zip(partition.sizes()).map(|(ncp, size)| ncp * size as f64).sum()
    }
}

/// What groups show of an attribute beyond what their rows need.
#[derive(Clone, Copy)]
struct Shown<'a> {
    /// Where a partitioner chose levels.
    levels: Option<LevelOfGroup>,
    /// Where groups keep labels of an earlier release.
    kept: Option<KeptColumn<'a>>,
}

/// At which level each group shows an attribute, where a partitioner chose levels.
#[derive(Clone, Copy)]
struct LevelOfGroup {
    shown: ShownLevel,
    suppressed: Option<usize>,
}

impl LevelOfGroup {
    fn new(partition: &Partition, attribute: usize) -> Option<Self> {
        let recoding = partition.recoding()?;
        Some(LevelOfGroup { shown: *recoding.levels.get(attribute)?, suppressed: recoding.suppressed })
    }

    fn of(self, group: usize) -> usize {
        if self.suppressed == Some(group) { self.shown.top } else { self.shown.level }
    }

    /// For an attribute without a taxonomy: whether the group shows the whole domain.
    fn is_everything(levels: Option<Self>, group: usize) -> bool {
        levels.is_some_and(|levels| levels.of(group) > 0)
    }
}

/// The smallest and largest rank in every group.
fn extremes(column: &Column, partition: &Partition, rank: impl Fn(Code) -> u32, watch: &dyn Watch) -> Vec<(u32, u32)> {
    let codes = column.codes();
    let extreme = |(at, group): (usize, &[u32])| {
        watch.pause_at(at);
        group.iter().fold((u32::MAX, 0), |(low, high): (u32, u32), &row| {
            let rank = rank(codes.get(row as usize));
            (low.min(rank), high.max(rank))
        })
    };
    partition.groups().enumerate().map(extreme).collect()
}

fn of_ranges(column: &Column, partition: &Partition, shown: Shown<'_>, watch: &dyn Watch) -> Summary {
    let domain = column.domain();
    let mut ends = extremes(column, partition, |code| code, watch);
    for (group, ends) in ends.iter_mut().enumerate() {
        if LevelOfGroup::is_everything(shown.levels, group) {
            *ends = (0, domain.len().saturating_sub(1) as u32);
        }
        *ends = widened(*ends, shown.kept, group, domain, |code| code);
    }
    let end_column = |name: String, codes: Vec<u32>| {
        let all: Vec<u32> = (0..codes.len() as u32).collect();
        watch.pause();
        // Values that are no group's end leave the domain.
        Column::new(name, Arc::clone(domain), Codes::collect(domain.len(), codes.into_iter())).gather(&all)
    };
    Summary {
        name: column.name().to_owned(),
        columns: vec![
            end_column(min_column(column.name()), ends.iter().map(|(low, _)| *low).collect()),
            end_column(max_column(column.name()), ends.iter().map(|(_, high)| *high).collect()),
        ],
        members: Vec::new(),
        ncp: ends.iter().map(|&(low, high)| range_ncp(domain, low, high)).collect(),
        points: ends.iter().map(|&(low, high)| range_points(domain, low, high)).collect(),
    }
}

/// The ranks that rows span, and with them those of the labels that their group keeps.
fn widened(
    (low, high): (u32, u32),
    kept: Option<KeptColumn<'_>>,
    group: usize,
    domain: &Domain,
    rank: impl Fn(Code) -> u32,
) -> (u32, u32) {
    let codes = kept.map_or_else(Vec::new, |kept| kept.codes(group, domain));
    codes.into_iter().map(rank).fold((low, high), |(low, high), rank| (low.min(rank), high.max(rank)))
}

/// Ranges that groups keep, whose ends need not occur.
fn of_kept_ranges(column: &Column, partition: &Partition, kept: KeptColumn<'_>, watch: &dyn Watch) -> Summary {
    let domain = column.domain();
    let value = |code: Code| domain.value(code).cloned();
    let own = extremes(column, partition, |code| code, watch).into_iter().enumerate();
    let (low, high): (Vec<Option<Value>>, Vec<Option<Value>>) =
        own.map(|(group, (low, high))| kept.ends(group, domain, (value(low), value(high)))).unzip();
    let ends = || low.iter().zip(&high);
    let ncp = ends().map(|(low, high)| ends_ncp(domain, low.as_ref(), high.as_ref())).collect();
    let points = ends().map(|(low, high)| ends_points(domain, low.as_ref(), high.as_ref())).collect();
    let name = column.name().to_owned();
    let columns = vec![value_column(min_column(&name), domain, low), value_column(max_column(&name), domain, high)];
    Summary { name, columns, members: Vec::new(), ncp, points }
}

/// The penalty of a row that shows these ends: what lies beyond the column's own values is nobody's.
fn ends_ncp(domain: &Domain, low: Option<&Value>, high: Option<&Value>) -> f64 {
    let number = |value: Option<&Value>| value.and_then(Value::number);
    let whole = domain.bounds().and_then(|(first, last)| first.number().zip(last.number()));
    match (number(low).zip(number(high)), whole) {
        _ if low == high => 0.0,
        (Some((low, high)), Some((first, last))) if last > first => {
            ((high.min(last) - low.max(first)) / (last - first)).clamp(0.0, 1.0)
        }
        _ => 1.0,
    }
}

/// The number of values between two ends, as [`range_points`] counts them.
fn ends_points(domain: &Domain, low: Option<&Value>, high: Option<&Value>) -> f64 {
    let Some(high) = high else { return 1.0 };
    let first = low.or_else(|| domain.bounds().map(|(first, _)| first));
    let points = match (first.and_then(Value::whole), high.whole()) {
        (Some(low), Some(high)) => high as f64 - low as f64 + 1.0,
        _ => domain.values().iter().filter(|value| first <= Some(*value) && *value <= high).count() as f64,
    };
    points + f64::from(u8::from(low.is_none()))
}

/// The number of values between two codes: all whole numbers, days or microseconds, for other kinds those that occur. A
/// missing value counts as one more.
fn range_points(domain: &Domain, low: Code, high: Code) -> f64 {
    let lowest = Code::from(domain.has_missing());
    if high < lowest {
        return 1.0;
    }
    let missing = f64::from(u8::from(low < lowest));
    let low = low.max(lowest);
    let whole = |code: Code| domain.value(code).and_then(Value::whole);
    let points = match (whole(low), whole(high)) {
        (Some(low), Some(high)) => high as f64 - low as f64 + 1.0,
        _ => f64::from(high - low) + 1.0,
    };
    points + missing
}

/// The number of values that a node stands for.
fn node_points(domain: &Domain, tree: &Taxonomy, node: &Node) -> f64 {
    let ends = node.bounds.as_ref().and_then(|(low, high)| low.whole().zip(high.whole()));
    let has_missing = domain.has_missing() && node.ranks.contains(&tree.rank(0));
    match ends {
        Some((low, high)) => high as f64 - low as f64 + 1.0 + f64::from(u8::from(has_missing)),
        None => node.n_leaves() as f64,
    }
}

/// The penalty of a row that shows a node.
pub(crate) fn node_ncp(domain: &Domain, tree: &Taxonomy, node: &Node) -> f64 {
    if node.n_leaves() == 1 && node.children.is_empty() {
        return 0.0;
    }
    if !domain.kind().is_ordered() {
        return set_ncp(node.n_leaves(), tree.n_leaves());
    }
    if domain.kind() == Kind::Ordinal {
        // PROOF: over an ordered column ranks follow codes.
        return range_ncp(domain, tree.code_at(*node.ranks.start()), tree.code_at(*node.ranks.end()));
    }
    let has_missing = domain.has_missing() && node.ranks.contains(&tree.rank(0));
    let ends = node.bounds.as_ref().and_then(|(low, high)| low.number().zip(high.number()));
    let whole = domain.bounds().and_then(|(low, high)| low.number().zip(high.number()));
    match (ends, whole) {
        (Some((low, high)), Some((first, last))) if !has_missing && last > first => {
            ((high - low) / (last - first)).min(1.0)
        }
        _ => 1.0,
    }
}

fn of_nodes(column: &Column, tree: &Taxonomy, partition: &Partition, shown: Shown<'_>, watch: &dyn Watch) -> Summary {
    let domain = column.domain();
    let ends = extremes(column, partition, |code| tree.rank(code), watch);
    let node = |(group, &ends): (usize, &(u32, u32))| match (shown.levels, shown.kept) {
        // All rows of a group have the same node at its level, even if they share a narrower one.
        (Some(levels), _) => tree.at_level(tree.code_at(ends.0), levels.of(group)),
        (None, Some(kept)) => kept_node(domain, tree, ends, kept, group),
        (None, None) => tree.common_ancestor(ends.0..=ends.1),
    };
    let nodes: Vec<usize> = ends.iter().enumerate().map(node).collect();
    let ncp_of: Vec<f64> = tree.nodes().iter().map(|node| node_ncp(domain, tree, node)).collect();
    let ncp = nodes.iter().map(|&id| ncp_of[id]).collect();
    let points = nodes.iter().map(|&id| node_points(domain, tree, tree.node(id))).collect();
    let name = column.name().to_owned();
    if domain.kind().is_ordered() {
        let end = |pick: fn(&(Value, Value)) -> &Value, id: usize, last: bool| node_end(domain, tree, id, pick, last);
        let low: Vec<Option<Value>> = nodes.iter().map(|&id| end(|(low, _)| low, id, false)).collect();
        let high: Vec<Option<Value>> = nodes.iter().map(|&id| end(|(_, high)| high, id, true)).collect();
        let columns = vec![value_column(min_column(&name), domain, low), value_column(max_column(&name), domain, high)];
        return Summary { name, columns, members: Vec::new(), ncp, points };
    }
    let columns = vec![Column::texts(&name, nodes.iter().map(|&id| tree.node(id).label.as_str()))];
    let mut used = nodes;
    used.sort_unstable();
    used.dedup();
    let texts = |id: usize| tree.codes_below(id).map(|code| domain.text(code).into_owned()).collect();
    let members = used.into_iter().map(|id| (tree.node(id).label.clone(), texts(id))).collect();
    Summary { name, columns, members, ncp, points }
}

/// The ends of the range that a row with this value shows, where its column is shown at a level.
pub(crate) fn shown_ends(
    domain: &Domain,
    taxonomy: Option<&Taxonomy>,
    code: Code,
    level: usize,
) -> (Option<Value>, Option<Value>) {
    let value = |code: Code| domain.value(code).cloned();
    match taxonomy {
        Some(tree) => node_ends(domain, tree, tree.at_level(code, level)),
        None if level == 0 => (value(code), value(code)),
        None => (value(0), value(domain.len().saturating_sub(1) as Code)),
    }
}

/// The ends of the range that a node is shown as.
pub(crate) fn node_ends(domain: &Domain, tree: &Taxonomy, id: usize) -> (Option<Value>, Option<Value>) {
    (node_end(domain, tree, id, |(low, _)| low, false), node_end(domain, tree, id, |(_, high)| high, true))
}

/// The narrowest node that covers rows and the labels that their group keeps: that with the label's own name or ends, if
/// there is one.
fn kept_node(domain: &Domain, tree: &Taxonomy, ends: (u32, u32), kept: KeptColumn<'_>, group: usize) -> usize {
    let (low, high) = widened(ends, Some(kept), group, domain, |code| tree.rank(code));
    let narrowest = tree.common_ancestor(low..=high);
    if kept.is_nothing(group) {
        return narrowest;
    }
    let name = kept.name(group);
    let value = |rank: u32| domain.value(tree.code_at(rank)).cloned();
    let (low, high) = kept.ends(group, domain, (value(low), value(high)));
    // What lies beyond the column's own values is nobody's.
    let whole = node_ends(domain, tree, 0);
    let wanted = (low.max(whole.0), high.min(whole.1));
    let covers = |&id: &usize| match domain.kind().has_distances() {
        true => {
            let (first, last) = node_ends(domain, tree, id);
            first <= wanted.0 && wanted.1 <= last
        }
        false => name.is_none_or(|name| tree.node(id).label == name),
    };
    std::iter::successors(Some(narrowest), |&id| tree.node(id).parent).find(covers).unwrap_or(narrowest)
}

/// One end of the range a node stands for. A node that covers the missing value reaches down to it.
fn node_end(
    domain: &Domain,
    tree: &Taxonomy,
    id: usize,
    pick: fn(&(Value, Value)) -> &Value,
    is_high: bool,
) -> Option<Value> {
    let node = tree.node(id);
    let covers_missing = domain.has_missing() && node.ranks.contains(&tree.rank(0));
    if covers_missing && (!is_high || node.n_leaves() == 1) {
        return None;
    }
    let by_leaves = || {
        let mut codes = tree.codes_below(id);
        let code = if is_high { codes.max() } else { codes.next() };
        code.and_then(|code| domain.value(code).cloned())
    };
    node.bounds.as_ref().map(|bounds| pick(bounds).clone()).or_else(by_leaves)
}

/// A column of values that need not all be in the attribute's domain (the ends of an interval may not occur).
fn value_column(name: String, domain: &Domain, values: Vec<Option<Value>>) -> Column {
    let codes: Vec<u32> = (0..values.len() as u32).collect();
    let chunk = DictionaryChunk { codes: Codes::collect(values.len(), 0..values.len() as u32), to_dictionary: codes };
    let order =
        |value: &Option<Value>| value.as_ref().map_or(0, |value| domain.code_of(Some(value)).unwrap_or(0) as usize);
    let order: Vec<usize> =
        if domain.kind() == Kind::Ordinal { values.iter().map(order).collect() } else { Vec::new() };
    Column::from_dictionary(name, domain.kind(), values, &order, vec![chunk])
}

fn of_sets(column: &Column, partition: &Partition, shown: Shown<'_>, watch: &dyn Watch) -> Summary {
    let (domain, codes) = (column.domain(), column.codes());
    let everything: Vec<Code> = (0..domain.len() as Code).collect();
    // A set may have a name of its own.
    let mut sets: Vec<(Vec<Code>, Option<&str>)> = Vec::new();
    let mut index: HashMap<(Vec<Code>, Option<&str>), u32, FixedState> = HashMap::default();
    let mut set_of_group = Vec::with_capacity(partition.n_groups());
    let mut occurs = vec![false; domain.len()];
    let mut set = Vec::new();
    for (at, group) in partition.groups().enumerate() {
        watch.pause_at(at);
        set.clear();
        let is_everything = LevelOfGroup::is_everything(shown.levels, at);
        set.extend(everything.iter().filter(|_| is_everything));
        let kept = shown.kept.map_or_else(Vec::new, |kept| kept.codes(at, domain));
        let own = group.iter().filter(|_| !is_everything).map(|&row| codes.get(row as usize));
        for code in own.chain(kept.iter().copied()) {
            if !std::mem::replace(&mut occurs[code as usize], true) {
                set.push(code);
            }
        }
        set.sort_unstable();
        set.iter().for_each(|&code| occurs[code as usize] = false);
        // The name of a label stands for what it covers and nothing else.
        let name = shown.kept.filter(|_| set == kept).and_then(|kept| kept.name(at));
        let named = (set.clone(), name.filter(|name| is_name(name, &set, domain)));
        let known = index.get(&named).copied();
        set_of_group.push(known.unwrap_or_else(|| {
            sets.push(named.clone());
            index.insert(named, sets.len() as u32 - 1);
            sets.len() as u32 - 1
        }));
    }
    let texts = |set: &Vec<Code>| -> Vec<String> { set.iter().map(|&code| domain.text(code).into_owned()).collect() };
    let members: Vec<(String, Vec<String>)> = sets
        .iter()
        .map(|(set, name)| {
            let values = texts(set);
            // The level that covers the whole column is called `*`, unless a value has that name.
            let is_star = shown.levels.is_some() && set.len() > 1 && !values.iter().any(|value| value == "*");
            let label = match name {
                Some(name) => (*name).to_owned(),
                None if is_star => "*".to_owned(),
                None => set_label(values.iter().map(String::as_str)),
            };
            (label, values)
        })
        .collect();
    let labels = set_of_group.iter().map(|&set| members[set as usize].0.as_str());
    let ncp = set_of_group.iter().map(|&set| set_ncp(sets[set as usize].0.len(), domain.len())).collect();
    let points = set_of_group.iter().map(|&set| sets[set as usize].0.len() as f64).collect();
    let columns = vec![Column::texts(column.name(), labels)];
    Summary { name: column.name().to_owned(), columns, members, ncp, points }
}

/// Whether readers cannot take a name for a value, a set of values or, if it is `*`, for the whole column.
fn is_name(name: &str, set: &[Code], domain: &Domain) -> bool {
    let is_value = domain.code_of(Some(&Value::Text(name.into()))).is_some();
    let is_whole = set.len() == domain.len() && set.len() > 1;
    !name.is_empty() && !name.starts_with('{') && !is_value && (name != "*" || is_whole)
}
