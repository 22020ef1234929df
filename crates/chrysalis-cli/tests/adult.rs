//! Real data: Adult is published and audited under every principle, and the audit notices when one row is altered.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "tests")]

mod common;

use std::fs;
use std::io::Read as _;
use std::path::Path;

use common::Release;

const ADULT: &str = "adult_train_complete.csv.gz";
const ROLES: &str =
    "--quasi age,workclass,education,marital_status,race,sex,native_country --sensitive occupation --method generalize";

/// Publishes as Parquet and as CSV, audits both, then alters one cell of the CSV table, in each of four columns.
fn check(principle: &str) {
    let Some(adult) = common::data(ADULT) else { return };
    let ground = tempfile::tempdir().unwrap();
    let folder = ground.path();
    let publish = format!("publish {} {ROLES} --require {principle} --accept disclosure", adult.display());
    common::run(folder, &format!("{publish} --out parquet")).expect(0);
    common::run(folder, &format!("{publish} --out csv --format csv")).expect(0);
    common::run(folder, "audit parquet").expect(0);
    let microdata = adult.display();
    let audit = common::run(folder, &format!("audit parquet --microdata {microdata} --output json")).expect(0).json();
    assert_eq!(audit["ok"], true, "{audit}");
    assert_eq!(audit["rows"], 30_162, "{audit}");
    assert_eq!(audit["principles"][0]["principle"], principle, "{audit}");
    assert_eq!(audit["principles"][0]["holds"], true, "{audit}");
    common::run(folder, "audit csv").expect(0);

    let release = Release::at(folder.join("csv"));
    let sound = release.cells("generalized.csv");
    let column = |name: &str| sound[0].iter().position(|column| column == name).unwrap();
    // A row whose value differs from the next row's, so that the next row's value is a change.
    for name in ["age_min", "race", "occupation", "group_id"] {
        let at = column(name);
        let row = (15_000..sound.len() - 1).find(|&row| sound[row][at] != sound[row + 1][at]).unwrap();
        let mut altered = sound.clone();
        altered[row][at] = sound[row + 1][at].clone();
        // The most careful forger keeps the canonical order, too.
        let mut rows = altered.split_off(1);
        rows.sort_by_key(|row| row[0].parse::<u64>().unwrap());
        altered.extend(rows);
        release.forge("generalized.csv", common::to_csv(&altered).as_bytes());
        let audit = common::run(folder, "audit csv");
        assert_eq!(audit.code, Some(4), "{principle}: one {name} altered in line {}\n{audit}", row + 1);
    }
    release.forge("generalized.csv", common::to_csv(&sound).as_bytes());
    common::run(folder, "audit csv").expect(0);
}

#[test]
fn k_10_is_published_and_audited() {
    check("k=10");
}

#[test]
fn l_4_is_published_and_audited() {
    check("l=4");
}

#[test]
fn distinct_l_5_is_published_and_audited() {
    check("distinct-l=5");
}

#[test]
fn entropy_l_4_is_published_and_audited() {
    check("entropy-l=4");
}

#[test]
fn recursive_l_3_4_is_published_and_audited() {
    check("recursive-l=3,4");
}

#[test]
fn t_0_2_is_published_and_audited() {
    check("t=0.2");
}

#[test]
fn alpha_k_is_published_and_audited() {
    check("alpha-k=0.5,10");
}

#[test]
fn beta_2_is_published_and_audited() {
    check("beta=2");
}

#[test]
fn sensitive_values_swapped_between_groups_are_unfaithful() {
    let Some(adult) = common::data(ADULT) else { return };
    let ground = tempfile::tempdir().unwrap();
    let folder = ground.path();
    common::run(
        folder,
        &format!("publish {} {ROLES} --require k=10 --accept disclosure --format csv --out csv", adult.display()),
    )
    .expect(0);
    let release = Release::at(folder.join("csv"));
    let mut cells = release.cells("generalized.csv");
    let (group, value) = (0, cells[0].len() - 1);
    // Two rows of different groups with different values: no count changes, and k still holds.
    let one = 10_000;
    let other = (one..cells.len())
        .find(|&row| cells[row][group] != cells[one][group] && cells[row][value] != cells[one][value]);
    let other = other.unwrap();
    let (a, b) = (cells[one][value].clone(), cells[other][value].clone());
    cells[one][value] = b;
    cells[other][value] = a;
    let mut rows = cells.split_off(1);
    rows.sort_by(|a, b| (a[0].parse::<u64>().unwrap(), &a[value]).cmp(&(b[0].parse::<u64>().unwrap(), &b[value])));
    cells.extend(rows);
    release.forge("generalized.csv", common::to_csv(&cells).as_bytes());
    let audit =
        common::run(folder, &format!("audit csv --microdata {} --output json", adult.display())).expect(4).json();
    let faithful = audit["checks"].as_array().unwrap().iter().find(|check| check["name"] == "faithful").unwrap();
    assert_eq!(faithful["ok"], false, "{audit}");
}

