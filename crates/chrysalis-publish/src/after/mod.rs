//! Whether a release may follow others of which nothing is known but what they show; see `spec.md` for the steps.

mod fits;
mod worlds;

use std::collections::{BTreeMap, BTreeSet};

use chrysalis_criteria::{PrincipleSpec, Rational, Requirement};
use chrysalis_release::view::Field;
use chrysalis_release::{RoleName, View};
use chrysalis_table::Watch;

use crate::{Microdata, PublishError};
use fits::{Fitting, Kinds};
use worlds::{Cell, Part, Told};

/// What earlier releases and a new one tell together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AfterFacts {
    /// People who fit a group of an earlier release.
    pub known: u64,
    /// People whose value has a larger share of all worlds than a single release may give it.
    pub above: u64,
    /// The same of people who left: they are in an earlier release, and nobody of the table can be them.
    pub left_above: u64,
    /// People for whom worlds cannot be counted.
    pub open: u64,
    /// People of the table who fit no group of any earlier release: nothing is judged for them.
    pub unfit: u64,
    /// Rows of an earlier release that nobody of the table can have, in the one that has most of them. They may be those of
    /// people who fit nothing, because their quasi values changed.
    pub unclaimed: u64,
    /// The largest share that was counted.
    pub largest: Option<Rational>,
}

/// Judges a new release, the first view, beside earlier ones.
pub fn judge_after(
    data: &Microdata,
    require: &[Requirement],
    releases: &[View],
    watch: &dyn Watch,
) -> Result<AfterFacts, PublishError> {
    check_forms(data, releases)?;
    let kinds = Kinds::of(data);
    // Step 1.
    let mut fitting = Vec::with_capacity(releases.len());
    for view in releases {
        fitting.push(Fitting::new(data, view)?.all(&kinds, watch));
    }
    let mut parts = Parts::new(releases, &fitting, watch);
    let (limit, ordinary) = (Limit::of(require), ordinary(data));
    let mut facts = AfterFacts::default();
    // Step 3.
    let left_over = left_over(releases, &fitting, &kinds);
    let n_with_strangers = unclaimed(releases, &fitting, &kinds).filter(|rows| *rows > 0).count();
    facts.unclaimed = unclaimed(releases, &fitting, &kinds).max().unwrap_or(0);
    let fits_none = |kind: usize| fitting.iter().skip(1).all(|found| found[kind].is_empty());
    facts.unfit = (0..kinds.rows.len()).filter(|&kind| fits_none(kind)).map(|kind| kinds.rows[kind].1).sum();
    for (groups, members) in parts.all(&fitting, kinds.rows.len()) {
        watch.pause();
        let people: u64 = members.iter().map(|&kind| kinds.rows[kind].1).sum();
        // Step 2.
        if groups.iter().all(|(release, _)| *release == 0) {
            continue;
        }
        facts.known += people;
        let left = part_left(releases, (&groups, &members), &fitting, &kinds);
        let is_crowded = left.iter().any(|left| *left < 0);
        let is_open = is_crowded || n_with_strangers > 1 && left[1..].iter().any(|left| *left > 0);
        let shown = |&(release, group): &(usize, usize)| fits::values(&releases[release], group);
        let shown: Vec<BTreeMap<String, u64>> = groups.iter().map(shown).collect();
        let told: Option<Vec<Told>> = match worlds::even_share(&shown) {
            _ if is_open => None,
            // Step 4.
            Some(share) => {
                let has_other = shown.iter().flat_map(BTreeMap::keys).any(|value| !ordinary.contains(value));
                let most_other = if has_other { share } else { Rational::from_integer(0) };
                // Whoever left has such a share as well.
                Some(vec![Told { people, stay: true, most: share, most_other, alone: share }])
            }
            // Step 5.
            None => {
                let place: BTreeMap<(usize, usize), usize> = groups.iter().copied().zip(0..).collect();
                let cells = cells(&place, &members, (&fitting, &left_over), &kinds);
                cells.and_then(|cells| Part { shown: &shown, cells: &cells, ordinary: &ordinary }.shares(watch))
            }
        };
        // Step 6.
        match told {
            None => facts.open += people,
            Some(told) => {
                for told in told {
                    let above = if told.stay { &mut facts.above } else { &mut facts.left_above };
                    *above += if limit.is_below(&told) { told.people } else { 0 };
                    facts.largest = facts.largest.max(Some(told.most));
                }
            }
        }
    }
    Ok(facts)
}

