//! What owners and researchers try out: several releases of one table side by side, and the papers' figures made again.
//!
//! [`compare`] turns a draft with `[[compare.runs]]`, or a usual set of methods, into runs, has the library carry them out, and
//! writes a page about them. [`experiment`] reads a description of a figure, makes the releases it asks for and tells the
//! paper's numbers beside ours.
//!
//! Both are callers of the crate `chrysalis` like any other, and neither prints.

pub mod compare;
pub mod experiment;
