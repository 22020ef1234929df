//! The intersection attack: several releases of the same data, and what a person's groups in all of them leave open.
//!
//! An attacker who knows a person's quasi values finds the groups that may hold the person in every release. Each
//! release gives a set of sensitive values, and only values in all sets are possible. Angel tables 2b and 2c are both
//! 2-diverse, and together leave Alan one disease. Three releases may do what no two of them do.
//!
//! Where columns are permuted inside groups, a person may be in every group that has each of the person's values, in
//! whichever rows.
//!
//! A column that one release shows as it is may be a quasi attribute of another. An attacker who has both need not know
//! it about anybody: rows are joined by it (butterfly tables II and III).
//!
//! Values that are left need not be equally likely: `shares` counts over all worlds that fit the releases (see `spec.md`).
//!
//! Where a release protects no column, people themselves are counted instead: those who share a person's groups in all
//! releases.

mod candidates;
mod corners;
mod counts;
mod finder;
mod months;
mod sentences;
mod shares;
mod tally;
#[cfg(test)]
mod tests;
mod values;
mod views;

use std::collections::BTreeMap;

use chrysalis_release::Release;
use chrysalis_table::{Code, Column, Table, Watch};

use crate::columns::only_sensitive;
use crate::form::judge;
use crate::promise::{promised_rows, promised_values, weakest_share};
use crate::source::people;
use crate::{AuditError, Check, Intersection, IntersectionLeft, IntersectionOver, NotCounted};
pub use months::{KnownLives, Month, SeriesAudit, audit_series};
use shares::{Tried, shown_people};
use tally::{IntersectionTally, worse_shares};
pub(crate) use views::{JoinedReleases, JoinedView, of_buckets, of_groups, of_users, of_values};

/// The most combinations of tables that are tried; a release has one table per marginal or user.
const MAX_COMBINATIONS: usize = 1_000;

/// Attacks a release with the help of others. With the microdata, their people are tried; without, everybody who could
/// be where groups meet.
pub(crate) fn attack(
    release: &Release,
    others: &[(&str, &Release)],
    microdata: Option<&Table>,
    watch: &dyn Watch,
) -> Result<(Check, Intersection), AuditError> {
    let all: Vec<&Release> = std::iter::once(release).chain(others.iter().map(|(_, other)| *other)).collect();
    let mut joined = JoinedReleases { all: &all, numbers: BTreeMap::new(), watch };
    let views = all.iter().map(|release| judge(release.manifest.method).views(release, &mut joined));
    let views: Vec<Vec<JoinedView<'_>>> = views.collect::<Result<_, AuditError>>()?;
    let left = what_is_left(release, others)?;
    if left == IntersectionLeft::People {
        check_hiding(&all, microdata)?;
    }
    let promises = || all.iter().map(|release| release.manifest.promises.as_slice());
    let promised = match left {
        IntersectionLeft::Values => promises().map(promised_values).max(),
        IntersectionLeft::People => promises().map(promised_rows).min(),
    };
    let promised = promised.unwrap_or(1);
    let manifests: Vec<_> = all.iter().map(|release| &release.manifest).collect();
    let known = microdata.map(|table| people(&manifests, table)).transpose()?;
    let own = only_sensitive(&release.manifest)?.map(|attribute| attribute.name.as_str());
    let share_promised = weakest_share(promises());
    let (mut tally, mut shares) = (IntersectionTally::default(), None);
    for views in combinations(&views)? {
        let found = match (&known, left) {
            (Some(table), IntersectionLeft::People) => candidates::together(&views, table, promised, watch)?,
            (Some(table), _) => values::together(&views, (table, IntersectionOver::People), promised, watch),
            (None, _) => {
                let people = corners::people(&views, watch).or_else(|error| rows_instead(&views).ok_or(error))?;
                values::together(&views, (&people, IntersectionOver::Conceivable), promised, watch)
            }
        };
        tally = tally.worse(found);
        let counted = match (&known, left) {
            (_, IntersectionLeft::People) => Err(NotCounted::NothingProtected),
            (Some(people), _) => {
                let truth = own.and_then(|own| people.column(own));
                let number = |column: &Column| {
                    let texts = (0..column.domain().len() as Code).map(|code| column.domain().text(code));
                    texts.map(|text| joined.numbers.get(text.as_ref()).copied()).collect()
                };
                let truth = truth.map(|column| (column, number(column)));
                shares::together(&views, &Tried { people, truth }, share_promised, watch)
            }
            (None, _) => shown_people(&views).ok_or(NotCounted::NobodyKnown).and_then(|people| {
                shares::together(&views, &Tried { people: &people, truth: None }, share_promised, watch)
            }),
        };
        shares = worse_shares(shares, counted);
    }
    let intersection = Intersection {
        with: named(&others.iter().map(|(name, _)| *name).collect::<Vec<_>>()),
        left,
        promised,
        fewest: tally.fewest,
        narrowed: tally.narrowed,
        people: tally.people,
        contradicted: tally.contradicted,
        counts_differ_by: counts::differ_by(release, others),
        over: if known.is_some() { IntersectionOver::People } else { IntersectionOver::Conceivable },
        shares: shares.unwrap_or(Err(NotCounted::NobodyKnown)),
    };
    Ok((intersection.check(), intersection))
}

