//! SEARCH and CYCLE: columns that a recursive query carries along from row to row (`rewriteSearchAndCycle`).
//!
//! - The first rows get their own values as a path, each later row those of the row that it came from and its own.
//! - The recursive part may name these columns, but `*` leaves them out there.

use crate::bind::Binder;
use crate::bind::order::check_equality;
use crate::bound::{
    BoundQuery, ColumnId, CommonTableId, Constant, JoinKind, OutputColumn, Relational, Scalar,
    ScalarKind,
};
use crate::error::{BindError, Result};
use crate::types::{SqlType, constants};
use gadus_syntax::Span;
use gadus_syntax::ast::{self, Name, Quantifier, QueryBody};

/// Columns that are carried along, in their order.
pub(super) struct Carried {
    search: Option<Search>,
    cycle: Option<Cycle>,
}

struct Search {
    is_breadth_first: bool,
    name: String,
    /// Positions of the columns by which rows are ordered.
    columns: Vec<usize>,
}

struct Cycle {
    mark: String,
    path: String,
    /// Positions of the columns that are equal in a cycle.
    columns: Vec<usize>,
    /// Values of the mark: within a cycle, and before.
    values: [Scalar; 2],
}

impl Carried {
    /// Returns the names and types of the columns.
    pub(super) fn columns(&self) -> Vec<(String, SqlType)> {
        let mut columns = Vec::new();
        if let Some(search) = &self.search {
            let id = match search.is_breadth_first {
                true => constants::RECORD,
                false => constants::RECORD_ARRAY,
            };
            columns.push((search.name.clone(), id.plain()));
        }
        if let Some(cycle) = &self.cycle {
            columns.push((cycle.mark.clone(), cycle.values[0].data_type));
            columns.push((cycle.path.clone(), constants::RECORD_ARRAY.plain()));
        }
        columns
    }
}

