//! The report as a page.

use chrysalis::words::{count, counted};
use chrysalis::{Numbers, TableShape};
use chrysalis_report::html::{Block, Cell, Column, Item, Page, Section, Table};

use super::advice::Advice;
use super::charts::{self, Plot};
use super::found_again;
use super::measures::{ALL, ERROR, KL, LEARNED, LINKING, Measure, ROW_LINKING};
use super::trial::Trial;

/// A list of columns is cut off after this many characters.
const CELL: usize = 48;

/// The whole page, in the order in which an owner reads it.
pub(super) fn page(trials: &[Trial], advice: &[Advice], source: &str, questions: &str, is_seeded: bool) -> Page {
    let n_made = trials.iter().filter(|trial| trial.numbers().is_some()).count();
    let rows = trials.iter().find_map(|trial| trial.numbers()).map_or(0, |numbers| numbers.rows);
    let mut lead = vec![format!(
        "{} of {} from {source}, each made in memory, audited, and measured against the microdata.",
        counted(n_made as u64, "release"),
        counted(rows, "row"),
    )];
    let missing = trials.len() - n_made;
    if missing > 0 {
        let runs = counted(missing as u64, "other run");
        lead.push(format!("{runs} could not be made; the summary says why."));
    }
    if !questions.is_empty() {
        lead.push(questions.to_owned());
    }
    let sections = [
        Some(summary(trials)),
        Some(choose(advice)),
        Some(parameters()),
        Some(risk(trials)),
        Some(utility(trials)),
        bounds(trials),
        Some(releases(trials)),
        attacks(trials),
        Some(reproduce(trials, is_seeded)),
        Some(glossary(trials)),
    ];
    Page {
        title: "Comparison of releases".to_owned(),
        lead,
        banner: None,
        is_sheet: false,
        note: "For the owner of the data only. This page shows no row of the microdata, but it shows errors that were \
               computed from them; do not hand it out with a release."
            .to_owned(),
        sections: sections.into_iter().flatten().collect(),
        footer: "Made by chrysalis compare. The same numbers are in the JSON file beside this page.".to_owned(),
    }
}

fn section(id: &'static str, title: &str, blocks: Vec<Block>) -> Section {
    Section { id, title: title.to_owned(), blocks }
}

/// The measures for which some release has a value.
fn told(trials: &[Trial]) -> Vec<&'static Measure> {
    let has = |measure: &&Measure| trials.iter().filter_map(|trial| trial.numbers()).any(|it| measure.of(it).is_some());
    ALL.into_iter().filter(has).collect()
}

fn summary(trials: &[Trial]) -> Section {
    let measures = told(trials);
    let mut columns = vec![
        Column::words("run"),
        Column::words("promise"),
        Column::words("audit").hinted("Whether every promise holds, checked from the published tables alone"),
        Column::numbers("groups"),
    ];
    columns.extend(measures.iter().map(|measure| Column::numbers(measure.title).hinted(measure.meaning)));
    let best: Vec<f64> = measures.iter().map(|measure| least(trials, measure)).collect();
    let row = |trial: &Trial| {
        let promise = trial.promise();
        let promise = if promise.len() <= 16 { Cell::brief(promise) } else { Cell::words(promise) };
        let mut cells = vec![Cell::name(&trial.run.name), promise];
        match (&trial.found, trial.sound()) {
            (Err(_), _) => cells.push(Cell::words("not made").bad()),
            (Ok(_), None) => cells.push(Cell::words("FAILED").bad()),
            (Ok(numbers), Some(_)) if numbers.guarantees.is_empty() => cells.push(Cell::words("no promise")),
            (Ok(_), Some(_)) => cells.push(Cell::words("holds")),
        }
        let numbers = trial.numbers();
        cells.push(numbers.map_or_else(Cell::none, |it| Cell::number(count(it.groups), it.groups as f64)));
        for (measure, best) in measures.iter().zip(&best) {
            cells.push(numbers.map_or_else(Cell::none, |numbers| cell(measure, numbers, *best)));
        }
        cells
    };
    let table = Table::sortable(columns, trials.iter().map(row).collect())
        .captioned("Less is better everywhere; the best value of each column stands out. Click a heading to sort.");
    let mut blocks = vec![Block::table(table)];
    blocks.extend(unmade(trials));
    blocks.extend(broken(trials));
    blocks.extend(measured(trials));
    section("summary", "Summary", blocks)
}

/// How promises are measured (distances, weights, values): the same words may promise less by another distance.
fn measured(trials: &[Trial]) -> Option<Block> {
    let item = |trial: &Trial| {
        let told = trial.numbers().map_or(&[][..], |numbers| &numbers.measured);
        let told: Vec<String> = told.iter().map(|(principle, words)| format!("{principle} by {words}")).collect();
        (!told.is_empty()).then(|| Item::new(format!("{} promises", trial.run.name), told.join(". ")))
    };
    let items: Vec<Item> = trials.iter().filter_map(item).collect();
    (!items.is_empty()).then_some(Block::List(items))
}

