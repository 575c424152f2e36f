//! How foreign keys come, go and are shown.

use super::{shop, shop_in, violates};
use crate::statement::{refused, rows, run};
use gadus::{Connection, Database, ErrorKind, Options, Reason};

fn depended(connection: &Connection, sql: &str, on: &str) {
    let error = refused(connection, sql);
    assert_eq!(error.reason(), Some(Reason::Depended), "{sql}: {error}");
    assert!(error.message().contains(on), "{sql}: {error}");
}

#[test]
fn what_they_refer_to_is_unique_and_of_the_same_type() {
    let connection = shop();
    run(&connection, "CREATE VIEW v AS SELECT id FROM shops");
    for (sql, reason) in [
        ("CREATE TABLE x (a INT REFERENCES nothing)", Some(Reason::UnknownTable)),
        ("CREATE TABLE x (a INT REFERENCES shops (nothing))", Some(Reason::UnknownColumn)),
        ("CREATE TABLE x (a INT, FOREIGN KEY (b) REFERENCES shops)", Some(Reason::UnknownColumn)),
        ("CREATE TABLE x (a INT REFERENCES orders (shop))", Some(Reason::InvalidForeignKey)),
        ("CREATE TABLE x (a INT REFERENCES lines)", Some(Reason::InvalidForeignKey)),
        ("CREATE TABLE x (a INT REFERENCES shops (name))", Some(Reason::TypeMismatch)),
        ("CREATE TABLE x (a TEXT REFERENCES shops)", Some(Reason::TypeMismatch)),
        ("CREATE TABLE x (a INT REFERENCES x)", Some(Reason::UnknownObject)),
        ("CREATE TABLE x (a INT REFERENCES shops ON DELETE SET DEFAULT)", None),
        ("CREATE TABLE x (a INT REFERENCES shops DEFERRABLE)", None),
        ("CREATE TABLE x (a INT REFERENCES shops MATCH PARTIAL)", None),
        (
            "ALTER TABLE orders ADD CONSTRAINT orders_shop_fkey FOREIGN KEY (id) REFERENCES shops",
            Some(Reason::DuplicateObject),
        ),
    ] {
        let error = refused(&connection, sql);
        assert_eq!(error.reason(), reason, "{sql}: {error}");
    }
    refused(&connection, "CREATE TABLE x (a INT REFERENCES v)");
    run(
        &connection,
        "CREATE TABLE x (a INT PRIMARY KEY, b SMALLINT REFERENCES x, c INT CONSTRAINT mine REFERENCES shops)",
    );
    let kinds = "SELECT conname FROM pg_constraint WHERE contype = 'f' AND conrelid = 'x'::regclass ORDER BY 1";
    assert_eq!(rows(&connection, kinds), ["mine", "x_b_fkey"]);
}

#[test]
fn they_are_added_to_rows_that_fit() {
    let connection = shop();
    run(&connection, "CREATE TABLE notes (id INT, of INT, at INT)");
    run(&connection, "INSERT INTO notes VALUES (1, 10, 1), (2, NULL, 9), (3, 77, 2)");
    let add = "ALTER TABLE notes ADD CONSTRAINT known FOREIGN KEY (of) REFERENCES orders ON DELETE CASCADE";
    violates(&connection, add, "known");
    run(&connection, "UPDATE notes SET of = 11 WHERE id = 3");
    run(&connection, add);
    violates(&connection, "UPDATE notes SET of = 77 WHERE id = 3", "known");
    violates(
        &connection,
        "ALTER TABLE notes ADD FOREIGN KEY (at) REFERENCES shops (id)",
        "notes_at_fkey",
    );
    run(&connection, "ALTER TABLE notes ADD COLUMN shop INT REFERENCES shops");
    violates(&connection, "UPDATE notes SET shop = 9", "notes_shop_fkey");
    run(&connection, "DELETE FROM orders WHERE id = 11");
    assert_eq!(rows(&connection, "SELECT id FROM notes ORDER BY id"), ["1", "2"]);
    // In a transaction that has written both.
    connection.execute_script("BEGIN; INSERT INTO orders VALUES (80, 1, NULL); CREATE TABLE p (a INT); \
                               INSERT INTO p VALUES (80); ALTER TABLE p ADD FOREIGN KEY (a) REFERENCES orders; \
                               COMMIT").unwrap();
    violates(&connection, "DELETE FROM orders WHERE id = 80", "p_a_fkey");
    run(&connection, "ALTER TABLE p RENAME CONSTRAINT p_a_fkey TO q");
    run(&connection, "ALTER TABLE p RENAME COLUMN a TO b");
    run(&connection, "ALTER TABLE orders RENAME TO bills");
    violates(&connection, "DELETE FROM bills WHERE id = 80", "constraint \"q\" on table \"p\"");
    run(&connection, "ALTER TABLE p DROP CONSTRAINT q");
    run(&connection, "DELETE FROM bills WHERE id = 80");
    assert_eq!(
        rows(&connection, "SELECT indexname FROM pg_indexes WHERE tablename = 'p'"),
        [""; 0]
    );
}

