//! What a ledger says about one table, and what it is to say afterwards.

use std::collections::BTreeMap;

use chrysalis_publish::{Microdata, Past, SeriesGroups};
use chrysalis_release::SeriesEntry;
use chrysalis_table::{Code, ColumnRequest, Kind, Knob, Remedy, Role, Table, Value, Watch};
use rayon::prelude::*;

use super::ledger::{Ledger, PersonHash, other_ledger};
use super::{ReleaseRecord, Remembered, SeriesPlan};
use crate::words::counted;
use crate::{Error, Recipe};

/// The people of a table, who are followed.
pub(crate) struct Followed {
    pub(crate) past: Past,
    ledger: Ledger,
    people: Vec<PersonHash>,
}

/// The hash of every row's person.
fn people(table: &Table, plan: &SeriesPlan, ledger: &Ledger) -> Result<Vec<PersonHash>, Error> {
    let name = &plan.person;
    let column = table.column(name).ok_or_else(|| Error::internal(format!("column `{name}` was not read")))?;
    let domain = column.domain();
    if domain.has_missing() {
        let rows = counted(column.histogram()[0], "row");
        let remedy = Remedy::from("fill them in, or drop these rows with ").knob(Knob::Missing, "drop");
        return Err(Error::request(format!("{rows} without a person in `{name}`"), remedy));
    }
    let hash = ledger.hasher()?;
    let of_code: Vec<PersonHash> =
        (0..domain.len() as Code).into_par_iter().map(|code| hash(&domain.text(code))).collect();
    Ok(column.codes().iter().map(|code| of_code[code as usize]).collect())
}

/// Says so if nobody of a table was ever published: more likely, people's numbers are written in another way.
fn note_strangers(ledger: &Ledger, people: &[PersonHash], plan: &SeriesPlan, watch: &dyn Watch) {
    if ledger.knows_none(people) {
        watch.note(&format!(
            "the ledger {} knows {}, and none of them is in this table, so everybody counts as new. If some were published \
             before, do not hand this release out: their numbers in `{}` are written in another way than before",
            plan.file.display(),
            counted(ledger.people.len() as u64, "person"),
            plan.person
        ));
    }
}

/// Says so if some newcomers came with too few others for the values that their groups now show for life.
fn note_lone(groups: &SeriesGroups, watch: &dyn Watch) {
    let n = groups.facts.lone;
    if n > 0 {
        let stand = if n == 1 { "stands" } else { "stand" };
        watch.note(&format!(
            "{} {stand} in groups of values that no group showed together before, some of which nobody there has. \
             Nothing is promised against whoever reckons with how such values are chosen: that may tell their value for \
             certain. It helps to hold such people back until others come with their values",
            counted(n, "person")
        ));
    }
}

/// Only the rows of people who were never published, and how many were left out.
pub(crate) fn without_known(table: Table, plan: &SeriesPlan, watch: &dyn Watch) -> Result<(Table, u64), Error> {
    let ledger = plan.ledger()?;
    let people = people(&table, plan, ledger)?;
    note_strangers(ledger, &people, plan, watch);
    let is_new = |row: &u32| ledger.life(&people[*row as usize]).is_none();
    let rows: Vec<u32> = (0..table.rows() as u32).filter(is_new).collect();
    let left_out = (table.rows() - rows.len()) as u64;
    if rows.is_empty() {
        let message = "everybody in the table was published before, so nothing is left to publish";
        return Err(Error {
            fault: crate::Fault::Infeasible,
            ..Error::request(message, "publish a table that has other people as well")
        });
    }
    let table = if left_out == 0 { table } else { table.gather(&rows) };
    Ok((table, left_out))
}

impl SeriesPlan {
    /// Whether the ledger, as it was read, knows the release with this manifest.
    pub fn knows(&self, sha256: &str) -> bool {
        self.ledger.iter().flat_map(|ledger| ledger.releases()).any(|known| known.manifest == sha256)
    }

    fn ledger(&self) -> Result<&Ledger, Error> {
        self.ledger.as_deref().ok_or_else(|| {
            let message =
                "a release of a series appears together with its ledger or not at all, so its folder must be known";
            Error::request(message, Remedy::from("name the folder of the release with ").knob(Knob::Out, ""))
        })
    }
}

