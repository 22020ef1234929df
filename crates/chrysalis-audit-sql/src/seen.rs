//! Groups as somebody sees them, and their sensitive values: the CTE `shown`, with a row per group and value.

use chrysalis_dialect::expr::{Direction, X, call, case, cases, col, count_rows, int, sum};
use chrysalis_dialect::select::{Ctes, Rows};
use chrysalis_release::{Cell, GROUPS, PERSONS, RoleName};

use crate::frame::{Frame, call_min, column_of};
use crate::series;

/// Who sees the groups.
#[derive(Clone, Copy)]
pub(crate) enum Sight<'a> {
    /// Everybody sees the ids of groups or batches.
    Groups,
    /// Somebody who also knows the columns that are kept as they are.
    Bystander,
    /// A user who knows these attributes: rows that look the same in them form a class.
    User(&'a [String]),
}

/// The groups that a statement is about.
pub(crate) struct Seen<'a> {
    pub(crate) frame: &'a Frame<'a>,
    pub(crate) sight: Sight<'a>,
}

impl<'a> Seen<'a> {
    pub(crate) fn new(frame: &'a Frame<'a>, sight: Sight<'a>) -> Seen<'a> {
        Seen { frame, sight }
    }

    /// The name of the column that tells groups apart, in the CTEs.
    pub(crate) fn key(&self) -> &'static str {
        match self.sight {
            Sight::Groups => self.frame.id().unwrap_or("group_id"),
            Sight::Bystander | Sight::User(_) => "class",
        }
    }

    /// The column that tells groups apart, in a CTE.
    pub(crate) fn key_of(&self, cte: &str) -> X {
        col(&format!("{cte}.{}", self.key()))
    }

