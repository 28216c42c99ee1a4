package dev.idgen;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Types;

/**
 * A connection while the library has it. The natives call its methods: on the thread of {@link SqlSink#lend}, or, if it
 * is one of {@link UrlDrivers}, on any.
 */
final class SqlSession {
  private static final int MYSQL = 1; // IDGEN_SQL_MYSQL
  private static final int POSTGRES = 2;

  private static final int NULL = 0; // IDGEN_SQL_NULL
  private static final int INTEGER = 1;
  private static final int TEXT = 2;

  private final Connection connection;
  private final SqlTransactions transactions;
  private final int dialect;
  private boolean stoppedAutocommit;

  /** Of {@link UrlDrivers}, whose connections nobody else uses: {@link #inTransaction} is not asked. */
  SqlSession(Connection connection) throws SQLException {
    this(connection, null);
  }

  SqlSession(Connection connection, SqlTransactions transactions) throws SQLException {
    this.connection = connection;
    this.transactions = transactions;
    String product = connection.getMetaData().getDatabaseProductName();
    dialect =
        switch (product) {
          case "MySQL", "MariaDB" -> MYSQL;
          case "PostgreSQL" -> POSTGRES;
          default -> throw Errors.of(
              Status.UNSUPPORTED,
              "the database is " + product
                  + "; allowed: MariaDB, MySQL, PostgreSQL. For others implement dev.idgen.Store");
        };
  }

  int dialect() {
    return dialect;
  }

  int inTransaction() throws SQLException {
    return transactions.isOpen(connection, dialect == POSTGRES);
  }

  void begin() throws SQLException {
    if (!connection.getAutoCommit()) return;
    connection.setAutoCommit(false);
    stoppedAutocommit = true;
  }

  void commit() throws SQLException {
    connection.commit();
  }

  void rollback() throws SQLException {
    if (!connection.getAutoCommit()) connection.rollback();
  }

  /** The connection is idle. */
  void leave() throws SQLException {
    if (!stoppedAutocommit) return;
    connection.setAutoCommit(true);
    stoppedAutocommit = false;
  }

  void close() throws SQLException {
    connection.close();
  }

  /**
   * Sends a statement, whose values are numbers[i] or texts[i], by kinds[i]. Passes its rows to the native {@code
   * rows}, or, if that is 0, stores in outcome how many rows have changed, and MySQL's last insert id.
   */
  void execute(byte[] sql, boolean isAlone, int[] kinds, long[] numbers, byte[][] texts, long rows, long[] outcome)
      throws SQLException {
    String text = Text.string(sql);
    if (isAlone) leave();
    // Druid's filter does not let every statement be prepared.
    try (var statement = kinds.length == 0 ? connection.createStatement() : prepare(text, rows == 0)) {
      if (statement instanceof PreparedStatement prepared && kinds.length > 0) {
        bind(prepared, kinds, numbers, texts);
        prepared.execute();
      } else {
        statement.execute(text);
      }
      if (rows != 0) {
        pass(statement, rows);
      } else {
        outcome[0] = Math.max(statement.getUpdateCount(), 0);
        if (dialect == MYSQL && kinds.length > 0) outcome[1] = insertId(statement);
      }
    }
    if (isAlone && !connection.getAutoCommit()) connection.commit();
  }

  private PreparedStatement prepare(String sql, boolean changes) throws SQLException {
    return dialect == MYSQL && changes
        ? connection.prepareStatement(sql, Statement.RETURN_GENERATED_KEYS)
        : connection.prepareStatement(sql);
  }

  private static void bind(PreparedStatement statement, int[] kinds, long[] numbers, byte[][] texts)
      throws SQLException {
    for (int i = 0; i < kinds.length; i++) {
      switch (kinds[i]) {
        case NULL -> statement.setNull(i + 1, Types.NULL);
        case INTEGER -> statement.setLong(i + 1, numbers[i]);
        case TEXT -> statement.setString(i + 1, Text.string(texts[i]));
        default -> statement.setBytes(i + 1, texts[i]);
      }
    }
  }

  private static long insertId(Statement statement) throws SQLException {
    try (var keys = statement.getGeneratedKeys()) {
      return keys.next() ? keys.getLong(1) : 0;
    }
  }

  private static void pass(Statement statement, long rows) throws SQLException {
    try (var row = statement.getResultSet()) {
      var columns = row.getMetaData();
      int count = columns.getColumnCount();
      var kinds = new int[count];
      var numbers = new long[count];
      var texts = new byte[count][];
      while (row.next()) {
        for (int i = 0; i < count; i++) {
          texts[i] = value(row, i + 1, columns.getColumnType(i + 1));
          kinds[i] = texts[i] == null ? NULL : TEXT;
          if (texts[i] == null || !isWhole(columns.getColumnType(i + 1))) continue;
          try {
            numbers[i] = Long.parseLong(Text.string(texts[i]));
            kinds[i] = INTEGER;
          } catch (NumberFormatException e) {
            continue; // a BIGINT UNSIGNED of 2^63 or above
          }
        }
        IdgenJNI.sqlRow(rows, kinds, numbers, texts);
      }
    }
  }

  private static boolean isWhole(int type) {
    return type == Types.BIGINT || type == Types.INTEGER || type == Types.SMALLINT || type == Types.TINYINT;
  }

  /** In MySQL the names are bytes, which the driver does not change. */
  private static byte[] value(ResultSet row, int column, int type) throws SQLException {
    if (type == Types.BINARY || type == Types.VARBINARY || type == Types.LONGVARBINARY) return row.getBytes(column);
    String text = row.getString(column);
    return text == null ? null : text.getBytes(UTF_8);
  }
}
