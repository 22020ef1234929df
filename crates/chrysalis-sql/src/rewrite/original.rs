//! The question itself, over a table that holds the microdata.

use sqlparser::ast::{Expr, Ident};

use super::Dialect;
use super::expr::{X, call, count_rows};
use super::select::{Ctes, Rows};
use super::sets;
use chrysalis_query::Plan;

/// A plan as a statement over the microdata, for an owner who wants to know what the detour through a release costs.
///
/// The table has a column for every attribute of the release. The conditions are written as [`rewrite`](super::rewrite)
/// writes them; the columns are the keys and then the aggregates.
pub fn original(plan: &Plan, table: &str, dialect: Dialect) -> String {
    let quoted = |name: &str| Ident::with_quote(dialect.name_quote(), dialect.escaped_name(name));
    let column = |field: usize| X(Expr::CompoundIdentifier(vec![Ident::new(ALIAS), quoted(&plan.fields[field].name)]));
    let tree = plan.conditions.first().and_then(|condition| condition.tree.as_ref());
    let of_quasi = tree.map(|tree| sets::holds(dialect, tree, &plan.fields, &column));
    let beside = plan.beside.iter().map(|(field, set)| (*field, set));
    let of_sensitive = plan.sensitive.zip(plan.sensitive_set.as_ref()).into_iter().chain(beside);
    let of_sensitive = of_sensitive.map(|(field, set)| sets::is_in(dialect, &column(field), &plan.fields[field], set));
    let rows = Rows::of_table(dialect, table, ALIAS).filter(of_quasi);
    let mut rows = of_sensitive.fold(rows, |rows, condition| rows.filter(Some(condition)));
    for &key in &plan.keys {
        rows = rows.named(column(key), quoted(&plan.fields[key].name)).group_by([column(key)]);
    }
    for aggregate in &plan.aggregates {
        let function = aggregate.function.name().to_uppercase();
        let x = aggregate.field.map_or_else(count_rows, |field| call(&function, vec![column(field)]));
        rows = rows.named(x, quoted(&aggregate.name));
    }
    format!("{:#}", Ctes::default().finish(rows, Vec::new()))
}

/// The short name of the table.
const ALIAS: &str = "m";
