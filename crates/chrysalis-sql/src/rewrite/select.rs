//! SELECT statements and the WITH clause in front of them.

use sqlparser::ast::helpers::attached_token::AttachedToken;
use sqlparser::ast::{
    Cte, GroupByExpr, Ident, Join, JoinConstraint, JoinOperator, ObjectName, OrderBy, OrderByExpr, OrderByKind, Query,
    Select, SelectFlavor, SelectItem, SetExpr, SetOperator, SetQuantifier, TableAlias, TableFactor, TableWithJoins,
    With,
};

use super::Dialect;
use super::expr::X;

/// A SELECT under construction.
#[derive(Clone, Default)]
pub(super) struct Rows {
    items: Vec<SelectItem>,
    from: Option<TableWithJoins>,
    filter: Option<X>,
    group_by: Vec<X>,
}

impl Rows {
    /// From a table of the release, under a short name.
    pub(super) fn of_table(dialect: Dialect, table: &str, alias: &str) -> Self {
        let quoted = Ident::with_quote(dialect.name_quote(), dialect.escaped_name(table));
        Rows::from_factor(table_factor(quoted, Some(alias)))
    }

    /// From a CTE.
    pub(super) fn of(cte: &str) -> Self {
        Rows::from_factor(table_factor(Ident::new(cte), None))
    }

    /// From a CTE under another name.
    pub(super) fn of_alias(cte: &str, alias: &str) -> Self {
        Rows::from_factor(table_factor(Ident::new(cte), Some(alias)))
    }

    fn from_factor(relation: TableFactor) -> Self {
        Rows { from: Some(TableWithJoins { relation, joins: Vec::new() }), ..Rows::default() }
    }

    /// Joins a CTE.
    pub(super) fn join(self, cte: &str, on: X) -> Self {
        self.join_factor(table_factor(Ident::new(cte), None), JoinOperator::Inner(JoinConstraint::On(on.0)))
    }

    /// Left-joins a CTE.
    pub(super) fn left_join(self, cte: &str, on: X) -> Self {
        self.join_factor(table_factor(Ident::new(cte), None), JoinOperator::Left(JoinConstraint::On(on.0)))
    }

    /// Joins a table of the release.
    pub(super) fn join_table(self, dialect: Dialect, table: &str, alias: &str, on: X) -> Self {
        let quoted = Ident::with_quote(dialect.name_quote(), dialect.escaped_name(table));
        self.join_factor(table_factor(quoted, Some(alias)), JoinOperator::Inner(JoinConstraint::On(on.0)))
    }

    /// Cross-joins a CTE.
    pub(super) fn cross(self, cte: &str, alias: &str) -> Self {
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
    pub(super) fn item(self, x: X, name: &str) -> Self {
        self.named(x, Ident::new(name))
    }

    pub(super) fn items(self, items: impl IntoIterator<Item = (X, String)>) -> Self {
        items.into_iter().fold(self, |rows, (x, name)| rows.item(x, &name))
    }

    /// Adds a column of the answer.
    pub(super) fn named(mut self, x: X, alias: Ident) -> Self {
        self.items.push(SelectItem::ExprWithAlias { expr: x.0, alias });
        self
    }

    /// Keeps only the rows for which this holds as well.
    pub(super) fn filter(mut self, condition: Option<X>) -> Self {
        self.filter = match (self.filter, condition) {
            (Some(a), Some(b)) => Some(a.and(b)),
            (a, b) => a.or(b),
        };
        self
    }

    pub(super) fn group_by(mut self, keys: impl IntoIterator<Item = X>) -> Self {
        self.group_by.extend(keys);
        self
    }

    fn body(self) -> SetExpr {
        SetExpr::Select(Box::new(Select {
            select_token: AttachedToken::empty(),
            optimizer_hints: Vec::new(),
            distinct: None,
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
            having: None,
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
pub(super) struct Ctes {
    ctes: Vec<Cte>,
}

impl Ctes {
    pub(super) fn add(&mut self, name: &str, rows: Rows) {
        self.add_body(name, rows.body());
    }

    /// Adds the union of several SELECTs, with repetitions.
    pub(super) fn add_union(&mut self, name: &str, parts: Vec<Rows>) {
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

    fn add_body(&mut self, name: &str, body: SetExpr) {
        self.ctes.push(Cte {
            alias: TableAlias { explicit: false, ..table_alias(name) },
            query: Box::new(query(body, None, Vec::new())),
            from: None,
            materialized: None,
            closing_paren_token: AttachedToken::empty(),
        });
    }

    /// The whole statement.
    pub(super) fn finish(self, rows: Rows, order_by: Vec<OrderByExpr>) -> Query {
        let with = With { with_token: AttachedToken::empty(), recursive: false, cte_tables: self.ctes };
        let with = (!with.cte_tables.is_empty()).then_some(with);
        query(rows.body(), with, order_by)
    }
}

fn query(body: SetExpr, with: Option<With>, order_by: Vec<OrderByExpr>) -> Query {
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
