//! Whole statements: expressions, FILTER, arithmetic of aggregates, HAVING, ORDER BY and LIMIT.
//!
//! 1. Every plan of the inquiry is a CTE with CTEs of its own (`part_0`), which answers the atoms that plans answer.
//! 2. Every other atom is one too (`atom_3`): the values that may be hit, of all plans, and what follows from them.
//! 3. `parts` is the union of these, and `merged` adds them up by key: `e0`, `l0`, `u0` and `s0` are the estimate, the
//!    bounds and the standard error of the first atom, and so on.
//! 4. `step_5`: one CTE for each operation on aggregates.
//! 5. The last SELECT: HAVING, ORDER BY, LIMIT.
//!
//! What public tables say has become sets of values when the statement was bound, so that the database needs no copy.

mod choices;
mod picks;
mod products;
mod quantile;
mod steps;
mod terms;

use chrysalis_query::inquiry::{Combo, Inquiry, KeyKind, Operand, Part, Scalar, Way};
use chrysalis_query::question::Function;
use chrysalis_query::{Plan, QueryError};
use chrysalis_release::Release;
use chrysalis_table::Kind;
use sqlparser::ast::{Ident, OrderByExpr};

use super::expr::{Direction, X, col, int, null, number, or_zero, ordered, sum};
use super::select::{Ctes, Rows, limited};
use super::{Dialect, Writer, nested, parts, refused};
use choices::Choices;
use steps::{LAST, Node, Steps, as_number};

/// The most plans of a statement: databases do not take more SELECTs in one union.
const MAX_PARTS: usize = 200;

pub(super) fn write(inquiry: &Inquiry, release: &Release, dialect: Dialect) -> Result<String, QueryError> {
    let n_parts: usize = inquiry.combos.iter().map(|combo| combo.parts.len()).sum();
    if n_parts > MAX_PARTS {
        return refused(format!(
            "the statement would be a union of {n_parts} parts, one for each value of an expression in GROUP BY and each \
             piece of a condition; SQL is written for {MAX_PARTS} at most"
        ));
    }
    let Some(plan) = inquiry.first_plan() else { return refused("the question asks nothing") };
    let mut statement =
        Whole { inquiry, release, dialect, key_kinds: key_kinds(inquiry)?, ctes: Ctes::default(), arms: Vec::new() };
    statement.natives()?;
    for at in 0..inquiry.atoms.len() {
        statement.atom(at)?;
    }
    statement.merge();
    statement.finish(&Writer::new(plan, release, dialect)?)
}

/// What the values of a key are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ClassKind {
    /// An attribute, whose values plans list.
    Native(usize),
    Whole,
    Real,
    Text,
    Date,
    Moment,
}

fn key_kinds(inquiry: &Inquiry) -> Result<Vec<ClassKind>, QueryError> {
    let kind = |scalar: &Scalar| {
        Some(match scalar {
            Scalar::Null => return None,
            Scalar::Real(number) if number.fract() != 0.0 || number.abs() >= 9e15 => ClassKind::Real,
            Scalar::Integer(_) | Scalar::Real(_) => ClassKind::Whole,
            Scalar::Text(_) | Scalar::Boolean(_) => ClassKind::Text,
            Scalar::Date(_) => ClassKind::Date,
            Scalar::Moment(_) => ClassKind::Moment,
        })
    };
    let of_classes = |classes: &Vec<(Scalar, _)>| {
        let mut kinds: Vec<ClassKind> = Vec::new();
        for found in classes.iter().filter_map(|(scalar, _)| kind(scalar)) {
            if !kinds.contains(&found) {
                kinds.push(found);
            }
        }
        match kinds.as_slice() {
            [] => Ok(ClassKind::Text),
            [one] => Ok(*one),
            [ClassKind::Whole | ClassKind::Real, ClassKind::Whole | ClassKind::Real] => Ok(ClassKind::Real),
            _ => refused("an expression in GROUP BY has words and numbers, and no column of a database has both"),
        }
    };
    let of_key = |kind: &KeyKind| match kind {
        KeyKind::Native(at) => Ok(ClassKind::Native(inquiry.keys.native[*at])),
        KeyKind::Classes(classes) => of_classes(classes),
    };
    inquiry.keys.keys.iter().map(|key| of_key(&key.kind)).collect()
}

/// A statement under construction.
struct Whole<'a> {
    inquiry: &'a Inquiry,
    release: &'a Release,
    dialect: Dialect,
    key_kinds: Vec<ClassKind>,
    ctes: Ctes,
    arms: Vec<Arm>,
}

