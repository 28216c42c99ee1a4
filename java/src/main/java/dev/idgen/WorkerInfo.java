package dev.idgen;

/**
 * A worker of a namespace.
 *
 * @param worker the number of all node fields together
 * @param fence of the latest grant
 * @param hwMs its time is reserved up to here, Unix ms, exclusive
 * @param clockAheadMs the holder's clock minus the store's, as of the latest window
 * @param isLive whether an owner is alive, or may be
 * @param holder who had the latest window, {@code "process 4711 on db-3"}
 */
public record WorkerInfo(long worker, long fence, long hwMs, long clockAheadMs, boolean isLive, String holder) {
  /** From the native's result. */
  static WorkerInfo of(Object[] row) {
    var n = (long[]) row[0];
    return new WorkerInfo(n[0], n[1], n[2], n[3], n[4] != 0, Text.string((byte[]) row[1]));
  }
}
