//! What role each column may have, guessed from its name and values, with a reason. The owner decides.
//!
//! Guesses err on the safe side: no column is ever guessed to be kept as it is.

use std::fmt;

use chrysalis_table::{Column, Kind, Role, Table, Value};

use crate::words::{count, counted};

/// A guess at a column's role, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guess {
    /// The guessed role.
    pub role: GuessedRole,
    /// The reason, as a clause without a full stop. It never contains a value of the column.
    pub reason: String,
}

/// The role that a column may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GuessedRole {
    /// An attacker may know it.
    Quasi,
    /// Nobody may learn it about a person.
    Sensitive,
    /// It names one person, or one row.
    Identifier,
    /// It is the number of a person who may have several rows.
    Person,
    /// None of these, and better not published.
    Unpublished,
}

impl GuessedRole {
    /// The role in a word.
    pub fn name(self) -> &'static str {
        match self {
            GuessedRole::Quasi => "quasi",
            GuessedRole::Sensitive => "sensitive",
            GuessedRole::Identifier => "identifier",
            GuessedRole::Person => "person",
            GuessedRole::Unpublished => "none",
        }
    }

    /// The role to assign. A column that numbers people is dropped like any other identifier.
    pub fn role(self) -> Option<Role> {
        match self {
            GuessedRole::Quasi => Some(Role::QuasiIdentifier),
            GuessedRole::Sensitive => Some(Role::Sensitive),
            GuessedRole::Identifier | GuessedRole::Person => Some(Role::Identifier),
            GuessedRole::Unpublished => None,
        }
    }
}

impl fmt::Display for GuessedRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Private topics, the most private first: the topic, and the beginnings of words in column names that indicate it.
const PRIVATE: [(&str, &str); 5] = [
    (
        "health",
        "disease diag icd hiv illness cancer symptom condition disorder infect depress pregnan treatment therap stroke \
         asthma diabet mental health disab drug alcohol smok medic",
    ),
    ("money", "salary income pincp wage earning debt cost capital loan credit dividend pov"),
    ("belief", "religio politic"),
    ("the law", "crim"),
    WORK,
];
/// Private only if nothing else is: many people know what somebody does for a living.
const WORK: (&str, &str) = ("work", "occupation");

/// What others know about a person, the best known first: the beginnings of words in column names (or, after `=`, whole
/// words), and why it is known.
const KNOWN: [(&str, &str); 11] = [
    ("=age =ages =agep", "others know about how old somebody is"),
    ("=sex gender", "others know somebody's sex"),
    ("birth dateofbirth =born =dob =yob", "birthdays are known to many"),
    (
        "zip postal postcode municip neighbo residen =area =region =county =state =city =town =village =district \
         =province =borough =location =puma =plz",
        "others know where somebody lives",
    ),
    ("=race racial rac1p ethnic hispanic =hisp", "others know somebody's origin"),
    ("marital =married =mar =msp", "others know whether somebody is married"),
    ("educat =edu =school =schl =degree", "others know somebody's education"),
    ("country nationality citizen nativ", "others know which country somebody is from"),
    ("occupation profession workclass =job =employer", "others know what somebody does for a living"),
    ("famil relation child household dependent", "others know somebody's family"),
    ("language", "others know which languages somebody speaks"),
];
/// The position of countries in this list. They are looked up first, because a country of birth is not a birthday.
const COUNTRY: usize = 7;

/// Beginnings of words, or of two words written as one, that name a person.
const NAMES: &str = "surname firstname lastname fullname email phone telephone passport address iban";
/// People and records, as they occur in the names of columns that number them.
const NUMBERED: &str = "patient person customer client member employee user subject participant respondent student \
                        citizen account insured household encounter visit admission case record policy card serial";

/// A guess from a column's name and values.
pub fn suggest(column: &Column, rows: usize) -> Guess {
    suggest_by(column, &column.histogram(), rows)
}

