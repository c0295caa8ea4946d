//! Logical lines of a source file, for comparing versions of it without regard to layout.
//!
//! An item is what a person would call one line of code: it ends at a line break outside of brackets, or after a
//! comma or an opening bracket at the end of a line. Braces, separators and white space do not count, so that the
//! same code in another layout has the same tokens. Comments and the lines of long texts are items of their own.

use crate::facts::{CallableParameter, FileFacts, SourceRange, UnitKind, count};
use crate::language::{Language, NodeKindTable, NodeRole, spec};
use crate::parse;
use tree_sitter::{Node, TreeCursor};

/// What an item is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ItemKind {
    Code,
    Import,
    Comment,
    /// A line inside a text of several lines.
    Text,
    /// Punctuation alone: part of the code around it, but no line of its own.
    Filler,
}

/// A token, as a range of bytes of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SourceToken {
    pub start: u32,
    pub end: u32,
    /// True for names, numbers and texts; false for punctuation.
    pub is_word: bool,
}

/// A logical line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceItem {
    pub kind: ItemKind,
    /// Indices into [`SourceItems::tokens`].
    pub tokens: std::ops::Range<u32>,
    /// The innermost unit around it: an index into [`SourceItems::units`].
    pub unit: u32,
    /// Lines from 1, both inclusive.
    pub first_line: u32,
    pub last_line: u32,
}

/// A class, a callable or the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ItemUnit {
    /// Qualified by the enclosing units. Empty for the file.
    pub name: String,
    pub kind: UnitKind,
    pub parent: Option<u32>,
    pub decorated: bool,
    pub parameters: Vec<CallableParameter>,
    pub range: SourceRange,
}

/// A call of a callable by its bare name, or by its name in a module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BareCall {
    pub name: String,
    /// The number of arguments; `None` if a spread or named argument makes it unclear.
    pub n_arguments: Option<u32>,
    pub line: u32,
    pub unit: u32,
}

/// The items of one file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SourceItems {
    pub tokens: Vec<SourceToken>,
    pub items: Vec<SourceItem>,
    pub units: Vec<ItemUnit>,
    pub calls: Vec<BareCall>,
    /// The number of places that the grammar could not parse.
    pub n_errors: u32,
    /// True if the grammar can parse whole programs, so that an error means something.
    pub strict_grammar: bool,
}

/// Reads the items of a file; `None` if it is too large or too hard to parse, or no text.
pub fn read_source_items(language: Language, bytes: &[u8], max_bytes: u64) -> Option<SourceItems> {
    if bytes.len() as u64 > max_bytes || bytes.contains(&0) {
        return None;
    }
    let (tree, facts) = parse::parse_with_facts(language, bytes)?;
    let mut walker = ItemWalker {
        kinds: NodeKindTable::of(language),
        is_go: language == Language::Go,
        source: bytes,
        items: SourceItems::default(),
        brackets: Vec::new(),
        open: None,
        last_row: 0,
        last_token: LastToken::Other,
        is_import_until: 0,
    };
    walker.walk(tree.root_node());
    walker.close();
    let mut items = walker.items;
    items.n_errors = facts.n_errors;
    items.strict_grammar = spec(language).strict_grammar;
    attach_units(&mut items, facts, bytes);
    Some(items)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LastToken {
    Comma,
    OpenBracket,
    Continuation,
    Other,
}

#[derive(Debug, Clone, Copy)]
struct OpenItem {
    kind: ItemKind,
    first_token: usize,
    first_row: usize,
}

struct ItemWalker<'source> {
    kinds: &'static NodeKindTable,
    is_go: bool,
    source: &'source [u8],
    items: SourceItems,
    /// Open brackets; true if a line break inside does not end an item.
    brackets: Vec<bool>,
    open: Option<OpenItem>,
    last_row: usize,
    last_token: LastToken,
    /// Tokens before this byte belong to an import.
    is_import_until: usize,
}

