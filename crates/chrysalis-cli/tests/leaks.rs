//! What a release must never reveal: where, when, by whom and in which order it was made.

#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use std::fs;
use std::path::Path;

use common::Release;

/// Flags to publish the example table with, beside its spec, for every form and every random partitioner.
const FORMS: [&str; 11] = [
    "",
    "--method generalize --partitioner nearby",
    "--method anatomy",
    "--method anatomy --partitioner anatomize",
    "--method permute",
    "--method permute --partitioner similar",
    "--method angel --marginal age,sex",
    "--method angel --marginal age,sex --partitioner mondrian",
    "--method butterfly --quasi age,sex --quasi sex,zip_code",
    "--method shuffle --quasi age,sex,zip_code --sensitive cost --missing drop --require ke=4,10",
    "--method rank-swap --quasi age,sex,zip_code --sensitive cost --missing drop --require ke=4,10",
];

/// Releases of a table with a telling path, in every form and both formats; made without a seed, like real ones.
fn releases(folder: &Path) -> Vec<Release> {
    let telling = folder.join("telling-path-of-the-owner");
    fs::create_dir(&telling).unwrap();
    common::run(&telling, "example --rows 2000 --out ward-seven").expect(0);
    let formats = FORMS.iter().enumerate().flat_map(|form| ["parquet", "csv"].map(|format| (form, format)));
    formats
        .map(|((at, form), format)| {
            let out = folder.join(format!("{format}-{at}"));
            let line = format!("publish ward-seven/chrysalis.toml {form} --format {format} --out {}", out.display());
            common::run(&telling, &line).expect(0);
            Release::at(out)
        })
        .collect()
}

fn contains(bytes: &[u8], needle: &str) -> bool {
    let needle = needle.as_bytes().to_ascii_lowercase();
    bytes.to_ascii_lowercase().windows(needle.len()).any(|window| window == needle)
}

#[test]
fn no_byte_of_a_release_tells_where_when_or_by_whom_it_was_made() {
    let ground = tempfile::tempdir().unwrap();
    let mut secrets: Vec<String> =
        ["telling-path-of-the-owner", "ward-seven", "patients.csv", "chrysalis.toml", "hospital"]
            .map(str::to_owned)
            .to_vec();
    // Strings that the libraries below us would like to write.
    secrets.extend(["ARROW:schema", "arrow", "parquet-rs", "pandas", "created", "rustc"].map(str::to_owned));
    secrets.push(format!("chrysalis {}", env!("CARGO_PKG_VERSION")));
    secrets.push(ground.path().display().to_string());
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default().trim().to_owned();
    let names = [host, std::env::var("USER").unwrap_or_default(), std::env::var("LOGNAME").unwrap_or_default()];
    secrets.extend(names.into_iter().filter(|name| name.len() >= 4));
    secrets.extend(today(ground.path()));
    for release in releases(ground.path()) {
        for (name, bytes) in common::listing(&release.folder) {
            let found: Vec<&String> = secrets.iter().filter(|secret| contains(&bytes, secret)).collect();
            assert!(found.is_empty(), "{}/{name} carries {found:?}", release.folder.display());
        }
    }
}

/// Today's date as text, and the first digits of the seconds since 1970, from the file system's clock.
fn today(folder: &Path) -> Vec<String> {
    let file = folder.join("clock");
    fs::write(&file, "").unwrap();
    let time = fs::metadata(&file).unwrap().modified().unwrap();
    let seconds = time.duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    fs::remove_file(file).unwrap();
    // Howard Hinnant's days-to-civil.
    let days = i64::try_from(seconds / 86_400).unwrap() + 719_468;
    let era = days / 146_097;
    let day_of_era = days % 146_097;
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    vec![
        format!("{year:04}-{month:02}-{day:02}"),
        format!("{year:04}{month:02}{day:02}"),
        (seconds / 10_000).to_string(),
    ]
}

#[test]
fn a_manifest_has_no_field_for_what_must_not_be_told() {
    let ground = tempfile::tempdir().unwrap();
    for release in releases(ground.path()) {
        let manifest = release.manifest();
        let known = [
            "format",
            "version",
            "features",
            "encoding",
            "method",
            "partitioner",
            "rows",
            "groups",
            "promises",
            "attributes",
            "quasi_identifiers",
            "tables",
            "reproducible",
        ];
        for field in manifest.as_object().unwrap().keys() {
            assert!(known.contains(&field.as_str()), "the manifest has a field `{field}`");
        }
    }
}

