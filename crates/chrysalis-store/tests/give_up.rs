//! Giving up, which a process can do only once.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use chrysalis_store::{give_up, write_file, write_folder};

fn names(folder: &Path) -> Vec<String> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn what_is_being_written_goes_and_nothing_can_be_written_after() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    let (told, heard) = mpsc::channel();
    let [half, whole] = ["half", "whole"].map(place);
    thread::spawn(move || {
        let _ = write_folder(&half, |folder| {
            fs::write(folder.join("first"), "1")?;
            told.send("half").unwrap();
            // Like a thread that does not notice that all is over.
            for file in 0.. {
                fs::write(folder.join(file.to_string()), "more")?;
            }
            Ok(())
        });
        told.send("never").unwrap();
    });
    assert_eq!(heard.recv().unwrap(), "half");
    assert_eq!(names(folder.path()).len(), 1, "beside its place");
    assert!(give_up());
    assert_eq!(names(folder.path()), [] as [String; 0]);
    let (told, heard) = mpsc::channel();
    thread::spawn(move || told.send(write_file(&whole, b"late", false)).unwrap());
    assert!(heard.recv_timeout(Duration::from_millis(200)).is_err(), "nobody writes any more");
    assert_eq!(names(folder.path()), [] as [String; 0]);
}
