//! Joins rows with their results, in order.

use super::waiting_rows::{Front, SharedRows, SpilledRows};
use crate::value_limits::{bytes_of_values, largest_and_all};
use arrow::array::{Array, ArrayRef, RecordBatch, UInt32Array};
use arrow::compute::{concat, take};
use arrow::datatypes::SchemaRef;
use datafusion::common::{Result, internal_err};
use datafusion::execution::memory_pool::MemoryReservation;
use datafusion::physical_plan::metrics::BaselineMetrics;
use futures::StreamExt;
use futures::stream::BoxStream;
use std::collections::VecDeque;

/// Bytes of values that are repeated in the rows of one batch, unless one row has more.
const REPEATED_BYTES_MAX: u64 = 4 << 20;

/// The results of window expressions for some rows, a column for each expression.
pub(super) struct Results {
    columns: Vec<ResultColumn>,
    /// Where each partition ends; empty unless a column has a value for each.
    ends: Vec<usize>,
    rows: usize,
    /// Rows that were given already.
    given: usize,
    /// Rows in a batch, lest repeated values take too much.
    batch_rows_max: usize,
    _memory: MemoryReservation,
}

pub(super) enum ResultColumn {
    /// A value for each row.
    Rows(ArrayRef),
    /// A value for each partition.
    Partitions(ArrayRef),
}

impl Results {
    /// The results for `rows` rows, counted in `memory`.
    pub(super) fn new(
        columns: Vec<ResultColumn>,
        ends: Vec<usize>,
        rows: usize,
        memory: MemoryReservation,
    ) -> Result<Self> {
        let (mut bytes, mut repeated) = (0, 1);
        for column in &columns {
            let (ResultColumn::Rows(values) | ResultColumn::Partitions(values)) = column;
            bytes += bytes_of_values(values);
            if matches!(column, ResultColumn::Partitions(_)) {
                repeated += largest_and_all(values).0;
            }
        }
        memory.try_grow(bytes)?;
        let batch_rows_max =
            usize::try_from(REPEATED_BYTES_MAX / repeated).unwrap_or(usize::MAX).max(1);
        Ok(Self { columns, ends, rows, given: 0, batch_rows_max, _memory: memory })
    }

    fn left(&self) -> usize {
        self.rows - self.given
    }

    /// Takes the next rows of each column, as many as there are at most.
    fn take(&mut self, rows: usize) -> Result<Vec<ArrayRef>> {
        let start = self.given;
        self.given += rows;
        let mut places = None;
        let columns = self.columns.iter().map(|column| match column {
            ResultColumn::Rows(values) => Ok(values.slice(start, rows)),
            ResultColumn::Partitions(values) => {
                let places = places.get_or_insert_with(|| partitions_of(&self.ends, start, rows));
                Ok(take(values, places, None)?)
            }
        });
        columns.collect()
    }
}

/// Returns the partition of each of some rows, by where the partitions end.
fn partitions_of(ends: &[usize], start: usize, rows: usize) -> UInt32Array {
    let mut partition = ends.partition_point(|end| *end <= start);
    let place = |row: usize| {
        if ends.get(partition).is_some_and(|end| *end <= row) {
            partition += 1;
        }
        u32::try_from(partition).unwrap_or(u32::MAX)
    };
    (start..start + rows).map(place).collect::<Vec<_>>().into()
}

/// Gives the rows of a queue with their results.
pub(super) struct Output {
    pub(super) schema: SchemaRef,
    pub(super) rows: SharedRows,
    pub(super) results: BoxStream<'static, Result<Results>>,
    pub(super) metrics: BaselineMetrics,
    known: VecDeque<Results>,
    spilled: Option<SpilledRows>,
    /// Rows taken from the queue that have not been given.
    front: Option<RecordBatch>,
}

impl Output {
    pub(super) fn new(
        schema: SchemaRef,
        rows: SharedRows,
        results: BoxStream<'static, Result<Results>>,
        metrics: BaselineMetrics,
    ) -> Self {
        Self { schema, rows, results, metrics, known: VecDeque::new(), spilled: None, front: None }
    }

    /// Returns the next batch; none after the last one.
    pub(super) async fn next(&mut self) -> Result<Option<RecordBatch>> {
        if self.known.is_empty() && !self.receive().await? {
            // The results of the last rows come before the end.
            self.metrics.done();
            return Ok(None);
        }
        let Some(front) = self.take_front().await? else {
            return internal_err!("a window has results of more rows than it has");
        };
        let first_most = self.known.front().map_or(1, |results| results.batch_rows_max);
        let wanted = front.num_rows().min(first_most);
        let mut left = self.known.iter().map(Results::left).sum::<usize>();
        while left < wanted {
            if !self.receive().await? {
                return internal_err!("a window has results of fewer rows than it has");
            }
            left += self.known.back().map_or(0, Results::left);
        }
        let rows = match front.num_rows() == wanted {
            true => front,
            false => {
                self.front = Some(front.slice(wanted, front.num_rows() - wanted));
                front.slice(0, wanted)
            }
        };
        let mut columns = rows.columns().to_vec();
        columns.extend(self.take_results(wanted)?);
        self.metrics.record_output(wanted);
        Ok(Some(RecordBatch::try_new(self.schema.clone(), columns)?))
    }

    /// Waits for results; false after the last ones.
    async fn receive(&mut self) -> Result<bool> {
        loop {
            let Some(results) = self.results.next().await.transpose()? else { return Ok(false) };
            if results.left() > 0 {
                self.known.push_back(results);
                return Ok(true);
            }
        }
    }

    async fn take_front(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            if let Some(front) = self.front.take() {
                return Ok(Some(front));
            }
            if let Some(spilled) = &mut self.spilled {
                match spilled.next().await? {
                    Some(batch) => return Ok(Some(batch)),
                    None => self.spilled = None,
                }
            }
            let popped = self.rows.lock().pop()?;
            match popped {
                None => return Ok(None),
                Some(Front::Batch(batch)) => self.front = Some(batch),
                Some(Front::Spilled(spilled)) => self.spilled = Some(spilled),
            }
        }
    }

    fn take_results(&mut self, mut rows: usize) -> Result<Vec<ArrayRef>> {
        let mut pieces = Vec::<Vec<ArrayRef>>::new();
        while rows > 0
            && let Some(results) = self.known.front_mut()
        {
            let taken = rows.min(results.left());
            pieces.push(results.take(taken)?);
            rows -= taken;
            if results.left() == 0 {
                self.known.pop_front();
            }
        }
        if pieces.len() == 1 {
            return Ok(pieces.remove(0));
        }
        let columns = pieces.first().map_or(0, Vec::len);
        let column = |place: usize| {
            let values = pieces.iter().map(|piece| &*piece[place] as &dyn Array);
            Ok(concat(&values.collect::<Vec<_>>())?)
        };
        (0..columns).map(column).collect()
    }
}
