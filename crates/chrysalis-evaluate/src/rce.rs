//! pa's reconstruction error of a release; the formula is [`chrysalis_criteria::loss::reconstruction_error`].

use chrysalis_criteria::loss::{self, Rce, RceGroup};
use chrysalis_release::{Detail, Release, RoleName, View};
use chrysalis_table::Code;

use crate::permuted::histograms;
use crate::{EvaluateError, opened};

/// The reconstruction error of a release with exact or permuted quasi values. `None` for other forms, for a release
/// without groups or sensitive values, and for one that shows values that nobody has: pa's formula knows none.
pub fn reconstruction_error(release: &Release) -> Result<Option<Rce>, EvaluateError> {
    let shape = release.manifest.method.shape();
    let is_permuted = match shape.detail {
        Detail::Exact => false,
        Detail::Permuted => true,
        Detail::GroupBoxes | Detail::RowBoxes => return Ok(None),
    };
    if shape.group_id.is_none() || release.manifest.with_role(RoleName::Sensitive).next().is_none() {
        return Ok(None);
    }
    let view = opened::open(release)?;
    if view.counterfeits() > 0 {
        return Ok(None);
    }
    let values = opened::values(&view)?;
    let deltas = if is_permuted { permuted_deltas(&view)? } else { exact_deltas(&view) };
    let group = |(at, delta): (usize, (f64, f64))| {
        let counts = values.group(at).counts.iter().map(|&count| u64::from(count));
        RceGroup::new(u64::from(view.groups.size(at)), counts, delta)
    };
    let groups: Vec<RceGroup> = deltas.into_iter().enumerate().map(group).filter(|group| group.rows > 0).collect();
    Ok(Some(loss::reconstruction_error(&groups, release.manifest.promised_l(), is_permuted)))
}

fn exact_deltas(view: &View) -> Vec<(f64, f64)> {
    (0..view.groups.len()).map(|group| RceGroup::exact_deltas(u64::from(view.groups.size(group)))).collect()
}

/// By group, over all columns: the products of Σ(n_i/n)² and of Σ(n_i/n)³.
fn permuted_deltas(view: &View) -> Result<Vec<(f64, f64)>, EvaluateError> {
    let mut deltas = vec![(1.0, 1.0); view.groups.len()];
    for field in opened::with_role(view, RoleName::Quasi) {
        let column = opened::column(view, field)?;
        let own: Vec<Option<Code>> = (0..column.domain.len() as Code).map(Some).collect();
        let counted = histograms(&view.groups, column, &own);
        for (group, (delta, counted)) in deltas.iter_mut().zip(&counted).enumerate() {
            let size = f64::from(view.groups.size(group));
            let moment = |power: i32| counted.iter().map(|(_, count)| (count / size).powi(power)).sum::<f64>();
            delta.0 *= moment(2);
            delta.1 *= moment(3);
        }
    }
    Ok(deltas)
}
