//! Publishing: to a folder that the owner typed, or to a file to download.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::Response;
use bytes::Bytes;
use chrysalis::certificate::Certificate;
use chrysalis::report::{AuditOutcome, PublishReport};
use chrysalis::store::write_files;
use chrysalis::{Analyst, Draft, Error, Evidence, Manifest, Published, Recipe, Release, Seed, audit, files};
use chrysalis_lab::certificate;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Accepted, accepted, computed, failed, parsed, started};
use crate::error::Reply;
use crate::jobs::Job;
use crate::place::Place;
use crate::releases::{Folder, Made, RELEASE};
use crate::state::Studio;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Choices {
    draft: Draft,
    /// The folder to write; a file to download if absent.
    #[serde(default)]
    folder: Option<String>,
    /// For experiments.
    #[serde(default)]
    seed: Option<u64>,
    /// The number of the uploaded table of a population.
    #[serde(default)]
    population: Option<u64>,
}

/// The recipe of the choices: a spec that publishes the same table in the same way.
pub(crate) async fn recipe(
    State(studio): State<Arc<Studio>>,
    Path((_, id)): Path<(String, u64)>,
    body: Bytes,
) -> Reply {
    let choices = parsed::<Choices>(&body)?;
    let Accepted { loaded, draft, .. } = accepted(&studio, id, choices.draft, choices.population)?;
    computed(move || {
        loaded.recipe(&draft)?;
        let repeating = Repeating { recipe: "chrysalis.toml".to_owned(), out: RELEASE.to_owned(), seed: choices.seed };
        Ok(json!({"recipe": repeating.recipe_text(&draft)?, "command": repeating.command()}))
    })
    .await
}

/// How a publication is repeated.
struct Repeating {
    recipe: String,
    out: String,
    seed: Option<u64>,
}

impl Repeating {
    fn without_seed(&self) -> String {
        format!("chrysalis publish {} --out {}", quoted(&self.recipe), quoted(&self.out))
    }

    /// The command, for the owner's eyes.
    fn command(&self) -> String {
        let seed = self.seed.map_or_else(String::new, |seed| format!(" --seed {seed}"));
        self.without_seed() + &seed
    }

    /// LEAK: a recipe lies beside the release, and whoever has both and the seed can undo the randomness. So it never has
    /// the seed.
    fn recipe_text(&self, draft: &Draft) -> Result<String, Error> {
        let text = draft.to_toml()?;
        let seed = match self.seed {
            Some(_) => "# The same release again needs its seed as well (--seed), which is not written here.\n",
            None => "",
        };
        let (version, command) = (env!("CARGO_PKG_VERSION"), self.without_seed());
        let head = format!("# Made by the studio of chrysalis {version}. It is the owner's: do not hand it out.\n");
        Ok(format!("{head}# {command}\n{seed}\n{text}"))
    }
}

