package dev.idgen;

import java.time.Instant;

/**
 * What a generator has done so far in this process. Handles that share a worker share these counts.
 *
 * @param handles handles that share this state
 * @param granted numbers (segment) or ms of time (snowflake) that the store has committed to us
 * @param remaining of those, not yet issued
 * @param refills grants taken
 * @param refillFailures store calls that failed
 * @param refillNsMax the slowest store call, in ns
 * @param waits calls that had to wait: for the clock or the store
 * @param waitNs time spent in these waits, in ns
 * @param storeWaits of {@code waits}, those for the store: rises only after a pause or in an outage
 * @param clockBackEvents times the clock was found behind ids already issued
 * @param forks times this state was started over in a child process
 * @param leadMs how far the last id's time is ahead of the clock, in ms; 0 when not ahead, or without time
 * @param issued numbers or ms given out: granted - remaining; once closed, less what was given back
 * @param rate ids per second, as the refills measured it; 0 is unknown; always 0 for a snowflake
 * @param stockSeconds how long {@code remaining} lasts: numbers at {@code rate}, a worker's time by the clock; infinite
 *     when nothing is drawn or the rate is unknown
 * @param breakerRedis of {@code store = "buffer"}: 0 closed, 1 half-open, 2 open: Redis is left alone for a while
 * @param breakerDatabase the same for the database; both 0 for other stores
 * @param bufferStock numbers left in Redis when it was last seen
 * @param stopped the number of a {@link Status}: 0, or what calls get instead of ids
 * @param lastFailure the same of the store's latest failure, whether or not it is over; 0 is none so far
 * @param lastFailureAt when that was; null if never
 * @param redisFailures of {@code store = "buffer"}: calls of Redis that failed
 * @param databaseFailures the same for the database; both 0 for other stores
 * @param layoutLeft numbers (segment) or ms of time (snowflake) that the layout still holds; -1 is unknown
 * @param tagLeft numbers below 2^63 that the tag still holds; -1 is unknown, as for a snowflake
 * @param lastError the message of {@code lastFailure}; empty if there was none
 * @param issuedIds ids given out, also those of a snowflake, where {@code issued} is time
 */
public record Stats(
    int handles,
    long granted,
    long remaining,
    long refills,
    long refillFailures,
    long refillNsMax,
    long waits,
    long waitNs,
    long storeWaits,
    long clockBackEvents,
    long forks,
    long leadMs,
    long issued,
    long rate,
    double stockSeconds,
    int breakerRedis,
    int breakerDatabase,
    long bufferStock,
    int stopped,
    int lastFailure,
    Instant lastFailureAt,
    long redisFailures,
    long databaseFailures,
    long layoutLeft,
    long tagLeft,
    String lastError,
    long issuedIds) {
  /** What the native fills: a long[] of the numbers, and the message. */
  static final int PARTS = 2;

  static Stats of(Object[] parts) {
    var n = (long[]) parts[0];
    return new Stats(
        (int) n[0],
        n[1],
        n[2],
        n[3],
        n[4],
        n[5],
        n[6],
        n[7],
        n[8],
        n[9],
        n[10],
        n[11],
        n[12],
        n[13],
        Double.longBitsToDouble(n[14]),
        (int) n[15],
        (int) n[16],
        n[17],
        (int) n[18],
        (int) n[19],
        n[20] == 0 ? null : Instant.ofEpochMilli(n[20]),
        n[21],
        n[22],
        n[23],
        n[24],
        Text.string((byte[]) parts[1]),
        n[25]);
  }
}
