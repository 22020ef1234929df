//! A spec to start from: guessed roles with their reasons, and promises that the table can keep.

use std::path::Path;

use chrysalis_criteria::{Alike, Near, PrincipleSpec};
use chrysalis_table::{Column, Kind, Knob, Remedy, Role, SaCounts, Table};

use crate::catalogue::DEFAULT_METHOD;
use crate::guess::{Guess, GuessedRole, familiarity, privacy_rank, suggest_all};
use crate::publish::nothing_left;
use crate::words::{count, counted};
use crate::{Draft, Error};

const HEAD: &str = "\
# How to publish this table:  PUBLISH
# DOOR
#
# Roles:  identifier  names a person, dropped
#         quasi       may be known to an attacker (age, address ...), made less exact
#         sensitive   what nobody may learn about a person; one column or several
#         other       kept as it is; never guessed, because it can identify people and give their secrets away
# Every role below is a guess, with its reason beside it.
# `person?` marks a column that numbers people who have several rows each.
# A column that is not named is dropped, and the summary says so.
";

const TAIL: &str = "\
# Other principles; all that are required hold in every group.
# distinct-l-alpha=3,1 and the like need `categories = [[\"HIV\", \"Cancer\"], [\"Flu\"]]`, most sensitive first, and
# `weights = \"uniform\"`, \"sensitivity(2)\" or one number per category in the sensitive attribute.
# distinct-l=4, entropy-l=4, recursive-l=3,4, t=0.2, beta=1, alpha-k=0.5,10, ke=4,100: see MANUAL
";

/// The most quasi columns that a spec names: with each of them, less of the others can be shown.
const MOST_QUASI: usize = 6;

/// What a spec says about the door that it was made at.
pub struct AtDoor<'a> {
    /// How to publish with the spec.
    pub publish: &'a str,
    /// Another sentence about this door.
    pub sentence: &'a str,
    /// Where all knobs are explained.
    pub manual: &'a str,
}

/// A commented spec for a table, with guessed roles, promises that the table can keep, and the draft's settings for
/// reading it. `input` is the name of the table in the spec.
///
/// # Errors
/// If no column looks like something that an attacker may know, or if no row is left to publish.
pub fn commented_spec(input: &str, table: &Table, draft: &Draft, door: &AtDoor<'_>) -> Result<String, Error> {
    let guesses = suggest_all(table);
    let proposal = Proposal::new(table, &guesses, draft).map_err(|error| match draft.source_name() {
        Some(source) => error.about(&source),
        None => error,
    })?;
    let mut text = HEAD.replace("PUBLISH", door.publish).replace("DOOR", door.sentence);
    text.push('\n');
    let comment = match input {
        "-" => "standard input",
        input if Path::new(input).is_absolute() => "",
        _ => "relative to this file",
    };
    text.push_str(&commented(&format!("input = {}", quoted(input)), comment));
    if let Some(delimiter) = &draft.delimiter {
        text.push_str(&commented(&format!("delimiter = {}", quoted(delimiter)), "between fields"));
    }
    if let Some(encoding) = &draft.encoding {
        text.push_str(&commented(&format!("encoding = {}", quoted(encoding)), "of the file"));
    }
    if let Some(na) = &draft.na {
        let texts: Vec<String> = na.iter().map(|text| quoted(text)).collect();
        text.push_str(&commented(&format!("na = [{}]", texts.join(", ")), "texts for a missing value"));
    }
    if let Some(format) = &draft.date_format {
        text.push_str(&commented(&format!("date_format = {}", quoted(format)), "of dates in the file"));
    }
    let missing = draft.missing.as_deref().unwrap_or("as-value");
    let others = ["as-value", "drop", "error"].into_iter().filter(|policy| *policy != missing);
    let others: Vec<String> = others.map(|policy| format!("or \"{policy}\"")).collect();
    text.push_str(&commented(&format!("missing = {}", quoted(missing)), &others.join(", ")));
    // Both have no effect where the columns that need them are not used.
    let is_used = |name: &str| {
        let mut columns = table.columns().iter().zip(&guesses).enumerate();
        columns.any(|(at, (it, guess))| {
            it.name() == name && guess.role.role() != Some(Role::Identifier) && proposal.uses(at, guess.role)
        })
    };
    let used = Draft {
        attributes: draft
            .attributes
            .iter()
            .filter(|(name, _)| is_used(name))
            .map(|(a, b)| (a.clone(), b.clone()))
            .collect(),
        ..Draft::default()
    };
    let guessed = table.columns().iter().zip(&guesses).find(|(_, guess)| guess.role == GuessedRole::Person);
    match (&draft.person, guessed) {
        (Some(person), _) => text.push_str(&commented(&format!("person = {}", quoted(person)), "whose a row is")),
        (None, Some((column, _))) => {
            let why = "person? remove the first # to make promises about persons, not rows";
            text.push_str(&commented(&format!("# person = {}", quoted(column.name())), why));
        }
        (None, None) => {}
    }
    if let Some(key) = draft.key.as_ref().filter(|_| used.says_keyed()) {
        text.push_str(&commented(&format!("key = {}", quoted(&key.display().to_string())), "never published"));
    }
    text.push('\n');
    for (at, (column, guess)) in table.columns().iter().zip(&guesses).enumerate() {
        let order = draft.attributes.get(column.name()).map_or_else(Vec::new, |said| said.order.clone());
        // Bands are ordered without a word of the owner's, but a spec says what it relies on.
        let order = if order.is_empty() { order_of(column) } else { order };
        let prepare = draft.attributes.get(column.name()).map_or(&[][..], |said| &said.prepare);
        text.push_str(&attribute_text(column, (&order, prepare), guess, proposal.uses(at, guess.role)));
    }
    text.push_str(&format!("[release]\nmethod = {}\n", quoted(DEFAULT_METHOD.name())));
    text.push_str("# Chosen by the counts of this table:\n");
    for required in &proposal.require {
        text.push_str(&format!("# {:15} {}\n", required.principle, required.meaning));
    }
    let require: Vec<String> = proposal.require.iter().map(|required| quoted(&required.principle)).collect();
    text.push_str(&format!("require = [{}]\n", require.join(", ")));
    text.push_str(&TAIL.replace("MANUAL", door.manual));
    Ok(text)
}

