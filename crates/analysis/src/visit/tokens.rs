//! Tokens: the names of a file, and the statements by which clones are found.
//!
//! A statement has its own tokens without those of nested statements. Layout has no effect: comments, quotes,
//! commas, semicolons and braces are not tokens here. Type annotations are left out of statements, so that a
//! copy with types is still a copy.

use super::{NodeFrame, SyntaxVisitor, binds};
use crate::facts::{NameRole, NameUse, SourceRange, Statement, UnitKind, count, token_kind};
use crate::hash;
use crate::language::{FreeNameRule, NodeKind, NodeRole, RoleSet, TokenKind};
use tree_sitter::TreeCursor;

/// Shapes of blanked tokens. Node kinds have numbers below 2^16.
const NAME_SHAPE: u64 = 1 << 20;
const MEMBER_SHAPE: u64 = 2 << 20;
const OWN_OBJECT_SHAPE: u64 = 3 << 20;
const TEXT_SHAPE: u64 = 4 << 20;
const NUMBER_SHAPE: u64 = 5 << 20;
const CONSTANT_SHAPE: u64 = 6 << 20;
const WORDS_SHAPE: u64 = 7 << 20;

const NAME_ROLES: RoleSet = RoleSet::of(&[NodeRole::Name, NodeRole::MemberName]);
const CALLABLE_ROLES: RoleSet = RoleSet::of(&[NodeRole::Function, NodeRole::Lambda]);
const NON_STATEMENT_ROLES: RoleSet =
    RoleSet::of(&[NodeRole::Block, NodeRole::Params, NodeRole::Decorator, NodeRole::Modifiers]);

/// Where a name stands.
#[derive(Clone, Copy)]
struct NamePosition {
    follows_dot: bool,
    is_callee: bool,
    is_key: bool,
}

/// A statement that has not been left yet.
#[derive(Debug)]
pub(super) struct OpenStatement {
    index: u32,
    pub(super) is_import: bool,
    has_code: bool,
}

impl<'tree> SyntaxVisitor<'tree> {
    /// Opens a statement: a named child of a block, the code of a case, or the body of a callable without a block.
    pub(super) fn enter_statement(
        &mut self,
        cursor: &TreeCursor<'tree>,
        parent: &NodeFrame,
        frame: &mut NodeFrame,
    ) {
        const STATEMENT_PARENT_ROLES: RoleSet =
            RoleSet::of(&[NodeRole::Block, NodeRole::Arm, NodeRole::Function, NodeRole::Lambda]);
        if !parent.roles.any(STATEMENT_PARENT_ROLES) || frame.roles.any(NON_STATEMENT_ROLES) {
            return;
        }
        let node = cursor.node();
        let is_child =
            parent.roles.has(NodeRole::Block) || (parent.roles.has(NodeRole::Arm) && parent.after_then);
        let is_body = parent.roles.any(CALLABLE_ROLES) && cursor.field_name() == Some("body");
        if !node.is_named() || !(is_child || is_body) {
            return;
        }
        let index = count(self.facts.statements.len());
        self.facts.statements.push(Statement {
            shape: 0,
            exact: 0,
            range: SourceRange::of(node),
            n_tokens: 0,
            depth: count(self.statements.len()),
            first_name: count(self.facts.names.len()),
            first_token: count(self.facts.token_kinds.len()),
            idle: false,
        });
        // A lone string is documentation, unless it is the value of a branch or block.
        let has_code = node.kind() != "expression_statement";
        self.statements.push(OpenStatement { index, is_import: false, has_code });
        frame.opened_statement = true;
    }

    pub(super) fn leave_statement(&mut self, frame: &NodeFrame) {
        if frame.opened_statement
            && let Some(open) = self.statements.pop()
        {
            self.facts.statements[open.index as usize].idle = open.is_import || !open.has_code;
        }
    }

    pub(super) fn token(&mut self, cursor: &TreeCursor<'tree>, kind: NodeKind) {
        self.flow_words(kind);
        if kind.roles.has(NodeRole::Silent) {
            return;
        }
        let node = cursor.node();
        let source = self.source;
        let text = &source[node.byte_range()];
        if text.is_empty() {
            return;
        }
        let (shape, exact) = if kind.roles.any(NAME_ROLES) {
            self.name(cursor, kind, text)
        } else if kind.roles.has(NodeRole::Own) {
            self.own_word();
            (OWN_OBJECT_SHAPE, OWN_OBJECT_SHAPE)
        } else if kind.roles.has(NodeRole::Text) {
            self.mention(text);
            (TEXT_SHAPE, hash::of_bytes(text))
        } else if kind.roles.has(NodeRole::Words) {
            text.split(|&byte| !is_word(byte)).for_each(|word| self.mention(word));
            (WORDS_SHAPE, hash::of_bytes(text))
        } else if kind.roles.has(NodeRole::Number) {
            (NUMBER_SHAPE, hash::of_bytes(text))
        } else if kind.roles.has(NodeRole::Constant) {
            (CONSTANT_SHAPE, hash::of_bytes(text))
        } else {
            (u64::from(node.kind_id()), u64::from(node.kind_id()))
        };
        self.tokens.push(exact);
        self.add_token_kind(shape, kind.token_kind);
        self.start_case(kind.word);
        self.add_to_statement(shape, exact);
    }

