//! t-closeness by equal, ordered and hierarchical distance, in whole numbers: n rows of a group of `size`, and `in_all`
//! of `total` rows of the table, are compared as n·total and in_all·size.

use chrysalis_criteria::Rational;
use chrysalis_dialect::expr::{Direction, call, case, col, int, or_zero, sum};
use chrysalis_dialect::select::{Ctes, Rows};
use chrysalis_release::Attribute;
use chrysalis_table::{Code, Domain, Kind, Taxonomy, TaxonomyFile, Value};

use super::{Written, exactly, products};
use crate::counting::Counting;
use crate::frame::{call_max, columns_of, flag, parts, same};
use crate::seen::Seen;

/// t: the distance of every group from the whole table.
pub(super) fn closeness(seen: &Seen<'_>, counting: &Counting<'_>, t: &Rational) -> Written {
    let mut ctes = Ctes::default();
    seen.add_shown(&mut ctes, counting.at);
    let attribute = counting.attribute;
    let is_ordered = counting.kind().is_ordered();
    let has_tree = attribute.taxonomy.as_ref().is_some_and(|lines| !lines.is_empty());
    if !has_tree && !is_ordered {
        return equal(seen, ctes, t);
    }
    // Where values that look alike have places in an order or a tree, the larger of two distances counts: with them apart,
    // and as one.
    let mut sources = vec!["shown"];
    if counting.has_look_alikes() {
        counting.add_counted(&mut ctes, seen);
        sources.push("counted");
    }
    let mut parts = Vec::new();
    for (number, source) in (1..).zip(&sources) {
        let rows = match has_tree {
            true => hierarchical(&mut ctes, seen, counting, t, source, number)?,
            false => ordered(&mut ctes, seen, counting, t, source, number)?,
        };
        let name = format!("too_far_{number}");
        ctes.add(&name, rows);
        parts.push(columns_of(&name, &[seen.key(), "size"]));
    }
    ctes.add_union("too_far", parts);
    exactly(ctes, columns_of("too_far", &[seen.key(), "size"]).distinct())
}

/// 1 for any two different values: half the sum of all differences is the sum of those above zero.
fn equal(seen: &Seen<'_>, mut ctes: Ctes, t: &Rational) -> Written {
    let rows = seen.frame.manifest.rows;
    let wide = products(seen.frame.dialect, &[rows, rows, (*t.numer()).max(*t.denom())])?;
    let rows = Rows::of("shown").item(seen.key_of("shown"), seen.key()).item(wide(col("shown.n")), "n");
    let rows = rows.item(wide(col("shown.size")), "size");
    let rows = rows.item(wide(sum(col("shown.n")).over(&[col("shown.value")], [])), "in_all");
    ctes.add("compared", rows.item(wide(sum(col("shown.n")).over(&[], [])), "total"));
    let (key, size, total) = (seen.key_of("compared"), col("compared.size"), col("compared.total"));
    let (here, expected) = (col("compared.n") * total.clone(), col("compared.in_all") * size.clone());
    let excess = case(here.clone().greater(expected.clone()), here - expected, int(0));
    let (numerator, denominator) = parts(t);
    let broken = (sum(excess) * denominator).greater(size.clone() * total.clone() * numerator);
    let rows = Rows::of("compared").item(key.clone(), seen.key()).item(size.clone(), "size");
    exactly(ctes, rows.group_by([key, size, total]).having(broken))
}

