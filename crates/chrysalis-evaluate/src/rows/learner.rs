//! Three small learners, to see whether drawn rows teach what the microdata teach.
//!
//! Features and classes are cells. All three are deterministic given the order of the rows.

/// What is learned from and tested on: features by column, and the class of every row.
#[derive(Clone, Debug)]
pub(super) struct Examples {
    pub(super) features: Vec<Vec<u16>>,
    pub(super) classes: Vec<u16>,
}

/// How features and classes are numbered.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    /// The number of cells of every feature, and whether they have an order.
    pub(super) features: Vec<(usize, bool)>,
    pub(super) n_classes: usize,
}

/// A kind of learner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Learner {
    /// Features are independent given the class.
    NaiveBayes,
    /// Multinomial logistic regression on one indicator per cell.
    LogisticRegression,
    /// A decision tree of at most eight questions in a row.
    DecisionTree,
}

impl Learner {
    /// All of them.
    pub const ALL: [Learner; 3] = [Learner::NaiveBayes, Learner::LogisticRegression, Learner::DecisionTree];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Learner::NaiveBayes => "naive Bayes",
            Learner::LogisticRegression => "logistic regression",
            Learner::DecisionTree => "decision tree",
        }
    }

    /// The share of test rows whose class is predicted by what was learned.
    pub(super) fn accuracy(self, shape: &Shape, train: &Examples, test: &Examples) -> f64 {
        let predict: Box<dyn Fn(usize) -> usize + '_> = match self {
            Learner::NaiveBayes => {
                let scores = naive_bayes(shape, train);
                Box::new(move |row| linear(&scores, shape, test, row))
            }
            Learner::LogisticRegression => {
                let scores = logistic(shape, train);
                Box::new(move |row| linear(&scores, shape, test, row))
            }
            Learner::DecisionTree => {
                let rows: Vec<u32> = (0..train.classes.len() as u32).collect();
                let tree = Tree::grow(shape, train, &rows, DEPTH);
                Box::new(move |row| tree.predict(test, row))
            }
        };
        let right = (0..test.classes.len()).filter(|&row| predict(row) == usize::from(test.classes[row])).count();
        right as f64 / test.classes.len().max(1) as f64
    }
}

impl Examples {
    /// The accuracy of always predicting the class that is most frequent in these rows.
    pub(super) fn majority(&self, n_classes: usize, test: &Examples) -> f64 {
        let most = most_frequent(&counts(n_classes, self.classes.iter().copied()));
        let right = test.classes.iter().filter(|&&class| usize::from(class) == most).count();
        right as f64 / test.classes.len().max(1) as f64
    }

    pub(super) fn chosen(&self, rows: &[u32]) -> Examples {
        let pick = |list: &Vec<u16>| rows.iter().map(|&row| list[row as usize]).collect();
        Examples { features: self.features.iter().map(pick).collect(), classes: pick(&self.classes) }
    }
}

/// A score per class, and per cell of every feature and class; the highest sum wins.
struct Linear {
    classes: Vec<f64>,
    features: Vec<Vec<f64>>,
}

fn scores(linear: &Linear, shape: &Shape, examples: &Examples, row: usize, sums: &mut Vec<f64>) {
    sums.clear();
    sums.extend_from_slice(&linear.classes);
    for (cells, of_feature) in examples.features.iter().zip(&linear.features) {
        let from = usize::from(cells[row]) * shape.n_classes;
        sums.iter_mut().zip(&of_feature[from..]).for_each(|(sum, score)| *sum += score);
    }
}

fn linear(model: &Linear, shape: &Shape, examples: &Examples, row: usize) -> usize {
    let mut sums = Vec::with_capacity(shape.n_classes);
    scores(model, shape, examples, row, &mut sums);
    (0..sums.len()).max_by(|&a, &b| sums[a].total_cmp(&sums[b]).then(b.cmp(&a))).unwrap_or(0)
}

