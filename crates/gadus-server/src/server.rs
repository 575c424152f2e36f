//! The server: listens, lets clients in, stops.

use crate::audit::Audit;
use crate::connection::{Watching, serve};
use crate::http;
use crate::listen::{Listen, Listener, bind_tcp};
use crate::login::{HalfOpen, Throttle};
use crate::metrics::{Counted, Metrics};
use crate::options::{Authentication, Options};
use crate::registry::Registry;
use crate::reopening::{Served, reopen_when_poisoned};
use crate::tls::Identity;
use gadus::Database;
use gadus_base::check_threads;
use std::collections::HashSet;
use std::fmt::Display;
use std::io;
use std::net::SocketAddr;
use std::num::NonZero;
use std::sync::Arc;
use std::thread;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// After a failure to accept, such as too many open files, before the next try.
const PAUSE: Duration = Duration::from_millis(100);

/// Turns of tasks after which a thread looks for what clients have sent: each may be as long as a query's.
const TURNS_BETWEEN_EVENTS: u32 = 8;

/// Threads that wait for what cannot be awaited, such as the locks of a COPY: those who hold them are to find
/// one, too.
const WAITING_THREADS_MAX: usize = 1 << 15;

/// Starts the threads that serve connections.
fn start_runtime() -> io::Result<Runtime> {
    let workers = thread::available_parallelism().map_or(1, NonZero::get);
    check_threads(workers + 1)?;
    let mut builder = Builder::new_multi_thread();
    builder.thread_name("gadus-server").event_interval(TURNS_BETWEEN_EVENTS);
    builder.worker_threads(workers).max_blocking_threads(WAITING_THREADS_MAX).enable_all();
    let runtime = builder.build()?;
    // The first thread that waits: where the system later has no more, its tasks take turns.
    drop(runtime.spawn_blocking(|| {}));
    Ok(runtime)
}

/// What the connections of a server share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) served: Served,
    pub(crate) options: Options,
    pub(crate) registry: Arc<Registry>,
    /// None where nobody comes encrypted.
    pub(crate) identity: Option<Identity>,
    pub(crate) metrics: Metrics,
    pub(crate) watching: Watching,
    pub(crate) throttle: Throttle,
    pub(crate) half_open: Arc<HalfOpen>,
    pub(crate) audit: Option<Audit>,
}

/// A database that listens for clients of PostgreSQL's protocol.
#[derive(Debug)]
pub struct Server {
    runtime: Runtime,
    shared: Arc<Shared>,
    listeners: Vec<Listener>,
    places: Vec<Listen>,
    http: Option<TcpListener>,
    stop: Arc<watch::Sender<bool>>,
}

/// What may be told to a server that runs, from any thread.
#[derive(Debug, Clone)]
pub struct Control {
    stop: Arc<watch::Sender<bool>>,
    shared: Arc<Shared>,
}

impl Control {
    /// Lets statements that run come to their end, for a while, and closes all connections.
    pub fn stop(&self) {
        self.stop.send_replace(true);
    }

    /// Reads the certificate and its key anew, for connections from now on, and begins a new audit log if the
    /// file was renamed.
    ///
    /// # Errors
    /// When they cannot be read or the file cannot be opened; those before stay in use.
    pub fn reload(&self) -> io::Result<()> {
        self.shared.identity.as_ref().map_or(Ok(()), Identity::reload)?;
        self.shared.audit.as_ref().map_or(Ok(()), Audit::reopen)
    }
}

impl Server {
    /// Begins to listen; clients are let in once it runs.
    ///
    /// # Errors
    /// When a place cannot be listened at, or everybody would be let in from other machines.
    pub fn bind(database: Database, options: Options) -> io::Result<Self> {
        let refused = |text: String| Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        if options.listen.is_empty() {
            return refused("a server needs a place to listen at".to_owned());
        }
        let open = options.listen.iter().find(|listen| !listen.is_local());
        if let (Some(open), Authentication::Trust) = (open, options.authentication) {
            return refused(format!(
                "{open} is reached by other machines: who comes from there is asked for a password"
            ));
        }
        check_http(&options)?;
        let identity = identity(&options)?;
        let runtime = start_runtime()?;
        let entered = runtime.enter();
        let failed = |place: &dyn Display, error: io::Error| {
            io::Error::new(error.kind(), format!("cannot listen at {place}: {error}"))
        };
        let bind = |listen| Listener::bind(listen).map_err(|error| failed(listen, error));
        let listeners = options.listen.iter().map(bind).collect::<io::Result<Vec<_>>>()?;
        let bind = |address| bind_tcp(address).map_err(|error| failed(&address, error));
        let http = options.http.map(bind).transpose()?;
        drop(entered);
        let places = listeners.iter().map(Listener::place).collect::<io::Result<Vec<_>>>()?;
        let audit = options.audit.as_deref().map(|path| {
            Audit::open(path).map_err(|error| {
                let text = format!("audit log {} cannot be opened: {error}", path.display());
                io::Error::new(error.kind(), text)
            })
        });
        let audit = audit.transpose()?;
        let half_open = HalfOpen::new(options.limits.connections);
        let (registry, metrics, throttle) = Default::default();
        let watching = Watching::new();
        let shared = Shared {
            served: Served::new(database, options.opener.clone()),
            options,
            registry,
            identity,
            metrics,
            watching,
            throttle,
            half_open,
            audit,
        };
        let stop = Arc::new(watch::channel(false).0);
        Ok(Self { runtime, shared: Arc::new(shared), listeners, places, http, stop })
    }

