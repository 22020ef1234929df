use chrysalis_table::Watch;

use super::index::{Lists, Problem};
use super::{Contradiction, Work};

/// What is left to assign.
#[derive(Clone)]
pub(super) struct State {
    /// By column and place: how often a group still shows a value.
    pub(super) shown: Vec<Vec<u32>>,
    /// By column: the bits of its values, without groups that no longer show them.
    bits: Vec<Vec<u64>>,
    /// By kind: people without a group.
    pub(super) people: Vec<u32>,
    /// By column and value: groups that still show it, and kinds of people left that have it.
    n_groups: Vec<Vec<u32>>,
    n_kinds: Vec<Vec<u32>>,
    /// Columns and values for which one of these two numbers has come down to one.
    queue: Vec<(usize, u32)>,
}

type OrContradiction<T> = Result<T, Contradiction>;

/// A kind of people, and the groups that it can go to.
type Choice = (u32, Vec<u32>);

/// By column and place: how many people could bring what a group shows.
type Supply = Vec<Vec<u64>>;

/// The result of looking at everyone once.
struct Round {
    n_settled: u64,
    /// The kind with the fewest groups, and those groups; current only if nobody was settled.
    fewest: Option<Choice>,
}

impl State {
    pub(super) fn new(problem: &Problem) -> State {
        let columns = || problem.columns.iter();
        let each = |column: &Lists, count: &dyn Fn(u32) -> usize| -> Vec<u32> {
            (0..column.n_values() as u32).map(|value| count(value) as u32).collect()
        };
        let mut state = State {
            shown: columns().map(|column| column.shown.clone()).collect(),
            bits: columns().map(Lists::all_bits).collect(),
            people: problem.people.clone(),
            n_groups: columns().map(|column| each(column, &|value| column.places(value).len())).collect(),
            n_kinds: columns().map(|column| each(column, &|value| column.kinds(value).len())).collect(),
            queue: Vec::new(),
        };
        for column in 0..problem.columns.len() {
            for value in 0..problem.columns[column].n_values() {
                if state.n_groups[column][value] == 1 || state.n_kinds[column][value] == 1 {
                    state.queue.push((column, value as u32));
                }
            }
        }
        state
    }

    /// People without a group.
    pub(super) fn n_left(&self) -> u64 {
        self.people.iter().map(|&people| u64::from(people)).sum()
    }

    /// Puts some people of a kind into a group.
    pub(super) fn assign(&mut self, problem: &Problem, kind: u32, group: u32, people: u32) -> OrContradiction<()> {
        for (column, &value) in problem.values(kind).iter().enumerate() {
            let place = problem.columns[column].place(value, group);
            let place = place.filter(|&place| self.shown[column][place] >= people);
            let place = place.ok_or(Contradiction { group, column })?;
            self.shown[column][place] -= people;
            if self.shown[column][place] == 0 {
                if let Some(start) = problem.columns[column].bits(value) {
                    self.bits[column][start + group as usize / 64] &= !(1 << (group % 64));
                }
                self.n_groups[column][value as usize] -= 1;
                if self.n_groups[column][value as usize] == 1 {
                    self.queue.push((column, value));
                }
            }
        }
        self.people[kind as usize] -= people;
        if self.people[kind as usize] == 0 {
            for (column, &value) in problem.values(kind).iter().enumerate() {
                self.n_kinds[column][value as usize] -= 1;
                if self.n_kinds[column][value as usize] == 1 {
                    self.queue.push((column, value));
                }
            }
        }
        Ok(())
    }

