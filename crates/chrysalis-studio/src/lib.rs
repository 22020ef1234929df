//! The studio: choose, publish, attack and ask in a browser, on one's own machine.
//!
//! A server for one person. It listens on the loopback interface alone, its address holds a random token, and it
//! refuses requests that come from other pages ([`Server`]). Everything the page shows is fetched as JSON from here;
//! everything that is computed is computed by the crate `chrysalis`, in jobs that can be watched and stopped.
//!
//! Every tab of the page holds its choices, and sends them with every request as one [`Draft`](chrysalis::Draft). So tabs
//! do not disturb one another, and what the page did is a recipe to download. The server holds what is large: tables
//! that were read, and releases that were made; and a copy of what each tab chose, so that a reload loses nothing.
//!
//! Uploaded tables stay in memory. What is written where the owner says: a release with its certificate and its recipe
//! beside it, and the owner's key. What is written to a temporary folder that only this user can read, and that goes
//! when the studio ends: releases that wait to be downloaded, releases from elsewhere that were dropped on the page,
//! and the small page that leads the browser to the address.

mod api;
mod assets;
mod charts;
mod describe;
mod error;
mod guard;
mod jobs;
mod named;
mod place;
mod releases;
mod scratch;
mod server;
mod state;
mod tables;
mod tabs;
mod zip;

pub use server::{Limits, Options, Server};
