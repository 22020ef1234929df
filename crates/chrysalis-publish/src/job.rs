//! What a method is asked to do, and the groups that it asks for in turn.

use chrysalis_criteria::{All, HeldPrinciples, PopulationGoal, Principle, PrincipleSpec, Requirement};
use chrysalis_release::{Detail, Form, GROUPS, PERSONS, Promise, Scope, Values};
use chrysalis_table::{Counted, Knob, Progress, Remedy, SaCounts, Value, Watch};
use rand::CryptoRng;

use crate::method::{Method, Outcome, PersonsFacts, together};
use crate::microdata::{Persons, UnitClass};
use crate::partitioner::{KeptLabels, populated, population_holds_at_levels};
use crate::series::{self, Past, SeriesGroups};
use crate::{Disclosure, Microdata, Partition, Partitioner, PublishError, SensitiveColumn};

/// A table to publish, and everything a method may ask for on the way.
///
/// A method asks for groups ([`Job::group`]), or forms its own and has them checked ([`Job::check`], [`Job::promise`]).
/// Either way, a release promises only what the job has checked.
pub struct Job<'a> {
    data: &'a Microdata,
    require: &'a [Requirement],
    partitioner: &'a dyn Partitioner,
    rng: &'a mut dyn CryptoRng,
    watch: &'a dyn Watch,
    /// What was published before, for a release of a series.
    past: Option<&'a Past>,
    /// The groups that were seen to keep everybody's signature.
    keeping: Option<SeriesGroups>,
}

/// Groups in which principles hold: every group was checked.
#[derive(Clone, Debug)]
pub struct Grouping {
    partition: Partition,
    partitioner: String,
    promises: Vec<Promise>,
    series: Option<SeriesGroups>,
}

impl Grouping {
    /// The groups.
    pub fn partition(&self) -> &Partition {
        &self.partition
    }

    /// The name of the partitioner that formed them.
    pub fn partitioner(&self) -> &str {
        &self.partitioner
    }

    /// What holds in each of them.
    pub fn promises(&self) -> &[Promise] {
        &self.promises
    }

    /// What is shown of them, where they keep signatures.
    pub(crate) fn series(&self) -> Option<&SeriesGroups> {
        self.series.as_ref()
    }

    /// The groups alone, without their promises.
    pub fn into_partition(self) -> Partition {
        self.partition
    }
}

impl<'a> Job<'a> {
    /// A job. `require` is what the owner wants to hold in every group.
    pub fn new(
        data: &'a Microdata,
        require: &'a [Requirement],
        partitioner: &'a dyn Partitioner,
        rng: &'a mut dyn CryptoRng,
        watch: &'a dyn Watch,
    ) -> Self {
        Job { data, require, partitioner, rng, watch, past: None, keeping: None }
    }

    /// The same job for a release of a series.
    #[must_use]
    pub fn after(mut self, past: &'a Past) -> Self {
        self.past = Some(past);
        self
    }

    /// Publishes the table. Fails before any work is done if the whole table fails a principle, or if the form cannot
    /// show it.
    pub fn run(&mut self, method: &dyn Method) -> Result<Outcome, PublishError> {
        self.data.goal(self.require)?;
        method.check(self.data)?;
        self.check_labels(method.form())?;
        self.check_series(method.form())?;
        together::check(self.data, method.form())?;
        let outcome = method.publish(self)?;
        let series = self.keeping.take();
        Ok(Outcome { persons: self.persons_facts(&outcome), series, ..outcome })
    }

