//! Finds the files a gate executes: its program as the system resolves it, with every link and interpreter on the way,
//! and the files its command names. Looked up once, when the run is sealed.

use probity_core::Digest;
use probity_core::digest::DigestHasher;
use probity_evidence::{GlobList, PlannedGate, Seal, SealedProgram};
use probity_paths::{RepoPath, Scope};
use probity_snapshot::Snapshot;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};

/// Longer chains of links do not resolve.
const MAX_SYMLINKS: usize = 40;
/// Nesting limit for scripts whose interpreter is itself a script; no system allows more.
const MAX_INTERPRETERS: usize = 4;
const MAX_SHEBANG_BYTES: u64 = 512;
/// A script of which no more is read for its imports.
const MAX_SCRIPT_BYTES: u64 = 1024 * 1024;
/// The file that marks a Python virtual environment.
const VIRTUAL_ENVIRONMENT_MARK: &[u8] = b"pyvenv.cfg";

/// The parts of the tree a gate relies on.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct GateInputs {
    /// Files it executes or names in its command, and places, without an ending, in which its Python scripts look for a
    /// module before they look elsewhere.
    pub inputs: BTreeSet<RepoPath>,
    /// Those of the inputs that are executed, and not only read.
    pub executed: BTreeSet<RepoPath>,
    /// Directories its program imports from.
    pub imports: GlobList,
    /// The executable files that run when it starts, in the tree or elsewhere.
    pub programs: Vec<SealedProgram>,
    /// Its own program as found through `PATH`, before links are resolved.
    pub found_program: Option<PathBuf>,
}

/// Returns the virtual environments of a tree.
pub fn virtual_environments(start: &Snapshot) -> BTreeSet<RepoPath> {
    let marks = start.entries_named(VIRTUAL_ENVIRONMENT_MARK);
    marks.iter().filter_map(|entry| entry.path().parent()).collect()
}

/// Looks up the inputs of `gate` in the tree at `root` (a real path), with `search_path` as its `PATH`. `environments`
/// are the virtual environments of the tree. `file_root` leads to the root of the file system in which the gate runs.
pub fn look_up(
    file_root: &Path,
    root: &Path,
    gate: &PlannedGate,
    search_path: &OsStr,
    environments: &BTreeSet<RepoPath>,
) -> GateInputs {
    look_up_command(file_root, root, &gate.run, search_path, environments)
}

/// Looks up the inputs of a command line, like [`look_up`].
pub fn look_up_command(
    file_root: &Path,
    root: &Path,
    run: &[String],
    search_path: &OsStr,
    environments: &BTreeSet<RepoPath>,
) -> GateInputs {
    let mut lookup = LookUp {
        file_root,
        root,
        search: std::env::split_paths(search_path).collect(),
        inputs: BTreeSet::new(),
        executed: BTreeSet::new(),
        is_executing: true,
        imports: BTreeSet::new(),
        imports_anything: false,
        programs: BTreeSet::new(),
    };
    let started = probity_policy::started_commands(run);
    for command in started.commands {
        lookup.note_program(OsStr::new(&command[0]));
    }
    for word in probity_policy::executed_words(run) {
        lookup.note_argument(OsStr::new(&word));
    }
    lookup.is_executing = false;
    for word in started.script_words {
        lookup.note_argument(OsStr::new(word));
        // A word with a directory is a program only if it can be executed; anything else is given to one.
        if !word.contains('/') || is_executable(&root.join(word)) {
            lookup.program(OsStr::new(word), 0);
        }
    }
    run.iter().skip(1).for_each(|word| lookup.note_argument(OsStr::new(word)));
    lookup.note_module_places(run);
    let mut imports = lookup.virtual_environments();
    if lookup.imports_anything {
        imports.extend(probity_policy::any_imports());
        imports.extend(environments.iter().map(|directory| pattern_of(directory.as_bytes())));
    }
    imports.append(&mut lookup.imports);
    let programs = lookup.programs.iter().filter_map(|path| {
        let digest = digest_of(&lookup.file(path))?;
        Some(SealedProgram { path: path.as_os_str().as_bytes().into(), digest })
    });
    GateInputs {
        programs: programs.collect(),
        found_program: run.first().and_then(|name| lookup.find(OsStr::new(name))),
        inputs: lookup.inputs,
        executed: lookup.executed,
        imports: GlobList::new(imports),
    }
}

