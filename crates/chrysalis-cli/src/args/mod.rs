//! The command line.

mod draft;
mod help;
mod values;

use std::ffi::OsString;
use std::path::PathBuf;

use chrysalis::table::Kind;
use chrysalis::{Dialect, EstimateMode, IntervalsDraft, Memory};
use clap::{Args, Parser, Subcommand, ValueEnum};

use values::{
    Levels, categories_of, date_format, delimiter, encoding, estimates, format, intervals_of, kind_of, levels, list_of,
    memory, metric, missing, ordinary_of, path_of, seconds, share, step_of, threads, width_of, workload,
};

/// Publish microdata without revealing who is who, and check what was published.
#[derive(Debug, Parser)]
#[command(name = "chrysalis", version, max_term_width = 100, after_help = EXIT_CODES, arg_required_else_help = true)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
    /// How results are printed.
    #[arg(long, value_enum, default_value_t, global = true, value_name = "FORMAT", help_heading = EVERYWHERE)]
    pub(crate) output: Output,
    /// Print only results and errors.
    #[arg(long, short, global = true, help_heading = EVERYWHERE)]
    pub(crate) quiet: bool,
    /// Print each step, and how long it takes, to standard error.
    #[arg(long, short, global = true, conflicts_with = "quiet", help_heading = EVERYWHERE)]
    pub(crate) verbose: bool,
    /// Number of threads [default: all cores]. Results do not depend on it.
    #[arg(long, global = true, value_name = "N", value_parser = threads, help_heading = EVERYWHERE)]
    pub(crate) threads: Option<usize>,
}

/// Where the options stand that every command has.
const EVERYWHERE: &str = "Options for every command";

const EXIT_CODES: &str = "Exit codes: 0 done, 2 bad input or usage, 3 cannot be satisfied or would give people away, 4 a check failed, \
                          130 stopped, 1 anything else.\n\nStart with:\n  chrysalis example --out hospital\n  chrysalis publish \
                          hospital/chrysalis.toml --out release\n  chrysalis audit release --microdata \
                          hospital/patients.csv";

/// How results are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Output {
    /// For people.
    #[default]
    Table,
    /// For programs.
    Json,
    /// For spreadsheets.
    Csv,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Write a commented spec for a table, with guessed roles.
    Init(InitArgs),
    /// Show which k, l and t a table satisfies as it is, and which rows stand out.
    Profile(ProfileArgs),
    /// Measure how easily rows are found again: attackers, uniques, what singles rows out.
    Risk(RiskArgs),
    /// Publish a table under privacy principles.
    Publish(Box<PublishArgs>),
    /// Check every promise of a release, using the release alone.
    Audit(AuditArgs),
    /// Measure how useful a release is: distances, losses, and errors on random questions.
    Evaluate(EvaluateArgs),
    /// Compare methods and parameters on one table: a page with risks, errors and advice.
    Compare(Box<CompareArgs>),
    /// Turn a question into SQL for a database that holds the release's tables.
    Rewrite(RewriteArgs),
    /// Create and fill the release's tables in a PostgreSQL or SQLite database.
    Load(LoadArgs),
    /// Ask a release questions in SQL: estimates, and bounds that are certain to hold.
    Query(QueryArgs),
    /// Show what a ledger remembers of a series of releases; it names nobody.
    Series(SeriesArgs),
    /// Draw tables of rows from what a release allows, for tools that want rows.
    Sample(SampleArgs),
    /// Check, draw or propose taxonomies.
    Taxonomy(TaxonomyArgs),
    /// Reproduce a figure or table of a paper, with the paper's claim beside our numbers.
    Experiment(ExperimentArgs),
    /// Write an example: a made-up hospital's patients and visits, taxonomies and a spec.
    Example(ExampleArgs),
    /// Choose, publish, attack and ask in a browser; nothing leaves this machine.
    Studio(StudioArgs),
    /// Print a script that completes commands and options in a shell.
    Completions(CompletionsArgs),
    /// Print the manual page, or write one for every command.
    Man(ManArgs),
}

/// How to read a table.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ReadArgs {
    /// The CSV field separator (`,`, `;`, `|`, `tab`) [default: detected].
    #[arg(long, value_name = "C", value_parser = delimiter)]
    pub(crate) delimiter: Option<String>,
    /// How a CSV file is encoded: `utf-8`, `latin-1`, `utf-16` or `utf-16be` [default: by its byte order mark, or utf-8].
    #[arg(long, value_name = "NAME", value_parser = encoding)]
    pub(crate) encoding: Option<String>,
    /// Texts of a CSV file that stand for a missing value, beside the empty one.
    #[arg(long, value_name = "TEXT,…", value_delimiter = ',')]
    pub(crate) na: Vec<String>,
    /// How dates in a CSV file are written, such as `%d/%m/%Y` [default: recognized where only one way fits].
    #[arg(long, value_name = "FORMAT", value_parser = date_format)]
    pub(crate) date_format: Option<String>,
    /// What to do with missing values: `as-value` keeps the rows, `drop` drops them, `error` stops; for `risk`,
    /// `wildcard` lets them match anything [default: as-value].
    #[arg(long, value_name = "POLICY", value_parser = missing)]
    pub(crate) missing: Option<String>,
    /// The kind of a column: integer, real, date, datetime, ordinal or category [default: inferred].
    #[arg(long = "kind", value_name = "COLUMN=KIND", value_parser = kind_of)]
    pub(crate) kinds: Vec<(String, Kind)>,
    /// The values of an ordinal column, from lowest to highest.
    #[arg(long = "order", value_name = "COLUMN=A,B,…", value_parser = list_of)]
    pub(crate) orders: Vec<(String, Vec<String>)>,
}

