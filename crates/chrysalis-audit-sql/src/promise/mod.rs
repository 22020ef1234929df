//! One statement per promise, or per promise and user: the groups that break it.

mod distance;
mod people;
mod readings;
mod spread;
mod weights;

use chrysalis_criteria::{PrincipleSpec, Rational, show_rational};
use chrysalis_dialect::Dialect;
use chrysalis_dialect::expr::{X, all, call, case, col, count_rows, int, sum};
use chrysalis_dialect::select::{Ctes, Rows, without_repeated_names};
use chrysalis_release::{Promise, Scope, Unit};

use crate::counting::Counting;
use crate::frame::{Frame, call_max, call_min, parts};
use crate::seen::{Seen, Sight};
use crate::{Decides, Statement};

/// One part of a statement: CTEs, and rows that are there only if something is wrong.
pub(crate) struct Body {
    pub(crate) ctes: Ctes,
    pub(crate) rows: Rows,
    pub(crate) decides: Decides,
}

/// A body, or why there is none.
pub(crate) type Written = Result<Body, String>;

pub(crate) fn exactly(ctes: Ctes, rows: Rows) -> Written {
    Ok(Body { ctes, rows, decides: Decides::Exactly })
}

pub(crate) fn statements(frame: &Frame<'_>) -> Vec<Statement> {
    let mut all = Vec::new();
    for (promise, text) in frame.manifest.promises.iter().zip(frame.manifest.guarantees()) {
        match promise.scope() {
            Scope::Group | Scope::Batch => all.push(one(frame, promise, &text, Sight::Groups)),
            Scope::User => {
                let users = frame.manifest.quasi_identifiers.iter();
                all.extend(users.map(|user| one(frame, promise, &text, Sight::User(user))));
            }
            Scope::Bucket => all.extend(buckets(frame, promise, &text)),
        }
    }
    all
}

/// What a principle asks for, in words.
fn meaning(principle: &PrincipleSpec, word: &str, unit: &str, about: &str) -> String {
    let show = |number: &Rational| show_rational(*number);
    match principle {
        PrincipleSpec::KAnonymity { k } => format!("every {word} has at least {k} {unit}."),
        PrincipleSpec::DistinctL { l } => format!("every {word} has at least {l} different values of `{about}`."),
        PrincipleSpec::FrequencyL { l } => {
            format!("in every {word}, no value of `{about}` has more than 1/{} of the {unit}.", show(l))
        }
        PrincipleSpec::OthersL { l } => format!(
            "in every {word}, no value of `{about}` that is not ordinary has more than 1/{} of the {unit}.",
            show(l)
        ),
        PrincipleSpec::EntropyL { l } => {
            format!(
                "in every {word}, the entropy of `{about}` is at least that of {} equally frequent values.",
                show(l)
            )
        }
        PrincipleSpec::RecursiveCl { c, l } => format!(
            "in every {word}, the most frequent value of `{about}` occurs less than {} times as often as all values \
             together from the {l}th most frequent on.",
            show(c)
        ),
        PrincipleSpec::TCloseness { t } => format!(
            "in every {word}, the distribution of `{about}` is at most {} away from that of the whole table.",
            show(t)
        ),
        PrincipleSpec::Ke { k, e } => {
            format!("every {word} has at least {k} different numbers of `{about}`, which span at least {}.", show(e))
        }
        PrincipleSpec::AlphaK { alpha, k } => format!(
            "every {word} has at least {k} {unit}, and no value of `{about}` has more than {} of them.",
            show(alpha)
        ),
        PrincipleSpec::DistinctLAlpha { l, alpha }
        | PrincipleSpec::EntropyLAlpha { l, alpha }
        | PrincipleSpec::RecursiveLAlpha { l, alpha, .. } => format!(
            "every {word} has at least {l} different values of `{about}`, whose weights add up to at least {}, and the \
             categories are as even as the principle says.",
            show(alpha)
        ),
        PrincipleSpec::OfPopulation(spec) => people::meaning(spec, word),
        PrincipleSpec::MInvariance { m } => format!(
            "every {word} shows at least {m} values of `{about}`, all equally often. That people keep theirs from release to \
             release shows only beside the other releases."
        ),
        PrincipleSpec::Beta { beta } => format!(
            "in every {word}, no value of `{about}` is more than {} times more frequent than in the whole table, beyond once.",
            show(beta)
        ),
        #[allow(unreachable_patterns, reason = "principles that exist for tests")]
        _ => "a principle that exists for tests.".to_owned(),
    }
}

