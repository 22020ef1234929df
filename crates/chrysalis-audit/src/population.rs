//! What can be told only with a table of the people who could be in the data: promises about them, and presence.
//!
//! People under a group's labels are found by looking every one of them up in the published boxes; the publisher counts
//! combinations of labels instead.

use chrysalis_criteria::{PopulationSpec, PrincipleSpec, Rational};
use chrysalis_release::{Detail, Manifest, Release, RoleName};
use chrysalis_table::exact::BigRational;
use chrysalis_table::{Table, Watch};
use num_bigint::BigInt;

use crate::attack::{Finding, chance, count, counted};
use crate::measure::to_float;
use crate::promise::show;
use crate::report::{AuditReport, PopulationPresence, PrincipleResult};
use crate::{Attacks, AuditError, boxes};

/// Why a promise about the population is open where there is no table of it.
pub(crate) const NO_POPULATION: &str =
    "it is about the people who could be in the data, and can be checked only with a table of them";

/// Whether groups of a release show labels under which people of a population can be counted.
pub fn takes_population(manifest: &Manifest) -> bool {
    manifest.method.shape().detail == Detail::GroupBoxes && !manifest.method.shape().has_users
}

/// Judges what a release promises about a population, and measures presence against it. `population` has a row for
/// everybody who could be in the data, with the quasi attributes of the release.
pub fn measure_population(
    report: &mut AuditReport,
    release: &Release,
    population: &Table,
    watch: &dyn Watch,
) -> Result<(), AuditError> {
    let manifest = &release.manifest;
    let first = manifest.with_role(RoleName::Sensitive).next().filter(|_| manifest.has_several_sensitive());
    let alone = first.map(|attribute| release.about(&attribute.name)).transpose()?;
    let people = People::look_up(alone.as_ref().unwrap_or(release), population, watch)?;
    for (result, promise) in report.principles.iter_mut().zip(&manifest.promises) {
        if let PrincipleSpec::OfPopulation(spec) = promise.principle() {
            *result = people.judge(spec, result);
        }
    }
    if let Some(found) = people.presence() {
        let columns = report.columns.iter_mut().map(|column| &mut column.attacks);
        std::iter::once(&mut report.attacks).chain(columns).for_each(|attacks| put(attacks, &found));
    }
    Ok(())
}

/// Replaces what was said of presence without a population.
fn put(attacks: &mut Attacks, found: &PopulationPresence) {
    for finding in attacks.findings.iter_mut().filter(|finding| finding.attack == "presence") {
        *finding = told(found);
    }
    if let Some(presence) = &mut attacks.presence {
        presence.population = Some(found.clone());
    }
}

fn told(found: &PopulationPresence) -> Finding {
    let group = found.group.map_or_else(|| "a group".to_owned(), |id| format!("group {id}"));
    let chance = chance(&BigRational::new(BigInt::from(found.rows), BigInt::from(found.under.max(1))));
    let mut sentence = format!(
        "An attacker who has the table of the population knows of each of the {} under the labels of {group} that they are \
         one of its {} with a chance of {chance}; nowhere is the chance higher.",
        counted(found.under, "person", "people"),
        counted(found.rows, "row", "rows"),
    );
    if found.outside > 0 {
        sentence.push_str(&format!(
            " {} of the population's {} are under no group's labels, so they are certainly not in the data.",
            count(found.outside),
            counted(found.people, "person", "people"),
        ));
    }
    if found.too_small > 0 {
        sentence.push_str(&format!(
            " {} more rows than people under their labels: the table does not hold everybody who could be in the data.",
            counted(found.too_small, "group has", "groups have"),
        ));
    }
    Finding::new("presence", sentence, "delta-presence with a smaller upper bound, or a larger k-map.")
}

/// How many people are under the labels of every group.
struct People {
    ids: Vec<Option<i64>>,
    sizes: Vec<u64>,
    under: Vec<u64>,
    outside: u64,
    all: u64,
}

