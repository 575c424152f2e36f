//! The files beneath a folder as an object store, for DataFusion's readers.
//!
//! - Each read opens its file beneath the folder by the kernel's rules (`InputFolder`): no path leaves the folder or
//!   passes a link. Size, time and tag of a file are those of the descriptor that is read.
//! - Locations are whole paths, as those of DataFusion's store of local files: what is remembered of a file by its
//!   location is remembered of the same file.
//! - It writes, lists and removes nothing: who reads has found the files already.

use crate::text_files::within;
use async_trait::async_trait;
use bytes::Bytes;
use datafusion::object_store::local::LocalFileSystem;
use datafusion::object_store::path::Path as Location;
use datafusion::object_store::{
    Attributes, CopyOptions, Error, GetOptions, GetResult, GetResultPayload, ListResult,
    MultipartUpload, ObjectMeta, ObjectStore, PutMultipartOptions, PutOptions, PutPayload,
    PutResult, Result,
};
use futures::stream::BoxStream;
use futures::{StreamExt, stream};
use gadus_block::InputFolder;
use std::fmt;
use std::fs::{File, Metadata};
use std::io;
use std::ops::Range;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use tokio::runtime::Handle;

const NAME: &str = "FolderStore";

/// The files beneath a folder, to be read.
#[derive(Debug)]
pub(crate) struct FolderStore {
    folder: InputFolder,
    /// Knows which path a location stands for.
    paths: LocalFileSystem,
}

impl FolderStore {
    pub(crate) fn new(folder: InputFolder) -> Self {
        Self { folder, paths: LocalFileSystem::new() }
    }

    /// Opens a file and reads on a thread that may block, if there is one.
    async fn read<T: Send + 'static>(
        &self,
        location: &Location,
        read: impl FnOnce(File, PathBuf) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let path = self.paths.path_to_filesystem(location)?;
        let folder = self.folder.clone();
        let open = move || {
            let opened = within(&folder, &path).and_then(|path| folder.open_file(path));
            read(opened.map_err(|error| failed(&path, error))?, path)
        };
        match Handle::try_current() {
            Ok(runtime) => runtime.spawn_blocking(open).await?,
            Err(_) => open(),
        }
    }
}

impl fmt::Display for FolderStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{NAME}({})", self.folder.path().display())
    }
}

#[async_trait]
impl ObjectStore for FolderStore {
    async fn get_opts(&self, location: &Location, options: GetOptions) -> Result<GetResult> {
        let at = location.clone();
        let read = move |file: File, path: PathBuf| {
            let facts = file.metadata().map_err(|error| failed(&path, error))?;
            let meta = meta_of(&facts, at).map_err(|error| failed(&path, error))?;
            options.check_preconditions(&meta)?;
            let range = match options.range {
                Some(range) => range
                    .as_range(meta.size)
                    .map_err(|error| Error::Generic { store: NAME, source: error.into() })?,
                None => 0..meta.size,
            };
            let payload = GetResultPayload::File(file, path);
            Ok(GetResult { payload, meta, range, attributes: Attributes::default() })
        };
        self.read(location, read).await
    }

    async fn get_ranges(&self, location: &Location, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        let ranges = ranges.to_vec();
        let read = move |file: File, path: PathBuf| {
            let bytes =
                |range: Range<u64>| bytes_of(&file, range).map_err(|error| failed(&path, error));
            ranges.into_iter().map(bytes).collect()
        };
        self.read(location, read).await
    }

    async fn put_opts(&self, _: &Location, _: PutPayload, _: PutOptions) -> Result<PutResult> {
        Err(refused("put"))
    }

    async fn put_multipart_opts(
        &self,
        _: &Location,
        _: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        Err(refused("put"))
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, Result<Location>>,
    ) -> BoxStream<'static, Result<Location>> {
        locations.map(|_| Err(refused("delete"))).boxed()
    }

    fn list(&self, _: Option<&Location>) -> BoxStream<'static, Result<ObjectMeta>> {
        stream::iter([Err(refused("list"))]).boxed()
    }

    async fn list_with_delimiter(&self, _: Option<&Location>) -> Result<ListResult> {
        Err(refused("list"))
    }

    async fn copy_opts(&self, _: &Location, _: &Location, _: CopyOptions) -> Result<()> {
        Err(refused("copy"))
    }
}

/// Returns what is known of an opened file, with a tag that changes when it does.
fn meta_of(facts: &Metadata, location: Location) -> io::Result<ObjectMeta> {
    let modified = facts.modified()?;
    let tag =
        format!("{:x}-{:x}.{:x}-{:x}", facts.ino(), facts.mtime(), facts.mtime_nsec(), facts.len());
    Ok(ObjectMeta {
        location,
        last_modified: modified.into(),
        size: facts.len(),
        e_tag: Some(tag),
        version: None,
    })
}

fn bytes_of(file: &File, range: Range<u64>) -> io::Result<Bytes> {
    let length = range.end.saturating_sub(range.start);
    // The file may have fewer bytes than were asked for; no more are made room for than it has.
    let left = file.metadata()?.len().saturating_sub(range.start);
    if length > left {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let mut bytes = vec![0; usize::try_from(length).map_err(io::Error::other)?];
    file.read_exact_at(&mut bytes, range.start)?;
    Ok(bytes.into())
}

fn refused(operation: &str) -> Error {
    Error::NotImplemented { operation: operation.to_owned(), implementer: NAME.to_owned() }
}

fn failed(path: &Path, error: io::Error) -> Error {
    let path = path.display().to_string();
    match error.kind() {
        io::ErrorKind::NotFound => Error::NotFound { path, source: error.into() },
        io::ErrorKind::PermissionDenied => Error::PermissionDenied { path, source: error.into() },
        _ => Error::Generic { store: NAME, source: error.into() },
    }
}
