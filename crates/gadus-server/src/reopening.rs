//! The database of a server, and opening it anew after a failed sync.
//!
//! - A failed sync, of this process or of another that shares the file, leaves unknown what is durable: nobody may
//!   write until all have closed the database, and recovery has read what is there. The server learns of it without
//!   a statement, lets go of the database, and opens it again; there may be others to wait for.
//! - What a client's session holds (transactions, settings, prepared statements, temporary tables) goes with the
//!   database: so its connection ends, with 57P01, and new ones are refused with 57P03 meanwhile.
//! - Who uses the database has a [`Lease`]; when the last one is dropped, it is closed.

use crate::error::{Failure, SqlState};
use crate::server::Shared;
use gadus::{Database, Error};
use gadus_base::clock;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::time::{sleep, timeout};

/// Between two tries to open the database: at first, and at most.
const PAUSE_MIN: Duration = Duration::from_secs(1);
const PAUSE_MAX: Duration = Duration::from_mins(1);

/// Between two lines of the log that say that clients still use the database.
const REMIND: Duration = Duration::from_mins(1);

/// Opens a server's database anew.
#[derive(Clone)]
pub(crate) struct Opener(Arc<dyn Fn() -> gadus::Result<Database> + Send + Sync>);

impl Opener {
    pub(crate) fn new(open: impl Fn() -> gadus::Result<Database> + Send + Sync + 'static) -> Self {
        Self(Arc::new(open))
    }
}

impl fmt::Debug for Opener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Opener").finish_non_exhaustive()
    }
}

/// The database that a server serves.
#[derive(Debug)]
pub(crate) struct Served {
    /// None while it is being opened anew.
    open: Mutex<Option<Open>>,
    opener: Option<Opener>,
}

/// The database, open.
#[derive(Debug)]
struct Open {
    database: Database,
    /// Changes to true when all are to let go of it.
    is_over: Arc<watch::Sender<bool>>,
    users: mpsc::Sender<()>,
    /// Says when the last user has gone.
    all_gone: mpsc::Receiver<()>,
}

/// The right to use the database, for as long as it is held. It is dropped after all that came of the database.
#[derive(Debug)]
pub(crate) struct Lease {
    pub(crate) database: Database,
    over: watch::Receiver<bool>,
    is_reopened: bool,
    _user: mpsc::Sender<()>,
}

impl Lease {
    /// Changes to true when it is to be given back.
    pub(crate) fn over(&self) -> watch::Receiver<bool> {
        self.over.clone()
    }

    /// Adds to a failure what happens to the database, if it is that failure.
    pub(crate) fn explained(&self, failure: Failure) -> Failure {
        if failure.code == SqlState::IO_ERROR
            && self.is_reopened
            && self.database.check_poison().is_err()
        {
            return failure.hint("The database is being reopened; connect again.");
        }
        failure
    }
}

impl Served {
    pub(crate) fn new(database: Database, opener: Option<Opener>) -> Self {
        let served = Self { open: Mutex::default(), opener };
        served.begin(database);
        served
    }

    /// The database, unless it is being opened anew.
    ///
    /// # Errors
    /// `57P03`.
    pub(crate) fn lease(&self) -> Result<Lease, Failure> {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        match &*open {
            Some(open) if !*open.is_over.borrow() => Ok(Lease {
                database: open.database.clone(),
                over: open.is_over.subscribe(),
                is_reopened: self.opener.is_some(),
                _user: open.users.clone(),
            }),
            _ => {
                let text = "the database is being reopened after a failed sync; try again";
                Err(Failure::fatal(SqlState::CANNOT_CONNECT_NOW, text))
            }
        }
    }

    fn begin(&self, database: Database) {
        let (users, all_gone) = mpsc::channel(1);
        let is_over = Arc::new(watch::channel(false).0);
        if self.opener.is_some() {
            let is_over = is_over.clone();
            database.when_poisoned(move || {
                is_over.send_replace(true);
            });
        }
        let open = Open { database, is_over, users, all_gone };
        *self.open.lock().unwrap_or_else(PoisonError::into_inner) = Some(open);
    }

    /// Changes to true when the database is to be closed; none while it is.
    fn over(&self) -> Option<watch::Receiver<bool>> {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.as_ref().map(|open| open.is_over.subscribe())
    }

    fn take(&self) -> Option<Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// What clients are told whose session ends with the database.
pub(crate) fn closed() -> Failure {
    let text = "the database is being reopened after a failed sync; what was acknowledged is durable; connect again";
    Failure::fatal(SqlState::ADMIN_SHUTDOWN, text)
}

/// Returns a while after a lease is to be given back: whoever still has it waits for its client.
pub(crate) async fn overdue(mut over: watch::Receiver<bool>, time: Duration) {
    // An error says that the database is gone.
    let _ = over.wait_for(|is_over| *is_over).await;
    sleep(time).await;
}

/// Opens the database anew whenever a failed sync demands it, until the server stops.
pub(crate) async fn reopen_when_poisoned(shared: Arc<Shared>, mut stop: watch::Receiver<bool>) {
    let Some(opener) = shared.served.opener.clone() else { return };
    let reopening = async {
        while let Some(mut over) = shared.served.over() {
            // An error says that the database is gone.
            let _ = over.wait_for(|is_over| *is_over).await;
            close(&shared).await;
            let began = clock().now();
            shared.served.begin(open(&opener).await);
            // Whoever reads this may connect.
            tracing::info!(seconds = began.elapsed().as_secs(), "the database is reopened");
        }
    };
    tokio::select! {
        biased;
        _ = stop.wait_for(|stopped| *stopped) => {}
        () = reopening => {}
    }
}

/// Closes the database, as soon as its users have let go of it.
async fn close(shared: &Shared) {
    let Some(Open { database, users, mut all_gone, .. }) = shared.served.take() else { return };
    let cause = database.check_poison().err().map_or_else(String::new, |error| error.to_string());
    let connections = shared.registry.connections();
    tracing::error!(connections, "the database is closed, to be reopened: {cause}");
    drop(users);
    if timeout(shared.options.limits.stop_time, all_gone.recv()).await.is_err() {
        shared.registry.cancel_all();
        while timeout(REMIND, all_gone.recv()).await.is_err() {
            let connections = shared.registry.connections();
            tracing::warn!(connections, "the database is not reopened yet: clients still use it");
        }
    }
    // It waits for its threads.
    let _ = tokio::task::spawn_blocking(move || drop(database)).await;
}

/// Opens the database, however often that fails.
async fn open(opener: &Opener) -> Database {
    let mut pause = PAUSE_MIN;
    loop {
        let opener = opener.clone();
        let opened = tokio::task::spawn_blocking(move || {
            let database = (opener.0)()?;
            database.check_poison().map(|()| database)
        });
        let error = match opened.await {
            Ok(Ok(database)) => return database,
            Ok(Err(error)) => Error::to_string(&error),
            Err(error) => error.to_string(),
        };
        let seconds = pause.as_secs();
        tracing::error!("the database cannot be reopened yet, next try in {seconds} s: {error}");
        sleep(pause).await;
        pause = (pause * 2).min(PAUSE_MAX);
    }
}
