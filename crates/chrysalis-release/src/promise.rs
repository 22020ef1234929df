use chrysalis_criteria::{HeldPrinciples, PrincipleSpec, Requirement};
use serde::{Deserialize, Serialize};

use crate::{Attribute, Form, Manifest, ReleaseError, RoleName, Shape};

/// A principle that holds in every group of a release.
///
/// It has one of two origins: evidence from groups that were examined ([`Promise::of`]), or a manifest, whose publisher
/// claims it. There is no other way to make one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Promise {
    principle: PrincipleSpec,
    about: Option<String>,
    of: Scope,
    unit: Unit,
}

/// Where a principle holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// In every group.
    Group,
    /// In every batch: rows that share their sensitive values.
    Batch,
    /// In every bucket: rows of one table that show the same labels.
    Bucket,
    /// For every user: in every class of rows that look the same to somebody who knows one of the quasi-identifiers.
    User,
}

impl Scope {
    /// Whether a principle applies to such groups: if there are buckets, rows are counted in them, and values in
    /// batches.
    pub fn takes(self, principle: &PrincipleSpec) -> bool {
        match self {
            Scope::Group | Scope::User => true,
            Scope::Batch => principle.needs_sensitive(),
            Scope::Bucket => !principle.needs_sensitive(),
        }
    }

    /// What such groups are called.
    pub fn name(self) -> &'static str {
        match self {
            Scope::Group => "groups",
            Scope::Batch => "batches",
            Scope::Bucket => "buckets",
            Scope::User => "users",
        }
    }
}

impl Shape {
    /// The scopes of the promises that such a form can make.
    fn scopes(&self) -> &'static [Scope] {
        match self {
            Shape { may_promise: false, .. } => &[],
            Shape { has_users: true, .. } => &[Scope::User],
            Shape { marginals: Some(_), .. } => &[Scope::Batch, Scope::Bucket],
            _ => &[Scope::Group],
        }
    }
}

/// What a promise counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Rows.
    #[default]
    Rows,
    /// Persons, who may have several rows each.
    Persons,
}

impl Promise {
    /// What may be promised about groups that were examined.
    pub fn of(held: &HeldPrinciples, of: Scope) -> Vec<Promise> {
        let unit = if held.counts_persons() { Unit::Persons } else { Unit::Rows };
        let promise =
            |held: &Requirement| Promise { unit, ..Promise::new(held.principle.clone(), held.about.as_deref(), of) };
        held.principles().iter().map(promise).collect()
    }

    fn new(principle: PrincipleSpec, about: Option<&str>, of: Scope) -> Promise {
        let about = about.filter(|_| principle.needs_sensitive()).map(str::to_owned);
        Promise { principle, about, of, unit: Unit::Rows }
    }

    /// The principle.
    pub fn principle(&self) -> &PrincipleSpec {
        &self.principle
    }

    /// The same as a requirement, with the attribute it is about.
    pub fn requirement(&self) -> Requirement {
        Requirement { about: self.about.clone(), principle: self.principle.clone() }
    }

    /// The sensitive attribute whose values it is about; none for principles that only count rows.
    pub fn about(&self) -> Option<&str> {
        self.about.as_deref()
    }

    /// The groups in which it holds.
    pub fn scope(&self) -> Scope {
        self.of
    }

    /// What it counts.
    pub fn unit(&self) -> Unit {
        self.unit
    }

    /// The largest k among some promises.
    pub fn largest_k<'a>(promises: impl Iterator<Item = &'a Promise>) -> Option<u64> {
        let k = |promise: &Promise| match promise.principle {
            PrincipleSpec::KAnonymity { k } | PrincipleSpec::AlphaK { k, .. } => Some(k),
            _ => None,
        };
        promises.filter_map(k).max()
    }

    /// Promises as version 1 wrote them: the scope followed from the form.
    pub(crate) fn from_version_1(
        guarantees: &[String],
        form: Form,
        attributes: &[Attribute],
    ) -> Result<Vec<Promise>, ReleaseError> {
        let shape = form.shape();
        let about = attributes.iter().find(|attribute| attribute.role == RoleName::Sensitive);
        let promise = |text: &String| {
            let principle = parsed(text)?;
            // A promise without a scope is refused later, when the manifest is checked.
            let of = shape.scopes().iter().copied().find(|scope| scope.takes(&principle)).unwrap_or(Scope::Group);
            Ok(Promise::new(principle, about.map(|attribute| attribute.name.as_str()), of))
        };
        guarantees.iter().map(promise).collect()
    }
}

