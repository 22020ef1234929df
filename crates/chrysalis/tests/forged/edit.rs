//! Edits that keep all tables of a release consistent with each other, as a careful liar would make them.

use crate::release::Fake;
use crate::truth;

impl Fake<'_> {
    /// Moves one occurrence of a value from one group's counts to another's.
    pub(crate) fn move_count(&mut self, from: &str, to: &str, value: &str) {
        self.add_count(from, value, -1);
        self.add_count(to, value, 1);
    }

    /// Changes how often a value occurs in a group, if values are counted; a line that reaches 0 is removed.
    pub(crate) fn add_count(&mut self, group: &str, value: &str, more: i64) {
        let name = self.sensitive();
        let id = self.form().shape().group_id.unwrap();
        let Some(sheet) = self.counts_mut() else { return };
        let (id, shown, count) = (sheet.at(id), sheet.at(&name), sheet.at("count"));
        let line = sheet.rows.iter().position(|line| line[id] == group && line[shown] == value);
        match line {
            Some(at) => {
                let n = sheet.rows[at][count].parse::<i64>().unwrap() + more;
                match n {
                    0 => drop(sheet.rows.remove(at)),
                    n => sheet.rows[at][count] = n.to_string(),
                }
            }
            None => {
                let mut line = vec![String::new(); 3];
                (line[id], line[shown], line[count]) = (group.to_owned(), value.to_owned(), more.to_string());
                sheet.rows.push(line);
            }
        }
    }

    /// Recomputes the bounds of some groups, if the form has bounds.
    pub(crate) fn mend_help(&mut self, groups: &[&str]) {
        let Some(name) = self.form().shape().help else { return };
        let (kind, id) = (self.kind_of(&self.sensitive()), self.id().unwrap());
        let value = self.rows().at(&self.sensitive());
        for group in groups {
            let of_group = self.rows().rows.iter().filter(|row| row[id] == *group);
            let values: Vec<f64> = of_group.map(|row| row[value].parse().unwrap()).collect();
            let lines = truth::help(kind, group, &values);
            let help = self.sheet_mut(name);
            help.rows.retain(|line| line[0] != *group);
            help.rows.extend(lines);
        }
    }

    /// Moves a row to another group, which may be new, together with a value of its group if values are counted.
    pub(crate) fn move_row(&mut self, row: usize, to: &str, value: &str) {
        let id = self.id().unwrap();
        let from = self.rows().rows[row][id].clone();
        let shape = self.form().shape();
        let model = self.rows().rows.iter().find(|row| row[id] == to).cloned();
        let columns: Vec<usize> =
            self.with_role("quasi").iter().flat_map(|name| self.columns_of(self.rows(), name)).collect();
        let moved = &mut self.rows_mut().rows[row];
        moved[id] = to.to_owned();
        if let (Some(model), true) = (model, shape.detail.is_labelled() && shape.marginals.is_none()) {
            columns.into_iter().for_each(|at| moved[at] = model[at].clone());
        }
        self.move_count(&from, to, value);
        for sheet in self.sheets.iter_mut().filter(|sheet| shape.marginals.is_some_and(|it| sheet.name.starts_with(it)))
        {
            let id = sheet.at(shape.group_id.unwrap());
            if let Some(row) = sheet.rows.iter_mut().find(|row| row[id] == from) {
                row[id] = to.to_owned();
            }
        }
        self.mend_help(&[&from, to]);
    }

    /// Exchanges a value of one group for another value of another group.
    pub(crate) fn exchange(&mut self, (group, value): (&str, &str), (other, its): (&str, &str)) {
        self.replace(group, value, its);
        self.replace(other, its, value);
        self.mend_help(&[group, other]);
    }

    /// Replaces one occurrence of a value in a group with another value.
    pub(crate) fn replace(&mut self, group: &str, value: &str, by: &str) {
        if self.counts().is_some() {
            self.add_count(group, value, -1);
            self.add_count(group, by, 1);
            return;
        }
        let (id, shown) = (self.id().unwrap(), self.rows().at(&self.sensitive()));
        let mut rows = self.rows_mut().rows.iter_mut();
        if let Some(row) = rows.find(|row| row[id] == group && row[shown] == value) {
            row[shown] = by.to_owned();
        }
    }

    /// Renames the ids of groups in all tables.
    pub(crate) fn rename_groups(&mut self, name: impl Fn(i64) -> i64) {
        let Some(id) = self.form().shape().group_id else { return };
        for sheet in &mut self.sheets {
            if let Some(at) = sheet.find(id) {
                sheet.rows.iter_mut().for_each(|row| row[at] = name(row[at].parse().unwrap()).to_string());
            }
        }
    }
}
