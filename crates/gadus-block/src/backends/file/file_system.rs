//! Which file systems several processes can share a database on.
//!
//! - By list: those of one kernel, whose locks, cache and mappings are known to agree between its
//!   processes. Anything else may answer every question right and still corrupt.

/// What is known of a file system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileSystem {
    /// Its usual name; its number where that is not known.
    pub name: String,
    /// Whether processes of this machine can share a database on it.
    pub shares: bool,
}

/// Numbers of `statfs(2)`, names, and whether to share.
const KNOWN: &[(i64, &str, bool)] = &[
    (0xEF53, "ext4", true),
    (0x5846_5342, "xfs", true),
    (0x9123_683E, "btrfs", true),
    (0x0102_1994, "tmpfs", true),
    (0x794C_7630, "overlay", true),
    (0x6969, "NFS", false),
    (0x0102_1997, "9p", false),
    (0x6573_5546, "FUSE (virtiofs, sshfs or another)", false),
    (0xFF53_4D42, "SMB", false),
    (0xFE53_4D42, "SMB", false),
    (0x517B, "SMB", false),
    (0x00C3_6400, "Ceph", false),
];

impl FileSystem {
    /// The file system with a number of `statfs(2)`.
    pub(super) fn of_type(number: i64) -> Self {
        let known = KNOWN.iter().find(|(known, ..)| *known == number & 0xFFFF_FFFF);
        match known {
            Some((_, name, shares)) => Self { name: (*name).to_owned(), shares: *shares },
            None => Self { name: format!("a file system of type {number:#x}"), shares: false },
        }
    }
}
