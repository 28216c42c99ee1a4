package dev.idgen;

import java.sql.Connection;
import java.sql.SQLException;

/**
 * Whether a connection is inside a transaction. JDBC cannot say: if autocommit is off, a transaction may be open. The
 * drivers know without asking the server.
 */
final class SqlTransactions {
  private static final int IN_TRANSACTION = 1; // of MySQL's server status
  private static final int CANNOT_CHANGE_NOW = 1568;

  private SqlTransactions() {}

  static boolean isOpen(Connection connection, boolean isPostgres) throws SQLException {
    if (isPostgres) {
      Object state = ask(connection, "org.postgresql.jdbc.PgConnection", "getTransactionState");
      if (state != null) return !state.toString().equals("IDLE");
      if (connection.getAutoCommit()) return false;
      throw SqlErrors.transactionUnknown("PostgreSQL");
    }
    Object context = ask(connection, "org.mariadb.jdbc.Connection", "getContext");
    Object status = context == null ? null : call(context, "org.mariadb.jdbc.client.Context", "getServerStatus");
    if (status instanceof Integer bits && (bits & IN_TRANSACTION) == 0) return false;
    return failsInTransaction(connection); // after an error the driver assumes a transaction
  }

  /** Asks MySQL with a statement that fails inside a transaction and otherwise changes nothing. */
  private static boolean failsInTransaction(Connection connection) throws SQLException {
    try (var statement = connection.createStatement()) {
      statement.execute("SET TRANSACTION READ WRITE");
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
