//! A question bound to a release. Both evaluators, ours and SQL, work from it (steps 2 to 5 of `spec.md`).

use std::collections::BTreeMap;

use chrysalis_release::{
    COUNT, COUNTERFEITS, Detail, Form, GROUP_ID, MEMBERS_COLUMNS, Manifest, Published, RoleName, Shape, Values,
    max_column, min_column,
};
use chrysalis_table::{Kind, Value};

use crate::notes::{notes, similar};
use crate::question::{Aggregate, ColumnName, Condition, Function, Question};
use crate::value_set::ValueSet;
use crate::{Cell, Field, QueryError, Tree, boxes};

/// A question bound to a release's manifest. Indices called `field` point into `fields`.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What the release looks like.
    pub shape: Shape,
    /// The table with one row per person that is to be asked.
    pub table: String,
    /// All published attributes, in the manifest's order.
    pub fields: Vec<Field>,
    /// The sensitive attribute that is asked about: of several, the one that an aggregate is over, else the first that
    /// the question names, else the first.
    pub sensitive: Option<usize>,
    /// Whether the release has several sensitive attributes.
    pub has_several: bool,
    /// Whether the release belongs to a series, and may show values that nobody has.
    pub is_of_series: bool,
    /// The sets of sensitive attributes that are shown together.
    pub together: Vec<Vec<usize>>,
    /// Conditions on other sensitive attributes.
    pub beside: Vec<(usize, ValueSet)>,
    /// The distinct conditions on the quasi side. The first is that of the WHERE clause; `COUNT(c)` of a quasi
    /// attribute with missing values has one of its own.
    pub conditions: Vec<QuasiCondition>,
    /// The sensitive values that the WHERE clause admits; `None` is all of them, the missing one included.
    pub sensitive_set: Option<ValueSet>,
    /// What is asked for, in order.
    pub aggregates: Vec<PlannedAggregate>,
    /// The attributes of GROUP BY, in order.
    pub keys: Vec<usize>,
    /// Further attributes whose values are needed.
    pub valued: Vec<usize>,
    /// Notes on what is asked for and the release does not have, in sentences.
    pub notes: Vec<String>,
}

