//! A draft that was checked against the columns of a table: exactly what will be done.

mod columns;
mod method;
mod together;

use chrysalis_criteria::{PrincipleSpec, Requirement};
use chrysalis_publish::method::Method;
use chrysalis_publish::{AttributeSpec, QuasiIdentifiers};
use chrysalis_release::{Accepted, Detail, Form, Scope};
use chrysalis_store::Format;
use chrysalis_table::{ColumnRequest, Kind, Knob, Memory, MissingPolicy, Remedy, Role, resolve};

use crate::after::Earlier;
use crate::catalogue::{self, MethodEntry};
use crate::like::LikePlan;
use crate::partitioner::Choice;
use crate::persons::PersonsPlan;
use crate::population::{self, PopulationTable};
use crate::prepare::{ColumnPlan, Plan};
use crate::{Draft, Error, Key, SeriesPlan, values, weight};

/// Everything that a publication needs except the data.
#[derive(Clone, Debug)]
pub struct Recipe {
    pub(crate) form: Form,
    pub(crate) partitioner: Choice,
    pub(crate) attributes: Vec<AttributeSpec>,
    pub(crate) requests: Vec<ColumnRequest>,
    pub(crate) dropped: Vec<DroppedColumn>,
    /// All principles that are promised.
    pub(crate) require: Vec<Requirement>,
    pub(crate) missing: MissingPolicy,
    format: Format,
    /// The name of the table in messages, if it has one.
    pub(crate) source: Option<String>,
    /// For forms with buckets: the least size of a bucket, and whether the owner asked for it.
    pub(crate) bucket_size: Option<u64>,
    pub(crate) is_bucket_size_asked: bool,
    pub(crate) marginals: Vec<Vec<String>>,
    pub(crate) bucket_columns: Vec<String>,
    /// Sensitive columns that are shown together.
    pub(crate) together: Vec<Vec<String>>,
    /// The column of survey weights, which is among the columns that are kept.
    pub(crate) weight: Option<String>,
    /// Risks that the owner accepts.
    pub(crate) accepted: Vec<Accepted>,
    /// For forms with users: what every user, or every set of colluding users, knows.
    pub(crate) users: Option<QuasiIdentifiers>,
    /// Who may have several rows.
    pub(crate) persons: Option<PersonsPlan>,
    /// How much memory publishing may take.
    pub(crate) memory: Option<Memory>,
    /// The series that the release belongs to.
    pub(crate) series: Option<SeriesPlan>,
    /// Releases that it follows without a ledger.
    pub(crate) earlier: Earlier,
    /// The release whose groups it is to have.
    pub(crate) like: Option<LikePlan>,
    /// Columns that are read only to see whether people have several rows.
    pub(crate) suspects: Vec<String>,
    /// What is done to columns before anything else.
    pub(crate) preparation: Plan,
    /// The owner's key, once it was read.
    pub(crate) key: Option<Key>,
    /// The people who could be in the table, once they were read.
    pub(crate) population: Option<PopulationTable>,
}

/// A column of the input that is not published.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DroppedColumn {
    /// Its name.
    pub name: String,
    /// Why.
    pub reason: DroppedReason,
}

/// Why a column is not published.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DroppedReason {
    /// It names a person.
    Identifier,
    /// It says which rows form a group.
    HoldsGroups,
    /// It says whose a row is.
    Person,
    /// It was not named.
    NotNamed,
    /// It was not named, and its type is not read, either.
    Unreadable,
}

impl DroppedReason {
    /// All of them.
    pub const ALL: [DroppedReason; 5] = [
        DroppedReason::Identifier,
        DroppedReason::HoldsGroups,
        DroppedReason::Person,
        DroppedReason::NotNamed,
        DroppedReason::Unreadable,
    ];

    /// The reason in a word or two.
    pub fn name(self) -> &'static str {
        match self {
            DroppedReason::Identifier => "identifier",
            DroppedReason::HoldsGroups => "holds the groups",
            DroppedReason::Person => "tells persons apart",
            DroppedReason::NotNamed => "not named",
            DroppedReason::Unreadable => "not named, and of types that are not read",
        }
    }
}

/// The default for the least size of a bucket.
const BUCKET_SIZE: u64 = 10;

impl Recipe {
    /// The columns that it names, with their roles.
    pub fn roles(&self) -> impl Iterator<Item = (&str, Role)> {
        self.attributes.iter().map(|attribute| (attribute.name.as_str(), attribute.role))
    }

    /// How groups are shown.
    pub fn form(&self) -> Form {
        self.form
    }

    /// The principles that every group must satisfy.
    pub fn require(&self) -> &[Requirement] {
        &self.require
    }

