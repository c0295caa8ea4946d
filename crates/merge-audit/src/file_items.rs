//! One version of a file as comparable items: logical lines of code, lines of configuration, paragraphs of prose.

use crate::hashes::hash_of;
use probity_analysis::{
    BareCall, ItemKind, ItemUnit, Language, SourceItems, SourceToken, read_source_items, words,
};
use std::collections::BTreeMap;
use std::ops::Range;

/// Larger source files are compared line by line.
const MAX_PARSED_BYTES: u64 = 1 << 20;

/// How a file is cut into items. All versions of a file are cut in the same way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ItemForm {
    Syntax(Language),
    /// Lines, with units of a language that is known but did not parse.
    SourceLines(Language),
    Json,
    Yaml,
    /// `[section]` and lines: TOML, INI and their relatives.
    Sections,
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
    /// Lines from 1, both inclusive.
    pub(crate) first_line: u32,
    pub(crate) last_line: u32,
    /// Its tokens, sorted: lines are compared with many others.
    pub(crate) sorted_tokens: Box<[u64]>,
    /// Its names, numbers and texts, sorted.
    pub(crate) sorted_words: Box<[u64]>,
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
    /// Tokens with their places, sorted.
    places: Vec<(u64, u32)>,
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

    fn index(&mut self) {
        self.places = self.tokens.iter().copied().zip(0_u32..).collect();
        self.places.sort_unstable();
    }

    fn places_of(&self, token: u64) -> &[(u64, u32)] {
        let start = self.places.partition_point(|(other, _)| *other < token);
        let n_places = self.places[start..].partition_point(|(other, _)| *other == token);
        &self.places[start..start + n_places]
    }

    pub(crate) fn occurrences(&self, needle: &[u64]) -> Occurrences {
        let mut found = Occurrences::default();
        let rarest = needle
            .iter()
            .enumerate()
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
    pub(crate) units: Vec<ItemUnit>,
    pub(crate) calls: Vec<BareCall>,
    pub(crate) n_errors: u32,
    pub(crate) strict_grammar: bool,
    counts: BTreeMap<u64, u32>,
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

    /// Returns the names, numbers and texts of an item.
    pub(crate) fn words_of(&self, item: &Item) -> Vec<u64> {
        let stream = self.stream_of(item);
        item.stream.clone().filter(|&at| stream.is_word[at]).map(|at| stream.tokens[at]).collect()
    }

    pub(crate) fn count(&self, hash: u64) -> u32 {
        self.counts.get(&hash).copied().unwrap_or(0)
    }

    /// Returns how often the tokens of an item, which may be of another version, occur here.
    pub(crate) fn occurrences(&self, tokens: &[u64], is_note: bool) -> Occurrences {
        if is_note { self.notes.occurrences(tokens) } else { self.code.occurrences(tokens) }
    }

    pub(crate) fn entity_of(&self, item: &Item) -> &str {
        self.entities.get(item.entity as usize).map_or("", String::as_str)
    }

    fn add(&mut self, bytes: &[u8], raw: &RawItem) {
        if raw.tokens.is_empty() {
            return;
        }
        let is_note = matches!(raw.kind, ItemKind::Comment | ItemKind::Text);
        let stream = if is_note { &mut self.notes } else { &mut self.code };
        let start = stream.tokens.len();
        for (index, token) in raw.tokens.iter().enumerate() {
            let text = &bytes[token.start as usize..token.end as usize];
            stream.push(hash_of(text), token.is_word, index == 0);
        }
        if raw.kind == ItemKind::Filler {
            return;
        }
        let tokens = &stream.tokens[start..];
        let packed: Vec<u8> =
            tokens.iter().flat_map(|hash| hash.to_le_bytes()).chain([u8::from(is_note)]).collect();
        let hash = hash_of(&packed);
        let mut sorted_tokens: Box<[u64]> = tokens.into();
        sorted_tokens.sort_unstable();
        let words = tokens.iter().zip(&stream.is_word[start..]).filter(|(_, is_word)| **is_word);
        let mut sorted_words: Box<[u64]> = words.map(|(token, _)| *token).collect();
        sorted_words.sort_unstable();
        *self.counts.entry(hash).or_default() += 1;
        self.hashes.push(hash);
        self.items.push(Item {
            hash,
            kind: raw.kind,
            stream: start..start + raw.tokens.len(),
            entity: raw.entity,
            first_line: raw.first_line,
            last_line: raw.last_line,
            sorted_tokens,
            sorted_words,
        });
    }
}

struct RawItem {
    kind: ItemKind,
    tokens: Vec<SourceToken>,
    entity: u32,
    first_line: u32,
    last_line: u32,
}

