//! The facts that one visit of a file yields: everything that later analyses need, so that the file is never
//! read again.
//!
//! Facts depend only on the bytes of the file, its language and the analyzer, not on its path. They are
//! therefore cached by [`FactsKey`](crate::FactsKey).

mod rows;

use probity_collections::StringArena;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A range in a file: lines and columns from 1, columns in bytes, the end exclusive.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct SourceRange {
    /// Line of the first byte.
    pub start_line: u32,
    /// Column of the first byte.
    pub start_column: u32,
    /// Line of the first byte after the range.
    pub end_line: u32,
    /// Column of the first byte after the range.
    pub end_column: u32,
}

impl SourceRange {
    pub(crate) fn of(node: tree_sitter::Node<'_>) -> Self {
        let (start, end) = (node.start_position(), node.end_position());
        Self {
            start_line: count(start.row) + 1,
            start_column: count(start.column) + 1,
            end_line: count(end.row) + 1,
            end_column: count(end.column) + 1,
        }
    }

    pub const fn n_lines(&self) -> u32 {
        let last = if self.end_column == 1 && self.end_line > self.start_line { 1 } else { 0 };
        self.end_line - self.start_line + 1 - last
    }

    /// Returns the range from the start of `self` to the end of `last`.
    pub(crate) const fn to(self, last: Self) -> Self {
        Self { end_line: last.end_line, end_column: last.end_column, ..self }
    }

    pub const fn contains(&self, other: &Self) -> bool {
        let starts = self.start_line < other.start_line
            || (self.start_line == other.start_line && self.start_column <= other.start_column);
        let ends = self.end_line > other.end_line
            || (self.end_line == other.end_line && self.end_column >= other.end_column);
        starts && ends
    }
}

/// Converts a number that a file's size bounds: files above 4 GB are never read.
pub(crate) fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Indices from `start` up to, but not including, `end`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexRange {
    pub start: u32,
    pub end: u32,
}

impl IndexRange {
    pub const fn len(&self) -> u32 {
        self.end.saturating_sub(self.start)
    }

    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn usize(self) -> std::ops::Range<usize> {
        self.start as usize..(self.end as usize).max(self.start as usize)
    }

