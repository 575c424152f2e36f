//! One input of a grace join, divided by the hash of its keys into spill files.
//!
//! - Rows are buffered by partition until they are worth a batch, so that reading back gives batches of a size that
//!   is bounded in rows and in bytes.
//! - Both inputs of a join are divided by the same hash: that of the keys' values, which have the same types in both.

use super::run::Limits;
use crate::memory::compact::compact;
use crate::memory::spill::PIECE_BYTES;
use arrow::array::{Array, ArrayRef, RecordBatch, UInt32Array};
use arrow::buffer::NullBuffer;
use arrow::compute::{concat_batches, take_record_batch};
use arrow::datatypes::SchemaRef;
use datafusion::common::hash_utils::{RandomState, create_hashes};
use datafusion::common::utils::memory::get_record_batch_memory_size;
use datafusion::common::{NullEquality, Result};
use datafusion::execution::SpillFile;
use datafusion::execution::memory_pool::MemoryReservation;
use datafusion::physical_plan::stream::EmptyRecordBatchStream;
use datafusion::physical_plan::{PhysicalExpr, SendableRecordBatchStream, SpillManager};
use futures::StreamExt;
use std::sync::Arc;

/// Partitions of an input. With a limit of 256 MiB, each of 10 GiB fits; more are divided again. Each has a file open
/// and a batch buffered while the input is read.
pub(super) const PARTITIONS: usize = 32;

/// Seed of the hash; DataFusion's hash tables and repartitioning have others.
const SEED: u64 = 0x6772_6163_6520_6a6f;

/// How the rows of an input are divided.
pub(super) struct Division {
    pub(super) keys: Vec<Arc<dyn PhysicalExpr>>,
    pub(super) null_equality: NullEquality,
    /// How often the rows were divided before: rows of one partition are divided by another hash.
    pub(super) level: u32,
    pub(super) limits: Limits,
}

impl Division {
    /// Reads all rows and writes them, each to the file of its partition.
    pub(super) async fn spill(
        self,
        mut rows: SendableRecordBatchStream,
        manager: &SpillManager,
        buffered: MemoryReservation,
    ) -> Result<Divided> {
        let mut partitions = Partitions::new(self, rows.schema(), manager, buffered);
        while let Some(batch) = rows.next().await {
            partitions.add(&batch?)?;
        }
        partitions.finish()
    }
}

/// An input that has been divided.
pub(super) struct Divided {
    pub(super) partitions: Vec<Spilled>,
    /// Rows with a NULL key, unless NULL equals NULL.
    pub(super) null_keys: usize,
}

/// The rows of a partition that are written.
#[derive(Clone, Default)]
pub(super) struct Spilled {
    /// None for no rows.
    file: Option<Arc<dyn SpillFile>>,
    pub(super) rows: usize,
    /// Size of the rows in memory.
    pub(super) bytes: u64,
}

impl Spilled {
    /// Reads the rows.
    pub(super) fn read(&self, manager: &SpillManager) -> Result<SendableRecordBatchStream> {
        match &self.file {
            Some(file) => manager.read_spill_as_stream_unbuffered(file.clone(), None),
            None => Ok(Box::pin(EmptyRecordBatchStream::new(manager.schema().clone()))),
        }
    }
}

struct Partitions {
    division: Division,
    schema: SchemaRef,
    random: RandomState,
    partitions: Vec<Partition>,
    /// Rows with NULL keys so far, which are dealt out in turn if they match nothing.
    null_keys: usize,
    /// What is buffered here and by the files' writers.
    buffered: MemoryReservation,
    hashes: Vec<u64>,
}

impl Partitions {
    fn new(
        division: Division,
        schema: SchemaRef,
        manager: &SpillManager,
        buffered: MemoryReservation,
    ) -> Self {
        let random = RandomState::with_seed(SEED.wrapping_add(division.level.into()));
        let partitions = (0..PARTITIONS).map(|_| Partition::new(manager.clone())).collect();
        let hashes = Vec::new();
        Self { division, schema, random, partitions, null_keys: 0, buffered, hashes }
    }

    fn add(&mut self, batch: &RecordBatch) -> Result<()> {
        for (partition, rows) in self.divide(batch)?.into_iter().enumerate() {
            if rows.is_empty() {
                continue;
            }
            let rows = take_record_batch(batch, &UInt32Array::from(rows))?;
            let bytes = self.partitions[partition].buffer(compact(rows)?);
            self.buffered.grow(bytes);
            if self.partitions[partition].buffered_bytes >= self.division.limits.batch_bytes {
                self.write(partition)?;
            }
        }
        Ok(())
    }

