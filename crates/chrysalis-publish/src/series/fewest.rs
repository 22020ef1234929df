use std::cmp::Reverse;
use std::collections::BTreeSet;

use chrysalis_table::{Code, Knob, Remedy};

use super::Family;
use super::divide::{Bucket, Divided};
use crate::PublishError;

/// Step 2a. Newcomers join people of a signature who are fewer than k, until they are k.
pub(super) fn fill_up(
    divided: &mut Divided,
    family: &Family,
    (m, k): (u64, u64),
    name: &str,
) -> Result<(), PublishError> {
    let newcomers = &mut divided.newcomers;
    for bucket in divided.buckets.iter_mut().filter(|bucket| bucket.len() > 0) {
        while (bucket.len() as u64) < k {
            let before = bucket.len();
            bucket.groups += 1;
            bucket.fill(family, newcomers);
            if bucket.len() == before {
                let people = people(before);
                let reason = format!(
                    "the groups of {people} must show the same values of `{name}` as before, and there are not enough \
                     newcomers with these values to make them {k}"
                );
                return Err(infeasible((m, k), reason));
            }
        }
    }
    Ok(())
}

/// Step 3b. Newcomers whose signature has fewer than k people get another one: where all of their values are among those of
/// larger buckets, a place there, otherwise together with those of the next such signature.
pub(super) fn gather(
    divided: &mut Divided,
    family: &mut Family,
    (m, k): (u64, u64),
    name: &str,
) -> Result<(), PublishError> {
    let is_small = |bucket: &&Bucket| bucket.len() > 0 && (bucket.len() as u64) < k;
    let of_bucket = |bucket: &Bucket| (bucket.len(), bucket.signature);
    while let Some((len, small)) = divided.buckets.iter().filter(is_small).map(of_bucket).min() {
        let values: Vec<Code> = family.values(small).to_vec();
        let rows = divided.emptied(small);
        let held: Vec<(Code, Vec<u32>)> =
            values.iter().copied().zip(rows).filter(|(_, rows)| !rows.is_empty()).collect();
        let is_host =
            |bucket: &Bucket, value: Code| bucket.len() as u64 >= k && family.place(bucket.signature, value).is_some();
        let has_host = |value: Code| divided.buckets.iter().any(|bucket| is_host(bucket, value));
        if held.iter().all(|(value, _)| has_host(*value)) {
            for (value, rows) in held {
                for row in rows {
                    // A place that is free is best, then one among many people.
                    let rank = |bucket: &&Bucket| {
                        let taken = family.place(bucket.signature, value).map_or(0, |place| bucket.rows[place].len());
                        (taken < bucket.groups, bucket.len(), Reverse(bucket.signature))
                    };
                    let host = divided.buckets.iter().filter(|bucket| is_host(bucket, value)).max_by_key(rank);
                    let host = host.map_or(small, |bucket| bucket.signature);
                    divided.host(host, value, row, family);
                }
            }
            continue;
        }
        // Only newcomers may get a signature with more values.
        let may_join = |bucket: &&Bucket| bucket.len() > 0 && !bucket.has_past;
        let Some((_, other)) = divided.buckets.iter().filter(may_join).map(of_bucket).min() else {
            let (people, others) = (people(len), divided.buckets.iter().any(|bucket| bucket.len() as u64 >= k));
            let beside = match others {
                true => format!(", and no larger groups show all of their values of `{name}`"),
                false => String::new(),
            };
            let reason = format!(
                "{people} with no former values to keep can be in no group, because nobody else is left with whom they would be {k}{beside}"
            );
            return Err(infeasible((m, k), reason));
        };
        let others: Vec<(Code, Vec<u32>)> =
            family.values(other).to_vec().into_iter().zip(divided.emptied(other)).collect();
        let union: BTreeSet<Code> = values.iter().chain(family.values(other)).copied().collect();
        let joint = family.signature(union.into_iter().collect());
        for (value, rows) in held.into_iter().chain(others) {
            rows.into_iter().for_each(|row| divided.host(joint, value, row, family));
        }
    }
    Ok(())
}

impl Divided {
    /// Takes all people out of a bucket.
    fn emptied(&mut self, signature: u32) -> Vec<Vec<u32>> {
        let bucket = &mut self.buckets[signature as usize];
        bucket.groups = 0;
        bucket.rows.iter_mut().map(std::mem::take).collect()
    }

    /// Puts somebody into a bucket, which becomes one group more if the value has no free place.
    fn host(&mut self, signature: u32, value: Code, row: u32, family: &Family) {
        let place = family.place(signature, value);
        let bucket = self.bucket(signature, family);
        if let Some(place) = place {
            bucket.rows[place].push(row);
        }
        bucket.groups = bucket.groups.max(bucket.most());
    }
}

fn people(n: usize) -> String {
    if n == 1 { "1 person".to_owned() } else { format!("{n} people") }
}

fn infeasible((m, k): (u64, u64), reason: String) -> PublishError {
    PublishError::Infeasible {
        principle: format!("m={m} with k={k}"),
        reason,
        possible: None,
        instead: Remedy::from("leave these people out, or ask for less with ").knob(Knob::Require, ""),
    }
}
