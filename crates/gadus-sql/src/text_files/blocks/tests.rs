//! Blocks hold whole records, and no more than they may.

use super::*;
use std::fs::File;
use std::path::Path;

/// A folder with one file, and the file.
fn written(bytes: &[u8]) -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.csv");
    std::fs::write(&path, bytes).unwrap();
    (folder, path)
}

fn open(path: &Path) -> Blocks {
    let path = path.to_owned();
    let file = TextFile { path, compression: Compression::None, beneath: None };
    Blocks::open(&file, Ends::of_csv(b',')).unwrap()
}

#[test]
fn blocks_are_whole_records_and_know_their_lines() {
    let text = (0..200_000).map(|row| format!("{row},\"two\nlines\"\n")).collect::<String>();
    let (_folder, path) = written(text.as_bytes());
    let mut blocks = open(&path);
    let (mut all, mut count) = (Vec::new(), 0);
    while let Some(block) = blocks.next().unwrap() {
        assert_eq!(block.line, 1 + lines(&all));
        assert_eq!(block.is_first, count == 0);
        assert!(block.bytes.ends_with(b"lines\"\n"));
        all.extend(block.bytes);
        count += 1;
    }
    assert_eq!(all, text.as_bytes());
    assert!(count > 2, "{count} blocks");
}

#[test]
fn a_record_that_does_not_end_is_an_error_before_it_is_held() {
    let (_folder, path) = written(b"a,b\n1,2\n3,\"x\n");
    let error = open(&path).next().unwrap_err();
    assert!(error.message().ends_with("x.csv: line 3: a quote is not closed"), "{error}");
    let file = File::options().append(true).open(&path).unwrap();
    file.set_len(1 << 40).unwrap();
    let mut blocks = open(&path);
    assert_eq!(blocks.next().unwrap().unwrap().bytes, b"a,b\n1,2\n");
    let error = blocks.next().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
    assert!(error.message().contains("line 3: the record is longer than 64 MiB"), "{error}");
}
