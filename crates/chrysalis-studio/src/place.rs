//! Where a release may be written: a place that the owner typed, and no other.

use std::path::{Component, Path, PathBuf};

use chrysalis::Error;
use chrysalis::store::{StoreError, check_place};

/// Everything that a publication writes.
pub(crate) struct Place {
    /// The release: a folder of its own.
    pub(crate) release: PathBuf,
    /// Beside it: a page about it, and how it was made. Both would be published if they were inside.
    pub(crate) certificate: PathBuf,
    pub(crate) recipe: PathBuf,
}

/// What was typed, relative to `home`: the place itself, the folder that it is in, and its name there.
fn placed(typed: &str, home: &Path, what: &str, example: &str) -> Result<(PathBuf, String), Error> {
    let typed = typed.trim();
    let wrong = |message: String| Err(Error::request(message, format!("name a {what}, such as `{example}`")));
    if typed.is_empty() {
        return wrong(format!("no {what} is named"));
    }
    if typed.chars().any(char::is_control) {
        return wrong(format!("the name of a {what} has no such characters"));
    }
    let path = Path::new(typed);
    if path.components().any(|part| part == Component::ParentDir) {
        return wrong(format!("the {what} must be named without `..`, so that everybody sees where it is"));
    }
    if typed.starts_with('~') {
        return wrong(format!("`~` is not known here: name the {what} in full"));
    }
    let place = home.join(path);
    let Some(name) = place.file_name().and_then(|name| name.to_str()).map(str::to_owned) else {
        return wrong(format!("this is not the name of a {what}"));
    };
    let parent = place.parent().unwrap_or(home);
    if !parent.is_dir() {
        let message = format!("there is no folder {}", parent.display());
        return Err(Error::request(message, "make it first, or choose another place"));
    }
    Ok((place, name))
}

/// The file that was typed, relative to `home`: for the owner's key.
pub(crate) fn file(typed: &str, home: &Path) -> Result<PathBuf, Error> {
    Ok(placed(typed, home, "file", "chrysalis.key")?.0)
}

impl Place {
    /// The folder that was typed, relative to `home`. It must not exist yet.
    pub(crate) fn of(typed: &str, home: &Path) -> Result<Place, Error> {
        let (release, name) = placed(typed, home, "folder", "release")?;
        let parent = release.parent().unwrap_or(home);
        check_place(&release, false)?;
        let place = Place {
            certificate: parent.join(format!("{name}.certificate.html")),
            recipe: parent.join(format!("{name}.chrysalis.toml")),
            release,
        };
        for path in [&place.certificate, &place.recipe] {
            if path.symlink_metadata().is_ok() {
                return Err(StoreError::Exists { path: path.clone() }.into());
            }
        }
        Ok(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_what_was_typed_and_nothing_above_it() {
        let home = tempfile::tempdir().unwrap();
        let of = |typed: &str| Place::of(typed, home.path());
        assert_eq!(of("out").unwrap().release, home.path().join("out"));
        assert_eq!(of("out").unwrap().recipe, home.path().join("out.chrysalis.toml"));
        for (typed, part) in [
            ("", "no folder is named"),
            ("../out", "without `..`"),
            ("a/../../out", "without `..`"),
            ("~/out", "`~` is not known"),
            ("a\0b", "no such characters"),
            ("missing/out", "there is no folder"),
            ("/", "not the name of a folder"),
        ] {
            let message = of(typed).map(|_| ()).unwrap_err().message;
            assert!(message.contains(part), "{typed}: {message}");
        }
        for typed in ["../key", "~/key", "", "missing/key"] {
            assert!(file(typed, home.path()).is_err(), "{typed}");
        }
        assert_eq!(file("my.key", home.path()).unwrap(), home.path().join("my.key"));
        std::fs::create_dir(home.path().join("there")).unwrap();
        assert!(of("there").is_err());
        std::fs::write(home.path().join("out.chrysalis.toml"), "").unwrap();
        assert!(of("out").is_err());
    }
}
