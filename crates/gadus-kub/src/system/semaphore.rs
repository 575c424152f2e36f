//! A semaphore of System V, whose holder's death gives it back.

use super::last_error;
use crate::error::{KubError, Refused};

/// A semaphore of one; removed when dropped.
#[derive(Debug)]
pub(crate) struct Semaphore {
    id: libc::c_int,
}

impl Semaphore {
    pub(crate) fn create() -> Result<Self, KubError> {
        // SAFETY: passes numbers only.
        let id = unsafe { libc::semget(libc::IPC_PRIVATE, 1, libc::IPC_CREAT | 0o600) };
        if id == -1 {
            return Err(last_error()).or_refused("a semaphore of System V");
        }
        let semaphore = Self { id };
        semaphore.add(1)?;
        Ok(semaphore)
    }

    pub(crate) fn acquire(&self) -> Result<(), KubError> {
        self.add(-1)
    }

    pub(crate) fn release(&self) -> Result<(), KubError> {
        self.add(1)
    }

    fn add(&self, change: i16) -> Result<(), KubError> {
        // What a process has taken when it dies is given back. The first one is nobody's.
        let flags = i16::try_from(libc::SEM_UNDO).unwrap_or(0);
        let mut step = libc::sembuf { sem_num: 0, sem_op: change, sem_flg: flags };
        loop {
            // SAFETY: the kernel reads one step.
            if unsafe { libc::semop(self.id, &raw mut step, 1) } == 0 {
                return Ok(());
            }
            match last_error() {
                rustix::io::Errno::INTR => {}
                error => return Err(error).or_refused("semop"),
            }
        }
    }
}

impl Drop for Semaphore {
    fn drop(&mut self) {
        // SAFETY: removes what this value has created.
        unsafe { libc::semctl(self.id, 0, libc::IPC_RMID) };
    }
}