/// Why a promise about the population is open where there is no table of it.
const NO_PEOPLE: &str = "It is about the people who could be in the data: only who has a table of them can check it.";

/// One promise, on groups as somebody sees them.
fn one(frame: &Frame<'_>, promise: &Promise, text: &str, sight: Sight<'_>) -> Statement {
    let seen = Seen::new(frame, sight);
    let name = match sight {
        Sight::User(known) => format!("promise/{text}/{}", known.join(",")),
        Sight::Groups | Sight::Bystander => format!("promise/{text}"),
    };
    let unit = match promise.unit() {
        Unit::Persons => "persons",
        // Counterfeits are nobody.
        Unit::Rows if frame.manifest.series.is_some() => "rows that are somebody's",
        Unit::Rows => "rows",
    };
    let mut about = meaning(promise.principle(), seen.word(), unit, promise.about().unwrap_or_default());
    about.push_str(&seen.by());
    let at = promise.about().and_then(|name| frame.manifest.attributes.iter().position(|it| it.name == name));
    let written = match (promise.principle(), at) {
        (PrincipleSpec::KAnonymity { k }, _) => sizes(&seen, *k),
        (PrincipleSpec::OfPopulation(spec), _) if frame.has_people => people::of_people(frame, spec),
        (PrincipleSpec::OfPopulation(_), _) => Err(NO_PEOPLE.to_owned()),
        (_, None) => Err("It does not say which attribute it is about.".to_owned()),
        (principle, Some(at)) => {
            let counting = Counting::new(frame, at);
            about.push_str(&counting.words());
            of_values(&seen, &counting, principle)
        }
    };
    let word = if seen.key() == "class" { "class" } else { seen.word() };
    finish(name, about, Some(text.to_owned()), written, &format!(" A row is a {word} that breaks the promise."))
}

/// A statement, or why there is none.
pub(crate) fn finish(
    name: String,
    about: String,
    promise: Option<String>,
    written: Written,
    meaning_of_rows: &str,
) -> Statement {
    match written {
        Ok(Body { ctes, rows, decides }) => Statement {
            name,
            about: format!("{about}{meaning_of_rows}"),
            promise,
            decides,
            sql: Some(format!("{:#}", without_repeated_names(ctes.finish(rows, Vec::new())))),
        },
        Err(why) => Statement { name, about: format!("{about} {why}"), promise, decides: Decides::Nothing, sql: None },
    }
}

/// k: groups of fewer than k rows or persons.
fn sizes(seen: &Seen<'_>, k: u64) -> Written {
    let mut ctes = Ctes::default();
    seen.add_sizes(&mut ctes);
    let rows = Rows::of("sizes").item(seen.key_of("sizes"), seen.key()).item(col("sizes.size"), "size");
    exactly(ctes, rows.filter(Some(col("sizes.size").less(int(k)))))
}

