//! The C header, by a program that a C compiler makes of it.

#![allow(clippy::unwrap_used)] // a test may fail this way, its helpers too

use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder that cargo has put the library into.
fn library_folder() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let mut folders = test.ancestors().skip(1).take(2);
    let has_library = |folder: &&Path| folder.join("libgadusmachine.a").exists();
    folders.find(has_library).expect("the library was built with its tests").to_owned()
}

#[test]
fn a_c_program_asks_the_papers_questions() {
    // Tests run in the folder of their crate.
    let root = std::env::current_dir().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("questions");
    let library = library_folder().join("libgadusmachine.a");
    let compiled = Command::new("cc")
        .args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-I"])
        .arg(root.join("include"))
        .arg("-o")
        .arg(&program)
        .args([&root.join("tests/it/questions.c"), &library])
        .args(["-lpthread", "-ldl", "-lm"])
        .output()
        .expect("a C compiler, which building needs as well");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let topologies = root.join("../gadus-machine/topologies");
    let ran = Command::new(program).arg(topologies.join("shanghai.xml")).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success(), "{said}{}", String::from_utf8_lossy(&ran.stderr));
    assert_eq!(
        said,
        "16 partitions\n15 beside a busy core\n4 on each node\nall is as it should be\n"
    );
}
