//! A release that follows others, of which the owner has nothing but what they show: is it safe beside them?

use std::path::{Path, PathBuf};
use std::sync::Arc;

use chrysalis_publish::{AfterFacts, Microdata, judge_after};
use chrysalis_release::{Form, Manifest, Release, View};
use chrysalis_store::{manifest_sha256, read_release_within};
use chrysalis_table::{Counted, Knob, Memory, Remedy, Watch};

use crate::like::LikePlan;
use crate::prepare::check_alike;
use crate::report::AfterReport;
use crate::series::SeriesPlan;
use crate::words::counted;
use crate::{Draft, Error, Fault, Recipe, catalogue, files};

/// The releases that a new one is to follow.
#[derive(Clone, Debug, Default)]
pub(crate) struct Earlier {
    pub(crate) folders: Vec<PathBuf>,
    /// The releases, once they were read.
    releases: Option<Arc<Vec<Release>>>,
}

impl Recipe {
    /// The releases beside a new one that look like releases of the same table, and that nobody compared it with: those
    /// that neither the ledger of its series knows nor `after` names.
    pub fn unknown_beside(&self, out: &Path, manifest: &Manifest) -> Vec<PathBuf> {
        let hashes: Vec<String> = self.earlier.folders.iter().filter_map(|folder| manifest_sha256(folder)).collect();
        let is_unknown = |folder: &PathBuf| {
            let knows = |hash: &String| self.series().is_some_and(|plan| plan.knows(hash)) || hashes.contains(hash);
            manifest_sha256(folder).is_none_or(|hash| !knows(&hash))
        };
        let mut beside = files::releases_beside(out, manifest);
        beside.retain(is_unknown);
        beside
    }
}

impl Draft {
    /// What is said of earlier releases.
    pub(crate) fn earlier(&self, form: Form, series: Option<&SeriesPlan>) -> Result<Earlier, Error> {
        let folders = self.after.clone().unwrap_or_default();
        // Whose people are all in a ledger, which leaves them out, needs no other judgement.
        let is_implied = self.like.is_some() && series.is_none();
        if folders.is_empty() && !is_implied {
            return Ok(Earlier::default());
        }
        if series.is_some_and(|series| !series.only_new) {
            let message =
                "nobody has worked out what a release of a series tells beside releases that its ledger does not know";
            let remedy = Remedy::from("publish only people who are in none of them, and leave ").knob(Knob::After, "");
            return Err(Error::request(message, remedy.words(" out")));
        }
        if series.is_some() {
            let message = format!(
                "`{}` and `{}` do not go together: one takes a column of people who may have several rows, the other only \
                 tables with one row per person",
                Knob::OnlyNew,
                Knob::After
            );
            let remedy = Remedy::from("where everybody has one row, leave ").knob(Knob::OnlyNew, "").words(", ");
            let remedy = remedy.knob(Knob::Series, "").words(" and ").knob(Knob::Person, "").words(" out");
            return Err(Error::request(message, remedy));
        }
        if self.person.is_some() {
            let message = format!(
                "beside earlier releases, only tables with one row per person can be judged, and `{}` says that somebody may \
                 have several",
                Knob::Person
            );
            let remedy = Remedy::from("where everybody has one row, leave ").knob(Knob::Person, "").words(" out");
            let remedy = match is_implied {
                true => {
                    remedy.words("; or publish only people whom a ledger does not know, with ").knob(Knob::OnlyNew, "")
                }
                false => remedy,
            };
            return Err(Error::request(message, remedy));
        }
        if !form.shape().may_follow {
            let forms = Form::ALL.iter().filter(|form| form.shape().may_follow).map(|form| form.name());
            let message = format!("nobody has worked out what releases of the form {form} tell beside earlier ones");
            return Err(Error::request(message, Remedy::from("use ").knob(Knob::Method, catalogue::one_of(forms))));
        }
        Ok(Earlier { folders, releases: None })
    }

