//! Opening a database that others may have open, and leaving it.
//!
//! - Openers and leavers take turns. Who finds nobody in possession of the files recovers, and makes
//!   the memory that all share; who finds somebody joins him. A turn ends with its holder's death,
//!   and the next one begins anew.
//! - Who recovers keeps his turn until he knows all that is in use: before that, what a joiner wrote
//!   would be free space to him.
//! - A joiner pins everything from the moment it has its slot until its caller has read what there
//!   is; it joins only where somebody lives, because memory of the dead alone proves nothing.

use super::files::{Files, holder_name, in_use};
use super::open::{Opening, adopt_headers, shape_of};
use super::read_only::excluded_by_readers;
use super::{Recovered, Shared, Store};
use crate::error::{ErrorKind, StorageError};
use crate::holder::{OpenersTurn, Recorded, SharedPlace};
use crate::log::state::LogEnd;
use crate::options::Options;
use crate::peers::{
    Abandoned, FRONT, LAYOUT_VERSION, LOCKS_START, MAGIC, MEMORY_BYTES_MAX, OpenFiles, Peers,
    State, TABLE, memory_failed, memory_name, tell_location,
};
use crate::space::Space;
use gadus_base::{DatabaseId, Random};
use gadus_block::Identity;
use gadus_locks::{Instances, Memory, MemoryErrorKind, Trust};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

impl Store {
    pub(super) fn open_shared(
        files: Files,
        name: &str,
        options: Options,
        folder: &Path,
    ) -> Result<(Self, Recovered), StorageError> {
        let mut turn = OpenersTurn::take(&*files.folder, &holder_name(name), true)?;
        files.cover_by(&mut turn)?;
        if files.try_own()? {
            return Self::open_first(files, options, folder, turn);
        }
        if files.try_share()? {
            if options.read_only {
                let folder = files.folder.clone();
                drop((turn, files));
                return Self::read_alone(folder, name, options);
            }
            return Err(excluded_by_readers(&files));
        }
        if let Some(Recorded::Shared(place)) = turn.read().map(|record| record.sharing)
            && let Some(peers) = join(&files, &place, folder, turn.described())?
        {
            return Self::open_joined(turn, files, options, Arc::new(peers));
        }
        // Whoever was there has died meanwhile; nobody else can have come in this turn.
        if files.try_own()? {
            return Self::open_first(files, options, folder, turn);
        }
        Err(in_use(&*files.folder, name))
    }

    /// Recovers, and makes the memory that others join.
    fn open_first(
        files: Files,
        options: Options,
        folder: &Path,
        turn: OpenersTurn,
    ) -> Result<(Self, Recovered), StorageError> {
        let described = files.data_described.clone();
        let opening = Recorded::opening(turn.read().map(|record| record.sharing));
        turn.record(&opening)?;
        opening.remove_memory(folder, files.data.identity());
        let database = files.choose_header()?.header.database;
        let mut random = Random::from_system();
        // Before memory is asked for: they may have all that there is.
        Abandoned::in_folder(folder, &mut random).remove(files.data.identity());
        let path = folder.join(memory_name(database, random.next_u64()));
        // Before it is made: else nobody would know of it who could remove it after this one's death.
        turn.record(&Recorded::Making(path.clone()))?;
        let (memory, instances) = make_memory(&files, database, &path)
            .map_err(|error| memory_failed(&described, &error))?;
        let removes = RemoveUnlessKept { memory: Some(memory.clone()) };
        let peers = Arc::new(Peers::among(instances, &described)?);
        let opened = Self::recover(Some(turn), files, options, peers)?;
        let place = SharedPlace::of(&memory).map_or(Recorded::Exclusive, Recorded::Shared);
        let recorded = opened.0.shared.opens_in.lock().as_ref().map(|turn| turn.record(&place));
        recorded.transpose()?;
        opened.0.check_memory()?;
        removes.keep();
        Ok(opened)
    }

