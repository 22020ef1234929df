//! Spec and flags become one plan; flags win.

use std::time::{Duration, Instant};

use chrysalis_criteria::{PrincipleSpec, Rational, Weights};
use chrysalis_publish::partitioner::{
    Anatomize, ByColumn, BySensitive, Compact, FullDomain, Hierarchy, Metric, Mondrian, Nearby, Sequential, Similar,
    Stop, TopDown,
};
use chrysalis_publish::{AttributeSpec, Partitioner, QuasiIdentifiers, TaxonomySource};
use chrysalis_store::{Source, StoreError};
use chrysalis_table::{ColumnRequest, CsvOptions, Kind, MissingPolicy, Role, resolve};

use crate::args::{self, Choices, ReadArgs};
use crate::failure::Failure;
use crate::spec::{Spec, load_taxonomy, two_taxonomies};

/// What is known before the input is opened.
pub(crate) struct Draft {
    pub(crate) spec: Spec,
    pub(crate) source: Source,
    pub(crate) options: CsvOptions,
    pub(crate) missing: MissingPolicy,
}

impl Draft {
    /// From a data file or a spec.
    pub(crate) fn new(file: &str, read: &ReadArgs) -> Result<Draft, Failure> {
        let is_spec = file.ends_with(".toml");
        let spec = if is_spec { Spec::load(file.as_ref())? } else { Spec::default() };
        let source = match (&spec.input, is_spec) {
            (Some(input), _) if input.as_os_str() == "-" => Source::Stdin,
            (Some(input), _) => Source::Path(spec.resolve(input)),
            (None, false) => Source::from_arg(file),
            (None, true) => {
                return Err(Failure::bad_input(format!("{file} names no input"), "add a line `input = \"data.csv\"`"));
            }
        };
        let in_spec =
            |problem: String| Failure::bad_input(format!("{file}: {problem}"), "see `chrysalis publish --help`");
        let delimiter = match (&read.delimiter, &spec.delimiter) {
            (Some(delimiter), _) => Some(*delimiter),
            (None, Some(text)) => Some(args::delimiter(text).map_err(|error| in_spec(format!("delimiter: {error}")))?),
            (None, None) => None,
        };
        let missing = match (read.missing, &spec.missing) {
            (Some(missing), _) => missing,
            (None, Some(text)) => args::missing(text).map_err(|error| in_spec(format!("missing: {error}")))?,
            (None, None) => MissingPolicy::AsValue,
        };
        Ok(Draft { spec, source, options: CsvOptions { delimiter, ..CsvOptions::default() }, missing })
    }

    /// How a column is to be read.
    pub(crate) fn request(&self, name: &str, read: &ReadArgs) -> Result<ColumnRequest, Failure> {
        let attribute = self.spec.attributes.get(name);
        let flag = |pairs: &[(String, Vec<String>)]| {
            pairs.iter().find(|(column, _)| column == name).map(|(_, order)| order.clone())
        };
        let order =
            flag(&read.orders).or_else(|| attribute.map(|attribute| attribute.order.clone())).unwrap_or_default();
        let kind = read.kinds.iter().find(|(column, _)| column == name).map(|(_, kind)| *kind);
        let kind = kind.or_else(|| attribute.and_then(|attribute| attribute.kind).map(|kind| kind.0));
        let kind = kind.or((!order.is_empty()).then_some(Kind::Ordinal));
        if let Some(twice) = order.iter().enumerate().find(|(at, value)| order[..*at].contains(value)) {
            let message = format!("the order of column `{name}` lists `{}` twice", twice.1);
            return Err(Failure::bad_input(message, "list every value once, from lowest to highest"));
        }
        if kind == Some(Kind::Ordinal) && order.is_empty() {
            let message = format!("column `{name}` is ordinal, but its order is not given");
            return Err(Failure::bad_input(message, format!("add --order {name}=low,middle,high")));
        }
        Ok(ColumnRequest { name: name.to_owned(), kind, order })
    }

