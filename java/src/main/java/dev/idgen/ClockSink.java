package dev.idgen;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.concurrent.locks.LockSupport;

/** What the library holds for a clock. The program's own object is separate, so that it can be released earlier. */
final class ClockSink {
  private volatile InstantSource clock;
  private volatile long latest;

  /** Throws what the clock throws. */
  ClockSink(InstantSource clock) {
    this.clock = clock;
    this.latest = unixNs(clock.instant());
  }

  /** Called by the natives, on any thread: ns since 1970-01-01 UTC. */
  long nowNs() {
    var current = clock;
    try {
      if (current != null) latest = unixNs(current.instant());
    } catch (Throwable e) {
      tell(e);
    }
    return latest;
  }

  /** Called by the natives, on any thread. */
  void sleepNs(long ns) {
    var current = clock;
    try {
      if (current != null) sleep(current, Duration.ofNanos(ns));
    } catch (Throwable e) {
      tell(e);
    }
  }

  /** As the clock says, or by the system's: then an interrupt ends it early. */
  static void sleep(InstantSource clock, Duration time) {
    if (clock instanceof WaitingClock waiting) {
      waiting.sleep(time);
    } else {
      LockSupport.parkNanos(time.toNanos());
    }
  }

  void forget() {
    clock = null;
  }

  /** There is nobody to report an exception to. */
  private static void tell(Throwable e) {
    var thread = Thread.currentThread();
    thread.getUncaughtExceptionHandler().uncaughtException(thread, e);
  }

  private static long unixNs(Instant moment) {
    return Math.addExact(Math.multiplyExact(moment.getEpochSecond(), 1_000_000_000L), moment.getNano());
  }
}
