//! io_uring: transfers between a file and buffers of the ring's own, submitted together and waited for together.
//!
//! - Nothing is in flight when a call returns, so nobody else's memory is ever written to.

use super::mapping::{Mapping, page_bytes};
use crate::error::{KubError, Refused};
use rustix::io_uring as uring;
use rustix::mm::MapFlags;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU32, Ordering};

/// A ring with buffers.
#[derive(Debug)]
pub(crate) struct Ring {
    descriptor: OwnedFd,
    queues: Mapping,
    entries: Mapping,
    buffers: Mapping,
    transfers: usize,
    bytes_each: usize,
    places: Places,
    is_registered: bool,
}

/// Where the queues' words are, in bytes.
#[derive(Debug, Clone, Copy)]
struct Places {
    entries: u32,
    submission_tail: u32,
    submission_array: u32,
    completion_head: u32,
    completion_tail: u32,
    completions: u32,
    completion_mask: u32,
}

/// One transfer, or the wait for those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    /// Reads into a buffer.
    Read { buffer: usize, offset: u64, bytes: u32 },
    /// Writes a buffer.
    Write { buffer: usize, offset: u64, bytes: u32 },
    /// Has what was written kept.
    DataSync,
}

/// What the kernel says of an operation that is completed.
struct Answer {
    result: i32,
    flags: uring::IoringCqeFlags,
    buffer: usize,
}

impl Ring {
    /// A ring for this many transfers at a time, with a buffer for each; known to the kernel in advance, or not.
    pub(crate) fn create(
        transfers: u32,
        bytes_each: usize,
        register: bool,
    ) -> Result<Self, KubError> {
        let bytes_each = bytes_each.next_multiple_of(page_bytes());
        let buffers = Mapping::private(bytes_each * transfers as usize)?;
        Self::over(buffers, transfers, bytes_each, register)
    }

    /// A ring whose buffers, of whole pages, lie in this memory.
    pub(crate) fn over(
        buffers: Mapping,
        transfers: u32,
        bytes_each: usize,
        register: bool,
    ) -> Result<Self, KubError> {
        assert!(bytes_each.is_multiple_of(page_bytes()), "buffers of whole pages");
        assert!(bytes_each * transfers as usize <= buffers.bytes(), "room for all buffers");
        let mut parameters = uring::io_uring_params::default();
        // SAFETY: the kernel reads and writes the parameters.
        let descriptor = unsafe { uring::io_uring_setup(transfers, &mut parameters) };
        let descriptor = descriptor.or_refused("io_uring")?;
        let (submission, completion) = (parameters.sq_off, parameters.cq_off);
        let end = |start: u32, count: u32, bytes: usize| start as usize + count as usize * bytes;
        let bytes = end(submission.array, parameters.sq_entries, size_of::<u32>()).max(end(
            completion.cqes,
            parameters.cq_entries,
            size_of::<uring::io_uring_cqe>(),
        ));
        if !parameters.features.contains(uring::IoringFeatureFlags::SINGLE_MMAP) {
            return Err(KubError::unavailable("io_uring: the kernel is older than 5.4"));
        }
        let flags = MapFlags::SHARED | MapFlags::POPULATE;
        let map = |offset, bytes| Mapping::at(descriptor.as_fd(), offset, bytes, flags);
        let queues = map(uring::IORING_OFF_SQ_RING, bytes)?;
        let entries_bytes = parameters.sq_entries as usize * size_of::<uring::io_uring_sqe>();
        let entries = map(uring::IORING_OFF_SQES, entries_bytes)?;
        let places = Places {
            entries: parameters.sq_entries,
            submission_tail: submission.tail,
            submission_array: submission.array,
            completion_head: completion.head,
            completion_tail: completion.tail,
            completions: completion.cqes,
            completion_mask: parameters.cq_entries - 1,
        };
        let mut ring = Self {
            descriptor,
            queues,
            entries,
            buffers,
            transfers: transfers as usize,
            bytes_each,
            places,
            is_registered: false,
        };
        if register {
            ring.register(transfers)?;
        }
        Ok(ring)
    }

