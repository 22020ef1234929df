//! What is true of a release, computed here alone: a lie must be one for certain, not because the audit says so.

use std::collections::{BTreeMap, BTreeSet};

use chrysalis::table::Kind;

use crate::release::Fake;
use crate::sheet::{Head, Sheet};

/// How often each sensitive value occurs in a unit that promises are about.
pub(crate) type Counts = BTreeMap<String, u64>;

impl Fake<'_> {
    /// The sensitive values of every group or batch, by its id.
    pub(crate) fn groups(&self) -> BTreeMap<String, Counts> {
        let name = self.sensitive();
        let mut groups: BTreeMap<String, Counts> = BTreeMap::new();
        let Some(id) = self.form().shape().group_id else { return groups };
        let sheet = self.counts().unwrap_or_else(|| self.rows());
        let (id, value, count) = (sheet.at(id), sheet.at(&name), sheet.find("count"));
        for row in &sheet.rows {
            let n = match count {
                Some(count) if self.counts().is_some() => row[count].parse().unwrap_or(0),
                _ => 1,
            };
            *groups.entry(row[id].clone()).or_default().entry(row[value].clone()).or_default() += n;
        }
        groups
    }

    /// The units that promises about sensitive values are about: groups, batches, or the classes of every user.
    pub(crate) fn units(&self) -> Vec<Counts> {
        if !self.form().shape().has_users {
            return self.groups().into_values().collect();
        }
        let sheet = self.rows();
        let value = sheet.at(&self.sensitive());
        let mut units = Vec::new();
        for user in self.users() {
            let columns: Vec<usize> = user.iter().flat_map(|name| self.columns_of(sheet, name)).collect();
            let mut classes: BTreeMap<Vec<&String>, Counts> = BTreeMap::new();
            for row in &sheet.rows {
                let seen = columns.iter().map(|&at| &row[at]).collect();
                *classes.entry(seen).or_default().entry(row[value].clone()).or_default() += 1;
            }
            units.extend(classes.into_values());
        }
        units
    }

    /// The sizes of the units that `k` is about: groups, buckets of every table, or the classes of every user.
    pub(crate) fn sizes(&self) -> Vec<u64> {
        if self.form().shape().marginals.is_none() {
            return self.units().iter().map(|counts| counts.values().sum()).collect();
        }
        let mut sizes = Vec::new();
        for sheet in self.sheets.iter().filter(|sheet| sheet.name.starts_with("gt")) {
            let quasi = self.with_role("quasi");
            let columns: Vec<usize> = quasi.iter().flat_map(|name| self.columns_of(sheet, name)).collect();
            let mut buckets: BTreeMap<Vec<&String>, u64> = BTreeMap::new();
            for row in &sheet.rows {
                *buckets.entry(columns.iter().map(|&at| &row[at]).collect()).or_default() += 1;
            }
            sizes.extend(buckets.into_values());
        }
        sizes
    }

    pub(crate) fn users(&self) -> Vec<Vec<String>> {
        serde_json::from_value(self.json["quasi_identifiers"].clone()).unwrap()
    }

    /// The columns of a table that show an attribute; empty if it is not shown there.
    pub(crate) fn columns_of(&self, sheet: &Sheet, name: &str) -> Vec<usize> {
        let ends = [format!("{name}_min"), format!("{name}_max")];
        match sheet.find(name) {
            Some(at) => vec![at],
            None => ends.iter().filter_map(|end| sheet.find(end)).collect(),
        }
    }

    /// Whether a promise that can be counted by hand is broken.
    pub(crate) fn is_broken(&self) -> bool {
        let (units, sizes) = (self.units(), self.sizes());
        let head = self.head_of(&self.sensitive());
        let promises = self.json["promises"].as_array().unwrap();
        promises.iter().any(|promise| {
            let (name, parameters) = promise["principle"].as_str().unwrap().split_once('=').unwrap();
            let numbers: Vec<f64> = parameters.split(',').map(|text| text.parse().unwrap()).collect();
            match name {
                "k" => sizes.iter().any(|&n| (n as f64) < numbers[0]),
                "l" => units.iter().any(|unit| most(unit) as f64 * numbers[0] > size(unit) as f64),
                "distinct-l" | "entropy-l" => units.iter().any(|unit| (unit.len() as f64) < numbers[0]),
                "ke" => units.iter().any(|unit| (unit.len() as f64) < numbers[0] || span(&head, unit) < numbers[1]),
                _ => false,
            }
        })
    }
}

