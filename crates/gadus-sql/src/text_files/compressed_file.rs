//! A file that is written, and compressed while it is.

use super::compression::Compression;
use std::io::{self, BufWriter, Write};

/// The usual levels of the programs of these names.
const GZIP_LEVEL: u32 = 6;
const ZSTD_LEVEL: i32 = 3;
const XZ_LEVEL: u32 = 6;

/// What is written to it; unless it is finished, the file is none.
pub(crate) enum CompressedFile<W: Write> {
    None(BufWriter<W>),
    Gzip(flate2::write::GzEncoder<BufWriter<W>>),
    Zstd(zstd::Encoder<'static, BufWriter<W>>),
    Bzip2(bzip2::write::BzEncoder<BufWriter<W>>),
    Xz(liblzma::write::XzEncoder<BufWriter<W>>),
}

impl Compression {
    /// Compresses what is written to a file.
    pub(crate) fn writer<W: Write>(self, file: W) -> io::Result<CompressedFile<W>> {
        let file = BufWriter::new(file);
        Ok(match self {
            Self::None => CompressedFile::None(file),
            Self::Gzip => {
                let level = flate2::Compression::new(GZIP_LEVEL);
                CompressedFile::Gzip(flate2::write::GzEncoder::new(file, level))
            }
            Self::Zstd => CompressedFile::Zstd(zstd::Encoder::new(file, ZSTD_LEVEL)?),
            Self::Bzip2 => {
                let level = bzip2::Compression::best();
                CompressedFile::Bzip2(bzip2::write::BzEncoder::new(file, level))
            }
            Self::Xz => CompressedFile::Xz(liblzma::write::XzEncoder::new(file, XZ_LEVEL)),
        })
    }
}

impl<W: Write> CompressedFile<W> {
    /// Writes what is left.
    pub(crate) fn finish(self) -> io::Result<()> {
        let mut file = match self {
            Self::None(file) => file,
            Self::Gzip(encoder) => encoder.finish()?,
            Self::Zstd(encoder) => encoder.finish()?,
            Self::Bzip2(encoder) => encoder.finish()?,
            Self::Xz(encoder) => encoder.finish()?,
        };
        file.flush()
    }

    fn encoder(&mut self) -> &mut dyn Write {
        match self {
            Self::None(file) => file,
            Self::Gzip(encoder) => encoder,
            Self::Zstd(encoder) => encoder,
            Self::Bzip2(encoder) => encoder,
            Self::Xz(encoder) => encoder,
        }
    }
}

impl<W: Write> Write for CompressedFile<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.encoder().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.encoder().flush()
    }
}
