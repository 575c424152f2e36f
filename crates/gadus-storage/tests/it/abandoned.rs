//! Memories whose users were all killed, of databases that were deleted then, or were not.

use crate::child::{Child, await_word, say, task};
use crate::ledger::NAME;
use crate::place::{Place, append};
use gadus_base::Random;
use gadus_storage::Store;
use std::fs::File;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

const MODULE: &str = "abandoned";

/// A database beside the place's own, with memory in the same folder.
const OTHER: &str = "other.gadus";

/// What a child does; nothing in the parent.
#[test]
fn child() {
    let Some((task, path)) = task() else { return };
    let place = Place::at(&path);
    match task.split_once(' ') {
        None => {
            let (store, _) = place.open();
            say("ready");
            await_word();
            store.wait_durable(append(&store, b"goes on")).unwrap();
            say("done");
        }
        Some((_, name)) => be_deleted_again_and_again(&place, name),
    }
}

/// Makes databases, deletes them while it has them open, and looks for what it has then.
fn be_deleted_again_and_again(place: &Place, name: &str) {
    for round in 0_u64.. {
        let name = format!("{name}-{round}.gadus");
        Store::make(place.folder.clone(), &name, &place.options()).unwrap();
        let store = open(place, &name);
        let memory = memory_of(place, &name);
        delete(place, &name);
        say("deleted");
        // Others have time to see that.
        for _ in 0..3 {
            store.wait_durable(append(&store, b"one")).unwrap();
            assert!(memory.exists(), "it is in use");
        }
        drop(store);
    }
}

fn open(place: &Place, name: &str) -> Store {
    let (store, _) = Store::open(place.folder.clone(), name, place.options()).unwrap();
    store.finish_recovery().unwrap();
    store
}

fn memory_of(place: &Place, name: &str) -> PathBuf {
    let record = std::fs::read_to_string(place.path().join(format!("{name}-lck"))).unwrap();
    let line = record.lines().find_map(|line| line.strip_prefix("memory "));
    Path::new(line.unwrap()).to_owned()
}

fn delete(place: &Place, name: &str) {
    for end in ["", "-wal", "-lck"] {
        std::fs::remove_file(place.path().join(format!("{name}{end}"))).unwrap();
    }
}

/// Opens the other database alone, which makes a memory, and leaves it.
fn open_other(place: &Place) {
    if !place.path().join(OTHER).exists() {
        Store::make(place.folder.clone(), OTHER, &place.options()).unwrap();
    }
    drop(open(place, OTHER));
}

fn spawn_ready(place: &Place) -> Child {
    let mut child = Child::spawn(MODULE, "hold", place.path());
    child.hear("ready");
    child
}

#[test]
fn the_memory_of_a_deleted_database_goes_with_the_next_that_is_made_after_its_last_user_was_killed()
{
    let place = Place::new();
    let mut users = [spawn_ready(&place), spawn_ready(&place)];
    let memory = memory_of(&place, NAME);
    delete(&place, NAME);
    open_other(&place);
    assert!(memory.exists(), "two use it");
    users[0].kill();
    open_other(&place);
    assert!(memory.exists(), "one uses it");
    users[1].tell("go on");
    users[1].hear("done");
    drop(users);

    let place = Place::new();
    let mut users = [spawn_ready(&place), spawn_ready(&place)];
    let memory = memory_of(&place, NAME);
    users.iter_mut().for_each(Child::kill);
    delete(&place, NAME);
    assert!(memory.exists());
    open_other(&place);
    assert_eq!(place.memories(), 0);
}

#[test]
fn the_memory_of_a_database_that_is_there_waits_for_who_opens_that() {
    let place = Place::new();
    spawn_ready(&place).kill();
    let memory = memory_of(&place, NAME);
    open_other(&place);
    assert!(memory.exists());
    drop(place.open());
    assert_eq!(place.memories(), 0);
}

#[test]
fn the_memory_of_a_database_goes_when_a_copy_is_in_its_place_and_the_copy_opens() {
    let place = Place::new();
    spawn_ready(&place).kill();
    let [there, copied] = [NAME, "copy"].map(|name| place.path().join(name));
    std::fs::copy(&there, &copied).unwrap();
    std::fs::rename(copied, there).unwrap();
    open_other(&place);
    assert_eq!(place.memories(), 0);
    // Its record names a memory that is no more.
    drop(place.open());
    assert_eq!(place.memories(), 0);
}

#[test]
fn a_database_that_was_moved_after_its_users_were_killed_opens_where_it_is() {
    let place = Place::new();
    spawn_ready(&place).kill();
    let moved = Place::empty();
    for end in ["", "-wal", "-lck"] {
        let name = format!("{NAME}{end}");
        std::fs::rename(place.path().join(&name), moved.path().join(&name)).unwrap();
    }
    open_other(&place);
    assert_eq!(place.memories(), 0);
    drop(moved.open());
    assert_eq!(moved.memories(), 0);
}

#[test]
fn databases_are_made_deleted_and_killed_beside_each_other_and_all_their_memories_go() {
    let place = Place::empty();
    let mut random = Random::from_system();
    let spawn = |number: usize| Child::spawn(MODULE, &format!("delete {number}"), place.path());
    let mut children = (0..4).map(spawn).collect::<Vec<_>>();
    for number in 4..44 {
        let victim = usize::try_from(random.below(4)).unwrap();
        for _ in 0..random.below(4) {
            children[victim].hear("deleted");
        }
        children[victim].kill();
        assert_eq!(children[victim].end().signal(), Some(9), "it has failed before");
        children[victim] = spawn(number);
    }
    children.iter_mut().for_each(Child::kill);
    // Who was killed before it had deleted its database has left that, too.
    for entry in std::fs::read_dir(place.path()).unwrap().map(Result::unwrap) {
        if entry.file_type().unwrap().is_file() {
            std::fs::remove_file(entry.path()).unwrap();
        }
    }
    // Who was killed while it made its memory has left an empty one, which may be there for a while.
    for entry in std::fs::read_dir(place.memory()).unwrap().map(Result::unwrap) {
        let memory = File::options().write(true).open(entry.path()).unwrap();
        memory.set_modified(SystemTime::UNIX_EPOCH).unwrap();
    }
    for _ in 0..100 {
        open_other(&place);
    }
    assert_eq!(place.memories(), 0);
}
