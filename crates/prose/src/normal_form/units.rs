//! Units, so that `100ms` and `100 ms` are one quantity, while `Mb` and `MB` stay two units.

use crate::lexicon::{self as lx, class_of};

/// Writes the canonical form of the unit `cased` to `out`; returns `false` if it is not a unit.
pub(super) fn write_unit(cased: &str, out: &mut String) -> bool {
    if matches!(cased, "%" | "‰" | "°" | "°C" | "°F" | "€" | "£" | "$" | "¥" | "M" | "m" | "B") {
        out.push_str(cased);
        return true;
    }
    if !cased.starts_with(char::is_alphabetic) || cased.len() > 16 {
        return false;
    }
    if let Some((what, per)) = cased.split_once('/') {
        let is_rate = what.chars().all(char::is_alphabetic) && class_of(per).is(lx::TIME_UNIT);
        if is_rate {
            if !write_data_unit(what, out) {
                out.push_str(&what.to_lowercase());
            }
            out.push('/');
            out.push_str(&per.to_lowercase());
        }
        return is_rate;
    }
    if write_data_unit(cased, out) || write_power_unit(cased, out) {
        return true;
    }
    let lower = cased.to_lowercase();
    let is_unit = class_of(&lower).is(lx::UNIT);
    if is_unit {
        out.push_str(&lower);
    }
    is_unit
}

/// Bits and bytes. The case of the `b` tells them apart; all lower case is the usual sloppy spelling of bytes, or of
/// bits in `mbps`.
fn write_data_unit(cased: &str, out: &mut String) -> bool {
    let lower = cased.to_ascii_lowercase();
    let core = lower.strip_prefix(['k', 'm', 'g', 't', 'p']).unwrap_or(&lower);
    let core = core.strip_prefix('i').filter(|_| core.len() < lower.len()).unwrap_or(core);
    let prefix = lower.len() - core.len();
    match core {
        "b" | "bps" if prefix > 0 => {
            let is_sloppy = lower == cased;
            let bytes = if is_sloppy { core == "b" } else { cased.as_bytes()[prefix] == b'B' };
            out.push_str(&lower[..prefix]);
            out.push(if bytes { 'B' } else { 'b' });
            out.push_str(&core[1..]);
            true
        }
        "byte" | "bytes" | "bit" | "bits" => {
            out.push_str(&lower);
            true
        }
        _ => false,
    }
}

/// Milli and mega differ only in case.
fn write_power_unit(cased: &str, out: &mut String) -> bool {
    let lower = cased.to_ascii_lowercase();
    let is_power =
        matches!(lower.as_str(), "w" | "v" | "mw" | "mv" | "ma" | "mj" | "kw" | "kv" | "gw" | "kwh" | "mwh");
    if is_power {
        out.push_str(&cased[..1]);
        out.push_str(&lower[1..]);
    }
    is_power
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(cased: &str) -> String {
        let mut out = String::new();
        write_unit(cased, &mut out);
        out
    }

    #[test]
    fn bits_are_not_bytes_and_milli_is_not_mega() {
        assert_eq!(unit("MB"), unit("mb"));
        assert_ne!(unit("MB"), unit("Mb"));
        assert_ne!(unit("MB/s"), unit("Mb/s"));
        assert_eq!(unit("Mbps"), unit("mbps"));
        assert_ne!(unit("mW"), unit("MW"));
        assert_ne!(unit("m"), unit("M"));
        assert_eq!(unit("MS"), unit("ms"));
        assert_eq!(unit("replicas"), "");
    }
}
