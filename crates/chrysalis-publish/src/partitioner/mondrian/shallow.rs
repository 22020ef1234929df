//! A few cuts only, written down, so that rows that are not here can follow them.

use chrysalis_criteria::{All, PrincipleSpec};
use rayon::join;

use super::axis::Axis;
use super::cut::{Chooser, Side, Worth};
use super::records::{Records, Slice};
use crate::{Microdata, PublishError};

/// A tree of cuts by quasi values. A row goes left where its rank in an attribute is in a range.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cuts {
    Leaf,
    Node { axis: usize, from: u32, to: u32, left: Box<Cuts>, right: Box<Cuts> },
}

/// Cuts a table by the steps of `mondrian`, for any sensitive values, until no part has more than `most` rows. Neither
/// side of a cut has a smaller share of the rows than `least`.
pub(crate) fn shallow(data: &Microdata, most: usize, least: f64) -> Result<Cuts, PublishError> {
    let axes: Vec<Axis> = data.quasi().map(|(column, taxonomy)| Axis::new(column, taxonomy)).collect();
    let rows = (0..data.rows() as u32).collect();
    let mut records = Records::<u32>::of(data.quasi().map(|(column, _)| column), None, &axes, rows);
    cut(&axes, records.all(), most, least)
}

/// From code to rank, by attribute.
pub(crate) fn ranks(data: &Microdata) -> Vec<Vec<u32>> {
    let ranks = |axis: Axis| (0..axis.n_ranks() as u32).map(|code| axis.rank(code)).collect();
    data.quasi().map(|(column, taxonomy)| ranks(Axis::new(column, taxonomy))).collect()
}

fn cut(axes: &[Axis], group: Slice<'_, u32>, most: usize, least: f64) -> Result<Cuts, PublishError> {
    if group.len() <= most {
        return Ok(Cuts::Leaf);
    }
    let k = ((group.len() as f64 * least) as u64).max(1);
    let goal = All::bind(&[PrincipleSpec::KAnonymity { k }], None)?;
    let chooser = Chooser::new(axes, Worth::Penalty, &goal, false, 1);
    let Some(best) = chooser.best_cut(&group, &mut chooser.scratch()) else {
        return Ok(Cuts::Leaf);
    };
    let (from, to) = match &best.side {
        Side::Below(rank) | Side::Tie { rank, .. } => (0, *rank),
        Side::Within(ranks) => (*ranks.start(), ranks.end() + 1),
    };
    let axis = best.axis;
    let (left, right) = group.divide(&best);
    let (left, right) = join(|| cut(axes, left, most, least), || cut(axes, right, most, least));
    Ok(Cuts::Node { axis, from, to, left: Box::new(left?), right: Box::new(right?) })
}
