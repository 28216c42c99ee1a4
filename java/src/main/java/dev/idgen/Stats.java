package dev.idgen;

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
    long bufferStock) {
  /** Length of the array that the native fills. */
  static final int NUMBERS = 18;

  static Stats of(long[] n) {
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
        n[17]);
  }
}
