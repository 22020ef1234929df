use std::fmt;

use serde::{Deserialize, Serialize};

use crate::layout::{Detail, Needs, Shape, Values};
use crate::{BATCH_ID, GROUP_ID};

/// How a release shows the groups of a table: a closed set.
// This file is the only place where a form's name appears as text, and the only one that says what each form looks
// like. Everything that reads releases works from the [`Shape`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// Ranges and labels in place of quasi values.
    Generalize,
    /// Exact quasi values in one table, each group's sensitive values in another.
    Anatomy,
    /// Every quasi column permuted on its own inside its group (pa).
    Permute,
    /// Exact quasi values, a numeric sensitive column permuted inside its group, and a table of bounds (ke).
    Shuffle,
    /// Sensitive values per batch in one table, generalized quasi values per bucket in others (angel).
    Angel,
    /// Ranges and labels for several users, each of whom knows one quasi-identifier (butterfly).
    Butterfly,
    /// Exact quasi values, sensitive values exchanged with close ones: ke's baseline, which promises nothing.
    RankSwap,
    /// What a form takes at least, for the test that keeps CONTRIBUTING.md true.
    #[cfg(feature = "toy-form")]
    Toy,
}

impl Form {
    /// All forms, in the order in which they are listed to users.
    pub const ALL: &'static [Form] = &[
        Form::Generalize,
        Form::Anatomy,
        Form::Permute,
        Form::Shuffle,
        Form::Angel,
        Form::Butterfly,
        Form::RankSwap,
        #[cfg(feature = "toy-form")]
        Form::Toy,
    ];

    /// Its name, as it is written everywhere.
    pub fn name(self) -> &'static str {
        match self {
            Form::Generalize => "generalize",
            Form::Anatomy => "anatomy",
            Form::Permute => "permute",
            Form::Shuffle => "shuffle",
            Form::Angel => "angel",
            Form::Butterfly => "butterfly",
            Form::RankSwap => "rank-swap",
            #[cfg(feature = "toy-form")]
            Form::Toy => "toy",
        }
    }

    /// The form of that name.
    pub fn named(name: &str) -> Option<Form> {
        Form::ALL.iter().copied().find(|form| form.name() == name)
    }

    /// Its place in [`Form::ALL`], for lists with an entry per form.
    pub fn place(self) -> usize {
        self as usize
    }

    /// What it looks like.
    pub fn shape(self) -> Shape {
        match self {
            Form::Generalize => Shape { may_follow: true, ..GENERALIZED },
            Form::Anatomy => Shape {
                people: "qit",
                values: Values::Counted("st"),
                needs: Needs::Sensitive,
                may_follow: true,
                ..PLAIN
            },
            Form::Permute => Shape {
                people: "pqt",
                detail: Detail::Permuted,
                values: Values::Counted("pst"),
                keeps_others: false,
                may_follow: true,
                ..PLAIN
            },
            Form::Shuffle => Shape { people: "permuted", help: Some("help"), needs: Needs::Numbers, ..PLAIN },
            Form::Angel => Shape {
                people: "gt",
                marginals: Some("gt_"),
                detail: Detail::RowBoxes,
                values: Values::Counted("bt"),
                needs: Needs::Sensitive,
                group_id: Some(BATCH_ID),
                group_word: "batch",
                ..GENERALIZED
            },
            Form::Butterfly => Shape { has_users: true, ..GENERALIZED },
            Form::RankSwap => Shape {
                people: "swapped",
                values: Values::Swapped,
                needs: Needs::Sensitive,
                group_id: None,
                may_promise: false,
                ..PLAIN
            },
            #[cfg(feature = "toy-form")]
            Form::Toy => {
                Shape { people: "toy", values: Values::Counted("toy_values"), needs: Needs::Sensitive, ..PLAIN }
            }
        }
    }
}

/// Rows as they are, each beside a sensitive value of its group.
const PLAIN: Shape = Shape {
    people: "",
    marginals: None,
    members: None,
    help: None,
    detail: Detail::Exact,
    values: Values::Beside,
    needs: Needs::Nothing,
    group_id: Some(GROUP_ID),
    group_word: "group",
    has_id_first: false,
    keeps_others: true,
    has_users: false,
    may_promise: true,
    may_follow: false,
};

/// Ranges and labels, and a table that says what labels stand for.
const GENERALIZED: Shape =
    Shape { people: "generalized", members: Some("members"), detail: Detail::GroupBoxes, has_id_first: true, ..PLAIN };

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_reads_back_by_its_name() {
        for &form in Form::ALL {
            assert_eq!(Form::named(form.name()), Some(form));
            assert_eq!(Form::ALL[form.place()], form);
            assert_eq!(serde_json::to_value(form).unwrap(), form.name());
        }
        assert_eq!(Form::named("moth"), None);
    }
}
