//! A draft that was checked against the columns of a table: what will be done, and nothing else.

use std::collections::BTreeSet;

use chrysalis_criteria::{PrincipleSpec, Weights};
use chrysalis_publish::method::Method;
use chrysalis_publish::{AttributeSpec, QuasiIdentifiers, TaxonomySource};
use chrysalis_release::{Detail, Form, Scope};
use chrysalis_table::{ColumnRequest, Kind, Knob, MissingPolicy, Remedy, Role, TaxonomyFile, resolve};

use crate::catalogue::{self, MethodEntry, PartitionerEntry};
use crate::draft::QuasiDraft;
use crate::partitioner::{BOTH_HIERARCHIES, Choice};
use crate::{AttributeDraft, Draft, Error, ReleaseDraft, TaxonomyDraft, WeightsDraft, values};

/// Everything a publication needs but the data.
#[derive(Clone, Debug)]
pub struct Recipe {
    pub(crate) form: Form,
    pub(crate) partitioner: Choice,
    pub(crate) attributes: Vec<AttributeSpec>,
    pub(crate) requests: Vec<ColumnRequest>,
    pub(crate) dropped: Vec<Dropped>,
    /// All that is promised.
    pub(crate) require: Vec<PrincipleSpec>,
    pub(crate) missing: MissingPolicy,
    /// How messages call the table, where it has a name.
    pub(crate) source: Option<String>,
    /// For forms with buckets: what each has at least, and whether the owner named it.
    pub(crate) bucket_size: Option<u64>,
    pub(crate) is_bucket_size_asked: bool,
    pub(crate) marginals: Vec<Vec<String>>,
    pub(crate) bucket_columns: Vec<String>,
    /// For forms with users: what every user knows, or every few who collude.
    pub(crate) users: Option<QuasiIdentifiers>,
}

/// A column of the input that is not published.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dropped {
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
    /// It says which rows stand together.
    HoldsGroups,
    /// Nobody asked for it.
    NotNamed,
}

impl DroppedReason {
    /// All of them.
    pub const ALL: [DroppedReason; 3] =
        [DroppedReason::Identifier, DroppedReason::HoldsGroups, DroppedReason::NotNamed];

    /// In a word or two.
    pub fn name(self) -> &'static str {
        match self {
            DroppedReason::Identifier => "identifier",
            DroppedReason::HoldsGroups => "holds the groups",
            DroppedReason::NotNamed => "not named",
        }
    }
}

/// What a bucket has at least, where nobody says.
const BUCKET_SIZE: u64 = 10;

impl Recipe {
    /// How groups are shown.
    pub fn form(&self) -> Form {
        self.form
    }

    /// What every group is to satisfy.
    pub fn require(&self) -> &[PrincipleSpec] {
        &self.require
    }

    /// What is required of groups of a kind: where there are buckets, rows are counted there and values in batches.
    pub fn required_of(&self, scope: Scope) -> Vec<&PrincipleSpec> {
        let is_meant = |spec: &&PrincipleSpec| match scope {
            Scope::Group | Scope::User => true,
            Scope::Batch => spec.needs_sensitive(),
            Scope::Bucket => !spec.needs_sensitive(),
        };
        self.require.iter().filter(is_meant).collect()
    }

    /// What a bucket has at least, for forms that have buckets.
    pub fn bucket_size(&self) -> Option<u64> {
        self.bucket_size
    }

    /// The columns to read.
    pub fn requests(&self) -> &[ColumnRequest] {
        &self.requests
    }

    /// The columns that are not published.
    pub fn dropped(&self) -> &[Dropped] {
        &self.dropped
    }

    /// What becomes of rows that lack a value.
    pub fn missing(&self) -> MissingPolicy {
        self.missing
    }

    /// The names of the columns with a role, in the order in which they are published.
    pub fn with_role(&self, role: Role) -> impl Iterator<Item = &str> {
        self.attributes.iter().filter(move |attribute| attribute.role == role).map(|attribute| attribute.name.as_str())
    }

    /// What was said of every column.
    pub fn attributes(&self) -> &[AttributeSpec] {
        &self.attributes
    }

