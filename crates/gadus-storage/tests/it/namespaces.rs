//! Processes in namespaces of their own: with a full memory or disk, with memory that others do not
//! reach, with process ids that are given again, and with another clock.
//!
//! - A system that gives no namespaces to its users gets none of these tests, and is told so.

use crate::child::{Child, await_word, say, task};
use crate::ledger::NAME;
use crate::place::{Place, append, try_append};
use gadus_base::clock;
use gadus_locks::{LockErrorKind, Mode, Resource, Wait};
use gadus_storage::{ErrorKind, Stage, Store};
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

const MODULE: &str = "namespaces";

/// What a child does; nothing in the parent.
#[test]
fn child() {
    let Some((task, path)) = task() else { return };
    match task.as_str() {
        "full" => {
            fill_memory(&path);
            fill_disk(&path);
        }
        "reach" => {
            let place = Place::at(&path);
            let error = place.open_through(place.folder.clone()).unwrap_err();
            assert_eq!(error.kind, ErrorKind::InUse, "{error}");
            assert!(error.message.contains("does not reach"), "{error}");
            assert_eq!(place.memories(), 0);
        }
        "supervise" => give_ids_again(&Place::at(&path)),
        "hold" => {
            let (store, _) = Place::at(&path).open();
            let _turn = store.turn();
            let mut owner = store.locks().register().unwrap();
            owner.lock(Resource::named("one"), Mode::Exclusive, Wait::No).unwrap();
            say("ready");
            await_word();
        }
        "idle" => {
            say("ready");
            await_word();
        }
        "wait" => wait_in_another_time(&Place::at(&path)),
        task => panic!("what is {task}?"),
    }
    say("done");
}

/// A child in new namespaces, which first runs a command; none where that is not allowed.
fn spawn_in(flags: &[&str], before: &str, task: &str, folder: &Path) -> Option<Child> {
    let allowed = Command::new("unshare").args(flags).arg("true").output();
    if !allowed.is_ok_and(|output| output.status.success()) {
        // Not by a macro, whose words are shown of failures only.
        let mut output = std::io::stdout();
        let flags = flags.join(" ");
        writeln!(output, "skipped: this system does not allow `unshare {flags}`").unwrap();
        return None;
    }
    let script = format!("{before} && exec \"$0\" \"$@\"");
    let by = [&["unshare"], flags, &["sh", "-c", &script]].concat();
    Some(Child::spawn_by(&by, MODULE, task, folder))
}

fn ends_well(child: Option<Child>) {
    if let Some(mut child) = child {
        child.hear("done");
        assert!(child.end().success());
    }
}

/// Takes what is left of a file system, but for so many bytes.
struct Filler(std::path::PathBuf);

impl Filler {
    fn leave(folder: &Path, left: u64) -> Self {
        let facts = rustix::fs::statvfs(folder).unwrap();
        let bytes = (facts.f_bavail * facts.f_frsize).saturating_sub(left);
        let path = folder.join("filler");
        std::fs::write(&path, vec![1; usize::try_from(bytes).unwrap()]).unwrap();
        Self(path)
    }
}

impl Drop for Filler {
    fn drop(&mut self) {
        std::fs::remove_file(&self.0).unwrap();
    }
}

/// The memory's folder has no room: for the first who opens, then for more locks.
fn fill_memory(path: &Path) {
    std::fs::create_dir_all(path.join("memory")).unwrap();
    let place = Place::at(path);
    Store::make(place.folder.clone(), NAME, &place.options()).unwrap();
    let filler = Filler::leave(path, 500_000);
    let error = place.open_through(place.folder.clone()).unwrap_err();
    assert_eq!(error.kind, ErrorKind::NoSpace, "{error}");
    assert_eq!(place.memories(), 0, "nothing is left of it");
    drop(filler);
    let (store, _) = place.open();
    let mut owner = store.locks().register().unwrap();
    let filler = Filler::leave(path, 300_000);
    let mut rows = (0..).map(|number| Resource::named(&format!("row {number}")));
    let mut lock = || owner.lock(rows.next().unwrap(), Mode::Exclusive, Wait::No);
    let error = (0..1_000_000).find_map(|_| lock().err()).unwrap();
    assert_eq!(error.kind, LockErrorKind::NoSpace, "{error}");
    // It costs whoever asks for more, and nobody else.
    let (joiner, _) = place.open();
    joiner.wait_durable(append(&joiner, b"one")).unwrap();
    store.wait_durable(append(&store, b"two")).unwrap();
    drop(filler);
    lock().unwrap();
    store.locks().check().unwrap();
    drop((owner, joiner, store));
    assert_eq!(place.memories(), 0);
}

