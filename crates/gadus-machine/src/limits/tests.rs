//! Control groups that are made up, and this process's.

use super::*;

struct Machine(tempfile::TempDir);

impl Machine {
    fn new(cgroup: &str, mountinfo: &str) -> Self {
        let machine = Self(tempfile::tempdir().unwrap());
        machine.write("proc/cgroup", cgroup);
        machine.write("proc/mountinfo", mountinfo);
        machine
            .write("proc/status", "Name:\tx\nCpus_allowed_list:\t0-1,4\nMems_allowed_list:\t0\n");
        machine
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn limits(&self) -> Limits {
        Limits::read(&self.0.path().join("proc"), self.0.path())
    }
}

const V2: &str = "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate";

#[test]
fn the_least_limit_of_all_groups_above_counts() {
    let machine = Machine::new("0::/a/b\n", V2);
    machine.write("sys/fs/cgroup/a/cpu.max", "250000 100000\n");
    machine.write("sys/fs/cgroup/a/memory.max", "1073741824\n");
    machine.write("sys/fs/cgroup/a/cpu.weight", "999\n");
    machine.write("sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
    machine.write("sys/fs/cgroup/a/b/memory.max", "max\n");
    machine.write("sys/fs/cgroup/a/b/memory.high", "536870912\n");
    machine.write("sys/fs/cgroup/a/b/cpu.weight", "200\n");
    let expected = Limits {
        cpus: Some(2.5),
        cpu_weight: Some(200),
        allowed: CpuSet::from_list("0-1,4"),
        allowed_nodes: CpuSet::from_list("0"),
        memory: Some(ByteCount::gib(1)),
        memory_high: Some(ByteCount::mib(512)),
        memory_of_machine: None,
    };
    assert_eq!(machine.limits(), expected);
}

#[test]
fn a_group_that_is_out_of_sight_is_the_root_of_its_mount() {
    let machine = Machine::new("0::/../../other\n", V2);
    machine.write("sys/fs/cgroup/memory.max", "4096\n");
    assert_eq!(machine.limits().memory, Some(ByteCount(4096)));
    let within = "30 23 0:26 /docker/7 /sys/fs/cgroup rw - cgroup2 cgroup2 rw";
    let machine = Machine::new("0::/docker/7/job\n", within);
    machine.write("sys/fs/cgroup/memory.max", "4096\n");
    machine.write("sys/fs/cgroup/job/memory.max", "2048\n");
    assert_eq!(machine.limits().memory, Some(ByteCount(2048)));
}

#[test]
fn groups_of_version_1_are_read() {
    let mounts = "31 23 0:27 / /cg/cpu rw - cgroup cgroup rw,cpu,cpuacct\n\
                  32 23 0:28 / /cg/memory rw - cgroup cgroup rw,memory\n\
                  33 23 0:29 / /cg/pids rw - cgroup cgroup rw,pids";
    let machine = Machine::new("4:memory:/a\n2:cpu,cpuacct:/a\n1:pids:/a\n0::/\n", mounts);
    machine.write("cg/cpu/a/cpu.cfs_quota_us", "50000");
    machine.write("cg/cpu/a/cpu.cfs_period_us", "100000");
    machine.write("cg/cpu/a/cpu.shares", "2048");
    machine.write("cg/cpu/cpu.cfs_quota_us", "-1");
    machine.write("cg/cpu/cpu.cfs_period_us", "100000");
    machine.write("cg/memory/a/memory.limit_in_bytes", "1048576");
    machine.write("cg/memory/memory.limit_in_bytes", "9223372036854771712");
    let limits = machine.limits();
    assert_eq!((limits.cpus, limits.cpu_weight), (Some(0.5), Some(200)));
    assert_eq!((limits.memory, limits.memory_high), (Some(ByteCount::mib(1)), None));
}

#[test]
fn memory_is_what_the_least_of_all_gives() {
    let machine = Machine::new("0::/a\n", V2);
    assert_eq!(machine.limits().memory_given(), None);
    machine.write("proc/meminfo", "MemTotal:        8388608 kB\nMemFree:  1 kB\n");
    assert_eq!(machine.limits().memory_given(), Some(ByteCount::gib(8)));
    machine.write("sys/fs/cgroup/a/memory.max", "2147483648\n");
    assert_eq!(machine.limits().memory_given(), Some(ByteCount::gib(2)));
    machine.write("sys/fs/cgroup/a/memory.high", "1073741824\n");
    assert_eq!(machine.limits().memory_given(), Some(ByteCount::gib(1)));
}

/// Virtual machines allow processors that are not there.
#[test]
fn a_process_runs_only_where_there_is_a_processor() {
    let machine = Machine::new("", "");
    assert_eq!(machine.limits().allowed, CpuSet::from_list("0-1,4"));
    machine.write("sys/devices/system/cpu/online", "0,4-7\n");
    assert_eq!(machine.limits().allowed, CpuSet::from_list("0,4"));
}

#[test]
fn this_process_may_run_somewhere() {
    let limits = Limits::of_this_process();
    assert!(limits.allowed.is_some_and(|allowed| !allowed.is_empty()));
}
