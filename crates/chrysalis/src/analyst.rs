use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chrysalis_query::statement::Statement;
use chrysalis_query::{EstimateMode, Inquiry, OpenRelease, QueryError, Tables, Versioned};
use chrysalis_release::{Manifest, Release};
use chrysalis_sql::rewrite::{looked_at_by, rewrite_inquiry};
use chrysalis_sql::{Dialect, parse};
use chrysalis_store::{read_columns_within, read_manifest_within};
use chrysalis_table::{Memory, Progress, Stopped, Unwatched, Watch, no_progress};
use rayon::prelude::*;

use crate::Error;
use crate::chain::{Link, chain};
use crate::report::AnswerReport;

/// Answers questions in SQL from a release, with estimates and with bounds that are certain to hold.
#[derive(Debug)]
pub struct Analyst {
    open: OpenRelease,
    release: Release,
    estimates: EstimateMode,
    tables: Tables,
}

impl Analyst {
    /// Opens a release for any number of questions.
    pub fn open(release: Release) -> Result<Self, Error> {
        let (tables, estimates) = (Tables::default(), EstimateMode::default());
        Ok(Analyst { open: OpenRelease::new(&release)?, release, tables, estimates })
    }

    /// How estimates are to be made; learned ones unless said otherwise.
    #[must_use]
    pub fn estimates(mut self, estimates: EstimateMode) -> Self {
        self.estimates = estimates;
        self
    }

    /// The same with public tables that questions may join.
    pub fn with_tables(self, tables: Tables) -> Self {
        Analyst { tables, ..self }
    }

    /// The release.
    pub fn release(&self) -> &Release {
        &self.release
    }

    /// Answers one question.
    pub fn ask(&self, text: &str) -> Result<AnswerReport, Error> {
        self.answer(&parse::statement(text)?, &self.tables, self.estimates, &no_progress)
    }

    /// Answers one question that joins these public tables, with estimates of this kind.
    pub fn ask_with(&self, text: &str, tables: &Tables, estimates: EstimateMode) -> Result<AnswerReport, Error> {
        self.ask_watched(text, tables, estimates, &Unwatched)
    }

    /// The same, with somebody who may stop it.
    pub fn ask_watched(
        &self,
        text: &str,
        tables: &Tables,
        estimates: EstimateMode,
        watch: &dyn Watch,
    ) -> Result<AnswerReport, Error> {
        Stopped::catch(|| self.answer(&joining(text, tables)?, tables, estimates, &|_| watch.pause()))?
    }

    fn answer(
        &self,
        question: &Statement,
        tables: &Tables,
        estimates: EstimateMode,
        progress: Progress<'_>,
    ) -> Result<AnswerReport, Error> {
        let manifests = [self.open.manifest()];
        let asked = Versioned::new(question, &manifests, tables)?;
        let reply = asked.answer(|_| Some(&self.open), estimates, progress)?;
        Ok(AnswerReport::of_versions(reply, &asked, &manifests, estimates))
    }

    /// The same question as one statement for a database that holds the release's tables. It computes the even
    /// estimates.
    pub fn rewrite(&self, text: &str, dialect: Dialect) -> Result<String, Error> {
        self.rewritten(&parse::statement(text)?, &self.tables, dialect)
    }

    /// The same for a question that joins these public tables.
    pub fn rewrite_with(&self, text: &str, tables: &Tables, dialect: Dialect) -> Result<String, Error> {
        self.rewritten(&joining(text, tables)?, tables, dialect)
    }

    fn rewritten(&self, question: &Statement, tables: &Tables, dialect: Dialect) -> Result<String, Error> {
        let asked = Versioned::new(question, &[self.open.manifest()], tables)?;
        Ok(rewrite_inquiry(of_one_release(&asked)?, &self.release, dialect)?)
    }
}

/// A question that uses all these tables.
fn joining(text: &str, tables: &Tables) -> Result<Statement, Error> {
    let question = parse::statement(text)?;
    check_used(std::slice::from_ref(&question), tables)?;
    Ok(question)
}

