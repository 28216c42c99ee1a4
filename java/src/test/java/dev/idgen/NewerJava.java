package dev.idgen;

import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

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
  }

  private static Thread start(Runnable body) throws Exception {
    return (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, body);
  }

  private static Generator.Builder on(Store store, int step) {
    var builder = Generator.builder().kind("segment").tag("t").store(store).segmentStep(step);
    return builder.segmentRunway(Duration.ZERO).waitMax(Duration.ofHours(1));
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

  /** Virtual threads that draw, of which a good part has begun to wait, and what became of each: an id or a failure. */
  private static final class Many {
    final Thread[] threads;
    final AtomicReferenceArray<Object> outcomes;

    Many(int count, LongSupplier draw) throws Exception {
      var begun = new AtomicInteger();
      threads = new Thread[count];
      outcomes = new AtomicReferenceArray<>(count);
      for (int i = 0; i < count; i++) {
        int index = i;
        threads[i] = start(() -> {
          begun.incrementAndGet();
          try {
            outcomes.set(index, draw.getAsLong());
          } catch (Throwable e) {
            outcomes.set(index, e);
          }
        });
      }
      while (begun.get() < count) Thread.sleep(10);
    }

    /** Of those who have ended. */
    List<Object> soFar() {
      return IntStream.range(0, threads.length).mapToObj(outcomes::get).filter(Objects::nonNull).toList();
    }

    List<Object> all() throws InterruptedException {
      for (var thread : threads) thread.join();
      return soFar();
    }

    /** If nothing has failed. */
    long[] ids() throws InterruptedException {
      for (Object outcome : all()) if (!(outcome instanceof Long)) throw new AssertionError(outcome);
      return all().stream().mapToLong(id -> (Long) id).toArray();
    }
  }

  private static void draws(Generator.Builder builder, String kind) throws Exception {
    var isFirst = new AtomicBoolean(true);
    try (var generator = builder.build()) {
      if (!generator.drawsByItself()) throw new AssertionError(kind);
      var drawn = Threads.together(4, () -> {
        var ids = new long[100_000];
        boolean isNative = isFirst.getAndSet(false);
        for (int i = 0; i < ids.length; ) {
          if (isNative) {
            i += generator.fill(ids, i, 10);
          } else {
            ids[i++] = generator.next();
          }
        }
        return ids;
      });
      Ids.assertDistinct(drawn);
      drawn.forEach(Ids::assertRising);
    }
    check(true, "threads of Java and of the library draw from one " + kind + ": none twice, each thread's ids rise");
  }

  private static void outage(Drawing drawing, int count) throws Exception {
    var gate = new Gate(1);
    try (var orders = drawing.starved(gate, Duration.ofHours(1))) {
      int before = platformThreads();
      var many = new Many(count, drawing.of(orders));
      var unrelated = new CountDownLatch(1);
      start(unrelated::countDown);
      unrelated.await();
      check(true, "an unrelated virtual thread runs while " + count + " wait for " + drawing.text);
      check(platformThreads() < before + drawing.mostThreads, "they hold no platform thread each");
      gate.opened.countDown();
      Ids.assertDistinct(List.of(many.ids()));
      check(true, "each gets an id of its own when the store answers");
    }
  }

  private static void timeouts(Drawing drawing) throws Exception {
    var gate = new Gate(1);
    var orders = drawing.starved(gate, Duration.ofMillis(500));
    // One after the other they would outlast the test's deadline.
    var outcomes = new Many(2000, drawing.of(orders)).all();
    check(
        outcomes.stream().allMatch(end -> end instanceof StoreException e && e.getMessage().contains("wait_max")),
        "each waits as long as wait_max allows and is told what it waited for: " + outcomes.get(0));
    var own = ((Throwable) outcomes.get(0)).getStackTrace();
    check(Arrays.stream(own).anyMatch(at -> at.getClassName().contains("Many")), "by a trace of its own");
    gate.opened.countDown();
    orders.close();
  }

  private static void waitsForAThread() throws Exception {
    var held = new CountDownLatch(1);
    var clock = new WaitingClock() {
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
      var many = new Many(count, () -> orders.nextFor(7));
      while (many.soFar().size() < count - 64) Thread.sleep(10);
      check(true, "who waits for a thread that calls the library is told in time, though none comes back");
      held.countDown();
      check(
          many.all().stream().allMatch(OverloadedException.class::isInstance),
          "all are told that the ids of this tick are used up: " + many.soFar().get(0));
    }
  }

  private static void interrupts(Drawing drawing) throws Exception {
    var gate = new Gate(1);
    try (var orders = drawing.starved(gate, Duration.ofHours(1))) {
      int count = 1000;
      var kept = new AtomicInteger();
      var many = new Many(count, () -> {
        try {
          return drawing.of(orders).getAsLong();
        } finally {
          if (Thread.currentThread().isInterrupted()) kept.incrementAndGet();
        }
      });
      for (int i = 0; i < count; i += 2) many.threads[i].interrupt();
      for (int i = 0; i < count; i += 2) many.threads[i].join();
      gate.opened.countDown();
      var outcomes = many.all();
      boolean right = kept.get() == count / 2;
      for (int i = 0; i < count; i++) {
        right &= i % 2 == 0 ? outcomes.get(i) instanceof CancelledException : outcomes.get(i) instanceof Long;
      }
      check(right, "an interrupt ends one wait, its status stays set, and the others go on");
    }
  }

  private static void allInterrupted() throws Exception {
    var gate = new Gate(1);
    try (var orders = Drawing.IDS.starved(gate, Duration.ofHours(1))) {
      var first = new Many(10, orders::next);
      for (var thread : first.threads) thread.interrupt();
      boolean areCancelled = first.all().stream().allMatch(CancelledException.class::isInstance);
      var late = new Many(10, orders::next);
      gate.opened.countDown();
      check(
          areCancelled && late.all().stream().allMatch(Long.class::isInstance),
          "those that come after all were interrupted get ids");
    }
  }

  private static void aStoreThatSaysCancelled() throws Exception {
    var first = new AtomicBoolean(true);
    Store store = (namespace, tag, count) -> {
      if (first.getAndSet(false)) return 1;
      throw IdgenException.of(Status.CANCELLED, "the store was told to stop");
    };
    try (var orders = on(store, 10).build()) {
      for (int i = 0; i < 10; i++) orders.next();
      var outcomes = new Many(3, orders::next).all();
      check(
          outcomes.stream().allMatch(e -> e instanceof CancelledException c && c.getMessage().contains("told to stop")),
          "what a store says is passed on, even that: " + outcomes.get(0));
    }
  }

  private static void fillsThatFail() throws Exception {
    boolean right = true;
    for (int round = 0; round < 20; round++) {
      var orders = on(new Gate(Integer.MAX_VALUE), 100).build();
      var ids = new long[3_000_000];
      var fill = new Many(1, () -> {
        try {
          return orders.fill(ids);
        } catch (IdgenException e) {
          return e.written();
        }
      });
      Thread.sleep(5);
      orders.close();
      long said = fill.ids()[0]; // first: it waits for the fill to end
      right &= Arrays.stream(ids).takeWhile(id -> id != 0).count() == said;
    }
    check(right, "a fill that fails says how many ids it has stored");
  }

  private static void closing(Drawing drawing) throws Exception {
    var gate = new Gate(1);
    var orders = drawing.starved(gate, Duration.ofHours(1));
    var many = new Many(1000, drawing.of(orders));
    var closer = new Thread(orders::close);
    closer.start();
    var outcomes = many.all();
    gate.opened.countDown();
    closer.join();
    check(
        outcomes.stream().allMatch(ClosedException.class::isInstance), "close() ends all waits: " + outcomes.get(0));
  }

  private static void otherCalls() throws Exception {
    var snowflakes =
        Generator.builder().set("layout", "time:41ms worker:10 sequence:12").worker(1).store("memory:v");
    try (var orders = on(new Gate(Integer.MAX_VALUE), 10).build();
        var events = snowflakes.build()) {
      new Many(1, () -> drawInTurn(orders, events)).ids();
    }
  }

  private static long drawInTurn(Generator orders, Generator events) {
    var ids = new long[1000];
    orders.fill(ids);
    check(Arrays.equals(ids, LongStream.rangeClosed(1, 1000).toArray()), "fill gives consecutive ids across segments");
    check(orders.nextText().equals("1001"), "nextText writes the next one");
    long next = 1002;
    for (int i = 0; i < 100; i++) {
      var block = orders.nextBlock(7);
      if (block.first() != next) throw new AssertionError(block + ", not from " + next);
      next += block.count();
    }
    check(true, "blocks follow one another");
    Ids.assertRising(LongStream.generate(events::next).limit(50_000).toArray());
    check(true, "snowflakes rise at the cap");
    return next;
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
