package dev.idgen;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.ref.WeakReference;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Stores of the program's own; tests/servers has those of {@link SqlStore} with real servers. */
class StoreTest {
  private static Generator.Builder on(Store store) {
    return Generator.builder().kind("segment").tag("orders").segmentStep(10).store(store);
  }

  @Test
  void idsComeFromTheProgramsStoreAndTheRestGoesBack() {
    var store = new Counter();
    try (var orders = on(store).build()) {
      assertEquals(25, orders.nextBatch(25)[24]);
    }
    assertEquals(25, store.maxId());
  }

  private static String serial(Store store, String pattern) {
    try (var orders = Generator.builder().kind("serial").tag("orders").pattern(pattern).store(store).build()) {
      return orders.nextText();
    }
  }

  @Test
  void serialsWithADateNeedAStoreThatGrantsAboveANumber() {
    var store = new Counter() {
      @Override
      public long segmentTakeAbove(String namespace, String tag, long count, long above) throws Exception {
        segmentTake(namespace, tag, Math.max(above - maxId(), 0));
        return segmentTake(namespace, tag, count);
      }
    };
    assertTrue(serial(store, "{yyyyMMdd}-{0000}").endsWith("-0001"));
    assertTrue(serial(store, "{yyyyMMdd}-{0000}").endsWith("-0002"));
    assertEquals("C0001", serial(new Counter(), "C{0000}"));
    var refused = assertThrows(IdgenException.class, () -> serial(new Counter(), "{yyyyMMdd}-{0000}"));
    assertEquals(Status.UNSUPPORTED, refused.status());
  }

  @Test
  void manyThreadsDrawWhileTheLibrarysOwnAsksAhead() throws Exception {
    var asksAhead = new AtomicBoolean();
    var store = new Counter();
    var thisOne = Thread.currentThread();
    store.beforeTake = () ->
        asksAhead.compareAndSet(false, Thread.currentThread() != thisOne && Thread.currentThread().isDaemon());
    try (var orders = on(store).build()) {
      Ids.assertDistinct(Threads.together(4, () -> LongStream.generate(orders::next).limit(500).toArray()));
    }
    assertTrue(store.maxId() >= 2000);
    assertTrue(asksAhead.get(), "the library's own thread, which keeps no JVM alive");
  }

  private static IdgenException failure(Throwable failure) {
    var store = new Counter();
    store.failure = failure;
    return assertThrows(IdgenException.class, () -> on(store).waitMax(Duration.ZERO).build());
  }

  @Test
  void whatAStoreThrowsBecomesTheExceptionOfTheCall() {
    var known = failure(IdgenException.of(Status.TAG_UNKNOWN, "no such tag here"));
    assertInstanceOf(StoreException.class, known);
    assertEquals(Status.TAG_UNKNOWN, known.status());
    assertEquals("no such tag here", known.getMessage());
    assertInstanceOf(ExhaustedException.class, failure(IdgenException.of(Status.EXHAUSTED, "all gone")));

    var other = failure(new IllegalStateException("no\nroom"));
    assertEquals(Status.HOST, other.status());
    assertTrue(other.retryable());
    assertEquals("the program's own store: IllegalStateException: no room", other.getMessage());

    var secret = failure(new SQLException("db://app:s3cr3t:@/x@db password='s3 cr3t' pwd=s3cr3t"));
    assertEquals(
        "the program's own store: SQLException: db://app:***@db password=*** pwd=***", secret.getMessage());

    var thrown = failure(new OutOfMemoryError("not really"));
    assertEquals("the program's own store: OutOfMemoryError: not really", thrown.getMessage());

    String cut = failure(new IllegalStateException("ü".repeat(600))).getMessage();
    assertTrue(cut.endsWith("ü"), cut);
  }

  @Test
  void aGrantThatCannotBeIsRefused() {
    for (long granted : new long[] {0, -1}) {
      var e = assertThrows(StoreException.class, () -> on((namespace, tag, count) -> granted).build());
      assertEquals(Status.STORE_DAMAGED, e.status());
    }
  }

