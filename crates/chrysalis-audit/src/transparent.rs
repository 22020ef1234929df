//! What the tables of a transparent release can tell of how its groups were chosen.
//!
//! That a choice says nothing is a property of the algorithm, not of one outcome: no table proves it. But the outcome has
//! a structure, and a release without it was not made in this way. Either cells are the groups: then cuts by quasi values,
//! one after another, take all groups apart. Or groups were dealt: then, if `l` is all that is promised, no group has a
//! value twice.

use std::collections::BTreeMap;

use chrysalis_criteria::PrincipleSpec;
use chrysalis_release::{Attribute, COUNT, Detail, Manifest, Published, Release, RoleName, Values};
use chrysalis_table::{Code, Column, Kind, Value, Watch};
use rayon::prelude::*;

use crate::columns::{Positions, group_ids};
use crate::findings::Findings;
use crate::{AuditError, Check};

/// What a reader must not take from a passing check.
const NOT_PROVED: &str = "; that the choice says nothing follows from the algorithm, which no table can prove";

/// What the check is called.
pub(crate) const NAME: &str = "transparent groups";

/// Checks the structure of groups, if a release says that their choice is transparent.
pub(crate) fn check(release: &Release, watch: &dyn Watch) -> Result<Option<Check>, AuditError> {
    let manifest = &release.manifest;
    let shape = manifest.method.shape();
    let Some(id) = shape.group_id.filter(|_| manifest.transparent) else { return Ok(None) };
    let people = release.table(shape.people)?;
    let Some(group) = people.column(id) else { return Ok(None) };
    let mut findings = Findings::new(NAME);
    let told = match kind_of(manifest) {
        Structure::Dealt(attribute) => repeated(release, id, attribute, &mut findings)
            .then_some("no group has a value twice, as in groups that were dealt"),
        Structure::Cells => {
            watch.pause();
            let spans = spans(manifest, people, group);
            let left = undivided(&spans, (0..group.domain().len() as u32).collect(), watch);
            if let Some(groups) = &left {
                let ids = group_ids(group);
                let named =
                    groups.iter().take(2).map(|&at| ids[at as usize].map_or_else(String::new, |id| id.to_string()));
                let named: Vec<String> = named.collect();
                findings.add("cells", || {
                    format!(
                        "no cut by one column takes {} groups apart (groups {} among them), so cuts by quasi values did not \
                         form them",
                        groups.len(),
                        named.join(" and ")
                    )
                });
            }
            Some("cuts by quasi values take all groups apart, as in a tree of cells")
        }
        Structure::Hidden => None,
    };
    let told = told.unwrap_or("cannot tell: these tables do not show how groups were formed");
    Ok(Some(findings.check(format!("{told}{NOT_PROVED}"))))
}

enum Structure<'a> {
    /// Groups were dealt, each value of this attribute once.
    Dealt(&'a Attribute),
    /// A cell is a group, and its quasi values are shown.
    Cells,
    /// Labels are wider than cells, or groups were merged.
    Hidden,
}

fn kind_of(manifest: &Manifest) -> Structure<'_> {
    let mut sensitive = manifest.with_role(RoleName::Sensitive);
    let (first, second) = (sensitive.next(), sensitive.next());
    let promises = || manifest.promises.iter().map(|promise| promise.principle());
    let is_size_only = promises().all(|principle| matches!(principle, PrincipleSpec::KAnonymity { .. }));
    let shows_values = matches!(manifest.method.shape().detail, Detail::Exact | Detail::Permuted);
    // Of persons, cuts look at the lowest and the highest value of each, so the ranges of cells may overlap.
    match first {
        _ if manifest.persons.is_some() => Structure::Hidden,
        _ if second.is_some() || is_size_only => {
            if shows_values {
                Structure::Cells
            } else {
                Structure::Hidden
            }
        }
        Some(attribute) if promises().all(is_whole_l) => Structure::Dealt(attribute),
        _ => Structure::Hidden,
    }
}

