//! Files of texts as tables: CSV and JSON, also compressed.
//!
//! - A file is taken apart into blocks of whole records by one reader, and the blocks are read as rows on all threads;
//!   rows come in the order of the files. Quotes may hold ends of lines, wherever the file is divided.
//! - Neither what a file unpacks to nor a record that does not end is held beyond its bounds.
//! - What cannot be read is told with the file, the line, the column and the value, or left out where that is wanted.

mod blocks;
mod compressed_file;
mod compression;
mod ends;
mod form;
mod infer;
mod list;
mod rejects;
mod scan;
mod table;
mod wrong;

pub(crate) use blocks::{RECORD_BYTES_MAX, TextReader, beginning};
pub(crate) use compressed_file::CompressedFile;
pub(crate) use compression::Compression;
pub(crate) use form::TextForm;
pub(crate) use infer::check_columns;
pub(crate) use list::{FILES_MAX, TextFile, files_beneath, files_of, within};
pub(crate) use rejects::Rejects;
pub(crate) use table::TextTable;
pub(crate) use wrong::{Fits, Reject};
