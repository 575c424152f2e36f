//! WITH: common tables and their readers.

mod recursion;
mod references;
mod search_cycle;

use super::set_operations::{check_columns, item_of};
use super::{Binder, UnknownOutputs};
use crate::bound::{
    BoundQuery, CommonTable, CommonTableId, OutputColumn, Relational, Scalar, ScalarKind,
};
use crate::error::{BindError, Result};
use crate::types::SqlType;
use gadus_syntax::Span;
use gadus_syntax::ast::{self, QueryBody, Statement};
use recursion::{Item, Parts};
use search_cycle::Carried;

/// Common tables of one WITH that are bound so far.
#[derive(Debug, Default)]
pub(super) struct Frame {
    entries: Vec<Entry>,
    /// Names of tables that are not bound yet.
    waiting: Vec<String>,
}

/// Common table as its readers see it.
#[derive(Debug)]
struct Entry {
    name: String,
    id: CommonTableId,
    columns: Vec<(String, SqlType)>,
    readers: u32,
    /// False for a change without RETURNING.
    has_rows: bool,
    /// True while the part that reads the table itself is bound.
    is_open: bool,
    /// Columns of SEARCH and CYCLE at the end, which `*` leaves out in that part.
    carried: usize,
}

/// Scan of a common table.
pub(super) struct CommonScan {
    pub(super) scan: Relational,
    pub(super) outputs: Vec<OutputColumn>,
    /// Columns at the end that `*` leaves out.
    pub(super) unexpanded: usize,
}

