//! Every share of small tables equals what counting all worlds one by one gives.

use chrysalis_testkit::oracle::{ReleaseSeen, worlds};

use super::*;

/// People, their values, and what releases show of them.
struct Drawn {
    values: Vec<usize>,
    n_values: usize,
    /// Everybody's true group, per release; `None` for people who are not in it.
    groups: Vec<Vec<Option<usize>>>,
    /// Groups that may hold everybody, per release.
    candidates: Vec<Vec<Vec<usize>>>,
    /// Everybody's visible values, per release and column: a group shows how many people have which value.
    columns: Vec<Vec<Vec<usize>>>,
    sides: Vec<Side>,
    kinds: Vec<Likes>,
    /// One person of every kind.
    people: Vec<usize>,
}

/// What groups show: by group, column and value, how many people have it. Column 0 is the sensitive one.
fn shown(groups: &[Option<usize>], values: &[usize], columns: &[Vec<usize>]) -> [u8; 64] {
    let mut shown = [0; 64];
    for (person, group) in groups.iter().enumerate() {
        if let Some(group) = *group {
            let at = |column: usize, value: usize| group * 16 + column * 4 + value;
            shown[at(0, values[person])] += 1;
            columns.iter().enumerate().for_each(|(number, column)| shown[at(number + 1, column[person])] += 1);
        }
    }
    shown
}

/// Whether people in these groups with these values give what a release shows.
type ShownBy<'a> = dyn Fn(&[Option<usize>], &[usize]) -> bool + 'a;

impl Drawn {
    /// Compares shares over all worlds, one by one, with those that are counted.
    fn check(&self, seed: u64) {
        let is_shown: Vec<Box<ShownBy<'_>>> = (0..self.groups.len())
            .map(|at| {
                let (columns, expected) = (&self.columns[at], shown(&self.groups[at], &self.values, &self.columns[at]));
                let is_shown =
                    move |groups: &[Option<usize>], values: &[usize]| shown(groups, values, columns) == expected;
                Box::new(is_shown) as Box<ShownBy<'_>>
            })
            .collect();
        let seen = self.candidates.iter().zip(&is_shown);
        let seen: Vec<ReleaseSeen<'_>> =
            seen.map(|(candidates, is_shown)| ReleaseSeen { candidates: candidates.clone(), is_shown }).collect();
        let (n, having) = worlds(self.values.len(), self.n_values, &seen);
        assert!(n > 0);
        let puzzle = Puzzle::new(&self.sides, &self.kinds, &Unwatched).unwrap();
        let solution = solve(&puzzle, &Unwatched);
        for (kind, &person) in self.people.iter().enumerate() {
            for (value, &expected) in having[person].iter().enumerate() {
                let (people, all) = exact_share(&puzzle, &solution, kind, value);
                assert_eq!(people * n, expected * all, "seed {seed}, person {person}, value {value}");
            }
        }
    }
}

fn draw_groups(draw: &mut Draw, n: usize, n_groups: usize) -> Vec<usize> {
    (0..n).map(|_| draw.below(n_groups)).collect()
}

/// Everybody's group is known, in two or three releases.
#[test]
fn shares_of_known_groups_are_those_of_all_worlds() {
    for seed in 0..3_000 {
        let mut draw = Draw::new(seed);
        let n = 4 + draw.below(5);
        let n_values = if n > 6 { 2 } else { 2 + draw.below(3) };
        let values = (0..n).map(|_| draw.below(n_values)).collect::<Vec<_>>();
        let n_releases = 2 + draw.below(2);
        let releases: Vec<Vec<usize>> = (0..n_releases)
            .map(|_| {
                let n_groups = 1 + draw.below(4);
                draw_groups(&mut draw, n, n_groups)
            })
            .collect();
        let drawn = Drawn {
            n_values,
            groups: releases.iter().map(|groups| groups.iter().map(|&group| Some(group)).collect()).collect(),
            candidates: releases.iter().map(|groups| groups.iter().map(|&group| vec![group]).collect()).collect(),
            columns: vec![Vec::new(); n_releases],
            sides: releases.iter().map(|groups| by_groups(groups, &values)).collect(),
            kinds: placed(&releases),
            people: (0..n).collect(),
            values,
        };
        drawn.check(seed);
    }
}

