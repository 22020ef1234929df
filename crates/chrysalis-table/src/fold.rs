use std::borrow::Cow;

use unicode_normalization::{UnicodeNormalization, is_nfkc_quick};

/// A text as readers see it: words that look alike on a page become equal.
///
/// Compatibility forms are unified (NFKC), letters lose their case, characters without width are dropped, and white
/// space becomes a single blank between words. `HIV`, `HIV ` and `hiv` are one, and so are the two spellings of `Café`.
/// Letters of different alphabets that merely resemble each other stay different. Folding twice is folding once.
pub fn folded(text: &str) -> Cow<'_, str> {
    let is_plain = |byte: u8| matches!(byte, b'!'..=b'@' | b'['..=b'~') || byte == b' ';
    let has_one_blank_between_words =
        !text.starts_with(' ') && !text.ends_with(' ') && !text.as_bytes().windows(2).any(|pair| pair == b"  ");
    if text.bytes().all(is_plain) && has_one_blank_between_words {
        return Cow::Borrowed(text);
    }
    let mut words = once(text);
    // Case folding can produce characters that need another round: İ has no single lower-case letter. Two rounds are
    // enough for every letter there is; the limit makes sure that no text keeps us here.
    for _ in 0..MOST_ROUNDS {
        let again = once(&words);
        if again == words {
            break;
        }
        words = again;
    }
    Cow::Owned(words)
}

const MOST_ROUNDS: usize = 8;

fn once(text: &str) -> String {
    let unified: String = match is_nfkc_quick(text.chars()) {
        unicode_normalization::IsNormalized::Yes => text.to_owned(),
        _ => text.nfkc().collect(),
    };
    // Upper case first: `ß` and `SS` are the same letters, and so are the two small sigmas.
    let small = unified.to_uppercase().to_lowercase().replace('ς', "σ");
    let mut words = String::with_capacity(small.len());
    for word in small.nfkc().filter(|letter| !is_unseen(*letter)).collect::<String>().split_whitespace() {
        if !words.is_empty() {
            words.push(' ');
        }
        words.push_str(word);
    }
    words
}

/// Characters that take up no room: soft hyphens, joiners, direction marks, variation selectors, byte order marks.
fn is_unseen(letter: char) -> bool {
    matches!(
        letter,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{e0000}'..='\u{e0fff}'
    ) || (letter.is_control() && !letter.is_whitespace())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_that_look_alike_are_one() {
        let alike: [&[&str]; 8] = [
            &["HIV", "HIV ", "hiv", " Hiv", "H\u{200b}IV", "H\u{ad}IV", "ＨＩＶ", "HIV\u{a0}", "HIV\u{feff}"],
            &["Café", "Cafe\u{301}", "CAFÉ", "cafe\u{301} "],
            &["type 2", "Type  2", "type\u{2003}2", "Type\t2", "type ②"],
            &["Straße", "STRASSE", "strasse"],
            &["ΟΔΟΣ", "οδος", "οδοσ"],
            &["ﬁbrosis", "FIBROSIS"],
            &["İ", "i\u{307}"],
            &["", " ", "\u{200b}", "\u{a0}\u{2003}", "\u{feff}"],
        ];
        for words in alike {
            for word in words {
                assert_eq!(folded(word), folded(words[0]), "{word:?}");
            }
        }
        assert_eq!(folded("HIV "), "hiv");
        assert_eq!(folded("n/a"), "n/a");
    }

    #[test]
    fn different_words_stay_different() {
        for (a, b) in [("HIV", "HPV"), ("type 1", "type 2"), ("a b", "ab"), ("cafe", "café"), ("A-1", "A1"), ("А", "A")]
        {
            assert_ne!(folded(a), folded(b), "{a} {b}");
        }
    }

    proptest! {
        #[test]
        fn folding_twice_is_folding_once(text in "\\PC{0,12}|[a-zA-Zßſİıσς ÀÅÉ\u{300}-\u{36f}\u{200b}\u{ad}ﬁ①Ⅷ]{0,8}") {
            let once = folded(&text).into_owned();
            prop_assert_eq!(folded(&once), once.as_str());
            // The iota below a letter is a mark in small letters and a letter in capitals: whoever writes capitals before
            // marks are in order (U+0345 U+0300) writes something else.
            if !text.contains('\u{345}') {
                let (upper, lower) = (text.to_uppercase(), text.to_lowercase());
                prop_assert_eq!(folded(&upper), folded(&lower));
            }
            let padded = format!(" {text}\u{200b} ");
            prop_assert_eq!(folded(&padded), once);
        }
    }
}
