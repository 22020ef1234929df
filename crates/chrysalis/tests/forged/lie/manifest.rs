//! A manifest that says something false about the tables.

use chrysalis::table::Kind;
use rand::RngExt;
use rand::rngs::ChaCha20Rng;
use rand::seq::{IndexedRandom, SliceRandom};
use serde_json::{Value as Json, json};

use super::{Finish, Lie, alone, held};
use crate::people::pick;
use crate::release::{After, Fake, json_of};

pub(super) const LIES: &[Lie] = &[
    alone("number of rows", rows),
    alone("number of groups", groups),
    alone("suppressed rows claimed", suppressed),
    alone("domain: counts exchanged", counts_exchanged),
    alone("domain: ends", ends),
    alone("domain: a value that nobody has", extra_value),
    alone("domain: a value left out", value_left_out),
    alone("domain: missing claimed", missing_claimed),
    alone("domain: another order", order),
    alone("published otherwise", published),
    alone("role changed", role),
    alone("kind changed", kind),
    alone("kind of a column changed", kind_of_column),
    alone("taxonomy: a leaf left out", leaf_left_out),
    alone("taxonomy: a leaf that nobody has", leaf_added),
    alone("categories: a value left out", category_left_out),
    alone("weights: one too many", weight_added),
    alone("quasi-identifier dropped", user_dropped),
    alone("quasi-identifier added", user_added),
    alone("table that the form does not have", extra_table),
    alone("table left out", table_left_out),
    alone("partitioner that nobody knows", partitioner),
    alone("method changed", method),
    alone("feature without its field", feature),
    alone("ordinary: a value that nobody has", ordinary_unknown),
    alone("promise in another spelling", spelling),
    held("attribute under another name", renamed),
];

/// The tables have a different number of rows.
fn rows(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    let n = fake.json["rows"].as_u64()?;
    fake.json["rows"] = json!([n - 1, n + 1, 2 * n].choose(rng)?);
    Some(Finish::AsItIs)
}

/// The tables have a different number of group ids, or none at all.
fn groups(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    let n = fake.json["groups"].as_u64()?;
    fake.json["groups"] = json!(if rng.random_range(0..2) == 0 { n + 1 } else { n.checked_sub(1)? });
    Some(Finish::AsItIs)
}

/// No group shows the full domain in every column, so nothing was suppressed.
fn suppressed(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    fake.json["suppressed"] = json!(rng.random_range(1..10));
    (fake.json["groups"] != 1).then_some(Finish::AsItIs)
}

/// In the tables, these values have other counts.
fn counts_exchanged(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    let name = fake.sensitive();
    let counts = fake.attribute_mut(&name)["domain"]["counts"].as_array_mut()?;
    let (one, other) = (pick(rng, counts.len())?, pick(rng, counts.len())?);
    (counts[one] != counts[other]).then_some(())?;
    counts.swap(one, other);
    Some(Finish::AsItIs)
}

/// An attribute whose domain has this field.
fn any_with<'a>(fake: &'a mut Fake<'_>, field: &str, rng: &mut ChaCha20Rng) -> Option<&'a mut Json> {
    let attributes = fake.json["attributes"].as_array_mut()?;
    let mut fit: Vec<&mut Json> = attributes.iter_mut().filter(|it| it["domain"].get(field).is_some()).collect();
    let at = pick(rng, fit.len())?;
    Some(fit.swap_remove(at))
}

/// No row shows such a small or such a large value.
fn ends(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    let (field, by) = if rng.random_range(0..2) == 0 { ("min", -1) } else { ("max", 1) };
    let attribute = any_with(fake, field, rng)?;
    let kind: Kind = attribute["kind"].as_str()?.parse().ok()?;
    let end = &mut attribute["domain"][field];
    *end = match kind {
        Kind::Integer => json!(end.as_i64()? + by),
        Kind::Real => json!(end.as_f64()? + by as f64),
        _ if by < 0 => json!("1902-03-04"),
        _ => json!("2002-03-04"),
    };
    Some(Finish::AsItIs)
}

