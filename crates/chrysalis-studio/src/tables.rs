//! Tables that were opened, and the choices that a page makes about them.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::SystemTime;

use bytes::Bytes;
use chrysalis::store::Input;
use chrysalis::table::{ColumnRequest, Domain, Role};
use chrysalis::{
    AtDoor, Draft, Error, Fault, Key, Manifest, Recipe, Remedy, Spelling, Table, Watch, commented_spec, files,
};
use rand::rngs::ChaCha20Rng;
use rand::{RngExt, SeedableRng};

use crate::error::OnThePage;
use crate::named::Named;
use crate::place;

/// Rows of a trial: so few that a slider may wait for it.
pub(crate) const SAMPLE: usize = 20_000;

/// Where a table comes from, for columns that must be read again in another way.
pub(crate) enum Origin {
    /// The file that was named at the start; it is read where it is.
    File,
    /// It was uploaded, and is nowhere but in memory.
    Memory(Bytes),
}

/// A second table, of the people who could be in the first.
pub(crate) struct Upload {
    pub(crate) name: String,
    pub(crate) bytes: Bytes,
    /// No other upload has it.
    number: u64,
}

impl Upload {
    pub(crate) fn new(name: String, bytes: Bytes) -> Upload {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Upload { name, bytes, number: NEXT.fetch_add(1, Ordering::Relaxed) }
    }

    /// Read like the table itself.
    pub(crate) fn open(&self, draft: &Draft) -> Result<Input, Error> {
        Draft { input: Some(PathBuf::from(&self.name)), ..draft.clone() }.open_bytes(self.bytes.clone())
    }
}

/// The people of a population that were read for a trial, so that the next trial need not read them again.
struct Crowd {
    of: CrowdKey,
    /// A recipe that has them.
    recipe: Recipe,
}

/// Which people, and how they were read.
#[derive(PartialEq)]
struct CrowdKey {
    source: CrowdSource,
    wanted: Vec<ColumnRequest>,
}

#[derive(PartialEq)]
enum CrowdSource {
    /// The number of an upload.
    Upload(u64),
    /// A file, as long as nobody writes to it.
    File(PathBuf, Option<SystemTime>, u64),
}

/// A table that was read.
pub(crate) struct Loaded {
    /// What it is called.
    pub(crate) name: String,
    origin: Origin,
    /// How to read it, and what a spec that was opened says.
    pub(crate) base: Draft,
    /// The choices to begin with.
    pub(crate) first: Draft,
    /// Why there are none to begin with.
    pub(crate) unclear: Option<Error>,
    pub(crate) header: Vec<String>,
    unreadable: Vec<(String, String)>,
    /// What was noticed when it was read.
    pub(crate) notes: Vec<String>,
    /// All columns, as they are in the file.
    pub(crate) table: Table,
    sample: OnceLock<Table>,
    crowd: Mutex<Option<Crowd>>,
}

impl Loaded {
    /// Opens the file that was named at the start: a table, or a spec that names one.
    pub(crate) fn open_file(file: &str, watch: &dyn Watch) -> Result<Loaded, Error> {
        let mut base = files::draft(file)?.read_taxonomies()?;
        if base.input.as_ref().is_some_and(|input| input.as_os_str() == "-") {
            return Err(Error::request("the studio reads no standard input", "name a file"));
        }
        // A recipe that is downloaded must work from any folder.
        for file in [&mut base.input, &mut base.key, &mut base.release.population_table].into_iter().flatten() {
            *file = std::path::absolute(&*file).unwrap_or_else(|_| file.clone());
        }
        let name = base.input.as_ref().and_then(|input| input.file_name());
        let name = name.map_or_else(|| file.to_owned(), |name| name.to_string_lossy().into_owned());
        Loaded::read(name, Origin::File, base, watch)
    }

    /// A table that was uploaded.
    pub(crate) fn open_bytes(
        name: String,
        bytes: Bytes,
        encoding: Option<String>,
        watch: &dyn Watch,
    ) -> Result<Loaded, Error> {
        let base = Draft { input: Some(PathBuf::from(&name)), encoding, ..Draft::default() };
        Loaded::read(name, Origin::Memory(bytes), base, watch)
    }

