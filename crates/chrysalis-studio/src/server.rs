//! Listening, and which request goes where.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::{Arc, PoisonError};

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::StatusCode;
use axum::middleware::from_fn_with_state;
use axum::routing::{get, post, put};
use chrysalis::{Error, Remedy};
use rand::TryRng;
use rand::rngs::SysRng;
use tokio::net::TcpListener;

use crate::api::{ask, groups, jobs, price, publish, table, tabs};
use crate::assets::{asset, page};
use crate::error::refused;
use crate::guard::{Gate, guard};
use crate::state::Studio;

/// What requests may cost.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The most bytes of an uploaded file. Larger ones are read where they are.
    pub upload: u64,
    /// The most bytes of any other request.
    pub request: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { upload: 256 << 20, request: 4 << 20 }
    }
}

/// How the studio is started.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// A table or a spec to open at once.
    pub file: Option<String>,
    /// The port; any free one if absent.
    pub port: Option<u16>,
    /// What names of folders are relative to; the current folder if absent.
    pub home: Option<PathBuf>,
    /// What requests may cost.
    pub limits: Limits,
}

/// A studio that listens.
pub struct Server {
    listener: TcpListener,
    studio: Arc<Studio>,
    token: String,
    address: SocketAddr,
}

impl Server {
    /// Listens on the loopback interface, and begins to read the file that is named. Needs a tokio runtime.
    pub async fn start(options: Options) -> Result<Server, Error> {
        let port = options.port.unwrap_or(0);
        let failed = |error: io::Error| not_listening(port, &error);
        // LEAK: the microdata are served here, so nobody but this machine may connect.
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let home = match options.home {
            Some(home) => home,
            None => std::env::current_dir().map_err(|error| Error::internal(format!("no current folder: {error}")))?,
        };
        let studio = Arc::new(Studio::new(options.limits, home, options.file));
        if let Some(file) = studio.file.clone() {
            let job = table::open_file(&studio, file)?;
            *studio.first.lock().unwrap_or_else(PoisonError::into_inner) = Some(job);
        }
        Ok(Server { listener, studio, token: token()?, address })
    }

    /// The address to open: whoever knows it can use the studio.
    pub fn address(&self) -> String {
        format!("http://{}/{}/", self.address, self.token)
    }

    /// Removes temporary files at once: for whoever cannot wait for the end of [`run`](Server::run).
    pub fn cleaner(&self) -> impl Fn() + Send + 'static {
        let studio = Arc::clone(&self.studio);
        move || studio.scratch.close()
    }

    /// Answers until `stopped` ends. What is under way is stopped then, and leaves nothing behind.
    pub async fn run(self, stopped: impl Future<Output = ()>) {
        let port = self.address.port();
        let hosts = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
        let gate = Arc::new(Gate { token: self.token, hosts });
        let studio = Arc::clone(&self.studio);
        let answering = tokio::spawn(axum::serve(self.listener, router(self.studio, gate)).into_future());
        stopped.await;
        answering.abort();
        studio.jobs.stop_all();
        studio.releases.clear();
        studio.received.clear();
        // Somebody may still be packing a release to download.
        studio.scratch.close();
    }
}

/// Why a port cannot be had, and what to do about it.
fn not_listening(port: u16, error: &io::Error) -> Error {
    let free = "leave it out, and a free one is found";
    let (message, remedy) = match error.kind() {
        io::ErrorKind::AddrInUse => {
            let message = format!("port {port} is in use: another program listens there, perhaps another studio");
            (message, format!("choose another port with --port, or {free}"))
        }
        io::ErrorKind::PermissionDenied => {
            let message = format!("port {port} is kept for the administrator of this machine");
            (message, format!("choose one from 1024 to 65535, such as --port 8700, or {free}"))
        }
        _ => {
            let message = format!("cannot listen on port {port} of this machine: {error}");
            (message, format!("choose another port with --port, or {free}"))
        }
    };
    Error::request(message, Remedy::from(remedy))
}

/// 128 bits from the operating system.
fn token() -> Result<String, Error> {
    let mut bytes = [0; 16];
    let failed = |error| Error::internal(format!("no randomness to be had: {error}"));
    SysRng.try_fill_bytes(&mut bytes).map_err(failed)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn router(studio: Arc<Studio>, gate: Arc<Gate>) -> Router {
    let most = studio.limits.request;
    Router::new()
        .route("/{token}/", get(page))
        .route("/{token}/assets/{name}", get(asset))
        .route("/{token}/api/state", get(table::state))
        .route("/{token}/api/tables/{name}", put(table::upload))
        .route("/{token}/api/tables/{id}/about", get(table::about))
        .route("/{token}/api/tables/{id}/exposure", post(table::exposed))
        .route("/{token}/api/tables/{id}/groups", post(groups::groups))
        .route("/{token}/api/tables/{id}/check", post(price::check))
        .route("/{token}/api/tables/{id}/price", post(price::trial))
        .route("/{token}/api/tables/{id}/compare", post(price::compare))
        .route("/{token}/api/tables/{id}/recipe", post(publish::recipe))
        .route("/{token}/api/tables/{id}/publish", post(publish::publish))
        .route("/{token}/api/populations/{name}", put(table::population))
        .route("/{token}/api/pages/{id}", get(price::page))
        .route("/{token}/api/releases/{id}", get(ask::about))
        .route("/{token}/api/releases/{id}/ask", post(ask::ask))
        .route("/{token}/api/releases/{id}/with", post(ask::intersect))
        .route("/{token}/api/releases/{id}/{file}", get(publish::download))
        .route("/{token}/api/received", post(ask::receive))
        .route("/{token}/api/received/{id}/{name}", put(ask::received))
        .route("/{token}/api/tabs/{name}", get(tabs::get).put(tabs::put))
        .route("/{token}/api/jobs/{id}", get(jobs::look).delete(jobs::stop))
        .fallback(|| async { refused(StatusCode::NOT_FOUND, "the studio has no such address") })
        .layer(DefaultBodyLimit::max(most))
        .with_state(studio)
        .layer(from_fn_with_state(gate, guard))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_that_cannot_be_had_is_explained() {
        let told = |kind: io::ErrorKind| not_listening(80, &io::Error::from(kind));
        let refused = told(io::ErrorKind::PermissionDenied);
        assert_eq!(refused.message, "port 80 is kept for the administrator of this machine");
        assert!(refused.remedy.to_string().contains("--port 8700"), "{}", refused.remedy);
        assert!(told(io::ErrorKind::AddrInUse).message.contains("perhaps another studio"));
        assert!(told(io::ErrorKind::AddrNotAvailable).message.contains("cannot listen on port 80"));
    }

    #[test]
    fn a_port_in_use_is_called_that() {
        let taken = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = taken.local_addr().unwrap().port();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let options = Options { port: Some(port), ..Options::default() };
        let error = runtime.block_on(Server::start(options)).map(|_| ()).unwrap_err();
        assert!(error.message.contains("is in use"), "{}", error.message);
    }
}
