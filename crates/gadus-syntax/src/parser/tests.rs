//! Tests of precedences, classes of key words, forms of queries, and errors.

use super::*;
use crate::ast::{ExprKind, FromKind, Literal, QueryBody, Statement, TargetKind};

/// Returns an expression with all of its parentheses.
fn shown(text: &str) -> String {
    format_expr(&parse_expression(text).unwrap_or_else(|error| panic!("{text}: {error}")))
}

fn format_list(exprs: &[Expr], between: &str) -> String {
    exprs.iter().map(format_expr).collect::<Vec<_>>().join(between)
}

fn format_expr(expr: &Expr) -> String {
    match &expr.kind {
        ExprKind::Literal(Literal::Integer(digits) | Literal::Decimal(digits)) => digits.clone(),
        ExprKind::Literal(Literal::Text(text)) => format!("'{text}'"),
        ExprKind::Literal(literal) => format!("{literal:?}").to_lowercase(),
        ExprKind::Column(parts) => {
            parts.iter().map(|part| &*part.text).collect::<Vec<_>>().join(".")
        }
        ExprKind::Unary { operator, operand } => {
            format!("({}{})", operator.operator.text(), format_expr(operand))
        }
        ExprKind::Binary { operator, left, right } => {
            format!("({} {} {})", format_expr(left), operator.operator.text(), format_expr(right))
        }
        ExprKind::And(operands) => format!("({})", format_list(operands, " AND ")),
        ExprKind::Or(operands) => format!("({})", format_list(operands, " OR ")),
        ExprKind::Not(operand) => format!("(NOT {})", format_expr(operand)),
        ExprKind::IsTest { operand, test, negated } => {
            let not = if *negated { "NOT " } else { "" };
            format!("({} IS {not}{test:?})", format_expr(operand))
        }
        ExprKind::IsDistinctFrom { left, right, negated } => {
            let not = if *negated { "NOT " } else { "" };
            format!("({} IS {not}DISTINCT FROM {})", format_expr(left), format_expr(right))
        }
        ExprKind::Between { operand, low, high, .. } => {
            format!(
                "({} BETWEEN {} AND {})",
                format_expr(operand),
                format_expr(low),
                format_expr(high)
            )
        }
        ExprKind::InList { operand, list, .. } => {
            format!("({} IN [{}])", format_expr(operand), format_list(list, ", "))
        }
        ExprKind::Like { operand, pattern, .. } => {
            format!("({} LIKE {})", format_expr(operand), format_expr(pattern))
        }
        ExprKind::Cast { operand, data_type, .. } => {
            let name = &data_type.name.parts.last().unwrap().text;
            let arrays = "[]".repeat(data_type.array_bounds.len());
            format!("{}::{name}{arrays}", format_expr(operand))
        }
        ExprKind::AtTimeZone { operand, zone: Some(zone) } => {
            format!("({} AT {})", format_expr(operand), format_expr(zone))
        }
        ExprKind::Collate { operand, .. } => format!("({} COLLATE)", format_expr(operand)),
        ExprKind::Subscript { operand, index } => {
            format!("{}[{}]", format_expr(operand), format_expr(index))
        }
        ExprKind::Call(call) => {
            let arguments = call.arguments.iter().map(|argument| format_expr(&argument.value));
            let name = &call.name.parts.last().unwrap().text;
            format!("{name}({})", arguments.collect::<Vec<_>>().join(", "))
        }
        ExprKind::Row { fields, .. } => format!("row({})", format_list(fields, ", ")),
        ExprKind::Array(elements) => format!("[{}]", format_list(elements, ", ")),
        other => format!("{other:?}"),
    }
}

fn error_of(text: &str) -> String {
    match parse_statement(text) {
        Err(error) => error.message,
        Ok(statement) => panic!("{text}: {statement:?}"),
    }
}

fn parses(text: &str) -> Statement {
    parse_statement(text).unwrap_or_else(|error| panic!("{text}: {error}")).statement
}