/// Which of the guesses a spec uses, and what it promises.
struct Proposal {
    quasi: Vec<usize>,
    sensitive: Option<usize>,
    require: Vec<Requirement>,
}

/// A principle as users write it, and what it means for this table.
struct Requirement {
    principle: String,
    meaning: String,
}

impl Proposal {
    fn new(table: &Table, guesses: &[Guess], draft: &Draft) -> Result<Proposal, Error> {
        let columns = table.columns();
        let quasi = best_known(columns, guesses);
        if quasi.is_empty() {
            return Err(nobody_known());
        }
        let mut private: Vec<usize> =
            (0..columns.len()).filter(|&at| guesses[at].role == GuessedRole::Sensitive).collect();
        private.sort_by_key(|&at| privacy_rank(&columns[at]));
        let policy = draft.missing_policy()?;
        // Rows are dropped for missing values in the published columns, so only those columns decide what is counted.
        let published = |sensitive: Option<usize>| -> Result<Table, Error> {
            let kept = quasi.iter().copied().chain(sensitive).map(|at| columns[at].clone()).collect();
            Ok(Table::new(kept).with_missing(policy)?.0)
        };
        for at in private {
            let left = published(Some(at))?;
            let column = left.columns().last().filter(|column| column.domain().len() > 1);
            if let Some(about) = column.and_then(required_of) {
                let require = enough_rows(left.rows())?.into_iter().chain(about).collect();
                return Ok(Proposal { quasi, sensitive: Some(at), require });
            }
        }
        let require = enough_rows(published(None)?.rows())?;
        Ok(Proposal { quasi, sensitive: None, require })
    }

    /// Whether a column is part of the spec, or only appears as a comment.
    fn uses(&self, at: usize, role: GuessedRole) -> bool {
        match role {
            GuessedRole::Quasi => self.quasi.contains(&at),
            GuessedRole::Sensitive => self.sensitive == Some(at),
            GuessedRole::Identifier | GuessedRole::Person => true,
            GuessedRole::Unpublished => false,
        }
    }
}

