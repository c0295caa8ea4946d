//! Probity's own state and rules.

use crate::fixture::{Case, End, cases};

cases! {
    the_state_cannot_be_deleted => Case::new("rm -rf .git/probity .probity 2>/dev/null; test -d .git/probity", End::Passes);
    nothing_can_be_planted_in_the_state => Case::new(
        "mkdir -p .git/probity/evidence/forged 2>/dev/null; echo '{}' > .git/probity/evidence/forged/manifest.json 2>/dev/null; true",
        End::Passes);
    a_wider_policy_does_not_help => Case::new(
        "printf '[[pack]]\\nid = \"all\"\\nscope = [\"**\"]\\n' > probity.toml; echo evil > README.md", End::Fails);
    an_amendment_cannot_be_made_from_inside => Case::new(
        "\"$PROBITY\" amend open --add '**' --why please 2>/dev/null; echo evil > README.md; true", End::Fails);
    a_nested_run_with_a_wider_scope_lands_nothing => Case::new(
        "\"$PROBITY\" run --scope '**' -- sh -c 'echo evil > README.md' 2>/dev/null; true", End::Any);
}
