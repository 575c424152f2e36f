//! A session: one connection's statements, one after another, and its transaction.
//!
//! - A statement in a transaction that fails is undone whole; the transaction goes on.
//! - Outside a transaction each statement is its own, run again on a newer snapshot when another
//!   commit changed the rows that it changed.
//! - Results are streams that hold a snapshot, not the session.

mod alter;
mod alter_column;
mod as_queries;
mod asked;
mod asking;
mod assigned;
mod backup;
mod beside;
mod bound_changes;
mod bound_queries;
mod by_name;
mod cancel;
mod chains;
mod checks;
mod chosen;
mod columns;
mod commands;
mod comments;
mod constraints;
mod copy;
mod copy_partitioned;
mod copy_rejects;
mod copy_words;
mod cursors;
mod database_settings;
mod deadlines;
mod defaults;
mod define;
mod describe;
mod diagnose;
mod each;
mod end;
mod enum_users;
mod enums;
mod explain;
mod files;
mod for_update;
mod foreign_keys;
mod frames;
mod functions;
mod generated;
mod glob_path;
mod in_order;
mod indexes;
mod insert;
mod kind;
mod known;
mod loading;
mod lock_tables;
mod locking;
mod maintenance;
mod merge;
mod modify;
mod no_effect;
mod numbering;
mod on_conflict;
mod ordered;
mod outer_names;
mod overriding;
mod parse;
mod planner;
mod planners_words;
mod precedence;
mod prepared;
mod preparing;
mod probes;
mod query;
mod query_parts;
mod reach;
mod reads;
mod relations;
mod returning;
mod run;
mod scanning;
mod schemas;
mod sequence_spelling;
mod sequences;
mod setting_calls;
mod settings;
mod sharing;
mod shown;
mod sniff;
mod spelling;
mod stand_ins;
mod submit;
mod time_variables;
mod transact;
mod truncate;
mod users;
mod variables;
mod view_definition;
mod views;
mod with_before;

use asked::Source;
pub(crate) use asking::Asking;
use by_name::ByName;
pub(crate) use cancel::{Cancel, Flag};
pub(crate) use checks::key_name;
pub(crate) use columns::Headings;
pub use comments::comment_statements;
pub(crate) use copy_words::{CopyWords, Word};
pub(crate) use defaults::expression;
pub use describe::Description;
pub use enums::type_statements;
pub use foreign_keys::foreign_key_definition;
pub(crate) use frames::Frames;
pub(crate) use insert::target_columns;
pub use kind::{CopyRequest, CopyWhat, StatementKind};
pub use known::{Setting, SettingScope, settings};
pub(crate) use modify::{column_index, folded, table_name};
pub(crate) use parse::{NESTING_MAX, parse};
pub use prepared::Prepared;
pub use preparing::LARGE_TEXT;
pub use reach::{FileAccess, Granted};
pub(crate) use reach::{is_glob, kind_of};
pub(crate) use shown::ShownSetting;
pub use users::is_hidden;
pub(crate) use users::names as user_names;
pub use variables::{POSTGRES_VERSION, Reported};
pub use view_definition::view_definition;
pub(crate) use views::view_statement;

use crate::compiled::{Budget, CompiledCache};
use crate::kept::KeptPlans;
use crate::memory::{Memory, memory_of};
use crate::progress::{Progress, ProgressReading};
use crate::rows::RowStream;
use crate::sequences::SequenceMemory;
use crate::statements::Statements;
use crate::times::{StatementTimes, TextSettings, statement_timestamp};
use crate::value::Value;
use chosen::{Chosen, Marked, Settings};
use cursors::Cursors;
use datafusion::execution::SessionState as PlannerState;
use deadlines::Deadlines;
use describe::Descriptions;
use frames::Named;
use futures::future::BoxFuture;
use gadus_engine::{
    Durability, Engine, Isolation, Locker, Result, Savepoint, Snapshot, Transaction,
};
use gadus_times::TimestampTz;
use scanning::ScanSharing;
use sharing::Sharing;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use time_variables::are_default;
use tokio::sync::Mutex;