/// The quasi columns to start with: one for each thing that others know, then more; if no name tells, the first few.
fn best_known(columns: &[Column], guesses: &[Guess]) -> Vec<usize> {
    let quasi: Vec<usize> = (0..columns.len()).filter(|&at| guesses[at].role == GuessedRole::Quasi).collect();
    let topic = |at: usize| familiarity(&columns[at]);
    let told_before = |at: usize| quasi.iter().filter(|&&other| other < at && topic(other) == topic(at)).count();
    let mut known: Vec<usize> = quasi.iter().copied().filter(|&at| topic(at).is_some()).collect();
    known.sort_by_key(|&at| (told_before(at), topic(at)));
    let mut chosen = if known.is_empty() { quasi } else { known };
    chosen.truncate(MOST_QUASI);
    chosen
}

fn nobody_known() -> Error {
    let remedy = Remedy::from("publish with ")
        .knob(Knob::Quasi, "a,b")
        .words(" and the columns that an attacker may know, or join the table with one that has age, sex or place");
    Error::request("no column looks like something that an attacker may know", remedy)
}

/// Groups of ten, or fewer if the table is so small that it would have fewer than twenty groups.
fn enough_rows(rows: usize) -> Result<Vec<Requirement>, Error> {
    match rows {
        0 => return Err(nothing_left()),
        1 => return Err(Error::request("one row cannot be hidden among others", "use a table with more rows")),
        _ => {}
    }
    let k = (rows / 20).clamp(2, 10);
    let meaning = format!("every group has at least {k} of the {}", counted(rows as u64, "row"));
    Ok(vec![Requirement { principle: format!("k={k}"), meaning }])
}

/// What can be promised about a sensitive column with at least two values, so that no group leaves a single value that
/// is not ordinary, or numbers so close that they amount to one. `None` if that cannot be written.
fn required_of(column: &Column) -> Option<Vec<Requirement>> {
    let (histogram, domain) = (column.histogram(), column.domain());
    let rows = histogram.iter().sum::<u64>();
    let least = histogram.iter().copied().filter(|&n| n > 0).min().unwrap_or(0);
    let requirement = |principle: &str, meaning: String| Requirement { principle: principle.to_owned(), meaning };
    let apart = apart(column, &histogram)?;
    // Which values count as one follows from what is near, and that is the e of `ke`.
    let near = apart.iter().find_map(|requirement| match requirement.principle.parse() {
        Ok(PrincipleSpec::Ke { e, .. }) => Some(Near::Width(e)),
        _ => None,
    });
    let alike = Alike::new(domain, &near.unwrap_or_else(|| Near::usual(domain, &histogram)));
    let whole = SaCounts::of(domain.len(), column.codes().iter());
    let (most, missing) = (alike.most(&whole), alike.missing(&whole));
    let frequent = most.max(missing);
    let share = format!("the most frequent value has {:.1} % of all rows", 100.0 * frequent as f64 / rows as f64);
    if let Some(l) = (2..=4).rev().find(|l| most * l <= rows - missing && missing * l <= rows) {
        let meaning = format!("no value has more than 1/{l} of a group; {share}");
        return Some(std::iter::once(requirement(&format!("l={l}"), meaning)).chain(apart).collect());
    }
    // A rarer value would need a group of more than fifty rows to be at most twice as frequent there.
    if domain.kind() == Kind::Category && least * 100 >= rows {
        let meaning =
            format!("no value is more than twice as frequent in a group as in the table; {share}, too many for l=2");
        return Some(vec![requirement("beta=1", meaning)]);
    }
    let meaning = format!("a group's values are spread much like the table's; {share}, too many for l=2");
    let is_ordered_only = domain.kind() != Kind::Category && apart.is_empty();
    // If values have an order, those of a group may shift together and still be close to the table's.
    let two = is_ordered_only.then(|| requirement("distinct-l=2", "every group has at least two values".to_owned()));
    Some(std::iter::once(requirement("t=0.3", meaning)).chain(apart).chain(two).collect())
}

/// Requires that the numbers of a group do not amount to one, if they could; `None` if the width cannot be written.
fn apart(column: &Column, histogram: &[u64]) -> Option<Vec<Requirement>> {
    let domain = column.domain();
    let near = Near::usual(domain, histogram);
    let mut neighbours = domain.values().windows(2);
    if near == Near::Nothing || (domain.values().len() < 20 && !neighbours.any(|pair| near.is_one(&pair[0], &pair[1])))
    {
        return Some(Vec::new());
    }
    let mut width = near.rounded_up()?;
    if domain.kind() == Kind::Integer && width.starts_with("0.") {
        width = "1".to_owned();
    }
    let principle = format!("ke=2,{width}");
    principle.parse::<PrincipleSpec>().ok()?;
    let meaning = format!("every group has two numbers that are at least {width} apart");
    Some(vec![Requirement { principle, meaning }])
}

