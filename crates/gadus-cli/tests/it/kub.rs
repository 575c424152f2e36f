//! `gadus kub` where things are missing: it measures what it can, names the rest, and leaves nothing behind.
//!
//! - What needs a privilege to be arranged is skipped without, and says so.

use crate::folder::{Folder, error_of};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicBool, Ordering};

/// The exit code of who could not arrange what a test needs.
const NOT_ARRANGED: i32 = 77;

/// What stands on the error stream before the names of what was left in the folder.
const LEFT: &str = "left behind:";

/// The program in a file system in memory that has these options; none where one cannot be mounted here.
fn mounted(folder: &Folder, options: &str, arguments: &[&str]) -> Option<Output> {
    let place = folder.path("mounted");
    fs::create_dir_all(&place).unwrap();
    let script = format!(
        "mount -t tmpfs -o \"$1\" none \"$2\" || exit {NOT_ARRANGED}; cd \"$2\"; shift 2; \
         \"$@\"; code=$?; echo \"{LEFT}$(ls -A)\" >&2; exit $code"
    );
    let program = folder.gadus(arguments);
    let mut inside = Command::new("unshare");
    inside.args(["--mount", "--map-root-user", "sh", "-c", &script, "sh", options]);
    inside.arg(&place).arg(program.get_program()).args(program.get_args());
    inside.env("XDG_CACHE_HOME", folder.path("caches"));
    match inside.output() {
        Ok(output) if output.status.code() != Some(NOT_ARRANGED) => Some(output),
        Ok(output) => {
            println!("skipped: {}", error_of(&output).trim());
            None
        }
        Err(error) => {
            println!("skipped: unshare: {error}");
            None
        }
    }
}

/// The lines of a report.
fn lines(output: &Output) -> Vec<Value> {
    assert!(output.status.success(), "{}", error_of(output));
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The cells of a benchmark.
fn cells<'a>(lines: &'a [Value], benchmark: &str) -> Vec<&'a Value> {
    let of = |line: &&Value| line["kind"] == "cell" && line["benchmark"] == benchmark;
    lines.iter().filter(of).collect()
}

/// Whether something of a benchmark was skipped for a reason that says this.
fn skipped(lines: &[Value], benchmark: &str, why: &str) -> bool {
    lines.iter().any(|line| {
        line["kind"] == "skipped"
            && line["benchmark"] == benchmark
            && line["why"].as_str().is_some_and(|reason| reason.contains(why))
    })
}

fn left_nothing(output: &Output) {
    let said = error_of(output);
    assert!(said.lines().any(|line| line == LEFT), "{said}");
}

#[test]
fn a_folder_that_is_only_read_costs_what_needs_files() {
    let folder = Folder::new();
    let kub = ["kub", "--quick", "--json", "--only"];
    let Some(output) = mounted(&folder, "ro", &[&kub[..], &["null,lock,sync"]].concat()) else {
        return;
    };
    let report = lines(&output);
    assert_eq!(cells(&report, "null").len(), 1);
    for benchmark in ["lock", "sync"] {
        assert!(skipped(&report, benchmark, "Read-only file system"), "{report:?}");
    }
    left_nothing(&output);
    let Some(nothing) = mounted(&folder, "ro", &[&kub[..], &["sync"]].concat()) else { return };
    assert_eq!(nothing.status.code(), Some(1));
    assert!(error_of(&nothing).contains("nothing could be measured"), "{}", error_of(&nothing));
    left_nothing(&nothing);
}

#[test]
fn a_full_disk_costs_what_does_not_fit() {
    let folder = Folder::new();
    let kub = ["kub", "--quick", "--json", "--only", "bind,lock"];
    let Some(output) = mounted(&folder, "size=1m", &kub) else { return };
    let report = lines(&output);
    assert!(skipped(&report, "bind", "No space left on device"), "{report:?}");
    // Of what a large file was tried for nothing is left that would keep a small one from being measured.
    let small = cells(&report, "bind");
    let small = small.iter().filter(|cell| cell["name"] == "use a part of a file and give it up");
    assert!(small.count() >= 1, "{report:?}");
    assert!(cells(&report, "lock").len() >= 5);
    left_nothing(&output);
}

