//! PostgreSQL's functions as statements call them: overloads, NULLs, columns and errors.

use crate::statement::{refused, rows, run, with_table};
use gadus::Reason;

fn assert_rows(cases: &[(&str, &[&str])]) {
    let connection = with_table();
    for (sql, expected) in cases {
        assert_eq!(rows(&connection, sql), *expected, "{sql}");
    }
}

#[test]
fn functions_take_literals_columns_and_nulls() {
    assert_rows(&[
        (
            "SELECT md5('a'), md5('\\x61'::bytea), md5(NULL)",
            &["0cc175b9c0f1b6a831c399e269772661 0cc175b9c0f1b6a831c399e269772661 NULL"],
        ),
        (
            "SELECT encode(sha224('a'), 'hex') = 'abd37534c7d9a2efb9465de931cd7055ffdb8879563ae98078d6d6d5'",
            &["true"],
        ),
        (
            "SELECT id, format('%s-%I-%L', a, b, b) FROM t ORDER BY id",
            &["1 10-x-'x'", "2 20-y-'y'", "3 -z-'z'"],
        ),
        (
            "SELECT quote_nullable(NULL), quote_literal(42), quote_ident('User')",
            &["NULL '42' \"User\""],
        ),
        ("SELECT get_bit('\\x1234'::bytea, 10), bit_count('\\x1234'::bytea)", &["1 5"]),
        ("SELECT div(-7.5, 2), scale(1.10), min_scale(1.10), factorial(5)", &["-3 2 1 120"]),
        ("SELECT width_bucket(5.35, 0.024, 10.06, 5), width_bucket(3, ARRAY[1, 3, 5])", &["3 2"]),
        ("SELECT sind(a * 3) FROM t WHERE id = 1", &["0.5"]),
        (
            "SELECT to_hex(255::integer), to_hex((-1)::integer), to_hex(-1::bigint)",
            &["ff ffffffff ffffffffffffffff"],
        ),
        ("SELECT make_timestamp(2013, 7, 15, 8, 15, 23.5)::text", &["2013-07-15 08:15:23.5"]),
        ("SELECT unistr('d\\0061ta'), array_to_string(parse_ident('A.\"B\"'), '/')", &["data a/B"]),
    ]);
}

#[test]
fn patterns_are_postgresqls() {
    assert_rows(&[
        (
            "SELECT 'two words' ~ '\\mwords\\M', 'ABC' ~* 'b', 'a' !~ '[[:digit:]]', NULL ~ 'a.'",
            &["true true true NULL"],
        ),
        (
            "SELECT 'abc' SIMILAR TO '%b%', 'abc' SIMILAR TO 'b', 'a%' NOT SIMILAR TO 'a#%' ESCAPE '#'",
            &["true false false"],
        ),
        (
            "SELECT substring('foobar' FROM 'o(.)b'), substring('foobar' FROM '%#\"o_b#\"%' FOR '#'), substring('foobar' FROM 2 FOR 3)",
            &["o oob oob"],
        ),
        ("SELECT array_to_string(regexp_match('abcd', '(a|ab)(c|bcd)(d*)'), '/')", &["ab/c/d"]),
        (
            "SELECT regexp_replace('foobarbaz', 'b(..)', 'X\\1Y', 'g'), regexp_replace('aaa', 'a', 'b', 1, 2)",
            &["fooXarYXazY aba"],
        ),
        (
            "SELECT regexp_count('ABCABC', 'A.', 2), regexp_instr('ABC', 'c', 1, 1, 1, 'i'), regexp_substr('ABC', 'b', 1, 1, 'i')",
            &["1 4 B"],
        ),
        ("SELECT array_to_string(regexp_split_to_array('a b  c', '\\s+'), '|')", &["a|b|c"]),
        ("SELECT * FROM regexp_split_to_table('a,b', ',') AS piece", &["a", "b"]),
        ("SELECT regexp_split_to_table('a,b', ',')", &["a", "b"]),
        ("SELECT m[1] FROM regexp_matches('foobar', 'o|b', 'g') AS m", &["o", "o", "b"]),
        ("SELECT id FROM t WHERE b ~ '^(?:x|z)$' ORDER BY id", &["1", "3"]),
    ]);
}