/// Some people look alike: exact rows tell how many of them are in a group, but not who.
#[test]
fn shares_of_people_who_look_alike_are_those_of_all_worlds() {
    for seed in 0..1_000 {
        let mut draw = Draw::new(10_000 + seed);
        let (n, n_values, n_looks) = (3 + draw.below(3), 2 + draw.below(2), 2 + draw.below(3));
        let values = (0..n).map(|_| draw.below(n_values)).collect::<Vec<_>>();
        let looks = draw_groups(&mut draw, n, n_looks);
        let releases: Vec<Vec<usize>> = (0..2).map(|_| draw_groups(&mut draw, n, 3)).collect();
        let side = |groups: &Vec<usize>| {
            let mut places: BTreeMap<(usize, usize), u64> = BTreeMap::new();
            groups.iter().zip(&looks).for_each(|(&group, &look)| *places.entry((look, group)).or_default() += 1);
            let of_look = |look: usize| (0..).zip(places.keys()).filter(move |(_, place)| place.0 == look);
            let of_kind: Vec<Vec<u32>> =
                (0..n_looks).map(|look| of_look(look).map(|(place, _)| place).collect()).collect();
            let groups_of = looks.iter().map(|&look| of_look(look).map(|(_, place)| place.1).collect()).collect();
            let rows = places.iter().map(|(&(_, group), &rows)| Place { block: group as u32, rows }).collect();
            (Side { blocks: blocks(groups, &values), places: rows, ..Side::default() }, of_kind, groups_of)
        };
        let (mut sides, mut of_kind, mut candidates) = (Vec::new(), Vec::new(), Vec::new());
        for groups in &releases {
            let (side, kinds, groups): (Side, Vec<Vec<u32>>, Vec<Vec<usize>>) = side(groups);
            sides.push(side);
            of_kind.push(kinds);
            candidates.push(groups);
        }
        let known: Vec<usize> = (0..n_looks).filter(|look| looks.contains(look)).collect();
        let likes = |&look: &usize| Likes {
            people: looks.iter().filter(|known| **known == look).count() as u64,
            places: of_kind.iter().map(|kinds| kinds[look].clone()).collect(),
            margins: vec![Vec::new(); 2],
        };
        let drawn = Drawn {
            n_values,
            groups: releases.iter().map(|groups| groups.iter().map(|&group| Some(group)).collect()).collect(),
            candidates,
            columns: vec![vec![looks.clone()]; 2],
            sides,
            kinds: known.iter().map(likes).collect(),
            people: known.iter().map(|look| looks.iter().position(|known| known == look).unwrap()).collect(),
            values,
        };
        drawn.check(seed);
    }
}

/// Ranges that overlap: somebody may be in several groups.
#[test]
fn shares_of_people_in_ranges_are_those_of_all_worlds() {
    for seed in 0..1_500 {
        let mut draw = Draw::new(20_000 + seed);
        let (n, n_values) = (3 + draw.below(3), 2 + draw.below(2));
        let values = (0..n).map(|_| draw.below(n_values)).collect::<Vec<_>>();
        let releases: Vec<Vec<usize>> = (0..2).map(|_| draw_groups(&mut draw, n, 3)).collect();
        let mut candidates: Vec<Vec<Vec<usize>>> = Vec::new();
        for groups in &releases {
            let last = groups.iter().max().copied().unwrap_or(0);
            let mut of_person = |&group: &usize| -> Vec<usize> {
                (0..=last).filter(|&other| other == group || (groups.contains(&other) && draw.below(3) == 0)).collect()
            };
            candidates.push(groups.iter().map(&mut of_person).collect());
        }
        let likes = |person: usize| Likes {
            people: 1,
            places: candidates.iter().map(|all| all[person].iter().map(|&group| group as u32).collect()).collect(),
            margins: vec![Vec::new(); 2],
        };
        let drawn = Drawn {
            n_values,
            groups: releases.iter().map(|groups| groups.iter().map(|&group| Some(group)).collect()).collect(),
            columns: vec![Vec::new(); 2],
            sides: releases.iter().map(|groups| by_groups(groups, &values)).collect(),
            kinds: (0..n).map(likes).collect(),
            people: (0..n).collect(),
            candidates,
            values,
        };
        drawn.check(seed);
    }
}

