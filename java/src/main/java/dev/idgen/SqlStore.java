package dev.idgen;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Objects;
import javax.sql.DataSource;

/**
 * Segments from a database, over connections of the program's own pool: MariaDB, MySQL and PostgreSQL. The table is that
 * of the stores {@code mysql://} and {@code postgres://}, so both may draw from one tag at the same time.
 *
 * <pre>{@code
 * var orders = Generator.builder().kind("segment").tag("orders").store(new SqlStore(pool)).build();
 * }</pre>
 *
 * <p>A grant is one statement, committed before it is used. A connection that commits by itself makes that one round
 * trip; on any other an open transaction is rolled back first, and the grant committed. So give it the pool itself, not
 * a proxy that takes part in the program's transactions.
 *
 * <p>What the database or the pool throws becomes a {@link StoreException}, retryable unless the server says that it is
 * for good: no table, no such tag, no right. The pool's and the driver's own time limits hold, and should be set.
 */
public final class SqlStore implements Store {
  private static final String WHERE = " WHERE ns = ? AND tag = ?";

  /**
   * One statement is one atomic step. TiDB runs a statement that commits by itself optimistically at first, so what
   * LAST_INSERT_ID gave may not be what was committed.
   */
  private static final String TAKE_MYSQL =
      "UPDATE idgen_segment SET max_id = LAST_INSERT_ID(max_id + ?), grants = grants + 1, updated_unix_ms = ?"
          + WHERE
          + " AND max_id BETWEEN 0 AND ? AND LOCATE('TiDB', VERSION()) = 0";

  /** No grant is acknowledged before it is on disk, whatever the session says. */
  private static final String TAKE_POSTGRES =
      "UPDATE idgen_segment SET max_id = max_id + ?, grants = grants + 1, updated_unix_ms = ?"
          + " FROM (SELECT set_config('synchronous_commit', 'on', true)) AS durable"
          + WHERE
          + " AND max_id BETWEEN 0 AND ? RETURNING max_id";

  private static final String RETURN =
      "UPDATE idgen_segment SET max_id = max_id - ?, updated_unix_ms = ?" + WHERE + " AND max_id = ?";
  private static final String READ = "SELECT max_id FROM idgen_segment" + WHERE;

  private static final String HOW_TO_CREATE =
      "Make it with `idgen segment create --store URL --tag TAG`, or INSERT INTO idgen_segment(ns, tag, max_id)"
          + " VALUES(NAMESPACE, TAG, 0)";

  private final DataSource pool;

  /**
   * A store over a pool. Nothing is asked of it yet.
   *
   * @param pool gives a connection for each call, and gets it back when the call is over
   */
  public SqlStore(DataSource pool) {
    this.pool = Objects.requireNonNull(pool, "pool");
  }

  @Override
  public long segmentTake(String namespace, String tag, long count) {
    if (count < 1) {
      throw Errors.of(Status.ARGUMENT, "a segment of " + count + " numbers cannot be meant; ask for at least 1");
    }
    long last = inTransaction(connection -> new Row(connection, namespace, tag).take(count));
    if (last < count) {
      throw Errors.of(
          Status.STORE_DAMAGED,
          "the driver gave " + last + " for the end of a grant of " + count + " numbers; it was not used");
    }
    return last - count + 1;
  }

  @Override
  public void segmentReturn(String namespace, String tag, long last, long unused) {
    if (unused < 0 || last < unused) {
      throw Errors.of(
          Status.ARGUMENT, "of a segment that ends at " + last + ", " + unused + " numbers cannot be unused");
    }
    if (unused == 0) return;
    inTransaction(
        connection -> {
          new Row(connection, namespace, tag).giveBack(last, unused);
          return 0;
        });
  }

  private interface Use {
    long on(Connection connection) throws SQLException;
  }

