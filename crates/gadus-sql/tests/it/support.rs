//! What the tests share: a database in memory and results as text.

use arrow::util::display::{ArrayFormatter, FormatOptions};
use gadus_engine::{Engine, ErrorKind, Options, Result};
use gadus_sql::{Outcome, Session, Sql, Value};
use tokio::runtime::Runtime;

/// A session with the runtime that it runs on.
pub(crate) struct Shell {
    pub(crate) runtime: Runtime,
    pub(crate) session: Session,
    pub(crate) sql: Sql,
}

impl Shell {
    pub(crate) fn new() -> Self {
        Self::over(Engine::in_memory(Options { threads: 2, ..Options::default() }).unwrap())
    }

    pub(crate) fn over(engine: Engine) -> Self {
        let sql = Sql::new(engine);
        Self { runtime: Runtime::new().unwrap(), session: sql.session(), sql }
    }

    /// Another session of the same database.
    pub(crate) fn another(&self) -> Self {
        Self {
            runtime: Runtime::new().unwrap(),
            session: self.sql.session(),
            sql: self.sql.clone(),
        }
    }

    /// Runs a statement; rows come as `a|b` lines joined by newlines, counts as numbers.
    pub(crate) fn try_run(&self, text: &str, parameters: &[Value]) -> Result<String> {
        self.runtime.block_on(async {
            match self.session.execute(text, parameters).await? {
                Outcome::Changed { rows, .. } => Ok(rows.to_string()),
                Outcome::Done(verb) => Ok(verb.to_owned()),
                Outcome::Rows(rows) => {
                    let options = FormatOptions::default().with_null("NULL");
                    let mut lines = Vec::new();
                    for batch in rows.collect().await? {
                        let columns = batch
                            .columns()
                            .iter()
                            .map(|column| ArrayFormatter::try_new(column, &options).unwrap())
                            .collect::<Vec<_>>();
                        for row in 0..batch.num_rows() {
                            let cells = columns.iter().map(|column| column.value(row).to_string());
                            lines.push(cells.collect::<Vec<_>>().join("|"));
                        }
                    }
                    Ok(lines.join("\n"))
                }
            }
        })
    }

    pub(crate) fn run(&self, text: &str) -> String {
        self.try_run(text, &[]).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    /// Runs a statement that fails, and returns the kind and the message.
    pub(crate) fn fails(&self, text: &str) -> (ErrorKind, String) {
        match self.try_run(text, &[]) {
            Ok(result) => panic!("{text} gave {result}"),
            Err(error) => (error.kind(), error.to_string()),
        }
    }
}
