//! What a release looks like, as data: tables, columns, keys, and the contents of each column.
//!
//! A [`Shape`] says what is special about a form. The [`Layout`] follows from it and from the attributes of a release, by one
//! function for all forms, so readers match on what a table *is*, never on the form it comes from.

use crate::{Attribute, Form, KindName, Manifest, Persons, Published, RoleName};

/// The column that says which rows form a group.
pub const GROUP_ID: &str = "group_id";
/// The same for batches.
pub const BATCH_ID: &str = "batch_id";
/// The column of a table of sensitive values that says how often a value occurs in its group.
pub const COUNT: &str = "count";
/// The column that says how many persons are in a group, or how many of them have a sensitive value.
pub const PERSONS: &str = "persons";
/// The table that says how many of a group's sensitive values nobody has, in a release of a series.
pub const COUNTERFEITS: &str = "counterfeits";
/// The table that says how many persons are in every group, where persons may have several rows.
pub const GROUPS: &str = "groups";
/// Columns of the table that says what labels stand for. The missing value is a member with an empty text.
pub const MEMBERS_COLUMNS: [&str; 3] = ["attribute", "label", "value"];
/// Columns of the table of bounds. For every group and every number of rows that a question may hit, it bounds the sum,
/// minimum and maximum of the sensitive values and gives their expectations. `mean` and `variance` are those of the sum
/// over that many hits, all choices being equally likely; `min_mean` to `max_variance` are those of the smallest and of
/// the largest value hit.
pub const HELP_COLUMNS: [&str; 14] = [
    GROUP_ID,
    "hits",
    "sum_lb",
    "sum_ub",
    "min_lb",
    "min_ub",
    "max_lb",
    "max_ub",
    "mean",
    "variance",
    "min_mean",
    "min_variance",
    "max_mean",
    "max_variance",
];

/// The column with the lower ends of an ordered attribute's ranges.
///
/// A missing value sorts before all others. An empty lower end beside an upper end therefore means that the value is
/// missing or anything up to the upper end; two empty ends mean that it is certainly missing.
pub fn min_column(attribute: &str) -> String {
    format!("{attribute}_min")
}

/// The column with the upper ends of an ordered attribute's ranges.
pub fn max_column(attribute: &str) -> String {
    format!("{attribute}_max")
}

/// How exactly quasi values are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// As they are: the values of a row belong to one person.
    Exact,
    /// As they are, but every column was permuted on its own inside its group: within a group only the values of each
    /// column as a whole are true.
    Permuted,
    /// As ranges and labels, the same for all rows of a group.
    GroupBoxes,
    /// As ranges and labels, row by row: rows of a group may differ, and rows that look alike form a bucket.
    RowBoxes,
}

impl Detail {
    /// Whether quasi values are ranges and labels.
    pub fn is_labelled(self) -> bool {
        match self {
            Detail::GroupBoxes | Detail::RowBoxes => true,
            Detail::Exact | Detail::Permuted => false,
        }
    }

    /// What a manifest says about a quasi attribute.
    pub fn published(self) -> Published {
        match self {
            Detail::Exact => Published::Exact,
            Detail::Permuted => Published::Permuted,
            Detail::GroupBoxes | Detail::RowBoxes => Published::Generalized,
        }
    }
}

/// Where sensitive values are shown, and whose they may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Values {
    /// Beside the rows of their group. Any row of the group may be their owner's.
    Beside,
    /// Counted by group, in a table of this name.
    Counted(&'static str),
    /// Beside rows of other people, with whom they were exchanged: there are no groups, and a value may be almost
    /// anybody's.
    Swapped,
}

/// What a form requires of the sensitive column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// There may be none.
    Nothing,
    /// There must be one.
    Sensitive,
    /// There must be one, and it must hold numbers.
    Numbers,
}

