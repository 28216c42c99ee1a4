package dev.idgen;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeSet;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class WideIdTest {
  private static final UUID SIXTEEN = UUID.fromString("01234567-89ab-cdef-fedc-ba9876543210");

  @Test
  void anIdOfEightBytesIsALong() {
    var id = WideId.of(0x0123456789abcdefL);
    assertEquals(8, id.size());
    assertEquals(0x0123456789abcdefL, id.toLong());
    assertEquals(0, id.high());
    assertEquals(0x0123456789abcdefL, id.low());
    assertEquals("0123456789abcdef", id.toString());
    assertArrayEquals(new byte[] {1, 0x23, 0x45, 0x67, (byte) 0x89, (byte) 0xab, (byte) 0xcd, (byte) 0xef},
        id.toBytes());
    assertTrue(assertThrows(IllegalStateException.class, id::toUuid).getMessage().contains("0123456789abcdef"));
  }

  @Test
  void anIdOfSixteenBytesIsAUuid() {
    var id = WideId.of(SIXTEEN);
    assertEquals(16, id.size());
    assertEquals(SIXTEEN, id.toUuid());
    assertEquals("0123456789abcdeffedcba9876543210", id.toString());
    assertEquals(new BigInteger("0123456789abcdeffedcba9876543210", 16), id.toBigInteger());
    assertTrue(assertThrows(IllegalStateException.class, id::toLong).getMessage().contains("0123456789abcdef"));
  }

  @Test
  void theBytesOfAnIdAreTheIdAndNoOtherNumberOfThemIs() {
    for (var id : List.of(WideId.of(SIXTEEN), WideId.of(-1), WideId.of(0), WideId.of(new UUID(-1, -1)))) {
      assertEquals(id, WideId.of(id.toBytes()));
      assertEquals(id.hashCode(), WideId.of(id.toBytes()).hashCode());
      assertEquals(id.toString(), IdText.HEX.format(id));
    }
    for (int length : new int[] {0, 4, 7, 9, 15, 17}) {
      var refusal = assertThrows(IllegalArgumentException.class, () -> WideId.of(new byte[length]));
      assertTrue(refusal.getMessage().contains("these are " + length), refusal.getMessage());
    }
  }

  @Test
  void idsSortAsTheirBytesDoAndThoseOfEightBytesComeFirst() {
    var ids = new ArrayList<WideId>();
    for (long low : new long[] {0, 1, Long.MAX_VALUE, Long.MIN_VALUE, -1}) {
      ids.add(WideId.of(low));
      for (long high : new long[] {0, 5, Long.MAX_VALUE, -1}) ids.add(WideId.of(new UUID(high, low)));
    }
    var sorted = new ArrayList<>(new TreeSet<>(ids));
    assertEquals(ids.size(), sorted.size());
    assertNotEquals(WideId.of(7), WideId.of(new UUID(0, 7)), "the same number in another length");
    for (int index = 1; index < sorted.size(); index++) {
      var previous = sorted.get(index - 1);
      var id = sorted.get(index);
      assertTrue(previous.size() < id.size()
              || previous.size() == id.size() && Arrays.compareUnsigned(previous.toBytes(), id.toBytes()) < 0,
          previous + " before " + id);
    }
  }
}