pub(crate) fn size(unit: &Counts) -> u64 {
    unit.values().sum()
}

pub(crate) fn most(unit: &Counts) -> u64 {
    unit.values().copied().max().unwrap_or(0)
}

/// The distance from the least to the greatest number.
pub(crate) fn span(head: &Head, unit: &Counts) -> f64 {
    let places: Vec<f64> = unit.keys().map(|text| head.place(text)).collect();
    places.iter().copied().fold(f64::MIN, f64::max) - places.iter().copied().fold(f64::MAX, f64::min)
}

/// The people whom a row with ranges and labels may stand for.
pub(crate) struct Boxes<'a> {
    attributes: Vec<(Head, Vec<usize>)>,
    members: BTreeSet<(&'a str, &'a str, &'a str)>,
}

impl<'a> Boxes<'a> {
    pub(crate) fn of(fake: &'a Fake<'_>, sheet: &Sheet) -> Boxes<'a> {
        let shown = |name: String| {
            let columns = fake.columns_of(sheet, &name);
            (!columns.is_empty()).then(|| (fake.head_of(&name), columns))
        };
        let members = fake.sheet("members").rows.iter();
        Boxes {
            attributes: fake.with_role("quasi").into_iter().filter_map(shown).collect(),
            members: members.map(|line| (line[0].as_str(), line[1].as_str(), line[2].as_str())).collect(),
        }
    }

    /// Whether a row can belong to somebody with these values.
    pub(crate) fn covers(&self, row: &[String], value: impl Fn(&str) -> String) -> bool {
        self.attributes.iter().all(|(head, columns)| {
            let text = value(&head.name);
            match columns[..] {
                [label] => self.members.contains(&(head.name.as_str(), row[label].as_str(), text.as_str())),
                [low, high] => {
                    let place = head.place(&text);
                    head.place(&row[low]) <= place && place <= head.place(&row[high])
                }
                _ => false,
            }
        })
    }

    /// Whether two rows of two tables can belong to the same person.
    pub(crate) fn meets(&self, row: &[String], other: &Boxes<'_>, its: &[String]) -> bool {
        let shared = self.attributes.iter().filter_map(|(head, columns)| {
            let known = other.attributes.iter().find(|(known, _)| known.name == head.name)?;
            Some((head, columns, &known.1))
        });
        shared.into_iter().all(|(head, mine, theirs)| match (&mine[..], &theirs[..]) {
            (&[label], &[other]) => self.members.iter().any(|&(name, known, value)| {
                let also = (head.name.as_str(), its[other].as_str(), value);
                name == head.name && known == row[label] && self.members.contains(&also)
            }),
            (&[low, high], &[from, to]) => {
                head.place(&row[low]) <= head.place(&its[to]) && head.place(&its[from]) <= head.place(&row[high])
            }
            _ => false,
        })
    }
}

/// Whether everyone on the left can be matched with someone of their own on the right (Kuhn's algorithm).
pub(crate) fn can_be_matched(left: usize, right: usize, fits: impl Fn(usize, usize) -> bool) -> bool {
    let edges: Vec<Vec<usize>> = (0..left).map(|a| (0..right).filter(|&b| fits(a, b)).collect()).collect();
    let mut owner: Vec<Option<usize>> = vec![None; right];
    fn place(a: usize, edges: &[Vec<usize>], owner: &mut [Option<usize>], seen: &mut [bool]) -> bool {
        for &b in &edges[a] {
            if std::mem::replace(&mut seen[b], true) {
                continue;
            }
            let is_free = match owner[b] {
                None => true,
                Some(other) => place(other, edges, owner, seen),
            };
            if is_free {
                owner[b] = Some(a);
                return true;
            }
        }
        false
    }
    (0..left).all(|a| place(a, &edges, &mut owner, &mut vec![false; right]))
}

