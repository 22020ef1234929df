//! Aggregates become atoms, and atoms become plans (steps 4a and 9 of `spec.md`).

use std::collections::HashMap;
use std::sync::Arc;

use chrysalis_release::{Detail, Manifest, RoleName};
use chrysalis_table::{Date, DateTime, Kind};

use super::expressions::{divisor, excludes_missing, factors, has_division, is_name_of, present, too_mixed};
use super::keys::{KeyKind, Keys, is_same};
use super::pieces::{Piece, pieces, tree};
use super::post::Post;
use super::{Atom, Combo, Part, Way};
use crate::gather::{Mapped, Operand};
use crate::plan::{Binder, Parts, has_exact_sums};
use crate::question::{Aggregate, ColumnName, Function};
use crate::statement::{AggregateCall, Arithmetic, Expr, Item};
use crate::term::{Scalar, Term, TermBinder, classes};
use crate::{Plan, QueryError};

/// The most plans of an inquiry.
const MAX_PLANS: usize = 20_000;

/// Atoms in the making.
pub(super) struct Atoms<'a> {
    terms: &'a TermBinder<'a>,
    operands: &'a TermBinder<'a>,
    binder: &'a Binder<'a>,
    condition: Option<Term>,
    native_keys: Vec<usize>,
    /// The conditions of every combination of values of terms in GROUP BY.
    combos: Vec<Vec<Term>>,
    drafts: Vec<Draft>,
    /// The SELECT list, whose names expressions of aggregates may use.
    pub(super) items: &'a [Item],
}

/// An atom, and what it is over.
struct Draft {
    call: Option<AggregateCall>,
    atom: Atom,
    filter: Option<Term>,
    over: Over,
}

/// What an atom is over.
enum Over {
    /// Rows, or the values of a column, as plans know them.
    Native(Option<usize>),
    /// Operands, each for the persons who satisfy a condition.
    Operands(Vec<(Option<Term>, Operand, Option<usize>)>),
}

impl<'a> Atoms<'a> {
    pub(super) fn new(
        terms: &'a TermBinder<'a>,
        operands: &'a TermBinder<'a>,
        binder: &'a Binder<'a>,
        condition: Option<Term>,
        keys: &Keys,
    ) -> Self {
        // The first atom says which rows the answer has.
        let atom = Atom { way: Way::Native(Function::Count), name: "count(*)".to_owned(), is_whole: true };
        let frame = Draft { call: None, atom, filter: None, over: Over::Native(None) };
        let combos = keys.combos().into_iter().map(|(_, conditions)| conditions).collect();
        let native_keys = keys.native.clone();
        Atoms { terms, operands, binder, condition, native_keys, combos, drafts: vec![frame], items: &[] }
    }

