//! Theorem 4: no butterfly loses less than the bound says.

use std::ops::Range;

use chrysalis_criteria::PrincipleSpec;
use chrysalis_table::{Role, no_progress};
use chrysalis_testkit::strategies::{RandomTable, tables};
use proptest::prelude::*;

use super::super::mondrian::records::Records;
use super::nearest::{floors, in_class};
use super::search::Search;
use super::space::Space;
use super::*;
use crate::{AttributeSpec, TaxonomySource};

fn microdata(random: &RandomTable) -> Microdata {
    let quasi = random.quasi.iter().map(|(name, file)| AttributeSpec {
        taxonomy: file.clone().map(TaxonomySource::File),
        ..AttributeSpec::new(name, Role::QuasiIdentifier)
    });
    Microdata::new(random.table.clone(), &quasi.collect::<Vec<_>>()).unwrap()
}

/// Puts every attribute into the body, the first wing or the second.
fn parts(n_attributes: usize, places: &[u8]) -> BodyAndWings {
    let of = |wanted: u8| (0..n_attributes).filter(|&at| places[at] == wanted).collect::<Vec<_>>();
    let (body, first, second) = (of(0), of(1), of(2));
    let sets = [&first, &second].map(|wing| [body.clone(), wing.clone()].concat()).to_vec();
    BodyAndWings { sets, body, wings: vec![first, second] }
}

proptest! {
    #[test]
    fn the_lower_bound_never_exceeds_what_a_butterfly_loses(
        random in tables(1..=60),
        places in prop::collection::vec(0..3_u8, 3),
        k in 1..9_u64,
        ends in prop::collection::vec(0..60_usize, 4),
    ) {
        let data = microdata(&random);
        let (parts, rows) = (parts(data.quasi().len(), &places), data.rows());
        let Ok(goal) = data.goal(&[PrincipleSpec::KAnonymity { k }.into()]) else { return Ok(()) };
        let space = Space::new(&data, &parts, &goal);
        let mut records =
            Records::<u16>::of(space.columns.iter().copied(), None, &space.axes, (0..rows as u32).collect());
        let mut all = records.all();
        let floors = floors(&space, &all);
        let search = Search::new(&space, Hierarchy::Union, &floors, &no_progress);
        // Some rows, in three parts, of which some may be empty.
        let mut ends: Vec<usize> = ends.iter().map(|end| end % (rows + 1)).collect();
        ends.sort_unstable();
        let group = ends[0]..ends[3];
        prop_assume!(group.len() as u64 >= k);
        let in_table: f64 = all.part(group.clone()).rows().iter().map(|&row| floors[row as usize]).sum();
        let mut lost = 0.0;
        let pieces: Vec<Range<usize>> = ends.windows(2).map(|ends| ends[0]..ends[1]).filter(|it| !it.is_empty()).collect();
        let share = (k as usize).div_ceil(pieces.len()) - 1;
        for (at, wing) in space.wings.iter().enumerate() {
            let loss = search.wing_loss_of(at, &all.part(group.clone()));
            let near = pieces.iter().map(|piece| in_class(wing, &all.part(piece.clone()), share + 1)[share]);
            let apart = near.fold(f64::INFINITY, f64::min) * group.len() as f64;
            prop_assert!(apart <= loss + 1e-9, "a class has rows {apart} apart, yet {loss} is lost");
            lost += loss;
        }
        prop_assert!(in_table <= lost + 1e-9, "at least {in_table} is lost, yet {lost} was");
    }
}