impl Fake<'_> {
    /// Whether people can be assigned to the rows of a table with ranges and labels so that each row covers its person.
    pub(crate) fn covers_people(&self, sheet: &Sheet) -> bool {
        let people = &self.honest.people;
        let exact: Vec<(usize, usize)> = self
            .with_role("other")
            .into_iter()
            .chain([self.sensitive()])
            .filter_map(|name| Some((sheet.find(&name)?, people.at(&name))))
            .collect();
        let covered: Vec<Box<dyn Fn(usize, usize) -> bool>> = Boxes::of(self, sheet)
            .attributes
            .iter()
            .map(|(head, columns)| self.coverage(sheet, head, columns))
            .collect();
        can_be_matched(people.rows.len(), sheet.rows.len(), |person, row| {
            exact.iter().all(|&(shown, own)| sheet.rows[row][shown] == people.rows[person][own])
                && covered.iter().all(|covers| covers(person, row))
        })
    }

    /// Whether a row covers a person in one attribute, with everything parsed in advance.
    fn coverage(&self, sheet: &Sheet, head: &Head, columns: &[usize]) -> Box<dyn Fn(usize, usize) -> bool> {
        let own = self.honest.people.column(&head.name);
        match *columns {
            [label] => {
                let members = &self.sheet("members").rows;
                let of = |row: &Vec<String>| -> BTreeSet<String> {
                    let lines = members.iter().filter(|line| line[0] == head.name && line[1] == row[label]);
                    lines.map(|line| line[2].clone()).collect()
                };
                let sets: Vec<BTreeSet<String>> = sheet.rows.iter().map(of).collect();
                Box::new(move |person, row| sets[row].contains(&own[person]))
            }
            [low, high] => {
                let places: Vec<f64> = own.iter().map(|text| head.place(text)).collect();
                let ends = |row: &Vec<String>| (head.place(&row[low]), head.place(&row[high]));
                let ends: Vec<(f64, f64)> = sheet.rows.iter().map(ends).collect();
                Box::new(move |person, row| ends[row].0 <= places[person] && places[person] <= ends[row].1)
            }
            _ => Box::new(|_, _| false),
        }
    }

    /// Whether the people with a sensitive value can be assigned to the batches that have it, each to one where some
    /// row covers them.
    pub(crate) fn batches_fit(&self, value: &str) -> bool {
        let people = &self.honest.people;
        let (sheet, counts) = (self.rows(), self.counts().unwrap());
        let boxes = Boxes::of(self, sheet);
        let (id, sensitive) = (self.id().unwrap(), people.at(&self.sensitive()));
        let owners: Vec<&Vec<String>> = people.rows.iter().filter(|row| row[sensitive] == value).collect();
        let (batch, shown, count) = (counts.at("batch_id"), counts.at(&self.sensitive()), counts.at("count"));
        let lines = counts.rows.iter().filter(|line| line[shown] == value);
        let places: Vec<&String> =
            lines.flat_map(|line| std::iter::repeat_n(&line[batch], line[count].parse().unwrap())).collect();
        let mut rows: BTreeMap<&String, Vec<&Vec<String>>> = BTreeMap::new();
        sheet.rows.iter().for_each(|row| rows.entry(&row[id]).or_default().push(row));
        can_be_matched(owners.len(), places.len(), |owner, place| {
            let covers = |row: &&Vec<String>| boxes.covers(row, |name| owners[owner][people.at(name)].clone());
            rows.get(places[place]).is_some_and(|rows| rows.iter().any(covers))
        })
    }
}

