//! Rows whose sensitive value follows from their group: it leaves one value, or values that count as one, and that value
//! is not ordinary.

use chrysalis_dialect::expr::{all, any, call, col, count_rows, int, sum};
use chrysalis_dialect::select::{Ctes, Rows};
use chrysalis_release::{Accepted, RoleName, Values};

use crate::counting::Counting;
use crate::frame::{Frame, call_max, call_min, flag, n_different, undecided};
use crate::promise::{Body, Written, finish};
use crate::seen::{Seen, Sight};
use crate::{Decides, Statement};

pub(crate) fn statements(frame: &Frame<'_>) -> Vec<Statement> {
    if frame.id().is_none() {
        return frame
            .with_role(RoleName::Sensitive)
            .next()
            .map(|_| undecided("disclosure", "a form without groups does not show what it discloses."))
            .into_iter()
            .collect();
    }
    if frame.manifest.version < 2 {
        let why = "version 1 did not ask the owner to accept disclosed rows, so none can be held against it.";
        return frame.with_role(RoleName::Sensitive).next().map(|_| undecided("disclosure", why)).into_iter().collect();
    }
    let shape = &frame.layout.shape;
    let mut sights: Vec<(String, Sight<'_>)> = match shape.has_users {
        true => frame.manifest.quasi_identifiers.iter().map(|it| (it.join(","), Sight::User(it))).collect(),
        false => vec![(String::new(), Sight::Groups)],
    };
    // Where rows show their own sensitive value, columns that are kept as they are stand beside it.
    let is_beside = shape.detail.is_labelled() && shape.values == Values::Beside;
    if is_beside && !frame.has_several() && frame.with_role(RoleName::Other).next().is_some() {
        sights.push(("bystander".to_owned(), Sight::Bystander));
    }
    let is_accepted = frame.manifest.accepted.contains(&Accepted::Disclosure);
    if is_accepted {
        return frame.with_role(RoleName::Sensitive).next().map(|at| idle(frame, at, &sights)).into_iter().collect();
    }
    let mut statements = Vec::new();
    for at in frame.with_role(RoleName::Sensitive) {
        let counting = Counting::new(frame, at);
        for (who, sight) in &sights {
            let seen = Seen::new(frame, *sight);
            let name = frame.named("disclosure", &counting.attribute.name);
            let name = if who.is_empty() { name } else { format!("{name}/{who}") };
            let about = format!(
                "no {} leaves a single value of `{}` that is not ordinary{}.{}{}",
                seen.word(),
                counting.attribute.name,
                ordinary_words(&counting),
                seen.by(),
                counting.words()
            );
            let written = disclosed(&seen, &counting);
            statements.push(finish(name, about, None, written, &format!(" A row is a {} that does.", seen.word())));
        }
    }
    statements
}

fn ordinary_words(counting: &Counting<'_>) -> &'static str {
    match counting.attribute.ordinary {
        Some(_) => " by the owner's list",
        None => " (at least half of all rows have an ordinary one)",
    }
}

/// Disclosure that was accepted must be there.
fn idle(frame: &Frame<'_>, at: usize, sights: &[(String, Sight<'_>)]) -> Statement {
    let name = "check/manifest/acceptance";
    let is_hidden = frame.manifest.persons.is_some_and(|persons| persons.count < frame.manifest.rows);
    if frame.layout.shape.has_users || is_hidden || frame.has_several() || frame.manifest.persons.is_some() {
        return undecided(
            name,
            "the owner accepted that rows are disclosed; what is disclosed is not held against it.",
        );
    }
    let counting = Counting::new(frame, at);
    let mut ctes = Ctes::default();
    let [(_, sight), rest @ ..] = sights else { return undecided(name, "there are no groups.") };
    if !rest.is_empty() {
        return undecided(
            name,
            "the owner accepted that rows are disclosed, also to those who know columns kept as they are.",
        );
    }
    let written = add_disclosed(&mut ctes, &Seen::new(frame, *sight), &counting).map(|(rows, decides)| {
        ctes.add("disclosed", rows);
        let rows = Rows::of("disclosed").item(count_rows(), "disclosed_groups").having(count_rows().eq(int(0)));
        // In doubt something is disclosed, and nothing is said.
        Body { ctes, rows, decides }
    });
    let about = "the owner accepted that rows are disclosed, so some are.".to_owned();
    finish(name.to_owned(), about, None, written, " A row says that none is.")
}

