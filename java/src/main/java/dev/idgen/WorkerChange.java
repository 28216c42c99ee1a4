package dev.idgen;

/**
 * How a {@link WorkerStore} is to change a worker's row: compare and set.
 *
 * @param worker the number of all node fields together
 * @param seenFence the row must still have this one, and the next two; 0: there must be no row yet, and one is made
 * @param seenOwner the owner that was read
 * @param seenHwMs the mark that was read
 * @param fence what the row has afterwards
 * @param owner the same; empty: given up. The lease then ends now, clockAheadMs stays, and the last three are 0
 * @param hwMs the same
 * @param holder the same
 * @param leaseMs the lease ends this long after the store's clock
 * @param nowMs this program's clock, Unix ms: the row's clockAheadMs becomes nowMs minus the store's clock
 * @param maxLeadMs if that is above this, the row is not changed
 */
public record WorkerChange(
    long worker,
    long seenFence,
    String seenOwner,
    long seenHwMs,
    long fence,
    String owner,
    long hwMs,
    String holder,
    long leaseMs,
    long nowMs,
    long maxLeadMs) {}
