//! Decides which writes to the files of analyses are honest while a command is governed.

use crate::analysis_store::AnalysisStore;
use crate::analyze::cache;
use probity_core::Digest;
use probity_workspace::StateDirectory;
use probity_workspace::state_files::{FileFate, StateFiles, StateMark, name_parts};
use std::collections::BTreeMap;
use std::path::Path;

#[derive(Debug)]
pub struct AnalysisFiles;

impl StateFiles for AnalysisFiles {
    fn mark(&self, state: &StateDirectory) -> Box<dyn StateMark> {
        Box::new(AnalysisMark { digests: AnalysisStore::of(state).digests() })
    }
}

/// The digests of the stored analyses.
#[derive(Debug)]
struct AnalysisMark {
    digests: BTreeMap<String, Digest>,
}

impl StateMark for AnalysisMark {
    /// A stored analysis must match its name, never changes under that name, and is removed only if nobody needs it;
    /// a pin names its holder. Nothing here can tell whether an analysis or a fact is truthful: a process that can
    /// write them can also write the tree.
    fn explains(&self, state: &StateDirectory, name: &Path, fate: FileFate) -> bool {
        let path = state.dir().join(name);
        if path == state.facts() {
            return fate == FileFate::Gone || cache::is_whole(&path);
        }
        let runs = AnalysisStore::of(state);
        match (name_parts(name).unwrap_or_default().as_slice(), fate) {
            (["runs", "lock"], _) => true,
            (["runs", unfinished] | ["runs", "pins", _, unfinished], FileFate::Gone)
                if unfinished.contains('.') =>
            {
                true
            }
            (["runs", id], FileFate::Gone) => runs.is_free(id),
            (["runs", id], FileFate::New) => runs.digest_of(id).is_some(),
            (["runs", id], FileFate::Changed) => {
                let now = runs.digest_of(id);
                now.is_some() && self.digests.get(*id).is_none_or(|then| now.as_ref() == Some(then))
            }
            (["runs", "pins", _, _], FileFate::New | FileFate::Changed) => AnalysisStore::is_pin(&path),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use probity_analysis::{AnalysisInput, AnalysisRun, AnalysisSettings, RunId, SourceInput, analyze};
    use probity_paths::RepoPath;
    use std::fs;
    use std::path::PathBuf;

    /// Analyzes a tree with one file.
    fn analysis_of(text: &str) -> AnalysisRun {
        let path = RepoPath::parse(b"a.py").expect("a path");
        let sources = BTreeMap::from([(path, SourceInput::Bytes(text.as_bytes()))]);
        analyze(&AnalysisInput { sources, ..AnalysisInput::default() }, &AnalysisSettings::default()).run
    }

    fn state() -> (tempfile::TempDir, StateDirectory) {
        let dir = tempfile::tempdir().expect("a directory");
        let state = StateDirectory::at(dir.path().to_owned());
        fs::create_dir_all(dir.path().join("cache")).expect("creates");
        (dir, state)
    }

    /// Returns the name of the stored analysis of `text`, relative to the state directory.
    fn stored(state: &StateDirectory, text: &str) -> PathBuf {
        let run = AnalysisStore::of(state).save(analysis_of(text)).expect("saves").run;
        Path::new("runs").join(run.id.0.to_hex())
    }

    #[test]
    fn analyses_may_go_on_meanwhile_and_no_run_becomes_another() {
        let (_dir, state) = state();
        let (kept, pinned) = (stored(&state, "a = 1\n"), stored(&state, "a = 2\n"));
        let id = format!("sha256:{}", pinned.file_name().expect("a name").to_string_lossy());
        AnalysisStore::of(&state).pin(RunId(id.parse().expect("an id")), "intent-1").expect("pins");
        let mark = AnalysisFiles.mark(&state);
        assert!(mark.explains(&state, &stored(&state, "a = 3\n"), FileFate::New));
        assert!(mark.explains(&state, &stored(&state, "a = 1\n"), FileFate::Changed), "saved again");
        let other = Path::new("runs").join("00".repeat(32));
        fs::write(state.dir().join(&other), "forged").expect("writes");
        assert!(!mark.explains(&state, &other, FileFate::New), "no run at all");
        fs::rename(state.dir().join(&kept), state.dir().join(&other)).expect("renames");
        assert!(!mark.explains(&state, &other, FileFate::New), "a run under the name of another");
        assert!(mark.explains(&state, &kept, FileFate::Gone), "cleared away");
        assert!(!mark.explains(&state, &pinned, FileFate::Gone), "a run that an intent needs");
        let planted = Path::new("runs/pins").join("00".repeat(32)).join("planted");
        assert!(!mark.explains(&state, &planted, FileFate::New));
    }

    #[test]
    fn facts_may_be_added_and_nothing_else() {
        let (_dir, state) = state();
        let mark = AnalysisFiles.mark(&state);
        fs::write(state.facts(), cache::FACTS_CACHE.first_line()).expect("writes");
        assert!(mark.explains(&state, Path::new("cache/facts"), FileFate::New));
        fs::write(state.facts(), "forged").expect("writes");
        assert!(!mark.explains(&state, Path::new("cache/facts"), FileFate::Changed));
    }
}
