//! All methods, partitioners and principles, each with a short description.
//!
//! Help texts, documentation and pages are generated from this, requests are checked against it, and the code behind a
//! name is found through it.

use chrysalis_publish::method::{Anatomy, Angel, Butterfly, Fallback, Generalize, Method, Permute, RankSwap, Shuffle};
use chrysalis_release::{Detail, Form, Needs};
use chrysalis_table::Knob;

use crate::partitioner::{self, Choice};
use crate::{Error, Recipe, ReleaseDraft};

/// A way to show groups.
pub struct MethodEntry {
    /// The form that it produces.
    pub form: Form,
    /// What it does, in one or more lines.
    pub about: &'static str,
    /// The default partitioner; none for methods that form their own groups or need no groups.
    pub partitioner: Option<&'static str>,
    /// Knobs that no other method has.
    pub knobs: &'static [Knob],
    /// The partitioners that a comparison without listed runs tries with it; `None` leaves the choice to the method.
    pub tried_with: &'static [Option<&'static str>],
    pub(crate) make: fn(&Recipe) -> Box<dyn Method>,
}

impl MethodEntry {
    /// Whether it shows only sensitive columns that hold numbers.
    pub fn needs_numbers(&self) -> bool {
        matches!(self.form.shape().needs, Needs::Numbers)
    }

    /// Whether its output depends on the taxonomies of quasi columns.
    pub fn looks_at_taxonomies(&self) -> bool {
        matches!(self.form.shape().detail, Detail::GroupBoxes | Detail::RowBoxes)
    }
}

/// The method if none is named.
pub const DEFAULT_METHOD: Form = Form::Generalize;

/// All methods, in the order of [`Form::ALL`].
pub static METHODS: &[MethodEntry] = &[
    MethodEntry {
        form: Form::Generalize,
        about: "ranges and labels in place of quasi values",
        partitioner: Some("compact"),
        knobs: &[],
        tried_with: &[Some("compact"), Some("mondrian"), Some("transparent")],
        make: |_| Box::new(Generalize),
    },
    MethodEntry {
        form: Form::Anatomy,
        about: "exact quasi values in one table, each group's sensitive values in another",
        partitioner: Some("nearby"),
        knobs: &[],
        tried_with: &[Some("nearby"), Some("transparent")],
        make: |_| Box::new(Anatomy),
    },
    MethodEntry {
        form: Form::Permute,
        about: "every quasi column permuted on its own inside its group",
        partitioner: Some("nearby"),
        knobs: &[],
        tried_with: &[Some("nearby")],
        make: |_| Box::new(Permute),
    },
    MethodEntry {
        form: Form::Shuffle,
        about: "exact quasi values, a numeric sensitive column permuted inside its group, and bounds",
        partitioner: Some("min-sum"),
        knobs: &[],
        tried_with: &[Some("min-sum")],
        make: |_| Box::new(Shuffle),
    },
    MethodEntry {
        form: Form::Angel,
        about: "batches of sensitive values, and tables of quasi values generalized on their own: one\n\
                for all of them and one per marginal. `k=` is required of the generalized rows,\n\
                everything else of batches. Without `k=`, at least ten rows look alike, or fewer\n\
                where plain generalization under the other principles keeps more",
        partitioner: Some("nearby"),
        knobs: &[Knob::Marginal, Knob::BucketColumn],
        tried_with: &[Some("nearby")],
        make: |recipe| Box::new(angel(recipe)),
    },
    MethodEntry {
        form: Form::Butterfly,
        about: "ranges and labels for several users, each of whom knows some quasi columns: columns\nthat several \
                users know are generalized together, columns of one user on their own.\nEvery principle holds for \
                every user (or for several users who collude)",
        partitioner: None,
        knobs: &[Knob::Collude],
        tried_with: &[None],
        make: |recipe| match &recipe.users {
            Some(users) => {
                Box::new(Butterfly { quasi_identifiers: users.clone(), hierarchy: recipe.partitioner.hierarchy() })
            }
            // PROOF: a recipe for a form with users has them.
            None => Box::new(Generalize),
        },
    },
    MethodEntry {
        form: Form::RankSwap,
        about: "sensitive values exchanged with close ones; promises nothing; for comparisons only",
        partitioner: None,
        knobs: &[],
        tried_with: &[],
        make: |_| Box::new(RankSwap),
    },
    #[cfg(feature = "toy-form")]
    MethodEntry {
        form: Form::Toy,
        about: "a form for one test",
        partitioner: Some("nearby"),
        knobs: &[],
        tried_with: &[],
        make: |_| Box::new(chrysalis_publish::method::Toy),
    },
];

