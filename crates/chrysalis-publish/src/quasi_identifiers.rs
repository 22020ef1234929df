//! Several quasi-identifiers: what each user knows, what they have in common, and what they know together.

use std::collections::BTreeSet;

use crate::{Microdata, PublishError};

/// The most sets that are protected at once: the number of ways to collude grows fast.
const MOST_SETS: usize = 1_000;

/// Sets of quasi attributes, by name: one per user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuasiIdentifiers {
    sets: Vec<Vec<String>>,
}

/// The parts of a butterfly: attributes by their index among the quasi attributes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BodyAndWings {
    /// The sets that no other set contains.
    pub(crate) sets: Vec<Vec<usize>>,
    /// The attributes that are in two or more of these sets.
    pub(crate) body: Vec<usize>,
    /// For each of these sets, the attributes that it alone has.
    pub(crate) wings: Vec<Vec<usize>>,
}

impl BodyAndWings {
    /// The same parts of a table in which every attribute became one or more columns, at these places.
    pub(crate) fn lifted(&self, places: &[Vec<usize>]) -> BodyAndWings {
        let lift = |attributes: &Vec<usize>| attributes.iter().flat_map(|&at| &places[at]).copied().collect();
        BodyAndWings {
            sets: self.sets.iter().map(lift).collect(),
            body: lift(&self.body),
            wings: self.wings.iter().map(lift).collect(),
        }
    }
}

impl QuasiIdentifiers {
    /// The sets as the owner names them. Each must have at least one attribute, and none twice.
    pub fn new(sets: Vec<Vec<String>>) -> Result<Self, PublishError> {
        if sets.is_empty() {
            return Err(PublishError::NoQuasi);
        }
        for set in &sets {
            let distinct: BTreeSet<&String> = set.iter().collect();
            if set.is_empty() || distinct.len() != set.len() {
                let text = set.join(",");
                return Err(PublishError::request(format!(
                    "the quasi-identifier `{text}` is empty or names a column twice"
                )));
            }
        }
        Ok(QuasiIdentifiers { sets })
    }

    /// The sets, in the order named.
    pub fn sets(&self) -> &[Vec<String>] {
        &self.sets
    }

    /// What any `c` users know together: all unions of `c` sets, except those that another union contains.
    pub fn colluding(&self, c: usize) -> Result<Self, PublishError> {
        if c == 0 || c > self.sets.len() {
            let n = self.sets.len();
            return Err(PublishError::request(format!("{c} of {n} users cannot collude")));
        }
        if c == 1 {
            return Ok(self.clone());
        }
        let mut unions: Vec<Vec<usize>> = (0..self.sets.len()).map(|first| vec![first]).collect();
        for _ in 1..c {
            let longer = |users: &Vec<usize>| {
                let next = users.last().map_or(0, |last| last + 1);
                let users = users.clone();
                (next..self.sets.len()).map(move |user| [users.clone(), vec![user]].concat())
            };
            unions = unions.iter().flat_map(longer).take(MOST_SETS + 1).collect();
            if unions.len() > MOST_SETS {
                let problem = format!("{c} of {} users can collude in more than {MOST_SETS} ways", self.sets.len());
                return Err(PublishError::request(problem));
            }
        }
        let sets: Vec<Vec<String>> = unions.iter().map(|users| self.union(users)).collect();
        let kept = maximal(&sets).into_iter().map(|at| sets[at].clone()).collect();
        Ok(QuasiIdentifiers { sets: kept })
    }

    /// The attributes of some users, each once, in the order named.
    fn union(&self, users: &[usize]) -> Vec<String> {
        let mut union: Vec<String> = Vec::new();
        for name in users.iter().flat_map(|&user| &self.sets[user]) {
            if !union.contains(name) {
                union.push(name.clone());
            }
        }
        union
    }

