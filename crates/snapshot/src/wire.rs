//! The byte format of snapshots, for the cache and for the record of a run.
//!
//! Numbers are little-endian. The bytes end with the SHA-256 of all before it; input that is damaged, of another version
//! or malformed is rejected as a whole. The number after each name below is its width in bytes.
//!
//! ```text
//! "PROBTREE"  version 2  git ids 1 (0 none, 1 SHA-1, 2 SHA-256)  start 8  number of directories 4
//! for each directory, parents first, in the order of their records:
//!   number of children 4
//!   for each child: name 2+n  tag 1 (as in the root hash)  permission bits 2  links 4
//!                   device 8  inode 8  size 8  mtime 8  ctime 8
//!                   file: digest 32, git id 20 or 32     link: target 4+n     device file: number 8
//! number of findings 4, each: reason 4+n  path 4+n  detail 4+n
//! number of notes 4, each: tag 1 (0 no mount ids, 1 absolute link)  path 4+n
//! SHA-256 32
//! ```

use crate::finding::TreeFinding;
use crate::merkle;
use crate::object::ObjectFormat;
use crate::record::{Dir, Facts, Held, ROOT, Record};
use crate::snapshot::{Note, Snapshot};
use probity_core::Digest;
use probity_paths::RepoPath;

const MAGIC: &[u8] = b"PROBTREE";
const VERSION: u16 = 1;
const DIGEST_LEN: usize = 32;

/// The bytes are not a snapshot that this version could have written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the stored snapshot is damaged or of another version")]
pub struct BadSnapshot;

impl Snapshot {
    pub fn to_bytes(&self) -> Vec<u8> {
        let n_names: usize = self.dirs.iter().map(|dir| dir.names.len()).sum();
        let mut out = Writer(Vec::with_capacity(1024 + n_names + 128 * self.n_entries()));
        out.0.extend_from_slice(MAGIC);
        out.0.extend_from_slice(&VERSION.to_le_bytes());
        out.0.push(format_tag(self.git_ids));
        out.0.extend_from_slice(&self.started_ns.to_le_bytes());
        out.count(self.dirs.len());
        for dir in &self.dirs {
            out.dir(dir, self.git_id_len());
        }
        out.count(self.findings.len());
        for finding in &self.findings {
            out.long(finding.reason.as_str().as_bytes());
            out.long(finding.path.as_bytes());
            out.long(finding.detail.as_bytes());
        }
        out.count(self.notes.len());
        for note in &self.notes {
            out.note(note);
        }
        let checksum = Digest::of(&out.0);
        out.0.extend_from_slice(checksum.as_bytes());
        out.0
    }

    /// Decodes the output of [`Snapshot::to_bytes`]. The hashes of the directories are recomputed.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, BadSnapshot> {
        let (body, checksum) = bytes.split_last_chunk::<DIGEST_LEN>().ok_or(BadSnapshot)?;
        if Digest::of(body).as_bytes() != checksum {
            return Err(BadSnapshot);
        }
        read(&mut Input(body)).ok_or(BadSnapshot)
    }
}

struct Writer(Vec<u8>);

impl Writer {
    fn count(&mut self, n: usize) {
        let n = u32::try_from(n).expect("a snapshot numbers everything in 32 bits");
        self.0.extend_from_slice(&n.to_le_bytes());
    }

    fn long(&mut self, bytes: &[u8]) {
        self.count(bytes.len());
        self.0.extend_from_slice(bytes);
    }

    fn dir(&mut self, dir: &Dir, git_id_len: usize) {
        self.count(dir.records.len());
        let mut targets = dir.targets.iter();
        for (place, record) in dir.records.iter().enumerate() {
            self.record(dir, record);
            match record.held {
                Held::File(Some(digest)) => {
                    self.0.extend_from_slice(digest.as_bytes());
                    self.0.extend_from_slice(&dir.git_ids[place * git_id_len..][..git_id_len]);
                }
                Held::Symlink(Some(_)) => {
                    self.long(targets.next().map_or(&[], |(_, target)| target));
                }
                Held::CharDevice(number) | Held::BlockDevice(number) => {
                    self.0.extend_from_slice(&number.to_le_bytes());
                }
                _ => {}
            }
        }
    }