/// A future that callers need not compile again.
pub type Boxed<'a, T> = BoxFuture<'a, Result<T>>;

/// SQL over one open database; sessions share its plans.
#[derive(Debug, Clone)]
pub struct Sql {
    shared: Arc<Shared>,
}

/// What the sessions of a database share.
pub(crate) struct Shared {
    pub(crate) engine: Engine,
    pub(crate) planner: PlannerState,
    pub(crate) memory: Memory,
    pub(crate) compiled: CompiledCache,
    pub(crate) kept: Arc<KeptPlans>,
    pub(crate) statements: Arc<Statements>,
    deadlines: Deadlines,
    descriptions: Descriptions,
    sharing: Sharing,
}

/// One connection's statements, serialised.
#[derive(Debug)]
pub struct Session {
    shared: Arc<Shared>,
    /// The database, with the connection's own cache where it has one.
    engine: Engine,
    state: Arc<Mutex<State>>,
    /// What the state was when no statement ran: who submits does not wait for one that does.
    outside: parking_lot::Mutex<Outside>,
    /// Who locks for this session, from its first statement on.
    locker: OnceLock<Arc<Locker>>,
    cancel: Arc<Cancel>,
    progress: Arc<Progress>,
    frames: parking_lot::Mutex<Named>,
    /// The settings, as the last statement that reads them as rows found them.
    shown: parking_lot::Mutex<Arc<[ShownSetting]>>,
    files: FileAccess,
    by_name: ByName,
    /// See [`Session::take_notices`].
    notices: parking_lot::Mutex<Vec<String>>,
    /// What it remembers of sequences.
    sequences: Arc<SequenceMemory>,
    /// See [`Session::set_autocommit`].
    autocommit: AtomicBool,
    /// Its time zone and styles after the last statement.
    times: parking_lot::Mutex<Arc<TextSettings>>,
}

/// How a session begins.
#[derive(Debug, Clone, Default)]
pub struct SessionOptions {
    /// How its transactions are isolated unless they, or it, say something else.
    pub isolation: Isolation,
    /// Which files its statements may read and write, beside the database.
    pub files: FileAccess,
}

/// What a session remembers between statements.
#[derive(Debug, Default)]
pub(crate) struct State {
    transaction: Option<Transaction>,
    /// The transaction was begun READ ONLY.
    read_only: bool,
    /// Start of the open transaction, or of the last statement.
    began: Option<TimestampTz>,
    /// The transaction was begun DEFERRABLE.
    deferrable: bool,
    /// Modes of the transaction that was rolled back last, for one that follows it.
    before: Option<transact::Again>,
    savepoints: Vec<NamedSavepoint>,
    cursors: Cursors,
    /// The transaction of a statement that waits, and is not in one of the session's.
    unfinished: Option<Transaction>,
    settings: Settings,
    /// The names, in small letters, of what goes with the session; perhaps also of what was dropped or rolled back.
    temporary: Vec<String>,
}

/// A savepoint of a session's transaction.
#[derive(Debug)]
struct NamedSavepoint {
    name: String,
    savepoint: Savepoint,
    read_only: bool,
    settings: Marked,
    cursors: u64,
}

/// What statements that are submitted need to know of a session.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Outside {
    in_transaction: bool,
    read_only: bool,
    /// Names may mean something else than to everybody.
    has_own_names: bool,
    /// Texts may mean other times than to everybody.
    has_own_times: bool,
    scan_sharing: ScanSharing,
    durability: Option<Durability>,
    statement_timeout: Option<Duration>,
    statement_memory: Budget,
    /// See [`State::is_serializable_alone`].
    is_serializable: bool,
}

