package dev.idgen;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** How Java makes them. How they are read, taken apart and written is in tests/vectors/standard.tsv. */
class StandardIdsTest {
  private static final int MANY = 3000; // more than the natives and fill take at once

  @Test
  void eachIsWhatItIsCalled() {
    var texts = Stream.of(StandardIds.uuid4().toString(), StandardIds.uuid7().toString(), StandardIds.ulid(),
        StandardIds.objectId());
    assertEquals(List.of(Standard.UUID4, Standard.UUID7, Standard.ULID, Standard.OBJECT_ID),
        texts.map(text -> StandardIds.parse(text).standard()).toList());
  }

  @Test
  void aFillHasAUuidOfItsVersionForEachPlace() {
    for (int length : new int[] {0, 1, 1024, MANY}) {
      var random = new UUID[length];
      StandardIds.fillUuid4(random);
      var timed = new UUID[length];
      StandardIds.fillUuid7(timed);
      assertEquals(length, new HashSet<>(List.of(random)).size());
      assertRising(timed);
      for (int index = 0; index < length; index++) {
        assertEquals(Standard.UUID4, StandardIds.decode(random[index]).standard());
        assertEquals(Standard.UUID7, StandardIds.decode(timed[index]).standard());
      }
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"UUID7", "ULID", "OBJECT_ID"})
  void idsRiseInABatchAndAfterIt(Standard standard) {
    byte[] batch = StandardIds.make(standard, MANY);
    var texts = new String[MANY + 1];
    for (int index = 0; index < MANY; index++) {
      int at = index * standard.bytes();
      texts[index] = StandardIds.format(standard, Arrays.copyOfRange(batch, at, at + standard.bytes()));
    }
    texts[MANY] = StandardIds.format(standard, StandardIds.make(standard));
    assertRising(texts);
    for (String text : texts) assertEquals(standard, StandardIds.parse(text).standard());
  }

  private static <T extends Comparable<T>> void assertRising(T[] ids) {
    for (int index = 1; index < ids.length; index++) {
      assertTrue(ids[index - 1].compareTo(ids[index]) < 0, ids[index - 1] + " before " + ids[index]);
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
    String object = "507f1f77bcf86cd799439011";
    assertEquals("ParsedStandard[object_id " + object + ']', StandardIds.parse(object).toString());
    assertEquals(StandardIds.parse(object).hashCode(), StandardIds.parse(object).hashCode());
    assertNotEquals(StandardIds.parse(object), StandardIds.parse(StandardIds.objectId()));
    var timed = StandardIds.decode(Standard.OBJECT_ID, StandardIds.parse(object).id()).toString();
    assertTrue(timed.contains("2012-10-17T21:13:27Z") && timed.contains("process="), timed);
  }

  /** The jar's copy of the library has its own code for what each thread keeps. */
  @Test
  void threadsMakeNoneTwice() throws Exception {
    for (Supplier<Object> make : List.<Supplier<Object>>of(
             StandardIds::uuid4, StandardIds::uuid7, StandardIds::ulid, StandardIds::objectId)) {
      var all = new HashSet<Object>();
      for (var ids : Threads.together(4, () -> Stream.generate(make).limit(50_000).toList())) {
        for (Object id : ids) assertTrue(all.add(id), () -> "DUPLICATE: " + id + " was made twice");
      }
      assertEquals(200_000, all.size());
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

  @ParameterizedTest
  @EnumSource
  void bytesOfAnotherLengthAreRefused(Standard standard) {
    int bytes = standard == Standard.OBJECT_ID ? 12 : 16;
    for (int length : new int[] {bytes - 1, bytes + 1}) {
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
    for (int count : new int[] {-1, 134_217_728}) {
      var refusal = assertThrows(IllegalArgumentException.class, () -> StandardIds.make(Standard.ULID, count));
      assertEquals("count is " + count + ": it must be 0 to 134217727", refusal.getMessage());
    }
    assertEquals(0, StandardIds.make(Standard.ULID, 0).length);
  }

  @Test
  void nullAndATextWithANulAreRefused() {
    for (Executable call : List.<Executable>of(
             () -> StandardIds.fillUuid4(null), () -> StandardIds.fillUuid7(null), () -> StandardIds.make(null),
             () -> StandardIds.make(null, 1), () -> StandardIds.format(null, new byte[16]),
             () -> StandardIds.format(Standard.UUID, null), () -> StandardIds.parse(null),
             () -> StandardIds.decode(null, new byte[16]), () -> StandardIds.decode(Standard.UUID, null),
             () -> StandardIds.decode(null))) {
      assertThrows(NullPointerException.class, call);
    }
    assertThrows(IllegalArgumentException.class, () -> StandardIds.parse("507f1f77bcf86cd79943901\0"));
  }
}
