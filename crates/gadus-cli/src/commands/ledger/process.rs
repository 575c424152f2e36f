//! A writing process as its parent sees it: started, listened to, killed.
//!
//! - All that is in the pipe when the process dies was acknowledged: it is read to the end.
//! - A process that nobody kills any more is killed when dropped.

use std::io::{self, BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use super::{Numbers, WriterId, Writing};
use crate::failure::Failure;

/// The subcommand that writes.
const WRITER: &str = "ledger-writer";

/// Longer than any disk needs for opening and one commit.
const COMMIT_MAX: Duration = Duration::from_secs(60);

/// A process that writes to a ledger.
#[derive(Debug)]
pub(crate) struct WritingProcess {
    child: Child,
    reading: Option<JoinHandle<io::Result<Numbers>>>,
    /// One message for each awaited commit.
    acknowledged: Receiver<()>,
    awaited: usize,
}

impl WritingProcess {
    /// Starts the process; [`wait`](Self::wait) will wait for `awaited` commits.
    pub(crate) fn start(writing: &Writing, awaited: usize) -> Result<Self, Failure> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg(WRITER).args(writing.arguments());
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
        let output = child.stdout.take();
        let (sender, acknowledged) = sync_channel(awaited);
        let mut process = Self { child, reading: None, acknowledged, awaited };
        let output = output.ok_or_else(|| Failure::message("the writer has no output"))?;
        let read = move || read_acknowledged(output, &sender);
        process.reading = Some(gadus_base::spawn("acknowledged", read)?);
        Ok(process)
    }

    /// Waits until the process has acknowledged the awaited commits.
    pub(crate) fn wait(&self) -> Result<(), Failure> {
        for _ in 0..self.awaited {
            match self.acknowledged.recv_timeout(COMMIT_MAX) {
                Ok(()) => {}
                Err(RecvTimeoutError::Timeout) => {
                    return Err(Failure::message("the writer does not commit"));
                }
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Failure::message("the writer ended by itself"));
                }
            }
        }
        Ok(())
    }

    /// Kills the process with SIGKILL; returns what it has acknowledged.
    pub(crate) fn kill(mut self) -> Result<Numbers, Failure> {
        if let Some(status) = self.child.try_wait()? {
            return Err(Failure::message(format!("the writer ended by itself: {status}")));
        }
        self.child.kill()?;
        self.child.wait()?;
        let broken = || Failure::message("reading what was acknowledged broke off");
        let reading = self.reading.take().ok_or_else(broken)?;
        Ok(reading.join().map_err(|_| broken())??)
    }
}

impl Drop for WritingProcess {
    fn drop(&mut self) {
        // One that has ended needs no more.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads lines of "writer number" to their end.
fn read_acknowledged(output: ChildStdout, sender: &SyncSender<()>) -> io::Result<Numbers> {
    let mut numbers = Numbers::default();
    let mut output = BufReader::new(output);
    let mut line = String::new();
    while output.read_line(&mut line)? > 0 {
        if let Some((writer, n)) = acknowledged(&line) {
            numbers.note(writer, n);
            // There is room for the awaited commits; nobody waits for more.
            let _ = sender.try_send(());
        }
        line.clear();
    }
    Ok(numbers)
}

/// What a line acknowledges; nothing when it was still being written.
pub(super) fn acknowledged(line: &str) -> Option<(WriterId, i64)> {
    let (writer, n) = line.strip_suffix('\n')?.split_once(' ')?;
    Some((WriterId(writer.parse().ok()?), n.parse().ok()?))
}
