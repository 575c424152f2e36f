//! Files that are, or only look like, memories that were left behind.

use super::*;
use gadus_block::{Folder, OpenMode};
use gadus_locks::{EXTENT_BYTES, Trust};
use std::fs::{self, File};

const UNIQUE: u64 = 7;

struct Place {
    root: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        Self { root: tempfile::tempdir().unwrap() }
    }

    fn path(&self) -> PathBuf {
        self.root.path().join(memory_name(DatabaseId([0xAB; 16]), UNIQUE))
    }

    /// A memory that nobody uses, of the data file that is at a path.
    fn leave_memory(&self, data: &Path, magic: u64) {
        let memory = Memory::create(&self.path(), EXTENT_BYTES, Trust::this_user()).unwrap();
        let front = memory.at(super::super::FRONT).unwrap();
        let folder = FileFolder::new(data.parent().unwrap());
        let name = data.file_name().unwrap().to_str().unwrap();
        let device = folder.open(name, OpenMode::ReadWrite).unwrap();
        let Identity(identity) = device.identity();
        front.files[0].iter().zip(identity).for_each(|(word, part)| {
            word.store(part, Ordering::Relaxed);
        });
        tell_location(front, &*device);
        front.magic.store(magic, Ordering::Release);
    }

    /// Whether the memory is there still, after somebody has opened another database.
    fn keeps(&self) -> bool {
        look(self.root.path());
        self.path().exists()
    }
}

fn look(folder: &Path) {
    Abandoned::in_folder(folder, &mut Random::from_system()).remove(Identity([0; 2]));
}

/// A data file with a name of so many bytes, in as many folders as it takes.
fn data_file(place: &Place, path_bytes: usize) -> PathBuf {
    let mut path = place.root.path().join("data");
    while path.as_os_str().len() + 202 < path_bytes {
        path = path.join("f".repeat(200));
    }
    fs::create_dir_all(&path).unwrap();
    let left = path_bytes.saturating_sub(path.as_os_str().len() + 1).max(1);
    path = path.join("x".repeat(left));
    File::create(&path).unwrap();
    path
}

#[test]
fn names_are_told_from_those_of_others() {
    let name = memory_name(DatabaseId([0xAB; 16]), u64::MAX);
    assert!(is_memory_name(OsStr::new(&name)), "{name}");
    let others = [
        name.replace("memory-", ""),
        name.replace("gadus", "codfish"),
        format!("{name}0"),
        name[..name.len() - 1].to_owned(),
        name.replace("-ffff", "fffff"),
        name.replace("ab", "xy"),
        name.replace("-ffff", "--fff"),
    ];
    for other in others {
        assert!(!is_memory_name(OsStr::new(&other)), "{other}");
    }
    assert!(!is_memory_name(OsStr::from_bytes(b"gadus-memory-\xFF")));
}

#[test]
fn a_memory_goes_once_its_data_file_is_gone_also_from_a_path_as_long_as_can_be_told() {
    for path_bytes in [0, 1001, PATH_BYTES_MAX - 1, PATH_BYTES_MAX] {
        let place = Place::new();
        let data = data_file(&place, path_bytes);
        assert!(data.as_os_str().len() >= path_bytes);
        place.leave_memory(&data, MAGIC);
        assert!(place.keeps(), "{path_bytes}");
        fs::remove_file(data).unwrap();
        assert!(!place.keeps(), "{path_bytes}");
    }
}

#[test]
fn a_memory_goes_once_another_file_or_folder_is_where_its_data_file_was() {
    let place = Place::new();
    for puts_other in [
        |path: &Path| fs::write(path, b"other").unwrap(),
        |path: &Path| {
            fs::create_dir(path).unwrap();
        },
    ] {
        let data = data_file(&place, 0);
        place.leave_memory(&data, MAGIC);
        let moved = data.with_extension("moved");
        fs::rename(&data, &moved).unwrap();
        puts_other(&data);
        assert!(!place.keeps());
        let _ = fs::remove_file(&data).or_else(|_| fs::remove_dir(&data));
    }
}

#[test]
fn what_cannot_be_told_stays() {
    let place = Place::new();
    let data = data_file(&place, PATH_BYTES_MAX + 1);
    place.leave_memory(&data, MAGIC);
    fs::remove_file(data).unwrap();
    assert!(place.keeps(), "the path is too long");

    let place = Place::new();
    let data = data_file(&place, 0);
    place.leave_memory(&data, MAGIC + 1);
    fs::remove_file(data).unwrap();
    assert!(place.keeps(), "it is something else");
    File::create(place.path()).unwrap();
    assert!(place.keeps(), "somebody is making it");
    fs::write(place.path(), [0; PAGE_BYTES - 1]).unwrap();
    assert!(place.keeps(), "it has no front");
    fs::write(place.path(), [0xFF; PAGE_BYTES]).unwrap();
    assert!(place.keeps(), "no length is that");
}

#[test]
fn a_memory_that_nobody_has_finished_goes_whether_or_not_its_data_file_is_there() {
    let place = Place::new();
    place.leave_memory(&data_file(&place, 0), 0);
    assert!(!place.keeps());
}

#[test]
fn a_folder_that_is_not_there_is_no_failure() {
    look(Path::new("/nowhere/at/all"));
}

#[test]
fn openings_share_the_work_when_there_is_much_of_it() {
    let place = Place::new();
    let count = || fs::read_dir(place.root.path()).unwrap().count();
    for unique in 0..3000 {
        let path = place.root.path().join(memory_name(DatabaseId([1; 16]), unique));
        fs::write(path, [0; PAGE_BYTES]).unwrap();
    }
    let mut openings = 0;
    while count() > 0 {
        look(place.root.path());
        openings += 1;
        assert!(openings < 3000);
    }
    assert!(openings > 1);
}
