//! Files that exports and backups write, as opposed to devices of a database.
//!
//! - A regular file appears under its name when all of it is written, or not at all (`StagedFile`).
//! - A device or a pipe is written to, never replaced (`StreamFile`).
//! - A symbolic link means the file it leads to, and stays a link.
//! - The last step of a path is never followed by the kernel: between the look at a name and its use, no
//!   link put there in between redirects the write.

mod destination;
mod staged;
mod stream;
#[cfg(test)]
mod tests;

pub use destination::{Destination, OutputFolder};
pub use staged::StagedFile;
pub use stream::StreamFile;
