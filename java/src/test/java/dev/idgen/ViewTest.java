package dev.idgen;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Ids that Java draws by itself are those of the library, drawn at the same time from the same words. */
class ViewTest {
  @TempDir Path folder;

  private Generator.Builder of(String kind) {
    return kind.equals("segment") ? Builders.segment(folder) : Builders.snowflake(folder);
  }

  private Generator small() {
    return of("segment").segmentStep(10).set("segment.runway", "0").build();
  }

  @Test
  void drawsOfJavaAndOfTheLibraryCountAsOneAcrossSegments() {
    try (var orders = small()) {
      var two = new long[2];
      for (long expected = 1; expected <= 3000; ) {
        assertEquals(expected++, orders.next());
        assertEquals(2, orders.fill(two)); // in C
        assertEquals(expected++, two[0]);
        assertEquals(expected++, two[1]);
        var perhaps = orders.tryNext();
        if (perhaps.isPresent()) assertEquals(expected++, perhaps.getAsLong());
      }
    }
  }

  @Test
  void otherGeneratorsDrawByCalls() {
    var others =
        Map.of(
            "relaxed", Map.of("kind", "segment", "order", "relaxed"),
            "stride", Map.of("kind", "segment", "segment.stride", "4", "segment.offset", "1"),
            "serial", Map.of("kind", "serial", "pattern", "{yyyyMMdd}{000000}"),
            "random", Map.of("sequence_start", "random", "worker", "9"));
    others.forEach((name, properties) -> {
      var builder = Generator.builder().store("sqlite:ids.db").directory(folder).storeCreate(true).tag(name);
      properties.forEach(builder::set);
      try (var generator = builder.build()) {
        assertFalse(generator.drawsByItself(), name);
        long first = generator.next();
        assertTrue(generator.next() > first, name);
        assertTrue(generator.tryNext().getAsLong() > first, name);
      }
    });
  }

  @Test
  void aSnowflakeOfJavaHasTheWorkerAndTheTimeOfNow() {
    try (var events = of("snowflake").build()) {
      long before = System.currentTimeMillis();
      long id = events.next();
      var parts = events.decode(id);
      assertEquals(Set.of(Field.TIME, Field.WORKER, Field.SEQUENCE), parts.fields());
      assertEquals(7, parts.worker());
      long time = parts.instant().toEpochMilli();
      assertTrue(before <= time && time <= System.currentTimeMillis(), "now, but: " + parts);
    }
  }

  @Test
  void javaDrawsByItselfFromOneCounterAndRemembersRangesThatCannotBeTakenBack() {
    try (var lasting = small();
        var ageing = of("segment").tag("ageing").set("segment.max_age", "1h").build();
        var events = of("snowflake").build()) {
      for (var drawing : List.of(lasting, ageing, events)) assertTrue(drawing.drawsByItself());
      assertTrue(lasting.remembersRanges());
      assertFalse(ageing.remembersRanges());
      assertTrue(events.remembersRanges());
      for (long expected = 1; expected <= 3000; expected++) assertEquals(expected, ageing.next());
    }
  }

  /** A limit that has fallen says when to ask a store again that has failed. */
  @Test
  void aStoreThatHasFailedIsAskedAgainWhileNumbersAreLeft() throws Exception {
    var isDown = new AtomicBoolean();
    var maxId = new AtomicLong();
    Store store = (namespace, tag, count) -> {
      if (isDown.get()) throw IdgenException.of(Status.STORE_UNAVAILABLE, "down");
      return maxId.getAndAdd(count) + 1;
    };
    var builder = Generator.builder().kind("segment").tag("t").segmentStep(1000).set("segment.runway", "0");
    try (var orders = builder.store(store).build()) {
      isDown.set(true);
      long expected = 1;
      while (orders.stats().granted() == 1000) {
        assertTrue(expected < 1000, "asked again while some are left");
        assertEquals(expected++, orders.next());
        Thread.sleep(1); // so that the library's own thread is asked, and answers, before hundreds are drawn
        if (orders.stats().refillFailures() > 0) isDown.set(false);
      }
      assertEquals(1, orders.stats().refillFailures());
      while (expected <= 1500) assertEquals(expected++, orders.next());
      assertEquals(0, orders.stats().storeWaits());
    }
  }

  @Test
  void aClosedGeneratorGivesNothingThoughAnotherHasItsWorker() {
    var first = of("snowflake").build();
    try (var second = of("snowflake").build()) {
      assertEquals(2, first.stats().handles());
      long id = first.next();
      first.close();
      assertThrows(ClosedException.class, first::next);
      assertTrue(second.next() > id);
    }
  }

  /** The collector may take a generator while nothing but its ids is used; the words must outlive each draw. */
  @Test
  void generatorsThatNobodyHoldsAreCollectedWhileTheyDraw() {
    long sum = 0;
    for (int i = 0; i < 200; i++) {
      var generator = Generator.builder().kind("segment").store("memory:gc").storeCreate(true).tag("t" + i).build();
      for (int n = 0; n < 500; n++) sum += generator.next();
      if (i % 20 == 0) System.gc();
    }
    assertEquals(200 * 500 * 501 / 2, sum);
  }
}
