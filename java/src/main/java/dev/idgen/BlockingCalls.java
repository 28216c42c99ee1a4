package dev.idgen;

import java.lang.ref.Reference;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Makes calls that block in the library for virtual threads, on platform threads: calls for ids with an owner, each of
 * which waits for something else. ({@link VirtualWaiters} waits for the other calls.) A native call that blocks holds
 * the carrier of its virtual thread, and a few such calls would stop all other virtual threads. Up to 64 platform
 * threads make the calls in their order, and the virtual threads are parked until then.
 */
final class BlockingCalls {
  private static final int MOST_THREADS = 64;

  private final Generator generator; // kept reachable, and so the native one alive, while a thread runs
  private final long handle;
  private final long waitMaxNs;
  private final ThreadPoolExecutor threads;

  BlockingCalls(Generator generator, long handle) {
    this.generator = generator;
    this.handle = handle;
    this.waitMaxNs = IdgenJNI.waitMaxNs(handle);
    this.threads =
        new ThreadPoolExecutor(
            MOST_THREADS, MOST_THREADS, 1, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), BlockingCalls::thread);
    this.threads.allowCoreThreadTimeOut(true);
  }

  // Not of the first caller's making: it would keep that one's context.
  private static Thread thread(Runnable work) {
    var thread = new Thread(null, work, "idgen-call", 0, false);
    thread.setDaemon(true);
    thread.setContextClassLoader(null);
    return thread;
  }

  /** Makes the call, and throws what it throws. An interrupt of the caller is one of the thread that makes it. */
  void run(Runnable call) {
    var task = new Task(call);
    threads.execute(task);
    boolean wasInterrupted = false;
    while (!task.isDone) {
      long left = waitMaxNs - task.waitedNs();
      if (left > 0) {
        LockSupport.parkNanos(this, left);
      } else {
        LockSupport.park(this); // it has begun, and ends by itself
      }
      if (Thread.interrupted()) {
        wasInterrupted = true;
        task.interrupt();
      }
      if ((wasInterrupted || task.waitedNs() >= waitMaxNs) && task.drop()) {
        if (wasInterrupted) Thread.currentThread().interrupt();
        // The library says what an interrupted wait says, or one that has lasted too long.
        IdgenJNI.waitForRoom(handle, task.waitedNs());
        call.run();
        return;
      }
    }
    if (wasInterrupted) Thread.currentThread().interrupt();
    if (task.failure == null) return;
    task.failure.fillInStackTrace(); // of the call that failed
    if (task.failure instanceof RuntimeException e) throw e;
    throw (Error) task.failure;
  }

  private final class Task implements Runnable {
    final Runnable call;
    final Thread caller = Thread.currentThread();
    final long since = System.nanoTime();
    volatile boolean isDone;
    Throwable failure; // before isDone

    /** Not a monitor: some versions of Java would hold the carrier. Nothing is called while it is held. */
    private final ReentrantLock lock = new ReentrantLock();

    private Thread runner; // guarded by lock
    private boolean isTaken; // by the runner, or by the caller; guarded by lock

    Task(Runnable call) {
      this.call = call;
    }

    long waitedNs() {
      return System.nanoTime() - since;
    }

    @Override
    public void run() {
      if (!take(Thread.currentThread())) return;
      try {
        if (waitedNs() > 1_000_000) IdgenJNI.waitForRoom(handle, waitedNs()); // for others
        call.run();
      } catch (Throwable e) {
        failure = e;
      } finally {
        Reference.reachabilityFence(generator);
      }
      end();
      isDone = true;
      LockSupport.unpark(caller);
    }

    /** True: no other thread will make the call. */
    boolean drop() {
      return take(null);
    }

    private boolean take(Thread by) {
      lock.lock();
      try {
        if (isTaken) return false;
        isTaken = true;
        runner = by;
        return true;
      } finally {
        lock.unlock();
      }
    }

    void interrupt() {
      lock.lock();
      try {
        if (runner != null) runner.interrupt();
      } finally {
        lock.unlock();
      }
    }

    private void end() {
      lock.lock();
      try {
        runner = null;
        Thread.interrupted();
      } finally {
        lock.unlock();
      }
    }
  }
}
