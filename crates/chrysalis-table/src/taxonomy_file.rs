//! Taxonomies as they are written: files in the ARX format, and lines that a manifest keeps.

use std::collections::BTreeMap;

use foldhash::fast::FixedState;
use hashbrown::HashTable;
use std::hash::BuildHasher;

use crate::taxonomy::{MAX_LEVELS, Step};
use crate::{Code, Domain, Kind, Memory, Taxonomy, TaxonomyError, Value};

/// Memory that one line may take while it is read, checked, bound to a column and shown.
const BYTES_PER_LINE: u64 = 1_000;
/// Memory that each label of a line may take on top of that.
const BYTES_PER_LABEL: u64 = 16;

/// The number of a label.
type LabelId = u32;

/// The lines of a taxonomy, checked on their own but not yet against a column.
///
/// A label is kept once, however many lines it appears in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaxonomyFile {
    labels: Labels,
    /// Line after line, leaf first.
    cells: Vec<LabelId>,
    n_levels: usize,
}

impl TaxonomyFile {
    /// Reads `leaf;parent;…;root` lines. Blank lines, and lines that repeat an earlier one, are passed over.
    pub fn parse(text: &str) -> Result<Self, TaxonomyError> {
        TaxonomyFile::parse_within(text, Memory::default())
    }

    /// Like [`TaxonomyFile::parse`], but refuses text that would take more memory than allowed.
    pub fn parse_within(text: &str, memory: Memory) -> Result<Self, TaxonomyError> {
        let (lines, labels) = (memchr::memchr_iter(b'\n', text.as_bytes()), memchr::memchr_iter(b';', text.as_bytes()));
        let (n_lines, n_labels) = (lines.count() as u64 + 1, labels.count() as u64);
        let bytes = n_lines * BYTES_PER_LINE + n_labels * BYTES_PER_LABEL + 4 * text.len() as u64;
        if !memory.allows(bytes) {
            return Err(TaxonomyError::TooLarge { lines: n_lines, bytes, allowed: memory });
        }
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let numbered = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
        TaxonomyFile::check(numbered.map(|(number, line)| (number, line.split(';').map(str::trim))), true)
    }

    /// A taxonomy from lines kept elsewhere, such as in a manifest.
    pub fn from_lines(lines: &[Vec<String>]) -> Result<Self, TaxonomyError> {
        TaxonomyFile::check((1..).zip(lines.iter().map(|line| line.iter().map(String::as_str))), false)
    }

    fn check<'a, L>(lines: impl Iterator<Item = (usize, L)>, may_repeat: bool) -> Result<Self, TaxonomyError>
    where
        L: Iterator<Item = &'a str> + Clone,
    {
        let mut file = TaxonomyFile { labels: Labels::default(), cells: Vec::new(), n_levels: 0 };
        let (mut index, mut numbers) = (HashTable::new(), Vec::new());
        // Where the first line of a leaf begins among the cells.
        let mut first_of_leaf: Vec<Option<usize>> = Vec::new();
        for (number, labels) in lines {
            let found = labels.clone().count();
            if numbers.is_empty() {
                file.n_levels = found;
            }
            if file.n_levels > MAX_LEVELS {
                return Err(TaxonomyError::TooDeep { found, limit: MAX_LEVELS });
            }
            if found != file.n_levels || found == 0 {
                let leaf = labels.clone().next().unwrap_or_default().to_owned();
                return Err(TaxonomyError::Ragged { line: number, leaf, found, expected: file.n_levels });
            }
            check_labels(number, labels.clone())?;
            let start = file.cells.len();
            file.cells.extend(labels.map(|label| file.labels.id(label, &mut index)));
            if may_repeat {
                let leaf = file.cells[start] as usize;
                first_of_leaf.resize(first_of_leaf.len().max(leaf + 1), None);
                let first = *first_of_leaf[leaf].get_or_insert(start);
                if first < start && file.cells[first..first + found] == file.cells[start..] {
                    file.cells.truncate(start);
                    continue;
                }
            }
            numbers.push(number);
            let root = |line: usize| file.label(line, file.n_levels - 1);
            if root(numbers.len() - 1) != root(0) {
                let (root, expected) = (root(numbers.len() - 1).to_owned(), root(0).to_owned());
                return Err(TaxonomyError::TwoRoots { line: number, root, expected });
            }
        }
        if numbers.is_empty() {
            return Err(TaxonomyError::Empty);
        }
        drop(index);
        file.check_tree(&numbers)?;
        Ok(file)
    }

    /// How many lines there are.
    pub fn n_lines(&self) -> usize {
        self.cells.len() / self.n_levels
    }

    /// How many labels every line has.
    pub fn n_levels(&self) -> usize {
        self.n_levels
    }

