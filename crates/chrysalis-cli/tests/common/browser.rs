//! Headless Chromium, driven over the DevTools protocol: what a page logs, requests and shows.
//!
//! The protocol uses two pipes, with JSON messages separated by zero bytes.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "tests")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// A browser that is silent for longer than this hangs.
const PATIENCE: Duration = Duration::from_secs(60);

/// Where the environment variable says, or on the path under one of its names.
pub(crate) fn find() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("CHRYSALIS_CHROMIUM") {
        return Some(path.into());
    }
    let folders: Vec<PathBuf> = std::env::split_paths(&std::env::var_os("PATH")?).collect();
    let names = ["chromium", "chromium-browser", "chrome-headless-shell", "google-chrome", "google-chrome-stable"];
    names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name))).find(|path| path.is_file())
}

pub(crate) struct Browser {
    child: Child,
    to: ChildStdin,
    from: Receiver<Value>,
    session: Value,
    next: u64,
    events: Vec<Value>,
    _profile: tempfile::TempDir,
}

/// What happened while a page was open.
pub(crate) struct Visit {
    /// Everything on the console, and everything the browser complained about.
    pub(crate) messages: Vec<String>,
    /// Every address that was requested, the page itself first.
    pub(crate) requests: Vec<String>,
}

impl Browser {
    /// Starts a browser with one empty tab.
    pub(crate) fn start(program: &Path) -> Browser {
        let profile = tempfile::tempdir().unwrap();
        // Chromium reads from descriptor 3 and writes to 4.
        let mut command = Command::new("sh");
        command.args(["-c", "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1"]).arg(program);
        command.args(["--headless", "--disable-gpu", "--no-first-run", "--remote-debugging-pipe"]);
        // Tests run as root in containers, where Chromium's sandbox does not start; the page is our own.
        command.args(["--no-sandbox", "--disable-dev-shm-usage"]);
        command.args(["--disable-background-networking", "--disable-component-update", "--disable-sync"]);
        command.args(["--host-resolver-rules=MAP * ~NOTFOUND", "--window-size=1200,900"]);
        command.arg(format!("--user-data-dir={}", profile.path().display())).arg("about:blank");
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (to, from) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let (sender, receiver) = channel();
        std::thread::spawn(move || {
            let mut from = BufReader::new(from);
            let mut message = Vec::new();
            while from.read_until(0, &mut message).is_ok_and(|n| n > 0) {
                message.pop();
                let Ok(value) = serde_json::from_slice(&message) else { break };
                if sender.send(value).is_err() {
                    break;
                }
                message.clear();
            }
        });
        let mut browser =
            Browser { child, to, from: receiver, session: Value::Null, next: 1, events: Vec::new(), _profile: profile };
        let tab = browser.call("Target.createTarget", json!({"url": "about:blank"}));
        let attached = browser.call("Target.attachToTarget", json!({"targetId": tab["targetId"], "flatten": true}));
        browser.session = attached["sessionId"].clone();
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        browser
    }

    /// Calls a method and waits for its result; events that arrive before it are kept.
    pub(crate) fn call(&mut self, method: &str, parameters: Value) -> Value {
        let id = self.next;
        self.next += 1;
        let mut message = json!({"id": id, "method": method, "params": parameters});
        if !self.session.is_null() {
            message["sessionId"] = self.session.clone();
        }
        self.to.write_all(format!("{message}\0").as_bytes()).unwrap();
        self.to.flush().unwrap();
        let mut answer = self.wait(method, |message| message["id"] == id);
        assert!(answer["error"].is_null(), "{method}: {answer}");
        answer["result"].take()
    }

    fn wait(&mut self, what: &str, is_it: impl Fn(&Value) -> bool) -> Value {
        let start = Instant::now();
        loop {
            let left = PATIENCE.checked_sub(start.elapsed()).unwrap_or_else(|| panic!("{what}: no answer"));
            let message = self.from.recv_timeout(left).unwrap_or_else(|error| panic!("{what}: {error}"));
            if is_it(&message) {
                return message;
            }
            self.events.push(message);
        }
    }

    /// Opens a file and gives the page a moment to misbehave.
    pub(crate) fn open(&mut self, page: &Path) -> Visit {
        self.events.clear();
        let address = format!("file://{}", page.display());
        self.call("Page.navigate", json!({"url": address}));
        if !self.events.iter().any(|event| event["method"] == "Page.loadEventFired") {
            let fired = self.wait("load", |message| message["method"] == "Page.loadEventFired");
            self.events.push(fired);
        }
        self.evaluate("new Promise((done) => setTimeout(done, 300))");
        self.visit()
    }

    /// What has happened since the page was opened.
    pub(crate) fn visit(&self) -> Visit {
        let of = |method: &'static str| self.events.iter().filter(move |event| event["method"] == method);
        let said = of("Runtime.consoleAPICalled").map(|event| event["params"]["args"].to_string());
        let thrown = of("Runtime.exceptionThrown").map(|event| event["params"]["exceptionDetails"].to_string());
        let logged = of("Log.entryAdded").map(|event| event["params"]["entry"].to_string());
        let asked = of("Network.requestWillBeSent").map(|event| event["params"]["request"]["url"].as_str().unwrap());
        Visit { messages: said.chain(thrown).chain(logged).collect(), requests: asked.map(str::to_owned).collect() }
    }

    /// The value of an expression in the page; if it is a promise, its result.
    pub(crate) fn evaluate(&mut self, expression: &str) -> Value {
        let parameters = json!({"expression": expression, "awaitPromise": true, "returnByValue": true});
        let mut found = self.call("Runtime.evaluate", parameters);
        assert!(found["exceptionDetails"].is_null(), "{expression}: {found}");
        found["result"]["value"].take()
    }

    /// Emulates `screen` or `print`, and `light` or `dark`.
    pub(crate) fn pretend(&mut self, media: &str, scheme: &str) {
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        self.call("Emulation.setEmulatedMedia", json!({"media": media, "features": features}));
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
