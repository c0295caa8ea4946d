//! Attempts to hold one file twice, through symbolic or hard links.
