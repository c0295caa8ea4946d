//! Exports a context for the next prompt, within a token budget.
//!
//! Hard constraints come first. The remaining budget goes to the other items by relevance to the query, by status, and
//! by recency. Lines are never cut: a line that does not fit is left out whole, and the text says how many were. The
//! same ledger and options give the same bytes.

use crate::item_lines::ContextSection;
use crate::item_record::{ItemId, LedgerSeq};
use crate::ledger::Ledger;
use crate::vocabulary::ItemStatus;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Clone, Copy)]
pub struct ExportOptions<'a> {
    pub budget: usize,
    /// Counts the tokens of a piece of text.
    pub count: fn(&str) -> usize,
    /// The subject of the next prompt; items that share words with it come earlier.
    pub query: Option<&'a str>,
    /// Export only what changed after this position.
    pub since: Option<LedgerSeq>,
}

impl ExportOptions<'_> {
    /// Exports every live item that fits a budget counted by [`estimate_tokens`].
    pub const fn with_budget(budget: usize) -> Self {
        Self { budget, count: estimate_tokens, query: None, since: None }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportedContext {
    /// Markdown, in whole lines.
    pub text: String,
    /// Never more than the budget.
    pub tokens: usize,
    /// The head of the ledger; pass it as `since` next time.
    pub position: LedgerSeq,
    /// The items in the text, in that order.
    pub shown: Vec<ItemId>,
    /// The items that did not fit, most important first.
    pub left_out: Vec<ItemId>,
    /// The number of hard constraints among them. If it is not zero, the budget is too small to be usable.
    pub hard_left_out: usize,
}

/// Estimates the tokens of a text conservatively, for any tokenizer: one per three bytes of ASCII, and two per other
/// character. English prose and code average about four bytes per token in current vocabularies, so this is about a
/// third too high, which is safer than too low.
pub fn estimate_tokens(text: &str) -> usize {
    let n_ascii = text.bytes().filter(u8::is_ascii).count();
    let n_other = text.chars().filter(|c| !c.is_ascii()).count();
    n_ascii.div_ceil(3) + 2 * n_other
}

/// A line that competes for the budget.
struct CandidateLine {
    section: ContextSection,
    item: ItemId,
    /// The second item of a contradiction.
    other: Option<ItemId>,
}

impl Ledger {
    pub fn export(&self, options: &ExportOptions<'_>) -> ExportedContext {
        let wishes = self.candidate_lines(options);
        let title = format!("# Ledger at position {}\n", self.head());
        let mut page = ContextBuilder::new(options, title, wishes.len());
        for wish in wishes {
            // Once the page is full, further lines are counted but not rendered.
            let line = page.has_room().then(|| self.render_line(&wish));
            page.take(wish, line);
        }
        page.finish(self.head())
    }

    fn render_line(&self, wish: &CandidateLine) -> String {
        match wish.other {
            None => self.item_line(wish.item),
            Some(other) => self.contradiction_line(wish.item, other),
        }
    }

    /// Returns all lines, most important first.
    fn candidate_lines(&self, options: &ExportOptions<'_>) -> Vec<CandidateLine> {
        let mut items: Vec<_> = match options.since {
            Some(since) => self.changed_since(since),
            None => self.ids().filter(|&item| self.record(item).status.is_live()).collect(),
        };
        let relevance = self.relevance(&items, options.query.unwrap_or(""));
        items.sort_by_cached_key(|&item| {
            let record = self.record(item);
            let is_hard = self.section(item) == ContextSection::HardConstraints;
            let relevance = relevance.get(&item).copied().unwrap_or(0);
            let status = match record.status {
                ItemStatus::Active => 0,
                ItemStatus::Tentative => 1,
                ItemStatus::Superseded | ItemStatus::Resolved => 2,
            };
            (!is_hard, Reverse(relevance), status, Reverse(record.last_seq), item)
        });
        let n_hard = items.partition_point(|&item| self.section(item) == ContextSection::HardConstraints);
        let mut wishes: Vec<_> = items
            .into_iter()
            .map(|item| CandidateLine { section: self.section(item), item, other: None })
            .collect();
        let among = |item: ItemId| options.since.is_none_or(|since| self.record(item).last_seq > since);
        let contradictions = self
            .open_conflicts()
            .filter(|conflict| among(conflict.older) || among(conflict.newer))
            .map(|conflict| CandidateLine {
                section: ContextSection::Contradictions,
                item: conflict.older,
                other: Some(conflict.newer),
            });
        wishes.splice(n_hard..n_hard, contradictions);
        wishes
    }

    /// Scores each item against the query by shared words; rare words count more.
    fn relevance(&self, items: &[ItemId], query: &str) -> BTreeMap<ItemId, u32> {
        let asked: BTreeSet<_> = keywords(query).collect();
        if asked.is_empty() {
            return BTreeMap::new();
        }
        let shared = |&item: &ItemId| {
            let found: BTreeSet<_> =
                keywords(self.summary(item)).filter(|word| asked.contains(word)).collect();
            (!found.is_empty()).then_some((item, found))
        };
        let shared: Vec<_> = items.iter().filter_map(shared).collect();
        let mut frequency: BTreeMap<&str, usize> = BTreeMap::new();
        for word in shared.iter().flat_map(|(_, found)| found) {
            *frequency.entry(word).or_default() += 1;
        }
        let weight = |word: &String| {
            let n = frequency.get(word.as_str()).copied().unwrap_or(1);
            1 + (items.len() / n).max(1).ilog2()
        };
        shared.iter().map(|(item, found)| (*item, found.iter().map(weight).sum())).collect()
    }
}

/// Returns the words of a text that count for relevance.
fn keywords(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.chars().count() > 1)
        .map(str::to_lowercase)
        .filter(|word| !STOP_WORDS.contains(&word.as_str()))
}

