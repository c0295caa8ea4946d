//! Reads the bytes of one file into facts, within limits.
//!
//! Limits are in bytes and in parser steps, never in time, so that the same bytes give the same facts on a
//! slow machine. Any input gives facts: a file that cannot be read says so in its notes.

use crate::facts::{FileFacts, FileNote, SourceRange};
use crate::language::{Language, NodeKindTable};
use crate::{brackets, macro_lines, newer_syntax, preprocessor, visit};
use std::cell::{Cell, RefCell};
use std::ops::ControlFlow;
use tree_sitter::{ParseOptions, Parser, Tree};

/// Limit of the parser's progress callbacks, about one per hundred parser steps: a base, plus
/// [`STEPS_PER_KB`] per 1,000 bytes. Of thousands of ordinary files none needed more than a tenth of that.
const BASE_PARSER_STEPS: usize = 1_000;
const STEPS_PER_KB: usize = 250;

/// The parser reads the file in chunks, so that lookahead of its scanners can be counted: a base, plus
/// [`MAX_READS_PER_CHUNK`] reads of each chunk. Some scanners look ahead to the end of the file from every line.
const CHUNK_BYTES: usize = 4096;
const BASE_CHUNK_READS: usize = 1_000;
const MAX_READS_PER_CHUNK: usize = 100;

/// Reads the bytes of a file of `language` into facts. Files above `max_bytes` are not read.
pub fn read_facts(language: Language, bytes: &[u8], max_bytes: u64) -> FileFacts {
    match refusal(bytes, max_bytes) {
        Some(note) => FileFacts { notes: vec![note], ..FileFacts::default() },
        None => read_text(language, bytes),
    }
}

fn read_text(language: Language, bytes: &[u8]) -> FileFacts {
    let readable = macro_lines::terminated(language, bytes);
    let bytes = readable.as_ref();
    let Some(tree) = parse(language, bytes) else {
        return FileFacts { notes: vec![FileNote::TooHard], ..FileFacts::default() };
    };
    let mut facts = visit::visit(language, &tree, bytes);
    if facts.n_errors > 0 {
        if matches!(language, Language::C | Language::Cpp) {
            (facts.errors, facts.n_errors) = errors_beside_macros(language, bytes, &facts);
        } else if let Some(read) = read_in_older_syntax(language, bytes) {
            facts = if read.n_errors < facts.n_errors { read } else { facts };
        }
    }
    if std::str::from_utf8(bytes).is_err() {
        facts.notes.push(FileNote::NotUtf8);
    }
    if facts.n_errors > 0 {
        facts.notes.push(FileNote::SyntaxErrors);
        if may_be_right(language, bytes, &facts.errors) {
            facts.notes.push(FileNote::UnknownSyntax);
        }
    }
    facts
}

fn read_in_older_syntax(language: Language, bytes: &[u8]) -> Option<FileFacts> {
    let text = newer_syntax::in_older_syntax(language, bytes)?;
    Some(visit::visit(language, &parse(language, &text)?, &text))
}

/// Returns true if what could not be parsed may be right: all brackets match, and the grammar of Kotlin lags behind, or in C
/// and C++ every such place has a macro or a construct that the grammars do not know.
fn may_be_right(language: Language, bytes: &[u8], errors: &[SourceRange]) -> bool {
    match language {
        Language::C | Language::Cpp => {
            let lines: Vec<&[u8]> = bytes.split(|&byte| byte == b'\n').collect();
            errors.iter().all(|error| has_unknown_construct(&lines, *error))
                && brackets::are_matched(language, &preprocessor::without_directives(bytes))
        }
        Language::Kotlin => brackets::are_matched(language, bytes),
        _ => false,
    }
}

/// Returns true if the first lines of an error, or the one before it, have a name in capitals or newer syntax.
fn has_unknown_construct(lines: &[&[u8]], error: SourceRange) -> bool {
    const NEWER: [&[u8]; 16] = [
        b"[[",
        b"...",
        b"goto *",
        b"consteval",
        b"constexpr",
        b"co_",
        b"decltype",
        b"export",
        b"import",
        b"module",
        b"nullptr",
        b"requires",
        b"signals",
        b"slots",
        b"typeof",
        b"using enum",
    ];
    const MAX_LINES: u32 = 3;
    let first = error.start_line.saturating_sub(2);
    let last = error.end_line.min(error.start_line + MAX_LINES);
    let near = (first..last).filter_map(|line| lines.get(line as usize));
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let is_macro = |word: &[u8]| {
        word.len() > 2 && word.iter().any(u8::is_ascii_uppercase) && !word.iter().any(u8::is_ascii_lowercase)
    };
    near.into_iter().any(|line| {
        line.split(|byte| !is_word(byte)).any(is_macro)
            || NEWER.iter().any(|part| line.windows(part.len()).any(|window| window == *part))
    })
}

