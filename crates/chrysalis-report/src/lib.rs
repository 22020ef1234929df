//! Pictures and pages: charts as SVG, and reports as one HTML file that needs nothing else.
//!
//! The crate knows nothing of releases. Callers hand over numbers as a [`chart::Chart`] or an [`html::Page`] and get
//! text back; what the numbers mean is for the caller to say. The same input gives the same bytes, so a report can be
//! compared with an earlier one.
//!
//! SVG is written here and not by a plotting library: the one at hand (plotters 0.3) writes colours into every element
//! and offers neither classes, titles nor descriptions, so its pictures can follow neither a dark screen nor a printer,
//! and a screen reader finds nothing in them.
//!
//! # Example
//!
//! ```
//! use chrysalis_report::chart::{Axis, Chart, Series};
//!
//! let chart = Chart::new("Query error", Axis::linear("l").ticks_at([2.0, 4.0, 6.0]), Axis::linear("median error").percent())
//!     .with(Series::line("anatomy", [(2.0, 0.01), (4.0, 0.02), (6.0, 0.04)]))
//!     .with(Series::line("generalize", [(2.0, 0.08), (4.0, 0.19), (6.0, 0.31)]));
//! let svg = chart.to_svg();
//! assert!(svg.starts_with("<svg") && svg.contains("role=\"img\""));
//! ```

pub mod chart;
pub mod html;
