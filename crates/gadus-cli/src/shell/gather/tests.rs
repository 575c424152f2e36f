//! Pieces of scripts, and the lines on which they begin.

use super::{Gatherer, Kind};

fn pieces(script: &str) -> Vec<(Kind, String, usize)> {
    let mut gatherer = Gatherer::default();
    let mut pieces = Vec::new();
    for line in script.lines() {
        pieces.extend(gatherer.line(line));
    }
    pieces.extend(gatherer.finish());
    pieces.into_iter().map(|piece| (piece.kind, piece.text, piece.line)).collect()
}

fn statement(text: &str, line: usize) -> (Kind, String, usize) {
    (Kind::Statement, text.to_owned(), line)
}

#[test]
fn statements_take_as_many_lines_as_they_need() {
    assert_eq!(
        pieces("SELECT 1; SELECT\n2;\n\nSELECT 3"),
        [statement("SELECT 1", 1), statement("SELECT\n2", 1), statement("SELECT 3", 4)]
    );
}

#[test]
fn a_comment_before_a_statement_does_not_move_its_line() {
    let found = pieces("-- first; of all\n/* and\nmore */ SELECT 1;\n-- last\nSELECT 2;");
    assert_eq!(found.iter().map(|(_, _, line)| *line).collect::<Vec<_>>(), [3, 5]);
}

#[test]
fn commands_stand_between_statements_only() {
    let found = pieces(".mode csv\nSELECT 1\n.5;\n  .quit  ");
    assert_eq!(
        found,
        [
            (Kind::Command, ".mode csv".to_owned(), 1),
            statement("SELECT 1\n.5", 2),
            (Kind::Command, ".quit".to_owned(), 4),
        ]
    );
}

#[test]
fn empty_statements_and_comments_alone_are_nothing() {
    assert_eq!(pieces(";;\n-- nothing\n/* no;thing */;\n"), []);
    assert_eq!(pieces("SELECT 1;; -- done\n.help").len(), 2);
}
