//! `cargo xtask example`: the README's first command. Makes a hospital table, publishes it, audits
//! the release, and shows each command as a reader would type it.

use std::process::Command;

use crate::shell::{self, Failure};

pub(crate) struct Options {
    rows: usize,
}

impl Options {
    pub(crate) fn parse(arguments: &[String]) -> Result<Self, Failure> {
        let mut options = Self { rows: 20_000 };
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--rows" => options.rows = shell::count("--rows", arguments.next())?,
                _ => return Err(Failure::usage(format!("example has no `{argument}`"))),
            }
        }
        Ok(options)
    }
}

pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let chrysalis = shell::build_chrysalis("tour", &[])?;
    let folder = shell::target_dir().join("example");
    shell::empty_dir(&folder)?;
    let path = |name: &str| folder.join(name).to_string_lossy().into_owned();

    let rows = options.rows.to_string();
    let hospital = path("hospital");
    let spec = path("hospital/chrysalis.toml");
    let patients = path("hospital/patients.csv");
    let release = path("release");
    let commands: [&[&str]; 3] = [
        &["example", "--rows", &rows, "--out", &hospital],
        &["publish", &spec, "--out", &release],
        &["audit", &release, "--microdata", &patients],
    ];
    for arguments in commands {
        println!("\n$ chrysalis {}", arguments.join(" "));
        shell::run(Command::new(&chrysalis).args(arguments))?;
    }
    println!("\nThis build was made quickly and runs at about half speed. For your own tables:");
    println!("  cargo install --path crates/chrysalis-cli");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_twenty_thousand_unless_told() {
        let rows = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
            Options::parse(&words).map(|options| options.rows).ok()
        };
        assert_eq!(rows(&[]), Some(20_000));
        assert_eq!(rows(&["--rows", "500"]), Some(500));
        assert_eq!(rows(&["--rows"]), None);
        assert_eq!(rows(&["--row", "500"]), None);
    }
}
