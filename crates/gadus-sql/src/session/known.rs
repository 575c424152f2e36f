//! The settings that there are.
//!
//! - One table of them: the error for an unknown one names them by it, SHOW ALL shows it, and the guide's page
//!   is made of it.

use super::variables;

/// A setting: what SET, RESET and SHOW name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Setting {
    /// Its name; any case will do.
    pub name: &'static str,
    /// What it can be set to, for people.
    pub values: &'static str,
    /// What it is unless it is set.
    pub default: &'static str,
    /// For whom it is set.
    pub scope: SettingScope,
    /// What it does.
    pub description: &'static str,
}

/// For whom a setting is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum SettingScope {
    /// The session that sets it.
    Session,
    /// The open transaction.
    Transaction,
    /// All sessions of the database in this process.
    Database,
    /// The session; it is there for PostgreSQL's clients, which set it.
    Client,
    /// Nobody sets it: it says what the database does.
    Nobody,
}

impl SettingScope {
    /// As tables have it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Transaction => "transaction",
            Self::Database => "database",
            Self::Client => "client",
            Self::Nobody => "nobody",
        }
    }
}

const fn setting(
    name: &'static str,
    values: &'static str,
    default: &'static str,
    scope: SettingScope,
    description: &'static str,
) -> Setting {
    Setting { name, values, default, scope, description }
}

const TIME: &str = "a time such as '5s', or a number of milliseconds; 0 for none";

const OWN: &[Setting] = &[
    setting(
        "default_transaction_isolation",
        "serializable, snapshot or read committed",
        "snapshot, read committed in the server",
        SettingScope::Session,
        "How transactions that begin are isolated.",
    ),
    setting(
        "gadus.batch_queries",
        "a number of statements",
        "2048",
        SettingScope::Database,
        "Queries that one shared scan answers at most.",
    ),
    setting(
        "gadus.batch_updates",
        "a number of statements",
        "256",
        SettingScope::Database,
        "UPDATE and DELETE statements whose rows one shared scan finds at most.",
    ),
    setting(
        "gadus.cache",
        "a size such as '4GiB'",
        "an eighth of what the machine and its control group give, or of gadus.memory_limit where that is less",
        SettingScope::Database,
        "What the process keeps of the database's file in memory; less where memory is short.",
    ),
    setting(
        "gadus.divide_scans",
        "on or off",
        "off",
        SettingScope::Database,
        "Whether each thread scans an equal part of a table, which no other helps with; else each takes the next segment.",
    ),
    setting(
        "gadus.durability",
        "sync, relaxed or off",
        "sync",
        SettingScope::Session,
        "What a commit waits for: the disk, the system, or nothing.",
    ),
    setting(
        "gadus.late_statements",
        "wait or refuse",
        "wait",
        SettingScope::Database,
        "What becomes of statements that gadus.latency_target cannot be held for.",
    ),
    setting(
        "gadus.latency_target",
        TIME,
        "0",
        SettingScope::Database,
        "The time in which shared scans are to answer.",
    ),
    setting(
        "gadus.memory_limit",
        "a size such as '4GiB'",
        "half of what the machine and its control group give",
        SettingScope::Database,
        "What planned statements hold together; beyond it those that came later wait, and sorts and aggregates write to files.",
    ),
    setting(
        "gadus.pin_threads",
        "auto, on or off",
        "auto",
        SettingScope::Database,
        "Whether scan threads stay on processors that they are told: those that others leave most of. auto does where cores have memory, caches or a speed of their own.",
    ),
    setting(
        "gadus.sharing",
        "auto, always or never",
        "auto",
        SettingScope::Session,
        "Whether statements share scans of tables with others.",
    ),
    setting(
        "gadus.snapshot_space_max",
        "a size such as '16GiB'",
        "16 GiB",
        SettingScope::Database,
        "Space that old snapshots may keep of the log and of deleted rows from being used again.",
    ),
    setting(
        "gadus.statement_memory",
        "a size such as '64MiB'",
        "64 MiB",
        SettingScope::Session,
        "What a statement keeps while its table is scanned; one that needs more is planned, alone.",
    ),
    setting(
        "idle_in_transaction_session_timeout",
        TIME,
        "0",
        SettingScope::Session,
        "How long a client of the server may be silent in a transaction, before its connection is closed.",
    ),
    setting(
        "idle_session_timeout",
        TIME,
        "0",
        SettingScope::Session,
        "How long a client of the server may be silent outside transactions.",
    ),
    setting(
        "lock_timeout",
        TIME,
        "30s",
        SettingScope::Session,
        "How long a statement waits for a lock.",
    ),
    setting(
        "statement_timeout",
        TIME,
        "0",
        SettingScope::Session,
        "How long a statement may take.",
    ),
    setting(
        "transaction_isolation",
        "serializable, snapshot or read committed",
        "default_transaction_isolation",
        SettingScope::Transaction,
        "How the open transaction is isolated.",
    ),
    setting(
        "transaction_read_only",
        "set by SET TRANSACTION",
        "off",
        SettingScope::Transaction,
        "Whether the open transaction refuses changes.",
    ),
    setting(
        "transaction_deferrable",
        "set by BEGIN",
        "off",
        SettingScope::Transaction,
        "Whether the open transaction was begun DEFERRABLE, which changes nothing.",
    ),
];

/// All settings, by name.
#[must_use]
pub fn settings() -> Vec<Setting> {
    let mut settings = OWN.iter().copied().chain(variables::settings()).collect::<Vec<_>>();
    settings.sort_by_key(|setting| setting.name.to_ascii_lowercase());
    settings
}

/// Those of the database's own, with their values, and where the others are; for an error.
pub(super) fn described() -> String {
    let own = OWN.iter().map(|setting| format!("{} ({})", setting.name, setting.values));
    let own = own.collect::<Vec<_>>().join(", ");
    format!("{own}, and those of PostgreSQL's that its clients set, such as application_name")
}
