//! Small random microdata, random questions, and an evaluator for them that is slow and obviously right.

#![allow(dead_code, reason = "each test file uses its part")]
#![allow(clippy::unwrap_used, reason = "tests")]

pub(crate) mod ask;
pub(crate) mod compared;
pub(crate) mod grammar;
pub(crate) mod months;
pub(crate) mod skewed;
pub(crate) mod truth;

use chrysalis_publish::method::{Anatomy, Angel, Butterfly, Fallback, Generalize, Method, Permute, Shuffle};
use chrysalis_publish::{AttributeSpec, Job, Microdata, Partition, QuasiIdentifiers};
use chrysalis_query::OpenRelease;
use chrysalis_release::Release;
use chrysalis_table::{ColumnRequest, CsvOptions, CsvReader, DateTime, Kind, Role, Table, Unwatched, Value};
use rand::rngs::ChaCha20Rng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};

pub(crate) fn rng(seed: u64) -> ChaCha20Rng {
    ChaCha20Rng::seed_from_u64(seed)
}

/// A value of any kind. Dates are days after 2020-01-01.
#[derive(Clone, Debug, PartialEq, PartialOrd)]
pub(crate) enum Val {
    Number(f64),
    Day(u32),
    /// A microsecond of that many, the first of which lies before 1970.
    Moment(u32),
    Word(&'static str),
}

impl Val {
    /// As written in a CSV file; in SQL, words and days are quoted.
    pub(crate) fn text(&self) -> String {
        match self {
            Val::Number(number) => number.to_string(),
            Val::Moment(moment) => DateTime(i64::from(*moment) - 2).to_string(),
            Val::Day(day) => format!("2020-01-{:02}", day + 1),
            Val::Word(word) => (*word).to_owned(),
        }
    }

    pub(crate) fn sql(&self) -> String {
        match self {
            Val::Number(_) => self.text(),
            _ => format!("'{}'", self.text().replace('\'', "''")),
        }
    }

