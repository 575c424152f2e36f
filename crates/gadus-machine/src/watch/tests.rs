//! A machine that is made up, and this one.

use super::*;
use std::fs;

struct Machine(tempfile::TempDir);

impl Machine {
    fn write(&self, path: &str, text: &str) {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Two processors: the ticks that they were busy, of so many.
    fn busy(&self, one: u64, other: u64, all: u64) {
        let line = |busy: u64| format!("{busy} 0 0 {} 0", all - busy);
        self.write("proc/stat", &format!("cpu0 {}\ncpu1 {}\n", line(one), line(other)));
    }
}

fn told(differences: Vec<Difference>) -> Vec<String> {
    differences.iter().map(ToString::to_string).collect()
}

#[test]
fn what_changes_is_told_once_and_what_wavers_is_not() {
    let machine = Machine(tempfile::tempdir().unwrap());
    let mount = "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw";
    machine.write("proc/self/mountinfo", mount);
    machine.write("proc/self/cgroup", "0::/\n");
    machine.write("proc/self/status", "Cpus_allowed_list:\t0-1\n");
    machine.busy(0, 0, 0);
    let mut watch = Watch::begin_at(machine.0.path()).unwrap();

    machine.busy(100, 53, 100);
    let first = told(watch.look().unwrap());
    for expected in
        ["+ processor 0 load: 1", "+ processor 1 load: 0.5", "+ process processors: 0-1"]
    {
        assert!(first.iter().any(|line| line == expected), "{expected}: {first:?}");
    }
    assert!(first.iter().any(|line| line.starts_with("+ machine memory pressure: unknown")));

    // Processor 1: 0.57 after 0.53, in the middle between two tenths.
    machine.busy(200, 110, 200);
    assert_eq!(told(watch.look().unwrap()), [""; 0]);

    machine.busy(300, 168, 300);
    machine.write("proc/self/status", "Cpus_allowed_list:\t1\n");
    machine.write("sys/fs/cgroup/cpu.max", "150000 100000\n");
    let expected = [
        "~ process processor time: unknown: no group limits it processors -> 1.5 processors",
        "~ process processors: 0-1 -> 1",
        "~ processor 1 load: 0.5 -> 0.6",
    ];
    assert_eq!(told(watch.look().unwrap()), expected);

    // A limit that changes by little is another one, unlike what is observed.
    machine.busy(400, 226, 400);
    machine.write("sys/fs/cgroup/cpu.max", "152000 100000\n");
    let expected = ["~ process processor time: 1.5 processors -> 1.52 processors"];
    assert_eq!(told(watch.look().unwrap()), expected);

    machine.write("proc/stat", "cpu0 500 0 0 0 0\n");
    assert_eq!(told(watch.look().unwrap()), ["- processor 1 load: 0.6"]);
    machine.write("proc/stat", "");
    assert!(watch.look().is_err());
}

#[test]
fn this_machine_is_watched() {
    let mut watch = Watch::begin().unwrap();
    assert!(watch.look().unwrap().iter().any(|one| one.to_string().contains("load")));
}
