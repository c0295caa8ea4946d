//! Parses words: quotes, variables, substitutions and arithmetic.

use super::{ParameterEdit, Parser, Script, Word, WordPiece, parse_nested, subscript_length};

impl Word {
    /// Returns the text of a word that consists of one piece of text.
    pub(crate) fn literal(&self) -> Option<&str> {
        match self.0.as_slice() {
            [WordPiece::Text { text, .. }] => Some(text),
            _ => None,
        }
    }

    /// Returns the text of a word without variables and substitutions.
    pub(crate) fn text(&self) -> Option<String> {
        self.0
            .iter()
            .map(|piece| if let WordPiece::Text { text, .. } = piece { Some(text.as_str()) } else { None })
            .collect()
    }

    /// Returns the commands that run when the word is expanded.
    pub(crate) fn scripts(&self) -> Vec<Script> {
        let mut scripts = Vec::new();
        for piece in &self.0 {
            match piece {
                WordPiece::Substitution { script, .. } | WordPiece::Process(script) => {
                    scripts.push(script.clone());
                }
                WordPiece::Unknown(inner) => scripts.extend(inner.iter().cloned()),
                WordPiece::Text { .. } | WordPiece::Variable { .. } | WordPiece::EditedVariable { .. } => {}
            }
        }
        scripts
    }
}

fn push_char(pieces: &mut Vec<WordPiece>, found: char, is_quoted: bool) {
    push_text(pieces, found.encode_utf8(&mut [0; 4]), is_quoted);
}

fn push_text(pieces: &mut Vec<WordPiece>, added: &str, is_quoted: bool) {
    match pieces.last_mut() {
        Some(WordPiece::Text { text, quoted }) if *quoted == is_quoted => text.push_str(added),
        _ => pieces.push(WordPiece::Text { text: added.to_owned(), quoted: is_quoted }),
    }
}

/// Parses what stands behind the name in `${name…}`; `None` if it is not a simple edit with literal texts.
fn parameter_edit(text: &str) -> Option<ParameterEdit> {
    let is_literal = |text: &str| !text.contains(['$', '`', '\\', '\'', '"', '*', '?', '[', '{']);
    let literal = |text: &str| is_literal(text).then(|| text.to_owned());
    let operator = |long: &'static str, short: &'static str| {
        let longest = text.strip_prefix(long).map(|rest| (rest, true));
        longest.or_else(|| text.strip_prefix(short).map(|rest| (rest, false)))
    };
    if let Some((pattern, is_longest)) = operator("##", "#") {
        let (pattern, has_wildcard) = pattern.strip_prefix('*').map_or((pattern, false), |it| (it, true));
        return Some(ParameterEdit::RemovePrefix { text: literal(pattern)?, has_wildcard, is_longest });
    }
    if let Some((pattern, is_longest)) = operator("%%", "%") {
        let (pattern, has_wildcard) = pattern.strip_suffix('*').map_or((pattern, false), |it| (it, true));
        return Some(ParameterEdit::RemoveSuffix { text: literal(pattern)?, has_wildcard, is_longest });
    }
    if let Some((edit, is_all)) = operator("//", "/") {
        let (from, to) = edit.split_once('/').unwrap_or((edit, ""));
        let is_anchored = from.starts_with(['#', '%']) || from.is_empty();
        return Some(ParameterEdit::Replace { from: literal(from)?, to: literal(to)?, is_all })
            .filter(|_| !is_anchored);
    }
    match text {
        ",," => return Some(ParameterEdit::LowerCase),
        "^^" => return Some(ParameterEdit::UpperCase),
        _ => {}
    }
    let rest = text.strip_prefix(':').unwrap_or(text);
    if let Some(text) = rest.strip_prefix(['-', '=']) {
        return literal(text).map(|text| ParameterEdit::Default { text, assigns: rest.starts_with('=') });
    }
    let rest = text.strip_prefix(':')?;
    if rest.starts_with('?') {
        return literal(rest).map(|_| ParameterEdit::Keep);
    }
    let (start, length) = rest.split_once(':').map_or((rest, None), |(start, length)| (start, Some(length)));
    let length = length.map(str::parse).transpose().ok()?;
    Some(ParameterEdit::Cut { start: start.trim().parse().ok()?, length })
}

