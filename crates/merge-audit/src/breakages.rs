//! Results that are broken although neither side is: names defined twice, calls of what the other side removed or changed.

use crate::file_items::FileItems;
use crate::finding::{AuditFinding, EditKind, FindingClass, MergeSide};
use crate::hashes::hash_of;
use crate::lexed_text::{is_word_byte, words_of};
use crate::moved_code::TreeSearch;
use crate::trees::{BASE, FourTrees, OURS, RESULT, THEIRS};
use probity_analysis::{ItemKind, ItemUnit, Language, UnitKind};
use probity_paths::RepoPath;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Returns the last part of a qualified name.
pub(crate) fn leaf(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

fn breakage(class: FindingClass, kind: EditKind, path: &RepoPath, name: &str) -> AuditFinding {
    AuditFinding {
        id: String::new(),
        class,
        kind,
        side: None,
        path: path.clone(),
        result_path: Some(path.clone()),
        place: crate::finding::EditPlace::default(),
        entity: None,
        lines: None,
        lost: vec![name.to_owned()],
        cause: None,
        versions: Default::default(),
    }
}

/// Finds names that the result defines more often than either side.
pub(crate) fn duplicates(path: &RepoPath, text: &[u8], files: [Option<&FileItems>; 4]) -> Vec<AuditFinding> {
    let [_, Some(ours), Some(theirs), Some(result)] = files else { return Vec::new() };
    let language = Language::of_file_name(path.file_name());
    let has_overloads = matches!(
        language,
        Some(
            Language::Java
                | Language::CSharp
                | Language::Cpp
                | Language::Kotlin
                | Language::TypeScript
                | Language::Tsx
        )
    );
    let conditional = conditional_lines(text);
    let definitions = |file: &FileItems| -> BTreeMap<String, Vec<ItemUnit>> {
        let mut found: BTreeMap<String, Vec<ItemUnit>> = BTreeMap::new();
        for unit in file.units() {
            let parent = unit.parent.map(|parent| &file.units()[parent as usize]);
            let is_member =
                parent.is_some_and(|parent| matches!(parent.kind, UnitKind::File | UnitKind::Class));
            let is_callable = matches!(unit.kind, UnitKind::Function | UnitKind::Method);
            if !is_member || !is_callable || unit.decorated || unit.name.contains('<') {
                continue;
            }
            let mut key = format!("{}\n{}", unit.parent.unwrap_or(0), unit.name);
            if has_overloads {
                let names: Vec<&str> =
                    unit.parameters.iter().map(|parameter| parameter.name.as_str()).collect();
                key = format!("{}({})", unit.name, names.join(","));
            } else if unit.kind == UnitKind::Function {
                key.clone_from(&unit.name);
            }
            found.entry(key).or_default().push(unit.clone());
        }
        found
    };
    let [of_ours, of_theirs, of_result] = [ours, theirs, result].map(definitions);
    let mut findings = Vec::new();
    for (key, units) in &of_result {
        let of_side = [&of_ours, &of_theirs].map(|side| side.get(key).map_or(0, Vec::len));
        let [.., last] = &units[..] else { continue };
        let is_conditional = units.iter().any(|unit| conditional.contains(&unit.range.start_line));
        if units.len() < 2 || units.len() <= of_side[0].max(of_side[1]) || is_conditional {
            continue;
        }
        let mut finding = breakage(FindingClass::Duplicate, EditKind::Definition, path, leaf(&last.name));
        finding.entity = Some(last.name.clone());
        finding.lines = Some([last.range.start_line, last.range.end_line]);
        findings.push(finding);
    }
    findings
}

/// Returns true if a file can hold a breakage at all: it does not parse, or defines a name twice. Takes the result alone.
pub(crate) fn may_be_broken(result: &FileItems) -> bool {
    let mut names: Vec<&str> = result
        .units()
        .iter()
        .filter(|unit| matches!(unit.kind, UnitKind::Function | UnitKind::Method))
        .map(|unit| unit.name.as_str())
        .collect();
    names.sort_unstable();
    result.n_errors() > 0 || names.windows(2).any(|two| two[0] == two[1])
}

/// Returns the lines between `#if` and `#endif`: their definitions may be alternatives.
fn conditional_lines(text: &[u8]) -> BTreeSet<u32> {
    let mut depth = 0_u32;
    let mut lines = BTreeSet::new();
    let mut first_guard = true;
    for (line, number) in text.split(|&byte| byte == b'\n').zip(1_u32..) {
        let line = line.trim_ascii();
        if line.starts_with(b"#ifndef") && first_guard {
            first_guard = false;
        } else if line.starts_with(b"#if") {
            depth += 1;
        } else if line.starts_with(b"#endif") {
            depth = depth.saturating_sub(1);
        }
        if depth > 0 {
            lines.insert(number);
        }
    }
    lines
}

/// Returns the number of parameters that a caller must give and may give.
fn arity(unit: &ItemUnit) -> (usize, usize) {
    let required = unit.parameters.iter().filter(|parameter| !parameter.optional).count();
    (required, unit.parameters.len())
}

/// The callables that all changed files of a tree define, by their bare names.
type Definitions = BTreeMap<String, Vec<ItemUnit>>;

fn can_be_called_bare(unit: &ItemUnit, language: Language) -> bool {
    match unit.kind {
        UnitKind::Function => true,
        UnitKind::Method => matches!(language, Language::Java | Language::CSharp | Language::Kotlin),
        _ => false,
    }
}

/// Finds calls of one side whose definition the other side removed or gave other parameters. Calls without any
/// definition are unconfirmed: a file that nobody changed may define the name. `None` if too many files changed.
pub(crate) fn broken_calls(
    trees: &FourTrees,
    search: &TreeSearch<'_>,
) -> Option<(Vec<AuditFinding>, Vec<AuditFinding>)> {
    let sources: Vec<(&RepoPath, Language)> = trees
        .keys()
        .filter_map(|path| Some((path, Language::of_file_name(path.file_name())?)))
        .filter(|(_, language)| *language != Language::Bash)
        .collect();
    let has_changed = |version: usize| {
        let differs = |(path, _): &(&RepoPath, Language)| {
            let versions = &trees[*path];
            !crate::trees::is_same(versions[version].as_ref(), versions[BASE].as_ref())
        };
        sources.iter().any(differs)
    };
    if !has_changed(OURS) || !has_changed(THEIRS) {
        return Some(Default::default());
    }
    let sources = suspect_sources(trees, sources);
    if !search.can_read(sources.iter().map(|(path, _)| *path)) {
        return None;
    }
    let mut definitions: [Definitions; 4] = Default::default();
    let mut imported: [BTreeSet<u64>; 4] = Default::default();
    for (path, language) in &sources {
        let read = search.read(path);
        for (version, file) in read.iter().enumerate() {
            let Some(file) = file else { continue };
            for unit in file.units().iter().filter(|unit| can_be_called_bare(unit, *language)) {
                definitions[version].entry(leaf(&unit.name).to_owned()).or_default().push(unit.clone());
            }
            for item in file.items.iter().filter(|item| item.kind == ItemKind::Import) {
                imported[version].extend(file.words_of(item));
            }
        }
    }
    let mut confirmed = Vec::new();
    let mut unconfirmed = Vec::new();
    for (side, other, word) in [(OURS, THEIRS, MergeSide::Ours), (THEIRS, OURS, MergeSide::Theirs)] {
        for (path, _) in &sources {
            let read = search.read(path);
            let (Some(file), Some(result)) = (&read[side], &read[RESULT]) else { continue };
            let mut reported: BTreeSet<&str> = BTreeSet::new();
            for call in file.calls() {
                let n_calls = |version: Option<&FileItems>| {
                    version.map_or(0, |file| {
                        file.calls()
                            .iter()
                            .filter(|one| one.name == call.name && one.n_arguments == call.n_arguments)
                            .count()
                    })
                };
                let is_new = n_calls(Some(file)) > n_calls(read[BASE].as_deref());
                if !is_new || n_calls(Some(result)) == 0 || reported.contains(call.name.as_str()) {
                    continue;
                }
                let of = |version: usize| definitions[version].get(&call.name).map_or(&[][..], Vec::as_slice);
                let ([base_unit], result_units) = (of(BASE), of(RESULT)) else { continue };
                let is_removed = of(other).is_empty() && result_units.is_empty() && !of(side).is_empty();
                let name_hash = crate::hashes::hash_of(call.name.as_bytes());
                let mut finding = breakage(FindingClass::Dangling, EditKind::Call, path, &call.name);
                finding.side = Some(word);
                finding.entity = file
                    .units()
                    .get(call.unit as usize)
                    .map(|unit| unit.name.clone())
                    .filter(|name| !name.is_empty());
                finding.lines = Some([call.line, call.line]);
                if is_removed {
                    if !imported[other].contains(&name_hash) {
                        reported.insert(&call.name);
                        unconfirmed.push(finding);
                    }
                    continue;
                }
                let ([other_unit], [result_unit], Some(n_given)) =
                    (of(other), result_units, call.n_arguments)
                else {
                    continue;
                };
                let n_given = n_given as usize;
                let fits = |unit: &ItemUnit| (arity(unit).0..=arity(unit).1).contains(&n_given);
                let has_changed =
                    arity(base_unit) != arity(other_unit) && arity(other_unit) == arity(result_unit);
                if has_changed && fits(base_unit) && !fits(result_unit) {
                    finding.class = FindingClass::Signature;
                    reported.insert(&call.name);
                    confirmed.push(finding);
                }
            }
        }
    }
    Some((confirmed, unconfirmed))
}

/// What one side changed about definitions, and what it calls near its changes.
#[derive(Default)]
struct ChangedNames {
    /// Hashes of names and of what follows them up to the end of their parameters, before and after, as often as they occur.
    before: Vec<(u64, u64)>,
    after: Vec<(u64, u64)>,
    called: BTreeSet<u64>,
}

impl ChangedNames {
    /// Returns the names that the side defines in another way than the base, or not any more.
    fn redefined(&mut self) -> BTreeSet<u64> {
        self.before.sort_unstable();
        self.after.sort_unstable();
        let of = |definitions: &'_ [(u64, u64)]| -> BTreeMap<u64, Vec<u64>> {
            let mut found: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
            for &(name, parameters) in definitions {
                found.entry(name).or_default().push(parameters);
            }
            found
        };
        let after = of(&self.after);
        of(&self.before)
            .into_iter()
            .filter(|(name, was)| after.get(name) != Some(was))
            .map(|(name, _)| name)
            .collect()
    }
}

