//! Requests that no page of ours makes are refused, and nothing is written.

#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use std::io::Write;

use chrysalis_studio::Limits;
use common::{Answer, Running, answer, hospital};
use serde_json::{Value, json};

#[track_caller]
fn check(answer: &Answer, status: u16, part: &str) {
    assert_eq!(answer.status, status, "{}", answer.head);
    assert!(answer.message().contains(part), "{}", answer.message());
    for line in [
        "content-security-policy: default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
         object-src 'none'",
        "x-content-type-options: nosniff",
        "referrer-policy: no-referrer",
        "x-frame-options: deny",
        "cache-control: no-store",
    ] {
        assert!(answer.head.contains(line), "no {line} in {}", answer.head);
    }
    assert!(!answer.head.contains("access-control-allow"), "{}", answer.head);
}

/// A request with any first line and headers.
fn request(running: &Running, first: &str, headers: &[&str]) -> Answer {
    let lines = headers.iter().map(|header| format!("{header}\r\n")).collect::<String>();
    running.raw(format!("{first} HTTP/1.1\r\nConnection: close\r\n{lines}\r\n").as_bytes())
}

#[test]
fn the_page_is_served_to_whoever_knows_the_address() {
    let running = Running::start();
    let page = running.get("");
    assert!(page.status == 200 && page.head.contains("content-type: text/html"), "{}", page.head);
    assert!(page.head.contains("frame-ancestors 'none'") && page.head.contains("nosniff"));
    let named = request(
        &running,
        &format!("GET /{}/api/state", running.token),
        &[&format!("Host: localhost:{}", running.port), &format!("Origin: http://localhost:{}", running.port)],
    );
    assert_eq!((named.status, named.json()["job"].is_null()), (200, true));
}

#[test]
fn the_token_is_long_and_new_every_time() {
    let (one, other) = (Running::start(), Running::start());
    assert!(one.token.len() == 32 && one.token.bytes().all(|byte| byte.is_ascii_hexdigit()));
    assert_ne!(one.token, other.token);
    let with_the_other = request(&one, &format!("GET /{}/", other.token), &[&format!("Host: 127.0.0.1:{}", one.port)]);
    check(&with_the_other, 403, "token");
}

#[test]
fn a_foreign_host_is_refused() {
    let running = Running::start();
    let first = format!("GET /{}/api/state", running.token);
    let port = running.port;
    for host in [
        "evil.example".to_owned(),
        format!("evil.example:{port}"),
        "127.0.0.1".to_owned(),
        format!("127.0.0.1:{}", port.wrapping_add(1)),
        format!("127.0.0.1.evil.example:{port}"),
        format!("[::1]:{port}"),
    ] {
        check(&request(&running, &first, &[&format!("Host: {host}")]), 403, "its own address");
    }
    let twice = [&*format!("Host: 127.0.0.1:{port}"), "Host: evil.example"];
    let answer = request(&running, &first, &twice);
    assert!([400, 403].contains(&answer.status), "{}", answer.head);
}

#[test]
fn a_foreign_origin_is_refused() {
    let running = Running::start();
    let host = format!("Host: 127.0.0.1:{}", running.port);
    for method in ["GET", "PUT", "POST", "OPTIONS"] {
        let path = if method == "PUT" { "api/tables/a.csv" } else { "api/state" };
        for origin in ["https://evil.example", "null", "http://127.0.0.1", "http://localhost:1", "file://", ""] {
            let first = format!("{method} /{}/{path}", running.token);
            let answer = request(&running, &first, &[&host, &format!("Origin: {origin}"), "Content-Length: 0"]);
            check(&answer, 403, "other pages");
        }
    }
    assert!(running.written().is_empty());
}

#[test]
fn without_the_token_nothing_is_answered() {
    let running = Running::start();
    let host = format!("Host: 127.0.0.1:{}", running.port);
    let almost = format!("{}0", &running.token[..31]);
    for path in
        ["/", "/api/state", "/assets/main.js", "/x/api/state", "//api/state", &format!("/{almost}x/"), "/favicon.ico"]
    {
        check(&request(&running, &format!("GET {path}"), &[&host]), 403, "token");
    }
    let csv = hospital(100);
    let head = format!(
        "PUT /api/tables/a.csv HTTP/1.1\r\n{host}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
        csv.len()
    );
    check(&running.raw(&[head.as_bytes(), &csv].concat()), 403, "token");
    assert!(running.written().is_empty());
}

#[test]
fn a_path_that_climbs_is_refused() {
    let running = Running::start();
    let host = format!("Host: 127.0.0.1:{}", running.port);
    for path in ["assets/../../../etc/passwd", "../x", "assets/%2e%2e/%2E%2e/etc/passwd", "assets/.%2e/x"] {
        check(&request(&running, &format!("GET /{}/{path}", running.token), &[&host]), 400, "`..`");
    }
    // With its slashes hidden it is the name of a part that the page does not have.
    let hidden = request(&running, &format!("GET /{}/assets/..%2f..%2fetc%2fpasswd", running.token), &[&host]);
    check(&hidden, 404, "no such part");
}

