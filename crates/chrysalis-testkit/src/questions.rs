//! A survey with every kind of column, and random questions about it.
//!
//! Everything follows from a seed. A question comes twice: as an analyst writes it, and as SQLite understands it over
//! the raw table, where dates are texts and the words of an ordinal have no order.

use std::sync::Arc;

use chrysalis_table::{Codes, Column, Date, DateTime, DictionaryChunk, Domain, Kind, Table, Value};

/// What a sensitive column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sensitive {
    /// Whole numbers on both sides of zero, none missing.
    Integers,
    /// Whole numbers above zero, some missing.
    Incomplete,
    /// Numbers with fractions, some missing.
    Reals,
    /// Words, some missing.
    Words,
}

/// The values of `grade`, from lowest to highest; not the order of their letters.
pub const GRADES: [&str; 5] = ["low", "fair", "good", "high", "best"];
/// The values of `city`: texts that trip careless quoting.
pub const CITIES: [&str; 8] =
    ["Aachen", "aachen", "L'Aquila", "d''Or", "Back\\slash\\'s", "Zürich", "100% \"up\"", "_under{a,b}"];
/// The values of `pay` where it is a word.
pub const PAYS: [&str; 6] = ["none", "Some", "some'", "much", "More", "%"];

/// A generator of random numbers, small and the same everywhere (SplitMix64).
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    /// The dice of a seed.
    pub fn new(seed: u64) -> Self {
        Dice(seed)
    }

    /// A number below `n`.
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % n
    }

    fn often(&mut self, one_in: u64) -> bool {
        self.below(one_in) == 0
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[usize::try_from(self.below(from.len() as u64)).unwrap()]
    }
}

/// The survey: `age`, `weight`, `joined`, `seen`, `grade` and `city` as quasi attributes, `pay` as the sensitive one, and
/// `part`, a column of groups of one to a dozen rows that lie close together.
pub fn survey(rows: usize, sensitive: Sensitive, seed: u64) -> Table {
    let mut dice = Dice::new(seed);
    let mut ages: Vec<Option<i64>> = (0..rows).map(|_| (!dice.often(15)).then(|| 18 + dice.below(60) as i64)).collect();
    ages.sort_unstable();
    let weights: Vec<Option<Value>> =
        (0..rows).map(|_| Some(Value::Real(40.0 + dice.below(160) as f64 / 4.0))).collect();
    let first = Date::parse("2019-12-20").unwrap().0;
    let joined = |dice: &mut Dice| (!dice.often(20)).then(|| Value::Date(Date(first + dice.below(40) as i32)));
    let joined: Vec<Option<Value>> = (0..rows).map(|_| joined(&mut dice)).collect();
    // Some before 1970, some after; drawn apart, so that the other columns stay what they are.
    let mut moments = Dice::new(seed ^ 0x5eed);
    let moment = |dice: &mut Dice| (!dice.often(20)).then(|| Value::DateTime(DateTime(FIRST_SEEN + seen(dice))));
    let seen: Vec<Option<Value>> = (0..rows).map(|_| moment(&mut moments)).collect();
    let grade = |dice: &mut Dice| (!dice.often(12)).then(|| text(dice.pick(&GRADES)));
    let grades: Vec<Option<Value>> = (0..rows).map(|_| grade(&mut dice)).collect();
    let city = |dice: &mut Dice| (!dice.often(12)).then(|| text(dice.pick(&CITIES)));
    let cities: Vec<Option<Value>> = (0..rows).map(|_| city(&mut dice)).collect();
    let pays: Vec<Option<Value>> = (0..rows).map(|_| pay(&mut dice, sensitive)).collect();
    let mut parts = Vec::with_capacity(rows);
    while parts.len() < rows {
        let size = 1 + dice.below(12) as usize;
        let part = parts.last().map_or(0, |part| part + 1);
        parts.extend(std::iter::repeat_n(part, size));
    }
    parts.truncate(rows);
    let ages: Vec<Option<Value>> = ages.into_iter().map(|age| age.map(Value::Integer)).collect();
    Table::new(vec![
        column("age", Kind::Integer, ages),
        column("weight", Kind::Real, weights),
        column("joined", Kind::Date, joined),
        column("seen", Kind::DateTime, seen),
        column("grade", Kind::Ordinal, grades),
        column("city", Kind::Category, cities),
        column("pay", kind(sensitive), pays),
        Column::integers("part", &parts),
    ])
}

/// 1969-12-31T12:00:00, in microseconds.
const FIRST_SEEN: i64 = -43_200_000_000;

