package dev.idgen;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.idgen.testing.ManualClock;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Clocks of the program's own. */
class ClockTest {
  private static final Instant AT = Instant.parse("2026-11-21T08:00:00.123Z");
  private static final AtomicInteger NAMES = new AtomicInteger();

  private static Generator.Builder builder(InstantSource clock) {
    return Generator.builder().worker(1).store("memory:clock" + NAMES.incrementAndGet()).clock(clock);
  }

  @Test
  void theTimeInAnIdIsThatOfTheClock() {
    try (var ids = builder(Clock.fixed(AT, ZoneOffset.UTC)).build()) {
      assertEquals(AT, ids.decode(ids.next()).instant());
      assertFalse(ids.drawsByItself());
    }
  }

  @Test
  void aWaitMovesAClockThatKnowsHowAlsoThatOfALazyGenerator() {
    var clock = new ManualClock(AT);
    try (var ids = builder(clock).build();
        var lazy = builder(clock).buildLazy()) {
      ids.nextBatch(10_000); // more than two ms hold
      assertEquals(AT.plusMillis(2), clock.instant());
      clock.advance(Duration.ofSeconds(1));
      long id = lazy.nextBatch(10_000)[0];
      assertEquals(AT.plusMillis(1002), lazy.get().decode(id).instant());
      assertEquals(AT.plusMillis(1004), clock.instant());
    }
  }

  @Test
  void aWaitForAnyOtherClockTakesRealTimeAndEndsAtWaitMax() {
    try (var ids = builder(Clock.fixed(AT, ZoneOffset.UTC)).waitMax(Duration.ofMillis(50)).build()) {
      assertThrows(OverloadedException.class, () -> ids.nextBatch(5_000));
    }
  }

  @Test
  void aClockThatThrowsAtOnceMakesNoGenerator() {
    var thrown = new IllegalStateException("no time");
    var builder = builder(() -> {
      throw thrown;
    });
    assertSame(thrown, assertThrows(IllegalStateException.class, builder::build));
  }

  @Test
  void aClockThatThrowsLaterStandsStillAndItsExceptionIsTold() {
    var time = new AtomicReference<>(AT);
    var told = new AtomicReference<Throwable>();
    var thread = Thread.currentThread();
    var before = thread.getUncaughtExceptionHandler();
    thread.setUncaughtExceptionHandler((in, exception) -> told.set(exception));
    try (var ids = builder(() -> {
      if (time.get() == null) throw new IllegalStateException("no time");
      return time.get();
    }).build()) {
      time.set(null);
      assertEquals(AT, ids.decode(ids.next()).instant());
      assertEquals("no time", told.get().getMessage());
    } finally {
      thread.setUncaughtExceptionHandler(before);
    }
  }

  @Test
  void aClockThatAsksForTheGeneratorThatIsBeingOpenedIsRefused() {
    var asked = new AtomicReference<Throwable>();
    var lazy = new AtomicReference<LazyGenerator>();
    lazy.set(builder(() -> {
      if (asked.get() == null) asked.set(assertThrows(ConfigException.class, () -> lazy.get().next()));
      return AT;
    }).buildLazy());
    try (var ids = lazy.get()) {
      ids.next();
    }
    assertTrue(asked.get().getMessage().contains("its opening waits for"), asked.get().getMessage());
  }

  @Test
  void aClosedGeneratorDoesNotAskItsClock() {
    var calls = new AtomicInteger();
    var ids = builder(() -> {
      calls.incrementAndGet();
      return AT;
    }).build();
    ids.next();
    ids.close();
    int before = calls.get();
    assertThrows(ClosedException.class, ids::next);
    assertEquals(before, calls.get());
  }
}
