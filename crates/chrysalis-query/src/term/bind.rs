//! Expressions become terms: names are found, tests of a column against constants are decided, and columns of joined
//! tables become functions of the column that they are joined on.

use std::collections::HashMap;
use std::sync::Arc;

use chrysalis_table::{Date, DateTime, Kind, Value};

use super::{Lookup, Scalar, Term};
use crate::question::{ColumnName, Comparison, Constant, Predicate, Test};
use crate::statement::{Expr, Join, ScalarFunction, TableColumn};
use crate::tables::{Tables, column_of};
use crate::{Field, QueryError};

/// What names in an expression stand for.
pub(crate) struct TermBinder<'a> {
    pub(crate) fields: &'a [Field],
    pub(crate) tables: &'a Tables,
    /// The name by which the statement calls microdata.
    pub(crate) alias: &'a str,
    pub(crate) find: &'a dyn Fn(&ColumnName) -> Result<usize, QueryError>,
    pub(crate) joins: Vec<BoundJoin<'a>>,
}

/// A public table joined on an attribute.
pub(crate) struct BoundJoin<'a> {
    join: &'a Join,
    field: usize,
    key: usize,
}

impl<'a> TermBinder<'a> {
    /// Binds the joins of a statement; columns of a table can be used from here on. Returns for every inner join the
    /// condition that a person has a partner.
    pub(crate) fn join(&mut self, joins: &'a [Join]) -> Result<Vec<Term>, QueryError> {
        let mut partners = Vec::new();
        for join in joins {
            let table = self.tables.named(&join.table, join.at)?;
            let is_own =
                |expr: &Expr| matches!(expr, Expr::Column(Some(name), _) if name.eq_ignore_ascii_case(&join.alias));
            let (own, other) = if is_own(&join.on.0) || !is_own(&join.on.1) {
                (&join.on.0, &join.on.1)
            } else {
                (&join.on.1, &join.on.0)
            };
            // `ON region = r.region` and `ON r.region = region` both name the table's column with its alias; where
            // neither side has a name in front, the side whose column the release has is the person's.
            let (Expr::Column(qualifier, own), Expr::Column(_, other)) = (&**own, &**other) else {
                let problem = "a JOIN is understood between a column of microdata and a column of the table";
                return Err(QueryError::question(join.at, problem, "write JOIN table ON column = table.column"));
            };
            let (own, other) = match qualifier {
                None if column_of(table, own).is_err() => (other, own),
                None if (self.find)(other).is_err() && (self.find)(own).is_ok() => (other, own),
                _ => (own, other),
            };
            let field = (self.find)(other)?;
            let key = column_of(table, own)?;
            table.check_unique(key, join.at)?;
            if !join.is_left {
                let keys = table.columns[key].cells.iter();
                let constants: Vec<Constant> = keys.filter_map(Scalar::constant).collect();
                partners.push(self.one_of(field, &constants, other)?);
            }
            self.joins.push(BoundJoin { join, field, key });
        }
        Ok(partners)
    }

    /// `attribute IN (…)`; constants that are no values of the attribute match nothing.
    fn one_of(&self, field: usize, constants: &[Constant], column: &ColumnName) -> Result<Term, QueryError> {
        let own = &self.fields[field];
        let mut yes = own.nothing();
        for constant in constants {
            let test =
                Test { column: column.clone(), predicate: Predicate::In(vec![as_value(own, constant)]), at: None };
            if let Ok(sets) = own.decide(&test) {
                yes = yes.union(&sets.yes);
            }
        }
        let no = yes.complement().without_missing();
        Ok(Term::Test(field, Box::new((yes, no))))
    }

