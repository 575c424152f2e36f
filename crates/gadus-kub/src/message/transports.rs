//! The ways that a message can take, each with its server.

use super::clients::Descriptors;
use super::ends::{
    ADDRESS_BYTES, Call, End, InPlace, Packets, ProcessMemory, Shared, Stream, echo,
};
use crate::error::{KubError, Refused};
use crate::system::{
    Child, Mailbox, Mapping, Patience, Ring, own_pid, permit_reading_by, read_from_process,
};
use std::io::{PipeReader, PipeWriter};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::atomic::Ordering;

/// A client's end with the server that is behind it.
pub(super) struct Connection {
    pub(super) end: Box<dyn End>,
    _server: Option<Child>,
}

/// A way that is known by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Call,
    Shared(Patience),
    Pipe {
        buffer_bytes: usize,
    },
    UnixStream,
    UnixPackets,
    Tcp {
        buffer_bytes: Option<usize>,
    },
    /// TCP, sent from where the message lies.
    TcpInPlace,
    /// The receiver copies it from the sender's memory; a futex says that it is there.
    ProcessMemory,
}

impl Way {
    pub(super) fn name(self) -> String {
        match self {
            Self::Call => "call with copy".to_owned(),
            Self::Shared(Patience::Spin) => "shared memory, spinning".to_owned(),
            Self::Shared(Patience::SpinThenSleep(_)) => {
                "shared memory, spinning, then futex".to_owned()
            }
            Self::Shared(Patience::Sleep) => "shared memory, futex".to_owned(),
            Self::Pipe { buffer_bytes } => {
                format!("pipe of {}", gadus_base::ByteCount(buffer_bytes as u64))
            }
            Self::UnixStream => "Unix stream".to_owned(),
            Self::UnixPackets => "Unix packets".to_owned(),
            Self::Tcp { buffer_bytes: None } => "TCP".to_owned(),
            Self::TcpInPlace => "TCP, io_uring without a copy".to_owned(),
            Self::ProcessMemory => "process_vm_readv, futex".to_owned(),
            Self::Tcp { buffer_bytes: Some(bytes) } => {
                format!("TCP, buffers of {}", gadus_base::ByteCount(bytes as u64))
            }
        }
    }

    pub(super) fn is_kernel(self) -> bool {
        !matches!(self, Self::Call | Self::Shared(_))
    }

    /// Starts a server on a processor, and connects to it.
    pub(super) fn connect(self, bytes: usize, cpu: u32) -> Result<Connection, KubError> {
        match self {
            Self::Call => {
                Ok(Connection { end: Box::new(Call { place: vec![0; bytes] }), _server: None })
            }
            Self::Shared(patience) => {
                let (out, its_inbox) = Mailbox::create(bytes, patience)?;
                let (its_out, inbox) = Mailbox::create(bytes, patience)?;
                serve(Shared { out, inbox }, Shared { out: its_out, inbox: its_inbox }, bytes, cpu)
            }
            Self::Pipe { buffer_bytes } => {
                let (its_incoming, outgoing) = pipe_of(buffer_bytes)?;
                let (incoming, its_outgoing) = pipe_of(buffer_bytes)?;
                let theirs = Stream { incoming: its_incoming, outgoing: its_outgoing };
                serve(Stream { incoming, outgoing }, theirs, bytes, cpu)
            }
            Self::UnixStream => {
                let (ours, theirs) = UnixStream::pair().or_refused("a Unix socket")?;
                serve(both(ours)?, both(theirs)?, bytes, cpu)
            }
            Self::UnixPackets => {
                let (ours, theirs) = packets(bytes)?;
                serve(ours, theirs, bytes, cpu)
            }
            Self::TcpInPlace => {
                let (ours, theirs) = tcp(None)?;
                let ours = InPlace { stream: both_tcp(ours)?, ring: Ring::create(4, 4096, false)? };
                let theirs =
                    InPlace { stream: both_tcp(theirs)?, ring: Ring::create(4, 4096, false)? };
                serve(ours, theirs, bytes, cpu)
            }
            Self::ProcessMemory => {
                let (out, its_inbox) = Mailbox::create(ADDRESS_BYTES, Patience::Sleep)?;
                let (its_out, inbox) = Mailbox::create(ADDRESS_BYTES, Patience::Sleep)?;
                let ours = ProcessMemory::new(out, inbox, None);
                let theirs = ProcessMemory::new(its_out, its_inbox, Some(own_pid()));
                serve_by_memory(ours, theirs, bytes, cpu)
            }
            Self::Tcp { buffer_bytes } => {
                let (ours, theirs) = tcp(buffer_bytes)?;
                serve(both_tcp(ours)?, both_tcp(theirs)?, bytes, cpu)
            }
        }
    }
}

fn serve<E: End + 'static>(
    ours: E,
    mut theirs: E,
    bytes: usize,
    cpu: u32,
) -> Result<Connection, KubError> {
    // Made before the child is, which must not allocate.
    let mut buffer = vec![0; bytes];
    let server = Child::start(Some(cpu), || while echo(&mut theirs, &mut buffer).is_ok() {})?;
    Ok(Connection { end: Box::new(ours), _server: Some(server) })
}

