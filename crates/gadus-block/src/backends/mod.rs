//! Where bytes are kept: one folder implementation per file.

mod file;
mod memory;

pub use file::{FileFolder, FileSystem};
pub use memory::MemoryFolder;
pub(crate) use memory::Pages;
