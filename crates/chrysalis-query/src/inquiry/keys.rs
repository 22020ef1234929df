//! GROUP BY: columns, and terms whose values are sets of a column's values (step 8a of `spec.md`).

use chrysalis_release::RoleName;
use chrysalis_table::Kind;

use crate::plan::Binder;
use crate::question::ColumnName;
use crate::statement::{Expr, Statement};
use crate::term::{Scalar, Term, TermBinder, classes};
use crate::{Plan, QueryError};

/// The most combinations of values of terms.
const MAX_COMBOS: usize = 2_000;

/// The keys of a statement.
#[derive(Clone, Debug, Default)]
pub struct Keys {
    /// In the order of GROUP BY.
    pub keys: Vec<Key>,
    /// The attributes that plans group by.
    pub native: Vec<usize>,
}

/// One key.
#[derive(Clone, Debug)]
pub struct Key {
    /// Its name in the answer.
    pub name: String,
    expr: Expr,
    /// What it is.
    pub kind: KeyKind,
}

/// What a key is.
#[derive(Clone, Debug)]
pub enum KeyKind {
    /// An attribute: its place among those that plans group by.
    Native(usize),
    /// A term: its values, each with the condition that persons have it.
    Classes(Vec<(Scalar, Term)>),
}

impl Keys {
    pub(super) fn new(statement: &Statement, terms: &TermBinder<'_>, binder: &Binder<'_>) -> Result<Self, QueryError> {
        let mut keys = Keys::default();
        for expr in &statement.group_by {
            let expr = &resolved(expr, statement, terms);
            if keys.place(expr).is_some() {
                continue;
            }
            let alias = statement.items.iter().find(|item| is_same(&item.expr, expr));
            let term = terms.term(expr)?;
            let is_sensitive = |field: usize| binder.fields[field].role == RoleName::Sensitive;
            let name = match (&term, alias) {
                (_, Some(item)) => item.name.clone(),
                (Term::Attribute(field), None) => binder.fields[*field].name.clone(),
                (_, None) => format!("key {}", keys.keys.len() + 1),
            };
            let kind = match &term {
                Term::Attribute(field) if keys.native.contains(field) => continue,
                Term::Attribute(field)
                    if !is_sensitive(*field) || !keys.native.iter().any(|&known| is_sensitive(known)) =>
                {
                    if binder.detail.is_labelled() && binder.fields[*field].kind == Kind::Real && !is_sensitive(*field)
                    {
                        let problem = format!(
                            "`{}` is published as ranges of reals, which have no single values",
                            binder.fields[*field].name
                        );
                        let hint =
                            "group by steps, such as FLOOR(column / 10), or ask about ranges with WHERE … BETWEEN";
                        return Err(QueryError::unanswerable(expr.at(), problem, hint));
                    }
                    keys.native.push(*field);
                    KeyKind::Native(keys.native.len() - 1)
                }
                term => KeyKind::Classes(values(term, terms, expr).map_err(|error| match term {
                    Term::Attribute(field) => {
                        let problem = format!(
                            "GROUP BY names two sensitive columns, and `{}` has too many values to list all pairs",
                            binder.fields[*field].name
                        );
                        let hint = "group by one of them, or by steps, such as column // 1000";
                        QueryError::unanswerable(expr.at(), problem, hint)
                    }
                    _ => error,
                })?),
            };
            keys.keys.push(Key { name, expr: expr.clone(), kind });
        }
        let combos = keys.classes().try_fold(1_usize, |n, classes| n.checked_mul(classes.len()));
        if combos.is_none_or(|combos| combos > MAX_COMBOS) {
            let problem = format!("GROUP BY asks for more than {MAX_COMBOS} combinations of values of expressions");
            let hint = "group by coarser expressions, or by columns themselves, or narrow them with WHERE";
            return Err(QueryError::unanswerable(None, problem, hint));
        }
        Ok(keys)
    }

    /// The keys of a plain question.
    pub(super) fn of_plan(plan: &Plan) -> Self {
        let key = |(at, &field): (usize, &usize)| {
            let name = plan.fields[field].name.clone();
            let expr = Expr::Column(None, ColumnName { text: name.clone(), is_quoted: true, at: None });
            Key { name, expr, kind: KeyKind::Native(at) }
        };
        Keys { keys: plan.keys.iter().enumerate().map(key).collect(), native: plan.keys.clone() }
    }

    pub(super) fn classes(&self) -> impl Iterator<Item = &Vec<(Scalar, Term)>> {
        self.keys.iter().filter_map(|key| if let KeyKind::Classes(classes) = &key.kind { Some(classes) } else { None })
    }

    /// The key that an expression is; names differ in nothing but case and the table in front.
    pub(super) fn place(&self, expr: &Expr) -> Option<usize> {
        self.keys.iter().position(|key| is_same(&key.expr, expr))
    }

    /// Every combination of values of terms, with the conditions that persons have them.
    pub(super) fn combos(&self) -> Vec<(Vec<Scalar>, Vec<Term>)> {
        let mut combos = vec![(Vec::new(), Vec::new())];
        for classes in self.classes() {
            let with = |(values, conditions): &(Vec<Scalar>, Vec<Term>), (value, condition): &(Scalar, Term)| {
                let (mut values, mut conditions) = (values.clone(), conditions.clone());
                values.push(value.clone());
                conditions.push(condition.clone());
                (values, conditions)
            };
            combos = combos.iter().flat_map(|combo| classes.iter().map(move |class| with(combo, class))).collect();
        }
        combos
    }
}

