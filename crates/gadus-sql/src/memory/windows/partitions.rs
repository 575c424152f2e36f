//! Evaluates window expressions partition by partition, on rows that are sorted by PARTITION BY.
//!
//! - Whole partitions are evaluated together once they have as many rows as a batch, or as many bytes as may spill:
//!   millions of small ones take no longer than one.
//! - An aggregate with one value for each partition takes rows as they arrive, and holds none.

use super::columns::{NeededColumns, constant_in_partition, evaluated};
use super::output::{ResultColumn, Results};
use super::waiting_rows::SharedRows;
use crate::memory::SPILL_BYTES_MIN;
use crate::value_limits::bytes_of_values;
use arrow::array::{ArrayRef, RecordBatch};
use arrow::compute::{SortColumn, concat, concat_batches};
use arrow::datatypes::Schema;
use datafusion::common::utils::evaluate_partition_ranges;
use datafusion::common::{Result, ScalarValue};
use datafusion::execution::memory_pool::MemoryReservation;
use datafusion::logical_expr::Accumulator;
use datafusion::physical_plan::metrics::Time;
use datafusion::physical_plan::udaf::AggregateFunctionExpr;
use datafusion::physical_plan::windows::WindowExpr;
use datafusion::physical_plan::{PhysicalExpr, SendableRecordBatchStream};
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use std::ops::Range;
use std::sync::Arc;

/// Waiting rows whose partitions have ended: less than what spills.
const WAITING_BYTES_MAX: u64 = SPILL_BYTES_MIN / 2;

/// The expressions of a window operator, and the columns that are held for them.
#[derive(Debug)]
pub(super) struct Partitioned {
    expressions: Vec<Arc<dyn WindowExpr>>,
    needed: Arc<NeededColumns>,
}

impl Partitioned {
    pub(super) fn new(expressions: &[Arc<dyn WindowExpr>], input: &Schema) -> Self {
        let held = expressions.iter().filter(|window| constant_in_partition(window).is_none());
        let referred = held.map(|window| evaluated(window, input)).collect::<Option<Vec<_>>>();
        let referred = referred.map(|all| all.concat());
        let needed = Arc::new(NeededColumns::new(input, referred.as_deref()));
        Self { expressions: expressions.to_vec(), needed }
    }

    pub(super) fn needed(&self) -> &Arc<NeededColumns> {
        &self.needed
    }

    /// Evaluates the expressions on rows as they come, and adds these to the queue.
    pub(super) fn evaluate(
        &self,
        input: SendableRecordBatchStream,
        rows: SharedRows,
        batch_rows: usize,
        time: Time,
    ) -> BoxStream<'static, Result<Results>> {
        let account = rows.lock().account();
        let partition_by = self.expressions.first().map_or(&[][..], |window| window.partition_by());
        let evaluations = self.expressions.iter().map(|window| Evaluation::of(window, &account));
        let partitions = Partitions {
            input: Some(input),
            rows,
            needed: self.needed.clone(),
            partition_by: partition_by.to_vec(),
            evaluations: evaluations.collect(),
            account,
            batch_rows,
            time,
            held: Vec::new(),
            held_rows: 0,
            ends: Vec::new(),
            last_key: None,
        };
        let results = stream::try_unfold(partitions, |mut partitions| async move {
            let results = partitions.next().await?;
            Ok(results.map(|results| (results, partitions)))
        });
        results.boxed()
    }
}

/// How an expression is evaluated.
enum Evaluation {
    /// On all rows of a partition at once.
    Whole(Arc<dyn WindowExpr>),
    /// As rows arrive.
    Constant(Constant),
}

impl Evaluation {
    fn of(window: &Arc<dyn WindowExpr>, account: &MemoryReservation) -> Self {
        match constant_in_partition(window) {
            None => Self::Whole(window.clone()),
            Some(constant) => Self::Constant(Constant {
                aggregate: Arc::new(constant.get_aggregate_expr().clone()),
                open: None,
                account: account.new_empty(),
                values: Vec::new(),
            }),
        }
    }

    fn constant(&mut self) -> Option<&mut Constant> {
        match self {
            Self::Constant(constant) => Some(constant),
            Self::Whole(_) => None,
        }
    }
}

