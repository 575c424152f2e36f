//! A control group for the processes that ask, and what it tells; or none, and why.

use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use gadus_kub::MemoryGroup;

use super::super::figures::Metric;
use super::super::memory_watch::Watch;
use super::super::worker;
use super::answering::{Asked, Asking};
use super::{ANONYMOUS_PEAK, GROUP_PEAK, RESIDENT_PEAK};
use crate::failure::Failure;

/// Where processes run.
#[derive(Debug)]
pub(super) struct Group(Option<Watched>);

#[derive(Debug)]
struct Watched {
    group: Arc<MemoryGroup>,
    anonymous: Watch,
}

impl Group {
    /// One with so much memory; none, and that is said, where it is not permitted.
    pub(super) fn make(limit_bytes: u64) -> Result<Self, Failure> {
        let made = MemoryGroup::create().and_then(|group| {
            group.limit(limit_bytes)?;
            group.peak()?;
            Ok(group)
        });
        let group = match made {
            Ok(group) => Arc::new(group),
            Err(why) => {
                let told = "no control group, the process's own memory is told";
                writeln!(io::stderr(), "{told}: {why}")?;
                return Ok(Self::none());
            }
        };
        let read = group.clone();
        let anonymous = Watch::of(move || {
            read.anonymous().map_err(|error| Failure::message(error.to_string()))
        })?;
        Ok(Self(Some(Watched { group, anonymous })))
    }

    pub(super) fn none() -> Self {
        Self(None)
    }

    /// Lets a process ask; gives what it was answered, and how it ended if not well.
    pub(super) fn run(
        &self,
        file: &Path,
        asking: &Asking,
    ) -> Result<(Vec<Asked>, Option<String>), Failure> {
        let mut command = self.entering(asking.command(file)?);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
        let mut asked = Vec::new();
        if let Some(output) = child.stdout.take() {
            for line in BufReader::new(output).lines() {
                asked.push(Asked::read(&line?)?);
            }
        }
        let status = child.wait()?;
        let killed = self.0.as_ref().and_then(|watched| watched.group.killed().ok());
        let killed = killed.filter(|count| *count > 0);
        let ended = (!status.success()).then(|| match killed {
            Some(count) => format!("{status}; the group counts {count} ended for lack of memory"),
            None => status.to_string(),
        });
        Ok((asked, ended))
    }

    /// What all who were in it had at most.
    #[allow(clippy::cast_precision_loss)] // sizes below 2^53
    pub(super) fn peaks(self, asked: &[Asked]) -> Result<Vec<(Metric, f64)>, Failure> {
        let Some(Watched { group, anonymous }) = self.0 else {
            let peak = asked.iter().map(|asked| asked.resident_peak_bytes).max();
            return Ok(vec![(RESIDENT_PEAK, peak.unwrap_or(0) as f64)]);
        };
        let anonymous = anonymous.bytes()?;
        let peak = group.peak().map_err(|error| Failure::message(error.to_string()))?;
        Ok(vec![(GROUP_PEAK, peak as f64), (ANONYMOUS_PEAK, anonymous as f64)])
    }

    /// A process is in the group before it is this program: what it was before does not count.
    fn entering(&self, command: Command) -> Command {
        let Some(watched) = &self.0 else { return command };
        let mut inside = Command::new("sh");
        inside.args(["-c", "echo $$ > \"$0\" && exec \"$@\""]);
        inside.arg(watched.group.folder().join("cgroup.procs"));
        inside.arg(command.get_program()).args(command.get_args());
        inside
    }
}

impl Asking {
    fn command(&self, file: &Path) -> Result<Command, Failure> {
        let mut command = worker::command("answer")?;
        command.arg(file).arg("--sf").arg(self.scale_factor.to_string());
        if let Some(limit) = self.memory_limit {
            command.arg("--memory-limit").arg(limit.exact());
        }
        let numbers = self.queries.iter().map(u8::to_string).collect::<Vec<_>>();
        command.arg("--queries").arg(numbers.join(","));
        Ok(command)
    }
}
