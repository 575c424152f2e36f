//! perf and fio, as they are asked for the work of one cell, and what they answer.

use crate::error::{KubError, Refused};
use crate::numbers::figure;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};

/// Times that perf does its work: a tenth of a second; it tells thousandths.
const SWITCHES: u64 = 25_000;
const CALLS: u64 = 500_000;

/// How long fio does its work.
pub(super) const TRANSFERS_MILLISECONDS: u64 = 250;

/// How long it does it before that, which it leaves out.
pub(super) const LEAD_MILLISECONDS: u64 = 250;

/// A tool with its arguments.
pub(super) struct Tool {
    program: &'static str,
    arguments: Vec<String>,
    answer: Answer,
}

/// What is made of what it prints.
enum Answer {
    /// Seconds for so many times.
    Seconds { times: u64 },
    /// JSON: bytes and the time for them, of which so many make one time.
    Transfers { direction: &'static str, bytes_each: u64 },
}

/// A round trip by pipes is two switches. It stays on the processor that it is started on.
pub(super) fn perf_pipe() -> Tool {
    let command = format!("bench -f simple sched pipe -T -l {SWITCHES}");
    Tool::new("perf", &command, Answer::Seconds { times: SWITCHES * 2 })
}

pub(super) fn perf_call() -> Tool {
    let command = format!("bench -f simple syscall basic -l {CALLS}");
    Tool::new("perf", &command, Answer::Seconds { times: CALLS })
}

pub(super) fn fio_records(file_bytes: u64) -> Tool {
    const RECORD_BYTES: u64 = 4096;
    let command = format!(
        "--name=durable --rw=write --bs={RECORD_BYTES} --size={file_bytes} --overwrite=1 --fdatasync=1 --time_based \
         --ramp_time={LEAD_MILLISECONDS}ms --runtime={TRANSFERS_MILLISECONDS}ms --output-format=json"
    );
    Tool::new("fio", &command, Answer::Transfers { direction: "write", bytes_each: RECORD_BYTES })
}

/// Eight are under way, and the next is begun when one of them is done. It has its buffers in this memory.
pub(super) fn fio_scan(file: &str, file_bytes: u64, memory: &str) -> Tool {
    let command = format!(
        "--name=scan --filename={file} --rw=read --bs=64k --size={file_bytes} --direct=1 --ioengine=io_uring \
         --iodepth=8 --mem=mmapshared:{memory} --time_based --ramp_time={LEAD_MILLISECONDS}ms \
         --runtime={TRANSFERS_MILLISECONDS}ms --output-format=json"
    );
    Tool::new("fio", &command, Answer::Transfers { direction: "read", bytes_each: file_bytes })
}

impl Tool {
    fn new(program: &'static str, arguments: &str, answer: Answer) -> Self {
        let arguments = arguments.split_whitespace().map(str::to_owned).collect();
        Self { program, arguments, answer }
    }

    pub(super) fn command(&self) -> String {
        format!("{} {}", self.program, self.arguments.join(" "))
    }

    pub(super) fn needs_files(&self) -> bool {
        matches!(self.answer, Answer::Transfers { .. })
    }

    /// What one time takes by it, in nanoseconds.
    pub(super) fn run(&self, folder: &Path) -> Result<f64, KubError> {
        let mut command = Command::new(self.program);
        command.args(&self.arguments).stdin(Stdio::null());
        if self.needs_files() {
            command.current_dir(folder);
        }
        let output = command.output().or_refused(self.program)?;
        let said = String::from_utf8_lossy(&output.stdout);
        let figure = output.status.success().then(|| self.answer.of(&said)).flatten();
        figure.ok_or_else(|| {
            let error = String::from_utf8_lossy(&output.stderr);
            let line = error.lines().chain(said.lines()).find(|line| !line.trim().is_empty());
            let line = line.unwrap_or("nothing");
            KubError::unavailable(format!("{} said: {line}", self.program))
        })
    }
}

impl Answer {
    fn of(&self, said: &str) -> Option<f64> {
        let time = match self {
            Self::Seconds { times } => {
                let seconds = said.lines().find_map(|line| line.trim().parse::<f64>().ok())?;
                seconds * 1e9 / figure(*times)
            }
            Self::Transfers { direction, bytes_each } => {
                let answer: Value = serde_json::from_str(&said[said.find('{')?..]).ok()?;
                let job = &answer["jobs"][0][direction];
                let (bytes, milliseconds) = (job["io_bytes"].as_f64()?, job["runtime"].as_f64()?);
                milliseconds * 1e6 * figure(*bytes_each) / bytes
            }
        };
        (time.is_finite() && time > 0.0).then_some(time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_tools_print_is_a_time_for_one() {
        let time = Answer::Seconds { times: 100_000 }.of("0.312\n").unwrap();
        assert!((time - 3120.0).abs() < 1e-6, "{time}");
        assert_eq!(Answer::Seconds { times: 1 }.of("no such benchmark"), None);
        let records = Answer::Transfers { direction: "write", bytes_each: 4096 };
        let said =
            "note: both iodepth\n{\"jobs\": [{\"write\": {\"io_bytes\": 8192, \"runtime\": 8}}]}";
        assert!((records.of(said).unwrap() - 4e6).abs() < 1e-6);
        assert_eq!(records.of("{\"jobs\": []}"), None);
        assert_eq!(records.of("fio: engine not loadable"), None);
    }
}