    /// Stops at the first name that the input lacks.
    pub(crate) fn check_names<'a>(
        &self,
        header: &[String],
        names: impl Iterator<Item = &'a String>,
    ) -> Result<(), Failure> {
        let wanted: Vec<ColumnRequest> = names.map(ColumnRequest::named).collect();
        let error = |error| StoreError::Table { path: self.source.name(), error };
        Ok(resolve(header, &wanted).map(drop).map_err(error)?)
    }

    /// Quasi columns: as the flag lists them, or as the spec says, in the order of the header.
    pub(crate) fn quasi(&self, flag: &[String], header: &[String]) -> Vec<String> {
        if !flag.is_empty() {
            return flag.to_vec();
        }
        let listed: Vec<&String> = self.spec.quasi_identifiers.iter().flatten().collect();
        let is_quasi = |name: &&String| self.has_role(name, Role::QuasiIdentifier) || listed.contains(name);
        let mut names: Vec<String> = header.iter().filter(is_quasi).cloned().collect();
        // A name that is not in the header is kept, so that the check of names finds it.
        let rest = self.spec.attributes.keys().chain(listed.iter().copied()).filter(is_quasi);
        for name in rest {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
        names
    }

    /// The columns the spec gives a role, by name.
    pub(crate) fn with_role(&self, role: Role) -> Vec<String> {
        self.spec.attributes.keys().filter(|name| self.has_role(name, role)).cloned().collect()
    }

    fn has_role(&self, name: &str, role: Role) -> bool {
        self.spec.attributes.get(name).and_then(|attribute| attribute.role).is_some_and(|known| known.0 == role)
    }
}

/// Everything a publication needs but the data.
pub(crate) struct Plan {
    pub(crate) attributes: Vec<AttributeSpec>,
    pub(crate) requests: Vec<ColumnRequest>,
    pub(crate) dropped: Vec<(String, &'static str)>,
    pub(crate) method: Method,
    pub(crate) partitioner: PartitionerChoice,
    /// All that is promised.
    pub(crate) require: Vec<PrincipleSpec>,
    pub(crate) angel: AngelPlan,
    /// For butterfly: what every user knows, or every few who collude.
    pub(crate) users: Option<QuasiIdentifiers>,
}

/// What angel needs beyond the rest.
#[derive(Default)]
pub(crate) struct AngelPlan {
    pub(crate) k: u64,
    /// Whether the owner named a k, or it is the default.
    pub(crate) is_k_asked: bool,
    pub(crate) marginals: Vec<Vec<String>>,
    pub(crate) bucket_columns: Vec<String>,
}

/// How groups are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    Generalize,
    Anatomy,
    Permute,
    Shuffle,
    Angel,
    Butterfly,
    RankSwap,
}

impl Method {
    const ALL: [(&'static str, Method); 7] = [
        ("generalize", Method::Generalize),
        ("anatomy", Method::Anatomy),
        ("permute", Method::Permute),
        ("shuffle", Method::Shuffle),
        ("angel", Method::Angel),
        ("butterfly", Method::Butterfly),
        ("rank-swap", Method::RankSwap),
    ];

    fn default_partitioner(self) -> &'static str {
        match self {
            Method::Generalize => "compact",
            Method::Anatomy | Method::Permute | Method::Angel => "nearby",
            Method::Shuffle | Method::RankSwap => "min-sum",
            Method::Butterfly => BOTH_HIERARCHIES,
        }
    }
}

/// How groups are formed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PartitionerChoice {
    Compact,
    TopDown,
    Mondrian {
        relaxed: bool,
    },
    FullDomain {
        metric: Metric,
        suppress: Rational,
        time_limit: Option<Duration>,
    },
    Column(String),
    Anatomize,
    Similar,
    Nearby,
    Sorted(BySensitive),
    Sequential,
    /// For butterfly: one hierarchy, or the better of both.
    Butterflies(Option<Hierarchy>),
}

