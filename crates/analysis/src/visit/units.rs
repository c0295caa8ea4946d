//! Opens and closes units, and reads their names and modifiers.

use super::{NodeFrame, SyntaxVisitor};
use crate::facts::{AccessLevel, CodeUnit, FileFacts, IndexRange, SourceRange, UnitKind, count};
use crate::language::{NodeRole, RoleSet, VisibilityRule, text};
use tree_sitter::Node;

/// A unit that has not been left yet.
#[derive(Debug)]
pub(super) struct OpenUnit {
    pub unit: u32,
    pub cyclomatic: u32,
    pub cognitive: u32,
    pub nesting: u32,
    pub deepest: u32,
    /// Position of its name.
    pub name_at: Option<usize>,
    /// Its unqualified name.
    pub symbol: Option<u32>,
    pub recurses: bool,
    pub has_parameters: bool,
    /// True if members are public by default.
    opens_members: bool,
    first_token: usize,
}

#[derive(Debug)]
pub(super) struct OpenNamespace {
    name: String,
    test: bool,
}

/// The words before and around a declaration.
#[derive(Default)]
struct DeclarationHead {
    words: Vec<String>,
    inherits: bool,
}

const UNIT_ROLES: RoleSet = RoleSet::of(&[NodeRole::Function, NodeRole::Lambda, NodeRole::Class]);

impl<'tree> SyntaxVisitor<'tree> {
    pub(super) fn open_file(&mut self, root: Node<'tree>) {
        self.push_unit(UnitKind::File, String::new(), root, None);
    }

    pub(super) fn enter_unit(&mut self, node: Node<'tree>, parent: &NodeFrame, frame: &mut NodeFrame) {
        if frame.roles.any(UNIT_ROLES) {
            self.open_unit(node, parent, frame.roles);
            frame.opened_unit = true;
        } else if frame.roles.has(NodeRole::Namespace)
            && let Some(name) = node.child_by_field_name("name")
        {
            let name = text(name, self.source).replace("::", ".");
            self.namespaces.push(OpenNamespace { name, test: parent.test });
            frame.opened_namespace = true;
        }
    }

    pub(super) fn leave_unit(&mut self, frame: &NodeFrame) {
        if frame.opened_unit {
            self.close_unit();
        }
        if frame.opened_namespace {
            self.namespaces.pop();
        }
    }

    fn open_unit(&mut self, node: Node<'tree>, parent: &NodeFrame, roles: RoleSet) {
        let (name_node, own_name) = self.own_name(node, parent, roles);
        let around = self.innermost().unit as usize;
        let kind = match self.facts.units[around].kind {
            _ if roles.has(NodeRole::Class) => UnitKind::Class,
            _ if own_name.is_none() => UnitKind::Lambda,
            UnitKind::Class => UnitKind::Method,
            _ => UnitKind::Function,
        };
        let own_name = own_name.unwrap_or_else(|| self.anonymous_label(node));
        let name = self.full_name(&own_name, around);
        // `private name = () => …`: the words stand before the name.
        let is_bound = roles.has(NodeRole::Lambda) && parent.bound != 0;
        let field = is_bound.then(|| node.parent()).flatten().filter(|around| is_field(*around));
        let head = self.head(field.unwrap_or(node));
        let access = self.access(&own_name, &head, around, kind);
        let is_test = parent.test || self.is_test(&own_name, around);
        let simple = own_name.rsplit('.').next().unwrap_or_default();
        let is_constructor = self.is_constructor(simple, around, node);
        let symbol = self.symbols.intern(simple.as_bytes()).0;
        let opens_members = node.kind().contains("interface")
            || matches!(node.kind(), "trait_item")
            || implements_trait(node);
        let is_hidden_field =
            field.is_some() && (own_name.starts_with('#') || head.words.iter().any(|word| word == "private"));
        let is_value = !is_hidden_field && is_value(node, roles);
        if !is_value && kind != UnitKind::Lambda && roles.has(NodeRole::Lambda) {
            self.define_bound_name(parent.bound);
        }
        self.push_unit(kind, name, node, name_node);
        let open = self.innermost();
        open.symbol = Some(symbol);
        open.opens_members = opens_members;
        let unit = self.facts.units.last_mut().expect("just pushed");
        unit.access = access;
        unit.decorated = parent.decorated || is_value;
        unit.test = is_test;
        unit.inherits = head.inherits;
        unit.constructor = is_constructor;
    }

