//! The indexes of a table, its primary key's among them: where rows stand by the values of some columns.
//!
//! - Entries are only ever added. No row changes the values of an indexed column in place: an UPDATE of one deletes
//!   the row and appends another. So an entry whose row a snapshot sees is right for that snapshot, and one whose
//!   row was deleted or moved is passed over: one index serves every snapshot. Merging runs drops entries of
//!   segments that are gone.
//! - An entry says where its row stands by a code of 128 bits, not by the values: rows of one code are told apart by
//!   looking at them.
//! - Recent entries are a persistent map within the table's version; older ones are sorted runs in
//!   the data file, merged in the background. Nothing is rebuilt at opening.

mod code;
mod cursor;
mod index;
mod page;
mod run;
mod shape;
mod table_keys;

pub(crate) use code::{KeyCode, KeyEntry, KeyHash, row_code, row_of};
pub(crate) use cursor::KeyCursor;
pub(crate) use index::KeyIndex;
pub(crate) use page::KeyPage;
pub(crate) use run::{KeyRun, KeyRunImage, merge_runs, write_run};
pub(crate) use shape::{KeyShape, PRIMARY};
pub(crate) use table_keys::{NamedRun, TableKey, TableKeys};
