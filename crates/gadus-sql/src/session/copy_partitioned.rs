//! `COPY … TO 'folder' (PARTITION_BY (a, b))`: rows in files of their partitions.

use super::copy::FileCopyForm;
use super::copy_words::{CopyWords, Word};
use super::{Outcome, Session};
use crate::error::{from_datafusion, input};
use crate::executor::physical_plan;
use crate::memory::{Replan, run_or_replan, task_of};
use crate::partitioned::{Existing, PartitionWriter, Target};
use crate::text_files::Compression;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, Sort};
use datafusion::prelude::SessionContext;
use futures::TryStreamExt;
use gadus_engine::{Reason, Result};
use std::path::Path;

/// What a COPY says of partitions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PartitionForm {
    columns: Vec<String>,
    existing: Existing,
}

impl PartitionForm {
    pub(super) fn of(words: &CopyWords) -> Result<Option<Self>> {
        let removes = words.is_set("overwrite")?;
        let keeps = words.is_set("overwrite_or_ignore")?;
        let existing = match (removes, keeps) {
            (true, true) => {
                return Err(input("a COPY has OVERWRITE or OVERWRITE_OR_IGNORE, not both"));
            }
            (true, false) => Existing::Removed,
            (false, true) => Existing::Kept,
            (false, false) => Existing::Refused,
        };
        match words.values("partition_by") {
            None if existing != Existing::Refused => {
                Err(input("OVERWRITE and OVERWRITE_OR_IGNORE go with PARTITION_BY"))
            }
            None => Ok(None),
            Some([]) => Err(input("PARTITION_BY of a COPY names columns: PARTITION_BY (a, b)")),
            Some(columns) => {
                let columns = columns.iter().map(Word::folded).collect();
                Ok(Some(Self { columns, existing }))
            }
        }
    }

    /// The places of the columns by which rows are divided.
    fn places(&self, plan: &LogicalPlan) -> Result<Vec<usize>> {
        let fields = plan.schema().fields();
        let mut places = Vec::with_capacity(self.columns.len());
        for column in &self.columns {
            let mut named = (0..fields.len()).filter(|place| fields[*place].name() == column);
            let (Some(place), None) = (named.next(), named.next()) else {
                let message = format!("PARTITION_BY: there is no one column \"{column}\"");
                return Err(input(message).because(Reason::UnknownColumn));
            };
            if places.contains(&place) {
                return Err(input(format!("PARTITION_BY names column \"{column}\" twice")));
            }
            places.push(place);
        }
        if places.len() == fields.len() {
            return Err(input("PARTITION_BY leaves no column for the files"));
        }
        Ok(places)
    }
}

impl Session {
    /// Writes the rows of a plan to files of their partitions, in the order of a plan that has one.
    pub(super) async fn copy_to_partitions(
        &self,
        context: &SessionContext,
        plan: LogicalPlan,
        path: &str,
        form: &FileCopyForm,
        by: &PartitionForm,
    ) -> Result<Outcome> {
        let places = by.places(&plan)?;
        let sorted = sorted_by(plan, &places)?;
        let (plan, files) = form.file_form(context, sorted, Compression::None)?;
        let physical = physical_plan(context.state(), &plan).await.map_err(from_datafusion)?;
        let replan = || Some(Replan::new(context, plan));
        let mut rows =
            run_or_replan(physical, task_of(context), replan).map_err(from_datafusion)?;
        let (folder, name) = self.files.to_write_folder(path)?;
        let target = Target::begin(folder, &name, Path::new(path), by.existing)?;
        let mut writer = PartitionWriter::new(target, files, &rows.schema(), &places)?;
        let mut written = 0;
        while let Some(batch) = rows.try_next().await.map_err(from_datafusion)? {
            writer.write(&batch)?;
            self.progress.rows_written(batch.num_rows());
            written += batch.num_rows() as u64;
        }
        writer.end()?;
        Ok(Outcome::Changed { verb: "COPY", rows: written })
    }
}

/// The rows sorted by columns, and those of one partition as they were.
fn sorted_by(plan: LogicalPlan, places: &[usize]) -> Result<LogicalPlan> {
    let columns = plan.schema().columns();
    let by = places.iter().map(|place| Expr::from(columns[*place].clone()).sort(true, false));
    let (input, order) = match plan {
        LogicalPlan::Sort(Sort { expr, input, fetch: None }) => {
            ((*input).clone(), by.chain(expr).collect::<Vec<_>>())
        }
        LogicalPlan::Sort(Sort { ref expr, .. }) => {
            let order = by.chain(expr.clone()).collect();
            (plan, order)
        }
        plan => (plan, by.collect()),
    };
    let sorted = LogicalPlanBuilder::new(input).sort(order);
    sorted.and_then(LogicalPlanBuilder::build).map_err(from_datafusion)
}
