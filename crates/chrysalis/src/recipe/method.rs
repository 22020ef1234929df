//! The method and the partitioner of a draft, and knobs that neither of them has.

use chrysalis_release::Form;
use chrysalis_store::Format;
use chrysalis_table::{Knob, Remedy};

use super::{no_suppression, shows_suppressed};
use crate::catalogue::{self, DEFAULT_METHOD, MethodEntry, PartitionerEntry};
use crate::{Error, ReleaseDraft, values};

/// The method and the partitioner of a release.
#[derive(Clone, Copy)]
pub(crate) struct MethodChoice {
    pub(crate) method: &'static MethodEntry,
    /// `None` if the method forms the groups, or needs none.
    pub(crate) partitioner: Option<&'static PartitionerEntry>,
}

impl MethodChoice {
    /// Whether a knob that not every method or partitioner has takes effect.
    fn takes(&self, knob: Knob) -> bool {
        self.method.knobs.contains(&knob) || self.partitioner.is_some_and(|entry| entry.knobs.contains(&knob))
    }

    /// Whether the taxonomies of quasi columns take effect.
    pub(crate) fn looks_at_taxonomies(&self) -> bool {
        self.method.looks_at_taxonomies() || self.partitioner.is_some_and(|entry| entry.looks_at_taxonomies)
    }
}

impl ReleaseDraft {
    /// The method that is named, or the default.
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

