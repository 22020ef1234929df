//! What a promise costs, before anything is published: whether it can be kept at all, and a trial of its release.

use chrysalis_criteria::Requirement;
use chrysalis_evaluate::workload::AggregateAccuracy;
use chrysalis_publish::Microdata;
use chrysalis_release::TableEntry;
use chrysalis_table::{Stopped, Table, Unwatched, Watch};

use crate::certificate::Certificate;
use crate::compare::Asker;
use crate::publish::{WholeTable, publish_whole};
use crate::report::{AuditOutcome, PublishReport};
use crate::{Error, Evidence, Published, QuestionPlan, Recipe, Seed, TableShape, audit, disclosure};

/// Whether a table can keep promises: decided by its counts, without forming a group.
pub struct Feasibility<'a> {
    data: Microdata,
    recipe: &'a Recipe,
}

impl<'a> Feasibility<'a> {
    /// A table with the columns that a recipe asks for.
    pub fn of(table: Table, recipe: &'a Recipe) -> Result<Self, Error> {
        let whole = WholeTable::of(table, recipe, &Unwatched)?;
        let data = Microdata::new(whole.table, &recipe.attributes)?.showing_together(&recipe.together)?;
        let data = match &recipe.persons {
            Some(plan) => data.of_persons(&plan.spec)?,
            None => data,
        };
        disclosure::check_constant(&data)?;
        Ok(Feasibility { data, recipe })
    }

    /// Whether the whole table satisfies everything that is required; if not, no partition of it does.
    pub fn check(&self) -> Result<(), Error> {
        Ok(self.data.goal(&self.recipe.require).map(drop)?)
    }

    /// The same for another requirement alone. A text that is no requirement is not satisfied.
    pub fn allows(&self, requirement: &str) -> bool {
        let parsed = requirement.parse::<Requirement>();
        parsed.is_ok_and(|it| self.data.goal(std::slice::from_ref(&it)).is_ok())
    }

    /// A requirement that rules out groups which give a value of this column away, if the table can keep one beside the
    /// others.
    pub fn preventing(&self, column: &str) -> Option<String> {
        let column = self.data.sensitive_columns().find(|it| it.name() == column)?;
        let near = column.near(&self.recipe.require);
        disclosure::preventing(&self.data, self.recipe, column.name(), &near).map(|it| it.to_string())
    }
}

/// What a trial of a recipe gave. The release itself is never handed out.
#[derive(Debug)]
pub struct Price {
    /// How it was made, and what it costs.
    pub report: PublishReport,
    /// What the audit found.
    pub audit: AuditOutcome,
    /// The same in words.
    pub told: Certificate,
    /// How well random questions are answered; the first aggregate counts.
    pub questions: Vec<AggregateAccuracy>,
    /// The outline of its tables. No row is ever shown.
    pub tables: Vec<TableShape>,
}

/// Makes a release in memory, audits it and asks it questions. Disclosed rows are counted and stop nothing.
pub fn price(
    table: Table,
    recipe: &Recipe,
    asking: &QuestionPlan,
    seed: Seed,
    watch: &dyn Watch,
) -> Result<Price, Error> {
    let own = WholeTable::of(table, recipe, &Unwatched)?;
    let Published { release, report, .. } = publish_whole(own.clone(), recipe, seed, watch)?;
    // Publishing again takes longer than everything else.
    let with = Evidence { microdata: Some(&own.table), replay: Some(0), ..Evidence::default() };
    let audit = audit(&release, with, watch)?;
    let told = Certificate::of("", &release, &audit, &with)?;
    let mut asker = Asker::new(asking)?;
    let questions = Stopped::catch(|| asker.ask(&release, &own.table, watch))?;
    let shape = |entry: &TableEntry| TableShape {
        table: entry.name.clone(),
        rows: entry.rows,
        columns: entry.columns.iter().map(|column| column.name.clone()).collect(),
    };
    let tables = release.manifest.tables.iter().map(shape).collect();
    Ok(Price { report, audit, told, questions, tables })
}

#[cfg(test)]
mod tests {
    use chrysalis_table::Column;

    use super::*;
    use crate::Draft;

    fn table() -> Table {
        let ages: Vec<i64> = (0..120).map(|n| 20 + n % 40).collect();
        let diseases = ["flu", "cold", "ulcer", "flu"];
        Table::new(vec![Column::integers("age", &ages), Column::texts("disease", (0..120).map(|n| diseases[n % 4]))])
    }

    fn recipe(require: &[&str]) -> Recipe {
        let draft: Draft = serde_json::from_value(serde_json::json!({
            "quasi": ["age"], "sensitive": "disease", "release": {"require": require},
        }))
        .unwrap();
        draft.check(&["age".to_owned(), "disease".to_owned()]).unwrap()
    }

    #[test]
    fn the_limit_of_a_promise_is_that_of_the_counts() {
        let asked = recipe(&["k=5", "l=3"]);
        let feasibility = Feasibility::of(table(), &asked).unwrap();
        // Half of the rows are `flu`.
        assert!(feasibility.allows("l=2") && !feasibility.allows("l=3") && !feasibility.allows("no principle"));
        assert!(feasibility.check().unwrap_err().message.contains("cannot reach"));
        let asked = recipe(&["k=5"]);
        let feasibility = Feasibility::of(table(), &asked).unwrap();
        assert!(feasibility.check().is_ok());
        assert_eq!(feasibility.preventing("disease").as_deref(), Some("l=2"));
    }

    #[test]
    fn a_trial_measures_what_a_release_would_have() {
        let asked = recipe(&["k=5", "l=2"]);
        let plan = QuestionPlan { queries: Some(50), ..QuestionPlan::default() };
        let found = price(table(), &asked, &plan, Seed::Fixed(1), &Unwatched).unwrap();
        let made = crate::publish(table(), &asked, Seed::Fixed(1), &Unwatched).unwrap();
        assert_eq!((found.report.ncp, found.report.groups), (made.report.ncp, made.report.groups));
        assert!(found.audit.ok() && found.told.promises.len() == 2 && found.questions[0].judged > 0);
        assert_eq!(found.tables.len(), made.release.manifest.tables.len());
    }
}
