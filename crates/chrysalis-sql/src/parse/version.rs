//! `microdata VERSION AS OF 3`, as databases with versions of tables write it.
//!
//! The parser knows these words in dialects of SQL that understand less of the rest. So they become a part of the table's
//! name before parsing, `microdata."3"`, and [`of_name`] reads them there.

use sqlparser::ast::{ObjectName, ObjectNamePart};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan, Word};

use super::{TABLE, position};
use chrysalis_query::QueryError;

/// The tokens with versions as parts of names.
pub(super) fn into_names(tokens: &[TokenWithSpan]) -> Result<Vec<TokenWithSpan>, QueryError> {
    let mut named: Vec<TokenWithSpan> = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        named.push(token.clone());
        at += 1;
        let version = if is_table(&token.token) { version_after(tokens, at)? } else { None };
        if let Some((version, end)) = version {
            let word = Word { value: version, quote_style: Some('"'), keyword: Keyword::NoKeyword };
            let parts = [Token::Period, Token::Word(word)];
            named.extend(parts.map(|part| TokenWithSpan { token: part, span: token.span }));
            at = end;
        }
    }
    Ok(named)
}

fn is_table(token: &Token) -> bool {
    matches!(token, Token::Word(word) if word.value.eq_ignore_ascii_case(TABLE))
}

/// The number in `VERSION AS OF 3`, and where the tokens go on; `None` if there are no such words.
fn version_after(tokens: &[TokenWithSpan], from: usize) -> Result<Option<(String, usize)>, QueryError> {
    let rest = (from..).zip(&tokens[from..]).filter(|(_, token)| !matches!(token.token, Token::Whitespace(_)));
    let mut rest = rest.map(|(at, token)| (at, &token.token));
    for keyword in [Keyword::VERSION, Keyword::AS, Keyword::OF] {
        let is_it =
            |token: &Token| matches!(token, Token::Word(word) if word.keyword == keyword && word.quote_style.is_none());
        if !rest.next().is_some_and(|(_, token)| is_it(token)) {
            return Ok(None);
        }
    }
    match rest.next() {
        Some((at, Token::Number(digits, false))) if digits.parse::<u64>().is_ok() => Ok(Some((digits.clone(), at + 1))),
        found => {
            let at = found.and_then(|(at, _)| position(tokens[at].span.start));
            let problem = "VERSION AS OF takes the number of a release in its series";
            Err(QueryError::question(at, problem, "write FROM microdata VERSION AS OF 3"))
        }
    }
}

/// If it is a name of the microdata: the version that it asks for, if it names one.
pub(super) fn of_name(name: &ObjectName) -> Option<Option<u64>> {
    let is_it = |part: &ObjectNamePart| matches!(part, ObjectNamePart::Identifier(ident) if ident.value.eq_ignore_ascii_case(TABLE));
    match name.0.as_slice() {
        [table] if is_it(table) => Some(None),
        [table, ObjectNamePart::Identifier(version)] if is_it(table) => version.value.parse().ok().map(Some),
        _ => None,
    }
}

/// Text in lower case, with versions as they were written.
pub(super) fn as_written(text: &str) -> String {
    let start = format!("{TABLE}.\"");
    let mut parts = text.split(start.as_str());
    let mut written = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (version, rest) = part.split_once('"').unwrap_or((part, ""));
        written.push_str(&format!("{TABLE} version as of {version}{rest}"));
    }
    written
}
