//! The frame of `fixed`: a finding that is gone, named by its id.

use super::frames::ClaimStatement;
use super::names::{NameFinder, REACH, has_extension};
use crate::claims::Claim;
use probity_prose::lexicon as lx;
use probity_prose::tokens::TokenKind;

impl NameFinder<'_, '_> {
    /// "Fixed F12", "F12 and dup:3 are resolved", "F12 is no longer reported".
    pub(super) fn fixed(&self, at: usize, found: &mut Vec<ClaimStatement>) {
        let first = self.is_finding(at) && !self.list_goes_on_before(at);
        if !first {
            return;
        }
        let (ids, end) = self.finding_list(at);
        let before = self.fixed_before(at).or_else(|| self.fixed_before_bracket(at));
        let span = before.map(|start| (start, end - 1));
        let behind = || self.fixed_behind(end).or_else(|| self.that_finding_is_gone(at));
        let Some((start, last)) = span.or_else(|| behind().map(|last| (at, last))) else {
            return;
        };
        for index in ids {
            let claim = Claim::Fixed { finding: self.sentence.tokens[index].text.to_owned() };
            found.push(ClaimStatement { start, end: last, at: index, claim });
        }
    }

    fn list_goes_on_before(&self, at: usize) -> bool {
        (at.saturating_sub(3)..at).any(|index| {
            self.is_finding(index) && (index + 1..at).all(|between| self.joins_findings(between))
        })
    }

    fn finding_list(&self, at: usize) -> (Vec<usize>, usize) {
        let mut ids = vec![at];
        let mut end = at + 1;
        let mut index = at + 1;
        while index < self.sentence.tokens.len() && index <= end + 2 {
            if self.is_finding(index) {
                ids.push(index);
                end = index + 1;
            } else if !self.joins_findings(index) {
                break;
            }
            index += 1;
        }
        (ids, end)
    }

    fn joins_findings(&self, index: usize) -> bool {
        self.sentence.is(index, lx::AND | lx::FINDING) || self.sentence.kind(index) == Some(TokenKind::Comma)
    }

    /// The verb before a finding: "fixed the reported duplicate F12".
    fn fixed_before(&self, at: usize) -> Option<usize> {
        let sentence = self.sentence;
        for index in (at.saturating_sub(REACH)..at).rev() {
            if sentence.is(index, lx::FIX_VERB) {
                let partly = index > 0 && sentence.is(index - 1, lx::PARTIAL_QUANTIFIER);
                return (!partly && !sentence.says(index + 1, "by")).then_some(index);
            }
            if sentence.reads(index, &["rid", "of"]) || sentence.reads(index, &["care", "of"]) {
                let got = sentence.says_any(index.wrapping_sub(1), "got | gets | took | takes");
                return got.then(|| index - 1);
            }
            let fills = sentence.is(index, lx::DETERMINER | lx::FINDING | lx::ALL)
                || sentence.kind(index) == Some(TokenKind::Colon)
                || sentence.kind(index) == Some(TokenKind::Break) && sentence.tokens[index].text != ")"
                || sentence.says(index, "of")
                || sentence.is(index, lx::FINDING_WORD);
            if !fills {
                return None;
            }
        }
        None
    }

    /// "Fixed the duplicate in the retry code (F12)": the id stands in brackets behind what it names.
    fn fixed_before_bracket(&self, at: usize) -> Option<usize> {
        let sentence = self.sentence;
        let bracket = at.checked_sub(1).filter(|&it| matches!(sentence.tokens[it].text, "(" | "["))?;
        let named = bracket.checked_sub(1)?;
        let from = sentence.clause_start(named).max(bracket.saturating_sub(REACH + 2));
        let verb = (from..bracket).rev().find(|&index| sentence.is(index, lx::FIX_VERB))?;
        let is_partial = verb > 0 && sentence.is(verb - 1, lx::PARTIAL_QUANTIFIER | lx::NEGATION);
        let is_other = (verb..bracket).any(|index| sentence.is(index, lx::AND | lx::NEGATION | lx::BUT));
        (!is_partial && !is_other).then_some(verb)
    }

    /// "The block (F12) is a helper now, so that finding no longer shows up": the only id of the sentence is meant.
    fn that_finding_is_gone(&self, at: usize) -> Option<usize> {
        let sentence = self.sentence;
        let limit = sentence.tokens.len().min(at + 20);
        if (0..limit).any(|index| index != at && self.is_finding(index)) {
            return None;
        }
        let that = (at + 1..limit).find(|&index| {
            sentence.says_any(index, "that | the | this")
                && sentence.is(index + 1, lx::FINDING | lx::FINDING_WORD)
        })?;
        self.fixed_behind(that + 2)
    }

    /// What is said behind a finding: "is fixed", "has disappeared", "is no longer reported".
    fn fixed_behind(&self, from: usize) -> Option<usize> {
        let sentence = self.sentence;
        let (mut negated, mut no_longer) = (false, false);
        for index in from..from + REACH {
            let token = sentence.tokens.get(index)?;
            let appears = sentence.is(index, lx::PRESENCE) || sentence.is(index, lx::APPEARANCE_VERB);
            if sentence.is(index, lx::FIX_VERB | lx::ABSENCE) {
                return (!negated && !no_longer).then_some(index);
            }
            if appears && no_longer {
                return Some(index);
            }
            if appears && negated {
                let any_more =
                    sentence.says(index + 1, "anymore") || sentence.reads(index + 1, &["any", "more"]);
                return any_more.then_some(index);
            }
            if sentence.is(index, lx::PARTIAL_QUANTIFIER | lx::PERSISTENCE)
                || sentence.says(index, "still")
                || sentence.says(index, "being")
            {
                return None;
            }
            negated |= sentence.is(index, lx::NEGATION);
            no_longer |= sentence.reads(index, &["no", "longer"]);
            let fills = sentence
                .is(index, lx::AUXILIARY | lx::NEGATION | lx::NO | lx::ADVERB | lx::ALL | lx::MARK)
                || matches!(token.kind, TokenKind::Colon | TokenKind::Break);
            if !fills {
                return None;
            }
        }
        None
    }

    fn is_finding(&self, index: usize) -> bool {
        let Some(token) = self.sentence.tokens.get(index) else { return false };
        if token.kind != TokenKind::Literal && !token.class.is_plain() {
            return false;
        }
        if self.known.findings.contains(token.text) {
            return true;
        }
        let named = index > 0 && self.sentence.is(index - 1, lx::FINDING) && token.class.is_plain();
        token.kind == TokenKind::Literal && (has_id_shape(token.text) || named && !has_extension(token.text))
    }
}

/// Whether a name looks like a finding's id: `dup:12ab`, `F12`, `CC-3`.
fn has_id_shape(name: &str) -> bool {
    if let Some((family, rest)) = name.split_once(':') {
        let all_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let is_line = has_extension(family) && all_digits(rest);
        return !family.is_empty()
            && !rest.is_empty()
            && !rest.starts_with("//")
            && !all_digits(family)
            && !is_line;
    }
    let letters = name.bytes().take_while(u8::is_ascii_uppercase).count();
    let digits = name[letters..].strip_prefix('-').unwrap_or(&name[letters..]);
    (1..=3).contains(&letters) && !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_told_from_paths_times_and_addresses() {
        for id in ["dup:12ab", "F12", "CC-3", "clone:pkg.a:f"] {
            assert!(has_id_shape(id), "{id}");
        }
        for other in ["a.py:12", "12:30", "https://x", "F", "v2", "README.md"] {
            assert!(!has_id_shape(other), "{other}");
        }
    }
}
