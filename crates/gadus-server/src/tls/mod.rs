//! Encryption of TCP: TLS 1.2 and 1.3 by rustls.
//!
//! - A connection keeps the certificate that it began with; others follow when it is read anew.
//! - No session is taken up again: a client logs in on each connection, which costs more.

mod binding;
mod certificate;

pub use certificate::Certificate;

use crate::error::{Failure, SqlState};
use crate::protocol::Channel;
use arc_swap::ArcSwap;
use certificate::Loaded;
use std::fmt;
use std::io;
use std::sync::Arc;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring::default_provider;

/// What a client says that encrypts without asking before, as IANA has registered it.
const PROTOCOL: &[u8] = b"postgresql";

/// Which clients come encrypted. From other machines all do, always; on Unix sockets none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Tls {
    /// On loopback nobody, unless a certificate is given: then who asks.
    #[default]
    Remote,
    /// On loopback who asks.
    Offered,
    /// On loopback everybody.
    Required,
}

/// What a server proves with who it is.
pub(crate) struct Identity {
    certificate: Certificate,
    current: ArcSwap<Current>,
}

/// A certificate in use.
struct Current {
    acceptor: TlsAcceptor,
    binding: Option<Arc<[u8]>>,
    fingerprint: String,
}

/// An encrypted connection, as the exchange of passwords sees it.
#[derive(Debug, Clone)]
pub(crate) struct Encrypted {
    /// Of the server's certificate, for `SCRAM-SHA-256-PLUS`; none where its signature names no digest.
    pub(crate) binding: Option<Arc<[u8]>>,
}

impl Identity {
    /// Reads a certificate, having made it where it is to be.
    pub(crate) fn new(certificate: Certificate, names: &[String]) -> io::Result<Self> {
        certificate.make(names)?;
        let current = ArcSwap::from_pointee(Current::load(&certificate)?);
        Ok(Self { certificate, current })
    }

    /// Reads the certificate anew, for connections from now on.
    ///
    /// # Errors
    /// When it cannot be read; the one before stays in use.
    pub(crate) fn reload(&self) -> io::Result<()> {
        self.current.store(Arc::new(Current::load(&self.certificate)?));
        Ok(())
    }

    /// The certificate's SHA-256, as openssl writes it.
    pub(crate) fn fingerprint(&self) -> String {
        self.current.load().fingerprint.clone()
    }

    /// Encrypts a channel; a client that did not ask before says what it wants to speak.
    pub(crate) async fn encrypt(
        &self,
        channel: &mut Channel,
        is_asked: bool,
    ) -> Result<Encrypted, Failure> {
        let current = self.current.load_full();
        let spoken = channel.encrypt(&current.acceptor).await?;
        if !is_asked && spoken.as_deref() != Some(PROTOCOL) {
            let text = "a client that encrypts at once names the protocol postgresql by ALPN";
            return Err(Failure::fatal(SqlState::PROTOCOL_VIOLATION, text));
        }
        Ok(Encrypted { binding: current.binding.clone() })
    }
}

impl Current {
    fn load(certificate: &Certificate) -> io::Result<Self> {
        let Loaded { chain, key } = certificate.load()?;
        let binding =
            chain.first().and_then(|own| binding::of(own)).map(|hash| hash.as_ref().into());
        let fingerprint = chain.first().map(|own| binding::fingerprint(own)).unwrap_or_default();
        let invalid = |error: tokio_rustls::rustls::Error| {
            io::Error::new(io::ErrorKind::InvalidData, format!("{certificate}: {error}"))
        };
        let mut config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key))
            .map_err(invalid)?;
        config.alpn_protocols = vec![PROTOCOL.to_vec()];
        config.send_tls13_tickets = 0;
        config.session_storage = Arc::new(tokio_rustls::rustls::server::NoServerSessionStorage {});
        Ok(Self { acceptor: Arc::new(config).into(), binding, fingerprint })
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Identity").field(&self.certificate).finish()
    }
}