/// What the quasi attributes of a hit must satisfy.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QuasiCondition {
    /// The condition; `None` if there is none.
    pub tree: Option<Tree>,
    /// For permuted and generalized forms: the disjoint boxes where it holds; without a condition, one box.
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
        let shape = askable(manifest)?;
        let fields: Vec<Field> = manifest.attributes.iter().map(Field::new).collect();
        let mut binder = Binder { detail: shape.detail, fields: &fields, sensitive: None };
        binder.sensitive = binder.asked_about(question)?;
        let sensitive = binder.sensitive;
        let has_several = fields.iter().filter(|field| field.role == RoleName::Sensitive).count() > 1;
        let (quasi, sensitive_set, beside) = match &question.condition {
            Some(condition) => binder.split(condition)?,
            None => (None, None, Vec::new()),
        };
        let notes = match &question.condition {
            Some(condition) => notes(condition, &fields, &|test| binder.find(&test.column))?,
            None => Vec::new(),
        };
        let keys = question.group_by.iter().map(|column| binder.key(column)).collect::<Result<Vec<_>, _>>()?;
        let mut conditions = vec![binder.condition(quasi.clone())?];
        let mut aggregates = Vec::with_capacity(question.aggregates.len());
        for aggregate in &question.aggregates {
            aggregates.push(binder.aggregate(aggregate, &quasi, &sensitive_set, &mut conditions)?);
        }
        let table = shape.people.to_owned();
        let mut plan = Plan {
            shape,
            table,
            sensitive,
            has_several,
            is_of_series: manifest.series.is_some(),
            together: manifest.together_sets(),
            beside,
            conditions,
            sensitive_set,
            aggregates,
            keys,
            valued: Vec::new(),
            fields,
            notes,
        };
        plan.check_keys()?;
        plan.table = plan.narrowest(manifest)?;
        Ok(plan)
    }

    /// The column that says which rows share their sensitive values.
    pub fn group_id(&self) -> &'static str {
        // PROOF: a release without groups is not askable.
        self.shape.group_id.unwrap_or(GROUP_ID)
    }

    /// The table of the sensitive values that are asked about, with the column that counts them, where they have a
    /// table of their own.
    pub fn counted_values(&self) -> Option<(String, &'static str)> {
        self.counted_values_of(self.sensitive?)
    }

    /// The same for any sensitive attribute.
    pub fn counted_values_of(&self, field: usize) -> Option<(String, &'static str)> {
        match self.shape.values {
            Values::Counted(_) => Some((self.shape.values_table_of(&self.fields[field].name, self.has_several), COUNT)),
            Values::Beside | Values::Swapped => None,
        }
    }

    /// The attributes that are shown together with a sensitive one, itself among them, if the answer depends on several
    /// of them.
    pub fn set_of(&self, field: usize) -> Option<&[usize]> {
        self.sets_asked().into_iter().find(|set| set.contains(&field))
    }

    /// The sets of attributes that are shown together, where the answer depends on several attributes of one set: such
    /// attributes are decided by their combinations.
    pub fn sets_asked(&self) -> Vec<&[usize]> {
        let asked = self.sensitive_fields();
        let is_asked = |set: &&[usize]| set.iter().filter(|field| asked.contains(field)).count() > 1;
        self.together.iter().map(Vec::as_slice).filter(is_asked).collect()
    }

    /// The table that counts the combinations of a set, where values have tables of their own.
    pub fn combinations_table(&self, set: &[usize]) -> Option<String> {
        self.shape.together_table(set.iter().map(|&field| self.fields[field].name.as_str()))
    }

    /// The table of bounds for the sensitive values that are asked about, if the form has one.
    pub fn help_table(&self) -> Option<String> {
        self.shape.help_table(&self.fields[self.sensitive?].name, self.has_several)
    }

    /// The sensitive attribute in GROUP BY.
    pub fn sensitive_key(&self) -> Option<usize> {
        self.keys.iter().copied().find(|&key| self.is_sensitive(key))
    }

    fn is_sensitive(&self, field: usize) -> bool {
        self.fields[field].role == RoleName::Sensitive
    }

    /// A combination of values of two sensitive attributes is what a release with several of them hides most.
    fn check_keys(&self) -> Result<(), QueryError> {
        let sensitive: Vec<&str> = self
            .keys
            .iter()
            .filter(|&&key| self.is_sensitive(key))
            .map(|&key| self.fields[key].name.as_str())
            .collect();
        if sensitive.len() < 2 || sensitive[0] == sensitive[1] {
            return Ok(());
        }
        let problem = format!("GROUP BY names two sensitive columns, {}", sensitive.join(" and "));
        let hint = "group by one of them, and put a condition on the other";
        Err(QueryError::unanswerable(None, problem, hint))
    }

    /// The table to ask: the narrowest of those that show every attribute asked for.
    fn narrowest(&self, manifest: &Manifest) -> Result<String, QueryError> {
        // Columns kept as they are appear only in the table of all people.
        if self.weight().is_some() {
            return Ok(self.shape.people.to_owned());
        }
        let asked: Vec<usize> =
            self.quasi_fields().into_iter().filter(|&field| self.fields[field].role == RoleName::Quasi).collect();
        if asked.is_empty() || self.shape.marginals.is_none() {
            return Ok(self.shape.people.to_owned());
        }
        let layout = manifest.layout();
        if let Some(table) = layout.narrowest(&asked) {
            return Ok(table.name.clone());
        }
        let names = |fields: &[usize]| {
            fields.iter().map(|&field| self.fields[field].name.as_str()).collect::<Vec<_>>().join(", ")
        };
        let shown: Vec<String> =
            layout.people().map(|table| format!("{} ({})", table.name, names(&table.shows))).collect();
        let problem = format!("no table of the release has all of {}", names(&asked));
        Err(QueryError::unanswerable(None, problem, format!("there are {}", shown.join("; "))))
    }

    /// The attributes whose columns of the quasi table are needed, in ascending order.
    pub fn quasi_fields(&self) -> Vec<usize> {
        let trees = self.conditions.iter().filter_map(|condition| condition.tree.as_ref());
        let mut fields: Vec<usize> = trees.flat_map(Tree::fields).chain(self.keys.iter().copied()).collect();
        fields.extend(self.valued.iter().filter(|field| !self.fields[**field].is_weight));
        fields.retain(|field| !self.is_sensitive(*field));
        fields.sort_unstable();
        fields.dedup();
        fields
    }

    /// The sensitive attributes whose values are needed, in ascending order.
    pub fn sensitive_fields(&self) -> Vec<usize> {
        let asked = self.sensitive.filter(|_| self.needs_sensitive());
        let beside = self.beside.iter().map(|(field, _)| *field);
        let mut fields: Vec<usize> = asked.into_iter().chain(beside).chain(self.sensitive_key()).collect();
        fields.extend(self.valued.iter().filter(|field| self.is_sensitive(**field)));
        fields.sort_unstable();
        fields.dedup();
        fields
    }

    /// Whether the answer depends on the sensitive values, and not only on how many rows a group has.
    pub fn needs_sensitive(&self) -> bool {
        let is_key = self.sensitive_key().is_some();
        let is_over_it =
            |aggregate: &PlannedAggregate| aggregate.function != Function::Count && !self.weighs(aggregate);
        let is_asked = |aggregate: &PlannedAggregate| aggregate.set.is_some() || is_over_it(aggregate);
        let is_valued = self.sensitive.is_some_and(|field| self.valued.contains(&field));
        is_key || is_valued || self.sensitive_set.is_some() || self.aggregates.iter().any(is_asked)
    }
}

