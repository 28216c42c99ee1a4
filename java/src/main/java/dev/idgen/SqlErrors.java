package dev.idgen;

import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.regex.Pattern;

/** What drivers and pools throw. What a server means by it is the library's to say. */
final class SqlErrors {
  private static final String ADVICE =
      "A transaction that asks for ids while it holds one may be waiting for itself: ask before it begins, or give"
          + " SqlStore a small pool of its own";

  private static final String FILTERED =
      "Druid's filter \"wall\" refused what SqlStore needs. Leave its settings metadataAllow, selectAllow, insertAllow,"
          + " updateAllow and setAllow at true, and createTableAllow for createTables, or give SqlStore a pool without"
          + " the filter. It said: ";

  /** Druid's reason is in front, and the statement behind it. */
  private static final int LONGEST_REFUSAL = 150;

  private static final Pattern ALL_LENT = Pattern.compile("total=([1-9]\\d*), active=\\1,");

  private SqlErrors() {}

  /** The caller may hold the connection that this waits for, so the call must not wait any longer. */
  static IdgenException nobodyLends(Duration bound) {
    return Errors.of(
            Status.STORE_UNAVAILABLE,
            "no connection within "
                + bound.toMillis()
                + " ms (poolTimeout): the pool has lent all of them, or the server does not answer. "
                + ADVICE)
        .thatEndsWaits();
  }

  /** What only the pool knows, as an IdgenException; else the same. */
  static Throwable understood(Throwable thrown) {
    IdgenException known = null;
    String text = words(thrown);
    if (isFiltered(thrown)) {
      boolean isLong = text.length() > LONGEST_REFUSAL;
      known =
          Errors.of(Status.STORE_PERMISSION, FILTERED + (isLong ? text.substring(0, LONGEST_REFUSAL) + "..." : text));
    } else if (isEmptyPool(thrown)) {
      known = Errors.of(Status.STORE_UNAVAILABLE, "the pool gave no connection. " + ADVICE + ". It said: " + text);
      known.thatEndsWaits();
    }
    if (known == null) return thrown;
    known.initCause(thrown);
    return known;
  }

  /** A pool may have wrapped the server's reason, or the network's. */
  static String words(Throwable thrown) {
    String words = rootWords(thrown);
    Throwable cause = thrown.getCause();
    return cause == null || cause == thrown ? words : HostSink.textOf(thrown) + ", because of " + words;
  }

  static String rootWords(Throwable thrown) {
    Throwable root = thrown;
    while (root.getCause() != null && root.getCause() != root) root = root.getCause();
    return HostSink.textOf(root);
  }

  /** What has the server's number, or else its SQLSTATE. Null: nothing has. */
  static SQLException reasonOf(Throwable thrown) {
    SQLException state = null;
    for (Throwable e = thrown; e != null; e = e == e.getCause() ? null : e.getCause()) {
      if (!(e instanceof SQLException sql)) continue;
      if (sql.getErrorCode() > 0) return sql;
      if (state == null && sql.getSQLState() != null) state = sql;
    }
    return state;
  }

  /** Neither a server nor a driver says an error in this way. */
  static boolean isOfFilter(SQLException e) {
    return e.getErrorCode() == 0 && e.getSQLState() == null;
  }

  /** It throws plain exceptions, too. */
  private static boolean isFiltered(Throwable thrown) {
    for (Throwable e = thrown; e != null; e = e == e.getCause() ? null : e.getCause()) {
      var stack = e.getStackTrace();
      if (stack.length > 0 && stack[0].getClassName().startsWith("com.alibaba.druid.wall.")) return true;
    }
    return false;
  }

  /**
   * HikariCP throws the same exception if it has lent all connections and if the server does not answer; its counts
   * differ.
   */
  private static boolean isEmptyPool(Throwable thrown) {
    return thrown instanceof SQLTransientConnectionException && ALL_LENT.matcher("" + thrown.getMessage()).find();
  }
}
