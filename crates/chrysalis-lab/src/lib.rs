//! Tools for owners and researchers to try things out: several releases of one table side by side, and the papers'
//! figures reproduced.
//!
//! [`compare`] turns a draft with `[[compare.runs]]`, or a default set of methods, into runs, has the library carry
//! them out, and writes a page about them. [`experiment`] reads a description of a figure, makes the releases it asks
//! for and shows the paper's numbers beside ours.
//!
//! [`certificate`] writes the page about an audited release that travels with it.
//!
//! All use the crate `chrysalis` like any other caller, and none prints.

pub mod certificate;
pub mod compare;
pub mod experiment;
