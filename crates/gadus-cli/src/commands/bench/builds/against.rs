//! Option `--against`: a benchmark's own peers, and other builds of Gadus.
//!
//! - A build is asked for its version when the option is parsed, so that a wrong path is an error before
//!   anything is measured.
//! - Commas separate peers, so a path with one cannot be named; a symbolic link to it can.

use std::ffi::OsStr;
use std::fmt;
use std::marker::PhantomData;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Args, ValueEnum};

/// Begins the name of a build.
const PREFIX: &str = "gadus=";

/// Peers of a benchmark whose own peers are `P`.
#[derive(Debug, Args)]
pub(in super::super) struct Against<P>
where
    P: ValueEnum + Clone + Send + Sync + 'static,
{
    /// Peers, separated by commas; gadus=PATH is the program of another build of Gadus, with which this one
    /// takes turns
    #[arg(long, value_name = "PEER", value_delimiter = ',', value_parser = PeerParser::<P>(PhantomData))]
    against: Vec<Peer<P>>,
}

/// Own peers of a benchmark that has none.
#[derive(Debug, Clone, Copy)]
pub(in super::super) enum NoPeer {}

/// Another build of Gadus.
#[derive(Debug, Clone)]
pub(super) struct Build {
    /// Its name among peers, as the user wrote it.
    pub(super) name: String,
    pub(super) program: PathBuf,
    pub(super) version: String,
}

#[derive(Clone)]
enum Peer<P> {
    Own(P),
    Build(Build),
}

/// Parses a peer.
#[derive(Clone)]
struct PeerParser<P>(PhantomData<P>);

impl<P> Against<P>
where
    P: ValueEnum + Clone + Send + Sync + 'static,
{
    /// Returns the benchmark's own peers that were named.
    pub(in super::super) fn peers(&self) -> Vec<P> {
        let own = |peer: &Peer<P>| match peer {
            Peer::Own(peer) => Some(peer.clone()),
            Peer::Build(_) => None,
        };
        self.against.iter().filter_map(own).collect()
    }

    /// True if this peer of the benchmark was named.
    pub(in super::super) fn contains(&self, peer: P) -> bool
    where
        P: PartialEq,
    {
        self.peers().contains(&peer)
    }

    pub(super) fn has_peers(&self) -> bool {
        self.against.iter().any(|peer| matches!(peer, Peer::Own(_)))
    }

    pub(super) fn builds(&self) -> impl Iterator<Item = &Build> {
        self.against.iter().filter_map(|peer| match peer {
            Peer::Own(_) => None,
            Peer::Build(build) => Some(build),
        })
    }
}

impl ValueEnum for NoPeer {
    fn value_variants<'a>() -> &'a [Self] {
        &[]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        match *self {}
    }
}

impl<P: ValueEnum> fmt::Debug for Peer<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Own(peer) => match peer.to_possible_value() {
                Some(value) => f.write_str(value.get_name()),
                None => f.write_str("hidden"),
            },
            Self::Build(build) => f.write_str(&build.name),
        }
    }
}

impl<P> TypedValueParser for PeerParser<P>
where
    P: ValueEnum + Clone + Send + Sync + 'static,
{
    type Value = Peer<P>;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<Peer<P>, clap::Error> {
        let text = value.to_string_lossy();
        let argument = argument.map_or_else(|| "--against".to_owned(), ToString::to_string);
        if let Some(path) = text.strip_prefix(PREFIX) {
            return Build::probe(path).map(Peer::Build).map_err(|problem| {
                let message = format!("invalid value '{text}' for '{argument}': {problem}\n");
                clap::Error::raw(ErrorKind::ValueValidation, message).with_cmd(command)
            });
        }
        P::from_str(&text, false).map(Peer::Own).map_err(|_| {
            let names = self.possible_values().into_iter().flatten();
            let names = names.map(|value| value.get_name().to_owned()).collect();
            let mut error = clap::Error::new(ErrorKind::InvalidValue).with_cmd(command);
            error.insert(ContextKind::InvalidArg, ContextValue::String(argument));
            error.insert(ContextKind::InvalidValue, ContextValue::String(text.into_owned()));
            error.insert(ContextKind::ValidValue, ContextValue::Strings(names));
            error
        })
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let own = P::value_variants().iter().filter_map(ValueEnum::to_possible_value);
        Some(Box::new(own.chain([PossibleValue::new("gadus=PATH")])))
    }
}

impl Build {
    /// Makes sure that a path is a Gadus program, and asks it for its version.
    fn probe(path: &str) -> Result<Self, String> {
        if path.is_empty() {
            return Err("no path; name the gadus program of another build".to_owned());
        }
        let program = std::fs::canonicalize(path).map_err(|error| error.to_string())?;
        if !program.is_file() {
            return Err("not a file; name the gadus program of another build".to_owned());
        }
        let output = Command::new(&program)
            .arg("--version")
            .stdin(Stdio::null())
            .output()
            .map_err(|error| format!("cannot be executed: {error}"))?;
        let printed = String::from_utf8_lossy(&output.stdout);
        let version = printed.lines().next().unwrap_or_default().trim();
        if !output.status.success() || !version.starts_with("gadus ") {
            return Err(format!(
                "not a gadus program; --version printed \"{version}\", {}",
                output.status
            ));
        }
        Ok(Self { name: format!("{PREFIX}{path}"), program, version: version.to_owned() })
    }
}