/// No row shows the value and no label stands for it, so it can carry a message. Its count, if any, is zero.
fn extra_value(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    let attribute = any_with(fake, "values", rng)?;
    let kind: Kind = attribute["kind"].as_str()?.parse().ok()?;
    (!kind.has_distances()).then_some(())?;
    attribute.get("taxonomy").is_none().then_some(())?;
    attribute.get("categories").is_none().then_some(())?;
    let domain = attribute["domain"].as_object_mut()?;
    // It sorts after all others.
    domain["values"].as_array_mut()?.push(json!("zz Bob has HIV"));
    if let Some(counts) = domain.get_mut("counts") {
        counts.as_array_mut()?.push(json!(0));
    }
    Some(Finish::AsItIs)
}

/// Some row shows the value that is left out.
fn value_left_out(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    let domain = any_with(fake, "values", rng)?["domain"].as_object_mut()?;
    let at = pick(rng, domain["values"].as_array()?.len())?;
    domain["values"].as_array_mut()?.remove(at);
    if let Some(counts) = domain.get_mut("counts") {
        counts.as_array_mut()?.remove(at);
    }
    Some(Finish::AsItIs)
}

/// No row lacks a value, and no range or label includes the missing value.
fn missing_claimed(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    let attributes = fake.json["attributes"].as_array_mut()?;
    let at = pick(rng, attributes.len())?;
    let domain = attributes[at]["domain"].as_object_mut()?;
    domain.get("missing").is_none().then_some(())?;
    domain.insert("missing".into(), json!(true));
    if let Some(values) = domain.get_mut("values") {
        values.as_array_mut()?.insert(0, Json::Null);
    }
    if let Some(counts) = domain.get_mut("counts") {
        counts.as_array_mut()?.insert(0, json!(0));
    }
    Some(Finish::AsItIs)
}

/// Domains are sorted; any other order can carry a message.
fn order(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    let attribute = any_with(fake, "values", rng)?;
    (attribute["kind"] != "ordinal").then_some(())?;
    let domain = attribute["domain"].as_object_mut()?;
    let mut places: Vec<usize> = (0..domain["values"].as_array()?.len()).collect();
    places.shuffle(rng);
    (!places.is_sorted()).then_some(())?;
    for field in ["values", "counts"] {
        if let Some(list) = domain.get_mut(field) {
            let list = list.as_array_mut()?;
            *list = places.iter().map(|&at| list[at].clone()).collect();
        }
    }
    Some(Finish::AsItIs)
}

/// The form determines how its columns are shown.
fn published(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    let attributes = fake.json["attributes"].as_array_mut()?;
    let at = pick(rng, attributes.len())?;
    let others = ["exact", "permuted", "generalized"].map(|it| json!(it));
    let others: Vec<&Json> = others.iter().filter(|it| **it != attributes[at]["published"]).collect();
    attributes[at]["published"] = (*others.choose(rng)?).clone();
    Some(Finish::AsItIs)
}

/// The tables show the column as its old role requires, and the quasi-identifiers still name it, or still do not.
fn role(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    let attributes = fake.json["attributes"].as_array_mut()?;
    let at = pick(rng, attributes.len())?;
    let others: &[&str] = match attributes[at]["role"].as_str()? {
        "quasi" => &["sensitive", "other", "identifier"],
        "sensitive" => &["quasi", "identifier"],
        _ => &["sensitive", "quasi", "identifier"],
    };
    attributes[at]["role"] = json!(others.choose(rng)?);
    Some(Finish::AsItIs)
}

/// Numbers have ends and words have values: the domain and the columns are still those of the old kind.
fn kind(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    let attributes = fake.json["attributes"].as_array_mut()?;
    let at = pick(rng, attributes.len())?;
    let others: &[&str] = match attributes[at]["kind"].as_str()? {
        "integer" | "real" | "date" | "datetime" => &["category", "ordinal"],
        _ => &["integer", "real", "date", "datetime"],
    };
    attributes[at]["kind"] = json!(others.choose(rng)?);
    Some(Finish::AsItIs)
}

