//! Common tables that are read more than once, and computed once.
//!
//! - [`CommonTables`] stands at the root of a plan and has the plans of the tables beside that of the query. Each reader
//!   is a scan of [`CommonTable`], wherever the query reads the table.
//! - Rows are made when the first reader asks for them, and are kept in a [`Buffer`](buffer::Buffer) for the others.
//! - A run begins when the root is executed: it hands a new buffer to the readers through the handle that they share.

mod buffer;
mod plan;
mod planner;
mod readers;
#[cfg(test)]
mod tests;

pub(crate) use buffer::CONSUMER;
pub(crate) use plan::CommonTables;
pub(crate) use planner::CommonTablesPlanner;
pub(crate) use readers::CommonTable;