    /// Step 1: what the queue forces.
    fn follow(&mut self, problem: &Problem, watch: &dyn Watch) -> OrContradiction<()> {
        while let Some((column, value)) = self.queue.pop() {
            watch.pause();
            let lists = &problem.columns[column];
            if self.n_groups[column][value as usize] == 1 {
                let Some(place) = lists.places(value).find(|&place| self.shown[column][place] > 0) else { continue };
                for &kind in lists.kinds(value) {
                    if self.people[kind as usize] > 0 {
                        self.assign(problem, kind, lists.groups[place], self.people[kind as usize])?;
                    }
                }
            } else if self.n_kinds[column][value as usize] == 1 {
                let Some(&kind) = lists.kinds(value).iter().find(|&&kind| self.people[kind as usize] > 0) else {
                    continue;
                };
                for place in lists.places(value) {
                    let shown = self.shown[column][place];
                    if shown > 0 {
                        // PROOF: a value is shown as often as people have it, so there are enough.
                        self.assign(problem, kind, lists.groups[place], shown.min(self.people[kind as usize]))?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Steps 1 and 2 as long as they settle more than a few people; returns whether step 2 was completed at least once.
    pub(super) fn settle_most(&mut self, problem: &Problem, work: &mut Work<'_>) -> OrContradiction<bool> {
        let mut is_swept = false;
        while let Some(round) = self.round(problem, work)? {
            is_swept = true;
            if round.n_settled <= self.n_left() / 1000 {
                break;
            }
        }
        Ok(is_swept)
    }

    /// Steps 1 and 2 until nothing more is forced; returns the kind with the fewest groups, and those groups.
    ///
    /// `None` when all is assigned, or when there is no work left to spend.
    pub(super) fn settle(&mut self, problem: &Problem, work: &mut Work<'_>) -> OrContradiction<Option<Choice>> {
        while let Some(round) = self.round(problem, work)? {
            if round.n_settled == 0 {
                return Ok(round.fewest);
            }
        }
        Ok(None)
    }

    /// Steps 1 and 2 once; `None` when there is no work left to spend.
    fn round(&mut self, problem: &Problem, work: &mut Work<'_>) -> OrContradiction<Option<Round>> {
        self.follow(problem, work.watch)?;
        let before = self.n_left();
        let Some((supply, fewest)) = self.sweep(problem, work)? else { return Ok(None) };
        self.follow(problem, work.watch)?;
        self.demand(problem, &supply, work.watch)?;
        Ok(Some(Round { n_settled: before - self.n_left(), fewest }))
    }

    /// Finds the groups that each kind of people can go to; sums up how many people could bring each shown value.
    fn sweep(&mut self, problem: &Problem, work: &mut Work<'_>) -> OrContradiction<Option<(Supply, Option<Choice>)>> {
        let mut supply: Supply = self.shown.iter().map(|shown| vec![0; shown.len()]).collect();
        let mut fewest: Option<Choice> = None;
        let mut places = vec![0; problem.columns.len()];
        let mut forced = Vec::new();
        for kind in (0..self.people.len() as u32).filter(|&kind| self.people[kind as usize] > 0) {
            let Some(shortest) = problem.shortest(kind) else { continue };
            let values = problem.values(kind);
            let mut candidates = Vec::new();
            for group in self.likely(problem, kind, shortest, work) {
                let Some(most) = self.capacity(problem, kind, group, &mut places) else { continue };
                candidates.push(group);
                places.iter().enumerate().for_each(|(column, &place)| supply[column][place] += u64::from(most));
            }
            match candidates[..] {
                // Any group that shows the value will do for the report.
                [] => {
                    let place = problem.columns[shortest].places(values[shortest]).start;
                    let group = problem.columns[shortest].groups.get(place).copied().unwrap_or(0);
                    return Err(Contradiction { group, column: shortest });
                }
                [group] => forced.push((kind, group)),
                _ if fewest.as_ref().is_none_or(|(_, known)| candidates.len() < known.len()) => {
                    fewest = Some((kind, candidates));
                }
                _ => {}
            }
            if work.is_spent() {
                return Ok(None);
            }
        }
        for (kind, group) in forced {
            self.assign(problem, kind, group, self.people[kind as usize])?;
        }
        Ok(Some((supply, fewest)))
    }

    /// A superset of the groups that a kind of people can go to.
    fn likely(&self, problem: &Problem, kind: u32, shortest: usize, work: &mut Work<'_>) -> Vec<u32> {
        let values = problem.values(kind);
        let columns = problem.columns.iter().zip(&self.bits).zip(values);
        let rows: Option<Vec<&[u64]>> =
            columns.map(|((lists, bits), &value)| lists.bits(value).map(|start| &bits[start..])).collect();
        let Some(rows) = rows else {
            let lists = &problem.columns[shortest];
            let places = lists.places(values[shortest]);
            work.spend(places.len() as u64);
            let left = places.filter(|&place| self.shown[shortest][place] > 0);
            let likely: Vec<u32> = left.map(|place| lists.groups[place]).collect();
            work.spend((likely.len() * values.len()) as u64);
            return likely;
        };
        let n_words = problem.n_groups.div_ceil(64);
        work.spend((n_words * rows.len()) as u64 / 16);
        let mut likely = Vec::new();
        for word in 0..n_words {
            let mut bits = rows.iter().fold(u64::MAX, |bits, row| bits & row[word]);
            while bits != 0 {
                likely.push(word as u32 * 64 + bits.trailing_zeros());
                bits &= bits - 1;
            }
        }
        work.spend((likely.len() * values.len()) as u64);
        likely
    }

    /// The groups that a kind of people can go to.
    pub(super) fn candidates(&self, problem: &Problem, kind: u32, work: &mut Work<'_>) -> Vec<u32> {
        let Some(shortest) = problem.shortest(kind) else { return Vec::new() };
        let mut groups = self.likely(problem, kind, shortest, work);
        let mut places = vec![0; problem.columns.len()];
        groups.retain(|&group| self.capacity(problem, kind, group, &mut places).is_some());
        groups
    }

    /// How many people of a kind a group could take, and where it shows their values.
    fn capacity(&self, problem: &Problem, kind: u32, group: u32, places: &mut [usize]) -> Option<u32> {
        let mut most = self.people[kind as usize];
        for (column, &value) in problem.values(kind).iter().enumerate() {
            let place = problem.columns[column].place(value, group)?;
            most = most.min(self.shown[column][place]);
            if most == 0 {
                return None;
            }
            places[column] = place;
        }
        Some(most)
    }

    /// Where just enough people could bring a shown value, assigns all of them.
    fn demand(&mut self, problem: &Problem, supply: &Supply, watch: &dyn Watch) -> OrContradiction<()> {
        let mut places = vec![0; problem.columns.len()];
        for (column, lists) in problem.columns.iter().enumerate() {
            for value in 0..lists.n_values() as u32 {
                watch.pause();
                for place in lists.places(value) {
                    // Supply only shrinks, so what was more than enough may have become too little: the next sweep will
                    // notice.
                    if self.shown[column][place] == 0 || supply[column][place] > u64::from(self.shown[column][place]) {
                        continue;
                    }
                    watch.pause();
                    let group = lists.groups[place];
                    let kinds = lists.kinds(value).iter().copied();
                    let kinds = kinds.filter(|&kind| self.people[kind as usize] > 0);
                    let most: Vec<(u32, u32)> = kinds
                        .filter_map(|kind| Some((kind, self.capacity(problem, kind, group, &mut places)?)))
                        .collect();
                    let sum: u64 = most.iter().map(|&(_, most)| u64::from(most)).sum();
                    if sum < u64::from(self.shown[column][place]) {
                        return Err(Contradiction { group, column });
                    }
                    if sum == u64::from(self.shown[column][place]) {
                        for (kind, most) in most {
                            self.assign(problem, kind, group, most)?;
                        }
                    }
                }
            }
        }
        self.follow(problem, watch)
    }
}
