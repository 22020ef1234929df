//! Persons who may have several rows each, judged by code that shares nothing with what forms their groups: all worlds
//! of small tables, recounts of larger ones from the release and the microdata, refusals word for word, and a real table.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test that cannot go on has failed")]

mod common;
mod diabetes;
mod merging;
mod recount;
mod refusals;
mod surplus;
mod worlds;
