//! `[compare]` in a spec: which releases to hold against one another.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::args::Choices;
use crate::failure::Failure;
use crate::spec::{Number, ReleaseSpec};

/// What is compared, and what is asked.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CompareSpec {
    #[serde(default)]
    pub(super) runs: Vec<RunSpec>,
    /// What is asked of every release, as in `evaluate`.
    pub(super) workload: Option<String>,
    pub(super) queries: Option<usize>,
    pub(super) selectivity: Option<f64>,
    pub(super) dimensions: Option<usize>,
}

/// One release, or several that differ in what varies. What it leaves out is as in `[release]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunSpec {
    pub(super) name: Option<String>,
    /// Values for `{name}` in the other texts; every combination is a run.
    #[serde(default)]
    pub(super) vary: BTreeMap<String, Vec<Number>>,
    method: Option<String>,
    partitioner: Option<String>,
    relaxed: Option<bool>,
    group_column: Option<String>,
    bucket_columns: Option<Vec<String>>,
    marginals: Option<Vec<Vec<String>>>,
    require: Option<Vec<String>>,
    collude: Option<usize>,
    format: Option<String>,
    suppress: Option<Number>,
    metric: Option<String>,
    time_limit: Option<Number>,
}

impl RunSpec {
    /// A method with a partitioner; the rest is as in `[release]`.
    pub(super) fn of(method: &str, partitioner: Option<&str>) -> Self {
        let (method, partitioner) = (Some(method.to_owned()), partitioner.map(str::to_owned));
        RunSpec { method, partitioner, ..RunSpec::default() }
    }

    /// What the flags of the command line say: it wins over `[release]`, and runs may win over it.
    pub(super) fn from_flags(flags: &Choices) -> Self {
        let listed = |names: &[String]| (!names.is_empty()).then(|| names.to_vec());
        let names = |text: &String| text.split(',').map(|name| name.trim().to_owned()).collect();
        RunSpec {
            method: flags.method.clone(),
            partitioner: flags.partitioner.clone(),
            relaxed: flags.relaxed.then_some(true),
            group_column: flags.group_column.clone(),
            bucket_columns: listed(&flags.bucket_columns),
            marginals: (!flags.marginals.is_empty()).then(|| flags.marginals.iter().map(names).collect()),
            require: listed(&flags.require),
            collude: flags.collude,
            suppress: flags.suppress.map(|share| Number::Text(share.to_string())),
            metric: flags.metric.map(|metric| metric.name().to_owned()),
            time_limit: flags.time_limit.map(|limit| Number::Text(limit.as_secs_f64().to_string())),
            ..RunSpec::default()
        }
    }

    /// This run on top of what holds for all of them. What fits another method or partitioner only is left behind.
    pub(super) fn over(&self, base: &ReleaseSpec) -> ReleaseSpec {
        let method = self.method.clone().or_else(|| base.method.clone());
        let name = |method: &Option<String>| method.clone().unwrap_or_else(|| DEFAULT_METHOD.to_owned());
        let is_same = name(&method) == name(&base.method);
        let partitioner = self.partitioner.clone().or_else(|| base.partitioner.clone().filter(|_| is_same));
        let is_by = |wanted: &str| partitioner.as_deref() == Some(wanted);
        let may_relax = is_by("mondrian") || partitioner.is_none() && is_same;
        let is_angel = name(&method) == "angel";
        let relaxed = self.relaxed.unwrap_or(base.relaxed && may_relax);
        let group_column = self.group_column.clone().or_else(|| base.group_column.clone().filter(|_| is_by("column")));
        let bucket_columns = self.bucket_columns.as_ref().or(is_angel.then_some(&base.bucket_columns));
        let marginals = self.marginals.as_ref().or(is_angel.then_some(&base.marginals));
        let collude = self.collude.or(base.collude.filter(|_| name(&method) == "butterfly"));
        let suppress = self.suppress.clone().or_else(|| base.suppress.clone().filter(|_| is_by("full-domain")));
        let metric = self.metric.clone().or_else(|| base.metric.clone().filter(|_| is_by("full-domain")));
        let time_limit = self.time_limit.clone().or_else(|| base.time_limit.clone().filter(|_| is_by("full-domain")));
        ReleaseSpec {
            relaxed,
            group_column,
            bucket_columns: bucket_columns.cloned().unwrap_or_default(),
            marginals: marginals.cloned().unwrap_or_default(),
            require: self.require.clone().unwrap_or_else(|| base.require.clone()),
            collude,
            format: self.format.clone().or_else(|| base.format.clone()),
            suppress,
            metric,
            time_limit,
            method,
            partitioner,
        }
    }
}