    fn read(name: String, origin: Origin, base: Draft, watch: &dyn Watch) -> Result<Loaded, Error> {
        check_handled(&base)?;
        let input = opened(&origin, &base)?;
        let (header, unreadable) = (input.header().to_vec(), input.unreadable());
        base.check_names(&header, base.attributes.keys())?;
        // Columns that are prepared are read as they are first.
        let mut plain = base.clone();
        plain.attributes.retain(|_, said| said.prepare.is_empty());
        let requests = files::requests(&input, &plain, watch)?;
        let table = files::read(input, &requests, "read", watch)?;
        let says_all = base.release.require.is_some();
        let (first, unclear) = match says_all {
            true => (base.clone(), None),
            false => match proposed(&name, &table, &base) {
                Ok(draft) => (draft, None),
                Err(error) if error.fault == Fault::Internal => return Err(error),
                Err(error) => (base.clone(), Some(error)),
            },
        };
        Ok(Loaded {
            name,
            origin,
            base,
            first,
            unclear,
            header,
            unreadable,
            notes: Vec::new(),
            table,
            sample: OnceLock::new(),
            crowd: Mutex::default(),
        })
    }

    /// The choices of a page, for this table. A page names no file to read: taxonomies are lines, and the people of a
    /// population were uploaded. The place of the key is typed by the owner, relative to `home`.
    pub(crate) fn accept(&self, mut draft: Draft, people: Option<&Upload>, home: &Path) -> Result<Draft, Error> {
        let named = Named::by(&draft);
        if named.input.is_some() {
            return Err(Error::request("the page names a file to read", "open it in the studio instead"));
        }
        if !named.taxonomies.is_empty() {
            let remedy = Remedy::from("open a recipe that names it: chrysalis studio chrysalis.toml");
            return Err(Error::request("the page names a file with a taxonomy", remedy));
        }
        check_handled(&draft)?;
        // LEAK: whatever else names a file must not lead to one that the owner did not name.
        if let Some(other) = named.others.first() {
            let message = format!("the page names the file {}, which the studio does not read", other.display());
            return Err(Error::request(message, "compare with the command line: chrysalis compare chrysalis.toml"));
        }
        let key = named.key.map(|typed| place::file(&typed.to_string_lossy(), home)).transpose()?;
        let population = match (named.population, people) {
            (None, None) => None,
            (_, Some(people)) => Some(PathBuf::from(&people.name)),
            (named, None) if named == self.base.release.population_table.as_deref() => named.map(Path::to_owned),
            (Some(_), None) => {
                let message = "the page names a file with the people of a population";
                return Err(Error::request(message, "upload it, or open a recipe that names it"));
            }
        };
        (draft.key, draft.release.population_table) = (key, population);
        if draft.key.is_none() && is_keyed(&draft) {
            let remedy = Remedy::from("name a file for it: it is made if it is not there, and only you can read it");
            return Err(Error::request(
                "pseudonyms and moved dates depend on a key of yours, and none is named",
                remedy,
            ));
        }
        draft.input.clone_from(&self.base.input);
        draft.delimiter.clone_from(&self.base.delimiter);
        draft.encoding.clone_from(&self.base.encoding);
        draft.na.clone_from(&self.base.na);
        draft.date_format.clone_from(&self.base.date_format);
        Ok(draft)
    }

    /// The choices as exactly what will be done.
    pub(crate) fn recipe(&self, draft: &Draft) -> Result<Recipe, Error> {
        Ok(draft.check(&self.header)?.without(&self.unreadable))
    }

    /// The file or the upload, opened again.
    pub(crate) fn input(&self) -> Result<Input, Error> {
        opened(&self.origin, &self.base)
    }

    /// The columns that somebody asks for. Those that are in memory as they are asked for are not read again.
    pub(crate) fn columns(&self, wanted: &[ColumnRequest], watch: &dyn Watch) -> Result<Table, Error> {
        let known = wanted.iter().map(|wanted| self.known(wanted)).collect::<Option<Vec<_>>>();
        match known {
            Some(columns) => Ok(Table::new(columns.into_iter().cloned().collect())),
            None => files::read(self.input()?, wanted, "read", watch),
        }
    }

    fn known(&self, wanted: &ColumnRequest) -> Option<&chrysalis::table::Column> {
        let is_alike = |domain: &Domain| {
            let values = || domain.values().iter().map(ToString::to_string);
            wanted.kind.is_none_or(|kind| kind == domain.kind())
                && (wanted.order.is_empty() || values().eq(wanted.order.iter().cloned()))
        };
        self.table.column(&wanted.name).filter(|column| is_alike(column.domain()))
    }

