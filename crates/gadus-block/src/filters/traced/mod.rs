//! A folder that records what is done to it, in one order over all its devices.
//!
//! - Only what succeeded is recorded: a failed write's partial bytes are not part of an image.
//! - A sync covers the events recorded before it *began*, so concurrent writes stay unsynced.
//! - What the inner folder held before is durable; a device joins the trace when first opened.
//! - [`Trace::image`] rebuilds the folder as it would be found after a crash at any point.

mod image;

pub use image::CrashPolicy;

use super::pass_on;
use crate::backends::MemoryFolder;
use crate::device::{Device, Folder, Hint, OpenMode};
use crate::error::BlockError;
use image::Replay;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::io::IoSlice;
use std::ops::Range;
use std::sync::Arc;

/// A folder with a record of what is done to it.
#[derive(Debug)]
pub struct TracedFolder {
    inner: Arc<dyn Folder>,
    trace: Trace,
}

/// The record; clones are the same record.
#[derive(Debug, Clone, Default)]
pub struct Trace {
    state: Arc<Mutex<State>>,
}

/// One recorded operation. `device` numbers the created or found devices, not their names: a name
/// that is removed and created again is another device.
#[derive(Debug, Clone)]
pub enum Event {
    /// A device that held these bytes before it was first opened.
    Found {
        /// Its number.
        device: usize,
        /// Its name.
        name: Arc<str>,
        /// What it held.
        bytes: Arc<[u8]>,
    },
    /// A new device.
    Create {
        /// Its number.
        device: usize,
        /// Its name.
        name: Arc<str>,
    },
    /// A name that is gone.
    Remove {
        /// The name.
        name: Arc<str>,
    },
    /// A changed length.
    SetLength {
        /// The device's number.
        device: usize,
        /// The new length.
        bytes: u64,
    },
    /// A write.
    Write {
        /// The device's number.
        device: usize,
        /// Where.
        offset: u64,
        /// What.
        bytes: Arc<[u8]>,
    },
    /// A sync of a device.
    Sync {
        /// The device's number.
        device: usize,
        /// Events before this index are covered.
        covers: usize,
    },
    /// A sync of the folder.
    SyncFolder {
        /// Events before this index are covered.
        covers: usize,
    },
}

#[derive(Debug, Default)]
struct State {
    events: Vec<Event>,
    numbers: BTreeMap<String, usize>,
    devices: usize,
    replay: Replay,
    /// Beside the events: reads change nothing.
    reads: Vec<(usize, Range<u64>)>,
    hints: Vec<(usize, Range<u64>, Hint)>,
}

#[derive(Debug)]
struct TracedDevice {
    inner: Arc<dyn Device>,
    number: usize,
    trace: Trace,
}

impl Trace {
    /// Events so far; every operation that has returned is among them.
    #[must_use]
    pub fn len(&self) -> usize {
        self.state.lock().events.len()
    }

    /// Whether nothing has happened.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The events so far; their bytes are shared.
    #[must_use]
    pub fn events(&self) -> Vec<Event> {
        self.state.lock().events.clone()
    }

    /// What was read of a device so far, in order.
    #[must_use]
    pub fn reads(&self, name: &str) -> Vec<Range<u64>> {
        let state = self.state.lock();
        let of_device = |(device, _): &&(usize, _)| state.numbers.get(name) == Some(device);
        state.reads.iter().filter(of_device).map(|(_, range)| range.clone()).collect()
    }

    /// What was said of a device so far that will be read or not, in order.
    #[must_use]
    pub fn hints(&self, name: &str) -> Vec<(Range<u64>, Hint)> {
        let state = self.state.lock();
        let of_device = |(device, ..): &&(usize, _, _)| state.numbers.get(name) == Some(device);
        state
            .hints
            .iter()
            .filter(of_device)
            .map(|(_, range, hint)| (range.clone(), *hint))
            .collect()
    }

    /// The folder as found after a crash when `up_to` events had happened.
    ///
    /// Images in rising order of `up_to` are cheap: what is durable is carried forward.
    #[must_use]
    pub fn image(&self, up_to: usize, policy: CrashPolicy) -> MemoryFolder {
        let state = &mut *self.state.lock();
        assert!(up_to <= state.events.len(), "the trace has not come that far");
        state.replay.advance(&state.events, up_to);
        state.replay.image(&state.events, policy)
    }
}