/// What is published where nobody says how.
pub(super) const DEFAULT_METHOD: &str = "generalize";

/// Values of what varies, by name.
pub(super) type Varied = BTreeMap<String, String>;

/// A release with every `{name}` replaced. A value that nothing uses, or a name without values, is a mistake.
pub(super) fn filled(release: &ReleaseSpec, name: Option<&String>, varied: &Varied) -> Result<ReleaseSpec, Failure> {
    let mut used = Vec::new();
    let mut fill = |text: &String| fill(text, varied, &mut used);
    let mut fill_all = |texts: &[String]| texts.iter().map(&mut fill).collect::<Result<Vec<_>, _>>();
    let mut full = release.clone();
    full.require = fill_all(&release.require)?;
    full.method = release.method.as_ref().map(&mut fill).transpose()?;
    full.partitioner = release.partitioner.as_ref().map(&mut fill).transpose()?;
    full.metric = release.metric.as_ref().map(&mut fill).transpose()?;
    full.suppress = release.suppress.as_ref().map(|number| fill(&number.text()).map(Number::Text)).transpose()?;
    full.time_limit = release.time_limit.as_ref().map(|number| fill(&number.text()).map(Number::Text)).transpose()?;
    name.map(&mut fill).transpose()?;
    match varied.keys().find(|key| !used.contains(key)) {
        Some(key) => Err(Failure::bad_input(
            format!("`{key}` varies, but nothing depends on it"),
            format!("write `{{{key}}}` where its values go, for example require = [\"{key}={{{key}}}\"]"),
        )),
        None => Ok(full),
    }
}

/// A text with every `{name}` replaced; notes which names it used.
pub(super) fn fill(text: &str, varied: &Varied, used: &mut Vec<String>) -> Result<String, Failure> {
    let mut full = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        let known = after.split_once('}').and_then(|(key, after)| Some((key, varied.get(key)?, after)));
        let Some((key, value, after)) = known else {
            let message = format!("nothing says what stands for the braces in `{text}`");
            return Err(Failure::bad_input(message, "name it in vary, for example vary = { l = [2, 4, 8] }"));
        };
        full += before;
        full += value;
        used.push(key.to_owned());
        rest = after;
    }
    Ok(full + rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn release(text: &str) -> ReleaseSpec {
        toml::from_str(text).unwrap()
    }

    fn run(text: &str) -> RunSpec {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn a_run_keeps_what_it_does_not_say() {
        let base = release("method = 'anatomy'\npartitioner = 'anatomize'\nrequire = ['l=4']");
        let merged = run("require = ['l=6']").over(&base);
        assert_eq!((merged.method.as_deref(), merged.partitioner.as_deref()), (Some("anatomy"), Some("anatomize")));
        assert_eq!(merged.require, ["l=6"]);
    }

    #[test]
    fn what_fits_another_method_is_left_behind() {
        let base = release(
            "method = 'angel'\npartitioner = 'mondrian'\nmarginals = [['age']]\nrequire = ['l=4']\nrelaxed = true",
        );
        let merged = run("method = 'anatomy'").over(&base);
        assert_eq!((merged.partitioner, merged.marginals.len(), merged.relaxed), (None, 0, false));
        let merged = run("method = 'angel'").over(&base);
        assert_eq!((merged.partitioner.as_deref(), merged.marginals.len()), (Some("mondrian"), 1));
        let base = release("partitioner = 'full-domain'\nsuppress = 0.05\nrequire = ['k=5']");
        assert!(run("partitioner = 'compact'").over(&base).suppress.is_none());
        assert!(run("method = 'generalize'").over(&base).suppress.is_some());
    }

    #[test]
    fn names_in_braces_get_their_values() {
        let varied = Varied::from([("l".to_owned(), "4".to_owned()), ("k".to_owned(), "10".to_owned())]);
        let full = filled(&release("require = ['l={l}', 'k={k}']\nsuppress = '0.0{l}'"), None, &varied).unwrap();
        assert_eq!(full.require, ["l=4", "k=10"]);
        assert_eq!(full.suppress.unwrap().text(), "0.04");
        for text in ["require = ['l={m}', 'l={l}{k}']", "require = ['l={l', 'k={k}']", "require = ['l={l}']"] {
            assert!(filled(&release(text), None, &varied).is_err(), "{text}");
        }
    }
}