    /// The principles required of one kind of group: buckets, if there are any, count rows, and batches count values.
    pub fn required_of(&self, scope: Scope) -> Vec<&Requirement> {
        self.require.iter().filter(|required| scope.takes(&required.principle)).collect()
    }

    /// The column that says whose a row is, if promises are about persons.
    pub fn person(&self) -> Option<&str> {
        self.persons.as_ref().map(|persons| persons.spec.column.as_str())
    }

    /// How much memory publishing may take, if that is limited: then [`crate::cells::publish_by_cells`] carries it out.
    pub fn memory(&self) -> Option<Memory> {
        self.memory
    }

    /// What is said of a series, if the release belongs to one.
    pub fn series(&self) -> Option<&SeriesPlan> {
        self.series.as_ref()
    }

    /// The least size of a bucket, for forms that have buckets.
    pub fn bucket_size(&self) -> Option<u64> {
        self.bucket_size
    }

    /// The columns to read.
    pub fn requests(&self) -> &[ColumnRequest] {
        &self.requests
    }

    /// The same recipe, which tells columns of types that are not read from others that nobody named.
    #[must_use]
    pub fn without(mut self, unreadable: &[(String, String)]) -> Recipe {
        for dropped in self.dropped.iter_mut().filter(|dropped| dropped.reason == DroppedReason::NotNamed) {
            if unreadable.iter().any(|(name, _)| *name == dropped.name) {
                dropped.reason = DroppedReason::Unreadable;
            }
        }
        self
    }

    /// The column of survey weights, if there is one.
    pub fn weight(&self) -> Option<&str> {
        self.weight.as_deref()
    }

    /// The columns that are not published.
    pub fn dropped(&self) -> &[DroppedColumn] {
        &self.dropped
    }

    /// How tables are written.
    pub fn format(&self) -> Format {
        self.format
    }

    /// The names of the columns with a role, in the order in which they are published.
    pub fn with_role(&self, role: Role) -> impl Iterator<Item = &str> {
        self.attributes.iter().filter(move |attribute| attribute.role == role).map(|attribute| attribute.name.as_str())
    }

    /// Whether columns are prepared with the owner's key, so that [`Draft::provide_key`] must come before publishing.
    pub fn needs_key(&self) -> bool {
        self.preparation.is_keyed()
    }

    /// The columns that are prepared, each with its steps, in the order of the columns.
    pub fn prepared(&self) -> impl Iterator<Item = (&str, Vec<String>)> {
        let steps = |column: &ColumnPlan| column.steps.iter().map(ToString::to_string).collect();
        self.preparation.columns.iter().map(move |column| (column.name.as_str(), steps(column)))
    }

    /// The specification of every column.
    pub fn attributes(&self) -> &[AttributeSpec] {
        &self.attributes
    }

    /// The partitioner that forms the groups; `None` if the method forms them, or needs none.
    pub fn partitioner(&self) -> Option<&'static str> {
        match self.partitioner {
            Choice::Butterflies(_) | Choice::Nobody => None,
            _ => Some(self.partitioner.build().name()),
        }
    }

    /// Adds the name of the table to an error.
    pub(crate) fn in_source(&self, error: Error) -> Error {
        match &self.source {
            Some(source) => error.about(source),
            None => error,
        }
    }

    pub(crate) fn method(&self) -> Box<dyn Method> {
        (catalogue::method(self.form).make)(self)
    }
}

