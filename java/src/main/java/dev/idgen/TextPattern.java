package dev.idgen;

import java.lang.ref.Reference;
import java.nio.file.Path;

/**
 * How ids are written as people read them: literals, a date, one number and a check, such as {@code
 * "ORD-{base62:11}-{check}"} or {@code "{yyyyMMdd}-{decimal}"}. A date is that of the id's time by the clocks of a
 * zone, so it needs the layout of the ids.
 *
 * <p>Immutable, and safe for use by many threads. The garbage collector frees its native memory.
 */
public final class TextPattern {
  final long handle;

  private TextPattern(long handle) {
    this.handle = handle;
    NativeHandle.freeWith(this, handle, IdgenJNI::idgen_pattern_destroy);
  }

  /**
   * {@return a pattern without a date, for ids of any layout}
   *
   * @param pattern such as {@code "ORD-{base62:11}-{check}"}
   * @throws ConfigException as for {@link #of(String, String, Layout)}
   */
  public static TextPattern of(String pattern) {
    return of(pattern, null, null);
  }

  /**
   * {@return a pattern whose date is in UTC}
   *
   * @param pattern such as {@code "{yyyyMMdd}-{decimal}"}
   * @param layout that of the ids
   * @throws ConfigException as for {@link #of(String, String, Layout)}
   */
  public static TextPattern of(String pattern, Layout layout) {
    return of(pattern, null, layout);
  }

  /**
   * {@return a pattern whose date is that of a zone's clocks} Reads files for a zone with a name.
   *
   * @param pattern such as {@code "{yyyyMMdd}-{decimal}"}
   * @param zone {@code "UTC"} (also null), an offset such as {@code "+08:00"}, or a name such as {@code
   *     "Europe/Berlin"}, which needs the module {@code libidgen_zone.so}
   * @param layout that of the ids; null for ids of any, if the pattern has no date
   * @throws ConfigException if there is no such pattern or zone (status {@link Status#VALUE}); for a date without a
   *     layout that has time, and without the module ({@link Status#UNSUPPORTED})
   */
  public static TextPattern of(String pattern, String zone, Layout layout) {
    NativeLoader.require();
    try {
      var out = new long[1];
      IdgenJNI.idgen_pattern_create(
          Text.utf8(pattern), Text.utf8OrNull(zone), layout == null ? 0 : layout.handle, out);
      return new TextPattern(out[0]);
    } finally {
      Reference.reachabilityFence(layout);
    }
  }

  /** The one that a generator of this configuration has. */
  static TextPattern of(long config) {
    var out = new long[1];
    IdgenJNI.idgen_pattern_of(config, out);
    return new TextPattern(out[0]);
  }

  /**
   * {@return the pattern of a table of a configuration file, as a generator of it has it} Opens no store.
   *
   * @param toml the file
   * @param name the table
   * @throws ConfigException as for {@link Generator.Builder#buildTextPattern()}, and if the file is wrong
   */
  public static TextPattern open(Path toml, String name) {
    return Generator.builder().load(toml, name).buildTextPattern();
  }

  /**
   * {@return an id as text}
   *
   * @param id any 64 bits, read as unsigned
   * @throws ConfigException if it has more digits than the pattern holds, or is no id of the layout (status {@link
   *     Status#VALUE})
   */
  public String format(long id) {
    try {
      return Text.string(IdgenJNI.patternFormat(handle, id));
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /**
   * {@return an id of either length as text}
   *
   * @param id any id
   * @throws ConfigException as for {@link #format(long)}
   */
  public String format(WideId id) {
    try {
      return Text.string(IdgenJNI.patternFormatWide(handle, id.toBytes()));
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /**
   * Reads a text. Strict: what {@link #format(long)} writes, in either case where the encoding allows it, and O, I and
   * L in crockford. Without a layout, a number from 2^64 on is an id of 16 bytes.
   *
   * @param text the text
   * @return the id, and what else the text says
   * @throws ConfigException if no id is written so (status {@link Status#TEXT}): the message has the position, and says
   *     so if it is the check that is wrong
   */
  public TextParts parse(String text) {
    try {
      var numbers = new long[TextParts.NUMBERS];
      IdgenJNI.idgen_pattern_parse(handle, Text.utf8(text), numbers);
      return TextParts.of(numbers);
    } finally {
      Reference.reachabilityFence(this);
    }
  }
}
