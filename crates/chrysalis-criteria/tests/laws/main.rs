//! What every principle must obey, run over all of them, and the papers' groups.
//!
//! One macro runs the same laws for each principle, so a new principle adds one line. The reference is the test kit's
//! oracle, which writes every definition down once more.

#![allow(clippy::unwrap_used, reason = "tests")]

mod papers_groups;

use std::cell::Cell;

use chrysalis_criteria::{All, Laws, Principle, PrincipleSpec, Rational, Weights};
use chrysalis_table::exact::BigRational;
use chrysalis_table::{Column, Kind, SaCounts};
use chrysalis_testkit::{SensitiveColumn, oracle, papers, strategies};
use proptest::prelude::*;
use proptest::test_runner::{TestCaseError, TestRunner};

/// A principle bound to a column, and two groups.
struct Case {
    column: SensitiveColumn,
    spec: PrincipleSpec,
    bound: Box<dyn Principle>,
    a: SaCounts,
    b: SaCounts,
    times: u32,
}

/// A law says whether a case was to the point; a broken law is an error.
type Law = fn(&Case) -> Result<bool, TestCaseError>;

/// Runs a law over random cases of one principle, and makes sure that enough of them were to the point.
fn check(name: &'static str, demanding: bool, law: Law) {
    let kinds = if name == "ke" { vec![Kind::Integer, Kind::Real] } else { Kind::ALL.to_vec() };
    let columns = strategies::sensitive_columns(prop::sample::select(kinds));
    let cases = columns.prop_flat_map(move |column| {
        let n = column.domain.len();
        let spec = if demanding { strategies::demanding(name) } else { strategies::principle(name) };
        (Just(column), spec, strategies::groups(n), strategies::groups(n), 2..6u32)
    });
    let to_the_point = Cell::new(0);
    let mut runner = TestRunner::new(strategies::fixed(400));
    let result = runner.run(&cases, |(column, spec, a, b, times)| {
        let bound = column.bind(&spec).map_err(|error| TestCaseError::fail(error.to_string()))?;
        let is_relevant = law(&Case { column, spec, bound, a, b, times })?;
        to_the_point.set(to_the_point.get() + u32::from(is_relevant));
        Ok(())
    });
    if let Err(error) = result {
        panic!("{name}: {error}");
    }
    assert!(to_the_point.get() >= 20, "{name}: only {} cases were to the point", to_the_point.get());
}

fn bind(text: &str, column: &SensitiveColumn) -> Box<dyn Principle> {
    column.bind(&text.parse().unwrap()).unwrap()
}

fn repeated(group: &SaCounts, times: u32) -> SaCounts {
    let mut all = SaCounts::new(group.domain_len());
    group.iter().for_each(|(code, count)| all.add_many(code, u32::try_from(count).unwrap() * times));
    all
}

mod laws {
    use super::*;

    pub(super) fn merging_two_passing_groups_passes(case: &Case) -> Result<bool, TestCaseError> {
        prop_assert!(case.bound.laws().monotone, "all principles of the design are monotone");
        let relevant =
            case.a.total() > 0 && case.b.total() > 0 && case.bound.holds(&case.a) && case.bound.holds(&case.b);
        prop_assert!(!relevant || case.bound.holds(&case.a.merged(&case.b)));
        Ok(relevant)
    }

    pub(super) fn repeating_every_row_changes_nothing(case: &Case) -> Result<bool, TestCaseError> {
        prop_assert!(case.bound.laws().scale_free);
        prop_assert_eq!(case.bound.holds(&case.a), case.bound.holds(&repeated(&case.a, case.times)));
        Ok(case.a.total() > 0)
    }

    pub(super) fn no_group_below_the_least_size_passes(case: &Case) -> Result<bool, TestCaseError> {
        let passes = case.a.total() > 0 && case.bound.holds(&case.a);
        prop_assert!(!passes || case.a.total() >= case.bound.least_size());
        prop_assert!(case.bound.least_size() >= 1);
        Ok(passes)
    }

    pub(super) fn where_size_is_all_it_decides(case: &Case) -> Result<bool, TestCaseError> {
        let is_enough = case.a.total() >= case.bound.least_size();
        prop_assert!(!case.bound.is_size_only() || case.bound.holds(&case.a) == is_enough);
        prop_assert_eq!(case.bound.is_size_only(), matches!(case.spec, PrincipleSpec::KAnonymity { .. }));
        Ok(true)
    }

