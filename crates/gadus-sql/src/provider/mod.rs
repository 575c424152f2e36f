//! Gadus' tables as DataFusion sees them.
//!
//! - A catalog belongs to one statement and one snapshot: all scans of its plan read that snapshot,
//!   which stays pinned until the last stream is dropped.

mod catalog;
mod dynamic;
mod expected;
mod filter;
mod functions;
mod information;
mod kept_scan;
mod kept_tables;
mod knowledge;
mod measured;
mod morsels;
mod scan;
mod scan_threads;
mod system;
mod table;
mod views;

pub(crate) use catalog::{CATALOG, FILES_SCHEMA, Files, MAIN_SCHEMA, ROWS_SCHEMA, SnapshotCatalog};
pub(crate) use filter::predicate_of;
pub(crate) use functions::place_functions;
pub(crate) use scan::ScanExec;
pub(crate) use system::{SYSTEM_SCHEMA, System};
pub(crate) use table::is_snapshot_table;
pub(crate) use views::{BoundView, SCANS_MAX, bound_view, scans};

use crate::progress::Progress;
use gadus_base::Account;
use std::sync::Arc;

/// How a statement reads tables.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reading {
    /// Where it says how far it has come.
    pub(crate) progress: Arc<Progress>,
    /// On whose account it reads.
    pub(crate) account: Option<Arc<Account>>,
    /// Whether its scans go round their tables together with those of others.
    pub(crate) together: bool,
    /// Whether its scans tell what they took.
    pub(crate) measured: bool,
}
