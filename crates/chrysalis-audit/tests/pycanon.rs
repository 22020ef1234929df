//! Levels of Adult as pycanon 1.3.6 gives them, typed in from its output.
//!
//! Recursive c is the exception: pycanon sorts counts the wrong way round, so there the numbers follow from the
//! definition, worked out independently of this crate.

mod common;

use chrysalis_audit::profile;

struct Case {
    quasi: &'static str,
    sensitive: &'static str,
    /// Groups, k, distinct l, entropy l.
    whole: (u64, u64, u64, u64),
    recursive_c: Option<u64>,
    alpha: f64,
    t: f64,
    beta: f64,
    delta: f64,
    entropy: f64,
}

#[test]
fn levels_of_adult_are_those_of_pycanon() {
    let Some(table) = common::table("adult_train_complete.csv.gz") else { return };
    for case in CASES {
        let quasi: Vec<&str> = case.quasi.split(',').collect();
        let levels = profile(&table, &quasi, Some(case.sensitive), None).unwrap();
        let sensitive = levels.sensitive.unwrap();
        let place = format!("{} | {}", case.quasi, case.sensitive);
        let whole = (levels.groups, levels.k, sensitive.distinct_l, sensitive.entropy_l);
        assert_eq!(whole, case.whole, "{place}");
        assert_eq!(sensitive.recursive_c, case.recursive_c, "{place}");
        let close = |name: &str, found: f64, expected: f64| {
            assert!((found - expected).abs() <= 1e-11 * expected.abs().max(1.0), "{place}: {name} {found} {expected}");
        };
        close("alpha", sensitive.alpha, case.alpha);
        close("t", sensitive.t, case.t);
        close("beta", sensitive.beta, case.beta);
        close("delta", sensitive.delta, case.delta);
        close("entropy", sensitive.entropy, case.entropy);
    }
}

const CASES: &[Case] = &[
    Case {
        quasi: "age,sex",
        sensitive: "occupation",
        whole: (142, 1, 1, 1),
        recursive_c: None,
        alpha: 1.0,
        t: 0.881174988395995,
        beta: 89.39560439560438,
        delta: 4.504195642273519,
        entropy: 1.0,
    },
    Case {
        quasi: "sex,race",
        sensitive: "hours_per_week",
        whole: (10, 87, 21, 6),
        recursive_c: Some(57),
        alpha: 0.6057827926657263,
        t: 0.046313803618905525,
        beta: 23.76354679802956,
        delta: 3.209372684650788,
        entropy: 6.450412258404141,
    },
    Case {
        quasi: "education,sex",
        sensitive: "occupation",
        whole: (32, 14, 5, 1),
        recursive_c: Some(48),
        alpha: 0.8197802197802198,
        t: 0.7073990925194427,
        beta: 52.95706618962433,
        delta: 3.988188659765531,
        entropy: 1.9669770881248776,
    },
    Case {
        quasi: "marital_status,sex",
        sensitive: "age",
        whole: (14, 9, 6, 5),
        recursive_c: Some(4),
        alpha: 0.3333333333333333,
        t: 0.30612297230953267,
        beta: 84.56595744680851,
        delta: 4.91893638303293,
        entropy: 5.349418023423783,
    },
    Case {
        quasi: "relationship",
        sensitive: "education_num",
        whole: (6, 889, 16, 6),
        recursive_c: Some(614),
        alpha: 0.3982002249718785,
        t: 0.09057712772973202,
        beta: 3.5944178852643427,
        delta: 2.0709261763945706,
        entropy: 6.309500962420677,
    },
    Case {
        quasi: "workclass,sex",
        sensitive: "occupation",
        whole: (14, 5, 3, 2),
        recursive_c: Some(3),
        alpha: 0.4587378640776699,
        t: 0.7786618924474505,
        beta: 46.57413249211357,
        delta: 3.8909199905237175,
        entropy: 2.8717458874925876,
    },
    Case {
        quasi: "race,income",
        sensitive: "occupation",
        whole: (10, 21, 8, 5),
        recursive_c: Some(9),
        alpha: 0.38095238095238093,
        t: 0.3542394877187,
        beta: 12.298941798941799,
        delta: 3.4789032984373733,
        entropy: 5.843556099799547,
    },
    Case {
        quasi: "sex,native_country",
        sensitive: "income",
        whole: (81, 1, 1, 1),
        recursive_c: None,
        alpha: 1.0,
        t: 0.28048927945954594,
        beta: 1.12681375160613,
        delta: 2.768269348145441,
        entropy: 1.0,
    },
    Case {
        quasi: "relationship,race",
        sensitive: "education",
        whole: (30, 11, 4, 2),
        recursive_c: Some(9),
        alpha: 0.7272727272727273,
        t: 0.5209203633711292,
        beta: 12.775747887645583,
        delta: 2.6229096466791773,
        entropy: 2.4243759512390586,
    },
    Case {
        quasi: "sex,race",
        sensitive: "occupation",
        whole: (10, 87, 10, 7),
        recursive_c: Some(11),
        alpha: 0.2789115646258503,
        t: 0.3249624441807344,
        beta: 17.722532588454378,
        delta: 3.132721992807618,
        entropy: 7.555587500157372,
    },
    Case {
        quasi: "race,income",
        sensitive: "hours_per_week",
        whole: (10, 21, 10, 6),
        recursive_c: Some(16),
        alpha: 0.5781313749490004,
        t: 0.05225820012605573,
        beta: 29.405241935483875,
        delta: 3.4146150256357575,
        entropy: 6.014343818071097,
    },
    Case {
        quasi: "relationship",
        sensitive: "income",
        whole: (6, 889, 2, 1),
        recursive_c: Some(69),
        alpha: 0.9856695029108822,
        t: 0.24467637677357823,
        beta: 0.9829420453176166,
        delta: 2.8547516138262004,
        entropy: 1.0779547732085444,
    },
    Case {
        quasi: "sex,race",
        sensitive: "capital_gain",
        whole: (10, 87, 3, 1),
        recursive_c: Some(85),
        alpha: 0.9655172413793104,
        t: 0.031246994689234222,
        beta: 34.23598130841121,
        delta: 3.5620677567788883,
        entropy: 1.1876109546236373,
    },
    Case {
        quasi: "education_num,income",
        sensitive: "marital_status",
        whole: (31, 6, 1, 1),
        recursive_c: None,
        alpha: 1.0,
        t: 0.5336847689145283,
        beta: 4.90716803760282,
        delta: 2.4723580837019465,
        entropy: 1.0,
    },
];