/// What is done to columns before anything else.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct PrepareArgs {
    /// Prepare a column before anything else: `round:100`, `top:90`, `bottom:18`, `date:year` (`quarter`, `month`,
    /// `week`), `prefix:3`, `pseudonym`, `shift` or `shift:7`; repeat for several steps. Kinds, orders, taxonomies and
    /// ordinary values are then about prepared values.
    #[arg(long = "prepare", value_name = "COLUMN=STEP", value_parser = step_of)]
    pub(crate) steps: Vec<(String, String)>,
    /// The column that says whose a row is, if persons may have several rows: promises are then about persons, and
    /// `--prepare COLUMN=shift` moves dates by person.
    #[arg(long, value_name = "COLUMN")]
    pub(crate) person: Option<String>,
    /// The file with your key for `pseudonym` and `shift`, made on first use; it is never published [default:
    /// chrysalis.key beside the table].
    #[arg(long, value_name = "FILE")]
    pub(crate) key: Option<PathBuf>,
}

/// How to read the microdata behind a release.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct MicrodataArgs {
    /// The CSV field separator of the microdata [default: detected].
    #[arg(long, value_name = "C", value_parser = delimiter, requires = "microdata")]
    pub(crate) delimiter: Option<String>,
    /// How CSV microdata are encoded, as for `publish`.
    #[arg(long, value_name = "NAME", value_parser = encoding, requires = "microdata")]
    pub(crate) encoding: Option<String>,
    /// Texts of CSV microdata that stand for a missing value, as for `publish`.
    #[arg(long, value_name = "TEXT,…", value_delimiter = ',', requires = "microdata")]
    pub(crate) na: Vec<String>,
    /// How dates in CSV microdata are written, as for `publish`.
    #[arg(long, value_name = "FORMAT", value_parser = date_format, requires = "microdata")]
    pub(crate) date_format: Option<String>,
    /// The file with the key that the release was made with, if it has pseudonyms or moved dates.
    #[arg(long, value_name = "FILE", requires = "microdata")]
    pub(crate) key: Option<PathBuf>,
    /// The column of the microdata that says whose a row is, if promises count persons or dates were moved.
    #[arg(long, value_name = "COLUMN", requires = "microdata")]
    pub(crate) person: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  chrysalis init patients.csv\n  chrysalis init patients.parquet --out spec.toml")]
pub(crate) struct InitArgs {
    /// CSV (also gzip or zstd) or Parquet.
    pub(crate) file: String,
    /// Where to write the spec.
    #[arg(long, value_name = "FILE", default_value = "chrysalis.toml")]
    pub(crate) out: PathBuf,
    /// Replace a spec that is already there.
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) read: ReadArgs,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  chrysalis profile patients.csv\n  chrysalis profile patients.csv --quasi age,sex,zip_code \
                  --sensitive disease\n  zcat adult.csv.gz | chrysalis profile - --quasi age,sex --sensitive \
                  occupation --output json"
)]
pub(crate) struct ProfileArgs {
    /// CSV (also gzip or zstd), Parquet, a spec (`.toml`), or `-` for standard input.
    pub(crate) file: String,
    /// Columns an attacker may know.
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    pub(crate) quasi: Vec<String>,
    /// The column whose values must not be linked to a person.
    #[arg(long, value_name = "COLUMN")]
    pub(crate) sensitive: Vec<String>,
    /// A taxonomy for the sensitive column; t is then measured along it.
    #[arg(long = "taxonomy", value_name = "COLUMN=FILE", value_parser = path_of)]
    pub(crate) taxonomies: Vec<(String, PathBuf)>,
    /// How much memory reading a taxonomy file may take; a file that needs more is refused [default: 2GB].
    #[arg(long, value_name = "SIZE", value_parser = memory)]
    pub(crate) memory: Option<Memory>,
    #[command(flatten)]
    pub(crate) prepare: PrepareArgs,
    #[command(flatten)]
    pub(crate) read: ReadArgs,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  chrysalis risk patients.csv --quasi age,sex,zip_code\n  chrysalis risk patients.csv --quasi \
                  age,sex,zip_code --fraction 0.1 --output json\n  chrysalis risk sample.csv --quasi age,sex \
                  --population-table register.parquet\n  chrysalis risk survey.csv --quasi age,sex,region --weight \
                  people --missing wildcard\n  chrysalis risk patients.csv --quasi age,sex,zip_code --rows risks.csv"
)]
pub(crate) struct RiskArgs {
    /// CSV (also gzip or zstd), Parquet, a spec (`.toml`), or `-` for standard input.
    pub(crate) file: String,
    /// Columns an attacker may know.
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    pub(crate) quasi: Vec<String>,
    /// How many people the rows were drawn from.
    #[arg(long, value_name = "N", help_heading = POPULATION)]
    pub(crate) population: Option<u64>,
    /// A table of all people whom the rows were drawn from, with the same quasi columns.
    #[arg(long, value_name = "FILE", help_heading = POPULATION)]
    pub(crate) population_table: Option<PathBuf>,
    /// The share of the population that is in the table.
    #[arg(long, value_name = "SHARE", help_heading = POPULATION)]
    pub(crate) fraction: Option<f64>,
    /// The column of survey weights: how many people of the population a row stands for.
    #[arg(long, value_name = "COLUMN", help_heading = POPULATION)]
    pub(crate) weight: Option<String>,
    /// Count rows with a risk above this [default: 0.2].
    #[arg(long, value_name = "RISK")]
    pub(crate) threshold: Option<f64>,
    /// Look for minimal unique sets of up to N columns [default: all columns].
    #[arg(long, value_name = "N")]
    pub(crate) max_size: Option<usize>,
    /// Also write one line per row (class size, risks, SUDA scores, minimal unique sets) to a CSV file that only you may
    /// read. It says who stands out: keep it as safe as the table.
    #[arg(long, value_name = "FILE")]
    pub(crate) rows: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) read: ReadArgs,
}

