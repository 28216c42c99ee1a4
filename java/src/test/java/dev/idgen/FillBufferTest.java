package dev.idgen;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.LongBuffer;
import java.nio.ReadOnlyBufferException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FillBufferTest {
  @TempDir Path folder;

  private Generator orders(int step) {
    return Builders.segment(folder).segmentStep(step).segmentRunway(Duration.ZERO).build();
  }

  private static ByteBuffer direct(int longs) {
    return ByteBuffer.allocateDirect(longs * Long.BYTES);
  }

  @Test
  void everyKindOfBufferIsFilledFromItsPositionToItsLimit() {
    LongBuffer[] all = {
      direct(10).order(ByteOrder.LITTLE_ENDIAN).asLongBuffer(),
      direct(10).order(ByteOrder.BIG_ENDIAN).asLongBuffer(),
      LongBuffer.allocate(10),
      LongBuffer.wrap(new long[12], 1, 11).slice(),
      ByteBuffer.allocate(80).order(ByteOrder.BIG_ENDIAN).asLongBuffer(),
    };
    try (var orders = orders(7)) {
      long expected = 1;
      for (var ids : all) {
        ids.position(2).limit(9);
        assertEquals(7, orders.fill(ids));
        assertEquals(9, ids.position());
        for (int i = 2; i < 9; i++) assertEquals(expected++, ids.get(i));
        ids.clear();
        assertEquals(0, ids.get(1));
        assertEquals(0, ids.get(9));
        assertEquals(0, orders.fill(ids.position(ids.limit())), "nothing remains");
      }
      assertEquals(expected, orders.next(), "none is lost");
    }
  }

  @Test
  void aBufferThatIsReadOnlyCostsNoId() {
    try (var orders = orders(10)) {
      assertThrows(ReadOnlyBufferException.class, () -> orders.fill(LongBuffer.allocate(3).asReadOnlyBuffer()));
      assertThrows(ReadOnlyBufferException.class, () -> orders.fill(direct(3).asReadOnlyBuffer().asLongBuffer()));
      assertEquals(1, orders.next());
    }
  }

  @Test
  void aFailureLeavesThePositionBehindWhatWasStored() {
    for (var bytes : new ByteBuffer[] {direct(3000).order(ByteOrder.nativeOrder()), ByteBuffer.allocate(24000)}) {
      var ids = bytes.asLongBuffer().position(5);
      var isUsedUp = new AtomicBoolean();
      Store onlyOnce = (namespace, tag, count) -> {
        if (isUsedUp.getAndSet(true)) throw IdgenException.of(Status.STORE_FULL, "there are no more");
        return 1;
      };
      var builder = Builders.segment(folder).store(onlyOnce).segmentStep(2000).segmentRunway(Duration.ZERO);
      try (var orders = builder.waitMax(Duration.ZERO).build()) {
        var failure = assertThrows(IdgenException.class, () -> orders.fill(ids));
        assertTrue(failure.written() > 0 && failure.written() <= 2000, "" + failure.written());
        assertEquals(5 + failure.written(), ids.position());
        for (int i = 0; i < failure.written(); i++) assertEquals(i + 1, ids.get(5 + i));
        assertEquals(0, ids.get(ids.position()));
      }
    }
  }
}