/// Returns the files that define a name, or call it in a new way, that one side may have called in a new way while the other
/// changed its definition: no other file is worth parsing.
fn suspect_sources<'a>(
    trees: &FourTrees,
    sources: Vec<(&'a RepoPath, Language)>,
) -> Vec<(&'a RepoPath, Language)> {
    let mut changed: [ChangedNames; 2] = Default::default();
    let mut called_in: Vec<BTreeSet<u64>> = Vec::new();
    for (path, language) in &sources {
        let text = |version: usize| -> &[u8] {
            let version: Option<&crate::FileVersion> = trees[*path][version].as_ref();
            version.and_then(|version| version.bytes.as_deref()).unwrap_or_default()
        };
        let mut called_here = BTreeSet::new();
        for (names, version) in changed.iter_mut().zip([OURS, THEIRS]) {
            let is_changed =
                !crate::trees::is_same(trees[*path][version].as_ref(), trees[*path][BASE].as_ref());
            if !is_changed {
                continue;
            }
            let (base, side) = (text(BASE), text(version));
            let (of_base, of_side) = (sorted_line_hashes(base), sorted_line_hashes(side));
            let mut defined: BTreeSet<u64> = BTreeSet::new();
            let mut define = |line: &[u8]| {
                defined.extend(defined_names(line, *language).map(|place| hash_of(&line[place])));
            };
            for_each_line_near_changes(base, &of_side, &mut define);
            for_each_line_near_changes(side, &of_base, &mut define);
            if !defined.is_empty() {
                names.before.extend(definitions_in(base, *language, &defined));
                names.after.extend(definitions_in(side, *language, &defined));
            }
            for_each_line_near_changes(side, &of_base, |line| {
                called_here.extend(called_names(line, *language).map(hash_of));
            });
            names.called.extend(&called_here);
        }
        called_in.push(called_here);
    }
    let [ours, theirs] = &mut changed;
    let [of_ours, of_theirs] = [ours.redefined(), theirs.redefined()];
    let names: BTreeSet<u64> =
        of_ours.intersection(&theirs.called).chain(of_theirs.intersection(&ours.called)).copied().collect();
    let is_suspect = |((path, language), called): &((&RepoPath, Language), BTreeSet<u64>)| {
        let texts = trees[*path].iter().flatten().filter_map(|version| version.bytes.as_deref());
        let has_definition = |text: &[u8]| {
            let mut lines = text.split(|&byte| byte == b'\n');
            lines.any(|line| {
                defined_names(line, *language).any(|place| names.contains(&hash_of(&line[place])))
            })
        };
        !names.is_disjoint(called) || distinct(texts).any(has_definition)
    };
    if names.is_empty() {
        return Vec::new();
    }
    sources.into_iter().zip(called_in).filter(is_suspect).map(|(source, _)| source).collect()
}

