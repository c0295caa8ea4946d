//! Fingerprints within a run: fast, the same on every machine, but not collision-resistant.
//!
//! Anything stored under a name or signed is hashed with SHA-256 (`probity_core::Digest`).

pub(crate) const fn mix(state: u64, value: u64) -> u64 {
    let mixed = (state.rotate_left(23) ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ (mixed >> 29)
}

pub(crate) fn of_bytes(bytes: &[u8]) -> u64 {
    let mut state = mix(0x51_7c_c1_b7_27_22_0a_95, bytes.len() as u64);
    let mut chunks = bytes.chunks_exact(8);
    for chunk in &mut chunks {
        state = mix(state, u64::from_le_bytes(chunk.try_into().expect("chunks of eight")));
    }
    for &byte in chunks.remainder() {
        state = mix(state, u64::from(byte));
    }
    state
}

/// Tells which of many fingerprints occur once: most do, and a sort that looks for equal ones need not move them.
#[derive(Debug)]
pub(crate) struct RepetitionFilter {
    /// For each slot how many fingerprints fall into it, up to two.
    counts: Vec<u8>,
    /// How far to shift a fingerprint to get its slot.
    shift: u32,
}

impl RepetitionFilter {
    /// Counts fingerprints, of which there are about `n`.
    pub(crate) fn of(fingerprints: impl Iterator<Item = u64>, n: usize) -> Self {
        let n_slots = (4 * n).next_power_of_two().max(2);
        let mut filter = Self { counts: vec![0; n_slots], shift: 64 - n_slots.trailing_zeros() };
        for fingerprint in fingerprints {
            let slot = filter.slot(fingerprint);
            filter.counts[slot] = (filter.counts[slot] + 1).min(2);
        }
        filter
    }

    /// Returns false if the fingerprint certainly occurs once at most.
    pub(crate) fn may_repeat(&self, fingerprint: u64) -> bool {
        self.counts[self.slot(fingerprint)] > 1
    }

    fn slot(&self, fingerprint: u64) -> usize {
        usize::try_from(fingerprint >> self.shift).expect("as many bits as there are slots")
    }
}

/// The modulus of [`PrefixHashes`]: a Mersenne prime, so that wrapping cannot be exploited to make texts collide.
const HASH_MODULUS: u64 = (1 << 61) - 1;
const HASH_BASE: u64 = 0x0123_4567_89ab_cdef;

/// Fingerprints of any range of a token sequence in constant time.
#[derive(Debug)]
pub(crate) struct PrefixHashes(Vec<u64>);

impl PrefixHashes {
    pub(crate) fn new() -> Self {
        Self(vec![0])
    }

    pub(crate) fn push(&mut self, token: u64) {
        let last = self.0.last().copied().unwrap_or(0);
        self.0.push(add_modulo(multiply_modulo(last, HASH_BASE), token % HASH_MODULUS));
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len() - 1
    }

    /// Returns the fingerprint of the tokens from `start` up to `end`.
    pub(crate) fn range(&self, start: usize, end: usize) -> u64 {
        let shifted = multiply_modulo(self.0[start], power(HASH_BASE, end - start));
        add_modulo(self.0[end], HASH_MODULUS - shifted)
    }
}

const fn add_modulo(a: u64, b: u64) -> u64 {
    (a + b) % HASH_MODULUS
}

fn multiply_modulo(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    let low = u64::try_from(product & u128::from(HASH_MODULUS)).expect("61 bits");
    let high = u64::try_from(product >> 61).expect("61 bits");
    add_modulo(low, high)
}

fn power(mut base: u64, mut exponent: usize) -> u64 {
    let mut result = 1;
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = multiply_modulo(result, base);
        }
        base = multiply_modulo(base, base);
        exponent >>= 1;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn bytes_and_their_length_matter() {
        assert_ne!(of_bytes(b""), of_bytes(b"\0"));
        assert_ne!(of_bytes(b"abcdefgh"), of_bytes(b"abcdefghi"));
        assert_ne!(of_bytes(b"ab"), of_bytes(b"ba"));
    }

    proptest! {
        #[test]
        fn what_repeats_is_never_filtered_out(fingerprints in prop::collection::vec(0u64..40, 0..60)) {
            let spread: Vec<u64> = fingerprints.iter().map(|&it| mix(it, 1)).collect();
            let filter = RepetitionFilter::of(spread.iter().copied(), spread.len());
            for one in &spread {
                let n = spread.iter().filter(|other| *other == one).count();
                prop_assert!(n < 2 || filter.may_repeat(*one));
            }
        }

        #[test]
        fn equal_ranges_have_equal_fingerprints(tokens: Vec<u64>, before: Vec<u64>) {
            let mut all = PrefixHashes::new();
            for &token in before.iter().chain(&tokens) {
                all.push(token);
            }
            let mut alone = PrefixHashes::new();
            for &token in &tokens {
                alone.push(token);
            }
            prop_assert_eq!(all.range(before.len(), all.len()), alone.range(0, alone.len()));
        }
    }
}