/// Columns permuted inside groups: a person with a value of each column of a group may be in it, and every value shown
/// is somebody's.
#[test]
fn shares_of_permuted_columns_are_those_of_all_worlds() {
    for seed in 0..1_500 {
        let mut draw = Draw::new(30_000 + seed);
        let (n, n_values) = (3 + draw.below(3), 2 + draw.below(2));
        let values = (0..n).map(|_| draw.below(n_values)).collect::<Vec<_>>();
        let columns: Vec<Vec<usize>> = (0..2).map(|_| draw_groups(&mut draw, n, 3)).collect();
        let releases: Vec<Vec<usize>> = (0..2).map(|_| draw_groups(&mut draw, n, 2)).collect();
        let has = |groups: &[usize], group: usize, column: &[usize], value: usize| {
            groups.iter().zip(column).any(|(&known, &other)| known == group && other == value)
        };
        let may_hold = |groups: &[usize], person: usize, group: usize| {
            columns.iter().all(|column| has(groups, group, column, column[person]))
        };
        let candidates: Vec<Vec<Vec<usize>>> = releases
            .iter()
            .map(|groups| {
                (0..n).map(|person| (0..2).filter(|&group| may_hold(groups, person, group)).collect()).collect()
            })
            .collect();
        let side = |groups: &Vec<usize>| {
            let mut margins = BTreeMap::new();
            for (number, column) in (0..).zip(&columns) {
                for (&group, &value) in groups.iter().zip(column) {
                    *margins.entry((group as u32, number, value as u32)).or_default() += 1;
                }
            }
            Side { margins, is_permuted: true, ..by_groups(groups, &values) }
        };
        let margins = |person: usize| (0..).zip(&columns).map(|(at, column)| (at, column[person] as u32)).collect();
        let likes = |person: usize| Likes {
            people: 1,
            places: candidates.iter().map(|all| all[person].iter().map(|&group| group as u32).collect()).collect(),
            margins: vec![margins(person); 2],
        };
        let drawn = Drawn {
            n_values,
            groups: releases.iter().map(|groups| groups.iter().map(|&group| Some(group)).collect()).collect(),
            columns: vec![columns.clone(); 2],
            sides: releases.iter().map(side).collect(),
            kinds: (0..n).map(likes).collect(),
            people: (0..n).collect(),
            candidates: candidates.clone(),
            values,
        };
        drawn.check(seed);
    }
}

/// Two months: some people are in one release only, and their rows belong to unknown people.
#[test]
fn shares_of_people_in_both_months_are_those_of_all_worlds() {
    for seed in 0..1_500 {
        let mut draw = Draw::new(40_000 + seed);
        let (n, n_values) = (4 + draw.below(4), 2 + draw.below(2));
        let values = (0..n).map(|_| draw.below(n_values)).collect::<Vec<_>>();
        // The first is in both.
        let absent: Vec<usize> = (0..n).map(|person| if person == 0 { 2 } else { draw.below(4) }).collect();
        let releases: Vec<Vec<Option<usize>>> =
            (0..2).map(|at| absent.iter().map(|&absent| (absent != at).then(|| draw.below(3))).collect()).collect();
        let side = |groups: &Vec<Option<usize>>| {
            let (own, of): (Vec<usize>, Vec<usize>) =
                groups.iter().zip(&values).filter_map(|(group, &value)| Some(((*group)?, value))).unzip();
            by_groups(&own, &of)
        };
        let people: Vec<usize> = (0..n).filter(|&person| absent[person] > 1).collect();
        let likes = |&person: &usize| Likes {
            people: 1,
            places: releases.iter().map(|groups| groups[person].iter().map(|&group| group as u32).collect()).collect(),
            margins: vec![Vec::new(); 2],
        };
        let drawn = Drawn {
            n_values,
            candidates: releases
                .iter()
                .map(|groups| groups.iter().map(|group| group.iter().copied().collect()).collect())
                .collect(),
            columns: vec![Vec::new(); 2],
            sides: releases.iter().map(side).collect(),
            kinds: people.iter().map(likes).collect(),
            people,
            groups: releases,
            values,
        };
        drawn.check(seed);
    }
}
