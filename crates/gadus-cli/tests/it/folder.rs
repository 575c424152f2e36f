//! Folders of single tests, and the program run in them.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder that is gone when dropped.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("gadus-cli-{}-{number}", std::process::id()));
        std::fs::create_dir(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// The program, in this folder, where it keeps what it has measured, too.
    pub(crate) fn gadus(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gadus"));
        command.args(arguments).current_dir(&self.0).stdin(Stdio::null());
        command.env("XDG_CACHE_HOME", self.path("caches"));
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.gadus(arguments).output().unwrap()
    }

    /// What it prints when all goes well.
    pub(crate) fn printed(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", error_of(&output));
        String::from_utf8(output.stdout).unwrap()
    }

    /// What it says when it must fail with exit code 1.
    pub(crate) fn refused(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        error_of(&output)
    }

    /// Runs the program with a script as its input.
    pub(crate) fn piped(&self, arguments: &[&str], script: &str) -> Output {
        let mut command = self.gadus(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // A program that stops at an error does not read to the end.
        let _ = child.stdin.take().unwrap().write_all(script.as_bytes());
        child.wait_with_output().unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn error_of(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
