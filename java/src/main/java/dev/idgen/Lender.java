package dev.idgen;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.ToIntFunction;
import javax.sql.DataSource;

/**
 * Borrows connections from a pool, and waits for the pool no longer than a bound.
 *
 * <p>A pool's own wait can be long, or endless, and cannot be ended. So a thread of ours waits there, and the caller
 * waits for that thread. A connection that comes too late is offered to the next caller for as long as the bound. So a
 * pool that serves its waiters in turn serves us before the transactions that would empty it again.
 *
 * <p>The separate thread has a second use: many frameworks bind a transaction to its thread, so what is borrowed on
 * another thread is never the connection of the caller's transaction.
 */
final class Lender implements SqlSink.Pool {
  private record Offer(Connection connection, Throwable failure) {}

  private final DataSource pool;
  private final Duration bound;
  private final long boundNs;
  private final SqlTransactions transactions = new SqlTransactions();
  private final SynchronousQueue<Offer> offers = new SynchronousQueue<>(true);

  /** Seekers whose caller has given up; a caller waits for every other seeker. Guarded by this. */
  private int overdue;

  Lender(DataSource pool, Duration bound) {
    this.pool = pool;
    this.bound = bound;
    this.boundNs = bound.toNanos();
  }

  @Override
  public int with(ToIntFunction<SqlSession> work) throws SQLException {
    try (var connection = borrow()) {
      var session = new SqlSession(connection, transactions);
      int made = work.applyAsInt(session);
      session.leave();
      return made;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw Errors.of(Status.STORE_UNAVAILABLE, "interrupted while waiting for a connection of the pool");
    }
  }

  /** Throws what the pool throws. */
  private Connection borrow() throws SQLException, InterruptedException {
    if (!adopt()) {
      var seeker = new Thread(this::seek, "idgen-sql");
      seeker.setDaemon(true);
      seeker.start();
    }
    Offer offer = null;
    try {
      offer = offers.poll(boundNs, TimeUnit.NANOSECONDS);
    } finally {
      if (offer == null) abandon();
    }
    if (offer == null) throw SqlErrors.nobodyLends(bound);
    if (offer.failure instanceof SQLException e) throw e;
    if (offer.failure instanceof RuntimeException e) throw e;
    if (offer.failure instanceof Error e) throw e;
    if (offer.failure != null) throw new SQLException(offer.failure);
    return offer.connection;
  }

  private synchronized boolean adopt() {
    if (overdue == 0) return false;
    overdue--;
    return true;
  }

  private synchronized void abandon() {
    overdue++;
  }

  private void seek() {
    Offer offer;
    try {
      offer = new Offer(pool.getConnection(), null);
    } catch (Throwable e) {
      offer = new Offer(null, e);
    }
    // Why the server was down then is of no use to a later caller.
    long lingerNs = offer.connection == null ? 0 : boundNs;
    try {
      while (!offers.offer(offer, lingerNs, TimeUnit.NANOSECONDS)) {
        lingerNs = boundNs;
        if (!adopt()) continue; // somebody has just claimed it
        if (offer.connection != null) offer.connection.close();
        return;
      }
    } catch (InterruptedException | SQLException e) {
      return; // the thread is ours alone, and nobody is left to tell
    }
  }
}
