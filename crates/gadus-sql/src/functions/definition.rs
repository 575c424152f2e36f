//! One function: from the statement that makes it, and as the statement that makes it again.

use crate::error::{input, unsupported};
use crate::session::{folded, parse};
use datafusion::sql::sqlparser::ast::{
    ArgMode, CreateFunction, CreateFunctionBody, DataType, Expr, FunctionCalledOnNull,
    FunctionReturnType, Ident, LimitClause, MacroDefinition, ObjectName, Query, SelectItem,
    SetExpr, Statement, Value, ValueWithSpan, Visit, Visitor,
};
use gadus_engine::{Reason, Result};
use std::fmt::{self, Display};
use std::ops::ControlFlow;

/// Most parameters of a function, as in PostgreSQL.
const PARAMETERS_MAX: usize = 100;

/// A function of SQL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) body: Body,
    pub(super) kind: Kind,
}

/// A parameter: a macro's have names alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Parameter {
    pub(crate) name: Option<Ident>,
    pub(crate) data_type: Option<DataType>,
    pub(crate) default: Option<Expr>,
}

/// What stands in the place of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Body {
    Value(Box<Expr>),
    Rows(Box<Query>),
}

/// Who made it: the forms differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    /// DuckDB's.
    Macro,
    /// PostgreSQL's.
    Function { returns: Returns, is_strict: bool },
}

/// What RETURNS says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Returns {
    Value(DataType),
    /// Rows of one column, which is called like the function.
    SetOf(DataType),
    Table(Vec<(Ident, DataType)>),
}

impl Function {
    /// Of the statement that makes it.
    pub(crate) fn of_statement(statement: &Statement) -> Result<Self> {
        let function = match statement {
            Statement::CreateMacro { name, args, definition, temporary, .. } => {
                refuse_temporary(*temporary)?;
                let parameter = |arg: &datafusion::sql::sqlparser::ast::MacroArg| Parameter {
                    name: Some(arg.name.clone()),
                    data_type: None,
                    default: arg.default_expr.clone(),
                };
                let body = match definition {
                    MacroDefinition::Expr(value) => Body::Value(Box::new(value.clone())),
                    MacroDefinition::Table(query) => Body::Rows(query.clone()),
                };
                let parameters = args.iter().flatten().map(parameter).collect();
                Self { name: function_name(name)?, parameters, body, kind: Kind::Macro }
            }
            Statement::CreateFunction(create) => Self::of_create(create)?,
            other => return Err(input(format!("{other} makes no function"))),
        };
        function.check()?;
        Ok(function)
    }

    /// Of the text that the catalog keeps.
    pub(crate) fn of_text(text: &str) -> Result<Self> {
        Self::of_statement(parse(text)?.statement())
    }

    fn of_create(create: &CreateFunction) -> Result<Self> {
        refuse_temporary(create.temporary)?;
        let is_sql = |language: &Ident| folded(language) == "sql";
        if !create.language.as_ref().is_none_or(is_sql) {
            return Err(unsupported("a function in a language that is not SQL"));
        }
        if !create.set_params.is_empty() || create.using.is_some() {
            return Err(unsupported("SET and USING of a function"));
        }
        let mut parameters = Vec::new();
        for arg in create.args.iter().flatten() {
            if arg.mode.as_ref().is_some_and(|mode| *mode != ArgMode::In) {
                return Err(unsupported("OUT and INOUT of a function: RETURNS TABLE; it"));
            }
            parameters.push(Parameter {
                name: arg.name.as_ref().map(parameter_name),
                data_type: Some(arg.data_type.clone()),
                default: arg.default_expr.clone(),
            });
        }
        let returns = match &create.return_type {
            Some(FunctionReturnType::DataType(DataType::Table(Some(columns)))) => {
                let column = |column: &datafusion::sql::sqlparser::ast::ColumnDef| {
                    (column.name.clone(), column.data_type.clone())
                };
                Returns::Table(columns.iter().map(column).collect())
            }
            Some(FunctionReturnType::DataType(data_type)) => Returns::Value(data_type.clone()),
            Some(FunctionReturnType::SetOf(data_type)) => Returns::SetOf(data_type.clone()),
            None => {
                let message = "function result type must be specified";
                return Err(input(message).because(Reason::InvalidDefinition));
            }
        };
        let gives_rows = !matches!(returns, Returns::Value(_));
        let body = match &create.function_body {
            Some(CreateFunctionBody::Return(value)) if !gives_rows => {
                Body::Value(Box::new(value.clone()))
            }
            Some(CreateFunctionBody::AsBeforeOptions { body, link_symbol: None }) => {
                body_of(&text_of(body)?, gives_rows)?
            }
            _ => return Err(unsupported("a function without AS 'SELECT …' or RETURN; it")),
        };
        let strict = [FunctionCalledOnNull::Strict, FunctionCalledOnNull::ReturnsNullOnNullInput];
        let is_strict = create.called_on_null.as_ref().is_some_and(|null| strict.contains(null));
        let kind = Kind::Function { returns, is_strict };
        Ok(Self { name: function_name(&create.name)?, parameters, body, kind })
    }