impl ItemWalker<'_> {
    fn walk(&mut self, root: Node<'_>) {
        let mut cursor = root.walk();
        loop {
            let descends = self.enter(&cursor) && cursor.goto_first_child();
            if descends {
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return;
                }
            }
        }
    }

    /// Enters a node. Returns true if its children are to be visited.
    fn enter(&mut self, cursor: &TreeCursor<'_>) -> bool {
        let node = cursor.node();
        let roles = self.kinds.get(node.kind_id()).roles;
        if roles.has(NodeRole::Comment) {
            if node.kind() == "line_continuation" {
                self.last_token = LastToken::Continuation;
            } else {
                self.comment(node);
            }
            return false;
        }
        if roles.has(NodeRole::Call) {
            self.call(node);
        }
        if roles.has(NodeRole::Import) && is_only_import(node) {
            self.is_import_until = self.is_import_until.max(node.end_byte());
        }
        if is_text(node) {
            self.text(node);
            return false;
        }
        if node.child_count() == 0 {
            self.token(node);
            return false;
        }
        true
    }

    fn token(&mut self, node: Node<'_>) {
        let bytes = &self.source[node.byte_range()];
        let row = node.start_position().row;
        if bytes.trim_ascii().is_empty() {
            return;
        }
        match bytes {
            b"{" | b"}" | b";" => {
                if bytes == b"{" {
                    self.brackets.push(false);
                } else if bytes == b"}" {
                    self.brackets.pop();
                }
                self.last_token = LastToken::Other;
                if bytes != b";" || !self.is_inside_brackets() {
                    self.close();
                }
                self.last_row = row;
                return;
            }
            b"," => {
                self.last_token = LastToken::Comma;
                self.last_row = row;
                return;
            }
            _ => {}
        }
        self.break_before(row, matches!(bytes, b")" | b"]"));
        let is_import = node.start_byte() < self.is_import_until;
        let kind = if is_import { ItemKind::Import } else { ItemKind::Code };
        self.push(node.start_byte(), node.end_byte(), row, kind);
        self.last_row = node.end_position().row;
        self.last_token = LastToken::Other;
        match bytes {
            b"(" | b"[" => {
                let is_group = self.is_go && bytes == b"(" && self.follows_declaration_word();
                self.brackets.push(!is_group);
                self.last_token = LastToken::OpenBracket;
            }
            b")" | b"]" => {
                self.brackets.pop();
            }
            _ => {}
        }
    }

    /// Returns true after `import`, `const`, `var` or `type`, whose parenthesis is a block in Go.
    fn follows_declaration_word(&self) -> bool {
        let [.., before, _] = self.items.tokens[..] else { return false };
        let word = &self.source[before.start as usize..before.end as usize];
        matches!(word, b"import" | b"const" | b"var" | b"type")
    }

    fn is_inside_brackets(&self) -> bool {
        self.brackets.last() == Some(&true)
    }

    /// Ends the open item if the next token, on `row`, starts another one.
    fn break_before(&mut self, row: usize, is_closing: bool) {
        if row == self.last_row || self.last_token == LastToken::Continuation {
            return;
        }
        let ends = !self.is_inside_brackets()
            || is_closing
            || matches!(self.last_token, LastToken::Comma | LastToken::OpenBracket);
        if ends {
            self.close();
        }
    }

    fn push(&mut self, start: usize, end: usize, row: usize, kind: ItemKind) {
        if self.open.is_some_and(|open| open.kind != kind) {
            self.close();
        }
        if self.open.is_none() {
            self.open = Some(OpenItem { kind, first_token: self.items.tokens.len(), first_row: row });
        }
        let first = self.source[start];
        let is_quote = matches!(first, b'"' | b'\'' | b'`' | b'@' | b'$') && end - start > 1;
        let is_word =
            first.is_ascii_alphanumeric() || first == b'_' || first >= 128 || is_quote || end - start > 3;
        self.items.tokens.push(SourceToken { start: count(start), end: count(end), is_word });
    }

    /// Ends the open item.
    fn close(&mut self) {
        let Some(open) = self.open.take() else { return };
        let n_tokens = self.items.tokens.len();
        if open.first_token == n_tokens {
            return;
        }
        let is_code = matches!(open.kind, ItemKind::Code | ItemKind::Import);
        let has_word = self.items.tokens[open.first_token..].iter().any(|token| token.is_word);
        if !has_word && !is_code {
            self.items.tokens.truncate(open.first_token);
            return;
        }
        self.items.items.push(SourceItem {
            kind: if has_word { open.kind } else { ItemKind::Filler },
            tokens: count(open.first_token)..count(n_tokens),
            unit: 0,
            first_line: count(open.first_row) + 1,
            last_line: count(self.last_row.max(open.first_row)) + 1,
        });
    }

    /// Adds a comment: one item per line of it. It does not end the code around it.
    fn comment(&mut self, node: Node<'_>) {
        let open = self.open.take();
        let kept: Vec<SourceToken> =
            open.map(|open| self.items.tokens.split_off(open.first_token)).unwrap_or_default();
        let last_row = self.last_row;
        self.lines(node, ItemKind::Comment);
        self.close();
        self.last_row = last_row;
        if let Some(open) = open {
            let first_token = self.items.tokens.len();
            self.items.tokens.extend(kept);
            self.open = Some(OpenItem { first_token, ..open });
        }
    }

    /// Adds a text: one token if it is on one line, else an item per line.
    fn text(&mut self, node: Node<'_>) {
        let (start, end) = (node.start_position(), node.end_position());
        self.break_before(start.row, false);
        if start.row == end.row {
            let is_import = node.start_byte() < self.is_import_until;
            let kind = if is_import { ItemKind::Import } else { ItemKind::Code };
            self.push(node.start_byte(), node.end_byte(), start.row, kind);
        } else {
            self.close();
            self.lines(node, ItemKind::Text);
            self.close();
        }
        self.last_row = end.row;
        self.last_token = LastToken::Other;
    }

    fn lines(&mut self, node: Node<'_>, kind: ItemKind) {
        let mut at = node.start_byte();
        let first_row = node.start_position().row;
        for (index, line) in self.source[node.byte_range()].split(|&byte| byte == b'\n').enumerate() {
            self.close();
            self.last_row = first_row + index;
            for (start, end) in words(line) {
                self.push(at + start, at + end, first_row + index, kind);
            }
            at += line.len() + 1;
        }
    }

    fn call(&mut self, node: Node<'_>) {
        let has_object = ["object", "receiver"].iter().any(|field| node.child_by_field_name(field).is_some());
        let callee = ["function", "name", "method"].iter().find_map(|field| node.child_by_field_name(field));
        let callee = callee.or_else(|| node.named_child(0));
        let (Some(callee), false) = (callee, has_object) else { return };
        let text = String::from_utf8_lossy(&self.source[callee.byte_range()]).into_owned();
        let (module, name) = text.rsplit_once("::").unwrap_or(("", &text));
        let is_name = |word: &str| {
            !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        };
        // `Type::new` is a method: only modules, written in lower case, qualify a bare name.
        let is_module = module.split("::").all(|part| {
            part.is_empty() || (is_name(part) && !part.starts_with(|c: char| c.is_ascii_uppercase()))
        });
        if !is_name(name) || !is_module {
            return;
        }
        let arguments = node.child_by_field_name("arguments").or_else(|| {
            let mut cursor = node.walk();
            node.named_children(&mut cursor).find(|child| child.kind().contains("arguments"))
        });
        let Some(arguments) = arguments else { return };
        self.items.calls.push(BareCall {
            name: name.to_owned(),
            n_arguments: n_arguments(arguments),
            line: count(node.start_position().row) + 1,
            unit: count(callee.start_byte()),
        });
    }
}

