package dev.idgen;

import java.time.Instant;

/**
 * What a router has in force, and how its latest look at its file went.
 *
 * @param version of the table in force
 * @param bits the ring has 2^bits nodes
 * @param swaps tables that came into force after the first
 * @param failures looks at the file that found something wrong
 * @param lastFailure when the latest of these was; null if never
 * @param lastStatus of the latest look at the file, a number of {@link Status}
 * @param lastError what was wrong then; empty if nothing
 */
public record RouterStats(
    long version, int bits, long swaps, long failures, Instant lastFailure, int lastStatus, String lastError) {
  static RouterStats of(Object[] parts) {
    var n = (long[]) parts[0];
    var failed = n[5] == 0 ? null : Instant.ofEpochMilli(n[5]);
    return new RouterStats(n[0], (int) n[1], n[3], n[4], failed, (int) n[6], Text.string((byte[]) parts[1]));
  }
}
