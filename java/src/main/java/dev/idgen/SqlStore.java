package dev.idgen;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import javax.sql.DataSource;

/**
 * Segments and workers from a database, over connections of the program's own pool: MariaDB, MySQL and PostgreSQL. The
 * tables are those of the stores {@code mysql://} and {@code postgres://}, so both may draw from one tag at the same
 * time, and no worker is leased by both.
 *
 * <pre>{@code
 * var config = new HikariConfig();
 * config.setJdbcUrl(url);
 * config.setMaximumPoolSize(2); // small, and for idgen alone
 * var store = new SqlStore(new HikariDataSource(config));
 * var orders = Generator.builder().kind("segment").tag("orders").store(store).build();
 * var events = Generator.builder().set("worker", "auto").store(store).build();
 * }</pre>
 *
 * <p>Give it a small pool of its own; two connections serve any number of generators. In a pool shared with
 * transactions, those that draw ids can hold all connections while they wait for the one that the store needs. The call
 * then fails after {@code poolTimeout}, before {@code wait_max}, with a {@link StoreException} that says so.
 *
 * <p>A grant, or a worker's renewal, is one statement, committed before it is used. With autocommit that is one round
 * trip. A connection that is inside a transaction is refused ({@link Status#STORE_UNSAFE}) and left as it is.
 * Connections are borrowed on the store's own threads, so they never belong to the caller's transaction.
 *
 * <p>What the database or the pool throws becomes the cause of a {@link StoreException}. It is retryable unless the
 * server says that the error is permanent: no table, no such tag, no permission. The driver's own time limits apply,
 * and should be set.
 */
public final class SqlStore implements WorkerStore {
  private static final Duration POOL_TIMEOUT = Duration.ofSeconds(2);

  private final Lender lender;
  private final Duration poolTimeout;
  private final SqlTransactions transactions = new SqlTransactions();

  /**
   * A store over a pool, for which it waits at most 2 seconds. Does not use the pool yet.
   *
   * @param pool gives a connection for each call, and gets it back when the call is over
   */
  public SqlStore(DataSource pool) {
    this(pool, POOL_TIMEOUT);
  }

  /**
   * A store over a pool. Does not use the pool yet.
   *
   * @param pool gives a connection for each call, and gets it back when the call is over
   * @param poolTimeout how long one call waits for a connection
   */
  public SqlStore(DataSource pool, Duration poolTimeout) {
    if (poolTimeout.isNegative() || poolTimeout.isZero()) {
      throw new IllegalArgumentException("poolTimeout is " + poolTimeout + "; allowed: above 0");
    }
    this.lender = new Lender(Objects.requireNonNull(pool, "pool"), poolTimeout);
    this.poolTimeout = poolTimeout;
  }

  @Override
  public long segmentTake(String namespace, String tag, long count) {
    return segmentTakeAbove(namespace, tag, count, 0);
  }

  @Override
  public long segmentTakeAbove(String namespace, String tag, long count, long above) {
    if (count < 1 || above < 0) {
      throw Errors.of(
          Status.ARGUMENT,
          "a segment of " + count + " numbers above " + above + " is invalid; ask for at least 1");
    }
    long last = inTransaction(namespace, tag, statements -> statements.take(count, above));
    if (last - count < above) {
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
        namespace,
        tag,
        statements -> {
          statements.giveBack(last, unused);
          return null;
        });
  }

  /**
   * Makes the tables of segments and workers, if they are missing: all that workers need. May wait for the database.
   *
   * @throws StoreException if it could not be done
   */
  public void createTables() {
    inTransaction(
        "",
        "",
        statements -> {
          statements.createTable();
          statements.workers().createTables();
          return null;
        });
  }

  @Override
  public String namespaceFormat(String namespace, String format) {
    // Each step is a transaction: inside one, a row that another process has just made may not be seen.
    String found = inTransaction(namespace, "", statements -> statements.workers().format());
    if (found == null && !format.isEmpty()) {
      inTransaction(
          namespace,
          "",
          statements -> {
            statements.workers().setFormat(format);
            return null;
          });
      found = inTransaction(namespace, "", statements -> statements.workers().format());
      if (found == null) throw SqlWorkers.formatIsGone();
    }
    return found == null ? "" : found;
  }