/// Rows of `parts`: a CTE, its keys, and the atoms that it has numbers of, each with the ending of its columns there.
struct Arm {
    table: String,
    keys: Vec<(X, String)>,
    atoms: Vec<(usize, String)>,
}

impl Whole<'_> {
    /// The keys of a combination of values of terms, where plans know the others as columns of `table`.
    fn keys(&self, combo: &Combo, table: &str) -> Vec<(X, String)> {
        let mut values = combo.values.iter();
        let key = |(at, key): (usize, &chrysalis_query::inquiry::Key)| {
            let x = match &key.kind {
                KeyKind::Native(place) => col(&format!("{table}.k{place}")),
                // PROOF: a combination has a value for every term.
                KeyKind::Classes(_) => self.literal(self.key_kinds[at], values.next().unwrap_or(&Scalar::Null)),
            };
            (x, format!("k{at}"))
        };
        self.inquiry.keys.keys.iter().enumerate().map(key).collect()
    }

    /// A value with its type, so that a union of them has one.
    fn literal(&self, kind: ClassKind, scalar: &Scalar) -> X {
        let dialect = self.dialect;
        let text = || scalar.value().map_or_else(null, |value| dialect.text(&value.to_string()));
        match kind {
            ClassKind::Whole => match scalar.number() {
                // PROOF: only whole numbers that a double holds exactly are of this kind.
                Some(number) => dialect.integer(int(number as i64)),
                None => dialect.integer(null()),
            },
            ClassKind::Real => dialect.double(scalar.number().map_or_else(null, number)),
            ClassKind::Date => dialect.as_moment(text(), true),
            ClassKind::Moment => dialect.as_moment(text(), false),
            ClassKind::Text | ClassKind::Native(_) => dialect.as_text(text()),
        }
    }

    /// Writes the plans: sums of weights apart from other aggregates.
    fn natives(&mut self) -> Result<(), QueryError> {
        let mut n = 0;
        for combo in &self.inquiry.combos {
            for Part { plan, natives, .. } in &combo.parts {
                let weighs = |at: &usize| plan.weighs(&plan.aggregates[*at]);
                let (weighed, others): (Vec<usize>, Vec<usize>) = (0..plan.aggregates.len()).partition(weighs);
                for chosen in [others, weighed].into_iter().filter(|chosen| !chosen.is_empty()) {
                    let (ctes, rows) = nested(&only(plan, &chosen), self.release, self.dialect)?;
                    let table = format!("part_{n}");
                    n += 1;
                    self.ctes.add_nested(&table, ctes, rows);
                    let atoms = chosen.iter().enumerate().map(|(at, &place)| (natives[place], at.to_string()));
                    let (keys, atoms) = (self.keys(combo, &table), atoms.collect());
                    self.arms.push(Arm { table, keys, atoms });
                }
            }
        }
        Ok(())
    }

    /// Writes an atom that plans do not answer.
    fn atom(&mut self, at: usize) -> Result<(), QueryError> {
        let atom = &self.inquiry.atoms[at];
        let (function, fraction) = match atom.way {
            Way::Native(_) => return Ok(()),
            Way::Choices(function, fraction) => (function, fraction),
            // Where weights stand beside the values, the mean has no bounds of its own.
            Way::MeanBounds if self.operands(at).all(|(_, part, _)| part.plan.has_weights_beside_values()) => {
                return Ok(());
            }
            Way::MeanBounds => {
                return refused(format!(
                    "the bounds of {} are found by halving, step by step, which is not rewritten as SQL; each of the two \
                     sums can be",
                    atom.name
                ));
            }
            Way::Products => return self.products(at),
        };
        let mut inner = Ctes::default();
        let (mut arms, mut is_certain) = (Vec::new(), true);
        for (combo, part, operand) in self.operands(at) {
            let is_distinct = function == Function::CountDistinct;
            let picks = picks::write(&part.plan, operand, self.release, self.dialect, is_distinct)?;
            let table = format!("raw_{}", arms.len());
            inner.add_nested(&table, picks.ctes, picks.rows);
            is_certain &= picks.is_certain;
            let rows = Rows::of(&table).items(self.keys(combo, &table)).item(int(arms.len() as i64), "p");
            let columns = ["g", "y", "m"].into_iter().chain(picks::OF_GROUP);
            arms.push(columns.fold(rows, |rows, name| rows.item(col(&format!("{table}.{name}")), name)));
        }
        if arms.is_empty() {
            return Ok(());
        }
        inner.add_union("raw", arms);
        let n_keys = self.inquiry.keys.keys.len();
        let mut choices = Choices { dialect: self.dialect, ctes: inner, n_keys };
        choices.pool();
        let Some(rows) = choices.aggregate(function, fraction, is_certain) else {
            return refused(format!(
                "the bounds of {} are found by a search, so it is rewritten as SQL only where the release knows all its \
                 values exactly",
                atom.name
            ));
        };
        let table = format!("atom_{at}");
        self.ctes.add_nested(&table, choices.ctes, rows);
        let keys = (0..n_keys).map(|at| (col(&format!("{table}.k{at}")), format!("k{at}"))).collect();
        self.arms.push(Arm { table, keys, atoms: vec![(at, String::new())] });
        Ok(())
    }

    /// Writes a sum of products.
    fn products(&mut self, at: usize) -> Result<(), QueryError> {
        let mut arms = Vec::new();
        for (combo, part, operand) in self.operands(at) {
            let Operand::Product(factor, value) = operand else {
                return refused("a sum of products and of other numbers is not rewritten as SQL");
            };
            let (ctes, rows) = products::write(&part.plan, (factor, value), self.release, self.dialect)?;
            let table = format!("products_{at}_{}", arms.len());
            let keys = self.keys(combo, &table);
            arms.push((ctes, rows, Arm { table, keys, atoms: vec![(at, String::new())] }));
        }
        for (ctes, rows, arm) in arms {
            self.ctes.add_nested(&arm.table, ctes, rows);
            self.arms.push(arm);
        }
        Ok(())
    }

    /// The operands of an atom, with the plans that they belong to.
    fn operands(&self, atom: usize) -> impl Iterator<Item = (&'_ Combo, &'_ Part, &'_ Operand)> {
        let parts = self.inquiry.combos.iter().flat_map(|combo| combo.parts.iter().map(move |part| (combo, part)));
        parts.flat_map(move |(combo, part)| {
            let own = part.operands.iter().zip(&part.owners).filter(move |(_, owner)| **owner == atom);
            own.map(move |(operand, _)| (combo, part, operand))
        })
    }

    /// Writes `parts` and `merged`. A sum over no rows is NULL, and adds nothing to others.
    fn merge(&mut self) {
        let (dialect, n_atoms) = (self.dialect, self.inquiry.atoms.len());
        let arms = std::mem::take(&mut self.arms);
        let arm = |arm: Arm| {
            let mut rows = Rows::of(&arm.table).items(arm.keys);
            for at in 0..n_atoms {
                let own = arm.atoms.iter().find(|(atom, _)| *atom == at);
                for letter in LETTERS {
                    let x = own.map(|(_, ending)| col(&format!("{}.{letter}{ending}", arm.table)));
                    rows = rows.item(x.unwrap_or_else(|| dialect.double(null())), &format!("{letter}{at}"));
                }
            }
            rows
        };
        self.ctes.add_union("parts", arms.into_iter().map(arm).collect());
        let n_keys = self.inquiry.keys.keys.len();
        let keys: Vec<String> = (0..n_keys).map(|at| format!("k{at}")).collect();
        let of_parts = |name: &str| col(&format!("parts.{name}"));
        let mut rows = Rows::of("parts").items(keys.iter().map(|name| (of_parts(name), name.clone())));
        rows = rows.group_by(keys.iter().map(|name| of_parts(name)));
        for (at, atom) in self.inquiry.atoms.iter().enumerate() {
            let is_count = matches!(atom.way, Way::Native(Function::Count) | Way::Choices(Function::CountDistinct, _));
            for letter in LETTERS {
                let column = of_parts(&format!("{letter}{at}"));
                // Standard errors of pieces add up as their numbers do: pieces err together.
                let total = sum(column);
                rows = rows.item(if is_count { or_zero(total) } else { total }, &format!("{letter}{at}"));
            }
        }
        if n_keys > 0 {
            rows = rows.having(sum(of_parts("u0")).greater(int(0)));
        }
        self.ctes.add("merged", rows);
    }

    /// Writes the steps and the last SELECT.
    fn finish(self, writer: &Writer<'_>) -> Result<String, QueryError> {
        let (inquiry, dialect) = (self.inquiry, self.dialect);
        let keys: Vec<String> = (0..inquiry.keys.keys.len()).map(|at| format!("k{at}")).collect();
        let numbers = (0..inquiry.atoms.len()).flat_map(|at| LETTERS.map(|letter| format!("{letter}{at}")));
        let mut steps = Steps {
            dialect,
            ctes: self.ctes,
            table: "merged".to_owned(),
            columns: keys.iter().cloned().chain(numbers).collect(),
            whole: inquiry.atoms.iter().map(|atom| atom.is_whole).collect(),
            keys: self.key_kinds.iter().zip(&keys).map(|(kind, name)| key_node(writer, *kind, name)).collect(),
            n_numbers: inquiry.atoms.len(),
        };
        let outputs = inquiry.outputs.iter().map(|output| steps.output(&output.post)).collect::<Result<Vec<_>, _>>()?;
        let having = inquiry.having.as_ref().map(|post| steps.condition(post)).transpose()?;
        let mut order: Vec<OrderByExpr> = Vec::new();
        let by_key = |at: usize| key_order(writer, self.key_kinds[at], &keys[at]);
        for (post, is_descending, nulls_first) in &inquiry.order_by {
            let direction = if *is_descending { Direction::Down } else { Direction::Up };
            let x = match post {
                chrysalis_query::inquiry::Post::Key(at) => by_key(*at),
                post => match steps.node(post)? {
                    Node::Number(number) => number.estimate,
                    Node::Other(x) => x,
                    Node::Truth(x) => as_number(x),
                    Node::Null => continue,
                },
            };
            order.push(ordered(x, direction, Some(*nulls_first)));
        }
        order.extend((0..keys.len()).map(|at| ordered(by_key(at), Direction::Up, Some(true))));
        let quoted = |name: &str| Ident::with_quote(dialect.name_quote(), dialect.escaped_name(name));
        let mut rows = Rows::of_alias(&steps.table, LAST).filter(having);
        for ((key, kind), name) in inquiry.keys.keys.iter().zip(&self.key_kinds).zip(&keys) {
            let x = match kind {
                ClassKind::Native(field) => parts::key_value(writer, *field, last(name)),
                _ => last(name),
            };
            rows = rows.named(x, quoted(&key.name));
        }
        for (name, numbers) in output_names(inquiry).into_iter().zip(outputs) {
            for (end, x) in ["estimate", "lower", "upper", "std_error"].into_iter().zip(numbers) {
                rows = rows.named(dialect.double(x), quoted(&format!("{name}_{end}")));
            }
        }
        let query = limited(steps.ctes.finish(rows, order), dialect, inquiry.limit, inquiry.offset);
        Ok(format!("{query:#}"))
    }
}

