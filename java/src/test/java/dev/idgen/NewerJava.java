package dev.idgen;

import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.LongSupplier;

/**
 * What only a newer Java has: virtual threads, with as few carriers as it likes, that wait for ids, many at once; and
 * memory by its address. Prints a line for each thing that holds.
 */
public final class NewerJava {
  private static final int MANY = 100_000;

  /** A store that a test can hold up. */
  private static final class Gate implements Store {
    private long highest;
    private final int free; // grants before the gate
    private int grants;
    private final CountDownLatch opened = new CountDownLatch(1);

    Gate(int free) {
      this.free = free;
    }

    @Override
    public synchronized long segmentTake(String namespace, String tag, long count) {
      if (++grants > free) {
        try {
          opened.await();
        } catch (InterruptedException e) {
          throw IdgenException.of(Status.STORE_UNAVAILABLE, "interrupted");
        }
      }
      highest += count;
      return highest - count + 1;
    }

    @Override
    public void segmentReturn(String namespace, String tag, long last, long unused) {}
  }

  private static Thread start(Runnable body) throws Exception {
    return (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, body);
  }

  private static Generator.Builder on(Store store, int step) {
    return Generator.builder()
        .kind("segment")
        .tag("t")
        .store(store)
        .segmentStep(step)
        .segmentRunway(Duration.ZERO)
        .waitMax(Duration.ofHours(1));
  }

  /** Calls that wait, each in its own way. */
  private enum Drawing {
    IDS("ids", 40),
    IDS_OF_OWNERS("ids of owners", 100),
    FILLS_FOR_OWNERS("fills for owners", 100);

    final String text;
    final int mostThreads;

    Drawing(String text, int mostThreads) {
      this.text = text;
      this.mostThreads = mostThreads;
    }

    /** A generator that has given out all that it has. */
    Generator starved(Gate gate, Duration waitMax) {
      var builder = on(gate, 10).waitMax(waitMax);
      if (this != IDS) builder.kind("business");
      var generator = builder.build();
      if (this == IDS) {
        for (int i = 0; i < 10; i++) generator.next();
      } else {
        for (long owner = 0; generator.tryNextFor(owner % 100).isPresent(); owner++) {} // counters take numbers ahead
      }
      return generator;
    }

    LongSupplier of(Generator generator) {
      return switch (this) {
        case IDS -> generator::next;
        case IDS_OF_OWNERS -> () -> generator.nextFor("shop");
        case FILLS_FOR_OWNERS -> () -> {
          var ids = new long[2];
          generator.fillForEach(new long[] {1, 2}, ids);
          return ids[1];
        };
      };
    }
  }

  private static void check(boolean ok, String what) {
    if (!ok) throw new AssertionError(what);
    System.out.println("ok - " + what);
  }

  private static int platformThreads() {
    return Thread.getAllStackTraces().size();
  }

  /** Starts them, and waits until a good part has begun to wait. */
  private static Thread[] many(int count, AtomicReferenceArray<Object> outcomes, LongSupplier draw)
      throws Exception {
    var begun = new AtomicInteger();
    var threads = new Thread[count];
    for (int i = 0; i < count; i++) {
      int index = i;
      threads[i] =
          start(
              () -> {
                begun.incrementAndGet();
                try {
                  outcomes.set(index, draw.getAsLong());
                } catch (Throwable e) {
                  outcomes.set(index, e);
                }
              });
    }
    while (begun.get() < count) Thread.sleep(10);
    return threads;
  }

  private static void draws(Generator.Builder builder, String kind) throws Exception {
    int count = 4;
    int each = 100_000;
    var ids = new long[count * each];
    try (var generator = builder.build()) {
      if (!generator.drawsByItself()) throw new AssertionError(kind);
      var threads = new Thread[count];
      for (int t = 0; t < count; t++) {
        int begin = t * each;
        boolean isNative = t == 0;
        threads[t] =
            new Thread(
                () -> {
                  for (int i = begin; i < begin + each; ) {
                    if (isNative) {
                      i += generator.fill(ids, i, 10);
                    } else {
                      ids[i++] = generator.next();
                    }
                  }
                });
        threads[t].start();
      }
      for (var thread : threads) thread.join();
    }
    Ids.assertEachRises(ids, each);
    Ids.assertDistinct(List.of(ids));
    check(true, "threads of Java and of the library draw from one " + kind + ": none twice, each thread's ids rise");
  }

