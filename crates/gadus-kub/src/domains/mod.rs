//! What a database needs besides: security, monitoring, administration by programs. Each service is tried.
//!
//! - What is tried is undone, or concerns this process alone.

mod probes;

use crate::error::KubError;
use crate::report::Benchmark;
use crate::run::Task;

/// What a finding says of a service that works.
pub(crate) const AVAILABLE: &str = "available";

/// Areas in which services are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Area {
    Security,
    Monitoring,
    Administration,
}

/// One service, and how it is tried.
pub(crate) struct Probe {
    area: Area,
    name: &'static str,
    attempt: fn() -> Result<(), KubError>,
}

impl Area {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Security => "security",
            Self::Monitoring => "monitoring",
            Self::Administration => "administration",
        }
    }
}

pub(crate) fn tasks() -> Vec<Task> {
    vec![
        Task::new(Benchmark::Domains, "services", |harness, _| {
            for Probe { area, name, attempt } in probes::ALL {
                let found = match attempt() {
                    Ok(()) => AVAILABLE.to_owned(),
                    Err(error) => format!("not available: {error}"),
                };
                harness.find(Benchmark::Domains, &format!("{}: {name}", area.word()), found);
            }
            Ok(())
        })
        .once(),
    ]
}

#[cfg(test)]
mod tests;