#[test]
fn a_folder_that_climbs_is_refused_and_nothing_is_written() {
    let running = Running::start();
    let table = running.open("patients.csv", &hospital(400));
    let path = format!("api/tables/{}/publish", table["table"]);
    for folder in ["../out", "a/../../out", "..", "~/out", ""] {
        let told = running.post(&path, &json!({"draft": table["draft"], "folder": folder}));
        assert_eq!(told.status, 200);
        assert!(told.json()["job"].is_null() && !told.message().is_empty(), "{folder}: {}", told.json());
    }
    assert!(running.written().is_empty(), "{:?}", running.written());
    let above = running.home.path().parent().unwrap().join("out");
    assert!(!above.exists());
}

#[test]
fn a_page_cannot_name_files_to_read() {
    let running = Running::start();
    let table = running.open("patients.csv", &hospital(400));
    let path = format!("api/tables/{}/check", table["table"]);
    let mut draft = table["draft"].clone();
    draft["input"] = json!("/etc/passwd");
    assert!(running.post(&path, &json!({"draft": draft})).message().contains("names a file"));
    let mut draft = table["draft"].clone();
    draft["attributes"]["age"]["taxonomy"] = json!("/etc/passwd");
    assert!(running.post(&path, &json!({"draft": draft})).message().contains("a taxonomy"));
    let mut draft = table["draft"].clone();
    draft["release"]["population_table"] = json!("/etc/passwd");
    assert!(running.post(&path, &json!({"draft": draft})).message().contains("names a file with the people"));
}

/// Wherever a draft can name a file, and whatever is asked: the page's word is not enough.
#[test]
fn no_file_deep_in_a_draft_is_read() {
    let running = Running::start();
    let table = running.open("patients.csv", &hospital(400));
    // It is a table like the one that is open: if it were read, nothing would complain.
    let secret = running.home.path().join("secret.csv");
    std::fs::write(&secret, hospital(800)).unwrap();
    let people = running.send("PUT", "api/populations/all.csv", &hospital(800)).json()["population"].clone();
    let run = json!({"method": "generalize", "require": ["k=5", "k-map=5"], "population_table": secret});
    let spots: [(&str, Value); 4] = [
        ("/compare", json!({"runs": [{"method": "generalize"}, run]})),
        ("/series", json!(secret)),
        ("/after", json!([secret])),
        ("/release/population_table", json!(secret)),
    ];
    for (spot, value) in spots {
        let mut draft = table["draft"].clone();
        match spot.rsplit_once('/').unwrap() {
            ("", name) => draft[name] = value,
            (of, name) => draft[&of[1..]][name] = value,
        }
        for work in ["check", "price", "compare", "recipe", "publish", "groups"] {
            let mut request = json!({"draft": draft});
            if work == "groups" {
                request["column"] = json!("occupation");
            }
            // People that were uploaded excuse no other file.
            if spot != "/release/population_table" {
                request["population"] = people.clone();
            }
            let told = running.post(&format!("api/tables/{}/{work}", table["table"]), &request).json();
            assert!(told["error"]["fault"] == "request" && told["job"].is_null(), "{spot}, {work}: {told}");
        }
    }
    assert_eq!(running.written(), ["secret.csv"]);
}

/// The place of the key is typed by the owner: a file that is no key is refused without a word of what is in it, and a
/// trial makes none.
#[test]
fn a_place_for_the_key_is_a_key_or_nothing() {
    let running = Running::start();
    let table = running.open("patients.csv", &hospital(400));
    let path = format!("api/tables/{}/check", table["table"]);
    let mut draft = table["draft"].clone();
    draft["attributes"]["zip_code"]["prepare"] = json!(["pseudonym"]);
    let mut ask = |key: Value| {
        draft["key"] = key;
        running.post(&path, &json!({"draft": draft}))
    };
    assert!(ask(json!(null)).message().contains("none is named"));
    assert!(ask(json!("../my.key")).message().contains("without `..`"));
    std::fs::write(running.home.path().join("other.txt"), "a secret of somebody else").unwrap();
    let refused = ask(json!("other.txt"));
    assert!(!refused.message().is_empty() && !refused.json().to_string().contains("somebody"), "{}", refused.json());
    let told = ask(json!("my.key")).json();
    assert!(told["refusal"].is_null() && told["error"].is_null(), "{told}");
    assert_eq!(running.written(), ["other.txt"]);
}

/// What the studio does not handle is said when the table is opened, and not passed over.
#[test]
fn a_recipe_of_a_series_is_refused_in_words() {
    let ground = tempfile::tempdir().unwrap();
    std::fs::write(ground.path().join("patients.csv"), hospital(100)).unwrap();
    for (said, part) in [
        ("series = 'ledger'\nperson = 'patient_id'", "makes no series"),
        ("after = ['release-1']", "does not judge a release beside earlier ones"),
        ("quasi_identifiers = [['age'], ['sex', 'age']]", "one list of columns"),
    ] {
        let spec = ground.path().join("chrysalis.toml");
        std::fs::write(&spec, format!("input = 'patients.csv'\n{said}\n")).unwrap();
        let running = Running::with(Limits::default(), Some(spec.display().to_string()));
        let told = running.wait(running.get("api/state").json()["job"].as_u64().unwrap());
        let message = told["error"]["message"].as_str().unwrap_or_default();
        assert!(message.contains(part), "{told}");
    }
}