/// What a plan is made of, if not from a question.
#[derive(Clone, Debug, Default)]
pub(crate) struct Parts {
    /// The condition on the quasi side.
    pub(crate) quasi: Option<Tree>,
    /// The values that are admitted of sensitive attributes.
    pub(crate) sets: BTreeMap<usize, ValueSet>,
    /// The sensitive attribute that is asked about, if it matters which.
    pub(crate) asked: Option<usize>,
    pub(crate) keys: Vec<usize>,
    pub(crate) aggregates: Vec<Aggregate>,
    pub(crate) valued: Vec<usize>,
}

impl Plan {
    /// Binds the parts of an inquiry to a release.
    pub(crate) fn of_parts(parts: &Parts, manifest: &Manifest) -> Result<Plan, QueryError> {
        let shape = askable(manifest)?;
        let fields: Vec<Field> = manifest.attributes.iter().map(Field::new).collect();
        let mut binder = Binder { detail: shape.detail, fields: &fields, sensitive: None };
        let key = parts.keys.iter().copied().find(|&key| binder.is_sensitive(key));
        let first = || fields.iter().position(|field| field.role == RoleName::Sensitive);
        binder.sensitive = parts.asked.or(key).or(parts.sets.keys().next().copied()).or_else(first);
        let sensitive = binder.sensitive;
        let sensitive_set = sensitive.and_then(|field| parts.sets.get(&field)).cloned();
        let beside = parts.sets.iter().filter(|(field, _)| Some(**field) != sensitive);
        let beside = beside.map(|(field, set)| (*field, set.clone())).collect();
        let mut conditions = vec![binder.condition(parts.quasi.clone())?];
        let mut aggregates = Vec::with_capacity(parts.aggregates.len());
        for aggregate in &parts.aggregates {
            aggregates.push(binder.aggregate(aggregate, &parts.quasi, &sensitive_set, &mut conditions)?);
        }
        let mut plan = Plan {
            table: shape.people.to_owned(),
            shape,
            sensitive,
            has_several: fields.iter().filter(|field| field.role == RoleName::Sensitive).count() > 1,
            is_of_series: manifest.series.is_some(),
            together: manifest.together_sets(),
            beside,
            conditions,
            sensitive_set,
            aggregates,
            keys: parts.keys.clone(),
            valued: parts.valued.clone(),
            fields,
            notes: Vec::new(),
        };
        plan.table = plan.narrowest(manifest)?;
        Ok(plan)
    }
}

impl Plan {
    /// Whether an aggregate is a sum, an average or an extreme of survey weights.
    pub fn weighs(&self, aggregate: &PlannedAggregate) -> bool {
        aggregate.function != Function::Count && aggregate.field.is_some_and(|field| self.fields[field].is_weight)
    }

