//! Walks a parsed script and collects what it writes. Every branch counts as taken: the guard asks what may happen.

use super::expansion::{Value, Variables, expand, expand_text, positional, set_list, set_positional};
use super::syntax::{
    AssignedValue, Assignment, Command, CompoundCommand, ParameterEdit, Redirect, Script, Word, WordPiece,
};
use super::{ShellEffects, ShellWorld, ShellWrite, WriteKind, normalize, syntax};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// How many commands are followed; a line with more is not understood.
const MAX_STEPS: usize = 20_000;
/// The deepest chain of function calls, `eval` and `sh -c`.
const MAX_CALL_DEPTH: usize = 30;

/// How many links of one line a path is followed through.
const MAX_LINKS_FOLLOWED: usize = 8;

/// Devices and descriptors: a redirection to them writes no file of the tree.
const HARMLESS_TARGETS: [&str; 9] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/tty",
    "/dev/stdin",
    "/dev/stdout",
    "/dev/stderr",
    "/dev/random",
    "/dev/urandom",
];

/// The standard input of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CommandInput {
    Inherited,
    Text(String),
    /// Names of files at or below these paths, one a line.
    Paths(Vec<Value>),
    /// A file or the output of another command.
    Unknown,
}

/// The state of one shell process.
#[derive(Debug, Clone)]
pub(super) struct ShellState {
    /// `None` if the line does not show it.
    pub(super) cwd: Option<String>,
    pub(super) stack: Vec<Option<String>>,
    pub(super) variables: Variables,
    functions: BTreeMap<String, Rc<Command>>,
    /// The variables that others stand for (`declare -n`), by their names.
    pub(super) references: BTreeMap<String, String>,
    pub(super) aliases: BTreeMap<String, String>,
}

pub(super) struct Interpreter<'w> {
    pub(super) world: &'w dyn ShellWorld,
    pub(super) effects: ShellEffects,
    /// Directories that the line creates.
    created: BTreeSet<String>,
    /// Links that the line makes, with the absolute paths that they lead to.
    links: BTreeMap<String, String>,
    /// The program that is followed, as it is called; empty outside of programs.
    program_name: String,
    steps: usize,
    depth: usize,
}

pub(super) type StepResult = Result<(), String>;

pub(super) fn run(script: &Script, cwd: &str, world: &dyn ShellWorld) -> Result<ShellEffects, String> {
    let cwd = normalize("/", cwd);
    let variables = [("HOME", world.home()), ("PWD", &cwd)]
        .map(|(name, value)| (name.to_owned(), vec![Value::Known(value.to_owned())]));
    let mut state = ShellState {
        cwd: Some(cwd.clone()),
        stack: Vec::new(),
        variables: variables.into(),
        functions: BTreeMap::new(),
        references: BTreeMap::new(),
        aliases: BTreeMap::new(),
    };
    let mut interpreter = Interpreter {
        world,
        effects: ShellEffects::default(),
        created: BTreeSet::new(),
        links: BTreeMap::new(),
        program_name: String::new(),
        steps: 0,
        depth: 0,
    };
    interpreter.script(script, &mut state, &CommandInput::Inherited)?;
    let mut effects = interpreter.effects;
    effects.writes.sort();
    effects.writes.dedup();
    effects.bare_interpreters.dedup();
    effects.unproven_programs.sort();
    effects.unproven_programs.dedup();
    Ok(effects)
}

