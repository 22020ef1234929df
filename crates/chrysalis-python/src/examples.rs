//! What keywords look like, for whoever wrote one in another way.

use chrysalis::catalogue::PRINCIPLES;

/// How a keyword is written, for example.
pub(crate) fn example(keyword: &str) -> Option<&'static str> {
    Some(match keyword {
        "quasi" => r#"quasi=["age", "sex"]"#,
        "sensitive" => r#"sensitive=["disease"]"#,
        "other" => r#"other=["ward"]"#,
        "require" => r#"require=["k=10", "l=4"]"#,
        "accept" => r#"accept=["disclosure"]"#,
        "na" => r#"na=["?", "unknown"]"#,
        "kind" => r#"kind={"zip_code": "category"}"#,
        "order" => r#"order={"size": ["small", "large"]}"#,
        "prepare" => r#"prepare={"age": "top:90"}"#,
        "taxonomy" => r#"taxonomy={"sex": [["F", "*"], ["M", "*"]]}"#,
        "intervals" => r#"intervals={"age": [5, 10]}"#,
        "prefix" => r#"prefix=["zip_code"]"#,
        "near" => r#"near={"cost": 1000}"#,
        "ordinary" => r#"ordinary={"disease": ["none"]}"#,
        "categories" => r#"categories={"disease": [["HIV", "cancer"], ["flu"]]}"#,
        "levels" => r#"levels={"age": 1}"#,
        "marginals" => r#"marginals=[["age"], ["age", "sex"]]"#,
        "together" => r#"together=[["disease", "cost"]]"#,
        "bucket_columns" => r#"bucket_columns=["bucket"]"#,
        "runs" => r#"runs=[{"require": ["l=2"]}, {"require": ["l=4"]}]"#,
        "attributes" => r#"attributes={"zip_code": {"kind": "category"}}"#,
        "collude" => "collude=2",
        "rows_per_person" => "rows_per_person=3",
        _ => return None,
    })
}

/// The principle that a keyword sounds like: `require=["k=10"]` for `k`.
pub(crate) fn principle(keyword: &str) -> Option<&'static str> {
    let name = |example: &'static str| example.split_once('=').map_or(example, |(name, _)| name);
    PRINCIPLES.iter().map(|entry| entry.example).find(|example| name(example).replace('-', "_") == keyword)
}

/// An error of serde in the words of Python: `expected a list, but this is a dictionary`.
pub(crate) fn plainly(error: &str) -> String {
    let Some((found, expected)) = error.strip_prefix("invalid type: ").and_then(|it| it.split_once(", expected "))
    else {
        return error.to_owned();
    };
    let found = match found.split_once(' ') {
        None if found == "map" => "a dictionary".to_owned(),
        None if found == "sequence" => "a list".to_owned(),
        Some(("boolean", said)) => if said == "`true`" { "True" } else { "False" }.to_owned(),
        Some(("string", said)) => format!("the text {said}"),
        Some(("integer", said)) => format!("the number {}", said.trim_matches('`')),
        _ => found.to_owned(),
    };
    let expected = match expected {
        "a sequence" => "a list",
        "a map" => "a dictionary",
        "a string" => "a text",
        "a boolean" => "True or False",
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number",
        "f64" => "a number",
        other if other.starts_with("struct ") => "a dictionary",
        other => other,
    };
    format!("expected {expected}, but this is {found}")
}