    /// Marks the name in `const name = () => …` as a definition: the declaration is no use.
    fn define_bound_name(&mut self, bound: u32) {
        /// A type annotation may be between the name and the function.
        const MAX_NAMES_BETWEEN: usize = 32;
        let latest = self.facts.names.iter_mut().rev().take(MAX_NAMES_BETWEEN);
        if let Some(name) = latest.into_iter().find(|name| name.symbol() + 1 == bound) {
            *name = name.as_definition();
        }
    }

    fn push_unit(&mut self, kind: UnitKind, name: String, node: Node<'tree>, name_node: Option<Node<'tree>>) {
        let span = |start: usize| IndexRange { start: count(start), end: count(start) };
        let unit = count(self.facts.units.len());
        self.facts.units.push(CodeUnit {
            kind,
            name,
            parent: self.open.last().map(|open| open.unit),
            range: SourceRange::of(node),
            cyclomatic: 1,
            cognitive: 0,
            nesting: 0,
            n_tokens: 0,
            parameters: Vec::new(),
            access: AccessLevel::Public,
            decorated: false,
            test: false,
            inherits: false,
            constructor: false,
            misread: false,
            lcom4: None,
            statements: span(self.facts.statements.len()),
            tokens_end: 0,
            names: span(self.facts.names.len()),
            exact: 0,
            renamed: 0,
        });
        self.open.push(OpenUnit {
            unit,
            cyclomatic: 1,
            cognitive: 0,
            nesting: 0,
            deepest: 0,
            name_at: name_node.map(|name| name.start_byte()),
            symbol: None,
            recurses: false,
            has_parameters: false,
            opens_members: false,
            first_token: self.tokens.len(),
        });
    }

    pub(super) fn close_unit(&mut self) {
        let Some(open) = self.open.pop() else { return };
        let unit = &mut self.facts.units[open.unit as usize];
        unit.cyclomatic = open.cyclomatic;
        unit.cognitive = open.cognitive;
        unit.nesting = open.deepest;
        unit.n_tokens = count(self.tokens.len() - open.first_token);
        unit.statements.end = count(self.facts.statements.len());
        unit.names.end = count(self.facts.names.len());
        unit.tokens_end = count(self.facts.token_kinds.len());
    }

    /// Returns the unit's own name, and its position.
    fn own_name(
        &self,
        node: Node<'tree>,
        parent: &NodeFrame,
        roles: RoleSet,
    ) -> (Option<Node<'tree>>, Option<String>) {
        if roles.has(NodeRole::Lambda) && parent.bound != 0 {
            return (None, Some(self.symbols.text(parent.bound - 1).to_owned()));
        }
        if roles.has(NodeRole::Lambda) && node.kind() != "function_expression" {
            return (None, None);
        }
        let Some(name) = name_node(node) else {
            let word = node.kind().contains("constructor").then(|| "constructor".to_owned());
            return (None, word);
        };
        let own = text(name, self.source).replace("::", ".");
        if node.kind() == "impl_item" {
            // This uses the name of the type but does not define it.
            return (None, Some(own));
        }
        let is_go = self.spec.visibility == VisibilityRule::Capital;
        match is_go.then(|| receiver(node, self.source)).flatten() {
            Some(receiver) => (Some(name), Some(format!("{receiver}.{own}"))),
            None => (Some(last_name(name)), Some(own)),
        }
    }

    fn full_name(&self, own_name: &str, around: usize) -> String {
        let around = &self.facts.units[around];
        let mut name = String::new();
        if around.kind == UnitKind::File {
            for namespace in &self.namespaces {
                name.push_str(&namespace.name);
                name.push('.');
            }
        } else {
            name.push_str(&around.name);
            name.push('.');
        }
        name + own_name
    }

    /// Returns the words before a declaration, and whether it inherits.
    fn head(&self, node: Node<'tree>) -> DeclarationHead {
        const MAX_HEAD_CHILDREN: usize = 12;
        let mut head = DeclarationHead { inherits: implements_trait(node), ..DeclarationHead::default() };
        let mut cursor = node.walk();
        for child in node.children(&mut cursor).take(MAX_HEAD_CHILDREN) {
            let roles = self.kinds.get(child.kind_id()).roles;
            if roles.has(NodeRole::Modifiers) {
                let words = text(child, self.source);
                head.words.extend(words.split_whitespace().map(str::to_owned));
            } else if roles.has(NodeRole::Heritage) {
                head.inherits = true;
            }
        }
        head.inherits |= head.words.iter().any(|word| word == "override");
        head
    }