fn angel(recipe: &Recipe) -> Angel {
    let is_given = !recipe.bucket_columns.is_empty() || recipe.partitioner.group_column().is_some();
    Angel {
        k: recipe.bucket_size.unwrap_or(1),
        marginals: recipe.marginals.clone(),
        bucket_columns: recipe.bucket_columns.clone(),
        // Other partitioners are for comparison: the paper's method is just mondrian, twice.
        for_reconstruction: recipe.partitioner == Choice::Nearby,
        fallback: match recipe.is_bucket_size_asked {
            // Batches or buckets that the owner brings are used as they are.
            _ if is_given => Fallback::Never,
            true => Fallback::KeepingK,
            false => Fallback::PrinciplesAlone,
        },
    }
}

/// A way to form groups.
pub struct PartitionerEntry {
    /// The name that users write.
    pub name: &'static str,
    /// What it does, in a line.
    pub about: &'static str,
    /// Knobs that no other partitioner has.
    pub knobs: &'static [Knob],
    /// Whether it serves only forms with users: it finds butterflies and nothing else.
    pub is_for_users: bool,
    /// Whether it looks at the taxonomies of quasi columns.
    pub looks_at_taxonomies: bool,
    /// Whether it supports only principles that ask for minimum numbers: ke, k and distinct-l.
    pub is_for_minima: bool,
    pub(crate) make: fn(&ReleaseDraft) -> Result<Choice, Error>,
}

/// A partitioner without knobs, for any principle.
const fn plain(
    name: &'static str,
    about: &'static str,
    make: fn(&ReleaseDraft) -> Result<Choice, Error>,
) -> PartitionerEntry {
    PartitionerEntry {
        name,
        about,
        knobs: &[],
        is_for_users: false,
        looks_at_taxonomies: false,
        is_for_minima: false,
        make,
    }
}

/// The same for one that groups people whom taxonomies consider similar.
const fn with_taxonomies(
    name: &'static str,
    about: &'static str,
    make: fn(&ReleaseDraft) -> Result<Choice, Error>,
) -> PartitionerEntry {
    PartitionerEntry { looks_at_taxonomies: true, ..plain(name, about, make) }
}

/// All partitioners.
pub static PARTITIONERS: &[PartitionerEntry] = &[
    with_taxonomies("compact", "least loss: cuts or labels, then local search", |_| Ok(Choice::Compact)),
    PartitionerEntry {
        knobs: &[Knob::Relaxed],
        ..with_taxonomies("mondrian", "cuts the table in two, again and again", |draft| {
            Ok(Choice::Mondrian { relaxed: draft.relaxed.unwrap_or(false) })
        })
    },
    PartitionerEntry {
        knobs: &[Knob::Metric, Knob::Levels, Knob::Suppress, Knob::TimeLimit],
        ..with_taxonomies("full-domain", "one taxonomy level per column, proven best", partitioner::full_domain)
    },
    with_taxonomies("top-down", "starts fully generalized and refines level by level (useful with taxonomies)", |_| {
        Ok(Choice::TopDown)
    }),
    PartitionerEntry {
        knobs: &[Knob::Transparent],
        ..with_taxonomies(
            "transparent",
            "cuts and deals so that the choice of groups says nothing about anybody",
            |_| Ok(Choice::Transparent),
        )
    },
    PartitionerEntry {
        knobs: &[Knob::GroupColumn],
        ..plain("column", "groups given in a column of the input", partitioner::column)
    },
    plain("anatomize", "random groups of different values: from a paper, for comparison", |_| Ok(Choice::Anatomize)),
    with_taxonomies("similar", "split by loss, then dealt out: from a paper, for comparison", |_| Ok(Choice::Similar)),
    with_taxonomies("nearby", "groups of people who lie close together", |_| Ok(Choice::Nearby)),
    PartitionerEntry {
        is_for_minima: true,
        ..plain("min-sum", "sorted values, least sum of ranges", |_| Ok(Choice::MIN_SUM))
    },
    PartitionerEntry {
        is_for_minima: true,
        ..plain("min-max", "sorted values, largest range at most twice the optimum", |_| Ok(Choice::MIN_MAX))
    },
    PartitionerEntry {
        is_for_minima: true,
        ..plain("min-max-exact", "the largest range is as small as possible; groups may overlap", |_| {
            Ok(Choice::MIN_MAX_EXACT)
        })
    },
    PartitionerEntry {
        is_for_minima: true,
        ..plain("max-groups", "sorted values, as many groups as there can be", |_| Ok(Choice::MAX_GROUPS))
    },
    plain("sequential", "groups in the order of the input: from a paper, for comparison", |_| Ok(Choice::Sequential)),
    PartitionerEntry {
        is_for_users: true,
        ..plain("body-first", "cuts what several users know, then chooses butterflies", |_| Ok(Choice::BODY_FIRST))
    },
    PartitionerEntry {
        is_for_users: true,
        ..plain("union", "cuts everything that anybody knows, then chooses butterflies", |_| Ok(Choice::UNION))
    },
];