    /// Reads the releases that the new one is to follow.
    pub fn provide_earlier(&self, recipe: &mut Recipe, memory: Memory, watch: &dyn Watch) -> Result<(), Error> {
        let (earlier, like) = (&mut recipe.earlier, &mut recipe.like);
        if let Some(like) = like.as_ref().filter(|_| earlier.releases.is_none()) {
            // The same release may be named twice, in other words.
            let named = |folder: &PathBuf| manifest_sha256(folder) == manifest_sha256(&like.folder);
            if like.is_judged(recipe.series.as_ref())? && !earlier.folders.iter().any(named) {
                earlier.folders.push(like.folder.clone());
            }
        }
        if earlier.folders.is_empty() && like.is_none() {
            return Ok(());
        }
        watch.phase("read", None, Counted::Rows);
        let read = |folder: &PathBuf| {
            let release = read_release_within(folder, memory)?;
            let name = folder.display();
            if release.manifest.series.is_some() {
                let message = format!("{name} is a release of a series, whose counterfeits cannot be told from others");
                let remedy = Remedy::from("continue the series, with its ledger: ").knob(Knob::Series, "FILE");
                return Err(Error::request(message, remedy));
            }
            Ok(release)
        };
        let releases: Vec<Release> = earlier.folders.iter().map(read).collect::<Result<_, Error>>()?;
        if let Some(like) = like {
            let known =
                earlier.folders.iter().position(|folder| manifest_sha256(folder) == manifest_sha256(&like.folder));
            match known.and_then(|at| releases.get(at)) {
                Some(release) => like.read(release)?,
                None => like.read(&read(&like.folder.clone())?)?,
            }
        }
        earlier.releases = Some(Arc::new(releases));
        Ok(())
    }
}

/// Judges a new release beside those that it follows, if any are named.
pub(crate) fn check(
    data: &Microdata,
    release: &Release,
    recipe: &Recipe,
    watch: &dyn Watch,
) -> Result<Option<AfterReport>, Error> {
    let earlier = &recipe.earlier;
    if let Some(manifest) = recipe.like.as_ref().and_then(LikePlan::manifest) {
        check_alike(&[&release.manifest, manifest])?;
    }
    if earlier.folders.is_empty() {
        return Ok(None);
    }
    let known = earlier.releases.as_ref().ok_or_else(|| Error::internal("earlier releases were not read"))?;
    // Values that were prepared in another way would fit nobody.
    let manifests: Vec<_> = std::iter::once(release).chain(known.iter()).map(|release| &release.manifest).collect();
    check_alike(&manifests)?;
    watch.phase("compare", None, Counted::Rows);
    let views = std::iter::once(release).chain(known.iter()).map(View::open).collect::<Result<Vec<_>, _>>()?;
    let facts = judge_after(data, &recipe.require, &views, watch)?;
    refused(facts, data.rows() as u64)?;
    note_strangers(facts, watch);
    let largest = facts.largest.map(|share| share.to_string());
    Ok(Some(AfterReport { releases: known.len() as u64, known: facts.known, largest }))
}

/// Says for whom nothing was judged: the owner alone knows whether people who came are people who left.
fn note_strangers(facts: AfterFacts, watch: &dyn Watch) {
    if facts.unfit == 0 || facts.unclaimed == 0 {
        return;
    }
    let (people, rows) = (counted(facts.unfit, "person"), counted(facts.unclaimed, "row"));
    watch.note(&format!(
        "{people} of the table fit no group of an earlier release, and up to {rows} of one fit nobody. If some of them are the \
         same people, whose quasi values changed since (a birthday, a move), both releases together may give them away: they \
         were taken for others, and nothing was judged for them. A ledger knows people by their number instead"
    ));
}

/// The refusal of a release that tells too much beside earlier ones.
fn refused(facts: AfterFacts, people: u64) -> Result<(), Error> {
    let AfterFacts { above, left_above, open, largest, .. } = facts;
    if above + left_above + open == 0 {
        return Ok(());
    }
    let largest = largest.map_or_else(String::new, |share| format!(", with a share of up to {share} of all worlds"));
    let people = counted(people, "person");
    let mut told = Vec::new();
    if above > 0 {
        told.push(format!(
            "of {people}, {above} could be bet on with better odds than a single release allows by whoever has the earlier \
             releases as well{largest}"
        ));
    }
    if left_above > 0 {
        told.push(format!(
            "{} of an earlier release who left could be bet on with better odds than that release alone allows: what \
             their groups show no more is theirs{}",
            counted(left_above, "person"),
            if above > 0 { "" } else { &largest }
        ));
    }
    if open > 0 {
        told.push(format!(
            "{}{open} of them stand in groups that overlap so much that it cannot be determined what the releases tell together",
            if above > 0 { "" } else { "of the people of the table, " }
        ));
    }
    // LEAK: a series begins with a release of its own, which would tell as much beside the earlier ones.
    let remedy = "hand out the earlier release again, or publish only people who are in none of them";
    Err(Error { fault: Fault::Infeasible, ..Error::request(told.join("; "), remedy) })
}