    pub(crate) fn number(&self) -> f64 {
        if let Val::Number(number) = self { *number } else { panic!("not a number: {self:?}") }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Col {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
}

pub(crate) const ORDER: [&str; 4] = ["low", "mid", "high", "top"];
pub(crate) const WORDS: [&str; 6] = ["ab", "b", "ba", "Ünö", "c,d", "it's"];

const QUASI: [Col; 6] = [
    Col { name: "a", kind: Kind::Integer },
    Col { name: "d", kind: Kind::Date },
    Col { name: "m", kind: Kind::DateTime },
    Col { name: "w", kind: Kind::Category },
    Col { name: "o", kind: Kind::Ordinal },
    Col { name: "r", kind: Kind::Real },
];

/// A table of people: the quasi columns, then the sensitive one, and the groups of its rows.
#[derive(Clone, Debug)]
pub(crate) struct World {
    pub(crate) cols: Vec<Col>,
    pub(crate) rows: Vec<Vec<Option<Val>>>,
    pub(crate) groups: Vec<Vec<usize>>,
    /// For angel.
    pub(crate) n_buckets: usize,
}

const BUCKETS: [&str; 2] = ["bucket", "other_bucket"];

pub(crate) fn value(kind: Kind, rng: &mut ChaCha20Rng) -> Val {
    match kind {
        Kind::Integer => Val::Number(f64::from(rng.random_range(-4..8_i32))),
        Kind::Real => Val::Number([-1.5, -0.25, 0.0, 0.5, 2.25, 7.0][rng.random_range(0..6)]),
        Kind::Date => Val::Day(rng.random_range(0..6)),
        Kind::DateTime => Val::Moment(rng.random_range(0..6)),
        Kind::Ordinal => Val::Word(ORDER[rng.random_range(0..3)]),
        Kind::Category => Val::Word(WORDS[rng.random_range(0..6)]),
    }
}

impl World {
    pub(crate) fn random(
        rng: &mut ChaCha20Rng,
        n_rows: usize,
        n_groups: usize,
        sensitive: Kind,
        missing: f64,
    ) -> World {
        let mut cols = QUASI.to_vec();
        cols.shuffle(rng);
        cols.truncate(rng.random_range(1..=3));
        cols.push(Col { name: "s", kind: sensitive });
        let cell = |kind, rng: &mut ChaCha20Rng| (!rng.random_bool(missing)).then(|| value(kind, rng));
        let rows = (0..n_rows).map(|_| cols.iter().map(|col| cell(col.kind, rng)).collect()).collect();
        let mut groups = vec![Vec::new(); n_groups];
        for row in 0..n_rows {
            groups[if row < n_groups { row } else { rng.random_range(0..n_groups) }].push(row);
        }
        groups.retain(|group| !group.is_empty());
        World { cols, rows, groups, n_buckets: rng.random_range(1..4) }
    }

    pub(crate) fn sensitive(&self) -> usize {
        self.cols.len() - 1
    }

    fn microdata(&self) -> Microdata {
        self.microdata_of(self.table())
    }

    /// The same, whose sensitive column also knows the values that others have.
    pub(crate) fn microdata_with_values_of(&self, others: &World) -> Microdata {
        let all = others.table();
        let (own, all) = (self.table(), all.column("s").unwrap().domain().values().to_vec());
        let columns = own.columns().iter().map(|column| {
            let lacks = |value: &&Value| column.domain().code_of(Some(value)).is_none();
            let more = all.iter().filter(lacks).cloned().collect();
            if column.name() == "s" { column.with_values(more, |_| 0) } else { column.clone() }
        });
        self.microdata_of(Table::new(columns.collect()))
    }

    fn table(&self) -> Table {
        let quoted = |text: String| format!("\"{}\"", text.replace('"', "\"\""));
        let mut text =
            self.cols.iter().map(|col| col.name).collect::<Vec<_>>().join(",") + ",pad,bucket,other_bucket\n";
        for (at, row) in self.rows.iter().enumerate() {
            let cells = row.iter().map(|cell| cell.as_ref().map_or_else(String::new, |cell| quoted(cell.text())));
            let buckets = [at % self.n_buckets, (at / 2) % self.n_buckets];
            text += &(cells.collect::<Vec<_>>().join(",") + &format!(",x,{},{}\n", buckets[0], buckets[1]));
        }
        let wanted: Vec<ColumnRequest> = self
            .cols
            .iter()
            .map(|col| ColumnRequest {
                order: if col.kind == Kind::Ordinal { ORDER.map(str::to_owned).to_vec() } else { Vec::new() },
                ..ColumnRequest::of_kind(col.name, col.kind)
            })
            .chain(BUCKETS.map(ColumnRequest::named))
            .collect();
        let options = CsvOptions { delimiter: Some(b','), ..CsvOptions::default() };
        CsvReader::open(text.as_bytes(), &options).unwrap().read(&wanted).unwrap()
    }

    fn microdata_of(&self, table: Table) -> Microdata {
        let role = |at| if at == self.sensitive() { Role::Sensitive } else { Role::QuasiIdentifier };
        let attributes: Vec<AttributeSpec> =
            (0..).zip(&self.cols).map(|(at, col)| AttributeSpec::new(col.name, role(at))).collect();
        Microdata::new(table, &attributes).unwrap()
    }

    fn partition(&self) -> Partition {
        let rows = self.groups.iter().flatten().map(|&row| row as u32).collect();
        Partition::new(rows, &self.groups.iter().map(|group| group.len() as u32).collect::<Vec<_>>())
    }

    /// Two users: both know the first attribute, and they divide the others between them.
    fn butterfly(&self) -> Butterfly {
        let names: Vec<String> = self.cols[..self.sensitive()].iter().map(|col| col.name.to_owned()).collect();
        let one = names.iter().step_by(2).cloned().collect();
        let other = names.iter().take(1).chain(names.iter().skip(1).step_by(2)).cloned().collect();
        Butterfly { quasi_identifiers: QuasiIdentifiers::new(vec![one, other]).unwrap(), hierarchy: None }
    }

    /// The release in a form, ready for questions; `None` if the form refuses the data.
    pub(crate) fn publish(&self, form: &str, rng: &mut ChaCha20Rng) -> Option<OpenRelease> {
        self.release(form, rng).map(|release| OpenRelease::new(&release).unwrap())
    }

    /// The release in a form; `None` if the form refuses the data.
    pub(crate) fn release(&self, form: &str, rng: &mut ChaCha20Rng) -> Option<Release> {
        let angel = |marginals: Vec<Vec<String>>| Angel {
            k: 1,
            bucket_columns: BUCKETS[..=marginals.len()].iter().map(|&name| name.to_owned()).collect(),
            marginals,
            for_reconstruction: false,
            fallback: Fallback::Never,
        };
        let (plain, marginal) = (angel(Vec::new()), angel(vec![vec![self.cols[0].name.to_owned()]]));
        let butterfly = self.butterfly();
        let method: &dyn Method = match form {
            "angel" => &plain,
            "angel with a marginal" if self.sensitive() > 1 => &marginal,
            "angel with a marginal" => return None,
            "anatomy" => &Anatomy,
            "shuffle" => &Shuffle,
            "permute" => &Permute,
            "generalize" => &Generalize,
            "butterfly" => &butterfly,
            _ => panic!("no form {form}"),
        };
        let data = self.microdata();
        method.check(&data).ok()?;
        // Butterflies form their own groups.
        let k = format!("k={}", data.rows().min(2));
        let guarantees = if form == "butterfly" { vec![k.parse().unwrap()] } else { Vec::new() };
        Some(Job::new(&data, &guarantees, &self.partition(), rng, &Unwatched).run(method).unwrap().release)
    }
}