  private static void outage(Drawing drawing, int many) throws Exception {
    var gate = new Gate(1);
    try (var orders = drawing.starved(gate, Duration.ofHours(1))) {
      int before = platformThreads();
      var outcomes = new AtomicReferenceArray<Object>(many);
      var threads = many(many, outcomes, drawing.of(orders));
      var unrelated = new CountDownLatch(1);
      start(unrelated::countDown);
      unrelated.await();
      check(true, "an unrelated virtual thread runs while " + many + " wait for " + drawing.text);
      check(platformThreads() < before + drawing.mostThreads, "they hold no platform thread each");
      gate.opened.countDown();
      var ids = new long[many];
      for (int i = 0; i < many; i++) {
        threads[i].join();
        if (!(outcomes.get(i) instanceof Long id)) throw new AssertionError(outcomes.get(i));
        ids[i] = id;
      }
      Ids.assertDistinct(List.of(ids));
      check(true, "each gets an id of its own when the store answers");
    }
  }

  private static void timeouts(Drawing drawing) throws Exception {
    var gate = new Gate(1);
    var orders = drawing.starved(gate, Duration.ofMillis(500));
    int count = 2000; // one after the other they would outlast the test's deadline
    var outcomes = new AtomicReferenceArray<Object>(count);
    for (var thread : many(count, outcomes, drawing.of(orders))) thread.join();
    boolean all = true;
    for (int i = 0; i < count; i++) {
      all &= outcomes.get(i) instanceof StoreException e && e.getMessage().contains("wait_max");
    }
    check(all, "each waits as long as wait_max allows and is told what it waited for: " + outcomes.get(count - 1));
    var own = ((Throwable) outcomes.get(0)).getStackTrace();
    check(Arrays.stream(own).anyMatch(at -> at.getMethodName().contains("many")), "by a trace of its own");
    gate.opened.countDown();
    orders.close();
  }

  private static void waitsForAThread() throws Exception {
    var held = new CountDownLatch(1);
    var clock =
        new WaitingClock() {
          @Override
          public Instant instant() {
            return Instant.parse("2026-11-21T08:00:00Z");
          }

          @Override
          public void sleep(Duration time) {
            try {
              held.await();
            } catch (InterruptedException e) {
              throw new AssertionError(e);
            }
          }
        };
    var builder = Generator.builder().layout("order").worker(1).store("memory:held").clock(clock);
    try (var orders = builder.waitMax(Duration.ofMillis(100)).build()) {
      while (orders.tryNextFor(7).isPresent()) {}
      int count = 200;
      var outcomes = new AtomicReferenceArray<Object>(count);
      var threads = many(count, outcomes, () -> orders.nextFor(7));
      while (count(outcomes) < count - 64) Thread.sleep(10);
      check(true, "who waits for a thread that calls the library is told in time, though none comes back");
      held.countDown();
      for (var thread : threads) thread.join();
      boolean all = true;
      for (int i = 0; i < count; i++) all &= outcomes.get(i) instanceof OverloadedException;
      check(all, "all are told that the ids of this tick are used up: " + outcomes.get(0));
    }
  }

  private static int count(AtomicReferenceArray<Object> outcomes) {
    int found = 0;
    for (int i = 0; i < outcomes.length(); i++) if (outcomes.get(i) != null) found++;
    return found;
  }

  private static void interrupts(Drawing drawing) throws Exception {
    var gate = new Gate(1);
    try (var orders = drawing.starved(gate, Duration.ofHours(1))) {
      int count = 1000;
      var outcomes = new AtomicReferenceArray<Object>(count);
      var kept = new AtomicInteger();
      var threads =
          many(
              count,
              outcomes,
              () -> {
                try {
                  return drawing.of(orders).getAsLong();
                } finally {
                  if (Thread.currentThread().isInterrupted()) kept.incrementAndGet();
                }
              });
      for (int i = 0; i < count; i += 2) threads[i].interrupt();
      for (int i = 0; i < count; i += 2) threads[i].join();
      gate.opened.countDown();
      for (var thread : threads) thread.join();
      boolean right = kept.get() == count / 2;
      for (int i = 0; i < count; i++) {
        right &= i % 2 == 0 ? outcomes.get(i) instanceof CancelledException : outcomes.get(i) instanceof Long;
      }
      check(right, "an interrupt ends one wait, its status stays set, and the others go on");
    }
  }

  private static void allInterrupted() throws Exception {
    var gate = new Gate(1);
    var orders = on(gate, 10).build();
    for (int i = 0; i < 10; i++) orders.next();
    var outcomes = new AtomicReferenceArray<Object>(10);
    var threads = many(10, outcomes, orders::next);
    for (var thread : threads) thread.interrupt();
    for (var thread : threads) thread.join();
    var again = new AtomicReferenceArray<Object>(10);
    var late = many(10, again, orders::next);
    gate.opened.countDown();
    for (var thread : late) thread.join();
    boolean right = true;
    for (int i = 0; i < 10; i++) right &= outcomes.get(i) instanceof CancelledException && again.get(i) instanceof Long;
    check(right, "those that come after all were interrupted get ids");
    orders.close();
  }

