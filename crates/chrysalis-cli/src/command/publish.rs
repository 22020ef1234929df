use std::process::ExitCode;

use chrysalis::cells::{Place, publish_by_cells, unasked};
use chrysalis::report::{ButterflyReport, PublishReport};
use chrysalis::store::check_place;
use chrysalis::words::{count, counted, number};
use chrysalis::{DroppedReason, Manifest, Memory, OpenLedger, Published, Recipe, Seed, Watch, files, publish};
use chrysalis_release::{Published as Shown, RoleName, Scope};

use crate::args::{Cli, PublishArgs};
use crate::failure::{DONE, Failure};
use crate::progress::Phases;
use crate::render::{self, Report};

pub(crate) fn run(args: &PublishArgs, cli: &Cli) -> Result<ExitCode, Failure> {
    let phases = Phases::new(cli);
    check_place(&args.out, args.force)?;
    let mut draft = args.choices.over(&args.file, args.like.clone())?;
    draft.release.format = args.format.clone().or(draft.release.format);
    draft.series = args.series.clone().or(draft.series);
    draft.values_change = args.values_change.then_some(true).or(draft.values_change);
    draft.only_new = args.only_new.then_some(true).or(draft.only_new);
    if !args.after.is_empty() {
        draft.after = Some(args.after.clone());
    }
    let input = draft.open()?;
    let mut recipe = draft.check(input.header())?.without(&input.unreadable());
    draft.provide_key(&mut recipe, Some(&args.out), &phases)?;
    // A fixed seed makes the same release on every machine, however much memory that has.
    let unasked = unasked(&input, &recipe).filter(|_| args.seed.is_none());
    if let Some(memory) = unasked {
        phases.note(&format!("the table may not fit into memory: it is published cell by cell, in about {memory}"));
    }
    if let Some(memory) = recipe.memory().or(unasked) {
        let place = Place { out: &args.out, force: args.force };
        let (manifest, report) = publish_by_cells(input, &recipe, memory, place, Seed::from(args.seed), &phases)?;
        return told(args, cli, &phases, &recipe, &manifest, report);
    }
    let ledger = OpenLedger::open(&mut recipe, &args.out, &phases)?;
    draft.provide_earlier(&mut recipe, Memory::default(), &phases)?;
    let table = files::read(input, recipe.requests(), "read", &phases)?;
    draft.provide_population(&mut recipe, &table, &phases)?;
    let Published { release, report, remembered } = publish(table, &recipe, Seed::from(args.seed), &phases)?;
    let manifest = match ledger.zip(remembered) {
        Some((ledger, remembered)) => {
            ledger.write((&release, remembered), &args.out, (recipe.format(), args.force), &phases)?
        }
        None => files::write(&release, &args.out, recipe.format(), args.force, &phases)?,
    };
    told(args, cli, &phases, &recipe, &manifest, report)
}

/// Says what was done, and what the owner should know.
fn told(
    args: &PublishArgs,
    cli: &Cli,
    phases: &Phases,
    recipe: &Recipe,
    manifest: &Manifest,
    mut report: PublishReport,
) -> Result<ExitCode, Failure> {
    report.phases = phases.finish();
    report.seconds = Some(phases.seconds());
    report.out = Some(args.out.display().to_string());
    if args.seed.is_some() {
        phases.note("made with --seed: anybody who knows the seed can undo the randomness. For experiments only.");
    }
    report.notes.iter().for_each(|note| phases.note(note));
    for other in recipe.unknown_beside(&args.out, manifest) {
        let other = other.display();
        phases.note(&match (recipe.series(), &report.after) {
            (Some(plan), _) => format!(
                "{other} looks like another release of the same table, and the ledger {} does not know it. Anybody who gets \
                 both can intersect them: nothing is promised of the two together. Hand out one of them only",
                plan.file.display()
            ),
            (None, Some(_)) => format!(
                "{other} looks like another release of the same table, and was not judged beside this one. Name it too: \
                 --after {other}"
            ),
            (None, None) => format!(
                "{other} looks like another release of the same table. Anybody who gets both can intersect them, and with \
                 every further release more people are left with a single value. Check them together: chrysalis audit {} \
                 --with {other}",
                args.out.display(),
            ),
        });
    }
    let summary = Summary { recipe, report: &report, manifest };
    Report::flattened(summary.blocks(), &report)?.print(cli.output)?;
    Ok(ExitCode::from(DONE))
}

/// How many names are spelled out.
const LISTED: usize = 5;

