//! Text in the encodings that spreadsheets and statistics programs write, as UTF-8.

use std::io::{self, ErrorKind, Read};
use std::str::FromStr;

/// How a text file is encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8, with or without a byte order mark.
    Utf8,
    /// Latin-1 as Windows writes it (code page 1252): the bytes that Latin-1 leaves to control characters are letters
    /// and signs such as `€`.
    Latin1,
    /// UTF-16, least byte first.
    Utf16Le,
    /// UTF-16, greatest byte first.
    Utf16Be,
}

impl FromStr for Encoding {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.to_ascii_lowercase().as_str() {
            "utf-8" | "utf8" => Ok(Encoding::Utf8),
            "latin-1" | "latin1" | "iso-8859-1" | "windows-1252" | "cp1252" => Ok(Encoding::Latin1),
            "utf-16" | "utf-16le" | "utf-16-le" => Ok(Encoding::Utf16Le),
            "utf-16be" | "utf-16-be" => Ok(Encoding::Utf16Be),
            _ => Err("expected utf-8, latin-1, utf-16 or utf-16be".into()),
        }
    }
}

impl Encoding {
    /// The encoding that a byte order mark announces, and the mark's length.
    fn of_mark(start: &[u8]) -> Option<(Encoding, usize)> {
        match start {
            // UTF-32 is left to the check of the header, which names it.
            [0xff, 0xfe, 0, 0, ..] => None,
            [0xef, 0xbb, 0xbf, ..] => Some((Encoding::Utf8, 3)),
            [0xff, 0xfe, ..] => Some((Encoding::Utf16Le, 2)),
            [0xfe, 0xff, ..] => Some((Encoding::Utf16Be, 2)),
            _ => None,
        }
    }
}

/// The letters of code page 1252 from 0x80 to 0x9f; five bytes stand for nothing and stay what they are in Latin-1.
const WINDOWS: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}', '\u{90}', '‘', '’',
    '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

/// How many bytes are decoded at a time.
const CHUNK: usize = 1 << 16;

/// A stream as UTF-8. UTF-8 itself passes through untouched; whether it is valid is checked where fields are read.
pub(super) struct Decoder<R> {
    inner: R,
    /// What the reader was told; a byte order mark wins over nothing, and is skipped if it agrees.
    told: Option<Encoding>,
    /// Known once the first bytes have been read.
    encoding: Option<Encoding>,
    /// Bytes that were read and not yet decoded or handed out.
    raw: Vec<u8>,
    /// Decoded text, and how much of it was handed out.
    text: Vec<u8>,
    n_out: usize,
    at_end: bool,
}

impl<R: Read> Decoder<R> {
    pub(super) fn new(inner: R, told: Option<Encoding>) -> Self {
        Decoder { inner, told, encoding: None, raw: Vec::new(), text: Vec::new(), n_out: 0, at_end: false }
    }

    /// Reads until so many bytes wait to be decoded, or the stream ends.
    fn fill(&mut self, len: usize) -> io::Result<()> {
        let mut filled = self.raw.len();
        self.raw.resize(len.max(filled), 0);
        while filled < len && !self.at_end {
            match self.inner.read(&mut self.raw[filled..]) {
                Ok(0) => self.at_end = true,
                Ok(n) => filled += n,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    self.raw.truncate(filled);
                    return Err(error);
                }
            }
        }
        self.raw.truncate(filled);
        Ok(())
    }

    /// Settles the encoding by what was told, or by a byte order mark.
    fn settle(&mut self) -> io::Result<Encoding> {
        if let Some(encoding) = self.encoding {
            return Ok(encoding);
        }
        self.fill(4)?;
        let mark = Encoding::of_mark(&self.raw);
        let encoding = self.told.or(mark.map(|(encoding, _)| encoding)).unwrap_or(Encoding::Utf8);
        // The mark of UTF-8 is left to the reader of the header.
        if let Some((_, len)) = mark.filter(|(marked, _)| *marked == encoding && encoding != Encoding::Utf8) {
            self.raw.drain(..len);
        }
        self.encoding = Some(encoding);
        Ok(encoding)
    }

    /// Decodes the next bytes; `false` at the end.
    fn decode(&mut self, encoding: Encoding) -> io::Result<bool> {
        self.fill(CHUNK)?;
        if self.raw.is_empty() {
            return Ok(false);
        }
        self.text.clear();
        self.n_out = 0;
        let mut letter = [0; 4];
        match encoding {
            Encoding::Utf8 => self.text.append(&mut self.raw),
            Encoding::Latin1 => {
                for byte in self.raw.drain(..) {
                    let found = match byte {
                        0x80..=0x9f => WINDOWS[usize::from(byte - 0x80)],
                        byte => char::from(byte),
                    };
                    self.text.extend_from_slice(found.encode_utf8(&mut letter).as_bytes());
                }
            }
            Encoding::Utf16Le | Encoding::Utf16Be => {
                let unit = |pair: &[u8]| match encoding {
                    Encoding::Utf16Le => u16::from_le_bytes([pair[0], pair[1]]),
                    _ => u16::from_be_bytes([pair[0], pair[1]]),
                };
                let mut units: Vec<u16> = self.raw.chunks_exact(2).map(unit).collect();
                let is_cut = |units: &[u16]| units.last().is_some_and(|unit| (0xd800..0xdc00).contains(unit));
                // Half a letter waits for its other half.
                if is_cut(&units) && !self.at_end {
                    units.pop();
                }
                let n_used = 2 * units.len();
                let wrong = || io::Error::new(ErrorKind::InvalidData, "it is not UTF-16");
                if self.at_end && n_used < self.raw.len() {
                    return Err(wrong());
                }
                for found in char::decode_utf16(units) {
                    let found = found.map_err(|_| wrong())?;
                    self.text.extend_from_slice(found.encode_utf8(&mut letter).as_bytes());
                }
                self.raw.drain(..n_used);
            }
        }
        Ok(true)
    }
}

