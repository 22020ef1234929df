//! What the page is made of: written by hand, part of the program, and fetched from nowhere.

use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use chrysalis_report::chart::STYLE;

use crate::error::refused;

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

/// Name, type and content.
const ASSETS: [(&str, &str, &str); 21] = [
    ("studio.css", CSS, include_str!("page/studio.css")),
    ("charts.css", CSS, STYLE),
    ("icon.svg", "image/svg+xml", include_str!("page/icon.svg")),
    ("main.js", SCRIPT, include_str!("page/main.js")),
    ("api.js", SCRIPT, include_str!("page/api.js")),
    ("keep.js", SCRIPT, include_str!("page/keep.js")),
    ("dom.js", SCRIPT, include_str!("page/dom.js")),
    ("draft.js", SCRIPT, include_str!("page/draft.js")),
    ("data.js", SCRIPT, include_str!("page/data.js")),
    ("roles.js", SCRIPT, include_str!("page/roles.js")),
    ("prepare.js", SCRIPT, include_str!("page/prepare.js")),
    ("groups.js", SCRIPT, include_str!("page/groups.js")),
    ("tree.js", SCRIPT, include_str!("page/tree.js")),
    ("taxonomy.js", SCRIPT, include_str!("page/taxonomy.js")),
    ("promise.js", SCRIPT, include_str!("page/promise.js")),
    ("price.js", SCRIPT, include_str!("page/price.js")),
    ("publish.js", SCRIPT, include_str!("page/publish.js")),
    ("attacks.js", SCRIPT, include_str!("page/attacks.js")),
    ("questions.js", SCRIPT, include_str!("page/questions.js")),
    ("complete.js", SCRIPT, include_str!("page/complete.js")),
    ("words.js", SCRIPT, include_str!("page/words.js")),
];

pub(crate) async fn page() -> Response {
    ([("content-type", HTML)], include_str!("page/index.html")).into_response()
}

pub(crate) async fn asset(Path((_, name)): Path<(String, String)>) -> Response {
    match ASSETS.iter().find(|(known, ..)| *known == name) {
        Some((_, kind, content)) => ([("content-type", *kind)], *content).into_response(),
        None => refused(StatusCode::NOT_FOUND, "the page has no such part"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The policy allows no script and no style inside the page, and nothing from elsewhere.
    #[test]
    fn the_page_asks_for_nothing_from_outside() {
        let html = include_str!("page/index.html");
        for inline in [" style=", "<style", "onclick=", "onload=", "onerror="] {
            assert!(!html.contains(inline), "{inline}");
        }
        for (name, _, content) in ASSETS.iter().chain(&[("index.html", HTML, html)]) {
            let addresses = content.matches("http://").count() + content.matches("https://").count();
            // The name of a language is no address.
            assert_eq!(addresses, usize::from(*name == "icon.svg"), "{name}");
            assert!(!content.contains("innerHTML"), "{name} writes markup");
        }
        for imported in ASSETS.iter().flat_map(|(_, _, text)| text.split(" from './").skip(1)) {
            let file = imported.split('\'').next().unwrap_or_default();
            assert!(ASSETS.iter().any(|(known, ..)| *known == file), "{file} is imported, and not served");
        }
    }
}