/// The disk has no room: for extents, for the log, for checkpoints.
fn fill_disk(path: &Path) {
    let place = Place::at(path);
    let ((store, before), (other, _)) = (place.open(), place.open());
    let filler = Filler::leave(path, 100_000);
    let error = (0..100).find_map(|_| try_append(&store, &[7; 5000]).err()).unwrap();
    assert_eq!(error.kind, ErrorKind::NoSpace, "{error}");
    let blob = vec![7; 1 << 20];
    for store in [&store, &other] {
        assert_eq!(store.write_extent(&[&blob]).unwrap_err().kind, ErrorKind::NoSpace);
        let end = store.log_end();
        let full = store.checkpoint(&blob, end.commit(), end.position()).unwrap_err();
        assert_eq!(full.kind, ErrorKind::NoSpace, "{full}");
        assert!(!store.is_poisoned());
        store.wait_durable(store.appended()).unwrap();
    }
    drop(filler);
    other.wait_durable(append(&other, &[7; 50_000])).unwrap();
    let count = store.log_end().commit().0;
    let _turn = store.checkpoint_turn().unwrap();
    let end = store.log_end();
    store.checkpoint(&blob, end.commit(), end.position()).unwrap();
    drop(_turn);
    drop((store, other, before));
    let (_, recovered) = place.open();
    assert_eq!(recovered.commit.0, count);
}

#[test]
fn a_full_file_system_is_an_error_of_whoever_asks_for_more() {
    let root = tempfile::tempdir().unwrap();
    let mount = "mount -t tmpfs -o size=6m tmpfs \"$GADUS_TEST_CHILD_FOLDER\"";
    ends_well(spawn_in(&["-Urm", "--kill-child"], mount, "full", root.path()));
}

#[test]
fn who_has_another_memory_under_the_same_path_is_refused() {
    let place = Place::new();
    let (store, _) = place.open();
    let mount = "mount -t tmpfs tmpfs \"$GADUS_TEST_CHILD_FOLDER/memory\"";
    ends_well(spawn_in(&["-Urm", "--kill-child"], mount, "reach", place.path()));
    store.wait_durable(append(&store, b"goes on")).unwrap();
}

/// Kills one, and has its process id given to others.
fn give_ids_again(place: &Place) {
    let (store, _) = place.open();
    let spawn = |task: &str| {
        std::fs::write("/proc/sys/kernel/ns_last_pid", "500").unwrap();
        let mut child = Child::spawn(MODULE, task, place.path());
        child.hear("ready");
        assert_eq!(child.id(), 501);
        child
    };
    let is_held = || {
        let mut owner = store.locks().register().unwrap();
        owner.lock(Resource::named("one"), Mode::Shared, Wait::No).is_err()
    };
    for successor in ["idle", "hold"] {
        let mut holder = spawn("hold");
        assert_eq!(store.instances().len(), 2);
        assert!(is_held());
        holder.kill();
        let mut successor = spawn(successor);
        // Whoever has its number has nothing of it.
        let holds = store.instances().len() == 2;
        assert_eq!(is_held(), holds);
        if holds {
            assert!(
                store.busy().iter().any(|(one, stage)| *stage == Stage::Commit && one.pid == 501)
            );
            successor.kill();
        }
        store.wait_durable(append(&store, b"one")).unwrap();
        assert_eq!((store.instances().len(), is_held()), (1, false));
    }
}

#[test]
fn a_process_id_that_is_given_again_brings_nobody_back() {
    let place = Place::new();
    let flags = ["-Urpf", "--mount-proc", "--kill-child"];
    ends_well(spawn_in(&flags, "test -w /proc/sys/kernel/ns_last_pid", "supervise", place.path()));
    assert_eq!(place.open().1.records.len(), 2);
}

/// Waits for a lock that is not released, then for one that is.
fn wait_in_another_time(place: &Place) {
    let (store, _) = place.open();
    let mut owner = store.locks().register().unwrap();
    let end = Wait::Until(clock().now().plus(Duration::from_millis(50)));
    let error = owner.lock(Resource::named("one"), Mode::Exclusive, end).unwrap_err();
    assert_eq!(error.kind, LockErrorKind::Timeout, "{error}");
    store.wait_durable(append(&store, b"of another time")).unwrap();
    say("late");
    let end = Wait::Until(clock().now().plus(Duration::from_secs(60)));
    owner.lock(Resource::named("one"), Mode::Exclusive, end).unwrap();
}

#[test]
fn clocks_that_differ_by_years_are_no_matter() {
    for years in [-1, 10] {
        let place = Place::new();
        let (store, _) = place.open();
        let mut owner = store.locks().register().unwrap();
        owner.lock(Resource::named("one"), Mode::Exclusive, Wait::No).unwrap();
        let seconds = (years * 365 * 24 * 3600).max(1 - seconds_since_start()).to_string();
        let flags = ["-UrT", "--fork", "--kill-child", "--monotonic", &seconds];
        let Some(mut child) = spawn_in(&flags, "true", "wait", place.path()) else { return };
        child.hear("late");
        store.wait_durable(append(&store, b"of this time")).unwrap();
        owner.release_all().unwrap();
        child.hear("done");
        assert!(child.end().success());
        let end = Wait::Until(clock().now().plus(Duration::from_secs(60)));
        owner.lock(Resource::named("one"), Mode::Exclusive, end).unwrap();
        assert_eq!(place.open().1.records.len(), 2);
    }
}

/// By the monotonic clock, which cannot be before zero.
fn seconds_since_start() -> i64 {
    let uptime = std::fs::read_to_string("/proc/uptime").unwrap();
    uptime.split('.').next().unwrap().parse().unwrap()
}
