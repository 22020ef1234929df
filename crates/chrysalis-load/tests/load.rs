//! Releases in databases: what goes in comes out, twice over, and nobody else's table is touched.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::path::Path;

use chrysalis_load::{Database, LoadError, Target, load};
use chrysalis_release::{
    Attribute, ColumnEntry, DomainEntry, ENCODING, Form, Manifest, Published, Release, RoleName, TableEntry, VERSION,
};
use chrysalis_table::{Column, Counted, Kind, Stopped, Table, Value, Watch};
use chrysalis_testkit::engines::PostgresServer;
use chrysalis_testkit::questions::{Sensitive, survey};
use postgres::{Client, NoTls, SimpleQueryMessage};

/// A release with a table of every kind of column (`qit`) and one with a key (`st`).
fn release() -> Release {
    let qit = survey(60, Sensitive::Incomplete, 3);
    let ids = Column::integers("group_id", &(1..=60).collect::<Vec<_>>());
    let columns: Vec<Column> = qit.columns()[..6].iter().cloned().chain([ids]).collect();
    let words = Column::texts("pay", ["a\tb", "back\\slash", "new\nline", "'quote'"].into_iter());
    let st =
        Table::new(vec![Column::integers("group_id", &[1, 1, 2, 3]), words, Column::integers("count", &[1, 2, 3, 4])]);
    let tables = vec![("qit", Table::new(columns)), ("st", st)];
    let pay = tables[1].1.column("pay").unwrap();
    let attribute = Attribute {
        name: "pay".into(),
        role: RoleName::Sensitive,
        kind: Kind::Category.into(),
        published: Published::Exact,
        domain: DomainEntry::of(pay.domain(), None),
        taxonomy: None,
        categories: None,
        weights: None,
        ordinary: None,
        near: None,
        prepared: None,
        weight: false,
    };
    let entry = |(name, table): &(&str, Table)| TableEntry {
        name: (*name).to_owned(),
        rows: table.rows() as u64,
        columns: table
            .columns()
            .iter()
            .map(|column| ColumnEntry { name: column.name().to_owned(), kind: column.domain().kind().into() })
            .collect(),
        parts: Vec::new(),
    };
    let manifest = Manifest {
        version: VERSION,
        encoding: ENCODING,
        method: Form::Anatomy,
        partitioner: "column".into(),
        rows: 60,
        groups: 60,
        promises: Vec::new(),
        attributes: vec![attribute],
        together: Vec::new(),
        quasi_identifiers: Vec::new(),
        tables: tables.iter().map(entry).collect(),
        reproducible: false,
        transparent: false,
        series: None,
        accepted: Vec::new(),
        persons: None,
        suppressed: 0,
    };
    Release { manifest, tables: tables.into_iter().map(|(_, table)| table).collect() }
}

/// The cells of a table as texts; `None` is missing.
fn cells(table: &Table) -> Vec<Vec<Option<String>>> {
    let text = |value: Option<&Value>| value.map(ToString::to_string);
    let cell =
        |row: usize| table.columns().iter().map(|column| text(column.domain().value(column.code(row)))).collect();
    (0..table.rows()).map(cell).collect()
}

fn sqlite(file: &Path) -> Target {
    Target::parse(&format!("sqlite:{}", file.display()), None, None).unwrap()
}

fn sqlite_cells(file: &Path, table: &str) -> Vec<Vec<Option<String>>> {
    let connection = rusqlite::Connection::open(file).unwrap();
    let mut select = connection.prepare(&format!("SELECT * FROM {table} ORDER BY 1, 2")).unwrap();
    let n = select.column_count();
    let cell = |row: &rusqlite::Row<'_>, at: usize| match row.get_ref(at).unwrap() {
        rusqlite::types::ValueRef::Null => None,
        rusqlite::types::ValueRef::Integer(number) => Some(number.to_string()),
        rusqlite::types::ValueRef::Real(number) => Some(number.to_string()),
        rusqlite::types::ValueRef::Text(text) => Some(String::from_utf8(text.to_vec()).unwrap()),
        rusqlite::types::ValueRef::Blob(_) => Some("a blob".into()),
    };
    let rows = select.query_map([], |row| Ok((0..n).map(|at| cell(row, at)).collect())).unwrap();
    rows.map(Result::unwrap).collect()
}

fn sorted(mut rows: Vec<Vec<Option<String>>>) -> Vec<Vec<Option<String>>> {
    rows.sort();
    rows
}

#[test]
fn sqlite_holds_what_the_release_holds_and_loading_again_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("release.db");
    let release = release();
    for _ in 0..2 {
        let loaded = load(&release, &sqlite(&file), &|_| {}).unwrap();
        assert_eq!(loaded.tables, [("qit".to_owned(), 60), ("st".to_owned(), 4)]);
        for (name, table) in ["qit", "st"].into_iter().zip(&release.tables) {
            assert_eq!(sorted(sqlite_cells(&file, name)), sorted(cells(table)), "{name}");
        }
    }
    let connection = rusqlite::Connection::open(&file).unwrap();
    let twice = "INSERT INTO st SELECT * FROM st";
    assert!(connection.execute(twice, []).unwrap_err().to_string().contains("UNIQUE"), "st has no key");
}

