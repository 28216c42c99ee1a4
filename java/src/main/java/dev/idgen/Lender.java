package dev.idgen;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;

/**
 * Borrows a pool's connections, and waits for the pool no longer than a bound.
 *
 * <p>A pool's own wait can be long, or endless, and nobody can end it. So a thread of ours waits there, and the caller
 * waits for that thread. A connection that comes too late is offered to the next caller for as long as the bound: a
 * pool that serves its waiters in turn then serves us before the transactions that are about to empty it again.
 *
 * <p>A thread of its own has a second use: many frameworks bind a transaction to its thread, and what is borrowed on
 * another thread can never be the connection of the transaction that asks for an id.
 */
final class Lender {
  private record Offer(Connection connection, Throwable failure) {}

  private final DataSource pool;
  private final long boundNs;
  private final SynchronousQueue<Offer> offers = new SynchronousQueue<>(true);

  /** Seekers whose caller has given up; every other seeker has a caller that waits for it. Guarded by this. */
  private int overdue;

  Lender(DataSource pool, Duration bound) {
    this.pool = pool;
    this.boundNs = bound.toNanos();
  }

  /** Null if the pool gave none within the bound. Throws what the pool throws. */
  Connection borrow() throws SQLException, InterruptedException {
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
    if (offer == null) return null;
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
    // Why the server was away then is of no use to who comes later.
    long lingerNs = offer.connection == null ? 0 : boundNs;
    try {
      while (!offers.offer(offer, lingerNs, TimeUnit.NANOSECONDS)) {
        lingerNs = boundNs;
        if (!adopt()) continue; // somebody has just come for it
        if (offer.connection != null) offer.connection.close();
        return;
      }
    } catch (InterruptedException | SQLException e) {
      return; // nobody else has this thread, and nobody is left to be told
    }
  }
}
