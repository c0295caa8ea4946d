//! Parses a POSIX shell command line, with the extensions of bash that agents write: here-documents, process
//! substitution, `[[ … ]]`, arithmetic, functions.
//!
//! The parser keeps what decides about writes: words with their quoting, redirections, and the structure that separates
//! commands. A line that it cannot parse is an error, never an empty script.

use std::cell::OnceCell;
use std::rc::Rc;

/// The deepest nesting of commands and substitutions.
const MAX_NESTING: usize = 40;

/// A list of pipelines in the order in which they run.
#[derive(Debug, Clone, Default)]
pub(super) struct Script(pub(super) Vec<Vec<Command>>);

#[derive(Debug, Clone)]
pub(super) enum Command {
    Simple { assignments: Vec<Assignment>, words: Vec<Word>, redirects: Vec<Redirect> },
    Compound { body: CompoundCommand, redirects: Vec<Redirect> },
}

#[derive(Debug, Clone)]
pub(super) enum CompoundCommand {
    Group(Script),
    Subshell(Script),
    /// `for NAME in WORDS`, with `None` for the positional parameters.
    For {
        name: String,
        words: Option<Vec<Word>>,
        body: Script,
    },
    /// The parts of `if`, `while`, `until` and `case`, each of which may run.
    Branches {
        words: Vec<Word>,
        parts: Vec<Script>,
    },
    Function {
        name: String,
        body: Box<Command>,
    },
    /// `[[ … ]]` and `(( … ))`: only substitutions in it have effects.
    Expression(Vec<Word>),
}

/// `NAME=value`, `NAME[0]=value`, `NAME+=value` or `NAME=( … )`.
#[derive(Debug, Clone)]
pub(super) struct Assignment {
    /// The name of the variable, with its subscript.
    pub(super) name: String,
    pub(super) value: AssignedValue,
    /// Whether the value is added to the one before.
    pub(super) appends: bool,
}

#[derive(Debug, Clone)]
pub(super) enum AssignedValue {
    Text(Word),
    List(Vec<Word>),
}

/// The pieces of a word before expansion.
#[derive(Debug, Clone, Default)]
pub(super) struct Word(pub(super) Vec<WordPiece>);

#[derive(Debug, Clone)]
pub(super) enum WordPiece {
    Text {
        text: String,
        quoted: bool,
    },
    /// A variable, an element of a list (`name[0]`), all of them (`name[@]`) or a positional parameter.
    Variable {
        name: String,
        quoted: bool,
    },
    /// `${name%.bak}` and the like.
    EditedVariable {
        name: String,
        quoted: bool,
        edit: ParameterEdit,
    },
    /// `$(…)` and backticks.
    Substitution {
        script: Script,
        quoted: bool,
    },
    /// `<(…)` and `>(…)`.
    Process(Script),
    /// A value that is not known, with the commands that run to compute it.
    Unknown(Vec<Script>),
}

/// How `${…}` edits the value of a variable. Texts are literal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ParameterEdit {
    /// `${name#text}`, and `${name#*text}` with `##` for the longest match.
    RemovePrefix { text: String, has_wildcard: bool, is_longest: bool },
    /// `${name%text}`, and `${name%text*}` with `%%` for the longest match.
    RemoveSuffix { text: String, has_wildcard: bool, is_longest: bool },
    /// `${name/from/to}`, and `//` for all.
    Replace { from: String, to: String, is_all: bool },
    /// `${name:start:length}`.
    Cut { start: usize, length: Option<usize> },
    /// `${name,,}`.
    LowerCase,
    /// `${name^^}`.
    UpperCase,
    /// `${name:-text}` and `${name:=text}`: the value, or the text if there is none, which `=` also assigns.
    Default { text: String, assigns: bool },
    /// `${name:?text}`: the value, if it is known.
    Keep,
}

#[derive(Debug, Clone)]
pub(super) enum Redirect {
    /// `>`, `>>`, `>|`, `&>`, `&>>`, `<>`, and `>&` before a name.
    Write(Word),
    Read(Word),
    /// The content of standard input, from `<<` or `<<<`. A here-document is filled in when its lines are read.
    Input(Rc<OnceCell<Word>>),
    /// `2>&1`, `>&-`.
    Duplicate,
}

/// Returns the parsed line, or why it cannot be parsed.
pub(super) fn parse(text: &str) -> Result<Script, String> {
    parse_nested(text, 0)
}

