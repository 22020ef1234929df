//! A forger: honest releases of every form, each changed in one way by a liar who corrects everything that can be
//! corrected (hashes, numbers of rows and groups, domains, counts, bounds, the order of rows), so that only the lie
//! itself is left. The audit must accept none of them, and must refuse no honest release.
//!
//! The forger knows the format, but not how the audit decides. What counts as a lie is decided in `truth`, by hand.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that cannot go on has failed, and tells its counts"
)]

mod edit;
mod lie;
mod people;
mod release;
mod sheet;
mod truth;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use chrysalis::Form;
use rand::SeedableRng;
use rand::rngs::ChaCha20Rng;
use rand::seq::SliceRandom;

use lie::{Finish, Lie};
use release::{Auditor, Fake, Honest, judge};

/// Forged releases per form.
const SAMPLE: usize = 80;
/// The same for the long run.
const ALL: usize = 1_000;
/// Forged releases made from one honest one.
const OF_EACH: usize = 10;

/// What happened to the forged releases of one kind, by form.
#[derive(Default)]
struct Tally {
    forged: [usize; 7],
    accepted: [usize; 7],
    /// Why the first one was refused.
    because: String,
    /// The first one that was accepted.
    example: String,
}

impl Tally {
    fn add(&mut self, other: Tally) {
        for form in 0..self.forged.len() {
            self.forged[form] += other.forged[form];
            self.accepted[form] += other.accepted[form];
        }
        if self.because.is_empty() {
            self.because = other.because;
        }
        if self.example.is_empty() {
            self.example = other.example;
        }
    }
}

fn wanted() -> usize {
    chrysalis_testkit::sampled(SAMPLE, ALL)
}

/// An honest release must be accepted, and our own reading of it, written again, must be the same byte for byte.
fn check_honest(honest: &Honest, at: &Path) {
    for auditor in [Auditor::Tables, Auditor::Microdata] {
        let verdict = judge(&honest.folder, &honest.source, honest.sensitive(), auditor);
        assert!(verdict.is_ok(), "honest, but refused ({auditor:?}): {verdict:?}\n{}", honest.draft);
    }
    let mut fake = Fake::of(honest);
    fake.mend();
    let again = at.join("again");
    fake.write(&again).unwrap();
    for entry in fs::read_dir(&honest.folder).unwrap() {
        let name = entry.unwrap().file_name();
        let (one, other) = (fs::read(honest.folder.join(&name)).unwrap(), fs::read(again.join(&name)).unwrap());
        let shown = |bytes: &[u8]| String::from_utf8_lossy(bytes).chars().take(600).collect::<String>();
        assert!(one == other, "{} differs:\n{}\n\n{}\n{}", name.display(), shown(&one), shown(&other), honest.draft);
    }
    fs::remove_dir_all(again).unwrap();
}

/// Forges releases of a form and counts how the audit judges them.
fn forge(form: Form, n: usize) -> BTreeMap<&'static str, Tally> {
    let mut tallies = BTreeMap::new();
    let folder = tempfile::tempdir().unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(19 + form.place() as u64);
    let kinds = lie::all();
    // Every kind has its turn before any has a second one, as far as the releases are suitable.
    let mut turns: Vec<Lie> = Vec::new();
    let (mut done, mut made) = (0, 0);
    while done < n {
        made += 1;
        assert!(made < 20 * n, "{form}: {done} forged releases of {made} honest ones");
        let at = folder.path().join(made.to_string());
        let Some(honest) = Honest::draw(form, &mut rng, &at) else { continue };
        check_honest(&honest, &at);
        let mut of_this = 0;
        let mut left_over = Vec::new();
        if turns.is_empty() {
            turns = kinds.clone();
            turns.shuffle(&mut rng);
        }
        while of_this < OF_EACH && done < n {
            let Some(kind) = turns.pop() else { break };
            let place = at.join(format!("forged-{of_this}"));
            if !tell(&kind, &honest, &place, &mut rng, &mut tallies) {
                left_over.push(kind);
                continue;
            }
            (of_this, done) = (of_this + 1, done + 1);
        }
        // Tried again with another release, unless this one suited no kind at all.
        if of_this > 0 {
            turns.splice(0..0, left_over);
        }
        fs::remove_dir_all(at).unwrap();
    }
    tallies
}