/// Leaves out the programs that a gate itself may write, such as one that an earlier gate builds.
pub fn without_gate_outputs(seal: &Seal, root: &Path, programs: Vec<SealedProgram>) -> Vec<SealedProgram> {
    let outputs =
        seal.contents().gate_settings.values().filter_map(|settings| settings.outputs.to_scope().ok());
    let outputs: Vec<Scope> = outputs.collect();
    let is_output = |program: &SealedProgram| {
        let path = Path::new(OsStr::from_bytes(program.path.as_bytes()));
        let below =
            path.strip_prefix(root).ok().and_then(|below| RepoPath::parse(below.as_os_str().as_bytes()).ok());
        below.is_some_and(|below| outputs.iter().any(|scope| scope.contains(&below)))
    };
    programs.into_iter().filter(|program| !is_output(program)).collect()
}

/// Returns the digest of a whole file.
fn digest_of(path: &Path) -> Option<Digest> {
    let mut file = File::open(path).ok()?;
    let mut hasher = DigestHasher::default();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match file.read(&mut buffer).ok()? {
            0 => return Some(hasher.finish()),
            count => hasher.update(&buffer[..count]),
        }
    }
}

struct LookUp<'a> {
    file_root: &'a Path,
    root: &'a Path,
    search: Vec<PathBuf>,
    inputs: BTreeSet<RepoPath>,
    executed: BTreeSet<RepoPath>,
    /// Whether what is noted now is executed.
    is_executing: bool,
    /// Patterns of the directories the programs import from.
    imports: BTreeSet<Vec<u8>>,
    /// Set when a program is unknown and may import from anywhere.
    imports_anything: bool,
    /// The real paths of the executable files.
    programs: BTreeSet<PathBuf>,
}

