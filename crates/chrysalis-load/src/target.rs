use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use postgres::Config;
use postgres::config::Host;

use crate::LoadError;

/// A database that can hold a release.
#[derive(Clone)]
pub enum Target {
    /// A PostgreSQL server.
    Postgres(Box<Server>),
    /// A SQLite file, which need not exist yet.
    Sqlite(PathBuf),
}

/// Where a PostgreSQL server is and what to use there.
#[derive(Clone)]
pub struct Server {
    pub(crate) config: Config,
    pub(crate) schema: Option<String>,
}

/// How long a server may take to answer at all.
const PATIENCE: Duration = Duration::from_secs(10);

impl Target {
    /// Reads `postgres://…` or `sqlite:FILE`. `password` is used if the address has none.
    pub fn parse(address: &str, schema: Option<&str>, password: Option<&str>) -> Result<Target, LoadError> {
        let refuse = |problem: &str| Err(LoadError::Address { problem: problem.to_owned() });
        if let Some(file) = address.strip_prefix("sqlite:") {
            let file = file.strip_prefix("//").unwrap_or(file);
            return match (file, schema) {
                ("", _) => refuse("it names no file"),
                (_, Some(_)) => refuse("SQLite has no schemas, so a schema needs PostgreSQL"),
                (file, None) => Ok(Target::Sqlite(PathBuf::from(file))),
            };
        }
        if !address.starts_with("postgres://") && !address.starts_with("postgresql://") {
            return refuse("it starts neither with postgres:// nor with sqlite:");
        }
        if schema.is_some_and(str::is_empty) {
            return refuse("the name of the schema is empty");
        }
        // LEAK: the parser's own message may repeat parts of the address, and with them a password.
        let Ok(mut config) = address.parse::<Config>() else {
            return refuse("it is not of the form postgres://user@host:port/database");
        };
        if config.get_hosts().is_empty() {
            config.host("localhost");
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(PATIENCE);
        }
        if config.get_password().is_none() {
            password.map(|password| config.password(password));
        }
        config.application_name("chrysalis");
        Ok(Target::Postgres(Box::new(Server { config, schema: schema.map(str::to_owned) })))
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Postgres(server) => server.fmt(f),
            Target::Sqlite(file) => write!(f, "sqlite:{}", file.display()),
        }
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Target({self})")
    }
}

/// The address without the password.
impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("postgres://")?;
        if let Some(user) = self.config.get_user() {
            write!(f, "{user}@")?;
        }
        match self.config.get_hosts().first() {
            Some(Host::Tcp(host)) => f.write_str(host)?,
            Some(Host::Unix(folder)) => write!(f, "{}", Path::display(folder))?,
            None => {}
        }
        if let Some(port) = self.config.get_ports().first() {
            write!(f, ":{port}")?;
        }
        write!(f, "/{}", self.config.get_dbname().or(self.config.get_user()).unwrap_or_default())
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Server({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_shown_without_its_password() {
        let check = |address: &str, shown: &str| {
            let target = Target::parse(address, None, Some("s3cret")).unwrap();
            assert_eq!(target.to_string(), shown);
            assert!(!format!("{target:?}").contains("s3cret"));
        };
        check("postgres://ann:s3cret@db.example:5433/stats", "postgres://ann@db.example:5433/stats");
        check("postgresql://ann@localhost", "postgres://ann@localhost:5432/ann");
        check("postgres://ann@%2Ftmp%2Fsocket/stats", "postgres://ann@/tmp/socket:5432/stats");
        check("sqlite:a.db", "sqlite:a.db");
        check("sqlite:///tmp/a.db", "sqlite:/tmp/a.db");
    }

    #[test]
    fn bad_addresses_are_refused_without_repeating_them() {
        for address in ["", "mysql://ann:s3cret@host", "sqlite:", "postgres://ann:s3cret@host:port/db", "a.db"] {
            let error = Target::parse(address, None, None).unwrap_err();
            assert!(!error.to_string().contains("s3cret"), "{error}");
        }
        let error = Target::parse("sqlite:a.db", Some("x"), None).unwrap_err();
        assert!(error.to_string().ends_with("SQLite has no schemas, so a schema needs PostgreSQL"), "{error}");
        assert!(Target::parse("postgres://localhost/x", Some(""), None).is_err());
    }
}
