//! Reads the programs of `sed` and `awk`: the files that they write by name, and the commands that they run.

use std::collections::BTreeMap;

/// What a program writes and runs, as far as it shows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct FilterEffects {
    pub(super) targets: Vec<String>,
    /// Shell command lines.
    pub(super) commands: Vec<String>,
    /// Whether it writes or runs what the program does not name, or cannot be read.
    pub(super) is_unproven: bool,
}

/// Returns the effects of a sed script: `w FILE`, `s/…/…/w FILE`, `e`.
pub(super) fn sed_effects(script: &str) -> FilterEffects {
    let mut effects = FilterEffects::default();
    let mut reader =
        ScriptReader { chars: script.chars().collect(), at: 0, variables: FilterVariables::new() };
    if reader.sed_commands(&mut effects).is_none() {
        effects.is_unproven = true;
    }
    effects
}

/// Returns the effects of an awk program: `print > "FILE"`, `print | "COMMAND"`, `"COMMAND" | getline`, `system("COMMAND")`.
pub(super) fn awk_effects(program: &str, variables: &FilterVariables) -> FilterEffects {
    let mut effects = FilterEffects::default();
    let mut reader = ScriptReader { chars: program.chars().collect(), at: 0, variables: variables.clone() };
    reader.awk_program(&mut effects);
    effects
}

/// The variables that the command line of `awk` sets.
pub(super) type FilterVariables = BTreeMap<String, String>;

struct ScriptReader {
    chars: Vec<char>,
    at: usize,
    variables: FilterVariables,
}

