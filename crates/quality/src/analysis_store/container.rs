//! Packs an analysis into a file: a line of JSON, an index, the head, and the parts, compressed a few at a time.
//!
//! Everything read is checked against digests: the head against the first line, a part against the head. Parts that
//! are not needed are not decompressed; a reader of the head alone checks the digest of the whole body instead.

use super::codec::{self, AnalysisHead, AnalysisPart};
use super::{AnalysisHeader, StoredAnalysis, SummarizedAnalysis, SummarizedFindings};
use probity_analysis::{AnalysisRun, Finding, RunId};
use probity_core::Digest;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::io;

/// The largest accepted uncompressed size.
const MAX_RUN_BYTES: usize = 2 << 30;

/// Parts are compressed together up to this size: larger frames compress repetitive text better, but reading one part
/// decompresses the whole frame.
const FRAME_BYTES: usize = 256 << 10;

const COMPRESSION_LEVEL: i32 = 1;

/// The layout of the bytes after the index.
#[derive(Serialize, Deserialize)]
struct ContainerIndex {
    /// The compressed and uncompressed size.
    head: (u32, u32),
    /// The compressed size and number of parts of each frame.
    frames: Vec<(u32, u32)>,
}

pub(super) fn pack(run: &AnalysisRun) -> io::Result<(AnalysisHeader, Vec<u8>)> {
    let codec::EncodedAnalysis { head, parts } = codec::write(run);
    let frames = frames(parts.iter().map(Vec::len));
    let compress = |bytes: &[u8]| zstd::bulk::compress(bytes, COMPRESSION_LEVEL);
    let (packed_head, packed) = rayon::join(
        || compress(&head),
        || {
            frames
                .par_iter()
                .map(|frame| compress(&parts[frame.clone()].concat()))
                .collect::<io::Result<Vec<_>>>()
        },
    );
    let (packed_head, packed) = (packed_head?, packed?);
    let (n_files, ..) = run.file_counts();
    let index = ContainerIndex {
        head: (checked_len(&packed_head)?, checked_len(&head)?),
        frames: packed
            .iter()
            .zip(&frames)
            .map(|(packed, frame)| Ok((checked_len(packed)?, checked_len(&parts[frame.clone()])?)))
            .collect::<io::Result<_>>()?,
    };
    let mut body = postcard::to_stdvec(&index).expect("a growing list of bytes takes everything");
    body.extend(packed_head);
    body.extend(packed.concat());
    let about = AnalysisHeader {
        report_digest: Digest::of(&head),
        body_digest: Digest::of(&body),
        size_bytes: (head.len() + parts.iter().map(Vec::len).sum::<usize>()) as u64,
        analyser: run.analyser.clone(),
        health_milli: run.health.score_milli,
        n_files,
        n_findings: run.findings.len(),
    };
    let mut file = serde_json::to_vec(&about).expect("text keys and whole numbers only");
    file.push(b'\n');
    file.extend(body);
    Ok((about, file))
}

fn checked_len<T>(list: &[T]) -> io::Result<u32> {
    u32::try_from(list.len()).map_err(|_| io::Error::other("it is too large to be kept"))
}

/// Groups parts into frames.
fn frames(sizes: impl Iterator<Item = usize>) -> Vec<std::ops::Range<usize>> {
    let (mut frames, mut start, mut bytes, mut end) = (Vec::new(), 0, 0, 0);
    for size in sizes {
        (bytes, end) = (bytes + size, end + 1);
        if bytes >= FRAME_BYTES {
            frames.push(start..end);
            (start, bytes) = (end, 0);
        }
    }
    if start < end {
        frames.push(start..end);
    }
    frames
}

/// An opened file whose decompressed head matches the digest in the first line.
pub(super) struct AnalysisContainer<'f> {
    id: RunId,
    about: AnalysisHeader,
    head: Vec<u8>,
    index: ContainerIndex,
    frames: &'f [u8],
    /// Everything after the first line.
    body: &'f [u8],
}

impl<'f> AnalysisContainer<'f> {
    /// Opens the bytes of a stored analysis; `None` if they are not one.
    pub(super) fn new(id: RunId, file: &'f [u8]) -> Option<Self> {
        let line = file.iter().position(|&byte| byte == b'\n')?;
        let about: AnalysisHeader = serde_json::from_slice(&file[..line]).ok()?;
        let body = &file[line + 1..];
        let (index, rest): (ContainerIndex, _) = postcard::take_from_bytes(body).ok()?;
        let (packed, frames) = rest.split_at_checked(index.head.0 as usize)?;
        let head = unpack(packed, index.head.1 as usize)?;
        let is_whole = Digest::of(&head) == about.report_digest;
        is_whole.then_some(Self { id, about, head, index, frames, body })
    }

