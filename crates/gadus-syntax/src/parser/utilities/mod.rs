//! Transactions, settings, cursors and COPY.

mod copy;
mod cursors;
mod options;
mod transactions;
