//! What drawn rows are worth: distances of one- to three-way marginals, and what can be learned from them.

mod coded;
mod learner;
mod marginals;

use chrysalis_release::{Manifest, RoleName};
use chrysalis_table::{Table, Watch};
use rand::CryptoRng;
use rand::seq::SliceRandom;
use rayon::prelude::*;

pub use learner::Learner;
pub use marginals::MarginalDistance;

use crate::{EvaluateError, universe};
use coded::{Scale, coded};
use learner::{Examples, Shape};

/// A target with more ordered values than this is learned as this many ranges.
const TARGET_RANGES: usize = 4;
/// One row in so many of the microdata is kept for the test.
const TESTED: usize = 5;

/// How far drawn rows are from the microdata, and what they teach.
#[derive(Clone, Debug)]
pub struct RowsWorth {
    /// How many worlds were drawn; all numbers are means over them.
    pub worlds: usize,
    /// Distances over single columns, pairs, and sets of three, all columns of the release taken together.
    pub marginals: Vec<MarginalDistance>,
    /// What can be learned, if there is a column to learn.
    pub learning: Option<Learning>,
}

/// How well a column is predicted from the others.
#[derive(Clone, Debug)]
pub struct Learning {
    /// The column.
    pub target: String,
    /// Whether its values were gathered into ranges.
    pub is_ranged: bool,
    /// The rows that were predicted.
    pub tested: usize,
    /// Whether these rows were left out of the release, too.
    pub is_unpublished: bool,
    /// The accuracy of always predicting the most frequent value.
    pub majority: f64,
    /// The accuracies of learners.
    pub scores: Vec<LearnerScore>,
}

/// The accuracy of one learner on the same test rows.
#[derive(Clone, Debug)]
pub struct LearnerScore {
    /// The learner.
    pub learner: Learner,
    /// Trained on the microdata that are not tested.
    pub microdata: f64,
    /// Trained on drawn rows; the mean over worlds.
    pub drawn: f64,
}

/// What to learn, and how to test it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lesson<'a> {
    /// The column to predict; the first sensitive one if absent.
    pub target: Option<&'a str>,
    /// Rows that were not published; if absent, one in five of the microdata is kept for the test.
    pub holdout: Option<&'a Table>,
}

/// Compares drawn rows with the microdata that the release was made from.
///
/// # Cost
/// O(rows) for every set of one to three columns, at most 1,000 sets of each size, and some passes for the learners.
pub fn rows_worth(
    manifest: &Manifest,
    microdata: &Table,
    worlds: &[Table],
    lesson: Lesson<'_>,
    rng: &mut dyn CryptoRng,
    watch: &dyn Watch,
) -> Result<RowsWorth, EvaluateError> {
    let microdata = universe::relevant(manifest, microdata)?;
    let scales: Vec<Scale> = microdata.columns().iter().map(Scale::of).collect();
    let of_microdata = coded(&scales, &microdata);
    let of_worlds: Vec<Vec<Vec<u16>>> = worlds.iter().map(|world| coded(&scales, world)).collect();
    watch.pause();
    let marginals = marginals::distances(&scales, &of_microdata, &of_worlds);
    watch.pause();
    let learning = learning(manifest, &microdata, worlds, lesson, rng, watch)?;
    Ok(RowsWorth { worlds: worlds.len(), marginals, learning })
}

fn learning(
    manifest: &Manifest,
    microdata: &Table,
    worlds: &[Table],
    lesson: Lesson<'_>,
    rng: &mut dyn CryptoRng,
    watch: &dyn Watch,
) -> Result<Option<Learning>, EvaluateError> {
    let first = manifest.with_role(RoleName::Sensitive).next().map(|it| it.name.as_str());
    let Some(target) = lesson.target.or(first) else { return Ok(None) };
    let lacks = || EvaluateError::MissingColumn { column: target.to_owned() };
    let of_target = Scale::new(microdata.column(target).ok_or_else(lacks)?, TARGET_RANGES.max(2));
    let others: Vec<Scale> =
        microdata.columns().iter().filter(|column| column.name() != target).map(Scale::of).collect();
    if others.is_empty() {
        return Ok(None);
    }
    let shape = Shape {
        features: others.iter().map(|scale| (scale.n_cells, scale.is_ordered)).collect(),
        n_classes: of_target.n_cells,
    };
    let examples = |table: &Table| -> Result<Examples, EvaluateError> {
        let classes = of_target.cells(table.column(target).ok_or_else(lacks)?);
        Ok(Examples { features: coded(&others, table), classes })
    };
    let all = examples(microdata)?;
    let mut rows: Vec<u32> = (0..all.classes.len() as u32).collect();
    rows.shuffle(rng);
    let kept = match lesson.holdout {
        Some(_) => 0,
        None => rows.len().div_ceil(TESTED),
    };
    let (tested, trained) = rows.split_at(kept);
    let test = match lesson.holdout {
        Some(table) => examples(&universe::relevant(manifest, table)?)?,
        None => all.chosen(tested),
    };
    let train = all.chosen(trained);
    // Drawn rows have no people behind them, so any of them may be left out to train on equally many.
    let of_world = |world: &Table| -> Result<Examples, EvaluateError> { Ok(examples(world)?.chosen_below(trained)) };
    let drawn: Vec<Examples> = worlds.iter().map(of_world).collect::<Result<_, _>>()?;
    let score = |&learner: &Learner| {
        watch.pause();
        let of_world: f64 = drawn.iter().map(|world| learner.accuracy(&shape, world, &test)).sum();
        LearnerScore {
            learner,
            microdata: learner.accuracy(&shape, &train, &test),
            drawn: of_world / drawn.len().max(1) as f64,
        }
    };
    Ok(Some(Learning {
        target: target.to_owned(),
        is_ranged: of_target.is_coarse && of_target.is_ordered,
        tested: test.classes.len(),
        is_unpublished: lesson.holdout.is_some(),
        majority: train.majority(shape.n_classes, &test),
        scores: Learner::ALL.par_iter().map(score).collect(),
    }))
}

impl Examples {
    /// The rows of these numbers that there are.
    fn chosen_below(&self, rows: &[u32]) -> Examples {
        let n_rows = self.classes.len() as u32;
        self.chosen(&rows.iter().copied().filter(|&row| row < n_rows).collect::<Vec<_>>())
    }
}
