//! `cargo xtask check-deps`: the walls between our crates.
//!
//! The analyst's side cannot name microdata, and the audit shares no code with the publisher, because the crates cannot
//! see each other (ARCHITECTURE.md, invariants 1 and 2). This chore reads the manifests and enforces the decided edges.
//! Dev-dependencies are free: tests may look anywhere.

use serde_json::Value;

use crate::shell::{self, Failure};

/// Which of our crates one of our crates may depend on.
enum AllowedEdges {
    Only(&'static [&'static str]),
    AllBut(&'static [&'static str]),
}

/// Short names: `table` is `chrysalis-table`, and `chrysalis` the library itself. `None` means that nothing was decided
/// for this crate.
fn allowed(krate: &str) -> Option<AllowedEdges> {
    use AllowedEdges::{AllBut, Only};
    Some(match krate {
        // Charts and pages know nothing about what they show.
        "table" | "example" | "report" => Only(&[]),
        "criteria" | "arrow" => Only(&["table"]),
        // A promise is a principle that was seen to hold, so the format knows principles.
        "release" => Only(&["table", "criteria"]),
        // `query` is the analyst's side, so it never sees `publish`, where microdata lives. The same holds for `load`,
        // which puts a release into a database.
        "query" | "load" => Only(&["table", "release"]),
        // Drawing rows is the analyst's side as well.
        "sample" => Only(&["table", "release"]),
        // How SQL is written decides nothing, so questions and the audit share it.
        "dialect" => Only(&["table"]),
        "sql" => Only(&["table", "release", "query", "dialect"]),
        // The audit as SQL decides with neither the audit's code nor the publisher's.
        "audit-sql" => Only(&["table", "criteria", "release", "dialect"]),
        "store" => Only(&["table", "release", "arrow"]),
        // The publisher and the audit share these crates, but never see each other.
        "publish" | "audit" => Only(&["table", "criteria", "release"]),
        // It measures published tables, not what the publisher kept in memory, and asks its workloads through the
        // engine that analysts use.
        "evaluate" => Only(&["table", "criteria", "release", "query"]),
        // It measures tables as the audit does, and forms classes of rows with the audit's code; it judges nothing.
        "risk" => Only(&["table", "audit"]),
        // The hall behind every door. Not everyone who embeds it needs databases, pages and charts.
        "chrysalis" => Only(&[
            "table",
            "criteria",
            "release",
            "arrow",
            "store",
            "publish",
            "query",
            "sql",
            "sample",
            "audit",
            "audit-sql",
            "evaluate",
            "risk",
        ]),
        "lab" => AllBut(&["cli", "studio", "door", "python", "testkit"]),
        // A door like the command line, and a program of its own.
        "studio" => Only(&["chrysalis", "lab", "report"]),
        // A door that stands for all others: whatever it needs, the hall must provide.
        "door" => Only(&["chrysalis"]),
        "testkit" => AllBut(&["cli", "studio", "chrysalis", "lab", "door", "python"]),
        "cli" => AllBut(&["testkit", "studio", "door", "publish", "criteria", "python"]),
        // A door: the hall, the pages that the lab makes, a table to try things on, and the command, which it carries.
        "python" => Only(&["chrysalis", "lab", "example", "cli"]),
        _ => return None,
    })
}

/// One workspace member with its build dependencies.
struct Package {
    name: String,
    dependencies: Vec<String>,
}

pub(crate) fn run() -> Result<(), Failure> {
    let arguments = ["metadata", "--format-version", "1", "--no-deps"];
    let output = shell::cargo(&arguments)
        .output()
        .map_err(|error| Failure::new(format!("cannot start cargo metadata: {error}")))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(Failure::new(format!("cargo metadata failed: {said}")));
    }
    let packages = serde_json::from_slice(&output.stdout)
        .ok()
        .and_then(|metadata| packages(&metadata))
        .ok_or_else(|| Failure::new("cargo metadata printed something unexpected"))?;

    let found = violations(&packages);
    for violation in &found {
        eprintln!("{violation}");
    }
    match found.len() {
        0 => {
            println!("check-deps: the edges of {} packages are as decided", packages.len());
            Ok(())
        }
        1 => Err(Failure::new("1 dependency is not allowed")),
        many => Err(Failure::new(format!("{many} dependencies are not allowed"))),
    }
}

