//! A database that several users of the system have, as the mode of its data file says.

use crate::folder::{Folder, error_of};
use crate::shells::{Shell, User, may_change_user};
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::process::Output;

const GROUP: u32 = 61_000;
const ADA: User = User { user: 61_001, group: GROUP };
const GRACE: User = User { user: 61_002, group: GROUP };

const FILE: &str = "shared/x.gadus";
const FILES: [&str; 3] = [FILE, "shared/x.gadus-wal", "shared/x.gadus-lck"];

/// A folder of Ada's for her group, beside one for memory, and a database of hers with a mode.
struct Scene(Folder);

impl Scene {
    fn new(mode: u32) -> Option<Self> {
        if !may_change_user() {
            return None;
        }
        let scene = Self(Folder::new());
        for (name, mode) in [("shared", 0o2775), ("locks", 0o1777)] {
            let path = scene.0.path(name);
            fs::create_dir(&path).unwrap();
            chown(&path, Some(ADA.user), Some(GROUP)).unwrap();
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        }
        scene.printed(ADA, "CREATE TABLE t (id BIGINT PRIMARY KEY, name TEXT)");
        fs::set_permissions(scene.0.path(FILE), Permissions::from_mode(mode)).unwrap();
        // The first opening gives the other files the mode of the data file.
        scene.printed(ADA, "INSERT INTO t VALUES (0, 'ada')");
        Some(scene)
    }

    fn run(&self, user: User, arguments: &[&str]) -> Output {
        let common = [FILE, "--lock-folder", "locks", "--format", "csv"];
        user.gadus(&self.0, &[&common, arguments].concat()).output().unwrap()
    }

    fn printed(&self, user: User, statement: &str) -> String {
        let output = self.run(user, &["-c", statement]);
        assert!(output.status.success(), "{statement}: {}", error_of(&output));
        String::from_utf8(output.stdout).unwrap()
    }

    /// The error of an opening that fails.
    fn refused(&self, user: User, arguments: &[&str]) -> String {
        let output = self.run(user, &[arguments, &["-c", "SELECT 1"]].concat());
        assert_eq!(output.status.code(), Some(1), "{}", error_of(&output));
        error_of(&output)
    }

    fn shell(&self, user: User, arguments: &[&str]) -> Shell {
        let common = [FILE, "--lock-folder", "locks", "--format", "csv"];
        Shell::spawn(user.gadus(&self.0, &[&common, arguments].concat()))
    }

    fn memories(&self) -> Vec<String> {
        let files = fs::read_dir(self.0.path("locks")).unwrap();
        files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect()
    }
}

const COUNT: &str = "SELECT count(*) AS n FROM t";

#[test]
fn users_of_one_group_write_one_database_and_one_of_them_is_killed() {
    let Some(scene) = Scene::new(0o660) else { return };
    for name in FILES {
        let facts = fs::metadata(scene.0.path(name)).unwrap();
        assert_eq!((facts.gid(), facts.mode() & 0o777), (GROUP, 0o660), "{name}");
    }
    let (mut ada, mut grace) = (scene.shell(ADA, &[]), scene.shell(GRACE, &[]));
    // Both at once, each in a transaction of its own per row.
    let rows = |first: u32, name: &str| {
        let insert = |id| format!("INSERT INTO t VALUES ({id}, '{name}');\n");
        (first..first + 100).map(insert).collect::<String>()
    };
    std::thread::scope(|scope| {
        scope.spawn(|| ada.run(&rows(1, "ada")));
        grace.run(&rows(1001, "grace"));
    });
    for shell in [&mut ada, &mut grace] {
        assert_eq!(shell.run(COUNT), "n\n201\n");
    }
    grace.run("BEGIN; UPDATE t SET name = 'nobody' WHERE id = 0; INSERT INTO t VALUES (5000, '')");
    grace.kill();
    ada.run("UPDATE t SET name = 'ada again' WHERE id = 0; CHECKPOINT");
    assert_eq!(ada.run("SELECT name FROM t WHERE id = 0"), "name\nada again\n");
    // Whoever is left goes on; others join through memory of either.
    let mut grace = scene.shell(GRACE, &[]);
    ada.kill();
    grace.run("DELETE FROM t WHERE id = 1001");
    let mut ada = scene.shell(ADA, &[]);
    assert_eq!(ada.run(COUNT), "n\n200\n");
    drop((ada, grace));
    let checked = scene.0.printed(&["check", FILE]);
    assert!(checked.ends_with("sound\n"), "{checked}");
}