fn naive_bayes(shape: &Shape, train: &Examples) -> Linear {
    let of_class = counts(shape.n_classes, train.classes.iter().copied());
    let feature = |(cells, &(n_cells, _)): (&Vec<u16>, &(usize, bool))| {
        let mut counts = vec![1.0_f64; n_cells * shape.n_classes];
        for (&cell, &class) in cells.iter().zip(&train.classes) {
            counts[usize::from(cell) * shape.n_classes + usize::from(class)] += 1.0;
        }
        for of_cell in counts.chunks_exact_mut(shape.n_classes) {
            of_cell.iter_mut().zip(&of_class).for_each(|(count, n)| *count = (*count / (n + n_cells as f64)).ln());
        }
        counts
    };
    Linear {
        classes: of_class.iter().map(|count| (count + 1.0).ln()).collect(),
        features: train.features.iter().zip(&shape.features).map(feature).collect(),
    }
}

/// Passes over the rows.
const EPOCHS: usize = 12;
/// The first step.
const RATE: f64 = 0.3;
/// How strongly weights are drawn towards zero.
const RIDGE: f64 = 1e-5;

/// Stochastic gradient steps whose length falls with the squares seen (AdaGrad).
fn logistic(shape: &Shape, train: &Examples) -> Linear {
    let lists = || shape.features.iter().map(|&(n_cells, _)| vec![0.0_f64; n_cells * shape.n_classes]).collect();
    let mut model = Linear { classes: vec![0.0; shape.n_classes], features: lists() };
    let mut squares = Linear { classes: vec![1e-8; shape.n_classes], features: lists() };
    let mut sums = Vec::new();
    let step = |weight: &mut f64, square: &mut f64, slope: f64| {
        let slope = slope + RIDGE * *weight;
        *square += slope * slope;
        *weight -= RATE * slope / (square.sqrt() + 1e-8);
    };
    for _ in 0..EPOCHS {
        for (row, &class) in train.classes.iter().enumerate() {
            scores(&model, shape, train, row, &mut sums);
            let most = sums.iter().copied().fold(f64::MIN, f64::max);
            sums.iter_mut().for_each(|sum| *sum = (*sum - most).exp());
            let total: f64 = sums.iter().sum();
            sums.iter_mut().for_each(|sum| *sum /= total);
            sums[usize::from(class)] -= 1.0;
            for (at, slope) in sums.iter().enumerate() {
                step(&mut model.classes[at], &mut squares.classes[at], *slope);
            }
            for (feature, cells) in train.features.iter().enumerate() {
                let from = usize::from(cells[row]) * shape.n_classes;
                let weights = &mut model.features[feature][from..from + shape.n_classes];
                let squares = &mut squares.features[feature][from..from + shape.n_classes];
                for ((weight, square), slope) in weights.iter_mut().zip(squares).zip(&sums) {
                    step(weight, square, *slope);
                }
            }
        }
    }
    model
}

/// Questions in a row.
const DEPTH: usize = 8;
/// Rows of the smallest leaf.
const LEAF: usize = 10;

enum Tree {
    Leaf(usize),
    /// Whether the cell is at most this one, or is this one.
    Split {
        feature: usize,
        cell: u16,
        is_ordered: bool,
        yes: Box<Tree>,
        no: Box<Tree>,
    },
}

impl Tree {
    fn grow(shape: &Shape, train: &Examples, rows: &[u32], depth: usize) -> Tree {
        let of_class = counts(shape.n_classes, rows.iter().map(|&row| train.classes[row as usize]));
        let leaf = Tree::Leaf(most_frequent(&of_class));
        if depth == 0 || rows.len() < 2 * LEAF {
            return leaf;
        }
        let Some((feature, cell)) = best_split(shape, train, rows, &of_class) else { return leaf };
        let is_ordered = shape.features[feature].1;
        let is_yes = |row: &u32| goes(train.features[feature][*row as usize], cell, is_ordered);
        let (yes, no): (Vec<u32>, Vec<u32>) = rows.iter().partition(|row| is_yes(row));
        let grow = |rows: &[u32]| Box::new(Tree::grow(shape, train, rows, depth - 1));
        Tree::Split { feature, cell, is_ordered, yes: grow(&yes), no: grow(&no) }
    }

