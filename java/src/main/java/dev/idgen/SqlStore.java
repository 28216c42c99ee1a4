package dev.idgen;

import java.time.Duration;
import java.util.ArrayList;
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
public final class SqlStore {
  private static final Duration POOL_TIMEOUT = Duration.ofSeconds(2);

  final SqlSink.Pool pool;

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
    this.pool = new Lender(Objects.requireNonNull(pool, "pool"), poolTimeout);
  }

  /**
   * Makes the tables of segments and workers, if they are missing: all that workers need. May wait for the database.
   *
   * @throws StoreException if it could not be done
   */
  public void createTables() {
    builder().admin().createStore();
  }

  /**
   * All workers of a namespace that anybody has had, by number. May wait for the database.
   *
   * @param namespace the property of that name
   * @return a row for each
   */
  public List<WorkerInfo> workerList(String namespace) {
    return builder()
        .namespace(namespace)
        .configuration
        .with(
            config -> {
              var rows = new ArrayList<Object[]>();
              IdgenJNI.workerList(config, rows);
              return rows.stream().map(WorkerInfo::of).toList();
            });
  }

  /**
   * Makes a tag at 0, so that its first id is 1, and the table if it is missing. May wait for the database.
   *
   * @param namespace the property of that name; {@code "default"} unless a generator sets it
   * @param tag the property of that name
   * @throws StoreException (status {@link Status#TAG_EXISTS}) if the tag already exists
   */
  public void createSegment(String namespace, String tag) {
    of(namespace, tag).createSegment();
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
    return of(namespace, tag).showSegment();
  }

  /**
   * All tags of all namespaces, in the order of their names. May wait for the database.
   *
   * @return a row for each tag
   */
  public List<SegmentRow> listSegments() {
    return builder().admin().listSegments();
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
    return of(namespace, tag).advanceSegment(to);
  }

  private StoreAdmin of(String namespace, String tag) {
    return builder().namespace(namespace).tag(tag).admin();
  }

  private Generator.Builder builder() {
    return Generator.builder().store(this);
  }
}