    /// An expression over aggregates and keys.
    pub(super) fn post(&mut self, expr: &Expr, keys: &Keys) -> Result<Post, QueryError> {
        if let Some(place) = keys.place(expr) {
            return Ok(Post::Key(place));
        }
        if let Some(share) = self.share(expr)? {
            return Ok(share);
        }
        let mut boxed = |expr: &Expr| self.post(expr, keys).map(Box::new);
        Ok(match expr {
            Expr::Constant(constant, _) => Post::Constant(Scalar::of_constant(constant)),
            Expr::Aggregate(call) => self.aggregate(call)?,
            Expr::Negate(x) => Post::Negate(boxed(x)?),
            Expr::Arithmetic(a, operator, b) => {
                let post = Post::Arithmetic(boxed(a)?, *operator, boxed(b)?);
                match self.mean_bounds(a, *operator, b)? {
                    Some(bounds) => Post::Mean { ratio: Box::new(post), bounds },
                    None => post,
                }
            }
            Expr::Call(function, given) => {
                Post::Call(*function, given.iter().map(|part| self.post(part, keys)).collect::<Result<_, _>>()?)
            }
            Expr::Compare(a, comparison, b) => {
                let (mut a, mut b) = (boxed(a)?, boxed(b)?);
                self.date(&a, &mut b, keys, expr)?;
                self.date(&b, &mut a, keys, expr)?;
                Post::Compare(a, *comparison, b)
            }
            Expr::And(parts) => Post::And(parts.iter().map(|part| self.post(part, keys)).collect::<Result<_, _>>()?),
            Expr::Or(parts) => Post::Or(parts.iter().map(|part| self.post(part, keys)).collect::<Result<_, _>>()?),
            Expr::Not(x) => Post::Not(boxed(x)?),
            Expr::IsNull(x) => Post::IsNull(boxed(x)?),
            Expr::Between(x, low, high) => {
                use crate::question::Comparison::{GreaterOrEqual, LessOrEqual};
                let x = boxed(x)?;
                let (low, high) = (boxed(low)?, boxed(high)?);
                Post::And(vec![Post::Compare(x.clone(), GreaterOrEqual, low), Post::Compare(x, LessOrEqual, high)])
            }
            Expr::In(x, list) => {
                let x = boxed(x)?;
                let equal = |one: &Expr| {
                    Ok::<_, QueryError>(Post::Compare(
                        x.clone(),
                        crate::question::Comparison::Equal,
                        Box::new(self.post(one, keys)?),
                    ))
                };
                Post::Or(list.iter().map(equal).collect::<Result<_, _>>()?)
            }
            Expr::Column(None, column) if self.named(column).is_some() => {
                // PROOF: a name inside the expression that it stands for is not looked up again.
                let items = std::mem::take(&mut self.items);
                let found = items.iter().find(|item| is_name_of(item, column)).map(|item| self.post(&item.expr, keys));
                self.items = items;
                // PROOF: there is such an item, as was asked above.
                found.unwrap_or(Ok(Post::Constant(Scalar::Null)))?
            }
            Expr::Column(_, column) => {
                let problem = format!("`{}` is used beside aggregates, but is not in GROUP BY", column.text);
                return Err(QueryError::question(
                    column.at,
                    problem,
                    format!("add GROUP BY {}, or ask an aggregate of it", column.text),
                ));
            }
            Expr::Question(_) => return Err(crate::term::question_inside(expr)),
            Expr::Case(..) | Expr::Like(..) | Expr::InTable(..) => {
                let problem = "CASE, LIKE and IN (SELECT …) are understood inside aggregates, not around them";
                return Err(QueryError::question(
                    expr.at(),
                    problem,
                    "put the condition into WHERE, FILTER or GROUP BY",
                ));
            }
        })
    }

    /// The expression of the SELECT list that has this name.
    fn named(&self, column: &ColumnName) -> Option<&Item> {
        self.items.iter().find(|item| is_name_of(item, column))
    }

    /// A text that is compared with a date of GROUP BY becomes one.
    fn date(&self, key: &Post, other: &mut Post, keys: &Keys, expr: &Expr) -> Result<(), QueryError> {
        let (Post::Key(at), Post::Constant(Scalar::Text(text))) = (key, &*other) else { return Ok(()) };
        let KeyKind::Native(place) = keys.keys[*at].kind else { return Ok(()) };
        let field = &self.binder.fields[keys.native[place]];
        let (found, form) = match field.kind {
            Kind::Date => (Date::parse(text.trim()).map(Scalar::Date), "YYYY-MM-DD"),
            Kind::DateTime => (DateTime::parse_or_midnight(text.trim()).map(Scalar::Moment), "YYYY-MM-DDTHH:MM:SS"),
            _ => return Ok(()),
        };
        let Some(found) = found else {
            let shown: String = text.chars().take(40).collect();
            let problem = format!("'{shown}' is not a value of `{}`, which is of kind {}", field.name, field.kind);
            return Err(QueryError::question(expr.at(), problem, format!("write it as '{form}'")));
        };
        *other = Post::Constant(found);
        Ok(())
    }

