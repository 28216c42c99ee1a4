package dev.idgen;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.ref.Reference;
import java.util.ArrayDeque;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Lets any number of virtual threads wait for an id of one generator. A native call that waits holds the carrier of its
 * virtual thread, and a few of them would stop all others. So one platform thread of ours draws for all that wait, in
 * their order, and they are parked meanwhile. It exists only while somebody waits, and for a moment afterwards.
 *
 * <p>Each waits no longer than {@code wait_max} and gets its own outcome: what it has waited here counts.
 */
final class VirtualWaiters {
  /** {@code Thread.isVirtual()}, or null where Java has none. */
  private static final MethodHandle IS_VIRTUAL = find("isVirtual", MethodType.methodType(boolean.class));

  private static final long LINGER_NS = 1_000_000_000;

  private static final class Waiter {
    final Thread thread = Thread.currentThread();
    final long since = System.nanoTime();
    long number; // of those who joined; guarded by lock
    volatile Object outcome; // a Long or a Throwable
    boolean hasLeft; // guarded by lock
  }

  private final Generator generator; // kept reachable, and so the native one alive, while the thread runs
  private final long handle;
  private final long waitMaxNs;
  private long before; // how many had joined when the head was taken; the server's

  /** Not a monitor: some versions of Java would hold the carrier. Nothing is called while it is held. */
  private final ReentrantLock lock = new ReentrantLock();

  private final ArrayDeque<Waiter> queue = new ArrayDeque<>(); // guarded by lock
  private int waiting; // in the queue or being served, and not gone; guarded by lock
  private long joined; // how many ever did; guarded by lock
  private boolean isCancelled; // the server was interrupted, since nobody waited; guarded by lock
  private Thread server; // guarded by lock; null: none runs

  VirtualWaiters(Generator generator, long handle) {
    this.generator = generator;
    this.handle = handle;
    this.waitMaxNs = IdgenJNI.waitMaxNs(handle);
  }

  static boolean isVirtual(Thread thread) {
    if (IS_VIRTUAL == null) return false;
    try {
      return (boolean) IS_VIRTUAL.invokeExact(thread);
    } catch (Throwable e) {
      throw new AssertionError(e); // it throws nothing
    }
  }

  private static MethodHandle find(String name, MethodType type) {
    try {
      return MethodHandles.publicLookup().findVirtual(Thread.class, name, type);
    } catch (ReflectiveOperationException e) {
      return null;
    }
  }

  /** What {@link Generator#next()} does when there is nothing at once. */
  long next() {
    var me = new Waiter();
    join(me);
    while (me.outcome == null) {
      long left = waitMaxNs - (System.nanoTime() - me.since);
      if (left > 0) LockSupport.parkNanos(this, left);
      // The native says what an interrupted wait says, or one that has lasted too long; or has an id by now.
      boolean isOver = Thread.currentThread().isInterrupted() || System.nanoTime() - me.since >= waitMaxNs;
      if (isOver && leave(me)) return IdgenJNI.nextWaited(handle, System.nanoTime() - me.since);
    }
    if (me.outcome instanceof Long id) return id;
    var failure = (Throwable) me.outcome;
    failure.fillInStackTrace(); // of the call that failed
    if (failure instanceof RuntimeException e) throw e;
    throw (Error) failure;
  }

  /** What {@link Generator#fill(long[], int, int)} does. */
  int fill(long[] ids, int offset, int length) {
    int done = 0;
    try {
      for (; ; ) {
        done += IdgenJNI.tryFill(handle, ids, offset + done, length - done);
        if (done == length) return length;
        ids[offset + done] = next();
        done++;
      }
    } catch (IdgenException failure) {
      throw failure.after(done);
    }
  }

  /** What {@link Generator#nextBlock(long)} does. */
  Block nextBlock(long want) {
    var numbers = new long[3];
    if (IdgenJNI.tryNextBlock(handle, want, numbers)) return new Block(numbers[0], numbers[1], numbers[2]);
    long id = next();
    if (want == 1 || !IdgenJNI.tryNextBlock(handle, want - 1, numbers)) return new Block(id, 1, 1);
    // If somebody has drawn in between, the one id is lost.
    return numbers[0] == id + numbers[2]
        ? new Block(id, numbers[1] + 1, numbers[2])
        : new Block(numbers[0], numbers[1], numbers[2]);
  }

  private void join(Waiter me) {
    lock.lock();
    try {
      if (server == null) {
        // Not of the first one's making: it would keep that one's context.
        var thread = new Thread(null, this::serve, "idgen-wait", 0, false);
        thread.setDaemon(true);
        thread.setContextClassLoader(null);
        thread.start(); // throws if no thread can be had
        server = thread;
      }
      me.number = ++joined;
      queue.add(me);
      if (++waiting == 1) LockSupport.unpark(server);
    } finally {
      lock.unlock();
    }
  }

  /** False: there is an outcome, which nobody else will take. */
  private boolean leave(Waiter me) {
    lock.lock();
    try {
      if (me.outcome != null) return false;
      me.hasLeft = true;
      if (--waiting == 0) {
        isCancelled = true; // it waits for nobody
        server.interrupt();
      }
      // Whoever has gone does not stay for as long as the first one waits.
      if (queue.size() > 64 && queue.size() > 2 * waiting) queue.removeIf(waiter -> waiter.hasLeft);
      return true;
    } finally {
      lock.unlock();
    }
  }

  private void serve() {
    try {
      for (Waiter head; (head = take()) != null; ) {
        Object outcome;
        try {
          outcome = IdgenJNI.nextWaited(handle, System.nanoTime() - head.since);
        } catch (Throwable e) {
          outcome = e;
        }
        if (outcome instanceof CancelledException && wasCancelled()) {
          requeue(head); // somebody else may have come since
        } else {
          deliver(head, outcome);
        }
      }
    } finally {
      Reference.reachabilityFence(generator);
    }
  }

  private boolean wasCancelled() {
    lock.lock();
    try {
      boolean was = isCancelled;
      isCancelled = false;
      Thread.interrupted();
      return was;
    } finally {
      lock.unlock();
    }
  }

  /** The next one that waits; null if there was none for a moment, and the thread ends. */
  private Waiter take() {
    long until = System.nanoTime() + LINGER_NS;
    for (; ; ) {
      lock.lock();
      try {
        before = joined;
        for (Waiter head; (head = queue.poll()) != null; ) if (!head.hasLeft) return head;
        if (System.nanoTime() - until >= 0) {
          server = null;
          return null;
        }
      } finally {
        lock.unlock();
      }
      wasCancelled();
      LockSupport.parkNanos(this, Math.max(until - System.nanoTime(), 1));
    }
  }

  private void requeue(Waiter head) {
    lock.lock();
    try {
      if (!head.hasLeft) queue.addFirst(head);
    } finally {
      lock.unlock();
    }
  }

  /**
   * An id for one that has left goes to the next who had joined before it was drawn: to a later one it could be below
   * an id that this one has already. If there is none, it is lost.
   */
  private void deliver(Waiter to, Object outcome) {
    lock.lock();
    try {
      while (to != null && to.hasLeft) {
        Waiter next = outcome instanceof Long ? queue.peek() : null;
        to = next != null && next.number <= before ? queue.poll() : null;
      }
      if (to == null) return;
      to.outcome = outcome;
      waiting--;
    } finally {
      lock.unlock();
    }
    LockSupport.unpark(to.thread);
  }
}
