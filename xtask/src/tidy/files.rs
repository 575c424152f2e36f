//! Every file says what it owns, and none is too long to read.

use super::finding::Finding;
use super::source::Source;

const LINES_WARNED: usize = 400;
const LINES_MAX: usize = 800;
const REASON: &str = "//! Long because";

pub(crate) fn check(source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    if !source.text.starts_with("//!") {
        let message = "begin the file with `//!`: what it owns, its invariants, who may call";
        findings.push(Finding::error(&source.path, 1, message));
    }
    let lines = source.text.lines().count();
    let mut header = source.text.lines().take_while(|line| line.starts_with("//!"));
    if lines > LINES_MAX && !header.any(|line| line.starts_with(REASON)) {
        let message = format!("{lines} lines: split it, or give the reason: `{REASON} …`");
        findings.push(Finding::error(&source.path, 1, message));
    } else if lines > LINES_WARNED && lines <= LINES_MAX {
        let message = format!("{lines} lines: is this one concept? Split it before {LINES_MAX}");
        findings.push(Finding::warning(&source.path, 1, message));
    }
    findings
}
