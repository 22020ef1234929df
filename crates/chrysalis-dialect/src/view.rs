//! Views of files, for databases that read files themselves.

use sqlparser::ast::{
    Array, CreateTableOptions, CreateView, DictionaryField, Expr, FunctionArg, FunctionArgExpr, FunctionArgOperator,
    Ident, ObjectName, SelectItem, SetExpr, SetOperator, SetQuantifier, Statement, TableFactor, TableFunctionArgs,
    Value as Literal, WildcardAdditionalOptions,
};

use crate::Dialect;
use crate::expr::word;
use crate::select::{Rows, query};

/// How a database that reads files is told what is in them.
pub enum Columns<'a> {
    /// All columns of the file, with their types, in order.
    All(Vec<(&'a str, &'static str)>),
    /// The types of some columns; there may be others.
    Some(Vec<(&'a str, &'static str)>),
}

/// A view of CSV files with a header, in which nothing stands for a missing value (DuckDB).
pub fn of_csv(name: &str, paths: &[String], columns: &Columns<'_>) -> Statement {
    let dialect = Dialect::DuckDb;
    let (which, columns) = match columns {
        Columns::All(columns) => ("columns", columns),
        Columns::Some(columns) => ("types", columns),
    };
    let field = |&(name, kind): &(&str, &str)| DictionaryField {
        key: Ident::with_quote('\'', dialect.escaped_text(name)),
        value: Box::new(dialect.text(kind).0),
    };
    let args = vec![
        FunctionArg::Unnamed(FunctionArgExpr::Expr(list(dialect, paths))),
        named("header", Expr::Value(Literal::Boolean(true).into())),
        named("nullstr", dialect.text("").0),
        named(which, Expr::Dictionary(columns.iter().map(field).collect())),
    ];
    view(dialect, name, everything_of(function("read_csv", args)))
}

/// A view of Parquet files.
pub fn of_parquet(dialect: Dialect, name: &str, paths: &[String]) -> Statement {
    if dialect != Dialect::Spark {
        let args = vec![FunctionArg::Unnamed(FunctionArgExpr::Expr(list(dialect, paths)))];
        return view(dialect, name, everything_of(function("read_parquet", args)));
    }
    // Spark takes the path of a file for the name of a table.
    let file = |path: &String| {
        let quoted = Ident::with_quote(dialect.name_quote(), dialect.escaped_name(path));
        everything_of(table(ObjectName::from(vec![Ident::new("parquet"), quoted]), None))
    };
    let union = |left: SetExpr, right: SetExpr| SetExpr::SetOperation {
        left: Box::new(left),
        op: SetOperator::Union,
        set_quantifier: SetQuantifier::All,
        right: Box::new(right),
    };
    let all = paths.iter().map(file).reduce(union).unwrap_or_else(|| everything_of(table(word(name), None)));
    view(dialect, name, all)
}

/// A list of texts.
fn list(dialect: Dialect, texts: &[String]) -> Expr {
    Expr::Array(Array { elem: texts.iter().map(|text| dialect.text(text).0).collect(), named: false })
}

fn named(name: &str, arg: Expr) -> FunctionArg {
    let (name, arg) = (Ident::new(name), FunctionArgExpr::Expr(arg));
    FunctionArg::Named { name, arg, operator: FunctionArgOperator::Equals }
}

fn function(name: &str, args: Vec<FunctionArg>) -> TableFactor {
    table(word(name), Some(TableFunctionArgs { args, settings: None }))
}

fn table(name: ObjectName, args: Option<TableFunctionArgs>) -> TableFactor {
    TableFactor::Table {
        name,
        alias: None,
        args,
        with_hints: Vec::new(),
        version: None,
        with_ordinality: false,
        partitions: Vec::new(),
        json_path: None,
        sample: None,
        index_hints: Vec::new(),
    }
}

fn everything_of(from: TableFactor) -> SetExpr {
    Rows::from_factor(from).with(SelectItem::Wildcard(WildcardAdditionalOptions::default())).body()
}

fn view(dialect: Dialect, name: &str, body: SetExpr) -> Statement {
    let name = Ident::with_quote(dialect.name_quote(), dialect.escaped_name(name));
    Statement::CreateView(CreateView {
        or_alter: false,
        or_replace: true,
        materialized: false,
        secure: false,
        name: ObjectName::from(vec![name]),
        name_before_not_exists: false,
        columns: Vec::new(),
        query: Box::new(query(body, None, Vec::new())),
        options: CreateTableOptions::None,
        cluster_by: Vec::new(),
        comment: None,
        with_no_schema_binding: false,
        if_not_exists: false,
        temporary: dialect == Dialect::Spark,
        copy_grants: false,
        to: None,
        params: None,
    })
}