    fn check(&self) -> Result<()> {
        let wrong = |message: String| Err(input(message).because(Reason::InvalidDefinition));
        if self.parameters.len() > PARAMETERS_MAX {
            return wrong(format!("functions have at most {PARAMETERS_MAX} parameters"));
        }
        let mut has_default = false;
        for (place, parameter) in self.parameters.iter().enumerate() {
            let name = parameter.name.as_ref().map(folded);
            let others = self.parameters[..place].iter();
            if name.is_some() && others.clone().any(|other| other.name.as_ref().map(folded) == name)
            {
                return wrong(format!(
                    "parameter name \"{}\" used more than once",
                    name.unwrap_or_default()
                ));
            }
            if has_default && parameter.default.is_none() {
                return wrong(
                    "parameters behind one with a default value have defaults, too".to_owned(),
                );
            }
            has_default |= parameter.default.is_some();
        }
        Ok(())
    }

    /// Whether it stands behind FROM, rather than where a value does.
    pub(crate) fn gives_rows(&self) -> bool {
        matches!(self.body, Body::Rows(_))
    }

    /// Whether it is NULL where an argument is.
    pub(crate) fn is_strict(&self) -> bool {
        matches!(self.kind, Kind::Function { is_strict: true, .. })
    }

    /// Its parameters, as a statement says them.
    pub(crate) fn arguments(&self) -> String {
        let text = |parameter: &Parameter| {
            let Parameter { name, data_type, default } = parameter;
            let name = name.as_ref().map(Ident::to_string);
            let words = name.into_iter().chain(data_type.as_ref().map(DataType::to_string));
            let words = words.collect::<Vec<_>>().join(" ");
            let sign = if data_type.is_some() { "DEFAULT" } else { ":=" };
            match default {
                Some(default) => format!("{words} {sign} {default}"),
                None => words,
            }
        };
        self.parameters.iter().map(text).collect::<Vec<_>>().join(", ")
    }

    /// What it gives, as a statement says it; a macro says nothing of that.
    pub(crate) fn result(&self) -> Option<String> {
        let Kind::Function { returns, .. } = &self.kind else { return None };
        Some(match returns {
            Returns::Value(data_type) => data_type.to_string(),
            Returns::SetOf(data_type) => format!("SETOF {data_type}"),
            Returns::Table(columns) => {
                let columns = columns.iter().map(|(name, of)| format!("{name} {of}"));
                format!("TABLE ({})", columns.collect::<Vec<_>>().join(", "))
            }
        })
    }

    /// Has its body looked at as a statement.
    pub(crate) fn each_query(&mut self, look: impl FnOnce(&mut Statement)) {
        let Ok(prepared) = parse(&self.body_text()) else { return };
        let mut statement = Statement::clone(prepared.statement());
        look(&mut statement);
        let Statement::Query(query) = statement else { return };
        self.body = match (&self.body, only_value(&query)) {
            (Body::Value(_), Some(value)) => Body::Value(Box::new(value)),
            (Body::Value(_), None) => Body::Value(Box::new(Expr::Subquery(query))),
            (Body::Rows(_), _) => Body::Rows(query),
        };
    }

    /// Its body, as a query.
    pub(crate) fn body_text(&self) -> String {
        match &self.body {
            Body::Value(value) => match &**value {
                Expr::Subquery(query) => query.to_string(),
                value => format!("SELECT {value}"),
            },
            Body::Rows(query) => query.to_string(),
        }
    }

    /// Whether its body has queries.
    pub(super) fn reads(&self) -> bool {
        match &self.body {
            Body::Rows(_) => true,
            Body::Value(value) => {
                struct Queries;
                impl Visitor for Queries {
                    type Break = ();
                    fn pre_visit_query(&mut self, _query: &Query) -> ControlFlow<()> {
                        ControlFlow::Break(())
                    }
                }
                value.visit(&mut Queries).is_break()
            }
        }
    }
}