    /// Learns from the files and from the shared memory what the others have.
    fn open_joined(
        turn: OpenersTurn,
        files: Files,
        options: Options,
        peers: Arc<Peers>,
    ) -> Result<(Self, Recovered), StorageError> {
        let files = files.guarded_by(&peers);
        let chosen = files.choose_header()?;
        let header = chosen.header;
        let space = Space::opened(peers.clone(), files.data_file(), files.data.length()?);
        let (headers, rest) = adopt_headers(&space, &files, chosen)?;
        let opening = Opening { recovered: false, turn: Some(turn) };
        let store =
            Self::assemble(opening, files, options, shape_of(&header), headers, space, peers)?;
        store.shared.poison.check_joining()?;
        let from =
            LogEnd { position: header.replay_from.0, chain: header.chain, commit: header.commit };
        let (records, end) = store.shared.log.records_after(from)?;
        // Readers see what is durable: all of this is from now on.
        store.shared.log.group.wait(gadus_base::LogPosition(end.position))?;
        store.shared.opens_in.lock().take();
        store.check_memory()?;
        let warnings = Vec::new();
        Ok((store, Recovered { root: rest.root, commit: header.commit, records, end, warnings }))
    }
}

/// Removes memory that was made in vain.
struct RemoveUnlessKept {
    memory: Option<Arc<Memory>>,
}

impl RemoveUnlessKept {
    fn keep(mut self) {
        self.memory = None;
    }
}

impl Drop for RemoveUnlessKept {
    fn drop(&mut self) {
        if let Some(memory) = &self.memory {
            memory.remove_file();
        }
    }
}

type Made = (Arc<Memory>, Instances);

fn make_memory(
    files: &Files,
    database: DatabaseId,
    path: &Path,
) -> Result<Made, gadus_locks::MemoryError> {
    let memory = Arc::new(Memory::create(path, MEMORY_BYTES_MAX, trust(files))?);
    let removes = RemoveUnlessKept { memory: Some(memory.clone()) };
    memory.ensure(LOCKS_START)?;
    let front = memory.at(FRONT)?;
    for (word, bytes) in front.database.iter().zip(database.0.chunks_exact(8)) {
        word.store(u64::from_le_bytes(bytes.try_into().expect("eight bytes")), Ordering::Relaxed);
    }
    for (words, Identity(identity)) in front.files.iter().zip(files.identities()) {
        words.iter().zip(identity).for_each(|(word, part)| word.store(part, Ordering::Relaxed));
    }
    tell_location(front, &*files.data);
    front.version.store(LAYOUT_VERSION, Ordering::Relaxed);
    front.state_bytes.store(size_of::<State>() as u64, Ordering::Relaxed);
    front.magic.store(MAGIC, Ordering::Release);
    let instances = claim(files, memory.clone())?;
    removes.keep();
    Ok((memory, instances))
}

/// Takes a slot of the memory and of both files.
fn claim(files: &Files, memory: Arc<Memory>) -> Result<Instances, gadus_locks::MemoryError> {
    let fence = OpenFiles { data: files.data.clone(), log: files.log.clone() };
    let own = |slot| {
        // An owner of all slots keeps this one.
        let owned = files.data.try_own_slot(slot).and_then(|data| {
            let log = data && files.log.try_own_slot(slot)?;
            if log {
                files.data.keep_slot(slot)?;
                files.log.keep_slot(slot)?;
            }
            Ok(log)
        });
        owned.map_err(|error| gadus_locks::MemoryError {
            kind: MemoryErrorKind::System,
            message: error.to_string(),
        })
    };
    Instances::claim(memory, TABLE, Arc::new(fence), own)
}

/// Returns who shares a database: the users who may write its data file.
fn trust(files: &Files) -> Trust {
    files.data.ownership().map_or_else(Trust::this_user, |file| Trust {
        owner: file.owner,
        group: file.group,
        mode: file.mode,
    })
}

