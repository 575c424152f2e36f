//! A lock file that somebody else has written, and links in the place of a database's files.
//!
//! Whoever may write the database's folder can put anything there. None of it has a process that opens the
//! database remove, replace or change a file elsewhere.

use crate::files::Folder;
use gadus::{Database, Options};
use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};

const PRECIOUS: &str = "precious";

fn database_at(path: &Path) -> Database {
    let database = Database::open(path, Options::new()).unwrap();
    database.connect().execute("CREATE TABLE t (a INT)", &[]).unwrap();
    database
}

struct Scene {
    folder: Folder,
    database: PathBuf,
    victim: PathBuf,
    before: (u64, i64, i64),
}

fn facts(path: &Path) -> (u64, i64, i64) {
    let facts = fs::symlink_metadata(path).unwrap();
    (facts.ino(), facts.mtime(), facts.mtime_nsec())
}

impl Scene {
    fn new() -> Self {
        let folder = Folder::new();
        let database = folder.path("x.gadus");
        drop(database_at(&database));
        let victim = folder.path("victim");
        fs::write(&victim, PRECIOUS).unwrap();
        let before = facts(&victim);
        Self { folder, database, victim, before }
    }

    fn lock_file(&self) -> PathBuf {
        self.folder.path("x.gadus-lck")
    }

    fn is_untouched(&self) {
        assert_eq!(fs::read_to_string(&self.victim).unwrap(), PRECIOUS);
        assert_eq!(facts(&self.victim), self.before);
    }

    /// Opens the database in every way there is, whether or not that succeeds.
    fn open_in_all_ways(&self) {
        let open = |options: Options| Database::open(&self.database, options).map(drop);
        let _ = open(Options::new().create(false));
        self.is_untouched();
        let _ = open(Options::new().read_only(true));
        self.is_untouched();
        let _ = open(Options::new().exclusive(true));
        self.is_untouched();
        let _ = gadus::check(&self.database, |_, _| {});
        self.is_untouched();
        if let Ok(database) = Database::open(&self.database, Options::new()) {
            database.back_up(self.folder.path("copy.gadus"), |_, _| {}).unwrap();
        }
        self.is_untouched();
        let _ = Database::remove(&self.database);
        self.is_untouched();
    }
}

/// What a record can say of a memory's file: all states, paths of all forms.
#[test]
fn paths_in_a_lock_file_are_never_followed() {
    let scene = Scene::new();
    let victim = scene.victim.display().to_string();
    let file = fs::metadata(&scene.victim).unwrap();
    let identity = format!("device {}\ninode {}\n", file.dev(), file.ino());
    let name = "gadus-memory-00112233445566778899aabbccddeeff-0011223344556677";
    let disguised = scene.folder.path(name);
    symlink(&scene.victim, &disguised).unwrap();
    let disguised = disguised.display().to_string();
    for path in [&victim, &disguised, "../victim", "victim", "/dev/shm/../../tmp", ""] {
        for sharing in ["making", "opening", "shared", "exclusive", "unheard of"] {
            for identity in ["", &identity] {
                let record = format!(
                    "pid 1\nprogram x\nsince now\nsharing {sharing}\nmemory {path}\n{identity}"
                );
                if !scene.database.exists() {
                    drop(database_at(&scene.database));
                }
                fs::write(scene.lock_file(), record).unwrap();
                scene.open_in_all_ways();
                let _ = fs::remove_file(scene.folder.path("copy.gadus"));
                let _ = fs::remove_file(scene.folder.path("copy.gadus-wal"));
            }
        }
    }
}

#[test]
fn a_new_database_beside_a_hostile_lock_file_touches_nothing_else() {
    let scene = Scene::new();
    let record =
        format!("pid 1\nprogram x\nsince now\nsharing making\nmemory {}\n", scene.victim.display());
    fs::write(scene.folder.path("new.gadus-lck"), record).unwrap();
    drop(database_at(&scene.folder.path("new.gadus")));
    scene.is_untouched();
}

#[test]
fn links_in_the_place_of_a_databases_files_are_refused() {
    for ending in ["-lck", "-wal"] {
        for is_symbolic in [true, false] {
            let scene = Scene::new();
            let place = scene.folder.path(&format!("x.gadus{ending}"));
            let _ = fs::remove_file(&place);
            match is_symbolic {
                true => symlink(&scene.victim, &place).unwrap(),
                false => fs::hard_link(&scene.victim, &place).unwrap(),
            }
            scene.open_in_all_ways();
        }
    }
}

#[test]
fn a_folder_or_a_pipe_in_the_place_of_the_lock_file_is_an_error_without_a_wait() {
    for is_folder in [true, false] {
        let scene = Scene::new();
        fs::remove_file(scene.lock_file()).unwrap();
        match is_folder {
            true => fs::create_dir(scene.lock_file()).unwrap(),
            false => {
                let status = std::process::Command::new("mkfifo").arg(scene.lock_file()).status();
                assert!(status.unwrap().success());
            }
        }
        assert!(Database::open(&scene.database, Options::new()).is_err());
        scene.open_in_all_ways();
    }
}

/// The first page says what the memory is.
#[test]
fn nothing_is_appended_once_shared_memory_was_overwritten_from_outside() {
    let scene = Scene::new();
    let database = Database::open(&scene.database, Options::new()).unwrap();
    let connection = database.connect();
    connection.execute("INSERT INTO t VALUES (1)", &[]).unwrap();
    let record = fs::read_to_string(scene.lock_file()).unwrap();
    let memory = record.lines().find_map(|line| line.strip_prefix("memory ")).unwrap();
    let file = fs::OpenOptions::new().write(true).open(memory).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&file, &[0; 4096], 0).unwrap();
    let log = fs::metadata(scene.folder.path("x.gadus-wal")).unwrap().modified().unwrap();
    let error = connection.execute("INSERT INTO t VALUES (2)", &[]).unwrap_err();
    assert_eq!(error.kind(), gadus::ErrorKind::Corrupt, "{error}");
    assert!(error.message().contains("shared"), "{error}");
    assert_eq!(fs::metadata(scene.folder.path("x.gadus-wal")).unwrap().modified().unwrap(), log);
    drop((connection, database));
    let database = Database::open(&scene.database, Options::new()).unwrap();
    assert_eq!(database.connect().execute("SELECT * FROM t", &[]).unwrap(), 1);
}
