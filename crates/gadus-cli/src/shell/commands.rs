//! The shell's own commands: a word that begins with a point.

use std::io::Write;
use std::path::Path;

use gadus::Outcome;

use super::{Next, Shell, script};
use crate::failure::Failure;
use crate::output::Format;
use crate::progress::Watch;
use crate::terminal;

/// A command for `.help`: name, arguments, purpose.
const COMMANDS: [(&str, &str, &str); 10] = [
    (".help", "", "show this list"),
    (".import", "FILE TABLE", "load a CSV, JSON or Parquet file; a table that is missing is made"),
    (".mode", "FORMAT", "write results as table, csv, json, jsonl, markdown, arrow or parquet"),
    (".output", "[FILE]", "write results to a file, or here again"),
    (
        ".plot",
        "[KIND] [--svg FILE] QUERY",
        "draw a result; kinds are line, bar, scatter and histogram",
    ),
    (".quit", "", "leave"),
    (".read", "FILE", "run the statements of a file"),
    (".schema", "[TABLE]", "show how a table, or every table, is made"),
    (".tables", "", "list the tables"),
    (".timing", "on|off", "tell how long statements take"),
];

/// Names that are near enough to be what was meant (Jaro-Winkler; 1 is equal).
const SIMILARITY_MIN: f64 = 0.8;

impl Shell {
    /// Runs a line that begins with a point.
    pub(super) fn command(&mut self, line: &str) -> Result<Next, Failure> {
        self.begin()?;
        // A query has quotes of its own.
        if let Some(rest) = line.trim_start().strip_prefix(".plot")
            && rest.starts_with(char::is_whitespace)
        {
            self.plot(rest)?;
            return Ok(Next::Continue);
        }
        let words = words(line);
        let words = words.iter().map(String::as_str).collect::<Vec<_>>();
        match words.as_slice() {
            [".help"] => self.help()?,
            [".tables"] => self.tables()?,
            [".schema"] => {
                let statements = self.database.schema_statements()?;
                self.statements(statements)?;
            }
            [".schema", name] => {
                let create = self.database.create_statement(name)?;
                // A view and a sequence have none.
                let indexes = self.database.index_statements(name).unwrap_or_default();
                self.statements(std::iter::once(create).chain(indexes))?;
            }
            [".timing", "on"] => self.timing = true,
            [".timing", "off"] => self.timing = false,
            [".mode", format] => self.format = mode(format)?,
            [".import", file, table] => self.import(file, table)?,
            [".output"] => self.output_to(None)?,
            [".output", file] => self.output_to(Some(Path::new(file)))?,
            [".read", file] => return script::run_file(self, Path::new(file)),
            [".quit" | ".exit"] => return Ok(Next::Quit),
            [name, ..] => return Err(misused(name)),
            [] => {}
        }
        Ok(Next::Continue)
    }

    fn help(&mut self) -> Result<(), Failure> {
        for (name, arguments, purpose) in COMMANDS {
            writeln!(self.output, "{:<32} {purpose}", format!("{name} {arguments}"))?;
        }
        self.flush()
    }

    fn tables(&mut self) -> Result<(), Failure> {
        // By the connection, which sees the tables of its transaction too.
        for row in self.connection.query("SHOW TABLES", &[])? {
            writeln!(self.output, "{}", row?.get::<String>(0)?)?;
        }
        self.flush()
    }

    fn statements(&mut self, statements: impl IntoIterator<Item = String>) -> Result<(), Failure> {
        for statement in statements {
            writeln!(self.output, "{statement};")?;
        }
        self.flush()
    }

    /// Loads a file into a table, made after the file's columns where it is missing.
    fn import(&mut self, file: &str, table: &str) -> Result<(), Failure> {
        let path = file.replace('\'', "''");
        let name = table.replace('"', "\"\"");
        let statement = if self.database.tables()?.iter().any(|known| known == table) {
            format!("COPY \"{name}\" FROM '{path}'")
        } else {
            format!("CREATE TABLE \"{name}\" AS SELECT * FROM '{path}'")
        };
        let watch = Watch::start(self.connection.cancel_handle());
        let outcome = self.connection.run(&statement, &[])?;
        drop(watch);
        match outcome {
            Outcome::Changed { rows, .. } => self.tell(&format!("{rows} rows into {table}")),
            Outcome::Rows(_) | Outcome::Done(_) => self.tell(&format!("{table} is made")),
        }
    }

    fn output_to(&mut self, file: Option<&Path>) -> Result<(), Failure> {
        self.flush()?;
        self.output = terminal::open(file)?;
        self.redirected = file.is_some();
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Failure> {
        Ok(self.output.flush()?)
    }
}

fn mode(name: &str) -> Result<Format, Failure> {
    name.parse().map_err(|_| {
        Failure::message(format!("there is no format {name}; formats are {}", Format::names()))
    })
}

/// What to say of a command that is unknown, or has the wrong arguments.
fn misused(name: &str) -> Failure {
    if let Some((name, arguments, purpose)) = COMMANDS.iter().find(|known| known.0 == name) {
        return Failure::message(format!("use: {name} {arguments} ({purpose})"));
    }
    let similar = |known: &&str| strsim::jaro_winkler(known, name);
    let best = COMMANDS.iter().map(|known| known.0);
    let best = best.max_by(|one, other| similar(one).total_cmp(&similar(other)));
    match best.filter(|best| similar(best) >= SIMILARITY_MIN) {
        Some(best) => Failure::message(format!("there is no command {name}; did you mean {best}?")),
        None => Failure::message(format!("there is no command {name}; .help lists them")),
    }
}

/// The words of a line; quotes hold a word with spaces together.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for character in line.chars() {
        match (character, quote) {
            (character, Some(open)) if character == open => quote = None,
            ('\'' | '"', None) => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (space, None) if space.is_whitespace() => words.extend(word.take()),
            (other, _) => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    words
}
