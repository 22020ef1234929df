use serde::Serialize;

/// A table with a header.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Table {
    /// What it shows; empty for none.
    pub caption: String,
    /// The header.
    pub columns: Vec<Column>,
    /// Rows of as many cells as there are columns.
    pub rows: Vec<Vec<Cell>>,
    class: &'static str,
}

impl Table {
    /// A table as wide as the page, whose rows a reader may sort.
    pub fn sortable(columns: Vec<Column>, rows: Vec<Vec<Cell>>) -> Self {
        Table { caption: String::new(), columns, rows, class: "wide sortable" }
    }

    /// A table as wide as it needs to be, kept together on paper.
    pub fn small(columns: Vec<Column>, rows: Vec<Vec<Cell>>) -> Self {
        Table { caption: String::new(), columns, rows, class: "small" }
    }

    /// With words above it.
    pub fn captioned(mut self, caption: impl Into<String>) -> Self {
        self.caption = caption.into();
        self
    }
}

/// The head of a column.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Column {
    title: String,
    is_number: bool,
    hint: String,
}

impl Column {
    /// A column of words.
    pub fn words(title: impl Into<String>) -> Self {
        Column { title: title.into(), ..Column::default() }
    }

    /// A column of numbers, aligned right.
    pub fn numbers(title: impl Into<String>) -> Self {
        Column { title: title.into(), is_number: true, ..Column::default() }
    }

    /// With a sentence as a tooltip.
    pub fn hinted(mut self, hint: impl Into<String>) -> Self {
        self.hint = hint.into();
        self
    }
}

/// One cell of a table.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Cell {
    text: String,
    class: &'static str,
    /// What rows are sorted by, if it is not the text.
    sort: Option<String>,
}

impl Cell {
    /// Words.
    pub fn words(text: impl Into<String>) -> Self {
        Cell { text: text.into(), ..Cell::default() }
    }

    /// The name of a row.
    pub fn name(text: impl Into<String>) -> Self {
        Cell { text: text.into(), class: "name", sort: None }
    }

    /// A few words that stay on one line.
    pub fn brief(text: impl Into<String>) -> Self {
        Cell { text: text.into(), class: "brief", sort: None }
    }

    /// A number as text, and as the value that rows are sorted by; one that is not finite counts as none.
    pub fn number(text: impl Into<String>, value: f64) -> Self {
        let sort = if value.is_finite() { value.to_string() } else { String::new() };
        Cell { text: text.into(), class: "number", sort: Some(sort) }
    }

    /// A cell without a number.
    pub fn none() -> Self {
        Cell { text: "–".to_owned(), class: "number", sort: Some(String::new()) }
    }

    /// The hash of a file, which may break anywhere.
    pub fn hash(text: impl Into<String>) -> Self {
        Cell { text: text.into(), class: "hash", sort: None }
    }

    /// Marks something that is as it should be.
    pub fn good(mut self) -> Self {
        self.class = "good";
        self
    }

    /// Marks the best of its column.
    pub fn best(mut self) -> Self {
        self.class = match self.class {
            "number" => "number best",
            _ => "best",
        };
        self
    }

    /// Marks something that is wrong.
    pub fn bad(mut self) -> Self {
        self.class = "bad";
        self
    }
}
