//! Groups for a release that follows others of the same people; see `spec.md` for the steps that the comments number.

mod alike;
mod assign;
mod beside;
mod change;
mod checked;
mod divide;
mod family;
mod fewest;
mod shown;
mod split;
mod whom;

use chrysalis_release::SeriesEntry;
use chrysalis_table::{Code, Column, Progress};
use rand::CryptoRng;
use rand::seq::SliceRandom;

use crate::{Microdata, Partition, PublishError};
use assign::Rest;
pub(crate) use beside::check as check_beside;
use family::Family;
pub(crate) use shown::{counterfeits_table, shown_values, values_table};

/// What an owner remembers of people who were published before, as far as it concerns one table.
#[derive(Clone, Debug, Default)]
pub struct Past {
    /// All signatures that people were ever given: ascending codes of the sensitive column, none of them missing.
    pub signatures: Vec<Vec<Code>>,
    /// The lives of known people: the signatures that each was given, by their places, the one that is valid last.
    pub lives: Vec<Vec<u32>>,
    /// For every row the life of its person, or `None` for somebody who was never published.
    pub of_row: Vec<Option<u32>>,
    /// Whether people whose value left their signature are given another one. Otherwise they stop the release.
    pub takes_changes: bool,
    /// Which release of the series this is, and which one it follows.
    pub entry: SeriesEntry,
}

impl Past {
    /// Before the first release.
    pub fn none(rows: usize) -> Past {
        Past { of_row: vec![None; rows], entry: SeriesEntry { number: 1, previous: None }, ..Past::default() }
    }
}

/// Groups that keep everybody's signature. What is shown of a group are the values of its signature, each as often as the
/// others; those that none of its rows has are counterfeit.
#[derive(Clone, Debug, PartialEq)]
pub struct SeriesGroups {
    /// The groups of rows.
    pub partition: Partition,
    /// All signatures: those of the past in their places, and new ones.
    pub signatures: Vec<Vec<Code>>,
    /// The signature of every group.
    pub of_group: Vec<u32>,
    /// How often every group shows each value of its signature: once, unless it must have more rows than that.
    pub times: Vec<u32>,
    /// Which release of the series this is.
    pub entry: SeriesEntry,
    /// What an owner wants to know.
    pub facts: SeriesFacts,
}

impl SeriesGroups {
    /// The values that are shown of a group.
    pub fn shown(&self, group: usize) -> &[Code] {
        &self.signatures[self.of_group[group] as usize]
    }

    /// How many of the values, each as often as it is shown, none of its rows has.
    pub fn counterfeits(&self, group: usize) -> u64 {
        let shown = self.shown(group).len() as u64 * u64::from(self.times[group]);
        shown - self.partition.group(group).len() as u64
    }
}

/// How one release of a series came out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SeriesFacts {
    /// People who were published before.
    pub stay: u64,
    /// People who were not.
    pub newcomers: u64,
    /// People whose value left their signature, and who were given another one.
    pub changed: u64,
    /// People in groups whose signature nobody had before, and that show values of nobody: whoever runs the steps in
    /// thought may tell for whose sake it was made.
    pub lone: u64,
    /// Values that nobody has, over all groups.
    pub counterfeits: u64,
    /// The most of them in one group.
    pub most_counterfeits: u64,
    /// How many more newcomers with one and the same value would have found a place without counterfeits, whatever the
    /// value; 0 as well if k is above m, where that is not known.
    pub room: u64,
}