/// What a statement gave.
#[derive(Debug)]
pub enum Outcome {
    /// Rows of a query.
    Rows(RowStream),
    /// How many rows were inserted, changed, deleted or copied, and by what kind of statement.
    Changed {
        /// INSERT, UPDATE, DELETE, COPY or CREATE TABLE AS.
        verb: &'static str,
        /// How many.
        rows: u64,
    },
    /// Done, without rows: the kind of statement.
    Done(&'static str),
}

impl Sql {
    /// SQL over a database.
    #[must_use]
    pub fn new(engine: Engine) -> Self {
        let memory = memory_of(&engine);
        let planner = planner::planner_state(&engine, memory.clone());
        let (compiled, kept, statements, deadlines, descriptions, sharing) = Default::default();
        Self {
            shared: Arc::new(Shared {
                engine,
                planner,
                memory,
                compiled,
                kept,
                statements,
                deadlines,
                descriptions,
                sharing,
            }),
        }
    }

    /// The database below.
    #[must_use]
    pub fn engine(&self) -> &Engine {
        &self.shared.engine
    }

    /// How often a query ran by a plan that had been kept.
    #[must_use]
    pub fn kept_plans_bound(&self) -> u64 {
        self.shared.kept.bound()
    }

    /// A new session.
    #[must_use]
    pub fn session(&self) -> Session {
        self.session_with(SessionOptions::default())
    }

    /// A new session that begins so.
    #[must_use]
    pub fn session_with(&self, options: SessionOptions) -> Session {
        let SessionOptions { isolation, files } = options;
        let shared = self.shared.clone();
        let state = Arc::new(Mutex::new(State::of(isolation)));
        let (outside, locker, cancel) = Default::default();
        let (progress, frames, shown, by_name, notices, sequences) = Default::default();
        let engine = shared.engine.for_connection();
        let autocommit = AtomicBool::new(true);
        let times = parking_lot::Mutex::new(Chosen::default().variables.times().clone());
        Session {
            shared,
            engine,
            state,
            outside,
            locker,
            cancel,
            progress,
            frames,
            shown,
            files,
            by_name,
            notices,
            sequences,
            autocommit,
            times,
        }
    }
}

impl Session {
    /// Runs one statement.
    pub fn execute<'a>(&'a self, text: &'a str, parameters: &'a [Value]) -> Boxed<'a, Outcome> {
        Box::pin(self.run(Source::Text(text), parameters))
    }

    /// Runs a prepared statement.
    pub fn execute_prepared<'a>(
        &'a self,
        prepared: &'a Prepared,
        parameters: &'a [Value],
    ) -> Boxed<'a, Outcome> {
        Box::pin(self.run(Source::Prepared(prepared), parameters))
    }

    /// Cancels the statement that runs now, with its stream; later ones are not affected.
    pub fn cancel(&self) {
        self.cancel.cancel();
        if let Some(locker) = self.locker.get() {
            locker.cancel_wait();
        }
    }

    /// Returns how often it was asked to cancel: a script ends if that happens between two of its statements.
    pub fn cancel_requests(&self) -> u64 {
        self.cancel.requests()
    }

    /// What names the session among those of all processes, in `gadus.sessions` and for KILL.
    pub fn id(&self) -> Result<u32> {
        Ok(self.locker()?.id())
    }

    /// How far the statement that runs now has come, with its stream.
    #[must_use]
    pub fn progress(&self) -> ProgressReading {
        self.progress.read()
    }

    /// What the last statement tells beside its result, which is forgotten when the next one begins.
    #[must_use]
    pub fn take_notices(&self) -> Vec<String> {
        std::mem::take(&mut self.notices.lock())
    }

    /// Returns the time zone and the styles in which times are read and shown; while a statement runs, those before it.
    #[must_use]
    pub fn times(&self) -> Arc<TextSettings> {
        self.times.lock().clone()
    }

    /// Returns the settings by which values that come with the next statement are read: `now` is the start of the open
    /// transaction, or the time of this call.
    #[must_use]
    pub fn times_to_read(&self) -> TextSettings {
        let in_transaction = self.state.try_lock().ok().and_then(|state| {
            let is_open = state.transaction.is_some();
            state.began.filter(|_| is_open)
        });
        let now = in_transaction.unwrap_or_else(statement_timestamp);
        self.times().of_transaction(now)
    }

    /// Whether a transaction is open; while a statement runs, whether one was before it.
    #[must_use]
    pub fn in_transaction(&self) -> bool {
        match self.state.try_lock() {
            Ok(state) => state.transaction.is_some(),
            Err(_) => self.outside.lock().in_transaction,
        }
    }

    /// Appends Arrow batches to a table, as one statement; returns rows.
    ///
    /// Their columns are the table's by position, or those of these exact names, and are cast as
    /// assignments; columns that are not named take their DEFAULT.
    pub fn append<'a>(
        &'a self,
        table: &'a str,
        columns: &'a [String],
        batches: Vec<arrow::array::RecordBatch>,
    ) -> Boxed<'a, u64> {
        Box::pin(self.append_batches(table, columns, batches))
    }

    /// What is set now is what RESET goes back to: the session's client has said how it begins. While a
    /// statement runs it does nothing.
    pub fn keep_settings(&self) {
        if let Ok(mut state) = self.state.try_lock() {
            state.settings.begin();
        }
    }

    /// What clients of PostgreSQL's protocol are told, where the count of changes is not `seen`. Waits for
    /// the statement that runs.
    pub fn reported(&self, seen: u64) -> BoxFuture<'_, Option<Reported>> {
        Box::pin(async move {
            let state = self.state.lock().await;
            (state.settings.changes() != seen).then(|| state.settings.reported())
        })
    }
}

