package dev.idgen;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiConsumer;
import java.util.function.Function;

/**
 * A generator that is opened by its first use, for a static field or a bean that is made before the store is up. Made
 * by {@link Generator#lazy(java.nio.file.Path, String)} or {@link Generator.Builder#buildLazy()}, which open nothing,
 * read nothing and cannot fail. Any number of threads may call any method at the same time.
 *
 * <pre>{@code
 * static final LazyGenerator ORDERS = Generator.lazy(Path.of("idgen.toml"), "orders");
 * }</pre>
 *
 * <p>The first use opens the generator, once, however many threads want it at the same moment: the others wait. What is
 * wrong with the configuration is thrown there. If opening fails, all who waited for it get the exception, and the next
 * use tries again. An error that is {@link IdgenException#retryable() retryable} is tried again before, for as long as
 * {@link Generator.Builder#buildLazy(Duration)} says: the store is down, or the worker is still held by the process
 * that this one replaces. The last attempt may take {@code wait_max} longer. {@link Thread#interrupt()} ends the wait
 * of its thread with a {@link CancelledException}; if that thread was the one that opened, another that waits does it.
 *
 * <p>For whatever has no method here there is {@link #get()}.
 */
public final class LazyGenerator implements IdSource {
  private static final Duration LONGEST_WAIT = Duration.ofDays(1000);

  /** Between two attempts: twice as long each time. */
  private static final long FIRST_PAUSE_NS = 50_000_000;

  private static final long LONGEST_PAUSE_NS = 2_000_000_000;

  private final String subject;
  private final long openWaitNs;
  private final Function<Opening, Generator> attempt;

  /** Not a monitor: some versions of Java would hold the carrier. Nothing is called while it is held. */
  private final ReentrantLock lock = new ReentrantLock();

  private final Condition changed = lock.newCondition();
  private Opening opening; // guarded by lock; null: nobody opens
  private boolean isClosed; // guarded by lock

  /** Stays when it is closed, and says so. */
  private volatile Generator generator;

  LazyGenerator(String subject, Duration openWait, Function<Opening, Generator> attempt) {
    this.subject = subject;
    this.openWaitNs = (openWait.compareTo(LONGEST_WAIT) > 0 ? LONGEST_WAIT : openWait).toNanos();
    this.attempt = attempt;
  }

  /** One opening, by one thread. The others wait for it, and share its failure. */
  static final class Opening {
    /** Those that must not wait for it, because it waits for them. */
    private final Set<Thread> threads = ConcurrentHashMap.newKeySet();

    private volatile boolean isOver;

    /** Null: it is open, or the thread that opened was interrupted. Before isOver. */
    private Throwable failure;

    Opening() {
      threads.add(Thread.currentThread());
    }

    private Object run(CallbackOfHost callback) throws Throwable {
      boolean isFirst = !isOver && threads.add(Thread.currentThread());
      try {
        return callback.run();
      } finally {
        if (isFirst) threads.remove(Thread.currentThread());
      }
    }

    /** The log, whose threads must not wait for this opening. */
    BiConsumer<System.Logger.Level, String> guarded(BiConsumer<System.Logger.Level, String> log) {
      return (level, message) ->
          unchecked(
              () -> {
                log.accept(level, message);
                return null;
              });
    }

    /** The clock, whose threads must not wait for this opening. */
    InstantSource guarded(InstantSource clock) {
      return new WaitingClock() {
        @Override
        public Instant instant() {
          return (Instant) unchecked(clock::instant);
        }

        @Override
        public void sleep(Duration time) {
          unchecked(
              () -> {
                ClockSink.sleep(clock, time);
                return null;
              });
        }
      };
    }

    private Object unchecked(CallbackOfHost callback) {
      try {
        return run(callback);
      } catch (RuntimeException | Error e) {
        throw e;
      } catch (Throwable e) {
        throw new AssertionError("it throws nothing else", e);
      }
    }

    /** The store, whose threads must not wait for this opening. */
    Object guarded(Object store) {
      Class<?> kind =
          store instanceof WorkerStore ? WorkerStore.class : store instanceof Store ? Store.class : SqlSink.Pool.class;
      return Proxy.newProxyInstance(
          kind.getClassLoader(),
          new Class<?>[] {kind},
          (proxy, method, arguments) -> {
            try {
              return run(() -> method.invoke(store, arguments));
            } catch (InvocationTargetException e) {
              throw e.getCause();
            }
          });
    }

    private interface CallbackOfHost {
      Object run() throws Throwable;
    }
  }

  /**
   * The generator, opened if it is not open yet. May wait.
   *
   * @return the same one each time
   * @throws ClosedException after {@link #close()}
   * @throws CancelledException if the thread was interrupted while it waited
   * @throws ConfigException if the configuration cannot be used; or if a clock, a store or a log asks for the generator
   *     that is being opened with it (status {@link Status#UNSUPPORTED})
   * @throws IdgenException as for {@link Generator.Builder#build()}
   */
  public Generator get() {
    Generator open = generator;
    return open != null ? open : openOrWait();
  }

