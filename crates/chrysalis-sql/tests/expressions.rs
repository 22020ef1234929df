//! Expressions: which are refused, in what order rows come, and what is compared with what.

#![allow(clippy::unwrap_used, reason = "tests")]

use chrysalis_publish::method::Anatomy;
use chrysalis_publish::{AttributeSpec, Job, Microdata, Partition};
use chrysalis_query::{Answer, OpenRelease, QueryError};
use chrysalis_sql::ask;
use chrysalis_table::{ColumnRequest, CsvOptions, CsvReader, Kind, Role, Unwatched};
use rand::SeedableRng;
use rand::rngs::ChaCha20Rng;

/// Two groups of four: a grade in declared order, a day, a city, hours and pay.
fn release() -> OpenRelease {
    let text = "grade,day,city,hours,pay\n\
                low,2020-01-01,Bonn,1,10\nmid,2020-01-02,Kiel,2,20\nhigh,2020-01-03,Bonn,3,30\nlow,2020-01-04,Ulm,4,40\n\
                high,2020-01-01,Kiel,5,10\nmid,2020-01-02,Ulm,6,50\nlow,2020-01-05,Bonn,7,60\nmid,2020-01-05,Kiel,8,70\n";
    let kinds = [Kind::Ordinal, Kind::Date, Kind::Category, Kind::Integer, Kind::Integer];
    let names = ["grade", "day", "city", "hours", "pay"];
    let wanted: Vec<ColumnRequest> = names
        .iter()
        .zip(kinds)
        .map(|(name, kind)| ColumnRequest {
            order: if kind == Kind::Ordinal { ["low", "mid", "high"].map(str::to_owned).to_vec() } else { Vec::new() },
            ..ColumnRequest::of_kind(*name, kind)
        })
        .collect();
    let table = CsvReader::open(text.as_bytes(), &CsvOptions::default()).unwrap().read(&wanted).unwrap();
    let role = |name: &str| if name == "pay" { Role::Sensitive } else { Role::QuasiIdentifier };
    let attributes: Vec<AttributeSpec> = names.iter().map(|name| AttributeSpec::new(*name, role(name))).collect();
    let data = Microdata::new(table, &attributes).unwrap();
    let partition = Partition::new((0..8).collect(), &[4, 4]);
    let mut rng = ChaCha20Rng::seed_from_u64(3);
    let release = Job::new(&data, &[], &partition, &mut rng, &Unwatched).run(&Anatomy).unwrap().release;
    OpenRelease::new(&release).unwrap()
}

fn keys(answer: &Answer) -> Vec<String> {
    answer.rows.iter().map(|row| row.group[0].as_ref().unwrap().to_string()).collect()
}

#[test]
fn words_of_an_ordinal_are_ordered_as_declared() {
    let release = release();
    let asked = |order: &str| {
        let sql = format!("SELECT grade, COUNT(*) FROM microdata GROUP BY grade ORDER BY grade{order}");
        keys(&ask(&release, &sql).unwrap())
    };
    assert_eq!(asked(""), ["low", "mid", "high"]);
    assert_eq!(asked(" DESC"), ["high", "mid", "low"]);
}

#[test]
fn having_compares_days_with_texts() {
    let release = release();
    let sql = "SELECT day, COUNT(*) FROM microdata GROUP BY day HAVING day > '2020-01-03'";
    assert_eq!(keys(&ask(&release, sql).unwrap()), ["2020-01-04", "2020-01-05"]);
    let error = ask(&release, &sql.replace("2020-01-03", "soon")).unwrap_err();
    assert!(error.to_string().contains("'soon' is not a value of `day`"), "{error}");
}

#[test]
fn what_is_added_up_in_two_ways_is_refused() {
    let release = release();
    for (sql, problem) in [
        (
            "SELECT SUM(CASE WHEN hours > 3 THEN hours * pay ELSE 1 END) FROM microdata",
            "adds up products of two columns and other numbers",
        ),
        (
            "SELECT COUNT(DISTINCT CASE WHEN hours > 3 THEN city ELSE 'x' END) FROM microdata",
            "tells apart values of several columns",
        ),
    ] {
        let error = ask(&release, sql).unwrap_err();
        assert!(matches!(error, QueryError::Unanswerable { .. }), "{error}");
        assert!(error.to_string().contains(problem), "{error}");
    }
}