  @Override
  public WorkerRow workerRead(String namespace, long worker) {
    return inTransaction(namespace, "", statements -> statements.workers().read(worker));
  }

  /** All workers of a namespace that anybody has had, by number. */
  @Override
  public List<WorkerRow> workerList(String namespace) {
    return inTransaction(namespace, "", statements -> statements.workers().list());
  }

  @Override
  public boolean workerReplace(String namespace, WorkerChange change) {
    return inTransaction(namespace, "", statements -> statements.workers().replace(change));
  }

  /**
   * Makes a tag at 0, so that its first id is 1, and the table if it is missing. May wait for the database.
   *
   * @param namespace the property of that name; {@code "default"} unless a generator sets it
   * @param tag the property of that name
   * @throws StoreException (status {@link Status#TAG_EXISTS}) if the tag already exists
   */
  public void createSegment(String namespace, String tag) {
    boolean made;
    try {
      made = inTransaction(namespace, tag, SqlStatements::insert);
    } catch (IdgenException e) {
      if (!SqlErrors.isNoTable(e.getCause())) throw e;
      inTransaction(
          namespace,
          tag,
          statements -> {
            statements.createTable();
            return null;
          });
      made = inTransaction(namespace, tag, SqlStatements::insert);
    }
    if (made) return;
    throw Errors.of(
        Status.TAG_EXISTS,
        "tag \"" + tag + "\" of namespace \"" + namespace + "\" is in the table idgen_segment already");
  }

  /**
   * A tag's counter in the database. May wait for it.
   *
   * @param namespace as it was created
   * @param tag as it was created
   * @return how it stands
   * @throws StoreException (status {@link Status#TAG_UNKNOWN}) if the tag does not exist
   */
  public SegmentInfo showSegment(String namespace, String tag) {
    return inTransaction(namespace, tag, SqlStatements::show);
  }

  /**
   * All tags of all namespaces, in the order of their names. May wait for the database.
   *
   * @return a row for each tag
   */
  public List<SegmentRow> listSegments() {
    return inTransaction("", "", SqlStatements::list);
  }

  /**
   * Raises a tag's counter to a number that is in use, or by 1 if it is already there; never lowers it. Running
   * generators still issue what they reserved before. May wait for the database.
   *
   * @param namespace as it was created
   * @param tag as it was created
   * @param to the number
   * @return how the counter stands now
   * @throws StoreException (status {@link Status#TAG_UNKNOWN}) if the tag does not exist
   */
  public SegmentInfo advanceSegment(String namespace, String tag, long to) {
    if (to < 0) throw Errors.of(Status.ARGUMENT, "a tag cannot be advanced to " + to + "; allowed: 0 to 2^63 - 1");
    return inTransaction(namespace, tag, statements -> statements.advance(to));
  }

  private interface Use<T> {
    T on(SqlStatements statements) throws SQLException;
  }

  /** What the pool and the driver throw becomes an IdgenException; the connection goes back on every path. */
  private <T> T inTransaction(String namespace, String tag, Use<T> use) {
    try (var connection = lender.borrow()) {
      if (connection == null) throw SqlErrors.nobodyLends(poolTimeout);
      var statements = new SqlStatements(connection, namespace, tag);
      if (statements.isInTransaction(transactions)) throw SqlErrors.insideATransaction();
      boolean commits = !connection.getAutoCommit();
      try {
        T result = use.on(statements);
        if (commits) connection.commit();
        return result;
      } catch (SQLException | RuntimeException e) {
        if (commits) rollBack(connection, e);
        throw e;
      }
    } catch (IdgenException e) {
      throw e;
    } catch (SQLException | RuntimeException e) {
      throw SqlErrors.translated(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw Errors.of(Status.STORE_UNAVAILABLE, "interrupted while waiting for a connection of the pool");
    }
  }

  private static void rollBack(Connection connection, Exception because) {
    try {
      connection.rollback();
    } catch (SQLException | RuntimeException e) {
      because.addSuppressed(e);
    }
  }
}