/// Where the options stand of which only one may be given.
const POPULATION: &str = "Population, described in one way";

#[derive(Debug, Args)]
#[command(after_help = help::publish())]
pub(crate) struct PublishArgs {
    /// CSV (also gzip or zstd), Parquet, a spec (`.toml`), or `-` for standard input.
    pub(crate) file: String,
    #[command(flatten)]
    pub(crate) choices: Choices,
    /// The folder to write; it must not exist yet.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// How tables are written: parquet or csv [default: parquet].
    #[arg(long, value_name = "FORMAT", value_parser = format)]
    pub(crate) format: Option<String>,
    /// Use this random seed. For experiments only: the release is marked and must not be handed out.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Replace a release that is already there.
    #[arg(long)]
    pub(crate) force: bool,
    /// The ledger of a series of releases of the same people, a private file that is made on first use; with `--require
    /// m=4` and `--person`.
    #[arg(long, value_name = "LEDGER")]
    pub(crate) series: Option<PathBuf>,
    /// With `--series`: people whose value left the values that their groups show are given other values; otherwise
    /// they stop the run.
    #[arg(long)]
    pub(crate) values_change: bool,
    /// With `--series`: publish only people whom the ledger does not know, under any principle.
    #[arg(long)]
    pub(crate) only_new: bool,
    /// Earlier releases of the same people, where there is no ledger; repeat for several. The run stops if the new release
    /// would tell too much beside them. For anatomy, permute and generalize.
    #[arg(long = "after", value_name = "DIR")]
    pub(crate) after: Vec<PathBuf>,
    /// An earlier release whose groups and labels are kept wherever the new rows satisfy what is required; only groups that
    /// fail are merged. Implies `--after` with it, unless the ledger of `--series` with `--only-new` knows it. Takes the
    /// place of `--partitioner`.
    #[arg(long, value_name = "DIR")]
    pub(crate) like: Option<PathBuf>,
}

