//! Survey weights: the column that says how many people of the population a row stands for.
//!
//! A weight is kept as it is, so it is judged like every other column that is kept. Beyond that it must be what sums of
//! weights need: a number that no row lacks and that is never negative.

use chrysalis_release::{Form, Release};
use chrysalis_table::{Domain, Kind, Knob, Remedy, Table};

use crate::Error;
use crate::words::count;

/// Refuses a weight where a form keeps no column as it is.
pub(crate) fn check_form(weight: Option<&String>, form: Form) -> Result<(), Error> {
    match weight.filter(|_| !form.shape().keeps_others) {
        None => Ok(()),
        Some(name) => {
            let message =
                format!("{form} cuts every link between columns, so the weight `{name}` would belong to nobody");
            let forms = Form::ALL.iter().filter(|form| form.shape().keeps_others && form.shape().group_id.is_some());
            let names: Vec<&str> = forms.map(|form| form.name()).collect();
            let remedy = Remedy::from("leave ").knob(Knob::Weight, "").words(" out, or use ");
            Err(Error::request(message, remedy.knob(Knob::Method, names.join(" or "))))
        }
    }
}

/// Refuses a weight that cannot be added up.
pub(crate) fn check_values(table: &Table, weight: &str) -> Result<(), Error> {
    let column = table.column(weight).ok_or_else(|| Error::internal(format!("the weight `{weight}` was not read")))?;
    check_domain(column.domain(), &column.histogram(), weight)
}

/// The same where the rows are elsewhere: `counts` says how often each code occurs.
pub(crate) fn check_domain(domain: &Domain, counts: &[u64], weight: &str) -> Result<(), Error> {
    let kind = domain.kind();
    let other = || Remedy::from("name another column with ").knob(Knob::Weight, "").words(", or leave it out");
    if !matches!(kind, Kind::Integer | Kind::Real) {
        let message = format!("the weight `{weight}` must hold numbers, but it is of kind {kind}");
        return Err(Error::request(message, other()));
    }
    if domain.has_missing() {
        let (missing, rows) = (counts.first().copied().unwrap_or(0), counts.iter().sum());
        let message = format!("the weight `{weight}` is missing in {} of {} rows", count(missing), count(rows));
        let remedy = Remedy::from("give every row a weight, or leave such rows out with ");
        return Err(Error::request(message, remedy.knob(Knob::Missing, "drop")));
    }
    match domain.bounds().and_then(|(least, _)| least.number()).filter(|least| *least < 0.0) {
        None => Ok(()),
        Some(least) => {
            let message = format!("the weight `{weight}` has negative values, the least of which is {least}");
            Err(Error::request(message, other()))
        }
    }
}

/// Says in the manifest which column is the weight.
pub(crate) fn mark(release: &mut Release, weight: &str) {
    let attributes = release.manifest.attributes.iter_mut();
    attributes.filter(|attribute| attribute.name == weight).for_each(|attribute| attribute.weight = true);
}
