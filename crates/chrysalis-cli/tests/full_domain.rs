//! `--partitioner full-domain` on the command line, and on Adult compared with all 32,400 combinations of levels.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "tests")]

mod common;

#[path = "full_domain/arx.rs"]
mod arx;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::hash::{BuildHasherDefault, Hasher};
use std::io::Read as _;
use std::path::Path;

use common::Release;
use serde_json::Value;

/// Twelve people, of whom one is alone in Lyon.
const PEOPLE: &str = "age,city,disease\n21,Bonn,flu\n22,Bonn,cold\n23,Bonn,flu\n24,Bonn,cold\n31,Kiel,flu\n32,Kiel,cold\n\
                      33,Kiel,flu\n34,Kiel,cold\n41,Nice,flu\n42,Nice,cold\n43,Nice,flu\n99,Lyon,cough\n";
const CITY: &str = "Bonn;Germany;*\nKiel;Germany;*\nNice;France;*\nLyon;France;*\n";
const ROLES: &str = "people.csv --quasi age,city --sensitive disease --taxonomy city=city.csv --intervals age=10,50";

fn people() -> tempfile::TempDir {
    let ground = tempfile::tempdir().unwrap();
    fs::write(ground.path().join("people.csv"), PEOPLE).unwrap();
    fs::write(ground.path().join("city.csv"), CITY).unwrap();
    ground
}

#[test]
fn the_summary_tells_levels_suppressed_rows_and_the_proof() {
    let ground = people();
    let folder = ground.path();
    let line =
        format!("publish {ROLES} --partitioner full-domain --require k=3 --suppress 0.4 --seed 1 --format csv --out r");
    let outcome = common::run(folder, &line).expect(0);
    let text = &outcome.stdout;
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("Published 12 rows in "), "{text}");
    assert!(lines[2].starts_with("Suppressed 4 rows (33.33 %): shown fully generalized, as one group"), "{text}");
    assert!(text.contains("1 of 3") && text.contains("0 of 2"), "{text}");
    assert!(text.contains("proven optimal for loss ("), "{text}");
    assert!(text.contains(" of 12 combinations of levels checked)"), "{text}");

    let release = Release::at(folder.join("r"));
    assert_eq!(release.manifest()["suppressed"], 4);
    let audit = common::run(folder, "audit r --microdata people.csv --output json").expect(0).json();
    let check = audit["checks"].as_array().unwrap().iter().find(|check| check["name"] == "suppressed").unwrap().clone();
    assert_eq!(check["detail"], "4 rows are fully generalized, in one group that is judged like every other");

    // The audit notices a manifest that hides suppressed rows or counts them wrongly.
    let mut manifest = release.manifest();
    manifest["suppressed"] = 3.into();
    release.write_manifest(&manifest);
    let failed = common::run(folder, "audit r").expect(4);
    assert!(failed.stdout.contains("the fully generalized group has 4 rows, the manifest says 3"), "{}", failed.stdout);
}

#[test]
fn json_and_spec_say_the_same_as_flags() {
    let ground = people();
    let folder = ground.path();
    let spec = "input = \"people.csv\"\n[attributes.age]\nrole = \"quasi\"\nintervals = [10, 50]\n[attributes.city]\n\
                role = \"quasi\"\ntaxonomy = \"city.csv\"\n[attributes.disease]\nrole = \"sensitive\"\n[release]\n\
                partitioner = \"full-domain\"\nrequire = [\"k=3\"]\nsuppress = 0.4\nmetric = \"dm\"\ntime_limit = 60\n";
    fs::write(folder.join("chrysalis.toml"), spec).unwrap();
    let from_spec = common::run(folder, "publish chrysalis.toml --out a --output json").expect(0).json();
    let flags =
        format!("publish {ROLES} --partitioner full-domain --require k=3 --suppress 0.4 --metric dm --time-limit 60");
    let from_flags = common::run(folder, &format!("{flags} --out b --output json")).expect(0).json();
    for key in ["levels", "suppressed_rows", "metric", "nodes", "nodes_checked", "proven_optimal", "ncp"] {
        assert_eq!(from_spec[key], from_flags[key], "{key}");
        assert!(!from_spec[key].is_null(), "{key}");
    }
    assert_eq!((&from_spec["metric"], &from_spec["proven_optimal"]), (&"dm".into(), &true.into()));
    let flag_wins = common::run(folder, "publish chrysalis.toml --metric height --suppress 0 --out c --output json");
    let flag_wins = flag_wins.expect(0).json();
    assert_eq!((&flag_wins["metric"], &flag_wins["suppressed_rows"]), (&"height".into(), &0.into()));
    assert!(Release::at(folder.join("c")).manifest().get("suppressed").is_none(), "0 is not written");
}

