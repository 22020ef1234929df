//! The command line that publishes one of the runs.

use chrysalis_table::MissingPolicy;

use crate::args::{Choices, CompareArgs};
use crate::spec::{ReleaseSpec, Spec};

/// What to type; `spec` holds the run's release, `written` the one that stands in the file.
pub(super) fn command(
    args: &CompareArgs,
    choices: &Choices,
    spec: &Spec,
    written: &ReleaseSpec,
    partitioner: Option<&str>,
) -> String {
    let release = &spec.release;
    let mut words = vec!["chrysalis".to_owned(), "publish".to_owned(), quoted(&args.file)];
    let mut flag = |name: &str, value: &str| words.extend([name.to_owned(), quoted(value)]);
    for set in &choices.quasi {
        flag("--quasi", set);
    }
    if let (true, [union]) = (choices.quasi.is_empty(), &spec.quasi_identifiers[..]) {
        flag("--quasi", &union.join(","));
    }
    table_flags(choices, &mut flag);
    if let Some(method) = &release.method {
        flag("--method", method);
    }
    if let Some(name) = release.partitioner.as_deref().or(partitioner) {
        flag("--partitioner", name);
    }
    for principle in &release.require {
        flag("--require", principle);
    }
    if let Some(column) = &release.group_column {
        flag("--group-column", column);
    }
    for column in &release.bucket_columns {
        flag("--bucket-column", column);
    }
    for marginal in &release.marginals {
        flag("--marginal", &marginal.join(","));
    }
    if let Some(users) = release.collude {
        flag("--collude", &users.to_string());
    }
    if let Some(share) = &release.suppress {
        flag("--suppress", &share.text());
    }
    if let Some(metric) = &release.metric {
        flag("--metric", metric);
    }
    if let Some(limit) = &release.time_limit {
        flag("--time-limit", &limit.text());
    }
    if let Some(seed) = args.seed {
        flag("--seed", &seed.to_string());
    }
    flag("--out", "release");
    if release.relaxed {
        words.push("--relaxed".to_owned());
    }
    let line = words.join(" ");
    let is_left = written.partitioner.is_some() && release.partitioner.is_none() && partitioner.is_none();
    let mut keys = in_the_way(written, release);
    keys.extend(is_left.then_some("partitioner"));
    match keys {
        keys if keys.is_empty() => line,
        keys => format!("# first remove from [release] in the spec: {}\n{line}", keys.join(", ")),
    }
}

fn table_flags(choices: &Choices, flag: &mut impl FnMut(&str, &str)) {
    if let Some(name) = &choices.sensitive {
        flag("--sensitive", name);
    }
    if !choices.other.is_empty() {
        flag("--other", &choices.other.join(","));
    }
    for (column, path) in &choices.taxonomies {
        flag("--taxonomy", &format!("{column}={}", path.display()));
    }
    for (column, widths) in &choices.intervals {
        let widths: Vec<String> = widths.iter().map(ToString::to_string).collect();
        flag("--intervals", &format!("{column}={}", widths.join(",")));
    }
    for column in &choices.prefixes {
        flag("--prefix", column);
    }
    for (column, categories) in &choices.categories {
        let categories: Vec<String> = categories.iter().map(|values| values.join("|")).collect();
        flag("--categories", &format!("{column}={}", categories.join(";")));
    }
    if let Some(weights) = &choices.weights {
        flag("--weights", weights);
    }
    let read = &choices.read;
    match read.delimiter {
        Some(b'\t') => flag("--delimiter", "tab"),
        Some(byte) => flag("--delimiter", &char::from(byte).to_string()),
        None => {}
    }
    match read.missing {
        Some(MissingPolicy::AsValue) => flag("--missing", "as-value"),
        Some(MissingPolicy::Drop) => flag("--missing", "drop"),
        Some(MissingPolicy::Error) => flag("--missing", "error"),
        None => {}
    }
    for (column, kind) in &read.kinds {
        flag("--kind", &format!("{column}={kind}"));
    }
    for (column, order) in &read.orders {
        flag("--order", &format!("{column}={}", order.join(",")));
    }
}

/// Keys of `[release]` that no flag can take back.
fn in_the_way(written: &ReleaseSpec, release: &ReleaseSpec) -> Vec<&'static str> {
    let keys = [
        ("relaxed", written.relaxed && !release.relaxed),
        ("group_column", written.group_column.is_some() && release.group_column.is_none()),
        ("bucket_columns", !written.bucket_columns.is_empty() && release.bucket_columns.is_empty()),
        ("marginals", !written.marginals.is_empty() && release.marginals.is_empty()),
        ("collude", written.collude.is_some() && release.collude.is_none()),
        ("suppress", written.suppress.is_some() && release.suppress.is_none()),
        ("metric", written.metric.is_some() && release.metric.is_none()),
        ("time_limit", written.time_limit.is_some() && release.time_limit.is_none()),
    ];
    keys.into_iter().filter(|(_, is_left)| *is_left).map(|(key, _)| key).collect()
}

/// A word as a shell wants it.
fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_./=,:+@%".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_a_shell_would_split_them() {
        for (word, text) in [("l=4", "l=4"), ("a b", "'a b'"), ("", "''"), ("it's", "'it'\\''s'"), ("$x", "'$x'")] {
            assert_eq!(quoted(word), text);
        }
    }

    #[test]
    fn what_a_flag_cannot_take_back_is_named() {
        let written = ReleaseSpec { relaxed: true, metric: Some("dm".into()), ..ReleaseSpec::default() };
        assert_eq!(in_the_way(&written, &ReleaseSpec::default()), ["relaxed", "metric"]);
        assert!(in_the_way(&written, &written).is_empty());
    }
}
