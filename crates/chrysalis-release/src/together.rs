//! Sensitive attributes that are shown together: their values stay in combination, although they are hidden among those
//! of their group like any others.
//!
//! Beside rows, such attributes are permuted as one. Where values are counted, each attribute keeps its own table, and
//! one more table counts the combinations of all of them. Promises are about each attribute alone.

use crate::layout::{column, with_role};
use crate::{
    Attribute, COUNT, Cell, GROUP_ID, Holds, Layout, Manifest, ReleaseError, RoleName, Shape, TableLayout, Values,
    marginal_table,
};

impl Shape {
    /// Whether a form can show several sensitive attributes together.
    pub fn keeps_together(&self) -> bool {
        match self.values {
            Values::Counted(_) => true,
            Values::Beside => !self.has_users,
            Values::Swapped => false,
        }
    }

    /// The table that counts the combinations of these sensitive attributes, where values are counted.
    pub fn together_table<'a>(&self, attributes: impl Iterator<Item = &'a str>) -> Option<String> {
        match self.values {
            Values::Counted(table) => Some(marginal_table(&format!("{table}_"), attributes)),
            Values::Beside | Values::Swapped => None,
        }
    }
}

impl Layout {
    /// Adds a table for every set of attributes that are shown together, after the tables of each attribute alone.
    pub(crate) fn with_together(mut self, attributes: &[Attribute], sets: &[Vec<usize>]) -> Layout {
        let after = self.tables.iter().rposition(|table| table.holds == Holds::Values);
        let table = |set: &Vec<usize>| combinations(&self.shape, attributes, set);
        let tables: Vec<TableLayout> = sets.iter().filter_map(table).collect();
        if let Some(after) = after {
            self.tables.splice(after + 1..after + 1, tables);
        }
        self
    }

    /// The table that counts the combinations of a set of attributes, given by their places in the manifest.
    pub fn combinations_of(&self, set: &[usize]) -> Option<&TableLayout> {
        let shows = |table: &&TableLayout| {
            let values = table.columns.iter().filter_map(|column| match column.cell {
                Cell::Value(at) => Some(at),
                _ => None,
            });
            values.eq(set.iter().copied())
        };
        self.tables.iter().filter(|table| table.holds == Holds::Combinations).find(shows)
    }
}

fn combinations(shape: &Shape, attributes: &[Attribute], set: &[usize]) -> Option<TableLayout> {
    let names = || set.iter().map(|&at| attributes[at].name.as_str());
    let name = shape.together_table(names())?;
    let id = shape.group_id.unwrap_or(GROUP_ID);
    let values = set.iter().map(|&at| column(&attributes[at].name, Cell::Value(at)));
    let columns =
        std::iter::once(column(id, Cell::GroupId)).chain(values).chain([column(COUNT, Cell::Count)]).collect();
    // A key holds no missing values.
    let (key, index) = match set.iter().any(|&at| attributes[at].domain.missing) {
        false => (std::iter::once(id).chain(names()).map(str::to_owned).collect(), Vec::new()),
        true => (Vec::new(), vec![id.to_owned()]),
    };
    Some(TableLayout { name, holds: Holds::Combinations, columns, shows: Vec::new(), key, index })
}

impl Manifest {
    /// The sets of sensitive attributes that are shown together, by their places in the manifest.
    pub fn together_sets(&self) -> Vec<Vec<usize>> {
        let place = |name: &String| self.attributes.iter().position(|attribute| attribute.name == *name);
        self.together.iter().map(|set| set.iter().filter_map(place).collect()).collect()
    }

    /// Each set has several sensitive attributes in the manifest's order, and no attribute is in two of them.
    pub(crate) fn check_together(&self) -> Result<(), ReleaseError> {
        if self.together.is_empty() {
            return Ok(());
        }
        let wrong = |problem: String| Err(ReleaseError::Nonsense(problem));
        if !self.method.shape().keeps_together() {
            return wrong(format!("it shows columns together, which {} does not do", self.method));
        }
        let sensitive: Vec<usize> = with_role(&self.attributes, RoleName::Sensitive).collect();
        let sets = self.together_sets();
        let is_repeated = |at: &usize| sets.iter().flatten().filter(|other| *other == at).count() > 1;
        for (names, set) in self.together.iter().zip(&sets) {
            if set.len() < names.len() || !set.iter().all(|at| sensitive.contains(at)) {
                return wrong(format!("`{}` are shown together, but are not all sensitive", names.join(", ")));
            }
            // LEAK: a choice can be written in one way only, so that the order of columns says nothing.
            if set.len() < 2 || !set.is_sorted() || set.iter().any(is_repeated) {
                return wrong(format!(
                    "`{}` are shown together: each set must have several columns in their order, and each column one set",
                    names.join(", ")
                ));
            }
        }
        match sets.is_sorted() {
            true => Ok(()),
            false => wrong("sets of columns that are shown together are not in the order of the columns".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{DomainEntry, Form, KindName, Published};

    use super::*;

    fn attribute(name: &str, role: RoleName) -> Attribute {
        Attribute {
            name: name.to_owned(),
            role,
            kind: KindName::Integer,
            published: Published::Exact,
            domain: DomainEntry::default(),
            taxonomy: None,
            categories: None,
            weights: None,
            ordinary: None,
            near: None,
            prepared: None,
            weight: false,
        }
    }

    #[test]
    fn combinations_have_a_table_where_values_are_counted() {
        let attributes = [
            attribute("age", RoleName::Quasi),
            attribute("disease", RoleName::Sensitive),
            attribute("stay", RoleName::Sensitive),
            attribute("yearly cost", RoleName::Sensitive),
        ];
        let shown = |form: Form| -> Vec<String> {
            let table = |table: &TableLayout| {
                let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
                format!("{}({})", table.name, names.join(","))
            };
            let layout = Layout::new(form, &attributes, &[], None).with_together(&attributes, &[vec![1, 3]]);
            layout.tables.iter().filter(|table| table.holds == Holds::Combinations).map(table).collect()
        };
        assert_eq!(shown(Form::Anatomy), ["st_disease_yearly_cost(group_id,disease,yearly cost,count)"]);
        assert_eq!(shown(Form::Permute), ["pst_disease_yearly_cost(group_id,disease,yearly cost,count)"]);
        assert_eq!(shown(Form::Angel), ["bt_disease_yearly_cost(batch_id,disease,yearly cost,count)"]);
        assert!(shown(Form::Generalize).is_empty() && shown(Form::Shuffle).is_empty());
        let layout = Layout::new(Form::Angel, &attributes, &[], None).with_together(&attributes, &[vec![1, 3]]);
        let names: Vec<&str> = layout.tables.iter().map(|table| table.name.as_str()).collect();
        assert_eq!(names, ["bt_disease", "bt_stay", "bt_yearly_cost", "bt_disease_yearly_cost", "gt", "members"]);
        // The table of one attribute is never that of its combinations.
        assert_eq!(layout.values_of(1).map(|table| table.name.as_str()), Some("bt_disease"));
        assert_eq!(layout.combinations_of(&[1, 3]).map(|table| table.key.len()), Some(3));
        assert_eq!(layout.combinations_of(&[1, 2]), None);
    }

    #[test]
    fn only_forms_that_hide_values_in_groups_keep_them_together() {
        let kept: Vec<&str> =
            Form::ALL.iter().filter(|form| form.shape().keeps_together()).map(|form| form.name()).collect();
        assert!(["generalize", "anatomy", "permute", "shuffle", "angel"].iter().all(|name| kept.contains(name)));
        assert!(!kept.contains(&"butterfly") && !kept.contains(&"rank-swap"));
    }
}
