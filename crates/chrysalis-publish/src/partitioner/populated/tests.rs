use proptest::prelude::*;

use super::Side;
use super::tree::{Points, Tree, covers};

/// A side of a box: a stretch of places, or a set of them.
fn sides() -> impl Strategy<Value = (bool, u32, u32, Vec<u32>)> {
    (any::<bool>(), 0u32..9, 0u32..9, prop::collection::btree_set(0u32..9, 0..6))
        .prop_map(|(is_set, a, b, set)| (is_set, a.min(b), a.max(b), set.into_iter().collect()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// The people inside a box, counted one by one.
    #[test]
    fn people_inside_a_box_are_counted(
        people in prop::collection::vec(prop::collection::vec(prop::option::weighted(0.95, 0u32..9), 3), 0..300),
        sides in prop::collection::vec(sides(), 3),
        enough in 1u64..40,
    ) {
        let mut points = Points::new(3);
        for person in &people {
            prop_assert_eq!(points.push(person.iter().copied()), person.iter().all(Option::is_some));
        }
        let tree = Tree::new(points);
        let sides: Vec<Side<'_>> = sides
            .iter()
            .map(|(is_set, low, high, set)| if *is_set { Side::Codes(set) } else { Side::Stretch(*low, *high) })
            .collect();
        let inside = |person: &&Vec<Option<u32>>| {
            let point: Option<Vec<u32>> = person.iter().copied().collect();
            point.is_some_and(|point| covers(&sides, &point))
        };
        let expected = people.iter().filter(inside).count() as u64;
        prop_assert_eq!(tree.count(&sides, u64::MAX), expected);
        prop_assert_eq!(tree.count(&sides, enough), expected.min(enough));
    }
}
