package dev.idgen;

import java.time.Instant;

/**
 * A tag in the list of a store's tags: its namespace and name, then what {@link SegmentInfo} says.
 *
 * @param namespace the set of ids that must not collide
 * @param tag name of the counter
 * @param maxId highest number granted so far; the next id is above it
 * @param grants how often a range was granted, or the counter advanced
 * @param updated when the row last changed, by the clock of the machine that changed it
 * @param step numbers per grant, as set by the operator; 0: each generator uses its own {@code segment.step}
 * @param rate ids per second that the holder drew when it took the latest grant; 0 is unknown
 * @param holder who took the latest grant, {@code "process 4711 on db-3"}; empty is unknown
 */
public record SegmentRow(
    String namespace, String tag, long maxId, long grants, Instant updated, long step, long rate, String holder) {
  /** From the native's result: the parts of a SegmentInfo, namespace and tag. */
  static SegmentRow of(Object[] row) {
    var info = SegmentInfo.of(row);
    return new SegmentRow(
        Text.string((byte[]) row[2]),
        Text.string((byte[]) row[3]),
        info.maxId(),
        info.grants(),
        info.updated(),
        info.step(),
        info.rate(),
        info.holder());
  }
}
