//! What every other crate of Gadus stands on: units, ids, checksums, the clock, randomness, accounts of
//! what is done for whom, and bounded byte codecs.
//!
//! - Depends on no other Gadus crate.
//! - The clock, randomness and threads of the whole product come from here, so that a test can
//!   replace them; the ambient ones are banned by lint.
//!
//! ```
//! use gadus_base::{ByteReader, ByteWriter};
//! let mut writer = ByteWriter::new();
//! writer.u32(7);
//! writer.text("segment");
//! let bytes = writer.finish();
//! let mut reader = ByteReader::new(&bytes);
//! assert_eq!(reader.u32().unwrap(), 7);
//! assert_eq!(reader.text(100).unwrap(), "segment");
//! ```

mod account;
mod assertion;
mod bytes;
mod checksum;
mod clock;
mod date;
mod fork;
mod ids;
mod interrupt;
mod markup;
mod random;
mod thread;
mod units;

pub use account::{Account, CacheUse, IoBytes};
pub use bytes::{ByteReader, ByteWriter, DecodeError};
pub use checksum::{Checksum, checksum};
pub use clock::{Clock, Instant, WallTime, clock};
pub use date::{civil, date_and_time};
pub use fork::{OwnDescriptor, OwnMapping, ProcessMark};
pub use ids::{CommitNumber, DatabaseId, LogPosition, RowId, SegmentId, TableId};
pub use interrupt::{Interrupt, current_interrupt, interruptible, is_interrupted};
pub use markup::escaped;
pub use random::Random;
pub use thread::{check_threads, spawn};
pub use units::{ByteCount, counted};
