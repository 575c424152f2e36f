//! Statements that define objects: CREATE, ALTER, DROP and COMMENT.

mod alter;
mod alter_table;
mod columns;
mod constraints;
mod create;
mod functions;
mod indexes;
pub(in crate::parser) mod objects;
mod sequences;
mod tables;
mod unsupported;
