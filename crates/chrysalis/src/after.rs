//! A release that follows others, of which the owner has nothing but what they show: is it safe beside them?

use std::path::PathBuf;
use std::sync::Arc;

use chrysalis_publish::{AfterFacts, Microdata, judge_after};
use chrysalis_release::{Form, Release, View};
use chrysalis_store::read_release_within;
use chrysalis_table::{Counted, Knob, Memory, Remedy, Watch};

use crate::prepare::check_alike;
use crate::report::AfterReport;
use crate::series::SeriesPlan;
use crate::words::counted;
use crate::{Draft, Error, Fault, Recipe, catalogue};

/// The releases that a new one is to follow.
#[derive(Clone, Debug, Default)]
pub(crate) struct Earlier {
    pub(crate) folders: Vec<PathBuf>,
    /// The releases, once they were read.
    releases: Option<Arc<Vec<Release>>>,
}

impl Draft {
    /// What is said of earlier releases.
    pub(crate) fn earlier(&self, form: Form, series: Option<&SeriesPlan>) -> Result<Earlier, Error> {
        let folders = self.after.clone().unwrap_or_default();
        if folders.is_empty() {
            return Ok(Earlier::default());
        }
        let out =
            |message: String| Err(Error::request(message, Remedy::from("leave ").knob(Knob::After, "").words(" out")));
        if series.is_some_and(|series| !series.only_new) {
            return out(format!(
                "`{}` has no effect in a series, whose ledger remembers what was published",
                Knob::After
            ));
        }
        if self.rows_per_person.is_some() || self.rows_known.is_some() {
            return out("beside earlier releases, only tables with one row per person can be judged".to_owned());
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
        let earlier = &mut recipe.earlier;
        if earlier.folders.is_empty() {
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
    let largest = facts.largest.map(|share| share.to_string());
    Ok(Some(AfterReport { releases: known.len() as u64, known: facts.known, largest }))
}

/// The refusal of a release that tells too much beside earlier ones.
fn refused(facts: AfterFacts, people: u64) -> Result<(), Error> {
    let AfterFacts { above, open, largest, .. } = facts;
    if above + open == 0 {
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
    if open > 0 {
        told.push(format!(
            "{}{open} of them stand in groups that overlap so much that it cannot be determined what the releases tell together",
            if above > 0 { "" } else { "of the people of the table, " }
        ));
    }
    let remedy = Remedy::from(
        "hand out the earlier release again, publish only people who are in none of them, or publish a \
                               series from now on: ",
    )
    .knob(Knob::Require, "m=4")
    .words(" with ")
    .knob(Knob::Series, "FILE");
    Err(Error { fault: Fault::Infeasible, ..Error::request(told.join("; "), remedy) })
}