impl State {
    fn new_device(&mut self, name: &str) -> usize {
        let device = self.devices;
        self.devices += 1;
        self.numbers.insert(name.to_owned(), device);
        device
    }
}

impl TracedFolder {
    /// `inner`, recorded into the trace that is returned with it.
    #[must_use]
    pub fn new(inner: Arc<dyn Folder>) -> (Self, Trace) {
        let trace = Trace::default();
        (Self { inner, trace: trace.clone() }, trace)
    }
}

impl Folder for TracedFolder {
    fn open(&self, name: &str, mode: OpenMode) -> Result<Arc<dyn Device>, BlockError> {
        let mut state = self.trace.state.lock();
        let inner = self.inner.open(name, mode)?;
        let known = state.numbers.get(name).copied();
        let number = match (mode, known) {
            (OpenMode::Create, _) => {
                let device = state.new_device(name);
                state.events.push(Event::Create { device, name: name.into() });
                device
            }
            (_, Some(device)) => device,
            (_, None) => {
                let length = usize::try_from(inner.length()?).unwrap_or(usize::MAX);
                let mut bytes = vec![0; length];
                inner.read_at(0, &mut bytes)?;
                let device = state.new_device(name);
                state.events.push(Event::Found { device, name: name.into(), bytes: bytes.into() });
                device
            }
        };
        Ok(Arc::new(TracedDevice { inner, number, trace: self.trace.clone() }))
    }

    fn exists(&self, name: &str) -> Result<bool, BlockError> {
        self.inner.exists(name)
    }

    fn remove(&self, name: &str) -> Result<(), BlockError> {
        let mut state = self.trace.state.lock();
        self.inner.remove(name)?;
        state.numbers.remove(name);
        state.events.push(Event::Remove { name: name.into() });
        Ok(())
    }

    fn sync(&self) -> Result<(), BlockError> {
        let covers = self.trace.len();
        self.inner.sync()?;
        self.trace.state.lock().events.push(Event::SyncFolder { covers });
        Ok(())
    }

    fn describe(&self, name: &str) -> String {
        self.inner.describe(name)
    }
}

impl Device for TracedDevice {
    pass_on!(all but hints);

    fn hint(&self, range: Range<u64>, hint: Hint) {
        self.inner.hint(range.clone(), hint);
        self.trace.state.lock().hints.push((self.number, range, hint));
    }

    fn set_length(&self, bytes: u64) -> Result<(), BlockError> {
        // Held across the operation, so that the record has the order of the effects.
        let mut state = self.trace.state.lock();
        self.inner.set_length(bytes)?;
        state.events.push(Event::SetLength { device: self.number, bytes });
        Ok(())
    }

    fn read_at(&self, offset: u64, into: &mut [u8]) -> Result<(), BlockError> {
        self.inner.read_at(offset, into)?;
        let range = offset..offset + into.len() as u64;
        self.trace.state.lock().reads.push((self.number, range));
        Ok(())
    }

    fn write_at(&self, offset: u64, pieces: &[IoSlice<'_>]) -> Result<(), BlockError> {
        let mut state = self.trace.state.lock();
        self.inner.write_at(offset, pieces)?;
        let bytes = pieces.iter().map(|piece| &**piece).collect::<Vec<_>>().concat();
        if !bytes.is_empty() {
            let bytes = bytes.into();
            state.events.push(Event::Write { device: self.number, offset, bytes });
        }
        Ok(())
    }

    fn sync(&self) -> Result<(), BlockError> {
        let covers = self.trace.len();
        self.inner.sync()?;
        let event = Event::Sync { device: self.number, covers };
        self.trace.state.lock().events.push(event);
        Ok(())
    }

    fn discard(&self, range: Range<u64>) -> Result<(), BlockError> {
        // What a discarded range holds is undefined, so images may keep the old bytes.
        self.inner.discard(range)
    }

    fn reserve(&self, range: Range<u64>) -> Result<(), BlockError> {
        self.inner.reserve(range)
    }
}
