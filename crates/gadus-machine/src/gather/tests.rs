//! This machine's facts, and those of one that tells nothing.

use super::*;

#[test]
fn this_machine_is_told_of_and_what_is_not_known_says_why() {
    let facts = Facts::discover().unwrap();
    assert!(matches!(facts.get("machine", "cores").unwrap().value, FactValue::Whole(1..)));
    assert!(facts.get("core 0", "processors").is_some());
    let mut unknown = facts.iter().filter_map(|fact| match &fact.value {
        FactValue::Unknown(why) => Some(why),
        _ => None,
    });
    assert!(unknown.all(|why| !why.is_empty()));
}

#[test]
fn settings_of_the_kernel_are_put_in_words() {
    assert_eq!(explain_io_uring("2"), "forbidden: kernel.io_uring_disabled is 2");
    assert_eq!(explain_perf("-1"), "allowed");
    assert!(explain_perf("4").starts_with("root alone"));
    assert_eq!(explain_chosen("always [madvise] never"), "madvise");
    let nothing = tempfile::tempdir().unwrap();
    let mut facts = Facts::default();
    facts.add_forbidden(nothing.path());
    facts.add_memory(&nothing.path().join("meminfo"));
    facts.add_pressure(nothing.path());
    assert!(facts.iter().all(|fact| matches!(fact.value, FactValue::Unknown(_))));
}
