//! A question bound to a release: what both evaluators, ours and SQL, work from (steps 2 to 5 of `spec.md`).

use chrysalis_release::generalized::{MEMBERS, MEMBERS_COLUMNS, max_column, min_column};
use chrysalis_release::{Manifest, RoleName, angelized};
use chrysalis_table::{Kind, Value};

use crate::question::{Aggregate, ColumnName, Condition, Function, Question};
use crate::value_set::ValueSet;
use crate::{Cell, Field, Form, Hits, QueryError, Tree, boxes};

/// A question bound to a release's manifest. Indices called `field` point into `fields`.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The release's form.
    pub form: Form,
    /// The table with a row per person that the question is asked of.
    pub table: String,
    /// All published attributes, in the manifest's order.
    pub fields: Vec<Field>,
    /// The sensitive one.
    pub sensitive: Option<usize>,
    /// The distinct conditions on the quasi side. The first is that of the WHERE clause; `COUNT(c)` of a quasi
    /// attribute with missing values has one of its own.
    pub conditions: Vec<QuasiCondition>,
    /// The sensitive values that the WHERE clause admits; `None` is all of them, the missing one included.
    pub sensitive_set: Option<ValueSet>,
    /// What is asked, in order.
    pub aggregates: Vec<PlannedAggregate>,
    /// The attributes of GROUP BY, in order.
    pub keys: Vec<usize>,
}

/// What the quasi attributes of a hit must satisfy.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QuasiCondition {
    /// The condition; `None` is none at all.
    pub tree: Option<Tree>,
    /// For permuted and generalized forms: the disjoint boxes where it holds. Without a condition one box without sets.
    pub boxes: Vec<Cell>,
    /// For generalized forms: the disjoint boxes where it does not hold.
    pub complement: Vec<Cell>,
}

/// One aggregate.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedAggregate {
    /// Its name in the answer: the alias, or `avg(salary)`.
    pub name: String,
    /// Whether that is an alias.
    pub has_alias: bool,
    /// The function.
    pub function: Function,
    /// Its column; `None` is the star of `COUNT(*)`.
    pub field: Option<usize>,
    /// Which of [`Plan::conditions`] its hits must satisfy.
    pub condition: usize,
    /// The sensitive values that count: those of the WHERE clause, without the missing one where the aggregate is over
    /// the sensitive column. `None` is all of them.
    pub set: Option<ValueSet>,
}

impl Plan {
    /// Binds a question to a release.
    pub fn new(question: &Question, manifest: &Manifest) -> Result<Plan, QueryError> {
        let form = Form::of(manifest)?;
        let fields: Vec<Field> = manifest.attributes.iter().map(Field::new).collect();
        let sensitive = fields.iter().position(|field| field.role == RoleName::Sensitive);
        let binder = Binder { form, fields: &fields, sensitive };
        let (quasi, sensitive_set) = match &question.condition {
            Some(condition) => binder.split(condition)?,
            None => (None, None),
        };
        let keys = question.group_by.iter().map(|column| binder.key(column)).collect::<Result<Vec<_>, _>>()?;
        let mut conditions = vec![binder.condition(quasi.clone())?];
        let mut aggregates = Vec::with_capacity(question.aggregates.len());
        for aggregate in &question.aggregates {
            aggregates.push(binder.aggregate(aggregate, &quasi, &sensitive_set, &mut conditions)?);
        }
        let table = form.quasi_table().to_owned();
        let mut plan = Plan { form, table, sensitive, conditions, sensitive_set, aggregates, keys, fields };
        if form == Form::Angel {
            plan.table = plan.narrowest(manifest)?;
        }
        Ok(plan)
    }

    /// Of the tables that have every attribute asked for, the one with the fewest others (angel, section 5).
    fn narrowest(&self, manifest: &Manifest) -> Result<String, QueryError> {
        let asked: Vec<&str> = self.quasi_fields().into_iter().map(|field| self.fields[field].name.as_str()).collect();
        if asked.is_empty() {
            return Ok(self.form.quasi_table().to_owned());
        }
        let tables: Vec<(&str, Vec<&str>)> = angelized::generalized_tables(manifest)
            .into_iter()
            .map(|(table, attributes)| (table.name.as_str(), attributes.iter().map(|it| it.name.as_str()).collect()))
            .collect();
        let fits = |(_, shown): &&(&str, Vec<&str>)| asked.iter().all(|name| shown.contains(name));
        match tables.iter().filter(fits).min_by_key(|(_, shown)| shown.len()) {
            Some((table, _)) => Ok((*table).to_owned()),
            None => {
                let shown = tables.iter().map(|(table, shown)| format!("{table} ({})", shown.join(", ")));
                let problem = format!("no table of the release has all of {}", asked.join(", "));
                Err(QueryError::unanswerable(
                    None,
                    problem,
                    format!("there are {}", shown.collect::<Vec<_>>().join("; ")),
                ))
            }
        }
    }

