//! Each rule refuses what it names and lets the rest pass.

use super::finding::{Finding, Severity};
use super::source::Source;
use super::{architecture, edges, files, functions, names, test_code};

fn source(text: &str) -> Source {
    Source::new("crates/gadus-base/src/bytes.rs", text)
}

fn lines(findings: &[Finding]) -> Vec<usize> {
    findings.iter().map(|finding| finding.line).collect()
}

#[test]
fn mask_hides_comments_and_literals_and_keeps_positions() {
    let text = "let a = \"{\"; // }\nlet b = '{'; /* { /* */ */ let c = r#\"\"}\"#;\nfn f<'a>() {}";
    let code = source(text).code;
    assert_eq!(code.len(), text.len());
    assert!(!code.contains('"') && !code.contains("r#"), "{code}");
    assert_eq!(code.matches(['{', '}']).count(), 2, "{code}");
    assert!(code.ends_with("fn f<'a>() {}"));
    assert_eq!(source("let d = 'é'; let e = '\\''; {").code.trim_end().chars().last(), Some('{'));
}

#[test]
fn functions_are_measured_from_name_to_closing_brace() {
    let text = "fn a(x: [u8; 2]) -> [u8; 2]\n{\n    if true {}\n}\ntrait T { fn b(&self); }\n";
    let found = source(text).functions();
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].name.as_str(), found[0].line, found[0].lines), ("a", 1, 4));
}

#[test]
fn long_functions_may_stay_and_shrink_but_not_appear_or_grow() {
    let long = |lines: usize| [source(&format!("fn f() {{{}}}\n", "\n".repeat(lines - 1)))];
    assert!(functions::check(&long(70), "").is_empty());
    assert_eq!(lines(&functions::check(&long(71), "")), [1]);
    let recorded = functions::record(&long(80));
    assert_eq!(recorded, "crates/gadus-base/src/bytes.rs::f 80\n");
    assert!(functions::check(&long(80), &recorded).is_empty());
    assert!(functions::check(&long(75), &recorded).is_empty());
    assert_eq!(lines(&functions::check(&long(81), &recorded)), [1]);
}

#[test]
fn files_begin_with_their_purpose_and_stay_short_or_say_why_not() {
    assert_eq!(lines(&files::check(&source("fn f() {}\n"))), [1]);
    assert!(files::check(&source("//! Bytes.\n")).is_empty());
    let long = |header: &str, lines: usize| {
        files::check(&source(&(header.to_owned() + &"\n".repeat(lines))))
    };
    assert_eq!(long("//! Bytes.\n", 400)[0].severity, Severity::Warning);
    assert_eq!(long("//! Bytes.\n", 800)[0].severity, Severity::Error);
    assert!(long("//! Bytes.\n//! Long because it is a table.\n", 900).is_empty());
}

#[test]
fn names_that_say_nothing_are_refused() {
    for path in ["crates/a/src/utils.rs", "crates/common/src/lib.rs", "src/parser_v2.rs"] {
        assert_eq!(names::check(&Source::new(path, "")).len(), 1, "{path}");
    }
    assert!(names::check(&Source::new("src/parser_vectors.rs", "")).is_empty());
}

#[test]
fn tests_stand_beside_long_code_and_do_not_sleep() {
    let module = "#[cfg(test)]\nmod tests {\n    fn waits() {\n        sleep(1);\n    }\n}\n";
    let short = test_code::check(&source(module));
    assert_eq!(lines(&short), [4]);
    let long = test_code::check(&source(&("const A: u8 = 0;\n".repeat(101) + module)));
    assert_eq!(lines(&long), [103, 105]);
    assert!(long[0].message.contains("crates/gadus-base/src/bytes/tests.rs"));
    let outside = test_code::check(&source("fn waits() { sleep(1); }\n#[cfg(test)]\nmod tests;\n"));
    assert!(outside.is_empty());
    assert_eq!(lines(&test_code::check(&source("\nfn test_it() {}\n"))), [2]);
}

#[test]
fn edges_against_the_direction_are_refused() {
    let check = |name: &str, text: &str| {
        lines(&edges::check_manifest(&format!("crates/{name}/Cargo.toml"), text))
    };
    let upwards = "[dependencies]\ngadus-base.workspace = true\ngadus-sql = { path = \"../x\" }\n";
    assert_eq!(check("gadus-engine", upwards), [3]);
    assert_eq!(check("gadus-storage", "[dependencies]\narrow-array = \"59\"\n"), [2]);
    assert_eq!(check("gadus-engine", "[dependencies]\nd = { package = \"datafusion\" }\n"), [2]);
    assert_eq!(check("gadus-server", "[target.'cfg(unix)'.dependencies.datafusion]\n"), [1]);
    assert_eq!(check("gadus-locks", "[build-dependencies]\ntokio = \"1\"\n"), [2]);
    assert_eq!(check("gadus-new", ""), [1]);
    assert!(check("gadus-sql", "[dependencies]\ndatafusion.workspace = true\n").is_empty());
    assert!(check("gadus-base", "[dev-dependencies]\ntokio = \"1\"\n").is_empty());
}

#[test]
fn the_engine_opens_no_files() {
    let engine = |path: &str| {
        let text = "//! A.\n// std::fs is only mentioned here\nuse std::fs;\n";
        lines(&edges::check_source(&Source::new(path, text)))
    };
    assert_eq!(engine("crates/gadus-engine/src/segment.rs"), [3]);
    assert!(engine("crates/gadus-engine/tests/it/main.rs").is_empty());
    assert!(engine("crates/gadus-block/src/file.rs").is_empty());
}

#[test]
fn paths_in_the_architecture_exist() {
    let text =
        "See `crates/gadus-base` and\n`crates/gone/src/lib.rs::Thing`, `a/b`, `crates/*/src`.\n";
    let findings = architecture::check(text, |path| path == "crates/gadus-base");
    assert_eq!(lines(&findings), [2]);
}
