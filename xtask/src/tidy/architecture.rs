//! Every path that ARCHITECTURE.md names exists.

use super::finding::Finding;

const PATH: &str = "ARCHITECTURE.md";
const FOLDERS: [&str; 9] =
    ["benches", "crates", "docs", "examples", "fuzz", "python", "scripts", "tests", "xtask"];
const MARKS_OF_PATTERNS: [char; 5] = ['*', '{', '<', '…', ' '];

pub(crate) fn check(text: &str, exists: impl Fn(&str) -> bool) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, line) in text.lines().enumerate() {
        for path in line.split('`').skip(1).step_by(2).filter(|name| is_path(name)) {
            let file = path.split("::").next().unwrap_or(path);
            if !exists(file) {
                let message = format!("`{file}` does not exist: correct the path");
                findings.push(Finding::error(PATH, index + 1, message));
            }
        }
    }
    findings
}

/// True for names in backquotes that mean a place in this repository, not a pattern or a phrase.
fn is_path(name: &str) -> bool {
    let first = name.split_once('/').map(|(first, _)| first);
    first.is_some_and(|first| FOLDERS.contains(&first)) && !name.contains(MARKS_OF_PATTERNS)
}
