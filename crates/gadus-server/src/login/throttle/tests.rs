//! Delays by address, user and both.

use super::{ENTRIES_MAX, Throttle};
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(30);

fn address(last: u8) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(10, 0, 0, last))
}

#[test]
fn delays_grow_by_address_and_by_user() {
    let throttle = Throttle::default();
    assert_eq!(throttle.delay(address(1), "ada", PATIENCE), Some(Duration::ZERO));
    for _ in 0..4 {
        throttle.failed(address(1), "ada");
    }
    let delay = |last, user| throttle.delay(address(last), user, PATIENCE).unwrap();
    let second = Duration::from_secs(1);
    assert!(delay(1, "grace") > second, "the address");
    assert!(delay(2, "ada") > second, "the user");
    assert_eq!(delay(2, "grace"), Duration::ZERO);
}

#[test]
fn attempts_made_at_once_wait_in_line_and_then_are_refused() {
    let throttle = Throttle::default();
    throttle.failed(address(1), "ada");
    let mut last = Duration::ZERO;
    let mut waiting = 0;
    while let Some(delay) = throttle.delay(address(1), "ada", PATIENCE) {
        assert!(delay > last);
        (last, waiting) = (delay, waiting + 1);
    }
    assert!((10..200).contains(&waiting), "{waiting}");
}

#[test]
fn a_user_known_at_an_address_is_not_locked_out_by_others() {
    let throttle = Throttle::default();
    throttle.succeeded(address(1), "ada");
    for _ in 0..10 {
        throttle.failed(address(2), "ada");
        throttle.failed(address(1), "grace");
    }
    assert_eq!(throttle.delay(address(1), "ada", PATIENCE), Some(Duration::ZERO));
    throttle.failed(address(1), "ada");
    assert!(throttle.delay(address(1), "ada", PATIENCE).unwrap() > Duration::ZERO);
}

#[test]
fn the_table_is_bounded() {
    let throttle = Throttle::default();
    for number in 0..ENTRIES_MAX {
        throttle.failed(address(1), &number.to_string());
    }
    assert!(throttle.entries.lock().unwrap().len() <= ENTRIES_MAX);
}