#[test]
fn a_seed_reaches_no_file() {
    let ground = tempfile::tempdir().unwrap();
    let folder = ground.path();
    common::run(folder, "example --rows 500 --out hospital").expect(0);
    for (at, form) in FORMS.iter().enumerate() {
        for format in ["parquet", "csv"] {
            let out = format!("{format}-{at}");
            let line =
                format!("publish hospital/chrysalis.toml {form} --seed 8675309424242 --format {format} --out {out}");
            let outcome = common::run(folder, &line).expect(0);
            assert!(outcome.stderr.contains("note: "), "no warning about the seed\n{outcome}");
            let release = Release::at(folder.join(out));
            assert_eq!(release.manifest()["reproducible"], true);
            for (name, bytes) in common::listing(&release.folder) {
                assert!(!contains(&bytes, "8675309424242"), "{name} carries the seed as text");
                let raw = 8_675_309_424_242_u64.to_le_bytes();
                assert!(!bytes.windows(8).any(|window| window == raw), "{name} carries the seed in binary");
            }
        }
    }
}

#[test]
fn rows_in_another_order_give_the_same_release() {
    let ground = tempfile::tempdir().unwrap();
    let folder = ground.path();
    common::run(folder, "example --rows 2000 --out hospital").expect(0);
    let patients = folder.join("hospital/patients.csv");
    let text = fs::read_to_string(&patients).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    let publish_all = |run: u32| {
        for (at, form) in FORMS.iter().enumerate().filter(|(_, form)| is_without_chance(form)) {
            for format in ["csv", "parquet"] {
                let out = format!("{format}-{at}-{run}");
                let line = format!("publish hospital/chrysalis.toml {form} --seed 3 --format {format} --out {out}");
                common::run(folder, &line).expect(0);
            }
        }
    };
    publish_all(1);
    lines[1..].reverse();
    lines[1..].rotate_left(777);
    fs::write(&patients, lines.join("\n") + "\n").unwrap();
    publish_all(2);
    let (one, two) = (Release::at(folder.join("csv-0-1")), Release::at(folder.join("csv-0-2")));
    assert_eq!(one.groups(), two.groups(), "the groups depend on the order of the input");
    for (at, form) in FORMS.iter().enumerate().filter(|(_, form)| is_without_chance(form)) {
        for format in ["csv", "parquet"] {
            let listing = |run: u32| common::listing(&folder.join(format!("{format}-{at}-{run}")));
            let difference = common::difference(&listing(1), &listing(2));
            assert!(difference.is_empty(), "{form}, {format}: the order of the input shows: {difference}");
        }
    }
}

/// Whether the groups depend only on the table and the seed; other partitioners shuffle the rows first.
fn is_without_chance(form: &str) -> bool {
    form.is_empty() || form.ends_with("mondrian") || form.contains("butterfly")
}

#[test]
fn people_who_stand_together_in_the_input_do_not_stand_together_in_the_release() {
    let ground = tempfile::tempdir().unwrap();
    let folder = ground.path();
    // All rows look alike except for a number that says where the row was.
    let rows: String = (0..4000).map(|row: u32| format!("x,{},{row}\n", row * 7919 % 40)).collect();
    fs::write(folder.join("t.csv"), format!("q,s,row\n{rows}")).unwrap();
    for (partitioner, require) in
        [("anatomize", "l=5"), ("similar", "l=5"), ("nearby", "l=5"), ("max-groups", "k=5"), ("min-sum", "k=5")]
    {
        let line = format!(
            "publish t.csv --quasi q --sensitive s --other row --accept identifying=row --accept disclosure --method anatomy --partitioner {partitioner} --require {require} --format csv --out {partitioner}"
        );
        common::run(folder, &line).expect(0);
        let text = fs::read_to_string(folder.join(partitioner).join("qit.csv")).unwrap();
        let mut group_of = vec![""; 4000];
        for line in text.lines().skip(1) {
            let fields: Vec<&str> = line.split(',').collect();
            group_of[fields[1].parse::<usize>().unwrap()] = fields[2];
        }
        // By chance, 4 of the 3,999 others are in one's group: about four neighbours, and 30 are practically
        // impossible. If groups follow the values, 4 of the 99 others with the same value are: about 160 of those 40
        // rows apart.
        for (apart, allowed) in [(1, 30), (40, 300)] {
            let n_together = (apart..4000).filter(|&row| group_of[row] == group_of[row - apart]).count();
            assert!(n_together < allowed, "{partitioner}: {n_together} pairs {apart} rows apart share a group");
        }
        // Group ids reveal nothing about it either: about half of the neighbours ascend.
        let number = |text: &str| text.parse::<u32>().unwrap();
        let n_ascending = group_of.windows(2).filter(|pair| number(pair[0]) < number(pair[1])).count();
        assert!((1800..2200).contains(&n_ascending), "{partitioner}: {n_ascending} of 3,999 group ids ascend");
    }
}

