package dev.idgen;

import java.util.ArrayList;
import java.util.List;

/**
 * A property that a generator can be configured with, as the library documents it.
 *
 * @param name its key, such as {@code "segment.step"}
 * @param type {@code "integer"}, {@code "number"}, {@code "boolean"}, {@code "duration"}, {@code "instant"}, {@code
 *     "text"} or {@code "choice"}
 * @param defaultValue the value when it is not set; empty for none
 * @param range what is allowed; empty if anything is
 * @param unit the unit of a bare number; empty for none
 * @param help what it does, in a sentence or two
 * @param since the first version that has it
 */
public record Property(
    String name, String type, String defaultValue, String range, String unit, String help, String since) {
  static List<Property> all() {
    var properties = new ArrayList<Property>();
    NativeLoader.require();
    long count = IdgenJNI.idgen_property_count();
    for (long index = 0; index < count; index++) {
      var text = new Object[7];
      IdgenJNI.idgen_property_at(index, text);
      properties.add(
          new Property(at(text, 0), at(text, 1), at(text, 2), at(text, 3), at(text, 4), at(text, 5), at(text, 6)));
    }
    return List.copyOf(properties);
  }

  private static String at(Object[] text, int index) {
    return Text.string((byte[]) text[index]);
  }
}
