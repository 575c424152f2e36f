//! Shared scans: many questions about one table answered in one pass over its columns.
//!
//! - The questions of a pass are indexed by predicate ([`index`]): each by its most selective conjunct
//!   that can be looked up. A column is then read once for all of them ([`probe`]), and what it finds is
//!   held against the rest of each question's conjuncts ([`check`]).
//! - A question without a selective conjunct is evaluated by itself, segment by segment, while the
//!   segment is at hand.
//! - Modifications are looked up among them, and carried out afterwards ([`apply`], [`writer`]).
//! - All questions of a pass see one snapshot. One that fails or is cancelled fails alone.
//!
//! After Crescando's index union join and the shared scan of COD (section 4 of the latter): there, too,
//! requests are indexed and tuples are the ones that probe.

mod apply;
mod asked;
mod by_index;
mod byte_keys;
mod candidates;
mod check;
mod clock;
mod cores;
mod dealing;
mod expected;
mod first_check;
mod first_rows;
mod flags;
mod found;
mod found_rows;
mod hits;
mod idle;
mod index;
mod layout;
mod limits;
mod modify;
mod order;
mod pace;
mod pair_hits;
mod pass;
mod places;
mod probe;
mod question;
mod queue;
mod running;
mod selectivity;
mod statistics;
mod tail;
mod writer;

pub use apply::FoundModification;
pub use asked::Asked;
pub(crate) use clock::Clock;
pub use clock::ScansAlone;
pub use expected::Expected;
pub use first_rows::OrderBy;
pub use found_rows::{FoundReader, FoundRows};
pub use index::Estimate;
pub use layout::ScanThread;
pub use limits::{BATCH_QUERIES, BATCH_UPDATES, Pinning, ScanLimits};
pub use modify::{Fate, MakeValues, Modification, NewValues};
pub use question::{Answer, Question, Wanted};
pub use statistics::{ClockStatistics, LookedUp, PassWork};
