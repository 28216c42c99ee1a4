package dev.idgen;

import java.lang.ref.Cleaner;
import java.util.function.LongConsumer;

/**
 * Frees a handle of the library once the Java object that owns it is unreachable, and not before: {@code close()} only
 * stops a generator, so that it may race with calls on other threads. The natives are static and get the bare address,
 * so every caller must keep its owner reachable until the native has returned ({@link
 * java.lang.ref.Reference#reachabilityFence}).
 */
final class NativeHandle {
  private static final Cleaner CLEANER = Cleaner.create();

  private NativeHandle() {}

  /** Runs {@code destroy} on the address when the owner has become unreachable. */
  static void freeWith(Object owner, long address, LongConsumer destroy) {
    CLEANER.register(owner, new Release(address, destroy));
  }

  /** Not a lambda at the call site: it could capture the owner, which would then never become unreachable. */
  private record Release(long address, LongConsumer destroy) implements Runnable {
    @Override
    public void run() {
      destroy.accept(address);
    }
  }
}
