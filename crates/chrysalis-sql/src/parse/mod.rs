//! SQL text to [`Question`]s (step 1 of `spec.md`).

mod condition;
mod expression;
mod guard;
mod select;
mod version;

use chrysalis_table::{Knob, Remedy};
use sqlparser::dialect::GenericDialect;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Location, Span, Token, TokenWithSpan, Tokenizer};

use chrysalis_query::statement::Statement;
use chrysalis_query::{Position, QueryError, Question};

/// The table name that questions use for every release.
pub const TABLE: &str = "microdata";

const EXAMPLE: &str = "ask, for example: SELECT COUNT(*) FROM microdata WHERE age BETWEEN 40 AND 70";

/// Reads statements separated by `;`.
pub fn statements(text: &str) -> Result<Vec<Statement>, QueryError> {
    let dialect = GenericDialect {};
    let tokens = Tokenizer::new(&dialect, text).tokenize_with_location().map_err(|error| {
        let at = position(error.location);
        QueryError::question(at, format!("the question cannot be read: {}", error.message), EXAMPLE)
    })?;
    let statements = tokens.split(|token| token.token == Token::SemiColon);
    statements.filter(|statement| !is_blank(statement)).map(|tokens| parse_tokens(tokens, &dialect)).collect()
}

/// Reads one plain question, with or without a `;` at its end: aggregates of columns, conditions on columns, and columns
/// in GROUP BY.
pub fn parse_one(text: &str) -> Result<Question, QueryError> {
    let statement = statement(text)?;
    let at = statement.at;
    statement.plain.ok_or_else(|| QueryError::question(at, "this is more than a plain question", EXAMPLE))
}

/// Reads exactly one statement, with or without a `;` at its end.
pub fn statement(text: &str) -> Result<Statement, QueryError> {
    let mut statements = statements(text)?;
    match statements.len() {
        1 => Ok(statements.remove(0)),
        0 => Err(QueryError::question(None, "there is no question", EXAMPLE)),
        n => {
            let problem = format!("there are {n} statements where one is expected");
            let hint = Remedy::from("ask one at a time").where_there_is(
                ", or put them into a file and name it with ",
                Knob::File,
                "",
            );
            Err(QueryError::question(None, problem, hint))
        }
    }
}

fn is_blank(tokens: &[TokenWithSpan]) -> bool {
    tokens.iter().all(|token| matches!(token.token, Token::Whitespace(_) | Token::EOF))
}

fn parse_tokens(tokens: &[TokenWithSpan], dialect: &GenericDialect) -> Result<Statement, QueryError> {
    guard::check(tokens)?;
    let mut parser = Parser::new(dialect).with_tokens_with_locations(version::into_names(tokens)?);
    let statement = parser.parse_statement().map_err(|error| unreadable(&error, tokens))?;
    let rest = parser.peek_token();
    if rest.token != Token::EOF {
        let problem = format!("the question goes on with `{}`, which does not belong there", shown(&rest.token));
        return Err(QueryError::question(position(rest.span.start), problem, EXAMPLE));
    }
    let start = tokens.iter().find(|token| !matches!(token.token, Token::Whitespace(_)));
    select::statement(statement, start.and_then(|token| position(token.span.start)))
}

/// The parser puts the position into its message: `… at Line: 1, Column: 8`.
fn unreadable(error: &ParserError, tokens: &[TokenWithSpan]) -> QueryError {
    let text = match error {
        ParserError::TokenizerError(text) | ParserError::ParserError(text) => text.as_str(),
        ParserError::RecursionLimitExceeded => {
            return QueryError::question(None, "the question is nested too deeply", guard::SIMPLER);
        }
    };
    let (said, at) = match text.rsplit_once(" at Line: ") {
        Some((said, place)) => (said, place.split_once(", Column: ")),
        None => (text, None),
    };
    let at = at.and_then(|(line, column)| {
        position(Location { line: line.trim().parse().ok()?, column: column.trim().parse().ok()? })
    });
    let end = tokens.iter().rev().find(|token| !matches!(token.token, Token::Whitespace(_) | Token::EOF));
    let at = at.or_else(|| position(end?.span.end));
    let said: String = said.trim_start_matches("Expected: ").chars().take(200).collect();
    let problem = if text.starts_with("Expected: ") {
        format!("the question cannot be read: expected {said}")
    } else {
        format!("the question cannot be read: {said}")
    };
    QueryError::question(at, problem, EXAMPLE)
}

fn shown(token: &Token) -> String {
    token.to_string().chars().take(40).collect()
}

/// Line 0 means that the parser does not know.
fn position(location: Location) -> Option<Position> {
    (location.line > 0).then_some(Position { line: location.line, column: location.column })
}

fn start_of(span: Span) -> Option<Position> {
    position(span.start)
}