    /// The attributes whose columns of the quasi table are needed, in ascending order.
    pub fn quasi_fields(&self) -> Vec<usize> {
        let trees = self.conditions.iter().filter_map(|condition| condition.tree.as_ref());
        let mut fields: Vec<usize> = trees.flat_map(Tree::fields).chain(self.keys.iter().copied()).collect();
        fields.retain(|field| Some(*field) != self.sensitive);
        fields.sort_unstable();
        fields.dedup();
        fields
    }

    /// Whether the answer depends on the sensitive values, and not only on how many rows a group has.
    pub fn needs_sensitive(&self) -> bool {
        let is_key = self.sensitive.is_some_and(|sensitive| self.keys.contains(&sensitive));
        let is_asked = |aggregate: &PlannedAggregate| aggregate.set.is_some() || aggregate.function != Function::Count;
        is_key || self.sensitive_set.is_some() || self.aggregates.iter().any(is_asked)
    }
}

/// Columns of one table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NeededColumns {
    /// The table.
    pub table: String,
    /// Its columns, in no particular order.
    pub columns: Vec<String>,
}

impl Plan {
    /// What must be read of the release to answer this.
    pub fn columns(&self) -> Vec<NeededColumns> {
        let mut quasi = vec![self.form.group_id().to_owned()];
        let mut members = Vec::new();
        for field in self.quasi_fields().into_iter().map(|field| &self.fields[field]) {
            if !self.form.hits().is_labelled() {
                quasi.push(field.name.clone());
            } else if field.kind.is_ordered() {
                quasi.extend([min_column(&field.name), max_column(&field.name)]);
            } else {
                quasi.push(field.name.clone());
                members = MEMBERS_COLUMNS.map(str::to_owned).to_vec();
            }
        }
        let mut needed = Vec::new();
        if let Some(sensitive) = self.sensitive.filter(|_| self.needs_sensitive()).map(|at| &self.fields[at].name) {
            match self.form.sensitive_table() {
                None => quasi.push(sensitive.clone()),
                Some((table, count)) => needed.push(NeededColumns {
                    table: table.to_owned(),
                    columns: vec![self.form.group_id().to_owned(), sensitive.clone(), count.to_owned()],
                }),
            }
        }
        needed.push(NeededColumns { table: self.table.clone(), columns: quasi });
        if !members.is_empty() {
            needed.push(NeededColumns { table: MEMBERS.to_owned(), columns: members });
        }
        needed
    }
}

struct Binder<'a> {
    form: Form,
    fields: &'a [Field],
    sensitive: Option<usize>,
}