#[test]
fn what_others_refer_to_stays() {
    let connection = shop();
    depended(
        &connection,
        "DROP TABLE shops",
        "constraint orders_shop_fkey on table orders, constraint orders_seller_fkey on table orders",
    );
    depended(&connection, "ALTER TABLE shops DROP COLUMN name", "orders_seller_fkey");
    depended(&connection, "ALTER TABLE shops DROP CONSTRAINT shops_name_key", "orders_seller_fkey");
    depended(&connection, "ALTER TABLE shops DROP CONSTRAINT shops_pkey", "orders_shop_fkey");
    depended(&connection, "DROP INDEX orders_shop_idx", "orders_shop_fkey");
    let error = refused(&connection, "ALTER TABLE shops ALTER COLUMN id TYPE TEXT");
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
    let error = refused(&connection, "ALTER TABLE orders ALTER COLUMN shop TYPE TEXT");
    assert_eq!(error.reason(), Some(Reason::TypeMismatch), "{error}");
    run(&connection, "ALTER TABLE orders ALTER COLUMN shop TYPE BIGINT");
    violates(&connection, "INSERT INTO orders VALUES (1, 4, NULL)", "orders_shop_fkey");
    let error = refused(&connection, "TRUNCATE shops");
    assert!(error.message().contains("\"orders\" references \"shops\""), "{error}");
    let error = refused(&connection, "TRUNCATE orders");
    assert!(error.message().contains("\"lines\" references \"orders\""), "{error}");
    run(&connection, "TRUNCATE orders, lines");
    run(&connection, "INSERT INTO orders VALUES (1, 1, 'one')");
    run(&connection, "TRUNCATE shops CASCADE");
    assert_eq!(rows(&connection, "SELECT * FROM orders"), [""; 0]);
    run(&connection, "ALTER TABLE shops DROP CONSTRAINT shops_name_key CASCADE");
    run(&connection, "INSERT INTO orders VALUES (1, NULL, 'none')");
    run(&connection, "DROP TABLE shops CASCADE");
    run(&connection, "INSERT INTO orders VALUES (2, 2, 'none')");
    depended(&connection, "DROP TABLE orders", "part");
    run(&connection, "DROP TABLE orders, lines");
    run(&connection, "DROP TABLE people");
}

#[test]
fn tables_may_refer_to_one_another() {
    let connection = Database::open_in_memory(Options::new()).unwrap().connect();
    let script = "CREATE TABLE a (id INT PRIMARY KEY, b INT); CREATE TABLE b (id INT PRIMARY KEY, a INT REFERENCES a \
                  ON DELETE CASCADE); ALTER TABLE a ADD FOREIGN KEY (b) REFERENCES b ON DELETE CASCADE; \
                  INSERT INTO a SELECT value, NULL FROM generate_series(1, 100) AS s (value); \
                  INSERT INTO b SELECT value, value FROM generate_series(1, 100) AS s (value); \
                  UPDATE a SET b = 1 + id % 100";
    connection.execute_script(script).unwrap();
    run(&connection, "DELETE FROM a WHERE id = 7");
    assert_eq!(
        rows(&connection, "SELECT count(*) FROM a UNION ALL SELECT count(*) FROM b"),
        ["0", "0"]
    );
    depended(&connection, "DROP TABLE a", "b_a_fkey");
    run(&connection, "DROP TABLE a, b");
}