/// How a table becomes a release: all that a spec can say, as flags.
#[derive(Debug, Default, Args)]
pub(crate) struct Choices {
    /// Columns an attacker may know; repeat the flag for several quasi-identifiers.
    #[arg(long, value_name = "A,B,…")]
    pub(crate) quasi: Vec<String>,
    /// A column whose values must not be linked to a person; repeat for several.
    #[arg(long, value_name = "COLUMN")]
    pub(crate) sensitive: Vec<String>,
    /// Columns to keep as they are.
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    pub(crate) other: Vec<String>,
    /// The column of survey weights: how many people of the population a row stands for. It is kept as it is.
    #[arg(long, value_name = "COLUMN")]
    pub(crate) weight: Option<String>,
    #[arg(long, value_name = "METHOD", help = help::method_flag())]
    pub(crate) method: Option<String>,
    /// What every group must satisfy; repeat for several. Replaces the list in a spec.
    #[arg(long, value_name = "PRINCIPLE")]
    pub(crate) require: Vec<String>,
    /// How to form groups: one of the partitioners below [default: depends on the method].
    #[arg(long, value_name = "NAME")]
    pub(crate) partitioner: Option<String>,
    /// Let mondrian split rows with equal values (columns without a taxonomy only).
    #[arg(long)]
    pub(crate) relaxed: bool,
    /// Choose groups so that the choice itself says nothing about who has which value, not even to whoever knows the
    /// algorithm: cuts by quasi values alone, then dealing at random. Wider groups; see docs/concepts/threats.md.
    #[arg(long)]
    pub(crate) transparent: bool,
    /// The column that holds the groups, for `--partitioner column`.
    #[arg(long, value_name = "COLUMN")]
    pub(crate) group_column: Option<String>,
    /// For methods with marginals: a column with the buckets of all quasi columns; repeat for those of each marginal,
    /// in order. Without it, mondrian forms the buckets.
    #[arg(long = "bucket-column", value_name = "COLUMN")]
    pub(crate) bucket_columns: Vec<String>,
    /// For methods with marginals: quasi columns that get a table of their own; repeat for several.
    #[arg(long = "marginal", value_name = "A,B,…")]
    pub(crate) marginals: Vec<String>,
    /// Sensitive columns to show together, so that combinations of their values stay; repeat for several sets. All others
    /// are shown apart. Nothing is promised about combinations.
    #[arg(long = "together", value_name = "A,B,…")]
    pub(crate) together: Vec<String>,
    /// For methods with several users: protect against any N of them who pool what they know [default: 1].
    #[arg(long, value_name = "N")]
    pub(crate) collude: Option<usize>,
    /// The share of rows (with `--person`, of persons) that full-domain may suppress, that is, show fully generalized as
    /// one group [default: 0].
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub(crate) suppress: Option<String>,
    /// A table of the people who could be in the data, with the quasi columns: for `k-map` and `delta-presence`. It is read
    /// like the microdata and never published.
    #[arg(long, value_name = "FILE")]
    pub(crate) population_table: Option<PathBuf>,
    /// What full-domain minimizes: loss (NCP), dm, average, precision, height, entropy (non-uniform), or monotonic-entropy,
    /// for which suppression is free [default: loss].
    #[arg(long, value_name = "NAME", value_parser = metric)]
    pub(crate) metric: Option<String>,
    /// Fix the levels of columns, which full-domain then does not choose: 0 for exact values. With all of them fixed, it
    /// searches for nothing.
    #[arg(long, value_name = "A=1,B=2,…", value_parser = levels)]
    pub(crate) levels: Option<Levels>,
    /// Stop full-domain after this many seconds and use the best result so far, marked as not proven [default: 60].
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) time_limit: Option<String>,
    /// A taxonomy file: one line per value, `value;group;…;*`.
    #[arg(long = "taxonomy", value_name = "COLUMN=FILE", value_parser = path_of)]
    pub(crate) taxonomies: Vec<(String, PathBuf)>,
    /// How much memory may be taken. `publish`: a table that needs more is published cell by cell, and its rows wait on
    /// disk beside the release. A taxonomy file that takes more is refused [default: 2GB].
    #[arg(long, value_name = "SIZE", value_parser = memory)]
    pub(crate) memory: Option<Memory>,
    /// Publish an ordered column in intervals of these widths, each a multiple of the one before (days for dates,
    /// seconds for datetimes), or dates and datetimes in calendar units, each within the next: hour, day, week, month,
    /// quarter, year.
    #[arg(long = "intervals", value_name = "COLUMN=5,10,…", value_parser = intervals_of)]
    pub(crate) intervals: Vec<(String, IntervalsDraft)>,
    /// Publish codes such as zip codes masked from the right: 1424*, 142**.
    #[arg(long = "prefix", value_name = "COLUMN")]
    pub(crate) prefixes: Vec<String>,
    /// Categories of the sensitive column, most sensitive first; separate values with `|` and categories with `;`.
    #[arg(long = "categories", value_name = "COLUMN=A|B;C;…", value_parser = categories_of)]
    pub(crate) categories: Vec<(String, Vec<Vec<String>>)>,
    /// The weight of each category: `uniform` steps from 0 to 1, `sensitivity(2)`, or one number per category [default:
    /// uniform].
    #[arg(long, value_name = "WEIGHTS")]
    pub(crate) weights: Option<String>,
    /// A value of the sensitive column that anybody may know about a person; repeat for several. `none`: no value is
    /// ordinary [default: any value that at least half of all rows have].
    #[arg(long = "ordinary", value_name = "COLUMN=VALUE|none", value_parser = ordinary_of)]
    pub(crate) ordinary: Vec<Option<(String, String)>>,
    /// Numbers of the sensitive column closer together than this count as one value [default: the e of `ke`, or 1 % of
    /// the width between the 5th and the 95th percentile].
    #[arg(long = "near", value_name = "COLUMN=WIDTH", value_parser = width_of)]
    pub(crate) near: Vec<(String, String)>,
    /// Accept a risk by name, and say so in the manifest: `disclosure` (rows whose sensitive value can be inferred),
    /// `identifying=COLUMN` (a column kept as it is although it looks like an identifier); repeat for several.
    #[arg(long = "accept", value_name = "RISK")]
    pub(crate) accept: Vec<String>,
    /// With `--person`: attackers know how many rows each person has, so only persons with equally many share a group.
    /// Always so where rows of a person can be counted (every method but generalize and butterfly).
    #[arg(long)]
    pub(crate) rows_known: bool,
    /// With `--person`: keep at most N rows of each person; the others are dropped at random.
    #[arg(long, value_name = "N")]
    pub(crate) rows_per_person: Option<u64>,
    #[command(flatten)]
    pub(crate) prepare: PrepareArgs,
    #[command(flatten)]
    pub(crate) read: ReadArgs,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  chrysalis audit release\n  chrysalis audit release --microdata patients.csv --output json\n  \
                  chrysalis audit release --with earlier-release --microdata patients.csv\n  \
                  chrysalis audit release --sensitive disease,cost\n  \
                  chrysalis audit release --microdata chrysalis.toml\n  \
                  chrysalis audit release --microdata patients.csv --key chrysalis.key\n  \
                  chrysalis audit release --certificate certificate.html\n  \
                  chrysalis audit release --population-table census.csv\n  \
                  chrysalis audit release --sql duckdb > audit.sql"
)]
pub(crate) struct AuditArgs {
    /// The folder that `publish` wrote.
    pub(crate) release: PathBuf,
    /// The table the release was made from: also check that the release is faithful to it. Given a spec (`.toml`), use
    /// the table it names, and also check that every column has the role that the spec gives it.
    #[arg(long, value_name = "FILE")]
    pub(crate) microdata: Option<String>,
    /// Also check what this release and another one of the same people reveal together; repeat for several. Works for
    /// any method with groups.
    #[arg(long = "with", value_name = "DIR")]
    pub(crate) others: Vec<PathBuf>,
    /// For releases of a series: the tables that the releases named with `--with` were made from, in their order. With
    /// `--microdata` and `--person`, check what all releases tell together.
    #[arg(long, value_name = "FILE,…", value_delimiter = ',', requires = "microdata")]
    pub(crate) with_microdata: Vec<String>,
    /// For releases of a series: the ledger that `publish --series` keeps. Check that everybody stands where it says.
    #[arg(long, value_name = "FILE")]
    pub(crate) series: Option<PathBuf>,
    /// A table of the people who could be in the data, with the quasi columns: also check what is promised about them, and
    /// measure presence against it.
    #[arg(long, value_name = "FILE")]
    pub(crate) population_table: Option<PathBuf>,
    /// Columns that must be protected: the audit fails if one of them is published in any role but sensitive. The
    /// tables alone cannot show this.
    #[arg(long = "sensitive", value_name = "COLUMN,…", value_delimiter = ',')]
    pub(crate) sensitive: Vec<String>,
    /// N times, exchange the values of two members of a group, publish again, and count how often the same group is formed
    /// [default: 10 for tables of at most 400 rows, otherwise none].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1_000), requires = "microdata")]
    pub(crate) replay: Option<u16>,
    /// Also write what was found as one page to print, which needs no other file: promises in plain words, what is not
    /// protected, checks, attacks, and the hash of every file.
    #[arg(long, value_name = "FILE.html")]
    pub(crate) certificate: Option<PathBuf>,
    /// Replace a certificate that is already there.
    #[arg(long, requires = "certificate")]
    pub(crate) force: bool,
    /// Audit nothing, but print the audit as SQL for a database that holds the tables (postgres, duckdb, sqlite or spark):
    /// one statement per promise and check, which returns the groups that break it.
    #[arg(long, value_name = "DIALECT", conflicts_with_all = ["microdata", "others", "series", "sensitive", "replay", "certificate"])]
    pub(crate) sql: Option<Dialect>,
    #[command(flatten)]
    pub(crate) source: MicrodataArgs,
    /// How much memory reading a release may take. One that declares more is audited part by part if it was published
    /// cell by cell, and refused otherwise [default: 2GB].
    #[arg(long, value_name = "SIZE", value_parser = memory)]
    pub(crate) memory: Option<Memory>,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  chrysalis series clinic.ledger\n  chrysalis series clinic.ledger --output json")]
pub(crate) struct SeriesArgs {
    /// The ledger that `publish --series` keeps.
    pub(crate) ledger: PathBuf,
}

const EVALUATE_HELP: &str = "\
Measures:
  KL-divergence  in nats, from the true distribution over quasi and sensitive attributes to the one that
                 an analyst would rebuild from the release: 0 means that nothing was lost
  distance       total variation of an attribute's or a pair's shares: 0 the same, 1 nothing in common
  NCP, DM, CAVG  what generalization lost; RCE is pa's reconstruction error
  questions      random ones, asked as `chrysalis query` would: relative errors and widths of bounds

Workloads (s is --selectivity, w is --dimensions, |A| the number of an attribute's values):
  pa            w - 1 quasi attributes and the sensitive one: intervals of |A| s^(1/(w+1)) values  [w: 4]
  angel         w attributes, the sensitive one among them: sets of |A| s^(1/w) values            [w: all]
  ke-range      w ordered quasi attributes: intervals of |A| s^(1/w) values; AVG, SUM, COUNT      [w: 1]
  ke-arbitrary  w quasi attributes: any |A| s^(1/w) values; AVG, SUM, COUNT                       [w: all]
Questions depend on the microdata, these parameters and the seed alone. The seed is fixed unless
given, so that two releases of one table are asked the same questions; it is not a secret.

Examples:
  chrysalis evaluate release --microdata patients.csv
  chrysalis evaluate release --microdata patients.csv --attributes age,sex --attributes zip_code
  chrysalis evaluate release --microdata patients.csv --attributes age --table gt --output json
  chrysalis evaluate release --microdata patients.csv --workload angel --selectivity 0.1 --seed 7
  chrysalis evaluate may --microdata may.csv --with april=april.csv --with march=march.csv";

#[derive(Debug, Args)]
#[command(after_help = EVALUATE_HELP)]
pub(crate) struct EvaluateArgs {
    /// The folder that `publish` wrote.
    pub(crate) release: PathBuf,
    /// The table it was made from.
    #[arg(long, value_name = "FILE")]
    pub(crate) microdata: String,
    /// Other releases of the same series, each with the table it was made from; repeat for several. One line per release
    /// is shown then, by number.
    #[arg(long = "with", value_name = "DIR=FILE", value_parser = path_of, conflicts_with = "holdout")]
    pub(crate) others: Vec<(String, PathBuf)>,
    /// Compare distributions over these quasi attributes as well; repeat for several sets.
    #[arg(long, value_name = "A,B,…")]
    pub(crate) attributes: Vec<String>,
    /// Rebuild distributions over --attributes from this table [default: the narrowest that has them].
    #[arg(long, value_name = "TABLE", requires = "attributes")]
    pub(crate) table: Option<String>,
    /// Which questions to ask: pa, angel, ke-range or ke-arbitrary [default: pa; where the sensitive values are numbers,
    /// ke-range, or ke-arbitrary if no quasi attribute has an order].
    #[arg(long, value_name = "NAME", value_parser = workload)]
    pub(crate) workload: Option<String>,
    /// How many questions; 0 asks none.
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub(crate) queries: usize,
    /// The share of the value space that a question covers.
    #[arg(long, value_name = "S", default_value_t = 0.05)]
    pub(crate) selectivity: f64,
    /// How many attributes a question has conditions on.
    #[arg(long, value_name = "W")]
    pub(crate) dimensions: Option<usize>,
    /// The seed for drawing questions.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// How the release estimates the answers, as in `query`; learned estimates are compared with even ones.
    #[arg(long, value_name = "learned|even", default_value_t, value_parser = estimates)]
    pub(crate) estimate: EstimateMode,
    /// If several columns are sensitive: the one to look at [default: the first].
    #[arg(long, value_name = "COLUMN")]
    pub(crate) about: Option<String>,
    /// How many tables of rows to draw and compare with the microdata; 0 draws none.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) worlds: usize,
    /// The column that learners are to predict [default: the sensitive one].
    #[arg(long, value_name = "COLUMN")]
    pub(crate) target: Option<String>,
    /// Rows like the microdata that were not published, to test learners on [default: one in five of the microdata].
    #[arg(long, value_name = "FILE")]
    pub(crate) holdout: Option<String>,
    #[command(flatten)]
    pub(crate) source: MicrodataArgs,
    /// How much memory reading a release may take; one that declares more is refused [default: 2GB].
    #[arg(long, value_name = "SIZE", value_parser = memory)]
    pub(crate) memory: Option<Memory>,
}

const EXPERIMENT_HELP: &str = "\
For every file, DIR gets NAME.md (the paper's claim, our numbers, what differs and why), NAME.csv and
one picture per panel, NAME….svg. With several files, results.md has all of them. Questions are answered
with the papers' estimates, as by `query --estimate even`.

Without the real data, which are not part of Chrysalis, the made-up hospital of `chrysalis example`
stands in, and the output says so: it shows that an experiment runs, not what the paper measured.

Examples:
  chrysalis experiment experiments/pa-figure-1.toml
  chrysalis experiment experiments/ke-*.toml --data ~/data --out results
  CHRYSALIS_DATA=~/data chrysalis experiment experiments/angel-table-9.toml --output json";

#[derive(Debug, Args)]
#[command(after_help = EXPERIMENT_HELP)]
pub(crate) struct ExperimentArgs {
    /// Files that describe experiments, such as those under `experiments/`.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// The folder with the real data; can also be given as the environment variable CHRYSALIS_DATA.
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// The folder to write to; created if missing. Files with the same names are replaced.
    #[arg(long, value_name = "DIR", default_value = "results")]
    pub(crate) out: PathBuf,
}

#[derive(Debug, Args)]
#[command(after_help = help::compare())]
pub(crate) struct CompareArgs {
    /// A spec (`.toml`), CSV (also gzip or zstd), Parquet, or `-` for standard input.
    pub(crate) file: String,
    #[command(flatten)]
    pub(crate) choices: Choices,
    /// The page to write, an .html file; its numbers go to a .json file of the same name.
    #[arg(long, value_name = "FILE")]
    pub(crate) report: PathBuf,
    /// Which questions to ask: pa, angel, ke-range or ke-arbitrary, as in `evaluate` [default: pa; where the sensitive
    /// values are numbers, ke-range, or ke-arbitrary if no quasi attribute has an order].
    #[arg(long, value_name = "NAME", value_parser = workload)]
    pub(crate) workload: Option<String>,
    /// How many questions; 0 asks none [default: 1000].
    #[arg(long, value_name = "N")]
    pub(crate) queries: Option<usize>,
    /// The share of the value space that a question covers [default: 0.05].
    #[arg(long, value_name = "S")]
    pub(crate) selectivity: Option<f64>,
    /// How many attributes a question has conditions on.
    #[arg(long, value_name = "W")]
    pub(crate) dimensions: Option<usize>,
    /// Use this random seed, for experiments only.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Replace a report that is already there.
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  chrysalis completions bash > ~/.local/share/bash-completion/completions/chrysalis\n  \
                  chrysalis completions zsh > ~/.zfunc/_chrysalis\n  chrysalis completions fish > \
                  ~/.config/fish/completions/chrysalis.fish"
)]
pub(crate) struct CompletionsArgs {
    /// The shell.
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  chrysalis man | man -l -\n  chrysalis man --out ~/.local/share/man/man1")]
pub(crate) struct ManArgs {
    /// The folder to write one page per command to; created if missing.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

const LOAD_HELP: &str = "\
Either all tables are loaded or none. Loading again replaces them; a table of the same name that was
not loaded from a release is left alone, and is an error. The password is best given in PGPASSWORD.

Examples:
  chrysalis load release sqlite:release.db
  PGPASSWORD=… chrysalis load release postgres://ann@localhost:5432/statistics --schema hospital
  chrysalis load release 'postgres://ann@%2Fvar%2Frun%2Fpostgresql/statistics'";

#[derive(Debug, Args)]
#[command(after_help = LOAD_HELP)]
pub(crate) struct LoadArgs {
    /// The folder that `publish` wrote.
    pub(crate) release: PathBuf,
    /// `postgres://USER@HOST:PORT/DATABASE` or `sqlite:FILE`.
    #[arg(value_name = "URL")]
    pub(crate) address: String,
    /// The PostgreSQL schema to load into; created if missing.
    #[arg(long, value_name = "NAME")]
    pub(crate) schema: Option<String>,
    /// How much memory reading a release may take; one that declares more is refused [default: 2GB].
    #[arg(long, value_name = "SIZE", value_parser = memory)]
    pub(crate) memory: Option<Memory>,
}

const QUERY_HELP: &str = "\
Questions:
  SELECT …, aggregate, … FROM microdata [JOIN table ON column = table.column] [WHERE condition]
  [GROUP BY column or expression, …] [HAVING condition] [ORDER BY …] [LIMIT n]
  Aggregates   COUNT(*), COUNT, COUNT(DISTINCT), SUM, AVG, MIN, MAX, MEDIAN, PERCENTILE_CONT, VAR
               and STDDEV of columns and expressions, with FILTER; and arithmetic with them
  Expressions  +, -, *, / (as reals), // (whole part), %, CASE, EXTRACT, FLOOR, ROUND, COALESCE, …
  Conditions   =, <>, <, <=, >, >=, BETWEEN, IN, LIKE, IS NULL; AND, OR, NOT
  Tables       given with --table: a column to join on must be unique there

