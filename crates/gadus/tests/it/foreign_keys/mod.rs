//! FOREIGN KEY constraints: what they refuse, what they carry out, and what depends on them.

mod processes;
mod shapes;

use crate::files::Folder;
use crate::statement::{refused, rows, run};
use gadus::arrow::array::{ArrayRef, Int32Array, RecordBatch, StringArray};
use gadus::{Connection, Database, ErrorKind, Options, params};
use std::sync::Arc;

/// Shops with orders that have lines, and people who know one another.
fn shop() -> Connection {
    shop_in(&Database::open_in_memory(Options::new()).unwrap())
}

fn shop_in(database: &Database) -> Connection {
    let connection = database.connect();
    let script = "CREATE TABLE shops (id BIGINT PRIMARY KEY, name TEXT UNIQUE); \
                  CREATE TABLE orders (id INT PRIMARY KEY, shop INT REFERENCES shops ON DELETE CASCADE \
                    ON UPDATE CASCADE, seller TEXT REFERENCES shops (name) ON DELETE SET NULL); \
                  CREATE TABLE lines (number INT, of INT NOT NULL, what TEXT, PRIMARY KEY (of, number), \
                    CONSTRAINT part FOREIGN KEY (of) REFERENCES orders (id)); \
                  CREATE TABLE people (id INT PRIMARY KEY, boss INT REFERENCES people ON DELETE SET NULL); \
                  INSERT INTO shops VALUES (1, 'one'), (2, 'two'), (3, NULL); \
                  INSERT INTO orders VALUES (10, 1, 'one'), (11, 1, 'two'), (20, 2, NULL), (30, NULL, 'two'); \
                  INSERT INTO lines VALUES (1, 10, 'ham'), (2, 10, 'egg'), (1, 20, 'tea'); \
                  INSERT INTO people VALUES (1, NULL), (2, 1), (3, 2), (4, 4)";
    connection.execute_script(script).unwrap();
    connection
}

fn violates(connection: &Connection, sql: &str, message: &str) {
    let error = refused(connection, sql);
    assert_eq!(error.kind(), ErrorKind::ForeignKeyViolation, "{sql}: {error}");
    assert!(error.message().contains(message), "{sql}: {error}");
}

fn orders(connection: &Connection) -> Vec<String> {
    rows(connection, "SELECT * FROM orders ORDER BY id")
}

#[test]
fn rows_refer_to_rows_that_are_there_however_they_come() {
    let connection = shop();
    let before = orders(&connection);
    for (sql, message) in [
        (
            "INSERT INTO orders VALUES (40, 9, NULL)",
            "insert or update on table \"orders\" violates foreign key constraint \"orders_shop_fkey\": \
             (shop) = (9) is not present in table \"shops\"",
        ),
        ("INSERT INTO orders SELECT id + 50, id, 'none' FROM shops", "orders_seller_fkey"),
        ("UPDATE orders SET shop = shop + 7", "(shop) = (8)"),
        ("UPDATE orders SET shop = 5 WHERE id = 10", "orders_shop_fkey"),
        ("INSERT INTO orders VALUES (10, 1, NULL) ON CONFLICT (id) DO UPDATE SET shop = 8", "(8)"),
        (
            "MERGE INTO orders USING shops ON orders.shop = shops.id WHEN NOT MATCHED THEN INSERT \
             VALUES (99, shops.id + 100, NULL)",
            "(shop) = (103)",
        ),
        ("INSERT INTO lines VALUES (1, 31, 'jam')", "\"part\""),
        ("INSERT INTO people VALUES (5, 6)", "people_boss_fkey"),
    ] {
        violates(&connection, sql, message);
        assert_eq!(orders(&connection), before, "{sql}");
    }
    // NULL refers to nothing; one row of a statement to another, whatever their order.
    run(&connection, "INSERT INTO orders VALUES (40, NULL, NULL), (41, 3, NULL)");
    run(&connection, "INSERT INTO people VALUES (7, 8), (8, 9), (9, 7)");
    let prepared = connection.prepare("INSERT INTO orders VALUES (?, ?, NULL)").unwrap();
    for id in 50..53 {
        prepared.execute(params![id, 1]).unwrap();
        let error = prepared.execute(params![id + 50, 4]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ForeignKeyViolation);
    }
}

