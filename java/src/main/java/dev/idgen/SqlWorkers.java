package dev.idgen;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/**
 * Workers in the database of a SqlStore: the rows of the native stores, read and replaced by single statements, on one
 * connection. What a row becomes is decided by the core (core/src/store/worker_rows.hpp), as for the native stores.
 */
final class SqlWorkers {
  /** The database's clock in Unix milliseconds, whatever the time zone of the session is. */
  private static final String NOW_MYSQL =
      "(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000)";

  private static final String NOW_POSTGRES = "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint)";

  /** No change is acknowledged before it is on disk, whatever the session says. */
  private static final String DURABLY_POSTGRES =
      " FROM (SELECT set_config('synchronous_commit', 'on', true)) AS durable";

  /**
   * TiDB runs a statement that commits by itself optimistically, so how many rows it changed may not be what was
   * committed.
   */
  private static final String IS_TIDB_MYSQL = "LOCATE('TiDB', VERSION())";

  private static final String COLUMNS =
      "SELECT {now} AS store_now, {is_tidb} AS is_tidb, worker, fence, owner, hw, lease_until - {now} AS lease_left,"
          + " clock_ahead, holder";
  private static final String READ =
      COLUMNS + " FROM (SELECT 1 AS one) AS it LEFT JOIN idgen_worker ON ns = ? AND worker = ?";
  private static final String LIST = COLUMNS + " FROM idgen_worker WHERE ns = ? ORDER BY worker";

  /**
   * An INSERT without VALUES can have a condition. MySQL has no form of it that would not count a row that was there
   * already as one that was changed, if the session asks for found rows, as MariaDB Connector/J's do. But its failure
   * leaves the transaction whole.
   */
  private static final String INSERT =
      "INSERT INTO idgen_worker(ns, worker, fence, owner, hw, lease_until, clock_ahead, holder)"
          + " SELECT {text}, {number}, {number}, {text}, {number}, {now} + {number}, {number} - {now}, {text}"
          + "{from_nothing} WHERE {number} - {now} <= {number}{if_absent}";

  private static final String AS_SEEN = " WHERE ns = ? AND worker = ? AND fence = ? AND owner = ? AND hw = ?";
  private static final String TAKE =
      "UPDATE idgen_worker SET fence = ?, owner = ?, hw = ?, lease_until = {now} + ?, clock_ahead = ? - {now},"
          + " holder = ?{durably}"
          + AS_SEEN
          + " AND ? - {now} <= ?";
  private static final String GIVE_UP =
      "UPDATE idgen_worker SET fence = ?, owner = ?, hw = ?, lease_until = {now}, holder = ?{durably}" + AS_SEEN;
  private static final String FORMAT = "SELECT format FROM idgen_namespace WHERE ns = ?";
  private static final String SET_FORMAT =
      "INSERT INTO idgen_namespace(ns, format) SELECT {text}, {text}{from_nothing}{if_absent}";

  /** As the native stores make them; a test compares the two. */
  private static final List<String> TABLES_MYSQL =
      List.of(
          """
          CREATE TABLE IF NOT EXISTS idgen_namespace (
            ns VARBINARY(512) NOT NULL PRIMARY KEY,
            format VARBINARY(1024) NOT NULL) ENGINE = InnoDB""",
          """
          CREATE TABLE IF NOT EXISTS idgen_worker (
            ns VARBINARY(512) NOT NULL,
            worker BIGINT NOT NULL,
            fence BIGINT NOT NULL,
            owner VARBINARY(32) NOT NULL,
            hw BIGINT NOT NULL,
            lease_until BIGINT NOT NULL,
            clock_ahead BIGINT NOT NULL,
            holder VARBINARY(512) NOT NULL,
            PRIMARY KEY (ns, worker)) ENGINE = InnoDB""");

  private static final List<String> TABLES_POSTGRES =
      List.of(
          """
          CREATE TABLE IF NOT EXISTS idgen_namespace (
            ns varchar(128) NOT NULL PRIMARY KEY,
            format varchar(1024) NOT NULL)""",
          """
          CREATE TABLE IF NOT EXISTS idgen_worker (
            ns varchar(128) NOT NULL,
            worker bigint NOT NULL CHECK (worker >= 0),
            fence bigint NOT NULL CHECK (fence > 0),
            owner varchar(32) NOT NULL,
            hw bigint NOT NULL,
            lease_until bigint NOT NULL,
            clock_ahead bigint NOT NULL,
            holder varchar(512) NOT NULL,
            PRIMARY KEY (ns, worker))""");

  private final Connection connection;
  private final boolean isPostgres;
  private final String namespace;

  SqlWorkers(Connection connection, boolean isPostgres, String namespace) {
    this.connection = connection;
    this.isPostgres = isPostgres;
    this.namespace = namespace;
  }

  void createTables() throws SQLException {
    try (var statement = connection.createStatement()) {
      for (String table : tables(isPostgres)) statement.executeUpdate(table);
    }
  }

  static List<String> tables(boolean isPostgres) {
    return isPostgres ? TABLES_POSTGRES : TABLES_MYSQL;
  }

  /** Null: the namespace has none. */
  String format() throws SQLException {
    try (var statement = prepare(FORMAT, namespace);
        var row = statement.executeQuery()) {
      return row.next() ? text(row, 1) : null;
    }
  }

