package dev.idgen;

import java.lang.ref.Reference;
import java.nio.ByteOrder;
import java.nio.LongBuffer;
import java.nio.ReadOnlyBufferException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.LongFunction;
import java.util.function.Supplier;
import java.util.stream.LongStream;

/**
 * Makes unique, ordered ids. Any number of threads may call any method at the same time, {@link #close()} included.
 *
 * <pre>{@code
 * try (var orders = Generator.open(Path.of("idgen.toml"), "orders")) {
 *   long id = orders.next();
 * }
 * }</pre>
 *
 * <p>Make one for each configuration and keep it as long as the program runs: opening takes a reservation from the
 * store, issuing an id takes nanoseconds. Closing gives the unused rest of the reservation back. The garbage collector
 * closes a forgotten generator at some time, but not if the JVM exits first: what it had reserved is then never issued
 * by anyone.
 *
 * <p><b>Waiting.</b> {@link #next()}, {@link #nextText()}, {@link #fill(long[]) fill}, {@link #nextBatch}, {@link
 * #nextBlock}, {@link #stream()}, their forms for ids with an owner, and {@link Builder#build()} may wait, up to the
 * property {@code wait_max}: for the next tick when the sequence of this one is used up, for a clock that was set back,
 * for the store when the reservation is used up. A wait notices {@link Thread#interrupt()} within about 20 ms and ends
 * with a {@link CancelledException}; the thread's interrupt status stays set. This loses no ids, except those that
 * {@code nextBatch} had already made. A call that does not have to wait ignores the interrupt status.
 *
 * <p><b>Virtual threads.</b> Any number of them may wait: they are parked, and one daemon thread, {@code idgen-wait},
 * draws for all of them in their order. Calls for ids with an owner are made by up to 64 daemon threads, {@code
 * idgen-call}. But {@link Builder#build()} and {@link #close()} keep the carrier of a virtual thread while they wait.
 */
public final class Generator implements IdSource {
  private final long handle;
  private final VirtualWaiters waiters;
  private final Elsewhere elsewhere;
  private final boolean hasView;

  /** What ids are drawn from without a call; null: by a call, because there is none, or nothing is open, or closed. */
  private volatile View view;

  private final Object following = new Object();
  private boolean isClosed; // guarded by following
  private final TextPattern pattern;
  private final LogSink log;
  private final StoreSink store;
  private final ClockSink clock;

  private Generator(long handle, long config, LogSink log, StoreSink store, ClockSink clock) {
    this.handle = handle;
    this.log = log;
    this.store = store;
    this.clock = clock;
    NativeHandle.freeWith(this, handle, IdgenJNI::idgen_destroy);
    this.waiters = new VirtualWaiters(this, handle);
    this.elsewhere = new Elsewhere(this, handle);
    this.hasView = View.isPossible(handle);
    this.follow();
    this.pattern = TextPattern.of(config);
  }

  /**
   * Opens a generator from a table of a configuration file. May wait for the store.
   *
   * @param toml the file; relative paths in it start from its folder
   * @param name the table
   * @return a generator that has its first reservation
   * @throws ConfigException if the file, a key or a value is wrong
   * @throws WorkerBusyException if another process owns the worker
   * @throws StoreException if the store cannot be used
   */
  public static Generator open(Path toml, String name) {
    return builder().load(toml, name).build();
  }

  /**
   * Opens a generator from a configuration file, with some properties overridden.
   *
   * @param toml the file
   * @param name the table
   * @param overrides properties that override the file's
   * @return a generator that has its first reservation
   * @throws IdgenException as for {@link #open(Path, String)}
   */
  public static Generator open(Path toml, String name, Map<String, String> overrides) {
    var builder = builder().load(toml, name);
    overrides.forEach(builder::set);
    return builder.build();
  }

  /**
   * A generator from a table of a configuration file, which its first use opens: for static fields and the like. Opens
   * nothing, reads nothing, cannot fail. Waits up to a minute for a store that is down.
   *
   * @param toml the file
   * @param name the table
   * @return a generator that is not open yet
   */
  public static LazyGenerator lazy(Path toml, String name) {
    return builder().load(toml, name).buildLazy();
  }

  /**
   * A generator from a configuration file, with some properties overridden, which its first use opens.
   *
   * @param toml the file
   * @param name the table
   * @param overrides properties that override the file's
   * @return a generator that is not open yet
   */
  public static LazyGenerator lazy(Path toml, String name, Map<String, String> overrides) {
    var builder = builder().load(toml, name);
    overrides.forEach(builder::set);
    return builder.buildLazy();
  }

  /**
   * Begins a configuration in code.
   *
   * @return a builder with every property at its default
   */
  public static Builder builder() {
    return new Builder();
  }