    /// Binds an expression without aggregates.
    pub(crate) fn term(&self, expr: &Expr) -> Result<Term, QueryError> {
        let boxed = |expr: &Expr| self.term(expr).map(Box::new);
        Ok(match expr {
            Expr::Column(qualifier, column) => self.column(qualifier.as_deref(), column)?,
            Expr::Constant(constant, _) => Term::Constant(Scalar::of_constant(constant)),
            Expr::Negate(inner) => Term::Negate(boxed(inner)?),
            Expr::Arithmetic(a, operator, b) => {
                let (a, b) = (boxed(a)?, boxed(b)?);
                self.check_number(&a, expr)?;
                self.check_number(&b, expr)?;
                Term::Arithmetic(a, *operator, b)
            }
            Expr::Compare(a, comparison, b) => self.compare(a, *comparison, b)?,
            Expr::And(parts) => Term::And(parts.iter().map(|part| self.condition(part)).collect::<Result<_, _>>()?),
            Expr::Or(parts) => Term::Or(parts.iter().map(|part| self.condition(part)).collect::<Result<_, _>>()?),
            Expr::Not(inner) => Term::Not(Box::new(self.condition(inner)?)),
            Expr::Between(x, low, high) => match (self.attribute(x)?, literal(low), literal(high)) {
                (Some((field, column)), Some(low), Some(high)) => {
                    self.test(field, column, Predicate::Between(low.clone(), high.clone()))?
                }
                _ => Term::And(vec![
                    self.compare(x, Comparison::GreaterOrEqual, low)?,
                    self.compare(x, Comparison::LessOrEqual, high)?,
                ]),
            },
            Expr::In(x, list) => {
                let constants: Option<Vec<Constant>> = list.iter().map(|expr| literal(expr).cloned()).collect();
                match (self.attribute(x)?, constants) {
                    (Some((field, column)), Some(constants)) => self.test(field, column, Predicate::In(constants))?,
                    _ => Term::Or(
                        list.iter().map(|one| self.compare(x, Comparison::Equal, one)).collect::<Result<_, _>>()?,
                    ),
                }
            }
            Expr::InTable(x, source) => self.in_table(x, source)?,
            Expr::Like(x, pattern, escape) => {
                let predicate = Predicate::Like { pattern: pattern.clone(), escape: *escape };
                match self.attribute(x)? {
                    Some((field, column)) => self.test(field, column, predicate)?,
                    None => {
                        let problem = "LIKE is understood for a column of microdata";
                        return Err(QueryError::question(x.at(), problem, "compare the expression with = or IN"));
                    }
                }
            }
            Expr::IsNull(x) => match self.attribute(x)? {
                Some((field, column)) => self.test(field, column, Predicate::IsNull)?,
                None => Term::IsNull(boxed(x)?),
            },
            Expr::Case(branches, otherwise) => {
                let branch =
                    |(when, then): &(Expr, Expr)| Ok::<_, QueryError>((self.condition(when)?, self.term(then)?));
                let branches = branches.iter().map(branch).collect::<Result<_, _>>()?;
                Term::Case(branches, otherwise.as_deref().map(boxed).transpose()?)
            }
            Expr::Call(function, given) => {
                self.check_date(*function, given)?;
                Term::Call(*function, given.iter().map(|expr| self.term(expr)).collect::<Result<_, _>>()?)
            }
            Expr::Question(_) => return Err(question_inside(expr)),
            Expr::Aggregate(call) => {
                let problem =
                    format!("{} is an aggregate, and stands where a value of each row is expected", call.text);
                return Err(QueryError::question(call.at, problem, "put conditions on aggregates into HAVING"));
            }
        })
    }

    /// Binds a condition.
    pub(crate) fn condition(&self, expr: &Expr) -> Result<Term, QueryError> {
        let term = self.term(expr)?;
        if term.is_condition() {
            return Ok(term);
        }
        let problem = "a value stands where a condition is expected";
        Err(QueryError::question(expr.at(), problem, "compare it with something: =, <, >, BETWEEN, IN, IS NULL"))
    }

