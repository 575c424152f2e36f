//! SCRAM-SHA-256, the server's side: RFC 5802 and RFC 7677, on the primitives of `ring`.
//!
//! - The password is never here: the client proves that it knows what the stored verifier was made from.
//! - On an encrypted connection the exchange may be bound to the server's certificate, so that nobody in
//!   between can pass it on: `SCRAM-SHA-256-PLUS`, RFC 5802, section 6.

use crate::error::{Failure, SqlState};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::rand::{SecureRandom, SystemRandom};
use ring::{digest, hmac};
use std::sync::OnceLock;

pub(crate) const MECHANISM: &str = "SCRAM-SHA-256";
pub(crate) const MECHANISM_BOUND: &str = "SCRAM-SHA-256-PLUS";
/// Of PostgreSQL's verifiers, so that one that is made up looks like one.
const ITERATIONS: u32 = 4_096;
const SALT_BYTES: usize = 16;
const NONCE_BYTES: usize = 18;
const KEY_BYTES: usize = digest::SHA256_OUTPUT_LEN;
/// Of clients that do not bind: they cannot, or think that the server cannot.
const CANNOT: &str = "n,,";
const SERVER_CANNOT: &str = "y,,";
const BOUND: &str = "p=tls-server-end-point,,";

/// What an exchange may be bound to, and whether the client chose that.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Binding<'a> {
    /// There is nothing.
    None,
    /// The client chose the mechanism without.
    Offered,
    /// The digest of the server's certificate.
    Chosen(&'a [u8]),
}

/// What is stored of a password.
#[derive(Debug, Clone)]
pub(crate) struct Verifier {
    salt: Vec<u8>,
    iterations: u32,
    stored_key: Vec<u8>,
    server_key: Vec<u8>,
}

/// An exchange, from the client's first message on.
#[derive(Debug)]
pub(crate) struct Exchange {
    verifier: Verifier,
    /// The client's first message without its header.
    first: String,
    /// The binding that its last message repeats.
    binding: String,
    nonce: String,
    challenge: String,
}

/// Random bytes of the system.
///
/// # Errors
/// When it has none to give.
pub(crate) fn random<const BYTES: usize>() -> Result<[u8; BYTES], Failure> {
    let mut bytes = [0; BYTES];
    match SystemRandom::new().fill(&mut bytes) {
        Ok(()) => Ok(bytes),
        Err(_) => Err(Failure::fatal(SqlState::INTERNAL, "the system has no random numbers")),
    }
}

/// The error of a message that is none of SCRAM's.
pub(crate) fn malformed() -> Failure {
    Failure::fatal(SqlState::PROTOCOL_VIOLATION, "malformed SCRAM message")
}

impl Verifier {
    /// Reads a verifier as it is stored, `SCRAM-SHA-256$iterations:salt$stored key:server key`.
    pub(crate) fn read(stored: &str) -> Option<Self> {
        let (head, keys) = stored.strip_prefix(MECHANISM)?.strip_prefix('$')?.split_once('$')?;
        let (iterations, salt) = head.split_once(':')?;
        let (stored_key, server_key) = keys.split_once(':')?;
        let decode = |text: &str| STANDARD.decode(text).ok();
        let iterations = iterations.parse().ok()?;
        let (salt, stored_key, server_key) =
            (decode(salt)?, decode(stored_key)?, decode(server_key)?);
        let are_keys = stored_key.len() == KEY_BYTES && server_key.len() == KEY_BYTES;
        are_keys.then_some(Self { salt, iterations, stored_key, server_key })
    }

    /// One for somebody who does not exist: with the same salt each time, and keys that nothing fits. Without a
    /// secret of the database it is the same as long as the process runs.
    pub(crate) fn made_up(user: &str, secret: Option<&str>) -> Result<Self, Failure> {
        static SECRET: OnceLock<[u8; KEY_BYTES]> = OnceLock::new();
        let fresh = random()?;
        let secret = match secret {
            Some(secret) => secret.as_bytes(),
            None => &SECRET.get_or_init(|| fresh)[..],
        };
        let key = hmac::Key::new(hmac::HMAC_SHA256, secret);
        let salt = hmac::sign(&key, user.as_bytes()).as_ref()[..SALT_BYTES].to_vec();
        let (stored_key, server_key) =
            (random::<KEY_BYTES>()?.to_vec(), random::<KEY_BYTES>()?.to_vec());
        Ok(Self { salt, iterations: ITERATIONS, stored_key, server_key })
    }
}