/// Returns the definitions of some names: the hashes of the name and of what follows it up to the end of its parameters.
fn definitions_in(text: &[u8], language: Language, names: &BTreeSet<u64>) -> Vec<(u64, u64)> {
    let mut found = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive(|&byte| byte == b'\n') {
        for place in defined_names(line, language) {
            let name = hash_of(&line[place.clone()]);
            if names.contains(&name) {
                found.push((name, hash_of(&parameters_after(&text[start + place.end..]))));
            }
        }
        start += line.len();
    }
    found
}

/// Returns what follows a name up to the end of its parameters, without white space; without parameters, the rest of the line.
fn parameters_after(text: &[u8]) -> Vec<u8> {
    const MAX_PARAMETER_BYTES: usize = 4_000;
    let mut depth = 0_usize;
    let mut parameters = Vec::new();
    for &byte in text.iter().take(MAX_PARAMETER_BYTES) {
        match byte {
            b'(' => depth += 1,
            b')' if depth <= 1 => return parameters,
            b')' => depth -= 1,
            b'\n' if depth == 0 => return parameters,
            _ => {}
        }
        if !byte.is_ascii_whitespace() {
            parameters.push(byte);
        }
    }
    parameters
}

/// Returns the names that a line may call: those before an opening bracket. Ruby and Bash need none.
fn called_names(line: &[u8], language: Language) -> impl Iterator<Item = &[u8]> {
    let needs_bracket = !matches!(language, Language::Ruby | Language::Bash);
    words_of(line).filter(move |word| {
        let end = word.as_ptr() as usize - line.as_ptr() as usize + word.len();
        let after = line[end..].trim_ascii_start();
        !needs_bracket || matches!(after, [b'(' | b'<' | b'[', ..] | [b':', b':', b'<', ..] | [])
    })
}

