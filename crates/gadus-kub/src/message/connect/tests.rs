//! Clients that come and go are greeted, each of them.

use super::*;
use crate::harness::SystemInstruments;

#[test]
fn every_client_that_comes_is_greeted() {
    let folder = tempfile::tempdir().unwrap();
    let cpu = gadus_machine::this_cpu();
    let instruments = SystemInstruments::new();
    let greeters =
        [unix(folder.path().join("socket"), cpu), tcp(cpu), named_pipes(folder.path(), cpu)];
    for mut greeter in greeters {
        for _ in 0..3 {
            greeter(1000, &mut Stopwatch::new(&instruments)).unwrap();
        }
    }
}
