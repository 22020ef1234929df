//! The partitioner of a recipe.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use chrysalis_criteria::Rational;
use chrysalis_publish::Partitioner;
use chrysalis_publish::partitioner::{
    Anatomize, ByColumn, BySensitive, Compact, FullDomain, Hierarchy, Like, Metric, Mondrian, Nearby, Nobody,
    Sequential, Similar, Stop, TopDown, Transparent,
};
use chrysalis_table::{Knob, Remedy, Role};

use crate::{Error, ReleaseDraft, values};

/// The default limit on the time of a search: nobody lives to see the end of a lattice of many columns.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// A partitioner with its knobs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    Compact,
    TopDown,
    Mondrian {
        relaxed: bool,
    },
    FullDomain {
        metric: Metric,
        suppress: Rational,
        levels: BTreeMap<String, usize>,
        time_limit: Duration,
    },
    Column(String),
    Anatomize,
    Similar,
    Nearby,
    Sorted(BySensitive),
    Sequential,
    Transparent,
    /// The groups of an earlier release.
    Like,
    /// A single hierarchy of butterflies.
    Butterflies(Hierarchy),
    /// The method forms the groups, or needs none.
    Nobody,
}

impl Choice {
    pub(crate) const MIN_SUM: Choice = Choice::Sorted(BySensitive::MinSum);
    pub(crate) const MIN_MAX: Choice = Choice::Sorted(BySensitive::MinMax);
    pub(crate) const MIN_MAX_EXACT: Choice = Choice::Sorted(BySensitive::MinMaxExact);
    pub(crate) const MAX_GROUPS: Choice = Choice::Sorted(BySensitive::MaxGroups);
    pub(crate) const BODY_FIRST: Choice = Choice::Butterflies(Hierarchy::BodyFirst);
    pub(crate) const UNION: Choice = Choice::Butterflies(Hierarchy::Union);

    pub(crate) fn build(&self) -> Box<dyn Partitioner> {
        match self {
            Choice::Compact => Box::new(Compact),
            Choice::TopDown => Box::new(TopDown),
            Choice::Mondrian { relaxed } => Box::new(Mondrian { relaxed: *relaxed }),
            Choice::FullDomain { metric, suppress, levels, time_limit } => {
                let (started, limit) = (Instant::now(), *time_limit);
                let stop = Stop::when(move || started.elapsed() >= limit);
                let levels = levels.iter().map(|(name, level)| (name.clone(), *level)).collect();
                Box::new(FullDomain { metric: *metric, suppress: *suppress, levels, stop })
            }
            Choice::Column(column) => Box::new(ByColumn { column: column.clone() }),
            Choice::Anatomize => Box::new(Anatomize),
            Choice::Similar => Box::new(Similar::default()),
            Choice::Nearby => Box::new(Nearby),
            Choice::Sorted(objective) => Box::new(*objective),
            Choice::Sequential => Box::new(Sequential),
            Choice::Transparent => Box::new(Transparent),
            Choice::Like => Box::new(Like::default()),
            Choice::Butterflies(_) | Choice::Nobody => Box::new(Nobody),
        }
    }

    /// The hierarchy of butterflies that was chosen, if one was.
    pub(crate) fn hierarchy(&self) -> Option<Hierarchy> {
        if let Choice::Butterflies(hierarchy) = self { Some(*hierarchy) } else { None }
    }

    /// The column that holds the groups, if there is one.
    pub(crate) fn group_column(&self) -> Option<&String> {
        if let Choice::Column(column) = self { Some(column) } else { None }
    }

    /// Refuses levels of columns that have none, and a time limit where there is nothing to look for.
    pub(crate) fn check_levels(&self, draft: &ReleaseDraft, roles: &[(String, Role)]) -> Result<(), Error> {
        let Choice::FullDomain { levels, .. } = self else { return Ok(()) };
        let quasi: Vec<&String> =
            roles.iter().filter(|(_, role)| *role == Role::QuasiIdentifier).map(|(name, _)| name).collect();
        if let Some(name) = levels.keys().find(|name| !quasi.contains(name)) {
            let message = format!("`{name}` is not a quasi column, so it has no level to fix");
            let remedy = Remedy::from("name quasi columns in ").knob(Knob::Levels, "");
            return Err(Error::request(message, remedy));
        }
        if draft.levels.as_ref().is_some_and(BTreeMap::is_empty) {
            let message = "no level is fixed";
            return Err(Error::request(message, Remedy::from("leave ").knob(Knob::Levels, "").words(" out")));
        }
        if levels.len() == quasi.len() && draft.time_limit.is_some() {
            let message = "all levels are fixed, so there is no search that a time limit could stop";
            return Err(Error::request(message, Remedy::from("leave ").knob(Knob::TimeLimit, "").words(" out")));
        }
        Ok(())
    }

    /// Whether rows may be shown fully generalized because their own groups failed.
    pub(crate) fn may_suppress(&self) -> bool {
        matches!(self, Choice::FullDomain { suppress, .. } if *suppress > Rational::from_integer(0))
    }
}

pub(crate) fn column(draft: &ReleaseDraft) -> Result<Choice, Error> {
    draft.group_column.clone().map(Choice::Column).ok_or_else(|| {
        let remedy = Remedy::from("name it with ").knob(Knob::GroupColumn, "");
        Error::request("the partitioner `column` needs a column that holds the groups", remedy)
    })
}

pub(crate) fn full_domain(draft: &ReleaseDraft) -> Result<Choice, Error> {
    let wrong =
        |knob: Knob| move |problem: String| Error::request(format!("{knob}: {problem}"), Remedy::from("see ").manual());
    let share = draft.suppress.as_ref().map(|number| values::share(&number.text()).map_err(wrong(Knob::Suppress)));
    let metric = draft.metric.as_ref().map(|name| values::metric(name).map_err(wrong(Knob::Metric)));
    let limit = draft.time_limit.as_ref().map(|number| values::seconds(&number.text()).map_err(wrong(Knob::TimeLimit)));
    Ok(Choice::FullDomain {
        metric: metric.transpose()?.unwrap_or_default(),
        suppress: share.transpose()?.unwrap_or_else(|| Rational::from_integer(0)),
        levels: draft.levels.clone().unwrap_or_default(),
        time_limit: limit.transpose()?.unwrap_or(TIME_LIMIT),
    })
}
