//! Kinds of statements, and the options of COPY.

use super::{CopyFormat, CopyWhat, StatementKind};
use crate::copy_text::CopyHeader;
use crate::session::parse;

#[test]
fn statements_have_their_kinds() {
    for (text, kind) in [
        ("SELECT 1", StatementKind::Query),
        ("WITH a AS (SELECT 1) SELECT * FROM a", StatementKind::Query),
        ("SELECT * FROM t FOR UPDATE", StatementKind::Other),
        ("BEGIN ISOLATION LEVEL READ COMMITTED", StatementKind::Begin),
        ("START TRANSACTION", StatementKind::Begin),
        ("END", StatementKind::Commit),
        ("ROLLBACK TO a", StatementKind::RollbackToSavepoint),
        ("abort", StatementKind::Rollback),
        ("RESET ALL", StatementKind::Set),
        ("SHOW server_version", StatementKind::Show),
        ("COPY t TO STDOUT", StatementKind::CopyStream),
        ("COPY t TO '/a.csv'", StatementKind::Other),
        ("VACUUM t", StatementKind::Other),
    ] {
        let prepared = parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(prepared.kind(), kind, "{text}");
    }
}

#[test]
fn copies_have_postgresqls_options() {
    let request = |text: &str| parse(text)?.copy_request();
    let text = request("COPY T FROM STDIN").expect("known").expect("a copy");
    assert_eq!((text.form.delimiter, text.form.null.as_str()), (b'\t', "\\N"));
    assert!(matches!(text.what, CopyWhat::Into { table, .. } if table == "t"));
    let csv = "COPY (SELECT 1) TO STDOUT (FORMAT csv, HEADER true, DELIMITER ';')";
    let csv = request(csv).expect("known").expect("a copy").form;
    assert_eq!((csv.format, csv.delimiter, csv.header), (CopyFormat::Csv, b';', CopyHeader::Names));
    for on in ["WITH (FREEZE ON)", "(freeze)", "WITH (freeze true)", "(HEADER off)"] {
        assert!(request(&format!("copy t from stdin {on}")).is_ok(), "{on}");
    }
    assert!(request("COPY t FROM STDIN (FORMAT csv, DELIMITER '\"')").is_err());
    assert!(request("COPY t FROM STDIN (FORMAT binary, NULL 'x')").is_err());
}
