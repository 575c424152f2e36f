//! The HTTP port: `/metrics` for Prometheus, `/health` for who starts and stops servers.
//!
//! - It asks nobody who he is, and tells no names and no data; only this machine reaches it, unless the
//!   options say otherwise.
//! - Who says nothing is in nobody's way: he has some seconds, and makes room for who comes when there are
//!   many.
//! - It answers until the server is gone, so that who asks learns that it is stopping.

mod health;
mod request;

use crate::metrics;
use crate::server::Shared;
use health::Health;
use request::{HEAD_BYTES_MAX, Method, Request, Response, Status};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::timeout;

/// Callers at once: scrapers and probes are a handful.
const CALLERS_MAX: usize = 32;
/// For a request to come whole.
const READ_TIME: Duration = Duration::from_secs(5);
/// For an answer to be found, and then for it to be taken.
const ANSWER_TIME: Duration = Duration::from_secs(5);
const SEND_TIME: Duration = Duration::from_secs(5);
/// Bytes behind a request that are read and thrown away, so that its answer is not lost with them.
const REST_BYTES_MAX: u64 = 64 << 10;
/// After a failure to accept.
const PAUSE: Duration = Duration::from_millis(100);

/// What answers requests.
struct Answerer {
    shared: Arc<Shared>,
    health: Health,
}

/// Who is there, the first who came first.
#[derive(Default)]
struct Callers(Vec<Caller>);

struct Caller {
    task: AbortHandle,
    /// His request has come whole.
    is_answered: Arc<AtomicBool>,
}

/// Answers whoever calls, for as long as it is polled.
pub(crate) async fn serve(listener: TcpListener, shared: Arc<Shared>, stop: watch::Receiver<bool>) {
    let health = Health::new(shared.clone(), stop);
    let answerer = Arc::new(Answerer { shared, health });
    let mut callers = Callers::default();
    loop {
        match listener.accept().await {
            Ok((stream, _)) => callers.take_in(stream, answerer.clone()),
            Err(error) => {
                tracing::warn!(%error, "a caller of the HTTP port could not be accepted");
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

impl Callers {
    /// Answers one more; where there are too many, the first goes who has not said what he wants.
    fn take_in(&mut self, stream: TcpStream, answerer: Arc<Answerer>) {
        self.0.retain(|caller| !caller.task.is_finished());
        if self.0.len() >= CALLERS_MAX {
            let is_silent = |caller: &Caller| !caller.is_answered.load(Ordering::Relaxed);
            let silent = self.0.iter().position(is_silent);
            self.0.remove(silent.unwrap_or(0)).task.abort();
        }
        let is_answered = Arc::new(AtomicBool::new(false));
        let task = tokio::spawn(exchange(stream, answerer, is_answered.clone())).abort_handle();
        self.0.push(Caller { task, is_answered });
    }
}

/// One request and its answer.
async fn exchange(mut stream: TcpStream, answerer: Arc<Answerer>, is_answered: Arc<AtomicBool>) {
    let request = match timeout(READ_TIME, read(&mut stream)).await {
        Ok(Ok(Some(request))) => Ok(request),
        // He is gone.
        Ok(Ok(None)) => return,
        Ok(Err(refusal)) => Err(refusal),
        Err(_) => {
            let text = "the request took too long to come";
            Err(Response::text(Status::RequestTimeout, text))
        }
    };
    is_answered.store(true, Ordering::Relaxed);
    let (is_head, response) = match request {
        Ok(request) => {
            let answer = timeout(ANSWER_TIME, answerer.answer(&request)).await;
            let late = |_| Response::text(Status::Unavailable, "the answer took too long to find");
            (request.method == Method::Head, answer.unwrap_or_else(late))
        }
        Err(refusal) => (false, refusal),
    };
    let send = async {
        stream.write_all(&response.encode(is_head)).await?;
        stream.shutdown().await?;
        // What is thrown away unread by the system takes the answer with it.
        let mut rest = (&mut stream).take(REST_BYTES_MAX);
        tokio::io::copy(&mut rest, &mut tokio::io::sink()).await
    };
    // Whether he took it is his business.
    let _ = timeout(SEND_TIME, send).await;
}

/// Reads a request; none where the caller goes away.
async fn read(stream: &mut TcpStream) -> Result<Option<Request>, Response> {
    let mut head = Vec::with_capacity(1 << 10);
    loop {
        if let Some(request) = Request::read(&head)? {
            return Ok(Some(request));
        }
        let room = (HEAD_BYTES_MAX - head.len()) as u64;
        if !matches!((&mut *stream).take(room).read_buf(&mut head).await, Ok(1..)) {
            return Ok(None);
        }
    }
}

impl Answerer {
    async fn answer(&self, request: &Request) -> Response {
        let is_known = matches!(&request.path[..], "/metrics" | "/health");
        if is_known && request.method == Method::Other {
            return Response::text(Status::MethodNotAllowed, "there are GET and HEAD");
        }
        match &request.path[..] {
            "/metrics" => self.metrics().await,
            "/health" => match self.health.check().await {
                Ok(()) => Response::text(Status::Ok, "ok"),
                Err(reason) => Response::text(Status::Unavailable, &reason),
            },
            _ => Response::text(Status::NotFound, "there are /metrics and /health"),
        }
    }

    async fn metrics(&self) -> Response {
        let shared = self.shared.clone();
        match tokio::task::spawn_blocking(move || metrics::page(&shared)).await {
            Ok(page) => Response::of(Status::Ok, metrics::CONTENT_TYPE, page),
            Err(error) => Response::text(Status::Unavailable, &error.to_string()),
        }
    }
}
