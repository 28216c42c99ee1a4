package dev.idgen.testing;

import dev.idgen.WorkerChange;
import dev.idgen.WorkerRow;
import dev.idgen.WorkerStore;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A store in memory that belongs to one generator. Its clock is the generator's. */
final class FreshStore implements WorkerStore {
  private record Tag(String namespace, String tag) {}

  private record Worker(String namespace, long worker) {}

  /** The highest number that counts as granted already: of the tag, or of each period. */
  private final long before;

  private final ManualClock clock;
  private final Map<Tag, Long> maxIds = new HashMap<>();
  private final Map<String, String> formats = new HashMap<>();

  /** Their leaseLeftMs is when the lease ends. */
  private final Map<Worker, WorkerRow> rows = new HashMap<>();

  FreshStore(long first, ManualClock clock) {
    this.before = first - 1;
    this.clock = clock;
  }

  @Override
  public long segmentTake(String namespace, String tag, long count) {
    return segmentTakeAbove(namespace, tag, count, 0);
  }

  @Override
  public synchronized long segmentTakeAbove(String namespace, String tag, long count, long above) {
    long last = Math.max(maxIds.getOrDefault(new Tag(namespace, tag), 0L), above);
    if (last == above) last += before; // nothing was granted yet: of the tag, or of a serial's period
    maxIds.put(new Tag(namespace, tag), last + count);
    return last + 1;
  }

  @Override
  public synchronized void segmentReturn(String namespace, String tag, long last, long unused) {
    maxIds.computeIfPresent(new Tag(namespace, tag), (key, maxId) -> maxId == last ? last - unused : maxId);
  }

  @Override
  public synchronized String namespaceFormat(String namespace, String format) {
    if (!format.isEmpty()) formats.putIfAbsent(namespace, format);
    return formats.getOrDefault(namespace, "");
  }

  @Override
  public synchronized WorkerRow workerRead(String namespace, long worker) {
    long now = clock.millis();
    WorkerRow row = rows.get(new Worker(namespace, worker));
    if (row == null) return new WorkerRow(worker, 0, "", 0, 0, 0, now, "");
    long left = row.leaseLeftMs() - now;
    return new WorkerRow(worker, row.fence(), row.owner(), row.hwMs(), left, 0, now, row.holder());
  }

  @Override
  public synchronized List<WorkerRow> workerList(String namespace) {
    var found = new ArrayList<WorkerRow>();
    for (Worker key : rows.keySet()) {
      if (key.namespace().equals(namespace)) found.add(workerRead(namespace, key.worker()));
    }
    return found;
  }

  @Override
  public synchronized boolean workerReplace(String namespace, WorkerChange change) {
    WorkerRow row = workerRead(namespace, change.worker());
    if (row.fence() != change.seenFence()
        || !row.owner().equals(change.seenOwner())
        || row.hwMs() != change.seenHwMs()) return false;
    long leaseEnd = clock.millis() + change.leaseMs();
    rows.put(
        new Worker(namespace, change.worker()),
        new WorkerRow(
            change.worker(), change.fence(), change.owner(), change.hwMs(), leaseEnd, 0, 0, change.holder()));
    return true;
  }
}
