package dev.idgen.testing;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.idgen.ClockException;
import dev.idgen.ClosedException;
import dev.idgen.ConfigException;
import dev.idgen.ExhaustedException;
import dev.idgen.Garbage;
import dev.idgen.Generator;
import dev.idgen.IdSource;
import dev.idgen.IdgenException;
import dev.idgen.OverloadedException;
import dev.idgen.Status;
import dev.idgen.StoreException;
import java.lang.ref.WeakReference;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What docs/testing.md promises of the kit. */
class ScriptedGeneratorTest {
  private static final Instant AT = Instant.parse("2026-11-21T08:00:00Z");

  @Test
  void aSegmentStartsWhereItIsToldEachTimeAnew() {
    for (int time = 0; time < 2; time++) { // the same tag and namespace, but nothing is left of the first
      try (var ids = ScriptedGenerator.segment(1000)) {
        assertEquals(1000, ids.next());
        assertArrayEquals(new long[] {1001, 1002}, ids.nextBatch(2));
      }
    }
    try (var ids = ScriptedGenerator.with(Generator.builder().kind("segment")).build()) {
      assertEquals(1, ids.next());
    }
  }

  @Test
  void aSnowflakeStartsAtTheTimeAndTheSequenceThatItIsTold() {
    try (var ids = ScriptedGenerator.snowflake(AT, 5);
        var others = ScriptedGenerator.snowflake(AT, 5)) {
      long id = ids.next();
      assertEquals(id, others.next());
      assertEquals(AT, ids.decode(id).instant());
      assertEquals(5, ids.decode(id).sequence());
      assertEquals(1, ids.decode(id).worker());
    }
  }

  @Test
  void theClockMovesAsItIsToldAndDaysAreNoLeap() {
    try (var ids = ScriptedGenerator.snowflake(AT)) {
      for (Duration by : List.of(Duration.ofMillis(1), Duration.ofHours(1), Duration.ofDays(400))) {
        ids.clock().advance(by);
        assertEquals(ids.clock().instant(), ids.decode(ids.next()).instant());
      }
    }
  }

  @Test
  void aClockSetBackIsWhatThePolicySaysAndNoWaitTakesRealTime() {
    try (var fails = ScriptedGenerator.with(Generator.builder().worker(1).onClockBack("fail")).at(AT).build()) {
      fails.next();
      fails.clock().setBack(Duration.ofSeconds(1));
      assertThrows(ClockException.class, fails::next);
    }
    var patient = Generator.builder().worker(1).waitMax(Duration.ofHours(1));
    try (var waits = ScriptedGenerator.with(patient).at(AT).build()) {
      long first = waits.next();
      waits.clock().setBack(Duration.ofMinutes(59)); // which no test would outlast, if it were waited for
      assertTrue(waits.next() > first);
      waits.clock().set(AT.minus(Duration.ofHours(2)));
      assertThrows(ClockException.class, waits::next);
    }
  }

  @Test
  void aTickThatIsUsedUpMovesTheClock() {
    try (var ids = ScriptedGenerator.snowflake(AT, 4095)) {
      ids.next();
      var parts = ids.decode(ids.next());
      assertEquals(AT.plusMillis(1), parts.instant());
      assertEquals(0, parts.sequence());
    }
  }

  @Test
  void generatorsAndTheProgramMayShareAClock() {
    var clock = new ManualClock(AT);
    try (var first = ScriptedGenerator.with(Generator.builder().worker(1)).clock(clock).build();
        var second = ScriptedGenerator.with(Generator.builder().worker(2)).clock(clock).build()) {
      assertSame(clock, first.clock());
      var inBerlin = clock.withZone(ZoneId.of("Europe/Berlin"));
      inBerlin.advance(Duration.ofMinutes(1));
      for (var ids : List.of(first, second)) {
        assertEquals(AT.plusSeconds(60), ids.decode(ids.next()).instant());
      }
      assertEquals(AT.plusSeconds(60), clock.instant());
      assertEquals(ZoneId.of("Europe/Berlin"), inBerlin.getZone());
    }
  }

  @Test
  void theNextCallsFailWithTheExceptionOfTheStatus() {
    try (var ids = ScriptedGenerator.segment(1)) {
      ids.failNext(2, Status.STORE_UNAVAILABLE);
      for (int time = 0; time < 2; time++) {
        var failure = assertThrows(StoreException.class, ids::next);
        assertEquals("STORE_UNAVAILABLE", failure.statusName());
        assertTrue(failure.retryable());
        assertTrue(failure.getMessage().contains("store"), failure.getMessage());
      }
      assertEquals(1, ids.next());
    }
  }