impl Binder<'_> {
    /// Binds SEARCH and CYCLE of a query with these outputs; `None` without them.
    pub(super) fn carried(
        &mut self,
        table: &ast::CommonTable,
        outputs: &[OutputColumn],
    ) -> Result<Option<Carried>> {
        if table.search.is_none() && table.cycle.is_none() {
            return Ok(None);
        }
        check_sides(table)?;
        let names = outputs.iter().map(|output| output.name.as_str()).collect::<Vec<_>>();
        let search = table.search.as_ref().map(|search| bind_search(search, &names)).transpose()?;
        let cycle = table.cycle.as_ref().map(|cycle| self.bind_cycle(cycle, &names));
        let cycle = cycle.transpose()?;
        if let (Some(search), Some(cycle)) = (&search, &cycle) {
            for (name, what) in [(&cycle.mark, "mark"), (&cycle.path, "path")] {
                if *name == search.name {
                    let message = format!(
                        "search sequence column name and cycle {what} column name are the same"
                    );
                    let span = table.search.as_ref().map(|search| search.span);
                    return Err(BindError::new("42601", message, span.unwrap_or_default()));
                }
            }
        }
        Ok(Some(Carried { search, cycle }))
    }

    fn bind_cycle(&mut self, cycle: &ast::CycleClause, names: &[&str]) -> Result<Cycle> {
        let columns = positions("cycle", &cycle.columns, names, cycle.span)?;
        check_new("cycle mark", &cycle.mark, names, cycle.span)?;
        let boolean = |value| {
            Scalar::new(ScalarKind::Constant(Constant::Boolean(value)), constants::BOOL, cycle.span)
        };
        let values = match &cycle.values {
            None => [boolean(true), boolean(false)],
            Some((value, default)) => {
                let (bound, _) = self.in_scope(|binder| {
                    let both = [binder.expr(value)?, binder.expr(default)?];
                    let common = binder.coercion().common(&both, "CYCLE")?;
                    let [value, default] = both;
                    let mut coercion = binder.coercion();
                    let value = coercion.convert_to_common(value, common, "CYCLE/SET/TO")?;
                    let default =
                        coercion.convert_to_common(default, common, "CYCLE/SET/DEFAULT")?;
                    Ok([value, default])
                })?;
                check_equality(bound[0].data_type.id, cycle.span)
                    .map_err(|error| BindError { span: None, ..error })?;
                bound
            }
        };
        check_new("cycle path", &cycle.path, names, cycle.span)?;
        if cycle.mark.text == cycle.path.text {
            let message = "cycle mark column name and cycle path column name are the same";
            return Err(BindError::new("42601", message, cycle.span));
        }
        let (mark, path) = (cycle.mark.text.clone(), cycle.path.text.clone());
        Ok(Cycle { mark, path, columns, values })
    }

    /// Adds the columns of the first rows.
    pub(super) fn carry_start(
        &mut self,
        carried: &Carried,
        start: BoundQuery,
    ) -> Result<BoundQuery> {
        let BoundQuery { root, mut outputs } = start;
        let mut values = Vec::new();
        let span = Span::default();
        if let Some(search) = &carried.search {
            let fields = fields_of(&outputs, &search.columns);
            values.push(match search.is_breadth_first {
                true => row(std::iter::once(integer(0)).chain(fields).collect()),
                false => path_of(fields),
            });
        }
        if let Some(cycle) = &carried.cycle {
            values.push(cycle.values[1].clone());
            values.push(path_of(fields_of(&outputs, &cycle.columns)));
        }
        let mut items = identities(&outputs);
        for ((name, data_type), value) in carried.columns().into_iter().zip(values) {
            let id = self.new_column();
            items.push((id, Scalar { span, ..value }));
            outputs.push(OutputColumn { name, id, data_type });
        }
        Ok(BoundQuery { root: Relational::Project { input: Box::new(root), items }, outputs })
    }

    /// Adds the columns of later rows, from those of the rows that they come from.
    pub(super) fn carry_step(
        &mut self,
        carried: &Carried,
        (table, id): (&ast::CommonTable, CommonTableId),
        step: BoundQuery,
    ) -> Result<BoundQuery> {
        let count = carried.columns().len();
        let BoundQuery { mut root, mut outputs } = step;
        let before = pass_through(&mut root, (id, count), PROJECTIONS).ok_or_else(|| {
            let name = &table.name.text;
            let message = format!(
                "with a SEARCH or CYCLE clause, the recursive reference to WITH query \"{name}\" must be at the top level of its right-hand SELECT"
            );
            BindError::without_position("0A000", message)
        })?;
        let types = carried.columns();
        let mut before = before.into_iter().zip(&types).map(|(id, (_, data_type))| {
            Scalar::new(ScalarKind::Column(id), *data_type, Span::default())
        });
        let mut values = Vec::new();
        if let Some(search) = &carried.search {
            let sequence = before.next().unwrap_or_else(|| integer(0));
            let fields = fields_of(&outputs, &search.columns);
            values.push(match search.is_breadth_first {
                true => {
                    let operand = Box::new(sequence);
                    let kind = ScalarKind::Field { operand, index: 0 };
                    let depth = Scalar::new(kind, constants::INT8, Span::default());
                    let depth = self.infix_named("+", depth, integer(1), Span::default())?;
                    row(std::iter::once(depth).chain(fields).collect())
                }
                false => self.infix_named("||", sequence, path_of(fields), Span::default())?,
            });
        }
        if let Some(cycle) = &carried.cycle {
            let mark = before.next().unwrap_or_else(|| integer(0));
            let path = before.next().unwrap_or_else(|| integer(0));
            let [value, default] = cycle.values.clone();
            let open = self.infix_named("<>", mark, value.clone(), Span::default())?;
            root = Relational::Filter { input: Box::new(root), predicate: open };
            let fields = fields_of(&outputs, &cycle.columns);
            let found = row(fields.clone());
            let span = Span::default();
            let found = self.compare_with_array("=", found, path.clone(), Quantifier::Any, span)?;
            let data_type = value.data_type;
            let kind = ScalarKind::Case {
                operand: None,
                branches: vec![(found, value)],
                otherwise: Some(Box::new(default)),
            };
            values.push(Scalar::new(kind, data_type, span));
            values.push(self.infix_named("||", path, path_of(fields), span)?);
        }
        let mut items = identities(&outputs);
        for ((name, data_type), value) in types.into_iter().zip(values) {
            let id = self.new_column();
            items.push((id, value));
            outputs.push(OutputColumn { name, id, data_type });
        }
        Ok(BoundQuery { root: Relational::Project { input: Box::new(root), items }, outputs })
    }
}