    /// The body and the wings. A set that another set contains is protected along with it, and has no wing.
    pub(crate) fn body_and_wings(&self, data: &Microdata) -> Result<BodyAndWings, PublishError> {
        let place = |name: &String| {
            let place = data.quasi().position(|(column, _)| column.name() == name);
            place.ok_or_else(|| PublishError::request(format!("`{name}` is not a quasi column")))
        };
        let kept = maximal(&self.sets).into_iter().map(|at| self.sets[at].iter().map(place).collect());
        let sets: Vec<Vec<usize>> = kept.collect::<Result<_, _>>()?;
        let n_sets = |attribute: usize| sets.iter().filter(|set| set.contains(&attribute)).count();
        if let Some((column, _)) = data.quasi().enumerate().find(|(at, _)| n_sets(*at) == 0).map(|(_, quasi)| quasi) {
            let name = column.name();
            return Err(PublishError::request(format!("the quasi column `{name}` is in no quasi-identifier")));
        }
        let wing = |set: &Vec<usize>| set.iter().copied().filter(|&at| n_sets(at) == 1).collect();
        Ok(BodyAndWings {
            body: (0..data.quasi().len()).filter(|&at| n_sets(at) > 1).collect(),
            wings: sets.iter().map(wing).collect(),
            sets,
        })
    }
}

/// The indices of the sets that no other set contains; of equal sets, only the first.
fn maximal(sets: &[Vec<String>]) -> Vec<usize> {
    let sets: Vec<BTreeSet<&String>> = sets.iter().map(|set| set.iter().collect()).collect();
    let is_covered = |at: usize| {
        (0..sets.len()).any(|other| {
            other != at && sets[at].is_subset(&sets[other]) && (sets[at].len() < sets[other].len() || other < at)
        })
    };
    (0..sets.len()).filter(|&at| !is_covered(at)).collect()
}

#[cfg(test)]
mod tests {
    use chrysalis_table::{Column, Role, Table};

    use super::*;
    use crate::AttributeSpec;

    fn sets(texts: &[&str]) -> QuasiIdentifiers {
        let set = |text: &&str| text.split(' ').map(str::to_owned).collect();
        QuasiIdentifiers::new(texts.iter().map(set).collect()).unwrap()
    }

    fn check(texts: &[&str], body: &str, wings: &[&str]) {
        let names = ["a", "b", "c", "d"];
        let used = names.into_iter().filter(|name| texts.iter().any(|text| text.contains(name)));
        let used: Vec<&str> = used.collect();
        let table = Table::new(used.iter().map(|name| Column::integers(*name, &[1, 2])).collect());
        let attributes: Vec<_> = used.iter().map(|name| AttributeSpec::new(*name, Role::QuasiIdentifier)).collect();
        let data = Microdata::new(table, &attributes).unwrap();
        let found = sets(texts).body_and_wings(&data).unwrap();
        let spell = |places: &[usize]| places.iter().map(|&at| used[at]).collect::<String>();
        assert_eq!(spell(&found.body), body, "{texts:?}");
        assert_eq!(found.wings.iter().map(|wing| spell(wing)).collect::<Vec<_>>(), wings, "{texts:?}");
    }

    #[test]
    fn what_two_users_know_is_the_body_and_what_one_knows_a_wing() {
        check(&["a b", "b c"], "b", &["a", "c"]);
        check(&["a b", "c d"], "", &["ab", "cd"]);
        check(&["a b c", "b c"], "", &["abc"]);
        check(&["a b", "b a"], "", &["ab"]);
        check(&["a b", "b c", "a c"], "abc", &["", "", ""]);
        check(&["a b", "a c", "a d"], "a", &["b", "c", "d"]);
    }

    #[test]
    fn users_who_collude_know_the_union() {
        let check = |c: usize, expected: &[&str]| {
            let found = sets(&["a b", "b c", "c d"]).colluding(c).unwrap();
            assert_eq!(found, sets(expected), "{c}");
        };
        check(1, &["a b", "b c", "c d"]);
        // `a b` with `b c` knows less than `a b` with `c d`.
        check(2, &["a b c d"]);
        check(3, &["a b c d"]);
        assert!(sets(&["a", "b"]).colluding(3).is_err() && sets(&["a", "b"]).colluding(0).is_err());
        let many: Vec<Vec<String>> = (0..40).map(|at| vec![format!("a{at}")]).collect();
        assert!(QuasiIdentifiers::new(many).unwrap().colluding(20).is_err());
    }

    #[test]
    fn sets_that_say_nothing_or_something_twice_are_refused() {
        for set in [vec![], vec!["a", "a"]] {
            let set = set.into_iter().map(str::to_owned).collect();
            assert!(QuasiIdentifiers::new(vec![set]).is_err());
        }
    }
}