    /// The same for a release that nobody sees: with everything that it needs, and nothing written.
    pub(crate) fn trial_recipe(
        &self,
        draft: &Draft,
        people: Option<&Upload>,
        watch: &dyn Watch,
    ) -> Result<Recipe, Error> {
        let mut recipe = self.recipe(draft)?;
        draft.provide_trial_key(&mut recipe)?;
        self.provide_people(&mut recipe, draft, people, watch)?;
        Ok(recipe)
    }

    /// Reads the people of the population, if the recipe is about them. Those that were read last are kept: a slider
    /// asks for the same ones again and again.
    pub(crate) fn provide_people(
        &self,
        recipe: &mut Recipe,
        draft: &Draft,
        people: Option<&Upload>,
        watch: &dyn Watch,
    ) -> Result<(), Error> {
        let Some(file) = &draft.release.population_table else { return Ok(()) };
        let source = match people {
            Some(people) => CrowdSource::Upload(people.number),
            None => {
                let found = std::fs::metadata(file).ok();
                let modified = found.as_ref().and_then(|found| found.modified().ok());
                CrowdSource::File(file.clone(), modified, found.map_or(0, |found| found.len()))
            }
        };
        let quasi: Vec<&str> = recipe.with_role(Role::QuasiIdentifier).collect();
        let wanted = recipe.requests().iter().filter(|it| quasi.contains(&it.name.as_str())).cloned().collect();
        let of = CrowdKey { source, wanted };
        if let Some(kept) = self.crowd().as_ref().filter(|kept| kept.of == of)
            && recipe.share_population(&kept.recipe)
        {
            return Ok(());
        }
        let table = self.columns(recipe.requests(), watch)?;
        match people {
            Some(people) => draft.use_population(recipe, people.open(draft)?, &table, watch)?,
            None => draft.provide_population(recipe, &table, watch)?,
        }
        *self.crowd() = Some(Crowd { of, recipe: recipe.clone() });
        Ok(())
    }

    fn crowd(&self) -> std::sync::MutexGuard<'_, Option<Crowd>> {
        self.crowd.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The same people, prepared as a release was.
    pub(crate) fn people(
        &self,
        manifest: &Manifest,
        draft: &Draft,
        people: Option<&Upload>,
        watch: &dyn Watch,
    ) -> Result<Option<Table>, Error> {
        let Some(file) = &draft.release.population_table else { return Ok(None) };
        let found = match people {
            Some(people) => files::read_population_from(people.open(draft)?, draft, manifest, watch)?,
            None => files::read_population(&file.to_string_lossy(), draft, manifest, watch)?,
        };
        Ok(Some(found))
    }

    /// The microdata behind a release of this table.
    pub(crate) fn microdata(&self, manifest: &Manifest, draft: &Draft, watch: &dyn Watch) -> Result<Table, Error> {
        let suited = draft.clone().suited_to(&[manifest]);
        let plan = chrysalis::MicrodataPlan::new(&[manifest], suited.person.as_deref())?;
        let key = if plan.is_keyed() { Key::read(&suited.key_file())? } else { None };
        plan.prepared(self.columns(plan.requests(), watch)?, key.as_ref())
    }

    /// The same columns of some rows: always the same ones, so that prices can be compared.
    pub(crate) fn sampled(&self, wanted: &[ColumnRequest], watch: &dyn Watch) -> Result<Table, Error> {
        if self.table.rows() <= SAMPLE {
            return self.columns(wanted, watch);
        }
        let rows = || drawn(self.table.rows(), SAMPLE);
        let sample = self.sample.get_or_init(|| self.table.gather(&rows()));
        let known: Option<Vec<_>> = wanted.iter().map(|it| self.known(it).and(sample.column(&it.name))).collect();
        match known {
            Some(columns) => Ok(Table::new(columns.into_iter().cloned().collect())),
            None => Ok(self.columns(wanted, watch)?.gather(&rows())),
        }
    }
}

fn opened(origin: &Origin, base: &Draft) -> Result<Input, Error> {
    match origin {
        Origin::File => base.open(),
        Origin::Memory(bytes) => base.open_bytes(bytes.clone()),
    }
}