fn n_arguments(arguments: Node<'_>) -> Option<u32> {
    let mut cursor = arguments.walk();
    let mut n_arguments = 0;
    for child in arguments.named_children(&mut cursor) {
        let kind = child.kind();
        if kind.contains("comment") {
            continue;
        }
        let is_unclear =
            ["splat", "spread", "keyword", "unpack", "block", "hash", "pair", "variadic", "ERROR"]
                .iter()
                .any(|word| kind.contains(word));
        if is_unclear || child.child_by_field_name("name").is_some() && kind == "argument" {
            return None;
        }
        n_arguments += 1;
    }
    Some(n_arguments)
}

/// Some grammars have no node for imports alone: a call, a module or an export may be one, and usually is not.
fn is_only_import(node: Node<'_>) -> bool {
    let kind = node.kind();
    !kind.contains("call")
        && kind != "mod_item"
        && (!kind.contains("export") || node.child_by_field_name("source").is_some())
}

/// Returns true for a text with its quotes.
fn is_text(node: Node<'_>) -> bool {
    let kind = node.kind();
    node.is_named()
        && matches!(
            kind,
            "string"
                | "string_literal"
                | "raw_string_literal"
                | "interpreted_string_literal"
                | "template_string"
                | "verbatim_string_literal"
                | "interpolated_string_expression"
                | "concatenated_string_part"
                | "heredoc_body"
                | "encapsed_string"
                | "heredoc"
                | "nowdoc"
                | "multiline_string_literal"
                | "char_literal"
                | "system_lib_string"
                | "jsx_text"
                | "preproc_arg"
        )
}

