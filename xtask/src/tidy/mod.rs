//! The house rules that no compiler checks: one file per rule, each a function from sources to
//! findings.
//!
//! - A finding names `path:line`, what is wrong and what to do about it.
//! - A rule reads the masked text (`source.rs`), so that words in comments and strings do not count.

mod architecture;
mod edges;
mod files;
mod finding;
mod functions;
mod manifest;
mod names;
mod source;
mod test_code;
mod walk;

#[cfg(test)]
mod tests;

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use finding::Severity;

/// The recorded lengths of functions over the limit.
const LONG_FUNCTIONS: &str = "xtask/long-functions.txt";

/// What to do with the recorded lengths of long functions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LongFunctions {
    /// Refuse what is longer than recorded.
    Compare,
    /// Record what is there; the difference is reviewed like any other.
    Record,
}

/// Checks the repository under `root`; true when no rule is broken.
pub(crate) fn run(root: &Path, long: LongFunctions, output: &mut impl Write) -> io::Result<bool> {
    let tree = walk::read(root)?;
    let mut findings = Vec::new();
    for source in &tree.sources {
        findings.extend(files::check(source));
        findings.extend(names::check(source));
        findings.extend(test_code::check(source));
        findings.extend(edges::check_source(source));
    }
    for (path, text) in &tree.manifests {
        findings.extend(edges::check_manifest(path, text));
    }
    if long == LongFunctions::Record {
        fs::write(root.join(LONG_FUNCTIONS), functions::record(&tree.sources))?;
    }
    let recorded = read_or_empty(&root.join(LONG_FUNCTIONS))?;
    findings.extend(functions::check(&tree.sources, &recorded));
    let architecture = read_or_empty(&root.join("ARCHITECTURE.md"))?;
    findings.extend(architecture::check(&architecture, |path| root.join(path).exists()));

    findings.sort_by(|a, b| (&a.path, a.line).cmp(&(&b.path, b.line)));
    for finding in &findings {
        writeln!(output, "{finding}")?;
    }
    let errors = findings.iter().filter(|finding| finding.severity == Severity::Error).count();
    writeln!(
        output,
        "tidy: {} files, {errors} errors, {} warnings",
        tree.sources.len(),
        findings.len() - errors
    )?;
    Ok(errors == 0)
}

fn read_or_empty(path: &Path) -> io::Result<String> {
    match fs::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        other => other,
    }
}