fn is_whole_l(principle: &PrincipleSpec) -> bool {
    matches!(principle, PrincipleSpec::FrequencyL { l } if l.is_integer())
}

/// Notes groups that have a value more than once. Rows without a value may share a group. Returns whether the table of values
/// could be looked at.
fn repeated(release: &Release, id: &str, attribute: &Attribute, findings: &mut Findings) -> bool {
    let shape = release.manifest.method.shape();
    let name = match shape.values {
        Values::Counted(name) => name,
        Values::Beside => shape.people,
        Values::Swapped => return false,
    };
    let Ok(table) = release.table(name) else { return false };
    let (Some(group), Some(values)) = (table.column(id), table.column(&attribute.name)) else { return false };
    let is_missing = |code: Code| values.domain().value(code).is_none();
    let count = table.column(COUNT);
    let n_of = |row: usize| match count.map(|column| column.domain().value(column.code(row))) {
        Some(Some(Value::Integer(count))) => *count,
        _ => 1,
    };
    let mut pairs: Vec<(Code, Code, i64)> = (0..table.rows())
        .filter(|&row| !is_missing(values.code(row)))
        .map(|row| (group.code(row), values.code(row), n_of(row)))
        .collect();
    pairs.par_sort_unstable();
    let ids = group_ids(group);
    for pair in pairs.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
        if pair.iter().map(|it| it.2).fold(0, i64::saturating_add) > 1 {
            let id = ids[pair[0].0 as usize].map_or_else(|| "(missing)".to_owned(), |id| id.to_string());
            findings.add("values that a group has twice", || {
                format!("group {id} has a value of `{}` more than once, so it was not dealt", attribute.name)
            });
        }
    }
    true
}

/// What every group covers of one quasi attribute, by code of the group.
enum Spans {
    /// From the lowest to the highest place.
    Ordered(Vec<(i64, i64)>),
    /// Codes of words, ascending, whose order is the owner's.
    Words(Vec<Vec<Code>>),
}

fn spans(manifest: &Manifest, people: &chrysalis_table::Table, group: &Column) -> Vec<Spans> {
    let n_groups = group.domain().len();
    let of = |attribute: &Attribute| {
        let column = people.column(&attribute.name).filter(|_| attribute.published != Published::Generalized)?;
        let pairs = group.codes().iter().zip(column.codes().iter());
        if !Kind::from(attribute.kind).is_ordered() {
            let mut words = vec![Vec::new(); n_groups];
            pairs.for_each(|(group, code)| words[group as usize].push(code));
            words.iter_mut().for_each(|codes| {
                codes.sort_unstable();
                codes.dedup();
            });
            return Some(Spans::Words(words));
        }
        let places = Positions::of(attribute).of_column(column);
        let mut ends = vec![(i64::MAX, i64::MIN); n_groups];
        for (group, code) in pairs {
            let (place, end) = (places[code as usize].unwrap_or(i64::MIN), &mut ends[group as usize]);
            *end = (end.0.min(place), end.1.max(place));
        }
        Some(Spans::Ordered(ends))
    };
    manifest.with_role(RoleName::Quasi).filter_map(of).collect()
}

/// What all groups of a part cover together, one quasi attribute after the other.
#[derive(Clone, Debug)]
pub(crate) struct Hull(Vec<HullOf>);

#[derive(Clone, Debug)]
enum HullOf {
    Ordered(i64, i64),
    Words(Vec<Code>),
}

