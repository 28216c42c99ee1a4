package dev.idgen;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class StandardIdsTest {
  private static final int MANY = 3000; // more than the natives and fill take at once

  @Test
  void aUuidIsOfItsVersionAndAFillHasOneForEachPlace() {
    for (int length : new int[] {0, 1, 1024, MANY}) {
      var random = new UUID[length];
      StandardIds.fillUuid4(random);
      var timed = new UUID[length];
      StandardIds.fillUuid7(timed);
      assertEquals(length, new HashSet<>(List.of(random)).size());
      assertRising(List.of(timed));
      for (int index = 0; index < length; index++) {
        assertEquals(Standard.UUID4, StandardIds.decode(random[index]).standard());
        assertEquals(Standard.UUID7, StandardIds.decode(timed[index]).standard());
      }
    }
    assertEquals(4, StandardIds.uuid4().version());
    assertEquals(7, StandardIds.uuid7().version());
  }

  @ParameterizedTest
  @EnumSource(names = {"UUID7", "ULID", "OBJECT_ID"})
  void idsRiseOneByOneAndInBatches(Standard standard) {
    byte[] batch = StandardIds.make(standard, MANY);
    var texts = new ArrayList<String>();
    for (int at = 0; at < batch.length; at += standard.bytes()) {
      texts.add(StandardIds.format(standard, Arrays.copyOfRange(batch, at, at + standard.bytes())));
    }
    texts.add(StandardIds.format(standard, StandardIds.make(standard)));
    assertEquals(MANY + 1, texts.size());
    assertRising(texts);
    for (String text : texts) assertEquals(standard, StandardIds.parse(text).standard());
  }

  private static <T extends Comparable<T>> void assertRising(List<T> ids) {
    for (int index = 1; index < ids.size(); index++) {
      assertTrue(ids.get(index - 1).compareTo(ids.get(index)) < 0, ids.get(index - 1) + " before " + ids.get(index));
    }
  }

  @Test
  void partsSayWhatTheyHave() {
    var parts = StandardIds.decode(StandardIds.uuid4());
    assertEquals("StandardParts[uuid of version 4]", parts.toString());
    var refusal = assertThrows(IllegalStateException.class, parts::instant);
    assertEquals("an id has no time if it is a uuid of version 4", refusal.getMessage());
    var other = StandardIds.decode(UUID.fromString("017f22e2-79b0-7cc3-d8c4-dc0c0c07398f"));
    assertEquals("StandardParts[uuid of another variant than RFC 9562's]", other.toString());
    var object = StandardIds.decode(Standard.OBJECT_ID, StandardIds.make(Standard.OBJECT_ID)).toString();
    var same = StandardIds.decode(Standard.OBJECT_ID, StandardIds.parse(StandardIds.objectId()).id());
    assertTrue(object.contains("process=" + same.process()), object);
    assertTrue(same.toString().contains(same.instant().toString()), same::toString);
  }

  @Test
  void threadsMakeNoneTwice() throws Exception {
    assertAllDifferent(StandardIds::uuid4);
    assertAllDifferent(StandardIds::uuid7);
    assertAllDifferent(StandardIds::ulid);
    assertAllDifferent(StandardIds::objectId);
  }

  private static <T> void assertAllDifferent(Supplier<T> make) throws Exception {
    var all = new HashSet<T>();
    for (var ids : Threads.together(4, () -> Stream.generate(make).limit(50_000).toList())) {
      for (T id : ids) assertTrue(all.add(id), () -> "DUPLICATE: " + id + " was made twice");
    }
    assertEquals(200_000, all.size());
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
  void aTextWithANulIsRefused() {
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
