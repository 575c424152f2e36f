//! Looking at the table: who holds what, who waits for what, and for how long.
//!
//! - One partition after another: each is true at its moment, and all of them together nearly.
//! - Descriptions are looked up with no latch held.

use super::LockTable;
use super::error::{LockError, LockHolder};
use super::layout::PARTITIONS;
use super::modes::Mode;
use super::owner::{LockOwner, Wait};
use super::partition::Place;
use super::queue::Entry;
use super::resource::Resource;
use super::state::{State, Status};
use super::visit::Inside;
use std::fmt;
use std::sync::atomic::Ordering;

/// A request, as somebody who looks at the table sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockView {
    /// What is locked.
    pub resource: Resource,
    /// What its owner has of it, if anything.
    pub granted: Option<Mode>,
    /// What its owner waits for, if it does.
    pub wanted: Option<Mode>,
    /// Who it is, and for how long it has held it or waited for it.
    pub holder: LockHolder,
}

impl LockTable {
    /// All requests, by resource; of each, those that hold it before those that wait.
    ///
    /// # Errors
    /// `Damaged`.
    pub fn snapshot(&self) -> Result<Vec<LockView>, LockError> {
        let mut views = Vec::new();
        for partition in 0..PARTITIONS {
            let requests = self.enter(partition)?.requests()?;
            views.extend(requests.into_iter().map(|(resource, entry)| self.view(resource, &entry)));
        }
        for (resource, holder, mode) in self.fast_locks()? {
            let state = State::granted(mode);
            // When it began is not written down.
            let entry = Entry { slot: 0, state, ticket: 0, holder, since: u64::MAX };
            views.push(self.view(resource, &entry));
        }
        views.sort_by_key(|view| (view.resource, view.wanted.is_some(), view.granted.is_none()));
        Ok(views)
    }

    /// Whether somebody but `except` holds a resource in a way that excludes a mode, which is not
    /// one that the fast path's locks would exclude. Costs next to nothing while nobody holds any.
    ///
    /// # Errors
    /// `Timeout` when somebody is stopped while at work on the table, or `Damaged`.
    pub fn is_excluded(
        &self,
        resource: Resource,
        mode: Mode,
        except: Option<&LockOwner>,
    ) -> Result<bool, LockError> {
        let partition = Place::of(resource).partition;
        if self.header().partitions[partition].used.load(Ordering::Acquire) == 0 {
            return Ok(false);
        }
        let mut entries = Vec::new();
        self.enter_until(partition, Wait::No)?.gather(resource, &mut entries)?;
        Ok(entries.iter().any(|entry| {
            !mode.is_compatible_with(entry.state.held())
                && except.is_none_or(|owner| owner.holder != entry.holder)
        }))
    }

    fn view(&self, resource: Resource, entry: &Entry) -> LockView {
        let has = entry.state.status != Status::Waiting;
        LockView {
            resource,
            granted: has.then_some(entry.state.granted),
            wanted: entry.state.is_waiting().then_some(entry.state.wanted),
            holder: self.holder_of(entry),
        }
    }
}

impl Inside<'_> {
    fn requests(&self) -> Result<Vec<(Resource, Entry)>, LockError> {
        let mut requests = Vec::new();
        for slot in self.slots() {
            if self.state(slot)? != State::FREE {
                let entry = self.entry(slot, self.request(slot)?)?;
                requests.push((self.resource(slot)?, entry));
            }
        }
        Ok(requests)
    }
}

impl fmt::Display for LockView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { resource, granted, wanted, holder } = self;
        match (granted, wanted) {
            (Some(granted), Some(wanted)) => {
                write!(f, "{resource}: {granted} held, {wanted} wanted: {holder}")
            }
            (None, Some(wanted)) => write!(f, "{resource}: {wanted} wanted: {holder}"),
            (Some(granted), None) => write!(f, "{resource}: {granted} held: {holder}"),
            (None, None) => write!(f, "{resource}: {holder}"),
        }
    }
}