    /// Where it listens, with the ports that it was given.
    #[must_use]
    pub fn addresses(&self) -> &[Listen] {
        &self.places
    }

    /// Where it answers over HTTP, with the port that it was given.
    #[must_use]
    pub fn http_address(&self) -> Option<SocketAddr> {
        self.http.as_ref().and_then(|listener| listener.local_addr().ok())
    }

    /// The SHA-256 of the certificate that clients see; none where nobody comes encrypted.
    #[must_use]
    pub fn fingerprint(&self) -> Option<String> {
        self.shared.identity.as_ref().map(Identity::fingerprint)
    }

    /// What stops it.
    #[must_use]
    pub fn control(&self) -> Control {
        Control { stop: self.stop.clone(), shared: self.shared.clone() }
    }

    /// Serves clients until it is stopped.
    ///
    /// # Errors
    /// None so far; a client's failure is the client's.
    pub fn run(self) -> io::Result<()> {
        let Self { runtime, shared, listeners, http, stop, .. } = self;
        let stop_time = shared.options.limits.stop_time;
        runtime.block_on(async {
            // It goes with the runtime: until then it says that the server is stopping.
            let answering = |http| http::serve(http, shared.clone(), stop.subscribe());
            drop(http.map(|http| tokio::spawn(answering(http))));
            drop(tokio::spawn(reopen_when_poisoned(shared.clone(), stop.subscribe())));
            let mut accepting = JoinSet::new();
            let (ended, mut all_ended) = tokio::sync::mpsc::channel::<()>(1);
            for listener in listeners {
                let (shared, stop) = (shared.clone(), stop.subscribe());
                accepting.spawn(accept(listener, shared, stop, ended.clone()));
            }
            drop(ended);
            let mut stopped = stop.subscribe();
            // Its sender is this server's.
            let _ = stopped.wait_for(|stopped| *stopped).await;
            accepting.join_all().await;
            tracing::info!(connections = shared.registry.connections(), "stopping");
            if tokio::time::timeout(stop_time, all_ended.recv()).await.is_err() {
                shared.registry.cancel_all();
                let _ = tokio::time::timeout(stop_time, all_ended.recv()).await;
            }
        });
        // Who still waits for a lock is not waited for.
        runtime.shutdown_timeout(Duration::from_secs(1));
        tracing::info!("stopped");
        Ok(())
    }
}

/// Refuses to tell other machines without having been told to.
fn check_http(options: &Options) -> io::Result<()> {
    let is_open = |address: &SocketAddr| !address.ip().to_canonical().is_loopback();
    match options.http.filter(is_open) {
        Some(address) if !options.http_is_for_all => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!(
                "{address} is reached by other machines, and HTTP asks nobody for a password: take an address \
                 such as 127.0.0.1:9187, or say that all may ask, as gadus serve --http-for-all does"
            ),
        )),
        _ => Ok(()),
    }
}

/// What the server proves with who it is, where anybody comes encrypted.
fn identity(options: &Options) -> io::Result<Option<Identity>> {
    if !options.encrypts() {
        return Ok(None);
    }
    let Some(certificate) = &options.certificate else {
        let text = "clients are to come encrypted, which needs a certificate";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
    };
    // By which clients may know this machine.
    let mut names = vec!["localhost".to_owned(), "127.0.0.1".to_owned(), "::1".to_owned()];
    let addresses = options.listen.iter().filter_map(Listen::ip);
    names.extend(addresses.filter(|ip| !ip.is_unspecified()).map(|ip| ip.to_string()));
    if let Ok(host) = std::fs::read_to_string("/proc/sys/kernel/hostname") {
        names.insert(0, host.trim().to_owned());
    }
    let mut known = HashSet::new();
    names.retain(|name| !name.is_empty() && known.insert(name.clone()));
    Identity::new(certificate.clone(), &names).map(Some)
}

/// Lets in whoever calls, until the server is stopped. What is dropped by the last connection says that
/// all have ended.
async fn accept(
    listener: Listener,
    shared: Arc<Shared>,
    mut stop: watch::Receiver<bool>,
    ended: tokio::sync::mpsc::Sender<()>,
) {
    loop {
        let accepted = tokio::select! {
            biased;
            _ = stop.wait_for(|stopped| *stopped) => return,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((socket, peer)) => {
                let (shared, stop, ended) = (shared.clone(), stop.clone(), ended.clone());
                shared.metrics.connections.add_one();
                let socket = Box::new(Counted::new(socket, shared.clone()));
                tokio::spawn(async move {
                    serve(socket, peer, shared, stop).await;
                    drop(ended);
                });
            }
            Err(error) => {
                tracing::warn!(%error, "a client could not be accepted");
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}
