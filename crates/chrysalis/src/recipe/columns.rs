//! The columns of a draft: their roles, how they are read, and settings without effect.

use std::collections::BTreeSet;

use chrysalis_criteria::{Rational, Weights, parse_rational};
use chrysalis_publish::{AttributeSpec, TaxonomySource};
use chrysalis_table::{ColumnRequest, Kind, Knob, Remedy, Role, TaxonomyFile};

use super::method::MethodChoice;
use crate::draft::{QuasiDraft, SensitiveDraft};
use crate::{AttributeDraft, Draft, Error, KindText, Number, ReleaseDraft, TaxonomyDraft, WeightsDraft};

impl Draft {
    /// What a column is to be: as it is read, or as it is after its preparation.
    pub fn request(&self, name: &str) -> Result<ColumnRequest, Error> {
        let attribute = self.attributes.get(name);
        let order = attribute.map(|attribute| attribute.order.clone()).unwrap_or_default();
        let kind = attribute.and_then(|attribute| attribute.kind).map(|kind| kind.0);
        let kind = kind.or((!order.is_empty()).then_some(Kind::Ordinal));
        if let Some(twice) = order.iter().enumerate().find(|(at, value)| order[..*at].contains(value)) {
            let message = format!("the order of column `{name}` lists `{}` twice", twice.1);
            return Err(Error::request(message, "list every value once, from lowest to highest"));
        }
        if let Some(kind) = kind.filter(|kind| *kind != Kind::Ordinal && !order.is_empty()) {
            let message = format!("`{}` has no effect on column `{name}`, which is of kind {kind}", Knob::Order);
            let remedy = Remedy::from("leave it out, or use ").knob(Knob::Kind, format!("{name}={}", Kind::Ordinal));
            return Err(Error::request(message, remedy));
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

    /// The quasi columns: as they are listed, or those with the role, in the order of the header.
    pub fn quasi_columns(&self, header: &[String]) -> Vec<String> {
        match self.quasi.as_ref() {
            Some(QuasiDraft::One(names)) => return names.clone(),
            Some(QuasiDraft::Several(sets)) => return unioned(sets),
            None => {}
        }
        let listed: Vec<&String> = self.quasi_identifiers.iter().flatten().collect();
        let is_quasi = |name: &&String| self.has_role(name, Role::QuasiIdentifier) || listed.contains(name);
        let mut names: Vec<String> = header.iter().filter(is_quasi).cloned().collect();
        // A name that is not in the header is kept, so that the check of names reports it.
        for name in self.attributes.keys().chain(listed.iter().copied()).filter(is_quasi) {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
        names
    }

    /// The columns that the draft mentions in any way.
    pub(crate) fn named_columns(&self, header: &[String]) -> Vec<String> {
        let sensitive = self.sensitive_columns();
        let lists = self.other.iter().flatten().chain(&self.weight).chain(&sensitive).chain(self.attributes.keys());
        self.quasi_columns(header).into_iter().chain(lists.cloned()).collect()
    }

    /// The columns that are given a role by name.
    pub fn with_role(&self, role: Role) -> Vec<String> {
        self.attributes.keys().filter(|name| self.has_role(name, role)).cloned().collect()
    }

    /// The sensitive columns: those that are named, or those with the role.
    pub fn sensitive_columns(&self) -> Vec<String> {
        self.sensitive.as_ref().map_or_else(|| self.with_role(Role::Sensitive), SensitiveDraft::names)
    }

    /// What every user knows, if several are named.
    pub fn users_know(&self) -> Vec<Vec<String>> {
        self.quasi.as_ref().map_or_else(|| self.quasi_identifiers.clone(), QuasiDraft::sets)
    }

    fn has_role(&self, name: &str, role: Role) -> bool {
        self.attributes.get(name).and_then(|attribute| attribute.role).is_some_and(|known| known.0 == role)
    }

    /// Every named column with its role, quasi columns first, the sensitive one last.
    pub(super) fn roles(&self, header: &[String]) -> Result<Vec<(String, Role)>, Error> {
        if self.quasi.is_some() && !self.quasi_identifiers.is_empty() {
            let message = "quasi columns are listed twice, as `quasi` and as `quasi_identifiers`";
            return Err(Error::request(message, "keep one of the lists"));
        }
        let sensitive = self.sensitive_columns();
        if sensitive.len() > 1 {
            self.check_names_one(&sensitive)?;
        }
        let mut other = self.other.clone().unwrap_or_else(|| self.with_role(Role::Other));
        if let Some(weight) = &self.weight {
            self.check_weight_is_nothing_else(weight, &other, header)?;
            other.push(weight.clone());
        }
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

    /// A weight is kept as it is, like the columns of `other`, and may not be named a second time.
    fn check_weight_is_nothing_else(&self, weight: &String, other: &[String], header: &[String]) -> Result<(), Error> {
        let roles = [
            (other.to_vec(), Role::Other),
            (self.quasi_columns(header), Role::QuasiIdentifier),
            (self.sensitive_columns(), Role::Sensitive),
            (self.with_role(Role::Identifier), Role::Identifier),
        ];
        match roles.into_iter().find(|(names, _)| names.contains(weight)) {
            None => Ok(()),
            Some((_, role)) => {
                let message = format!("column `{weight}` is named twice, as weight and as {}", role.name());
                Err(Error::request(message, "give every column one role: a weight is kept as it is"))
            }
        }
    }

    /// Refuses settings that do not say which of several sensitive columns they are for.
    fn check_names_one(&self, sensitive: &[String]) -> Result<(), Error> {
        let knobs = [(Knob::Ordinary, self.ordinary.is_some()), (Knob::Weights, self.weights.is_some())];
        let Some((knob, _)) = knobs.into_iter().find(|(_, is_turned)| *is_turned) else { return Ok(()) };
        let names: Vec<String> = sensitive.iter().map(|name| format!("`{name}`")).collect();
        let message = format!("`{knob}` does not say which column it is for: {} are sensitive", names.join(", "));
        let remedy = match knob {
            Knob::Ordinary => Remedy::from("say it for each column: ").knob(knob, format!("{}=VALUE", sensitive[0])),
            _ => Remedy::from("say it for each column: ").knob(knob, format!("{}=uniform", sensitive[0])),
        };
        Err(Error::request(message, remedy))
    }

    /// How a column is published and how it is read; an identifier is neither.
    pub(super) fn column(&self, name: &str, role: Role) -> Result<(AttributeSpec, Option<ColumnRequest>), Error> {
        let nothing = AttributeDraft::default();
        let said = self.attributes.get(name).unwrap_or(&nothing);
        check_role_takes(name, role, said)?;
        let taxonomy = said.taxonomy(name)?;
        let weights = self.weights.as_ref().filter(|_| role == Role::Sensitive).or(said.weights.as_ref());
        let categories = categories(name, said.categories.as_ref(), weights)?;
        let ordinary = self.ordinary.as_ref().filter(|_| role == Role::Sensitive).or(said.ordinary.as_ref()).cloned();
        let near = said.near.as_ref().map(|near| width(name, near)).transpose()?;
        let spec = |taxonomy| AttributeSpec { name: name.to_owned(), role, taxonomy, categories, ordinary, near };
        if role == Role::Identifier {
            return Ok((spec(None), None));
        }
        let mut request = self.request(name)?;
        match &taxonomy {
            // Codes must keep their leading zeros.
            Some(TaxonomySource::Prefix) => match request.kind {
                None | Some(Kind::Category) => request.kind = Some(Kind::Category),
                Some(kind) => {
                    let message = format!("column `{name}` is of kind {kind}, but only words have prefixes");
                    let remedy = Remedy::from("leave ").knob(Knob::Prefix, "").words(" or ").knob(Knob::Kind, "");
                    return Err(Error::request(message, remedy.words(" out")));
                }
            },
            // An owner who writes labels wants to see them, unless the kind says otherwise.
            Some(TaxonomySource::File(_)) => request.kind = request.kind.or(Some(Kind::Category)),
            // Calendar units do not tell dates from datetimes: the values do.
            Some(TaxonomySource::Intervals(_) | TaxonomySource::Calendar(_)) | None => {}
        }
        Ok((spec(taxonomy), Some(request)))
    }

    /// Refuses a taxonomy that would have no effect.
    pub(super) fn check_taxonomies(&self, chosen: &MethodChoice, roles: &[(String, Role)]) -> Result<(), Error> {
        if chosen.looks_at_taxonomies() {
            return Ok(());
        }
        let MethodChoice { method, partitioner } = chosen;
        let quasi = roles.iter().filter(|(_, role)| *role == Role::QuasiIdentifier);
        for (name, said) in quasi.filter_map(|(name, _)| Some((name, self.attributes.get(name)?))) {
            let Some(knob) = said.taxonomy_knob() else { continue };
            let by = partitioner.map_or_else(String::new, |entry| format!(", and {} looks at none", entry.name));
            let message =
                format!("`{knob}` has no effect on column `{name}`: {} shows its values as they are{by}", method.form);
            return Err(Error::request(message, Remedy::from("leave ").knob(knob, "").words(" out")));
        }
        Ok(())
    }

    /// Drops the taxonomies of quasi columns if `release` ignores them and this draft's own release does not. The kinds
    /// they imply stay.
    pub(crate) fn forget_taxonomies_idle_in(&mut self, release: &ReleaseDraft) {
        let is_looked_at = |release: &ReleaseDraft| release.chosen().is_ok_and(|chosen| chosen.looks_at_taxonomies());
        if is_looked_at(release) || !is_looked_at(&self.release) {
            return;
        }
        let sensitive = self.sensitive_columns();
        for (_, said) in self.attributes.iter_mut().filter(|(name, _)| !sensitive.contains(name)) {
            let is_of_words = said.taxonomy.take().is_some() || std::mem::take(&mut said.prefix);
            said.kind = said.kind.or(is_of_words.then_some(KindText(Kind::Category)));
            said.intervals = None;
        }
    }

    /// Refuses settings for a column that has no role: probably a slip.
    pub(super) fn check_columns_have_roles(&self, roles: &[(String, Role)]) -> Result<(), Error> {
        let groups = self.release.group_column.iter().chain(self.release.bucket_columns.iter().flatten());
        let groups: Vec<&String> = groups.collect();
        if self.weights.is_some() && !roles.iter().any(|(_, role)| *role == Role::Sensitive) {
            return Err(idle_weights("no column is sensitive"));
        }
        if self.ordinary.is_some() && !roles.iter().any(|(_, role)| *role == Role::Sensitive) {
            let message = "values are called ordinary, but no column is sensitive";
            return Err(Error::request(message, Remedy::from("leave ").knob(Knob::Ordinary, "").words(" out")));
        }
        for (name, said) in &self.attributes {
            if roles.iter().any(|(known, _)| known == name) {
                continue;
            }
            if groups.contains(&name) {
                if said.prepare.is_empty() {
                    continue;
                }
                let message = format!("`{}` has no effect on column `{name}`, which only holds groups", Knob::Prepare);
                return Err(Error::request(message, Remedy::from("leave ").knob(Knob::Prepare, "").words(" out")));
            }
            let of_sensitive = [
                ("categories", said.categories.is_some() || said.weights.is_some()),
                ("ordinary values", said.ordinary.is_some()),
                ("a `near` width", said.near.is_some()),
            ];
            if let Some((what, _)) = of_sensitive.into_iter().find(|(_, is_said)| *is_said) {
                let message = format!("column `{name}` has {what} but no role");
                let remedy = Remedy::from("name it with ").knob(Knob::Sensitive, "").words(", or check its spelling");
                return Err(Error::request(message, remedy));
            }
            let what = match said {
                said if said.taxonomy.is_some() || said.intervals.is_some() || said.prefix => "a taxonomy",
                said if !said.prepare.is_empty() => "a preparation",
                said if said.kind.is_some() => "a kind",
                said if !said.order.is_empty() => "an order",
                AttributeDraft { role: Some(role), .. } => {
                    let role = role.0;
                    let message =
                        format!("column `{name}` has the role {role}, but other columns are listed as {role}");
                    return Err(Error::request(message, "add it to the list, or remove the role"));
                }
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

/// Refuses a knob that has no effect on a column of this role.
fn check_role_takes(name: &str, role: Role, said: &AttributeDraft) -> Result<(), Error> {
    let is_recoded = matches!(role, Role::QuasiIdentifier | Role::Sensitive);
    let knobs = [
        (Knob::Taxonomy, said.taxonomy.is_some() && !is_recoded),
        (Knob::Intervals, said.intervals.is_some() && !is_recoded),
        (Knob::Prefix, said.prefix && !is_recoded),
        (Knob::Categories, said.categories.is_some() && role != Role::Sensitive),
        (Knob::Weights, said.weights.is_some() && role != Role::Sensitive),
        (Knob::Ordinary, said.ordinary.is_some() && role != Role::Sensitive),
        (Knob::Near, said.near.is_some() && role != Role::Sensitive),
        (Knob::Kind, said.kind.is_some() && role == Role::Identifier),
        (Knob::Order, !said.order.is_empty() && role == Role::Identifier),
        (Knob::Prepare, !said.prepare.is_empty() && role == Role::Identifier),
    ];
    let Some((knob, _)) = knobs.into_iter().find(|(_, is_idle)| *is_idle) else { return Ok(()) };
    let message = format!("`{knob}` has no effect on column `{name}`, which is {}", role.name());
    Err(Error::request(message, Remedy::from("leave ").knob(knob, "").words(" out, or give the column another role")))
}

/// The width within which numbers count as one value: a number above 0.
fn width(name: &str, near: &Number) -> Result<Rational, Error> {
    let text = near.text();
    parse_rational(&text).filter(|width| *width.numer() > 0).ok_or_else(|| {
        let message = format!("`{text}` of column `{name}` is not a width: expected a number above 0");
        Error::request(message, Remedy::from("for example ").knob(Knob::Near, format!("{name}=1000")))
    })
}

/// Categories from most to least sensitive, and their weights.
type Categories = (Vec<Vec<String>>, Weights);

impl AttributeDraft {
    /// The knob that gives the column a taxonomy.
    fn taxonomy_knob(&self) -> Option<Knob> {
        let knobs = [
            (Knob::Taxonomy, self.taxonomy.is_some()),
            (Knob::Intervals, self.intervals.is_some()),
            (Knob::Prefix, self.prefix),
        ];
        knobs.into_iter().find(|(_, is_turned)| *is_turned).map(|(knob, _)| knob)
    }

    /// The source of the column's taxonomy; there may be only one.
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
            Some(TaxonomyDraft::Read(file)) => return Ok(Some(TaxonomySource::File(TaxonomyFile::clone(file)))),
            Some(TaxonomyDraft::File(path)) => {
                return Err(Error::internal(format!("the taxonomy {} was not read", path.display())));
            }
            None => {}
        }
        Ok(match &self.intervals {
            Some(intervals) => Some(intervals.source()),
            None => self.prefix.then_some(TaxonomySource::Prefix),
        })
    }
}

/// The categories of the sensitive column with their weights; weights without categories have no effect.
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
    Error::request(format!("weights are for categories, but {why}"), remedy)
}
