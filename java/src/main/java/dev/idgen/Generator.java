package dev.idgen;

import java.lang.ref.Reference;
import java.nio.ByteOrder;
import java.nio.LongBuffer;
import java.nio.ReadOnlyBufferException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.function.Consumer;
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
  final long handle;
  private final VirtualWaiters waiters;
  private final BlockingCalls blockingCalls;
  private final boolean hasView;

  /** What ids are drawn from without a call; null: by a call, because there is none, or nothing is open, or closed. */
  private volatile View view;

  private final Object following = new Object();
  private boolean isClosed; // guarded by following
  private final TextPattern pattern;
  private final LogSink log;
  private final HostSink store;
  private final ClockSink clock;

  Generator(long handle, long config, LogSink log, HostSink store, ClockSink clock) {
    this.handle = handle;
    this.log = log;
    this.store = store;
    this.clock = clock;
    NativeHandle.freeWith(this, handle, IdgenJNI::idgen_destroy);
    this.waiters = new VirtualWaiters(this, handle);
    this.blockingCalls = new BlockingCalls(this, handle);
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
   * {@return a generator from a table of a configuration file, which its first use opens: for static fields and the
   * like} Opens nothing, reads nothing, cannot fail. Waits up to a minute for a store that is down.
   *
   * @param toml the file
   * @param name the table
   */
  public static LazyGenerator lazy(Path toml, String name) {
    return builder().load(toml, name).buildLazy();
  }

  /**
   * {@return a generator from a configuration file, with some properties overridden, which its first use opens}
   *
   * @param toml the file
   * @param name the table
   * @param overrides properties that override the file's
   */
  public static LazyGenerator lazy(Path toml, String name, Map<String, String> overrides) {
    var builder = builder().load(toml, name);
    overrides.forEach(builder::set);
    return builder.buildLazy();
  }

  /** {@return a builder in which every property has its default} */
  public static Builder builder() {
    return new Builder();
  }

  /**
   * {@return one id} May wait.
   *
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
   * {@return one id as text: as the property {@code pattern} has it, without one in decimal} {@link #textPattern()}
   * reads it back. May wait.
   *
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
   * {@return some ids in a new array} May wait.
   *
   * @param count how many
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
      if (!IdgenJNI.tryNextForInt(handle, owner, id)) {
        blockingCalls.run(() -> id[0] = IdgenJNI.nextForInt(handle, owner));
      }
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
        blockingCalls.run(() -> id[0] = IdgenJNI.nextForBytes(handle, owner));
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
    return fill(PackedOwners.of(owner), ids);
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
    PackedOwners.checkOneForEach(owners.length, ids.length);
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
    PackedOwners.checkOneForEach(owners.length, ids.length);
    return fill(PackedOwners.of(owners), ids);
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
    PackedOwners.checkOneForEach(owners.length, ids.length);
    return fill(PackedOwners.of(owners), ids);
  }

  /** One owner for all ids, or one for each. */
  private int fill(long[] owners, long[] ids) {
    run(() -> IdgenJNI.fillForInts(handle, owners, ids));
    return ids.length;
  }

  private int fill(PackedOwners owners, long[] ids) {
    run(() -> IdgenJNI.fillForBytes(handle, owners.bytes(), owners.ends(), ids));
    return ids.length;
  }

  /** A call that may wait in the library. */
  private void run(Runnable call) {
    try {
      if (VirtualWaiters.isVirtual(Thread.currentThread())) {
        blockingCalls.run(call);
      } else {
        call.run();
      }
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /**
   * {@return one id for an owner, of 8 or of 16 bytes} May wait. It has 16 if the layout has 127 bits ({@code
   * business128}), or with {@code on_full = widen} once 8 bytes are used up.
   *
   * @param owner as for {@link #nextFor(long)}
   * @throws IdgenException as for {@link #nextFor(long)}
   */
  public WideId nextWideFor(long owner) {
    var id = new WideId[1];
    fillWideFor(owner, id);
    return id[0];
  }

  /**
   * {@return one id for an owner, of 8 or of 16 bytes, as {@link #nextWideFor(long)}} May wait.
   *
   * @param owner as for {@link #nextFor(String)}
   * @throws IdgenException as for {@link #nextFor(long)}
   * @throws IllegalArgumentException as for {@link #nextFor(String)}
   */
  public WideId nextWideFor(String owner) {
    return nextWideFor(Text.owner(owner));
  }

  /**
   * {@return one id for an owner, of 8 or of 16 bytes, as {@link #nextWideFor(long)}} May wait.
   *
   * @param owner as for {@link #nextFor(byte[])}
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
    return fillWide(PackedOwners.of(owner), ids);
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
    PackedOwners.checkOneForEach(owners.length, ids.length);
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
    PackedOwners.checkOneForEach(owners.length, ids.length);
    return fillWide(PackedOwners.of(owners), ids);
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
    PackedOwners.checkOneForEach(owners.length, ids.length);
    return fillWide(PackedOwners.of(owners), ids);
  }

  private int fillWide(PackedOwners owners, WideId[] ids) {
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
  public IdParts decode(long id) {
    try {
      var numbers = new long[IdParts.NUMBERS];
      IdgenJNI.idgen_decode(handle, id, numbers);
      return IdParts.of(numbers);
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
  public IdParts decode(WideId id) {
    try {
      var numbers = new long[IdParts.NUMBERS];
      IdgenJNI.idgen_decode_wide(handle, id.toBytes(), numbers);
      return IdParts.of(numbers);
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /** {@return a copy of the layout of this generator's ids, which outlives the generator. Works on a closed one} */
  public Layout layout() {
    try {
      return Layout.of(handle);
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /** {@return the pattern by which {@link #nextText()} writes ids; it outlives the generator. Works on a closed one} */
  public TextPattern textPattern() {
    return pattern;
  }

  /** {@return what this configuration protects against, and what it does not: lines of one or more sentences} */
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

  /** {@return what the generator has done so far, in this process} */
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
  public static final class Builder extends GeneratorBuilder {
    Builder() {}

    Builder(GeneratorBuilder other) {
      super(other);
    }
  }
}
