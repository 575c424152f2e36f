//! Names of questions, and answers as they are printed.

use super::*;

#[test]
fn questions_are_known_however_they_are_written() {
    for name in ["scan-threads", "scan_threads", "Scan Threads"] {
        assert_eq!(known(name).unwrap(), "scan threads");
    }
    let said = known("scan-thread").unwrap_err().to_string();
    assert!(said.contains("did you mean scan-threads?"), "{said}");
    let said = known("moon").unwrap_err().to_string();
    assert!(
        said.contains("client-transport, group-commit, io-path, latch-looks, memory-limit"),
        "{said}"
    );
}

#[test]
fn decisions_are_printed_with_all_that_they_are_made_of() {
    let limits = Limits { cpus: Some(1.5), ..Limits::default() };
    let (_, decision) = decide_scan_threads(&limits);
    let mut output = Vec::new();
    print(&decision.told("3", "threads = 3"), &mut output).unwrap();
    let text = String::from_utf8(output).unwrap();
    for expected in [
        "scan threads: 3\n  as told; otherwise ",
        "  overridden by threads = 3\n",
        "  fact: process processor time: 1.5 processors (discovered, ",
        "  costs of 1: 1.00 of one thread's time\n",
        "  would change with ",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
}