    fn column(&self, qualifier: Option<&str>, column: &ColumnName) -> Result<Term, QueryError> {
        let of_join = |join: &BoundJoin<'_>| {
            let table = self.tables.named(&join.join.table, None)?;
            let place = column_of(table, column)?;
            Ok::<_, QueryError>(self.lookup(join, place))
        };
        match qualifier {
            None => {
                let own = (self.find)(column);
                let joined = self.joins.iter().find_map(|join| of_join(join).ok());
                match (own, joined) {
                    (Ok(field), _) => Ok(Term::Attribute(field)),
                    (Err(_), Some(term)) => Ok(term),
                    (Err(error), None) => Err(error),
                }
            }
            Some(name) => match self.joins.iter().find(|join| join.join.alias.eq_ignore_ascii_case(name)) {
                Some(join) => of_join(join),
                None if name.eq_ignore_ascii_case(self.alias) => (self.find)(column).map(Term::Attribute),
                None => {
                    let shown: String = name.chars().take(40).collect();
                    let problem = format!("there is no table `{shown}` in this question");
                    Err(QueryError::question(column.at, problem, format!("the table is called {}", self.alias)))
                }
            },
        }
    }

    fn lookup(&self, join: &BoundJoin<'_>, place: usize) -> Term {
        let mut values = HashMap::new();
        if let Ok(table) = self.tables.named(&join.join.table, None) {
            let field = &self.fields[join.field];
            for (key, cell) in table.columns[join.key].cells.iter().zip(&table.columns[place].cells) {
                if let Some(value) = value_of(field.kind, key) {
                    values.insert(value.to_string(), cell.clone());
                }
            }
        }
        Term::Lookup(join.field, Arc::new(Lookup { values }))
    }

    /// The attribute that an expression is, if it is nothing more.
    fn attribute<'e>(&self, expr: &'e Expr) -> Result<Option<(usize, &'e ColumnName)>, QueryError> {
        let Expr::Column(qualifier, column) = expr else { return Ok(None) };
        match self.column(qualifier.as_deref(), column)? {
            Term::Attribute(field) => Ok(Some((field, column))),
            _ => Ok(None),
        }
    }

    fn test(&self, field: usize, column: &ColumnName, predicate: Predicate) -> Result<Term, QueryError> {
        let sets = self.fields[field].decide(&Test { column: column.clone(), predicate, at: column.at })?;
        Ok(Term::Test(field, Box::new((sets.yes, sets.no))))
    }

    fn compare(&self, a: &Expr, comparison: Comparison, b: &Expr) -> Result<Term, QueryError> {
        match (self.attribute(a)?, literal(b), self.attribute(b)?, literal(a)) {
            (Some((field, column)), Some(constant), ..) => {
                self.test(field, column, Predicate::Compare(comparison, constant.clone()))
            }
            (_, _, Some((field, column)), Some(constant)) => {
                self.test(field, column, Predicate::Compare(comparison.mirrored(), constant.clone()))
            }
            _ => Ok(Term::Compare(Box::new(self.term(a)?), comparison, Box::new(self.term(b)?))),
        }
    }

    fn in_table(&self, x: &Expr, source: &TableColumn) -> Result<Term, QueryError> {
        let table = self.tables.named(&source.table, source.at)?;
        let cells = table.selected(source)?;
        let has_null = cells.contains(&Scalar::Null);
        let constants: Vec<Constant> = cells.iter().filter_map(Scalar::constant).collect();
        let found = match self.attribute(x)? {
            Some((field, column)) => self.one_of(field, &constants, column)?,
            None => {
                let term = self.term(x)?;
                let equal = |constant: &Constant| {
                    let constant = Term::Constant(Scalar::of_constant(constant));
                    Term::Compare(Box::new(term.clone()), Comparison::Equal, Box::new(constant))
                };
                Term::Or(constants.iter().map(equal).collect())
            }
        };
        // `x IN (…, NULL)` is never FALSE.
        Ok(if has_null { Term::Or(vec![found, Term::Constant(Scalar::Null)]) } else { found })
    }

    /// Parts are taken of dates.
    fn check_date(&self, function: ScalarFunction, given: &[Expr]) -> Result<(), QueryError> {
        let (ScalarFunction::Part(_), [of]) = (function, given) else { return Ok(()) };
        let Some((field, column)) = self.attribute(of)? else { return Ok(()) };
        let field = &self.fields[field];
        if matches!(field.kind, Kind::Date | Kind::DateTime) {
            return Ok(());
        }
        let problem = format!("`{}` holds values of kind {}, and parts are taken of dates", field.name, field.kind);
        Err(QueryError::question(column.at, problem, "name a column of dates, or leave EXTRACT out"))
    }

    fn check_number(&self, term: &Term, expr: &Expr) -> Result<(), QueryError> {
        if let Term::Constant(Scalar::Text(text)) = term {
            let shown: String = text.chars().take(40).collect();
            let problem = format!("'{shown}' is a text, which is not calculated with");
            return Err(QueryError::question(expr.at(), problem, "write numbers without quotes"));
        }
        if let Term::Attribute(field) = term {
            let field = &self.fields[*field];
            if !matches!(field.kind, Kind::Integer | Kind::Real) {
                let problem =
                    format!("`{}` holds values of kind {}, which are not calculated with", field.name, field.kind);
                return Err(QueryError::question(expr.at(), problem, "calculate with numbers; use EXTRACT for dates"));
            }
        }
        Ok(())
    }
}

fn literal(expr: &Expr) -> Option<&Constant> {
    if let Expr::Constant(constant, _) = expr { Some(constant) } else { None }
}

/// A constant as the attribute writes its values: the number 3 is the word '3' of a category.
fn as_value(field: &Field, constant: &Constant) -> Constant {
    match (field.kind, constant) {
        (Kind::Ordinal | Kind::Category, Constant::Integer(number)) => Constant::Text(number.to_string()),
        (Kind::Ordinal | Kind::Category, Constant::Real(number)) => Constant::Text(number.to_string()),
        _ => constant.clone(),
    }
}

