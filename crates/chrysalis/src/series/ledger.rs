//! What an owner remembers of a series, and its bytes.
//!
//! A ledger names nobody: people are keyed hashes. Whoever has it and guesses a person's number can still look the person
//! up, because the key is in it: it stays with the owner.

use std::fmt;

use chrysalis_table::{Knob, Remedy};
use hmac::{Hmac, KeyInit, Mac};
use rand::TryRng;
use rand::rngs::SysRng;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::Error;

/// How the file begins.
const MAGIC: &[u8] = b"chrysalis ledger 1\n";
const HASH: usize = 32;

/// The keyed hash of whoever a row is about.
pub(crate) type PersonHash = [u8; HASH];

/// What an owner remembers of a series.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Ledger {
    pub(super) head: Head,
    /// Everybody who was ever published, with their lives by place; ascending.
    pub(super) people: Vec<(PersonHash, u32)>,
}

impl fmt::Debug for Ledger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Ledger({} releases, {} people)", self.head.releases.len(), self.people.len())
    }
}

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Head {
    key: String,
    /// The column that tells people apart; empty in a ledger of a version that did not say.
    #[serde(default)]
    person: String,
    /// The sensitive column, and what its values are; empty where people are published once only.
    pub(super) column: String,
    pub(super) kind: String,
    /// The m of m-invariance; `None` where people are published once only.
    pub(super) m: Option<u64>,
    pub(super) releases: Vec<ReleaseRecord>,
    pub(super) signatures: Vec<Vec<String>>,
    pub(super) lives: Vec<Vec<u32>>,
}

/// One release, as the ledger remembers it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReleaseRecord {
    /// Its number in the series, from 1 on.
    pub number: u64,
    /// SHA-256 of its manifest.
    pub manifest: String,
    /// The folder that it was written to.
    pub folder: String,
    /// Rows published.
    pub rows: u64,
    /// People who were in an earlier release as well.
    pub stay: u64,
    /// People who were not.
    pub newcomers: u64,
    /// People whose value changed so that they needed another signature.
    pub changed: u64,
    /// Rows that were left out, because their people were published before.
    pub left_out: u64,
    /// Values that nobody has.
    pub counterfeits: u64,
    /// Groups.
    pub groups: u64,
    /// How many more newcomers with one and the same value, at least, would have found a place without counterfeits; 0
    /// as well where that is not known, because k is above m.
    pub room: u64,
}

/// What may be told about a ledger.
#[derive(Clone, Debug, Serialize)]
pub struct SeriesReport {
    /// The m that is promised; absent where people are published once only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub m: Option<u64>,
    /// The sensitive column; absent where people are published once only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
    /// Everybody who was ever published.
    pub people: u64,
    /// Different signatures that they have.
    pub signatures: u64,
    /// The releases, the first one first.
    pub releases: Vec<ReleaseRecord>,
    /// A run that did not come to its end, or is still under way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unfinished: Option<Unfinished>,
}

/// A run that staged another ledger and did not put it in its place.
#[derive(Clone, Debug, Serialize)]
pub struct Unfinished {
    /// The release that it was to publish.
    pub number: u64,
    /// Whether that release is there, although the ledger does not say so yet.
    pub is_published: bool,
    #[serde(skip)]
    pub(super) ledger: String,
}

impl Unfinished {
    /// What happened, as far as can be told.
    pub(super) fn what(&self) -> String {
        let end = match self.is_published {
            true => "after it was written and before the ledger said so",
            false => "before it was written",
        };
        format!("the run that was to publish release {} ended {end}, or is still under way", self.number)
    }
}

impl fmt::Display for Unfinished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let then = match self.is_published {
            true => "then the ledger will know it",
            false => "then the ledger stays as it is",
        };
        let (what, ledger) = (self.what(), &self.ledger);
        write!(f, "{what}. The next run that publishes with the ledger {ledger} puts this right: {then}")
    }
}

impl Ledger {
    /// A new ledger, with a key from the operating system's randomness.
    pub(super) fn new(m: Option<u64>, column: String, kind: String) -> Result<Ledger, Error> {
        let mut key = [0; HASH];
        let failed = |error| Error::internal(format!("no randomness to be had: {error}"));
        SysRng.try_fill_bytes(&mut key).map_err(failed)?;
        let key = key.iter().map(|byte| format!("{byte:02x}")).collect();
        let (releases, signatures, lives) = (Vec::new(), Vec::new(), Vec::new());
        let person = String::new();
        Ok(Ledger { head: Head { key, person, column, kind, m, releases, signatures, lives }, people: Vec::new() })
    }

    /// Refuses another column than the one that tells people apart.
    ///
    /// LEAK: the same people under other numbers would all be taken for newcomers.
    pub(crate) fn check_person(&self, column: &str, name: &str) -> Result<(), Error> {
        let known = &self.head.person;
        if known.is_empty() || known == column {
            return Ok(());
        }
        let message = format!("the ledger {name} tells people apart by `{known}`, not by `{column}`");
        let remedy = Remedy::from("name the same column again with ").knob(Knob::Person, known);
        Err(Error::request(message, remedy.words(": by another one, everybody would be taken for new")))
    }

