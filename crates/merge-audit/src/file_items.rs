//! One version of a file as comparable items: logical lines of code, lines of configuration, paragraphs of prose.

use crate::hashes::{hash_of, hash_of_tokens};
use probity_analysis::{BareCall, ItemKind, ItemUnit, Language, SourceItems, SourceToken, words};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// Comments with fewer letters and digits are no items.
const MIN_COMMENT_BYTES: u32 = 2;

/// How a file is cut into items. All versions of a file are cut in the same way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ItemForm {
    Syntax(Language),
    /// Lines, with units of a language that is known but did not parse.
    SourceLines(Language),
    Json,
    Yaml,
    /// `[section]` and lines: TOML, INI and their relatives.
    Sections,
    /// Translations: a program writes where a text is used, and when.
    Gettext,
    Prose,
    Lines,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Item {
    /// Equal for the same tokens, whatever their layout.
    pub(crate) hash: u64,
    pub(crate) kind: ItemKind,
    /// Its tokens in the stream of its kind.
    pub(crate) stream: Range<usize>,
    /// An index into [`FileItems::entities`].
    pub(crate) entity: u32,
    /// Its bytes in the text, from the first token to the last.
    pub(crate) bytes: Range<usize>,
    /// Lines from 1, both inclusive.
    pub(crate) first_line: u32,
    pub(crate) last_line: u32,
    /// Its names, numbers and texts among [`FileItems::sorted_words`].
    words: Range<usize>,
}

impl Item {
    /// Comments, texts and prose: their tokens have a stream of their own.
    pub(crate) const fn is_note(&self) -> bool {
        matches!(self.kind, ItemKind::Comment | ItemKind::Text)
    }
}

/// Tokens of a file in order, with the places where items begin.
#[derive(Debug, Clone, Default)]
pub(crate) struct TokenStream {
    pub(crate) tokens: Vec<u64>,
    pub(crate) is_word: Vec<bool>,
    is_start: Vec<bool>,
    /// The same tokens, those of each item sorted: lines are compared with many others.
    sorted: Vec<u64>,
    /// Tokens with their places, sorted when they are first needed.
    places: OnceLock<Vec<(u64, u32)>>,
}

/// How often a sequence of tokens occurs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Occurrences {
    /// As one or more whole items.
    pub(crate) whole: u32,
    /// Anywhere.
    pub(crate) any: u32,
}

impl TokenStream {
    fn push(&mut self, hash: u64, is_word: bool, is_start: bool) {
        self.tokens.push(hash);
        self.is_word.push(is_word);
        self.is_start.push(is_start);
    }

    fn places_of(&self, token: u64) -> &[(u64, u32)] {
        let places = self.places.get_or_init(|| {
            let mut places: Vec<(u64, u32)> = self.tokens.iter().copied().zip(0_u32..).collect();
            places.sort_unstable();
            places
        });
        let start = places.partition_point(|(other, _)| *other < token);
        let n_places = places[start..].partition_point(|(other, _)| *other == token);
        &places[start..start + n_places]
    }

    pub(crate) fn occurrences(&self, needle: &[u64]) -> Occurrences {
        // The rarest token leads to the fewest places; to look at all of them costs more than it saves.
        const MAX_COMPARED_TOKENS: usize = 8;
        let mut found = Occurrences::default();
        let rarest = needle
            .iter()
            .enumerate()
            .take(MAX_COMPARED_TOKENS)
            .map(|(at, token)| (self.places_of(*token).len(), at))
            .min()
            .unwrap_or_default();
        let Some(&token) = needle.get(rarest.1) else { return found };
        for &(_, place) in self.places_of(token) {
            let Some(start) = (place as usize).checked_sub(rarest.1) else { continue };
            let end = start + needle.len();
            if self.tokens.get(start..end) == Some(needle) {
                found.any += 1;
                let ends = self.is_start.get(end).copied().unwrap_or(true);
                found.whole += u32::from(self.is_start[start] && ends);
            }
        }
        found
    }

    pub(crate) fn count(&self, token: u64) -> usize {
        self.places_of(token).len()
    }
}

