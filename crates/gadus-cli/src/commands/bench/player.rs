//! A process that plays a part in a benchmark: it says when it is ready, begins when told to, answers
//! with one line when it is through, and stays until it is dropped or told to go on.

use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::Value;

use crate::failure::Failure;

/// A started process.
pub(super) struct Player {
    child: Child,
    answers: BufReader<ChildStdout>,
}

impl Player {
    /// Starts a worker that [`await_start`] has wait.
    pub(super) fn start(mut command: Command) -> Result<Self, Failure> {
        let mut child = command.stdin(Stdio::piped()).spawn()?;
        let answers = child.stdout.take();
        let answers = answers.ok_or_else(|| Failure::message("a process without output"))?;
        Ok(Self { child, answers: BufReader::new(answers) })
    }

    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    fn line(&mut self) -> Result<String, Failure> {
        let mut line = String::new();
        if self.answers.read_line(&mut line)? == 0 {
            return Err(Failure::message("a process broke off; see above"));
        }
        Ok(line)
    }

    pub(super) fn wait_ready(&mut self) -> Result<(), Failure> {
        self.line().map(drop)
    }

    /// Lets it begin, or go on.
    pub(super) fn go(&mut self) -> Result<(), Failure> {
        self.tell("go")
    }

    /// Gives it a line.
    pub(super) fn tell(&mut self, line: &str) -> Result<(), Failure> {
        let input = self.child.stdin.as_mut();
        Ok(writeln!(input.ok_or_else(|| Failure::message("a process without input"))?, "{line}")?)
    }

    /// Says that there are no more tasks, and waits until it has ended.
    pub(super) fn end(&mut self) -> Result<(), Failure> {
        drop(self.child.stdin.take());
        self.child.wait()?;
        Ok(())
    }

    /// Waits until it is through.
    pub(super) fn answer(&mut self) -> Result<Value, Failure> {
        serde_json::from_str(&self.line()?)
            .map_err(|error| Failure::message(format!("the answer of a process: {error}")))
    }
}

impl Drop for Player {
    fn drop(&mut self) {
        // One that has ended needs no more.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// In such a process: says that it is ready, and waits until it may begin.
pub(super) fn await_start() -> Result<(), Failure> {
    writeln!(io::stdout(), "ready")?;
    await_go()
}

/// In such a process: answers, and returns only when somebody has looked, at its memory for example.
pub(super) fn answer_and_stay(answer: &Value) -> Result<(), Failure> {
    writeln!(io::stdout(), "{answer}")?;
    await_go()
}

fn await_go() -> Result<(), Failure> {
    io::stdin().read_line(&mut String::new())?;
    Ok(())
}

/// In a process that does one task after another: the next one; none when there are no more.
pub(super) fn next_task() -> Result<Option<Value>, Failure> {
    let mut line = String::new();
    if io::stdin().read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let task = serde_json::from_str(&line);
    Ok(Some(task.map_err(|error| Failure::message(format!("a task: {error}: {line}")))?))
}