#[test]
fn a_release_of_other_data_is_unfaithful() {
    let (Some(adult), Some(all)) = (common::data(ADULT), common::data("adult_complete.csv.gz")) else { return };
    let ground = tempfile::tempdir().unwrap();
    let folder = ground.path();
    common::run(
        folder,
        &format!("publish {} {ROLES} --require k=10 --accept disclosure --out release", adult.display()),
    )
    .expect(0);
    common::run(folder, &format!("audit release --microdata {}", all.display())).expect(4);
}

#[test]
fn the_number_of_threads_changes_no_byte() {
    let Some(adult) = common::data(ADULT) else { return };
    let ground = tempfile::tempdir().unwrap();
    let folder = ground.path();
    for format in ["parquet", "csv"] {
        for threads in [1, 2, 7] {
            let line = format!(
                "publish {} {ROLES} --require l=4 --require k=10 --seed 5 --format {format} --threads {threads} --out {format}-{threads}",
                adult.display()
            );
            common::run(folder, &line).expect(0);
        }
        for threads in [2, 7] {
            let (one, many) = (folder.join(format!("{format}-1")), folder.join(format!("{format}-{threads}")));
            let difference = common::difference(&common::listing(&one), &common::listing(&many));
            assert!(difference.is_empty(), "1 and {threads} threads: {difference}");
        }
    }
}

#[test]
fn without_a_seed_two_releases_number_their_groups_differently() {
    let Some(adult) = common::data(ADULT) else { return };
    let ground = tempfile::tempdir().unwrap();
    let folder = ground.path();
    for out in ["one", "two"] {
        common::run(
            folder,
            &format!(
                "publish {} {ROLES} --partitioner mondrian --require k=10 --accept disclosure --format csv --out {out}",
                adult.display()
            ),
        )
        .expect(0);
    }
    let (one, two) = (Release::at(folder.join("one")), Release::at(folder.join("two")));
    assert_ne!(one.cells("generalized.csv"), two.cells("generalized.csv"), "the same group ids twice");
    assert_eq!(one.groups(), two.groups(), "mondrian makes the same groups");
    assert!(one.manifest().get("reproducible").is_none_or(|value| value == false), "{}", one.manifest());
}

#[test]
fn the_order_of_the_input_does_not_matter() {
    shuffled("");
}

#[test]
fn the_order_of_the_input_does_not_matter_to_relaxed_cuts() {
    shuffled("--relaxed");
}

/// Publishes Adult as it is and shuffled, with the same seed.
fn shuffled(flag: &str) {
    let Some(adult) = common::data(ADULT) else { return };
    let ground = tempfile::tempdir().unwrap();
    let folder = ground.path();
    let mut text = String::new();
    flate2::read::GzDecoder::new(fs::File::open(&adult).unwrap()).read_to_string(&mut text).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    // A fixed shuffle: by a hash of the position.
    let mut keyed: Vec<(u64, &str)> = (1_u64..).zip(lines.drain(1..)).collect();
    keyed.sort_by_key(|(at, _)| at.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    lines.extend(keyed.into_iter().map(|(_, line)| line));
    fs::write(folder.join("shuffled.csv"), lines.join("\n") + "\n").unwrap();
    for (input, out) in [(adult.as_path(), "as-is"), (Path::new("shuffled.csv"), "shuffled")] {
        let input = input.display();
        common::run(folder, &format!("publish {input} {ROLES} --require l=4 --seed 5 --format csv {flag} --out {out}"))
            .expect(0);
    }
    let (one, two) = (Release::at(folder.join("as-is")), Release::at(folder.join("shuffled")));
    assert!(one.groups() == two.groups(), "the groups depend on the order of the input");
    let difference = common::difference(&common::listing(&one.folder), &common::listing(&two.folder));
    assert!(difference.is_empty(), "with one seed, the order of the input shows: {difference}");
}
