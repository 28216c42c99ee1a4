package dev.idgen;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GeneratorTest {
  @TempDir Path folder;

  private Generator.Builder segment() {
    return Generator.builder().kind("segment").store("sqlite:ids.db").directory(folder).storeCreate(true).tag("orders");
  }

  private Generator.Builder snowflake() {
    return Generator.builder().store("sqlite:ids.db").directory(folder).storeCreate(true).worker(7);
  }

  private Path toml() throws Exception {
    return Files.writeString(
        folder.resolve("idgen.toml"),
        """
        [orders]
        kind = "segment"
        store = "sqlite:ids.db"
        store_create = true

        [events]
        worker = 3
        store = "sqlite:ids.db"
        store_create = true
        """);
  }

  @Test
  void quiescedGeneratorsWaitForTheResetAndGoOn() {
    try (var orders = segment().waitMax(Duration.ofMillis(50)).build();
        var events = snowflake().build()) {
      long first = orders.next();
      long event = events.next();
      Idgen.quiesce();
      try {
        var error = assertThrows(StoreException.class, orders::next);
        assertTrue(error.getMessage().contains("quiesced for a checkpoint"), error.getMessage());
      } finally {
        Idgen.reset();
      }
      assertEquals(first + 1, orders.next());
      assertTrue(events.next() > event);
    }
  }

  @Test
  void aSegmentGivesConsecutiveNumbersFromOneOn() {
    try (var orders = segment().build()) {
      assertEquals(1, orders.next());
      assertEquals(2, orders.next());
      assertArrayEquals(new long[] {3, 4, 5}, orders.nextBatch(3));
    }
  }

  @Test
  void aSegmentGoesOnAfterCloseWhereItStopped() {
    try (var orders = segment().build()) {
      assertEquals(1, orders.next());
    }
    try (var orders = segment().build()) {
      assertEquals(2, orders.next());
    }
  }

  @Test
  void aSnowflakeIdHasTheTimeAndTheWorkerInIt() {
    var before = Instant.now().toEpochMilli();
    try (var events = snowflake().build()) {
      long id = events.next();
      var after = Instant.now().toEpochMilli();
      var parts = events.decode(id);
      assertEquals(java.util.Set.of(Field.TIME, Field.WORKER, Field.SEQUENCE), parts.fields());
      assertEquals(7, parts.worker());
      assertTrue(parts.unixMs() >= before - 1000 && parts.unixMs() <= after + 1000, parts + " is not about now");
      assertEquals(id, events.layout().encode(parts));
      assertTrue(parts.toString().contains("worker=7"), parts::toString);
    }
  }

  @Test
  void aConfigurationFileOpensBothKinds() throws Exception {
    try (var orders = Generator.open(toml(), "orders"); var events = Generator.open(toml(), "events")) {
      assertEquals(1, orders.next());
      assertEquals(3, events.decode(events.next()).worker());
    }
    assertEquals(List.of("orders", "events"), Idgen.names(toml()));
  }

  @Test
  void overridesCountMoreThanTheFile() throws Exception {
    try (var events = Generator.open(toml(), "events", Map.of("worker", "12"))) {
      assertEquals(12, events.decode(events.next()).worker());
    }
    try (var events = Generator.builder().worker(13).load(toml(), "events").build()) {
      assertEquals(13, events.decode(events.next()).worker());
    }
  }

  @Test
  void aFileNameMayHaveAnyCharacter() throws Exception {
    Path file = Files.copy(toml(), folder.resolve("Grüße \uD83D\uDE00.toml"));
    try (var orders = Generator.open(file, "orders")) {
      assertEquals(1, orders.next());
    }
  }

  @Test
  void fillStoresIdsInTheWholeArrayInAscendingOrder() {
    try (var orders = segment().build()) {
      var ids = new long[5000]; // more than one chunk of the native
      assertEquals(5000, orders.fill(ids));
      assertArrayEquals(LongStream.rangeClosed(1, 5000).toArray(), ids);
    }
  }

  @Test
  void fillStoresIdsInThePartOfTheArrayThatWasAskedFor() {
    try (var orders = segment().build()) {
      var ids = new long[10];
      Arrays.fill(ids, -1);
      assertEquals(4, orders.fill(ids, 3, 4));
      assertArrayEquals(new long[] {-1, -1, -1, 1, 2, 3, 4, -1, -1, -1}, ids);
      assertEquals(0, orders.fill(ids, 10, 0));
      assertEquals(0, orders.fill(new long[0]));
      assertEquals(5, orders.next());
    }
  }

  @Test
  void fillRefusesAPartOutsideTheArrayAndDrawsNothing() {
    try (var orders = segment().build()) {
      var ids = new long[10];
      assertThrows(IndexOutOfBoundsException.class, () -> orders.fill(ids, -1, 2));
      assertThrows(IndexOutOfBoundsException.class, () -> orders.fill(ids, 9, 2));
      assertThrows(IndexOutOfBoundsException.class, () -> orders.fill(ids, 0, 11));
      assertThrows(IndexOutOfBoundsException.class, () -> orders.fill(ids, 1, Integer.MAX_VALUE));
      assertThrows(IndexOutOfBoundsException.class, () -> orders.fill(ids, 1, -1));
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
      for (long want : new long[] {0, -1, Long.MIN_VALUE}) {
        var refusal = assertThrows(ConfigException.class, () -> orders.nextBlock(want));
        assertEquals(Status.ARGUMENT, refusal.status());
      }
    }
  }

  @Test
  void aBlockOfASnowflakeDecodesToTheSameTickAndWorker() {
    try (var events = snowflake().build()) {
      var block = events.nextBlock(100);
      assertTrue(block.count() >= 1 && block.count() <= 100, block::toString);
      var first = events.decode(block.get(0));
      var last = events.decode(block.get(block.count() - 1));
      assertEquals(first.time(), last.time());
      assertEquals(first.worker(), last.worker());
      assertEquals(first.sequence() + block.count() - 1, last.sequence());
    }
  }

  @Test
  void aStoreIsMadeWithoutATagAndAgainWithoutHarm() {
    snowflake().storeCreate(false).createStore();
    assertEquals(List.of(), segment().listSegments());
    long last;
    try (var events = snowflake().storeCreate(false).build()) {
      last = events.next();
    }
    segment().createSegment();
    segment().advanceSegment(7);
    segment().createStore();
    assertEquals(7, segment().showSegment().maxId());
    try (var events = snowflake().storeCreate(false).build()) {
      assertTrue(events.next() > last);
    }
    segment().store("memory").createStore();
  }

  @Test
  void aStoreThatIsLostIsNotMadeAnew() throws Exception {
    segment().createStore();
    Files.delete(folder.resolve("ids.db"));
    for (boolean create : new boolean[] {false, true}) {
      var lost = assertThrows(StoreException.class, () -> segment().storeCreate(create).createStore());
      assertEquals(Status.STORE_MISSING, lost.status());
      assertTrue(lost.getMessage().contains("is lost: its lock file is there"), lost.getMessage());
    }
    assertFalse(Files.exists(folder.resolve("ids.db")));
  }

  @Test
  void aStoreOfTheHostIsNotMadeByIdgen() {
    Store own = (namespace, tag, count) -> 1;
    var refused = assertThrows(ConfigException.class, segment().store(own)::createStore);
    assertEquals(Status.UNSUPPORTED, refused.status());
    assertTrue(refused.getMessage().contains("own store is made by the host"), refused.getMessage());
  }

  @Test
  void aTagIsMadeAboveANumber() {
    var negative = assertThrows(ConfigException.class, () -> segment().createSegment(-1));
    assertEquals(Status.VALUE, negative.status());
    segment().createSegment(500);
    assertEquals(Status.TAG_EXISTS, assertThrows(StoreException.class, () -> segment().createSegment(900)).status());
    try (var orders = segment().storeCreate(false).build()) {
      assertEquals(501, orders.next());
    }
  }

  @Test
  void theCountersOfATagAreCreatedShownAndLifted() {
    segment().createSegment();
    var exists = assertThrows(StoreException.class, () -> segment().createSegment());
    assertEquals(Status.TAG_EXISTS, exists.status());
    assertEquals(0, segment().showSegment().maxId());
    assertEquals(1000, segment().advanceSegment(1000).maxId());
    assertEquals(1001, segment().advanceSegment(10).maxId());
    assertEquals(50, segment().setSegmentStep(50).step());
    assertThrows(ConfigException.class, () -> segment().setSegmentStep(1_000_000_001));
    try (var orders = segment().storeCreate(false).build()) {
      assertEquals(1002, orders.next());
    }
    var info = segment().showSegment();
    assertTrue(info.updated().isAfter(Instant.now().minus(Duration.ofHours(1))), info::toString);
  }

  @Test
  void aTagThatNobodyHasDrawnFromHasNoHolder() {
    segment().createSegment();
    var info = segment().showSegment();
    assertEquals(0, info.step());
    assertEquals(0, info.rate());
    assertEquals("", info.holder());
  }

  @Test
  void allTagsOfAStoreAreListed() {
    var missing = assertThrows(StoreException.class, () -> segment().listSegments());
    assertEquals(Status.STORE_MISSING, missing.status());
    segment().namespace("b").createSegment();
    segment().namespace("a").createSegment();
    segment().namespace("a").tag("caf\u00e9").createSegment();
    segment().namespace("b").advanceSegment(7);
    var rows = segment().listSegments();
    assertEquals(
        List.of("a caf\u00e9 0", "a orders 0", "b orders 7"),
        rows.stream().map(row -> row.namespace() + " " + row.tag() + " " + row.maxId()).toList());
    for (var row : rows) {
      var info = new SegmentInfo(row.maxId(), row.grants(), row.updated(), row.step(), row.rate(), row.holder());
      assertEquals(segment().namespace(row.namespace()).tag(row.tag()).showSegment(), info);
    }
  }

  @Test
  void whatWouldMakeATagIsToldWithoutMakingIt() throws Exception {
    var statements = segment().namespace("'".repeat(128)).tag("caf\u00e9").segmentStatements();
    assertTrue(statements.contains("CREATE TABLE idgen_segment"), statements);
    assertTrue(statements.contains("VALUES('" + "''".repeat(128) + "', 'caf\u00e9', 0, 0"), statements);
    assertTrue(statements.endsWith(");\n"), statements);
    assertFalse(Files.exists(folder.resolve("ids.db")));
    assertEquals("", segment().store("memory").segmentStatements());
  }

  @Test
  void statementsAreRefusedWhereThereCanBeNone() {
    Store own = (namespace, tag, count) -> 1;
    var postgres = segment().store("postgres://app@h.invalid/ids").set("module.path", folder.toString());
    var cases =
        Map.of(
            "own makes its tags itself", segment().store(own),
            "mysql, mariadb, postgres", segment().store("memory").segmentSchema("leaf"),
            "libidgen_postgres.so", postgres);
    cases.forEach(
        (part, builder) -> {
          var refused = assertThrows(ConfigException.class, builder::segmentStatements);
          assertEquals(Status.UNSUPPORTED, refused.status());
          assertTrue(refused.getMessage().contains(part), refused.getMessage());
        });
    var unknown = assertThrows(ConfigException.class, () -> segment().store("oracle:ids").segmentStatements());
    assertEquals(Status.VALUE, unknown.status());
  }

  @Test
  void aStoreWithoutOtherTablesCannotReadOne() {
    Store own = (namespace, tag, count) -> 1;
    for (var builder : List.of(segment(), segment().store("memory"), segment().store(own))) {
      var refused = assertThrows(ConfigException.class, () -> builder.segmentMaxOf("orders", "id"));
      assertEquals(Status.UNSUPPORTED, refused.status());
      var part = "'orders' cannot be read: only the stores mysql, mariadb";
      assertTrue(refused.getMessage().contains(part), refused.getMessage());
    }
    var memory = segment().store("memory");
    assertThrows(IllegalArgumentException.class, () -> memory.segmentMaxOf("or\0ders", "id"));
    assertThrows(IllegalArgumentException.class, () -> memory.segmentMaxOf("orders", "i\0d"));
    var typo = assertThrows(ConfigException.class, () -> segment().set("stor", "memory").segmentMaxOf("orders", "id"));
    assertEquals(Status.UNKNOWN_KEY, typo.status());
  }

  @Test
  void statsCountWhatWasGranted() {
    try (var orders = segment().segmentStep(100).build()) {
      orders.nextBatch(30);
      var stats = orders.stats();
      assertEquals(1, stats.handles());
      assertTrue(stats.granted() >= 100, stats::toString);
      assertEquals(stats.granted() - 30, stats.remaining());
      assertEquals(30, stats.issued());
      assertTrue(stats.stockSeconds() == Double.POSITIVE_INFINITY || stats.rate() > 0, stats::toString);
      assertTrue(stats.refills() >= 1, stats::toString);
      assertEquals(0, stats.refillFailures());
    }
  }

  @Test
  void statsOfASnowflakeSayHowLongItsWindowLasts() {
    try (var events = snowflake().window(Duration.ofSeconds(10)).build()) {
      events.next();
      assertEquals(0, events.stats().rate());
      double left = events.stats().stockSeconds();
      assertTrue(left > 5 && left < 11, left + " s of a window of 10 s");
    }
  }

  @Test
  void describeSaysWhatIsProtectedInWords() {
    try (var durable = segment().build();
        var volatileIds = Generator.builder().kind("segment").store("memory").storeCreate(true).build()) {
      assertNotEquals("", durable.describe());
      assertNotEquals(durable.describe(), volatileIds.describe());
    }
  }

  @Test
  void aSecondGeneratorOnTheSameWorkerSharesItsState() {
    try (var first = snowflake().build(); var second = snowflake().build()) {
      assertEquals(2, first.stats().handles());
      assertNotEquals(first.next(), second.next());
    }
  }

  @Test
  void aSecondGeneratorOnTheSameWorkerThatDiffersIsRefused() {
    try (var first = snowflake().build()) {
      assertTrue(first.next() > 0);
      var busy = assertThrows(WorkerBusyException.class, () -> snowflake().onOverflow("borrow").build());
      assertEquals(Status.WORKER_BUSY, busy.status());
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
    List<Runnable> calls =
        List.of(
            orders::tryNext,
            () -> orders.fill(new long[3]),
            () -> orders.nextBatch(1),
            () -> orders.nextBlock(1),
            () -> orders.stream().findFirst());
    for (Runnable call : calls) {
      var closed = assertThrows(ClosedException.class, call::run);
      assertEquals(message, closed.getMessage());
      assertEquals(Status.CLOSED, closed.status());
      assertEquals("CLOSED", closed.statusName());
      assertFalse(closed.retryable());
    }
    assertEquals(id, orders.decode(id).segment());
    assertEquals(orders.layout().toString(), orders.layout().toString());
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