    pub(super) fn weaker_parameters_pass_too(case: &Case) -> Result<bool, TestCaseError> {
        let passes = case.bound.holds(&case.a);
        for weaker in oracle::weaker(&case.spec) {
            let holds = case.column.bind(&weaker).unwrap().holds(&case.a);
            prop_assert!(!passes || holds, "{} holds, {weaker} does not", case.spec);
        }
        Ok(passes)
    }

    pub(super) fn the_definition_says_the_same(case: &Case) -> Result<bool, TestCaseError> {
        for group in [&case.a, &case.b, &case.a.merged(&case.b), &case.column.counts] {
            let expected = oracle::holds(&case.spec, &case.column, group);
            prop_assert!(group.total() == 0 || case.bound.holds(group) == expected, "{} for {group:?}", case.spec);
            prop_assert_eq!(All::of(vec![case.column.bind(&case.spec).unwrap()]).holds(group), expected);
        }
        Ok(case.a.total() > 0)
    }

    /// The parameter that a group just reaches is reached, and nothing beyond it.
    pub(super) fn the_line_is_decided_exactly(case: &Case) -> Result<bool, TestCaseError> {
        if case.a.total() == 0 {
            return Ok(false);
        }
        let lines = lines(case);
        for (spec, expected) in &lines {
            let bound = case.column.bind(spec).map_err(|error| TestCaseError::fail(error.to_string()))?;
            prop_assert_eq!(bound.holds(&case.a), *expected, "{} for {:?}", spec, case.a);
        }
        Ok(!lines.is_empty())
    }

    pub(super) fn it_reads_as_it_was_written(case: &Case) -> Result<bool, TestCaseError> {
        prop_assert_eq!(case.bound.to_string(), case.spec.to_string());
        prop_assert_eq!(&case.spec.to_string().parse::<PrincipleSpec>().unwrap(), &case.spec);
        Ok(true)
    }

    /// If the whole table fails, the variant that is proposed instead works.
    pub(super) fn the_limit_is_within_reach(case: &Case) -> Result<bool, TestCaseError> {
        let whole = &case.column.counts;
        if case.bound.holds(whole) {
            return Ok(false);
        }
        let limit = case.bound.limit(whole, Some(&case.column.sensitive()));
        prop_assert!(!limit.reason.is_empty());
        let Some(possible) = limit.possible else {
            // Then every variant that works promises nothing.
            prop_assert!(is_hopeless(case), "{} proposes nothing", case.spec);
            prop_assert!(!limit.instead.is_empty());
            return Ok(false);
        };
        let parsed = possible.parse::<PrincipleSpec>();
        prop_assert!(parsed.is_ok(), "{} proposes `{possible}`, which does not read", case.spec);
        let proposed = parsed.unwrap();
        prop_assert!(!proposed.promises_nothing(), "{} proposes {proposed}, which promises nothing", case.spec);
        prop_assert!(limit.instead.is_empty());
        prop_assert!(oracle::holds(&proposed, &case.column, whole), "{} proposes {proposed}, which fails", case.spec);
        prop_assert!(case.column.bind(&proposed).unwrap().holds(whole));
        Ok(true)
    }

    /// Parameters were lowered no further than necessary.
    pub(super) fn the_limit_is_the_strongest(case: &Case) -> Result<bool, TestCaseError> {
        let whole = &case.column.counts;
        let passes = |spec: &PrincipleSpec| oracle::holds(spec, &case.column, whole);
        if passes(&case.spec) {
            return Ok(false);
        }
        let limit = case.bound.limit(whole, Some(&case.column.sensitive()));
        let Some(possible) = limit.possible else { return Ok(false) };
        for stronger in one_step_stronger(&case.spec, &possible.parse().unwrap()) {
            prop_assert!(!passes(&stronger), "{} proposes {possible}, but {stronger} holds", case.spec);
        }
        Ok(true)
    }

    pub(super) fn the_whole_table_always_passes(case: &Case) -> Result<bool, TestCaseError> {
        prop_assert!(case.bound.holds(&case.column.counts));
        Ok(true)
    }
}