impl State {
    /// Of a session whose transactions are isolated so at first.
    fn of(isolation: Isolation) -> Self {
        Self { settings: Settings::new(isolation), ..Self::default() }
    }

    /// Returns what a plan of a text is kept by: the text, and the settings that its constants depend on.
    fn plan_text(&self, text: &Arc<str>) -> Arc<str> {
        let times = self.settings.variables.times();
        if are_default(times) {
            return text.clone();
        }
        let (zone, style) = (times.time_zone.name(), times.date_style_text());
        let of_numbers = (times.extra_float_digits, times.escapes_bytes);
        format!("{text}\0{zone}\0{style}\0{:?}\0{of_numbers:?}", times.interval_style).into()
    }

    /// Returns the times of a statement that begins now, in the session's zone and styles.
    fn begin_times(&mut self) -> Arc<StatementTimes> {
        let transaction = self.began.filter(|_| self.transaction.is_some());
        let times = StatementTimes::begin(self.settings.variables.times(), transaction);
        self.began = Some(times.settings.now);
        Arc::new(times)
    }

    fn outside(&self) -> Outside {
        Outside {
            in_transaction: self.transaction.is_some(),
            read_only: self.transaction.is_some() && self.read_only,
            has_own_names: !self.temporary.is_empty()
                || self.settings.variables.search_path().is_some(),
            has_own_times: !are_default(self.settings.variables.times()),
            scan_sharing: self.settings.scan_sharing,
            durability: self.settings.durability,
            statement_timeout: self.settings.statement_timeout,
            statement_memory: self.settings.statement_memory,
            is_serializable: self.is_serializable_alone(),
        }
    }

    /// Whether a statement that is run again sees what was committed meanwhile.
    fn sees_newer(&self) -> bool {
        let of_transaction = self.transaction.as_ref().map(Transaction::isolation);
        of_transaction.is_none_or(|isolation| isolation == Isolation::ReadCommitted)
    }

    /// What the next statement reads.
    pub(crate) fn snapshot(&self, engine: &Engine) -> Result<Snapshot> {
        match &self.transaction {
            Some(transaction) => Ok(transaction.snapshot()),
            None => Ok(engine.snapshot()?),
        }
    }
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("engine", &self.engine).finish_non_exhaustive()
    }
}