/// The same for a column whose rows are elsewhere: `counts` says how often each code occurs.
pub(crate) fn suggest_by(column: &Column, counts: &[u64], rows: usize) -> Guess {
    let guess = |role, reason: String| Guess { role, reason };
    let (domain, values) = (column.domain(), column.domain().values().len());
    let (kind, words) = (domain.kind(), words(column.name()));
    if domain.len() <= 1 {
        return guess(GuessedRole::Unpublished, "every row has the same value".to_owned());
    }
    let unique = once(column, counts);
    // Names come first: a column that names people is not published, however often its values repeat.
    if names_a_person(&words) && (values >= 10 || values * 2 > rows) {
        return guess(GuessedRole::Identifier, "its name says that it names people".to_owned());
    }
    if is_id(&words) && (values * 10 >= rows * 9 || unique * 10 >= rows * 9) {
        return guess(GuessedRole::Identifier, unique_text(unique, rows));
    }
    if is_id(&words) && is_numbering(values, rows) {
        return guess(GuessedRole::Person, numbering_text(values));
    }
    if let Some((_, topic)) = private(&words, kind) {
        // Amounts of money and measurements are often unique without identifying anybody; unique words do identify.
        let is_text = !kind.is_numeric() && (unique * 2 >= rows.max(20) || is_free_text(column, rows));
        let sensitive = guess(GuessedRole::Sensitive, format!("its name is about {topic}"));
        return if is_text { text_guess(column, unique, rows) } else { sensitive };
    }
    if is_survey_weight(&words, values) {
        return guess(GuessedRole::Unpublished, "a survey weight, which can identify people".to_owned());
    }
    if let Some(topic) = topic(&words) {
        return guess(GuessedRole::Quasi, KNOWN[topic].1.to_owned());
    }
    if matches!(kind, Kind::Date | Kind::DateTime) {
        return guess(GuessedRole::Quasi, "others may know dates from somebody's life".to_owned());
    }
    if words.last().is_some_and(|word| word == "name") && is_numbering(values, rows) {
        return guess(GuessedRole::Identifier, "its name says that it names people".to_owned());
    }
    if kind == Kind::Real && values > 100 {
        return guess(GuessedRole::Unpublished, many_numbers(values));
    }
    if is_unique(unique, rows) && (!kind.is_numeric() || values * 10 >= rows * 9) || is_free_text(column, rows) {
        return text_guess(column, unique, rows);
    }
    if repeats_a_little(column, counts, rows) {
        let reason =
            format!("most of its {} occur a few times each, as people's numbers do", counted(values as u64, "value"));
        return guess(GuessedRole::Person, reason);
    }
    if values > 1_000 {
        let reason =
            if kind.is_numeric() { many_numbers(values) } else { format!("it has {} values", count(values as u64)) };
        return guess(GuessedRole::Unpublished, reason);
    }
    guess(GuessedRole::Quasi, format!("it has {}, and its name says little", counted(domain.len() as u64, "value")))
}

/// Guesses for all columns of a table together: work is private only if no column is more private.
pub fn suggest_all(table: &Table) -> Vec<Guess> {
    let columns = table.columns();
    let mut guesses: Vec<Guess> = columns.iter().map(|column| suggest(column, table.rows())).collect();
    let is_work = |column: &Column| {
        let words = words(column.name());
        private(&words, column.domain().kind()).is_some_and(|(_, topic)| topic == WORK.0)
    };
    let mut all = columns.iter().zip(&guesses);
    if all.any(|(column, guess)| guess.role == GuessedRole::Sensitive && !is_work(column)) {
        for (column, guess) in
            columns.iter().zip(&mut guesses).filter(|(_, guess)| guess.role == GuessedRole::Sensitive)
        {
            if let (true, Some(topic)) = (is_work(column), topic(&words(column.name()))) {
                *guess = Guess { role: GuessedRole::Quasi, reason: KNOWN[topic].1.to_owned() };
            }
        }
    }
    guesses
}

