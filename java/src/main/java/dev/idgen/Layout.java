package dev.idgen;

import java.lang.ref.Reference;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.LongStream;

/**
 * The bit fields of an id, without a generator: takes ids apart and puts them together. Immutable, and safe for use by
 * many threads. The garbage collector frees its native memory.
 */
public final class Layout {
  /** What idgen.h calls "the system's clock". */
  private static final long NOW = Long.MIN_VALUE;

  final long handle;

  private Layout(long handle) {
    this.handle = handle;
    NativeHandle.freeWith(this, handle, IdgenJNI::idgen_layout_destroy);
  }

  /**
   * A preset, or a layout in full with its epoch at 2025-01-01.
   *
   * @param layout {@code "default"}, {@code "twitter"}, ... or {@code "time:41ms worker:10 sequence:12"}, most
   *     significant field first
   * @return the layout, even if its time is over: only a generator checks the lifetime
   * @throws ConfigException if it does not parse or does not add up
   */
  public static Layout parse(String layout) {
    return create(layout, null);
  }

  /**
   * {@return a preset or a layout in full, with an epoch of its own}
   *
   * @param layout as for {@link #parse(String)}
   * @param epoch what time 0 means; whole ms
   * @throws ConfigException if it does not parse or does not add up
   * @throws IllegalArgumentException if the epoch is finer than a ms
   */
  public static Layout parse(String layout, Instant epoch) {
    return create(layout, Text.unixMs(epoch));
  }

  /**
   * {@return a preset or a layout in full, with an epoch of its own}
   *
   * @param layout as for {@link #parse(String)}
   * @param epoch what time 0 means: RFC 3339, or Unix ms as text; empty for the layout's own
   * @throws ConfigException if either does not parse, or the layout does not add up
   */
  public static Layout parse(String layout, String epoch) {
    return create(layout, epoch);
  }

  /** {@return the names of the presets, as {@link #parse(String)} takes them} */
  public static List<String> presets() {
    NativeLoader.require();
    return LongStream.range(0, IdgenJNI.idgen_layout_preset_count())
        .mapToObj(index -> Text.string(IdgenJNI.idgen_layout_preset_at(index)))
        .toList();
  }

  private static Layout create(String layout, String epoch) {
    var out = new long[1];
    NativeLoader.require();
    IdgenJNI.idgen_layout_create(Text.utf8(layout), Text.utf8OrNull(epoch), out);
    return new Layout(out[0]);
  }

  /** A copy of a generator's layout. The caller keeps the generator reachable. */
  static Layout of(long generator) {
    var out = new long[1];
    IdgenJNI.idgen_layout_of(generator, out);
    return new Layout(out[0]);
  }

