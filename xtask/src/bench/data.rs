//! The rows of the benchmark: CENSUS repeated four times, or the example generator as a stand-in.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::report::grouped;
use super::{Bench, Form};
use crate::shell::{self, Failure};

pub(crate) const CENSUS: &str = "census_sal_500k.csv.gz";
pub(crate) const QUASI: &str = "age,gender,education,marital_status,race,work_class,country";
/// The program that makes rows like CENSUS; it is stored with the data.
pub(crate) const MAKER: &str = "make_census_like.py";
/// The usual place of the data.
const USUAL: &str = "../shared/data";
pub(crate) const TWO_USERS: [&str; 2] = ["age,race,education,gender", "age,race,work_class,marital_status"];
const COPIES: usize = 4;
const STAND_IN_ROWS: usize = 2_000_000;
const STAND_IN_SORT: [&str; 4] = ["age", "sex", "zip_code", "occupation"];

/// One table, and how both programs are told about it.
pub(crate) struct Input {
    pub(crate) name: String,
    pub(crate) csv: PathBuf,
    pub(crate) rows: usize,
    /// The four columns polars sorts by.
    pub(crate) sort_by: Vec<String>,
    /// The file, and the roles of its columns, for `chrysalis publish`.
    pub(crate) publish: Vec<OsString>,
    /// The requirement of the timed runs; `None` leaves it to the spec file.
    pub(crate) requirement: Option<&'static str>,
    /// The other methods to measure on this table.
    pub(crate) forms: &'static [Form],
}

/// CENSUS from the folder the user named, or from its usual place; otherwise the stand-in.
pub(crate) fn prepare(bench: &Bench, named: Option<&Path>) -> Result<Input, Failure> {
    let source = named.unwrap_or(Path::new(USUAL)).join(CENSUS);
    if source.is_file() {
        census(bench, &source)
    } else if named.is_some() {
        Err(Failure::new(format!("there is no {}", source.display())))
    } else {
        stand_in(bench)
    }
}

fn census(bench: &Bench, source: &Path) -> Result<Input, Failure> {
    let csv = bench.file("census_2m.csv");
    let text = decompress(bench, source)?;
    let rows = repeat_rows(&text, COPIES, &csv)?;
    let publish = [csv.as_os_str(), "--quasi".as_ref(), QUASI.as_ref()];
    let sensitive = ["--sensitive".into(), "salary_class".into()];
    Ok(Input {
        name: format!("CENSUS (salary), {CENSUS} {COPIES} times"),
        rows,
        sort_by: QUASI.split(',').take(4).map(str::to_owned).collect(),
        publish: publish.map(OsString::from).into_iter().chain(sensitive).collect(),
        requirement: Some("l=10"),
        forms: &super::FORMS,
        csv,
    })
}

/// CENSUS once, and its number of rows.
pub(crate) fn census_once(bench: &Bench, named: Option<&Path>) -> Result<(PathBuf, usize), Failure> {
    let source = named.unwrap_or(Path::new(USUAL)).join(CENSUS);
    if !source.is_file() {
        return Err(Failure::new(format!(
            "there is no {}: name the folder that holds it with --data",
            source.display()
        )));
    }
    let csv = bench.file("census_500k.csv");
    let rows = repeat_rows(&decompress(bench, &source)?, 1, &csv)?;
    Ok((csv, rows))
}

/// The folder that the user named, or the usual one.
pub(crate) fn folder(named: Option<&Path>) -> PathBuf {
    named.unwrap_or(Path::new(USUAL)).to_owned()
}

/// What one run of [`MAKER`] makes at most: it holds all its rows.
const ROWS_AT_ONCE: usize = 10_000_000;

/// Rows like CENSUS with both sensitive columns, made once by [`MAKER`], with a seed of its own for every ten million; always
/// the same for one number of rows.
pub(crate) fn census_like(bench: &Bench, folder: &Path, rows: usize) -> Result<PathBuf, Failure> {
    let maker = folder.join(MAKER);
    if !maker.is_file() {
        let problem = format!("there is no {}: name the folder that holds it with --data", maker.display());
        return Err(Failure::new(problem));
    }
    let csv = bench.file(&format!("census_like_{rows}.csv"));
    if !csv.is_file() {
        println!("making {} rows with {MAKER}", grouped(rows));
        let (piece, unfinished) = (bench.file("census_like.piece.csv"), bench.file("census_like.part.csv"));
        let cannot = |error: io::Error| Failure::new(format!("cannot keep {}: {error}", csv.display()));
        let mut all = File::create(&unfinished).map_err(cannot)?;
        for (seed, start) in (1..).zip((0..rows).step_by(ROWS_AT_ONCE)) {
            let n = ROWS_AT_ONCE.min(rows - start).to_string();
            let mut make = Command::new(&bench.python);
            make.env("PYTHONDONTWRITEBYTECODE", "1").arg(&maker).args([n, i32::to_string(&seed)]).arg(&piece);
            shell::run(&mut make)?;
            append(&piece, &mut all, start == 0).map_err(cannot)?;
        }
        fs::remove_file(&piece).and_then(|()| fs::rename(&unfinished, &csv)).map_err(cannot)?;
    }
    Ok(csv)
}

