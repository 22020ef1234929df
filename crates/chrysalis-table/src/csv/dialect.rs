//! What kind of CSV this is: encoding and delimiter.

use crate::TableError;

const CANDIDATES: [u8; 4] = [b',', b';', b'\t', b'|'];
const SAMPLE_LINES: usize = 50;

/// Refuses a file whose byte order mark announces an encoding that is not read; guessing would silently corrupt names.
pub(super) fn check_encoding(start: &[u8]) -> Result<(), TableError> {
    if start.is_empty() {
        return Err(TableError::Empty);
    }
    for (mark, encoding) in [(&b"\xff\xfe\x00\x00"[..], "UTF-32"), (b"\x00\x00\xfe\xff", "UTF-32")] {
        if start.starts_with(mark) {
            return Err(TableError::Encoding { encoding });
        }
    }
    Ok(())
}

/// The candidate for which the most sample lines have as many fields as the header, at least two; of several, the one
/// with the most fields. A comma if there is none.
pub(super) fn detect_delimiter(start: &[u8]) -> u8 {
    let whole = memchr::memrchr(b'\n', start).map_or(start, |end| &start[..end]);
    let lines: Vec<&[u8]> =
        whole.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).take(SAMPLE_LINES).collect();
    let score = |delimiter: u8| -> (usize, usize) {
        let counts: Vec<usize> = lines.iter().map(|line| count_unquoted(line, delimiter)).collect();
        let header = counts.first().copied().unwrap_or(0);
        let agreeing = if header == 0 { 0 } else { counts.iter().filter(|&&count| count == header).count() };
        (agreeing, header)
    };
    let best = CANDIDATES.into_iter().rev().max_by_key(|&delimiter| score(delimiter));
    best.filter(|&delimiter| score(delimiter).1 > 0).unwrap_or(b',')
}

fn count_unquoted(line: &[u8], delimiter: u8) -> usize {
    let mut quoted = false;
    let mut count = 0;
    for &byte in line {
        quoted ^= byte == b'"';
        count += usize::from(byte == delimiter && !quoted);
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_delimiter_is_the_one_that_cuts_lines_evenly() {
        let check = |text: &str, expected: u8| {
            assert_eq!(detect_delimiter(text.as_bytes()) as char, expected as char, "{text:?}")
        };
        check("a,b\n1,2\n", b',');
        check("a;b\n1,5;2\n3,5;4\n", b';');
        check("a\tb c\n1\t2,3,4\n", b'\t');
        check("a|b\n1|2\n", b'|');
        check("one\n1\n2\n", b',');
        check("\"x;y\",b\n\"1;2;3\",2\n", b',');
        check("a;b", b';');
    }
}
