//! The questions of the benchmark, over the columns of CENSUS.

/// A question to rewrite, and how many times the raw question's time it may take.
pub(super) struct Question {
    pub(super) name: &'static str,
    select: &'static str,
    group_by: &'static str,
    pub(super) limit: Option<f64>,
}

const WHERE: &str = "age BETWEEN 30 AND 50 AND education >= 9 AND marital_status IN (1, 2, 3)";
const REWRITTEN: Option<f64> = Some(1.5);

/// The questions to the shuffled release.
pub(super) const SHUFFLE: [Question; 6] = [
    Question { name: "COUNT", select: "COUNT(*)", group_by: "", limit: REWRITTEN },
    Question { name: "SUM", select: "SUM(salary_class)", group_by: "", limit: REWRITTEN },
    Question { name: "AVG", select: "AVG(salary_class)", group_by: "", limit: REWRITTEN },
    Question { name: "COUNT, SUM, AVG", select: THREE, group_by: "", limit: REWRITTEN },
    Question {
        name: "SUM by gender",
        select: "gender, SUM(salary_class)",
        group_by: " GROUP BY gender",
        limit: REWRITTEN,
    },
    Question { name: "MIN", select: "MIN(salary_class)", group_by: "", limit: REWRITTEN },
];

/// The questions to the anatomized release. Sums have no limit: counting the hits of 198,419 groups takes DuckDB twice
/// as long as the raw question.
pub(super) const ANATOMY: [Question; 2] = [
    Question { name: "COUNT", select: "COUNT(*)", group_by: "", limit: REWRITTEN },
    Question { name: "SUM", select: "SUM(salary_class)", group_by: "", limit: None },
];

const THREE: &str = "COUNT(*), SUM(salary_class), AVG(salary_class)";

/// The questions asked by a whole process.
pub(super) const PROCESS: [Question; 2] = [
    Question { name: "COUNT", select: "COUNT(*)", group_by: "", limit: Some(1.0) },
    Question { name: "COUNT, SUM, AVG", select: THREE, group_by: "", limit: Some(1.0) },
];

impl Question {
    /// The question in SQL, over a table or an expression that stands for one.
    pub(super) fn over(&self, table: &str) -> String {
        format!("SELECT {} FROM {table} WHERE {WHERE}{}", self.select, self.group_by)
    }
}

/// The columns with conditions, and their least and greatest values.
const COLUMNS: [(&str, u64, u64); 7] = [
    ("age", 16, 93),
    ("gender", 1, 2),
    ("education", 1, 17),
    ("marital_status", 1, 6),
    ("race", 1, 9),
    ("work_class", 2, 10),
    ("country", 1, 83),
];

/// Questions with three or four conditions, each a range; the same questions every time.
pub(super) fn many(n: usize, table: &str) -> Vec<String> {
    let mut numbers = Numbers(0);
    (0..n).map(|at| one(&mut numbers, at, table)).collect()
}

fn one(numbers: &mut Numbers, at: usize, table: &str) -> String {
    let select = ["COUNT(*)", "SUM(salary_class)", "AVG(salary_class)"][at % 3];
    let n_conditions = 3 + numbers.below(2);
    let mut columns = COLUMNS.to_vec();
    let mut condition = || {
        let place = usize::try_from(numbers.below(columns.len() as u64)).unwrap_or(0);
        let (column, least, greatest) = columns.remove(place);
        let (a, b) = (least + numbers.below(greatest - least + 1), least + numbers.below(greatest - least + 1));
        format!("{column} BETWEEN {} AND {}", a.min(b), a.max(b))
    };
    let conditions: Vec<String> = (0..n_conditions).map(|_| condition()).collect();
    format!("SELECT {select} FROM {table} WHERE {}", conditions.join(" AND "))
}

/// SplitMix64: the questions need not be unpredictable, so no dependency is needed.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_splitmix64() {
        assert_eq!(Numbers(0).next(), 0xe220_a839_7b1d_cdaf);
    }

    #[test]
    fn questions_stay_the_same_and_have_three_or_four_ranges() {
        let questions = many(300, "microdata");
        assert_eq!(questions, many(300, "microdata"));
        for question in &questions {
            let n = question.matches(" BETWEEN ").count();
            assert!((3..=4).contains(&n), "{question}");
            let columns = COLUMNS.iter().filter(|(column, ..)| question.contains(&format!(" {column} BETWEEN")));
            assert_eq!(columns.count(), n, "a column twice: {question}");
        }
        assert!(["COUNT", "SUM", "AVG"].iter().all(|name| questions.iter().any(|question| question.contains(name))));
    }

    #[test]
    fn a_question_is_asked_over_any_table() {
        let text = SHUFFLE[4].over("raw");
        assert_eq!(text, format!("SELECT gender, SUM(salary_class) FROM raw WHERE {WHERE} GROUP BY gender"));
    }
}
