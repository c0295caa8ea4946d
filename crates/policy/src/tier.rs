//! Tiers: `T` and a decimal number of any length. `T10` is above `T9`.

use std::fmt;

///
/// Leading zeros are dropped, and of two numbers without them the longer one is larger. The derived order on
/// (length, digits) is therefore numeric.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Tier {
    length: usize,
    digits: String,
}

impl Tier {
    /// Parses a tier. Returns `None` if `text` is not `T` and decimal digits.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix('T').filter(|digits| !digits.is_empty())?;
        if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let digits = digits.trim_start_matches('0').to_owned();
        Some(Self { length: digits.len(), digits })
    }

    /// The tier requested by default.
    pub(crate) fn lowest() -> Self {
        Self { length: 0, digits: String::new() }
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = if self.digits.is_empty() { "0" } else { &self.digits };
        write!(f, "T{digits}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn refuses_what_is_no_number() {
        for bad in ["", "T", "t1", "1", "T-1", "T1.0", "T 1", "T1 ", "T١"] {
            assert_eq!(Tier::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn numbers_of_any_length_are_compared() {
        let huge = format!("T{}", "9".repeat(400));
        assert!(Tier::parse(&huge) > Tier::parse("T18446744073709551616"));
        assert_eq!(Tier::parse("T007"), Tier::parse("T7"));
        assert_eq!(Tier::parse("T000"), Some(Tier::lowest()));
        assert_eq!(Tier::lowest().to_string(), "T0");
    }

    proptest! {
        #[test]
        fn the_order_is_that_of_numbers(a: u64, b: u64) {
            let tier = |number: u64| Tier::parse(&format!("T{number}")).expect("a tier");
            prop_assert_eq!(tier(a).cmp(&tier(b)), a.cmp(&b));
            prop_assert_eq!(tier(a).to_string(), format!("T{a}"));
        }
    }
}
