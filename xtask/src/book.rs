//! `cargo xtask book`: builds the pages under `docs`, and what else a reader of the site needs, into a site with mdBook.
//!
//! The pages are written for the repository, so their links are those of the repository. A copy is made for the site in which a
//! link to a page of the site leads there, and a link to any other file leads to the repository on the web.

use crate::audit::tool;
use crate::book_links::files_below;
use crate::{ChoreResult, root, target};
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

/// Where files of the repository are shown that are not in the site.
const REPOSITORY: &str = "https://github.com/probity-dev/probity";

/// Pages from the top of the repository that belong to the site, with their names there.
const TOP_PAGES: [(&str, &str); 4] = [
    ("BENCHMARKS.md", "benchmarks.md"),
    ("CHANGELOG.md", "changelog.md"),
    ("SECURITY.md", "security.md"),
    ("SHORTCOMINGS.md", "shortcomings.md"),
];

pub fn book() -> ChoreResult {
    let mdbook = tool("mdbook")?;
    let source = target().join("book-source");
    copy_pages(&source)?;
    let place = target().join("book");
    let status = Command::new(mdbook)
        .arg("build")
        .arg(&source)
        .arg("--dest-dir")
        .arg(&place)
        .status()
        .map_err(|error| format!("mdbook: {error}"))?;
    if !status.success() {
        return Err("the book does not build, see above".into());
    }
    check_site(&place)?;
    eprintln!("── the book is in {}", place.join("index.html").display());
    Ok(())
}

/// Makes the source of the site.
fn copy_pages(source: &Path) -> ChoreResult {
    match fs::remove_dir_all(source) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(failed(source, &error)),
        _ => {}
    }
    let docs = root().join("docs");
    for path in files_below(&docs)? {
        let name = path.strip_prefix(root()).unwrap_or(&path);
        let place = source.join(path.strip_prefix(&docs).unwrap_or(&path));
        copy_page(name, &place)?;
    }
    TOP_PAGES.iter().try_for_each(|(page, name)| copy_page(Path::new(page), &source.join(name)))
}

/// Copies a file of the repository; the links of a page become those of the site.
fn copy_page(name: &Path, place: &Path) -> ChoreResult {
    let directory = place.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(directory).map_err(|error| failed(directory, &error))?;
    let path = root().join(name);
    if name.extension().is_none_or(|extension| extension != "md") {
        return fs::copy(&path, place).map(|_| ()).map_err(|error| failed(&path, &error));
    }
    let text = fs::read_to_string(&path).map_err(|error| failed(&path, &error))?;
    fs::write(place, site_page(name, &text)).map_err(|error| failed(place, &error))
}

/// Returns a page of the repository with the links of the site.
fn site_page(name: &Path, text: &str) -> String {
    let mut page = String::new();
    let mut is_code = false;
    for line in text.split_inclusive('\n') {
        is_code ^= line.trim_start().starts_with("```");
        let mut parts = line.split("](");
        page.push_str(parts.next().unwrap_or_default());
        for part in parts {
            page.push_str("](");
            match part.split_once(')').filter(|_| !is_code) {
                Some((link, rest)) => {
                    page.push_str(&site_link(name, link));
                    page.push(')');
                    page.push_str(rest);
                }
                None => page.push_str(part),
            }
        }
    }
    page
}

/// Returns where a link of the page `name` leads on the site.
fn site_link(name: &Path, link: &str) -> String {
    if link.contains("://") || link.starts_with(['#', '<']) || link.starts_with("mailto:") {
        return link.to_owned();
    }
    let (file, anchor) = link.split_once('#').map_or((link, None), |(file, anchor)| (file, Some(anchor)));
    let target = joined(name.parent().unwrap_or(Path::new("")), file);
    let in_site = match TOP_PAGES.iter().find(|(page, _)| target == Path::new(page)) {
        Some((_, place)) => Some(PathBuf::from(place)),
        None => {
            target.strip_prefix("docs").ok().filter(|_| !root().join(&target).is_dir()).map(Path::to_owned)
        }
    };
    let place = match in_site {
        Some(place) => {
            let depth = name.strip_prefix("docs").map_or(1, |below| below.components().count());
            format!("{}{}", "../".repeat(depth.saturating_sub(1)), place.display())
        }
        None => {
            let kind = if root().join(&target).is_dir() { "tree" } else { "blob" };
            format!("{REPOSITORY}/{kind}/main/{}", target.display())
        }
    };
    anchor.map_or(place.clone(), |anchor| format!("{place}#{anchor}"))
}

/// Joins a relative path to a directory and removes `.` and `..`.
fn joined(directory: &Path, path: &str) -> PathBuf {
    let mut joined = PathBuf::new();
    for component in directory.join(path).components() {
        match component {
            Component::ParentDir => {
                joined.pop();
            }
            Component::CurDir => {}
            other => joined.push(other),
        }
    }
    joined
}

