//! `gadus machine`: facts, and where work should go, on machines that are described.

use crate::folder::Folder;
use gadus_machine::{Facts, Identity, KeptFacts, Source};
use serde_json::Value;
use std::collections::BTreeMap;
use std::process::Command;

fn described(name: &str) -> String {
    // Tests run in the folder of their crate, the program elsewhere.
    let here = std::env::current_dir().unwrap();
    format!("{}/../gadus-machine/topologies/{name}", here.display())
}

/// Core, node and bytes of each partition.
fn placed(name: &str, more: &[&str]) -> Vec<(u64, u64, u64)> {
    let file = described(name);
    let command = ["machine", "place", "--topology", &file, "--bound", "compute", "--json"];
    let printed = Folder::new().printed(&[&command[..], more].concat());
    let parts: Vec<Value> = serde_json::from_str(&printed).unwrap();
    for (number, part) in parts.iter().enumerate() {
        assert_eq!(part["partition"], number);
    }
    let of = |part: &Value, name: &str| part[name].as_u64().unwrap();
    parts.iter().map(|part| (of(part, "core"), of(part, "node"), of(part, "bytes"))).collect()
}

fn by_node(parts: &[(u64, u64, u64)]) -> BTreeMap<u64, usize> {
    let mut counts = BTreeMap::<u64, usize>::new();
    parts.iter().for_each(|(_, node, _)| *counts.entry(*node).or_default() += 1);
    counts
}

fn cores(parts: &[(u64, u64, u64)]) -> Vec<u64> {
    let mut cores = parts.iter().map(|(core, ..)| *core).collect::<Vec<_>>();
    cores.sort_unstable();
    cores
}

/// The AMD machine of Giceva et al. 2013: four sockets of four cores with 4 GiB each.
#[test]
fn the_paper_s_machine_is_divided_as_in_the_paper() {
    let parts = placed("shanghai.xml", &["--bytes", "7GiB"]);
    assert_eq!(cores(&parts), (0..16).collect::<Vec<_>>());
    assert_eq!(by_node(&parts), (0..4).map(|node| (node, 4)).collect());
    assert_eq!(parts.iter().map(|(_, _, bytes)| bytes).sum::<u64>(), 7 << 30);

    let parts = placed("shanghai.xml", &["--bytes", "7GiB", "--core-load", "0=1.0"]);
    assert_eq!(cores(&parts), (1..16).collect::<Vec<_>>(), "core 0 has something else to do");

    let parts = placed("shanghai.xml", &["--bytes", "7GiB", "--memory-taken", "1=3GiB"]);
    assert_eq!(parts.len(), 16);
    assert!(by_node(&parts).get(&1).is_none_or(|count| *count <= 2), "{parts:?}");
}

/// The first experiment of the paper, replayed: all nodes' memory is busy, not that of two.
#[test]
fn a_scan_that_is_placed_is_simulated_beside_one_that_is_not() {
    let file = described("shanghai.xml");
    let costs = ["--core-rate", "1", "--thread-rate", "3", "--node-rate", "3"];
    let command = ["machine", "simulate", "--topology", &file, "--bytes", "7GiB", "--json"];
    let printed = Folder::new().printed(&[&command[..], &costs].concat());
    let layouts: Vec<Value> =
        printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let busy = |layout: &Value| {
        let nodes = layout["node_bytes_per_second"].as_array().unwrap();
        nodes.iter().filter(|rate| rate.as_f64().unwrap() > 0.0).count()
    };
    assert_eq!(layouts.iter().map(busy).collect::<Vec<_>>(), [4, 2]);
    assert!(layouts.iter().all(|layout| layout["simulated"] == true));
    let seconds = |layout: &Value| layout["seconds"].as_f64().unwrap();
    assert!(seconds(&layouts[0]) < seconds(&layouts[1]));
}

