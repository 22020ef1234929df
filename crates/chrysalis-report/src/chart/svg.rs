//! SVG as text: elements, attributes, and nothing that could end either of them early.

/// A document that grows from front to back.
#[derive(Default)]
pub(super) struct Svg {
    text: String,
}

/// Attributes of one element, in the order they are written.
pub(super) type Attributes<'a> = &'a [(&'a str, String)];

impl Svg {
    /// An element that others go into, until [`Svg::close`].
    pub(super) fn open(&mut self, tag: &str, attributes: Attributes) {
        self.tag(tag, attributes);
        self.text.push_str(">\n");
    }

    pub(super) fn close(&mut self, tag: &str) {
        self.text.push_str(&format!("</{tag}>\n"));
    }

    /// An element without content.
    pub(super) fn leaf(&mut self, tag: &str, attributes: Attributes) {
        self.tag(tag, attributes);
        self.text.push_str("/>\n");
    }

    /// An element that holds text.
    pub(super) fn words(&mut self, tag: &str, attributes: Attributes, words: &str) {
        self.tag(tag, attributes);
        self.text.push_str(&format!(">{}</{tag}>\n", escaped(words)));
    }

    /// A style sheet: our own constant text, which holds no markup.
    pub(super) fn style(&mut self, css: &'static str) {
        self.text.push_str(&format!("<style>{css}</style>\n"));
    }

    pub(super) fn finish(self) -> String {
        self.text
    }

    fn tag(&mut self, tag: &str, attributes: Attributes) {
        self.text.push('<');
        self.text.push_str(tag);
        for (name, value) in attributes {
            self.text.push_str(&format!(" {name}=\"{}\"", escaped(value)));
        }
    }
}

/// Text that is safe between tags and inside quotes; characters that XML forbids are replaced.
pub(super) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            '\u{fffe}' | '\u{ffff}' => safe.push('\u{fffd}'),
            _ if letter.is_control() => safe.push('\u{fffd}'),
            _ => safe.push(letter),
        }
    }
    safe
}

/// A coordinate: a tenth of a pixel is enough, and no `-0`.
pub(super) fn px(value: f64) -> String {
    let tenths = (value * 10.0).round() / 10.0;
    if tenths == 0.0 { "0".to_owned() } else { tenths.to_string() }
}

/// How wide a text will be at a font size; fonts differ, so this is a generous guess.
pub(super) fn width(text: &str, size: f64) -> f64 {
    let ems = |letter: char| match letter {
        'i' | 'l' | 'j' | 't' | 'f' | '.' | ',' | '\'' | '|' | ' ' | ':' | ';' => 0.34,
        'm' | 'w' | 'M' | 'W' | '%' => 0.86,
        '0'..='9' => 0.64,
        letter if letter.is_ascii() => 0.58,
        // Wide scripts.
        letter if letter > '\u{1100}' => 1.0,
        _ => 0.62,
    };
    text.chars().map(ems).sum::<f64>() * size
}

/// As much of a text as fits, with an ellipsis where something is missing.
pub(super) fn shortened(text: &str, size: f64, room: f64) -> String {
    if width(text, size) <= room {
        return text.to_owned();
    }
    let mut short = String::new();
    for letter in text.chars() {
        short.push(letter);
        if width(&short, size) + size > room {
            short.pop();
            break;
        }
    }
    short.push('…');
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_ends_an_element_early() {
        assert_eq!(escaped("<script>alert('x')</script> & \"y\""), {
            "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt; &amp; &quot;y&quot;"
        });
        assert_eq!(escaped("a\u{0}b\u{1b}c\nd"), "a\u{fffd}b\u{fffd}c\u{fffd}d");
    }

    #[test]
    fn coordinates_are_short() {
        for (value, text) in [(0.0, "0"), (-0.01, "0"), (12.0, "12"), (3.25, "3.3"), (-7.12, "-7.1")] {
            assert_eq!(px(value), text);
        }
    }

    #[test]
    fn long_texts_get_an_ellipsis_and_stay_inside() {
        assert_eq!(shortened("age", 12.0, 100.0), "age");
        let short = shortened(&"generalize ".repeat(40), 12.0, 100.0);
        assert!(short.ends_with('…') && width(&short, 12.0) <= 100.0, "{short}");
        assert_eq!(shortened("wide", 12.0, 1.0), "…");
    }
}