  @Test
  void theLatestStoreCounts() {
    try (var orders = on(new Counter()).store("memory:latest").storeCreate(true).build()) {
      assertEquals(1, orders.next());
      assertFalse(orders.describe().contains("store: the host's own"));
    }
    var builder = Generator.builder().kind("segment").tag("t").store("sqlite:/no/where");
    try (var orders = builder.store(new Counter()).build()) {
      assertEquals(1, orders.next());
    }
  }

  @Test
  void theCauseOfAnErrorIsWhatTheStoreThrew() {
    var stores = List.of(new Counter(), new Counter());
    var generators = stores.stream().map(store -> on(store).waitMax(Duration.ofMillis(200)).build()).toList();
    for (var store : stores) {
      store.failure = new IllegalStateException("the same words");
      assertSame(
          store.failure, assertThrows(IdgenException.class, () -> on(store).waitMax(Duration.ZERO).build()).getCause());
    }
    for (int i = 0; i < stores.size(); i++) {
      var orders = generators.get(i);
      var failed = assertThrows(IdgenException.class, () -> orders.nextBatch(100));
      assertTrue(failed.getMessage().contains("the same words"), failed::getMessage);
      assertSame(stores.get(i).failure, failed.getCause());
      stores.get(i).failure = null;
      orders.close();
    }
  }

  @Test
  void aCauseIsKeptNoLongerThanUntilTheStoreAnswers() throws Exception {
    var store = new Counter();
    try (var orders = on(store).waitMax(Duration.ofMillis(50)).build()) {
      var gone = failedOnce(store, orders);
      while (orders.tryNext().isEmpty()) Thread.sleep(10);
      Garbage.awaitCollected(gone);
    }
  }

  private static WeakReference<Throwable> failedOnce(Counter store, Generator orders) {
    var thrown = new WeakReference<Throwable>(store.failure = new IllegalStateException("away"));
    assertThrows(IdgenException.class, () -> orders.nextBatch(100));
    store.failure = null;
    return thrown;
  }

  /** The test is over in time only if the store's failure ends the wait. */
  private static Generator.Builder patient(SqlStore store) {
    return Generator.builder().kind("segment").tag("orders").store(store).waitMax(Duration.ofHours(1));
  }

  @Test
  void aPoolThatLendsNothingIsWaitedForNoLongerThanTheBound() throws Exception {
    var asked = new AtomicInteger();
    var lent = new CountDownLatch(1);
    var borrower = new AtomicReference<Thread>();
    var pool = Proxies.pool(() -> {
      asked.incrementAndGet();
      borrower.set(Thread.currentThread());
      lent.await();
      throw new SQLException("closed");
    });
    var store = new SqlStore(pool, Duration.ofMillis(100));
    for (int i = 0; i < 3; i++) {
      var empty = assertThrows(StoreException.class, () -> patient(store).build());
      assertEquals(Status.STORE_UNAVAILABLE, empty.status());
      assertTrue(empty.getMessage().contains("within 100 ms (poolTimeout)"), empty::getMessage);
    }
    assertEquals(1, asked.get(), "one thread waits on, whoever gives up");
    assertTrue(borrower.get().isDaemon() && borrower.get() != Thread.currentThread());
    lent.countDown();
    var closed = failedOutsideThePool(store);
    assertTrue(closed.getMessage().contains("closed"), closed::getMessage);
    assertInstanceOf(SQLException.class, closed.getCause());
    assertThrows(IllegalArgumentException.class, () -> new SqlStore(pool, Duration.ZERO));
    assertThrows(NullPointerException.class, () -> new SqlStore(null));
  }