impl Interpreter<'_> {
    pub(super) fn script(
        &mut self,
        script: &Script,
        state: &mut ShellState,
        input: &CommandInput,
    ) -> StepResult {
        script.0.iter().try_for_each(|pipeline| self.pipeline(pipeline, state, input))
    }

    fn pipeline(&mut self, stages: &[Command], state: &mut ShellState, input: &CommandInput) -> StepResult {
        if let [only] = stages {
            return self.command(only, state, input);
        }
        let mut input = input.clone();
        for stage in stages {
            self.command(stage, &mut state.clone(), &input)?;
            input = self.stage_output(stage, state, &input)?;
        }
        Ok(())
    }

    pub(super) fn command(
        &mut self,
        command: &Command,
        state: &mut ShellState,
        input: &CommandInput,
    ) -> StepResult {
        self.step()?;
        match command {
            Command::Simple { assignments, words, redirects } => {
                let input = self.redirects(redirects, state, input)?;
                self.simple(assignments, words, state, &input)
            }
            Command::Compound { body, redirects } => {
                let input = self.redirects(redirects, state, input)?;
                self.compound(body, state, &input)
            }
        }
    }

    fn compound(
        &mut self,
        body: &CompoundCommand,
        state: &mut ShellState,
        input: &CommandInput,
    ) -> StepResult {
        match body {
            CompoundCommand::Group(script) => self.script(script, state, input),
            CompoundCommand::Subshell(script) => self.script(script, &mut state.clone(), input),
            CompoundCommand::For { name, words, body } => {
                let mut values = Vec::new();
                for word in words.iter().flatten() {
                    values.extend(self.expand(word, state)?);
                }
                if words.is_none() {
                    let parameters = positional(&state.variables);
                    values.extend(parameters.map_or_else(|| vec![Value::Unknown], <[Value]>::to_vec));
                }
                state.variables.insert(name.clone(), values);
                self.script(body, state, input)
            }
            CompoundCommand::Branches { words, parts } => {
                self.words_run(words, state)?;
                parts.iter().try_for_each(|part| self.script(part, state, input))
            }
            CompoundCommand::Function { name, body } => {
                state.functions.insert(name.clone(), Rc::new((**body).clone()));
                Ok(())
            }
            CompoundCommand::Expression(words) => self.words_run(words, state),
        }
    }

    /// Runs the substitutions of words whose values do not matter.
    fn words_run(&mut self, words: &[Word], state: &ShellState) -> StepResult {
        words.iter().try_for_each(|word| self.substitutions(word, state))
    }

    fn substitutions(&mut self, word: &Word, state: &ShellState) -> StepResult {
        let scripts = word.scripts();
        scripts
            .iter()
            .try_for_each(|script| self.script(script, &mut state.clone(), &CommandInput::Inherited))
    }

    pub(super) fn expand(&mut self, word: &Word, state: &ShellState) -> Result<Vec<Value>, String> {
        self.substitutions(word, state)?;
        let (word, variables) = self.resolved(word, state)?;
        Ok(expand(&word, &variables, self.world.home()))
    }

    /// Like [`Self::expand`] for the value of an assignment or a here-document.
    pub(super) fn expand_text(&mut self, word: &Word, state: &ShellState) -> Result<Vec<Value>, String> {
        self.substitutions(word, state)?;
        let (word, variables) = self.resolved(word, state)?;
        Ok(expand_text(&word, &variables, self.world.home()))
    }

    /// Replaces substitutions whose output the line shows by variables that hold it.
    fn resolved<'a>(
        &mut self,
        word: &'a Word,
        state: &'a ShellState,
    ) -> Result<(Cow<'a, Word>, Cow<'a, Variables>), String> {
        let (mut word, mut variables) = (Cow::Borrowed(word), Cow::Borrowed(&state.variables));
        for index in 0..word.0.len() {
            let WordPiece::Substitution { script, quoted } = &word.0[index] else { continue };
            let (script, quoted) = (script.clone(), *quoted);
            let values = match self.script_output(&script, state)? {
                CommandInput::Text(output) => vec![Value::Known(output.trim_end_matches('\n').to_owned())],
                CommandInput::Paths(paths) => paths,
                CommandInput::Inherited | CommandInput::Unknown => continue,
            };
            // No variable of a script has such a name.
            let name = format!("$({index})");
            variables.to_mut().insert(name.clone(), values);
            word.to_mut().0[index] = WordPiece::Variable { name, quoted };
        }
        Ok((word, variables))
    }

    /// Counts one more command.
    pub(super) fn step(&mut self) -> StepResult {
        self.steps += 1;
        if self.steps > MAX_STEPS {
            return Err("it runs more commands than Probity follows".into());
        }
        Ok(())
    }

    pub(super) fn redirects(
        &mut self,
        redirects: &[Redirect],
        state: &ShellState,
        input: &CommandInput,
    ) -> Result<CommandInput, String> {
        let mut input = input.clone();
        for redirect in redirects {
            match redirect {
                Redirect::Write(word) => {
                    let is_process = matches!(word.0.as_slice(), [WordPiece::Process(_)]);
                    for value in self.expand(word, state)? {
                        if !is_process {
                            self.write(state, &value, WriteKind::Entry);
                        }
                    }
                }
                Redirect::Read(word) => {
                    self.substitutions(word, state)?;
                    input = match word.0.as_slice() {
                        [WordPiece::Process(script)] => self.script_output(script, state)?,
                        _ => CommandInput::Unknown,
                    };
                }
                Redirect::Input(body) => {
                    let Some(word) = body.get() else { continue };
                    let values = self.expand_text(word, state)?;
                    input = match values.as_slice() {
                        [Value::Known(text)] => CommandInput::Text(text.clone()),
                        _ => CommandInput::Unknown,
                    };
                }
                Redirect::Duplicate => {}
            }
        }
        Ok(input)
    }

    fn simple(
        &mut self,
        assignments: &[Assignment],
        words: &[Word],
        state: &mut ShellState,
        input: &CommandInput,
    ) -> StepResult {
        for assignment in assignments {
            // Before a command they are its environment, which the words of the same line do not see.
            let mut environment = (!words.is_empty()).then(|| state.clone());
            self.assign(assignment, environment.as_mut().unwrap_or(state))?;
        }
        let mut argv = Vec::new();
        for word in words {
            argv.extend(self.expand(word, state)?);
            assign_defaults(word, state);
        }
        if let Some(script) = self.process_script(words, state)? {
            return self.run_text(&script, state);
        }
        let separators = assignments.iter().find(|it| it.name == "IFS").filter(|_| !words.is_empty());
        let Some(separators) = separators else { return self.call(&argv, state, input) };
        // The separators are the only part of its environment that a command of the shell follows: `IFS=: read a b`.
        let before = state.variables.get("IFS").cloned();
        self.assign(separators, state)?;
        let done = self.call(&argv, state, input);
        state.variables.remove("IFS");
        state.variables.extend(before.map(|before| ("IFS".to_owned(), before)));
        done
    }

    /// Returns what `. <(…)` and `bash <(…)` run, if the line shows it.
    fn process_script(&mut self, words: &[Word], state: &ShellState) -> Result<Option<String>, String> {
        let [name, script] = words else { return Ok(None) };
        let ([WordPiece::Process(script)], Some("." | "source" | "sh" | "bash" | "dash" | "zsh" | "ksh")) =
            (script.0.as_slice(), name.literal())
        else {
            return Ok(None);
        };
        match self.script_output(script, state)? {
            CommandInput::Text(text) => Ok(Some(text)),
            CommandInput::Paths(_) | CommandInput::Inherited | CommandInput::Unknown => Ok(None),
        }
    }

    /// Parses and runs a text that the line shows.
    pub(super) fn run_text(&mut self, text: &str, state: &mut ShellState) -> StepResult {
        self.evaluate(&Value::Known(text.to_owned()), state)
    }

    fn assign(&mut self, assignment: &Assignment, state: &mut ShellState) -> StepResult {
        let Assignment { name, value, appends } = assignment;
        match value {
            AssignedValue::Text(word) => {
                let mut values = self.expand_text(word, state)?;
                if *appends {
                    values = match (state.variables.get(name).map(Vec::as_slice), values.as_slice()) {
                        (Some([Value::Known(before)]), [Value::Known(added)]) => {
                            vec![Value::Known(format!("{before}{added}"))]
                        }
                        _ => vec![Value::Unknown],
                    };
                }
                if let Some((list, _)) = name.split_once('[') {
                    // The elements as a whole are no longer what was assigned to them.
                    state.variables.remove(&format!("{list}[@]"));
                }
                if let Some(target) = state.references.get(name).cloned() {
                    state.variables.insert(target, values.clone());
                }
                state.variables.insert(name.clone(), values);
            }
            AssignedValue::List(words) => {
                let before = state.variables.get(&format!("{name}[@]")).filter(|_| *appends);
                let mut values = before
                    .cloned()
                    .unwrap_or_else(|| if *appends { vec![Value::Unknown] } else { Vec::new() });
                for word in words {
                    values.extend(self.expand(word, state)?);
                }
                set_list(&mut state.variables, name, values);
            }
        }
        Ok(())
    }

    /// Runs a command given by its words.
    pub(super) fn call(
        &mut self,
        argv: &[Value],
        state: &mut ShellState,
        input: &CommandInput,
    ) -> StepResult {
        let Some((name, words)) = argv.split_first() else { return Ok(()) };
        let Some(name) = name.known() else {
            self.note_unproven();
            return Ok(());
        };
        if let Some(function) = state.functions.get(name).cloned() {
            let before = positional(&state.variables).map(<[Value]>::to_vec);
            set_positional(&mut state.variables, Some(words));
            let done = self.deeper(|shell| shell.command(&function, state, input));
            set_positional(&mut state.variables, before.as_deref());
            return done;
        }
        if let Some(text) = state.aliases.remove(name) {
            let done = self.call_alias(&text, words, state, input);
            state.aliases.insert(name.to_owned(), text);
            return done;
        }
        // `./script.sh` is a program of the tree; a known program is known by its name.
        let program = name.rsplit('/').next().unwrap_or(name).to_owned();
        // Where an absolute path lies is the user's own business.
        let shown = if name.starts_with('/') { &program } else { name };
        let outer = std::mem::replace(&mut self.program_name, shown.to_owned());
        let done = self.deeper(|shell| shell.program(&program, name, words, state, input));
        self.program_name = outer;
        done
    }

    /// Records that the line does not show what the program that is followed writes.
    pub(super) fn note_unproven(&mut self) {
        let name = if self.program_name.is_empty() { "the shell" } else { &self.program_name };
        self.effects.unproven_programs.push(name.to_owned());
    }

    /// Runs the text of an alias with the words behind it.
    fn call_alias(
        &mut self,
        text: &str,
        words: &[Value],
        state: &mut ShellState,
        input: &CommandInput,
    ) -> StepResult {
        let script = syntax::parse(text)?;
        if let [pipeline] = script.0.as_slice()
            && let [Command::Simple { assignments, words: own, redirects }] = pipeline.as_slice()
            && assignments.is_empty()
        {
            let input = self.redirects(redirects, state, input)?;
            let mut argv = Vec::new();
            for word in own {
                argv.extend(self.expand(word, state)?);
            }
            argv.extend(words.iter().cloned());
            return self.deeper(|shell| shell.call(&argv, state, &input));
        }
        self.deeper(|shell| shell.script(&script, state, input))
    }

    pub(super) fn deeper(&mut self, work: impl FnOnce(&mut Self) -> StepResult) -> StepResult {
        if self.depth >= MAX_CALL_DEPTH {
            return Err("its calls are nested too deeply".into());
        }
        self.depth += 1;
        let done = work(self);
        self.depth -= 1;
        done
    }

    /// Parses and runs a text as `eval` does.
    pub(super) fn evaluate(&mut self, text: &Value, state: &mut ShellState) -> StepResult {
        let Some(text) = text.known() else {
            self.note_unproven();
            return Ok(());
        };
        let script = syntax::parse(text)?;
        self.deeper(|shell| shell.script(&script, state, &CommandInput::Inherited))
    }

    /// Returns the absolute path of a value; `None` if the line does not show it.
    pub(super) fn path(state: &ShellState, value: &Value) -> Option<String> {
        let (Value::Known(text) | Value::Pattern(text) | Value::Below(text)) = value else { return None };
        if text.is_empty() {
            return None;
        }
        match &state.cwd {
            Some(cwd) => Some(normalize(cwd, text)),
            None if text.starts_with('/') => Some(normalize("/", text)),
            None => None,
        }
    }

    /// Records a write to a value; a target that the line does not show makes it unproven.
    pub(super) fn write(&mut self, state: &ShellState, value: &Value, kind: WriteKind) {
        if value.known() == Some("") {
            return;
        }
        let Some(path) = Self::path(state, value) else {
            self.note_unproven();
            return;
        };
        let is_device = HARMLESS_TARGETS.contains(&path.as_str())
            || path.starts_with("/dev/fd/")
            || path.starts_with("/dev/pts/")
            || path.starts_with("/proc/self/fd/");
        if is_device {
            return;
        }
        if kind == WriteKind::Directory {
            self.created.insert(path.clone());
        }
        let kind = match value {
            Value::Pattern(_) => WriteKind::Pattern,
            Value::Below(_) if self.world.is_directory(&path) => WriteKind::Subtree,
            Value::Below(_) | Value::Known(_) | Value::Unknown => kind,
        };
        if let Some(target) = self.link_target(&path) {
            // What replaces or removes a link leaves its target alone; what is below a link is certainly not.
            let kind = if self.links.contains_key(&path) { WriteKind::Alias } else { kind };
            self.effects.writes.push(ShellWrite { path: target, kind });
        }
        self.effects.writes.push(ShellWrite { path, kind });
    }

    /// Records a link that the line makes.
    pub(super) fn link(&mut self, state: &ShellState, link: &Value, target: &Value) {
        if let (Some(link), Some(target)) = (Self::path(state, link), Self::path(state, target))
            && link != target
        {
            self.links.insert(link, target);
        }
    }

    /// Returns where a path leads through the links that the line makes; `None` if it passes none.
    fn link_target(&self, path: &str) -> Option<String> {
        let mut found = None;
        for _ in 0..MAX_LINKS_FOLLOWED {
            let current = found.as_deref().unwrap_or(path);
            let next = self.links.iter().find_map(|(link, target)| {
                let rest = current.strip_prefix(link.as_str())?;
                (rest.is_empty() || rest.starts_with('/')).then(|| format!("{target}{rest}"))
            });
            match next {
                Some(next) => found = Some(next),
                None => break,
            }
        }
        found
    }

    /// Returns whether a value names an existing directory, or one that the line creates.
    pub(super) fn is_directory(&self, state: &ShellState, value: &Value) -> bool {
        let Value::Known(_) = value else { return false };
        Self::path(state, value).is_some_and(|path| {
            let path = self.link_target(&path).unwrap_or(path);
            self.created.contains(&path) || self.world.is_directory(&path)
        })
    }

    /// Changes the directory. A directory that does not exist leaves the shell where it is.
    pub(super) fn change_directory(&self, state: &mut ShellState, target: Option<Value>) {
        let target = target.unwrap_or_else(|| Value::Known(self.world.home().to_owned()));
        let is_there = self.is_directory(state, &target);
        match (&target, is_there) {
            (Value::Known(_), true) => {
                state.cwd = Self::path(state, &target).map(|path| self.link_target(&path).unwrap_or(path));
            }
            (Value::Known(_), false) => {}
            (Value::Pattern(_) | Value::Below(_) | Value::Unknown, _) => state.cwd = None,
        }
        let pwd = state.cwd.clone().map_or(Value::Unknown, Value::Known);
        let before = state.variables.insert("PWD".into(), vec![pwd]);
        state.variables.insert("OLDPWD".into(), before.unwrap_or_else(|| vec![Value::Unknown]));
    }
}

/// Carries out the assignments of `${name:=text}` in a word.
fn assign_defaults(word: &Word, state: &mut ShellState) {
    for piece in &word.0 {
        if let WordPiece::EditedVariable {
            name, edit: ParameterEdit::Default { text, assigns: true }, ..
        } = piece
            && !state.variables.contains_key(name)
        {
            // The environment may have it.
            let values = vec![Value::Unknown, Value::Known(text.clone())];
            state.variables.insert(name.clone(), values);
        }
    }
}