/// The packages in the output of `cargo metadata`, without dev-dependencies. `None` if the output has another shape.
fn packages(metadata: &Value) -> Option<Vec<Package>> {
    metadata["packages"].as_array()?.iter().map(package).collect()
}

fn package(value: &Value) -> Option<Package> {
    let needed = value["dependencies"].as_array()?.iter();
    let needed = needed.filter(|dependency| dependency["kind"] != "dev");
    let name_of = |value: &Value| value["name"].as_str().map(str::to_owned);
    Some(Package { name: name_of(value)?, dependencies: needed.map(name_of).collect::<Option<_>>()? })
}

/// One sentence per edge that is not allowed, in the order of the packages.
fn violations(packages: &[Package]) -> Vec<String> {
    packages.iter().flat_map(violations_of).collect()
}

fn violations_of(package: &Package) -> Vec<String> {
    let name = &package.name;
    let edges = package.dependencies.iter();
    // This package contains chores and no product code; the product contains no chores.
    if name == "xtask" {
        return edges
            .filter(|needed| is_ours(needed))
            .map(|needed| format!("`xtask` must not depend on `{needed}`: run it as a program"))
            .collect();
    }
    let Some(rule) = allowed(short(name)) else {
        return vec![format!(
            "`{name}` is not in xtask/src/check_deps.rs: add what it may depend on, with a decision page"
        )];
    };
    edges
        .filter_map(|needed| {
            if is_database(needed) && name != "chrysalis-load" {
                Some(format!("`{name}` must not depend on `{needed}`: databases stay in `chrysalis-load`"))
            } else if is_heavy(needed) && name != "chrysalis-store" && (!moves_batches(name) || needed == "parquet") {
                Some(format!(
                    "`{name}` must not depend on `{needed}`: Arrow stays in `chrysalis-arrow`, Parquet in `chrysalis-store`"
                ))
            } else if is_server(needed) && name != "chrysalis-studio" {
                Some(format!("`{name}` must not depend on `{needed}`: the server stays in `chrysalis-studio`"))
            } else if is_ours(needed) && !rule.permits(needed) {
                Some(format!("`{name}` must not depend on `{needed}`: it may use {}", rule.said()))
            } else {
                None
            }
        })
        .collect()
}

impl AllowedEdges {
    fn permits(&self, needed: &str) -> bool {
        let needed = short(needed);
        match self {
            Self::Only(names) => names.contains(&needed),
            Self::AllBut(names) => !names.contains(&needed) && needed != "xtask",
        }
    }

    fn said(&self) -> String {
        match self {
            Self::Only([]) => "none of our crates".to_owned(),
            Self::Only(names) => format!("only {}", names.join(", ")),
            Self::AllBut(names) => format!("any of our crates but {}", names.join(", ")),
        }
    }
}

fn is_ours(name: &str) -> bool {
    name.starts_with("chrysalis-") || name == "chrysalis" || name == "xtask"
}

/// `table` for `chrysalis-table`; the library itself keeps its name.
fn short(name: &str) -> &str {
    name.strip_prefix("chrysalis-").unwrap_or(name)
}

/// These take minutes to compile; an edit of an algorithm must not wait for them.
fn is_heavy(name: &str) -> bool {
    name == "parquet" || name == "arrow" || name.starts_with("arrow-")
}

/// What turns columns into record batches, and what hands these on to other programs in memory.
fn moves_batches(name: &str) -> bool {
    name == "chrysalis-arrow" || name == "chrysalis-python"
}

/// SQLite is compiled from C, and a PostgreSQL client brings a runtime with it.
fn is_database(name: &str) -> bool {
    name == "rusqlite" || name == "libsqlite3-sys" || name.ends_with("postgres")
}

