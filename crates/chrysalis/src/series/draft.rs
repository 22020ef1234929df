use std::path::PathBuf;
use std::sync::Arc;

use chrysalis_criteria::Requirement;
use chrysalis_release::Form;
use chrysalis_table::{Knob, Remedy};

use super::Ledger;
use crate::{Draft, Error};

/// What a recipe says about a series.
#[derive(Clone, Debug)]
pub struct SeriesPlan {
    /// The ledger's file.
    pub file: PathBuf,
    /// The column that tells people apart.
    pub person: String,
    /// Whether people whose value left their signature are given another one.
    pub takes_changes: bool,
    /// Whether only people are published who never were before.
    pub only_new: bool,
    /// The ledger, once it was read.
    pub(crate) ledger: Option<Arc<Ledger>>,
}

impl Draft {
    /// What is said about a series, if anything.
    pub(crate) fn series(&self, form: Form, require: &[Requirement]) -> Result<Option<SeriesPlan>, Error> {
        let asked = require.iter().find(|required| required.principle.needs_series());
        let (takes_changes, only_new) = (self.values_change == Some(true), self.only_new == Some(true));
        let Some(file) = &self.series else {
            if let Some(asked) = asked {
                let message = format!("`{asked}` is about a series of releases, but no ledger is named");
                let remedy = Remedy::from("name the file that remembers what was published with ");
                return Err(Error::request(message, remedy.knob(Knob::Series, "FILE")));
            }
            return match [(Knob::ValuesChange, takes_changes), (Knob::OnlyNew, only_new)].into_iter().find(|it| it.1) {
                None => Ok(None),
                Some((knob, _)) => {
                    let message = format!("`{knob}` has no effect: no ledger is named");
                    Err(Error::request(message, Remedy::from("name one with ").knob(Knob::Series, "FILE")))
                }
            };
        };
        let Some(person) = &self.person else {
            let message = "a series follows people, but no column says whose a row is";
            return Err(Error::request(message, Remedy::from("name it with ").knob(Knob::Person, "patient_id")));
        };
        let out = |message: String, knob: Knob| {
            Err(Error::request(message, Remedy::from("leave ").knob(knob, "").words(" out")))
        };
        match asked {
            None if !only_new => {
                let message = "a ledger has no effect: nothing is required of a series";
                let remedy = Remedy::from("ask for ")
                    .knob(Knob::Require, "m=4")
                    .words(", or publish people once only with ")
                    .knob(Knob::OnlyNew, "");
                return Err(Error::request(message, remedy));
            }
            None => {}
            Some(asked) if only_new => {
                return out(
                    format!("`{}` goes with other principles: `{asked}` follows people", Knob::OnlyNew),
                    Knob::OnlyNew,
                );
            }
            Some(asked) => {
                let release = &self.release;
                if release.transparent == Some(true) {
                    let message = format!(
                        "`{asked}` cannot be transparent: groups follow from what was published before, and nobody has \
                         proved that this tells nothing"
                    );
                    return out(message, Knob::Transparent);
                }
                let decides = |what: &str, knob: Knob| {
                    out(format!("`{asked}` itself decides who stands together, so {what} no effect"), knob)
                };
                if release.partitioner.is_some() {
                    return decides("a partitioner has", Knob::Partitioner);
                }
                if release.relaxed == Some(true) {
                    return decides("relaxed cuts have", Knob::Relaxed);
                }
                let idle = [
                    (Knob::RowsKnown, self.rows_known.is_some()),
                    (Knob::RowsPerPerson, self.rows_per_person.is_some()),
                ];
                if let Some((knob, _)) = idle.into_iter().find(|(_, is_said)| *is_said) {
                    return out(format!("`{knob}` has no effect: `{asked}` takes one row per person"), knob);
                }
                if self.weight.is_some() {
                    return out(
                        format!("`{asked}` takes no survey weights: nobody has worked out what counterfeits weigh"),
                        Knob::Weight,
                    );
                }
                if !form.shape().may_follow {
                    let forms = Form::ALL.iter().filter(|form| form.shape().may_follow).map(|form| form.name());
                    let message = format!("{form} has no place for counterfeit values, which `{asked}` needs");
                    let remedy = Remedy::from("use ").knob(Knob::Method, crate::catalogue::one_of(forms));
                    return Err(Error::request(message, remedy));
                }
            }
        }
        if takes_changes && only_new {
            return out(
                format!("`{}` has no effect on people who are published once", Knob::ValuesChange),
                Knob::ValuesChange,
            );
        }
        Ok(Some(SeriesPlan { file: file.clone(), person: person.clone(), takes_changes, only_new, ledger: None }))
    }
}