    /// The table.
    pub fn data(&self) -> &'a Microdata {
        self.data
    }

    /// Randomness.
    pub fn rng(&mut self) -> &mut dyn CryptoRng {
        self.rng
    }

    /// Where progress is reported, and where work can be stopped.
    pub fn watch(&self) -> &'a dyn Watch {
        self.watch
    }

    /// The requirements that apply to groups of this scope. In a form with buckets, requirements on the number of rows
    /// apply to buckets, and requirements on values to batches.
    pub fn required(&self, scope: Scope) -> Vec<Requirement> {
        self.require.iter().filter(|required| scope.takes(&required.principle)).cloned().collect()
    }

    /// All requirements of this scope, bound to the table.
    pub fn goal(&self, scope: Scope) -> Result<All, PublishError> {
        self.data.goal(&self.required(scope))
    }

    /// What is required of one sensitive column, bound to that column alone.
    pub(crate) fn goal_of(&self, column: SensitiveColumn<'_>) -> Result<All, PublishError> {
        self.data.goal_of(column, self.require)
    }

    /// The name of the partitioner.
    pub fn partitioner(&self) -> &'static str {
        self.partitioner.name()
    }

    /// Forms groups with the partitioner, and checks every one of them.
    pub fn group(&mut self, scope: Scope) -> Result<Grouping, PublishError> {
        if let Some(m) = self.least_values() {
            return self.group_in_series(m, scope);
        }
        let partition = match self.people(scope)? {
            Some(people) => self.group_under_labels(&people, scope)?,
            None => {
                let partition = self.group_units(scope)?;
                self.to_rows(partition)
            }
        };
        self.check(partition, scope, self.partitioner.name())
    }

    /// The m of m-invariance, if it is required.
    fn least_values(&self) -> Option<u64> {
        let m = self.require.iter().filter_map(|required| match required.principle {
            PrincipleSpec::MInvariance { m } => Some(m),
            _ => None,
        });
        m.max()
    }

    /// The fewest people that a group may have.
    fn fewest_people(&self) -> u64 {
        let k = self.require.iter().filter_map(|required| match required.principle {
            PrincipleSpec::KAnonymity { k } => Some(k),
            _ => None,
        });
        k.max().unwrap_or(1)
    }

    /// Groups that keep everybody's signature.
    fn group_in_series(&mut self, m: u64, scope: Scope) -> Result<Grouping, PublishError> {
        let Some(past) = self.past else {
            return Err(PublishError::request(format!("m={m} is about a series, but no series is named")));
        };
        let watch = self.watch;
        watch.phase("partition", Some(self.data.rows() as u64), Counted::Rows);
        let groups = series::form(self.data, (m, self.fewest_people()), past, self.rng, &|n| watch.tell(n))?;
        groups.check(self.data, past, m, watch)?;
        self.publishing();
        self.keeping = Some(groups.clone());
        let grouping = self.check(groups.partition.clone(), scope, "series")?;
        Ok(Grouping { series: Some(groups), ..grouping })
    }

    /// Forms groups of the rows of [`Microdata::units`] with the partitioner. They are yet to be checked.
    pub(crate) fn group_units(&mut self, scope: Scope) -> Result<Partition, PublishError> {
        let goal = self.goal(scope)?;
        let watch = self.watch;
        let partition = match self.data.persons() {
            Some(_) if !self.partitioner.takes_rows() => {
                let required = self.required(scope);
                self.group_persons(self.partitioner, &goal, &required, Some(&|n| watch.tell(n)))?
            }
            _ => {
                let (total, counted) = self.partitioner.total(self.data)?;
                watch.phase("partition", Some(total), counted);
                let partition = self.partitioner.partition(self.data, &goal, self.rng, &|n| watch.tell(n))?;
                self.to_units(partition)?
            }
        };
        self.publishing();
        Ok(partition)
    }

    /// Groups with enough people under their labels: the best of those that merging makes from groups of different sizes.
    fn group_under_labels(&mut self, people: &populated::People<'_>, scope: Scope) -> Result<Partition, PublishError> {
        let watch = self.watch;
        let mut best: Option<(f64, Partition)> = None;
        for k in people.starts() {
            let mut required = self.required(scope);
            required.push(Requirement::of_all(PrincipleSpec::KAnonymity { k }));
            // A table may have too few rows for the larger ones; a group of one row it has.
            let Ok(goal) = self.data.goal(&required) else { continue };
            let (total, counted) = self.partitioner.total(self.data)?;
            watch.phase("partition", Some(total), counted);
            let partition = self.partitioner.partition(self.data, &goal, self.rng, &|n| watch.tell(n))?;
            let merged = people.merged(self.data, partition, watch);
            let penalty = people.penalty(self.data, &merged);
            if best.as_ref().is_none_or(|(least, _)| penalty < *least) {
                best = Some((penalty, merged));
            }
        }
        self.publishing();
        best.map(|(_, partition)| partition)
            .ok_or_else(|| PublishError::Internal("no groups were formed for the population".into()))
    }

    /// Groups of units as groups of rows.
    pub(crate) fn to_rows(&self, partition: Partition) -> Partition {
        match self.data.persons() {
            Some(persons) => persons.to_rows(partition),
            None => partition,
        }
    }

    /// Groups of rows as groups of units. It is an error if they tear a person apart.
    pub(crate) fn to_units(&self, partition: Partition) -> Result<Partition, PublishError> {
        let Some(persons) = self.data.persons() else { return Ok(partition) };
        self.check_persons(persons, &partition)?;
        Ok(persons.to_units(&partition))
    }

    /// Groups of persons, who may share one only if they have equally many rows, where these are known. Without
    /// `progress`, only asks whether to stop.
    pub(crate) fn group_persons(
        &mut self,
        partitioner: &dyn Partitioner,
        goal: &All,
        required: &[Requirement],
        progress: Option<Progress<'_>>,
    ) -> Result<Partition, PublishError> {
        let watch = self.watch;
        let pause = |_: u64| watch.pause();
        let tell: Progress<'_> = progress.unwrap_or(&pause);
        let Some(persons) = self.data.persons() else {
            return Err(PublishError::Internal(
                "groups of persons were asked for, but nobody says whose rows are".into(),
            ));
        };
        if let (true, Some(column)) = (partitioner.is_of_whole_columns(), persons.first_varying(self.data)) {
            let name = partitioner.name();
            let problem = format!("`{name}` shows all of `{column}` at one level, but rows of one person differ in it");
            return Err(PublishError::remedied(problem, Remedy::from("use ").knob(Knob::Partitioner, "mondrian")));
        }
        if !persons.rows_known {
            let units = self.data.units();
            if progress.is_some() {
                let (total, counted) = partitioner.total(units)?;
                watch.phase("partition", Some(total), counted);
            }
            return partitioner.partition(units, goal, self.rng, tell);
        }
        let classes = persons.classes();
        if partitioner.is_of_whole_columns() && classes.len() > 1 {
            let name = partitioner.name();
            let problem = format!(
                "`{name}` shows columns at one level for all rows, but persons with different numbers of rows are grouped apart"
            );
            return Err(PublishError::remedied(
                problem,
                Remedy::from("use ").knob(Knob::RowsPerPerson, "1").words(" or ").knob(Knob::Partitioner, "mondrian"),
            ));
        }
        self.check_classes(&classes, goal, required)?;
        if progress.is_some() {
            let mut total = 0;
            let mut counted = Counted::Rows;
            for class in &classes {
                let (of_class, unit) = partitioner.total(&class.data)?;
                (total, counted) = (total + of_class, unit);
            }
            watch.phase("partition", Some(total), counted);
        }
        let (mut all, mut sizes) = (Vec::with_capacity(persons.len()), Vec::new());
        let (mut recoding, mut kept): (_, Option<KeptLabels>) = (None, None);
        for class in classes {
            let groups = partitioner.partition(&class.data, goal, self.rng, tell)?;
            sizes.extend(groups.sizes().map(|size| size as u32));
            recoding = groups.recoding().cloned();
            kept = match (kept, groups.kept()) {
                (Some(known), Some(more)) => Some(known.followed_by(more)),
                (known, more) => known.or_else(|| more.cloned()),
            };
            all.extend(groups.into_rows().into_iter().map(|at| class.persons[at as usize]));
        }
        let partition = Partition::new(all, &sizes);
        Ok(match (recoding, kept) {
            (Some(recoding), _) => partition.recoded(recoding),
            (None, Some(kept)) => partition.keeping(kept),
            (None, None) => partition,
        })
    }

    /// Persons with equally many rows must satisfy the goal together, because nobody else may stand with them.
    fn check_classes(&self, classes: &[UnitClass], goal: &All, required: &[Requirement]) -> Result<(), PublishError> {
        let fails = |class: &&UnitClass| !goal.holds(class.data.sensitive_counts());
        let Some(first) = classes.iter().find(fails) else { return Ok(()) };
        let rows = first.rows_each.unwrap_or(1);
        // Whoever has more rows than the last number that works keeps as many as that.
        let works = |most: u32| {
            let (few, many): (Vec<&UnitClass>, Vec<&UnitClass>) =
                classes.iter().partition(|class| class.rows_each < Some(most));
            let mut counts = SaCounts::new(first.data.sensitive_counts().domain_len());
            for class in &many {
                for (code, count) in class.data.sensitive_counts().iter() {
                    // PROOF: persons are numbered in 32 bits.
                    counts.add_many(code, count as u32);
                }
            }
            few.iter().all(|class| goal.holds(class.data.sensitive_counts())) && goal.holds(&counts)
        };
        let most = classes.iter().filter_map(|class| class.rows_each).rev().find(|&most| works(most));
        let why = match self.data.check_feasible(required, first.data.sensitive_counts()) {
            Err(PublishError::Infeasible { reason, .. }) => reason,
            Err(error) => return Err(error),
            Ok(()) => "they differ too much from all others".to_owned(),
        };
        let n = first.data.rows();
        let (persons, each) =
            (if n == 1 { "person has" } else { "persons have" }, if rows == 1 { "row" } else { "rows" });
        let reason = format!(
            "{n} {persons} {rows} {each}, and only persons with equally many rows may share a group; among them, {why}"
        );
        let instead = match most {
            Some(most) => Remedy::from("drop surplus rows at random with ").knob(Knob::RowsPerPerson, most.to_string()),
            None => Remedy::from("ask for less, or use ")
                .knob(Knob::Method, Form::Generalize.name())
                .words(", where rows of a person cannot be counted"),
        };
        Err(PublishError::Infeasible { principle: goal.to_string(), reason, possible: None, instead })
    }

    /// What is asked of the population.
    fn asked_of_population(goal: &All) -> PopulationGoal {
        PopulationGoal::of(goal.specs().iter().map(|required| &required.principle))
    }

    /// The population, where groups that have too few people under their labels are to be merged: partitioners that show
    /// whole columns at a level look for levels that will do, and nobody merges groups that were given.
    fn people(&self, scope: Scope) -> Result<Option<populated::People<'a>>, PublishError> {
        let goal = self.goal(scope)?;
        let asked = Job::asked_of_population(&goal);
        if asked.is_empty() || self.partitioner.is_of_whole_columns() || self.partitioner.takes_rows() {
            return Ok(None);
        }
        if self.data.persons().is_some() {
            let problem = format!("{goal} counts rows of a population, but promises are to be about persons");
            return Err(PublishError::request(problem));
        }
        if asked.bounds_presence() || !goal.laws().monotone {
            let problem = format!("{goal} may be lost when groups are merged, so it cannot be reached by merging them");
            return Err(PublishError::remedied(problem, Remedy::from("use ").knob(Knob::Partitioner, "full-domain")));
        }
        let people = populated::People::new(self.data, asked)?;
        people.check(self.data)?;
        Ok(Some(people))
    }

    /// Reports that groups are formed and the release is being made.
    pub fn publishing(&self) {
        self.watch.phase("publish", None, Counted::Rows);
    }

    /// Checks groups that are to be published, whoever formed them.
    pub fn check(&self, partition: Partition, scope: Scope, partitioner: &str) -> Result<Grouping, PublishError> {
        let goal = self.goal(scope)?;
        let held = self.hold(&goal, &[&partition])?.map_err(|group| self.failed(&goal, group))?;
        // LEAK: where rows can be counted, a person with another number of rows than the others stands out.
        if self.data.persons().is_some_and(|persons| persons.rows_known && !persons.has_equal_rows(&partition)) {
            let problem = "persons with different numbers of rows share a group, although rows can be counted";
            return Err(match self.partitioner.takes_rows() {
                true => PublishError::request(problem),
                false => PublishError::Internal(problem.to_owned()),
            });
        }
        let promises = Job::promised(&held, scope);
        Ok(Grouping { promises, partition, partitioner: partitioner.to_owned(), series: None })
    }

    /// Checks the groups of several partitions at once, and returns only the promises.
    pub fn promise(&self, partitions: &[&Partition], scope: Scope) -> Result<Vec<Promise>, PublishError> {
        let goal = self.goal(scope)?;
        let held = self.hold(&goal, partitions)?.map_err(|group| self.failed(&goal, group))?;
        Ok(Job::promised(&held, scope))
    }

    /// Like [`Job::promise`], but a group that fails is no error: then nothing is promised.
    pub fn promise_if_held(&self, partitions: &[&Partition], scope: Scope) -> Result<Vec<Promise>, PublishError> {
        let held = self.hold(&self.goal(scope)?, partitions)?;
        Ok(held.map_or_else(|_| Vec::new(), |held| Job::promised(&held, scope)))
    }

    /// What groups give away, regardless of what is promised. Several partitions are the views that different users
    /// have of the rows.
    pub fn disclosure(&self, partitions: &[&Partition], form: Form) -> Disclosure {
        let shape = form.shape();
        // Several sensitive columns are each permuted inside their groups, so that nothing stands beside its own value.
        if let Some(groups) = &self.keeping {
            return self.data.disclosure_in_series(groups, self.require, self.watch);
        }
        let is_beside =
            shape.values == Values::Beside && shape.detail.is_labelled() && self.data.sensitive_columns().len() < 2;
        self.data.disclosure(partitions, self.require, is_beside, self.watch)
    }

    fn promised(held: &HeldPrinciples, scope: Scope) -> Vec<Promise> {
        Promise::of(held, scope)
    }

    /// Evidence that the goal holds in every group, or else the first group that fails. Groups that leave out or repeat
    /// a row are an error.
    fn hold(&self, goal: &All, partitions: &[&Partition]) -> Result<Result<HeldPrinciples, usize>, PublishError> {
        let is_whole = |partition: &&Partition| partition.covers_once(self.data.rows());
        if partitions.is_empty() || !partitions.iter().all(is_whole) {
            return Err(PublishError::Internal("groups were formed that do not hold every row once".into()));
        }
        self.check_population(goal, partitions)?;
        // LEAK: m-invariance cannot be seen in these groups alone.
        let keeps = |partition: &&Partition| self.keeping.as_ref().is_some_and(|known| known.partition == **partition);
        if goal.specs().iter().any(|required| required.principle.needs_series()) && !partitions.iter().all(keeps) {
            return Err(PublishError::Internal(format!("{goal} is promised of groups that keep no signatures")));
        }
        let groups: Vec<&[u32]> = partitions.iter().flat_map(|partition| partition.groups()).collect();
        if let Some(persons) = self.data.persons() {
            let units = self.data.units();
            partitions.iter().try_for_each(|partition| self.check_persons(persons, partition))?;
            let n_codes = units.sensitive_counts().domain_len();
            return Ok(goal.hold_in(groups.len(), n_codes, |group, counts| {
                self.watch.pause_at(group);
                units.bundle_counts(persons.of_group(groups[group]), counts);
            }));
        }
        Ok(match self.data.sensitive().filter(|_| !goal.is_size_only()) {
            None => goal.hold_in(groups.len(), 1, |group, counts| {
                self.watch.pause_at(group);
                // PROOF: rows are numbered in 32 bits.
                counts.add_many(0, groups[group].len() as u32);
            }),
            Some(column) => {
                let count = |group: usize, counts: &mut SaCounts| {
                    self.watch.pause_at(group);
                    groups[group].iter().for_each(|&row| counts.add(column.code(row as usize)));
                };
                goal.hold_in(groups.len(), column.domain().len(), count)
            }
        })
    }
}

