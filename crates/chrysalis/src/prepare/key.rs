//! The owner's key, on which pseudonyms and shifts depend.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use chrysalis_store::{make_secret, read_secret};
use chrysalis_table::{Knob, Remedy};
use hmac::{Hmac, KeyInit, Mac};
use rand::TryRng;
use rand::rngs::SysRng;
use sha2::Sha256;

use crate::Error;

/// The least length of a key, in bytes: that of the keys that we make.
const BYTES: usize = 32;
/// Dates are moved by at most this many days, in either direction.
const MOST_DAYS: i32 = 183;

/// A secret of the owner's. It leaves its file only to be hashed together with values: `Debug` does not show it, and
/// nothing writes it but [`Key::make`].
#[derive(Clone)]
pub struct Key(Arc<[u8]>);

impl Key {
    /// The key in a file; `None` if there is no such file.
    ///
    /// # Errors
    /// If others may read the file, or if it holds anything but one line of at least 64 hexadecimal digits.
    pub fn read(path: &Path) -> Result<Option<Key>, Error> {
        let Some(bytes) = read_secret(path)? else { return Ok(None) };
        // LEAK: no part of the file is repeated in the message.
        let wrong = || {
            let message = format!(
                "{} is not a key: expected one line of at least {} hexadecimal digits",
                path.display(),
                2 * BYTES
            );
            let remedy = Remedy::from("name the right file with ")
                .knob(Knob::Key, "")
                .words(", or move this one away to have a new key made");
            Error::request(message, remedy)
        };
        std::str::from_utf8(&bytes).ok().and_then(Key::parse).map(Some).ok_or_else(wrong)
    }

    /// A new key from the operating system's randomness, in a file with mode 600 that was not there before; `None` if
    /// it was there.
    pub fn make(path: &Path) -> Result<Option<Key>, Error> {
        let bytes = random()?;
        let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let unwritable = |error: chrysalis_store::StoreError| {
            let remedy = Remedy::from("name a place where only you can read it with ").knob(Knob::Key, "");
            Error::request(format!("a key cannot be made: {error}"), remedy)
        };
        let is_new = make_secret(path, format!("{digits}\n").as_bytes()).map_err(unwritable)?;
        Ok(is_new.then(|| Key(Arc::new(bytes))))
    }

    /// A new key that is written nowhere.
    pub(crate) fn forgotten() -> Result<Key, Error> {
        Ok(Key(Arc::new(random()?)))
    }

    /// A key from its text: at least 64 hexadecimal digits, with or without a line break behind them.
    pub fn parse(text: &str) -> Option<Key> {
        let digits = text.strip_suffix('\n').unwrap_or(text);
        let digits = digits.strip_suffix('\r').unwrap_or(digits);
        if digits.len() < 2 * BYTES || !digits.len().is_multiple_of(2) {
            return None;
        }
        let values = digits.chars().map(|digit| digit.to_digit(16)).collect::<Option<Vec<u32>>>()?;
        // PROOF: two digits below 16 make a byte.
        Some(Key(values.chunks(2).map(|pair| (16 * pair[0] + pair[1]) as u8).collect()))
    }

    /// Makes pseudonyms.
    ///
    /// The name of a column plays no part in them: a person whose number stands in columns of different names in two
    /// files gets one pseudonym, and the files can still be joined.
    pub(super) fn pseudonyms(&self) -> Result<Keyed, Error> {
        self.keyed("chrysalis pseudonym 1")
    }

    /// Draws by how much dates are moved. Different steps have nothing to do with each other.
    pub(super) fn shifts(&self, step: u16) -> Result<Keyed, Error> {
        self.keyed(&format!("chrysalis shift 1 {step}"))
    }

    /// LEAK: every use has a name of its own, so that a pseudonym says nothing about a shift.
    fn keyed(&self, usage: &str) -> Result<Keyed, Error> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0)
            .map_err(|_| Error::internal("HMAC refuses the length of a key, which may be any"))?;
        mac.update(usage.as_bytes());
        mac.update(&[0]);
        Ok(Keyed(mac))
    }
}

fn random() -> Result<[u8; BYTES], Error> {
    let mut bytes = [0; BYTES];
    let failed = |error| Error::internal(format!("no randomness to be had: {error}"));
    SysRng.try_fill_bytes(&mut bytes).map_err(failed)?;
    Ok(bytes)
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(secret)")
    }
}

/// HMAC-SHA256 with a key, for one use of it.
pub(super) struct Keyed(Hmac<Sha256>);

impl Keyed {
    fn hash<const N: usize>(&self, text: &str) -> [u8; N] {
        let mut mac = self.0.clone();
        mac.update(text.as_bytes());
        let hash = mac.finalize().into_bytes();
        let mut first = [0; N];
        first.iter_mut().zip(hash).for_each(|(to, from)| *to = from);
        first
    }

