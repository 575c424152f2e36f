//! Connections that are still being opened.
//!
//! - They have a limit of their own. When it is reached, the one that has waited longest at the address with
//!   most of them is closed: a client that logs in at once gets in, whatever others hold open.
//! - Requests to cancel come this way, too, and for the same reason always get through.

use crate::listen::Peer;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Notify;

/// Connections that are being opened at once, at least.
const SHARE_MIN: usize = 64;
/// And as a part of the connections that a server allows.
const SHARE: usize = 8;

/// The connections of a server that are being opened.
#[derive(Debug)]
pub(crate) struct HalfOpen {
    max: usize,
    waiting: Mutex<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    next: u64,
    connections: HashMap<u64, Entry>,
}

#[derive(Debug)]
struct Entry {
    origin: Origin,
    evicted: Arc<Notify>,
}

/// Where connections come from, as far as they count together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Origin {
    Unix(u32),
    Tcp(IpAddr),
}

/// A connection that is being opened, until this is dropped.
#[derive(Debug)]
pub(crate) struct Opening {
    half_open: Arc<HalfOpen>,
    number: u64,
    evicted: Arc<Notify>,
}

impl HalfOpen {
    /// Of a server that allows so many connections.
    pub(crate) fn new(connections_max: usize) -> Arc<Self> {
        let max = (connections_max / SHARE).max(SHARE_MIN);
        Arc::new(Self { max, waiting: Mutex::default() })
    }

    /// Adds a connection, for which another one may have to go.
    pub(crate) fn begin(self: &Arc<Self>, peer: &Peer) -> Opening {
        let origin = match peer {
            Peer::Unix(uid) => Origin::Unix(*uid),
            Peer::Tcp(address) => Origin::Tcp(address.ip().to_canonical()),
        };
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.connections.len() >= self.max
            && let Some(number) = waiting.longest_of_most()
            && let Some(entry) = waiting.connections.remove(&number)
        {
            entry.evicted.notify_one();
        }
        let (number, evicted) = (waiting.next, Arc::new(Notify::new()));
        waiting.next += 1;
        waiting.connections.insert(number, Entry { origin, evicted: evicted.clone() });
        Opening { half_open: self.clone(), number, evicted }
    }
}

impl Waiting {
    /// Returns the connection that has waited longest of the origin that has most of them.
    fn longest_of_most(&self) -> Option<u64> {
        let mut by_origin = HashMap::<Origin, (usize, u64)>::new();
        for (number, entry) in &self.connections {
            let (count, first) = by_origin.entry(entry.origin).or_insert((0, *number));
            *count += 1;
            *first = (*first).min(*number);
        }
        by_origin.into_values().max_by_key(|(count, _)| *count).map(|(_, first)| first)
    }
}

impl Opening {
    /// Waits until another connection needs the room of this one.
    pub(crate) async fn evicted(&self) {
        self.evicted.notified().await;
    }
}

impl Drop for Opening {
    fn drop(&mut self) {
        let mut waiting = self.half_open.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.connections.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::{HalfOpen, SHARE_MIN};
    use crate::listen::Peer;
    use std::pin::pin;
    use std::task::{Context, Waker};

    fn peer(last: usize) -> Peer {
        Peer::Tcp(format!("10.0.0.{last}:4711").parse().unwrap())
    }

    fn is_evicted(opening: &super::Opening) -> bool {
        pin!(opening.evicted()).poll(&mut Context::from_waker(Waker::noop())).is_ready()
    }

    #[test]
    fn the_longest_wait_at_the_busiest_address_makes_room() {
        let half_open = HalfOpen::new(0);
        let patient = half_open.begin(&peer(1));
        let mut flood = (1..SHARE_MIN).map(|_| half_open.begin(&peer(2))).collect::<Vec<_>>();
        assert!(!flood.iter().any(is_evicted));
        flood.push(half_open.begin(&peer(3)));
        assert!(is_evicted(&flood[0]));
        assert!(!is_evicted(&patient));
        assert!(!flood[1..].iter().any(is_evicted));
        drop((patient, flood));
        assert!(half_open.waiting.lock().unwrap().connections.is_empty());
    }
}