/// What nobody need write.
const BOTH_HIERARCHIES: &str = "the better of body-first and union";

impl PartitionerChoice {
    pub(crate) fn build(&self) -> Box<dyn Partitioner> {
        match self {
            PartitionerChoice::Compact => Box::new(Compact),
            PartitionerChoice::TopDown => Box::new(TopDown),
            PartitionerChoice::Mondrian { relaxed } => Box::new(Mondrian { relaxed: *relaxed }),
            PartitionerChoice::FullDomain { metric, suppress, time_limit } => {
                let started = Instant::now();
                let stop = time_limit.map_or_else(Stop::never, |limit| Stop::when(move || started.elapsed() >= limit));
                Box::new(FullDomain { metric: *metric, suppress: *suppress, stop })
            }
            PartitionerChoice::Column(column) => Box::new(ByColumn { column: column.clone() }),
            PartitionerChoice::Anatomize => Box::new(Anatomize),
            PartitionerChoice::Similar => Box::new(Similar::default()),
            PartitionerChoice::Nearby => Box::new(Nearby),
            PartitionerChoice::Sorted(objective) => Box::new(*objective),
            PartitionerChoice::Sequential => Box::new(Sequential),
            // Butterflies form their own groups; for them these are the union run.
            PartitionerChoice::Butterflies(_) => Box::new(Mondrian::default()),
        }
    }
}

impl Plan {
    pub(crate) fn new(draft: &Draft, args: &Choices, header: &[String]) -> Result<Plan, Failure> {
        let method = method(draft, args)?;
        let mut require = principles(draft, args)?;
        let users = users(draft, args, method)?;
        let roles = roles(draft, args, header)?;
        let partitioner = partitioner(draft, args, method)?;
        let angel = angel(draft, args, method, &mut require)?;
        draft.check_names(header, roles.iter().map(|(name, _)| name))?;
        let settings =
            args.read.kinds.iter().map(|(name, _)| name).chain(args.read.orders.iter().map(|(name, _)| name));
        let spec_names = draft.spec.attributes.keys();
        draft.check_names(header, settings.chain(spec_names))?;
        let mut requests = Vec::new();
        let mut attributes = Vec::new();
        for (name, role) in &roles {
            let taxonomy = taxonomy(draft, args, name)?;
            let categories = categories(draft, args, name, *role)?;
            if *role != Role::Identifier {
                let mut request = draft.request(name, &args.read)?;
                match &taxonomy {
                    // Codes keep their leading zeros.
                    Some(TaxonomySource::Prefix) => request.kind = Some(Kind::Category),
                    // Who writes labels wants to see them, unless the kind says otherwise.
                    Some(TaxonomySource::File(_)) => request.kind = request.kind.or(Some(Kind::Category)),
                    _ => {}
                }
                requests.push(request);
            }
            attributes.push(AttributeSpec { name: name.clone(), role: *role, taxonomy, categories });
        }
        check_taxonomies_are_used(args, &roles)?;
        let group_column = if let PartitionerChoice::Column(column) = &partitioner { Some(column) } else { None };
        for column in group_column.into_iter().chain(&angel.bucket_columns) {
            draft.check_names(header, std::iter::once(column))?;
            if !requests.iter().any(|request| request.name == *column) {
                requests.push(draft.request(column, &args.read)?);
            }
        }
        let is_kept = |name: &String| roles.iter().any(|(known, role)| known == name && *role != Role::Identifier);
        let reason = |name: &String| match &partitioner {
            PartitionerChoice::Column(column) if column == name => "holds the groups",
            _ if angel.bucket_columns.contains(name) => "holds the groups",
            _ if roles.iter().any(|(known, _)| known == name) => "identifier",
            _ => "not named",
        };
        let dropped = header.iter().filter(|name| !is_kept(name)).map(|name| (name.clone(), reason(name))).collect();
        Ok(Plan { attributes, requests, dropped, method, partitioner, require, angel, users })
    }