/// Fails with every link of the built site that leads to no file or to no place in one.
fn check_site(site: &Path) -> ChoreResult {
    let mut faults = Vec::new();
    for page in files_below(site)?.iter().filter(|path| path.extension().is_some_and(|it| it == "html")) {
        let name = page.strip_prefix(site).unwrap_or(page);
        // All pages in one, for printing; links within it are resolved by its own rules.
        if matches!(name.to_str(), Some("print.html" | "toc.html" | "404.html")) {
            continue;
        }
        let text = fs::read_to_string(page).map_err(|error| failed(page, &error))?;
        for link in attributes(&text, "href").chain(attributes(&text, "src")) {
            if link.contains("://") || link.starts_with("mailto:") || link.starts_with("data:") {
                continue;
            }
            let (file, anchor) = link.split_once('#').map_or((link, ""), |(file, anchor)| (file, anchor));
            let target = if file.is_empty() {
                page.clone()
            } else {
                site.join(joined(name.parent().unwrap_or(Path::new("")), file))
            };
            if !target.is_file() {
                faults.push(format!("{}: `{link}` leads nowhere", name.display()));
            } else if !anchor.is_empty() && target.extension().is_some_and(|it| it == "html") {
                let text = fs::read_to_string(&target).map_err(|error| failed(&target, &error))?;
                if !attributes(&text, "id").any(|id| id == anchor) {
                    faults.push(format!("{}: `{link}` leads to no heading", name.display()));
                }
            }
        }
    }
    faults.dedup();
    if faults.is_empty() { Ok(()) } else { Err(format!("links of the site:\n  {}", faults.join("\n  "))) }
}

/// Returns the values of an attribute in the order of the page.
fn attributes<'a>(text: &'a str, name: &str) -> impl Iterator<Item = &'a str> {
    let mark = format!(" {name}=\"");
    text.match_indices(&mark)
        .map(|(at, mark)| at + mark.len())
        .collect::<Vec<_>>()
        .into_iter()
        .filter_map(move |start| text[start..].split('"').next())
}

fn failed(path: &Path, error: &std::io::Error) -> String {
    format!("{}: {error}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_of_the_repository_become_links_of_the_site() {
        let docs = Path::new("docs/team.md");
        for (link, expected) in [
            ("scopes.md#sets", "scopes.md#sets".to_owned()),
            ("#here", "#here".to_owned()),
            ("https://a.example/b", "https://a.example/b".to_owned()),
            ("../BENCHMARKS.md", "benchmarks.md".to_owned()),
            ("../examples/ci/gitlab.yml", format!("{REPOSITORY}/blob/main/examples/ci/gitlab.yml")),
            ("schemas/", format!("{REPOSITORY}/tree/main/docs/schemas")),
            ("schemas/run.v1.json", "schemas/run.v1.json".to_owned()),
        ] {
            assert_eq!(site_link(docs, link), expected, "{link}");
        }
        assert_eq!(site_link(Path::new("SECURITY.md"), "docs/laws.md"), "laws.md");
        assert_eq!(site_link(Path::new("SECURITY.md"), "SHORTCOMINGS.md"), "shortcomings.md");
        assert_eq!(site_link(Path::new("docs/reference/commands.md"), "../laws.md"), "../laws.md");
    }

    #[test]
    fn code_keeps_its_brackets() {
        let page = "[a](../SECURITY.md), [b](c.md)\n```\nx[0](../SECURITY.md)\n```\n";
        let site = "[a](security.md), [b](c.md)\n```\nx[0](../SECURITY.md)\n```\n";
        assert_eq!(site_page(Path::new("docs/a.md"), page), site);
    }

    #[test]
    fn a_link_of_the_site_that_leads_nowhere_is_found() {
        let site = target().join(format!("book-test-{}", std::process::id()));
        fs::create_dir_all(site.join("below")).expect("is made");
        fs::write(site.join("a.html"), "<h1 id=\"top\"></h1>").expect("is written");
        let page = |links: &str| fs::write(site.join("below/b.html"), links).expect("is written");
        page("<a href=\"../a.html#top\">a</a> <a href=\"https://a.example\">b</a> <img src=\"b.html\">");
        let good = check_site(&site);
        page("<a href=\"../a.html#gone\">a</a> <a href=\"c.html\">c</a>");
        let bad = check_site(&site);
        fs::remove_dir_all(&site).expect("is removed");
        assert_eq!(good, Ok(()));
        let faults = bad.expect_err("two links lead nowhere");
        assert!(faults.contains("`../a.html#gone` leads to no heading"), "{faults}");
        assert!(faults.contains("`c.html` leads nowhere"), "{faults}");
    }
}
