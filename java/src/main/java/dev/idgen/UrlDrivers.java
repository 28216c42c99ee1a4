package dev.idgen;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The JDBC drivers of the program, for the stores {@code mysql://} and {@code postgres://} whose modules are absent.
 * The natives call its methods, on any thread. It names no class of {@code java.sql}, which a JRE need not have.
 */
final class UrlDrivers {
  static final UrlDrivers OF_PROGRAM = new UrlDrivers();

  /** How many failures keep their exceptions: of several stores at the same time. */
  private static final int FAILURES = 8;

  /** The natives hold weak references: this set is what keeps a session, as long as its class loader. */
  private final Set<Object> open = ConcurrentHashMap.newKeySet();

  private final SqlSink[] failures = new SqlSink[FAILURES];
  private final AtomicInteger nextFailure = new AtomicInteger();

  private UrlDrivers() {
    for (int i = 0; i < FAILURES; i++) failures[i] = new SqlSink(null);
  }

  /** {@code texts} are those of idgen_sql_address_t, in their order. Returns a {@link SqlSession}. */
  Object connect(int dialect, byte[][] texts, int port, long timeoutMs) throws Exception {
    try {
      Object session = UrlDriver.open(UrlAddress.of(dialect, texts, port, timeoutMs));
      open.add(session);
      for (var sink : failures) sink.forgetFailures();
      return session;
    } catch (NoClassDefFoundError e) {
      throw Errors.of(
          Status.UNSUPPORTED,
          "a class is missing: " + e.getMessage()
              + ". If it is one of java.sql, use a Java runtime with the module java.sql");
    }
  }

  void close(Object session) throws Exception {
    open.remove(session);
    ((SqlSession) session).close();
  }

  /** As {@link SqlSink#failure}. */
  byte[] failure(Throwable thrown, long[] numbers, byte[] sqlstate) {
    var sink = failures[Math.floorMod(nextFailure.getAndIncrement(), FAILURES)];
    // A class of java.sql may be what is missing.
    return thrown instanceof IdgenException ? sink.failure(thrown, "", numbers)
        : sink.failure(thrown, numbers, sqlstate);
  }
}