const STOP_WORDS: &[&str] = &[
    "the", "an", "of", "to", "in", "on", "at", "by", "for", "from", "with", "and", "or", "is", "are", "was",
    "be", "it", "its", "this", "that", "we", "our", "you", "they", "as", "do", "does", "not", "no", "use",
    "will", "what", "how", "which", "when", "why", "should", "can", "must",
];

/// A text that is filled up to its budget.
struct ContextBuilder<'a> {
    options: &'a ExportOptions<'a>,
    title: String,
    tokens: usize,
    /// Tokens reserved for the note about omitted lines.
    reserve: usize,
    open: BTreeSet<ContextSection>,
    taken: Vec<(CandidateLine, String)>,
    left_out: Vec<CandidateLine>,
}

impl<'a> ContextBuilder<'a> {
    fn new(options: &'a ExportOptions<'a>, title: String, n_wishes: usize) -> Self {
        let reserve = (options.count)(&left_out_note(n_wishes, n_wishes));
        let cost = (options.count)(&title);
        let title = if cost <= options.budget { title } else { String::new() };
        let tokens = if title.is_empty() { 0 } else { cost };
        Self {
            options,
            title,
            tokens,
            reserve,
            open: BTreeSet::new(),
            taken: Vec::new(),
            left_out: Vec::new(),
        }
    }

    /// Returns whether the shortest possible line would still fit.
    fn has_room(&self) -> bool {
        !self.title.is_empty() && self.tokens + self.reserve < self.options.budget
    }

    /// Adds a line if it fits together with the note about omitted lines.
    fn take(&mut self, wish: CandidateLine, line: Option<String>) {
        let Some(line) = line else {
            return self.left_out.push(wish);
        };
        let count = self.options.count;
        let heading = if self.open.contains(&wish.section) { 0 } else { count(&heading(wish.section)) };
        let cost = heading + count(&line) + count("\n");
        if self.tokens + cost + self.reserve > self.options.budget {
            return self.left_out.push(wish);
        }
        self.tokens += cost;
        self.open.insert(wish.section);
        self.taken.push((wish, line));
    }

    fn finish(mut self, position: LedgerSeq) -> ExportedContext {
        let is_hard = |wish: &&CandidateLine| wish.section == ContextSection::HardConstraints;
        let hard_left_out = self.left_out.iter().filter(is_hard).count();
        // The sort is stable: lines stay in order of importance within a section.
        self.taken.sort_by_key(|(wish, _)| wish.section);
        let mut text = std::mem::take(&mut self.title);
        let mut section = None;
        for (wish, line) in &self.taken {
            if section.replace(wish.section) != Some(wish.section) {
                text.push_str(&heading(wish.section));
            }
            text.push_str(line);
            text.push('\n');
        }
        let remark = left_out_note(self.left_out.len(), hard_left_out);
        let cost = (self.options.count)(&remark);
        if !self.left_out.is_empty() && self.tokens + cost <= self.options.budget {
            text.push_str(&remark);
            self.tokens += cost;
        }
        let mut seen = BTreeSet::new();
        let shown = distinct_items(self.taken.iter().map(|(wish, _)| wish), &mut seen);
        let left_out = distinct_items(self.left_out.iter(), &mut seen);
        ExportedContext { text, tokens: self.tokens, position, shown, left_out, hard_left_out }
    }
}

/// Returns the items of the given lines, each once.
fn distinct_items<'a>(
    wishes: impl Iterator<Item = &'a CandidateLine>,
    seen: &mut BTreeSet<ItemId>,
) -> Vec<ItemId> {
    let all = wishes.flat_map(|wish| [Some(wish.item), wish.other]).flatten();
    all.filter(|&item| seen.insert(item)).collect()
}

fn heading(section: ContextSection) -> String {
    format!("\n## {}\n", section.title())
}

fn left_out_note(n_left_out: usize, n_hard: usize) -> String {
    let hard = if n_hard == 0 { String::new() } else { format!(", {n_hard} of them hard constraints") };
    format!("\n({n_left_out} more did not fit{hard})\n")
}
