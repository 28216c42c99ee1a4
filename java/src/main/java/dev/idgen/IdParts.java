package dev.idgen;

import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.Map;
import java.util.Set;
import java.util.StringJoiner;

/**
 * An id taken apart. Members that the layout does not have are 0; {@link #fields()} says which have a meaning. All
 * numbers but {@code unixMs} are unsigned.
 *
 * @param fields which of the members below the layout has
 * @param unixMs start of the id's tick in ms since 1970-01-01 UTC; for layouts with time
 * @param time ticks since the layout's epoch
 * @param datacenter number of the datacenter
 * @param worker number of the generator
 * @param process number of the process
 * @param shard number of the shard
 * @param sequence number within the tick
 * @param gene shard bits of the owner
 * @param version key version
 * @param segment number drawn from a segment; its low 64 bits
 * @param fixed constant bits
 * @param segmentHigh high bits of {@code segment}; 0 but in ids of 16 bytes
 */
public record IdParts(
    Set<Field> fields,
    long unixMs,
    long time,
    long datacenter,
    long worker,
    long process,
    long shard,
    long sequence,
    long gene,
    long version,
    long segment,
    long fixed,
    long segmentHigh) {
  /** Length of the array that the natives take and give. */
  static final int NUMBERS = 13;

  /**
   * The parts for {@link Layout#encode(IdParts)}: fields that are not named are 0.
   *
   * @param values a number for each field
   * @return parts without a {@code unixMs}, which encoding does not read
   */
  public static IdParts of(Map<Field, Long> values) {
    var numbers = new long[NUMBERS];
    for (var value : values.entrySet()) {
      numbers[0] |= value.getKey().mask();
      numbers[2 + value.getKey().ordinal()] = value.getValue();
    }
    return of(numbers);
  }

  /** From the members of idgen_parts_t, in their order. */
  static IdParts of(long[] n) {
    return new IdParts(
        Field.ofMask(n[0]), n[1], n[2], n[3], n[4], n[5], n[6], n[7], n[8], n[9], n[10], n[11], n[12]);
  }

  long[] numbers() {
    long mask = 0;
    for (Field field : fields) mask |= field.mask();
    return new long[] {
      mask, unixMs, time, datacenter, worker, process, shard, sequence, gene, version, segment, fixed, segmentHigh
    };
  }

  /**
   * Whether the layout has a field.
   *
   * @param field the field
   * @return true if {@link #get} of it has a meaning
   */
  public boolean has(Field field) {
    return fields.contains(field);
  }

  /**
   * The value of a field.
   *
   * @param field the field
   * @return its value, unsigned; 0 if the layout does not have it; the low 64 bits of {@link #segment()}
   */
  public long get(Field field) {
    return switch (field) {
      case TIME -> time;
      case DATACENTER -> datacenter;
      case WORKER -> worker;
      case PROCESS -> process;
      case SHARD -> shard;
      case SEQUENCE -> sequence;
      case GENE -> gene;
      case VERSION -> version;
      case SEGMENT -> segment;
      case FIXED -> fixed;
    };
  }

  /**
   * When the id's tick began.
   *
   * @return the time in UTC
   * @throws IllegalStateException if the layout has no time
   */
  public Instant instant() {
    if (!has(Field.TIME)) throw new IllegalStateException("an id of this layout has no time, only " + fields);
    return Instant.ofEpochMilli(unixMs);
  }

  /** {@return what the id holds, such as {@code IdParts[2026-11-21T08:00:00Z, worker=7, sequence=42]}} */
  @Override
  public String toString() {
    var text = new StringJoiner(", ", "IdParts[", "]");
    for (Field field : Field.values()) {
      if (!has(field)) continue;
      if (field == Field.TIME) {
        text.add(instant().toString());
      } else if (field == Field.SEGMENT && segmentHigh != 0) {
        var number = ByteBuffer.allocate(16).putLong(segmentHigh).putLong(segment);
        text.add(field.fieldName() + '=' + new BigInteger(1, number.array()));
      } else {
        text.add(field.fieldName() + '=' + Long.toUnsignedString(get(field)));
      }
    }
    return text.toString();
  }
}
