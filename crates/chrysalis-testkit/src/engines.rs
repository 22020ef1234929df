//! Databases as referees: DuckDB, SQLite and Spark through Python, and a PostgreSQL server that a test starts.
//!
//! A missing referee is no failure: the functions print why and return `None`, and the test is skipped.

#![allow(clippy::print_stderr, reason = "a test that skips says so")]

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::{env, fs};

use tempfile::TempDir;

/// A Python process that runs statements in DuckDB, SQLite or Spark.
pub struct Engine {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Engine {
    /// DuckDB over the Parquet files of a release's folder.
    pub fn duckdb(folder: &Path) -> Option<Engine> {
        Engine::of_referee("duckdb", folder)
    }

    /// SQLite over a file.
    pub fn sqlite(file: &Path) -> Option<Engine> {
        Engine::of_referee("sqlite", file)
    }

    /// Spark over the Parquet files of a release's folder, only if the environment names a Python that has it: Spark is
    /// large, and needs Java.
    pub fn spark(folder: &Path) -> Option<Engine> {
        let python = env::var_os("CHRYSALIS_SPARK_PYTHON");
        if python.is_none() {
            eprintln!("skipped Spark: CHRYSALIS_SPARK_PYTHON names no Python with pyspark");
        }
        python.map(|python| Engine::start(Path::new(&python), "spark", folder))
    }

    fn of_referee(name: &str, path: &Path) -> Option<Engine> {
        let Some(python) = python() else {
            eprintln!("skipped: no Python with DuckDB (see `cargo xtask referees`)");
            return None;
        };
        Some(Engine::start(&python, name, path))
    }

    fn start(python: &Path, name: &str, path: &Path) -> Engine {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../referee/engines.py");
        let mut command = Command::new(python);
        command.arg(script).arg(name).arg(path).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        Engine { child, input, output }
    }

    /// The rows of a statement, as JSON; or the database's error message.
    ///
    /// # Errors
    /// When the database refuses the statement.
    ///
    /// # Panics
    /// When the process is gone.
    pub fn ask(&mut self, sql: &str) -> Result<Vec<Vec<serde_json::Value>>, String> {
        let line = serde_json::json!({ "sql": sql }).to_string();
        writeln!(self.input, "{line}").unwrap();
        let mut answer = String::new();
        self.output.read_line(&mut answer).unwrap();
        let answer: serde_json::Value = serde_json::from_str(&answer).unwrap();
        match answer.get("error") {
            Some(error) => Err(error.as_str().unwrap_or_default().to_owned()),
            None => Ok(serde_json::from_value(answer["rows"].clone()).unwrap()),
        }
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The Python of the referees: the one that the environment names, or the one that `cargo xtask referees` makes.
fn python() -> Option<PathBuf> {
    if let Some(python) = env::var_os("CHRYSALIS_REFEREE_PYTHON") {
        return Some(python.into());
    }
    let python = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/referee/bin/python");
    let works = |python: &Path| {
        let mut command = Command::new(python);
        command.args(["-c", "import duckdb"]).output().is_ok_and(|output| output.status.success())
    };
    works(&python).then_some(python)
}

/// A PostgreSQL server with an empty database, reached through a socket in a folder of its own, stopped when dropped.
///
/// The user `chrysalis` needs no password; the user `guarded` has the password `right`.
pub struct PostgresServer {
    folder: TempDir,
    programs: PathBuf,
}

impl PostgresServer {
    /// Makes and starts a server.
    ///
    /// # Panics
    /// When PostgreSQL is there but does not start.
    pub fn start() -> Option<PostgresServer> {
        let Some(programs) = programs() else {
            eprintln!("skipped: PostgreSQL is not installed (see `cargo xtask referees`)");
            return None;
        };
        let folder = tempfile::Builder::new().prefix("chrysalis-pg").tempdir_in("/tmp").unwrap();
        if is_root() {
            let mut command = Command::new("chown");
            assert!(command.arg("nobody").arg(folder.path()).status().unwrap().success());
        }
        let server = PostgresServer { folder, programs };
        let data = server.data();
        let init = |locale: &str| {
            let options = "-U chrysalis --auth=trust -E UTF8 -N";
            server.run("initdb", &format!("-D '{}' {options} {locale}", data.display()))
        };
        // Prefer a collation in which the order of words is not that of their bytes.
        if let Err(said) = init("--locale=C --locale-provider=icu --icu-locale=en-US") {
            let _ = fs::remove_dir_all(&data);
            init("--locale=C").unwrap_or_else(|again| panic!("initdb failed: {said}\n{again}"));
        }
        fs::write(data.join("pg_hba.conf"), "local all guarded scram-sha-256\nlocal all all trust\n").unwrap();
        let socket = server.folder.path().display();
        let options = format!("-k {socket} -c listen_addresses= -c fsync=off -c max_connections=20");
        let log = server.folder.path().join("log");
        let start = format!("-D '{}' -w -l '{}' -o \"{options}\" start", data.display(), log.display());
        server.run("pg_ctl", &start).unwrap_or_else(|said| panic!("pg_ctl failed: {said}"));
        Some(server)
    }

    /// The address of its database, for a user and perhaps a password.
    pub fn address(&self, user: &str) -> String {
        let socket = self.folder.path().display().to_string().replace('/', "%2F");
        format!("postgres://{user}@{socket}/postgres")
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Runs one of PostgreSQL's programs as a user it accepts: it refuses root.
    fn run(&self, program: &str, arguments: &str) -> Result<(), String> {
        let line = format!("cd / && '{}' {arguments}", self.programs.join(program).display());
        let mut command = if is_root() { Command::new("su") } else { Command::new("sh") };
        if is_root() {
            command.args(["nobody", "-s", "/bin/sh"]);
        }
        // Output goes to a file, not a pipe: the server keeps what it inherits open.
        let said = tempfile::NamedTempFile::new().unwrap();
        let output = said.reopen().unwrap();
        command.args(["-c", &line]).stdin(Stdio::null());
        command.stdout(output.try_clone().unwrap()).stderr(output);
        let status = command.status().map_err(|error| error.to_string())?;
        if status.success() { Ok(()) } else { Err(fs::read_to_string(said.path()).unwrap_or_default()) }
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        // Finds the server by the pid file in its own folder, and stops no other.
        let _ = self.run("pg_ctl", &format!("-D '{}' -m immediate -w stop", self.data().display()));
    }
}

fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout == b"0\n")
}

/// The folder of `initdb` and `pg_ctl`: where Debian puts them, or on the path.
fn programs() -> Option<PathBuf> {
    let on_path = env::var_os("PATH").into_iter().flat_map(|path| env::split_paths(&path).collect::<Vec<_>>());
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut versions: Vec<PathBuf> = versions.map(|entry| entry.path().join("bin")).collect();
    versions.sort();
    let found = |folder: &PathBuf| folder.join("initdb").is_file() && folder.join("pg_ctl").is_file();
    versions.into_iter().rev().chain(on_path).find(found)
}
