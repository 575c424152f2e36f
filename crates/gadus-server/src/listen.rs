//! Where a server listens: TCP addresses and Unix sockets.

use crate::protocol::Socket;
use socket2::{SockRef, TcpKeepalive};
use std::fmt;
use std::fs;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener as StdTcpListener, ToSocketAddrs};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::{UnixListener as StdUnixListener, UnixStream as StdUnixStream};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;
use tokio::net::{TcpListener, UnixListener};

/// The port in the name of a socket in a folder, as PostgreSQL's clients look for it.
const PORT: u16 = 5432;

/// A client that has been silent for so long is asked by the system whether it is there,
const IDLE: Duration = Duration::from_mins(2);

/// then so often, five times.
const PROBES: Duration = Duration::from_secs(10);

/// A place to listen at: `127.0.0.1:5433`, `localhost:5433`, or `unix:PATH`, where the path is a socket
/// or a folder in which it is `.s.PGSQL.5432`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Listen {
    /// A TCP address; port 0 takes a free one.
    Tcp(SocketAddr),
    /// A Unix socket.
    Unix(PathBuf),
}

impl Listen {
    /// Whether only this machine reaches it.
    #[must_use]
    pub fn is_local(&self) -> bool {
        match self {
            Self::Tcp(address) => address.ip().is_loopback(),
            Self::Unix(_) => true,
        }
    }
}

impl Listen {
    pub(crate) fn ip(&self) -> Option<IpAddr> {
        match self {
            Self::Tcp(address) => Some(address.ip()),
            Self::Unix(_) => None,
        }
    }
}

impl FromStr for Listen {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(path) = text.strip_prefix("unix:") {
            return match path {
                "" => Err("unix: is followed by the path of a socket".to_owned()),
                path => Ok(Self::Unix(path.into())),
            };
        }
        let text = text.strip_prefix("tcp:").unwrap_or(text);
        let mut addresses = text.to_socket_addrs().map_err(|error| {
            format!("'{text}' is no address: {error}; one is 127.0.0.1:5433 or unix:/run/gadus")
        })?;
        addresses.next().map(Self::Tcp).ok_or_else(|| format!("'{text}' has no address"))
    }
}

impl fmt::Display for Listen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => write!(f, "{address}"),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

/// A place where a server listens; a socket's file goes with it.
#[derive(Debug)]
pub(crate) enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener, SocketFile),
}

/// The name of a socket in the file system.
#[derive(Debug)]
pub(crate) struct SocketFile(PathBuf);

impl Drop for SocketFile {
    fn drop(&mut self) {
        // Somebody may have removed it already.
        let _ = fs::remove_file(&self.0);
    }
}

/// Who is at the other end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Peer {
    Tcp(SocketAddr),
    /// The number of the system's user.
    Unix(u32),
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => write!(f, "{address}"),
            Self::Unix(user) => write!(f, "unix:{user}"),
        }
    }
}

impl Peer {
    /// Whether what it sends leaves the machine.
    pub(crate) fn is_remote(&self) -> bool {
        match self {
            Self::Tcp(address) => !address.ip().to_canonical().is_loopback(),
            Self::Unix(_) => false,
        }
    }
}

impl Listener {
    /// Begins to listen; on a runtime of tokio.
    pub(crate) fn bind(listen: &Listen) -> io::Result<Self> {
        match listen {
            Listen::Tcp(address) => bind_tcp(*address).map(Self::Tcp),
            Listen::Unix(path) => {
                let path = match path.is_dir() {
                    true => path.join(format!(".s.PGSQL.{PORT}")),
                    false => path.clone(),
                };
                remove_left_over(&path)?;
                let listener = StdUnixListener::bind(&path)?;
                let file = SocketFile(path);
                // The system says who calls; whom to let in is decided then.
                fs::set_permissions(&file.0, fs::Permissions::from_mode(0o777))?;
                listener.set_nonblocking(true)?;
                Ok(Self::Unix(UnixListener::from_std(listener)?, file))
            }
        }
    }

    /// Where it listens, with the port that it was given.
    pub(crate) fn place(&self) -> io::Result<Listen> {
        match self {
            Self::Tcp(listener) => listener.local_addr().map(Listen::Tcp),
            Self::Unix(_, file) => Ok(Listen::Unix(file.0.clone())),
        }
    }

    /// The next caller.
    pub(crate) async fn accept(&self) -> io::Result<(Box<dyn Socket>, Peer)> {
        match self {
            Self::Tcp(listener) => {
                let (stream, address) = listener.accept().await?;
                // Answers are written whole: nothing is to wait for more.
                stream.set_nodelay(true)?;
                // Who is gone without a word keeps neither locks nor a place.
                let probes =
                    TcpKeepalive::new().with_time(IDLE).with_interval(PROBES).with_retries(5);
                SockRef::from(&stream).set_tcp_keepalive(&probes)?;
                Ok((Box::new(stream), Peer::Tcp(address)))
            }
            Self::Unix(listener, _) => {
                let (stream, _) = listener.accept().await?;
                let user = stream.peer_cred()?.uid();
                Ok((Box::new(stream), Peer::Unix(user)))
            }
        }
    }
}

/// Begins to listen at an address; on a runtime of tokio.
pub(crate) fn bind_tcp(address: SocketAddr) -> io::Result<TcpListener> {
    let listener = StdTcpListener::bind(address)?;
    listener.set_nonblocking(true)?;
    TcpListener::from_std(listener)
}

/// Removes the socket of a server that is gone; refuses where one listens, or where the file is another.
fn remove_left_over(path: &Path) -> io::Result<()> {
    let Ok(metadata) = fs::symlink_metadata(path) else { return Ok(()) };
    if !metadata.file_type().is_socket() {
        let text = format!("{} is there already, and no socket", path.display());
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, text));
    }
    match StdUnixStream::connect(path) {
        Ok(_) => {
            let text = format!("somebody listens at {} already", path.display());
            Err(io::Error::new(io::ErrorKind::AddrInUse, text))
        }
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => fs::remove_file(path),
        Err(error) => Err(error),
    }
}