fn disclosed(seen: &Seen<'_>, counting: &Counting<'_>) -> Written {
    let mut ctes = Ctes::default();
    let (rows, decides) = add_disclosed(&mut ctes, seen, counting)?;
    Ok(Body { ctes, rows, decides })
}

fn add_disclosed(ctes: &mut Ctes, seen: &Seen<'_>, counting: &Counting<'_>) -> Result<(Rows, Decides), String> {
    if seen.frame.manifest.persons.is_some() {
        return Err("It depends on what all persons of a group have, which the tables show in part.".to_owned());
    }
    seen.add_shown(ctes, counting.at);
    counting.add_flagged(ctes, seen);
    let (key, size) = (seen.key_of("flagged"), call_max(col("flagged.size")));
    let is_special = call_min(col("flagged.is_ordinary")).eq(int(0));
    // Disclosed rows are counted alike in all versions of the format, so widths do not depend on the reading.
    if !counting.kind().has_distances() || matches!(counting.width, crate::counting::Width::Any) {
        let is_one = n_different(col("flagged.look")).eq(int(1));
        let rows = Rows::of("flagged").item(key.clone(), seen.key()).item(size, "size").group_by([key]);
        return Ok((rows.having(is_one.and(is_special)), Decides::Exactly));
    }
    counting.add_placed(ctes, seen, "shown");
    let place = seen.frame.place(counting.attribute, col("flagged.value"));
    let rows = Rows::of("flagged").item(key.clone(), seen.key()).item(size, "size").item(count_rows(), "n_values");
    let rows = rows.item(call_max(flag(col("flagged.value").missing())), "is_missing");
    let rows = rows.item(call_min(col("flagged.is_ordinary")), "is_ordinary");
    ctes.add("stretches", rows.item(call_min(place.clone()), "low").item(call_max(place), "high").group_by([key]));
    let of = |name: &str| col(&format!("stretches.{name}"));
    let is_near = all(vec![of("is_missing").eq(int(0)), counting.is_near(of("low"), of("high"))]);
    let is_one = of("n_values").eq(int(1)).or(is_near);
    let names = ["size", "n_values", "is_ordinary", "low", "high"];
    let rows = counting.with_width(Rows::of("stretches")).item(seen.key_of("stretches"), seen.key());
    let rows = names.iter().fold(rows, |rows, name| rows.item(of(name), name)).filter(Some(is_one));
    ctes.add("certain", rows);
    let of = |name: &str| col(&format!("certain.{name}"));
    let key = seen.key_of("certain");
    let decides = if counting.is_rough() { Decides::ErrsTowardsComplaint } else { Decides::Exactly };
    if counting.attribute.ordinary.is_some() {
        let rows = Rows::of("certain").item(key, seen.key()).item(of("size"), "size");
        return Ok((rows.filter(Some(of("is_ordinary").eq(int(0)))), decides));
    }
    // A stretch of numbers that at least half of all rows have is as ordinary as one such value.
    ctes.add("all_rows", Rows::of("everybody").item(sum(col("everybody.n")), "n"));
    let within = col("line.place").at_least(of("low")).and(col("line.place").at_most(of("high")));
    let n_within = call("COALESCE", vec![sum(col("line.n")), int(0)]);
    let rows = Rows::of("certain").left_join("line", within).cross("all_rows", "all_rows");
    let rows = rows.item(key.clone(), seen.key()).item(of("size"), "size");
    let is_special = any(vec![
        all(vec![of("n_values").eq(int(1)), of("is_ordinary").eq(int(0))]),
        all(vec![of("n_values").greater(int(1)), (n_within * int(2)).less(call_max(col("all_rows.n")))]),
    ]);
    let rows = rows.group_by([key, of("size"), of("n_values"), of("is_ordinary")]).having(is_special);
    Ok((rows, decides))
}
