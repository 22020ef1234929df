//! SELECT statements and the WITH clause in front of them.

use sqlparser::ast::helpers::attached_token::AttachedToken;
use sqlparser::ast::{
    Cte, Distinct, Expr, GroupByExpr, Ident, Join, JoinConstraint, JoinOperator, LimitClause, ObjectName, Offset,
    OffsetRows, OrderBy, OrderByExpr, OrderByKind, Parens, Query, Select, SelectFlavor, SelectItem, SetExpr,
    SetOperator, SetQuantifier, TableAlias, TableAliasColumnDef, TableFactor, TableWithJoins, Values, With,
};

use crate::Dialect;
use crate::expr::{X, int};

/// A SELECT under construction.
#[derive(Clone, Default)]
pub struct Rows {
    items: Vec<SelectItem>,
    from: Option<TableWithJoins>,
    filter: Option<X>,
    group_by: Vec<X>,
    having: Option<X>,
    is_distinct: bool,
}

impl Rows {
    /// From a table of the release, under a short name.
    pub fn of_table(dialect: Dialect, table: &str, alias: &str) -> Self {
        let quoted = Ident::with_quote(dialect.name_quote(), dialect.escaped_name(table));
        Rows::from_factor(table_factor(quoted, Some(alias)))
    }

    /// From a CTE.
    pub fn of(cte: &str) -> Self {
        Rows::from_factor(table_factor(Ident::new(cte), None))
    }

    /// From a CTE under another name.
    pub fn of_alias(cte: &str, alias: &str) -> Self {
        Rows::from_factor(table_factor(Ident::new(cte), Some(alias)))
    }

    pub(crate) fn from_factor(relation: TableFactor) -> Self {
        Rows { from: Some(TableWithJoins { relation, joins: Vec::new() }), ..Rows::default() }
    }

    /// Joins a CTE.
    pub fn join(self, cte: &str, on: X) -> Self {
        self.join_factor(table_factor(Ident::new(cte), None), JoinOperator::Inner(JoinConstraint::On(on.0)))
    }

    /// Left-joins a CTE.
    pub fn left_join(self, cte: &str, on: X) -> Self {
        self.join_factor(table_factor(Ident::new(cte), None), JoinOperator::Left(JoinConstraint::On(on.0)))
    }

    /// Joins a table of the release.
    pub fn join_table(self, dialect: Dialect, table: &str, alias: &str, on: X) -> Self {
        let quoted = Ident::with_quote(dialect.name_quote(), dialect.escaped_name(table));
        self.join_factor(table_factor(quoted, Some(alias)), JoinOperator::Inner(JoinConstraint::On(on.0)))
    }

    /// Left-joins a table of the release.
    pub fn left_join_table(self, dialect: Dialect, table: &str, alias: &str, on: X) -> Self {
        let quoted = Ident::with_quote(dialect.name_quote(), dialect.escaped_name(table));
        self.join_factor(table_factor(quoted, Some(alias)), JoinOperator::Left(JoinConstraint::On(on.0)))
    }

    /// Cross-joins a CTE.
    pub fn cross(self, cte: &str, alias: &str) -> Self {
        let factor = table_factor(Ident::new(cte), Some(alias));
        self.join_factor(factor, JoinOperator::CrossJoin(JoinConstraint::None))
    }

    fn join_factor(mut self, relation: TableFactor, join_operator: JoinOperator) -> Self {
        if let Some(from) = &mut self.from {
            from.joins.push(Join { relation, global: false, join_operator });
        }
        self
    }

    /// Adds a column under a name of our own.
    pub fn item(self, x: X, name: &str) -> Self {
        self.named(x, Ident::new(name))
    }

    /// Adds columns under names of our own.
    pub fn items(self, items: impl IntoIterator<Item = (X, String)>) -> Self {
        items.into_iter().fold(self, |rows, (x, name)| rows.item(x, &name))
    }

    /// Adds a column of the answer.
    pub fn named(mut self, x: X, alias: Ident) -> Self {
        self.items.push(SelectItem::ExprWithAlias { expr: x.0, alias });
        self
    }

    pub(crate) fn with(mut self, item: SelectItem) -> Self {
        self.items.push(item);
        self
    }

    /// Keeps only the rows for which this holds as well.
    pub fn filter(mut self, condition: Option<X>) -> Self {
        self.filter = match (self.filter, condition) {
            (Some(a), Some(b)) => Some(a.and(b)),
            (a, b) => a.or(b),
        };
        self
    }

    /// Makes one row of all that agree in these.
    pub fn group_by(mut self, keys: impl IntoIterator<Item = X>) -> Self {
        self.group_by.extend(keys);
        self
    }

    /// Keeps only the groups for which this holds.
    pub fn having(mut self, condition: X) -> Self {
        self.having = Some(condition);
        self
    }

    /// Keeps one of several equal rows.
    pub fn distinct(mut self) -> Self {
        self.is_distinct = true;
        self
    }

    pub(crate) fn body(self) -> SetExpr {
        SetExpr::Select(Box::new(Select {
            select_token: AttachedToken::empty(),
            optimizer_hints: Vec::new(),
            distinct: self.is_distinct.then_some(Distinct::Distinct),
            select_modifiers: None,
            top: None,
            top_before_distinct: false,
            projection: self.items,
            exclude: None,
            into: None,
            from: self.from.into_iter().collect(),
            lateral_views: Vec::new(),
            prewhere: None,
            selection: self.filter.map(|x| x.0),
            connect_by: Vec::new(),
            group_by: GroupByExpr::Expressions(self.group_by.into_iter().map(|x| x.0).collect(), Vec::new()),
            cluster_by: Vec::new(),
            distribute_by: Vec::new(),
            sort_by: Vec::new(),
            having: self.having.map(|x| x.0),
            named_window: Vec::new(),
            qualify: None,
            window_before_qualify: false,
            value_table_mode: None,
            flavor: SelectFlavor::Standard,
        }))
    }
}

