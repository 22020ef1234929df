use chrysalis_table::{Code, Domain};

/// The normalized certainty penalty of one row in one ordered attribute: the width of the range over the width of the
/// domain (pa, equation 6).
///
/// A range that reaches from the missing value to a number says almost nothing and costs 1.
pub fn range_ncp(domain: &Domain, low: Code, high: Code) -> f64 {
    let lowest = Code::from(domain.has_missing());
    if low == high {
        return 0.0;
    }
    let ends = (domain.position(low), domain.position(high));
    let whole = (domain.position(lowest), domain.position(domain.len() as Code - 1));
    match (ends, whole) {
        ((Some(low), Some(high)), (Some(first), Some(last))) => (high - low) / (last - first),
        _ => 1.0,
    }
}

/// The same for a category: nothing for one value, the share of the domain otherwise (pa, equation 7).
pub fn set_ncp(n_values: usize, domain_len: usize) -> f64 {
    if n_values <= 1 { 0.0 } else { n_values as f64 / domain_len as f64 }
}

/// The penalty of a whole release.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Ncp {
    /// Over all rows and attributes, as the papers report it.
    pub sum: f64,
    /// Rows times attributes.
    pub cells: u64,
}

impl Ncp {
    /// Per cell, from 0 (nothing lost) to 1 (nothing left).
    pub fn mean(&self) -> f64 {
        if self.cells == 0 { 0.0 } else { self.sum / self.cells as f64 }
    }
}
