//! People who come and go, for releases month after month.

#![allow(dead_code, reason = "every test file uses a part of this")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use sha2::{Digest, Sha256};

/// A stream of numbers that is the same in every run.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

/// People who come and go: number, age, ward and disease.
pub(crate) struct Town {
    pub(crate) dice: Dice,
    pub(crate) people: BTreeMap<u32, (u64, u64, u64)>,
    pub(crate) next: u32,
}

impl Town {
    pub(crate) fn new(seed: u64, n: u32) -> Town {
        let mut town = Town { dice: Dice(seed), people: BTreeMap::new(), next: 0 };
        town.come(n);
        town
    }

    pub(crate) fn come(&mut self, n: u32) {
        for _ in 0..n {
            let person = (18 + self.dice.below(70), self.dice.below(9), self.dice.below(12));
            self.people.insert(self.next, person);
            self.next += 1;
        }
    }

    pub(crate) fn leave(&mut self, n: u32) {
        for _ in 0..n {
            let there: Vec<u32> = self.people.keys().copied().collect();
            let gone = there[self.dice.below(there.len() as u64) as usize];
            self.people.remove(&gone);
        }
    }

    pub(crate) fn write(&self, path: &Path) {
        let mut text = "id,age,ward,disease\n".to_owned();
        for (id, (age, ward, disease)) in &self.people {
            writeln!(text, "p{id},{age},w{ward},d{disease}").unwrap();
        }
        fs::write(path, text).unwrap();
    }

    /// How many people are older than that and have this disease.
    pub(crate) fn count(&self, age: u64, disease: u64) -> f64 {
        self.people.values().filter(|person| person.0 > age && person.2 == disease).count() as f64
    }
}

pub(crate) const ROLES: &str = "--quasi age,ward --sensitive disease --person id";

pub(crate) fn publish(month: usize, more: &str) -> String {
    format!("publish month-{month}.csv {ROLES} --require m=3 --series ledger --out release-{month} --quiet {more}")
}

pub(crate) fn hash(path: &Path) -> String {
    Sha256::digest(fs::read(path).unwrap()).iter().map(|byte| format!("{byte:02x}")).collect()
}
