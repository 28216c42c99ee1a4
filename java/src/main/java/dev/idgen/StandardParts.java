package dev.idgen;

import java.time.Instant;
import java.util.OptionalLong;
import java.util.StringJoiner;

/**
 * What the bits of a UUID, a ULID or an ObjectId say. Numbers that the standard does not have are 0.
 *
 * @param standard what the id is; of a UUID by its version: {@link Standard#UUID} if that is neither 4 nor 7
 * @param version of a UUID: 0 to 15
 * @param isRfc false: a UUID of another variant than RFC 9562's, whose version says nothing
 * @param unixMs ms since 1970-01-01 UTC, before it negative: of UUIDs of versions 1, 6 and 7, of ULIDs, and in whole
 *     seconds of ObjectIds
 * @param process of an ObjectId: 40 bits, the same in all of a process
 * @param counter of an ObjectId: 24 bits
 */
public record StandardParts(
    Standard standard, int version, boolean isRfc, OptionalLong unixMs, long process, int counter) {
  /** Length of the array that the native fills. */
  static final int NUMBERS = 7;

  /** From the members of idgen_standard_parts_t, in their order. */
  static StandardParts of(long[] n) {
    return new StandardParts(
        Standard.of(n[0]),
        (int) n[1],
        n[2] != 0,
        n[3] != 0 ? OptionalLong.of(n[5]) : OptionalLong.empty(),
        n[6],
        (int) n[4]);
  }

  /**
   * When the id was made, by the clock of who made it.
   *
   * @return the time in UTC
   * @throws IllegalStateException if it has no time
   */
  public Instant instant() {
    if (unixMs.isEmpty()) throw new IllegalStateException("an id has no time if it is a " + described());
    return Instant.ofEpochMilli(unixMs.getAsLong());
  }

  private String described() {
    return switch (standard) {
      case ULID, OBJECT_ID -> standard.standardName();
      default -> isRfc ? "uuid of version " + version : "uuid of another variant than RFC 9562's";
    };
  }

  /** {@return what the id says, such as {@code StandardParts[uuid of version 7, 2022-02-22T19:22:22Z]}} */
  @Override
  public String toString() {
    var text = new StringJoiner(", ", "StandardParts[", "]").add(described());
    if (unixMs.isPresent()) text.add(instant().toString());
    if (standard == Standard.OBJECT_ID) text.add("process=" + process).add("counter=" + counter);
    return text.toString();
  }
}
