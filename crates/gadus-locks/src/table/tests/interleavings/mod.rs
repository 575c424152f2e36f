//! Interleavings of the table's own code, explored (`explore` says what that means and what it does
//! not show).
//!
//! - Each file has plays of one kind: short calls of two or three owners, in whatever order of their
//!   steps.
//! - Before every step: nobody holds what another excludes, in the table and as its callers know it;
//!   no counter of strong locks is too low; nobody was passed over too often; and when nobody can go
//!   on, nobody sleeps whose wish is decided.
//! - In the end: every partition in use is consistent, and when all is released, empty.

mod death;
mod fast_path;
mod growth;
mod omissions;
mod stage;
mod waiting;

use super::*;
use crate::explore::{Lateness, Play, Rules, explore, find};
use stage::Stage;