/// A name that no column has, but an expression of the SELECT list, stands for that expression.
fn resolved(expr: &Expr, statement: &Statement, terms: &TermBinder<'_>) -> Expr {
    let Expr::Column(None, column) = expr else { return expr.clone() };
    if terms.term(expr).is_ok() {
        return expr.clone();
    }
    let item = statement.items.iter().find(|item| item.has_alias && item.name.eq_ignore_ascii_case(&column.text));
    item.map_or_else(|| expr.clone(), |item| item.expr.clone())
}

/// The values of a term, in ascending order, NULL first, each with its condition.
fn values(term: &Term, terms: &TermBinder<'_>, expr: &Expr) -> Result<Vec<(Scalar, Term)>, QueryError> {
    let fields = term.fields();
    let mut found: Vec<(Scalar, Term)> = match fields.as_slice() {
        [field] => {
            let test = |set: crate::value_set::ValueSet| {
                let no = set.complement();
                Term::Test(*field, Box::new((set, no)))
            };
            classes(term, *field, terms.fields)?.into_iter().map(|(value, set)| (value, test(set))).collect()
        }
        [] => {
            let problem = "GROUP BY has a constant, which is the same for everybody";
            return Err(QueryError::question(expr.at(), problem, "leave it out"));
        }
        _ => of_cases(term, expr)?,
    };
    found.sort_by(|a, b| match (&a.0, &b.0) {
        (Scalar::Null, Scalar::Null) => std::cmp::Ordering::Equal,
        (Scalar::Null, _) => std::cmp::Ordering::Less,
        (_, Scalar::Null) => std::cmp::Ordering::Greater,
        (a, b) => a.order(b).unwrap_or(std::cmp::Ordering::Equal),
    });
    Ok(found)
}

/// The values of a CASE over several columns, whose results are constants; or of a condition.
fn of_cases(term: &Term, expr: &Expr) -> Result<Vec<(Scalar, Term)>, QueryError> {
    let truth = |truth: bool| Term::Constant(Scalar::Boolean(truth));
    if term.is_condition() {
        let is_true = Term::Case(vec![(term.clone(), truth(true))], Some(Box::new(truth(false))));
        let is_false = Term::Case(vec![(Term::Not(Box::new(term.clone())), truth(true))], Some(Box::new(truth(false))));
        let either = Term::Or(vec![is_true.clone(), is_false.clone()]);
        let unknown = Term::Case(vec![(either, truth(false))], Some(Box::new(truth(true))));
        return Ok(vec![(Scalar::Null, unknown), (Scalar::Boolean(false), is_false), (Scalar::Boolean(true), is_true)]);
    }
    let constant = |term: &Term| if let Term::Constant(scalar) = term { Some(scalar.clone()) } else { None };
    let results = || -> Option<(Vec<Scalar>, Scalar)> {
        let Term::Case(branches, otherwise) = term else { return None };
        let results = branches.iter().map(|(_, then)| constant(then)).collect::<Option<Vec<_>>>()?;
        Some((results, otherwise.as_deref().map_or(Some(Scalar::Null), constant)?))
    };
    let (Some((results, last)), Term::Case(branches, _)) = (results(), term) else {
        let problem = "an expression in GROUP BY is about several columns";
        let hint = "group by several expressions of one column each, or by a CASE with constant results";
        return Err(QueryError::unanswerable(expr.at(), problem, hint));
    };
    let mut values: Vec<Scalar> = Vec::new();
    for value in results.iter().chain([&last]) {
        if !values.iter().any(|known| known.key() == value.key()) {
            values.push(value.clone());
        }
    }
    let condition = |value: &Scalar| {
        let is_it = |other: &Scalar| truth(other.key() == value.key());
        let branches = branches.iter().zip(&results).map(|((when, _), result)| (when.clone(), is_it(result))).collect();
        Term::Case(branches, Some(Box::new(is_it(&last))))
    };
    Ok(values.iter().map(|value| (value.clone(), condition(value))).collect())
}

/// Whether two expressions mean the same column or are written alike.
pub(super) fn is_same(a: &Expr, b: &Expr) -> bool {
    match (a, b) {
        (Expr::Column(s, a), Expr::Column(t, b)) => {
            let same_table = match (s, t) {
                (Some(s), Some(t)) => s.eq_ignore_ascii_case(t),
                _ => true,
            };
            same_table && (a.text == b.text || (!(a.is_quoted && b.is_quoted) && a.text.eq_ignore_ascii_case(&b.text)))
        }
        (Expr::Constant(a, _), Expr::Constant(b, _)) => a == b,
        (Expr::Question(a), Expr::Question(b)) => a == b,
        (Expr::Aggregate(a), Expr::Aggregate(b)) => {
            let same = |a: &Option<Expr>, b: &Option<Expr>| match (a, b) {
                (Some(a), Some(b)) => is_same(a, b),
                (None, None) => true,
                _ => false,
            };
            a.function == b.function && a.fraction == b.fraction && same(&a.over, &b.over) && same(&a.filter, &b.filter)
        }
        _ => {
            let (own, other) = (a.children(), b.children());
            let same_head = match (a, b) {
                (Expr::Arithmetic(_, a, _), Expr::Arithmetic(_, b, _)) => a == b,
                (Expr::Compare(_, a, _), Expr::Compare(_, b, _)) => a == b,
                (Expr::Call(a, _), Expr::Call(b, _)) => a == b,
                (Expr::Like(_, a, c), Expr::Like(_, b, d)) => a == b && c == d,
                (Expr::InTable(_, a), Expr::InTable(_, b)) => a == b,
                (Expr::Case(a, c), Expr::Case(b, d)) => a.len() == b.len() && c.is_some() == d.is_some(),
                _ => std::mem::discriminant(a) == std::mem::discriminant(b),
            };
            same_head && own.len() == other.len() && own.iter().zip(other).all(|(a, b)| is_same(a, b))
        }
    }
}
