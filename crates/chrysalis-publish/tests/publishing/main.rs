//! Publishing: partitioners and methods over random tables, against definitions and oracles. One program for all of
//! them, because linking a program for each takes a cold CI minutes.

#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

mod after;
mod angel;
mod angel_joined;
mod butterfly;
mod column;
mod dealing;
mod forms;
mod full_domain;
mod generalize;
mod like;
mod local_recoding;
mod mondrian;
mod populated;
mod republishing;
mod series;
mod series_census;
mod series_replay;
mod transparent;
