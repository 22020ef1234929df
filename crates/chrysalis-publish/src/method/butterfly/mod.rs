//! One table for several users; see `spec.md` for the steps that the comments number.

mod layer;

use chrysalis_release::{Form, Scope};
use chrysalis_table::{Codes, Column, Counted, Knob, Remedy, Table};
use rayon::prelude::*;

use super::frame::{self, Order, ShownGroups};
use super::generalize::labelled;
use super::{Generalize, Method, Outcome};
use crate::partitioner::butterfly::{self, Flight};
use crate::partitioner::{Hierarchy, Tally};
use crate::quasi_identifiers::BodyAndWings;
use crate::{Job, Microdata, Partition, PublishError, QuasiIdentifiers};
use layer::{Layer, alike};

/// The publication `butterfly`.
///
/// # Guarantees
/// For every quasi-identifier, the rows that show the same labels on its attributes satisfy every principle.
/// # Against whom
/// Users who each know the attributes of one quasi-identifier for everybody, and see the whole release. Against users
/// who pool their knowledge, protect [`QuasiIdentifiers::colluding`].
/// # Cost
/// One run of `mondrian` over all attributes, one over those of the body, and for every level of either tree up to two
/// over every wing.
/// # Paper
/// butterfly, section III.
#[derive(Clone, Debug)]
pub struct Butterfly {
    /// What each user knows.
    pub quasi_identifiers: QuasiIdentifiers,
    /// Searches this hierarchy only, for comparisons. Otherwise both are searched, and the one that loses less is
    /// published.
    pub hierarchy: Option<Hierarchy>,
}

/// What a butterfly release is made of.
#[derive(Clone, Debug)]
pub struct ButterflyFacts {
    /// The number of butterflies.
    pub butterflies: u64,
    /// The hierarchy they come from.
    pub hierarchy: Hierarchy,
    /// How its inner nodes were treated.
    pub tally: Tally,
    /// The total loss of every hierarchy that was tried.
    pub tried: Vec<(Hierarchy, f64)>,
    /// The loss of every quasi attribute in the union run: `mondrian` over all attributes, for one user who knows
    /// everything.
    pub union_by_attribute: Vec<(String, f64)>,
    /// One entry per quasi-identifier that no other contains.
    pub users: Vec<UserFacts>,
}

impl ButterflyFacts {
    /// The total loss of the union run.
    pub fn union_loss(&self) -> f64 {
        self.union_by_attribute.iter().map(|(_, loss)| loss).sum()
    }
}

/// What one user sees.
#[derive(Clone, Debug)]
pub struct UserFacts {
    /// The attributes that the user knows.
    pub attributes: Vec<String>,
    /// The most classes that the user can tell apart.
    pub classes: u64,
    /// The sizes of the smallest and the largest class.
    pub sizes: (u64, u64),
}

/// The butterflies that were found, with the body and wings that they show.
struct Butterflies {
    flight: Flight,
    parts: BodyAndWings,
}

impl Butterflies {
    /// What the users of every set can tell apart, one partition per set.
    fn classes(&self) -> Vec<&Partition> {
        self.flight.wings.iter().map(|classes| classes.as_ref().unwrap_or(&self.flight.butterflies)).collect()
    }
}

impl Butterfly {
    fn find(&self, job: &mut Job<'_>) -> Result<Butterflies, PublishError> {
        let (data, watch) = (job.data(), job.watch());
        let goal = job.goal(Scope::User)?;
        let parts = self.quasi_identifiers.body_and_wings(data)?;
        let units = data.units();
        watch.phase("partition", Some(units.rows() as u64 * self.passes()), Counted::Rows);
        let places = data.persons().map(|persons| &persons.places[..]);
        let of_units = places.map_or_else(|| parts.clone(), |places| parts.lifted(places));
        let mut flight = butterfly::find(units, &of_units, &goal, self.hierarchy, job.rng(), &|n| watch.tell(n));
        if let Some(persons) = data.persons() {
            flight.butterflies = persons.to_rows(flight.butterflies);
            flight.wings = flight.wings.into_iter().map(|wing| wing.map(|wing| persons.to_rows(wing))).collect();
            // It was counted by persons, and by both ends of their boxes: nothing to compare rows with.
            flight.union_loss.clear();
        }
        job.publishing();
        Ok(Butterflies { flight, parts })
    }

    /// How many times progress counts every row.
    fn passes(&self) -> u64 {
        if self.hierarchy == Some(Hierarchy::Union) { 1 } else { 2 }
    }
}

impl Method for Butterfly {
    fn form(&self) -> Form {
        Form::Butterfly
    }