/// The attribute behind the column is of another kind.
fn kind_of_column(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    let people = fake.place(fake.form().shape().people);
    let columns = fake.json["tables"][people]["columns"].as_array_mut()?;
    let at = pick(rng, columns.len())?;
    let other = match columns[at]["kind"].as_str()? {
        "integer" => "real",
        "real" | "date" | "datetime" | "ordinal" => "category",
        _ => return None,
    };
    columns[at]["kind"] = json!(other);
    Some(Finish::AsItIs)
}

/// The taxonomy no longer says where one of the values belongs.
fn leaf_left_out(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    let name = fake.sensitive();
    let lines = fake.attribute_mut(&name).get_mut("taxonomy")?.as_array_mut()?;
    let at = pick(rng, lines.len())?;
    lines.remove(at);
    Some(Finish::AsItIs)
}

/// Nobody has the value, so its line can carry a message.
fn leaf_added(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    let name = fake.sensitive();
    let lines = fake.attribute_mut(&name).get_mut("taxonomy")?.as_array_mut()?;
    let mut line = lines.choose(rng)?.clone();
    line[0] = json!("zz Bob has HIV");
    lines.push(line);
    Some(Finish::AsItIs)
}

/// The categories no longer include one of the values.
fn category_left_out(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    let name = fake.sensitive();
    let categories = fake.attribute_mut(&name).get_mut("categories")?.as_array_mut()?;
    let at = pick(rng, categories.len())?;
    let values = categories[at].as_array_mut()?;
    let value = pick(rng, values.len())?;
    values.remove(value);
    Some(Finish::AsItIs)
}

/// There must be one weight per category.
fn weight_added(fake: &mut Fake<'_>, _: &mut ChaCha20Rng) -> Option<Finish> {
    let name = fake.sensitive();
    fake.attribute_mut(&name).get_mut("weights")?.as_array_mut()?.push(json!("1"));
    Some(Finish::AsItIs)
}

/// A quasi column that no attacker is said to know would have another role.
fn user_dropped(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    let sets = fake.json["quasi_identifiers"].as_array_mut()?;
    match sets.len() {
        1 => {
            let names = sets[0].as_array_mut()?;
            let at = pick(rng, names.len())?;
            names.remove(at);
        }
        n => {
            let at = pick(rng, n)?;
            sets.remove(at);
        }
    }
    Some(Finish::AsItIs)
}

/// A user who knows all columns sees classes with fewer rows than are promised to every user, counted by hand.
fn user_added(fake: &mut Fake<'_>, _: &mut ChaCha20Rng) -> Option<Finish> {
    fake.form().shape().has_users.then_some(())?;
    let all = fake.with_role("quasi");
    fake.json["quasi_identifiers"].as_array_mut()?.push(json!(all));
    fake.is_broken().then_some(Finish::AsItIs)
}

/// The form has no such table; its file and hash are correct.
fn extra_table(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    let at = pick(rng, fake.sheets.len())?;
    let name = *["people", "notes", "gx"].choose(rng)?;
    let extension = if fake.honest.format == chrysalis::store::Format::Csv { "csv" } else { "parquet" };
    let file = format!("{name}.{extension}");
    let from = fake.honest.folder.join(fake.json["tables"][at]["parts"][0]["file"].as_str()?);
    fake.after.push(After::Add(file.clone(), std::fs::read(from).ok()?));
    fake.after.push(After::Json(Box::new(move |json| {
        let mut table = json["tables"][at].clone();
        table["name"] = json!(name);
        table["parts"][0]["file"] = json!(file);
        json["tables"].as_array_mut().unwrap().push(table);
    })));
    Some(Finish::AsItIs)
}

/// The form requires a table of that name.
fn table_left_out(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    // A marginal may be left out: that is simply a release with one marginal fewer.
    let needed: Vec<usize> = (0..fake.sheets.len()).filter(|&at| !fake.sheets[at].name.starts_with("gt_")).collect();
    let at = *needed.choose(rng)?;
    let file = fake.json["tables"][at]["parts"][0]["file"].clone();
    fake.after.push(After::Json(Box::new(move |json| {
        json["tables"].as_array_mut().unwrap().retain(|table| table["parts"][0]["file"] != file);
    })));
    Some(Finish::AsItIs)
}

