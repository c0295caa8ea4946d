//! One visit of a syntax tree, which collects all facts of a file.
//!
//! The visit uses its own stack of [`NodeFrame`]s and never recurses, so that no nesting in the input can
//! overflow the thread's stack. Each concern handles a node when it is entered and when it is left: `units`
//! (callables and classes), `flow` (complexity), `tokens` (names, statements, input for clones), `branches`
//! (conditionals with equal branches).

mod branches;
mod content;
mod flow;
mod labels;
mod safeguards;
mod signature;
mod symbols;
mod tokens;
mod units;

use crate::cohesion;
use crate::facts::{FileFacts, ImportKind, MAX_ERROR_RANGES, SourceRange, count};
use crate::hash::PrefixHashes;
use crate::language::{ATOM_ROLES, Language, LanguageSpec, NodeKindTable, NodeRole, RoleSet};
use branches::ConditionalBranches;
use std::collections::BTreeSet;
use symbols::SymbolTable;
use tokens::OpenStatement;
use tree_sitter::{Node, Tree, TreeCursor};
use units::{OpenNamespace, OpenUnit};

/// An open node with children.
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::struct_excessive_bools, reason = "what was seen so far, each read on its own")]
struct NodeFrame {
    roles: RoleSet,
    /// Number of children entered so far.
    n_children: u32,
    /// The short-circuit operator of this node.
    operator: u8,
    after_else: bool,
    after_dot: bool,
    after_then: bool,
    /// True if the first child is the method's own object.
    own: bool,
    /// True if the last child was a decorator, and if it is about tests.
    decorated: bool,
    test: bool,
    nests: bool,
    opened_unit: bool,
    opened_statement: bool,
    opened_namespace: bool,
    opened_chain: bool,
    /// True if names in it are bound, and if an import binds them.
    binds: bool,
    imports: bool,
    /// The conditional whose branches are collected, plus one.
    chain: u32,
    /// The first byte of the node.
    start: u32,
    /// The first token of the node, or of the body of a case.
    token: u32,
    /// The name that a binding binds, plus one.
    bound: u32,
    /// The name that a member access begins with, plus one.
    base: u32,
}

struct SyntaxVisitor<'tree> {
    spec: &'static LanguageSpec,
    kinds: &'static NodeKindTable,
    source: &'tree [u8],
    facts: FileFacts,
    frames: Vec<NodeFrame>,
    /// Open units, the file first.
    open: Vec<OpenUnit>,
    statements: Vec<OpenStatement>,
    namespaces: Vec<OpenNamespace>,
    symbols: SymbolTable,
    tokens: PrefixHashes,
    chains: Vec<ConditionalBranches>,
    /// Fields that classes declare: (unit, symbol).
    fields: Vec<(u32, u32)>,
    /// The names by which the file refers to imported modules.
    modules: BTreeSet<u32>,
    /// Number of open type annotations.
    n_type_notes: u32,
    has_errors: bool,
}

/// Returns true if names at the cursor are bound there, as far as the nodes around it tell.
fn binds(cursor: &TreeCursor<'_>, parent: &NodeFrame) -> bool {
    if parent.roles.has(NodeRole::BindsPart) {
        return matches!(cursor.field_name(), Some("left" | "pattern" | "name" | "parameter" | "alias"));
    }
    if !parent.binds || parent.roles.has(NodeRole::Binds) {
        return parent.binds;
    }
    // Types and defaults of what is bound are uses.
    !matches!(cursor.field_name(), Some("type" | "value" | "default_value" | "right" | "body"))
}

/// Visits `tree`, which was parsed from `source`.
pub(crate) fn visit(language: Language, tree: &Tree, source: &[u8]) -> FileFacts {
    let root = tree.root_node();
    let mut visitor = SyntaxVisitor::new(language, root, source);
    visitor.walk(root);
    visitor.finish(root)
}

/// Returns the first ranges of a tree that the grammar could not parse, and the number of all.
pub(crate) fn syntax_errors(tree: &Tree) -> (Vec<SourceRange>, u32) {
    let (mut errors, mut n_errors) = (Vec::new(), 0);
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        if node.is_error() || node.is_missing() {
            n_errors += 1;
            if errors.len() < MAX_ERROR_RANGES {
                errors.push(SourceRange::of(node));
            }
        }
        if node.has_error() && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return (errors, n_errors);
            }
        }
    }
}

impl<'tree> SyntaxVisitor<'tree> {
    fn new(language: Language, root: Node<'tree>, source: &'tree [u8]) -> Self {
        let mut visitor = Self {
            spec: crate::language::spec(language),
            kinds: NodeKindTable::of(language),
            source,
            facts: FileFacts::default(),
            frames: Vec::new(),
            open: Vec::new(),
            statements: Vec::new(),
            namespaces: Vec::new(),
            symbols: SymbolTable::default(),
            tokens: PrefixHashes::new(),
            chains: Vec::new(),
            fields: Vec::new(),
            modules: BTreeSet::new(),
            n_type_notes: 0,
            has_errors: root.has_error(),
        };
        visitor.open_file(root);
        visitor
    }

    fn innermost(&mut self) -> &mut OpenUnit {
        self.open.last_mut().expect("the file's unit is open during the whole visit")
    }