fn sorted_line_hashes(text: &[u8]) -> Vec<u64> {
    let mut hashes: Vec<u64> =
        text.split(|&byte| byte == b'\n').map(|line| hash_of(line.trim_ascii())).collect();
    hashes.sort_unstable();
    hashes
}

/// Visits the lines that the other text does not have, and those above them, because parameters and arguments may stand below
/// the name.
fn for_each_line_near_changes<'a>(text: &'a [u8], other: &[u64], mut each: impl FnMut(&'a [u8])) {
    const MAX_LINES_ABOVE: usize = 12;
    let lines: Vec<&[u8]> = text.split(|&byte| byte == b'\n').collect();
    let mut n_done = 0;
    for (at, line) in lines.iter().enumerate() {
        if other.binary_search(&hash_of(line.trim_ascii())).is_err() {
            lines[at.saturating_sub(MAX_LINES_ABOVE).max(n_done)..=at].iter().for_each(|line| each(line));
            n_done = at + 1;
        }
    }
}

/// Returns the names that a line may define. Most languages have a word for that; in the others a definition has a type
/// before the name and parameters after it.
fn defined_names(line: &[u8], language: Language) -> impl Iterator<Item = Range<usize>> {
    const NOT_BEFORE_A_DEFINITION: [&[u8]; 9] =
        [b"return", b"new", b"if", b"while", b"await", b"else", b"throw", b"case", b"in"];
    const DEFINING: [&[u8]; 7] = [b"def", b"fn", b"func", b"function", b"fun", b"sub", b"proc"];
    const BINDING: [&[u8]; 4] = [b"const", b"let", b"var", b"val"];
    let has_types_first = matches!(language, Language::C | Language::Cpp | Language::Java | Language::CSharp);
    let mut at = 0;
    let names = std::iter::from_fn(move || {
        while at < line.len() && !is_word_byte(line[at]) {
            at += 1;
        }
        let start = at;
        while at < line.len() && is_word_byte(line[at]) {
            at += 1;
        }
        (start < at).then_some(start..at)
    });
    names.filter_map(move |place| {
        let before = line[..place.start].trim_ascii_end();
        let word =
            before.iter().rposition(|&byte| !is_word_byte(byte)).map_or(before, |at| &before[at + 1..]);
        let after = line[place.end..].trim_ascii_start().first();
        let has_type =
            before.last().is_some_and(|byte| matches!(byte, b'*' | b'&' | b'>' | b']' | b'?' | b')'));
        let is_definition = if has_types_first {
            (has_type || !word.is_empty() && !NOT_BEFORE_A_DEFINITION.contains(&word))
                && matches!(after, Some(b'(' | b'<'))
        } else {
            // A receiver may stand between the word and the name, as in Go.
            DEFINING.contains(&word)
                || before.last() == Some(&b')') && matches!(after, Some(b'('))
                || BINDING.contains(&word) && matches!(after, Some(b'=' | b':'))
        };
        is_definition.then_some(place)
    })
}