#[test]
fn each_user_may_be_the_first_and_the_last() {
    let Some(scene) = Scene::new(0o660) else { return };
    assert_eq!(scene.memories(), Vec::<String>::new());
    for (number, (first, second)) in [(ADA, GRACE), (GRACE, ADA)].into_iter().enumerate() {
        let (mut one, mut two) = (scene.shell(first, &[]), scene.shell(second, &[]));
        one.run(&format!("INSERT INTO t VALUES ({}, 'one')", 10 * number + 1));
        two.run(&format!("INSERT INTO t VALUES ({}, 'two')", 10 * number + 2));
        assert_eq!(two.run(COUNT), format!("n\n{}\n", 2 * number + 3));
    }
}

#[test]
fn memory_that_a_killed_user_left_is_removed_when_that_user_opens_again() {
    let Some(scene) = Scene::new(0o660) else { return };
    let mut grace = scene.shell(GRACE, &[]);
    grace.run("INSERT INTO t VALUES (1, 'grace')");
    grace.kill();
    assert_eq!(scene.memories().len(), 1);
    // In a folder such as /dev/shm another user cannot remove it.
    assert_eq!(scene.printed(ADA, COUNT), "n\n2\n");
    assert_eq!(scene.memories().len(), 1);
    assert_eq!(scene.printed(GRACE, COUNT), "n\n2\n");
    assert_eq!(scene.memories(), Vec::<String>::new());
}

#[test]
fn a_file_of_one_user_alone_is_nobody_elses() {
    let Some(scene) = Scene::new(0o600) else { return };
    for arguments in [&[][..], &["--read-only"]] {
        let error = scene.refused(GRACE, arguments);
        assert!(error.contains(FILE) && error.contains("Permission denied"), "{error}");
        assert!(error.contains("check owner and mode"), "{error}");
    }
    assert_eq!(scene.printed(ADA, COUNT), "n\n1\n");
}

#[test]
fn a_group_that_may_only_read_reads_without_writers() {
    let Some(scene) = Scene::new(0o640) else { return };
    let error = scene.refused(GRACE, &[]);
    assert!(error.contains("Permission denied"), "{error}");
    assert!(error.contains("can be opened for reading only"), "{error}");
    let mut grace = scene.shell(GRACE, &["--read-only"]);
    assert_eq!(grace.run(COUNT), "n\n1\n");
    let error = scene.refused(ADA, &[]);
    assert!(error.contains("open elsewhere for reading only"), "{error}");
    drop(grace);
    let mut ada = scene.shell(ADA, &[]);
    assert_eq!(ada.run(COUNT), "n\n1\n");
    let error = scene.refused(GRACE, &["--read-only"]);
    assert!(error.contains("takes the right to write"), "{error}");
    assert!(error.contains(&format!("process {}", ada.id())), "{error}");
}

#[test]
fn a_log_that_did_not_follow_the_mode_of_the_data_file_is_named() {
    let Some(scene) = Scene::new(0o640) else { return };
    fs::set_permissions(scene.0.path(FILE), Permissions::from_mode(0o660)).unwrap();
    let error = scene.refused(GRACE, &[]);
    assert!(error.contains("x.gadus-wal") && error.contains("Permission denied"), "{error}");
    assert!(error.contains("owner has to open the database once"), "{error}");
    assert_eq!(scene.printed(ADA, COUNT), "n\n1\n");
    assert_eq!(scene.printed(GRACE, COUNT), "n\n1\n");
}
