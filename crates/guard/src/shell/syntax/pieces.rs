//! Parses words: quotes, variables, substitutions and arithmetic.

use super::{Parser, Script, Word, WordPiece, parse_nested};

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
                WordPiece::Substitution(script) | WordPiece::Process(script) => scripts.push(script.clone()),
                WordPiece::Unknown(inner) => scripts.extend(inner.iter().cloned()),
                WordPiece::Text { .. } | WordPiece::Variable { .. } => {}
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
                    let piece = self.backticks()?;
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
                    let piece = self.backticks()?;
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
                Ok(WordPiece::Substitution(script))
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
            Some(found) if found.is_ascii_digit() || "@*#?-$!".contains(found) => {
                self.next();
                Ok(WordPiece::Unknown(Vec::new()))
            }
            _ => Ok(WordPiece::Text { text: "$".into(), quoted: true }),
        }
    }

    /// Parses `${…}`: a plain name is a variable, anything else has an unknown value.
    fn braced_parameter(&mut self, quoted: bool) -> Result<WordPiece, String> {
        self.next();
        let rest = self.rest();
        let end = rest.find(|it: char| !(it.is_ascii_alphanumeric() || it == '_')).unwrap_or(rest.len());
        let name = rest[..end].to_owned();
        if rest[end..].starts_with('}') && name.bytes().next().is_some_and(|byte| !byte.is_ascii_digit()) {
            self.at += end + 1;
            return Ok(WordPiece::Variable { name, quoted });
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
                Some('`') => scripts.extend(Word(vec![self.backticks()?]).scripts()),
                Some(_) => {
                    self.next();
                }
            }
        }
    }

    /// Parses `$'…'`.
    fn ansi_quoted(&mut self) -> Result<WordPiece, String> {
        self.next();
        let mut text = String::new();
        loop {
            match self.next().ok_or("a `$'` has no end")? {
                '\'' => return Ok(WordPiece::Text { text, quoted: true }),
                '\\' => match self.next().ok_or("a `$'` has no end")? {
                    'n' => text.push('\n'),
                    't' => text.push('\t'),
                    plain @ ('\\' | '\'' | '"' | '?') => text.push(plain),
                    // Other escapes can spell any name, so the value counts as unknown.
                    _ => {
                        while self.next().ok_or("a `$'` has no end")? != '\'' {}
                        return Ok(WordPiece::Unknown(Vec::new()));
                    }
                },
                found => text.push(found),
            }
        }
    }

    fn backticks(&mut self) -> Result<WordPiece, String> {
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
        self.nested(|parser| parse_nested(&inner, parser.depth)).map(WordPiece::Substitution)
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
                    let piece = self.backticks()?;
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
