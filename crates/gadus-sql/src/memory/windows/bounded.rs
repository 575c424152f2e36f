//! Evaluates the expressions of a `BoundedWindowAggExec` over the columns that they refer to.

use super::columns::{NeededColumns, evaluated};
use super::frames::Frames;
use super::output::Results;
use super::waiting_rows::SharedRows;
use datafusion::common::Result;
use datafusion::physical_plan::metrics::Time;
use datafusion::physical_plan::windows::{BoundedWindowAggExec, WindowExpr};
use datafusion::physical_plan::{InputOrderMode, SendableRecordBatchStream};
use futures::stream::{self, BoxStream};
use futures::{StreamExt, TryStreamExt};
use std::sync::Arc;

/// The expressions of a window operator, and the columns that are held for them.
#[derive(Debug)]
pub(super) struct Bounded {
    expressions: Vec<Arc<dyn WindowExpr>>,
    needed: Arc<NeededColumns>,
}

impl Bounded {
    /// None for an operator whose input is not sorted by PARTITION BY.
    pub(super) fn new(window: &BoundedWindowAggExec) -> Option<Self> {
        if window.input_order_mode != InputOrderMode::Sorted || window.state_observer().is_some() {
            return None;
        }
        let (input, expressions) = (window.input().schema(), window.window_expr());
        let referred = expressions.iter().map(|expression| evaluated(expression, &input));
        let mut referred = referred.collect::<Option<Vec<_>>>().map(|all| all.concat());
        if let (Some(referred), Some(first)) = (&mut referred, expressions.first()) {
            referred.extend_from_slice(first.partition_by());
        }
        let needed = Arc::new(NeededColumns::new(&input, referred.as_deref()));
        Some(Self { expressions: expressions.to_vec(), needed })
    }

    pub(super) fn needed(&self) -> &Arc<NeededColumns> {
        &self.needed
    }

    /// Evaluates the expressions on rows as they come, and adds these to the queue.
    pub(super) fn evaluate(
        &self,
        input: SendableRecordBatchStream,
        rows: SharedRows,
        time: Time,
    ) -> BoxStream<'static, Result<Results>> {
        let needed = self.needed.clone();
        let account = rows.lock().account();
        let state = (Some(input), Frames::new(&self.expressions, account));
        let results = stream::try_unfold(state, move |(mut input, mut frames)| {
            let (needed, rows, time) = (needed.clone(), rows.clone(), time.clone());
            async move {
                while let Some(batches) = &mut input {
                    let batch = batches.try_next().await?;
                    let _timer = time.timer();
                    let results = match batch {
                        Some(batch) => {
                            let columns = needed.of(&batch)?;
                            rows.lock().push(batch)?;
                            frames.add(&columns)?
                        }
                        None => {
                            // What gave the rows is not needed any more.
                            input = None;
                            frames.end()?
                        }
                    };
                    if let Some(results) = results {
                        return Ok(Some((results, (input, frames))));
                    }
                }
                Ok(None)
            }
        });
        results.boxed()
    }
}
