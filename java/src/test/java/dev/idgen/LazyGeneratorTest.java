package dev.idgen;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Generators that their first use opens. */
class LazyGeneratorTest {
  /** A store that fails as it is told, and holds whoever asks until it may answer. */
  private static class Told extends Counter {
    final CountDownLatch asked = new CountDownLatch(1);
    final CountDownLatch mayAnswer;

    Told(boolean answersAtOnce, Integer... failures) {
      mayAnswer = new CountDownLatch(answersAtOnce ? 0 : 1);
      var next = new ConcurrentLinkedQueue<>(List.of(failures));
      beforeTake = () -> {
        asked.countDown();
        mayAnswer.await();
        Integer failure = next.poll();
        if (failure != null) throw IdgenException.of(failure, "as it was told");
        return null;
      };
    }

    static Told down() {
      var store = new Told(true);
      store.failure = IdgenException.of(Status.STORE_UNAVAILABLE, "down");
      return store;
    }
  }

  /** Each attempt to open fails at once if the store does. */
  private static Generator.Builder on(Store store) {
    var builder = Generator.builder().kind("segment").tag("t").segmentStep(10).segmentRunway(Duration.ZERO);
    return builder.waitMax(Duration.ZERO).store(store);
  }

  @TempDir Path folder;
  private final List<Thread> threads = new ArrayList<>();
  private final ExecutorService pool = Executors.newCachedThreadPool(work -> {
    var thread = new Thread(work);
    thread.setDaemon(true);
    threads.add(thread);
    return thread;
  });

  @AfterEach
  void stop() {
    pool.shutdownNow();
  }

  private Throwable failure(Future<?> future) {
    return assertThrows(ExecutionException.class, future::get).getCause();
  }

  private void untilWaiting(int count) throws InterruptedException {
    while (threads.stream().filter(LazyGeneratorTest::waitsInTheHandle).count() != count) Thread.sleep(1);
  }

  private static boolean waitsInTheHandle(Thread thread) {
    return List.of(Thread.State.WAITING, Thread.State.TIMED_WAITING).contains(thread.getState())
        && Stream.of(thread.getStackTrace()).anyMatch(at -> at.getClassName().equals(LazyGenerator.class.getName()));
  }

  @Test
  void makingOneReadsNothingAndTheFirstUseSaysWhatIsWrong() throws Exception {
    Path toml = folder.resolve("idgen.toml");
    try (var orders = Generator.lazy(toml, "orders", Map.of("pattern", "O-{0000}"))) {
      assertFalse(orders.isOpen());
      assertEquals(Status.CONFIG_FILE, assertThrows(ConfigException.class, orders::next).status());
      Files.writeString(toml, "[orders]\nkind = \"segment\"\nstore = \"sqlite:ids.db\"\nstore_create = true\n");
      assertEquals(1, orders.next(), "the next use tries again");
      assertEquals("O-0002", orders.nextText());
      assertEquals(5, orders.nextBatch(3)[2]);
      assertTrue(orders.isOpen());
      assertEquals(5, orders.get().stats().issued());
    }
  }

  @Test
  void aBuilderThatChangesLaterDoesNotChangeTheHandle() {
    var builder = on(new Told(true));
    var rows = builder.buildLazy();
    builder.kind("snowflake").store("memory");
    assertEquals(1, rows.next());
    rows.close();
  }

  @Test
  void theTextSaysWhatItIsWithoutAPassword() {
    var rows = Generator.builder().kind("segment").tag("t").store("mysql://app:secret@db/ids").buildLazy();
    assertEquals("LazyGenerator[kind=segment tag=t, not open]", rows.toString());
    var orders = Generator.lazy(Path.of("idgen.toml"), "orders");
    orders.close();
    assertEquals("LazyGenerator[orders of idgen.toml, closed]", orders.toString());
  }

  @Test
  void ofThreadsThatRaceOneOpensAndAllDrawFromItsGenerator() throws Exception {
    try (var rows = Builders.segment(folder).buildLazy()) {
      var ids = Threads.together(16, rows::next);
      assertEquals(16, Set.copyOf(ids).size(), "DUPLICATE: an id was issued twice");
      assertEquals(16, Collections.max(ids), "a second opening takes another range");
    }
  }

  @Test
  void aFailureToOpenGoesToAllWhoWaitForItAndTheNextUseTriesAgain() throws Exception {
    var store = new Told(false, Status.STORE_DAMAGED);
    var rows = on(store).waitMax(Duration.ofSeconds(30)).buildLazy();
    var first = pool.submit(rows::next);
    store.asked.await();
    var second = pool.submit(rows::next);
    var third = pool.submit(rows::next);
    untilWaiting(2);
    store.mayAnswer.countDown();
    for (var future : List.of(first, second, third)) {
      assertEquals(Status.STORE_DAMAGED, assertInstanceOf(StoreException.class, failure(future)).status());
    }
    assertNotSame(failure(second), failure(third), "each has the stack of its own thread");
    assertEquals(1, rows.next());
    rows.close();
  }