/// Why a column that is to be kept as it is would identify people, as a clause; `None` if it would not.
pub fn identifying(column: &Column, rows: usize) -> Option<String> {
    identifying_by(column, &column.histogram(), rows)
}

/// The same for a column whose rows are elsewhere: `counts` says how often each code occurs.
pub(crate) fn identifying_by(column: &Column, counts: &[u64], rows: usize) -> Option<String> {
    let (unique, values) = (once(column, counts), column.domain().values().len());
    if is_unique(unique, rows) {
        Some(unique_text(unique, rows))
    } else if is_free_text(column, rows) {
        Some("it is free text".to_owned())
    } else if is_id(&words(column.name())) && is_numbering(values, rows) {
        Some(numbering_text(values))
    } else {
        None
    }
}

/// How private a column sounds: 0 is most private, `None` not private at all.
pub fn privacy_rank(column: &Column) -> Option<usize> {
    private(&words(column.name()), column.domain().kind()).map(|(rank, _)| rank)
}

/// How well others know what a column tells, by its name: 0 is best known, `None` if the name tells nothing. Columns
/// with the same number tell the same thing.
pub fn familiarity(column: &Column) -> Option<usize> {
    let dates = matches!(column.domain().kind(), Kind::Date | Kind::DateTime).then_some(KNOWN.len());
    topic(&words(column.name())).or(dates)
}

