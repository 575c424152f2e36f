//! Who is let in: by SCRAM-SHA-256, by what the system says of a Unix socket, or everybody on loopback
//! where that was asked for.
//!
//! - A user who does not exist is asked for a password like any other, and refused in the same words at
//!   the same point.
//! - Failed attempts delay further ones (`login::Throttle`).

use crate::error::{Failure, SqlState};
use crate::listen::Peer;
use crate::options::Authentication;
use crate::protocol::Channel;
use crate::scram::{Binding, Exchange, MECHANISM, MECHANISM_BOUND, Verifier, malformed};
use crate::server::Shared;
use crate::tls::Encrypted;
use bytes::{Buf, Bytes};
use gadus::Connection;
use std::ffi::CStr;

/// Steps of SASL as the protocol numbers them.
const CONTINUE: i32 = 11;
const FINAL: i32 = 12;

/// Lets a user in, or says why not.
pub(crate) async fn authenticate(
    channel: &mut Channel,
    peer: &Peer,
    encrypted: Option<&Encrypted>,
    user: &str,
    connection: &Connection,
    shared: &Shared,
) -> Result<(), Failure> {
    match (peer, shared.options.authentication) {
        (Peer::Unix(uid), _) => let_in_peer(*uid, user, connection),
        (Peer::Tcp(_), Authentication::Trust) => Ok(()),
        (Peer::Tcp(address), Authentication::Scram) => {
            let (address, throttle) = (address.ip(), &shared.throttle);
            let patience = shared.options.limits.authentication_time / 2;
            // In the words of a wrong password: how many others have tried is not told.
            let delay =
                throttle.delay(address, user, patience).ok_or_else(|| wrong_password(user))?;
            tokio::time::sleep(delay).await;
            let binding = encrypted.and_then(|encrypted| encrypted.binding.as_deref());
            let outcome = scram(channel, binding, user, connection).await;
            match &outcome {
                Ok(()) => throttle.succeeded(address, user),
                Err(failure) if failure.code.is_of_authentication() => {
                    throttle.failed(address, user);
                }
                // A client that goes away in the middle has tried nothing.
                Err(_) => {}
            }
            outcome
        }
    }
}

/// The system's user who calls is let in under his own name: as a user of the database, and without being
/// one where the file is his or he is root, who could open it embedded.
fn let_in_peer(uid: u32, user: &str, connection: &Connection) -> Result<(), Failure> {
    let refused = |name: &str| {
        let text = format!("the system's user {name} cannot be the user \"{user}\"");
        Err(Failure::fatal(SqlState::INVALID_AUTHORIZATION, text))
    };
    let Some(name) = name_of(uid) else { return refused(&uid.to_string()) };
    if name != user {
        return refused(&name);
    }
    let is_own = uid == 0 || uid == rustix::process::geteuid().as_raw();
    if is_own || connection.is_user(user)? {
        return Ok(());
    }
    Err(Failure::fatal(
        SqlState::INVALID_AUTHORIZATION,
        format!("there is no user \"{user}\"; CREATE USER makes one"),
    ))
}

/// The name of a user of the system.
#[allow(unsafe_code)]
fn name_of(uid: u32) -> Option<String> {
    let mut entry = std::mem::MaybeUninit::<libc::passwd>::uninit();
    let mut found = std::ptr::null_mut();
    let mut space = vec![0; 16 << 10];
    // SAFETY: all pointers are to live memory of the sizes given, and the entry points into `space`.
    let code = unsafe {
        libc::getpwuid_r(uid, entry.as_mut_ptr(), space.as_mut_ptr(), space.len(), &mut found)
    };
    if code != 0 || found.is_null() {
        return None;
    }
    // SAFETY: the call has filled the entry, whose name ends with NUL within `space`.
    let name = unsafe { CStr::from_ptr((*found).pw_name) };
    name.to_str().ok().map(str::to_owned)
}

fn wrong_password(user: &str) -> Failure {
    let text = format!("password authentication failed for user \"{user}\"");
    Failure::fatal(SqlState::INVALID_PASSWORD, text)
}

/// RFC 5802, as PostgreSQL's manual describes it in its chapter on SASL.
async fn scram(
    channel: &mut Channel,
    binding: Option<&[u8]>,
    user: &str,
    connection: &Connection,
) -> Result<(), Failure> {
    let refused = || wrong_password(user);
    // Also where it is not needed: that takes time.
    let secret = connection.salt_secret()?;
    let verifier = match connection.verifier(user)?.as_deref() {
        Some(stored) => Verifier::read(stored).ok_or_else(refused)?,
        None => Verifier::made_up(user, secret.as_deref())?,
    };
    match binding {
        Some(_) => channel.output.authentication_sasl(&[MECHANISM_BOUND, MECHANISM]),
        None => channel.output.authentication_sasl(&[MECHANISM]),
    }
    channel.flush().await?;
    let (mechanism, first) = first_message(channel).await?;
    let binding = match (binding, &mechanism[..]) {
        (None, name) if name == MECHANISM.as_bytes() => Binding::None,
        (Some(_), name) if name == MECHANISM.as_bytes() => Binding::Offered,
        (Some(digest), name) if name == MECHANISM_BOUND.as_bytes() => Binding::Chosen(digest),
        _ => return Err(malformed()),
    };
    let exchange = Exchange::begin(&first, verifier, binding)?;
    channel.output.authentication_step(CONTINUE, exchange.challenge());
    channel.flush().await?;
    let Some(answer) = exchange.finish(&password_message(channel).await?)? else {
        return Err(refused());
    };
    channel.output.authentication_step(FINAL, &answer);
    Ok(())
}

/// The client's choice of mechanism, and its first message in it.
async fn first_message(channel: &mut Channel) -> Result<(Bytes, Bytes), Failure> {
    let mut message = password_message(channel).await?;
    let end = message.iter().position(|byte| *byte == 0).ok_or_else(malformed)?;
    let mechanism = message.split_to(end);
    message.advance(1);
    if message.len() < 4 {
        return Err(malformed());
    }
    let length = message.get_i32();
    match usize::try_from(length) {
        Ok(length) if length == message.len() => Ok((mechanism, message)),
        _ => Err(malformed()),
    }
}

async fn password_message(channel: &mut Channel) -> Result<Bytes, Failure> {
    match channel.frame().await? {
        Some(frame) if frame.kind == b'p' => Ok(frame.body),
        Some(_) => Err(Failure::fatal(
            SqlState::PROTOCOL_VIOLATION,
            "a password was expected, another message came",
        )),
        None => Err(Failure::fatal(SqlState::CONNECTION_FAILURE, "the client is gone")),
    }
}