/// Refuses a public table that no question uses: probably a slip.
fn check_used(questions: &[Statement], tables: &Tables) -> Result<(), Error> {
    let is_used = |name: &&str| questions.iter().any(|question| question.uses(name));
    match tables.names().find(|name| !is_used(name)) {
        None => Ok(()),
        Some(name) => {
            let message = format!("no question uses the public table `{name}`");
            let hint = format!(
                "write JOIN {name} ON column = {name}.column, or column IN (SELECT … FROM {name}); or leave it out"
            );
            Err(Error::request(message, hint))
        }
    }
}

/// Gives the release of a folder, if somebody keeps it open.
pub type Keeper<'a> = &'a dyn Fn(&Path) -> Option<Result<Arc<Analyst>, Error>>;

/// Questions as an analyst wrote them: a single one, or a file of them separated by `;`.
#[derive(Clone, Debug)]
pub struct Questions {
    questions: Vec<Statement>,
    /// Public tables that they may join.
    tables: Tables,
    /// Whether they come from a file, so that messages give their numbers.
    is_file: bool,
    estimates: EstimateMode,
}

impl Questions {
    /// Exactly one question.
    pub fn one(text: &str) -> Result<Self, Error> {
        let questions = vec![parse::statement(text)?];
        let (tables, estimates) = (Tables::default(), EstimateMode::default());
        Ok(Questions { questions, tables, is_file: false, estimates })
    }

    /// The questions of a file that messages call `name`.
    pub fn of_file(text: &str, name: &str) -> Result<Self, Error> {
        let questions = parse::statements(text)?;
        if questions.is_empty() {
            let hint = "write questions such as SELECT COUNT(*) FROM microdata, with ; between them";
            return Err(Error::request(format!("{name} has no question"), hint));
        }
        Ok(Questions { questions, tables: Tables::default(), is_file: true, estimates: EstimateMode::default() })
    }

    /// How estimates are to be made; learned ones unless said otherwise.
    #[must_use]
    pub fn estimates(mut self, estimates: EstimateMode) -> Self {
        self.estimates = estimates;
        self
    }

    /// Adds a public table, from the text of a CSV file with a header.
    pub fn with_table(mut self, name: &str, text: &str) -> Result<Self, Error> {
        let (header, rows) = crate::public_table::read(name, text)?;
        self.tables.add(name, header, rows)?;
        Ok(self)
    }

    /// The same with public tables that are read already.
    #[must_use]
    pub fn joining(self, tables: Tables) -> Self {
        Questions { tables, ..self }
    }

    /// Asks the release in a folder all of them, in parallel. Only the columns that some question needs are read, and
    /// errors in questions are reported before any table is read.
    ///
    /// A release that declares more than fits into `memory` is refused.
    pub fn ask(&self, folder: &Path, memory: Memory) -> Result<Vec<AnswerReport>, Error> {
        self.ask_series(&[folder.to_owned()], memory)
    }

    /// The same for several releases of one series: questions are about the latest one, unless they say `VERSION AS OF`.
    ///
    /// # Errors
    /// Where the releases are not those of one series, none missing in between.
    pub fn ask_series(&self, folders: &[PathBuf], memory: Memory) -> Result<Vec<AnswerReport>, Error> {
        self.ask_held(folders, memory, &|_| None, &Unwatched)
    }

