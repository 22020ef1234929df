//! A spec to start from.

use std::path::Path;

use chrysalis_table::{Column, Kind, Role, Table};

use crate::Draft;

use crate::catalogue::DEFAULT_METHOD;
use crate::guess::{privacy_rank, suggest};

const HEAD: &str = "\
# How to publish this table:  PUBLISH
# DOOR
#
# Roles:  identifier  names a person, dropped
#         quasi       may be known to an attacker (age, address ...), made less exact
#         sensitive   what nobody may learn about a person; one column
#         other       kept as it is
# A column that is not named is dropped, and the summary says so.
";

const TAIL: &str = "\
[release]
method = \"METHOD\"
# Several principles may be required; all hold in every group.
# k=10            at least 10 rows
# l=4             no sensitive value in more than a quarter of the rows
# distinct-l-alpha=3,1 and the like need `categories = [[\"HIV\", \"Cancer\"], [\"Flu\"]]`, most sensitive first, and
# `weights = \"uniform\"`, \"sensitivity(2)\" or one number per category in the sensitive attribute.
# distinct-l=4, entropy-l=4, recursive-l=3,4, t=0.2, beta=1, alpha-k=0.5,10, ke=4,100: see MANUAL
";

/// What a spec tells of the door that it was made at.
pub struct AtDoor<'a> {
    /// How somebody publishes with it.
    pub publish: &'a str,
    /// What else can be said there.
    pub sentence: &'a str,
    /// Where all knobs are explained.
    pub manual: &'a str,
}

/// A commented spec for a table, with guessed roles and what a draft says of how to read it. `input` is what it names as its
/// table.
pub fn commented_spec(input: &str, table: &Table, draft: &Draft, door: &AtDoor<'_>) -> String {
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
    let missing = draft.missing.as_deref().unwrap_or("as-value");
    let others = ["as-value", "drop", "error"].into_iter().filter(|policy| *policy != missing);
    let others: Vec<String> = others.map(|policy| format!("or \"{policy}\"")).collect();
    text.push_str(&commented(&format!("missing = {}", quoted(missing)), &others.join(", ")));
    text.push('\n');
    // One column can be sensitive: the one that sounds most private. Other candidates are commented out.
    let roles: Vec<Role> = table.columns().iter().map(|column| suggest(column, table.rows())).collect();
    let candidates = table.columns().iter().zip(&roles).enumerate().filter(|(_, (_, role))| **role == Role::Sensitive);
    let sensitive = candidates.min_by_key(|(at, (column, _))| (privacy_rank(column), *at)).map(|(at, _)| at);
    for (at, (column, &role)) in table.columns().iter().zip(&roles).enumerate() {
        let is_second = role == Role::Sensitive && sensitive != Some(at);
        let order = draft.attributes.get(column.name()).map_or(&[][..], |said| &said.order);
        text.push_str(&attribute_text(column, role, order, is_second || role == Role::Other));
    }
    text.push_str(&TAIL.replace("METHOD", DEFAULT_METHOD.name()).replace("MANUAL", door.manual));
    text.push_str(if sensitive.is_some() { "require = [\"k=10\", \"l=2\"]\n" } else { "require = [\"k=10\"]\n" });
    text
}

/// A line with its comment, comments below each other.
fn commented(line: &str, comment: &str) -> String {
    if comment.is_empty() { format!("{line}\n") } else { format!("{line:34} # {comment}\n") }
}

fn attribute_text(column: &Column, role: Role, order: &[String], is_commented_out: bool) -> String {
    let kind = column.domain().kind();
    let mut text = format!("[attributes.{}]\n", quoted_key(column.name()));
    text.push_str(&format!("role = \"{role}\"\n"));
    if role != Role::Identifier {
        text.push_str(&commented(&format!("kind = \"{kind}\""), &range_text(column)));
    }
    if role != Role::Identifier && !order.is_empty() {
        let order: Vec<String> = order.iter().map(|value| quoted(value)).collect();
        text.push_str(&format!("order = [{}]\n", order.join(", ")));
    }
    if role == Role::QuasiIdentifier {
        text.push_str(&match kind {
            Kind::Integer | Kind::Real | Kind::Date => {
                commented("# intervals = [5, 10, 20]", "publish in steps of these widths")
            }
            _ => commented("# taxonomy = \"values.csv\"", "lines `value;group;…;*`; or prefix = true for codes"),
        });
    }
    let mark = if is_commented_out { "# " } else { "" };
    text.lines().map(|line| format!("{mark}{line}\n")).chain(std::iter::once("\n".to_owned())).collect()
}

/// How many values, and for numbers and dates from where to where. No value of a word: a spec may travel.
fn range_text(column: &Column) -> String {
    let domain = column.domain();
    let mut text = format!("{} values", domain.values().len());
    if let (Some((low, high)), true) = (domain.bounds(), domain.kind() != Kind::Category) {
        text.push_str(&format!(", {low} to {high}"));
    }
    if domain.has_missing() {
        text.push_str(", some missing");
    }
    text
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

fn quoted_key(name: &str) -> String {
    let bare = name.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-'));
    if bare { name.to_owned() } else { quoted(name) }
}
