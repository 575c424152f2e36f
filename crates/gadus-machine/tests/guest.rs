//! Memory on several nodes, in a guest that has them: this very test, as the first process of a Linux in qemu.
//!
//! - Skipped, with the reason, where there is no qemu or no kernel: `GADUS_GUEST_KERNEL`, or what
//!   `scripts/prepare.sh guest` fetches.

#![cfg(target_arch = "x86_64")]
#![allow(clippy::print_stdout, clippy::unwrap_used)] // a test may fail this way, its helpers too
#![allow(unsafe_code)] // the first process of a system mounts what others find mounted

use gadus_machine::{CpuSet, Topology, bind_memory, memory_nodes, pin_this_thread};
use std::ffi::{CStr, CString};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;

const NODES: u32 = 4;

/// What the guest says last when all holds.
const PASSED: &str = "memory lies where it was told";

/// Seconds within which the guest ends. It is emulated, as not every machine that has a hypervisor can run it.
const PATIENCE: &str = "120";

/// An emulated machine does not always come up. Where it has not said that this program runs, nothing was tested, and
/// another one is tried.
const ATTEMPTS: usize = 3;
const STARTED: &str = "the guest runs";

const MEMORY_BYTES: usize = 4 << 20;

#[test]
fn memory_of_a_guest_lies_where_it_is_told() {
    if std::process::id() == 1 {
        return guest();
    }
    let Some(kernel) = kernel() else {
        return println!("skipped: no kernel to run: scripts/prepare.sh guest fetches one");
    };
    let qemu = Command::new("qemu-system-x86_64").arg("--version").output();
    if qemu.is_err() {
        return println!("skipped: there is no qemu-system-x86_64");
    }
    let folder = tempfile::tempdir().unwrap();
    let files = folder.path().join("initrd");
    fs::write(&files, archive(&std::env::current_exe().unwrap())).unwrap();
    let mut said = String::new();
    for _ in 0..ATTEMPTS {
        said = run_guest(&kernel, &files);
        if said.contains(STARTED) {
            break;
        }
        println!("a guest that did not come up said: {said}");
    }
    assert!(said.contains(PASSED), "{said}");
}

