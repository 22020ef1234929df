//! Files that are in their places stay there.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::fs;

use chrysalis_store::{give_up, write_file, write_folder};

#[test]
fn nobody_gives_up_once_something_is_in_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    write_file(&place("first"), b"1", false).unwrap();
    write_folder(&place("second"), |folder| {
        assert!(!give_up());
        fs::write(folder.join("file"), "2")
    })
    .unwrap();
    assert_eq!(fs::read_to_string(place("second").join("file")).unwrap(), "2");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
}