    fn check(&self, data: &Microdata) -> Result<(), PublishError> {
        self.quasi_identifiers.body_and_wings(data)?;
        if data.sensitive_columns().len() > 1 {
            let problem = format!("{} takes one sensitive column, but several are named", self.form());
            let remedy = Remedy::from("keep one of them, or use ").knob(Knob::Method, Form::Generalize.name());
            return Err(PublishError::remedied(problem, remedy));
        }
        let is_apart = data.persons().is_some_and(|persons| persons.rows_known && persons.classes().len() > 1);
        if is_apart {
            let problem = format!(
                "{} cannot keep persons with different numbers of rows apart, as `{}` asks",
                self.form(),
                Knob::RowsKnown
            );
            let remedy = Remedy::from("use ").knob(Knob::RowsPerPerson, "1").words(", or ");
            return Err(PublishError::remedied(problem, remedy.knob(Knob::Method, Form::Generalize.name())));
        }
        Generalize.check(data)
    }

    fn publish(&self, job: &mut Job<'_>) -> Result<Outcome, PublishError> {
        let (data, watch) = (job.data(), job.watch());
        let found = self.find(job)?;
        let promises = job.promise(&found.classes(), Scope::User)?;
        let (flight, parts) = (&found.flight, &found.parts);
        // Step 1.
        let wings = flight.wings.iter().zip(&parts.wings).filter_map(|(classes, wing)| Some((classes.as_ref()?, wing)));
        let all = std::iter::once((&flight.butterflies, &parts.body)).chain(wings);
        let layers: Vec<Layer<'_>> = all.map(|(classes, places)| Layer::new(data, classes, places, watch)).collect();
        // Step 2.
        let groups = alike(data.rows(), &layers, watch);
        // Step 3.
        let ids = frame::draw_ids(&groups, job.rng());
        let exact: Vec<&Column> = data.other().chain(data.sensitive_columns().map(|column| column.column())).collect();
        let keys: Vec<&Codes> = exact.iter().map(|column| column.codes()).collect();
        let order = Order::canonical(&groups, &ids, &keys, watch);
        let mut columns = vec![frame::group_ids(groups.n_groups(), &order.place)];
        let mut labels: Vec<(usize, Vec<Column>)> =
            layers.iter().flat_map(|layer| layer.columns(&order.rows, watch)).collect();
        labels.sort_unstable_by_key(|(place, _)| *place);
        columns.extend(labels.into_iter().flat_map(|(_, columns)| columns));
        columns.extend(exact.par_iter().map(|column| column.gather(&order.rows)).collect::<Vec<_>>());
        // Step 4.
        let summaries = layers.iter().flat_map(|layer| &layer.summaries);
        let tables = labelled(self.form(), Table::new(columns), summaries);
        let hierarchy = flight.hierarchy.to_string();
        let shown = ShownGroups {
            partitioner: &hierarchy,
            n_groups: groups.n_groups(),
            promises,
            partition: Some(&groups),
            shown: &ids,
            series: None,
        };
        let release = frame::release(data, self.form(), shown, tables);
        let mut ncp: Vec<(usize, (String, f64))> = layers.iter().flat_map(Layer::lost).collect();
        ncp.sort_unstable_by_key(|(place, _)| *place);
        let lost = ncp.into_iter().map(|(_, lost)| lost).collect();
        let disclosure = job.disclosure(&found.classes(), self.form());
        let mut outcome = Outcome::new(release, &groups, lost, Some(disclosure));
        outcome.release.manifest.quasi_identifiers = self.quasi_identifiers.sets().to_vec();
        outcome.butterflies = Some(facts(data, &found));
        Ok(outcome)
    }
}

fn facts(data: &Microdata, found: &Butterflies) -> ButterflyFacts {
    let (flight, parts) = (&found.flight, &found.parts);
    let names: Vec<&str> = data.quasi().map(|(column, _)| column.name()).collect();
    let order = parts.body.iter().chain(parts.wings.iter().flatten());
    let mut union: Vec<(usize, f64)> = order.copied().zip(flight.union_loss.iter().copied()).collect();
    union.sort_unstable_by_key(|(place, _)| *place);
    let user = |(set, classes): (&Vec<usize>, &Option<Partition>)| {
        let classes = classes.as_ref().unwrap_or(&flight.butterflies);
        UserFacts {
            attributes: set.iter().map(|&at| names[at].to_owned()).collect(),
            classes: classes.n_groups() as u64,
            sizes: (classes.sizes().min().unwrap_or(0), classes.sizes().max().unwrap_or(0)),
        }
    };
    ButterflyFacts {
        butterflies: flight.butterflies.n_groups() as u64,
        hierarchy: flight.hierarchy,
        tally: flight.tally,
        tried: flight.tried.clone(),
        union_by_attribute: union.into_iter().map(|(at, loss)| (names[at].to_owned(), loss)).collect(),
        users: parts.sets.iter().zip(&flight.wings).map(user).collect(),
    }
}
