//! Statements in which each relation is named with its schema, where that is not the main one.

use super::{Names, TEMPORARY_SCHEMAS, kept};
use crate::enums::{each_type, of_columns};
use crate::provider::{CATALOG, MAIN_SCHEMA};
use crate::session::folded;
use datafusion::sql::sqlparser::ast::{
    AlterTableOperation, ColumnDef, ColumnOption, CommentObject, CopySource, DataType, Expr,
    Function, Ident, ObjectName, ObjectNamePart, ObjectType, Query, Statement, TableConstraint,
    Value, VisitMut, VisitorMut,
};
use gadus_engine::Snapshot;
use std::ops::ControlFlow;

/// Names relations with their schemas.
pub(crate) fn resolve(snapshot: &Snapshot, names: &Names, statement: &mut Statement) {
    let mut resolving = Resolving { snapshot, names, around: Vec::new() };
    resolving.made(statement);
    let _ = statement.visit(&mut resolving);
    resolving.unvisited(statement);
    resolving.types(statement);
}

struct Resolving<'a> {
    snapshot: &'a Snapshot,
    names: &'a Names,
    /// The queries around.
    around: Vec<Given>,
}

/// The names that a query gives by WITH.
struct Given {
    names: Vec<String>,
    /// Those that can be read by now: their queries are visited first, in their order.
    visible: usize,
}

impl Resolving<'_> {
    /// The name of what a statement makes.
    fn made(&self, statement: &mut Statement) {
        match statement {
            Statement::CreateTable(create) => {
                self.make(&mut create.name, std::mem::take(&mut create.temporary));
            }
            Statement::CreateView(create) => {
                self.make(&mut create.name, std::mem::take(&mut create.temporary));
            }
            Statement::CreateSequence { name, temporary, .. } => {
                self.make(name, std::mem::take(temporary));
            }
            Statement::CreateType { name, .. } => self.make(name, false),
            Statement::CreateIndex(create) => {
                self.find(&mut create.table_name);
                let schema = match create.table_name.0.as_slice() {
                    [schema, _] => Some(schema.clone()),
                    _ => None,
                };
                // It is in the schema of its table.
                if let (Some(schema), Some(name)) = (schema, &mut create.name)
                    && name.0.len() == 1
                {
                    name.0.insert(0, schema);
                }
            }
            _ => {}
        }
    }

    fn make(&self, name: &mut ObjectName, is_temporary: bool) {
        self.mean(name);
        if name.0.len() != 1 {
            return;
        }
        let schema = match is_temporary {
            true => self.names.temporary.as_deref(),
            false => self.names.first(self.snapshot),
        };
        if let Some(schema) = schema.filter(|schema| *schema != MAIN_SCHEMA) {
            name.0.insert(0, part(schema));
        }
    }

    /// What is named where no visitor comes by.
    fn unvisited(&self, statement: &mut Statement) {
        match statement {
            Statement::Drop { object_type, names, .. }
                if matches!(
                    object_type,
                    ObjectType::Table | ObjectType::View | ObjectType::Sequence | ObjectType::Index
                ) =>
            {
                let is_index = *object_type == ObjectType::Index;
                names.iter_mut().for_each(|name| {
                    if is_index { self.find_index(name) } else { self.find(name) }
                });
            }
            Statement::Drop { object_type: ObjectType::Type, names, .. } => {
                names.iter_mut().for_each(|name| self.find_type(name));
            }
            Statement::AlterType(alter) => self.find_type(&mut alter.name),
            Statement::Truncate(truncate) => {
                truncate.table_names.iter_mut().for_each(|target| self.find(&mut target.name));
            }
            Statement::Copy { source: CopySource::Table { table_name, .. }, .. } => {
                self.find(table_name);
            }
            Statement::CreateTable(create) => {
                create.columns.iter_mut().for_each(|column| self.references(column));
                create.constraints.iter_mut().for_each(|constraint| self.constraint(constraint));
            }
            Statement::AlterTable(alter) => {
                self.find(&mut alter.name);
                for operation in &mut alter.operations {
                    match operation {
                        AlterTableOperation::AddColumn { column_def, .. } => {
                            self.references(column_def);
                        }
                        AlterTableOperation::AddConstraint { constraint, .. } => {
                            self.constraint(constraint);
                        }
                        _ => {}
                    }
                }
            }
            Statement::Vacuum(vacuum) => {
                vacuum.table_name.iter_mut().for_each(|name| self.find(name))
            }
            Statement::Analyze(analyze) => {
                analyze.table_name.iter_mut().for_each(|name| self.find(name));
            }
            Statement::Lock(lock) => {
                lock.tables.iter_mut().for_each(|target| self.find(&mut target.name));
            }
            Statement::AlterIndex { name, .. } => self.find_index(name),
            Statement::Comment { object_type, object_name, .. } => match object_type {
                CommentObject::Table | CommentObject::View | CommentObject::Sequence => {
                    self.find(object_name);
                }
                CommentObject::Index => self.find_index(object_name),
                CommentObject::Type => self.find_type(object_name),
                CommentObject::Column => {
                    if let Some(column) = object_name.0.pop() {
                        self.find(object_name);
                        object_name.0.push(column);
                    }
                }
                _ => {}
            },
            _ => {}
        }
    }

    /// What a column refers to.
    fn references(&self, column: &mut ColumnDef) {
        for option in &mut column.options {
            if let ColumnOption::ForeignKey(key) = &mut option.option {
                self.find(&mut key.foreign_table);
            }
        }
    }

    fn constraint(&self, constraint: &mut TableConstraint) {
        if let TableConstraint::ForeignKey(key) = constraint {
            self.find(&mut key.foreign_table);
        }
    }

    /// Names the schema of a relation that has none, and the session's own by its name.
    fn find(&self, name: &mut ObjectName) {
        self.mean(name);
        let [single] = name.0.as_slice() else { return };
        let Some(ident) = single.as_ident() else { return };
        if let Some(schema) = self.names.schema_of(self.snapshot, &folded(ident)) {
            name.0.insert(0, part(schema));
        }
    }

    /// The same of an index, which is in the schema of its table.
    fn find_index(&self, name: &mut ObjectName) {
        self.mean(name);
        let [single] = name.0.as_slice() else { return };
        let Some(ident) = single.as_ident().map(folded) else { return };
        let tables = self.snapshot.tables();
        let is_there = |schema: &&String| {
            let index = kept(schema, &ident);
            tables.iter().any(|table| table.schema().index_named(&index).is_some())
        };
        let found = self.names.temporary.iter().chain(&self.names.path).find(is_there);
        if let Some(schema) = found.filter(|schema| *schema != MAIN_SCHEMA) {
            name.0.insert(0, part(schema));
        }
    }

    /// The same of a type.
    fn find_type(&self, name: &mut ObjectName) {
        self.mean(name);
        let [single] = name.0.as_slice() else { return };
        let Some(ident) = single.as_ident().map(folded) else { return };
        let mut path = self.names.path.iter();
        let found = path.find(|schema| self.snapshot.find_enum(&kept(schema, &ident)).is_some());
        if let Some(schema) = found.filter(|schema| *schema != MAIN_SCHEMA) {
            name.0.insert(0, part(schema));
        }
    }

    /// Names the schemas of types.
    fn types(&self, statement: &mut Statement) {
        let mut find = |data_type: &mut DataType| {
            if let DataType::Custom(name, modifiers) = data_type
                && modifiers.is_empty()
            {
                self.find_type(name);
            }
            Ok(())
        };
        // What looks at them has nothing against them.
        let _ = each_type(statement, &mut find);
        let _ = of_columns(statement, &mut find);
    }

    /// Takes the one catalog from a name, and has `pg_temp` mean the session's own.
    fn mean(&self, name: &mut ObjectName) {
        let is = |at: usize, known: &str| {
            let ident = name.0.get(at).and_then(|part| part.as_ident());
            ident.is_some_and(|ident| folded(ident) == known)
        };
        let has_catalog = name.0.len() == 3 && is(0, CATALOG);
        let at = usize::from(has_catalog);
        let is_own = name.0.len() == at + 2 && TEMPORARY_SCHEMAS.iter().any(|known| is(at, known));
        if let (true, Some(schema)) = (is_own, &self.names.temporary) {
            name.0[at] = part(schema);
        }
        if has_catalog {
            name.0.remove(0);
        }
    }

    /// Whether a name is one that WITH gives.
    fn is_given(&self, name: &ObjectName) -> bool {
        let [single] = name.0.as_slice() else { return false };
        let Some(name) = single.as_ident().map(folded) else { return false };
        let is_it =
            |given: &Given| given.names.iter().take(given.visible).any(|known| *known == name);
        self.around.iter().any(is_it)
    }
}

