//! What manifests say besides their promises.

use serde_json::{Value, json};

use super::Ground;

#[test]
fn manifests_that_say_what_the_form_does_not_call_for_are_found() {
    let ground =
        Ground::new(&["generalize", "anatomy", "permute", "shuffle", "angel", "butterfly", "rank-swap"], "csv");
    let all = ["generalize", "anatomy", "permute", "shuffle", "angel", "butterfly", "rank-swap"];
    let cases: [(&str, &[&str], &dyn Fn(&mut Value), &str); 9] = [
        (
            "suppressed",
            &all[1..5],
            &|it| it["suppressed"] = json!(3),
            "3 rows are said to be suppressed, but this form by `",
        ),
        (
            "partitioner",
            &all,
            &|it| it["partitioner"] = json!("for you"),
            "no partitioner named `for you` forms groups of this form",
        ),
        (
            "no partitioner",
            &all[..6],
            &|it| it["partitioner"] = json!("none"),
            "no partitioner named `none` forms groups of this form",
        ),
        ("groups", &["rank-swap"], &|it| it["groups"] = json!(7), "there are no groups, but the manifest says 7"),
        (
            "a smaller end",
            &all,
            &|it| it["attributes"][0]["domain"]["min"] = json!(-7),
            "the domain of `age` is not the one that is published",
        ),
        (
            "a larger end",
            &all,
            &|it| it["attributes"][0]["domain"]["max"] = json!(777),
            "the domain of `age` is not the one that is published",
        ),
        (
            "a value that no row has",
            &all,
            &|it| it["attributes"][1]["domain"]["values"].as_array_mut().unwrap().push(json!("X")),
            "the domain of `sex` is not the one that is published",
        ),
        (
            "an order of attributes",
            &["generalize", "anatomy"],
            &|it| it["attributes"].as_array_mut().unwrap().rotate_right(1),
            "the attributes are not listed in the order that publishing uses",
        ),
        (
            "an order of tables",
            &["generalize", "anatomy"],
            &|it| it["tables"].as_array_mut().unwrap().reverse(),
            "are not in the order of the form",
        ),
    ];
    for (what, names, change, words) in cases {
        for name in names {
            ground.found(name, &format!("{what}, {name}"), |forger| forger.say(change), "manifest", words);
        }
    }
    // Suppressed rows in a form that may have them: the fully generalized group is missing, too.
    ground.forger("generalize").say(|it| it["suppressed"] = json!(3));
    let findings = ground.findings("", 4);
    assert!(
        findings.iter().any(|(by, _)| by == "suppressed") && findings.iter().any(|(by, _)| by == "manifest"),
        "{findings:?}"
    );
}

#[test]
fn idle_facts_about_columns_are_found() {
    let ground = Ground::new(&["anatomy"], "csv");
    let sensitive = 4;
    let cases: [(&str, &dyn Fn(&mut Value), &str); 8] = [
        (
            "a sensitive value that no row has",
            &|it| {
                let domain = &mut it["attributes"][sensitive]["domain"];
                domain["values"].as_array_mut().unwrap().push(json!("zzz"));
                domain["counts"].as_array_mut().unwrap().push(json!(0));
            },
            "the domain of `disease` is not the one that is published",
        ),
        (
            "a taxonomy of a quasi column",
            &|it| it["attributes"][1]["taxonomy"] = json!([["F", "for you"], ["M", "for you"]]),
            "`sex` is not sensitive, so its taxonomy and categories have no effect",
        ),
        (
            "categories without weights",
            &|it| it["attributes"][sensitive]["weights"] = json!(["1"]),
            "`disease` has categories without weights, or weights without categories",
        ),
        (
            "a taxonomy with a value that no row has",
            &|it| {
                let values = it["attributes"][sensitive]["domain"]["values"].as_array().unwrap().clone();
                let lines: Vec<Value> =
                    values.iter().chain([&json!("zzz")]).map(|value| json!([value, "any"])).collect();
                it["attributes"][sensitive]["taxonomy"] = json!(lines);
            },
            "the lines of the taxonomy of `disease` are not those of its values, in their order",
        ),
        (
            "an acceptance of nothing",
            &|it| {
                it["features"] = json!(["accepted"]);
                it["accepted"] = json!(["disclosure"]);
            },
            "disclosure is accepted, but nothing is disclosed",
        ),
        (
            "an ordinary value twice",
            &|it| {
                let value = it["attributes"][sensitive]["domain"]["values"][0].clone();
                it["features"] = json!(["ordinary"]);
                it["attributes"][sensitive]["ordinary"] = json!([value, value]);
            },
            "`disease` calls a value ordinary twice",
        ),
        (
            "a quasi-identifier in another order",
            &|it| it["quasi_identifiers"][0].as_array_mut().unwrap().reverse(),
            "the quasi-identifiers are not those of the attributes, each once and in their order",
        ),
        (
            "a quasi-identifier more",
            &|it| it["quasi_identifiers"].as_array_mut().unwrap().push(json!(["age"])),
            "the quasi-identifiers are not those of the attributes, each once and in their order",
        ),
    ];
    for (what, change, words) in cases {
        ground.forger("anatomy").say(change);
        let findings = ground.findings("", 4);
        assert!(findings.iter().any(|(by, finding)| by == "manifest" && finding == words), "{what}: {findings:?}");
    }
    let marginal = Ground::new(&["angel"], "csv");
    let forger = marginal.forger("angel");
    forger.rename("gt_sex_age.csv", "gt_for_you.csv");
    forger.say(|it| {
        let tables = it["tables"].as_array_mut().unwrap().iter_mut();
        tables.filter(|table| table["name"] == "gt_sex_age").for_each(|table| table["name"] = json!("gt_for_you"));
    });
    let findings = marginal.findings("", 4);
    assert_eq!(
        findings,
        [("manifest".to_owned(), "`gt_for_you` is not named after the columns that it shows".to_owned())]
    );
}
