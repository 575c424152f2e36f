//! Statements and their columns, types and errors, as PostgreSQL describes them.

mod deep;
mod provider;

use gadus_binder::types::SqlType;
use gadus_binder::{BindError, BoundStatement, bind_statement};
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

#[test]
fn literals_are_read_as_in_postgresql() {
    compare_with("literals", include_str!("statements/literals.txt"), describe_fully);
}

#[test]
fn changes_are_bound_as_in_postgresql() {
    compare_with("changes", include_str!("statements/changes.txt"), describe_fully);
}

#[test]
fn recursion_is_checked_as_in_postgresql() {
    compare_with("recursion", include_str!("statements/recursion.txt"), describe_fully);
}

#[test]
fn trees_have_one_form() {
    compare_with("trees", include_str!("statements/trees.txt"), tree);
}

#[test]
fn correlated_queries_become_joins() {
    compare_with("unnest", include_str!("statements/unnest.txt"), unnested_tree);
}

#[test]
fn question_marks_are_numbered_by_their_order() {
    let tables = Tables::new();
    let text = "SELECT a + ? FROM (SELECT a, ?::text FROM t WHERE b = ?) AS x LIMIT ?";
    let types = "parameters: integer, text, text, bigint";
    assert_eq!(describe(&tables, text).last().map(String::as_str), Some(types));
}

fn compare(file: &str, text: &str) {
    compare_with(file, text, describe);
}

/// A statement in each line, its description indented below it.
fn compare_with(file: &str, text: &str, describe: fn(&Tables, &str) -> Vec<String>) {
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
    assert!(count > 10, "{file} has statements");
    assert!(failures.is_empty(), "{} of {count}:\n{}", failures.len(), failures.join("\n"));
}

/// Returns the bound tree of a statement.
fn tree(tables: &Tables, text: &str) -> Vec<String> {
    shown(bound(tables, text))
}

/// Returns the bound tree of a statement after unnesting.
fn unnested_tree(tables: &Tables, text: &str) -> Vec<String> {
    shown(bound(tables, text).and_then(|mut bound| bound.unnest().map(|()| bound)))
}

fn bound(tables: &Tables, text: &str) -> Result<BoundStatement, BindError> {
    let parsed = parse_statement(text)?;
    bind_statement(tables, &parsed.statement, &[])
}

fn shown(bound: Result<BoundStatement, BindError>) -> Vec<String> {
    match bound {
        Ok(bound) => bound.query.to_string().lines().map(str::to_owned).collect(),
        Err(error) => vec![format!("error {}: {error}", error.sql_state)],
    }
}

/// Describes a statement; an error with its position, detail and hint.
fn describe_fully(tables: &Tables, text: &str) -> Vec<String> {
    let bound = parse_statement(text).map_err(BindError::from);
    let Err(error) = bound.and_then(|parsed| bind_statement(tables, &parsed.statement, &[])) else {
        return describe(tables, text);
    };
    let position = error.span.map(|span| format!(" at {}", span.start + 1)).unwrap_or_default();
    let mut described = vec![format!("error {}{position}: {error}", error.sql_state)];
    described.extend(error.detail.map(|detail| format!("detail: {detail}")));
    described.extend(error.hint.map(|hint| format!("hint: {hint}")));
    described
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