/// For a shell.
fn quoted(text: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "_-./=+:,@%".contains(letter);
    match !text.is_empty() && text.chars().all(is_plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

/// Publishes: nothing is written before the release is made, and either all of it is written or nothing.
pub(crate) async fn publish(
    State(studio): State<Arc<Studio>>,
    Path((_, id)): Path<(String, u64)>,
    body: Bytes,
) -> Reply {
    let choices = parsed::<Choices>(&body)?;
    let chosen = accepted(&studio, id, choices.draft, choices.population)?;
    let place = choices.folder.map(|typed| Place::of(&typed, &studio.home)).transpose()?;
    let own = Arc::clone(&studio);
    let order = Order { chosen, place, seed: choices.seed };
    started(studio.jobs.start(move |job| published(&own, order, job)))
}

/// What is to be published, and where to.
struct Order {
    chosen: Accepted,
    /// A file to download if absent.
    place: Option<Place>,
    seed: Option<u64>,
}

fn published(studio: &Studio, order: Order, job: &Job) -> Result<Value, Error> {
    let Accepted { loaded, draft, people } = &order.chosen;
    let folder = match &order.place {
        Some(place) => Folder::Named(place.release.clone()),
        None => Folder::Temporary(studio.scratch.folder().map_err(|error| no_room(&error))?),
    };
    let path = folder.path();
    let mut recipe = loaded.recipe(draft)?;
    draft.provide_key(&mut recipe, Some(&path), job)?;
    let table = loaded.columns(recipe.requests(), job)?;
    loaded.provide_people(&mut recipe, draft, people.as_deref(), job)?;
    let Published { mut release, report, .. } = chrysalis::publish(table, &recipe, Seed::from(order.seed), job)?;
    report.notes.iter().for_each(|note| chrysalis::Watch::note(job, note));
    let manifest = files::write(&release, &path, recipe.format(), false, job)?;
    // The release is in its place: what follows says what is in it.
    job.commit();
    // With the hashes of the files.
    release.manifest.clone_from(&manifest);
    let written = Written { release, report, manifest, recipe, folder };
    checked(studio, order, written, job)
        .map_err(|error| error.about(&format!("the release was written to {}, but not checked", path.display())))
}

/// A release that is in its place.
struct Written {
    release: Release,
    report: PublishReport,
    manifest: Manifest,
    recipe: Recipe,
    folder: Folder,
}

/// Audits what was written, and writes what goes beside it.
fn checked(studio: &Studio, order: Order, written: Written, job: &Job) -> Result<Value, Error> {
    let Order { chosen: Accepted { loaded, draft, people }, place, seed } = order;
    let Written { release, report, manifest, recipe, folder } = written;
    let path = folder.path();
    let microdata = loaded.microdata(&manifest, &draft, job)?;
    let population = loaded.people(&manifest, &draft, people.as_deref(), job)?;
    let suited = draft.clone().suited_to(&[&manifest]);
    let with = Evidence {
        microdata: Some(&microdata),
        population: population.as_ref(),
        person: suited.person.as_deref(),
        folder: Some(&path),
        asked: Some(&recipe),
        ..Evidence::default()
    };
    let outcome = audit(&release, with, job)?;
    let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let told = Certificate::of(name.clone(), &release, &outcome, &with)?;
    let page = certificate::page(&told);
    let (by, out) = match &place {
        Some(place) => (place.recipe.display().to_string(), place.release.display().to_string()),
        None => ("chrysalis.toml".to_owned(), RELEASE.to_owned()),
    };
    let repeating = Repeating { recipe: by, out, seed };
    let text = repeating.recipe_text(&draft)?;
    if let Some(place) = &place {
        write_files(&[(&place.certificate, page.as_bytes()), (&place.recipe, text.as_bytes())], false)?;
    }
    let mut said = json!({
        "folder": place.as_ref().map(|place| place.release.display().to_string()),
        "beside": place.as_ref().map(|place| [&place.certificate, &place.recipe].map(|it| it.display().to_string())),
        "report": report,
        "told": told,
        "attacks": attacks(&outcome),
        "recipe": text,
        "command": repeating.command(),
        "about": about(&manifest),
        "table": loaded.name,
        "with_population": population.is_some(),
        "notes": job.notes(),
    });
    let analyst = Analyst::open(release)?;
    let made = Made { name, analyst, loaded, draft, told: said.clone(), certificate: page, recipe: text, folder };
    said["release"] = json!(studio.releases.put(made));
    Ok(said)
}

fn no_room(error: &std::io::Error) -> Error {
    Error::request(format!("there is no room for temporary files: {error}"), "publish to a folder instead")
}

/// What a release says about its columns, for questions.
fn about(manifest: &Manifest) -> Value {
    let columns = manifest.attributes.iter().map(|it| json!({"name": it.name, "role": it.role, "kind": it.kind}));
    json!({"columns": columns.collect::<Vec<_>>(), "rows": manifest.rows, "groups": manifest.groups})
}

/// The groups in which an attack succeeds best, for every attack that has such.
fn attacks(outcome: &AuditOutcome) -> Value {
    let findings = outcome.attacks.findings.iter().filter(|finding| finding.was_run);
    let told = findings.map(|finding| {
        let groups = finding
            .worst_groups
            .iter()
            .map(|group| json!({"group": group.id, "rows": group.rows, "level": group.level_text}));
        json!({
            "attack": finding.attack.replace('_', " "),
            "prevention": finding.prevention,
            "worst_groups": groups.collect::<Vec<_>>(),
        })
    });
    told.collect()
}

/// The release, its certificate or its recipe, to save.
pub(crate) async fn download(
    State(studio): State<Arc<Studio>>,
    Path((_, id, file)): Path<(String, u64, String)>,
) -> Response {
    let made = match studio.releases.get(id) {
        Ok(made) => made,
        Err(error) => return failed(error),
    };
    match file.as_str() {
        "certificate.html" => super::download(&file, "text/html; charset=utf-8", made.certificate.clone().into_bytes()),
        "chrysalis.toml" => super::download(&file, "application/toml", made.recipe.clone().into_bytes()),
        "release.zip" => match tokio::task::spawn_blocking(move || made.archive()).await {
            Ok(Ok(archive)) => super::download(&file, "application/zip", archive),
            Ok(Err(error)) => failed(error),
            Err(_) => failed(Error::internal("the work ended without a result")),
        },
        _ => failed(Error::request("a release has no such file", "")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_can_be_pasted_into_a_shell() {
        let command = |recipe: &str, out: &str, seed| {
            Repeating { recipe: recipe.to_owned(), out: out.to_owned(), seed }.command()
        };
        assert_eq!(command("a.toml", "out", None), "chrysalis publish a.toml --out out");
        assert_eq!(command("a b.toml", "it's", Some(7)), r"chrysalis publish 'a b.toml' --out 'it'\''s' --seed 7");
    }

    #[test]
    fn a_recipe_has_no_seed() {
        let text = |seed| {
            let repeating = Repeating { recipe: "a.toml".to_owned(), out: "out".to_owned(), seed };
            repeating.recipe_text(&Draft::default()).unwrap()
        };
        assert!(text(None).contains("\n# chrysalis publish a.toml --out out\n\n"), "{}", text(None));
        let seeded = text(Some(918_273));
        assert!(!seeded.contains("918273") && seeded.contains("needs its seed"), "{seeded}");
        assert_eq!(seeded, text(Some(5)));
    }
}
