//! Kinds of changes that are easily missed, or easily broken by a view.

use crate::fixture::{Case, End, cases};

cases! {
    permission_bits_are_changes => Case::new("chmod 777 README.md", End::Fails);
    a_directory_that_is_closed_stays_open => Case::new("chmod 000 lib", End::Fails);
    a_move_into_the_scope_is_a_deletion_outside => Case::new("mv README.md src/auth/", End::Fails);
    a_move_out_of_the_scope_loses_nothing => Case::new("mv src/auth/login.sh lib/", End::Fails);
    an_exchange_of_two_files_is_two_changes => Case::new(
        "python3 -c \"import ctypes; ctypes.CDLL(None).renameat2(-100, b'README.md', -100, b'src/auth/login.sh', 2)\"", End::Fails);
    a_directory_replaced_by_a_link_is_a_change => Case::new("rm -rf lib; ln -s src/auth lib", End::Fails);
    a_directory_of_the_scope_can_be_renamed => Case {
        setup: "mkdir src/auth/a; echo f > src/auth/a/f; git add -A; git commit -qm a",
        lands: &[("src/auth/a/f", None), ("src/auth/a", None), ("src/auth/b/", Some("")), ("src/auth/b/f", Some("f\n"))],
        ..Case::new("python3 -c \"import os; os.rename('src/auth/a', 'src/auth/b')\"; rm -rf src/auth/b.tmp", End::Passes)
    };
    /// The permission bits of a new directory are not judged: nobody else may write to it unless they may above.
    a_new_directory_is_not_more_open_than_the_one_above => Case {
        lands: &[
            ("src/auth/open/", Some("")),
            ("src/auth/open/f", Some("f\n")),
            ("src/auth/open/group/", Some("")),
            ("src/auth/open/group/g", Some("g\n")),
        ],
        ..Case::new("mkdir -p src/auth/open/group; echo f > src/auth/open/f; echo g > src/auth/open/group/g; \
                     chmod 757 src/auth/open; chmod 2757 src/auth/open/group", End::Passes)
    };
    git_moves_a_directory_of_the_scope => Case {
        lands: &[("src/auth/deep/d", None), ("src/auth/deep", None), ("src/auth/deeper/", Some("")), ("src/auth/deeper/d", Some("d\n"))],
        ..Case::new("git mv src/auth/deep src/auth/deeper", End::Passes)
    };
    pipes_and_sockets_never_land => Case::new(
        "mkfifo src/auth/p; python3 -c \"import socket; socket.socket(socket.AF_UNIX).bind('src/auth/s')\"; echo ok > src/auth/login.sh",
        End::Fails);
    odd_names_are_judged => Case::new(
        "mkdir src/AUTH; echo x > src/AUTH/x; echo x > 'src/auth '; echo x > \"$(printf 'src/a\\nb')\"; python3 -c \"open(b'src/\\\\xff', 'w')\"",
        End::Fails);
    a_mapped_file_is_written_in_the_layer => Case::new(
        "python3 -c \"
import mmap, os
f = os.open('README.md', os.O_RDWR); m = mmap.mmap(f, 4); os.close(f); m[0:1] = b'!'; m.flush()\"", End::Fails);
    a_descriptor_opened_again_writes_to_the_layer => Case::new("exec 7<README.md; echo evil > /proc/self/fd/7", End::Fails);
    what_was_changed_and_restored_does_not_land => Case::new(
        "cp -p README.md src/auth/keep; echo evil > README.md; cat src/auth/keep > README.md; touch -r src/auth/keep README.md; \
         rm src/auth/keep", End::Passes);
    a_large_file_keeps_its_permission_bits => Case {
        setup: "truncate -s 300M big",
        ..Case::new("chmod 600 big", End::Fails)
    };
    a_command_that_fails_lands_nothing => Case::new("echo ok > src/auth/login.sh; exit 1", End::Fails);
    exclusions_are_subtracted => Case {
        scope: &["src/auth/**", "!src/auth/gen/**"],
        setup: "mkdir src/auth/gen; touch src/auth/gen/keep; git add -A; git commit -qm g",
        ..Case::new("echo x > src/auth/gen/x; echo ok > src/auth/login.sh", End::Fails)
    };
    an_editor_that_renames_works_on_a_single_file => Case {
        scope: &["src/auth/login.sh"],
        lands: &[("src/auth/login.sh", Some("fixed\n"))],
        ..Case::new("sed -i s/login/fixed/ src/auth/login.sh", End::Passes)
    };
    new_files_that_match_a_glob_land => Case {
        scope: &["src/**/*.py"],
        lands: &[("src/new/", Some("")), ("src/new/deep/", Some("")), ("src/new/deep/m.py", Some("x\n"))],
        ..Case::new("mkdir -p src/new/deep; echo x > src/new/deep/m.py", End::Passes)
    };
}
