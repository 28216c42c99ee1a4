package dev.idgen;

import java.util.concurrent.Callable;

/** A store in memory with one counter. What a test has set happens before each of its calls. */
class Counter implements Store {
  volatile Callable<?> beforeTake = () -> null;
  volatile Callable<?> beforeReturn = () -> null;
  volatile Throwable failure; // of each take
  private long maxId;

  @Override
  public long segmentTake(String namespace, String tag, long count) throws Exception {
    beforeTake.call();
    if (failure instanceof Error e) throw e;
    if (failure instanceof Exception e) throw e;
    synchronized (this) {
      maxId += count;
      return maxId - count + 1;
    }
  }

  @Override
  public void segmentReturn(String namespace, String tag, long last, long unused) throws Exception {
    beforeReturn.call();
    synchronized (this) {
      if (maxId == last) maxId -= unused;
    }
  }

  synchronized long maxId() {
    return maxId;
  }
}
