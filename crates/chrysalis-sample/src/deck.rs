//! What a release says about its rows, as a sampler needs it: which values a row has, which are dealt inside its group,
//! and which ranges and labels its values lie in.

use std::sync::Arc;

use chrysalis_release::view::{Field, Groups, Label};
use chrysalis_release::{Detail, Preparation, Published, Release, RoleName, Values, View};
use chrysalis_table::{Code, Codes, Domain};
use rand::CryptoRng;
use rand::seq::SliceRandom;

use crate::axis::{Axis, Part, cells_of};
use crate::{SampleError, tight};

/// Where the values of a drawn column come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// They are people's own: the values of one row belong to one person.
    Exact,
    /// They are the group's, as published; which row has which was drawn.
    Dealt,
    /// They were drawn inside the ranges and labels that were published.
    Boxed,
}

impl Origin {
    /// `exact` or `drawn`.
    pub fn name(self) -> &'static str {
        match self {
            Origin::Exact => "exact",
            Origin::Dealt | Origin::Boxed => "drawn",
        }
    }

    /// The same for people, with what was drawn.
    pub fn in_words(self) -> &'static str {
        match self {
            Origin::Exact => "as published, row by row",
            Origin::Dealt => "the group's published values, dealt to its rows",
            Origin::Boxed => "drawn inside the published ranges and labels",
        }
    }
}

/// A column of every world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnDrawn {
    /// Its name.
    pub name: String,
    /// Its role in the release.
    pub role: RoleName,
    /// Where its values come from.
    pub origin: Origin,
}

/// A decoded release.
#[derive(Debug)]
pub(crate) struct Deck {
    pub(crate) groups: Arc<Groups>,
    /// Where some values are nobody's: groups by how many values they show. Dealt values are then as many.
    pub(crate) shown: Option<Arc<Groups>>,
    pub(crate) attributes: Vec<Attribute>,
    /// How many blocks of columns are dealt, each as one.
    pub(crate) n_blocks: usize,
    /// Further tables of people, whose ranges and labels a world must fit as well.
    pub(crate) marginals: Vec<Marginal>,
    pub(crate) whole: String,
}

/// A column and what is known of its values.
#[derive(Clone, Debug)]
pub(crate) struct Attribute {
    pub(crate) field: Arc<Field>,
    pub(crate) preparations: Vec<Preparation>,
    pub(crate) source: Source,
}

#[derive(Clone, Debug)]
pub(crate) enum Source {
    /// Values that occur, one per place; the places of a group are its rows.
    Listed(Arc<Listed>),
    /// A label per row.
    Boxed(Boxed),
}

#[derive(Debug)]
pub(crate) struct Listed {
    pub(crate) codes: Codes,
    pub(crate) domain: Arc<Domain>,
    /// The cell of every code.
    pub(crate) cell_of: Vec<u16>,
    pub(crate) n_cells: usize,
    /// The block with which the values are dealt to the rows of their group; none if each is its row's own.
    pub(crate) block: Option<usize>,
}

#[derive(Clone, Debug)]
pub(crate) struct Boxed {
    pub(crate) labels: Vec<Label>,
    /// The label of every row.
    pub(crate) of: Vec<u32>,
    pub(crate) axis: Axis,
    /// Whether labels were made from the values of their group, so that each end of a range and each member of a set
    /// occurs there.
    pub(crate) is_tight: bool,
}

/// The labels of a further table of people, whose rows are in the order of groups but not in that of the whole table.
#[derive(Debug)]
pub(crate) struct Marginal {
    /// Its place among the further tables.
    pub(crate) number: u32,
    pub(crate) table: String,
    /// For each attribute that it shows, its place among the deck's, the labels, and the label of every row.
    pub(crate) shown: Vec<(usize, Vec<Label>, Vec<u32>)>,
}