const LETTERS: [char; 4] = ['e', 'l', 'u', 's'];

/// A plan with some of its aggregates only.
fn only(plan: &Plan, chosen: &[usize]) -> Plan {
    let aggregates = chosen.iter().map(|&at| plan.aggregates[at].clone()).collect();
    Plan { aggregates, valued: Vec::new(), ..plan.clone() }
}

/// A column of the last step.
fn last(name: &str) -> X {
    col(&format!("{LAST}.{name}"))
}

/// A key as a part of expressions.
fn key_node(writer: &Writer<'_>, kind: ClassKind, name: &str) -> Node {
    let dialect = writer.dialect;
    match kind {
        ClassKind::Native(field) => {
            let value = parts::key_value(writer, field, last(name));
            match writer.fields()[field].kind {
                Kind::Integer => Node::key(dialect, value, true),
                Kind::Real => Node::key(dialect, value, false),
                Kind::Ordinal | Kind::Category => Node::Other(dialect.bytewise(value)),
                Kind::Date | Kind::DateTime => Node::Other(value),
            }
        }
        ClassKind::Whole => Node::key(dialect, last(name), true),
        ClassKind::Real => Node::key(dialect, last(name), false),
        ClassKind::Text => Node::Other(dialect.bytewise(last(name))),
        ClassKind::Date | ClassKind::Moment => Node::Other(last(name)),
    }
}

fn key_order(writer: &Writer<'_>, kind: ClassKind, name: &str) -> X {
    match kind {
        ClassKind::Native(field) => parts::key_order(writer, field, last(name)),
        ClassKind::Text => writer.dialect.bytewise(last(name)),
        _ => last(name),
    }
}

/// The names of the outputs: aliases, or the text with `_` for everything that is no letter or digit; no two alike.
fn output_names(inquiry: &Inquiry) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for output in &inquiry.outputs {
        let name = if output.has_alias { output.name.clone() } else { plain_name(&output.name) };
        let alike = |name: &String| names.contains(name);
        let numbered = (2..).map(|number| format!("{name}_{number}"));
        let name = std::iter::once(name.clone()).chain(numbered).find(|name| !alike(name)).unwrap_or(name);
        names.push(name);
    }
    names
}

fn plain_name(text: &str) -> String {
    let text = text.replace("(*)", "(all)");
    let parts = text.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("_")
}
