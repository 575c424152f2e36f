//! Groups of both versions are found.

use super::*;

#[test]
fn groups_are_found_in_both_versions() {
    let mounts = "cgroup /sys/fs/cgroup/memory cgroup rw,memory 0 0\n\
                  none /sys/fs/cgroup/unified cgroup2 rw 0 0\n";
    let one = version_1("4:memory:/a/b\n0::/c\n", mounts).unwrap();
    assert_eq!(one, Path::new("/sys/fs/cgroup/memory/a/b"));
    assert_eq!(version_1("0::/c\n", mounts), None);
    let two = version_2("4:memory:/a/b\n0::/c\n", mounts).unwrap();
    assert_eq!(two, Path::new("/sys/fs/cgroup/unified/c"));
    assert_eq!(version_2("0::/\n", ""), None);
}
