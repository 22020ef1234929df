//! What a method is asked to do, and the groups that it asks for in turn.

use chrysalis_criteria::{All, HeldPrinciples, Principle, Requirement};
use chrysalis_release::{Form, Promise, Scope, Values};
use chrysalis_table::{Counted, SaCounts, Watch};
use rand::CryptoRng;

use crate::method::{Method, Outcome};
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
}

/// Groups in which principles hold: every group was checked.
#[derive(Clone, Debug)]
pub struct Grouping {
    partition: Partition,
    partitioner: String,
    promises: Vec<Promise>,
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
        Job { data, require, partitioner, rng, watch }
    }

    /// Publishes the table. Fails before any work is done if the whole table fails a principle, or if the form cannot
    /// show it.
    pub fn run(&mut self, method: &dyn Method) -> Result<Outcome, PublishError> {
        self.data.goal(self.require)?;
        method.check(self.data)?;
        method.publish(self)
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
        let goal = self.goal(scope)?;
        let (total, counted) = self.partitioner.total(self.data)?;
        let watch = self.watch;
        watch.phase("partition", Some(total), counted);
        let partition = self.partitioner.partition(self.data, &goal, self.rng, &|n| watch.tell(n))?;
        self.publishing();
        self.check(partition, scope, self.partitioner.name())
    }

    /// Reports that groups are formed and the release is being made.
    pub fn publishing(&self) {
        self.watch.phase("publish", None, Counted::Rows);
    }

    /// Checks groups that are to be published, whoever formed them.
    pub fn check(&self, partition: Partition, scope: Scope, partitioner: &str) -> Result<Grouping, PublishError> {
        let goal = self.goal(scope)?;
        let held = self.hold(&goal, &[&partition])?.map_err(|group| failed(&goal, group))?;
        Ok(Grouping { promises: Job::promised(&held, scope), partition, partitioner: partitioner.to_owned() })
    }

    /// Checks the groups of several partitions at once, and returns only the promises.
    pub fn promise(&self, partitions: &[&Partition], scope: Scope) -> Result<Vec<Promise>, PublishError> {
        let goal = self.goal(scope)?;
        let held = self.hold(&goal, partitions)?.map_err(|group| failed(&goal, group))?;
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
        let groups: Vec<&[u32]> = partitions.iter().flat_map(|partition| partition.groups()).collect();
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

fn failed(goal: &All, group: usize) -> PublishError {
    PublishError::Internal(format!("group {group} was formed for {goal}, and fails it"))
}