    /// What every group of the partition must satisfy: for angel all but `k=`, which is required of buckets.
    pub(crate) fn of_groups(&self) -> Vec<PrincipleSpec> {
        let is_of_groups = |spec: &&PrincipleSpec| self.method != Method::Angel || !is_k(spec);
        self.require.iter().filter(is_of_groups).cloned().collect()
    }
}

fn method(draft: &Draft, args: &Choices) -> Result<Method, Failure> {
    let name = args.method.as_ref().or(draft.spec.release.method.as_ref()).map_or("generalize", String::as_str);
    let known = Method::ALL.iter().find(|(known, _)| *known == name);
    known.map(|(_, method)| *method).ok_or_else(|| {
        let names = Method::ALL.map(|(name, _)| name).join(", ");
        Failure::bad_input(format!("`{name}` is not a method of this version"), format!("use one of {names}"))
    })
}

fn is_k(spec: &PrincipleSpec) -> bool {
    matches!(spec, PrincipleSpec::KAnonymity { .. })
}

/// What a bucket has at least, where nobody says.
const BUCKET_SIZE: u64 = 10;

/// Finds k, marginals and bucket columns; a k that nobody named is promised as well.
fn angel(
    draft: &Draft,
    args: &Choices,
    method: Method,
    require: &mut Vec<PrincipleSpec>,
) -> Result<AngelPlan, Failure> {
    let spec = &draft.spec.release;
    let list = |text: &String| text.split(',').map(|name| name.trim().to_owned()).collect();
    let flags: Vec<Vec<String>> = args.marginals.iter().map(list).collect();
    let marginals = if flags.is_empty() { spec.marginals.clone() } else { flags };
    let columns = if args.bucket_columns.is_empty() { &spec.bucket_columns } else { &args.bucket_columns };
    if method != Method::Angel {
        let extra = [("--marginal", marginals.is_empty()), ("--bucket-column", columns.is_empty())];
        return match extra.iter().find(|(_, is_absent)| !is_absent) {
            Some((flag, _)) => Err(Failure::bad_input(
                format!("{flag} goes with the method angel"),
                "add --method angel, or leave it out",
            )),
            None => Ok(AngelPlan::default()),
        };
    }
    if require.iter().all(is_k) {
        let message = "angel needs a principle for batches: `k=` alone says nothing about sensitive values";
        return Err(Failure::bad_input(message, "add one, for example --require l=4"));
    }
    let k = require.iter().filter_map(|spec| match spec {
        PrincipleSpec::KAnonymity { k } => Some(*k),
        _ => None,
    });
    let asked = k.max();
    if asked.is_none() {
        require.push(PrincipleSpec::KAnonymity { k: BUCKET_SIZE });
    }
    let (k, is_k_asked) = (asked.unwrap_or(BUCKET_SIZE), asked.is_some());
    Ok(AngelPlan { k, is_k_asked, marginals, bucket_columns: columns.clone() })
}

fn principles(draft: &Draft, args: &Choices) -> Result<Vec<PrincipleSpec>, Failure> {
    let texts = if args.require.is_empty() { &draft.spec.release.require } else { &args.require };
    if texts.is_empty() {
        let hint = "say what every group must satisfy, for example --require k=10 --require l=4";
        return Err(Failure::bad_input("no principle is required", hint));
    }
    Ok(texts.iter().map(|text| text.parse()).collect::<Result<Vec<PrincipleSpec>, _>>()?)
}

fn names(text: &str) -> Vec<String> {
    text.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect()
}

