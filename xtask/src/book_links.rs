//! Checks the links of the pages: every relative one leads to a file, and every page is in the book.

use crate::{ChoreResult, root};
use std::fs;
use std::path::{Path, PathBuf};

/// Fails with every link that leads nowhere, and every page that the table of contents forgets.
pub fn check() -> ChoreResult {
    let docs = root().join("docs");
    let mut pages = files_below(&docs)?;
    pages.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    pages.extend(
        ["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "SECURITY.md", "SHORTCOMINGS.md"]
            .map(|name| root().join(name)),
    );
    let contents =
        fs::read_to_string(docs.join("SUMMARY.md")).map_err(|error| format!("SUMMARY.md: {error}"))?;
    let mut faults = Vec::new();
    for page in &pages {
        let text = fs::read_to_string(page).map_err(|error| format!("{}: {error}", page.display()))?;
        let directory = page.parent().unwrap_or(Path::new("."));
        for link in relative_links(&text) {
            let file = link.split('#').next().unwrap_or_default();
            if !file.is_empty() && !directory.join(file).exists() {
                faults.push(format!("{}: `{link}` leads nowhere", shown(page)));
            }
        }
        if let Ok(name) = page.strip_prefix(&docs)
            && name != Path::new("SUMMARY.md")
            && !contents.contains(&format!("({})", name.display()))
        {
            faults.push(format!("{}: not in docs/SUMMARY.md", shown(page)));
        }
    }
    if faults.is_empty() { Ok(()) } else { Err(format!("links:\n  {}", faults.join("\n  "))) }
}

fn shown(page: &Path) -> String {
    page.strip_prefix(root()).unwrap_or(page).display().to_string()
}

/// Returns every file below a directory, sorted.
pub(crate) fn files_below(directory: &Path) -> Result<Vec<PathBuf>, String> {
    let mut files = Vec::new();
    let mut waiting = vec![directory.to_owned()];
    while let Some(directory) = waiting.pop() {
        let entries =
            fs::read_dir(&directory).map_err(|error| format!("{}: {error}", directory.display()))?;
        for path in entries.flatten().map(|entry| entry.path()) {
            if path.is_dir() { waiting.push(path) } else { files.push(path) }
        }
    }
    files.sort();
    Ok(files)
}

/// Returns the targets of links and pictures outside of code blocks, without those to other sites.
fn relative_links(text: &str) -> Vec<&str> {
    let mut links = Vec::new();
    let mut is_code = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        }
        if is_code {
            continue;
        }
        let targets = line.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        links.extend(targets.filter(|target| !target.contains("://") && !target.starts_with("mailto:")));
    }
    links
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_of_other_sites_and_of_code_are_left_out() {
        let text = "[a](b.md#c) and [d](https://e.example)\n```\n[f](g.md)\n```\n![h](i.png)";
        assert_eq!(relative_links(text), ["b.md#c", "i.png"]);
    }
}