#[test]
fn time_that_is_up_gives_a_release_that_is_not_proven() {
    let ground = people();
    let folder = ground.path();
    let line = format!("publish {ROLES} --partitioner full-domain --require k=3 --time-limit 0 --out r");
    let outcome = common::run(folder, &line).expect(0);
    assert!(
        outcome.stdout.contains("NOT proven optimal for loss, time ran out: --time-limit gives it more (1 of 12"),
        "{}",
        outcome.stdout
    );
    common::run(folder, "audit r --microdata people.csv").expect(0);
}

#[test]
fn fourteen_attributes_keep_the_time_limit_and_the_promise() {
    let ground = tempfile::tempdir().unwrap();
    let folder = ground.path();
    let names: Vec<String> = (0..14).map(|at| format!("q{at}")).collect();
    let number = |row: u64, at: u64| (row * 7_919 + at * 104_729) % (10_007 + 2 * at);
    let mut text = format!("{},ill\n", names.join(","));
    for row in 0..2_000 {
        (0..14).for_each(|at| text.push_str(&format!("{},", number(row, at) % 32)));
        text.push_str(&format!("i{}\n", number(row, 99) % 9));
    }
    fs::write(folder.join("wide.csv"), text).unwrap();
    let intervals: String = names.iter().map(|name| format!(" --intervals {name}=2,4,8,16")).collect();
    let roles = format!("wide.csv --quasi {} --sensitive ill{intervals}", names.join(","));
    for (at, flags) in ["--require k=4", "--require k=4 --require l=3 --suppress 0.05"].iter().enumerate() {
        let line = format!("publish {roles} --partitioner full-domain {flags} --time-limit 1 --out {at} --output json");
        let json = common::run(folder, &line).expect(0).json();
        // 6 to the power of 14: a complete search would take far longer than seconds.
        assert_eq!((&json["nodes"], &json["proven_optimal"]), (&78_364_164_096u64.into(), &false.into()), "{json}");
        assert!(json["phases"]["partition"].as_f64().unwrap() < 30.0, "{json}");
        assert!(json["suppressed_rows"].as_u64().unwrap() <= 100, "{json}");
        let audit = common::run(folder, &format!("audit {at} --microdata wide.csv --output json")).expect(0).json();
        assert_eq!(audit["ok"], true, "{audit}");
    }
}

#[test]
fn requests_that_make_no_sense_are_refused() {
    let ground = people();
    let check = |flags: &str, message: &str| {
        let outcome = common::run(ground.path(), &format!("publish {ROLES} --require k=2 --out r {flags}"));
        assert!(outcome.stderr.contains(message), "{flags}: {}", outcome.stderr);
        assert!(outcome.complaint(&[2]).is_none(), "{:?}", outcome.complaint(&[2]));
    };
    check("--suppress 0.1", "`suppress` goes with the partitioner full-domain, not with compact");
    check("--metric dm --partitioner nearby", "`metric` goes with the partitioner full-domain, not with nearby");
    check("--time-limit 3 --partitioner mondrian", "`time_limit` goes with the partitioner full-domain");
    check("--partitioner full-domain --method anatomy --suppress 0.1", "only where quasi values are generalized");
    for share in ["1.1", "-0.1", "five", "nan", "1e-3", ""] {
        check(&format!("--partitioner full-domain --suppress='{share}'"), "expected a number from 0 to 1");
    }
    for seconds in ["-1", "nan", "inf", "soon", "1e300"] {
        check(&format!("--partitioner full-domain --time-limit='{seconds}'"), "expected a number of seconds");
    }
    check(
        "--partitioner full-domain --metric ncp",
        "expected loss, dm, average, precision, height, entropy or monotonic-entropy",
    );
}