#[test]
fn operators_bind_as_in_postgresql() {
    for (text, expected) in [
        ("a OR b AND NOT c = d", "(a OR (b AND (NOT (c = d))))"),
        ("a IS NOT DISTINCT FROM b AND c = d", "((a IS NOT DISTINCT FROM b) AND (c = d))"),
        ("a IS DISTINCT FROM b OR c", "((a IS DISTINCT FROM b) OR c)"),
        ("-2 ^ 2", "((-2) ^ 2)"),
        ("2 ^ 3 ^ 2", "((2 ^ 3) ^ 2)"),
        ("-a::int", "(-a::int4)"),
        ("-a[1]", "(-a[1])"),
        ("a + b * c - d", "((a + (b * c)) - d)"),
        ("a || b + c", "(a || (b + c))"),
        ("a -> 'x' = b", "((a -> 'x') = b)"),
        ("a < b IS NULL", "((a < b) IS Null)"),
        ("a IS NULL = b", "((a IS Null) = b)"),
        ("a IS NULL IS NOT NULL", "((a IS Null) IS NOT Null)"),
        ("NOT a IS NULL", "(NOT (a IS Null))"),
        ("a BETWEEN b AND c AND d", "((a BETWEEN b AND c) AND d)"),
        ("a BETWEEN b + 1 AND c OR d", "((a BETWEEN (b + 1) AND c) OR d)"),
        ("a = b LIKE c", "(a = (b LIKE c))"),
        ("a LIKE b || c", "(a LIKE (b || c))"),
        ("a NOT IN (1, 2) = b", "((a IN [1, 2]) = b)"),
        ("a AT TIME ZONE b::text", "(a AT b::text)"),
        ("a AT TIME ZONE 'x' AT TIME ZONE 'y'", "((a AT 'x') AT 'y')"),
        ("a COLLATE \"C\" < b", "((a COLLATE) < b)"),
        ("@ a + b", "(@(a + b))"),
        ("- - 1", "(-(-1))"),
        ("a::text[]::text", "a::text[]::text"),
        ("(a, b) = (1, 2)", "(row(a, b) = row(1, 2))"),
        ("extract(year FROM a) + 1", "(extract('year', a) + 1)"),
        ("position(a IN b)", "position(b, a)"),
        ("trim(LEADING 'x' FROM a)", "ltrim(a, 'x')"),
        ("substring(a FOR 3)", "substring(a, 1, 3)"),
        ("a OPERATOR(pg_catalog.+) b * c", "(a + (b * c))"),
        ("a isnull", "(a IS Null)"),
        ("1 == 2", "(1 = 2)"),
        ("a = ? AND b ? 'x'", "((a = Parameter(Next(1))) AND (b ? 'x'))"),
    ] {
        assert_eq!(shown(text), expected, "{text}");
    }
}

#[test]
fn operators_that_do_not_associate_are_refused() {
    for text in ["a < b < c", "a = b = c", "a LIKE b LIKE c", "a IS DISTINCT FROM b IS NULL"] {
        assert!(parse_expression(text).is_err(), "{text}");
    }
}

#[test]
fn key_words_are_names_by_their_class() {
    for text in [
        "SELECT sort, view, top, name, value, type, year FROM t",
        "SELECT a AS select, b value FROM t AS sort",
        "SELECT left('abc', 2), right(a, 1), replace(a, 'b', 'c')",
        "SELECT t.select, s.t.order FROM t",
        "SELECT 1 qualify",
        "CREATE TABLE view (sort int, top text, \"select\" int)",
        "SELECT between.a FROM between",
        "SELECT interval, date, timestamp '2020-01-01', interval '1' day, bigint '1' FROM t",
        "SELECT qualify FROM qualify",
        "SELECT a is, b IS NULL FROM t",
        "WITH recursive (a) AS (SELECT 1) SELECT a FROM recursive",
        "SELECT asof FROM asof JOIN b ON true",
    ] {
        parses(text);
    }
    assert_eq!(error_of("SELECT a FROM order"), "syntax error at or near \"order\"");
    assert_eq!(error_of("SELECT order FROM t"), "syntax error at or near \"FROM\"");
    assert_eq!(error_of("SELECT a FROM t left"), "syntax error at or near \"left\"");
    assert_eq!(error_of("SELECT a, FROM t"), "syntax error at or near \"FROM\"");
    assert_eq!(error_of("SELECT 1 + FROM t"), "syntax error at or near \"FROM\"");
    assert_eq!(
        error_of("SELECT 1; SELECT 2"),
        "cannot insert multiple commands into a prepared statement"
    );
}

