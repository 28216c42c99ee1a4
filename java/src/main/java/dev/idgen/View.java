package dev.idgen;

import java.nio.ByteBuffer;

/**
 * Draws ids without a call across the border, from the library's own words in memory: the steps, and why they are safe,
 * are those of {@code idgen_view} in {@code idgen.h}. A call costs three times what an id does.
 *
 * <p>The library frees the words when it destroys the generator, and no sooner. So whoever draws keeps the {@link
 * Generator} reachable until it has read the last word.
 *
 * <p>Each read of a word costs, so a view is one of a range: it remembers what stays the same as long as that is open.
 */
final class View {
  // idgen_words_t
  private static final int NEXT = 0;
  private static final int LIMIT = 64;
  private static final int FIRST = 72;
  private static final int VERSION = 88;
  private static final int SLACK = 128;
  private static final int FIXED = 136;

  private static final int COUNTER = 1;
  private static final int SHAPE = 8; // numbers that IdgenJNI.view fills

  /** What {@link #draw(View)} returns if there is nothing to draw. An id of this value is drawn by a call. */
  static final long NONE = -1;

  /** Numbers are the ids: {@link #next}. If not, they are of ticks of the clock: {@link #draw(View)}. */
  final boolean counts;

  private final long address; // of the words
  private final ByteBuffer buffer;
  private final long version; // of the range
  private final long first;
  private final long limit; // not 0
  private final long fixed; // the bits of every id that are not its number: constant once a range was opened

  private final long epochMs;
  private final long tickMs;
  private final long maxTick;
  private final long carryMask;
  private final int sequenceBits;
  private final int sequenceShift;
  private final int timeShift;

  private View(long address, ByteBuffer buffer, long version, long first, long limit, long[] shape) {
    this.address = address;
    this.buffer = buffer;
    this.version = version;
    this.first = first;
    this.limit = limit;
    fixed = Memory.get(buffer, address, FIXED);
    counts = shape[0] == COUNTER;
    epochMs = shape[1];
    tickMs = shape[2];
    maxTick = shape[3];
    carryMask = shape[4];
    sequenceBits = (int) shape[5];
    sequenceShift = (int) shape[6];
    timeShift = (int) shape[7];
  }

  /** Whether ids are drawn from one counter, in a way that this version knows. */
  static boolean isPossible(long generator) {
    return IdgenJNI.view(generator, null) != 0;
  }

  /** As of now; null if nothing is open. {@code before}: an earlier view, or null. */
  static View of(long generator, View before) {
    var shape = new long[SHAPE];
    long address = IdgenJNI.view(generator, shape);
    if (address == 0) return null;
    boolean isThere = before != null && before.address == address;
    var buffer = isThere ? before.buffer : (ByteBuffer) IdgenJNI.words(address);
    // The library changes them in the opposite order.
    long version = Memory.getAcquire(buffer, address, VERSION);
    long limit = Memory.getAcquire(buffer, address, LIMIT);
    long first = Memory.getAcquire(buffer, address, FIRST);
    return limit == 0 ? null : new View(address, buffer, version, first, limit, shape);
  }

  /** Whether its range is still the open one. */
  boolean isCurrent() {
    return Memory.getAcquire(buffer, address, VERSION) == version;
  }

  /**
   * An id, or what {@link Generator#nextDrawn} makes of the number that was drawn instead.
   *
   * <p>As long as the version is the same, limit and first are: then they need not be read. Plainly: not before the
   * addition, which orders all.
   */
  static long next(View view, Generator generator) {
    ByteBuffer buffer = view.buffer;
    long address = view.address;
    long version = view.version;
    long first = view.first;
    long limit = view.limit;
    long drawn = Memory.getAndAdd(buffer, address, NEXT, 1);
    boolean isOurs =
        Memory.get(buffer, address, VERSION) == version && !isBelow(drawn, first) && isBelow(drawn, limit);
    return isOurs ? drawn : generator.nextDrawn(view, drawn);
  }

  /** A number, which nobody else draws: the id if {@link #isOpen}, else for {@link IdgenJNI#nextDrawn}. */
  long draw() {
    return Memory.getAndAdd(buffer, address, NEXT, 1);
  }

  /** Whether a number that was drawn here is of the range that is open now. */
  boolean isOpen(long drawn) {
    long limit = Memory.getAcquire(buffer, address, LIMIT);
    return isBelow(drawn, limit) && !isBelow(drawn, Memory.getAcquire(buffer, address, FIRST));
  }

  /** An id of the present tick, or {@link #NONE}. */
  static long draw(View view) {
    ByteBuffer buffer = view.buffer;
    long address = view.address;
    long since = System.currentTimeMillis() - view.epochMs;
    long tick = view.tickMs == 1 ? since : Math.floorDiv(since, view.tickMs);
    if (isBelow(view.maxTick, tick)) return NONE; // or before the epoch
    int bits = view.sequenceBits;
    long floor = tick << bits;
    for (; ; ) {
      long seen = Memory.getAcquire(buffer, address, NEXT);
      long from = isBelow(seen, floor) ? floor + (seen & view.carryMask) : seen;
      // Both are read plainly: not before `seen`, which is acquired, nor after the exchange.
      long limit = Memory.get(buffer, address, LIMIT);
      long ceiling = floor + (Memory.get(buffer, address, SLACK) + 1 << bits);
      if (!isBelow(from, limit) || !isBelow(from, ceiling)) return NONE;
      if (Memory.compareAndSet(buffer, address, NEXT, seen, from + 1)) return view.id(from);
    }
  }

  /** Unsigned: a parked counter stands above all numbers. */
  private static boolean isBelow(long a, long b) {
    return a + Long.MIN_VALUE < b + Long.MIN_VALUE;
  }

  private long id(long number) {
    long sequence = number & (1L << sequenceBits) - 1;
    return number >>> sequenceBits << timeShift | sequence << sequenceShift | fixed;
  }
}
