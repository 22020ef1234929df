//! The tree of cuts: drawn from a survey, settled by counts, followed by rows. Steps as in `spec.md`.

use chrysalis_table::{Column, Role, Table};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::counts::CellCounts;
use super::judge::{Judge, Kept, LEAST_SHARE, goals};
use super::survey::{Survey, sample_table};
use super::tree::Tree;
use super::{Secret, Whole, rows};
use crate::partitioner::{ranks, shallow};
use crate::{AttributeSpec, Microdata, PublishError};

/// Rows of the table that a plan is drawn from, at most.
const DRAWN_FROM: u64 = 1 << 19;

/// Which row belongs to which cell, and what every cell must know of the whole table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CellPlan {
    pub(super) whole: Whole,
    pub(super) quasi: Vec<String>,
    sensitive: Vec<String>,
    /// From code to rank, by quasi column.
    ranks: Vec<Vec<u32>>,
    pub(super) tree: Tree,
    /// The paths of all cells, from left to right.
    paths: Vec<String>,
    /// What was tried at each cell.
    pub(super) tried: Vec<Tried>,
    /// How many rows each cell has, once that was counted.
    pub(super) rows: Vec<u64>,
    /// What stands for all rows as a multiset, and for those of each cell.
    number: u64,
    numbers: Vec<u64>,
}

/// What was tried to cut a cell further.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Tried {
    /// The quasi columns whose cuts did not stand here.
    pub(super) columns: Vec<usize>,
    /// Whether no cut of the others was found.
    pub(super) is_uncut: bool,
}

/// What a plan requires of both sides of a cut.
#[derive(Clone, Copy, Debug)]
pub struct Sides<'a> {
    /// The columns and what the owner says about them.
    pub attributes: &'a [AttributeSpec],
    /// What is promised.
    pub require: &'a [chrysalis_criteria::Requirement],
    /// Whether the choice of cuts must say nothing about sensitive values.
    pub transparent: bool,
}

/// The quasi columns as they are cut.
fn quasi_data(
    survey: &Survey,
    whole: &Whole,
    sides: &Sides<'_>,
    columns: &[usize],
) -> Result<(Microdata, f64), PublishError> {
    let (table, behind) = sample_table(survey, whole, DRAWN_FROM)?;
    let all = sides.attributes.iter().filter(|said| said.role == Role::QuasiIdentifier);
    let quasi: Vec<AttributeSpec> =
        all.enumerate().filter(|(at, _)| columns.contains(at)).map(|(_, said)| said.clone()).collect();
    Ok((Microdata::new(table, &quasi)?, behind))
}

/// Step 2: cuts by some of the quasi columns where most penalty is removed, until no part has more than about `most` rows.
/// No side has a smaller share of the rows than `least`.
pub(super) fn drawn(
    survey: &Survey,
    whole: &Whole,
    sides: &Sides<'_>,
    columns: &[usize],
    (most, least): (u64, f64),
) -> Result<Tree, PublishError> {
    let (data, behind) = quasi_data(survey, whole, sides, columns)?;
    let most = ((most as f64 / behind) as usize).max(1);
    Ok(Tree::of(shallow(&data, most, least)?, columns))
}

impl CellPlan {
    /// Step 2: cuts where most penalty is removed, until no cell has more than about `most_rows` rows.
    pub fn draw(survey: &Survey, sides: &Sides<'_>, most_rows: u64) -> Result<Self, PublishError> {
        let whole = survey.whole();
        let names = |role| {
            let named = sides.attributes.iter().filter(move |said| said.role == role);
            named.map(|said| said.name.clone()).collect::<Vec<String>>()
        };
        let (quasi, sensitive) = (names(Role::QuasiIdentifier), names(Role::Sensitive));
        whole.check_counts(&sensitive)?;
        let outline = Microdata::outline(sides.attributes, whole)?;
        let counts: Vec<_> = outline.sensitive_columns().map(|column| column.counts().clone()).collect();
        let least = sides.least_share(whole, whole.rows, &counts, LEAST_SHARE)?;
        let columns: Vec<usize> = (0..quasi.len()).collect();
        let mut plan = CellPlan {
            whole: whole.clone(),
            ranks: ranks(&quasi_data(survey, whole, sides, &columns)?.0),
            quasi,
            sensitive,
            tree: Tree::Cell(0),
            paths: Vec::new(),
            tried: Vec::new(),
            rows: Vec::new(),
            number: survey.number(),
            numbers: Vec::new(),
        };
        plan.plant(drawn(survey, whole, sides, &columns, (most_rows, least))?);
        plan.tried = vec![Tried::default(); plan.n_cells()];
        Ok(plan)
    }

    /// Takes another tree, whose cells are not counted yet.
    pub(super) fn plant(&mut self, mut tree: Tree) {
        self.paths.clear();
        tree.number(String::new(), &mut self.paths);
        self.tree = tree;
        (self.rows, self.numbers) = (vec![0; self.paths.len()], vec![rows::NONE; self.paths.len()]);
    }

    /// How many cells there are.
    pub fn n_cells(&self) -> usize {
        self.paths.len()
    }

    /// The way to a cell: `0` for left, `1` for right, nothing for a plan without cuts.
    pub fn path(&self, cell: u32) -> &str {
        &self.paths[cell as usize]
    }

    /// How many rows a cell has; 0 before the plan is settled.
    pub fn rows(&self, cell: u32) -> u64 {
        self.rows[cell as usize]
    }

