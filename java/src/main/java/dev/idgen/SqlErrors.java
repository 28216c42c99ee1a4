package dev.idgen;

import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.regex.Pattern;

/** What databases, drivers and pools say, in idgen's terms. */
final class SqlErrors {
  static final String HOW_TO_CREATE =
      "Make it with SqlStore.createSegment(NAMESPACE, TAG) or `idgen segment create --store URL --tag TAG`";

  private static final String HOW_TO_CREATE_WORKERS =
      "Make it with SqlStore.createTables() or `idgen store create --store URL`";

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

  static IdgenException insideATransaction() {
    return Errors.of(
        Status.STORE_UNSAFE,
        "the pool gave a connection that is inside a transaction, which is its owner's to commit or to roll back:"
            + " nothing was asked of it and nothing was granted. For connections that nobody else uses, give SqlStore"
            + " a small pool of its own with autocommit on");
  }

  static IdgenException transactionUnknown(String product) {
    return Errors.of(
        Status.UNSUPPORTED,
        "the pool gave a connection to " + product + " with autocommit off that does not tell whether it is inside a"
            + " transaction, and what is inside one must be left alone. Give SqlStore a small pool of its own with"
            + " autocommit on");
  }

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

  /** By what the server said, which a pool may have wrapped. */
  static IdgenException translated(Exception thrown) {
    Throwable root = thrown;
    int status = 0;
    boolean noTable = false;
    boolean isFiltered = false;
    for (Throwable cause = thrown; cause != null; cause = cause == cause.getCause() ? null : cause.getCause()) {
      root = cause;
      isFiltered |= isOfDruidsFilter(cause);
      if (status != 0 || !(cause instanceof SQLException sql)) continue;
      status = statusOf(sql);
      noTable = isNoTable(sql);
    }
    String text = StoreSink.textOf(thrown);
    if (status == 0 && isEmptyPool(thrown)) {
      var failure =
          Errors.of(Status.STORE_UNAVAILABLE, "the pool gave no connection. " + ADVICE + ". It said: " + text);
      failure.initCause(thrown);
      return failure.thatEndsWaits();
    }
    if (root != thrown) text += ", because of " + StoreSink.textOf(root);
    if (isFiltered) {
      status = Status.STORE_PERMISSION;
      text = FILTERED + (text.length() > LONGEST_REFUSAL ? text.substring(0, LONGEST_REFUSAL) + "..." : text);
    } else if (noTable) {
      String table = missingTable(text);
      text =
          "the table "
              + table
              + " is not there. "
              + (table.equals("idgen_segment") ? HOW_TO_CREATE : HOW_TO_CREATE_WORKERS)
              + ". The driver: "
              + text;
    } else if (status != 0) {
      text = "the store's database: " + text;
    } else {
      text = "the store's database, or the pool of its connections: " + text;
    }
    var failure = Errors.of(status == 0 ? Status.STORE_UNAVAILABLE : status, text);
    failure.initCause(thrown);
    return failure;
  }

  /**
   * HikariCP throws the same exception if it has lent all connections and if the server does not answer; its counts
   * differ.
   */
  private static boolean isEmptyPool(Exception thrown) {
    return thrown instanceof SQLTransientConnectionException && ALL_LENT.matcher("" + thrown.getMessage()).find();
  }

  /** The one that the server's text names. */
  private static String missingTable(String text) {
    for (String table : new String[] {"idgen_worker", "idgen_namespace"}) {
      if (text.contains(table)) return table;
    }
    return "idgen_segment";
  }

  /** It throws plain exceptions, too. */
  private static boolean isOfDruidsFilter(Throwable thrown) {
    var stack = thrown.getStackTrace();
    return stack.length > 0 && stack[0].getClassName().startsWith("com.alibaba.druid.wall.");
  }

  /** Neither a server nor a driver says an error in this way. */
  static boolean isOfFilter(SQLException e) {
    return e.getErrorCode() == 0 && e.getSQLState() == null;
  }

  static boolean isNoTable(Throwable thrown) {
    return thrown instanceof SQLException sql && (sql.getErrorCode() == 1146 || "42P01".equals(sql.getSQLState()));
  }

  /** By PostgreSQL's SQLSTATE, else by MySQL's number. 0: unknown, or temporary. */
  private static int statusOf(SQLException e) {
    switch (String.valueOf(e.getSQLState())) {
      case "42P01", "3D000", "3F000":
        return Status.STORE_MISSING;
      case "42501", "25006", "28000", "28P01":
        return Status.STORE_PERMISSION;
      case "53100":
        return Status.STORE_FULL;
      case "42703", "42804", "42846", "42883":
        return Status.STORE_VERSION;
      case "22003", "23514":
        return Status.STORE_DAMAGED;
      default:
        break;
    }
    return switch (e.getErrorCode()) {
      case 1146, 1049 -> Status.STORE_MISSING;
      case 1044, 1045, 1142, 1143, 1290, 1792 -> Status.STORE_PERMISSION;
      case 1130, 1251, 1698, 1820, 1862, 3118, 4151 -> Status.STORE_PERMISSION; // accounts: no second try lets them in
      case 1021, 1114 -> Status.STORE_FULL;
      case 1054 -> Status.STORE_VERSION;
      case 1690 -> Status.STORE_DAMAGED;
      default -> 0;
    };
  }
}
