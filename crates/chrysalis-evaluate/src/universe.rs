//! The microdata as points: who is where in the space of quasi attributes, and with which sensitive values.

use chrysalis_release::{Manifest, RoleName, View};
use chrysalis_table::{Code, Column, Domain, Kind, MissingPolicy, Table};
use rayon::prelude::*;

use crate::{EvaluateError, opened};

/// The published attributes of the microdata, one column for every attribute of the manifest, in order. If the release
/// has no missing values, rows with missing values are dropped, because the publisher dropped them as well.
pub(crate) fn relevant(manifest: &Manifest, microdata: &Table) -> Result<Table, EvaluateError> {
    let mut columns = Vec::with_capacity(manifest.attributes.len());
    for attribute in &manifest.attributes {
        let lacks = || EvaluateError::MissingColumn { column: attribute.name.clone() };
        let column = microdata.column(&attribute.name).ok_or_else(lacks)?;
        let (found, expected) = (column.domain().kind(), Kind::from(attribute.kind));
        if found != expected {
            return Err(EvaluateError::WrongKind { column: attribute.name.clone(), found, expected });
        }
        columns.push(column.clone());
    }
    let drop = manifest.attributes.iter().all(|attribute| !attribute.domain.missing);
    let policy = if drop { MissingPolicy::Drop } else { MissingPolicy::AsValue };
    // PROOF: only the policy `Error` can fail.
    let (table, _) = Table::new(columns).with_missing(policy).map_err(|_| EvaluateError::NoRows)?;
    if table.rows() == 0 { Err(EvaluateError::NoRows) } else { Ok(table) }
}

/// People with the same quasi values.
pub(crate) struct Point {
    /// One code of the microdata per attribute.
    pub(crate) codes: Vec<Code>,
    /// Their sensitive values, as codes of the microdata, and how often each occurs.
    pub(crate) values: Vec<(Code, u32)>,
}

/// All points with at least one person.
pub(crate) struct Universe<'a> {
    /// The attributes, by their positions in the manifest.
    pub(crate) fields: Vec<usize>,
    /// Columns of the microdata, one per attribute.
    pub(crate) columns: Vec<&'a Column>,
    pub(crate) sensitive: &'a Column,
    points: Vec<Point>,
}

impl<'a> Universe<'a> {
    /// `microdata` is what `relevant` returns.
    pub(crate) fn new(view: &View, microdata: &'a Table, fields: &[usize]) -> Result<Self, EvaluateError> {
        let sensitive = opened::with_role(view, RoleName::Sensitive).next().ok_or(EvaluateError::NoSensitive)?;
        let sensitive = &microdata.columns()[sensitive];
        let columns: Vec<&Column> = fields.iter().map(|&field| &microdata.columns()[field]).collect();
        let keys: Vec<&Column> = columns.iter().copied().chain([sensitive]).collect();
        let mut rows: Vec<u32> = (0..microdata.rows() as u32).collect();
        let key = |row: u32| keys.iter().map(move |column| column.code(row as usize));
        rows.par_sort_unstable_by(|&a, &b| key(a).cmp(key(b)));
        let same = |a: &u32, b: &u32| columns.iter().all(|column| column.code(*a as usize) == column.code(*b as usize));
        let point = |rows: &[u32]| Point {
            codes: columns.iter().map(|column| column.code(rows[0] as usize)).collect(),
            values: rows
                .chunk_by(|&a, &b| sensitive.code(a as usize) == sensitive.code(b as usize))
                .map(|run| (sensitive.code(run[0] as usize), run.len() as u32))
                .collect(),
        };
        let points = rows.chunk_by(same).map(point).collect();
        Ok(Universe { fields: fields.to_vec(), columns, sensitive, points })
    }

    pub(crate) fn points(&self) -> &[Point] {
        &self.points
    }

    pub(crate) fn rows(&self) -> usize {
        self.sensitive.codes().len()
    }
}

/// For every code of a published domain, the code of the same value in a column of the microdata.
pub(crate) fn translated(from: &Domain, to: &Column) -> Vec<Option<Code>> {
    (0..from.len() as Code).map(|code| to.domain().code_of(from.value(code))).collect()
}
