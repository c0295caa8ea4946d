//! Git's own files: everything works in the view, and only content leaves it.

use crate::fixture::{Case, End, cases};

cases! {
    commits_work_and_their_content_lands => Case {
        lands: &[("src/auth/login.sh", Some("ok\n"))],
        ..Case::new("echo ok > src/auth/login.sh; git add -A && git commit -qm inside && git stash list && git gc -q && \
                     git fsck >/dev/null 2>&1", End::Passes)
    };
    a_hook_is_found_and_does_not_land => Case::new(
        "printf '#!/bin/sh\\ntouch \"$OUT/x\"\\n' > .git/hooks/post-checkout; chmod +x .git/hooks/post-checkout", End::Fails);
    settings_that_start_programs_do_not_land => Case::new(
        "git config core.fsmonitor \"touch $OUT/x\"; git config alias.st '!touch x'; git config core.hooksPath src/auth", End::Fails);
    a_worktree_cannot_be_added_outside => Case::new("git worktree add -q \"$OUT/wt\" -b wt 2>/dev/null; true", End::Any);
    history_cannot_be_thrown_away => Case::new(
        "git reflog expire --expire=now --all; git gc -q --prune=now; git update-ref -d refs/heads/main; true", End::Any);
    a_new_git_directory_is_found => Case::new(
        "rm -rf .git; git init -q; git add -A; git -c user.name=a -c user.email=a@example.org commit -qm x", End::Fails);
    everything_can_be_deleted_and_nothing_is_gone => Case::new("rm -rf -- ./* ./.[!.]* 2>/dev/null; true", End::Fails);
    locks_of_git_stay_in_the_layer => Case {
        lands: &[("src/auth/login.sh", Some("ok\n"))],
        ..Case::new("touch .git/index.lock .git/HEAD.lock .git/refs/heads/main.lock; echo ok > src/auth/login.sh", End::Passes)
    };
    another_git_directory_is_not_followed => Case::new(
        "mv .git /tmp/g 2>/dev/null; echo \"gitdir: $OUT/elsewhere\" > .git; true", End::Fails);
    a_submodule_is_content => Case {
        setup: "git init -q ../outside/sub; (cd ../outside/sub; echo s > f; git add f; git -c user.name=a -c user.email=a@example.org commit -qm s)
                git -c protocol.file.allow=always submodule add -q ../outside/sub sub >/dev/null 2>&1; git commit -qm sub",
        ..Case::new("echo evil > sub/f; git -C sub -c user.name=a -c user.email=a@example.org commit -qam evil; true", End::Fails)
    };
}
