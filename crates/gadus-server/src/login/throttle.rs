//! Growing delays after failed logins.
//!
//! - A failure counts for the client's address, for the user, and for the two together. Each failure in a
//!   row doubles the delay of the next attempt. Attempts wait in line: opening many connections at once
//!   makes none of them faster.
//! - A user who has logged in from an address is delayed there by failures of this pair alone. Neither
//!   attempts elsewhere nor those for other users lock that user out.
//! - Failures are forgotten some time after the last one. The table is bounded: an attacker with many
//!   addresses pushes out the oldest entries, not the server's memory.

use gadus_base::{Instant, clock};
use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Delay after the first failure: not noticed by a person, and four guesses a second at most.
const DELAY_MIN: Duration = Duration::from_millis(250);

/// The longest delay: shorter than `authentication_time`, so that a user with the right password gets in.
const DELAY_MAX: Duration = Duration::from_secs(8);

/// Time after the last failure at which it is forgotten.
const MEMORY: Duration = Duration::from_secs(15 * 60);

/// Entries of the table, some 100 bytes each.
const ENTRIES_MAX: usize = 16_384;

/// A user's name as far as it tells users apart: longer names are one.
const NAME_BYTES_MAX: usize = 64;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Key {
    Address(IpAddr),
    User(String),
    Pair(IpAddr, String),
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    failures: u32,
    last: Instant,
    /// The next attempt may go on then.
    next: Instant,
    /// A login of this pair has succeeded.
    is_known: bool,
}

/// Failed logins of a server.
#[derive(Debug, Default)]
pub(crate) struct Throttle {
    entries: Mutex<HashMap<Key, Entry>>,
}

impl Throttle {
    /// Returns how long this attempt has to wait, and has the next one wait longer. `None` if the wait would
    /// be longer than `patience`: the attempt is to be refused.
    pub(crate) fn delay(
        &self,
        address: IpAddr,
        user: &str,
        patience: Duration,
    ) -> Option<Duration> {
        let now = clock().now();
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let keys = keys(address, user);
        let is_known = entries.get(&keys[2]).is_some_and(|pair| pair.is_known);
        let keys = if is_known { &keys[2..] } else { &keys[..] };
        let next =
            |key| entries.get(key).filter(|entry| entry.failures > 0).map(|entry| entry.next);
        let next = keys.iter().filter_map(next).max().unwrap_or(now);
        let wait = next.since(now);
        if wait > patience {
            return None;
        }
        for key in keys {
            if let Some(entry) = entries.get_mut(key).filter(|entry| entry.failures > 0) {
                entry.next = next.max(now).plus(delay_after(entry.failures));
            }
        }
        Some(wait)
    }

    /// Counts a failure; returns how many there were in a row from this address or for this user.
    pub(crate) fn failed(&self, address: IpAddr, user: &str) -> u32 {
        let now = clock().now();
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let mut most = 0;
        for key in keys(address, user) {
            make_room(&mut entries, now);
            let entry = entries.entry(key).or_insert(Entry {
                failures: 0,
                last: now,
                next: now,
                is_known: false,
            });
            if entry.last.plus(MEMORY) < now {
                entry.failures = 0;
            }
            entry.failures = entry.failures.saturating_add(1);
            entry.last = now;
            entry.next = entry.next.max(now.plus(delay_after(entry.failures)));
            most = most.max(entry.failures);
        }
        most
    }

    /// Forgets the failures of a user at an address who has logged in.
    pub(crate) fn succeeded(&self, address: IpAddr, user: &str) {
        let now = clock().now();
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        make_room(&mut entries, now);
        let [_, _, pair] = keys(address, user);
        entries.insert(pair, Entry { failures: 0, last: now, next: now, is_known: true });
    }
}

fn delay_after(failures: u32) -> Duration {
    let doubled = DELAY_MIN.saturating_mul(1 << failures.saturating_sub(1).min(16));
    doubled.min(DELAY_MAX)
}

fn keys(address: IpAddr, user: &str) -> [Key; 3] {
    let end = user.char_indices().map(|(at, c)| at + c.len_utf8());
    let end = end.take_while(|end| *end <= NAME_BYTES_MAX).last().unwrap_or(0);
    let (address, user) = (network(address), user[..end].to_owned());
    [Key::Address(address), Key::User(user.clone()), Key::Pair(address, user)]
}

/// Returns what stands for an address: of IPv6 the network of 64 bits, all of which one host may use.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
        address @ IpAddr::V4(_) => address,
    }
}

/// Makes room for one more entry: drops those that are over, or else the oldest quarter.
fn make_room(entries: &mut HashMap<Key, Entry>, now: Instant) {
    if entries.len() < ENTRIES_MAX {
        return;
    }
    entries.retain(|_, entry| entry.last.plus(MEMORY) >= now);
    if entries.len() < ENTRIES_MAX {
        return;
    }
    let mut times = entries.values().map(|entry| entry.last).collect::<Vec<_>>();
    let (_, oldest, _) = times.select_nth_unstable(ENTRIES_MAX / 4);
    let oldest = *oldest;
    entries.retain(|_, entry| entry.last > oldest);
}

#[cfg(test)]
mod tests;