/// What a part covers, if cuts by quasi values should take parts apart. Words have the same codes in all parts.
pub(crate) fn hull(release: &Release) -> Option<Hull> {
    let (manifest, shape) = (&release.manifest, release.manifest.method.shape());
    let people = release.table(shape.people).ok()?;
    let group = people.column(shape.group_id?)?;
    let of = |spans: Spans| match spans {
        Spans::Ordered(ends) => {
            let (low, high) = (ends.iter().map(|end| end.0).min(), ends.iter().map(|end| end.1).max());
            HullOf::Ordered(low.unwrap_or(i64::MAX), high.unwrap_or(i64::MIN))
        }
        Spans::Words(words) => {
            let mut all: Vec<Code> = words.into_iter().flatten().collect();
            all.sort_unstable();
            all.dedup();
            HullOf::Words(all)
        }
    };
    match kind_of(manifest) {
        Structure::Cells => Some(Hull(spans(manifest, people, group).into_iter().map(of).collect())),
        Structure::Dealt(_) | Structure::Hidden => None,
    }
}

/// Two of the parts that cuts do not take apart, by their places, if there are any. Where cuts take parts apart, and the
/// groups of each, they take all groups apart.
pub(crate) fn not_taken_apart(hulls: &[&Hull], watch: &dyn Watch) -> Option<[usize; 2]> {
    let n_columns = hulls.iter().map(|hull| hull.0.len()).min()?;
    let of_column = |at: usize| {
        let each = || hulls.iter().map(|hull| &hull.0[at]);
        let ends = each().map(|hull| match hull {
            HullOf::Ordered(low, high) => Some((*low, *high)),
            HullOf::Words(_) => None,
        });
        if let Some(ends) = ends.collect::<Option<Vec<_>>>() {
            return Spans::Ordered(ends);
        }
        let words = each().map(|hull| match hull {
            HullOf::Ordered(..) => Vec::new(),
            HullOf::Words(words) => words.clone(),
        });
        Spans::Words(words.collect())
    };
    let spans: Vec<Spans> = (0..n_columns).map(of_column).collect();
    let left = undivided(&spans, (0..hulls.len() as u32).collect(), watch)?;
    Some([*left.first()? as usize, *left.get(1)? as usize])
}

/// Takes groups apart by cuts, as far as cuts go; some groups that no cut divides, if there are any.
///
/// Equal rows may stand on both sides of a cut. PROOF: what a cut takes apart, it takes apart in every part of its groups,
/// so it does not matter which cut comes first: if any order of cuts takes all groups apart, this one does.
fn undivided(spans: &[Spans], groups: Vec<u32>, watch: &dyn Watch) -> Option<Vec<u32>> {
    let mut open = vec![groups];
    while let Some(groups) = open.pop() {
        watch.pause();
        if groups.len() < 2 {
            continue;
        }
        let cuts = spans.iter().filter_map(|spans| match spans {
            Spans::Ordered(ends) => ordered_cut(ends, &groups),
            Spans::Words(_) => None,
        });
        // The most even cut keeps the tree shallow.
        let best = cuts.max_by_key(|(left, right)| left.len().min(right.len()));
        let by_words = || {
            spans.iter().find_map(|spans| match spans {
                Spans::Ordered(_) => None,
                Spans::Words(words) => words_cut(words, &groups),
            })
        };
        match best.or_else(by_words) {
            Some((left, right)) => open.extend([left, right]),
            None => return Some(groups),
        }
    }
    None
}

/// Groups on both sides of a place: those to its left end there at the latest, those to its right begin there at the earliest.
fn ordered_cut(ends: &[(i64, i64)], groups: &[u32]) -> Option<(Vec<u32>, Vec<u32>)> {
    let mut sorted = groups.to_vec();
    sorted.par_sort_unstable_by_key(|&group| ends[group as usize]);
    let (mut highest, mut best) = (i64::MIN, None);
    for at in 1..sorted.len() {
        highest = highest.max(ends[sorted[at - 1] as usize].1);
        let is_better = best.is_none_or(|known: usize| at.min(sorted.len() - at) > known.min(sorted.len() - known));
        if highest <= ends[sorted[at] as usize].0 && is_better {
            best = Some(at);
        }
    }
    let right = sorted.split_off(best?);
    Some((sorted, right))
}

