//! What the tests share: a database in memory and results as text.

use arrow::util::display::{ArrayFormatter, FormatOptions};
use gadus_block::FileFolder;
use gadus_engine::{CacheScope, Engine, ErrorKind, Options, Result, Sharing};
use gadus_sql::{Outcome, Session, Sql, Value};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// Sessions of all instances of a database, which take turns, with the runtime that they run on.
pub(crate) struct Shell {
    pub(crate) runtime: Runtime,
    sessions: Vec<Session>,
    turn: AtomicUsize,
    pub(crate) instances: Vec<Sql>,
    folder: Option<Arc<TempDir>>,
}

impl Shell {
    pub(crate) fn new() -> Self {
        Self::of(1, CacheScope::Process)
    }

    /// Over a database in memory, or over instances that share one in a file.
    pub(crate) fn of(instances: usize, cache_scope: CacheScope) -> Self {
        let options = Options { threads: 2, cache_scope, ..Options::default() };
        if instances == 1 {
            return Self::over(vec![Engine::in_memory(options).unwrap()], None);
        }
        let folder = tempfile::tempdir().unwrap();
        let sharing = Sharing::Shared { memory: folder.path().to_owned() };
        let options = Options { sharing, ..options };
        let files = || Arc::new(FileFolder::new(folder.path()));
        let open = |_| Engine::open(files(), "x.gadus", options.clone()).unwrap();
        let engines = (0..instances).map(open).collect();
        Self::over(engines, Some(Arc::new(folder)))
    }

    fn over(engines: Vec<Engine>, folder: Option<Arc<TempDir>>) -> Self {
        let instances = engines.into_iter().map(Sql::new).collect::<Vec<_>>();
        let sessions = instances.iter().map(Sql::session).collect();
        let turn = AtomicUsize::new(0);
        Self { runtime: Runtime::new().unwrap(), sessions, turn, instances, folder }
    }

    /// Other sessions of the same database.
    pub(crate) fn another(&self) -> Self {
        let instances = self.instances.clone();
        let sessions = instances.iter().map(Sql::session).collect();
        let (turn, folder) = (AtomicUsize::new(0), self.folder.clone());
        Self { runtime: Runtime::new().unwrap(), sessions, turn, instances, folder }
    }

    /// The session whose turn it is: a transaction keeps its own.
    pub(crate) fn session(&self) -> &Session {
        if !self.last().in_transaction() {
            self.turn.fetch_add(1, Ordering::Relaxed);
        }
        self.last()
    }

    /// The session that ran the last statement.
    pub(crate) fn last(&self) -> &Session {
        &self.sessions[self.turn.load(Ordering::Relaxed) % self.sessions.len()]
    }

    /// One of the instances.
    pub(crate) fn engine(&self) -> &Engine {
        self.instances[0].engine()
    }

    /// Makes a setting in all sessions.
    fn set(&self, text: &str) -> Result<String> {
        for session in &self.sessions {
            self.runtime.block_on(session.execute(text, &[]))?;
        }
        Ok("SET".to_owned())
    }

    /// Runs a statement; rows come as `a|b` lines joined by newlines, counts as numbers.
    pub(crate) fn try_run(&self, text: &str, parameters: &[Value]) -> Result<String> {
        if text.starts_with("SET ") {
            return self.set(text);
        }
        self.runtime.block_on(async {
            match self.session().execute(text, parameters).await? {
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