impl People {
    fn look_up(release: &Release, population: &Table, watch: &dyn Watch) -> Result<People, AuditError> {
        let everybody: Vec<usize> = (0..population.rows()).collect();
        let mut people = People { ids: Vec::new(), sizes: Vec::new(), under: Vec::new(), outside: 0, all: 0 };
        people.all = everybody.len() as u64;
        // In portions, because each person has a list of groups.
        for portion in everybody.chunks(1 << 16) {
            let (ids, sizes, places) = boxes::groups_of(release, (population, portion), watch)?;
            people.under.resize(sizes.len(), 0);
            (people.ids, people.sizes) = (ids, sizes);
            for groups in places {
                people.outside += u64::from(groups.is_empty());
                groups.into_iter().for_each(|group| people.under[group as usize] += 1);
            }
        }
        if everybody.is_empty() {
            return Err(AuditError::NoRows { what: "the table of the population" });
        }
        Ok(people)
    }

    /// The groups that have rows.
    fn groups(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.sizes.len()).filter(|&group| self.sizes[group] > 0)
    }

    /// The share of the people under a group's labels who are in it; none where nobody is under them.
    fn share(&self, group: usize) -> Option<BigRational> {
        (self.under[group] > 0).then(|| BigRational::new(self.sizes[group].into(), self.under[group].into()))
    }

    fn judge(&self, spec: &PopulationSpec, open: &PrincipleResult) -> PrincipleResult {
        let result = |holds: bool, level: f64, text: String, group: Option<usize>| PrincipleResult {
            principle: open.principle.clone(),
            holds,
            untold: None,
            worst: level,
            worst_text: text,
            worst_group: group.and_then(|group| self.ids.get(group).copied().flatten()),
            measured: format!(
                "{} of the population looked up in the groups' labels",
                counted(self.all, "person", "people")
            ),
        };
        match *spec {
            PopulationSpec::KMap { k } => {
                let worst = self.groups().min_by_key(|&group| self.under[group]);
                let fewest = worst.map_or(0, |group| self.under[group]);
                result(fewest >= k, fewest as f64, counted(fewest, "person", "people"), worst)
            }
            PopulationSpec::DeltaPresence { low, high } => {
                let big = |number: Rational| BigRational::new((*number.numer()).into(), (*number.denom()).into());
                if let Some(empty) = self.groups().find(|&group| self.under[group] == 0) {
                    let text = "nobody of the population under its labels".to_owned();
                    return result(false, f64::INFINITY, text, Some(empty));
                }
                let shares = || self.groups().filter_map(|group| Some((self.share(group)?, group)));
                let (least, most) = (shares().min(), shares().max_by(|a, b| a.0.cmp(&b.0).then(b.1.cmp(&a.1))));
                match (least, most) {
                    (Some((share, group)), _) if share < big(low) => {
                        result(false, to_float(Some(&share)), format!("presence {}", show(&share)), Some(group))
                    }
                    (_, Some((share, group))) => {
                        let is_open = low > Rational::from_integer(0) && self.outside > 0;
                        let outside =
                            if is_open { format!(", {} under no labels", count(self.outside)) } else { String::new() };
                        let holds = share <= big(high) && !is_open;
                        let text = format!("presence {}{outside}", show(&share));
                        result(holds, to_float(Some(&share)), text, Some(group))
                    }
                    _ => result(false, f64::INFINITY, "no group".to_owned(), None),
                }
            }
        }
    }

    fn presence(&self) -> Option<PopulationPresence> {
        let shares = self.groups().filter_map(|group| Some((self.share(group)?, group)));
        let (share, group) = shares.max_by(|a, b| a.0.cmp(&b.0).then(b.1.cmp(&a.1)))?;
        Some(PopulationPresence {
            people: self.all,
            outside: self.outside,
            share: to_float(Some(&share)),
            share_text: show(&share),
            group: self.ids.get(group).copied().flatten(),
            rows: self.sizes[group],
            under: self.under[group],
            too_small: self.groups().filter(|&group| self.under[group] < self.sizes[group]).count() as u64,
        })
    }
}
