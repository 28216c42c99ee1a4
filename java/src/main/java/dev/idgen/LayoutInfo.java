package dev.idgen;

import java.util.Set;

/**
 * What a layout can do.
 *
 * @param text canonical form, such as {@code "time:41ms worker:10 sequence:12"}
 * @param preset name of the preset; empty for a layout in full
 * @param fields the fields it has
 * @param bits all fields together
 * @param isUnsigned whether the top bit of 64 belongs to a field, so that ids can be negative {@code long}s
 * @param isJsSafe whether ids are never above 2^53 - 1, the last integer that a JavaScript number holds exactly
 * @param epochUnixMs what time 0 means, in ms since 1970-01-01 UTC
 * @param tickMs length of a tick in ms; 0 without a time field
 * @param firstUnixMs first ms of the first tick
 * @param lastUnixMs last ms of the last tick; {@link Long#MAX_VALUE} if beyond, or without a time field
 * @param yearsLeft from now to {@code lastUnixMs}; negative when it is over
 * @param idsPerTick ids of one generator in a tick, unsigned
 * @param idsPerSecond ids of one generator in a second
 * @param workers generators that can run at the same time, unsigned
 */
public record LayoutInfo(
    String text,
    String preset,
    Set<Field> fields,
    int bits,
    boolean isUnsigned,
    boolean isJsSafe,
    long epochUnixMs,
    long tickMs,
    long firstUnixMs,
    long lastUnixMs,
    double yearsLeft,
    long idsPerTick,
    double idsPerSecond,
    long workers) {
  /** From the native's result: the numbers of idgen_layout_info_t in their order, then the two texts. */
  static LayoutInfo of(Object[] out) {
    var n = (long[]) out[0];
    return new LayoutInfo(
        Text.string((byte[]) out[1]),
        Text.string((byte[]) out[2]),
        Field.ofMask(n[0]),
        (int) n[1],
        n[2] != 0,
        n[3] != 0,
        n[5],
        n[6],
        n[7],
        n[8],
        Double.longBitsToDouble(n[9]),
        n[10],
        Double.longBitsToDouble(n[11]),
        n[12]);
  }

  /** How many fields the native counted, for idgen_layout_field_at. */
  static int fieldCount(Object[] out) {
    return (int) ((long[]) out[0])[4];
  }
}