/// An aggregate of which each partition has one value.
struct Constant {
    aggregate: Arc<AggregateFunctionExpr>,
    /// Of the partition whose rows arrive.
    open: Option<Box<dyn Accumulator>>,
    /// Counts what that one holds.
    account: MemoryReservation,
    /// Of partitions that have ended.
    values: Vec<ScalarValue>,
}

impl Constant {
    fn add(&mut self, arguments: &[ArrayRef], rows: &Range<usize>) -> Result<()> {
        let open = match &mut self.open {
            Some(open) => open,
            none => none.insert(self.aggregate.create_accumulator()?),
        };
        let values = arguments.iter().map(|values| values.slice(rows.start, rows.len()));
        open.update_batch(&values.collect::<Vec<_>>())
    }

    fn end_partition(&mut self) -> Result<()> {
        if let Some(mut ended) = self.open.take() {
            self.values.push(ended.evaluate()?);
        }
        Ok(())
    }

    fn count(&self) -> Result<()> {
        self.account.try_resize(self.open.as_ref().map_or(0, |open| open.size()))
    }
}

/// Rows of partitions that have not been evaluated.
struct Partitions {
    /// None after its end.
    input: Option<SendableRecordBatchStream>,
    rows: SharedRows,
    needed: Arc<NeededColumns>,
    partition_by: Vec<Arc<dyn PhysicalExpr>>,
    evaluations: Vec<Evaluation>,
    account: MemoryReservation,
    batch_rows: usize,
    time: Time,
    /// Columns that expressions refer to.
    held: Vec<RecordBatch>,
    held_rows: usize,
    /// Where partitions end among the held rows; the last one is open.
    ends: Vec<usize>,
    /// The key of the last row, in columns of one row each.
    last_key: Option<Vec<ArrayRef>>,
}

impl Partitions {
    /// Returns the results of the next partitions; none after the last ones.
    async fn next(&mut self) -> Result<Option<Results>> {
        while let Some(input) = &mut self.input {
            match input.next().await.transpose()? {
                Some(batch) if batch.num_rows() == 0 => {}
                Some(batch) => {
                    self.add(batch)?;
                    if self.is_worthwhile() {
                        return self.evaluate().map(Some);
                    }
                }
                None => {
                    self.input = None;
                    self.end_partition()?;
                }
            }
        }
        match self.ends.is_empty() {
            true => Ok(None),
            false => self.evaluate().map(Some),
        }
    }

    /// True if partitions that have ended have as many rows as a batch, or keep much waiting.
    fn is_worthwhile(&self) -> bool {
        match self.ends.last() {
            Some(rows) if *rows >= self.batch_rows => true,
            Some(_) => self.rows.lock().bytes() as u64 >= WAITING_BYTES_MAX,
            None => false,
        }
    }

    fn add(&mut self, batch: RecordBatch) -> Result<()> {
        let time = self.time.clone();
        let _timer = time.timer();
        let rows = batch.num_rows();
        let keys = evaluate_all(&self.partition_by, &batch)?;
        let ranges = partition_ranges(&keys, rows)?;
        let continues = match &self.last_key {
            Some(last) => continues(last, &keys)?,
            None => true,
        };
        self.last_key = Some(keys.iter().map(|key| key.slice(rows - 1, 1)).collect());
        let mut arguments = Vec::new();
        for evaluation in &mut self.evaluations {
            if let Some(constant) = evaluation.constant() {
                arguments.push(evaluate_all(&constant.aggregate.expressions(), &batch)?);
            }
        }
        for (index, range) in ranges.iter().enumerate() {
            if index > 0 || !continues {
                self.end_partition()?;
            }
            let constants = self.evaluations.iter_mut().filter_map(Evaluation::constant);
            for (constant, arguments) in constants.zip(&arguments) {
                constant.add(arguments, range)?;
            }
            self.held_rows += range.len();
        }
        self.evaluations
            .iter_mut()
            .filter_map(Evaluation::constant)
            .try_for_each(|constant| constant.count())?;
        if !self.needed.is_empty() || self.has_whole() {
            self.held.push(self.needed.of(&batch)?);
        }
        self.rows.lock().push(batch)
    }

    fn has_whole(&self) -> bool {
        self.evaluations.iter().any(|evaluation| matches!(evaluation, Evaluation::Whole(_)))
    }

