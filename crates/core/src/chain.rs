//! Numbered chains: every entry names the digest of the entry before it, so that none can be changed, removed or inserted
//! without it being seen. The log of intents and the receipts are such chains.

/// Why an entry cannot follow a numbered chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ChainBreak {
    /// An entry is missing, or there are two of one number.
    #[error("entry {found} follows entry {last}")]
    Gap { last: u64, found: u64 },
    /// The entry was made for another chain, or one of the two was changed.
    #[error("entry {number} does not name the entry before it")]
    Digest { number: u64 },
}

/// Checks that the entry `number`, which names `previous`, is the next one of a chain that ends with the entry `last`.
/// What a first entry names differs: `D` is a digest, or none where it names nothing.
pub fn check_next<D: PartialEq>(last: u64, digest: &D, number: u64, previous: &D) -> Result<(), ChainBreak> {
    if number != last.saturating_add(1) {
        return Err(ChainBreak::Gap { last, found: number });
    }
    if previous != digest {
        return Err(ChainBreak::Digest { number });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Digest;

    #[test]
    fn only_the_next_number_with_the_right_digest_follows() {
        let (one, two) = (Digest::of(b"1"), Digest::of(b"2"));
        assert_eq!(check_next(7, &one, 8, &one), Ok(()));
        assert_eq!(check_next(7, &one, 9, &one), Err(ChainBreak::Gap { last: 7, found: 9 }));
        assert_eq!(check_next(7, &one, 8, &two), Err(ChainBreak::Digest { number: 8 }));
        assert_eq!(check_next(0, &None, 1, &Some(one)), Err(ChainBreak::Digest { number: 1 }));
    }
}
