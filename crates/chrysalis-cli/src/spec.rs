//! `chrysalis.toml`: all that the flags can say.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use chrysalis_criteria::Weights;
use chrysalis_publish::TaxonomySource;
use chrysalis_table::{Kind, Role, TaxonomyFile};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::command::compare::CompareSpec;
use crate::failure::Failure;

/// The file as it is written.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Spec {
    pub(crate) input: Option<PathBuf>,
    pub(crate) delimiter: Option<String>,
    pub(crate) missing: Option<String>,
    #[serde(default)]
    pub(crate) quasi_identifiers: Vec<Vec<String>>,
    #[serde(default)]
    pub(crate) attributes: BTreeMap<String, Attribute>,
    #[serde(default)]
    pub(crate) release: ReleaseSpec,
    pub(crate) compare: Option<CompareSpec>,
    /// The folder that paths are relative to.
    #[serde(skip)]
    folder: PathBuf,
}

/// One column.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Attribute {
    pub(crate) role: Option<RoleText>,
    pub(crate) kind: Option<KindText>,
    #[serde(default)]
    pub(crate) order: Vec<String>,
    pub(crate) taxonomy: Option<PathBuf>,
    pub(crate) intervals: Option<Vec<f64>>,
    #[serde(default)]
    pub(crate) prefix: bool,
    pub(crate) categories: Option<Vec<Vec<String>>>,
    pub(crate) weights: Option<WeightsSpec>,
}

/// What to publish.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReleaseSpec {
    pub(crate) method: Option<String>,
    pub(crate) partitioner: Option<String>,
    #[serde(default)]
    pub(crate) relaxed: bool,
    pub(crate) group_column: Option<String>,
    #[serde(default)]
    pub(crate) bucket_columns: Vec<String>,
    #[serde(default)]
    pub(crate) marginals: Vec<Vec<String>>,
    #[serde(default)]
    pub(crate) require: Vec<String>,
    pub(crate) collude: Option<usize>,
    pub(crate) format: Option<String>,
    pub(crate) suppress: Option<Number>,
    pub(crate) metric: Option<String>,
    pub(crate) time_limit: Option<Number>,
}

/// A number as it is written; exact if it is in quotes or short.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum Number {
    Text(String),
    Whole(i64),
    Real(f64),
}

impl Number {
    pub(crate) fn text(&self) -> String {
        match self {
            Number::Text(text) => text.clone(),
            Number::Whole(number) => number.to_string(),
            Number::Real(number) => number.to_string(),
        }
    }
}

/// A name, or one number per category.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum WeightsSpec {
    Name(String),
    Texts(Vec<String>),
    Numbers(Vec<f64>),
}

impl WeightsSpec {
    pub(crate) fn weights(&self) -> Result<Weights, Failure> {
        Ok(match self {
            WeightsSpec::Name(name) => Weights::parse(name)?,
            WeightsSpec::Texts(texts) => Weights::parse_custom(texts.iter().map(String::as_str))?,
            WeightsSpec::Numbers(numbers) => {
                let texts: Vec<String> = numbers.iter().map(ToString::to_string).collect();
                Weights::parse_custom(texts.iter().map(String::as_str))?
            }
        })
    }
}

/// A role by name.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct RoleText(pub(crate) Role);

impl TryFrom<String> for RoleText {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        text.parse().map(RoleText)
    }
}

/// A kind by name.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct KindText(pub(crate) Kind);

impl TryFrom<String> for KindText {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        text.parse().map(KindText)
    }
}

impl Spec {
    /// Reads a spec; a mistake is shown with its place in the text.
    pub(crate) fn load(path: &Path) -> Result<Spec, Failure> {
        let text = read_text(path)?;
        let mut spec: Spec = parse_toml(path, &text, "`chrysalis init FILE` writes a spec to start from")?;
        spec.folder = path.parent().map(Path::to_owned).unwrap_or_default();
        Ok(spec)
    }

    /// A path as seen from here.
    pub(crate) fn resolve(&self, path: &Path) -> PathBuf {
        self.folder.join(path)
    }
}

/// Reads TOML; a mistake is shown with its place in the text.
pub(crate) fn parse_toml<T: DeserializeOwned>(path: &Path, text: &str, hint: &str) -> Result<T, Failure> {
    toml::from_str(text).map_err(|error| {
        let start = error.span().map_or(0, |span| span.start.min(text.len()));
        let before = text.get(..start).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|letter| *letter != '\n').count() + 1;
        let problem = error.message().replace('\n', ", ");
        Failure::bad_input(format!("{}, line {line}, column {column}: {problem}", path.display()), hint)
    })
}

impl Attribute {
    /// Where the attribute's taxonomy comes from; at most one source.
    pub(crate) fn taxonomy(&self, name: &str, spec: &Spec) -> Result<Option<TaxonomySource>, Failure> {
        let n_sources =
            usize::from(self.taxonomy.is_some()) + usize::from(self.intervals.is_some()) + usize::from(self.prefix);
        if n_sources > 1 {
            return Err(two_taxonomies(name));
        }
        if let Some(path) = &self.taxonomy {
            return Ok(Some(TaxonomySource::File(load_taxonomy(&spec.resolve(path))?)));
        }
        Ok(match &self.intervals {
            Some(widths) => Some(TaxonomySource::Intervals(widths.clone())),
            None => self.prefix.then_some(TaxonomySource::Prefix),
        })
    }
}

pub(crate) fn two_taxonomies(name: &str) -> Failure {
    let message = format!("column `{name}` has several taxonomies");
    Failure::bad_input(message, "choose one of taxonomy, intervals and prefix")
}

/// Reads a taxonomy file.
pub(crate) fn load_taxonomy(path: &Path) -> Result<TaxonomyFile, Failure> {
    let text = read_text(path)?;
    TaxonomyFile::parse(&text).map_err(|error| Failure::bad_input(format!("{}: {error}", path.display()), error.hint()))
}

/// Specs and taxonomies are small; anything larger is some other file.
const MAX_TEXT: u64 = 64 << 20;

pub(crate) fn read_text(path: &Path) -> Result<String, Failure> {
    let failed = |problem: String| {
        Failure::bad_input(
            format!("cannot read {}: {problem}", path.display()),
            "check that the path names the right text file",
        )
    };
    let size = std::fs::metadata(path).map_err(|error| failed(error.to_string()))?.len();
    if size > MAX_TEXT {
        return Err(failed(format!("it has {size} bytes, more than any spec or taxonomy")));
    }
    let bytes = std::fs::read(path).map_err(|error| failed(error.to_string()))?;
    String::from_utf8(bytes).map_err(|_| failed("it is not UTF-8 text".into()))
}