/// What is special about a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The table with a row per person and all quasi attributes.
    pub people: &'static str,
    /// The prefix of the names of further tables, which have a row per person and some of the attributes.
    pub marginals: Option<&'static str>,
    /// The table that says what labels stand for.
    pub members: Option<&'static str>,
    /// The table of bounds.
    pub help: Option<&'static str>,
    /// How exactly quasi values are shown.
    pub detail: Detail,
    /// Where sensitive values are shown.
    pub values: Values,
    /// What is required of the sensitive column.
    pub needs: Needs,
    /// The column that says which rows share their sensitive values; none if there are no groups.
    pub group_id: Option<&'static str>,
    /// What a group is called.
    pub group_word: &'static str,
    /// Whether the group id comes before all other columns, not after the quasi ones.
    pub has_id_first: bool,
    /// Whether columns may be kept as they are beside the rows.
    pub keeps_others: bool,
    /// Whether several users each know a quasi-identifier of their own, and promises are made to each of them.
    pub has_users: bool,
    /// Whether anything can be promised at all.
    pub may_promise: bool,
    /// Whether it may show counterfeit values, as releases of a series do.
    pub may_follow: bool,
}

impl Shape {
    /// How the sensitive attribute is shown.
    pub fn sensitive(&self) -> Published {
        match (self.values, self.detail) {
            (Values::Counted(_), _) | (Values::Beside, Detail::GroupBoxes | Detail::RowBoxes) => Published::Exact,
            (Values::Beside, Detail::Exact | Detail::Permuted) | (Values::Swapped, _) => Published::Permuted,
        }
    }

    /// The table with the sensitive values of groups: one of its own, or the table of people. If several attributes are
    /// sensitive, each has a table of its own: [`Shape::values_table_of`].
    pub fn values_table(&self) -> &'static str {
        match self.values {
            Values::Counted(table) => table,
            Values::Beside | Values::Swapped => self.people,
        }
    }

    /// The table with the values of a sensitive attribute by group; `has_several` says whether there are others.
    pub fn values_table_of(&self, attribute: &str, has_several: bool) -> String {
        match self.values {
            Values::Counted(table) => table_of(table, attribute, has_several),
            Values::Beside | Values::Swapped => self.people.to_owned(),
        }
    }

    /// The table of bounds for a sensitive attribute, if the form has one.
    pub fn help_table(&self, attribute: &str, has_several: bool) -> Option<String> {
        self.help.map(|table| table_of(table, attribute, has_several))
    }

    /// How one of several sensitive attributes is shown: beside rows, each is permuted on its own.
    pub fn one_of_several(&self) -> Published {
        match self.values {
            Values::Counted(_) => self.sensitive(),
            Values::Beside | Values::Swapped => Published::Permuted,
        }
    }
}

/// A table about a sensitive attribute. Its name says which, if there are several.
fn table_of(table: &str, attribute: &str, has_several: bool) -> String {
    match has_several {
        true => marginal_table(&format!("{table}_"), std::iter::once(attribute)),
        false => table.to_owned(),
    }
}

/// What one table holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// A row per person.
    People,
    /// A row per group and sensitive value.
    Values,
    /// A row per group, with its number of persons.
    Groups,
    /// A row per group with counterfeit values, and how many they are.
    Counterfeits,
    /// A row per group and combination of sensitive values that are shown together.
    Combinations,
    /// A row per group and number of hits.
    Help,
    /// A row per attribute, label and value it stands for.
    Members,
}

/// What one column contains. Attributes are given by their place in the manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell {
    /// The number of a group.
    GroupId,
    /// A value of an attribute.
    Value(usize),
    /// The lower end of a range of an attribute's values.
    Low(usize),
    /// The upper end.
    High(usize),
    /// A label that stands for values of an attribute.
    Label(usize),
    /// How often a sensitive value occurs in a group.
    Count,
    /// How many persons are in a group, or how many of them have a sensitive value.
    Persons,
    /// A number of hits in a group.
    Hits,
    /// A bound or an expectation for that many hits, of an attribute.
    Bound(usize),
    /// The name of an attribute, a label of it, or a value that the label stands for.
    Member,
}

/// One column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnLayout {
    /// Its name.
    pub name: String,
    /// What it contains.
    pub cell: Cell,
}

/// One table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableLayout {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub holds: Holds,
    /// Its columns, in order.
    pub columns: Vec<ColumnLayout>,
    /// For tables of people: the quasi attributes that it shows, by their place in the manifest.
    pub shows: Vec<usize>,
    /// Columns that together tell any two rows apart and are never missing; empty if there are none.
    pub key: Vec<String>,
    /// Columns by which tables are joined.
    pub index: Vec<String>,
}