#[test]
fn the_catalog_and_statements_tell_them() {
    let database = Database::open_in_memory(Options::new()).unwrap();
    let connection = shop_in(&database);
    let told = "SELECT conname, confrelid::regclass::text, confupdtype, confdeltype, confmatchtype, \
                pg_get_constraintdef(oid) FROM pg_constraint WHERE contype = 'f' ORDER BY conname";
    assert_eq!(
        rows(&connection, told),
        [
            "orders_seller_fkey shops a n s FOREIGN KEY (seller) REFERENCES shops(name) ON DELETE SET NULL",
            "orders_shop_fkey shops c c s FOREIGN KEY (shop) REFERENCES shops(id) ON UPDATE CASCADE ON DELETE CASCADE",
            "part orders a a s FOREIGN KEY (of) REFERENCES orders(id)",
            "people_boss_fkey people a n s FOREIGN KEY (boss) REFERENCES people(id) ON DELETE SET NULL",
        ]
    );
    let statement = database.create_statement("orders").unwrap();
    assert!(
        statement.contains(
            "    CONSTRAINT orders_seller_fkey FOREIGN KEY (seller) REFERENCES shops(name) ON DELETE SET NULL\n)"
        ),
        "{statement}"
    );
    run(&connection, "DROP TABLE lines, orders");
    run(&connection, &statement);
    violates(&connection, "INSERT INTO orders VALUES (1, 4, NULL)", "orders_shop_fkey");
}

/// Two connections to one database, the second with a snapshot from before what the first does.
fn beside(script: &str) -> (Connection, Connection) {
    let database = Database::open_in_memory(Options::new()).unwrap();
    let (one, other) = (database.connect(), database.connect());
    one.execute_script("CREATE TABLE a (x INT PRIMARY KEY); INSERT INTO a VALUES (1), (2)")
        .unwrap();
    run(&one, "CREATE TABLE b (x INT)");
    run(&one, "INSERT INTO b VALUES (1)");
    run(&other, "BEGIN ISOLATION LEVEL SNAPSHOT");
    assert_eq!(rows(&other, "SELECT count(*) FROM a"), ["2"]);
    one.execute_script(script).unwrap();
    (one, other)
}

#[test]
fn a_table_is_not_emptied_that_others_refer_to_since() {
    let (one, other) = beside("ALTER TABLE b ADD FOREIGN KEY (x) REFERENCES a");
    assert_eq!(refused(&other, "TRUNCATE a").kind(), ErrorKind::Conflict);
    run(&other, "COMMIT");
    assert_eq!(rows(&one, "SELECT count(*) FROM a"), ["2"]);
}

#[test]
fn rows_are_not_vouched_for_that_others_have_changed_since() {
    for add in [
        "ALTER TABLE b ADD FOREIGN KEY (x) REFERENCES a",
        "ALTER TABLE a ADD CHECK (x = 1 OR x = 2)",
    ] {
        let (one, other) = beside("UPDATE a SET x = 7 WHERE x = 1");
        // Its shape is the transaction's own by then, its rows are not.
        run(&other, "ALTER TABLE a ADD COLUMN y INT");
        assert_eq!(refused(&other, add).kind(), ErrorKind::Conflict, "{add}");
        run(&other, "ROLLBACK");
        assert_eq!(rows(&one, "SELECT x FROM a ORDER BY x"), ["2", "7"]);
    }
}

#[test]
fn a_second_one_of_a_table_is_seen_by_who_deletes() {
    for change in ["DELETE FROM p WHERE id = 1", "UPDATE p SET id = 5 WHERE id = 1"] {
        let database = Database::open_in_memory(Options::new()).unwrap();
        let (connection, other) = (database.connect(), database.connect());
        let script = "CREATE TABLE p (id INT PRIMARY KEY); INSERT INTO p VALUES (1), (2); \
                      CREATE TABLE q (id INT PRIMARY KEY, pid INT REFERENCES p, y INT); \
                      INSERT INTO q VALUES (10, 2, 1)";
        other.execute_script(script).unwrap();
        run(&connection, "BEGIN ISOLATION LEVEL SNAPSHOT");
        assert_eq!(rows(&connection, "SELECT count(*) FROM q"), ["1"]);
        run(&other, "ALTER TABLE q ADD CONSTRAINT second FOREIGN KEY (y) REFERENCES p");
        run(&connection, change);
        let error = refused(&connection, "COMMIT");
        assert_eq!(error.kind(), ErrorKind::ForeignKeyViolation, "{change}: {error}");
        assert_eq!(rows(&other, "SELECT id FROM p ORDER BY id"), ["1", "2"]);
    }
}

