//! The certificate of a release as one page to print.

use chrysalis::certificate::{AttackState, Certificate, Verdict};
use chrysalis_report::html::{Banner, Block, Cell, Column, Item, Page, Section, Table, Tone};

/// The page: words first, numbers after, hashes last.
pub fn page(certificate: &Certificate) -> String {
    let sections = [
        Some(published(certificate)),
        Some(promises(certificate)),
        accepted(certificate),
        listed("not-protected", "What is not protected", &certificate.not_protected),
        listed("assumptions", "What the promises assume", &certificate.assumptions),
        Some(checked(certificate)),
        Some(attacks(certificate)),
        Some(files(certificate)),
    ];
    let page = Page {
        title: format!("Certificate of the release “{}”", certificate.name),
        lead: Vec::new(),
        banner: Some(Banner {
            tone: tone(certificate.verdict),
            title: certificate.headline.clone(),
            texts: certificate.meaning.clone(),
        }),
        is_sheet: true,
        note: String::new(),
        sections: sections.into_iter().flatten().collect(),
        footer: format!(
            "Made by chrysalis audit {}. It is about the files with these hashes and no others, and it is not signed: \
             whoever needs to know who made it signs it.    Checked by ______________________    on ______________",
            env!("CARGO_PKG_VERSION")
        ),
    };
    page.to_html()
}

fn tone(verdict: Verdict) -> Tone {
    match verdict {
        Verdict::Failed | Verdict::Exposed => Tone::Bad,
        Verdict::NothingPromised | Verdict::Untold => Tone::Open,
        Verdict::Holds => Tone::Good,
    }
}

fn section(id: &'static str, title: &str, blocks: Vec<Block>) -> Section {
    Section { id, title: title.to_owned(), blocks }
}

fn listed(id: &'static str, title: &str, sentences: &[String]) -> Option<Section> {
    let items: Vec<Item> = sentences.iter().map(|sentence| Item::new("", sentence)).collect();
    (!items.is_empty()).then(|| section(id, title, vec![Block::List(items)]))
}

fn published(certificate: &Certificate) -> Section {
    let facts = certificate.published.iter().map(|(term, text)| Item::new(*term, text)).collect();
    section("published", "What was published", vec![Block::Terms(facts)])
}

fn promises(certificate: &Certificate) -> Section {
    let title = "What is promised";
    if certificate.promises.is_empty() {
        return section("promised", title, vec![Block::Text("Nothing.".to_owned())]);
    }
    let columns = ["promise", "in plain words", "holds", "worst group has"].map(Column::words).to_vec();
    let rows = certificate.promises.iter().map(|promise| {
        let holds = match promise.holds {
            Some(true) => Cell::brief("yes").good(),
            Some(false) => Cell::brief("NO").bad(),
            None => Cell::brief("cannot tell"),
        };
        vec![Cell::name(&promise.written), Cell::words(&promise.words), holds, Cell::words(&promise.worst)]
    });
    section("promised", title, vec![Block::table(Table::small(columns, rows.collect()))])
}

fn accepted(certificate: &Certificate) -> Option<Section> {
    listed("accepted", "Risks that the owner accepted", &certificate.accepted)
}

fn checked(certificate: &Certificate) -> Section {
    let with = certificate.evidence.iter().map(|sentence| Item::new("", sentence)).collect();
    let columns = ["check", "", "what was found"].map(Column::words).to_vec();
    let rows = certificate.checks.iter().map(|check| {
        let ok = if check.ok { Cell::brief("ok").good() } else { Cell::brief("FAILED").bad() };
        vec![Cell::name(check.name), ok, Cell::words(&check.detail)]
    });
    let table = Table::small(columns, rows.collect());
    section("checked", "What was checked, and with what", vec![Block::List(with), Block::table(table)])
}

fn attacks(certificate: &Certificate) -> Section {
    let columns = ["attack", "score", "what an attacker can do, or why it was not tried"].map(Column::words).to_vec();
    let rows = certificate.attacks.iter().map(|attack| {
        let score = match attack.state {
            AttackState::Measured => Cell::words(&attack.score),
            AttackState::DoesNotApply => Cell::words("does not apply"),
            AttackState::NotMeasured => Cell::words("cannot tell"),
        };
        vec![Cell::name(&attack.name), score, Cell::words(&attack.sentence)]
    });
    let words = "An attack that works is no broken promise, unless one of the promises above excludes it: it is a risk for \
                 you to judge.";
    let table = Table::small(columns, rows.collect());
    section("attacks", "What attackers can do", vec![Block::Text(words.to_owned()), Block::table(table)])
}

fn files(certificate: &Certificate) -> Section {
    let columns = ["file", "SHA-256"].map(Column::words).to_vec();
    let rows = certificate.files.iter().map(|file| vec![Cell::name(&file.file), Cell::hash(&file.sha256)]);
    section("files", "The files that this is about", vec![Block::table(Table::small(columns, rows.collect()))])
}
