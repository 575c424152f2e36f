//! What changes of a machine while it is looked at again and again.
//!
//! - A look reads what can change and nothing else: how busy processors are, who waits, what the process may
//!   take. It costs some ten small files.
//! - Shares are told in tenths, and another tenth only where the share has left the one that was told before
//!   by more than half of it and a quarter: what wavers between two is no change.

use crate::error::MachineError;
use crate::facts::{Difference, Fact, FactValue, Facts, Source};
use crate::limits::{Limits, mounts_of_groups};
use crate::observed::Loads;
use std::path::{Path, PathBuf};

/// Looks at this machine.
#[derive(Debug)]
pub struct Watch {
    root: PathBuf,
    /// Of the control groups: all mounts are many, and stay.
    mounts: String,
    loads: Loads,
    known: Facts,
}

/// Steps of a share.
const STEPS: f64 = 10.0;

/// How far from what was told a share is another one, in steps. Half a step would be none between two.
const STEPS_KEPT: f64 = 0.75;

impl Watch {
    /// From now on.
    ///
    /// # Errors
    /// `Unknown` where the kernel does not tell how busy processors are.
    pub fn begin() -> Result<Self, MachineError> {
        Self::begin_at(Path::new("/"))
    }

    /// The same for the files beneath a folder.
    fn begin_at(root: &Path) -> Result<Self, MachineError> {
        Ok(Self {
            root: root.to_owned(),
            mounts: mounts_of_groups(&root.join("proc/self")),
            loads: Loads::read_at(&root.join("proc/stat"))?,
            known: Facts::default(),
        })
    }

    /// What has changed since the last look, by subject and name; the first look tells all.
    ///
    /// # Errors
    /// `Unknown` where the kernel does not tell any more how busy processors are.
    pub fn look(&mut self) -> Result<Vec<Difference>, MachineError> {
        let mut now = Facts::default();
        let loads = Loads::read_at(&self.root.join("proc/stat"))?;
        for (cpu, load) in loads.since(&self.loads) {
            let subject = format!("processor {cpu}");
            now.note((subject.as_str(), "load"), load.busy, "", Source::Observed);
            // Most hosts give a processor all of its time.
            if load.stolen > 0.0 || self.known.get(&subject, "stolen").is_some() {
                now.note((subject, "stolen"), load.stolen, "", Source::Observed);
            }
        }
        self.loads = loads;
        now.add_pressure(&self.root.join("proc/pressure"));
        now.add_limits(&Limits::read_by(&self.mounts, &self.root.join("proc/self"), &self.root));
        self.keep_steps(&mut now);
        let differences = self.known.differences(&now);
        self.known = now;
        Ok(differences)
    }

    /// Puts all shares that were observed in steps.
    fn keep_steps(&self, now: &mut Facts) {
        let shares = now.iter().filter_map(|fact| match fact.value {
            FactValue::Number(share) if fact.source == Source::Observed => {
                Some((fact.clone(), share))
            }
            _ => None,
        });
        for (fact, share) in shares.collect::<Vec<_>>() {
            let told = self.known.get(&fact.subject, &fact.name).map(|known| &known.value);
            let value = FactValue::Number(match told {
                Some(FactValue::Number(told)) => in_steps(Some(*told), share),
                _ => in_steps(None, share),
            });
            now.set(Fact { value, ..fact });
        }
    }
}

/// A share in steps, or what was told before where it is not far from that.
fn in_steps(told: Option<f64>, share: f64) -> f64 {
    let is_near = |told: &f64| ((share - told) * STEPS).abs() < STEPS_KEPT;
    told.filter(is_near).unwrap_or_else(|| (share * STEPS).round() / STEPS)
}

#[cfg(test)]
mod tests;