/// The tables of a release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// What is special about the form.
    pub shape: Shape,
    /// The tables, in the order in which they are published.
    pub tables: Vec<TableLayout>,
}

impl Layout {
    /// The layout of a release. `marginals` are the names of further tables of people, with the quasi attributes of each;
    /// `persons` says what is known about persons, where they may have several rows.
    pub fn new(
        form: Form,
        attributes: &[Attribute],
        marginals: &[(String, Vec<usize>)],
        persons: Option<Persons>,
    ) -> Layout {
        let shape = form.shape();
        let quasi: Vec<usize> = with_role(attributes, RoleName::Quasi).collect();
        let mut people = vec![people(&shape, attributes, shape.people, &quasi, true)];
        people.extend(marginals.iter().map(|(name, shows)| self::people(&shape, attributes, name, shows, false)));
        let sensitive: Vec<usize> = with_role(attributes, RoleName::Sensitive).collect();
        let has_several = sensitive.len() > 1;
        let of_values = |&at: &usize| {
            let mut table = values(&shape, attributes, shape.values_table_of(&attributes[at].name, has_several), at);
            if persons.is_some_and(|persons| persons.rows_known) {
                table.columns.push(column(PERSONS, Cell::Persons));
            }
            table
        };
        let values: Vec<TableLayout> = match shape.values {
            Values::Counted(_) => sensitive.iter().map(of_values).collect(),
            Values::Beside | Values::Swapped => Vec::new(),
        };
        let of_help = |&at: &usize| shape.help_table(&attributes[at].name, has_several).map(|table| help(table, at));
        let help: Vec<TableLayout> = sensitive.iter().filter_map(of_help).collect();
        let groups = persons.and(shape.group_id).map(groups);
        let members = shape.members.map(members);
        // Batches come before the tables of people, everything else after them.
        let tables = match shape.detail {
            Detail::RowBoxes => values.into_iter().chain(people).chain(help).chain(groups).chain(members).collect(),
            Detail::Exact | Detail::Permuted | Detail::GroupBoxes => {
                people.into_iter().chain(values).chain(help).chain(groups).chain(members).collect()
            }
        };
        Layout { shape, tables }
    }

    /// The tables with a row per person, the one with all quasi attributes first.
    pub fn people(&self) -> impl Iterator<Item = &TableLayout> {
        self.tables.iter().filter(|table| table.holds == Holds::People)
    }

    /// Of the tables that show all these attributes, the one with the fewest others (angel, section 5).
    pub fn narrowest(&self, attributes: &[usize]) -> Option<&TableLayout> {
        let fits = |table: &&TableLayout| attributes.iter().all(|attribute| table.shows.contains(attribute));
        self.people().filter(fits).min_by_key(|table| table.shows.len())
    }

    /// The table with the values of a sensitive attribute, given by its place in the manifest.
    pub fn values_of(&self, attribute: usize) -> Option<&TableLayout> {
        let holds = match self.shape.values {
            Values::Counted(_) => Holds::Values,
            Values::Beside | Values::Swapped => Holds::People,
        };
        let shows = |table: &&TableLayout| table.columns.iter().any(|column| column.cell == Cell::Value(attribute));
        self.tables.iter().filter(|table| table.holds == holds).find(shows)
    }

    /// The table of that name.
    pub fn table(&self, name: &str) -> Option<&TableLayout> {
        self.tables.iter().find(|table| table.name == name)
    }
}

impl Manifest {
    /// What the tables of the release are. Marginals are those that the manifest lists.
    pub fn layout(&self) -> Layout {
        let shape = self.method.shape();
        let quasi: Vec<usize> = with_role(&self.attributes, RoleName::Quasi).collect();
        let is_marginal =
            |name: &str| shape.marginals.is_some_and(|start| name.starts_with(start)) && name != shape.people;
        let marginals = self.tables.iter().filter(|table| is_marginal(&table.name)).map(|table| {
            let has = |&at: &usize| {
                let names = quasi_columns(&shape, &self.attributes[at], at);
                names.iter().all(|column| table.columns.iter().any(|known| known.name == column.name))
            };
            (table.name.clone(), quasi.iter().copied().filter(has).collect())
        });
        Layout::new(self.method, &self.attributes, &marginals.collect::<Vec<_>>(), self.persons)
            .with_together(&self.attributes, &self.together_sets())
            .with_counterfeits(self.series.is_some())
    }
}