    /// Returns the head; `None` if it has another format or belongs to another analysis than the file name says.
    fn head(&self) -> Option<AnalysisHead<'_>> {
        let head = AnalysisHead::read(&self.head).filter(|head| head.id() == self.id)?;
        let size: usize = head.parts.iter().map(|part| part.size as usize).sum();
        let n_parts: usize = self.index.frames.iter().map(|frame| frame.1 as usize).sum();
        (size <= MAX_RUN_BYTES && n_parts == head.parts.len()).then_some(head)
    }

    pub(super) fn full_analysis(&self) -> Option<StoredAnalysis> {
        let head = self.head()?;
        let parts = self.parts(&head, &vec![true; head.parts.len()])?;
        self.stored(head, parts)
    }

    /// Returns the analysis without its parts. Checks the body all the same, because the caller will rely on finding
    /// the parts intact later.
    pub(super) fn head_analysis(&self) -> Option<StoredAnalysis> {
        self.stored_head(self.head()?)
    }

    fn stored_head(&self, head: AnalysisHead<'_>) -> Option<StoredAnalysis> {
        let none = head.parts.iter().map(|_| None).collect();
        if Digest::of(self.body) == self.about.body_digest { self.stored(head, none) } else { None }
    }

    /// Returns the analysis without its parts, and what a summary that lists `n_listed` findings tells of them; `None`
    /// also if the head names fewer.
    pub(super) fn summarized_analysis(&self, n_listed: usize) -> Option<SummarizedAnalysis> {
        let head = self.head()?;
        let (outline, mut places) = head.outline().filter(|(outline, _)| outline.names(n_listed))?;
        places.truncate(n_listed);
        let mut wanted = vec![false; head.parts.len()];
        for &(part, _) in &places {
            wanted[part as usize] = true;
        }
        let parts = self.parts(&head, &wanted)?;
        let finding = |&(part, place): &(u32, u32)| {
            parts[part as usize].as_ref()?.findings.get(place as usize).cloned()
        };
        let listed: Option<Vec<Finding>> = places.iter().map(finding).collect();
        Some(SummarizedAnalysis {
            findings: SummarizedFindings { outline, listed: listed? },
            head: self.stored_head(head)?,
        })
    }

    fn stored(&self, head: AnalysisHead<'_>, parts: Vec<Option<AnalysisPart>>) -> Option<StoredAnalysis> {
        let (run, n_findings) = head.run(parts)?;
        Some(StoredAnalysis { run, report_digest: self.about.report_digest, n_findings })
    }

    /// Reads the wanted parts, frames in parallel.
    fn parts(&self, head: &AnalysisHead<'_>, wanted: &[bool]) -> Option<Vec<Option<AnalysisPart>>> {
        let (mut first, mut rest) = (0, self.frames);
        let mut frames = Vec::with_capacity(self.index.frames.len());
        for &(size, n_parts) in &self.index.frames {
            let (packed, others) = rest.split_at_checked(size as usize)?;
            let numbers = first..first + n_parts as usize;
            (first, rest) = (numbers.end, others);
            frames.push((packed, numbers));
        }
        let read: Option<Vec<Vec<Option<AnalysisPart>>>> = frames
            .into_par_iter()
            .with_max_len(1)
            .map(|(packed, numbers)| read_frame(head, wanted, packed, numbers))
            .collect();
        Some(read?.into_iter().flatten().collect()).filter(|_| rest.is_empty())
    }
}

fn read_frame(
    head: &AnalysisHead<'_>,
    wanted: &[bool],
    packed: &[u8],
    numbers: std::ops::Range<usize>,
) -> Option<Vec<Option<AnalysisPart>>> {
    if !wanted[numbers.clone()].contains(&true) {
        return Some(numbers.map(|_| None).collect());
    }
    let size = head.parts[numbers.clone()].iter().map(|part| part.size as usize).sum();
    let bytes = unpack(packed, size)?;
    let mut rest = bytes.as_slice();
    let mut read = Vec::with_capacity(numbers.len());
    for number in numbers {
        let (own, others) = rest.split_at_checked(head.parts[number].size as usize)?;
        rest = others;
        read.push(if wanted[number] { Some(head.read_part(number, own)?) } else { None });
    }
    Some(read)
}

fn unpack(packed: &[u8], size: usize) -> Option<Vec<u8>> {
    let bytes = zstd::bulk::decompress(packed, Some(size).filter(|&size| size <= MAX_RUN_BYTES)?).ok()?;
    (bytes.len() == size).then_some(bytes)
}

