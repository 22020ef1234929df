//! The tree of cuts: drawn from a survey, settled by counts, followed by rows. Steps as in `spec.md`.

use chrysalis_criteria::{All, Principle, Requirement};
use chrysalis_table::{Column, SaCounts, Table};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::Whole;
use super::counts::CellCounts;
use super::survey::{Survey, sample_table};
use crate::partitioner::{Cuts, ranks, shallow};
use crate::{AttributeSpec, Microdata, PublishError};

/// Rows of the table that a plan is drawn from, at most.
const DRAWN_FROM: u64 = 1 << 19;

/// Which row belongs to which cell, and what every cell must know of the whole table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CellPlan {
    whole: Whole,
    quasi: Vec<String>,
    sensitive: Vec<String>,
    /// From code to rank, by quasi column.
    ranks: Vec<Vec<u32>>,
    tree: Tree,
    /// The paths of all cells, from left to right.
    paths: Vec<String>,
    /// How many rows each cell has, once that was counted.
    rows: Vec<u64>,
}

/// A tree of cuts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Tree {
    /// A cell, by its number.
    Cell(u32),
    /// Rows whose rank in a quasi column is at least `from` and below `to` go left.
    Cut { column: usize, from: u32, to: u32, left: Box<Tree>, right: Box<Tree> },
}

/// What a plan requires of both sides of a cut.
#[derive(Clone, Copy, Debug)]
pub struct Sides<'a> {
    /// The columns and what the owner says about them.
    pub attributes: &'a [AttributeSpec],
    /// What is promised.
    pub require: &'a [Requirement],
    /// Whether the choice of cuts must say nothing about sensitive values.
    pub transparent: bool,
}

/// No side of a cut has a smaller share of the rows: a tree of slivers would be deep, and its cells of very different
/// sizes.
const LEAST_SHARE: f64 = 0.125;
/// What the least share of a side is above what is safe, because a sample and the parts of a table differ from the whole.
const MARGIN: f64 = 1.1;

impl Sides<'_> {
    /// The share of the rows that either side of a cut should have, so that few cuts must be undone. Where the choice of
    /// cuts must say nothing, that is the share that is safe in the whole table.
    fn least_share(&self, whole: &Whole) -> Result<f64, PublishError> {
        if !self.transparent {
            return Ok(LEAST_SHARE);
        }
        let outline = Microdata::outline(self.attributes, whole)?;
        let goals = goals(&outline, self.require)?;
        let columns: Vec<&SaCounts> = outline.sensitive_columns().map(|column| column.counts()).collect();
        let rows = [super::counts::counted(&[whole.rows])];
        let counts = if columns.is_empty() { rows.iter().collect() } else { columns };
        let size = |(goal, counts): (&All, &SaCounts)| goal.safe_size(counts).unwrap_or(u64::MAX);
        let safe = goals.iter().zip(counts).map(size).max().unwrap_or(1);
        Ok((MARGIN * safe as f64 / whole.rows.max(1) as f64).max(LEAST_SHARE))
    }
}

/// What is required of every sensitive column, bound to the whole table; without one, of the number of rows.
fn goals(outline: &Microdata, require: &[Requirement]) -> Result<Vec<All>, PublishError> {
    let whole = outline.goal(require)?;
    let columns = outline.sensitive_columns();
    let goals: Vec<All> = columns.map(|column| outline.goal_of(column, require)).collect::<Result<_, _>>()?;
    Ok(if goals.is_empty() { vec![whole] } else { goals })
}

impl CellPlan {
    /// Step 2: cuts where most penalty is removed, until no cell has more than about `most_rows` rows.
    pub fn draw(survey: &Survey, sides: &Sides<'_>, most_rows: u64) -> Result<Self, PublishError> {
        let (table, behind) = sample_table(survey, DRAWN_FROM)?;
        let attributes = sides.attributes;
        let is_quasi = |said: &&AttributeSpec| said.role == chrysalis_table::Role::QuasiIdentifier;
        let quasi: Vec<AttributeSpec> = attributes.iter().filter(is_quasi).cloned().collect();
        let data = Microdata::new(table, &quasi)?;
        let most = ((most_rows as f64 / behind) as usize).max(1);
        let cuts = shallow(&data, most, sides.least_share(survey.whole())?)?;
        let names = |role| {
            let named = attributes.iter().filter(move |said| said.role == role);
            named.map(|said| said.name.clone()).collect::<Vec<String>>()
        };
        let mut plan = CellPlan {
            whole: survey.whole().clone(),
            quasi: names(chrysalis_table::Role::QuasiIdentifier),
            sensitive: names(chrysalis_table::Role::Sensitive),
            ranks: ranks(&data),
            tree: Tree::Cell(0),
            paths: Vec::new(),
            rows: Vec::new(),
        };
        plan.plant(tree(cuts));
        Ok(plan)
    }

