//! Command lines and specs that ask for the impossible.

use super::Ground;

const TABLE: &[u8] = b"a,b,c\n1,5,x\n2,6,y\n3,5,x\n4,6,y\n5,5,x\n6,7,z\n";

#[test]
fn impossible_parameters_are_refused() {
    let mut ground = Ground::new(&[("t.csv", TABLE)]);
    for principle in [
        "l=0",
        "l=-2",
        "l=0.5",
        "l=nan",
        "k=-1",
        "k=0",
        "k=1.5",
        "k=",
        "k",
        "=3",
        "",
        "k=2,3",
        "k=1e9999",
        "k=0x10",
        "k=99999999999999999999999",
        "t=2",
        "t=-0.1",
        "t=nan",
        "t=inf",
        "distinct-l=0",
        "distinct-l=2.5",
        "entropy-l=0",
        "entropy-l=-3",
        "recursive-l=3",
        "recursive-l=0,3",
        "recursive-l=3,0",
        "recursive-l=-1,2",
        "alpha-k=0,10",
        "alpha-k=2,1",
        "alpha-k=0.5",
        "alpha-k=0.5,0",
        "beta=-1",
        "beta=nan",
        "ke=0,1",
        "ke=2",
        "ke=2,-1",
        "ke=2,x",
        "delta-presence=0.1,0.5",
        "frobnicate=3",
        "K=2",
        "k=2;l=2",
        "distinct-l-alpha=2,1",
        "entropy-l-alpha=2,2",
        "recursive-l-alpha=3,4,2",
    ] {
        ground.refuses(&format!("publish t.csv --quasi a --sensitive b --require '{principle}' --out release"), &[2]);
    }
    ground.refuses("publish t.csv --quasi a --sensitive b --out release", &[2]);
    ground.refuses("publish t.csv --quasi a --sensitive c --require ke=2,1 --out release", &[2]);
    ground.refuses("publish t.csv --quasi a --require l=2 --out release", &[2]);
    ground.done();
}

#[test]
fn columns_that_are_not_there_or_named_twice_are_refused() {
    let mut ground = Ground::new(&[("t.csv", TABLE)]);
    for roles in [
        "--quasi z --sensitive b",
        "--quasi a,z --sensitive b",
        "--quasi a --sensitive z",
        "--quasi a --sensitive b --other z",
        "--quasi A --sensitive b",
        "--quasi a,a --sensitive b",
        "--quasi a,b --sensitive b",
        "--quasi a --sensitive b --other a",
        "--quasi a --quasi c --sensitive b",
        "--sensitive b",
        "--quasi '' --sensitive b",
        "--quasi a --sensitive b --kind z=integer",
        "--quasi a --sensitive b --order z=1,2",
        "--quasi a --sensitive b --intervals z=5",
        "--quasi a --sensitive b --prefix z",
        "--quasi a --sensitive b --partitioner column",
        "--quasi a --sensitive b --partitioner column --group-column z",
        "--quasi a --sensitive b --group-column c",
    ] {
        ground.refuses(&format!("publish t.csv {roles} --require k=2 --out release"), &[2]);
    }
    ground.refuses("profile t.csv --quasi z", &[2]);
    ground.refuses("profile t.csv --quasi a --sensitive z", &[2]);
    ground.refuses("profile t.csv --quasi a --sensitive a", &[2]);
    ground.done();
}

#[test]
fn kinds_orders_and_widths_that_do_not_fit_are_refused() {
    let mut ground = Ground::new(&[("t.csv", TABLE)]);
    for flags in [
        "--kind c=integer",
        "--kind c=real",
        "--kind c=date",
        "--kind c=ordinal",
        "--order c=x,y",
        "--order c=x,y,z,x",
        "--intervals a=0",
        "--intervals a=-5",
        "--intervals a=5,7",
        "--intervals a=10,5",
        "--intervals a=x",
        "--intervals c=5",
        "--intervals a=5 --prefix a",
        "--method frobnicate",
        "--partitioner frobnicate",
        "--delimiter ;",
    ] {
        ground.refuses(&format!("publish t.csv --quasi a,c --sensitive b --require k=2 --out release {flags}"), &[2]);
    }
    ground.done();
}

#[test]
fn what_needs_numbers_refuses_words() {
    let mut ground = Ground::new(&[("t.csv", TABLE)]);
    for flags in [
        "--require ke=2,1",
        "--require k=2 --partitioner min-sum",
        "--require k=2 --partitioner min-max",
        "--require k=2 --partitioner min-max-exact",
        "--require k=2 --partitioner max-groups",
        "--require k=2 --method shuffle",
        "--require k=2 --method shuffle --partitioner nearby",
        "--require k=2 --method rank-swap",
    ] {
        ground.refuses(&format!("publish t.csv --quasi a,b --sensitive c --out release {flags}"), &[2]);
    }
    ground.done();
}

