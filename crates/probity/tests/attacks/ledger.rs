//! Hostile transcripts, proposals and logs of the ledger.