/// Forms groups of at least `m` different values and `k` people in which everybody keeps the signature that they have.
pub(crate) fn form(
    data: &Microdata,
    (m, k): (u64, u64),
    past: &Past,
    rng: &mut dyn CryptoRng,
    progress: Progress<'_>,
) -> Result<SeriesGroups, PublishError> {
    let column = sensitive(data)?;
    if past.of_row.len() != data.rows() {
        return Err(PublishError::Internal("the past is that of another table".into()));
    }
    check_values(data, column, m, past)?;
    // LEAK: which of several like people takes which place must not depend on where they stood in the input.
    let mut rows: Vec<u32> = (0..data.rows() as u32).collect();
    rows.shuffle(rng);
    let mut family = Family::new(past.signatures.clone());
    // Steps 1 and 1a.
    let mut divided = divide::divide(column, past, &family, &rows);
    change::place(&mut divided, &mut family, column, past, m)?;
    // Step 2.
    progress(divided.balance(&family));
    // Step 2a.
    fewest::fill_up(&mut divided, &family, (m, k), column.name())?;
    // Step 3.
    let mut rest = Rest::of(&divided.newcomers, m);
    // In step 3b people move for the sake of k, which more newcomers may change in any way; groups of m have k people.
    let room = if k <= m { rest.room() } else { 0 };
    rest.pad(&divided.buckets, &family, column);
    for (signature, groups) in
        rest.hand_out(&divided.buckets, &alike::alike(data, column), &column.histogram(), &mut family)
    {
        divided.add(signature, groups, &family);
    }
    // Step 3b.
    fewest::gather(&mut divided, &mut family, (m, k), column.name())?;
    divided.buckets.retain(|bucket| bucket.groups > 0);
    // Step 3c.
    whom::settle(data, (column, past), &mut divided.buckets, &family, progress)?;
    // Step 4.
    let split::Split { partition, of_group, times } = split::split(data, &divided.buckets, k, progress)?;
    let mut groups = SeriesGroups {
        facts: SeriesFacts {
            stay: divided.stay,
            newcomers: data.rows() as u64 - divided.stay,
            changed: divided.n_changed,
            room,
            ..SeriesFacts::default()
        },
        entry: past.entry.clone(),
        signatures: family.into_signatures(),
        partition,
        of_group,
        times,
    };
    let is_lone =
        |group: &usize| groups.of_group[*group] as usize >= past.signatures.len() && groups.counterfeits(*group) > 0;
    let lone = (0..groups.partition.n_groups()).filter(is_lone).map(|group| groups.partition.group(group).len() as u64);
    groups.facts.lone = lone.sum();
    let counterfeits = (0..groups.partition.n_groups()).map(|group| groups.counterfeits(group));
    (groups.facts.counterfeits, groups.facts.most_counterfeits) =
        counterfeits.fold((0, 0), |(sum, most), n| (sum + n, most.max(n)));
    Ok(groups)
}

/// The sensitive column, which must be the only one.
fn sensitive(data: &Microdata) -> Result<&Column, PublishError> {
    let mut columns = data.sensitive_columns();
    match (columns.next(), columns.next()) {
        (Some(column), None) => Ok(column.column()),
        (None, _) => Err(PublishError::request("a series hides sensitive values, but no sensitive column is named")),
        (Some(_), Some(_)) => {
            Err(PublishError::request("a series keeps signatures of one sensitive column, but several are named"))
        }
    }
}

/// Refuses values that cannot be told apart, and a first table that has too many rows with one value.
fn check_values(data: &Microdata, column: &Column, m: u64, past: &Past) -> Result<(), PublishError> {
    let (name, domain) = (column.name(), column.domain());
    let histogram = column.histogram();
    if domain.has_missing() && histogram[0] > 0 {
        let problem = format!("{} rows have no value in `{name}`, and a series protects values", histogram[0]);
        return Err(PublishError::remedied(
            problem,
            chrysalis_table::Remedy::from("fill them in, or drop these rows with ")
                .knob(chrysalis_table::Knob::Missing, "drop"),
        ));
    }
    let looks = data.sensitive_columns().next().map(|column| column.looks());
    if let Some(set) = looks.and_then(|looks| looks.sets().into_iter().find(|set| set.len() > 1)) {
        let (one, other) = (domain.display(set[0]), domain.display(set[1]));
        let problem = format!("values `{one}` and `{other}` of `{name}` look alike, and would count as different");
        return Err(PublishError::remedied(problem, "spell them alike".into()));
    }
    let values = histogram.len() as u64 - u64::from(domain.has_missing());
    let most = histogram.iter().copied().max().unwrap_or(0);
    let rows = data.rows() as u64;
    let infeasible = |reason: String, possible: u64| PublishError::Infeasible {
        principle: format!("m={m}"),
        reason,
        possible: (possible > 1).then(|| format!("m={possible}")),
        instead: "leave rows with frequent values out, or use coarser values".into(),
    };
    if values < m {
        return Err(infeasible(format!("`{name}` has only {values} different values"), values.min(rows / most.max(1))));
    }
    if past.signatures.is_empty() && most * m > rows {
        let code = histogram.iter().position(|&count| count == most).unwrap_or(0);
        let value = domain.display(code as Code);
        let reason = format!("value `{value}` of `{name}` has {most} of {rows} rows, and groups show every value once");
        return Err(infeasible(reason, rows / most.max(1)));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