  @Test
  void aFillFailsHalfwayAndSaysWhatItHasStored() {
    try (var ids = ScriptedGenerator.segment(1)) {
      ids.failAfter(5, Status.EXHAUSTED);
      assertEquals(1, ids.next());
      var column = new long[10];
      var failure = assertThrows(ExhaustedException.class, () -> ids.fill(column));
      assertEquals(4, failure.written());
      assertArrayEquals(new long[] {2, 3, 4, 5, 0, 0, 0, 0, 0, 0}, column);
      assertThrows(ExhaustedException.class, ids::nextText);
      assertThrows(ExhaustedException.class, () -> ids.nextBatch(1));
      ids.recover();
      assertEquals("6", ids.nextText());
    }
  }

  @Test
  void onlyIdsThatWereDrawnCountTowardsAFailure() {
    var builder = Generator.builder().worker(1).layout("time:30s worker:10 sequence:2").sequenceStart("zero");
    // No second window: if it were requested just while the clock is set back, the next request would be seconds later.
    builder.window(Duration.ofMinutes(3)).maxAhead(Duration.ofMinutes(3)).waitMax(Duration.ofMillis(100));
    try (var ids = ScriptedGenerator.with(builder).at(AT).build()) {
      var back = Duration.ofHours(1);
      assertCounts(ids, back, 0, () -> assertThrows(ClockException.class, ids::next));
      assertCounts(ids, back, 0, () -> assertThrows(ClockException.class, ids::nextText));
      assertCounts(ids, back, 0, () -> assertThrows(ClockException.class, () -> ids.nextBatch(6)));
      assertCounts(ids, back, 0, () -> assertEquals(OptionalLong.empty(), ids.tryNext()));
      assertCounts(ids, Duration.ZERO, 0, () -> assertThrows(ConfigException.class, () -> ids.nextFor(42)));
      for (int length : new int[] {6, 9}) { // which wait longer than they may for the next tick
        assertCounts(
            ids,
            Duration.ZERO,
            4,
            () -> {
              var failure = assertThrows(OverloadedException.class, () -> ids.fill(new long[length]));
              assertEquals(4, failure.written());
            });
      }
    }
  }

  private static void assertCounts(ScriptedGenerator ids, Duration back, int drawn, Runnable call) {
    ids.clock().advance(Duration.ofSeconds(1));
    ids.next();
    ids.clock().advance(Duration.ofSeconds(1));
    var now = ids.clock().instant();
    ids.failAfter(6, Status.STORE_FULL);
    ids.clock().setBack(back);
    call.run();
    ids.clock().set(now);
    for (int id = drawn; id < 6; id++) {
      ids.clock().advance(Duration.ofSeconds(1));
      ids.next();
    }
    assertThrows(StoreException.class, ids::next);
    ids.recover();
  }

  @Test
  void aTableWithANewEpochBeginsThere() {
    var epoch = Instant.parse("2026-03-01T12:00:00Z");
    var builder = Generator.builder().worker(1).epoch(epoch);
    try (var ids = ScriptedGenerator.with(builder).sequence(3).build()) {
      assertEquals(epoch, ids.clock().instant());
      assertEquals(epoch, ids.decode(ids.next()).instant());
    }
    assertThrows(ConfigException.class, () -> ScriptedGenerator.with(builder).at(AT.minusSeconds(31536000)).build());
  }

  @Test
  void tryNextAnswersAsTheRealOne() {
    try (var ids = ScriptedGenerator.segment(1)) {
      ids.failNext(1, Status.STORE_UNAVAILABLE);
      assertEquals(OptionalLong.empty(), ids.tryNext());
      ids.failNext(1, Status.EXHAUSTED);
      assertThrows(ExhaustedException.class, ids::tryNext);
      assertEquals(OptionalLong.of(1), ids.tryNext());
    }
  }

  @Test
  void idsWithAnOwnerFailToo() {
    try (var ids = ScriptedGenerator.with(Generator.builder().kind("business")).start(7).build()) {
      assertEquals(7, ids.decode(ids.nextFor(42)).segment());
      ids.failNext(3, Status.FORKED);
      assertThrows(IdgenException.class, () -> ids.nextFor(42));
      assertThrows(IdgenException.class, () -> ids.nextFor("42"));
      assertThrows(IdgenException.class, () -> ids.nextFor(new byte[] {52, 50}));
      assertEquals(ids.decode(ids.nextFor("42")).gene(), ids.decode(ids.nextFor(new byte[] {52, 50})).gene());
    }
  }

  @Test
  void theBuilderThatItIsMadeFromStaysAsItWas() {
    var builder = Generator.builder().kind("segment").store("memory:of-the-program").storeCreate(true);
    try (var ids = ScriptedGenerator.with(builder).start(1000).build();
        var own = builder.build()) {
      assertEquals(1000, ids.next());
      assertEquals(1, own.next());
    }
  }

