//! Items of FROM: tables, views, common tables, queries, functions.

use super::scope::{Clause, ScopeTable};
use super::with::CommonScan;
use super::{Binder, UnknownOutputs, with_stack};
use crate::bound::{
    BoundQuery, ColumnId, Join, JoinKind, OutputColumn, Relational, Scalar, ScalarKind, TableCall,
};
use crate::error::{BindError, Result};
use crate::provider::Relation;
use crate::types::{SqlType, constants, resolve_type};
use gadus_syntax::Span;
use gadus_syntax::ast::{
    Alias, Argument, Expr, ExprKind, FromItem, FromKind, FunctionCall, ObjectName, Statement,
    TableFunction,
};
use std::borrow::Cow;
use std::sync::Arc;

/// Columns of all tables of a statement, as often as each is named.
const COLUMNS_MAX: u32 = 200_000;
/// Views within views.
const VIEWS_MAX: u32 = 200;

impl Binder<'_> {
    /// Binds the items of FROM and joins them; one row without columns if there are none.
    pub(super) fn bind_from(&mut self, items: &[FromItem]) -> Result<Relational> {
        let mut joined = None;
        for item in items {
            let before = self.columns;
            let middle = self.scope().tables.len();
            let right = self.bind_item(item)?;
            self.check_names(0, middle)?;
            joined = Some(match joined {
                None => right,
                Some(left) => {
                    let is_lateral = self.is_lateral(&right, before);
                    let kind = JoinKind::Inner;
                    Relational::Join(Box::new(Join {
                        kind,
                        left,
                        right,
                        condition: None,
                        is_lateral,
                    }))
                }
            });
        }
        Ok(joined.unwrap_or(Relational::OneRow))
    }

    /// Returns true if an item names columns of this FROM that were there before it, by the last number then given.
    pub(super) fn is_lateral(&mut self, item: &Relational, before: u32) -> bool {
        let own = &self.scope().own;
        names_any(item, |column| column.0 <= before && own.contains(&column))
    }

    /// Binds one item and adds its names to the scope.
    pub(super) fn bind_item(&mut self, item: &FromItem) -> Result<Relational> {
        with_stack(|| self.bind_item_here(item))
    }

    fn bind_item_here(&mut self, item: &FromItem) -> Result<Relational> {
        let (alias, span) = (item.alias.as_ref(), item.span);
        match &item.kind {
            FromKind::Table { sample: Some(_), .. }
            | FromKind::Functions { sample: Some(_), .. } => {
                Err(BindError::unsupported("TABLESAMPLE", span))
            }
            FromKind::Table { name, .. } => self.table(name, alias, span),
            FromKind::Functions { functions, ordinality, .. } => {
                self.functions(functions, *ordinality, alias, span)
            }
            FromKind::Query { query, lateral } => {
                let was_hidden = std::mem::replace(&mut self.scope().is_hidden, !lateral);
                let bound = self.query(query, UnknownOutputs::BecomeText);
                self.scope().is_hidden = was_hidden;
                let BoundQuery { root, outputs } = bound?;
                self.add_outputs(outputs, alias, span)?;
                Ok(root)
            }
            FromKind::Join { left, right, kind, condition } => {
                self.join([left, right], *kind, condition, alias, span)
            }
            FromKind::File(_) => Err(BindError::unsupported("a file in FROM", span)),
            FromKind::Pivot(_) | FromKind::Unpivot(_) => {
                Err(BindError::unsupported("PIVOT and UNPIVOT", span))
            }
        }
    }

    fn table(
        &mut self,
        name: &ObjectName,
        alias: Option<&Alias>,
        span: Span,
    ) -> Result<Relational> {
        let (schema, plain) = schema_and_name(name)?;
        if schema.is_none()
            && let Some(CommonScan { scan, outputs, unexpanded }) =
                self.common_table(plain, span)?
        {
            let table = ScopeTable { unexpanded, ..table_of(plain, outputs, span) };
            self.add_table(table, alias, span)?;
            return Ok(scan);
        }
        let relation = self.relation_named(name)?;
        let (root, outputs) = match &relation.view {
            Some(text) => self.view(&relation, text, span)?,
            None if self.columns > COLUMNS_MAX => {
                let message = format!("a statement can read at most {COLUMNS_MAX} columns");
                return Err(BindError::new("54011", message, span));
            }
            None => self.scan(&relation),
        };
        let mut table = table_of(plain, outputs, span);
        table.schema = Some(relation.schema.clone());
        table.row_type = relation.row_type;
        let column = |place: &usize| table.columns.get(*place)?.value.as_column();
        let keys = relation.keys.iter().map(|key| key.iter().filter_map(column).collect());
        table.keys = keys.collect();
        self.add_table(table, alias, span)?;
        Ok(root)
    }

    /// Looks up a relation.
    pub(super) fn relation_named(&self, name: &ObjectName) -> Result<Arc<Relation>> {
        let (schema, plain) = schema_and_name(name)?;
        self.provider.relation(schema, plain)?.ok_or_else(|| {
            let shown =
                schema.map_or_else(|| plain.to_owned(), |schema| format!("{schema}.{plain}"));
            let message = format!("relation \"{shown}\" does not exist");
            let error = BindError::new("42P01", message, name.span());
            if schema.is_some() { error } else { self.missing_common_table(plain, error) }
        })
    }

    /// Returns a scan of a relation with new columns.
    pub(super) fn scan(&mut self, relation: &Arc<Relation>) -> (Relational, Vec<OutputColumn>) {
        let mut outputs = Vec::with_capacity(relation.columns.len());
        for column in &relation.columns {
            let (name, data_type) = (column.name.clone(), column.data_type);
            outputs.push(OutputColumn { name, id: self.new_column(), data_type });
        }
        let columns = outputs.iter().enumerate().map(|(place, output)| (place, output.id));
        let columns = columns.collect();
        (Relational::Scan { relation: relation.clone(), columns }, outputs)
    }

    /// Binds the query of a view, which sees no names but its own.
    fn view(
        &mut self,
        relation: &Relation,
        text: &str,
        span: Span,
    ) -> Result<(Relational, Vec<OutputColumn>)> {
        if self.views >= VIEWS_MAX {
            return Err(BindError::new("54001", "views are nested too deeply", span));
        }
        let failed = |error: BindError| BindError { span: Some(span), ..error };
        let statement =
            gadus_syntax::parse_statement(text).map_err(|error| failed(error.into()))?;
        let Statement::Query(query) = statement.statement else {
            return Err(BindError::unsupported("a view of another statement", span));
        };
        let scopes = std::mem::take(&mut self.scopes);
        let frames = std::mem::take(&mut self.frames);
        self.views += 1;
        let bound = self.query(&query, UnknownOutputs::BecomeText);
        self.views -= 1;
        (self.scopes, self.frames) = (scopes, frames);
        let BoundQuery { root, mut outputs } = bound.map_err(failed)?;
        for (output, column) in outputs.iter_mut().zip(&relation.columns) {
            output.name.clone_from(&column.name);
        }
        Ok((root, outputs))
    }

    fn functions(
        &mut self,
        functions: &[TableFunction],
        ordinality: bool,
        alias: Option<&Alias>,
        span: Span,
    ) -> Result<Relational> {
        let functions = functions.iter().flat_map(one_array_each).collect::<Vec<_>>();
        // Of several functions each column has its function's name.
        let column_alias = alias.filter(|_| functions.len() == 1);
        let mut calls = Vec::with_capacity(functions.len());
        let mut outputs = Vec::new();
        for function in &functions {
            let clause = std::mem::replace(&mut self.scope().clause, Clause::From);
            let bound = self.table_function(function, column_alias);
            self.scope().clause = clause;
            let (call, columns) = bound?;
            outputs.extend(columns);
            calls.push(call);
        }
        let number = ordinality.then(|| self.new_column());
        if let Some(id) = number {
            let data_type = constants::INT8.plain();
            outputs.push(OutputColumn { name: "ordinality".to_owned(), id, data_type });
        }
        let name = function_name(&functions[0]);
        let table = table_of(&name, outputs, span);
        self.add_table(table, alias, span)?;
        Ok(Relational::TableFunctions { calls, ordinality: number })
    }

    fn table_function(
        &mut self,
        function: &TableFunction,
        alias: Option<&Alias>,
    ) -> Result<(TableCall, Vec<OutputColumn>)> {
        let call = self.expr(&function.call)?;
        let plain = alias.map_or_else(|| function_name(function), |alias| alias.name.text.clone());
        let mut columns = Vec::<(String, SqlType)>::new();
        let outputs = match &call.kind {
            ScalarKind::Function { function, .. } => function.outputs,
            _ => &[],
        };
        let definitions = alias.map_or(&[][..], |alias| &alias.columns);
        let is_record = call.data_type.id == constants::RECORD;
        if is_record && !function.columns.is_empty() {
            for column in &function.columns {
                let data_type = resolve_type(self.provider, &column.data_type)?;
                columns.push((column.name.text.clone(), data_type));
            }
        } else if is_record && definitions.iter().any(|column| column.data_type.is_some()) {
            for column in definitions {
                let name = column.data_type.as_ref();
                let data_type = name.map(|name| resolve_type(self.provider, name)).transpose()?;
                columns
                    .push((column.name.text.clone(), data_type.unwrap_or(constants::TEXT.plain())));
            }
        } else if !outputs.is_empty() {
            columns.extend(outputs.iter().map(|(name, id)| ((*name).to_owned(), id.plain())));
        } else if let Some(fields) = self.provider.fields(call.data_type.id) {
            columns.extend(fields.iter().map(|field| (field.name.clone(), field.data_type)));
        } else if is_record {
            let message = "a column definition list is required for functions returning \"record\"";
            return Err(BindError::new("42601", message, call.span));
        } else {
            columns.push((plain, call.data_type));
        }
        let names = columns.iter().map(|(name, _)| name.clone()).collect();
        let column = |(name, data_type)| OutputColumn { name, id: self.new_column(), data_type };
        let outputs = columns.into_iter().map(column).collect::<Vec<_>>();
        let columns = outputs.iter().map(|output| (output.id, output.data_type)).collect();
        Ok((TableCall { call, columns, names }, outputs))
    }

    /// Adds the columns of a query as a table.
    pub(super) fn add_outputs(
        &mut self,
        outputs: Vec<OutputColumn>,
        alias: Option<&Alias>,
        span: Span,
    ) -> Result<()> {
        let mut table = table_of("", outputs, span);
        table.is_named = false;
        self.add_table(table, alias, span)
    }

    /// Adds a table under its alias.
    pub(super) fn add_table(
        &mut self,
        mut table: ScopeTable,
        alias: Option<&Alias>,
        span: Span,
    ) -> Result<()> {
        if let Some(alias) = alias {
            rename(&mut table, alias, span)?;
        }
        self.scope().add(table);
        Ok(())
    }

    /// Refuses tables from `middle` on that have the name of one between `first` and `middle`.
    pub(super) fn check_names(&mut self, first: usize, middle: usize) -> Result<()> {
        let tables = &self.scope().tables;
        let (left, right) = (&tables[first..middle], &tables[middle..]);
        let is_double = |one: &ScopeTable, other: &ScopeTable| {
            let schemas = (&one.schema, &other.schema);
            let differ = matches!(schemas, (Some(one), Some(other)) if one != other);
            one.is_named && other.is_named && one.name == other.name && !differ
        };
        let double = right.iter().find(|one| left.iter().any(|other| is_double(one, other)));
        match double {
            None => Ok(()),
            Some(double) => {
                let message = format!("table name \"{}\" specified more than once", double.name);
                Err(BindError::without_position("42712", message))
            }
        }
    }
}

