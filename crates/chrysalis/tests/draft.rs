//! One type for every knob: its schema ships with the project, two drafts are merged, and a knob without effect is
//! refused.

#![allow(clippy::unwrap_used, reason = "tests")]

use chrysalis::{Draft, Recipe};
use serde_json::{Value, json};

fn draft(value: Value) -> Draft {
    serde_json::from_value(value).unwrap()
}

/// The shipped schema matches the code. `CHRYSALIS_BLESS=1` rewrites it after a change of the knobs.
#[test]
fn the_shipped_schema_is_up_to_date() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../schema/draft.schema.json");
    let expected = format!("{}\n", serde_json::to_string_pretty(&Draft::schema()).unwrap());
    if std::env::var_os("CHRYSALIS_BLESS").is_some() {
        std::fs::write(path, &expected).unwrap();
    }
    assert_eq!(std::fs::read_to_string(path).unwrap(), expected, "run with CHRYSALIS_BLESS=1 and look at the change");
}

fn check(attributes: Value, release: Value) -> Result<Recipe, chrysalis::Error> {
    let mut whole = json!({ "quasi": ["age"], "sensitive": "ill", "other": ["note"], "release": {"require": ["k=2"]} });
    whole["attributes"] = attributes;
    for (field, value) in release.as_object().unwrap() {
        whole["release"][field] = value.clone();
    }
    draft(whole).check(&["age", "ill", "note", "name"].map(str::to_owned))
}

#[track_caller]
fn refused(attributes: Value, release: Value, message: &str) {
    let Err(error) = check(attributes, release) else { panic!("accepted, expected: {message}") };
    assert!(error.message.contains(message), "{}", error.message);
    assert!(!error.remedy.is_empty(), "{}", error.message);
}

/// Where groups are those of an earlier release, nothing else may say how they are formed; a spec gives way.
#[test]
fn groups_of_an_earlier_release_leave_nothing_to_choose() {
    let like =
        |release: Value| draft(json!({ "quasi": ["age"], "sensitive": "ill", "like": "first", "release": release }));
    let header = ["age".to_owned(), "ill".to_owned()];
    let required = json!({ "require": ["k=2"] });
    assert_eq!(like(required.clone()).check(&header).unwrap().partitioner(), Some("like"));
    for (knob, value) in [("partitioner", json!("mondrian")), ("relaxed", json!(true)), ("transparent", json!(true))] {
        let mut release = required.clone();
        release[knob] = value.clone();
        let error = like(release.clone()).check(&header).unwrap_err();
        assert!(error.message.starts_with(&format!("`{knob}` and `like` do not go together: ")), "{}", error.message);
        assert!(!error.remedy.is_empty());
        let base = draft(json!({ "quasi": ["age"], "sensitive": "ill", "release": release }));
        let over = draft(json!({ "like": "first" })).or(base);
        assert_eq!(over.check(&header).unwrap().partitioner(), Some("like"), "{knob}");
    }
}

#[test]
fn a_knob_without_effect_on_the_method_or_partitioner_is_refused() {
    assert!(check(json!({}), json!({})).is_ok());
    let none = || json!({});
    refused(none(), json!({ "marginals": [["age"]] }), "`marginal` goes with the method angel");
    refused(none(), json!({ "bucket_columns": ["age"] }), "`bucket_column` goes with the method angel");
    refused(none(), json!({ "collude": 2 }), "`collude` goes with the method butterfly");
    refused(none(), json!({ "require": ["k=2", "l=2", "k=2"] }), "`k=2` is required twice");
    refused(
        none(),
        json!({ "partitioner": "compact", "relaxed": true }),
        "`relaxed` goes with the partitioner mondrian",
    );
    refused(
        none(),
        json!({ "partitioner": "compact", "transparent": true }),
        "`transparent` goes with the partitioner transparent, not with compact",
    );
    refused(none(), json!({ "method": "angel", "transparent": true }), "nobody has proved that safe");
    refused(none(), json!({ "group_column": "name" }), "`group_column` goes with the partitioner column");
    refused(none(), json!({ "suppress": "0.1" }), "`suppress` goes with the partitioner full-domain");
    refused(none(), json!({ "metric": "dm" }), "`metric` goes with the partitioner full-domain");
    refused(none(), json!({ "levels": { "age": 1 } }), "`levels` goes with the partitioner full-domain");
    let full = |levels: serde_json::Value| json!({ "partitioner": "full-domain", "levels": levels });
    refused(none(), full(json!({ "name": 1 })), "`name` is not a quasi column");
    refused(none(), full(json!({})), "no level is fixed");
    refused(none(), json!({ "population_table": "all.csv" }), "no principle is about it");
    refused(none(), json!({ "partitioner": "mondrian", "time_limit": 1.0 }), "`time_limit` goes with the partitioner");
}

/// A remedy is no use that ends in the next refusal of the same kind.
#[test]
fn another_partitioner_is_proposed_only_where_it_takes_everything() {
    let remedy = |release: serde_json::Value| check(json!({}), release).unwrap_err().remedy.to_string();
    assert_eq!(remedy(json!({ "suppress": "0.1" })), "add `partitioner = full-domain`, or leave `suppress` out");
    let named = json!({ "partitioner": "compact", "relaxed": true });
    assert_eq!(remedy(named), "use `partitioner = mondrian`, or leave `relaxed` out");
    // No partitioner takes both.
    assert_eq!(remedy(json!({ "transparent": true, "relaxed": true })), "leave `relaxed` out");
    assert_eq!(remedy(json!({ "marginals": [["age"]], "collude": 2 })), "leave `marginal` out");
}

