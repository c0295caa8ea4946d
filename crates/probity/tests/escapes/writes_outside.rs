//! Plain writes outside of the tree.

use crate::fixture::{Canary, Case, End, cases};

const LANDED: &[(&str, Option<&str>)] = &[("src/auth/login.sh", Some("fixed\n"))];

cases! {
    /// The control: without it, a Probity that runs nothing would pass every other case.
    honest_work_passes_and_lands => Case {
        lands: &[
            ("src/auth/login.sh", Some("fixed\n")),
            ("src/auth/new", Some("n\n")),
            ("src/auth/deep/d", None),
        ],
        ..Case::new("echo fixed > src/auth/login.sh; echo n > src/auth/new; rm src/auth/deep/d; \
                     echo probe > $(mktemp) && git status --short", End::Passes)
    };
    a_file_beside_the_tree_cannot_be_written => Case {
        lands: LANDED,
        ..Case::new("echo x > \"$OUT/x\"; echo x >> \"$OUT/canary\"; echo x > ../outside/y; chmod 600 \"$OUT/canary\"; \
                     touch \"$OUT/canary\"; rm -f \"$OUT/canary\"; echo fixed > src/auth/login.sh", End::Passes)
    };
    a_new_link_leads_to_nothing_writable =>
        Case::new("ln -s \"$OUT/canary\" src/auth/l; echo x > src/auth/l; true", End::Fails);
    a_hard_link_of_a_file_outside_cannot_be_made =>
        Case::new("ln \"$OUT/canary\" src/auth/h && echo x >> src/auth/h; true", End::Any);
    the_roots_and_working_directories_of_processes_lead_nowhere_else => Case::new(
        "for p in /proc/[0-9]*; do echo x > \"$p/root$OUT/x\"; (cd \"$p/cwd\" && echo x > ../outside/x); done 2>/dev/null; true",
        End::Any);
    descriptors_of_other_processes_are_out_of_reach => Case {
        // It lives as long as the run, whose process this shell becomes.
        start: "sh -c 'exec 7>>\"$OUT/canary\"; exec tail --pid='$$' -f /dev/null' 3>&- & ",
        ..Case::new("for f in /proc/[0-9]*/fd/*; do case \"$(readlink \"$f\")\" in \"$OUT\"/*) echo x >> \"$f\";; esac; done \
                     2>/dev/null; true", End::Any)
    };
    an_inherited_directory_leads_around_no_mount => Case {
        start: "exec 5<\"$OUT\"; exec 6>>\"$OUT/canary\"",
        ..Case::new("(echo x > /proc/self/fd/5/x; echo x >&6) 2>/dev/null; true", End::Any)
    };
    standard_input_that_could_be_written_is_read_only => Case {
        start: "exec 0<>\"$OUT/canary\"",
        ..Case::new("(echo x >&0) 2>/dev/null; true", End::Any)
    };
    a_file_that_is_the_standard_input_cannot_be_opened_for_writing => Case {
        start: "exec 0<\"$OUT/canary\"",
        lands: &[("src/auth/login.sh", Some("canary\n"))],
        ..Case::new("cat > src/auth/login.sh; (echo x > /proc/self/fd/0; echo x > /dev/stdin; chmod 777 /proc/self/fd/0) \
                     2>/dev/null; true", End::Passes)
    };
    a_directory_that_is_the_standard_input_leads_nowhere => Case {
        start: "exec 0<\"$OUT\"",
        ..Case::new("(echo x > /proc/self/fd/0/x; rm /proc/self/fd/0/canary) 2>/dev/null; true", End::Any)
    };
    /// The words of the run go to a file, and what was written before must stay in it.
    a_file_that_is_the_standard_output_cannot_be_emptied => Case {
        lands: LANDED,
        ..Case::new("(: > /proc/self/fd/1; : > /dev/stderr; truncate -s 0 /proc/self/fd/1) 2>/dev/null; \
                     echo fixed > src/auth/login.sh", End::Passes)
    };
    start_files_of_the_shell_keep_their_content => Case::new(
        "echo x >> \"$HOME/.bashrc\"; echo x > \"$HOME/.profile\"; mkdir -p \"$HOME/.config/autostart\"; true", End::Any);
    caches_can_be_written_and_are_thrown_away => Case {
        setup: "mkdir -p \"$HOME/.cache\"",
        lands: LANDED,
        ..Case::new("echo c > \"$HOME/.cache/c\" && cat \"$HOME/.cache/c\" && echo fixed > src/auth/login.sh", End::Passes)
    };
    credentials_are_not_there => Case {
        setup: "mkdir -p \"$HOME/.ssh\"; echo secret > \"$HOME/.ssh/id\"",
        lands: &[("src/auth/login.sh", Some("nothing\n"))],
        ..Case::new("(cat \"$HOME/.ssh/id\" || echo nothing) > src/auth/login.sh 2>/dev/null", End::Passes)
    };
    the_own_state_of_an_agent_stays_but_not_its_hooks => Case {
        setup: "mkdir -p \"$HOME/.claude/hooks\"; echo old > \"$HOME/.claude/hooks/h\"; echo log > \"$HOME/.claude/log\"",
        ..Case::new("echo log > \"$HOME/.claude/log\" || exit 3; echo x > \"$HOME/.claude/hooks/h\"; true", End::Passes)
    };
}

#[test]
fn names_in_the_temporary_directory_are_private() {
    let case = Case {
        lands: &[("src/auth/login.sh", Some("0\n"))],
        ..Case::new(
            "ls /tmp | grep -c probity-escape > src/auth/login.sh; rm -f \"$(cat \"$OUT/name\")\"; \
             echo x > \"$(cat \"$OUT/name\")\"",
            End::Passes,
        )
    };
    case.run_beside(|fixture| Box::new(Canary::new_in("/tmp", fixture)));
}
