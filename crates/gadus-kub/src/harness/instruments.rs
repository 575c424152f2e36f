//! What the harness measures with: a clock, and the kernel's account of this process.
//!
//! - A trait, so that a test can measure a service whose time is known without any clock.

use crate::system::usage_of_this_process;
use gadus_base::{Instant, clock};
use std::time::Duration;

/// A clock and an account.
pub trait Instruments {
    /// Time since some point.
    fn now(&self) -> Duration;

    /// What this process has used since it began.
    fn usage(&self) -> Usage;
}

/// What a process has used, or what a contestant has.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Usage {
    /// Processor time in its own code.
    pub user: Duration,
    /// Processor time in the kernel. Where the kernel samples, the division is right in the long run only.
    pub system: Duration,
    /// Times that it waited.
    pub voluntary_switches: u64,
    /// Times that somebody else was given its processor.
    pub involuntary_switches: u64,
    /// Pages that were found in memory.
    pub minor_faults: u64,
    /// Pages that were not.
    pub major_faults: u64,
}

/// Those of the system.
#[derive(Debug)]
pub struct SystemInstruments {
    began: Instant,
}

impl SystemInstruments {
    /// From now on.
    #[must_use]
    pub fn new() -> Self {
        Self { began: clock().now() }
    }
}

impl Default for SystemInstruments {
    fn default() -> Self {
        Self::new()
    }
}

impl Instruments for SystemInstruments {
    fn now(&self) -> Duration {
        self.began.elapsed()
    }

    fn usage(&self) -> Usage {
        usage_of_this_process()
    }
}

impl Usage {
    /// What was used from an earlier account to this one.
    #[must_use]
    pub fn since(self, before: Self) -> Self {
        Self {
            user: self.user.saturating_sub(before.user),
            system: self.system.saturating_sub(before.system),
            voluntary_switches: self.voluntary_switches.saturating_sub(before.voluntary_switches),
            involuntary_switches: self
                .involuntary_switches
                .saturating_sub(before.involuntary_switches),
            minor_faults: self.minor_faults.saturating_sub(before.minor_faults),
            major_faults: self.major_faults.saturating_sub(before.major_faults),
        }
    }

    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            user: self.user + other.user,
            system: self.system + other.system,
            voluntary_switches: self.voluntary_switches + other.voluntary_switches,
            involuntary_switches: self.involuntary_switches + other.involuntary_switches,
            minor_faults: self.minor_faults + other.minor_faults,
            major_faults: self.major_faults + other.major_faults,
        }
    }
}