  /** If the namespace has none. */
  void setFormat(String format) throws SQLException {
    insert(SET_FORMAT, namespace, format);
  }

  static IdgenException formatIsGone() {
    return Errors.of(
        Status.STORE_PERMISSION,
        "a row inserted into idgen_namespace is not there: row-level security, a trigger or a rule prevents that."
            + " Allow this user to insert rows");
  }

  WorkerRow read(long worker) throws SQLException {
    try (var statement = prepare(READ, namespace, worker)) {
      var rows = rows(statement, worker);
      if (rows.size() != 1) throw damaged(worker, "it has " + rows.size() + " rows");
      return rows.get(0);
    }
  }

  List<WorkerRow> list() throws SQLException {
    try (var statement = prepare(LIST, namespace)) {
      return rows(statement, null);
    }
  }

  boolean replace(WorkerChange c) throws SQLException {
    if (c.seenFence() == 0) {
      return insert(
          INSERT,
          namespace,
          c.worker(),
          c.fence(),
          c.owner(),
          c.hwMs(),
          c.leaseMs(),
          c.nowMs(),
          c.holder(),
          c.nowMs(),
          c.maxLeadMs());
    }
    try (var statement = c.owner().isEmpty() ? giveUp(c) : take(c)) {
      return statement.executeUpdate() == 1;
    }
  }

  private PreparedStatement take(WorkerChange c) throws SQLException {
    return prepare(
        TAKE,
        c.fence(),
        c.owner(),
        c.hwMs(),
        c.leaseMs(),
        c.nowMs(),
        c.holder(),
        namespace,
        c.worker(),
        c.seenFence(),
        c.seenOwner(),
        c.seenHwMs(),
        c.nowMs(),
        c.maxLeadMs());
  }

  private PreparedStatement giveUp(WorkerChange c) throws SQLException {
    return prepare(
        GIVE_UP,
        c.fence(),
        c.owner(),
        c.hwMs(),
        c.holder(),
        namespace,
        c.worker(),
        c.seenFence(),
        c.seenOwner(),
        c.seenHwMs());
  }

  /** False: the row is there already. */
  private boolean insert(String sql, Object... values) throws SQLException {
    try (var statement = prepare(sql, values)) {
      return statement.executeUpdate() == 1;
    } catch (SQLException e) {
      if (!isPostgres && e.getErrorCode() == 1062) return false; // the transaction is whole
      throw e;
    }
  }

  /** Numbers, and texts: in MySQL these are bytes, so that the session's character set does not change them. */
  private PreparedStatement prepare(String sql, Object... values) throws SQLException {
    String durably = isPostgres ? DURABLY_POSTGRES : "";
    var statement =
        connection.prepareStatement(
            sql.replace("{now}", isPostgres ? NOW_POSTGRES : NOW_MYSQL)
                .replace("{is_tidb}", isPostgres ? "0" : IS_TIDB_MYSQL)
                .replace("{durably}", durably)
                .replace("{from_nothing}", isPostgres ? DURABLY_POSTGRES : " FROM DUAL")
                .replace("{text}", isPostgres ? "CAST(? AS varchar)" : "?")
                .replace("{number}", isPostgres ? "CAST(? AS bigint)" : "?")
                .replace("{if_absent}", isPostgres ? " ON CONFLICT DO NOTHING" : ""));
    try {
      for (int i = 0; i < values.length; i++) {
        if (values[i] instanceof Long number) statement.setLong(i + 1, number);
        else if (isPostgres) statement.setString(i + 1, (String) values[i]);
        else statement.setBytes(i + 1, ((String) values[i]).getBytes(UTF_8));
      }
      return statement;
    } catch (SQLException | RuntimeException e) {
      statement.close();
      throw e;
    }
  }

  /** {@code asked}: the worker of a row that may be missing, else null. */
  private static List<WorkerRow> rows(PreparedStatement statement, Long asked) throws SQLException {
    var rows = new ArrayList<WorkerRow>();
    try (var row = statement.executeQuery()) {
      while (row.next()) {
        long now = row.getLong(1);
        if (row.getLong(2) != 0) throw isTiDb();
        long worker = asked == null ? row.getLong(3) : asked;
        long fence = row.getLong(4);
        if (asked != null && row.wasNull()) {
          rows.add(new WorkerRow(worker, 0, "", 0, 0, 0, now, ""));
          continue;
        }
        if (fence < 1) throw damaged(worker, "its fence is " + fence + ", outside 1 to 2^63 - 2");
        rows.add(
            new WorkerRow(
                worker, fence, text(row, 5), row.getLong(6), row.getLong(7), row.getLong(8), now, text(row, 9)));
      }
    }
    return rows;
  }

  private static String text(ResultSet row, int column) throws SQLException {
    return new String(row.getBytes(column), UTF_8);
  }

  private static IdgenException isTiDb() {
    return Errors.of(
        Status.UNSUPPORTED,
        "TiDB runs a statement that commits by itself optimistically, so this store cannot know whether it has the"
            + " worker; use store = \"mysql://...\", which knows TiDB");
  }

  private static IdgenException damaged(long worker, String what) {
    return Errors.of(
        Status.STORE_DAMAGED, "worker " + worker + ": " + what + ". Set its row in idgen_worker right by hand");
  }
}