/// The same where each must know the other's process, and be permitted to read its memory: a server that may not would
/// never answer, so it tries that first and says what came of it.
fn serve_by_memory(
    mut ours: ProcessMemory,
    mut theirs: ProcessMemory,
    bytes: usize,
    cpu: u32,
) -> Result<Connection, KubError> {
    const ASKED: u32 = 1;
    const PERMITTED: u32 = 2;
    // And more of what the kernel refused it with.
    const REFUSED: u32 = 3;
    let mut buffer = vec![0; bytes];
    let (own, address) = (own_pid(), buffer.as_ptr().addr() as u64);
    let memory = Mapping::shared(4096)?;
    let state = memory.word(0);
    let change_to = |to| {
        state.store(to, Ordering::Release);
        gadus_locks::wake(state, 1);
    };
    let await_more_than = |seen: u32| loop {
        match state.load(Ordering::Acquire) {
            now if now > seen => return now,
            now => gadus_locks::wait_on(state, now, None),
        }
    };
    let server = Child::start(Some(cpu), || {
        await_more_than(0);
        match read_from_process(own, address, &mut [0]) {
            Ok(_) => change_to(PERMITTED),
            Err(error) => return change_to(REFUSED + error.raw_os_error().unsigned_abs()),
        }
        while echo(&mut theirs, &mut buffer).is_ok() {}
    })?;
    permit_reading_by(server.pid());
    ours.other = Some(server.pid());
    change_to(ASKED);
    match await_more_than(ASKED) {
        PERMITTED => Ok(Connection { end: Box::new(ours), _server: Some(server) }),
        refused => {
            let error = i32::try_from(refused - REFUSED).unwrap_or(0);
            Err(std::io::Error::from_raw_os_error(error)).or_refused("process_vm_readv")
        }
    }
}

fn pipe_of(bytes: usize) -> Result<(PipeReader, PipeWriter), KubError> {
    let (reader, writer) = std::io::pipe().or_refused("a pipe")?;
    rustix::pipe::fcntl_setpipe_size(&writer, bytes).or_refused("a pipe of another size")?;
    Ok((reader, writer))
}

/// Two ends of streams, for who watches many.
pub(super) type Ends = (Box<dyn Descriptors>, Box<dyn Descriptors>);

pub(super) fn pair_of_pipes(bytes: usize) -> Result<Ends, KubError> {
    let (its_incoming, outgoing) = pipe_of(bytes)?;
    let (incoming, its_outgoing) = pipe_of(bytes)?;
    let theirs = Stream { incoming: its_incoming, outgoing: its_outgoing };
    Ok((Box::new(Stream { incoming, outgoing }), Box::new(theirs)))
}

pub(super) fn pair_of_streams() -> Result<Ends, KubError> {
    let (ours, theirs) = UnixStream::pair().or_refused("a Unix socket")?;
    Ok((Box::new(both(ours)?), Box::new(both(theirs)?)))
}

pub(super) fn pair_of_tcp() -> Result<Ends, KubError> {
    let (ours, theirs) = tcp(None)?;
    Ok((Box::new(both_tcp(ours)?), Box::new(both_tcp(theirs)?)))
}

fn both(stream: UnixStream) -> Result<Stream<UnixStream, UnixStream>, KubError> {
    let incoming = stream.try_clone().or_refused("a Unix socket")?;
    Ok(Stream { incoming, outgoing: stream })
}

fn both_tcp(stream: TcpStream) -> Result<Stream<TcpStream, TcpStream>, KubError> {
    let incoming = stream.try_clone().or_refused("a TCP socket")?;
    Ok(Stream { incoming, outgoing: stream })
}

fn packets(bytes: usize) -> Result<(Packets, Packets), KubError> {
    use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair, sockopt};
    let pair = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None);
    let (ours, theirs) = pair.or_refused("a Unix socket of packets")?;
    for end in [&ours, &theirs] {
        // A packet must fit, with what the kernel keeps beside it.
        sockopt::set_socket_send_buffer_size(end, bytes * 2).or_refused("a send buffer")?;
    }
    Ok((Packets(ours.into()), Packets(theirs.into())))
}

fn tcp(buffer_bytes: Option<usize>) -> Result<(TcpStream, TcpStream), KubError> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).or_refused("a TCP socket")?;
    if let Some(bytes) = buffer_bytes {
        buffers(&listener, bytes)?;
    }
    let address = listener.local_addr().or_refused("a TCP socket")?;
    let ours = TcpStream::connect(address).or_refused("a TCP connection")?;
    let (theirs, _) = listener.accept().or_refused("a TCP connection")?;
    for end in [&ours, &theirs] {
        end.set_nodelay(true).or_refused("TCP_NODELAY")?;
        if let Some(bytes) = buffer_bytes {
            buffers(end, bytes)?;
        }
    }
    Ok((ours, theirs))
}

fn buffers(socket: &impl AsFd, bytes: usize) -> Result<(), KubError> {
    use rustix::net::sockopt;
    sockopt::set_socket_send_buffer_size(socket, bytes).or_refused("a send buffer")?;
    sockopt::set_socket_recv_buffer_size(socket, bytes).or_refused("a receive buffer")
}

#[cfg(test)]
mod tests;