#[test]
fn somebody_elses_table_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("other.db");
    rusqlite::Connection::open(&file).unwrap().execute_batch("CREATE TABLE ST (x); INSERT INTO st VALUES (7)").unwrap();
    let error = load(&release(), &sqlite(&file), &|_| {}).unwrap_err();
    assert!(matches!(error, LoadError::Taken { .. }), "{error}");
    assert!(error.hint().to_string().ends_with("or with PostgreSQL into another `schema`"), "{}", error.hint());
    assert_eq!(sqlite_cells(&file, "(SELECT x, x FROM st)"), [[Some("7".to_owned()), Some("7".to_owned())]]);
    // Nothing of the release is there either.
    let connection = rusqlite::Connection::open(&file).unwrap();
    let tables: i64 = connection.query_row("SELECT COUNT(*) FROM sqlite_master", [], |row| row.get(0)).unwrap();
    assert_eq!(tables, 1);
}

/// A manifest may be forged: a table that its form does not have gets no keys, and one that lacks columns gets only
/// what is left of its key.
#[test]
fn tables_that_the_form_does_not_have_get_no_keys() {
    let mut release = release();
    release.manifest.tables[0].name = "extra".into();
    release.tables[1] = Table::new(vec![Column::integers("group_id", &[1, 1])]);
    let mut database = Database::new().unwrap();
    let error = database.load(&release).unwrap_err();
    assert!(error.to_string().contains("UNIQUE"), "what is left of the key of `st` is kept: {error}");
    release.tables[1] = Table::new(vec![Column::integers("hits", &[1, 1])]);
    database.load(&release).unwrap();
    let indexes = "SELECT COUNT(*) FROM sqlite_master WHERE type = 'index'";
    assert_eq!(database.run(indexes).unwrap(), [[Some(0.0)]]);
}

/// Stops at the second table.
struct Impatient(std::sync::atomic::AtomicU64);

impl Watch for Impatient {
    fn phase(&self, _: &'static str, _: Option<u64>, _: Counted) {}

    fn advance(&self, n: u64) {
        self.0.fetch_add(n, std::sync::atomic::Ordering::Relaxed);
    }

    fn stopped(&self) -> bool {
        self.0.load(std::sync::atomic::Ordering::Relaxed) > 60
    }
}

#[test]
fn a_load_that_is_stopped_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("release.db");
    let stopped = || {
        let watch: &dyn Watch = &Impatient(0.into());
        Stopped::catch(|| load(&release(), &sqlite(&file), &|n| watch.tell(n))).err()
    };
    assert_eq!(stopped(), Some(Stopped));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    load(&release(), &sqlite(&file), &|_| {}).unwrap();
    let before = std::fs::read(&file).unwrap();
    assert_eq!(stopped(), Some(Stopped));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    assert_eq!(std::fs::read(&file).unwrap(), before);
}

#[test]
fn files_that_cannot_be_written_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("notes.txt");
    std::fs::write(&text, "these are notes, and by no means a database of any kind\n".repeat(40)).unwrap();
    for file in [folder.path().join("no/such/folder.db"), folder.path().to_owned(), text.clone()] {
        let error = load(&release(), &sqlite(&file), &|_| {}).unwrap_err();
        assert!(matches!(error, LoadError::File { .. }), "{error}");
    }
    assert!(std::fs::read_to_string(&text).unwrap().starts_with("these are notes"));
}

#[test]
fn names_that_databases_confuse_are_refused() {
    let mut release = release();
    let doubled = |name: &str| Column::integers(name, &[1]);
    release.tables = vec![Table::new(vec![doubled("Age"), doubled("age")]), release.tables.remove(1)];
    let folder = tempfile::tempdir().unwrap();
    let error = load(&release, &sqlite(&folder.path().join("a.db")), &|_| {}).unwrap_err();
    assert!(error.to_string().contains("upper and lower case"), "{error}");
    release.tables[0] = Table::new(vec![doubled(&"a".repeat(64))]);
    assert!(load(&release, &sqlite(&folder.path().join("a.db")), &|_| {}).is_err());
}

/// PostgreSQL writes a blank between a date and a time, we write a T.
fn with_t(text: &str) -> String {
    let is_moment =
        text.len() > 10 && text.as_bytes()[10] == b' ' && text.contains(':') && text.starts_with(['1', '2']);
    if is_moment { text.replacen(' ', "T", 1) } else { text.to_owned() }
}

fn postgres_cells(client: &mut Client, table: &str) -> Vec<Vec<Option<String>>> {
    let messages = client.simple_query(&format!("SELECT * FROM {table}")).unwrap();
    let rows = messages.into_iter().filter_map(|message| match message {
        SimpleQueryMessage::Row(row) => Some((0..row.len()).map(|at| row.get(at).map(with_t)).collect()),
        _ => None,
    });
    sorted(rows.collect())
}