/// A cell as a value of an attribute.
fn value_of(kind: Kind, cell: &Scalar) -> Option<Value> {
    match (kind, cell) {
        (_, Scalar::Null) => None,
        (Kind::Integer, Scalar::Integer(number)) => Some(Value::Integer(*number)),
        (Kind::Real, cell) => cell.number().map(Value::Real),
        (Kind::Date, Scalar::Text(text)) => Date::parse(text.trim()).map(Value::Date),
        (Kind::DateTime, Scalar::Text(text)) => DateTime::parse_or_midnight(text.trim()).map(Value::DateTime),
        (Kind::Ordinal | Kind::Category, Scalar::Text(text)) => Some(Value::Text(text.clone())),
        (Kind::Ordinal | Kind::Category, Scalar::Integer(number)) => Some(Value::Text(number.to_string().into())),
        _ => None,
    }
}

impl Scalar {
    pub(crate) fn of_constant(constant: &Constant) -> Scalar {
        match constant {
            Constant::Null => Scalar::Null,
            Constant::Integer(number) => i64::try_from(*number).map_or(Scalar::Real(*number as f64), Scalar::Integer),
            Constant::Real(number) => Scalar::Real(*number),
            Constant::Text(text) => Scalar::Text(text.as_str().into()),
            Constant::Boolean(truth) => Scalar::Boolean(*truth),
        }
    }

    fn constant(&self) -> Option<Constant> {
        Some(match self {
            Scalar::Integer(number) => Constant::Integer(i128::from(*number)),
            Scalar::Real(number) => Constant::Real(*number),
            Scalar::Text(text) => Constant::Text(text.to_string()),
            _ => return None,
        })
    }
}

impl TermBinder<'_> {
    /// Binds a condition on the columns of a public table, whose kinds are those of its cells.
    pub(crate) fn of_table(&self, expr: &Expr) -> Result<Term, QueryError> {
        let bound = |expr: &Expr| self.of_table(expr);
        let boxed = |expr: &Expr| self.of_table(expr).map(Box::new);
        let all = |parts: &[Expr]| parts.iter().map(bound).collect::<Result<Vec<Term>, _>>();
        let compare =
            |a: &Expr, comparison, b: &Expr| Ok::<_, QueryError>(Term::Compare(boxed(a)?, comparison, boxed(b)?));
        Ok(match expr {
            Expr::Column(_, column) => Term::Attribute((self.find)(column)?),
            Expr::Constant(constant, _) => Term::Constant(Scalar::of_constant(constant)),
            Expr::Negate(inner) => Term::Negate(boxed(inner)?),
            Expr::Arithmetic(a, operator, b) => Term::Arithmetic(boxed(a)?, *operator, boxed(b)?),
            Expr::Compare(a, comparison, b) => compare(a, *comparison, b)?,
            Expr::And(parts) => Term::And(all(parts)?),
            Expr::Or(parts) => Term::Or(all(parts)?),
            Expr::Not(inner) => Term::Not(boxed(inner)?),
            Expr::Between(x, low, high) => Term::And(vec![
                compare(x, Comparison::GreaterOrEqual, low)?,
                compare(x, Comparison::LessOrEqual, high)?,
            ]),
            Expr::In(x, list) => {
                Term::Or(list.iter().map(|one| compare(x, Comparison::Equal, one)).collect::<Result<_, _>>()?)
            }
            Expr::IsNull(inner) => Term::IsNull(boxed(inner)?),
            Expr::Case(branches, otherwise) => {
                let branch = |(when, then): &(Expr, Expr)| Ok::<_, QueryError>((bound(when)?, bound(then)?));
                let branches = branches.iter().map(branch).collect::<Result<_, _>>()?;
                Term::Case(branches, otherwise.as_deref().map(boxed).transpose()?)
            }
            Expr::Call(function, given) => Term::Call(*function, all(given)?),
            Expr::Like(..) | Expr::InTable(..) | Expr::Aggregate(_) | Expr::Question(_) => {
                let problem = "the condition on the public table has more than comparisons";
                return Err(QueryError::question(
                    expr.at(),
                    problem,
                    "use =, <, >, BETWEEN, IN, AND, OR, NOT and IS NULL",
                ));
            }
        })
    }
}

/// The error for a question in parentheses where a value of each row, or an aggregate, is expected.
pub(crate) fn question_inside(expr: &Expr) -> QueryError {
    let problem = "a question inside a question is not answered: its rows would have to be matched with people's";
    let hint = "ask the inner question first, and write its answer as a number; IN (SELECT …) asks a public table; a SELECT \
                without FROM computes with answers: SELECT (SELECT …) - (SELECT …)";
    QueryError::question(expr.at(), problem, hint)
}