/// Returns the schema and the name of a table.
fn schema_and_name(name: &ObjectName) -> Result<(Option<&str>, &str)> {
    match name.parts.as_slice() {
        [plain] => Ok((None, plain.text.as_str())),
        [.., schema, plain] => Ok((Some(schema.text.as_str()), plain.text.as_str())),
        [] => Err(BindError::unsupported("a table without a name", name.span())),
    }
}

/// Gives a table and its columns the names of an alias.
pub(super) fn rename(table: &mut ScopeTable, alias: &Alias, span: Span) -> Result<()> {
    if !alias.name.text.is_empty() {
        let name = std::mem::replace(&mut table.name, alias.name.text.clone());
        table.hidden_name = Some(name).filter(|name| *name != table.name);
        (table.schema, table.is_named) = (None, true);
    }
    let (there, given) = (table.columns.len(), alias.columns.len());
    if given > there {
        let name = &table.name;
        let message =
            format!("table \"{name}\" has {there} columns available but {given} columns specified");
        return Err(BindError::new("42P10", message, span));
    }
    for (column, given) in table.columns.iter_mut().zip(&alias.columns) {
        column.name.clone_from(&given.name.text);
    }
    Ok(())
}

/// Creates a table of a query's columns.
pub(super) fn table_of(name: &str, outputs: Vec<OutputColumn>, span: Span) -> ScopeTable {
    let columns = outputs.into_iter().map(|output| (output.name, output.id, output.data_type));
    ScopeTable::new(name, columns, span)
}