    /// The label of a line at a level; 0 is the leaf.
    pub fn label(&self, line: usize, level: usize) -> &str {
        self.labels.get(self.cells[line * self.n_levels + level])
    }

    /// The labels of a line, leaf first, root last.
    pub fn line(&self, line: usize) -> impl DoubleEndedIterator<Item = &str> + Clone {
        self.cells[line * self.n_levels..][..self.n_levels].iter().map(|&label| self.labels.get(label))
    }

    /// All lines, each leaf first, root last.
    pub fn lines(&self) -> impl Iterator<Item = Vec<&str>> {
        (0..self.n_lines()).map(|line| self.line(line).collect())
    }

    /// The line of every value of a column; if two lines mean the same value, the last one. `None` for values without a
    /// line, and for the missing value, which needs none.
    pub(crate) fn lines_of(&self, domain: &Domain) -> Result<Vec<Option<usize>>, TaxonomyError> {
        let codes: BTreeMap<&Value, Code> =
            (0..domain.len() as Code).filter_map(|code| Some((domain.value(code)?, code))).collect();
        let mut line_of = vec![None; domain.len()];
        for line in 0..self.n_lines() {
            let leaf = self.label(line, 0);
            let value = Value::parse(domain.kind(), leaf).ok_or_else(|| TaxonomyError::WrongKind {
                line: line + 1,
                leaf: leaf.to_owned(),
                kind: domain.kind(),
            })?;
            if let Some(&code) = codes.get(&value) {
                line_of[code as usize] = Some(line);
            }
        }
        Ok(line_of)
    }

    /// Checks that the values of a column all have a line, and keeps the part of the tree they need.
    ///
    /// A missing value needs no line: it lies directly under the root.
    pub fn bind(&self, domain: &Domain) -> Result<Taxonomy, TaxonomyError> {
        let line_of = self.lines_of(domain)?;
        let is_absent = |code: &Code| line_of[*code as usize].is_none() && domain.value(*code).is_some();
        if let Some(code) = (0..domain.len() as Code).find(is_absent) {
            return Err(TaxonomyError::MissingLeaf { value: domain.text(code).into_owned() });
        }
        let path = |code: Code| match line_of[code as usize] {
            Some(line) => self.line(line).rev().map(Step::plain).collect(),
            None => vec![Step::plain(self.label(0, self.n_levels - 1))],
        };
        let mut taxonomy = Taxonomy::build(domain, path)?;
        if domain.kind().has_distances() {
            let bounds = self.bounds(domain.kind());
            taxonomy.set_bounds(domain, |label| bounds.get(label).cloned());
        }
        Ok(taxonomy)
    }

    /// The bounds of every group over all its leaves, including those that do not occur in the table.
    fn bounds(&self, kind: Kind) -> BTreeMap<&str, (Value, Value)> {
        let mut bounds: BTreeMap<&str, (Value, Value)> = BTreeMap::new();
        for line in 0..self.n_lines() {
            let Some(value) = Value::parse(kind, self.label(line, 0)) else { continue };
            for label in self.line(line).skip(1) {
                let (low, high) = bounds.entry(label).or_insert_with(|| (value.clone(), value.clone()));
                if value < *low {
                    low.clone_from(&value);
                } else if value > *high {
                    high.clone_from(&value);
                }
            }
        }
        bounds
    }

    /// One parent per label, no label above itself, no value that is also a group. Edges that were seen before are
    /// skipped.
    fn check_tree(&self, numbers: &[usize]) -> Result<(), TaxonomyError> {
        let text = |label: LabelId| self.labels.get(label).to_owned();
        // PROOF: line numbers start at 1, so 0 marks labels that are no leaf.
        let mut leaf_line = vec![0; self.labels.len()];
        for (labels, &line) in self.cells.chunks(self.n_levels).zip(numbers) {
            let first = std::mem::replace(&mut leaf_line[labels[0] as usize], line);
            if first > 0 {
                return Err(TaxonomyError::Duplicate { line, first, leaf: text(labels[0]) });
            }
        }
        let mut parent_of: Vec<Option<(LabelId, usize)>> = vec![None; self.labels.len()];
        for (labels, &line) in self.cells.chunks(self.n_levels).zip(numbers) {
            for (level, &label) in labels.iter().enumerate() {
                if level > 0 && label != labels[0] && leaf_line[label as usize] > 0 {
                    return Err(TaxonomyError::LeafIsGroup { line, label: text(label) });
                }
                let Some(&parent) = labels[level + 1..].iter().find(|above| **above != label) else { continue };
                match parent_of[label as usize] {
                    Some((other, _)) if other == parent => continue,
                    Some((other, first)) => {
                        let is_below = ancestors(&parent_of, parent).any(|above| above == label);
                        let (label, parent, other) = (text(label), text(parent), text(other));
                        return Err(match is_below {
                            true => TaxonomyError::Cycle { line, label: parent, below: label },
                            false => TaxonomyError::TwoParents { line, first, label, parent, other },
                        });
                    }
                    None => parent_of[label as usize] = Some((parent, line)),
                }
                if ancestors(&parent_of, label).any(|above| above == label) {
                    return Err(TaxonomyError::Cycle { line, label: text(parent), below: text(label) });
                }
            }
        }
        Ok(())
    }
}