    /// Who forms the groups.
    pub fn partitioner(&self) -> &'static str {
        self.partitioner.build().name()
    }

    /// Says which table an error is about.
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
    /// Checks everything that can be checked before a row is read. `header` are the columns of the table.
    ///
    /// Whatever would be ignored is an error: a knob that the chosen method, partitioner or role does not have.
    pub fn check(&self, header: &[String]) -> Result<Recipe, Error> {
        let method = self.release.method()?;
        let mut require = self.principles()?;
        let users = self.users(method)?;
        let roles = self.roles(header)?;
        let entry = self.release.partitioner_of(method)?;
        self.release.check_effect(method, entry)?;
        let partitioner = entry.map_or(Ok(Choice::Butterflies(None)), |entry| (entry.make)(&self.release))?;
        check_suppression(method.form, &partitioner)?;
        let shape = method.form.shape();
        let (bucket_size, is_bucket_size_asked) = match shape.marginals {
            Some(_) => bucket_size(method.form, &mut require)?,
            None => (None, false),
        };
        self.check_names(header, roles.iter().map(|(name, _)| name).chain(self.attributes.keys()))?;
        let (mut requests, mut attributes) = (Vec::new(), Vec::new());
        for (name, role) in &roles {
            let (attribute, request) = self.column(name, *role)?;
            attributes.push(attribute);
            requests.extend(request);
        }
        self.check_columns_have_roles(&roles)?;
        let bucket_columns = self.release.bucket_columns.clone().unwrap_or_default();
        for column in partitioner.group_column().into_iter().chain(&bucket_columns) {
            self.check_names(header, std::iter::once(column))?;
            if !requests.iter().any(|request| request.name == *column) {
                requests.push(self.request(column)?);
            }
        }
        let reason = |name: &String| match roles.iter().any(|(known, _)| known == name) {
            _ if partitioner.group_column() == Some(name) || bucket_columns.contains(name) => {
                DroppedReason::HoldsGroups
            }
            true => DroppedReason::Identifier,
            false => DroppedReason::NotNamed,
        };
        let is_kept = |name: &&String| roles.iter().any(|(known, role)| known == *name && *role != Role::Identifier);
        let dropped = header.iter().filter(|name| !is_kept(name));
        let dropped = dropped.map(|name| Dropped { name: name.clone(), reason: reason(name) }).collect();
        Ok(Recipe {
            form: method.form,
            partitioner,
            attributes,
            requests,
            dropped,
            require,
            missing: self.missing_policy()?,
            source: self.source_name(),
            bucket_size,
            is_bucket_size_asked,
            marginals: self.release.marginals.clone().unwrap_or_default(),
            bucket_columns,
            users,
        })
    }

    /// How messages call the table.
    pub fn source_name(&self) -> Option<String> {
        self.input.as_ref().map(|input| match input.to_str() {
            Some("-") => "standard input".to_owned(),
            _ => input.display().to_string(),
        })
    }

    /// Stops at the first name that the table lacks.
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

    /// How a column is to be read.
    pub fn request(&self, name: &str) -> Result<ColumnRequest, Error> {
        let attribute = self.attributes.get(name);
        let order = attribute.map(|attribute| attribute.order.clone()).unwrap_or_default();
        let kind = attribute.and_then(|attribute| attribute.kind).map(|kind| kind.0);
        let kind = kind.or((!order.is_empty()).then_some(Kind::Ordinal));
        if let Some(twice) = order.iter().enumerate().find(|(at, value)| order[..*at].contains(value)) {
            let message = format!("the order of column `{name}` lists `{}` twice", twice.1);
            return Err(Error::request(message, "list every value once, from lowest to highest"));
        }
        if kind == Some(Kind::Ordinal) && order.is_empty() {
            let message = format!("column `{name}` is ordinal, but its order is not given");
            return Err(Error::request(
                message,
                Remedy::from("add ").knob(Knob::Order, format!("{name}=low,middle,high")),
            ));
        }
        Ok(ColumnRequest { name: name.to_owned(), kind, order })
    }

    /// Quasi columns: as they are listed, or by their roles, in the order of the header.
    pub fn quasi_columns(&self, header: &[String]) -> Vec<String> {
        match self.quasi.as_ref() {
            Some(QuasiDraft::One(names)) => return names.clone(),
            Some(QuasiDraft::Several(sets)) => return unioned(sets),
            None => {}
        }
        let listed: Vec<&String> = self.quasi_identifiers.iter().flatten().collect();
        let is_quasi = |name: &&String| self.has_role(name, Role::QuasiIdentifier) || listed.contains(name);
        let mut names: Vec<String> = header.iter().filter(is_quasi).cloned().collect();
        // A name that is not in the header is kept, so that the check of names finds it.
        for name in self.attributes.keys().chain(listed.iter().copied()).filter(is_quasi) {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
        names
    }

    /// The columns that have a role by name.
    pub fn with_role(&self, role: Role) -> Vec<String> {
        self.attributes.keys().filter(|name| self.has_role(name, role)).cloned().collect()
    }

    /// The sensitive columns: the one that is named, or those that have the role.
    pub fn sensitive_columns(&self) -> Vec<String> {
        self.sensitive.clone().map_or_else(|| self.with_role(Role::Sensitive), |name| vec![name])
    }

    /// What every user knows, where several are named.
    pub fn users_know(&self) -> Vec<Vec<String>> {
        self.quasi.as_ref().map_or_else(|| self.quasi_identifiers.clone(), QuasiDraft::sets)
    }

    fn has_role(&self, name: &str, role: Role) -> bool {
        self.attributes.get(name).and_then(|attribute| attribute.role).is_some_and(|known| known.0 == role)
    }

    fn principles(&self) -> Result<Vec<PrincipleSpec>, Error> {
        let texts = self.release.require.as_deref().unwrap_or_default();
        if texts.is_empty() {
            let remedy = Remedy::from("say what every group must satisfy, for example ")
                .knob(Knob::Require, "k=10")
                .words(" ")
                .knob(Knob::Require, "l=4");
            return Err(Error::request("no principle is required", remedy));
        }
        Ok(texts.iter().map(|text| text.parse()).collect::<Result<Vec<PrincipleSpec>, _>>()?)
    }

    /// Several quasi-identifiers, for the methods that protect them.
    fn users(&self, method: &MethodEntry) -> Result<Option<QuasiIdentifiers>, Error> {
        let (sets, form) = (self.users_know(), method.form);
        if form.shape().has_users {
            if sets.len() < 2 {
                let message = format!("{form} protects several quasi-identifiers, and fewer than two are named");
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
            let message = format!("the method {form} protects one quasi-identifier, several are named");
            let others = Form::ALL.iter().filter(|form| form.shape().has_users).map(|form| form.name());
            let remedy = Remedy::from("put all columns an attacker may know into one ")
                .knob(Knob::Quasi, "a,b,c")
                .words(", or use ")
                .knob(Knob::Method, catalogue::one_of(others));
            return Err(Error::request(message, remedy));
        }
        Ok(None)
    }

    /// Every named column with its role, quasi columns first, the sensitive one last.
    fn roles(&self, header: &[String]) -> Result<Vec<(String, Role)>, Error> {
        let sensitive = self.sensitive_columns();
        if let [first, second, ..] = &sensitive[..] {
            let message = format!("`{first}` and `{second}` are both sensitive");
            return Err(Error::request(message, Remedy::from("choose one with ").knob(Knob::Sensitive, "")));
        }
        let other = self.other.clone().unwrap_or_else(|| self.with_role(Role::Other));
        let all = [
            (self.quasi_columns(header), Role::QuasiIdentifier),
            (other, Role::Other),
            (sensitive, Role::Sensitive),
            (self.with_role(Role::Identifier), Role::Identifier),
        ];
        let mut roles: Vec<(String, Role)> = Vec::new();
        for (name, role) in all.into_iter().flat_map(|(names, role)| names.into_iter().map(move |name| (name, role))) {
            if let Some((_, first)) = roles.iter().find(|(known, _)| *known == name) {
                let message = format!("column `{name}` is named twice, as {} and as {}", first.name(), role.name());
                return Err(Error::request(message, "give every column one role"));
            }
            roles.push((name, role));
        }
        Ok(roles)
    }

    /// A column as it is read and as it is published; an identifier is neither.
    fn column(&self, name: &str, role: Role) -> Result<(AttributeSpec, Option<ColumnRequest>), Error> {
        let nothing = AttributeDraft::default();
        let said = self.attributes.get(name).unwrap_or(&nothing);
        check_role_takes(name, role, said)?;
        let taxonomy = said.taxonomy(name)?;
        let weights = self.weights.as_ref().filter(|_| role == Role::Sensitive).or(said.weights.as_ref());
        let categories = categories(name, said.categories.as_ref(), weights)?;
        let spec = |taxonomy| AttributeSpec { name: name.to_owned(), role, taxonomy, categories };
        if role == Role::Identifier {
            return Ok((spec(None), None));
        }
        let mut request = self.request(name)?;
        match &taxonomy {
            // Codes keep their leading zeros.
            Some(TaxonomySource::Prefix) => request.kind = Some(Kind::Category),
            // Who writes labels wants to see them, unless the kind says otherwise.
            Some(TaxonomySource::File(_)) => request.kind = request.kind.or(Some(Kind::Category)),
            Some(TaxonomySource::Intervals(_)) | None => {}
        }
        Ok((spec(taxonomy), Some(request)))
    }

    /// What is said of a column that plays no part is a slip of the pen.
    fn check_columns_have_roles(&self, roles: &[(String, Role)]) -> Result<(), Error> {
        let groups = self.release.group_column.iter().chain(self.release.bucket_columns.iter().flatten());
        let groups: Vec<&String> = groups.collect();
        if self.weights.is_some() && !roles.iter().any(|(_, role)| *role == Role::Sensitive) {
            return Err(idle_weights("no column is sensitive"));
        }
        for (name, said) in &self.attributes {
            if roles.iter().any(|(known, _)| known == name) || groups.contains(&name) {
                continue;
            }
            if said.categories.is_some() || said.weights.is_some() {
                let message = format!("column `{name}` has categories but no role");
                let remedy = Remedy::from("name it with ").knob(Knob::Sensitive, "").words(", or check its spelling");
                return Err(Error::request(message, remedy));
            }
            let what = match said {
                said if said.taxonomy.is_some() || said.intervals.is_some() || said.prefix => "a taxonomy",
                said if said.kind.is_some() => "a kind",
                said if !said.order.is_empty() => "an order",
                _ => continue,
            };
            let message = format!("column `{name}` has {what} but no role");
            let remedy = Remedy::from("name it with ")
                .knob(Knob::Quasi, "")
                .words(" or ")
                .knob(Knob::Sensitive, "")
                .words(", or check its spelling");
            return Err(Error::request(message, remedy));
        }
        Ok(())
    }
}

fn unioned(sets: &[Vec<String>]) -> Vec<String> {
    let mut seen = BTreeSet::new();
    sets.iter().flatten().filter(|name| seen.insert((*name).clone())).cloned().collect()
}

/// A knob that has no effect on a column of this role is a mistake.
fn check_role_takes(name: &str, role: Role, said: &AttributeDraft) -> Result<(), Error> {
    let is_recoded = matches!(role, Role::QuasiIdentifier | Role::Sensitive);
    let knobs = [
        (Knob::Taxonomy, said.taxonomy.is_some() && !is_recoded),
        (Knob::Intervals, said.intervals.is_some() && !is_recoded),
        (Knob::Prefix, said.prefix && !is_recoded),
        (Knob::Categories, said.categories.is_some() && role != Role::Sensitive),
        (Knob::Weights, said.weights.is_some() && role != Role::Sensitive),
        (Knob::Kind, said.kind.is_some() && role == Role::Identifier),
        (Knob::Order, !said.order.is_empty() && role == Role::Identifier),
    ];
    let Some((knob, _)) = knobs.into_iter().find(|(_, is_idle)| *is_idle) else { return Ok(()) };
    let message = format!("`{knob}` has no effect on column `{name}`, which is {}", role.name());
    Err(Error::request(message, Remedy::from("leave ").knob(knob, "").words(" out, or give the column another role")))
}

/// LEAK: other forms show quasi values as they are, or to several users, so a row cannot be suppressed there.
fn check_suppression(form: Form, partitioner: &Choice) -> Result<(), Error> {
    let shape = form.shape();
    if !partitioner.may_suppress() || shape.detail == Detail::GroupBoxes && !shape.has_users {
        return Ok(());
    }
    let remedy = Remedy::from("use ")
        .knob(Knob::Method, catalogue::DEFAULT_METHOD.name())
        .words(", or leave ")
        .knob(Knob::Suppress, "")
        .words(" out");
    Err(Error::request("rows can be suppressed only where quasi values are generalized", remedy))
}

/// What a bucket has at least; a k that nobody named is promised as well.
fn bucket_size(form: Form, require: &mut Vec<PrincipleSpec>) -> Result<(Option<u64>, bool), Error> {
    if require.iter().all(|spec| !spec.needs_sensitive()) {
        let message = format!("{form} needs a principle for batches: `k=` alone says nothing about sensitive values");
        return Err(Error::request(message, Remedy::from("add one, for example ").knob(Knob::Require, "l=4")));
    }
    let k = require.iter().filter_map(|spec| match spec {
        PrincipleSpec::KAnonymity { k } => Some(*k),
        _ => None,
    });
    let asked = k.max();
    if asked.is_none() {
        require.push(PrincipleSpec::KAnonymity { k: BUCKET_SIZE });
    }
    Ok((Some(asked.unwrap_or(BUCKET_SIZE)), asked.is_some()))
}

/// Categories from most to least sensitive, and their weights.
type Categories = (Vec<Vec<String>>, Weights);

impl AttributeDraft {
    /// Where the column's taxonomy comes from; at most one source.
    pub(crate) fn taxonomy(&self, name: &str) -> Result<Option<TaxonomySource>, Error> {
        let n_sources =
            usize::from(self.taxonomy.is_some()) + usize::from(self.intervals.is_some()) + usize::from(self.prefix);
        if n_sources > 1 {
            let message = format!("column `{name}` has several taxonomies");
            return Err(Error::request(message, "choose one of taxonomy, intervals and prefix"));
        }
        match &self.taxonomy {
            Some(TaxonomyDraft::Lines(lines)) => {
                return Ok(Some(TaxonomySource::File(TaxonomyFile::from_lines(lines)?)));
            }
            Some(TaxonomyDraft::File(path)) => {
                return Err(Error::internal(format!("the taxonomy {} was not read", path.display())));
            }
            None => {}
        }
        Ok(match &self.intervals {
            Some(widths) => Some(TaxonomySource::Intervals(widths.clone())),
            None => self.prefix.then_some(TaxonomySource::Prefix),
        })
    }
}

/// The categories of the sensitive column with their weights; weights alone weigh nothing.
fn categories(
    name: &str,
    categories: Option<&Vec<Vec<String>>>,
    weights: Option<&WeightsDraft>,
) -> Result<Option<Categories>, Error> {
    if weights.is_some() && categories.is_none() {
        return Err(idle_weights(&format!("column `{name}` has none")));
    }
    let weights = weights.map(WeightsDraft::weights).transpose()?;
    Ok(categories.map(|categories| (categories.clone(), weights.unwrap_or(Weights::Uniform))))
}

fn idle_weights(why: &str) -> Error {
    let remedy = Remedy::from("name them with ")
        .knob(Knob::Categories, "")
        .words(", or leave ")
        .knob(Knob::Weights, "")
        .words(" out");
    Error::request(format!("weights weigh categories, and {why}"), remedy)
}

impl ReleaseDraft {
    /// The method that is asked for.
    pub fn method(&self) -> Result<&'static MethodEntry, Error> {
        let form = match &self.method {
            None => catalogue::DEFAULT_METHOD,
            Some(name) => Form::named(name).ok_or_else(|| {
                let names: Vec<&str> = Form::ALL.iter().map(|form| form.name()).collect();
                let hint = format!("use one of {}", names.join(", "));
                Error::request(format!("`{name}` is not a method of this version"), hint)
            })?,
        };
        Ok(catalogue::method(form))
    }

    /// The partitioner that is asked for or stands to reason; none where butterflies are sought in every hierarchy.
    fn partitioner_of(&self, method: &MethodEntry) -> Result<Option<&'static PartitionerEntry>, Error> {
        let name = self.partitioner_name(method);
        if name == BOTH_HIERARCHIES {
            return Ok(None);
        }
        let entry = catalogue::partitioner(name);
        let has_users = method.form.shape().has_users;
        let names = |is_for_users: bool| {
            let names = catalogue::PARTITIONERS.iter().filter(|entry| entry.is_for_users == is_for_users);
            catalogue::one_of(names.map(|entry| entry.name))
        };
        match entry.filter(|entry| entry.is_for_users == has_users) {
            Some(entry) => Ok(Some(entry)),
            None if has_users => {
                let message = format!("{} does not find butterflies with the partitioner `{name}`", method.form);
                let hint = format!("use {}, or leave it out: the better is taken", names(true));
                Err(Error::request(message, hint))
            }
            None => {
                let message = format!("`{name}` is not a partitioner of this version");
                Err(Error::request(message, format!("use {}", names(false))))
            }
        }
    }

    fn partitioner_name(&self, method: &MethodEntry) -> &str {
        let default = match method.partitioner {
            // Who asks for relaxed cuts asks for cuts.
            "compact" if self.relaxed == Some(true) => "mondrian",
            default => default,
        };
        self.partitioner.as_deref().unwrap_or(default)
    }

    /// The knobs that were turned and that not every method or partitioner has.
    fn turned(&self) -> Vec<Knob> {
        let knobs = [
            (Knob::Marginal, self.marginals.as_ref().is_some_and(|it| !it.is_empty())),
            (Knob::BucketColumn, self.bucket_columns.as_ref().is_some_and(|it| !it.is_empty())),
            (Knob::Collude, self.collude.is_some()),
            (Knob::Relaxed, self.relaxed == Some(true)),
            (Knob::GroupColumn, self.group_column.is_some()),
            (Knob::Suppress, self.suppress.is_some()),
            (Knob::Metric, self.metric.is_some()),
            (Knob::TimeLimit, self.time_limit.is_some()),
        ];
        knobs.into_iter().filter(|(_, is_turned)| *is_turned).map(|(knob, _)| knob).collect()
    }

    /// Forgets a knob.
    fn forget(&mut self, knob: Knob) {
        match knob {
            Knob::Marginal => self.marginals = None,
            Knob::BucketColumn => self.bucket_columns = None,
            Knob::Collude => self.collude = None,
            Knob::Relaxed => self.relaxed = None,
            Knob::GroupColumn => self.group_column = None,
            Knob::Suppress => self.suppress = None,
            Knob::Metric => self.metric = None,
            Knob::TimeLimit => self.time_limit = None,
            _ => {}
        }
    }

    /// A knob that has no effect on the chosen method and partitioner is a mistake.
    fn check_effect(&self, method: &MethodEntry, partitioner: Option<&PartitionerEntry>) -> Result<(), Error> {
        let of_partitioner = partitioner.map_or(&[][..], |entry| entry.knobs);
        let is_idle = |knob: &Knob| !method.knobs.contains(knob) && !of_partitioner.contains(knob);
        let Some(knob) = self.turned().into_iter().find(is_idle) else { return Ok(()) };
        let (message, remedy) = match catalogue::METHODS.iter().find(|entry| entry.knobs.contains(&knob)) {
            Some(owner) => (
                format!("`{knob}` goes with the method {}, not with {}", owner.form, method.form),
                Remedy::from("add ").knob(Knob::Method, owner.form.name()),
            ),
            None => {
                let owners = catalogue::PARTITIONERS.iter().filter(|entry| entry.knobs.contains(&knob));
                let owner = owners.map(|entry| entry.name).next().unwrap_or_default();
                let name = self.partitioner_name(method);
                let message = format!("`{knob}` goes with the partitioner {owner}, not with {name}");
                (message, Remedy::from("add ").knob(Knob::Partitioner, owner))
            }
        };
        Err(Error::request(message, remedy.words(", or leave ").knob(knob, "").words(" out")))
    }

    /// This release over what holds for several of them. What fits another method or partitioner only is left behind.
    pub fn over(self, base: &ReleaseDraft) -> Result<ReleaseDraft, Error> {
        let mut base = base.clone();
        let wanted = ReleaseDraft { method: self.method.clone().or_else(|| base.method.clone()), ..self.clone() };
        let method = wanted.method()?;
        if !std::ptr::eq(method, base.method()?) {
            base.partitioner = None;
        }
        let all = wanted.or(base.clone());
        let partitioner = all.partitioner_of(method).ok().flatten();
        let of_partitioner = partitioner.map_or(&[][..], |entry| entry.knobs);
        for knob in base.turned() {
            if !method.knobs.contains(&knob) && !of_partitioner.contains(&knob) {
                base.forget(knob);
            }
        }
        Ok(self.or(base))
    }
}