#[test]
fn other_forms_take_its_groups() {
    let ground = people();
    let folder = ground.path();
    for method in ["anatomy", "permute"] {
        let line = format!("publish {ROLES} --partitioner full-domain --require l=2 --method {method} --out {method}");
        common::run(folder, &line).expect(0);
        common::run(folder, &format!("audit {method} --microdata people.csv")).expect(0);
    }
}

#[test]
fn levels_that_are_fixed_are_shown_and_only_the_others_searched_for() {
    let ground = people();
    let folder = ground.path();
    let publish = |flags: &str, out: &str| {
        common::run(folder, &format!("publish {ROLES} --partitioner full-domain {flags} --out {out} --output json"))
    };
    let levels = |json: &Value| ["age", "city"].map(|name| json["levels"][name]["level"].as_u64().unwrap());
    // All ages as one, and two countries.
    let all = publish("--require k=3 --levels age=3,city=1", "all").expect(0).json();
    assert_eq!((levels(&all), &all["nodes"], &all["proven_optimal"]), ([3, 1], &1.into(), &true.into()), "{all}");
    assert_eq!(all["cost"], all["ncp_sum"], "the metric is loss");
    let text = common::run(
        folder,
        &format!("publish {ROLES} --partitioner full-domain --require k=3 --levels age=3,city=1 --out t"),
    );
    assert!(text.expect(0).stdout.contains("none: all levels are fixed (loss is "));
    let some = publish("--require k=3 --levels city=2 --suppress 0.4 --metric height", "some").expect(0).json();
    assert_eq!((levels(&some), &some["nodes"]), ([1, 2], &4.into()), "ages in tens, with four rows suppressed: {some}");
    // The spec says the same.
    let spec = "input = \"people.csv\"\n[attributes.age]\nrole = \"quasi\"\nintervals = [10, 50]\n[attributes.city]\n\
                role = \"quasi\"\ntaxonomy = \"city.csv\"\n[attributes.disease]\nrole = \"sensitive\"\n[release]\n\
                partitioner = \"full-domain\"\nrequire = [\"k=3\"]\nlevels = { age = 3, city = 1 }\n";
    fs::write(folder.join("chrysalis.toml"), spec).unwrap();
    let from_spec = common::run(folder, "publish chrysalis.toml --out spec --output json").expect(0).json();
    assert_eq!((&from_spec["levels"], &from_spec["cost"]), (&all["levels"], &all["cost"]));
    common::run(folder, "audit all --microdata people.csv").expect(0);
    // Levels that do not keep the promise are refused with the reason, and no other levels are tried.
    let failed = publish("--require k=3 --levels age=0,city=0", "no");
    assert!(
        failed.stderr.contains("12 of 12 rows stand in groups that fail it, and at most 0 may be suppressed"),
        "{failed}"
    );
    assert!(failed.complaint(&[3]).is_none(), "{:?}", failed.complaint(&[3]));
    let failed = publish("--require k=3 --levels age=0 --suppress 0.5", "no");
    assert!(failed.stderr.contains("and all others at their tops, 12 of 12 rows"), "{failed}");
    assert!(!folder.join("no").exists());
    for (flags, message) in [
        ("--levels age=4", "column `age` has no level 4: its levels are 0 to 3"),
        ("--levels disease=1", "`disease` is not a quasi column"),
        ("--levels age", "expected columns with their levels"),
        ("--levels age=-1", "expected columns with their levels"),
        ("--levels age=1,age=2", "the level of `age` is given twice"),
        ("--levels age=1,city=1 --time-limit 5", "all levels are fixed"),
    ] {
        let outcome = publish(&format!("--require k=2 {flags}"), "no");
        assert!(outcome.stderr.contains(message), "{flags}: {}", outcome.stderr);
        assert!(outcome.complaint(&[2]).is_none(), "{:?}", outcome.complaint(&[2]));
    }
}

