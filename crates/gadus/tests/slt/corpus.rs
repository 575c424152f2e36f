//! Where the corpus is, and its files.

use std::path::{Path, PathBuf};

/// Says where the corpus is.
const FOLDER_VARIABLE: &str = "GADUS_SLT_CORPUS";
/// Where it is unless that is said, from the root of the repository.
const FOLDER: &str = "../shared/corpora/sqllogictest";

/// Files to be run.
#[derive(Debug)]
pub(crate) struct Corpus {
    files: Vec<CorpusFile>,
}

/// One of them.
#[derive(Debug, Clone)]
pub(crate) struct CorpusFile {
    pub(crate) path: PathBuf,
    /// Its path in the corpus, with `/`.
    pub(crate) name: String,
}

impl Corpus {
    /// The files whose name has one of these parts, the longest first; none, and a word about it, where there is
    /// no corpus.
    pub(crate) fn find(wanted: &[String]) -> Option<Self> {
        let given = std::env::var_os(FOLDER_VARIABLE).map(PathBuf::from);
        let root = std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(PathBuf::new, PathBuf::from);
        // Of a package's folder in `crates`.
        let folder = given.unwrap_or_else(|| root.join("../..").join(FOLDER));
        if !folder.is_dir() {
            let place = folder.display();
            println!("skipped: no corpus at {place}; {FOLDER_VARIABLE} says where it is");
            return None;
        }
        let mut sized = Vec::new();
        gather(&folder, &folder, &mut sized);
        sized.retain(|(_, file)| {
            wanted.is_empty() || wanted.iter().any(|part| file.name.contains(part))
        });
        sized.sort_by(|(left, _), (right, _)| right.cmp(left));
        Some(Self { files: sized.into_iter().map(|(_, file)| file).collect() })
    }

    pub(crate) fn files(&self) -> &[CorpusFile] {
        &self.files
    }
}

/// All `.test` files beneath a folder, with their bytes.
fn gather(root: &Path, folder: &Path, found: &mut Vec<(u64, CorpusFile)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let path = entry.path();
        if path.is_dir() {
            gather(root, &path, found);
        } else if path.extension().is_some_and(|extension| extension == "test") {
            let name = path.strip_prefix(root).unwrap().to_string_lossy().replace('\\', "/");
            found.push((entry.metadata().unwrap().len(), CorpusFile { path, name }));
        }
    }
}
