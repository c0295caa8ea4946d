//! Namespaces, mounts, devices and capabilities.

use crate::fixture::{Case, End, cases};

cases! {
    nobody_has_capabilities => Case {
        lands: &[("src/auth/login.sh", Some("0000000000000000\n0000000000000000\n1\n"))],
        ..Case::new("sed -n 's/^\\(CapEff\\|CapBnd\\|NoNewPrivs\\):.//p' /proc/self/status > src/auth/login.sh", End::Passes)
    };
    a_nested_namespace_cannot_undo_the_mounts => Case::new(
        "unshare -Urm sh -c 'mount -o remount,rw,bind /; umount -l .; mkdir src/auth/m; mount --rbind / src/auth/m; \
         echo x > \"src/auth/m$OUT/x\"; echo x > \"$OUT/x\"' 2>/dev/null; rmdir src/auth/m 2>/dev/null; true", End::Any);
    the_new_mount_interface_cannot_make_anything_writable => Case::new(
        "python3 - <<'PY' 2>/dev/null
import ctypes
c = ctypes.CDLL(None)
attributes = (ctypes.c_ulonglong * 4)(0, 1, 0, 0)
tree = c.syscall(428, -100, b'/', 1)
c.syscall(442, tree, b'', 0x9000, attributes, 32)
c.syscall(442, -100, b'/', 0x8000, attributes, 32)
PY
(echo x > \"$OUT/x\") 2>/dev/null; true", End::Any);
    a_file_handle_leads_nowhere_writable => Case::new(
        "python3 - <<'PY' 2>/dev/null
import ctypes, os
c = ctypes.CDLL(None)
handle = ctypes.create_string_buffer(136)
ctypes.c_uint.from_buffer(handle).value = 128
mount = ctypes.c_int()
c.name_to_handle_at(-100, os.environ['OUT'].encode() + b'/canary', handle, ctypes.byref(mount), 0)
opened = c.open_by_handle_at(os.open('/', 0), handle, 1)
if opened >= 0: os.write(opened, b'x')
PY
true", End::Any);
    an_overlay_of_the_command_s_own_changes_nothing => Case::new(
        "unshare -Urm sh -c 'mkdir src/auth/u src/auth/w; mount -t overlay o -o \"lowerdir=$OUT,upperdir=src/auth/u,workdir=src/auth/w,userxattr\" \
         \"$OUT\" && echo x > \"$OUT/canary\"' 2>/dev/null; chmod -R u+rwx src/auth/u src/auth/w 2>/dev/null; rm -rf src/auth/u src/auth/w; true",
        End::Any);
    disks_are_no_devices_here => Case {
        for_root_only: true,
        lands: &[("src/auth/login.sh", Some("0\n"))],
        ..Case::new("ls /dev | grep -cE '^(sd|vd|nvme|mem$|kmsg)' > src/auth/login.sh; true", End::Passes)
    };
    a_device_cannot_be_made => Case {
        for_root_only: true,
        ..Case::new("mknod src/auth/disk b 254 0 2>/dev/null; test ! -e src/auth/disk", End::Passes)
    };
    settings_of_the_kernel_cannot_be_changed => Case {
        for_root_only: true,
        lands: &[("src/auth/login.sh", Some("refused\n"))],
        ..Case::new("v=$(cat /proc/sys/kernel/core_pattern); (echo \"$v\" > /proc/sys/kernel/core_pattern) 2>/dev/null || \
                     echo refused > src/auth/login.sh", End::Passes)
    };
    control_groups_cannot_be_made => Case {
        for_root_only: true,
        ..Case::new("! mkdir /sys/fs/cgroup/probity-escape 2>/dev/null", End::Passes)
    };
}