#[test]
fn queries_in_parentheses_and_expressions_with_them_differ() {
    for text in [
        "((SELECT 1))",
        "(SELECT 1) UNION (SELECT 2) ORDER BY 1 LIMIT 1",
        "((SELECT 1) UNION SELECT 2)",
        "SELECT ((SELECT 1) + 1)",
        "SELECT * FROM ((SELECT 1) UNION (SELECT 2)) AS x",
        "SELECT * FROM ((SELECT 1 AS a) AS x CROSS JOIN t)",
        "SELECT a IN ((SELECT 1), 2), a IN ((SELECT 1))",
        "SELECT (((SELECT 1)))",
        "SELECT EXISTS (SELECT 1), ARRAY(SELECT 1), a = ANY (SELECT 1), a = ANY ((SELECT ARRAY[1]))",
        "WITH x AS (SELECT 1), y(a) AS MATERIALIZED (SELECT 2) SELECT * FROM x, y",
        "WITH x AS (DELETE FROM t RETURNING *) INSERT INTO u SELECT * FROM x",
        "SELECT * FROM a JOIN b JOIN c ON b.x = c.x ON a.x = b.x",
        "SELECT * FROM ROWS FROM (f(1), g(2) AS (a int)) WITH ORDINALITY AS t(a, b)",
        "SELECT FROM t",
        "SELECT 1 FROM t FETCH FIRST ROW ONLY FOR UPDATE SKIP LOCKED",
    ] {
        parses(text);
    }
}

#[test]
fn duckdbs_forms_are_read() {
    for text in [
        "FROM t",
        "FROM t SELECT a WHERE b",
        "SELECT * FROM (FROM t WHERE a)",
        "SELECT a, sum(b) FROM t GROUP BY ALL ORDER BY ALL DESC",
        "SELECT * EXCLUDE (a, b) REPLACE (c + 1 AS c), t.* RENAME (d AS e) FROM t",
        "SELECT a FROM t QUALIFY row_number() OVER (PARTITION BY a) = 1",
        "SELECT * FROM t PIVOT (sum(a) FOR b IN (1, 2) GROUP BY c) AS p",
        "SELECT * FROM t UNPIVOT (value FOR name IN (a, b))",
        "SELECT * FROM a ASOF LEFT JOIN b ON a.t >= b.t",
        "SELECT * FROM a SEMI JOIN b USING (x)",
        "SELECT 'a.csv' FROM 'a.csv'",
        "SELECT 1_000, [1, 2], x: 42",
        "SELECT TRY_CAST(a AS int)",
        "CREATE MACRO f(a, b := 2) AS a + b",
        "INSERT OR REPLACE INTO t BY NAME SELECT 1 AS a",
        "COPY t TO 'x' (FORMAT parquet, PARTITION_BY (a, b))",
    ] {
        parses(text);
    }
    let Statement::Query(query) = parses("FROM t") else { panic!() };
    let QueryBody::Select(select) = query.body else { panic!() };
    assert!(matches!(select.targets[0].kind, TargetKind::Wildcard { .. }));
    assert!(matches!(select.from[0].kind, FromKind::Table { .. }));
}

#[test]
fn nesting_is_bounded() {
    for (open, close) in [
        ("(", ")"),
        ("- ", ""),
        ("NOT ", ""),
        ("CASE WHEN ", " THEN 1 END"),
        ("(SELECT ", ")"),
        ("f(", ")"),
        ("ARRAY[", "]"),
        ("1 + (", ")"),
        ("a IN (", ")"),
    ] {
        let text =
            |levels: usize| format!("SELECT {}1{}", open.repeat(levels), close.repeat(levels));
        parses(&text(100));
        let error = parse_statement(&text(10_000)).unwrap_err();
        assert_eq!(error.kind.sql_state(), "54001", "{open}: {error}");
    }
    let chain = |operator: &str| format!("SELECT 1{}", format!(" {operator} 1").repeat(10_000));
    parses(&chain("AND"));
    assert_eq!(parse_statement(&chain("+")).unwrap_err().kind.sql_state(), "54001");
    let unions = format!("SELECT 1{}", " UNION SELECT 1".repeat(10_000));
    assert_eq!(parse_statement(&unions).unwrap_err().kind.sql_state(), "54001");
    let joins = format!("SELECT * FROM t{}", " CROSS JOIN t".repeat(10_000));
    assert_eq!(parse_statement(&joins).unwrap_err().kind.sql_state(), "54001");
}

#[test]
fn statements_keep_their_ranges() {
    let text = " SELECT 1 ; -- one\n\n INSERT INTO t VALUES (1);;";
    let statements = parse_script(text).unwrap();
    let texts = statements.iter().map(|statement| statement.span.of(text)).collect::<Vec<_>>();
    assert_eq!(texts, ["SELECT 1", "INSERT INTO t VALUES (1)"]);
}