    fn predict(&self, test: &Examples, row: usize) -> usize {
        match self {
            Tree::Leaf(class) => *class,
            Tree::Split { feature, cell, is_ordered, yes, no } => {
                let side = if goes(test.features[*feature][row], *cell, *is_ordered) { yes } else { no };
                side.predict(test, row)
            }
        }
    }
}

fn goes(found: u16, cell: u16, is_ordered: bool) -> bool {
    if is_ordered { found <= cell } else { found == cell }
}

/// The question that leaves the least Gini impurity, if any lessens it.
fn best_split(shape: &Shape, train: &Examples, rows: &[u32], of_class: &[f64]) -> Option<(usize, u16)> {
    let n_rows = rows.len() as f64;
    // n · Gini = n − Σ count² / n: the larger the sum of Σ count² / n, the better.
    let purity = |counts: &[f64], n: f64| if n == 0.0 { 0.0 } else { counts.iter().map(|c| c * c).sum::<f64>() / n };
    let mut best = (purity(of_class, n_rows) + 1e-9, None);
    for (feature, &(n_cells, is_ordered)) in shape.features.iter().enumerate() {
        let mut cells = vec![0.0_f64; n_cells * shape.n_classes];
        for &row in rows {
            let cell = usize::from(train.features[feature][row as usize]);
            cells[cell * shape.n_classes + usize::from(train.classes[row as usize])] += 1.0;
        }
        let mut inside = vec![0.0; shape.n_classes];
        for (cell, counts) in cells.chunks_exact(shape.n_classes).enumerate() {
            if !is_ordered {
                inside.fill(0.0);
            }
            inside.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
            let n_inside: f64 = inside.iter().sum();
            if n_inside < LEAF as f64 || n_rows - n_inside < LEAF as f64 {
                continue;
            }
            let outside: Vec<f64> = of_class.iter().zip(&inside).map(|(all, own)| all - own).collect();
            let found = purity(&inside, n_inside) + purity(&outside, n_rows - n_inside);
            if found > best.0 {
                best = (found, Some((feature, cell as u16)));
            }
        }
    }
    best.1
}

fn counts(n_classes: usize, classes: impl Iterator<Item = u16>) -> Vec<f64> {
    let mut counts = vec![0.0; n_classes];
    classes.for_each(|class| counts[usize::from(class)] += 1.0);
    counts
}

fn most_frequent(counts: &[f64]) -> usize {
    (0..counts.len()).max_by(|&a, &b| counts[a].total_cmp(&counts[b]).then(b.cmp(&a))).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn examples(rule: fn(u16, u16) -> u16) -> (Shape, Examples) {
        let pairs: Vec<(u16, u16)> = (0..400).map(|row| (row % 4, row / 4 % 5)).collect();
        let examples = Examples {
            features: vec![pairs.iter().map(|it| it.0).collect(), pairs.iter().map(|it| it.1).collect()],
            classes: pairs.iter().map(|it| rule(it.0, it.1)).collect(),
        };
        (Shape { features: vec![(4, true), (5, false)], n_classes: 3 }, examples)
    }

    #[test]
    fn what_one_feature_says_is_learned_by_all() {
        let (shape, all) = examples(|a, _| a.min(2));
        for learner in Learner::ALL {
            assert_eq!(learner.accuracy(&shape, &all, &all), 1.0, "{}", learner.name());
        }
        assert_eq!(all.majority(3, &all), 0.5);
    }

    /// Class 1 where exactly one of two holds: no sum of scores says that, a tree does.
    #[test]
    fn an_exclusive_or_is_learned_by_the_tree_alone() {
        let (shape, all) = examples(|a, b| u16::from((a < 2) != (b < 2)));
        assert!(Learner::NaiveBayes.accuracy(&shape, &all, &all) < 0.8);
        assert!(Learner::LogisticRegression.accuracy(&shape, &all, &all) < 0.8);
        assert_eq!(Learner::DecisionTree.accuracy(&shape, &all, &all), 1.0);
    }
}
