//! Tables and taxonomies that cannot be read.

use std::io::Write as _;

use super::Ground;

const PLAIN: &[u8] = b"a,b\n1,x\n2,y\n3,x\n4,y\n";

/// Every command that reads a table must refuse this one.
#[track_caller]
fn refused(name: &str, bytes: &[u8]) {
    let mut ground = Ground::new(&[(name, bytes), ("plain.csv", PLAIN)]);
    ground.refuses(&format!("publish {name} --quasi a --sensitive b --require k=2 --out release"), &[2]);
    ground.refuses(&format!("profile {name}"), &[2]);
    ground.refuses(&format!("profile {name} --quasi a --sensitive b --output json"), &[2]);
    ground.refuses(&format!("init {name}"), &[2]);
    ground.done();
}

#[test]
fn an_empty_file_is_refused() {
    refused("t.csv", b"");
    refused("t.csv", b"\n\n\n");
    refused("t.csv", b"\xef\xbb\xbf");
}

#[test]
fn a_header_without_rows_is_refused() {
    refused("t.csv", b"a,b");
    refused("t.csv", b"a,b\n");
    refused("t.csv", b"a,b\r\n\r\n");
}

#[test]
fn ragged_rows_are_refused() {
    refused("t.csv", b"a,b\n1,x\n2\n3,x\n");
    refused("t.csv", b"a,b\n1,x\n2,y,z\n");
    refused("t.csv", b"a,b\n\"1,x\n2,y\n");
}

#[test]
fn headers_without_a_name_or_with_one_twice_are_refused() {
    refused("t.csv", b"a,a\n1,2\n");
    refused("t.csv", b"a,\n1,2\n");
    refused("t.csv", b",\n1,2\n");
}