/// If groups meet too often to try everybody: the rows of a table that shows people, if it has all attributes of the
/// others, since then nobody else is conceivable.
fn rows_instead(views: &[&JoinedView<'_>]) -> Option<Table> {
    let people = shown_people(views)?;
    let has_all = views.iter().flat_map(|view| view.attributes()).all(|name| people.column(name).is_some());
    has_all.then_some(people)
}

/// Sensitive values where all releases protect the same column; people where one protects none.
fn what_is_left(release: &Release, others: &[(&str, &Release)]) -> Result<IntersectionLeft, AuditError> {
    let own = only_sensitive(&release.manifest)?;
    let mut left = IntersectionLeft::Values;
    for (name, other) in others {
        match (own, only_sensitive(&other.manifest)?) {
            (Some(own), Some(other)) if own.name != other.name => {
                return Err(AuditError::OtherSensitive {
                    name: (*name).to_owned(),
                    theirs: other.name.clone(),
                    ours: own.name.clone(),
                });
            }
            (Some(_), Some(_)) => {}
            _ => left = IntersectionLeft::People,
        }
    }
    Ok(left)
}

/// People can be counted if every release hides them among others, and if it is known who they are.
fn check_hiding(all: &[&Release], microdata: Option<&Table>) -> Result<(), AuditError> {
    if let Some(release) = all.iter().find(|release| !judge(release.manifest.method).hides_people()) {
        return Err(AuditError::HidesNobody { method: release.manifest.method });
    }
    microdata.map(|_| ()).ok_or(AuditError::NobodyToCount)
}

/// All ways to pick one table of every release.
fn combinations<'a, 'b>(views: &'b [Vec<JoinedView<'a>>]) -> Result<Vec<Vec<&'b JoinedView<'a>>>, AuditError> {
    let n = views.iter().map(Vec::len).fold(1, usize::saturating_mul);
    if n > MAX_COMBINATIONS {
        return Err(AuditError::TooManyTables { combinations: n, most: MAX_COMBINATIONS });
    }
    let longer = |known: Vec<Vec<&'b JoinedView<'a>>>, views: &'b Vec<JoinedView<'a>>| {
        let with = |start: Vec<&'b JoinedView<'a>>| views.iter().map(move |view| [start.as_slice(), &[view]].concat());
        known.into_iter().flat_map(with).collect()
    };
    Ok(views.iter().fold(vec![Vec::new()], longer))
}

/// `a`, `a and b`, `a, b and c`.
fn named(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [name] => (*name).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