    /// Records the kind of a token, which survives a rewrite.
    fn add_token_kind(&mut self, shape: u64, word: u8) {
        let kind = match shape {
            NAME_SHAPE | MEMBER_SHAPE if self.n_type_notes > 0 => token_kind::HIDDEN_NAME,
            _ if self.n_type_notes > 0 => return,
            NAME_SHAPE => token_kind::VARIABLE,
            MEMBER_SHAPE => token_kind::MEMBER,
            OWN_OBJECT_SHAPE => token_kind::OWN_OBJECT,
            TEXT_SHAPE => token_kind::TEXT,
            NUMBER_SHAPE => token_kind::NUMBER,
            CONSTANT_SHAPE => token_kind::CONSTANT,
            WORDS_SHAPE => token_kind::WORDS,
            _ if word == token_kind::LEFT_OUT => return,
            _ => word,
        };
        self.facts.token_kinds.push(kind);
    }

    fn add_to_statement(&mut self, shape: u64, exact: u64) {
        if self.n_type_notes > 0 {
            return;
        }
        let Some(open) = self.statements.last_mut() else { return };
        open.has_code |= shape != TEXT_SHAPE;
        let statement = &mut self.facts.statements[open.index as usize];
        statement.shape = hash::mix(statement.shape, shape);
        statement.exact = hash::mix(statement.exact, exact);
        statement.n_tokens += 1;
    }

    /// Tells the enclosing node about words and operators.
    fn flow_words(&mut self, kind: NodeKind) {
        if kind.operator != 0 || kind.word == TokenKind::Else {
            self.flow_token(kind.operator, kind.word);
        }
        if matches!(kind.word, TokenKind::Dot | TokenKind::Arrow)
            && let Some(parent) = self.frames.last_mut()
        {
            parent.after_dot = true;
        }
    }

    /// Starts the body of a case after its first `:`, `=>` or `->`, and that of an `else` without a block
    /// after the word.
    fn start_case(&mut self, word: TokenKind) {
        let n_tokens = count(self.tokens.len());
        let Some(parent) = self.frames.last_mut() else { return };
        let is_case = matches!(word, TokenKind::Then | TokenKind::Arrow) && parent.roles.has(NodeRole::Arm);
        if is_case && !parent.after_then {
            parent.after_then = true;
            parent.token = n_tokens;
        }
        if word == TokenKind::Else && parent.roles.has(NodeRole::Else) && parent.roles.has(NodeRole::Block) {
            parent.token = n_tokens;
        }
    }

    fn own_word(&mut self) {
        if let Some(parent) = self.frames.last_mut() {
            parent.own = parent.n_children == 0;
        }
    }

    fn name(&mut self, cursor: &TreeCursor<'tree>, kind: NodeKind, text: &[u8]) -> (u64, u64) {
        let (symbol, fingerprint) = self.symbols.intern(text);
        let parent = self.frames.last().copied().unwrap_or_default();
        let follows_dot = parent.roles.has(NodeRole::Member) && parent.after_dot;
        let is_callee = parent.roles.has(NodeRole::Call) && is_callee(cursor, &parent);
        let is_key = parent.roles.has(NodeRole::Keyed) && parent.n_children == 0;
        let is_member = kind.roles.has(NodeRole::MemberName) || follows_dot || is_callee || is_key;
        let is_own = (follows_dot && parent.own) || (is_member && text[0] == b'@');
        self.count_test_call(text, &parent, follows_dot);
        let is_definition = self.innermost().name_at == Some(cursor.node().start_byte());
        let role = if is_definition {
            NameRole::Declared
        } else {
            self.name_role(cursor, kind, &parent, text, NamePosition { follows_dot, is_callee, is_key })
        };
        if role == NameRole::Declared {
            // A parameter or variable of that name is no module.
            self.modules.remove(&symbol);
        }
        self.facts.names.push(NameUse::new(symbol, is_definition, is_member, is_own, role));
        if parent.roles.has(NodeRole::Member)
            && parent.n_children == 0
            && let Some(parent) = self.frames.last_mut()
        {
            parent.base = symbol + 1;
        }
        if parent.n_children == 0
            && parent.roles.has(NodeRole::Member)
            && self.spec.own.iter().any(|own| own.as_bytes() == text)
        {
            self.own_word();
        }
        self.bind(cursor, &parent, symbol);
        self.recurse(is_callee, is_own, symbol);
        self.export(symbol);
        (if is_member { MEMBER_SHAPE } else { NAME_SHAPE }, fingerprint)
    }