    pub(crate) const fn contains(self, other: Self) -> bool {
        self.start <= other.start && other.end <= self.end
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileFacts {
    pub n_lines: u32,
    /// Number of tokens, without comments.
    pub n_tokens: u32,
    /// The package that the file declares.
    pub package: Option<String>,
    pub notes: Vec<FileNote>,
    /// The first twenty ranges that the grammar could not parse.
    pub errors: Vec<SourceRange>,
    /// Number of all such ranges.
    pub n_errors: u32,
    /// The file itself, then its classes and callables by start.
    pub units: Vec<CodeUnit>,
    pub imports: Vec<ImportStatement>,
    /// The names in the file, unique, in order of appearance.
    pub symbols: StringArena,
    /// Every use of a name, in order.
    #[serde(with = "rows")]
    pub names: Vec<NameUse>,
    /// Names that strings mention, as indices into `symbols`.
    pub mentions: Vec<u32>,
    /// Names that the file exports by listing them, as indices into `symbols`.
    pub exports: Vec<u32>,
    /// Statements by start, nested ones after those around them.
    #[serde(with = "rows")]
    pub statements: Vec<Statement>,
    /// The kinds of the tokens outside type annotations, as `token_kind` numbers them: without parentheses and words
    /// that only declare. The name tokens among them are those of `names`, in the same order.
    #[serde(with = "probity_core::bytes::raw")]
    pub token_kinds: Vec<u8>,
    /// Branches of one conditional that do the same.
    pub twins: Vec<DuplicateBranch>,
    pub safeguards: SafeguardFacts,
}

impl FileFacts {
    /// Returns true if every index is within its list: facts from a damaged cache must never be relied on.
    pub fn is_sound(&self) -> bool {
        let [units, symbols, names, statements] =
            [self.units.len(), self.symbols.len(), self.names.len(), self.statements.len()].map(count);
        let is_symbol = |symbol: &u32| *symbol < symbols;
        let is_span = |span: IndexRange, end: u32| span.start <= span.end && span.end <= end;
        let are_units_sound = self.units.iter().zip(0..).all(|(unit, index)| {
            unit.parent.is_none_or(|parent| parent < index)
                && (index == 0) == (unit.kind == UnitKind::File)
                && is_span(unit.statements, statements)
                && is_span(unit.names, names)
        });
        let first_names = self.statements.iter().map(|statement| statement.first_name);
        let first_tokens = self.statements.iter().map(|statement| statement.first_token);
        let n_name_tokens = self.token_kinds.iter().filter(|&&kind| kind <= token_kind::LAST_NAME).count();
        let n_token_kinds = count(self.token_kinds.len());
        are_units_sound
            && n_name_tokens == self.names.len()
            && first_tokens.is_sorted()
            && self.statements.last().is_none_or(|last| last.first_token <= n_token_kinds)
            && self.units.iter().all(|unit| unit.tokens_end <= n_token_kinds)
            && first_names.is_sorted()
            && self.statements.last().is_none_or(|last| last.first_name <= names)
            && self.names.iter().all(|name| is_symbol(&name.symbol()))
            && self.mentions.iter().chain(&self.exports).all(is_symbol)
            && self.imports.iter().all(|import| import.unit < units)
            && self.twins.iter().all(|twin| twin.unit < units)
    }
}

/// Numbers of token kinds: one byte each, with everything blanked that copies change.
pub(crate) mod token_kind {
    pub(crate) const VARIABLE: u8 = 0;
    pub(crate) const MEMBER: u8 = 1;
    /// A name in a type annotation: no token, but it is among the names.
    pub(crate) const HIDDEN_NAME: u8 = 2;
    pub(crate) const LAST_NAME: u8 = HIDDEN_NAME;
    pub(crate) const OWN_OBJECT: u8 = 3;
    pub(crate) const TEXT: u8 = 4;
    pub(crate) const NUMBER: u8 = 5;
    pub(crate) const CONSTANT: u8 = 6;
    pub(crate) const WORDS: u8 = 7;
    /// The word that begins a loop, whichever it is.
    const LOOP: u8 = 8;
    const FIRST_OTHER: u16 = 9;
    /// A token that a copy adds or drops without saying anything else: it is not kept.
    pub(crate) const LEFT_OUT: u8 = 255;

    /// Returns the number of a word or sign, from its text and its number in the grammar. Grammars number their words
    /// and signs first, so hardly any two share one.
    pub(crate) fn of_word(text: &str, kind_id: u16) -> u8 {
        match text {
            "(" | ")" | "final" | "const" | "let" | "var" | "val" | "mut" => LEFT_OUT,
            "for" | "while" | "foreach" => LOOP,
            _ => {
                let other = FIRST_OTHER + kind_id % (u16::from(LEFT_OUT) - FIRST_OTHER);
                u8::try_from(other).expect("less than 255")
            }
        }
    }
}

pub(crate) const MAX_ERROR_RANGES: usize = 20;

probity_core::word_enum! {
    /// Something noteworthy about a file. No note stops the analysis of other files.
    pub enum FileNote {
        /// Not read: unknown language.
        UnknownLanguage = "unknown_language",
        /// Not read: larger than the limit.
        TooLarge = "too_large",
        /// Not read: contains NUL bytes, so it is not text.
        Binary = "binary",
        /// Not read: recognized as generated or vendored.
        Generated = "generated",
        /// Not read: excluded by the settings.
        Excluded = "excluded",
        /// Not read to the end: the grammar needed more steps than the file's size allows.
        TooHard = "too_hard",
        /// Not read: the known facts that the caller supplied are inconsistent.
        BadFacts = "bad_facts",
        /// Read, but some bytes are not UTF-8.
        NotUtf8 = "not_utf8",
        /// Read, but some places could not be parsed: see the finding.
        SyntaxErrors = "syntax_errors",
        /// The places that could not be parsed may be right: all brackets match, and the grammar of the language is known
        /// to be incomplete.
        UnknownSyntax = "unknown_syntax",
    }
}

impl FileNote {
    /// Says it in words for people.
    pub const fn label(self) -> &'static str {
        match self {
            Self::UnknownLanguage => "no language is known for the name",
            Self::TooLarge => "larger than the limit",
            Self::Binary => "not text",
            Self::Generated => "generated or vendored",
            Self::Excluded => "excluded by the settings",
            Self::TooHard => "the parser needed too many steps",
            Self::BadFacts => "its cached facts were damaged",
            Self::NotUtf8 => "read, with bytes that are no UTF-8",
            Self::SyntaxErrors => "read, but for places that do not parse",
            Self::UnknownSyntax => "read, but for syntax that the parser does not know",
        }
    }

    /// Returns true if the file was skipped because of it.
    pub const fn is_skip(self) -> bool {
        matches!(
            self,
            Self::UnknownLanguage | Self::TooLarge | Self::Binary | Self::Generated | Self::Excluded
        )
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnitKind {
    /// The file itself: the code that belongs to no callable.
    File,
    /// A class, a struct with methods, a trait, an interface …
    Class,
    /// A callable outside classes.
    Function,
    /// A callable of a class.
    Method,
    /// A callable without a name.
    Lambda,
}

impl UnitKind {
    pub const fn is_callable(self) -> bool {
        matches!(self, Self::Function | Self::Method | Self::Lambda)
    }
}

/// Who may use a unit, by the rules of the language.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AccessLevel {
    /// Anyone.
    #[default]
    Public,
    /// The same package, crate or class family.
    Internal,
    /// The same file or class.
    Private,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallableParameter {
    /// Its name, or its whole text if it has none.
    pub name: String,
    /// True if callers may omit it.
    pub optional: bool,
}

/// A class, a callable or the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, read one by one")]
pub struct CodeUnit {
    pub kind: UnitKind,
    /// Qualified by the enclosing units: `Class.method`. Empty for the file.
    pub name: String,
    /// The enclosing unit. Only the file has none.
    pub parent: Option<u32>,
    pub range: SourceRange,
    /// Decisions plus one.
    pub cyclomatic: u32,
    /// How hard the control flow is to follow: each break in the flow counts, nested ones count more.
    pub cognitive: u32,
    /// Deepest nesting of control flow.
    pub nesting: u32,
    /// Number of tokens, including those of nested units.
    pub n_tokens: u32,
    /// The parameters, without the method's own object.
    pub parameters: Vec<CallableParameter>,
    pub access: AccessLevel,
    /// True if other code may get hold of it without naming it: it has an annotation, attribute or decorator that may
    /// register it, or it is a value, such as a method of an object literal.
    pub decorated: bool,
    pub test: bool,
    /// For a class: it inherits. For a method: it is marked as overriding.
    pub inherits: bool,
    pub constructor: bool,
    /// True if the grammar could not read a place in it, whatever the errors of the file leave out.
    pub misread: bool,
    /// For a class: the number of groups of methods that share no field and no call (LCOM4).
    pub lcom4: Option<u32>,
    pub statements: IndexRange,
    /// End of its tokens in the file's `token_kinds`; they start with those of its first statement.
    pub tokens_end: u32,
    /// Name uses in it.
    pub names: IndexRange,
    /// Equal for copies that differ only in layout, comments and documentation.
    pub exact: u64,
    /// Equal also for copies that differ by a consistent renaming and in literals.
    pub renamed: u64,
}

/// What an occurrence of a name does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameRole {
    /// Something else: a member of some object, a label.
    Other,
    /// Uses a name that must be declared elsewhere: in this file, in another one, or outside of the project.
    Free,
    /// Binds the name, or may do so: a declaration, a parameter, a variable.
    Declared,
    /// Binds the name by an import.
    Imported,
}

/// A use of a name: an index into the file's symbols, and flags about the use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NameUse(u32);

impl NameUse {
    const DEFINITION_BIT: u32 = 1 << 31;
    const MEMBER_BIT: u32 = 1 << 30;
    const OWN_BIT: u32 = 1 << 29;
    const ROLE_SHIFT: u32 = 27;
    const SYMBOL_MASK: u32 = (1 << Self::ROLE_SHIFT) - 1;

    pub(crate) const fn new(
        symbol: u32,
        is_definition: bool,
        is_member: bool,
        is_own: bool,
        role: NameRole,
    ) -> Self {
        let mut bits = symbol & Self::SYMBOL_MASK;
        if is_definition {
            bits |= Self::DEFINITION_BIT;
        }
        if is_member {
            bits |= Self::MEMBER_BIT;
        }
        if is_own {
            bits |= Self::OWN_BIT;
        }
        Self(bits | (role as u32) << Self::ROLE_SHIFT)
    }

    /// Returns the same name as that of a unit at its definition.
    pub(crate) const fn as_definition(self) -> Self {
        Self(self.0 | Self::DEFINITION_BIT)
    }

    pub const fn symbol(self) -> u32 {
        self.0 & Self::SYMBOL_MASK
    }

    pub const fn role(self) -> NameRole {
        match (self.0 >> Self::ROLE_SHIFT) & 3 {
            0 => NameRole::Other,
            1 => NameRole::Free,
            2 => NameRole::Declared,
            _ => NameRole::Imported,
        }
    }

    /// Returns true for the name of a unit at its definition.
    pub const fn is_definition(self) -> bool {
        self.0 & Self::DEFINITION_BIT != 0
    }

    /// Returns true for the name of a member, a type or a callee: renaming those changes the meaning.
    pub const fn is_member(self) -> bool {
        self.0 & Self::MEMBER_BIT != 0
    }

    /// Returns true for a member of the method's own object.
    pub const fn is_own(self) -> bool {
        self.0 & Self::OWN_BIT != 0
    }
}

/// One statement without nested statements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Statement {
    /// Hash of its tokens with every name and literal blanked.
    pub shape: u64,
    /// Hash of its tokens, without layout and comments.
    pub exact: u64,
    /// Its range, including nested statements.
    pub range: SourceRange,
    /// Number of its own tokens.
    pub n_tokens: u32,
    /// Number of enclosing statements.
    pub depth: u32,
    /// Its first name use; its other uses and those of nested statements follow.
    pub first_name: u32,
    /// Its first token in the file's `token_kinds`.
    pub first_token: u32,
    /// True if comparing it is pointless: imports, documentation.
    pub idle: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportStatement {
    /// The module as the language writes it.
    pub module: String,
    /// The names imported from it, if the statement lists them; `*` for all of them.
    pub names: Vec<String>,
    /// The name by which the file refers to the module as a whole.
    pub local: Option<String>,
    pub range: SourceRange,
    pub kind: ImportKind,
    /// True if the program copes with a missing module.
    pub optional: bool,
    /// True if the statement is inside another declaration, such as an inline module.
    pub inner: bool,
    /// The unit that imports it.
    pub unit: u32,
}

impl ImportStatement {
    /// Creates an import that is needed to load the file. The visitor sets the unit.
    pub(crate) fn load(node: tree_sitter::Node<'_>, module: String) -> Self {
        Self {
            module,
            names: Vec::new(),
            local: None,
            range: SourceRange::of(node),
            kind: ImportKind::Load,
            optional: false,
            inner: false,
            unit: 0,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ImportKind {
    /// Needed to load the file.
    Load,
    /// Inside a callable, so after loading.
    Deferred,
    /// For types only: gone at run time.
    TypeOnly,
    /// Declares a part of the file's own module (Rust's `mod`).
    Part,
}

/// Two branches of one conditional with the same content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DuplicateBranch {
    /// The unit that contains the conditional.
    pub unit: u32,
    /// Hash of the content, without layout.
    pub content: u64,
    /// The first branch with this content.
    pub first: SourceRange,
    /// The branch that repeats it.
    pub second: SourceRange,
}

/// What one visit of a file counts. Whether calls are those of tests depends on the path.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SafeguardFacts {
    /// Exception handlers.
    pub n_handlers: u32,
    /// Handlers that do nothing.
    pub n_silent_handlers: u32,
    /// Annotations that skip a test.
    pub n_skip_marks: u32,
    /// Calls that skip a test, if the file contains tests.
    pub n_skip_calls: u32,
    /// Calls that declare a test, if the file contains tests.
    pub n_test_calls: u32,
}

/// The safeguards of one file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SafeguardCounts {
    pub tests: u32,
    pub skipped_tests: u32,
    pub handlers: u32,
    pub silent_handlers: u32,
}
