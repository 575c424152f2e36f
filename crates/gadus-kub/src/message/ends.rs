//! Ends: each sends and receives in a way of its own.

use super::clients::Descriptors;
use crate::error::{KubError, Refused};
use crate::system::{Inbox, Outbox, Ring, read_from_process};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

/// The length in front of a message, and its number behind that.
pub(super) const LENGTH_BYTES: usize = 4;
pub(super) const MESSAGE_BYTES_MIN: usize = LENGTH_BYTES + 8;

/// An end that sends and receives.
pub(super) trait End {
    /// Sends a whole message.
    fn send(&mut self, message: &[u8]) -> Result<(), KubError>;

    /// Receives the first four bytes, or more of it where parts cannot be had.
    fn receive_length(&mut self, buffer: &mut [u8]) -> Result<(), KubError>;

    /// Receives what is left.
    fn receive_rest(&mut self, buffer: &mut [u8]) -> Result<(), KubError>;
}

/// What comes and goes through two descriptors, or through one that does both.
pub(super) struct Stream<R, W> {
    pub(super) incoming: R,
    pub(super) outgoing: W,
}

/// Sends by a ring, and receives as others do.
pub(super) struct InPlace {
    pub(super) stream: Stream<TcpStream, TcpStream>,
    pub(super) ring: Ring,
}

/// Whole messages, or nothing.
pub(super) struct Packets(pub(super) UnixStream);

pub(super) struct Shared {
    pub(super) out: Outbox,
    pub(super) inbox: Inbox,
}

/// What is sent is where a message lies, and its length.
pub(super) const ADDRESS_BYTES: usize = 16;

/// An end that tells where its message lies. The sender must not change it before it is answered.
pub(super) struct ProcessMemory {
    out: Outbox,
    inbox: Inbox,
    /// The other process.
    pub(super) other: Option<i32>,
    /// Where what was announced lies.
    address: u64,
}

/// A place that the callee has.
pub(super) struct Call {
    pub(super) place: Vec<u8>,
}

/// Receives a message and sends it back.
pub(super) fn echo(end: &mut dyn End, buffer: &mut [u8]) -> Result<(), KubError> {
    end.receive_length(buffer)?;
    let length = length_of(buffer).min(buffer.len());
    end.receive_rest(&mut buffer[..length])?;
    end.send(&buffer[..length])
}

pub(super) fn length_of(message: &[u8]) -> usize {
    let mut length = [0; LENGTH_BYTES];
    length.copy_from_slice(&message[..LENGTH_BYTES]);
    u32::from_le_bytes(length) as usize
}

impl<E: End + ?Sized> End for Box<E> {
    fn send(&mut self, message: &[u8]) -> Result<(), KubError> {
        (**self).send(message)
    }

    fn receive_length(&mut self, buffer: &mut [u8]) -> Result<(), KubError> {
        (**self).receive_length(buffer)
    }

    fn receive_rest(&mut self, buffer: &mut [u8]) -> Result<(), KubError> {
        (**self).receive_rest(buffer)
    }
}

impl<R: Read, W: Write> End for Stream<R, W> {
    fn send(&mut self, message: &[u8]) -> Result<(), KubError> {
        self.outgoing.write_all(message).or_refused("a message cannot be sent")
    }

    fn receive_length(&mut self, buffer: &mut [u8]) -> Result<(), KubError> {
        let length = &mut buffer[..LENGTH_BYTES];
        self.incoming.read_exact(length).or_refused("a message cannot be received")
    }

    fn receive_rest(&mut self, buffer: &mut [u8]) -> Result<(), KubError> {
        let rest = &mut buffer[LENGTH_BYTES..];
        self.incoming.read_exact(rest).or_refused("a message cannot be received")
    }
}

impl<R: Read + AsFd, W: Write> Descriptors for Stream<R, W> {
    fn incoming(&self) -> BorrowedFd<'_> {
        self.incoming.as_fd()
    }
}

