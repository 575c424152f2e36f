//! Connecting, one echo of a few bytes, and closing: by clients that come and go.

use crate::error::{KubError, Refused};
use crate::harness::{Contest, Harness, Stopwatch};
use crate::report::{Benchmark, Origin};
use crate::run::{Place, Task};
use crate::system::Child;
use rustix::fs::{CWD, FileType, Mode};
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

const GREETING: [u8; 4] = [4, 0, 0, 0];

pub(super) fn tasks() -> Vec<Task> {
    vec![Task::new(Benchmark::Message, "connect and close", measure)]
}

fn measure(harness: &mut Harness<'_>, place: &Place) -> Result<(), KubError> {
    place.stay_here()?;
    let cpu = place.other()?;
    let contest = Contest::new(Benchmark::Message, Origin::Vasil2003, "connect, greet and close")
        .with("processor", "other")
        .paper_found("a first connection by TCP is dearer than a pipe's")
        .kernel("Unix stream", unix(place.folder.join("socket"), cpu))
        .kernel("TCP", tcp(cpu))
        .kernel("named pipes", named_pipes(&place.folder, cpu));
    harness.measure(contest)
}

type Greeter<'a> = Box<dyn FnMut(u64, &mut Stopwatch<'_>) -> Result<(), KubError> + 'a>;

/// Greets and expects to be greeted, and leaves.
fn greet<S: Read + Write>(
    watch: &mut Stopwatch<'_>,
    connect: impl FnOnce() -> std::io::Result<S>,
) -> Result<(), KubError> {
    let mut stream = watch.step("connect", connect).or_refused("a connection")?;
    watch.step("write", || stream.write_all(&GREETING)).or_refused("a greeting")?;
    let mut back = [0; 4];
    watch.step("first bytes", || stream.read_exact(&mut back)).or_refused("a greeting")?;
    watch.step("close", || drop(stream));
    if back == GREETING { Ok(()) } else { Err(KubError::broken("another greeting came back")) }
}

/// Greets back whoever comes.
fn greet_back<S: Read + Write>(mut stream: S) {
    let mut greeting = [0; 4];
    if stream.read_exact(&mut greeting).is_ok() {
        // Who is gone need not be greeted.
        let _ = stream.write_all(&greeting);
    }
}

fn unix<'a>(path: PathBuf, cpu: u32) -> Greeter<'a> {
    let mut server = None;
    Box::new(move |times, watch| {
        if server.is_none() {
            server = Some(watch.untimed(|| {
                let listener = UnixListener::bind(&path).or_refused("a Unix socket")?;
                Child::start(Some(cpu), || {
                    while let Ok((stream, _)) = listener.accept() {
                        greet_back(stream);
                    }
                })
            })?);
        }
        (0..times).try_for_each(|_| greet(watch, || UnixStream::connect(&path)))
    })
}

fn tcp<'a>(cpu: u32) -> Greeter<'a> {
    let mut server = None;
    Box::new(move |times, watch| {
        if server.is_none() {
            server = Some(watch.untimed(|| {
                let listener = TcpListener::bind(("127.0.0.1", 0)).or_refused("a TCP socket")?;
                let address = listener.local_addr().or_refused("a TCP socket")?;
                let child = Child::start(Some(cpu), || {
                    while let Ok((stream, _)) = listener.accept() {
                        greet_back(stream);
                    }
                });
                child.map(|child| (child, address))
            })?);
        }
        let address = server.as_ref().map(|(_, address)| *address);
        let address = address.ok_or_else(|| KubError::broken("no server was started"))?;
        (0..times).try_for_each(|_| greet(watch, || TcpStream::connect(address)))
    })
}

/// A pair of named pipes. Its server has both open for reading and writing all the time: who opens a pipe while another
/// closes it may be given the end of that one.
struct NamedPipes {
    incoming: File,
    outgoing: File,
}

impl Read for NamedPipes {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.incoming.read(buffer)
    }
}

impl Write for NamedPipes {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.outgoing.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn named_pipes<'a>(folder: &Path, cpu: u32) -> Greeter<'a> {
    let (requests, answers) = (folder.join("requests"), folder.join("answers"));
    let mut server = None;
    Box::new(move |times, watch| {
        if server.is_none() {
            let start = || {
                for path in [&requests, &answers] {
                    let _ = fs::remove_file(path);
                    let mode = Mode::RUSR | Mode::WUSR;
                    rustix::fs::mknodat(CWD, path, FileType::Fifo, mode, 0)
                        .or_refused("a named pipe")?;
                }
                // As the C library has them: a child must not allocate.
                let names = [c_name(&requests)?, c_name(&answers)?];
                Child::start(Some(cpu), || drop(serve_pipes(&names)))
            };
            server = Some(watch.untimed(start)?);
        }
        let connect = || {
            let outgoing = OpenOptions::new().write(true).open(&requests)?;
            let incoming = File::open(&answers)?;
            Ok(NamedPipes { incoming, outgoing })
        };
        (0..times).try_for_each(|_| greet(watch, connect))
    })
}

fn c_name(path: &Path) -> Result<std::ffi::CString, KubError> {
    use std::os::unix::ffi::OsStrExt;
    let name = std::ffi::CString::new(path.as_os_str().as_bytes());
    name.map_err(|_| KubError::unavailable("the folder's name has a zero byte"))
}

fn serve_pipes([requests, answers]: &[std::ffi::CString; 2]) -> std::io::Result<()> {
    use rustix::fs::{OFlags, open};
    let both = |name: &std::ffi::CString| open(name.as_c_str(), OFlags::RDWR, Mode::empty());
    let (mut incoming, mut outgoing) = (File::from(both(requests)?), File::from(both(answers)?));
    let mut greeting = [0; 4];
    loop {
        incoming.read_exact(&mut greeting)?;
        outgoing.write_all(&greeting)?;
    }
}

#[cfg(test)]
mod tests;
