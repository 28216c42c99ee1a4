package dev.idgen;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.function.IntSupplier;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Owners as Java has them. Which ids they get is in the golden vectors, tests/vectors/owners.tsv. */
class OwnerTest {
  @TempDir Path folder;

  private Generator.Builder business() {
    return Builders.business(folder);
  }

  private Generator.Builder order() {
    return Builders.snowflake(folder).layout("order");
  }

  private static ConfigException refusal(int status, Runnable call) {
    var refusal = assertThrows(ConfigException.class, call::run);
    assertEquals(status, refusal.status(), refusal::getMessage);
    return refusal;
  }

  @Test
  void noneOfAHundredThousandIdsComesTwiceAndEachHasTheGeneOfItsOwner() throws Exception {
    try (var orders = business().counters(7).segmentStep(1000).build()) {
      Ids.assertDistinct(Threads.together(4, thread -> () -> {
        var ids = new long[25_000];
        for (int index = 0; index < ids.length; index++) {
          long owner = thread * 500L + index % 1000; // half of them are another thread's too
          ids[index] = orders.nextFor(owner);
          assertEquals(orders.layout().gene(owner), orders.decode(ids[index]).gene());
        }
        return ids;
      }));
    }
  }

  @Test
  void anOwnerIsNotHalfASurrogatePair() {
    try (var orders = business().build()) {
      long last = orders.nextFor("a");
      var ids = new long[2];
      for (Runnable call : List.<Runnable>of(() -> orders.nextFor("\uD83D"), () -> orders.nextFor("caf\u00e9\uDE00"),
               () -> orders.fillForEach(new String[] {"a", "\uD83D"}, ids), () -> orders.nextWideFor("\uD83D"))) {
        assertThrows(IllegalArgumentException.class, call::run);
      }
      assertArrayEquals(new long[2], ids);
      assertEquals(last + 1, orders.nextFor("a"), "nothing was drawn");
    }
  }

  @Test
  void aBatchForOneOwnerRises() {
    try (var orders = business().build()) {
      var ids = new long[1000]; // several chunks of the native
      long last = 0;
      for (IntSupplier fill : List.<IntSupplier>of(() -> orders.fillFor(42, ids),
               () -> orders.fillFor("42", ids), () -> orders.fillFor("42".getBytes(UTF_8), ids))) {
        assertEquals(1000, fill.getAsInt());
        for (long id : ids) {
          assertTrue(id > last);
          assertEquals(orders.layout().gene(42), orders.decode(id).gene());
          last = id;
        }
      }
      var wide = new WideId[1000];
      assertEquals(1000, orders.fillWideFor(42, wide));
      for (WideId id : wide) {
        assertTrue(id.toLong() > last);
        last = id.toLong();
      }
      assertEquals(0, orders.fillFor(42, new long[0]));
    }
  }

  @Test
  void aBatchForManyOwnersHasAnIdForEach() {
    try (var orders = business().build()) {
      var layout = orders.layout();
      long[] numbers = LongStream.range(0, 1000).map(number -> number * number - 500).toArray();
      String[] texts = Arrays.stream(numbers).mapToObj(Long::toString).toArray(String[]::new);
      byte[][] bytes = Arrays.stream(texts).map(text -> text.getBytes(UTF_8)).toArray(byte[][]::new);
      var seen = new HashSet<Long>();
      var ids = new long[1000];
      var wide = new WideId[1000];
      for (IntSupplier fill : List.<IntSupplier>of(
               () -> orders.fillForEach(numbers, ids) + orders.fillWideForEach(numbers, wide),
               () -> orders.fillForEach(texts, ids) + orders.fillWideForEach(texts, wide),
               () -> orders.fillForEach(bytes, ids) + orders.fillWideForEach(bytes, wide))) {
        assertEquals(2000, fill.getAsInt());
        for (int index = 0; index < ids.length; index++) {
          for (long id : new long[] {ids[index], wide[index].toLong()}) {
            assertEquals(layout.gene(numbers[index]), layout.decode(id).gene());
            assertTrue(seen.add(id));
          }
        }
      }
      for (int count : new int[] {1, 999, 1001}) {
        for (Runnable call : List.<Runnable>of(() -> orders.fillForEach(Arrays.copyOf(numbers, count), ids),
                 () -> orders.fillForEach(Arrays.copyOf(texts, count), ids),
                 () -> orders.fillForEach(Arrays.copyOf(bytes, count), ids),
                 () -> orders.fillWideForEach(Arrays.copyOf(numbers, count), new WideId[1000]))) {
          var refusal = assertThrows(IllegalArgumentException.class, call::run);
          assertEquals(count + " owners for 1000 ids; give one owner for each", refusal.getMessage());
        }
      }
    }
  }

