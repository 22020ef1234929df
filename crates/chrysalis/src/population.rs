//! A table of the people who could be in the data: principles about them, how it is read, and that it is never
//! published.

use std::sync::Arc;

use chrysalis_criteria::{PopulationSpec, PrincipleSpec, Requirement};
use chrysalis_release::{Detail, Form, Manifest, RoleName};
use chrysalis_store::Input;
use chrysalis_table::{ColumnRequest, Counted, Knob, Remedy, Role, Stopped, Table, Watch};

use crate::partitioner::Choice;
use crate::prepare::Nobody;
use crate::{Draft, Error, Recipe, catalogue, files};

/// The quasi columns of the population, as they were read.
#[derive(Clone, Debug)]
pub(crate) struct PopulationTable(Arc<Table>);

/// Refuses principles about a population where nothing can be said of it, and a table of it that nobody asks for.
pub(crate) fn check_asked(
    draft: &Draft,
    form: Form,
    partitioner: &Choice,
    require: &[Requirement],
) -> Result<(), Error> {
    let asked = require.iter().find(|required| required.principle.needs_population());
    let Some(asked) = asked else {
        if draft.release.population_table.is_none() {
            return Ok(());
        }
        let message = "a table of the population has no effect: no principle is about it";
        let remedy = Remedy::from("add ").knob(Knob::Require, "k-map=5").words(", or leave ");
        return Err(Error::request(message, remedy.knob(Knob::PopulationTable, "").words(" out")));
    };
    if !is_labelled(form) {
        let message = format!(
            "{asked} counts people under the ranges and labels of groups, which {form} does not show for all rows of a group"
        );
        let forms = Form::ALL.iter().filter(|form| is_labelled(**form)).map(|form| form.name());
        return Err(Error::request(message, Remedy::from("use ").knob(Knob::Method, catalogue::one_of(forms))));
    }
    let bounds_presence = |required: &&Requirement| {
        matches!(required.principle, PrincipleSpec::OfPopulation(PopulationSpec::DeltaPresence { .. }))
    };
    let is_of_levels = matches!(partitioner, Choice::FullDomain { .. });
    if let Some(asked) = require.iter().find(bounds_presence).filter(|_| !is_of_levels) {
        let message = format!(
            "{asked} bounds shares of the population, which may rise or fall when groups are merged: only a search among \
             the levels of whole columns finds groups that keep it"
        );
        return Err(Error::request(message, Remedy::from("use ").knob(Knob::Partitioner, "full-domain")));
    }
    if draft.person.is_some() && !draft.says_shift() || draft.rows_per_person.is_some() {
        let message = format!("{asked} counts rows of a population, but promises are to be about persons");
        return Err(Error::request(message, Remedy::from("leave ").knob(Knob::Person, "").words(" out")));
    }
    if draft.release.population_table.is_none() {
        let message = format!("{asked} needs a table of the people who could be in the data");
        return Err(Error::request(message, Remedy::from("name it with ").knob(Knob::PopulationTable, "census.csv")));
    }
    Ok(())
}

/// A recipe that asks about the population cannot be carried out before its table was read.
pub(crate) fn check_read(recipe: &Recipe) -> Result<(), Error> {
    let asked = recipe.require.iter().find(|required| required.principle.needs_population());
    match asked.filter(|_| recipe.population.is_none()) {
        None => Ok(()),
        Some(asked) => {
            let message = format!("{asked} needs the table of the population, which was not read");
            Err(Error::internal(message))
        }
    }
}

/// Whether all rows of a group show the same ranges and labels, to everybody.
fn is_labelled(form: Form) -> bool {
    let shape = form.shape();
    shape.detail == Detail::GroupBoxes && !shape.has_users
}

/// A release whose quasi values are not ranges and labels says nothing about people under labels.
pub(crate) fn check_form(manifest: &Manifest, population: Option<&Table>) -> Result<(), Error> {
    if population.is_none() { Ok(()) } else { check_form_of(manifest) }
}

pub(crate) fn check_form_of(manifest: &Manifest) -> Result<(), Error> {
    if chrysalis_audit::takes_population(manifest) {
        return Ok(());
    }
    let message = format!(
        "a table of the population has no effect: a release by {} does not show the same ranges and labels for all rows of a \
         group",
        manifest.method
    );
    Err(Error::request(message, Remedy::from("leave ").knob(Knob::PopulationTable, "").words(" out")))
}

impl Draft {
    /// Reads the table of the population, if the recipe needs one, with the kinds that the columns of `table` have.
    pub fn provide_population(&self, recipe: &mut Recipe, table: &Table, watch: &dyn Watch) -> Result<(), Error> {
        let Some(path) = &self.release.population_table else { return Ok(()) };
        let draft = Draft { input: Some(path.clone()), ..self.clone() };
        draft.use_population(recipe, draft.open()?, table, watch)
    }

    /// The same with a table of the population that is open.
    pub fn use_population(
        &self,
        recipe: &mut Recipe,
        input: Input,
        table: &Table,
        watch: &dyn Watch,
    ) -> Result<(), Error> {
        let mut wanted = Vec::new();
        for name in recipe.with_role(Role::QuasiIdentifier) {
            let said = recipe.requests().iter().find(|request| request.name == name);
            let order = said.map(|request| request.order.clone()).unwrap_or_default();
            let kind = table.column(name).map(|column| column.domain().kind());
            wanted.push(ColumnRequest { name: name.to_owned(), kind, order });
        }
        self.check_names(input.header(), wanted.iter().map(|request| &request.name))?;
        watch.phase("population", input.size(), Counted::Bytes);
        let people = Stopped::catch(|| input.read_with(&wanted, &|n| watch.tell(n)))?;
        let people = people.map_err(|error| {
            let remedy =
                "the population is read like the table to publish: its columns must hold the same kind of values";
            Error::request(error.to_string(), remedy)
        })?;
        recipe.population = Some(PopulationTable(Arc::new(people)));
        Ok(())
    }
}

impl Recipe {
    /// Uses the table of the population that was read for another recipe. Whether it is the one that this recipe needs:
    /// both must have the same quasi columns.
    pub fn share_population(&mut self, other: &Recipe) -> bool {
        let quasi =
            |recipe: &Recipe| -> Vec<String> { recipe.with_role(Role::QuasiIdentifier).map(str::to_owned).collect() };
        let is_same = other.population.is_some() && quasi(self) == quasi(other);
        if is_same {
            self.population = other.population.clone();
        }
        is_same
    }
}

impl PopulationTable {
    /// The quasi columns, prepared as those of the table are.
    pub(crate) fn prepared(&self, recipe: &Recipe) -> Result<Table, Error> {
        let names: Vec<ColumnRequest> = recipe.with_role(Role::QuasiIdentifier).map(ColumnRequest::named).collect();
        let plan = recipe.preparation.clone().for_columns(&names);
        let (table, _) = plan.carry_out((*self.0).clone(), recipe.key.as_ref(), Nobody::Ignored)?;
        Ok(table)
    }
}

/// Reads the table of a population for an audit: the quasi attributes of a release, with its kinds and preparations.
pub(crate) fn read(input: Input, source: &Draft, manifest: &Manifest, watch: &dyn Watch) -> Result<Table, Error> {
    let draft = source.clone().suited_to(&[manifest]);
    let mut quasi = manifest.clone();
    quasi.attributes.retain(|attribute| attribute.role == RoleName::Quasi);
    quasi.persons = None;
    files::read_microdata(input, &[&quasi], &draft.suited_to(&[&quasi]), watch)
}
