package dev.idgen;

import java.util.Collections;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;

/** The kinds of bit field that an id can have. The masks are IDGEN_FIELD_* of idgen.h. */
public enum Field {
  /** Ticks since the layout's epoch. */
  TIME(1),
  /** Number of the datacenter. */
  DATACENTER(2),
  /** Number of the generator among those that run at the same time. */
  WORKER(4),
  /** Number of the process. */
  PROCESS(8),
  /** Number of the shard. */
  SHARD(16),
  /** Counts the ids of a tick. */
  SEQUENCE(32),
  /** Shard bits computed from the id's owner. */
  GENE(64),
  /** Key version. */
  VERSION(128),
  /** A number drawn from a segment. */
  SEGMENT(256),
  /** Constant bits. */
  FIXED(512);

  private final int mask;

  Field(int mask) {
    this.mask = mask;
  }

  int mask() {
    return mask;
  }

  /** {@return the field's name in layouts, configuration and JSON: {@code "worker"} for {@link #WORKER}} */
  public String fieldName() {
    return name().toLowerCase(Locale.ROOT);
  }

  static Set<Field> ofMask(long mask) {
    var fields = EnumSet.noneOf(Field.class);
    for (Field field : values()) {
      if ((mask & field.mask) != 0) fields.add(field);
    }
    return Collections.unmodifiableSet(fields);
  }

  static Field ofKind(long kind) {
    for (Field field : values()) {
      if (field.mask == kind) return field;
    }
    throw new IllegalStateException(
        "the library has a field of kind " + kind + ", which this version of the package does not know");
  }
}