/// A line with its comment; comments are aligned.
fn commented(line: &str, comment: &str) -> String {
    if comment.is_empty() { format!("{line}\n") } else { format!("{line:34} # {comment}\n") }
}

/// The values of an ordinal column, from lowest to highest; none for other kinds.
fn order_of(column: &Column) -> Vec<String> {
    let domain = column.domain();
    let values = (0..domain.len() as u32).filter_map(|code| domain.value(code)).map(ToString::to_string);
    if domain.kind() == Kind::Ordinal { values.collect() } else { Vec::new() }
}

/// `said` has the order and the preparations of the column.
fn attribute_text(column: &Column, said: (&[String], &[String]), guess: &Guess, is_used: bool) -> String {
    let (order, prepare) = said;
    let kind = column.domain().kind();
    // A column that is not to be published as it is could be published as something that an attacker may know.
    let role = guess.role.role().unwrap_or(Role::QuasiIdentifier);
    let why = match (guess.role, is_used) {
        (GuessedRole::Person, _) => format!("person? {}; see `person` above", guess.reason),
        (GuessedRole::Quasi, false) => format!("{}; add it if an attacker may know it", guess.reason),
        (GuessedRole::Sensitive, false) => format!("{}; add it to protect it as well", guess.reason),
        (GuessedRole::Unpublished, _) => format!("not published: {}", guess.reason),
        _ => guess.reason.clone(),
    };
    let mut text = format!("[attributes.{}]\n", quoted_key(column.name()));
    text.push_str(&commented(&format!("role = \"{role}\""), &why));
    if role != Role::Identifier {
        text.push_str(&commented(&format!("kind = \"{kind}\""), &range_text(column)));
    }
    if !prepare.is_empty() {
        let steps: Vec<String> = prepare.iter().map(|step| quoted(step)).collect();
        let mark = if role == Role::Identifier { "# " } else { "" };
        text.push_str(&commented(&format!("{mark}prepare = [{}]", steps.join(", ")), "before anything else"));
    }
    if role != Role::Identifier && !order.is_empty() {
        let order: Vec<String> = order.iter().map(|value| quoted(value)).collect();
        text.push_str(&format!("order = [{}]\n", order.join(", ")));
    }
    if role == Role::QuasiIdentifier && is_used {
        text.push_str(&match kind {
            Kind::Date => {
                commented("# intervals = [\"month\", \"year\"]", "publish in these units; also week and quarter")
            }
            Kind::DateTime => {
                let text = "# intervals = [\"hour\", \"day\", \"month\", \"year\"]";
                commented(text, "publish in these units; also week and quarter")
            }
            Kind::Integer | Kind::Real => commented("# intervals = [5, 10, 20]", "publish in steps of these widths"),
            _ => commented("# taxonomy = \"values.csv\"", "lines `value;group;…;*`; or prefix = true for codes"),
        });
    }
    let mark = if is_used { "" } else { "# " };
    text.lines().map(|line| format!("{mark}{line}\n")).chain(std::iter::once("\n".to_owned())).collect()
}

/// How many values there are, and for numbers and dates their range. Never a word from the data: a spec may travel.
fn range_text(column: &Column) -> String {
    let domain = column.domain();
    let mut text = format!("{} values", count(domain.values().len() as u64));
    if let Some((low, high)) = domain.bounds().filter(|_| domain.kind().has_distances()) {
        text.push_str(&format!(", {low} to {high}"));
    }
    if domain.has_missing() {
        text.push_str(", some missing");
    }
    text
}

/// A string on one line, whatever it contains.
fn quoted(text: &str) -> String {
    let escaped = |letter: char| match letter {
        '"' | '\\' => format!("\\{letter}"),
        letter if letter.is_control() => format!("\\u{:04X}", u32::from(letter)),
        letter => letter.to_string(),
    };
    format!("\"{}\"", text.chars().map(escaped).collect::<String>())
}

fn quoted_key(name: &str) -> String {
    let bare = name.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-'));
    if bare && !name.is_empty() { name.to_owned() } else { quoted(name) }
}
