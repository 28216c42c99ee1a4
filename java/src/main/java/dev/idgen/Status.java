// Made by scripts/statuses from core/include/idgen/statuses.def. Do not edit.
package dev.idgen;

/**
 * The status codes, as {@link IdgenException#status()} gives them. The numbers never change and are the same in every
 * language.
 */
public final class Status {
  /** An invalid argument. */
  public static final int ARGUMENT = 1;

  /** Not a handle of this type: a defect in this package. */
  public static final int HANDLE = 2;

  /** A buffer is too small: a defect in this package. */
  public static final int BUFFER = 3;

  /** No property has this name; the message names the nearest. */
  public static final int UNKNOWN_KEY = 4;

  /** The value is not of the property's type or out of its range. */
  public static final int VALUE = 5;

  /** The layout does not parse or does not add up. */
  public static final int LAYOUT = 6;

  /** Epoch in the future, time field already over, or fewer years left than lifetime_min. */
  public static final int LIFETIME = 7;

  /** The TOML or key file is missing, unreadable or malformed, or has no such table. */
  public static final int CONFIG_FILE = 8;

  /** Text that is not an id in this encoding; the message has the position. */
  public static final int TEXT = 9;

  /** Known, but not for this kind of generator, layout or build. */
  public static final int UNSUPPORTED = 10;

  /** {@link Generator#close()} was called. */
  public static final int CLOSED = 20;

  /** This is a child process, which cannot reacquire what its parent holds. */
  public static final int FORKED = 21;

  /** No id without waiting. {@link Generator#tryNext()} gives an empty result instead, so no exception has it. */
  public static final int WOULD_BLOCK = 22;

  /** Another live generator owns this worker; the message says which process. Retryable. */
  public static final int WORKER_BUSY = 23;

  /** The layout has no ids left: its time or its segment field is used up. */
  public static final int EXHAUSTED = 24;

  /** The waiting thread was interrupted. */
  public static final int CANCELLED = 25;

  /** Waited wait_max for the next tick of the clock. Retryable. */
  public static final int OVERLOADED = 26;

  /** A table of routes: another version is in force than the caller expected. */
  public static final int STALE = 27;

  /** The clock is behind the last id, by more than the policy allows. Retryable. */
  public static final int CLOCK_BACK = 40;

  /** The clock is before the layout's epoch. */
  public static final int CLOCK_BEFORE_EPOCH = 41;

  /** The clock leapt far ahead; nothing is reserved until it stays so. Retryable. */
  public static final int CLOCK_LEAP = 42;

  /** The store is busy, unreachable or slow; nothing reserved is left. Retryable. */
  public static final int STORE_UNAVAILABLE = 60;

  /** The store does not exist, and store_create is off. */
  public static final int STORE_MISSING = 61;

  /** The store is not readable or not writable. */
  public static final int STORE_PERMISSION = 62;

  /** No space is left on the store's device. Retryable. */
  public static final int STORE_FULL = 63;

  /** Not a database, not one of idgen, or corrupt. */
  public static final int STORE_DAMAGED = 64;

  /** The store was made by another version of idgen; the message says what to do. */
  public static final int STORE_VERSION = 65;

  /** The segment tag was not created. */
  public static final int TAG_UNKNOWN = 66;

  /** The segment tag already exists. */
  public static final int TAG_EXISTS = 67;

  /** The store granted numbers again: it lost a commit. Issuing has stopped. */
  public static final int STORE_REGRESSED = 68;

  /** The namespace is in use with another layout, epoch, stride, pattern or key. */
  public static final int FORMAT_MISMATCH = 69;

  /** A setting or file system of the store can lose a commit. */
  public static final int STORE_UNSAFE = 70;

  /** Out of memory. */
  public static final int NO_MEMORY = 80;

  /** A defect in idgen: please report the message. */
  public static final int INTERNAL = 90;

  /** This and above: the statuses of a host's own store. */
  public static final int HOST = 1000;

  private Status() {}
}