    /// `k·COUNT(*) FILTER (WHERE c) / COUNT(*)`: both counts are of the same rows, so their bounds go together.
    fn share(&mut self, expr: &Expr) -> Result<Option<Post>, QueryError> {
        let Expr::Arithmetic(part, Arithmetic::Divide, whole) = expr else { return Ok(None) };
        let (mut factor, mut part) = (1.0, &**part);
        let number = |expr: &Expr| {
            if let Expr::Constant(constant, _) = expr { Scalar::of_constant(constant).number() } else { None }
        };
        while let Expr::Arithmetic(a, Arithmetic::Multiply, b) = part {
            match (number(a), number(b)) {
                (Some(number), _) => (factor, part) = (factor * number, &**b),
                (_, Some(number)) => (factor, part) = (factor * number, &**a),
                _ => return Ok(None),
            }
        }
        let (Expr::Aggregate(part), Expr::Aggregate(whole)) = (part, divisor(whole)) else { return Ok(None) };
        let is_count = |call: &AggregateCall| call.function == Function::Count && call.over.is_none();
        let (true, true, Some(filter), None) = (is_count(part), is_count(whole), &part.filter, &whole.filter) else {
            return Ok(None);
        };
        let truth = |truth: bool| Expr::Constant(crate::question::Constant::Boolean(truth), None);
        let is_other = Expr::Case(vec![(filter.clone(), truth(false))], Some(Box::new(truth(true))));
        let rest = AggregateCall { filter: Some(is_other), text: "the rest".to_owned(), ..(**part).clone() };
        let (Post::Atom(part), Post::Atom(rest)) = (self.aggregate(part)?, self.aggregate(&rest)?) else {
            return Ok(None);
        };
        Ok(Some(Post::Share { factor, part, rest }))
    }

    /// `SUM(w * y) / SUM(w)`: the atom with the bounds of this mean, where w is known row by row.
    fn mean_bounds(&mut self, a: &Expr, operator: Arithmetic, b: &Expr) -> Result<Option<usize>, QueryError> {
        let (Expr::Aggregate(top), Arithmetic::Divide, Expr::Aggregate(bottom)) = (a, operator, divisor(b)) else {
            return Ok(None);
        };
        let is_sum = top.function == Function::Sum && bottom.function == Function::Sum;
        let same_filter = match (&top.filter, &bottom.filter) {
            (Some(a), Some(b)) => is_same(a, b),
            (None, None) => true,
            _ => false,
        };
        let (true, true, Some(over), Some(weight)) = (is_sum, same_filter, &top.over, &bottom.over) else {
            return Ok(None);
        };
        let (over, weight) = (self.operands.term(over)?, self.operands.term(weight)?);
        let Over::Operands(parts) = self.operand(&over, top, false)? else { return Ok(None) };
        let [(None, Operand::Product(factor, value), asked)] = parts.as_slice() else { return Ok(None) };
        // Rows without a value have a weight all the same, so the two sums must be over the same rows.
        let is_complete = self.condition.iter().chain(&self.filter(top)?).any(|term| excludes_missing(term, *asked))
            || value.term.fields().iter().all(|&field| !self.binder.fields[field].has_missing);
        let is_plain = value.term.fields().len() == 1 && !matches!(value.term, Term::Lookup(..) | Term::Case(..));
        if factor.term != weight || !is_complete || !is_plain {
            return Ok(None);
        }
        let atom = Atom { way: Way::MeanBounds, name: format!("{} / {}", top.text, bottom.text), is_whole: false };
        let draft = Draft { call: None, atom, filter: self.filter(top)?, over: Over::Operands(parts) };
        self.drafts.push(draft);
        Ok(Some(self.drafts.len() - 1))
    }

