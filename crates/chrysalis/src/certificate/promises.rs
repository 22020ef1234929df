//! Promises in plain words.

use chrysalis_criteria::{PopulationSpec, PrincipleSpec, Rational};
use chrysalis_release::{Detail, Manifest, Promise, RoleName, Scope, Unit};

/// What a promise means for somebody who does not know its name.
pub(super) fn plain(promise: &Promise, manifest: &Manifest) -> String {
    let group = match promise.scope() {
        Scope::Group => "group",
        Scope::Batch => "batch of sensitive values",
        Scope::Bucket => "set of rows that look the same in one table",
        Scope::User => "set of rows that look the same to a user",
    };
    let rows = match promise.unit() {
        Unit::Rows => "rows",
        Unit::Persons => "persons",
    };
    let only = manifest.with_role(RoleName::Sensitive).next().map(|it| it.name.as_str());
    let column = format!("`{}`", promise.about().or(only).unwrap_or("sensitive value"));
    let least_weight = |alpha: &Rational| {
        format!("and their weights, by how sensitive they are, add up to at least {}", decimal(alpha))
    };
    match promise.principle() {
        PrincipleSpec::KAnonymity { k } => {
            let is_alike = manifest.method.shape().detail == Detail::GroupBoxes
                && promise.scope() == Scope::Group
                && manifest.with_role(RoleName::Other).next().is_none();
            let meaning = if is_alike {
                " They look the same, so whoever knows what attackers may know cannot tell which of them is a person's."
            } else {
                ""
            };
            format!("Every {group} has at least {k} {rows}.{meaning}")
        }
        PrincipleSpec::FrequencyL { l } => format!(
            "No value of {column} has more than {} of the {rows} of any {group}: whoever finds a person's {group} and \
             bets on its most frequent value is right with a chance of at most {}.",
            one_over(l),
            percent_of(&l.recip()),
        ),
        PrincipleSpec::OthersL { l } => format!(
            "No value of {column}, except those that the owner calls ordinary, has more than {} of the {rows} of any \
             {group}.",
            one_over(l),
        ),
        PrincipleSpec::DistinctL { l } => format!(
            "Every {group} has at least {l} different values of {column}. How frequent each of them is, this does not say."
        ),
        PrincipleSpec::MInvariance { m } => format!(
            "Every {group} shows at least {m} different values of {column}, all equally often, some of which nobody may have; \
             and a person's {group} shows the same ones in every release of the series. Only with the other releases can \
             this be checked."
        ),
        PrincipleSpec::EntropyL { l } => format!(
            "The values of {column} in every {group} are spread at least as evenly as {} equally frequent ones (measured \
             by entropy).",
            decimal(l)
        ),
        PrincipleSpec::RecursiveCl { c, l } => format!(
            "In every {group}, the most frequent value of {column} is less than {} times as frequent as all values \
             together from the one in place {l} on.",
            decimal(c)
        ),
        PrincipleSpec::TCloseness { t } => format!(
            "The distribution of {column} in every {group} is at most {} away from that of the whole table (earth mover's \
             distance, from 0 for the same to 1).",
            decimal(t)
        ),
        PrincipleSpec::Ke { k, e } => format!(
            "Every {group} has at least {k} different values of {column}, and the largest and the smallest of them are at \
             least {} apart.",
            decimal(e)
        ),
        PrincipleSpec::AlphaK { alpha, k } => format!(
            "Every {group} has at least {k} {rows}, and no value of {column} has more than {} of them.",
            percent_of(alpha)
        ),
        PrincipleSpec::Beta { beta } => format!(
            "No value of {column} is more than {} times as frequent in any {group} as in the whole table.",
            decimal(&(beta + Rational::from_integer(1)))
        ),
        PrincipleSpec::OfPopulation(PopulationSpec::KMap { k }) => format!(
            "At least {k} people of the population are under the labels of every {group}. This can be checked only with the \
             table of the population."
        ),
        PrincipleSpec::OfPopulation(PopulationSpec::DeltaPresence { low, high }) => format!(
            "Of the people of the population under the labels of every {group}, at least {} and at most {} are in the data. \
             This can be checked only with the table of the population.",
            percent_of(low),
            percent_of(high)
        ),
        PrincipleSpec::DistinctLAlpha { l, alpha } => {
            format!("Every {group} has at least {l} different values of {column}, {}.", least_weight(alpha))
        }
        PrincipleSpec::EntropyLAlpha { l, alpha } => format!(
            "Every {group} has at least {l} different values of {column}, {}; its categories are spread at least as evenly \
             as {l} equally frequent ones.",
            least_weight(alpha)
        ),
        PrincipleSpec::RecursiveLAlpha { c, l, alpha } => format!(
            "Every {group} has at least {l} different values of {column}, {}; its most frequent category is less than {} \
             times as frequent as all together from the one in place {l} on.",
            least_weight(alpha),
            decimal(c)
        ),
        #[cfg(feature = "toy-principle")]
        PrincipleSpec::Toy { n } => format!("Every {group} has at least {n} different values of {column}."),
    }
}

/// `1/4`, or `2/7` for one over 3.5.
fn one_over(number: &Rational) -> String {
    let share = number.recip();
    format!("{}/{}", share.numer(), share.denom())
}

fn as_float(number: &Rational) -> f64 {
    *number.numer() as f64 / *number.denom() as f64
}

fn decimal(number: &Rational) -> String {
    let text = format!("{:.4}", as_float(number));
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn percent_of(share: &Rational) -> String {
    let text = format!("{:.2}", 100.0 * as_float(share));
    format!("{} %", text.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_for_people() {
        assert_eq!(one_over(&Rational::from_integer(4)), "1/4");
        assert_eq!(one_over(&Rational::new(7, 2)), "2/7");
        assert_eq!(
            (decimal(&Rational::new(1, 5)), decimal(&Rational::from_integer(100))),
            ("0.2".into(), "100".into())
        );
        assert_eq!(
            (percent_of(&Rational::new(1, 4)), percent_of(&Rational::new(1, 3))),
            ("25 %".into(), "33.33 %".into())
        );
    }
}
