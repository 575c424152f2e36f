//! The operators of a plan.

use crate::pace::PassingExec;
use crate::provider::ScanExec;
use datafusion::physical_plan::metrics::{MetricValue, MetricsSet};
use datafusion::physical_plan::{ExecutionPlan, displayable};
use gadus_base::CacheUse;
use std::time::Duration;

/// An operator, and those that it has its rows from.
#[derive(Debug, Clone, Default)]
pub(crate) struct Operator {
    pub(crate) name: String,
    /// What it does, in the planner's words, on a line or more; empty where its name says that.
    pub(crate) details: String,
    pub(crate) figures: Figures,
    pub(crate) scan: Option<ScanTold>,
    pub(crate) inputs: Vec<Operator>,
}

/// What an operator took.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Figures {
    /// That it gave; none where it does not count them.
    pub(crate) rows: Option<u64>,
    /// Its own, of all threads.
    pub(crate) time: Duration,
    /// The most that it held; none where it does not tell.
    pub(crate) memory_bytes: Option<u64>,
    pub(crate) spilled_bytes: u64,
}

/// What is told of the scan of a table.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ScanTold {
    /// Those that may have rows.
    pub(crate) segments: u64,
    /// Those that cannot.
    pub(crate) pruned: u64,
    /// How many were read, and what that took; none of a scan that has not run.
    pub(crate) ran: Option<ScanRan>,
}

/// What a scan read.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ScanRan {
    pub(crate) segments: u64,
    /// Whether its rows were found by a shared scan, which has read for all.
    pub(crate) shared: bool,
    pub(crate) cache: CacheUse,
    pub(crate) read_bytes: u64,
}

impl Operator {
    /// One that has no others below it.
    pub(crate) fn alone(name: &str, details: &str, figures: Figures) -> Self {
        let (name, details) = (name.to_owned(), details.to_owned());
        Self { name, details, figures, ..Self::default() }
    }

    /// Those of a plan. Operators that only pass rows on are left out.
    pub(crate) fn of_plan(plan: &dyn ExecutionPlan) -> Self {
        if let (true, [input]) = (plan.is::<PassingExec>(), &plan.children()[..]) {
            return Self::of_plan(&***input);
        }
        let line = displayable(plan).one_line().to_string();
        let line = line.trim_end();
        let (name, details) = line.split_once(": ").unwrap_or((line, ""));
        let scan = plan.downcast_ref::<ScanExec>();
        let figures = match scan.and_then(ScanExec::figures) {
            Some(figures) => {
                Figures { rows: Some(figures.rows()), time: figures.time(), ..Figures::default() }
            }
            None => plan.metrics().map_or(Figures::default(), |metrics| Figures::of(&metrics)),
        };
        let inputs = plan.children().into_iter().map(|input| Self::of_plan(&**input));
        Self {
            name: name.to_owned(),
            details: details.to_owned(),
            figures,
            scan: scan.map(ScanTold::of),
            inputs: inputs.collect(),
        }
    }

    /// One figure of this and all below it.
    pub(crate) fn sum(&self, figure: &impl Fn(&Figures) -> u64) -> u64 {
        let below = self.inputs.iter().map(|input| input.sum(figure)).sum::<u64>();
        figure(&self.figures) + below
    }

    /// Its time, and that of all below it.
    pub(crate) fn whole_time(&self) -> Duration {
        Duration::from_nanos(self.sum(&|figures| super::nanoseconds(figures.time)))
    }
}

impl Figures {
    fn of(metrics: &MetricsSet) -> Self {
        let all = metrics.aggregate_by_name();
        let mut figures = Self::default();
        for metric in all.iter() {
            let value = metric.value();
            let count = value.as_usize() as u64;
            match value {
                MetricValue::OutputRows(_) => figures.rows = Some(count),
                MetricValue::ElapsedCompute(_) => figures.time += Duration::from_nanos(count),
                // What it waits for rows, and for others to take them, is not its own.
                MetricValue::Time { name, .. } if name == "repartition_time" => {
                    figures.time += Duration::from_nanos(count);
                }
                MetricValue::SpilledBytes(_) => figures.spilled_bytes = count,
                MetricValue::PeakMemoryUsage { .. } => {
                    *figures.memory_bytes.get_or_insert_default() += count;
                }
                MetricValue::Gauge { name, .. } if name == "build_mem_used" => {
                    *figures.memory_bytes.get_or_insert_default() += count;
                }
                _ => {}
            }
        }
        figures
    }
}

impl ScanTold {
    fn of(scan: &ScanExec) -> Self {
        let (segments, pruned) = scan.segments();
        let ran = scan.figures().map(|figures| ScanRan {
            segments: figures.segments(),
            shared: figures.is_shared(),
            cache: figures.cache_use(),
            read_bytes: figures.read_bytes(),
        });
        Self { segments: segments as u64, pruned: pruned as u64, ran }
    }
}
