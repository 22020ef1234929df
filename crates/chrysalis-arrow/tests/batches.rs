//! Batches of all types are read, and a table that goes out as batches comes in again.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow_array::types::{Int8Type, UInt32Type};
use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Date64Array, Decimal128Array, DictionaryArray, Float32Array, Float64Array,
    Int16Array, Int64Array, LargeStringArray, NullArray, RecordBatch, RecordBatchReader, StringArray, StringViewArray,
    Time64NanosecondArray, TimestampMicrosecondArray, TimestampMillisecondArray, TimestampNanosecondArray,
    TimestampSecondArray, UInt64Array,
};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use chrysalis_arrow::{ArrowTableError, TableReader, array, batches, field, kind_of, read, schema};
use chrysalis_table::{
    Codes, Column, ColumnRequest, Counted, Date, DateTime, Kind, Stopped, Table, TableError, Value, Watch, no_progress,
};
use chrysalis_testkit::strategies::fixed;
use proptest::prelude::*;

/// The texts of a column whose rows come in these arrays, the missing value written `-`.
fn texts(arrays: &[ArrayRef], request: &ColumnRequest) -> Result<(Kind, Vec<String>, Vec<String>), ArrowTableError> {
    let schema = Schema::new(vec![Field::new("a", arrays[0].data_type().clone(), true)]);
    let batches = arrays.iter().map(|array| RecordBatch::try_from_iter_with_nullable([("a", Arc::clone(array), true)]));
    let table = read(&schema, batches, std::slice::from_ref(request), &no_progress)?;
    let column = &table.columns()[0];
    let domain = column.domain();
    let text = |code| if domain.value(code).is_none() { "-".to_owned() } else { domain.text(code).into_owned() };
    let rows = column.codes().iter().map(text).collect();
    Ok((domain.kind(), rows, (0..domain.len() as u32).map(text).collect()))
}

fn check(arrays: &[ArrayRef], kind: Kind, rows: &[&str]) {
    let (found, texts, domain) = texts(arrays, &ColumnRequest::named("a")).unwrap();
    assert_eq!((found, texts), (kind, rows.iter().map(|&row| row.to_owned()).collect()), "{:?}", arrays[0].data_type());
    assert_eq!(kind_of(arrays[0].data_type()), Some(kind));
    for value in domain {
        assert!(rows.contains(&value.as_str()), "{value} does not occur");
    }
}

fn refused(arrays: &[ArrayRef]) -> String {
    texts(arrays, &ColumnRequest::named("a")).unwrap_err().to_string()
}

fn one(array: impl arrow_array::Array + 'static) -> [ArrayRef; 1] {
    [Arc::new(array)]
}

#[test]
fn every_type_of_people_s_tables_is_read() {
    check(&one(Int16Array::from(vec![Some(7), None, Some(-3)])), Kind::Integer, &["7", "-", "-3"]);
    check(&one(UInt64Array::from(vec![5, 1 << 40])), Kind::Integer, &["5", "1099511627776"]);
    check(&one(Float32Array::from(vec![0.5, f32::NAN, -0.0])), Kind::Real, &["0.5", "-", "0"]);
    check(&one(Float64Array::from(vec![Some(1e300), None])), Kind::Real, &[&format!("{}", 1e300), "-"]);
    let cents = Decimal128Array::from(vec![Some(1234), None]).with_precision_and_scale(10, 2).unwrap();
    check(&one(cents), Kind::Real, &["12.34", "-"]);
    let whole = Decimal128Array::from(vec![Some(-12), None]).with_precision_and_scale(10, 0).unwrap();
    check(&one(whole), Kind::Integer, &["-12", "-"]);
    let thousands = Decimal128Array::from(vec![12]).with_precision_and_scale(10, -3).unwrap();
    check(&one(thousands), Kind::Integer, &["12000"]);
    let fine = Decimal128Array::from(vec![5, 12_345_678_901_234_500_000]).with_precision_and_scale(38, 20).unwrap();
    check(&one(fine), Kind::Real, &["0.00000000000000000005", "0.123456789012345"]);
    let seconds = TimestampSecondArray::from(vec![Some(0), None, Some(-1)]);
    check(&one(seconds), Kind::DateTime, &["1970-01-01T00:00:00", "-", "1969-12-31T23:59:59"]);
    let milliseconds = TimestampMillisecondArray::from(vec![-1]).with_timezone("Europe/Berlin");
    check(&one(milliseconds), Kind::DateTime, &["1969-12-31T23:59:59.999"]);
    check(&one(TimestampMicrosecondArray::from(vec![1])), Kind::DateTime, &["1970-01-01T00:00:00.000001"]);
    check(&one(TimestampNanosecondArray::from(vec![-1_000])), Kind::DateTime, &["1969-12-31T23:59:59.999999"]);
    check(&one(Date64Array::from(vec![86_400_000, -86_400_000])), Kind::Date, &["1970-01-02", "1969-12-31"]);
    check(&one(Date32Array::from(vec![0, -1])), Kind::Date, &["1970-01-01", "1969-12-31"]);
    check(&one(StringArray::from(vec!["b", "", "a"])), Kind::Category, &["b", "-", "a"]);
    check(&one(LargeStringArray::from(vec!["b", "a"])), Kind::Category, &["b", "a"]);
    check(
        &one(StringViewArray::from(vec!["b", "a text that is too long for a view"])),
        Kind::Category,
        &["b", "a text that is too long for a view"],
    );
    check(&one(BooleanArray::from(vec![Some(true), None, Some(false)])), Kind::Category, &["true", "-", "false"]);
    check(&one(NullArray::new(2)), Kind::Category, &["-", "-"]);
}