/// The name of a marginal's table: its attributes, letters and digits as they are and `_` for anything else.
pub fn marginal_table<'a>(start: &str, attributes: impl Iterator<Item = &'a str>) -> String {
    let plain = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '_' };
    let names: Vec<String> = attributes.map(|name| name.chars().map(plain).collect()).collect();
    format!("{start}{}", names.join("_"))
}

pub(crate) fn with_role(attributes: &[Attribute], role: RoleName) -> impl Iterator<Item = usize> {
    attributes.iter().enumerate().filter(move |(_, attribute)| attribute.role == role).map(|(at, _)| at)
}

pub(crate) fn column(name: impl Into<String>, cell: Cell) -> ColumnLayout {
    ColumnLayout { name: name.into(), cell }
}

/// The columns that a quasi attribute becomes.
fn quasi_columns(shape: &Shape, attribute: &Attribute, at: usize) -> Vec<ColumnLayout> {
    let name = &attribute.name;
    match (shape.detail.is_labelled(), attribute.kind) {
        (false, _) => vec![column(name, Cell::Value(at))],
        (true, KindName::Category) => vec![column(name, Cell::Label(at))],
        (true, KindName::Integer | KindName::Real | KindName::Date | KindName::DateTime | KindName::Ordinal) => {
            vec![column(min_column(name), Cell::Low(at)), column(max_column(name), Cell::High(at))]
        }
    }
}

fn people(shape: &Shape, attributes: &[Attribute], name: &str, shows: &[usize], is_whole: bool) -> TableLayout {
    let id = || shape.group_id.map(|name| column(name, Cell::GroupId));
    let value = |at: usize| column(&attributes[at].name, Cell::Value(at));
    let quasi = shows.iter().flat_map(|&at| quasi_columns(shape, &attributes[at], at));
    let others = with_role(attributes, RoleName::Other).filter(|_| is_whole && shape.keeps_others).map(value);
    let stands_here = is_whole && matches!(shape.values, Values::Beside | Values::Swapped);
    let sensitive = with_role(attributes, RoleName::Sensitive).filter(|_| stands_here).map(value);
    let first = id().filter(|_| shape.has_id_first && is_whole);
    let later = id().filter(|_| !(shape.has_id_first && is_whole));
    // Only the whole table may have its ids first; batch ids come last.
    let columns = match shape.detail {
        Detail::RowBoxes => quasi.chain(others).chain(id()).collect(),
        Detail::Exact | Detail::Permuted | Detail::GroupBoxes => {
            first.into_iter().chain(quasi).chain(others).chain(later).chain(sensitive).collect()
        }
    };
    let index = shape.group_id.map(str::to_owned).into_iter().collect();
    TableLayout { name: name.to_owned(), holds: Holds::People, columns, shows: shows.to_vec(), key: Vec::new(), index }
}

fn values(shape: &Shape, attributes: &[Attribute], name: String, sensitive: usize) -> TableLayout {
    let id = shape.group_id.unwrap_or(GROUP_ID);
    let attribute = &attributes[sensitive];
    let columns =
        vec![column(id, Cell::GroupId), column(&attribute.name, Cell::Value(sensitive)), column(COUNT, Cell::Count)];
    // A key holds no missing values.
    let (key, index) = match attribute.domain.missing {
        false => (vec![id.to_owned(), attribute.name.clone()], Vec::new()),
        true => (Vec::new(), vec![id.to_owned()]),
    };
    TableLayout { name, holds: Holds::Values, columns, shows: Vec::new(), key, index }
}

