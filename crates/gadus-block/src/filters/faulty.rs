//! A folder that fails on request: the n-th read, write, sync or other operation, once or for ever.
//!
//! - Deterministic: operations of each kind are counted from 1 over the whole folder, or over the
//!   one device that a rule names; a test runs once to learn the counts, then fails each in turn.
//! - A fault either says so (error, partial write, power off) or lies (flipped bit, lost or
//!   misdirected write), as disks do.

use super::pass_on;
use crate::device::{Device, Folder, OpenMode};
use crate::error::{BlockError, ErrorKind, Operation};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::io::IoSlice;
use std::ops::Range;
use std::sync::Arc;

/// A folder with faults.
#[derive(Debug)]
pub struct FaultyFolder {
    inner: Arc<dyn Folder>,
    plan: FaultPlan,
}

/// Which operations fail, and how; clones are the same plan.
#[derive(Debug, Clone, Default)]
pub struct FaultPlan {
    state: Arc<Mutex<State>>,
}

/// What happens instead of the operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// It fails with this kind and changes nothing.
    Error(ErrorKind),
    /// A write stores its first bytes only, then fails with this kind.
    Partial(usize, ErrorKind),
    /// A read succeeds with this bit, counted from the start of its bytes, flipped.
    FlipBit(usize),
    /// A write says that it succeeded, and the old bytes stay.
    Lost,
    /// A write says that it succeeded, and its bytes land this far behind their place.
    Misdirected(u64),
    /// It and everything after it fails.
    PowerOff,
}

/// How often a rule strikes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeat {
    /// At its operation only.
    Once,
    /// At its operation and each later one of the kind.
    Forever,
}

#[derive(Debug, Default)]
struct State {
    counts: BTreeMap<(Option<String>, Operation), u64>,
    rules: Vec<Rule>,
    power_off: bool,
}

#[derive(Debug)]
struct Rule {
    device: Option<String>,
    operation: Operation,
    nth: u64,
    repeat: Repeat,
    fault: Fault,
}

#[derive(Debug)]
struct FaultyDevice {
    inner: Arc<dyn Device>,
    described: String,
    plan: FaultPlan,
}

impl FaultPlan {
    /// A plan without faults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Strikes at the `nth` operation of a kind, counted from 1 since the plan was made, on any
    /// device.
    pub fn fail(&self, operation: Operation, nth: u64, repeat: Repeat, fault: Fault) {
        self.state.lock().rules.push(Rule { device: None, operation, nth, repeat, fault });
    }

    /// As [`FaultPlan::fail`], counting the operations of one device only.
    pub fn fail_on(
        &self,
        device: &str,
        operation: Operation,
        nth: u64,
        repeat: Repeat,
        fault: Fault,
    ) {
        let device = Some(device.to_owned());
        self.state.lock().rules.push(Rule { device, operation, nth, repeat, fault });
    }

    /// Strikes at the next operation of a kind on one device.
    pub fn fail_next(&self, device: &str, operation: Operation, fault: Fault) {
        let nth = self.count_on(device, operation) + 1;
        self.fail_on(device, operation, nth, Repeat::Once, fault);
    }

    /// From now on everything fails.
    pub fn power_off(&self) {
        self.state.lock().power_off = true;
    }

    /// From now on nothing fails; counts go on.
    pub fn heal(&self) {
        let mut state = self.state.lock();
        state.rules.clear();
        state.power_off = false;
    }

    /// Operations of a kind so far, failed ones included.
    #[must_use]
    pub fn count(&self, operation: Operation) -> u64 {
        self.state.lock().counts.get(&(None, operation)).copied().unwrap_or(0)
    }

    /// Operations of a kind on one device so far.
    #[must_use]
    pub fn count_on(&self, device: &str, operation: Operation) -> u64 {
        let key = (Some(device.to_owned()), operation);
        self.state.lock().counts.get(&key).copied().unwrap_or(0)
    }

    /// Counts an operation and says what happens instead of it.
    fn strike(&self, device: &str, operation: Operation) -> Option<Fault> {
        let mut state = self.state.lock();
        let mut counted = |key| {
            let count: &mut u64 = state.counts.entry((key, operation)).or_default();
            *count += 1;
            *count
        };
        let (here, anywhere) = (counted(Some(device.to_owned())), counted(None));
        if state.power_off {
            return Some(Fault::PowerOff);
        }
        let strikes = |rule: &&Rule| {
            let count = match rule.device.as_deref() {
                None => anywhere,
                Some(name) if name == device => here,
                Some(_) => return false,
            };
            rule.operation == operation
                && match rule.repeat {
                    Repeat::Once => count == rule.nth,
                    Repeat::Forever => count >= rule.nth,
                }
        };
        let fault = state.rules.iter().find(strikes).map(|rule| rule.fault);
        state.power_off |= fault == Some(Fault::PowerOff);
        fault
    }
}

