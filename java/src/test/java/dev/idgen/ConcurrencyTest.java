package dev.idgen;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ConcurrencyTest {
  private static final int THREADS = 8;

  @TempDir Path folder;

  private Generator.Builder segment() {
    return Builders.segment(folder).segmentStep(100_000);
  }

  private Generator.Builder snowflake() {
    return Builders.snowflake(folder);
  }

  /** Two ids per second: a caller that needs more has to wait. */
  private Generator slow() {
    return snowflake().layout("time:32s worker:30 sequence:1").waitMax(Duration.ofMinutes(1)).build();
  }

  /** Draws with every call that there is: one by one, which Java does by itself, and so many at once. */
  private static long[] draw(Generator ids, int count, int many) {
    var drawn = new long[count];
    int done = 0;
    while (done < count) {
      drawn[done++] = ids.next();
      int rest = Math.min(many, count - done);
      done += ids.fill(drawn, done, rest);
      if (done == count) break;
      var block = ids.nextBlock(Math.min(many, count - done));
      for (long index = 0; index < block.count(); index++) drawn[done++] = block.get(index);
      if (done == count) break;
      var one = ids.tryNext();
      if (one.isPresent()) drawn[done++] = one.getAsLong();
    }
    return drawn;
  }

  @ParameterizedTest
  @CsvSource({"100000, 500000, 100", "100, 60000, 3"})
  void noSegmentIdIsIssuedTwiceToAnyOfManyThreads(int step, int each, int many) throws Exception {
    try (var ids = segment().segmentStep(step).build()) {
      var drawn = Threads.together(THREADS, () -> draw(ids, each, many));
      Ids.assertDistinct(drawn);
      drawn.forEach(Ids::assertRising);
    }
  }

  /** The jar's copy of the library has its own code for what each thread keeps, and threads come and go. */
  @Test
  void relaxedIdsAreUniqueToo() throws Exception {
    try (var ids = segment().order("relaxed").build()) {
      var drawn = new ArrayList<long[]>();
      for (int round = 0; round < 20; round++) drawn.addAll(Threads.together(THREADS, () -> draw(ids, 10_000, 100)));
      Ids.assertDistinct(drawn);
    }
  }

  @Test
  void noSnowflakeIdIsIssuedTwiceToAnyOfManyThreads() throws Exception {
    try (var ids = snowflake().build()) {
      var drawn = Threads.together(THREADS, () -> draw(ids, 100_000, 3));
      Ids.assertDistinct(drawn);
      assertEquals(drawn.stream().mapToLong(list -> list.length).sum(), ids.stats().issuedIds());
      drawn.forEach(Ids::assertRising);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"segment", "snowflake"})
  void closeStopsCallsOnOtherThreadsWithAnExceptionAndNothingElse(String kind) throws Exception {
    for (int round = 0; round < 20; round++) {
      var ids = (kind.equals("segment") ? segment() : snowflake()).build();
      var closing = new CountDownLatch(THREADS / 2);
      var results = Threads.together(THREADS, () -> {
        var some = new long[64];
        long drawn = 0;
        try {
          while (true) {
            ids.next();
            if (drawn % 2 == 0) ids.fill(some);
            ids.stats();
            if (++drawn == 100) closing.countDown();
            if (closing.getCount() == 0) ids.close(); // several at once
          }
        } catch (IdgenException end) {
          closing.countDown();
          return end;
        }
      });
      results.forEach(end -> assertInstanceOf(ClosedException.class, end, end::getMessage));
    }
  }

  @Test
  void closeWakesAThreadThatWaits() throws Exception {
    var ids = slow();
    Threads.endedInItsWait(ids, () -> ids.fill(new long[1000]), thread -> ids.close(), ClosedException.class);
  }

  @Test
  void interruptingAWaitingThreadEndsTheWaitAndKeepsTheInterrupt() throws Exception {
    try (var ids = slow()) {
      var some = new long[1000];
      var fill = interrupted(ids, () -> ids.fill(some, 100, 900));
      int written = fill.written();
      assertTrue(written > 0 && written < 900, () -> written + " ids in an instant, of a layout with two a second");
      assertTrue(Arrays.stream(some, 0, 100).allMatch(id -> id == 0));
      Ids.assertRising(Arrays.copyOfRange(some, 100, 100 + written));
      assertTrue(some[100] > 0);
      assertTrue(Arrays.stream(some, 100 + written, 1000).allMatch(id -> id == 0));
      assertEquals(Status.CANCELLED, fill.status());
      for (Runnable draw : List.<Runnable>of(ids::next, ids::nextText, () -> ids.nextBlock(1000))) {
        interrupted(ids, () -> {
          while (true) draw.run();
        });
      }
      assertTrue(ids.next() > some[100 + written - 1], "nothing is broken by it");
    }
  }

  private static CancelledException interrupted(Generator ids, Runnable call) throws Exception {
    return Threads.endedInItsWait(ids, call, Thread::interrupt, CancelledException.class);
  }

  @Test
  void aCallThatNeedNotWaitIgnoresTheInterruptStatus() {
    try (var ids = segment().build()) {
      Thread.currentThread().interrupt();
      assertEquals(1, ids.next());
      assertTrue(Thread.interrupted(), "the interrupt status was cleared");
    }
  }
}