impl Binder<'_> {
    /// Binds WITH, and the query that it belongs to.
    pub(super) fn with(
        &mut self,
        with: &ast::With,
        bind: impl FnOnce(&mut Self) -> Result<BoundQuery>,
    ) -> Result<BoundQuery> {
        self.frames.push(Frame::default());
        let bound = self.common_tables(with).and_then(|tables| Ok((tables, bind(self)?)));
        let frame = self.frames.pop().unwrap_or_default();
        let (mut tables, BoundQuery { root, outputs }) = bound?;
        for table in &mut tables {
            let entry = frame.entries.iter().find(|entry| entry.id == table.id);
            table.readers = entry.map_or(0, |entry| entry.readers);
        }
        Ok(BoundQuery { root: Relational::With { tables, input: Box::new(root) }, outputs })
    }

    fn common_tables(&mut self, with: &ast::With) -> Result<Vec<CommonTable>> {
        for (place, table) in with.tables.iter().enumerate() {
            if with.tables[..place].iter().any(|other| other.name.text == table.name.text) {
                let message =
                    format!("WITH query name \"{}\" specified more than once", table.name.text);
                return Err(BindError::new("42712", message, table.name.span));
            }
        }
        if let Some(frame) = self.frames.last_mut() {
            frame.waiting = with.tables.iter().map(|table| table.name.text.clone()).collect();
        }
        let mut tables = Vec::with_capacity(with.tables.len());
        for Item { table, reads_itself } in recursion::in_order(with)? {
            if !reads_itself && (table.search.is_some() || table.cycle.is_some()) {
                return Err(BindError::new(
                    "42601",
                    "WITH query is not recursive",
                    table.name.span,
                ));
            }
            let id = self.new_common_table();
            let (query, recursive) = match &table.query.body {
                QueryBody::Modification(change) => (self.common_change(id, table, change)?, None),
                _ if reads_itself => self.recursive(id, table, recursion::parts(table)?)?,
                _ => {
                    let mut query = self.query(&table.query, UnknownOutputs::BecomeText)?;
                    name_columns(&mut query.outputs, table)?;
                    self.declare(id, table, &query.outputs);
                    (query, None)
                }
            };
            let (name, materialized) = (table.name.text.clone(), table.materialized);
            tables.push(CommonTable { id, name, query, recursive, materialized, readers: 0 });
        }
        Ok(tables)
    }

    /// Binds a change whose RETURNING is read as a table.
    fn common_change(
        &mut self,
        id: CommonTableId,
        table: &ast::CommonTable,
        change: &Statement,
    ) -> Result<BoundQuery> {
        if matches!(change, Statement::Merge(_)) {
            let message = "MERGE not supported in WITH query";
            return Err(BindError::new("0A000", message, table.name.span));
        }
        let is_top = self.depth == 1;
        let mut bound = self.change(change)?;
        if !is_top {
            let message =
                "WITH clause containing a data-modifying statement must be at the top level";
            return Err(BindError::new("0A000", message, table.name.span));
        }
        name_columns(&mut bound.outputs, table)?;
        self.declare(id, table, &bound.outputs);
        let has_rows = match change {
            Statement::Insert(insert) => !insert.returning.is_empty(),
            Statement::Update(update) => !update.returning.is_empty(),
            Statement::Delete(delete) => !delete.returning.is_empty(),
            _ => false,
        };
        if let Some(entry) = self.entry(&table.name.text) {
            entry.has_rows = has_rows;
        }
        Ok(bound)
    }

    /// Binds the two parts of a query that reads itself.
    fn recursive(
        &mut self,
        id: CommonTableId,
        table: &ast::CommonTable,
        Parts { start, step, all }: Parts<'_>,
    ) -> Result<(BoundQuery, Option<(BoundQuery, bool)>)> {
        match &table.query.with {
            Some(with) => {
                // Its tables are visible to both parts.
                let mut parts = None;
                let bound = self.with(with, |binder| {
                    let (start, step) = binder.recursive_parts(id, table, (start, step))?;
                    parts = Some(step);
                    Ok(start)
                })?;
                let step = parts.ok_or_else(|| {
                    BindError::unsupported("WITH in a recursive query", table.name.span)
                })?;
                match &bound.root {
                    Relational::With { tables, .. } if tables.iter().any(|one| one.readers > 0) => {
                        let what = "WITH around both parts of a recursive query";
                        Err(BindError::unsupported(what, table.name.span))
                    }
                    _ => Ok((bound, Some((step, all)))),
                }
            }
            None => {
                let (start, step) = self.recursive_parts(id, table, (start, step))?;
                Ok((start, Some((step, all))))
            }
        }
    }

    fn recursive_parts(
        &mut self,
        id: CommonTableId,
        table: &ast::CommonTable,
        (start, step): (&ast::Query, &ast::Query),
    ) -> Result<(BoundQuery, BoundQuery)> {
        let mut start = self.query(start, UnknownOutputs::BecomeText)?;
        name_columns(&mut start.outputs, table)?;
        let carried = self.carried(table, &start.outputs)?;
        let columns = carried.as_ref().map(Carried::columns).unwrap_or_default();
        self.declare(id, table, &start.outputs);
        if let Some(entry) = self.entry(&table.name.text) {
            (entry.is_open, entry.carried) = (true, columns.len());
            entry.columns.extend(columns);
        }
        let mut bound = self.query(step, UnknownOutputs::Stay)?;
        if let Some(entry) = self.entry(&table.name.text) {
            (entry.is_open, entry.readers) = (false, 0);
        }
        check_columns("UNION", start.outputs.len(), &mut bound, step.span)?;
        let step = self.match_step(&mut start, bound, table)?;
        match carried {
            None => Ok((start, step)),
            Some(carried) => {
                let start = self.carry_start(&carried, start)?;
                Ok((start, self.carry_step(&carried, (table, id), step)?))
            }
        }
    }

    /// Converts the columns of a recursive step to the types of the start, which must be the common ones.
    fn match_step(
        &mut self,
        start: &mut BoundQuery,
        step: BoundQuery,
        table: &ast::CommonTable,
    ) -> Result<BoundQuery> {
        let (mut items, mut outputs) = (Vec::new(), Vec::new());
        for (place, (known, output)) in start.outputs.iter().zip(&step.outputs).enumerate() {
            let span = table.query.span;
            let left = Scalar::new(ScalarKind::Column(known.id), known.data_type, span);
            let right = Scalar::new(ScalarKind::Column(output.id), output.data_type, span);
            let common = self.coercion().common(&[left, right.clone()], "UNION")?;
            if common != known.data_type {
                let message = format!(
                    "recursive query \"{}\" column {} has type {} in non-recursive term but type {} overall",
                    table.name.text,
                    place + 1,
                    known.data_type,
                    common
                );
                let hint = "Cast the output of the non-recursive term to the correct type.";
                let span = item_of(&mut start.root, known.id).map_or(span, |item| item.span);
                return Err(BindError::new("42804", message, span).with_hint(hint));
            }
            let value = self.coercion().convert_to_common(right, common, "UNION")?;
            let id = self.new_column();
            outputs.push(OutputColumn { name: known.name.clone(), id, data_type: value.data_type });
            items.push((id, value));
        }
        let root = Relational::Project { input: Box::new(step.root), items };
        Ok(BoundQuery { root, outputs })
    }

    fn declare(&mut self, id: CommonTableId, table: &ast::CommonTable, outputs: &[OutputColumn]) {
        let columns = outputs.iter().map(|output| (output.name.clone(), output.data_type));
        let name = table.name.text.clone();
        let entry = Entry {
            name: name.clone(),
            id,
            columns: columns.collect(),
            readers: 0,
            has_rows: true,
            is_open: false,
            carried: 0,
        };
        if let Some(frame) = self.frames.last_mut() {
            frame.waiting.retain(|waiting| *waiting != name);
            frame.entries.retain(|entry| entry.id != id);
            frame.entries.push(entry);
        }
    }

    /// Adds to the error of a missing relation that a common table of its name is not visible yet.
    pub(super) fn missing_common_table(&self, name: &str, error: BindError) -> BindError {
        if !self.frames.iter().any(|frame| frame.waiting.iter().any(|waiting| waiting == name)) {
            return error;
        }
        let detail = format!(
            "There is a WITH item named \"{name}\", but it cannot be referenced from this part of the query."
        );
        let hint = "Use WITH RECURSIVE, or re-order the WITH items to remove forward references.";
        error.with_detail(detail).with_hint(hint)
    }

    fn entry(&mut self, name: &str) -> Option<&mut Entry> {
        let frames = self.frames.iter_mut().rev();
        frames.flat_map(|frame| &mut frame.entries).find(|entry| entry.name == name)
    }

    /// Returns a scan of a common table, if there is one of the name.
    pub(super) fn common_table(&mut self, name: &str, span: Span) -> Result<Option<CommonScan>> {
        let Some(entry) = self.entry(name) else { return Ok(None) };
        if !entry.has_rows {
            let message = format!("WITH query \"{name}\" does not have a RETURNING clause");
            return Err(BindError::new("0A000", message, span));
        }
        entry.readers += 1;
        let (table, columns, is_open) = (entry.id, entry.columns.clone(), entry.is_open);
        let hidden = if is_open { entry.carried } else { 0 };
        self.scope().reads_itself |= is_open;
        let output = |(name, data_type)| OutputColumn { name, id: self.new_column(), data_type };
        let outputs = columns.into_iter().map(output).collect::<Vec<_>>();
        let columns = outputs.iter().map(|output| output.id).collect();
        let scan = Relational::CommonTableScan { table, columns };
        Ok(Some(CommonScan { scan, outputs, unexpanded: hidden }))
    }
}

fn name_columns(outputs: &mut [OutputColumn], table: &ast::CommonTable) -> Result<()> {
    let (there, given) = (outputs.len(), table.columns.len());
    if given > there {
        let name = &table.name.text;
        let message = format!(
            "WITH query \"{name}\" has {there} columns available but {given} columns specified"
        );
        return Err(BindError::new("42P10", message, table.name.span));
    }
    for (output, name) in outputs.iter_mut().zip(&table.columns) {
        output.name.clone_from(&name.text);
    }
    Ok(())
}
