//! How slices grow and shrink.

use super::stream::Pace;
use std::time::Duration;

/// Slices grow as long as they are quick, and come down at once to what fits.
#[test]
fn slices_follow_their_time() {
    let mut pace = Pace::new();
    assert_eq!(pace.rows, 1);
    assert!(!pace.took(1, Duration::from_micros(10)));
    assert!(!pace.took(8, Duration::from_micros(80)));
    assert_eq!(pace.rows, 64);
    assert!(!pace.took(64, Duration::from_micros(640)));
    assert_eq!(pace.rows, 64, "twice as much would take more than half a turn");
    assert!(!pace.took(5, Duration::from_micros(1)));
    assert_eq!(pace.rows, 64, "the last rows of a batch say nothing of a whole slice");
    assert!(pace.took(64, Duration::from_millis(8)));
    assert_eq!(pace.rows, 8, "half a turn each");
    assert!(!pace.took(8, Duration::from_micros(300)));
    assert_eq!(pace.rows, 24, "back to half a turn");
    assert!(pace.took(8, Duration::from_secs(3600)));
    assert_eq!(pace.rows, 1);
    for _ in 0..64 {
        pace.took(pace.rows, Duration::ZERO);
    }
    assert_eq!(pace.rows, 1 << 16);
}