    /// The same ledger, for people who are told apart by this column.
    pub(super) fn of_person(mut self, column: &str, name: &str) -> Result<Ledger, Error> {
        self.check_person(column, name)?;
        column.clone_into(&mut self.head.person);
        Ok(self)
    }

    /// What may be told about it.
    pub(super) fn report(&self) -> SeriesReport {
        SeriesReport {
            m: self.head.m,
            column: self.head.m.map(|_| self.head.column.clone()),
            people: self.people.len() as u64,
            signatures: self.head.signatures.len() as u64,
            releases: self.head.releases.clone(),
            unfinished: None,
        }
    }

    /// The last release.
    pub(crate) fn last(&self) -> Option<&ReleaseRecord> {
        self.head.releases.last()
    }

    pub(crate) fn releases(&self) -> &[ReleaseRecord] {
        &self.head.releases
    }

    /// Whether it knows people, but none of these.
    pub(super) fn knows_none(&self, people: &[PersonHash]) -> bool {
        !self.people.is_empty() && people.iter().all(|person| self.life(person).is_none())
    }

    /// Hashes people.
    ///
    /// LEAK: the hash depends on a key of this ledger, so two ledgers cannot be joined.
    pub(crate) fn hasher(&self) -> Result<impl Fn(&str) -> PersonHash + Sync + use<>, Error> {
        let mut mac = Hmac::<Sha256>::new_from_slice(self.head.key.as_bytes())
            .map_err(|_| Error::internal("HMAC refuses the length of a key, which may be any"))?;
        mac.update(b"chrysalis series person 1\0");
        Ok(move |person: &str| {
            let mut mac = mac.clone();
            mac.update(person.as_bytes());
            mac.finalize().into_bytes().into()
        })
    }

    /// The life of somebody who was published before.
    pub(super) fn life(&self, person: &PersonHash) -> Option<u32> {
        let at = self.people.binary_search_by(|(known, _)| known.cmp(person)).ok()?;
        Some(self.people[at].1)
    }

    /// All signatures; `None` where people are published once.
    pub(crate) fn signatures(&self) -> Option<&[Vec<String>]> {
        self.head.m.map(|_| self.head.signatures.as_slice())
    }

    /// The signatures that somebody was ever given, by their places.
    pub(crate) fn signatures_of(&self, person: &PersonHash) -> Option<Vec<u32>> {
        self.head.lives.get(self.life(person)? as usize).cloned()
    }

    /// Its bytes: a line, the head as JSON after its length, everybody, and SHA-256 of all that.
    pub(super) fn encode(&self) -> Result<Vec<u8>, Error> {
        let head = serde_json::to_vec(&self.head).map_err(|error| Error::internal(error.to_string()))?;
        let mut bytes = Vec::with_capacity(MAGIC.len() + 16 + head.len() + (HASH + 4) * (self.people.len() + 1));
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&(head.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&head);
        bytes.extend_from_slice(&(self.people.len() as u64).to_le_bytes());
        for (person, life) in &self.people {
            bytes.extend_from_slice(person);
            bytes.extend_from_slice(&life.to_le_bytes());
        }
        let sum = Sha256::digest(&bytes);
        bytes.extend_from_slice(&sum);
        Ok(bytes)
    }

    /// The ledger with these bytes. `name` is the file's, for messages.
    pub(crate) fn decode(bytes: &[u8], name: &str) -> Result<Ledger, Error> {
        let Some(rest) = bytes.strip_prefix(MAGIC) else {
            let message = format!("{name} is not a ledger of this version");
            return Err(Error::request(message, "name the right file, or a file that is not there yet"));
        };
        let damaged = || {
            let message = format!("the ledger {name} is damaged: its checksum is not that of its bytes");
            Error::request(message, "put the last good copy back; without it, the series cannot be continued")
        };
        let (_, sum) = bytes.split_at_checked(bytes.len().saturating_sub(HASH)).ok_or_else(damaged)?;
        let rest = rest.strip_suffix(sum).ok_or_else(damaged)?;
        if Sha256::digest(&bytes[..bytes.len() - HASH])[..] != *sum {
            return Err(damaged());
        }
        let (head, rest) = framed(rest).ok_or_else(damaged)?;
        let head: Head = serde_json::from_slice(head).map_err(|_| damaged())?;
        let (count, rest) = rest.split_first_chunk::<8>().ok_or_else(damaged)?;
        if (rest.len() as u64).checked_div((HASH + 4) as u64) != Some(u64::from_le_bytes(*count))
            || !rest.len().is_multiple_of(HASH + 4)
        {
            return Err(damaged());
        }
        let person = |bytes: &[u8]| -> Option<(PersonHash, u32)> {
            let (person, life) = bytes.split_first_chunk::<HASH>()?;
            Some((*person, u32::from_le_bytes(life.try_into().ok()?)))
        };
        let people: Vec<(PersonHash, u32)> =
            rest.chunks_exact(HASH + 4).map(person).collect::<Option<_>>().ok_or_else(damaged)?;
        let ledger = Ledger { head, people };
        if ledger.is_sound() { Ok(ledger) } else { Err(damaged()) }
    }