impl FaultyFolder {
    /// `inner`, failing as `plan` says.
    #[must_use]
    pub fn new(inner: Arc<dyn Folder>, plan: FaultPlan) -> Self {
        Self { inner, plan }
    }

    fn check(&self, name: &str, operation: Operation) -> Result<(), BlockError> {
        check(&self.plan, name, operation, || self.inner.describe(name))
    }
}

/// For operations that can fail but not lie.
fn check(
    plan: &FaultPlan,
    name: &str,
    operation: Operation,
    described: impl Fn() -> String,
) -> Result<(), BlockError> {
    match plan.strike(name, operation) {
        None => Ok(()),
        Some(Fault::Error(kind) | Fault::Partial(_, kind)) => {
            Err(BlockError::new(kind, operation, described()))
        }
        Some(_) => Err(BlockError::new(ErrorKind::Io, operation, described())),
    }
}

impl Folder for FaultyFolder {
    fn open(&self, name: &str, mode: OpenMode) -> Result<Arc<dyn Device>, BlockError> {
        let operation = if mode == OpenMode::Create { Operation::Create } else { Operation::Open };
        self.check(name, operation)?;
        let inner = self.inner.open(name, mode)?;
        let described = self.inner.describe(name);
        Ok(Arc::new(FaultyDevice { inner, described, plan: self.plan.clone() }))
    }

    fn exists(&self, name: &str) -> Result<bool, BlockError> {
        self.inner.exists(name)
    }

    fn remove(&self, name: &str) -> Result<(), BlockError> {
        self.check(name, Operation::Remove)?;
        self.inner.remove(name)
    }

    fn sync(&self) -> Result<(), BlockError> {
        self.check("", Operation::SyncFolder)?;
        self.inner.sync()
    }

    fn describe(&self, name: &str) -> String {
        self.inner.describe(name)
    }
}

impl FaultyDevice {
    fn check(&self, operation: Operation) -> Result<(), BlockError> {
        check(&self.plan, self.inner.name(), operation, || self.described.clone())
    }

    fn failed(&self, kind: ErrorKind, operation: Operation, offset: u64) -> BlockError {
        BlockError::new(kind, operation, self.described.clone()).at(offset)
    }
}

impl Device for FaultyDevice {
    pass_on!();

    fn set_length(&self, bytes: u64) -> Result<(), BlockError> {
        self.check(Operation::SetLength)?;
        self.inner.set_length(bytes)
    }

    fn read_at(&self, offset: u64, into: &mut [u8]) -> Result<(), BlockError> {
        match self.plan.strike(self.inner.name(), Operation::Read) {
            Some(Fault::Error(kind)) => Err(self.failed(kind, Operation::Read, offset)),
            Some(Fault::PowerOff) => Err(self.failed(ErrorKind::Io, Operation::Read, offset)),
            Some(Fault::FlipBit(bit)) => {
                self.inner.read_at(offset, into)?;
                if let Some(byte) = into.get_mut(bit / 8) {
                    *byte ^= 1 << (bit % 8);
                }
                Ok(())
            }
            // The other faults are faults of writes.
            Some(Fault::Partial(..) | Fault::Lost | Fault::Misdirected(_)) | None => {
                self.inner.read_at(offset, into)
            }
        }
    }

    fn write_at(&self, offset: u64, pieces: &[IoSlice<'_>]) -> Result<(), BlockError> {
        match self.plan.strike(self.inner.name(), Operation::Write) {
            Some(Fault::Error(kind)) => Err(self.failed(kind, Operation::Write, offset)),
            Some(Fault::PowerOff) => Err(self.failed(ErrorKind::Io, Operation::Write, offset)),
            Some(Fault::Partial(bytes, kind)) => {
                let whole = pieces.iter().flat_map(|piece| piece.iter().copied());
                let stored: Vec<u8> = whole.take(bytes).collect();
                self.inner.write_at(offset, &[IoSlice::new(&stored)])?;
                Err(self.failed(kind, Operation::Write, offset))
            }
            Some(Fault::Lost) => Ok(()),
            Some(Fault::Misdirected(by)) => self.inner.write_at(offset + by, pieces),
            Some(Fault::FlipBit(_)) | None => self.inner.write_at(offset, pieces),
        }
    }

    fn sync(&self) -> Result<(), BlockError> {
        self.check(Operation::Sync)?;
        self.inner.sync()
    }

    fn discard(&self, range: Range<u64>) -> Result<(), BlockError> {
        self.check(Operation::Discard)?;
        self.inner.discard(range)
    }

    fn reserve(&self, range: Range<u64>) -> Result<(), BlockError> {
        self.check(Operation::Reserve)?;
        self.inner.reserve(range)
    }
}
