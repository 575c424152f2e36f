//! `gadus bench --against gadus=PATH`: builds take turns, and what is wrong with one is said.

use std::path::PathBuf;
use std::process::{Command, Output};

use crate::folder::{Folder, error_of};
use serde_json::Value;

const OWN: &str = env!("CARGO_BIN_EXE_gadus");

/// A short benchmark of locks, with few turns.
fn locks_against(peers: &str) -> Vec<&str> {
    let words = ["bench", "locks", "--time", "2ms", "--rounds", "2", "--dir", ".", "--json"];
    [&words[..], &["--against", peers]].concat()
}

fn figures(output: &Output) -> Vec<Value> {
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A program that says it is Gadus, and otherwise does what a shell script says.
fn pretender(folder: &Folder, script: &str) -> PathBuf {
    let (text, program) = (folder.path("script"), folder.path("pretender"));
    let script =
        format!("#!/bin/sh\n[ \"$1\" = --version ] && echo gadus 0.0.1 && exit\n{script}\n");
    std::fs::write(&text, script).unwrap();
    // Written by another process: this one could be forking, and a file open for writing is not executed.
    let mut install = Command::new("install");
    install.args(["-m", "755"]).arg(text).arg(&program);
    assert!(install.status().unwrap().success());
    program
}

#[test]
fn two_builds_take_turns_and_each_figure_has_a_ratio() {
    let folder = Folder::new();
    let peer = format!("gadus={OWN}");
    let output = folder.run(&locks_against(&peer));
    assert!(output.status.success(), "{}", error_of(&output));
    let figures = figures(&output);
    let names = figures.iter().map(|one| (one["case"].as_str(), one["metric"].as_str()));
    let expected = ["fast path", "row"].map(|case| {
        ["lock_unlock_ns", "locks_per_second"].map(|metric| (Some(case), Some(metric)))
    });
    assert!(names.eq(expected.concat()), "{figures:?}");
    for figure in &figures {
        assert_eq!((&figure["bench"], &figure["peer"]), (&"locks".into(), &peer.clone().into()));
        assert_eq!(figure["rounds"], 2);
        let number = |key: &str| figure[key].as_f64().unwrap();
        assert!(number("value") > 0.0 && number("peer_value") > 0.0, "{figure}");
        let (low, ratio, high) = (number("ratio_low"), number("ratio"), number("ratio_high"));
        assert!(0.0 < low && low <= ratio && ratio <= high, "{figure}");
    }
    let left = std::fs::read_dir(folder.path("gadus-bench")).unwrap();
    assert_eq!(left.count(), 0);
}

#[test]
fn other_peers_are_measured_once_beside_builds() {
    let folder = Folder::new();
    let peers = format!("sqlite,gadus={OWN}");
    let words = ["bench", "processes", "--processes", "1", "--time", "30ms", "--against", &peers];
    let output = folder.run(&[&words[..], &["--dir", ".", "--json"]].concat());
    assert!(output.status.success(), "{}", error_of(&output));
    let figures = figures(&output);
    let of = |peer: &str| {
        let has_peer = |one: &&Value| one["peer"] == peer && one["case"] == "1 writers";
        figures.iter().filter(has_peer).map(|one| one["metric"].to_string()).collect::<Vec<_>>()
    };
    assert!(of("sqlite").contains(&"\"commits\"".to_owned()), "{figures:?}");
    assert!(of(&format!("gadus={OWN}")).contains(&"\"commits_per_sync\"".to_owned()));
}

#[test]
fn a_wrong_path_of_a_build_is_said() {
    let folder = Folder::new();
    std::fs::write(folder.path("notes"), "no program").unwrap();
    for (peer, problem) in [
        ("gadus=missing/gadus", "No such file"),
        ("gadus=", "no path; name the gadus program of another build"),
        ("gadus=.", "not a file; name the gadus program of another build"),
        ("gadus=notes", "cannot be executed: Permission denied"),
        ("gadus=/bin/true", "not a gadus program; --version printed"),
        ("postgres", "[possible values: gadus=PATH]"),
    ] {
        let output = folder.run(&locks_against(peer));
        assert_eq!(output.status.code(), Some(2), "{peer}");
        let told = error_of(&output);
        assert!(told.contains(&format!("'{peer}' for '--against <PEER>'")), "{told}");
        assert!(told.contains(problem), "{told}");
    }
}

#[test]
fn a_build_that_fails_is_named_and_others_are_compared() {
    let folder = Folder::new();
    let script = "echo starting >&2; echo 'error: unknown benchmark' >&2; exit 3";
    let failing = format!("gadus={}", pretender(&folder, script).display());
    let told = folder.refused(&locks_against(&failing));
    let expected = format!("error: {failing}: exit status: 3: error: unknown benchmark");
    assert!(told.contains(&expected), "{told}");

    let peers = format!("{failing},gadus={OWN}");
    let output = folder.run(&locks_against(&peers));
    assert_eq!(output.status.code(), Some(1));
    assert!(error_of(&output).contains(&expected), "{}", error_of(&output));
    let figures = figures(&output);
    assert_eq!(figures.len(), 4, "{figures:?}");
    assert!(figures.iter().all(|figure| figure["peer"] == format!("gadus={OWN}")));
}

#[test]
fn a_figure_that_a_build_lacks_is_named() {
    let folder = Folder::new();
    let line = r#"{"case":"row","metric":"lock_unlock_ns","value":1e3,"unit":"ns"}"#;
    let script = format!("echo '{line}'; echo 'only rows' >&2");
    let peer = format!("gadus={}", pretender(&folder, &script).display());
    let output = folder.run(&locks_against(&peer));
    let told = error_of(&output);
    assert!(output.status.success(), "{told}");
    let gap = format!("{peer}: no lock_unlock_ns of \"fast path\"; its last message: only rows");
    assert!(told.contains(&gap), "{told}");
    let figures = figures(&output);
    let row = figures.iter().find(|one| one["case"] == "row" && one["metric"] == "lock_unlock_ns");
    assert_eq!(row.unwrap()["peer_value"], 1e3);
    let with_peer = figures.iter().filter(|figure| !figure["peer"].is_null());
    assert_eq!((figures.len(), with_peer.count()), (4, 1));
}

#[test]
fn few_rounds_are_for_builds_alone() {
    let folder = Folder::new();
    for bench in ["locks", "python"] {
        let told = folder.refused(&["bench", bench, "--rounds", "4", "--dir", "."]);
        assert!(told.contains("--rounds 4 is too few; expected at least 5"), "{bench}: {told}");
    }
}

#[test]
fn help_tells_how_a_build_is_named() {
    let folder = Folder::new();
    for bench in [
        "load",
        "commit",
        "scan",
        "bookings",
        "noise",
        "budget",
        "streams",
        "tpch",
        "clickbench",
        "memory",
        "update",
        "processes",
        "wire",
        "freeze",
        "scopes",
        "locks",
    ] {
        let help = folder.printed(&["bench", bench, "--help"]);
        assert!(help.contains("gadus=PATH is the program of another build"), "{bench}: {help}");
    }
}