/// Whether no weaker parameters make the whole table pass and still promise something.
fn is_hopeless(case: &Case) -> bool {
    use PrincipleSpec::{
        AlphaK, DistinctL, DistinctLAlpha, EntropyL, EntropyLAlpha, FrequencyL, KAnonymity, Ke, OthersL, RecursiveCl,
        RecursiveLAlpha,
    };
    let (nothing, hundredth, much) = (Rational::from(0), Rational::new(1, 100), Rational::from(1_000_000));
    let weight = |l: u64| if l > 1 { nothing } else { hundredth };
    let weakest = match case.spec {
        KAnonymity { .. } => KAnonymity { k: 2 },
        DistinctL { .. } => DistinctL { l: 2 },
        FrequencyL { .. } => FrequencyL { l: Rational::from(2) },
        OthersL { .. } => OthersL { l: Rational::from(2) },
        EntropyL { .. } => EntropyL { l: Rational::new(101, 100) },
        RecursiveCl { l: 1, .. } => RecursiveCl { c: Rational::from(1), l: 1 },
        RecursiveCl { .. } => RecursiveCl { c: much, l: 2 },
        Ke { .. } => Ke { k: 2, e: nothing },
        // Rounded up to four digits.
        AlphaK { .. } => AlphaK { alpha: Rational::new(9_999, 10_000), k: 1 },
        DistinctLAlpha { l, .. } => DistinctLAlpha { l: l.min(2), alpha: weight(l) },
        EntropyLAlpha { l, .. } => EntropyLAlpha { l: l.min(2), alpha: weight(l) },
        RecursiveLAlpha { c, l: 1, .. } if c <= Rational::from(1) => {
            RecursiveLAlpha { c: Rational::from(1), l: 1, alpha: nothing }
        }
        RecursiveLAlpha { l, .. } => RecursiveLAlpha { c: much, l: l.min(2), alpha: weight(l) },
        _ => return false,
    };
    !oracle::holds(&weakest, &case.column, &case.column.counts)
}

/// The proposal, made one step stronger in each parameter that it lowered.
fn one_step_stronger(asked: &PrincipleSpec, proposed: &PrincipleSpec) -> Vec<PrincipleSpec> {
    use PrincipleSpec::{AlphaK, DistinctL, EntropyL, FrequencyL, KAnonymity, Ke, OthersL};
    let mut stronger = Vec::new();
    match (asked, proposed) {
        (_, &KAnonymity { k }) => stronger.push(KAnonymity { k: k + 1 }),
        (_, &DistinctL { l }) => stronger.push(DistinctL { l: l + 1 }),
        (_, &OthersL { l }) => stronger.push(OthersL { l: l + 1 }),
        (_, &FrequencyL { l }) => stronger.push(FrequencyL { l: l + 1 }),
        (_, &EntropyL { l }) => stronger.push(EntropyL { l: l + Rational::new(1, 100) }),
        (&Ke { k: asked_k, e: asked_e }, &Ke { k, e }) => {
            stronger.extend((k < asked_k).then_some(Ke { k: k + 1, e }));
            stronger.extend((e < asked_e).then_some(Ke { k, e: e + 1 }));
        }
        (&AlphaK { alpha: asked_alpha, k: asked_k }, &AlphaK { alpha, k }) => {
            stronger.extend((k < asked_k).then_some(AlphaK { alpha, k: k + 1 }));
            let less = alpha - Rational::new(1, 10_000).min(alpha);
            stronger.extend((alpha > asked_alpha).then_some(AlphaK { alpha: less, k }));
        }
        _ => {}
    }
    stronger
}

/// An exact number as a parameter, if it can be one.
fn parameter(number: &BigRational) -> Option<Rational> {
    let part = |number: &num_bigint::BigInt| u64::try_from(number).ok().filter(|&number| number < 1_000_000);
    Some(Rational::new(part(number.numer())?, part(number.denom())?))
}

