use chrysalis_table::{Code, Domain, Kind, TaxonomyFile, Value};
use proptest::prelude::*;

/// A taxonomy over a domain: up to two levels between values and root, contiguous for ordered kinds.
///
/// Some have leaves that do not occur, some repeat a lone value's name on the level above, as ARX files do.
pub fn taxonomy_over(domain: &Domain) -> BoxedStrategy<TaxonomyFile> {
    let domain = domain.clone();
    let picks = || prop::collection::vec(0..3usize, 9);
    (0..=2usize, picks(), picks(), any::<bool>(), any::<bool>())
        .prop_map(move |(n_levels, first, second, is_filled, has_more)| {
            let leaves = leaves(&domain, has_more);
            let ordered = domain.kind().is_ordered();
            let first = parents(leaves.len(), &first, ordered);
            let second = parents(9, &second, ordered);
            let lines: Vec<Vec<String>> = (0..leaves.len())
                .map(|at| {
                    let is_alone = first.iter().filter(|&&group| group == first[at]).count() == 1;
                    let name = if is_filled && is_alone { leaves[at].clone() } else { format!("group {}", first[at]) };
                    let inner = [name, format!("region {}", second[first[at]])];
                    let inner = inner.into_iter().take(n_levels);
                    std::iter::once(leaves[at].clone()).chain(inner).chain(["*".to_owned()]).collect()
                })
                .collect();
            TaxonomyFile::from_lines(&lines).unwrap()
        })
        .boxed()
}

/// For every member, the group above it; for ordered kinds these never step back.
fn parents(n: usize, picks: &[usize], is_ordered: bool) -> Vec<usize> {
    if !is_ordered {
        return (0..n).map(|at| picks[at % picks.len()]).collect();
    }
    let mut group = 0;
    (0..n)
        .map(|at| {
            group += usize::from(at > 0 && picks[at % picks.len()] == 0);
            group
        })
        .collect()
}

fn leaves(domain: &Domain, has_more: bool) -> Vec<String> {
    let codes = Code::from(domain.has_missing())..domain.len() as Code;
    let mut leaves: Vec<String> = codes.map(|code| domain.text(code).into_owned()).collect();
    if leaves.is_empty() || has_more {
        let beyond = match (domain.kind(), domain.bounds()) {
            (Kind::Category, _) => "Rabies".to_owned(),
            (Kind::Ordinal, _) => "zenith".to_owned(),
            (_, Some((_, Value::Integer(last)))) => (last + 7).to_string(),
            (_, Some((_, Value::Real(last)))) => (last + 0.7).to_string(),
            (Kind::Date, _) => "2199-01-01".to_owned(),
            (Kind::DateTime, _) => "2199-01-01T12:30:00".to_owned(),
            _ => "999".to_owned(),
        };
        leaves.push(beyond);
    }
    leaves
}
