//! Who may ask: the page that this server handed out, and nobody else.
//!
//! Other pages in the same browser can send requests to the loopback interface. They are refused three times: they do
//! not know the token; the browser adds their `Origin`; and a name that was made to point here (DNS rebinding) is not
//! the `Host` that we listen on.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;

use crate::error::refused;

/// What a request must show.
pub(crate) struct Gate {
    pub(crate) token: String,
    /// `127.0.0.1:8700` and `localhost:8700`.
    pub(crate) hosts: [String; 2],
}

/// Nothing from outside is shown or run, no other page may frame this one, and addresses are told to nobody.
fn headers() -> [(header::HeaderName, &'static str); 7] {
    [
        (
            header::CONTENT_SECURITY_POLICY,
            "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'",
        ),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::CACHE_CONTROL, "no-store"),
        (header::HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (header::HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ]
}

pub(crate) async fn guard(State(gate): State<Arc<Gate>>, request: Request, next: Next) -> Response {
    let mut response = match gate.refusal(request.headers(), request.uri().path()) {
        Some(refusal) => refusal,
        None => next.run(request).await,
    };
    for (name, value) in headers() {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

impl Gate {
    fn refusal(&self, headers: &HeaderMap, path: &str) -> Option<Response> {
        let host = match only(headers, &header::HOST) {
            Some(host) if self.hosts.iter().any(|known| known == host) => host,
            _ => return Some(refused(StatusCode::FORBIDDEN, "the studio answers under its own address alone")),
        };
        let is_ours = match only(headers, &header::ORIGIN) {
            Some(origin) => origin.strip_prefix("http://") == Some(host),
            None => !headers.contains_key(header::ORIGIN),
        };
        if !is_ours {
            return Some(refused(StatusCode::FORBIDDEN, "the studio does not answer other pages"));
        }
        // No file is ever served by its path; a request that climbs is an attack all the same.
        if path.split('/').any(|part| part == ".." || part.to_ascii_lowercase().replace("%2e", ".") == "..") {
            return Some(refused(StatusCode::BAD_REQUEST, "an address must not contain `..`"));
        }
        let token = path.trim_start_matches('/').split('/').next().unwrap_or_default();
        if !is_same(token, &self.token) {
            let sentence = "this address lacks the studio's token: open the address that the studio printed";
            return Some(refused(StatusCode::FORBIDDEN, sentence));
        }
        None
    }
}

/// The value of a header that is there exactly once.
fn only<'a>(headers: &'a HeaderMap, name: &header::HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let first = values.next()?;
    values.next().is_none().then(|| first.to_str().ok()).flatten()
}

/// Takes equally long wherever the texts differ.
fn is_same(one: &str, other: &str) -> bool {
    let differences = one.bytes().zip(other.bytes()).fold(0, |found, (a, b)| found | (a ^ b));
    one.len() == other.len() && differences == 0
}