/// A version of a file.
#[derive(Debug, Clone, Default)]
pub(crate) struct FileItems {
    pub(crate) items: Vec<Item>,
    pub(crate) hashes: Vec<u64>,
    pub(crate) code: TokenStream,
    pub(crate) notes: TokenStream,
    /// Qualified names of what items are in; the first is empty, for the file itself.
    pub(crate) entities: Vec<String>,
    /// What the parser told, if the language is known.
    source: Option<Arc<SourceItems>>,
    sorted_words: Vec<u64>,
    sorted_hashes: Vec<u64>,
}

impl FileItems {
    pub(crate) fn stream_of(&self, item: &Item) -> &TokenStream {
        if item.is_note() { &self.notes } else { &self.code }
    }

    pub(crate) fn tokens_of(&self, item: &Item) -> &[u64] {
        &self.stream_of(item).tokens[item.stream.clone()]
    }

    /// Returns the first word of an item, such as a key.
    pub(crate) fn head_of(&self, item: &Item) -> Option<u64> {
        let stream = self.stream_of(item);
        item.stream.clone().find(|&at| stream.is_word[at]).map(|at| stream.tokens[at])
    }

    pub(crate) fn sorted_tokens(&self, item: &Item) -> &[u64] {
        &self.stream_of(item).sorted[item.stream.clone()]
    }

    /// Returns the names, numbers and texts of an item, sorted.
    pub(crate) fn sorted_words(&self, item: &Item) -> &[u64] {
        &self.sorted_words[item.words.clone()]
    }

    pub(crate) fn units(&self) -> &[ItemUnit] {
        self.source.as_ref().map_or(&[], |source| &source.units)
    }

    pub(crate) fn calls(&self) -> &[BareCall] {
        self.source.as_ref().map_or(&[], |source| &source.calls)
    }

    pub(crate) fn n_errors(&self) -> u32 {
        self.source.as_ref().map_or(0, |source| source.n_errors)
    }

    /// Returns true if the grammar can parse whole programs, so that an error means something.
    pub(crate) fn has_strict_grammar(&self) -> bool {
        self.source.as_ref().is_some_and(|source| source.strict_grammar)
    }

    /// Returns the names, numbers and texts of an item.
    pub(crate) fn words_of(&self, item: &Item) -> Vec<u64> {
        let stream = self.stream_of(item);
        item.stream.clone().filter(|&at| stream.is_word[at]).map(|at| stream.tokens[at]).collect()
    }

    pub(crate) fn count(&self, hash: u64) -> u32 {
        let start = self.sorted_hashes.partition_point(|other| *other < hash);
        let n_equal = self.sorted_hashes[start..].partition_point(|other| *other == hash);
        u32::try_from(n_equal).unwrap_or(u32::MAX)
    }

    /// Returns how often the tokens of an item, which may be of another version, occur here.
    pub(crate) fn occurrences(&self, tokens: &[u64], is_note: bool) -> Occurrences {
        if is_note { self.notes.occurrences(tokens) } else { self.code.occurrences(tokens) }
    }

    pub(crate) fn entity_of(&self, item: &Item) -> &str {
        self.entities.get(item.entity as usize).map_or("", String::as_str)
    }

    fn add(&mut self, bytes: &[u8], raw: &RawItem<'_>) {
        if raw.tokens.is_empty() {
            return;
        }
        let is_note = matches!(raw.kind, ItemKind::Comment | ItemKind::Text);
        let stream = if is_note { &mut self.notes } else { &mut self.code };
        let start = stream.tokens.len();
        let is_comment = raw.kind == ItemKind::Comment;
        let tokens = if is_comment { without_marks(bytes, &raw.tokens) } else { &raw.tokens[..] };
        for (index, token) in tokens.iter().enumerate() {
            let text = &bytes[token.start as usize..token.end as usize];
            stream.push(hash_of(text), token.is_word, index == 0);
        }
        stream.sorted.extend_from_slice(&stream.tokens[start..]);
        // A comment of marks and a letter, such as `</p>`, says nothing.
        let says_nothing = is_comment && n_word_bytes(tokens) < MIN_COMMENT_BYTES;
        if raw.kind == ItemKind::Filler || says_nothing {
            return;
        }
        stream.sorted[start..].sort_unstable();
        let first_word = self.sorted_words.len();
        let with_kinds = stream.tokens[start..].iter().zip(&stream.is_word[start..]);
        self.sorted_words.extend(with_kinds.filter(|(_, is_word)| **is_word).map(|(token, _)| *token));
        self.sorted_words[first_word..].sort_unstable();
        let hash = hash_of_tokens(&stream.tokens[start..], is_note);
        self.hashes.push(hash);
        self.items.push(Item {
            hash,
            kind: raw.kind,
            stream: start..stream.tokens.len(),
            entity: raw.entity,
            bytes: bytes_of(tokens),
            first_line: raw.first_line,
            last_line: raw.last_line,
            words: first_word..self.sorted_words.len(),
        });
    }
}

