//! The C library's mutex that processes share and that survives its owner.

use super::mapping::Mapping;
use crate::error::KubError;
use std::mem::MaybeUninit;

/// A mutex in memory that children share.
#[derive(Debug)]
pub(crate) struct RobustMutex {
    memory: Mapping,
}

/// How it was locked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Locked {
    /// It was free.
    Free,
    /// Its owner died with it.
    FromDead,
}

impl RobustMutex {
    pub(crate) fn create() -> Result<Self, KubError> {
        let memory = Mapping::shared(size_of::<libc::pthread_mutex_t>())?;
        let mut attributes = MaybeUninit::<libc::pthread_mutexattr_t>::uninit();
        let attributes = attributes.as_mut_ptr();
        let mutex = memory.base().as_ptr().cast::<libc::pthread_mutex_t>();
        // SAFETY: the attributes are made before they are used, and the memory is large enough, aligned and kept
        // at its place for as long as the mutex is used.
        let done = unsafe {
            [
                libc::pthread_mutexattr_init(attributes),
                libc::pthread_mutexattr_setpshared(attributes, libc::PTHREAD_PROCESS_SHARED),
                libc::pthread_mutexattr_setrobust(attributes, libc::PTHREAD_MUTEX_ROBUST),
                libc::pthread_mutex_init(mutex, attributes),
                libc::pthread_mutexattr_destroy(attributes),
            ]
        };
        match done.iter().all(|answer| *answer == 0) {
            true => Ok(Self { memory }),
            false => Err(KubError::unavailable("the C library has no robust mutex")),
        }
    }

    fn mutex(&self) -> *mut libc::pthread_mutex_t {
        self.memory.base().as_ptr().cast()
    }

    /// Locks it; what a dead owner had is made usable.
    pub(crate) fn lock(&self) -> Result<Locked, KubError> {
        // SAFETY: the mutex was made and is mapped.
        match unsafe { libc::pthread_mutex_lock(self.mutex()) } {
            0 => Ok(Locked::Free),
            libc::EOWNERDEAD => {
                // SAFETY: as above; this thread has it now.
                unsafe { libc::pthread_mutex_consistent(self.mutex()) };
                Ok(Locked::FromDead)
            }
            answer => {
                let error = std::io::Error::from_raw_os_error(answer);
                Err(KubError::broken(format!("a robust mutex: {error}")))
            }
        }
    }

    /// Unlocks what this thread has locked.
    pub(crate) fn unlock(&self) -> Result<(), KubError> {
        // SAFETY: as above; the C library refuses who does not have it.
        match unsafe { libc::pthread_mutex_unlock(self.mutex()) } {
            0 => Ok(()),
            _ => Err(KubError::broken("a robust mutex was unlocked by somebody else")),
        }
    }
}