#[test]
fn batches_and_files_are_looked_at_too() {
    let folder = Folder::new();
    let connection = shop();
    let path = folder.path("orders.csv");
    std::fs::write(&path, "id,shop,seller\n60,1,one\n61,6,one\n").unwrap();
    let copy = format!("COPY orders FROM '{}' (FORMAT csv, HEADER)", path.display());
    violates(&connection, &copy, "(shop) = (6)");
    let batch = |shop: i32| {
        let numbers = |value| Arc::new(Int32Array::from(vec![value])) as ArrayRef;
        let seller = Arc::new(StringArray::from(vec![None::<&str>])) as ArrayRef;
        let columns = [("id", numbers(70)), ("shop", numbers(shop)), ("seller", seller)];
        RecordBatch::try_from_iter_with_nullable(columns.map(|(name, of)| (name, of, true)))
            .unwrap()
    };
    let append = |shop| connection.append("orders", vec![batch(shop)]);
    assert_eq!(append(5).unwrap_err().kind(), ErrorKind::ForeignKeyViolation);
    append(2).unwrap();
    // More than a segment, loaded at once.
    run(&connection, "CREATE TABLE many (id INT, shop INT REFERENCES shops)");
    let load = |shop: &str| {
        format!(
            "INSERT INTO many SELECT value, {shop} FROM generate_series(1, 150000) AS s (value)"
        )
    };
    violates(&connection, &load("CASE value WHEN 140000 THEN 5 ELSE 1 + value % 3 END"), "(5)");
    run(&connection, &load("1 + value % 3"));
    violates(&connection, "UPDATE shops SET id = 4 WHERE id = 3", "many_shop_fkey");
    run(&connection, "DELETE FROM many WHERE shop = 3");
    run(&connection, "UPDATE shops SET id = 4 WHERE id = 3");
}

#[test]
fn what_refers_to_rows_that_go_follows_or_keeps_them() {
    let connection = shop();
    violates(
        &connection,
        "DELETE FROM orders WHERE id = 10",
        "update or delete on table \"orders\" violates foreign key constraint \"part\" on table \
         \"lines\": (id) = (10) is still referenced from table \"lines\"",
    );
    violates(&connection, "DELETE FROM shops WHERE id = 1", "\"part\"");
    violates(&connection, "UPDATE orders SET id = id + 1", "\"part\"");
    violates(&connection, "UPDATE shops SET name = 'three' WHERE id = 2", "orders_seller_fkey");
    run(&connection, "DELETE FROM lines WHERE of = 10");
    // Its orders go; who it sells for is forgotten.
    run(&connection, "DELETE FROM shops WHERE id = 1");
    assert_eq!(orders(&connection), ["20 2 NULL", "30 NULL two"]);
    run(&connection, "UPDATE shops SET id = id + 1");
    assert_eq!(orders(&connection), ["20 3 NULL", "30 NULL two"]);
    run(&connection, "DELETE FROM lines");
    run(&connection, "DELETE FROM shops RETURNING id");
    assert_eq!(orders(&connection), ["30 NULL NULL"]);
    run(&connection, "DELETE FROM people WHERE id = 1");
    assert_eq!(rows(&connection, "SELECT * FROM people ORDER BY id"), ["2 NULL", "3 2", "4 4"]);
    run(&connection, "DELETE FROM people");
}

#[test]
fn other_columns_and_values_that_stay_are_in_nobodys_way() {
    let connection = shop();
    run(&connection, "UPDATE orders SET id = id, seller = 'two' WHERE id = 10");
    run(&connection, "UPDATE shops SET name = name");
    run(&connection, "UPDATE lines SET what = 'rye' WHERE of = 10");
    // Of what is gone when the statement ends, nothing is refused.
    run(
        &connection,
        "UPDATE people SET id = CASE id WHEN 2 THEN 3 WHEN 3 THEN 2 ELSE id END, \
                      boss = CASE id WHEN 3 THEN 3 ELSE boss END",
    );
    assert_eq!(
        rows(&connection, "SELECT * FROM people ORDER BY id"),
        ["1 NULL", "2 3", "3 1", "4 4"]
    );
}

