//! The bytes to and from one client.
//!
//! - An idle channel keeps no buffers: ten thousand of them are to be cheap.
//! - What a message says of its length is checked before it is waited for, and room is made as bytes
//!   come, never because a number says so.

use super::backend::Output;
use super::startup::{OPENING_BYTES_MAX, Opening};
use crate::error::{Failure, SqlState};
use bytes::{Buf, Bytes, BytesMut};
use std::future::poll_fn;
use std::io;
use std::mem::{self, MaybeUninit};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

/// Bytes that one read takes at most.
const READ_BYTES: usize = 16 << 10;
/// Bytes that gather before they are sent without being asked for.
const WRITE_BYTES: usize = 64 << 10;
/// Bytes of a message of somebody who has not been let in yet: a step of SASL has a few hundred.
const STRANGER_BYTES_MAX: usize = 16 << 10;
/// Bytes that a client may send ahead while a statement runs.
const AHEAD_BYTES_MAX: usize = 1 << 20;
/// How long a connection that ends waits for its client to read: as long as a slow network takes, and less than
/// a server that stops is given.
const GOODBYE_TIME: Duration = Duration::from_secs(1);
/// The first byte of TLS: a record of its handshake. No length of a first message begins with it.
const HANDSHAKE: u8 = 0x16;

/// What connects to a client.
pub(crate) trait Socket: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Socket for T {}

/// A message without its meaning.
#[derive(Debug)]
pub(crate) struct Frame {
    pub(crate) kind: u8,
    pub(crate) body: Bytes,
}

/// The way to a client and back.
pub(crate) struct Channel {
    socket: Box<dyn Socket>,
    input: BytesMut,
    pub(crate) output: Output,
    message_bytes_max: usize,
}

impl Channel {
    /// Of somebody who has not been let in yet.
    pub(crate) fn new(socket: Box<dyn Socket>) -> Self {
        let (input, output) = Default::default();
        Self { socket, input, output, message_bytes_max: STRANGER_BYTES_MAX }
    }

    /// Messages may have so many bytes from now on.
    pub(crate) fn expect(&mut self, message_bytes_max: usize) {
        self.message_bytes_max = message_bytes_max;
    }

    /// The next message; none at the end.
    ///
    /// # Errors
    /// A fatal `08P01` where no further message could be told from its middle.
    pub(crate) async fn frame(&mut self) -> Result<Option<Frame>, Failure> {
        loop {
            if let Some(frame) = self.frame_at_hand()? {
                return Ok(Some(frame));
            }
            if self.fill().await? == 0 {
                return Ok(None);
            }
        }
    }

    /// The next message, where it is here already.
    fn frame_at_hand(&mut self) -> Result<Option<Frame>, Failure> {
        let Some((kind, rest)) = self.input.split_first() else { return Ok(None) };
        let Some(length) = rest.first_chunk() else { return Ok(None) };
        let kind = *kind;
        let length = self.checked_length(i32::from_be_bytes(*length), self.message_bytes_max)?;
        if self.input.len() < 1 + length {
            return Ok(None);
        }
        self.input.advance(5);
        let body = self.input.split_to(length - 4).freeze();
        if self.input.is_empty() {
            self.input = BytesMut::new();
        }
        Ok(Some(Frame { kind, body }))
    }

    /// The type of the next message, where it has come.
    pub(crate) fn next_kind(&self) -> Option<u8> {
        self.input.first().copied()
    }

    /// The first message, or the one after encryption was agreed; none at the end.
    pub(crate) async fn opening(&mut self) -> Result<Option<Opening>, Failure> {
        loop {
            if self.input.first() == Some(&HANDSHAKE) {
                return Ok(Some(Opening::Handshake));
            }
            if let Some(length) = self.input.first_chunk() {
                let length = self.checked_length(i32::from_be_bytes(*length), OPENING_BYTES_MAX)?;
                if self.input.len() >= length {
                    self.input.advance(4);
                    return Opening::read(self.input.split_to(length - 4).freeze()).map(Some);
                }
            }
            if self.fill().await? == 0 {
                return Ok(None);
            }
        }
    }

