//! Several clients of one server: each a process that sends, waits for its answer, and sends again.
//!
//! - The server is measured: what it takes for one request, while as many clients as there are want to be served.
//! - By sockets and pipes it asks epoll who has sent something. By shared memory it looks through all mailboxes, and
//!   sleeps on a bell that every client rings.

use super::ends::{End, LENGTH_BYTES, MESSAGE_BYTES_MIN, echo};
use super::transports::{pair_of_pipes, pair_of_streams, pair_of_tcp};
use crate::error::{KubError, Refused};
use crate::harness::{Budget, Contest, Harness, Stopwatch};
use crate::report::{Benchmark, Origin};
use crate::run::{Place, Task};
use crate::system::{Child, Inbox, Mailbox, Mapping, Outbox, Patience};
use gadus_locks::{wait_on, wake};
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

const MESSAGE_BYTES: usize = 64;

/// A lost wake-up costs as much.
const LOOK: Duration = Duration::from_millis(50);

/// A way that many clients can take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    UnixStream,
    Pipes,
    Tcp,
    SharedMemory,
}

/// A server with its clients, who live as long as it does.
pub(super) struct Server {
    kind: Kind,
    _clients: Vec<Child>,
    buffer: Vec<u8>,
}

enum Kind {
    Polled { epoll: OwnedFd, ends: Vec<Box<dyn Descriptors>>, ready: Vec<Event> },
    Shared { bell: Arc<Mapping>, ends: Vec<(Inbox, Outbox)>, next: usize },
}

/// An end that the kernel can watch.
pub(super) trait Descriptors: End {
    /// What becomes readable.
    fn incoming(&self) -> std::os::fd::BorrowedFd<'_>;
}

pub(super) fn tasks(budget: Budget) -> Vec<Task> {
    let counts: &[usize] = match budget {
        Budget::Quick => &[16],
        Budget::Usual => &[1, 16],
        Budget::Thorough => &[1, 4, 16, 64],
    };
    let task = |count: usize| {
        let name = format!("{count} clients of one server");
        Task::new(Benchmark::Message, name, move |harness, place| measure(harness, place, count))
    };
    counts.iter().copied().map(task).collect()
}

fn measure(harness: &mut Harness<'_>, place: &Place, clients: usize) -> Result<(), KubError> {
    place.stay_here()?;
    let cpu = place.other()?;
    let contest = Contest::new(Benchmark::Message, Origin::Modern, "serve a client of many")
        .with("clients", clients)
        .with("bytes", MESSAGE_BYTES)
        .with("processor", "other")
        .user("shared memory and a bell", served(Way::SharedMemory, clients, cpu))
        .kernel("Unix streams, epoll", served(Way::UnixStream, clients, cpu))
        .kernel("pipes, epoll", served(Way::Pipes, clients, cpu))
        .kernel("TCP, epoll", served(Way::Tcp, clients, cpu));
    harness.measure(contest)
}

fn served(
    way: Way,
    clients: usize,
    cpu: u32,
) -> impl FnMut(u64, &mut Stopwatch<'_>) -> Result<(), KubError> {
    let mut server = None;
    move |times, watch| {
        let server: &mut Server = match &mut server {
            Some(server) => server,
            none => none.insert(watch.untimed(|| Server::start(way, clients, cpu))?),
        };
        server.serve(times)
    }
}