    /// Whether every reference leads somewhere. A checksum says nothing about who computed it.
    fn is_sound(&self) -> bool {
        let Head { releases, signatures, lives, m, .. } = &self.head;
        let follows = m.is_some();
        let is_life = |life: &Vec<u32>| !life.is_empty() && life.iter().all(|&at| (at as usize) < signatures.len());
        let is_signature = |values: &Vec<String>| {
            let mut sorted: Vec<&String> = values.iter().collect();
            sorted.sort_unstable();
            values.len() as u64 >= m.unwrap_or(0) && sorted.windows(2).all(|pair| pair[0] != pair[1])
        };
        releases.iter().zip(1..).all(|(release, number)| release.number == number)
            && lives.iter().all(is_life)
            && signatures.iter().all(is_signature)
            && self.people.windows(2).all(|pair| pair[0].0 < pair[1].0)
            && self.people.iter().all(|(_, life)| !follows || (*life as usize) < lives.len())
    }
}

/// Bytes after their length.
fn framed(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<8>()?;
    rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)
}

/// The remedy for a ledger that does not belong to what it is used for.
pub(crate) fn other_ledger() -> Remedy {
    Remedy::from("name the ledger of this series with ").knob(Knob::Series, "FILE")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ledger() -> Ledger {
        let mut ledger = Ledger::new(Some(2), "disease".into(), "category".into()).unwrap();
        ledger.head.signatures = vec![vec!["cold".into(), "flu".into()], vec!["flu".into(), "ulcer".into()]];
        ledger.head.lives = vec![vec![0], vec![1], vec![0, 1]];
        ledger.head.releases = vec![ReleaseRecord { number: 1, rows: 3, ..ReleaseRecord::default() }];
        let hash = ledger.hasher().unwrap();
        ledger.people = vec![(hash("ann"), 0), (hash("bob"), 1), (hash("carl"), 2)];
        ledger.people.sort_unstable();
        ledger
    }

    #[test]
    fn bytes_read_back() {
        let ledger = ledger();
        let bytes = ledger.encode().unwrap();
        let read = Ledger::decode(&bytes, "ledger").unwrap();
        assert_eq!(read, ledger);
        let hash = read.hasher().unwrap();
        assert_eq!((read.life(&hash("carl")), read.life(&hash("dora"))), (Some(2), None));
        let text = String::from_utf8_lossy(&bytes);
        assert!(["ann", "bob", "carl"].iter().all(|name| !text.contains(name)), "it names nobody");
        assert_eq!(format!("{ledger:?}"), "Ledger(1 releases, 3 people)");
    }

    #[test]
    fn people_are_told_apart_by_one_column() {
        let ledger = ledger().of_person("patient_id", "ledger").unwrap();
        let ledger = Ledger::decode(&ledger.encode().unwrap(), "ledger").unwrap();
        assert!(ledger.clone().of_person("patient_id", "ledger").is_ok());
        let error = ledger.of_person("ssn", "ledger").unwrap_err();
        assert_eq!(error.message, "the ledger ledger tells people apart by `patient_id`, not by `ssn`");
    }

    #[test]
    fn one_flipped_byte_anywhere_is_refused_in_words() {
        let bytes = ledger().encode().unwrap();
        for at in 0..bytes.len() {
            for bit in [1, 128] {
                let mut flipped = bytes.clone();
                flipped[at] ^= bit;
                let error = Ledger::decode(&flipped, "ledger").unwrap_err();
                let expected = match at < MAGIC.len() {
                    true => "ledger is not a ledger of this version",
                    false => "the ledger ledger is damaged: its checksum is not that of its bytes",
                };
                assert_eq!(error.message, expected);
            }
        }
        for length in 0..bytes.len() {
            assert!(Ledger::decode(&bytes[..length], "ledger").is_err());
        }
    }

    /// Somebody may have computed a checksum of nonsense.
    #[test]
    fn references_that_lead_nowhere_are_refused() {
        let changes: [&dyn Fn(&mut Ledger); 5] = [
            &|ledger| ledger.head.lives[2] = vec![2],
            &|ledger| ledger.head.lives[0] = Vec::new(),
            &|ledger| ledger.people[0].1 = 3,
            &|ledger| ledger.people.reverse(),
            &|ledger| ledger.head.signatures[0] = vec!["flu".into(), "flu".into()],
        ];
        for change in changes {
            let mut ledger = ledger();
            change(&mut ledger);
            assert!(Ledger::decode(&ledger.encode().unwrap(), "ledger").is_err());
        }
    }
}
