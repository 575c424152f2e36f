//! Checkpoints of instances that follow each other.

use super::*;
use crate::log::Terms;
use crate::options::{Options, Sharing};
use gadus_block::{FileFolder, Folder};

struct Place(tempfile::TempDir);

impl Place {
    fn open(&self) -> Store {
        let folder: Arc<dyn Folder> = Arc::new(FileFolder::new(self.0.path()));
        let sharing = Sharing::Shared { memory: self.0.path().to_owned() };
        let options = Options { sharing, ..Options::default() };
        if !folder.exists("x").unwrap() {
            Store::make(folder.clone(), "x", &options).unwrap();
        }
        let (store, _) = Store::open(folder, "x", options).unwrap();
        store.finish_recovery().unwrap();
        store
    }
}

fn append(store: &Store) -> (CommitNumber, LogPosition) {
    let turn = store.turn();
    let commit = store.log_end().commit().next();
    (commit, store.append_record(&turn, commit, &[IoSlice::new(b"x")], Terms::default()).unwrap())
}

fn newest(store: &Store) -> (u64, Option<Vec<u8>>) {
    let _turn = store.checkpoint_turn().unwrap();
    let sequence = store.shared.headers.lock().newest.sequence;
    (sequence, store.newest_root().map(|root| store.read_blob(&root).unwrap().to_vec()))
}

fn checkpoint(store: &Store, root: &[u8]) {
    let _turn = store.checkpoint_turn().unwrap();
    let (commit, end) = append(store);
    store.checkpoint(root, commit, end).unwrap();
    store.find_free_space(|| true);
}

#[test]
fn a_header_whose_writer_died_before_it_told_is_the_newest_for_all() {
    let place = Place(tempfile::tempdir().unwrap());
    let (dying, one, two) = (place.open(), place.open(), place.open());
    checkpoint(&dying, b"first");
    let before = newest(&one);
    assert_eq!(before.1.as_deref(), Some(&b"first"[..]));
    {
        let _turn = dying.checkpoint_turn().unwrap();
        let (commit, end) = append(&dying);
        let shared = &dying.shared;
        let headers = shared.headers.lock();
        let (header, _) = shared.compose_header(&headers, b"untold", commit, end).unwrap();
        shared.write_slot(1 - headers.newest_slot, header).unwrap();
        // Here it dies.
    }
    let joined_later = place.open();
    for store in [&one, &joined_later] {
        assert_eq!(newest(store), (before.0 + 1, Some(b"untold".to_vec())));
    }
    checkpoint(&one, b"third");
    for store in [&two, &joined_later] {
        assert_eq!(newest(store), (before.0 + 2, Some(b"third".to_vec())));
    }
    checkpoint(&joined_later, b"fourth");
    drop((dying, one, two, joined_later));
    assert_eq!(newest(&place.open()), (before.0 + 3, Some(b"fourth".to_vec())));
}
