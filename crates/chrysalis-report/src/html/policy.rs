//! What a browser may do with a page: show it, and nothing else.

use sha2::{Digest, Sha256};

/// A Content-Security-Policy that allows these styles and scripts, identified by their hashes, and no request at all.
pub(super) fn policy(styles: &[&str], scripts: &[&str]) -> String {
    let listed = |texts: &[&str]| texts.iter().map(|text| source(text)).collect::<Vec<_>>().join(" ");
    let (styles, scripts) = (listed(styles), listed(scripts));
    format!("default-src 'none'; style-src {styles}; script-src {scripts}; base-uri 'none'; form-action 'none'")
}

fn source(text: &str) -> String {
    format!("'sha256-{}'", base64(&Sha256::digest(text.as_bytes())))
}

/// RFC 4648, with padding.
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let byte = |at: usize| u32::from(three.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * at)) as usize & 63];
            text.push(if at <= three.len() { char::from(letter) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_the_rfc() {
        let cases =
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("foobar", "Zm9vYmFy")];
        for (text, expected) in cases {
            assert_eq!(base64(text.as_bytes()), expected);
        }
        assert_eq!(base64(&[0xff, 0xef, 0xbe]), "/+++");
    }

    #[test]
    fn the_hash_is_the_one_that_browsers_compute() {
        // From the CSP specification, section 8.3: sha256 of `alert('Hello, world.');`.
        assert_eq!(source("alert('Hello, world.');"), "'sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng='");
    }
}
