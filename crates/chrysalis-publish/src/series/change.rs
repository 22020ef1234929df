use std::cmp::Reverse;

use chrysalis_table::{Code, Column, Knob, Remedy};

use super::divide::Divided;
use super::{Family, Past};
use crate::PublishError;

/// Step 1a. People whose value left their signature are given one that has nothing in common with any that they had.
pub(super) fn place(
    divided: &mut Divided,
    family: &mut Family,
    column: &Column,
    past: &Past,
    m: u64,
) -> Result<(), PublishError> {
    let changed = std::mem::take(&mut divided.changed);
    if changed.is_empty() {
        return Ok(());
    }
    let (n, name) = (changed.len(), column.name());
    let infeasible = |reason: String, instead: Remedy| PublishError::Infeasible {
        principle: format!("m={m}"),
        reason,
        possible: None,
        instead,
    };
    if !past.takes_changes {
        let people = if n == 1 { "1 person has".to_owned() } else { format!("{n} people have") };
        let reason = format!("{people} a value of `{name}` that their groups never showed");
        let remedy = Remedy::from("correct their values, leave them out, or give them new signatures with ");
        return Err(infeasible(reason, remedy.knob(Knob::ValuesChange, "")));
    }
    let mut with_value: Vec<Vec<u32>> = vec![Vec::new(); column.domain().len()];
    for signature in 0..family.len() as u32 {
        family.values(signature).iter().for_each(|&value| with_value[value as usize].push(signature));
    }
    // The values that most newcomers have come first: they can take the places that are free.
    let histogram = column.histogram();
    let first = Code::from(column.domain().has_missing());
    let mut values: Vec<Code> = (first..histogram.len() as Code).collect();
    let rank = |value: Code| (divided.newcomers[value as usize].len(), histogram[value as usize]);
    values.sort_by_key(|&value| Reverse(rank(value)));
    let mut is_former = vec![false; histogram.len()];
    for row in changed {
        let value = column.code(row as usize);
        let life = past.of_row[row as usize].map_or(&[][..], |life| &past.lives[life as usize]);
        let former = || life.iter().flat_map(|&signature| &past.signatures[signature as usize]);
        former().for_each(|&value| is_former[value as usize] = true);
        if is_former[value as usize] {
            let reason = format!("a person has a value of `{name}` again that an earlier signature of theirs has");
            return Err(infeasible(reason, "leave such people out".into()));
        }
        let is_fresh = |signature: &u32| family.values(*signature).iter().all(|&value| !is_former[value as usize]);
        // A free place is best, then a place among many people.
        let best = with_value[value as usize].iter().copied().filter(is_fresh).max_by_key(|&signature| {
            let bucket = &divided.buckets[signature as usize];
            let n = family.place(signature, value).map_or(0, |place| bucket.rows[place].len());
            (n < bucket.most(), bucket.len(), Reverse(signature))
        });
        let signature = match best {
            Some(signature) => signature,
            None => {
                let others = values.iter().copied().filter(|&other| other != value && !is_former[other as usize]);
                let all: Vec<Code> = std::iter::once(value).chain(others.take(m as usize - 1)).collect();
                if (all.len() as u64) < m {
                    let reason = format!(
                        "`{name}` has too few values for a person whose value changed: fewer than {m} were never in \
                         one of their signatures"
                    );
                    return Err(infeasible(reason, "leave such people out".into()));
                }
                let signature = family.signature(all);
                let values = family.values(signature);
                values.iter().for_each(|&value| {
                    let known = &mut with_value[value as usize];
                    if !known.contains(&signature) {
                        known.push(signature);
                    }
                });
                signature
            }
        };
        let place = family.place(signature, value);
        if let Some(place) = place {
            divided.bucket(signature, family).rows[place].push(row);
        }
        former().for_each(|&value| is_former[value as usize] = false);
    }
    Ok(())
}