  /** What the pool and the driver throw becomes an IdgenException; the connection goes back on every path. */
  private long inTransaction(Use use) {
    try (var connection = pool.getConnection()) {
      boolean commits = !connection.getAutoCommit();
      if (commits) connection.rollback();
      try {
        long result = use.on(connection);
        if (commits) connection.commit();
        return result;
      } catch (SQLException | RuntimeException e) {
        if (commits) rollBack(connection, e);
        throw e;
      }
    } catch (IdgenException e) {
      throw e;
    } catch (SQLException | RuntimeException e) {
      throw translated(e);
    }
  }

  private static void rollBack(Connection connection, Exception because) {
    try {
      connection.rollback();
    } catch (SQLException | RuntimeException e) {
      because.addSuppressed(e);
    }
  }

  /** A tag's row, on one connection. */
  private static final class Row {
    private final Connection connection;
    private final String namespace;
    private final String tag;
    private final boolean isPostgres;

    Row(Connection connection, String namespace, String tag) throws SQLException {
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

    /** The last number of the grant. */
    long take(long count) throws SQLException {
      try (var statement = prepare(isPostgres ? TAKE_POSTGRES : TAKE_MYSQL)) {
        statement.setLong(1, count);
        statement.setLong(2, System.currentTimeMillis());
        name(statement, 3);
        statement.setLong(5, Long.MAX_VALUE - count);
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
      throw Errors.of(
          Status.TAG_UNKNOWN,
          "tag \"" + tag + "\" of namespace \"" + namespace + "\" is not in the table idgen_segment. " + HOW_TO_CREATE
              + ": it begins at 0, so the first id is 1");
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
        return Errors.of(
            Status.EXHAUSTED,
            "tag \"" + tag + "\" of namespace \"" + namespace + "\" stands at " + found + "; " + count
                + " more would pass 2^63 - 1. Take a smaller step, or a new tag");
      }
      return Errors.of(Status.STORE_UNAVAILABLE, "tag \"" + tag + "\" changed while it was read; nothing was granted");
    }
  }

  /** By what the server said, which a pool may have wrapped. */
  private static IdgenException translated(Exception thrown) {
    Throwable root = thrown;
    int status = 0;
    boolean noTable = false;
    for (Throwable cause = thrown; cause != null; cause = cause == cause.getCause() ? null : cause.getCause()) {
      root = cause;
      if (status != 0 || !(cause instanceof SQLException sql)) continue;
      status = statusOf(sql);
      noTable = sql.getErrorCode() == 1146 || "42P01".equals(sql.getSQLState());
    }
    String text = StoreSink.textOf(thrown);
    if (root != thrown) text += ", because of " + StoreSink.textOf(root);
    if (noTable) {
      text = "the table idgen_segment is not there. " + HOW_TO_CREATE + ". The driver: " + text;
    } else if (status != 0) {
      text = "the store's database: " + text;
    } else {
      text = "the store's database, or the pool of its connections: " + text;
    }
    return Errors.of(status == 0 ? Status.STORE_UNAVAILABLE : status, text);
  }

  /** By PostgreSQL's SQLSTATE, else by MySQL's number. 0: unknown, or it can pass. */
  private static int statusOf(SQLException e) {
    switch (String.valueOf(e.getSQLState())) {
      case "42P01", "3D000":
        return Status.STORE_MISSING;
      case "42501", "25006", "28000", "28P01":
        return Status.STORE_PERMISSION;
      case "53100":
        return Status.STORE_FULL;
      case "42703", "42804":
        return Status.STORE_VERSION;
      case "22003", "23514":
        return Status.STORE_DAMAGED;
      default:
        break;
    }
    return switch (e.getErrorCode()) {
      case 1146, 1049 -> Status.STORE_MISSING;
      case 1044, 1045, 1142, 1143, 1290, 1792 -> Status.STORE_PERMISSION;
      case 1021, 1114 -> Status.STORE_FULL;
      case 1054 -> Status.STORE_VERSION;
      case 1690 -> Status.STORE_DAMAGED;
      default -> 0;
    };
  }
}