/// Adds a file of rows to another one, with its header or without.
fn append(piece: &Path, all: &mut File, with_header: bool) -> io::Result<()> {
    let mut rows = BufReader::new(File::open(piece)?);
    if !with_header {
        rows.read_until(b'\n', &mut Vec::new())?;
    }
    io::copy(&mut rows, all).map(drop)
}

/// CENSUS once, with two quasi-identifiers; `None` if it cannot be found.
pub(crate) fn for_two_users(bench: &Bench, named: Option<&Path>) -> Result<Option<Input>, Failure> {
    if !named.unwrap_or(Path::new(USUAL)).join(CENSUS).is_file() {
        return Ok(None);
    }
    let (csv, rows) = census_once(bench, named)?;
    let mut publish = vec![csv.clone().into_os_string()];
    publish.extend(TWO_USERS.iter().flat_map(|set| ["--quasi".into(), OsString::from(set)]));
    Ok(Some(Input {
        name: format!("CENSUS (salary), {CENSUS}, for two users"),
        rows,
        sort_by: QUASI.split(',').take(4).map(str::to_owned).collect(),
        publish,
        requirement: None,
        forms: &super::FOR_TWO_USERS,
        csv,
    }))
}

fn stand_in(bench: &Bench) -> Result<Input, Failure> {
    let parent = bench.file("stand-in");
    shell::empty_dir(&parent)?;
    let folder = parent.join("hospital");
    let mut make = Command::new(&bench.chrysalis);
    make.args(["example", "--rows", &STAND_IN_ROWS.to_string(), "--out"]).arg(&folder);
    shell::run(make.stdout(Stdio::null()))?;
    let csv = folder.join("patients.csv");
    Ok(Input {
        name: format!("the example generator's hospital table (no {CENSUS} found: a stand-in)"),
        rows: STAND_IN_ROWS,
        sort_by: STAND_IN_SORT.map(str::to_owned).to_vec(),
        publish: vec![folder.join("chrysalis.toml").into_os_string()],
        requirement: None,
        forms: &[],
        csv,
    })
}

/// The text of a gzip file, decompressed by `gzip` or else by Python.
fn decompress(bench: &Bench, source: &Path) -> Result<Vec<u8>, Failure> {
    let mut gzip = Command::new("gzip");
    gzip.arg("-dc").arg(source);
    let mut python = Command::new(&bench.python);
    let script = "import gzip, shutil, sys\n\
                  shutil.copyfileobj(gzip.open(sys.argv[1]), sys.stdout.buffer)";
    python.args(["-c", script]).arg(source);
    for command in [&mut gzip, &mut python] {
        match command.stdin(Stdio::null()).output() {
            Ok(output) if output.status.success() => return Ok(output.stdout),
            _ => {}
        }
    }
    Err(Failure::new(format!("cannot decompress {}", source.display())))
}

/// Writes the header once and the rows `copies` times; returns the resulting number of rows.
fn repeat_rows(text: &[u8], copies: usize, target: &Path) -> Result<usize, Failure> {
    let header_end = text.iter().position(|&byte| byte == b'\n').map_or(text.len(), |at| at + 1);
    let (header, rows) = text.split_at(header_end);
    let n_rows = rows.iter().filter(|&&byte| byte == b'\n').count();
    let write = || -> io::Result<()> {
        let mut file = BufWriter::new(File::create(target)?);
        file.write_all(header)?;
        for _ in 0..copies {
            file.write_all(rows)?;
        }
        file.flush()
    };
    write().map_err(|error| Failure::new(format!("cannot write {}: {error}", target.display())))?;
    Ok(n_rows * copies)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_repeated_under_one_header() {
        let target = std::env::temp_dir().join(format!("xtask-rows-{}.csv", std::process::id()));
        let rows = repeat_rows(b"a,b\n1,2\n3,4\n", 2, &target).unwrap();
        let text = std::fs::read_to_string(&target).unwrap();
        std::fs::remove_file(&target).unwrap();
        assert_eq!((rows, text.as_str()), (4, "a,b\n1,2\n3,4\n1,2\n3,4\n"));
    }
}