/// What `init` would write, as a draft.
fn proposed(name: &str, table: &Table, base: &Draft) -> Result<Draft, Error> {
    let door = AtDoor { publish: "", sentence: "", manual: &OnThePage.manual() };
    let text = commented_spec(name, table, base, &door)?;
    let draft: Draft = files::parse_toml(name.as_ref(), &text, "")?;
    Ok(Draft { input: base.input.clone(), ..draft })
}

/// What is left to the command line, in words.
fn check_handled(draft: &Draft) -> Result<(), Error> {
    let message = if draft.series.is_some() || draft.only_new.is_some() || draft.values_change.is_some() {
        "the studio makes no series of releases: every one of them needs the ledger of those before"
    } else if draft.after.as_ref().is_some_and(|after| !after.is_empty()) {
        "the studio does not judge a release beside earlier ones, which this recipe names"
    } else if draft.like.is_some() {
        "the studio does not take its groups from an earlier release, which this recipe names"
    } else if draft.users_know().len() > 1 {
        "the studio has one list of columns that others may know, and this recipe has several"
    } else {
        return Ok(());
    };
    Err(Error::request(message, "publish with the command line: chrysalis publish chrysalis.toml"))
}

/// Whether something is prepared with the owner's key.
fn is_keyed(draft: &Draft) -> bool {
    draft.attributes.values().flat_map(|said| &said.prepare).any(|step| is_keyed_step(step))
}

/// Whether a step of preparing a column takes the owner's key.
pub(crate) fn is_keyed_step(step: &str) -> bool {
    ["pseudonym", "shift"].iter().any(|name| step.trim().starts_with(name))
}

/// Some rows of a table, in ascending order (selection sampling, Knuth 3.4.2 S).
fn drawn(rows: usize, wanted: usize) -> Vec<u32> {
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let mut chosen = Vec::with_capacity(wanted);
    for row in 0..rows {
        if rng.random_range(0..rows - row) < wanted - chosen.len() {
            chosen.push(row as u32);
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_rows_are_drawn_as_asked_for() {
        let rows = drawn(1_000, 100);
        assert_eq!(rows.len(), 100);
        assert!(rows.is_sorted() && rows.windows(2).all(|pair| pair[0] < pair[1]) && rows[99] < 1_000);
        assert_eq!(drawn(1_000, 100), rows);
    }

    /// Counts how often a population is read.
    #[derive(Default)]
    struct Readings(AtomicU64);

    impl Watch for Readings {
        fn phase(&self, name: &'static str, _: Option<u64>, _: chrysalis::Counted) {
            self.0.fetch_add(u64::from(name == "population"), Ordering::Relaxed);
        }

        fn advance(&self, _: u64) {}
    }

    #[test]
    fn a_population_is_read_once_for_all_trials_that_want_the_same_of_it() {
        let csv: String =
            (0..40).map(|n| format!("{},{},{}\n", 20 + n % 4, n % 2, ["flu", "cold", "gout"][n % 3])).collect();
        let bytes = Bytes::from(format!("age,ward,disease\n{csv}"));
        let loaded = Loaded::open_bytes("a.csv".to_owned(), bytes.clone(), None, &chrysalis::Unwatched).unwrap();
        let people = Upload::new("all.csv".to_owned(), bytes.clone());
        let watch = Readings::default();
        let read = |k: u64, kind: &str, people: &Upload| {
            let draft: Draft = serde_json::from_value(serde_json::json!({
                "attributes": {"age": {"role": "quasi", "kind": kind}, "ward": {"role": "quasi"},
                    "disease": {"role": "sensitive"}},
                "release": {"require": [format!("k={k}"), "k-map=2"], "population_table": "all.csv"},
            }))
            .unwrap();
            let draft = loaded.accept(draft, Some(people), Path::new("")).unwrap();
            loaded.trial_recipe(&draft, Some(people), &watch).unwrap();
            watch.0.load(Ordering::Relaxed)
        };
        assert_eq!([read(2, "integer", &people), read(3, "integer", &people), read(4, "integer", &people)], [1, 1, 1]);
        // Other kinds, and another upload of the same name, are read.
        assert_eq!([read(2, "category", &people), read(3, "category", &people)], [2, 2]);
        let other = Upload::new("all.csv".to_owned(), bytes);
        assert_eq!([read(2, "category", &other), read(2, "category", &other)], [3, 3]);
    }
}
