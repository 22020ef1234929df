//! Labels that say what they stand for.

use std::collections::BTreeSet;

use chrysalis_release::set_label;

/// The values of a label such as `{a,b}` or `{"",a}`; `None` for a label that is not written exactly like a set, such
/// as a node of a taxonomy.
pub(super) fn set(label: &str) -> Option<BTreeSet<String>> {
    let mut rest = label.strip_prefix('{')?;
    let mut values = Vec::new();
    loop {
        let (value, after) = if rest.starts_with('"') { quoted(rest)? } else { plain(rest)? };
        values.push(value);
        match after.strip_prefix(',') {
            Some(next) => rest = next,
            None if after == "}" => break,
            None => return None,
        }
    }
    let is_a_set = set_label(values.iter().map(String::as_str)) == label;
    is_a_set.then(|| values.into_iter().collect())
}

/// A value up to the next comma or brace, and what follows it.
fn plain(text: &str) -> Option<(String, &str)> {
    let end = text.find([',', '}'])?;
    Some((text[..end].to_owned(), &text[end..]))
}

/// A value in quotes, in which a backslash escapes quotes and backslashes, and what follows it.
fn quoted(text: &str) -> Option<(String, &str)> {
    let inside = text.strip_prefix('"')?;
    let mut value = String::new();
    let mut letters = inside.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return Some((value, &inside[at + 1..])),
            '\\' => value.push(letters.next()?.1),
            letter => value.push(letter),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_sets_are_taken_for_sets() {
        let check = |label: &str, values: &[&str]| {
            assert_eq!(set(label), Some(values.iter().map(|value| (*value).to_owned()).collect()), "{label}");
        };
        check("{F,M}", &["F", "M"]);
        check("{\"\",F}", &["", "F"]);
        check("{\"a,b\",c}", &["a,b", "c"]);
        check("{\"{F,M}\"}", &["{F,M}"]);
        check("{\"a\\\"b\",\"c\\\\\"}", &["a\"b", "c\\"]);
        for label in [
            "",
            "F",
            "*",
            "{",
            "{}",
            "{F",
            "{F}",
            "{F,}",
            "{young}",
            "{a},{b}",
            "{F,M}x",
            "{\"F,M}",
            "{\"F\",M}",
            "{\"\\",
        ] {
            assert_eq!(set(label), None, "{label}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 200, ..ProptestConfig::default() })]

        #[test]
        fn what_publishing_writes_is_read_back(values in prop::collection::btree_set("[ab{},\"\\\\ é]{0,4}", 2..5)) {
            let label = set_label(values.iter().map(String::as_str));
            prop_assert_eq!(set(&label), Some(values));
        }

        #[test]
        fn no_text_breaks_it(label in "[{][ab{},\"\\\\é]{0,8}") {
            if let Some(values) = set(&label) {
                prop_assert!(!values.is_empty());
            }
        }
    }
}