    fn record(&mut self, dir: &Dir, record: &Record) {
        let facts = &record.facts;
        self.0.extend_from_slice(&record.name.1.to_le_bytes());
        self.0.extend_from_slice(dir.name(record));
        self.0.push(merkle::tag(&record.held));
        self.0.extend_from_slice(&facts.mode.to_le_bytes());
        self.0.extend_from_slice(&facts.links.to_le_bytes());
        for number in [facts.device, facts.inode, facts.size] {
            self.0.extend_from_slice(&number.to_le_bytes());
        }
        for time in [facts.mtime_ns, facts.ctime_ns] {
            self.0.extend_from_slice(&time.to_le_bytes());
        }
    }

    fn note(&mut self, note: &Note) {
        match note {
            Note::NoMountIds => {
                self.0.push(0);
                self.long(b"");
            }
            Note::AbsoluteLinkInside(path) => {
                self.0.push(1);
                self.long(path.as_bytes());
            }
        }
    }
}

/// Bytes to read from the front; every read returns `None` if they end too soon.
struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    fn take(&mut self, n: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(n)?;
        self.0 = rest;
        Some(head)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*head)
    }

    fn u64(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.array()?))
    }

    fn i64(&mut self) -> Option<i64> {
        Some(i64::from_le_bytes(self.array()?))
    }

    /// Reads a count of items of at least `least` bytes each. It is never more than can follow, so memory for the items
    /// can be allocated at once.
    fn count(&mut self, least: usize) -> Option<usize> {
        let n = u32::from_le_bytes(self.array()?) as usize;
        (n <= self.0.len() / least).then_some(n)
    }

    fn long(&mut self) -> Option<&'a [u8]> {
        let n = self.count(1)?;
        self.take(n)
    }

    fn text(&mut self) -> Option<&'a str> {
        std::str::from_utf8(self.long()?).ok()
    }

    fn path(&mut self) -> Option<RepoPath> {
        RepoPath::parse(self.long()?).ok()
    }
}

fn read(input: &mut Input<'_>) -> Option<Snapshot> {
    if input.take(MAGIC.len())? != MAGIC || u16::from_le_bytes(input.array()?) != VERSION {
        return None;
    }
    let git_ids = match input.array()? {
        [0] => None,
        [1] => Some(ObjectFormat::Sha1),
        [2] => Some(ObjectFormat::Sha256),
        _ => return None,
    };
    let started_ns = input.i64()?;
    let dirs = read_dirs(input, git_ids.map_or(0, ObjectFormat::id_len))?;
    let n_findings = input.count(12)?;
    let findings = (0..n_findings).map(|_| read_finding(input)).collect::<Option<_>>()?;
    let n_notes = input.count(5)?;
    let notes = (0..n_notes).map(|_| read_note(input)).collect::<Option<_>>()?;
    input.0.is_empty().then_some(Snapshot { dirs, findings, notes, started_ns, git_ids })
}

/// Reads the directories. The `n`-th directory record belongs to the `n`-th directory that follows.
fn read_dirs(input: &mut Input<'_>, git_id_len: usize) -> Option<Vec<Dir>> {
    let n_dirs = input.count(4)?;
    let mut parents = vec![(ROOT, 0)];
    let mut dirs = Vec::with_capacity(n_dirs);
    for id in 0..n_dirs {
        let parent = *parents.get(id)?;
        let first = u32::try_from(parents.len()).ok()?;
        let dir = read_dir(input, parent, first, git_id_len)?;
        let id = u32::try_from(id).ok()?;
        let places = (0..).zip(&dir.records);
        let subdirs = places.filter(|(_, record)| matches!(record.held, Held::Directory(Some(_))));
        parents.extend(subdirs.map(|(place, _)| (id, place)));
        dirs.push(dir);
    }
    if dirs.is_empty() || parents.len() != n_dirs {
        return None;
    }
    merkle::hash_all(&mut dirs);
    Some(dirs)
}