/// Returns the form that fits a file name. Source may turn out not to parse: see [`choose_form`].
fn form_of(name: &[u8], text: &[u8]) -> ItemForm {
    if let Some(language) = Language::of_file_name(name) {
        return ItemForm::Syntax(language);
    }
    let lower = String::from_utf8_lossy(name).to_lowercase();
    let extension = lower.rsplit_once('.').map_or("", |(_, extension)| extension);
    match extension {
        "json" | "json5" | "jsonc" | "webmanifest" | "ipynb" => ItemForm::Json,
        "yml" | "yaml" => ItemForm::Yaml,
        "toml" | "ini" | "cfg" | "conf" | "properties" | "editorconfig" | "gitconfig" => ItemForm::Sections,
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

/// Cuts the versions of one file into items, all in the same form: source in which the grammar finds more errors than
/// in the base is compared by lines. The first is the base; absent versions are `None`.
pub(crate) fn read_versions(name: &[u8], versions: [Option<&[u8]>; 4]) -> [Option<FileItems>; 4] {
    let sample = versions.iter().flatten().next().copied().unwrap_or_default();
    let form = form_of(name, sample);
    let ItemForm::Syntax(language) = form else {
        return versions.map(|bytes| bytes.map(|bytes| read_items(form, bytes, None)));
    };
    // Of the four versions two or three are often equal: each text is parsed once.
    let mut parsed: [Option<Option<SourceItems>>; 4] = Default::default();
    for version in 0..versions.len() {
        let same =
            (0..version).find(|&other| versions[other].is_some() && versions[other] == versions[version]);
        parsed[version] = match same {
            Some(other) => parsed[other].clone(),
            None => versions[version].map(|bytes| read_source_items(language, bytes, MAX_PARSED_BYTES)),
        };
    }
    let errors = |version: &Option<Option<SourceItems>>| match version {
        Some(Some(items)) => items.n_errors,
        Some(None) => u32::MAX,
        None => 0,
    };
    let n_base_errors = errors(&parsed[0]);
    let is_clean = n_base_errors != u32::MAX && parsed.iter().all(|version| errors(version) <= n_base_errors);
    let form = if is_clean { form } else { ItemForm::SourceLines(language) };
    let mut parsed = parsed.into_iter();
    versions.map(|bytes| {
        let items = parsed.next().flatten().flatten();
        bytes.map(|bytes| read_items(form, bytes, items))
    })
}

fn read_items(form: ItemForm, bytes: &[u8], parsed: Option<SourceItems>) -> FileItems {
    let mut file = FileItems { entities: vec![String::new()], ..FileItems::default() };
    match (form, parsed) {
        (ItemForm::Syntax(_), Some(source)) => add_source(&mut file, bytes, source),
        (ItemForm::Prose, _) => add_prose(&mut file, bytes),
        (form, parsed) => {
            add_lines(&mut file, bytes, form, parsed.as_ref());
            if let Some(source) = parsed {
                (file.units, file.calls) = (source.units, source.calls);
                (file.n_errors, file.strict_grammar) = (source.n_errors, source.strict_grammar);
            }
        }
    }
    file.code.index();
    file.notes.index();
    file
}

fn add_source(file: &mut FileItems, bytes: &[u8], source: SourceItems) {
    file.entities = source.units.iter().map(|unit| unit.name.clone()).collect();
    for item in source.items {
        let tokens = source.tokens[item.tokens.start as usize..item.tokens.end as usize].to_vec();
        let raw = RawItem {
            kind: item.kind,
            tokens,
            entity: item.unit,
            first_line: item.first_line,
            last_line: item.last_line,
        };
        file.add(bytes, &raw);
    }
    (file.units, file.calls) = (source.units, source.calls);
    (file.n_errors, file.strict_grammar) = (source.n_errors, source.strict_grammar);
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
            true if is_marker(line) => return,
            true if is_comment_line(line.trim_ascii()) => ItemKind::Comment,
            true => ItemKind::Code,
        };
        file.add(bytes, &RawItem { kind, tokens, entity, first_line: number, last_line: number });
    });
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
    let mut paragraph: Option<RawItem> = None;
    let mut is_fenced = false;
    let mut heading = 0_u32;
    let mut finished: Vec<RawItem> = Vec::new();
    for_each_line(bytes, |at, number, line| {
        let trimmed = line.trim_ascii();
        let indent = line.len() - line.trim_ascii_start().len();
        let tokens = line_tokens(line, at);
        let is_fence = trimmed.starts_with(b"```") || trimmed.starts_with(b"~~~");
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
        let begins = is_list_entry(trimmed) || (indent >= 4 && paragraph.is_none());
        if (stands_alone || begins || trimmed.is_empty())
            && let Some(open) = paragraph.take()
        {
            finished.push(open);
        }
        if !has_word {
            return;
        }
        let raw =
            RawItem { kind: ItemKind::Text, tokens, entity: heading, first_line: number, last_line: number };
        match &mut paragraph {
            _ if stands_alone => finished.push(raw),
            Some(open) => {
                open.tokens.extend(raw.tokens);
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

fn is_list_entry(line: &[u8]) -> bool {
    let n_digits = line.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let is_numbered = n_digits > 0 && matches!(line.get(n_digits), Some(b'.' | b')'));
    is_numbered || matches!(line, [b'-' | b'*' | b'+', b' ', ..])
}
