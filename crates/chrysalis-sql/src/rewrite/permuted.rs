//! The CTE `hits` of permuted columns: matches are known per attribute and group, but not per row.

use std::collections::{BTreeMap, BTreeSet};

use chrysalis_release::GROUP_ID;

use super::expr::{X, case, col, count_rows, int, product, total};
use super::select::Rows;
use super::{Writer, sets};
use chrysalis_query::value_set::ValueSet;
use chrysalis_query::{Cell, Field};

/// Disjoint parts of an attribute's values, chosen so that every set of the question is a union of some of them.
struct Atoms {
    atoms: Vec<ValueSet>,
}

impl Atoms {
    fn of(field: &Field, sets: &[&ValueSet]) -> Self {
        let mut atoms = vec![field.everything(field.has_missing)];
        for set in sets {
            let split = |atom: &ValueSet| [atom.intersection(set), atom.intersection(&set.complement())];
            atoms = atoms.iter().flat_map(split).filter(|atom| !atom.is_empty()).collect();
        }
        // Values that are in no set need not be counted.
        atoms.retain(|atom| sets.iter().any(|set| !atom.intersection(set).is_empty()));
        Atoms { atoms }
    }

    /// The atoms that make up a set.
    fn within(&self, set: &ValueSet) -> Vec<usize> {
        (0..self.atoms.len()).filter(|&at| !self.atoms[at].intersection(set).is_empty()).collect()
    }
}

/// Writes `tally` (counts of atoms), `key_i` (counts of key values) and `hits`.
pub(super) fn write(writer: &mut Writer<'_>) {
    let counts = Counts::write(writer);
    let plan = writer.plan;
    let mut rows = Rows::of("tally").item(col("tally.g"), "g").item(col("tally.n"), "n");
    for (at, _) in writer.quasi_keys() {
        let key = format!("key_{at}");
        rows = rows
            .join(&key, col(&format!("{key}.g")).eq(col("tally.g")))
            .item(col(&format!("{key}.k")), &format!("k{at}"));
    }
    for (at, condition) in plan.conditions.iter().enumerate() {
        rows = rows.items(counts.hit(writer, &condition.boxes, at));
    }
    writer.ctes.add("odds", rows);
    // The variance needs the expectation twice, so it is computed one step later.
    let mut rows = Rows::of("odds").item(col("odds.g"), "g").item(col("odds.n"), "n");
    for (at, _) in writer.quasi_keys() {
        rows = rows.item(col(&format!("odds.k{at}")), &format!("k{at}"));
    }
    for at in 0..plan.conditions.len() {
        let column = |letter: char| col(&format!("odds.{letter}{at}"));
        let variance = column('p') + column('e') - column('e').squared();
        rows = rows
            .item(column('e'), &format!("e{at}"))
            .item(column('l'), &format!("l{at}"))
            .item(column('u'), &format!("u{at}"))
            .item(writer.dialect.greatest(int(0), variance), &format!("v{at}"));
    }
    writer.ctes.add(writer.quasi_hits(), rows.filter(Some(col("odds.u0").greater(int(0)))));
}

/// Where to find the number of a group's values in a set.
struct Counts {
    atoms: BTreeMap<usize, Atoms>,
    keys: Vec<(usize, usize)>,
}

impl Counts {
    fn write(writer: &mut Writer<'_>) -> Self {
        let keys = writer.quasi_keys();
        let cells = || writer.plan.conditions.iter().flat_map(|condition| &condition.boxes);
        let mut fields: BTreeSet<usize> = cells().flat_map(|cell| cell.sets.keys().copied()).collect();
        fields.retain(|field| keys.iter().all(|(_, key)| key != field));
        let sets_of = |field: usize| cells().filter_map(|cell| cell.sets.get(&field)).collect::<Vec<_>>();
        let atoms: BTreeMap<usize, Atoms> =
            fields.into_iter().map(|field| (field, Atoms::of(&writer.fields()[field], &sets_of(field)))).collect();
        let (dialect, table) = (writer.dialect, writer.plan.shape.people);
        let group = writer.column("q", GROUP_ID);
        let grouped = || Rows::of_table(dialect, table, "q").item(group.clone(), "g").group_by([group.clone()]);
        let mut tally = grouped().item(dialect.double(count_rows()), "n");
        for (&field, atoms) in &atoms {
            let column = writer.column("q", &writer.fields()[field].name);
            for (at, atom) in atoms.atoms.iter().enumerate() {
                let condition = sets::is_in(dialect, &column, &writer.fields()[field], atom);
                tally = tally.item(dialect.double(count_rows().filter(Some(condition))), &format!("a{field}_{at}"));
            }
        }
        let key_rows: Vec<(String, Rows)> = keys
            .iter()
            .map(|&(at, field)| {
                let column = writer.column("q", &writer.fields()[field].name);
                let rows = grouped().item(column.clone(), "k").item(dialect.double(count_rows()), "w");
                (format!("key_{at}"), rows.group_by([column]))
            })
            .collect();
        writer.ctes.add("tally", tally);
        key_rows.into_iter().for_each(|(name, rows)| writer.ctes.add(&name, rows));
        Counts { atoms, keys }
    }

