//! Whether values are those of the manifest's domains, each as often as it says.

use chrysalis_dialect::expr::{X, any, col, count_rows, int, sum};
use chrysalis_dialect::select::{Ctes, Rows};
use chrysalis_release::{Cell, Detail, RoleName};
use chrysalis_table::Kind;

use crate::Statement;
use crate::frame::{Frame, check, undecided};
use crate::seen::{Seen, Sight};

pub(crate) fn statements(frame: &Frame<'_>) -> Vec<Statement> {
    let mut all: Vec<Statement> = frame.with_role(RoleName::Sensitive).map(|at| sensitive(frame, at)).collect();
    if let Detail::Exact | Detail::Permuted = frame.layout.shape.detail {
        let shown = [RoleName::Quasi, RoleName::Other].into_iter().flat_map(|role| frame.with_role(role));
        all.extend(shown.filter_map(|at| in_domain(frame, at)));
    }
    all
}

/// Sensitive values are those of the manifest, each as often as it says.
fn sensitive(frame: &Frame<'_>, at: usize) -> Statement {
    let attribute = frame.attribute(at);
    let name = frame.named("check/sensitive values", &attribute.name);
    let (Some(values), Some(counts)) = (&attribute.domain.values, &attribute.domain.counts) else {
        return undecided(name, "the manifest does not say how often values occur.");
    };
    let mut ctes = Ctes::default();
    Seen::new(frame, Sight::Groups).add_everybody(&mut ctes, at);
    let kind = Kind::from(attribute.kind);
    let listed: Vec<Vec<X>> =
        values.iter().zip(counts).map(|(value, &count)| vec![frame.literal(kind, value), int(count)]).collect();
    let found = Rows::of("everybody").item(col("everybody.value"), "value").item(col("everybody.n"), "found");
    let found = found.item(int(0), "said");
    let mut parts = vec![found];
    if !listed.is_empty() {
        ctes.add_list("listed", &["value", "n"], listed);
        let said = Rows::of("listed").item(col("listed.value"), "value").item(int(0), "found");
        parts.push(said.item(col("listed.n"), "said"));
    }
    ctes.add_union("sides", parts);
    let (found, said) = (sum(col("sides.found")), sum(col("sides.said")));
    let rows = Rows::of("sides").item(col("sides.value"), "value").item(found.clone(), "found");
    check(
        name,
        format!(
            "every value of `{}` occurs as often as the manifest says, and no other does. A row is a value that occurs more \
             or less often.",
            attribute.name
        ),
        ctes,
        rows.item(said.clone(), "said").group_by([col("sides.value")]).having(found.differs(said)),
    )
}

/// Values that are shown as they are lie in their attribute's domain.
fn in_domain(frame: &Frame<'_>, at: usize) -> Option<Statement> {
    let attribute = frame.attribute(at);
    let people = frame.people();
    if !people.columns.iter().any(|column| column.cell == Cell::Value(at)) {
        return None;
    }
    let (kind, column) = (Kind::from(attribute.kind), frame.column("t", &attribute.name));
    let mut ctes = Ctes::default();
    let rows = frame.rows(&people.name, "t").item(column.clone(), "value").item(count_rows(), "n_rows");
    ctes.add("found", rows.group_by([column]));
    let value = col("found.value");
    let mut rows = Rows::of("found");
    let mut wrong: Vec<X> = Vec::new();
    if kind.has_distances() {
        let literal = |end: &Option<serde_json::Value>| end.as_ref().map(|end| frame.literal(kind, end));
        match literal(&attribute.domain.min).zip(literal(&attribute.domain.max)) {
            Some((min, max)) => {
                wrong.push(value.clone().less(min));
                wrong.push(value.clone().greater(max));
            }
            None => wrong.push(value.clone().present()),
        }
    } else {
        let words = attribute.domain.order();
        let words: Vec<Vec<X>> = words.iter().map(|word| vec![frame.dialect.text(word), int(1)]).collect();
        if words.is_empty() {
            wrong.push(value.clone().present());
        } else {
            ctes.add_list("listed", &["value", "there"], words);
            rows = rows.left_join("listed", col("listed.value").eq(value.clone()));
            wrong.push(value.clone().present().and(col("listed.there").missing()));
        }
    }
    if !attribute.domain.missing {
        wrong.push(value.clone().missing());
    }
    let rows = rows.item(value, "value").item(col("found.n_rows"), "n_rows").filter(Some(any(wrong)));
    let about = format!("the values of `{}` are those of its domain. A row is another value.", attribute.name);
    Some(check(format!("check/values/{}", attribute.name), about, ctes, rows))
}
