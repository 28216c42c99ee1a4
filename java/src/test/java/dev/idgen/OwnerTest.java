package dev.idgen;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
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
  void aLongBatchHasAnIdOfTheOwnerOfEachPlace() {
    try (var orders = business().build()) {
      var layout = orders.layout();
      long[] numbers = LongStream.range(0, 1000).map(number -> number * number - 500).toArray();
      String[] texts = Arrays.stream(numbers).mapToObj(Long::toString).toArray(String[]::new);
      byte[][] bytes = Arrays.stream(texts).map(text -> text.getBytes(UTF_8)).toArray(byte[][]::new);
      long[] same = LongStream.generate(() -> 42).limit(1000).toArray();
      var ids = new long[1000]; // several chunks of the native
      var wide = new WideId[1000];
      record Batch(long[] owners, IntSupplier fill) {}
      var batches = List.of(
          new Batch(numbers, () -> orders.fillForEach(numbers, ids) + orders.fillWideForEach(numbers, wide)),
          new Batch(numbers, () -> orders.fillForEach(texts, ids) + orders.fillWideForEach(texts, wide)),
          new Batch(numbers, () -> orders.fillForEach(bytes, ids) + orders.fillWideForEach(bytes, wide)),
          new Batch(same, () -> orders.fillFor(42, ids) + orders.fillWideFor("42", wide)));
      var seen = new HashSet<Long>();
      for (var batch : batches) {
        assertEquals(2000, batch.fill().getAsInt());
        for (int index = 0; index < ids.length; index++) {
          for (long id : new long[] {ids[index], wide[index].toLong()}) {
            assertEquals(layout.gene(batch.owners()[index]), layout.decode(id).gene());
            assertTrue(seen.add(id));
          }
        }
      }
      assertEquals(0, orders.fillFor(42, new long[0]));
    }
  }

  @Test
  void anOwnerMayBeLong() {
    try (var orders = business().build()) {
      var layout = orders.layout();
      String[] owners = IntStream.range(0, 1000).mapToObj("x"::repeat).toArray(String[]::new);
      owners[0] = "y".repeat(100_000);
      var ids = new long[1000];
      orders.fillForEach(owners, ids);
      for (int index = 0; index < ids.length; index++) {
        assertEquals(layout.gene(owners[index]), layout.decode(ids[index]).gene());
      }
      assertEquals(layout.gene(owners[0]), layout.decode(orders.nextFor(owners[0])).gene());
    }
  }

  @Test
  void aBatchForManyOwnersHasAnOwnerForEachId() {
    try (var orders = business().build()) {
      for (int count : new int[] {1, 9}) {
        for (Runnable call : List.<Runnable>of(() -> orders.fillForEach(new long[count], new long[8]),
                 () -> orders.fillForEach(new String[count], new long[8]),
                 () -> orders.fillForEach(new byte[count][], new long[8]),
                 () -> orders.fillWideForEach(new long[count], new WideId[8]),
                 () -> orders.fillWideForEach(new String[count], new WideId[8]),
                 () -> orders.fillWideForEach(new byte[count][], new WideId[8]))) {
          var refusal = assertThrows(IllegalArgumentException.class, call::run);
          assertEquals(count + " owners for 8 ids; give one owner for each", refusal.getMessage());
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
      var wide = new WideId[1000];
      for (Runnable call : List.<Runnable>of(
               () -> orders.fillForEach(owners, ids), () -> orders.fillWideForEach(owners, wide))) {
        assertEquals(700, assertThrows(ConfigException.class, call::run).written());
      }
      for (int index = 0; index < wide.length; index++) {
        assertEquals(index < 700, wide[index] != null);
        assertEquals(index < 700, ids[index] != 0);
      }
      assertEquals(700, Arrays.stream(ids).limit(700).distinct().count());
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
  void anInterruptEndsAWait() throws Exception {
    // Two ids per second.
    var builder = Builders.snowflake(folder).layout("time:32s worker:26 sequence:1 gene:4");
    try (var slow = builder.waitMax(Duration.ofMinutes(1)).build()) {
      for (Runnable call : List.<Runnable>of(() -> slow.fillFor(7, new long[1000]),
               () -> slow.fillForEach(new long[1000], new long[1000]), () -> slow.fillWideFor("7", new WideId[1000]),
               () -> { while (true) slow.nextFor(7); })) {
        Threads.endedInItsWait(slow, call, Thread::interrupt, CancelledException.class);
      }
      assertTrue(slow.nextFor(7) > 0);
    }
  }
}
