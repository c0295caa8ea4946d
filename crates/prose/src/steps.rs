//! Counts the places at which phrases are looked for, so that a test can hold that reading takes time linear in a text.
//!
//! Only with the feature `step-counter`, which tests switch on; without it counting costs nothing.

#[cfg(feature = "step-counter")]
thread_local! {
    static STEPS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Counts one step.
#[cfg(feature = "step-counter")]
pub(crate) fn count() {
    STEPS.with(|steps| steps.set(steps.get() + 1));
}

/// Counts nothing.
#[cfg(not(feature = "step-counter"))]
pub(crate) const fn count() {}

/// Returns how many steps this thread has made since the last call.
#[cfg(feature = "step-counter")]
pub fn take() -> u64 {
    STEPS.with(|steps| steps.replace(0))
}