impl Deck {
    pub(crate) fn new(release: &Release) -> Result<Deck, SampleError> {
        let manifest = &release.manifest;
        if manifest.method.shape().group_id.is_none() {
            return Err(SampleError::Method { method: manifest.method });
        }
        let view = View::with_counterfeits(release)?;
        let has_counterfeits = view.counterfeits() > 0;
        let whole = view.layout.shape.people.to_owned();
        let people = release.table(&whole)?;
        let mut blocks = Blocks::new(&view);
        let mut attributes = Vec::new();
        for (at, field) in view.fields.iter().enumerate() {
            let lacks = || SampleError::broken(format!("table `{whole}` does not show `{}`", field.name));
            let beside = || people.column(&field.name).ok_or_else(lacks);
            let source = match field.role {
                RoleName::Identifier => continue,
                RoleName::Quasi if view.layout.shape.detail.is_labelled() => {
                    let labels = view.labels(&whole, at).ok_or_else(lacks)?;
                    let boxed = Boxed::new(field, labels.labels.clone(), per_row(&labels.of, &view.groups))?;
                    let shape = &view.layout.shape;
                    let is_of_group = shape.detail == Detail::GroupBoxes && !shape.has_users;
                    let is_tight = is_of_group && tight::is_tight(field, people, &boxed.labels);
                    Source::Boxed(Boxed { is_tight, ..boxed })
                }
                RoleName::Quasi => {
                    let column = beside()?;
                    let block = (field.published == Published::Permuted).then(|| blocks.alone());
                    listed(view.groups.arranged(column.codes()), column.domain(), block)
                }
                RoleName::Other => {
                    let column = beside()?;
                    listed(view.groups.arranged(column.codes()), column.domain(), None)
                }
                RoleName::Sensitive => match view.layout.shape.values {
                    Values::Swapped => return Err(SampleError::Method { method: manifest.method }),
                    Values::Beside if !has_counterfeits => {
                        let column = beside()?;
                        let block = (field.published == Published::Permuted).then(|| blocks.of(at));
                        listed(view.groups.arranged(column.codes()), column.domain(), block)
                    }
                    Values::Beside | Values::Counted(_) => {
                        let codes = counted(&view, at).ok_or_else(|| {
                            SampleError::broken(format!("no table shows the values of `{}`", field.name))
                        })?;
                        let values = view.values(at).ok_or_else(lacks)?;
                        listed(codes, &values.domain, Some(blocks.of(at)))
                    }
                },
            };
            let preparations = manifest.attributes[at].preparations()?;
            attributes.push((at, Attribute { field: Arc::new(field.clone()), preparations, source }));
        }
        let marginals = marginals(&view, &whole, &attributes);
        Ok(Deck {
            attributes: attributes.into_iter().map(|(_, attribute)| attribute).collect(),
            n_blocks: blocks.next,
            marginals,
            whole,
            shown: has_counterfeits.then(|| Arc::new(view.shown)),
            groups: Arc::new(view.groups),
        })
    }

    /// The same with only as many values in every group as it has rows: which of them are nobody's is drawn, all choices
    /// being equally likely (spec, step 0). `None` where all are somebody's.
    pub(crate) fn without_counterfeits(&self, rng: &mut dyn CryptoRng) -> Option<Deck> {
        let shown = self.shown.as_ref()?;
        let chosen = |listed: &Listed, rng: &mut dyn CryptoRng| {
            let mut codes: Vec<Code> = Vec::with_capacity(self.groups.n_rows());
            for group in 0..self.groups.len() {
                let mut own: Vec<Code> = shown.rows(group).map(|place| listed.codes.get(place)).collect();
                let (drawn, _) = own.partial_shuffle(rng, self.groups.size(group) as usize);
                codes.extend_from_slice(drawn);
            }
            Codes::collect(listed.domain.len(), codes.into_iter())
        };
        let mut attributes = self.attributes.clone();
        for attribute in attributes.iter_mut().filter(|it| it.field.role == RoleName::Sensitive) {
            if let Source::Listed(listed) = &mut attribute.source {
                let codes = chosen(listed, rng);
                *listed = Arc::new(Listed {
                    codes,
                    domain: Arc::clone(&listed.domain),
                    cell_of: listed.cell_of.clone(),
                    n_cells: listed.n_cells,
                    block: listed.block,
                });
            }
        }
        let (groups, whole) = (Arc::clone(&self.groups), self.whole.clone());
        Some(Deck { groups, shown: None, attributes, n_blocks: self.n_blocks, marginals: Vec::new(), whole })
    }

    pub(crate) fn columns(&self) -> Vec<ColumnDrawn> {
        let column = |attribute: &Attribute| ColumnDrawn {
            name: attribute.field.name.clone(),
            role: attribute.field.role,
            origin: match &attribute.source {
                Source::Boxed(_) => Origin::Boxed,
                Source::Listed(listed) if listed.block.is_some() => Origin::Dealt,
                Source::Listed(_) => Origin::Exact,
            },
        };
        self.attributes.iter().map(column).collect()
    }
}

impl Boxed {
    pub(crate) fn new(field: &Field, labels: Vec<Label>, of: Vec<u32>) -> Result<Boxed, SampleError> {
        let mut rows = vec![0_u32; labels.len()];
        of.iter().for_each(|&label| rows[label as usize] += 1);
        let axis = Axis::new(&labels, &rows);
        let mut parts: Vec<Part> = Vec::new();
        for (label, &rows) in labels.iter().zip(&rows) {
            axis.cover(label, &mut parts);
            if parts.is_empty() && rows > 0 {
                return Err(SampleError::broken(format!("`{}` has a label that stands for no value", field.name)));
            }
        }
        Ok(Boxed { labels, of, axis, is_tight: false })
    }