    /// What cells must know of the whole table.
    pub fn whole(&self) -> &Whole {
        &self.whole
    }

    /// Step 3: the cell of every row.
    pub fn route(&self, table: &Table) -> Result<Vec<u32>, PublishError> {
        let places = self.places(table)?;
        Ok(self.routed(table.rows(), &places))
    }

    /// Step 3: how many rows of a table each cell has, and their sensitive values.
    pub fn count(&self, table: &Table, secret: &Secret) -> Result<CellCounts, PublishError> {
        let mut counts = self.no_counts();
        self.count_routed(&mut counts, table, &self.route(table)?, secret)?;
        Ok(counts)
    }

    /// Counts of no rows.
    pub fn no_counts(&self) -> CellCounts {
        let domain = |name: &String| self.whole.column(name).map_or(0, |column| column.domain().len());
        CellCounts::new(self.n_cells(), &self.sensitive.iter().map(domain).collect::<Vec<_>>())
    }

    /// Adds rows whose cells are known already.
    pub fn count_routed(
        &self,
        counts: &mut CellCounts,
        table: &Table,
        cells: &[u32],
        secret: &Secret,
    ) -> Result<(), PublishError> {
        for (&cell, number) in cells.iter().zip(self.numbers_of(table, secret)?) {
            counts.rows[cell as usize] += 1;
            counts.numbers[cell as usize] = counts.numbers[cell as usize].wrapping_add(number);
        }
        for (at, name) in self.sensitive.iter().enumerate() {
            let code_of = self.whole.codes_of(table.column(name), name)?;
            let column = table.column(name).map(Column::codes);
            for (row, &cell) in cells.iter().enumerate() {
                let code = column.map_or(0, |codes| codes.get(row));
                counts.values[cell as usize][at][code_of[code as usize] as usize] += 1;
            }
        }
        Ok(())
    }

    /// What stands for every row of a table.
    fn numbers_of(&self, table: &Table, secret: &Secret) -> Result<Vec<u64>, PublishError> {
        Ok(rows::numbers(secret, &self.whole.of_table(table)?, table.rows()))
    }

    /// Refuses rows that are not those that were counted for a cell.
    pub(super) fn check_rows(&self, cell: u32, table: &Table, secret: &Secret) -> Result<(), PublishError> {
        let number = self.numbers_of(table, secret)?.into_iter().fold(rows::NONE, u64::wrapping_add);
        match (table.rows() as u64, number) == (self.rows[cell as usize], self.numbers[cell as usize]) {
            true => Ok(()),
            false => Err(other_rows()),
        }
    }

    /// Step 4: undoes every cut one of whose sides would fail. Also says for every cell so far which cell it became.
    pub fn settled(&self, counts: &CellCounts, sides: &Sides<'_>) -> Result<(CellPlan, Vec<u32>), PublishError> {
        if counts.rows.len() != self.n_cells() {
            return Err(PublishError::Internal("cells were counted by another plan".into()));
        }
        if !counts.are_of(&self.whole, &self.sensitive, self.number) {
            return Err(other_rows());
        }
        let outline = Microdata::outline(sides.attributes, &self.whole)?;
        let goals = goals(&outline, sides.require)?;
        let judge = Judge { counts, goals: &goals, transparent: sides.transparent, tried: &self.tried };
        let mut kept = Kept::default();
        let tree = judge.kept(&self.tree, &mut kept);
        let mut plan = self.clone();
        plan.plant(tree);
        let Kept { became, tried } = kept;
        plan.tried = tried;
        for ((&cell, rows), number) in became.iter().zip(&counts.rows).zip(&counts.numbers) {
            let cell = cell as usize;
            plan.rows[cell] += rows;
            plan.numbers[cell] = plan.numbers[cell].wrapping_add(*number);
        }
        Ok((plan, became))
    }

    /// By quasi column: the rank of every code of a table's own domain, and its codes.
    fn places<'a>(&self, table: &'a Table) -> Result<Vec<(Vec<u32>, &'a Column)>, PublishError> {
        let place = |(name, ranks): (&String, &Vec<u32>)| {
            let column = table.column(name);
            let code_of = self.whole.codes_of(column, name)?;
            let column = column.ok_or_else(|| PublishError::Internal(format!("column `{name}` was not read")))?;
            Ok((code_of.into_iter().map(|code| ranks[code as usize]).collect(), column))
        };
        self.quasi.iter().zip(&self.ranks).map(place).collect()
    }

    fn routed(&self, rows: usize, places: &[(Vec<u32>, &Column)]) -> Vec<u32> {
        let cell = |row: usize| {
            let mut tree = &self.tree;
            loop {
                match tree {
                    Tree::Cell(cell) => return *cell,
                    Tree::Cut { column, from, to, left, right } => {
                        let (ranks, column) = &places[*column];
                        let rank = ranks[column.code(row) as usize];
                        tree = if (*from..*to).contains(&rank) { left } else { right };
                    }
                }
            }
        };
        (0..rows).into_par_iter().with_min_len(1 << 12).map(cell).collect()
    }
}

/// The error for a table that is not what it was.
fn other_rows() -> PublishError {
    let remedy = chrysalis_table::Remedy::from("write it to a file, or cache it, and publish that");
    PublishError::remedied("the table gave other rows when it was read again", remedy)
}
