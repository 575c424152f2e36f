//! Finds the files that the rules read.
//!
//! - Files not yet known to git count too: a rule that speaks after the commit speaks too late.

use std::fs;
use std::io;
use std::path::Path;

use super::source::Source;

/// Folders that hold nothing of ours.
const SKIPPED: [&str; 2] = ["target", "node_modules"];

/// Everything the rules look at.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    pub(crate) sources: Vec<Source>,
    /// Path and text of each `crates/*/Cargo.toml`.
    pub(crate) manifests: Vec<(String, String)>,
}

/// Reads the tree under `root`, in the order of its paths.
pub(crate) fn read(root: &Path) -> io::Result<Tree> {
    let mut tree = Tree::default();
    visit(root, "", &mut tree)?;
    Ok(tree)
}

fn visit(folder: &Path, prefix: &str, tree: &mut Tree) -> io::Result<()> {
    let mut entries = fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{prefix}{name}");
        let kind = entry.file_type()?;
        if kind.is_dir() && !name.starts_with('.') && !SKIPPED.contains(&name.as_str()) {
            visit(&entry.path(), &format!("{path}/"), tree)?;
        } else if kind.is_file() && name.ends_with(".rs") {
            tree.sources.push(Source::new(&path, &fs::read_to_string(entry.path())?));
        } else if kind.is_file() && name == "Cargo.toml" && prefix.starts_with("crates/") {
            tree.manifests.push((path, fs::read_to_string(entry.path())?));
        }
    }
    Ok(())
}
