package dev.idgen;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.function.IntSupplier;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Ids that have an owner: kind = business, and snowflakes whose layout has a gene. */
class OwnerTest {
  @TempDir Path folder;

  private Generator.Builder business() {
    return Generator.builder()
        .kind("business")
        .store("sqlite:ids.db")
        .directory(folder)
        .storeCreate(true)
        .tag("orders");
  }

  private Generator.Builder order() {
    return Generator.builder().layout("order").store("sqlite:ids.db").directory(folder).storeCreate(true).worker(5);
  }

  private static ConfigException refusal(int status, Runnable call) {
    var refusal = assertThrows(ConfigException.class, call::run);
    assertEquals(status, refusal.status(), refusal::getMessage);
    return refusal;
  }

  @Test
  void noneOfAHundredThousandIdsComesTwiceAndEachHasTheGeneOfItsOwner() throws Exception {
    try (var orders = business().counters(7).segmentStep(1000).build()) {
      var layout = orders.layout();
      var pool = Executors.newFixedThreadPool(4);
      var drawn = new ArrayList<Future<long[]>>();
      for (int thread = 0; thread < 4; thread++) {
        int mine = thread;
        drawn.add(pool.submit(() -> {
          var ids = new long[25_000];
          for (int index = 0; index < ids.length; index++) {
            long owner = mine * 500L + index % 1000; // half of them are another thread's too
            ids[index] =
                switch (index % 3) {
                  case 0 -> orders.nextFor(owner);
                  case 1 -> orders.nextFor(Long.toString(owner));
                  default -> orders.nextFor(Long.toString(owner).getBytes(UTF_8));
                };
            assertEquals(layout.gene(owner), layout.decode(ids[index]).gene());
          }
          return ids;
        }));
      }
      var all = new HashSet<Long>();
      for (var ids : drawn) {
        for (long id : ids.get()) assertTrue(all.add(id), () -> "DUPLICATE: " + id + " came twice");
      }
      pool.shutdown();
      assertEquals(100_000, all.size());
    }
  }

  @Test
  void anIntegerItsTextAndItsBytesAreOneOwner() {
    try (var orders = business().build()) {
      for (long owner : new long[] {0, 42, -1, Long.MAX_VALUE, Long.MIN_VALUE}) {
        String text = Long.toString(owner);
        long gene = orders.layout().gene(owner);
        assertEquals(gene, orders.layout().gene(text));
        assertEquals(gene, orders.layout().gene(text.getBytes(UTF_8)));
        var ids = List.of(orders.nextFor(owner), orders.nextFor(text), orders.nextFor(text.getBytes(UTF_8)),
            orders.tryNextFor(owner).orElseThrow(), orders.tryNextFor(text).orElseThrow(),
            orders.tryNextFor(text.getBytes(UTF_8)).orElseThrow(), orders.nextWideFor(owner).toLong(),
            orders.nextWideFor(text).toLong(), orders.nextWideFor(text.getBytes(UTF_8)).toLong());
        for (int index = 0; index < ids.size(); index++) {
          assertEquals(gene, orders.decode(ids.get(index)).gene());
          assertTrue(index == 0 || ids.get(index) > ids.get(index - 1), "ids of one gene rise: " + ids);
        }
      }
    }
  }

