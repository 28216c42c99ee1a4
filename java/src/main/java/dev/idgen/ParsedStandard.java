package dev.idgen;

import java.util.Arrays;

/**
 * What {@link StandardIds#parse} read.
 *
 * @param standard what the text is; of a UUID by its version: {@link Standard#UUID} if that is neither 4 nor 7
 * @param id its 16 or 12 bytes, big-endian; not copied
 */
public record ParsedStandard(Standard standard, byte[] id) {
  @Override
  public boolean equals(Object other) {
    return other instanceof ParsedStandard parsed && standard == parsed.standard && Arrays.equals(id, parsed.id);
  }

  @Override
  public int hashCode() {
    return 31 * standard.hashCode() + Arrays.hashCode(id);
  }

  /** {@return the standard and the id's text, such as {@code ParsedStandard[ulid 01ARZ3NDEKTSV4RRFFQ69G5FAV]}} */
  @Override
  public String toString() {
    return "ParsedStandard[" + standard.standardName() + ' ' + StandardIds.format(standard, id) + ']';
  }
}