  /**
   * Takes an id apart.
   *
   * @param id an id of this layout
   * @return its fields
   * @throws ConfigException if another layout made the id (bits outside this one, another constant), or the layout is
   *     wider than 64 bits
   */
  public IdParts decode(long id) {
    try {
      var numbers = new long[IdParts.NUMBERS];
      IdgenJNI.idgen_layout_decode(handle, id, numbers);
      return IdParts.of(numbers);
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /**
   * Puts an id together: the inverse of {@link #decode}. The id is not unique: this is for tests, and for range queries
   * by time.
   *
   * @param parts the fields that the layout has; {@code unixMs} and {@code fields} are not read, and {@code fixed} may
   *     be 0 where the layout has a constant
   * @return the id
   * @throws ConfigException if a number is too large for its field, or the layout is wider than 64 bits
   */
  public long encode(IdParts parts) {
    try {
      var id = new long[1];
      IdgenJNI.idgen_layout_encode(handle, parts.numbers(), id);
      return id[0];
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /**
   * Takes an id apart that has as many bytes as the layout needs, 8 or 16.
   *
   * @param id an id of this layout
   * @return its fields
   * @throws ConfigException if another layout made the id (another length, bits outside this one, another constant)
   */
  public IdParts decode(WideId id) {
    try {
      var numbers = new long[IdParts.NUMBERS];
      IdgenJNI.idgen_layout_decode_wide(handle, id.toBytes(), numbers);
      return IdParts.of(numbers);
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /**
   * {@link #encode} for ids of as many bytes as the layout needs: the inverse of {@link #decode(WideId)}.
   *
   * @param parts the fields that the layout has, {@code segmentHigh} included
   * @return an id of 8 or 16 bytes
   * @throws ConfigException if a number is too large for its field
   */
  public WideId encodeWide(IdParts parts) {
    try {
      var id = new Object[1];
      IdgenJNI.idgen_layout_encode_wide(handle, parts.numbers(), id);
      return WideId.of((byte[]) id[0]);
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /**
   * {@return the gene that ids of an owner have in this layout, by {@link GeneRule#AUTO}}
   *
   * @param owner an integer: the owner that its decimal text is
   * @throws ConfigException as for {@link #gene(byte[], GeneRule)}
   */
  public long gene(long owner) {
    return gene(owner, GeneRule.AUTO);
  }

  /**
   * {@return the gene that ids of an owner have in this layout, by {@link GeneRule#AUTO}}
   *
   * @param owner text: the owner that its bytes in UTF-8 are
   * @throws ConfigException as for {@link #gene(byte[], GeneRule)}
   * @throws IllegalArgumentException if it has half a surrogate pair
   */
  public long gene(String owner) {
    return gene(owner, GeneRule.AUTO);
  }

  /**
   * {@return the gene that ids of an owner have in this layout, by {@link GeneRule#AUTO}}
   *
   * @param owner at least one byte
   * @throws ConfigException as for {@link #gene(byte[], GeneRule)}
   */
  public long gene(byte[] owner) {
    return gene(owner, GeneRule.AUTO);
  }

  /**
   * {@return the gene that ids of an owner have in this layout}
   *
   * @param owner as for {@link #gene(long)}
   * @param rule how the gene comes from the owner: the property {@code gene}
   * @throws ConfigException as for {@link #gene(byte[], GeneRule)}
   */
  public long gene(long owner, GeneRule rule) {
    return gene(Long.toString(owner), rule);
  }

  /**
   * {@return the gene that ids of an owner have in this layout}
   *
   * @param owner as for {@link #gene(String)}
   * @param rule how the gene comes from the owner: the property {@code gene}
   * @throws ConfigException as for {@link #gene(byte[], GeneRule)}
   * @throws IllegalArgumentException if it has half a surrogate pair
   */
  public long gene(String owner, GeneRule rule) {
    return gene(Text.owner(owner), rule);
  }

  /**
   * {@return the gene that ids of an owner have in this layout}
   *
   * @param owner at least one byte
   * @param rule how the gene comes from the owner: the property {@code gene}
   * @throws ConfigException if the owner is empty, or not an integer where the rule is {@link GeneRule#MOD} (status
   *     {@link Status#VALUE}); if the layout has no gene ({@link Status#UNSUPPORTED})
   */
  public long gene(byte[] owner, GeneRule rule) {
    try {
      var gene = new long[1];
      IdgenJNI.idgen_layout_gene(handle, rule.ordinal(), Objects.requireNonNull(owner, "owner"), gene);
      return gene[0];
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /** {@return what the layout can do, with the years left from now} */
  public LayoutInfo info() {
    return LayoutInfo.of(describe(NOW));
  }

  /**
   * {@return what the layout can do}
   *
   * @param now from when the years left are counted
   */
  public LayoutInfo info(Instant now) {
    return LayoutInfo.of(describe(now.toEpochMilli()));
  }

  /** {@return the fields, from the most significant on; at least one} */
  public List<LayoutField> fields() {
    int count = LayoutInfo.fieldCount(describe(NOW));
    var fields = new ArrayList<LayoutField>(count);
    try {
      for (int index = 0; index < count; index++) {
        var out = new Object[2];
        IdgenJNI.idgen_layout_field_at(handle, index, out);
        fields.add(LayoutField.of(out));
      }
    } finally {
      Reference.reachabilityFence(this);
    }
    return List.copyOf(fields);
  }

  private Object[] describe(long nowUnixMs) {
    try {
      var out = new Object[3];
      IdgenJNI.idgen_layout_info(handle, nowUnixMs, out);
      return out;
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /** {@return the layout's canonical text, such as {@code "time:41ms worker:10 sequence:12"}} */
  @Override
  public String toString() {
    return info().text();
  }
}
