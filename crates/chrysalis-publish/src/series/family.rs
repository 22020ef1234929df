use chrysalis_table::Code;
use foldhash::fast::FixedState;
use hashbrown::HashMap;

/// All signatures, and the place of each.
pub(super) struct Family {
    signatures: Vec<Vec<Code>>,
    places: HashMap<Vec<Code>, u32, FixedState>,
}

impl Family {
    pub(super) fn new(signatures: Vec<Vec<Code>>) -> Self {
        let places = (0_u32..).zip(&signatures).map(|(place, signature)| (signature.clone(), place)).collect();
        Family { signatures, places }
    }

    pub(super) fn len(&self) -> usize {
        self.signatures.len()
    }

    /// The values of a signature, ascending.
    pub(super) fn values(&self, signature: u32) -> &[Code] {
        &self.signatures[signature as usize]
    }

    /// The place of a value in a signature that has it.
    pub(super) fn place(&self, signature: u32, value: Code) -> Option<usize> {
        self.values(signature).binary_search(&value).ok()
    }

    /// The signature with these values.
    pub(super) fn signature(&mut self, mut values: Vec<Code>) -> u32 {
        values.sort_unstable();
        if let Some(&place) = self.places.get(&values) {
            return place;
        }
        // PROOF: no more signatures than rows are added in one release, and rows are numbered in 32 bits.
        let place = self.signatures.len() as u32;
        self.signatures.push(values.clone());
        self.places.insert(values, place);
        place
    }

    pub(super) fn into_signatures(self) -> Vec<Vec<Code>> {
        self.signatures
    }
}
