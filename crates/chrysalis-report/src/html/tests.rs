use super::*;
use crate::chart::{Axis, Chart, Series};

const NASTY: &str = "</td></script><script>alert('x')</script><img src=//evil.example/a>\" onmouseover=\"y";

fn page(word: &str) -> Page {
    let word = || word.to_owned();
    let chart = Chart::new(word(), Axis::linear(word()), Axis::categories(word(), [word()]))
        .id("the-chart")
        .with(Series::bars(word(), [(1.0, 0.0)]));
    let columns = vec![Column::words(word()).hinted(word()), Column::numbers(word())];
    let rows = vec![
        vec![Cell::name(word()), Cell::number(word(), 2.5).best()],
        vec![Cell::words(word()).bad(), Cell::none()],
        vec![Cell::words(word()), Cell::number("infinite", f64::INFINITY)],
    ];
    let table = Table::sortable(columns, rows).captioned(word());
    Page {
        title: word(),
        lead: vec![word()],
        banner: Some(Banner { tone: Tone::Bad, title: word(), texts: vec![word()] }),
        is_sheet: false,
        note: word(),
        sections: vec![Section {
            id: "all",
            title: word(),
            blocks: vec![
                Block::heading(word()),
                Block::Text(word()),
                Block::List(vec![Item::new(word(), word())]),
                Block::Terms(vec![Item::new(word(), word())]),
                Block::Code(word()),
                Block::figure(&chart, word()),
                Block::table(table),
            ],
        }],
        footer: word(),
    }
}

#[test]
fn every_block_is_on_the_page() {
    let html = page("word").to_html();
    for part in [
        "<h1>word</h1>",
        "<div class=\"banner bad\" role=\"status\"><p class=\"verdict\">word</p>\n<p>word</p>\n</div>",
        "<h3>word</h3>",
        "<li><strong>word</strong> word</li>",
        "<dt>word</dt><dd>word</dd>",
        "<pre><code>word</code></pre>",
        "<svg xmlns=\"http://www.w3.org/2000/svg\" id=\"the-chart\"",
        "<caption>word</caption>",
        "<th scope=\"col\" title=\"word\">word</th>",
        "<td class=\"number best\" data-sort=\"2.5\">word</td>",
        "<td class=\"bad\">word</td>",
        "<td class=\"number\" data-sort=\"\">infinite</td>",
    ] {
        assert!(html.contains(part), "{part} is not in {html}");
    }
}

#[test]
fn hostile_words_stay_words() {
    let html = page(NASTY).to_html();
    assert_eq!(html.matches("<script>").count(), 1, "ours alone");
    assert!(!html.contains("<img") && !html.contains("\" onmouseover"), "{html}");
    assert!(html.contains("&lt;script&gt;alert(&#x27;x&#x27;)"), "{html}");
    // As many elements as with harmless words.
    let tags = |html: &str| html.matches('<').count();
    assert_eq!(tags(&html), tags(&page("word").to_html()));
}

#[test]
fn the_policy_allows_our_styles_and_our_script_and_no_network() {
    let html = page("word").to_html();
    let policy = html.split("Content-Security-Policy\" content=\"").nth(1).unwrap().split('"').next().unwrap();
    let policy = policy.replace("&#x27;", "'").replace("&#x2f;", "/");
    assert!(policy.starts_with("default-src 'none'; style-src 'sha256-"), "{policy}");
    assert!(!policy.contains("unsafe") && !policy.contains("http") && !policy.contains('*'), "{policy}");
    for (tag, directive) in [("style", "style-src"), ("script", "script-src")] {
        let allowed = policy.split("; ").find(|part| part.starts_with(directive)).unwrap();
        for part in html.split(&format!("<{tag}>")).skip(1) {
            let text = part.split(&format!("</{tag}>")).next().unwrap();
            let hashed = policy::policy(&[text], &[]);
            let hash = hashed.split("style-src ").nth(1).unwrap().split(';').next().unwrap();
            assert!(allowed.contains(hash), "{tag} is not allowed: {text}");
        }
    }
}

#[test]
fn nothing_is_fetched_from_anywhere() {
    let html = page("word").to_html();
    let names = html.replace("http://www.w3.org/2000/svg", "");
    for part in ["http:", "https:", "src=", "url(", "@import", "<link"] {
        assert!(!names.contains(part), "{part}");
    }
    assert!(!html.contains(" style=\""), "the policy forbids styles in attributes");
}

#[test]
fn the_same_page_is_the_same_text_and_has_no_control_characters() {
    let html = page("a\u{0}b\u{1b}[31m").to_html();
    assert_eq!(html, page("a\u{0}b\u{1b}[31m").to_html());
    assert!(html.contains("a\u{fffd}b\u{fffd}[31m") && !html.contains('\u{1b}'));
}
