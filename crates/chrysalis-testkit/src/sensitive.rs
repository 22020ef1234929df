use std::sync::Arc;

use chrysalis_criteria::{
    Alike, Categories, CriteriaError, Near, Principle, PrincipleSpec, Requirement, Sensitive, Weights,
};
use chrysalis_table::{Code, Column, Domain, SaCounts, Taxonomy, TaxonomyFile};

/// A sensitive column and all that principles may ask of it: as given, for the oracle, and bound, for the code under
/// test.
#[derive(Clone, Debug)]
pub struct SensitiveColumn {
    /// Its name.
    pub name: String,
    /// Its values.
    pub domain: Arc<Domain>,
    /// How often each occurs in the whole table.
    pub counts: SaCounts,
    /// Its taxonomy, as given.
    pub taxonomy: Option<TaxonomyFile>,
    /// Its categories and their weights, as given.
    pub categories: Option<(Vec<Vec<String>>, Weights)>,
    tree: Option<Taxonomy>,
    bound_categories: Option<Categories>,
    /// How far apart its numbers must be to be different.
    pub near: Near,
    alike: Alike,
    /// Values that at least half of all rows have.
    pub ordinary: Vec<bool>,
}

impl SensitiveColumn {
    /// Puts a column together.
    ///
    /// # Panics
    /// When taxonomy or categories do not fit the domain.
    pub fn new(
        name: &str,
        domain: Arc<Domain>,
        counts: SaCounts,
        taxonomy: Option<TaxonomyFile>,
        categories: Option<(Vec<Vec<String>>, Weights)>,
    ) -> Self {
        let tree = taxonomy.as_ref().map(|file| file.bind(&domain).unwrap());
        let bind =
            |(names, weights): &(Vec<Vec<String>>, Weights)| Categories::new(name, &domain, names.clone(), weights);
        let bound_categories = categories.as_ref().map(|given| bind(given).unwrap());
        let histogram: Vec<u64> = (0..domain.len() as Code).map(|code| counts.count(code)).collect();
        let near = Near::usual(&domain, &histogram);
        let alike = Alike::new(&domain, &near);
        let looks = |code: Code| chrysalis_table::folded(&domain.text(code)).into_owned();
        let alike_rows = |code: Code| -> u64 {
            let others = (0..domain.len() as Code).filter(|&other| looks(other) == looks(code));
            others.map(|other| counts.count(other)).sum()
        };
        let is_words = !domain.kind().has_distances();
        let rows_of = |code: Code| if is_words { alike_rows(code) } else { counts.count(code) };
        let is_ordinary = |code: Code| 2 * rows_of(code) >= counts.total() && rows_of(code) > 0;
        let ordinary = (0..domain.len() as Code).map(is_ordinary).collect();
        SensitiveColumn {
            name: name.to_owned(),
            domain,
            counts,
            taxonomy,
            categories,
            tree,
            bound_categories,
            near,
            alike,
            ordinary,
        }
    }

    /// The same column, with another measure of how far apart its numbers must be to be different.
    #[must_use]
    pub fn with_near(self, near: Near) -> Self {
        SensitiveColumn { alike: Alike::new(&self.domain, &near), near, ..self }
    }

    /// The same column under these requirements: the largest e of a `ke` says what is near.
    #[must_use]
    pub fn under(&self, specs: &[PrincipleSpec]) -> Self {
        let e = specs.iter().filter_map(|spec| if let PrincipleSpec::Ke { e, .. } = spec { Some(*e) } else { None });
        match e.max() {
            Some(e) => self.clone().with_near(Near::Width(e)),
            None => self.clone(),
        }
    }

    /// A column of a table, without taxonomy or categories.
    pub fn of(column: &Column) -> Self {
        let counts = SaCounts::of(column.domain().len(), column.codes().iter());
        SensitiveColumn::new(column.name(), Arc::clone(column.domain()), counts, None, None)
    }

    /// The same column with categories.
    ///
    /// # Panics
    /// When they do not fit the domain.
    #[must_use]
    pub fn with_categories(self, names: Vec<Vec<String>>, weights: Weights) -> Self {
        SensitiveColumn::new(&self.name, self.domain, self.counts, self.taxonomy, Some((names, weights)))
    }

    /// What principles are bound to.
    pub fn sensitive(&self) -> Sensitive<'_> {
        Sensitive {
            name: &self.name,
            domain: &self.domain,
            counts: &self.counts,
            taxonomy: self.tree.as_ref(),
            categories: self.bound_categories.as_ref(),
            ordinary: &self.ordinary,
            alike: &self.alike,
        }
    }

    /// Binds a principle to this column.
    pub fn bind(&self, spec: &PrincipleSpec) -> Result<Box<dyn Principle>, CriteriaError> {
        spec.bind(Some(&self.sensitive()))
    }

    /// A group from the texts of its values.
    ///
    /// # Panics
    /// When a text does not occur in the domain.
    pub fn group(&self, texts: &[&str]) -> SaCounts {
        let code = |text: &str| (0..self.domain.len() as Code).find(|&code| self.domain.text(code) == text).unwrap();
        SaCounts::of(self.domain.len(), texts.iter().map(|text| code(text)))
    }
}

/// Principles as requirements of every sensitive column that they can be asked of.
pub fn required(principles: &[PrincipleSpec]) -> Vec<Requirement> {
    principles.iter().cloned().map(Requirement::of_all).collect()
}