    fn name_role(
        &self,
        cursor: &TreeCursor<'tree>,
        kind: NodeKind,
        parent: &NodeFrame,
        text: &[u8],
        position: NamePosition,
    ) -> NameRole {
        if parent.imports {
            return NameRole::Imported;
        }
        if position.follows_dot {
            // A member of a module is declared at the top level of it.
            let is_of_module = parent.base != 0 && self.modules.contains(&(parent.base - 1));
            return if is_of_module { NameRole::Free } else { NameRole::Other };
        }
        if position.is_key {
            return NameRole::Other;
        }
        let is_type_name = kind.roles.has(NodeRole::MemberName) && cursor.node().kind() == "type_identifier";
        if kind.roles.has(NodeRole::MemberName) && !is_type_name && !position.is_callee {
            return NameRole::Other;
        }
        if binds(cursor, parent) {
            return NameRole::Declared;
        }
        let is_free = match self.spec.free_names {
            FreeNameRule::NotBound => true,
            FreeNameRule::CalleesAndTypes => {
                let is_base = parent.roles.has(NodeRole::Member) && parent.n_children == 0;
                // `@Name` is the name of a class.
                let is_annotation = parent.roles.has(NodeRole::Decorator);
                let is_type = || match cursor.field_name() {
                    _ if is_annotation => true,
                    Some("type") => true,
                    Some("name" | "declarator" | "alias") => false,
                    _ => is_type_name || parent.roles.has(NodeRole::TypeUse),
                };
                position.is_callee || (is_base && text[0].is_ascii_uppercase()) || is_type()
            }
        };
        if is_free { NameRole::Free } else { NameRole::Declared }
    }

    /// Records the name that a binding binds, and the fields that a class declares.
    fn bind(&mut self, cursor: &TreeCursor<'tree>, parent: &NodeFrame, symbol: u32) {
        if !parent.roles.has(NodeRole::Binding) || parent.bound != 0 || cursor.field_name() == Some("type") {
            return;
        }
        if let Some(parent) = self.frames.last_mut() {
            parent.bound = symbol + 1;
        }
        let unit = self.innermost().unit;
        let declares = self.frames.iter().rev().take(3).any(|frame| frame.roles.has(NodeRole::Field));
        if declares && self.facts.units[unit as usize].kind == UnitKind::Class {
            self.fields.push((unit, symbol));
        }
    }

    /// Counts direct recursion, once per callable.
    fn recurse(&mut self, is_callee: bool, is_own: bool, symbol: u32) {
        let is_own_call =
            is_own && self.frames.len() > 1 && self.frames[self.frames.len() - 2].roles.has(NodeRole::Call);
        let open = self.innermost();
        if (is_callee || is_own_call) && open.symbol == Some(symbol) && !open.recurses {
            open.recurses = true;
            open.cognitive += 1;
        }
    }

    /// Records a name in a list of exports: `export { name }`.
    fn export(&mut self, symbol: u32) {
        let n_frames = self.frames.len();
        if n_frames > 1 && self.frames[n_frames - 2].roles.has(NodeRole::Export) {
            self.facts.exports.push(symbol);
        }
    }

    /// Records the member that a binding binds: `exports.name = …`.
    pub(super) fn leave_member(&mut self, frame: &NodeFrame) {
        if !frame.roles.has(NodeRole::Member) {
            return;
        }
        let Some(name) = self.facts.names.last() else { return };
        if let Some(parent) = self.frames.last_mut()
            && parent.roles.has(NodeRole::Binding)
            && parent.bound == 0
            && parent.n_children == 1
        {
            parent.bound = name.symbol() + 1;
        }
    }

    /// Records a string that could be a name: it may be looked up, so the name counts as used.
    fn mention(&mut self, text: &[u8]) {
        let word = text.trim_ascii().trim_ascii_start();
        let word = word.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\"")).unwrap_or(word);
        let word = word.strip_prefix(b"'").and_then(|rest| rest.strip_suffix(b"'")).unwrap_or(word);
        // A placeholder follows the beginning of a name: `"get_%s" % kind`.
        let word = word.split(|byte| matches!(byte, b'%' | b'{')).next().unwrap_or(word);
        let last = word.rsplit(|byte| matches!(byte, b'.' | b':' | b'#' | b'@')).next().unwrap_or(word);
        if !last.is_empty() && last.len() <= 64 && word.len() <= 200 && last.iter().all(|&byte| is_word(byte))
        {
            let (symbol, _) = self.symbols.intern(last);
            self.facts.mentions.push(symbol);
        }
    }
}

const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn is_callee(cursor: &TreeCursor<'_>, parent: &NodeFrame) -> bool {
    match cursor.field_name() {
        Some(field) => matches!(field, "function" | "name" | "method" | "macro" | "constructor"),
        None => parent.n_children == 0,
    }
}
