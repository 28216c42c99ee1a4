package dev.idgen;

import java.time.Instant;

/**
 * A tag's counter as it stands in the store.
 *
 * @param maxId highest number granted so far; the next id is above it
 * @param grants how often a range was granted, or the counter advanced
 * @param updated when the row last changed, by the clock of the machine that changed it
 * @param step numbers per grant, as set by the operator; 0: each generator uses its own {@code segment.step}
 * @param rate ids per second that the holder drew when it took the latest grant; 0 is unknown
 * @param holder who took the latest grant, {@code "process 4711 on db-3"}; empty is unknown
 */
public record SegmentInfo(long maxId, long grants, Instant updated, long step, long rate, String holder) {
  /** What the natives fill: a long[] of the numbers, and the holder. */
  static final int PARTS = 2;

  static SegmentInfo of(Object[] parts) {
    var n = (long[]) parts[0];
    return new SegmentInfo(n[0], n[1], Instant.ofEpochMilli(n[2]), n[3], n[4], Text.string((byte[]) parts[1]));
  }
}