/// A runtime and a web server, for which the command line does not wait.
fn is_server(name: &str) -> bool {
    name == "tokio" || name == "axum" || name.starts_with("hyper") || name.starts_with("tower")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, dependencies: &[&str], expected: &[&str]) {
        let dependencies = dependencies.iter().map(|&name| name.to_owned()).collect();
        let name = name.to_owned();
        assert_eq!(violations(&[Package { name, dependencies }]), expected);
    }

    #[test]
    fn decided_edges_pass() {
        check("chrysalis-table", &["csv", "rayon"], &[]);
        check("chrysalis-criteria", &["chrysalis-table"], &[]);
        check("chrysalis-release", &["chrysalis-table", "chrysalis-criteria"], &[]);
        check("chrysalis-arrow", &["chrysalis-table", "arrow-array", "arrow-schema"], &[]);
        check("chrysalis-store", &["chrysalis-release", "chrysalis-arrow", "parquet", "arrow-array"], &[]);
        check("chrysalis", &["chrysalis-publish", "chrysalis-audit", "chrysalis-query", "chrysalis-arrow"], &[]);
        check("chrysalis-lab", &["chrysalis", "chrysalis-report", "chrysalis-load"], &[]);
        check("chrysalis-door", &["chrysalis"], &[]);
        check("chrysalis-audit", &["chrysalis-table", "chrysalis-criteria", "chrysalis-release"], &[]);
        check("chrysalis-query", &["chrysalis-table", "chrysalis-release"], &[]);
        check("chrysalis-sample", &["chrysalis-table", "chrysalis-release"], &[]);
        check("chrysalis-sql", &["chrysalis-table", "chrysalis-release", "chrysalis-query"], &[]);
        check("chrysalis-evaluate", &["chrysalis-criteria", "chrysalis-release", "chrysalis-query"], &[]);
        check("chrysalis-report", &["minijinja"], &[]);
        check("chrysalis-testkit", &["chrysalis-publish", "chrysalis-audit", "proptest"], &[]);
        check("chrysalis-cli", &["chrysalis", "chrysalis-lab", "chrysalis-query", "chrysalis-example"], &[]);
        check("chrysalis-python", &["chrysalis", "chrysalis-lab", "chrysalis-cli", "arrow-array", "pyo3"], &[]);
        check("xtask", &["serde_json"], &[]);
    }

    #[test]
    fn the_judge_may_not_see_the_maker() {
        check(
            "chrysalis-audit",
            &["chrysalis-table", "chrysalis-publish"],
            &["`chrysalis-audit` must not depend on `chrysalis-publish`: it may use only table, criteria, release"],
        );
        check(
            "chrysalis-audit",
            &["chrysalis-store", "chrysalis-query"],
            &[
                "`chrysalis-audit` must not depend on `chrysalis-store`: it may use only table, criteria, release",
                "`chrysalis-audit` must not depend on `chrysalis-query`: it may use only table, criteria, release",
            ],
        );
    }

    #[test]
    fn the_analyst_may_not_see_microdata() {
        check(
            "chrysalis-query",
            &["chrysalis-release", "chrysalis-publish"],
            &["`chrysalis-query` must not depend on `chrysalis-publish`: it may use only table, release"],
        );
        check(
            "chrysalis-sample",
            &["chrysalis-publish"],
            &["`chrysalis-sample` must not depend on `chrysalis-publish`: it may use only table, release"],
        );
    }

    #[test]
    fn the_test_kit_is_for_tests_and_the_front_end_for_nobody() {
        check(
            "chrysalis-cli",
            &["chrysalis-testkit"],
            &[
                "`chrysalis-cli` must not depend on `chrysalis-testkit`: it may use any of our crates but testkit, studio, \
                 door, publish, criteria, python",
            ],
        );
        check(
            "chrysalis-testkit",
            &["chrysalis-cli"],
            &["`chrysalis-testkit` must not depend on `chrysalis-cli`: it may use any of our crates but cli, studio, \
               chrysalis, lab, door, python"],
        );
        check(
            "chrysalis-example",
            &["chrysalis-table"],
            &["`chrysalis-example` must not depend on `chrysalis-table`: it may use none of our crates"],
        );
        check("xtask", &["chrysalis-table"], &["`xtask` must not depend on `chrysalis-table`: run it as a program"]);
    }

    #[test]
    fn nobody_below_the_hall_knows_it() {
        check(
            "chrysalis-query",
            &["chrysalis"],
            &["`chrysalis-query` must not depend on `chrysalis`: it may use only table, release"],
        );
        check(
            "chrysalis",
            &["chrysalis-lab", "chrysalis-load", "chrysalis"],
            &[
                "`chrysalis` must not depend on `chrysalis-lab`: it may use only table, criteria, release, arrow, store, \
                 publish, query, sql, sample, audit, audit-sql, evaluate, risk",
                "`chrysalis` must not depend on `chrysalis-load`: it may use only table, criteria, release, arrow, store, \
                 publish, query, sql, sample, audit, audit-sql, evaluate, risk",
                "`chrysalis` must not depend on `chrysalis`: it may use only table, criteria, release, arrow, store, \
                 publish, query, sql, sample, audit, audit-sql, evaluate, risk",
            ],
        );
        check(
            "chrysalis-door",
            &["chrysalis-query"],
            &["`chrysalis-door` must not depend on `chrysalis-query`: it may use only chrysalis"],
        );
    }

    #[test]
    fn heavy_crates_stay_in_the_store() {
        for name in ["parquet", "arrow", "arrow-schema"] {
            let sentence = format!(
                "`chrysalis-cli` must not depend on `{name}`: Arrow stays in `chrysalis-arrow`, Parquet in `chrysalis-store`"
            );
            check("chrysalis-cli", &[name], &[sentence.as_str()]);
        }
        check("chrysalis-cli", &["arrowhead"], &[]);
        check(
            "chrysalis-arrow",
            &["parquet"],
            &[
                "`chrysalis-arrow` must not depend on `parquet`: Arrow stays in `chrysalis-arrow`, Parquet in `chrysalis-store`",
            ],
        );
    }

    #[test]
    fn databases_stay_in_the_loader() {
        check("chrysalis-load", &["chrysalis-release", "chrysalis-table", "postgres", "rusqlite"], &[]);
        for name in ["rusqlite", "postgres", "tokio-postgres"] {
            let sentence = format!("`chrysalis-query` must not depend on `{name}`: databases stay in `chrysalis-load`");
            check("chrysalis-query", &[name], &[sentence.as_str()]);
        }
    }

    #[test]
    fn the_server_stays_in_the_studio() {
        check("chrysalis-studio", &["chrysalis", "chrysalis-lab", "chrysalis-report", "axum", "tokio"], &[]);
        for name in ["tokio", "axum", "hyper-util", "tower"] {
            let sentence =
                format!("`chrysalis-cli` must not depend on `{name}`: the server stays in `chrysalis-studio`");
            check("chrysalis-cli", &[name], &[sentence.as_str()]);
        }
    }

    #[test]
    fn a_new_crate_wants_a_decision() {
        check(
            "chrysalis-web",
            &[],
            &["`chrysalis-web` is not in xtask/src/check_deps.rs: add what it may depend on, with a decision page"],
        );
    }

    #[test]
    fn dev_dependencies_are_free_and_build_dependencies_are_not() {
        let metadata = serde_json::json!({ "packages": [{
            "name": "chrysalis-audit",
            "dependencies": [
                { "name": "chrysalis-publish", "kind": "dev" },
                { "name": "chrysalis-table", "kind": null },
                { "name": "chrysalis-store", "kind": "build" },
            ],
        }]});
        let packages = packages(&metadata).unwrap();
        assert_eq!(packages[0].dependencies, ["chrysalis-table", "chrysalis-store"]);
        assert!(super::packages(&serde_json::json!({ "packages": 3 })).is_none());
    }
}
