//! LIKE patterns.

/// A pattern, taken apart.
pub(crate) struct Pattern {
    parts: Vec<Part>,
}

#[derive(Clone, Copy, PartialEq)]
enum Part {
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
        let mut parts = Vec::new();
        let mut letters = text.chars();
        while let Some(letter) = letters.next() {
            let part = if Some(letter) == escape {
                match letters.next() {
                    Some(next) if next == '%' || next == '_' || Some(next) == escape => Part::Letter(next),
                    _ => return Err(format!("the escape letter `{letter}` of the pattern escapes nothing")),
                }
            } else {
                match letter {
                    '%' => Part::Any,
                    '_' => Part::One,
                    letter => Part::Letter(letter),
                }
            };
            // Two `%` say no more than one.
            if part != Part::Any || parts.last() != Some(&Part::Any) {
                parts.push(part);
            }
        }
        Ok(Pattern { parts })
    }

    /// Whether a word has the pattern. Only the last `%` is ever gone back to, so the cost is at most words × pattern.
    pub(crate) fn matches(&self, word: &str) -> bool {
        let letters: Vec<char> = word.chars().collect();
        let (mut at, mut part, mut back) = (0, 0, None);
        while at < letters.len() {
            match self.parts.get(part) {
                Some(Part::Any) => {
                    back = Some((at, part));
                    part += 1;
                    continue;
                }
                Some(Part::One) => (at, part) = (at + 1, part + 1),
                Some(Part::Letter(letter)) if *letter == letters[at] => (at, part) = (at + 1, part + 1),
                _ => match &mut back {
                    None => return false,
                    Some((from, any)) => {
                        *from += 1;
                        (at, part) = (*from, *any + 1);
                    }
                },
            }
        }
        self.parts[part..].iter().all(|part| *part == Part::Any)
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
