//! A run and its result.

use std::ops::Deref;

use super::runs::Run;

/// A run and its result.
pub struct Trial {
    /// The run.
    pub run: Run,
    /// Its result.
    pub trial: chrysalis::Trial,
}

impl Deref for Trial {
    type Target = chrysalis::Trial;

    fn deref(&self) -> &chrysalis::Trial {
        &self.trial
    }
}

#[cfg(test)]
impl Trial {
    /// A made-up run with the given linking confidence, row probability and median error.
    pub(super) fn made_up(series: &str, varied: &[(&str, &str)], linking: f64, row: f64, error: f64) -> Trial {
        use chrysalis::{Draft, Numbers};
        use chrysalis_evaluate::workload::{AggregateAccuracy, Summary};
        use chrysalis_release::Form;
        let draft: Draft = toml::from_str("quasi = ['age']\nrelease.require = ['k=2']").unwrap();
        let recipe = draft.check(&["age".to_owned()]).unwrap();
        let varied: super::vary::VariedValues =
            varied.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let parameters: String = varied.iter().map(|(key, value)| format!(", {key}={value}")).collect();
        let (name, series) = (format!("{series}{parameters}"), series.to_owned());
        let spread = Some(Summary { mean: error, quantiles: [0.0, error / 2.0, error, 2.0 * error, 3.0 * error] });
        let answers = AggregateAccuracy {
            name: "count(*)".to_owned(),
            judged: 9,
            inside: 9,
            nonzero: 9,
            error: spread,
            width: spread,
            ..AggregateAccuracy::default()
        };
        let numbers = Numbers {
            method: Form::Anatomy,
            partitioner: "nearby".to_owned(),
            guarantees: vec!["l=4".to_owned()],
            rows: 100,
            groups: 20,
            suppressed: 0,
            sizes: (4, 6),
            findings: Vec::new(),
            measured: Vec::new(),
            certain_rows: Some(0),
            disclosed_rows: Some(0),
            linking: Some(linking),
            row_linking: Some(row),
            similar: None,
            learned: None,
            lift: None,
            attacks: Vec::new(),
            ncp: 0.0,
            ncp_by_attribute: Vec::new(),
            kl: None,
            discernibility: 500,
            average_group_size: None,
            questions: vec![answers],
            found_again: None,
            drawn: None,
            seconds: 0.5,
            tables: Vec::new(),
        };
        let trial = chrysalis::Trial { name: name.clone(), require: Vec::new(), found: Ok(numbers) };
        let command = "chrysalis".to_owned();
        Trial { run: Run { name, series, varied, draft, recipe, command }, trial }
    }

    /// The same run, as if it disclosed rows.
    pub(super) fn disclosing(mut self, rows: u64) -> Trial {
        if let Ok(numbers) = &mut self.trial.found {
            numbers.disclosed_rows = Some(rows);
        }
        self
    }

    /// The same run, as if its audit had failed.
    pub(super) fn broken(mut self) -> Trial {
        if let Ok(numbers) = &mut self.trial.found {
            numbers.findings.push("l=4 does not hold: 3".to_owned());
        }
        self
    }
}