/// Parameters on the very line that group `a` reaches (true) and a hair beyond it (false).
fn lines(case: &Case) -> Vec<(PrincipleSpec, bool)> {
    use PrincipleSpec::{
        AlphaK, Beta, DistinctL, DistinctLAlpha, EntropyLAlpha, FrequencyL, KAnonymity, Ke, RecursiveCl,
        RecursiveLAlpha, TCloseness,
    };
    let (column, group) = (&case.column, &case.a);
    let (n, distinct) = (group.total(), oracle::different(column, group));
    let most = || parameter(&oracle::largest_share(column, group)).unwrap();
    let hair = |number: Rational| Rational::new(1, 100 * number.denom());
    let mut lines = Vec::new();
    // Adds a spec with a parameter on the line, and one with a parameter beyond it.
    let mut add = |number: Rational, is_floor: bool, with: &dyn Fn(Rational) -> PrincipleSpec| {
        lines.push((with(number), true));
        if is_floor {
            lines.push((with(number + hair(number)), false));
        } else if number > Rational::from(0) {
            lines.push((with(number - hair(number)), false));
        }
    };
    let weight = || parameter(&oracle::weight(column, group));
    match case.spec {
        KAnonymity { .. } => return vec![(KAnonymity { k: n }, true), (KAnonymity { k: n + 1 }, false)],
        DistinctL { .. } => return vec![(DistinctL { l: distinct }, true), (DistinctL { l: distinct + 1 }, false)],
        FrequencyL { .. } => add(most().recip(), true, &|l| FrequencyL { l }),
        AlphaK { .. } => add(most(), false, &|alpha| AlphaK { alpha, k: n }),
        TCloseness { .. } => {
            let distance = parameter(&oracle::distance(column, group));
            distance.into_iter().for_each(|distance| add(distance, false, &|t| TCloseness { t }));
        }
        Ke { .. } => {
            let numbers = group.iter().filter_map(|(code, _)| column.domain.value(code)?.number());
            let exact = |number: Option<f64>| number.and_then(chrysalis_table::exact::from_float);
            let span = exact(numbers.clone().reduce(f64::max)).zip(exact(numbers.reduce(f64::min)));
            let span = span.and_then(|(high, low)| parameter(&(high - low)));
            span.into_iter().for_each(|span| add(span, true, &|e| Ke { k: 1, e }));
        }
        Beta { .. } => {
            let all = column.counts.total();
            let gain = |(code, count)| Rational::new(count * all, n * column.counts.count(code));
            let most = group.iter().map(gain).max().unwrap();
            if most >= Rational::from(1) {
                add(most - 1, false, &|beta| Beta { beta });
            }
        }
        RecursiveCl { l, .. } if oracle::readings(column, group).iter().all(|counts| l <= counts.len() as u64) => {
            let ratio = |counts: Vec<u64>| {
                let (first, tail) = oracle_head_and_tail(counts, l);
                Rational::new(first, tail)
            };
            // Strictly less: the line itself fails.
            let c = oracle::readings(column, group).into_iter().map(ratio).max().unwrap();
            return vec![(RecursiveCl { c, l }, false), (RecursiveCl { c: c + hair(c), l }, true)];
        }
        DistinctLAlpha { .. } => {
            weight().into_iter().for_each(|alpha| add(alpha, true, &|alpha| DistinctLAlpha { l: distinct, alpha }));
        }
        EntropyLAlpha { .. } => {
            weight().into_iter().for_each(|alpha| add(alpha, true, &|alpha| EntropyLAlpha { l: 1, alpha }));
        }
        RecursiveLAlpha { .. } => {
            let c = Rational::from(1) + Rational::new(1, 60);
            weight().into_iter().for_each(|alpha| add(alpha, true, &|alpha| RecursiveLAlpha { c, l: 1, alpha }));
        }
        _ => {}
    }
    lines
}

fn oracle_head_and_tail(mut counts: Vec<u64>, l: u64) -> (u64, u64) {
    counts.sort_unstable();
    counts.reverse();
    (counts[0], counts[usize::try_from(l).unwrap() - 1..].iter().sum())
}

/// One module per principle, one test per law.
macro_rules! obeys {
    ($($module:ident: $name:literal { $($law:ident $(($demanding:literal))?),* $(,)? })*) => { $(
        mod $module {
            $(#[test]
            fn $law() {
                #[allow(unused_mut, unused_assignments, reason = "most laws do not say")]
                let mut demanding = false;
                $(demanding = $demanding;)?
                super::check($name, demanding, super::laws::$law);
            })*
        }
    )* };
}

