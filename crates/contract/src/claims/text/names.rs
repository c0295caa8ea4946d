//! The frames that name something: which paths were touched, which findings were fixed, documentation only.

use super::frames::Statement;
use super::lex::{Kind, Token};
use super::lexicon::{self as lx, Class};
use super::sentence::Sentence;
use crate::claims::Claim;
use intent::Entry;
use std::collections::BTreeSet;

/// How far a list may lie from the word that speaks of it.
const REACH: usize = 7;

/// Names that are known to be paths or findings, whatever their shape.
#[derive(Debug, Clone, Default)]
pub struct KnownNames<'a> {
    /// Paths of the delta and the directories above them.
    pub paths: BTreeSet<&'a str>,
    /// Findings of either run.
    pub findings: BTreeSet<&'a str>,
}

/// Finds what a sentence says about paths, documentation and findings.
pub(super) struct Names<'s, 'a, 'k> {
    pub(super) sentence: &'s Sentence<'s, 'a>,
    pub(super) known: &'s KnownNames<'k>,
}

impl Names<'_, '_, '_> {
    /// "Only touched a.py", "a.py is the only file changed".
    pub(super) fn only_touched(&self, at: usize, found: &mut Vec<Statement>) {
        let sentence = self.sentence;
        if !sentence.is(at, lx::ONLY) || at > 0 && sentence.is(at - 1, lx::NEG) {
            return;
        }
        let before = at.checked_sub(1);
        let touched_before = before.is_some_and(|index| sentence.is(index, lx::TOUCH));
        let touches = sentence.is(at + 1, lx::TOUCH) && !sentence.says(at, "just")
            || sentence.is(at + 1, lx::TOUCH) && sentence.tokens[at + 1].text.ends_with('s');
        let has_subject = before.is_some_and(|index| index >= sentence.clause_start(at));
        let touches_base = sentence.is(at + 1, lx::TOUCH_BASE) && has_subject;
        if touches || touches_base {
            if !self.take_list(at, at + 2, found) {
                self.the_only_file(at, found);
            }
        } else if touched_before {
            self.take_list(at - 1, at + 1, found);
        } else if let Some((paths, end)) = self.path_list(at + 1) {
            if let Some(verb) = self.touched_behind(end) {
                found.push(only(at, verb, at, paths));
            }
        } else if sentence.is(at + 1, lx::FILES | lx::CHANGE | lx::TOUCH) {
            self.the_only_file(at, found);
        }
    }

    /// "The only files I changed are a.py and b.py"; "a.py is the only file that was touched".
    fn the_only_file(&self, at: usize, found: &mut Vec<Statement>) {
        let sentence = self.sentence;
        let helps = lx::SELF
            | lx::AUX
            | lx::TOUCH
            | lx::TOUCH_BASE
            | lx::THAT
            | lx::PREP
            | lx::CHANGE
            | lx::FILES
            | lx::TO
            | lx::DET
            | lx::PRONOUN;
        let mut index = at + 1;
        let mut speaks_of_change = false;
        while index < at + REACH && (sentence.is(index, helps) || sentence.kind(index) == Some(Kind::Colon)) {
            if sentence.is(index, lx::NEG) {
                return;
            }
            speaks_of_change |= sentence.is(index, lx::TOUCH | lx::CHANGE);
            index += 1;
        }
        if !speaks_of_change {
            return;
        }
        if let Some((paths, end)) = self.path_list(index) {
            return found.push(only(at, end - 1, at, paths));
        }
        let mut copula = at;
        while copula > 0 && sentence.is(copula - 1, lx::DET | lx::AUX) {
            copula -= 1;
        }
        let negated = (copula..at).any(|index| sentence.is(index, lx::NEG));
        if let Some((paths, start)) = self.path_list_before(copula).filter(|_| copula < at && !negated) {
            found.push(only(start, index - 1, start, paths));
        }
    }

    /// "Changes are limited to docs/", "the diff stays within src", "all edits are in a.py".
    pub(super) fn limited(&self, at: usize, found: &mut Vec<Statement>) {
        let sentence = self.sentence;
        let stays =
            ["stay", "stays", "stayed", "remain", "remains"].iter().any(|word| sentence.says(at, word));
        let is_in = sentence.is(at, lx::AUX) && sentence.is(at + 1, lx::PREP);
        if !sentence.is(at, lx::LIMITED) && !stays && !is_in {
            return;
        }
        let clause = sentence.clause_start(at);
        let subject = (clause.max(at.saturating_sub(REACH))..at)
            .find(|&index| sentence.is(index, lx::CHANGE) && !sentence.is(index, lx::ALL));
        let Some(subject) = subject else { return };
        let all = (clause..subject).any(|index| sentence.is(index, lx::ALL));
        let negated = (subject..at).any(|index| sentence.is(index, lx::NEG));
        if negated || is_in && !stays && !all || (subject + 1..at).any(|index| !self.helps(index)) {
            return;
        }
        if !sentence.is(at + 1, lx::TO | lx::PREP) {
            return;
        }
        self.take_list(subject, at + 2, found);
        if let Some(docs) = self.docs_from(at + 2) {
            found.push(Statement { start: subject, end: docs, at, claim: Claim::DocsOnly });
        }
    }

    fn helps(&self, index: usize) -> bool {
        self.sentence.is(
            index,
            lx::AUX
                | lx::ADVERB
                | lx::ONLY
                | lx::PREP
                | lx::DET
                | lx::CHANGE
                | lx::THAT
                | lx::SELF
                | lx::TOUCH,
        )
    }

    /// "Nothing outside src/ was changed", "I did not touch anything except a.py", "no files other than a.py".
    pub(super) fn nothing_else(&self, at: usize, found: &mut Vec<Statement>) {
        let sentence = self.sentence;
        let than = sentence.reads(at, &["other", "than"])
            || sentence.says(at, "than") && self.recently(at, lx::ELSE);
        let but = sentence.says(at, "but") && at > 0 && sentence.is(at - 1, lx::NOTHING | lx::ANY);
        if !sentence.is(at, lx::OUTSIDE | lx::EXCEPT) && !than && !but {
            return;
        }
        let mut index = at + 1;
        while sentence.says(index, "than")
            || sentence.says(index, "for")
            || sentence.says(index, "from")
            || sentence.says(index, "of")
        {
            index += 1;
        }
        let (paths, end) = match self.path_list(index) {
            Some((paths, end)) => (Some(paths), end),
            None => match self.docs_from(index) {
                Some(end) => (None, end + 1),
                None => return,
            },
        };
        let behind =
            Some(end).filter(|&end| sentence.is(end, lx::NOTHING) && self.touched_behind(end + 1).is_some());
        let Some(none) = self.none_before(at).or(behind) else { return };
        let touched = (none.saturating_sub(2)..at)
            .any(|index| sentence.is(index, lx::TOUCH | lx::TOUCH_BASE))
            || self.touched_behind(end).is_some()
            || behind.is_some();
        if !touched {
            return;
        }
        let claim = paths.map_or(Claim::DocsOnly, |paths| Claim::OnlyTouched { paths });
        found.push(Statement { start: none.min(at), end: end - 1, at: none, claim });
    }

    fn recently(&self, at: usize, class: Class) -> bool {
        (at.saturating_sub(3)..at).any(|index| self.sentence.is(index, class))
    }

    /// The "no", "nothing" or "did not" that a statement with an exception begins with.
    fn none_before(&self, at: usize) -> Option<usize> {
        let from = at.saturating_sub(REACH + 1);
        (from..at).find(|&index| self.sentence.is(index, lx::NO | lx::NOTHING | lx::NEG))
    }

    /// The verb of "… was changed" behind a list that ends before `from`.
    fn touched_behind(&self, from: usize) -> Option<usize> {
        let mut index = from;
        while index < from + 4 && self.sentence.is(index, lx::AUX | lx::ADVERB) {
            index += 1;
        }
        self.sentence.is(index, lx::TOUCH).then_some(index)
    }

    /// Takes the list of paths from `from` on for a statement that begins at `start`.
    fn take_list(&self, start: usize, from: usize, found: &mut Vec<Statement>) -> bool {
        let list = self.path_list(from);
        let taken = list.is_some();
        found.extend(list.map(|(paths, end)| only(start, end - 1, start, paths)));
        taken
    }

    /// The paths from `from` on, and the token behind them.
    fn path_list(&self, from: usize) -> Option<(BTreeSet<Entry>, usize)> {
        let sentence = self.sentence;
        let mut paths = BTreeSet::new();
        let mut index = from;
        let mut end = from;
        loop {
            let token = sentence.tokens.get(index);
            if token.is_some_and(|token| self.is_path(token)) {
                paths.insert(Entry::new(sentence.tokens[index].text));
                end = index + 1;
            } else if token.is_none() || !self.joins(index) || index > end + 3 {
                break;
            }
            index += 1;
        }
        while sentence.is(end, lx::FILES) {
            end += 1;
        }
        (!paths.is_empty()).then_some((paths, end))
    }

    /// The paths that end before `end`, and the first token of their list.
    fn path_list_before(&self, end: usize) -> Option<(BTreeSet<Entry>, usize)> {
        let mut start = end;
        while start > 0 && (self.is_path(&self.sentence.tokens[start - 1]) || self.joins(start - 1)) {
            start -= 1;
        }
        let (paths, _) = self.path_list(start)?;
        Some((paths, start))
    }

    /// What may stand between the paths of a list, or before them.
    fn joins(&self, index: usize) -> bool {
        let sentence = self.sentence;
        sentence.is(index, lx::AND | lx::DET | lx::FILES | lx::ALL)
            || matches!(sentence.kind(index), Some(Kind::Comma | Kind::Colon))
            || sentence.is(index, lx::PREP)
            || sentence.says(index, "well")
            || sentence.says(index, "as")
            || sentence.says(index, "two")
            || sentence.kind(index) == Some(Kind::Number)
    }

    fn is_path(&self, token: &Token<'_>) -> bool {
        const NAMES: &[&str] =
            &["Makefile", "Dockerfile", "README", "LICENSE", "CHANGELOG", "Gemfile", "Justfile"];
        let name = token.text;
        if self.known.paths.contains(name) && (token.kind == Kind::Literal || token.class == Class::NONE) {
            return true;
        }
        if NAMES.contains(&name) {
            return true;
        }
        if token.kind != Kind::Literal || name.contains(char::is_whitespace) && !name.contains('/') {
            return false;
        }
        if name.contains("://") || name.contains('(') || self.known.findings.contains(name) {
            return false;
        }
        token.marked || name.contains('/') || has_extension(name) || name.starts_with('.')
    }

    /// "Documentation only", "docs-only change", "only touches documentation".
    pub(super) fn docs_only(&self, at: usize, found: &mut Vec<Statement>) {
        let sentence = self.sentence;
        if !sentence.is(at, lx::DOCS) || sentence.tokens[at].marked {
            return;
        }
        let mut last = at;
        while sentence.is(last + 1, lx::CHANGE | lx::FILES) {
            last += 1;
        }
        let mut add = |start, end| found.push(Statement { start, end, at, claim: Claim::DocsOnly });
        let start = sentence.clause_start(at);
        if sentence.is(last + 1, lx::ONLY) {
            if self.ends_docs(last + 2) {
                add(at, last + 1);
            }
            return;
        }
        let pure = at > 0 && sentence.says(at - 1, "pure");
        if pure && last > at && self.ends_docs(last + 1) {
            return add(at - 1, last);
        }
        let from = start.max(at.saturating_sub(4));
        let Some(word) = (from..at).rev().find(|&index| sentence.is(index, lx::ONLY)) else { return };
        let between = (word + 1..at).all(|index| {
            sentence.is(index, lx::DET | lx::TOUCH | lx::PREP | lx::AUX | lx::FILES)
                || sentence.is(index, lx::TOUCH_BASE) && word > start
        });
        let negated = word > 0 && sentence.is(word - 1, lx::NEG);
        let touched = (start..at).any(|index| sentence.is(index, lx::TOUCH | lx::TOUCH_BASE | lx::AUX));
        let behind = self.touched_behind(last + 1);
        if between
            && !negated
            && (touched || behind.is_some() || last > at)
            && self.ends_docs(behind.map_or(last, |it| it) + 1)
        {
            add(word, behind.unwrap_or(last));
        }
    }

    /// Documentation as the object of a statement that begins at `from`; its last token.
    fn docs_from(&self, from: usize) -> Option<usize> {
        let sentence = self.sentence;
        let at = (from..from + 3).find(|&index| !sentence.is(index, lx::DET))?;
        let end = if sentence.is(at + 1, lx::CHANGE | lx::FILES) { at + 1 } else { at };
        (sentence.is(at, lx::DOCS) && !sentence.tokens[at].marked && self.ends_docs(end + 1)).then_some(end)
    }

    /// Whether nothing follows that takes more than documentation in: "docs and code".
    fn ends_docs(&self, index: usize) -> bool {
        let sentence = self.sentence;
        let Some(token) = sentence.tokens.get(index) else { return true };
        let listed = sentence.is(index, lx::AND | lx::OR) || token.kind == Kind::Comma;
        if listed {
            let next = index + 1;
            let speaks_on = sentence.is(
                next,
                lx::NO
                    | lx::NOTHING
                    | lx::SELF
                    | lx::DET
                    | lx::ALL
                    | lx::TEST
                    | lx::PRONOUN
                    | lx::AND
                    | lx::BUT
                    | lx::AUX
                    | lx::EVERYTHING
                    | lx::BECAUSE,
            );
            return speaks_on || next >= sentence.tokens.len();
        }
        !matches!(token.kind, Kind::Word | Kind::Literal)
            || token.class.is(lx::AUX
                | lx::BUT
                | lx::BECAUSE
                | lx::PREP
                | lx::CHANGE
                | lx::TOUCH
                | lx::MARK
                | lx::PRONOUN)
            || sentence.says(index, "yes")
    }

    /// "Fixed F12", "F12 and dup:3 are resolved", "F12 is no longer reported".
    pub(super) fn fixed(&self, at: usize, found: &mut Vec<Statement>) {
        let first = self.is_finding(at) && !self.list_goes_on_before(at);
        if !first {
            return;
        }
        let (ids, end) = self.finding_list(at);
        let span = self.fixed_before(at).map(|start| (start, end - 1));
        let Some((start, last)) = span.or_else(|| self.fixed_behind(end).map(|last| (at, last))) else {
            return;
        };
        for index in ids {
            let claim = Claim::Fixed { finding: self.sentence.tokens[index].text.to_owned() };
            found.push(Statement { start, end: last, at: index, claim });
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
        self.sentence.is(index, lx::AND | lx::FINDING) || self.sentence.kind(index) == Some(Kind::Comma)
    }

    /// The verb before a finding: "fixed the reported duplicate F12".
    fn fixed_before(&self, at: usize) -> Option<usize> {
        const FILL: &[&str] = &[
            "warning",
            "warnings",
            "duplicate",
            "duplicates",
            "duplication",
            "clone",
            "clones",
            "id",
            "ids",
            "reported",
            "structural",
            "dead",
            "code",
            "cycle",
            "complexity",
        ];
        let sentence = self.sentence;
        for index in (at.saturating_sub(REACH)..at).rev() {
            if sentence.is(index, lx::FIX) {
                return (!sentence.says(index + 1, "by")).then_some(index);
            }
            if sentence.reads(index, &["rid", "of"]) || sentence.reads(index, &["care", "of"]) {
                let got = ["got", "gets", "took", "takes"]
                    .iter()
                    .any(|word| sentence.says(index.wrapping_sub(1), word));
                return got.then_some(index - 1);
            }
            let fills = sentence.is(index, lx::DET | lx::FINDING | lx::ALL)
                || sentence.kind(index) == Some(Kind::Colon)
                || sentence.kind(index) == Some(Kind::Break) && sentence.tokens[index].text != ")"
                || sentence.says(index, "of")
                || FILL.iter().any(|word| sentence.says(index, word));
            if !fills {
                return None;
            }
        }
        None
    }

    /// What is said behind a finding: "is fixed", "has disappeared", "is no longer reported".
    fn fixed_behind(&self, from: usize) -> Option<usize> {
        const APPEAR: &[&str] =
            &["appear", "appears", "occur", "occurs", "exist", "exists", "shows", "show", "flagged"];
        let sentence = self.sentence;
        let (mut negated, mut no_longer) = (false, false);
        for index in from..from + REACH {
            let token = sentence.tokens.get(index)?;
            let appears =
                sentence.is(index, lx::PRESENT) || APPEAR.iter().any(|word| sentence.says(index, word));
            if sentence.is(index, lx::FIX | lx::GONE) {
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
            if sentence.is(index, lx::PARTIAL | lx::STILL_THERE) || sentence.says(index, "still") {
                return None;
            }
            negated |= sentence.is(index, lx::NEG);
            no_longer |= sentence.reads(index, &["no", "longer"]);
            let fills = sentence.is(index, lx::AUX | lx::NEG | lx::NO | lx::ADVERB | lx::ALL)
                || matches!(token.kind, Kind::Colon | Kind::Break);
            if !fills {
                return None;
            }
        }
        None
    }

    fn is_finding(&self, index: usize) -> bool {
        let Some(token) = self.sentence.tokens.get(index) else { return false };
        if self.known.findings.contains(token.text) {
            return true;
        }
        let named = index > 0 && self.sentence.is(index - 1, lx::FINDING) && token.class == Class::NONE;
        token.kind == Kind::Literal && (has_id_shape(token.text) || named && !has_extension(token.text))
    }
}

fn only(start: usize, end: usize, at: usize, paths: BTreeSet<Entry>) -> Statement {
    Statement { start, end, at, claim: Claim::OnlyTouched { paths } }
}

/// Whether a name ends in an extension, as file names do and version numbers do not.
fn has_extension(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(stem, extension)| {
        !stem.is_empty()
            && (1..=8).contains(&extension.len())
            && extension.bytes().all(|byte| byte.is_ascii_alphanumeric())
            && extension.starts_with(|first: char| first.is_ascii_alphabetic())
    })
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

    #[test]
    fn a_version_is_no_file() {
        assert!(has_extension("a.py") && has_extension("x.tar.gz"));
        assert!(!has_extension("3.12") && !has_extension("word"));
    }
}
