//! What the studio keeps, for how long, and what may be handed out.

#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use std::path::Path;
use std::process::{Command, Stdio};

use common::{Running, hospital};
use serde_json::{Value, json};

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|part| part == text.as_bytes())
}

/// A release is to be handed out: neither the recipe nor the seed is among what is downloaded with it.
#[test]
fn a_download_holds_neither_seed_nor_recipe() {
    let running = Running::start();
    let mut table = running.open("patients.csv", &hospital(400));
    table["draft"]["release"]["format"] = json!("csv");
    let path = format!("api/tables/{}", table["table"]);
    let request = json!({"draft": table["draft"], "seed": 918_273_645});
    let told = running.run("POST", &format!("{path}/publish"), request.to_string().as_bytes());
    let made = &told["result"];
    assert!(made["command"].as_str().unwrap().ends_with(" --seed 918273645"), "{told}");
    assert!(!made["recipe"].as_str().unwrap().contains("918273645"), "{}", made["recipe"]);
    let get = |name: &str| running.get(&format!("api/releases/{}/{name}", made["release"])).body;
    let zip = get("release.zip");
    assert!(contains(&zip, "release/release.json") && contains(&zip, "certificate.html"));
    assert!(contains(&zip, "for experiments") || contains(&zip, "EXPERIMENTS"), "the release says that it has a seed");
    for secret in ["chrysalis.toml", "918273645", "--seed", "patients.csv"] {
        assert!(!contains(&zip, secret), "{secret}");
    }
    let recipe = String::from_utf8(get("chrysalis.toml")).unwrap();
    assert!(recipe.contains("[release]") && !recipe.contains("918273645"), "{recipe}");
    let before = running.post(&format!("{path}/recipe"), &request).json();
    assert!(!before["recipe"].as_str().unwrap().contains("918273645"), "{before}");
}

/// The first table, however much was asked since, and whatever else was opened.
#[test]
fn the_file_of_the_start_is_there_after_any_reload() {
    let ground = tempfile::tempdir().unwrap();
    let file = ground.path().join("patients.csv");
    std::fs::write(&file, hospital(400)).unwrap();
    let running = Running::with(chrysalis_studio::Limits::default(), Some(file.display().to_string()));
    let reloaded = || {
        let told = running.wait(running.get("api/state").json()["job"].as_u64().unwrap());
        assert_eq!((&told["state"], &told["result"]["name"]), (&json!("done"), &json!("patients.csv")), "{told}");
        told["result"].clone()
    };
    let first = reloaded();
    // More jobs than are remembered.
    let groups = json!({"draft": first["draft"], "column": "sex"}).to_string();
    for _ in 0..70 {
        running.run("POST", &format!("api/tables/{}/groups", first["table"]), groups.as_bytes());
    }
    assert!(reloaded()["rows"] == 400);
    // More tables than are kept, while nobody looks at the first.
    for at in 0..5 {
        running.open(&format!("other{at}.csv"), &hospital(100));
    }
    let path = |table: &Value| format!("api/tables/{}/exposure", table["table"]);
    let known = json!({"columns": ["age"]});
    assert!(running.post(&path(&first), &known).message().contains("no longer in memory"));
    assert_eq!(running.post(&path(&reloaded()), &known).json()["rows"], 400);
}

/// What is used stays, what a tab chose is told again, and a release that was made can be shown again.
#[test]
fn a_reload_finds_what_was_there() {
    let running = Running::start();
    let table = running.open("patients.csv", &hospital(400));
    for at in 0..6 {
        running.open(&format!("other{at}.csv"), &hospital(100));
        let again = running.get(&format!("api/tables/{}/about", table["table"])).json();
        assert_eq!(again, table);
    }
    let path = "api/tabs/0a1b2c3d-4e5f";
    assert!(running.get(path).json()["chosen"].is_null());
    let chosen = json!({"table": table["table"], "choices": {"k": 7}});
    assert_eq!(running.send("PUT", path, chosen.to_string().as_bytes()).json(), json!({}));
    assert_eq!(running.get(path).json()["chosen"], chosen);
    assert!(!running.send("PUT", path, b"no JSON").message().is_empty());
    assert!(!running.send("PUT", "api/tabs/..%2f..%2fx", b"{}").message().is_empty());
    let other = running.send("PUT", path, &vec![b' '; 5 << 20]);
    assert_eq!(other.status, 413, "{}", other.head);

    let request = json!({"draft": table["draft"]}).to_string();
    let made = running.run("POST", &format!("api/tables/{}/publish", table["table"]), request.as_bytes());
    let again = running.get(&format!("api/releases/{}", made["result"]["release"])).json();
    for part in ["release", "report", "told", "attacks", "command", "recipe", "about"] {
        assert_eq!(again[part], made["result"][part], "{part}");
        assert!(!again[part].is_null(), "{part}");
    }
    assert!(running.written().is_empty());
}