/// Returns two analyses without the parts that are equal in both, and the number of findings in those. Also includes
/// parts that a new finding refers to: what is there decides whether the finding is new at all of its locations.
pub(super) fn differing_analyses(
    before: &AnalysisContainer<'_>,
    after: &AnalysisContainer<'_>,
) -> Option<(StoredAnalysis, StoredAnalysis, u32)> {
    let (old, new) = (before.head()?, after.head()?);
    let (mut in_old, mut in_new) = differing_parts(&old, &new);
    let mut new_parts = after.parts(&new, &in_new)?;
    let spoken_of: BTreeSet<&[u8]> = new_parts
        .iter()
        .flatten()
        .flat_map(AnalysisPart::paths)
        .map(probity_paths::RepoPath::as_bytes)
        .collect();
    let more: Vec<bool> =
        in_new.iter().zip(&new.parts).map(|(read, part)| !read && spoken_of.contains(part.path)).collect();
    let also = |wanted: &mut bool, path: &[u8]| *wanted |= spoken_of.contains(path);
    in_old.iter_mut().zip(&old.parts).for_each(|(wanted, part)| also(wanted, part.path));
    let (old_parts, more_parts) = rayon::join(|| before.parts(&old, &in_old), || after.parts(&new, &more));
    for (part, more) in new_parts.iter_mut().zip(more_parts?) {
        *part = part.take().or(more);
    }
    in_new.iter_mut().zip(&more).for_each(|(read, more)| *read |= more);
    let left_out = new.parts.iter().zip(&in_new).filter(|(_, read)| !**read);
    let n_alike = left_out.map(|(part, _)| part.n_findings).sum();
    Some((before.stored(old, old_parts?)?, after.stored(new, new_parts)?, n_alike))
}

