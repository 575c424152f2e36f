//! Options of COPY that are taken from its tokens.

use super::super::parse;
use super::*;
use datafusion::sql::sqlparser::ast::Statement;

fn taken(text: &str) -> Vec<(String, Vec<String>)> {
    let words = parse(text).unwrap().copy_words.map(|words| words.0.clone()).unwrap_or_default();
    let texts = |values: Vec<Word>| values.iter().map(Word::folded).collect();
    words.into_iter().map(|(name, values)| (name, texts(values))).collect()
}

#[test]
fn what_the_parser_does_not_know_is_taken_and_the_rest_left() {
    let gzip = [("compression".to_owned(), vec!["gzip".to_owned()])];
    for (text, left) in [
        ("COPY t TO 'f' (COMPRESSION gzip)", 0),
        ("COPY t TO 'f' (FORMAT csv, COMPRESSION 'gzip')", 1),
        ("COPY t TO 'f' WITH (compression GZIP, FORMAT csv)", 1),
        ("COPY (SELECT (1) FROM u) TO 'f' (HEADER, COMPRESSION gzip, FORMAT csv)", 2),
        ("COPY t (a, b) FROM 'f' (FORMAT csv, COMPRESSION gzip, HEADER)", 2),
    ] {
        assert_eq!(taken(text), gzip, "{text}");
        let prepared = parse(text).unwrap();
        let Statement::Copy { options, .. } = prepared.statement() else { panic!("{text}") };
        assert_eq!(options.len(), left, "{text}");
    }
    assert_eq!(taken("COPY compression TO 'f' (FORMAT csv)"), []);
    for wrong in ["COPY t TO 'f' (COMPRESSION gzip 7)", "COPY t TO 'f' (COMPRESSION (gzip,))"] {
        assert_eq!(parse(wrong).unwrap_err().reason(), Some(Reason::Syntax), "{wrong}");
    }
}
