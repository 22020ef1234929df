//! A release whose groups are those of an earlier one, as far as they still satisfy what is required.

use std::path::PathBuf;
use std::sync::Arc;

use chrysalis_criteria::Requirement;
use chrysalis_publish::Partitioner;
use chrysalis_publish::partitioner::{EarlierBoxes, Like};
use chrysalis_release::{Manifest, Release, View};
use chrysalis_store::manifest_sha256;
use chrysalis_table::{Knob, Remedy};

use crate::catalogue::{self, MethodEntry};
use crate::partitioner::Choice;
use crate::{Draft, Error, Recipe, ReleaseDraft, SeriesPlan};

/// The release whose groups a new one is to have.
#[derive(Clone, Debug)]
pub(crate) struct LikePlan {
    pub(crate) folder: PathBuf,
    /// What it shows, once it was read.
    read: Option<Arc<EarlierGroups>>,
}

#[derive(Debug)]
struct EarlierGroups {
    boxes: Arc<EarlierBoxes>,
    manifest: Manifest,
}

/// Knobs that say how groups are formed.
const OF_GROUPS: [Knob; 6] =
    [Knob::Relaxed, Knob::GroupColumn, Knob::Suppress, Knob::Metric, Knob::Levels, Knob::TimeLimit];

impl Draft {
    /// Refuses what has no effect or no meaning where groups are those of an earlier release.
    pub(crate) fn check_like(&self, method: &MethodEntry, require: &[Requirement]) -> Result<(), Error> {
        if self.like.is_none() {
            return Ok(());
        }
        let out = |knob: Knob| Remedy::from("leave ").knob(knob, "").words(" out");
        let takes_groups = |entry: &MethodEntry| entry.partitioner.is_some() && entry.form.shape().marginals.is_none();
        if !takes_groups(method) {
            let forms = catalogue::METHODS.iter().filter(|entry| takes_groups(entry)).map(|entry| entry.form.name());
            let why = "it forms groups in its own way, or none";
            return Err(apart(
                method.form.name(),
                why,
                Remedy::from("use ").knob(Knob::Method, catalogue::one_of(forms)),
            ));
        }
        if self.release.transparent == Some(true) {
            let why = "groups that fail now are merged, and nobody has proved that this tells nothing";
            return Err(apart(Knob::Transparent.name(), why, out(Knob::Transparent)));
        }
        let turned = self.release.turned();
        let partitioner = self.release.partitioner.is_some().then_some(Knob::Partitioner);
        let of_groups = turned.into_iter().filter(|knob| OF_GROUPS.contains(knob));
        if let Some(knob) = partitioner.into_iter().chain(of_groups).next() {
            return Err(apart(knob.name(), "the groups are those of the earlier release", out(knob)));
        }
        let of_series = |required: &&Requirement| required.principle.needs_series();
        if let Some(asked) = require.iter().find(of_series) {
            let why = "in a series, everybody's values decide who stands together";
            return Err(apart(&asked.to_string(), why, out(Knob::Like)));
        }
        let of_population = |required: &&Requirement| required.principle.needs_population();
        match require.iter().find(of_population) {
            None => Ok(()),
            Some(asked) => {
                let why = "nobody has worked out which groups to merge for the people under their labels";
                Err(apart(&asked.to_string(), why, out(Knob::Like)))
            }
        }
    }

    /// The release whose groups the new one is to have, if one is named.
    pub(crate) fn like_plan(&self) -> Option<LikePlan> {
        self.like.as_ref().map(|folder| LikePlan { folder: folder.clone(), read: None })
    }
}

impl ReleaseDraft {
    /// Drops what a spec says about how groups are formed, because they are to be those of an earlier release.
    pub(crate) fn give_way_to_like(&mut self) {
        self.partitioner = None;
        OF_GROUPS.into_iter().chain([Knob::Transparent]).for_each(|knob| self.forget(knob));
    }
}

fn apart(what: &str, why: &str, remedy: Remedy) -> Error {
    Error::request(format!("`{what}` and `{}` do not go together: {why}", Knob::Like), remedy)
}

impl LikePlan {
    /// Whether the new release must be judged beside this one: not where a ledger knows everybody who is in it, so that none of
    /// them is published again.
    pub(crate) fn is_judged(&self, series: Option<&SeriesPlan>) -> Result<bool, Error> {
        let Some(plan) = series else { return Ok(true) };
        if manifest_sha256(&self.folder).is_none_or(|sha256| plan.knows(&sha256)) {
            return Ok(false);
        }
        let (ledger, folder) = (plan.file.display(), self.folder.display());
        let message = format!("the ledger {ledger} does not know {folder}, so that people may be in both releases");
        let remedy = Remedy::from("name a release of that ledger, or leave ").knob(Knob::Like, "").words(" out");
        Err(Error::request(message, remedy))
    }

    /// Takes the groups' boxes from the release, and nothing else but how its columns were prepared.
    pub(crate) fn read(&mut self, release: &Release) -> Result<(), Error> {
        let about = |error: Error| error.about(&self.folder.display().to_string());
        let view = View::open(release).map_err(|error| about(error.into()))?;
        let boxes = EarlierBoxes::of(release, &view).map_err(|error| about(error.into()))?;
        let manifest = release.manifest.clone();
        self.read = Some(Arc::new(EarlierGroups { boxes: Arc::new(boxes), manifest }));
        Ok(())
    }

    /// What the earlier release says about itself, once it was read.
    pub(crate) fn manifest(&self) -> Option<&Manifest> {
        self.read.as_ref().map(|read| &read.manifest)
    }
}

impl Recipe {
    /// What forms the groups.
    pub(crate) fn build_partitioner(&self) -> Box<dyn Partitioner> {
        let read = self.like.as_ref().and_then(|like| like.read.as_ref());
        match (&self.partitioner, read) {
            (Choice::Like, Some(read)) => Box::new(Like { boxes: Some(Arc::clone(&read.boxes)) }),
            (choice, _) => choice.build(),
        }
    }
}