/// Returns each text once; equal ones lie at the same place, because they are one content.
fn distinct<'a>(texts: impl Iterator<Item = &'a [u8]>) -> impl Iterator<Item = &'a [u8]> {
    let mut seen: Vec<*const u8> = Vec::new();
    texts.filter(move |text| {
        let is_new = !seen.contains(&text.as_ptr());
        seen.push(text.as_ptr());
        is_new
    })
}

/// Returns true if the result holds a conflict marker that neither side has.
pub(crate) fn has_markers(result: &[u8], sides: [Option<&[u8]>; 2]) -> bool {
    has_marker_lines(result) && !sides.into_iter().flatten().any(has_marker_lines)
}

fn has_marker_lines(text: &[u8]) -> bool {
    let mut stage = 0;
    for line in text.split(|&byte| byte == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        stage = match stage {
            _ if line.starts_with(b"<<<<<<< ") => 1,
            1 if line == b"=======" => 2,
            2 if line.starts_with(b">>>>>>> ") => return true,
            stage => stage,
        };
    }
    false
}

/// Builds the finding for a result that is broken as a whole.
pub(crate) fn broken_file(
    class: FindingClass,
    path: &RepoPath,
    lines: Option<[u32; 2]>,
    text: &str,
) -> AuditFinding {
    let mut finding = breakage(class, EditKind::Text, path, text);
    finding.lines = lines;
    finding
}
