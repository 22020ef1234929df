/// How often a value is shown in a group: (value, group, count), each pair once.
pub(in crate::values) type ShownAttribute = Vec<(u32, u32, u32)>;

/// People and what groups show, indexed both ways.
pub(in crate::values) struct Problem {
    pub(super) columns: Vec<Lists>,
    /// The values of every kind of people, one after another.
    pub(super) codes: Vec<u32>,
    /// How many people there are of each kind.
    pub(super) people: Vec<u32>,
    pub(super) n_groups: usize,
}

/// One column, by value: which groups show it how often, and which kinds of people have it.
pub(super) struct Lists {
    pub(super) group_starts: Vec<usize>,
    /// Ascending by group within a value.
    pub(super) groups: Vec<u32>,
    pub(super) shown: Vec<u32>,
    kind_starts: Vec<usize>,
    kinds: Vec<u32>,
    /// For values that many groups show: where their row of bits begins, one bit for every group.
    bits: Vec<Option<usize>>,
    n_bits: usize,
}

impl Problem {
    /// From what is shown, per column, and the values and number of every kind of people.
    ///
    /// Every column must show every value as often as people have it.
    pub(in crate::values) fn new(
        shown: Vec<ShownAttribute>,
        codes: Vec<u32>,
        people: Vec<u32>,
        n_groups: usize,
    ) -> Problem {
        let n_columns = shown.len();
        let columns = shown.into_iter().enumerate().map(|(column, shown)| {
            let values = codes.iter().skip(column).step_by(n_columns).copied();
            Lists::new(shown, values.collect(), n_groups)
        });
        Problem { columns: columns.collect(), codes, people, n_groups }
    }

    /// The values of a kind of people.
    pub(super) fn values(&self, kind: u32) -> &[u32] {
        let n = self.columns.len();
        &self.codes[kind as usize * n..(kind as usize + 1) * n]
    }

    /// The column in which a kind of people has the fewest groups to look through.
    pub(super) fn shortest(&self, kind: u32) -> Option<usize> {
        let values = self.values(kind);
        (0..values.len()).min_by_key(|&column| self.columns[column].places(values[column]).len())
    }

    pub(super) fn n_people(&self) -> u64 {
        self.people.iter().map(|&people| u64::from(people)).sum()
    }
}

impl Lists {
    fn new(mut shown: ShownAttribute, value_of_kind: Vec<u32>, n_groups: usize) -> Lists {
        shown.sort_unstable();
        let values = shown.iter().map(|&(value, ..)| value).chain(value_of_kind.iter().copied());
        let n_values = values.max().map_or(0, |value| value as usize + 1);
        let mut kinds: Vec<u32> = (0..value_of_kind.len() as u32).collect();
        kinds.sort_by_key(|&kind| value_of_kind[kind as usize]);
        let group_starts = starts(n_values, shown.iter().map(|&(value, ..)| value));
        let n_words = n_groups.div_ceil(64);
        let mut n_bits = 0;
        let mut row_of_bits = |value: usize| {
            // Going through all words takes no longer than going through a list that is a few times as long.
            let is_long = group_starts[value + 1] - group_starts[value] > 2 * n_words;
            is_long.then(|| {
                n_bits += n_words;
                n_bits - n_words
            })
        };
        Lists {
            bits: (0..n_values).map(&mut row_of_bits).collect(),
            n_bits,
            group_starts,
            groups: shown.iter().map(|&(_, group, _)| group).collect(),
            shown: shown.iter().map(|&(.., count)| count).collect(),
            kind_starts: starts(n_values, kinds.iter().map(|&kind| value_of_kind[kind as usize])),
            kinds,
        }
    }

    /// Number of values.
    pub(super) fn n_values(&self) -> usize {
        self.group_starts.len() - 1
    }

    /// The places of the groups that show a value.
    pub(super) fn places(&self, value: u32) -> std::ops::Range<usize> {
        self.group_starts[value as usize]..self.group_starts[value as usize + 1]
    }

    /// Where the bits of a value begin, if it has some.
    pub(super) fn bits(&self, value: u32) -> Option<usize> {
        self.bits[value as usize]
    }

    /// For every value with bits, the groups that show it.
    pub(super) fn all_bits(&self) -> Vec<u64> {
        let mut words = vec![0; self.n_bits];
        for (value, start) in (0..).zip(&self.bits) {
            if let Some(start) = *start {
                let groups = &self.groups[self.places(value)];
                groups.iter().for_each(|&group| words[start + group as usize / 64] |= 1 << (group % 64));
            }
        }
        words
    }

    /// The place where a group shows a value.
    pub(super) fn place(&self, value: u32, group: u32) -> Option<usize> {
        let places = self.places(value);
        self.groups[places.clone()].binary_search(&group).ok().map(|place| places.start + place)
    }

    /// The kinds of people that have a value.
    pub(super) fn kinds(&self, value: u32) -> &[u32] {
        &self.kinds[self.kind_starts[value as usize]..self.kind_starts[value as usize + 1]]
    }
}

/// Where each value's stretch begins in a sorted list, and where the last one ends.
fn starts(n_values: usize, sorted: impl Iterator<Item = u32>) -> Vec<usize> {
    let mut starts = vec![0; n_values + 1];
    sorted.for_each(|value| starts[value as usize + 1] += 1);
    for value in 0..n_values {
        starts[value + 1] += starts[value];
    }
    starts
}