/// Returns the errors that remain when the idioms of the preprocessor are left out, as few as need be.
fn errors_beside_macros(language: Language, bytes: &[u8], facts: &FileFacts) -> (Vec<SourceRange>, u32) {
    let errors = |text: &[u8]| Some(visit::syntax_errors(&parse(language, text)?));
    let mut fewest = (facts.errors.clone(), facts.n_errors);
    let text = preprocessor::without_directives_and_macros(bytes);
    fewest = errors(&text).into_iter().chain([fewest]).min_by_key(|(_, n)| *n).unwrap_or_default();
    if fewest.1 > 0 {
        let text = preprocessor::without_attribute_macros(text);
        fewest = errors(&text).into_iter().chain([fewest]).min_by_key(|(_, n)| *n).unwrap_or_default();
    }
    fewest
}

/// Parses the bytes and visits the tree; `None` after more work than any ordinary file of this size needs.
pub(crate) fn parse_with_facts(language: Language, bytes: &[u8]) -> Option<(Tree, FileFacts)> {
    let tree = parse(language, bytes)?;
    let facts = visit::visit(language, &tree, bytes);
    Some((tree, facts))
}

/// Returns why the bytes are not even parsed.
fn refusal(bytes: &[u8], max_bytes: u64) -> Option<FileNote> {
    if bytes.len() as u64 > max_bytes {
        Some(FileNote::TooLarge)
    } else if bytes.contains(&0) {
        Some(FileNote::Binary)
    } else if is_generated(bytes) {
        Some(FileNote::Generated)
    } else {
        None
    }
}

/// Returns true if the file says that a program wrote it, or could not have been written by a person.
fn is_generated(bytes: &[u8]) -> bool {
    const GENERATED_MARKERS: [&[u8]; 4] =
        [b"@generated", b"DO NOT EDIT", b"Do not edit by hand", b"<auto-generated"];
    const COMMENT_STARTS: [&[u8]; 6] = [b"//", b"#", b"/*", b"*", b"--", b"<!--"];
    const HEAD_BYTES: usize = 1000;
    const LONG_LINE_BYTES: usize = 5000;
    let head = &bytes[..bytes.len().min(HEAD_BYTES)];
    let is_marked = head.split(|&byte| byte == b'\n').any(|line| {
        let line = line.trim_ascii_start();
        COMMENT_STARTS.iter().any(|mark| line.starts_with(mark))
            && GENERATED_MARKERS.iter().any(|mark| line.windows(mark.len()).any(|part| part == *mark))
    });
    // Bundlers and compilers write where the sources of their output are.
    let last = bytes.trim_ascii_end().rsplit(|&byte| byte == b'\n').next().unwrap_or_default();
    let is_output = last.starts_with(b"//# sourceMappingURL=") || last.starts_with(b"/*# sourceMappingURL=");
    let n_lines = bytes.iter().filter(|&&byte| byte == b'\n').count() + 1;
    is_marked || is_output || bytes.len() / n_lines > LONG_LINE_BYTES
}

thread_local! {
    /// One parser per worker: creating one is more expensive than parsing a small file.
    static PARSER: RefCell<Parser> = RefCell::new(Parser::new());
}

/// Parses the bytes, or gives up after more work than any ordinary file of this size needs.
pub(crate) fn parse(language: Language, bytes: &[u8]) -> Option<Tree> {
    PARSER.with_borrow_mut(|parser| {
        parser.set_language(&NodeKindTable::of(language).grammar).ok()?;
        let mut steps = BASE_PARSER_STEPS + bytes.len() / 1000 * STEPS_PER_KB;
        let chunks = Cell::new(BASE_CHUNK_READS + bytes.len() / CHUNK_BYTES * MAX_READS_PER_CHUNK);
        let mut progress = |_: &tree_sitter::ParseState| {
            steps = steps.saturating_sub(1);
            if steps == 0 || chunks.get() == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let mut chunk = |offset: usize, _| {
            chunks.set(chunks.get().saturating_sub(1));
            // Once the budget is used up, every scanner sees the end of the file.
            let end = if chunks.get() == 0 { 0 } else { bytes.len().min(offset.saturating_add(CHUNK_BYTES)) };
            bytes.get(offset..end).unwrap_or_default()
        };
        let options = ParseOptions::new().progress_callback(&mut progress);
        let tree = parser.parse_with_options(&mut chunk, None, Some(options));
        parser.reset();
        tree.filter(|_| chunks.get() > 0)
    })
}

#[cfg(test)]
mod tests {
    use super::is_generated;

    #[test]
    fn the_output_of_a_bundler_is_generated() {
        assert!(is_generated(b"var a = 1;\n//# sourceMappingURL=a.js.map\n"));
        assert!(!is_generated(b"// //# sourceMappingURL= names the map\nvar a = 1;\n"));
    }
}
