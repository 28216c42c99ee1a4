package dev.idgen;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.util.function.ToIntFunction;

/** What the library holds for a {@link SqlStore}. */
final class SqlSink extends HostSink {
  private static final int DONE = 0; // IDGEN_SQL_DONE

  /** Separate, so that the opening of a LazyGenerator can be put around it. */
  interface Pool {
    /** Calls {@code work} with a connection, and gives the connection back. Returns what {@code work} does. */
    int with(ToIntFunction<SqlSession> work) throws Exception;
  }

  private volatile Pool pool;

  SqlSink(Pool pool) {
    this.pool = pool;
  }

  @Override
  void giveTo(long config) {
    IdgenJNI.configSetSqlStore(config, this);
  }

  @Override
  void forget() {
    pool = null;
    forgetFailures();
  }

  /** Called by the natives, on any thread. {@code work} is theirs. */
  void lend(long work) throws Exception {
    var current = pool;
    if (current == null) throw wasLetGo();
    if (current.with(session -> IdgenJNI.sqlWork(work, session, session.dialect())) == DONE) forgetFailures();
  }

  /**
   * Called by the natives with what another method threw. As {@link HostSink#failure}, and in numbers[3] the number of
   * the server's error, or its SQLSTATE.
   */
  byte[] failure(Throwable thrown, long[] numbers, byte[] sqlstate) {
    var reason = SqlErrors.reasonOf(thrown);
    numbers[3] = reason == null ? 0 : reason.getErrorCode();
    if (reason != null && numbers[3] == 0) {
      byte[] state = reason.getSQLState().getBytes(US_ASCII);
      System.arraycopy(state, 0, sqlstate, 0, Math.min(state.length, sqlstate.length));
    }
    return failure(SqlErrors.understood(thrown), SqlErrors.words(thrown), numbers);
  }
}
