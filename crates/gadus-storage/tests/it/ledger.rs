//! The smallest engine over a store whose every byte can be checked: a ledger of keys with blobs.
//!
//! - The state after a commit is known by its number: the history's checksum and the live keys.
//! - A blob's bytes follow from its key, so that any mix-up shows.

use gadus_base::{ByteReader, ByteWriter, CommitNumber, LogPosition, Random, checksum};
use gadus_block::Folder;
use gadus_storage::{BlobRef, Extent, ExtentRef, Options, StorageError, Store};
use std::collections::BTreeMap;
use std::io::IoSlice;
use std::sync::Arc;

pub(crate) const NAME: &str = "x.gadus";

pub(crate) fn options() -> Options {
    Options { log_zone_bytes: 4096, ..Options::default() }
}

#[derive(Debug)]
pub(crate) struct Ledger {
    pub(crate) store: Store,
    pub(crate) state: State,
    pub(crate) end: LogPosition,
    pub(crate) warnings: Vec<String>,
    extents: BTreeMap<u64, Arc<Extent>>,
}

/// What can be compared.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct State {
    pub(crate) commit: CommitNumber,
    pub(crate) history: u64,
    pub(crate) keys: BTreeMap<u64, Vec<BlobRef>>,
}

/// What a record does.
#[derive(Debug, Clone, Default)]
struct Change {
    added: Option<(u64, ExtentRef, Vec<BlobRef>)>,
    dropped: Vec<u64>,
    filler: Vec<u8>,
}

fn content(key: u64, index: usize, bytes: u64) -> Vec<u8> {
    let mut random = Random::seeded(key ^ ((index as u64) << 32));
    (0..bytes).map(|_| random.next_u64().to_le_bytes()[0]).collect()
}

impl Ledger {
    pub(crate) fn create(folder: Arc<dyn Folder>, options: Options) -> Result<Self, StorageError> {
        let store = Store::create(folder, NAME, options)?;
        Ok(Self::new(store, Vec::new()))
    }

    fn new(store: Store, warnings: Vec<String>) -> Self {
        let end = store.appended();
        Self { store, state: State::default(), end, warnings, extents: BTreeMap::new() }
    }

    /// Opens and replays; every extent named on the way is adopted.
    pub(crate) fn open(folder: Arc<dyn Folder>, options: Options) -> Result<Self, StorageError> {
        let (store, recovered) = Store::open(folder, NAME, options)?;
        let mut ledger = Self::new(store, recovered.warnings);
        if let Some(root) = &recovered.root {
            ledger.load(root)?;
        }
        assert_eq!(ledger.state.commit, recovered.commit);
        for record in &recovered.records {
            assert_eq!(record.commit, ledger.state.commit.next(), "no commit is skipped");
            ledger.apply(&record.payload)?;
        }
        ledger.store.finish_recovery()?;
        Ok(ledger)
    }

    /// One commit of random content; durable when `wait`.
    pub(crate) fn commit(&mut self, random: &mut Random, wait: bool) -> Result<(), StorageError> {
        let mut change = Change::default();
        if random.chance(0.4) {
            let key = random.next_u64() >> 8;
            let sizes: Vec<u64> = (0..random.below(3) + 1).map(|_| random.below(3000)).collect();
            let blobs: Vec<Vec<u8>> = sizes
                .iter()
                .enumerate()
                .map(|(index, bytes)| content(key, index, *bytes))
                .collect();
            let slices: Vec<&[u8]> = blobs.iter().map(Vec::as_slice).collect();
            let (extent, references) = self.store.write_extent(&slices)?;
            self.store.sync_data()?;
            change.added = Some((key, extent.reference(), references));
            self.extents.insert(key, extent);
        }
        if self.state.keys.len() > 4 || random.chance(0.1) {
            change.dropped.extend(self.state.keys.keys().next());
        }
        let length = match random.below(20) {
            0 => random.below(9000), // over zones
            1..5 => random.below(900),
            _ => random.below(60),
        };
        change.filler = (0..length).map(|_| random.next_u64().to_le_bytes()[1]).collect();
        let payload = change.encode();
        let (front, back) = payload.split_at(payload.len() / 2);
        let pieces = [IoSlice::new(front), IoSlice::new(back)];
        let appended = self.store.append(self.state.commit.next(), &pieces);
        if appended.is_err()
            && let Some((key, ..)) = change.added
        {
            self.extents.remove(&key);
        }
        self.end = appended?;
        self.apply(&payload)?;
        if wait { self.store.wait_durable(self.end) } else { Ok(()) }
    }

