//! The attack `insider` on a release: opens what it shows of its sensitive attributes, and finds people in it.

use chrysalis_release::{Detail, Release, RoleName, Values};
use chrysalis_table::{Table, Watch};

use crate::attack::{Located, Margins, Places, insider, no_insider};
use crate::{AuditError, Finding, Insider, boxes, values};

/// Runs the attack. `alone` is the release as seen by somebody who looks at one of its sensitive attributes: it has the
/// same groups.
pub(crate) fn attack(
    margins: Option<&Margins<'_>>,
    alone: Option<&Release>,
    microdata: Option<&Table>,
    watch: &dyn Watch,
) -> Result<(Option<Insider>, Finding), AuditError> {
    let Some(margins) = margins.filter(|margins| margins.columns.len() > 1) else { return Ok((None, no_insider())) };
    let Some((alone, microdata)) = alone.zip(microdata) else { return Ok(insider(margins, None, watch)) };
    let quasi: Vec<&str> = alone.manifest.with_role(RoleName::Quasi).map(|it| it.name.as_str()).collect();
    // Whoever cannot be found because the tables are wrong is found nowhere; other checks say what is wrong.
    let locate = |people: &[usize]| match places(alone, (microdata, people), watch) {
        Ok((ids, places)) => renumbered(places, &ids, &margins.ids),
        Err(_) => Places::new(),
    };
    let known = Located { microdata, quasi: &quasi, locate: &locate };
    Ok(insider(margins, Some(known), watch))
}

/// The groups that people may be in, by what the release shows of them.
fn places(
    alone: &Release,
    people: (&Table, &[usize]),
    watch: &dyn Watch,
) -> Result<(Vec<Option<i64>>, Places), AuditError> {
    let shape = alone.manifest.method.shape();
    match (shape.detail, shape.values) {
        (Detail::Exact | Detail::Permuted, _) => values::places(alone, people, watch),
        (Detail::GroupBoxes | Detail::RowBoxes, Values::Counted(_)) => boxes::places_of_batches(alone, people, watch),
        (Detail::GroupBoxes | Detail::RowBoxes, Values::Beside | Values::Swapped) => {
            boxes::places(alone, people, watch)
        }
    }
}

/// Places by other numbers of the same groups.
fn renumbered(places: Places, ids: &[Option<i64>], by: &[Option<i64>]) -> Places {
    let number = |id: &Option<i64>| by.binary_search(id).ok().and_then(|at| u32::try_from(at).ok());
    let numbers: Vec<Option<u32>> = ids.iter().map(number).collect();
    let moved = |(group, rows): (u32, f32)| Some((numbers.get(group as usize).copied().flatten()?, rows));
    places.into_iter().map(|of| of.into_iter().filter_map(moved).collect()).collect()
}