/// k in the buckets of every table: rows that show the same ranges and labels.
fn buckets(frame: &Frame<'_>, promise: &Promise, text: &str) -> Vec<Statement> {
    let PrincipleSpec::KAnonymity { k } = promise.principle() else {
        let why = "Buckets have no sensitive values of their own.".to_owned();
        return vec![finish(format!("promise/{text}"), why.clone(), Some(text.to_owned()), Err(why), "")];
    };
    let seen = Seen::new(frame, Sight::Groups);
    let of_table = |table: &chrysalis_release::TableLayout| {
        let names: Vec<&str> = frame.cells(table, |_| true).collect();
        let mut ctes = Ctes::default();
        let named = |rows: Rows, cte: &str| {
            (0..)
                .zip(&names)
                .fold(rows, |rows, (at, _): (usize, _)| rows.item(col(&format!("{cte}.c{at}")), &format!("c{at}")))
        };
        let by = |cte: &str| -> Vec<X> { (0..names.len()).map(|at| col(&format!("{cte}.c{at}"))).collect() };
        let cells = (0..).zip(&names).map(|(at, name): (usize, _)| (frame.column("v", name), format!("c{at}")));
        let unit;
        let rows = if frame.manifest.persons.is_some() {
            unit = "persons";
            let id = seen.key();
            let rows =
                frame.rows(&table.name, "v").items(cells).item(frame.column("v", id), id).item(count_rows(), "n");
            let keys: Vec<X> =
                names.iter().map(|name| frame.column("v", name)).chain([frame.column("v", id)]).collect();
            ctes.add("pieces", rows.group_by(keys));
            seen.add_each(&mut ctes);
            // Persons of a batch have equally many rows each, so a part of its rows are those of a part of its persons.
            let (n, each, persons) = (col("pieces.n"), col("each_person.rows_each"), col("each_person.persons"));
            let some = frame.dialect.integer((n.clone() - n.clone().modulo(each.clone())) / each);
            let some = frame.dialect.least(some, persons.clone());
            let persons = case(n.eq(col("each_person.n_rows")), persons, some);
            let rows = Rows::of("pieces").join("each_person", seen.key_of("pieces").eq(seen.key_of("each_person")));
            ctes.add("buckets", named(rows, "pieces").item(sum(persons), "size").group_by(by("pieces")));
            named(Rows::of("buckets"), "buckets")
        } else {
            unit = "rows";
            let keys: Vec<X> = names.iter().map(|name| frame.column("v", name)).collect();
            ctes.add("buckets", frame.rows(&table.name, "v").items(cells).item(count_rows(), "size").group_by(keys));
            named(Rows::of("buckets"), "buckets")
        };
        let size = col("buckets.size");
        let is_there = size.clone().greater(int(0));
        let rows = rows.item(size.clone(), "size").filter(Some(is_there.and(size.less(int(*k)))));
        let about = format!(
            "in `{}`, every bucket (the rows that show the same ranges and labels, here called c0, c1 and so on) has at \
             least {k} {unit}.",
            table.name
        );
        let name = format!("promise/{text}/{}", table.name);
        finish(name, about, Some(text.to_owned()), exactly(ctes, rows), " A row is a bucket that breaks the promise.")
    };
    frame.layout.people().map(of_table).collect()
}

/// Promises about values.
fn of_values(seen: &Seen<'_>, counting: &Counting<'_>, principle: &PrincipleSpec) -> Written {
    let persons = seen.frame.manifest.persons;
    let is_shown = persons.is_none_or(|persons| persons.rows_known && seen.frame.is_counted());
    const MASSES: &str = "It counts what each person has, which the tables do not show for every group.";
    match principle {
        PrincipleSpec::KAnonymity { k } => sizes(seen, *k),
        PrincipleSpec::DistinctL { l } => {
            let mut ctes = Ctes::default();
            seen.add_shown(&mut ctes, counting.at);
            counting.add_counted(&mut ctes, seen);
            let (rows, decides) = spread::different(&mut ctes, seen, counting, *l, persons.is_some())?;
            Ok(Body { ctes, rows, decides })
        }
        PrincipleSpec::MInvariance { m } => equally_often(seen, counting, *m),
        PrincipleSpec::FrequencyL { l } => share(seen, counting, (*l).recip_parts(), None, false),
        PrincipleSpec::OthersL { l } => share(seen, counting, (*l).recip_parts(), None, true),
        PrincipleSpec::AlphaK { alpha, k } => share(seen, counting, parts_of(alpha), Some(*k), false),
        PrincipleSpec::Ke { k, e } => spread::spread(seen, counting, *k, e, persons.is_some()),
        PrincipleSpec::Beta { .. } if !is_shown => Err(MASSES.to_owned()),
        PrincipleSpec::Beta { beta } => gain(seen, counting, beta),
        _ if persons.is_some() => Err(MASSES.to_owned()),
        PrincipleSpec::EntropyL { l } => readings::entropy(seen, counting, l),
        PrincipleSpec::RecursiveCl { c, l } => readings::recursive(seen, counting, c, *l),
        PrincipleSpec::TCloseness { t } => distance::closeness(seen, counting, t),
        PrincipleSpec::DistinctLAlpha { l, alpha } => {
            weights::weighted(seen, counting, *l, alpha, weights::Extra::Nothing)
        }
        PrincipleSpec::EntropyLAlpha { l, alpha } => {
            weights::weighted(seen, counting, *l, alpha, weights::Extra::Entropy)
        }
        PrincipleSpec::RecursiveLAlpha { c, l, alpha } => {
            weights::weighted(seen, counting, *l, alpha, weights::Extra::Recursive(*c))
        }
        #[allow(unreachable_patterns, reason = "principles that exist for tests")]
        _ => Err("It exists for tests.".to_owned()),
    }
}

