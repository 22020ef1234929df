//! The command line that publishes one of the runs.

use chrysalis::{Draft, KindText, Knob, QuasiDraft, ReleaseDraft, Spelling, TaxonomyDraft, WeightsDraft, files};
use chrysalis_lab::compare::Run;

use crate::args::CompareArgs;
use crate::failure::{Failure, Flags};

/// What was typed and what stands in the file: all that a command for one of the runs must tell apart.
pub(super) struct Typed<'a> {
    args: &'a CompareArgs,
    /// What the flags alone say.
    flags: Draft,
    /// What `[release]` says in the spec, if there is one.
    written: ReleaseDraft,
}

impl<'a> Typed<'a> {
    pub(super) fn new(args: &'a CompareArgs) -> Result<Self, Failure> {
        let written = files::draft(&args.file)?.release;
        Ok(Typed { args, flags: args.choices.draft()?, written })
    }

    /// What to type for a run.
    pub(super) fn command(&self, run: &Run) -> String {
        let release = &run.draft.release;
        let has_users = run.recipe.form().shape().has_users;
        let named = (!has_users).then(|| run.recipe.partitioner().to_owned());
        let partitioner = release.partitioner.clone().or(named);
        let mut line = Line(vec!["chrysalis".to_owned(), "publish".to_owned(), quoted(&self.args.file)]);
        match (&run.draft.quasi, run.draft.quasi_identifiers.as_slice()) {
            (Some(QuasiDraft::One(names)), _) => line.add(Knob::Quasi, &names.join(",")),
            (Some(QuasiDraft::Several(sets)), _) => {
                sets.iter().for_each(|names| line.add(Knob::Quasi, &names.join(",")));
            }
            (None, [union]) => line.add(Knob::Quasi, &union.join(",")),
            (None, _) => {}
        }
        self.add_table(&mut line);
        add_release(&mut line, release, partitioner.as_deref());
        if let Some(seed) = self.args.seed {
            line.add(Knob::Seed, &seed.to_string());
        }
        line.add(Knob::Out, "release");
        if release.relaxed == Some(true) {
            line.0.push(Flags.knob(Knob::Relaxed, ""));
        }
        let is_left = self.written.partitioner.is_some() && partitioner.is_none();
        let mut keys = in_the_way(&self.written, release);
        keys.extend(is_left.then_some("partitioner"));
        let line = line.0.join(" ");
        match keys {
            keys if keys.is_empty() => line,
            keys => format!("# first remove from [release] in the spec: {}\n{line}", keys.join(", ")),
        }
    }

    fn add_table(&self, line: &mut Line) {
        let flags = &self.flags;
        if let Some(name) = &flags.sensitive {
            line.add(Knob::Sensitive, name);
        }
        if let Some(names) = &flags.other {
            line.add(Knob::Other, &names.join(","));
        }
        let each = || flags.attributes.iter();
        for (column, said) in each() {
            if let Some(TaxonomyDraft::File(path)) = &said.taxonomy {
                line.add(Knob::Taxonomy, &format!("{column}={}", path.display()));
            }
        }
        for (column, widths) in each().filter_map(|(column, said)| Some((column, said.intervals.as_ref()?))) {
            let widths: Vec<String> = widths.iter().map(ToString::to_string).collect();
            line.add(Knob::Intervals, &format!("{column}={}", widths.join(",")));
        }
        each().filter(|(_, said)| said.prefix).for_each(|(column, _)| line.add(Knob::Prefix, column));
        for (column, categories) in each().filter_map(|(column, said)| Some((column, said.categories.as_ref()?))) {
            let categories: Vec<String> = categories.iter().map(|values| values.join("|")).collect();
            line.add(Knob::Categories, &format!("{column}={}", categories.join(";")));
        }
        if let Some(WeightsDraft::Name(weights)) = &flags.weights {
            line.add(Knob::Weights, weights);
        }
        if let Some(delimiter) = &flags.delimiter {
            line.add(Knob::Delimiter, delimiter);
        }
        if let Some(policy) = &flags.missing {
            line.add(Knob::Missing, policy);
        }
        for (column, KindText(kind)) in each().filter_map(|(column, said)| Some((column, said.kind?))) {
            line.add(Knob::Kind, &format!("{column}={kind}"));
        }
        for (column, said) in each().filter(|(_, said)| !said.order.is_empty()) {
            line.add(Knob::Order, &format!("{column}={}", said.order.join(",")));
        }
    }
}

/// Words of a command.
struct Line(Vec<String>);

impl Line {
    fn add(&mut self, knob: Knob, value: &str) {
        self.0.extend([Flags.knob(knob, ""), quoted(value)]);
    }
}

fn add_release(line: &mut Line, release: &ReleaseDraft, partitioner: Option<&str>) {
    if let Some(method) = &release.method {
        line.add(Knob::Method, method);
    }
    if let Some(name) = partitioner {
        line.add(Knob::Partitioner, name);
    }
    release.require.iter().flatten().for_each(|principle| line.add(Knob::Require, principle));
    if let Some(column) = &release.group_column {
        line.add(Knob::GroupColumn, column);
    }
    release.bucket_columns.iter().flatten().for_each(|column| line.add(Knob::BucketColumn, column));
    release.marginals.iter().flatten().for_each(|marginal| line.add(Knob::Marginal, &marginal.join(",")));
    if let Some(users) = release.collude {
        line.add(Knob::Collude, &users.to_string());
    }
    if let Some(share) = &release.suppress {
        line.add(Knob::Suppress, &share.text());
    }
    if let Some(metric) = &release.metric {
        line.add(Knob::Metric, metric);
    }
    if let Some(limit) = &release.time_limit {
        line.add(Knob::TimeLimit, &limit.text());
    }
}

/// Keys of `[release]` that no flag can take back.
fn in_the_way(written: &ReleaseDraft, release: &ReleaseDraft) -> Vec<&'static str> {
    let is_listed = |list: Option<usize>| list.unwrap_or(0) > 0;
    let columns = |it: &ReleaseDraft| is_listed(it.bucket_columns.as_ref().map(Vec::len));
    let marginals = |it: &ReleaseDraft| is_listed(it.marginals.as_ref().map(Vec::len));
    let keys = [
        ("relaxed", written.relaxed == Some(true) && release.relaxed != Some(true)),
        ("group_column", written.group_column.is_some() && release.group_column.is_none()),
        ("bucket_columns", columns(written) && !columns(release)),
        ("marginals", marginals(written) && !marginals(release)),
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
        let written = ReleaseDraft { relaxed: Some(true), metric: Some("dm".into()), ..ReleaseDraft::default() };
        assert_eq!(in_the_way(&written, &ReleaseDraft::default()), ["relaxed", "metric"]);
        assert!(in_the_way(&written, &written).is_empty());
    }
}