fn parse_nested(text: &str, depth: usize) -> Result<Script, String> {
    let mut parser = Parser { text, at: 0, depth, pending: Vec::new() };
    let script = parser.list(&[])?;
    parser.read_pending_heredocs();
    match parser.peek() {
        None => Ok(script),
        Some(found) => Err(format!("`{found}` is not expected there")),
    }
}

struct PendingHeredoc {
    delimiter: String,
    is_literal: bool,
    strips_tabs: bool,
    body: Rc<OnceCell<Word>>,
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    pending: Vec<PendingHeredoc>,
}

/// Words that end a list where a command could begin.
const CLOSING_WORDS: [&str; 9] = ["then", "fi", "else", "elif", "do", "done", "esac", "}", ";;"];

impl Parser<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let found = self.peek()?;
        self.at += found.len_utf8();
        Some(found)
    }

    fn eat(&mut self, text: &str) -> bool {
        let found = self.rest().starts_with(text);
        if found {
            self.at += text.len();
        }
        found
    }

    /// Skips blanks, line continuations and a comment.
    fn skip_blanks(&mut self) {
        loop {
            if self.eat("\\\n") || self.eat("\\\r\n") {
                continue;
            }
            match self.peek() {
                Some(' ' | '\t' | '\r') => {
                    self.next();
                }
                Some('#') => {
                    while self.peek().is_some_and(|found| found != '\n') {
                        self.next();
                    }
                }
                _ => return,
            }
        }
    }

    /// Skips blanks, newlines and comments, reading here-documents that begin after a newline.
    fn skip_lines(&mut self) {
        loop {
            self.skip_blanks();
            if self.peek() != Some('\n') {
                return;
            }
            self.newline();
        }
    }

    fn newline(&mut self) {
        self.next();
        self.read_pending_heredocs();
    }

    /// Runs `parse` one level deeper.
    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Result<T, String>) -> Result<T, String> {
        if self.depth >= MAX_NESTING {
            return Err("it is nested too deeply".into());
        }
        self.depth += 1;
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    /// Returns the reserved word at this position without consuming it.
    fn reserved_word(&self) -> Option<&str> {
        let rest = self.rest();
        let end = rest.find(|it: char| it.is_whitespace() || ";&|()<>".contains(it)).unwrap_or(rest.len());
        Some(&rest[..end]).filter(|word| !word.is_empty())
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let found = self.reserved_word() == Some(word);
        if found {
            self.at += word.len();
        }
        found
    }

    /// Parses commands up to one of `end`, which is not consumed, or up to `)` or the end of the text.
    fn list(&mut self, end: &[&str]) -> Result<Script, String> {
        self.nested(|parser| {
            let mut script = Script::default();
            loop {
                parser.skip_lines();
                if parser.peek().is_none_or(|found| found == ')') || parser.rest().starts_with(";;") {
                    return Ok(script);
                }
                if let Some(word) = parser.reserved_word() {
                    if end.contains(&word) {
                        return Ok(script);
                    }
                    if CLOSING_WORDS.contains(&word) {
                        return Err(format!("`{word}` is not expected there"));
                    }
                }
                script.0.push(parser.pipeline()?);
                parser.skip_blanks();
                // `&&`, `||`, `;`, `&` and a newline all mean that the next command may run.
                if parser.rest().starts_with(";;") {
                    return Ok(script);
                }
                if !(parser.eat("&&") || parser.eat("||") || parser.eat(";") || parser.eat("&"))
                    && parser.peek().is_some_and(|found| found != '\n' && found != ')')
                    && parser.reserved_word() != Some("}")
                {
                    return Err(format!("`{}` is not expected there", parser.peek().unwrap_or_default()));
                }
            }
        })
    }

    fn pipeline(&mut self) -> Result<Vec<Command>, String> {
        let mut stages = Vec::new();
        loop {
            self.skip_lines();
            while self.eat_word("!") || self.eat_word("time") {
                self.skip_blanks();
                if self.eat_word("-p") {
                    self.skip_blanks();
                }
            }
            stages.push(self.command()?);
            self.skip_blanks();
            if self.rest().starts_with("||") || !(self.eat("|&") || self.eat("|")) {
                return Ok(stages);
            }
        }
    }

    fn command(&mut self) -> Result<Command, String> {
        self.nested(|parser| {
            let body = parser.compound()?;
            match body {
                Some(body @ CompoundCommand::Function { .. }) => {
                    Ok(Command::Compound { body, redirects: Vec::new() })
                }
                Some(body) => {
                    let redirects = parser.redirects()?;
                    Ok(Command::Compound { body, redirects })
                }
                None => parser.simple(),
            }
        })
    }

    fn compound(&mut self) -> Result<Option<CompoundCommand>, String> {
        if self.rest().starts_with("((")
            && let Some(body) = self.arithmetic("((")?
        {
            return Ok(Some(CompoundCommand::Expression(vec![Word(body)])));
        }
        if self.eat("(") {
            let script = self.list(&[])?;
            return self.closed(")", CompoundCommand::Subshell(script));
        }
        let Some(word) = self.reserved_word() else { return Ok(None) };
        let word = word.to_owned();
        match word.as_str() {
            "{" => {
                self.eat("{");
                let script = self.list(&["}"])?;
                self.closed("}", CompoundCommand::Group(script))
            }
            "[[" => self.condition().map(Some),
            "if" => {
                self.eat("if");
                let mut parts = vec![self.list(&["then"])?];
                self.expect("then")?;
                loop {
                    parts.push(self.list(&["fi", "else", "elif"])?);
                    if self.eat_word("elif") {
                        parts.push(self.list(&["then"])?);
                        self.expect("then")?;
                    } else if !self.eat_word("else") {
                        break;
                    }
                }
                self.closed("fi", CompoundCommand::Branches { words: Vec::new(), parts })
            }
            "while" | "until" => {
                self.at += word.len();
                let condition = self.list(&["do"])?;
                self.expect("do")?;
                let body = self.list(&["done"])?;
                let parts = vec![condition, body];
                self.closed("done", CompoundCommand::Branches { words: Vec::new(), parts })
            }
            "for" | "select" => self.for_loop(&word).map(Some),
            "case" => self.case().map(Some),
            "function" => {
                self.eat("function");
                self.skip_blanks();
                let name = self.name();
                self.skip_blanks();
                if self.eat("(") {
                    self.skip_blanks();
                    self.expect(")")?;
                }
                self.function(name).map(Some)
            }
            "coproc" => {
                self.eat("coproc");
                self.skip_blanks();
                let command = self.command()?;
                Ok(Some(CompoundCommand::Subshell(Script(vec![vec![command]]))))
            }
            _ => self.function_definition(),
        }
    }

    /// Parses `NAME () command`; `None`, consuming nothing, if this is something else.
    fn function_definition(&mut self) -> Result<Option<CompoundCommand>, String> {
        let start = self.at;
        let name = self.name();
        self.skip_blanks();
        if !name.is_empty() && self.eat("(") {
            self.skip_blanks();
            if self.eat(")") {
                return self.function(name).map(Some);
            }
        }
        self.at = start;
        Ok(None)
    }

    fn function(&mut self, name: String) -> Result<CompoundCommand, String> {
        self.skip_lines();
        let body = Box::new(self.command()?);
        Ok(CompoundCommand::Function { name, body })
    }

    fn name(&mut self) -> String {
        let rest = self.rest();
        let end = rest.find(|it: char| !(it.is_alphanumeric() || "_-.:".contains(it))).unwrap_or(rest.len());
        let name = rest[..end].to_owned();
        self.at += end;
        name
    }

    fn for_loop(&mut self, word: &str) -> Result<CompoundCommand, String> {
        self.at += word.len();
        self.skip_blanks();
        if self.rest().starts_with("((") {
            let head = self.arithmetic("((")?.ok_or("`((` has no `))`")?;
            self.skip_blanks();
            self.eat(";");
            self.skip_lines();
            self.expect("do")?;
            let body = self.list(&["done"])?;
            self.expect("done")?;
            return Ok(CompoundCommand::Branches { words: vec![Word(head)], parts: vec![body] });
        }
        let name = self.name();
        self.skip_lines();
        let mut words = None;
        if self.eat_word("in") {
            let mut listed = Vec::new();
            loop {
                self.skip_blanks();
                match self.word()? {
                    Some(word) => listed.push(word),
                    None => break,
                }
            }
            words = Some(listed);
        }
        self.skip_blanks();
        self.eat(";");
        self.skip_lines();
        self.expect("do")?;
        let body = self.list(&["done"])?;
        self.expect("done")?;
        Ok(CompoundCommand::For { name, words, body })
    }

    fn case(&mut self) -> Result<CompoundCommand, String> {
        self.eat("case");
        self.skip_blanks();
        let mut words = vec![self.word()?.ok_or("`case` has no word")?];
        self.skip_lines();
        self.expect("in")?;
        let mut parts = Vec::new();
        loop {
            self.skip_lines();
            if self.eat_word("esac") {
                return Ok(CompoundCommand::Branches { words, parts });
            }
            self.eat("(");
            loop {
                self.skip_blanks();
                words.push(self.word()?.ok_or("a pattern of `case` is missing")?);
                self.skip_blanks();
                if !self.eat("|") {
                    break;
                }
            }
            self.expect(")")?;
            parts.push(self.list(&["esac"])?);
            if !(self.eat(";;&") || self.eat(";;") || self.eat(";&")) {
                self.skip_lines();
                self.expect("esac")?;
                return Ok(CompoundCommand::Branches { words, parts });
            }
        }
    }

    /// Parses `[[ … ]]`, in which `<`, `>`, `&&` and parentheses are operators of the condition.
    fn condition(&mut self) -> Result<CompoundCommand, String> {
        self.eat("[[");
        let mut words = Vec::new();
        loop {
            self.skip_lines();
            if self.eat_word("]]") {
                return Ok(CompoundCommand::Expression(words));
            }
            match self.peek() {
                None => return Err("`[[` has no `]]`".into()),
                Some('<' | '>' | '&' | '|' | '(' | ')' | ';') => {
                    self.next();
                }
                Some(_) => words.extend(self.word()?),
            }
        }
    }

    fn expect(&mut self, text: &str) -> Result<(), String> {
        self.skip_blanks();
        let found = if text == ")" { self.eat(text) } else { self.eat_word(text) };
        if found { Ok(()) } else { Err(format!("`{text}` is missing")) }
    }

    fn closed(&mut self, end: &str, body: CompoundCommand) -> Result<Option<CompoundCommand>, String> {
        self.expect(end).map(|()| Some(body))
    }

    fn simple(&mut self) -> Result<Command, String> {
        let (mut assignments, mut words, mut redirects) = (Vec::new(), Vec::new(), Vec::new());
        loop {
            self.skip_blanks();
            if let Some(redirect) = self.redirect()? {
                redirects.push(redirect);
                continue;
            }
            if words.is_empty()
                && let Some(assignment) = self.assignment()?
            {
                assignments.push(assignment);
                continue;
            }
            match self.word()? {
                Some(word) => words.push(word),
                None => break,
            }
        }
        if assignments.is_empty() && words.is_empty() && redirects.is_empty() {
            return Err(match self.peek() {
                Some(found) => format!("`{found}` is not expected there"),
                None => "it ends where a command is expected".into(),
            });
        }
        Ok(Command::Simple { assignments, words, redirects })
    }

    fn assignment(&mut self) -> Result<Option<Assignment>, String> {
        let rest = self.rest();
        let mut end = rest.find(|it: char| !(it.is_ascii_alphanumeric() || it == '_')).unwrap_or(rest.len());
        let starts_as_name = rest.bytes().next().is_some_and(|byte| !byte.is_ascii_digit()) && end > 0;
        end += subscript_length(&rest[end..]);
        let name = rest[..end].to_owned();
        let after = &rest[end..];
        let operator = if after.starts_with("+=") { 2 } else { usize::from(after.starts_with('=')) };
        if !starts_as_name || operator == 0 {
            return Ok(None);
        }
        self.at += end + operator;
        let appends = operator == 2;
        if self.eat("(") {
            let mut words = Vec::new();
            loop {
                self.skip_lines();
                if self.eat(")") {
                    return Ok(Some(Assignment { name, value: AssignedValue::List(words), appends }));
                }
                words.push(self.word()?.ok_or("`(` of a list has no `)`")?);
            }
        }
        let value = AssignedValue::Text(self.word()?.unwrap_or_default());
        Ok(Some(Assignment { name, value, appends }))
    }
}

/// Returns the length of a subscript such as `[0]` or `[@]` at the start of a text.
fn subscript_length(text: &str) -> usize {
    let Some(inner) = text.strip_prefix('[') else { return 0 };
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_@*-".contains(&byte);
    match inner.find(']') {
        Some(end) if end > 0 && inner.as_bytes()[..end].iter().all(|byte| is_plain(*byte)) => end + 2,
        _ => 0,
    }
}

mod pieces;
pub(super) use pieces::escaped_char;
mod redirects;
