//! The studio: choose, publish, attack and ask in a browser, on one's own machine.
//!
//! A server for one person. It listens on the loopback interface alone, its address holds a random token, and it
//! refuses requests that come from other pages ([`Server`]). Everything the page shows is fetched as JSON from here;
//! everything that is computed is computed by the crate `chrysalis`, in jobs that can be watched and stopped.
//!
//! The page holds the choices, as one [`Draft`](chrysalis::Draft) per tab, and sends them with every request. The server
//! holds what is large: tables that were read, and releases that were made. So tabs do not disturb one another, and what
//! the page did is a recipe to download.
//!
//! Nothing is written but what the owner asks for: a release to a folder that was named, with its certificate and its
//! recipe beside it. Uploaded tables stay in memory.

mod api;
mod assets;
mod charts;
mod describe;
mod error;
mod guard;
mod jobs;
mod place;
mod releases;
mod server;
mod state;
mod tables;
mod zip;

pub use server::{Limits, Options, Server};
