//! Flags as a draft.

use std::collections::BTreeMap;
use std::path::PathBuf;

use chrysalis::values::names;
use chrysalis::{
    AttributeDraft, CompareDraft, Draft, Error, KindText, Number, QuasiDraft, ReleaseDraft, SensitiveDraft,
    TaxonomyDraft, WeightsDraft, files,
};

use super::{Choices, CompareArgs, MicrodataArgs, PrepareArgs, ProfileArgs, ReadArgs, RiskArgs};
use crate::failure::Failure;

impl ReadArgs {
    /// Whether nothing is said.
    pub(crate) fn is_silent(&self) -> bool {
        let is_read_plainly = self.encoding.is_none() && self.na.is_empty() && self.date_format.is_none();
        self.delimiter.is_none() && is_read_plainly && self.missing.is_none() && self.columns().next().is_none()
    }

    /// The columns of which something is said.
    pub(crate) fn columns(&self) -> impl Iterator<Item = &String> {
        self.kinds.iter().map(|(name, _)| name).chain(self.orders.iter().map(|(name, _)| name))
    }

    /// What is said of a file, and of how to read it: flags win over a spec.
    pub(crate) fn over(&self, file: &str) -> Result<Draft, Failure> {
        Ok(self.draft()?.or(files::draft(file)?))
    }

    fn draft(&self) -> Result<Draft, Failure> {
        let twice = |flag: &str, name: &str| {
            Err(Failure::bad_input(format!("--{flag} is given twice for column `{name}`"), "give it once"))
        };
        let mut attributes: BTreeMap<String, AttributeDraft> = BTreeMap::new();
        for (name, kind) in &self.kinds {
            if attributes.entry(name.clone()).or_default().kind.replace(KindText(*kind)).is_some() {
                return twice("kind", name);
            }
        }
        for (name, order) in &self.orders {
            let said = attributes.entry(name.clone()).or_default();
            if !std::mem::replace(&mut said.order, order.clone()).is_empty() {
                return twice("order", name);
            }
        }
        Ok(Draft {
            delimiter: self.delimiter.clone(),
            encoding: self.encoding.clone(),
            na: (!self.na.is_empty()).then(|| self.na.clone()),
            date_format: self.date_format.clone(),
            missing: self.missing.clone(),
            attributes,
            ..Draft::default()
        })
    }
}

impl PrepareArgs {
    /// Adds what is said of preparation.
    fn say(&self, draft: &mut Draft) {
        for (name, step) in &self.steps {
            draft.attributes.entry(name.clone()).or_default().prepare.push(step.clone());
        }
        draft.person = self.person.clone();
        draft.key = self.key.clone();
    }
}

impl MicrodataArgs {
    /// What is said of how to read the microdata.
    pub(crate) fn draft(&self) -> Draft {
        Draft {
            delimiter: self.delimiter.clone(),
            encoding: self.encoding.clone(),
            na: (!self.na.is_empty()).then(|| self.na.clone()),
            date_format: self.date_format.clone(),
            key: self.key.clone(),
            person: self.person.clone(),
            ..Draft::default()
        }
    }
}

impl ProfileArgs {
    /// All that is said of the table.
    pub(crate) fn draft(&self) -> Result<Draft, Failure> {
        let mut draft = self.read.draft()?;
        self.prepare.say(&mut draft);
        for (name, path) in &self.taxonomies {
            draft.attributes.entry(name.clone()).or_default().taxonomy = Some(TaxonomyDraft::File(path.clone()));
        }
        draft.quasi = (!self.quasi.is_empty()).then(|| QuasiDraft::One(self.quasi.clone()));
        draft.sensitive = SensitiveDraft::of(&self.sensitive);
        let draft = draft.or(files::draft(&self.file)?);
        let sensitive = draft.sensitive_columns();
        if let Some((name, _)) = self.taxonomies.iter().find(|(name, _)| !sensitive.contains(name)) {
            let message = format!("--taxonomy has no effect on column `{name}`, which is not sensitive");
            return Err(Failure::bad_input(message, "leave it out: quasi values are measured as they are"));
        }
        Ok(draft.read_taxonomies_within(self.memory)?)
    }
}

impl RiskArgs {
    /// All that is said of the table. How flags describe the population replaces what a spec says of it.
    pub(crate) fn draft(&self) -> Result<Draft, Failure> {
        let mut draft = self.read.draft()?;
        draft.quasi = (!self.quasi.is_empty()).then(|| QuasiDraft::One(self.quasi.clone()));
        let mut draft = draft.or(files::draft(&self.file)?);
        let is_described = self.population.is_some() || self.population_table.is_some() || self.fraction.is_some();
        if is_described || self.weight.is_some() {
            draft.weight.clone_from(&self.weight);
        }
        Ok(draft)
    }
}