/// Returns the character that the escape at the start of `text` (behind its backslash) stands for, and its length; `None` if
/// it is not known.
pub(crate) fn escaped_char(text: &str) -> Option<(char, usize)> {
    let first = text.chars().next()?;
    let number = |from: usize, most: usize, radix: u32| {
        let digits = text[from..].chars().take(most).take_while(|it| it.is_digit(radix)).count();
        let value = u32::from_str_radix(text.get(from..from + digits)?, radix).ok()?;
        // A byte above ASCII may be a part of a character: too rare to follow.
        let found = char::from_u32(value).filter(|it| matches!(first, 'u' | 'U') || it.is_ascii())?;
        Some((found, from + digits))
    };
    let plain = |found: char| Some((found, first.len_utf8()));
    match first {
        'n' => plain('\n'),
        't' => plain('\t'),
        'r' => plain('\r'),
        'a' => plain('\u{7}'),
        'b' => plain('\u{8}'),
        'e' | 'E' => plain('\u{1b}'),
        'f' => plain('\u{c}'),
        'v' => plain('\u{b}'),
        '\\' | '\'' | '"' | '?' => plain(first),
        'x' => number(1, 2, 16),
        'u' => number(1, 4, 16),
        'U' => number(1, 8, 16),
        '0'..='7' => number(0, 3, 8),
        _ => None,
    }
}

