//! LIKE patterns.

/// A parsed pattern.
pub(crate) struct Pattern {
    tokens: Vec<PatternToken>,
}

#[derive(Clone, Copy, PartialEq)]
enum PatternToken {
    /// `%`: any text, even none.
    Any,
    /// `_`: any single character.
    One,
    /// This character.
    Letter(char),
}

impl Pattern {
    /// Parses a pattern. After the escape character, `%`, `_` and the escape character itself stand for themselves.
    pub(crate) fn new(text: &str, escape: Option<char>) -> Result<Self, String> {
        let mut tokens = Vec::new();
        let mut letters = text.chars();
        while let Some(letter) = letters.next() {
            let token = if Some(letter) == escape {
                match letters.next() {
                    Some(next) if next == '%' || next == '_' || Some(next) == escape => PatternToken::Letter(next),
                    _ => return Err(format!("the escape letter `{letter}` of the pattern escapes nothing")),
                }
            } else {
                match letter {
                    '%' => PatternToken::Any,
                    '_' => PatternToken::One,
                    letter => PatternToken::Letter(letter),
                }
            };
            // Two `%` in a row mean the same as one.
            if token != PatternToken::Any || tokens.last() != Some(&PatternToken::Any) {
                tokens.push(token);
            }
        }
        Ok(Pattern { tokens })
    }

    /// Whether a word matches the pattern. Backtracks only to the last `%`, so the cost is at most word × pattern.
    pub(crate) fn matches(&self, word: &str) -> bool {
        let letters: Vec<char> = word.chars().collect();
        let (mut at, mut token, mut back) = (0, 0, None);
        while at < letters.len() {
            match self.tokens.get(token) {
                Some(PatternToken::Any) => {
                    back = Some((at, token));
                    token += 1;
                    continue;
                }
                Some(PatternToken::One) => (at, token) = (at + 1, token + 1),
                Some(PatternToken::Letter(letter)) if *letter == letters[at] => (at, token) = (at + 1, token + 1),
                _ => match &mut back {
                    None => return false,
                    Some((from, any)) => {
                        *from += 1;
                        (at, token) = (*from, *any + 1);
                    }
                },
            }
        }
        self.tokens[token..].iter().all(|token| *token == PatternToken::Any)
    }
}

#[cfg(test)]
mod tests {
    use super::Pattern;

    #[test]
    fn patterns_match_as_in_sql() {
        let check = |word: &str, pattern: &str, expected: bool| {
            assert_eq!(Pattern::new(pattern, Some('\\')).unwrap().matches(word), expected, "{word} LIKE {pattern}");
        };
        check("Flu", "Flu", true);
        check("Flu", "flu", false);
        check("Flu", "F%", true);
        check("Flu", "%l%", true);
        check("Flu", "___", true);
        check("Flu", "____", false);
        check("", "%", true);
        check("", "_", false);
        check("", "", true);
        check("aab", "%ab", true);
        check("abab", "%ab%b", true);
        check("abc", "a%%c", true);
        check("50%", "50\\%", true);
        check("500", "50\\%", false);
        check("Grippe é", "%_é", true);
        assert!(Pattern::new("a\\", Some('\\')).is_err());
    }
}