/// No partitioner has such a name, so it can carry a message.
fn partitioner(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    let names = ["bob-has-hiv", "mondrian (by Bob, who has HIV)", "", "MONDRIAN"];
    fake.json["partitioner"] = json!(names.choose(rng)?);
    Some(Finish::AsItIs)
}

/// The tables are those of another form. (What a user sees of a butterfly is a generalization, but not vice versa.)
fn method(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    let names = ["anatomy", "permute", "shuffle", "angel", "rank-swap"];
    let others: Vec<&&str> = names.iter().filter(|name| **name != fake.form().name()).collect();
    fake.json["method"] = json!(others.choose(rng)?);
    Some(Finish::AsItIs)
}

/// A feature is named because a field is used, but the field is not there.
fn feature(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    let features = fake.json["features"].clone();
    let name = json!(["parts", "ordinary", "near", "accepted"].choose(rng)?);
    (!features.as_array()?.contains(&name)).then_some(())?;
    fake.after.push(After::Text(Box::new(move |text| {
        let mut json: Json = serde_json::from_str(text).unwrap();
        json["features"].as_array_mut().unwrap().push(name.clone());
        format!("{}\n", serde_json::to_string_pretty(&json).unwrap())
    })));
    Some(Finish::AsItIs)
}

/// The value declared ordinary does not occur.
fn ordinary_unknown(fake: &mut Fake<'_>, _: &mut ChaCha20Rng) -> Option<Finish> {
    let name = fake.sensitive();
    let kind = fake.kind_of(&name);
    let value = if kind == Kind::Category { "zz Bob has HIV" } else { "3" };
    fake.attribute_mut(&name)["ordinary"] = json!([json_of(kind, value)]);
    fake.json["features"] = json!(["ordinary"]);
    Some(Finish::AsItIs)
}

/// The same number can be written in many ways, so the choice can carry a message.
fn spelling(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    let promises = fake.json["promises"].as_array()?;
    let principle = promises.choose(rng)?["principle"].as_str()?.to_owned();
    let (name, number) = principle.split_once('=')?;
    let other = match rng.random_range(0..2) {
        0 => format!("{name}=0{number}"),
        _ => format!("{name}= {number}"),
    };
    let quoted = format!("\"{principle}\"");
    fake.after.push(After::Text(Box::new(move |text| text.replacen(&quoted, &format!("\"{other}\""), 1))));
    Some(Finish::AsItIs)
}

/// The microdata have no such column.
fn renamed(fake: &mut Fake<'_>, rng: &mut ChaCha20Rng) -> Option<Finish> {
    let names = fake.with_role("quasi");
    let name = names.choose(rng)?.clone();
    let other = format!("{name}2");
    for sheet in &mut fake.sheets {
        for head in &mut sheet.heads {
            let ends = [(name.clone(), other.clone()), (format!("{name}_min"), format!("{other}_min"))];
            let ends = ends.into_iter().chain([(format!("{name}_max"), format!("{other}_max"))]);
            if let Some((_, new)) = ends.into_iter().find(|(old, _)| *old == head.name) {
                head.name = new;
            }
        }
        if Some(sheet.name.as_str()) == fake.honest.form.shape().members {
            sheet.rows.iter_mut().filter(|line| line[0] == name).for_each(|line| line[0] = other.clone());
        }
    }
    fn rename(json: &mut Json, name: &str, other: &str) {
        match json {
            Json::Array(list) => list.iter_mut().for_each(|json| rename(json, name, other)),
            Json::Object(fields) => fields.iter_mut().for_each(|(_, json)| rename(json, name, other)),
            Json::String(text) => {
                for end in ["", "_min", "_max"] {
                    if *text == format!("{name}{end}") {
                        *text = format!("{other}{end}");
                        break;
                    }
                }
            }
            Json::Null | Json::Bool(_) | Json::Number(_) => {}
        }
    }
    rename(&mut fake.json, &name, &other);
    fake.sort();
    Some(Finish::AsItIs)
}