/// Some steps of a quarter of an hour and a bit.
fn seen(dice: &mut Dice) -> i64 {
    dice.below(96) as i64 * 900_250_001
}

/// The survey with more sensitive columns after `pay`: `debt` and `rent`, as many as are given.
pub fn survey_of_several(rows: usize, sensitive: &[Sensitive], seed: u64) -> Table {
    let alone = survey(rows, sensitive[0], seed);
    let mut columns = alone.columns().to_vec();
    for ((&name, &sensitive), seed) in SENSITIVE.iter().zip(sensitive).skip(1).zip(seed + 1..) {
        let mut dice = Dice::new(seed ^ 0xdeb7);
        columns.push(column(name, kind(sensitive), (0..rows).map(|_| pay(&mut dice, sensitive)).collect()));
    }
    Table::new(columns)
}

/// The names of the sensitive columns.
pub const SENSITIVE: [&str; 3] = ["pay", "debt", "rent"];

fn kind(sensitive: Sensitive) -> Kind {
    match sensitive {
        Sensitive::Integers | Sensitive::Incomplete => Kind::Integer,
        Sensitive::Reals => Kind::Real,
        Sensitive::Words => Kind::Category,
    }
}

fn text(word: &str) -> Value {
    Value::Text(word.into())
}

fn pay(dice: &mut Dice, sensitive: Sensitive) -> Option<Value> {
    match sensitive {
        Sensitive::Integers => Some(Value::Integer(dice.below(60) as i64 * 50 - 1000)),
        _ if dice.often(10) => None,
        Sensitive::Incomplete => Some(Value::Integer(1 + dice.below(9000) as i64)),
        Sensitive::Reals => Some(Value::Real(dice.below(4000) as f64 / 16.0 - 50.0)),
        Sensitive::Words => Some(text(dice.pick(&PAYS))),
    }
}

fn column(name: &str, kind: Kind, values: Vec<Option<Value>>) -> Column {
    let rank = |value: &Option<Value>| {
        let word = value.as_ref().map(ToString::to_string);
        word.and_then(|word| GRADES.iter().position(|grade| *grade == word)).unwrap_or(0)
    };
    let order: Vec<usize> = if kind == Kind::Ordinal { values.iter().map(rank).collect() } else { Vec::new() };
    let all: Vec<u32> = (0..values.len() as u32).collect();
    let codes = Codes::collect(values.len(), all.iter().copied());
    let raw = Column::from_dictionary(name, kind, values, &order, vec![DictionaryChunk { codes, to_dictionary: all }]);
    if kind != Kind::Ordinal {
        return raw;
    }
    // All grades are listed, in their order: here all of them occur.
    let listed = Domain::new(kind, raw.domain().values().to_vec(), raw.domain().has_missing());
    Column::new(name, Arc::new(listed), raw.codes().clone())
}

/// A question, written both ways.
#[derive(Clone, Debug)]
pub struct RandomQuestion {
    /// For `chrysalis`.
    pub asked: String,
    /// For SQLite over the raw table `microdata`.
    pub truth: String,
    /// How many GROUP BY columns come first.
    pub n_keys: usize,
}

/// A condition, written both ways.
struct Both {
    asked: String,
    truth: String,
}

impl Both {
    fn same(text: String) -> Self {
        Both { truth: text.clone(), asked: text }
    }
}

/// Random questions about the survey.
pub struct Questions {
    dice: Dice,
    /// What each of the sensitive columns holds.
    sensitive: Vec<Sensitive>,
    /// The sensitive column that the aggregates are over.
    about: usize,
    keys: Vec<&'static str>,
}