#[test]
fn a_dictionary_is_decoded_and_what_no_row_has_is_left_out() {
    let words: ArrayRef = Arc::new(StringArray::from(vec![Some("never"), Some("b"), None, Some("a"), Some("b")]));
    let keys = arrow_array::Int8Array::from(vec![Some(1), None, Some(3), Some(2), Some(4)]);
    let array = DictionaryArray::<Int8Type>::new(keys, Arc::clone(&words));
    check(&one(array.clone()), Kind::Category, &["b", "-", "a", "-", "b"]);
    // Slices share their values, other batches bring their own.
    let other = DictionaryArray::<Int8Type>::from_iter([Some("c"), Some("b")]);
    let slices: [ArrayRef; 3] = [Arc::new(array.slice(2, 2)), Arc::new(array.slice(0, 1)), Arc::new(other)];
    check(&slices, Kind::Category, &["a", "-", "b", "c", "b"]);
    let numbers: ArrayRef = Arc::new(Int64Array::from(vec![40, 30, 20]));
    let keys = arrow_array::UInt32Array::from(vec![2, 2, 0]);
    check(&one(DictionaryArray::<UInt32Type>::new(keys, numbers)), Kind::Integer, &["20", "20", "40"]);
    let nothing = DictionaryArray::<Int8Type>::new(
        arrow_array::Int8Array::from(vec![None, None]),
        Arc::new(StringArray::from(Vec::<&str>::new())),
    );
    check(&one(nothing), Kind::Category, &["-", "-"]);
}

#[test]
fn batches_agree_on_what_a_column_is() {
    let number: ArrayRef = Arc::new(Int64Array::from(vec![1]));
    let short: ArrayRef = Arc::new(Int16Array::from(vec![2]));
    let nothing: ArrayRef = Arc::new(NullArray::new(1));
    let word: ArrayRef = Arc::new(StringArray::from(vec!["1"]));
    check(&[Arc::clone(&number), short, Arc::clone(&nothing)], Kind::Integer, &["1", "2", "-"]);
    let late = texts(&[nothing, Arc::clone(&number)], &ColumnRequest::named("a")).unwrap();
    assert_eq!((late.0, late.1), (Kind::Integer, vec!["-".to_owned(), "1".to_owned()]));
    assert_eq!(refused(&[number, word]), "column `a` is integer in one batch and category in another");
}

#[test]
fn a_kind_that_is_asked_for_is_read_from_the_text_of_values() {
    let numbers = one(Int64Array::from(vec![10, 9]));
    let asked = |kind| texts(&numbers, &ColumnRequest::of_kind("a", kind)).map(|(kind, _, domain)| (kind, domain));
    assert_eq!(asked(Kind::Category).unwrap(), (Kind::Category, vec!["10".to_owned(), "9".to_owned()]));
    assert_eq!(asked(Kind::Date).unwrap_err().to_string(), "`10` in column `a` is not a date (YYYY-MM-DD)");
    let request = ColumnRequest { order: vec!["10".into()], ..ColumnRequest::of_kind("a", Kind::Ordinal) };
    assert_eq!(texts(&numbers, &request).unwrap_err().to_string(), "`9` in column `a` is not in its order");
}