    fn register(&mut self, transfers: u32) -> Result<(), KubError> {
        let all = (0..transfers as usize).map(|buffer| libc::iovec {
            iov_base: self.buffer(buffer).cast(),
            iov_len: self.bytes_each,
        });
        let all = all.collect::<Vec<_>>();
        let operation = uring::IoringRegisterOp::RegisterBuffers;
        // SAFETY: the kernel reads the list; the buffers are as long as the ring, which is closed first.
        let done = unsafe {
            uring::io_uring_register(&self.descriptor, operation, all.as_ptr().cast(), transfers)
        };
        done.or_refused("registered buffers of io_uring")?;
        self.is_registered = true;
        Ok(())
    }

    fn buffer(&self, buffer: usize) -> *mut u8 {
        assert!(buffer < self.transfers, "one of the ring's buffers");
        // SAFETY: within the mapping.
        unsafe { self.buffers.base().as_ptr().add(buffer * self.bytes_each) }
    }

    /// Adds one to each byte of a buffer.
    pub(crate) fn increment(&mut self, buffer: usize) {
        let first = buffer * self.bytes_each;
        self.buffers.increment(first, first + self.bytes_each);
    }

    /// The sum of a buffer's words.
    pub(crate) fn sum(&self, buffer: usize) -> u64 {
        let first = buffer * self.bytes_each;
        self.buffers.sum(first, first + self.bytes_each)
    }

    /// Reads so many bytes of a file, which are whole buffers: as many are under way as there are buffers, and the next
    /// begins when one has come and was looked at. They come in any order.
    pub(crate) fn read_all(
        &mut self,
        file: BorrowedFd<'_>,
        bytes: u64,
        mut look: impl FnMut(&Self, usize),
    ) -> Result<(), KubError> {
        let piece = u32::try_from(self.bytes_each).unwrap_or(u32::MAX);
        let mut offsets = (0..bytes).step_by(self.bytes_each);
        let begin = |ring: &Self, buffer, offset| {
            ring.submit_one(ring.entry(file, Operation::Read { buffer, offset, bytes: piece }));
        };
        let (mut to_submit, mut under_way) = (0, 0);
        for (buffer, offset) in (0..self.transfers).zip(offsets.by_ref()) {
            begin(self, buffer, offset);
            (to_submit, under_way) = (to_submit + 1, under_way + 1);
        }
        let mut done = Ok(());
        while under_way > 0 {
            to_submit = self.hand_in(to_submit, under_way, 1)?;
            while self.completed() > 0 {
                let Answer { result, buffer, .. } = self.take_one();
                under_way -= 1;
                if let Err(error) = whole(result, piece) {
                    done = Err(error);
                }
                // After an error what is under way is waited for, and nothing else is begun.
                if done.is_err() {
                    continue;
                }
                look(self, buffer);
                if let Some(offset) = offsets.next() {
                    begin(self, buffer, offset);
                    (to_submit, under_way) = (to_submit + 1, under_way + 1);
                    // At once: the device works while others are looked at.
                    to_submit = self.hand_in(to_submit, under_way, 0)?;
                }
            }
        }
        done
    }

    /// Does all of it, and waits until it is done. A sync waits for the operation before it.
    pub(crate) fn run(
        &mut self,
        file: BorrowedFd<'_>,
        operations: &[Operation],
    ) -> Result<(), KubError> {
        let count = u32::try_from(operations.len()).unwrap_or(u32::MAX);
        assert!(count <= self.places.entries, "no more than the ring takes");
        for (place, operation) in operations.iter().enumerate() {
            let mut entry = self.entry(file, *operation);
            if operations.get(place + 1) == Some(&Operation::DataSync) {
                entry.flags = uring::IoringSqeFlags::IO_LINK;
            }
            self.submit_one(entry);
        }
        let mut to_submit = count;
        while self.completed() < count {
            to_submit = self.hand_in(to_submit, count, count)?;
        }
        self.take_answers(operations)
    }

