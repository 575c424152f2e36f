//! `gadus bench` at small sizes: the figures are there, and nothing is left behind.

use crate::folder::{Folder, error_of};
use serde_json::Value;

/// Runs a benchmark that prints JSON; returns its figures.
fn figures(folder: &Folder, words: &[&str]) -> Vec<Value> {
    let mut all = vec!["bench"];
    all.extend(words);
    all.extend(["--json", "--dir", "."]);
    let printed = folder.printed(&all);
    let figures: Vec<Value> =
        printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for figure in &figures {
        assert_eq!(figure["bench"], words[0]);
        for key in ["case", "metric", "unit", "quiet"] {
            assert!(!figure[key].is_null(), "{key}: {figure}");
        }
    }
    let left = std::fs::read_dir(folder.path("gadus-bench")).unwrap();
    let left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.is_empty(), "{left:?}");
    figures
}

fn value(figures: &[Value], case: &str, metric: &str) -> f64 {
    let found = figures.iter().find(|figure| figure["case"] == case && figure["metric"] == metric);
    found.unwrap_or_else(|| panic!("{case}, {metric}: {figures:?}"))["value"].as_f64().unwrap()
}

#[test]
fn kills_lose_nothing_and_leave_no_damage() {
    let folder = Folder::new();
    let figures = figures(&folder, &["kill", "--kills", "12"]);
    assert_eq!(value(&figures, "4 writers", "kills"), 12.0);
    assert_eq!(value(&figures, "4 writers", "lost"), 0.0);
    assert_eq!(value(&figures, "4 writers", "errors"), 0.0);
    assert!(value(&figures, "4 writers", "acknowledged") > 0.0);
}

#[test]
fn survivors_of_kills_lose_nothing() {
    let folder = Folder::new();
    let figures = figures(&folder, &["kill", "--kills", "40", "--processes", "4"]);
    let case = "4 processes";
    assert_eq!(value(&figures, case, "kills"), 40.0);
    assert_eq!(value(&figures, case, "lost"), 0.0);
    assert_eq!(value(&figures, case, "errors"), 0.0);
    assert!(value(&figures, case, "acknowledged") > 0.0);
    assert!(value(&figures, case, "stall_ms_p999") >= 0.0);
    assert!(value(&figures, case, "pause_without_kill_ms_max") >= 0.0);
}

#[test]
fn processes_update_one_file_without_errors() {
    let folder = Folder::new();
    let words = ["processes", "--writers", "1,4", "--time", "50ms", "--against", "sqlite"];
    let figures = figures(&folder, &words);
    for case in ["1 writers", "4 writers"] {
        assert!(value(&figures, case, "commits") > 0.0);
        assert!(value(&figures, case, "p99_ms") > 0.0);
        assert!(value(&figures, case, "commits_per_sync") > 0.0);
    }
    assert_eq!(value(&figures, "all", "errors"), 0.0);
}

#[test]
fn processes_read_and_update_one_file_without_errors() {
    let folder = Folder::new();
    let words = ["processes", "--mix", "point", "--processes", "1,4", "--time", "50ms"];
    let words = [&words[..], &["--against", "sqlite"]].concat();
    let figures = figures(&folder, &words);
    for case in ["1 processes", "4 processes"] {
        let of_sqlite = |metric: &str| {
            let found = figures.iter().find(|figure| {
                figure["case"] == case && figure["metric"] == metric && figure["peer"] == "sqlite"
            });
            found.unwrap()["peer_value"].as_f64().unwrap()
        };
        for metric in ["reads", "commits", "p99_ms"] {
            assert!(value(&figures, case, metric) > 0.0, "{case} {metric}");
            assert!(of_sqlite(metric) > 0.0, "{case} {metric}");
        }
        assert_eight_to_one(value(&figures, case, "reads"), value(&figures, case, "commits"));
        assert_eight_to_one(of_sqlite("reads"), of_sqlite("commits"));
    }
    assert_eq!(value(&figures, "all", "errors"), 0.0);
}

/// Medians of odd counts, so they are those of the same round.
fn assert_eight_to_one(reads: f64, commits: f64) {
    assert!((reads / commits - 8.0).abs() < 1e-6, "{reads} to {commits}");
}

#[test]
fn a_peer_that_does_not_play_a_mix_is_refused() {
    let folder = Folder::new();
    let words = ["bench", "processes", "--mix", "point", "--against", "postgres", "--dir", "."];
    let told = folder.refused(&words);
    assert!(told.contains("leave it out of --against"), "{told}");
}

#[test]
fn locks_are_timed_on_both_paths_beside_mutexes_and_file_locks() {
    let folder = Folder::new();
    let figures = figures(&folder, &["locks", "--time", "2ms"]);
    for case in ["fast path", "row"] {
        for peer in ["mutex pair", "fcntl pair"] {
            let found = figures.iter().find(|figure| {
                figure["case"] == case
                    && figure["metric"] == "lock_unlock_ns"
                    && figure["peer"] == peer
            });
            let found = found.unwrap_or_else(|| panic!("{case}, {peer}: {figures:?}"));
            for key in ["value", "peer_value", "ratio", "ratio_low", "ratio_high"] {
                assert!(found[key].as_f64().unwrap() > 0.0, "{key}: {found}");
            }
            assert_eq!(found["unit"], "ns");
            assert_eq!(found["rounds"], 5);
        }
        assert!(value(&figures, case, "locks_per_second") > 0.0);
    }
}

