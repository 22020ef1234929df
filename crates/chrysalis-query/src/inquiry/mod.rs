//! A whole statement bound to a release: expressions, FILTER, arithmetic of aggregates, HAVING, ORDER BY and LIMIT.
//!
//! An inquiry falls into *atoms*, the aggregates that its expressions are made of. For every combination of values of
//! terms in GROUP BY, the condition of an atom falls into disjoint pieces, and each piece is a [`Plan`] (steps 3a, 4a, 8a
//! of `spec.md`). Plain questions are one plan, as they always were.

mod answer;
mod atoms;
mod expressions;
mod keys;
mod pieces;
mod post;

use chrysalis_release::Manifest;

pub use crate::gather::{Mapped, Operand};
use crate::notes::notes;
use crate::plan::{Binder, NeededColumns, PlannedAggregate, askable};
use crate::question::{ColumnName, Condition, Function, Predicate, Test};
use crate::statement::{Expr, Statement};
use crate::tables::Tables;
use crate::term::TermBinder;
pub use crate::term::{Lookup, Scalar, Term};
use crate::{Field, Plan, QueryError};
pub use answer::Reply;
use atoms::Atoms;
pub use keys::{Key, KeyKind, Keys};
pub use post::Post;

/// A statement bound to a release's manifest.
#[derive(Clone, Debug)]
pub struct Inquiry {
    /// The only plan of a plain question.
    plain: Option<Plan>,
    fields: Vec<Field>,
    /// The GROUP BY clause.
    pub keys: Keys,
    /// The combinations of values of terms in GROUP BY.
    pub combos: Vec<Combo>,
    /// The aggregates that expressions are made of; the first says which rows the answer has.
    pub atoms: Vec<Atom>,
    /// What is selected beside the keys.
    pub outputs: Vec<Output>,
    /// The HAVING clause.
    pub having: Option<Post>,
    /// The ORDER BY clause: what rows are ordered by, whether the greatest comes first, and whether NULL does.
    pub order_by: Vec<(Post, bool, bool)>,
    /// The most rows to show.
    pub limit: Option<u64>,
    /// The rows to leave out before these.
    pub offset: u64,
    notes: Vec<String>,
}

/// One combination of values of the terms in GROUP BY.
#[derive(Clone, Debug)]
pub struct Combo {
    /// One value for each key that is a term.
    pub values: Vec<Scalar>,
    /// What is asked about the persons who have them.
    pub parts: Vec<Part>,
}

/// A plan, and which atoms it contributes to.
#[derive(Clone, Debug)]
pub struct Part {
    /// The plan.
    pub plan: Plan,
    /// The atom of every aggregate of the plan.
    pub natives: Vec<usize>,
    /// What other aggregates are over.
    pub operands: Vec<Operand>,
    /// The atom of every operand.
    pub owners: Vec<usize>,
}

/// An aggregate that expressions are made of.
#[derive(Clone, Debug)]
pub struct Atom {
    /// How it is computed.
    pub way: Way,
    /// Its text in lower case.
    pub name: String,
    /// Whether it is a whole number.
    pub is_whole: bool,
}

/// An expression of the SELECT list.
#[derive(Clone, Debug)]
pub struct Output {
    /// Its name in the answer: the alias, or the text in lower case.
    pub name: String,
    /// Whether that is an alias.
    pub has_alias: bool,
    /// The expression.
    pub post: Post,
}

