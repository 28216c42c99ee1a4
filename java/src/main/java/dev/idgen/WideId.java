package dev.idgen;

import java.math.BigInteger;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.UUID;

/**
 * An id of 8 or of 16 bytes, as {@link Generator#nextWideFor(long)} makes them. The length tells them apart, not the
 * value: two ids of different lengths are never equal, so keep the length with the bytes. Immutable.
 *
 * <p>Ids sort as their bytes do, unsigned, and those of 8 bytes come before those of 16, which follow when 8 bytes are
 * used up.
 */
public final class WideId implements Comparable<WideId> {
  /** How many numbers the natives read and write for an id: size, high and low. */
  static final int LONGS = 3;

  private static final int NARROW = Long.BYTES;
  private static final int WIDE = 2 * Long.BYTES;

  private final long high;
  private final long low;
  private final int size;

  private WideId(long high, long low, int size) {
    this.high = high;
    this.low = low;
    this.size = size;
  }

  /** For the natives, as they write it. */
  void store(long[] sizeHighLow, int offset) {
    sizeHighLow[offset] = size;
    sizeHighLow[offset + 1] = high;
    sizeHighLow[offset + 2] = low;
  }

  /** From what the natives write. */
  static WideId of(long[] sizeHighLow, int offset) {
    return new WideId(sizeHighLow[offset + 1], sizeHighLow[offset + 2], (int) sizeHighLow[offset]);
  }

  /**
   * {@return an id of 8 bytes}
   *
   * @param id any 64 bits
   */
  public static WideId of(long id) {
    return new WideId(0, id, NARROW);
  }

  /**
   * {@return an id of 16 bytes}
   *
   * @param id a result of {@link #toUuid()}
   */
  public static WideId of(UUID id) {
    return new WideId(id.getMostSignificantBits(), id.getLeastSignificantBits(), WIDE);
  }

  /**
   * {@return an id of 8 or of 16 bytes}
   *
   * @param bytes big-endian
   * @throws IllegalArgumentException for another length
   */
  public static WideId of(byte[] bytes) {
    return switch (bytes.length) {
      case NARROW -> of(bigEndian(bytes, 0));
      case WIDE -> new WideId(bigEndian(bytes, 0), bigEndian(bytes, NARROW), WIDE);
      default -> throw new IllegalArgumentException("an id has 8 or 16 bytes; these are " + bytes.length);
    };
  }

  private static long bigEndian(byte[] bytes, int offset) {
    long number = 0;
    for (int index = 0; index < Long.BYTES; index++) number = number << 8 | bytes[offset + index] & 0xFF;
    return number;
  }

  /** {@return how many bytes the id has, 8 or 16} */
  public int size() {
    return size;
  }

  /** {@return the first 8 of 16 bytes; 0 for an id of 8 bytes} */
  public long high() {
    return high;
  }

  /** {@return the last 8 bytes: all of an id of 8 bytes} */
  public long low() {
    return low;
  }

  /** {@return the id's 8 or 16 bytes for a binary column, big-endian, so that those of one length sort like the ids} */
  public byte[] toBytes() {
    var bytes = new byte[size];
    for (int index = 0; index < size; index++) {
      int fromEnd = size - 1 - index;
      bytes[index] = (byte) ((fromEnd < Long.BYTES ? low : high) >> 8 * (fromEnd % Long.BYTES));
    }
    return bytes;
  }

  /**
   * An id of 8 bytes as a number.
   *
   * @return its 64 bits
   * @throws IllegalStateException if it has 16 bytes
   */
  public long toLong() {
    if (size != NARROW) throw new IllegalStateException("id " + this + " has 16 bytes: it does not fit a long");
    return low;
  }

  /**
   * An id of 16 bytes in the form that UUID columns take. It has no version and no variant of RFC 9562. Such a column
   * sorts like the ids; {@code UUID.compareTo}, which is signed, need not.
   *
   * @return the same 128 bits
   * @throws IllegalStateException if it has 8 bytes
   */
  public UUID toUuid() {
    if (size != WIDE) throw new IllegalStateException("id " + this + " has 8 bytes: a UUID has 16");
    return new UUID(high, low);
  }

  /** {@return the id as a number, at least 0, whatever its length} */
  public BigInteger toBigInteger() {
    return new BigInteger(1, toBytes());
  }

  /**
   * Order of the bytes, unsigned; ids of 8 bytes come first.
   *
   * @param other any id
   * @return negative, 0 or positive
   */
  @Override
  public int compareTo(WideId other) {
    if (size != other.size) return Integer.compare(size, other.size);
    int byHigh = Long.compareUnsigned(high, other.high);
    return byHigh != 0 ? byHigh : Long.compareUnsigned(low, other.low);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof WideId id && size == id.size && high == id.high && low == id.low;
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(new long[] {size, high, low});
  }

  /** {@return the id in 16 or 32 hexadecimal digits, as {@link IdText#HEX} writes it} */
  @Override
  public String toString() {
    return HexFormat.of().formatHex(toBytes());
  }
}
