package dev.idgen;

/**
 * A bit field of a layout.
 *
 * @param kind what it holds
 * @param bits how wide it is
 * @param shift position of its lowest bit
 * @param name its name in the layout's text and in JSON
 */
public record LayoutField(Field kind, int bits, int shift, String name) {
  static LayoutField of(Object[] out) {
    var n = (long[]) out[0];
    return new LayoutField(Field.ofKind(n[0]), (int) n[1], (int) n[2], Text.string((byte[]) out[1]));
  }
}