    /// How many values of an attribute lie in a set; for a key, the rows with its value if it lies in the set.
    fn matching(&self, writer: &Writer<'_>, field: usize, set: Option<&ValueSet>) -> X {
        if let Some((at, _)) = self.keys.iter().find(|(_, key)| *key == field) {
            let count = col(&format!("key_{at}.w"));
            let Some(set) = set else { return count };
            let value = col(&format!("key_{at}.k"));
            return case(sets::is_in(writer.dialect, &value, &writer.fields()[field], set), count, int(0));
        }
        match set {
            None => col("tally.n"),
            Some(set) => {
                let atoms = self.atoms.get(&field).map_or_else(Vec::new, |atoms| atoms.within(set));
                total(atoms.into_iter().map(|at| col(&format!("tally.a{field}_{at}"))).collect())
            }
        }
    }

    /// The attributes that a box, or one of two boxes, constrains, and the keys.
    fn attributes(&self, cells: &[&Cell]) -> Vec<usize> {
        let own = cells.iter().flat_map(|cell| cell.sets.keys().copied());
        let fields: BTreeSet<usize> = own.chain(self.keys.iter().map(|(_, field)| *field)).collect();
        fields.into_iter().collect()
    }

    /// Expected, least and most hits, and the expected number of ordered pairs of hits.
    fn hit(&self, writer: &Writer<'_>, cells: &[Cell], at: usize) -> Vec<(X, String)> {
        let dialect = writer.dialect;
        let n = || col("tally.n");
        let zero = || dialect.double(int(0));
        let matching = |field: usize, cell: &Cell| self.matching(writer, field, cell.sets.get(&field));
        let (mut expected, mut least, mut most) = (Vec::new(), Vec::new(), Vec::new());
        for cell in cells {
            let parts: Vec<X> = self.attributes(&[cell]).into_iter().map(|field| matching(field, cell)).collect();
            let others = parts.len().saturating_sub(1);
            expected.push(product(parts.clone()).map_or_else(n, |product| divided(product, &n(), others)));
            let sum = total(parts.clone()) - int(others as i64) * n();
            least.push(if parts.is_empty() { n() } else { dialect.greatest(int(0), sum) });
            most.push(parts.into_iter().reduce(|a, b| dialect.least(a, b)).unwrap_or_else(n));
        }
        let sum_or_zero = |parts: Vec<X>| if parts.is_empty() { zero() } else { total(parts) };
        vec![
            (sum_or_zero(expected), format!("e{at}")),
            (dialect.least(n(), sum_or_zero(least)), format!("l{at}")),
            (dialect.least(n(), sum_or_zero(most)), format!("u{at}")),
            (self.pairs(writer, cells), format!("p{at}")),
        ]
    }

    /// E[H(H−1)], over all pairs of boxes.
    fn pairs(&self, writer: &Writer<'_>, cells: &[Cell]) -> X {
        let n = || col("tally.n");
        let all_pairs = || n() * (n() - int(1));
        let mut terms = Vec::new();
        for (at, a) in cells.iter().enumerate() {
            for b in &cells[at..] {
                let factors: Vec<X> =
                    self.attributes(&[a, b]).into_iter().map(|field| self.factor(writer, field, a, b)).collect();
                let others = factors.len().saturating_sub(1);
                let term = product(factors).map_or_else(all_pairs, |product| divided(product, &all_pairs(), others));
                let times = if std::ptr::eq(a, b) { 1 } else { 2 };
                terms.push(if times == 1 { term } else { int(times) * term });
            }
        }
        if terms.is_empty() {
            return writer.dialect.double(int(0));
        }
        case(n().greater(int(1)), total(terms), int(0))
    }

    /// Ordered pairs of different values of one attribute, the first in one box and the second in the other.
    fn factor(&self, writer: &Writer<'_>, field: usize, a: &Cell, b: &Cell) -> X {
        let (set_a, set_b) = (a.sets.get(&field), b.sets.get(&field));
        let both = match (set_a, set_b) {
            (Some(a), Some(b)) => Some(a.intersection(b)),
            (a, b) => a.or(b).cloned(),
        };
        let one = |set| self.matching(writer, field, set);
        one(set_a) * one(set_b) - one(both.as_ref())
    }
}

/// Products of integers are exact, so the divisions come last, one factor at a time.
fn divided(product: X, by: &X, times: usize) -> X {
    (0..times).fold(product, |x, _| x / by.clone())
}
