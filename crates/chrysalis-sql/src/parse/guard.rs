//! Statements that are refused before parsing: a deep or huge tree would cost stack and time to build and drop.

use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan};

use super::position;
use chrysalis_query::QueryError;

/// Levels of parentheses.
const MAX_DEPTH: usize = 32;
/// Operators, connectives, functions and the like: everything but names, constants and the commas between them.
const MAX_JOINTS: usize = 2_000;
/// Tokens of any kind.
const MAX_TOKENS: usize = 100_000;

pub(super) const SIMPLER: &str = "ask a simpler question, or several";

pub(super) fn check(tokens: &[TokenWithSpan]) -> Result<(), QueryError> {
    let (mut depth, mut joints, mut n_tokens) = (0_usize, 0, 0);
    let mut previous = &Token::Comma;
    for token in tokens.iter().filter(|token| !matches!(token.token, Token::Whitespace(_))) {
        n_tokens += 1;
        let refuse = |problem: String| Err(QueryError::question(position(token.span.start), problem, SIMPLER));
        match &token.token {
            Token::LParen | Token::LBracket | Token::LBrace => depth += 1,
            Token::RParen | Token::RBracket | Token::RBrace => depth = depth.saturating_sub(1),
            _ => {}
        }
        joints += usize::from(is_joint(&token.token, previous));
        if depth > MAX_DEPTH {
            return refuse(format!("parentheses are nested more than {MAX_DEPTH} deep"));
        }
        if joints > MAX_JOINTS {
            return refuse(format!("the question has more than {MAX_JOINTS} conditions and operators"));
        }
        if n_tokens > MAX_TOKENS {
            return refuse(format!("the question has more than {MAX_TOKENS} words, numbers and signs"));
        }
        previous = &token.token;
    }
    Ok(())
}

fn is_joint(token: &Token, previous: &Token) -> bool {
    match token {
        Token::Word(word) => word.keyword != Keyword::NoKeyword,
        Token::Number(..) | Token::SingleQuotedString(_) | Token::Comma | Token::EOF => false,
        // A sign, not a subtraction.
        Token::Minus | Token::Plus => !matches!(previous, Token::Comma | Token::LParen),
        _ => true,
    }
}
