//! How Python spells a knob.

use chrysalis::{Knob, Spelling};

/// Keywords of a call: `quasi=["age", "sex"]`.
pub(crate) struct Keywords;

impl Spelling for Keywords {
    fn knob(&self, knob: Knob, value: &str) -> String {
        let name = keyword(knob);
        match (value, shape(knob)) {
            (_, Shape::Switch) => format!("`{name}=True`"),
            ("", _) => format!("`{name}`"),
            (value, Shape::Names) => format!("`{name}=[{}]`", quoted(value.split(','))),
            (value, Shape::Sets) => format!("`{name}=[[{}]]`", quoted(value.split(','))),
            (value, Shape::Texts) => format!("`{name}=[{}]`", quoted(std::iter::once(value))),
            (value, Shape::Columns) => of_column(name, value),
            (value, Shape::Categories) => categories(name, value),
            (value, Shape::One) => choices(name, value),
        }
    }

    fn manual(&self) -> String {
        "`help(chrysalis.publish)`".to_owned()
    }

    /// What the command takes out of files, and a script does itself, needs no keyword.
    fn has(&self, knob: Knob) -> bool {
        !matches!(knob, Knob::File | Knob::Schema | Knob::Data | Knob::Report)
    }
}

/// What a keyword takes.
enum Shape {
    /// `force=True`
    Switch,
    /// `quasi=["a", "b"]`
    Names,
    /// `together=[["a", "b"]]`
    Sets,
    /// `require=["ke=4,1000"]`, in which a comma belongs to the text.
    Texts,
    /// `near={"wage": 1000}`
    Columns,
    /// `categories={"disease": [["HIV", "cancer"], ["flu"]]}`
    Categories,
    /// `method="anatomy"`
    One,
}

fn shape(knob: Knob) -> Shape {
    match knob {
        Knob::Relaxed | Knob::Transparent | Knob::RowsKnown | Knob::Force => Shape::Switch,
        Knob::Quasi | Knob::Sensitive | Knob::Other | Knob::BucketColumn | Knob::Attributes => Shape::Names,
        Knob::Marginal | Knob::Together => Shape::Sets,
        Knob::Require | Knob::Accept | Knob::Na | Knob::With => Shape::Texts,
        Knob::Categories => Shape::Categories,
        Knob::Levels | Knob::Taxonomy | Knob::Intervals | Knob::Prefix | Knob::Weights => Shape::Columns,
        Knob::Ordinary | Knob::Near | Knob::Kind | Knob::Order | Knob::Prepare => Shape::Columns,
        _ => Shape::One,
    }
}

/// The name of the keyword, which differs from the knob's where Python takes a list or an object.
pub(crate) fn keyword(knob: Knob) -> &'static str {
    match knob {
        Knob::BucketColumn => "bucket_columns",
        Knob::Marginal => "marginals",
        Knob::With => "others",
        Knob::Out => "folder",
        Knob::Table => "from_table",
        other => other.name(),
    }
}

/// `near={"wage": 1000}` for `wage=1000`, and the text itself if no column is named.
fn of_column(name: &str, value: &str) -> String {
    let Some((column, value)) = value.split_once('=') else { return format!("`{name}=\"{value}\"`") };
    let value = match value.split_once(',') {
        Some(_) => format!("[{}]", value.split(',').map(literal).collect::<Vec<_>>().join(", ")),
        None => literal(value),
    };
    format!("`{name}={{\"{column}\": {value}}}`")
}

/// `categories={"disease": [["HIV", "cancer"], ["flu"]]}` for `disease=HIV|cancer;flu`.
fn categories(name: &str, value: &str) -> String {
    let (column, lists) = value.split_once('=').unwrap_or(("COLUMN", value));
    let lists: Vec<String> = lists.split(';').map(|list| format!("[{}]", quoted(list.split('|')))).collect();
    format!("`{name}={{\"{column}\": [{}]}}`", lists.join(", "))
}

/// A value, or several of which one is to be chosen: `a, b or c`.
fn choices(name: &str, value: &str) -> String {
    let parts: Vec<&str> = value.split(" or ").flat_map(|part| part.split(", ")).collect();
    match parts.as_slice() {
        [one] => format!("`{name}={}`", literal(one)),
        [rest @ .., last] => {
            let rest: Vec<String> = rest.iter().map(|part| literal(part)).collect();
            format!("`{name}={}` or `{}`", rest.join("`, `"), literal(last))
        }
        [] => format!("`{name}`"),
    }
}

fn literal(value: &str) -> String {
    let value = value.trim();
    if value.parse::<f64>().is_ok_and(f64::is_finite) { value.to_owned() } else { format!("\"{value}\"") }
}

fn quoted<'a>(values: impl Iterator<Item = &'a str>) -> String {
    values.map(|value| format!("\"{}\"", value.trim())).collect::<Vec<_>>().join(", ")
}
