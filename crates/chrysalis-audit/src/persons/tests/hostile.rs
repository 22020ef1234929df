//! Whatever tables say about persons, an audit ends in findings or an error.

use chrysalis_release::Form;
use proptest::prelude::*;

use super::{clinic, set, with_persons};
use crate::attack::tests::{angel, generalized, verbatim};
use crate::testing::audit;

fn numbers(n: usize) -> impl Strategy<Value = Vec<i64>> {
    let number = prop_oneof![0i64..9, Just(-1), Just(i64::MAX), Just(i64::MIN), Just(1 << 33)];
    prop::collection::vec(number, n)
}

proptest! {
    #[test]
    fn hostile_numbers_of_persons_are_survived(
        ids in numbers(2), sizes in numbers(2), having in numbers(7), rows_known: bool, form in 0..4, count in 0u64..12,
    ) {
        let clinic = clinic();
        let promises = ["k=3", "l=1.5", "t=0.5", "beta=1", "entropy-l=2", "distinct-l=2"];
        let release = match form {
            0 => verbatim(Form::Anatomy, &clinic.people, &clinic.groups, &promises),
            1 => generalized(Form::Generalize, &clinic.people, &clinic.groups, &promises),
            2 => generalized(Form::Butterfly, &clinic.people, &clinic.groups, &promises),
            _ => angel(&clinic.people, &clinic.groups, &[1, 1, 1, 2, 2, 2, 1, 1, 2, 2], &promises),
        };
        let mut release = with_persons(release, &clinic, rows_known);
        release.manifest.persons = Some(chrysalis_release::Persons { count, rows_known });
        let id = if form == 3 { "batch_id" } else { "group_id" };
        set(&mut release, "groups", id, &ids);
        set(&mut release, "groups", "persons", &sizes);
        if rows_known && form == 0 {
            set(&mut release, "st", "persons", &having);
        }
        if rows_known && form == 3 {
            set(&mut release, "bt", "persons", &having);
        }
        let honest = ids == [1, 2] && sizes == [3, 4];
        if let Ok(report) = audit(&release, None) {
            prop_assert!(honest || !report.ok());
        }
    }
}
