package dev.idgen;

import java.util.Locale;

/** The published forms of ids that {@link StandardIds} makes and reads. The order is that of IDGEN_STANDARD_*. */
public enum Standard {
  /** A UUID of any version. It is read, and not made. */
  UUID,
  /** A UUID of version 4: 122 random bits (RFC 9562). */
  UUID4,
  /** A UUID of version 7: 48 bits of Unix ms, 20 of a counter, 54 random (RFC 9562). */
  UUID7,
  /** A ULID: 48 bits of Unix ms, 20 of a counter, 60 random (github.com/ulid/spec). */
  ULID,
  /** An ObjectId: 32 bits of Unix seconds, 40 of the process, 24 of a counter (MongoDB). */
  OBJECT_ID;

  private static final Standard[] ALL = values();

  static Standard of(long number) {
    return ALL[(int) number];
  }

  /** {@return how many bytes an id has: 12 for {@link #OBJECT_ID}, 16 for the others} */
  public int bytes() {
    return this == OBJECT_ID ? 12 : 16;
  }

  /** {@return the name that all languages have for it: {@code "object_id"} for {@link #OBJECT_ID}} */
  public String standardName() {
    return name().toLowerCase(Locale.ROOT);
  }
}