/// Several quasi-identifiers, for the method that protects them.
fn users(draft: &Draft, args: &Choices, method: Method) -> Result<Option<QuasiIdentifiers>, Failure> {
    let sets = match &args.quasi[..] {
        [] => draft.spec.quasi_identifiers.clone(),
        flags => flags.iter().map(|text| names(text)).collect(),
    };
    let collude = args.collude.or(draft.spec.release.collude);
    if method == Method::Butterfly {
        if sets.len() < 2 {
            let message = "butterfly protects several quasi-identifiers, and fewer than two are named";
            return Err(Failure::bad_input(message, "add --quasi c,d for another user, or use --method generalize"));
        }
        let users = QuasiIdentifiers::new(sets)?;
        return Ok(Some(users.colluding(collude.unwrap_or(1))?));
    }
    if collude.is_some() {
        let message = "--collude goes with the method butterfly";
        return Err(Failure::bad_input(message, "add --method butterfly, or leave it out"));
    }
    if sets.len() > 1 {
        let name = Method::ALL.iter().find(|(_, known)| *known == method).map_or("", |(name, _)| name);
        let message = format!("the method {name} protects one quasi-identifier, several are named");
        let hint = "put all columns an attacker may know into one --quasi a,b,c, or use --method butterfly";
        return Err(Failure::bad_input(message, hint));
    }
    Ok(None)
}

/// Every named column with its role, quasi columns first, the sensitive one last.
fn roles(draft: &Draft, args: &Choices, header: &[String]) -> Result<Vec<(String, Role)>, Failure> {
    let mut flag: Vec<String> = Vec::new();
    for name in args.quasi.iter().flat_map(|text| names(text)) {
        // Users may know the same; who names one set means every name in it.
        if args.quasi.len() == 1 || !flag.contains(&name) {
            flag.push(name);
        }
    }
    let quasi = draft.quasi(&flag, header);
    let other = if args.other.is_empty() { draft.with_role(Role::Other) } else { args.other.clone() };
    let sensitive = args.sensitive.clone().map_or_else(|| draft.with_role(Role::Sensitive), |name| vec![name]);
    let identifiers = draft.with_role(Role::Identifier);
    if let [_, second, ..] = &sensitive[..] {
        let message = format!("`{}` and `{second}` are both sensitive", sensitive[0]);
        return Err(Failure::bad_input(message, "choose one with --sensitive"));
    }
    let mut roles: Vec<(String, Role)> = Vec::new();
    let with = |names: Vec<String>, role: Role| names.into_iter().map(move |name| (name, role));
    let from_flags =
        |name: &String| flag.contains(name) || args.other.contains(name) || args.sensitive.as_ref() == Some(name);
    let all =
        with(quasi, Role::QuasiIdentifier).chain(with(other, Role::Other)).chain(with(sensitive, Role::Sensitive));
    for (name, role) in all.chain(with(identifiers, Role::Identifier)) {
        match roles.iter().position(|(known, _)| *known == name) {
            None => roles.push((name, role)),
            // The flag gives a column another role than the spec: the flag wins.
            Some(_) if role == Role::Identifier && from_flags(&name) => {}
            Some(at)
                if from_flags(&name)
                    && args.sensitive.as_ref() == Some(&name)
                    && !flag.contains(&name)
                    && !args.other.contains(&name) =>
            {
                roles.remove(at);
                roles.push((name, role));
            }
            Some(at) => {
                let (first, second) = (roles[at].1.name(), role.name());
                let message = format!("column `{name}` is named twice, as {first} and as {second}");
                return Err(Failure::bad_input(message, "give every column one role"));
            }
        }
    }
    Ok(roles)
}

const PARTITIONERS: &str = "compact, mondrian, full-domain, top-down, column, anatomize, similar, nearby, min-sum, \
                            min-max, min-max-exact, max-groups or sequential";

