//! The roles of node kinds, and the table that looks them up by number while a tree is visited.

use super::LanguageSpec;
use crate::facts::token_kind;
use std::sync::OnceLock;

/// What a node means to the analyzer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum NodeRole {
    /// A callable with a name.
    Function,
    /// A callable that has a name only if bound to one.
    Lambda,
    /// A class, or the language's equivalent.
    Class,
    /// A namespace inside a file: it only adds to names.
    Namespace,
    /// A conditional with its alternatives.
    If,
    /// A further condition of the same conditional.
    Elif,
    /// The clause with the alternative.
    Else,
    /// A statement whose `else` leaves the scope (Rust's `let … else`).
    Guard,
    Loop,
    /// A choice among cases.
    Switch,
    /// An exhaustive choice, whose last arm is not a decision.
    Match,
    /// A case that counts as a decision unless it is the default.
    Case,
    /// The code of a case, compared with its siblings.
    Arm,
    /// An exception handler.
    Catch,
    /// A conditional expression.
    Ternary,
    /// A decision that does not nest, such as the condition of a comprehension.
    Clause,
    /// A jump: it counts if it has a label.
    Jump,
    /// Contains statements: each named child is one.
    Block,
    Import,
    /// Names the package of the file.
    Package,
    Comment,
    Params,
    /// A member access: the name after the dot is a member's.
    Member,
    Call,
    /// A name with a value, where the name is a label rather than a variable.
    Keyed,
    /// Binds a name to a value.
    Binding,
    /// Declares fields of a class.
    Field,
    /// An annotation, attribute or decorator.
    Decorator,
    /// Words before a declaration that say who may use it.
    Modifiers,
    /// What a class inherits.
    Heritage,
    /// An expression with two operands, possibly of a short-circuit operator.
    Binary,
    /// A type annotation: ignored when comparing clones.
    TypeNote,
    /// Exports what it contains.
    Export,
    /// Binds the names in it, except in types and values.
    Binds,
    /// Binds the names in its left side, pattern, name, parameter or alias.
    BindsPart,
    /// Contains the name of a type.
    TypeUse,
    Name,
    /// A name of a member or type.
    MemberName,
    /// The language's own word for the object of a method.
    Own,
    /// A piece of a string, taken whole.
    Text,
    /// Text whose words may be names, such as the body of a macro.
    Words,
    /// A number or character, taken whole.
    Number,
    /// A constant word: true, false, null.
    Constant,
    /// A quote or other token that reformatting may change.
    Silent,
}

/// The roles of one node kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct RoleSet(u64);

impl RoleSet {
    pub(crate) const fn of(roles: &[NodeRole]) -> Self {
        let mut bits = 0;
        let mut index = 0;
        while index < roles.len() {
            bits |= 1 << roles[index] as u8;
            index += 1;
        }
        Self(bits)
    }

    pub(crate) const fn has(self, role: NodeRole) -> bool {
        self.0 & (1 << role as u8) != 0
    }

    pub(crate) const fn any(self, roles: Self) -> bool {
        self.0 & roles.0 != 0
    }
}

/// Nodes that count as one token, whatever is inside.
pub(crate) const ATOM_ROLES: RoleSet = RoleSet::of(&[
    NodeRole::Comment,
    NodeRole::Name,
    NodeRole::MemberName,
    NodeRole::Own,
    NodeRole::Text,
    NodeRole::Words,
    NodeRole::Number,
    NodeRole::Constant,
    NodeRole::Silent,
]);

/// The meaning of one node kind.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct NodeKind {
    pub roles: RoleSet,
    /// Index of a short-circuit operator plus one, or 0.
    pub operator: u8,
    pub word: TokenKind,
    /// Its number among the kinds of tokens that copies are compared by, unless its roles say otherwise.
    pub token_kind: u8,
}

/// Tokens that the engine examines in every language.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum TokenKind {
    #[default]
    Other,
    /// `else`
    Else,
    /// `.`, `::`, `?.`: a member's name follows.
    Dot,
    /// `:`, `=>`, `then`: the body of a case follows.
    Then,
    /// `->`: like `.` or like `=>`, depending on the language.
    Arrow,
}

/// The meanings of all node kinds of a grammar, by number.
pub(crate) struct NodeKindTable {
    pub grammar: tree_sitter::Language,
    kinds: Vec<NodeKind>,
}

impl NodeKindTable {
    /// Returns the table of a language, built once.
    pub(crate) fn of(language: super::Language) -> &'static Self {
        static TABLES: [OnceLock<NodeKindTable>; super::Language::ALL.len()] =
            [const { OnceLock::new() }; super::Language::ALL.len()];
        TABLES[language as usize].get_or_init(|| Self::new(super::spec(language)))
    }

    pub(crate) fn get(&self, kind: u16) -> NodeKind {
        // Error nodes have a number beyond the table.
        let unknown = NodeKind { token_kind: token_kind::LEFT_OUT, ..NodeKind::default() };
        self.kinds.get(usize::from(kind)).copied().unwrap_or(unknown)
    }

    fn new(spec: &LanguageSpec) -> Self {
        let grammar = (spec.grammar)();
        let count = u16::try_from(grammar.node_kind_count()).unwrap_or(u16::MAX);
        let kinds = (0..count).map(|id| Self::kind(spec, &grammar, id)).collect();
        Self { grammar, kinds }
    }

    fn kind(spec: &LanguageSpec, grammar: &tree_sitter::Language, id: u16) -> NodeKind {
        let name = grammar.node_kind_for_id(id).unwrap_or_default();
        let mut bits = 0;
        for (role, names) in spec.roles {
            if names.iter().any(|&wanted| is_kind(wanted, name, grammar.node_kind_is_named(id))) {
                bits |= 1 << *role as u8;
            }
        }
        let token_kind = token_kind::of_word(name, id);
        let mut kind = NodeKind { roles: RoleSet(bits), token_kind, ..NodeKind::default() };
        if grammar.node_kind_is_named(id) {
            return kind;
        }
        let operator = spec.operators.iter().position(|&operator| operator == name);
        kind.operator = operator.and_then(|index| u8::try_from(index + 1).ok()).unwrap_or(0);
        kind.word = match name {
            "else" => TokenKind::Else,
            "." | "?." | "::" | "&." | "?->" => TokenKind::Dot,
            ":" | "=>" | "then" => TokenKind::Then,
            "->" => TokenKind::Arrow,
            _ => TokenKind::Other,
        };
        if matches!(name, ";" | "," | "\"" | "'" | "`" | "{" | "}" | "\n") {
            kind.roles.0 |= 1 << NodeRole::Silent as u8;
        }
        kind
    }

    /// Returns the kinds that a description names but the grammar does not have.
    #[cfg(test)]
    pub(crate) fn unknown(spec: &LanguageSpec) -> Vec<&'static str> {
        let grammar = (spec.grammar)();
        let count = u16::try_from(grammar.node_kind_count()).expect("fits");
        let has = |wanted: &str| {
            (0..count).any(|id| {
                let name = grammar.node_kind_for_id(id).unwrap_or_default();
                is_kind(wanted, name, grammar.node_kind_is_named(id))
            })
        };
        spec.roles.iter().flat_map(|(_, names)| *names).copied().filter(|name| !has(name)).collect()
    }
}

/// Matches a description: `'word'` for a token, `word` for a node.
fn is_kind(wanted: &str, name: &str, is_named: bool) -> bool {
    match wanted.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
        Some(token) => !is_named && token == name,
        None => is_named && wanted == name,
    }
}