impl Binder<'_> {
    /// Finds a column by its name: letter by letter, or else without regard to case where it is not quoted.
    fn find(&self, column: &ColumnName) -> Result<usize, QueryError> {
        let exact = self.fields.iter().position(|field| field.name == column.text);
        let alike = |field: &Field| !column.is_quoted && field.name.to_lowercase() == column.text.to_lowercase();
        let places: Vec<usize> = (0..self.fields.len()).filter(|&at| alike(&self.fields[at])).collect();
        let field = match (exact, places.as_slice()) {
            (Some(field), _) => field,
            (None, [field]) => *field,
            (None, []) => return Err(self.unknown(column)),
            (None, _) => {
                let problem = format!("`{}` could be several columns that differ in case", column.text);
                return Err(QueryError::question(column.at, problem, "write the name in double quotes"));
            }
        };
        self.check_side(field, column)
    }

    fn unknown(&self, column: &ColumnName) -> QueryError {
        let shown: String = column.text.chars().take(60).collect();
        let problem = format!("the release has no column `{shown}`: it was dropped, or never was");
        QueryError::question(column.at, problem, self.columns())
    }

    fn check_side(&self, field: usize, column: &ColumnName) -> Result<usize, QueryError> {
        if self.fields[field].role == RoleName::Other && self.form.hits() != Hits::Exact {
            let problem = format!(
                "`{}` is published beside generalized rows, where nothing ties it to the values a question asks for",
                column.text
            );
            return Err(QueryError::unanswerable(column.at, problem, self.columns()));
        }
        Ok(field)
    }

    fn columns(&self) -> String {
        let askable = |field: &&Field| field.role != RoleName::Other || self.form.hits() == Hits::Exact;
        let names: Vec<&str> = self.fields.iter().filter(askable).map(|field| field.name.as_str()).collect();
        format!("the columns that can be asked are: {}", names.join(", "))
    }

    fn key(&self, column: &ColumnName) -> Result<usize, QueryError> {
        let field = self.find(column)?;
        if self.form.hits().is_labelled() && self.fields[field].kind == Kind::Real && Some(field) != self.sensitive {
            let problem = format!("`{}` is published as ranges of reals, which have no single values", column.text);
            return Err(QueryError::unanswerable(column.at, problem, "ask about ranges with WHERE … BETWEEN"));
        }
        Ok(field)
    }

    /// Step 4: the condition on quasi attributes, and the set of sensitive values.
    fn split(&self, condition: &Condition) -> Result<(Option<Tree>, Option<ValueSet>), QueryError> {
        let tree = Tree::of(condition, false, self.fields, &|test| self.find(&test.column))?;
        let parts = if let Tree::All(parts) = tree { parts } else { vec![tree] };
        let (mut quasi, mut set) = (Vec::new(), None);
        for part in parts {
            match &part {
                Tree::In { field, set: values } if Some(*field) == self.sensitive => set = Some(values.clone()),
                _ if self.sensitive.is_some_and(|sensitive| part.fields().contains(&sensitive)) => {
                    return Err(self.mixed());
                }
                _ => quasi.push(part),
            }
        }
        Ok(((!quasi.is_empty()).then(|| Tree::all(quasi)), set))
    }

    fn mixed(&self) -> QueryError {
        let name = self.sensitive.map_or("", |sensitive| &self.fields[sensitive].name);
        let problem = format!(
            "an OR joins conditions on `{name}` with conditions on other columns, and who has which `{name}` is what \
             the release hides"
        );
        QueryError::unanswerable(None, problem, "ask the parts as separate questions")
    }

    /// Step 5.
    fn condition(&self, tree: Option<Tree>) -> Result<QuasiCondition, QueryError> {
        let everything = || Tree::All(Vec::new());
        let needs_boxes = self.form.hits() != Hits::Exact;
        let needs_complement = self.form.hits().is_labelled();
        let shape = tree.clone().unwrap_or_else(everything);
        Ok(QuasiCondition {
            boxes: if needs_boxes { boxes(&shape, self.fields)? } else { Vec::new() },
            complement: if needs_complement { boxes(&shape.complement(), self.fields)? } else { Vec::new() },
            tree,
        })
    }

    fn aggregate(
        &self,
        aggregate: &Aggregate,
        quasi: &Option<Tree>,
        set: &Option<ValueSet>,
        conditions: &mut Vec<QuasiCondition>,
    ) -> Result<PlannedAggregate, QueryError> {
        let field = aggregate.column.as_ref().map(|column| self.find(column)).transpose()?;
        let mut planned = PlannedAggregate {
            name: aggregate.name.clone(),
            has_alias: aggregate.has_alias,
            function: aggregate.function,
            field,
            condition: 0,
            set: set.clone(),
        };
        let Some(at) = field else { return Ok(planned) };
        let column = &self.fields[at];
        let present = column.everything(false);
        if Some(at) == self.sensitive {
            if aggregate.function != Function::Count && !column.kind.is_numeric() {
                return Err(self.not_a_number(aggregate, column));
            }
            if aggregate.function != Function::Count && !has_exact_sums(column) {
                return Err(self.too_large(aggregate, column));
            }
            planned.set = Some(set.as_ref().map_or_else(|| present.clone(), |set| set.intersection(&present)));
            return Ok(planned);
        }
        if aggregate.function != Function::Count {
            return Err(self.not_sensitive(aggregate, column));
        }
        if column.has_missing {
            // COUNT(c) counts the rows where c is not missing.
            let tree = Tree::all(quasi.iter().cloned().chain([Tree::In { field: at, set: present }]).collect());
            let condition = self.condition(Some(tree))?;
            planned.condition = conditions.iter().position(|known| *known == condition).unwrap_or(conditions.len());
            if planned.condition == conditions.len() {
                conditions.push(condition);
            }
        }
        Ok(planned)
    }

    fn not_a_number(&self, aggregate: &Aggregate, column: &Field) -> QueryError {
        let problem =
            format!("{} needs numbers, and `{}` holds values of kind {}", aggregate.function, column.name, column.kind);
        let hint = format!("ask COUNT(*), with a condition on `{0}` or GROUP BY {0}", column.name);
        QueryError::unanswerable(aggregate.at, problem, hint)
    }

    fn too_large(&self, aggregate: &Aggregate, column: &Field) -> QueryError {
        let problem = format!(
            "{} is answered for whole numbers up to 2^53 and reals up to 1e150, and `{}` has larger ones",
            aggregate.function, column.name
        );
        let hint = format!("ask COUNT(*), with a condition on `{}`; or publish it in a larger unit", column.name);
        QueryError::unanswerable(aggregate.at, problem, hint)
    }

    fn not_sensitive(&self, aggregate: &Aggregate, column: &Field) -> QueryError {
        let problem = format!(
            "{} is answered for the sensitive column only, and `{}` is not it",
            aggregate.function, column.name
        );
        let hint = match self.sensitive.map(|at| &self.fields[at]) {
            Some(sensitive) if sensitive.kind.is_numeric() => {
                format!("ask {}({}), or COUNT(*) GROUP BY {}", aggregate.function, sensitive.name, column.name)
            }
            _ => format!("ask COUNT(*) GROUP BY {}", column.name),
        };
        QueryError::unanswerable(aggregate.at, problem, hint)
    }
}

/// Whether bounds of sums can be kept apart from rounding errors.
fn has_exact_sums(field: &Field) -> bool {
    let is_small = |value: &Value| match value {
        Value::Integer(number) => number.unsigned_abs() <= 1 << 53,
        Value::Real(number) => number.abs() <= 1e150,
        Value::Date(_) | Value::Text(_) => true,
    };
    field.min.iter().chain(&field.max).all(is_small)
}