fn groups(id: &str) -> TableLayout {
    let columns = vec![column(id, Cell::GroupId), column(PERSONS, Cell::Persons)];
    let key = vec![id.to_owned()];
    TableLayout { name: GROUPS.to_owned(), holds: Holds::Groups, columns, shows: Vec::new(), key, index: Vec::new() }
}

impl Layout {
    /// In a release of a series, counterfeit values are counted by group.
    fn with_counterfeits(mut self, is_series: bool) -> Layout {
        if let (true, Some(id)) = (is_series, self.shape.group_id) {
            let columns = vec![column(id, Cell::GroupId), column(COUNT, Cell::Count)];
            let (name, key) = (COUNTERFEITS.to_owned(), vec![id.to_owned()]);
            let table =
                TableLayout { name, holds: Holds::Counterfeits, columns, shows: Vec::new(), key, index: Vec::new() };
            // The table of what labels stand for comes last.
            self.tables.insert(self.tables.len() - usize::from(self.shape.members.is_some()), table);
        }
        self
    }
}

fn help(name: String, sensitive: usize) -> TableLayout {
    let [id, hits, bounds @ ..] = HELP_COLUMNS;
    let mut columns = vec![column(id, Cell::GroupId), column(hits, Cell::Hits)];
    columns.extend(bounds.map(|name| column(name, Cell::Bound(sensitive))));
    let key = vec![id.to_owned(), hits.to_owned()];
    TableLayout { name, holds: Holds::Help, columns, shows: Vec::new(), key, index: Vec::new() }
}

