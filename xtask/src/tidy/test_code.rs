//! Where tests live, how they are named, and that they wait for conditions, not for time.

use super::finding::Finding;
use super::source::Source;

/// Code lines beside which an inline test module is still allowed.
const CODE_LINES_MAX: usize = 100;

pub(crate) fn check(source: &Source) -> Vec<Finding> {
    let path = &source.path;
    let mut findings = Vec::new();
    for function in source.functions().iter().filter(|f| f.name.starts_with("test_")) {
        let message = format!("`{}`: name the fact that holds, without `test_`", function.name);
        findings.push(Finding::error(path, function.line, message));
    }
    let inline = source.inline_tests();
    if let Some(tests) = inline.clone().filter(|tests| source.code_lines(tests) > CODE_LINES_MAX) {
        let message = format!("move the tests to {}", tests_file(path));
        findings.push(Finding::error(path, source.line_at(tests.start), message));
    }
    let tests = if source.is_test() { 0..source.code.len() } else { inline.unwrap_or(0..0) };
    for at in source.words("sleep(").filter(|at| tests.contains(at)) {
        let message = "a test does not sleep: wait for the condition, with a deadline";
        findings.push(Finding::error(path, source.line_at(at), message));
    }
    findings
}

/// `a/b.rs` → `a/b/tests.rs`, `a/mod.rs` → `a/tests.rs`.
fn tests_file(path: &str) -> String {
    let stem = path.trim_end_matches(".rs");
    let folder = ["/mod", "/lib", "/main"].iter().find_map(|last| stem.strip_suffix(last));
    format!("{}/tests.rs", folder.unwrap_or(stem))
}
