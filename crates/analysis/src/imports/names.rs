//! Names that an import takes from a module of the project which does not have them.

use super::rust::NameInModule;
use super::{ImportResolvers, ImportTarget, SourceTree};
use crate::corpus::CorpusFile;
use crate::facts::ImportStatement;
use crate::hash;
use crate::language::Language;
use crate::references::ModuleNames;
use std::sync::OnceLock;

/// Modules that take everything from each other in a longer chain, or a circle, are left alone.
const MAX_GLOB_DEPTH: usize = 4;

/// The names of modules that imports ask for, by file and computed once for each module.
pub(super) struct ModuleNameIndex(Vec<OnceLock<ModuleNames>>);

impl ModuleNameIndex {
    pub(super) fn new(files: &[CorpusFile]) -> Self {
        Self(files.iter().map(|_| OnceLock::new()).collect())
    }

    fn get(&self, files: &[CorpusFile], file: u32) -> &ModuleNames {
        self.0[file as usize].get_or_init(|| ModuleNames::of(&files[file as usize]))
    }

    /// Returns true if neither a module nor what it takes from other modules has a name. `depth` is how many of them lie
    /// between.
    fn lacks(
        &self,
        resolvers: &ImportResolvers,
        tree: &SourceTree<'_>,
        module: u32,
        name: &str,
        depth: usize,
    ) -> bool {
        let is_source = !is_declaration(tree.files[module as usize].path.as_bytes());
        let names = self.get(tree.files, module);
        if !is_source || depth > MAX_GLOB_DEPTH || !names.lacks(name) {
            return false;
        }
        names.globs().iter().all(|&glob| {
            let import = &tree.files[module as usize].facts.imports[glob as usize];
            match resolvers.target(tree, module, import) {
                ImportTarget::Files(files) => {
                    files.iter().all(|&other| self.lacks(resolvers, tree, other, name, depth + 1))
                }
                ImportTarget::External | ImportTarget::Missing => false,
            }
        })
    }

    /// Returns the first name that the import cannot find. `target` is what the import refers to.
    pub(super) fn missing(
        &self,
        resolvers: &ImportResolvers,
        tree: &SourceTree<'_>,
        from: u32,
        import: &ImportStatement,
        target: &ImportTarget,
    ) -> Option<String> {
        if import.optional {
            return None;
        }
        match tree.files[from as usize].language {
            Language::Python => self.missing_in_python(resolvers, tree, from, import),
            Language::JavaScript | Language::TypeScript | Language::Tsx => {
                self.missing_in_javascript(resolvers, tree, import, target)
            }
            Language::Rust => self.missing_in_rust(resolvers, tree, from, import),
            _ => None,
        }
    }

    fn missing_in_python(
        &self,
        resolvers: &ImportResolvers,
        tree: &SourceTree<'_>,
        from: u32,
        import: &ImportStatement,
    ) -> Option<String> {
        let names = import.names.iter().filter(|name| *name != "*");
        let mut names = names.filter(|name| !name.starts_with("__")).peekable();
        names.peek()?;
        let module = resolvers.python.module_file(tree, from, &import.module)?;
        let is_submodule = |name: &str| resolvers.python.has_submodule(tree, from, &import.module, name);
        names.find(|name| self.lacks(resolvers, tree, module, name, 0) && !is_submodule(name)).cloned()
    }

    fn missing_in_javascript(
        &self,
        resolvers: &ImportResolvers,
        tree: &SourceTree<'_>,
        import: &ImportStatement,
        target: &ImportTarget,
    ) -> Option<String> {
        let ImportTarget::Files(files) = target else { return None };
        let &[module] = files.as_slice() else { return None };
        let path = tree.files[module as usize].path.as_bytes();
        let is_source = !is_declaration(path);
        let mut names = import.names.iter().filter(|name| *name != "*" && *name != "default");
        let is_missing = |name: &&String| {
            self.lacks(resolvers, tree, module, name, 0)
                || is_source && self.get(tree.files, module).hides(name)
        };
        names.find(is_missing).cloned()
    }

    fn missing_in_rust(
        &self,
        resolvers: &ImportResolvers,
        tree: &SourceTree<'_>,
        from: u32,
        import: &ImportStatement,
    ) -> Option<String> {
        let NameInModule { module, name, crate_root } = resolvers.rust.name_in_module(tree, from, import)?;
        let is_word = !matches!(name, "*" | "self" | "super" | "crate");
        let names = self.get(tree.files, module);
        if !is_word || !names.globs().is_empty() || !names.lacks(name) {
            return None;
        }
        // A library and a program may share the directory, and a macro that is exported is found at the root
        // wherever it is defined.
        let symbol = hash::of_bytes(name.as_bytes());
        let is_named_below = |root: String| {
            let below = format!("{root}/");
            let mut others = tree.files.iter().zip(0..).filter(|(_, index)| *index != from);
            others.any(|(file, _)| {
                file.path.as_bytes().starts_with(below.as_bytes()) && file.symbols.contains(&symbol)
            })
        };
        (!crate_root.is_some_and(is_named_below)).then(|| name.to_owned())
    }
}

/// Returns true for declarations of TypeScript, which may be generated, or merged with others.
fn is_declaration(path: &[u8]) -> bool {
    [&b".d.ts"[..], b".d.mts", b".d.cts"].iter().any(|ending| path.ends_with(ending))
}