    /// The same, with releases that the caller keeps open for more questions: `held` gives the one of a folder. Others are
    /// read as far as the questions need them, and not kept.
    ///
    /// # Errors
    /// Where the releases are not those of one series, none missing in between.
    pub fn ask_held(
        &self,
        folders: &[PathBuf],
        memory: Memory,
        held: Keeper<'_>,
        watch: &dyn Watch,
    ) -> Result<Vec<AnswerReport>, Error> {
        let links = chain(folders, memory)?;
        let manifests: Vec<&Manifest> = links.iter().map(|link| &link.manifest).collect();
        let asked = self.bound(&manifests)?;
        let mut wanted: Vec<BTreeMap<String, BTreeSet<String>>> = vec![BTreeMap::new(); links.len()];
        for question in asked.iter().flat_map(|asked| &asked.questions) {
            for needed in question.inquiry.columns() {
                wanted[question.release].entry(needed.table).or_default().extend(needed.columns);
            }
        }
        let open = |(link, wanted): (&Link, BTreeMap<String, BTreeSet<String>>)| {
            if wanted.is_empty() {
                return Ok(None);
            }
            watch.pause();
            if let Some(held) = held(&link.folder) {
                let held = held?;
                // The folder may hold another release by now.
                let is_same = |a: &Manifest, b: &Manifest| {
                    (&a.series, a.rows, a.groups, &a.attributes) == (&b.series, b.rows, b.groups, &b.attributes)
                };
                if is_same(held.open.manifest(), &link.manifest) {
                    return Ok(Some(Opened::Held(held)));
                }
            }
            let release = read_columns_within(&link.folder, link.manifest.clone(), &listed(wanted), memory)?;
            Ok::<_, Error>(Some(Opened::Read(Box::new(OpenRelease::new(&release)?))))
        };
        let open = || links.iter().zip(wanted).map(open).collect::<Result<Vec<Option<Opened>>, _>>();
        let open = Stopped::catch(open)??;
        let of = |release: usize| open[release].as_ref().map(Opened::release);
        let progress = |_| watch.pause();
        let answer = |asked: &Versioned| asked.answer(of, self.estimates, &progress);
        let answers = Stopped::catch(|| asked.par_iter().map(answer).collect::<Vec<_>>())?;
        let report = |(at, (asked, answer)): (usize, (&Versioned, Result<_, QueryError>))| {
            let answer = answer.map_err(|error| self.located(error, at))?;
            Ok(AnswerReport::of_versions(answer, asked, &manifests, self.estimates))
        };
        asked.iter().zip(answers).enumerate().map(report).collect()
    }

    /// All of them as statements for a database that holds the release's tables. Large releases are refused as in
    /// [`Questions::ask`].
    pub fn rewrite(&self, folder: &Path, dialect: Dialect, memory: Memory) -> Result<Vec<String>, Error> {
        let manifest = read_manifest_within(folder, memory)?;
        let asked = self.bound(&[&manifest])?;
        let plan = |(at, asked)| of_one_release(asked).map_err(|error| self.located(error, at));
        let plans: Vec<&Inquiry> = asked.iter().enumerate().map(plan).collect::<Result<_, _>>()?;
        let mut wanted: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (table, columns) in plans.iter().flat_map(|plan| looked_at_by(plan)) {
            wanted.entry(table).or_default().extend(columns);
        }
        let release = read_columns_within(folder, manifest, &listed(wanted), memory)?;
        let statement = |(at, plan)| rewrite_inquiry(plan, &release, dialect).map_err(|error| self.located(error, at));
        plans.into_iter().enumerate().map(statement).collect()
    }

    fn bound(&self, manifests: &[&Manifest]) -> Result<Vec<Versioned>, Error> {
        check_used(&self.questions, &self.tables)?;
        let bind =
            |(at, question)| Versioned::new(question, manifests, &self.tables).map_err(|error| self.located(error, at));
        self.questions.iter().enumerate().map(bind).collect()
    }

    /// Adds the number of the question to an error, if the questions come from a file.
    fn located(&self, error: QueryError, at: usize) -> Error {
        let error = Error::from(error);
        if self.is_file { error.about(&format!("question {}", at + 1)) } else { error }
    }
}

/// A release that a question is about.
enum Opened {
    /// The caller keeps it open.
    Held(Arc<Analyst>),
    /// Read for this question alone.
    Read(Box<OpenRelease>),
}

impl Opened {
    fn release(&self) -> &OpenRelease {
        match self {
            Opened::Held(analyst) => &analyst.open,
            Opened::Read(release) => release,
        }
    }
}

/// What a statement asks of the only release that a database holds.
fn of_one_release(asked: &Versioned) -> Result<&Inquiry, QueryError> {
    let only = asked.single().map(|question| &question.inquiry);
    only.ok_or_else(|| {
        let problem = "a SELECT of answers is not rewritten as SQL: a statement asks the tables of one release once";
        QueryError::question(None, problem, "rewrite the questions in parentheses one by one")
    })
}

fn listed(wanted: BTreeMap<String, BTreeSet<String>>) -> Vec<(String, Vec<String>)> {
    wanted.into_iter().map(|(table, columns)| (table, columns.into_iter().collect())).collect()
}