/// The lines of the table of bounds for a group with these values.
pub(crate) fn help(kind: Kind, id: &str, values: &[f64]) -> Vec<Vec<String>> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    let exact = |number: f64| if kind == Kind::Integer { format!("{}", number as i64) } else { format!("{number}") };
    let mean = sorted.iter().sum::<f64>() / n as f64;
    let spread = sorted.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n as f64;
    let moments = |odds: &[f64], values: &[f64]| {
        let mean: f64 = odds.iter().zip(values).map(|(p, x)| p * x).sum();
        (mean, odds.iter().zip(values).map(|(p, x)| p * (x - mean) * (x - mean)).sum::<f64>())
    };
    let falling: Vec<f64> = sorted.iter().rev().copied().collect();
    (1..=n)
        .map(|hits| {
            let (low, high) = (&sorted[..hits], &sorted[n - hits..]);
            // The i-th least value is the minimum of the hits if all other hits are drawn from those above it.
            let odds: Vec<f64> = (0..n).map(|i| choose(n - 1 - i, hits - 1) / choose(n, hits)).collect();
            let (least, least_spread) = moments(&odds, &sorted);
            let (greatest, greatest_spread) = moments(&odds, &falling);
            let rest = if n > 1 { (n - hits) as f64 / (n - 1) as f64 } else { 0.0 };
            let mut line = vec![id.to_owned(), hits.to_string(), exact(low.iter().sum()), exact(high.iter().sum())];
            line.extend([sorted[0], sorted[n - hits], sorted[hits - 1], sorted[n - 1]].map(exact));
            let h = hits as f64;
            let reals = [h * mean, h * rest * spread, least, least_spread, greatest, greatest_spread];
            line.extend(reals.map(|number| format!("{}", number + 0.0)));
            line
        })
        .collect()
}

fn choose(n: usize, k: usize) -> f64 {
    if k > n { 0.0 } else { (0..k).fold(1.0, |product, i| product * (n - i) as f64 / (i + 1) as f64) }
}

/// The probability that a permutation within groups leaves at least `at_least` rows beside a value equal to their own.
/// Each group is given by how often each of its values occurs. `None` if groups are too large for exact counting in
/// floats.
pub(crate) fn chance_of_matches(groups: &[Vec<u64>], at_least: usize) -> Option<f64> {
    let mut all = vec![1.0];
    for group in groups {
        all = convolved(&all, &matches_in(group)?);
    }
    Some(all.iter().skip(at_least).sum())
}

/// The distribution of matches in one group, by rook polynomials: k matches can be placed in r_k ways, and
/// inclusion–exclusion gives the number of permutations with exactly k.
fn matches_in(group: &[u64]) -> Option<Vec<f64>> {
    let n: usize = group.iter().sum::<u64>() as usize;
    if n > 18 {
        return None;
    }
    let factorial = |n: usize| (1..=n).fold(1.0, |product, i| product * i as f64);
    let mut rooks = vec![1.0];
    for &count in group {
        let count = count as usize;
        let block: Vec<f64> = (0..=count).map(|k| choose(count, k) * choose(count, k) * factorial(k)).collect();
        rooks = convolved(&rooks, &block);
    }
    let exactly = |j: usize| {
        let sum: f64 = (j..=n)
            .map(|k| {
                let sign = if (k - j).is_multiple_of(2) { 1.0 } else { -1.0 };
                sign * choose(k, j) * rooks[k] * factorial(n - k)
            })
            .sum();
        (sum / factorial(n)).max(0.0)
    };
    Some((0..=n).map(exactly).collect())
}

fn convolved(a: &[f64], b: &[f64]) -> Vec<f64> {
    let mut product = vec![0.0; a.len() + b.len() - 1];
    for (i, x) in a.iter().enumerate() {
        for (j, y) in b.iter().enumerate() {
            product[i + j] += x * y;
        }
    }
    product
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_are_those_of_all_permutations() {
        // Three different values: of six permutations, one leaves three matches, three leave one, and two leave none.
        let found = matches_in(&[1, 1, 1]).unwrap();
        let expected = [2.0 / 6.0, 3.0 / 6.0, 0.0, 1.0 / 6.0];
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?}");
        // The same value twice: always two matches.
        assert!((matches_in(&[2]).unwrap()[2] - 1.0).abs() < 1e-12);
        let chance = chance_of_matches(&[vec![1, 1], vec![1, 1]], 4).unwrap();
        assert!((chance - 0.25).abs() < 1e-12);
    }

    #[test]
    fn a_matching_is_found_or_there_is_none() {
        assert!(can_be_matched(2, 2, |a, b| a == 0 || b == 0));
        assert!(!can_be_matched(2, 2, |_, b| b == 0));
    }
}
