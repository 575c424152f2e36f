//! The messages of PostgreSQL's protocol 3.0, as bytes.
//!
//! - Nothing that a client sends is believed: lengths bound what is read before anything is kept, counts
//!   are checked against what is there, text is UTF-8 without NUL.

mod backend;
mod channel;
mod frontend;
mod startup;

pub(crate) use backend::{Field, Notice, Severity};
pub(crate) use channel::{Channel, Frame, Socket};
pub(crate) use frontend::{Bind, Message, Target};
pub(crate) use startup::{Opening, Startup};
