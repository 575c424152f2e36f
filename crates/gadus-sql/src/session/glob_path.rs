//! Globs that are matched step by step, in folders that the caller lists.
//!
//! - `*`, `?` and `[…]` match within one name, `**` any number of folders, none of them by a link.
//! - A link that matches is resolved by the caller, who refuses one that leads out of its reach.

use crate::error::{from_datafusion, input, limit};
use crate::executor::check_cancelled;
use crate::text_files::FILES_MAX;
use gadus_block::InputKind;
use gadus_engine::Result;
use glob::Pattern;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

/// A path with patterns among its steps.
pub(super) struct GlobPath(Vec<Step>);

enum Step {
    Name(OsString),
    Pattern(Pattern),
    /// `**`: the folder and all below it.
    Below,
}

/// Folders as a glob goes through them.
pub(super) trait Folders {
    /// Returns the names in a folder, and what they are.
    fn names(&self, folder: &Path) -> Result<Vec<(OsString, InputKind)>>;

    /// Returns where a path leads to, which may be a link; none if it leads nowhere.
    ///
    /// # Errors
    /// When it leads out of reach.
    fn resolve(&self, path: &Path) -> Result<Option<PathBuf>>;
}

impl GlobPath {
    /// Takes a path apart that a statement calls `shown`.
    pub(super) fn new(path: &Path, shown: &str) -> Result<Self> {
        let step = |step: Component<'_>| {
            let name = step.as_os_str();
            let text = name.to_str().filter(|text| text.contains(['*', '?', '[']));
            Ok(match text {
                None => Step::Name(name.to_owned()),
                Some("**") => Step::Below,
                Some(text) => {
                    let pattern = Pattern::new(text);
                    Step::Pattern(pattern.map_err(|error| input(format!("'{shown}': {error}")))?)
                }
            })
        };
        path.components().map(step).collect::<Result<_>>().map(Self)
    }

    /// Returns what matches beneath a folder, by path.
    ///
    /// # Errors
    /// Those of the folders, and when there is too much.
    pub(super) fn matching(&self, root: &Path, folders: &impl Folders) -> Result<Vec<PathBuf>> {
        let mut found = vec![root.to_owned()];
        for (index, step) in self.0.iter().enumerate() {
            let mut next = Vec::new();
            for folder in found {
                check_cancelled().map_err(from_datafusion)?;
                step.extend(folder, folders, &mut next)?;
                check_count(&next)?;
            }
            if index + 1 < self.0.len() {
                next.retain(|path| path.is_dir());
            }
            found = next;
        }
        found.sort();
        found.dedup();
        Ok(found)
    }
}

impl Step {
    /// Adds what the step leads to from a folder.
    fn extend(
        &self,
        folder: PathBuf,
        folders: &impl Folders,
        found: &mut Vec<PathBuf>,
    ) -> Result<()> {
        match self {
            Self::Name(name) => found.extend(folders.resolve(&folder.join(name))?),
            Self::Pattern(pattern) => {
                for (name, kind) in folders.names(&folder)? {
                    if !name.to_str().is_some_and(|name| pattern.matches(name)) {
                        continue;
                    }
                    match kind {
                        InputKind::Link => found.extend(folders.resolve(&folder.join(name))?),
                        _ => found.push(folder.join(name)),
                    }
                }
            }
            Self::Below => {
                let mut open = vec![folder];
                while let Some(folder) = open.pop() {
                    check_cancelled().map_err(from_datafusion)?;
                    let names = folders.names(&folder)?.into_iter();
                    let inner = names.filter(|(_, kind)| *kind == InputKind::Folder);
                    open.extend(inner.map(|(name, _)| folder.join(name)));
                    found.push(folder);
                    check_count(found)?;
                }
            }
        }
        Ok(())
    }
}

fn check_count(found: &[PathBuf]) -> Result<()> {
    if found.len() <= FILES_MAX {
        return Ok(());
    }
    Err(limit(format!("more than {FILES_MAX} files and folders match")))
}