/// The laws of all principles, and the further ones of each.
macro_rules! conformance {
    ($($module:ident: $name:literal { $($further:tt)* })*) => { obeys! { $($module: $name {
        merging_two_passing_groups_passes,
        no_group_below_the_least_size_passes,
        where_size_is_all_it_decides,
        weaker_parameters_pass_too,
        the_definition_says_the_same,
        it_reads_as_it_was_written,
        $($further)*
    })* } };
}

conformance! {
    k_anonymity: "k" {
        the_line_is_decided_exactly, the_limit_is_within_reach(true), the_limit_is_the_strongest(true)
    }
    distinct_l: "distinct-l" {
        repeating_every_row_changes_nothing, the_line_is_decided_exactly,
        the_limit_is_within_reach(true), the_limit_is_the_strongest(true)
    }
    frequency_l: "l" {
        repeating_every_row_changes_nothing, the_line_is_decided_exactly,
        the_limit_is_within_reach(true), the_limit_is_the_strongest(true)
    }
    entropy_l: "entropy-l" {
        repeating_every_row_changes_nothing, the_limit_is_within_reach(true), the_limit_is_the_strongest(true)
    }
    recursive_cl: "recursive-l" {
        repeating_every_row_changes_nothing, the_line_is_decided_exactly, the_limit_is_within_reach(true)
    }
    others_l: "others-l" {
        repeating_every_row_changes_nothing, the_limit_is_within_reach(true), the_limit_is_the_strongest(true)
    }
    t_closeness: "t" {
        repeating_every_row_changes_nothing, the_line_is_decided_exactly, the_whole_table_always_passes
    }
    ke: "ke" {
        repeating_every_row_changes_nothing, the_line_is_decided_exactly,
        the_limit_is_within_reach(true), the_limit_is_the_strongest(true)
    }
    alpha_k: "alpha-k" {
        the_line_is_decided_exactly, the_limit_is_within_reach(true), the_limit_is_the_strongest(true)
    }
    distinct_l_alpha: "distinct-l-alpha" { the_line_is_decided_exactly, the_limit_is_within_reach(true) }
    entropy_l_alpha: "entropy-l-alpha" { the_line_is_decided_exactly, the_limit_is_within_reach(true) }
    recursive_l_alpha: "recursive-l-alpha" { the_line_is_decided_exactly, the_limit_is_within_reach(true) }
    beta_likeness: "beta" {
        repeating_every_row_changes_nothing, the_line_is_decided_exactly, the_whole_table_always_passes
    }
}

#[test]
fn every_principle_of_the_command_line_is_under_these_laws() {
    let here = include_str!("main.rs");
    for name in strategies::NAMES {
        assert!(here.contains(&format!(": \"{name}\" {{")), "{name}");
    }
}

mod not_scale_free {
    use super::*;

    /// The group fails, but the same group twice passes.
    fn check_counterexample(principle: &str, texts: &[&str]) {
        let column = lalpha_column();
        let bound = bind(principle, &column);
        let group = column.group(texts);
        assert_eq!(bound.laws(), Laws { monotone: true, scale_free: false }, "{principle}");
        assert!(!bound.holds(&group) && bound.holds(&repeated(&group, 2)), "{principle}");
    }

    #[test]
    fn k_anonymity_counts_rows() {
        check_counterexample("k=2", &["Flu"]);
    }

    #[test]
    fn alpha_k_counts_rows() {
        check_counterexample("alpha-k=0.5,3", &["Flu", "HIV"]);
    }

    #[test]
    fn distinct_l_alpha_sums_weights() {
        check_counterexample("distinct-l-alpha=2,2", &["Flu", "Asthma"]);
    }

    #[test]
    fn entropy_l_alpha_sums_weights() {
        check_counterexample("entropy-l-alpha=2,2", &["Flu", "Asthma"]);
    }

    #[test]
    fn recursive_l_alpha_sums_weights() {
        check_counterexample("recursive-l-alpha=2,2,2", &["Flu", "Asthma"]);
    }
}

mod all {
    use super::*;