impl LookUp<'_> {
    /// Returns where the file of a path is found.
    fn file(&self, path: &Path) -> PathBuf {
        self.file_root.join(path.strip_prefix("/").unwrap_or(path))
    }

    fn is_file(&self, path: &Path) -> bool {
        fs::metadata(self.file(path)).is_ok_and(|facts| facts.is_file())
    }

    /// Records what a program executes and imports. A script is known if its interpreter is; a shell may start
    /// anything.
    fn note_program(&mut self, program: &OsStr) {
        let names = self.program(program, 0);
        let known: Vec<_> =
            names.iter().filter_map(|name| probity_policy::program_imports(name.as_bytes())).collect();
        self.imports_anything |=
            known.is_empty() || names.iter().any(|name| probity_policy::is_shell(name.as_bytes()));
        self.imports.extend(known.into_iter().flatten());
    }

    /// Resolves a program through `PATH` and returns its name and those of its interpreters. Places in the tree that
    /// come first in `PATH` but hold no such program are recorded too: a file created there would run instead.
    fn program(&mut self, name: &OsStr, depth: usize) -> BTreeSet<OsString> {
        let mut names: BTreeSet<OsString> =
            Path::new(name).file_name().map(OsStr::to_owned).into_iter().collect();
        if name.as_bytes().contains(&b'/') {
            let path = self.resolve_links(&self.root.join(name));
            self.note_executable(&path);
            names.append(&mut self.interpreter(&path, depth));
            return names;
        }
        for directory in self.search.clone() {
            let path = self.resolve_links(&directory.join(name));
            if is_executable(&self.file(&path)) {
                self.note_executable(&path);
                names.append(&mut self.interpreter(&path, depth));
                break;
            }
        }
        names
    }

    fn note_executable(&mut self, path: &Path) {
        if is_executable(&self.file(path)) {
            self.programs.insert(path.to_owned());
        }
    }

    /// Returns the first executable of that name in `PATH`; `None` for a name with a directory.
    fn find(&self, name: &OsStr) -> Option<PathBuf> {
        let is_plain = !name.as_bytes().contains(&b'/');
        let mut places = self.search.iter().filter(|_| is_plain).map(|directory| directory.join(name));
        places.find(|path| is_executable(&self.file(path)))
    }

    /// Resolves the interpreters of a script.
    fn interpreter(&mut self, script: &Path, depth: usize) -> BTreeSet<OsString> {
        let mut names: BTreeSet<OsString> = script.file_name().map(OsStr::to_owned).into_iter().collect();
        let Some(words) = shebang(&self.file(script)).filter(|_| depth < MAX_INTERPRETERS) else {
            return names;
        };
        let mut words = words.iter().map(OsString::as_os_str);
        let Some(program) = words.next() else { return names };
        names.append(&mut self.program(program, depth + 1));
        if Path::new(program).file_name() == Some(OsStr::new("env"))
            && let Some(word) =
                words.find(|word| !word.as_bytes().starts_with(b"-") && !word.as_bytes().contains(&b'='))
        {
            names.append(&mut self.program(word, depth + 1));
        }
        names
    }

    /// Records the file that an argument names, also after a `=`.
    fn note_argument(&mut self, word: &OsStr) {
        let bytes = word.as_bytes();
        let value = bytes.iter().position(|&byte| byte == b'=').map(|at| &bytes[at + 1..]);
        for name in [Some(bytes), value].into_iter().flatten().filter(|name| !name.is_empty()) {
            let path = self.root.join(OsStr::from_bytes(name));
            if self.is_file(&path) {
                self.resolve_links(&path);
            }
        }
    }

    /// Records where the Python scripts of a command line look first for what they import: a new module there would take
    /// the place of the one they import now.
    fn note_module_places(&mut self, run: &[String]) {
        let started = probity_policy::started_commands(run);
        let words = run.iter().map(String::as_str).chain(started.script_words);
        let named = words.map(|word| self.root.join(word)).filter(|path| self.is_file(path));
        for script in named.collect::<BTreeSet<_>>() {
            // Python looks in the directory of the real file.
            let script = self.resolve_links(&script);
            if let Some(directory) = script.parent().filter(|_| self.is_python_script(&script)) {
                self.note_imports_of(&script, directory);
            }
        }
        let tools = probity_policy::StartedTools::of(run);
        for module in tools.modules() {
            for file in
                [format!("{module}.py"), format!("{module}/__main__.py"), format!("{module}/__init__.py")]
            {
                self.note_imports_of(&self.root.join(file), self.root);
            }
        }
    }

    fn is_python_script(&self, path: &Path) -> bool {
        let is_python = |words: Vec<OsString>| {
            words.iter().any(|word| {
                let name = Path::new(word).file_name().unwrap_or(word).as_bytes();
                name.starts_with(b"python") || name.starts_with(b"pypy")
            })
        };
        path.extension() == Some(OsStr::new("py")) || shebang(&self.file(path)).is_some_and(is_python)
    }

    fn note_imports_of(&mut self, script: &Path, directory: &Path) {
        // Opening a pipe would wait.
        if !self.is_file(script) {
            return;
        }
        let mut source = Vec::new();
        let file = File::open(self.file(script));
        if file.and_then(|file| file.take(MAX_SCRIPT_BYTES).read_to_end(&mut source)).is_ok() {
            for module in probity_policy::imported_modules(&String::from_utf8_lossy(&source)) {
                self.note_input(&directory.join(module));
            }
        }
    }

    /// Resolves a path and records every link on the way and the target, where they are in the tree.
    fn resolve_links(&mut self, path: &Path) -> PathBuf {
        let mut rest: Vec<OsString> = reversed_components(path);
        let mut here = PathBuf::from("/");
        let mut n_links = 0;
        while let Some(name) = rest.pop() {
            if name == ".." {
                here.pop();
                continue;
            }
            let next = here.join(&name);
            match fs::read_link(self.file(&next)) {
                Ok(target) if n_links < MAX_SYMLINKS => {
                    n_links += 1;
                    self.note_input(&next);
                    if target.is_absolute() {
                        here = PathBuf::from("/");
                    }
                    rest.extend(reversed_components(&target));
                }
                _ => here = next,
            }
        }
        self.note_input(&here);
        here
    }

    fn note_input(&mut self, path: &Path) {
        let below = path.strip_prefix(self.root).ok();
        let Some(path) = below.and_then(|below| RepoPath::parse(below.as_os_str().as_bytes()).ok()) else {
            return;
        };
        if self.is_executing {
            self.executed.insert(path.clone());
        }
        self.inputs.insert(path);
    }

    /// Returns the virtual environments whose programs are among the inputs.
    fn virtual_environments(&self) -> BTreeSet<Vec<u8>> {
        let environment = |input: &RepoPath| {
            let programs = input.parent()?;
            let directory = (programs.file_name() == b"bin").then(|| programs.parent())??;
            let mark = self
                .root
                .join(OsStr::from_bytes(directory.as_bytes()))
                .join(OsStr::from_bytes(VIRTUAL_ENVIRONMENT_MARK));
            self.file(&mark).exists().then(|| pattern_of(directory.as_bytes()))
        };
        self.inputs.iter().filter_map(environment).collect()
    }
}