const ADULT: &str = "adult_train_complete.csv.gz";

const QUASI: [&str; 9] = [
    "age",
    "workclass",
    "education",
    "marital_status",
    "relationship",
    "race",
    "sex",
    "hours_per_week",
    "native_country",
];

/// The arguments that publish Adult, if the data are available.
fn adult() -> Option<String> {
    let file = common::data(ADULT)?;
    let mut line = format!(
        "publish {} --quasi {} --sensitive occupation --partitioner full-domain --accept disclosure",
        file.display(),
        QUASI.join(",")
    );
    for name in QUASI {
        let taxonomy = common::data(&format!("hierarchies/adult/{name}.csv"))?;
        line.push_str(&format!(" --taxonomy {name}={}", taxonomy.display()));
    }
    Some(line)
}

#[test]
fn adult_is_published_and_audited() {
    let (Some(line), Some(file)) = (adult(), common::data(ADULT)) else { return };
    let ground = tempfile::tempdir().unwrap();
    let folder = ground.path();
    for (at, flags) in
        ["--require k=5", "--require k=10 --suppress 0.05", "--require t=0.2 --suppress 0.05 --metric precision"]
            .iter()
            .enumerate()
    {
        let json = common::run(folder, &format!("{line} {flags} --out {at} --output json")).expect(0).json();
        assert_eq!((&json["proven_optimal"], &json["nodes"]), (&true.into(), &32_400.into()), "{json}");
        assert!(json["suppressed_rows"].as_u64().unwrap() <= 1_508, "{json}");
        let audit = common::run(folder, &format!("audit {at} --microdata {} --output json", file.display())).expect(0);
        assert_eq!(audit.json()["ok"], true);
    }
    // The optimum, which the search of all combinations below confirms.
    let json = common::run(folder, &format!("{line} --require k=5 --out again --output json")).expect(0).json();
    assert_eq!(levels(&json), [4, 2, 1, 2, 1, 1, 0, 3, 2]);
}

fn levels(json: &Value) -> Vec<u64> {
    QUASI.iter().map(|name| json["levels"][name]["level"].as_u64().unwrap()).collect()
}

/// One publication of Adult compared with every combination of levels, computed from the files alone.
fn exhaustive(flags: &str, suppress: f64, passes: impl Fn(&Counts, &Counts) -> bool + Sync) {
    if !chrysalis_testkit::is_slow() {
        eprintln!("skipped: takes minutes (set CHRYSALIS_SLOW=1)");
        return;
    }
    let (Some(line), Some(file)) = (adult(), common::data(ADULT)) else { return };
    let ground = tempfile::tempdir().unwrap();
    let json = common::run(ground.path(), &format!("{line} {flags} --out r --output json")).expect(0).json();
    let table = Adult::read(&file);
    let limit = (table.rows as f64 * suppress).floor() as u32;
    let chosen: Vec<usize> = levels(&json).into_iter().map(|level| level as usize).collect();
    let claimed = table.cost(&chosen, limit, f64::INFINITY, &passes).expect("the chosen levels will do");
    assert!((claimed - json["ncp_sum"].as_f64().unwrap()).abs() < 1e-6 * claimed, "{claimed} {json}");
    let all = table.all_levels();
    assert_eq!(all.len(), 32_400);
    let halves = std::thread::scope(|scope| {
        let (table, passes) = (&table, &passes);
        let best = move |part: &[Vec<usize>]| {
            let costs = part.iter().filter_map(|levels| table.cost(levels, limit, claimed, passes));
            costs.fold(f64::INFINITY, f64::min)
        };
        let (first, second) = all.split_at(all.len() / 2);
        let first = scope.spawn(move || best(first));
        [best(second), first.join().unwrap()]
    });
    assert!(halves.iter().all(|&best| best >= claimed * (1.0 - 1e-9)), "{claimed} is not the best of {halves:?}");
}

/// A hash fast enough to count the groups of all combinations in minutes.
#[derive(Default)]
struct Mixed(u64);

impl Hasher for Mixed {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0.rotate_left(7) ^ u64::from(byte)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        }
    }
}

