//! A studio that runs in this process, and a client that says exactly what it is told to say.

#![allow(clippy::unwrap_used, dead_code, reason = "tests")]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use chrysalis_studio::{Limits, Options, Server};
use serde_json::Value;

/// A studio, and the folder that names of folders are relative to.
pub(crate) struct Running {
    pub(crate) home: tempfile::TempDir,
    client: Client,
    stop: Option<tokio::sync::oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

/// An answer to a request.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|_| panic!("no JSON: {}", String::from_utf8_lossy(&self.body)))
    }

    pub(crate) fn message(&self) -> String {
        self.json()["error"]["message"].as_str().unwrap_or_default().to_owned()
    }
}

impl Running {
    pub(crate) fn start() -> Running {
        Running::with(Limits::default(), None)
    }

    pub(crate) fn with(limits: Limits, file: Option<String>) -> Running {
        let home = tempfile::tempdir().unwrap();
        let options = Options { file, port: None, home: Some(home.path().to_owned()), limits };
        let (told, address) = std::sync::mpsc::channel();
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread()
                .worker_threads(2)
                .thread_stack_size(64 << 20)
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async move {
                let server = Server::start(options).await.unwrap();
                told.send(server.address()).unwrap();
                server.run(async move { drop(stopped.await) }).await;
            });
        });
        let client = Client::of(&address.recv().unwrap());
        Running { home, client, stop: Some(stop), thread: Some(thread) }
    }

    /// The names of what is in the studio's folder.
    pub(crate) fn written(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.home.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

impl std::ops::Deref for Running {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

/// Whoever knows the address of a studio.
pub(crate) struct Client {
    pub(crate) port: u16,
    pub(crate) token: String,
}

impl Client {
    /// Of `http://127.0.0.1:PORT/TOKEN/`.
    pub(crate) fn of(address: &str) -> Client {
        let mut parts = address.trim_start_matches("http://127.0.0.1:").split('/');
        let port = parts.next().unwrap().parse().unwrap();
        Client { port, token: parts.next().unwrap().to_owned() }
    }

    /// Sends these bytes and reads until the connection ends.
    pub(crate) fn raw(&self, request: &[u8]) -> Answer {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        // A refusal may come before everything was sent.
        let _ = stream.write_all(request);
        answer(&mut stream)
    }

    pub(crate) fn stream(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream
    }

    /// The first lines of a request as the page makes it.
    pub(crate) fn head(&self, method: &str, path: &str, more: &str) -> String {
        format!(
            "{method} /{}/{path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\n{more}\r\n",
            self.token, self.port
        )
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.raw(self.head("GET", path, "").as_bytes())
    }

    pub(crate) fn send(&self, method: &str, path: &str, body: &[u8]) -> Answer {
        let head = self.head(method, path, &format!("Content-Length: {}\r\n", body.len()));
        self.raw(&[head.as_bytes(), body].concat())
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        self.send("POST", path, body.to_string().as_bytes())
    }

    /// Starts a job and waits for its end.
    pub(crate) fn run(&self, method: &str, path: &str, body: &[u8]) -> Value {
        let started = self.send(method, path, body).json();
        let Some(job) = started["job"].as_u64() else { panic!("{path}: {started}") };
        self.wait(job)
    }

    pub(crate) fn wait(&self, job: u64) -> Value {
        let start = Instant::now();
        loop {
            let told = self.get(&format!("api/jobs/{job}")).json();
            if told["state"] != "running" {
                return told;
            }
            assert!(start.elapsed() < Duration::from_secs(120), "{told}");
        }
    }

    /// Opens a table by uploading it.
    pub(crate) fn open(&self, name: &str, bytes: &[u8]) -> Value {
        let told = self.run("PUT", &format!("api/tables/{name}"), bytes);
        assert_eq!(told["state"], "done", "{told}");
        told["result"].clone()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.take().map(|stop| stop.send(()));
        let _ = self.thread.take().map(std::thread::JoinHandle::join);
    }
}

pub(crate) fn answer(stream: &mut TcpStream) -> Answer {
    let mut bytes = Vec::new();
    // A server that refuses an upload may close the connection while it is being sent.
    let _ = stream.read_to_end(&mut bytes);
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap_or_else(|| panic!("no answer: {bytes:?}"));
    let head = String::from_utf8_lossy(&bytes[..end]).to_ascii_lowercase();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let mut body = bytes[end + 4..].to_vec();
    if head.contains("transfer-encoding: chunked") {
        body = unchunked(&body);
    }
    Answer { status, head, body }
}

fn unchunked(mut bytes: &[u8]) -> Vec<u8> {
    let mut whole = Vec::new();
    while let Some(end) = bytes.windows(2).position(|two| two == b"\r\n") {
        let size = usize::from_str_radix(std::str::from_utf8(&bytes[..end]).unwrap(), 16).unwrap();
        whole.extend(&bytes[end + 2..end + 2 + size]);
        bytes = &bytes[end + 2 + size + 2..];
    }
    whole
}

/// The example table.
pub(crate) fn hospital(rows: u64) -> Vec<u8> {
    let mut csv = Vec::new();
    chrysalis_example::write_csv(&mut csv, rows, 1).unwrap();
    csv
}
