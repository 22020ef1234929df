//! A whole statement bound to a release: expressions, FILTER, arithmetic of aggregates, HAVING, ORDER BY and LIMIT.
//!
//! An inquiry falls into *atoms*, the aggregates that its expressions are made of. For every combination of values of
//! terms in GROUP BY, the condition of an atom falls into disjoint pieces, and each piece is a [`Plan`] (steps 3a, 4a, 8a
//! of `spec.md`). Plain questions are one plan, as they always were.

mod answer;
mod atoms;
mod keys;
mod pieces;
mod post;

use chrysalis_release::Manifest;

use crate::gather::Operand;
use crate::plan::{Binder, NeededColumns, askable};
use crate::question::{ColumnName, Function};
use crate::statement::{Expr, Statement};
use crate::tables::Tables;
use crate::term::{Scalar, Term, TermBinder};
use crate::{Field, Plan, QueryError};
pub use answer::Reply;
use atoms::Atoms;
use keys::Keys;
use post::Post;

/// A statement bound to a release's manifest.
#[derive(Clone, Debug)]
pub struct Inquiry {
    /// The only plan of a plain question.
    plain: Option<Plan>,
    fields: Vec<Field>,
    keys: Keys,
    combos: Vec<Combo>,
    atoms: Vec<Atom>,
    outputs: Vec<(String, Post)>,
    having: Option<Post>,
    order_by: Vec<(Post, bool, bool)>,
    limit: Option<u64>,
    offset: u64,
    notes: Vec<String>,
}

/// One combination of values of the terms in GROUP BY.
#[derive(Clone, Debug)]
struct Combo {
    values: Vec<Scalar>,
    parts: Vec<Part>,
}

/// A plan, and which atoms it contributes to.
#[derive(Clone, Debug)]
struct Part {
    plan: Plan,
    /// The atom of every aggregate of the plan.
    natives: Vec<usize>,
    operands: Vec<Operand>,
    /// The atom of every operand.
    owners: Vec<usize>,
}

/// An aggregate that expressions are made of.
#[derive(Clone, Debug)]
struct Atom {
    way: Way,
    name: String,
    is_whole: bool,
}

/// How an atom is computed.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    /// By plans; the answers of several pieces are added.
    Native(Function),
    /// From the values that may be hit; the share is that of a quantile.
    Choices(Function, f64),
    /// As a sum of products.
    Products,
    /// The bounds of a weighted mean.
    MeanBounds,
}

impl Inquiry {
    /// Binds a statement to a release and to public tables.
    pub fn new(statement: &Statement, manifest: &Manifest, tables: &Tables) -> Result<Inquiry, QueryError> {
        let Some(question) = &statement.plain else { return Inquiry::bound(statement, manifest, tables) };
        match Plan::new(question, manifest) {
            Ok(plan) => Ok(Inquiry::plain(plan)),
            Err(error @ QueryError::Unanswerable { .. }) => {
                Inquiry::bound(statement, manifest, tables).map_err(|_| error)
            }
            Err(error) => Err(error),
        }
    }

    fn plain(plan: Plan) -> Inquiry {
        let notes = plan.notes.clone();
        Inquiry {
            fields: plan.fields.clone(),
            plain: Some(plan),
            keys: Keys::default(),
            combos: Vec::new(),
            atoms: Vec::new(),
            outputs: Vec::new(),
            having: None,
            order_by: Vec::new(),
            limit: None,
            offset: 0,
            notes,
        }
    }

    /// The plan of a plain question.
    pub fn plan(&self) -> Option<&Plan> {
        self.plain.as_ref()
    }

    /// The first of its plans, from which it can be told how hits are known.
    pub fn first_plan(&self) -> Option<&Plan> {
        self.plain.as_ref().or_else(|| self.combos.first().and_then(|combo| combo.parts.first()).map(|part| &part.plan))
    }