/// The forms that can be judged, which show one sensitive column of the same name and kind.
fn check_forms(data: &Microdata, releases: &[View]) -> Result<(), PublishError> {
    let mut own = data.sensitive_columns();
    let (Some(column), None) = (own.next(), own.next()) else {
        return Err(PublishError::request("only releases with one sensitive column can be judged beside earlier ones"));
    };
    if data.persons().is_some() {
        return Err(PublishError::request("only tables with one row per person can be judged beside earlier releases"));
    }
    for view in releases {
        let form = view.manifest.method;
        if !form.shape().may_follow {
            return Err(PublishError::request(format!("releases of the form {form} cannot be judged beside others")));
        }
        let has_it = view.sensitive().any(|field| {
            let field = &view.fields[field];
            field.name == column.name() && field.kind == column.column().domain().kind()
        });
        if !has_it || view.sensitive().count() != 1 {
            let (name, kind) = (column.name(), column.column().domain().kind());
            let problem =
                format!("an earlier release does not show the sensitive column `{name}` ({kind}), and that alone");
            return Err(PublishError::request(problem));
        }
        let is_known = |field: &&Field| {
            data.quasi().any(|(column, _)| column.name() == field.name && column.domain().kind() == field.kind)
        };
        let quasi = view.fields.iter().filter(|field| field.role == RoleName::Quasi);
        if let Some(field) = quasi.clone().find(|field| !is_known(field)) {
            let problem =
                format!("an earlier release has the quasi column `{}`, and this table has none like it", field.name);
            return Err(PublishError::request(problem));
        }
    }
    Ok(())
}

/// The largest shares that requirements allow.
#[derive(Clone, Copy, Default)]
struct Limit {
    of_all: Option<Rational>,
    /// The same for values that are not ordinary; others may have any share.
    of_others: Option<Rational>,
}

impl Limit {
    fn of(require: &[Requirement]) -> Limit {
        let least = |share: &dyn Fn(&PrincipleSpec) -> Option<Rational>| {
            require.iter().filter_map(|required| share(&required.principle)).min()
        };
        let of_all = least(&|principle| match principle {
            PrincipleSpec::FrequencyL { l } => Some(l.recip()),
            PrincipleSpec::AlphaK { alpha, .. } => Some(*alpha),
            _ => None,
        });
        let of_others = least(&|principle| match principle {
            PrincipleSpec::OthersL { l } => Some(l.recip()),
            _ => None,
        });
        Limit { of_all, of_others }
    }

    /// Where nothing bounds shares, nobody may have a larger one than one of the person's own groups gives.
    fn is_below(self, told: &Told) -> bool {
        match (self.of_all, self.of_others) {
            (None, None) => told.most > told.alone,
            (all, others) => {
                all.is_some_and(|limit| told.most > limit) || others.is_some_and(|limit| told.most_other > limit)
            }
        }
    }
}

/// The ordinary values, as [`fits::values`] writes them.
fn ordinary(data: &Microdata) -> BTreeSet<String> {
    let of_column = |column: crate::SensitiveColumn<'_>| {
        let codes = (0..).zip(column.ordinary()).filter(|(_, is_ordinary)| **is_ordinary);
        let domain = column.column().domain();
        codes.map(|(code, _)| fits::look(domain, code)).collect::<Vec<_>>()
    };
    data.sensitive_columns().flat_map(of_column).collect()
}

/// For every release and group, how many more rows it has than people who fit it.
fn left_over(releases: &[View], fitting: &[Vec<Vec<u32>>], kinds: &Kinds) -> Vec<Vec<i64>> {
    let of_release = |(view, found): (&View, &Vec<Vec<u32>>)| {
        let mut left: Vec<i64> = (0..view.groups.len()).map(|group| i64::from(view.groups.size(group))).collect();
        for (groups, (_, n)) in found.iter().zip(&kinds.rows) {
            groups.iter().for_each(|&group| left[group as usize] -= *n as i64);
        }
        left
    };
    releases.iter().zip(fitting).map(of_release).collect()
}

/// By earlier release, how many rows nobody of the table can have.
fn unclaimed(releases: &[View], fitting: &[Vec<Vec<u32>>], kinds: &Kinds) -> impl Iterator<Item = u64> {
    let rows = |(view, found): (&View, &Vec<Vec<u32>>)| {
        let fit = found.iter().zip(&kinds.rows).filter(|(groups, _)| !groups.is_empty()).map(|(_, (_, n))| n);
        (view.groups.n_rows() as u64).saturating_sub(fit.sum::<u64>())
    };
    releases.iter().zip(fitting).skip(1).map(rows)
}