impl Draft {
    /// Checks everything that can be checked before a row is read. `header` contains the columns of the table.
    ///
    /// Anything that would be ignored is an error: a knob that the chosen method, partitioner or role does not have.
    pub fn check(&self, header: &[String]) -> Result<Recipe, Error> {
        let method = self.release.method()?;
        let mut require = self.requirements()?;
        check_promises(method.form, &require)?;
        weight::check_form(self.weight.as_ref(), method.form)?;
        let users = self.users(method)?;
        let roles = self.roles(header)?;
        let chosen = self.release.chosen()?;
        self.check_like(method, &require)?;
        self.release.check_effect(&chosen)?;
        let partitioner = match (&self.like, chosen.partitioner) {
            (Some(_), _) => Choice::Like,
            (None, Some(entry)) => (entry.make)(&self.release)?,
            (None, None) => Choice::Nobody,
        };
        partitioner.check_levels(&self.release, &roles)?;
        population::check_asked(self, method.form, &partitioner, &require)?;
        if partitioner.may_suppress() && !shows_suppressed(method.form) {
            return Err(no_suppression());
        }
        let shape = method.form.shape();
        if partitioner == Choice::Transparent && shape.marginals.is_some() {
            let message = format!("{} forms batches and buckets apart, and nobody has proved that safe", method.form);
            let remedy = Remedy::from("use another ").knob(Knob::Method, "").words(", or leave ");
            return Err(Error::request(message, remedy.knob(Knob::Transparent, "").words(" out")));
        }
        let (bucket_size, is_bucket_size_asked) = match shape.marginals {
            Some(_) => bucket_size(method.form, &mut require)?,
            None => (None, false),
        };
        self.check_names(header, roles.iter().map(|(name, _)| name).chain(self.attributes.keys()))?;
        let (mut wanted, mut attributes) = (Vec::new(), Vec::new());
        for (name, role) in &roles {
            let (attribute, request) = self.column(name, *role)?;
            attributes.push(attribute);
            wanted.extend(request);
        }
        self.check_columns_have_roles(&roles)?;
        let planned = wanted.iter().map(|wanted| self.column_plan(wanted)).collect::<Result<Vec<_>, _>>()?;
        let preparation = self.plan(header, planned.into_iter().flatten().collect())?;
        self.check_taxonomies(&chosen, &roles)?;
        self.check_near(&require)?;
        let accepted = self.accepted(method.form, &roles)?;
        let together = self.together(method.form)?;
        let bucket_columns = self.release.bucket_columns.clone().unwrap_or_default();
        for column in partitioner.group_column().into_iter().chain(&bucket_columns) {
            self.check_names(header, std::iter::once(column))?;
            if !wanted.iter().any(|request| request.name == *column) {
                wanted.push(self.request(column)?);
            }
        }
        let series = self.series(method.form, &require)?;
        let earlier = self.earlier(method.form, series.as_ref())?;
        let follows = series.as_ref().is_some_and(|series| !series.only_new);
        let partitioner = if follows { Choice::Nobody } else { partitioner };
        let persons = self.persons(method.form, &roles, self.says_shift())?;
        // Where people are followed, each has one row.
        let persons = persons.filter(|_| !follows);
        let mut preparation = preparation.for_columns(&wanted);
        let mut requests = preparation.requests(&wanted);
        // Persons are told apart by what is written.
        let suspects = self.suspects(header, &roles);
        let whose = persons.iter().map(|persons| &persons.spec.column).chain(&suspects);
        let whose = whose.chain(series.iter().map(|series| &series.person));
        for name in whose {
            self.check_names(header, std::iter::once(name))?;
            if requests.iter().all(|known| known.name != *name) {
                requests.push(ColumnRequest::of_kind(name, Kind::Category));
            }
        }
        preparation.drops_person &= persons.is_none() && series.is_none();
        let is_person = |name: &String| self.person.as_ref() == Some(name);
        let reason = |name: &String| match roles.iter().any(|(known, _)| known == name) {
            _ if partitioner.group_column() == Some(name) || bucket_columns.contains(name) => {
                DroppedReason::HoldsGroups
            }
            _ if is_person(name) => DroppedReason::Person,
            true => DroppedReason::Identifier,
            false => DroppedReason::NotNamed,
        };
        let is_kept = |name: &&String| roles.iter().any(|(known, role)| known == *name && *role != Role::Identifier);
        let dropped = header.iter().filter(|name| !is_kept(name));
        let dropped = dropped.map(|name| DroppedColumn { name: name.clone(), reason: reason(name) }).collect();
        Ok(Recipe {
            form: method.form,
            partitioner,
            attributes,
            requests,
            dropped,
            require,
            missing: self.missing_policy()?,
            format: self.release.file_format()?,
            source: self.source_name(),
            bucket_size,
            is_bucket_size_asked,
            marginals: self.release.marginals.clone().unwrap_or_default(),
            bucket_columns,
            together,
            weight: self.weight.clone(),
            accepted,
            users,
            persons,
            memory: self.memory_limit()?,
            series,
            earlier,
            like: self.like_plan(),
            suspects,
            preparation,
            key: None,
            population: None,
        })
    }

    /// How much memory publishing may take.
    fn memory_limit(&self) -> Result<Option<Memory>, Error> {
        let wrong = |problem: String| {
            Error::request(format!("{}: {problem}", Knob::Memory), Remedy::from("use ").knob(Knob::Memory, "2GB"))
        };
        self.memory.as_ref().map(|text| text.parse().map_err(wrong)).transpose()
    }

    /// The name of the table in messages.
    pub fn source_name(&self) -> Option<String> {
        self.input.as_ref().map(|input| match input.to_str() {
            Some("-") => "standard input".to_owned(),
            _ => input.display().to_string(),
        })
    }