impl Parser<'_> {
    /// Parses a word; `None` if an operator, a blank or the end comes next.
    pub(super) fn word(&mut self) -> Result<Option<Word>, String> {
        let mut pieces = Vec::new();
        let start = self.at;
        while let Some(found) = self.peek() {
            match found {
                '<' | '>' if self.at == start && self.rest()[1..].starts_with('(') => {
                    self.next();
                    self.next();
                    let script = self.list(&[])?;
                    self.expect(")")?;
                    pieces.push(WordPiece::Process(script));
                }
                ' ' | '\t' | '\r' | '\n' | ';' | '&' | '|' | '<' | '>' | '(' | ')' => break,
                '\\' => {
                    self.next();
                    match self.next() {
                        Some('\n') => {}
                        Some(escaped) => push_char(&mut pieces, escaped, true),
                        None => push_char(&mut pieces, '\\', true),
                    }
                }
                '\'' => {
                    self.next();
                    let end = self.rest().find('\'').ok_or("a `'` has no end")?;
                    let text = self.rest()[..end].to_owned();
                    push_text(&mut pieces, &text, true);
                    self.at += end + 1;
                }
                '"' => {
                    self.next();
                    pieces.push(WordPiece::Text { text: String::new(), quoted: true });
                    pieces.extend(self.quoted_pieces(Some('"'))?);
                }
                '$' => {
                    let piece = self.dollar(false)?;
                    pieces.push(piece);
                }
                '`' => {
                    let piece = self.backticks(false)?;
                    pieces.push(piece);
                }
                _ => {
                    self.next();
                    push_char(&mut pieces, found, false);
                }
            }
        }
        Ok((self.at != start).then_some(Word(pieces)))
    }

    /// Parses text in double quotes up to `end`, or a here-document up to the end of the text.
    pub(super) fn quoted_pieces(&mut self, end: Option<char>) -> Result<Vec<WordPiece>, String> {
        let mut pieces = Vec::new();
        loop {
            match self.peek() {
                None if end.is_none() => return Ok(pieces),
                None => return Err("a `\"` has no end".into()),
                found if found == end => {
                    self.next();
                    return Ok(pieces);
                }
                Some('\\') => {
                    self.next();
                    match self.next() {
                        Some('\n') => {}
                        Some(escaped @ ('$' | '`' | '\\')) => push_char(&mut pieces, escaped, true),
                        Some('"') if end.is_some() => push_char(&mut pieces, '"', true),
                        other => {
                            push_char(&mut pieces, '\\', true);
                            if let Some(other) = other {
                                push_char(&mut pieces, other, true);
                            }
                        }
                    }
                }
                Some('$') => {
                    let piece = self.dollar(true)?;
                    pieces.push(piece);
                }
                Some('`') => {
                    let piece = self.backticks(true)?;
                    pieces.push(piece);
                }
                Some(found) => {
                    self.next();
                    push_char(&mut pieces, found, true);
                }
            }
        }
    }

    /// Parses what begins with `$`.
    fn dollar(&mut self, quoted: bool) -> Result<WordPiece, String> {
        if self.rest().starts_with("$((")
            && let Some(pieces) = self.nested(|parser| parser.arithmetic("$(("))?
        {
            return Ok(WordPiece::Unknown(Word(pieces).scripts()));
        }
        self.next();
        match self.peek() {
            Some('(') => {
                self.next();
                let script = self.list(&[])?;
                self.skip_lines();
                self.expect(")")?;
                Ok(WordPiece::Substitution { script, quoted })
            }
            Some('{') => self.nested(|parser| parser.braced_parameter(quoted)),
            Some('\'') if !quoted => self.ansi_quoted(),
            Some('"') if !quoted => {
                self.next();
                let pieces = self.quoted_pieces(Some('"'))?;
                let word = Word(pieces);
                Ok(match word.text() {
                    Some(text) => WordPiece::Text { text, quoted: true },
                    None => WordPiece::Unknown(word.scripts()),
                })
            }
            Some(found) if found.is_ascii_alphabetic() || found == '_' => {
                let rest = self.rest();
                let end =
                    rest.find(|it: char| !(it.is_ascii_alphanumeric() || it == '_')).unwrap_or(rest.len());
                let name = rest[..end].to_owned();
                self.at += end;
                Ok(WordPiece::Variable { name, quoted })
            }
            Some(found) if found.is_ascii_digit() || "@*".contains(found) => {
                self.next();
                let name = if found == '*' { '@' } else { found };
                Ok(WordPiece::Variable { name: name.to_string(), quoted })
            }
            Some(found) if "#?-$!".contains(found) => {
                self.next();
                Ok(WordPiece::Unknown(Vec::new()))
            }
            _ => Ok(WordPiece::Text { text: "$".into(), quoted: true }),
        }
    }

    /// Parses `${…}`. What is neither a name nor a simple edit of one has an unknown value.
    fn braced_parameter(&mut self, quoted: bool) -> Result<WordPiece, String> {
        self.next();
        let rest = self.rest();
        let end = match rest.bytes().next() {
            Some(b'@' | b'*') => 1,
            _ => rest.find(|it: char| !(it.is_ascii_alphanumeric() || it == '_')).unwrap_or(rest.len()),
        };
        let end = end + if end > 0 { subscript_length(&rest[end..]) } else { 0 };
        let name = rest[..end].replace('*', "@");
        if end > 0 && rest[end..].starts_with('}') {
            self.at += end + 1;
            return Ok(WordPiece::Variable { name, quoted });
        }
        if let Some(close) = rest[end..].find('}').filter(|_| end > 0)
            && let Some(edit) = parameter_edit(&rest[end..end + close])
        {
            self.at += end + close + 1;
            return Ok(WordPiece::EditedVariable { name, quoted, edit });
        }
        let mut scripts = Vec::new();
        loop {
            match self.peek() {
                None => return Err("`${` has no `}`".into()),
                Some('}') => {
                    self.next();
                    return Ok(WordPiece::Unknown(scripts));
                }
                Some('\\') => {
                    self.next();
                    self.next();
                }
                Some('\'') if !quoted => {
                    self.next();
                    let end = self.rest().find('\'').ok_or("a `'` has no end")?;
                    self.at += end + 1;
                }
                Some('"') => {
                    self.next();
                    scripts.extend(Word(self.quoted_pieces(Some('"'))?).scripts());
                }
                Some('$') => scripts.extend(Word(vec![self.dollar(quoted)?]).scripts()),
                Some('`') => scripts.extend(Word(vec![self.backticks(true)?]).scripts()),
                Some(_) => {
                    self.next();
                }
            }
        }
    }

    /// Parses `$'…'`.
    fn ansi_quoted(&mut self) -> Result<WordPiece, String> {
        self.next();
        let (mut text, mut is_known) = (String::new(), true);
        loop {
            match self.next().ok_or("a `$'` has no end")? {
                '\'' if is_known => return Ok(WordPiece::Text { text, quoted: true }),
                '\'' => return Ok(WordPiece::Unknown(Vec::new())),
                '\\' => {
                    if let Some((found, length)) = escaped_char(self.rest()) {
                        self.at += length;
                        text.push(found);
                    } else {
                        is_known = false;
                        self.next();
                    }
                }
                found => text.push(found),
            }
        }
    }

    fn backticks(&mut self, quoted: bool) -> Result<WordPiece, String> {
        self.next();
        let mut inner = String::new();
        loop {
            match self.next().ok_or("a backtick has no end")? {
                '`' => break,
                '\\' => match self.next().ok_or("a backtick has no end")? {
                    escaped @ ('`' | '\\' | '$') => inner.push(escaped),
                    other => {
                        inner.push('\\');
                        inner.push(other);
                    }
                },
                found => inner.push(found),
            }
        }
        let script = self.nested(|parser| parse_nested(&inner, parser.depth))?;
        Ok(WordPiece::Substitution { script, quoted })
    }

    /// Parses arithmetic from `open` to `))` and returns its pieces; `None`, consuming nothing, if it is a subshell in
    /// parentheses instead.
    pub(super) fn arithmetic(&mut self, open: &str) -> Result<Option<Vec<WordPiece>>, String> {
        let start = self.at;
        self.at += open.len();
        let (mut pieces, mut level) = (Vec::new(), 0_usize);
        loop {
            match self.peek() {
                None => break,
                Some('(') => {
                    level += 1;
                    self.next();
                }
                Some(')') if level > 0 => {
                    level -= 1;
                    self.next();
                }
                Some(')') => {
                    if self.eat("))") {
                        return Ok(Some(pieces));
                    }
                    break;
                }
                Some('$') => {
                    let piece = self.dollar(true)?;
                    pieces.push(piece);
                }
                Some('`') => {
                    let piece = self.backticks(true)?;
                    pieces.push(piece);
                }
                Some('\n' | ';') if open == "$((" => break,
                Some(_) => {
                    self.next();
                }
            }
        }
        self.at = start;
        Ok(None)
    }
}
