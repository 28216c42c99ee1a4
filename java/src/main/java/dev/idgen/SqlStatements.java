package dev.idgen;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** The statements about one tag, on one connection. */
final class SqlStatements {
  private static final String WHERE = " WHERE ns = ? AND tag = ?";

  /**
   * One statement is one atomic step. TiDB first runs a statement that commits by itself optimistically, so
   * LAST_INSERT_ID may not return what was committed. Druid's filter "wall" refuses VERSION() in a condition.
   */
  private static final String TAKE_MYSQL =
      "UPDATE idgen_segment SET max_id = LAST_INSERT_ID(GREATEST(max_id, ?) + ?), grants = grants + 1,"
          + " updated_unix_ms = ?"
          + WHERE
          + " AND max_id BETWEEN 0 AND ? AND LOCATE('TiDB', @@GLOBAL.version) = 0";

  /** No grant is acknowledged before it is on disk, whatever the session says. */
  private static final String TAKE_POSTGRES =
      "UPDATE idgen_segment SET max_id = GREATEST(max_id, ?) + ?, grants = grants + 1, updated_unix_ms = ?"
          + " FROM (SELECT set_config('synchronous_commit', 'on', true)) AS durable"
          + WHERE
          + " AND max_id BETWEEN 0 AND ? RETURNING max_id";

  private static final String RETURN =
      "UPDATE idgen_segment SET max_id = max_id - ?, updated_unix_ms = ?" + WHERE + " AND max_id = ?";
  private static final String READ = "SELECT max_id FROM idgen_segment" + WHERE;

  private static final String STATE =
      "SELECT ns, tag, max_id, grants, updated_unix_ms, step, rate, holder FROM idgen_segment";
  private static final String ADVANCE =
      "UPDATE idgen_segment SET max_id = CASE WHEN max_id < ? THEN ? ELSE max_id + 1 END, grants = grants + 1,"
          + " updated_unix_ms = ?"
          + WHERE
          + " AND max_id BETWEEN 0 AND ?";
  private static final String INSERT =
      "INSERT INTO idgen_segment(ns, tag, updated_unix_ms, max_id, grants) VALUES(?, ?, ?, 0, 0)";

  /** As the native stores make it; a test compares the two. */
  private static final String TABLE_MYSQL =
      """
      CREATE TABLE IF NOT EXISTS idgen_segment (
        ns VARBINARY(512) NOT NULL,
        tag VARBINARY(512) NOT NULL,
        max_id BIGINT NOT NULL,
        grants BIGINT NOT NULL DEFAULT 0,
        updated_unix_ms BIGINT NOT NULL DEFAULT 0,
        step BIGINT NOT NULL DEFAULT 0,
        rate BIGINT NOT NULL DEFAULT 0,
        holder VARBINARY(512) NOT NULL DEFAULT '',
        PRIMARY KEY (ns, tag)) ENGINE = InnoDB""";

  private static final String TABLE_POSTGRES =
      """
      CREATE TABLE IF NOT EXISTS idgen_segment (
        ns varchar(128) NOT NULL,
        tag varchar(128) NOT NULL,
        max_id bigint NOT NULL CHECK (max_id >= 0),
        grants bigint NOT NULL DEFAULT 0 CHECK (grants >= 0),
        updated_unix_ms bigint NOT NULL DEFAULT 0,
        step bigint NOT NULL DEFAULT 0 CHECK (step >= 0),
        rate bigint NOT NULL DEFAULT 0,
        holder varchar(512) NOT NULL DEFAULT '',
        PRIMARY KEY (ns, tag))""";

  private final Connection connection;
  private final String namespace;
  private final String tag;
  private final boolean isPostgres;

  SqlStatements(Connection connection, String namespace, String tag) throws SQLException {
    this.connection = connection;
    this.namespace = namespace;
    this.tag = tag;
    String product = connection.getMetaData().getDatabaseProductName();
    isPostgres = product.equals("PostgreSQL");
    if (!isPostgres && !product.equals("MySQL") && !product.equals("MariaDB")) {
      throw Errors.of(
          Status.UNSUPPORTED,
          "the database is " + product + "; allowed: MariaDB, MySQL, PostgreSQL. For others implement dev.idgen.Store");
    }
  }

  SqlWorkers workers() {
    return new SqlWorkers(connection, isPostgres, namespace);
  }

  boolean isInTransaction(SqlTransactions transactions) throws SQLException {
    return transactions.isOpen(connection, isPostgres);
  }

  /** The last number of the grant. */
  long take(long count, long above) throws SQLException {
    if (above > Long.MAX_VALUE - count) throw exhausted(above, count);
    try (var statement = prepare(isPostgres ? TAKE_POSTGRES : TAKE_MYSQL)) {
      statement.setLong(1, above);
      statement.setLong(2, count);
      statement.setLong(3, System.currentTimeMillis());
      name(statement, 4);
      statement.setLong(6, Long.MAX_VALUE - count);
      if (isPostgres) {
        try (var row = statement.executeQuery()) {
          if (row.next()) return row.getLong(1);
        }
      } else if (statement.executeUpdate() == 1) {
        try (var key = statement.getGeneratedKeys()) {
          if (key.next()) return key.getLong(1);
        }
        return 0;
      }
    }
    throw refusal(count);
  }

