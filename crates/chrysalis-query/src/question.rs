//! A question as it was written, before it is bound to a release.

use std::fmt;

use crate::Position;

/// `SELECT aggregate, … FROM microdata [WHERE condition] [GROUP BY column, …]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// What is asked for, in the order of the SELECT list.
    pub aggregates: Vec<Aggregate>,
    /// The WHERE clause.
    pub condition: Option<Condition>,
    /// The GROUP BY clause.
    pub group_by: Vec<ColumnName>,
}

/// A function of a column, or of the rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Aggregate {
    /// The alias, or the text in lower case: `avg(salary)`, `count(*)`.
    pub name: String,
    /// Whether `name` was given with AS.
    pub has_alias: bool,
    /// The function.
    pub function: Function,
    /// Its column; `None` is the star of `COUNT(*)`.
    pub column: Option<ColumnName>,
    /// Where it stands in the text.
    pub at: Option<Position>,
}

/// The aggregate functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// `COUNT`.
    Count,
    /// `SUM`.
    Sum,
    /// `AVG`.
    Avg,
    /// `MIN`.
    Min,
    /// `MAX`.
    Max,
    /// `COUNT(DISTINCT …)`.
    CountDistinct,
    /// `PERCENTILE_CONT(share) WITHIN GROUP (ORDER BY …)`, and `MEDIAN` for a share of a half.
    Quantile,
    /// `VAR_POP`.
    VarPop,
    /// `VAR_SAMP`, also called `VARIANCE`.
    VarSamp,
    /// `STDDEV_POP`.
    StddevPop,
    /// `STDDEV_SAMP`, also called `STDDEV`.
    StddevSamp,
    /// `TOY`: it exists for one test.
    #[cfg(feature = "toy-function")]
    Toy,
}

impl Function {
    /// All of them.
    pub const ALL: &[Function] = &[
        Function::Count,
        Function::Sum,
        Function::Avg,
        Function::Min,
        Function::Max,
        Function::CountDistinct,
        Function::Quantile,
        Function::VarPop,
        Function::VarSamp,
        Function::StddevPop,
        Function::StddevSamp,
        #[cfg(feature = "toy-function")]
        Function::Toy,
    ];

    /// In lower case, as SQL writes it.
    pub fn name(self) -> &'static str {
        match self {
            Function::Count => "count",
            Function::Sum => "sum",
            Function::Avg => "avg",
            Function::Min => "min",
            Function::Max => "max",
            Function::CountDistinct => "count distinct",
            Function::Quantile => "percentile_cont",
            Function::VarPop => "var_pop",
            Function::VarSamp => "var_samp",
            Function::StddevPop => "stddev_pop",
            Function::StddevSamp => "stddev_samp",
            #[cfg(feature = "toy-function")]
            Function::Toy => "toy",
        }
    }

    /// How its numbers are computed, for people who want to know.
    pub fn way(self) -> &'static str {
        match self {
            Function::Count => {
                "estimate Σ hits·c/n for c of a group's n values that count; bounds Σ max(0, hits + c − n) and Σ min(hits, c), \
                 with the least and the most hits."
            }
            Function::Sum => {
                "estimate Σ hits·mean; bounds from the smallest and the largest values of every group, as many as can be hit."
            }
            Function::Avg => {
                "estimate the ratio of the estimated sum and count; bounds are the extreme averages over all choices of \
                 values that can be hit."
            }
            Function::Min => {
                "estimate the expected minimum; it cannot lie below the least value that can be hit, nor above what some \
                 group's certain hits must reach."
            }
            Function::Max => {
                "estimate the expected maximum; it cannot lie above the greatest value that can be hit, nor below what some \
                 group's certain hits must reach."
            }
            Function::CountDistinct => {
                "estimate the expected number of distinct values that are hit; at least those that some group cannot \
                 avoid, at most all that can be hit."
            }
            Function::Quantile => {
                "estimate the quantile of all values, each as often as it is expected to be hit; bounds are the \
                 outermost values at which the counts below and above still allow it."
            }
            Function::VarPop | Function::VarSamp | Function::StddevPop | Function::StddevSamp => {
                "estimate from the expected mean and mean square; bounds from the extreme averages of squared distances \
                 to every mean that is possible."
            }
            #[cfg(feature = "toy-function")]
            Function::Toy => "the maximum by another name.",
        }
    }

    /// Whether a plan answers it; the others need an inquiry, which lists the values that may be hit.
    pub fn is_plain(self) -> bool {
        match self {
            Function::Count | Function::Sum | Function::Avg | Function::Min | Function::Max => true,
            Function::CountDistinct | Function::Quantile => false,
            Function::VarPop | Function::VarSamp | Function::StddevPop | Function::StddevSamp => false,
            #[cfg(feature = "toy-function")]
            Function::Toy => true,
        }
    }

    /// Whether `chrysalis-sql` can express a plan's aggregate in SQL. Of the others it writes what it can from the values
    /// that may be hit.
    pub fn is_rewritten(self) -> bool {
        match self {
            Function::Count | Function::Sum | Function::Avg | Function::Min | Function::Max => true,
            Function::CountDistinct | Function::Quantile => false,
            Function::VarPop | Function::VarSamp | Function::StddevPop | Function::StddevSamp => false,
            #[cfg(feature = "toy-function")]
            Function::Toy => false,
        }
    }
}

impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A column's name as it was written.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnName {
    /// Without quotes.
    pub text: String,
    /// A quoted name must match exactly; others may differ in case.
    pub is_quoted: bool,
    /// Where it stands in the text.
    pub at: Option<Position>,
}

/// A condition on the columns of a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// A test of one column against constants.
    Test(Test),
    /// All hold.
    All(Vec<Condition>),
    /// At least one holds.
    Any(Vec<Condition>),
    /// The inner condition does not hold.
    Not(Box<Condition>),
}

/// A test of one column against constants. A negated predicate (`NOT IN`) is a [`Condition::Not`] around it.
#[derive(Clone, Debug, PartialEq)]
pub struct Test {
    /// The column.
    pub column: ColumnName,
    /// What is asked of it.
    pub predicate: Predicate,
    /// Where the deciding constant stands in the text, for messages.
    pub at: Option<Position>,
}

/// What is asked of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Predicate {
    /// `column <comparison> constant`.
    Compare(Comparison, Constant),
    /// `BETWEEN low AND high`, both ends included.
    Between(Constant, Constant),
    /// `IN (…)`.
    In(Vec<Constant>),
    /// `LIKE pattern [ESCAPE character]`: `%` is any text, `_` any character.
    Like {
        /// The pattern; `None` is NULL.
        pattern: Option<String>,
        /// The character that makes a following `%` or `_` stand for itself.
        escape: Option<char>,
    },
    /// `IS NULL`.
    IsNull,
}

/// How two values are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `=`
    Equal,
    /// `<>`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

impl Comparison {
    /// The same with its sides exchanged.
    pub fn mirrored(self) -> Self {
        match self {
            Comparison::Less => Comparison::Greater,
            Comparison::LessOrEqual => Comparison::GreaterOrEqual,
            Comparison::Greater => Comparison::Less,
            Comparison::GreaterOrEqual => Comparison::LessOrEqual,
            same => same,
        }
    }
}

/// A literal.
#[derive(Clone, Debug, PartialEq)]
pub enum Constant {
    /// `NULL`, which nothing equals.
    Null,
    /// A whole number.
    Integer(i128),
    /// A number with a point or an exponent, or an integer too large for `Integer`; finite.
    Real(f64),
    /// Text in single quotes, also in `DATE '…'`.
    Text(String),
    /// `TRUE` or `FALSE`.
    Boolean(bool),
}

impl fmt::Display for Constant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Constant::Null => f.write_str("NULL"),
            Constant::Integer(number) => write!(f, "{number}"),
            Constant::Real(number) => write!(f, "{number}"),
            // Text from a hostile question may be very long.
            Constant::Text(text) => write!(f, "'{}'", text.chars().take(40).collect::<String>()),
            Constant::Boolean(truth) => write!(f, "{truth}"),
        }
    }
}