/// The words of a name, in lower case: `PatientID`, `patient_id` and `patient id` have two each.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = vec![String::new()];
    let mut was_lower = false;
    for letter in name.chars() {
        if !letter.is_alphanumeric() || (letter.is_uppercase() && was_lower) {
            words.push(String::new());
        }
        was_lower = letter.is_lowercase();
        if let (true, Some(word)) = (letter.is_alphanumeric(), words.last_mut()) {
            word.extend(letter.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

fn private(words: &[String], kind: Kind) -> Option<(usize, &'static str)> {
    // The number of diagnoses, or the date of one, is not the diagnosis.
    let is_count = words.first().is_some_and(|word| matches!(word.as_str(), "number" | "num" | "n" | "count"));
    if is_count || matches!(kind, Kind::Date | Kind::DateTime) {
        return None;
    }
    let starts = PRIVATE.iter().flat_map(|(topic, starts)| starts.split(' ').map(move |start| (*topic, start)));
    let mut ranked = starts.enumerate().filter(|(_, (_, start))| words.iter().any(|word| word.starts_with(start)));
    ranked.next().map(|(rank, (topic, _))| (rank, topic))
}

fn topic(words: &[String]) -> Option<usize> {
    let fits = |known: &str, word: &String| match known.strip_prefix('=') {
        Some(whole) => word == whole,
        None => word.starts_with(known),
    };
    let is_of = |topic: &usize| words.iter().any(|word| KNOWN[*topic].0.split(' ').any(|known| fits(known, word)));
    Some(COUNTRY).into_iter().chain(0..KNOWN.len()).find(is_of)
}

fn names_a_person(words: &[String]) -> bool {
    let pairs = words.windows(2).map(|pair| pair.concat());
    let is_name = |word: &str| NAMES.split(' ').any(|name| word.starts_with(name));
    words == ["name"]
        || words.iter().any(|word| word == "ssn" || is_name(word))
        || pairs.into_iter().any(|pair| is_name(&pair))
}

/// Whether a column's name sounds like the number of a person.
pub(crate) fn numbers_people(name: &str) -> bool {
    const PEOPLE: &str = "patient person customer client member employee user subject participant respondent student \
                          citizen insured mrn pid";
    let words = words(name);
    let is_of_people = |word: &String| {
        let plain = ["id", "no", "nr", "nbr"].iter().find_map(|end| word.strip_suffix(end)).unwrap_or(word);
        PEOPLE.split_whitespace().any(|known| known == word || known == plain)
    };
    words == ["id"] || (is_id(&words) && words.iter().any(is_of_people))
}

/// Whether a name sounds like the number of a person or a record.
fn is_id(words: &[String]) -> bool {
    let is_end = |test: fn(&str) -> bool| [words.first(), words.last()].into_iter().flatten().any(|word| test(word));
    let is_numbered = |word: &str| NUMBERED.split(' ').any(|known| known == word);
    let is_joined =
        |word: &str| ["id", "no", "nr", "nbr"].iter().any(|end| word.strip_suffix(end).is_some_and(is_numbered));
    let is_number = |word: &str| matches!(word, "number" | "no" | "nr" | "num" | "key" | "code" | "hash");
    is_end(|word| matches!(word, "id" | "ids" | "nbr" | "mrn" | "uuid" | "guid" | "pid"))
        || words.iter().any(|word| is_joined(word) || (words.len() == 1 && is_numbered(word)))
        || (words.last().is_some_and(|word| is_number(word)) && words.iter().any(|word| is_numbered(word)))
}

/// Whether there are so many values for the number of rows that they may be numbering something.
fn is_numbering(values: usize, rows: usize) -> bool {
    values >= 20 && values * 20 >= rows
}

fn is_survey_weight(words: &[String], values: usize) -> bool {
    let is_weight = |word: &String| word.ends_with("wgt") || word.ends_with("wgtp");
    // A column of body weights has fewer values.
    words.iter().any(is_weight) || (values > 1_000 && words.iter().any(|word| word.starts_with("weight")))
}

/// How many rows have a value that no other row has. Missing values do not count.
fn once(column: &Column, counts: &[u64]) -> usize {
    let first = usize::from(column.domain().has_missing());
    counts.iter().skip(first).filter(|&&n| n == 1).count()
}

fn is_unique(unique: usize, rows: usize) -> bool {
    rows >= 20 && unique * 10 >= rows
}

/// Whether the words are sentences, and not the same few over and over.
fn is_free_text(column: &Column, rows: usize) -> bool {
    let values = column.domain().values();
    if values.len() < 10 || values.len() * 20 < rows {
        return false;
    }
    let n_words = |value: &Value| match value {
        Value::Text(text) => text.split_whitespace().count(),
        _ => 0,
    };
    values.iter().map(n_words).sum::<usize>() >= values.len() * 4
}

/// Whether there are many values, and nearly all rows share theirs with a few others: several rows per person.
fn repeats_a_little(column: &Column, counts: &[u64], rows: usize) -> bool {
    let domain = column.domain();
    let values = domain.values().len();
    if values < 100 || values * 5 < rows {
        return false;
    }
    // Measurements lie close together; numbers assigned to people leave gaps.
    let ends = domain.bounds().and_then(|(low, high)| low.number().zip(high.number()));
    let is_sparse = ends.is_none_or(|(low, high)| high - low >= 100.0 * values as f64);
    let first = usize::from(domain.has_missing());
    let few: u64 = counts[first..].iter().filter(|&&n| n <= 20).sum();
    is_sparse && few * 10 >= rows as u64 * 9
}

/// The guess for words that identify people.
fn text_guess(column: &Column, unique: usize, rows: usize) -> Guess {
    let is_text = is_free_text(column, rows);
    let reason = if is_text { "it is free text".to_owned() } else { unique_text(unique, rows) };
    Guess { role: GuessedRole::Identifier, reason }
}

fn unique_text(unique: usize, rows: usize) -> String {
    format!("{} of {} rows have a value that no other row has", count(unique as u64), count(rows as u64))
}

fn numbering_text(values: usize) -> String {
    format!("its name and its {} values say that it numbers people", count(values as u64))
}

fn many_numbers(values: usize) -> String {
    format!("it has {} different numbers, and its name does not sound private", count(values as u64))
}
