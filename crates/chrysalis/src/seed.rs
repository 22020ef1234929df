use rand::rngs::{ChaCha20Rng, SysRng};
use rand::{SeedableRng, TryRng};

use crate::Error;

/// Where randomness comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Seed {
    /// From the operating system, new every time: for releases that are handed out.
    #[default]
    Secret,
    /// From a number, for experiments: anyone who knows it can undo the randomness, so the release is marked.
    Fixed(u64),
}

impl Seed {
    /// A cryptographic generator.
    pub fn generator(self) -> Result<ChaCha20Rng, Error> {
        let key = match self {
            Seed::Fixed(seed) => return Ok(ChaCha20Rng::seed_from_u64(seed)),
            Seed::Secret => {
                let mut key = [0; 32];
                let failed = |error| Error::internal(format!("no randomness to be had: {error}"));
                SysRng.try_fill_bytes(&mut key).map_err(failed)?;
                key
            }
        };
        Ok(ChaCha20Rng::from_seed(key))
    }

    /// Whether the same release can be made again.
    pub fn is_fixed(self) -> bool {
        matches!(self, Seed::Fixed(_))
    }
}

impl From<Option<u64>> for Seed {
    fn from(seed: Option<u64>) -> Self {
        seed.map_or(Seed::Secret, Seed::Fixed)
    }
}