  @Test
  void anInterruptEndsTheWaitOfItsThreadAndAnotherThatWaitsOpens() throws Exception {
    var store = new Told(false);
    var rows = on(store).waitMax(Duration.ofSeconds(30)).buildLazy();
    var first = pool.submit(rows::next);
    store.asked.await();
    var second = pool.submit(rows::next);
    untilWaiting(1);
    var third = pool.submit(rows::next);
    untilWaiting(2);
    threads.get(1).interrupt();
    assertInstanceOf(CancelledException.class, failure(second));
    threads.get(0).interrupt();
    assertInstanceOf(CancelledException.class, failure(first));
    store.mayAnswer.countDown();
    assertTrue(third.get() > 0);
    rows.close();
  }

  @Test
  void anInterruptEndsTheWaitForAStoreThatIsDown() throws Exception {
    var store = Told.down();
    var rows = on(store).buildLazy(Duration.ofSeconds(Long.MAX_VALUE));
    var draw = pool.submit(() -> {
      assertThrows(CancelledException.class, rows::next);
      return Thread.currentThread().isInterrupted();
    });
    store.asked.await();
    threads.get(0).interrupt();
    assertTrue(draw.get(), "the interrupt status stays set");
    assertFalse(rows.isOpen());
  }

  @Test
  void openingTriesAgainWhileTheStoreIsDownOrTheWorkerIsHeld() {
    var rows = on(new Told(true, Status.STORE_UNAVAILABLE, Status.STORE_UNAVAILABLE, Status.WORKER_BUSY)).buildLazy();
    assertEquals(1, rows.next());
    rows.close();
  }

  @Test
  void whatWaitingCannotCureIsThrownAtOnceAndEachFailureWithoutAWait() {
    for (int failure : new int[] {Status.TAG_UNKNOWN, Status.STORE_UNAVAILABLE}) {
      var wait = failure == Status.TAG_UNKNOWN ? Duration.ofDays(1) : Duration.ZERO;
      try (var rows = on(new Told(true, failure)).buildLazy(wait)) {
        assertEquals(failure, assertThrows(StoreException.class, rows::next).status());
        assertEquals(1, rows.next());
      }
    }
  }

  @Test
  void aStoreOverConnectionsOpensToo() {
    var refused = new SQLException("no such user", "28000");
    var database = Proxies.pool(() -> {
      throw refused;
    });
    var rows = Generator.builder().kind("segment").tag("t").store(new SqlStore(database)).buildLazy(Duration.ZERO);
    assertSame(refused, assertThrows(StoreException.class, rows::next).getCause());
    rows.close();
  }

  @Test
  void aClosedHandleStaysClosedAndNeverOpens() {
    var store = new Told(true);
    var unused = on(store).buildLazy();
    unused.close();
    var closed = assertThrows(ClosedException.class, unused::next);
    assertEquals("kind=segment tag=t: the lazy generator is closed; make another one", closed.getMessage());
    assertEquals(0, store.maxId(), "the store was never asked");
    var used = on(store).buildLazy();
    assertEquals(1, used.next());
    used.close();
    used.close();
    assertEquals(1, store.maxId(), "the rest went back");
    assertThrows(ClosedException.class, used::next);
    assertFalse(used.isOpen());
  }

  @Test
  void closingEndsAnOpeningThatWaitsForItsStore() throws Exception {
    var store = Told.down();
    var rows = on(store).buildLazy(Duration.ofDays(1));
    var opens = pool.submit(rows::next);
    store.asked.await();
    rows.close();
    assertInstanceOf(ClosedException.class, failure(opens));
  }

  @Test
  void aGeneratorThatOpensAfterCloseWasCalledIsClosedAndGivesEverythingBack() throws Exception {
    var store = new Told(false);
    var rows = on(store).waitMax(Duration.ofSeconds(30)).buildLazy();
    var opens = pool.submit(rows::next);
    store.asked.await();
    rows.close();
    store.mayAnswer.countDown();
    assertInstanceOf(ClosedException.class, failure(opens));
    assertEquals(0, store.maxId());
  }

  @Test
  void aStoreThatUsesTheHandleWhichOpensWithItIsAnErrorAndNoDeadlock() {
    var rows = new LazyGenerator[1];
    rows[0] = on((namespace, tag, count) -> rows[0].next()).buildLazy(Duration.ofDays(1)); // on the library's thread
    assertEquals(Status.UNSUPPORTED, assertThrows(ConfigException.class, rows[0]::next).status());
    rows[0].close();
  }

  @Test
  void aStoreMayUseAnotherGeneratorsHandleAndItsOwnOnceThatIsOpen() {
    try (var inner = on(new Told(true)).buildLazy()) {
      var outer = on((namespace, tag, count) -> 10 * inner.next()).waitMax(Duration.ofSeconds(5)).segmentStep(1);
      try (var rows = outer.buildLazy()) {
        assertEquals(10, rows.next());
        assertTrue(rows.next() >= 20);
      }
    }
  }

  @Test
  void aStoreWithWorkersStaysOne() {
    var store = new WorkerStoreTest.Table();
    try (var events = Generator.builder().namespace("shop").set("worker", "auto").store(store).buildLazy()) {
      assertTrue(events.next() > 0);
      assertSame(events.get(), events.get());
    }
  }
}
