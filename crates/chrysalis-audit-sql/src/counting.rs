//! What counts as a value of the sensitive column: words that look alike are one, numbers that are near each other are
//! one, and a missing value protects nobody.

use std::collections::BTreeMap;

use chrysalis_criteria::{PrincipleSpec, Rational, parse_rational};
use chrysalis_dialect::expr::{X, call, case, col, int, null, sum};
use chrysalis_dialect::select::{Ctes, Rows};
use chrysalis_release::Attribute;
use chrysalis_table::{DateTime, Kind, folded};

use crate::frame::{Frame, call_max, call_min, columns_of, flag, same, sum_if};
use crate::seen::Seen;

/// How far apart numbers must be to differ.
#[derive(Clone, Copy)]
pub(crate) enum Width {
    /// Any two are different.
    Any,
    /// At least this far.
    Fixed(Rational),
    /// At least a hundredth of the range from the 5th to the 95th percentile.
    Hundredth,
}

/// Which values of an attribute count as one, and which as none.
pub(crate) struct Counting<'a> {
    pub(crate) frame: &'a Frame<'a>,
    pub(crate) at: usize,
    pub(crate) attribute: &'a Attribute,
    /// Version 1 counted every value by itself, a missing one among them.
    pub(crate) is_strict: bool,
    /// Words and the first word that looks like them, where that is another.
    alike: Vec<(String, String)>,
    /// Words that look like nothing.
    blank: Vec<String>,
    pub(crate) width: Width,
}