    fn access(&self, name: &str, head: &DeclarationHead, around: usize, kind: UnitKind) -> AccessLevel {
        let around_kind = self.facts.units[around].kind;
        if around_kind.is_callable() || kind == UnitKind::Lambda {
            return AccessLevel::Private;
        }
        let says = |word: &str| head.words.iter().any(|other| other == word);
        let opens_members = self.open.last().is_some_and(|open| open.opens_members);
        match self.spec.visibility {
            VisibilityRule::Underscore if name.starts_with('_') && !name.ends_with("__") => {
                AccessLevel::Private
            }
            VisibilityRule::Capital => {
                let last = name.rsplit('.').next().unwrap_or(name);
                if last.starts_with(char::is_uppercase) { AccessLevel::Public } else { AccessLevel::Internal }
            }
            VisibilityRule::PubKeyword if opens_members || says("pub") => AccessLevel::Public,
            VisibilityRule::PubKeyword if head.words.is_empty() => AccessLevel::Private,
            VisibilityRule::PubKeyword => AccessLevel::Internal,
            VisibilityRule::Export if says("private") || name.starts_with('#') => AccessLevel::Private,
            VisibilityRule::Export if says("protected") => AccessLevel::Internal,
            // Code that gets an object of a hidden class may call its methods.
            VisibilityRule::Export if around_kind == UnitKind::Class => {
                self.facts.units[around].access.min(AccessLevel::Internal)
            }
            VisibilityRule::Export if self.is_exported() => AccessLevel::Public,
            VisibilityRule::Export => AccessLevel::Private,
            VisibilityRule::Static if says("static") && around_kind == UnitKind::File => AccessLevel::Private,
            VisibilityRule::Underscore | VisibilityRule::Static => AccessLevel::Public,
            VisibilityRule::Words(_) if says("private") => AccessLevel::Private,
            VisibilityRule::Words(_) if opens_members || says("public") => AccessLevel::Public,
            VisibilityRule::Words(_) if says("protected") || says("internal") => AccessLevel::Internal,
            VisibilityRule::Words(usual) => usual,
        }
    }

    /// Returns true if an export encloses the declaration, at most as far away as in `export const name = () => …`.
    fn is_exported(&self) -> bool {
        self.frames.iter().rev().take(3).any(|frame| frame.roles.has(NodeRole::Export))
    }

    fn is_test(&self, own_name: &str, around: usize) -> bool {
        let last = own_name.rsplit('.').next().unwrap_or(own_name);
        self.facts.units[around].test
            || self.namespaces.iter().any(|namespace| namespace.test)
            || last.starts_with("test_")
            || last.strip_prefix("Test").is_some_and(|rest| rest.starts_with(char::is_uppercase))
    }

    fn is_constructor(&self, own_name: &str, around: usize, node: Node<'tree>) -> bool {
        let class = &self.facts.units[around];
        let class_name = class.name.rsplit('.').next().unwrap_or_default();
        class.kind == UnitKind::Class
            && (own_name == class_name
                || self.spec.constructors.contains(&own_name)
                || node.kind().contains("constructor"))
    }

    /// Assigns a decorator to the unit whose head contains it, or to the next sibling.
    pub(super) fn decorate(&mut self, node: Node<'tree>) {
        let words = text(node, self.source);
        self.count_skip_mark(&words);
        let is_test = words.contains("test") || words.contains("Test") || words.contains("fixture");
        let is_inside = self.frames.iter().rev().take(2).any(|frame| frame.opened_unit);
        let registers = !is_plain_decorator(&words);
        let unit = self.innermost().unit as usize;
        if let Some(parent) = self.frames.last_mut() {
            parent.decorated |= registers;
            parent.test |= is_test;
        }
        let unit = &mut self.facts.units[unit];
        if is_inside && unit.kind != UnitKind::File {
            unit.decorated |= registers;
            unit.test |= is_test;
            unit.inherits |= words.starts_with("@Override");
        }
    }
}

fn implements_trait(node: Node<'_>) -> bool {
    node.kind() == "impl_item" && node.child_by_field_name("trait").is_some()
}

fn is_field(node: Node<'_>) -> bool {
    matches!(node.kind(), "public_field_definition" | "field_definition")
}