#[test]
fn types_that_nobody_decided_about_are_refused_by_name() {
    assert_eq!(refused(&one(Time64NanosecondArray::from(vec![0]))), "column `a` has the type Time64(ns)");
    assert_eq!(refused(&one(TimestampSecondArray::from(vec![i64::MAX]))), "column `a` has the type Timestamp(s)");
    assert_eq!(refused(&one(Date64Array::from(vec![1]))), "column `a` has the type Date64");
    let decimal = |number, scale| {
        let array = Decimal128Array::from(vec![number]).with_precision_and_scale(38, scale).unwrap();
        refused(&one(array))
    };
    assert_eq!(decimal(i128::from(i64::MAX) + 1, 0), "column `a` has the type Decimal128(38, 0)");
    assert_eq!(
        decimal(12_345_678_901_234_567_891, 3),
        "column `a` of type Decimal128(38, 3) has numbers with more digits than a real keeps"
    );
    assert_eq!(
        refused(&one(TimestampNanosecondArray::from(vec![1]))),
        "column `a` of type Timestamp(ns) has moments finer than a microsecond"
    );
    assert_eq!(
        refused(&one(TimestampMicrosecondArray::from(vec![i64::MAX]))),
        "`microsecond 9223372036854775807` in column `a` is not a datetime (YYYY-MM-DDTHH:MM:SS)"
    );
    assert_eq!(refused(&one(UInt64Array::from(vec![u64::MAX]))), "column `a` has the type UInt64");
    let inner = DictionaryArray::<Int8Type>::from_iter([Some("x")]);
    let nested = DictionaryArray::<Int8Type>::new(arrow_array::Int8Array::from(vec![0]), Arc::new(inner));
    assert!(refused(&one(nested)).starts_with("column `a` has the type Dictionary(Int8, "));
    // A column that nobody asks for may be anything.
    let schema = Schema::new(vec![Field::new("at", DataType::Binary, true), Field::new("n", DataType::Int64, true)]);
    assert!(TableReader::new(&schema, &[ColumnRequest::named("n")]).is_ok());
    assert!(TableReader::new(&schema, &[ColumnRequest::named("at")]).is_err());
}

#[test]
fn columns_are_there_once_and_in_every_batch() {
    let schema = |names: &[&str]| {
        Schema::new(names.iter().map(|&name| Field::new(name, DataType::Int64, true)).collect::<Vec<_>>())
    };
    let none: [Result<RecordBatch, ArrowError>; 0] = [];
    let fails = |schema: &Schema, wanted: &str, batches: Vec<Result<RecordBatch, ArrowError>>| {
        read(schema, batches, &[ColumnRequest::named(wanted)], &no_progress).unwrap_err().to_string()
    };
    assert_eq!(fails(&schema(&["a", "a"]), "a", vec![]), "the header names column `a` twice");
    assert_eq!(fails(&schema(&["a"]), "b", vec![]), "there is no column `b`; the columns are `a`");
    let number: ArrayRef = Arc::new(Int64Array::from(vec![1]));
    let other = RecordBatch::try_from_iter([("b", number)]);
    assert_eq!(fails(&schema(&["a"]), "a", vec![other]), "a batch has the columns b, the schema says a");
    let broken = Err(ArrowError::IoError("gone".into(), std::io::Error::other("gone")));
    assert!(fails(&schema(&["a"]), "a", vec![broken]).starts_with("cannot get the record batches: "));
    let empty = read(&schema(&["a"]), none, &[ColumnRequest::named("a")], &no_progress).unwrap_err();
    assert!(matches!(empty, ArrowTableError::Table(TableError::NoRows)), "{empty}");
    let wanted = [ColumnRequest::named("a")];
    let table = TableReader::new(&schema(&["a"]), &wanted).unwrap().finish(&no_progress).unwrap();
    assert_eq!((table.rows(), table.columns().len()), (0, 1));
}

/// A frame of all rows in one batch is read in stretches: progress is reported on the way, and the work can be stopped
/// there.
#[test]
fn a_long_batch_is_told_in_stretches_and_can_be_stopped() {
    struct Impatient(AtomicU64);
    impl Watch for Impatient {
        fn phase(&self, _: &'static str, _: Option<u64>, _: Counted) {}
        fn advance(&self, n: u64) {
            self.0.fetch_add(n, Ordering::Relaxed);
        }
        fn stopped(&self) -> bool {
            self.0.load(Ordering::Relaxed) > 100_000
        }
    }
    let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(0..300_000));
    let batch = RecordBatch::try_from_iter([("n", numbers)]).unwrap();
    let wanted = [ColumnRequest::named("n")];
    let told = AtomicU64::new(0);
    let progress = |n| {
        told.fetch_add(n, Ordering::Relaxed);
    };
    let table = read(&batch.schema(), [Ok(batch.clone())], &wanted, &progress).unwrap();
    assert_eq!((table.rows(), told.into_inner()), (300_000, 300_000));
    let watch = Impatient(AtomicU64::new(0));
    let watched: &dyn Watch = &watch;
    let reached = Cell::new(false);
    let ended = Stopped::catch(|| {
        let _ = read(&batch.schema(), [Ok(batch)], &wanted, &|n| watched.tell(n));
        reached.set(true);
    });
    assert_eq!((ended, reached.get()), (Err(Stopped), false));
    assert!(watch.0.into_inner() < 200_000);
}

