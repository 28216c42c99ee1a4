package dev.idgen;

import java.nio.ByteBuffer;

/**
 * Draws ids without a call across the border, from the library's own words in memory: the steps, and why they are safe,
 * are those of {@code idgen_view} in {@code idgen/view.h}. A call costs three times what an id does.
 *
 * <p>The library frees the words when it destroys the generator, and no sooner. So whoever draws keeps the {@link
 * Generator} reachable until it has read the last word.
 *
 * <p>Each read of a word costs, so a view is one of a range, whose bounds it remembers: what lay between them once is
 * its drawer's for good.
 */
final class View {
  // idgen_words_t
  private static final int NEXT = 0;
  private static final int SKIPPED = 8;
  private static final int LIMIT = 64;
  private static final int FIRST = 72;
  private static final int VERSION = 88;
  private static final int SLACK = 128;
  private static final int FIXED = 136;

  private static final int COUNTER = 1;
  private static final int LASTING = 1;
  private static final int SHAPE = 9; // numbers that IdgenJNI.view fills
  private static final long MOST_BETWEEN_LOOKS = 512;

  /** What {@link #drawAt} returns if there is nothing to draw. An id of this value is drawn by a call. */
  static final long NONE = -1;

  /** Numbers are the ids: {@link #next}. If not, they are of ticks of the clock: {@link #nextNow}. */
  final boolean counts;

  private final long address; // of the words
  private final ByteBuffer buffer;
  private final long version; // of the range
  private final long first;
  private final long size; // 0: a number is an id only if the words say so
  private final long looks; // a number without these bits is one at which to look whether the range is still the same
  private final long limitBiased; // of what lies in the counter's tick, as isBelow compares; of 0: as size
  private final long fixed; // the bits of every id that are not its number: constant once a range was opened

  private final long epochMs;
  private final long tickMs;
  private final long maxTick;
  private final long carryMask;
  private final int sequenceBits;
  private final long sequenceMask;
  private final long sequenceUnit; // a multiplication costs less than a shift by a variable
  private final long timeUnit;

  private View(long address, ByteBuffer buffer, long version, long first, long limit, long[] shape) {
    this.address = address;
    this.buffer = buffer;
    this.version = version;
    this.first = first;
    fixed = NativeWords.get(buffer, address, FIXED);
    counts = shape[0] == COUNTER;
    epochMs = shape[1];
    tickMs = shape[2];
    maxTick = shape[3];
    carryMask = shape[4];
    sequenceBits = (int) shape[5];
    sequenceMask = (1L << sequenceBits) - 1;
    sequenceUnit = 1L << shape[6];
    timeUnit = 1L << shape[7];
    boolean isLasting = (shape[8] & LASTING) != 0;
    size = isLasting ? limit - first : 0;
    looks = Long.highestOneBit(Math.min(size / 8, MOST_BETWEEN_LOOKS) | 1) - 1;
    this.limitBiased = (isLasting && tickMs == 1 ? limit : 0) + Long.MIN_VALUE;
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
    long version = NativeWords.getAcquire(buffer, address, VERSION);
    long limit = NativeWords.getAcquire(buffer, address, LIMIT);
    long first = NativeWords.getAcquire(buffer, address, FIRST);
    // A limit that was read before another range was opened lies below its first number, or at it.
    return isBelow(first, limit) ? new View(address, buffer, version, first, limit, shape) : null;
  }

  /** For tests. */
  boolean isRemembered() {
    return size != 0;
  }

  /** Whether its range is still the open one. */
  boolean isCurrent() {
    return NativeWords.getAcquire(buffer, address, VERSION) == version;
  }

  /** An id, or what {@link Generator#nextDrawn} makes of the number that was drawn instead. */
  static long next(View view, Generator generator) {
    ByteBuffer buffer = view.buffer;
    long address = view.address;
    long first = view.first;
    long size = view.size;
    long looks = view.looks;
    long drawn = NativeWords.getAndAdd(buffer, address, NEXT, 1);
    return isBelow(drawn - first, size) && (drawn & looks) != 0 ? drawn : generator.nextDrawn(view, drawn);
  }

  /** By this machine's clock, since the epoch of its ids. */
  long now() {
    return System.currentTimeMillis() - epochMs;
  }

  /** A number, which nobody else draws: the id if {@link #isOpen}, else for {@link IdgenJNI#nextDrawn}. */
  long draw() {
    return NativeWords.getAndAdd(buffer, address, NEXT, 1);
  }

  /** Whether a number that was drawn here is of the range that is open now. */
  boolean isOpen(long drawn) {
    long limit = NativeWords.getAcquire(buffer, address, LIMIT);
    return isBelow(drawn, limit) && !isBelow(drawn, NativeWords.getAcquire(buffer, address, FIRST));
  }

  /** An id of the present tick, or what {@link Generator#nextAt} finds. */
  static long nextNow(View view, Generator generator) {
    ByteBuffer buffer = view.buffer;
    long address = view.address;
    long seen = NativeWords.get(buffer, address, NEXT); // what it was matters only if it still is
    long since = view.now();
    // Not by isBelow: Java 17 would compare twice.
    if (seen >>> view.sequenceBits == since
        && seen + Long.MIN_VALUE < view.limitBiased
        && NativeWords.compareAndSet(buffer, address, NEXT, seen, seen + 1)) return view.id(seen);
    return generator.nextAt(view, since);
  }

  /** An id of this tick, or {@link #NONE}, by all steps. Looks whether the range is the same: once a tick, at least. */
  long drawAt(long since) {
    if (!isCurrent()) return NONE; // the call remembers another
    long tick = tickMs == 1 ? since : Math.floorDiv(since, tickMs);
    if (isBelow(maxTick, tick)) return NONE; // or before the epoch
    long floor = tick << sequenceBits;
    for (; ; ) {
      long seen = NativeWords.getAcquire(buffer, address, NEXT);
      long from = isBelow(seen, floor) ? floor + (seen & carryMask) : seen;
      // Both are read plainly: not before `seen`, which is acquired, nor after the exchange.
      long end = NativeWords.get(buffer, address, LIMIT);
      long ceiling = floor + (NativeWords.get(buffer, address, SLACK) + 1 << sequenceBits);
      if (!isBelow(from, end) || !isBelow(from, ceiling)) return NONE;
      long over = from - seen;
      if (over != 0) NativeWords.getAndAdd(buffer, address, SKIPPED, over);
      if (NativeWords.compareAndSet(buffer, address, NEXT, seen, from + 1)) return id(from);
      if (over != 0) NativeWords.getAndAdd(buffer, address, SKIPPED, -over);
    }
  }

  /** Unsigned: a parked counter stands above all numbers. */
  private static boolean isBelow(long a, long b) {
    return a + Long.MIN_VALUE < b + Long.MIN_VALUE;
  }

  private long id(long number) {
    return (number >>> sequenceBits) * timeUnit + (number & sequenceMask) * sequenceUnit + fixed;
  }
}