  @Test
  void whyAPoolHadNoConnectionIsNotToldToWhoComesLater() throws Exception {
    var asked = new AtomicInteger();
    var seeker = new AtomicReference<Thread>();
    var answers = new CountDownLatch(1);
    var pool = Proxies.pool(() -> {
      if (asked.incrementAndGet() > 1) throw new SQLException("away now");
      seeker.set(Thread.currentThread());
      answers.await();
      throw new SQLException("away then");
    });
    var store = new SqlStore(pool, Duration.ofMillis(100));
    assertThrows(StoreException.class, () -> store.showSegment("default", "orders"));
    answers.countDown();
    // Ended, or offering its connection, which nobody has claimed.
    while (!List.of(Thread.State.TERMINATED, Thread.State.TIMED_WAITING).contains(seeker.get().getState())) {
      Thread.onSpinWait();
    }
    var away = failedOutsideThePool(store);
    assertTrue(away.getMessage().contains("away now"), away::getMessage);
  }

  /** What the first call meets whose thread in the pool is back within the bound. */
  private static StoreException failedOutsideThePool(SqlStore store) {
    while (true) {
      var failed = assertThrows(StoreException.class, () -> store.showSegment("default", "orders"));
      if (!failed.getMessage().contains("poolTimeout")) return failed;
    }
  }

  @Test
  void aConnectionThatNobodyCameForGoesBack() throws Exception {
    var lent = new CountDownLatch(1);
    var closed = new CountDownLatch(1);
    var connection = Proxies.of(Connection.class, (self, method, arguments) -> {
      if (method.getName().equals("close")) closed.countDown();
      return null;
    });
    var pool = Proxies.pool(() -> {
      lent.await();
      return connection;
    });
    var store = new SqlStore(pool, Duration.ofMillis(50));
    assertThrows(StoreException.class, () -> store.showSegment("default", "orders"));
    lent.countDown();
    closed.await();
  }

  @Test
  void aPoolThatSaysItIsEmptyEndsTheWaitOfItsCallers() {
    // The server is away at first, which can pass while a call waits.
    var away = new SQLTransientConnectionException("request timed out (total=0, active=0, idle=0, waiting=5)");
    var lent = new SQLTransientConnectionException("request timed out (total=4, active=4, idle=0, waiting=5)");
    var asked = new AtomicInteger();
    var pool = Proxies.pool(() -> {
      throw asked.incrementAndGet() < 3 ? away : lent;
    });
    var ended = assertThrows(StoreException.class, () -> patient(new SqlStore(pool)).build());
    assertEquals(3, asked.get());
    assertTrue(ended.getMessage().contains("pool of its own"), ended::getMessage);
    assertSame(lent, ended.getCause());
  }

  private static final class Service extends Counter {
    Generator orders;

    void hear(System.Logger.Level level, String message) {}
  }

  @Test
  void aClosedGeneratorLetsAStoreAndALogThatHoldItGo() throws Exception {
    Garbage.awaitCollected(closedService());
  }

  private static WeakReference<Service> closedService() {
    var service = new Service();
    service.orders = on(service).log(service::hear).build();
    service.orders.next();
    service.orders.close();
    return new WeakReference<>(service);
  }

  private static IdgenException refused(Exception thrown) {
    var pool = Proxies.pool(() -> {
      throw thrown;
    });
    return assertThrows(IdgenException.class, () -> new SqlStore(pool).showSegment("default", "orders"));
  }

  @Test
  void whatAPoolThrowsIsReadDownToTheServersReason() {
    var timeout = refused(new SQLTransientConnectionException("request timed out"));
    assertEquals(Status.STORE_UNAVAILABLE, timeout.status());
    assertTrue(timeout.retryable());
    assertEquals(Status.STORE_UNAVAILABLE, refused(new IllegalStateException("the pool is closed")).status());

    var refusedByServer = new SQLException("password authentication failed for user \"app\"", "28P01");
    var wrapped = refused(new SQLTransientConnectionException("request timed out", refusedByServer));
    assertEquals(Status.STORE_PERMISSION, wrapped.status());
    assertTrue(wrapped.getMessage().contains("for user \"app\""), wrapped::getMessage);

    assertEquals(Status.STORE_FULL, refused(new SQLException("full", "HY000", 1114)).status());
    var missing = refused(new SQLException("no table", "42S02", 1146));
    assertEquals(Status.STORE_MISSING, missing.status());
    assertTrue(missing.getMessage().contains("idgen segment create"), missing::getMessage);
  }
}