/// Returns true if a unit is a value that other code gets: a function that is passed on, a method of an object literal
/// or of a class without a name. A function that a declaration binds to a name is none.
fn is_value(node: Node<'_>, roles: RoleSet) -> bool {
    const MAX_AMBIENT_DEPTH: usize = 4;
    let around = |kinds: &[&str]| node.parent().is_some_and(|around| kinds.contains(&around.kind()));
    match node.kind() {
        "method_definition" => around(&["object"]),
        "method_declaration" => {
            let body = node.parent().filter(|body| matches!(body.kind(), "class_body" | "declaration_list"));
            body.and_then(|body| body.parent()).is_some_and(|around| {
                matches!(around.kind(), "object_creation_expression" | "anonymous_class")
            })
        }
        "class" => true,
        // It adds to an interface of the platform or of another module.
        "interface_declaration" => {
            let mut around = std::iter::successors(node.parent(), Node::parent).take(MAX_AMBIENT_DEPTH);
            around.any(|around| around.kind() == "ambient_declaration")
        }
        _ => roles.has(NodeRole::Lambda) && !around(&["variable_declarator"]),
    }
}

/// Returns true if a decorator hands its function to nobody: it changes how the function is called, or tells
/// compilers and readers something about it.
fn is_plain_decorator(words: &str) -> bool {
    const PLAIN_DECORATORS: [&str; 27] = [
        "staticmethod",
        "classmethod",
        "property",
        "cached_property",
        "cache",
        "lru_cache",
        "contextmanager",
        "asynccontextmanager",
        "final",
        "no_type_check",
        "dataclass",
        "total_ordering",
        "deprecated",
        "Deprecated",
        "Nullable",
        "NonNull",
        "Nonnull",
        "NotNull",
        "SafeVarargs",
        "SuppressWarnings",
        "Obsolete",
        "MethodImpl",
        "DebuggerStepThrough",
        "inline",
        "must_use",
        "cold",
        "track_caller",
    ];
    // `@SuppressWarnings("unused")`: its author knows.
    if words.contains("unused") || words.contains("dead_code") {
        return false;
    }
    let name = words.trim_start_matches(['@', '#', '[', '!', ' ']);
    let name = name.split(['(', ']', ',', ' ', '\n', '=']).next().unwrap_or_default();
    PLAIN_DECORATORS.contains(&name.rsplit(['.', ':']).next().unwrap_or_default())
}

/// Returns the node with the name of a declaration.
fn name_node(node: Node<'_>) -> Option<Node<'_>> {
    const MAX_DECLARATOR_DEPTH: usize = 8;
    if let Some(name) = node.child_by_field_name("name") {
        return Some(name);
    }
    if node.kind() == "impl_item" {
        let implemented = node.child_by_field_name("type")?;
        return implemented.child_by_field_name("type").or(Some(implemented));
    }
    // In C the name is nested in as many declarators as the type has parts.
    let mut name = node.child_by_field_name("declarator")?;
    for _ in 0..MAX_DECLARATOR_DEPTH {
        name = match name.child_by_field_name("declarator") {
            Some(inner) => inner,
            None if name.kind() == "reference_declarator" => name.named_child(0)?,
            None => break,
        };
    }
    Some(name)
}

fn last_name(name: Node<'_>) -> Node<'_> {
    name.child_by_field_name("name").unwrap_or(name)
}

/// Returns the type that a Go method belongs to.
fn receiver(node: Node<'_>, source: &[u8]) -> Option<String> {
    let receiver = node.child_by_field_name("receiver")?.named_child(0)?;
    let of = text(receiver.child_by_field_name("type")?, source);
    Some(of.trim_start_matches('*').split('[').next().unwrap_or_default().trim().to_owned())
}

/// Folds anonymous callables without a decision into the enclosing code, unless they are long.
pub(super) fn prune(facts: &mut FileFacts) {
    const MAX_FOLDED_LINES: u32 = 10;
    let mut places = Vec::with_capacity(facts.units.len());
    let mut kept: Vec<CodeUnit> = Vec::with_capacity(facts.units.len());
    for mut unit in std::mem::take(&mut facts.units) {
        unit.parent = unit.parent.map(|parent| places[parent as usize]);
        if unit.kind == UnitKind::Lambda && unit.cyclomatic == 1 && unit.range.n_lines() <= MAX_FOLDED_LINES {
            places.push(unit.parent.unwrap_or(0));
        } else {
            places.push(count(kept.len()));
            kept.push(unit);
        }
    }
    facts.units = kept;
    for import in &mut facts.imports {
        import.unit = places[import.unit as usize];
    }
    for twin in &mut facts.twins {
        twin.unit = places[twin.unit as usize];
    }
}