fn table_factor(name: Ident, alias: Option<&str>) -> TableFactor {
    TableFactor::Table {
        name: ObjectName::from(vec![name]),
        alias: alias.map(table_alias),
        args: None,
        with_hints: Vec::new(),
        version: None,
        with_ordinality: false,
        partitions: Vec::new(),
        json_path: None,
        sample: None,
        index_hints: Vec::new(),
    }
}

fn table_alias(name: &str) -> TableAlias {
    TableAlias { explicit: true, name: Ident::new(name), columns: Vec::new(), at: None }
}

/// The CTEs of a statement, in order.
#[derive(Default)]
pub struct Ctes {
    ctes: Vec<Cte>,
}

impl Ctes {
    /// Whether there is a CTE of this name.
    pub fn has(&self, name: &str) -> bool {
        self.ctes.iter().any(|cte| cte.alias.name.value == name)
    }

    /// Adds a SELECT.
    pub fn add(&mut self, name: &str, rows: Rows) {
        self.add_body(name, rows.body());
    }

    /// Adds the union of several SELECTs, with repetitions.
    pub fn add_union(&mut self, name: &str, parts: Vec<Rows>) {
        let union = |left: SetExpr, right: SetExpr| SetExpr::SetOperation {
            left: Box::new(left),
            op: SetOperator::Union,
            set_quantifier: SetQuantifier::All,
            right: Box::new(right),
        };
        if let Some(body) = parts.into_iter().map(Rows::body).reduce(union) {
            self.add_body(name, body);
        }
    }

    /// Adds a list of rows that is written out. There must be one at least.
    pub fn add_list(&mut self, name: &str, columns: &[&str], rows: Vec<Vec<X>>) {
        let row = |row: Vec<X>| Parens::with_empty_span(row.into_iter().map(|x| x.0).collect());
        let rows = rows.into_iter().map(row).collect();
        self.add_body(name, SetExpr::Values(Values { explicit_row: false, value_keyword: false, rows }));
        if let Some(cte) = self.ctes.last_mut() {
            let named = |name: &&str| TableAliasColumnDef { name: Ident::new(*name), data_type: None };
            cte.alias.columns = columns.iter().map(named).collect();
        }
    }

    /// Adds a whole statement, with CTEs of its own.
    pub fn add_nested(&mut self, name: &str, inner: Ctes, rows: Rows) {
        self.add_query(name, inner.finish(rows, Vec::new()));
    }

    fn add_body(&mut self, name: &str, body: SetExpr) {
        self.add_query(name, query(body, None, Vec::new()));
    }

    fn add_query(&mut self, name: &str, query: Query) {
        self.ctes.push(Cte {
            alias: TableAlias { explicit: false, ..table_alias(name) },
            query: Box::new(query),
            from: None,
            materialized: None,
            closing_paren_token: AttachedToken::empty(),
        });
    }

    /// The whole statement.
    pub fn finish(self, rows: Rows, order_by: Vec<OrderByExpr>) -> Query {
        let with = With { with_token: AttachedToken::empty(), recursive: false, cte_tables: self.ctes };
        let with = (!with.cte_tables.is_empty()).then_some(with);
        query(rows.body(), with, order_by)
    }
}

/// LIMIT and OFFSET of a statement.
pub fn limited(mut query: Query, dialect: Dialect, limit: Option<u64>, offset: u64) -> Query {
    // SQLite has no OFFSET without a LIMIT.
    let most = || (dialect == Dialect::Sqlite && offset > 0).then(|| int(i64::MAX));
    let limit = limit.map(int).or_else(most).map(|x| x.0);
    let offset = (offset > 0).then(|| Offset { value: int(offset).0, rows: OffsetRows::None });
    if offset.is_some() || limit.is_some() {
        query.limit_clause = Some(LimitClause::LimitOffset { limit, offset, limit_by: Vec::new() });
    }
    query
}

pub(crate) fn query(body: SetExpr, with: Option<With>, order_by: Vec<OrderByExpr>) -> Query {
    Query {
        with,
        body: Box::new(body),
        order_by: (!order_by.is_empty())
            .then_some(OrderBy { kind: OrderByKind::Expressions(order_by), interpolate: None }),
        limit_clause: None,
        fetch: None,
        locks: Vec::new(),
        for_clause: None,
        settings: None,
        format_clause: None,
        pipe_operators: Vec::new(),
    }
}

/// The same statement without names that repeat what they name: `t.a AS a` is `t.a`.
pub fn without_repeated_names(mut query: Query) -> Query {
    plain_query(&mut query);
    query
}

fn plain_query(query: &mut Query) {
    if let Some(with) = &mut query.with {
        with.cte_tables.iter_mut().for_each(|cte| plain_query(&mut cte.query));
    }
    plain_body(&mut query.body);
}

fn plain_body(body: &mut SetExpr) {
    match body {
        SetExpr::Select(select) => select.projection.iter_mut().for_each(plain_item),
        SetExpr::SetOperation { left, right, .. } => {
            plain_body(left);
            plain_body(right);
        }
        _ => {}
    }
}

fn plain_item(item: &mut SelectItem) {
    let SelectItem::ExprWithAlias { expr: Expr::CompoundIdentifier(path), alias } = item else { return };
    // Quoted names keep their letters, and ours are none.
    if path.last().is_some_and(|name| name.quote_style.is_none() && name == alias) {
        *item = SelectItem::UnnamedExpr(Expr::CompoundIdentifier(std::mem::take(path)));
    }
}