    /// Hands in what is still to be submitted of those under way, waits until so many are completed, and tells what is
    /// left to submit. It fails only if the kernel has none of them; otherwise they are to be waited for.
    fn hand_in(&self, to_submit: u32, under_way: u32, wait_for: u32) -> Result<u32, KubError> {
        let flags = uring::IoringEnterFlags::GETEVENTS;
        // SAFETY: entries name the ring's own buffers, or memory that is borrowed until the kernel needs it no more;
        // whoever entered them waits for that.
        let entered =
            unsafe { uring::io_uring_enter(&self.descriptor, to_submit, wait_for, flags) };
        match entered {
            Ok(submitted) => Ok(to_submit.saturating_sub(submitted)),
            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => Ok(to_submit),
            Err(error) if to_submit == under_way => Err(error).or_refused("io_uring_enter"),
            Err(_) => Ok(to_submit),
        }
    }

    /// Sends a whole message from where it lies, and waits until the kernel needs it no more.
    pub(crate) fn send_in_place(
        &mut self,
        socket: BorrowedFd<'_>,
        message: &[u8],
    ) -> Result<(), KubError> {
        let mut left = message;
        while !left.is_empty() {
            let sent = self.send_some_in_place(socket, left)?;
            left = &left[sent.min(left.len())..];
        }
        Ok(())
    }

    fn send_some_in_place(
        &mut self,
        socket: BorrowedFd<'_>,
        message: &[u8],
    ) -> Result<usize, KubError> {
        let mut entry = uring::io_uring_sqe { fd: socket.as_raw_fd(), ..Default::default() };
        entry.opcode = uring::IoringOp::SendZc;
        let start = message.as_ptr().cast_mut().cast::<std::ffi::c_void>();
        entry.addr_or_splice_off_in.addr = start.into();
        entry.len.len = u32::try_from(message.len()).unwrap_or(u32::MAX);
        entry.op_flags.send_flags = rustix::net::SendFlags::NOSIGNAL;
        self.submit_one(entry);
        let (mut to_submit, mut sent) = (1, None);
        loop {
            // The message is borrowed until the kernel has said that it needs it no more, however the sending ends.
            to_submit = self.hand_in(to_submit, 1, 1)?;
            while self.completed() > 0 {
                let Answer { result, flags, .. } = self.take_one();
                if !flags.contains(uring::IoringCqeFlags::NOTIF) {
                    sent = Some(result);
                }
                if !flags.contains(uring::IoringCqeFlags::MORE) {
                    let result = sent.unwrap_or(0);
                    let refused = || std::io::Error::from_raw_os_error(-result);
                    return usize::try_from(result)
                        .map_err(|_| refused())
                        .or_refused("sending in place");
                }
            }
        }
    }

    fn submit_one(&self, entry: uring::io_uring_sqe) {
        let tail = self.word(self.places.submission_tail);
        let first = tail.load(Ordering::Relaxed);
        let place = first & (self.places.entries - 1);
        self.write_entry(place, entry);
        self.word(self.places.submission_array + place * 4).store(place, Ordering::Relaxed);
        tail.store(first.wrapping_add(1), Ordering::Release);
    }

    fn take_one(&self) -> Answer {
        let head = self.word(self.places.completion_head);
        let first = head.load(Ordering::Relaxed);
        let answer = self.answer(first & self.places.completion_mask);
        head.store(first.wrapping_add(1), Ordering::Release);
        answer
    }

    fn completed(&self) -> u32 {
        let tail = self.word(self.places.completion_tail).load(Ordering::Acquire);
        tail.wrapping_sub(self.word(self.places.completion_head).load(Ordering::Relaxed))
    }