/// By rank: what is carried over the gap after every value, added up.
fn ordered(
    ctes: &mut Ctes,
    seen: &Seen<'_>,
    counting: &Counting<'_>,
    t: &Rational,
    source: &str,
    number: u32,
) -> Result<Rows, String> {
    let frame = seen.frame;
    let n_values = counting.attribute.domain.values.as_ref().map_or(1, Vec::len).max(2) as u64;
    let rows = frame.manifest.rows;
    let wide = products(frame.dialect, &[rows, rows, n_values, (*t.numer()).max(*t.denom())])?;
    let name = |name: &str| format!("{name}_{number}");
    let (whole, line, ranked, groups, grid) =
        (name("whole"), name("in_order"), name("ranked"), name("all_groups"), name("carried"));
    let of = |cte: &str, column: &str| col(&format!("{cte}.{column}"));
    let value = of(source, "value");
    ctes.add(&whole, Rows::of(source).item(value.clone(), "value").item(sum(of(source, "n")), "n").group_by([value]));
    let value = of(&whole, "value");
    let order = || {
        [
            (flag(value.clone().present()), Direction::Up),
            (frame.place(counting.attribute, value.clone()), Direction::Up),
        ]
    };
    let rows = Rows::of(&whole).item(value.clone(), "value");
    let rows = rows.item(call("ROW_NUMBER", Vec::new()).over(&[], order()), "place");
    let rows = rows.item(wide(sum(of(&whole, "n")).over(&[], order())), "up_to");
    let rows = rows.item(wide(sum(of(&whole, "n")).over(&[], [])), "total");
    ctes.add(&line, rows.item(call("COUNT", vec![of(&whole, "n")]).over(&[], []), "n_values"));
    let on = match counting.attribute.domain.missing {
        true => same(of(&line, "value"), of(source, "value")),
        false => of(&line, "value").eq(of(source, "value")),
    };
    let rows = Rows::of(source).join(&line, on).item(seen.key_of(source), seen.key()).item(of(&line, "place"), "place");
    ctes.add(&ranked, rows.item(of(source, "n"), "n"));
    ctes.add(&groups, columns_of(source, &[seen.key(), "size"]).distinct());
    let (key, place) = (seen.key_of(&groups), of(&line, "place"));
    let on = seen.key_of(&ranked).eq(key.clone()).and(of(&ranked, "place").eq(place.clone()));
    let rows = Rows::of(&groups).cross(&line, &line).left_join(&ranked, on).item(key.clone(), seen.key());
    let here = sum(or_zero(of(&ranked, "n"))).over(&[key], [(place, Direction::Up)]);
    let rows = rows.item(wide(of(&groups, "size")), "size").item(of(&line, "up_to"), "up_to").item(wide(here), "here");
    ctes.add(&grid, rows.item(of(&line, "total"), "total").item(of(&line, "n_values"), "n_values"));
    let (key, size, total, n) = (seen.key_of(&grid), of(&grid, "size"), of(&grid, "total"), of(&grid, "n_values"));
    let carried = call("ABS", vec![of(&grid, "here") * total.clone() - of(&grid, "up_to") * size.clone()]);
    let steps = case(n.clone().greater(int(2)), n.clone() - int(1), int(1));
    let (numerator, denominator) = parts(t);
    let broken = (sum(carried) * denominator).greater(size.clone() * total.clone() * steps * numerator);
    let rows = Rows::of(&grid).item(key.clone(), seen.key()).item(size.clone(), "size");
    Ok(rows.group_by([key, size, total, n]).having(broken))
}

/// By a tree: at every node, what its children have too much of is matched with what others of them lack.
fn hierarchical(
    ctes: &mut Ctes,
    seen: &Seen<'_>,
    counting: &Counting<'_>,
    t: &Rational,
    source: &str,
    number: u32,
) -> Result<Rows, String> {
    let frame = seen.frame;
    let tree = Tree::of(counting.attribute, counting.is_strict).ok_or("The taxonomy does not fit the values.")?;
    let rows = frame.manifest.rows;
    let wide = products(frame.dialect, &[rows, rows, tree.height, (*t.numer()).max(*t.denom())])?;
    if !ctes.has("tree") {
        // Every value below every node above it: the node next below on the way to the value, and the height of the upper.
        let row = |(value, node, parent, height): &(Option<Value>, usize, usize, usize)| {
            let value = value.as_ref().map_or(serde_json::Value::Null, json);
            let numbers = [*node, *parent, *height].map(|number| int(number as i64));
            std::iter::once(frame.literal(counting.kind(), &value)).chain(numbers).collect()
        };
        ctes.add_list("tree", &["value", "node", "upper_node", "height"], tree.paths.iter().map(row).collect());
    }
    let name = |name: &str| format!("{name}_{number}");
    let (children, total, in_all, nodes) = (name("below"), name("total"), name("in_all"), name("nodes"));
    let of = |cte: &str, column: &str| col(&format!("{cte}.{column}"));
    let on = || match counting.attribute.domain.missing {
        true => same(of("tree", "value"), of(source, "value")),
        false => of("tree", "value").eq(of(source, "value")),
    };
    ctes.add(&total, Rows::of(source).item(wide(sum(of(source, "n"))), "n"));
    let edge = || [of("tree", "node"), of("tree", "upper_node"), of("tree", "height")];
    let rows = Rows::of(source)
        .join("tree", on())
        .item(of("tree", "node"), "node")
        .item(of("tree", "upper_node"), "upper_node");
    ctes.add(
        &in_all,
        rows.item(wide(sum(of(source, "n"))), "n").group_by([of("tree", "node"), of("tree", "upper_node")]),
    );
    let upper = name("in_all_of_upper");
    let rows = Rows::of(&in_all).item(of(&in_all, "upper_node"), "upper_node").item(sum(of(&in_all, "n")), "n");
    ctes.add(&upper, rows.group_by([of(&in_all, "upper_node")]));
    let (key, size) = (seen.key_of(source), of(source, "size"));
    let rows = Rows::of(source).join("tree", on()).item(key.clone(), seen.key()).item(wide(size.clone()), "size");
    let rows = rows.items(edge().into_iter().zip(["node", "upper_node", "height"].map(str::to_owned)));
    let rows = rows.item(wide(sum(of(source, "n"))), "n");
    ctes.add(&children, rows.group_by([key, size].into_iter().chain(edge())));
    let (key, size, height) = (seen.key_of(&children), of(&children, "size"), of(&children, "height"));
    let on = of(&in_all, "node").eq(of(&children, "node"));
    let rows = Rows::of(&children).join(&in_all, on).cross(&total, &total);
    let (here, expected) = (of(&children, "n") * of(&total, "n"), of(&in_all, "n") * size.clone());
    let surplus = sum(case(here.clone().greater(expected.clone()), here.clone() - expected, int(0)));
    let rows = rows.item(key.clone(), seen.key()).item(size.clone(), "size").item(height.clone(), "height");
    let rows = rows.item(of(&children, "upper_node"), "upper_node").item(surplus, "surplus").item(sum(here), "here");
    ctes.add(&nodes, rows.group_by([key, size, height, of(&children, "upper_node")]));
    let (key, size, surplus) = (seen.key_of(&nodes), of(&nodes, "size"), of(&nodes, "surplus"));
    let lack = surplus.clone() + of(&upper, "n") * size.clone() - of(&nodes, "here");
    let moved = frame.dialect.least(surplus, lack) * of(&nodes, "height");
    let rows =
        Rows::of(&nodes).join(&upper, of(&upper, "upper_node").eq(of(&nodes, "upper_node"))).cross(&total, &total);
    let (numerator, denominator) = parts(t);
    let far = size.clone() * call_max(of(&total, "n")) * int(tree.height) * numerator;
    let rows = rows.item(key.clone(), seen.key()).item(size.clone(), "size").group_by([key, size]);
    Ok(rows.having((sum(moved) * denominator).greater(far)))
}