/// Of this machine as of another, the layout that leaves all to the system has what the system gives.
#[test]
fn a_simulation_of_this_machine_leaves_out_what_the_process_may_not_use() {
    let mut command = Command::new("taskset");
    command.args(["-c", "0", env!("CARGO_BIN_EXE_gadus"), "machine", "simulate", "--bytes"]);
    command.args(["64MiB", "--thread-rate", "1", "--node-rate", "1", "--json"]);
    let Ok(output) = command.output() else {
        return println!("skipped: there is no taskset");
    };
    let printed = String::from_utf8(output.stdout).unwrap();
    let layouts = printed.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let counts = layouts.map(|layout| layout["partitions"].as_u64().unwrap());
    assert_eq!(counts.collect::<Vec<_>>(), [1, 1], "{printed}");
}

#[test]
fn threads_that_avoid_each_other_s_caches_have_one_each() {
    let avoid = ["--bytes", "1GiB", "--partitions", "4", "--cache-sharing", "avoid"];
    let parts = placed("cache-pairs.xml", &avoid);
    let pairs = cores(&parts).iter().map(|core| core / 2).collect::<Vec<_>>();
    assert_eq!(pairs, [0, 1, 2, 3]);
}

/// Two threads of 10 GB/s keep 20 GB/s of each node busy.
#[test]
fn work_that_memory_bounds_is_divided_by_what_memory_gives() {
    let rates = ["--bytes", "7GiB", "--thread-rate", "10", "--node-rate", "20"];
    let file = described("shanghai.xml");
    let count = |more: &[&str]| {
        let command = ["machine", "place", "--topology", &file, "--json"];
        let printed = Folder::new().printed(&[&command[..], more].concat());
        serde_json::from_str::<Vec<Value>>(&printed).unwrap().len()
    };
    assert_eq!(count(&[&rates[..], &["--bound", "memory"]].concat()), 8);
    assert_eq!(count(&[&rates[..], &["--bound", "compute"]].concat()), 16);
    assert_eq!(count(&["--bytes", "7GiB", "--bound", "memory"]), 16, "nobody knows");
}

#[test]
fn facts_are_printed_saved_and_compared() {
    let folder = Folder::new();
    let printed = folder.printed(&["machine", "facts", "--json", "--save", "here.json"]);
    let facts: Value = serde_json::from_str(&printed).unwrap();
    let facts = facts["facts"].as_array().unwrap();
    let known = |subject: &str, name: &str| {
        facts.iter().find(|fact| fact["subject"] == subject && fact["name"] == name)
    };
    assert!(known("machine", "cores").unwrap()["value"].as_u64().unwrap() >= 1);
    assert!(known("kernel", "release").is_some());
    assert_eq!(folder.printed(&["machine", "diff", "here.json", "here.json"]), "");
    for (name, saved) in [("one-by-two.xml", "small.json"), ("shanghai.xml", "large.json")] {
        let file = described(name);
        folder.printed(&["machine", "facts", "--topology", &file, "--save", saved]);
    }
    let differences = folder.printed(&["machine", "diff", "small.json", "large.json"]);
    assert!(differences.contains("~ machine cores: 2 -> 16"), "{differences}");
    assert!(differences.contains("+ core 15 processors: 15"), "{differences}");
}

#[test]
fn wrong_questions_name_what_is_wrong() {
    let folder = Folder::new();
    std::fs::write(folder.path("letter.xml"), "<letter>Dear Ada</letter>").unwrap();
    std::fs::write(folder.path("broken.xml"), "<topology version=\"2.0\">").unwrap();
    let file = described("shanghai.xml");
    for (more, said) in [
        (vec!["--topology", "letter.xml", "--bytes", "1GiB"], "lstopo"),
        (vec!["--topology", "broken.xml", "--bytes", "1GiB"], "broken.xml"),
        (vec!["--topology", "nowhere.xml", "--bytes", "1GiB"], "nowhere.xml"),
        (vec!["--topology", &file, "--bytes", "17GiB"], "16.0 GiB"),
        (vec!["--topology", &file, "--bytes", "0"], "nothing"),
        (vec!["--topology", &file, "--bytes", "1GiB", "--core-load", "16=1"], "no core 16"),
        (vec!["--topology", &file, "--bytes", "1GiB", "--core-load", "0=-1"], "load"),
        (vec!["--topology", &file, "--bytes", "1GiB", "--memory-taken", "1=5GiB"], "4.0 GiB"),
        (vec!["--topology", &file, "--bytes", "1GiB", "--memory-taken", "9=1"], "there are 0-3"),
    ] {
        let error = folder.refused(&[&["machine", "place"][..], &more[..]].concat());
        assert!(error.contains(said), "{more:?}: {error}");
    }
    for more in [
        vec!["--bytes", "1GiB", "--partitions", "0"],
        vec!["--bytes", "much"],
        vec!["--bytes", "1GiB", "--core-load", "one"],
    ] {
        let output = folder.run(&[&["machine", "place"][..], &more[..]].concat());
        assert_eq!(output.status.code(), Some(2), "{more:?}");
    }
}