/// Returns a pattern that matches exactly this path, with special characters as one-letter classes.
fn pattern_of(path: &[u8]) -> Vec<u8> {
    let letter = |&byte: &u8| if b"*?[".contains(&byte) { vec![b'[', byte, b']'] } else { vec![byte] };
    path.iter().flat_map(letter).collect()
}

/// Returns the components of a path in reverse, without `.` and the root.
fn reversed_components(path: &Path) -> Vec<OsString> {
    let name = |component: Component<'_>| match component {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::CurDir | Component::RootDir | Component::Prefix(_) => None,
    };
    let mut names: Vec<OsString> = path.components().filter_map(name).collect();
    names.reverse();
    names
}

fn is_executable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|facts| facts.is_file() && facts.permissions().mode() & 0o111 != 0)
}

/// Returns the words after `#!` on the first line of a script.
fn shebang(path: &Path) -> Option<Vec<OsString>> {
    let mut start = Vec::new();
    if !fs::metadata(path).ok()?.is_file() {
        return None;
    }
    File::open(path).ok()?.take(MAX_SHEBANG_BYTES).read_to_end(&mut start).ok()?;
    let line = start.strip_prefix(b"#!")?.split(|&byte| byte == b'\n').next()?;
    let words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    Some(words.map(|word| OsStr::from_bytes(word).to_owned()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    struct Tree(tempfile::TempDir);

    impl Tree {
        fn new() -> Self {
            let tree = Self(tempfile::tempdir().expect("a directory"));
            fs::create_dir(tree.root()).expect("creates");
            tree
        }

        fn outside(&self) -> PathBuf {
            self.0.path().canonicalize().expect("is real")
        }

        fn root(&self) -> PathBuf {
            self.outside().join("tree")
        }

        fn program(&self, name: &str, text: &str) {
            let path = self.root().join(name);
            fs::create_dir_all(path.parent().expect("a parent")).expect("creates");
            fs::write(&path, text).expect("writes");
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("sets the mode");
        }

        fn inputs(&self, run: &[&str], search: &[PathBuf]) -> (Vec<String>, Vec<String>) {
            let gate = PlannedGate {
                id: "test".into(),
                tier: "T0".into(),
                run: run.iter().map(ToString::to_string).collect(),
                timeout_ms: 1,
                required: true,
            };
            let search = std::env::join_paths(search).expect("a path");
            let environments = [RepoPath::parse(b"odd").expect("a path")].into();
            let found = look_up(Path::new("/"), &self.root(), &gate, &search, &environments);
            let imports = found.imports.as_slice().iter().map(|it| String::from_utf8_lossy(it).into_owned());
            (found.inputs.iter().map(ToString::to_string).collect(), imports.collect())
        }
    }

    #[test]
    fn words_name_files_however_they_are_spelt() {
        let tree = Tree::new();
        tree.program("tools/check.sh", "");
        tree.program("conf.toml", "");
        let absolute = tree.root().join("tools/check.sh").display().to_string();
        for word in ["tools/check.sh", "./tools/check.sh", "tools/../tools//check.sh", &absolute] {
            assert_eq!(tree.inputs(&["/bin/sh", word], &[]).0, ["tools/check.sh"], "{word}");
        }
        assert_eq!(tree.inputs(&["/bin/sh", "--config=conf.toml", "nothing", "tools"], &[]).0, ["conf.toml"]);
    }

    #[test]
    fn a_program_is_found_through_the_search_path_with_every_link_and_interpreter() {
        let tree = Tree::new();
        let bin = tree.root().join(".venv/bin");
        tree.program(".venv/pyvenv.cfg", "home = /usr/bin\n");
        tree.program(".venv/bin/pytest", &format!("#!{}\nimport pytest\n", bin.join("python").display()));
        symlink("python3", bin.join("python")).expect("links");
        symlink("/usr/bin/true", bin.join("python3")).expect("links");
        let (inputs, imports) = tree.inputs(&["pytest", "-q"], &[bin, "/usr/bin".into()]);
        assert_eq!(inputs, [".venv/bin/pytest", ".venv/bin/python", ".venv/bin/python3"]);
        assert_eq!(imports, ["**/.eggs", "**/__pypackages__", ".venv"]);
    }

    #[test]
    fn a_place_of_the_tree_that_is_asked_first_is_an_input_before_anything_is_there() {
        let tree = Tree::new();
        let search = [tree.root().join("bin"), "/usr/bin".into(), "/bin".into(), tree.root().join("later")];
        assert_eq!(tree.inputs(&["sh"], &search).0, ["bin/sh"]);
        assert_eq!(tree.inputs(&["node_modules/.bin/mocha"], &[]).0, ["node_modules/.bin/mocha"]);
    }

    /// The imports of a gate with an unknown program.
    fn anything() -> Vec<String> {
        let patterns =
            probity_policy::any_imports().into_iter().map(|it| String::from_utf8(it).expect("text"));
        patterns.chain(["odd".to_owned()]).collect::<BTreeSet<_>>().into_iter().collect()
    }

    #[test]
    fn node_programs_import_packages_by_name_or_by_their_interpreter() {
        let tree = Tree::new();
        tree.program("check.js", "#!/usr/bin/env -S node --test\n");
        let (inputs, imports) = tree.inputs(&["./check.js"], &[]);
        assert_eq!(inputs, ["check.js"]);
        assert!(
            imports.contains(&"**/node_modules".to_owned()) && !imports.contains(&"**/vendor".to_owned())
        );
        assert_eq!(tree.inputs(&["mocha"], &[]).1, imports);
    }

    #[test]
    fn a_wrapper_hides_no_program() {
        let tree = Tree::new();
        tree.program("vendor/bin/phpunit", "#!/usr/bin/env php\n");
        let bare = tree.inputs(&["vendor/bin/phpunit"], &[]);
        assert_eq!(bare, (vec!["vendor/bin/phpunit".into()], vec!["**/vendor".into()]));
        for wrapper in ["env A=1", "timeout 60", "nice -n 5", "nohup", "stdbuf -oL", "setsid", "xargs -n 1"] {
            let run: Vec<&str> = wrapper.split(' ').chain(["vendor/bin/phpunit"]).collect();
            assert_eq!(tree.inputs(&run, &[]), bare, "{wrapper}");
        }
        assert!(tree.inputs(&["uv", "run", "mocha"], &[]).1.contains(&"**/node_modules".to_owned()));
    }

    #[test]
    fn what_starts_anything_may_import_from_everywhere() {
        let tree = Tree::new();
        tree.program("check.sh", "#!/bin/sh\n");
        tree.program("pytest", "#!/usr/bin/env bash\n");
        for run in [
            &["make", "test"][..],
            &["npm", "test"],
            &["sh", "-c", "true"],
            &["env", "A=1", "bash", "-lc", "true"],
            &["./check.sh"],
            &["./pytest"],
            &["./program-of-nobody"],
            &["timeout", "60", "tox"],
        ] {
            assert_eq!(tree.inputs(run, &[]).1, anything(), "{run:?}");
        }
        for run in [&["cargo", "test"][..], &["true"], &["timeout", "9", "go", "test", "./..."]] {
            assert_eq!(tree.inputs(run, &[]).1, Vec::<String>::new(), "{run:?}");
        }
    }

    #[test]
    fn the_files_that_a_shell_script_names_are_inputs() {
        let tree = Tree::new();
        tree.program("tools/check.sh", "");
        assert_eq!(
            tree.inputs(&["sh", "-c", "cd . && ./tools/check.sh --fast;true"], &[]).0,
            ["tools/check.sh"]
        );
    }

    #[test]
    fn places_where_a_python_script_looks_first_are_inputs() {
        let tree = Tree::new();
        tree.program("tools/check.py", "import json, rules\nfrom shop.pay import total\n");
        tree.program("tools/run", "#!/usr/bin/env python3\nimport rules\n");
        assert_eq!(
            tree.inputs(&["python3", "tools/check.py"], &[]).0,
            ["tools/check.py", "tools/json", "tools/rules", "tools/shop"]
        );
        assert_eq!(tree.inputs(&["tools/run"], &[]).0, ["tools/rules", "tools/run"]);
        assert_eq!(tree.inputs(&["sh", "-c", "python3 -m tools.check"], &[]).0, ["json", "rules", "shop"]);
    }

    #[test]
    fn links_in_a_circle_end() {
        let tree = Tree::new();
        symlink("b", tree.root().join("a")).expect("links");
        symlink("a", tree.root().join("b")).expect("links");
        assert_eq!(tree.inputs(&["./a"], &[]).0, ["a", "b"]);
    }
}
