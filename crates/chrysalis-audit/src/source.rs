//! The microdata, compared with what was published of them.

use std::collections::BTreeMap;

use chrysalis_release::Manifest;
use chrysalis_table::{Code, Codes, Column, Domain, Kind, MissingPolicy, Table};

use crate::AuditError;

/// The published attributes of the microdata, in the manifest's order.
///
/// A release without missing values may come from microdata with some: publishing dropped those rows, and so do we.
pub(crate) fn relevant(manifest: &Manifest, microdata: &Table) -> Result<(Table, usize), AuditError> {
    let drop = manifest.attributes.iter().all(|attribute| !attribute.domain.missing);
    dropped(columns_of(manifest, microdata)?, drop)
}

/// The same, and the column that says whose a row is, if there is one.
pub(crate) fn relevant_with(
    manifest: &Manifest,
    microdata: &Table,
    person: Option<&str>,
) -> Result<(Table, usize), AuditError> {
    let drop = manifest.attributes.iter().all(|attribute| !attribute.domain.missing);
    let mut columns = columns_of(manifest, microdata)?;
    columns.extend(person.and_then(|person| microdata.column(person)).cloned());
    dropped(columns, drop)
}

/// The same rows, each with its code in a further column; rows that lack that column's value are left out.
pub(crate) fn relevant_by(
    manifest: &Manifest,
    microdata: &Table,
    by: &Column,
) -> Result<(Table, Vec<Code>), AuditError> {
    let columns = columns_of(manifest, microdata)?;
    let drops = manifest.attributes.iter().all(|attribute| !attribute.domain.missing);
    let incomplete = columns.iter().filter(|_| drops).chain([by]).filter(|column| column.domain().has_missing());
    // Code 0 is the missing value.
    let incomplete: Vec<&Column> = incomplete.collect();
    let is_kept = |row: &u32| incomplete.iter().all(|column| column.code(*row as usize) != 0);
    let rows: Vec<u32> = (0..microdata.rows() as u32).filter(is_kept).collect();
    let codes = rows.iter().map(|&row| by.code(row as usize)).collect();
    Ok((Table::new(columns).gather(&rows), codes))
}

fn columns_of(manifest: &Manifest, microdata: &Table) -> Result<Vec<Column>, AuditError> {
    let mut columns = Vec::with_capacity(manifest.attributes.len());
    for attribute in &manifest.attributes {
        let column = microdata.column(&attribute.name).ok_or_else(|| AuditError::UnknownColumn {
            what: "microdata",
            column: attribute.name.clone(),
            columns: microdata.columns().iter().map(|column| column.name().to_owned()).collect(),
        })?;
        let (found, expected) = (column.domain().kind(), Kind::from(attribute.kind));
        if found != expected {
            return Err(AuditError::MicrodataKind { column: attribute.name.clone(), found, expected });
        }
        columns.push(column.clone());
    }
    Ok(columns)
}

fn dropped(columns: Vec<Column>, drop: bool) -> Result<(Table, usize), AuditError> {
    let policy = if drop { MissingPolicy::Drop } else { MissingPolicy::AsValue };
    // PROOF: only the policy `Error` can fail.
    Table::new(columns).with_missing(policy).map_err(|_| AuditError::NoRows { what: "the microdata" })
}

/// The people of the microdata who are in all of several releases, with all attributes that these publish. People with
/// a missing value were dropped by publishing from releases without missing values.
pub(crate) fn people(manifests: &[&Manifest], microdata: &Table) -> Result<Table, AuditError> {
    let mut columns: Vec<Column> = Vec::new();
    let mut keep = vec![true; microdata.rows()];
    for manifest in manifests {
        let known = columns_of(manifest, microdata)?;
        let drops = manifest.attributes.iter().all(|attribute| !attribute.domain.missing);
        for column in known.iter().filter(|column| drops && column.domain().has_missing()) {
            // Code 0 is the missing value.
            keep.iter_mut().zip(column.codes().iter()).for_each(|(keep, code)| *keep &= code != 0);
        }
        columns.extend(known);
    }
    columns.sort_by(|a, b| a.name().cmp(b.name()));
    columns.dedup_by(|a, b| a.name() == b.name());
    let table = Table::new(columns);
    if keep.iter().all(|&keep| keep) {
        return Ok(table);
    }
    let rows: Vec<u32> = (0..).zip(&keep).filter(|(_, keep)| **keep).map(|(row, _)| row).collect();
    Ok(table.gather(&rows))
}

/// How many values occur a different number of times in the two columns.
pub(crate) fn different_counts(source: &Column, published: &Column) -> usize {
    different_totals(source, published.domain(), &published.histogram())
}

/// The same where it is known how often each published value occurs.
pub(crate) fn different_totals(source: &Column, published: &Domain, totals: &[u64]) -> usize {
    let mut counts: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for (code, count) in (0..).zip(source.histogram()) {
        counts.entry(source.domain().text(code).into_owned()).or_default().0 += count;
    }
    for (code, &count) in (0..).zip(totals) {
        counts.entry(published.text(code).into_owned()).or_default().1 += count;
    }
    counts.values().filter(|(found, shown)| found != shown).count()
}

/// Two columns under one numbering: the source's codes, and beyond them the values that only the published one has.
pub(crate) fn join(source: &Column, published: &Column) -> (Codes, usize) {
    let n_source = source.domain().len();
    let translate = |code: Code| {
        let known = source.domain().code_of(published.domain().value(code));
        known.unwrap_or(n_source as Code + code)
    };
    let translated: Vec<Code> = (0..published.domain().len() as Code).map(translate).collect();
    let n_codes = n_source + translated.len();
    let published = published.codes().iter().map(|code| translated[code as usize]);
    (Codes::collect(n_codes, source.codes().iter().chain(published)), n_codes)
}
