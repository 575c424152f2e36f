//! How many tables a statement reads, where each name that WITH gives stands for its query: so a planner reads it, and a
//! few lines may double what they read with each.

use super::modify::folded;
use crate::error::limit;
use datafusion::sql::sqlparser::ast::{ObjectName, Query, Statement, Visit, Visitor};
use gadus_engine::Result;
use std::ops::ControlFlow;

/// What the names of WITH may stand for: plans of so many tables take a fraction of a second to make.
const READS_MAX: usize = 1_000;

/// Refuses a statement whose names in WITH stand for too much.
pub(super) fn check_reads(statement: &Statement) -> Result<()> {
    match reads(statement, |_| 1).by_names > READS_MAX {
        true => Err(limit(format!(
            "a statement that reads more than {READS_MAX} tables, where a name that WITH gives is all that its query \
             reads: keep what is read often in a table"
        ))),
        false => Ok(()),
    }
}

/// Tables that a statement reads; `size` says how many a relation is that WITH does not name.
pub(super) fn reads(statement: &Statement, size: impl Fn(&ObjectName) -> usize) -> Read {
    let mut reads = Reads { read: Read::default(), around: Vec::new(), size };
    let _ = statement.visit(&mut reads);
    reads.read
}

/// How many tables are read.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Read {
    /// As often as names of WITH are read.
    pub(super) by_names: usize,
    /// As they stand in the text: also what is read by names that nothing reads, and is planned nevertheless.
    pub(super) as_written: usize,
}

struct Reads<F> {
    read: Read,
    /// The queries around.
    around: Vec<Names>,
    size: F,
}

/// The names that a query gives by WITH.
struct Names {
    names: Vec<String>,
    /// What they read, of those that were seen: they are visited first, in their order.
    sizes: Vec<usize>,
    /// What was read before the query.
    before: usize,
}

impl Names {
    fn size(&self, name: &ObjectName) -> Option<usize> {
        let [part] = name.0.as_slice() else { return None };
        let name = folded(part.as_ident()?);
        let seen = self.names.iter().zip(&self.sizes);
        seen.into_iter().find(|(known, _)| **known == name).map(|(_, size)| *size)
    }
}

impl<F: Fn(&ObjectName) -> usize> Visitor for Reads<F> {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        let given = query.with.iter().flat_map(|with| &with.cte_tables);
        let names = given.map(|cte| folded(&cte.alias.name)).collect();
        self.around.push(Names { names, sizes: Vec::new(), before: self.read.by_names });
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        if let Some(left) = self.around.pop()
            && let Some(outer) = self.around.last_mut()
            && outer.sizes.len() < outer.names.len()
        {
            // Read where its name stands.
            outer.sizes.push((self.read.by_names - left.before).max(1));
            self.read.by_names = left.before;
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_relation(&mut self, name: &ObjectName) -> ControlFlow<()> {
        let known = self.around.iter().rev().find_map(|names| names.size(name));
        let size = known.unwrap_or_else(|| (self.size)(name));
        self.read.by_names = self.read.by_names.saturating_add(size);
        if known.is_none() {
            self.read.as_written += size;
        }
        ControlFlow::Continue(())
    }
}
