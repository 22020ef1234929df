//! Checks that domains are no wider than what is published of them.

use std::collections::BTreeSet;

use chrysalis_release::{Attribute, Cell, DomainEntry, Layout, MEMBERS_COLUMNS, Release, RoleName};
use chrysalis_table::{Column, Domain, Kind, Value};

use crate::columns::{Positions, from_json};
use crate::findings::Findings;

/// The domain of one attribute, by its place in the manifest.
pub(super) fn check(release: &Release, layout: &Layout, at: usize, findings: &mut Findings) {
    let attribute = &release.manifest.attributes[at];
    let name = &attribute.name;
    let column = |cell: Cell| {
        let of_table = layout.tables.iter().filter_map(move |table| {
            let known = table.columns.iter().find(|column| column.cell == cell)?;
            release.table(&table.name).ok()?.column(&known.name)
        });
        of_table.collect::<Vec<&Column>>()
    };
    let (exact, lows, highs, labels) =
        (column(Cell::Value(at)), column(Cell::Low(at)), column(Cell::High(at)), column(Cell::Label(at)));
    let fits = match (exact.first(), lows.is_empty()) {
        (Some(column), _) => is_of_column(attribute, column),
        (None, false) => is_covered(attribute, &lows, &highs),
        (None, true) if labels.is_empty() => return,
        (None, true) => is_labelled(attribute, release, layout),
    };
    if !fits {
        findings.add("domains", || format!("the domain of `{name}` is not the one that is published"));
    }
}

/// Whether two domains are the same, down to the spelling of numbers: `1` and `1.0` are not, nor are `0.0` and `-0.0`.
fn is_same(attribute: &Attribute, expected: &DomainEntry) -> bool {
    let text = |domain: &DomainEntry| serde_json::to_string(domain).ok();
    let is_real = Kind::from(attribute.kind) == Kind::Real;
    attribute.domain == *expected && (!is_real || text(&attribute.domain) == text(expected))
}

/// Where values are published as they are, the domain is that of the column. How often each occurs is checked
/// elsewhere.
fn is_of_column(attribute: &Attribute, column: &Column) -> bool {
    let counts = attribute.domain.counts.clone().filter(|_| attribute.role == RoleName::Sensitive);
    is_same(attribute, &DomainEntry::of(column.domain(), counts))
}

/// Where ranges are published, both ends of the domain lie in some range, or each of its words does, and it has missing
/// values exactly if some range has no lower end. Every table shows all people, so each must cover the domain.
fn is_covered(attribute: &Attribute, lows: &[&Column], highs: &[&Column]) -> bool {
    let Some((domain, places)) = described(attribute) else { return false };
    let positions = Positions::of(attribute);
    let covers = |(low, high): (&&Column, &&Column)| {
        let (lows, highs) = (positions.of_column(low), positions.of_column(high));
        let has_missing = lows.contains(&None);
        let are_covered = match domain.kind() {
            Kind::Ordinal => are_all_covered((*low, lows.as_slice()), (*high, highs.as_slice()), &places),
            // PROOF: no range lies outside the domain, as another check makes sure; so a range that begins at or below
            // the least value contains it.
            Kind::Integer | Kind::Real | Kind::Date | Kind::DateTime | Kind::Category => {
                let (lowest, highest) = (lows.iter().flatten().min(), highs.iter().flatten().max());
                places.first().is_none_or(|place| has_missing || lowest <= Some(place))
                    && places.last().is_none_or(|place| Some(place) <= highest)
            }
        };
        has_missing == attribute.domain.missing && are_covered
    };
    is_same(attribute, &DomainEntry::of(&domain, None)) && lows.iter().zip(highs).all(covers)
}

/// Whether every one of these places lies in some range.
fn are_all_covered(
    (low, lows): (&Column, &[Option<i64>]),
    (high, highs): (&Column, &[Option<i64>]),
    places: &[i64],
) -> bool {
    let mut ranges = BTreeSet::new();
    let mut last = None;
    for pair in low.codes().iter().zip(high.codes().iter()) {
        // Rows of a group show the same range.
        if last != Some(pair) {
            ranges.insert((lows[pair.0 as usize], highs[pair.1 as usize]));
            last = Some(pair);
        }
    }
    let lies_in_one = |place: &i64| ranges.iter().any(|&(low, high)| low <= Some(*place) && Some(*place) <= high);
    places.iter().all(lies_in_one)
}

/// A domain with the ends or the words that the manifest names, and the places that must be covered.
fn described(attribute: &Attribute) -> Option<(Domain, Vec<i64>)> {
    let (kind, said) = (Kind::from(attribute.kind), &attribute.domain);
    let values: Vec<Value> = match kind {
        Kind::Ordinal | Kind::Category => said.order().iter().map(|word| Value::Text(word.as_str().into())).collect(),
        Kind::Integer | Kind::Real | Kind::Date | Kind::DateTime => {
            let ends = [&said.min, &said.max].into_iter().flatten();
            let mut ends: Vec<Value> = ends.map(|end| from_json(kind, end)).collect::<Option<_>>()?;
            ends.dedup();
            ends
        }
    };
    // Ordinals have an order of their own.
    if kind != Kind::Ordinal && !values.is_sorted_by(|a, b| a < b) {
        return None;
    }
    let positions = Positions::of(attribute);
    let places = values.iter().filter_map(|value| positions.of_value(Some(value))).collect();
    Some((Domain::new(kind, values, said.missing), places))
}

/// Where labels are published, every value must be a member of one of them.
fn is_labelled(attribute: &Attribute, release: &Release, layout: &Layout) -> bool {
    let Some((domain, _)) = described(attribute) else { return false };
    let members = layout.shape.members.and_then(|name| release.table(name).ok());
    let columns = members.and_then(|table| {
        let [of, _, value] = MEMBERS_COLUMNS.map(|name| table.column(name));
        Some((of?, value?))
    });
    let Some((of, value)) = columns else { return false };
    let rows = (0..of.codes().len()).filter(|&row| of.domain().text(of.code(row)) == attribute.name.as_str());
    let known: BTreeSet<u32> = rows.map(|row| value.code(row)).collect();
    let is_known = |word: Option<&Value>| value.domain().code_of(word).is_some_and(|code| known.contains(&code));
    let is_missing_known = !domain.has_missing() || is_known(None);
    let are_known = is_missing_known && domain.values().iter().all(|word| is_known(Some(word)));
    is_same(attribute, &DomainEntry::of(&domain, None)) && are_known
}