/// Groups on both sides of some order of the words, which is not known: the sides have at most one word in common.
fn words_cut(words: &[Vec<Code>], groups: &[u32]) -> Option<(Vec<u32>, Vec<u32>)> {
    let mut shared: Vec<Code> = groups.iter().flat_map(|&group| &words[group as usize]).copied().collect();
    shared.sort_unstable();
    shared.dedup();
    std::iter::once(None).chain(shared.into_iter().map(Some)).find_map(|ignored| connected(words, groups, ignored))
}

/// The groups that hang together with the first one by the words that they share, one word left aside, and the others.
fn connected(words: &[Vec<Code>], groups: &[u32], ignored: Option<Code>) -> Option<(Vec<u32>, Vec<u32>)> {
    let mut with_word: BTreeMap<Code, Vec<u32>> = BTreeMap::new();
    for &group in groups {
        for &word in words[group as usize].iter().filter(|word| Some(**word) != ignored) {
            with_word.entry(word).or_default().push(group);
        }
    }
    let mut is_left: BTreeMap<u32, bool> = groups.iter().map(|&group| (group, false)).collect();
    let mut open = vec![*groups.first()?];
    while let Some(group) = open.pop() {
        if is_left.insert(group, true) == Some(false) {
            let reached = words[group as usize].iter().filter_map(|word| with_word.remove(word));
            open.extend(reached.flatten());
        }
    }
    let (left, right): (Vec<u32>, Vec<u32>) = groups.iter().partition(|group| is_left[*group]);
    (!right.is_empty()).then_some((left, right))
}

#[cfg(test)]
mod tests {
    use chrysalis_table::Unwatched;

    use super::*;

    fn ordered(ends: &[(i64, i64)]) -> Spans {
        Spans::Ordered(ends.to_vec())
    }

    fn words(sets: &[&[Code]]) -> Spans {
        Spans::Words(sets.iter().map(|set| set.to_vec()).collect())
    }

    fn left_over(spans: &[Spans], n: u32) -> Option<Vec<u32>> {
        undivided(spans, (0..n).collect(), &Unwatched)
    }

    #[test]
    fn a_tree_of_cuts_takes_its_cells_apart() {
        // First by the second column at 5, then each half by the first; equal rows stand on both sides of 3.
        let tree = [ordered(&[(1, 3), (3, 9), (1, 6), (7, 9)]), ordered(&[(1, 5), (2, 4), (5, 8), (6, 9)])];
        assert_eq!(left_over(&tree, 4), None);
        // The same value everywhere: rows that are alike may be cut anywhere.
        assert_eq!(left_over(&[ordered(&[(3, 3), (3, 3), (3, 3)])], 3), None);
    }

    #[test]
    fn groups_that_no_cut_takes_apart_are_found() {
        // A pinwheel of four boxes around a fifth has no cut.
        let pinwheel =
            [ordered(&[(0, 2), (2, 3), (1, 3), (0, 1), (1, 2)]), ordered(&[(0, 1), (0, 2), (2, 3), (1, 3), (1, 2)])];
        assert_eq!(left_over(&pinwheel, 5), Some(vec![0, 1, 2, 3, 4]));
        assert_eq!(left_over(&[ordered(&[(1, 4), (3, 6), (6, 9)])], 3), Some(vec![0, 1]));
    }

    #[test]
    fn words_are_cut_in_whichever_order_takes_groups_apart() {
        assert_eq!(left_over(&[words(&[&[0, 7], &[3], &[1, 2]])], 3), None);
        // One word on both sides.
        assert_eq!(left_over(&[words(&[&[0, 7], &[7, 3], &[3, 2]])], 3), None);
        // Two words in common.
        assert_eq!(left_over(&[words(&[&[0, 7], &[0, 7, 3], &[4]])], 3), Some(vec![0, 1]));
        // A ring: each shares one word with the next, and no single word holds it together.
        assert_eq!(left_over(&[words(&[&[0, 1], &[1, 2], &[2, 0]])], 3), Some(vec![0, 1, 2]));
    }
}