/// Neither without an end, nor waiting for somebody who writes.
#[test]
fn files_that_never_end_are_refused() {
    let folder = Folder::new();
    let long = std::fs::File::create(folder.path("long")).unwrap();
    long.set_len(1 << 40).unwrap();
    assert!(Command::new("mkfifo").arg(folder.path("pipe")).status().unwrap().success());
    for (file, said) in [
        ("long", "it is longer than 16.0 MiB"),
        ("pipe", "it is no regular file"),
        ("/dev/zero", "it is no regular file"),
        (".", "it is no regular file"),
    ] {
        for command in [&["machine", "--topology", file][..], &["machine", "diff", file, file]] {
            let error = folder.refused(command);
            assert!(error.contains(said), "{command:?}: {error}");
        }
    }
}

#[test]
fn a_machine_is_pictured_as_text_drawing_and_json() {
    let folder = Folder::new();
    let here = folder.printed(&["machine"]);
    assert!(here.contains("core") && here.contains("┌ package") && here.contains(" %"), "{here}");
    assert!(here.lines().all(|line| line.chars().count() <= 80), "{here}");
    let file = described("shanghai.xml");
    let there = folder.printed(&["machine", "--topology", &file]);
    assert_eq!(there, folder.printed(&["machine", "show", "--topology", &file]));
    assert!(there.contains("│ │ ┌ L3 6.0 MiB of 4-7\n"), "{there}");
    assert_eq!(folder.printed(&["machine", "--svg", "here.svg"]), "");
    let drawing = std::fs::read_to_string(folder.path("here.svg")).unwrap();
    assert!(drawing.starts_with("<svg ") && drawing.ends_with("</svg>\n"));
    let json = folder.printed(&["machine", "show", "--json"]);
    let machine: Value = serde_json::from_str(&json).unwrap();
    let load = machine["cores"][0]["load"].as_f64().unwrap();
    assert!((0.0..=1.0).contains(&load));
    let error = folder.refused(&["machine", "--svg", "nowhere/here.svg"]);
    assert!(error.contains("nowhere/here.svg"), "{error}");
}

#[test]
fn choices_are_explained() {
    let folder = Folder::new();
    let file = described("shanghai.xml");
    let explained = |more: &[&str]| {
        let command = ["machine", "explain", "--topology", &file, "--json"];
        let printed = folder.printed(&[&command[..], more].concat());
        serde_json::from_str::<Vec<Value>>(&printed).unwrap()
    };
    let all = explained(&[]);
    let choices = all.iter().map(|decision| {
        let text = |name: &str| decision[name].as_str().unwrap().to_owned();
        (text("question"), text("choice"))
    });
    let expected = [
        ("cache", "2 GiB"),
        ("cache scope", "process"),
        ("cache sizes", "L1 64.0 KiB, L2 512.0 KiB, L3 6.0 MiB"),
        ("memory limit", "8 GiB"),
        ("partitions", "16"),
        ("scan threads", "16"),
    ];
    let expected = expected.map(|(question, choice)| (question.to_owned(), choice.to_owned()));
    assert_eq!(choices.collect::<Vec<_>>(), expected);
    assert_eq!(explained(&["partitions", "--bytes", "1MiB"])[0]["choice"], "2");
    let here = folder.printed(&["machine", "explain"]);
    assert!(here.contains("scan threads: ") && here.contains(" s ago)"), "{here}");
    assert!(here.contains("\nwait for expected = 20 µs: "), "{here}");
    let error = folder.refused(&["machine", "explain", "wait", "--topology", &file]);
    assert!(error.contains("is measured"), "{error}");
    let error = folder.refused(&["machine", "explain", "scan-thread"]);
    assert!(error.contains("did you mean scan-threads?") && error.contains("memory-limit"));
}