impl VisitorMut for Resolving<'_> {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        let with = query.with.iter();
        let names = with.flat_map(|with| with.cte_tables.iter().map(|cte| folded(&cte.alias.name)));
        let names = names.collect::<Vec<_>>();
        let is_recursive = query.with.as_ref().is_some_and(|with| with.recursive);
        let visible = if is_recursive { names.len() } else { 0 };
        self.around.push(Given { names, visible });
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _query: &mut Query) -> ControlFlow<()> {
        self.around.pop();
        if let Some(outer) = self.around.last_mut() {
            // The first queries within are those of its names.
            outer.visible = (outer.visible + 1).min(outer.names.len());
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_relation(&mut self, name: &mut ObjectName) -> ControlFlow<()> {
        if !self.is_given(name) {
            self.find(name);
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        match expr {
            Expr::CompoundIdentifier(names) if names.len() == 3 => {
                if TEMPORARY_SCHEMAS.contains(&folded(&names[0]).as_str())
                    && let Some(schema) = &self.names.temporary
                {
                    names[0] = Ident::with_quote('"', schema);
                }
            }
            Expr::Function(call) if is_current_schema(call) => {
                let schema = self.names.first(self.snapshot).unwrap_or(MAIN_SCHEMA).to_owned();
                *expr = Expr::value(Value::SingleQuotedString(schema));
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

fn is_current_schema(call: &Function) -> bool {
    let name = call.name.0.last().and_then(|part| part.as_ident());
    name.is_some_and(|name| folded(name) == "current_schema")
}

fn part(schema: &str) -> ObjectNamePart {
    ObjectNamePart::Identifier(Ident::with_quote('"', schema))
}