/// The smallest value of a measure, if values differ.
fn least(trials: &[Trial], measure: &Measure) -> f64 {
    let values = || trials.iter().filter_map(|trial| measure.of(trial.safe()?));
    let (least, most) = (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
    if least < most { least } else { f64::NAN }
}

fn cell(measure: &Measure, numbers: &Numbers, best: f64) -> Cell {
    let Some(value) = measure.of(numbers) else { return Cell::none() };
    let cell = Cell::number((measure.shown)(value), value);
    if value <= best { cell.best() } else { cell }
}

fn unmade(trials: &[Trial]) -> Option<Block> {
    let item = |trial: &Trial| Some(Item::new(format!("{}:", trial.run.name), &trial.found.as_ref().err()?.message));
    let items: Vec<Item> = trials.iter().filter_map(item).collect();
    (!items.is_empty()).then_some(Block::List(items))
}

fn broken(trials: &[Trial]) -> Option<Block> {
    let item = |trial: &Trial| {
        let numbers = trial.numbers().filter(|numbers| !numbers.findings.is_empty())?;
        Some(Item::new(format!("{} FAILED the audit:", trial.run.name), numbers.findings.join("; ")))
    };
    let items: Vec<Item> = trials.iter().filter_map(item).collect();
    (!items.is_empty()).then_some(Block::List(items))
}

/// What others promise, depending on who gets the release; `docs/guides/choose-a-promise.md` has the sources.
fn parameters() -> Section {
    let columns = ["who gets the release", "k", "who asks for that"].map(Column::words).to_vec();
    let rows = [
        ["colleagues under a contract, on your machines", "5", "a risk of 0.2, common in health research"],
        ["researchers under a contract", "10 or 11", "CMS: no cell below 11"],
        ["anybody, clinical reports", "11 or more", "EMA (2016) and Health Canada (2019): at most 0.09, which is 1/11"],
        ["anybody, delicate tables", "20", "a risk of 0.05, the strictest in common use"],
    ];
    let cells = |row: [&str; 3]| row.map(|text| Cell::words(text.to_owned())).to_vec();
    let words = "There are fewer conventions for sensitive values. Ask of the column: would it harm a person if \
                 somebody bet on their value and was right every second time, every fourth, every tenth? That number \
                 is l. Where one value is in more than half of all rows, beta=1 or t=0.3 take the place of l; for \
                 numbers add ke. The numbers for k are those that El Emam and Malin collect (Sharing Clinical Trial \
                 Data, appendix B, 2015), and those of the guidance named beside them.";
    let table = Table::small(columns, rows.into_iter().map(cells).collect());
    section("parameters", "Which k and which l, for whom", vec![Block::table(table), Block::Text(words.to_owned())])
}

fn choose(advice: &[Advice]) -> Section {
    // A number and its sign stay on one line.
    let text = |advice: &Advice| advice.sentence.replace(" %", "\u{a0}%");
    let items = advice.iter().map(|advice| Item::new(advice.goal, text(advice))).collect();
    let blocks = match advice {
        [] => vec![Block::Text("There are too few releases to choose between.".to_owned())],
        _ => vec![
            Block::List(items),
            Block::Text(
                "Only releases whose audit holds and that disclose no row are considered. A lower risk here is a risk under the attacks that were \
                 tried; the promise alone is what is certain."
                    .to_owned(),
            ),
        ],
    };
    section("choose", "Which to choose for what", blocks)
}

fn figure(plot: Plot) -> Block {
    Block::figure(&plot.chart, plot.caption)
}

fn risk(trials: &[Trial]) -> Section {
    let mut blocks = vec![figure(charts::risk_against_utility(trials))];
    let caption = "Linking and row linking are those of the person who is worst off, guesses by learning a share of all people. \
                   Nothing is promised but what the principles say.";
    let risks =
        charts::bars(trials, &[&LINKING, &ROW_LINKING, &LEARNED], "chart-risks", "Risk of every release", caption);
    if !risks.chart.is_empty() {
        blocks.push(figure(risks));
    }
    blocks.extend(found_again::figure(trials));
    section("risk-utility", "Risk against utility", blocks)
}

fn utility(trials: &[Trial]) -> Section {
    let mut blocks = Vec::new();
    let measures: Vec<&Measure> = [&ERROR, &KL]
        .into_iter()
        .filter(|measure| trials.iter().filter_map(|trial| trial.numbers()).any(|it| measure.of(it).is_some()))
        .collect();
    let parameters = charts::parameters(trials);
    for measure in &measures {
        for parameter in &parameters {
            blocks.push(figure(charts::against(trials, measure, parameter)));
        }
        // If every run varies a parameter, the line charts already show everything.
        let is_said =
            |trial: &Trial| trial.numbers().is_none() || parameters.iter().any(|it| trial.run.varied.contains_key(it));
        if trials.iter().all(is_said) {
            continue;
        }
        let id = format!("chart-{}", measure.key);
        let title = format!("{} of every release", charts::capitalized(measure.title));
        blocks.push(figure(charts::bars(trials, &[measure], &id, &title, "Shorter is better.")));
    }
    if blocks.is_empty() {
        blocks.push(Block::Text("No release here can be measured against the microdata.".to_owned()));
    }
    section("utility", "What the releases are worth", blocks)
}

fn bounds(trials: &[Trial]) -> Option<Section> {
    let plot = charts::bounds(trials);
    let is_asked = trials.iter().filter_map(|trial| trial.numbers()).any(|numbers| !numbers.questions.is_empty());
    is_asked.then(|| {
        let outside: Vec<&str> = trials
            .iter()
            .filter(|trial| trial.numbers().is_some_and(|it| it.questions.iter().any(|it| it.inside < it.judged)))
            .map(|trial| trial.run.name.as_str())
            .collect();
        let words = match &outside[..] {
            [] => "Every true answer lay within its bounds, for every release and every question.".to_owned(),
            names => format!("Bounds did NOT hold for {}: that is a bug, please report it.", names.join(", ")),
        };
        section("bounds", "Bounds of answers", vec![figure(plot), Block::Text(words)])
    })
}

fn releases(trials: &[Trial]) -> Section {
    let mut blocks = vec![Block::Text(
        "The tables that anybody who gets the release would see. No row is shown here: rows of a release that nobody \
         has decided to hand out may be those of real people."
            .to_owned(),
    )];
    for trial in trials {
        let Some(numbers) = trial.numbers() else { continue };
        blocks.push(Block::heading(&trial.run.name));
        let (smallest, largest) = numbers.sizes;
        let word = numbers.method.shape().group_word;
        let mut words = format!(
            "{} in {} of {} to {}; promise: {}.",
            counted(numbers.rows, "row"),
            counted(numbers.groups, word),
            count(smallest),
            count(largest),
            trial.promise()
        );
        if numbers.suppressed > 0 {
            words += &format!(" {} are suppressed.", counted(numbers.suppressed, "row"));
        }
        blocks.push(Block::Text(words));
        if let Some(disclosed) = numbers.disclosed_rows.filter(|&rows| rows > 0) {
            blocks.push(Block::Text(format!(
                "DISCLOSED: the sensitive values of {} of {} can be inferred, whatever is promised. Do not publish it.",
                counted(disclosed, "row"),
                count(numbers.rows)
            )));
        }
        blocks.push(Block::Tables(vec![shapes(&numbers.tables)]));
    }
    section("releases", "What each release looks like", blocks)
}

fn attacks(trials: &[Trial]) -> Option<Section> {
    let mut blocks = Vec::new();
    for trial in trials {
        let items = trial.numbers().map_or(&[][..], |numbers| &numbers.attacks).iter();
        let items: Vec<Item> = items.map(|(attack, words)| Item::new(format!("{attack}:"), words)).collect();
        if !items.is_empty() {
            blocks.extend([Block::heading(&trial.run.name), Block::List(items)]);
        }
    }
    (!blocks.is_empty()).then(|| section("attacks", "What attackers find in each release", blocks))
}

/// The names, numbers of rows and columns of the published tables.
fn shapes(tables: &[TableShape]) -> Table {
    let columns = vec![Column::words("table"), Column::numbers("rows"), Column::words("columns")];
    let row = |shape: &TableShape| {
        let rows = Cell::number(count(shape.rows), shape.rows as f64);
        vec![Cell::words(shape.table.clone()), rows, Cell::words(cut(&shape.columns.join(", ")))]
    };
    Table::small(columns, tables.iter().map(row).collect())
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(CELL) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

fn reproduce(trials: &[Trial], is_seeded: bool) -> Section {
    let words = match is_seeded {
        true => {
            "The commands name the seed, so each makes the release that was measured here. Anybody who knows a seed \
             can undo the randomness: leave the seed out for a release that is handed out, which will then have other \
             group ids, and may form other groups."
        }
        false => {
            "Randomness is drawn anew every time, so a release that is published will have other group ids, and may form other \
             groups, than the one that was measured here."
        }
    };
    let mut blocks = vec![Block::Text(words.to_owned())];
    for trial in trials.iter().filter(|trial| trial.numbers().is_some()) {
        blocks.push(Block::heading(&trial.run.name));
        blocks.push(Block::Code(trial.run.command.clone()));
    }
    section("reproduce", "How to publish one of them", blocks)
}

fn glossary(trials: &[Trial]) -> Section {
    let items = told(trials).into_iter().map(|measure| Item::new(charts::capitalized(measure.title), measure.meaning));
    section("glossary", "What the measures mean", vec![Block::Terms(items.collect())])
}