/// Splits a line into words and single marks: ranges of bytes.
pub fn words(line: &[u8]) -> Vec<(usize, usize)> {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 128;
    let mut found = Vec::new();
    let mut at = 0;
    while at < line.len() {
        let byte = line[at];
        if is_word(byte) {
            let length = line[at..].iter().take_while(|&&byte| is_word(byte)).count();
            found.push((at, at + length));
            at += length;
        } else {
            if !byte.is_ascii_whitespace() && !matches!(byte, b',' | b';' | b'{' | b'}') {
                found.push((at, at + 1));
            }
            at += 1;
        }
    }
    found
}

/// Says for each item and call which unit it is in. Units are in order of their starts, and nest.
fn attach_units(items: &mut SourceItems, facts: FileFacts, bytes: &[u8]) {
    let mut line_starts = vec![0_u32];
    line_starts.extend(bytes.iter().zip(1_u32..).filter(|(byte, _)| **byte == b'\n').map(|(_, at)| at));
    let offset = |line: u32, column: u32| {
        let start = line_starts.get(line as usize - 1).copied().unwrap_or_else(|| count(bytes.len()));
        start + column - 1
    };
    let ranges: Vec<(u32, u32)> = facts
        .units
        .iter()
        .map(|unit| {
            let range = unit.range;
            (offset(range.start_line, range.start_column), offset(range.end_line, range.end_column))
        })
        .collect();
    let unit_at = |at: u32| {
        let mut index = ranges.partition_point(|(start, _)| *start <= at).saturating_sub(1);
        while index > 0 && ranges[index].1 <= at {
            index = facts.units[index].parent.map_or(0, |parent| parent as usize);
        }
        count(index)
    };
    for item in &mut items.items {
        item.unit = unit_at(items.tokens[item.tokens.start as usize].start);
    }
    for call in &mut items.calls {
        call.unit = unit_at(call.unit);
    }
    let to_unit = |unit: crate::facts::CodeUnit| ItemUnit {
        name: unit.name,
        kind: unit.kind,
        parent: unit.parent,
        decorated: unit.decorated,
        parameters: unit.parameters,
        range: unit.range,
    };
    items.units = facts.units.into_iter().map(to_unit).collect();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(language: Language, source: &str) -> Vec<String> {
        let read = read_source_items(language, source.as_bytes(), 1 << 20).expect("is read");
        let text = |token: &SourceToken| &source[token.start as usize..token.end as usize];
        let line = |item: &SourceItem| {
            let tokens = &read.tokens[item.tokens.start as usize..item.tokens.end as usize];
            let words: Vec<&str> = tokens.iter().map(text).collect();
            format!("{}: {}", read.units[item.unit as usize].name, words.join(" "))
        };
        read.items.iter().map(line).collect()
    }

    #[test]
    fn layout_does_not_change_the_tokens() {
        let narrow = shown(Language::Rust, "fn f(a: u8)\n{\n    g(\n        1,\n        2\n    );\n}\n");
        let wide = shown(Language::Rust, "fn f(a: u8) {\n    g(1, 2);\n}\n");
        let stream = |items: &[String]| {
            items
                .iter()
                .map(|item| item.split_once(": ").expect("an entity").1.to_owned())
                .collect::<Vec<_>>()
                .join(" ")
        };
        assert_eq!(stream(&narrow), stream(&wide));
        assert_eq!(wide, ["f: fn f ( a : u8 )", "f: g ( 1 2 )"]);
    }

    #[test]
    fn comments_and_long_texts_are_items_of_their_own() {
        let items = shown(Language::Python, "x = f(1, # one\n    2)\n\"\"\"\nsome words\n\"\"\"\n");
        assert_eq!(items, [": # one", ": x = f ( 1", ": 2 )", ": some words"]);
    }
}