/// How often each occupation occurs.
type Counts = [u32; 14];

struct Adult {
    rows: u32,
    whole: Counts,
    /// Distinct quasi tuples as codes, with their occupations.
    tuples: Vec<([u8; 9], Counts)>,
    /// By attribute and level: the label of every code, and the NCP of every label.
    labels: Vec<Vec<Vec<u8>>>,
    ncp: Vec<Vec<Vec<f64>>>,
    /// By attribute and level: the loss over all rows.
    base: Vec<Vec<f64>>,
}

fn number<'a>(names: &mut BTreeMap<&'a str, u8>, name: &'a str) -> u8 {
    let next = names.len() as u8;
    *names.entry(name).or_insert(next)
}

impl Adult {
    fn read(file: &Path) -> Adult {
        let mut text = String::new();
        flate2::read::GzDecoder::new(fs::File::open(file).unwrap()).read_to_string(&mut text).unwrap();
        let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
        let header = lines.next().unwrap();
        let place = |name: &str| header.iter().position(|column| *column == name).unwrap();
        let (places, sensitive) = (QUASI.map(place), place("occupation"));
        let mut codes: Vec<BTreeMap<&str, u8>> = vec![BTreeMap::new(); 9];
        let mut occupations = BTreeMap::new();
        let mut tuples: BTreeMap<[u8; 9], Counts> = BTreeMap::new();
        let (mut rows, mut whole) = (0, [0; 14]);
        for line in lines {
            let tuple = std::array::from_fn(|at| number(&mut codes[at], line[places[at]]));
            let occupation = usize::from(number(&mut occupations, line[sensitive]));
            tuples.entry(tuple).or_default()[occupation] += 1;
            whole[occupation] += 1;
            rows += 1;
        }
        let mut adult = Adult {
            rows,
            whole,
            tuples: tuples.into_iter().collect(),
            labels: Vec::new(),
            ncp: Vec::new(),
            base: Vec::new(),
        };
        for (at, name) in QUASI.iter().enumerate() {
            adult.read_taxonomy(at, name, &codes[at]);
        }
        adult
    }

    fn read_taxonomy(&mut self, at: usize, name: &str, codes: &BTreeMap<&str, u8>) {
        let text = fs::read_to_string(common::data(&format!("hierarchies/adult/{name}.csv")).unwrap()).unwrap();
        let lines: BTreeMap<&str, Vec<&str>> =
            text.lines().map(|line| (line.split(';').next().unwrap(), line.split(';').collect())).collect();
        let n_levels = lines.values().next().unwrap().len();
        let (mut labels, mut ncp, mut base) = (Vec::new(), Vec::new(), Vec::new());
        let label = |value: &str, level: usize| lines[value][level];
        for level in 0..n_levels {
            let mut names = BTreeMap::new();
            let mut label_of = vec![0; codes.len()];
            for (value, &code) in codes {
                label_of[usize::from(code)] = number(&mut names, label(value, level));
            }
            let values = |label: usize| label_of.iter().filter(|&&known| usize::from(known) == label).count();
            let loss = |label| if values(label) == 1 { 0.0 } else { values(label) as f64 / codes.len() as f64 };
            let losses: Vec<f64> = (0..names.len()).map(loss).collect();
            let loss = |(tuple, counts): &([u8; 9], Counts)| {
                f64::from(counts.iter().sum::<u32>()) * losses[usize::from(label_of[usize::from(tuple[at])])]
            };
            base.push(self.tuples.iter().map(loss).sum());
            labels.push(label_of);
            ncp.push(losses);
        }
        self.labels.push(labels);
        self.ncp.push(ncp);
        self.base.push(base);
    }

    fn all_levels(&self) -> Vec<Vec<usize>> {
        self.labels.iter().fold(vec![Vec::new()], |all, levels| {
            let longer = |before: &Vec<usize>| {
                let before = before.clone();
                (0..levels.len()).map(move |level| before.iter().copied().chain([level]).collect::<Vec<_>>())
            };
            all.iter().flat_map(longer).collect()
        })
    }

