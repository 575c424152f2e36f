//! `gadus generate`, against golden files; `GADUS_REWRITE=1` rewrites them.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn gadus(words: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gadus"));
    command.args(words.split_whitespace());
    command
}

fn run(words: &str) -> Output {
    gadus(words).output().unwrap()
}

fn printed(words: &str) -> String {
    let output = run(words);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.stderr.is_empty(), "silent without a terminal");
    String::from_utf8(output.stdout).unwrap()
}

fn matches_golden(name: &str, text: &str) {
    // Of the checkout that is tested, which need not be the one that was compiled.
    let package = std::env::var_os("CARGO_MANIFEST_DIR").unwrap();
    let path = Path::new(&package).join("tests/golden").join(name);
    if std::env::var_os("GADUS_REWRITE").is_some() {
        fs::write(&path, text).unwrap();
    }
    let golden = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(text, golden, "{name}: rewrite by GADUS_REWRITE=1 and review the difference");
}

#[test]
fn a_seed_gives_the_same_bookings_everywhere_and_always() {
    matches_golden("bookings.csv", &printed("generate bookings --rows 12 --seed 7"));
    assert_ne!(
        printed("generate bookings --rows 12 --seed 7"),
        printed("generate bookings --rows 12 --seed 8")
    );
}

#[test]
fn a_seed_gives_the_same_hits_everywhere_and_always() {
    matches_golden("hits.csv", &printed("generate hits --rows 6 --seed 7"));
    assert_ne!(
        printed("generate hits --rows 6 --seed 7"),
        printed("generate hits --rows 6 --seed 8")
    );
}

#[test]
fn statements_are_printed_for_loading() {
    let statements = ["bookings", "tpch", "hits"];
    let statements = statements.map(|what| printed(&format!("generate {what} --create-table")));
    matches_golden("create_tables.sql", &statements.concat());
}

#[test]
fn queries_are_printed_for_asking() {
    let queries = printed("generate tpch --queries");
    assert_eq!(queries.matches(";\n").count(), 22);
    assert!(!queries.contains('['), "every parameter has its value");
    assert!(queries.starts_with("SELECT"), "{queries}");
    assert_eq!(printed("generate hits --queries").matches(";\n").count(), 43);
    let refused = run("generate tpch --queries lineitem");
    assert!(!refused.status.success());
}

#[test]
fn a_tpch_table_is_the_one_of_the_standard() {
    let text = printed("generate tpch region --format table --scale-factor 0.01");
    matches_golden("tpch_region.txt", &text);
}

#[test]
fn output_goes_to_a_file_when_one_is_named() {
    let path = std::env::temp_dir().join(format!("gadus-generate-{}.jsonl", std::process::id()));
    let words = format!("generate bookings --rows 20 --format jsonl --output {}", path.display());
    assert_eq!(printed(&words), "");
    let text = fs::read_to_string(&path).unwrap();
    fs::remove_file(&path).unwrap();
    assert_eq!(text.lines().count(), 20);
}

#[test]
fn a_reader_that_goes_away_ends_the_program_quietly() {
    for format in ["table", "csv", "json", "jsonl", "markdown", "arrow"] {
        let mut child = gadus(&format!("generate bookings --rows 2000000 --format {format}"))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdout.take().unwrap().read_exact(&mut [0; 100]).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{format}: {output:?}");
    }
}

#[test]
fn mistakes_are_explained_and_fail() {
    for (words, expected) in [
        ("generate bookings --rows 3000000000", "2176782336"),
        ("generate tpch planets", "lineitem"),
        ("generate tpch region --scale-factor 0", "from 0.001"),
        (
            "generate bookings --rows 1 --output /no/such/folder/file",
            "cannot create /no/such/folder",
        ),
    ] {
        let output = run(words);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && message.contains(expected), "{words}: {message}");
    }
}
