import java.io.StringReader;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.sql.Timestamp;
import java.util.Arrays;
import org.postgresql.PGConnection;

/** A program that uses pgJDBC; address, user and password are its arguments. */
public final class Jdbc {
    static void check(boolean holds, Object what) {
        if (!holds) throw new AssertionError(String.valueOf(what));
    }

    static void equal(Object found, Object expected) {
        check(expected == null ? found == null : expected.equals(found), found + ", not " + expected);
    }

    static void fails(Connection connection, String sql, String state) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException error) {
            equal(error.getSQLState(), state);
            return;
        }
        throw new AssertionError(sql + " did not fail");
    }

    public static void main(String[] arguments) throws Exception {
        try (Connection connection = DriverManager.getConnection(arguments[0], arguments[1], arguments[2])) {
            statements(connection);
            transactions(connection);
            copy(connection);
            schema(connection);
        }
    }

    static void statements(Connection connection) throws Exception {
        try (Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE t (id INT PRIMARY KEY, name TEXT, price DECIMAL(8, 2), ok BOOLEAN, "
                    + "data BYTEA, ratio DOUBLE PRECISION, at TIMESTAMP, big BIGINT)");
        }
        Timestamp at = Timestamp.valueOf("2024-01-02 03:04:05.678");
        try (PreparedStatement insert = connection.prepareStatement("INSERT INTO t VALUES (?, ?, ?, ?, ?, ?, ?, ?)")) {
            for (int id = 0; id < 100; id++) {
                insert.setInt(1, id);
                insert.setString(2, id == 0 ? null : "grün " + id);
                insert.setBigDecimal(3, new BigDecimal("1.50"));
                insert.setBoolean(4, id % 2 == 0);
                insert.setBytes(5, new byte[] {0, (byte) id});
                insert.setDouble(6, id / 8.0);
                insert.setTimestamp(7, at);
                insert.setLong(8, Long.MIN_VALUE + id);
                insert.addBatch();
            }
            equal(Arrays.stream(insert.executeBatch()).sum(), 100);
        }
        // More often than the driver needs to prepare a statement and to take binary values.
        try (PreparedStatement query = connection.prepareStatement("SELECT * FROM t WHERE id = ?")) {
            for (int id = 0; id < 20; id++) {
                query.setInt(1, id);
                try (ResultSet row = query.executeQuery()) {
                    check(row.next(), id);
                    equal(row.getString("name"), id == 0 ? null : "grün " + id);
                    equal(row.getBigDecimal("price"), new BigDecimal("1.50"));
                    equal(row.getBoolean("ok"), id % 2 == 0);
                    check(Arrays.equals(row.getBytes("data"), new byte[] {0, (byte) id}), "bytes");
                    equal(row.getDouble("ratio"), id / 8.0);
                    equal(row.getTimestamp("at"), at);
                    equal(row.getLong("big"), Long.MIN_VALUE + id);
                }
            }
        }
        try (PreparedStatement query = connection.prepareStatement("SELECT count(*) FROM t WHERE id = ANY (?)")) {
            query.setArray(1, connection.createArrayOf("int4", new Object[] {1, 2, 500, null}));
            for (int time = 0; time < 10; time++) {
                try (ResultSet row = query.executeQuery()) {
                    check(row.next() && row.getInt(1) == 2, "ANY");
                }
            }
        }
        fails(connection, "INSERT INTO t (id) VALUES (1)", "23505");
        fails(connection, "SELECT * FROM nowhere", "42P01");
    }

    static void transactions(Connection connection) throws Exception {
        connection.setAutoCommit(false);
        try (Statement statement = connection.createStatement()) {
            statement.setFetchSize(7);
            int rows = 0;
            try (ResultSet result = statement.executeQuery("SELECT id FROM t ORDER BY id")) {
                while (result.next()) equal(result.getInt(1), rows++);
            }
            equal(rows, 100);
            equal(statement.executeUpdate("DELETE FROM t WHERE id >= 50"), 50);
            Savepoint savepoint = connection.setSavepoint("a");
            fails(connection, "SELECT 1/0", "22012");
            fails(connection, "SELECT 1", "25P02");
            connection.rollback(savepoint);
            connection.rollback();
            try (ResultSet result = statement.executeQuery("SELECT count(*) FROM t")) {
                check(result.next() && result.getInt(1) == 100, "rolled back");
            }
            connection.commit();
            connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            equal(connection.getTransactionIsolation(), Connection.TRANSACTION_REPEATABLE_READ);
        }
        connection.setAutoCommit(true);
    }

    static void copy(Connection connection) throws Exception {
        var copies = connection.unwrap(PGConnection.class).getCopyAPI();
        equal(copies.copyIn("COPY t (id, name) FROM STDIN", new StringReader("1000\ta\n1001\t\\N\n")), 2L);
        var out = new java.io.StringWriter();
        equal(copies.copyOut("COPY (SELECT id, name FROM t WHERE id >= 1000 ORDER BY id) TO STDOUT (FORMAT csv)", out), 2L);
        equal(out.toString(), "1000,a\n1001,\n");
    }

    static void schema(Connection connection) throws Exception {
        DatabaseMetaData about = connection.getMetaData();
        check(about.getDatabaseProductVersion().startsWith("15"), about.getDatabaseProductVersion());
        try (ResultSet tables = about.getTables(null, "main", "%", new String[] {"TABLE"})) {
            check(tables.next(), "a table");
            equal(tables.getString("TABLE_NAME"), "t");
            check(!tables.next(), "one table");
        }
        try (ResultSet columns = about.getColumns(null, null, "t", "price")) {
            check(columns.next(), "a column");
            equal(columns.getString("TYPE_NAME"), "numeric");
            equal(columns.getInt("COLUMN_SIZE"), 8);
            equal(columns.getInt("DECIMAL_DIGITS"), 2);
        }
        try (ResultSet keys = about.getPrimaryKeys(null, null, "t")) {
            check(keys.next(), "a key");
            equal(keys.getString("COLUMN_NAME"), "id");
            equal(keys.getString("PK_NAME"), "t_pkey");
        }
        try (ResultSet indexes = about.getIndexInfo(null, null, "t", true, false)) {
            check(indexes.next(), "an index");
            equal(indexes.getString("COLUMN_NAME"), "id");
        }
        try (ResultSet schemas = about.getSchemas()) {
            check(schemas.next(), "a schema");
        }
        try (ResultSet types = about.getTypeInfo()) {
            check(types.next(), "a type");
        }
    }
}