#[test]
fn two_gigabytes_that_are_announced_are_refused_unread() {
    let running = Running::start();
    let head = running.head("PUT", "api/tables/a.csv", "Content-Length: 2147483648\r\n");
    check(&running.raw(head.as_bytes()), 413, "too large");
    assert!(running.written().is_empty());
}

#[test]
fn an_upload_that_announces_nothing_is_refused_once_it_is_too_large() {
    let limits = Limits { upload: 1 << 20, ..Limits::default() };
    let running = Running::with(limits, None);
    let mut stream = running.stream();
    let head = running.head("PUT", "api/tables/a.csv", "Transfer-Encoding: chunked\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    let chunk = [b"10000\r\n".as_slice(), &[b'1'; 0x10000], b"\r\n"].concat();
    // Two gigabytes, if anybody took them.
    let sent = (0..(2u64 << 30) / 0x10000).take_while(|_| stream.write_all(&chunk).is_ok()).count();
    assert!(sent < 1_000, "{sent} chunks were taken");
    drop(stream);
    // What fits is read.
    assert!(running.open("a.csv", &hospital(400))["rows"] == 400);
    let mut stream = running.stream();
    stream.write_all(head.as_bytes()).unwrap();
    for _ in 0..17 {
        let _ = stream.write_all(&chunk);
    }
    check(&answer(&mut stream), 413, "too large");
    assert!(running.written().is_empty());
}

/// A second table and a second release are uploads as well.
#[test]
fn other_uploads_that_are_too_large_are_refused() {
    let limits = Limits { upload: 1 << 20, ..Limits::default() };
    let running = Running::with(limits, None);
    let received = running.post("api/received", &json!({})).json()["received"].clone();
    let file = format!("api/received/{received}/generalized.parquet");
    for path in ["api/populations/all.csv", &file] {
        let announced = running.head("PUT", path, "Content-Length: 2147483648\r\n");
        check(&running.raw(announced.as_bytes()), 413, "too large");
        let mut stream = running.stream();
        stream.write_all(running.head("PUT", path, "Transfer-Encoding: chunked\r\n").as_bytes()).unwrap();
        let chunk = [b"10000\r\n".as_slice(), &[b'1'; 0x10000], b"\r\n"].concat();
        for _ in 0..17 {
            let _ = stream.write_all(&chunk);
        }
        check(&answer(&mut stream), 413, "too large");
    }
    // What fits is taken, and replaces what had its name; what would be too much together is not.
    for name in ["a", "a", "b"] {
        assert_eq!(running.send("PUT", &format!("api/received/{received}/{name}"), &[0; 400 << 10]).status, 200);
    }
    check(&running.send("PUT", &format!("api/received/{received}/c"), &[0; 400 << 10]), 413, "too large");
}

/// Each of these files fits, and only two of them fit together.
#[test]
fn files_that_arrive_at_once_keep_the_limit_together() {
    let limits = Limits { upload: 1 << 20, ..Limits::default() };
    let running = Running::with(limits, None);
    let received = running.post("api/received", &json!({})).json()["received"].clone();
    // Everybody has announced a file before anybody has sent all of it.
    let mut streams: Vec<_> = (0..5)
        .map(|at| {
            let path = format!("api/received/{received}/part-{at}");
            let mut stream = running.stream();
            stream.write_all(running.head("PUT", &path, "Content-Length: 409600\r\n").as_bytes()).unwrap();
            stream.write_all(&[b'1'; 1_000]).unwrap();
            stream
        })
        .collect();
    std::thread::sleep(std::time::Duration::from_millis(200));
    let send = |stream: &mut std::net::TcpStream| {
        // A refusal may come before everything was sent.
        let _ = stream.write_all(&[b'1'; 408_600]);
        answer(stream).status
    };
    let mut found: Vec<u16> = std::thread::scope(|scope| {
        let threads: Vec<_> = streams.iter_mut().map(|stream| scope.spawn(|| send(stream))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    found.sort_unstable();
    assert_eq!(found, [200, 200, 413, 413, 413]);
}

#[test]
fn other_requests_have_a_limit_too() {
    let running = Running::start();
    let table = running.open("patients.csv", &hospital(400));
    let path = format!("api/tables/{}/exposure", table["table"]);
    let answer = running.send("POST", &path, &vec![b' '; 5 << 20]);
    assert_eq!(answer.status, 413, "{}", answer.head);
}

#[test]
fn a_received_release_cannot_be_written_elsewhere() {
    let running = Running::start();
    let id = running.post("api/received", &json!({})).json()["received"].clone();
    for name in ["..%2fx", "%2fetc%2fx", ".hidden", "a%5cb", "a%00b", ".."] {
        let answer = running.send("PUT", &format!("api/received/{id}/{name}"), b"x");
        assert!(answer.status == 400 || !answer.message().is_empty(), "{name}: {}", answer.head);
    }
    assert!(running.written().is_empty());
}