impl ScriptReader {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let found = self.peek();
        self.at += usize::from(found.is_some());
        found
    }

    fn skip(&mut self, is_skipped: impl Fn(char) -> bool) {
        while self.peek().is_some_and(&is_skipped) {
            self.at += 1;
        }
    }

    fn take_line(&mut self) -> String {
        let start = self.at;
        self.skip(|it| it != '\n');
        self.chars[start..self.at].iter().collect::<String>().trim().to_owned()
    }

    /// Reads up to the delimiter, which a backslash escapes; `None` if it does not come.
    fn skip_past(&mut self, delimiter: char) -> Option<()> {
        let mut in_class = false;
        while let Some(found) = self.next() {
            match found {
                '\\' => {
                    self.next();
                }
                '[' if !in_class => {
                    in_class = true;
                    // A bracket that comes first stands for itself.
                    if self.peek() == Some('^') {
                        self.next();
                    }
                    if self.peek() == Some(']') {
                        self.next();
                    }
                }
                ']' => in_class = false,
                _ if found == delimiter && !in_class => return Some(()),
                _ => {}
            }
        }
        None
    }

    /// Like [`Self::skip_past`] for a text in which brackets mean nothing.
    fn skip_text_past(&mut self, delimiter: char) -> Option<()> {
        loop {
            match self.next()? {
                '\\' => {
                    self.next();
                }
                found if found == delimiter => return Some(()),
                _ => {}
            }
        }
    }

    /// Reads the commands of a sed script; `None` if one is not known.
    fn sed_commands(&mut self, effects: &mut FilterEffects) -> Option<()> {
        loop {
            self.skip(|it| it.is_whitespace() || it == ';');
            if self.peek().is_none() {
                return Some(());
            }
            self.sed_address()?;
            match self.next()? {
                '{' | '}' | '=' | 'd' | 'D' | 'g' | 'G' | 'h' | 'H' | 'n' | 'N' | 'p' | 'P' | 'x' | 'z'
                | 'F' => {}
                'q' | 'Q' | 'l' | 'L' => self.skip(|it| it.is_ascii_digit() || it == ' '),
                ':' | 'b' | 't' | 'T' | 'v' => self.skip(|it| !matches!(it, ';' | '\n' | '}')),
                '#' | 'r' | 'R' => {
                    self.take_line();
                }
                'a' | 'i' | 'c' => {
                    // A line that ends with a backslash goes on.
                    while self.take_line().ends_with('\\') && self.next().is_some() {}
                }
                'w' | 'W' => effects.targets.push(self.take_line()),
                'e' => {
                    let command = self.take_line();
                    effects.is_unproven |= command.is_empty();
                    effects.commands.extend(Some(command).filter(|it| !it.is_empty()));
                }
                'y' => {
                    let delimiter = self.next()?;
                    self.skip_text_past(delimiter)?;
                    self.skip_text_past(delimiter)?;
                }
                's' => {
                    let delimiter = self.next()?;
                    self.skip_past(delimiter)?;
                    self.skip_text_past(delimiter)?;
                    self.sed_flags(effects)?;
                }
                _ => return None,
            }
        }
    }

    fn sed_flags(&mut self, effects: &mut FilterEffects) -> Option<()> {
        loop {
            match self.peek() {
                Some('w') => {
                    self.next();
                    effects.targets.push(self.take_line());
                    return Some(());
                }
                // The result of the substitution is run.
                Some('e') => effects.is_unproven = true,
                Some('g' | 'p' | 'i' | 'I' | 'm' | 'M' | '0'..='9') => {}
                None | Some(';' | '\n' | '}' | ' ' | '\t' | '#') => return Some(()),
                Some(_) => return None,
            }
            self.next();
        }
    }

    fn sed_address(&mut self) -> Option<()> {
        loop {
            match self.peek()? {
                '/' => {
                    self.next();
                    self.skip_past('/')?;
                    self.skip(|it| matches!(it, 'I' | 'M'));
                }
                '\\' => {
                    self.next();
                    let delimiter = self.next()?;
                    self.skip_past(delimiter)?;
                    self.skip(|it| matches!(it, 'I' | 'M'));
                }
                '0'..='9' | '$' | ',' | '!' | '~' | '+' | ' ' | '\t' => self.at += 1,
                _ => return Some(()),
            }
        }
    }

    fn awk_program(&mut self, effects: &mut FilterEffects) {
        let (mut prints, mut depth, mut before) = (false, 0_usize, '\n');
        let mut last_text: Option<String> = None;
        while let Some(found) = self.next() {
            match found {
                ' ' | '\t' => continue,
                '#' => self.skip(|it| it != '\n'),
                '{' | '}' | ';' | '\n' => (prints, depth) = (false, 0),
                '(' => depth += 1,
                ')' => depth = depth.saturating_sub(1),
                '"' => last_text = self.awk_text(),
                // Behind a value it divides.
                '/' if !is_value_end(before) && self.skip_past('/').is_none() => {
                    effects.is_unproven = true;
                    return;
                }
                '>' if prints && depth == 0 => {
                    if self.peek() == Some('>') {
                        self.next();
                    }
                    let target = self.awk_argument("}\n;");
                    effects.is_unproven |= target.is_none();
                    effects.targets.extend(target);
                }
                '|' if self.peek() == Some('|') => self.at += 1,
                '|' => {
                    if self.peek() == Some('&') {
                        self.next();
                    }
                    let command =
                        if prints && depth == 0 { self.awk_argument("}\n;") } else { last_text.clone() };
                    effects.is_unproven |= command.is_none();
                    effects.commands.extend(command);
                }
                _ if found.is_alphabetic() || found == '_' => {
                    let start = self.at - 1;
                    self.skip(|it| it.is_alphanumeric() || it == '_');
                    let word: String = self.chars[start..self.at].iter().collect();
                    prints |= matches!(word.as_str(), "print" | "printf");
                    if word == "system" {
                        self.skip(|it| it == ' ' || it == '(');
                        let command = self.awk_argument(")");
                        effects.is_unproven |= command.is_none();
                        effects.commands.extend(command);
                    }
                    // Behind a keyword stands an expression, so that a slash begins a pattern.
                    before = if matches!(word.as_str(), "print" | "printf" | "return" | "in") {
                        '\n'
                    } else {
                        'a'
                    };
                    continue;
                }
                _ => {}
            }
            before = found;
        }
    }

    /// Reads a text that is the whole argument, up to one of `ends` or the end of the program.
    fn awk_argument(&mut self, ends: &str) -> Option<String> {
        let start = self.at;
        self.skip(|it| it == ' ' || it == '\t');
        let text = match self.next() {
            Some('"') => self.awk_text(),
            Some(first) if first.is_alphabetic() || first == '_' => {
                let name_start = self.at - 1;
                self.skip(|it| it.is_alphanumeric() || it == '_');
                let name: String = self.chars[name_start..self.at].iter().collect();
                self.variables.get(&name).cloned()
            }
            _ => None,
        };
        self.skip(|it| it == ' ' || it == '\t');
        let is_whole = self.peek().is_none_or(|it| ends.contains(it));
        if text.is_none() || !is_whole {
            // What stands there is read as an expression.
            self.at = start;
            return None;
        }
        text
    }

    /// Reads the rest of a text in double quotes.
    fn awk_text(&mut self) -> Option<String> {
        let mut text = String::new();
        loop {
            match self.next()? {
                '"' => return Some(text),
                '\\' => match self.next()? {
                    'n' => text.push('\n'),
                    't' => text.push('\t'),
                    other => text.push(other),
                },
                found => text.push(found),
            }
        }
    }
}

