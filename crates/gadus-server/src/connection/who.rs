//! Who a client is, and what the log tells of it.
//!
//! - What a client says of itself is told as a field of its own, never as part of a message: the log's
//!   writer then escapes it.

use crate::error::Failure;
use crate::listen::Peer;
use gadus_base::{Instant, clock};

/// A client, as far as it is known.
#[derive(Debug)]
pub(crate) struct Who {
    pub(crate) peer: Peer,
    pub(crate) user: String,
    pub(crate) database: String,
    pub(crate) is_encrypted: bool,
    since: Instant,
}

impl Who {
    /// Somebody who has just come.
    pub(super) fn stranger(peer: Peer) -> Self {
        let (user, database, is_encrypted) = Default::default();
        Self { peer, user, database, is_encrypted, since: clock().now() }
    }

    /// Tells that it was let in.
    pub(super) fn opened(&self) {
        let Self { peer, user, database, is_encrypted: encrypted, .. } = self;
        tracing::info!(user, %peer, database, encrypted, "connection opened");
    }

    /// Tells that it is gone.
    pub(super) fn closed(&self) {
        let Self { peer, user, since, .. } = self;
        let seconds = since.elapsed().as_secs_f64();
        tracing::info!(user, %peer, seconds, "connection closed");
    }

    /// Tells why it was not let in.
    pub(super) fn refused(&self, failure: &Failure) {
        let Self { peer, user, database, is_encrypted: encrypted, .. } = self;
        let (code, error) = (failure.code.text(), &failure.message[..]);
        match failure.code.is_of_authentication() {
            true => {
                tracing::warn!(user, %peer, database, encrypted, code, error, "authentication failed");
            }
            false => {
                tracing::info!(user, %peer, database, encrypted, code, error, "connection refused");
            }
        }
    }

    /// Tells why the server ends its connection.
    pub(super) fn ended(&self, failure: &Failure) {
        let Self { peer, user, .. } = self;
        let (code, error) = (failure.code.text(), &failure.message[..]);
        tracing::info!(user, %peer, code, error, "connection ended by the server");
    }
}