    /// What the groups are called.
    pub(crate) fn word(&self) -> &'static str {
        match self.sight {
            Sight::Groups => self.frame.layout.shape.group_word,
            Sight::Bystander | Sight::User(_) => "class",
        }
    }

    /// Whom the groups are seen by, in words.
    pub(crate) fn by(&self) -> String {
        match self.sight {
            Sight::Groups => String::new(),
            Sight::Bystander => {
                " (a class is the rows of a group that agree in all columns kept as they are)".to_owned()
            }
            Sight::User(known) => {
                let known: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
                format!(" for a user who knows {} (a class is the rows that look alike to this user)", known.join(", "))
            }
        }
    }

    /// Adds `shown`: for every group and value of a sensitive attribute, the number `n` of rows (or persons) with it, and
    /// the `size` of the group.
    pub(crate) fn add_shown(&self, ctes: &mut Ctes, at: usize) {
        match self.frame.manifest.persons {
            None => {
                let (rows, n, keys) = self.by_value(ctes, at);
                let size = sum(n.clone()).over(&keys[..1], []);
                ctes.add("shown", rows.item(n, "n").item(size, "size").group_by(keys));
            }
            Some(persons) => {
                let (rows, n, keys) = self.by_value(ctes, at);
                let has_persons = self.frame.is_counted() && persons.rows_known;
                let n = match has_persons {
                    true => sum(self.said_persons("v")),
                    false => n,
                };
                ctes.add("by_value", rows.item(n, "n").group_by(keys));
                self.add_persons(ctes);
                let (n, size) = (col("by_value.n"), col("persons_of.persons"));
                let rows =
                    Rows::of("by_value").join("persons_of", self.key_of("by_value").eq(self.key_of("persons_of")));
                let rows = rows.item(self.key_of("by_value"), self.key()).item(col("by_value.value"), "value");
                let rows = rows.item(self.frame.dialect.least(n, size.clone()), "n").item(size.clone(), "size");
                ctes.add("shown", rows.filter(Some(size.greater(int(0)))));
            }
        }
    }

    /// Adds `everybody`: how many rows have each value.
    pub(crate) fn add_everybody(&self, ctes: &mut Ctes, at: usize) {
        let frame = self.frame;
        if ctes.has("everybody") {
            return;
        }
        let name = &frame.attribute(at).name;
        let rows = match frame.layout.values_of(at) {
            Some(table) if frame.is_counted() => {
                let count = frame.column("v", column_of(table, Cell::Count).unwrap_or_default());
                let rows = frame.rows(&table.name, "v").filter(Some(frame.is_possible(count.clone())));
                rows.item(frame.column("v", name), "value").item(sum(count), "n").group_by([frame.column("v", name)])
            }
            _ => {
                let rows = frame.rows(&frame.people().name, "v");
                let rows = rows.item(frame.column("v", name), "value").item(count_rows(), "n");
                rows.group_by([frame.column("v", name)])
            }
        };
        ctes.add("everybody", rows);
    }

    /// The id of a row's group. Rows without an id, which another statement complains about, are a group 0 of their own,
    /// because a missing id equals nothing.
    fn known_id(&self, alias: &str) -> X {
        call("COALESCE", vec![self.frame.column(alias, self.key()), int(0)])
    }

    /// The persons beside a count, as far as they can be true.
    fn said_persons(&self, alias: &str) -> X {
        let (said, count) = (self.frame.column(alias, PERSONS), self.frame.column(alias, chrysalis_release::COUNT));
        case(said.clone().greater(int(0)), self.frame.dialect.least(said, count.clone()), count)
    }

    /// Rows with a key and a value, how to count them, and what to group them by.
    fn by_value(&self, ctes: &mut Ctes, at: usize) -> (Rows, X, Vec<X>) {
        let frame = self.frame;
        let name = &frame.attribute(at).name;
        if let (Sight::Groups, true, Some(table)) = (self.sight, frame.is_counted(), frame.layout.values_of(at)) {
            let count = frame.column("v", column_of(table, Cell::Count).unwrap_or_default());
            let (key, value) = (self.known_id("v"), frame.column("v", name));
            let rows = frame.rows(&table.name, "v").filter(Some(frame.is_possible(count.clone())));
            return (rows.item(key.clone(), self.key()).item(value.clone(), "value"), sum(count), vec![key, value]);
        }
        if let Sight::Groups = self.sight {
            let (key, value) = (self.known_id("v"), frame.column("v", name));
            let rows = frame.rows(&frame.people().name, "v");
            return (rows.item(key.clone(), self.key()).item(value.clone(), "value"), count_rows(), vec![key, value]);
        }
        self.add_classes(ctes, Some(at));
        let (key, value) = (col("classes.class"), col("classes.value"));
        let rows = Rows::of("classes").item(key.clone(), "class").item(value.clone(), "value");
        (rows, count_rows(), vec![key, value])
    }

    /// Adds `classes`: every row of the table of people, with its class, its group and its sensitive value.
    fn add_classes(&self, ctes: &mut Ctes, at: Option<usize>) {
        let frame = self.frame;
        if ctes.has("classes") {
            return;
        }
        let people = frame.people();
        let by: Vec<X> = match self.sight {
            Sight::Groups => vec![frame.column("v", self.key())],
            Sight::Bystander => {
                let id = frame.id().map(|id| frame.column("v", id));
                let others = frame.with_role(RoleName::Other).map(|at| frame.column("v", &frame.attribute(at).name));
                id.into_iter().chain(others).collect()
            }
            Sight::User(known) => {
                let is_known = |at: usize| known.contains(&frame.attribute(at).name);
                frame.cells(people, is_known).map(|name| frame.column("v", name)).collect()
            }
        };
        let class = call("DENSE_RANK", Vec::new()).over(&[], by.into_iter().map(|x| (x, Direction::Up)));
        let mut rows = frame.rows(&people.name, "v").item(class, "class");
        if let Some(id) = frame.id() {
            rows = rows.item(frame.column("v", id), "of_group");
        }
        if let Some(at) = at {
            rows = rows.item(frame.column("v", &frame.attribute(at).name), "value");
        }
        ctes.add("classes", rows);
    }

    /// Adds `persons_of`: how many persons every group has, as far as that can be true: no more than it has rows and, if
    /// it is listed twice, the fewer.
    pub(crate) fn add_persons(&self, ctes: &mut Ctes) {
        if ctes.has("persons_of") {
            return;
        }
        let (frame, id) = (self.frame, self.frame.id().unwrap_or("group_id"));
        let people = &frame.people().name;
        let key = frame.column("v", id);
        ctes.add("rows_of", frame.rows(people, "v").item(key.clone(), id).item(count_rows(), "n_rows").group_by([key]));
        let (own, said, n_rows) = (frame.column("g", id), frame.column("g", PERSONS), col("rows_of.n_rows"));
        let believed = cases(
            vec![
                (said.clone().missing().or(said.clone().less(int(0))), int(0)),
                (said.clone().greater(n_rows.clone()), n_rows.clone()),
            ],
            Some(said),
        );
        let of_groups = match self.sight {
            Sight::User(_) => "persons_of_group",
            Sight::Groups | Sight::Bystander => "persons_of",
        };
        let key = col(&format!("rows_of.{id}"));
        let rows = Rows::of("rows_of").join_table(frame.dialect, GROUPS, "g", own.eq(key.clone()));
        let rows = rows.item(key.clone(), id).item(n_rows.clone(), "n_rows").item(call_min(believed), "persons");
        ctes.add(of_groups, rows.group_by([key, n_rows]));
        if let Sight::User(_) = self.sight {
            let pairs =
                Rows::of("classes").item(col("classes.class"), "class").item(col("classes.of_group"), "of_group");
            ctes.add("groups_of_class", pairs.distinct());
            let on = col("groups_of_class.of_group").eq(col(&format!("persons_of_group.{id}")));
            let rows = Rows::of("groups_of_class").join("persons_of_group", on);
            let (n_rows, persons) = (sum(col("persons_of_group.n_rows")), sum(col("persons_of_group.persons")));
            let rows = rows.item(col("groups_of_class.class"), "class").item(n_rows, "n_rows").item(persons, "persons");
            ctes.add("persons_of", rows.group_by([col("groups_of_class.class")]));
        }
    }

    /// Adds `each_person`: the persons of every group, and how many rows each of them has at least: all that persons of
    /// the group have, where these are said to have equally many.
    pub(crate) fn add_each(&self, ctes: &mut Ctes) {
        self.add_persons(ctes);
        let (persons, n_rows) = (col("persons_of.persons"), col("persons_of.n_rows"));
        let rows_known = self.frame.manifest.persons.is_some_and(|persons| persons.rows_known);
        let whole = (n_rows.clone() - n_rows.clone().modulo(persons.clone())) / persons.clone();
        let each = match rows_known {
            true => case(persons.clone().greater(int(0)), self.frame.dialect.integer(whole), int(1)),
            false => int(1),
        };
        let rows = Rows::of("persons_of").item(self.key_of("persons_of"), self.key()).item(n_rows, "n_rows");
        ctes.add("each_person", rows.item(persons, "persons").item(each, "rows_each"));
    }

    /// Adds `sizes`: how many rows (or persons) every group has; in a series, without counterfeits.
    pub(crate) fn add_sizes(&self, ctes: &mut Ctes) {
        let frame = self.frame;
        if frame.manifest.persons.is_some() {
            if let Sight::User(_) = self.sight {
                self.add_classes(ctes, None);
            }
            self.add_persons(ctes);
            let (key, persons) = (self.key_of("persons_of"), col("persons_of.persons"));
            let rows = Rows::of("persons_of").item(key, self.key()).item(persons.clone(), "size");
            ctes.add("sizes", rows.filter(Some(persons.greater(int(0)))));
            return;
        }
        let rows = match self.sight {
            Sight::Groups if frame.manifest.series.is_some() => {
                series::add_people(frame, self.key(), ctes);
                return;
            }
            Sight::Groups => {
                let key = frame.column("v", self.key());
                frame.rows(&frame.people().name, "v").item(key.clone(), self.key()).group_by([key])
            }
            Sight::Bystander | Sight::User(_) => {
                self.add_classes(ctes, None);
                let key = self.key_of("classes");
                Rows::of("classes").item(key.clone(), self.key()).group_by([key])
            }
        };
        ctes.add("sizes", rows.item(count_rows(), "size"));
    }
}