impl Job<'_> {
    /// What an owner wants to know about persons, from the table that says how many are in every group.
    fn persons_facts(&self, outcome: &Outcome) -> Option<PersonsFacts> {
        let persons = self.data.persons()?;
        let groups = outcome.release.table(GROUPS).ok()?;
        let domain = groups.column(PERSONS)?.domain();
        let count = |value: &Value| value.whole().and_then(|count| u64::try_from(count).ok());
        let (fewest, most) = domain.bounds()?;
        Some(PersonsFacts {
            count: persons.len() as u64,
            most_rows: u64::from(persons.most_rows()),
            group_persons: (count(fewest)?, count(most)?),
            rows_known: persons.rows_known,
        })
    }

    /// Every group holds all rows of its persons and, where these are known, equally many of each.
    fn check_persons(&self, persons: &Persons, partition: &Partition) -> Result<(), PublishError> {
        let mut group_of = vec![u32::MAX; persons.len()];
        let mut split = 0_u64;
        for (group, rows) in (0_u32..).zip(partition.groups()) {
            for &row in rows {
                let known = &mut group_of[persons.of_row(row) as usize];
                split += u64::from(*known != u32::MAX && *known != group);
                *known = group;
            }
        }
        if split > 0 {
            let problem = format!("{split} rows stand in other groups than other rows of the same persons");
            return Err(match self.partitioner.takes_rows() {
                true => PublishError::request(problem),
                false => PublishError::Internal(problem),
            });
        }
        // Buckets may hold persons with different numbers of rows: their batches tell which.
        if persons.rows_known && self.partitioner.takes_rows() && !persons.has_equal_rows(partition) {
            let problem = "persons with different numbers of rows share a group, although rows can be counted";
            return Err(PublishError::request(problem));
        }
        Ok(())
    }

    /// Only ranges and labels that all rows of a group share, for everybody, have people under them.
    fn check_labels(&self, form: Form) -> Result<(), PublishError> {
        let asked = PopulationGoal::of(self.require.iter().map(|required| &required.principle));
        let shape = form.shape();
        match asked.is_empty() || shape.detail == Detail::GroupBoxes && !shape.has_users {
            true => Ok(()),
            false => Err(PublishError::request(format!("{form} shows no labels under which people could be counted"))),
        }
    }

    /// Counterfeit values stand only in tables that have a place for them.
    fn check_series(&self, form: Form) -> Result<(), PublishError> {
        let Some(m) = self.least_values() else { return Ok(()) };
        let shape = form.shape();
        series::check_beside(self.require, m)?;
        if !shape.may_follow {
            return Err(PublishError::request(format!(
                "{form} has no place for counterfeit values, which m={m} needs"
            )));
        }
        if shape.values == Values::Beside && self.data.other().len() > 0 {
            let problem =
                format!("in {form}, counterfeit values would stand without the columns that are kept as they are");
            let remedy = Remedy::from("use ").knob(Knob::Method, Form::Anatomy.name()).words(", or leave ");
            return Err(PublishError::remedied(problem, remedy.knob(Knob::Other, "").words(" out")));
        }
        if self.data.persons().is_some() {
            return Err(PublishError::request(format!("m={m} allows one row per person, so that none has several")));
        }
        Ok(())
    }

    /// Labels decide what is asked of the population, so groups are judged by these before their values are.
    fn check_population(&self, goal: &All, partitions: &[&Partition]) -> Result<(), PublishError> {
        let asked = Job::asked_of_population(goal);
        for partition in partitions.iter().filter(|_| !asked.is_empty()) {
            let holds = match partition.recoding() {
                Some(_) => population_holds_at_levels(self.data, partition, asked)?,
                None => populated::holds_in(self.data, partition, asked, self.watch)?,
            };
            match (holds, self.partitioner.takes_rows()) {
                (true, _) => {}
                (false, true) => return Err(Job::given_group_fails(goal)),
                (false, false) => {
                    return Err(PublishError::Internal(format!("groups were formed for {goal}, and fail it")));
                }
            }
        }
        Ok(())
    }

    fn given_group_fails(goal: &All) -> PublishError {
        PublishError::Infeasible {
            principle: goal.to_string(),
            reason: "a group that was given fails it".to_owned(),
            possible: None,
            instead: "merge it with another group, or choose a weaker principle".into(),
        }
    }

    /// What to say about a group that fails: one that was given is the owner's, any other a bug.
    fn failed(&self, goal: &All, group: usize) -> PublishError {
        match self.partitioner.takes_rows() {
            true => Job::given_group_fails(goal),
            false => PublishError::Internal(format!("group {group} was formed for {goal}, and fails it")),
        }
    }
}
