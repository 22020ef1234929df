//! The command line that publishes one of the runs.

use chrysalis::{Draft, KindText, Knob, QuasiDraft, ReleaseDraft, Spelling, TaxonomyDraft, WeightsDraft};
use chrysalis_lab::compare::Run;

use crate::args::CompareArgs;
use crate::failure::{Failure, Flags};

/// The command that was typed, from which a command for each run is made.
pub(super) struct TypedCommand<'a> {
    args: &'a CompareArgs,
    /// The settings of the flags alone.
    flags: Draft,
}

impl<'a> TypedCommand<'a> {
    pub(super) fn new(args: &'a CompareArgs) -> Result<Self, Failure> {
        Ok(TypedCommand { args, flags: args.choices.draft()? })
    }

    /// The flags' settings for releases.
    pub(super) fn release(&self) -> &ReleaseDraft {
        &self.flags.release
    }

    /// The command for a run.
    pub(super) fn command(&self, run: &Run) -> String {
        let release = &run.draft.release;
        let named = run.recipe.partitioner().map(str::to_owned);
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
        for (knob, is_turned) in [(Knob::Relaxed, release.relaxed), (Knob::Transparent, release.transparent)] {
            if is_turned == Some(true) {
                line.0.push(Flags.knob(knob, ""));
            }
        }
        line.0.join(" ")
    }

    fn add_table(&self, line: &mut Line) {
        let flags = &self.flags;
        if let Some(name) = &flags.sensitive {
            name.names().iter().for_each(|name| line.add(Knob::Sensitive, name));
        }
        if let Some(names) = &flags.other {
            line.add(Knob::Other, &names.join(","));
        }
        if let Some(name) = &flags.weight {
            line.add(Knob::Weight, name);
        }
        let each = || flags.attributes.iter();
        for (column, said) in each() {
            if let Some(TaxonomyDraft::File(path)) = &said.taxonomy {
                line.add(Knob::Taxonomy, &format!("{column}={}", path.display()));
            }
        }
        for (column, intervals) in each().filter_map(|(column, said)| Some((column, said.intervals.as_ref()?))) {
            line.add(Knob::Intervals, &format!("{column}={}", intervals.texts().join(",")));
        }
        each().filter(|(_, said)| said.prefix).for_each(|(column, _)| line.add(Knob::Prefix, column));
        for (column, categories) in each().filter_map(|(column, said)| Some((column, said.categories.as_ref()?))) {
            let categories: Vec<String> = categories.iter().map(|values| values.join("|")).collect();
            line.add(Knob::Categories, &format!("{column}={}", categories.join(";")));
        }
        if let Some(WeightsDraft::Name(weights)) = &flags.weights {
            line.add(Knob::Weights, weights);
        }
        for (column, values) in each().filter_map(|(column, said)| Some((column, said.ordinary.as_ref()?))) {
            values.iter().for_each(|value| line.add(Knob::Ordinary, &format!("{column}={value}")));
        }
        if flags.ordinary.is_some() {
            line.add(Knob::Ordinary, "none");
        }
        for (column, near) in each().filter_map(|(column, said)| Some((column, said.near.as_ref()?))) {
            line.add(Knob::Near, &format!("{column}={}", near.text()));
        }
        for (column, said) in each() {
            said.prepare.iter().for_each(|step| line.add(Knob::Prepare, &format!("{column}={step}")));
        }
        if let Some(person) = &flags.person {
            line.add(Knob::Person, person);
        }
        if flags.rows_known == Some(true) {
            line.0.push(Flags.knob(Knob::RowsKnown, ""));
        }
        if let Some(rows) = flags.rows_per_person {
            line.add(Knob::RowsPerPerson, &rows.to_string());
        }
        if let Some(key) = &flags.key {
            line.add(Knob::Key, &key.display().to_string());
        }
        if let Some(delimiter) = &flags.delimiter {
            line.add(Knob::Delimiter, delimiter);
        }
        if let Some(encoding) = &flags.encoding {
            line.add(Knob::Encoding, encoding);
        }
        flags.na.iter().flatten().for_each(|text| line.add(Knob::Na, text));
        if let Some(format) = &flags.date_format {
            line.add(Knob::DateFormat, format);
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

/// The words of a command.
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
    release.accept.iter().flatten().for_each(|risk| line.add(Knob::Accept, risk));
    if let Some(column) = &release.group_column {
        line.add(Knob::GroupColumn, column);
    }
    release.bucket_columns.iter().flatten().for_each(|column| line.add(Knob::BucketColumn, column));
    release.marginals.iter().flatten().for_each(|marginal| line.add(Knob::Marginal, &marginal.join(",")));
    release.together.iter().flatten().for_each(|set| line.add(Knob::Together, &set.join(",")));
    if let Some(users) = release.collude {
        line.add(Knob::Collude, &users.to_string());
    }
    if let Some(share) = &release.suppress {
        line.add(Knob::Suppress, &share.text());
    }
    if let Some(file) = &release.population_table {
        line.add(Knob::PopulationTable, &file.display().to_string());
    }
    if let Some(metric) = &release.metric {
        line.add(Knob::Metric, metric);
    }
    if let Some(levels) = &release.levels {
        let levels: Vec<String> = levels.iter().map(|(name, level)| format!("{name}={level}")).collect();
        line.add(Knob::Levels, &levels.join(","));
    }
    if let Some(limit) = &release.time_limit {
        line.add(Knob::TimeLimit, &limit.text());
    }
}

/// A word quoted for a shell.
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
}