#[test]
fn principles_that_promise_nothing_are_refused() {
    for principle in ["k=1", "l=1", "distinct-l=1", "entropy-l=1", "t=1", "ke=1,0", "alpha-k=1,1"] {
        let message = format!("`{principle}` promises nothing: every row alone satisfies it");
        refused(json!({}), json!({ "require": ["k=2", principle] }), &message);
    }
    let remedy = |principle: &str| check(json!({}), json!({ "require": [principle] })).unwrap_err().remedy.to_string();
    assert_eq!(remedy("k=1"), "ask for more, such as `require = k=10`, or leave it out");
    assert_eq!(remedy("distinct-l=1"), "ask for more, such as `require = l=2`, or leave it out");
    // Buckets of one row amount to anatomy; a form that promises nothing may be asked for nothing.
    assert!(check(json!({}), json!({ "method": "angel", "require": ["k=1", "l=2"] })).is_ok());
    refused(json!({}), json!({ "method": "angel", "require": ["k=1", "l=1"] }), "`l=1` promises nothing");
    assert!(check(json!({}), json!({ "method": "rank-swap", "require": ["k=1"] })).is_ok());
}

#[test]
fn methods_without_groups_take_no_partitioner() {
    let swap = |more: Value| {
        let mut release = json!({ "method": "rank-swap" });
        release.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        release
    };
    assert!(check(json!({}), swap(json!({}))).is_ok());
    let message = "rank-swap forms no groups, so a partitioner has no effect";
    refused(json!({}), swap(json!({ "partitioner": "min-sum" })), message);
    refused(json!({}), swap(json!({ "relaxed": true })), "`relaxed` has no effect on rank-swap");
    refused(json!({}), json!({ "partitioner": "union" }), "`union` finds butterflies, but generalize shows none");
    refused(json!({}), json!({ "partitioner": "the better of both" }), "is not a partitioner of this version");
    let permute = json!({ "method": "permute", "suppress": "0.1" });
    refused(json!({}), permute, "rows can be suppressed only where quasi values are generalized");
}

#[test]
fn a_taxonomy_that_nobody_looks_at_is_refused() {
    let release = |method: &str, partitioner: &str| json!({ "method": method, "partitioner": partitioner });
    let taxonomies = [
        ("intervals", json!({ "intervals": [5.0] })),
        ("intervals", json!({ "intervals": ["month", "year"] })),
        ("prefix", json!({ "prefix": true })),
        ("taxonomy", json!({ "taxonomy": [["1", "*"]] })),
    ];
    for (knob, said) in taxonomies {
        let said = || json!({ "age": said.clone() });
        for (method, partitioner) in [("anatomy", "anatomize"), ("permute", "sequential"), ("shuffle", "min-sum")] {
            let message = format!("`{knob}` has no effect on column `age`: {method} shows its values as they are");
            refused(said(), release(method, partitioner), &message);
        }
        for (method, partitioner) in [("anatomy", "nearby"), ("permute", "similar"), ("generalize", "anatomize")] {
            check(said(), release(method, partitioner)).unwrap();
        }
    }
}

#[test]
fn what_contradicts_itself_is_refused() {
    let order = |kind: &str| json!({ "age": { "kind": kind, "order": ["1", "2"] } });
    refused(order("integer"), json!({}), "`order` has no effect on column `age`, which is of kind integer");
    assert!(check(order("ordinal"), json!({})).is_ok());
    let prefix = json!({ "age": { "kind": "integer", "prefix": true } });
    refused(prefix, json!({}), "column `age` is of kind integer, but only words have prefixes");
    let listed = json!({ "name": { "role": "quasi" } });
    refused(listed, json!({}), "column `name` has the role quasi, but other columns are listed as quasi");
    refused(json!({}), json!({ "format": "xlsx" }), "format: ");
}

#[test]
fn a_knob_without_effect_on_the_role_is_refused() {
    for column in ["note", "name"] {
        for (field, value) in [
            ("intervals", json!([5.0, 10.0])),
            ("prefix", json!(true)),
            ("taxonomy", json!([["a", "*"]])),
            ("categories", json!([["a"], ["b"]])),
        ] {
            let attributes = json!({ column: { field: value } });
            let Err(error) = check(attributes, json!({})) else { panic!("{field} of `{column}` was ignored") };
            assert!(error.message.contains(column), "{}", error.message);
        }
    }
    // A column that is kept is read with its kind; a column that is dropped is not read.
    assert!(check(json!({ "note": { "kind": "category" } }), json!({})).is_ok());
    refused(json!({ "name": { "kind": "category" } }), json!({}), "name");
    refused(json!({ "age": { "categories": [["1"], ["2"]] } }), json!({}), "age");
    refused(json!({ "ill": { "weights": "uniform" } }), json!({}), "ill");
}

/// The later draft wins, knob by knob; knobs that it does not set stay as they were.
#[test]
fn drafts_are_merged_knob_by_knob() {
    let file = draft(
        json!({ "missing": "drop", "quasi": ["age"], "sensitive": "ill", "release": {"method": "permute", "require": ["k=2"]} }),
    );
    let flags = draft(json!({ "release": {"require": ["k=3"]} }));
    let both = flags.or(file);
    assert_eq!(both.missing.as_deref(), Some("drop"));
    assert_eq!((both.release.method.as_deref(), both.release.require), (Some("permute"), Some(vec!["k=3".to_owned()])));
}