#[test]
fn what_is_not_text_is_refused() {
    let noise: Vec<u8> = (0..5000_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    refused("t.csv", &noise);
    refused("t.csv", b"a,b\n1,caf\xe9\n2,x\n");
    refused("t.csv", b"a,b\n1,\xf0\x9f\n2,x\n");
    // UTF-16 with half a character at its end, and with half a pair.
    let wide: Vec<u8> = PLAIN.iter().flat_map(|&byte| [byte, 0]).collect();
    refused("t.csv", &[b"\xff\xfe".as_slice(), &wide, b"a"].concat());
    refused("t.csv", &[b"\xff\xfe".as_slice(), &wide, b"\x00\xd8\x0a\x00"].concat());
    let wide: Vec<u8> = PLAIN.iter().flat_map(|&byte| [0, byte]).collect();
    refused("t.csv", &[b"\xfe\xff".as_slice(), &wide, b"\xdc\x00"].concat());
}

#[test]
fn nul_bytes_are_refused() {
    refused("t.csv", b"a,b\n1,\0\n2,x\n");
    refused("t.csv", &[0; 4096]);
    refused("t.csv", b"a\0,b\n1,y\n2,x\n");
}

fn table() -> Vec<u8> {
    let rows: String = (0..3000).map(|row| format!("{},{}\n", row % 97, row * 7919 % 1009)).collect();
    format!("a,b\n{rows}").into_bytes()
}

#[test]
fn a_cut_gzip_is_refused_wherever_it_is_cut() {
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    writer.write_all(&table()).unwrap();
    let whole = writer.finish().unwrap();
    for length in [2, 9, 10, 11, 40, whole.len() / 2, whole.len() - 9, whole.len() - 8, whole.len() - 1] {
        refused("t.csv.gz", &whole[..length]);
    }
    let mut broken = whole.clone();
    broken[whole.len() / 2] ^= 0x55;
    refused("t.csv.gz", &broken);
    let mut checksum = whole.clone();
    checksum[whole.len() - 6] ^= 1;
    refused("t.csv.gz", &checksum);
}

#[test]
fn a_cut_zstd_is_refused_wherever_it_is_cut() {
    let whole = zstd::encode_all(table().as_slice(), 3).unwrap();
    for length in [4, 5, 9, 40, whole.len() / 2, whole.len() - 1] {
        refused("t.csv.zst", &whole[..length]);
    }
}

#[test]
fn a_parquet_file_without_a_footer_is_refused() {
    refused("t.parquet", b"PAR1");
    refused("t.parquet", b"PAR1PAR1");
    refused("t.parquet", b"PAR1\0\0\0\0PAR1");
    refused("t.parquet", b"PAR1\xff\xff\xff\x7fPAR1");
    refused("t.parquet", b"");
}

#[test]
fn files_that_are_no_files_are_refused() {
    let mut ground = Ground::new(&[("folder/t.csv", PLAIN)]);
    ground.refuses("profile absent.csv", &[2]);
    ground.refuses("profile folder", &[2]);
    ground.refuses("profile folder/t.csv/below", &[2]);
    ground.refuses("profile -", &[2]);
    ground.refuses("init absent.csv", &[2]);
    ground.done();
}

const VALUES: &[u8] = b"c,b\nx,1\ny,2\nz,3\nx,4\n";

#[test]
fn broken_taxonomies_are_refused() {
    let broken: &[(&str, &[u8])] = &[
        ("missing", b"x;g;*\ny;g;*\n"),
        ("ragged", b"x;g;*\ny;h;g;*\nz;h;*\n"),
        ("cycle", b"x;g;h;*\ny;h;g;*\nz;g;h;*\n"),
        ("long-cycle", b"x;f;g;h;*\ny;g;h;f;*\nz;h;f;g;*\n"),
        ("two-parents", b"x;f;g;*\ny;f;h;*\nz;e;h;*\n"),
        ("two-roots", b"x;g;*\ny;g;+\nz;g;*\n"),
        ("twice-otherwise", b"x;g;*\ny;g;*\nz;h;*\nx;h;*\n"),
        ("hole", b"x;g;*\ny;;*\nz;h;*\n"),
        ("comma", b"x,g,*\ny,g,*\nz,h,*\n"),
        ("value-is-group", b"x;y;*\ny;y;*\nz;h;*\n"),
        ("leaf-only", b"x\ny\nz\n"),
        ("empty", b""),
        ("binary", b"x;\xff\xfe;*\n"),
        ("nul", b"x;\0;*\ny;g;*\nz;g;*\n"),
    ];
    let mut ground = Ground::new(&[("t.csv", VALUES)]);
    for (name, bytes) in broken {
        let file = format!("{name}.taxonomy");
        std::fs::write(ground.path().join(&file), bytes).unwrap();
        let line = format!("publish t.csv --quasi c --sensitive b --require k=2 --taxonomy c={file} --out release");
        ground.refuses(&line, &[2]);
    }
    ground.refuses("publish t.csv --quasi c --sensitive b --require k=2 --taxonomy c=absent --out release", &[2]);
    ground.refuses(
        "publish t.csv --quasi c --sensitive b --require k=2 --taxonomy d=missing.taxonomy --out release",
        &[2],
    );
    ground.done();
}

#[test]
fn a_taxonomy_of_a_quasi_column_is_used_or_refused_but_not_ignored() {
    let folder = tempfile::tempdir().unwrap();
    let papers = crate::common::papers().canonicalize().unwrap().join("lalpha");
    let papers = papers.display();
    let line = format!(
        "publish {papers}/table-1.csv --quasi zip_code --sensitive disease --partitioner column --group-column group_id \
         --taxonomy zip_code={papers}/zip_code.taxonomy.csv --require k=2 --format csv --out release"
    );
    let outcome = crate::common::run(folder.path(), &line);
    if outcome.code == Some(0) {
        let cells = crate::common::Release::at(folder.path().join("release")).cells("generalized.csv");
        assert_eq!(cells[0], ["group_id", "zip_code", "disease"], "the labels of the taxonomy are not used\n{outcome}");
    }
}

#[test]
fn terminal_escapes_in_a_table_never_reach_the_terminal() {
    let mut ground = Ground::new(&[
        ("value.csv", b"a,b\n1,x\x1b[2J\n3,y\n5,x\x1b[2J\n"),
        ("header.csv", b"a\x1b[2J,b\n1,x\n2,y\n"),
        ("t.csv", VALUES),
        ("label.taxonomy", b"x;g\x1b[2J;*\ny;g\x1b[2J;+\nz;h;*\n"),
    ]);
    ground.refuses("publish value.csv --quasi a --sensitive b --require l=2 --out release", &[2, 3]);
    ground.refuses("publish header.csv --quasi z --sensitive b --require k=2 --out release", &[2]);
    ground
        .refuses("publish t.csv --quasi c --sensitive b --require k=2 --taxonomy c=label.taxonomy --out release", &[2]);
    ground.done();
}

#[test]
fn a_table_of_ten_thousand_columns_is_read_in_a_moment() {
    let header: Vec<String> = (0..10_000).map(|at| format!("c{at}")).collect();
    let row = vec!["1"; 10_000].join(",");
    let text = format!("{}\n{row}\n{row}\n", header.join(","));
    let ground = Ground::new(&[("wide.csv", text.as_bytes())]);
    let outcome =
        crate::common::run(ground.path(), "profile wide.csv --quasi c1,c2 --sensitive c3 --output csv").expect(0);
    assert!(outcome.seconds < 5.0, "{:.1} s for two rows of 10,000 columns", outcome.seconds);
}