#[test]
fn what_changes_is_told_line_by_line() {
    let folder = Folder::new();
    let watch = ["machine", "watch", "--every", "20ms", "--count", "2"];
    let printed = folder.printed(&[&watch[..], &["--json"]].concat());
    let lines = printed.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let lines = lines.collect::<Vec<_>>();
    assert!(lines.iter().all(|line| line["seconds"].as_u64().is_some()), "{printed}");
    let is_load = |line: &Value| line["added"]["name"] == "load";
    assert!(lines.iter().any(is_load), "{printed}");
    assert!(folder.printed(&watch).contains(" UTC + process processors: "));
    let error = folder.refused(&["machine", "watch", "--every", "1ms"]);
    assert!(error.contains("10ms"), "{error}");
}

/// What an open database does by it is in its decisions.
#[test]
fn a_database_follows_what_was_measured() {
    let folder = Folder::new();
    let decided = |question: &str| {
        let text = format!(
            "SELECT choice, reason LIKE '%assumed%' FROM gadus.decisions WHERE question = '{question}'"
        );
        folder.printed(&["x.gadus", "--format", "csv", "-c", &text])
    };
    assert!(decided("io path").contains("\"read, 64 KiB\",true"), "{}", decided("io path"));
    assert!(decided("latch looks").contains("100,true"), "{}", decided("latch looks"));
    let mut facts = Facts::default();
    for (name, cost) in [
        ("cold scan by read, 64 KiB", 300_000.0),
        ("cold scan by read, all of it announced", 150_000.0),
        ("wake-up on another processor", 40_000.0),
    ] {
        facts.note(("kernel", name), cost, "ns", Source::Measured);
    }
    let kept = KeptFacts::in_folder(&folder.path("caches").join("gadus"));
    kept.keep(&Identity::of_this_machine(&folder.path("")), &facts).unwrap();
    let path = decided("io path");
    assert!(path.contains("\"read, all of it announced\",false"), "{path}");
    let commits = decided("group commit");
    assert!(commits.contains("from syncs of 2000 µs on,false"), "{commits}");
}

/// What was measured of the kernel is named with the answer; without it, the answer is assumed.
#[test]
fn the_kernel_is_known_once_it_was_measured() {
    let folder = Folder::new();
    let explained = |question: &str| folder.printed(&["machine", "explain", question]);
    let assumed =
        |question: &str| explained(question).contains("\n  assumed, as nothing was measured");
    assert!(assumed("io-path") && assumed("client-transport"));
    let kub = ["kub", "--quick", "--only", "message", "--json"];
    folder.printed(&[&kub[..], &["--forget"]].concat());
    assert!(assumed("client-transport"), "what is forgotten is not known");
    folder.printed(&kub);
    let known = explained("client_transport");
    assert!(known.contains("\n  fact: kernel message of 8192 bytes by "), "{known}");
    assert!(known.contains(" (measured, ") && known.contains("\n  costs of "), "{known}");
    assert!(assumed("io-path"), "files were not measured");
    let counted = "SELECT count(*) > 5 FROM gadus.facts WHERE name LIKE 'message of %'";
    assert!(folder.printed(&["-c", counted]).contains("true"));
    let kept =
        std::fs::read_dir(folder.path("caches/gadus")).unwrap().next().unwrap().unwrap().path();
    std::fs::write(&kept, "{").unwrap();
    let all = folder.printed(&["machine", "explain"]);
    assert!(all.matches("\n  assumed, because ").count() >= 3, "{all}");
    assert!(all.contains("delete it, and run gadus kub again"), "{all}");
    assert!(all.contains("scan threads: ") && all.contains("\nwait for expected"), "{all}");
    let error = folder.refused(&["machine", "explain", "io-path", "--dir", "/nonexistent"]);
    assert!(error.contains("/nonexistent is no folder"), "{error}");
    let error = folder.refused(&["machine", "explain", "client-transport"]);
    assert!(error.contains("delete it, and run gadus kub again"), "{error}");
    std::fs::remove_file(&kept).unwrap();
    assert!(assumed("client-transport"));
}