  private static void aStoreThatSaysCancelled() throws Exception {
    var first = new AtomicInteger();
    Store store =
        new Store() {
          @Override
          public long segmentTake(String namespace, String tag, long count) {
            if (first.getAndIncrement() == 0) return 1;
            throw IdgenException.of(Status.CANCELLED, "the store was told to stop");
          }

          @Override
          public void segmentReturn(String namespace, String tag, long last, long unused) {}
        };
    var orders = on(store, 10).build();
    for (int i = 0; i < 10; i++) orders.next();
    var outcomes = new AtomicReferenceArray<Object>(3);
    for (var thread : many(3, outcomes, orders::next)) thread.join();
    boolean all = true;
    for (int i = 0; i < 3; i++) {
      all &= outcomes.get(i) instanceof CancelledException e && e.getMessage().contains("told to stop");
    }
    check(all, "what a store says is passed on, even that: " + outcomes.get(0));
    orders.close();
  }

  private static void fillsThatFail() throws Exception {
    boolean right = true;
    for (int round = 0; round < 20; round++) {
      var orders = on(new Gate(Integer.MAX_VALUE), 100).build();
      var ids = new long[3_000_000];
      var written = new AtomicReferenceArray<Object>(1);
      var begun = new CountDownLatch(1);
      var thread =
          start(
              () -> {
                begun.countDown();
                try {
                  written.set(0, (long) orders.fill(ids));
                } catch (IdgenException e) {
                  written.set(0, (long) e.written());
                }
              });
      begun.await();
      Thread.sleep(5);
      orders.close();
      thread.join();
      int stored = 0;
      while (stored < ids.length && ids[stored] != 0) stored++;
      right &= written.get(0) instanceof Long count && count == stored;
    }
    check(right, "a fill that fails says how many ids it has stored");
  }

  private static void closing(Drawing drawing) throws Exception {
    var gate = new Gate(1);
    var orders = drawing.starved(gate, Duration.ofHours(1));
    var outcomes = new AtomicReferenceArray<Object>(1000);
    var threads = many(1000, outcomes, drawing.of(orders));
    var closer = new Thread(orders::close);
    closer.start();
    for (var thread : threads) thread.join();
    gate.opened.countDown();
    closer.join();
    boolean right = true;
    for (int i = 0; i < 1000; i++) right &= outcomes.get(i) instanceof ClosedException;
    check(right, "close() ends all waits: " + outcomes.get(0));
  }

  private static void otherCalls() throws Exception {
    var failure = new AtomicReferenceArray<Object>(1);
    try (var orders = on(new Gate(Integer.MAX_VALUE), 10).build();
        var events =
            Generator.builder().set("layout", "time:41ms worker:10 sequence:12").worker(1).store("memory:v").build()) {
      start(
              () -> {
                try {
                  var ids = new long[1000];
                  orders.fill(ids);
                  boolean inTurn = true;
                  for (int i = 0; i < ids.length; i++) inTurn &= ids[i] == i + 1;
                  check(inTurn, "fill gives consecutive ids across segments");
                  check(orders.nextText().equals("1001"), "nextText writes the next one");
                  long next = 1002;
                  for (int i = 0; i < 100; i++) {
                    var block = orders.nextBlock(7);
                    if (block.first() != next) throw new AssertionError(block + ", not from " + next);
                    next += block.count();
                  }
                  check(true, "blocks follow one another");
                  long before = 0;
                  for (int i = 0; i < 50_000; i++) {
                    long id = events.next();
                    if (id <= before) throw new AssertionError("fell");
                    before = id;
                  }
                  check(true, "snowflakes rise at the cap");
                } catch (Throwable e) {
                  failure.set(0, e);
                }
              })
          .join();
    }
    if (failure.get(0) != null) throw new AssertionError(failure.get(0));
  }

  public static void main(String[] arguments) throws Exception {
    int version = Runtime.version().feature();
    check(NativeWords.isByAddress() == version >= 22, "Java " + version + " reads memory by its address from 22 on");
    draws(on(new Gate(Integer.MAX_VALUE), 100), "segment");
    draws(Generator.builder().worker(1).store("memory:draws"), "snowflake");
    otherCalls();
    for (var drawing : Drawing.values()) {
      outage(drawing, drawing == Drawing.IDS ? MANY : 2000);
      timeouts(drawing);
      interrupts(drawing);
      closing(drawing);
    }
    waitsForAThread();
    allInterrupted();
    aStoreThatSaysCancelled();
    fillsThatFail();
    System.out.println("done");
  }
}
