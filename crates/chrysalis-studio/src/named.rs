//! Every file that a draft can name. A page may name none of them but the place of the owner's key.

use std::path::{Path, PathBuf};

use chrysalis::{AttributeDraft, CompareDraft, Draft, ReleaseDraft, RunDraft, TaxonomyDraft};

/// The files that a draft names.
pub(crate) struct Named<'a> {
    /// The table.
    pub(crate) input: Option<&'a Path>,
    /// The owner's key, whose place is typed by the owner.
    pub(crate) key: Option<&'a Path>,
    /// The people of the population that the release is about.
    pub(crate) population: Option<&'a Path>,
    pub(crate) taxonomies: Vec<&'a Path>,
    /// The ledger of a series, earlier releases, one whose groups are taken over, and the people of populations that single runs of a comparison are about.
    pub(crate) others: Vec<&'a Path>,
}

impl<'a> Named<'a> {
    /// LEAK: every field is listed, so that no knob is added to a draft without a decision whether it names a file.
    pub(crate) fn by(draft: &'a Draft) -> Named<'a> {
        let Draft {
            input,
            delimiter: _,
            encoding: _,
            na: _,
            date_format: _,
            missing: _,
            person: _,
            rows_known: _,
            rows_per_person: _,
            memory: _,
            series,
            values_change: _,
            only_new: _,
            after,
            like,
            key,
            quasi: _,
            sensitive: _,
            other: _,
            weight: _,
            weights: _,
            ordinary: _,
            quasi_identifiers: _,
            attributes,
            release,
            compare,
        } = draft;
        let runs = compare.iter().flat_map(|compare| {
            let CompareDraft { runs, workload: _, queries: _, selectivity: _, dimensions: _ } = compare;
            runs
        });
        let of_runs = runs.filter_map(|run| {
            let RunDraft { name: _, vary: _, release } = run;
            population(release)
        });
        Named {
            input: input.as_deref(),
            key: key.as_deref(),
            population: population(release),
            taxonomies: attributes.values().filter_map(taxonomy).collect(),
            others: series
                .iter()
                .chain(after.iter().flatten())
                .chain(like)
                .map(PathBuf::as_path)
                .chain(of_runs)
                .collect(),
        }
    }
}

fn population(release: &ReleaseDraft) -> Option<&Path> {
    let ReleaseDraft {
        method: _,
        partitioner: _,
        relaxed: _,
        transparent: _,
        group_column: _,
        bucket_columns: _,
        marginals: _,
        together: _,
        require: _,
        accept: _,
        collude: _,
        format: _,
        suppress: _,
        population_table,
        metric: _,
        levels: _,
        time_limit: _,
    } = release;
    population_table.as_deref()
}

fn taxonomy(said: &AttributeDraft) -> Option<&Path> {
    let AttributeDraft {
        role: _,
        kind: _,
        order: _,
        prepare: _,
        taxonomy,
        intervals: _,
        prefix: _,
        categories: _,
        weights: _,
        ordinary: _,
        near: _,
    } = said;
    match taxonomy {
        Some(TaxonomyDraft::File(file)) => Some(file),
        Some(TaxonomyDraft::Lines(_) | TaxonomyDraft::Read(_)) | None => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn files_are_found_wherever_a_draft_names_them() {
        let draft: Draft = serde_json::from_value(json!({
            "input": "a", "key": "b", "series": "c", "after": ["d", "e"],
            "attributes": {"age": {"taxonomy": "f"}, "sex": {"taxonomy": [["m", "*"]]}},
            "release": {"population_table": "g"},
            "compare": {"runs": [{"method": "anatomy"}, {"population_table": "h"}]},
        }))
        .unwrap();
        let named = Named::by(&draft);
        assert_eq!((named.input, named.key), (Some(Path::new("a")), Some(Path::new("b"))));
        assert_eq!((named.population, named.taxonomies), (Some(Path::new("g")), vec![Path::new("f")]));
        assert_eq!(named.others, ["c", "d", "e", "h"].map(Path::new));
    }
}
