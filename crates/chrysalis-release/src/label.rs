/// The label of a set of values: the value itself where there is one, `{F,M}` where there are several.
///
/// Values come sorted; an empty text is the missing value. A value that could be taken for a set, or that would break
/// one up, is quoted inside braces, so that two different sets never share a label.
pub fn set_label<'a>(values: impl ExactSizeIterator<Item = &'a str>) -> String {
    if values.len() == 1 {
        // PROOF: the length says that there is one.
        let value = values.into_iter().next().unwrap_or_default();
        return if value.starts_with(['{', '"']) { format!("{{{}}}", quoted(value)) } else { value.to_owned() };
    }
    let parts: Vec<String> =
        values.map(|value| if is_plain(value) { value.to_owned() } else { quoted(value) }).collect();
    format!("{{{}}}", parts.join(","))
}

fn is_plain(value: &str) -> bool {
    !value.is_empty() && value == value.trim() && !value.contains(['{', '}', ',', '"', '\\'])
}

fn quoted(value: &str) -> String {
    format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::set_label;

    #[test]
    fn different_sets_have_different_labels() {
        let check = |values: &[&str], label: &str| assert_eq!(set_label(values.iter().copied()), label);
        check(&["F"], "F");
        check(&["F", "M"], "{F,M}");
        check(&["{F,M}"], "{\"{F,M}\"}");
        check(&["", "F"], "{\"\",F}");
        check(&["a,b", "c"], "{\"a,b\",c}");
        check(&["a\"b", "c\\"], "{\"a\\\"b\",\"c\\\\\"}");
        check(&[""], "");
    }
}
