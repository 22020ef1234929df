//! A report as one HTML file: text, tables and charts, with everything it needs inside.
//!
//! The page works from a disk without a network: its Content-Security-Policy allows no request at all and no style or
//! script except its own, identified by their hashes, so a value that slipped through as markup could still do nothing.
//! Nothing depends on the script (it sorts tables), and the style sheet covers light and dark screens and paper.
//!
//! Every text is escaped when the page is written; charts are the only markup a caller can put in.

mod policy;
mod table;

use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, Value, context};
use serde::Serialize;

use crate::chart::Chart;
pub use table::{Cell, Column, Table};

/// A page; its parts are shown in order.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Page {
    /// The name of the page.
    pub title: String,
    /// What it is, in a paragraph or two.
    pub lead: Vec<String>,
    /// What a reader must see first; absent where nothing is to be judged.
    pub banner: Option<Banner>,
    /// Whether it is a sheet to print and to keep: dense, and without links between its parts.
    pub is_sheet: bool,
    /// What a reader must know before reading on; empty for none.
    pub note: String,
    /// The parts.
    pub sections: Vec<Section>,
    /// The last line.
    pub footer: String,
}

/// A verdict at the top of a page.
#[derive(Clone, Debug, Serialize)]
pub struct Banner {
    /// How it looks.
    pub tone: Tone,
    /// The verdict in a few words.
    pub title: String,
    /// What it means, a paragraph each.
    pub texts: Vec<String>,
}

/// How a verdict looks. On paper and for those who see no colours, borders differ too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Tone {
    /// All is well.
    Good,
    /// Neither good nor bad: something is open.
    Open,
    /// Something is wrong.
    Bad,
}

/// A part of a page.
#[derive(Clone, Debug, Serialize)]
pub struct Section {
    /// What links point to: lower case letters, digits and `-`.
    pub id: &'static str,
    /// Its heading.
    pub title: String,
    /// What is in it, in order.
    pub blocks: Vec<Block>,
}

/// Something in a section.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", content = "is", rename_all = "snake_case")]
pub enum Block {
    /// A heading inside a section.
    Heading(String),
    /// A paragraph.
    Text(String),
    /// Points of a list.
    List(Vec<Item>),
    /// Words and what they mean.
    Terms(Vec<Item>),
    /// Text as it is typed.
    Code(String),
    /// A chart with a caption.
    Figure(Figure),
    /// Tables; side by side where there is room.
    Tables(Vec<Table>),
}

/// A point of a list, or a word and what it means.
#[derive(Clone, Debug, Serialize)]
pub struct Item {
    /// The emphasized words at its start; may be empty.
    pub term: String,
    /// The rest.
    pub text: String,
}

impl Item {
    /// A term and its text.
    pub fn new(term: impl Into<String>, text: impl Into<String>) -> Self {
        Item { term: term.into(), text: text.into() }
    }
}

/// A picture and the words below it.
#[derive(Clone, Debug, Serialize)]
pub struct Figure {
    svg: Value,
    caption: String,
}

impl Block {
    /// A heading inside a section.
    pub fn heading(text: impl Into<String>) -> Self {
        Block::Heading(text.into())
    }

    /// A chart with the words below it; the id of its `svg` element is the chart's.
    pub fn figure(chart: &Chart, caption: impl Into<String>) -> Self {
        // The one place where markup comes in: charts escape their own words.
        Block::Figure(Figure { svg: Value::from_safe_string(chart.to_svg()), caption: caption.into() })
    }

    /// A table alone.
    pub fn table(table: Table) -> Self {
        Block::Tables(vec![table])
    }
}

const CSS: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("sort.js");
const TEMPLATE: &str = include_str!("page.html");

impl Page {
    /// The whole file.
    ///
    /// # Panics
    /// Never: the template is a constant and fits this type, which the tests of this crate check.
    pub fn to_html(&self) -> String {
        let mut environment = Environment::new();
        environment.set_auto_escape_callback(|_| AutoEscape::Html);
        let values = context! {
            page => Value::from(Serde(self)),
            policy => policy::policy(&[CSS, crate::chart::STYLE], &[SCRIPT]),
            css => Value::from_safe_string(CSS.to_owned()),
            script => Value::from_safe_string(SCRIPT.to_owned()),
        };
        let written = environment.template_from_str(TEMPLATE).and_then(|template| template.render(values));
        // PROOF: template and values are fixed by this file, except for texts, and the template takes any text; every
        // test that makes a page runs this line.
        readable(&written.expect("the template is a constant that fits the page"))
    }
}

/// Replaces characters that no page may have (a terminal's escapes, a file's zero bytes).
fn readable(html: &str) -> String {
    let is_fine = |letter: char| letter == '\n' || !letter.is_control();
    html.chars().map(|letter| if is_fine(letter) { letter } else { '\u{fffd}' }).collect()
}

#[cfg(test)]
mod tests;