/// A condition on the groups.
pub struct PrincipleEntry {
    /// An example, as users write it.
    pub example: &'static str,
    /// What the example asks for.
    pub about: &'static str,
}

const fn principle(example: &'static str, about: &'static str) -> PrincipleEntry {
    PrincipleEntry { example, about }
}

/// All principles.
pub static PRINCIPLES: &[PrincipleEntry] = &[
    principle("k=10", "every group has at least 10 rows"),
    principle("distinct-l=4", "at least 4 distinct sensitive values"),
    principle("l=4", "no sensitive value in more than 1/4 of a group"),
    principle(
        "others-l=4",
        "the same for all values but ordinary ones (what l=4 means where ordinary values are named)",
    ),
    principle("entropy-l=4", "as diverse as 4 equally frequent values"),
    principle("recursive-l=3,4", "r1 < 3·(r4 + r5 + …), counts in descending order"),
    principle("t=0.2", "distribution within 0.2 of the whole table's (earth mover's distance)"),
    principle("ke=4,100", "at least 4 distinct numbers that span at least 100"),
    principle("alpha-k=0.5,10", "at least 10 rows, no value in more than half of them"),
    principle("beta=1", "no value more than (1+1) times as frequent as in the whole table"),
    principle("distinct-l-alpha=3,1", "at least 3 distinct values, total weight at least 1 (needs categories)"),
    principle(
        "entropy-l-alpha=2,2",
        "2 distinct values, total weight at least 2, and categories as diverse as 2 equal ones",
    ),
    principle(
        "recursive-l-alpha=3,4,2",
        "4 distinct values, total weight at least 2, and r1 < 3·(r4 + …) over categories",
    ),
    principle(
        "m=4",
        "m-invariance: everybody's group shows the same 4 or more values, all equally often, in every release of a series",
    ),
    principle("k-map=5", "at least 5 people of the population table under every group's labels (methods with labels)"),
    principle(
        "delta-presence=0.1,0.5",
        "10 to 50 % of the people of the population table under every group's labels are in the data (full-domain)",
    ),
    #[cfg(feature = "toy-principle")]
    principle("toy=2", "at least 2 distinct sensitive values: a principle for one test"),
];

/// The method that makes a form.
pub fn method(form: Form) -> &'static MethodEntry {
    // PROOF: a test compares this list with that of the forms.
    &METHODS[form.place()]
}

/// The partitioner of that name.
pub fn partitioner(name: &str) -> Option<&'static PartitionerEntry> {
    PARTITIONERS.iter().find(|entry| entry.name == name)
}

/// `a, b or c`.
pub(crate) fn one_of<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.collect();
    match names.as_slice() {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use chrysalis_criteria::PrincipleSpec;

    use super::*;

    #[test]
    fn every_form_has_one_entry_and_every_partitioner_one_name() {
        for &form in Form::ALL {
            assert_eq!(method(form).form, form);
            let named = method(form).partitioner.into_iter().chain(method(form).tried_with.iter().copied().flatten());
            named.for_each(|name| assert!(super::partitioner(name).is_some(), "{form} by {name}"));
        }
        assert_eq!(METHODS.len(), Form::ALL.len());
        for entry in PARTITIONERS {
            assert_eq!(PARTITIONERS.iter().filter(|other| other.name == entry.name).count(), 1, "{}", entry.name);
            assert!(chrysalis_audit::knows_partitioner(entry.name), "the audit takes `{}` for a lie", entry.name);
        }
    }

    #[test]
    fn every_example_of_a_principle_is_one() {
        for entry in PRINCIPLES {
            assert_eq!(entry.example.parse::<PrincipleSpec>().unwrap().to_string(), entry.example);
        }
    }
}
