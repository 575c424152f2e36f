//! A writing process as its parent sees it: started, listened to, killed.
//!
//! - All that is in the pipe when the process dies was acknowledged: it is read to the end.
//! - Pauses between its commits are noted as its parent sees them: with whatever keeps the parent from
//!   looking.
//! - A process that nobody kills any more is killed when dropped.

use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use gadus_base::{Instant, clock};

use super::writer::READY;
use super::{Numbers, WriterId, Writing};
use crate::failure::Failure;

/// The subcommand that writes.
const WRITER: &str = "ledger-writer";

/// Longer than any disk needs for opening and one commit.
const COMMIT_MAX: Duration = Duration::from_secs(60);

/// A process that writes to a ledger.
#[derive(Debug)]
pub(crate) struct WritingProcess {
    child: Running,
    reading: Option<JoinHandle<io::Result<Numbers>>>,
    pauses: Arc<Mutex<Pauses>>,
    /// One message for each awaited commit.
    acknowledged: Receiver<()>,
    awaited: usize,
    first_writer: u32,
}

/// A child that is killed when this is dropped.
#[derive(Debug)]
struct Running(Child);

/// A process that has its memory, and has not opened the database.
#[derive(Debug)]
pub(crate) struct Spare {
    child: Running,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

/// When a process acknowledged last, and pauses that it has made since its first commit.
#[derive(Debug, Default)]
pub(crate) struct Pauses {
    last: Option<Instant>,
    long: Vec<Pause>,
}

/// From one acknowledged commit to the next.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pause {
    pub(crate) from: Instant,
    pub(crate) to: Instant,
}

impl Pause {
    pub(crate) fn length(&self) -> Duration {
        self.to.since(self.from)
    }
}

/// Shorter pauses are not noted.
pub(crate) const PAUSE_MIN: Duration = Duration::from_millis(2);

impl Pauses {
    fn acknowledged(&mut self) {
        let to = clock().now();
        if let Some(from) = self.last.replace(to)
            && to.since(from) >= PAUSE_MIN
        {
            self.long.push(Pause { from, to });
        }
    }
}

impl WritingProcess {
    /// The long pauses until now; with the last one, which may not be over, unless it is the
    /// process's own end.
    pub(crate) fn pauses(&self, with_last: bool) -> Vec<Pause> {
        let pauses = self.pauses.lock().unwrap_or_else(PoisonError::into_inner);
        let open = pauses.last.map(|from| Pause { from, to: clock().now() });
        pauses.long.iter().copied().chain(open.filter(|_| with_last)).collect()
    }

    /// Starts the process; [`wait`](Self::wait) will wait for `awaited` commits.
    pub(crate) fn start(writing: &Writing, awaited: usize) -> Result<Self, Failure> {
        let mut child = Running(command(writing)?.stdin(Stdio::null()).spawn()?);
        let output = child.output()?;
        Self::listen(child, output, writing.first_writer, awaited)
    }

    fn listen(
        child: Running,
        output: BufReader<ChildStdout>,
        first_writer: u32,
        awaited: usize,
    ) -> Result<Self, Failure> {
        let (sender, acknowledged) = sync_channel(awaited);
        let pauses = Arc::<Mutex<Pauses>>::default();
        let mut process = Self {
            child,
            reading: None,
            pauses: pauses.clone(),
            acknowledged,
            awaited,
            first_writer,
        };
        let read = move || read_acknowledged(output, &sender, &pauses);
        process.reading = Some(gadus_base::spawn("acknowledged", read)?);
        Ok(process)
    }

    /// The id of its first writer.
    pub(crate) fn first_writer(&self) -> u32 {
        self.first_writer
    }

    /// Its process id.
    pub(crate) fn pid(&self) -> u32 {
        self.child.0.id()
    }

    /// Waits as [`wait`](Self::wait), unless that was done before.
    pub(crate) fn wait_once(&mut self) -> Result<(), Failure> {
        self.wait()?;
        self.awaited = 0;
        Ok(())
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
        if let Some(status) = self.child.0.try_wait()? {
            return Err(Failure::message(format!("the writer ended by itself: {status}")));
        }
        self.child.0.kill()?;
        self.child.0.wait()?;
        let broken = || Failure::message("reading what was acknowledged broke off");
        let reading = self.reading.take().ok_or_else(broken)?;
        Ok(reading.join().map_err(|_| broken())??)
    }
}

impl Running {
    fn output(&mut self) -> Result<BufReader<ChildStdout>, Failure> {
        let output = self.0.stdout.take();
        Ok(BufReader::new(output.ok_or_else(|| Failure::message("the writer has no output"))?))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // One that has ended needs no more.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Spare {
    /// Starts one with one writer; returns when it has its memory.
    pub(crate) fn start(writing: &Writing) -> Result<Self, Failure> {
        let writing = Writing { spare: true, ..writing.clone() };
        let mut child = Running(command(&writing)?.stdin(Stdio::piped()).spawn()?);
        let mut output = child.output()?;
        let input = child.0.stdin.take();
        let input = input.ok_or_else(|| Failure::message("the writer has no input"))?;
        let mut said = String::new();
        output.read_line(&mut said)?;
        let spare = Self { child, input, output };
        match said.trim() {
            READY => Ok(spare),
            _ => Err(Failure::message("a spare writer ended by itself")),
        }
    }

    /// Has it open the database and carry on a writer.
    pub(crate) fn carry_on(
        mut self,
        writer: u32,
        awaited: usize,
    ) -> Result<WritingProcess, Failure> {
        writeln!(self.input, "{writer}")?;
        WritingProcess::listen(self.child, self.output, writer, awaited)
    }
}

fn command(writing: &Writing) -> Result<Command, Failure> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg(WRITER).args(writing.arguments()).stdout(Stdio::piped());
    Ok(command)
}

/// Reads lines of "writer number" to their end.
fn read_acknowledged(
    mut output: BufReader<ChildStdout>,
    sender: &SyncSender<()>,
    pauses: &Mutex<Pauses>,
) -> io::Result<Numbers> {
    let mut numbers = Numbers::default();
    let mut line = String::new();
    while output.read_line(&mut line)? > 0 {
        if let Some((writer, n)) = acknowledged(&line) {
            numbers.note(writer, n);
            pauses.lock().unwrap_or_else(PoisonError::into_inner).acknowledged();
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
