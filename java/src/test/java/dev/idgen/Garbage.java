package dev.idgen;

import java.lang.ref.WeakReference;

/** What tests do about objects that nobody must hold. */
public final class Garbage {
  private Garbage() {}

  /** Collects until all are gone. If one never is, the test ends at its deadline. */
  public static void awaitCollected(WeakReference<?>... references) throws InterruptedException {
    for (var reference : references) {
      while (reference.get() != null) {
        System.gc();
        Thread.sleep(10);
      }
    }
  }
}
