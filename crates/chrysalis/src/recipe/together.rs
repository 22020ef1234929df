//! Sensitive columns that the owner wants together.

use chrysalis_release::Form;
use chrysalis_table::{Knob, Remedy};

use crate::{Draft, Error, catalogue};

impl Draft {
    /// The sets of sensitive columns that are shown together. Each has several columns, and no column is in two.
    pub(super) fn together(&self, form: Form) -> Result<Vec<Vec<String>>, Error> {
        let sets = self.release.together.clone().unwrap_or_default();
        let out = |remedy: Remedy| remedy.words("leave ").knob(Knob::Together, "").words(" out");
        if sets.is_empty() {
            return Ok(sets);
        }
        let sensitive = self.sensitive_columns();
        if sensitive.len() < 2 {
            let message = format!("`{}` has no effect: fewer than two columns are sensitive", Knob::Together);
            let remedy = Remedy::from("name several with ").knob(Knob::Sensitive, "COLUMN").words(", or ");
            return Err(Error::request(message, out(remedy)));
        }
        if !form.shape().keeps_together() {
            let others = Form::ALL.iter().filter(|form| form.shape().keeps_together()).map(|form| form.name());
            let remedy = Remedy::from("use ").knob(Knob::Method, catalogue::one_of(others)).words(", or ");
            let message = format!("{form} cannot show columns together");
            return Err(Error::request(message, out(remedy)));
        }
        let mut seen: Vec<&String> = Vec::new();
        for set in &sets {
            if let Some(name) = set.iter().find(|name| !sensitive.contains(name)) {
                let message = format!("`{}` names `{name}`, which is not a sensitive column", Knob::Together);
                return Err(Error::request(
                    message,
                    Remedy::from("name it with ").knob(Knob::Sensitive, name.as_str()),
                ));
            }
            for name in set {
                if seen.contains(&name) {
                    let message = format!("`{}` names `{name}` twice", Knob::Together);
                    return Err(Error::request(message, "name every column once; a set may have more than two"));
                }
                seen.push(name);
            }
            if set.len() < 2 {
                let message = format!("`{} = {}` has no effect: it takes two columns", Knob::Together, set.join(","));
                return Err(Error::request(message, out(Remedy::none())));
            }
        }
        Ok(sets)
    }
}
