//! The paths of a patch in the format `*** Begin Patch`.

/// Returns every path that a patch adds, updates, deletes or moves to.
///
/// # Errors
///
/// Returns why the text is no such patch. A patch without a path is none.
pub fn patch_paths(text: &str) -> Result<Vec<String>, String> {
    const HEADERS: [&str; 4] = ["*** Add File:", "*** Update File:", "*** Delete File:", "*** Move to:"];
    let mut paths = Vec::new();
    for line in text.lines() {
        let line = line.trim_end();
        // Lines of content begin with `+`, `-` or a blank.
        let Some(rest) = line.strip_prefix("*** ") else { continue };
        let header = HEADERS.iter().find_map(|header| line.strip_prefix(header));
        match header {
            Some(path) if !path.trim().is_empty() => paths.push(path.trim().to_owned()),
            Some(_) => return Err("a header of the patch names no path".into()),
            None if matches!(rest, "Begin Patch" | "End Patch" | "End of File") => {}
            None => return Err(format!("the patch has the unknown header `{rest}`")),
        }
    }
    if paths.is_empty() { Err("the patch names no file".into()) } else { Ok(paths) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_of_a_patch_is_found() {
        let patch = "*** Begin Patch\n*** Add File: new.txt\n+*** Delete File: no\n*** Update File: a.txt\n*** Move to: b/c.txt\n@@\n-one\n+two\n*** Delete File: old.txt\n*** End Patch\n";
        assert_eq!(patch_paths(patch).expect("parses"), ["new.txt", "a.txt", "b/c.txt", "old.txt"]);
    }

    #[test]
    fn a_patch_of_another_form_is_an_error() {
        for text in ["", "--- a\n+++ b\n", "*** Begin Patch\n*** Rename File: a\n", "*** Add File: \n"] {
            assert!(patch_paths(text).is_err(), "{text:?}");
        }
    }
}