    #[test]
    fn of_none_every_group_passes_but_an_empty_one() {
        let none = All::of(Vec::new());
        assert!(none.is_size_only() && none.least_size() == 1);
        assert!(none.holds(&SaCounts::of(1, [0])) && !none.holds(&SaCounts::new(1)));
    }

    #[test]
    fn of_several_the_strictest_law_of_each_counts() {
        let column = lalpha_column();
        let both = All::of(vec![bind("l=2", &column), bind("k=3", &column)]);
        assert_eq!(both.laws(), Laws { monotone: true, scale_free: false });
        assert_eq!((both.least_size(), both.is_size_only()), (3, false));
        assert_eq!(both.to_string(), "l=2 and k=3");
        let sizes = All::of(vec![bind("k=2", &column), bind("k=5", &column)]);
        assert_eq!((sizes.least_size(), sizes.is_size_only()), (5, true));
        let failing = both.first_failure(&column.group(&["Flu", "HIV"])).unwrap();
        assert_eq!(failing.to_string(), "k=3");
    }
}

mod exact {
    use super::*;

    /// Summed in floats, these even groups miss their own number.
    #[test]
    fn an_even_group_reaches_entropy_l_for_3_6_7_and_10() {
        for l in [3usize, 6, 7, 10] {
            let float: f64 = (0..l).map(|_| 1.0 / l as f64).map(|p| -p * p.ln()).sum();
            assert!(float < (l as f64).ln(), "the float would do for {l}");
            for each in [1, 2, 3, 7, 1000] {
                let numbers: Vec<i64> = (0..l as i64).collect();
                let column = SensitiveColumn::of(&Column::integers("s", &numbers));
                let group = repeated(&column.counts, each);
                assert!(bind(&format!("entropy-l={l}"), &column).holds(&group), "{l} values, {each} each");
                assert!(!bind(&format!("entropy-l={l}.000001"), &column).holds(&group), "{l} values, {each} each");
            }
        }
    }

    /// Shares of 1/2, 1/4 and 1/4 have entropy (3/2)·ln 2: l² = 8.
    #[test]
    fn an_uneven_group_on_the_line_is_decided_by_multiplying_out() {
        let column = SensitiveColumn::of(&Column::integers("s", &[1, 1, 1, 1, 2, 2, 3, 3]));
        assert!(bind("entropy-l=2.828427", &column).holds(&column.counts));
        assert!(!bind("entropy-l=2.828428", &column).holds(&column.counts));
        // 8, 4, 2, 1 and 1 of 16 rows have entropy (15/8)·ln 2: l⁸ = 2¹⁵, l = 3.66801617…
        let column = SensitiveColumn::of(&Column::integers("s", &[1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 4, 5]));
        assert!(bind("entropy-l=3.668016172", &column).holds(&column.counts));
        assert!(!bind("entropy-l=3.668016173", &column).holds(&column.counts));
    }

    /// Summed in this order, the floats give less than 2.
    #[test]
    fn asthma_hepatitis_obesity_phthisis_weigh_exactly_2() {
        let order = ["Asthma", "Hepatitis", "Obesity", "Phthisis"];
        let float: f64 = [2.0 / 3.0, 1.0 / 3.0, 2.0 / 3.0, 1.0 / 3.0].iter().sum();
        assert!(float < 2.0, "the float would do");
        let column = lalpha_column();
        for principle in ["distinct-l-alpha=4", "entropy-l-alpha=2", "recursive-l-alpha=2,2"] {
            let reaches = |alpha: &str| bind(&format!("{principle},{alpha}"), &column).holds(&column.group(&order));
            assert!(reaches("2") && !reaches("2.000000001"), "{principle}");
        }
    }

    #[test]
    fn thirds_and_sevenths_of_a_group_are_no_floats() {
        let column = SensitiveColumn::of(&Column::integers("s", &[1, 2, 3, 4, 5, 6, 7]));
        assert!(bind("l=7", &column).holds(&column.counts));
        assert!(bind("alpha-k=1/7,7", &column).holds(&column.counts));
        assert!(!bind("alpha-k=0.142857142,7", &column).holds(&column.counts));
        assert!(bind("beta=6", &column).holds(&column.group(&["3"])));
        assert!(!bind("beta=5.999999999", &column).holds(&column.group(&["3"])));
        // 0.3 − 0.1 is less than 0.2 in floats as they are read, and the span is that of the floats.
        let column = SensitiveColumn::of(&real_column(&["0.1", "0.3"]));
        assert_eq!(bind("ke=2,0.2", &column).holds(&column.counts), 0.3 - 0.1 >= 0.2);
    }

