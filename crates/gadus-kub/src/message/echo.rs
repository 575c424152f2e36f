//! Echoes on connections that stand.

use super::ends::{End, LENGTH_BYTES, MESSAGE_BYTES_MIN, length_of};
use super::transports::Way;
use crate::error::KubError;
use crate::harness::{Budget, Contest, Harness, Stopwatch};
use crate::report::{Benchmark, Origin, Side};
use crate::run::{Place, Task};
use crate::system::Patience;
use gadus_base::ByteCount;
use std::time::Duration;

/// Looks before sleeping: about the 20 µs that waking somebody on another processor takes.
const LOOKS: u32 = 2000;

const KIB: usize = 1 << 10;

/// What the paper's pipes had, and what it found to be better.
const PAPER_PIPES: [usize; 2] = [64 * KIB, 256 * KIB + 50];

/// What the paper's TCP sockets had.
const PAPER_TCP: usize = 8 * KIB;

/// A copy of 256 KB in process took the paper about a millisecond.
const PAPER_COPY: (usize, Duration) = (256 * KIB, Duration::from_millis(1));

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Where {
    Same,
    Other,
}

pub(super) fn tasks(budget: Budget) -> Vec<Task> {
    let (sizes, papers): (&[usize], &[usize]) = match budget {
        Budget::Quick => (&[64, 8 * KIB, 256 * KIB], &[4 * KIB, 256 * KIB]),
        Budget::Usual => (
            &[64, 4 * KIB, 64 * KIB, 256 * KIB, KIB * KIB],
            &[4 * KIB, 16 * KIB, 64 * KIB, 256 * KIB],
        ),
        Budget::Thorough => (
            &[64, 512, 4 * KIB, 8 * KIB, 16 * KIB, 64 * KIB, 128 * KIB, 256 * KIB, KIB * KIB],
            &[4 * KIB, 8 * KIB, 16 * KIB, 32 * KIB, 64 * KIB, 128 * KIB, 256 * KIB],
        ),
    };
    let places: &[Where] =
        if budget == Budget::Quick { &[Where::Other] } else { &[Where::Other, Where::Same] };
    let mut tasks = Vec::new();
    for bytes in papers.iter().copied() {
        tasks.push(task(Origin::Vasil2003, bytes, Where::Other, papers_ways(bytes)));
    }
    for place in places {
        for bytes in sizes {
            tasks.push(task(Origin::Modern, *bytes, *place, modern_ways(*place)));
        }
    }
    tasks
}

fn papers_ways(_: usize) -> Vec<Way> {
    let [usual, larger] = PAPER_PIPES;
    vec![
        Way::Call,
        Way::Shared(Patience::Sleep),
        Way::Pipe { buffer_bytes: usual },
        Way::Pipe { buffer_bytes: larger },
        Way::Tcp { buffer_bytes: Some(PAPER_TCP) },
    ]
}

fn modern_ways(place: Where) -> Vec<Way> {
    let mut ways = vec![Way::Call, Way::Shared(Patience::Sleep)];
    if place == Where::Other {
        // Who spins on the only processor waits for himself.
        ways.push(Way::Shared(Patience::Spin));
        ways.push(Way::Shared(Patience::SpinThenSleep(LOOKS)));
    }
    ways.extend([
        Way::Pipe { buffer_bytes: 64 * KIB },
        Way::Pipe { buffer_bytes: KIB * KIB },
        Way::UnixStream,
        Way::UnixPackets,
        Way::Tcp { buffer_bytes: None },
        Way::TcpInPlace,
        Way::ProcessMemory,
    ]);
    ways
}

fn task(origin: Origin, bytes: usize, place: Where, ways: Vec<Way>) -> Task {
    let name = format!("echo of {} ({})", ByteCount(bytes as u64), origin.word());
    Task::new(Benchmark::Message, name, move |harness, machine| {
        measure(harness, machine, origin, bytes, place, &ways)
    })
}

fn measure(
    harness: &mut Harness<'_>,
    machine: &Place,
    origin: Origin,
    bytes: usize,
    place: Where,
    ways: &[Way],
) -> Result<(), KubError> {
    machine.stay_here()?;
    let cpu = match place {
        Where::Same => machine.here,
        Where::Other => machine.other()?,
    };
    let processor = if place == Where::Same { "same" } else { "other" };
    let mut contest = Contest::new(Benchmark::Message, origin, "echo")
        .with("bytes", bytes)
        .with("processor", processor);
    for way in ways {
        // Looks at the clock between the steps cost more than a call does.
        let echoes = echoes(*way, bytes, cpu, origin == Origin::Vasil2003);
        contest = match way.is_kernel() {
            true => contest.kernel(way.name(), echoes),
            false => contest.user(way.name(), echoes),
        };
        if *way == Way::Call && origin == Origin::Vasil2003 && bytes == PAPER_COPY.0 {
            contest = contest.paper(PAPER_COPY.1);
        }
    }
    if origin == Origin::Vasil2003 {
        contest = contest.paper_found(
            "shared memory and a call are equal, then comes the pipe, then TCP, the nearer the larger; a pipe's buffer \
             of 256 KB and 50 bytes halves what one of 64 KB costs",
        );
    }
    debug_assert!(contest.contestants.first().is_some_and(|first| first.side == Side::User));
    harness.measure(contest)
}

/// Connects at the first time, and then sends messages and checks what comes back.
fn echoes(
    way: Way,
    bytes: usize,
    cpu: u32,
    steps: bool,
) -> impl FnMut(u64, &mut Stopwatch<'_>) -> Result<(), KubError> {
    let bytes = bytes.max(MESSAGE_BYTES_MIN);
    let (mut message, mut back) = (vec![1_u8; bytes], vec![0_u8; bytes]);
    let length = u32::try_from(bytes).expect("messages of some megabytes");
    message[..LENGTH_BYTES].copy_from_slice(&length.to_le_bytes());
    let (mut connection, mut number) = (None, 0_u64);
    move |times, watch| {
        let connection = match &mut connection {
            Some(connection) => connection,
            none => none.insert(watch.untimed(|| way.connect(bytes, cpu))?),
        };
        let end = &mut *connection.end;
        for _ in 0..times {
            number += 1;
            let numbered = LENGTH_BYTES..MESSAGE_BYTES_MIN;
            message[numbered.clone()].copy_from_slice(&number.to_le_bytes());
            match steps {
                true => one_in_steps(end, &message, &mut back[..bytes], watch)?,
                false => {
                    end.send(&message)?;
                    end.receive_length(&mut back)?;
                    end.receive_rest(&mut back[..bytes])?;
                }
            }
            if length_of(&back) != bytes || back[numbered.clone()] != message[numbered] {
                return Err(KubError::broken("another message came back"));
            }
        }
        Ok(())
    }
}

/// As the paper timed it: to write, to have the first four bytes, to have the rest.
fn one_in_steps(
    end: &mut dyn End,
    message: &[u8],
    back: &mut [u8],
    watch: &mut Stopwatch<'_>,
) -> Result<(), KubError> {
    let began = watch.now();
    end.send(message)?;
    let sent = watch.now();
    end.receive_length(back)?;
    let length_known = watch.now();
    end.receive_rest(back)?;
    let received = watch.now();
    watch.add("write", sent - began);
    watch.add("first bytes", length_known - sent);
    watch.add("rest", received - length_known);
    Ok(())
}
