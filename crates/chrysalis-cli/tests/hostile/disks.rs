//! Places that cannot be written.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::Ground;
use crate::common::{self, Release};

const TABLE: &[u8] = b"a,b\n1,x\n2,y\n3,x\n4,y\n5,x\n6,z\n";
const PUBLISH: &str = "publish t.csv --quasi a --sensitive b --require k=2";

#[test]
fn folders_that_are_there_are_not_overwritten() {
    let mut ground = Ground::new(&[("t.csv", TABLE), ("folder/precious.txt", b"precious"), ("file", b"precious")]);
    for out in ["folder", "file", ".", "..", "/", "t.csv"] {
        ground.refuses(&format!("{PUBLISH} --out {out}"), &[2]);
        ground.refuses(&format!("{PUBLISH} --out {out} --force"), &[2]);
    }
    common::run(ground.path(), &format!("{PUBLISH} --out release --seed 1")).expect(0);
    ground.refuses(&format!("{PUBLISH} --out release"), &[2]);
    ground.refuses(&format!("{PUBLISH} --out release/"), &[2]);
    ground.refuses("init t.csv --out file", &[2]);
    ground.refuses("init t.csv --out folder", &[2]);
    ground.refuses("init t.csv --out folder --force", &[2]);
    ground.refuses("example --out folder", &[2]);
    ground.refuses("example --out file", &[2]);
    ground.done();
}

#[test]
fn links_are_not_followed_to_what_they_replace() {
    let mut ground = Ground::new(&[("t.csv", TABLE)]);
    common::run(ground.path(), &format!("{PUBLISH} --out release --seed 1")).expect(0);
    std::os::unix::fs::symlink("nowhere", ground.path().join("dangling")).unwrap();
    std::os::unix::fs::symlink("release", ground.path().join("link")).unwrap();
    for out in ["dangling", "link"] {
        ground.refuses(&format!("{PUBLISH} --out {out}"), &[2]);
        ground.refuses(&format!("{PUBLISH} --out {out} --force"), &[2]);
    }
    ground.done();
}

#[test]
fn a_release_folder_with_a_strangers_file_is_not_replaced() {
    let mut ground = Ground::new(&[("t.csv", TABLE)]);
    common::run(ground.path(), &format!("{PUBLISH} --out release --seed 1")).expect(0);
    fs::write(ground.path().join("release/notes.txt"), "precious").unwrap();
    ground.refuses(&format!("{PUBLISH} --out release --force"), &[2]);
    ground.done();
}

#[test]
fn places_that_cannot_be_written_are_refused() {
    let mut ground = Ground::new(&[("t.csv", TABLE)]);
    for out in ["t.csv/release", "absent/release", "/proc/release", "/proc/self/release", "/dev/null/release"] {
        ground.refuses(&format!("{PUBLISH} --out {out}"), &[2]);
        ground.refuses(&format!("example --rows 10 --out {out}"), &[2]);
        ground.refuses(&format!("init t.csv --out {out}"), &[2]);
    }
    let long = "x".repeat(300);
    ground.refuses(&format!("{PUBLISH} --out {long}"), &[2]);
    ground.done();
}

#[test]
fn messages_do_not_name_our_own_temporary_files() {
    let ground = Ground::new(&[("t.csv", TABLE)]);
    let outcome = common::run(ground.path(), &format!("{PUBLISH} --out absent/release")).expect(2);
    assert!(!outcome.stderr.contains(".chrysalis-"), "{outcome}");
}

/// A tmpfs that is unmounted when this value is dropped. Mounting needs root; without it, `mount` says so and returns
/// `None`.
struct Disk {
    folder: PathBuf,
}

impl Disk {
    fn mount(folder: &Path, size: &str) -> Option<Self> {
        fs::create_dir(folder).unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"]).arg(folder);
        let mounted = mount.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success());
        if !mounted {
            eprintln!("skipped: cannot mount a tmpfs here, which needs root");
        }
        mounted.then(|| Disk { folder: folder.to_path_buf() })
    }

    fn make_read_only(&self) {
        let status = Command::new("mount").args(["-o", "remount,ro"]).arg(&self.folder).status().unwrap();
        assert!(status.success());
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(&self.folder).status();
    }
}

/// Writes until nothing more fits.
fn fill(disk: &Disk) {
    let mut file = fs::File::create(disk.folder.join("filler")).unwrap();
    while file.write_all(&[0; 512]).is_ok() {}
}

#[test]
fn a_full_disk_leaves_nothing_behind() {
    let mut ground = Ground::new(&[]);
    let Some(disk) = Disk::mount(&ground.path().join("disk"), "16k") else { return };
    let hospital = tempfile::tempdir().unwrap();
    common::run(hospital.path(), "example --rows 3000 --out hospital").expect(0);
    let hospital = hospital.path().join("hospital");
    for format in ["csv", "parquet"] {
        let spec = hospital.join("chrysalis.toml");
        ground.refuses(&format!("publish {} --format {format} --out disk/release", spec.display()), &[2]);
    }
    ground.refuses("example --rows 3000 --out disk/example", &[2]);
    fill(&disk);
    ground.refuses(&format!("init {} --out disk/spec.toml", hospital.join("patients.csv").display()), &[2]);
    drop(disk);
    ground.done();
}

#[test]
fn a_full_disk_leaves_the_release_and_the_spec_that_were_to_be_replaced() {
    let mut ground = Ground::new(&[("t.csv", TABLE)]);
    let Some(disk) = Disk::mount(&ground.path().join("disk"), "40k") else { return };
    let hospital = tempfile::tempdir().unwrap();
    common::run(hospital.path(), "example --rows 3000 --out hospital").expect(0);
    let hospital = hospital.path().join("hospital");
    common::run(ground.path(), &format!("{PUBLISH} --out disk/release --seed 1")).expect(0);
    common::run(ground.path(), "init t.csv --out disk/spec.toml").expect(0);
    let spec = hospital.join("chrysalis.toml");
    ground.refuses(&format!("publish {} --format csv --out disk/release --force", spec.display()), &[2]);
    let audit = common::run(ground.path(), "audit disk/release");
    if audit.code != Some(0) {
        ground.wrong.push(format!("the old release is broken\n{audit}"));
    }
    // A spec of eighty columns needs more space than the one it would replace.
    let header: Vec<String> = (0..80).map(|at| format!("column_{at}")).collect();
    fs::write(ground.path().join("wide.csv"), format!("{}\n{}\n", header.join(","), vec!["1"; 80].join(","))).unwrap();
    fill(&disk);
    ground.refuses("init wide.csv --out disk/spec.toml --force", &[2]);
    drop(disk);
    ground.done();
}

#[test]
fn a_read_only_disk_is_refused() {
    let mut ground = Ground::new(&[("t.csv", TABLE)]);
    let Some(disk) = Disk::mount(&ground.path().join("disk"), "1m") else { return };
    common::run(ground.path(), &format!("{PUBLISH} --out disk/release --seed 1")).expect(0);
    disk.make_read_only();
    ground.refuses(&format!("{PUBLISH} --out disk/other"), &[2]);
    ground.refuses(&format!("{PUBLISH} --out disk/release --force"), &[2]);
    ground.refuses("example --rows 10 --out disk/example", &[2]);
    ground.refuses("init t.csv --out disk/spec.toml", &[2]);
    let audit = common::run(ground.path(), "audit disk/release");
    if audit.code != Some(0) {
        ground.wrong.push(format!("a read-only release can be audited\n{audit}"));
    }
    assert_eq!(Release::at(disk.folder.join("release")).manifest()["rows"], 6);
    drop(disk);
    ground.done();
}
