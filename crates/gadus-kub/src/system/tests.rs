//! Each service does what it says.

use super::robust_mutex::Locked;
use super::*;
use std::os::fd::AsFd;
use std::sync::atomic::Ordering;

#[test]
fn a_child_shares_memory_and_is_gone_when_dropped() {
    let memory = Mapping::shared(4096).unwrap();
    let child = Child::start(None, || {
        memory.word(0).store(7, Ordering::Release);
        gadus_locks::wake(memory.word(0), 1);
        loop {
            gadus_locks::wait_on(memory.word(1), 0, None);
        }
    });
    let child = child.unwrap();
    while memory.word(0).load(Ordering::Acquire) == 0 {
        gadus_locks::wait_on(memory.word(0), 0, Some(std::time::Duration::from_secs(10)));
    }
    let process = format!("/proc/{}", child.pid());
    assert!(std::fs::exists(&process).unwrap());
    child.kill();
    assert!(!std::fs::exists(&process).unwrap());
}

#[test]
fn messages_arrive_whole_whatever_the_ends_do_meanwhile() {
    for patience in [Patience::Sleep, Patience::SpinThenSleep(50), Patience::Spin] {
        let (mut out, mut inbox) = Mailbox::create(5000, patience).unwrap();
        let sent = (1..=100_u8).map(|number| vec![number; usize::from(number) * 50]);
        let sent = sent.collect::<Vec<_>>();
        std::thread::scope(|scope| {
            scope.spawn(|| sent.iter().for_each(|message| out.put(message)));
            let mut buffer = vec![0; 5000];
            for message in &sent {
                let length = inbox.take(&mut buffer);
                assert_eq!(&buffer[..length], &message[..], "{patience:?}");
            }
        });
    }
}

#[test]
fn a_fiber_runs_as_often_as_it_is_switched_to() {
    for touched in [0, 4096, 64 << 10] {
        let mut fiber = Fiber::create(touched).unwrap();
        (0..1000).for_each(|_| fiber.switch_to_and_back());
        assert_eq!(fiber.passes(), 1000);
    }
}

#[test]
fn a_robust_mutex_is_taken_over_from_the_dead() {
    let mutex = RobustMutex::create().unwrap();
    assert_eq!(mutex.lock().unwrap(), Locked::Free);
    mutex.unlock().unwrap();
    let memory = Mapping::shared(4096).unwrap();
    let child = Child::start(None, || {
        if mutex.lock().is_ok() {
            memory.word(0).store(1, Ordering::Release);
        }
        loop {
            gadus_locks::wait_on(memory.word(1), 0, None);
        }
    });
    let child = child.unwrap();
    while memory.word(0).load(Ordering::Acquire) == 0 {
        std::thread::yield_now();
    }
    child.kill();
    assert_eq!(mutex.lock().unwrap(), Locked::FromDead);
    mutex.unlock().unwrap();
    assert_eq!(mutex.lock().unwrap(), Locked::Free);
}

#[test]
fn range_locks_and_semaphores_are_given_and_given_back() {
    let file = tempfile::tempfile().unwrap();
    for kind in [RangeLockKind::Process, RangeLockKind::Description] {
        let lock = RangeLock::new(file.as_fd(), kind);
        lock.lock(0, 1, false).unwrap();
        lock.lock(0, 1, true).unwrap();
        lock.unlock(0, 1).unwrap();
    }
    let semaphore = Semaphore::create().unwrap();
    semaphore.acquire().unwrap();
    semaphore.release().unwrap();
}

#[test]
fn bytes_of_a_mapping_are_counted_and_reach_the_file() {
    use std::os::unix::fs::FileExt;
    let file = tempfile::tempfile().unwrap();
    file.set_len(8192).unwrap();
    for how in [MapHow::Plain, MapHow::Populate] {
        let mut mapping = Mapping::of_file(file.as_fd(), 8192, how).unwrap();
        mapping.increment(0, 8192);
        mapping.flush(0, 8192).unwrap();
    }
    let mut bytes = vec![0; 8192];
    file.read_exact_at(&mut bytes, 0).unwrap();
    assert!(bytes.iter().all(|byte| *byte == 2));
    let mapping = Mapping::of_file(file.as_fd(), 8192, MapHow::Plain).unwrap();
    assert_eq!(mapping.sum(0, 16), 2 * u64::from_ne_bytes([2; 8]));
}

