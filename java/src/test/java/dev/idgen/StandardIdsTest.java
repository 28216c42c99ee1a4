package dev.idgen;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class StandardIdsTest {
  private static final int MANY = 3000; // more than the natives and fill take at once

  @Test
  void aUuidHasItsVersionAndTheVariantOfTheRfc() {
    var filled = new UUID[MANY];
    StandardIds.fillUuid4(filled);
    for (UUID id : joined(filled, StandardIds.uuid4())) {
      assertEquals(4, id.version());
      assertEquals(2, id.variant());
    }
    StandardIds.fillUuid7(filled);
    for (UUID id : joined(filled, StandardIds.uuid7())) {
      assertEquals(7, id.version());
      assertEquals(2, id.variant());
    }
  }

  private static List<UUID> joined(UUID[] some, UUID one) {
    var all = new ArrayList<>(List.of(some));
    all.add(one);
    return all;
  }

  @Test
  void everyBitButThoseOfVersionAndVariantChanges() {
    var ids = new UUID[MANY];
    StandardIds.fillUuid4(ids);
    long high = 0;
    long low = 0;
    for (UUID id : ids) {
      high |= id.getMostSignificantBits() ^ ids[0].getMostSignificantBits();
      low |= id.getLeastSignificantBits() ^ ids[0].getLeastSignificantBits();
    }
    assertEquals(0xFFFF_FFFF_FFFF_0FFFL, high);
    assertEquals(0x3FFF_FFFF_FFFF_FFFFL, low);
  }

  @ParameterizedTest
  @EnumSource(names = {"UUID7", "ULID", "OBJECT_ID"})
  void anIdHoldsTheTimeAtWhichItWasMade(Standard standard) {
    long unit = standard == Standard.OBJECT_ID ? 1000 : 1; // ms
    long before = System.currentTimeMillis() / unit * unit;
    var parts = StandardIds.decode(standard, StandardIds.make(standard));
    long after = System.currentTimeMillis();
    assertEquals(standard, parts.standard());
    assertTrue(before <= parts.unixMs().orElseThrow() && parts.unixMs().orElseThrow() <= after, parts::toString);
    assertEquals(Instant.ofEpochMilli(parts.unixMs().orElseThrow()), parts.instant());
    assertTrue(parts.toString().contains(parts.instant().toString()), parts::toString);
  }

  @Test
  void aRandomUuidHasNoTime() {
    var parts = StandardIds.decode(StandardIds.uuid4());
    assertEquals(Standard.UUID4, parts.standard());
    assertEquals("StandardParts[uuid of version 4]", parts.toString());
    var refusal = assertThrows(IllegalStateException.class, parts::instant);
    assertEquals("an id has no time if it is a uuid of version 4", refusal.getMessage());
  }

  @Test
  void objectIdsOfAProcessShareItsNumberAndCount() {
    var first = StandardIds.decode(Standard.OBJECT_ID, StandardIds.make(Standard.OBJECT_ID));
    var second = StandardIds.decode(Standard.OBJECT_ID, StandardIds.parse(StandardIds.objectId()).id());
    assertEquals(first.process(), second.process());
    assertNotEquals(first.counter(), second.counter());
    assertTrue(first.process() > 0 && first.process() < 1L << 40, first::toString);
    assertTrue(first.counter() >= 0 && first.counter() < 1 << 24, first::toString);
    assertTrue(first.toString().contains("process=" + first.process()), first::toString);
  }

  @ParameterizedTest
  @EnumSource(names = {"UUID7", "ULID", "OBJECT_ID"})
  void idsRiseOneByOneAndInBatches(Standard standard) {
    var ids = new ArrayList<byte[]>();
    for (int round = 0; round < 3; round++) {
      for (int made = 0; made < MANY; made++) ids.add(StandardIds.make(standard));
      ids.addAll(split(standard, StandardIds.make(standard, MANY)));
    }
    assertEquals(6 * MANY, ids.size());
    assertRising(ids.stream().map(HexFormat.of()::formatHex).toList());
    assertRising(ids.stream().map(id -> StandardIds.format(standard, id)).toList());
  }

  @Test
  void uuidsRiseOneByOneAndInBatches() {
    var ids = new ArrayList<UUID>();
    for (int length : new int[] {0, 1, 1023, 1024, 1025, MANY}) {
      for (int made = 0; made < 1000; made++) ids.add(StandardIds.uuid7());
      var filled = new UUID[length];
      StandardIds.fillUuid7(filled);
      ids.addAll(List.of(filled));
    }
    assertRising(ids);
    assertRising(ids.stream().map(UUID::toString).toList());
  }

  @Test
  void textsRise() {
    assertRising(generated(StandardIds::ulid));
    assertRising(generated(StandardIds::objectId));
  }

  private static List<String> generated(Supplier<String> make) {
    var texts = new ArrayList<String>();
    for (int made = 0; made < MANY; made++) texts.add(make.get());
    return texts;
  }

  private static <T extends Comparable<T>> void assertRising(List<T> ids) {
    for (int index = 1; index < ids.size(); index++) {
      assertTrue(ids.get(index - 1).compareTo(ids.get(index)) < 0, ids.get(index - 1) + " before " + ids.get(index));
    }
  }

  private static List<byte[]> split(Standard standard, byte[] ids) {
    var all = new ArrayList<byte[]>();
    for (int at = 0; at < ids.length; at += standard.bytes()) {
      all.add(Arrays.copyOfRange(ids, at, at + standard.bytes()));
    }
    return all;
  }

  @Test
  void threadsMakeNoneTwice() throws Exception {
    assertAllDifferent(StandardIds::uuid4);
    assertAllDifferent(StandardIds::uuid7);
    assertAllDifferent(StandardIds::ulid);
    assertAllDifferent(StandardIds::objectId);
  }

  private static <T> void assertAllDifferent(Supplier<T> make) throws Exception {
    int threads = 4;
    int each = 50_000;
    var pool = Executors.newFixedThreadPool(threads);
    try {
      var together = new CountDownLatch(threads);
      Callable<Collection<T>> body = () -> {
        together.countDown();
        together.await();
        var ids = new ArrayList<T>(each);
        for (int made = 0; made < each; made++) ids.add(make.get());
        return ids;
      };
      var results = new ArrayList<Future<Collection<T>>>();
      for (int thread = 0; thread < threads; thread++) results.add(pool.submit(body));
      var all = new HashSet<T>();
      for (var result : results) {
        for (T id : result.get()) assertTrue(all.add(id), () -> "DUPLICATE: " + id + " was made twice");
      }
      assertEquals(threads * each, all.size());
    } finally {
      pool.shutdownNow();
    }
  }

  @Test
  void aHalfOfAnotherUuidIsNotTaken() throws Exception {
    for (Standard standard : List.of(Standard.UUID4, Standard.UUID7)) {
      long first = IdgenJNI.standardUuidLow(standard.ordinal());
      long second = IdgenJNI.standardUuidLow(standard.ordinal());
      assertEquals(0, IdgenJNI.standardUuidHigh(first));
      assertNotEquals(0, IdgenJNI.standardUuidHigh(second));
      var pool = Executors.newSingleThreadExecutor();
      try {
        assertEquals(0, pool.submit(() -> IdgenJNI.standardUuidHigh(second)).get());
      } finally {
        pool.shutdownNow();
      }
    }
  }

  @Test
  void aTextIsReadAsWhatItIs() {
    assertReads(Standard.UUID4, StandardIds.uuid4().toString(), 36);
    assertReads(Standard.UUID7, StandardIds.uuid7().toString(), 36);
    assertReads(Standard.ULID, StandardIds.ulid(), 26);
    assertReads(Standard.OBJECT_ID, StandardIds.objectId(), 24);
  }

  private static void assertReads(Standard standard, String text, int length) {
    assertEquals(length, text.length());
    var parsed = StandardIds.parse(text);
    assertEquals(standard, parsed.standard());
    assertEquals(standard.bytes(), parsed.id().length);
    assertEquals(text, StandardIds.format(standard, parsed.id()));
    assertEquals("ParsedStandard[" + standard.standardName() + ' ' + text + ']', parsed.toString());
    var again = StandardIds.parse(text.toUpperCase(Locale.ROOT));
    assertEquals(parsed, again);
    assertEquals(parsed.hashCode(), again.hashCode());
    assertNotEquals(parsed, StandardIds.parse("00000000000000000000000000"));
  }

  @Test
  void aUuidOfAnotherVariantSaysSo() {
    var parts = StandardIds.decode(UUID.fromString("017f22e2-79b0-7cc3-d8c4-dc0c0c07398f"));
    assertEquals(Standard.UUID, parts.standard());
    assertFalse(parts.isRfc());
    assertEquals("StandardParts[uuid of another variant than RFC 9562's]", parts.toString());
  }

  @Test
  void aUuidOfAnyVersionIsNotMade() {
    for (int count : new int[] {0, 1, MANY}) {
      var refusal = assertThrows(ConfigException.class, () -> StandardIds.make(Standard.UUID, count));
      assertEquals(Status.ARGUMENT, refusal.status());
      assertEquals("a UUID of what version? Versions 4 and 7 are made", refusal.getMessage());
    }
  }

  @ParameterizedTest
  @EnumSource
  void bytesOfAnotherLengthAreRefused(Standard standard) {
    int bytes = standard == Standard.OBJECT_ID ? 12 : 16;
    assertEquals(bytes, standard.bytes());
    for (int length : new int[] {0, 11, 13, 15, 17, 28 - bytes}) {
      for (Consumer<byte[]> call : List.<Consumer<byte[]>>of(
               id -> StandardIds.format(standard, id), id -> StandardIds.decode(standard, id))) {
        var refusal = assertThrows(ConfigException.class, () -> call.accept(new byte[length]));
        assertEquals(Status.VALUE, refusal.status());
        assertEquals(
            standard.standardName() + " has " + bytes + " bytes; these are " + length, refusal.getMessage());
      }
    }
  }

  @Test
  void aCountThatNoArrayHasRoomForIsRefused() {
    for (int count : new int[] {-1, Integer.MIN_VALUE, 134_217_728, Integer.MAX_VALUE}) {
      var refusal = assertThrows(IllegalArgumentException.class, () -> StandardIds.make(Standard.ULID, count));
      assertEquals("count is " + count + ": it must be 0 to 134217727", refusal.getMessage());
    }
    assertEquals(0, StandardIds.make(Standard.ULID, 0).length);
  }

  @Test
  void aTextThatIsNoIdIsRefused() {
    var refusal = assertThrows(ConfigException.class, () -> StandardIds.parse("507f1f77bcf86cd79943901x"));
    assertEquals(Status.TEXT, refusal.status());
    assertTrue(refusal.getMessage().contains("'x' at position 23"), refusal.getMessage());
    assertThrows(IllegalArgumentException.class, () -> StandardIds.parse("507f1f77bcf86cd79943901\0"));
  }

  @Test
  void nullIsRefused() {
    for (Executable call : List.<Executable>of(
             () -> StandardIds.fillUuid4(null),
             () -> StandardIds.fillUuid7(null),
             () -> StandardIds.make(null),
             () -> StandardIds.make(null, 1),
             () -> StandardIds.format(null, new byte[16]),
             () -> StandardIds.format(Standard.UUID, null),
             () -> StandardIds.parse(null),
             () -> StandardIds.decode(null, new byte[16]),
             () -> StandardIds.decode(Standard.UUID, null),
             () -> StandardIds.decode(null))) {
      assertThrows(NullPointerException.class, call);
    }
  }
}