    fn checked_length(&self, length: i32, limit: usize) -> Result<usize, Failure> {
        match usize::try_from(length) {
            Ok(length) if (4..=limit).contains(&length) => Ok(length),
            Ok(length) if length > limit => Err(Failure::fatal(
                SqlState::PROGRAM_LIMIT_EXCEEDED,
                format!("a message of {length} bytes is longer than {limit}, which is the limit"),
            )),
            _ => {
                let text = format!("a message has the impossible length {length}");
                Err(Failure::fatal(SqlState::PROTOCOL_VIOLATION, text))
            }
        }
    }

    /// Reads what there is, waiting for something; returns how many bytes, 0 at the end.
    async fn fill(&mut self) -> io::Result<usize> {
        poll_fn(|context| self.poll_fill(context)).await
    }

    /// Reads what there is, without waiting; whether that is something, or the end.
    pub(crate) async fn fill_now(&mut self) -> bool {
        poll_fn(|context| Poll::Ready(self.poll_fill(context).is_ready())).await
    }

    fn poll_fill(&mut self, context: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let Self { socket, input, .. } = self;
        // Not across waiting, so that it is no part of an idle connection.
        let mut space = [MaybeUninit::uninit(); READ_BYTES];
        let mut read = ReadBuf::uninit(&mut space);
        let polled = Pin::new(&mut **socket).poll_read(context, &mut read);
        polled.map_ok(|()| {
            input.extend_from_slice(read.filled());
            read.filled().len()
        })
    }

    /// Waits until the client is gone, reading what it sends ahead.
    pub(crate) async fn gone(&mut self) {
        while self.input.len() < AHEAD_BYTES_MAX {
            if matches!(self.fill().await, Ok(0) | Err(_)) {
                return;
            }
        }
        std::future::pending().await
    }

    /// Sends what has gathered.
    pub(crate) async fn flush(&mut self) -> io::Result<()> {
        let bytes = self.output.take();
        if !bytes.is_empty() {
            self.socket.write_all(&bytes).await?;
        }
        self.socket.flush().await
    }

    /// Sends what has gathered, when it is much.
    pub(crate) async fn flush_much(&mut self) -> io::Result<()> {
        if self.output.len() >= WRITE_BYTES { self.flush().await } else { Ok(()) }
    }

    /// Agrees on encryption, as the server; gives what the client says that it speaks. What has come is the
    /// beginning of the handshake.
    ///
    /// # Errors
    /// The client is lost where it gives up, or nothing can be agreed on.
    pub(crate) async fn encrypt(
        &mut self,
        acceptor: &TlsAcceptor,
    ) -> Result<Option<Vec<u8>>, Failure> {
        let mut plain = mem::replace(&mut self.socket, Box::new(tokio::io::empty()));
        let begun = mem::take(&mut self.input);
        if !begun.is_empty() {
            let (reader, writer) = tokio::io::split(plain);
            let reader = AsyncReadExt::chain(io::Cursor::new(begun.freeze()), reader);
            plain = Box::new(tokio::io::join(reader, writer));
        }
        let encrypted = acceptor.accept(plain).await.inspect_err(|error| {
            tracing::info!(%error, "no encryption was agreed on");
        })?;
        let spoken = encrypted.get_ref().1.alpn_protocol().map(<[u8]>::to_vec);
        self.socket = Box::new(encrypted);
        Ok(spoken)
    }

    /// Whether bytes have come that nobody has read.
    pub(crate) fn has_input(&self) -> bool {
        !self.input.is_empty()
    }

    /// One byte that is no message: the answer to a request for encryption.
    pub(crate) async fn send_byte(&mut self, byte: u8) -> io::Result<()> {
        self.socket.write_all(&[byte]).await?;
        self.socket.flush().await
    }

    /// Says goodbye.
    pub(crate) async fn close(&mut self) {
        let goodbye = async {
            // The client may be gone already.
            let _ = self.flush().await;
            let _ = self.socket.shutdown().await;
        };
        // Who does not read keeps nobody waiting.
        let _ = timeout(GOODBYE_TIME, goodbye).await;
    }
}

impl std::fmt::Debug for Channel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (input, output) = (self.input.len(), self.output.len());
        f.debug_struct("Channel").field("input", &input).field("output", &output).finish()
    }
}
