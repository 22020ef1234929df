//! Made-up people, and what an owner might ask for.

use chrysalis::Form;
use rand::rngs::ChaCha20Rng;
use rand::seq::{IndexedRandom, SliceRandom};
use rand::{Rng, RngExt};
use serde_json::{Map, Value as Json, json};

/// A town and its region.
const TOWNS: [(&str, &str); 8] = [
    ("Arles", "south"),
    ("Brest", "west"),
    ("Caen", "west"),
    ("Dijon", "east"),
    ("Evian", "east"),
    ("Foix", "south"),
    ("Gap", "south"),
    ("Metz", "east"),
];
/// From the lowest to the highest.
pub(crate) const GRADES: [&str; 5] = ["none", "basic", "middle", "upper", "top"];
/// Diseases, how often each is drawn, and the organ it affects.
const DISEASES: [(&str, u32, &str); 7] = [
    ("asthma", 4, "lung"),
    ("bronchitis", 3, "lung"),
    ("cold", 5, "lung"),
    ("diabetes", 3, "rest"),
    ("eczema", 2, "rest"),
    ("flu", 5, "lung"),
    ("gastritis", 3, "rest"),
];

/// The columns of the table, in order.
pub(crate) const COLUMNS: [&str; 10] =
    ["id", "age", "weight", "born", "grade", "town", "sex", "ward", "shift", "disease"];

/// A table of people as text, row by row, with the sensitive numbers in the last column.
#[derive(Clone, Debug)]
pub(crate) struct People {
    pub(crate) header: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
}

impl People {
    /// From 60 to 400 people. Weights are unique, so a weight identifies a person.
    pub(crate) fn draw(rng: &mut ChaCha20Rng) -> People {
        let n: usize = *[60, 80, 120, 200, 400].choose(rng).unwrap();
        let n = rng.random_range(n * 3 / 4..=n).max(60);
        let mut weights: Vec<usize> = (0..n).collect();
        weights.shuffle(rng);
        let are_pays_distinct = rng.random_range(0..2) == 0;
        let mut pays: Vec<usize> = (0..n).collect();
        pays.shuffle(rng);
        let lacks_towns = rng.random_range(0..3) == 0;
        let dealt: u32 = DISEASES.iter().map(|(_, weight, _)| weight).sum();
        let row = |at: usize| {
            let mut left = rng.random_range(0..dealt);
            let disease = DISEASES.iter().find(|(_, weight, _)| match left.checked_sub(*weight) {
                Some(rest) => {
                    left = rest;
                    false
                }
                None => true,
            });
            let town = TOWNS.choose(rng).unwrap().0;
            let is_lacking = lacks_towns && rng.random_range(0..20) == 0;
            let pay = match are_pays_distinct {
                true => 1000 + 37 * pays[at],
                false => 1000 + 50 * rng.random_range(0..60),
            };
            vec![
                format!("P{:07}", rng.random_range(0..9_000_000) + at),
                rng.random_range(18..90).to_string(),
                format!("{}", 40.25 + weights[at] as f64 * 0.5),
                format!("19{}-{:02}-{:02}", rng.random_range(40..99), rng.random_range(1..13), rng.random_range(1..29)),
                GRADES.choose(rng).unwrap().to_string(),
                if is_lacking { String::new() } else { town.to_owned() },
                ["F", "M"].choose(rng).unwrap().to_string(),
                ["A", "B", "C"].choose(rng).unwrap().to_string(),
                ["day", "late", "night"].choose(rng).unwrap().to_string(),
                disease.unwrap().0.to_owned(),
                pay.to_string(),
            ]
        };
        let rows = (0..n).map(row).collect();
        let header = COLUMNS.iter().copied().chain(["pay"]).map(str::to_owned).collect();
        People { header, rows }
    }

    pub(crate) fn at(&self, column: &str) -> usize {
        self.header.iter().position(|name| name == column).unwrap()
    }

    pub(crate) fn column(&self, column: &str) -> Vec<String> {
        let at = self.at(column);
        self.rows.iter().map(|row| row[at].clone()).collect()
    }

    pub(crate) fn csv(&self) -> String {
        let lines = std::iter::once(&self.header).chain(&self.rows);
        lines.map(|line| format!("{}\n", line.join(","))).collect()
    }
}