#[test]
fn readers_are_measured_in_both_scopes_as_threads_and_as_processes() {
    let folder = Folder::new();
    let words = ["scopes", "--readers", "1,2", "--rows", "5000", "--queries", "2"];
    let figures = figures(&folder, &[&words[..], &["--burst-time", "60ms"]].concat());
    for (who, scope) in [
        ("threads", "process"),
        ("threads", "connection"),
        ("processes", "process"),
        ("processes", "connection"),
    ] {
        for readers in [1, 2] {
            let case = format!("{readers} readers, {who}, {scope} scope");
            for metric in ["elapsed", "queries", "cpu", "memory"] {
                assert!(value(&figures, &case, metric) > 0.0, "{case} {metric}");
            }
        }
        let bursts = format!("2 readers, {who}, {scope} scope, bursts");
        assert!(value(&figures, &bursts, "commits") > 0.0, "{bursts}");
        assert!(value(&figures, &bursts, "queries") > 0.0, "{bursts}");
        let copies = format!("2 readers, {who}, {scope} scope");
        assert!(figures.iter().any(|one| one["case"] == copies && one["peer"] == "two copies"));
    }
    for scope in ["process", "connection"] {
        let case = format!("1000 idle connections, {scope} scope");
        assert!(value(&figures, &case, "memory_per_connection") > 0.0, "{case}");
    }
    assert!(value(&figures, "one row changed by another", "catch_up_ms_p99") > 0.0);
}

#[test]
fn questions_are_measured_beside_the_bare_pass_in_both_loops() {
    let folder = Folder::new();
    let words = ["bookings", "--rows", "20000", "--outstanding", "1,16", "--time", "50ms"];
    let words = [&words[..], &["--open-loop", "50%,400", "--copies"]].concat();
    let figures = figures(&folder, &words);
    let peer = |case: &str, peer: &str| {
        let mut of_case = figures.iter().filter(|one| one["case"] == case);
        of_case.find(|one| one["metric"] == "statements" && one["peer"] == peer)
    };
    for mix in ["queries", "with updates"] {
        for outstanding in [1, 16] {
            let case = format!("{outstanding} outstanding, {mix}");
            let bare = peer(&case, "bare pass").unwrap();
            for key in ["value", "peer_value", "ratio"] {
                assert!(bare[key].as_f64().unwrap() > 0.0, "{key}: {bare}");
            }
            assert_eq!(peer(&case, "two copies").is_some(), outstanding > 1, "{case}");
            assert!(value(&figures, &case, "memory_beside_mib") >= 0.0, "{case}");
        }
        for rate in ["50 %", "400 a second"] {
            let case = format!("open loop at {rate}, {mix}");
            // On a busy machine no rate is held; then there are no latencies.
            if value(&figures, &case, "rate_held") > 0.0 {
                for metric in ["statements", "p50_ms", "p99_ms", "p999_ms", "p99_in_bare_passes"] {
                    assert!(value(&figures, &case, metric) > 0.0, "{case} {metric}");
                }
            }
        }
    }
}

