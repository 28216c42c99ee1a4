package dev.idgen;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/** Opening and closing a generator on a store that fails or hangs. */
class LifetimeTest {
  private static Generator.Builder on(Store store) {
    return Generator.builder().kind("segment").tag("orders").segmentStep(10).set("segment.runway", "0").store(store);
  }

  @Test
  void whatTheStoreDoesNotTakeBackIsALineInTheLogAndNoException() throws Exception {
    var warnings = new LinkedBlockingQueue<String>();
    var store = new Counter();
    store.beforeReturn = () -> {
      throw new IllegalStateException("connection reset by peer");
    };
    BiConsumer<System.Logger.Level, String> log = (level, text) -> {
      if (level == System.Logger.Level.WARNING) warnings.add(text);
    };
    var failure = new IllegalStateException("the work failed");
    var seen = assertThrows(IllegalStateException.class, () -> {
      try (var orders = on(store).log(log).build()) {
        assertEquals(1, orders.next());
        throw failure;
      }
    });
    assertSame(failure, seen);
    assertEquals(0, seen.getSuppressed().length);
    String said = warnings.take();
    assertTrue(said.contains("connection reset by peer"), said);
    assertEquals(0, store.maxId() % 10, "a part of the rest was given back");
  }

  /** A store's call that does not return until it is released. It may react to interrupts or ignore them. */
  private static final class Hang {
    final CountDownLatch inside = new CountDownLatch(1);
    final CountDownLatch release = new CountDownLatch(1);

    Void listening() throws InterruptedException {
      inside.countDown();
      release.await();
      return null;
    }

    Void deaf() {
      inside.countDown();
      boolean interrupted = false;
      while (true) {
        try {
          release.await();
          break;
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
      if (interrupted) Thread.currentThread().interrupt();
      return null;
    }
  }

  private static final List<Function<Hang, Callable<Void>>> HOWS =
      List.of(hang -> hang::listening, hang -> hang::deaf);

  /** Interrupts the thread of a call as soon as it is in the store, and returns the outcome of the call. */
  private static <T> T interrupted(Hang hang, Callable<T> call) throws Exception {
    var task = new FutureTask<>(() -> {
      T result = call.call();
      assertTrue(Thread.currentThread().isInterrupted(), "the interrupt status was cleared");
      return result;
    });
    var thread = new Thread(task);
    thread.start();
    hang.inside.await();
    thread.interrupt();
    try {
      return task.get();
    } finally {
      hang.release.countDown();
    }
  }

  @Test
  void interruptingBuildEndsItsWaitForTheStore() throws Exception {
    for (var how : HOWS) {
      var hang = new Hang();
      var store = new Counter();
      store.beforeTake = how.apply(hang);
      var builder = on(store).waitMax(Duration.ofHours(1));
      var end = interrupted(hang, () -> assertThrows(CancelledException.class, builder::build));
      assertEquals(Status.CANCELLED, end.status());
    }
  }

  @Test
  void interruptingCloseEndsItsWaitForTheStoreAndTheGeneratorIsClosedAllTheSame() throws Exception {
    for (var how : HOWS) {
      var hang = new Hang();
      var store = new Counter();
      store.beforeReturn = how.apply(hang);
      var orders = on(store).set("store_timeout", "10m").build();
      orders.next();
      interrupted(hang, () -> {
        orders.close();
        return null;
      });
      assertThrows(ClosedException.class, orders::next);
    }
  }
}
