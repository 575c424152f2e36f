//! Who uses the database, as others see it.
//!
//! - What is told was true a moment ago; nothing waits for those who look.

use super::Engine;
use crate::error::{Error, ErrorKind, Result};
use crate::locks;
use gadus_base::TableId;
use gadus_locks::{Ending, InstanceDescription, LockView, Owner};
use gadus_storage::Stage;
use std::collections::HashMap;

/// A process that has the database open, or one of its connections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionView {
    /// Names a connection among those of all processes, as long as it is there; none for the process
    /// itself.
    pub id: Option<u32>,
    /// The process, unless it is gone.
    pub process: Option<InstanceDescription>,
    /// The number of the connection within its process; none for the process itself.
    pub connection: Option<u32>,
    /// Locks that the connection holds.
    pub locks: u64,
    /// Whether it waits for one.
    pub waits: bool,
    /// What the process does that others may have to wait for.
    pub busy: Vec<Stage>,
}

impl SessionView {
    /// What the process does that others may have to wait for, in words; none where it is nothing.
    #[must_use]
    pub fn busy_with(&self) -> Option<String> {
        let names = self.busy.iter().map(|stage| stage.name()).collect::<Vec<_>>();
        (!names.is_empty()).then(|| names.join(", "))
    }
}

/// A lock, and the name of its table where it has one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedLock {
    /// The lock.
    pub view: LockView,
    /// The name.
    pub table: Option<String>,
    /// The id of the session that holds it or waits for it, unless that is gone.
    pub session: Option<u32>,
}

impl Engine {
    /// All locks that connections of all instances hold or wait for, by resource.
    pub fn locks(&self) -> Result<Vec<NamedLock>> {
        let (views, ids) = (self.inner().locks().snapshot().map_err(locks::failed)?, self.ids()?);
        let tables = self.snapshot()?.tables();
        let names = tables.iter().map(|table| (table.id(), &table.schema().name));
        let names = names.collect::<HashMap<TableId, &String>>();
        let named = |view: LockView| {
            let table = view.resource.table_id().and_then(|id| names.get(&id).copied().cloned());
            let session = ids.get(&holder_of(&view)).copied();
            NamedLock { view, table, session }
        };
        Ok(views.into_iter().map(named).collect())
    }

    /// Who has the database open: each process, followed by its connections that have run a
    /// statement.
    pub fn sessions(&self) -> Result<Vec<SessionView>> {
        let table = self.inner().locks();
        let mut held = HashMap::<(Option<Owner>, u32), u64>::new();
        for view in table.snapshot().map_err(locks::failed)? {
            *held.entry(holder_of(&view)).or_default() += u64::from(view.granted.is_some());
        }
        let store = self.inner().blobs.store();
        let busy = store.busy();
        let of_process = |process: InstanceDescription| {
            let is_its = |of: &&(InstanceDescription, Stage)| of.0.owner == process.owner;
            let busy = busy.iter().filter(is_its).map(|(_, stage)| *stage).collect();
            let (id, connection, process) = (None, None, Some(process));
            SessionView { id, process, connection, locks: 0, waits: false, busy }
        };
        let mut sessions = store.instances().into_iter().map(of_process).collect::<Vec<_>>();
        for view in table.connections().map_err(locks::failed)? {
            let owner = view.instance.as_ref().map(|instance| instance.owner);
            sessions.push(SessionView {
                id: Some(view.id),
                process: view.instance,
                connection: Some(view.number),
                locks: held.get(&(owner, view.number)).copied().unwrap_or(0),
                waits: view.waits,
                busy: Vec::new(),
            });
        }
        sessions.sort_by_key(|session| {
            let process = session.process.as_ref().map(|process| (process.pid, process.owner.slot));
            (process, session.connection)
        });
        Ok(sessions)
    }

    /// Who keeps a session from what it waits for, by the ids of [`Engine::sessions`]: those who have it in
    /// a way that excludes what is wanted, and those who have waited longer for that.
    pub fn blockers(&self, id: u32) -> Result<Vec<u32>> {
        let (ids, views) = (self.ids()?, self.inner().locks().snapshot().map_err(locks::failed)?);
        let id_of = |view: &LockView| ids.get(&holder_of(view)).copied();
        let waiting = views.iter().filter(|view| id_of(view) == Some(id));
        let waiting = waiting.filter_map(|view| view.wanted.map(|wanted| (view, wanted)));
        let mut blockers = Vec::new();
        for (waits, wanted) in waiting {
            let excludes = |other: &&LockView| {
                let has = other.granted.is_some_and(|mode| !mode.is_compatible_with(wanted));
                let is_before = other.holder.age_ms >= waits.holder.age_ms;
                let wants = other.wanted.is_some_and(|mode| !mode.is_compatible_with(wanted));
                other.resource == waits.resource && (has || wants && is_before)
            };
            let others = views.iter().filter(excludes).filter_map(id_of);
            blockers.extend(others.filter(|other| *other != id));
        }
        blockers.sort_unstable();
        blockers.dedup();
        Ok(blockers)
    }

    /// The ids of connections, by their process and their number in it.
    fn ids(&self) -> Result<HashMap<(Option<Owner>, u32), u32>> {
        let connections = self.inner().locks().connections().map_err(locks::failed)?;
        let ids = connections.into_iter().map(|view| {
            let owner = view.instance.map(|instance| instance.owner);
            ((owner, view.number), view.id)
        });
        Ok(ids.collect())
    }

    /// Which processes are in the middle of what others may have to wait for, just now.
    #[must_use]
    pub fn busy(&self) -> Vec<(InstanceDescription, Stage)> {
        self.inner().blobs.store().busy()
    }

    /// This instance, among those that have the database open.
    #[must_use]
    pub fn own_instance(&self) -> Owner {
        self.inner().locks().instances().me()
    }

    /// Asks the process of a connection, whichever that is, to end it or the statement that it runs.
    ///
    /// # Errors
    /// `NotFound` when there is no such connection.
    pub fn end_session(&self, id: u32, what: Ending) -> Result<()> {
        if self.inner().locks().ask_to_end(id, what).map_err(locks::failed)? {
            return Ok(());
        }
        let message = format!("there is no session {id}; the table gadus.sessions has them all");
        Err(Error::new(ErrorKind::NotFound, message))
    }
}

/// The process of who holds a lock or waits for it, and his number in it.
fn holder_of(view: &LockView) -> (Option<Owner>, u32) {
    let holder = &view.holder;
    (holder.instance.as_ref().map(|instance| instance.owner), holder.connection)
}
