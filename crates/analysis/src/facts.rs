//! What one visit of a file yields: everything that later analyses need, so that the file is never read again.
//!
//! Facts depend on the bytes of the file, its language and the analyser alone. They are therefore cached by
//! [`FactsKey`]. Nothing here knows the file's path.

use crate::language::Language;
use probity_core::{Digest, Texts};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which facts these are: equal keys mean equal facts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FactsKey {
    /// The digest of the file's bytes.
    pub content: Digest,
    /// The language it was read as.
    pub language: Language,
    /// The version of the analyser.
    pub analyser: String,
    /// The size limit that was in force, because it decides whether a file is read at all.
    pub max_bytes: u64,
}

/// A place in a file: lines and columns from 1, columns in bytes, the end exclusive.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Range {
    /// The line of the first byte.
    pub start_line: u32,
    /// The column of the first byte.
    pub start_column: u32,
    /// The line of the first byte after it.
    pub end_line: u32,
    /// The column of the first byte after it.
    pub end_column: u32,
}

impl Range {
    pub(crate) fn of(node: tree_sitter::Node<'_>) -> Self {
        let (start, end) = (node.start_position(), node.end_position());
        Self {
            start_line: count(start.row) + 1,
            start_column: count(start.column) + 1,
            end_line: count(end.row) + 1,
            end_column: count(end.column) + 1,
        }
    }

    /// How many lines the range touches.
    pub const fn n_lines(&self) -> u32 {
        let last = if self.end_column == 1 && self.end_line > self.start_line { 1 } else { 0 };
        self.end_line - self.start_line + 1 - last
    }

    /// The range from the start of `self` to the end of `last`.
    pub(crate) const fn to(self, last: Self) -> Self {
        Self { end_line: last.end_line, end_column: last.end_column, ..self }
    }

    /// Whether `other` lies inside.
    pub const fn contains(&self, other: &Self) -> bool {
        let starts = self.start_line < other.start_line
            || (self.start_line == other.start_line && self.start_column <= other.start_column);
        let ends = self.end_line > other.end_line
            || (self.end_line == other.end_line && self.end_column >= other.end_column);
        starts && ends
    }
}

/// A number that a file's size bounds: files above 4 GB are never read.
pub(crate) fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Indices from `start` up to `end`, which is not among them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// The first index.
    pub start: u32,
    /// One more than the last.
    pub end: u32,
}

impl Span {
    /// How many indices.
    pub const fn len(&self) -> u32 {
        self.end.saturating_sub(self.start)
    }

    /// Whether there is none.
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

/// The facts of one file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileFacts {
    /// How many lines the file has.
    pub n_lines: u32,
    /// How many tokens, comments apart.
    pub n_tokens: u32,
    /// The package that the file says it belongs to.
    pub package: Option<String>,
    /// What is worth telling about reading the file.
    pub notes: Vec<Note>,
    /// Places that the grammar could not read: the first twenty.
    pub errors: Vec<Range>,
    /// How many such places there are.
    pub n_errors: u32,
    /// The file itself, then its classes and callables in order of their start.
    pub units: Vec<Unit>,
    /// What the file imports.
    pub imports: Vec<Import>,
    /// The names of the file, each once, in order of appearance.
    pub symbols: Texts,
    /// Every use of a name, in order.
    pub names: Vec<Name>,
    /// Names that strings mention: indices into `symbols`.
    pub mentions: Vec<u32>,
    /// Names that the file exports by listing them: indices into `symbols`.
    pub exports: Vec<u32>,
    /// The statements in order of their start, those inside others after them.
    pub statements: Vec<Statement>,
    /// Branches of one conditional that do the same.
    pub twins: Vec<Twin>,
}

