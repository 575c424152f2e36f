//! Memory for transfers that another tool uses, too.

use crate::error::{KubError, Refused};
use crate::system::{MapHow, Mapping, own_pid};
use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

/// Memory of no file, which other processes of this user can open by a name as long as this is here.
pub(super) struct CommonMemory {
    descriptor: OwnedFd,
    bytes: usize,
}

impl CommonMemory {
    pub(super) fn create(bytes: usize) -> Result<Self, KubError> {
        let descriptor = memfd_create("kub", MemfdFlags::CLOEXEC).or_refused("memfd_create")?;
        ftruncate(&descriptor, bytes as u64).or_refused("memory for transfers")?;
        Ok(Self { descriptor, bytes })
    }

    /// What others open.
    pub(super) fn name(&self) -> String {
        format!("/proc/{}/fd/{}", own_pid(), self.descriptor.as_raw_fd())
    }

    pub(super) fn map(&self) -> Result<Mapping, KubError> {
        Mapping::of_file(self.descriptor.as_fd(), self.bytes, MapHow::Plain)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::os::unix::fs::FileExt;

    #[test]
    fn what_another_writes_by_the_name_is_in_the_memory() {
        let memory = CommonMemory::create(8192).unwrap();
        let mapping = memory.map().unwrap();
        assert_eq!(mapping.sum(0, 8192), 0);
        let other = File::options().write(true).open(memory.name()).unwrap();
        other.write_all_at(&7_u64.to_ne_bytes(), 4096).unwrap();
        assert_eq!((mapping.sum(0, 4096), mapping.sum(4096, 8192)), (0, 7));
    }
}
