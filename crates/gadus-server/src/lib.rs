//! Gadus for programs that speak PostgreSQL's protocol: psql, drivers, tools.
//!
//! - The server is one more user of the file, with no rights that an embedded process lacks; its clients
//!   are connections like any others, isolated by READ COMMITTED unless they say something else.
//! - A client costs a task and no thread; statements that wait for locks or the disk have a thread while
//!   they do.
//! - Over TCP clients of other machines come encrypted, always, and prove who they are.
//! - Who watches it reads metrics over HTTP, which tell no names and no data.
//! - After a failed sync it opens its database anew, if it was told how.
//! - Packets are not trusted: what a client sends is bounded before it is kept, and checked before it is
//!   read. Files of the server's machine are out of reach of its clients.
//!
//! ```no_run
//! use gadus_server::{Options, Server};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let database = gadus::Database::open("shop.gadus", gadus::Options::new())?;
//! let server = Server::bind(database, Options::new().listen("127.0.0.1:5433".parse()?))?;
//! println!("listening on {}", server.addresses()[0]);
//! server.run()?;
//! # Ok(())
//! # }
//! ```

mod audit;
mod authenticate;
mod connection;
mod error;
mod http;
mod listen;
mod login;
mod metrics;
mod options;
mod protocol;
mod registry;
mod reopening;
mod scram;
mod server;
mod tls;
mod values;

pub use listen::Listen;
pub use options::{Authentication, Limits, Options};
pub use server::{Control, Server};
pub use tls::{Certificate, Tls};