impl Server {
    pub(super) fn start(way: Way, clients: usize, cpu: u32) -> Result<Self, KubError> {
        let buffer = vec![0; MESSAGE_BYTES];
        let mut children = Vec::new();
        let kind = match way {
            Way::SharedMemory => {
                let bell = Arc::new(Mapping::shared(4096)?);
                let mut ends = Vec::new();
                for _ in 0..clients {
                    let (request, inbox) = Mailbox::create(MESSAGE_BYTES, Patience::Sleep)?;
                    let (outbox, answer) = Mailbox::create(MESSAGE_BYTES, Patience::Sleep)?;
                    let its = SharedClient { bell: bell.clone(), request, answer };
                    children.push(start_client(its, cpu)?);
                    ends.push((inbox, outbox));
                }
                Kind::Shared { bell, ends, next: 0 }
            }
            _ => {
                let epoll = epoll::create(CreateFlags::CLOEXEC).or_refused("epoll")?;
                let mut ends = Vec::new();
                for number in 0..clients {
                    let (ours, theirs) = match way {
                        Way::Pipes => pair_of_pipes(64 << 10)?,
                        Way::Tcp => pair_of_tcp()?,
                        _ => pair_of_streams()?,
                    };
                    let data = EventData::new_u64(number as u64);
                    epoll::add(&epoll, ours.incoming(), data, EventFlags::IN)
                        .or_refused("epoll")?;
                    children.push(start_client(theirs, cpu)?);
                    ends.push(ours);
                }
                Kind::Polled { epoll, ends, ready: Vec::with_capacity(clients) }
            }
        };
        Ok(Self { kind, _clients: children, buffer })
    }

    /// Answers this many requests.
    pub(super) fn serve(&mut self, times: u64) -> Result<(), KubError> {
        let mut left = times;
        match &mut self.kind {
            Kind::Polled { epoll, ends, ready } => {
                while left > 0 {
                    ready.clear();
                    let all = rustix::buffer::spare_capacity(ready);
                    match epoll::wait(epoll.as_fd(), all, None) {
                        Ok(_) | Err(rustix::io::Errno::INTR) => {}
                        Err(error) => return Err(error).or_refused("epoll"),
                    }
                    // What is ready and not answered now is ready at the next look.
                    for event in ready.iter().take(crate::numbers::size(left)) {
                        let end = &mut ends[crate::numbers::size(event.data.u64())];
                        echo(&mut **end, &mut self.buffer)?;
                        left -= 1;
                    }
                }
            }
            Kind::Shared { bell, ends, next } => {
                let bell = bell.word(0);
                while left > 0 {
                    let seen = bell.load(Ordering::Acquire);
                    let before = left;
                    for _ in 0..ends.len() {
                        let place = *next % ends.len();
                        let (inbox, outbox) = &mut ends[place];
                        *next = place + 1;
                        if let Some(length) = inbox.try_take(&mut self.buffer) {
                            outbox.put(&self.buffer[..length]);
                            left -= 1;
                            if left == 0 {
                                break;
                            }
                        }
                    }
                    if left == before {
                        wait_on(bell, seen, Some(LOOK));
                    }
                }
            }
        }
        Ok(())
    }
}

/// Sends and receives for ever.
fn start_client(mut end: impl End, cpu: u32) -> Result<Child, KubError> {
    let mut message = vec![1; MESSAGE_BYTES.max(MESSAGE_BYTES_MIN)];
    let length = u32::try_from(message.len()).expect("a short message");
    message[..LENGTH_BYTES].copy_from_slice(&length.to_le_bytes());
    let mut back = message.clone();
    Child::start(Some(cpu), || {
        loop {
            let done = end.send(&message).and_then(|()| {
                end.receive_length(&mut back)?;
                end.receive_rest(&mut back)
            });
            if done.is_err() || back != message {
                return;
            }
        }
    })
}

struct SharedClient {
    bell: Arc<Mapping>,
    request: Outbox,
    answer: Inbox,
}

impl End for SharedClient {
    fn send(&mut self, message: &[u8]) -> Result<(), KubError> {
        self.request.put(message);
        ring(self.bell.word(0));
        Ok(())
    }

    fn receive_length(&mut self, buffer: &mut [u8]) -> Result<(), KubError> {
        self.answer.take(buffer);
        Ok(())
    }

    fn receive_rest(&mut self, _: &mut [u8]) -> Result<(), KubError> {
        Ok(())
    }
}

fn ring(bell: &AtomicU32) {
    bell.fetch_add(1, Ordering::Release);
    wake(bell, 1);
}

#[cfg(test)]
mod tests;