impl<R: Read> Read for Decoder<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let encoding = self.settle()?;
        if encoding == Encoding::Utf8 && self.raw.is_empty() && self.n_out == self.text.len() {
            return self.inner.read(buffer);
        }
        while self.n_out == self.text.len() {
            // The bytes that were looked at to settle the encoding of a UTF-8 stream come first.
            if encoding == Encoding::Utf8 {
                self.text = std::mem::take(&mut self.raw);
                self.n_out = 0;
                break;
            }
            if !self.decode(encoding)? {
                return Ok(0);
            }
        }
        let n = buffer.len().min(self.text.len() - self.n_out);
        buffer[..n].copy_from_slice(&self.text[self.n_out..self.n_out + n]);
        self.n_out += n;
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Hands out one byte at a time.
    struct Drops<'a>(&'a [u8]);

    impl Read for Drops<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let n = buffer.len().min(self.0.len()).min(1);
            buffer[..n].copy_from_slice(&self.0[..n]);
            self.0 = &self.0[n..];
            Ok(n)
        }
    }

    fn decoded(bytes: &[u8], told: Option<Encoding>) -> io::Result<String> {
        let (mut whole, mut drops) = (Vec::new(), Vec::new());
        let found = Decoder::new(bytes, told).read_to_end(&mut whole);
        let again = Decoder::new(Drops(bytes), told).read_to_end(&mut drops);
        assert_eq!(found.is_ok(), again.is_ok());
        found?;
        assert_eq!(whole, drops);
        Ok(String::from_utf8(whole).unwrap())
    }

    fn utf_16(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(bytes).collect()
    }

    #[test]
    fn marks_tell_the_encoding_and_disappear() {
        assert_eq!(decoded(&utf_16("\u{feff}Köln;𝄞", u16::to_le_bytes), None).unwrap(), "Köln;𝄞");
        assert_eq!(decoded(&utf_16("\u{feff}Köln;𝄞", u16::to_be_bytes), None).unwrap(), "Köln;𝄞");
        assert_eq!(decoded(b"K\xf6ln \x80", Some(Encoding::Latin1)).unwrap(), "Köln €");
        assert_eq!(decoded("Köln".as_bytes(), None).unwrap(), "Köln");
        assert_eq!(decoded(b"", Some(Encoding::Utf16Le)).unwrap(), "");
        // A mark that contradicts what was said is text.
        assert_eq!(decoded(b"\xff\xfea", Some(Encoding::Latin1)).unwrap(), "ÿþa");
    }

    #[test]
    fn half_a_letter_is_an_error() {
        for bytes in [&b"a\0b"[..], b"\x34\xd8", b"\x34\xd8a\0"] {
            let error = decoded(bytes, Some(Encoding::Utf16Le)).unwrap_err();
            assert_eq!((error.kind(), error.to_string().as_str()), (ErrorKind::InvalidData, "it is not UTF-16"));
        }
    }

    proptest! {
        #[test]
        fn utf_16_is_read_as_it_was_written(text in "\\PC{0,200}") {
            prop_assert_eq!(decoded(&utf_16(&text, u16::to_le_bytes), Some(Encoding::Utf16Le)).unwrap(), text.clone());
            prop_assert_eq!(decoded(&utf_16(&text, u16::to_be_bytes), Some(Encoding::Utf16Be)).unwrap(), text);
        }
    }
}