    fn end_partition(&mut self) -> Result<()> {
        if self.held_rows > self.ends.last().copied().unwrap_or(0) {
            self.ends.push(self.held_rows);
            for evaluation in &mut self.evaluations {
                if let Some(constant) = evaluation.constant() {
                    constant.end_partition()?;
                }
            }
        }
        Ok(())
    }

    /// Evaluates the partitions that have ended.
    fn evaluate(&mut self) -> Result<Results> {
        let time = self.time.clone();
        let _timer = time.timer();
        let ends = std::mem::take(&mut self.ends);
        let rows = ends.last().copied().unwrap_or(0);
        let held = self.take_held(rows);
        let copied = self.account.new_empty();
        if held.len() > 1 {
            copied
                .try_grow(held.iter().flat_map(RecordBatch::columns).map(bytes_of_values).sum())?;
        }
        let held = concat_batches(self.needed.schema(), &held)?;
        let columns = self.evaluations.iter_mut().map(|evaluation| match evaluation {
            Evaluation::Whole(window) => whole(window, &held, &ends).map(ResultColumn::Rows),
            Evaluation::Constant(constant) => {
                let values = std::mem::take(&mut constant.values);
                column_of(values).map(ResultColumn::Partitions)
            }
        });
        let columns = columns.collect::<Result<Vec<_>>>()?;
        Results::new(columns, ends, rows, self.account.new_empty())
    }

    /// Takes the first rows of the held ones.
    fn take_held(&mut self, rows: usize) -> Vec<RecordBatch> {
        self.held_rows -= rows;
        let (mut taken, mut left) = (Vec::new(), rows);
        let mut batches = std::mem::take(&mut self.held).into_iter();
        while left > 0
            && let Some(batch) = batches.next()
        {
            let whole = batch.num_rows();
            if whole > left {
                self.held.push(batch.slice(left, whole - left));
            }
            taken.push(batch.slice(0, left.min(whole)));
            left = left.saturating_sub(whole);
        }
        self.held.extend(batches);
        taken
    }
}

fn evaluate_all(
    expressions: &[Arc<dyn PhysicalExpr>],
    batch: &RecordBatch,
) -> Result<Vec<ArrayRef>> {
    let values = expressions
        .iter()
        .map(|expression| expression.evaluate(batch)?.into_array(batch.num_rows()));
    values.collect()
}

/// Returns the rows of each partition; all are one without keys.
fn partition_ranges(keys: &[ArrayRef], rows: usize) -> Result<Vec<Range<usize>>> {
    let keys = keys.iter().map(|key| SortColumn { values: key.clone(), options: None });
    evaluate_partition_ranges(rows, &keys.collect::<Vec<_>>())
}

/// True if the first row has the same key as the last one of the batch before.
fn continues(last: &[ArrayRef], keys: &[ArrayRef]) -> Result<bool> {
    let both = last.iter().zip(keys).map(|(last, key)| concat(&[&**last, &*key.slice(0, 1)]));
    let both = both.collect::<Result<Vec<_>, _>>()?;
    Ok(partition_ranges(&both, 2)?.len() == 1)
}

/// Evaluates an expression on each of some partitions.
fn whole(window: &Arc<dyn WindowExpr>, rows: &RecordBatch, ends: &[usize]) -> Result<ArrayRef> {
    let mut start = 0;
    let columns = ends.iter().map(|end| {
        let partition = rows.slice(start, end - start);
        start = *end;
        window.evaluate(&partition)
    });
    let mut columns = columns.collect::<Result<Vec<_>>>()?;
    match columns.len() {
        1 => Ok(columns.remove(0)),
        _ => Ok(concat(&columns.iter().map(|column| &**column).collect::<Vec<_>>())?),
    }
}

fn column_of(values: Vec<ScalarValue>) -> Result<ArrayRef> {
    if !values.first().is_some_and(|value| value.data_type().is_nested()) {
        return ScalarValue::iter_to_array(values);
    }
    let arrays = values.iter().map(ScalarValue::to_array).collect::<Result<Vec<_>>>()?;
    Ok(concat(&arrays.iter().map(|array| &**array).collect::<Vec<_>>())?)
}