/// A taxonomy as a list.
struct Tree {
    /// Every value and every node above it: the value, the node next below, the node, and its height.
    paths: Vec<(Option<Value>, usize, usize, usize)>,
    height: u64,
}

impl Tree {
    fn of(attribute: &Attribute, is_strict: bool) -> Option<Tree> {
        let kind = Kind::from(attribute.kind);
        let values: Vec<Value> = attribute.domain.values.iter().flatten().filter_map(|it| value(kind, it)).collect();
        let domain = Domain::new(kind, values, attribute.domain.missing);
        let taxonomy = TaxonomyFile::from_lines(attribute.taxonomy.as_ref()?).ok()?.bind(&domain).ok()?;
        let heights = match is_strict {
            true => branchings(&taxonomy, &domain, attribute.domain.counts.as_deref()?),
            false => taxonomy.nodes().iter().map(|node| node.height).collect(),
        };
        let mut paths = Vec::new();
        for code in 0..domain.len() as Code {
            let rank = taxonomy.rank(code);
            let mut node = taxonomy.common_ancestor(rank..=rank);
            while let Some(parent) = taxonomy.node(node).parent {
                paths.push((domain.value(code).cloned(), node, parent, heights[parent]));
                node = parent;
            }
        }
        let height = heights.first().map_or(1, |&height| height.max(1) as u64);
        (!paths.is_empty()).then_some(Tree { paths, height })
    }
}

/// Of every node, the most branchings on a way down to a value that occurs: places where values part.
fn branchings(taxonomy: &Taxonomy, domain: &Domain, counts: &[u64]) -> Vec<usize> {
    let occurs = |code: Code| counts.get(code as usize).is_some_and(|&count| count > 0);
    let leaf = |code: Code| {
        let rank = taxonomy.rank(code);
        taxonomy.common_ancestor(rank..=rank)
    };
    let n_nodes = taxonomy.nodes().len();
    let (mut below, mut heights) = (vec![0_usize; n_nodes], vec![0; n_nodes]);
    let present = || (0..domain.len() as Code).filter(|&code| occurs(code) && domain.value(code).is_some());
    for code in present() {
        let mut node = Some(leaf(code));
        while let Some(at) = node {
            below[at] += 1;
            node = taxonomy.node(at).parent;
        }
    }
    for code in present() {
        let (mut node, mut before, mut branchings) = (Some(leaf(code)), 1, 0);
        while let Some(at) = node {
            branchings += usize::from(below[at] > before);
            before = below[at];
            heights[at] = heights[at].max(branchings);
            node = taxonomy.node(at).parent;
        }
    }
    let is_missing_there = (0..domain.len() as Code).any(|code| occurs(code) && domain.value(code).is_none());
    if let Some(root) = heights.first_mut() {
        *root = (*root).max(usize::from(is_missing_there && present().next().is_some()));
    }
    heights
}

fn value(kind: Kind, json: &serde_json::Value) -> Option<Value> {
    match kind {
        Kind::Integer => json.as_i64().map(Value::Integer),
        Kind::Real => json.as_f64().map(Value::Real),
        Kind::Date => json.as_str().and_then(chrysalis_table::Date::parse).map(Value::Date),
        Kind::DateTime => json.as_str().and_then(chrysalis_table::DateTime::parse).map(Value::DateTime),
        Kind::Ordinal | Kind::Category => json.as_str().map(|text| Value::Text(text.into())),
    }
}

fn json(value: &Value) -> serde_json::Value {
    match value {
        Value::Integer(number) => (*number).into(),
        Value::Real(number) => (*number).into(),
        Value::Date(_) | Value::DateTime(_) | Value::Text(_) => value.to_string().into(),
    }
}
