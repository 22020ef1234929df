//! SIGKILL and SIGINT at any moment: a release is complete or absent, and Ctrl-C leaves nothing else behind either.

#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use common::Release;

const MOMENTS: u32 = 20;
const ROWS: u32 = 40_000;

/// When to kill, as fractions of a full run: one random moment in each of `MOMENTS` equal intervals, which reach a
/// little past the end.
fn moments() -> impl Iterator<Item = f64> {
    let mut state = 20_u64;
    (0..MOMENTS).map(move |at| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let inside = (state >> 40) as f64 / (1_u64 << 24) as f64;
        (f64::from(at) + inside) / f64::from(MOMENTS) * 1.1
    })
}

fn publish_for(folder: &Path, line: &str, delay: Duration) -> Child {
    let mut command = common::chrysalis(folder);
    command.args(common::split(line)).stdout(Stdio::null()).stderr(Stdio::null());
    let child = command.spawn().unwrap();
    thread::sleep(delay);
    child
}

/// The principles that a release promises, as users write them.
fn promised(release: &Release) -> Vec<String> {
    let promises = release.manifest()["promises"].clone();
    let text = |promise: &serde_json::Value| promise["principle"].as_str().unwrap().to_owned();
    promises.as_array().unwrap().iter().map(text).collect()
}

/// The entries of a folder that have one of our temporary names.
fn temporaries(folder: &Path) -> Vec<String> {
    let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.starts_with(".chrysalis-")).collect()
}

/// Publishes and kills the process after `delay`.
fn publish_and_kill(folder: &Path, line: &str, delay: Duration) {
    let mut child = publish_for(folder, line, delay);
    // An error means that it had already ended.
    let _ = child.kill();
    child.wait().unwrap();
}

fn hospital() -> tempfile::TempDir {
    hospital_of(ROWS)
}

fn hospital_of(rows: u32) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    common::run(folder.path(), &format!("example --rows {rows} --out hospital --quiet")).expect(0);
    folder
}

fn seconds(folder: &Path, line: &str) -> f64 {
    let start = Instant::now();
    common::run(folder, line).expect(0);
    start.elapsed().as_secs_f64()
}

#[test]
fn a_killed_publish_leaves_a_whole_release_or_none() {
    let ground = hospital();
    let folder = ground.path();
    let publish = |out: &str| format!("publish hospital/chrysalis.toml --out {out}");
    let full = seconds(folder, &publish("full"));
    let mut whole = 0;
    for (at, share) in moments().enumerate() {
        let out = format!("release-{at}");
        publish_and_kill(folder, &publish(&out), Duration::from_secs_f64(full * share));
        if folder.join(&out).exists() {
            let audit = common::run(folder, &format!("audit {out} --quiet"));
            assert_eq!(audit.code, Some(0), "killed after {:.0} % of {full:.2} s\n{audit}", share * 100.0);
            whole += 1;
        }
    }
    println!("{whole} of {MOMENTS} runs came to a release; a full run takes {full:.2} s");
    assert!(whole < MOMENTS, "no run was killed in time");
}

#[test]
fn a_killed_publish_with_force_leaves_the_old_release_or_the_new_one() {
    let ground = hospital();
    let folder = ground.path();
    let publish = |k: u32| format!("publish hospital/chrysalis.toml --require k={k} --out release --force");
    let full = seconds(folder, &publish(10));
    let release = Release::at(folder.join("release"));
    let mut replaced = 0;
    for (at, share) in (11..).zip(moments()) {
        let before = promised(&release);
        publish_and_kill(folder, &publish(at), Duration::from_secs_f64(full * share));
        let place = format!("killed after {:.0} % of {full:.2} s", share * 100.0);
        assert!(release.folder.is_dir(), "{place}: neither the old release nor the new one is there");
        let audit = common::run(folder, "audit release --quiet");
        assert_eq!(audit.code, Some(0), "{place}\n{audit}");
        let after = promised(&release);
        let new = vec![format!("k={at}")];
        assert!(after == before || after == new, "{place}: {after:?} is neither {before:?} nor {new:?}");
        replaced += u32::from(after == new);
    }
    println!("{replaced} of {MOMENTS} runs replaced the release; a full run takes {full:.2} s");
    assert!(replaced < MOMENTS, "no run was killed in time");
}