#[test]
fn usage_errors_are_an_error_line_and_a_hint_line_too() {
    let mut ground = Ground::new(&[("t.csv", TABLE)]);
    for line in [
        "frobnicate",
        "publish",
        "publish t.csv",
        "publish t.csv --out release --frobnicate",
        "publish t.csv --out release --format xlsx",
        "publish t.csv --out release --missing perhaps",
        "publish t.csv --out release --threads 0",
        "publish t.csv --out release --threads many",
        "publish t.csv --out release --seed x",
        "publish t.csv --out release --seed -1",
        "publish t.csv --out release --kind a=frobnicate",
        "publish t.csv --out release --kind a",
        "publish t.csv --out release --delimiter ab",
        "publish t.csv --out ''",
        "profile t.csv --output xml",
        "example --rows 0 --out example",
        "example --rows -5 --out example",
        "audit",
    ] {
        ground.refuses(line, &[2]);
    }
    ground.done();
}

#[test]
fn broken_specs_are_refused() {
    let plain = "input = \"t.csv\"\n[attributes.a]\nrole = \"quasi\"\n[attributes.b]\nrole = \"sensitive\"\n";
    let release = "[release]\nrequire = [\"k=2\"]\n";
    let nested = format!("input = {}1{}\n", "[".repeat(100_000), "]".repeat(100_000));
    let specs = [
        ("unknown-key", format!("qasi = 1\n{plain}{release}")),
        ("unknown-attribute-key", format!("{plain}knid = \"real\"\n{release}")),
        ("unknown-release-key", format!("{plain}{release}out = \"x\"\n")),
        ("wrong-type", format!("{plain}kind = 3\n{release}")),
        ("require-is-text", format!("{plain}[release]\nrequire = \"k=2\"\n")),
        ("syntax", format!("{plain}[release\n")),
        ("twice", format!("{plain}{release}{release}")),
        ("unknown-role", format!("{plain}{release}").replace("quasi", "quaxi")),
        ("unknown-column", format!("{plain}{release}").replace("attributes.a", "attributes.zz")),
        ("no-input", release.to_owned()),
        ("empty", String::new()),
        ("no-table", format!("{plain}{release}").replace("t.csv", "absent.csv")),
        ("itself", format!("{plain}{release}").replace("t.csv", "itself.toml")),
        ("bad-principle", format!("{plain}{release}").replace("k=2", "k=x")),
        ("bad-method", format!("{plain}{release}method = \"frobnicate\"\n")),
        ("no-such-sensitive", format!("{plain}{release}").replace("k=2", "c:l=2")),
        (
            "weights",
            format!(
                "{plain}categories = [[\"5\"], [\"6\", \"7\"]]\nweights = \"x\"\n[release]\nrequire = [\"distinct-l-alpha=2,1\"]\n"
            ),
        ),
        (
            "categories",
            format!("{plain}categories = [[\"5\"], [\"6\"]]\n[release]\nrequire = [\"distinct-l-alpha=2,1\"]\n"),
        ),
        (
            "category-twice",
            format!(
                "{plain}categories = [[\"5\"], [\"6\", \"7\", \"5\"]]\n[release]\nrequire = [\"distinct-l-alpha=2,1\"]\n"
            ),
        ),
        ("nested", nested),
    ];
    let mut ground = Ground::new(&[("t.csv", TABLE)]);
    for (name, text) in specs {
        std::fs::write(ground.path().join(format!("{name}.toml")), text).unwrap();
        ground.refuses(&format!("publish {name}.toml --out release"), &[2]);
    }
    std::fs::write(ground.path().join("binary.toml"), b"\xff\xfe\0").unwrap();
    ground.refuses("publish binary.toml --out release", &[2]);
    ground.refuses("publish absent.toml --out release", &[2]);
    ground.refuses("profile unknown-key.toml", &[2]);
    ground.done();
}

#[test]
fn what_cannot_be_reached_ends_with_3_and_writes_nothing() {
    let mut ground = Ground::new(&[("t.csv", TABLE)]);
    for (principle, strongest) in [
        ("k=7", "k=6"),
        ("distinct-l=4", "distinct-l=3"),
        ("l=3", "l=2"),
        ("entropy-l=3", "entropy-l=2.74"),
        ("recursive-l=1,2", "recursive-l=1.01,2"),
        ("recursive-l=2,4", "recursive-l=3.01,3"),
        ("ke=4,1", "ke=3,1"),
        ("ke=2,3", "ke=2,2"),
        ("alpha-k=0.4,2", "alpha-k=0.5,2"),
        ("alpha-k=0.5,7", "alpha-k=0.5,6"),
    ] {
        let publish = |principle| format!("publish t.csv --quasi a --sensitive b --require {principle} --out release");
        ground.refuses(&publish(principle), &[3]);
        let outcome = crate::common::run(ground.path(), &publish(principle));
        if !outcome.stderr.ends_with(&format!(" {strongest}\n")) {
            ground.wrong.push(format!("the strongest is {strongest}\n{outcome}"));
        }
        // The advice must be correct.
        let advised = crate::common::run(ground.path(), &publish(strongest));
        if advised.code != Some(0) {
            ground.wrong.push(format!("advised after {principle}:\n{advised}"));
        }
        std::fs::remove_dir_all(ground.path().join("release")).unwrap();
    }
    ground.done();
}
