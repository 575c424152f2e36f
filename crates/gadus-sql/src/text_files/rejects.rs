//! Records of CSV that a load leaves out.
//!
//! - Rows are read many at once. Where that fails they are halved until those are found by which it does, so that a
//!   record is refused here for the same reasons for which a load without them fails.
//! - Those that are held for whoever writes them down are of the blocks that are read at the same time.

use super::form::{Records, RowsOfText};
use super::wrong::{Fits, Reject, what_is_wrong};
use arrow::array::RecordBatch;
use gadus_engine::{Error, Reason, Result};
use parking_lot::Mutex;
use std::sync::Arc;

/// Records that are read one by one where some of them are wrong: where all are, halving on would read each once more.
const FEW: usize = 8;

/// Records that a load leaves out.
pub(crate) struct Rejects {
    /// More are an error; where there must be none, that of the first.
    limit: Option<u64>,
    fits: Option<Box<Fits>>,
    /// Whether somebody writes them down.
    is_kept: bool,
    found: Mutex<Found>,
}

#[derive(Default)]
struct Found {
    count: u64,
    kept: Vec<Reject>,
}

impl std::fmt::Debug for Rejects {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Rejects").field("limit", &self.limit).finish_non_exhaustive()
    }
}

impl Rejects {
    pub(crate) fn new(limit: Option<u64>, is_kept: bool, fits: Option<Box<Fits>>) -> Self {
        Self { limit, fits, is_kept, found: Mutex::default() }
    }

    /// How many there have been.
    pub(crate) fn count(&self) -> u64 {
        self.found.lock().count
    }

    /// Those that nobody has taken.
    pub(crate) fn take(&self) -> Vec<Reject> {
        std::mem::take(&mut self.found.lock().kept)
    }

    /// The rows of records without those that cannot be read; a batch in any case, so that whoever writes them down
    /// has his turn.
    pub(super) fn sift(
        &self,
        rows: &RowsOfText,
        path: &Arc<str>,
        records: Records<'_>,
    ) -> Result<Vec<RecordBatch>> {
        if let Ok(batches) = self.read(rows, records) {
            return Ok(batches);
        }
        let (apart, mut batches) = (records.apart(rows.form), Vec::new());
        self.halve(rows, path, &apart, &mut batches)?;
        if batches.is_empty() {
            batches.push(RecordBatch::new_empty(Arc::new(rows.schema.project(&rows.projection)?)));
        }
        Ok(batches)
    }

    fn halve(
        &self,
        rows: &RowsOfText,
        path: &Arc<str>,
        records: &[Records<'_>],
        batches: &mut Vec<RecordBatch>,
    ) -> Result<()> {
        let [first, .., last] = records else {
            return records.iter().try_for_each(|one| self.read_one(rows, path, *one, batches));
        };
        // Room for whole batches costs more than a few rows do.
        let few = RowsOfText { batch_rows: rows.batch_rows.min(records.len()), ..rows.clone() };
        if let Ok(read) = self.read(&few, first.up_to(*last)) {
            batches.extend(read);
            return Ok(());
        }
        if records.len() <= FEW {
            let one = RowsOfText { batch_rows: 1, ..few };
            return records.iter().try_for_each(|next| self.read_one(&one, path, *next, batches));
        }
        let (before, behind) = records.split_at(records.len() / 2);
        self.halve(rows, path, before, batches)?;
        self.halve(rows, path, behind, batches)
    }

    fn read_one(
        &self,
        rows: &RowsOfText,
        path: &Arc<str>,
        record: Records<'_>,
        batches: &mut Vec<RecordBatch>,
    ) -> Result<()> {
        match self.read(rows, record) {
            Ok(read) => batches.extend(read),
            Err(error) => {
                let fits = self.fits.as_deref();
                self.add(what_is_wrong(rows, path, record, &error, fits))?;
            }
        }
        Ok(())
    }

    /// The rows of records, if all of them are what they are to be.
    fn read(&self, rows: &RowsOfText, records: Records<'_>) -> Result<Vec<RecordBatch>> {
        let batches = rows.batches(records.bytes()).map_err(|error| Error::from_arrow(&error))?;
        for (batch, fits) in batches.iter().flat_map(|batch| Some((batch, self.fits.as_ref()?))) {
            for (place, array) in batch.columns().iter().enumerate() {
                fits(rows.projection[place], array)?;
            }
        }
        Ok(batches)
    }

    fn add(&self, reject: Reject) -> Result<()> {
        let mut found = self.found.lock();
        found.count += 1;
        if let Some(most) = self.limit.filter(|most| found.count > *most) {
            let wrong = reject.to_error();
            if most == 0 {
                return Err(wrong);
            }
            let message = format!(
                "more than {most} records cannot be read, which is the limit; the next: {}",
                wrong.message()
            );
            return Err(Error::new(wrong.kind(), message).because(Reason::InvalidText));
        }
        if self.is_kept {
            found.kept.push(reject);
        }
        Ok(())
    }
}