fn parsed(text: &str) -> Result<PrincipleSpec, ReleaseError> {
    text.parse().map_err(|error: chrysalis_criteria::CriteriaError| ReleaseError::Promise {
        principle: text.chars().take(80).collect(),
        problem: error.to_string(),
    })
}

/// How it is written in a manifest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct PromiseEntry {
    /// The principle as it is written, such as `l=4`.
    principle: String,
    /// The sensitive attribute whose values it is about; absent for principles that only count rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    about: Option<String>,
    /// Where it holds.
    of: Scope,
    /// What it counts.
    unit: Unit,
}

impl From<&Promise> for PromiseEntry {
    fn from(promise: &Promise) -> Self {
        PromiseEntry {
            principle: promise.principle.to_string(),
            about: promise.about.clone(),
            of: promise.of,
            unit: promise.unit,
        }
    }
}

impl TryFrom<PromiseEntry> for Promise {
    type Error = ReleaseError;

    fn try_from(entry: PromiseEntry) -> Result<Self, ReleaseError> {
        let principle = parsed(&entry.principle)?;
        Ok(Promise { principle, about: entry.about, of: entry.of, unit: entry.unit })
    }
}

impl Manifest {
    /// Refuses promises that this form cannot make: about groups it does not have, or about values it does not protect.
    pub(crate) fn check_promises(&self) -> Result<(), ReleaseError> {
        let shape = self.method.shape();
        let sensitive: Vec<&str> =
            self.with_role(RoleName::Sensitive).map(|attribute| attribute.name.as_str()).collect();
        for promise in &self.promises {
            let about = promise.about();
            let of_values = promise.principle.needs_sensitive();
            let problem = match about {
                _ if (promise.unit == Unit::Persons) != self.persons.is_some() => match promise.unit {
                    Unit::Persons => "it counts persons, but the release does not say how many there are".to_owned(),
                    Unit::Rows => "it counts rows, but the release is about persons, who may have several".to_owned(),
                },
                _ if !shape.scopes().contains(&promise.of) => {
                    format!("a release by method `{}` has no {}", self.method, promise.of.name())
                }
                _ if of_values && promise.of == Scope::Bucket => {
                    "buckets have no sensitive values of their own".to_owned()
                }
                _ if of_values && sensitive.is_empty() => "the release has no sensitive attribute".to_owned(),
                None if of_values => "it does not say which attribute it is about".to_owned(),
                Some(name) if of_values && !sensitive.contains(&name) => {
                    let name: String = name.chars().take(80).collect();
                    format!("it is about `{name}`, which is not a sensitive attribute")
                }
                Some(_) if !of_values => "it counts rows, so it is about no attribute".to_owned(),
                _ => continue,
            };
            let principle = promise.principle.to_string();
            return Err(ReleaseError::Promise { principle, problem });
        }
        Ok(())
    }

    /// The principles that are promised, as they are written: with the attribute they are about, if there are several.
    pub fn guarantees(&self) -> Vec<String> {
        let written = |promise: &Promise| match self.has_several_sensitive() {
            true => promise.requirement().to_string(),
            false => promise.principle.to_string(),
        };
        self.promises.iter().map(written).collect()
    }

    /// The largest k that is promised for every group that anybody sees; promises that depend on the user do not count.
    pub fn promised_k(&self) -> Option<u64> {
        Promise::largest_k(self.promises.iter().filter(|promise| promise.of != Scope::User))
    }

    /// The largest l of frequency l-diversity that is promised of any attribute.
    pub fn promised_l(&self) -> Option<chrysalis_criteria::Rational> {
        let l = |promise: &Promise| match promise.principle {
            PrincipleSpec::FrequencyL { l } => Some(l),
            _ => None,
        };
        self.promises.iter().filter_map(l).max()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_1_promises_of_what_its_forms_had() {
        let check = |form: Form, expected: [Scope; 2]| {
            let found = Promise::from_version_1(&["k=10".into(), "l=4".into()], form, &[]).unwrap();
            assert_eq!([found[0].scope(), found[1].scope()], expected, "{form}");
        };
        check(Form::Generalize, [Scope::Group, Scope::Group]);
        check(Form::Angel, [Scope::Bucket, Scope::Batch]);
        check(Form::Butterfly, [Scope::User, Scope::User]);
        let error = Promise::from_version_1(&["fame=3".into()], Form::Generalize, &[]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the manifest promises `fame=3`, which cannot be checked: `fame=3` is not a principle"
        );
    }
}