/// Returns whether a value ends with this character, so that a slash behind it divides.
fn is_value_end(found: char) -> bool {
    found.is_alphanumeric() || matches!(found, ')' | ']' | '"' | '_' | '$')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn effects(targets: &[&str], commands: &[&str], is_unproven: bool) -> FilterEffects {
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        FilterEffects { targets: owned(targets), commands: owned(commands), is_unproven }
    }

    #[test]
    fn files_of_a_sed_script_are_its_targets() {
        for (script, targets) in [
            ("s/x/y/w a.txt", &["a.txt"][..]),
            ("1,5w a.txt", &["a.txt"]),
            ("/x/{p;w a.txt\n}", &["a.txt"]),
            ("\\,x,I!W b\ns,[,/],w c,w d", &["b", "d"]),
            ("s/a/b/gw a;b", &["a;b"]),
            ("/w a.txt/p", &[]),
            ("s/old/w new/;s|w|e|", &[]),
            ("$!N;s/\\n/ /;ta;P;D;:a", &[]),
            ("a\\\nw text\np", &[]),
            ("y/we/ew/;10q", &[]),
            ("", &[]),
        ] {
            assert_eq!(sed_effects(script), effects(targets, &[], false), "{script}");
        }
        assert_eq!(sed_effects("1e touch a"), effects(&[], &["touch a"], false));
        for script in ["e", "s/x/y/e", "s/x", "1k"] {
            assert!(sed_effects(script).is_unproven, "{script}");
        }
    }

    #[test]
    fn files_and_commands_of_an_awk_program_are_its_effects() {
        for (program, targets, commands) in [
            ("{print > \"a.txt\"}", &["a.txt"][..], &[][..]),
            ("{ printf \"%s\", $1 >> \"a\" ; print > \"/dev/stderr\" }", &["a", "/dev/stderr"], &[]),
            ("$3 > 100 {print $1}", &[], &[]),
            ("{ print ($1 > \"x\") }", &[], &[]),
            ("/a > \"b\"/ {print}", &[], &[]),
            ("{ print \"a > b\" }", &[], &[]),
            ("{ x = $1 / 2 > 3 || y }", &[], &[]),
            ("BEGIN { system(\"rm a\") }", &[], &["rm a"]),
            ("BEGIN { \"date\" | getline d; print d | \"sort > b\" }", &[], &["date", "sort > b"]),
        ] {
            assert_eq!(
                awk_effects(program, &FilterVariables::new()),
                effects(targets, commands, false),
                "{program}"
            );
        }
        for program in
            ["{print > $1}", "{print > \"out/\" $1}", "{print | cmd}", "{system($0)}", "{cmd | getline x}"]
        {
            assert!(awk_effects(program, &FilterVariables::new()).is_unproven, "{program}");
        }
    }
}