/// Joins those who use the memory; none when nobody is left there.
fn join(
    files: &Files,
    place: &SharedPlace,
    folder: &Path,
    described: &str,
) -> Result<Option<Peers>, StorageError> {
    let unreachable = |error: gadus_locks::MemoryError| match error.kind {
        MemoryErrorKind::Unreachable => StorageError::new(
            ErrorKind::InUse,
            described,
            format!(
                "other processes share the database through memory in {}, which this one does not \
                 reach ({error}): it may be in another container; let all of them use one folder",
                place.path.display()
            ),
        ),
        _ => memory_failed(described, &error),
    };
    let path = Recorded::Shared(place.clone()).memory_in(folder).ok_or_else(|| {
        let message = format!(
            "other processes share the database through memory in {}, outside of this process's lock \
             folder {}; let all of them use one folder",
            place.path.display(),
            folder.display()
        );
        StorageError::new(ErrorKind::InUse, described, message)
    })?;
    let memory = Memory::open(&path, MEMORY_BYTES_MAX, place.identity, trust(files));
    let memory = memory.map_err(unreachable)?;
    memory.ensure(LOCKS_START).map_err(|error| memory_failed(described, &error))?;
    check_front(files, &memory, described)?;
    let memory = Arc::new(memory);
    let instances = claim(files, memory).map_err(|error| memory_failed(described, &error))?;
    let peers = Peers::among(instances, described)?;
    let lives = peers.instances().living().iter().any(|other| other.owner != peers.me());
    Ok(lives.then_some(peers))
}

/// Refuses memory of another database or of another version of this program, and whoever has other
/// files open than those who use it: a copy that was put in their place has the same identity of the
/// database.
fn check_front(files: &Files, memory: &Memory, described: &str) -> Result<(), StorageError> {
    let front = memory.at(FRONT).map_err(|error| memory_failed(described, &error))?;
    let words = front.database.each_ref().map(|word| word.load(Ordering::Acquire).to_le_bytes());
    let version = front.version.load(Ordering::Acquire);
    if front.magic.load(Ordering::Acquire) != MAGIC {
        let message = "the memory that other processes share is not what its record says";
        return Err(StorageError::new(ErrorKind::Corrupt, described, message));
    }
    let same_layout = front.state_bytes.load(Ordering::Acquire) == size_of::<State>() as u64;
    if version != LAYOUT_VERSION || !same_layout {
        let message = format!(
            "other processes have the database open with another version of this program (layout \
             {version}, this one has {LAYOUT_VERSION}); close it there, or use the same version"
        );
        return Err(StorageError::new(ErrorKind::InUse, described, message));
    }
    let words_of =
        |file: &[AtomicU64; 2]| Identity(file.each_ref().map(|word| word.load(Ordering::Acquire)));
    let same_files = front.files.each_ref().map(words_of) == files.identities();
    if !same_files || words.concat() != files.choose_header()?.header.database.0 {
        let message = "it was replaced while other processes have it open; close it there, or put \
                       back the files that they use";
        return Err(StorageError::new(ErrorKind::InUse, described, message));
    }
    Ok(())
}

impl Shared {
    /// Leaves the others; the last one removes the memory.
    pub(super) fn leave(&self) {
        if !self.process.is_here() {
            // A copy of the memory, and files that lead nowhere: the parent leaves for itself.
            return;
        }
        let memory = self.peers.instances().memory();
        if memory.file().is_none() || self.peers.excludes_others() {
            self.peers.leave();
            return;
        }
        // Without the turn the memory stays, until the next who opens the database alone.
        let name = holder_name(self.files.data.name());
        let opens_in = self.opens_in.lock().take();
        let turn = opens_in.or_else(|| {
            let mut turn = OpenersTurn::take(&*self.files.folder, &name, false).ok()?;
            self.files.cover_by(&mut turn).ok()?;
            Some(turn)
        });
        self.peers.look_at_memory();
        let others =
            self.peers.instances().living().iter().any(|other| other.owner != self.peers.me());
        self.peers.leave();
        // Before the turn ends: the next opener shall not take this one for present. A failure makes
        // it wait until the files are closed.
        let _ = self.files.data.give_up_slots();
        let _ = self.files.log.give_up_slots();
        self.peers.look_at_memory();
        if turn.is_some() && !others {
            memory.remove_file();
        }
    }
}