impl Questions {
    /// The questions of a seed. `keys` are the quasi attributes that may stand in GROUP BY.
    pub fn new(sensitive: Sensitive, keys: &[&'static str], seed: u64) -> Self {
        Questions::of_several(&[sensitive], keys, seed)
    }

    /// Questions about several sensitive columns: aggregates over one of them, conditions on some.
    pub fn of_several(sensitive: &[Sensitive], keys: &[&'static str], seed: u64) -> Self {
        Questions { dice: Dice::new(seed ^ 0x5eed), sensitive: sensitive.to_vec(), about: 0, keys: keys.to_vec() }
    }

    /// One of the sensitive columns. Where there is one, no dice are thrown.
    fn any_sensitive(&mut self) -> usize {
        if self.sensitive.len() == 1 { 0 } else { self.dice.below(self.sensitive.len() as u64) as usize }
    }

    fn aggregates(&mut self) -> String {
        let of = |name: &str| format!("{name}({})", SENSITIVE[self.about]);
        let (numbers, count) = (["SUM", "AVG", "MIN", "MAX"].map(of), of("COUNT"));
        let numbers = numbers.each_ref().map(String::as_str);
        let counts = ["COUNT(*)", count.as_str(), "COUNT(age)", "COUNT(city)"];
        let mut list: Vec<String> = Vec::new();
        for at in 0..=self.dice.below(3) {
            let is_count = self.sensitive[self.about] == Sensitive::Words || self.dice.often(3);
            let call = if is_count { self.dice.pick(&counts) } else { self.dice.pick(&numbers) };
            if list.iter().all(|known| !known.starts_with(call)) {
                list.push(if self.dice.often(6) { format!("{call} AS \"Answer {at}\"") } else { call.to_owned() });
            }
        }
        list.join(", ")
    }

    /// A test of one attribute.
    fn test(&mut self, attribute: &str) -> Both {
        let dice = &mut self.dice;
        if dice.often(12) {
            let not = if dice.often(2) { "NOT " } else { "" };
            return Both::same(format!("{attribute} IS {not}NULL"));
        }
        let comparison = dice.pick(&["=", "<>", "<", "<=", ">", ">="]);
        let quoted = |word: &str| format!("'{}'", word.replace('\'', "''"));
        match (attribute, held(&self.sensitive, attribute)) {
            ("grade", _) => {
                let at = dice.below(5) as usize;
                let chosen = GRADES.iter().enumerate().filter(|(rank, _)| holds(rank.cmp(&at), comparison));
                let words: Vec<String> = chosen.map(|(_, word)| quoted(word)).collect();
                let asked = format!("grade {comparison} {}", quoted(GRADES[at]));
                // An empty list would be FALSE for a missing grade, where the comparison is UNKNOWN.
                let none = words.is_empty();
                let truth = if none { "grade < grade".into() } else { format!("grade IN ({})", words.join(", ")) };
                Both { asked, truth }
            }
            ("city", _) => self.word("city", &CITIES, comparison),
            (_, Some(Sensitive::Words)) => self.word(attribute, &PAYS, comparison),
            ("joined", _) => {
                let first = Date::parse("2019-12-20").unwrap().0;
                let day = |dice: &mut Dice| Date(first - 3 + dice.below(46) as i32).to_string();
                let (a, b) = (day(dice), day(dice));
                let typed = dice.often(2);
                let literal = |day: &str, typed: bool| if typed { format!("DATE '{day}'") } else { format!("'{day}'") };
                let write = |typed: bool, kind: u64| match kind {
                    0 => format!(
                        "joined BETWEEN {} AND {}",
                        literal(a.as_str().min(&b), typed),
                        literal(a.as_str().max(&b), typed)
                    ),
                    1 => format!("joined IN ({}, {})", literal(&a, typed), literal(&b, typed)),
                    _ => format!("joined {comparison} {}", literal(&a, typed)),
                };
                let kind = dice.below(4);
                Both { asked: write(typed, kind), truth: write(false, kind) }
            }
            ("seen", _) => {
                let moment = |dice: &mut Dice| DateTime(FIRST_SEEN - 2 + seen(dice) + dice.below(4) as i64).to_string();
                let (a, b) = (moment(dice), moment(dice));
                let typed = dice.often(2);
                let literal = |text: &str, typed: bool| match typed {
                    true => format!("TIMESTAMP '{}'", text.replace('T', " ")),
                    false => format!("'{text}'"),
                };
                let write = |typed: bool, kind: u64| match kind {
                    0 => format!(
                        "seen BETWEEN {} AND {}",
                        literal(a.as_str().min(&b), typed),
                        literal(a.as_str().max(&b), typed)
                    ),
                    1 => format!("seen IN ({}, {})", literal(&a, typed), literal(&b, typed)),
                    _ => format!("seen {comparison} {}", literal(&a, typed)),
                };
                let kind = dice.below(4);
                Both { asked: write(typed, kind), truth: write(false, kind) }
            }
            _ => self.number(attribute, comparison),
        }
    }

    fn word(&mut self, attribute: &str, words: &[&str], comparison: &str) -> Both {
        let quoted = |word: &str| format!("'{}'", word.replace('\'', "''"));
        let dice = &mut self.dice;
        Both::same(match dice.below(4) {
            0 => format!("{attribute} IN ({}, {}, 'nowhere')", quoted(dice.pick(words)), quoted(dice.pick(words))),
            1 => format!("{attribute} NOT IN ({}, {})", quoted(dice.pick(words)), quoted(dice.pick(words))),
            2 => format!("{attribute} LIKE {}", quoted(dice.pick(&["A%", "%a%", "_a%", "%s", "%''%", "100%"]))),
            _ => format!("{attribute} {comparison} {}", quoted(dice.pick(words))),
        })
    }

    fn number(&mut self, attribute: &str, comparison: &str) -> Both {
        let (low, span, parts) = match (attribute, held(&self.sensitive, attribute)) {
            ("age", _) => (15, 70, 1),
            ("weight", _) => (38, 44, 4),
            (_, Some(Sensitive::Integers)) => (-1100, 3200, 1),
            (_, Some(Sensitive::Reals)) => (-60, 270, 8),
            _ => (-100, 9300, 1),
        };
        let dice = &mut self.dice;
        let number = |dice: &mut Dice| {
            let number = low as f64 + dice.below(span * parts) as f64 / parts as f64;
            if attribute == "age" && dice.often(8) { format!("{}", number + 0.5) } else { format!("{number}") }
        };
        let (a, b) = (number(dice), number(dice));
        Both::same(match dice.below(4) {
            0 => format!("{attribute} BETWEEN {a} AND {b}"),
            1 => format!("NOT ({attribute} BETWEEN {a} AND {b})"),
            2 if dice.often(2) => format!("{attribute} IN ({a}, {b}, {})", number(dice)),
            _ => format!("{attribute} {comparison} {a}"),
        })
    }

    /// A condition on quasi attributes.
    fn quasi(&mut self, depth: u64) -> Both {
        if depth == 0 || self.dice.often(3) {
            let attribute = self.dice.pick(&["age", "weight", "joined", "seen", "grade", "city"]);
            return self.test(attribute);
        }
        let (a, b) = (self.quasi(depth - 1), self.quasi(depth - 1));
        let join = if self.dice.often(2) { "OR" } else { "AND" };
        let not = if self.dice.often(5) { "NOT " } else { "" };
        let write = |a: &str, b: &str| format!("{not}({a} {join} {b})");
        Both { asked: write(&a.asked, &b.asked), truth: write(&a.truth, &b.truth) }
    }

    fn condition(&mut self) -> Option<Both> {
        let depth = self.dice.below(3);
        let quasi = (!self.dice.often(4)).then(|| self.quasi(depth));
        let mut condition = quasi;
        for name in &SENSITIVE[..self.sensitive.len()] {
            let sensitive = self.dice.often(2).then(|| self.test(name));
            condition = match (condition, sensitive) {
                (Some(a), Some(b)) => Some(Both {
                    asked: format!("{} AND {}", a.asked, b.asked),
                    truth: format!("{} AND {}", a.truth, b.truth),
                }),
                (a, b) => a.or(b),
            };
        }
        condition
    }
}

impl Iterator for Questions {
    type Item = RandomQuestion;

    fn next(&mut self) -> Option<RandomQuestion> {
        let mut keys: Vec<&str> = Vec::new();
        if self.dice.often(3) {
            keys.extend(self.keys.get(self.dice.below(self.keys.len() as u64) as usize));
            if self.dice.often(4) {
                keys.extend(self.keys.get(self.dice.below(self.keys.len() as u64) as usize));
                keys.dedup();
            }
        }
        // More often where the key may be another column than the one asked about.
        if self.dice.often(if self.sensitive.len() == 1 { 8 } else { 3 }) {
            keys.push(SENSITIVE[self.any_sensitive()]);
        }
        self.about = self.any_sensitive();
        let aggregates = self.aggregates();
        let condition = self.condition();
        let list = keys.iter().map(|key| format!("{key}, ")).collect::<String>();
        let group = if keys.is_empty() { String::new() } else { format!(" GROUP BY {}", keys.join(", ")) };
        let write = |condition: Option<&str>| {
            let filter = condition.map(|condition| format!(" WHERE {condition}")).unwrap_or_default();
            format!("SELECT {list}{aggregates} FROM microdata{filter}{group}")
        };
        Some(RandomQuestion {
            asked: write(condition.as_ref().map(|it| it.asked.as_str())),
            truth: write(condition.as_ref().map(|it| it.truth.as_str())),
            n_keys: keys.len(),
        })
    }
}

/// What a sensitive column holds; `None` for others.
fn held(sensitive: &[Sensitive], attribute: &str) -> Option<Sensitive> {
    SENSITIVE.iter().zip(sensitive).find(|(name, _)| **name == attribute).map(|(_, held)| *held)
}

fn holds(order: std::cmp::Ordering, comparison: &str) -> bool {
    match comparison {
        "=" => order.is_eq(),
        "<>" => order.is_ne(),
        "<" => order.is_lt(),
        "<=" => order.is_le(),
        ">" => order.is_gt(),
        _ => order.is_ge(),
    }
}
