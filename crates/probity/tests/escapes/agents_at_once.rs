//! Others who work in the same tree.

use crate::fixture::{Case, End, cases};

cases! {
    what_a_person_changes_meanwhile_is_not_the_run_s => Case {
        meanwhile: Some(|fixture| fixture.edit("README.md", Some("person\n"))),
        lands: &[("src/auth/login.sh", Some("agent\n"))],
        ..Case::new("echo agent > src/auth/login.sh", End::Passes)
    };
    another_file_of_the_scope_stays_as_a_person_left_it => Case {
        meanwhile: Some(|fixture| fixture.edit("src/auth/other", Some("person\n"))),
        lands: &[("src/auth/login.sh", Some("agent\n"))],
        ..Case::new("echo agent > src/auth/login.sh", End::Passes)
    };
    a_file_that_a_person_changed_too_is_a_conflict => Case {
        meanwhile: Some(|fixture| fixture.edit("src/auth/login.sh", Some("person\n"))),
        ..Case::new("echo agent > src/auth/login.sh", End::Conflicts)
    };
    a_file_that_a_person_deleted_is_a_conflict => Case {
        meanwhile: Some(|fixture| fixture.edit("src/auth/login.sh", None)),
        ..Case::new("echo more >> src/auth/login.sh", End::Conflicts)
    };
    another_run_lands_meanwhile => Case {
        meanwhile: Some(|fixture| {
            fixture.sh("\"$PROBITY\" run --enforce overlay --scope 'docs/**' -- sh -c 'echo second > docs/d.md' 2>/dev/null");
            fixture.edit("docs/d.md", Some("second\n"));
        }),
        lands: &[("src/auth/login.sh", Some("first\n"))],
        ..Case::new("echo first > src/auth/login.sh", End::Passes)
    };
}
