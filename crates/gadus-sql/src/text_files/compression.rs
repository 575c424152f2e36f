//! How a file is compressed: by its name, or as a statement says.
//!
//! - What a reader holds is bounded, whatever the file says: [`XZ_BYTES_MAX`], and what the others need at most.

use crate::error::input;
use datafusion::common::parsers::CompressionTypeVariant;
use gadus_engine::Result;
use std::fs::File;
use std::io::{self, BufReader, Read};

/// What reading an .xz file holds at most; its dictionary has 64 MiB at the highest of the usual levels.
const XZ_BYTES_MAX: u64 = 128 << 20;

/// Bytes that are read of a compressed file at once.
const READ_BYTES: usize = 64 << 10;

/// How a file is compressed, as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Compression {
    None,
    Gzip,
    Zstd,
    Bzip2,
    Xz,
}

const ENDINGS: [(&str, Compression); 5] = [
    (".gz", Compression::Gzip),
    (".zst", Compression::Zstd),
    (".zstd", Compression::Zstd),
    (".bz2", Compression::Bzip2),
    (".xz", Compression::Xz),
];

impl Compression {
    /// What the ending of a path says, and the path without it.
    pub(crate) fn of_path(path: &str) -> (Self, &str) {
        let is = |ending: &str| {
            let at = path.len().checked_sub(ending.len());
            at.and_then(|at| path.get(at..)).is_some_and(|end| end.eq_ignore_ascii_case(ending))
        };
        let found = ENDINGS.into_iter().find(|(ending, _)| is(ending));
        found.map_or((Self::None, path), |(ending, compression)| {
            (compression, &path[..path.len() - ending.len()])
        })
    }

    /// The one of a name; none where the ending of the path is to tell.
    pub(crate) fn named(name: &str) -> Result<Option<Self>> {
        Ok(Some(match name.to_ascii_lowercase().as_str() {
            "auto" | "auto_detect" => return Ok(None),
            "none" | "uncompressed" => Self::None,
            "gzip" | "gz" => Self::Gzip,
            "zstd" | "zst" => Self::Zstd,
            "bzip2" | "bz2" => Self::Bzip2,
            "xz" | "lzma" => Self::Xz,
            _ => {
                let known = "gzip, zstd, bzip2, xz and none are";
                return Err(input(format!("there is no compression '{name}'; {known}")));
            }
        }))
    }

    /// What is in a file.
    pub(super) fn reader(self, file: File) -> io::Result<Box<dyn Read + Send>> {
        if self == Self::None {
            return Ok(Box::new(file));
        }
        let file = BufReader::with_capacity(READ_BYTES, file);
        Ok(match self {
            Self::None => Box::new(file),
            Self::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(file)),
            // Its window is at most 128 MiB, unless somebody allows more.
            Self::Zstd => Box::new(zstd::Decoder::with_buffer(file)?),
            Self::Bzip2 => Box::new(bzip2::bufread::MultiBzDecoder::new(file)),
            Self::Xz => {
                let concatenated = liblzma::stream::CONCATENATED;
                let stream = liblzma::stream::Stream::new_auto_decoder(XZ_BYTES_MAX, concatenated)?;
                Box::new(liblzma::bufread::XzDecoder::new_stream(file, stream))
            }
        })
    }

    pub(crate) fn for_writing(self) -> CompressionTypeVariant {
        match self {
            Self::None => CompressionTypeVariant::UNCOMPRESSED,
            Self::Gzip => CompressionTypeVariant::GZIP,
            Self::Zstd => CompressionTypeVariant::ZSTD,
            Self::Bzip2 => CompressionTypeVariant::BZIP2,
            Self::Xz => CompressionTypeVariant::XZ,
        }
    }

    /// How the name of such a file ends.
    pub(crate) fn ending(self) -> &'static str {
        let of = ENDINGS.into_iter().find(|(_, compression)| *compression == self);
        of.map_or("", |(ending, _)| ending)
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
            Self::Bzip2 => "bzip2",
            Self::Xz => "xz",
        }
    }
}
