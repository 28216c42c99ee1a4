package dev.idgen;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

/**
 * Whether a connection is inside a transaction. JDBC cannot say: if autocommit is off, a transaction may be open. The
 * drivers know without asking the server.
 */
final class SqlTransactions {
  private static final int IN_TRANSACTION = 1; // of MySQL's server status
  private static final int CANNOT_CHANGE_NOW = 1568;
  private static final int UNKNOWN_VARIABLE = 1193;

  /**
   * MySQL refuses each inside a transaction; outside, each says of the next transaction that it may write. The first is
   * of every version; filters of statements, such as Druid's "wall", may allow only the others, of which the first is
   * newer MySQL's and the second is MariaDB's.
   */
  private static final List<String> QUESTIONS =
      List.of("SET TRANSACTION READ WRITE", "SET @@transaction_read_only = 0", "SET @@tx_read_only = 0");

  /** Of the questions, the one that was answered last. */
  private volatile int answered;

  /** 1: it is. 0: it is not. -1: its driver does not say. */
  int isOpen(Connection connection, boolean isPostgres) throws SQLException {
    if (isPostgres) {
      Object state = ask(connection, "org.postgresql.jdbc.PgConnection", "getTransactionState");
      if (state != null) return state.toString().equals("IDLE") ? 0 : 1;
      return connection.getAutoCommit() ? 0 : -1;
    }
    Object context = ask(connection, "org.mariadb.jdbc.Connection", "getContext");
    Object status = context == null ? null : call(context, "org.mariadb.jdbc.client.Context", "getServerStatus");
    if (status instanceof Integer bits && (bits & IN_TRANSACTION) == 0) return 0;
    return failsInTransaction(connection) ? 1 : 0; // after an error the driver assumes a transaction
  }

  private boolean failsInTransaction(Connection connection) throws SQLException {
    SQLException refusal = null;
    for (int i = answered; i < QUESTIONS.size(); i++) {
      try {
        boolean isOpen = fails(connection, QUESTIONS.get(i));
        answered = i;
        return isOpen;
      } catch (SQLException e) {
        if (!SqlErrors.isOfFilter(e) && e.getErrorCode() != UNKNOWN_VARIABLE) throw e;
        if (refusal == null) refusal = e;
      }
    }
    answered = 0;
    throw refusal;
  }

  private static boolean fails(Connection connection, String question) throws SQLException {
    try (var statement = connection.createStatement()) {
      statement.execute(question);
      return false;
    } catch (SQLException e) {
      if (e.getErrorCode() == CANNOT_CHANGE_NOW) return true;
      throw e;
    }
  }

  /** Reads the driver's own connection, which a pool wraps. Null if it is another driver's, or does not say. */
  private static Object ask(Connection connection, String type, String method) {
    try {
      Class<?> known = load(connection, type);
      return known.isInstance(connection) || connection.isWrapperFor(known)
          ? call(known.isInstance(connection) ? connection : connection.unwrap(known), type, method)
          : null;
    } catch (ClassNotFoundException | SQLException | RuntimeException | LinkageError e) {
      return null;
    }
  }

  private static Object call(Object target, String type, String method) {
    try {
      return load(target, type).getMethod(method).invoke(target);
    } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
      return null;
    }
  }

  /** The driver is not a dependency of ours: its class is looked up in the class loader of the object or of the
   * program. */
  private static Class<?> load(Object near, String type) throws ClassNotFoundException {
    try {
      return Class.forName(type, false, near.getClass().getClassLoader());
    } catch (ClassNotFoundException e) {
      return Class.forName(type, false, Thread.currentThread().getContextClassLoader());
    }
  }
}
