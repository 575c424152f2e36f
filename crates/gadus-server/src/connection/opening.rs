//! What a client and the server agree on before the client says who it is.

use crate::error::{Failure, SqlState};
use crate::listen::Peer;
use crate::protocol::{Channel, Opening, Startup};
use crate::server::Shared;
use crate::tls::{Encrypted, Identity, Tls};

/// The end of a client's first messages.
pub(super) enum Opened {
    /// It wants in.
    Start(Startup, Option<Encrypted>),
    /// It wanted something else, or went away.
    Done,
}

/// Answers first messages: requests to cancel, and for encryption.
///
/// # Errors
/// `08P01` for what the protocol does not allow, `28000` for who must come encrypted and does not.
pub(super) async fn opened(
    channel: &mut Channel,
    peer: &Peer,
    shared: &Shared,
) -> Result<Opened, Failure> {
    let violation = |text: &str| Failure::fatal(SqlState::PROTOCOL_VIOLATION, text);
    let identity = shared.identity.as_ref().filter(|_| matches!(peer, Peer::Tcp(_)));
    let (mut encrypted, mut asked) = (None, [false; 2]);
    loop {
        let opening = channel.opening().await?;
        let asks_again = match &opening {
            Some(Opening::Encrypt) => std::mem::replace(&mut asked[0], true),
            Some(Opening::EncryptByGss) => std::mem::replace(&mut asked[1], true),
            _ => false,
        };
        if asks_again {
            return Err(violation("encryption was asked for twice"));
        }
        match (opening, identity) {
            (None, _) => return Ok(Opened::Done),
            (Some(Opening::Cancel { process, secret }), _) => {
                if shared.registry.cancel(process, secret) {
                    shared.metrics.cancels.add_one();
                }
                return Ok(Opened::Done);
            }
            (Some(Opening::Start(startup)), _) => {
                check_encrypted(encrypted.as_ref(), peer, shared)?;
                return Ok(Opened::Start(startup, encrypted));
            }
            (Some(Opening::Encrypt), Some(identity)) if encrypted.is_none() => {
                encrypted = Some(encrypt_as_asked(channel, identity).await?);
            }
            (Some(Opening::Handshake), Some(identity)) if encrypted.is_none() => {
                encrypted = Some(identity.encrypt(channel, false).await?);
            }
            (Some(Opening::Handshake), _) => {
                return Err(violation("there is no encryption here"));
            }
            (Some(Opening::Encrypt | Opening::EncryptByGss), _) => channel.send_byte(b'N').await?,
        }
    }
}

async fn encrypt_as_asked(
    channel: &mut Channel,
    identity: &Identity,
) -> Result<Encrypted, Failure> {
    // They would be taken for what comes encrypted, from whoever put them there.
    if channel.has_input() {
        let text = "bytes without encryption came after the request for it";
        return Err(Failure::fatal(SqlState::PROTOCOL_VIOLATION, text));
    }
    channel.send_byte(b'S').await?;
    identity.encrypt(channel, true).await
}

/// Refuses who must come encrypted and did not.
fn check_encrypted(
    encrypted: Option<&Encrypted>,
    peer: &Peer,
    shared: &Shared,
) -> Result<(), Failure> {
    let is_required = shared.options.tls == Tls::Required && matches!(peer, Peer::Tcp(_));
    if encrypted.is_some() || !(is_required || peer.is_remote()) {
        return Ok(());
    }
    let text = "connections are encrypted here, and this one is not";
    Err(Failure::fatal(SqlState::INVALID_AUTHORIZATION, text)
        .hint("Use sslmode=require, or better."))
}
