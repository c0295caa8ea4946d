//! The parts of agents' configuration that install or disarm the guard.

use probity_core::Digest;
use serde_json::Value;

/// The configuration files that can disarm a hook: with `true` below the home directory, else at the top of the tree.
pub const CONFIGURATION_FILES: [(bool, &str); 11] = [
    (false, ".claude/settings.json"),
    (false, ".claude/settings.local.json"),
    (true, ".claude/settings.json"),
    (false, ".codex/hooks.json"),
    (true, ".codex/hooks.json"),
    (false, ".gemini/settings.json"),
    (true, ".gemini/settings.json"),
    (false, ".qwen/settings.json"),
    (true, ".qwen/settings.json"),
    (false, ".github/hooks/probity.json"),
    (false, ".cursor/hooks.json"),
];

/// The members that install or disarm hooks. Others, such as permissions, may change while an agent works.
const HOOK_MEMBERS: [&str; 5] =
    ["hooks", "disableAllHooks", "hooksConfig", "disabledHooks", "allowManagedHooksOnly"];

/// Returns one digest over the relevant parts of the files, given in the order of [`CONFIGURATION_FILES`].
pub fn configuration_digest(contents: &[Option<Vec<u8>>]) -> String {
    let mut text = String::new();
    for content in contents {
        match content {
            None => text.push('-'),
            Some(bytes) => match serde_json::from_slice::<Value>(bytes) {
                Ok(Value::Object(members)) => {
                    for name in HOOK_MEMBERS {
                        if let Some(value) = members.get(name) {
                            text.push_str(name);
                            text.push_str(&value.to_string());
                        }
                    }
                }
                // Agents skip what they cannot read, and the hooks in it.
                _ => text.push('!'),
            },
        }
        text.push('\n');
    }
    Digest::of(text.as_bytes()).to_hex()[..32].to_owned()
}

/// Returns what tells a program from another one at the same path. The time of the last change of its entry cannot be set, unlike
/// that of its content.
pub fn program_identity(size: u64, inode: u64, changed_at: (i64, i64)) -> String {
    format!("{size} {inode} {}.{:09}", changed_at.0, changed_at.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_changes_of_hooks_count() {
        let digest = |text: &str| configuration_digest(&[Some(text.as_bytes().to_vec())]);
        let before = digest(r#"{"hooks":{"PreToolUse":[1]}}"#);
        assert_eq!(digest(r#"{"hooks":{"PreToolUse":[1]},"permissions":{"allow":["x"]}}"#), before);
        for disarmed in ["{}", r#"{"hooks":{"PreToolUse":[1]},"disableAllHooks":true}"#, "no json", "[]"] {
            assert_ne!(digest(disarmed), before, "{disarmed}");
        }
        assert_ne!(configuration_digest(&[None]), digest("no json"));
    }
}