fn members(name: &str) -> TableLayout {
    let columns = MEMBERS_COLUMNS.map(|name| column(name, Cell::Member)).to_vec();
    let index = MEMBERS_COLUMNS[..2].iter().map(|&name| name.to_owned()).collect();
    TableLayout { name: name.to_owned(), holds: Holds::Members, columns, shows: Vec::new(), key: Vec::new(), index }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DomainEntry;

    fn attribute(name: &str, role: RoleName, kind: KindName) -> Attribute {
        Attribute {
            name: name.to_owned(),
            role,
            kind,
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

    /// Every form, as docs/concepts/release-format.md describes it.
    #[test]
    fn the_tables_of_every_form_are_those_of_the_contract() {
        let attributes = [
            attribute("age", RoleName::Quasi, KindName::Integer),
            attribute("sex", RoleName::Quasi, KindName::Category),
            attribute("ward", RoleName::Other, KindName::Category),
            attribute("cost", RoleName::Sensitive, KindName::Integer),
        ];
        let marginal = [("gt_sex".to_owned(), vec![1])];
        let shown = |form: Form, marginals: &[(String, Vec<usize>)]| -> String {
            let layout = Layout::new(form, &attributes, marginals, None);
            let table = |table: &TableLayout| {
                let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
                format!("{}({})", table.name, names.join(","))
            };
            layout.tables.iter().map(table).collect::<Vec<_>>().join(" ")
        };
        let members = "members(attribute,label,value)";
        let generalized = format!("generalized(group_id,age_min,age_max,sex,ward,cost) {members}");
        assert_eq!(shown(Form::Generalize, &[]), generalized);
        assert_eq!(shown(Form::Butterfly, &[]), generalized);
        assert_eq!(shown(Form::Anatomy, &[]), "qit(age,sex,ward,group_id) st(group_id,cost,count)");
        assert_eq!(shown(Form::Permute, &[]), "pqt(age,sex,group_id) pst(group_id,cost,count)");
        let shuffled = shown(Form::Shuffle, &[]);
        assert!(shuffled.starts_with("permuted(age,sex,ward,group_id,cost) help(group_id,hits,sum_lb,"), "{shuffled}");
        let angel =
            format!("bt(batch_id,cost,count) gt(age_min,age_max,sex,ward,batch_id) gt_sex(sex,batch_id) {members}");
        assert_eq!(shown(Form::Angel, &marginal), angel);
        assert_eq!(shown(Form::RankSwap, &[]), "swapped(age,sex,ward,cost)");
    }

    #[test]
    fn several_sensitive_attributes_have_a_table_each() {
        let attributes = [
            attribute("age", RoleName::Quasi, KindName::Integer),
            attribute("disease", RoleName::Sensitive, KindName::Category),
            attribute("yearly cost", RoleName::Sensitive, KindName::Integer),
        ];
        let shown = |form: Form| -> Vec<String> {
            let table = |table: &TableLayout| {
                let names: Vec<&str> = table.columns.iter().take(4).map(|column| column.name.as_str()).collect();
                format!("{}({})", table.name, names.join(","))
            };
            Layout::new(form, &attributes, &[], None).tables.iter().map(table).collect()
        };
        assert_eq!(
            shown(Form::Anatomy),
            ["qit(age,group_id)", "st_disease(group_id,disease,count)", "st_yearly_cost(group_id,yearly cost,count)"]
        );
        assert_eq!(
            shown(Form::Permute)[1..],
            ["pst_disease(group_id,disease,count)", "pst_yearly_cost(group_id,yearly cost,count)"]
        );
        assert_eq!(shown(Form::Generalize)[0], "generalized(group_id,age_min,age_max,disease)");
        assert_eq!(
            shown(Form::Angel)[..2],
            ["bt_disease(batch_id,disease,count)", "bt_yearly_cost(batch_id,yearly cost,count)"]
        );
        let help = "(group_id,hits,sum_lb,sum_ub)";
        assert_eq!(
            shown(Form::Shuffle),
            [
                "permuted(age,group_id,disease,yearly cost)".to_owned(),
                format!("help_disease{help}"),
                format!("help_yearly_cost{help}"),
            ]
        );
        let layout = Layout::new(Form::Anatomy, &attributes, &[], None);
        assert_eq!(layout.values_of(2).map(|table| table.name.as_str()), Some("st_yearly_cost"));
        assert_eq!(layout.values_of(0), None);
    }

    #[test]
    fn persons_are_counted_by_group_and_beside_counts_where_their_rows_are_known() {
        let attributes = [
            attribute("age", RoleName::Quasi, KindName::Integer),
            attribute("cost", RoleName::Sensitive, KindName::Integer),
        ];
        let shown = |form: Form, rows_known: bool| -> String {
            let table = |table: &TableLayout| {
                let names: Vec<&str> = table.columns.iter().take(4).map(|column| column.name.as_str()).collect();
                format!("{}({})", table.name, names.join(","))
            };
            let layout = Layout::new(form, &attributes, &[], Some(Persons { count: 7, rows_known }));
            layout.tables.iter().map(table).collect::<Vec<_>>().join(" ")
        };
        let members = "members(attribute,label,value)";
        assert_eq!(
            shown(Form::Generalize, false),
            format!("generalized(group_id,age_min,age_max,cost) groups(group_id,persons) {members}")
        );
        assert_eq!(shown(Form::Generalize, true), shown(Form::Generalize, false));
        assert_eq!(
            shown(Form::Anatomy, true),
            "qit(age,group_id) st(group_id,cost,count,persons) groups(group_id,persons)"
        );
        assert_eq!(
            shown(Form::Angel, true),
            format!("bt(batch_id,cost,count,persons) gt(age_min,age_max,batch_id) groups(batch_id,persons) {members}")
        );
    }

    #[test]
    fn the_narrowest_table_that_shows_everything_is_taken() {
        let attributes = ["a", "b", "c"].map(|name| attribute(name, RoleName::Quasi, KindName::Category));
        let marginals = [("gt_a_b".to_owned(), vec![0, 1]), ("gt_c".to_owned(), vec![2])];
        let layout = Layout::new(Form::Angel, &attributes, &marginals, None);
        let narrowest = |attributes: &[usize]| layout.narrowest(attributes).map(|table| table.name.as_str());
        assert_eq!(narrowest(&[0]), Some("gt_a_b"));
        assert_eq!(narrowest(&[2]), Some("gt_c"));
        assert_eq!(narrowest(&[0, 2]), Some("gt"));
        assert_eq!(narrowest(&[9]), None);
    }

    #[test]
    fn marginals_have_names_that_files_can_have() {
        assert_eq!(marginal_table("gt_", ["age", "zip code"].into_iter()), "gt_age_zip_code");
        assert_eq!(marginal_table("gt_", ["../größe"].into_iter()), "gt____gr__e");
    }
}