const ORDER: [&str; 4] = ["none", "mild", "severe", "critical"];

fn value(kind: Kind) -> BoxedStrategy<Value> {
    let text = |text: &str| Value::Text(text.into());
    match kind {
        Kind::Integer => {
            prop_oneof![any::<i64>(), -3..300i64, 4_194_300..4_194_310i64].prop_map(Value::Integer).boxed()
        }
        Kind::Real => {
            let number = prop_oneof![any::<f64>(), -2.0..2.0f64];
            number.prop_filter("finite", |number| number.is_finite()).prop_map(|n| Value::Real(n + 0.0)).boxed()
        }
        // The years 1 to 9999.
        Kind::Date => (-719_162..2_932_897i32).prop_map(|day| Value::Date(Date(day))).boxed(),
        Kind::DateTime => {
            let moments = prop_oneof![DateTime::FIRST.0..=DateTime::LAST.0, -2_000_000..2_000_000i64];
            moments.prop_map(|moment| Value::DateTime(DateTime(moment))).boxed()
        }
        Kind::Ordinal => prop::sample::select(ORDER.to_vec()).prop_map(text).boxed(),
        Kind::Category => {
            let words = prop::sample::select(vec!["a", "b", " ", "é", "a,b\n", "0", "null"]);
            prop_oneof![words.prop_map(str::to_owned), any::<char>().prop_map(String::from)]
                .prop_map(move |word| text(&word))
                .boxed()
        }
    }
}

fn column(name: String, kind: Kind, rows: usize) -> impl Strategy<Value = Column> {
    prop::collection::vec(prop::option::weighted(0.8, value(kind)), rows).prop_map(move |values| {
        let rank = |value: &Option<Value>| {
            value.as_ref().and_then(|value| ORDER.iter().position(|known| *known == value.to_string())).unwrap_or(0)
        };
        let order: Vec<usize> = if kind == Kind::Ordinal { values.iter().map(rank).collect() } else { Vec::new() };
        let codes = Codes::collect(values.len(), 0..values.len() as u32);
        Column::from_entries(&name, kind, values, &order, vec![codes])
    })
}

/// A column of every kind, in some order.
fn tables() -> impl Strategy<Value = Table> {
    (1..120usize, Just(Kind::ALL.to_vec()).prop_shuffle()).prop_flat_map(|(rows, kinds)| {
        let columns: Vec<_> = kinds.into_iter().map(|kind| column(kind.to_string(), kind, rows).boxed()).collect();
        columns.prop_map(Table::new)
    })
}

fn requests(table: &Table) -> Vec<ColumnRequest> {
    let request = |column: &Column| {
        let kind = column.domain().kind();
        let order = if kind == Kind::Ordinal { ORDER.map(str::to_owned).to_vec() } else { Vec::new() };
        ColumnRequest { order, ..ColumnRequest::of_kind(column.name(), kind) }
    };
    table.columns().iter().map(request).collect()
}

proptest! {
    #![proptest_config(fixed(300))]

    #[test]
    fn a_table_that_goes_out_comes_in_again(table in tables()) {
        let out = batches(&table);
        prop_assert_eq!(out.schema(), schema(&table));
        let back = read(&out.schema(), out, &requests(&table), &no_progress).unwrap();
        prop_assert!(back == table);
    }

    /// However its rows are cut into batches.
    #[test]
    fn the_cuts_between_batches_do_not_matter(table in tables(), cuts in prop::collection::vec(0..120usize, 0..5)) {
        let mut ends: Vec<usize> = cuts.into_iter().map(|cut| cut.min(table.rows())).chain([0, table.rows()]).collect();
        ends.sort_unstable();
        let pieces = ends.windows(2).map(|ends| {
            let arrays = table.columns().iter().map(|column| array(column, ends[0]..ends[1])).collect();
            RecordBatch::try_new(schema(&table), arrays)
        });
        let back = read(&schema(&table), pieces, &requests(&table), &no_progress).unwrap();
        prop_assert!(back == table);
        for column in table.columns() {
            let field = field(column);
            prop_assert!(field.is_nullable() && field.name() == column.name());
        }
    }
}