#[test]
fn values_are_handed_on_before_any_of_them_changes() {
    let connection = Database::open_in_memory(Options::new()).unwrap().connect();
    let script = "CREATE TABLE a (x INT, y INT, PRIMARY KEY (x, y)); \
                  CREATE TABLE b (n INT, y INT, x INT, FOREIGN KEY (y, x) REFERENCES a (y, x) \
                    ON UPDATE CASCADE ON DELETE CASCADE); \
                  CREATE TABLE c (y INT CHECK (y < 9), x INT, FOREIGN KEY (x, y) REFERENCES a \
                    ON UPDATE CASCADE ON DELETE SET NULL); \
                  INSERT INTO a VALUES (1, 1), (1, 2), (2, 1); \
                  INSERT INTO b VALUES (1, 1, 1), (2, 2, 1), (3, 1, 2), (4, NULL, 7); \
                  INSERT INTO c VALUES (1, 1), (2, 1)";
    connection.execute_script(script).unwrap();
    run(&connection, "UPDATE a SET x = y, y = x");
    assert_eq!(
        rows(&connection, "SELECT * FROM b ORDER BY n"),
        ["1 1 1", "2 1 2", "3 2 1", "4 NULL 7"]
    );
    run(&connection, "UPDATE a SET x = x + 1");
    assert_eq!(
        rows(&connection, "SELECT * FROM b ORDER BY n"),
        ["1 1 2", "2 1 3", "3 2 2", "4 NULL 7"]
    );
    let error = refused(&connection, "UPDATE a SET y = 9 WHERE x = 2 AND y = 1");
    assert_eq!(error.kind(), ErrorKind::CheckViolation, "{error}");
    run(&connection, "DELETE FROM a WHERE x <> 2 OR y <> 2");
    assert_eq!(rows(&connection, "SELECT * FROM b ORDER BY n"), ["3 2 2", "4 NULL 7"]);
    assert_eq!(rows(&connection, "SELECT x FROM c"), ["NULL", "NULL"]);
}

#[test]
fn restrict_does_not_wait_for_the_statement_to_end() {
    let connection = Database::open_in_memory(Options::new()).unwrap().connect();
    let script = "CREATE TABLE a (x INT PRIMARY KEY); INSERT INTO a VALUES (1), (2); \
                  CREATE TABLE b (x INT REFERENCES a ON UPDATE RESTRICT); INSERT INTO b VALUES (1); \
                  CREATE TABLE c (x INT REFERENCES a); INSERT INTO c VALUES (2)";
    connection.execute_script(script).unwrap();
    let swap = "UPDATE a SET x = 3 - x";
    violates(&connection, swap, "b_x_fkey");
    run(&connection, "DELETE FROM b");
    run(&connection, swap);
}

#[test]
fn transactions_see_to_what_they_do_and_go_back() {
    let connection = shop();
    connection
        .execute_script(
            "BEGIN; INSERT INTO shops VALUES (5, 'five'); \
                               INSERT INTO orders VALUES (50, 5, 'five'); SAVEPOINT s; \
                               DELETE FROM shops WHERE id = 5",
        )
        .unwrap();
    assert_eq!(orders(&connection).len(), 4);
    run(&connection, "ROLLBACK TO s");
    violates(&connection, "INSERT INTO orders VALUES (51, 6, NULL)", "(6)");
    run(&connection, "COMMIT");
    assert_eq!(orders(&connection).last().unwrap(), "50 5 five");
    // A statement that is refused takes nothing along.
    connection.execute_script("BEGIN; DELETE FROM shops WHERE id = 5").unwrap();
    violates(&connection, "DELETE FROM shops WHERE id = 2", "part");
    run(&connection, "COMMIT");
    assert_eq!(orders(&connection), ["10 1 one", "11 1 two", "20 2 NULL", "30 NULL two"]);
}

#[test]
fn values_that_do_not_fit_are_not_handed_on() {
    let connection = shop();
    run(&connection, "INSERT INTO orders VALUES (40, 3, NULL)");
    let error = refused(&connection, "UPDATE shops SET id = 3000000000 WHERE id = 3");
    assert_eq!(error.kind(), ErrorKind::OutOfRange, "{error}");
    assert!(error.message().contains("3000000000 is out of range for column \"shop\""), "{error}");
    run(&connection, "UPDATE shops SET id = 2147483647 WHERE id = 3");
    // Nobody refers to it.
    run(&connection, "INSERT INTO shops VALUES (4, 'four')");
    run(&connection, "UPDATE shops SET id = 3000000000 WHERE id = 4");
    assert_eq!(rows(&connection, "SELECT shop FROM orders WHERE id = 40"), ["2147483647"]);
}
