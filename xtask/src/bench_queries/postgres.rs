//! The benchmark's own PostgreSQL server, with default settings except for its socket, stopped when dropped.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::shell::{self, Failure};

pub(super) struct Server {
    /// Short, because socket paths must be short; outside the repository, because the server's user must have access.
    folder: PathBuf,
    programs: PathBuf,
}

impl Server {
    pub(super) fn start(programs: PathBuf) -> Result<Self, Failure> {
        let folder = std::env::temp_dir().join(format!("chrysalis-bench-pg-{}", std::process::id()));
        shell::empty_dir(&folder)?;
        if is_root() {
            shell::run(Command::new("chown").arg("nobody").arg(&folder))?;
        }
        let server = Server { folder, programs };
        let (folder, data) = (server.folder.display(), server.data());
        let data = data.display();
        server.run("initdb", &format!("-D '{data}' -U chrysalis --auth=trust -E UTF8 -N --locale=C"))?;
        let options = format!("-k {folder} -c listen_addresses=");
        server.run("pg_ctl", &format!("-D '{data}' -w -l '{folder}/log' -o \"{options}\" start"))?;
        Ok(server)
    }

    /// The address of its database, for `chrysalis load`.
    pub(super) fn address(&self) -> String {
        format!("postgres://chrysalis@{}/postgres", self.folder.display().to_string().replace('/', "%2F"))
    }

    /// Runs a script and returns the output of psql.
    pub(super) fn psql(&self, script: &str, file: &Path) -> Result<String, Failure> {
        let cannot = |error| Failure::new(format!("cannot write {}: {error}", file.display()));
        fs::write(file, script).map_err(cannot)?;
        let mut command = Command::new(self.programs.join("psql"));
        command.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-U", "chrysalis", "-d", "postgres", "-h"]);
        command.arg(&self.folder).arg("-f").arg(file).env("PGOPTIONS", "").stdin(Stdio::null());
        let output = command
            .output()
            .map_err(|error| Failure::new(format!("cannot start {}: {error}", shell::shown(&command))))?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        Err(Failure::new(format!("{} failed: {}", shell::shown(&command), said.trim())))
    }

    fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    /// Runs one of PostgreSQL's programs as a user that it accepts, because it refuses to run as root.
    fn run(&self, program: &str, arguments: &str) -> Result<(), Failure> {
        let line = format!("cd / && '{}' {arguments}", self.programs.join(program).display());
        let mut command = if is_root() { Command::new("su") } else { Command::new("sh") };
        if is_root() {
            command.args(["nobody", "-s", "/bin/sh"]);
        }
        // To a file, not a pipe: the server keeps inherited handles open.
        let said = self.folder.with_extension("said");
        let file = File::create(&said).and_then(|file| Ok((file.try_clone()?, file)));
        let (out, err) = file.map_err(|error| Failure::new(format!("cannot write {}: {error}", said.display())))?;
        command.args(["-c", &line]).stdin(Stdio::null()).stdout(out).stderr(err);
        let done = shell::run(&mut command);
        let text = fs::read_to_string(&said).unwrap_or_default();
        // Nothing depends on its removal.
        let _ = fs::remove_file(&said);
        done.map_err(|failure| Failure::new(format!("{}: {}", failure.message, text.trim())))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Stops by the pid file in its own folder, and stops only that server.
        let _ = self.run("pg_ctl", &format!("-D '{}' -m immediate -w stop", self.data().display()));
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout == b"0\n")
}

/// The seconds of every statement that psql timed, in order.
pub(super) fn seconds(printed: &str) -> Vec<f64> {
    let times = printed.lines().filter_map(|line| line.strip_prefix("Time: "));
    times.filter_map(|time| time.split(' ').next()?.parse::<f64>().ok()).map(|ms| ms / 1000.0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn psql_times_are_milliseconds() {
        assert_eq!(seconds("614852\nTime: 250.000 ms\n1|2\nTime: 1500.000 ms (00:01.500)\n"), [0.25, 1.5]);
    }
}
