//! How many people of the population are unique in it, estimated from the class sizes of a sample (spec.md, step 4).

mod newton;
mod pitman;
mod snb;
mod zayatz;

/// How many classes of each size a sample has.
///
/// Counts are real numbers, because with wildcards a row can match another one that matches fewer rows than itself: then
/// the classes of size i are (rows that match i rows)/i.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    /// Sizes in ascending order, each with the number of classes.
    classes: Vec<(u64, f64)>,
}

impl Histogram {
    /// The histogram of sizes in ascending order, each with its number of classes.
    pub fn new(classes: Vec<(u64, f64)>) -> Self {
        Histogram { classes }
    }

    /// The number of classes of a size.
    pub fn classes_of(&self, size: u64) -> f64 {
        let found = self.classes.binary_search_by_key(&size, |(known, _)| *known);
        found.map_or(0.0, |at| self.classes[at].1)
    }

    /// The number of classes.
    pub fn n_classes(&self) -> f64 {
        self.classes.iter().map(|(_, count)| count).sum()
    }

    /// The number of rows.
    pub fn rows(&self) -> f64 {
        self.classes.iter().map(|&(size, count)| size as f64 * count).sum()
    }

    /// Sizes and numbers of classes.
    pub fn iter(&self) -> impl Iterator<Item = (u64, f64)> + '_ {
        self.classes.iter().copied()
    }
}

/// A model of the population.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// Zayatz, 1991.
    Zayatz,
    /// Pitman's sampling formula, fitted as Hoshino, 2001.
    Pitman,
    /// The shifted negative binomial of Chen and Keller-McNulty, 1998.
    Snb,
}

impl Model {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Model::Zayatz => "zayatz",
            Model::Pitman => "pitman",
            Model::Snb => "snb",
        }
    }
}

/// The shares of the population that are unique in it, by three models; `None` where a model does not fit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PopulationUniques {
    /// By Zayatz.
    pub zayatz: Option<f64>,
    /// By Pitman.
    pub pitman: Option<f64>,
    /// By the shifted negative binomial.
    pub snb: Option<f64>,
    /// The model that the rule of Dankar et al. chooses.
    pub chosen: Option<Model>,
}

/// Below this sampling fraction, Pitman's model is the best of the three (Dankar et al., 2012).
const SMALL_FRACTION: f64 = 0.1;

impl PopulationUniques {
    /// Fits all models to the classes of a sample from a population of this size.
    pub fn estimate(sample: &Histogram, population: f64) -> PopulationUniques {
        if sample.classes_of(1) == 0.0 {
            // Who is unique in the population is unique in a sample that has them.
            let none = Some(0.0);
            return PopulationUniques { zayatz: none, pitman: none, snb: none, chosen: Some(Model::Zayatz) };
        }
        let share = |uniques: Option<f64>| uniques.map(|n| n / population).filter(|share| (0.0..=1.0).contains(share));
        let zayatz = share(zayatz::uniques(sample, population));
        let pitman = share(pitman::uniques(sample, population));
        let snb = share(snb::uniques(sample, population));
        let mut found = PopulationUniques { zayatz, pitman, snb, chosen: None };
        found.chosen = found.choose(sample.rows() / population);
        found
    }

    /// Step 4.4: the rule of Dankar et al.
    fn choose(&self, fraction: f64) -> Option<Model> {
        let zayatz = self.zayatz.map(|_| Model::Zayatz);
        if fraction <= SMALL_FRACTION {
            return self.pitman.map(|_| Model::Pitman).or(zayatz);
        }
        match (self.snb, self.zayatz) {
            (Some(snb), Some(zayatz)) if zayatz < snb => Some(Model::Zayatz),
            (Some(_), _) => Some(Model::Snb),
            (None, _) => zayatz,
        }
    }

    /// The share that the chosen model estimates.
    pub fn chosen_share(&self) -> Option<f64> {
        match self.chosen? {
            Model::Zayatz => self.zayatz,
            Model::Pitman => self.pitman,
            Model::Snb => self.snb,
        }
    }
}

#[cfg(test)]
mod tests;
