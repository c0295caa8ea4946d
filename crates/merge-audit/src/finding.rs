//! What an audit reports.

use crate::path_class::SetAsideReason;
use probity_core::Digest;
use probity_paths::RepoPath;
use schemars::JsonSchema;
use serde::Serialize;

probity_core::word_enum! {
    /// How certain it is that a merge lost something, or what else is wrong with its result.
    pub enum FindingClass {
        /// One side's edit is not in the result, and nothing of the other side explains that.
        Lost = "lost",
        /// The other side edited the same place in another way: only a person can say which edit is right.
        Contested = "contested",
        /// The other side once had the edit and went on from there.
        Superseded = "superseded",
        /// There is no common ancestor, so that nobody can say who edited what: a hint.
        TwoWay = "two_way",
        /// The result holds conflict markers.
        Markers = "markers",
        /// The result does not parse, although both sides do.
        DoesNotParse = "does_not_parse",
        /// The result defines something twice.
        Duplicate = "duplicate",
        /// The result calls what the other side removed.
        Dangling = "dangling",
        /// The result calls with a number of arguments that the other side changed.
        Signature = "signature",
    }
}

impl FindingClass {
    /// Returns true if somebody should look before the merge is relied on.
    pub const fn is_hard(self) -> bool {
        !matches!(self, Self::Contested | Self::Superseded | Self::TwoWay)
    }

    /// Returns true if the result is broken, no matter whose edit it was.
    pub const fn is_breakage(self) -> bool {
        self.is_hard() && !matches!(self, Self::Lost)
    }
}

probity_core::word_enum! {
    /// What kind of edit is gone, or what kind of place is broken.
    pub enum EditKind {
        Insert = "insert",
        Update = "update",
        Delete = "delete",
        AddEntity = "add_entity",
        RemoveEntity = "remove_entity",
        Import = "import",
        /// A lost import of a name that the result uses.
        ImportLost = "import_lost",
        Comment = "comment",
        AddFile = "add_file",
        RemoveFile = "remove_file",
        UpdateFile = "update_file",
        RenameFile = "rename_file",
        /// A function, method or class that stands at its old place again.
        Move = "move",
        Mode = "mode",
        Symlink = "symlink",
        Submodule = "submodule",
        Definition = "definition",
        Call = "call",
        Text = "text",
    }
}

impl EditKind {
    /// Returns true if something is back that a side removed.
    pub const fn is_deletion(self) -> bool {
        matches!(self, Self::Delete | Self::RemoveEntity | Self::RemoveFile)
    }
}

probity_core::word_enum! {
    /// A side of a merge: the first parent is ours.
    pub enum MergeSide {
        Ours = "ours",
        Theirs = "theirs",
    }
}

probity_core::word_enum! {
    /// Where in the merge the edit went missing.
    pub enum LossCause {
        /// The sides merge cleanly here, and the resolution took the edit out.
        Resolution = "resolution",
        /// Both sides changed the place, and the person who merged decided.
        Conflict = "conflict",
        /// One side deleted or renamed the file that the other side changed.
        File = "file",
    }
}

/// Lines of one version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct VersionExcerpt {
    /// The first and the last line, from 1.
    pub lines: [u32; 2],
    pub text: String,
}

/// Where an edit is: which of the four versions, and its lines there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EditPlace {
    pub version: usize,
    /// First and last line, from 1; zeros for a whole file.
    pub lines: [u32; 2],
}

/// One edit that is not in the result, or one place where the result is broken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditFinding {
    /// 16 hexadecimal digits, stable for the same four contents.
    pub id: String,
    pub class: FindingClass,
    pub kind: EditKind,
    pub side: Option<MergeSide>,
    /// In the tree of the side; for breakages in the result.
    pub path: RepoPath,
    /// The file in the result, which may have another path.
    pub result_path: Option<RepoPath>,
    pub place: EditPlace,
    /// Qualified name of what it is in.
    pub entity: Option<String>,
    /// Lines in the side's version; of a deletion, in the base.
    pub lines: Option<[u32; 2]>,
    /// The lines that are gone, or that are back although the side deleted them; of a breakage, the name.
    pub lost: Vec<String>,
    pub cause: Option<LossCause>,
    /// Base, ours, theirs, result at that place.
    pub versions: [Option<VersionExcerpt>; 4],
}

impl AuditFinding {
    /// Names the finding after the four contents and its edit. `n_equal` findings of the same file have the same edit and come
    /// before it.
    pub(crate) fn fill_id(&mut self, ids: [&str; 4], n_equal: usize) {
        let side = self.side.map_or("", MergeSide::as_str);
        let entity = self.entity.clone().unwrap_or_default();
        let mut parts: Vec<&str> = ids.to_vec();
        parts.extend([self.class.as_str(), self.kind.as_str(), side, &entity]);
        parts.extend(self.lost.iter().map(String::as_str));
        let mut text = parts.join("\n").into_bytes();
        text.extend(self.path.as_bytes());
        if n_equal > 0 {
            text.extend(format!("\n{n_equal}").into_bytes());
        }
        Digest::of(&text).to_hex()[..16].clone_into(&mut self.id);
    }
}

/// A file whose losses are only listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetAsideFile {
    pub path: RepoPath,
    pub reason: SetAsideReason,
}

/// A file that the result has as one side has it, although the other side changed it, too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WholeFileTaken {
    pub path: RepoPath,
    pub from: MergeSide,
}

probity_core::word_enum! {
    /// What an audit left out because too many files changed.
    pub enum UncheckedPart {
        /// Whether calls of one side fit the definitions of the other.
        Calls = "calls",
        /// Whether lines that seem lost went to another file.
        Moves = "moves",
    }
}

/// What an audit found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditReport {
    pub findings: Vec<AuditFinding>,
    pub taken_whole: Vec<WholeFileTaken>,
    pub set_aside: Vec<SetAsideFile>,
    /// Calls of names whose definition the other side removed, if no file outside of the four trees defines them.
    pub unconfirmed: Vec<AuditFinding>,
    /// What was left out because too many files changed.
    pub unchecked: Vec<UncheckedPart>,
    /// The files whose fate the ids did not prove.
    pub n_compared: usize,
}
