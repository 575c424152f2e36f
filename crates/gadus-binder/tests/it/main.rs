//! Statements and their columns, types and errors, as PostgreSQL describes them.

mod deep;
mod provider;

use gadus_binder::bind_statement;
use gadus_binder::types::SqlType;
use gadus_syntax::parse_statement;
use provider::Tables;

#[test]
fn names_are_resolved_as_in_postgresql() {
    compare("names", include_str!("statements/names.txt"));
}

#[test]
fn types_are_resolved_as_in_postgresql() {
    compare("types", include_str!("statements/types.txt"));
}

#[test]
fn groups_windows_and_orders_are_resolved_as_in_postgresql() {
    compare("groups", include_str!("statements/groups.txt"));
}

/// A statement in each line, its description indented below it.
fn compare(file: &str, text: &str) {
    let tables = Tables::new();
    let mut statement = None;
    let mut wanted = Vec::new();
    let mut failures = Vec::new();
    let mut count = 0;
    for line in text.lines().chain([""]).filter(|line| !line.starts_with('#')) {
        match line.strip_prefix("  ") {
            Some(part) => wanted.push(part.to_owned()),
            None if line.is_empty() => {
                let Some(statement) = statement.take() else { continue };
                let found = describe(&tables, statement);
                count += 1;
                if found != wanted {
                    failures.push(format!("{statement}\n  wanted {wanted:?}\n  found  {found:?}"));
                }
                wanted.clear();
            }
            None => statement = Some(line),
        }
    }
    assert!(count > 40, "{file} has statements");
    assert!(failures.is_empty(), "{} of {count}:\n{}", failures.len(), failures.join("\n"));
}

fn describe(tables: &Tables, text: &str) -> Vec<String> {
    let parsed = match parse_statement(text) {
        Ok(parsed) => parsed.statement,
        Err(error) => return vec![format!("error {}: {error}", error.kind.sql_state())],
    };
    match bind_statement(tables, &parsed, &[]) {
        Ok(bound) => {
            let columns = bound.query.outputs.iter();
            let columns = columns.map(|output| format!("{} {}", output.name, output.data_type));
            let columns = columns.collect::<Vec<_>>().join(", ");
            let mut described =
                vec![if columns.is_empty() { "no columns".into() } else { columns }];
            if !bound.parameters.is_empty() {
                let types = bound.parameters.iter().map(SqlType::to_string).collect::<Vec<_>>();
                described.push(format!("parameters: {}", types.join(", ")));
            }
            described
        }
        Err(error) => vec![format!("error {}: {error}", error.sql_state)],
    }
}
