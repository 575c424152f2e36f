//! Blobs of what lies in memory, as checkpoints write them.

use crate::blobs::Blobs;
use crate::error::{ErrorKind, Result};
use crate::version::PartImage;
use gadus_storage::{BlobRef, Extent};
use std::sync::Arc;

/// A blob of what lies in memory, in use.
#[derive(Debug, Clone)]
pub(super) struct Part {
    pub(super) extent: Arc<Extent>,
    blob: BlobRef,
}

impl Part {
    pub(super) fn write(bytes: &[u8], blobs: &Blobs) -> Result<Self> {
        let (extent, references) = blobs.store().write_extent(&[bytes])?;
        Ok(Self { extent, blob: references[0] })
    }

    /// Writes a part, or keeps the last checkpoint's where there is no space and it holds what is needed.
    pub(super) fn write_or_keep(
        bytes: &[u8],
        last: Option<&Self>,
        holds: impl FnOnce(&[u8]) -> bool,
        blobs: &Blobs,
    ) -> Result<Self> {
        match (Self::write(bytes, blobs), last) {
            (Err(error), Some(last)) if error.kind() == ErrorKind::NoSpace => {
                let there = blobs.store().read_blob(&last.blob)?;
                if holds(&there) { Ok(last.clone()) } else { Err(error) }
            }
            (written, _) => written,
        }
    }

    pub(super) fn adopt(image: PartImage, blobs: &Blobs) -> Result<Self> {
        Ok(Self { extent: blobs.store().adopt_extent(image.extent)?, blob: image.blob })
    }

    pub(super) fn bytes(&self) -> u64 {
        self.extent.reference().bytes
    }

    pub(super) fn image(&self) -> PartImage {
        PartImage { extent: self.extent.reference(), blob: self.blob }
    }
}
