//! The known violations and their counts: a list that may only shrink.
//!
//! One line each: `rule subject count`. Exceeding the count is a complaint; so is staying below it until the count is
//! lowered, so that what was fixed stays fixed.

use super::TidyComplaint;
use std::collections::BTreeMap;

/// Counts by rule and subject.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Allowances(BTreeMap<(String, String), usize>);

/// A violation that an allowance may cover.
pub(crate) struct RuleHit {
    pub(crate) rule: &'static str,
    /// A file, or a crate.
    pub(crate) subject: String,
    /// The amount of the allowance that it uses.
    pub(crate) weight: usize,
    pub(crate) detail: TidyComplaint,
}

impl Allowances {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut counts = BTreeMap::new();
        let lines = text.lines().enumerate().filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        for (index, line) in lines {
            let wrong = || format!("allowances.txt:{}: expected `rule subject count`", index + 1);
            let [rule, subject, count] = line.split(' ').collect::<Vec<_>>()[..] else { return Err(wrong()) };
            let count = count.parse().ok().filter(|count| *count > 0).ok_or_else(wrong)?;
            if counts.insert((rule.to_owned(), subject.to_owned()), count).is_some() {
                return Err(format!("allowances.txt:{}: {rule} {subject} is listed twice", index + 1));
            }
        }
        Ok(Self(counts))
    }

    pub(crate) fn to_text(&self) -> String {
        let mut text = String::from(
            "# What `cargo xtask tidy` still lets through: rule, file or crate, count. A count may only shrink;\n\
             # `cargo xtask tidy --lower` writes what is left after a fix.\n",
        );
        for ((rule, subject), count) in &self.0 {
            text.push_str(&format!("{rule} {subject} {count}\n"));
        }
        text
    }

    pub(crate) fn add(&mut self, rule: &str, subject: &str, weight: usize) {
        *self.0.entry((rule.to_owned(), subject.to_owned())).or_default() += weight;
    }

    pub(crate) fn total(&self) -> usize {
        self.0.values().sum()
    }

    /// Returns the smaller of both counts, without entries that are no longer needed.
    pub(crate) fn lowered_to(&self, used: &Self) -> Self {
        let lower =
            |(key, count): (&(String, String), &usize)| Some((key.clone(), *used.0.get(key)?.min(count)));
        Self(self.0.iter().filter_map(lower).collect())
    }

    pub(crate) fn complaints(&self, used: &Self, hits: &[RuleHit]) -> Vec<TidyComplaint> {
        let mut complaints = Vec::new();
        for (key @ (rule, subject), count) in &used.0 {
            let allowed = self.0.get(key).copied().unwrap_or(0);
            if *count > allowed {
                let of_key = hits.iter().filter(|hit| hit.rule == rule && hit.subject == *subject);
                complaints.extend(of_key.map(|hit| hit.detail.clone()));
                if allowed > 0 {
                    complaints.push(format!("{subject}: {rule} {count}, and the allowance is {allowed}"));
                }
            }
        }
        for (key @ (rule, subject), allowed) in &self.0 {
            let count = used.0.get(key).copied().unwrap_or(0);
            if count < *allowed {
                complaints.push(format!(
                    "{subject}: the allowance for {rule} is {allowed} and only {count} is needed: \
                     run `cargo xtask tidy --lower`"
                ));
            }
        }
        complaints
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowances(text: &str) -> Allowances {
        Allowances::parse(text).expect("allowances")
    }

    fn hit(weight: usize) -> RuleHit {
        RuleHit { rule: "word", subject: "a.rs".into(), weight, detail: "a.rs:1: say `fix`".into() }
    }

    #[test]
    fn more_than_is_allowed_is_named_with_its_places() {
        let complaints = allowances("word a.rs 1\n").complaints(&allowances("word a.rs 2\n"), &[hit(2)]);
        assert_eq!(complaints, ["a.rs:1: say `fix`", "a.rs: word 2, and the allowance is 1"]);
        assert_eq!(Allowances::default().complaints(&allowances("word a.rs 1\n"), &[hit(1)]).len(), 1);
    }

    #[test]
    fn an_allowance_that_is_not_needed_is_a_complaint_until_it_is_lowered() {
        let (allowed, used) = (allowances("word a.rs 3\nword b.rs 1\n"), allowances("word a.rs 2\n"));
        assert_eq!(allowed.complaints(&used, &[]).len(), 2);
        assert_eq!(allowed.lowered_to(&used), used);
    }

    #[test]
    fn an_allowance_is_never_raised() {
        let (allowed, used) = (allowances("word a.rs 1\n"), allowances("word a.rs 2\nword b.rs 1\n"));
        assert_eq!(allowed.lowered_to(&used), allowed);
    }

    #[test]
    fn what_cannot_be_read_is_no_allowance() {
        for bad in ["word a.rs\n", "word a.rs 0\n", "word a.rs many\n", "word a.rs 1\nword a.rs 1\n"] {
            assert!(Allowances::parse(bad).is_err(), "{bad}");
        }
        assert_eq!(
            Allowances::parse(&allowances("word a.rs 3\n").to_text()),
            Ok(allowances("word a.rs 3\n"))
        );
    }
}