  void giveBack(long last, long unused) throws SQLException {
    try (var statement = connection.prepareStatement(RETURN)) {
      statement.setLong(1, unused);
      statement.setLong(2, System.currentTimeMillis());
      name(statement, 3);
      statement.setLong(5, last);
      if (statement.executeUpdate() == 0) maxId();
    }
  }

  private PreparedStatement prepare(String sql) throws SQLException {
    return isPostgres
        ? connection.prepareStatement(sql)
        : connection.prepareStatement(sql, Statement.RETURN_GENERATED_KEYS);
  }

  /** In MySQL the names are bytes, so that the session's character set does not change them. */
  private void name(PreparedStatement statement, int index) throws SQLException {
    if (isPostgres) {
      statement.setString(index, namespace);
      statement.setString(index + 1, tag);
    } else {
      statement.setBytes(index, namespace.getBytes(UTF_8));
      statement.setBytes(index + 1, tag.getBytes(UTF_8));
    }
  }

  private long maxId() throws SQLException {
    try (var statement = connection.prepareStatement(READ)) {
      name(statement, 1);
      try (var row = statement.executeQuery()) {
        if (row.next()) return row.getLong(1);
      }
    }
    throw unknown();
  }

  /** Why no row was changed. */
  private IdgenException refusal(long count) throws SQLException {
    if (connection.getMetaData().getDatabaseProductVersion().contains("TiDB")) {
      return Errors.of(
          Status.UNSUPPORTED,
          "TiDB runs a statement that commits by itself optimistically, so this store cannot know what it granted;"
              + " use store = \"mysql://...\", which knows TiDB");
    }
    long found = maxId();
    if (found < 0) {
      return Errors.of(
          Status.STORE_DAMAGED,
          "the table idgen_segment holds " + found + " where a number from 0 to 2^63 - 1 belongs. Set it right by"
              + " hand, above the highest id in use");
    }
    if (found > Long.MAX_VALUE - count) {
      return exhausted(found, count);
    }
    return Errors.of(Status.STORE_UNAVAILABLE, "tag \"" + tag + "\" changed while it was read; nothing was granted");
  }

  void createTable() throws SQLException {
    try (var statement = connection.createStatement()) {
      statement.executeUpdate(table(isPostgres));
    }
  }

  static String table(boolean isPostgres) {
    return isPostgres ? TABLE_POSTGRES : TABLE_MYSQL;
  }

  /** False: the tag already exists. */
  boolean insert() throws SQLException {
    try (var statement = connection.prepareStatement(isPostgres ? INSERT + " ON CONFLICT DO NOTHING" : INSERT)) {
      name(statement, 1);
      statement.setLong(3, System.currentTimeMillis());
      return statement.executeUpdate() == 1;
    } catch (SQLException e) {
      if (!isPostgres && e.getErrorCode() == 1062) return false; // the transaction is whole
      throw e;
    }
  }

  SegmentInfo advance(long to) throws SQLException {
    int changed;
    try (var statement = connection.prepareStatement(ADVANCE)) {
      statement.setLong(1, to);
      statement.setLong(2, to);
      statement.setLong(3, System.currentTimeMillis());
      name(statement, 4);
      statement.setLong(6, Long.MAX_VALUE - 1);
      changed = statement.executeUpdate();
    }
    var info = show();
    if (changed != 1) throw exhausted(info.maxId(), 1);
    return info;
  }

  SegmentInfo show() throws SQLException {
    try (var statement = connection.prepareStatement(STATE + WHERE)) {
      name(statement, 1);
      var rows = rows(statement);
      if (rows.isEmpty()) throw unknown();
      var row = rows.get(0);
      return new SegmentInfo(row.maxId(), row.grants(), row.updated(), row.step(), row.rate(), row.holder());
    }
  }

  List<SegmentRow> list() throws SQLException {
    try (var statement = connection.prepareStatement(STATE + " ORDER BY ns, tag")) {
      return rows(statement);
    }
  }

  private static List<SegmentRow> rows(PreparedStatement statement) throws SQLException {
    var rows = new ArrayList<SegmentRow>();
    try (var row = statement.executeQuery()) {
      while (row.next()) {
        rows.add(
            new SegmentRow(
                text(row, 1),
                text(row, 2),
                row.getLong(3),
                row.getLong(4),
                Instant.ofEpochMilli(row.getLong(5)),
                row.getLong(6),
                row.getLong(7),
                text(row, 8)));
      }
    }
    return rows;
  }

  /** In MySQL the names are bytes. */
  private static String text(ResultSet row, int column) throws SQLException {
    return new String(row.getBytes(column), UTF_8);
  }

  private IdgenException unknown() {
    return Errors.of(
        Status.TAG_UNKNOWN,
        "tag \"" + tag + "\" of namespace \"" + namespace + "\" is not in the table idgen_segment. "
            + SqlErrors.HOW_TO_CREATE
            + ": it begins at 0, so the first id is 1");
  }

  private IdgenException exhausted(long found, long count) {
    return Errors.of(
        Status.EXHAUSTED,
        "tag \"" + tag + "\" of namespace \"" + namespace + "\" stands at " + found + "; " + count
            + " more would pass 2^63 - 1. Take a smaller step, or a new tag");
  }
}