  /**
   * One id. May wait.
   *
   * @return the id
   * @throws ClosedException after {@link #close()}, also during a wait
   * @throws CancelledException if the thread was interrupted during a wait
   * @throws ConfigException if ids have an owner (status {@link Status#UNSUPPORTED}): see {@link #nextFor(long)}
   * @throws IdgenException as the configuration's policies say: {@link OverloadedException}, {@link ClockException},
   *     {@link StoreException}, ...
   */
  @Override
  public long next() {
    try {
      View view = this.view;
      if (view == null) return nextByCall();
      return view.counts ? View.next(view, this) : View.nextNow(view, this);
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /** For tests: without a call, as long as its range lasts. */
  boolean drawsByItself() {
    return view != null;
  }

  /** For tests: without looking at each number whether its range is still open. */
  boolean remembersRanges() {
    return view != null && view.isRemembered();
  }

  /** What becomes of a number that the view does not say is an id. */
  long nextDrawn(View view, long drawn) {
    long id;
    if (view.isOpen(drawn)) {
      id = drawn;
    } else if (VirtualWaiters.isVirtual(Thread.currentThread())) {
      var found = new long[1];
      id = IdgenJNI.tryNextDrawn(handle, drawn, found) ? found[0] : waiters.next();
    } else {
      id = IdgenJNI.nextDrawn(handle, drawn);
    }
    follow();
    return id;
  }

  /** An id at this time, which is not of the tick that the view's counter stands in, or not of its range. */
  long nextAt(View view, long since) {
    long id = view.drawAt(since);
    return id != View.NONE ? id : nextByCall();
  }

  private long nextByCall() {
    long id;
    if (VirtualWaiters.isVirtual(Thread.currentThread())) {
      var found = new long[1];
      id = IdgenJNI.tryNext(handle, found) ? found[0] : waiters.next();
    } else {
      id = IdgenJNI.next(handle);
    }
    follow();
    return id;
  }

  /** After a call, which may have opened another range, or made the library begin anew elsewhere. */
  private void follow() {
    View seen = view;
    if (!hasView || (seen != null && seen.isCurrent())) return;
    View now = View.of(handle, seen);
    synchronized (following) {
      if (!isClosed) view = now;
    }
  }

  /**
   * One id as text: as the property {@code pattern} has it, without one in decimal. {@link #textPattern()} reads it
   * back. May wait.
   *
   * @return the text
   * @throws ExhaustedException also for an id of more digits than the pattern holds, which is lost
   * @throws IdgenException as for {@link #next()}
   */
  @Override
  public String nextText() {
    try {
      if (VirtualWaiters.isVirtual(Thread.currentThread())) {
        try {
          return pattern.format(next());
        } catch (ConfigException tooLong) { // it has no text, and is lost: for the native to say, or why there is none
        }
      }
      return Text.string(IdgenJNI.nextText(handle, pattern.handle));
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /**
   * One id, at once or not at all. Never waits.
   *
   * @return the id, or empty if there is none without waiting. Then call {@link #next()}, which also finds out if
   *     something is wrong
   * @throws ClosedException after {@link #close()}
   * @throws IdgenException as for {@link #next()}, if retrying cannot help
   */
  public OptionalLong tryNext() {
    try {
      View view = this.view;
      var id = new long[1];
      boolean found;
      if (view != null && view.counts) {
        id[0] = view.draw();
        if (view.isOpen(id[0])) return OptionalLong.of(id[0]);
        found = IdgenJNI.tryNextDrawn(handle, id[0], id);
      } else {
        if (view != null) id[0] = view.drawAt(view.now());
        if (view != null && id[0] != View.NONE) return OptionalLong.of(id[0]);
        found = IdgenJNI.tryNext(handle, id);
      }
      follow();
      return found ? OptionalLong.of(id[0]) : OptionalLong.empty();
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /**
   * Fills an array with ids. May wait.
   *
   * @param ids where they are stored
   * @return how many: always the array's length
   * @throws IdgenException as for {@link #fill(long[], int, int)}
   */
  public int fill(long[] ids) {
    return fill(ids, 0, ids.length);
  }

  /**
   * Fills a part of an array with ids, strictly increasing with {@code order = strict}. May wait, {@code wait_max}
   * counting from the last progress. The fastest way to draw many ids.
   *
   * @param ids where they are stored
   * @param offset index of the first
   * @param length how many
   * @return how many: always {@code length}
   * @throws IndexOutOfBoundsException if the part does not lie in the array
   * @throws IdgenException as for {@link #next()}; the first {@link IdgenException#written()} ids of the part are then
   *     real, and may be used
   */
  public int fill(long[] ids, int offset, int length) {
    Objects.checkFromIndexSize(offset, length, ids.length);
    try {
      if (VirtualWaiters.isVirtual(Thread.currentThread())) return waiters.fill(ids, offset, length);
      IdgenJNI.fill(handle, ids, offset, length);
      return length;
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /**
   * Fills what remains of a buffer with ids, and moves its position past them. May wait. Ids are drawn straight into
   * the memory of a direct buffer in the machine's byte order, for example of a mapped file: {@code
   * channel.map(READ_WRITE, 0, size).order(ByteOrder.nativeOrder()).asLongBuffer()}.
   *
   * @param ids where they are stored
   * @return how many: always what remained
   * @throws java.nio.ReadOnlyBufferException if it is read-only; no id is drawn
   * @throws IdgenException as for {@link #fill(long[], int, int)}; the position is then behind those that were stored
   */
  public int fill(LongBuffer ids) {
    if (ids.isReadOnly()) throw new ReadOnlyBufferException();
    int begin = ids.position();
    int length = ids.remaining();
    boolean isThere = ids.isDirect() && ids.order() == ByteOrder.nativeOrder();
    try {
      if (isThere && !VirtualWaiters.isVirtual(Thread.currentThread())) {
        IdgenJNI.fillDirect(handle, ids, begin, length);
        ids.position(begin + length);
      } else {
        fillByPieces(ids);
      }
      return length;
    } catch (IdgenException failure) {
      ids.position(begin + failure.written());
      throw failure;
    } finally {
      Reference.reachabilityFence(ids);
      Reference.reachabilityFence(this);
    }
  }

  private void fillByPieces(LongBuffer ids) {
    int begin = ids.position();
    var piece = new long[Math.min(ids.remaining(), 1024)];
    while (ids.hasRemaining()) {
      int count = Math.min(ids.remaining(), piece.length);
      try {
        fill(piece, 0, count);
      } catch (IdgenException failure) {
        int before = ids.position() - begin;
        ids.put(piece, 0, failure.written());
        throw failure.after(before);
      }
      ids.put(piece, 0, count);
    }
  }

  /**
   * Some ids in a new array. May wait.
   *
   * @param count how many
   * @return {@code count} ids
   * @throws IllegalArgumentException if {@code count} is negative
   * @throws IdgenException as for {@link #next()}; ids made before the failure are lost, so use {@link #fill(long[])}
   *     where that matters
   */
  @Override
  public long[] nextBatch(int count) {
    if (count < 0) throw new IllegalArgumentException("count is " + count + ": it must not be negative");
    var ids = new long[count];
    fill(ids, 0, count);
    return ids;
  }

  /**
   * An endless stream. Each element is drawn by {@link #next()} when it is needed. Nothing is drawn ahead, so a
   * sequential stream that is cut short loses no ids. Elements may throw and wait like {@code next()}.
   *
   * @return a stream that ends only by an operation such as {@code limit}
   */
  public LongStream stream() {
    return LongStream.generate(this::next);
  }

  /**
   * One id for an owner. May wait. If the layout has a gene ({@code kind = business}, or {@code layout = order}), each
   * id has an owner, and the gene comes from it: ids of one owner live in one shard. This method and the others that
   * take an owner are then the ones to use; {@link #next()}, {@code fill}, {@code nextBatch}, {@code nextBlock}, {@code
   * tryNext} and {@code stream} are refused (status {@link Status#UNSUPPORTED}). Where the layout has none, it is the
   * other way round. Ids of one gene rise.
   *
   * <p>An owner is a string of at least one byte: 42, "42" and the bytes of "42" are one owner, in every language.
   *
   * @param owner an integer: the owner that its decimal text is
   * @return the id, of 8 bytes
   * @throws ConfigException if the owner is empty, or no integer where {@code gene = mod} (status {@link
   *     Status#VALUE}); if the layout has no gene, or its ids have 16 bytes ({@link Status#UNSUPPORTED})
   * @throws ExhaustedException if 8 bytes are used up; with {@code on_full = widen}, {@link #nextWideFor(long)} goes on
   * @throws IdgenException as for {@link #next()}
   */
  public long nextFor(long owner) {
    try {
      if (!VirtualWaiters.isVirtual(Thread.currentThread())) return IdgenJNI.nextForInt(handle, owner);
      var id = new long[1];
      if (!IdgenJNI.tryNextForInt(handle, owner, id)) elsewhere.run(() -> id[0] = IdgenJNI.nextForInt(handle, owner));
      return id[0];
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /**
   * One id for an owner. May wait.
   *
   * @param owner text: the owner that its bytes in UTF-8 are
   * @return the id, of 8 bytes
   * @throws IdgenException as for {@link #nextFor(long)}
   * @throws IllegalArgumentException if the owner has half a surrogate pair: different owners would become one
   */
  public long nextFor(String owner) {
    return nextFor(Text.owner(owner));
  }

  /**
   * One id for an owner. May wait.
   *
   * @param owner at least one byte
   * @return the id, of 8 bytes
   * @throws IdgenException as for {@link #nextFor(long)}
   */
  public long nextFor(byte[] owner) {
    Objects.requireNonNull(owner, "owner");
    try {
      if (!VirtualWaiters.isVirtual(Thread.currentThread())) return IdgenJNI.nextForBytes(handle, owner);
      var id = new long[1];
      if (!IdgenJNI.tryNextForBytes(handle, owner, id))
        elsewhere.run(() -> id[0] = IdgenJNI.nextForBytes(handle, owner));
      return id[0];
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /**
   * One id for an owner, at once or not at all. Never waits.
   *
   * @param owner as for {@link #nextFor(long)}
   * @return the id, or empty as for {@link #tryNext()}
   * @throws IdgenException as for {@link #nextFor(long)}, if retrying cannot help
   */
  public OptionalLong tryNextFor(long owner) {
    try {
      var id = new long[1];
      return IdgenJNI.tryNextForInt(handle, owner, id) ? OptionalLong.of(id[0]) : OptionalLong.empty();
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /**
   * One id for an owner, at once or not at all. Never waits.
   *
   * @param owner as for {@link #nextFor(String)}
   * @return the id, or empty as for {@link #tryNext()}
   * @throws IdgenException as for {@link #nextFor(long)}, if retrying cannot help
   * @throws IllegalArgumentException as for {@link #nextFor(String)}
   */
  public OptionalLong tryNextFor(String owner) {
    return tryNextFor(Text.owner(owner));
  }

  /**
   * One id for an owner, at once or not at all. Never waits.
   *
   * @param owner as for {@link #nextFor(byte[])}
   * @return the id, or empty as for {@link #tryNext()}
   * @throws IdgenException as for {@link #nextFor(long)}, if retrying cannot help
   */
  public OptionalLong tryNextFor(byte[] owner) {
    try {
      var id = new long[1];
      return IdgenJNI.tryNextForBytes(handle, Objects.requireNonNull(owner, "owner"), id)
          ? OptionalLong.of(id[0])
          : OptionalLong.empty();
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /**
   * Fills an array with ids for one owner, rising. May wait, {@code wait_max} counting from the last progress.
   *
   * @param owner as for {@link #nextFor(long)}
   * @param ids where they are stored
   * @return how many: always the array's length
   * @throws IdgenException as for {@link #nextFor(long)}; the first {@link IdgenException#written()} ids are then real,
   *     and may be used
   */
  public int fillFor(long owner, long[] ids) {
    return fill(new long[] {owner}, ids);
  }

  /**
   * Fills an array with ids for one owner, rising. May wait, {@code wait_max} counting from the last progress.
   *
   * @param owner as for {@link #nextFor(String)}
   * @param ids where they are stored
   * @return how many: always the array's length
   * @throws IdgenException as for {@link #fillFor(long, long[])}
   * @throws IllegalArgumentException as for {@link #nextFor(String)}
   */
  public int fillFor(String owner, long[] ids) {
    return fillFor(Text.owner(owner), ids);
  }

  /**
   * Fills an array with ids for one owner, rising. May wait, {@code wait_max} counting from the last progress.
   *
   * @param owner as for {@link #nextFor(byte[])}
   * @param ids where they are stored
   * @return how many: always the array's length
   * @throws IdgenException as for {@link #fillFor(long, long[])}
   */
  public int fillFor(byte[] owner, long[] ids) {
    return fill(Owners.of(owner), ids);
  }

  /**
   * Fills an array with one id for each owner: {@code ids[i]} is for {@code owners[i]}. May wait, {@code wait_max}
   * counting from the last progress. An owner that the library refuses ends it there.
   *
   * @param owners as for {@link #nextFor(long)}
   * @param ids where they are stored
   * @return how many: always the array's length
   * @throws IllegalArgumentException if there are not as many owners as ids
   * @throws IdgenException as for {@link #fillFor(long, long[])}
   */
  public int fillForEach(long[] owners, long[] ids) {
    Owners.checkOneForEach(owners.length, ids.length);
    return fill(owners, ids);
  }

  /**
   * Fills an array with one id for each owner, as {@link #fillForEach(long[], long[])}.
   *
   * @param owners as for {@link #nextFor(String)}
   * @param ids where they are stored
   * @return how many: always the array's length
   * @throws IllegalArgumentException if there are not as many owners as ids, or as for {@link #nextFor(String)}; then
   *     nothing was drawn
   * @throws IdgenException as for {@link #fillFor(long, long[])}
   */
  public int fillForEach(String[] owners, long[] ids) {
    Owners.checkOneForEach(owners.length, ids.length);
    return fill(Owners.of(owners), ids);
  }

  /**
   * Fills an array with one id for each owner, as {@link #fillForEach(long[], long[])}.
   *
   * @param owners as for {@link #nextFor(byte[])}
   * @param ids where they are stored
   * @return how many: always the array's length
   * @throws IllegalArgumentException if there are not as many owners as ids
   * @throws IdgenException as for {@link #fillFor(long, long[])}
   */
  public int fillForEach(byte[][] owners, long[] ids) {
    Owners.checkOneForEach(owners.length, ids.length);
    return fill(Owners.of(owners), ids);
  }

  /** One owner for all ids, or one for each. */
  private int fill(long[] owners, long[] ids) {
    run(() -> IdgenJNI.fillForInts(handle, owners, ids));
    return ids.length;
  }

  private int fill(Owners owners, long[] ids) {
    run(() -> IdgenJNI.fillForBytes(handle, owners.bytes(), owners.ends(), ids));
    return ids.length;
  }

  /** A call that may wait in the library. */
  private void run(Runnable call) {
    try {
      if (VirtualWaiters.isVirtual(Thread.currentThread())) {
        elsewhere.run(call);
      } else {
        call.run();
      }
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /**
   * One id for an owner, of 8 or of 16 bytes. May wait. It has 16 if the layout has 127 bits ({@code business128}), or
   * with {@code on_full = widen} once 8 bytes are used up.
   *
   * @param owner as for {@link #nextFor(long)}
   * @return the id
   * @throws IdgenException as for {@link #nextFor(long)}
   */
  public WideId nextWideFor(long owner) {
    var id = new WideId[1];
    fillWideFor(owner, id);
    return id[0];
  }

  /**
   * One id for an owner, of 8 or of 16 bytes, as {@link #nextWideFor(long)}. May wait.
   *
   * @param owner as for {@link #nextFor(String)}
   * @return the id
   * @throws IdgenException as for {@link #nextFor(long)}
   * @throws IllegalArgumentException as for {@link #nextFor(String)}
   */
  public WideId nextWideFor(String owner) {
    return nextWideFor(Text.owner(owner));
  }

  /**
   * One id for an owner, of 8 or of 16 bytes, as {@link #nextWideFor(long)}. May wait.
   *
   * @param owner as for {@link #nextFor(byte[])}
   * @return the id
   * @throws IdgenException as for {@link #nextFor(long)}
   */
  public WideId nextWideFor(byte[] owner) {
    var id = new WideId[1];
    fillWideFor(owner, id);
    return id[0];
  }

  /**
   * {@link #fillFor(long, long[])} for ids of either length.
   *
   * @param owner as for {@link #nextFor(long)}
   * @param ids where they are stored
   * @return how many: always the array's length
   * @throws IdgenException as for {@link #fillFor(long, long[])}
   */
  public int fillWideFor(long owner, WideId[] ids) {
    return fillWide(ids, out -> IdgenJNI.fillWideForInts(handle, new long[] {owner}, out));
  }

  /**
   * {@link #fillFor(String, long[])} for ids of either length.
   *
   * @param owner as for {@link #nextFor(String)}
   * @param ids where they are stored
   * @return how many: always the array's length
   * @throws IdgenException as for {@link #fillFor(long, long[])}
   * @throws IllegalArgumentException as for {@link #nextFor(String)}
   */
  public int fillWideFor(String owner, WideId[] ids) {
    return fillWideFor(Text.owner(owner), ids);
  }

  /**
   * {@link #fillFor(byte[], long[])} for ids of either length.
   *
   * @param owner as for {@link #nextFor(byte[])}
   * @param ids where they are stored
   * @return how many: always the array's length
   * @throws IdgenException as for {@link #fillFor(long, long[])}
   */
  public int fillWideFor(byte[] owner, WideId[] ids) {
    return fillWide(Owners.of(owner), ids);
  }

  /**
   * {@link #fillForEach(long[], long[])} for ids of either length.
   *
   * @param owners as for {@link #nextFor(long)}
   * @param ids where they are stored
   * @return how many: always the array's length
   * @throws IllegalArgumentException if there are not as many owners as ids
   * @throws IdgenException as for {@link #fillFor(long, long[])}
   */
  public int fillWideForEach(long[] owners, WideId[] ids) {
    Owners.checkOneForEach(owners.length, ids.length);
    return fillWide(ids, out -> IdgenJNI.fillWideForInts(handle, owners, out));
  }

  /**
   * {@link #fillForEach(String[], long[])} for ids of either length.
   *
   * @param owners as for {@link #nextFor(String)}
   * @param ids where they are stored
   * @return how many: always the array's length
   * @throws IllegalArgumentException as for {@link #fillForEach(String[], long[])}
   * @throws IdgenException as for {@link #fillFor(long, long[])}
   */
  public int fillWideForEach(String[] owners, WideId[] ids) {
    Owners.checkOneForEach(owners.length, ids.length);
    return fillWide(Owners.of(owners), ids);
  }

  /**
   * {@link #fillForEach(byte[][], long[])} for ids of either length.
   *
   * @param owners as for {@link #nextFor(byte[])}
   * @param ids where they are stored
   * @return how many: always the array's length
   * @throws IllegalArgumentException if there are not as many owners as ids
   * @throws IdgenException as for {@link #fillFor(long, long[])}
   */
  public int fillWideForEach(byte[][] owners, WideId[] ids) {
    Owners.checkOneForEach(owners.length, ids.length);
    return fillWide(Owners.of(owners), ids);
  }

  private int fillWide(Owners owners, WideId[] ids) {
    return fillWide(ids, out -> IdgenJNI.fillWideForBytes(handle, owners.bytes(), owners.ends(), out));
  }

  private int fillWide(WideId[] ids, Consumer<long[]> draw) {
    var out = new long[Math.multiplyExact(WideId.LONGS, ids.length)];
    int written = 0;
    try {
      run(() -> draw.accept(out));
      written = ids.length;
      return written;
    } catch (IdgenException failure) {
      written = failure.written();
      throw failure;
    } finally {
      for (int index = 0; index < written; index++) ids[index] = WideId.of(out, WideId.LONGS * index);
    }
  }

  /**
   * A run of ids that the program counts off by itself. May wait.
   *
   * @param want how many at most
   * @return at least one id and at most {@code want}: what is left of the reservation (segment) or of the tick
   *     (snowflake)
   * @throws IdgenException as for {@link #next()}; {@link ConfigException} (status {@link Status#ARGUMENT}) if {@code
   *     want} is 0 or negative
   */
  public Block nextBlock(long want) {
    try {
      var numbers = new long[3];
      if (want > 0 && VirtualWaiters.isVirtual(Thread.currentThread())) return waiters.nextBlock(want);
      // The library reads the bits as unsigned.
      IdgenJNI.nextBlock(handle, Math.max(want, 0), numbers);
      return new Block(numbers[0], numbers[1], numbers[2]);
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /**
   * Takes an id apart by this generator's layout; the id of a plain segment has one field, {@link Field#SEGMENT}. Works
   * on a closed generator.
   *
   * @param id an id of this generator, or of another one with the same layout
   * @return its fields
   * @throws ConfigException if another layout made the id (bits outside this one, another constant)
   */
  public Parts decode(long id) {
    try {
      var numbers = new long[Parts.NUMBERS];
      IdgenJNI.idgen_decode(handle, id, numbers);
      return Parts.of(numbers);
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /**
   * Takes an id of either length apart: one of 8 bytes by this generator's layout, one of 16 by the layout that ids are
   * widened to. Works on a closed generator.
   *
   * @param id an id of this generator, or of another one with the same layout
   * @return its fields
   * @throws ConfigException if this generator makes no ids of that length, or another layout made the id
   */
  public Parts decode(WideId id) {
    try {
      var numbers = new long[Parts.NUMBERS];
      IdgenJNI.idgen_decode_wide(handle, id.toBytes(), numbers);
      return Parts.of(numbers);
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /**
   * The layout of this generator's ids. Works on a closed generator.
   *
   * @return a copy that outlives the generator
   */
  public Layout layout() {
    try {
      return Layout.of(handle);
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /**
   * The pattern by which {@link #nextText()} writes ids. Works on a closed generator.
   *
   * @return a pattern that outlives the generator
   */
  public TextPattern textPattern() {
    return pattern;
  }

  /**
   * What this configuration protects against, and what it does not, in words.
   *
   * @return lines of one or more sentences
   */
  public String describe() {
    try {
      return Text.string(IdgenJNI.describe(handle));
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /**
   * Which generator this is: its kind, its name, its tag or worker, and whether it is closed.
   *
   * @return such as {@code Generator[segment 'orders', tag 'orders' of namespace 'shop']}; never a password
   */
  @Override
  public String toString() {
    try {
      return "Generator[" + Text.string(IdgenJNI.summary(handle)) + "]";
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /**
   * What the generator has done so far.
   *
   * @return counts of this process
   */
  public Stats stats() {
    try {
      var parts = new Object[Stats.PARTS];
      IdgenJNI.idgen_stats(handle, parts);
      return Stats.of(parts);
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /**
   * What generators have done so far, for Prometheus: its text format 0.0.4, with metrics {@code idgen_*} and the
   * labels {@code name}, {@code namespace}, {@code kind} and {@code process}. Closed generators are reported too.
   * Generators that share a worker's state count once; different ones with the same labels become one sample.
   *
   * @param generators any number, including none
   * @return lines of UTF-8 text, to be served as {@code text/plain; version=0.0.4}
   */
  public static String metrics(Generator... generators) {
    NativeLoader.require();
    try {
      var handles = Arrays.stream(generators).mapToLong(generator -> generator.handle).toArray();
      return Text.string(IdgenJNI.metrics(handles));
    } finally {
      for (var generator : generators) Reference.reachabilityFence(generator);
    }
  }

  /**
   * Stops the generator: waiting and later calls end with a {@link ClosedException}. The unused rest of the reservation
   * goes back to the store, for which this may wait. What the store does not take back is never issued by anyone: that
   * is a line in the log, not an exception, so that finished work does not become a failure. An interrupt ends the
   * wait, also without an exception: the rest is then given back in the background, and the thread's interrupt status
   * stays set. Closing again does nothing.
   */
  @Override
  public void close() {
    try {
      synchronized (following) {
        isClosed = true;
        view = null; // from now on by a call, which says that it is closed
      }
      IdgenJNI.close(handle);
    } finally {
      // A log, a store or a clock that refers to this object would keep it from the collector. Another generator on the
      // same worker has its own log.
      if (clock != null) clock.forget();
      if (log != null) log.forget();
      if (store != null) store.forget();
      Reference.reachabilityFence(this);
    }
  }

  /**
   * A configuration: a method for each property, with the property's name, and {@link #set} for any. {@link #build()}
   * checks the values. For their meanings, ranges and defaults see docs/configuration.md or {@link Idgen#properties()}.
   * Not for use by several threads.
   */
  public static final class Builder {
    private final Map<String, String> properties = new LinkedHashMap<>();
    private Path toml;
    private String section;
    private BiConsumer<System.Logger.Level, String> log;
    private InstantSource clock;
    private Store ownStore;
    private Supplier<? extends Collection<IdKey>> ownKeys;

    private Builder() {}

    private Builder(Builder other) {
      properties.putAll(other.properties);
      toml = other.toml;
      section = other.section;
      log = other.log;
      clock = other.clock;
      ownStore = other.ownStore;
      ownKeys = other.ownKeys;
    }

    /**
     * A builder of its own with all that was set here.
     *
     * @return the copy
     */
    public Builder copy() {
      return new Builder(this);
    }

    /**
     * Starts from a table of a configuration file. Properties set on this builder override it, whenever they are set.
     *
     * @param toml the file
     * @param name the table; also becomes the generator's name
     * @return this
     */
    public Builder load(Path toml, String name) {
      this.toml = Objects.requireNonNull(toml, "toml");
      this.section = Objects.requireNonNull(name, "name");
      return this;
    }

    /**
     * Starts from the environment, without a file: {@code IDGEN_ORDERS_STORE} is {@code store} of {@code orders}.
     * ({@link #load} reads it too, and it overrides the file.) Properties set on this builder override it, whenever
     * they are set.
     *
     * @param name becomes the generator's name
     * @return this
     */
    public Builder loadEnvironment(String name) {
      this.toml = null;
      this.section = Objects.requireNonNull(name, "name");
      return this;
    }

    /**
     * Sets any property by its key.
     *
     * @param key such as {@code "segment.step"}
     * @param value as in a configuration file, without quotes: {@code "10s"}, {@code "true"}, {@code "sqlite:ids.db"}
     * @return this
     */
    public Builder set(String key, String value) {
      properties.put(Objects.requireNonNull(key, "key"), Objects.requireNonNull(value, "value"));
      return this;
    }

    /**
     * A log for what an operator wants to know: a clock set back, a store that fails and comes back.
     *
     * <pre>{@code
     * builder.log(System.getLogger("idgen")::log)
     * }</pre>
     *
     * <p>Called from any thread, the library's own included, and from several at once, but never on the fast path. It
     * must not call the generator. What it throws goes to the thread's handler of uncaught exceptions. A log that
     * refers to the generator keeps it from the garbage collector until {@link Generator#close()} is called.
     *
     * @param log takes INFO, WARNING or ERROR, and a message
     * @return this
     */
    public Builder log(BiConsumer<System.Logger.Level, String> log) {
      this.log = Objects.requireNonNull(log, "log");
      return this;
    }

    /**
     * A clock in place of the system's: for tests, and for programs that discipline their own. A {@link
     * java.time.Clock} is one. If it is a {@link WaitingClock}, it says how to wait for it; otherwise waits take real
     * time.
     *
     * <p>Called for every id of a snowflake, which costs a call back into Java each time, from any thread, and from
     * several at once. It must not call the generator. What it throws goes to the thread's handler of uncaught
     * exceptions, and the clock stands still for that call; what it throws when it is read for the first time is thrown
     * by {@link #build()}.
     *
     * <p>Generators with a clock of the program are never configured alike, even with the same one: each build is a
     * generator of its own, and a second one on a snowflake worker is refused.
     *
     * @param clock the clock
     * @return this
     */
    public Builder clock(InstantSource clock) {
      this.clock = Objects.requireNonNull(clock, "clock");
      return this;
    }

    /**
     * Name of the generator in messages.
     *
     * @param name the name
     * @return this
     */
    public Builder name(String name) {
      return set("name", name);
    }

    /**
     * What kind of ids: {@code "snowflake"} (time, worker, sequence), {@code "segment"} (consecutive numbers), {@code
     * "business"} (such a number, and the gene of the id's owner) or {@code "serial"} (numbers that begin at 1 in each
     * period of the pattern's date).
     *
     * @param kind the kind
     * @return this
     */
    public Builder kind(String kind) {
      return set("kind", kind);
    }

    /**
     * How {@link Generator#nextText()} writes ids: literals, a date, one number, a check.
     *
     * @param pattern such as {@code "ORD-{base62:11}-{check}"}; empty for decimal numbers
     * @return this
     */
    public Builder pattern(String pattern) {
      return set("pattern", pattern);
    }

    /**
     * Whose clocks show the date that is in the pattern.
     *
     * @param zone {@code "UTC"}, an offset such as {@code "+08:00"}, or a name such as {@code "Europe/Berlin"}, which
     *     needs the module {@code libidgen_zone.so}
     * @return this
     */
    public Builder zone(String zone) {
      return set("zone", zone);
    }

    /**
     * The set of ids that must not collide.
     *
     * @param namespace its name
     * @return this
     */
    public Builder namespace(String namespace) {
      return set("namespace", namespace);
    }

    /**
     * Where reservations are committed: {@code "sqlite:PATH"}, {@code "memory"}, or a server's URL such as {@code
     * "postgres://app@db/ids"}.
     *
     * @param store the store
     * @return this
     */
    public Builder store(String store) {
      ownStore = null;
      return set("store", store);
    }

    /**
     * A store of the program's own, in place of one that the library opens. It is for {@code kind("segment")}; a {@link
     * WorkerStore} is for {@code kind("snowflake")} too.
     *
     * @param store such as a {@link SqlStore}
     * @return this
     */
    public Builder store(Store store) {
      ownStore = Objects.requireNonNull(store, "store");
      return this;
    }

    /**
     * Whether to make a store or a tag that is missing.
     *
     * @param create true to make it
     * @return this
     */
    public Builder storeCreate(boolean create) {
      return set("store_create", String.valueOf(create));
    }

    /**
     * Folder of the store modules, which all stores but sqlite and memory need.
     *
     * @param folder for example {@code /usr/lib/idgen/modules}
     * @return this
     */
    public Builder modulePath(Path folder) {
      return set("module.path", folder.toString());
    }

    /**
     * How long one store operation may take: waiting for another process's lock, connecting, reading, writing.
     *
     * @param timeout whole ms
     * @return this
     */
    public Builder storeTimeout(Duration timeout) {
      return set("store_timeout", milliseconds(timeout));
    }

    /**
     * Where relative paths start.
     *
     * @param directory a folder
     * @return this
     */
    public Builder directory(Path directory) {
      return set("directory", directory.toString());
    }

    /**
     * Bit fields of an id: a preset, or a layout in full.
     *
     * @param layout as for {@link Layout#parse(String)}
     * @return this
     */
    public Builder layout(String layout) {
      return set("layout", layout);
    }

    /**
     * What time 0 of the layout means.
     *
     * @param epoch whole ms
     * @return this
     * @throws IllegalArgumentException if it is finer than a ms, as for all durations here
     */
    public Builder epoch(Instant epoch) {
      return set("epoch", Text.unixMs(epoch));
    }

    /**
     * Refuses a layout whose time ends sooner than this from now.
     *
     * @param lifetime whole ms; zero allows any that is not over yet
     * @return this
     */
    public Builder lifetimeMin(Duration lifetime) {
      return set("lifetime_min", milliseconds(lifetime));
    }

    /**
     * Number of the datacenter, for layouts with that field.
     *
     * @param datacenter the number
     * @return this
     */
    public Builder datacenter(long datacenter) {
      return set("datacenter", String.valueOf(datacenter));
    }

    /**
     * Number of this generator among all that run at the same time in the namespace.
     *
     * @param worker the number
     * @return this
     */
    public Builder worker(long worker) {
      return set("worker", String.valueOf(worker));
    }

    /**
     * Number of the process, for layouts with that field.
     *
     * @param process the number
     * @return this
     */
    public Builder process(long process) {
      return set("process", String.valueOf(process));
    }

    /**
     * Number of the shard, for layouts with that field.
     *
     * @param shard the number
     * @return this
     */
    public Builder shard(long shard) {
      return set("shard", String.valueOf(shard));
    }

    /**
     * Where the number comes from, of the field that is {@code "auto"}: {@code "store"}, {@code "ordinal"},
     * {@code "env"}, {@code "slot"}, or the rows of another generator: {@code "uid_generator"}, {@code "cosid"},
     * {@code "zookeeper"} (Leaf's).
     *
     * @param source the source
     * @return this
     */
    public Builder workerSource(String source) {
      return set("worker_source", source);
    }

    /**
     * Server with the other generator's rows.
     *
     * @param url empty: the store has them
     * @return this
     */
    public Builder workerUrl(String url) {
      return set("worker_url", url);
    }

    /**
     * Who this process is in the other generator's rows.
     *
     * @param address {@code HOST:PORT}, the same after a restart
     * @return this
     */
    public Builder workerAddress(String address) {
      return set("worker_address", address);
    }

    /**
     * File where the number is kept, for the source {@code "zookeeper"}, so that opening works while ZooKeeper is down.
     *
     * @param file its path
     * @return this
     */
    public Builder workerCache(String file) {
      return set("worker_cache", file);
    }

    /**
     * How long after its last report a process counts as dead, for the source {@code "cosid"}.
     *
     * @param guard CosId's safe guard duration; zero: never
     * @return this
     */
    public Builder workerGuard(Duration guard) {
      return set("worker_guard", milliseconds(guard));
    }

    /**
     * For the source {@code "zookeeper"}: how far the clock may be off the mean of the other processes' clocks when
     * this one starts, and ahead of ZooKeeper's whenever it reports.
     *
     * @param limit at least 1 ms
     * @return this
     */
    public Builder workerClockLimit(Duration limit) {
      return set("worker_clock_limit", milliseconds(limit));
    }

    /**
     * Environment variable that holds the number, for the sources {@code "env"} and {@code "ordinal"}.
     *
     * @param variable its name
     * @return this
     */
    public Builder workerEnv(String variable) {
      return set("worker_env", variable);
    }

    /**
     * Folder where the slots are locked, for the source {@code "slot"}.
     *
     * @param folder an existing folder that all processes of this host can write
     * @return this
     */
    public Builder workerSlots(String folder) {
      return set("worker_slots", folder);
    }

    /**
     * Whether numbers that others had before are leased again.
     *
     * @param recycle false: each number is used once
     * @return this
     */
    public Builder workerRecycle(boolean recycle) {
      return set("worker_recycle", String.valueOf(recycle));
    }

    /**
     * What to do when another process has taken the leased worker: {@code "lease"} or {@code "fail"}.
     *
     * @param policy the policy
     * @return this
     */
    public Builder onWorkerLost(String policy) {
      return set("on_worker_lost", policy);
    }

    /**
     * How long a worker stays its owner's after the owner's last renewal, where workers are leased.
     *
     * @param lease whole ms
     * @return this
     */
    public Builder workerLease(Duration lease) {
      return set("worker_lease", milliseconds(lease));
    }

    /**
     * How long opening waits for a worker that another process holds.
     *
     * @param wait whole ms
     * @return this
     */
    public Builder workerWait(Duration wait) {
      return set("worker_wait", milliseconds(wait));
    }

    /**
     * Where the sequence of a new tick begins: {@code "carry"}, {@code "zero"} or {@code "random"}.
     *
     * @param policy the policy
     * @return this
     */
    public Builder sequenceStart(String policy) {
      return set("sequence_start", policy);
    }

    /**
     * What to do when the sequence of the current tick is used up: {@code "wait"} or {@code "borrow"}.
     *
     * @param policy the policy
     * @return this
     */
    public Builder onOverflow(String policy) {
      return set("on_overflow", policy);
    }

    /**
     * What to do when the clock is behind the ids already issued: {@code "wait"}, {@code "continue"} or {@code "fail"}.
     *
     * @param policy the policy
     * @return this
     */
    public Builder onClockBack(String policy) {
      return set("on_clock_back", policy);
    }

    /**
     * How far ahead a worker's time is reserved.
     *
     * @param window whole ms
     * @return this
     */
    public Builder window(Duration window) {
      return set("window", milliseconds(window));
    }

    /**
     * How far the time in an id may be ahead of the clock.
     *
     * @param ahead whole ms
     * @return this
     */
    public Builder maxAhead(Duration ahead) {
      return set("max_ahead", milliseconds(ahead));
    }

    /**
     * How far the time in an id may be behind the clock, after a wait for the next tick that ended late.
     *
     * @param behind whole ms
     * @return this
     */
    public Builder maxBehind(Duration behind) {
      return set("max_behind", milliseconds(behind));
    }

    /**
     * Name of the counter in the store, for segments.
     *
     * @param tag the tag
     * @return this
     */
    public Builder tag(String tag) {
      return set("tag", tag);
    }

    /**
     * How many numbers to reserve at once.
     *
     * @param step the number
     * @return this
     */
    public Builder segmentStep(long step) {
      return set("segment.step", String.valueOf(step));
    }

    /**
     * Share of a segment after which the next one is requested.
     *
     * @param share 1 for all of it
     * @return this
     */
    public Builder segmentPrefetch(double share) {
      return set("segment.prefetch", String.valueOf(share));
    }

    /**
     * How long reserved numbers should last when the store is down: segments grow and shrink with the rate.
     *
     * @param runway 0 for segments of one step each
     * @return this
     */
    public Builder segmentRunway(Duration runway) {
      return set("segment.runway", milliseconds(runway));
    }

    /**
     * How many numbers the runway may hold at most: what a crash can lose.
     *
     * @param numbers the number
     * @return this
     */
    public Builder segmentStockMax(long numbers) {
      return set("segment.stock_max", String.valueOf(numbers));
    }

    /**
     * How long reserved numbers may lie unused before they are given back.
     *
     * @param age 0 for ever
     * @return this
     */
    public Builder segmentMaxAge(Duration age) {
      return set("segment.max_age", milliseconds(age));
    }

    /**
     * How many of a tag's latest grants the store remembers, for {@code idgen explain}.
     *
     * @param grants 0 for none
     * @return this
     */
    public Builder segmentGrantLog(long grants) {
      return set("segment.grant_log", String.valueOf(grants));
    }

    /**
     * Where this host remembers what it was granted of each tag, so that a store which was restored from a backup is
     * noticed by a process that starts after that.
     *
     * @param folder an existing folder that outlasts the processes
     * @return this
     */
    public Builder witness(String folder) {
      return set("witness", folder);
    }

    /**
     * Whose table or keys segments come from: {@code "idgen"}, {@code "leaf"}, {@code "tinyid"} or {@code "cosid"};
     * for serials also {@code "key_producer"} and {@code "incr"}.
     *
     * @param schema its name
     * @return this
     */
    public Builder segmentSchema(String schema) {
      return set("segment.schema", schema);
    }

    /**
     * The Redis in front of the database, for {@code store("buffer")}.
     *
     * @param url its URL
     * @return this
     */
    public Builder bufferRedis(String url) {
      return set("buffer.redis", url);
    }

    /**
     * The database that makes the numbers, for {@code store("buffer")}.
     *
     * @param url its URL
     * @return this
     */
    public Builder bufferDatabase(String url) {
      return set("buffer.database", url);
    }

    /**
     * How long the stock in Redis should last without the database.
     *
     * @param runway at the combined rate of all generators
     * @return this
     */
    public Builder bufferRunway(Duration runway) {
      return set("buffer.runway", milliseconds(runway));
    }

    /**
     * How many numbers of a tag to keep in Redis at most.
     *
     * @param numbers the number
     * @return this
     */
    public Builder bufferStockMax(long numbers) {
      return set("buffer.stock_max", String.valueOf(numbers));
    }

    /**
     * How many failures in a row open a side's breaker.
     *
     * @param errors the number
     * @return this
     */
    public Builder bufferErrors(long errors) {
      return set("buffer.errors", String.valueOf(errors));
    }

    /**
     * How long a side whose breaker is open is left alone.
     *
     * @param pause until the next attempt
     * @return this
     */
    public Builder bufferPause(Duration pause) {
      return set("buffer.pause", milliseconds(pause));
    }

    /**
     * How long one operation in Redis may take before the database is asked instead.
     *
     * @param timeout from the request to the answer
     * @return this
     */
    public Builder bufferTimeout(Duration timeout) {
      return set("buffer.timeout", milliseconds(timeout));
    }

    /**
     * Issues only ids with {@code id % stride == offset}, beside other masters.
     *
     * @param stride the number of masters
     * @return this
     */
    public Builder segmentStride(long stride) {
      return set("segment.stride", String.valueOf(stride));
    }

    /**
     * The remainder of every id divided by the stride.
     *
     * @param offset 0 to stride - 1
     * @return this
     */
    public Builder segmentOffset(long offset) {
      return set("segment.offset", String.valueOf(offset));
    }

    /**
     * How the gene comes from an id's owner: {@code "auto"}, {@code "hash"} or {@code "mod"}, as {@link GeneRule}.
     *
     * @param rule the rule
     * @return this
     */
    public Builder gene(String rule) {
      return set("gene", rule);
    }

    /**
     * How many counters the values of the gene share, for {@code kind("business")}, so that threads with different
     * owners do not compete.
     *
     * @param counters the number
     * @return this
     */
    public Builder counters(long counters) {
      return set("counters", String.valueOf(counters));
    }

    /**
     * What to do when 8 bytes are used up, for {@code kind("business")}: {@code "fail"}, or {@code "widen"} to go on
     * with ids of 16 bytes.
     *
     * @param policy the policy
     * @return this
     */
    public Builder onFull(String policy) {
      return set("on_full", policy);
    }

    /**
     * Order of the ids among threads: {@code "strict"} or {@code "relaxed"}.
     *
     * @param order the order
     * @return this
     */
    public Builder order(String order) {
      return set("order", order);
    }

    /**
     * What a call in a forked child does: {@code "reacquire"} or {@code "error"}. The JVM itself does not fork.
     *
     * @param policy the policy
     * @return this
     */
    public Builder onFork(String policy) {
      return set("on_fork", policy);
    }

    /**
     * How hidden ids are made: {@code "ff1"} (an encryption), or the masks {@code "chacha20"} and {@code "aes-ctr"},
     * which one id that is known in both forms reveals.
     *
     * @param mode the mode
     * @return this
     */
    public Builder cipherMode(String mode) {
      return set("cipher.mode", mode);
    }

    /**
     * Where the keys of hidden ids are: {@code "file:PATH"}, a file that only this user can read, or {@code
     * "env:VARIABLE"}.
     *
     * @param key the place, not a key
     * @return this
     */
    public Builder cipherKey(String key) {
      ownKeys = null;
      return set("cipher.key", key);
    }

    /**
     * The key version that hides ids; all versions reveal.
     *
     * @param version a version that is not retired
     * @return this
     */
    public Builder cipherVersion(long version) {
      return set("cipher.version", String.valueOf(version));
    }

    /**
     * Keys of the program's own for hidden ids, in place of {@link #cipherKey}: from a key service, for one. Called
     * when a cipher is made, and by {@link IdCipher#reload()}, on the calling thread; what it throws is thrown there.
     *
     * @param keys gives all key versions
     * @return this
     */
    public Builder keys(Supplier<? extends Collection<IdKey>> keys) {
      ownKeys = Objects.requireNonNull(keys, "keys");
      return this;
    }

    /**
     * How long one call may wait, for the clock or for the store.
     *
     * @param wait whole ms
     * @return this
     */
    public Builder waitMax(Duration wait) {
      return set("wait_max", milliseconds(wait));
    }

    /**
     * Checks the whole configuration, opens the store and takes the first reservation. May wait for the store. The
     * builder can be used again.
     *
     * @return a generator
     * @throws ConfigException if a key is unknown (the message names the nearest), a value is not allowed (it names the
     *     range), or the layout does not add up
     * @throws WorkerBusyException if another generator owns the worker
     * @throws StoreException if the store cannot be used
     * @throws CancelledException if the thread was interrupted during a wait; nothing was opened
     */
    public Generator build() {
      var logSink = log == null ? null : new LogSink(log);
      var storeSink = ownStore == null ? null : new StoreSink(ownStore);
      var clockSink = clock == null ? null : new ClockSink(clock);
      return with(
          storeSink,
          config -> {
            if (logSink != null) IdgenJNI.configSetLog(config, logSink);
            if (clockSink != null) IdgenJNI.configSetClock(config, clockSink);
            return new Generator(IdgenJNI.create(config), config, logSink, storeSink, clockSink);
          });
    }

    /**
     * A generator of this configuration, as it is now, that its first use builds. Opens nothing, reads nothing, cannot
     * fail. Waits up to a minute for a store that is down.
     *
     * @return a generator that is not open yet
     */
    public LazyGenerator buildLazy() {
      return buildLazy(Duration.ofMinutes(1));
    }

    /**
     * A generator of this configuration, as it is now, that its first use builds.
     *
     * @param openWait how long opening tries again after an error that is {@link IdgenException#retryable()}: the store
     *     is down, or another process still holds the worker
     * @return a generator that is not open yet
     */
    public LazyGenerator buildLazy(Duration openWait) {
      var copy = new Builder(this);
      return new LazyGenerator(copy.subject(), openWait, copy::buildIn);
    }

    private Generator buildIn(LazyGenerator.Opening opening) {
      var guarded = new Builder(this);
      if (log != null) guarded.log = opening.guarded(log);
      if (clock != null) guarded.clock = opening.guarded(clock);
      if (ownStore != null) guarded.ownStore = opening.guarded(ownStore);
      return guarded.build();
    }

    /** Without what may hold a password. */
    private String subject() {
      if (toml != null) return section + " of " + toml;
      var shown = new ArrayList<String>();
      for (String key : List.of("name", "kind", "tag")) {
        if (properties.containsKey(key)) shown.add(key + "=" + properties.get(key));
      }
      return shown.isEmpty() ? "kind=snowflake" : String.join(" ", shown);
    }

    /**
     * Makes a cipher for hidden ids: reads the keys, and compares them with what the store has. Reads {@code layout},
     * {@code namespace}, {@code store} and {@code cipher.*} of this configuration. May wait for the store.
     *
     * @return a cipher
     * @throws ConfigException if the keys cannot be used (status {@link Status#CONFIG_FILE}: missing, malformed,
     *     readable by others); if the layout has no such key version; if the module {@code libidgen_cipher.so} is
     *     missing ({@link Status#UNSUPPORTED}, see {@link #modulePath})
     * @throws StoreException if the namespace began with another key by the same number (status {@link
     *     Status#FORMAT_MISMATCH}), or the store cannot be used
     */
    public IdCipher buildCipher() {
      return with(config -> new IdCipher(IdgenJNI.cipherCreate(config)));
    }

    /**
     * What {@link IdCipher#describe()} of such a cipher would say. Compares the keys with the store, and writes
     * nothing. May wait for the store.
     *
     * @return one item per line
     * @throws ConfigException as {@link #buildCipher()}
     * @throws StoreException as {@link #buildCipher()}
     */
    public String checkKeys() {
      return with(config -> Text.string(IdgenJNI.cipherCheck(config)));
    }

    /**
     * Makes the pattern that a generator of this configuration has, without the generator. Reads {@code pattern},
     * {@code zone}, {@code kind}, {@code layout}, {@code epoch} and {@code module.path} of this configuration.
     *
     * @return a pattern
     * @throws ConfigException as {@link TextPattern#of(String, String, Layout)}
     */
    public TextPattern buildTextPattern() {
      return with(TextPattern::of);
    }

    /**
     * Makes the store if it is missing, without a tag: all that snowflakes need. An existing store is left as it is.
     * Works for {@code sqlite:}, and for {@code memory}, where there is nothing to make. Call it once, at setup, and
     * leave {@link #storeCreate(boolean)} off: a lost store is then an error. May wait for the store. Reads {@code
     * store}, {@code directory} and {@code store_timeout} of this configuration.
     *
     * @throws StoreException if the store is lost: its lock file exists without the database (status {@link
     *     Status#STORE_MISSING}); if an older copy replaced it ({@link Status#STORE_REGRESSED}); if it cannot be made
     * @throws ConfigException for a buffer, which is made with its first tag, and for a store of the program's own
     *     (status {@link Status#UNSUPPORTED}); if a property of this configuration cannot be used
     */
    public void createStore() {
      with(
          config -> {
            IdgenJNI.idgen_store_create(config);
            return null;
          });
    }

    /**
     * Makes the tag at 0, so that its first id is 1, and the store if it is missing. May wait for the store. Reads
     * {@code store}, {@code namespace}, {@code tag} and {@code directory} of this configuration, as the next two
     * methods do.
     *
     * @throws StoreException (status {@link Status#TAG_EXISTS}) if the tag already exists
     */
    public void createSegment() {
      createSegment(0);
    }

    /**
     * As {@link #createSegment()}, with the first id above a number, in one step: a tag that takes over ids which are
     * in use can at no moment issue a lower one.
     *
     * @param above the number
     * @throws StoreException (status {@link Status#TAG_EXISTS}) if the tag already exists
     * @throws ConfigException (status {@link Status#VALUE}) if it is negative; (status {@link Status#UNSUPPORTED}) for
     *     serials in rows of other programs, unless it is 0
     */
    public void createSegment(long above) {
      with(
          config -> {
            IdgenJNI.idgen_segment_create_above(config, above);
            return null;
          });
    }

    /**
     * A tag's counter in the store. May wait for the store.
     *
     * @return how it stands
     * @throws StoreException if the store or the tag does not exist
     */
    public SegmentInfo showSegment() {
      return with(
          config -> {
            var parts = new Object[SegmentInfo.PARTS];
            IdgenJNI.idgen_segment_show(config, parts);
            return SegmentInfo.of(parts);
          });
    }

    /**
     * All tags of all namespaces of the store, in the order of their names. May wait for the store. Reads {@code store}
     * and {@code directory} of this configuration.
     *
     * @return a row for each tag
     * @throws StoreException if the store does not exist
     */
    public List<SegmentRow> listSegments() {
      return with(
          config -> {
            var rows = new ArrayList<Object[]>();
            IdgenJNI.segmentList(config, rows);
            return rows.stream().map(SegmentRow::of).toList();
          });
    }

    /**
     * Raises a tag's counter to a number that is in use, or by 1 if it is already there; never lowers it. Running
     * generators still issue what they reserved before. May wait for the store.
     *
     * @param to the number
     * @return how the counter stands now
     * @throws StoreException if the store or the tag does not exist
     */
    public SegmentInfo advanceSegment(long to) {
      return with(
          config -> {
            var parts = new Object[SegmentInfo.PARTS];
            IdgenJNI.idgen_segment_advance(config, to, parts);
            return SegmentInfo.of(parts);
          });
    }

    /**
     * Ends a tag: takes all numbers that are left, so that nobody draws from it again. Running generators still issue
     * what they reserved before, then get an {@link ExhaustedException}. Cannot be undone. May wait for the store, and
     * tries for {@code wait_max} while others draw.
     *
     * @return how the counter stood before: all that was ever granted is at most its {@code maxId}, and a tag that goes
     *     on elsewhere begins above that
     * @throws StoreException if the store or the tag does not exist, or others drew without a pause, and it goes on
     * @throws ExhaustedException if it has no numbers left
     */
    public SegmentInfo retireSegment() {
      return with(
          config -> {
            var parts = new Object[SegmentInfo.PARTS];
            IdgenJNI.idgen_segment_retire(config, parts);
            return SegmentInfo.of(parts);
          });
    }

    /**
     * Sets how many numbers all generators of a tag reserve at once, from their next range on. May wait for the store.
     *
     * @param step the number; 0 leaves it to each generator's {@code segment.step}
     * @return how the counter stands now
     * @throws StoreException if the store or the tag does not exist
     * @throws ConfigException if the number is out of range
     */
    public SegmentInfo setSegmentStep(long step) {
      return with(
          config -> {
            var parts = new Object[SegmentInfo.PARTS];
            IdgenJNI.idgen_segment_set_step(config, step, parts);
            return SegmentInfo.of(parts);
          });
    }

    /**
     * The largest number that may be in use of a column of any table in the store's database: in a row, or issued by
     * its AUTO_INCREMENT or sequence to rows that are deleted. A tag that takes over from there begins above it. May
     * wait for the store. Reads {@code store} and {@code module.path} of this configuration.
     *
     * @param table its name, or {@code SCHEMA.TABLE}
     * @param column its column of ids
     * @return 0 to 2^63 - 1; 0 if the column has no number
     * @throws ConfigException if the store is no SQL server (status {@link Status#UNSUPPORTED}); if there is no such
     *     table or column, or its largest number is out of range ({@link Status#VALUE})
     * @throws StoreException if the store cannot be used
     */
    public long segmentMaxOf(String table, String column) {
      return with(
          config -> {
            var out = new long[1];
            IdgenJNI.idgen_segment_max_of(config, Text.utf8(table), Text.utf8(column), out);
            return out[0];
          });
    }

    /**
     * What {@link #createSegment()} would run, the table's statements included, as SQL or commands for a migration.
     * Reads the same properties. Connects to no server, changes nothing, does not wait.
     *
     * @return the statements; empty if there is nothing to run
     * @throws ConfigException if the store is the program's own, or its module is missing (status {@link
     *     Status#UNSUPPORTED}); if a property of this configuration cannot be used
     */
    public String segmentStatements() {
      return with(config -> Text.string(IdgenJNI.segmentStatements(config)));
    }

    private <T> T with(LongFunction<T> use) {
      return with(ownStore == null ? null : new StoreSink(ownStore), use);
    }

    private <T> T with(StoreSink store, LongFunction<T> use) {
      NativeLoader.require();
      var out = new long[1];
      IdgenJNI.idgen_config_create(out);
      long config = out[0];
      try {
        if (toml != null) {
          IdgenJNI.idgen_config_load(config, Text.utf8(toml.toString()), Text.utf8(section));
        } else if (section != null) {
          IdgenJNI.idgen_config_load_environment(config, Text.utf8(section));
        }
        properties.forEach((key, value) -> IdgenJNI.idgen_config_set(config, Text.utf8(key), Text.utf8(value)));
        if (store != null) IdgenJNI.configSetStore(config, store, store.hasWorkers());
        if (ownKeys != null) IdgenJNI.configSetKeys(config, new KeySink(ownKeys));
        return use.apply(config);
      } finally {
        IdgenJNI.idgen_config_destroy(config);
      }
    }

    private static String milliseconds(Duration duration) {
      long milliseconds = duration.toMillis();
      if (!Duration.ofMillis(milliseconds).equals(duration)) {
        throw new IllegalArgumentException(duration + " is not a whole number of milliseconds");
      }
      return milliseconds + "ms";
    }
  }
}