fn bytes_of(tokens: &[SourceToken]) -> Range<usize> {
    match tokens {
        [first, .., last] => first.start as usize..last.end as usize,
        [only] => only.start as usize..only.end as usize,
        [] => 0..0,
    }
}

/// Counts the bytes of names and numbers.
fn n_word_bytes(tokens: &[SourceToken]) -> u32 {
    tokens.iter().filter(|token| token.is_word).map(|token| token.end - token.start).sum()
}

/// Leaves out the marks with which a line of a comment begins and ends: they are layout. What is wrapped again is the same
/// comment.
fn without_marks<'a>(bytes: &[u8], tokens: &'a [SourceToken]) -> &'a [SourceToken] {
    let Some(first) = tokens.iter().position(|token| token.is_word) else { return tokens };
    let is_end = |token: &SourceToken| {
        matches!(&bytes[token.start as usize..token.end as usize], b"*" | b"/" | b"*/" | b"-" | b">")
    };
    let last = tokens.iter().rposition(|token| !is_end(token)).unwrap_or(first);
    &tokens[first..=last.max(first)]
}

struct RawItem<'a> {
    kind: ItemKind,
    tokens: Cow<'a, [SourceToken]>,
    entity: u32,
    first_line: u32,
    last_line: u32,
}

/// Returns the form that fits a file name. Source may turn out not to parse: see [`choose_form`].
pub(crate) fn form_of(name: &[u8], text: &[u8]) -> ItemForm {
    if let Some(language) = Language::of_file_name(name) {
        return ItemForm::Syntax(language);
    }
    let lower = String::from_utf8_lossy(name).to_lowercase();
    let extension = lower.rsplit_once('.').map_or("", |(_, extension)| extension);
    match extension {
        "json" | "json5" | "jsonc" | "webmanifest" | "ipynb" => ItemForm::Json,
        "yml" | "yaml" => ItemForm::Yaml,
        "toml" | "ini" | "cfg" | "conf" | "properties" | "editorconfig" | "gitconfig" => ItemForm::Sections,
        "po" => ItemForm::Gettext,
        "md" | "markdown" | "rst" | "adoc" | "textile" => ItemForm::Prose,
        "txt" | "" if lower != "cmakelists.txt" && !lower.contains("requirements") && is_prose(text) => {
            ItemForm::Prose
        }
        _ => ItemForm::Lines,
    }
}

/// Lines of prose are long and hold words.
fn is_prose(text: &[u8]) -> bool {
    const MIN_AVERAGE_BYTES: usize = 40;
    let lines: Vec<&[u8]> =
        text.split(|&byte| byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).collect();
    let n_bytes: usize = lines.iter().map(|line| line.len()).sum();
    !lines.is_empty() && n_bytes / lines.len() >= MIN_AVERAGE_BYTES
}

/// Cuts a text into items.
pub(crate) fn cut_into_items(form: ItemForm, bytes: &[u8], source: Option<Arc<SourceItems>>) -> FileItems {
    let mut file = FileItems { entities: vec![String::new()], ..FileItems::default() };
    match (form, &source) {
        (ItemForm::Syntax(_), Some(source)) => add_source(&mut file, bytes, source),
        (ItemForm::Prose, _) => add_prose(&mut file, bytes),
        (form, source) => add_lines(&mut file, bytes, form, source.as_deref()),
    }
    file.source = source;
    file.sorted_hashes.clone_from(&file.hashes);
    file.sorted_hashes.sort_unstable();
    file
}

