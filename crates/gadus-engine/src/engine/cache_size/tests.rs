//! A cache that gives way, and says why.

use super::*;
use crate::engine::Options;
use gadus_machine::decide_cache;

fn room(left: u64, pressure: f64) -> Room {
    let bytes = |mib: u64| Some(ByteCount::mib(mib));
    Room { given: bytes(1_000), left: bytes(left), pressure: Some(pressure) }
}

/// The newest decision on the cache, and how often it was another.
fn decided(engine: &Engine) -> (Decision, u64) {
    let decisions = engine.decisions();
    let of_cache = decisions.iter().find(|known| known.decision.question == "cache").unwrap();
    (of_cache.decision.clone(), of_cache.changes)
}

#[test]
fn the_cache_gives_way_where_memory_is_short_and_comes_back() {
    let options = Options { cache: Some(ByteCount::mib(1)), ..Options::default() };
    let engine = Engine::in_memory(options).unwrap();
    let first = decided(&engine).0;
    assert_eq!(first.overridden.as_deref(), Some("cache = '1 MiB'"));
    let cache = &engine.inner().cache_size;
    cache.fit(&room(10, 0.3));
    assert_eq!(
        (engine.cache_size(), engine.cache_most()),
        (ByteCount::kib(512), ByteCount::mib(1))
    );
    let (short, changes) = decided(&engine);
    assert_eq!((short.choice.as_str(), changes), ("512 KiB", 1));
    let why = "10.0 MiB of 1000.0 MiB are left, and somebody waits for memory 30 % of the time";
    assert!(short.reason.contains(why), "{}", short.reason);
    (0..9).for_each(|_| cache.fit(&room(900, 0.0)));
    assert_eq!(engine.cache_size(), ByteCount::mib(1));
    let (back, changes) = decided(&engine);
    assert_eq!((back.choice, back.reason, changes), (first.choice, first.reason, 5));
}

#[test]
fn its_most_is_what_the_machine_gives_unless_somebody_tells() {
    let engine = Engine::in_memory(Options::default()).unwrap();
    let (expected, _) = decide_cache(&Limits::of_this_process());
    assert_eq!((engine.cache_most(), engine.options().cache), (expected, Some(expected)));
    engine.set_cache_most(Some(ByteCount::kib(64)));
    assert_eq!(
        (engine.cache_size(), engine.cache_most()),
        (ByteCount::kib(64), ByteCount::kib(64))
    );
    assert_eq!(decided(&engine).0.overridden.as_deref(), Some("gadus.cache = '64 KiB'"));
    engine.set_cache_most(None);
    assert_eq!((engine.cache_most(), decided(&engine).0.overridden), (expected, None));
}

#[test]
fn a_small_limit_of_plans_makes_the_cache_small_unless_its_size_is_told() {
    let engine = Engine::in_memory(Options::default()).unwrap();
    let usual = engine.cache_most();
    engine.set_memory_limit(Some(ByteCount::mib(1)));
    assert_eq!(engine.cache_most(), ByteCount::kib(128));
    assert!(decided(&engine).0.reason.contains("gadus.memory_limit"));
    engine.set_cache_most(Some(ByteCount::mib(2)));
    engine.set_memory_limit(Some(ByteCount::mib(4)));
    assert_eq!(engine.cache_most(), ByteCount::mib(2));
    engine.set_cache_most(None);
    assert_eq!(engine.cache_most(), ByteCount::kib(512));
    engine.set_memory_limit(None);
    assert_eq!(engine.cache_most(), usual);
}

#[test]
fn a_connections_cache_is_nobody_elses_to_give() {
    let options = Options { cache_scope: crate::CacheScope::Connection, ..Options::default() };
    let engine = Engine::in_memory(options).unwrap();
    assert_eq!(engine.inner().cache_size.patience(), None);
}
