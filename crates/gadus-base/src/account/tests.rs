//! On whose account things are noted.

use super::*;

#[test]
fn what_is_read_stands_on_the_innermost_account_of_the_thread() {
    let (outer, inner) = (Arc::<Account>::default(), Arc::<Account>::default());
    Account::note_read(1);
    outer.charge(|| {
        Account::note_read(10);
        inner.charge(|| Account::note_written(5));
        Account::note_read(20);
        std::thread::scope(|scope| {
            scope.spawn(|| Account::note_read(100));
        });
    });
    assert!(Account::current().is_none());
    assert_eq!(outer.bytes(), IoBytes { read: 30, written: 0 });
    inner.charge(Account::note_hit);
    outer.add_all(&inner);
    assert_eq!(outer.bytes(), IoBytes { read: 30, written: 5 });
    assert_eq!(outer.cache_use(), CacheUse { hits: 1, reads: 2 });
    assert_eq!(inner.bytes(), IoBytes { read: 0, written: 5 });
    outer.hold(7);
    outer.release(5);
    outer.hold(4);
    assert_eq!(outer.held_bytes_max(), 7);
    assert_eq!(outer.bytes().divided(4), IoBytes { read: 7, written: 1 });
}

#[test]
fn a_panic_ends_the_account() {
    let account = Arc::<Account>::default();
    let charged = account.clone();
    let panicked = std::panic::catch_unwind(move || charged.charge(|| panic!("for the test")));
    assert!(panicked.is_err());
    assert!(Account::current().is_none());
}