impl End for InPlace {
    fn send(&mut self, message: &[u8]) -> Result<(), KubError> {
        self.ring.send_in_place(self.stream.outgoing.as_fd(), message)
    }

    fn receive_length(&mut self, buffer: &mut [u8]) -> Result<(), KubError> {
        self.stream.receive_length(buffer)
    }

    fn receive_rest(&mut self, buffer: &mut [u8]) -> Result<(), KubError> {
        self.stream.receive_rest(buffer)
    }
}

impl End for Packets {
    fn send(&mut self, message: &[u8]) -> Result<(), KubError> {
        let sent = self.0.write(message).or_refused("a packet cannot be sent")?;
        if sent == message.len() { Ok(()) } else { Err(KubError::broken("half a packet was sent")) }
    }

    fn receive_length(&mut self, buffer: &mut [u8]) -> Result<(), KubError> {
        match self.0.read(buffer).or_refused("a packet cannot be received")? {
            0 => Err(KubError::broken("the other end is gone")),
            _ => Ok(()),
        }
    }

    fn receive_rest(&mut self, _: &mut [u8]) -> Result<(), KubError> {
        Ok(())
    }
}

impl End for Shared {
    fn send(&mut self, message: &[u8]) -> Result<(), KubError> {
        self.out.put(message);
        Ok(())
    }

    fn receive_length(&mut self, buffer: &mut [u8]) -> Result<(), KubError> {
        self.inbox.take(buffer);
        Ok(())
    }

    fn receive_rest(&mut self, _: &mut [u8]) -> Result<(), KubError> {
        Ok(())
    }
}

impl ProcessMemory {
    pub(super) fn new(out: Outbox, inbox: Inbox, other: Option<i32>) -> Self {
        Self { out, inbox, other, address: 0 }
    }

    fn copy_from_other(&self, to: &mut [u8]) -> Result<(), KubError> {
        let other = self.other.ok_or_else(|| KubError::broken("nobody is on the other side"))?;
        match read_from_process(other, self.address, to).or_refused("process_vm_readv")? {
            read if read == to.len() => Ok(()),
            _ => Err(KubError::broken("half a message was copied")),
        }
    }
}

impl End for ProcessMemory {
    fn send(&mut self, message: &[u8]) -> Result<(), KubError> {
        let mut announced = [0; ADDRESS_BYTES];
        announced[..8].copy_from_slice(&(message.as_ptr().addr() as u64).to_le_bytes());
        announced[8..].copy_from_slice(&(message.len() as u64).to_le_bytes());
        self.out.put(&announced);
        Ok(())
    }

    fn receive_length(&mut self, buffer: &mut [u8]) -> Result<(), KubError> {
        let mut announced = [0; ADDRESS_BYTES];
        self.inbox.take(&mut announced);
        let [mut address, mut length] = [[0; 8]; 2];
        address.copy_from_slice(&announced[..8]);
        length.copy_from_slice(&announced[8..]);
        self.address = u64::from_le_bytes(address);
        let length = crate::numbers::size(u64::from_le_bytes(length)).min(buffer.len());
        self.copy_from_other(&mut buffer[..length])
    }

    fn receive_rest(&mut self, _: &mut [u8]) -> Result<(), KubError> {
        Ok(())
    }
}

impl End for Call {
    #[inline(never)]
    fn send(&mut self, message: &[u8]) -> Result<(), KubError> {
        self.place[..message.len()].copy_from_slice(message);
        std::hint::black_box(&mut self.place);
        Ok(())
    }

    #[inline(never)]
    fn receive_length(&mut self, buffer: &mut [u8]) -> Result<(), KubError> {
        let length = length_of(&self.place);
        buffer[..length].copy_from_slice(&self.place[..length]);
        Ok(())
    }

    fn receive_rest(&mut self, _: &mut [u8]) -> Result<(), KubError> {
        Ok(())
    }
}