    #[test]
    fn large_counts_stay_exact() {
        let column = SensitiveColumn::of(&Column::integers("s", &[1, 2]));
        let mut group = SaCounts::new(2);
        group.add_many(0, 2_000_000_001);
        group.add_many(1, 2_000_000_000);
        assert!(bind("l=1.999999999", &column).holds(&group) && !bind("l=2", &column).holds(&group));
        assert!(!bind("entropy-l=2", &column).holds(&group) && bind("entropy-l=1.999999999", &column).holds(&group));
        assert!(bind("t=0.000000001", &column).holds(&group) && !bind("t=0", &column).holds(&group));
        assert!(bind("beta=0.000000001", &column).holds(&group) && !bind("beta=0", &column).holds(&group));
    }
}

mod t_closeness_by_hand {
    use super::*;

    /// The distance is exactly this much.
    fn check_distance(column: &SensitiveColumn, texts: &[&str], numerator: u64, denominator: u64) {
        let t = Rational::new(numerator, denominator);
        let beyond = t - Rational::new(1, 1_000_000);
        let group = column.group(texts);
        assert!(column.bind(&PrincipleSpec::TCloseness { t }).unwrap().holds(&group), "{texts:?} within {t}");
        assert!(!column.bind(&PrincipleSpec::TCloseness { t: beyond }).unwrap().holds(&group), "{texts:?} beyond {t}");
    }

    #[test]
    fn equal_distance_is_half_the_difference() {
        let column = SensitiveColumn::of(&Column::texts("s", ["a", "a", "b", "c"].into_iter()));
        check_distance(&column, &["a"], 1, 2);
        check_distance(&column, &["b"], 3, 4);
        check_distance(&column, &["a", "b"], 1, 4);
    }

    /// Li et al., section 4.3.
    #[test]
    fn ordered_distance_of_li_et_al() {
        let column = SensitiveColumn::of(&Column::integers("salary", &[3, 4, 5, 6, 7, 8, 9, 10, 11]));
        check_distance(&column, &["3", "4", "5"], 3, 8);
        check_distance(&column, &["6", "8", "11"], 1, 6);
    }

    /// lalpha's categories as a tree of height 2: Cancer for HIV costs 1/2, Flu for HIV costs 1.
    #[test]
    fn hierarchical_distance_pays_by_the_height_of_the_common_node() {
        let column = lalpha_column();
        let taxonomy = papers::taxonomy("lalpha/disease.taxonomy.csv");
        let column = SensitiveColumn::new("disease", column.domain, column.counts, Some(taxonomy), None);
        // The table: 2 HIV, 2 Cancer, 1 each of the four in the middle, 3 Flu, 1 Indigestion, out of 12.
        // All on HIV: 2 stay, 2 come from Cancer at 1/2, 8 from elsewhere at 1.
        check_distance(&column, &["HIV"], 9, 12);
        // Half HIV, half Flu (6 each of 12): HIV takes 2 from Cancer at 1/2 and 2 others, Flu 1 at 1/2 and 2 others.
        check_distance(&column, &["HIV", "Flu"], 11, 24);
    }
}

/// The diseases of lalpha, Table 1, in the categories of Table 4 with uniform weights.
fn lalpha_column() -> SensitiveColumn {
    let table = papers::table("lalpha/table-1.csv");
    SensitiveColumn::of(table.column("disease").unwrap()).with_categories(papers::lalpha_categories(), Weights::Uniform)
}

fn real_column(texts: &[&str]) -> Column {
    let mut csv = String::from("s,x\n");
    texts.iter().for_each(|text| csv.push_str(&format!("{text},0\n")));
    let reader = chrysalis_table::CsvReader::open(csv.as_bytes(), &chrysalis_table::CsvOptions::default()).unwrap();
    let table = reader.read(&[chrysalis_table::ColumnRequest::of_kind("s", Kind::Real)]).unwrap();
    table.columns()[0].clone()
}