fn add_source(file: &mut FileItems, bytes: &[u8], source: &SourceItems) {
    file.entities = source.units.iter().map(|unit| unit.name.clone()).collect();
    for item in &source.items {
        let raw = RawItem {
            kind: item.kind,
            tokens: Cow::Borrowed(&source.tokens[item.tokens.start as usize..item.tokens.end as usize]),
            entity: item.unit,
            first_line: item.first_line,
            last_line: item.last_line,
        };
        file.add(bytes, &raw);
    }
}

fn line_tokens(line: &[u8], at: usize) -> Vec<SourceToken> {
    let to_u32 = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 128;
    words(line)
        .into_iter()
        .map(|(start, end)| SourceToken {
            start: to_u32(at + start),
            end: to_u32(at + end),
            is_word: is_word(line[start]),
        })
        .collect()
}

/// Calls `each` with the offset, the number from 1 and the bytes of every line.
fn for_each_line(bytes: &[u8], mut each: impl FnMut(usize, u32, &[u8])) {
    let mut at = 0;
    for (line, number) in bytes.split_inclusive(|&byte| byte == b'\n').zip(1_u32..) {
        each(at, number, line);
        at += line.len();
    }
}

/// Conflict markers that were committed are no text of anyone.
fn is_marker(line: &[u8]) -> bool {
    line.starts_with(b"<<<<<<< ") || line.starts_with(b">>>>>>> ") || line.trim_ascii_end() == b"======="
}

fn add_lines(file: &mut FileItems, bytes: &[u8], form: ItemForm, parsed: Option<&SourceItems>) {
    let mut places = EntityPlaces::new(form, parsed);
    for_each_line(bytes, |at, number, line| {
        let tokens = line_tokens(line, at);
        let entity = places.entity_at(file, number, line);
        let kind = match tokens.iter().any(|token| token.is_word) {
            false => ItemKind::Filler,
            true if is_marker(line) || form == ItemForm::Gettext && is_gettext_note(line) => return,
            true if is_comment_line(line.trim_ascii()) => ItemKind::Comment,
            true => ItemKind::Code,
        };
        let tokens = Cow::Owned(tokens);
        file.add(bytes, &RawItem { kind, tokens, entity, first_line: number, last_line: number });
    });
}

fn is_gettext_note(line: &[u8]) -> bool {
    const NOTES: [&[u8]; 5] =
        [b"#:", b"#|", b"\"POT-Creation-Date:", b"\"PO-Revision-Date:", b"\"X-Generator:"];
    NOTES.iter().any(|note| line.starts_with(note))
}

fn is_comment_line(line: &[u8]) -> bool {
    const LEADERS: [&[u8]; 9] = [b"//", b"# ", b"##", b"/*", b"* ", b"-- ", b"<!--", b"%%", b";;"];
    LEADERS.iter().any(|leader| line.starts_with(leader))
}

/// Follows the keys and sections of a configuration file, or the units of a source file, line by line.
struct EntityPlaces<'a> {
    form: ItemForm,
    parsed: Option<&'a SourceItems>,
    /// Open keys with their indentation.
    open: Vec<(usize, String)>,
    known: BTreeMap<String, u32>,
}

impl<'a> EntityPlaces<'a> {
    fn new(form: ItemForm, parsed: Option<&'a SourceItems>) -> Self {
        Self { form, parsed, open: Vec::new(), known: BTreeMap::from([(String::new(), 0)]) }
    }

    fn entity_at(&mut self, file: &mut FileItems, number: u32, line: &[u8]) -> u32 {
        let text = String::from_utf8_lossy(line);
        let trimmed = text.trim();
        let indent = text.len() - text.trim_start().len();
        match self.form {
            ItemForm::Json => self.follow_json(trimmed),
            ItemForm::Yaml if !trimmed.is_empty() => self.follow_yaml(trimmed, indent),
            ItemForm::Sections => {
                if let Some(name) = trimmed.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
                    self.open = vec![(0, name.0.trim_matches('[').to_owned())];
                }
            }
            _ => {}
        }
        let name = match (self.form, self.parsed) {
            (ItemForm::SourceLines(_), Some(parsed)) => unit_at_line(parsed, number),
            _ => self.open.iter().map(|(_, key)| key.as_str()).collect::<Vec<_>>().join("."),
        };
        *self.known.entry(name.clone()).or_insert_with(|| {
            file.entities.push(name);
            u32::try_from(file.entities.len() - 1).unwrap_or(0)
        })
    }

    fn follow_json(&mut self, line: &str) {
        if line.starts_with(['}', ']']) {
            self.open.pop();
        }
        let opens = line.trim_end_matches(',').ends_with(['{', '[']);
        if opens {
            let key = line.split('"').nth(1).filter(|_| line.starts_with('"')).unwrap_or_default();
            // The outermost brace has no name and stays open.
            if !key.is_empty() || !self.open.is_empty() {
                self.open.push((0, key.to_owned()));
            }
        }
    }

    fn follow_yaml(&mut self, line: &str, indent: usize) {
        while self.open.last().is_some_and(|(open, _)| *open >= indent) {
            self.open.pop();
        }
        if let Some(key) = line.strip_suffix(':') {
            self.open.push((indent, key.trim_start_matches("- ").to_owned()));
        }
    }
}