fn partitioner(draft: &Draft, args: &Choices, method: Method) -> Result<PartitionerChoice, Failure> {
    let spec = &draft.spec.release;
    let default = match method.default_partitioner() {
        // Who asks for relaxed cuts asks for cuts.
        "compact" if args.relaxed || spec.relaxed => "mondrian",
        default => default,
    };
    let name = args.partitioner.as_ref().or(spec.partitioner.as_ref()).map_or(default, String::as_str);
    let group_column = args.group_column.as_ref().or(spec.group_column.as_ref());
    if (args.relaxed || spec.relaxed) && name != "mondrian" {
        let message = format!("--relaxed goes with mondrian, not with {name}");
        return Err(Failure::bad_input(message, "leave one of them out"));
    }
    if group_column.is_some() && name != "column" {
        let message = format!("a group column is named, but groups come from {name}");
        return Err(Failure::bad_input(message, "add --partitioner column"));
    }
    let settings = [
        ("--suppress", args.suppress.is_some() || spec.suppress.is_some()),
        ("--metric", args.metric.is_some() || spec.metric.is_some()),
        ("--time-limit", args.time_limit.is_some() || spec.time_limit.is_some()),
    ];
    if let Some((flag, _)) = settings.iter().find(|(_, is_given)| *is_given && name != "full-domain") {
        let message = format!("{flag} goes with full-domain, not with {name}");
        return Err(Failure::bad_input(message, format!("add --partitioner full-domain, or leave {flag} out")));
    }
    if method == Method::Butterfly {
        return match name {
            BOTH_HIERARCHIES => Ok(PartitionerChoice::Butterflies(None)),
            "body-first" => Ok(PartitionerChoice::Butterflies(Some(Hierarchy::BodyFirst))),
            "union" => Ok(PartitionerChoice::Butterflies(Some(Hierarchy::Union))),
            _ => {
                let message = format!("butterfly does not find butterflies with the partitioner `{name}`");
                Err(Failure::bad_input(message, "use body-first or union, or leave it out: the better is taken"))
            }
        };
    }
    Ok(match name {
        "compact" => PartitionerChoice::Compact,
        "top-down" => PartitionerChoice::TopDown,
        "mondrian" => PartitionerChoice::Mondrian { relaxed: args.relaxed || spec.relaxed },
        "full-domain" => full_domain(draft, args, method)?,
        "column" => PartitionerChoice::Column(group_column.cloned().ok_or_else(|| {
            let message = "--partitioner column needs a column that holds the groups";
            Failure::bad_input(message, "name it with --group-column")
        })?),
        "anatomize" => PartitionerChoice::Anatomize,
        "similar" => PartitionerChoice::Similar,
        "nearby" => PartitionerChoice::Nearby,
        "min-sum" => PartitionerChoice::Sorted(BySensitive::MinSum),
        "min-max" => PartitionerChoice::Sorted(BySensitive::MinMax),
        "min-max-exact" => PartitionerChoice::Sorted(BySensitive::MinMaxExact),
        "max-groups" => PartitionerChoice::Sorted(BySensitive::MaxGroups),
        "sequential" => PartitionerChoice::Sequential,
        _ => {
            let message = format!("`{name}` is not a partitioner of this version");
            return Err(Failure::bad_input(message, format!("use {PARTITIONERS}")));
        }
    })
}

/// What full-domain is to do; flags win over the spec.
fn full_domain(draft: &Draft, args: &Choices, method: Method) -> Result<PartitionerChoice, Failure> {
    let spec = &draft.spec.release;
    let in_spec = |name: &str, problem: String| {
        Failure::bad_input(format!("[release] {name}: {problem}"), "see `chrysalis publish --help`")
    };
    let suppress = match (args.suppress, &spec.suppress) {
        (Some(share), _) => share,
        (None, Some(number)) => args::share(&number.text()).map_err(|problem| in_spec("suppress", problem))?,
        (None, None) => Rational::from_integer(0),
    };
    let metric = match (args.metric, &spec.metric) {
        (Some(metric), _) => metric,
        (None, Some(name)) => args::metric(name).map_err(|problem| in_spec("metric", problem))?,
        (None, None) => Metric::default(),
    };
    let time_limit = match (args.time_limit, &spec.time_limit) {
        (Some(limit), _) => Some(limit),
        (None, Some(number)) => Some(args::seconds(&number.text()).map_err(|problem| in_spec("time_limit", problem))?),
        (None, None) => None,
    };
    if suppress > Rational::from_integer(0) && method != Method::Generalize {
        // LEAK: other forms show quasi values as they are, so a row cannot be suppressed there.
        let message = "rows can be suppressed only where quasi values are generalized";
        return Err(Failure::bad_input(message, "use --method generalize, or leave --suppress out"));
    }
    Ok(PartitionerChoice::FullDomain { metric, suppress, time_limit })
}