  @Test
  void aBatchThatMeetsABadOwnerKeepsWhatItHas() {
    try (var orders = business().build()) {
      var owners = IntStream.range(0, 1000).mapToObj(Integer::toString).toArray(String[]::new);
      owners[700] = "";
      var ids = new long[1000];
      assertEquals(700, refusal(Status.VALUE, () -> orders.fillForEach(owners, ids)).written());
      var wide = new WideId[1000];
      assertEquals(700, refusal(Status.VALUE, () -> orders.fillWideForEach(owners, wide)).written());
      for (int index = 0; index < wide.length; index++) {
        assertEquals(index < 700, wide[index] != null);
        assertEquals(index < 700, ids[index] != 0);
      }
      assertEquals(700, Arrays.stream(ids).limit(700).distinct().count());
    }
    try (var events = order().build()) {
      var ids = new long[1000];
      long[] numbers = LongStream.range(0, 1000).toArray();
      numbers[300] = -1; // gene = mod takes no negative one
      assertEquals(300, refusal(Status.VALUE, () -> events.fillForEach(numbers, ids)).written());
      assertEquals(300, Arrays.stream(ids).filter(id -> id != 0).distinct().count());
      assertEquals(0, ids[300]);
    }
  }

  @Test
  void anOwnerThatIsNullIsRefused() {
    try (var orders = business().build()) {
      for (Runnable call : List.<Runnable>of(() -> orders.nextFor((String) null), () -> orders.nextFor((byte[]) null),
               () -> orders.fillForEach(new String[2], new long[2]), () -> orders.fillFor((byte[]) null, new long[2]),
               () -> orders.tryNextFor((byte[]) null), () -> orders.nextWideFor((byte[]) null),
               () -> orders.layout().gene((byte[]) null))) {
        assertThrows(NullPointerException.class, call::run);
      }
    }
  }

  @Test
  void callsWithoutAnOwnerAreRefusedAndLoseNothing() {
    try (var orders = business().counters(1).build()) {
      for (Runnable call : List.<Runnable>of(orders::next, orders::tryNext, () -> orders.fill(new long[3]),
               () -> orders.nextBatch(3), () -> orders.nextBlock(3), () -> orders.stream().findFirst())) {
        assertEquals(0, refusal(Status.UNSUPPORTED, call).written());
      }
      assertEquals(1, orders.decode(orders.nextFor("a")).segment());
    }
  }

  @Test
  void anInterruptEndsAWait() throws Exception {
    // Two ids per second.
    var layout = "time:32s worker:26 sequence:1 gene:4";
    try (var slow = order().layout(layout).waitMax(Duration.ofMinutes(1)).build()) {
      for (Callable<Object> call : List.<Callable<Object>>of(() -> slow.fillFor(7, new long[1000]),
               () -> slow.fillForEach(new long[1000], new long[1000]), () -> slow.fillWideFor("7", new WideId[1000]),
               () -> { while (true) slow.nextFor(7); })) {
        var task = new FutureTask<>(() -> assertThrows(CancelledException.class, call::call));
        var thread = new Thread(task);
        long before = slow.stats().waits();
        thread.start();
        while (slow.stats().waits() == before) Thread.onSpinWait();
        thread.interrupt();
        assertInstanceOf(CancelledException.class, task.get());
      }
      assertTrue(slow.nextFor(7) > 0);
    }
  }
}