    /// The survey weight, if an aggregate is over it or its values are needed.
    pub fn weight(&self) -> Option<usize> {
        let valued = self.valued.iter().copied().find(|&field| self.fields[field].is_weight);
        let weighed = self.aggregates.iter().find(|aggregate| self.weighs(aggregate));
        weighed.and_then(|aggregate| aggregate.field).or(valued)
    }

    /// Whether every row shows a person's weight beside the person's own sensitive value. Where values were permuted,
    /// or have a table of their own, the two are known only group by group.
    pub fn has_weights_beside_values(&self) -> bool {
        let is_own = |field: usize| self.fields[field].published == Published::Exact;
        self.shape.values == Values::Beside && !self.has_several && self.sensitive.is_some_and(is_own)
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
    /// The columns of the release that must be read to answer this.
    pub fn columns(&self) -> Vec<NeededColumns> {
        let mut quasi = vec![self.group_id().to_owned()];
        let mut members = Vec::new();
        for field in self.quasi_fields().into_iter().map(|field| &self.fields[field]) {
            if !self.shape.detail.is_labelled() {
                quasi.push(field.name.clone());
            } else if field.kind.is_ordered() {
                quasi.extend([min_column(&field.name), max_column(&field.name)]);
            } else {
                quasi.push(field.name.clone());
                members = MEMBERS_COLUMNS.map(str::to_owned).to_vec();
            }
        }
        quasi.extend(self.weight().map(|field| self.fields[field].name.clone()).filter(|name| !quasi.contains(name)));
        let mut needed = Vec::new();
        for field in self.sensitive_fields() {
            let sensitive = &self.fields[field].name;
            match self.counted_values_of(field) {
                None => quasi.push(sensitive.clone()),
                Some((table, count)) => needed.push(NeededColumns {
                    table,
                    columns: vec![self.group_id().to_owned(), sensitive.clone(), count.to_owned()],
                }),
            }
        }
        for set in self.sets_asked() {
            let Some(table) = self.combinations_table(set) else { continue };
            let values = set.iter().map(|&field| self.fields[field].name.clone());
            let columns = values.chain([self.group_id().to_owned(), COUNT.to_owned()]).collect();
            needed.push(NeededColumns { table, columns });
        }
        if self.is_of_series {
            let columns = vec![self.group_id().to_owned(), COUNT.to_owned()];
            needed.push(NeededColumns { table: COUNTERFEITS.to_owned(), columns });
        }
        needed.push(NeededColumns { table: self.table.clone(), columns: quasi });
        if let Some(table) = self.shape.members.filter(|_| !members.is_empty()) {
            needed.push(NeededColumns { table: table.to_owned(), columns: members });
        }
        needed
    }
}

/// The shape of a release, if it can be asked at all.
pub(crate) fn askable(manifest: &Manifest) -> Result<Shape, QueryError> {
    let shape = manifest.method.shape();
    if shape.group_id.is_some() {
        return Ok(shape);
    }
    let problem =
        format!("a release by {} does not tell which rows were swapped, so no bound would hold", manifest.method);
    let others = Form::ALL.iter().filter(|form| form.shape().group_id.is_some()).map(|form| form.name());
    let hint = format!("publish the table with {}", one_of(&others.collect::<Vec<_>>()));
    Err(QueryError::unanswerable(None, problem, hint))
}

/// `a, b or c`.
fn one_of(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

/// The condition on quasi attributes, the sensitive values asked about, and conditions on other sensitive attributes.
type SplitCondition = (Option<Tree>, Option<ValueSet>, Vec<(usize, ValueSet)>);

pub(crate) struct Binder<'a> {
    pub(crate) detail: Detail,
    pub(crate) fields: &'a [Field],
    pub(crate) sensitive: Option<usize>,
}

impl Binder<'_> {
    /// Finds a column by its exact name, or else, if the name is not quoted, regardless of case.
    pub(crate) fn find(&self, column: &ColumnName) -> Result<usize, QueryError> {
        let field = self.named(column)?;
        self.check_side(field, column)
    }

