//! Where a benchmark works: one folder for the run, removed at its end, and one that stays.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

use crate::failure::Failure;
use crate::generate::bookings::Bookings;
use crate::load::BATCH_ROWS;
use crate::output::{Format, Limits};
use crate::progress::Progress;

/// The folder of one run.
#[derive(Debug)]
pub(super) struct Workplace {
    /// Stays for later runs: the virtual environment of the peers.
    pub(super) kept: PathBuf,
    /// Removed at the end.
    folder: PathBuf,
}

impl Workplace {
    /// Makes the folders; `parent` as the user named it.
    pub(super) fn make(parent: Option<&Path>) -> Result<Self, Failure> {
        let kept = parent.map_or_else(build_folder, Path::to_owned).join("gadus-bench");
        let folder = kept.join(format!("run-{}", std::process::id()));
        std::fs::create_dir_all(&folder).map_err(|error| {
            Failure::message(format!("cannot make {}: {error}", folder.display()))
        })?;
        let absolute = |path: &Path| {
            path.canonicalize()
                .map_err(|error| Failure::message(format!("{}: {error}", path.display())))
        };
        Ok(Self { kept: absolute(&kept)?, folder: absolute(&folder)? })
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The path of a file of this run.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Writes bookings into a Parquet file, as other programs would: row groups of a million rows,
    /// compressed by zstd.
    pub(super) fn bookings(&self, rows: u64) -> Result<PathBuf, Failure> {
        let path = self.path("bookings.parquet");
        let bookings = bookings(rows);
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .build();
        let file = std::fs::File::create(&path)?;
        let mut writer = ArrowWriter::try_new(file, bookings.schema(), Some(properties))
            .map_err(|error| Failure::message(error.to_string()))?;
        let mut progress = Progress::new("generating", rows);
        for batch in bookings.into_table(BATCH_ROWS).batches {
            let batch = batch?;
            writer.write(&batch).map_err(|error| Failure::message(error.to_string()))?;
            progress.advance(batch.num_rows() as u64);
        }
        writer.close().map_err(|error| Failure::message(error.to_string()))?;
        Ok(path)
    }

    /// The same as comma-separated values, for who reads no Parquet.
    pub(super) fn bookings_csv(&self, rows: u64) -> Result<PathBuf, Failure> {
        let path = self.path("bookings.csv");
        if path.exists() {
            return Ok(path);
        }
        let mut output = BufWriter::new(std::fs::File::create(&path)?);
        let table = bookings(rows).into_table(BATCH_ROWS);
        let mut writer = Format::Csv.writer(&mut output, Limits::default());
        writer.start(&table.schema)?;
        for batch in table.batches {
            writer.batch(&batch?)?;
        }
        writer.finish()?;
        drop(writer);
        output.flush()?;
        Ok(path)
    }
}

impl Drop for Workplace {
    fn drop(&mut self) {
        // What cannot be removed stays in a folder that is for such things.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// The bookings of all contestants.
pub(super) fn bookings(rows: u64) -> Bookings {
    Bookings::new(rows, 1)
}

/// The folder that cargo builds in, where there is one: large, on a disk, and nobody's data.
fn build_folder() -> PathBuf {
    let named = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    let usual = Path::new("target").is_dir().then(|| PathBuf::from("target"));
    named.or(usual).unwrap_or_else(std::env::temp_dir)
}

/// Removes a database and what belongs to it, of any contestant.
pub(super) fn remove_database(path: &Path) -> Result<(), Failure> {
    let (Some(folder), Some(name)) =
        (path.parent(), path.file_name().and_then(|name| name.to_str()))
    else {
        return Ok(());
    };
    match gadus::Database::remove(path) {
        Err(error) if error.kind() != gadus::ErrorKind::NotFound => return Err(error.into()),
        _ => {}
    }
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().to_str().is_some_and(|found| found.starts_with(name)) {
            std::fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}