fn unit_at_line(parsed: &SourceItems, line: u32) -> String {
    let around = |unit: &&ItemUnit| unit.range.start_line <= line && line <= unit.range.end_line;
    parsed.units.iter().rfind(around).map(|unit| unit.name.clone()).unwrap_or_default()
}

/// Paragraphs are items; headings, list entries, table rows and indented or fenced lines are items of one line.
fn add_prose(file: &mut FileItems, bytes: &[u8]) {
    let mut paragraph: Option<RawItem<'_>> = None;
    let mut is_fenced = false;
    let mut heading = 0_u32;
    let mut finished: Vec<RawItem<'_>> = Vec::new();
    for_each_line(bytes, |at, number, line| {
        let trimmed = line.trim_ascii();
        let indent = line.len() - line.trim_ascii_start().len();
        let tokens = line_tokens(line, at);
        // A longer row of tildes underlines a heading.
        let is_tilde_fence = trimmed.starts_with(b"~~~") && (trimmed.len() == 3 || !trimmed.ends_with(b"~"));
        let is_fence = trimmed.starts_with(b"```") || is_tilde_fence;
        is_fenced ^= is_fence;
        if trimmed.starts_with(b"#") && !is_fenced {
            file.entities.push(String::from_utf8_lossy(trimmed).trim_start_matches('#').trim().to_owned());
            heading = u32::try_from(file.entities.len() - 1).unwrap_or(0);
        }
        let has_word = tokens.iter().any(|token| token.is_word) && !is_marker(line);
        let stands_alone = is_fenced
            || is_fence
            || !has_word
            || trimmed.starts_with(b"#")
            || trimmed.starts_with(b"|")
            || trimmed.starts_with(b"..");
        let tokens = without_bullet(bytes, tokens);
        let begins = is_list_entry(trimmed) || (indent >= 4 && paragraph.is_none());
        if (stands_alone || begins || trimmed.is_empty())
            && let Some(open) = paragraph.take()
        {
            finished.push(open);
        }
        if !has_word {
            return;
        }
        let tokens = Cow::Owned(tokens);
        let raw =
            RawItem { kind: ItemKind::Text, tokens, entity: heading, first_line: number, last_line: number };
        match &mut paragraph {
            _ if stands_alone => finished.push(raw),
            Some(open) => {
                open.tokens.to_mut().extend_from_slice(&raw.tokens);
                open.last_line = number;
            }
            None => paragraph = Some(raw),
        }
    });
    finished.extend(paragraph);
    for raw in &finished {
        file.add(bytes, raw);
    }
}

/// Leaves out the mark of a list entry: which one it is, is layout.
fn without_bullet(bytes: &[u8], mut tokens: Vec<SourceToken>) -> Vec<SourceToken> {
    let is_bullet = |token: &SourceToken| {
        let text = &bytes[token.start as usize..token.end as usize];
        matches!(text, b"*" | b"-" | b"+") && bytes.get(token.end as usize) == Some(&b' ')
    };
    if tokens.len() > 1 && is_bullet(&tokens[0]) {
        tokens.remove(0);
    }
    tokens
}

fn is_list_entry(line: &[u8]) -> bool {
    let n_digits = line.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let is_numbered = n_digits > 0 && matches!(line.get(n_digits), Some(b'.' | b')'));
    is_numbered || matches!(line, [b'-' | b'*' | b'+', b' ', ..])
}