    /// 128 bits as 26 letters and digits, which no program takes for a number: base32 of RFC 4648, in lower case.
    pub(super) fn pseudonym(&self, text: &str) -> String {
        const LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
        let bits = u128::from_be_bytes(self.hash(text));
        let letter = |at: u32| {
            let five = if at < 25 { bits >> (123 - 5 * at) } else { bits << 2 };
            char::from(LETTERS[(five & 31) as usize])
        };
        (0..26).map(letter).collect()
    }

    /// By how many days a person's dates are moved: a multiple of `step` of at most 183 days, and never 0.
    pub(super) fn days(&self, person: &str, step: u16) -> i32 {
        let step = i32::from(step).clamp(1, MOST_DAYS);
        let n = MOST_DAYS / step;
        // PROOF: below 2 · 183; all outcomes are equally likely up to 2^-55.
        let drawn = (u64::from_be_bytes(self.hash(person)) % (2 * n as u64)) as i32 - n;
        step * if drawn < 0 { drawn } else { drawn + 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

    fn key(text: &str) -> Key {
        Key::parse(text).unwrap()
    }

    /// Computed with Python: `b32encode(hmac.new(key, b"chrysalis pseudonym 1\0" + text, sha256).digest()[:16])`.
    #[test]
    fn pseudonyms_are_those_of_another_program() {
        let first = key(FIRST).pseudonyms().unwrap();
        let check = |text: &str, expected: &str| assert_eq!(first.pseudonym(text), expected, "{text}");
        check("17", "mf2wsyykwf7b4d5grf2qd34vla");
        check("ward", "g5rnoqks4b4xbtwqyptumjbky4");
        check("Zoë", "lkpceb6mr33hz24xpqffoswd5u");
        check("", "bmin2yaft6vqdchvbsuepi6yqm");
        assert_eq!(key(&"07".repeat(32)).pseudonyms().unwrap().pseudonym("17"), "nlj7hai7hkrro5fgsssj6223m4");
    }

    /// Computed with Python, from the first eight bytes of the hash.
    #[test]
    fn shifts_are_those_of_another_program() {
        let check = |person: &str, days, weeks| {
            assert_eq!(key(FIRST).shifts(1).unwrap().days(person, 1), days, "{person}");
            assert_eq!(key(FIRST).shifts(7).unwrap().days(person, 7), weeks, "{person}");
        };
        check("ann", 22, 161);
        check("bob", 100, -147);
        check("carl", 121, 154);
        check("dora", -25, 28);
        assert_eq!(key(&"07".repeat(32)).shifts(1).unwrap().days("ann", 1), -131);
    }

    #[test]
    fn shifts_reach_every_day_of_a_year_but_none() {
        for (step, n) in [(1, 366), (7, 52), (30, 12)] {
            let shifts = key(FIRST).shifts(step).unwrap();
            let days = (0..10_000).map(|person| shifts.days(&person.to_string(), step));
            let all: std::collections::BTreeSet<i32> = days.collect();
            assert_eq!(all.len(), n);
            assert!(all.iter().all(|days| *days != 0 && days.abs() <= 183 && days % i32::from(step) == 0));
        }
    }

    #[test]
    fn keys_are_long_and_hexadecimal() {
        for text in
            [FIRST.to_owned(), format!("{FIRST}\n"), format!("{FIRST}\r\n"), FIRST.to_uppercase(), FIRST.repeat(2)]
        {
            assert!(Key::parse(&text).is_some(), "{text:?}");
        }
        let short = &FIRST[..62];
        for text in
            ["", short, &format!("{FIRST}0"), &format!("{FIRST}\n\n"), &format!(" {FIRST}"), &FIRST.replace("0a", "0g")]
        {
            assert!(Key::parse(text).is_none(), "{text:?}");
        }
    }

    #[test]
    fn nothing_shows_a_key() {
        assert_eq!(format!("{:?}", key(FIRST)), "Key(secret)");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("chrysalis.key");
        make_secret(&path, &FIRST.as_bytes()[..40]).unwrap();
        let error = Key::read(&path).unwrap_err();
        let message = format!("{} is not a key: expected one line of at least 64 hexadecimal digits", path.display());
        assert_eq!((error.message.as_str(), error.remedy.knobs().next()), (message.as_str(), Some((Knob::Key, ""))));
        assert!(!format!("{error:?}").contains(&FIRST[..8]));
    }

    #[test]
    fn a_key_is_made_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("chrysalis.key");
        assert!(Key::read(&path).unwrap().is_none());
        let made = Key::make(&path).unwrap().unwrap();
        assert!(Key::make(&path).unwrap().is_none(), "never replaced");
        let read = Key::read(&path).unwrap().unwrap();
        assert_eq!((made.0.len(), &made.0), (32, &read.0));
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!((text.len(), text.lines().count()), (65, 1));
        let other = Key::make(&folder.path().join("other.key")).unwrap().unwrap();
        assert_ne!(made.0, other.0);
        assert_ne!(Key::forgotten().unwrap().0, Key::forgotten().unwrap().0);
        let error = Key::make(&folder.path().join("nowhere/chrysalis.key")).unwrap_err();
        assert!(error.message.starts_with("a key cannot be made: cannot write "), "{}", error.message);
    }
}
