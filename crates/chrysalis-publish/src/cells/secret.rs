use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use rand::SeedableRng;
use rand::rngs::ChaCha20Rng;
use sha2::Sha256;

/// What all randomness of one release by cells is made from: new for every release, and never in it.
///
/// LEAK: whoever has it can undo every permutation. It is not serializable, and `Debug` shows nothing of it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret([u8; 32]);

impl Secret {
    /// A secret of 32 random bytes.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Secret(bytes)
    }

    /// The bytes, for a task that runs elsewhere.
    pub fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// A key for one purpose: HMAC-SHA-256 of the purpose and a path.
    pub(super) fn key(&self, purpose: &str, path: &str) -> [u8; 32] {
        // HMAC fills shorter keys up to a block with zeros.
        let mut block = [0; 64];
        block[..32].copy_from_slice(&self.0);
        let mut mac = Hmac::<Sha256>::new(&block.into());
        mac.update(purpose.as_bytes());
        mac.update(&[0]);
        mac.update(path.as_bytes());
        mac.finalize().into_bytes().into()
    }

    /// The random numbers of one cell.
    pub(super) fn stream(&self, path: &str) -> ChaCha20Rng {
        ChaCha20Rng::from_seed(self.key("cell", path))
    }

    /// Two words of a key for one purpose.
    pub(super) fn words(&self, purpose: &str) -> [u64; 2] {
        let key = self.key(purpose, "");
        let word = |at: usize| key[at..at + 8].iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
        [word(0), word(8)]
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// SipHash-2-4: a keyed function whose values nobody can tell from random ones without the key.
pub(super) fn sip(key: [u64; 2], bytes: &[u8]) -> u64 {
    let mut state = [
        key[0] ^ 0x736f_6d65_7073_6575,
        key[1] ^ 0x646f_7261_6e64_6f6d,
        key[0] ^ 0x6c79_6765_6e65_7261,
        key[1] ^ 0x7465_6462_7974_6573,
    ];
    let mut word = |word: u64, rounds: usize| {
        state[3] ^= word;
        (0..rounds).for_each(|_| round(&mut state));
        state[0] ^= word;
        state
    };
    let chunks = bytes.chunks_exact(8);
    let rest = chunks.remainder();
    for chunk in chunks {
        word(chunk.iter().rev().fold(0, |all, &byte| all << 8 | u64::from(byte)), 2);
    }
    // The length is the highest byte, the rest fills the lower ones.
    let last = rest.iter().rev().fold(0, |all, &byte| all << 8 | u64::from(byte)) | (bytes.len() as u64) << 56;
    let mut state = word(last, 2);
    state[2] ^= 0xff;
    (0..4).for_each(|_| round(&mut state));
    state[0] ^ state[1] ^ state[2] ^ state[3]
}

fn round(v: &mut [u64; 4]) {
    v[0] = v[0].wrapping_add(v[1]);
    v[1] = v[1].rotate_left(13) ^ v[0];
    v[0] = v[0].rotate_left(32);
    v[2] = v[2].wrapping_add(v[3]);
    v[3] = v[3].rotate_left(16) ^ v[2];
    v[0] = v[0].wrapping_add(v[3]);
    v[3] = v[3].rotate_left(21) ^ v[0];
    v[2] = v[2].wrapping_add(v[1]);
    v[1] = v[1].rotate_left(17) ^ v[2];
    v[2] = v[2].rotate_left(32);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From the paper's appendix: the key 00 01 … 0f, the text 00 01 … 0e.
    #[test]
    fn sip_hash_gives_the_value_of_its_paper() {
        let text: Vec<u8> = (0..15).collect();
        assert_eq!(sip([0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908], &text), 0xa129_ca61_49be_45e5);
    }

    #[test]
    fn purposes_and_paths_have_keys_of_their_own() {
        let secret = Secret::from_bytes([7; 32]);
        let keys = [secret.key("cell", "0"), secret.key("cell", "1"), secret.key("cell0", ""), secret.key("ids", "0")];
        for (at, key) in keys.iter().enumerate() {
            assert!(!keys[..at].contains(key));
        }
        assert_eq!(format!("{secret:?}"), "Secret");
    }
}
