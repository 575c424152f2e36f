//! Options of COPY that are taken from its tokens.

use super::super::parse;
use super::*;
use datafusion::sql::sqlparser::ast::Statement as Parsed;

fn taken(text: &str) -> Vec<(String, Vec<String>)> {
    let words = parse(text).unwrap().copy_words.map(|words| words.0.clone()).unwrap_or_default();
    let texts = |values: Vec<Word>| values.iter().map(Word::folded).collect();
    words.into_iter().map(|(name, values)| (name, texts(values))).collect()
}

#[test]
fn options_are_taken_and_the_rest_left() {
    let gzip = ("compression".to_owned(), vec!["gzip".to_owned()]);
    let csv = ("format".to_owned(), vec!["csv".to_owned()]);
    let header = ("header".to_owned(), Vec::new());
    for (text, expected) in [
        ("COPY t TO 'f' (COMPRESSION gzip)", vec![gzip.clone()]),
        ("COPY t TO 'f' (FORMAT csv, COMPRESSION 'gzip')", vec![csv.clone(), gzip.clone()]),
        ("COPY t TO 'f' WITH (compression GZIP, FORMAT csv)", vec![gzip.clone(), csv.clone()]),
        ("COPY (SELECT (1) FROM u) TO 'f' (HEADER)", vec![header.clone()]),
        ("COPY t (a, b) FROM 'f' CSV HEADER", vec![csv, ("header".into(), vec!["true".into()])]),
        ("COPY compression TO 'f' ;", vec![]),
    ] {
        assert_eq!(taken(text), expected, "{text}");
        let prepared = parse(text).unwrap();
        let Parsed::Copy { options, legacy_options, .. } = prepared.statement() else {
            panic!("{text}")
        };
        assert!(options.is_empty() && legacy_options.is_empty(), "{text}");
    }
    for wrong in ["COPY t TO 'f' (COMPRESSION gzip 7)", "COPY t TO 'f' (COMPRESSION (gzip,))"] {
        assert_eq!(parse(wrong).unwrap_err().reason(), Some(Reason::Syntax), "{wrong}");
    }
}