#[test]
fn keys_that_others_lean_on_go_with_them_or_stay() {
    let connection = shop();
    // A key of a table that refers to itself.
    depended(&connection, "ALTER TABLE people DROP CONSTRAINT people_pkey", "people_boss_fkey");
    depended(&connection, "ALTER TABLE people DROP COLUMN id", "people_boss_fkey");
    run(&connection, "ALTER TABLE people DROP CONSTRAINT people_pkey CASCADE");
    run(&connection, "UPDATE people SET boss = 77");
    run(&connection, "ALTER TABLE people DROP COLUMN boss");
    run(&connection, "CREATE TABLE tree (id INT PRIMARY KEY, of INT REFERENCES tree)");
    run(&connection, "ALTER TABLE tree DROP COLUMN id CASCADE");
    run(&connection, "INSERT INTO tree VALUES (7)");
    // A key over columns that refer to others: they keep an index.
    let one_to_one =
        "CREATE TABLE more (id INT PRIMARY KEY REFERENCES orders, of INT UNIQUE REFERENCES orders)";
    run(&connection, one_to_one);
    run(&connection, "INSERT INTO more VALUES (10, 11)");
    run(&connection, "ALTER TABLE more DROP CONSTRAINT more_pkey");
    run(&connection, "ALTER TABLE more DROP CONSTRAINT more_of_key");
    run(&connection, "INSERT INTO more VALUES (10, 11)");
    violates(&connection, "INSERT INTO more VALUES (10, 99)", "more_of_fkey");
    violates(&connection, "DELETE FROM orders WHERE id = 11", "more_of_fkey");
    let indexes = "SELECT indexname FROM pg_indexes WHERE tablename = 'more' ORDER BY 1";
    assert_eq!(rows(&connection, indexes), ["more_id_idx", "more_of_idx"]);
}

#[test]
fn indexes_go_but_for_those_that_they_need() {
    let connection = shop();
    let indexes = |table: &str| {
        let query =
            format!("SELECT indexname FROM pg_indexes WHERE tablename = '{table}' ORDER BY 1");
        rows(&connection, &query)
    };
    run(&connection, "CREATE TABLE notes (of INT, at INT)");
    run(&connection, "CREATE INDEX mine ON notes (of)");
    run(&connection, "ALTER TABLE notes ADD FOREIGN KEY (of) REFERENCES orders");
    assert_eq!(indexes("notes"), ["mine"]);
    run(&connection, "INSERT INTO notes VALUES (30, 1)");
    run(&connection, "DROP INDEX mine");
    assert_eq!(indexes("notes"), ["notes_of_idx"]);
    violates(&connection, "DELETE FROM orders WHERE id = 30", "notes_of_fkey");
    depended(&connection, "DROP INDEX notes_of_idx", "notes_of_fkey");
    run(&connection, "ALTER TABLE notes DROP CONSTRAINT notes_of_fkey");
    assert!(indexes("notes").is_empty());

    run(&connection, "CREATE UNIQUE INDEX at ON notes (at)");
    run(&connection, "CREATE TABLE seen (at INT REFERENCES notes (at))");
    depended(&connection, "DROP INDEX at", "seen_at_fkey");
    run(&connection, "DROP INDEX at CASCADE");
    run(&connection, "INSERT INTO seen VALUES (77)");
}

#[test]
fn the_statements_of_a_schema_make_it_again() {
    let database = Database::open_in_memory(Options::new()).unwrap();
    let script = "CREATE TABLE z (id INT PRIMARY KEY, \"order\" INT, CONSTRAINT \"Odd\" UNIQUE (\"order\")); \
                  CREATE TABLE a (x INT REFERENCES z (\"order\"), own INT PRIMARY KEY REFERENCES a); \
                  CREATE TABLE c (id INT PRIMARY KEY, d INT); \
                  CREATE TABLE d (id INT PRIMARY KEY, c INT REFERENCES c ON DELETE CASCADE); \
                  ALTER TABLE c ADD CONSTRAINT back FOREIGN KEY (d) REFERENCES d; \
                  CREATE INDEX more ON c (d, id); CREATE SEQUENCE numbers START WITH 5; \
                  CREATE VIEW v AS SELECT x FROM a; CREATE VIEW b AS SELECT x AS y FROM v";
    database.connect().execute_script(script).unwrap();
    let statements = database.schema_statements().unwrap();
    let begins =
        statements.iter().map(|statement| statement.split(['(', '\n']).next().unwrap().trim());
    let wanted = [
        "CREATE SEQUENCE numbers START WITH 5",
        "CREATE TABLE z",
        "CREATE TABLE a",
        "CREATE TABLE c",
        "CREATE INDEX more ON c",
        "CREATE TABLE d",
        "ALTER TABLE c ADD CONSTRAINT back FOREIGN KEY",
        "CREATE VIEW v",
        "CREATE VIEW b",
    ];
    assert_eq!(begins.collect::<Vec<_>>(), wanted);
    assert!(statements[2].contains("REFERENCES z(\"order\")"), "{}", statements[2]);
    let again = Database::open_in_memory(Options::new()).unwrap();
    again.connect().execute_script(&statements.join("; ")).unwrap();
    assert_eq!(again.schema_statements().unwrap(), statements);
}