/// m: at least m values are shown, whether somebody has them or not, and none of them more often than another.
fn equally_often(seen: &Seen<'_>, counting: &Counting<'_>, m: u64) -> Written {
    let mut ctes = Ctes::default();
    seen.add_shown(&mut ctes, counting.at);
    let (key, least, most) = (seen.key_of("shown"), call_min(col("shown.n")), call_max(col("shown.n")));
    let rows = Rows::of("shown").item(key.clone(), seen.key()).item(count_rows(), "n_values");
    let rows = rows.item(least.clone(), "least").item(most.clone(), "most").group_by([key]);
    exactly(ctes, rows.having(count_rows().less(int(m)).or(most.differs(least))))
}

/// The numerator and denominator of one over a number.
trait RecipParts {
    fn recip_parts(self) -> (u64, u64);
}

impl RecipParts for Rational {
    fn recip_parts(self) -> (u64, u64) {
        (*self.denom(), *self.numer())
    }
}

fn parts_of(number: &Rational) -> (u64, u64) {
    (*number.numer(), *number.denom())
}

/// The largest share of one value is at most a fraction, of the rows that have a value; and so is the share of those
/// that have none.
fn share(seen: &Seen<'_>, counting: &Counting<'_>, most: (u64, u64), k: Option<u64>, of_others: bool) -> Written {
    let rows = seen.frame.manifest.rows;
    check_products(seen.frame.dialect, &[rows, most.0.max(most.1)])?;
    let mut ctes = Ctes::default();
    seen.add_shown(&mut ctes, counting.at);
    counting.add_counted(&mut ctes, seen);
    let mut looked_for = "counted";
    let mut missing = col("shares.missing");
    if of_others {
        counting.add_flagged(&mut ctes, seen);
        let (key, look, size) = (seen.key_of("flagged"), col("flagged.look"), col("flagged.size"));
        let rows = Rows::of("flagged").item(key.clone(), seen.key()).item(look.clone(), "value");
        let rows = rows.item(sum(col("flagged.n")), "n").item(size.clone(), "size");
        let is_other = col("flagged.is_ordinary").eq(int(0));
        ctes.add("not_ordinary", rows.filter(Some(is_other.clone())).group_by([key, look, size]));
        looked_for = "not_ordinary";
        // Missing values count if they are not ordinary themselves.
        let rows = Rows::of("flagged").item(seen.key_of("flagged"), seen.key());
        let n = crate::frame::sum_if(all(vec![is_other, col("flagged.look").missing()]), col("flagged.n"));
        ctes.add("missing_others", rows.item(n, "n").group_by([seen.key_of("flagged")]));
        missing = col("missing_others.n");
    }
    counting.add_shares(&mut ctes, seen, looked_for);
    let times = |x: X, n: u64| if n == 1 { x } else { x * int(n) };
    let (size, there) = (col("shares.size"), col("shares.size") - col("shares.missing"));
    let is_too_frequent =
        all(vec![there.clone().greater(int(0)), times(col("shares.most"), most.1).greater(times(there, most.0))]);
    let are_missing = times(missing, most.1).greater(times(size, most.0));
    let shown = |rows: Rows| {
        let rows = rows.item(seen.key_of("shares"), seen.key()).item(col("shares.most"), "most_frequent");
        rows.item(col("shares.missing"), "missing").item(col("shares.size"), "size")
    };
    let mut rows = Rows::of("shares");
    if of_others {
        rows = rows.left_join("missing_others", seen.key_of("shares").eq(seen.key_of("missing_others")));
    }
    let broken = shown(rows).filter(Some(is_too_frequent.or(are_missing)));
    let rows = match k {
        None => broken,
        Some(k) => {
            seen.add_sizes(&mut ctes);
            ctes.add("too_frequent", broken);
            let small = Rows::of("sizes").item(seen.key_of("sizes"), seen.key()).item(int(0), "most_frequent");
            let small = small.item(int(0), "missing").item(col("sizes.size"), "size");
            ctes.add("too_small", small.filter(Some(col("sizes.size").less(int(k)))));
            union(&mut ctes, &["too_frequent", "too_small"], &[seen.key(), "most_frequent", "missing", "size"])
        }
    };
    let decides = if counting.is_rough() { Decides::ErrsTowardsComplaint } else { Decides::Exactly };
    Ok(Body { ctes, rows, decides })
}