#[test]
fn a_wrong_rate_is_refused() {
    let folder = Folder::new();
    let output = folder.run(&["bench", "bookings", "--open-loop", "0%"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(error_of(&output).contains("a percentage: 70%"), "{}", error_of(&output));
}

#[test]
fn what_must_not_grow_is_looked_at_for_a_time() {
    let folder = Folder::new();
    let figures = figures(&folder, &["soak", "--hours", "0.0005", "--processes", "2"]);
    let case = "2 processes";
    for metric in ["lost", "errors"] {
        assert_eq!(value(&figures, case, metric), 0.0, "{metric}");
    }
    let sizes = ["resident", "lock_extents", "log", "data"];
    let grown = sizes.map(|size| format!("{size}_growth"));
    let sizes = sizes.into_iter().chain(grown.iter().map(String::as_str));
    for metric in sizes.chain(["commits_per_second", "kills"]) {
        assert!(value(&figures, case, metric) > 0.0, "{metric}");
    }
}

#[test]
fn commits_are_counted_for_each_number_of_clients_beside_the_bare_loop() {
    let folder = Folder::new();
    let figures = figures(&folder, &["commit", "--clients", "1,4", "--time", "150ms"]);
    assert!(value(&figures, "1 client", "commits_per_second") > 0.0);
    assert!(value(&figures, "4 clients", "commits_per_second") > 0.0);
    assert!(value(&figures, "4 clients", "speedup_over_one_client") > 0.0);
    let bare = figures.iter().find(|figure| figure["peer"] == "bare").unwrap();
    let (low, high) = (bare["ratio_low"].as_f64().unwrap(), bare["ratio_high"].as_f64().unwrap());
    // On a disk that is busy for a whole turn, a round has no commit.
    assert!(0.0 <= low && low <= high && high > 0.0, "{bare}");
    assert_eq!(bare["rounds"], 5);
}

#[test]
fn a_slower_disk_can_be_tried() {
    let folder = Folder::new();
    let words = ["commit", "--clients", "1", "--time", "100ms", "--sync-delay", "5ms"];
    let figures = figures(&folder, &words);
    // The delay alone allows 200 a second.
    assert!(value(&figures, "1 client", "commits_per_second") < 200.0);
    assert!(figures.iter().all(|figure| figure["peer"].is_null()));
}

#[test]
fn loading_tells_time_memory_and_size_with_and_without_key() {
    let folder = Folder::new();
    let figures = figures(&folder, &["load", "--rows", "2000"]);
    for case in ["with primary key", "without key"] {
        for metric in ["load_time", "peak_memory", "file_size"] {
            assert!(value(&figures, case, metric) > 0.0, "{case} {metric}");
        }
    }
}

#[test]
fn scans_and_the_first_lookup_are_timed() {
    let folder = Folder::new();
    let figures = figures(&folder, &["scan", "--rows", "2000"]);
    assert!(value(&figures, "open and find a key", "open_and_find_time") > 0.0);
    assert!(value(&figures, "filter and sum", "query_time") > 0.0);
}

#[test]
fn queries_of_clickbench_are_timed_one_by_one_and_together() {
    let folder = Folder::new();
    let figures = figures(&folder, &["clickbench", "--rows", "3000", "--queries", "1,29,43"]);
    let of = |case: &str| value(&figures, case, "query_time");
    let parts = ["query 1", "query 29", "query 43"].map(of);
    assert!(parts.iter().all(|time| *time > 0.0));
    // A median of sums, not a sum of medians.
    assert!(of("total") > parts.iter().copied().fold(0.0, f64::max) / 2.0);
    assert_eq!(figures.len(), 4);
}

#[test]
fn queries_with_little_memory_have_the_answers_of_those_with_much() {
    let folder = Folder::new();
    let words = ["memory", "--sf", "0.01", "--memory-limit", "512MiB", "--queries", "1,3,18"];
    let figures = figures(&folder, &words);
    for case in ["query 1", "query 3", "query 18"] {
        let found = figures.iter().find(|one| one["case"] == case && one["metric"] == "query_time");
        assert_eq!(found.unwrap()["peer"], "gadus, no limit", "{case}");
        assert!(value(&figures, case, "spilled") >= 0.0, "{case}");
    }
    assert_eq!(value(&figures, "total", "answers_compared"), 3.0);
    assert_eq!(value(&figures, "total", "failed"), 0.0);
    // Of a control group, or of the process where none can be made.
    let peaks = ["group_peak", "resident_peak"];
    let peak = figures.iter().find(|one| peaks.iter().any(|peak| one["metric"] == *peak));
    let peak = peak.unwrap()["value"].as_f64().unwrap();
    assert!((1e6..671_088_640.0).contains(&peak), "{peak}");
}

#[test]
fn updates_are_timed_of_many_rows_and_of_one() {
    let folder = Folder::new();
    let figures = figures(&folder, &["update", "--rows", "20000"]);
    for case in ["1 % anywhere", "1 % together"] {
        assert!(value(&figures, case, "update_time") > 0.0, "{case}");
        let rows = value(&figures, case, "rows_updated");
        assert!((120.0..400.0).contains(&rows), "{case}: {rows}");
    }
    assert!(value(&figures, "one row by its key", "update_time") > 0.0);
}

#[test]
fn streams_are_measured_with_and_without_sharing() {
    let folder = Folder::new();
    let words = ["streams", "--streams", "1,2", "--sf", "0.01", "--queries", "2"];
    let figures = figures(&folder, &[&words[..], &["--rounds", "1"]].concat());
    for case in ["1 streams", "2 streams"] {
        for metric in ["queries", "mean_ms", "p99_ms", "cpu_ms_per_query"] {
            let found =
                figures.iter().find(|one| one["case"] == case && one["metric"] == metric).unwrap();
            assert_eq!(found["peer"], "gadus, sharing never");
            for key in ["value", "peer_value", "ratio", "ratio_low", "ratio_high"] {
                assert!(found[key].as_f64().unwrap() > 0.0, "{key}: {found}");
            }
        }
        // Both of the queries that one stream asks may be answered without a plan.
        assert!(value(&figures, case, "scan_share") >= 0.0);
    }
}

#[test]
fn a_table_for_people_names_its_columns() {
    let folder = Folder::new();
    let words = ["bench", "commit", "--clients", "1", "--time", "10ms", "--dir", "."];
    let printed = folder.printed(&words);
    assert!(printed.contains("gadus is better by"), "{printed}");
    assert!(printed.contains("commits/s"), "{printed}");
}
