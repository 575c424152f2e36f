//! What a scan will give, about: for those who choose how to join it.

use super::selectivity::Samples;
use crate::error::Result;
use crate::scan::Scan;

/// What a scan will give, about.
#[derive(Debug, Clone, PartialEq)]
pub struct Expected {
    /// Rows.
    pub rows: f64,
    /// The different values of each column that it hands out; none where nobody knows.
    pub distinct: Vec<Option<f64>>,
}

impl Scan {
    /// What it will give, by samples and sketches of some segments.
    #[allow(clippy::cast_precision_loss)] // an estimate
    pub fn expected(&self) -> Result<Expected> {
        let (samples, request) = (Samples::of(self.table()), self.request());
        let mut rows = self.table().about_rows() as f64;
        for predicate in &request.predicates {
            rows *= samples.share(predicate)?;
        }
        let distinct = request.projection.iter().map(|column| {
            let distinct = samples.distinct(*column)?;
            Ok(distinct.map(|distinct| distinct.min(rows)))
        });
        Ok(Expected { rows, distinct: distinct.collect::<Result<_>>()? })
    }
}