impl FileFacts {
    /// Whether every index points into its list: facts from a damaged cache must never be relied on.
    pub fn is_sound(&self) -> bool {
        let [units, symbols, names, statements] =
            [self.units.len(), self.symbols.len(), self.names.len(), self.statements.len()].map(count);
        let is_symbol = |symbol: &u32| *symbol < symbols;
        let is_span = |span: Span, end: u32| span.start <= span.end && span.end <= end;
        let are_units_sound = self.units.iter().zip(0..).all(|(unit, index)| {
            unit.parent.is_none_or(|parent| parent < index)
                && (index == 0) == (unit.kind == UnitKind::File)
                && is_span(unit.statements, statements)
                && is_span(unit.names, names)
        });
        let first_names = self.statements.iter().map(|statement| statement.first_name);
        are_units_sound
            && first_names.is_sorted()
            && self.statements.last().is_none_or(|last| last.first_name <= names)
            && self.names.iter().all(|name| is_symbol(&name.symbol()))
            && self.mentions.iter().chain(&self.exports).all(is_symbol)
            && self.imports.iter().all(|import| import.unit < units)
            && self.twins.iter().all(|twin| twin.unit < units)
    }
}

/// At most this many error places are kept per file.
pub(crate) const MAX_ERRORS: usize = 20;

probity_core::word_enum! {
    /// Something worth telling about a file. None of them stops the analysis of other files.
    pub enum Note {
        /// Not read: no language is known for its name.
        UnknownLanguage = "unknown_language",
        /// Not read: larger than the limit in bytes.
        TooLarge = "too_large",
        /// Not read: it holds NUL bytes, so it is no text.
        Binary = "binary",
        /// Not read: recognised as generated or vendored.
        Generated = "generated",
        /// Not read: the settings exclude it.
        Excluded = "excluded",
        /// Not read to the end: the grammar needed more steps than the file's size allows.
        TooHard = "too_hard",
        /// Not read: the facts that the caller knew do not hold together.
        BadFacts = "bad_facts",
        /// Read, but some bytes are no UTF-8.
        NotUtf8 = "not_utf8",
        /// Read, but some places were not understood: see the finding.
        SyntaxErrors = "syntax_errors",
    }
}

impl Note {
    /// Whether the file was left out because of it.
    pub const fn is_skip(self) -> bool {
        matches!(
            self,
            Self::UnknownLanguage | Self::TooLarge | Self::Binary | Self::Generated | Self::Excluded
        )
    }
}

/// What a unit is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnitKind {
    /// The file itself: the code that belongs to no callable.
    File,
    /// A class, struct with methods, trait, interface …
    Class,
    /// A callable outside classes.
    Function,
    /// A callable of a class.
    Method,
    /// A callable without a name.
    Lambda,
}

impl UnitKind {
    /// Whether it can be called.
    pub const fn is_callable(self) -> bool {
        matches!(self, Self::Function | Self::Method | Self::Lambda)
    }
}

/// Who may use a unit, as the language's own rule says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// Anyone.
    #[default]
    Public,
    /// The same package, crate or class family.
    Internal,
    /// The same file or class.
    Private,
}

/// One parameter of a callable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parameter {
    /// Its name, or its whole text where it has none.
    pub name: String,
    /// Whether a caller may leave it out.
    pub optional: bool,
}

/// A class, a callable or the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, read one by one")]
pub struct Unit {
    /// What it is.
    pub kind: UnitKind,
    /// Its name with those of the units around it: `Class.method`. The file's is empty.
    pub name: String,
    /// The unit around it. Only the file has none.
    pub parent: Option<u32>,
    /// Where it is.
    pub range: Range,
    /// Decisions plus one.
    pub cyclomatic: u32,
    /// How hard the control flow is to follow: each break in the flow counts, nested ones count more.
    pub cognitive: u32,
    /// The deepest nesting of control flow.
    pub nesting: u32,
    /// Tokens, those of the units inside included.
    pub n_tokens: u32,
    /// The parameters, the method's own object apart.
    pub parameters: Vec<Parameter>,
    /// Who may use it.
    pub access: Access,
    /// Whether an annotation, attribute or decorator stands on it.
    pub decorated: bool,
    /// Whether it is test code.
    pub test: bool,
    /// For a class: whether it inherits. For a method: whether it says that it overrides.
    pub inherits: bool,
    /// Whether it is a constructor.
    pub constructor: bool,
    /// For a class: how many groups its methods fall into that share no field and no call (LCOM4).
    pub lcom4: Option<u32>,
    /// Its statements.
    pub statements: Span,
    /// The uses of names in it.
    pub names: Span,
    /// Equal for copies that differ in layout, comments and documentation only.
    pub exact: u64,
    /// Equal for copies that differ by a consistent renaming and by literals, too.
    pub renamed: u64,
}

