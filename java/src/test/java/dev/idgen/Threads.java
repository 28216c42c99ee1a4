package dev.idgen;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.function.Consumer;

/** Threads of tests. What one of them throws is what the test throws. */
final class Threads {
  private Threads() {}

  /** The results of the same call on so many threads, which begin together. */
  static <T> List<T> together(int count, Callable<T> body) throws Exception {
    var pool = Executors.newFixedThreadPool(count);
    try {
      var together = new CountDownLatch(count);
      var results = new ArrayList<Future<T>>();
      for (int index = 0; index < count; index++) {
        results.add(pool.submit(() -> {
          together.countDown();
          together.await();
          return body.call();
        }));
      }
      var values = new ArrayList<T>();
      for (var result : results) values.add(result(result));
      return values;
    } finally {
      pool.shutdownNow();
    }
  }

  private static <T> T result(Future<T> task) throws Exception {
    try {
      return task.get();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof AssertionError failed) throw failed;
      throw e;
    }
  }

  /** How a call on another thread ends whose wait for an id is ended. An interrupt stays set, and nothing else is. */
  static <E extends IdgenException> E endedInItsWait(Generator ids, Runnable call, Consumer<Thread> end, Class<E> how)
      throws Exception {
    var task = new FutureTask<>(() -> {
      var ended = assertThrows(how, call::run);
      assertEquals(how == CancelledException.class, Thread.currentThread().isInterrupted(), "the interrupt status");
      return ended;
    });
    var thread = new Thread(task);
    long before = ids.stats().waits();
    thread.start();
    // Counted when a wait begins, so there is nothing to sleep for.
    while (ids.stats().waits() == before) Thread.onSpinWait();
    end.accept(thread);
    long then = ids.stats().waits();
    var ended = result(task);
    // The promise is 20 ms. A wait of half a second has 25 such parts, each of which is counted.
    assertTrue(ids.stats().waits() <= then + 1, "it waited on");
    return ended;
  }
}
