//! How easily rows are found again by somebody who knows quasi values: in the microdata, and in a release.

use chrysalis_release::{Cell, Detail, Release, RoleName};
use chrysalis_risk::{Asked, Population, measure};
use chrysalis_table::{Column, Table, Watch};

/// The risk of being found again, over all rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FoundAgain {
    /// The mean of one over the rows that look the same: the risk by an attacker who knows that a person is in the data, for
    /// one person and for all of them together.
    pub mean: f64,
    /// The same for the row that is found most easily.
    pub max: f64,
    /// The share of rows that no other row looks like.
    pub unique: f64,
}

/// That risk, before and after.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RowsFoundAgain {
    /// In the microdata.
    pub before: FoundAgain,
    /// In the release. Where quasi values are shown as they are, it is the same; what is protected then is what the row says,
    /// not which row it is.
    pub after: FoundAgain,
}

impl RowsFoundAgain {
    /// Measures the rows of a table and of a release made from it. `None` if one of them cannot be measured.
    pub(crate) fn measure(release: &Release, table: &Table, watch: &dyn Watch) -> Option<RowsFoundAgain> {
        let quasi: Vec<&Column> =
            release.manifest.with_role(RoleName::Quasi).filter_map(|it| table.column(&it.name)).collect();
        Some(RowsFoundAgain { before: found(&quasi, watch)?, after: found(&looks(release)?, watch)? })
    }
}

/// The columns by which an attacker tells rows of a release apart: all that is shown of quasi values. Where columns were
/// permuted inside groups, the values beside each other are not those of one person, so that only groups are told apart.
fn looks(release: &Release) -> Option<Vec<&Column>> {
    let layout = release.manifest.layout();
    let people = layout.people().next()?;
    let table = release.table(&people.name).ok()?;
    let is_quasi = |at: usize| release.manifest.attributes[at].role == RoleName::Quasi;
    let is_look = |cell: Cell| match (layout.shape.detail, cell) {
        (Detail::Permuted, Cell::GroupId) => true,
        (Detail::Permuted, _) => false,
        (_, Cell::Value(at) | Cell::Low(at) | Cell::High(at) | Cell::Label(at)) => is_quasi(at),
        _ => false,
    };
    people.columns.iter().filter(|it| is_look(it.cell)).map(|it| table.column(&it.name)).collect()
}

fn found(columns: &[&Column], watch: &dyn Watch) -> Option<FoundAgain> {
    // Sets of columns are not asked for, so the smallest ones will do.
    let asked =
        Asked { quasi: columns, population: Population::Unknown, wildcard: false, threshold: 1.0, max_size: Some(1) };
    let found = measure(&asked, watch).ok()?;
    Some(FoundAgain { mean: found.prosecutor.mean, max: found.prosecutor.max, unique: found.sample_uniques })
}