    fn filter(&self, call: &AggregateCall) -> Result<Option<Term>, QueryError> {
        call.filter.as_ref().map(|expr| self.terms.condition(expr)).transpose()
    }

    fn aggregate(&mut self, call: &AggregateCall) -> Result<Post, QueryError> {
        let known = |draft: &Draft| {
            draft.call.as_ref().is_some_and(|known| {
                is_same(&Expr::Aggregate(Box::new(known.clone())), &Expr::Aggregate(Box::new(call.clone())))
            })
        };
        if let Some(at) = self.drafts.iter().position(known) {
            return Ok(Post::Atom(at));
        }
        let filter = self.filter(call)?;
        let over = call.over.as_ref().map(|expr| self.operands.term(expr)).transpose()?;
        let add = |atoms: &mut Self, way: Way, filter: Option<Term>, over: Over, is_whole: bool| {
            let atom = Atom { way, name: call.text.clone(), is_whole };
            atoms.drafts.push(Draft { call: Some(call.clone()), atom, filter, over });
            Post::Atom(atoms.drafts.len() - 1)
        };
        let Some(term) = over else {
            return Ok(add(self, Way::Native(Function::Count), filter, Over::Native(None), true));
        };
        let is_integer = term.fields().iter().all(|&field| self.binder.fields[field].kind == Kind::Integer);
        if call.function == Function::Count {
            if let Term::Attribute(field) = term {
                return Ok(add(self, Way::Native(Function::Count), filter, Over::Native(Some(field)), true));
            }
            // COUNT(x) counts the rows where x is not NULL.
            let present = present(&term);
            let both = match filter {
                Some(filter) => Term::And(vec![filter, present]),
                None => present,
            };
            return Ok(add(self, Way::Native(Function::Count), Some(both), Over::Native(None), true));
        }
        let is_distinct = call.function == Function::CountDistinct;
        if let (Term::Attribute(field), Function::Sum | Function::Avg | Function::Min | Function::Max) =
            (&term, call.function)
        {
            let column = &self.binder.fields[*field];
            let is_native = column.role == RoleName::Sensitive || column.is_weight;
            let is_one = call.function == Function::Sum || self.is_one_piece(filter.as_ref())?;
            if is_native && is_one && column.kind.is_numeric() && has_exact_sums(column) {
                let is_whole = is_integer && call.function != Function::Avg;
                return Ok(add(self, Way::Native(call.function), filter, Over::Native(Some(*field)), is_whole));
            }
        }
        let over = self.operand(&term, call, is_distinct)?;
        let Over::Operands(parts) = &over else { return Err(too_mixed(call)) };
        let is_product = parts.iter().any(|(_, operand, _)| matches!(operand, Operand::Product(..)));
        let is_weight = |operand: &Operand| match operand {
            Operand::Product(rows, _) => rows.term.fields().iter().all(|&field| self.binder.fields[field].is_weight),
            _ => true,
        };
        let is_beside = is_product && self.has_own_values() && parts.iter().all(|(_, operand, _)| is_weight(operand));
        let is_all = parts.iter().all(|(_, operand, _)| matches!(operand, Operand::Product(..)));
        if is_product && !is_beside && !is_all {
            let problem = format!("{} adds up products of two columns and other numbers", call.text);
            let hint = "ask the two sums apart, each with its own condition in FILTER, and add them";
            return Err(QueryError::unanswerable(call.at, problem, hint));
        }
        match call.function {
            Function::Sum if is_product && !is_beside => Ok(add(self, Way::Products, filter, over, is_integer)),
            Function::Avg if is_product && !is_beside => {
                let sum =
                    AggregateCall { function: Function::Sum, text: format!("sum of {}", call.text), ..call.clone() };
                let count = AggregateCall {
                    function: Function::Count,
                    text: format!("count of {}", call.text),
                    ..call.clone()
                };
                let (sum, count) = (self.aggregate(&sum)?, self.aggregate(&count)?);
                Ok(Post::Arithmetic(Box::new(sum), Arithmetic::Divide, Box::new(count)))
            }
            _ if is_product && !is_beside => {
                let problem = format!("{} is over a product of a sensitive column and another one", call.text);
                let hint = "ask SUM or AVG of the product, or this of each column alone";
                Err(QueryError::unanswerable(call.at, problem, hint))
            }
            function => {
                let is_whole = is_distinct
                    || (is_integer
                        && matches!(function, Function::Sum | Function::Min | Function::Max)
                        && !has_division(&term));
                Ok(add(self, Way::Choices(function, call.fraction.unwrap_or(0.5)), filter, over, is_whole))
            }
        }
    }