  Series       FROM microdata VERSION AS OF 3, and SELECT (SELECT …) - (SELECT …) of several months

Answers:
  estimate     what all groups of the release together suggest (learned); with --estimate even, the
               mean over all tables that could have produced this release
  lower, upper the true answer always lies between them
  std_error    how far off the estimate typically is, by experience with real tables; the truth may be
               farther away, but never outside the bounds. With --estimate even, the standard deviation
               over these tables, which is often far too small

Examples:
  chrysalis query release \"SELECT COUNT(*) FROM microdata WHERE age BETWEEN 40 AND 70 AND sex = 'F'\"
  chrysalis query release \"SELECT AVG(cost), MAX(cost) FROM microdata GROUP BY sex\" --explain
  chrysalis query release \"SELECT MEDIAN(cost), STDDEV(cost) FROM microdata GROUP BY age // 10\"
  chrysalis query release --table regions=regions.csv \\
      \"SELECT r.area, AVG(cost) FROM microdata JOIN regions r ON zip_code = r.zip GROUP BY r.area\"
  chrysalis query may \"SELECT (SELECT COUNT(*) FROM microdata WHERE disease = 'flu')
      - (SELECT COUNT(*) FROM microdata VERSION AS OF 4 WHERE disease = 'flu')\" --with april
  chrysalis query release --file questions.sql --output json --estimate even
  echo \"SELECT COUNT(*) FROM microdata WHERE disease LIKE 'F%'\" | chrysalis query release --file -";

#[derive(Debug, Args)]
#[command(after_help = QUERY_HELP)]
pub(crate) struct QueryArgs {
    /// The folder that `publish` wrote.
    pub(crate) release: PathBuf,
    /// The question.
    #[arg(value_name = "SELECT …", required_unless_present = "file", conflicts_with = "file")]
    pub(crate) question: Option<String>,
    /// A file of questions with `;` between them, or `-` for standard input.
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<String>,
    /// Other releases of the same series. Questions are then about the latest release, unless they say which one: FROM
    /// microdata VERSION AS OF 3.
    #[arg(long = "with", value_name = "DIR", num_args = 1..)]
    pub(crate) others: Vec<PathBuf>,
    /// Explain in words where the numbers come from.
    #[arg(long)]
    pub(crate) explain: bool,
    /// A public table that questions may join, or look into with IN (SELECT …): a CSV file with a header; repeat for
    /// several.
    #[arg(long = "table", value_name = "NAME=FILE", value_parser = path_of)]
    pub(crate) tables: Vec<(String, PathBuf)>,
    /// How estimates are made: learned from all groups together, or even, the mean over all tables that could have
    /// produced this release. Bounds are the same.
    #[arg(long, value_name = "learned|even", default_value_t, value_parser = estimates)]
    pub(crate) estimate: EstimateMode,
    /// How much memory reading a release may take; one that declares more is refused [default: 2GB].
    #[arg(long, value_name = "SIZE", value_parser = memory)]
    pub(crate) memory: Option<Memory>,
}

const SAMPLE_HELP: &str = "\
Every table has the original columns and as many rows as the release. In every group it has exactly
the values that were published of the group, and every drawn value lies inside its range or label: it
is a table that could have been published like this. Which one, is drawn from a distribution that is
learned from all groups. No row is a person's own: the output says which columns hold exact values and
which were drawn.

Run an analysis on each of several worlds and pool the results by Rubin's rules: the estimate is the
mean q of the estimates; its variance is the mean of their variances plus (1 + 1/m) times the variance
of the m estimates. Each of several worlds is learned from groups drawn with replacement.

Examples:
  chrysalis sample release --out rows.csv
  chrysalis sample release --out rows.parquet --worlds 5     # rows-1.parquet to rows-5.parquet
  chrysalis sample release --out rows.csv --estimate even --seed 7 --output json";

#[derive(Debug, Args)]
#[command(after_help = SAMPLE_HELP)]
pub(crate) struct SampleArgs {
    /// The folder that `publish` wrote.
    pub(crate) release: PathBuf,
    /// The file to write, .csv or .parquet. Several worlds become NAME-1, NAME-2 and so on.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// How many tables to draw.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) worlds: usize,
    /// The distribution to draw from: `learned` from all groups, or `even`, all allowed tables being equally likely.
    #[arg(long, value_name = "learned|even", default_value_t, value_parser = estimates)]
    pub(crate) estimate: EstimateMode,
    /// How tables are written: parquet or csv [default: by the name of the file].
    #[arg(long, value_name = "FORMAT", value_parser = format)]
    pub(crate) format: Option<String>,
    /// Use this random seed, to draw the same tables again.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Replace files that are already there.
    #[arg(long)]
    pub(crate) force: bool,
    /// How much memory reading a release may take; one that declares more is refused [default: 2GB].
    #[arg(long, value_name = "SIZE", value_parser = memory)]
    pub(crate) memory: Option<Memory>,
}

const REWRITE_HELP: &str = "\
The statement gives the same numbers as `query --estimate even`: the estimate, lower bound, upper
bound and std_error of every aggregate. It covers what `query` answers, but for VAR and STDDEV of
uncertain values, weighted means, and aggregates of columns that are shown as ranges or labels; the
error says why. HAVING, ORDER BY and LIMIT go by the estimates. What public tables say is written
into the statement, so that the database needs no copy of them. PostgreSQL and SQLite get the tables
of the release with `chrysalis load`; DuckDB and Spark read the Parquet files as views with the
names of the tables. SQLite needs its mathematical functions (its shell has them).

Examples:
  chrysalis rewrite release \"SELECT AVG(cost) FROM microdata WHERE age > 50\" --dialect postgres
  chrysalis rewrite release --file q.sql --dialect sqlite | sqlite3 -header release.db
  chrysalis rewrite release --file questions.sql --table places=places.csv --dialect duckdb
  chrysalis rewrite release --file questions.sql --dialect duckdb --output json";

#[derive(Debug, Args)]
#[command(after_help = REWRITE_HELP)]
pub(crate) struct RewriteArgs {
    /// The folder that `publish` wrote.
    pub(crate) release: PathBuf,
    /// The question, as for `query`.
    #[arg(value_name = "SELECT …", required_unless_present = "file", conflicts_with = "file")]
    pub(crate) question: Option<String>,
    /// A file of questions with `;` between them, or `-` for standard input.
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<String>,
    /// The database's SQL: postgres, duckdb, sqlite or spark.
    #[arg(long, value_name = "DIALECT")]
    pub(crate) dialect: Dialect,
    /// A public table that questions may join, or look into with IN (SELECT …): a CSV file with a header; repeat for
    /// several.
    #[arg(long = "table", value_name = "NAME=FILE", value_parser = path_of)]
    pub(crate) tables: Vec<(String, PathBuf)>,
    /// How much memory reading a release may take; one that declares more is refused [default: 2GB].
    #[arg(long, value_name = "SIZE", value_parser = memory)]
    pub(crate) memory: Option<Memory>,
}

const TAXONOMY_HELP: &str = "\
A taxonomy file has one line per value: the value, ever larger groups, and one root, separated by `;`, without a header:
  Bonn;Germany;Europe;*
  Kiel;Germany;Europe;*
Without --data, every file is checked and drawn. With --data and --column, it is compared with the values of the column:
values that have no line, lines whose value never occurs, and how many rows are under every label.
--propose prints a taxonomy for a column: intervals between quantiles for numbers and dates, prefixes for codes of one
length, and for other words groups of neighbours with about equally many rows.

Examples:
  chrysalis taxonomy country.csv
  chrysalis taxonomy country.csv --data patients.csv --column country
  chrysalis taxonomy --propose --data patients.csv --column age > age.csv
  chrysalis publish patients.csv --quasi age --taxonomy age=age.csv --require k=5 \\
      --partitioner full-domain --out release";

#[derive(Debug, Args)]
#[command(after_help = TAXONOMY_HELP)]
pub(crate) struct TaxonomyArgs {
    /// Taxonomy files.
    #[arg(value_name = "FILE", required_unless_present = "propose", conflicts_with = "propose")]
    pub(crate) files: Vec<PathBuf>,
    /// How much memory reading a taxonomy file may take; a file that needs more is refused [default: 2GB].
    #[arg(long, value_name = "SIZE", value_parser = memory, conflicts_with = "propose")]
    pub(crate) memory: Option<Memory>,
    /// Print a taxonomy for the column instead of checking one.
    #[arg(long, requires = "data", requires = "column")]
    pub(crate) propose: bool,
    /// A table: CSV (also gzip or zstd), Parquet, or `-` for standard input.
    #[arg(long, value_name = "FILE", requires = "column")]
    pub(crate) data: Option<String>,
    /// The column of that table.
    #[arg(long, value_name = "COLUMN", requires = "data")]
    pub(crate) column: Option<String>,
    #[command(flatten)]
    pub(crate) read: ReadArgs,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  chrysalis example --out hospital\n  chrysalis example --rows 1500 --months 12 --out hospital\n  chrysalis example --rows 1000000 --seed 7 --out big"
)]
pub(crate) struct ExampleArgs {
    /// The folder to write; it must not exist yet.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Number of patients; most visit the hospital once, some up to eight times.
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    pub(crate) rows: u64,
    /// Also write who is there in each of N months, as month-1.csv and so on: each month a tenth leave, and as many come.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=120))]
    pub(crate) months: Option<u64>,
    /// The same seed gives the same patients.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  chrysalis studio\n  chrysalis studio patients.csv\n  chrysalis studio chrysalis.toml --port 8700"
)]
pub(crate) struct StudioArgs {
    /// A table (CSV or Parquet) to open, or a spec that names one. It is read where it is.
    pub(crate) file: Option<OsString>,
    /// The port to listen on [default: any free one].
    #[arg(long, value_name = "N")]
    pub(crate) port: Option<u16>,
    /// Print the address, and open no browser.
    #[arg(long)]
    pub(crate) no_open: bool,
}
