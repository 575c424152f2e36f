//! Every way brings back what was sent.

use super::super::ends::{LENGTH_BYTES, MESSAGE_BYTES_MIN, length_of};
use super::*;

#[test]
fn what_was_sent_comes_back_on_every_way() {
    let ways = [
        Way::Call,
        Way::Shared(Patience::Sleep),
        Way::Shared(Patience::SpinThenSleep(100)),
        Way::Pipe { buffer_bytes: 64 << 10 },
        Way::UnixStream,
        Way::UnixPackets,
        Way::Tcp { buffer_bytes: None },
        Way::TcpInPlace,
        Way::ProcessMemory,
        Way::Tcp { buffer_bytes: Some(8 << 10) },
    ];
    let cpu = gadus_machine::this_cpu();
    for way in ways {
        for bytes in [MESSAGE_BYTES_MIN, 4096, 40_000] {
            let mut connection = match way.connect(bytes, cpu) {
                Ok(connection) => connection,
                // A kernel may deny rings; nothing else.
                Err(error) => {
                    assert_eq!(way, Way::TcpInPlace, "{error}");
                    continue;
                }
            };
            let mut message = (0..=250_u8).cycle().take(bytes).collect::<Vec<_>>();
            message[..LENGTH_BYTES].copy_from_slice(&u32::try_from(bytes).unwrap().to_le_bytes());
            for _ in 0..3 {
                let mut back = vec![0; bytes];
                connection.end.send(&message).unwrap();
                connection.end.receive_length(&mut back).unwrap();
                assert_eq!(length_of(&back), bytes, "{way:?}");
                connection.end.receive_rest(&mut back).unwrap();
                assert_eq!(back, message, "{way:?}");
            }
        }
    }
}