    pub(crate) fn label(&self, row: usize) -> &Label {
        &self.labels[self.of[row] as usize]
    }
}

fn listed(codes: Codes, domain: &Arc<Domain>, block: Option<usize>) -> Source {
    let mut histogram = vec![0_u64; domain.len()];
    codes.iter().for_each(|code| histogram[code as usize] += 1);
    let (cell_of, n_cells) = cells_of(domain, &histogram);
    Source::Listed(Arc::new(Listed { codes, domain: Arc::clone(domain), cell_of, n_cells, block }))
}

/// The label of every row, from that of every group or of every row.
fn per_row(of: &[u32], groups: &Groups) -> Vec<u32> {
    if of.len() == groups.n_rows() && groups.len() != groups.n_rows() {
        return of.to_vec();
    }
    groups.of_rows_in_order().into_iter().map(|group| of[group as usize]).collect()
}

/// The values of a sensitive attribute, one per place, places ordered by group. Attributes that are shown together have
/// their values in the same order.
fn counted(view: &View, at: usize) -> Option<Codes> {
    let first =
        set_of(view, at).and_then(|set| set.first().copied()).filter(|&first| view.combinations(first).is_some());
    let (domain, mut codes): (&Domain, Vec<Code>) =
        (&view.values(at)?.domain, Vec::with_capacity(view.groups.n_rows()));
    let Some(first) = first else {
        let values = view.values(at)?;
        for group in 0..view.groups.len() {
            let own = values.group(group);
            own.codes
                .iter()
                .zip(own.counts)
                .for_each(|(&code, &n)| codes.extend(std::iter::repeat_n(code, n as usize)));
        }
        return Some(Codes::collect(domain.len(), codes.into_iter()));
    };
    let known = view.combinations(first)?;
    let other = known.others.iter().find(|other| other.field == at);
    for group in 0..view.groups.len() {
        let own = known.values.group(group);
        for ((entry, &code), &n) in known.values.places(group).zip(own.codes).zip(own.counts) {
            let code = other.map_or(code, |other| other.codes[entry]);
            codes.extend(std::iter::repeat_n(code, n as usize));
        }
    }
    // Tables of combinations have domains of their own.
    let from: &Domain = other.map_or(&known.values.domain, |other| &other.domain);
    let place: Vec<Option<Code>> = (0..from.len() as Code).map(|code| domain.code_of(from.value(code))).collect();
    let codes: Option<Vec<Code>> = codes.into_iter().map(|code| place[code as usize]).collect();
    Some(Codes::collect(domain.len(), codes?.into_iter()))
}

/// The set of attributes that are shown together with this one.
fn set_of(view: &View, at: usize) -> Option<Vec<usize>> {
    view.manifest.together_sets().into_iter().find(|set| set.contains(&at))
}

/// Numbers for blocks of columns that are dealt as one.
struct Blocks {
    next: usize,
    /// Sets of attributes that are shown together, and the block of each that was met.
    sets: Vec<(Vec<usize>, Option<usize>)>,
}

impl Blocks {
    fn new(view: &View) -> Self {
        Blocks { next: 0, sets: view.manifest.together_sets().into_iter().map(|set| (set, None)).collect() }
    }

    fn alone(&mut self) -> usize {
        self.next += 1;
        self.next - 1
    }

    fn of(&mut self, at: usize) -> usize {
        let place = self.sets.iter().position(|(set, _)| set.contains(&at));
        if let Some(block) = place.and_then(|place| self.sets[place].1) {
            return block;
        }
        let block = self.alone();
        if let Some(place) = place {
            self.sets[place].1 = Some(block);
        }
        block
    }
}

fn marginals(view: &View, whole: &str, attributes: &[(usize, Attribute)]) -> Vec<Marginal> {
    let tables = view.layout.people().filter(|table| table.name != whole);
    let marginal = |(number, table): (u32, &chrysalis_release::TableLayout)| {
        let shown = attributes.iter().enumerate().filter_map(|(place, (at, _))| {
            let labels = view.labels(&table.name, *at).filter(|_| table.shows.contains(at))?;
            Some((place, labels.labels.clone(), labels.of.clone()))
        });
        Marginal { number, table: table.name.clone(), shown: shown.collect() }
    };
    (0..).zip(tables).map(marginal).filter(|marginal| !marginal.shown.is_empty()).collect()
}