    /// The column of an aggregate. A weight can be added up wherever it stands; conditions need to know whose it is.
    pub(crate) fn find_aggregated(&self, column: &ColumnName) -> Result<usize, QueryError> {
        let field = self.named(column)?;
        if self.fields[field].is_weight { Ok(field) } else { self.check_side(field, column) }
    }

    fn named(&self, column: &ColumnName) -> Result<usize, QueryError> {
        let exact = self.fields.iter().position(|field| field.name == column.text);
        let alike = |field: &Field| !column.is_quoted && field.name.to_lowercase() == column.text.to_lowercase();
        let places: Vec<usize> = (0..self.fields.len()).filter(|&at| alike(&self.fields[at])).collect();
        match (exact, places.as_slice()) {
            (Some(field), _) => Ok(field),
            (None, [field]) => Ok(*field),
            (None, []) => Err(self.unknown(column)),
            (None, _) => {
                let problem = format!("`{}` could be several columns that differ only in case", column.text);
                Err(QueryError::question(column.at, problem, "write the name in double quotes"))
            }
        }
    }

    fn unknown(&self, column: &ColumnName) -> QueryError {
        let shown: String = column.text.chars().take(60).collect();
        let problem = format!("the release has no column `{shown}`: it was dropped, or never existed");
        let has = |field: &&Field| field.words.iter().any(|word| **word == *column.text);
        let names = || self.fields.iter().map(|field| field.name.as_str());
        let hint = match (self.fields.iter().find(has), similar(&column.text, names())) {
            (Some(field), _) => {
                let text = shown.replace('\'', "''");
                format!("text stands in single quotes: write '{text}' for the value of `{}`", field.name)
            }
            (None, Some(name)) => format!("did you mean `{name}`? {}", self.columns()),
            (None, None) => self.columns(),
        };
        QueryError::question(column.at, problem, hint)
    }

    fn check_side(&self, field: usize, column: &ColumnName) -> Result<usize, QueryError> {
        if self.fields[field].role == RoleName::Other && self.detail != Detail::Exact {
            let problem = format!(
                "`{}` is published beside generalized rows, where nothing ties it to the values a question asks for",
                column.text
            );
            return Err(QueryError::unanswerable(column.at, problem, self.columns()));
        }
        Ok(field)
    }

    fn columns(&self) -> String {
        let askable = |field: &&Field| field.role != RoleName::Other || self.detail == Detail::Exact;
        let names: Vec<&str> = self.fields.iter().filter(askable).map(|field| field.name.as_str()).collect();
        format!("the columns that can be asked are: {}", names.join(", "))
    }

    pub(crate) fn key(&self, column: &ColumnName) -> Result<usize, QueryError> {
        let field = self.find(column)?;
        if self.detail.is_labelled() && self.fields[field].kind == Kind::Real && !self.is_sensitive(field) {
            let problem = format!("`{}` is published as ranges of reals, which have no single values", column.text);
            return Err(QueryError::unanswerable(column.at, problem, "ask about ranges with WHERE … BETWEEN"));
        }
        Ok(field)
    }

    /// Step 4: the condition on quasi attributes, and the set of sensitive values.
    fn split(&self, condition: &Condition) -> Result<SplitCondition, QueryError> {
        let tree = Tree::of(condition, false, self.fields, &|test| self.find(&test.column))?;
        let parts = if let Tree::All(parts) = tree { parts } else { vec![tree] };
        let (mut quasi, mut set, mut beside) = (Vec::new(), None, Vec::new());
        for part in parts {
            match &part {
                Tree::In { field, set: values } if Some(*field) == self.sensitive => set = Some(values.clone()),
                Tree::In { field, set: values } if self.is_sensitive(*field) => beside.push((*field, values.clone())),
                _ => match part.fields().into_iter().find(|&field| self.is_sensitive(field)) {
                    Some(field) => return Err(self.mixed(field)),
                    None => quasi.push(part),
                },
            }
        }
        Ok(((!quasi.is_empty()).then(|| Tree::all(quasi)), set, beside))
    }

    pub(crate) fn is_sensitive(&self, field: usize) -> bool {
        self.fields[field].role == RoleName::Sensitive
    }

