//! Tests jemalloc's options, and the decay time by the memory of the process.

use super::*;

#[allow(unsafe_code)]
fn decays() -> [isize; 2] {
    // SAFETY: both are of this type.
    [DECAY_OF_NEW, DECAY_OF_FIRST].map(|name| unsafe { raw::read(name) }.unwrap())
}

#[test]
#[allow(unsafe_code)]
fn the_configuration_is_read() {
    // SAFETY: the option is of this type.
    let has_thread: bool = unsafe { raw::read(b"opt.background_thread\0") }.unwrap();
    assert!(has_thread);
    // SAFETY: the option is a text that is never written.
    let pages = unsafe { std::ffi::CStr::from_ptr(raw::read(b"opt.thp\0").unwrap()) };
    assert_eq!(pages, c"always");
}

#[test]
fn freed_memory_is_kept_for_seconds_unless_there_is_little() {
    let limits = |memory| Limits { memory: Some(memory), ..Limits::default() };
    assert!(!heed(&limits(ByteCount::gib(4))));
    assert_eq!(decays(), [5000; 2]);
    assert!(heed(&limits(ByteCount::gib(2))));
    assert_eq!(decays(), [DECAY_MS_LITTLE; 2]);
    assert!(heed(&limits(ByteCount::mib(512))));
    assert_eq!(decays(), [0; 2]);
}