/// Returns true if an operator names a column that satisfies a predicate.
pub(super) fn names_any(operator: &Relational, is_wanted: impl Fn(ColumnId) -> bool) -> bool {
    let mut found = false;
    let mut look = |part: &mut Scalar| found |= part.as_column().is_some_and(&is_wanted);
    operator.clone().for_each_scalar(&mut |scalar| scalar.for_each(&mut look));
    found
}

/// Returns `unnest` of several arrays as one call for each of them.
fn one_array_each(function: &TableFunction) -> Vec<Cow<'_, TableFunction>> {
    let whole = || vec![Cow::Borrowed(function)];
    let ExprKind::Call(call) = &function.call.kind else { return whole() };
    let is_plain = function_name(function) == "unnest"
        && function.columns.is_empty()
        && call.arguments.len() > 1
        && !call.arguments.iter().any(|argument| argument.variadic);
    if !is_plain {
        return whole();
    }
    let one = |argument: &Argument| {
        let call = FunctionCall { arguments: vec![argument.clone()], ..(**call).clone() };
        let call = Expr { kind: ExprKind::Call(Box::new(call)), span: function.call.span };
        Cow::Owned(TableFunction { call, columns: Vec::new() })
    };
    call.arguments.iter().map(one).collect()
}

fn function_name(function: &TableFunction) -> String {
    match &function.call.kind {
        ExprKind::Call(call) => call.name.parts.last().map(|name| name.text.clone()),
        _ => None,
    }
    .unwrap_or_default()
}
