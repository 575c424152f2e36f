//! Whether the database answers.
//!
//! - One read at a time, whoever asks: one that hangs holds one thread.

use crate::server::Shared;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Semaphore, watch};
use tokio::time::timeout;

/// For a read that touches little: what takes longer is not healthy, and who probes waits no longer
/// either (Kubernetes gives a probe one second unless told otherwise).
const READ_TIME: Duration = Duration::from_millis(900);

/// Who finds out.
pub(super) struct Health {
    shared: Arc<Shared>,
    stop: watch::Receiver<bool>,
    reading: Arc<Semaphore>,
}

impl Health {
    pub(super) fn new(shared: Arc<Shared>, stop: watch::Receiver<bool>) -> Self {
        Self { shared, stop, reading: Arc::new(Semaphore::new(1)) }
    }

    /// # Errors
    /// Why clients should go elsewhere.
    pub(super) async fn check(&self) -> Result<(), String> {
        if *self.stop.borrow() {
            return Err("the server is stopping".to_owned());
        }
        match timeout(READ_TIME, self.read()).await {
            Ok(read) => read,
            Err(_) => Err(format!("the database did not answer within {READ_TIME:?}")),
        }
    }

    /// Follows what other processes have committed, and runs a statement.
    async fn read(&self) -> Result<(), String> {
        let reading = self.reading.clone().acquire_owned().await;
        let reading = reading.map_err(|error| error.to_string())?;
        let lease = self.shared.served.lease().map_err(|failure| failure.message)?;
        let read = move || {
            let _reading = reading;
            let connection = lease.database.connect();
            connection.is_user("")?;
            connection.execute("SELECT 1", &[])
        };
        match tokio::task::spawn_blocking(read).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) => Err(error.to_string()),
            Err(error) => Err(error.to_string()),
        }
    }
}
