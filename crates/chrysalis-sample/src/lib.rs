//! Rows to draw: tables in the original columns, one of the worlds that a release allows.
//!
//! A release says which rows stand in a group and what the group shows of them. A *world* is a table that would look the
//! same: in every group the published values, every value inside its range or label. There are very many worlds; the one
//! that is drawn is likely under a distribution that was learned from all groups together, because rows that look alike
//! in some columns tend to look alike in the others. `spec.md` has the mathematics; its step numbers stand in the code.
//!
//! What is promised of every world: as many rows as the release, in the order of its groups; each group has exactly the
//! multisets of values that were published of it, so that every principle that held still holds; and every drawn value
//! lies inside its range or label. Nothing is promised about single rows: who has which values is what a release hides.
//!
//! # Example
//!
//! ```
//! use chrysalis_sample::{Draw, Sampler};
//! # use chrysalis_publish::{AttributeSpec, Job, Microdata, Partition, method::Anatomy};
//! # use chrysalis_table::{Column, Role, Table, Unwatched, no_progress};
//! # use rand::SeedableRng;
//! # let table = Table::new(vec![
//! #     Column::integers("age", &[23, 27, 35, 59]),
//! #     Column::texts("disease", ["flu", "cold", "flu", "cold"].into_iter()),
//! # ]);
//! # let roles = [AttributeSpec::new("age", Role::QuasiIdentifier), AttributeSpec::new("disease", Role::Sensitive)];
//! # let data = Microdata::new(table.clone(), &roles).unwrap();
//! # let pairs = Partition::new(vec![0, 1, 2, 3], &[2, 2]);
//! # let mut rng = rand::rngs::ChaCha20Rng::seed_from_u64(1);
//! # let release = Job::new(&data, &[], &pairs, &mut rng, &Unwatched).run(&Anatomy).unwrap().release;
//! let world = Sampler::open(&release)?.world(Draw::default(), &mut rng, &no_progress)?;
//! assert_eq!((world.rows(), world.columns().len()), (4, 2));
//! // Ages are exact, and each of the two groups has one flu and one cold.
//! assert_eq!(world.column("disease").unwrap().histogram(), [2, 2]);
//! # Ok::<(), chrysalis_sample::SampleError>(())
//! ```

mod axis;
mod chain;
mod deck;
mod error;
mod matching;
mod model;
mod redraw;
mod tight;
mod world;

pub use deck::{ColumnDrawn, Origin};
pub use error::SampleError;

use chrysalis_release::{EstimateMode, Release};
use chrysalis_table::{Progress, Table};
use rand::CryptoRng;

use deck::Deck;

/// How a world is drawn.
#[derive(Clone, Copy, Debug, Default)]
pub struct Draw {
    /// From which distribution: all worlds equally likely, or as likely as the groups together say.
    pub estimate: EstimateMode,
    /// Whether the distribution is learned from groups drawn with replacement, so that worlds also differ by what the
    /// release leaves open about it. For several worlds that are analysed together.
    pub bootstrap: bool,
}

/// A release, ready to draw worlds from it.
#[derive(Debug)]
pub struct Sampler {
    deck: Deck,
}

impl Sampler {
    /// Decodes a release. Forms without groups say nothing about what a world must keep.
    pub fn open(release: &Release) -> Result<Self, SampleError> {
        Ok(Sampler { deck: Deck::new(release)? })
    }

    /// The columns of every world, in the order of the manifest, and where their values come from.
    pub fn columns(&self) -> Vec<ColumnDrawn> {
        self.deck.columns()
    }

    /// The rows of every world.
    pub fn rows(&self) -> usize {
        self.deck.groups.n_rows()
    }

    /// The rows of each group, by their numbers in every world; groups are ordered by their ids.
    pub fn groups(&self) -> impl Iterator<Item = std::ops::Range<usize>> + '_ {
        (0..self.deck.groups.len()).map(|group| self.deck.groups.rows(group))
    }

    /// How many steps the progress of one world adds up to.
    pub fn steps(&self, draw: Draw) -> u64 {
        chain::steps(&self.deck, draw)
    }

    /// Draws a world. The same numbers from `rng` give the same world, whatever the number of threads.
    ///
    /// # Cost
    /// Linear in the rows, times the columns and the number of classes (at most 48); the distribution is learned from
    /// at most 100,000 rows.
    pub fn world(&self, draw: Draw, rng: &mut dyn CryptoRng, progress: Progress<'_>) -> Result<Table, SampleError> {
        let chosen = self.deck.without_counterfeits(rng);
        let deck = chosen.as_ref().unwrap_or(&self.deck);
        let fitted = deck.with_marginals(rng, progress)?;
        let deck = fitted.as_ref().unwrap_or(deck);
        let state = chain::run(deck, draw, rng, progress);
        Ok(world::table(deck, (&state, draw.estimate), rng, progress))
    }
}