#[test]
fn files_in_memory_are_not_taken_for_files_on_a_disk() {
    let folder = Folder::new();
    let kub = ["kub", "--quick", "--json", "--only", "bind,sync,locality"];
    let Some(output) = mounted(&folder, "size=200m", &kub) else { return };
    let report = lines(&output);
    let is_cold = |cell: &&&Value| cell["variables"]["cache"] == "cold";
    assert_eq!(cells(&report, "bind").iter().filter(is_cold).count(), 0);
    assert!(cells(&report, "bind").len() >= 4 && cells(&report, "sync").is_empty());
    for benchmark in ["bind", "sync"] {
        assert!(skipped(&report, benchmark, "keeps files in memory alone"), "{report:?}");
    }
    assert!(skipped(&report, "locality", "does not tell extents"), "{report:?}");
    left_nothing(&output);
}

#[test]
fn who_has_no_privileges_measures_all_but_what_needs_them() {
    const NOBODY: u32 = 65_534;
    let folder = Folder::new();
    let (place, program) = (folder.path("place"), folder.path("gadus"));
    fs::create_dir(&place).unwrap();
    let arguments = ["kub", "--quick", "--json", "--forget", "--only", "null,schedule,lock"];
    let mut command = match std::os::unix::fs::chown(&place, Some(NOBODY), Some(NOBODY)) {
        Ok(()) => {
            // Where nobody may go who is not its owner, another name of the program is.
            let built = Path::new(env!("CARGO_BIN_EXE_gadus"));
            fs::hard_link(built, &program)
                .or_else(|_| fs::copy(built, &program).map(drop))
                .unwrap();
            let mut command = Command::new("setpriv");
            let nobody = NOBODY.to_string();
            command.args(["--clear-groups", "--reuid", &nobody, "--regid", &nobody]);
            command.arg(&program).args(arguments);
            command
        }
        // Who may not give a folder away has no privileges himself.
        Err(_) => folder.gadus(&arguments),
    };
    let output = command.current_dir(&place).output().unwrap();
    let report = lines(&output);
    assert!(skipped(&report, "schedule", "real-time class: Operation not permitted"), "{report:?}");
    assert!(cells(&report, "schedule").len() >= 7 && cells(&report, "lock").len() >= 5);
    assert_eq!(fs::read_dir(&place).unwrap().count(), 0);
}

#[test]
fn a_program_that_never_sleeps_is_told_of() {
    let folder = Folder::new();
    let is_over = AtomicBool::new(false);
    let output = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        });
        let output =
            folder.run(&["kub", "--quick", "--json", "--forget", "--only", "null,domains"]);
        is_over.store(true, Ordering::Relaxed);
        output
    });
    let report = lines(&output);
    assert_eq!(report[0]["quiet"], false, "{}", report[0]);
    assert!(cells(&report, "null").iter().all(|cell| cell["quiet"] == false), "{report:?}");
    let settings = report.iter().filter(|line| line["kind"] == "setting").collect::<Vec<_>>();
    assert!(settings.iter().all(|setting| setting["setting"].is_null()), "{settings:?}");
}

/// However the question is spelled, its answer names what was measured; without that it is assumed.
#[test]
fn how_files_are_read_is_known_once_it_was_measured() {
    let folder = Folder::new();
    let explained = |question: &str| folder.printed(&["machine", "explain", question]);
    assert!(explained("io_path").contains("\n  assumed, as nothing was measured"));
    folder.printed(&["kub", "--quick", "--only", "bind"]);
    for question in ["io_path", "io-path"] {
        let known = explained(question);
        assert!(known.contains("\n  fact: kernel cold scan by O_DIRECT, io_uring"), "{known}");
        assert!(
            known.contains("\n  fact: kernel cold scan by mapped") && !known.contains("assumed")
        );
        assert!(known.contains(" (measured, ") && known.contains("\n  costs of "), "{known}");
    }
    fs::remove_dir_all(folder.path("caches")).unwrap();
    assert!(explained("io_path").contains("\n  assumed, as nothing was measured"));
}
