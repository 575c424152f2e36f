//! Who uses the database, and who keeps whom waiting, in the words of PostgreSQL's views.

use super::build::{Cell, Rows};
use super::oids;
use crate::provider::CATALOG;
use gadus_base::date_and_time;
use gadus_engine::{Engine, Mode, NamedLock, Result, SessionView};

/// The sessions of all processes. What runs one process does not know of another.
pub(super) fn sessions(engine: &Engine) -> Result<Rows> {
    let sessions = engine.sessions()?;
    Ok(sessions.iter().filter_map(|session| Some(activity(session.id?, session))).collect())
}

fn activity(id: u32, session: &SessionView) -> Vec<(&'static str, Cell)> {
    let mut row = vec![
        ("datid", oids::DATABASE.into()),
        ("datname", CATALOG.into()),
        ("pid", i64::from(id).into()),
        ("backend_type", "client backend".into()),
    ];
    if let Some(process) = &session.process {
        row.push(("application_name", process.program.clone().into()));
        row.push(("backend_start", date_and_time(process.since_seconds).into()));
    }
    if session.waits {
        let waits = [("state", "active"), ("wait_event_type", "Lock"), ("wait_event", "lock")];
        row.extend(waits.map(|(name, value)| (name, value.into())));
    }
    row
}

/// Who keeps a session waiting.
pub(super) fn blockers(engine: &Engine, session: Option<u32>) -> Vec<u32> {
    let blockers = session.map(|session| engine.blockers(session));
    // What cannot be looked at now is nobody's wait that lasts.
    blockers.and_then(Result::ok).unwrap_or_default()
}

/// Whether one of some sessions, an array as text, keeps another waiting.
pub(super) fn is_blocked_among(engine: &Engine, session: Option<u32>, among: &str) -> bool {
    let among = among.trim_matches(['{', '}', '[', ']']).split(',');
    let among = among.filter_map(|session| session.trim().parse().ok()).collect::<Vec<u32>>();
    blockers(engine, session).iter().any(|session| among.contains(session))
}

/// The locks of all sessions; one that is to become a stronger one is there twice.
pub(super) fn locks(engine: &Engine) -> Result<Rows> {
    let each = |lock: &NamedLock| {
        let modes = [(lock.view.granted, true), (lock.view.wanted, false)];
        let modes = modes.into_iter().filter_map(|(mode, granted)| Some((mode?, granted)));
        let rows = modes.map(|(mode, granted)| row(lock, mode, granted));
        rows.collect::<Vec<_>>()
    };
    Ok(engine.locks()?.iter().flat_map(each).collect())
}

fn row(lock: &NamedLock, mode: Mode, granted: bool) -> Vec<(&'static str, Cell)> {
    let resource = lock.view.resource;
    let mut row = vec![
        ("locktype", lock_type(lock).into()),
        ("database", oids::DATABASE.into()),
        ("mode", mode_name(mode).into()),
        ("granted", granted.into()),
        ("fastpath", false.into()),
    ];
    row.extend(resource.table_id().map(|table| ("relation", oids::of_table(table).into())));
    row.extend(lock.session.map(|pid| ("pid", i64::from(pid).into())));
    row
}

/// Of a table, or of something in it.
fn lock_type(lock: &NamedLock) -> &'static str {
    let resource = lock.view.resource;
    match resource.table_id() {
        Some(table) if resource == gadus_engine::Resource::table(table) => "relation",
        Some(_) => "tuple",
        None => "object",
    }
}

/// As LOCK TABLE has it.
fn mode_name(mode: Mode) -> &'static str {
    match mode {
        Mode::Null | Mode::SchemaStability => "AccessShareLock",
        Mode::IntentShared => "RowShareLock",
        Mode::IntentExclusive => "RowExclusiveLock",
        Mode::Shared | Mode::Update => "ShareLock",
        Mode::SharedIntentExclusive | Mode::BulkUpdate => "ShareRowExclusiveLock",
        Mode::Exclusive => "ExclusiveLock",
        Mode::SchemaModification => "AccessExclusiveLock",
    }
}
