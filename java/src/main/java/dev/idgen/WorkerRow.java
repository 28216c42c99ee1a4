package dev.idgen;

/**
 * A worker of a namespace as a {@link WorkerStore} keeps it.
 *
 * @param worker the number of all node fields together
 * @param fence of the latest grant; 0: there is no row, and of the rest only storeNowMs counts
 * @param owner 32 hexadecimal digits; empty: the worker was given up
 * @param hwMs the end of the latest window, Unix ms, exclusive
 * @param leaseLeftMs how long the owner's lease lasts by the store's clock; 0 or below: it has ended
 * @param clockAheadMs the owner's clock minus the store's, as of the latest window
 * @param storeNowMs the store's clock as the row was read, Unix ms
 * @param holder who had the latest window, {@code "process 4711 on db-3"}
 */
public record WorkerRow(
    long worker,
    long fence,
    String owner,
    long hwMs,
    long leaseLeftMs,
    long clockAheadMs,
    long storeNowMs,
    String holder) {
  /** {@return whether the worker has an owner whose lease has not ended} */
  public boolean isLive() {
    return !owner.isEmpty() && leaseLeftMs > 0;
  }
}