fn check_labels<'a>(line: usize, labels: impl Iterator<Item = &'a str> + Clone) -> Result<(), TaxonomyError> {
    if let Some(level) = labels.clone().position(str::is_empty) {
        return Err(TaxonomyError::EmptyLabel { line, level: level + 1 });
    }
    match labels.clone().position(|label| label.chars().any(char::is_control)) {
        Some(level) => Err(TaxonomyError::NotText { line, level: level + 1 }),
        None => Ok(()),
    }
}

/// Labels above a label, as far as known; stops after as many steps as there are labels, so that a cycle ends.
fn ancestors(parent_of: &[Option<(LabelId, usize)>], label: LabelId) -> impl Iterator<Item = LabelId> {
    let parent = |label: LabelId| parent_of[label as usize].map(|(parent, _)| parent);
    std::iter::successors(parent(label), move |&label| parent(label)).take(parent_of.len() + 1)
}

/// Distinct texts in one allocation, in order of appearance.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Labels {
    bytes: String,
    ends: Vec<usize>,
}

impl Labels {
    fn len(&self) -> usize {
        self.ends.len()
    }

    fn get(&self, id: LabelId) -> &str {
        let start = if id == 0 { 0 } else { self.ends[id as usize - 1] };
        &self.bytes[start..self.ends[id as usize]]
    }

    /// The number of a label, new or known. The index is only needed while labels are added.
    fn id(&mut self, label: &str, index: &mut HashTable<LabelId>) -> LabelId {
        // The order of the index reaches no output, so a fixed state is enough.
        let hash = |label: &str| FixedState::with_seed(0x9e37_79b9).hash_one(label);
        if let Some(&id) = index.find(hash(label), |&id| self.get(id) == label) {
            return id;
        }
        let id = self.ends.len() as LabelId;
        self.bytes.push_str(label);
        self.ends.push(self.bytes.len());
        index.insert_unique(hash(label), id, |&id| hash(self.get(id)));
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_would_take_too_much_memory_are_refused_before_they_are_read() {
        let text = "a;x;*\n".repeat(1_000);
        let error = TaxonomyFile::parse_within(&text, Memory::of(1_000_000)).unwrap_err();
        let said = "1001 lines of a taxonomy would take about 1.1 MB of memory, but only 1 MB is allowed";
        assert_eq!(error.to_string(), said);
        assert_eq!(error.hint(), "if you trust where it comes from, allow more with `memory = 100MB`");
        // With enough memory they are read.
        assert_eq!(TaxonomyFile::parse_within(&text, Memory::of(2_000_000)).unwrap().n_lines(), 1);
    }

    /// LEAK: how often a manifest repeats a line could carry a message.
    #[test]
    fn lines_of_a_file_may_repeat_those_of_a_manifest_may_not() {
        let file = TaxonomyFile::parse("a;x;*\nb;x;*\na;x;*\n").unwrap();
        assert_eq!(file.lines().collect::<Vec<_>>(), [["a", "x", "*"], ["b", "x", "*"]]);
        let error = TaxonomyFile::parse("a;x;*\nb;x;*\na;y;*\n").unwrap_err();
        assert_eq!(error.to_string(), "line 3 repeats `a` of line 1");
        let lines = vec![["a", "x", "*"].map(str::to_owned).to_vec(); 2];
        assert_eq!(TaxonomyFile::from_lines(&lines).unwrap_err().to_string(), "line 2 repeats `a` of line 1");
    }

    #[test]
    fn lines_without_a_label_are_no_taxonomy() {
        let check = |lines: &[&[&str]], expected: &str| {
            let lines: Vec<Vec<String>> =
                lines.iter().map(|line| line.iter().map(|label| (*label).to_owned()).collect()).collect();
            assert_eq!(TaxonomyFile::from_lines(&lines).unwrap_err().to_string(), expected);
        };
        check(&[], "the taxonomy is empty");
        check(&[&[]], "line 1 (``) has 0 levels, line 1 has 0");
        check(&[&["a", "*"], &[]], "line 2 (``) has 0 levels, line 1 has 2");
    }
}