/// By release, how many more rows the groups of a part have than people who fit them.
fn part_left(
    releases: &[View],
    (groups, members): (&[(usize, usize)], &[usize]),
    fitting: &[Vec<Vec<u32>>],
    kinds: &Kinds,
) -> Vec<i64> {
    let mut left = vec![0_i64; releases.len()];
    groups.iter().for_each(|&(release, group)| left[release] += i64::from(releases[release].groups.size(group)));
    for &kind in members {
        for (left, found) in left.iter_mut().zip(fitting) {
            *left -= if found[kind].is_empty() { 0 } else { kinds.rows[kind].1 as i64 };
        }
    }
    left
}

/// People by the groups that they are in, and those who left; `None` where somebody fits several groups of a release.
fn cells(
    place: &BTreeMap<(usize, usize), usize>,
    members: &[usize],
    (fitting, left_over): (&[Vec<Vec<u32>>], &[Vec<i64>]),
    kinds: &Kinds,
) -> Option<Vec<Cell>> {
    let mut cells: BTreeMap<(Vec<usize>, bool), u64> = BTreeMap::new();
    for &kind in members {
        let mut groups = Vec::new();
        for (release, found) in fitting.iter().enumerate() {
            match found[kind][..] {
                [] => {}
                [group] => groups.push(*place.get(&(release, group as usize))?),
                _ => return None,
            }
        }
        *cells.entry((groups, true)).or_default() += kinds.rows[kind].1;
    }
    for (&(release, group), &at) in place {
        // Below zero, more people are there than rows: no world fits.
        let left = u64::try_from(left_over[release][group]).ok()?;
        if left > 0 {
            cells.insert((vec![at], false), left);
        }
    }
    Some(cells.into_iter().map(|((groups, stays), people)| Cell { groups, people, stays }).collect())
}

/// A release, and the number of one of its groups.
type GroupOfRelease = (usize, usize);

/// Groups that people link, and the kinds of people who link them.
type LinkedPart = (Vec<GroupOfRelease>, Vec<usize>);

/// Groups that people link.
struct Parts {
    starts: Vec<usize>,
    parent: Vec<usize>,
}

impl Parts {
    fn new(releases: &[View], fitting: &[Vec<Vec<u32>>], watch: &dyn Watch) -> Parts {
        let mut starts = vec![0];
        for view in releases {
            starts.push(starts[starts.len() - 1] + view.groups.len());
        }
        let mut parts = Parts { parent: (0..starts[releases.len()]).collect(), starts };
        let n_kinds = fitting.first().map_or(0, Vec::len);
        for kind in 0..n_kinds {
            watch.pause_at(kind);
            let mut first = None;
            for (release, found) in fitting.iter().enumerate() {
                for &group in &found[kind] {
                    let node = parts.starts[release] + group as usize;
                    let root = parts.root(node);
                    match first {
                        None => first = Some(root),
                        Some(known) => {
                            let known = parts.root(known);
                            parts.parent[root] = known;
                        }
                    }
                }
            }
        }
        parts
    }

    fn root(&mut self, mut node: usize) -> usize {
        while self.parent[node] != node {
            self.parent[node] = self.parent[self.parent[node]];
            node = self.parent[node];
        }
        node
    }

    /// Every part that has people: its groups, by release and number, and its kinds of people.
    fn all(&mut self, fitting: &[Vec<Vec<u32>>], n_kinds: usize) -> Vec<LinkedPart> {
        let mut parts: BTreeMap<usize, (BTreeSet<GroupOfRelease>, Vec<usize>)> = BTreeMap::new();
        for kind in 0..n_kinds {
            let mut of_kind = Vec::new();
            for (release, found) in fitting.iter().enumerate() {
                of_kind.extend(found[kind].iter().map(|&group| (release, group as usize)));
            }
            if let Some(&(release, group)) = of_kind.first() {
                let root = self.root(self.starts[release] + group);
                let part = parts.entry(root).or_default();
                part.0.extend(of_kind);
                part.1.push(kind);
            }
        }
        parts.into_values().map(|(groups, kinds)| (groups.into_iter().collect(), kinds)).collect()
    }
}
