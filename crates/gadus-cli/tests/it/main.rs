//! The program as its users start it.

#![allow(missing_docs, reason = "tests document themselves by their names")]

mod generate;
