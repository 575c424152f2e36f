//! SHOW TABLES, DESCRIBE and EXPLAIN PLACEMENT: questions that are asked as queries.

use super::modify::{folded, table_name};
use crate::error::from_parser;
use crate::provider::MAIN_SCHEMA;
use datafusion::sql::sqlparser::ast::{
    DescribeAlias, HiveDescribeFormat, ObjectName, ObjectNamePart, Statement,
};
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::parser::Parser;
use gadus_engine::Result;

/// The table whose placement is asked for; none where a statement does something else.
pub(super) fn placed_table(statement: &Statement) -> Option<&ObjectName> {
    match statement {
        Statement::ExplainTable {
            describe_alias: DescribeAlias::Explain,
            hive_format: Some(HiveDescribeFormat::Formatted),
            table_name,
            ..
        } => Some(table_name),
        _ => None,
    }
}

/// The schema and the name of what is to be described.
pub(super) fn described(name: &ObjectName) -> (String, String) {
    let part = |part: &ObjectNamePart| match part.as_ident() {
        Some(ident) => folded(ident),
        None => part.to_string(),
    };
    let mut parts = name.0.iter().rev().map(part);
    let name = parts.next().unwrap_or_default();
    let schema = parts.next().filter(|schema| schema != "public");
    (schema.unwrap_or_else(|| MAIN_SCHEMA.to_owned()), name)
}

/// SHOW TABLES, DESCRIBE and EXPLAIN PLACEMENT as queries.
pub(super) fn describe(statement: &Statement) -> Result<Option<Statement>> {
    let text = match (statement, placed_table(statement)) {
        (_, Some(table)) => format!(
            "SELECT thread, processor, memory_node, first_segment, segments, rows, dealt \
             FROM gadus.placement WHERE table_name = '{}' ORDER BY thread",
            table_name(table)?.replace('\'', "''")
        ),
        (Statement::ShowTables { .. }, None) => {
            "SELECT table_name AS name FROM information_schema.tables \
             WHERE table_schema = 'main' ORDER BY table_name"
                .to_owned()
        }
        (Statement::ExplainTable { table_name, .. }, None) => {
            let (schema, name) = described(table_name);
            format!(
                "SELECT column_name, CASE data_type WHEN 'USER-DEFINED' THEN udt_name ELSE data_type END AS data_type, \
                 is_nullable FROM information_schema.columns \
                 WHERE table_schema = '{}' AND table_name = '{}' ORDER BY ordinal_position",
                schema.replace('\'', "''"),
                name.replace('\'', "''")
            )
        }
        _ => return Ok(None),
    };
    let mut parsed =
        Parser::parse_sql(&GenericDialect {}, &text).map_err(|error| from_parser(&error))?;
    Ok(parsed.pop())
}
