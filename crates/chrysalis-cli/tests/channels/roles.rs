//! Columns whose role can only be judged by somebody who knows them.

use std::fs;

use serde_json::json;

use super::detail;
use crate::common::run;

/// The sensitive column is declared in another role, behind a decoy. The tables alone cannot show that, so the report
/// names the columns that are kept, and an auditor who knows better can say so.
#[test]
fn a_column_demoted_behind_a_decoy_is_named_and_refused_on_demand() {
    let folder = tempfile::tempdir().unwrap();
    run(folder.path(), "example --rows 400 --out hospital").expect(0);
    let publish = "publish hospital/patients.csv --method anatomy --quasi age,sex --other disease --sensitive occupation \
                   --require l=2 --accept disclosure --out decoy";
    run(folder.path(), publish).expect(0);
    let report = run(folder.path(), "audit decoy --output json").expect(0).json();
    assert_eq!(report["kept"], json!(["disease"]));
    let text = run(folder.path(), "audit decoy").expect(0).stdout;
    assert_eq!(text.lines().nth(2), Some("`disease` is kept as it is: nothing is promised about it."), "{text}");
    let refused = run(folder.path(), "audit decoy --sensitive disease,occupation --output json").expect(4).json();
    let roles = refused["checks"].as_array().unwrap().iter().find(|check| check["name"] == "roles").unwrap().clone();
    assert_eq!(roles["findings"], json!(["`disease` must be protected, but the release keeps it as it is"]));
    let quasi = run(folder.path(), "audit decoy --sensitive age --output json").expect(4).json();
    let sentence = "`age` must be protected, but the release shows it as a quasi column, by which people can be found";
    assert!(quasi.to_string().contains(sentence), "{quasi}");
    let fine = detail(folder.path(), "audit decoy --sensitive occupation --sensitive cost", "roles");
    assert_eq!(fine, "`occupation` is sensitive; `cost` is not published");
    // Whoever has the microdata learns of a slip; without them it looks like a column that was left out.
    let slip = "audit decoy --microdata hospital/patients.csv --sensitive diseases";
    let refused = run(folder.path(), slip).expect(2);
    assert!(refused.stderr.contains("`diseases`") && refused.stderr.contains("did you mean `disease`?"), "{refused}");
}

/// An auditor who has the spec knows what the owner asked for.
#[test]
fn roles_are_held_against_the_spec() {
    let folder = tempfile::tempdir().unwrap();
    run(folder.path(), "example --rows 400 --out hospital").expect(0);
    let spec = "input = \"hospital/patients.csv\"\nquasi = [\"age\", \"sex\"]\nsensitive = \"disease\"\n\n[release]\nmethod = \
                \"anatomy\"\nrequire = [\"l=2\"]\naccept = [\"disclosure\"]\n";
    fs::write(folder.path().join("asked.toml"), spec).unwrap();
    run(folder.path(), "publish asked.toml --out asked").expect(0);
    let fine = detail(folder.path(), "audit asked --microdata asked.toml", "roles");
    assert_eq!(fine, "every column has the role that the spec gives it");
    let line = "publish hospital/patients.csv --method anatomy --quasi age,sex --other disease --sensitive occupation --require l=2 \
                --accept disclosure --out other";
    run(folder.path(), line).expect(0);
    let refused = run(folder.path(), "audit other --microdata asked.toml --output json").expect(4).json();
    let roles = refused["checks"].as_array().unwrap().iter().find(|check| check["name"] == "roles").unwrap().clone();
    let told = [
        "`disease` is sensitive in the spec, but the release keeps it as it is",
        "`occupation` is published, but the spec does not name it",
    ];
    assert_eq!(roles["findings"], json!(told));
}
