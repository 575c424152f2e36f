//! How long a run may take.

use std::time::Duration;

/// Rounds of a contest in a sitting, at least: a median of fewer says nothing of its spread.
pub(super) const ROUNDS_MIN: usize = 5;

/// How thorough a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Budget {
    /// Under a minute in all: the cells that decide.
    Quick,
    /// About five minutes.
    Usual,
    /// About half an hour: all cells, narrow intervals.
    Thorough,
}

impl Budget {
    /// How long a run may measure. What is not begun by then is named as skipped.
    #[must_use]
    pub fn total(self) -> Duration {
        match self {
            // The rest of the minute is for making files, warming up and the last contest's end.
            Self::Quick => Duration::from_secs(48),
            Self::Usual => Duration::from_secs(5 * 60),
            Self::Thorough => Duration::from_secs(30 * 60),
        }
    }

    /// How often everything is measured anew, with new threads, memory and files. Two runs differ by where those come to
    /// lie, too, and a single sitting cannot know by how much. Of four, the intervals of two runs have something in
    /// common in 97 of 100 cases at worst, which is if the sittings of a run differ and nothing else does; of three it
    /// would be 90.
    #[must_use]
    pub fn sittings(self) -> usize {
        match self {
            Self::Quick => 1,
            Self::Usual | Self::Thorough => 4,
        }
    }

    /// How long one contest may measure at most in a sitting: a few that are noisy must not take everybody's time.
    #[must_use]
    pub fn of_contest(self) -> Duration {
        match self {
            Self::Quick => Duration::from_millis(1500),
            Self::Usual => Duration::from_millis(2500),
            Self::Thorough => Duration::from_secs(10),
        }
    }

    /// Rounds of a contest in a sitting, at most: what is still uncertain then stays so.
    #[must_use]
    pub fn rounds_max(self) -> usize {
        match self {
            Self::Quick | Self::Usual => 15,
            Self::Thorough => 35,
        }
    }

    /// As the command line has it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::Usual => "usual",
            Self::Thorough => "thorough",
        }
    }
}