/// How an atom is computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Way {
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

    /// A plain question taken apart into atoms, as other statements are.
    pub fn in_atoms(&self) -> Inquiry {
        let Some(plan) = &self.plain else { return self.clone() };
        let count = Atom { way: Way::Native(Function::Count), name: "count(*)".to_owned(), is_whole: true };
        let atom = |aggregate: &PlannedAggregate| Atom {
            way: Way::Native(aggregate.function),
            name: aggregate.name.clone(),
            is_whole: aggregate.function == Function::Count,
        };
        let output = |(at, aggregate): (usize, &PlannedAggregate)| Output {
            name: aggregate.name.clone(),
            has_alias: aggregate.has_alias,
            post: Post::Atom(at + 1),
        };
        let rows = PlannedAggregate {
            name: count.name.clone(),
            has_alias: false,
            function: Function::Count,
            field: None,
            condition: 0,
            set: plan.sensitive_set.clone(),
        };
        let outputs = plan.aggregates.iter().enumerate().map(output).collect();
        let atoms: Vec<Atom> = std::iter::once(count).chain(plan.aggregates.iter().map(atom)).collect();
        let mut whole = plan.clone();
        whole.aggregates.insert(0, rows);
        let natives = (0..atoms.len()).collect();
        let part = Part { plan: whole, natives, operands: Vec::new(), owners: Vec::new() };
        let combos = vec![Combo { values: Vec::new(), parts: vec![part] }];
        Inquiry { keys: Keys::of_plan(plan), combos, atoms, outputs, plain: None, ..self.clone() }
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

    /// All published attributes.
    pub fn fields(&self) -> &[Field] {
        &self.fields
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
        atoms.items = &statement.items;
        let mut outputs: Vec<Output> = Vec::new();
        for item in &statement.items {
            if keys.place(&item.expr).is_some() {
                continue;
            }
            if !item.expr.has_aggregate() {
                return Err(not_grouped(&item.expr, &item.name));
            }
            if outputs.iter().any(|output| output.name == item.name) {
                let problem = format!("two columns of the answer are named `{}`", item.name);
                return Err(QueryError::question(item.at, problem, "ask once, or name one of them with AS"));
            }
            let post = atoms.post(&item.expr, &keys)?;
            outputs.push(Output { name: item.name.clone(), has_alias: item.has_alias, post });
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
        let notes = noted(statement, &binder)?;
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
            notes,
            fields,
        })
    }
}

/// Notes on constants that the release does not have, wherever a column of microdata is compared with one.
fn noted(statement: &Statement, binder: &Binder<'_>) -> Result<Vec<String>, QueryError> {
    let items = statement.items.iter().map(|item| &item.expr);
    let mut tests = Vec::new();
    items.chain(&statement.condition).for_each(|expr| tests_of(expr, &statement.alias, binder, &mut tests));
    notes(&Condition::All(tests), binder.fields, &|test| binder.find(&test.column))
}

/// The tests of columns of microdata against constants.
fn tests_of(expr: &Expr, alias: &str, binder: &Binder<'_>, into: &mut Vec<Condition>) {
    let column = |expr: &Expr| match expr {
        Expr::Column(None, column) => Some(column.clone()),
        Expr::Column(Some(table), column) if table.eq_ignore_ascii_case(alias) => Some(column.clone()),
        _ => None,
    };
    let literal = |expr: &Expr| if let Expr::Constant(constant, _) = expr { Some(constant.clone()) } else { None };
    let found = match expr {
        Expr::Compare(a, comparison, b) => match (column(a), literal(b), column(b), literal(a)) {
            (Some(column), Some(constant), ..) => Some((column, Predicate::Compare(*comparison, constant))),
            (_, _, Some(column), Some(constant)) => Some((column, Predicate::Compare(comparison.mirrored(), constant))),
            _ => None,
        },
        Expr::Between(x, low, high) => {
            let ends = literal(low).zip(literal(high));
            column(x).zip(ends).map(|(column, (low, high))| (column, Predicate::Between(low, high)))
        }
        Expr::In(x, list) => {
            let list: Option<Vec<_>> = list.iter().map(literal).collect();
            column(x).zip(list).map(|(column, list)| (column, Predicate::In(list)))
        }
        _ => None,
    };
    let known = found.filter(|(column, _)| binder.find(column).is_ok());
    into.extend(known.map(|(column, predicate)| Condition::Test(Test { at: column.at, column, predicate })));
    expr.children().into_iter().for_each(|part| tests_of(part, alias, binder, into));
}

fn not_grouped(expr: &Expr, name: &str) -> QueryError {
    let problem = format!("`{name}` is selected, but not in GROUP BY");
    QueryError::question(expr.at(), problem, format!("add GROUP BY {name}, or ask an aggregate of it"))
}