/// Marks the parts of each analysis that the other lacks or has with different content.
fn differing_parts(old: &AnalysisHead<'_>, new: &AnalysisHead<'_>) -> (Vec<bool>, Vec<bool>) {
    let (mut in_old, mut in_new) = (vec![true; old.parts.len()], vec![true; new.parts.len()]);
    let mut at = 0;
    for (number, part) in new.parts.iter().enumerate() {
        while old.parts.get(at).is_some_and(|other| other.path < part.path) {
            at += 1;
        }
        if old.parts.get(at).is_some_and(|other| other.path == part.path && other.digest == part.digest) {
            (in_old[at], in_new[number]) = (false, false);
        }
    }
    (in_old, in_new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use probity_analysis::{AnalysisInput, AnalysisSettings, SourceInput, analyze, compare};
    use probity_paths::RepoPath;
    use proptest::prelude::*;

    const TEXT: &str = "class A:\n    def f(self, x):\n        return self.x\n\n    def g(self):\n        return 1\n\n\n\
        def _dead(rows):\n    return [row for row in rows if row]\n\n\nfrom . import missing\n";

    fn run_of(files: impl IntoIterator<Item = (Vec<u8>, String)>) -> AnalysisRun {
        let files: Vec<(RepoPath, String)> =
            files.into_iter().map(|(name, text)| (RepoPath::parse(&name).expect("a path"), text)).collect();
        let sources =
            files.iter().map(|(path, text)| (path.clone(), SourceInput::Bytes(text.as_bytes()))).collect();
        analyze(&AnalysisInput { sources, ..AnalysisInput::default() }, &AnalysisSettings::default()).run
    }

    /// Returns an analysis with findings, units, an interface and file names that are not UTF-8.
    fn run() -> AnalysisRun {
        let names: [&[u8]; 3] = [b"pkg/a.py", b"pkg/\xff.py", b"pkg/__init__.py"];
        run_of(names.map(|name| (name.to_vec(), TEXT.to_owned())))
    }

    fn whole(id: RunId, file: &[u8]) -> Option<AnalysisRun> {
        Some(AnalysisContainer::new(id, file)?.full_analysis()?.run)
    }

    #[test]
    fn a_run_comes_back_as_it_was() {
        let run = run();
        assert!(!run.findings.is_empty() && !run.units.is_empty() && !run.api.is_empty());
        let (_, file) = pack(&run).expect("packs");
        assert_eq!(whole(run.id, &file), Some(run));
    }

    #[test]
    fn a_bare_run_is_the_run_without_its_parts() {
        let run = run();
        let (_, file) = pack(&run).expect("packs");
        let n_findings = run.findings.len();
        let bare =
            AnalysisContainer::new(run.id, &file).and_then(|opened| opened.head_analysis()).expect("opens");
        let without = AnalysisRun { findings: Vec::new(), units: Vec::new(), api: Vec::new(), ..run };
        assert_eq!(bare.run, without);
        assert_eq!(bare.n_findings.values().sum::<u64>(), n_findings as u64);
        let mut damaged = file.clone();
        *damaged.last_mut().expect("has bytes") ^= 0x41;
        let opened = AnalysisContainer::new(bare.run.id, &damaged).expect("its head is whole");
        assert!(opened.head_analysis().is_none(), "its parts are not");
    }

    #[test]
    fn a_file_that_was_changed_anywhere_is_no_run() {
        let run = run();
        let (_, file) = pack(&run).expect("packs");
        for at in 0..file.len() {
            let mut changed = file.clone();
            changed[at] ^= 0x41;
            // The first line also contains values without a digest: names and numbers for lists.
            if let Some(found) = whole(run.id, &changed) {
                assert_eq!(found, run, "changed at {at}");
            }
            assert_eq!(whole(run.id, &file[..at]), None, "cut at {at}");
        }
    }

    #[test]
    fn no_head_or_part_makes_reading_fail_otherwise_than_by_saying_so() {
        let codec::EncodedAnalysis { head, parts } = codec::write(&run());
        for at in 0..head.len() {
            let mut changed = head.clone();
            changed[at] ^= 0x41;
            assert!(AnalysisHead::read(&head[..at]).is_none(), "cut at {at}");
            let Some(changed) = AnalysisHead::read(&changed) else { continue };
            let read = |(number, bytes): (usize, &Vec<u8>)| changed.read_part(number, bytes);
            let parts: Vec<Option<AnalysisPart>> =
                parts.iter().take(changed.parts.len()).enumerate().map(read).collect();
            // Whatever is accepted can be compared: no number in it is out of range.
            if let Some(run) = changed.run(parts) {
                compare(&run.0, &run.0);
            }
        }
    }

    /// Generates a file of a small tree: copies, long functions, interfaces, imports of each other.
    fn text() -> impl Strategy<Value = String> {
        let line = prop_oneof![
            Just("def f(a, b, c, d, e, f, g, h):\n    return a.f(b)\n\n\n".to_owned()),
            Just(
                "def f(a, b):\n    if a:\n        if b:\n            return 1\n    return 2\n\n\n".to_owned()
            ),
            Just(TEXT.to_owned()),
            Just("import b\n\n\n".to_owned()),
            Just("import a\n\n\n".to_owned()),
            "[g-i]".prop_map(|name| format!(
                "def {name}(x, y, z, u, v, w, p, q):\n    return x.{name}(y)\n\n\n"
            )),
        ];
        proptest::collection::vec(line, 0..4).prop_map(|lines| lines.concat())
    }

    fn tree() -> impl Strategy<Value = Vec<(Vec<u8>, String)>> {
        let names = proptest::sample::subsequence(vec!["a.py", "b.py", "c.py", "d.py"], 0..=4);
        (names, proptest::collection::vec(text(), 4)).prop_map(|(names, texts)| {
            names.into_iter().zip(texts).map(|(name, text)| (name.as_bytes().to_vec(), text)).collect()
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn a_summary_is_that_of_the_whole_run(files in tree(), n_listed in 0usize..120) {
            let run = run_of(files);
            let packed = pack(&run).expect("packs").1;
            let opened = AnalysisContainer::new(run.id, &packed).expect("opens");
            let summary = opened.summarized_analysis(n_listed).expect("has an outline");
            prop_assert_eq!(summary.findings, SummarizedFindings::of(&run, n_listed));
            prop_assert_eq!(summary.head.run, opened.head_analysis().expect("reads").run);
        }

        #[test]
        fn what_differs_compares_as_the_whole_runs_do(before in tree(), mut after in tree(), kept in 0usize..5) {
            for (name, text) in before.iter().take(kept) {
                after.retain(|(other, _)| other != name);
                after.push((name.clone(), text.clone()));
            }
            let (old, new) = (run_of(before), run_of(after));
            let (packed_old, packed_new) = (pack(&old).expect("packs").1, pack(&new).expect("packs").1);
            let opened = (AnalysisContainer::new(old.id, &packed_old), AnalysisContainer::new(new.id, &packed_new));
            let (thin_old, thin_new, n_alike) =
                differing_analyses(&opened.0.expect("opens"), &opened.1.expect("opens")).expect("reads");
            let mut found = compare(&thin_old.run, &thin_new.run);
            found.unchanged += n_alike;
            prop_assert_eq!(found, compare(&old, &new));
        }
    }
}
