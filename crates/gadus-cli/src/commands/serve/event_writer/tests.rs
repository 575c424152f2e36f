//! Tests that events are written in order, and that an output that blocks delays no thread that logs.

use super::*;
use std::sync::mpsc::{Receiver, Sender, channel};

/// Output that waits for a permit before each event, and then shows it.
struct Gated {
    permits: Receiver<()>,
    written: Sender<Vec<u8>>,
}

impl Write for Gated {
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        // Without its sender it waits no longer.
        let _ = self.permits.recv();
        let _ = self.written.send(event.to_vec());
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn events_are_written_in_order_before_the_end() {
    let ((permit, permits), (written, events)) = (channel(), channel());
    let (mut writer, last_writes) = EventWriter::start(Gated { permits, written }).unwrap();
    writer.write_all(b"one").unwrap();
    writer.write_all(b"two").unwrap();
    drop(permit);
    drop(last_writes);
    assert_eq!(events.try_iter().collect::<Vec<_>>(), [b"one", b"two"]);
}

#[test]
fn an_output_that_blocks_loses_events_and_delays_no_thread() {
    let ((permit, permits), (written, events)) = (channel(), channel());
    let (mut writer, last_writes) = EventWriter::start(Gated { permits, written }).unwrap();
    // One may be with the output already.
    for number in 0..WAITING_MAX + 10 {
        writer.write_all(number.to_string().as_bytes()).unwrap();
    }
    drop(permit);
    drop(last_writes);
    let written = events.try_iter().collect::<Vec<_>>();
    assert!((WAITING_MAX..=WAITING_MAX + 1).contains(&written.len()), "{}", written.len());
    assert_eq!(written[0], b"0");
}
