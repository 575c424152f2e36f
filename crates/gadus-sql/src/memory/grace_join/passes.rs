//! Join of a pair of partitions that no division helps, by blocks: most of its rows have one key.
//!
//! - A pass builds a hash table of each block of one side, and joins it with all rows of the other, which are read
//!   again for each block. What becomes of a row of the blocks, matched or not, is known at the end of its block. So
//!   the rows of all blocks are those of the join, for each type whose unmatched rows are those of that side.
//! - A full join has two passes: a left join by blocks of the left side, and one by blocks of the right side for the
//!   right rows that have met no left ones.

use super::run::Pair;
use crate::memory::blocks::{unmatched_right, with_schema};
use datafusion::common::{JoinType, Result};
use datafusion::physical_plan::joins::HashJoinExec;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{ExecutionPlan, SendableRecordBatchStream};
use futures::StreamExt;
use std::collections::VecDeque;

/// An input of a join.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Left,
    Right,
}

impl Side {
    pub(super) fn other(self) -> Self {
        match self {
            Self::Left => Self::Right,
            Self::Right => Self::Left,
        }
    }
}

/// A pass over a pair.
pub(super) struct Pass {
    pub(super) pair: Pair,
    /// The side that is read by blocks, and its rows that remain.
    pub(super) side: Side,
    pub(super) blocks: SendableRecordBatchStream,
    /// The join of blocks, with the inputs of the whole one.
    pub(super) join: HashJoinExec,
}

/// Returns the passes over a pair of partitions of a join; `read` reads one of its sides.
pub(super) fn passes(
    join: &HashJoinExec,
    pair: &Pair,
    read: impl Fn(Side) -> Result<SendableRecordBatchStream>,
) -> Result<VecDeque<Pass>> {
    let pass = |join_type, side| {
        let projection = join.projection.clone().filter(|_| !gives_unmatched_right(join, side));
        let join = join.builder().with_type(join_type).with_projection_ref(projection);
        let join = join.reset_state().recompute_properties().build()?;
        Ok(Pass { pair: pair.clone(), side, blocks: read(side)?, join })
    };
    let types = match *join.join_type() {
        JoinType::Full => vec![(JoinType::Left, Side::Left), (JoinType::RightAnti, Side::Right)],
        of_right @ (JoinType::Right
        | JoinType::RightSemi
        | JoinType::RightAnti
        | JoinType::RightMark) => vec![(of_right, Side::Right)],
        of_left => vec![(of_left, Side::Left)],
    };
    types.into_iter().map(|(join_type, side)| pass(join_type, side)).collect()
}

/// True for the second pass of a full join.
fn gives_unmatched_right(join: &HashJoinExec, side: Side) -> bool {
    *join.join_type() == JoinType::Full && side == Side::Right
}

impl Pass {
    /// Returns rows of the whole join for those of the join of a block.
    pub(super) fn output(
        &self,
        join: &HashJoinExec,
        rows: SendableRecordBatchStream,
    ) -> SendableRecordBatchStream {
        let schema = join.schema();
        let is_of_unmatched = gives_unmatched_right(join, self.side);
        let (left, projection) = (join.left().schema(), join.projection.clone());
        let of_join = schema.clone();
        let rows = rows.map(move |batch| match is_of_unmatched {
            true => unmatched_right(&of_join, &left, projection.as_deref(), &batch?),
            false => with_schema(&of_join, &batch?),
        });
        Box::pin(RecordBatchStreamAdapter::new(schema, rows))
    }
}
