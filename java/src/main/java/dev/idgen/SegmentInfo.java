package dev.idgen;

import java.time.Instant;

/**
 * A tag's counter as it stands in the store.
 *
 * @param maxId highest number granted so far; the next id is above it
 * @param grants how often a range was granted, or the counter advanced
 * @param updated when the row last changed, by the clock of whoever changed it
 */
public record SegmentInfo(long maxId, long grants, Instant updated) {
  /** Length of the array that the natives fill. */
  static final int NUMBERS = 3;

  static SegmentInfo of(long[] n) {
    return new SegmentInfo(n[0], n[1], Instant.ofEpochMilli(n[2]));
  }
}
