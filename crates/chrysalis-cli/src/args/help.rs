//! Help that follows from the catalogue.

use chrysalis::catalogue::{DEFAULT_METHOD, METHODS, MethodEntry, PARTITIONERS, PRINCIPLES, PartitionerEntry};
use chrysalis::{Form, Spelling};

use crate::failure::Flags;

/// Methods, partitioners and principles, then examples.
pub(super) fn publish() -> String {
    let examples = examples();
    let methods: String = METHODS.iter().map(method).collect();
    let partitioners: String = PARTITIONERS.iter().map(partitioner).collect();
    let principles: String =
        PRINCIPLES.iter().map(|entry| format!("  {:<23}  {}\n", entry.example, entry.about)).collect();
    format!(
        "Methods:\n{methods}\nPartitioners:\n{partitioners}\nPrinciples for --require (several may be given; all must hold in every \
         group):\n{principles}\n{examples}"
    )
}

fn method(entry: &MethodEntry) -> String {
    let mut lines = entry.about.lines().map(str::to_owned).collect::<Vec<_>>();
    if !entry.knobs.is_empty() {
        let knobs: Vec<String> = entry.knobs.iter().map(|&knob| Flags.knob(knob, "")).collect();
        lines.push(format!("({})", knobs.join(", ")));
    }
    let names = std::iter::once(entry.form.name()).chain(std::iter::repeat(""));
    names.zip(lines).map(|(name, line)| format!("  {name:<13}{line}\n")).collect()
}

/// What it does, its own flags, and the methods that use it where nobody names one.
fn partitioner(entry: &PartitionerEntry) -> String {
    let knobs: Vec<String> = entry.knobs.iter().map(|&knob| Flags.knob(knob, "")).collect();
    let knobs = if knobs.is_empty() { String::new() } else { format!(" ({})", knobs.join(", ")) };
    let uses = |form: &&Form| chrysalis::catalogue::method(**form).partitioner == Some(entry.name);
    let users: Vec<&str> = Form::ALL.iter().filter(uses).map(|form| form.name()).collect();
    let users = if users.is_empty() { String::new() } else { format!(" [{}]", users.join(", ")) };
    format!("  {:<15}{}{knobs}{users}\n", entry.name, entry.about)
}

/// What stands beside the flag for a method.
pub(super) fn method_flag() -> String {
    let names: Vec<&str> = Form::ALL.iter().map(|form| form.name()).collect();
    let (last, others) = names.split_last().unwrap_or((&"", &[]));
    format!("How the groups are shown: {} or {last} [default: {DEFAULT_METHOD}]", others.join(", "))
}

fn examples() -> String {
    let (anatomy, shuffle, angel) = (Form::Anatomy, Form::Shuffle, Form::Angel);
    format!(
        "\
Examples:
  chrysalis publish chrysalis.toml --out release
  chrysalis publish patients.csv --quasi age,sex --sensitive disease --method {anatomy} \\
      --require l=4 --out release
  chrysalis publish patients.csv --quasi age,sex --sensitive cost --method {shuffle} \\
      --require ke=4,1000 --out release
  chrysalis publish patients.csv --quasi age,sex,zip_code --sensitive disease --method {angel} \\
      --require l=4 --require k=10 --marginal age,sex --marginal zip_code --out release
  chrysalis publish patients.csv --quasi age,sex,zip_code --sensitive disease \\
      --require k=10 --require l=4 --out release
  chrysalis publish patients.csv --quasi age,country --taxonomy country=country.csv \\
      --intervals age=5,10,20 --sensitive disease --require t=0.2 --out release --format csv
  chrysalis publish patients.csv --quasi age,zip_code --intervals age=5,10,20 --prefix zip_code \\
      --require k=5 --partitioner full-domain --suppress 0.05 --out release
  chrysalis publish patients.csv --quasi age,zip_code --intervals age=5,10,20 --prefix zip_code \\
      --require k=5 --partitioner full-domain --metric entropy --levels age=1 --out release
  chrysalis publish patients.csv --quasi age,zip_code --intervals age=5,10,20 --prefix zip_code \\
      --require k-map=5 --population-table census.csv --partitioner full-domain --out release
  chrysalis publish patients.csv --quasi age,sex --sensitive disease --require k=10 \\
      --prepare age=top:90 --prepare age=round:5 --out release
  chrysalis publish may.csv --quasi age,sex --sensitive disease --person patient_id \\
      --require l=4 --series ledger --only-new --like april --out may
  chrysalis publish patients.csv --quasi age,sex --sensitive disease \\
      --require distinct-l-alpha=3,1 --categories 'disease=HIV|Cancer;Hepatitis;Flu|Cold' \\
      --weights 'sensitivity(2)' --out release"
    )
}

/// How to list the releases of a comparison.
pub(super) fn compare() -> String {
    let (generalize, anatomy) = (Form::Generalize, Form::Anatomy);
    format!(
        "\
Every release is made in memory, audited and measured against the microdata. The page needs no network
and no other file; the same numbers go to a .json file beside it. Both are for the owner of the data.

Runs are listed in the spec. Settings that a run leaves out come from [release]:
  [[compare.runs]]
  method = \"{anatomy}\"
  require = [\"l={{l}}\"]
  vary = {{ l = [2, 4, 6, 8, 10] }}

  [[compare.runs]]
  name = \"coarse ages\"
  method = \"{generalize}\"
  partitioner = \"mondrian\"
If no runs are listed, every suitable method is tried with its usual partitioners.

Examples:
  chrysalis compare chrysalis.toml --report comparison.html
  chrysalis compare patients.csv --quasi age,sex --sensitive disease --require l=4 \\
      --report comparison.html
  chrysalis compare chrysalis.toml --report comparison.html --force --output csv > comparison.csv"
    )
}