impl Followed {
    /// Looks everybody up, and widens the sensitive column by the values that signatures have.
    pub(crate) fn new(
        table: Table,
        plan: &SeriesPlan,
        recipe: &Recipe,
        watch: &dyn Watch,
    ) -> Result<(Table, Followed), Error> {
        let mut ledger = plan.ledger()?.clone();
        let names: Vec<&str> = recipe.with_role(Role::Sensitive).collect();
        let [name] = names[..] else {
            let message = "a series follows one sensitive column";
            return Err(Error::request(message, Remedy::from("name one with ").knob(Knob::Sensitive, "")));
        };
        let column = table.column(name).ok_or_else(|| Error::internal(format!("column `{name}` was not read")))?;
        let m = recipe.require.iter().find_map(|required| match required.principle {
            chrysalis_criteria::PrincipleSpec::MInvariance { m } => Some(m),
            _ => None,
        });
        let kind = column.domain().kind();
        let kind_name = kind.to_string();
        if ledger.head.m.is_none() && !ledger.releases().is_empty() {
            let message = "the ledger is of people who are published once: what their groups showed is not in it";
            return Err(Error::request(message, other_ledger()));
        }
        if ledger.head.column.is_empty() {
            (ledger.head.column, ledger.head.kind) = (name.to_owned(), kind_name.clone());
        }
        ledger.head.m = ledger.head.m.or(m);
        let known = (ledger.head.column.as_str(), ledger.head.kind.as_str(), ledger.head.m);
        if known != (name, kind_name.as_str(), m) {
            let said = |m: Option<u64>| m.map_or_else(|| "only new people".to_owned(), |m| format!("m={m}"));
            let message = format!(
                "the ledger is of a series with {} and `{}` ({}), not with {} and `{name}` ({kind})",
                said(known.2),
                known.0,
                known.1,
                said(m)
            );
            return Err(Error::request(message, other_ledger()));
        }
        let people = people(&table, plan, &ledger)?;
        note_strangers(&ledger, &people, plan, watch);
        check_once(&table, plan)?;
        let table = widened(table, name, &ledger, recipe)?;
        let column = table.column(name).ok_or_else(|| Error::internal("a column is gone"))?;
        let code = |text: &String| {
            let value = Value::parse(kind, text);
            value.and_then(|value| column.domain().code_of(Some(&value)))
        };
        let codes = |texts: &Vec<String>| {
            let mut codes = texts.iter().map(code).collect::<Option<Vec<Code>>>()?;
            codes.sort_unstable();
            Some(codes)
        };
        let signatures = ledger.head.signatures.iter().map(codes).collect::<Option<_>>();
        let unreadable = || Error::request("the ledger has values that the column cannot have", other_ledger());
        let past = Past {
            signatures: signatures.ok_or_else(unreadable)?,
            lives: ledger.head.lives.clone(),
            of_row: people.par_iter().map(|person| ledger.life(person)).collect(),
            takes_changes: plan.takes_changes,
            entry: SeriesEntry {
                number: ledger.releases().len() as u64 + 1,
                previous: ledger.last().map(|last| last.manifest.clone()),
            },
        };
        Ok((table, Followed { past, ledger, people }))
    }