    /// Reports the first name that the table lacks.
    pub fn check_names<'a>(&self, header: &[String], names: impl Iterator<Item = &'a String>) -> Result<(), Error> {
        let wanted: Vec<ColumnRequest> = names.map(ColumnRequest::named).collect();
        let named = |error: Error| match self.source_name() {
            Some(source) => error.about(&source),
            None => error,
        };
        resolve(header, &wanted).map(drop).map_err(|error| named(error.into()))
    }

    /// What becomes of rows that lack a value.
    pub fn missing_policy(&self) -> Result<MissingPolicy, Error> {
        let policy = self.missing.as_ref().map(|text| {
            values::missing(text)
                .map_err(|problem| Error::request(format!("missing: {problem}"), Remedy::from("see ").manual()))
        });
        Ok(policy.transpose()?.unwrap_or(MissingPolicy::AsValue))
    }

    fn requirements(&self) -> Result<Vec<Requirement>, Error> {
        let texts = self.release.require.as_deref().unwrap_or_default();
        if texts.is_empty() {
            let remedy = Remedy::from("say what every group must satisfy, for example ")
                .knob(Knob::Require, "k=10")
                .words(" ")
                .knob(Knob::Require, "l=4");
            return Err(Error::request("no principle is required", remedy));
        }
        let mut require = texts.iter().map(|text| text.parse()).collect::<Result<Vec<Requirement>, _>>()?;
        let sensitive = self.sensitive_columns();
        for required in &mut require {
            self.check_is_sensitive(required, &sensitive)?;
            // Of one column everything is required; naming it changes nothing.
            required.about = required.about.take().filter(|_| sensitive.len() > 1);
        }
        let is_repeated = |at: &usize| {
            let (before, required) = (&require[..*at], &require[*at]);
            before
                .iter()
                .any(|known| known == required || known.principle == required.principle && known.about.is_none())
        };
        if let Some(at) = (1..require.len()).find(is_repeated) {
            return Err(Error::request(format!("`{}` is required twice", require[at]), "say it once"));
        }
        // An owner who names ordinary values of a column wants its other values counted.
        let names_ordinary = |column: &String| {
            let said = self.attributes.get(column).and_then(|said| said.ordinary.as_ref());
            self.ordinary.iter().chain(said).flatten().next().is_some()
        };
        if !sensitive.iter().any(names_ordinary) {
            return Ok(require);
        }
        let of_others = |required: Requirement| -> Vec<Requirement> {
            let PrincipleSpec::FrequencyL { l } = required.principle else { return vec![required] };
            let meant = sensitive.iter().filter(|column| required.may_concern(column));
            let of_column = |column: &String| Requirement {
                about: (sensitive.len() > 1).then(|| column.clone()),
                principle: match names_ordinary(column) {
                    true => PrincipleSpec::OthersL { l },
                    false => PrincipleSpec::FrequencyL { l },
                },
            };
            meant.map(of_column).collect()
        };
        Ok(require.into_iter().flat_map(of_others).collect())
    }

    /// Refuses a requirement of a column that is not sensitive.
    fn check_is_sensitive(&self, required: &Requirement, sensitive: &[String]) -> Result<(), Error> {
        match required.about.as_ref().filter(|name| !sensitive.contains(name)) {
            None => Ok(()),
            Some(name) => {
                let message = format!("`{required}` is about `{name}`, which is not a sensitive column");
                Err(Error::request(message, Remedy::from("name it with ").knob(Knob::Sensitive, name)))
            }
        }
    }

    /// If (k,e) is required, its e already says what counts as near.
    fn check_near(&self, require: &[Requirement]) -> Result<(), Error> {
        let said = self.attributes.iter().filter(|(_, said)| said.near.is_some()).map(|(name, _)| name);
        let ke = |name: &String| {
            let is_ke = |required: &&Requirement| matches!(required.principle, PrincipleSpec::Ke { .. });
            require.iter().filter(|required| required.may_concern(name)).find(is_ke)
        };
        match said.filter_map(ke).next() {
            None => Ok(()),
            Some(ke) => {
                let message = format!("`{}` has no effect beside `{ke}`, whose e says what is near", Knob::Near);
                Err(Error::request(message, Remedy::from("leave ").knob(Knob::Near, "").words(" out")))
            }
        }
    }

    /// The accepted risks, each of which must exist.
    fn accepted(&self, form: Form, roles: &[(String, Role)]) -> Result<Vec<Accepted>, Error> {
        let mut accepted: Vec<Accepted> = Vec::new();
        for text in self.release.accept.iter().flatten() {
            let wrong = |message: String| {
                let remedy = Remedy::set(Knob::Accept, "disclosure")
                    .words(" accepts that rows are disclosed, ")
                    .knob(Knob::Accept, "identifying=COLUMN")
                    .words(" that a column which looks like an identifier is kept as it is");
                Error::request(message, remedy)
            };
            let risk: Accepted = text.parse().map_err(|problem| wrong(format!("{}: {problem}", Knob::Accept)))?;
            match &risk {
                Accepted::Identifying(name) if !roles.contains(&(name.clone(), Role::Other)) => {
                    return Err(wrong(format!("`{risk}` has no effect: `{name}` is not kept as it is")));
                }
                Accepted::Disclosure if form.shape().group_id.is_none() => {
                    return Err(wrong(format!("`{risk}` has no effect: {form} has no groups, and promises nothing")));
                }
                Accepted::Identifying(_) | Accepted::Disclosure => {}
            }
            if !accepted.contains(&risk) {
                accepted.push(risk);
            }
        }
        Ok(accepted)
    }

    /// Several quasi-identifiers, for the methods that protect them.
    fn users(&self, method: &MethodEntry) -> Result<Option<QuasiIdentifiers>, Error> {
        let (sets, form) = (self.users_know(), method.form);
        if form.shape().has_users {
            if sets.len() < 2 {
                let message = format!("{form} protects several quasi-identifiers, but fewer than two are named");
                let remedy = Remedy::from("add ")
                    .knob(Knob::Quasi, "c,d")
                    .words(" for another user, or use ")
                    .knob(Knob::Method, catalogue::DEFAULT_METHOD.name());
                return Err(Error::request(message, remedy));
            }
            let users = QuasiIdentifiers::new(sets)?;
            return Ok(Some(users.colluding(self.release.collude.unwrap_or(1))?));
        }
        if sets.len() > 1 {
            let message = format!("the method {form} protects one quasi-identifier, but several are named");
            let others = Form::ALL.iter().filter(|form| form.shape().has_users).map(|form| form.name());
            let remedy = Remedy::from("put all columns an attacker may know into one ")
                .knob(Knob::Quasi, "a,b,c")
                .words(", or use ")
                .knob(Knob::Method, catalogue::one_of(others));
            return Err(Error::request(message, remedy));
        }
        Ok(None)
    }
}