fn read_dir(input: &mut Input<'_>, parent: (u32, u32), first: u32, git_id_len: usize) -> Option<Dir> {
    let n_records = input.count(51)?;
    let mut draft = Draft { records: Vec::with_capacity(n_records), next: first, ..Draft::default() };
    let mut last: &[u8] = b"";
    for _ in 0..n_records {
        let len = u16::from_le_bytes(input.array()?);
        let name = input.take(len.into())?;
        if name <= last || name.contains(&b'/') || RepoPath::parse(name).is_err() {
            return None;
        }
        last = name;
        draft.read_record(input, name, git_id_len)?;
    }
    Some(Dir {
        parent,
        names: draft.names.into(),
        records: draft.records.into(),
        targets: draft.targets.into(),
        git_ids: draft.git_ids.into(),
        hash: Digest::from_bytes([0; DIGEST_LEN]),
    })
}

/// A directory of which some children have been read.
#[derive(Default)]
struct Draft {
    names: Vec<u8>,
    records: Vec<Record>,
    targets: Vec<(u32, Box<[u8]>)>,
    git_ids: Vec<u8>,
    /// The number of the next directory.
    next: u32,
}

impl Draft {
    fn read_record(&mut self, input: &mut Input<'_>, name: &[u8], git_id_len: usize) -> Option<()> {
        let start = u32::try_from(self.names.len()).ok()?;
        self.names.extend_from_slice(name);
        let [tag] = input.array()?;
        let facts = read_facts(input)?;
        let held = self.read_held(input, tag)?;
        if tag == b'f' {
            self.git_ids.extend_from_slice(input.take(git_id_len)?);
        }
        self.records.push(Record { name: (start, u16::try_from(name.len()).ok()?), facts, held });
        self.git_ids.resize(self.records.len() * git_id_len, 0);
        Some(())
    }

    fn read_held(&mut self, input: &mut Input<'_>, tag: u8) -> Option<Held> {
        Some(match tag {
            b'f' => Held::File(Some(Digest::from_bytes(input.array()?))),
            b'l' => {
                let target = input.long()?;
                self.targets.push((u32::try_from(self.records.len()).ok()?, target.into()));
                Held::Symlink(Some(Digest::of(target)))
            }
            b'd' => {
                self.next = self.next.checked_add(1)?;
                Held::Directory(Some(self.next - 1))
            }
            b'c' => Held::CharDevice(input.u64()?),
            b'b' => Held::BlockDevice(input.u64()?),
            b'p' => Held::Fifo,
            b's' => Held::Socket,
            b'F' => Held::File(None),
            b'L' => Held::Symlink(None),
            b'D' => Held::Directory(None),
            _ => return None,
        })
    }
}

fn read_facts(input: &mut Input<'_>) -> Option<Facts> {
    let mode = u16::from_le_bytes(input.array()?);
    Some(Facts {
        mode: (mode <= 0o7777).then_some(mode)?,
        links: u32::from_le_bytes(input.array()?),
        device: input.u64()?,
        inode: input.u64()?,
        size: input.u64()?,
        mtime_ns: input.i64()?,
        ctime_ns: input.i64()?,
    })
}

fn read_finding(input: &mut Input<'_>) -> Option<TreeFinding> {
    let reason = input.text()?.parse().ok()?;
    Some(TreeFinding { reason, path: input.path()?, detail: input.text()?.to_owned() })
}

fn read_note(input: &mut Input<'_>) -> Option<Note> {
    match input.array()? {
        [0] => input.long()?.is_empty().then_some(Note::NoMountIds),
        [1] => Some(Note::AbsoluteLinkInside(input.path()?)),
        _ => None,
    }
}

const fn format_tag(format: Option<ObjectFormat>) -> u8 {
    match format {
        None => 0,
        Some(ObjectFormat::Sha1) => 1,
        Some(ObjectFormat::Sha256) => 2,
    }
}