impl Choices {
    /// All that is said of a file: flags win over a spec. `like` is an earlier release whose groups are to be kept.
    pub(crate) fn over(&self, file: &str, like: Option<PathBuf>) -> Result<Draft, Failure> {
        let flags = Draft { like, ..self.draft()? };
        let mut draft = flags.or(files::draft(file)?);
        // Exactly, without rounding it to what people read.
        draft.memory = self.memory.map(|memory| format!("{}kB", memory.bytes().div_ceil(1000))).or(draft.memory);
        let is_file = |said: &AttributeDraft| matches!(said.taxonomy, Some(TaxonomyDraft::File(_)));
        let has_files = draft.attributes.values().any(is_file);
        Ok(draft.read_taxonomies_within(self.memory.filter(|_| has_files))?)
    }

    /// What the flags alone say.
    pub(crate) fn draft(&self) -> Result<Draft, Failure> {
        let mut draft = self.read.draft()?;
        self.prepare.say(&mut draft);
        for (name, path) in &self.taxonomies {
            let said = draft.attributes.entry(name.clone()).or_default();
            once(name, said.taxonomy.replace(TaxonomyDraft::File(path.clone())).is_none())?;
        }
        for (name, intervals) in &self.intervals {
            let said = draft.attributes.entry(name.clone()).or_default();
            once(name, said.intervals.replace(intervals.clone()).is_none())?;
        }
        for name in &self.prefixes {
            draft.attributes.entry(name.clone()).or_default().prefix = true;
        }
        for (name, categories) in &self.categories {
            let said = draft.attributes.entry(name.clone()).or_default();
            if said.categories.replace(categories.clone()).is_some() {
                let message = format!("--categories are given twice for column `{name}`");
                return Err(Failure::bad_input(message, "give the sensitive column its categories, once"));
            }
        }
        for (name, width) in &self.near {
            let said = draft.attributes.entry(name.clone()).or_default();
            if said.near.replace(Number::Text(width.clone())).is_some() {
                return Err(Failure::bad_input(format!("--near is given twice for column `{name}`"), "give it once"));
            }
        }
        for (name, value) in self.ordinary.iter().flatten() {
            let said = draft.attributes.entry(name.clone()).or_default();
            said.ordinary.get_or_insert_default().push(value.clone());
        }
        if self.ordinary.contains(&None) {
            if self.ordinary.len() > 1 {
                let message = "--ordinary none is given beside another --ordinary";
                return Err(Failure::bad_input(message, "say none, or which values are ordinary"));
            }
            draft.ordinary = Some(Vec::new());
        }
        let quasi: Vec<Vec<String>> = self.quasi.iter().map(|text| names(text)).collect();
        draft.quasi = match quasi.as_slice() {
            [] => None,
            [one] => Some(QuasiDraft::One(one.clone())),
            _ => Some(QuasiDraft::Several(quasi)),
        };
        draft.sensitive = SensitiveDraft::of(&self.sensitive);
        draft.other = (!self.other.is_empty()).then(|| self.other.clone());
        draft.weight = self.weight.clone();
        draft.weights = self.weights.clone().map(WeightsDraft::Name);
        draft.rows_known = self.rows_known.then_some(true);
        draft.rows_per_person = self.rows_per_person;
        draft.release = self.release();
        Ok(draft)
    }

    fn release(&self) -> ReleaseDraft {
        let listed = |names: &[String]| (!names.is_empty()).then(|| names.to_vec());
        let number = |text: &Option<String>| text.clone().map(Number::Text);
        ReleaseDraft {
            method: self.method.clone(),
            partitioner: self.partitioner.clone(),
            relaxed: self.relaxed.then_some(true),
            transparent: self.transparent.then_some(true),
            group_column: self.group_column.clone(),
            bucket_columns: listed(&self.bucket_columns),
            marginals: (!self.marginals.is_empty()).then(|| self.marginals.iter().map(|text| names(text)).collect()),
            together: (!self.together.is_empty()).then(|| self.together.iter().map(|text| names(text)).collect()),
            require: listed(&self.require),
            accept: listed(&self.accept),
            collude: self.collude,
            format: None,
            suppress: number(&self.suppress),
            population_table: self.population_table.clone(),
            metric: self.metric.clone(),
            levels: self.levels.clone(),
            time_limit: number(&self.time_limit),
        }
    }
}

fn once(name: &str, is_first: bool) -> Result<(), Failure> {
    if is_first {
        return Ok(());
    }
    let message = format!("column `{name}` has several taxonomies");
    Err(Error::request(message, "choose one of taxonomy, intervals and prefix").into())
}

impl CompareArgs {
    /// All that is said of the table, the releases and the questions.
    pub(crate) fn draft(&self) -> Result<Draft, Failure> {
        let asked = CompareDraft {
            runs: Vec::new(),
            workload: self.workload.clone(),
            queries: self.queries,
            selectivity: self.selectivity,
            dimensions: self.dimensions,
        };
        let flags = Draft { compare: Some(asked), ..self.choices.draft()? };
        Ok(flags.or(files::draft(&self.file)?).read_taxonomies_within(self.choices.memory)?)
    }
}