/// A use of a name: an index into the file's symbols, and how the name stands there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Name(u32);

impl Name {
    const DEFINITION: u32 = 1 << 31;
    const MEMBER: u32 = 1 << 30;
    const OWN: u32 = 1 << 29;

    pub(crate) const fn new(symbol: u32, is_definition: bool, is_member: bool, is_own: bool) -> Self {
        let mut bits = symbol & (Self::OWN - 1);
        if is_definition {
            bits |= Self::DEFINITION;
        }
        if is_member {
            bits |= Self::MEMBER;
        }
        if is_own {
            bits |= Self::OWN;
        }
        Self(bits)
    }

    /// The index of the symbol.
    pub const fn symbol(self) -> u32 {
        self.0 & (Self::OWN - 1)
    }

    /// Whether it is the name of a unit where the unit is defined.
    pub const fn is_definition(self) -> bool {
        self.0 & Self::DEFINITION != 0
    }

    /// Whether it names a member, a type or what is called: renaming those changes meaning.
    pub const fn is_member(self) -> bool {
        self.0 & Self::MEMBER != 0
    }

    /// Whether it names a member of the method's own object.
    pub const fn is_own(self) -> bool {
        self.0 & Self::OWN != 0
    }
}

/// One statement without the statements inside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Statement {
    /// The shape: its tokens, with every name and literal blanked.
    pub shape: u64,
    /// Its tokens as they are, layout and comments apart.
    pub exact: u64,
    /// Where it is, the statements inside it included.
    pub range: Range,
    /// How many tokens it has of its own.
    pub n_tokens: u32,
    /// How many statements are around it.
    pub depth: u32,
    /// The first use of a name that belongs to it; its own uses and those inside it follow.
    pub first_name: u32,
    /// Whether comparing it would say nothing: imports, documentation.
    pub idle: bool,
}

/// One imported module.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Import {
    /// The module as the language writes it.
    pub module: String,
    /// The names taken from it, if the statement lists them.
    pub names: Vec<String>,
    /// Where the statement is.
    pub range: Range,
    /// What kind of dependency it is.
    pub kind: ImportKind,
    /// Whether the program is ready for the module to be missing.
    pub optional: bool,
    /// The unit that imports.
    pub unit: u32,
}

impl Import {
    /// An import that is needed to load the file. The visitor fills in the unit.
    pub(crate) fn load(node: tree_sitter::Node<'_>, module: String) -> Self {
        Self {
            module,
            names: Vec::new(),
            range: Range::of(node),
            kind: ImportKind::Load,
            optional: false,
            unit: 0,
        }
    }
}

/// What kind of dependency an import is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ImportKind {
    /// Needed to load the file.
    Load,
    /// Done inside a callable, so after loading.
    Deferred,
    /// Of types only: gone when the program runs.
    TypeOnly,
    /// Declares a part of the file's own module (Rust's `mod`).
    Part,
}

/// Two branches of one conditional with the same content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Twin {
    /// The unit that holds the conditional.
    pub unit: u32,
    /// The content, layout apart.
    pub content: u64,
    /// The first branch with this content.
    pub first: Range,
    /// The branch that repeats it.
    pub second: Range,
}