    /// What the submission queue has for an operation; its answer tells the buffer.
    fn entry(&self, file: BorrowedFd<'_>, operation: Operation) -> uring::io_uring_sqe {
        let mut entry = uring::io_uring_sqe { fd: file.as_raw_fd(), ..Default::default() };
        let (code, registered, buffer, offset, bytes) = match operation {
            Operation::Read { buffer, offset, bytes } => {
                (uring::IoringOp::Read, uring::IoringOp::ReadFixed, buffer, offset, bytes)
            }
            Operation::Write { buffer, offset, bytes } => {
                (uring::IoringOp::Write, uring::IoringOp::WriteFixed, buffer, offset, bytes)
            }
            Operation::DataSync => {
                entry.opcode = uring::IoringOp::Fsync;
                entry.op_flags.fsync_flags = uring::IoringFsyncFlags::DATASYNC;
                return entry;
            }
        };
        assert!(bytes as usize <= self.bytes_each, "no more than a buffer holds");
        entry.opcode = if self.is_registered { registered } else { code };
        entry.off_or_addr2.off = offset;
        entry.addr_or_splice_off_in.addr = self.buffer(buffer).cast::<std::ffi::c_void>().into();
        entry.len.len = bytes;
        entry.buf.buf_index = u16::try_from(buffer).expect("few buffers");
        entry.user_data.u64_ = buffer as u64;
        entry
    }

    fn write_entry(&self, place: u32, entry: uring::io_uring_sqe) {
        assert!(place < self.places.entries, "one of the queue's places");
        // SAFETY: the place is one of the queue's, which the kernel does not read before the tail passes it.
        unsafe {
            let entries = self.entries.base().as_ptr().cast::<uring::io_uring_sqe>();
            entries.add(place as usize).write(entry);
        }
    }

    /// Takes what is completed, and looks whether all was done whole.
    fn take_answers(&self, operations: &[Operation]) -> Result<(), KubError> {
        let head = self.word(self.places.completion_head);
        let first = head.load(Ordering::Relaxed);
        let (mut moved, mut failed) = (0_u64, None);
        for turn in 0..u32::try_from(operations.len()).unwrap_or(0) {
            let place = first.wrapping_add(turn) & self.places.completion_mask;
            let Answer { result, .. } = self.answer(place);
            match u64::try_from(result) {
                Ok(bytes) => moved += bytes,
                Err(_) => failed = Some(std::io::Error::from_raw_os_error(-result)),
            }
        }
        head.store(
            first.wrapping_add(u32::try_from(operations.len()).unwrap_or(0)),
            Ordering::Release,
        );
        let wanted = operations.iter().map(|operation| match operation {
            Operation::Read { bytes, .. } | Operation::Write { bytes, .. } => u64::from(*bytes),
            Operation::DataSync => 0,
        });
        match failed {
            Some(error) => Err(error).or_refused("a transfer by io_uring"),
            None if moved != wanted.sum::<u64>() => Err(KubError::broken("io_uring moved less")),
            None => Ok(()),
        }
    }

    /// What is in a place of the completion queue.
    fn answer(&self, place: u32) -> Answer {
        // SAFETY: one of the queue's places, which the kernel has written and does not write again before the head
        // passes it.
        unsafe {
            let all = self.queues.base().as_ptr().add(self.places.completions as usize);
            let entry = all.add(place as usize * size_of::<uring::io_uring_cqe>());
            let entry = &*entry.cast::<uring::io_uring_cqe>();
            let buffer = usize::try_from(entry.user_data.u64_).unwrap_or(usize::MAX);
            Answer { result: entry.res, flags: entry.flags, buffer }
        }
    }

    fn word(&self, place: u32) -> &AtomicU32 {
        self.queues.word(place as usize / 4)
    }
}

/// Whether a transfer moved all that it was to.
fn whole(result: i32, bytes: u32) -> Result<(), KubError> {
    match u32::try_from(result) {
        Ok(moved) if moved == bytes => Ok(()),
        Ok(_) => Err(KubError::broken("io_uring moved less")),
        Err(_) => {
            Err(std::io::Error::from_raw_os_error(-result)).or_refused("a transfer by io_uring")
        }
    }
}