/// Tells one lie about a release and returns the verdict; `None` if the release is not suitable.
fn tell(
    kind: &Lie,
    honest: &Honest,
    place: &Path,
    rng: &mut ChaCha20Rng,
    tallies: &mut BTreeMap<&'static str, Tally>,
) -> bool {
    let mut fake = Fake::of(honest);
    match (kind.forge)(&mut fake, rng) {
        None => return false,
        Some(Finish::Mend) => fake.mend(),
        Some(Finish::AsItIs) => {}
    }
    let is_written = fake.write(place).is_some();
    if !is_written {
        fs::remove_dir_all(place).unwrap();
        return false;
    }
    let verdict = judge(place, &honest.source, honest.sensitive(), kind.auditor);
    let (tally, form) = (tallies.entry(kind.name).or_default(), honest.form.place());
    tally.forged[form] += 1;
    match verdict {
        Ok(()) => {
            tally.accepted[form] += 1;
            if tally.example.is_empty() {
                tally.example = format!("{} people, {}", honest.people.rows.len(), fake.honest.draft);
            }
        }
        Err(because) if tally.because.is_empty() => tally.because = because,
        Err(_) => {}
    }
    true
}

/// One line per kind: how many of the forged releases were refused, by form.
fn table(tallies: &BTreeMap<&'static str, Tally>) -> String {
    let names: Vec<String> = Form::ALL.iter().map(|form| format!("{:>11}", form.name())).collect();
    let mut lines = vec![format!("{:52}{}  held against", "refused of forged", names.concat())];
    for kind in lie::all() {
        let Some(tally) = tallies.get(kind.name) else {
            lines.push(format!("{:52}  never", kind.name));
            continue;
        };
        let cell = |form: usize| match tally.forged[form] {
            0 => format!("{:>11}", "-"),
            forged => format!("{:>11}", format!("{}/{forged}", forged - tally.accepted[form])),
        };
        let cells: Vec<String> = (0..names.len()).map(cell).collect();
        let auditor = match kind.auditor {
            Auditor::Tables => "its tables",
            Auditor::Microdata => "the microdata",
            Auditor::KnowsSensitive => "the name of the column",
        };
        let mark = if tally.accepted.iter().sum::<usize>() > 0 { "  ACCEPTED" } else { "" };
        lines.push(format!("{:52}{}  {auditor}{mark}", kind.name, cells.concat()));
    }
    lines.join("\n")
}

#[test]
fn no_forged_release_is_accepted_and_no_honest_one_refused() {
    let mut tallies: BTreeMap<&'static str, Tally> = BTreeMap::new();
    std::thread::scope(|scope| {
        let forge = |&form: &Form| scope.spawn(move || forge(form, wanted()));
        let running: Vec<_> = Form::ALL.iter().map(forge).collect();
        for thread in running {
            let done = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            done.into_iter().for_each(|(name, tally)| tallies.entry(name).or_default().add(tally));
        }
    });
    println!("{}", table(&tallies));
    println!();
    for (name, tally) in &tallies {
        println!("{name}: {}", tally.because.chars().take(300).collect::<String>());
    }
    let accepted: Vec<String> = tallies
        .iter()
        .filter(|(_, tally)| !tally.example.is_empty())
        .map(|(name, tally)| format!("{name} ({} times): {}", tally.accepted.iter().sum::<usize>(), tally.example))
        .collect();
    assert!(accepted.is_empty(), "{} kinds of lie were accepted:\n{}", accepted.len(), accepted.join("\n"));
}
