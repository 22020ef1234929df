//! Numbers as people read them.

/// `1234567` as `1,234,567`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let comma = |at: usize| if at > 0 && (digits.len() - at).is_multiple_of(3) { "," } else { "" };
    digits.char_indices().map(|(at, digit)| format!("{}{digit}", comma(at))).collect()
}

/// `1 row`, `2,000 rows`.
pub fn counted(number: u64, thing: &str) -> String {
    let ending = match number {
        1 => "",
        _ if thing.ends_with('s') || thing.ends_with("ch") => "es",
        _ => "s",
    };
    format!("{} {thing}{ending}", count(number))
}

/// A part of a whole in percent. One that is there is never written as nothing.
pub fn share_of(part: u64, whole: u64) -> String {
    percent(part as f64 / whole.max(1) as f64)
}

/// A share in percent. One that is there is never written as nothing.
pub fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    let digits = if percent > 0.0 && percent < 0.1 { 1 + (-percent.log10()).floor() as usize } else { 1 };
    format!("{percent:.digits$} %")
}

/// Enough digits to distinguish two releases, and no more.
pub fn number(value: f64) -> String {
    if value == 0.0 {
        "0".into()
    } else if value.abs() < 0.000_05 {
        format!("{value:.0e}")
    } else if value.abs() >= 1000.0 {
        format!("{value:.1}")
    } else {
        format!("{value:.4}")
    }
}

/// JSON as names and values, one line per leaf: the form of a report for spreadsheets.
pub fn flatten(prefix: &str, value: &serde_json::Value) -> Vec<Vec<String>> {
    let join = |key: &str| if prefix.is_empty() { key.to_owned() } else { format!("{prefix}.{key}") };
    match value {
        serde_json::Value::Object(map) => map.iter().flat_map(|(key, value)| flatten(&join(key), value)).collect(),
        serde_json::Value::Array(items) => {
            items.iter().enumerate().flat_map(|(at, value)| flatten(&join(&at.to_string()), value)).collect()
        }
        serde_json::Value::String(text) => vec![vec![prefix.to_owned(), text.clone()]],
        serde_json::Value::Null => vec![vec![prefix.to_owned(), String::new()]],
        other => vec![vec![prefix.to_owned(), other.to_string()]],
    }
}

/// A record of a CSV file.
pub fn csv_line(fields: &[String]) -> String {
    let quoted = |field: &String| {
        if field.contains([',', '"', '\n', '\r']) {
            format!("\"{}\"", field.replace('"', "\"\""))
        } else {
            field.clone()
        }
    };
    let mut line = fields.iter().map(quoted).collect::<Vec<_>>().join(",");
    line.push('\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_that_is_there_is_never_nothing() {
        let cases = [
            (0, 9, "0.0 %"),
            (3, 9, "33.3 %"),
            (4, 20_000, "0.02 %"),
            (1, 30_000_000, "0.000003 %"),
            (9, 9, "100.0 %"),
        ];
        for (part, whole, text) in cases {
            assert_eq!(share_of(part, whole), text);
        }
    }

    #[test]
    fn counts_are_grouped_by_three() {
        for (number, text) in [(0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(count(number), text);
        }
        assert_eq!(
            (counted(1, "batch"), counted(2, "batch"), counted(3, "class")),
            ("1 batch".into(), "2 batches".into(), "3 classes".into())
        );
    }

    #[test]
    fn csv_fields_are_quoted_where_needed() {
        assert_eq!(csv_line(&["a,b".into(), "c\"d".into(), "e".into()]), "\"a,b\",\"c\"\"d\",e\n");
    }
}