fn taxonomy(draft: &Draft, args: &Choices, name: &str) -> Result<Option<TaxonomySource>, Failure> {
    let files = args.taxonomies.iter().filter(|(column, _)| column == name);
    let files = files.map(|(_, path)| load_taxonomy(path).map(TaxonomySource::File));
    let intervals = args.intervals.iter().filter(|(column, _)| column == name);
    let intervals = intervals.map(|(_, widths)| Ok(TaxonomySource::Intervals(widths.clone())));
    let prefixes = args.prefixes.iter().filter(|column| *column == name).map(|_| Ok(TaxonomySource::Prefix));
    let mut sources: Vec<TaxonomySource> = files.chain(intervals).chain(prefixes).collect::<Result<_, Failure>>()?;
    match (sources.len(), draft.spec.attributes.get(name)) {
        (0, Some(attribute)) => attribute.taxonomy(name, &draft.spec),
        (0 | 1, _) => Ok(sources.pop()),
        _ => Err(two_taxonomies(name)),
    }
}

/// A taxonomy for a column that plays no part is a slip of the pen.
fn check_taxonomies_are_used(args: &Choices, roles: &[(String, Role)]) -> Result<(), Failure> {
    if let Some((name, _)) = args.categories.iter().find(|(name, _)| !roles.iter().any(|(known, _)| known == name)) {
        let message = format!("column `{name}` has categories but no role");
        return Err(Failure::bad_input(message, "name it with --sensitive, or check its spelling"));
    }
    let files = args.taxonomies.iter().map(|(name, _)| name);
    let named = files.chain(args.intervals.iter().map(|(name, _)| name)).chain(&args.prefixes);
    for name in named {
        if !roles.iter().any(|(known, _)| known == name) {
            let message = format!("column `{name}` has a taxonomy but no role");
            return Err(Failure::bad_input(message, "name it with --quasi or --sensitive, or check its spelling"));
        }
    }
    Ok(())
}

/// Categories from most to least sensitive, and their weights.
type Categories = (Vec<Vec<String>>, Weights);

fn categories(draft: &Draft, args: &Choices, name: &str, role: Role) -> Result<Option<Categories>, Failure> {
    let attribute = draft.spec.attributes.get(name);
    let mut flags = args.categories.iter().filter(|(column, _)| column == name);
    let (flag, second) = (flags.next(), flags.next());
    if second.is_some() || flag.is_some() && role != Role::Sensitive {
        let message = format!("--categories for column `{name}`, which is {}", role.name());
        return Err(Failure::bad_input(message, "give the sensitive column its categories, once"));
    }
    let weights = match (&args.weights, attribute.and_then(|attribute| attribute.weights.as_ref())) {
        (Some(text), _) if text.contains(',') => Weights::parse_custom(text.split(',').map(str::trim))?,
        (Some(text), _) => Weights::parse(text)?,
        (None, Some(spec)) => spec.weights()?,
        (None, None) => Weights::Uniform,
    };
    let categories = flag.map(|(_, categories)| categories).or(attribute.and_then(|spec| spec.categories.as_ref()));
    if role == Role::Sensitive && args.weights.is_some() && categories.is_none() {
        let message = format!("--weights weigh categories, and column `{name}` has none");
        return Err(Failure::bad_input(message, "name them with --categories, or leave --weights out"));
    }
    Ok(categories.map(|categories| (categories.clone(), weights)))
}
