package dev.idgen;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.IntFunction;

/** Threads of tests. What one of them throws is what the test throws. */
final class Threads {
  private Threads() {}

  /** The results of the same call on so many threads, which begin together. */
  static <T> List<T> together(int count, Callable<T> body) throws Exception {
    return together(count, index -> body);
  }

  static <T> List<T> together(int count, IntFunction<Callable<T>> bodyOf) throws Exception {
    var pool = Executors.newFixedThreadPool(count);
    try {
      var together = new CountDownLatch(count);
      var results = new ArrayList<Future<T>>();
      for (int index = 0; index < count; index++) {
        var body = bodyOf.apply(index);
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

  static <T> T result(Future<T> task) throws Exception {
    try {
      return task.get();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof AssertionError failed) throw failed;
      throw e;
    }
  }

  /** Repeats a call on three threads while the body runs. */
  static void repeating(Runnable call, Callable<Void> body) throws Exception {
    var over = new AtomicBoolean();
    var pool = Executors.newFixedThreadPool(3);
    try {
      var results = new ArrayList<Future<?>>();
      for (int thread = 0; thread < 3; thread++) {
        results.add(pool.submit(() -> {
          while (!over.get()) call.run();
        }));
      }
      try {
        body.call();
      } finally {
        over.set(true);
      }
      for (var result : results) result(result);
    } finally {
      pool.shutdownNow();
    }
  }
}