    /// The ledger after these groups were published.
    pub(crate) fn remembered(
        self,
        data: &Microdata,
        groups: &SeriesGroups,
        watch: &dyn Watch,
    ) -> Result<Remembered, Error> {
        let Followed { mut ledger, people, past } = self;
        note_lone(groups, watch);
        let column = data.sensitive().ok_or_else(|| Error::internal("nothing is sensitive"))?;
        let texts =
            |codes: &Vec<Code>| codes.iter().map(|&code| column.domain().text(code).into_owned()).collect::<Vec<_>>();
        ledger.head.signatures.extend(groups.signatures[past.signatures.len()..].iter().map(texts));
        let mut places: BTreeMap<Vec<u32>, u32> =
            (0_u32..).zip(&past.lives).map(|(at, life)| (life.clone(), at)).collect();
        let mut lives = past.lives.clone();
        let mut fresh: Vec<(PersonHash, u32)> = Vec::new();
        for (rows, &signature) in groups.partition.groups().zip(&groups.of_group) {
            for &row in rows {
                let known = past.of_row[row as usize];
                let before = known.map_or(&[][..], |life| &past.lives[life as usize]);
                if before.last() == Some(&signature) {
                    continue;
                }
                let life: Vec<u32> = before.iter().copied().chain([signature]).collect();
                let place = *places.entry(life).or_insert_with_key(|life| {
                    lives.push(life.clone());
                    // PROOF: there are no more lives than people, who are numbered in 32 bits.
                    lives.len() as u32 - 1
                });
                let person = people[row as usize];
                match ledger.people.binary_search_by(|(known, _)| known.cmp(&person)) {
                    Ok(at) => ledger.people[at].1 = place,
                    Err(_) => fresh.push((person, place)),
                }
            }
        }
        ledger.head.lives = lives;
        ledger.people.extend(fresh);
        ledger.people.par_sort_unstable();
        let facts = groups.facts;
        let number = past.entry.number;
        ledger.head.releases.push(ReleaseRecord {
            number,
            rows: data.rows() as u64,
            stay: facts.stay,
            newcomers: facts.newcomers,
            changed: facts.changed,
            counterfeits: facts.counterfeits,
            groups: groups.partition.n_groups() as u64,
            room: facts.room,
            ..ReleaseRecord::default()
        });
        Ok(Remembered { ledger })
    }
}

/// The ledger after people were published for the only time.
pub(crate) fn remembered_once(
    table: &Table,
    plan: &SeriesPlan,
    (groups, left_out): (u64, u64),
) -> Result<Remembered, Error> {
    let mut ledger = plan.ledger()?.clone();
    if let Some(m) = ledger.head.m {
        let message = format!("the ledger is of a series with m={m}, whose people are followed");
        return Err(Error::request(message, other_ledger()));
    }
    let mut people = people(table, plan, &ledger)?;
    people.par_sort_unstable();
    people.dedup();
    let newcomers = people.len() as u64;
    ledger.people.extend(people.into_iter().map(|person| (person, u32::MAX)));
    ledger.people.par_sort_unstable();
    let number = ledger.releases().len() as u64 + 1;
    let rows = table.rows() as u64;
    ledger.head.releases.push(ReleaseRecord { number, rows, newcomers, left_out, groups, ..ReleaseRecord::default() });
    Ok(Remembered { ledger })
}

/// One row per person.
fn check_once(table: &Table, plan: &SeriesPlan) -> Result<(), Error> {
    let name = &plan.person;
    let several = table.column(name).map_or(0, |column| column.histogram().iter().filter(|&&rows| rows > 1).count());
    if several == 0 {
        return Ok(());
    }
    let people = if several == 1 { "1 person has".to_owned() } else { format!("{several} people have") };
    let message = format!("{people} several rows (`{name}`), but m-invariance takes one row per person and release");
    Err(Error::request(message, "keep one row of each, or make one of them"))
}

/// The table, whose sensitive column has all values of all signatures.
fn widened(table: Table, name: &str, ledger: &Ledger, recipe: &Recipe) -> Result<Table, Error> {
    let Some(column) = table.column(name) else { return Ok(table) };
    let (domain, kind) = (column.domain(), column.domain().kind());
    let mut more: Vec<Value> = Vec::new();
    for text in ledger.head.signatures.iter().flatten() {
        let value = Value::parse(kind, text)
            .ok_or_else(|| Error::request("the ledger has values that the column cannot have", other_ledger()))?;
        if domain.code_of(Some(&value)).is_none() && !more.contains(&value) {
            more.push(value);
        }
    }
    if more.is_empty() {
        return Ok(table);
    }
    let request = recipe.requests.iter().find(|request| request.name == name);
    let ranks = request.map(ColumnRequest::ranks).unwrap_or_default();
    let rank = |value: &Value| match value {
        Value::Text(text) if kind == Kind::Ordinal => ranks.get(&**text).copied().unwrap_or(ranks.len()),
        _ => 0,
    };
    let wide = column.with_values(more, rank);
    let columns =
        table.columns().iter().map(|column| if column.name() == name { wide.clone() } else { column.clone() });
    Ok(Table::new(columns.collect()))
}
