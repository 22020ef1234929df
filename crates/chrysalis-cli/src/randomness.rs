use rand::rngs::{ChaCha20Rng, SysRng};
use rand::{SeedableRng, TryRng};

use crate::failure::Failure;

/// A cryptographic generator keyed by the operating system; with a seed, for experiments, by that.
pub(crate) fn generator(seed: Option<u64>) -> Result<ChaCha20Rng, Failure> {
    if let Some(seed) = seed {
        return Ok(ChaCha20Rng::seed_from_u64(seed));
    }
    let mut key = [0; 32];
    SysRng.try_fill_bytes(&mut key).map_err(|error| Failure::internal(format!("no randomness to be had: {error}")))?;
    Ok(ChaCha20Rng::from_seed(key))
}