  @Test
  void aTableOfAFileIsUsedButNotItsStore(@TempDir Path folder) throws Exception {
    var file =
        Files.writeString(
            folder.resolve("idgen.toml"),
            """
            [orders]
            kind = "segment"
            store = "sqlite:ids.db"
            pattern = "SO-{000000}"
            segment.grant_log = 100
            witness = "seen"
            [events]
            worker = "auto"
            worker_source = "cosid"
            worker_url = "mysql://app@db.invalid/ids"
            sequence_start = "random"
            store = "postgres://app@db.invalid/ids"
            [bills]
            kind = "serial"
            pattern = "{yyyyMMdd}{0000}"
            store = "sqlite:ids.db"
            """);
    try (var orders = ScriptedGenerator.with(Generator.builder().load(file, "orders")).start(41).build();
        var events = ScriptedGenerator.with(Generator.builder().load(file, "events")).at(AT).sequence(5).build();
        var bills = ScriptedGenerator.with(Generator.builder().load(file, "bills")).at(AT).start(7).build()) {
      assertEquals("SO-000041", orders.nextText());
      var first = events.decode(events.next());
      assertEquals(AT, first.instant());
      assertEquals(5, first.sequence());
      assertEquals("202611210007", bills.nextText());
      assertEquals("202611210008", bills.nextText());
      bills.clock().advance(Duration.ofDays(1));
      assertEquals("202611220007", bills.nextText());
    }
    try (var files = Files.list(folder)) {
      assertEquals(List.of(file), files.toList());
    }
  }

  @Test
  void aLazyGeneratorAndAGeneratorAreSourcesToo() {
    var builder = Generator.builder().kind("segment").store("memory:sources").storeCreate(true);
    for (IdSource source :
        List.of(ScriptedGenerator.segment(1), ScriptedGenerator.segment(1).get(), builder.buildLazy())) {
      assertEquals(1, source.next());
      assertEquals("2", source.nextText());
      assertArrayEquals(new long[] {3, 4}, source.nextBatch(2));
      source.close();
      assertThrows(ClosedException.class, source::next);
    }
  }

  @Test
  void whatDoesNotApplyIsRefusedWithWhatIsAllowed() {
    var snowflake = Generator.builder().worker(1);
    assertSays("numbers", () -> ScriptedGenerator.with(snowflake).start(5).build());
    assertSays("snowflakes", () -> ScriptedGenerator.with(Generator.builder().kind("segment")).sequence(5).build());
    assertSays("0 to 4095", () -> ScriptedGenerator.snowflake(AT, 4096));
    assertSays("allowed: 1 to 4611686018427387904", () -> ScriptedGenerator.segment(0));
    assertSays("allowed: 1 to 4611686018427387904", () -> ScriptedGenerator.segment((1L << 62) + 1));
    assertSays("0 and above", () -> IdgenException.of(Status.EXHAUSTED, -1));
    try (var ids = ScriptedGenerator.segment(1)) {
      assertSays("1 and above", () -> tell(() -> ids.failNext(0, Status.CLOSED)));
      assertSays("0 and above", () -> tell(() -> ids.failAfter(-1, Status.CLOSED)));
      assertSays("no status", () -> tell(() -> ids.failNext(1, 19)));
      assertSays("use setBack", () -> tell(() -> ids.clock().advance(Duration.ofMillis(-1))));
      assertSays("use advance", () -> tell(() -> ids.clock().setBack(Duration.ofMillis(-1))));
      assertSays("negative", () -> ids.nextBatch(-1));
      assertEquals(1, ids.next());
    }
    var wrong = Generator.builder().kind("segment").set("segment.stp", "1");
    assertThrows(ConfigException.class, () -> ScriptedGenerator.with(wrong).build());
  }

  private static Object tell(Runnable telling) {
    telling.run();
    return null;
  }

  private static void assertSays(String words, Callable<?> call) {
    var refusal = assertThrows(IllegalArgumentException.class, call::call);
    assertTrue(refusal.getMessage().contains(words), refusal.getMessage());
  }

  @Test
  void manyThreadsShareTheToldIds() throws Exception {
    try (var ids = ScriptedGenerator.segment(1)) {
      ids.failAfter(100, Status.EXHAUSTED);
      var threads = Executors.newFixedThreadPool(8);
      var calls = new ArrayList<Callable<List<Long>>>();
      for (int thread = 0; thread < 8; thread++) {
        calls.add(
            () -> {
              var mine = new ArrayList<Long>();
              while (true) {
                try {
                  mine.add(ids.next());
                } catch (ExhaustedException e) {
                  return mine;
                }
              }
            });
      }
      var seen = new HashSet<Long>();
      for (var result : threads.invokeAll(calls)) seen.addAll(result.get());
      threads.shutdown();
      assertEquals(100, seen.size(), "DUPLICATE or LOST: an id was issued twice, or never");
    }
  }

  @Test
  void nothingIsLeftOfAClosedGenerator() throws Exception {
    var ids = ScriptedGenerator.snowflake(AT);
    ids.next();
    var clock = new WeakReference<>(ids.clock());
    var generator = new WeakReference<>(ids.get());
    ids.close();
    ids = null;
    Garbage.awaitCollected(clock, generator);
  }
}