/// LEAK: other forms show quasi values as they are, or show them to several users, so a row cannot be suppressed there.
fn shows_suppressed(form: Form) -> bool {
    let shape = form.shape();
    shape.detail == Detail::GroupBoxes && !shape.has_users
}

fn no_suppression() -> Error {
    let remedy = Remedy::from("use ")
        .knob(Knob::Method, catalogue::DEFAULT_METHOD.name())
        .words(", or leave ")
        .knob(Knob::Suppress, "")
        .words(" out");
    Error::request("rows can be suppressed only where quasi values are generalized", remedy)
}

/// A principle that every group satisfies is probably a slip, unless nothing is promised anyway. Buckets of one row are
/// allowed: they amount to anatomy.
fn check_promises(form: Form, require: &[Requirement]) -> Result<(), Error> {
    let shape = form.shape();
    let is_meant = |spec: &PrincipleSpec| shape.marginals.is_some() && !spec.needs_sensitive();
    let principles = require.iter().map(|required| &required.principle);
    let idle = principles.into_iter().find(|spec| spec.promises_nothing() && !is_meant(spec));
    match idle.filter(|_| shape.may_promise) {
        None => Ok(()),
        Some(spec) => {
            let more = if spec.needs_sensitive() { "l=2" } else { "k=10" };
            let remedy = Remedy::from("ask for more, such as ").knob(Knob::Require, more).words(", or leave it out");
            Err(Error::request(format!("`{spec}` promises nothing: every row alone satisfies it"), remedy))
        }
    }
}

/// The least size of a bucket; a default k is promised as well.
fn bucket_size(form: Form, require: &mut Vec<Requirement>) -> Result<(Option<u64>, bool), Error> {
    if require.iter().all(|required| !required.principle.needs_sensitive()) {
        let message = format!("{form} needs a principle for batches: `k=` alone says nothing about sensitive values");
        return Err(Error::request(message, Remedy::from("add one, for example ").knob(Knob::Require, "l=4")));
    }
    let k = require.iter().filter_map(|required| match &required.principle {
        PrincipleSpec::KAnonymity { k } => Some(*k),
        _ => None,
    });
    let asked = k.max();
    if asked.is_none() {
        require.push(PrincipleSpec::KAnonymity { k: BUCKET_SIZE }.into());
    }
    Ok((Some(asked.unwrap_or(BUCKET_SIZE)), asked.is_some()))
}