/// Everything of several CTEs.
pub(crate) fn union(ctes: &mut Ctes, parts: &[&str], names: &[&str]) -> Rows {
    ctes.add_union("broken", parts.iter().map(|part| crate::frame::columns_of(part, names)).collect());
    crate::frame::columns_of("broken", names)
}

/// β: no value is more than 1 + β times as frequent in a group as in the whole table.
fn gain(seen: &Seen<'_>, counting: &Counting<'_>, beta: &Rational) -> Written {
    let frame = seen.frame;
    let persons = frame.manifest.persons;
    let total = persons.map_or(frame.manifest.rows, |persons| persons.count);
    let wide = products(frame.dialect, &[total, total, (*beta.numer()).max(*beta.denom())])?;
    let mut ctes = Ctes::default();
    seen.add_shown(&mut ctes, counting.at);
    let in_all = sum(col("shown.n")).over(&[col("shown.value")], []);
    let rows = Rows::of("shown").item(seen.key_of("shown"), seen.key()).item(col("shown.value"), "value");
    let rows = rows.item(wide(col("shown.n")), "n").item(wide(col("shown.size")), "size").item(wide(in_all), "in_all");
    let rows = match persons {
        None => rows.item(wide(sum(col("shown.n")).over(&[], [])), "total"),
        Some(_) => {
            ctes.add("all_persons", Rows::of("persons_of").item(sum(col("persons_of.persons")), "total"));
            rows.cross("all_persons", "all_persons").item(wide(col("all_persons.total")), "total")
        }
    };
    ctes.add("compared", rows);
    let (numerator, denominator) = parts(beta);
    let (n, size, in_all, total) =
        (col("compared.n"), col("compared.size"), col("compared.in_all"), col("compared.total"));
    let here = n.clone() * total;
    let expected = in_all.clone() * size.clone();
    let is_more = ((here - expected.clone()) * denominator).greater(expected * numerator);
    let rows = Rows::of("compared").item(seen.key_of("compared"), seen.key()).item(n, "n").item(size, "size");
    exactly(ctes, rows.item(in_all, "in_all").item(col("compared.total"), "total").filter(Some(is_more)))
}

/// How to write numbers whose product may be large; an error where the database has no such numbers.
pub(crate) fn products(dialect: Dialect, factors: &[u64]) -> Result<impl Fn(X) -> X + use<>, String> {
    let product = factors.iter().try_fold(1_i128, |product, &factor| product.checked_mul(i128::from(factor)));
    let is_small = product.is_some_and(|product| product < i128::from(i64::MAX) / 4);
    let fits = product.is_some_and(|product| product < 10_i128.pow(37));
    match is_small || fits && dialect != Dialect::Sqlite {
        true => Ok(move |x: X| if is_small { x } else { dialect.wide(x) }),
        false => Err("Its numbers are too large for the whole numbers of this database.".to_owned()),
    }
}

/// The same where the databases with types widen sums by themselves.
fn check_products(dialect: Dialect, factors: &[u64]) -> Result<(), String> {
    let product = factors.iter().try_fold(1_i128, |product, &factor| product.checked_mul(i128::from(factor)));
    match product.is_some_and(|product| product < i128::from(i64::MAX) / 4) {
        true => Ok(()),
        false => Err(format!("Its numbers are too large for the whole numbers of {dialect}.")),
    }
}

/// The largest of some counts, for messages of groups.
pub(crate) fn largest_size(cte: &str) -> X {
    call_max(col(&format!("{cte}.size")))
}

/// The natural logarithm of a count.
pub(crate) fn log(dialect: Dialect, x: X) -> X {
    call("LN", vec![dialect.double(x)])
}