    /// Returns the rows of a batch by partition.
    fn divide(&mut self, batch: &RecordBatch) -> Result<Vec<Vec<u32>>> {
        let keys = self.division.keys.iter();
        let keys = keys.map(|key| key.evaluate(batch)?.into_array(batch.num_rows()));
        let keys = keys.collect::<Result<Vec<_>>>()?;
        self.hashes.clear();
        self.hashes.resize(batch.num_rows(), 0);
        create_hashes(&keys, &self.random, &mut self.hashes)?;
        let nulls = self.unmatchable(&keys);
        let mut rows = vec![Vec::new(); PARTITIONS];
        for (row, (hash, index)) in self.hashes.iter().zip(0_u32..).enumerate() {
            let partition = if nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
                self.null_keys += 1;
                self.null_keys % PARTITIONS
            } else {
                #[allow(clippy::cast_possible_truncation)] // below PARTITIONS
                let partition = (hash % PARTITIONS as u64) as usize;
                partition
            };
            rows[partition].push(index);
        }
        Ok(rows)
    }

    /// Returns the rows whose keys equal no others because one of them is NULL. They are spread over all partitions:
    /// they may be most rows of an outer join.
    fn unmatchable(&self, keys: &[ArrayRef]) -> Option<NullBuffer> {
        if self.division.null_equality == NullEquality::NullEqualsNull {
            return None;
        }
        let nulls = keys.iter().map(|key| key.logical_nulls());
        nulls.fold(None, |all, nulls| NullBuffer::union(all.as_ref(), nulls.as_ref()))
    }

    fn write(&mut self, partition: usize) -> Result<()> {
        let partition = &mut self.partitions[partition];
        let bytes = partition.buffered_bytes;
        if bytes > 0 && partition.written.rows == 0 {
            self.buffered.grow(PIECE_BYTES);
        }
        partition.write(&self.schema, &self.division.limits)?;
        self.buffered.shrink(bytes);
        Ok(())
    }

    fn finish(mut self) -> Result<Divided> {
        for partition in 0..PARTITIONS {
            self.write(partition)?;
        }
        let partitions = self.partitions.into_iter().map(Partition::finish);
        Ok(Divided { partitions: partitions.collect::<Result<_>>()?, null_keys: self.null_keys })
    }
}

/// Writes a batch, and returns its size in memory; without one, ends the file. DataFusion's writer has no public name.
type Writer =
    Box<dyn FnMut(Option<&RecordBatch>) -> Result<(usize, Option<Arc<dyn SpillFile>>)> + Send>;

struct Partition {
    buffered: Vec<RecordBatch>,
    buffered_bytes: usize,
    written: Spilled,
    writer: Writer,
}

impl Partition {
    fn new(manager: SpillManager) -> Self {
        let mut file = None;
        let writer: Writer = Box::new(move |batch| {
            if batch.is_some() && file.is_none() {
                file = Some(manager.create_in_progress_file("a partition of a join")?);
            }
            let Some(file) = &mut file else { return Ok((0, None)) };
            match batch {
                Some(batch) => Ok((file.append_batch(batch)?, None)),
                None => Ok((0, file.finish()?)),
            }
        });
        Self { buffered: Vec::new(), buffered_bytes: 0, written: Spilled::default(), writer }
    }

    /// Takes rows, and returns their size in memory.
    fn buffer(&mut self, rows: RecordBatch) -> usize {
        let bytes = get_record_batch_memory_size(&rows);
        self.buffered_bytes += bytes;
        self.buffered.push(rows);
        bytes
    }

    /// Writes what is buffered, in batches within the limits.
    fn write(&mut self, schema: &SchemaRef, limits: &Limits) -> Result<()> {
        if self.buffered.is_empty() {
            return Ok(());
        }
        let all = concat_batches(schema, &self.buffered)?;
        let batches = (self.buffered_bytes / limits.batch_bytes).max(1);
        let batch_rows = all.num_rows().div_ceil(batches).min(limits.batch_rows).max(1);
        for start in (0..all.num_rows()).step_by(batch_rows) {
            let batch = all.slice(start, batch_rows.min(all.num_rows() - start));
            let (bytes, _) = (self.writer)(Some(&batch))?;
            self.written.bytes += bytes as u64;
        }
        self.written.rows += all.num_rows();
        self.buffered.clear();
        self.buffered_bytes = 0;
        Ok(())
    }

    fn finish(mut self) -> Result<Spilled> {
        let (_, file) = (self.writer)(None)?;
        Ok(Spilled { file, ..self.written })
    }
}