    /// The loss of a combination of levels; `None` if it is not admissible, or loses more even before suppression.
    fn cost(
        &self,
        levels: &[usize],
        limit: u32,
        enough: f64,
        passes: &(impl Fn(&Counts, &Counts) -> bool + Sync),
    ) -> Option<f64> {
        let base: f64 = self.base.iter().zip(levels).map(|(base, &level)| base[level]).sum();
        if base > enough {
            return None;
        }
        let mut groups: HashMap<[u8; 9], Counts, BuildHasherDefault<Mixed>> = HashMap::default();
        for (tuple, counts) in &self.tuples {
            let key = std::array::from_fn(|at| self.labels[at][levels[at]][usize::from(tuple[at])]);
            let sum = groups.entry(key).or_insert([0; 14]);
            sum.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
        let size = |counts: &Counts| counts.iter().sum::<u32>();
        let mut apart = [0; 14];
        let mut gone: BTreeSet<[u8; 9]> = BTreeSet::new();
        let mut stay: Vec<(u32, [u8; 9])> = Vec::new();
        let mut put_apart = |key: &[u8; 9], apart: &mut Counts| {
            apart.iter_mut().zip(&groups[key]).for_each(|(sum, count)| *sum += count);
            gone.insert(*key);
        };
        let mut sorted: Vec<(&[u8; 9], &Counts)> = groups.iter().collect();
        sorted.sort_unstable_by_key(|(key, _)| *key);
        for (key, counts) in sorted {
            if passes(counts, &self.whole) {
                stay.push((size(counts), *key));
            } else {
                put_apart(key, &mut apart);
            }
        }
        // Labels are numbered in the order of their first value, so keys break ties as the specification requires.
        stay.sort_unstable();
        let mut stay = stay.into_iter();
        while (1..=limit).contains(&size(&apart)) && !passes(&apart, &self.whole) {
            put_apart(&stay.next()?.1, &mut apart);
        }
        if size(&apart) > limit {
            return None;
        }
        let lost = |key: &[u8; 9]| {
            let shown: f64 = (0..9).map(|at| self.ncp[at][levels[at]][usize::from(key[at])]).sum();
            f64::from(size(&groups[key])) * (9.0 - shown)
        };
        Some(base + gone.iter().map(lost).sum::<f64>())
    }
}

fn at_least(k: u32) -> impl Fn(&Counts, &Counts) -> bool + Sync {
    move |counts, _| counts.iter().sum::<u32>() >= k
}

#[test]
fn adult_k_5_is_the_best_of_all() {
    exhaustive("--require k=5", 0.0, at_least(5));
}

#[test]
fn adult_k_5_with_suppression_is_the_best_of_all() {
    exhaustive("--require k=5 --suppress 0.05", 0.05, at_least(5));
}

#[test]
fn adult_k_10_is_the_best_of_all() {
    exhaustive("--require k=10", 0.0, at_least(10));
}

#[test]
fn adult_k_10_with_suppression_is_the_best_of_all() {
    exhaustive("--require k=10 --suppress 0.05", 0.05, at_least(10));
}

#[test]
fn adult_distinct_l_4_is_the_best_of_all() {
    for (flags, suppress) in [("--require distinct-l=4", 0.0), ("--require distinct-l=4 --suppress 0.05", 0.05)] {
        exhaustive(flags, suppress, |counts, _| counts.iter().filter(|&&count| count > 0).count() >= 4);
    }
}

#[test]
fn adult_t_0_2_is_the_best_of_all() {
    // Equal distance: half the sum of differences; 5·Σ max(0, c·N − C·n) ≤ n·N.
    let is_close = |counts: &Counts, whole: &Counts| {
        let (n, all) = (i64::from(counts.iter().sum::<u32>()), i64::from(whole.iter().sum::<u32>()));
        let surplus = counts.iter().zip(whole).map(|(&c, &w)| (i64::from(c) * all - i64::from(w) * n).max(0));
        5 * surplus.sum::<i64>() <= n * all
    };
    for (flags, suppress) in [("--require t=0.2", 0.0), ("--require t=0.2 --suppress 0.05", 0.05)] {
        exhaustive(flags, suppress, is_close);
    }
}