    pub(crate) fn checkpoint(&mut self) -> Result<(), StorageError> {
        self.store.checkpoint(&self.root(), self.state.commit, self.end)
    }

    /// Reads every live blob.
    pub(crate) fn verify(&self) {
        for (key, blobs) in &self.state.keys {
            for (index, blob) in blobs.iter().enumerate() {
                let bytes = self.store.read_blob(blob).unwrap();
                assert_eq!(bytes[..], content(*key, index, blob.bytes)[..]);
                assert!(bytes.as_ptr().addr().is_multiple_of(64));
            }
        }
    }

    fn apply(&mut self, payload: &[u8]) -> Result<(), StorageError> {
        let change = Change::decode(payload);
        if let Some((key, extent, blobs)) = change.added {
            if let std::collections::btree_map::Entry::Vacant(entry) = self.extents.entry(key) {
                entry.insert(self.store.adopt_extent(extent)?);
            }
            self.state.keys.insert(key, blobs);
        }
        for key in change.dropped {
            self.state.keys.remove(&key);
            self.extents.remove(&key);
        }
        self.state.commit = self.state.commit.next();
        self.state.history = checksum(self.state.history, payload);
        Ok(())
    }

    fn root(&self) -> Vec<u8> {
        let mut writer = ByteWriter::new();
        writer.u64(self.state.commit.0);
        writer.u64(self.state.history);
        writer.u32(u32::try_from(self.state.keys.len()).unwrap());
        for (key, blobs) in &self.state.keys {
            encode_key(&mut writer, *key, self.extents[key].reference(), blobs);
        }
        writer.finish()
    }

    fn load(&mut self, root: &[u8]) -> Result<(), StorageError> {
        let mut reader = ByteReader::new(root);
        self.state.commit = CommitNumber(reader.u64().unwrap());
        self.state.history = reader.u64().unwrap();
        for _ in 0..reader.count(36).unwrap() {
            let (key, extent, blobs) = decode_key(&mut reader);
            self.extents.insert(key, self.store.adopt_extent(extent)?);
            self.state.keys.insert(key, blobs);
        }
        reader.end().unwrap();
        Ok(())
    }
}

impl Change {
    fn encode(&self) -> Vec<u8> {
        let mut writer = ByteWriter::new();
        writer.u8(self.added.is_some().into());
        if let Some((key, extent, blobs)) = &self.added {
            encode_key(&mut writer, *key, *extent, blobs);
        }
        writer.u32(u32::try_from(self.dropped.len()).unwrap());
        self.dropped.iter().for_each(|key| writer.u64(*key));
        writer.bytes(&self.filler);
        writer.finish()
    }

    fn decode(bytes: &[u8]) -> Self {
        let mut reader = ByteReader::new(bytes);
        let added = (reader.u8().unwrap() == 1).then(|| decode_key(&mut reader));
        let count = reader.count(8).unwrap();
        let dropped = (0..count).map(|_| reader.u64().unwrap()).collect();
        let filler = reader.bytes(1 << 20).unwrap().to_vec();
        reader.end().unwrap();
        Self { added, dropped, filler }
    }
}

fn encode_key(writer: &mut ByteWriter, key: u64, extent: ExtentRef, blobs: &[BlobRef]) {
    writer.u64(key);
    extent.encode(writer);
    writer.u32(u32::try_from(blobs.len()).unwrap());
    blobs.iter().for_each(|blob| blob.encode(writer));
}

fn decode_key(reader: &mut ByteReader<'_>) -> (u64, ExtentRef, Vec<BlobRef>) {
    let key = reader.u64().unwrap();
    let extent = ExtentRef::decode(reader).unwrap();
    let count = reader.count(BlobRef::BYTES).unwrap();
    (key, extent, (0..count).map(|_| BlobRef::decode(reader).unwrap()).collect())
}