  private Generator openOrWait() {
    var mine = new Opening();
    lock.lock();
    try {
      while (opening != null || generator != null || isClosed) {
        if (generator != null) return generator;
        checkOpen();
        Opening other = opening;
        if (other.threads.contains(Thread.currentThread())) {
          throw Errors.of(
              Status.UNSUPPORTED,
              subject + ": the lazy generator is used by a clock, a store or a log that its opening waits for; use"
                  + " another generator there");
        }
        while (!other.isOver) changed.await();
        if (other.failure != null) throw forThisCaller(other.failure);
      }
      opening = mine;
    } catch (InterruptedException e) {
      throw cancelled();
    } finally {
      lock.unlock();
    }
    return open(mine);
  }

  private Generator open(Opening mine) {
    Generator opened = null;
    Throwable failure = null;
    boolean isLate = false;
    try {
      opened = tryUntilOpen(mine);
    } catch (CancelledException e) { // of this thread alone: the next of those who wait opens
      throw e;
    } catch (RuntimeException | Error e) {
      failure = e;
      throw e;
    } finally {
      lock.lock();
      try {
        isLate = isClosed;
        if (!isLate) generator = opened;
        opening = null;
        mine.failure = failure;
        mine.isOver = true;
        changed.signalAll();
      } finally {
        lock.unlock();
      }
    }
    if (isLate) {
      opened.close();
      throw closed();
    }
    return opened;
  }

  private Generator tryUntilOpen(Opening mine) {
    long deadline = System.nanoTime() + openWaitNs;
    for (long pause = FIRST_PAUSE_NS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_NS)) {
      try {
        return attempt.apply(mine);
      } catch (IdgenException e) {
        long left = deadline - System.nanoTime();
        if (!e.retryable() || left <= 0) throw e;
        pause(Math.min(Math.max(pause, e.retryAfter().toNanos()), left));
      }
    }
  }

  private void pause(long ns) {
    lock.lock();
    try {
      for (long left = ns; left > 0; left = changed.awaitNanos(left)) checkOpen();
      checkOpen();
    } catch (InterruptedException e) {
      throw cancelled();
    } finally {
      lock.unlock();
    }
  }

  private void checkOpen() {
    if (isClosed) throw closed();
  }

  private IdgenException closed() {
    return Errors.of(Status.CLOSED, subject + ": the lazy generator is closed; make another one");
  }

  private IdgenException cancelled() {
    Thread.currentThread().interrupt();
    return Errors.of(Status.CANCELLED, subject + ": interrupted while it waited for the generator to open");
  }

  /** With the stack of who waited. */
  private static RuntimeException forThisCaller(Throwable failure) {
    if (failure instanceof IdgenException e) return Errors.again(e);
    if (failure instanceof Error e) throw e;
    return (RuntimeException) failure;
  }

  /**
   * One id, as {@link Generator#next()}. The first use opens. May wait.
   *
   * @return the id
   * @throws IdgenException as for {@link #get()} and {@link Generator#next()}
   */
  @Override
  public long next() {
    Generator open = generator;
    return (open != null ? open : openOrWait()).next();
  }

  /**
   * One id as text, as {@link Generator#nextText()}. The first use opens. May wait.
   *
   * @return the text
   * @throws IdgenException as for {@link #get()} and {@link Generator#nextText()}
   */
  @Override
  public String nextText() {
    return get().nextText();
  }

  /**
   * Some ids in a new array, as {@link Generator#nextBatch}. The first use opens. May wait.
   *
   * @param count how many
   * @return {@code count} ids
   * @throws IdgenException as for {@link #get()} and {@link Generator#nextBatch}
   */
  @Override
  public long[] nextBatch(int count) {
    return get().nextBatch(count);
  }

  /**
   * Whether the generator is open. Opens nothing.
   *
   * @return false before the first use, and after {@link #close()}
   */
  public boolean isOpen() {
    lock.lock();
    try {
      return generator != null && !isClosed;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Closes this for good, and the generator as {@link Generator#close()} does. Later uses throw a {@link
   * ClosedException}: nothing is opened again. Calls that wait for the opening end with it too; the attempt that is
   * under way ends by itself. Closing again does nothing.
   */
  @Override
  public void close() {
    Generator open;
    lock.lock();
    try {
      isClosed = true;
      open = generator;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
    if (open != null) open.close();
  }

  /**
   * Which generator this is, and whether it is open. Opens nothing.
   *
   * @return such as {@code LazyGenerator[orders of idgen.toml, not open]}; never a password
   */
  @Override
  public String toString() {
    lock.lock();
    try {
      String state = isClosed ? "closed" : generator != null ? "open" : "not open";
      return "LazyGenerator[" + subject + ", " + state + "]";
    } finally {
      lock.unlock();
    }
  }
}