/// What an owner might ask for: a draft that publishes these people in a form.
pub(crate) fn draft(form: Form, rng: &mut ChaCha20Rng) -> Json {
    let numbers = matches!(form, Form::Shuffle | Form::RankSwap) || rng.random_range(0..4) == 0;
    let sensitive = if numbers { "pay" } else { "disease" };
    let mut attributes = Map::new();
    let grades: Vec<&str> = GRADES.to_vec();
    attributes.insert("grade".into(), json!({"kind": "ordinal", "order": grades}));
    let quasi = quasi(form, rng);
    let is_labelled = matches!(form, Form::Generalize | Form::Angel | Form::Butterfly);
    let names: Vec<&str> = quasi.iter().flatten().copied().collect();
    if !names.contains(&"grade") {
        attributes.remove("grade");
    }
    if is_labelled && names.contains(&"town") && rng.random_range(0..2) == 0 {
        let lines: Vec<[&str; 3]> = TOWNS.iter().map(|(town, region)| [*town, *region, "*"]).collect();
        attributes.insert("town".into(), json!({"taxonomy": lines}));
    }
    let mut require = requirements(form, numbers, rng);
    if !numbers && rng.random_range(0..4) == 0 && form != Form::Butterfly {
        match rng.random_range(0..2) {
            0 => {
                let lines: Vec<[&str; 3]> = DISEASES.iter().map(|(name, _, organ)| [*name, *organ, "*"]).collect();
                attributes.insert("disease".into(), json!({"taxonomy": lines}));
                require.push("t=0.7".into());
            }
            _ => {
                let part = |organ: &str| -> Vec<&str> {
                    DISEASES.iter().filter(|disease| disease.2 == organ).map(|disease| disease.0).collect()
                };
                attributes.insert("disease".into(), json!({"categories": [part("rest"), part("lung")]}));
                require.push("distinct-l-alpha=2,1".into());
            }
        }
    }
    let mut release = json!({"method": form.name(), "require": require});
    if form == Form::Angel && rng.random_range(0..2) == 0 {
        release["marginals"] = json!([[names[0], names[1]]]);
    }
    if form == Form::Generalize && rng.random_range(0..3) == 0 {
        release["partitioner"] = json!("mondrian");
    }
    let mut draft = json!({"sensitive": sensitive, "attributes": attributes, "release": release});
    draft["quasi"] = if form == Form::Butterfly { json!(quasi) } else { json!(quasi[0]) };
    if form != Form::Permute && rng.random_range(0..4) == 0 {
        draft["other"] = json!(["ward"]);
        if form.shape().group_id.is_some() {
            draft["release"]["accept"] = json!(["disclosure"]);
        }
    }
    draft["release"]["format"] = json!(["csv", "parquet"].choose(rng).unwrap());
    draft
}

/// What every user may know; all forms but one have a single user. Where values are shown exactly, it includes the
/// weight.
fn quasi(form: Form, rng: &mut ChaCha20Rng) -> Vec<Vec<&'static str>> {
    let mut names = ["age", "weight", "born", "grade", "town", "sex"];
    names.shuffle(rng);
    match form {
        Form::Butterfly => vec![vec![names[0], names[1]], vec![names[1], names[2]]],
        Form::Generalize | Form::Angel => vec![names[..rng.random_range(2..=4)].to_vec()],
        Form::Anatomy | Form::Permute | Form::Shuffle | Form::RankSwap => {
            let mut some = names[..rng.random_range(2..=4)].to_vec();
            if !some.contains(&"weight") {
                some[0] = "weight";
            }
            vec![some]
        }
    }
}

fn requirements(form: Form, numbers: bool, rng: &mut ChaCha20Rng) -> Vec<String> {
    let sets: &[&[&str]] = match form {
        Form::Shuffle => &[&["ke=3,200"], &["ke=4,400"], &["k=4", "distinct-l=3"], &["l=3"]],
        Form::RankSwap => &[&["ke=3,200"], &["k=4"], &["distinct-l=3"]],
        Form::Angel => &[&["k=4", "l=2"], &["k=5", "l=3"], &["k=3", "l=2", "distinct-l=3"]],
        Form::Butterfly => &[&["k=4"], &["k=3", "l=2"], &["k=5", "distinct-l=2"]],
        Form::Generalize | Form::Anatomy | Form::Permute if numbers => &[&["l=3"], &["k=4", "ke=3,300"]],
        Form::Generalize | Form::Anatomy | Form::Permute => {
            &[&["l=3"], &["k=4", "l=2"], &["k=5", "distinct-l=3"], &["l=2", "entropy-l=2"], &["k=6", "t=0.5"]]
        }
    };
    sets.choose(rng).unwrap().iter().map(|&text| text.to_owned()).collect()
}

/// A random number below `n`; `None` if `n` is 0.
pub(crate) fn pick(rng: &mut impl Rng, n: usize) -> Option<usize> {
    (n > 0).then(|| rng.random_range(0..n))
}