    fn walk(&mut self, root: Node<'tree>) {
        let mut cursor = root.walk();
        loop {
            let is_atom = self.enter(&cursor);
            if !is_atom {
                if cursor.goto_first_child() {
                    continue;
                }
                self.leave_token(&cursor);
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return;
                }
                let frame = self.frames.pop().unwrap_or_default();
                self.leave(&frame, cursor.node());
            }
        }
    }

    /// Enters a node. Returns true if it is an atom, taken as a single token.
    fn enter(&mut self, cursor: &TreeCursor<'tree>) -> bool {
        let node = cursor.node();
        let kind = self.kinds.get(node.kind_id());
        if self.has_errors && (node.is_error() || node.is_missing()) {
            self.note_error(node);
        }
        if kind.roles.has(NodeRole::Comment) {
            return true;
        }
        let parent = self.frames.last().copied().unwrap_or_default();
        let mut frame = NodeFrame {
            roles: kind.roles,
            start: count(node.start_byte()),
            token: count(self.tokens.len()),
            binds: binds(cursor, &parent) || kind.roles.has(NodeRole::Binds),
            imports: parent.imports,
            ..NodeFrame::default()
        };
        self.enter_statement(cursor, &parent, &mut frame);
        let is_atom = kind.roles.any(ATOM_ROLES);
        if is_atom {
            self.token(cursor, kind);
            self.leave_statement(&frame);
        } else if kind.roles != RoleSet::default() {
            self.enter_roles(cursor, &parent, &mut frame);
        }
        self.count_child(kind.roles);
        if !is_atom {
            self.frames.push(frame);
        }
        is_atom
    }

    /// Does what the roles of a node require. Most nodes have none.
    fn enter_roles(&mut self, cursor: &TreeCursor<'tree>, parent: &NodeFrame, frame: &mut NodeFrame) {
        let node = cursor.node();
        let roles = frame.roles;
        if roles.has(NodeRole::Import) {
            frame.imports |= self.import(node);
        }
        self.enter_unit(node, parent, frame);
        self.enter_flow(node, parent, frame);
        self.enter_branches(parent, frame);
        if roles.has(NodeRole::Params) {
            self.parameters(cursor);
        }
        if roles.has(NodeRole::Package) {
            self.package(node);
        }
        if roles.has(NodeRole::Decorator) {
            self.decorate(node);
        }
        if roles.has(NodeRole::Catch) {
            self.count_handler(node);
        }
        self.n_type_notes += u32::from(roles.has(NodeRole::TypeNote));
    }

    /// Counts a child of the innermost frame. A decorator is remembered until the next child that is not one.
    fn count_child(&mut self, roles: RoleSet) {
        const PREFIX_ROLES: RoleSet = RoleSet::of(&[NodeRole::Decorator, NodeRole::Modifiers]);
        if let Some(parent) = self.frames.last_mut() {
            parent.n_children += 1;
            if !roles.any(PREFIX_ROLES) {
                parent.decorated = false;
                parent.test = false;
            }
        }
    }

    /// Leaves a node without children, which is a token.
    fn leave_token(&mut self, cursor: &TreeCursor<'tree>) {
        let node = cursor.node();
        let frame = self.frames.pop().unwrap_or_default();
        self.token(cursor, self.kinds.get(node.kind_id()));
        self.leave(&frame, node);
    }

    fn leave(&mut self, frame: &NodeFrame, node: Node<'tree>) {
        if frame.roles != RoleSet::default() {
            self.n_type_notes -= u32::from(frame.roles.has(NodeRole::TypeNote));
            self.leave_branches(frame, node);
            self.leave_flow(frame);
            self.leave_member(frame);
            self.leave_unit(frame);
        }
        self.leave_statement(frame);
    }

    fn note_error(&mut self, node: Node<'tree>) {
        for open in &self.open {
            self.facts.units[open.unit as usize].misread = true;
        }
        self.facts.n_errors += 1;
        if self.facts.errors.len() < MAX_ERROR_RANGES {
            self.facts.errors.push(SourceRange::of(node));
        }
    }

    /// Reads the imports of a node. Returns true if it has any.
    fn import(&mut self, node: Node<'tree>) -> bool {
        let first = self.facts.imports.len();
        (self.spec.imports)(node, self.source, &mut self.facts.imports);
        let unit = self.innermost().unit;
        let is_deferred =
            self.open.iter().any(|open| self.facts.units[open.unit as usize].kind.is_callable());
        for import in &mut self.facts.imports[first..] {
            import.unit = unit;
            // What Python imports by name may be a module, too.
            let names = import.names.iter().filter(|_| self.spec.own.contains(&"cls"));
            for name in import.local.iter().chain(names) {
                self.modules.insert(self.symbols.intern(name.as_bytes()).0);
            }
            if is_deferred && import.kind == ImportKind::Load {
                import.kind = ImportKind::Deferred;
            }
        }
        let has_any = self.facts.imports.len() > first;
        // A path inside of an expression is no statement of its own.
        if has_any
            && node.kind() != "scoped_identifier"
            && let Some(statement) = self.statements.last_mut()
        {
            statement.is_import = true;
        }
        has_any && node.kind() != "scoped_identifier"
    }

    fn package(&mut self, node: Node<'tree>) {
        let name = node.child_by_field_name("name").or_else(|| node.named_child(0));
        if let (None, Some(name)) = (&self.facts.package, name) {
            let text = crate::language::text(name, self.source);
            self.facts.package = Some(text.split_whitespace().collect());
        }
    }

    fn finish(mut self, root: Node<'tree>) -> FileFacts {
        self.close_unit();
        self.facts.n_lines = SourceRange::of(root).n_lines();
        self.facts.n_tokens = count(self.tokens.len());
        self.facts.symbols = self.symbols.into_texts();
        content::fill_fingerprints(&mut self.facts);
        cohesion::fill_lcom4(&mut self.facts, &self.fields, self.spec);
        units::prune(&mut self.facts);
        self.facts
    }
}