/// What the owner wants to know.
struct Summary<'a> {
    recipe: &'a Recipe,
    report: &'a PublishReport,
    manifest: &'a Manifest,
}

impl Summary<'_> {
    fn blocks(&self) -> Vec<String> {
        let (report, manifest) = (self.report, self.manifest);
        let has_groups = manifest.groups > 0;
        let groups = if has_groups { format!(" in {}", counted(manifest.groups, "group")) } else { String::new() };
        let out = report.out.as_deref().unwrap_or_default();
        let title = format!("Published {}{groups} to {out}", counted(manifest.rows, "row"));
        let by = if has_groups { format!(" by {}", manifest.partitioner) } else { String::new() };
        let mut facts = vec![("method", format!("{}{by}", manifest.method))];
        facts.extend(self.promises());
        let measured = self.report.measured.iter().map(|(principle, words)| format!("{principle}: {words}"));
        facts.extend(measured.map(|words| ("measured", words)));
        if has_groups {
            let name = if report.buckets.is_empty() { "group size" } else { "batch size" };
            let (least, most) = (count(report.smallest_group), count(report.largest_group));
            let mean = manifest.rows as f64 / manifest.groups as f64;
            facts.push((name, format!("{least} to {most}, {mean:.1} on average")));
        }
        facts.extend(self.persons());
        facts.extend(self.series());
        facts.extend(self.like());
        facts.extend(self.after());
        let together = manifest.together.iter().map(|set| set.join(", "));
        facts.extend(together.map(|set| ("together", format!("{set}: nothing is promised about combinations"))));
        facts.extend(self.disclosed());
        facts.push(("loss (NCP)", format!("{} per cell (0 nothing lost, 1 nothing left)", number(report.ncp))));
        facts.extend(self.search());
        if report.dropped_rows > 0 {
            facts.push(("dropped rows", format!("{} with missing values", count(report.dropped_rows))));
        }
        facts.extend(self.prepared());
        facts.extend(self.left_out());
        let files = manifest.tables.iter().map(|table| {
            let files: Vec<&str> = table.parts.iter().map(|part| part.file.as_str()).collect();
            let names = match files.as_slice() {
                [first, .., last] => format!("{first} to {last}"),
                _ => files.join(", "),
            };
            format!("{names} ({})", counted(table.rows, "row"))
        });
        facts.push(("files", files.collect::<Vec<_>>().join(", ")));
        let phases: Vec<String> = report.phases.iter().map(|(name, seconds)| format!("{name} {seconds:.2}")).collect();
        facts.push(("seconds", format!("{:.2} ({})", report.seconds.unwrap_or(0.0), phases.join(", "))));
        let suppressed = self.suppressed();
        std::iter::once(title).chain(suppressed).chain([self.attributes(), render::facts(&facts)]).collect()
    }

    /// What every group satisfies, and every bucket if there are any.
    fn promises(&self) -> Vec<(&'static str, String)> {
        let promise = self.report.guarantees.join(", ");
        if let Some(facts) = &self.report.butterflies {
            return self.butterflies(facts, &promise);
        }
        if self.report.buckets.is_empty() {
            let promise = if promise.is_empty() { "nothing is promised".into() } else { promise };
            return vec![("every group", promise)];
        }
        let of_buckets: Vec<String> = self.recipe.required_of(Scope::Bucket).iter().map(ToString::to_string).collect();
        let (kept, of_batches): (Vec<&String>, Vec<&String>) =
            self.report.guarantees.iter().partition(|promise| of_buckets.contains(promise));
        let is_k_kept = kept.len() == of_buckets.len();
        let of_batches: Vec<&str> = of_batches.into_iter().map(String::as_str).collect();
        let mut facts = vec![("every batch", of_batches.join(", "))];
        let k = self.recipe.bucket_size().filter(|_| is_k_kept);
        let alone = if self.report.joined.is_some() { ", in each table alone" } else { "" };
        facts.extend(k.map(|k| ("every bucket", format!("k={k}{alone}"))));
        for (table, bucket) in &self.report.buckets {
            let (smallest, largest) = (count(bucket.smallest_bucket), count(bucket.largest_bucket));
            let text = format!("{} of {smallest} to {largest} rows", counted(bucket.buckets, "bucket"));
            facts.push(("buckets", format!("{table}: {text}")));
        }
        if let Some(joined) = &self.report.joined {
            let rows = counted(joined.fewest_rows, "row");
            let below = match (joined.people_below_k, self.recipe.bucket_size()) {
                (0, _) | (_, None) => String::new(),
                (n, Some(k)) => format!("{} of {} people keep fewer than {k}, ", count(n), count(self.report.rows)),
            };
            facts.push(("joined", format!("{below}the worst off keep {rows}")));
        }
        if self.report.is_simple_generalization == Some(true) {
            let advice = if is_k_kept { "" } else { "; for larger buckets ask for a k, such as --require k=10" };
            let text = "the simple generalization reconstructs better: its groups are batches and buckets";
            facts.push(("note", format!("{text}{advice}")));
        }
        facts
    }

    fn butterflies(&self, facts: &ButterflyReport, promise: &str) -> Vec<(&'static str, String)> {
        let mut lines = Vec::new();
        for user in &facts.quasi_identifiers {
            let (smallest, largest) = (count(user.smallest_class), count(user.largest_class));
            let classes = format!("{} of {smallest} to {largest} rows", counted(user.classes, "class"));
            lines.push(("every class", format!("{promise} for {}: {classes}", user.attributes.join(", "))));
        }
        if facts.union_ncp_by_attribute.is_empty() {
            lines.push(("butterflies", count(facts.butterflies)));
            return lines;
        }
        let saved = format!("{:.1} %", 100.0 * facts.saved);
        let n_cells = self.report.rows * self.manifest.with_role(RoleName::Quasi).count() as u64;
        let union = number(facts.union_ncp_sum / n_cells as f64);
        let n = count(facts.butterflies);
        let text = format!("{n}, {saved} less lost than with one class for all users ({union})");
        lines.push(("butterflies", text));
        lines
    }

    /// What promises are about, where persons may have several rows.
    fn persons(&self) -> Vec<(&'static str, String)> {
        let Some(persons) = &self.report.persons else { return Vec::new() };
        let n_rows = counted(persons.most_rows_per_person, "row");
        let known = match persons.rows_known {
            true => "everybody in a group has equally many rows",
            false => "they reckon with attackers who do not know how many rows a person has",
        };
        let (least, most) = (count(persons.fewest_persons), count(persons.most_persons));
        let mut facts = vec![
            ("persons", format!("{} with up to {n_rows} each, {least} to {most} in a group", count(persons.persons))),
            ("promises", format!("about persons: {known}")),
        ];
        if let Some(surplus) = self.report.surplus_rows {
            facts.push(("surplus rows", format!("{} dropped at random", counted(surplus, "row"))));
        }
        facts
    }

    /// For a release of a series: who stays, and what that took.
    fn after(&self) -> Option<(&'static str, String)> {
        let after = self.report.after.as_ref()?;
        let share = after.largest.as_ref().map_or_else(String::new, |share| {
            format!("; together they leave nobody a value with a larger share than {share} of all worlds")
        });
        let (known, releases) = (counted(after.known, "person"), counted(after.releases, "earlier release"));
        Some(("after", format!("{known} may have been in {releases}{share}")))
    }

    /// How much of an earlier release's groups is left.
    fn like(&self) -> Option<(&'static str, String)> {
        let like = self.report.like.as_ref()?;
        let mut words = format!("{} of {} keep their labels", count(like.kept), counted(like.groups, "earlier group"));
        if like.empty > 0 {
            words += &format!(", {} hold nobody", count(like.empty));
        }
        if like.outside > 0 {
            words += &format!("; {} in none of them", counted(like.outside, "row"));
        }
        Some(("like", words))
    }

    fn series(&self) -> Vec<(&'static str, String)> {
        let Some(step) = &self.report.series else { return Vec::new() };
        if self.manifest.series.is_none() {
            let left_out = counted(step.left_out, "row");
            return vec![(
                "series",
                format!("release {}: {left_out} of people published before left out", step.number),
            )];
        }
        let people = format!("{} people stay, {} are new", count(step.stay), count(step.newcomers));
        let counterfeits = match step.counterfeits {
            0 => "none: every value that is shown is somebody's".to_owned(),
            n => format!("{} that are shown are nobody's", counted(n, "value")),
        };
        let mut facts = vec![("series", format!("release {}: {people}", step.number)), ("counterfeits", counterfeits)];
        if step.changed > 0 {
            facts.push(("changed", format!(
                "{} whose value changed show others than before: that it changed is visible, and nothing is promised of \
                 what former and later values tell together",
                counted(step.changed, "person")
            )));
        }
        facts
    }

    /// What is disclosed, whatever is promised.
    fn disclosed(&self) -> Option<(&'static str, String)> {
        let (certain, disclosed) = (self.report.certain_rows?, self.report.disclosed_rows?);
        let share = |rows: u64| format!("{:.1} %", 100.0 * rows as f64 / self.report.rows.max(1) as f64);
        let ordinary = certain - disclosed;
        Some((
            "disclosed",
            match (disclosed, ordinary) {
                (0, 0) => "no row".to_owned(),
                (0, _) => format!("no row ({} with an ordinary value can be inferred)", counted(ordinary, "row")),
                _ => format!(
                    "{} ({}): ACCEPTED, their sensitive values can be inferred",
                    counted(disclosed, "row"),
                    share(disclosed)
                ),
            },
        ))
    }

    /// The first thing an owner must know: how many rows were suppressed.
    fn suppressed(&self) -> Option<String> {
        let suppressed = self.manifest.suppressed;
        let percent = 100.0 * suppressed as f64 / self.manifest.rows as f64;
        (suppressed > 0).then(|| {
            let rows = counted(suppressed, "row");
            format!("Suppressed {rows} ({percent:.2} %): shown fully generalized, as one group that satisfies the principles too")
        })
    }

    fn search(&self) -> Option<(&'static str, String)> {
        let search = self.report.recoding.as_ref()?;
        let (checked, nodes) = (count(search.nodes_checked), count(search.nodes));
        let checked = format!("{checked} of {nodes} combinations of levels checked");
        let cost = format!("{} is {:.4}", search.metric, search.cost);
        if search.nodes == 1 {
            return Some(("search", format!("none: all levels are fixed ({cost})")));
        }
        let (verdict, why) = if search.proven_optimal {
            ("proven", "")
        } else {
            ("NOT proven", ", time ran out: --time-limit gives it more")
        };
        Some(("search", format!("{verdict} optimal for {}{why} ({checked})", search.metric)))
    }

    fn prepared(&self) -> impl Iterator<Item = (&'static str, String)> {
        self.report.prepared.iter().map(|step| {
            let changed = match step.changed_rows {
                0 => "0 values changed".to_owned(),
                rows => counted(rows, "row"),
            };
            ("prepared", format!("{} {} ({changed})", step.column, step.preparation))
        })
    }

    fn left_out(&self) -> Vec<(&'static str, String)> {
        let of_reason = |reason: DroppedReason| {
            let dropped = self.recipe.dropped().iter().filter(|dropped| dropped.reason == reason);
            let names: Vec<&str> = dropped.map(|dropped| dropped.name.as_str()).collect();
            let listed = match names.len().checked_sub(LISTED) {
                Some(more) if more > 1 => format!("{} and {} more", names[..LISTED].join(", "), count(more as u64)),
                _ => names.join(", "),
            };
            (!names.is_empty()).then(|| ("left out", format!("{listed} ({})", reason.name())))
        };
        DroppedReason::ALL.into_iter().filter_map(of_reason).collect()
    }

    fn attributes(&self) -> String {
        let recoding = self.report.recoding.as_ref();
        let of_attribute = |name: &str| {
            let level = recoding?.levels.iter().find(|(known, _)| known == name)?.1;
            Some(format!("{} of {}", level.level, level.top))
        };
        let row = |attribute: &chrysalis_release::Attribute| {
            let published = match attribute.published {
                Shown::Exact => "exact",
                Shown::Permuted => "permuted",
                Shown::Generalized => "generalized",
            };
            let loss = self.report.ncp_by_attribute.iter().find(|(name, _)| *name == attribute.name);
            let loss = loss.map_or_else(String::new, |(_, mean)| number(*mean));
            let role = serde_json::to_value(attribute.role).ok();
            let role = role.and_then(|role| role.as_str().map(str::to_owned)).unwrap_or_default();
            let kind = chrysalis::table::Kind::from(attribute.kind).to_string();
            let shown = [attribute.name.clone(), role, kind, published.to_owned()];
            let level = recoding.map(|_| of_attribute(&attribute.name).unwrap_or_default());
            shown.into_iter().chain(level).chain([loss]).collect()
        };
        let rows: Vec<Vec<String>> = self.manifest.attributes.iter().map(row).collect();
        let header = ["attribute", "role", "kind", "published", "level", "loss"];
        let header: Vec<&str> = header.into_iter().filter(|name| *name != "level" || recoding.is_some()).collect();
        render::table(&header, &rows)
    }
}