/// A requirement that cannot be kept is named, so that the page explains it at its slider.
#[test]
fn what_cannot_be_kept_is_named_one_by_one() {
    let running = Running::start();
    let rows: String = (0..120).map(|row| format!("{},{},{}\n", 20 + row % 30, row % 3, 100 + row % 4)).collect();
    let table = running.open("wages.csv", format!("age,ward,wage\n{rows}").as_bytes());
    let mut draft = table["draft"].clone();
    draft["attributes"] = json!({"age": {"role": "quasi"}, "ward": {"role": "quasi"}, "wage": {"role": "sensitive"}});
    for (require, refused) in [
        (json!(["k=5"]), json!([])),
        (json!(["k=200"]), json!(["k=200"])),
        (json!(["k=5", "ke=2,1000"]), json!(["ke=2,1000"])),
        (json!(["k=200", "l=9"]), json!(["k=200", "l=9"])),
    ] {
        draft["release"]["require"] = require;
        let told = running.post(&format!("api/tables/{}/check", table["table"]), &json!({"draft": draft})).json();
        assert_eq!((&told["refused"], told["refusal"].is_null()), (&refused, refused == json!([])), "{told}");
    }
}

/// The program, and where it makes temporary folders.
struct Program {
    child: std::process::Child,
    address: String,
}

impl Program {
    fn start(temporary: &Path, home: &Path) -> Program {
        let mut child = Command::new(env!("CARGO_BIN_EXE_chrysalis-studio"))
            .args(["--no-open"])
            .env("TMPDIR", temporary)
            .current_dir(home)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let out = child.stdout.as_mut().unwrap();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(out), &mut line).unwrap();
        let address = line.split_whitespace().last().unwrap().to_owned();
        Program { child, address }
    }

    /// A client that talks to it.
    fn client(&self) -> common::Client {
        common::Client::of(&self.address)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn names(folder: &Path) -> Vec<String> {
    std::fs::read_dir(folder).unwrap().map(|it| it.unwrap().file_name().to_string_lossy().into_owned()).collect()
}

/// Whoever ends the studio while a release is packed to be downloaded finds nothing left of it.
#[cfg(unix)]
#[test]
fn a_studio_that_is_stopped_while_it_packs_a_release_leaves_no_folder() {
    let (temporary, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut program = Program::start(temporary.path(), home.path());
    let client = program.client();
    let table = client.open("patients.csv", &hospital(400));
    let request = json!({"draft": table["draft"]}).to_string();
    let made = client.run("POST", &format!("api/tables/{}/publish", table["table"]), request.as_bytes());
    client.post("api/received", &json!({}));
    let [all] = &names(temporary.path())[..] else { panic!("{:?}", names(temporary.path())) };
    assert!(all.starts_with("chrysalis-studio-"), "{all}");
    let all = temporary.path().join(all);
    let release = names(&all).into_iter().map(|name| all.join(name).join("release")).find(|it| it.is_dir()).unwrap();
    // Packing waits for this file for ever.
    assert!(Command::new("mkfifo").arg(release.join("waits")).status().unwrap().success());
    let mut stream = client.stream();
    let path = format!("api/releases/{}/release.zip", made["result"]["release"]);
    std::io::Write::write_all(&mut stream, client.head("GET", &path, "").as_bytes()).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert!(Command::new("kill").arg(program.child.id().to_string()).status().unwrap().success());
    let ended = (0..200).find_map(|_| {
        std::thread::sleep(std::time::Duration::from_millis(50));
        program.child.try_wait().unwrap()
    });
    assert!(ended.is_some_and(|status| status.success()), "{ended:?}");
    assert_eq!(names(temporary.path()), [] as [&str; 0]);
}

#[test]
fn a_port_in_use_is_a_sentence_with_a_remedy() {
    let taken = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let mut studio = Command::new(env!("CARGO_BIN_EXE_chrysalis-studio"));
    let output = studio.args(["--no-open", "--port", &port]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        said.contains(&format!("error: port {port} is in use")) && said.contains("hint: choose another port"),
        "{said}"
    );
}