#[test]
fn the_parquet_footer_has_no_statistics_and_no_metadata() {
    let ground = tempfile::tempdir().unwrap();
    let releases = releases(ground.path());
    let listings = releases.iter().flat_map(|release| common::listing(&release.folder));
    let mut n_files = 0;
    for (file, bytes) in listings.filter(|(name, _)| name.ends_with(".parquet")) {
        n_files += 1;
        let end = bytes.len() - 8;
        let length = u32::from_le_bytes(bytes[end..end + 4].try_into().unwrap()) as usize;
        let Thrift::Struct(footer) = Reader { bytes: &bytes[end - length..end] }.structure() else { unreachable!() };
        // FileMetaData: 4 row groups, 5 key-value metadata, 6 created by.
        assert!(field(&footer, 5).is_none(), "{file}: key-value metadata");
        if let Some(Thrift::Binary(name)) = field(&footer, 6) {
            assert_eq!(String::from_utf8_lossy(name), "chrysalis", "{file}: created by");
        }
        let Some(Thrift::List(groups)) = field(&footer, 4) else { panic!("{file}: no row groups") };
        for group in groups {
            // RowGroup: 1 columns, 4 sorting columns; ColumnChunk: 3 metadata, 4–7 page indexes.
            let Thrift::Struct(group) = group else { panic!("{file}") };
            let Some(Thrift::List(columns)) = field(group, 1) else { panic!("{file}") };
            for column in columns {
                let Thrift::Struct(column) = column else { panic!("{file}") };
                // An offset index (4) says where pages start; a column index says what they contain.
                assert!(field(column, 6).is_none(), "{file}: a column index");
                // ColumnMetaData: 8 key-value metadata, 12 statistics, 14 bloom filter, 16 size statistics.
                let Some(Thrift::Struct(metadata)) = field(column, 3) else { panic!("{file}") };
                for (id, what) in [(8, "metadata"), (12, "statistics"), (14, "a bloom filter"), (16, "size statistics")]
                {
                    assert!(field(metadata, id).is_none(), "{file}: a column has {what}");
                }
            }
        }
    }
    assert_eq!(n_files, 2 + 2 + 2 + 2 + 2 + 2 + 4 + 4 + 2 + 2 + 1);
}

/// A value of Thrift's compact protocol, as far as a Parquet footer needs it.
enum Thrift {
    Struct(Vec<(i64, Thrift)>),
    List(Vec<Thrift>),
    Binary(Vec<u8>),
    Number,
}

fn field(fields: &[(i64, Thrift)], id: i64) -> Option<&Thrift> {
    fields.iter().find(|(found, _)| *found == id).map(|(_, value)| value)
}

struct Reader<'a> {
    bytes: &'a [u8],
}

impl Reader<'_> {
    fn byte(&mut self) -> u8 {
        let (first, rest) = self.bytes.split_first().unwrap();
        self.bytes = rest;
        *first
    }

    fn varint(&mut self) -> u64 {
        let (mut value, mut shift) = (0, 0);
        loop {
            let byte = self.byte();
            value |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte & 0x80 == 0 {
                return value;
            }
        }
    }

    fn zigzag(&mut self) -> i64 {
        let value = self.varint();
        (value >> 1).cast_signed() ^ -(value & 1).cast_signed()
    }

    fn structure(&mut self) -> Thrift {
        let mut fields = Vec::new();
        let mut id = 0;
        loop {
            let head = self.byte();
            if head == 0 {
                return Thrift::Struct(fields);
            }
            id = if head >> 4 == 0 { self.zigzag() } else { id + i64::from(head >> 4) };
            let value = if matches!(head & 0x0f, 1 | 2) { Thrift::Number } else { self.value(head & 0x0f) };
            fields.push((id, value));
        }
    }

    fn value(&mut self, kind: u8) -> Thrift {
        match kind {
            1..=3 => {
                self.byte();
                Thrift::Number
            }
            4..=6 => {
                self.varint();
                Thrift::Number
            }
            7 => {
                self.bytes = &self.bytes[8..];
                Thrift::Number
            }
            8 => {
                let length = usize::try_from(self.varint()).unwrap();
                let (value, rest) = self.bytes.split_at(length);
                self.bytes = rest;
                Thrift::Binary(value.to_vec())
            }
            9 | 10 => {
                let head = self.byte();
                let length = if head >> 4 == 15 { self.varint() } else { u64::from(head >> 4) };
                Thrift::List((0..length).map(|_| self.value(head & 0x0f)).collect())
            }
            12 => self.structure(),
            _ => panic!("Thrift type {kind} in a Parquet footer"),
        }
    }
}
