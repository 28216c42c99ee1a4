package dev.idgen;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GeneratorTest {
  @TempDir Path folder;

  private Generator.Builder segment() {
    return Builders.segment(folder);
  }

  private Generator.Builder snowflake() {
    return Builders.snowflake(folder);
  }

  @Test
  void aQuiescedProcessWaitsForTheReset() {
    try (var orders = segment().waitMax(Duration.ofMillis(50)).build()) {
      Idgen.quiesce();
      try {
        var error = assertThrows(StoreException.class, orders::next);
        assertTrue(error.getMessage().contains("quiesced for a checkpoint"), error.getMessage());
      } finally {
        Idgen.reset();
      }
      assertEquals(1, orders.next());
    }
  }

  @Test
  void overridesCountMoreThanTheFileWhoseNameMayHaveAnyCharacter() throws Exception {
    Path toml = folder.resolve("Grüße \uD83D\uDE00.toml");
    var refused = assertThrows(ConfigException.class, () -> Generator.open(toml, "events"));
    assertTrue(refused.getMessage().contains(toml.toString()), refused::getMessage);
    Files.writeString(toml, "[events]\nworker = 3\nstore = \"sqlite:ids.db\"\nstore_create = true\n");
    try (var events = Generator.open(toml, "events")) {
      assertEquals(3, events.decode(events.next()).worker());
    }
    try (var events = Generator.open(toml, "events", Map.of("worker", "12"))) {
      assertEquals(12, events.decode(events.next()).worker());
    }
    try (var events = Generator.builder().worker(13).load(toml, "events").build()) {
      assertEquals(13, events.decode(events.next()).worker());
    }
  }

  @Test
  void fillStoresIdsInThePartOfTheArrayThatWasAskedFor() {
    try (var orders = segment().build()) {
      var ids = new long[5000]; // more than one chunk of the native
      assertEquals(4990, orders.fill(ids, 3, 4990));
      var expected = new long[5000];
      Arrays.setAll(expected, at -> at >= 3 && at < 4993 ? at - 2 : 0);
      assertArrayEquals(expected, ids);
      assertEquals(0, orders.fill(ids, 5000, 0));
      assertEquals(0, orders.fill(new long[0]));
      assertEquals(4991, orders.next());
    }
  }

  @Test
  void fillRefusesAPartOutsideTheArrayAndDrawsNothing() {
    try (var orders = segment().build()) {
      var ids = new long[10];
      int[][] outside = {{-1, 2}, {9, 2}, {0, 11}, {1, Integer.MAX_VALUE}, {1, -1}};
      for (int[] part : outside) {
        assertThrows(IndexOutOfBoundsException.class, () -> orders.fill(ids, part[0], part[1]));
      }
      assertThrows(NullPointerException.class, () -> orders.fill((long[]) null));
      assertThrows(IllegalArgumentException.class, () -> orders.nextBatch(-1));
      assertArrayEquals(new long[10], ids);
      assertEquals(1, orders.next());
    }
  }

  @Test
  void aStreamDrawsNothingAhead() {
    try (var orders = segment().build()) {
      assertArrayEquals(new long[] {1, 2, 3}, orders.stream().limit(3).toArray());
      assertEquals(4, orders.next());
      assertEquals(5, orders.stream().findFirst().orElseThrow());
      assertEquals(6, orders.next());
    }
  }

  @Test
  void tryNextGivesAnIdAtOnceOrNothing() {
    // One id per second: the second one has to wait.
    try (var ids = snowflake().layout("time:32s worker:30 sequence:1").sequenceStart("zero").build()) {
      boolean empty = false;
      for (int draw = 0; draw < 10 && !empty; draw++) empty = ids.tryNext().isEmpty();
      assertTrue(empty, "ten ids came at once, of a layout with two a second");
    }
  }

  @Test
  void aBlockIsARunOfIdsThatNobodyElseGets() {
    try (var orders = segment().segmentStep(100).build()) {
      var block = orders.nextBlock(10);
      assertEquals(new Block(1, 10, 1), block);
      assertEquals(10, block.get(9));
      assertThrows(IndexOutOfBoundsException.class, () -> block.get(10));
      assertThrows(IndexOutOfBoundsException.class, () -> block.get(-1));
      assertArrayEquals(LongStream.rangeClosed(1, 10).toArray(), block.ids().toArray());
      assertEquals(11, orders.next());
      for (long want : new long[] {0, Long.MIN_VALUE}) {
        assertEquals(Status.ARGUMENT, assertThrows(ConfigException.class, () -> orders.nextBlock(want)).status());
      }
    }
  }

  @Test
  void afterCloseEveryCallThatMakesIdsSaysClosed() {
    var orders = segment().build();
    long id = orders.next();
    orders.close();
    orders.close();
    String message = assertThrows(ClosedException.class, orders::next).getMessage();
    assertTrue(message.contains("orders"), message);
    for (Runnable call : List.<Runnable>of(orders::tryNext, () -> orders.fill(new long[3]), () -> orders.nextBatch(1),
             () -> orders.nextBlock(1), () -> orders.stream().findFirst())) {
      var closed = assertThrows(ClosedException.class, call::run);
      assertEquals(message, closed.getMessage());
      assertEquals(Status.CLOSED, closed.status());
      assertEquals("CLOSED", closed.statusName());
      assertFalse(closed.retryable());
    }
    assertEquals(id, orders.decode(id).segment());
    assertEquals("segment:63", orders.layout().toString());
  }

  @Test
  void aGeneratorThatWasForgottenIsFreedByTheCollectorAndItsWorkerIsFreeAgain() throws Exception {
    snowflake().build().next();
    // The collector decides when; a differing configuration is refused until then.
    while (true) {
      System.gc();
      try (var again = snowflake().onOverflow("borrow").build()) {
        assertTrue(again.next() > 0);
        return;
      } catch (WorkerBusyException stillThere) {
        Thread.sleep(10);
      }
    }
  }
}
