//! Parquet files with flipped bits and missing ends, as input and as tables of a release with a corrected hash.

use std::fs;

use super::Ground;
use crate::common::{self, Release};

/// A small and fast generator; every run makes the same flips.
struct Flips(u64);

impl Flips {
    fn next(&mut self) -> u8 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        match self.0 >> 60 {
            bit @ 0..=7 => 1 << bit,
            8..=11 => 0xff,
            12..=13 => 0x7f,
            _ => 0x80,
        }
    }
}

fn release() -> Ground {
    let ground = Ground::new(&[]);
    common::run(ground.path(), "example --rows 300 --out hospital").expect(0);
    let line = "publish hospital/patients.csv --quasi age,sex,occupation --sensitive disease --require k=5 --seed 1 \
                --out release";
    common::run(ground.path(), line).expect(0);
    ground
}

/// The file with one byte changed, at every byte of the footer and at every `step`th byte before it; then truncated.
fn mutations(sound: &[u8], step: usize) -> Vec<(String, Vec<u8>)> {
    let mut flips = Flips(7);
    let end = sound.len() - 8;
    let footer = u32::from_le_bytes(sound[end..end + 4].try_into().unwrap()) as usize;
    let offsets = (0..end - footer).step_by(step).chain(end - footer..sound.len());
    let mut mutations: Vec<(String, Vec<u8>)> = offsets
        .map(|offset| {
            let mut bytes = sound.to_vec();
            let flip = flips.next();
            bytes[offset] ^= flip;
            (format!("byte {offset} ^ {flip:#04x}"), bytes)
        })
        .collect();
    mutations.extend((0..sound.len()).step_by(97).map(|length| (format!("cut to {length}"), sound[..length].to_vec())));
    mutations
}

fn flipped_tables(file: &str) {
    let mut ground = release();
    let release = Release::at(ground.path().join("release"));
    let sound = fs::read(release.folder.join(file)).unwrap();
    let manifest = release.manifest();
    for (what, bytes) in mutations(&sound, 5) {
        release.write_manifest(&manifest);
        release.forge(file, &bytes);
        // A flip in a place that is never read is harmless.
        let outcome = common::run(ground.path(), "audit release");
        ground.wrong.extend(outcome.complaint(&[0, 2, 4]).map(|wrong| format!("{what}: {wrong}")));
    }
    ground.done();
}

#[test]
fn flipped_bytes_in_the_generalized_table_never_break_the_audit() {
    flipped_tables("generalized.parquet");
}

#[test]
fn flipped_bytes_in_the_members_table_never_break_the_audit() {
    flipped_tables("members.parquet");
}

#[test]
fn flipped_bytes_in_a_parquet_input_never_break_a_command() {
    let mut ground = release();
    let sound = fs::read(ground.path().join("release/generalized.parquet")).unwrap();
    for (what, bytes) in mutations(&sound, 11) {
        fs::write(ground.path().join("t.parquet"), &bytes).unwrap();
        let line = "publish t.parquet --quasi age_min,sex --sensitive disease --require k=3 --out other --force";
        let outcome = common::run(ground.path(), line);
        ground.wrong.extend(outcome.complaint(&[0, 2, 3]).map(|wrong| format!("{what}: {wrong}")));
        let left = common::listing(ground.path()).into_keys().find(|name| name.contains(".chrysalis-"));
        ground.wrong.extend(left.map(|name| format!("{what}: {name} is left behind\n{outcome}")));
    }
    ground.done();
}

#[test]
fn a_parquet_file_that_claims_more_than_it_has_costs_no_memory() {
    // The row count of the footer, wherever its encoding occurs, set to the largest number.
    let mut ground = release();
    let sound = fs::read(ground.path().join("release/generalized.parquet")).unwrap();
    let rows: &[u8] = &[0xd8, 0x04]; // 300 as a zigzag varint
    let places: Vec<usize> = (0..sound.len() - 1).filter(|&at| sound[at..].starts_with(rows)).collect();
    assert!(!places.is_empty(), "the footer has no row count of 300");
    for at in places {
        let mut bytes = sound.clone();
        bytes.splice(at..at + 2, [0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]);
        let end = bytes.len() - 8;
        let footer = u32::from_le_bytes(bytes[end..end + 4].try_into().unwrap()) + 8;
        bytes[end..end + 4].copy_from_slice(&footer.to_le_bytes());
        fs::write(ground.path().join("t.parquet"), &bytes).unwrap();
        // A reader that does not trust the number may go on.
        let outcome = common::run(ground.path(), "profile t.parquet --quasi sex --sensitive disease");
        ground.wrong.extend(outcome.complaint(&[0, 2]));
    }
    ground.done();
}