impl Binding<'_> {
    /// A first message without its header, and what the last message repeats of it.
    fn agreed<'m>(&self, message: &'m str) -> Result<(&'m str, String), Failure> {
        let (header, digest) = match self {
            Self::Chosen(digest) => (BOUND, *digest),
            Self::None if message.starts_with(SERVER_CANNOT) => (SERVER_CANNOT, &[][..]),
            Self::Offered if message.starts_with(SERVER_CANNOT) => {
                let text = "the client believes that the server cannot bind the exchange to its \
                            certificate, which it has offered: somebody may be in between";
                return Err(Failure::fatal(SqlState::PROTOCOL_VIOLATION, text));
            }
            Self::None | Self::Offered => (CANNOT, &[][..]),
        };
        let first = message.strip_prefix(header).ok_or_else(malformed)?;
        Ok((first, STANDARD.encode([header.as_bytes(), digest].concat())))
    }
}

impl Exchange {
    /// Answers the client's first message.
    ///
    /// # Errors
    /// `08P01` for what is none, or where somebody in between has made the client believe that there is
    /// nothing to bind to.
    pub(crate) fn begin(
        message: &[u8],
        verifier: Verifier,
        binding: Binding<'_>,
    ) -> Result<Self, Failure> {
        let nonce = STANDARD.encode(random::<NONCE_BYTES>()?);
        Self::with_nonce(message, verifier, binding, &nonce)
    }

    fn with_nonce(
        message: &[u8],
        verifier: Verifier,
        binding: Binding<'_>,
        own_nonce: &str,
    ) -> Result<Self, Failure> {
        let message = std::str::from_utf8(message).map_err(|_| malformed())?;
        let (first, binding) = binding.agreed(message)?;
        // `n=user,r=nonce`, and extensions, of which none is known. The name is that of the startup.
        let mut attributes = first.split(',');
        let user = attributes.next().and_then(|user| user.strip_prefix("n="));
        let nonce = attributes.next().and_then(|nonce| nonce.strip_prefix("r="));
        let (Some(_), Some(nonce), None) = (user, nonce, attributes.next()) else {
            return Err(malformed());
        };
        if nonce.is_empty() || !nonce.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(malformed());
        }
        let nonce = format!("{nonce}{own_nonce}");
        let (salt, iterations) = (STANDARD.encode(&verifier.salt), verifier.iterations);
        let challenge = format!("r={nonce},s={salt},i={iterations}");
        Ok(Self { verifier, first: first.to_owned(), binding, nonce, challenge })
    }

    /// What the client is to prove its knowledge with.
    pub(crate) fn challenge(&self) -> &str {
        &self.challenge
    }

    /// Checks the client's proof; gives the server's own, or none where the client has not the password.
    ///
    /// # Errors
    /// `08P01` for a message that is none, or belongs to another exchange.
    pub(crate) fn finish(&self, message: &[u8]) -> Result<Option<String>, Failure> {
        let message = std::str::from_utf8(message).map_err(|_| malformed())?;
        let (without_proof, proof) = message.rsplit_once(",p=").ok_or_else(malformed)?;
        let expected = format!("c={},r={}", self.binding, self.nonce);
        if without_proof != expected {
            return Err(malformed());
        }
        let proof = STANDARD.decode(proof).ok().filter(|proof| proof.len() == KEY_BYTES);
        let proof = proof.ok_or_else(malformed)?;
        let exchange = format!("{},{},{without_proof}", self.first, self.challenge);
        let signature = sign(&self.verifier.stored_key, &exchange);
        let client_key = proof.iter().zip(signature.as_ref()).map(|(proof, byte)| proof ^ byte);
        let client_key = client_key.collect::<Vec<_>>();
        let stored = digest::digest(&digest::SHA256, &client_key);
        // Who measures how long this takes learns about a digest that he cannot choose.
        let is_right = stored.as_ref() == self.verifier.stored_key;
        Ok(is_right.then(|| {
            let proof = sign(&self.verifier.server_key, &exchange);
            format!("v={}", STANDARD.encode(proof))
        }))
    }
}

fn sign(key: &[u8], text: &str) -> hmac::Tag {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), text.as_bytes())
}

#[cfg(test)]
mod tests;