impl<'a> Counting<'a> {
    pub(crate) fn new(frame: &'a Frame<'a>, at: usize) -> Counting<'a> {
        let attribute = frame.attribute(at);
        let (kind, is_strict) = (Kind::from(attribute.kind), frame.manifest.version >= 2);
        let mut first: BTreeMap<String, String> = BTreeMap::new();
        let (mut alike, mut blank) = (Vec::new(), Vec::new());
        for word in attribute.domain.order().into_iter().filter(|_| !kind.has_distances()) {
            let look = folded(&word).into_owned();
            match first.get(&look) {
                _ if look.is_empty() => blank.push(word),
                Some(known) => alike.push((word, known.clone())),
                None => drop(first.insert(look, word)),
            }
        }
        let width = if kind.has_distances() { width(frame, attribute) } else { Width::Any };
        Counting { frame, at, attribute, is_strict, alike, blank, width }
    }

    pub(crate) fn kind(&self) -> Kind {
        self.attribute.kind.into()
    }

    /// Whether numbers can be near each other.
    pub(crate) fn has_near(&self) -> bool {
        self.is_strict && !matches!(self.width, Width::Any)
    }

    pub(crate) fn has_look_alikes(&self) -> bool {
        self.is_strict && !self.alike.is_empty()
    }

    /// Whether numbers are compared in floating point.
    pub(crate) fn is_rough(&self) -> bool {
        self.has_near() && self.kind() == Kind::Real
    }

    /// What counts as one value, in words.
    pub(crate) fn words(&self) -> String {
        let mut words = Vec::new();
        if self.has_look_alikes() || self.is_strict && !self.blank.is_empty() {
            words.push(" Words that look alike count as one.".to_owned());
        }
        match self.width {
            Width::Fixed(width) if self.has_near() => {
                words.push(format!(
                    " Values less than {} apart count as one.",
                    chrysalis_criteria::show_rational(width)
                ));
            }
            Width::Hundredth if self.has_near() => words.push(
                " Values less than a hundredth of the range from the 5th to the 95th percentile apart count as one."
                    .to_owned(),
            ),
            _ => {}
        }
        if self.is_strict && self.attribute.domain.missing {
            words.push(" Missing values protect nobody.".to_owned());
        }
        words.concat()
    }

    /// Adds the list of words that look like another, if a statement needs it.
    pub(crate) fn add_alike(&self, ctes: &mut Ctes) {
        if !self.alike.is_empty() && !ctes.has("alike") {
            let text = |word: &String| self.frame.dialect.text(word);
            let rows = self.alike.iter().map(|(word, first)| vec![text(word), text(first)]).collect();
            ctes.add_list("alike", &["word", "first_word"], rows);
        }
    }

    /// The rows of a CTE with the words that look like its values, and the look of a value.
    pub(crate) fn looks(&self, cte: &str) -> (Rows, X) {
        let value = col(&format!("{cte}.value"));
        let mut rows = Rows::of(cte);
        let mut look = value.clone();
        if !self.alike.is_empty() {
            rows = rows.left_join("alike", col("alike.word").eq(value.clone()));
            look = call("COALESCE", vec![col("alike.first_word"), value.clone()]);
        }
        if !self.blank.is_empty() {
            let words = self.blank.iter().map(|word| self.frame.dialect.text(word)).collect();
            look = case(value.one_of(words), null(), look);
        }
        (rows, look)
    }

    /// Adds `counted`: the groups and values of `shown`, with values that look alike as one, and NULL for whatever is
    /// missing.
    pub(crate) fn add_counted(&self, ctes: &mut Ctes, seen: &Seen<'_>) {
        let names = [seen.key(), "value", "n", "size"];
        if !self.is_strict || self.alike.is_empty() && self.blank.is_empty() {
            ctes.add("counted", columns_of("shown", &names));
            return;
        }
        self.add_alike(ctes);
        let (rows, look) = self.looks("shown");
        let (key, size) = (seen.key_of("shown"), col("shown.size"));
        let rows = rows.item(key.clone(), seen.key()).item(look.clone(), "value").item(sum(col("shown.n")), "n");
        ctes.add("counted", rows.item(size.clone(), "size").group_by([key, look, size]));
    }

    /// Adds `placed`: the values of a CTE that are not missing, with their places on a line. If the width follows from
    /// the data, `width` has it: a hundred times the width is its column `span`. `line` says where values begin.
    pub(crate) fn add_placed(&self, ctes: &mut Ctes, seen: &Seen<'_>, cte: &str) {
        let place = |value: X| self.frame.place(self.attribute, value);
        seen.add_everybody(ctes, self.at);
        let value = col("everybody.value");
        let rows = Rows::of("everybody").item(place(value.clone()), "place").item(col("everybody.n"), "n");
        ctes.add("line", rows.filter(Some(value.present())));
        if let Width::Hundredth = self.width {
            let up_to = sum(col("line.n")).over(&[], [(col("line.place"), chrysalis_dialect::expr::Direction::Up)]);
            let rows = Rows::of("line").item(col("line.place"), "place").item(up_to, "up_to");
            ctes.add("ranked", rows.item(sum(col("line.n")).over(&[], []), "total"));
            let at = |percent: i64| {
                let is_there = (col("ranked.up_to") * int(100)).at_least(col("ranked.total") * int(percent));
                call_min(case(is_there, col("ranked.place"), null()))
            };
            ctes.add("width", Rows::of("ranked").item(at(95) - at(5), "span"));
        }
        let value = col(&format!("{cte}.value"));
        let rows = Rows::of(cte).item(seen.key_of(cte), seen.key()).item(place(value.clone()), "place");
        let rows = rows.item(col(&format!("{cte}.n")), "n").item(col(&format!("{cte}.size")), "size");
        ctes.add("placed", rows.filter(Some(value.present())));
    }

    /// The width as a numerator and a denominator, in the unit of places.
    pub(crate) fn width_parts(&self) -> (X, X) {
        match self.width {
            Width::Any => (int(0), int(1)),
            Width::Hundredth => (col("width.span"), int(100)),
            Width::Fixed(width) => {
                // Places of datetimes are microseconds, their widths are seconds.
                let unit = if self.kind() == Kind::DateTime { i128::from(DateTime::SECOND) } else { 1 };
                (int(i128::from(*width.numer()) * unit), int(*width.denom()))
            }
        }
    }

    /// Rows together with the width, if that follows from the data.
    pub(crate) fn with_width(&self, rows: Rows) -> Rows {
        match self.width {
            Width::Hundredth => rows.cross("width", "width"),
            Width::Any | Width::Fixed(_) => rows,
        }
    }

    /// Whether the higher of two places is so near the lower one that they count as one. Reals are compared in floating
    /// point: in doubt they count as one.
    pub(crate) fn is_near(&self, low: X, high: X) -> X {
        let (numerator, denominator) = self.width_parts();
        let apart = (high - low) * denominator;
        match self.kind() {
            Kind::Real if matches!(self.width, Width::Hundredth) => {
                apart.less(numerator * self.frame.real(1.0 + 1e-12))
            }
            Kind::Real => apart.less(self.frame.dialect.double(numerator)),
            _ => apart.less(numerator),
        }
    }

    /// Adds `shares`: of every group its size, how many of its values are missing, and the most that share one value.
    /// `cte` has the values of which the most frequent is looked for.
    pub(crate) fn add_shares(&self, ctes: &mut Ctes, seen: &Seen<'_>, cte: &str) {
        let key = seen.key_of("counted");
        let is_missing = col("counted.value").missing();
        let missing = if self.is_strict { sum_if(is_missing, col("counted.n")) } else { int(0) };
        let groups = Rows::of("counted").item(key.clone(), seen.key()).item(call_max(col("counted.size")), "size");
        let groups = groups.item(missing, "missing").group_by([key]);
        let (n, value) = (col(&format!("{cte}.n")), col(&format!("{cte}.value")));
        let most = if self.is_strict { call_max(case(value.present(), n, int(0))) } else { call_max(n) };
        if cte == "counted" && !self.has_near() {
            ctes.add("shares", groups.item(most, "most"));
            return;
        }
        ctes.add("whole_groups", groups);
        if self.has_near() {
            self.add_placed(ctes, seen, cte);
            let (low, high) = (col("smaller.place"), col("placed.place"));
            let on = seen.key_of("placed").eq(seen.key_of("smaller"));
            let near = low.clone().at_most(high.clone()).and(self.is_near(low.clone(), high.clone()).or(low.eq(high)));
            let rows = self.with_width(Rows::of("placed").cross("placed", "smaller"));
            let rows = rows.filter(Some(on.and(near))).item(seen.key_of("placed"), seen.key());
            let rows = rows.item(sum(col("smaller.n")), "n");
            ctes.add("stretches", rows.group_by([seen.key_of("placed"), col("placed.place")]));
            let key = seen.key_of("stretches");
            let rows = Rows::of("stretches").item(key.clone(), seen.key()).item(call_max(col("stretches.n")), "most");
            ctes.add("most_frequent", rows.group_by([key]));
        } else {
            let key = seen.key_of(cte);
            ctes.add("most_frequent", Rows::of(cte).item(key.clone(), seen.key()).item(most, "most").group_by([key]));
        }
        let on = seen.key_of("whole_groups").eq(seen.key_of("most_frequent"));
        let most = call("COALESCE", vec![col("most_frequent.most"), int(0)]);
        let rows =
            Rows::of("whole_groups").left_join("most_frequent", on).item(seen.key_of("whole_groups"), seen.key());
        let rows = rows.item(col("whole_groups.size"), "size").item(col("whole_groups.missing"), "missing");
        ctes.add("shares", rows.item(most, "most"));
    }

    /// Adds `flagged`: the rows of `shown` with their looks, and whether their values are ordinary: those that the owner
    /// names, or else those that at least half of all rows have.
    pub(crate) fn add_flagged(&self, ctes: &mut Ctes, seen: &Seen<'_>) {
        self.add_alike(ctes);
        let (rows, look) = self.looks("shown");
        let rows = rows.item(seen.key_of("shown"), seen.key()).item(col("shown.value"), "value");
        let rows = rows.item(look, "look").item(col("shown.n"), "n").item(col("shown.size"), "size");
        ctes.add("looked_at", rows);
        let kept = ["value", "look", "n", "size"];
        let rows = kept.iter().fold(Rows::of("looked_at").item(seen.key_of("looked_at"), seen.key()), |rows, name| {
            rows.item(col(&format!("looked_at.{name}")), name)
        });
        match &self.attribute.ordinary {
            Some(named) => {
                let kind = self.kind();
                let value = col("looked_at.value");
                let words: Vec<X> =
                    named.iter().filter(|it| !it.is_null()).map(|it| self.frame.literal(kind, it)).collect();
                let mut parts = Vec::new();
                if !words.is_empty() {
                    parts.push(value.clone().one_of(words));
                }
                if named.iter().any(serde_json::Value::is_null) {
                    parts.push(value.missing());
                }
                let is_ordinary = flag(chrysalis_dialect::expr::any(parts));
                ctes.add("flagged", rows.item(is_ordinary, "is_ordinary"));
            }
            None => {
                seen.add_everybody(ctes, self.at);
                let (by_look, look) = self.looks("everybody");
                let n = sum(col("everybody.n"));
                let by_look = by_look.item(look.clone(), "look").item(n.clone(), "n");
                let by_look = by_look.item(sum(n).over(&[], []), "total").group_by([look]);
                ctes.add("looks", by_look);
                let half = (col("looks.n") * int(2)).at_least(col("looks.total"));
                ctes.add(
                    "ordinary",
                    Rows::of("looks").item(col("looks.look"), "look").item(int(1), "yes").filter(Some(half)),
                );
                let on = same(col("ordinary.look"), col("looked_at.look"));
                ctes.add(
                    "flagged",
                    rows.left_join("ordinary", on).item(flag(col("ordinary.yes").present()), "is_ordinary"),
                );
            }
        }
    }
}

/// How far apart the numbers of an attribute must be: by the largest e that is promised, else as the owner says, else by
/// the data.
fn width(frame: &Frame<'_>, attribute: &Attribute) -> Width {
    let own = frame.manifest.promises.iter().filter(|it| it.about().is_none_or(|about| about == attribute.name));
    let promised = own.filter_map(|promise| match promise.principle() {
        PrincipleSpec::Ke { e, .. } => Some(*e),
        _ => None,
    });
    let fixed = |width: Rational| if *width.numer() == 0 { Width::Any } else { Width::Fixed(width) };
    let said = || attribute.near.as_deref().and_then(parse_rational);
    promised.max().or_else(said).map_or(Width::Hundredth, fixed)
}