#[test]
fn what_a_killed_publish_left_does_not_disturb_the_next_one() {
    let ground = tempfile::tempdir().unwrap();
    let folder = ground.path();
    common::run(folder, "example --rows 20000 --out hospital --quiet").expect(0);
    let publish = "publish hospital/chrysalis.toml --out release";
    let full = seconds(folder, &publish.replace("release", "full"));
    for share in [0.3, 0.6, 0.8, 0.9] {
        publish_and_kill(folder, publish, Duration::from_secs_f64(full * share));
        if folder.join("release").exists() {
            break;
        }
    }
    if !folder.join("release").exists() {
        common::run(folder, publish).expect(0);
    }
    common::run(folder, "audit release --quiet").expect(0);
    // The next run removes whatever was left behind.
    common::run(folder, &publish.replace("release", "last")).expect(0);
    assert_eq!(temporaries(folder), [] as [String; 0]);
}

/// Ctrl-C ends a whole pipeline: there may be no reader left for the message.
#[test]
fn an_interrupted_publish_ends_also_where_nobody_listens() {
    let ground = hospital();
    let folder = ground.path();
    let full = seconds(folder, "publish hospital/chrysalis.toml --out full");
    for share in [0.3, 0.6, 0.9] {
        let mut command = common::chrysalis(folder);
        command.args(["publish", "hospital/chrysalis.toml", "--out", "release", "--force"]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stderr.take());
        thread::sleep(Duration::from_secs_f64(full * share));
        Command::new("kill").arg("-INT").arg(child.id().to_string()).status().unwrap();
        let end = Instant::now() + Duration::from_secs(20);
        let code = loop {
            match child.try_wait().unwrap() {
                Some(status) => break status.code(),
                None if Instant::now() > end => {
                    child.kill().unwrap();
                    panic!("it hangs");
                }
                None => thread::sleep(Duration::from_millis(5)),
            }
        };
        assert!(matches!(code, Some(0 | 130) | None), "{code:?}");
        assert_eq!(temporaries(folder), [] as [String; 0]);
    }
}

#[test]
fn an_interrupted_publish_says_so_and_leaves_nothing() {
    let ground = hospital();
    let folder = ground.path();
    let full = seconds(folder, "publish hospital/chrysalis.toml --out full");
    let mut stopped = 0;
    for (at, share) in moments().enumerate() {
        let out = format!("release-{at}");
        let line = format!("publish hospital/chrysalis.toml --out {out}");
        let mut child = publish_for(folder, &line, Duration::from_secs_f64(full * share));
        let place = format!("interrupted after {:.0} % of {full:.2} s", share * 100.0);
        Command::new("kill").arg("-INT").arg(child.id().to_string()).status().unwrap();
        match (child.wait().unwrap().code(), folder.join(&out).exists()) {
            (Some(0), true) => {}
            (Some(130), false) => stopped += 1,
            // The signal came before the handler was installed.
            (None, false) => {}
            (code, exists) => panic!("{place}: ended with {code:?}, and the release is there: {exists}"),
        }
        assert_eq!(temporaries(folder), [] as [String; 0], "{place}");
    }
    assert!(stopped > 0, "no run was stopped in time");
}

/// Rows that wait on disk are the owner's: nobody else may read them while they wait, and whatever a killed run left is
/// gone once something is published there again.
#[test]
fn a_killed_publish_by_cells_leaves_no_rows_after_the_next_one() {
    // Cells of that much memory have up to 125,000 rows.
    let ground = hospital_of(260_000);
    let folder = ground.path();
    let publish = |out: &str| format!("publish hospital/chrysalis.toml --memory 143MB --out place/{out}");
    std::fs::create_dir(folder.join("place")).unwrap();
    let full = seconds(folder, &publish("full"));
    let manifest = std::fs::read_to_string(folder.join("place/full/release.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    assert!(manifest["tables"][0]["parts"].as_array().unwrap().len() >= 3, "there are several cells");
    let mut left = 0;
    for (at, share) in moments().enumerate().filter(|(at, _)| at % 2 == 0) {
        let out = format!("release-{at}");
        publish_and_kill(folder, &publish(&out), Duration::from_secs_f64(full * share));
        let waiting = temporaries(&folder.join("place"));
        left += waiting.len();
        for name in &waiting {
            let waits = folder.join("place").join(name);
            let mode = std::fs::metadata(&waits).unwrap().permissions().mode() & 0o777;
            assert_eq!(mode, 0o700, "{name} has mode {mode:o}");
        }
    }
    assert!(left > 0, "no run was killed while rows waited");
    common::run(folder, &publish("last")).expect(0);
    assert_eq!(temporaries(&folder.join("place")), Vec::<String>::new());
    let audit = common::run(folder, "audit place/last --quiet");
    assert_eq!(audit.code, Some(0), "{audit}");
}
