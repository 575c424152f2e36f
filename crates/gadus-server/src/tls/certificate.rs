//! Where a server's certificate and its key come from.

use gadus_base::clock;
use rcgen::{CertificateParams, DnType, ExtendedKeyUsagePurpose, KeyPair};
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};
use tokio_rustls::rustls::pki_types::pem::{self, PemObject};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

const DAY: Duration = Duration::from_secs(24 * 3600);
/// For which a certificate is made: clients are told to trust it by hand, and not often.
const VALIDITY: Duration = Duration::from_secs(10 * 365 * 24 * 3600);

/// A certificate and its private key, in PEM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Certificate {
    chain: PathBuf,
    key: PathBuf,
    is_made: bool,
}

/// What the files hold.
pub(super) struct Loaded {
    /// The server's own, and those that vouch for it.
    pub(super) chain: Vec<CertificateDer<'static>>,
    pub(super) key: PrivateKeyDer<'static>,
}

impl Certificate {
    /// One that somebody vouches for: a file of the certificate and those up to its authority's, and a file
    /// of its key, which only the server's user, or root and his group, may read.
    #[must_use]
    pub fn given(chain: impl Into<PathBuf>, key: impl Into<PathBuf>) -> Self {
        Self { chain: chain.into(), key: key.into(), is_made: false }
    }

    /// One that is made at its first use, and kept in a file together with its key.
    #[must_use]
    pub fn made_at(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        Self { chain: path.clone(), key: path, is_made: true }
    }

    pub(crate) fn is_given(&self) -> bool {
        !self.is_made
    }

    /// Makes the file that is missing, of the names by which clients reach the server.
    pub(super) fn make(&self, names: &[String]) -> io::Result<()> {
        if !self.is_made || self.key.exists() {
            return Ok(());
        }
        let text = self_signed(names).map_err(io::Error::other)?;
        // Written beside and then given its name, which fails where another server was faster: its own
        // is as good.
        let mut beside = self.key.clone().into_os_string();
        beside.push(format!(".{}", std::process::id()));
        let written = write_private(Path::new(&beside), &text)
            .and_then(|()| fs::hard_link(&beside, &self.key));
        // It has the other name now, or none.
        let _ = fs::remove_file(&beside);
        match written {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                let text = format!("cannot keep a certificate in {}: {error}", self.key.display());
                Err(io::Error::new(error.kind(), text))
            }
            _ => Ok(()),
        }
    }

    /// Reads the files.
    pub(super) fn load(&self) -> io::Result<Loaded> {
        check_private(&self.key)?;
        let chain = CertificateDer::pem_file_iter(&self.chain)
            .and_then(Iterator::collect::<Result<Vec<_>, _>>)
            .map_err(|error| unreadable(&self.chain, "certificate", error))?;
        if chain.is_empty() {
            return Err(unreadable(&self.chain, "certificate", pem::Error::NoItemsFound));
        }
        let key = PrivateKeyDer::from_pem_file(&self.key)
            .map_err(|error| unreadable(&self.key, "private key", error))?;
        Ok(Loaded { chain, key })
    }
}

impl fmt::Display for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.chain == self.key {
            true => write!(f, "{}", self.chain.display()),
            false => write!(f, "{} with {}", self.chain.display(), self.key.display()),
        }
    }
}

/// A certificate and its key in one text.
fn self_signed(names: &[String]) -> Result<String, rcgen::Error> {
    let mut params = CertificateParams::new(names)?;
    if let Some(name) = names.first() {
        params.distinguished_name.push(DnType::CommonName, name);
    }
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let now = UNIX_EPOCH + clock().wall_time().0;
    // Clients whose clocks are behind trust it as well.
    params.not_before = (now - DAY).into();
    params.not_after = (now + VALIDITY).into();
    let key = KeyPair::generate()?;
    let certificate = params.self_signed(&key)?;
    Ok(certificate.pem() + &key.serialize_pem())
}

fn write_private(path: &Path, text: &str) -> io::Result<()> {
    let mut file: File = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// Refuses a key that others may read, except those of the group that root gave it to.
fn check_private(path: &Path) -> io::Result<()> {
    let metadata = fs::metadata(path).map_err(|error| {
        io::Error::new(error.kind(), format!("the private key {}: {error}", path.display()))
    })?;
    let allowed = if metadata.uid() == 0 { 0o740 } else { 0o700 };
    if metadata.mode() & 0o777 & !allowed == 0 {
        return Ok(());
    }
    let text = format!("others may read the private key {0}: chmod 600 {0}", path.display());
    Err(io::Error::new(ErrorKind::PermissionDenied, text))
}

fn unreadable(path: &Path, what: &str, error: pem::Error) -> io::Error {
    let path = path.display();
    match error {
        pem::Error::Io(error) => {
            io::Error::new(error.kind(), format!("the {what} {path}: {error}"))
        }
        pem::Error::NoItemsFound => {
            let text = format!("{path} holds no {what} in PEM");
            io::Error::new(ErrorKind::InvalidData, text)
        }
        error => {
            let text = format!("the {what} {path} is no PEM: {error}");
            io::Error::new(ErrorKind::InvalidData, text)
        }
    }
}
