//! The ends of ranges and of numbers are values of people; see `spec.md`, extremes.

use chrysalis_table::{Code, Domain};

use super::finding::{Finding, WorstGroup, counted};
use super::view::AttackTarget;

/// An attacker who knows who has the smallest or the largest value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extremes {
    /// Whether quasi values are shown as ranges at all.
    pub has_ranges: bool,
    /// People who are the only ones with a quasi value at which a range of their group ends. Absent without ranges, and
    /// where the microdata are not known.
    pub placed_people: Option<u64>,
    /// Whether the largest sensitive value occurs once; absent where sensitive values are not numbers.
    pub largest_once: Option<bool>,
    /// The same for the smallest.
    pub smallest_once: Option<bool>,
    /// Rows of the group that has the largest value; absent where several groups have it, and where there are no
    /// groups.
    pub group_of_largest: Option<u64>,
}

/// Whether the ends of ranges reveal who is in which group.
pub(crate) enum EndPlacement {
    /// No ranges are shown.
    NoRanges,
    /// The microdata are needed to tell, and are not known.
    CannotTell,
    /// The number of people placed this way, and some of their groups.
    People(u64, Vec<WorstGroup>),
}

/// The smallest and the largest published number.
pub(crate) struct NumberEnds<'a> {
    name: &'a str,
    group_word: &'a str,
    largest_once: bool,
    smallest_once: bool,
    group: Option<WorstGroup>,
}

