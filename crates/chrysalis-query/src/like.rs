//! LIKE patterns.

/// A pattern, taken apart.
pub(crate) struct Pattern {
    tokens: Vec<PatternToken>,
}

#[derive(Clone, Copy, PartialEq)]
enum PatternToken {
    /// `%`: any text, also none.
    Any,
    /// `_`: any one letter.
    One,
    /// That letter.
    Letter(char),
}

impl Pattern {
    /// Reads a pattern. The escape letter makes a letter of the `%`, `_` or escape letter after it.
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
            // Two `%` say no more than one.
            if token != PatternToken::Any || tokens.last() != Some(&PatternToken::Any) {
                tokens.push(token);
            }
        }
        Ok(Pattern { tokens })
    }

    /// Whether a word has the pattern. Only the last `%` is ever gone back to, so the cost is at most words × pattern.
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
