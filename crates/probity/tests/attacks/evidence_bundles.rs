//! Forged, inconsistent and hostile evidence bundles.