impl<'a> NumberEnds<'a> {
    /// From how often every value occurs; `None` where the values are not numbers.
    pub(crate) fn of_counts(name: &'a str, domain: &Domain, whole: &[u64]) -> Option<NumberEnds<'a>> {
        let (smallest, largest) = ends(domain, whole)?;
        let once = |code: Code| whole[code as usize] == 1;
        let (largest_once, smallest_once) = (once(largest), once(smallest));
        Some(NumberEnds { name, group_word: "group", largest_once, smallest_once, group: None })
    }

    /// The same, with the group that has the largest number if only one group does.
    pub(crate) fn of_groups(target: &AttackTarget<'a>) -> Option<NumberEnds<'a>> {
        let found = NumberEnds::of_counts(target.sensitive, target.domain, target.sample.whole())?;
        Some(found.held_by(Holders::of(target), target.group_word))
    }

    /// The same, given who has the largest number.
    pub(crate) fn held_by(self, holders: Holders, group_word: &'a str) -> NumberEnds<'a> {
        let group = match holders {
            Holders::One(group) => Some(group),
            Holders::Nobody | Holders::Several => None,
        };
        NumberEnds { group, group_word, ..self }
    }

    fn sentence(&self) -> String {
        let once = match (self.largest_once, self.smallest_once) {
            (true, true) => "each occurs once",
            (true, false) => "the largest occurs once, the smallest more often",
            (false, true) => "the smallest occurs once, the largest more often",
            (false, false) => "both occur more than once",
        };
        let group = self.group.as_ref().map_or_else(String::new, |group| {
            format!("; the largest is in one {} of {}", self.group_word, counted(group.rows, "row", "rows"))
        });
        format!(
            "The smallest and the largest `{}` are published as they are, and {once}: an attacker who knows that \
             somebody has one of them, such as the largest of all, learns it exactly{group}.",
            self.name
        )
    }
}

/// The groups that have the largest number.
#[derive(Clone, Debug)]
pub(crate) enum Holders {
    Nobody,
    One(WorstGroup),
    Several,
}

impl Holders {
    pub(crate) fn of(target: &AttackTarget<'_>) -> Holders {
        let sample = target.sample;
        let Some((_, largest)) = ends(target.domain, sample.whole()) else { return Holders::Nobody };
        let has_it = |index: &usize| sample.group(*index).values.iter().any(|&(code, _)| code == largest);
        let mut groups = (0..sample.sizes().len()).filter(has_it);
        match (groups.next(), groups.next()) {
            (None, _) => Holders::Nobody,
            (Some(_), Some(_)) => Holders::Several,
            (Some(index), None) => Holders::One(WorstGroup {
                id: target.ids.get(index).copied().flatten(),
                rows: sample.sizes()[index],
                level: 1.0,
                level_text: "1".to_owned(),
            }),
        }
    }

    /// Among these groups and others.
    pub(crate) fn and(self, others: Holders) -> Holders {
        match (self, others) {
            (Holders::Nobody, only) | (only, Holders::Nobody) => only,
            (Holders::One(_) | Holders::Several, Holders::One(_) | Holders::Several) => Holders::Several,
        }
    }
}

/// The first and the last number that occur.
fn ends(domain: &Domain, whole: &[u64]) -> Option<(Code, Code)> {
    let is_number = |code: &Code| whole[*code as usize] > 0 && domain.value(*code).is_some();
    let mut codes = (0..domain.len().min(whole.len()) as Code).filter(is_number);
    let first = codes.next().filter(|_| domain.kind().is_numeric())?;
    Some((first, codes.next_back().unwrap_or(first)))
}

/// Combines both into one finding.
pub(crate) fn extremes(numbers: Option<NumberEnds<'_>>, placed: EndPlacement) -> (Option<Extremes>, Finding) {
    let mut sentences = Vec::new();
    let mut preventions = Vec::new();
    let mut groups = Vec::new();
    let (has_ranges, placed_people) = match placed {
        EndPlacement::NoRanges => (false, None),
        EndPlacement::CannotTell => (true, None),
        EndPlacement::People(people, worst) => {
            sentences.push(of_ranges(people));
            if people > 0 {
                preventions
                    .push("intervals or a taxonomy, so that ranges end at round numbers and not at people's values");
            }
            groups.extend(worst);
            (true, Some(people))
        }
    };
    if let Some(numbers) = &numbers {
        sentences.push(numbers.sentence());
        preventions.push("rounding sensitive numbers and cutting off the largest before publishing");
        groups.extend(numbers.group.iter().filter(|group| !groups.contains(group)).cloned().collect::<Vec<_>>());
        groups.truncate(5);
    }
    if sentences.is_empty() {
        let reason = if has_ranges {
            format!("Not run: {CANNOT_TELL}.")
        } else {
            "Does not apply: no ranges are shown that could end at somebody's value, and there is no largest \
             sensitive number."
                .to_owned()
        };
        return (None, Finding::not_run("extremes", reason));
    }
    if has_ranges && placed_people.is_none() {
        let mut cannot_tell = CANNOT_TELL.to_owned();
        cannot_tell[..1].make_ascii_uppercase();
        sentences.push(format!("{cannot_tell}."));
    }
    let extremes = Extremes {
        has_ranges,
        placed_people,
        largest_once: numbers.as_ref().map(|numbers| numbers.largest_once),
        smallest_once: numbers.as_ref().map(|numbers| numbers.smallest_once),
        group_of_largest: numbers.as_ref().and_then(|numbers| Some(numbers.group.as_ref()?.rows)),
    };
    let prevention = if preventions.is_empty() { String::new() } else { format!("{}.", preventions.join("; ")) };
    (Some(extremes), Finding::new("extremes", sentences.join(" "), prevention).with_groups(groups))
}

const CANNOT_TELL: &str = "the release alone does not show whether a range ends at a value that only one person has, \
                           who is then certain to be in its group; that takes the microdata";

fn of_ranges(people: u64) -> String {
    if people == 0 {
        return "No range ends at a quasi value that only one person has, so the ends of ranges put nobody into a group."
            .to_owned();
    }
    format!(
        "Ranges end at people's values: {} the only one with a quasi value at which a range ends. An attacker who \
         knows that value knows the person's group for certain.",
        counted(people, "person is", "people are each")
    )
}

#[cfg(test)]
mod tests {
    use chrysalis_table::Column;

    use super::*;

    #[test]
    fn ends_are_numbers_that_occur() {
        let column = Column::integers("cost", &[5, 7, 9]);
        assert_eq!(ends(column.domain(), &[1, 2, 1]), Some((0, 2)));
        assert_eq!(ends(column.domain(), &[0, 2, 0]), Some((1, 1)));
        assert_eq!(ends(column.domain(), &[0, 0, 0]), None);
        let words = Column::texts("disease", ["a", "b"].into_iter());
        assert_eq!(ends(words.domain(), &[1, 1]), None);
    }

    #[test]
    fn what_cannot_be_told_is_not_what_does_not_apply() {
        let (found, finding) = extremes(None, EndPlacement::CannotTell);
        assert!(found.is_none() && !finding.was_run && finding.sentence.contains("does not show"), "{finding:?}");
        let (found, finding) = extremes(None, EndPlacement::NoRanges);
        assert!(found.is_none() && !finding.was_run && finding.sentence.starts_with("Does not apply"), "{finding:?}");
        let column = Column::integers("cost", &[5, 7, 9]);
        let numbers = || NumberEnds::of_counts("cost", column.domain(), &[1, 1, 2]);
        let (found, finding) = extremes(numbers(), EndPlacement::CannotTell);
        let found = found.unwrap();
        assert_eq!((found.has_ranges, found.placed_people), (true, None));
        assert_eq!((found.largest_once, found.smallest_once, found.group_of_largest), (Some(false), Some(true), None));
        assert!(finding.sentence.ends_with("that takes the microdata.") && finding.was_run, "{finding:?}");
        let (found, finding) = extremes(numbers(), EndPlacement::NoRanges);
        assert!(!found.unwrap().has_ranges && !finding.sentence.contains("microdata"), "{finding:?}");
        let (found, finding) = extremes(None, EndPlacement::People(0, Vec::new()));
        assert!(found.unwrap().placed_people == Some(0) && finding.was_run && finding.prevention.is_empty());
    }
}