/// What the catalog keeps.
impl Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Ident::with_quote('"', &self.name);
        let arguments = self.arguments();
        let Some(result) = self.result() else {
            return match &self.body {
                Body::Value(value) => write!(f, "CREATE MACRO {name}({arguments}) AS {value}"),
                Body::Rows(query) => write!(f, "CREATE MACRO {name}({arguments}) AS TABLE {query}"),
            };
        };
        let strict = if self.is_strict() { " STRICT" } else { "" };
        let text = self.body_text();
        let text = match text.contains('$') {
            false => format!("$${text}$$"),
            true => format!("'{}'", text.replace('\'', "''")),
        };
        write!(
            f,
            "CREATE FUNCTION {name}({arguments}) RETURNS {result} LANGUAGE sql{strict} AS {text}"
        )
    }
}

/// The exact name of a function.
pub(crate) fn function_name(name: &ObjectName) -> Result<String> {
    let parts = name.0.iter().map(|part| part.as_ident()).collect::<Option<Vec<_>>>();
    match parts.as_deref() {
        Some([name]) => Ok(folded(name)),
        Some([schema, name]) if matches!(folded(schema).as_str(), "main" | "public") => {
            Ok(folded(name))
        }
        _ => Err(input(format!("{name} names no function: there is one schema, main"))),
    }
}

/// The parser takes a name in quotes with them.
fn parameter_name(name: &Ident) -> Ident {
    let quoted = name.value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    quoted.map_or_else(|| name.clone(), |inner| Ident::with_quote('"', inner.replace("\"\"", "\"")))
}

fn refuse_temporary(is_temporary: bool) -> Result<()> {
    match is_temporary {
        true => Err(unsupported("a temporary function")),
        false => Ok(()),
    }
}

fn text_of(body: &Expr) -> Result<String> {
    let Expr::Value(ValueWithSpan { value, .. }) = body else {
        return Err(input("the body of a function is a text"));
    };
    match value {
        Value::SingleQuotedString(text) | Value::EscapedStringLiteral(text) => Ok(text.clone()),
        Value::DollarQuotedString(text) => Ok(text.value.clone()),
        _ => Err(input("the body of a function is a text")),
    }
}

/// The one query of a body; the first row of what gives a value.
fn body_of(text: &str, gives_rows: bool) -> Result<Body> {
    let prepared = parse(text.trim().trim_end_matches(';'))?;
    let Statement::Query(query) = prepared.statement() else {
        return Err(unsupported("a function whose body is no query"));
    };
    prepared.refuse_changes_within()?;
    if gives_rows {
        return Ok(Body::Rows(query.clone()));
    }
    if let Some(value) = only_value(query) {
        return Ok(Body::Value(Box::new(value)));
    }
    let mut query = query.clone();
    if query.limit_clause.is_none() && query.fetch.is_none() && !is_one_group(&query) {
        let one = Expr::value(Value::Number("1".to_owned(), false));
        query.limit_clause =
            Some(LimitClause::LimitOffset { limit: Some(one), offset: None, limit_by: vec![] });
    }
    Ok(Body::Value(Box::new(Expr::Subquery(query))))
}

/// The value of a SELECT that reads nothing.
fn only_value(query: &Query) -> Option<Expr> {
    let SetExpr::Select(select) = &*query.body else { return None };
    let is_bare = query.with.is_none()
        && query.order_by.is_none()
        && query.limit_clause.is_none()
        && query.fetch.is_none()
        && select.from.is_empty()
        && select.selection.is_none()
        && select.having.is_none()
        && select.distinct.is_none();
    match select.projection.as_slice() {
        [SelectItem::UnnamedExpr(value) | SelectItem::ExprWithAlias { expr: value, .. }]
            if is_bare =>
        {
            Some(value.clone())
        }
        _ => None,
    }
}

/// Whether a query gives one row, as far as its words tell: its one value is an aggregate that everybody knows.
fn is_one_group(query: &Query) -> bool {
    let SetExpr::Select(select) = &*query.body else { return false };
    let is_known = |name: &ObjectName| {
        matches!(&*name.to_string().to_lowercase(), "count" | "sum" | "min" | "max" | "avg")
    };
    let no_groups = datafusion::sql::sqlparser::ast::GroupByExpr::Expressions(vec![], vec![]);
    let value = match select.projection.as_slice() {
        [SelectItem::UnnamedExpr(value) | SelectItem::ExprWithAlias { expr: value, .. }] => value,
        _ => return false,
    };
    let is_aggregate =
        matches!(value, Expr::Function(call) if call.over.is_none() && is_known(&call.name));
    is_aggregate && select.group_by == no_groups && select.having.is_none()
}

#[cfg(test)]
mod tests;