    /// The names of its aggregates, and in words how they are computed.
    pub fn ways(&self) -> Vec<(String, &'static str)> {
        let way = |atom: &Atom| {
            let way = match atom.way {
                Way::Native(function) | Way::Choices(function, _) => function.way(),
                Way::Products | Way::MeanBounds => {
                    "estimate Σ factor·mean; bounds from pairing factors and values of every group in equal and in \
                     opposite order."
                }
            };
            (atom.name.clone(), way)
        };
        self.atoms.iter().skip(1).map(way).collect()
    }

    /// Notes on what is asked for and the release does not have.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The columns of the release that must be read to answer this.
    pub fn columns(&self) -> Vec<NeededColumns> {
        let parts = self.combos.iter().flat_map(|combo| combo.parts.iter().map(|part| &part.plan));
        self.plain.iter().chain(parts).flat_map(Plan::columns).collect()
    }

    fn bound(statement: &Statement, manifest: &Manifest, tables: &Tables) -> Result<Inquiry, QueryError> {
        let shape = askable(manifest)?;
        let fields: Vec<Field> = manifest.attributes.iter().map(Field::new).collect();
        let binder = Binder { detail: shape.detail, fields: &fields, sensitive: None };
        let find = |column: &ColumnName| binder.find(column);
        let find_aggregated = |column: &ColumnName| binder.find_aggregated(column);
        let mut terms = TermBinder { fields: &fields, tables, alias: &statement.alias, find: &find, joins: Vec::new() };
        let mut conditions = terms.join(&statement.joins)?;
        let mut operands =
            TermBinder { fields: &fields, tables, alias: &statement.alias, find: &find_aggregated, joins: Vec::new() };
        operands.join(&statement.joins)?;
        conditions.extend(statement.condition.as_ref().map(|expr| terms.condition(expr)).transpose()?);
        let condition = match conditions.len() {
            0 => None,
            1 => conditions.pop(),
            _ => Some(Term::And(conditions)),
        };
        let keys = Keys::new(statement, &terms, &binder)?;
        let mut atoms = Atoms::new(&terms, &operands, &binder, condition, &keys);
        let mut outputs: Vec<(String, Post)> = Vec::new();
        for item in &statement.items {
            if keys.place(&item.expr).is_some() {
                continue;
            }
            if !item.expr.has_aggregate() {
                return Err(not_grouped(&item.expr, &item.name));
            }
            if outputs.iter().any(|(name, _)| *name == item.name) {
                let problem = format!("two columns of the answer are named `{}`", item.name);
                return Err(QueryError::question(item.at, problem, "ask once, or name one of them with AS"));
            }
            outputs.push((item.name.clone(), atoms.post(&item.expr, &keys)?));
        }
        if outputs.is_empty() {
            let problem = "no aggregate is asked for";
            return Err(QueryError::question(
                statement.at,
                problem,
                "ask COUNT(*), or SUM, AVG, MIN, MAX or MEDIAN of a column",
            ));
        }
        let named = |expr: &Expr| match expr {
            Expr::Column(None, column) if keys.place(expr).is_none() => {
                let item =
                    statement.items.iter().find(|item| item.has_alias && item.name.eq_ignore_ascii_case(&column.text));
                item.map_or_else(|| expr.clone(), |item| item.expr.clone())
            }
            _ => expr.clone(),
        };
        let having = statement.having.as_ref().map(|expr| atoms.post(expr, &keys)).transpose()?;
        let order_by = statement
            .order_by
            .iter()
            .map(|order| Ok((atoms.post(&named(&order.expr), &keys)?, order.is_descending, order.nulls_first)))
            .collect::<Result<Vec<_>, QueryError>>()?;
        let (atoms, combos) = atoms.finish(manifest, &keys)?;
        Ok(Inquiry {
            plain: None,
            keys,
            combos,
            atoms,
            outputs,
            having,
            order_by,
            limit: statement.limit,
            offset: statement.offset,
            notes: Vec::new(),
            fields,
        })
    }
}

fn not_grouped(expr: &Expr, name: &str) -> QueryError {
    let problem = format!("`{name}` is selected, but not in GROUP BY");
    QueryError::question(expr.at(), problem, format!("add GROUP BY {name}, or ask an aggregate of it"))
}
