//! What every Linux has is found.

use super::probes::ALL;

#[test]
fn what_every_linux_has_is_found_and_the_rest_has_a_reason() {
    for probe in ALL {
        let tried = (probe.attempt)();
        if ["limits of a process", "processors of a thread", "randomness"].contains(&probe.name) {
            assert_eq!(tried, Ok(()), "{}", probe.name);
        }
        assert!(tried.err().is_none_or(|error| !error.to_string().is_empty()), "{}", probe.name);
    }
}