    /// The sensitive attribute that a question is about; an error if its aggregates are over several.
    fn asked_about(&self, question: &Question) -> Result<Option<usize>, QueryError> {
        let first = self.fields.iter().position(|field| field.role == RoleName::Sensitive);
        let mut over: Option<usize> = None;
        for aggregate in &question.aggregates {
            let Some(column) = &aggregate.column else { continue };
            let field = self.find_aggregated(column)?;
            if !self.is_sensitive(field) {
                continue;
            }
            if over.is_some_and(|known| known != field) {
                let problem = "one question asks about the values of two sensitive columns".to_owned();
                return Err(QueryError::unanswerable(column.at, problem, "ask about each in a question of its own"));
            }
            over = Some(field);
        }
        if over.is_some() {
            return Ok(over);
        }
        let named = match &question.condition {
            Some(condition) => Tree::of(condition, false, self.fields, &|test| self.find(&test.column))?.fields(),
            None => Vec::new(),
        };
        let keys = question.group_by.iter().map(|column| self.find(column)).collect::<Result<Vec<_>, _>>()?;
        let is_sensitive = |field: &usize| self.is_sensitive(*field);
        Ok(keys.into_iter().find(is_sensitive).or(named.into_iter().find(is_sensitive)).or(first))
    }

    fn mixed(&self, field: usize) -> QueryError {
        let name = &self.fields[field].name;
        let problem = format!(
            "an OR joins conditions on `{name}` with conditions on other columns, and who has which `{name}` is what \
             the release hides"
        );
        QueryError::unanswerable(None, problem, "ask the parts as separate questions")
    }

    /// Step 5.
    pub(crate) fn condition(&self, tree: Option<Tree>) -> Result<QuasiCondition, QueryError> {
        let everything = || Tree::All(Vec::new());
        let needs_boxes = self.detail != Detail::Exact;
        let needs_complement = self.detail.is_labelled();
        let shape = tree.clone().unwrap_or_else(everything);
        Ok(QuasiCondition {
            boxes: if needs_boxes { boxes(&shape, self.fields)? } else { Vec::new() },
            complement: if needs_complement { boxes(&shape.complement(), self.fields)? } else { Vec::new() },
            tree,
        })
    }

    pub(crate) fn aggregate(
        &self,
        aggregate: &Aggregate,
        quasi: &Option<Tree>,
        set: &Option<ValueSet>,
        conditions: &mut Vec<QuasiCondition>,
    ) -> Result<PlannedAggregate, QueryError> {
        let field = aggregate.column.as_ref().map(|column| self.find_aggregated(column)).transpose()?;
        if !aggregate.function.is_plain() {
            let problem = format!("{} is more than a plan can answer", aggregate.function);
            return Err(QueryError::unanswerable(aggregate.at, problem, "ask it as an inquiry"));
        }
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
            return match (column.is_weight, has_exact_sums(column)) {
                (true, true) => Ok(planned),
                (true, false) => Err(self.too_large(aggregate, column)),
                (false, _) => Err(self.not_sensitive(aggregate, column)),
            };
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

    pub(crate) fn not_a_number(&self, aggregate: &Aggregate, column: &Field) -> QueryError {
        let problem =
            format!("{} needs numbers, but `{}` holds values of kind {}", aggregate.function, column.name, column.kind);
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
        let problem =
            format!("{} is answered only for a sensitive column, which `{}` is not", aggregate.function, column.name);
        let hint = match self.sensitive.map(|at| &self.fields[at]) {
            Some(sensitive) if sensitive.kind.is_numeric() => {
                format!("ask {}({}), or COUNT(*) GROUP BY {}", aggregate.function, sensitive.name, column.name)
            }
            _ => format!("ask COUNT(*) GROUP BY {}", column.name),
        };
        QueryError::unanswerable(aggregate.at, problem, hint)
    }
}

/// Whether the values are small enough for the bounds of their sums to hold in spite of rounding.
pub(crate) fn has_exact_sums(field: &Field) -> bool {
    let is_small = |value: &Value| match value {
        Value::Integer(number) => number.unsigned_abs() <= 1 << 53,
        Value::Real(number) => number.abs() <= 1e150,
        Value::Date(_) | Value::DateTime(_) | Value::Text(_) => true,
    };
    field.min.iter().chain(&field.max).all(is_small)
}
