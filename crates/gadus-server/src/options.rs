//! What a server is told before it starts.

use crate::listen::Listen;
use crate::reopening::Opener;
use crate::tls::{Certificate, Tls};
use gadus::{Database, FileAccess};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// Where a server listens, whom it lets in, and what it allows.
#[derive(Debug, Clone)]
pub struct Options {
    pub(crate) listen: Vec<Listen>,
    pub(crate) authentication: Authentication,
    pub(crate) limits: Limits,
    pub(crate) tls: Tls,
    pub(crate) certificate: Option<Certificate>,
    pub(crate) http: Option<SocketAddr>,
    pub(crate) http_is_for_all: bool,
    pub(crate) slow_statement: Option<Duration>,
    pub(crate) files: FileAccess,
    pub(crate) audit: Option<PathBuf>,
    pub(crate) opener: Option<Opener>,
}

/// Whom a server lets in over TCP. On a Unix socket the system says who calls: users are let in under
/// their own name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Authentication {
    /// Users of the database, by SCRAM-SHA-256.
    #[default]
    Scram,
    /// Everybody who reaches it, under any name.
    Trust,
}

/// What a server allows its clients.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Connections at once.
    pub connections: usize,
    /// Bytes of one message.
    pub message_bytes: usize,
    /// For a client to be let in.
    pub authentication_time: Duration,
    /// Between statements outside transactions; none for ever.
    pub idle_time: Option<Duration>,
    /// For one statement; none for ever. A client may set another.
    pub statement_time: Option<Duration>,
    /// For statements that run when the server is told to stop.
    pub stop_time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 16_384,
            message_bytes: 64 << 20,
            authentication_time: Duration::from_secs(30),
            idle_time: None,
            statement_time: None,
            stop_time: Duration::from_secs(10),
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        let (listen, authentication, limits, tls, certificate) = Default::default();
        let (http, http_is_for_all, slow_statement, audit, opener) = Default::default();
        Self {
            listen,
            authentication,
            limits,
            tls,
            certificate,
            http,
            http_is_for_all,
            slow_statement,
            files: FileAccess::None,
            audit,
            opener,
        }
    }
}

impl Options {
    /// Nowhere yet, users by SCRAM, the usual limits.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a place to listen at.
    #[must_use]
    pub fn listen(mut self, listen: Listen) -> Self {
        self.listen.push(listen);
        self
    }

    /// Says whom to let in over TCP.
    #[must_use]
    pub fn authentication(mut self, authentication: Authentication) -> Self {
        self.authentication = authentication;
        self
    }

    /// Says which files of this machine statements may read and write: none unless told.
    #[must_use]
    pub fn files(mut self, files: FileAccess) -> Self {
        self.files = files;
        self
    }

    /// Sets the limits.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Says who comes encrypted.
    #[must_use]
    pub fn tls(mut self, tls: Tls) -> Self {
        self.tls = tls;
        self
    }

    /// Says what the server proves with who it is; needed where anybody comes encrypted.
    #[must_use]
    pub fn certificate(mut self, certificate: Certificate) -> Self {
        self.certificate = Some(certificate);
        self
    }

    /// Answers `/metrics` and `/health` over HTTP there, to whoever asks; nowhere unless told.
    #[must_use]
    pub fn http(mut self, address: SocketAddr) -> Self {
        self.http = Some(address);
        self
    }

    /// Lets the HTTP port be one that other machines reach.
    #[must_use]
    pub fn http_for_all(mut self, is_for_all: bool) -> Self {
        self.http_is_for_all = is_for_all;
        self
    }

    /// Tells the log of statements that take so long, or longer.
    #[must_use]
    pub fn slow_statement(mut self, time: Duration) -> Self {
        self.slow_statement = Some(time);
        self
    }

    /// Appends to an audit log: logins, refusals, and statements that change users, end sessions or reach files.
    #[must_use]
    pub fn audit(mut self, path: PathBuf) -> Self {
        self.audit = Some(path);
        self
    }

    /// Says how the database is opened anew after a failed sync, in this process or another that shares it: the
    /// server then closes it, with its connections, and calls this until it succeeds. Unless told, statements that
    /// write fail until the program does so. All other handles of the database must be dropped for it, too.
    #[must_use]
    pub fn reopen(
        mut self,
        open: impl Fn() -> gadus::Result<Database> + Send + Sync + 'static,
    ) -> Self {
        self.opener = Some(Opener::new(open));
        self
    }

    /// Whether a client of TCP may come encrypted.
    pub(crate) fn encrypts(&self) -> bool {
        let is_reached = self.listen.iter().any(|listen| !listen.is_local());
        let is_given = self.certificate.as_ref().is_some_and(Certificate::is_given);
        is_reached || is_given || self.tls != Tls::Remote
    }
}