    /// Whether rows show a weight beside the person's own sensitive value.
    fn has_own_values(&self) -> bool {
        let sensitive = self.binder.fields.iter().filter(|field| field.role == RoleName::Sensitive);
        let [only] = sensitive.collect::<Vec<_>>()[..] else { return false };
        self.binder.detail == Detail::GroupBoxes && only.published == chrysalis_release::Published::Exact
    }

    /// Whether the condition of an aggregate is one piece in every combination of values of terms: plans cannot add up
    /// averages and extremes.
    fn is_one_piece(&self, filter: Option<&Term>) -> Result<bool, QueryError> {
        for conditions in &self.combos {
            let all: Vec<Term> = self.condition.iter().chain(filter).chain(conditions).cloned().collect();
            if pieces(&tree(&Term::And(all), false, self.binder.fields)?, self.binder.fields)?.len() > 1 {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// What an aggregate of a term is over.
    fn operand(&self, term: &Term, call: &AggregateCall, is_distinct: bool) -> Result<Over, QueryError> {
        let mut parts = Vec::new();
        self.add_operands(term, None, call, is_distinct, &mut parts)?;
        Ok(Over::Operands(parts))
    }

    fn add_operands(
        &self,
        term: &Term,
        condition: Option<Term>,
        call: &AggregateCall,
        is_distinct: bool,
        parts: &mut Vec<(Option<Term>, Operand, Option<usize>)>,
    ) -> Result<(), QueryError> {
        let fields = self.binder.fields;
        let own = term.fields();
        let is_sensitive = |field: usize| fields[field].role == RoleName::Sensitive;
        for &field in &own {
            if !is_distinct && !has_exact_sums(&fields[field]) {
                let problem = format!(
                    "{} is answered for whole numbers up to 2^53 and reals up to 1e150, and `{}` has larger ones",
                    call.function, fields[field].name
                );
                return Err(QueryError::unanswerable(call.at, problem, "ask COUNT(*) with a condition on it"));
            }
        }
        if !is_distinct && let Some(problem) = self.is_text(term) {
            let problem = format!("{} needs numbers, but {problem}", call.function);
            return Err(QueryError::unanswerable(
                call.at,
                problem,
                "ask COUNT(*) or COUNT(DISTINCT …), or GROUP BY it",
            ));
        }
        let mapped = |term: &Term| self.mapped(term, is_distinct);
        match own.as_slice() {
            [] => {
                if let Some(number) = term.eval(&|_| None, fields).number() {
                    parts.push((condition, Operand::Constant(number), None));
                }
                return Ok(());
            }
            [field] if is_sensitive(*field) => {
                parts.push((condition, Operand::Sensitive(mapped(term)?), Some(*field)));
                return Ok(());
            }
            [_] => {
                parts.push((condition, Operand::Rows(mapped(term)?), None));
                return Ok(());
            }
            _ => {}
        }
        if is_distinct && let Some(problem) = self.is_text(term) {
            let problem = format!("{} tells apart values of several columns, and {problem}", call.text);
            return Err(QueryError::unanswerable(call.at, problem, "count the distinct values of one column"));
        }
        if let Term::Case(branches, otherwise) = term {
            let mut before: Vec<(Term, Term)> = Vec::new();
            let truth = |truth: bool| Term::Constant(Scalar::Boolean(truth));
            let end = (
                Term::Constant(Scalar::Boolean(true)),
                otherwise.as_deref().cloned().unwrap_or(Term::Constant(Scalar::Null)),
            );
            for (when, then) in branches.iter().chain([&end]) {
                let mut chain = before.clone();
                chain.push((when.clone(), truth(true)));
                let here = Term::Case(chain, Some(Box::new(truth(false))));
                let both = match &condition {
                    Some(condition) => Term::And(vec![condition.clone(), here]),
                    None => here,
                };
                self.add_operands(then, Some(both), call, is_distinct, parts)?;
                before.push((when.clone(), truth(false)));
            }
            return Ok(());
        }
        if !own.iter().any(|&field| is_sensitive(field)) && self.binder.detail == Detail::Exact && !is_distinct {
            parts.push((condition, Operand::Rows(Mapped { term: term.clone(), names: None }), None));
            return Ok(());
        }
        let (mut rows, mut values) = (None, None);
        let can = factors(term, false, &is_sensitive, &mut rows, &mut values);
        let (true, Some(rows), Some(values)) = (can, rows, values) else { return Err(too_mixed(call)) };
        let (of_rows, of_values) = (rows.fields(), values.fields());
        let is_known = self.binder.detail == Detail::Exact || of_rows.len() == 1;
        let ([field], true) = (of_values.as_slice(), is_known) else { return Err(too_mixed(call)) };
        parts.push((condition, Operand::Product(mapped(&rows)?, mapped(&values)?), Some(*field)));
        Ok(())
    }

    /// Why a term is no number.
    fn is_text(&self, term: &Term) -> Option<String> {
        match term {
            Term::Attribute(field) => {
                let field = &self.binder.fields[*field];
                (!field.kind.is_numeric()).then(|| format!("`{}` holds values of kind {}", field.name, field.kind))
            }
            Term::Constant(Scalar::Text(_)) => Some("a text is given".to_owned()),
            Term::Lookup(_, lookup) => lookup
                .values
                .values()
                .any(|value| matches!(value, Scalar::Text(_)))
                .then(|| "the column of the public table holds words".to_owned()),
            Term::Case(branches, otherwise) => {
                branches.iter().map(|(_, then)| then).chain(otherwise.as_deref()).find_map(|term| self.is_text(term))
            }
            Term::Call(crate::statement::ScalarFunction::Lower | crate::statement::ScalarFunction::Upper, _) => {
                Some("it is a text".to_owned())
            }
            _ => None,
        }
    }

    fn mapped(&self, term: &Term, is_distinct: bool) -> Result<Mapped, QueryError> {
        let needs_names = is_distinct && {
            let plain = matches!(term, Term::Attribute(field) if self.binder.fields[*field].kind.is_numeric());
            !plain
        };
        let fields = term.fields();
        let names = match fields.as_slice() {
            [field] if needs_names => {
                let classes = classes(term, *field, self.binder.fields)?;
                let names: HashMap<String, f64> = (0_u32..)
                    .zip(classes.iter().filter(|(value, _)| *value != Scalar::Null))
                    .map(|(at, (value, _))| (value.key(), f64::from(at)))
                    .collect();
                Some(Arc::new(names))
            }
            _ => None,
        };
        Ok(Mapped { term: term.clone(), names })
    }

    /// The atoms, and for every combination of values of terms the plans that answer them.
    pub(super) fn finish(self, manifest: &Manifest, keys: &Keys) -> Result<(Vec<Atom>, Vec<Combo>), QueryError> {
        let mut combos = Vec::new();
        let mut n_plans = 0;
        for (values, conditions) in keys.combos() {
            let mut drafts: Vec<PartDraft> = Vec::new();
            let common: Vec<Term> = self.condition.iter().cloned().chain(conditions).collect();
            for (at, draft) in self.drafts.iter().enumerate() {
                let with = |more: Option<&Term>| -> Result<Vec<Piece>, QueryError> {
                    let all: Vec<Term> = common.iter().chain(&draft.filter).chain(more).cloned().collect();
                    pieces(&tree(&Term::And(all), false, self.binder.fields)?, self.binder.fields)
                };
                match &draft.over {
                    Over::Native(field) => {
                        let Way::Native(function) = draft.atom.way else { continue };
                        for piece in with(None)? {
                            self.add_native(&mut drafts, piece, function, *field, at);
                        }
                    }
                    Over::Operands(operands) => {
                        for (condition, operand, asked) in operands {
                            for piece in with(condition.as_ref())? {
                                self.add_operand(&mut drafts, piece, operand, *asked, at);
                            }
                        }
                    }
                }
            }
            n_plans += drafts.len();
            if n_plans > MAX_PLANS {
                let problem = "the question falls into too many parts".to_owned();
                return Err(QueryError::unanswerable(
                    None,
                    problem,
                    "ask fewer aggregates, or group by fewer expressions",
                ));
            }
            let mut parts = Vec::with_capacity(drafts.len());
            for mut draft in drafts {
                draft.parts.keys = self.native_keys.clone();
                let plan = Plan::of_parts(&draft.parts, manifest)?;
                parts.push(Part { plan, natives: draft.natives, operands: draft.operands, owners: draft.owners });
            }
            combos.push(Combo { values, parts });
        }
        Ok((self.drafts.into_iter().map(|draft| draft.atom).collect(), combos))
    }

    fn add_native(
        &self,
        drafts: &mut Vec<PartDraft>,
        piece: Piece,
        function: Function,
        field: Option<usize>,
        atom: usize,
    ) {
        let asked = field.filter(|&field| self.binder.fields[field].role == RoleName::Sensitive);
        let draft = part_for(drafts, piece, asked);
        let column =
            field.map(|field| ColumnName { text: self.binder.fields[field].name.clone(), is_quoted: true, at: None });
        let name = format!("x{}", draft.parts.aggregates.len());
        draft.parts.aggregates.push(Aggregate { name, has_alias: true, function, column, at: None });
        draft.natives.push(atom);
    }

    fn add_operand(
        &self,
        drafts: &mut Vec<PartDraft>,
        piece: Piece,
        operand: &Operand,
        asked: Option<usize>,
        atom: usize,
    ) {
        let draft = part_for(drafts, piece, asked);
        let valued: Vec<usize> = match operand {
            Operand::Constant(_) => Vec::new(),
            Operand::Sensitive(mapped) | Operand::Rows(mapped) => mapped.term.fields(),
            Operand::Product(rows, values) => rows.term.fields().into_iter().chain(values.term.fields()).collect(),
        };
        draft.parts.valued.extend(valued);
        draft.parts.valued.sort_unstable();
        draft.parts.valued.dedup();
        draft.operands.push(operand.clone());
        draft.owners.push(atom);
    }
}

#[derive(Default)]
struct PartDraft {
    parts: Parts,
    natives: Vec<usize>,
    operands: Vec<Operand>,
    owners: Vec<usize>,
}

/// The plan of a piece that asks about a sensitive attribute.
fn part_for(drafts: &mut Vec<PartDraft>, piece: Piece, asked: Option<usize>) -> &mut PartDraft {
    let fits = |draft: &PartDraft| {
        let parts = &draft.parts;
        parts.quasi == piece.quasi && parts.sets == piece.sets && (parts.asked == asked)
    };
    let at = drafts.iter().position(fits).unwrap_or(drafts.len());
    if at == drafts.len() {
        let parts = Parts { quasi: piece.quasi, sets: piece.sets, asked, ..Parts::default() };
        drafts.push(PartDraft { parts, ..PartDraft::default() });
    }
    &mut drafts[at]
}
