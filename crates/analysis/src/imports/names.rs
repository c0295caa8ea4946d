//! Names that an import takes from a module of the project which does not have them.

use super::rust::NameInModule;
use super::{ImportResolvers, ImportTarget, SourceTree};
use crate::corpus::CorpusFile;
use crate::facts::ImportStatement;
use crate::hash;
use crate::language::Language;
use crate::references::ModuleNames;
use std::collections::BTreeMap;

/// The names of modules that imports ask for, computed once for each module.
#[derive(Default)]
pub(super) struct ModuleNameIndex(BTreeMap<u32, ModuleNames>);

impl ModuleNameIndex {
    fn get(&mut self, files: &[CorpusFile], file: u32) -> &ModuleNames {
        self.0.entry(file).or_insert_with(|| ModuleNames::of(&files[file as usize]))
    }

    /// Returns the first name that the import cannot find. `target` is what the import refers to.
    pub(super) fn missing(
        &mut self,
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
                self.missing_in_javascript(tree, import, target)
            }
            Language::Rust => self.missing_in_rust(resolvers, tree, from, import),
            _ => None,
        }
    }

    fn missing_in_python(
        &mut self,
        resolvers: &ImportResolvers,
        tree: &SourceTree<'_>,
        from: u32,
        import: &ImportStatement,
    ) -> Option<String> {
        let names = import.names.iter().filter(|name| *name != "*");
        let mut names = names.filter(|name| !name.starts_with("__")).peekable();
        names.peek()?;
        let module = resolvers.python.module_file(tree, from, &import.module)?;
        let known = self.get(tree.files, module);
        let is_submodule = |name: &str| resolvers.python.has_submodule(tree, from, &import.module, name);
        names.find(|name| known.lacks(name) && !is_submodule(name)).cloned()
    }

    fn missing_in_javascript(
        &mut self,
        tree: &SourceTree<'_>,
        import: &ImportStatement,
        target: &ImportTarget,
    ) -> Option<String> {
        let ImportTarget::Files(files) = target else { return None };
        let &[module] = files.as_slice() else { return None };
        let file = &tree.files[module as usize];
        if [&b".d.ts"[..], b".d.mts", b".d.cts"].iter().any(|ending| file.path.as_bytes().ends_with(ending)) {
            return None;
        }
        let names = self.get(tree.files, module);
        let is_missing =
            |name: &&String| *name != "*" && *name != "default" && (names.lacks(name) || names.hides(name));
        import.names.iter().find(is_missing).cloned()
    }

    fn missing_in_rust(
        &mut self,
        resolvers: &ImportResolvers,
        tree: &SourceTree<'_>,
        from: u32,
        import: &ImportStatement,
    ) -> Option<String> {
        let NameInModule { module, name, crate_root } = resolvers.rust.name_in_module(from, import)?;
        let is_word = !matches!(name, "*" | "self" | "super" | "crate");
        if !is_word || !self.get(tree.files, module).lacks(name) {
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
