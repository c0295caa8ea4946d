//! Refuses import cycles between the top modules of a crate, so that each can be read, moved and tested on its own.
//!
//! Imports are read from the text: paths that begin with `crate::` or with enough `super::` to reach the root, and
//! names that the root re-exports (`pub use module::Name`).

use super::allowances::RuleHit;
use super::crates::CrateGraph;
use super::{SourceFile, line_counts};
use std::collections::{BTreeMap, BTreeSet};

/// Modules by name, each with those that it imports from.
type ModuleImports = BTreeMap<String, BTreeSet<String>>;

/// Returns one hit for each module that is part of a cycle.
pub(crate) fn hits(graph: &CrateGraph, files: &[SourceFile]) -> Vec<RuleHit> {
    let mut found = Vec::new();
    for (name, _) in graph.iter() {
        for cycle in cycles(&modules(name, files)) {
            let members: Vec<&str> = cycle.iter().map(String::as_str).collect();
            let detail = format!("crates/{name}: these modules import each other: {}", members.join(", "));
            found.push(RuleHit { rule: "cycle", subject: name.to_owned(), weight: cycle.len(), detail });
        }
    }
    found
}

/// Returns the module path of a file below `src`; empty for the root.
fn module_path(inside: &str) -> Vec<&str> {
    let mut parts: Vec<&str> = inside.trim_end_matches(".rs").split('/').collect();
    if matches!(parts.last(), Some(&("mod" | "lib" | "main"))) {
        parts.pop();
    }
    parts
}

fn modules(name: &str, files: &[SourceFile]) -> ModuleImports {
    let prefix = format!("crates/{name}/src/");
    let inside = |file: &'_ SourceFile| file.path.strip_prefix(&prefix).map(str::to_owned);
    let texts: Vec<(String, String)> = line_counts::shipped_files(name, files)
        .filter_map(|file| Some((inside(file)?, code(&file.text))))
        .collect();
    let tops: BTreeSet<&str> =
        texts.iter().filter_map(|(path, _)| module_path(path).first().copied()).collect();
    let root = texts.iter().filter(|(path, _)| module_path(path).is_empty());
    let passed_on = root.flat_map(|(_, text)| passed_on(text)).collect::<BTreeMap<String, String>>();
    let mut modules = ModuleImports::new();
    for (path, text) in &texts {
        let module = module_path(path);
        let Some(top) = module.first() else { continue };
        let imports = imported(text, module.len());
        // A module's name means the module, even if the root re-exports a function of the same name.
        let resolve = |name: String| match passed_on.get(&name) {
            Some(module) if !tops.contains(name.as_str()) => module.clone(),
            _ => name,
        };
        let real = imports.into_iter().map(resolve).filter(|it| tops.contains(it.as_str()) && it != top);
        modules.entry((*top).to_owned()).or_default().extend(real);
    }
    modules
}

/// Returns the text without tests and comments.
fn code(text: &str) -> String {
    let lines = line_counts::without_tests(text).map(|(_, line)| line.split("//").next().unwrap_or(line));
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns the first name of every path from the root, in a module `depth` levels below it.
fn imported(text: &str, depth: usize) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for start in ["crate::".to_owned(), "super::".repeat(depth)] {
        for (at, _) in text.match_indices(&start) {
            let is_whole =
                !text[..at].ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | ':' | '$'));
            if is_whole {
                names.extend(first_names(&text[at + start.len()..]));
            }
        }
    }
    names
}

/// Returns the first name of a path, or of every path in a group.
fn first_names(text: &str) -> Vec<String> {
    let word = |text: &str| -> String {
        text.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
    };
    let Some(group) = text.strip_prefix('{') else { return vec![word(text)] };
    let (mut names, mut depth, mut begin) = (Vec::new(), 0, 0);
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => {
                names.push(word(&group[begin..at]));
                break;
            }
            '}' => depth -= 1,
            ',' if depth == 0 => {
                names.push(word(&group[begin..at]));
                begin = at + 1;
            }
            _ => {}
        }
    }
    names
}

/// Returns the names that the root re-exports, each with its module.
fn passed_on(root: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (at, _) in root.match_indices("use ") {
        let statement = root[at + 4..].split(';').next().unwrap_or_default();
        let Some((module, _)) = statement.split_once("::") else { continue };
        let names = statement.split(|c: char| !(c.is_alphanumeric() || c == '_')).skip(1);
        found.extend(names.filter(|name| !name.is_empty()).map(|name| (name.to_owned(), module.to_owned())));
    }
    found
}

/// Returns the groups of two or more modules that reach each other, sorted.
fn cycles(modules: &ModuleImports) -> BTreeSet<Vec<String>> {
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        modules.keys().map(|name| (name.as_str(), reach(modules, name))).collect();
    let group = |name: &str| -> Vec<String> {
        let back = |other: &&str| reached.get(other).is_some_and(|reached| reached.contains(name));
        reached[name].iter().copied().filter(back).map(str::to_owned).collect()
    };
    modules.keys().map(|name| group(name)).filter(|group| group.len() > 1).collect()
}

fn reach<'a>(modules: &'a ModuleImports, from: &'a str) -> BTreeSet<&'a str> {
    let (mut found, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(name) = open.pop() {
        for next in modules.get(name).into_iter().flatten() {
            if found.insert(next.as_str()) {
                open.push(next);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tests::file;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let files: Vec<SourceFile> =
            files.iter().map(|(path, text)| file(&format!("crates/a/src/{path}"), text)).collect();
        hits(&CrateGraph::new(&[("a", &[])]), &files).into_iter().map(|hit| hit.detail).collect()
    }

    #[test]
    fn modules_that_import_each_other_are_named() {
        let cycle = ["crates/a: these modules import each other: x, y"];
        assert_eq!(found(&[("x.rs", "use crate::y::Y;"), ("y/mod.rs", "fn f() { crate::x::g() }")]), cycle);
        assert_eq!(
            found(&[("x.rs", "use crate::{z, y::{A, B}};"), ("y/in.rs", "use super::super::x::C;")]),
            cycle
        );
        let root = ("lib.rs", "mod x;\nmod y;\npub use y::{Y, Z as W};\n");
        assert_eq!(found(&[root, ("x.rs", "use crate::Y;"), ("y.rs", "use super::x::X;")]), cycle);
    }

    #[test]
    fn one_direction_is_no_cycle_and_tests_and_comments_import_nothing() {
        let tests = "// crate::x\n#[cfg(test)]\nmod tests {\n    use crate::x::X;\n}\n";
        assert!(found(&[("x.rs", "use crate::y::Y;"), ("y.rs", tests)]).is_empty());
        assert!(found(&[("x.rs", "use crate::y::Y;"), ("y/in.rs", "use super::x::X;")]).is_empty());
    }
}