/// What a guest with several memory nodes says until it ends.
fn run_guest(kernel: &Path, files: &Path) -> String {
    let mut guest = Command::new("timeout");
    guest.args([PATIENCE, "qemu-system-x86_64", "-accel", "tcg", "-m", "512"]);
    guest.args(["-smp", &NODES.to_string(), "-nographic", "-no-reboot", "-nodefaults"]);
    guest.args(["-serial", "stdio", "-append", "console=ttyS0 quiet panic=-1 -- --nocapture"]);
    for node in 0..NODES {
        let memory = format!("memory-backend-ram,id=memory{node},size=128M");
        let numa = format!("node,nodeid={node},cpus={node},memdev=memory{node}");
        guest.args(["-object", &memory, "-numa", &numa]);
    }
    let output = guest.arg("-kernel").arg(kernel).arg("-initrd").arg(files).output().unwrap();
    let [said, complained] =
        [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    format!("{said}\n{complained}")
}

/// What the guest does.
fn guest() {
    println!("{STARTED}");
    for (kind, folder) in [(c"proc", c"/proc"), (c"sysfs", c"/sys")] {
        mount(kind, folder);
    }
    let machine = Topology::discover().unwrap();
    let nodes = machine.nodes.iter().map(|node| node.number).collect::<Vec<_>>();
    assert_eq!(nodes, (0..NODES).collect::<Vec<_>>());
    for core in &machine.cores {
        let (cpu, near) = (core.cpus.iter().next().unwrap(), core.node.unwrap());
        pin_this_thread(&[cpu].into_iter().collect::<CpuSet>()).unwrap();
        let memory = Memory::new();
        assert_eq!(memory.nodes(), [None], "memory that nobody has written lies nowhere");
        memory.0.fill(1);
        assert_eq!(memory.nodes_of_written(), [Some(near)], "it lies near who writes it first");
        for node in &nodes {
            let bound = Memory::new();
            bind_memory(bound.0, *node).unwrap();
            bound.0.fill(1);
            assert_eq!(bound.nodes_of_written(), [Some(*node)], "it lies where it is bound to");
            bind_memory(memory.0, *node).unwrap();
            assert_eq!(memory.nodes_of_written(), [Some(*node)], "it is moved");
            assert!(memory.0.iter().all(|byte| *byte == 1));
        }
        assert!(bind_memory(memory.0, NODES).is_err());
    }
    println!("{PASSED}");
}

/// Looks at pages until all of them lie somewhere: moving one takes microseconds.
const LOOKS_MAX: usize = 10_000;

/// Pages that nobody has written, never given back.
struct Memory(&'static mut [u8]);

impl Memory {
    fn new() -> Self {
        let (read, anonymous) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        let nowhere = std::ptr::null_mut();
        // SAFETY: new memory, which nobody else has.
        unsafe {
            let memory = libc::mmap(nowhere, MEMORY_BYTES, read, anonymous, -1, 0);
            assert_ne!(memory, libc::MAP_FAILED);
            // A large page would lie on one node as a whole.
            libc::madvise(memory, MEMORY_BYTES, libc::MADV_NOHUGEPAGE);
            Self(std::slice::from_raw_parts_mut(memory.cast(), MEMORY_BYTES))
        }
    }

    /// The different nodes of its pages.
    fn nodes(&self) -> Vec<Option<u32>> {
        let mut nodes = memory_nodes(self.0).unwrap();
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }

    /// The same of memory that is written: a page that the kernel moves at this moment is nowhere until it has.
    fn nodes_of_written(&self) -> Vec<Option<u32>> {
        for _ in 0..LOOKS_MAX {
            let nodes = self.nodes();
            if !nodes.contains(&None) {
                return nodes;
            }
            std::thread::yield_now();
        }
        self.nodes()
    }
}

fn mount(kind: &CStr, folder: &CStr) {
    // SAFETY: texts that end, and no data.
    let done =
        unsafe { libc::mount(kind.as_ptr(), folder.as_ptr(), kind.as_ptr(), 0, std::ptr::null()) };
    assert_eq!(done, 0, "{folder:?}: {}", io::Error::last_os_error());
}

/// A kernel that may be read.
fn kernel() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("GADUS_GUEST_KERNEL") {
        return Some(named.into());
    }
    // target/debug/deps/guest-1234
    let target = std::env::current_exe().ok()?.ancestors().nth(3)?.to_owned();
    let kernels =
        [target.join("guest/boot"), PathBuf::from("/boot")].into_iter().flat_map(|folder| {
            let files = fs::read_dir(folder).into_iter().flatten().flatten();
            files.map(|file| file.path())
        });
    let is_kernel = |path: &PathBuf| {
        let name = path.file_name().is_some_and(|name| name.as_bytes().starts_with(b"vmlinuz-"));
        name && fs::File::open(path).is_ok()
    };
    kernels.into_iter().find(is_kernel)
}

/// The guest's files: a program as the first process, with the libraries that it needs. The format is cpio's newc.
fn archive(program: &Path) -> Vec<u8> {
    let listed = Command::new("ldd").arg(program).output().unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    let libraries = listed.split_whitespace().filter(|word| word.starts_with('/'));
    let files =
        libraries.map(|library| (library.trim_start_matches('/').to_owned(), library.into()));
    let files = files.chain([("init".to_owned(), program.to_owned())]).collect::<Vec<_>>();
    let mut folders = vec!["proc".to_owned(), "sys".to_owned()];
    for (name, _) in &files {
        let above =
            Path::new(name).ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty());
        folders.extend(above.map(|folder| folder.display().to_string()));
    }
    folders.sort();
    folders.dedup();
    let mut archive = Vec::new();
    for folder in folders {
        entry(&mut archive, &folder, libc::S_IFDIR | 0o755, &[]);
    }
    for (name, path) in files {
        entry(&mut archive, &name, libc::S_IFREG | 0o755, &fs::read(path).unwrap());
    }
    entry(&mut archive, "TRAILER!!!", 0, &[]);
    archive
}

fn entry(archive: &mut Vec<u8>, name: &str, mode: u32, bytes: &[u8]) {
    let name = CString::new(name).unwrap();
    let name = name.as_bytes_with_nul();
    let pad = |archive: &mut Vec<u8>| archive.resize(archive.len().next_multiple_of(4), 0);
    // Its inode, mode, owner, group, links, time, size, four numbers of devices, its name's length and no checksum.
    let number = archive.len();
    let fields = [number, mode as usize, 0, 0, 1, 0, bytes.len(), 0, 0, 0, 0, name.len(), 0];
    archive.extend(b"070701");
    fields.iter().for_each(|field| archive.extend(format!("{field:08X}").bytes()));
    archive.extend(name);
    pad(archive);
    archive.extend(bytes);
    pad(archive);
}