    /// The partitioner that is named, or else implied; `None` if the method forms the groups, or needs none.
    fn partitioner_of(&self, method: &MethodEntry) -> Result<Option<&'static PartitionerEntry>, Error> {
        let Some(name) = self.partitioner_name(method) else { return Ok(None) };
        let entry = catalogue::partitioner(name);
        let has_users = method.form.shape().has_users;
        if method.partitioner.is_none() && !has_users {
            let message = format!("{} forms no groups, so a partitioner has no effect", method.form);
            return Err(Error::request(message, Remedy::from("leave ").knob(Knob::Partitioner, "").words(" out")));
        }
        let names = |is_for_users: bool| {
            let names = catalogue::PARTITIONERS.iter().filter(|entry| entry.is_for_users == is_for_users);
            catalogue::one_of(names.map(|entry| entry.name))
        };
        match entry.filter(|entry| entry.is_for_users == has_users) {
            Some(entry) => Ok(Some(entry)),
            None if has_users => {
                let message = format!("{} does not find butterflies with the partitioner `{name}`", method.form);
                let hint = format!("use {}, or leave it out to get the better one", names(true));
                Err(Error::request(message, hint))
            }
            None if entry.is_some() => {
                let message = format!("`{name}` finds butterflies, but {} shows none", method.form);
                let users = Form::ALL.iter().filter(|form| form.shape().has_users).map(|form| form.name());
                let remedy = Remedy::from("use ")
                    .knob(Knob::Method, catalogue::one_of(users))
                    .words(format!(", or {}", names(false)));
                Err(Error::request(message, remedy))
            }
            None => {
                let message = format!("`{name}` is not a partitioner of this version");
                Err(Error::request(message, format!("use {}", names(false))))
            }
        }
    }

    fn partitioner_name(&self, method: &MethodEntry) -> Option<&str> {
        let default = match method.partitioner {
            // There is one way to be transparent.
            Some(_) if self.transparent == Some(true) => Some("transparent"),
            // Relaxed cuts imply a partitioner that cuts.
            Some("compact") if self.relaxed == Some(true) => Some("mondrian"),
            default => default,
        };
        self.partitioner.as_deref().or(default)
    }

    pub(super) fn file_format(&self) -> Result<Format, Error> {
        let wrong = |problem: String| Error::request(format!("format: {problem}"), Remedy::from("see ").manual());
        Ok(self.format.as_ref().map(|text| values::format(text).map_err(wrong)).transpose()?.unwrap_or_default())
    }

    /// The knobs that were turned, among those that not every method or partitioner has.
    pub fn turned(&self) -> Vec<Knob> {
        let knobs = [
            (Knob::Marginal, self.marginals.as_ref().is_some_and(|it| !it.is_empty())),
            (Knob::BucketColumn, self.bucket_columns.as_ref().is_some_and(|it| !it.is_empty())),
            (Knob::Collude, self.collude.is_some()),
            (Knob::Relaxed, self.relaxed == Some(true)),
            (Knob::Transparent, self.transparent == Some(true)),
            (Knob::GroupColumn, self.group_column.is_some()),
            (Knob::Suppress, self.suppress.is_some()),
            (Knob::Metric, self.metric.is_some()),
            (Knob::Levels, self.levels.is_some()),
            (Knob::TimeLimit, self.time_limit.is_some()),
        ];
        knobs.into_iter().filter(|(_, is_turned)| *is_turned).map(|(knob, _)| knob).collect()
    }

    /// Resets a knob.
    pub(crate) fn forget(&mut self, knob: Knob) {
        match knob {
            Knob::Marginal => self.marginals = None,
            Knob::BucketColumn => self.bucket_columns = None,
            Knob::Collude => self.collude = None,
            Knob::Relaxed => self.relaxed = None,
            Knob::Transparent => self.transparent = None,
            Knob::GroupColumn => self.group_column = None,
            Knob::Suppress => self.suppress = None,
            Knob::Metric => self.metric = None,
            Knob::Levels => self.levels = None,
            Knob::TimeLimit => self.time_limit = None,
            _ => {}
        }
    }

    /// Refuses a knob that has no effect on the chosen method and partitioner.
    pub(super) fn check_effect(&self, chosen: &MethodChoice) -> Result<(), Error> {
        let method = chosen.method;
        let Some(knob) = self.turned().into_iter().find(|knob| !chosen.takes(*knob)) else { return Ok(()) };
        let method_owner = catalogue::METHODS.iter().find(|entry| entry.knobs.contains(&knob));
        let (message, other) = match method_owner {
            Some(owner) => {
                let message = format!("`{knob}` goes with the method {}, not with {}", owner.form, method.form);
                (message, Some((Knob::Method, owner.form.name())))
            }
            None if knob == Knob::Suppress && !shows_suppressed(method.form) => return Err(no_suppression()),
            None if method.partitioner.is_none() => {
                let message = format!("`{knob}` has no effect on {}, which takes no such partitioner", method.form);
                (message, None)
            }
            None => {
                let owners = catalogue::PARTITIONERS.iter().filter(|entry| entry.knobs.contains(&knob));
                let owner = owners.map(|entry| entry.name).next().unwrap_or_default();
                let name = self.partitioner_name(method).unwrap_or_default();
                let message = format!("`{knob}` goes with the partitioner {owner}, not with {name}");
                (message, Some((Knob::Partitioner, owner)))
            }
        };
        let remedy = match other.filter(|(turned, to)| self.would_take(*turned, to)) {
            Some((turned, to)) => {
                let is_named = if turned == Knob::Method { self.method.is_some() } else { self.partitioner.is_some() };
                Remedy::from(if is_named { "use " } else { "add " }).knob(turned, to).words(", or leave ")
            }
            None => Remedy::from("leave "),
        };
        Err(Error::request(message, remedy.knob(knob, "").words(" out")))
    }

    /// Whether all that is turned would have an effect with another method or partitioner: otherwise there is no point in
    /// proposing it.
    fn would_take(&self, turned: Knob, to: &str) -> bool {
        let mut other = self.clone();
        match turned {
            Knob::Method => other.method = Some(to.to_owned()),
            _ => other.partitioner = Some(to.to_owned()),
        }
        other.chosen().is_ok_and(|chosen| other.turned().into_iter().all(|knob| chosen.takes(knob)))
    }

    /// This release laid over another. If this one chooses another method or partitioner, settings that the other has
    /// because of its own choice are dropped.
    pub fn over(self, base: &ReleaseDraft) -> Result<ReleaseDraft, Error> {
        let mut base = base.clone();
        let known = base.chosen()?;
        let named = |release: &ReleaseDraft| release.method.clone().unwrap_or_else(|| DEFAULT_METHOD.name().to_owned());
        if self.method.is_some() && named(&self) != named(&base) {
            base.partitioner = None;
        }
        // Mistakes in the result are reported when it is checked.
        let Ok(wanted) = self.clone().or(base.clone()).chosen() else { return Ok(self.or(base)) };
        for knob in base.turned() {
            if known.takes(knob) && !wanted.takes(knob) {
                base.forget(knob);
            }
        }
        Ok(self.or(base))
    }

    /// The method and the partitioner.
    pub(crate) fn chosen(&self) -> Result<MethodChoice, Error> {
        let method = self.method()?;
        Ok(MethodChoice { method, partitioner: self.partitioner_of(method)? })
    }
}
