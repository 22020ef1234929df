//! Publish a table and check the release: `cargo run -p chrysalis --example publish`.

#![allow(clippy::print_stdout, reason = "examples show what they do")]

use chrysalis::store::Format;
use chrysalis::table::{Column, Table};
use chrysalis::{Draft, Evidence, Seed, Unwatched, audit, files, publish};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Any table will do; `files::read` reads CSV and Parquet, `files::read_batches` Arrow.
    let table = Table::new(vec![
        Column::integers("age", &[23, 27, 35, 59, 61, 65, 65, 70]),
        Column::texts("sex", ["M", "M", "M", "M", "F", "F", "F", "F"].into_iter()),
        Column::texts("disease", ["flu", "cold", "flu", "cold", "ulcer", "flu", "ulcer", "cold"].into_iter()),
    ]);

    // A draft holds every knob. It can also come from a chrysalis.toml (`files::draft`) or from JSON.
    let draft: Draft = serde_json::from_str(
        r#"{
            "quasi": ["age", "sex"],
            "sensitive": "disease",
            "release": { "method": "generalize", "require": ["k=3", "l=2"] }
        }"#,
    )?;

    // Checked against the columns of the table, it becomes a recipe. Mistakes are found here, before any work.
    let header: Vec<String> = table.columns().iter().map(|column| column.name().to_owned()).collect();
    let recipe = draft.check(&header)?;
    let published = publish(table.clone(), &recipe, Seed::Secret, &Unwatched)?;
    println!("{} groups of {} rows or more", published.report.groups, published.report.smallest_group);

    // The audit sees only the published tables; with the microdata, it also checks that the release is faithful.
    let with = Evidence { microdata: Some(&table), ..Evidence::default() };
    let outcome = audit(&published.release, with, &Unwatched)?;
    for principle in &outcome.report.principles {
        println!("{}: {}", principle.principle, if principle.holds { "holds" } else { "does not hold" });
    }
    assert!(outcome.ok());

    // The folder appears complete or not at all.
    let folder = std::env::temp_dir().join(format!("chrysalis-example-{}", std::process::id()));
    let manifest = files::write(&published.release, &folder, Format::Csv, true, &Unwatched)?;
    println!("{} files in {}", manifest.files().count() + 1, folder.display());
    std::fs::remove_dir_all(&folder)?;
    Ok(())
}
