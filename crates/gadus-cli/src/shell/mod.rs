//! The shell: statements and commands from a prompt, a script or the command line.
//!
//! - Results go to standard output or the file that `.output` names; they are streamed.
//! - At a prompt an error is told and the shell goes on; elsewhere it ends the run, with its line.

mod commands;
mod diagnosis;
mod gather;
mod plot;
mod prompt;
mod script;

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use gadus::{Connection, Database, Options, Outcome, Rows};
use gadus_base::clock;

use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::output::{BatchWriter, Format, Limits, Plan, Times};
use crate::progress::Watch;
use crate::terminal;

/// What other databases' shells call a database in memory.
const IN_MEMORY: &str = ":memory:";

/// What the shell is started with.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The database; created when it does not exist, in memory when not given or ":memory:"
    file: Option<PathBuf>,
    /// Run these statements and exit; may be given several times
    #[arg(short = 'c', long = "command", value_name = "SQL", conflicts_with = "script")]
    statements: Vec<String>,
    /// Run the statements of this file and exit
    #[arg(short = 'f', long = "file", value_name = "SCRIPT")]
    script: Option<PathBuf>,
    /// How results are written
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// Refuse every change; others may write meanwhile, and what they commit is seen
    #[arg(long)]
    read_only: bool,
    /// Share memory with other processes through FOLDER, which all of them name alike [default: /dev/shm]
    #[arg(long, value_name = "FOLDER")]
    lock_folder: Option<PathBuf>,
}

/// A connection with what its user has set.
pub(crate) struct Shell {
    database: Database,
    connection: Connection,
    interrupt: Interrupt,
    format: Format,
    /// Whether to tell how long statements take.
    timing: bool,
    /// Whether a person reads along.
    prompt: bool,
    output: Box<dyn Write + Send>,
    /// Whether results go to a file.
    redirected: bool,
    /// Scripts that run each other.
    depth: usize,
}

/// What comes after a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    Continue,
    Quit,
}

/// Runs the shell that the arguments ask for.
pub(crate) fn run(arguments: Arguments) -> Result<(), Failure> {
    let options = Options::new().read_only(arguments.read_only);
    let options = arguments.lock_folder.into_iter().fold(options, Options::lock_folder);
    let file = arguments.file.filter(|path| path != Path::new(IN_MEMORY));
    let database = match &file {
        Some(path) => Database::open(path, options)?,
        None => Database::open_in_memory(options)?,
    };
    let scripted = !arguments.statements.is_empty() || arguments.script.is_some();
    let prompt = !scripted && io::stdin().is_terminal() && terminal::is_interactive();
    let connection = database.connect();
    let interrupt = Interrupt::watch(connection.cancel_handle(), prompt)?;
    let mut shell = Shell {
        database,
        connection,
        interrupt,
        format: arguments.format,
        timing: prompt,
        prompt,
        output: terminal::open(None)?,
        redirected: false,
        depth: 0,
    };
    if let Some(path) = arguments.script {
        return script::run_file(&mut shell, &path).map(|_| ());
    }
    if prompt {
        return prompt::run(&mut shell, file.as_deref());
    }
    if arguments.statements.is_empty() {
        return script::run_input(&mut shell, io::stdin().lock(), None).map(|_| ());
    }
    arguments.statements.iter().try_for_each(|text| script::run_text(&mut shell, text))
}

impl Shell {
    /// Runs one statement and writes what it gives.
    fn statement(&mut self, sql: &str) -> Result<(), Failure> {
        self.begin()?;
        let started = clock().now();
        let watch = Watch::start(self.connection.cancel_handle());
        let outcome = self.connection.run(sql, &[]);
        let told = |error: gadus::Error| match Failure::from(error.clone()) {
            Failure::Message(_) => Failure::Message(diagnosis::described(&error, sql)),
            other => other,
        };
        match outcome.map_err(told)? {
            Outcome::Rows(rows) => self.write_rows(rows, watch)?,
            Outcome::Changed { verb, rows } => {
                drop(watch);
                for notice in self.connection.take_notices() {
                    writeln!(io::stderr(), "notice: {notice}")?;
                }
                self.tell(&format!("{verb} {rows}"))?;
            }
            Outcome::Done(verb) => {
                drop(watch);
                self.tell(verb)?;
            }
        }
        if self.timing {
            let seconds = started.elapsed().as_secs_f64();
            self.output.flush()?;
            writeln!(io::stderr(), "{}", shown_seconds(seconds))?;
        }
        Ok(())
    }

    /// Before anything runs: a Ctrl-C before it was meant for what ran then, and ends a script.
    fn begin(&self) -> Result<(), Failure> {
        if !self.prompt {
            return self.interrupt.check();
        }
        self.interrupt.forget();
        Ok(())
    }

    fn write_rows(&mut self, mut rows: Rows, watch: Watch) -> Result<(), Failure> {
        let terminal = !self.redirected && terminal::is_interactive();
        if terminal && self.format.is_binary() {
            return Err(Failure::message(
                "a terminal cannot show this format: choose another by .mode, or a file by .output",
            ));
        }
        let limits = if terminal { terminal::limits() } else { Limits::default() };
        let mut writer: Box<dyn BatchWriter> = match self.format {
            Format::Table if Plan::is_one(rows.schema()) => Box::new(Plan::new(&mut self.output)),
            format if format.is_binary() => format.writer(&mut self.output, limits),
            format => {
                let writer = format.writer(&mut self.output, limits);
                Box::new(Times::new(writer, format, self.connection.times()))
            }
        };
        let mut next = rows.next_batch()?;
        // On a terminal the rows would mix with the bar.
        let _watch = (!terminal).then_some(watch);
        writer.start(rows.schema())?;
        while let Some(batch) = next {
            writer.batch(&batch)?;
            next = rows.next_batch()?;
        }
        writer.finish()?;
        drop(writer);
        self.output.flush()?;
        Ok(())
    }

    /// Says what a statement without rows did, to a person only.
    fn tell(&mut self, text: &str) -> Result<(), Failure> {
        if self.prompt {
            writeln!(io::stdout(), "{text}")?;
        }
        Ok(())
    }
}

/// A time in the unit that suits it.
pub(crate) fn shown_seconds(seconds: f64) -> String {
    if seconds < 0.001 {
        format!("{:.0} µs", seconds * 1e6)
    } else if seconds < 1.0 {
        format!("{:.1} ms", seconds * 1e3)
    } else {
        format!("{seconds:.2} s")
    }
}
