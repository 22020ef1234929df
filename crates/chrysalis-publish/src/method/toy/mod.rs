//! The smallest possible form, for the test that keeps CONTRIBUTING.md true: exact quasi values, and sensitive values
//! counted by group.

use chrysalis_release::{Form, Scope};
use chrysalis_table::{Codes, Column, Table};

use super::anatomy::{nothing_sensitive, sensitive_tables};
use super::frame::{self, Order};
use super::{Method, Outcome};
use crate::{Job, Microdata, PublishError};

/// The publication `toy`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Toy;

impl Method for Toy {
    fn form(&self) -> Form {
        Form::Toy
    }

    fn check(&self, data: &Microdata) -> Result<(), PublishError> {
        data.sensitive_columns().next().map(|_| ()).ok_or_else(|| nothing_sensitive(self.form()))
    }

    fn publish(&self, job: &mut Job<'_>) -> Result<Outcome, PublishError> {
        let (data, watch) = (job.data(), job.watch());
        let grouping = job.group(Scope::Group)?;
        let (partition, shape) = (grouping.partition(), self.form().shape());
        let shown = frame::draw_ids(partition, job.rng());
        let exact: Vec<&Column> = data.quasi().map(|(column, _)| column).chain(data.other()).collect();
        let keys: Vec<&Codes> = exact.iter().map(|column| column.codes()).collect();
        let order = Order::canonical(partition, &shown, &keys, watch);
        let mut columns: Vec<Column> = exact.iter().map(|column| column.gather(&order.rows)).collect();
        columns.push(frame::group_ids(partition.n_groups(), &order.place));
        let mut tables = vec![(shape.people.to_owned(), Table::new(columns))];
        tables.extend(sensitive_tables(data, self.form(), partition, &shown, watch));
        let release = frame::release(data, self.form(), frame::ShownGroups::of(&grouping, &shown), tables);
        let disclosure = job.disclosure(&[partition], self.form());
        Ok(Outcome::new(release, partition, Vec::new(), Some(disclosure)))
    }
}
