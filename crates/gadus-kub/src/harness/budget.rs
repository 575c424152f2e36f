//! How long a run may take.

use std::time::Duration;

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

    /// How long one contest may measure at most: a few that are noisy must not take everybody's time.
    #[must_use]
    pub fn of_contest(self) -> Duration {
        match self {
            Self::Quick => Duration::from_millis(1500),
            Self::Usual => Duration::from_secs(8),
            Self::Thorough => Duration::from_secs(40),
        }
    }

    /// Rounds of a contest, at least: a median of fewer says nothing of its spread.
    #[must_use]
    pub fn rounds_min(self) -> usize {
        match self {
            Self::Quick => 5,
            Self::Usual => 9,
            Self::Thorough => 15,
        }
    }

    /// Rounds of a contest, at most: what is still uncertain then stays so.
    #[must_use]
    pub fn rounds_max(self) -> usize {
        match self {
            Self::Quick => 15,
            Self::Usual => 41,
            Self::Thorough => 101,
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