  @Test
  void anOwnerMayHaveAnyTextButHalfASurrogatePair() {
    try (var orders = business().build()) {
      for (String owner : List.of("\0", "a\0b", "caf\u00e9", "\uD83D\uDE00", "?", "x".repeat(5000))) {
        long gene = orders.layout().gene(owner.getBytes(UTF_8));
        assertEquals(gene, orders.layout().gene(owner));
        assertEquals(gene, orders.decode(orders.nextFor(owner)).gene());
        var ids = new long[3];
        orders.fillForEach(new String[] {owner, "b", owner}, ids);
        assertEquals(gene, orders.decode(ids[2]).gene());
      }
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
      var layout = orders.layout();
      var ids = new long[1000]; // several chunks of the native
      for (IntSupplier fill : List.<IntSupplier>of(() -> orders.fillFor(42, ids),
               () -> orders.fillFor("42", ids), () -> orders.fillFor("42".getBytes(UTF_8), ids))) {
        long last = orders.nextFor(42);
        assertEquals(1000, fill.getAsInt());
        for (long id : ids) {
          assertTrue(id > last);
          assertEquals(layout.gene(42), layout.decode(id).gene());
          last = id;
        }
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
      for (IntSupplier fill : List.<IntSupplier>of(() -> orders.fillForEach(numbers, ids),
               () -> orders.fillForEach(texts, ids), () -> orders.fillForEach(bytes, ids))) {
        assertEquals(1000, fill.getAsInt());
        for (int index = 0; index < ids.length; index++) {
          assertEquals(layout.gene(numbers[index]), layout.decode(ids[index]).gene());
          assertTrue(seen.add(ids[index]));
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
    try (var orders = business().build(); var events = order().build()) {
      var owners = IntStream.range(0, 1000).mapToObj(Integer::toString).toArray(String[]::new);
      owners[700] = "";
      var ids = new long[1000];
      assertWritten(700, ids, refusal(Status.VALUE, () -> orders.fillForEach(owners, ids)));
      var wide = new WideId[1000];
      assertEquals(700, refusal(Status.VALUE, () -> orders.fillWideForEach(owners, wide)).written());
      for (int index = 0; index < wide.length; index++) assertEquals(index < 700, wide[index] != null);

      long[] numbers = LongStream.range(0, 1000).toArray();
      numbers[300] = -1; // gene = mod takes no negative one
      Arrays.fill(ids, 0);
      assertWritten(300, ids, refusal(Status.VALUE, () -> events.fillForEach(numbers, ids)));
    }
  }

  private static void assertWritten(int count, long[] ids, IdgenException failure) {
    assertEquals(count, failure.written());
    for (int index = 0; index < ids.length; index++) assertEquals(index < count, ids[index] != 0);
    assertEquals(count, Arrays.stream(ids).limit(count).distinct().count());
  }

  @Test
  void anEmptyOwnerIsRefused() {
    try (var orders = business().build()) {
      for (Runnable call : List.<Runnable>of(() -> orders.nextFor(""), () -> orders.nextFor(new byte[0]),
               () -> orders.tryNextFor(""), () -> orders.fillFor("", new long[3]), () -> orders.nextWideFor(""),
               () -> orders.fillForEach(new byte[3][0], new long[3]), () -> orders.layout().gene(""))) {
        assertTrue(refusal(Status.VALUE, call).getMessage().contains("the owner is empty"));
      }
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
        var refusal = refusal(Status.UNSUPPORTED, call);
        assertTrue(refusal.getMessage().contains("has a gene, which comes from an id's owner"), refusal::getMessage);
        assertEquals(0, refusal.written());
      }
      assertEquals(1, orders.decode(orders.nextFor("a")).segment());
    }
  }

  @Test
  void anOwnerIsRefusedWhereIdsHaveNone() {
    try (var plain = business().kind("segment").build()) {
      for (Runnable call : List.<Runnable>of(() -> plain.nextFor("a"), () -> plain.tryNextFor(7),
               () -> plain.fillFor(7, new long[3]), () -> plain.nextWideFor(7))) {
        refusal(Status.UNSUPPORTED, call);
      }
      assertEquals(1, plain.next());
      refusal(Status.UNSUPPORTED, () -> Layout.parse("default").gene("a"));
    }
  }

  @Test
  void snowflakesOfTheLayoutOrderEndWithTheLowBitsOfTheirOwner() {
    try (var events = order().build()) {
      for (long owner : new long[] {1820, 5177331, 7, 16, Long.MAX_VALUE}) {
        assertEquals(owner % 16, events.nextFor(owner) % 16);
        assertEquals(owner % 16, events.nextFor(Long.toString(owner)) % 16);
        assertEquals(5, events.decode(events.nextFor(owner)).worker());
      }
      assertEquals(15, events.nextFor("18446744073709551615") % 16, "unsigned, as text");
      refusal(Status.VALUE, () -> events.nextFor("acme"));
      refusal(Status.VALUE, () -> events.nextFor(-1));
    }
    try (var events = order().worker(6).gene("hash").build()) {
      assertEquals(
          events.layout().gene("acme", GeneRule.HASH), events.decode(events.nextFor("acme")).gene());
    }
  }

  @Test
  void whenEightBytesAreUsedUpIdsHaveSixteen() {
    var widening = business().counters(1).onFull("widen").segmentStep(30);
    widening.createSegment();
    widening.advanceSegment((1L << 42) - 50);
    try (var orders = widening.build()) {
      var narrow = orders.layout();
      var wide = Layout.parse("business128");
      WideId last = null;
      for (int index = 1; index <= 200; index++) {
        var id = orders.nextWideFor("acme");
        assertEquals(index < 50 ? 8 : 16, id.size(), "id number " + index);
        var parts = orders.decode(id);
        assertEquals((1L << 42) - 50 + index, parts.segment());
        assertEquals((index < 50 ? narrow : wide).gene("acme"), parts.gene());
        assertEquals(narrow.gene("acme"), parts.gene() & 0xFFFF, "the shard stays");
        assertTrue(last == null || id.compareTo(last) > 0);
        last = id;
      }
      for (Runnable call : List.<Runnable>of(() -> orders.nextFor("acme"), () -> orders.tryNextFor("acme"),
               () -> orders.fillFor("acme", new long[3]))) {
        var end = assertThrows(ExhaustedException.class, call::run);
        assertTrue(end.getMessage().contains("16 bytes"), end::getMessage);
      }
      WideId sixteen = last;
      assertThrows(IllegalStateException.class, sixteen::toLong);
      refusal(Status.VALUE, () -> narrow.decode(sixteen));
    }
  }

  @Test
  void aBatchGoesOnFromEightBytesToSixteen() {
    for (boolean each : new boolean[] {false, true}) {
      var widening = business().tag("each " + each).counters(1).onFull("widen");
      widening.createSegment();
      widening.advanceSegment((1L << 42) - 50);
      try (var orders = widening.build()) {
        var ids = new WideId[600];
        assertEquals(
            600, each ? orders.fillWideForEach(new long[600], ids) : orders.fillWideFor(0, ids));
        for (int index = 0; index < ids.length; index++) {
          assertEquals(index < 49 ? 8 : 16, ids[index].size());
          assertEquals((1L << 42) - 49 + index, orders.decode(ids[index]).segment());
        }
      }
    }
  }

  @Test
  void aBatchOfEightBytesEndsWithTheLastOfThem() {
    var widening = business().counters(1).onFull("widen");
    widening.createSegment();
    widening.advanceSegment((1L << 42) - 50);
    try (var orders = widening.build()) {
      var ids = new long[100];
      var end = assertThrows(ExhaustedException.class, () -> orders.fillFor("acme", ids));
      assertWritten(49, ids, end);
      assertEquals(16, orders.nextWideFor("acme").size());
    }
  }

  @Test
  void aLayoutOfSixteenBytesMakesNothingElse() {
    try (var orders = business().layout("business128").build()) {
      var id = orders.nextWideFor("acme");
      assertEquals(16, id.size());
      assertEquals(orders.layout().gene("acme"), orders.decode(id).gene());
      refusal(Status.UNSUPPORTED, () -> orders.nextFor("acme"));
      refusal(Status.UNSUPPORTED, () -> orders.tryNextFor("acme"));
      refusal(Status.UNSUPPORTED, () -> orders.fillForEach(new long[3], new long[3]));
      refusal(Status.VALUE, () -> orders.decode(WideId.of(1)));
    }
    try (var orders = business().tag("narrow").build()) {
      var other = WideId.of(new byte[16]);
      refusal(Status.VALUE, () -> orders.decode(other));
    }
  }

  @Test
  void closedIsClosed() {
    var orders = business().build();
    orders.nextFor("a");
    orders.close();
    for (Runnable call : List.<Runnable>of(() -> orders.nextFor("a"), () -> orders.nextFor(7),
             () -> orders.tryNextFor("a"), () -> orders.fillFor("a", new long[3]), () -> orders.nextWideFor(7),
             () -> orders.fillForEach(new long[3], new long[3]))) {
      assertThrows(ClosedException.class, call::run);
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
