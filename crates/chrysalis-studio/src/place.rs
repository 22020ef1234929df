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

impl Place {
    /// The folder that was typed, relative to `home`. It must not exist yet.
    pub(crate) fn of(typed: &str, home: &Path) -> Result<Place, Error> {
        let typed = typed.trim();
        let wrong =
            |message: &str| Err(Error::request(message, "name a folder that does not exist yet, such as `release`"));
        if typed.is_empty() {
            return wrong("no folder is named");
        }
        if typed.chars().any(char::is_control) {
            return wrong("the name of a folder has no such characters");
        }
        let path = Path::new(typed);
        if path.components().any(|part| part == Component::ParentDir) {
            return wrong("the folder must be named without `..`, so that everybody sees where it is");
        }
        if typed.starts_with('~') {
            return wrong("`~` is not known here: name the folder in full");
        }
        let release = home.join(path);
        let Some(name) = release.file_name().and_then(|name| name.to_str()).map(str::to_owned) else {
            return wrong("this is not the name of a folder");
        };
        let parent = release.parent().unwrap_or(home);
        if !parent.is_dir() {
            return Err(Error::request(
                format!("there is no folder {}", parent.display()),
                "make it first, or choose another place",
            ));
        }
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
        std::fs::create_dir(home.path().join("there")).unwrap();
        assert!(of("there").is_err());
        std::fs::write(home.path().join("out.chrysalis.toml"), "").unwrap();
        assert!(of("out").is_err());
    }
}
