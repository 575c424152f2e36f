//! MERGE, CREATE VIEW and CREATE SCHEMA that the parser cannot read, but `gadus-syntax` can.
//!
//! - A statement of the same verb about the same relation stands for them; it is never run.

use super::Prepared;
use crate::room::with_room;
use datafusion::sql::sqlparser::ast::Statement;
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::parser::Parser;
use datafusion::sql::sqlparser::tokenizer::{Token, Tokenizer};
use gadus_engine::Error;
use gadus_syntax::ast::{Name, ObjectName, Statement as SyntaxStatement};
use gadus_syntax::parse_statement;
use std::sync::Arc;

/// Parses a statement that the planner of texts cannot read.
pub(super) fn stand_in(text: &str, unread: Error) -> Option<Prepared> {
    let (statement, is_view) = with_room(true, || known(text))?;
    let mut parameters = 0;
    for token in Tokenizer::new(&GenericDialect {}, text).tokenize().ok()? {
        if let Token::Placeholder(name) = token {
            parameters = parameters.max(name.strip_prefix('$')?.parse().ok()?);
        }
    }
    // A view has no parameters: binding refuses them.
    let parameters = if is_view { 0 } else { parameters };
    let bare = Prepared::bare(text, statement);
    Some(Prepared { parameters, unread: Some(Arc::new(unread)), is_deep: true, ..bare })
}

fn known(text: &str) -> Option<(Statement, bool)> {
    let quoted = |name: &Name| format!("\"{}\"", name.text.replace('"', "\"\""));
    let list = |names: &[Name]| names.iter().map(quoted).collect::<Vec<_>>();
    let object = |name: &ObjectName| list(&name.parts).join(".");
    let (known, is_view) = match parse_statement(text).ok()?.statement {
        SyntaxStatement::Merge(merge) => {
            let table = object(&merge.table);
            (format!("MERGE INTO {table} USING t ON TRUE WHEN MATCHED THEN DELETE"), false)
        }
        SyntaxStatement::CreateView(view) => {
            let replace = if view.or_replace { "OR REPLACE " } else { "" };
            let temporary = if view.temporary { "TEMPORARY " } else { "" };
            let columns = match view.columns.is_empty() {
                true => String::new(),
                false => format!(" ({})", list(&view.columns).join(", ")),
            };
            let name = object(&view.name);
            (format!("CREATE {replace}{temporary}VIEW {name}{columns} AS VALUES (NULL)"), true)
        }
        SyntaxStatement::CreateSchema(schema) => {
            let exists = if schema.if_not_exists { "IF NOT EXISTS " } else { "" };
            (format!("CREATE SCHEMA {exists}{}", quoted(schema.name.as_ref()?)), false)
        }
        _ => return None,
    };
    Some((Parser::parse_sql(&GenericDialect {}, &known).ok()?.pop()?, is_view))
}