#[test]
fn postgres_holds_what_the_release_holds() {
    let Some(server) = PostgresServer::start() else { return };
    let release = release();
    let address = server.address("chrysalis");
    let mut client = Client::connect(&address, NoTls).unwrap();
    let target = |schema: Option<&str>| Target::parse(&address, schema, None).unwrap();
    for (schema, prefix) in [(None, ""), (Some("Odd \"name\""), "\"Odd \"\"name\"\"\".")] {
        for _ in 0..2 {
            load(&release, &target(schema), &|_| {}).unwrap();
            for (name, table) in ["qit", "st"].into_iter().zip(&release.tables) {
                assert_eq!(postgres_cells(&mut client, &format!("{prefix}{name}")), sorted(cells(table)), "{name}");
            }
        }
    }
    let types = "SELECT string_agg(format_type(atttypid, NULL), ' ' ORDER BY attnum) FROM pg_attribute \
                 WHERE attrelid = 'qit'::regclass AND attnum > 0";
    let types: String = client.query_one(types, &[]).unwrap().get(0);
    assert_eq!(types, "bigint double precision date timestamp without time zone text text bigint");
    assert!(client.batch_execute("INSERT INTO st SELECT * FROM st").is_err(), "st has no key");
    // Somebody else's table, in the middle of a load that would otherwise succeed.
    client.batch_execute("CREATE SCHEMA taken; CREATE TABLE taken.st (x int)").unwrap();
    let error = load(&release, &target(Some("taken")), &|_| {}).unwrap_err();
    assert!(matches!(error, LoadError::Taken { .. }), "{error}");
    assert!(client.batch_execute("SELECT * FROM taken.qit").is_err(), "half of a release was loaded");
}

#[test]
fn a_server_that_says_no_is_understood_and_passwords_stay_secret() {
    let Some(server) = PostgresServer::start() else { return };
    let mut client = Client::connect(&server.address("chrysalis"), NoTls).unwrap();
    client
        .batch_execute("CREATE ROLE guarded LOGIN PASSWORD 'right'; GRANT CREATE ON SCHEMA public TO guarded")
        .unwrap();
    let address = server.address("guarded");
    let with = |password: Option<&str>| load(&release(), &Target::parse(&address, None, password).unwrap(), &|_| {});
    let said = |error: LoadError| format!("{error} {}", error.hint());
    let wrong = said(with(Some("wr0ng-secret")).unwrap_err());
    assert!(wrong.contains("password authentication failed") && wrong.contains("PGPASSWORD"), "{wrong}");
    assert!(!wrong.contains("wr0ng-secret"), "{wrong}");
    let none = said(with(None).unwrap_err());
    assert!(none.contains("password missing"), "{none}");
    with(Some("right")).unwrap();
    let nowhere = address.replace("/postgres", "/nowhere");
    let nowhere = Target::parse(&nowhere.replace("guarded", "chrysalis"), None, None).unwrap();
    let nowhere = said(load(&release(), &nowhere, &|_| {}).unwrap_err());
    assert!(nowhere.contains("does not exist") && nowhere.contains("create that database"), "{nowhere}");
    let closed = Target::parse("postgres://ann:s3cret@127.0.0.1:1/x", None, None).unwrap();
    let closed = said(load(&release(), &closed, &|_| {}).unwrap_err());
    assert!(closed.contains("ann@127.0.0.1:1/x") && !closed.contains("s3cret"), "{closed}");
}

#[test]
fn a_database_in_memory_holds_a_release_beside_any_table_and_answers() {
    let mut database = Database::new().unwrap();
    database.load(&release()).unwrap();
    let people =
        Table::new(vec![Column::integers("age", &[30, 40, 50]), Column::texts("sex", ["F", "", "M"].into_iter())]);
    database.add("microdata", &people).unwrap();
    let run = |statement: &str| database.run(statement).unwrap();
    assert_eq!(run("SELECT SUM(\"count\"), COUNT(*) FROM st"), [[Some(10.0), Some(4.0)]]);
    assert_eq!(run("SELECT AVG(age), MIN(sex) FROM microdata"), [[Some(40.0), None]]);
    assert_eq!(run("SELECT COUNT(*) FROM microdata WHERE sex IS NULL"), [[Some(1.0)]]);
    assert_eq!(run("SELECT age FROM microdata WHERE age > 60"), Vec::<Vec<Option<f64>>>::new());
    assert_eq!(run("SELECT SQRT(16.0), ln(1), exp(0), sqrt(NULL)"), [[Some(4.0), Some(0.0), Some(1.0), None]]);
    let refused = database.run("SELECT nothing FROM nowhere").unwrap_err().to_string();
    assert!(refused.contains("in memory") && refused.contains("nowhere"), "{refused}");
}