    /// A plan of one cell, which holds the whole table.
    fn plant(&mut self, mut tree: Tree) {
        self.paths.clear();
        tree.number(String::new(), &mut self.paths);
        self.tree = tree;
        self.rows = vec![0; self.paths.len()];
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
    pub fn count(&self, table: &Table) -> Result<CellCounts, PublishError> {
        let cells = self.route(table)?;
        self.count_routed(table, &cells)
    }

    /// The same where the cells of the rows are known already.
    pub fn count_routed(&self, table: &Table, cells: &[u32]) -> Result<CellCounts, PublishError> {
        let domain = |name: &String| self.whole.column(name).map_or(0, |column| column.domain().len());
        let mut counts = CellCounts::new(self.n_cells(), &self.sensitive.iter().map(domain).collect::<Vec<_>>());
        cells.iter().for_each(|&cell| counts.rows[cell as usize] += 1);
        for (at, name) in self.sensitive.iter().enumerate() {
            let code_of = self.whole.codes_of(table.column(name), name)?;
            let column = table.column(name).map(Column::codes);
            for (row, &cell) in cells.iter().enumerate() {
                let code = column.map_or(0, |codes| codes.get(row));
                counts.values[cell as usize][at][code_of[code as usize] as usize] += 1;
            }
        }
        Ok(counts)
    }

    /// Step 4: undoes every cut one of whose sides would fail. Also says for every cell so far which cell it became.
    pub fn settled(&self, counts: &CellCounts, sides: &Sides<'_>) -> Result<(CellPlan, Vec<u32>), PublishError> {
        if counts.rows.len() != self.n_cells() {
            return Err(PublishError::Internal("cells were counted by another plan".into()));
        }
        let outline = Microdata::outline(sides.attributes, &self.whole)?;
        let goals = goals(&outline, sides.require)?;
        let judge = Judge { counts, goals: &goals, transparent: sides.transparent };
        let mut became = vec![0; self.n_cells()];
        let tree = judge.kept(&self.tree, &mut 0, &mut became);
        let mut plan = self.clone();
        plan.plant(tree);
        for (&cell, rows) in became.iter().zip(&counts.rows) {
            plan.rows[cell as usize] += rows;
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

impl Tree {
    /// Numbers the cells from left to right.
    fn number(&mut self, path: String, paths: &mut Vec<String>) {
        match self {
            Tree::Cell(cell) => {
                *cell = paths.len() as u32;
                paths.push(path);
            }
            Tree::Cut { left, right, .. } => {
                left.number(format!("{path}0"), paths);
                right.number(format!("{path}1"), paths);
            }
        }
    }

    fn n_cells(&self) -> usize {
        match self {
            Tree::Cell(_) => 1,
            Tree::Cut { left, right, .. } => left.n_cells() + right.n_cells(),
        }
    }
}

fn tree(cuts: Cuts) -> Tree {
    match cuts {
        Cuts::Leaf => Tree::Cell(0),
        Cuts::Node { axis, from, to, left, right } => {
            Tree::Cut { column: axis, from, to, left: Box::new(tree(*left)), right: Box::new(tree(*right)) }
        }
    }
}

/// Whether a cut stands.
struct Judge<'a> {
    counts: &'a CellCounts,
    /// By sensitive column, bound to the whole table; without one, one goal on the number of rows.
    goals: &'a [All],
    transparent: bool,
}

impl Judge<'_> {
    /// The tree without the cuts that do not stand. Cells from `next` on are looked at; `became` gets their new numbers.
    fn kept(&self, tree: &Tree, next: &mut usize, became: &mut [u32]) -> Tree {
        let mut fresh = 0;
        self.kept_from(tree, next, &mut fresh, became)
    }

    fn kept_from(&self, tree: &Tree, next: &mut usize, fresh: &mut u32, became: &mut [u32]) -> Tree {
        let start = *next;
        let stands = match tree {
            Tree::Cell(_) => false,
            Tree::Cut { left, right, .. } => {
                let border = start + left.n_cells();
                self.stands(start..border, border..border + right.n_cells())
            }
        };
        match tree {
            Tree::Cut { column, from, to, left, right } if stands => {
                let left = self.kept_from(left, next, fresh, became);
                let right = self.kept_from(right, next, fresh, became);
                Tree::Cut { column: *column, from: *from, to: *to, left: Box::new(left), right: Box::new(right) }
            }
            _ => {
                *next = start + tree.n_cells();
                became[start..*next].fill(*fresh);
                *fresh += 1;
                Tree::Cell(0)
            }
        }
    }

    fn stands(&self, left: std::ops::Range<usize>, right: std::ops::Range<usize>) -> bool {
        let sides = [self.counts.together(left.clone()), self.counts.together(right.clone())];
        if !self.transparent {
            return sides.iter().all(|(rows, columns)| self.holds(*rows, columns));
        }
        // LEAK: the sensitive values of a side must not decide, only those of both sides together.
        let (_, node) = self.counts.together(left.start..right.end);
        let fewest = sides.iter().map(|(rows, _)| *rows).min().unwrap_or(0);
        let total = sides.iter().map(|(rows, _)| *rows).sum();
        let node = if node.is_empty() { vec![super::counts::counted(&[total])] } else { node };
        let is_safe = |(goal, counts): (&All, &SaCounts)| goal.safe_size(counts).is_some_and(|size| size <= fewest);
        self.goals.iter().zip(&node).all(is_safe)
    }

    fn holds(&self, rows: u64, columns: &[SaCounts]) -> bool {
        if columns.is_empty() {
            return self.goals.iter().all(|goal| goal.holds(&super::counts::counted(&[rows])));
        }
        self.goals.iter().zip(columns).all(|(goal, counts)| goal.holds(counts))
    }
}