#[test]
fn a_shared_object_is_called() {
    assert_eq!(SharedCall::find().unwrap().call(-3), 3);
}

#[test]
fn memory_of_a_child_is_read() {
    let bytes = vec![9_u8; 100];
    let child = Child::start(None, || {
        loop {
            rustix::event::pause();
        }
    });
    let mut read = vec![0; 100];
    assert_eq!(
        read_from_process(child.unwrap().pid(), bytes.as_ptr().addr() as u64, &mut read).unwrap(),
        100
    );
    assert_eq!(read, bytes);
}

#[test]
fn what_a_ring_writes_it_reads_and_the_file_has_it() {
    use std::os::unix::fs::FileExt;
    let file = tempfile::tempfile().unwrap();
    for register in [false, true] {
        let mut ring = match Ring::create(4, 4096, register) {
            Ok(ring) => ring,
            // A kernel that denies it is one that Kub tells so.
            Err(error) => return assert!(error.to_string().contains("io_uring"), "{error}"),
        };
        ring.increment(0);
        let write = |offset| Operation::Write { buffer: 0, offset, bytes: 4096 };
        for _ in 0..10 {
            let both = [write(0), write(4096), Operation::DataSync];
            ring.run(file.as_fd(), &both).unwrap();
        }
        ring.run(file.as_fd(), &[Operation::Read { buffer: 1, offset: 4096, bytes: 4096 }])
            .unwrap();
        assert_eq!(ring.sum(1), 512_u64.wrapping_mul(u64::from_ne_bytes([1; 8])));
        let mut bytes = vec![0; 8192];
        file.read_exact_at(&mut bytes, 0).unwrap();
        assert!(bytes.iter().all(|byte| *byte == 1));
        let beyond = Operation::Read { buffer: 0, offset: 1 << 20, bytes: 4096 };
        assert!(ring.run(file.as_fd(), &[beyond]).is_err());
        // More pieces than buffers, and fewer; each once.
        file.set_len(0).unwrap();
        for number in 0..11_u64 {
            file.write_all_at(&(1_u64 << number).to_le_bytes(), number * 4096).unwrap();
        }
        file.set_len(11 * 4096).unwrap();
        for pieces in [11, 3, 1] {
            let mut sums = Vec::new();
            let look = |ring: &Ring, buffer| sums.push(ring.sum(buffer));
            ring.read_all(file.as_fd(), pieces * 4096, look).unwrap();
            sums.sort_unstable();
            assert_eq!(sums, (0..pieces).map(|number| 1 << number).collect::<Vec<_>>());
        }
        // The end comes too soon: the rest is waited for, and the ring is as good as before.
        assert!(ring.read_all(file.as_fd(), 20 * 4096, |_, _| {}).is_err());
        let mut sum = 0;
        ring.read_all(file.as_fd(), 4096, |ring, buffer| sum += ring.sum(buffer)).unwrap();
        assert_eq!(sum, 1);
    }
}

#[test]
fn memory_in_huge_pages_begins_with_one() {
    match Mapping::in_huge_pages(100_000) {
        Ok(memory) => {
            assert!(memory.base().as_ptr().addr().is_multiple_of(memory.bytes()));
            let bytes = memory.bytes();
            assert_eq!((memory.sum(0, 8), memory.sum(8, bytes)), (1, 0));
        }
        // A kernel without them is one that Kub tells so.
        Err(error) => assert!(error.to_string().contains("huge"), "{error}"),
    }
}

#[test]
fn what_was_written_is_unwritten_until_it_is_synced() {
    use std::os::unix::fs::FileExt;
    // Of a real file: memory's files are never written anywhere.
    let file = tempfile::tempfile_in(".").unwrap();
    file.write_all_at(&[1; 8192], 0).unwrap();
    if unwritten_pages(file.as_fd()).is_ok() {
        file.sync_data().unwrap();
        assert_eq!(unwritten_pages(file.as_fd()).unwrap(), 0);
    }
}
