//! What an attacker can do with a release; `spec.md` defines every attack.
//!
//! Forms differ in what they show, attacks in what they ask. Between them stands an [`AttackerView`](view::AttackerView):
//! groups with their sensitive values, and for every published row its group and a cell per quasi attribute. Each form
//! builds one (or one per user), and background, learned and minimality are written once.
//!
//! An attack that succeeds is a finding, not a broken promise: promises are judged elsewhere.

mod background;
mod finding;
mod learned;
mod minimality;
mod sentences;
mod shown;
#[cfg(test)]
pub(crate) mod tests;
mod view;

pub use background::{Background, RuledOut};
pub use finding::{Finding, WorstGroup};
pub use learned::{Learned, LearnedOver, Scored};
pub use minimality::Minimality;

pub(crate) use finding::foremost;
pub(crate) use learned::{Known, Places};
pub(crate) use minimality::{Setting, against_replay_by, against_replay_of_batches, against_replay_of_cuts};
pub(crate) use sentences::{linking, nothing_sensitive, presence, similar_groups, similarity};
pub(crate) use shown::Shown;
pub(crate) use view::{AttackTarget, AttackerView};

use chrysalis_release::Manifest;

use crate::Attacks;
use crate::form::judge;

/// How the attack by replay is to be run.
pub(crate) enum Replay<'a> {
    /// It says nothing of this release, or cannot be run, for this reason.
    Not(String),
    /// It can be run.
    Of(Box<Setting<'a>>),
}

impl Replay<'_> {
    /// What can be said of a form whose groups are not replayed.
    pub(crate) fn none(manifest: &Manifest) -> Replay<'static> {
        let reason = judge(manifest.method).against_replay(manifest);
        Replay::Not(reason.unwrap_or_else(|| "Does not apply.".to_owned()))
    }
}

/// Runs the attacks that are written once for all forms, and adds what they found.
pub(crate) fn run(view: &AttackerView<'_>, known: Option<&Known<'_>>, replay: &Replay<'_>, attacks: &mut Attacks) {
    let watch = view.target.watch;
    watch.pause();
    let (background, finding) = background::attack(&view.target);
    attacks.background = background;
    attacks.findings.push(finding);
    watch.pause();
    let (learned, finding) = learned::attack(view, known);
    attacks.learned = learned;
    attacks.findings.push(finding);
    watch.pause();
    let (minimality, finding) = match replay {
        Replay::Not(reason) => (None, Finding::not_run("minimality", reason.clone())),
        Replay::Of(setting) => minimality::attack(&view.target, setting),
    };
    attacks.minimality = minimality;
    attacks.findings.push(finding);
}
