//! Where a page may be written: reported before any work is done.

use std::path::Path;

use chrysalis::store::StoreError;

use crate::failure::Failure;

/// The file of a page must end in `.html`. `what` names the page, and `example` says how to ask for it.
pub(super) fn check_page(path: &Path, what: &str, example: &str) -> Result<(), Failure> {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    if !ending.eq_ignore_ascii_case("html") {
        return Err(Failure::bad_input(format!("the {what} {} does not end in .html", path.display()), example));
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.is_dir() {
        let message = format!("there is no folder {} for the {what}", folder.display());
        return Err(Failure::bad_input(message, "make it first, or choose another place"));
    }
    Ok(())
}

/// A file may not take the place of a folder, nor that of another file unless `force` is given.
pub(super) fn check_free(path: &Path, what: &str, force: bool) -> Result<(), Failure> {
    if path.is_dir() {
        let message = format!("{} is a folder, and the {what} is a file", path.display());
        return Err(Failure::bad_input(message, format!("choose another name for the {what}")));
    }
    if !force && path.symlink_metadata().is_ok() {
        return Err(StoreError::Exists { path: path.to_owned() }.into());
    }
    Ok(())
}