#[test]
fn templates_write_and_read_numbers_and_times() {
    assert_rows(&[
        (
            "SELECT to_char(a, 'FM009'), to_char(a * -1.5, '999.99PR'), to_char(a::double precision, '9.9EEEE') FROM t WHERE id = 1",
            &["010  <15.00>  1.0e+01"],
        ),
        (
            "SELECT to_number('12,454.8-', '99G999D9S')::text, to_number('42', '99')",
            &["-12454.8 42"],
        ),
        (
            "SELECT to_char(TIMESTAMP '2021-01-03 15:04:05.6', 'FMDay, DDth Mon YYYY HH12:MI:SS.MS AM')",
            &["Sunday, 03rd Jan 2021 03:04:05.600 PM"],
        ),
        (
            "SELECT to_char(DATE '2021-01-03', 'IYYY-IW'), to_char(INTERVAL '27 hours', 'HH24:MI'), to_char(NULL::timestamp, 'YYYY')",
            &["2020-53 27:00 NULL"],
        ),
        (
            "SELECT to_date('05 Dec 2000', 'DD Mon YYYY')::text, to_timestamp('2011-12-18 11:38 -05', 'YYYY-MM-DD HH12:MI TZH')::text",
            &["2000-12-05 2011-12-18 16:38:00+00"],
        ),
        ("SELECT to_timestamp(1284352323.5)::text", &["2010-09-13 04:32:03.5+00"]),
    ]);
}

#[test]
fn documents_are_changed_and_compared() {
    assert_rows(&[
        (
            "SELECT jsonb_set('{\"a\": [1, 2]}', '{a,0}', '9'), jsonb_set('{}', ARRAY['b'], '1', false)",
            &["{\"a\": [9, 2]} {}"],
        ),
        (
            "SELECT jsonb_set_lax('{\"a\": 1}', '{a}', NULL, true, 'delete_key'), jsonb_insert('[1]', '{0}', '0')",
            &["{} [0, 1]"],
        ),
        (
            "SELECT json_strip_nulls('{\"a\": null, \"b\": 1}'), jsonb_delete('{\"a\": 1}', 'a'), jsonb_delete('[1, 2]', 0)",
            &["{\"b\":1} {} [2]"],
        ),
        (
            "SELECT jsonb_contains('{\"a\": 1, \"b\": 2}', '{\"b\": 2.0}'), jsonb_exists_any('{\"a\": 1}', '{x,a}')",
            &["true true"],
        ),
        (
            "SELECT json_object('{a,1,b,NULL}'), json_object('{a}', '{1}'), jsonb_delete_path('{\"a\": {\"b\": 1}}', '{a,b}')",
            &["{\"a\" : \"1\", \"b\" : null} {\"a\" : \"1\"} {\"a\": {}}"],
        ),
    ]);
}

#[test]
fn errors_are_postgresqls() {
    let connection = with_table();
    for (sql, state, message) in [
        ("SELECT get_bit('\\x00'::bytea, 8)", "2202E", "index 8 out of valid range, 0..7"),
        ("SELECT format('%s')", "22023", "too few arguments for format()"),
        ("SELECT set_byte(''::bytea, 3000000000, 0)", "22003", "integer out of range"),
        (
            "SELECT regexp_match(b, '(') FROM t",
            "2201B",
            "invalid regular expression: parentheses () not balanced",
        ),
        ("SELECT 'a' ~ '[b-a]'", "2201B", "invalid regular expression: invalid character range"),
        ("SELECT regexp_count('', '', 0)", "22023", "invalid value for parameter \"start\": 0"),
        ("SELECT factorial(-1)", "22003", "factorial of a negative number is undefined"),
    ] {
        let error = refused(&connection, sql);
        assert_eq!(error.message(), message, "{sql}");
        assert_eq!(error.diagnosis().and_then(|found| found.sql_state), Some(state), "{sql}");
    }
    let error = refused(&connection, "SELECT regexp_match('', '', 'g')");
    assert_eq!(
        error.diagnosis().and_then(|found| found.hint.as_deref()),
        Some("Use the regexp_matches function instead.")
    );
    let error = refused(&connection, "SELECT md5(1, 2)");
    assert_eq!(error.message(), "function md5(bigint, bigint) does not exist");
    assert_eq!(error.reason(), Some(Reason::UnknownFunction));
}

#[test]
fn results_beyond_the_limit_of_values_are_refused() {
    let connection = with_table();
    run(&connection, "SET gadus.memory_limit = '1GB'");
    let error = refused(&connection, "SELECT length(format('%2000000000s', b)) FROM t");
    assert_eq!(error.diagnosis().and_then(|found| found.sql_state), Some("54000"));
}
