//! Settings of a database, which hold for all sessions of the process, and mean nothing to transactions.

use super::Session;
use super::settings::{Assignment, size, time};
use super::shown::shown_time;
use crate::error::input;
use crate::memory::decided_limit;
use gadus_base::ByteCount;
use gadus_engine::{Pinning, Result, ScanLimits};
use gadus_machine::Limits;

impl Session {
    /// Assigns a setting of the database; not where it is another.
    pub(super) fn assign_of_database(&self, assignment: &Assignment) -> Result<bool> {
        let Assignment { name, value, .. } = assignment;
        let (name, limits) = (name.as_str(), self.engine.scan_limits());
        let Some(value) = value else { return Ok(self.set_back(name)) };
        let word = value.to_ascii_lowercase();
        match name {
            "gadus.cache" => self.engine.set_cache_most(Some(size(name, &word)?)),
            "gadus.memory_limit" => self.limit_memory(Some(size(name, &word)?)),
            "gadus.latency_target" => limits.set_latency_target(time(name, &word)?),
            "gadus.late_statements" => limits.set_refuses_late(refuses_late(&word)?),
            "gadus.batch_queries" => limits.set_batch_queries(batch_bound(name, &word)?),
            "gadus.batch_updates" => limits.set_batch_updates(batch_bound(name, &word)?),
            "gadus.pin_threads" => limits.set_pinning(pinning(&word)?),
            "gadus.divide_scans" => limits.set_divides(on_or_off(name, &word)?),
            "gadus.snapshot_space_max" => {
                self.engine.set_snapshot_space_max(size(name, &word)?);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Sets a setting of the database back to what it was at first; not where it is another.
    fn set_back(&self, name: &str) -> bool {
        let (limits, first) = (self.engine.scan_limits(), ScanLimits::default());
        match name {
            "gadus.cache" => self.engine.set_cache_most(None),
            "gadus.memory_limit" => self.limit_memory(None),
            "gadus.latency_target" => limits.set_latency_target(first.latency_target()),
            "gadus.late_statements" => limits.set_refuses_late(first.refuses_late()),
            "gadus.batch_queries" => limits.set_batch_queries(first.batch_queries()),
            "gadus.batch_updates" => limits.set_batch_updates(first.batch_updates()),
            "gadus.pin_threads" => limits.set_pinning(first.pinning()),
            "gadus.divide_scans" => limits.set_divides(first.divides()),
            "gadus.snapshot_space_max" => {
                self.engine.set_snapshot_space_max(self.engine.options().snapshot_space_max);
            }
            _ => return false,
        }
        true
    }

    /// What plans may hold, as told, or as the process may take now: that may be another thing than when
    /// it opened the database.
    fn limit_memory(&self, told: Option<ByteCount>) {
        let limits = Limits::of_this_process();
        self.shared.memory.set_limit(decided_limit(&self.engine, &limits, told));
        self.engine.set_memory_limit(told);
    }

    /// The value of a setting of the database; none where it is another.
    pub(super) fn setting_of_database(&self, name: &str) -> Option<String> {
        let limits = self.engine.scan_limits();
        Some(match name {
            "gadus.latency_target" => shown_time(limits.latency_target()),
            "gadus.late_statements" => match limits.refuses_late() {
                true => "refuse".to_owned(),
                false => "wait".to_owned(),
            },
            "gadus.batch_queries" => limits.batch_queries().to_string(),
            "gadus.batch_updates" => limits.batch_updates().to_string(),
            "gadus.pin_threads" => match limits.pinning() {
                Pinning::Auto => "auto".to_owned(),
                Pinning::On => "on".to_owned(),
                Pinning::Off => "off".to_owned(),
            },
            "gadus.divide_scans" => match limits.divides() {
                true => "on".to_owned(),
                false => "off".to_owned(),
            },
            "gadus.snapshot_space_max" => self.engine.snapshot_space_max().exact(),
            "gadus.cache" => self.engine.cache_most().exact(),
            "gadus.memory_limit" => self.shared.memory.limit().exact(),
            _ => return None,
        })
    }
}

fn refuses_late(word: &str) -> Result<bool> {
    match word {
        "wait" => Ok(false),
        "refuse" => Ok(true),
        _ => Err(input(format!("gadus.late_statements is wait or refuse, not {word}"))),
    }
}

fn pinning(word: &str) -> Result<Pinning> {
    match word {
        "auto" => Ok(Pinning::Auto),
        "on" | "true" => Ok(Pinning::On),
        "off" | "false" => Ok(Pinning::Off),
        _ => Err(input(format!("gadus.pin_threads is auto, on or off, not {word}"))),
    }
}

fn on_or_off(name: &str, word: &str) -> Result<bool> {
    match word {
        "on" | "true" => Ok(true),
        "off" | "false" => Ok(false),
        _ => Err(input(format!("{name} is on or off, not {word}"))),
    }
}

fn batch_bound(name: &str, word: &str) -> Result<usize> {
    let count = word.parse::<usize>().ok().filter(|count| *count > 0);
    count.ok_or_else(|| input(format!("{name} is 1 or more, not {word}")))
}