/// Checks that both sides of the UNION are SELECTs or VALUES.
fn check_sides(table: &ast::CommonTable) -> Result<()> {
    let parts = super::recursion::parts(table)?;
    for (query, side) in [(parts.start, "left"), (parts.step, "right")] {
        if matches!(query.body, QueryBody::SetOperation { .. }) {
            let message = format!(
                "with a SEARCH or CYCLE clause, the {side} side of the UNION must be a SELECT"
            );
            return Err(BindError::without_position("0A000", message));
        }
    }
    Ok(())
}

fn bind_search(search: &ast::SearchClause, names: &[&str]) -> Result<Search> {
    let columns = positions("search", &search.columns, names, search.span)?;
    check_new("search sequence", &search.sequence, names, search.span)?;
    let name = search.sequence.text.clone();
    Ok(Search { is_breadth_first: search.is_breadth_first, name, columns })
}

/// Returns the positions of columns in the list of a query.
fn positions(what: &str, columns: &[Name], names: &[&str], span: Span) -> Result<Vec<usize>> {
    let mut found = Vec::with_capacity(columns.len());
    for column in columns {
        let name = &column.text;
        let place = names.iter().position(|known| known == name).ok_or_else(|| {
            let message = format!("{what} column \"{name}\" not in WITH query column list");
            BindError::new("42601", message, span)
        })?;
        if found.contains(&place) {
            let message = format!("{what} column \"{name}\" specified more than once");
            return Err(BindError::new("42701", message, span));
        }
        found.push(place);
    }
    Ok(found)
}

fn check_new(what: &str, name: &Name, names: &[&str], span: Span) -> Result<()> {
    if !names.contains(&name.text.as_str()) {
        return Ok(());
    }
    let message =
        format!("{what} column name \"{}\" already used in WITH query column list", name.text);
    Err(BindError::new("42601", message, span))
}

fn integer(value: i64) -> Scalar {
    let constant = ScalarKind::Constant(Constant::Integer(value));
    Scalar::new(constant, constants::INT8, Span::default())
}

fn row(fields: Vec<Scalar>) -> Scalar {
    Scalar::new(ScalarKind::Row(fields), constants::RECORD, Span::default())
}

/// Returns an array of one row.
fn path_of(fields: Vec<Scalar>) -> Scalar {
    let kind = ScalarKind::Array(vec![row(fields)]);
    Scalar::new(kind, constants::RECORD_ARRAY, Span::default())
}

fn fields_of(outputs: &[OutputColumn], columns: &[usize]) -> Vec<Scalar> {
    let field = |output: &OutputColumn| {
        Scalar::new(ScalarKind::Column(output.id), output.data_type, Span::default())
    };
    columns.iter().filter_map(|column| outputs.get(*column)).map(field).collect()
}

fn identities(outputs: &[OutputColumn]) -> Vec<(ColumnId, Scalar)> {
    let all = (0..outputs.len()).collect::<Vec<_>>();
    outputs.iter().map(|output| output.id).zip(fields_of(outputs, &all)).collect()
}

/// Projections above FROM of the recursive part: its select list, and the conversion to the types of the first rows.
const PROJECTIONS: usize = 2;

/// Adds the last columns of a common table's scan to so many projections above it, and returns them.
fn pass_through(
    root: &mut Relational,
    (id, count): (CommonTableId, usize),
    projections: usize,
) -> Option<Vec<ColumnId>> {
    match root {
        Relational::CommonTableScan { table, columns } if *table == id => {
            Some(columns.get(columns.len().checked_sub(count)?..)?.to_vec())
        }
        Relational::Filter { input, .. } => pass_through(input, (id, count), projections),
        Relational::Project { input, items } => {
            let carried = pass_through(input, (id, count), projections.checked_sub(1)?)?;
            let item = |id: &ColumnId| {
                // The type is that of the scan's column; nothing above reads it from here.
                let data_type = constants::RECORD.plain();
                (*id, Scalar::new(ScalarKind::Column(*id), data_type, Span::default()))
            };
            items.extend(carried.iter().map(item));
            Some(carried)
        }
        Relational::Join(join) => {
            let left = pass_through(&mut join.left, (id, count), projections);
            let is_whole = !matches!(join.kind, JoinKind::Semi | JoinKind::Anti);
            let right = &mut join.right;
            left.or_else(|| pass_through(right, (id, count), projections).filter(|_| is_whole))
        }
        _ => None,
    }
}
